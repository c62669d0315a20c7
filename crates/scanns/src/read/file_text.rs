//! The text of a single file, or of a member of an archive, outside of a build.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::content::html::HtmlPage;
use crate::content::{
    ArchiveFormat, ArchiveLimits, ArchiveMember, CollectionKind, Content, ContentOptions, HEAD, MAX_DOCUMENT,
    MembersContent, MembersFormat, RowsFormat, TextForm, examine, fill, walk, walk_zip,
};
use crate::read::collections::{KnowCollections, visit_records};
use crate::read::tables::TableReading;

/// How the text of a file is found.
#[derive(Clone, Copy, Debug)]
pub struct TextReading {
    /// What to do with files that are not plain text.
    pub contents: ContentOptions,
    /// What knows the records of collections.
    pub collections: &'static dyn KnowCollections,
}

/// Reads `len` bytes, or less at its end, from byte `start` of the text of a file as a build reads it:
/// decoded if need be, and empty for a binary file and for an archive.
///
/// # Errors
/// The file cannot be read or decoded, or only an extractor finds its text.
pub fn text_of_file(file: &mut File, reading: TextReading, start: u64, len: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let mut head = Vec::new();
    file.rewind()?;
    (&mut *file).take(HEAD as u64).read_to_end(&mut head)?;
    file.rewind()?;
    let form = match examine(&head, size, || Box::new(&mut *file), reading.contents)? {
        Content::Decoded(decoded) => {
            let form = decoded.form;
            return formed(form, reading.collections, &mut decoded.into_reader(), start, len);
        }
        Content::Binary(_) | Content::Members(_) => return Ok(Vec::new()),
        Content::Plain(form) => form,
    };
    if form != TextForm::Text {
        return formed(form, reading.collections, file, start, len);
    }
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(len).read_to_end(&mut text)?;
    Ok(text)
}

/// Reads the first `len` bytes of the text of a file in which records are, or of the rows of a table.
///
/// # Errors
/// As [`text_of_file`], and if the file is a table that cannot be read.
pub(crate) fn records_of_file(
    file: &mut File,
    reading: TextReading,
    tables: &TableReading,
    len: u64,
) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    (&mut *file).take(HEAD as u64).read_to_end(&mut head)?;
    if let Some(format) = tables.format_of(&head) {
        let rows = tables.open(format, &*file, Arc::default(), Box::new(|_| {}))?;
        let mut text = Vec::new();
        let read = rows.into_reader().take(len).read_to_end(&mut text);
        // The build reports the error, and has the rows before it.
        return if text.is_empty() { read.map(|_| text) } else { Ok(text) };
    }
    let text = text_of_file(file, reading, 0, len)?;
    tables.refuse(RowsFormat::of(&text), "compressed")?;
    Ok(text)
}

/// The text of which `start` holds the first bytes, at most `len` bytes of it. Compressed data is cut off
/// where `start` ends.
pub fn text_of_start(start: &[u8], options: ContentOptions, len: usize) -> Vec<u8> {
    let head = start.get(..HEAD).unwrap_or(start);
    let mut text = Vec::new();
    match examine(head, start.len() as u64, || Box::new(start), options) {
        Ok(Content::Plain(_)) => text.extend_from_slice(start.get(..len).unwrap_or(start)),
        // The end of the data is missing, and the error says so after everything before it was read.
        Ok(Content::Decoded(decoded)) => {
            let _ = decoded.into_reader().take(len as u64).read_to_end(&mut text);
        }
        Ok(Content::Binary(_) | Content::Members(_)) | Err(_) => {}
    }
    text
}

/// Part of a text of a form.
fn formed(
    form: TextForm,
    collections: &dyn KnowCollections,
    reader: &mut dyn Read,
    start: u64,
    len: u64,
) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    match form {
        TextForm::Text => {
            io::copy(&mut (&mut *reader).take(start), &mut io::sink())?;
            reader.take(len).read_to_end(&mut text)?;
        }
        TextForm::Page => {
            reader.take(MAX_DOCUMENT as u64).read_to_end(&mut text)?;
            let mut page = HtmlPage::default();
            page.read(&text);
            text.clear();
            page.append_to(&mut text);
            cut(&mut text, start, len);
        }
        TextForm::Message | TextForm::Record(_) => {
            let kind = if let TextForm::Record(kind) = form { kind } else { CollectionKind::Mbox };
            let mut record = Vec::new();
            reader.take(MAX_DOCUMENT as u64).read_to_end(&mut record)?;
            collections.append_text(kind, &record, &mut text);
            cut(&mut text, start, len);
        }
        TextForm::Document(kind) => {
            let what =
                format!("its text was extracted from {kind}: only an index that stores texts can show it");
            return Err(io::Error::other(what));
        }
    }
    Ok(text)
}

/// Leaves `len` bytes of a text, from byte `start`.
fn cut(text: &mut Vec<u8>, start: u64, len: u64) {
    text.drain(..usize::try_from(start).unwrap_or(usize::MAX).min(text.len()));
    text.truncate(usize::try_from(len).unwrap_or(usize::MAX));
}

