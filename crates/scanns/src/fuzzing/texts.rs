//! Text from users and programs: queries, analyzers, dates, records, and text itself.

use std::ops::Range;

use crate::query::{Operator, QueryText, WeightedField, parse, parse_json};
use crate::record::{CsvHeader, CsvOptions, CsvRows, CsvSniffer, RecordFormat, RecordReader, Sources};
use crate::schema::{Analyzer, Field, FieldEntry, FieldKind, Schema, format_date, parse_date};
use crate::sys::BLOCK_PADDING;
use crate::tokenize::{TokenSink, Tokenizer};

/// Two fields: `text`, and the column `size`.
struct TwoFields(Field, Field);

const DEFAULT: [WeightedField; 1] = [WeightedField::FIRST];

impl TwoFields {
    fn new() -> Option<Self> {
        Some(TwoFields(Field::new(0)?, Field::new(1)?))
    }
}

impl QueryText for TwoFields {
    fn default_fields(&self) -> &[WeightedField] {
        &DEFAULT
    }

    fn field(&self, name: &str) -> Result<Field, Vec<String>> {
        if name == "text" { Ok(self.0) } else { Err(vec!["text".to_owned()]) }
    }

    fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
        (name == "size").then_some((self.1, FieldKind::Unsigned))
    }

    fn terms(&mut self, _: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        (0..).zip(text.split_whitespace().map(|word| word.as_bytes().to_vec())).collect()
    }

    fn spelling(&self, _: Field, text: &str) -> String {
        text.to_lowercase()
    }
}

/// A query is parsed or refused, with the same result each time.
pub(super) fn query_text(data: &[u8]) {
    let (Ok(text), Some(mut fields)) = (std::str::from_utf8(data), TwoFields::new()) else { return };
    for operator in [Operator::And, Operator::Or] {
        let first = parse(text, operator, &mut fields);
        let again = parse(text, operator, &mut fields);
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
    }
}

/// Like [`query_text`], for queries in JSON.
pub(super) fn query_json(data: &[u8]) {
    let (Ok(text), Some(mut fields)) = (std::str::from_utf8(data), TwoFields::new()) else { return };
    let first = parse_json(text, Operator::Or, &mut fields);
    let again = parse_json(text, Operator::Or, &mut fields);
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
}

/// The name of a parsed analyzer parses to the same analyzer.
pub(super) fn analyzer(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(analyzer) = Analyzer::parse(text) {
        assert_eq!(Analyzer::parse(&analyzer.name()).ok(), Some(analyzer));
    }
}

/// Collects the places of tokens.
#[derive(Default)]
struct Places(Vec<Range<usize>>);

impl TokenSink for Places {
    fn tokens(&mut self, _: &[u8], base: usize, bounds: &[u16]) {
        let pairs = bounds.as_chunks::<2>().0;
        self.0.extend(pairs.iter().map(|&[start, end]| base + usize::from(start)..base + usize::from(end)));
    }

    fn token(&mut self, _: &[u8], source: Range<usize>) {
        self.0.push(source);
    }
}

/// Tokens lie inside their text, and their starts never decrease. The first byte chooses the analyzer.
pub(super) fn tokens(data: &[u8]) {
    const NAMES: [&str; 7] =
        ["standard", "english", "paths", "code", "whitespace", "ancestors", "standard | fold | ngram:2-3"];
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(analyzer) = Analyzer::parse(NAMES[usize::from(choice) % NAMES.len()]) else { return };
    let mut padded = text.to_vec();
    padded.resize(text.len() + BLOCK_PADDING, 0);
    let mut places = Places::default();
    Tokenizer::new(&analyzer).run(&mut padded, 0..text.len(), &mut places);
    assert!(places.0.iter().all(|place| place.start <= place.end && place.end <= text.len()));
    assert!(places.0.is_sorted_by_key(|place| place.start));
}

/// A parsed date is formatted as text that parses to the same date.
pub(super) fn dates(data: &[u8]) {
    if let Some(time) = parse_date(data) {
        assert_eq!(parse_date(format_date(time).as_bytes()), Some(time));
    }
}

/// A record that is accepted is JSON for another parser, too.
pub(super) fn json_lines(data: &[u8]) {
    let Some(mut reader) = record_reader(RecordFormat::Json) else { return };
    for (line, record) in (1..).zip(data.split(|&byte| byte == b'\n')) {
        let accepted = reader.record(line, record, &mut |_, _| ());
        if accepted.is_ok() && !record.trim_ascii().is_empty() {
            if record.iter().filter(|byte| b"[{".contains(byte)).count() > 100 {
                continue;
            }
            let value = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(record);
            assert!(value.is_ok(), "accepted what is not JSON: {}", String::from_utf8_lossy(record));
        }
    }
}

/// A header and rows of CSV are read or refused, and every byte belongs to a row.
pub(super) fn csv(data: &[u8]) {
    let mut sniffer = CsvSniffer::new(&CsvOptions::default());
    sniffer.sample(data, true);
    let dialect = sniffer.dialect();
    let mut rows = CsvRows::new(&dialect);
    let Some((first, mut rest)) = rows.next_end(data, true).and_then(|end| data.split_at_checked(end)) else {
        return;
    };
    let Ok(header) = CsvHeader::parse(first, &dialect) else { return };
    rows = rows.below(&header);
    let Some(mut reader) = record_reader(RecordFormat::Csv(header)) else { return };
    for line in 2.. {
        let Some((row, behind)) = rows.next_end(rest, true).and_then(|end| rest.split_at_checked(end)) else {
            break;
        };
        assert!(!row.is_empty());
        let _ = reader.record(line, row, &mut |_, _| ());
        rest = behind;
    }
    assert!(rest.is_empty());
}

fn record_reader(format: RecordFormat) -> Option<RecordReader> {
    let mut schema = Schema::new();
    schema.add(FieldEntry::new("name", FieldKind::Keyword)).ok()?;
    schema.add(FieldEntry::new("size", FieldKind::Unsigned)).ok()?;
    schema.add(FieldEntry::new("when", FieldKind::Date)).ok()?;
    Some(RecordReader::new(&schema, &Sources::of(&schema), format))
}
