//! Infers a schema from a sample of records.
//!
//! Names that [`map_name`](super::map_name) maps to the same name are one field. The kind of a field depends
//! on all of its values:
//!
//! | values | field |
//! |---|---|
//! | true and false | `boolean`, a column |
//! | integers, none negative, below 2⁶⁴ | `unsigned`, a column |
//! | integers from -2⁶³ to 2⁶³ - 1 | `signed`, a column |
//! | other numbers, including `1.0` and `1e3` | `float`, a column |
//! | dates as [`parse_date`](crate::schema::parse_date) reads them | `date`, a column |
//! | numbers since 1970 under a name such as `mtime` or `created_at` | `date`, a column, with its unit |
//! | paths that all differ, or with a name such as `path` | `keyword`, and `NAME.parts`, their parts |
//! | texts of at most 64 bytes and 3 words on average | `keyword`, searched and a column |
//! | longer texts, or one text that is too long for a keyword | `text` of standard words, searched |
//! | several of these | by length as texts, because all convert to text |
//!
//! A kind other than text needs 99 % of the values: one `"unknown"` does not make a text of a column of
//! prices. A build leaves out the values that do not fit, counts them, and fails if they are more than 1 %.
//! The texts of a keyword are also searched by their words, in a field `NAME.words`, if more than 1 % of them
//! have several words or the sample has fewer than 100 of them. Numbers are moments if their name says so and
//! at least half of them are in the years 1990 to 2100 in one unit, or if they have the fraction that
//! `find -printf %T@` prints. The first field of at least 20 different paths is the key of documents, unless
//! another one is given.
//!
//! In JSON, strings are texts or dates, whatever they contain. In CSV, a value that JSON would read as a
//! number, `true` or `false` is one; `007` is a text. Nulls do not count, and a name without values gets no
//! field. Of more than 64 names the ones with the most values get fields, in the order of their first values.
//! If no field would be searched, the first one is added a second time, as a keyword.

use hashbrown::HashMap;

#[cfg(test)]
mod tests;

use super::counts::RecordCounts;
use super::csv::{CsvHeader, CsvRows};
use super::error::RecordError;
use super::format::{CheckedParser, FileFormat, RecordFormat, RecordParser};
use super::names::{Sources, map_name};
use super::raw::BYTE_ORDER_MARK;
use super::reader::Recorded;
use super::seen_field::{FieldFigures, SeenField, SeenKind};
use crate::error::{Error, Result};
use crate::schema::{Analyzer, Field, FieldEntry, FieldKind, MAX_FIELDS, Schema, ValueFormat};

/// The maximum number of names that are considered.
const MOST_NAMES: usize = 10_000;

/// A schema that was inferred.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// The fields of the sample.
    pub schema: Schema,
    /// The names in records whose values the fields take.
    pub sources: Sources,
    /// Statistics of each field, in the order of fields.
    pub figures: Vec<FieldFigures>,
    /// Names without a field, with their numbers of values: there were too many names, or only nulls.
    pub left_out: Vec<(String, u64)>,
    /// Counts of records and malformed records.
    pub counts: RecordCounts,
}

/// Infers a schema from a sample of records. The kind of a field depends on all of its values in the sample.
///
/// ```
/// # use scanns::sources::{Inference, RecordFormat};
/// let mut inference = Inference::new(RecordFormat::Json);
/// for line in [r#"{"name": "ada", "size": 3}"#, r#"{"name": "grace", "size": 4.5}"#] {
///     inference.record(1, line.as_bytes())?;
/// }
/// let schema = inference.finish()?.schema;
/// let kinds: Vec<_> = schema.fields().map(|(_, field)| (field.name.as_str(), field.kind.name())).collect();
/// assert_eq!(kinds, [("name", "keyword"), ("size", "float"), ("name.words", "text")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Inference {
    records: CheckedParser,
    /// By number of name, the number of its field; `None` beyond [`MOST_NAMES`].
    known: Vec<Option<usize>>,
    fields: Vec<SeenField>,
    /// By mapped name, the number of its field.
    names: HashMap<String, usize>,
    /// Values of names beyond [`MOST_NAMES`].
    beyond: u64,
    /// The name of the field that is the key of documents.
    key: Option<String>,
    counts: RecordCounts,
    text: Vec<u8>,
}

impl Inference {
    /// An empty sample.
    pub fn new(format: RecordFormat) -> Self {
        Inference {
            records: CheckedParser::new(format),
            known: Vec::new(),
            fields: Vec::new(),
            names: HashMap::new(),
            beyond: 0,
            key: None,
            counts: RecordCounts::default(),
            text: Vec::new(),
        }
    }

    /// Makes the field with this name, or this name in records, the key of documents.
    pub fn set_key(&mut self, name: &str) {
        self.key = Some(name.into());
    }

