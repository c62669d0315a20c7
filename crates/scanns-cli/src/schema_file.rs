//! Schema files: the TOML files that define the fields of JSON and CSV records, for `scanns index --schema`.
//!
//! scanns writes a schema file from a sample, with comments that explain it; users edit it and pass it back.
//! Errors therefore name the line, the field and the possible values.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use scanns::schema::{Analyzer, Field, FieldEntry, FieldKind, Postings, Schema, ValueFormat};
use scanns::sources::{FieldFigures, Inferred, Sources};
use serde::Deserialize;
use toml::Spanned;

use crate::report;

/// The format that this program reads and writes.
const FORMAT: i64 = 1;

/// The possible values of `type`.
const TYPES: &str = "text, keyword, unsigned, signed, float, boolean, date, path or bytes";

/// The file as TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaDocument {
    #[serde(rename = "format")]
    _format: i64,
    #[serde(default)]
    field: Vec<Spanned<SchemaTable>>,
}

/// A field as TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaTable {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    source: Option<String>,
    format: Option<String>,
    key: Option<bool>,
    analyzer: Option<String>,
    postings: Option<String>,
    searched: Option<bool>,
    default: Option<bool>,
    column: Option<bool>,
    stored: Option<bool>,
}

/// Reads the schema file at `path`: the fields, and the sources of their values.
///
/// # Errors
/// The file cannot be read, was written by a newer version, or has invalid content.
pub fn read(path: &Path) -> Result<(Schema, Sources)> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the schema {}", report::path_text(path)))?;
    parse(&text).with_context(|| format!("the schema {}", report::path_text(path)))
}

fn parse(text: &str) -> Result<(Schema, Sources)> {
    let table: toml::Table = text.parse().context("it is not valid TOML")?;
    // This comes first, since a newer format may have other keys.
    match table.get("format").and_then(toml::Value::as_integer) {
        Some(FORMAT) => {}
        Some(newer) if newer > FORMAT => {
            bail!("it has format {newer}, but this program reads format {FORMAT}: use a newer scanns")
        }
        _ => bail!("it has no line 'format = {FORMAT}' before the first field, so it is not a schema"),
    }
    let document: SchemaDocument = toml::from_str(text).context("a key is unknown or has a wrong value")?;
    let mut schema = Schema::new();
    let mut added = Vec::new();
    for table in &document.field {
        let place = || format!("line {}, field {:?}", line(text, &table.span()), table.get_ref().name);
        let table = table.get_ref();
        let field = entry(table).and_then(|entry| Ok(schema.add(entry)?)).with_context(place)?;
        added.push((field, table, format(table).with_context(place)?));
    }
    ensure!(
        schema.searched().next().is_some(),
        "no field is searched: give a field type = \"text\" or \"keyword\", without searched = false"
    );
    let mut known = Sources::of(&schema);
    for (field, table, format) in added {
        if let Some(source) = &table.source {
            known.set(field, source);
        }
        known.set_format(field, format);
        if table.key == Some(true) {
            set_key(&schema, &mut known, field)?;
        }
    }
    Ok((schema, known))
}

/// How the values of a field are written in records.
fn format(table: &SchemaTable) -> Result<ValueFormat> {
    let Some(name) = &table.format else { return Ok(ValueFormat::Auto) };
    let format = ValueFormat::parse(name)?;
    let kind = entry(table)?.kind;
    ensure!(format.fits(&kind), "format {name:?} does not go with type {:?}", table.kind);
    Ok(format)
}

/// Makes a field the key of documents.
fn set_key(schema: &Schema, sources: &mut Sources, field: Field) -> Result<()> {
    let name = schema.entry(field).map_or("", |entry| entry.name.as_str());
    if let Some(other) = sources.key().and_then(|key| schema.entry(key)) {
        bail!("fields {:?} and {name:?} both have key = true: only one field is the key", other.name);
    }
    ensure!(
        schema.entry(field).is_some_and(FieldEntry::can_be_key),
        "field {name:?} cannot be the key: a key has type = \"keyword\", searched = true and column = true"
    );
    sources.set_key(field);
    Ok(())
}

/// The number of the line in which a part of a text begins.
fn line(text: &str, part: &Range<usize>) -> usize {
    text.bytes().take(part.start).filter(|byte| *byte == b'\n').count() + 1
}

