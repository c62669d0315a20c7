//! Tests of whole tables: written by other code, damaged, and compared with values read by another tool.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::{RowsError, RowsWritten, write_rows};

pub(super) fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// The lines of a table, and what came of it.
fn lines_of(bytes: &[u8]) -> (String, Result<RowsWritten, RowsError>) {
    let mut out = Vec::new();
    let result = write_rows(file_of(bytes), &mut out);
    (String::from_utf8(out).unwrap(), result)
}

/// Rows with numbers, texts, nulls, lists, dictionaries, nested columns, and values that JSON lacks.
pub(super) fn batch(rows: usize) -> RecordBatch {
    let ids = Int64Array::from_iter_values(0..i64::try_from(rows).unwrap());
    let texts: StringArray =
        (0..rows).map(|row| (row % 3 != 0).then(|| format!("row {row} says \"hi\"\n"))).collect();
    let floats: Float64Array =
        (0..rows).map(|row| Some(if row % 5 == 4 { f64::NAN } else { row as f64 / 4.0 })).collect();
    let bytes = BinaryArray::from_iter_values((0..rows).map(|row| if row % 4 == 3 { b"\xff" } else { b"b" }));
    let mut lists = ListBuilder::new(Int64Builder::new());
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    for row in 0..rows {
        lists.append_value((0..row % 4).map(|at| (at != 1).then_some(i64::try_from(at).unwrap())));
        words.append_value(["red", "green", "blue"][row % 3]);
    }
    let prices =
        Decimal128Array::from_iter_values((0..rows).map(|row| i128::try_from(row).unwrap() * 25 - 50))
            .with_precision_and_scale(20, 2)
            .unwrap();
    let times = TimestampMicrosecondArray::from_iter_values(
        (0..rows).map(|row| 1_700_000_000_000_000 + i64::try_from(row).unwrap() * 500_000),
    )
    .with_timezone("Europe/Berlin");
    let place = StructArray::from(vec![(
        Arc::new(Field::new("x.y", DataType::Float64, true)),
        Arc::new(floats.clone()) as ArrayRef,
    )]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(ids)),
        ("a \"text\"", Arc::new(texts)),
        ("bytes", Arc::new(bytes)),
        ("list", Arc::new(lists.finish())),
        ("word", Arc::new(words.finish())),
        ("price", Arc::new(prices)),
        ("time", Arc::new(times)),
        ("place", Arc::new(place)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

pub(super) fn parquet_of(batch: &RecordBatch, compression: Compression, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(group))
        .set_data_page_row_count_limit(7)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub(super) fn arrow_of(batch: &RecordBatch, is_stream: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    if is_stream {
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        for start in (0..batch.num_rows()).step_by(10) {
            writer.write(&batch.slice(start, 10.min(batch.num_rows() - start))).unwrap();
        }
        writer.finish().unwrap();
    }
    bytes
}

#[test]
fn rows_have_the_forms_that_the_documentation_says() {
    let (lines, result) = lines_of(&parquet_of(&batch(5), Compression::SNAPPY, 2));
    let written = result.unwrap();
    assert_eq!((written.rows, written.not_finite, written.not_text), (5, 1, 1));
    assert_eq!(written.bytes, lines.len() as u64);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines[1],
        concat!(
            r#"{"id":1,"a \"text\"":"row 1 says \"hi\"\n","bytes":"b","list":[0],"word":"green""#,
            r#","price":-0.25,"time":"2023-11-14T22:13:20.500Z","place":{"x.y":0.25}}"#
        )
    );
    assert_eq!(
        lines[3],
        concat!(
            r#"{"id":3,"list":[0,null,2],"word":"red""#,
            r#","price":0.25,"time":"2023-11-14T22:13:21.500Z","place":{"x.y":0.75}}"#
        )
    );
    assert_eq!(
        lines[4],
        concat!(
            r#"{"id":4,"a \"text\"":"row 4 says \"hi\"\n","bytes":"b","list":[],"word":"green""#,
            r#","price":0.50,"time":"2023-11-14T22:13:22Z","place":{}}"#
        )
    );
}

#[test]
fn all_containers_of_a_table_have_the_same_lines() {
    let batch = batch(100);
    let expected = lines_of(&parquet_of(&batch, Compression::UNCOMPRESSED, 1000)).0;
    assert_eq!(expected.lines().count(), 100);
    let zstd = Compression::ZSTD(Default::default());
    let gzip = Compression::GZIP(Default::default());
    for (compression, group) in
        [(zstd, 1), (gzip, 33), (Compression::LZ4_RAW, 99), (Compression::SNAPPY, 100)]
    {
        assert_eq!(lines_of(&parquet_of(&batch, compression, group)).0, expected);
    }
    assert_eq!(lines_of(&arrow_of(&batch, false)).0, expected);
    assert_eq!(lines_of(&arrow_of(&batch, true)).0, expected);
}

#[test]
fn rows_before_damage_are_written() {
    let bytes = arrow_of(&batch(100), false);
    let whole = lines_of(&bytes).0;
    let (lines, result) = lines_of(&bytes[..bytes.len() / 2]);
    assert!(whole.starts_with(&lines) && lines.lines().count() >= 10, "{result:?} {lines}");
    assert!(matches!(result, Err(RowsError::Damaged { rows, .. }) if rows == lines.lines().count() as u64));
    let parquet = parquet_of(&batch(100), Compression::UNCOMPRESSED, 10);
    let mut broken = parquet.clone();
    let start = parquet.len() / 8;
    broken[start..start + 600].fill(0xee);
    let (lines, result) = lines_of(&broken);
    assert!(!lines.is_empty() && lines.len() < whole.len(), "{result:?}");
    assert!(result.is_err());
}

#[test]
fn what_is_no_table_is_refused() {
    assert!(matches!(lines_of(b"").1, Err(RowsError::NotATable)));
    assert!(matches!(lines_of(b"{\"a\":1}\n").1, Err(RowsError::NotATable)));
    assert!(matches!(lines_of(b"PAR1PAR1PAR1").1, Err(RowsError::Damaged { rows: 0, .. })));
    assert!(matches!(lines_of(b"PARE0000\x01\0\0\0PARE").1, Err(RowsError::Encrypted)));
    let empty = RecordBatch::new_empty(Arc::new(Schema::new(vec![Field::new("a", DataType::Int8, true)])));
    let (lines, result) = lines_of(&parquet_of(&empty, Compression::SNAPPY, 10));
    assert_eq!((lines.as_str(), result.unwrap()), ("", RowsWritten::default()));
}

#[test]
fn one_long_value_in_all_rows_takes_little_memory() {
    // 8,192 copies of a value of 1 MiB would not fit into the offsets of an array of texts.
    let long = "x".repeat(1 << 20);
    let text: StringArray = (0..1).map(|_| Some(long.as_str())).collect();
    let keys = arrow_array::Int32Array::from_iter_values((0..3000).map(|_| 0));
    let array = arrow_array::DictionaryArray::new(keys, Arc::new(text) as ArrayRef);
    let batch = RecordBatch::try_from_iter([("a", Arc::new(array) as ArrayRef)]).unwrap();
    let bytes = parquet_of(&batch, Compression::ZSTD(Default::default()), 10_000);
    let written = write_rows(file_of(&bytes), &mut io::sink()).unwrap();
    assert_eq!((written.rows, written.bytes), (3000, 3000 * ((1 << 20) + 9)));
}

#[test]
fn the_values_are_those_of_pyarrow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (python, program) = (root.join("venv/bin/python"), root.join("target/debug/rows-child"));
    if !python.exists() || !program.exists() {
        println!("SKIPPED: pyarrow is absent");
        return;
    }
    let seed = fastrand::u32(..).to_string();
    let script = root.join("oracle/tables.py");
    let run = Command::new(python).arg(script).arg(program).args(["10", &seed]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
