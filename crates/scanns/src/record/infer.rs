//! A schema for records, made from a sample of them.
//!
//! Names that are mapped to the same ([`map_name`](super::map_name)) are one field. What a field holds depends on all
//! values of it:
//!
//! | values | field |
//! |---|---|
//! | true and false | `boolean`, a column |
//! | integers, none negative, below 2⁶⁴ | `unsigned`, a column |
//! | integers from -2⁶³ to 2⁶³ - 1 | `signed`, a column |
//! | other numbers, among them `1.0` and `1e3` | `float`, a column |
//! | dates as [`parse_date`](crate::schema::parse_date) reads them | `date`, a column |
//! | texts of at most 64 bytes and 3 words on average | `keyword`, searched and a column |
//! | longer ones, or one that is too long for a keyword | `text` of standard words, searched |
//! | several of these | by length as texts, since all convert to text |
//!
//! In JSON, strings are texts or dates, whatever is in them. In CSV, what is written as JSON writes a number, `true` or
//! `false` is one; `007` is a text. Nulls say nothing, and a name without values gets no field. Of more than 64 names
//! those with the most values get fields, in the order of their first values. If nothing would be searched, the first
//! field is taken once more, as a keyword.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

#[cfg(test)]
mod tests;

use super::counts::RecordCounts;
use super::csv::{CsvEnds, CsvHeader};
use super::error::RecordError;
use super::format::{Checked, FileFormat, Parser, RecordFormat};
use super::json::number;
use super::names::{Sources, map_name};
use super::raw::Scalar;
use super::reader::Recorded;
use super::typed::{truth, written};
use crate::error::{Error, Result};
use crate::schema::{
    Analyzer, Field, FieldEntry, FieldKind, MAX_FIELDS, MAX_KEY, Postings, Schema, parse_date,
};

/// Most names that are looked at.
const MOST_NAMES: usize = 10_000;

/// Bytes and words of a text, on average, above which it is no keyword.
const KEYWORD_BYTES: u64 = 64;
const KEYWORD_WORDS: u64 = 3;

/// How many of the smallest hashes are kept to estimate how many there are.
const SKETCH: usize = 256;

/// What the sample says of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldFigures {
    /// Values, nulls not counted.
    pub values: u64,
    /// Nulls; in CSV, nothing at all.
    pub nulls: u64,
    /// How many different values there are, estimated above 256.
    pub distinct: u64,
    /// Bytes of all values, as text.
    pub bytes: u64,
    /// Those of the longest.
    pub longest: u64,
}

/// A schema that was inferred.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// The fields.
    pub schema: Schema,
    /// Where their values come from.
    pub sources: Sources,
    /// What the sample says of each, in their order.
    pub figures: Vec<FieldFigures>,
    /// Names that got no field, with the number of their values: too many, or none but nulls.
    pub left_out: Vec<(String, u64)>,
    /// How many records there were, and how many of them were malformed.
    pub counts: RecordCounts,
}

/// Looks at records of a sample. See the module's doc.
///
/// ```
/// # use scanns::*;
/// let mut inference = Inference::new(RecordFormat::Json);
/// for line in [r#"{"name": "ada", "size": 3}"#, r#"{"name": "grace", "size": 4.5}"#] {
///     inference.record(1, line.as_bytes())?;
/// }
/// let schema = inference.finish()?.schema;
/// let kinds: Vec<_> = schema.fields().map(|(_, field)| (field.name.as_str(), field.kind.name())).collect();
/// assert_eq!(kinds, [("name", "keyword"), ("size", "float")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Inference {
    records: Checked,
    /// By number of name, the number of its field; none for those beyond the most.
    known: Vec<Option<usize>>,
    fields: Vec<Seen>,
    /// The same, by mapped name.
    names: HashMap<String, usize>,
    /// Values of names beyond the most.
    beyond: u64,
    counts: RecordCounts,
    text: Vec<u8>,
}

/// What was seen of a field.
#[derive(Default)]
struct Seen {
    name: String,
    source: String,
    /// True if records have several names for it.
    several: bool,
    figures: FieldFigures,
    words: u64,
    booleans: u64,
    integers: u64,
    fractions: u64,
    dates: u64,
    /// Integers that are not in the range.
    not_unsigned: u64,
    not_signed: u64,
    /// The smallest hashes.
    sketch: BTreeSet<u64>,
}

impl Inference {
    /// Nothing seen yet.
    pub fn new(format: RecordFormat) -> Self {
        Inference {
            records: Checked::new(format),
            known: Vec::new(),
            fields: Vec::new(),
            names: HashMap::new(),
            beyond: 0,
            counts: RecordCounts::default(),
            text: Vec::new(),
        }
    }

    /// Reads another format from here on, as where a file of CSV with another header begins.
    pub fn set_format(&mut self, format: RecordFormat) {
        self.known.clear();
        self.records = Checked::new(format);
    }

