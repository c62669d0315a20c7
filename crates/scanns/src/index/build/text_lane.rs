//! Indexes files and lines: text of one field in, segments out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::access_field::MemberClass;
use super::budget::PART_BYTES;
use super::file_fields::{EntrySource, FileFields, MissingDates};
use super::formed_document::{ExtractCall, FormedDocument, FormedText};
use super::found_fields::LANGUAGE;
use super::lane::PieceIndexer;
use super::lane_output::{LaneContext, LaneOutput};
use super::lane_report::LaneReport;
use super::near_sketch::NearSketch;
use crate::column::ColumnSet;
use crate::content::{LanguageSample, TextForm, source_language};
use crate::error::Result;
use crate::invert::{InvertOptions, Inverter};
use crate::read::Piece;
use crate::record::{DocumentPart, DocumentParts, DocumentRange};
use crate::schema::{Analyzer, Field, Postings, Records, Schema};
use crate::segment::{FLUSH_BYTES, StoredCollector};
use crate::source::{Entry, Failure, Input};
use crate::sys::BLOCK_PADDING;
use crate::tokenize::Tokenizer;

/// The field of the text, and its indexing options.
#[derive(Clone, Copy)]
pub(crate) struct TextJob<'a> {
    pub(crate) field: Field,
    pub(crate) schema: &'a Schema,
    pub(crate) analyzer: &'a Analyzer,
    pub(crate) invert: InvertOptions,
    /// The columns of files, if the index stores file metadata.
    pub(crate) files: Option<FileColumns<'a>>,
    /// What finds the text of documents, if anything does.
    pub(crate) extractors: Option<ExtractCall<'a>>,
}

/// The columns of file metadata.
#[derive(Clone, Copy)]
pub(crate) struct FileColumns<'a> {
    pub(crate) fields: &'a FileFields,
    /// The directories that are scanned.
    pub(crate) from: &'a [EntrySource],
}

/// The state of an index thread of files or lines.
pub(crate) struct TextIndexer<'a> {
    context: LaneContext<'a>,
    job: TextJob<'a>,
    tokenizer: Tokenizer,
    inverter: Inverter,
    stored: StoredCollector,
    /// File metadata and sketches, if the index stores them.
    columns: ColumnSet,
    missing_dates: MissingDates,
    /// True while the rest of a document that does not fit into memory is skipped.
    skipping: bool,
    /// Bytes since memory was last checked.
    unchecked: usize,
    /// Where the current line begins in its file; 0 where a document is a file.
    line_at: u64,
    /// The page or document that is being read, and what was found in it.
    formed: FormedDocument<'a>,
    /// The start of the current document, if its language is to be found out.
    language: Option<LanguageSample>,
    /// The sketch of the current document, if the index has sketches.
    sketch: Option<NearSketch>,
    members: MemberClass,
    out: LaneOutput<'a>,
}

impl<'a> TextIndexer<'a> {
    pub(crate) fn new(context: LaneContext<'a>, job: TextJob<'a>) -> Result<Self> {
        let has_columns = job.files.is_some() || context.sketch.is_some();
        Ok(TextIndexer {
            context,
            job,
            tokenizer: Tokenizer::new(job.analyzer),
            inverter: Inverter::new(&job.invert)?,
            stored: StoredCollector::new(&context.stored, context.records)?
                .keep_offsets(job.invert.postings.has_offsets()),
            columns: if has_columns { ColumnSet::new(job.schema) } else { ColumnSet::default() },
            missing_dates: MissingDates::default(),
            skipping: false,
            unchecked: 0,
            line_at: 0,
            formed: FormedDocument::new(job.extractors),
            language: (context.languages && job.files.is_some()).then(LanguageSample::default),
            sketch: NearSketch::of(job.schema, context.sketch),
            members: MemberClass::default(),
            out: LaneOutput::new(context),
        })
    }

