//! Records of JSON and CSV in `scanns index`: their fields, and the report about skipped records and values.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use scanns::index::{
    DoubleRecord, FieldConflict, IndexOptions, MalformedRecord, NotedRecords, RecordReport, RowRemark,
};
use scanns::schema::{Records, ValueFormat};
use scanns::sources::{
    CsvDelimiter, CsvNames, CsvOptions, CsvQuotes, FieldOptions, Inferred, OwnerFiles, RecordNote,
    RenamedColumn,
};
use serde_json::{Map, Value, json};

use crate::args::FieldArgs;
use crate::output::{Output, write_whole};
use crate::quoting::quoted;
use crate::report::{self, Outcome};
use crate::schema_file;
use crate::units;

/// The maximum number of listed names that are not in the schema.
const NAMES_SHOWN: usize = 5;

/// The maximum number of malformed records that are listed.
const PLACES_SHOWN: usize = 3;

/// The requested fields. `as_tsv` asks for tabs between values.
pub fn fields(args: &FieldArgs, as_tsv: bool, records: Records) -> Result<FieldOptions> {
    let given = [
        ("--schema", args.schema.is_some()),
        ("--infer-schema", args.infer_schema.is_some()),
        ("--key", args.key.is_some()),
    ];
    for (option, given) in given {
        let fits = records.have_fields() || !given;
        ensure!(
            fits,
            "{option} is for records with fields: also give --records jsonl, csv or another format"
        );
    }
    let of_csv = [
        ("--csv-delimiter", args.csv_delimiter.is_some()),
        ("--csv-quote", args.csv_quote.is_some()),
        ("--csv-header", args.csv_header.is_some()),
    ];
    for (option, given) in of_csv {
        let fits = records == Records::Csv || !given;
        ensure!(fits, "{option} is for rows of CSV: also give --records csv");
    }
    let of_owners =
        [("--passwd", args.passwd.is_some()), ("--group", args.group.is_some()), ("--access", args.access)];
    for (option, given) in of_owners {
        let fits = records == Records::File || !given;
        ensure!(fits, "{option} is for the owners of files: leave --records out");
    }
    let tab = as_tsv.then_some(CsvDelimiter::TAB);
    ensure!(
        tab.is_none() || args.csv_delimiter.is_none_or(|delimiter| Some(delimiter) == tab),
        "--records tsv has tabs between values: leave --csv-delimiter out, or give --records csv"
    );
    let csv = CsvOptions {
        delimiter: args.csv_delimiter.or(tab),
        quotes: args.csv_quote.map(CsvQuotes::from),
        names: args.csv_header.clone(),
    };
    let schema = args.schema.as_deref().map(schema_file::read).transpose()?;
    let metadata = args.no_metadata.then_some(false);
    let owners = OwnerFiles { passwd: args.passwd.clone(), group: args.group.clone() };
    Ok(FieldOptions { schema, key: args.key.clone(), metadata, access: args.access, owners, csv })
}

/// Writes the schema that is inferred from a sample.
pub fn infer(options: &IndexOptions, to: &Path) -> Result<Outcome> {
    let inferred = scanns::sources::infer_fields(options, &AtomicBool::new(false))?;
    let text = schema_file::inferred_text(&inferred);
    write_whole(to, text.as_bytes())
        .with_context(|| format!("cannot write the schema {}", report::path_text(to)))?;
    Ok(Outcome::Done)
}

/// Prints what a build reports about records, for its summary.
pub fn print(out: &mut Output, records: &RecordReport) -> Result<()> {
    if let Some(inferred) = &records.inferred {
        print_inferred(out, inferred)?;
    }
    print_rows(out, records)?;
    print_notes(out, records)?;
    if records.blank > 0 {
        writeln!(out, "blank: {} skipped", units::counted(records.blank, "record"))?;
    }
    print_keys(out, records)?;
    if let Some((_, values)) = unknown(records) {
        let shown = records.unknown.iter().take(NAMES_SHOWN);
        let names: Vec<_> = shown.map(|(name, _)| quoted(name.as_bytes())).collect();
        let more = if records.unknown.len() > NAMES_SHOWN || records.unknown_rest > 0 { ", …" } else { "" };
        let values = units::counted(values, "value");
        writeln!(out, "not in the schema: {values} skipped, of {}{more}", names.join(", "))?;
    }
    Ok(())
}