    /// Switches to another format, for example where a CSV file with another header starts.
    pub fn set_format(&mut self, format: RecordFormat) {
        self.known.clear();
        self.records = CheckedParser::new(format);
    }

    /// Adds the records in `bytes`, the beginning of a file. Bytes after the last line end are ignored,
    /// unless `is_whole` says that the file ends there. Malformed records are counted.
    ///
    /// # Errors
    /// [`RecordError`] for a CSV file without a header.
    pub fn sample(
        &mut self,
        format: &FileFormat,
        bytes: &[u8],
        is_whole: bool,
    ) -> std::result::Result<(), RecordError> {
        let mut rows = None;
        let mut rest = bytes;
        if let FileFormat::Csv(dialect) = format {
            let mut first = CsvRows::new(dialect);
            let end = first.next_end(rest, is_whole).unwrap_or(0);
            let header = CsvHeader::parse(rest.get(..end).unwrap_or_default(), dialect)?;
            rest = match header.is_row() {
                true => rest.strip_prefix(BYTE_ORDER_MARK).unwrap_or(rest),
                false => rest.get(end..).unwrap_or_default(),
            };
            self.counts.add_renamed(header.renamed());
            rows = Some(first.below(&header));
            self.set_format(RecordFormat::Csv(header));
        } else {
            self.set_format(RecordFormat::Json);
        }
        for line in 1.. {
            let end = match &mut rows {
                Some(rows) => rows.next_end(rest, is_whole),
                None => memchr::memchr(b'\n', rest).map(|feed| feed + 1),
            };
            let Some((record, behind)) = rest.split_at_checked(end.unwrap_or(rest.len())) else { break };
            if record.is_empty() || (end.is_none() && !is_whole) {
                break;
            }
            rest = behind;
            // A malformed record was counted.
            let _ = self.record(line, record);
        }
        Ok(())
    }

    /// Adds a record, with or without its line end. `line` is the number under which a malformed record is
    /// reported.
    ///
    /// # Errors
    /// A malformed record: it is counted, and its values are ignored.
    pub fn record(&mut self, line: u64, record: &[u8]) -> std::result::Result<Recorded, RecordError> {
        if self.records.parser.is_full() {
            self.records.parser.forget();
            self.known.clear();
        }
        let is_document = match self.records.check(record) {
            Ok(is_document) => is_document,
            Err(error) => {
                self.counts.add_malformed(line, error, record, record.len());
                return Err(error);
            }
        };
        self.counts.add_record(is_document);
        if !is_document {
            return Ok(Recorded::Blank);
        }
        self.learn();
        let is_json = matches!(self.records.parser, RecordParser::Json(_));
        let Self { records, known, fields, beyond, text, .. } = self;
        records.replay(record, &mut |bytes, raw| {
            let field = known.get(raw.name as usize).copied().flatten().and_then(|at| fields.get_mut(at));
            match (field, raw.scalar(bytes, text)) {
                (None, scalar) => *beyond += u64::from(scalar.is_some()),
                (Some(field), None) => field.figures.nulls += 1,
                (Some(field), Some(scalar)) => field.add(scalar, is_json),
            }
        })?;
        Ok(Recorded::Document)
    }

    /// Finds the fields of new names.
    fn learn(&mut self) {
        if self.known.is_empty() && matches!(self.records.parser, RecordParser::Json(_)) {
            // The record itself has no name.
            self.known.push(None);
        }
        for number in self.known.len()..self.records.parser.names() {
            let source = self.records.parser.source(u32::try_from(number).unwrap_or(u32::MAX));
            let name = map_name(source);
            let known = self.names.get(&name).copied();
            if let Some(seen) = known.and_then(|at| self.fields.get_mut(at)) {
                // Names of objects get numbers too; this is harmless, because they have no values.
                seen.several |= seen.source != source;
            }
            let fresh = (known.is_none() && self.fields.len() < MOST_NAMES).then(|| {
                let seen = SeenField::new(name.clone(), source.into());
                self.fields.push(seen);
                self.names.insert(name, self.fields.len() - 1);
                self.fields.len() - 1
            });
            self.known.push(known.or(fresh));
        }
    }

    /// The counts of the records of the sample so far.
    pub fn counts(&self) -> &RecordCounts {
        &self.counts
    }