    fn input(&self, piece: &Piece) -> &'a Input {
        &self.context.inputs[piece.input as usize]
    }

    /// The path of the document.
    fn key<'k>(&self, piece: &'k Piece) -> &'k [u8]
    where
        'a: 'k,
    {
        match &piece.part {
            Some(part) if part.member.is_some() => &part.path,
            _ => self.input(piece).key(),
        }
    }

    /// Begins a document or a run of lines.
    fn open(&mut self, piece: &Piece) -> Result<()> {
        if let Some(line) = &piece.first_line {
            self.line_at = piece.offset;
            let (document, input) = (self.inverter.current_document(), self.input(piece));
            self.out.keys.lines(document, piece.input, input, line.clone());
            return Ok(());
        }
        if let Some(sample) = &mut self.language {
            sample.clear();
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.begin();
        }
        // A file that may not fit into memory in addition to the current documents starts a new segment.
        let halves = match self.job.invert.postings {
            Postings::Documents | Postings::Frequencies => 3,
            Postings::Positions => 5,
            Postings::Offsets => 6,
        };
        let member = piece.part.as_ref().and_then(|part| part.entry()?.size);
        let whole = member.unwrap_or_else(|| self.input(piece).bytes);
        let text = if piece.closes { (piece.end - piece.start) as u64 } else { whole };
        let estimate = text.saturating_mul(halves) / 2;
        let used = (self.inverter.bytes() + self.out.keys.bytes()) as u64;
        if self.inverter.max_doc() > 0 && used + estimate > self.out.segments.limit as u64 {
            self.flush()?;
        }
        Ok(())
    }

    /// Voids the document of a file that could not be read to its end. The reader reports the failure.
    fn fail(&mut self, piece: &Piece) -> Result<()> {
        let begun = self.inverter.pending_tokens() > 0 || self.stored.is_open();
        if !std::mem::take(&mut self.skipping) && begun {
            self.void_document()?;
            self.out.keys.file(self.key(piece), self.input(piece).stamp());
        }
        Ok(())
    }

    /// Leaves out a record of a collection that is not a document.
    fn leave_out(&mut self, piece: &Piece) -> Result<()> {
        self.void_document()?;
        self.out.keys.file(self.key(piece), self.input(piece).stamp());
        self.out.replace(piece.input);
        if let Some(part) = &piece.part {
            self.out.cover_part(piece.input, part);
        }
        if self.is_full() { self.flush() } else { Ok(()) }
    }

    fn void_document(&mut self) -> Result<()> {
        self.inverter.void_document();
        self.columns.void_document()?;
        self.stored.void_document()
    }

    /// Skips the rest of a token that the end of the previous piece cut, and returns the end of the token.
    fn rest_of_token(&mut self, piece: &Piece, bytes: &[u8]) -> Result<usize> {
        let rest = &bytes[piece.start..piece.end];
        let lines = self.context.records == Records::Lines;
        let line = if lines { memchr::memchr(b'\n', rest) } else { None };
        let end = piece.start + self.tokenizer.rest_of_token(&rest[..line.unwrap_or(rest.len())]);
        if !self.skipping {
            if let Some(sketch) = &mut self.sketch {
                sketch.text(&bytes[piece.start..end]);
            }
            // The whole token is stored as text, and must not fill the memory unnoticed.
            self.stored.text(&bytes[piece.start..end])?;
            if self.is_full() {
                self.flush_inside(piece)?;
            }
        }
        Ok(end)
    }

    #[inline]
    fn part(&mut self, part: DocumentPart, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        let last = part.range.end == piece.end;
        self.unchecked += part.range.len();
        if let Some(sample) = &mut self.language {
            sample.add(&bytes[part.range.clone()]);
        }
        // The line feed that ends a line is not stored, but other delimiters before it are.
        let text = part.range.start..part.next - usize::from(part.next > part.range.end);
        if !self.skipping {
            self.stored.text(&bytes[text.clone()])?;
            if let Some(sketch) = &mut self.sketch {
                sketch.text(&bytes[text.clone()]);
            }
            if self.job.invert.postings.has_offsets() {
                let begun = self.line_at.wrapping_add(piece.start as u64);
                self.inverter.text_begins(piece.offset.wrapping_sub(begun));
                self.stored.text_begins(piece.offset.wrapping_sub(begun));
            }
            match self.stored.vectors() {
                Some(vectors) => self.tokenizer.run(bytes, part.range, &mut (&mut self.inverter, vectors)),
                None => self.tokenizer.run(bytes, part.range, &mut self.inverter),
            }
        }
        if part.closes {
            if std::mem::take(&mut self.skipping) {
                self.line_at = piece.offset + (part.next - piece.start) as u64;
                return Ok(());
            }
            if piece.failed && last {
                // The line at which reading failed is incomplete.
                return self.void_document();
            }
            self.end_document(piece, text.end, part.next)?;
        }
        if self.unchecked >= PART_BYTES || self.context.records == Records::File {
            self.unchecked = 0;
            if self.is_full() {
                return if part.closes { self.flush() } else { self.flush_inside(piece) };
            }
        }
        Ok(())
    }

    /// Ends the current document, whose text ends at byte `end` of the block; the next line begins at byte
    /// `next`.
    #[inline]
    fn end_document(&mut self, piece: &Piece, end: usize, next: usize) -> Result<()> {
        self.inverter.end_document();
        let end = piece.offset + (end - piece.start) as u64;
        self.stored.end_document((self.line_at, end.saturating_sub(self.line_at)))?;
        if self.context.records == Records::Lines {
            let next = piece.offset + (next - piece.start) as u64;
            let start = std::mem::replace(&mut self.line_at, next);
            self.out.cover(piece.input, start, next);
            return Ok(());
        }
        self.out.keys.file(self.key(piece), self.input(piece).stamp());
        self.out.replace(piece.input);
        if let Some(part) = &piece.part {
            self.out.cover_part(piece.input, part);
        }
        if let Some(files) = self.job.files {
            let member = piece.part.as_ref().and_then(|part| part.entry());
            let entry = member.unwrap_or_else(|| self.input(piece).entry());
            let is_member = piece.part.as_ref().is_some_and(|part| part.member.is_some());
            let class = self.input(piece).entry().access;
            let of_member = class.filter(|_| is_member).map(|class| self.members.class(class));
            let access = of_member.or(class);
            let entry = Entry { mtime: entry.mtime.or(self.formed.modified()), access, ..entry };
            files.fields.push(&entry, &mut self.columns, &mut self.missing_dates);
            for (name, value) in self.formed.fields() {
                files.fields.found.push(name, value, &mut self.columns);
            }
            if let Some(sample) = &self.language
                && self.formed.fields().all(|(name, _)| name != LANGUAGE)
                && let Some(language) = sample.language()
            {
                files.fields.found.push(LANGUAGE, language.as_bytes(), &mut self.columns);
            }
            if let Some(from) = files.from.iter().find(|from| from.covers(entry.path)) {
                files.fields.push_extra(&entry, from, &mut self.columns);
            }
        }
        if let Some((field, sketch)) = self.sketch.as_ref().and_then(NearSketch::finish) {
            self.columns.push(field, sketch);
        }
        self.columns.end_document()
    }

    fn is_full(&mut self) -> bool {
        // Stored documents do not count towards the size of a segment, since they slow nothing down. The cap
        // on memory includes them.
        let keys = self.out.keys.bytes() + self.columns.bytes();
        let limit = self.out.segments.limit;
        self.inverter.is_full_beside(limit - keys.min(limit), self.stored.bytes() + keys)
    }

    fn flush(&mut self) -> Result<()> {
        let fields = vec![(self.job.field, &mut self.inverter)];
        self.out.write(fields, &mut self.stored, &mut self.columns)
    }

    /// Flushes in the middle of a document, which continues in the next segment. A document that fills the
    /// memory by itself gets more memory, up to the share of the thread. If this is not enough, the document
    /// is given up.
    fn flush_inside(&mut self, piece: &Piece) -> Result<()> {
        if self.inverter.max_doc() > 0
            && let Some(open) = self.inverter.copy_open_document(FLUSH_BYTES / 2)
        {
            self.flush()?;
            self.inverter.resume_document(&open);
            if self.inverter.bytes() < self.out.segments.limit / 4 * 3 {
                return Ok(());
            }
        }
        self.stored.keep_within(0);
        if self.out.segments.limit < self.context.segments.budget.most {
            self.out.segments.limit =
                self.out.segments.limit.saturating_mul(2).min(self.context.segments.budget.most);
            return Ok(());
        }
        self.give_up_document(piece)
    }

    /// Drops the current document, which does not fit into memory, and skips the rest of it.
    fn give_up_document(&mut self, piece: &Piece) -> Result<()> {
        let reason = format!(
            "one document needs more than the {} MiB of memory of an index thread: allow more memory in all \
             or per segment, use fewer index threads, or index lines as documents",
            self.out.segments.limit >> 20
        );
        let path = OsStr::from_bytes(self.key(piece)).into();
        self.out.segments.report.failures.push(Failure { path, reason });
        self.stored.drop_open();
        // The documents before it are complete: a flush leaves out a document that has not ended.
        if self.inverter.max_doc() == 0 {
            self.inverter.clear();
        } else {
            self.flush()?;
        }
        self.skipping = true;
        if self.context.records == Records::Lines {
            // The line keeps its number, so that the lines after it keep theirs.
            self.void_document()?;
        }
        Ok(())
    }
}

