//! Decides what the bytes of a file are.

use std::io::{self, Cursor, Read};

use super::archive::ArchiveFormat;
use super::charset::{self, Transcoder};
use super::collection_kind::{CollectionKind, is_message};
use super::compression::CompressedFormat;
use super::document::document_kind;
use super::extract::TableStream;
use super::fill::fill;
use super::html::is_html_page;
use super::magic;
use super::options::{ContentOptions, Extraction};
use super::table_format::RowsFormat;

/// The number of first bytes that decide what a file is.
pub(crate) const HEAD: usize = 64 << 10;

/// How the bytes of a file, once they are decoded, become the text of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextForm {
    /// They are the text.
    #[default]
    Text,
    /// They are a web page.
    Page,
    /// An extractor finds the text in them.
    /// The kind of document is named.
    Document(&'static str),
    /// They are a message of mail.
    Message,
    /// They are a record of such a collection.
    Record(CollectionKind),
}

/// What the bytes of a file are.
pub(crate) enum Content<'a> {
    /// Text as it is, or a page or document that needs no decoding.
    Plain(TextForm),
    /// Text that had to be decoded.
    Decoded(DecodedText<'a>),
    /// Members or records, each of which is a document.
    Members(MembersContent<'a>),
    /// Not text; the kind of file.
    Binary(&'static str),
}

/// An archive or a collection, decompressed.
pub(crate) struct MembersContent<'a> {
    pub(crate) format: MembersFormat,
    /// How it is compressed and encoded.
    pub(crate) encoding: Option<String>,
    /// Its bytes from its start.
    pub(crate) stream: Box<dyn Read + Send + 'a>,
}

/// What holds members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MembersFormat {
    Archive(ArchiveFormat),
    Collection(CollectionKind),
}

impl MembersFormat {
    /// The usual name of the format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MembersFormat::Archive(format) => format.name(),
            MembersFormat::Collection(kind) => kind.name(),
        }
    }
}

/// The decoded text of a file.
pub(crate) struct DecodedText<'a> {
    /// How the file is encoded, for reports: `gzip`, `UTF-16LE`, or `xz, windows-1252`.
    pub(crate) encoding: String,
    /// What the decoded bytes are.
    pub(crate) form: TextForm,
    /// The format of the table that the bytes are.
    pub(crate) table: Option<RowsFormat>,
    reader: Box<dyn Read + Send + 'a>,
    /// The error that ended the text behind bytes that were read before.
    error: Option<io::Error>,
    has_failed: bool,
}

impl<'a> DecodedText<'a> {
    /// Text that needs no decoding.
    pub(crate) fn plain(reader: Box<dyn Read + Send + 'a>, form: TextForm) -> Self {
        DecodedText { encoding: String::new(), form, table: None, reader, error: None, has_failed: false }
    }

    /// The rows of a table as lines.
    pub(crate) fn of_rows(format: RowsFormat, rows: TableStream) -> DecodedText<'static> {
        DecodedText { encoding: format.name().into(), ..DecodedText::plain(Box::new(rows), TextForm::Text) }
    }

    /// A reader of the text.
    pub(crate) fn into_reader(self) -> Box<dyn Read + Send + 'a> {
        self.reader
    }

    /// Fills `buffer` as far as the text goes, and returns the number of bytes.
    ///
    /// # Errors
    /// The file cannot be read or decoded, or its text is suspiciously long.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        fill(&mut self.reader, buffer)
    }

    /// Fills `buffer` as far as the text goes or can be read. An error behind bytes that were read is
    /// returned by the next call.
    ///
    /// # Errors
    /// As [`DecodedText::fill`].
    pub(crate) fn fill_readable(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut have = 0;
        while let Some(rest) = buffer.get_mut(have..).filter(|rest| !rest.is_empty()) {
            match self.reader.read(rest) {
                Ok(0) => break,
                Ok(got) => have += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if have == 0 => return Err(error),
                Err(error) => {
                    (self.error, self.has_failed) = (Some(error), true);
                    break;
                }
            }
        }
        Ok(have)
    }

    /// True if an error ended a call of [`DecodedText::fill_readable`] early.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }
}

/// Decides what the bytes of a file are. `head` are its first bytes, at most [`HEAD`], and `stream` reads the
/// file from its start; `size` is its size.
///
/// # Errors
/// The start of compressed data cannot be decompressed.
pub(crate) fn examine<'a>(
    head: &[u8],
    size: u64,
    stream: impl FnOnce() -> Box<dyn Read + Send + 'a>,
    options: ContentOptions,
) -> io::Result<Content<'a>> {
    let Some(compressed) = CompressedFormat::of(head).filter(|_| options.decompress) else {
        let whole = size == head.len() as u64;
        return Ok(of_class(classify(head, whole, options), None, stream));
    };
    let mut reader = compressed.reader(stream(), size)?;
    let mut start = vec![0; HEAD];
    let got = fill(&mut reader, &mut start)?;
    start.truncate(got);
    let class = classify(&start, got < HEAD, options);
    let table = RowsFormat::of(&start);
    let rest: Box<dyn Read + Send + 'a> = Box::new(Cursor::new(start).chain(reader));
    let mut content = of_class(class, Some(compressed.name()), || rest);
    if let Content::Decoded(text) = &mut content {
        text.table = table;
    }
    Ok(content)
}