/// The field of a table.
fn entry(table: &SchemaTable) -> Result<FieldEntry> {
    let kind = match table.kind.as_str() {
        "text" => FieldKind::Text {
            analyzer: table.analyzer.as_deref().map_or(Ok(Analyzer::Standard), Analyzer::parse)?,
            postings: table.postings.as_deref().map_or(Ok(Postings::Frequencies), postings)?,
        },
        "keyword" => FieldKind::Keyword,
        "unsigned" => FieldKind::Unsigned,
        "signed" => FieldKind::Signed,
        "float" => FieldKind::Float,
        "bytes" => FieldKind::Bytes,
        "boolean" => FieldKind::Boolean,
        "date" => FieldKind::Date,
        "path" => FieldKind::Path,
        other => bail!("type {other:?} is unknown: use {TYPES}"),
    };
    let is_text = matches!(kind, FieldKind::Text { .. });
    for (key, value) in [("analyzer", &table.analyzer), ("postings", &table.postings)] {
        ensure!(is_text || value.is_none(), "{key} is for type = \"text\", not for {:?}", table.kind);
    }
    let plain = FieldEntry::new(&table.name, kind);
    Ok(FieldEntry {
        searched: table.searched.unwrap_or(plain.searched),
        by_default: table.default.unwrap_or(false),
        column: table.column.unwrap_or(!is_text),
        stored: table.stored.unwrap_or(false),
        ..plain
    })
}

/// Parses what to store of a term in a document.
fn postings(name: &str) -> Result<Postings> {
    let all = [Postings::Documents, Postings::Frequencies, Postings::Positions, Postings::Offsets];
    let found = all.into_iter().find(|postings| postings_name(*postings) == name);
    found.ok_or_else(|| {
        anyhow!("postings {name:?} is unknown: use documents, frequencies, positions or offsets")
    })
}

/// The name that [`postings`] reads.
fn postings_name(postings: Postings) -> &'static str {
    match postings {
        Postings::Documents => "documents",
        Postings::Frequencies => "frequencies",
        Postings::Positions => "positions",
        Postings::Offsets => "offsets",
    }
}

/// The comment before the fields.
const HEAD: &str = "\
# Edit this file and pass it with --schema:
#   scanns index --schema THIS-FILE -o NAME.scanns PATH
#
# Each [[field]] has
#   name      its name in queries: letters, digits, '_', '-' and '.'
#   type      text: found by its words; keyword: found as a whole; unsigned, signed, float: numbers; boolean;
#             date; path: a directory and a name in it; bytes. Other values are skipped and counted.
# and may have
#   source    its name in records, if that is different: members of nested objects separated by dots, or a
#             column of CSV. Several fields may have the same source.
#   format    how its dates or numbers are written: \"epoch-s\", \"epoch-ms\", \"epoch-us\", \"epoch-ns\" for
#             numbers since 1970, \"rfc3339\", \"rfc2822\", \"log\"; default for dates: any of the last three;
#             for numbers \"1.234,56\", \"1234,56\", \"1 234,56\", \"1,234.56\", \"1 234.56\", \"1'234.56\"
#   key       true if its values name the documents: a record replaces an earlier one with the same value; for
#             one keyword
#   searched  true to find documents by its terms; only for text and keyword, where it is the default
#   default   true to search it by words of a query that name no field; without any such field, all texts
#   column    true to sort, filter, count and group documents by it; the default except for text
#   stored    true to store its values with the document, to read them back; default: false
# and for text
#   analyzer  how to split it into terms, as in scanns index --analyzer: \"standard\", \"english\", ...
#   postings  \"documents\"; \"frequencies\", for ranking; \"positions\", also for phrases; \"offsets\",
#             also for highlighting
#
# Fields that are not listed here are not indexed.
";

/// A schema as text for [`read`]; `figures` are the statistics of a sample, in the order of the fields.
pub fn text(schema: &Schema, sources: &Sources, figures: &[FieldFigures]) -> String {
    let mut text = format!(
        "# The fields of records, written by scanns {}.\n{HEAD}format = {FORMAT}\n",
        env!("CARGO_PKG_VERSION")
    );
    for (number, (field, entry)) in schema.fields().enumerate() {
        text.push('\n');
        if let Some(figures) = figures.get(number) {
            text.push_str(&told(figures));
        }
        push(&mut text, field, entry, sources);
    }
    text
}

/// An inferred schema as text, with the names that got no field.
pub fn inferred_text(inferred: &Inferred) -> String {
    let Inferred { schema, sources, figures, left_out, counts } = inferred;
    let records = counts.documents();
    let mut text = text(schema, sources, figures);
    if !left_out.is_empty() {
        text.push_str(&format!(
            "\n# Names without a field, with their number of values in {records} records:\n"
        ));
    }
    for (name, values) in left_out {
        text.push_str(&format!("#   {}: {values}\n", quoted(name)));
    }
    text
}

