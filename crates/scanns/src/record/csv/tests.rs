use super::quotes::undouble;
use super::row::{RowShape, count_plain, parse_row};
use super::rows::MOST_LINES_BYTES;
use super::*;
use crate::record::error::RecordError;
use crate::record::raw::{RawScalar, ScalarKind};

type Row = Vec<Option<Vec<u8>>>;

fn delimiter(byte: u8) -> CsvDelimiter {
    CsvDelimiter::of_byte(byte).unwrap()
}

fn by(byte: u8) -> CsvDialect {
    CsvDialect { delimiter: Some(delimiter(byte)), ..CsvDialect::default() }
}

fn shape(delimiter: u8, names: usize) -> RowShape {
    RowShape { delimiter, quotes: true, names }
}

fn read(record: &[u8], delimiter: u8) -> Result<Row, RecordError> {
    let (mut raws, mut text) = (Vec::new(), Vec::new());
    parse_row(record, shape(delimiter, usize::MAX), &mut |raw| raws.push(raw))?;
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

/// Rows below a header with this number of names.
fn rows_below(byte: u8, names: usize) -> CsvRows {
    let names = (0..names).map(|number| format!("c{number}")).collect();
    let dialect = CsvDialect { names: CsvNames::Given(names), ..by(byte) };
    CsvRows::new(&dialect).below(&CsvHeader::parse(b"x", &dialect).unwrap())
}

/// The rows of a file that is read in pieces, which end at `cuts`.
fn records(mut rows: CsvRows, file: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let (mut records, mut start) = (Vec::new(), 0);
    for (piece, &cut) in cuts.iter().chain(&[file.len()]).enumerate() {
        while let Some(end) = rows.next_end(&file[start..cut], piece == cuts.len()) {
            let record = &file[start..start + end];
            assert_eq!(rows.lines(), record.split_inclusive(|byte| *byte == b'\n').count() as u64);
            records.push(record.to_vec());
            start += end;
        }
    }
    assert_eq!(start, file.len());
    records
}

/// Where the quotes of the row that `bytes` begins with say that it ends, byte by byte; `None` if they
/// contradict each other.
fn end_by_quotes(bytes: &[u8], by: u8) -> Option<usize> {
    #[derive(PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
    }
    let (mut place, mut at) = (At::Start, 0);
    while at < bytes.len() {
        let next = &bytes[at + 1..];
        place = match (place, bytes[at]) {
            (At::Quoted, b'"') if next.starts_with(b"\"") => {
                at += 1;
                At::Quoted
            }
            (At::Quoted, b'"') if next.is_empty() || next == b"\r" => return Some(bytes.len()),
            (At::Quoted, b'"') if next.starts_with(b"\n") => return Some(at + 2),
            (At::Quoted, b'"') if next.starts_with(b"\r\n") => return Some(at + 3),
            (At::Quoted, b'"') if next[0] == by => {
                at += 1;
                At::Start
            }
            (At::Quoted, b'"') => return None,
            (At::Quoted, _) => At::Quoted,
            (_, b'\n') => return Some(at + 1),
            (At::Start, b'"') => At::Quoted,
            (_, byte) if byte == by => At::Start,
            _ => At::Plain,
        };
        at += 1;
    }
    (place != At::Quoted).then_some(bytes.len())
}

/// The rows of a file by the rules, without any regard to speed.
fn rows_by_rules(file: &[u8], by: u8, names: usize) -> Vec<Vec<u8>> {
    let (mut rows, mut rest) = (Vec::new(), file);
    while !rest.is_empty() {
        let line = rest.split_inclusive(|byte| *byte == b'\n').next().unwrap();
        let agreed = end_by_quotes(rest, by);
        let end = agreed.unwrap_or(line.len());
        let several: Vec<_> = rest[..end].split_inclusive(|byte| *byte == b'\n').collect();
        let fitting = several.iter().filter(|line| count_plain(line, by) == names).count();
        let first_fits = count_plain(line, by) == names;
        let others = several.len() - 1;
        let is_row = if agreed.is_none() || others == 0 {
            false
        } else if read(&rest[..end], by).unwrap().len() == names {
            names == 1 || fitting < several.len() || others * (names - 1) < 6
        } else {
            !first_fits && 2 * fitting < others
        };
        let end = if is_row { end } else { line.len() };
        rows.push(rest[..end].to_vec());
        rest = &rest[end..];
    }
    rows
}