    /// Infers the schema.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the sample has no values, or none of the field that should be the key.
    pub fn finish(self) -> Result<Inferred> {
        let is_empty = |seen: &SeenField| seen.figures.values == 0;
        let mut ranked: Vec<(usize, SeenField)> = self.fields.into_iter().enumerate().collect();
        ranked.sort_by_key(|(at, seen)| (std::cmp::Reverse(seen.figures.values), *at));
        let with_values = ranked.iter().take_while(|(_, seen)| !is_empty(seen)).count();
        let is_searched = |(_, seen): &(usize, SeenField)| seen.kind().kind.postings().is_some();
        let mut most = usize::from(MAX_FIELDS);
        if with_values >= most && !ranked.iter().take(most).any(is_searched) {
            // Reserve one place for a field that is searched.
            most -= 1;
        }
        let rest = ranked.split_off(with_values.min(most));
        // Names that only occur as names of objects, without values and nulls, are not names of fields.
        let rest = rest.into_iter().filter(|(_, seen)| !is_empty(seen) || seen.figures.nulls > 0);
        let mut left_out: Vec<_> = rest.map(|(_, seen)| (seen.source, seen.figures.values)).collect();
        if self.beyond > 0 {
            left_out.push(("(names beyond the first 10,000)".into(), self.beyond));
        }
        ranked.sort_by_key(|(at, _)| *at);
        let fields = ranked.into_iter().map(|(_, seen)| seen).collect();
        Inferred::of(fields, self.key.as_deref(), left_out, self.counts)
    }
}

impl Inferred {
    fn of(
        fields: Vec<SeenField>,
        key: Option<&str>,
        left_out: Vec<(String, u64)>,
        counts: RecordCounts,
    ) -> Result<Self> {
        let mut schema = Schema::new();
        let mut given = Vec::new();
        let mut figures = Vec::new();
        let mut formats = Vec::new();
        let kinds = kinds(&fields, key)?;
        for (seen, SeenKind { kind, format, .. }) in fields.iter().zip(&kinds) {
            let field = schema.add(entry(&seen.name, kind.clone()))?;
            if !seen.several && seen.source != seen.name {
                given.push((field, seen.source.clone()));
            }
            formats.push((field, *format));
            figures.push(seen.figures());
        }
        let key = kinds.iter().zip(&formats).find(|(kind, _)| kind.is_key).map(|(_, (field, _))| *field);
        for (seen, SeenKind { words, .. }) in fields.iter().zip(&kinds) {
            let Some(analyzer) = words else { continue };
            // The field is left out if there are too many fields, or if a name of the sample is the same.
            if let Ok(field) = schema.add(words_entry(&seen.name, analyzer)) {
                given.push((field, if seen.several { seen.name.clone() } else { seen.source.clone() }));
                figures.push(seen.figures());
            }
        }
        let Some(first) = fields.first() else {
            return Err(Error::invalid("sample", "without values", "at least one record with a value"));
        };
        if schema.searched().next().is_none() {
            let mut names = [format!("{}.keyword", first.name), "keyword".into(), "words".into()].into_iter();
            let added: Option<Field> =
                names.find_map(|name| schema.add(entry(&name, FieldKind::Keyword)).ok());
            if let Some(field) = added {
                given.push((field, first.source.clone()));
                figures.push(first.figures());
            }
        }
        let mut sources = Sources::of(&schema);
        given.iter().for_each(|(field, source)| sources.set(*field, source));
        formats.iter().for_each(|(field, format)| sources.set_format(*field, *format));
        key.into_iter().for_each(|key| sources.set_key(key));
        Ok(Inferred { schema, sources, figures, left_out, counts })
    }
}

/// The kinds of fields. The field `key`, or without one the first field of different paths, is the key.
fn kinds(fields: &[SeenField], key: Option<&str>) -> Result<Vec<SeenKind>> {
    let mut kinds: Vec<SeenKind> = fields.iter().map(SeenField::kind).collect();
    let first = match key {
        Some(key) => {
            let found = fields.iter().position(|seen| seen.source == key || seen.name == key);
            let names =
                || fields.iter().take(10).map(|seen| seen.name.as_str()).collect::<Vec<_>>().join(", ");
            let expected = || format!("a field of the sample, which has {}", names());
            Some(found.ok_or_else(|| Error::invalid("key", format!("'{key}'"), expected()))?)
        }
        None => kinds.iter().position(|kind| kind.is_key),
    };
    for (number, kind) in kinds.iter_mut().enumerate() {
        kind.is_key = first == Some(number);
        if kind.is_key && kind.kind != FieldKind::Keyword {
            // A number in a key is a name, and is kept as it is written.
            *kind =
                SeenKind { kind: FieldKind::Keyword, format: ValueFormat::Auto, words: None, is_key: true };
        }
    }
    Ok(kinds)
}

/// The field that is searched by the words of a keyword, or by the parts of a path.
fn words_entry(name: &str, analyzer: &Analyzer) -> FieldEntry {
    let what = if *analyzer == Analyzer::Standard { "words" } else { "parts" };
    FieldEntry::text(&format!("{name}.{what}")).analyzer(analyzer.clone())
}

/// A field that is searched if its kind allows it, and a column unless it is a text.
fn entry(name: &str, kind: FieldKind) -> FieldEntry {
    let column = !matches!(kind, FieldKind::Text { .. });
    FieldEntry { column, ..FieldEntry::new(name, kind) }
}
