//! Arrow and Parquet files are read back, and text is compared.

use std::fs::File;
use std::io::Cursor;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use scanns::schema::Value;

use super::{Row, as_bytes, fields, rows};

fn parquet(file: File) -> Vec<RecordBatch> {
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(Result::unwrap).collect()
}

fn arrow(file: File) -> Vec<RecordBatch> {
    FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect()
}

/// The columns, including the key, that contain invalid UTF-8.
fn binary(rows: &[Row]) -> Vec<usize> {
    let is_binary = |value: &Value| matches!(value, Value::Text(text) if std::str::from_utf8(text).is_err());
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).filter(|&column| rows.iter().any(|row| row[column].iter().any(is_binary))).collect()
}

#[test]
fn what_is_read_back_is_what_the_library_says() {
    let fields = fields(4_000, 0x5eed_0650);
    for query in ["*", "a", "none", "date:*"] {
        let expected = fields.expected(query);
        let binary = binary(&expected);
        assert_eq!(
            binary.len(),
            if query == "none" {
                0
            } else if query == "a" {
                4
            } else {
                binary.len()
            }
        );
        let expected = as_bytes(&expected, &binary);
        for compression in ["none", "lz4", "zstd", "snappy"] {
            if compression != "snappy" {
                fields.exported("a.arrow", &[query, "--compression", compression]);
                assert_eq!(rows(&arrow(File::open(fields.out("a.arrow")).unwrap())), expected, "{query}");
                let ran = fields.export(&[query, "--format", "arrow", "--compression", compression]);
                let stream = StreamReader::try_new(Cursor::new(ran.stdout), None).unwrap();
                assert_eq!(rows(&stream.map(Result::unwrap).collect::<Vec<_>>()), expected, "{query}");
            }
            fields.exported("a.parquet", &[query, "--compression", compression]);
            let found = parquet(File::open(fields.out("a.parquet")).unwrap());
            assert_eq!(rows(&found), expected, "{query}");
        }
        let ran = fields.export(&[query, "--format", "parquet"]);
        std::fs::write(fields.out("b.parquet"), ran.stdout).unwrap();
        assert_eq!(rows(&parquet(File::open(fields.out("b.parquet")).unwrap())), expected, "{query}");
    }
    assert!(!fields.out("a.parquet.part").exists());
}

#[test]
fn columns_have_the_types_of_their_fields_and_stay_where_they_were_put() {
    let fields = fields(1_200, 0x5eed_0651);
    fields.exported("a.parquet", &["none", "--fields", "dates,keyword,_key,unsigned,keyword"]);
    let file = File::open(fields.out("a.parquet")).unwrap();
    let schema = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().clone();
    let found: Vec<_> =
        schema.fields().iter().map(|field| (field.name().as_str(), field.is_nullable())).collect();
    let expected =
        [("dates", true), ("keyword", true), ("_key", false), ("unsigned", true), ("keyword", true)];
    assert_eq!(found, expected);
    assert!(matches!(schema.field(0).data_type(), DataType::List(item) if !item.is_nullable()));
    assert_eq!(schema.field(1).data_type(), &DataType::Utf8);
    assert_eq!(schema.field(3).data_type(), &DataType::UInt64);
}

#[test]
fn lines_of_json_and_cells_have_the_values_of_the_library() {
    let fields = fields(3_000, 0x5eed_0652);
    let names: Vec<&str> = fields.names.iter().map(String::as_str).collect();
    let expected = fields.expected("a");
    let json = fields.exported("a.jsonl", &["a"]);
    let lines: Vec<serde_json::Value> =
        String::from_utf8(json).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), expected.len());
    for (line, row) in lines.iter().zip(&expected) {
        for (name, values) in std::iter::once("_key").chain(names.iter().copied()).zip(row) {
            let found: Vec<_> = match &line[name] {
                serde_json::Value::Array(all) => all.iter().collect(),
                serde_json::Value::Null if values.is_empty() => vec![],
                only => vec![only],
            };
            assert_eq!(found.len(), values.len(), "{name}");
            for (found, value) in found.into_iter().zip(values) {
                match value {
                    Value::Text(text) => assert_eq!(found, &String::from_utf8_lossy(text)[..]),
                    Value::Unsigned(number) => assert_eq!(found.as_u64(), Some(*number)),
                    Value::Signed(number) => assert_eq!(found.as_i64(), Some(*number)),
                    Value::Float(number) if number.is_finite() => {
                        // Parsing it here rounds once more.
                        let error = (found.as_f64().unwrap() - number).abs();
                        assert!(error <= number.abs() * 1e-15, "{found} {number}");
                    }
                    Value::Float(_) => assert!(found.is_null()),
                    Value::Boolean(flag) => assert_eq!(found.as_bool(), Some(*flag)),
                    Value::Date(moment) => assert_eq!(found, &scanns::schema::format_date(*moment)[..]),
                    Value::Bytes(bytes) => assert_eq!(found.as_str().map(str::len), Some(2 * bytes.len())),
                }
            }
        }
    }
    let cells = fields.exported("a.csv", &["a", "--fields", "_key,unsigned,truth"]);
    let show = |values: &Vec<Value>| match values.first() {
        Some(Value::Unsigned(number)) => number.to_string(),
        Some(Value::Boolean(flag)) => flag.to_string(),
        Some(Value::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    let line = |row: &Row| format!("{},{},{}\n", show(&row[0]), show(&row[1]), show(&row[4]));
    let expected: String =
        std::iter::once("_key,unsigned,truth\n".into()).chain(expected.iter().map(line)).collect();
    assert_eq!(String::from_utf8_lossy(&cells), expected);
}

#[test]
fn what_does_not_fit_together_is_refused_with_what_does() {
    let fields = fields(10, 0x5eed_0653);
    for (more, hint) in [
        (&["--compression", "zstd"][..], "text is not compressed"),
        (&["--format", "arrow", "--compression", "snappy"], "lz4, zstd and none"),
        (&["--fields", "colour"], "no field 'colour'"),
        (&["--fields", "text"], "such fields are: unsigned"),
        (&["-o", "/nowhere/at/all.csv"], "cannot write /nowhere/at/all.csv.part"),
    ] {
        let ran = fields.export(more);
        assert_eq!(ran.code, Some(2), "{more:?}");
        assert!(ran.stderr.contains(hint), "{more:?}: {}", ran.stderr);
    }
}

#[test]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt;
    let fields = fields(2_000, 0x5eed_0654);
    let pipe = fields.out("pipe");
    std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    let ran = fields.export(&["--fields", "_key,unsigned", "-o", pipe.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(reader.join().unwrap() == fields.exported("a.csv", &["--fields", "_key,unsigned"]));
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo() && !fields.out("pipe.part").exists());
}
