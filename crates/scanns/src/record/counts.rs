//! Counts of records and of their errors, in bounded memory.

use hashbrown::HashMap;

use super::collection::{RecordNote, RecordNotes};
use super::csv::RenamedColumn;
use super::error::RecordError;
use super::format::Oddity;
use crate::schema::Field;

/// The maximum length of the text in an example, in bytes.
const EXAMPLE: usize = 80;

/// The maximum number of unknown names that are counted individually.
const NAMES: usize = 1000;

/// The maximum number of malformed records that are reported with their place.
pub(crate) const MALFORMED: usize = 10;

/// Values of a field that were left out because they do not have the field's type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// Number of values that were left out.
    pub count: u64,
    /// The first of them, cut to 80 bytes.
    pub example: String,
    /// Number of all values of the field.
    pub values: u64,
}

/// The maximum number of renamed columns that are listed.
const RENAMED: usize = 100;

/// A malformed or unusual record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The number of the record, as the caller counts lines or records.
    pub line: u64,
    /// The problem.
    pub error: RecordError,
    /// At most 80 bytes of the record around the error.
    pub text: String,
}

/// Records with the same flaw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlawedRecords {
    /// Number of records.
    pub count: u64,
    /// Number of their lines.
    pub lines: u64,
    /// Their bytes, with line ends.
    pub bytes: u64,
    /// The first of them, at most ten.
    pub examples: Vec<Malformed>,
}

impl FlawedRecords {
    /// Counts a record of `len` bytes that begins with `text`. Returns true if it became an example.
    #[cold]
    fn add(&mut self, line: u64, error: RecordError, text: &[u8], len: usize) -> bool {
        self.count += 1;
        let inside = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
        self.lines += memchr::memchr_iter(b'\n', inside).count() as u64 + 1;
        self.bytes += len as u64;
        let is_example = self.examples.len() < MALFORMED;
        if is_example {
            let at = if matches!(error, RecordError::NoRoom { .. }) { 0 } else { error.at() };
            let text = excerpt(text, at.saturating_sub(EXAMPLE / 2));
            self.examples.push(Malformed { line, error, text });
        }
        is_example
    }

    fn merge(&mut self, other: FlawedRecords) {
        self.count += other.count;
        self.lines += other.lines;
        self.bytes += other.bytes;
        let room = MALFORMED - self.examples.len().min(MALFORMED);
        self.examples.extend(other.examples.into_iter().take(room));
    }
}

/// Counts of records and of their errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    documents: u64,
    blank: u64,
    without_key: u64,
    conflicts: Vec<Conflict>,
    /// Fields with a first conflict that was not asked for yet.
    first_conflicts: Vec<Field>,
    unknown: HashMap<String, u64>,
    unknown_rest: u64,
    malformed: FlawedRecords,
    repaired: FlawedRecords,
    short: FlawedRecords,
    several: FlawedRecords,
    renamed: Vec<RenamedColumn>,
    notes: RecordNotes,
}

impl RecordCounts {
    /// Records that are documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Records that are blank, and therefore not documents.
    pub fn blank(&self) -> u64 {
        self.blank
    }

    /// Documents without a value in the field that is the key.
    pub fn without_key(&self) -> u64 {
        self.without_key
    }

    /// The fields with values that were left out.
    pub fn conflicts(&self) -> impl Iterator<Item = (Field, &Conflict)> {
        let fields = (0..).map_while(Field::new);
        fields.zip(&self.conflicts).filter(|(_, conflict)| conflict.count > 0)
    }

    /// Names that are not in the schema, at most 1,000, with their numbers of values; frequent names first.
    pub fn unknown(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<_> = self.unknown.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        all.sort_by(|(name, count), (other, others)| others.cmp(count).then(name.cmp(other)));
        all
    }

    /// Number of values of all other names that are not in the schema.
    pub fn unknown_rest(&self) -> u64 {
        self.unknown_rest
    }

    /// Number of records that were malformed.
    pub fn malformed(&self) -> u64 {
        self.malformed.count
    }

    /// The first ten malformed records.
    pub fn malformed_examples(&self) -> &[Malformed] {
        &self.malformed.examples
    }

    /// The malformed records. They are not documents.
    pub fn lost(&self) -> &FlawedRecords {
        &self.malformed
    }

    /// Documents from rows of CSV with a stray quote, in which quotes were read as ordinary characters.
    pub fn repaired(&self) -> &FlawedRecords {
        &self.repaired
    }

    /// Documents from rows of CSV with fewer values than the header has names.
    pub fn short(&self) -> &FlawedRecords {
        &self.short
    }