/// The statistics of a sample, as a comment.
fn told(figures: &FieldFigures) -> String {
    let FieldFigures { values, nulls, distinct, bytes, longest, misfits, misfit, number_formats } = figures;
    let mean = bytes.checked_div(*values).unwrap_or(0);
    let nulls = if *nulls > 0 { format!(", and {nulls} nulls") } else { String::new() };
    let mut text = format!(
        "# {values} values{nulls}; about {distinct} different; {mean} bytes on average, at most {longest}\n"
    );
    if let Some(misfit) = misfit {
        text.push_str(&format!("# {misfits} of them do not fit the type, such as {}\n", quoted(misfit)));
    }
    if !number_formats.is_empty() {
        let formats: Vec<_> = number_formats.iter().map(|format| quoted(format.name())).collect();
        text.push_str(&format!("# numbers with type = \"float\" and format = {}\n", formats.join(" or ")));
    }
    text
}

/// Appends the table of a field. `searched` and `column` are written even if they have their defaults.
fn push(text: &mut String, field: Field, entry: &FieldEntry, sources: &Sources) {
    let mut line = |key: &str, value: &str| text.push_str(&format!("{key} = {value}\n"));
    line("[[field]]\nname", &quoted(&entry.name));
    if let Some(source) = sources.source(field).filter(|source| *source != entry.name) {
        line("source", &quoted(source));
    }
    line("type", &quoted(entry.kind.name()));
    if sources.format(field) != ValueFormat::Auto {
        line("format", &quoted(sources.format(field).name()));
    }
    if sources.key() == Some(field) {
        line("key", "true");
    }
    if let FieldKind::Text { analyzer, postings } = &entry.kind {
        line("analyzer", &quoted(&analyzer.name()));
        line("postings", &quoted(postings_name(*postings)));
    }
    if entry.kind.postings().is_some() {
        line("searched", if entry.searched { "true" } else { "false" });
    }
    if entry.by_default {
        line("default", "true");
    }
    line("column", if entry.column { "true" } else { "false" });
    if entry.stored {
        line("stored", "true");
    }
}