#[test]
fn rows_equal_the_rows_of_a_slow_reader_wherever_the_file_is_cut() {
    let seed = 0x5eed_c5c5;
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut one, mut several) = (0, 0);
    for round in 0..60_000 {
        let by = [b',', b';', b'\t'][random.usize(..3)];
        let alphabet = [b'a', b'b', b'"', b'"', by, by, b'\n', b'\n', b'\r', b' ', 0xff, 0];
        let (quotes, names) = (random.bool(), random.usize(1..5));
        let byte = |random: &mut fastrand::Rng| match alphabet[random.usize(..alphabet.len())] {
            b'"' if quotes && random.bool() => b'x',
            byte => byte,
        };
        let file: Vec<u8> = (0..random.usize(..60)).map(|_| byte(&mut random)).collect();
        let mut cuts: Vec<_> = (0..random.usize(..5)).map(|_| random.usize(..=file.len())).collect();
        cuts.sort_unstable();
        let context =
            format!("seed {seed:x} round {round} {:?} cut {cuts:?}", String::from_utf8_lossy(&file));
        let found = records(rows_below(by, names), &file, &cuts);
        assert_eq!(found.concat(), file, "{context}");
        assert_eq!(found, rows_by_rules(&file, by, names), "{names} names, {context}");
        let lines = |row: &Vec<u8>| row.iter().filter(|byte| **byte == b'\n').count();
        several += found.iter().filter(|row| lines(row) > 1).count();
        one += found.len();
    }
    assert!(one > 100_000 && several > 3000, "{one} rows, {several} of several lines");
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
        let values: Vec<_> = (0..random.usize(1..4)).map(|_| value(&mut random)).collect();
        let quoted: Vec<_> =
            values.iter().map(|value| format!("\"{}\"", value.replace('"', "\"\""))).collect();
        let file = quoted.join(",") + ["", "\n", "\r\n"][random.usize(..3)];
        let rows = records(rows_below(b',', values.len()), file.as_bytes(), &[]);
        assert_eq!(rows.len(), 1, "seed {seed:x} round {round} {file}");
        let row: Vec<_> = read(file.as_bytes(), b',').unwrap().into_iter().flatten().collect();
        assert!(row.iter().eq(values.iter().map(String::as_bytes)), "seed {seed:x} round {round} {file}");
    }
}

#[test]
fn a_quote_that_belongs_to_a_value_costs_one_line() {
    let plain = |count: usize| -> String { (0..count).map(|row| format!("n{row},{row},x\n")).collect() };
    for stray in ["\"n,1,x\n", "n,\"1,x\n", "n,1,\"x\n", "\"\"n,1,x\n", "\"n\"m,1,x\n"] {
        for behind in [plain(0), plain(3), plain(200_000), plain(5) + "\"a\nb\",1,x\n" + &plain(5)] {
            let file = format!("{}{stray}{behind}", plain(2));
            let found = records(rows_below(b',', 3), file.as_bytes(), &[file.len() / 2]);
            let several = usize::from(behind.contains('"'));
            assert_eq!(found.len(), file.lines().count() - several, "{stray:?} {}", behind.len());
            assert_eq!(found[2], stray.as_bytes());
        }
    }
    // Two of them may look like one value of several lines, unless it has the delimiters of rows.
    let file = format!("\"a,1,x\n{}b\",2,x\n", plain(9));
    assert_eq!(records(rows_below(b',', 3), file.as_bytes(), &[]).len(), 11);
    let text = "1,\"Dear all,\n\nI am, as ever,\n\"\"yours\"\", a\",x\n";
    assert_eq!(records(rows_below(b',', 3), text.repeat(3).as_bytes(), &[]).len(), 3);
    let long = format!("1,\"{}\",x\n", "a line, of text\n".repeat(MOST_LINES_BYTES / 20));
    assert_eq!(records(rows_below(b',', 3), long.repeat(3).as_bytes(), &[long.len() / 2]).len(), 3);
}

