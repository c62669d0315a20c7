//! From the bytes of records to values of fields: combines parsers, names and conversions.

#[cfg(test)]
mod tests;

use super::collection::RecordNote;
use super::counts::RecordCounts;
use super::error::RecordError;
use super::format::{CheckedParser, RecordFormat, RecordParser};
use super::names::{NameTarget, Sources, Targets};
use super::raw::{RawScalar, ScalarKind};
use super::typed::{WrittenKind, convert};
use crate::schema::{Field, Schema, ValueRef};

/// The content of a well-formed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// A document, even if it has no values.
    Document,
    /// White space only.
    Blank,
}

/// Reads records of one format, and passes the values of their fields to a sink.
///
/// ```
/// # use scanns::schema::{FieldEntry, FieldKind, Schema};
/// # use scanns::sources::{RecordFormat, RecordReader, Recorded, Sources};
/// let mut schema = Schema::new();
/// schema.add(FieldEntry::new("owner.name", FieldKind::Keyword))?;
/// schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
/// let mut reader = RecordReader::new(&schema, &Sources::of(&schema), RecordFormat::Json);
/// let mut values = Vec::new();
/// let line = br#"{"owner": {"name": "ada"}, "size": 1e3, "color": "red"}"#;
/// let recorded = reader.record(1, line, &mut |_, value| values.push(format!("{value:?}")))?;
/// assert_eq!((recorded, values.len()), (Recorded::Document, 2));
/// assert_eq!(values[1], "Unsigned(1000)");
/// assert_eq!(reader.counts().unknown(), [("color", 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordReader {
    records: CheckedParser,
    targets: Targets,
    kinds: Vec<WrittenKind>,
    /// The field whose values are the keys of documents.
    key: Option<Field>,
    /// By number of name: its target, and the number of its values if it is unknown.
    known: Vec<(NameTarget, u64)>,
    /// Buffer for the text of a string with escapes.
    text: Vec<u8>,
    counts: RecordCounts,
    /// True if the last record became an example.
    is_example: bool,
    /// True if the next record is the beginning of one.
    is_cut: bool,
}

impl RecordReader {
    /// Creates a reader for the fields of a schema.
    pub fn new(schema: &Schema, sources: &Sources, format: RecordFormat) -> Self {
        RecordReader {
            records: CheckedParser::new(format),
            targets: Targets::new(sources),
            kinds: schema
                .fields()
                .map(|(field, entry)| WrittenKind { kind: entry.kind.clone(), format: sources.format(field) })
                .collect(),
            key: sources.key(),
            known: Vec::new(),
            text: Vec::new(),
            counts: RecordCounts::default(),
            is_example: false,
            is_cut: false,
        }
    }

    /// Whether to find out in which language the pages of web archives are that do not say so.
    #[must_use]
    pub fn detect_languages(mut self, detect: bool) -> Self {
        self.records.parser.detect_languages(detect);
        self
    }

    /// Switches to another format, for example where a CSV file with another header starts.
    pub fn set_format(&mut self, format: RecordFormat) {
        self.forget();
        if let RecordFormat::Csv(header) = &format {
            self.counts.add_renamed(header.renamed());
        }
        self.records.parser = RecordParser::new(format);
    }