/// A text as a TOML string on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use scanns::sources::{Inference, RecordFormat};

    use super::*;

    fn with(field: &str) -> Result<(Schema, Sources)> {
        parse(&format!("format = 1\n\n[[field]]\n{field}\n"))
    }

    #[test]
    fn an_inferred_schema_reads_back() {
        let mut inference = Inference::new(RecordFormat::Json);
        for line in [
            r#"{"user name":"ada","size":1,"note":"more than three words here","ok":true,"at":"2024-01-02"}"#,
            r#"{"user name":"bob","size":-1,"ratio":0.5,"none":null,"o":{"quote\"\\\u007f\n\u00e4":"x"}}"#,
        ] {
            inference.record(1, line.as_bytes()).unwrap();
        }
        let inferred = inference.finish().unwrap();
        let text = inferred_text(&inferred);
        assert_eq!(parse(&text).unwrap(), (inferred.schema, inferred.sources), "{text}");
        assert!(
            text.contains("source = \"user name\"\ntype = \"keyword\"\nsearched = true\ncolumn = true\n")
        );
        assert!(
            text.contains("# 2 values; about 2 different; 3 bytes on average, at most 3\n[[field]]"),
            "{text}"
        );
        assert!(text.contains("number of values in 2 records:\n#   \"none\": 0\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    }

    #[test]
    fn every_kind_and_use_reads_back() {
        let mut names = 0;
        for (analyzer, postings) in [
            ("standard", Postings::Documents),
            ("standard | fold | stop:the,of", Postings::Positions),
            ("delimiters:\"\\t", Postings::Offsets),
        ] {
            let analyzer = Analyzer::parse(analyzer).unwrap();
            let mut schema = Schema::new();
            let kinds = [
                FieldKind::Text { analyzer, postings },
                FieldKind::Keyword,
                FieldKind::Unsigned,
                FieldKind::Signed,
                FieldKind::Float,
                FieldKind::Bytes,
                FieldKind::Boolean,
                FieldKind::Date,
                FieldKind::Path,
            ];
            for (kind, uses) in kinds.iter().flat_map(|kind| (0..16).map(move |uses| (kind, uses))) {
                let entry = FieldEntry {
                    name: format!("field-{names}.ä"),
                    kind: kind.clone(),
                    searched: uses & 1 != 0,
                    column: uses & 2 != 0,
                    stored: uses & 4 != 0,
                    by_default: uses & 8 != 0,
                };
                names += usize::from(schema.add(entry).is_ok());
            }
            let mut sources = Sources::of(&schema);
            let (first, _) = schema.fields().next().unwrap();
            sources.set(first, "one\ttwo \"three\" \\ \u{85}");
            for (field, entry) in schema.fields() {
                match entry.kind {
                    FieldKind::Date => sources.set_format(field, ValueFormat::parse("epoch-us").unwrap()),
                    FieldKind::Float => sources.set_format(field, ValueFormat::parse("1'234.56").unwrap()),
                    FieldKind::Keyword if entry.can_be_key() => sources.set_key(field),
                    _ => {}
                }
            }
            let text = text(&schema, &sources, &[]);
            let (read, read_sources) = parse(&text).unwrap();
            assert_eq!(read, schema, "{text}");
            assert_eq!(read_sources, sources, "{text}");
        }
        assert!(names > 90, "{names}");
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        let (schema, sources) =
            with("name = 'a'\ntype = 'text'\n[[field]]\nname='b'\ntype='date'\nsource='c'").unwrap();
        let entries: Vec<_> = schema.fields().map(|(_, entry)| entry.clone()).collect();
        let text = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies };
        assert_eq!(entries, [FieldEntry::new("a", text), FieldEntry::new("b", FieldKind::Date).column()]);
        assert_eq!(sources.source(schema.field("b").unwrap()), Some("c"));
    }

    #[test]
    fn every_mistake_is_named() {
        for (field, hint) in [
            ("name = 'a'", "missing field `type`"),
            ("type = 'text'", "missing field `name`"),
            (
                "name = 'a'\ntype = 'int'",
                "line 3, field \"a\": type \"int\" is unknown: use text, keyword, unsigned",
            ),
            ("name = 'a'\ntype = 'text'\nindexed = true", "unknown field `indexed`"),
            ("name = 'a'\ntype = 'text'\ncolumn = 1", "line 6"),
            (
                "name = 'a b'\ntype = 'text'",
                "line 3, field \"a b\": field 'a b' has an invalid name; use letters",
            ),
            ("name = ''\ntype = 'text'", "has an invalid name"),
            (
                "name = 'a'\ntype = 'text'\nanalyzer = 'klingon'",
                "analyzer 'klingon' is unknown: use standard",
            ),
            (
                "name = 'a'\ntype = 'text'\npostings = 'all'",
                "postings \"all\" is unknown: use documents, frequencies",
            ),
            (
                "name = 'a'\ntype = 'date'\nanalyzer = 'standard'",
                "analyzer is for type = \"text\", not for \"date\"",
            ),
            ("name = 'a'\ntype = 'date'\nsearched = true", "make it a column"),
            ("name = 'a'\ntype = 'date'\ncolumn = false", "neither searched nor stored nor a column"),
            ("name = 'a'\ntype = 'date'", "no field is searched"),
            (
                "name = 'a'\ntype = 'text'\n\n[[field]]\n# again\nname = 'a'\ntype = 'date'",
                "line 7, field \"a\": field 'a' already exists",
            ),
            (
                "name = 'a'\ntype = 'date'\nformat = 'epoch'",
                "line 3, field \"a\": unknown format 'epoch': use auto, epoch-s",
            ),
            ("name = 'a'\ntype = 'keyword'\nformat = 'epoch-s'", "format \"epoch-s\" does not go with type"),
            ("name = 'a'\ntype = 'text'\nkey = true", "field \"a\" cannot be the key: a key has type"),
            (
                "type = 'keyword'\nname = 'a'\nkey = true\n\
                 [[field]]\ntype = 'keyword'\nname = 'b'\nkey = true",
                "\"a\" and \"b\" both have key = true",
            ),
            ("name = 'a'\nname = 'b'", "not valid TOML"),
            ("name = 'a'\ntype = 'text'\n[more]", "unknown field `more`"),
        ] {
            let error = format!("{:#}", with(field).unwrap_err());
            assert!(error.contains(hint), "{field}: {error}");
        }
        for (text, hint) in [
            ("", "no line 'format = 1'"),
            ("format = 2\nnew = 1", "use a newer scanns"),
            ("format = 1", "no field is searched"),
            ("format = 1\nfield = 3", "field"),
            ("\u{0}", "not valid TOML"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(hint), "{text}: {error}");
        }
        let many: String =
            (0..65).map(|number| format!("[[field]]\nname = 'f{number}'\ntype = 'date'\n")).collect();
        let error = format!("{:#}", parse(&format!("format = 1\n{many}")).unwrap_err());
        assert!(error.contains("line 194, field \"f64\": field 'f64' is one too many"), "{error}");
        let error = read(Path::new("/none/s.toml")).unwrap_err().to_string();
        assert!(error.contains("cannot read the schema /none/s.toml"), "{error}");
    }
}