/// Prints how rows of CSV were read, where that is not what everyone expects.
fn print_rows(out: &mut Output, records: &RecordReport) -> Result<()> {
    if let Some(dialect) = &records.csv {
        if dialect.names == CsvNames::Numbered {
            writeln!(
                out,
                "the first row is data, columns are column1, column2, … (--csv-header yes: it has names)"
            )?;
        }
        let has_tabs = dialect.delimiter.or(dialect.likely) == Some(CsvDelimiter::TAB);
        if has_tabs && dialect.quotes == CsvQuotes::ExceptWithTabs {
            writeln!(
                out,
                "quotes are ordinary characters beside tabs (--csv-quote double: they enclose values)"
            )?;
        }
    }
    for RenamedColumn { number, from, to } in &records.renamed {
        let from = quoted(from.as_bytes());
        let to = quoted(to.as_bytes());
        writeln!(out, "column {number} is called {to}: its name \"{from}\" is empty or taken")?;
    }
    let remarks = [
        ("repaired", &records.repaired, "with a stray quote, read as an ordinary character"),
        ("short", &records.short, "with fewer values than columns"),
        ("several lines", &records.several, "with line feeds in quotes"),
    ];
    for (name, remark, what) in remarks {
        let Some(first) = remark.examples.first() else { continue };
        let (rows, place) = (units::counted(remark.count, "row"), report::path_text(&first.path));
        let text = quoted(first.text.trim_end().as_bytes());
        writeln!(out, "{name}: {rows} {what}, the first is {place}:{}: {text}", first.line)?;
    }
    Ok(())
}

/// Prints what was left out of the records of collections, or is unusual about them.
fn print_notes(out: &mut Output, records: &RecordReport) -> Result<()> {
    for NotedRecords { note, count, path, record } in &records.notes {
        let (what, how) = match note {
            RecordNote::LeftOut(what) => ("left out", *what),
            RecordNote::Remark(how) => ("remark", *how),
        };
        let (records, place) = (units::counted(*count, "record"), report::path_text(path));
        writeln!(out, "{what}: {records} ({how}), the first is {place}:{record}")?;
    }
    Ok(())
}

/// The remarks about records of collections, for programs.
fn notes_json(records: &RecordReport) -> Value {
    let one = |noted: &NotedRecords| {
        let (key, what) = match noted.note {
            RecordNote::LeftOut(what) => ("left_out", what),
            RecordNote::Remark(how) => ("remark", how),
        };
        let mut object = Map::new();
        object.insert(key.into(), what.into());
        object.insert("records".into(), noted.count.into());
        report::put_bytes(&mut object, "path", noted.path.as_os_str().as_encoded_bytes());
        object.insert("record".into(), noted.record.into());
        Value::from(object)
    };
    records.notes.iter().map(one).collect()
}

/// The number of names that are not in the schema, and of their values.
fn unknown(records: &RecordReport) -> Option<(usize, u64)> {
    let values = records.unknown.iter().map(|(_, count)| count).sum::<u64>() + records.unknown_rest;
    (values > 0).then_some((records.unknown.len(), values))
}

/// Prints how many records have the key of another one.
pub fn print_doubles(out: &mut Output, doubles: u64, first: Option<&DoubleRecord>) -> Result<()> {
    let Some(DoubleRecord { key, path, line, kept_path, kept_line }) = first else { return Ok(()) };
    writeln!(
        out,
        "double keys: {} left out, because a later one has the same key; the first is {}:{line}, and \
         {}:{kept_line} has its key \"{}\" too",
        units::counted(doubles, "record"),
        report::path_text(path),
        report::path_text(kept_path),
        quoted(key),
    )?;
    Ok(())
}

/// Prints how many records have the key of another one, or none.
fn print_keys(out: &mut Output, records: &RecordReport) -> Result<()> {
    if records.restored > 0 {
        let files = units::counted(records.restored, "unchanged file");
        writeln!(out, "read again: {files}, of which other files had the same keys before")?;
    }
    print_doubles(out, records.doubles, records.double.as_ref())?;
    if let Some((path, line)) = &records.first_without_key {
        let count = units::counted(records.without_key, "record");
        writeln!(
            out,
            "without a key: {count}, named by file and number; the first is {}:{line}",
            report::path_text(path)
        )?;
    }
    Ok(())
}