    /// Looks at the records that `bytes`, the beginning of a file, have; `is_whole` says that the file ends with them,
    /// else what comes behind the last line end is not looked at. Malformed records are counted.
    ///
    /// # Errors
    /// A file of CSV without a header.
    pub fn sample(
        &mut self,
        format: FileFormat,
        bytes: &[u8],
        is_whole: bool,
    ) -> std::result::Result<(), RecordError> {
        let mut ends = match format {
            FileFormat::Json => {
                self.set_format(RecordFormat::Json);
                None
            }
            FileFormat::Csv(delimiter) => Some(CsvEnds::new(delimiter)),
        };
        let mut is_header = ends.is_some();
        let mut rest = bytes;
        for line in 1.. {
            let end = match &mut ends {
                Some(ends) => ends.find(rest),
                None => memchr::memchr(b'\n', rest).map(|feed| feed + 1),
            };
            let Some((record, behind)) = rest.split_at_checked(end.unwrap_or(rest.len())) else { break };
            if record.is_empty() || (end.is_none() && !is_whole) {
                break;
            }
            rest = behind;
            if let (FileFormat::Csv(delimiter), true) = (format, is_header) {
                let header = CsvHeader::parse(record, delimiter)?;
                ends = Some(CsvEnds::new(Some(header.delimiter())));
                self.set_format(RecordFormat::Csv(header));
                is_header = false;
            } else {
                // What is malformed has been counted.
                let _ = self.record(line, record);
            }
        }
        if is_header { CsvHeader::parse(b"", None).map(drop) } else { Ok(()) }
    }

    /// Looks at a record, with its line end or without. `line` is what it is called if it is malformed.
    ///
    /// # Errors
    /// A record that is malformed: it is counted, and was not looked at.
    pub fn record(&mut self, line: u64, record: &[u8]) -> std::result::Result<Recorded, RecordError> {
        if self.records.parser.is_full() {
            self.records.parser.forget();
            self.known.clear();
        }
        let is_document = match self.records.check(record) {
            Ok(is_document) => is_document,
            Err(error) => {
                self.counts.add_malformed(line, error, record);
                return Err(error);
            }
        };
        self.counts.add_record(is_document);
        if !is_document {
            return Ok(Recorded::Blank);
        }
        self.learn();
        let is_json = matches!(self.records.parser, Parser::Json(_));
        let Self { records, known, fields, beyond, text, .. } = self;
        records.tell(record, &mut |raw| {
            let field = known.get(raw.name as usize).copied().flatten().and_then(|at| fields.get_mut(at));
            match (field, raw.scalar(record, text)) {
                (None, scalar) => *beyond += u64::from(scalar.is_some()),
                (Some(field), None) => field.figures.nulls += 1,
                (Some(field), Some(scalar)) => field.add(scalar, is_json),
            }
        })?;
        Ok(Recorded::Document)
    }

    /// Finds the fields of names that are new.
    fn learn(&mut self) {
        if self.known.is_empty() && matches!(self.records.parser, Parser::Json(_)) {
            // The record itself, which is no name.
            self.known.push(None);
        }
        for number in self.known.len()..self.records.parser.names() {
            let source = self.records.parser.source(u32::try_from(number).unwrap_or(u32::MAX));
            let name = map_name(source);
            let known = self.names.get(&name).copied();
            if let Some(seen) = known.and_then(|at| self.fields.get_mut(at)) {
                // Names of objects only are numbered too, and have no values, but do no harm.
                seen.several |= seen.source != source;
            }
            let fresh = (known.is_none() && self.fields.len() < MOST_NAMES).then(|| {
                let seen = Seen { name: name.clone(), source: source.into(), ..Seen::default() };
                self.fields.push(seen);
                self.names.insert(name, self.fields.len() - 1);
                self.fields.len() - 1
            });
            self.known.push(known.or(fresh));
        }
    }

    /// The schema.
    ///
    /// # Errors
    /// [`Error::Options`] if there were no values.
    pub fn finish(self) -> Result<Inferred> {
        let is_empty = |seen: &Seen| seen.figures.values == 0;
        let mut ranked: Vec<(usize, Seen)> = self.fields.into_iter().enumerate().collect();
        ranked.sort_by_key(|(at, seen)| (std::cmp::Reverse(seen.figures.values), *at));
        let with_values = ranked.iter().take_while(|(_, seen)| !is_empty(seen)).count();
        let is_searched = |(_, seen): &(usize, Seen)| seen.kind().postings().is_some();
        let mut most = usize::from(MAX_FIELDS);
        if with_values >= most && !ranked.iter().take(most).any(is_searched) {
            // One must stay free for what is searched.
            most -= 1;
        }
        let rest = ranked.split_off(with_values.min(most));
        // Names of objects only, which have neither values nor nulls, are no names of fields.
        let rest = rest.into_iter().filter(|(_, seen)| !is_empty(seen) || seen.figures.nulls > 0);
        let mut left_out: Vec<_> = rest.map(|(_, seen)| (seen.source, seen.figures.values)).collect();
        if self.beyond > 0 {
            left_out.push(("(names beyond the first 10,000)".into(), self.beyond));
        }
        ranked.sort_by_key(|(at, _)| *at);
        let fields = ranked.into_iter().map(|(_, seen)| seen).collect();
        Inferred::of(fields, left_out, self.counts)
    }
}

