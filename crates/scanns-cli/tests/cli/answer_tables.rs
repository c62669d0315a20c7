//! `scanns diff` and `scanns report` as Parquet: what is read back is what CSV has.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use scanns::schema::parse_date;

use crate::{Place, Ran, run, scanns};

/// A cell as text: numbers in digits, dates in nanoseconds, lists with spaces, nothing for a null.
type Cell = Vec<u8>;

/// The names of columns, and rows.
type Table = (Vec<String>, Vec<Vec<Cell>>);

fn cell(column: &dyn Array, row: usize) -> Cell {
    if column.is_null(row) {
        return Cell::new();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Binary => column.as_binary::<i32>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string().into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string().into(),
        DataType::Timestamp(..) => {
            column.as_primitive::<TimestampNanosecondType>().value(row).to_string().into()
        }
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<Cell> = (0..items.len()).map(|item| cell(&items, item)).collect();
            items.join(&b' ')
        }
        other => panic!("a column of {other}"),
    }
}

fn parquet(path: &Path) -> Table {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let rows = |batch: &RecordBatch| -> Vec<Vec<Cell>> {
        (0..batch.num_rows())
            .map(|row| batch.columns().iter().map(|column| cell(column, row)).collect())
            .collect()
    };
    (names, batches.iter().flat_map(rows).collect())
}

/// The rows of CSV, with dates as numbers.
fn csv(text: &[u8]) -> Table {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), Cell::new(), false);
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if quoted && bytes.peek() == Some(&b'"') => cell.extend(bytes.next()),
            b'"' => quoted = !quoted,
            b',' if !quoted => row.push(std::mem::take(&mut cell)),
            b'\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            byte => cell.push(byte),
        }
    }
    let names: Vec<String> =
        rows.remove(0).into_iter().map(|name| String::from_utf8(name).unwrap()).collect();
    for (name, cell) in rows.iter_mut().flat_map(|row| names.iter().zip(row)) {
        if name.ends_with("mtime") && !cell.is_empty() {
            *cell = parse_date(cell).unwrap().to_string().into();
        }
    }
    (names, rows)
}

/// Requires that a table has what CSV has, and the bytes of texts that are not valid UTF-8 in columns of
/// their own. Returns the number of such texts.
fn must_agree(found: &Table, expected: &Table) -> usize {
    let columns = expected.0.len();
    assert_eq!(found.0[..columns], expected.0[..]);
    assert_eq!(found.1.len(), expected.1.len());
    let mut replaced = 0;
    for (found_row, row) in found.1.iter().zip(&expected.1) {
        for (at, name) in expected.0.iter().enumerate() {
            let raw = found.0.iter().position(|known| *known == format!("{name}_bytes"));
            let raw = raw.map(|raw| &found_row[raw]).filter(|raw| !raw.is_empty());
            assert_eq!(raw.unwrap_or(&found_row[at]), &row[at], "{name} of {row:?}");
            assert_eq!(String::from_utf8_lossy(&row[at]).as_bytes(), found_row[at]);
            replaced += usize::from(raw.is_some());
        }
    }
    replaced
}

/// A tree before and after changes, as indexes; its names have invalid UTF-8, commas and quotes.
struct Changed {
    place: Place,
    old: PathBuf,
    new: PathBuf,
}

impl Changed {
    fn new() -> Self {
        let place = Place::new();
        let name = |name: &[u8]| OsStr::from_bytes(name).to_os_string();
        for (path, text) in
            [(&b"a/b/one"[..], "1"), (b"a/\xfftwo", "22"), (b"c/\"x\", \n", "333"), (b"d", "4")]
        {
            place.write(name(path), text.as_bytes());
        }
        for number in 0..300 {
            place.write(format!("many/{number}"), b"");
        }
        let at = |name: &str| place.index().with_file_name(name);
        let (old, new) = (at("old.scanns"), at("new.scanns"));
        let index = |path: &Path| {
            let built = run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(path).arg(place.files()));
            assert_eq!(built.code, Some(0), "{}", built.stderr);
        };
        index(&old);
        fs::rename(place.files().join("a"), place.files().join(name(b"z\xfe"))).unwrap();
        fs::rename(place.files().join("d"), place.files().join("e")).unwrap();
        place.write(name(b"z\xfe/\xfftwo"), b"longer");
        fs::remove_file(place.files().join("c/\"x\", \n")).unwrap();
        fs::remove_dir_all(place.files().join("many")).unwrap();
        place.write("new,", b"55555");
        index(&new);
        Changed { place, old, new }
    }

    fn out(&self, name: &str) -> PathBuf {
        self.place.index().with_file_name(name)
    }

    fn diff(&self, more: &[&str], out: Option<&str>) -> Ran {
        let mut command = scanns(&["diff"]);
        command.args(more).arg(&self.old).arg(&self.new);
        if let Some(out) = out {
            command.arg("-o").arg(self.out(out));
        }
        run(&mut command)
    }
}

