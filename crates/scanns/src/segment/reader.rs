//! An open segment: its terms, postings, norms, keys and columns. `live.rs` says which of its documents are
//! live.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use super::columns::{self, find};
use super::deletes::Deletes;
use super::doc_bits::DocBits;
use super::keys::KeyReader;
use super::layout::{NORMS, SEGMENT, SPARSE, STATS, TERMS, file_name, of_field};
use super::stats::{FieldStats, SegmentStats};
use super::stored;
use super::terms::{TermBlocks, TermDictionary, TermInfo, TermPositions, TermsIter, TermsWalk};
use super::updates::{Changes, SegmentColumns, Updates, differences};
use super::visible::SegmentView;
use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::{Field, FieldNumbers, Postings};
use crate::store::{Directory, Envelope};
use crate::sys::lock;

/// An open segment, seen through one of its fields. Clones share all data until documents are deleted or
/// values changed in one of them.
#[derive(Clone, Debug)]
pub struct Segment {
    written: Arc<WrittenSegment>,
    pub(super) deletes: Arc<Deletes>,
    /// A bit for each live document, once a query has asked for it. Only with the same deletes.
    pub(super) live: Arc<OnceLock<DocBits>>,
    /// Values that were changed since the segment was written.
    updates: Option<Arc<Updates>>,
    /// Columns with these changes, in ascending order of their fields.
    pub(super) columns: Arc<Vec<(Field, Column)>>,
    /// The field, with its number in the segment.
    field: Field,
    /// The field whose values are the keys of documents.
    key_field: Option<Field>,
    /// How a schema that several indexes share numbers the fields of the segment, if it is another number.
    numbers: Option<Arc<FieldNumbers>>,
    /// The documents that are shown, if they are not all live documents.
    pub(super) view: Option<Arc<SegmentView>>,
}

/// The immutable data of a segment.
#[derive(Debug)]
struct WrittenSegment {
    file: Envelope,
    stats: SegmentStats,
    /// The terms of each field in `stats`.
    terms: Vec<TermDictionary>,
    /// Columns in ascending order of their fields.
    columns: Arc<Vec<(Field, Column)>>,
    /// The empty dictionary of a field that no document of the segment has.
    no_terms: TermDictionary,
    /// The norms of a field that no document of the segment has.
    no_norms: OnceLock<Vec<u8>>,
    /// The lengths of documents, by field, where they were needed.
    lengths: Mutex<Vec<FieldLengths>>,
}

/// The tokens of each document in a field.
type FieldLengths = (Field, Arc<Vec<u32>>);

impl Segment {
    /// Opens segment `id` with the deletes of commit `deletes`, or without deletes for 0, and verifies the
    /// sections that every query needs. The segment is seen through its first field.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is damaged or holds another segment.
    pub fn open(directory: &dyn Directory, id: u128, deletes: u64) -> Result<Self> {
        let file = Envelope::open(directory, &file_name(id), SEGMENT)?;
        if file.id() != id {
            return Err(Error::corrupt(file_name(id), format!("it holds segment {:032x}", file.id())));
        }
        let section = file.section(STATS)?;
        let stats = SegmentStats::decode(section.all()?);
        let stats = stats.ok_or_else(|| section.corrupt("its figures contradict each other"))?;
        let mut terms = Vec::with_capacity(stats.fields.len());
        for &FieldStats { field, kept, .. } in &stats.fields {
            let norms = file.section(of_field(NORMS, field))?;
            if norms.len() != stats.max_doc as usize {
                return Err(norms.corrupt(format!("{} norms for {} documents", norms.len(), stats.max_doc)));
            }
            terms.push(TermDictionary::open(&file, of_field(TERMS, field), of_field(SPARSE, field), kept)?);
        }
        stored::verify(&file, stats.max_doc)?;
        let deletes = match deletes {
            0 => Deletes::default(),
            generation => Deletes::read(directory, id, generation, &stats)?,
        };
        let field = stats.fields.first().map_or(Field::default(), |first| first.field);
        let columns = Arc::new(columns::open(&file, stats.max_doc)?);
        KeyReader::open(&file, &columns, stats.max_doc)?;
        let (no_terms, no_norms, lengths) = (TermDictionary::empty(), OnceLock::new(), Mutex::default());
        let written =
            WrittenSegment { file, stats, terms, columns: columns.clone(), no_terms, no_norms, lengths };
        let (written, deletes) = (Arc::new(written), Arc::new(deletes));
        Ok(Segment {
            written,
            deletes,
            live: Arc::default(),
            updates: None,
            columns,
            field,
            key_field: None,
            numbers: None,
            view: None,
        })
    }