#[test]
fn hostile_files_take_time_in_proportion_to_their_length() {
    let line = "x\",\"y\n";
    let file = line.repeat((8 << 20) / line.len());
    let found = records(rows_below(b',', 10_000_000), file.as_bytes(), &[]);
    assert!(found.len() > 8, "{}", found.len());
    let file = "\"a,b\n".to_owned() + &"c,d\n".repeat(1 << 20);
    assert_eq!(records(rows_below(b',', 2), file.as_bytes(), &[]).len(), (1 << 20) + 1);
    let file = "\"a,b\n".to_owned() + &"\"\"\n".repeat(1 << 20);
    assert!(records(rows_below(b',', 2), file.as_bytes(), &[]).len() > 1);
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
        ("a,,", b',', vec!["a", "column2", "column3"]),
        ("a\"\"b,c", b',', vec!["a\"\"b", "c"]),
        ("\"a,b", b',', vec!["\"a", "b"]),
        ("a,a,a_2,a b,a_b, a", b',', vec!["a", "a_2", "a_2_2", "a b", "a_b_2", " a"]),
    ] {
        let read = CsvHeader::parse(header.as_bytes(), &CsvDialect::default()).unwrap();
        assert_eq!(
            (read.delimiter().byte(), read.names()),
            (by, names.iter().map(|name| name.to_string()).collect::<Vec<_>>().as_slice()),
            "{header}"
        );
    }
    let given = CsvHeader::parse(b"a,b;c", &by(b';')).unwrap();
    assert_eq!(given.names(), ["a,b", "c"]);
    let default = CsvDialect::default();
    for header in ["", "\n", "\r\n", "\u{feff}"] {
        assert!(CsvHeader::parse(header.as_bytes(), &default).is_err(), "{header:?}");
    }
    let lone = CsvHeader::parse(b"a,b\r1,2\r3,4\r", &default);
    assert_eq!(lone, Err(RecordError::LoneReturns { at: 3 }));
    let renamed = CsvHeader::parse(b"a,,a", &default).unwrap();
    let renamed: Vec<_> = renamed.renamed().iter().map(|one| (one.number, one.to.as_str())).collect();
    assert_eq!(renamed, [(2, "column2"), (3, "a_2")]);
    let mut rows = CsvRows::new(&default);
    assert_eq!(rows.next_end(b"\xef\xbb\xbf\"a;\nb\";\"c\n\"\n1;2\n", false), Some(15));
}

#[test]
fn many_columns_of_one_name_get_different_names_quickly() {
    let header = "a,".repeat(200_000) + &",".repeat(1000) + &format!("{0},{0}1,{0}2", "x".repeat(300));
    let read = CsvHeader::parse(header.as_bytes(), &CsvDialect::default()).unwrap();
    let names: std::collections::BTreeSet<_> =
        read.names().iter().map(|name| crate::record::map_name(name)).collect();
    assert_eq!(names.len(), read.names().len());
}

#[test]
fn the_first_row_is_data_if_the_dialect_says_so() {
    let numbered = CsvDialect { names: CsvNames::Numbered, ..CsvDialect::default() };
    let header = CsvHeader::parse(b"x;1;2\n", &numbered).unwrap();
    assert!(header.is_row() && header.names() == ["column1", "column2", "column3"]);
    let given = CsvDialect { names: CsvNames::Given(vec!["n".into(), "n".into()]), ..by(b',') };
    let header = CsvHeader::parse(b"x,1\n", &given).unwrap();
    assert!(header.is_row() && header.names() == ["n", "n_2"]);
    let likely = CsvDialect { likely: Some(CsvDelimiter::TAB), ..CsvDialect::default() };
    for (row, byte) in [("a,b,c,d\t1", b'\t'), ("a,b", b',')] {
        assert_eq!(CsvHeader::parse(row.as_bytes(), &likely).unwrap().delimiter().byte(), byte);
    }
}

fn sniffed(files: &[&str], options: &CsvOptions) -> CsvDialect {
    let mut sniffer = CsvSniffer::new(options);
    files.iter().for_each(|file| sniffer.sample(file.as_bytes(), true));
    sniffer.dialect()
}