#[test]
fn differences_as_parquet_are_the_rows_of_csv() {
    let changed = Changed::new();
    for more in [&[][..], &["--only", "removed"], &["--ignore", "mtime,ctime,inode"], &["--only", "unseen"]] {
        let expected = changed.diff(&[more, &["--format", "csv"]].concat(), None);
        let ran = changed.diff(more, Some("a.parquet"));
        assert_eq!((ran.code, ran.text()), (expected.code, ""), "{}", ran.stderr);
        let (found, expected) = (parquet(&changed.out("a.parquet")), csv(&expected.stdout));
        let replaced = must_agree(&found, &expected);
        assert_eq!(replaced > 0, more.is_empty() || more[0] == "--ignore", "{more:?}");
    }
    let (_, rows) = parquet(&changed.out("a.parquet"));
    assert!(rows.is_empty(), "nothing is unseen");
    let piped = changed.diff(&["--format", "parquet"], None);
    fs::write(changed.out("b.parquet"), &piped.stdout).unwrap();
    let ran = changed.diff(&[], Some("a.parquet"));
    assert!(ran.stderr.contains("1 added, 302 removed, 2 moved"), "{}", ran.stderr);
    let (names, rows) = parquet(&changed.out("a.parquet"));
    assert_eq!(
        (&names, &rows),
        (&parquet(&changed.out("b.parquet")).0, &parquet(&changed.out("b.parquet")).1)
    );
    let at = |name: &str| names.iter().position(|known| known == name).unwrap();
    let row = rows.iter().find(|row| row[at("kind")] == b"changed" && row[at("size")] == b"6").unwrap();
    assert!(
        row[at("path_bytes")].ends_with(b"/z\xfe/\xfftwo")
            && row[at("path")].ends_with("/z�/�two".as_bytes())
    );
    assert!(row[at("fields")].starts_with(b"size"), "{row:?}");
    assert_eq!((&row[at("old_size")][..], &row[at("type")][..]), (&b"2"[..], &b"file"[..]));
}

#[test]
fn sums_of_differences_as_parquet_are_the_rows_of_csv() {
    let changed = Changed::new();
    let expected = changed.diff(&["--summary", "--format", "csv"], None);
    let ran = changed.diff(&["--summary"], Some("sums.parquet"));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(must_agree(&parquet(&changed.out("sums.parquet")), &csv(&expected.stdout)) > 0);
}

#[test]
fn the_name_of_the_file_says_the_format_and_a_failure_leaves_nothing() {
    let changed = Changed::new();
    for (name, format) in [("a.csv", "csv"), ("a.jsonl", "json"), ("a.txt", "lines"), ("a", "lines")] {
        let expected = changed.diff(&["--format", format], None);
        let ran = changed.diff(&[], Some(name));
        assert_eq!((ran.code, ran.text()), (Some(1), ""), "{}", ran.stderr);
        assert_eq!(fs::read(changed.out(name)).unwrap(), expected.stdout, "{name}");
    }
    fs::write(changed.out("kept.parquet"), "kept").unwrap();
    let cut = changed.out("none.scanns");
    let ran = run(scanns(&["diff", "-o"]).arg(changed.out("kept.parquet")).arg(&changed.old).arg(cut));
    assert_eq!(
        (ran.code, fs::read(changed.out("kept.parquet")).unwrap().as_slice()),
        (Some(2), &b"kept"[..])
    );
    let ran = changed.diff(&[], Some("none/a.parquet"));
    assert!(ran.code == Some(2) && ran.stderr.contains("cannot write"), "{}", ran.stderr);
    let ran = changed.diff(&[], Some("a.xls"));
    let known = "a.xls: the name does not say the format: let it end in .csv, .jsonl, .parquet or .txt";
    assert!(ran.code == Some(2) && ran.stderr.contains(known), "{}", ran.stderr);
    let parts = fs::read_dir(changed.place.index().parent().unwrap()).unwrap();
    assert!(!parts.into_iter().any(|entry| entry.unwrap().path().extension() == Some(OsStr::new("part"))));
}

#[test]
fn a_report_as_parquet_has_the_rows_of_csv() {
    let changed = Changed::new();
    let report =
        |more: &[&str]| run(scanns(&["report"]).arg(&changed.new).args(["--now", "2030-01-01"]).args(more));
    let expected = report(&["--format", "csv"]);
    let out = changed.out("report.parquet");
    let ran = report(&["-o", out.to_str().unwrap()]);
    assert_eq!((ran.code, expected.code), (Some(0), Some(0)), "{}", ran.stderr);
    let (found, expected) = (parquet(&out), csv(&expected.stdout));
    assert!(must_agree(&found, &expected) > 0);
    assert_eq!(found.0[7..], ["name_bytes", "class_bytes"]);
    let piped = report(&["--format", "parquet"]);
    assert_eq!(piped.stdout, fs::read(&out).unwrap());
}