    /// Returns the segment with the updates that commit `generation` published, or without updates for 0.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is damaged or belongs to another segment.
    pub fn with_updates(mut self, directory: &dyn Directory, generation: u64) -> Result<Self> {
        if generation > 0 {
            self.take_updates(Updates::open(directory, self.id(), generation)?)?;
        }
        Ok(self)
    }

    /// Returns the segment with the deletes and updates of other commits, or without any for 0. Its own file
    /// is not opened again.
    ///
    /// # Errors
    /// The errors of [`Segment::open`] and [`Segment::with_updates`].
    pub fn at_commit(&self, directory: &dyn Directory, deletes: u64, updates: u64) -> Result<Self> {
        let deletes = match deletes {
            0 => Deletes::default(),
            generation => Deletes::read(directory, self.id(), generation, self.stats())?,
        };
        let columns = self.written.columns.clone();
        let (deletes, live) = (Arc::new(deletes), Arc::default());
        let before = Segment { deletes, live, updates: None, columns, ..self.clone() };
        before.with_updates(directory, updates)
    }

    fn take_updates(&mut self, updates: Updates) -> Result<()> {
        self.columns = Arc::new(updates.apply(&self.written.columns, self.written.stats.max_doc)?);
        self.updates = Some(Arc::new(updates));
        Ok(())
    }