#[test]
fn samples_say_how_rows_are_written() {
    use CsvNames::{FirstRow, Numbered};
    let (comma, tab) = (Some(b','), Some(b'\t'));
    for (file, likely, names) in [
        ("name,size\na,1\nb,2\n", comma, FirstRow),
        ("a,1\nb,2\n", comma, Numbered),
        ("/x,y,z\t12\t2024-01-02\n/a\t1\t2023-01-01\n", tab, Numbered),
        ("x,red\ny,red\nz,blue\nw,red\n", comma, Numbered),
        ("x,red\ny,red\nz,blue\n", comma, FirstRow),
        ("id,name\n1,a\n2,name\n3,name\nx,b\n", comma, FirstRow),
        ("name,colour\ny,red\nz,blue\n", comma, FirstRow),
        ("name,colour\ny,red\nname,colour\nz,blue\n", comma, FirstRow),
        ("country,2019,2020\nfr,1,2\nde,3,4\n", comma, FirstRow),
        ("name,12\nfr,1\nde,3\n", comma, Numbered),
        ("n/a,3,4\n1,2,x\n2,3,y\n", comma, FirstRow),
        ("\"a, b\",1\n\"c\",2\n", None, Numbered),
        ("alone\n", None, FirstRow),
        ("", None, FirstRow),
    ] {
        let dialect = sniffed(&[file], &CsvOptions::default());
        assert_eq!((dialect.likely.map(CsvDelimiter::byte), dialect.names), (likely, names), "{file}");
    }
    let mut schema = crate::schema::Schema::new();
    schema.add(crate::schema::FieldEntry::new("12", crate::schema::FieldKind::Keyword)).unwrap();
    for (file, names) in [("x,12\na,1\nb,2\n", FirstRow), ("x,13\na,1\nb,2\n", Numbered)] {
        let mut sniffer = CsvSniffer::new(&CsvOptions::default());
        sniffer.expect(&crate::record::Sources::of(&schema));
        sniffer.sample(file.as_bytes(), true);
        assert_eq!(sniffer.dialect().names, names, "{file}");
    }
    // A file with a header among others without.
    let dialect = sniffed(&["a,1\nb,2\n", "name,size\nc,3\n"], &CsvOptions::default());
    assert_eq!(dialect.names, FirstRow);
}

#[test]
fn quotes_beside_tabs_are_ordinary_unless_a_sample_has_quoted_values() {
    for (file, quotes) in [
        ("a\tb\nx\ty\n", CsvQuotes::ExceptWithTabs),
        ("a\tb\n\"x\ty\nz\t12\" disk\n", CsvQuotes::ExceptWithTabs),
        ("a\tb\n\"x\"\ty\nx\t\"z\"\n", CsvQuotes::Always),
        ("a\tb\n\"x\"\ty\nx\t\"z\n", CsvQuotes::ExceptWithTabs),
    ] {
        let dialect = sniffed(&[file], &CsvOptions::default());
        assert_eq!(dialect.quotes, quotes, "{file}");
        let header = CsvHeader::parse(b"a\tb", &dialect).unwrap();
        assert_eq!(header.has_quotes(), quotes == CsvQuotes::Always);
        assert!(CsvHeader::parse(b"a,b", &dialect).unwrap().has_quotes());
        let options = CsvOptions { quotes: Some(CsvQuotes::Never), ..CsvOptions::default() };
        let dialect = sniffed(&[file], &options);
        assert!(dialect.quotes == CsvQuotes::Never && options.agree_with(&dialect));
        assert!(!CsvHeader::parse(b"a,b", &dialect).unwrap().has_quotes());
        assert_eq!(CsvRows::new(&dialect).next_end(b"\"a\nb\"", true), Some(3));
    }
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
fn a_long_row_is_scanned_once() {
    let mut rows = rows_below(b',', 1);
    let mut bytes = b"\"".to_vec();
    assert_eq!(rows.next_end(&bytes, false), None);
    for _ in 0..16 << 10 {
        bytes.resize(bytes.len() + (1 << 10), b'x');
        assert_eq!(rows.next_end(&bytes, false), None);
    }
    bytes.extend_from_slice(b"\"\n");
    assert_eq!(rows.next_end(&bytes, false), Some(bytes.len()));
    let long = [b"\"".as_slice(), &vec![b','; 64 << 20], b"\""].concat();
    let mut count = 0;
    assert_eq!(parse_row(&long, shape(b',', 1), &mut |_| count += 1), Ok(true));
    let many = vec![b','; 64 << 20];
    let error = parse_row(&many, shape(b',', 100_000), &mut |_| count += 1);
    assert_eq!((error, count), (Err(RecordError::TooMany { at: 100_000, names: 100_000 }), 100_001));
}