impl Inferred {
    fn of(fields: Vec<Seen>, left_out: Vec<(String, u64)>, counts: RecordCounts) -> Result<Self> {
        let mut schema = Schema::new();
        let mut given = Vec::new();
        let mut figures = Vec::new();
        for seen in &fields {
            let field = schema.add_entry(entry(&seen.name, seen.kind()))?;
            if !seen.several && seen.source != seen.name {
                given.push((field, seen.source.clone()));
            }
            figures.push(seen.figures());
        }
        let Some(first) = fields.first() else {
            return Err(Error::Options(
                "the sample has no record with a value: nothing says what fields there are".into(),
            ));
        };
        if schema.searched().next().is_none() {
            let mut names = [format!("{}.keyword", first.name), "keyword".into(), "words".into()].into_iter();
            let added: Option<Field> =
                names.find_map(|name| schema.add_entry(entry(&name, FieldKind::Keyword)).ok());
            if let Some(field) = added {
                given.push((field, first.source.clone()));
                figures.push(first.figures());
            }
        }
        let mut sources = Sources::of(&schema);
        given.iter().for_each(|(field, source)| sources.set(*field, source));
        Ok(Inferred { schema, sources, figures, left_out, counts })
    }
}

/// A field that is searched if it can be, and a column if it is no text.
fn entry(name: &str, kind: FieldKind) -> FieldEntry {
    let column = !matches!(kind, FieldKind::Text { .. });
    FieldEntry { column, ..FieldEntry::new(name, kind) }
}

impl Seen {
    fn add(&mut self, scalar: Scalar<'_>, is_json: bool) {
        let text = written(scalar);
        let trimmed = text.trim_ascii();
        match scalar {
            Scalar::Boolean(_) => self.booleans += 1,
            Scalar::Number(number, whole) => self.add_number(number, whole),
            Scalar::Text(_) if !is_json && truth(text).is_some() => self.booleans += 1,
            Scalar::Text(_) if !is_json && number::is_plain(trimmed) => {
                self.add_number(trimmed, number::is_plain_integer(trimmed));
            }
            Scalar::Text(_) => self.dates += u64::from(parse_date(trimmed).is_some()),
        }
        let len = text.len() as u64;
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        self.words += words as u64;
        self.figures.values += 1;
        self.figures.bytes += len;
        self.figures.longest = self.figures.longest.max(len);
        let hash = xxh3_64(text);
        if self.sketch.len() < SKETCH || self.sketch.last().is_some_and(|last| hash < *last) {
            self.sketch.insert(hash);
            if self.sketch.len() > SKETCH {
                self.sketch.pop_last();
            }
        }
    }

    fn add_number(&mut self, text: &[u8], whole: bool) {
        if whole {
            self.integers += 1;
            self.not_unsigned += u64::from(number::unsigned(text).is_none());
            self.not_signed += u64::from(number::signed(text).is_none());
        } else {
            self.fractions += 1;
        }
    }

    /// What a field must hold for all values.
    fn kind(&self) -> FieldKind {
        let FieldFigures { values, bytes, longest, .. } = self.figures;
        let is_short = bytes <= KEYWORD_BYTES * values && self.words <= KEYWORD_WORDS * values;
        if self.booleans == values {
            FieldKind::Boolean
        } else if self.integers == values && self.not_unsigned == 0 {
            FieldKind::Unsigned
        } else if self.integers == values && self.not_signed == 0 {
            FieldKind::Signed
        } else if self.integers + self.fractions == values {
            FieldKind::Float
        } else if self.dates == values {
            FieldKind::Date
        } else if is_short && longest <= MAX_KEY as u64 {
            FieldKind::Keyword
        } else {
            FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies }
        }
    }

    fn figures(&self) -> FieldFigures {
        FieldFigures { distinct: self.distinct(), ..self.figures.clone() }
    }

    /// How many different values there are. Hashes are spread evenly, so how far the 256 smallest reach says how dense
    /// they are (Z. Bar-Yossef and others, "Counting distinct elements in a data stream", 2002).
    fn distinct(&self) -> u64 {
        match self.sketch.last() {
            Some(last) if self.sketch.len() == SKETCH => {
                let all = u128::from(u64::MAX) * (SKETCH as u128 - 1) / u128::from(*last).max(1);
                u64::try_from(all).unwrap_or(u64::MAX).min(self.figures.values)
            }
            _ => self.sketch.len() as u64,
        }
    }
}