    /// Documents from rows of CSV with line feeds in quoted values.
    pub fn several(&self) -> &FlawedRecords {
        &self.several
    }

    /// Columns of CSV that could not keep their names, at most 100.
    pub fn renamed(&self) -> &[RenamedColumn] {
        &self.renamed
    }

    /// What was left out of the records of a collection, or is unusual about them.
    pub fn notes(&self) -> &RecordNotes {
        &self.notes
    }

    /// Adds the counts of another reader.
    pub fn merge(&mut self, other: RecordCounts) {
        self.documents += other.documents;
        self.blank += other.blank;
        self.without_key += other.without_key;
        self.malformed.merge(other.malformed);
        self.repaired.merge(other.repaired);
        self.short.merge(other.short);
        self.several.merge(other.several);
        self.add_renamed(&other.renamed);
        self.notes.merge(other.notes);
        self.unknown_rest += other.unknown_rest;
        for (at, conflict) in other.conflicts.into_iter().enumerate() {
            let Some(own) = self.conflict(at) else { continue };
            own.count += conflict.count;
            own.values += conflict.values;
            if own.example.is_empty() {
                own.example = conflict.example;
            }
        }
        for (name, count) in other.unknown {
            self.add_unknown(&name, count);
        }
    }

    pub(super) fn add_renamed(&mut self, columns: &[RenamedColumn]) {
        for column in columns {
            if self.renamed.len() < RENAMED && !self.renamed.contains(column) {
                self.renamed.push(column.clone());
            }
        }
    }

    pub(super) fn add_record(&mut self, is_document: bool) {
        if is_document { self.documents += 1 } else { self.blank += 1 }
    }

    pub(super) fn add_without_key(&mut self) {
        self.without_key += 1;
    }

    fn conflict(&mut self, at: usize) -> Option<&mut Conflict> {
        self.conflicts.resize_with(self.conflicts.len().max(at + 1), Conflict::default);
        self.conflicts.get_mut(at)
    }

    /// Counts a value of a field, whether or not it fits.
    #[inline]
    pub(super) fn add_value(&mut self, field: Field) {
        if let Some(conflict) = self.conflicts.get_mut(usize::from(field.number())) {
            conflict.values += 1;
        } else if let Some(conflict) = self.conflict(field.number().into()) {
            conflict.values += 1;
        }
    }

    #[cold]
    pub(super) fn add_conflict(&mut self, field: Field, value: &[u8]) {
        let Some(conflict) = self.conflict(field.number().into()) else { return };
        conflict.count += 1;
        if conflict.count == 1 {
            conflict.example = excerpt(value, 0);
            self.first_conflicts.push(field);
        }
    }

    /// The fields with a first conflict since the last call.
    pub(super) fn take_first_conflicts(&mut self) -> Vec<Field> {
        std::mem::take(&mut self.first_conflicts)
    }

    pub(super) fn add_unknown(&mut self, name: &str, count: u64) {
        if let Some(known) = self.unknown.get_mut(name) {
            *known += count;
        } else if self.unknown.len() < NAMES {
            self.unknown.insert(name.into(), count);
        } else {
            self.unknown_rest += count;
        }
    }

    /// Counts a malformed record of `len` bytes that begins with `text`. Returns true if it became an
    /// example.
    pub(crate) fn add_malformed(&mut self, line: u64, error: RecordError, text: &[u8], len: usize) -> bool {
        self.malformed.add(line, error, text, len)
    }

    /// Counts a record of a collection that is unusual. Returns true if it is the first of its kind.
    pub(super) fn add_note(&mut self, line: u64, note: RecordNote) -> bool {
        self.notes.add(note, line)
    }

    /// Counts a document that is unusual. Returns true if it became an example.
    pub(super) fn add_oddity(&mut self, line: u64, oddity: Oddity, record: &[u8]) -> bool {
        match oddity {
            Oddity::Repaired(error) => self.repaired.add(line, error, record, record.len()),
            Oddity::Short(error) => self.short.add(line, error, record, record.len()),
            Oddity::Several(error) => self.several.add(line, error, record, record.len()),
        }
    }
}

/// At most 80 bytes of a text from a position on; cut or invalid characters become replacement characters.
pub(super) fn excerpt(text: &[u8], from: usize) -> String {
    let rest = text.get(from..).unwrap_or_default();
    let lossy = String::from_utf8_lossy(rest.get(..EXAMPLE).unwrap_or(rest));
    super::names::cut(&lossy, EXAMPLE).into()
}
