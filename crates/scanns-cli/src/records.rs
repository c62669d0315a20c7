//! Records of JSON and CSV in `scanns index`: their fields, and the report about skipped records and values.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use scanns::index::{IndexOptions, MalformedRecord, RecordReport};
use scanns::schema::Records;
use scanns::sources::{FieldOptions, Inferred};
use serde_json::{Map, Value, json};

use crate::args::FieldArgs;
use crate::output::{Output, write_whole};
use crate::quoting::quoted;
use crate::report::{self, Outcome};
use crate::schema_file;
use crate::units;

/// The maximum number of listed names that are not in the schema.
const NAMES_SHOWN: usize = 5;

/// The requested fields.
pub fn fields(args: &FieldArgs, records: Records) -> Result<FieldOptions> {
    let given = [
        ("--schema", args.schema.is_some()),
        ("--infer-schema", args.infer_schema.is_some()),
        ("--csv-delimiter", args.csv_delimiter.is_some()),
    ];
    for (option, given) in given {
        let fits = if option == "--csv-delimiter" { records == Records::Csv } else { records.have_fields() };
        let wanted = if option == "--csv-delimiter" { "csv" } else { "jsonl or --records csv" };
        ensure!(fits || !given, "{option} is for records with fields: also give --records {wanted}");
    }
    let schema = args.schema.as_deref().map(schema_file::read).transpose()?;
    Ok(FieldOptions { schema, metadata: args.no_metadata.then_some(false), delimiter: args.csv_delimiter })
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
    if records.blank > 0 {
        writeln!(out, "blank: {} skipped", units::counted(records.blank, "record"))?;
    }
    for conflict in &records.conflicts {
        let (name, values) = (&conflict.field, units::counted(conflict.count, "value"));
        let example = quoted(conflict.example.as_bytes());
        writeln!(out, "field {name}: {values} of another type skipped, the first was \"{example}\"")?;
    }
    if let Some((_, values)) = unknown(records) {
        let shown = records.unknown.iter().take(NAMES_SHOWN);
        let names: Vec<_> = shown.map(|(name, _)| quoted(name.as_bytes())).collect();
        let more = if records.unknown.len() > NAMES_SHOWN || records.unknown_rest > 0 { ", …" } else { "" };
        let values = units::counted(values, "value");
        writeln!(out, "not in the schema: {values} skipped, of {}{more}", names.join(", "))?;
    }
    Ok(())
}

/// The number of names that are not in the schema, and of their values.
fn unknown(records: &RecordReport) -> Option<(usize, u64)> {
    let values = records.unknown.iter().map(|(_, count)| count).sum::<u64>() + records.unknown_rest;
    (values > 0).then_some((records.unknown.len(), values))
}

/// Prints the fields that were inferred from a sample.
fn print_inferred(out: &mut Output, inferred: &Inferred) -> Result<()> {
    let Inferred { schema, figures, left_out, counts, .. } = inferred;
    let width = schema.fields().map(|(_, entry)| entry.name.chars().count()).max().unwrap_or(0).max(5);
    let records = units::counted(counts.documents(), "record");
    writeln!(out, "fields inferred from a sample of {records} (--infer-schema writes a file to edit):")?;
    writeln!(out, "  {:width$}  {:8}  {:16}  {:>9}  different", "field", "type", "uses", "values")?;
    for ((_, entry), figures) in schema.fields().zip(figures) {
        let uses = [(entry.searched, "searched"), (entry.column, "column"), (entry.stored, "stored")];
        let uses: Vec<_> = uses.iter().filter(|(holds, _)| *holds).map(|(_, name)| *name).collect();
        let (values, distinct) = (units::count(figures.values), units::count(figures.distinct));
        let (name, kind, uses) = (&entry.name, entry.kind.name(), uses.join(", "));
        writeln!(out, "  {name:width$}  {kind:8}  {uses:16}  {values:>9}  {distinct:>9}")?;
    }
    if !left_out.is_empty() {
        let shown: Vec<_> =
            left_out.iter().take(NAMES_SHOWN).map(|(name, _)| quoted(name.as_bytes())).collect();
        let more = if left_out.len() > NAMES_SHOWN { ", …" } else { "" };
        writeln!(out, "  no field for {}{more}", shown.join(", "))?;
    }
    Ok(())
}

/// Lists malformed records in the same way as failed inputs.
pub fn list_malformed(records: &RecordReport) {
    for MalformedRecord { path, line, reason, text } in &records.examples {
        let text = quoted(text.trim_end().as_bytes());
        report::note(&format!("{}:{line}: {reason}: {text}", report::path_text(path)));
    }
    let all = units::counted(records.malformed, "record");
    let is = if records.malformed == 1 { "is" } else { "are" };
    match records.malformed.saturating_sub(records.examples.len() as u64) {
        _ if records.malformed == 0 => {}
        0 => report::note(&format!("{all} {is} malformed; the rest is indexed")),
        more => report::note(&format!("{all} {is} malformed, {more} of them not shown; the rest is indexed")),
    }
}

/// The report about records for programs.
pub fn as_json(records: &RecordReport) -> Value {
    let examples = records.examples.iter().map(|MalformedRecord { path, line, reason, text }| {
        let mut object = Map::new();
        report::put_bytes(&mut object, "path", path.as_os_str().as_encoded_bytes());
        object.extend(
            [("line", json!(line)), ("reason", json!(reason)), ("text", json!(text))]
                .map(|(name, value)| (name.to_string(), value)),
        );
        Value::from(object)
    });
    let conflicts = records.conflicts.iter().map(
        |conflict| json!({"field": conflict.field, "values": conflict.count, "example": conflict.example}),
    );
    let unknown = records.unknown.iter().map(|(name, count)| json!({"name": name, "values": count}));
    json!({
        "blank": records.blank,
        "malformed": records.malformed,
        "examples": examples.collect::<Value>(),
        "conflicts": conflicts.collect::<Value>(),
        "unknown": unknown.collect::<Value>(),
        "unknown_rest": records.unknown_rest,
        "inferred": records.inferred.as_ref().map(schema_file::inferred_text),
    })
}