    fn column_states(&self) -> SegmentColumns<'_> {
        let WrittenSegment { stats, columns, .. } = &*self.written;
        SegmentColumns { id: self.id(), documents: stats.max_doc, written: columns, now: &self.columns }
    }

    /// Returns the updates, if there are any.
    pub fn updates(&self) -> Option<&Updates> {
        self.updates.as_deref()
    }

    /// Changes values in this copy. The changes are in memory until [`Segment::write_updates`].
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a block with values that change cannot be read.
    pub fn set(&mut self, changes: &Changes) -> Result<()> {
        let updates = Updates::with_changes(self.column_states(), self.updates.as_deref(), changes)?;
        self.take_updates(updates)
    }

    /// Replaces the updates of this copy by the updates of `other`.
    pub fn take_updates_of(&mut self, other: &Segment) {
        (self.updates, self.columns) = (other.updates.clone(), other.columns.clone());
    }

    /// Writes the updates durably, as the file that commit `generation` publishes. Returns the bytes written.
    pub fn write_updates(&self, directory: &dyn Directory, generation: u64) -> Result<u64> {
        let columns = self.column_states();
        self.updates.as_ref().map_or(Ok(0), |updates| updates.write(directory, generation, columns))
    }

    /// Returns true if both copies have the same updates.
    pub fn has_updates_of(&self, other: &Segment) -> bool {
        match (&self.updates, &other.updates) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }

    /// Returns true if both are copies of one open segment with the same deletes and values. `earlier` must
    /// be the older copy, since documents are only ever deleted.
    pub fn is_unchanged_since(&self, earlier: &Segment) -> bool {
        Arc::ptr_eq(&self.written, &earlier.written)
            && self.deletes.count() == earlier.deletes.count()
            && self.has_updates_of(earlier)
    }

    /// Returns the values of this copy that differ from the earlier copy `then`.
    pub fn changes_since(&self, then: &Segment) -> Result<Changes> {
        let mut changes = Changes::new();
        let Some(updates) = self.updates.as_ref().filter(|_| !self.has_updates_of(then)) else {
            return Ok(changes);
        };
        for field in updates.fields() {
            let Some(now) = self.column(field) else { continue };
            let changed = differences(then.column(field), now)?;
            if !changed.is_empty() {
                changes.insert(field, (now.kind(), changed));
            }
        }
        Ok(changes)
    }

    /// Returns the segment with the keys that documents have if the values of `field` are their keys.
    #[must_use]
    pub fn with_key_field(self, field: Option<Field>) -> Self {
        Segment { key_field: field, ..self }
    }

    pub(super) fn key_field(&self) -> Option<Field> {
        self.key_field
    }

    /// Returns the same segment, seen through another field.
    #[must_use]
    pub fn in_field(&self, field: Field) -> Self {
        let own = match &self.numbers {
            None => field,
            Some(numbers) => numbers.own(field).unwrap_or(Field::NONE),
        };
        Segment { field: own, ..self.clone() }
    }

    /// Returns the segment for reading with the fields of a schema that several indexes share: all methods
    /// take and return the numbers of fields in that schema, except the figures of fields.
    #[must_use]
    pub fn with_numbers(mut self, numbers: &Arc<FieldNumbers>) -> Self {
        let joined = |field: Field| numbers.joined(field);
        let mut columns: Vec<(Field, Column)> = self
            .columns
            .iter()
            .filter_map(|(field, column)| Some((joined(*field)?, column.clone())))
            .collect();
        columns.sort_by_key(|(field, _)| *field);
        self.columns = Arc::new(columns);
        self.key_field = self.key_field.and_then(joined);
        self.numbers = Some(Arc::clone(numbers));
        self
    }

    /// The field that it is seen through, with its number in the segment.
    pub(super) fn field(&self) -> Field {
        self.field
    }

    /// The tokens of each document in the field, added up on first use.
    pub(super) fn lengths(&self) -> Result<Arc<Vec<u32>>> {
        // Threads that need the same lengths wait, since finding them reads all postings.
        let mut known = lock(&self.written.lengths);
        if let Some((_, lengths)) = known.iter().find(|(field, _)| *field == self.field) {
            return Ok(Arc::clone(lengths));
        }
        let lengths = Arc::new(self.summed_lengths()?);
        known.push((self.field, Arc::clone(&lengths)));
        Ok(lengths)
    }

    /// Returns true if some document of the segment has the field.
    pub(super) fn has_field(&self) -> bool {
        self.place().is_some()
    }

    /// The index of the field among the fields of the segment.
    fn place(&self) -> Option<usize> {
        self.written.stats.fields.iter().position(|stats| stats.field == self.field)
    }

    /// Returns the identity of the segment.
    pub fn id(&self) -> u128 {
        self.written.file.id()
    }

    /// Returns the figures of the segment.
    pub fn stats(&self) -> &SegmentStats {
        &self.written.stats
    }

    /// Returns the length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.written.file.file_len()
    }

    /// Returns the figures of the field; all are zero if no document has the field.
    pub fn field_stats(&self) -> FieldStats {
        let found = self.place().and_then(|place| self.written.stats.fields.get(place));
        found.copied().unwrap_or(FieldStats { field: self.field, ..FieldStats::default() })
    }

    /// Returns what is stored about a term in a document.
    pub fn kept(&self) -> Postings {
        self.field_stats().kept
    }

    /// Returns the norms, one byte per document.
    pub fn norms(&self) -> Result<&[u8]> {
        if self.place().is_none() {
            let none = || vec![0; self.written.stats.max_doc as usize];
            return Ok(self.written.no_norms.get_or_init(none));
        }
        self.written.file.section(of_field(NORMS, self.field))?.all()
    }

    /// Looks up a term. Returns its postings, and the place of its positions.
    pub fn find_all(&self, term: &[u8]) -> Result<Option<(TermInfo, TermPositions)>> {
        self.checked(self.dictionary().find(term)?)
    }

    /// Does the same for a term of a query, which may be looked up again soon.
    pub fn find_recent(&self, term: &[u8]) -> Result<Option<(TermInfo, TermPositions)>> {
        self.checked(self.dictionary().find_recent(term)?)
    }

    /// Verifies a document that is named in the dictionary.
    fn checked(&self, found: Option<(TermInfo, TermPositions)>) -> Result<Option<(TermInfo, TermPositions)>> {
        let (terms, documents) = (self.dictionary(), self.written.stats.max_doc);
        match found {
            Some((TermInfo::Single { doc, .. }, _)) if doc >= documents => {
                Err(terms.section().corrupt(format!("a posting refers to document {doc} of {documents}")))
            }
            info => Ok(info),
        }
    }

    /// Returns the bytes of a list of postings or of a run of positions. The place comes from a [`TermInfo`]
    /// or [`TermPositions`].
    pub fn list(&self, offset: u64, len: u64) -> Result<&[u8]> {
        let section = self.dictionary().section();
        let range = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
        let range = range.and_then(|(start, len)| Some(start..start.checked_add(len)?));
        section.get(range.ok_or_else(|| section.corrupt("a list lies beyond the address space"))?)
    }

    /// Returns all terms from `start` on, in order, with their postings; for readers that need most of them.
    pub fn terms_from(&self, start: &[u8]) -> Result<TermsIter<'_>> {
        self.dictionary().iter_from(start)
    }

    /// Returns all terms in order, for readers that skip most of them.
    pub fn walk_terms(&self) -> TermsWalk<'_> {
        TermsWalk::new(self.dictionary())
    }

    /// Returns a reader of whole blocks of terms.
    pub fn term_blocks(&self) -> TermBlocks<'_> {
        TermBlocks::new(self.dictionary())
    }

    /// Returns terms in order that are at least `step` bytes of their section apart, each with the number of
    /// bytes since the previous one.
    pub fn term_samples(&self, step: u64) -> Result<Vec<(Vec<u8>, u64)>> {
        self.dictionary().samples(step)
    }

    /// Returns the terms of the field.
    pub fn dictionary(&self) -> &TermDictionary {
        self.place().and_then(|place| self.written.terms.get(place)).unwrap_or(&self.written.no_terms)
    }

    /// Returns the column of a field; `None` if no document has a value in it.
    pub fn column(&self, field: Field) -> Option<&Column> {
        find(&self.columns, field)
    }

    /// Returns all columns, in ascending order of their fields.
    pub fn columns(&self) -> &[(Field, Column)] {
        &self.columns
    }

    pub(super) fn envelope(&self) -> &Envelope {
        &self.written.file
    }

    pub(super) fn keys(&self) -> Result<KeyReader<'_>> {
        let WrittenSegment { file, columns, stats, .. } = &*self.written;
        KeyReader::open(file, columns, stats.max_doc)
    }

    /// Returns the documents of the files with these paths, including deleted ones, as ranges in order.
    pub fn documents_of<'p>(&self, paths: impl IntoIterator<Item = &'p [u8]>) -> Result<Vec<Range<u32>>> {
        let keys = self.keys()?;
        let mut numbers = Vec::new();
        for path in paths {
            numbers.extend(keys.find_path(path)?);
        }
        numbers.sort_unstable();
        keys.documents_of(&numbers)
    }

    /// Returns the documents at these places, including deleted ones. A place is the path of a file, which
    /// selects all documents of the file, or a path, a colon and a line number.
    pub fn documents_at<'k>(&self, keys: impl IntoIterator<Item = &'k [u8]>) -> Result<Vec<Range<u32>>> {
        let reader = self.keys()?;
        let (mut whole, mut lines) = (Vec::new(), Vec::new());
        for key in keys {
            whole.extend(reader.find_path(key)?);
            if let Some((path, line)) = split_line(key) {
                lines.extend(reader.find_path(path)?.into_iter().map(|path| (path, line)));
            }
        }
        whole.sort_unstable();
        lines.sort_unstable();
        let mut found = reader.documents_of(&whole)?;
        found.extend(reader.lines(&lines)?);
        Ok(found)
    }

    /// Returns true if documents come from files, and not only from programs.
    pub fn has_files(&self) -> Result<bool> {
        let keys = self.keys()?;
        Ok(keys.path_field().is_some() || keys.has_stamps()?)
    }

    /// Returns the documents of all files below these directories, including deleted ones. Compares the path
    /// of every file.
    pub fn documents_below(&self, directories: &[&[u8]]) -> Result<Vec<Range<u32>>> {
        let reader = self.keys()?;
        let mut below = Vec::new();
        reader.each_path(|number, path| {
            let is_below = |directory: &&[u8]| {
                path.strip_prefix(*directory)
                    .is_some_and(|rest| directory.ends_with(b"/") || rest.starts_with(b"/"))
            };
            if directories.iter().any(is_below) {
                below.push(number);
            }
            Ok(())
        })?;
        reader.documents_of(&below)
    }

    /// Calls `visit` with the key and the number of every document. The documents of the segment must not be
    /// lines.
    pub fn each_document_named(&self, visit: &mut dyn FnMut(&[u8], u32)) -> Result<()> {
        self.keys()?.each_path(|number, path| {
            visit(path, number);
            Ok(())
        })
    }

    /// Returns the error for a list of this segment that cannot be decoded.
    pub(super) fn damaged_list(&self, term: &[u8]) -> Error {
        let what = format!("the postings of term \"{}\" cannot be read", term.escape_ascii());
        Error::corrupt(file_name(self.written.file.id()), what)
    }
}

/// Splits the key of a line into the path and the line number.
fn split_line(key: &[u8]) -> Option<(&[u8], u64)> {
    let colon = memchr::memrchr(b':', key)?;
    let (path, line) = key.split_at_checked(colon)?;
    let digits = line.get(1..).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let line = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((path, line))
}
