//! From the bytes of records to values of fields: what ties parsers, names and conversions together.

#[cfg(test)]
mod tests;

use super::counts::RecordCounts;
use super::error::RecordError;
use super::format::{Checked, Parser, RecordFormat};
use super::names::{Sources, Target, Targets};
use super::raw::{Kind, Raw};
use super::typed::{convert, written};
use crate::schema::{Field, FieldKind, Schema, ValueRef};

/// What a record was, apart from malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// A document, even if it has no values.
    Document,
    /// Nothing but white space.
    Blank,
}

/// Reads records of one format, and tells the values of fields in them.
///
/// ```
/// # use scanns::*;
/// let mut schema = Schema::new();
/// schema.add("owner.name", FieldKind::Keyword, false)?;
/// schema.add_entry(FieldEntry::new("size", FieldKind::Unsigned).in_column())?;
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
    records: Checked,
    targets: Targets,
    kinds: Vec<FieldKind>,
    /// By number of name: where it leads, and how many values it had if that is nowhere.
    known: Vec<(Target, u64)>,
    /// Of a string with escapes, what it stands for.
    text: Vec<u8>,
    counts: RecordCounts,
}

impl RecordReader {
    /// A reader for fields of a schema.
    pub fn new(schema: &Schema, sources: &Sources, format: RecordFormat) -> Self {
        RecordReader {
            records: Checked::new(format),
            targets: Targets::new(sources),
            kinds: schema.fields().map(|(_, entry)| entry.kind.clone()).collect(),
            known: Vec::new(),
            text: Vec::new(),
            counts: RecordCounts::default(),
        }
    }

    /// Reads another format from here on, as where a file of CSV with another header begins.
    pub fn set_format(&mut self, format: RecordFormat) {
        self.forget();
        self.records.parser = Parser::new(format);
    }

    /// Reads a record, with its line end or without, and tells `sink` its values in order. `line` is what the record is
    /// called if it is malformed.
    ///
    /// # Errors
    /// A record that is malformed: it is counted, and `sink` was told nothing.
    pub fn record(
        &mut self,
        line: u64,
        record: &[u8],
        sink: &mut impl FnMut(Field, ValueRef<'_>),
    ) -> Result<Recorded, RecordError> {
        if self.records.parser.is_full() {
            self.forget();
        }
        let is_document = match self.records.check(record) {
            Ok(is_document) => is_document,
            Err(error) => {
                self.counts.add_malformed(line, error, record);
                return Err(error);
            }
        };
        self.learn();
        self.counts.add_record(is_document);
        let Self { records, targets, kinds, known, text, counts } = self;
        let tell = &mut |raw: Raw| Telling { targets, kinds, known, text, counts }.tell(record, raw, sink);
        records.tell(record, tell)?;
        Ok(if is_document { Recorded::Document } else { Recorded::Blank })
    }

    /// Counts a record of `len` bytes as malformed that its caller has no room for; `start` is what there is of it.
    pub fn leave_out(&mut self, line: u64, start: &[u8], len: usize) {
        self.counts.add_malformed(line, RecordError::NoRoom { len }, start);
    }

    /// Looks up where names lead that are new.
    #[inline]
    fn learn(&mut self) {
        for number in self.known.len()..self.records.parser.names() {
            let source = self.records.parser.source(u32::try_from(number).unwrap_or(u32::MAX));
            self.known.push((self.targets.find(source), 0));
        }
    }

    /// Forgets the numbers of names, and puts down how often those were there that lead nowhere.
    fn forget(&mut self) {
        self.put_down();
        self.known.clear();
        self.records.parser.forget();
    }

    fn put_down(&mut self) {
        for (number, (_, count)) in (0..).zip(&mut self.known) {
            if *count > 0 {
                self.counts.add_unknown(self.records.parser.source(number), std::mem::take(count));
            }
        }
    }

    /// What has become of the records so far.
    pub fn counts(&mut self) -> &RecordCounts {
        self.put_down();
        &self.counts
    }

    /// The same, and begins to count from nothing.
    pub fn take_counts(&mut self) -> RecordCounts {
        self.put_down();
        std::mem::take(&mut self.counts)
    }
}

/// What is needed to tell the values of a record that is whole.
struct Telling<'t> {
    targets: &'t Targets,
    kinds: &'t [FieldKind],
    known: &'t mut [(Target, u64)],
    text: &'t mut Vec<u8>,
    counts: &'t mut RecordCounts,
}

impl Telling<'_> {
    /// Tells the values that a scalar is for the fields that its name leads to.
    #[inline]
    fn tell(self, record: &[u8], raw: Raw, sink: &mut impl FnMut(Field, ValueRef<'_>)) {
        let Some((target, count)) = self.known.get_mut(raw.name as usize) else { return };
        if raw.kind == Kind::Null {
            return;
        }
        if target.is_unknown() {
            *count += 1;
            return;
        }
        let Some(scalar) = raw.scalar(record, self.text) else { return };
        for &field in self.targets.fields(*target) {
            let kind = self.kinds.get(usize::from(field.number()));
            match kind.and_then(|kind| convert(kind, scalar)) {
                Some(value) => sink(field, value),
                None => self.counts.add_conflict(field, written(scalar)),
            }
        }
    }
}