/// The text of the member of an archive that is `path` in it. A path may lead through archives in the
/// archive, with `!/` behind each. `text_len` is the length of the whole text: it tells members with one path
/// apart.
///
/// # Errors
/// The archive has no such member, or the member or the archive cannot be read.
pub fn text_of_member(file: File, path: &[u8], reading: TextReading, text_len: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let mut head = Vec::new();
    let mut file = file;
    (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
    file.rewind()?;
    let stream = file.try_clone()?;
    let mut search = MemberSearch { reading, text_len, found: None };
    match examine(&head, size, || Box::new(io::BufReader::with_capacity(HEAD, stream)), reading.contents)? {
        Content::Members(archive)
            if archive.format == MembersFormat::Archive(ArchiveFormat::Zip) && archive.encoding.is_none() =>
        {
            let mut visit =
                |member: &ArchiveMember, content: &mut (dyn Read + Send)| search.visit(path, member, content);
            let report = walk_zip(&mut file, &ArchiveLimits::default(), &mut visit);
            search.end(report.error)
        }
        Content::Members(archive) => {
            let ended = search.search(path, archive);
            search.end(ended.err())
        }
        _ => Err(no_member()),
    }
}

fn no_member() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the archive has no such member any more")
}

/// The search for a member.
struct MemberSearch {
    reading: TextReading,
    text_len: u64,
    found: Option<io::Result<Vec<u8>>>,
}

impl MemberSearch {
    fn end<E: Into<Box<dyn std::error::Error + Send + Sync>>>(self, error: Option<E>) -> io::Result<Vec<u8>> {
        match (self.found, error) {
            (Some(found), _) => found,
            (None, Some(error)) => Err(io::Error::other(error)),
            (None, None) => Err(no_member()),
        }
    }

    fn search(&mut self, path: &[u8], archive: MembersContent<'_>) -> io::Result<()> {
        let MembersContent { format, mut stream, .. } = archive;
        let format = match format {
            MembersFormat::Archive(format) => format,
            MembersFormat::Collection(kind) => return self.search_records(path, kind, &mut stream),
        };
        let mut visit =
            |member: &ArchiveMember, content: &mut (dyn Read + Send)| self.visit(path, member, content);
        let limits = ArchiveLimits::default();
        let report = if format == ArchiveFormat::Zip {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes)?;
            walk_zip(&mut Cursor::new(bytes), &limits, &mut visit)
        } else {
            walk(format, &mut stream, &limits, &mut visit)
        };
        report.error.map_or(Ok(()), |error| Err(io::Error::other(error)))
    }

    /// Searches the record with a number.
    fn search_records(&mut self, path: &[u8], kind: CollectionKind, stream: &mut dyn Read) -> io::Result<()> {
        let collections = self.reading.collections;
        let number = std::str::from_utf8(path).ok().and_then(|path| path.parse::<u64>().ok());
        let Some(mut left) = number.filter(|&number| number > 0) else { return Ok(()) };
        visit_records(&mut *collections.ends(kind), stream, &mut |record| {
            left -= 1;
            if left > 0 {
                return Ok(ControlFlow::Continue(()));
            }
            let mut text = Vec::new();
            let record = record.get(..MAX_DOCUMENT).unwrap_or(record);
            collections.append_text(kind, record, &mut text);
            self.found = Some(Ok(text));
            Ok(ControlFlow::Break(()))
        })
        .map(drop)
    }

    fn visit(
        &mut self,
        path: &[u8],
        member: &ArchiveMember,
        content: &mut (dyn Read + Send),
    ) -> io::Result<ControlFlow<()>> {
        let Some(rest) = path.strip_prefix(member.path.as_slice()) else {
            return Ok(ControlFlow::Continue(()));
        };
        if rest.is_empty() {
            let text = self.text(content);
            let is_it = text.as_ref().is_ok_and(|text| text.len() as u64 == self.text_len);
            if is_it || self.found.is_none() {
                self.found = Some(text);
            }
            return Ok(if is_it { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        if let Some(inner) = rest.strip_prefix(b"!/") {
            let mut head = vec![0; HEAD];
            let got = fill(content, &mut head)?;
            head.truncate(got);
            let stream = Box::new(Cursor::new(head.clone()).chain(content));
            if let Content::Members(archive) = examine(&head, u64::MAX, || stream, self.reading.contents)? {
                self.search(inner, archive)?;
            }
        }
        let is_found = self.found.as_ref().is_some_and(Result::is_ok);
        Ok(if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The text of a member.
    fn text(&self, content: &mut (dyn Read + Send)) -> io::Result<Vec<u8>> {
        let mut head = vec![0; HEAD];
        let got = fill(content, &mut head)?;
        let size = if got < HEAD { got as u64 } else { u64::MAX };
        head.truncate(got);
        let mut stream: Option<Box<dyn Read + Send>> =
            Some(Box::new(Cursor::new(head.clone()).chain(content)));
        let taken = || stream.take().unwrap_or_else(|| Box::new(io::empty()));
        let collections = self.reading.collections;
        match examine(&head, size, taken, self.reading.contents)? {
            Content::Decoded(text) => {
                let form = text.form;
                formed(form, collections, &mut text.into_reader(), 0, u64::MAX)
            }
            Content::Plain(form) => {
                let mut rest = stream.take().unwrap_or_else(|| Box::new(io::empty()));
                formed(form, collections, &mut rest, 0, u64::MAX)
            }
            Content::Binary(_) | Content::Members(_) => Ok(Vec::new()),
        }
    }
}
