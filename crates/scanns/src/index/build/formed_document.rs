//! Pages, documents and records of collections: collects the bytes of one, and finds its text and its fields.
//!
//! Small ones come in one piece. The pieces of a larger one are joined first, up to [`MAX_DOCUMENT`]. A
//! document that is a file of its own is not read here: its extractor opens it.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::lane_report::LaneReport;
use super::member_records::MemberRecords;
use crate::content::html::HtmlPage;
use crate::content::{CollectionKind, ExtractFailure, Extracted, Extractors, MAX_DOCUMENT, TextForm};
use crate::read::{ContentCounts, Piece};
use crate::record::MemberValues;

/// What is said about a document of which a part of the text is missing.
const PARTIAL: &str = "a part of its text is missing: it is damaged, or longer than the limit";

/// What finds the text of documents, and what stops it.
#[derive(Clone, Copy)]
pub(crate) struct ExtractCall<'a> {
    pub(crate) extractors: &'a Extractors,
    pub(crate) cancel: &'a AtomicBool,
    /// Whether files may be opened again by their paths, instead of passing on what was read.
    pub(crate) reopens: bool,
}

/// The page or document that is being read.
pub(super) struct FormedDocument<'a> {
    extractors: Option<ExtractCall<'a>>,
    /// Its bytes from earlier pieces.
    raw: Vec<u8>,
    /// True if it is longer than `raw` may be.
    is_cut: bool,
    page: HtmlPage,
    records: MemberRecords,
    /// When the current document says that it was written, in nanoseconds since 1970.
    modified: Option<i64>,
    /// Memory of the text of the one before.
    spare: Vec<u8>,
    /// What was found in it, by name.
    fields: Vec<(String, Vec<u8>)>,
    binary: ContentCounts,
    decoded: ContentCounts,
}

/// The text of a page or document.
pub(super) struct FormedText {
    pub(super) text: Vec<u8>,
    /// What could not be read of it.
    pub(super) problem: Option<String>,
    /// False for a record that is not a document.
    pub(super) is_document: bool,
}

impl FormedText {
    fn new(text: Vec<u8>, problem: Option<String>) -> Self {
        FormedText { text, problem, is_document: true }
    }
}

impl<'a> FormedDocument<'a> {
    pub(super) fn new(extractors: Option<ExtractCall<'a>>) -> Self {
        FormedDocument {
            extractors,
            raw: Vec::new(),
            is_cut: false,
            page: HtmlPage::default(),
            records: MemberRecords::default(),
            modified: None,
            spare: Vec::new(),
            fields: Vec::new(),
            binary: ContentCounts::default(),
            decoded: ContentCounts::default(),
        }
    }

    /// The fields of the current document.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// When the current document says that it was written, in nanoseconds since 1970.
    pub(super) fn modified(&self) -> Option<i64> {
        self.modified
    }

    /// Forgets the fields, because another document follows.
    pub(super) fn forget(&mut self) {
        self.fields.clear();
        self.modified = None;
    }

    /// Adds to the report of an index thread which documents had no text and which had text, by kind, and
    /// what was unusual about records.
    pub(super) fn report(self, report: &mut LaneReport) {
        (report.binary, report.decoded) = (self.binary, self.decoded);
        self.records.report(report);
    }