/// Prints the fields that were inferred from a sample.
fn print_inferred(out: &mut Output, inferred: &Inferred) -> Result<()> {
    let Inferred { schema, sources, figures, left_out, counts } = inferred;
    let width = schema.fields().map(|(_, entry)| entry.name.chars().count()).max().unwrap_or(0).max(5);
    let records = units::counted(counts.documents(), "record");
    writeln!(out, "fields inferred from a sample of {records} (--infer-schema writes a file to edit):")?;
    writeln!(out, "  {:width$}  {:8}  {:21}  {:>9}  different", "field", "type", "uses", "values")?;
    for ((field, entry), figures) in schema.fields().zip(figures) {
        let is_key = sources.key() == Some(field);
        let uses = [
            (is_key, "key"),
            (entry.searched, "searched"),
            (entry.column, "column"),
            (entry.stored, "stored"),
        ];
        let uses: Vec<_> = uses.iter().filter(|(holds, _)| *holds).map(|(_, name)| *name).collect();
        let (values, distinct) = (units::count(figures.values), units::count(figures.distinct));
        let (name, kind, uses) = (&entry.name, entry.kind.name(), uses.join(", "));
        let format = match sources.format(field) {
            ValueFormat::Auto => String::new(),
            format => format!("  {format}"),
        };
        writeln!(out, "  {name:width$}  {kind:8}  {uses:21}  {values:>9}  {distinct:>9}{format}")?;
    }
    if !left_out.is_empty() {
        let shown: Vec<_> =
            left_out.iter().take(NAMES_SHOWN).map(|(name, _)| quoted(name.as_bytes())).collect();
        let more = if left_out.len() > NAMES_SHOWN { ", …" } else { "" };
        writeln!(out, "  no field for {}{more}", shown.join(", "))?;
    }
    Ok(())
}

/// Warns about fields with values that do not fit.
pub fn list_conflicts(records: &RecordReport) {
    for conflict in &records.conflicts {
        let FieldConflict { field, count, values, example, path, line, .. } = conflict;
        let example = quoted(example.as_bytes());
        let share = if conflict.is_serious() { share(*count, *values) } else { String::new() };
        let place = if *line > 0 { format!(":{line}") } else { String::new() };
        let (fit, are) = if *count == 1 { ("does", "was") } else { ("do", "were") };
        report::note(&format!(
            "field {field}: {} of {}{share} {fit} not fit its type and {are} left out; the first is \
             \"{example}\" at {}{place}; {}",
            units::count(*count),
            units::counted(*values, "value"),
            report::path_text(path),
            advice(conflict),
        ));
    }
}

/// Warns about names that the sample did not have, from which the fields of the index were inferred.
pub fn list_unforeseen(records: &RecordReport) {
    if records.unforeseen.is_empty() {
        return;
    }
    let shown = records.unforeseen.iter().take(NAMES_SHOWN);
    let shown = shown.map(|(name, count)| {
        format!("\"{}\" ({})", quoted(name.as_bytes()), units::counted(*count, "value"))
    });
    let more = if records.unforeseen.len() > NAMES_SHOWN { ", …" } else { "" };
    report::note(&format!(
        "no field for {}{more}: the sample that the fields of the index were inferred from did not have {}, \
         so these values are not indexed; add fields to a schema file (--infer-schema), and build a new \
         index with it",
        shown.collect::<Vec<_>>().join(", "),
        if records.unforeseen.len() == 1 { "this name" } else { "these names" },
    ));
}

/// A part of a number in percent, in parentheses.
fn share(part: u64, of: u64) -> String {
    format!(" ({:.0} %)", (part as f64 / of.max(1) as f64 * 100.0).max(1.0))
}

/// What to write into a schema file for the values of a field.
fn advice(conflict: &FieldConflict) -> String {
    match &conflict.hint {
        Some(hint) => {
            format!("write {hint} for this field into a schema file (--infer-schema) and index again")
        }
        None if conflict.line == 0 => "the rest of their files is indexed".into(),
        None if conflict.is_serious() => {
            "write type = \"keyword\" for this field into a schema file (--infer-schema) and index again"
                .into()
        }
        None => "the rest of their records is indexed".into(),
    }
}

