//! Unpacks an archive in a thread of its own: the text of its members, in batches that fit into blocks.
//!
//! A member that is text, also after decoding, or a page or a document is sent with its bytes; any other is
//! sent without. Members of archives in the archive are sent as its own, up to [`MOST_DEPTH`] archives deep.
//! A collection is an archive of its records.
//! A member that cannot be read costs itself alone. What the members expand to is limited, so that a small
//! file cannot keep a build busy for ever.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::content::{
    ArchiveFormat, ArchiveLimits, ArchiveMember, CollectionKind, Content, ContentOptions, DecodedText, HEAD,
    MemberKind, MembersContent, MembersFormat, TextForm, examine, fill, walk, walk_zip,
};
use crate::read::block::ArchivePart;
use crate::read::collections::{KnowCollections, visit_records};
use crate::read::options::ReadOptions;
use crate::read::work::WorkList;
use crate::sys::ReadFile;

/// The maximum number of archives within each other.
const MOST_DEPTH: usize = 16;

/// The bytes that the members of an archive may always expand to, and how many times the size of the archive
/// beyond that.
const ALWAYS_ALLOWED: u64 = 4 << 30;
const MOST_RATIO: u64 = 1_100;

/// The maximum size of a zip archive in another archive or in a compressed file. It is read from its end, so
/// it has to be in memory.
const MOST_INNER_ZIP: u64 = 256 << 20;

/// Why the rest of an archive is left out.
const TOO_LARGE: &str =
    "its members expand to more than 1,100 times its size: unpack it yourself if you trust it";

/// The maximum number of members in one batch.
const MOST_MEMBERS: usize = 4096;

/// The number of batches that wait for the reader.
const WAITING: usize = 2;

/// What the thread sends.
pub(super) enum UnpackedBatch {
    /// Whole members, and their bytes.
    Packed(Vec<u8>, Vec<PackedMember>),
    /// A part of a member that is longer than a block.
    Long(LongMember),
    /// The end of the archive: the number of its members, and what is wrong with it.
    End(u64, Option<io::Error>),
}

/// A member, and where its bytes are.
pub(super) struct PackedMember {
    pub(super) part: Arc<ArchivePart>,
    pub(super) range: Range<usize>,
    pub(super) form: TextForm,
}

/// A part of a long member.
pub(super) struct LongMember {
    pub(super) part: Arc<ArchivePart>,
    pub(super) form: TextForm,
    pub(super) bytes: Vec<u8>,
    /// How the member goes on.
    pub(super) after: AfterPart,
}

/// How a member goes on after a part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterPart {
    /// With another part.
    More,
    /// It has ended.
    End,
    /// The rest cannot be read. The member is void, and is sent again without text.
    Failed,
}

/// The thread that unpacks an archive.
pub(super) struct ArchiveUnpacker {
    /// `None` once the thread is to end.
    batches: Option<Receiver<UnpackedBatch>>,
    thread: Option<JoinHandle<()>>,
}

/// An archive to unpack.
pub(super) struct ArchiveFile {
    pub(super) content: MembersContent<'static>,
    /// The file, if it need not be decompressed.
    pub(super) file: Option<Arc<ReadFile>>,
    /// Its size; 0 for a stream.
    pub(super) size: u64,
}

impl ArchiveFile {
    /// The kind of archive for reports, such as `gzip, tar`.
    pub(super) fn kind(&self) -> String {
        let names = self.content.encoding.as_deref().into_iter().chain([self.content.format.name()]);
        names.collect::<Vec<_>>().join(", ")
    }
}

impl ArchiveUnpacker {
    /// Starts to unpack, in batches that fit into blocks.
    pub(super) fn start(
        work: &Arc<WorkList>,
        input: u32,
        archive: ArchiveFile,
        options: &ReadOptions,
    ) -> io::Result<Self> {
        let (sender, batches) = sync_channel(WAITING);
        let (work, contents, block) = (Arc::clone(work), options.contents, options.block_bytes);
        let collections = options.collections;
        let run = move || {
            let path = work.inputs.get(input as usize).map_or(Vec::new(), |input| input.key().to_vec());
            let mut walk = MemberWalk {
                work: &work,
                options: contents,
                collections,
                block,
                sender,
                bytes: Vec::with_capacity(block),
                members: Vec::new(),
                head: vec![0; HEAD],
                count: 0,
                left: archive.size.saturating_mul(MOST_RATIO).max(ALWAYS_ALLOWED),
                is_unheard: false,
            };
            walk.run(&path, archive);
        };
        let thread = std::thread::Builder::new().name("scanns-unpack".into()).spawn(run)?;
        Ok(ArchiveUnpacker { batches: Some(batches), thread: Some(thread) })
    }

    /// The next batch, waiting for it. After the last one, and if the thread panicked, an end with an error.
    pub(super) fn next(&mut self) -> UnpackedBatch {
        let batch = self.batches.as_ref().and_then(|batches| batches.recv().ok());
        batch.unwrap_or_else(|| UnpackedBatch::End(0, Some(io::Error::other("it could not be unpacked"))))
    }
}