    /// Takes a piece with these bytes; `path` names the document. Its text after the last piece, unless the
    /// build is stopped.
    pub(super) fn take(&mut self, piece: &Piece, bytes: &[u8], path: &Path) -> Option<FormedText> {
        if piece.opens {
            self.forget();
            self.raw.clear();
            self.is_cut = false;
        }
        if piece.failed {
            return None;
        }
        if !piece.closes || !piece.opens {
            let room = MAX_DOCUMENT - self.raw.len();
            self.is_cut |= bytes.len() > room;
            self.raw.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
        if !piece.closes {
            return None;
        }
        let raw = std::mem::take(&mut self.raw);
        let whole = if piece.opens { bytes } else { &raw };
        let formed = match piece.form {
            TextForm::Document(kind) => self.extract(piece, whole, kind, path),
            TextForm::Record(kind) => Some(self.record(whole, kind, path, false)),
            TextForm::Message => Some(self.record(whole, CollectionKind::Mbox, path, true)),
            TextForm::Page | TextForm::Text => Some(self.page(whole)),
        };
        self.raw = raw;
        self.raw.clear();
        self.raw.shrink_to(MAX_DOCUMENT / 16);
        formed
    }

    /// Takes the memory of a text back.
    pub(super) fn give_back(&mut self, mut text: Vec<u8>) {
        text.clear();
        text.shrink_to(MAX_DOCUMENT / 16);
        self.spare = text;
    }

    fn page(&mut self, bytes: &[u8]) -> FormedText {
        self.page.read(bytes);
        let mut text = std::mem::take(&mut self.spare);
        self.page.append_to(&mut text);
        self.note("format", b"HTML");
        for (name, value) in [
            ("title", &self.page.title),
            ("language", &self.page.language),
            ("keywords", &self.page.keywords),
        ] {
            if !value.is_empty() {
                self.fields.push((name.to_owned(), value.clone()));
            }
        }
        FormedText::new(text, self.cut_problem())
    }

    /// What is said about a page or a record that is longer than its bytes.
    fn cut_problem(&self) -> Option<String> {
        self.is_cut.then(|| format!("only its first {} MiB were read", MAX_DOCUMENT >> 20))
    }

    /// A record of a collection, or a message that is a file of its own.
    fn record(&mut self, bytes: &[u8], kind: CollectionKind, path: &Path, is_file: bool) -> FormedText {
        let mut text = std::mem::take(&mut self.spare);
        let mut values = MemberValues::default();
        let read = self.records.read(kind, bytes, path, &mut text, &mut values);
        self.modified = values.modified;
        let fields = values.fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.fields.extend(fields);
        match read {
            Ok(true) => {
                self.note("format", kind.record_name().as_bytes());
                FormedText::new(text, self.cut_problem())
            }
            // A file is a document in any case.
            Ok(false) if is_file => FormedText::new(text, None),
            Ok(false) => FormedText { text, problem: self.cut_problem(), is_document: false },
            Err(error) => {
                let problem = is_file.then(|| error.to_string());
                FormedText { text, problem, is_document: is_file }
            }
        }
    }

    /// Adds a field to the current document.
    pub(super) fn note(&mut self, name: &str, value: &[u8]) {
        self.fields.push((name.to_owned(), value.to_vec()));
    }

    fn extract(
        &mut self,
        piece: &Piece,
        bytes: &[u8],
        kind: &'static str,
        path: &Path,
    ) -> Option<FormedText> {
        let len = piece.part.as_ref().and_then(|part| part.entry()?.size).unwrap_or(bytes.len() as u64);
        let without = |problem: Option<String>| Some(FormedText::new(Vec::new(), problem));
        let Some(ExtractCall { extractors, cancel, reopens }) = self.extractors else {
            self.binary.add(kind, len, path);
            return without(None);
        };
        if self.is_cut {
            let what = format!("it is {kind} of more than {} MiB in another file", MAX_DOCUMENT >> 20);
            return without(Some(what));
        }
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let extracted = if reopens && piece.part.is_none() && !piece.decoded {
            File::open(path)
                .map_err(ExtractFailure::Start)
                .and_then(|file| extractors.extract(file.as_fd(), name, cancel))
        } else {
            extractors.extract_bytes(bytes, name, cancel)
        };
        match extracted {
            Ok(Extracted { format, text, fields, .. }) if text.is_empty() && fields.is_empty() => {
                self.binary.add(&format, len, path);
                self.note("format", format.as_bytes());
                without(None)
            }
            Ok(Extracted { format, text, fields, cut }) => {
                self.decoded.add(&format, len, path);
                self.note("format", format.as_bytes());
                self.fields.extend(fields.into_iter().map(|(name, value)| (name, value.into_bytes())));
                Some(FormedText::new(text, cut.then(|| PARTIAL.to_owned())))
            }
            Err(ExtractFailure::Cancelled) => None,
            Err(failure) => {
                self.binary.add(kind, len, path);
                let is_fault = !matches!(failure, ExtractFailure::NotADocument);
                without(is_fault.then(|| failure.to_string()))
            }
        }
    }
}