/// True if more than one percent of the values of some field do not fit.
pub fn has_serious_conflicts(records: &RecordReport) -> bool {
    records.conflicts.iter().any(FieldConflict::is_serious)
}

/// Lists the first malformed records, and says how much was lost.
pub fn list_malformed(records: &RecordReport) {
    if records.malformed == 0 {
        return;
    }
    for MalformedRecord { path, line, reason, text, .. } in records.examples.iter().take(PLACES_SHOWN) {
        let text = quoted(text.trim_end().as_bytes());
        report::note(&format!("{}:{line}: {reason}: {text}", report::path_text(path)));
    }
    let all = units::counted(records.malformed, "record");
    let is = if records.malformed == 1 { "is" } else { "are" };
    let (lines, bytes) =
        (units::counted(records.malformed_lines, "line"), units::size(records.malformed_bytes));
    let more = if records.malformed > PLACES_SHOWN as u64 { " (--json lists more)" } else { "" };
    report::note(&format!("{all} {is} malformed, {lines} or {bytes} lost; the rest is indexed{more}"));
}

/// The report about records for programs.
pub fn as_json(records: &RecordReport) -> Value {
    let renamed = records
        .renamed
        .iter()
        .map(|column| json!({"column": column.number, "name": column.from, "field": column.to}));
    let conflicts = records.conflicts.iter().map(conflict_json);
    let unknown = records.unknown.iter().map(|(name, count)| json!({"name": name, "values": count}));
    json!({
        "blank": records.blank,
        "doubles": records.doubles,
        "double": records.double.as_ref().map(double_json),
        "restored": records.restored,
        "without_key": records.without_key,
        "malformed": records.malformed,
        "malformed_lines": records.malformed_lines,
        "malformed_bytes": records.malformed_bytes,
        "bytes": records.bytes,
        "examples": places(&records.examples),
        "repaired": remark(&records.repaired),
        "short": remark(&records.short),
        "several_lines": remark(&records.several),
        "notes": notes_json(records),
        "renamed": renamed.collect::<Value>(),
        "conflicts": conflicts.collect::<Value>(),
        "unknown": unknown.collect::<Value>(),
        "unknown_rest": records.unknown_rest,
        "unforeseen": records.unforeseen.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "inferred": records.inferred.as_ref().map(schema_file::inferred_text),
    })
}

/// Two records with the same key, as JSON.
pub fn double_json(double: &DoubleRecord) -> Value {
    let mut object = Map::new();
    report::put_bytes(&mut object, "key", &double.key);
    report::put_bytes(&mut object, "path", double.path.as_os_str().as_encoded_bytes());
    object.insert("line".into(), double.line.into());
    report::put_bytes(&mut object, "kept_path", double.kept_path.as_os_str().as_encoded_bytes());
    object.insert("kept_line".into(), double.kept_line.into());
    object.into()
}

/// Documents from unusual rows, for programs.
fn remark(remark: &RowRemark) -> Value {
    json!({"rows": remark.count, "lines": remark.lines, "examples": places(&remark.examples)})
}

/// Places in files for programs.
fn places(examples: &[MalformedRecord]) -> Value {
    let one = |example: &MalformedRecord| {
        let mut object = Map::new();
        report::put_bytes(&mut object, "path", example.path.as_os_str().as_encoded_bytes());
        for (name, value) in [
            ("line", json!(example.line)),
            ("record", json!(example.record)),
            ("reason", json!(example.reason)),
            ("text", json!(example.text)),
        ] {
            object.insert(name.into(), value);
        }
        Value::from(object)
    };
    examples.iter().map(one).collect()
}

fn conflict_json(conflict: &FieldConflict) -> Value {
    let FieldConflict { field, count, values, example, path, line, hint } = conflict;
    let mut object = Map::new();
    for (name, value) in [
        ("field", json!(field)),
        ("left_out", json!(count)),
        ("values", json!(values)),
        ("example", json!(example)),
        ("line", json!(line)),
        ("hint", json!(hint)),
    ] {
        object.insert(name.into(), value);
    }
    report::put_bytes(&mut object, "path", path.as_os_str().as_encoded_bytes());
    object.into()
}
