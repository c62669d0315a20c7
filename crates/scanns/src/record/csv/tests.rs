use super::quotes::undouble;
use super::row::parse_row;
use super::*;
use crate::record::error::RecordError;
use crate::record::raw::{RawScalar, ScalarKind};

type Row = Vec<Option<Vec<u8>>>;

fn delimiter(byte: u8) -> CsvDelimiter {
    CsvDelimiter::parse(std::str::from_utf8(&[byte]).unwrap()).unwrap()
}

fn read(record: &[u8], by: u8) -> Result<Row, RecordError> {
    let (mut raws, mut text) = (Vec::new(), Vec::new());
    parse_row(record, delimiter(by), usize::MAX, &mut |raw| raws.push(raw))?;
    let mut value = |raw: &RawScalar| {
        let bytes = raw.bytes(record);
        match raw.kind {
            ScalarKind::Text => Some(bytes.to_vec()),
            ScalarKind::Doubled => {
                undouble(bytes, &mut text);
                Some(text.clone())
            }
            _ => None,
        }
    };
    Ok(raws.iter().map(&mut value).collect())
}

/// The records of a file that is read in pieces, which end at `cuts`.
fn records(file: &[u8], by: u8, cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut ends = CsvEnds::new(Some(delimiter(by)));
    let (mut records, mut record, mut at) = (Vec::new(), Vec::new(), 0);
    for &cut in cuts.iter().chain(&[file.len()]) {
        while at < cut {
            let piece = &file[at..cut];
            let end = ends.find(piece);
            record.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            at += end.unwrap_or(piece.len());
            if end.is_some() {
                assert!(ends.is_at_start());
                records.push(std::mem::take(&mut record));
            }
        }
    }
    assert_eq!(ends.is_at_start(), record.is_empty());
    if !record.is_empty() {
        records.push(record);
    }
    records
}

/// A slow reader of a whole file, with one state, byte by byte. A malformed row is `None`; a blank row is
/// empty.
fn oracle(file: &[u8], by: u8) -> Vec<Option<Row>> {
    #[derive(PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
        Closed,
    }
    let mut rows = Vec::new();
    let (mut row, mut value, mut at, mut good) = (Row::new(), Vec::new(), At::Start, true);
    let (mut any, mut was_quoted) = (false, false);
    let mut input = file.to_vec();
    if input.last().is_some_and(|byte| *byte != b'\n') {
        // The end of the file ends a row; inside quotes it is an error.
        input.push(b'\n');
    }
    for (place, &byte) in input.iter().enumerate() {
        let is_end = byte == b'\n' && at != At::Quoted;
        let is_return = byte == b'\r' && at != At::Quoted && input.get(place + 1) == Some(&b'\n');
        match at {
            _ if is_end || is_return || (byte == by && at != At::Quoted) => {
                if is_return {
                    continue;
                }
                any |= byte == by || !value.is_empty() || was_quoted;
                let text = std::mem::take(&mut value);
                row.push((was_quoted || !text.is_empty()).then_some(text));
                (at, was_quoted) = (At::Start, false);
                if is_end {
                    let row = std::mem::take(&mut row);
                    rows.push(good.then_some(if any { row } else { Row::new() }));
                    (good, any) = (true, false);
                }
            }
            At::Start if byte == b'"' => (at, was_quoted) = (At::Quoted, true),
            At::Start | At::Plain => {
                value.push(byte);
                at = At::Plain;
            }
            At::Quoted if byte == b'"' => at = At::Closed,
            At::Quoted => value.push(byte),
            At::Closed if byte == b'"' => {
                value.push(b'"');
                at = At::Quoted;
            }
            At::Closed => {
                good = false;
                any = true;
                at = At::Plain;
            }
        }
    }
    if at != At::Start || !row.is_empty() {
        rows.push(None);
    }
    rows
}

#[test]
fn rows_equal_the_rows_of_a_slow_reader_wherever_the_file_is_cut() {
    let seed = 0x5eed_c5c5;
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut well, mut malformed) = (0, 0);
    for round in 0..30_000 {
        let by = [b',', b';', b'\t'][random.usize(..3)];
        let alphabet = [b'a', b'b', b'"', b'"', by, by, b'\n', b'\n', b'\r', b' ', 0xff, 0];
        let quotes = random.bool();
        let byte = |random: &mut fastrand::Rng| match alphabet[random.usize(..alphabet.len())] {
            b'"' if quotes && random.bool() => b'x',
            byte => byte,
        };
        let file: Vec<u8> = (0..random.usize(..60)).map(|_| byte(&mut random)).collect();
        let mut cuts: Vec<_> = (0..random.usize(..5)).map(|_| random.usize(..=file.len())).collect();
        cuts.sort_unstable();
        let context =
            format!("seed {seed:x} round {round} {:?} cut {cuts:?}", String::from_utf8_lossy(&file));
        let found = records(&file, by, &cuts);
        assert_eq!(found.concat(), file, "{context}");
        let rows: Vec<_> = found.iter().map(|record| read(record, by).ok()).collect();
        assert_eq!(rows, oracle(&file, by), "{context}");
        well += rows.iter().flatten().count();
        malformed += rows.iter().filter(|row| row.is_none()).count();
    }
    assert!(well > 30_000 && malformed > 3000, "{well} well-formed, {malformed} malformed");
}

