//! Opens a segment and answers: which terms, which postings, which norms, which keys.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::deletes::Deletes;
use super::keys::KeyReader;
use super::stats::{FieldStats, SegmentStats};
use super::terms::{TermInfo, TermPositions, Terms, TermsIter, TermsWalk};
use super::updates::{self, Changes, Updates};
use super::{NORMS, SEGMENT, SPARSE, STATS, TERMS, columns, file_name, of_field, stored};
use crate::column::{Column, ColumnKind};
use crate::error::{Error, Result};
use crate::schema::{Field, Postings};
use crate::store::{Directory, Envelope};

/// An open segment, as seen through one of its fields; a copy shares everything, until one of them deletes.
#[derive(Clone, Debug)]
pub struct Segment {
    written: Arc<Written>,
    deletes: Arc<Deletes>,
    /// Values that were changed since it was written.
    updates: Option<Arc<Updates>>,
    /// Columns by field, ascending, with those.
    columns: Arc<Vec<(Field, Column)>>,
    field: Field,
}

/// What never changes.
#[derive(Debug)]
struct Written {
    file: Envelope,
    stats: SegmentStats,
    /// The terms of each field of the figures.
    terms: Vec<Terms>,
    /// Columns by field, ascending.
    columns: Arc<Vec<(Field, Column)>>,
    /// Those of a field that no document of the segment has.
    no_terms: Terms,
    /// Norms of a field that no document of the segment has.
    no_norms: OnceLock<Vec<u8>>,
}