fn of_class<'a>(
    class: HeadClass,
    compression: Option<&'static str>,
    stream: impl FnOnce() -> Box<dyn Read + Send + 'a>,
) -> Content<'a> {
    let (charset, form) = match class {
        HeadClass::Binary(kind) => return Content::Binary(kind),
        HeadClass::Members(format, charset) => {
            let encoding = joined([compression, charset.map(|charset| charset.name())]);
            return Content::Members(MembersContent {
                format,
                encoding,
                stream: converted(stream(), charset),
            });
        }
        HeadClass::Text(None, form) if compression.is_none() => return Content::Plain(form),
        HeadClass::Text(charset, form) => (charset, form),
    };
    let encoding = joined([compression, charset.map(|charset| charset.name()), form.name()]);
    let reader = converted(stream(), charset);
    Content::Decoded(DecodedText {
        encoding: encoding.unwrap_or_default(),
        ..DecodedText::plain(reader, form)
    })
}

/// The names that are known; `None` without any.
fn joined<const N: usize>(names: [Option<&str>; N]) -> Option<String> {
    let names: Vec<&str> = names.into_iter().flatten().collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// A text in UTF-8.
fn converted<'a>(
    stream: Box<dyn Read + Send + 'a>,
    charset: Option<&'static encoding_rs::Encoding>,
) -> Box<dyn Read + Send + 'a> {
    match charset {
        Some(charset) => Box::new(Transcoder::new(stream, charset)),
        None => stream,
    }
}

/// A reader of what `stream` holds, decompressed if its first bytes `head` say that it is compressed, and the
/// name of the compression. `size` is the size of the file, or a number that no file reaches.
///
/// # Errors
/// The start of compressed data cannot be decompressed.
pub(crate) fn decompressed<'a>(
    head: &[u8],
    size: u64,
    stream: Box<dyn Read + Send + 'a>,
) -> io::Result<(Box<dyn Read + Send + 'a>, Option<&'static str>)> {
    match CompressedFormat::of(head) {
        Some(format) => Ok((format.reader(stream, size)?, Some(format.name()))),
        None => Ok((stream, None)),
    }
}

/// True for a file whose bytes are its text, as [`examine`] decides it.
pub(crate) fn is_plain(head: &[u8], size: u64, options: ContentOptions) -> bool {
    let is_compressed = options.decompress && CompressedFormat::of(head).is_some();
    let whole = size == head.len() as u64;
    !is_compressed && matches!(classify(head, whole, options), HeadClass::Text(None, TextForm::Text))
}

impl TextForm {
    /// What pages and records are called in reports. Documents are counted when their text was found.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            TextForm::Page => Some("HTML"),
            TextForm::Message => Some(CollectionKind::Mbox.record_name()),
            TextForm::Record(kind) => Some(kind.record_name()),
            TextForm::Text | TextForm::Document(_) => None,
        }
    }
}

/// What the first bytes of a file say about it, after decompression.
enum HeadClass {
    /// Text in UTF-8 or another encoding.
    Text(Option<&'static encoding_rs::Encoding>, TextForm),
    /// Members, in UTF-8 or another encoding.
    Members(MembersFormat, Option<&'static encoding_rs::Encoding>),
    Binary(&'static str),
}

/// Classifies a file by its first bytes; `whole` if there are no others.
fn classify(head: &[u8], whole: bool, options: ContentOptions) -> HeadClass {
    if let Some(kind) = document_kind(head).filter(|_| options.extract == Extraction::All) {
        return HeadClass::Text(None, TextForm::Document(kind));
    }
    if let Some(format) = ArchiveFormat::of(head).filter(|_| options.extract >= Extraction::Safe) {
        return HeadClass::Members(MembersFormat::Archive(format), None);
    }
    if options.collections && options.extract >= Extraction::Safe {
        if let Some(kind) = CollectionKind::of(head) {
            let charset = || charset::legacy(head, whole).filter(|charset| *charset != encoding_rs::UTF_8);
            let is_converted = options.transcode && !kind.has_encodings();
            let charset = if is_converted { charset() } else { None };
            return HeadClass::Members(MembersFormat::Collection(kind), charset);
        }
        if is_message(head) {
            return HeadClass::Text(None, TextForm::Message);
        }
    }
    let form = form_of(head, options);
    if options.transcode
        && let Some(charset) = charset::utf16(head)
    {
        return HeadClass::Text(Some(charset), wide_form(head, charset, options));
    }
    if options.skip_binary
        && let Some(kind) = magic::binary_kind(head)
    {
        return HeadClass::Binary(kind);
    }
    let declared = if form == TextForm::Page { charset::declared(head) } else { None };
    let charset = declared.or_else(|| charset::legacy(head, whole)).filter(|_| options.transcode);
    HeadClass::Text(charset.filter(|charset| *charset != encoding_rs::UTF_8), form)
}

/// Tells pages from other text.
fn form_of(head: &[u8], options: ContentOptions) -> TextForm {
    let is_page = options.extract >= Extraction::Safe && is_html_page(head);
    if is_page { TextForm::Page } else { TextForm::Text }
}

/// The same for text in UTF-16.
fn wide_form(head: &[u8], charset: &'static encoding_rs::Encoding, options: ContentOptions) -> TextForm {
    let (start, _, _) = charset.decode(head.get(..4 << 10).unwrap_or(head));
    form_of(start.as_bytes(), options)
}