#[test]
fn written_rows_read_back() {
    let seed = 0x5eed_c5c6;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..10_000 {
        let alphabet = ["a", "\"", ",", "\n", "\r\n", "ä", " "];
        let value = |random: &mut fastrand::Rng| -> String {
            (0..random.usize(..5)).map(|_| alphabet[random.usize(..alphabet.len())]).collect()
        };
        let values: Vec<_> = (0..random.usize(1..6)).map(|_| value(&mut random)).collect();
        let quoted: Vec<_> =
            values.iter().map(|value| format!("\"{}\"", value.replace('"', "\"\""))).collect();
        let file = quoted.join(",") + ["", "\n", "\r\n"][random.usize(..3)];
        assert_eq!(records(file.as_bytes(), b',', &[]).len(), 1, "seed {seed:x} round {round} {file}");
        let row: Vec<_> = read(file.as_bytes(), b',').unwrap().into_iter().flatten().collect();
        assert!(row.iter().eq(values.iter().map(String::as_bytes)), "seed {seed:x} round {round} {file}");
    }
}

#[test]
fn headers_have_names_and_determine_the_delimiter() {
    for (header, by, names) in [
        ("a,b\n", b',', vec!["a", "b"]),
        ("\u{feff}a;b,c;d\r\n", b';', vec!["a", "b,c", "d"]),
        ("a\tb", b'\t', vec!["a", "b"]),
        ("a|b|c", b'|', vec!["a", "b", "c"]),
        ("alone", b',', vec!["alone"]),
        ("\"a,b,c\";\"d\"\"e\"", b';', vec!["a,b,c", "d\"e"]),
        ("a,b;c", b',', vec!["a", "b;c"]),
        ("a,,", b',', vec!["a", "", ""]),
        ("a\"\"b,c", b',', vec!["a\"\"b", "c"]),
    ] {
        let read = CsvHeader::parse(header.as_bytes(), None).unwrap();
        assert_eq!(
            (read.delimiter().byte(), read.names()),
            (by, names.iter().map(|name| name.to_string()).collect::<Vec<_>>().as_slice()),
            "{header}"
        );
    }
    let given = CsvHeader::parse(b"a,b;c", Some(delimiter(b';'))).unwrap();
    assert_eq!(given.names(), ["a,b", "c"]);
    for header in ["", "\n", "\r\n", "\u{feff}", "\"a"] {
        assert!(CsvHeader::parse(header.as_bytes(), None).is_err(), "{header:?}");
    }
    let mut ends = CsvEnds::new(None);
    assert_eq!(ends.find(b"a;\"b\nc\"\n1;2\n"), Some(8));
}

#[test]
fn delimiters_are_one_character() {
    for (text, byte) in [(",", b','), ("tab", b'\t'), ("\\t", b'\t'), ("\t", b'\t'), (":", b':'), (" ", b' ')]
    {
        assert_eq!(CsvDelimiter::parse(text).map(CsvDelimiter::byte).ok(), Some(byte), "{text:?}");
    }
    for text in ["", ",,", "\"", "\n", "\r", "ä", "\u{80}"] {
        assert!(CsvDelimiter::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_record_that_spans_many_pieces_is_scanned_once() {
    let piece = vec![b'x'; 1 << 10];
    let mut ends = CsvEnds::new(Some(delimiter(b',')));
    assert_eq!(ends.find(b"\""), None);
    for _ in 0..64 << 10 {
        assert_eq!(ends.find(&piece), None);
    }
    assert_eq!(ends.find(b"\"\n"), Some(2));
    assert!(ends.is_at_start());
    let long = [b"\"".as_slice(), &vec![b','; 64 << 20], b"\""].concat();
    let mut count = 0;
    assert_eq!(parse_row(&long, delimiter(b','), 1, &mut |_| count += 1), Ok(true));
    let many = vec![b','; 64 << 20];
    let error = parse_row(&many, delimiter(b','), 100_000, &mut |_| count += 1);
    assert_eq!((error, count), (Err(RecordError::TooMany { at: 100_000, names: 100_000 }), 100_001));
}