impl Segment {
    /// Opens the segment `id`, with the deletes of a commit or zero for none, and verifies what every query needs. It is
    /// seen through its first field.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a damaged file or one of another segment.
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
            let [of_terms, sparse] = [TERMS, SPARSE].map(|kind| of_field(kind, field));
            terms.push(Terms::open(&file, of_terms, sparse, kept)?);
        }
        KeyReader::open(&file, stats.max_doc)?;
        stored::verify(&file, stats.max_doc)?;
        let deletes = match deletes {
            0 => Deletes::default(),
            generation => Deletes::read(directory, id, generation, &stats)?,
        };
        let field = stats.fields.first().map_or(Field::default(), |first| first.field);
        let columns = Arc::new(columns::open(&file, stats.max_doc)?);
        let (no_terms, no_norms) = (Terms::none(), OnceLock::new());
        let written = Written { file, stats, terms, columns: columns.clone(), no_terms, no_norms };
        Ok(Segment { written: Arc::new(written), deletes: Arc::new(deletes), updates: None, columns, field })
    }

    /// The segment with the values that were changed up to a commit; 0 for none.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a damaged file or one of another segment.
    pub fn with_updates(mut self, directory: &dyn Directory, generation: u64) -> Result<Self> {
        if generation > 0 {
            self.take_updates(Updates::open(directory, self.id(), generation)?)?;
        }
        Ok(self)
    }

    fn take_updates(&mut self, updates: Updates) -> Result<()> {
        self.columns = Arc::new(updates.apply(self.written_columns())?);
        self.updates = Some(Arc::new(updates));
        Ok(())
    }

    fn written_columns(&self) -> updates::Written<'_> {
        let Written { stats, columns, .. } = &*self.written;
        updates::Written { id: self.id(), documents: stats.max_doc, columns }
    }

    /// The values that were changed, if some were.
    pub fn updates(&self) -> Option<&Updates> {
        self.updates.as_deref()
    }

    /// Changes values in this copy; they are in memory until [`Segment::write_updates`].
    ///
    /// # Errors
    /// [`Error::Corrupt`] if blocks in which values are to be changed cannot be read.
    pub fn set(&mut self, changes: &Changes) -> Result<()> {
        let (written, before) = (self.written_columns(), self.updates.as_deref());
        let updates = Updates::made_of(written, &self.columns, before, changes)?;
        self.take_updates(updates)
    }

    /// Takes the changed values of another copy in the place of its own.
    pub fn take_updates_of(&mut self, other: &Segment) {
        (self.updates, self.columns) = (other.updates.clone(), other.columns.clone());
    }

    /// Writes the changed values as those of a commit, durably; returns the bytes written.
    pub fn write_updates(&self, directory: &dyn Directory, generation: u64) -> Result<u64> {
        let columns = (self.written_columns(), self.columns.as_slice());
        self.updates.as_ref().map_or(Ok(0), |updates| updates.write(directory, generation, columns))
    }

    /// True if both copies have the same changed values.
    pub fn has_updates_of(&self, other: &Segment) -> bool {
        match (&self.updates, &other.updates) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }

    /// Calls `visit` with each value that this copy has and `then`, an earlier one, had not.
    pub fn each_value_since(
        &self,
        then: &Segment,
        visit: &mut dyn FnMut(Field, ColumnKind, u32, Vec<u64>),
    ) -> Result<()> {
        let Some(updates) = self.updates.as_ref().filter(|_| !self.has_updates_of(then)) else {
            return Ok(());
        };
        for field in updates.fields() {
            let Some(now) = self.column(field) else { continue };
            let of_field = |doc, values| visit(field, now.kind(), doc, values);
            updates::each_difference((then.column(field), now), of_field)?;
        }
        Ok(())
    }

    /// The same segment, seen through another field.
    #[must_use]
    pub fn in_field(&self, field: Field) -> Self {
        Segment { field, ..self.clone() }
    }

    /// True if the segment has the field.
    pub(super) fn has_field(&self) -> bool {
        self.place().is_some()
    }

    /// Where the field is among those of the segment.
    fn place(&self) -> Option<usize> {
        self.written.stats.fields.iter().position(|stats| stats.field == self.field)
    }

    /// Its identity.
    pub fn id(&self) -> u128 {
        self.written.file.id()
    }

    /// Its figures.
    pub fn stats(&self) -> &SegmentStats {
        &self.written.stats
    }

    /// Length of its file in bytes.
    pub fn bytes(&self) -> u64 {
        self.written.file.file_len()
    }

    /// Figures of the field; those of a field that no document has are zero.
    pub fn field_stats(&self) -> FieldStats {
        let found = self.place().and_then(|place| self.written.stats.fields.get(place));
        found.copied().unwrap_or(FieldStats { field: self.field, ..FieldStats::default() })
    }

    /// What is kept of a term in a document.
    pub fn kept(&self) -> Postings {
        self.field_stats().kept
    }

    /// One norm byte per document.
    pub fn norms(&self) -> Result<&[u8]> {
        if self.place().is_none() {
            let none = || vec![0; self.written.stats.max_doc as usize];
            return Ok(self.written.no_norms.get_or_init(none));
        }
        self.written.file.section(of_field(NORMS, self.field))?.all()
    }

    /// False for documents that are void or deleted.
    pub fn is_live(&self, doc: u32) -> bool {
        doc < self.written.stats.max_doc
            && self.written.stats.void.binary_search(&doc).is_err()
            && !self.deletes.contains(doc)
    }

    /// The documents that were deleted.
    pub fn deletes(&self) -> &Deletes {
        &self.deletes
    }

    /// Deletes a document in this copy; false if it was void or deleted before.
    pub fn delete(&mut self, doc: u32) -> bool {
        self.is_live(doc) && Arc::make_mut(&mut self.deletes).insert(doc)
    }

    /// Documents that are neither void nor deleted.
    pub fn live_documents(&self) -> u64 {
        self.written.stats.documents - self.deletes.count()
    }

    /// Looks a term up: its postings, and where its positions are.
    pub fn find_all(&self, term: &[u8]) -> Result<Option<(TermInfo, TermPositions)>> {
        let (terms, documents) = (self.dictionary(), self.written.stats.max_doc);
        match terms.find(term)? {
            Some((TermInfo::Single { doc, .. }, _)) if doc >= documents => {
                Err(terms.section().corrupt(format!("a posting names document {doc} of {documents}")))
            }
            info => Ok(info),
        }
    }

    /// The bytes of a list that [`Segment::find`] gave.
    pub fn list(&self, offset: u64, len: u64) -> Result<&[u8]> {
        let section = self.dictionary().section();
        let range = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
        let range = range.and_then(|(start, len)| Some(start..start.checked_add(len)?));
        section.get(range.ok_or_else(|| section.corrupt("a list lies beyond the address space"))?)
    }

    /// All terms from `start` on, in order.
    pub fn terms_from(&self, start: &[u8]) -> Result<TermsIter<'_>> {
        self.dictionary().iter_from(start)
    }

    /// All terms, in order, for a reader that passes most of them.
    pub fn walk_terms(&self) -> TermsWalk<'_> {
        TermsWalk::new(self.dictionary())
    }

    /// Some terms, in order, at least `step` bytes of their section apart, with the bytes between each and the one before.
    pub fn term_samples(&self, step: u64) -> Result<Vec<(Vec<u8>, u64)>> {
        self.dictionary().samples(step)
    }

    /// The terms of the field.
    pub fn dictionary(&self) -> &Terms {
        self.place().and_then(|place| self.written.terms.get(place)).unwrap_or(&self.written.no_terms)
    }

    /// What document `doc` is called.
    pub fn key(&self, doc: u32) -> Result<Vec<u8>> {
        self.keys()?.key(doc)
    }

    /// The column of a field; `None` where no document was given a value.
    pub fn column(&self, field: Field) -> Option<&Column> {
        updates::find(&self.columns, field)
    }

    /// All columns by field, ascending.
    pub fn columns(&self) -> &[(Field, Column)] {
        &self.columns
    }

    pub(super) fn envelope(&self) -> &Envelope {
        &self.written.file
    }

    pub(super) fn keys(&self) -> Result<KeyReader<'_>> {
        KeyReader::open(&self.written.file, self.written.stats.max_doc)
    }

    /// The documents of the files with these paths, deleted ones included: ranges in order.
    pub fn documents_of<'p>(&self, paths: impl IntoIterator<Item = &'p [u8]>) -> Result<Vec<Range<u32>>> {
        let keys = self.keys()?;
        let mut numbers = Vec::new();
        for path in paths {
            numbers.extend(keys.find_path(path)?);
        }
        numbers.sort_unstable();
        keys.documents_of(&numbers)
    }

    /// The documents with these keys: the path of a file, for all that is of it, or a path, a colon and a line. Deleted
    /// ones are among them.
    pub fn documents_named<'k>(&self, keys: impl IntoIterator<Item = &'k [u8]>) -> Result<Vec<Range<u32>>> {
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

    /// Calls `visit` with every key and its document, where documents are no lines.
    pub fn each_document_named(&self, visit: &mut dyn FnMut(&[u8], u32)) -> Result<()> {
        self.keys()?.each_path(|number, path| {
            visit(path, number);
            Ok(())
        })
    }

    /// The error for a list of this segment that does not decode.
    pub(super) fn damaged_list(&self, term: &[u8]) -> Error {
        let what = format!("the postings of term \"{}\" cannot be read", term.escape_ascii());
        Error::corrupt(file_name(self.written.file.id()), what)
    }
}

/// The path and the line that a key of a line names.
fn split_line(key: &[u8]) -> Option<(&[u8], u64)> {
    let colon = memchr::memrchr(b':', key)?;
    let (path, line) = key.split_at_checked(colon)?;
    let digits = line.get(1..).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let line = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((path, line))
}