impl Drop for ArchiveUnpacker {
    fn drop(&mut self) {
        drop(self.batches.take());
        if let Some(thread) = self.thread.take() {
            // A panic was seen as an end without its message.
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct MemberWalk<'w> {
    work: &'w WorkList,
    options: ContentOptions,
    collections: Option<&'static dyn KnowCollections>,
    block: usize,
    sender: SyncSender<UnpackedBatch>,
    /// The bytes of `members`.
    bytes: Vec<u8>,
    /// Members that are not sent yet.
    members: Vec<PackedMember>,
    /// Holds the start of a member.
    head: Vec<u8>,
    /// Members so far.
    count: u64,
    /// The number of bytes that may still be read of members.
    left: u64,
    /// True once nobody receives any more.
    is_unheard: bool,
}

impl MemberWalk<'_> {
    fn run(&mut self, path: &[u8], archive: ArchiveFile) {
        let ArchiveFile { content, file, size } = archive;
        let is_zip = content.format == MembersFormat::Archive(ArchiveFormat::Zip);
        let walked = match file.filter(|_| is_zip) {
            Some(file) => {
                let mut source = FileSeek { file, offset: 0 };
                let walked = self.walk_zip(path, &mut source, 0);
                self.work.count_consumed(size);
                walked
            }
            None => self.walk(path, content, 0),
        };
        self.flush();
        self.send(UnpackedBatch::End(self.count, walked.err()));
    }

    /// Sends the members of an archive that is read from its start.
    fn walk(&mut self, path: &[u8], archive: MembersContent<'_>, depth: usize) -> io::Result<()> {
        let MembersContent { format, mut stream, .. } = archive;
        let format = match format {
            MembersFormat::Archive(format) => format,
            MembersFormat::Collection(kind) => return self.walk_records(path, kind, &mut stream),
        };
        if format == ArchiveFormat::Zip {
            let mut bytes = Vec::new();
            (&mut stream).take(MOST_INNER_ZIP + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > MOST_INNER_ZIP {
                let what = "it is a zip archive of more than 256 MiB in another file: unpack that first";
                return Err(io::Error::other(what));
            }
            return self.walk_zip(path, &mut Cursor::new(bytes), depth);
        }
        let limits = self.limits();
        let report = walk(format, &mut stream, &limits, &mut |member, content| {
            self.visit(path, member, content, depth)
        });
        report.error.map_or(Ok(()), |error| Err(io::Error::other(error.to_string())))
    }

    fn walk_zip(
        &mut self,
        path: &[u8],
        source: &mut (impl Read + Seek + Send),
        depth: usize,
    ) -> io::Result<()> {
        let limits = self.limits();
        let report =
            walk_zip(source, &limits, &mut |member, content| self.visit(path, member, content, depth));
        report.error.map_or(Ok(()), |error| Err(io::Error::other(error.to_string())))
    }

    /// Sends the records of a collection.
    fn walk_records(&mut self, path: &[u8], kind: CollectionKind, stream: &mut dyn Read) -> io::Result<()> {
        let known = self.collections.map(|collections| collections.ends(kind));
        let Some(mut ends) = known else { return Err(io::Error::other("its records are not known")) };
        let (form, mut number) = (TextForm::Record(kind), 0);
        let lost = visit_records(&mut *ends, stream, &mut |record| {
            number += 1;
            let member = ArchiveMember::record(number, record.len() as u64);
            let path = [path, b"!/", &member.path].concat();
            if record.len() <= self.block {
                self.left = self.left.saturating_sub(record.len() as u64);
                self.pack(&path, &member, form, record);
            } else {
                self.text(&path, &member, DecodedText::plain(Box::new(record), form))?;
            }
            if self.left == 0 {
                return Err(io::Error::other(TOO_LARGE));
            }
            Ok(if self.is_unheard { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if lost > 0 {
            let what =
                format!("lost records: {lost}, because one before them says that it is longer than it is");
            self.work.fail_member(path, &io::Error::other(what));
        }
        Ok(())
    }

    /// The members of an archive share what is left of the bytes.
    fn limits(&self) -> ArchiveLimits {
        ArchiveLimits { bytes: self.left, ..ArchiveLimits::default() }
    }

    fn visit(
        &mut self,
        archive: &[u8],
        member: &ArchiveMember,
        content: &mut (dyn Read + Send),
        depth: usize,
    ) -> io::Result<ControlFlow<()>> {
        if matches!(member.kind, MemberKind::File | MemberKind::HardLink) {
            let path = [archive, b"!/", &member.path].concat();
            let read = self.member(&path, member, content, depth);
            if let Err(error) = read {
                self.work.fail_member(&path, &error);
                self.pack(&path, member, TextForm::Text, &[]);
            }
        }
        if self.left == 0 {
            return Err(io::Error::other(TOO_LARGE));
        }
        Ok(if self.is_unheard { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Sends a member. After an error, nothing of it has been sent, or a part that is void.
    fn member(
        &mut self,
        path: &[u8],
        member: &ArchiveMember,
        content: &mut (dyn Read + Send),
        depth: usize,
    ) -> io::Result<()> {
        let mut head = std::mem::take(&mut self.head);
        let got = fill(content, &mut head);
        let begun = head.get(..*got.as_ref().unwrap_or(&0)).unwrap_or_default().to_vec();
        self.head = head;
        let got = got?;
        self.left = self.left.saturating_sub(got as u64);
        let is_whole = got < HEAD;
        let size = if is_whole { got as u64 } else { member.size.max(got as u64 + 1) };
        let mut stream: Option<Box<dyn Read + Send>> =
            Some(Box::new(Cursor::new(begun.clone()).chain(content)));
        let taken = || stream.take().unwrap_or_else(|| Box::new(io::empty()));
        match examine(&begun, size, taken, self.options)? {
            Content::Plain(form) if is_whole => {
                self.count_form(path, member, form.name());
                self.pack(path, member, form, &begun);
                Ok(())
            }
            Content::Plain(form) => {
                self.count_form(path, member, form.name());
                let rest = stream.take().unwrap_or_else(|| Box::new(io::empty()));
                self.text(path, member, DecodedText::plain(rest, form))
            }
            Content::Decoded(text) => {
                self.count_form(path, member, Some(&text.encoding));
                self.text(path, member, text)
            }
            Content::Binary(kind) => {
                self.work.count_member_binary(path, member.size, kind);
                self.pack(path, member, TextForm::Text, &[]);
                Ok(())
            }
            Content::Members(inner) => {
                if depth + 1 == MOST_DEPTH {
                    let what = format!("it has more than {MOST_DEPTH} archives within each other");
                    return Err(io::Error::other(what));
                }
                self.walk(path, inner, depth + 1)?;
                self.pack(path, member, TextForm::Text, &[]);
                Ok(())
            }
        }
    }

    fn count_form(&self, path: &[u8], member: &ArchiveMember, encoding: Option<&str>) {
        if let Some(encoding) = encoding.filter(|encoding| !encoding.is_empty()) {
            self.work.count_member_decoded(path, member.size, encoding);
        }
    }

    /// Sends the text of a member.
    fn text(&mut self, path: &[u8], member: &ArchiveMember, text: DecodedText<'_>) -> io::Result<()> {
        let form = text.form;
        let mut reader = text.into_reader();
        let mut long = None;
        loop {
            let mut bytes = vec![0; self.block];
            let got = fill(&mut reader, &mut bytes);
            let read = *got.as_ref().unwrap_or(&0);
            self.left = self.left.saturating_sub(read as u64);
            bytes.truncate(read);
            let ends = read < self.block;
            if got.is_ok() && ends && long.is_none() {
                self.pack(path, member, form, &bytes);
                return Ok(());
            }
            if long.is_none() && got.is_err() {
                return got.map(|_| ());
            }
            let part = Arc::clone(long.get_or_insert_with(|| self.part(path, member)));
            self.flush();
            let after = match &got {
                Err(_) => AfterPart::Failed,
                Ok(_) if ends => AfterPart::End,
                Ok(_) if self.left == 0 => AfterPart::Failed,
                Ok(_) => AfterPart::More,
            };
            self.send(UnpackedBatch::Long(LongMember { part, form, bytes, after }));
            match after {
                AfterPart::More if !self.is_unheard => {}
                AfterPart::Failed => {
                    // The member is sent again, without text.
                    self.count -= 1;
                    return Err(got.err().unwrap_or_else(|| io::Error::other(TOO_LARGE)));
                }
                _ => return Ok(()),
            }
        }
    }

    /// The next member.
    fn part(&mut self, path: &[u8], member: &ArchiveMember) -> Arc<ArchivePart> {
        let number = self.count;
        self.count += 1;
        Arc::new(ArchivePart { number, path: path.to_vec(), member: Some(member.clone()) })
    }

    /// Sends a whole member, together with others.
    fn pack(&mut self, path: &[u8], member: &ArchiveMember, form: TextForm, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > self.block || self.members.len() >= MOST_MEMBERS {
            self.flush();
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let (part, range) = (self.part(path, member), start..self.bytes.len());
        self.members.push(PackedMember { part, range, form });
    }

    /// Sends the members that were packed.
    fn flush(&mut self) {
        if !self.members.is_empty() {
            let bytes = std::mem::replace(&mut self.bytes, Vec::with_capacity(self.block));
            let members = std::mem::take(&mut self.members);
            self.send(UnpackedBatch::Packed(bytes, members));
        }
    }

    fn send(&mut self, batch: UnpackedBatch) {
        self.is_unheard |= self.sender.send(batch).is_err();
    }
}

/// A file that is read from any place.
struct FileSeek {
    file: Arc<ReadFile>,
    offset: u64,
}

impl Read for FileSeek {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(buffer, self.offset)?;
        self.offset += got as u64;
        Ok(got)
    }
}

impl Seek for FileSeek {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.file.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.offset.checked_add_signed(by),
        };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}