    /// Reads a record, with or without its line end, and calls `sink` with its values in order. `line` is the
    /// number under which a malformed or unusual record is reported.
    ///
    /// # Errors
    /// A malformed record: it is counted, and `sink` is not called.
    pub fn record(
        &mut self,
        line: u64,
        record: &[u8],
        sink: &mut impl FnMut(Field, ValueRef<'_>),
    ) -> Result<Recorded, RecordError> {
        if self.records.parser.is_full() {
            self.forget();
        }
        self.is_example = false;
        let is_document = match self.records.check(record) {
            Ok(is_document) => is_document,
            Err(error) => {
                self.is_example = self.counts.add_malformed(line, error, record, record.len());
                return Err(error);
            }
        };
        self.learn();
        // What was left out for a reason is not blank.
        if is_document || self.records.notes().is_empty() {
            self.counts.add_record(is_document);
        }
        for oddity in self.records.oddities() {
            self.is_example |= self.counts.add_oddity(line, oddity, record);
        }
        // What is unusual about the beginning of a record may be due to its missing end.
        let is_cut = std::mem::take(&mut self.is_cut);
        for &note in self.records.notes().iter().filter(|_| !is_cut || !is_document) {
            self.is_example |= self.counts.add_note(line, note);
        }
        let Self { records, targets, kinds, key, known, text, counts, .. } = self;
        let mut key = KeyOfRecord { field: *key, is_known: false };
        let visit = &mut |bytes: &[u8], raw: RawScalar| {
            FieldRouter { targets, kinds, known, text, counts, key: &mut key }.route(bytes, raw, sink);
        };
        records.replay(record, visit)?;
        if is_document && key.field.is_some() && !key.is_known {
            counts.add_without_key();
        }
        Ok(if is_document { Recorded::Document } else { Recorded::Blank })
    }

    /// Counts as malformed a record of `len` bytes that the caller has no memory for; `start` is its
    /// beginning.
    pub fn leave_out(&mut self, line: u64, start: &[u8], len: usize) {
        self.is_example = self.counts.add_malformed(line, RecordError::NoRoom { len }, start, len);
    }

    /// Counts a record of a collection of which the caller has only memory for the beginning, which comes
    /// next. Returns true if it is the first one.
    pub fn note_cut(&mut self, line: u64) -> bool {
        self.is_cut = true;
        self.counts.add_note(line, RecordNote::Remark("too long for memory: its beginning is indexed"))
    }

    /// Counts a record as malformed that lies in an earlier one with a wrong length; `len` is its size as far
    /// as it is known.
    pub fn lose(&mut self, line: u64, len: usize) {
        self.is_example = self.counts.add_malformed(line, RecordError::Lost, b"", len);
    }

    /// Counts a record whose length is wrong, and of which only the beginning comes. Returns true if it is
    /// the first one.
    pub fn note_wrong_length(&mut self, line: u64) -> bool {
        self.counts.add_note(line, RecordNote::Remark(crate::record::warc::WRONG_LENGTH))
    }

    /// True if the last record became an example in the counts, which is reported with its line.
    pub fn is_example(&self) -> bool {
        self.is_example
    }

    /// Looks up the targets of new names.
    #[inline]
    fn learn(&mut self) {
        for number in self.known.len()..self.records.parser.names() {
            let source = self.records.parser.source(u32::try_from(number).unwrap_or(u32::MAX));
            self.known.push((self.targets.find(source), 0));
        }
    }

    /// Forgets the numbers of names, but not the counts of unknown names.
    fn forget(&mut self) {
        self.save_unknown();
        self.known.clear();
        self.records.parser.forget();
    }

    fn save_unknown(&mut self) {
        for (number, (_, count)) in (0..).zip(&mut self.known) {
            if *count > 0 {
                self.counts.add_unknown(self.records.parser.source(number), std::mem::take(count));
            }
        }
    }

    /// The counts of all records so far.
    pub fn counts(&mut self) -> &RecordCounts {
        self.save_unknown();
        &self.counts
    }

    /// Returns the fields whose first value that does not fit was in the records since the last call.
    pub fn take_first_conflicts(&mut self) -> Vec<Field> {
        self.counts.take_first_conflicts()
    }

    /// True if a document had no value in the field that is the key.
    pub fn has_record_without_key(&self) -> bool {
        self.counts.without_key() > 0
    }

    /// Returns the counts, and starts again from zero.
    pub fn take_counts(&mut self) -> RecordCounts {
        self.save_unknown();
        std::mem::take(&mut self.counts)
    }
}

/// The key of a record: its first value in a field.
struct KeyOfRecord {
    field: Option<Field>,
    is_known: bool,
}

/// Passes the scalars of a well-formed record to the fields that take them.
struct FieldRouter<'t> {
    targets: &'t Targets,
    kinds: &'t [WrittenKind],
    known: &'t mut [(NameTarget, u64)],
    text: &'t mut Vec<u8>,
    counts: &'t mut RecordCounts,
    key: &'t mut KeyOfRecord,
}

impl FieldRouter<'_> {
    /// Calls `sink` with the value of a scalar for each field of its name.
    #[inline]
    fn route(self, record: &[u8], raw: RawScalar, sink: &mut impl FnMut(Field, ValueRef<'_>)) {
        let Some((target, count)) = self.known.get_mut(raw.name as usize) else { return };
        if raw.kind == ScalarKind::Null {
            return;
        }
        if target.is_unknown() {
            *count += 1;
            return;
        }
        let Some(scalar) = raw.scalar(record, self.text) else { return };
        for &field in self.targets.fields(*target) {
            let kind = self.kinds.get(usize::from(field.number()));
            let is_key = self.key.field == Some(field);
            if is_key && scalar.as_text().is_empty() {
                continue;
            }
            self.counts.add_value(field);
            // Of several values, the first one is the key.
            let kind = kind.filter(|_| !is_key || !self.key.is_known);
            match kind.and_then(|kind| convert(kind, scalar)) {
                Some(value) => {
                    self.key.is_known |= is_key;
                    sink(field, value);
                }
                None => self.counts.add_conflict(field, scalar.as_text()),
            }
        }
    }
}