impl TextIndexer<'_> {
    /// Indexes a piece of text.
    fn text(&mut self, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        let start = if piece.mid_token { self.rest_of_token(piece, bytes)? } else { piece.start };
        let text = DocumentRange { range: start..piece.end, is_open: !piece.opens, closes: piece.closes };
        if piece.decoded {
            self.out.decoded(piece.input);
        }
        let mut parts = DocumentParts::new(self.context.records, self.job.analyzer, text, PART_BYTES);
        while let Some(part) = parts.step(bytes) {
            self.part(part, piece, bytes)?;
        }
        Ok(())
    }

    /// Notes the language of source code by the name of a file of text, and by its start.
    fn note_code(&mut self, piece: &Piece, bytes: &[u8]) {
        let path = self.key(piece);
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        if let Some(language) = source_language(name, &bytes[piece.start..piece.end]) {
            self.formed.note("code", language.as_bytes());
        }
    }

    /// Takes a piece of a page or document, and indexes its text after the last one.
    fn formed(&mut self, piece: &Piece, bytes: &[u8]) -> Result<()> {
        let path = Path::new(OsStr::from_bytes(self.key(piece)));
        let Some(FormedText { mut text, problem, is_document }) = self.formed.take(piece, bytes, path) else {
            return Ok(());
        };
        if let Some(reason) = problem {
            self.out.segments.report.failures.push(Failure { path: path.to_path_buf(), reason });
        }
        if !is_document {
            self.formed.give_back(text);
            return self.leave_out(piece);
        }
        let end = text.len();
        text.resize(end + BLOCK_PADDING, 0);
        let (opens, form) = (true, TextForm::Text);
        let whole =
            Piece { start: 0, end, offset: 0, opens, mid_token: false, decoded: true, form, ..piece.clone() };
        self.text(&whole, &mut text)?;
        self.formed.give_back(text);
        Ok(())
    }
}

impl PieceIndexer for TextIndexer<'_> {
    fn piece(&mut self, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        if piece.opens {
            self.open(piece)?;
        }
        if piece.failed && self.context.records != Records::Lines {
            return self.fail(piece);
        }
        if piece.form != TextForm::Text && self.context.records == Records::File {
            return self.formed(piece, &bytes[piece.start..piece.end]);
        }
        if piece.opens && self.job.files.is_some() {
            self.formed.forget();
            self.note_code(piece, bytes);
        }
        self.text(piece, bytes)?;
        if piece.last && self.context.records == Records::Lines {
            self.out.cover_rest(piece.input, piece.offset + (piece.end - piece.start) as u64);
        }
        Ok(())
    }

    fn documents(&self) -> u64 {
        self.out.written_documents() + u64::from(self.inverter.max_doc())
    }

    fn finish(mut self) -> Result<LaneReport> {
        if self.inverter.max_doc() > 0 {
            self.flush()?;
        }
        self.out.segments.report.cut_terms = self.tokenizer.cut_tokens();
        self.out.segments.report.missing_dates = self.missing_dates.conflicts();
        self.out.segments.report.file_dates = self.missing_dates.files();
        self.formed.report(&mut self.out.segments.report);
        self.out.finish()
    }
}
