//! Schema files: the TOML file that says what fields records of JSON and CSV have, for `scanns index
//! --schema`.
//!
//! One is written of a sample, with comments that teach, then edited by hand and given back. So an answer to
//! a mistake names the line, the field, and what could stand there.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use scanns::schema::{Analyzer, FieldEntry, FieldKind, Postings, Schema};
use scanns::sources::{FieldFigures, Inferred, Sources};
use serde::Deserialize;
use toml::Spanned;

use crate::report;

/// The newest format that this program reads, and the one that it writes.
const FORMAT: i64 = 1;

/// What may stand behind `type`.
const TYPES: &str = "text, keyword, unsigned, signed, float, boolean, date, path or bytes";

/// The file as TOML sees it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaDocument {
    #[serde(rename = "format")]
    _format: i64,
    #[serde(default)]
    field: Vec<Spanned<SchemaTable>>,
}

/// A field as TOML sees it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaTable {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    source: Option<String>,
    analyzer: Option<String>,
    postings: Option<String>,
    searched: Option<bool>,
    column: Option<bool>,
    stored: Option<bool>,
}

/// The fields in the schema file at `path`, and where their values come from.
///
/// # Errors
/// A file that cannot be read, that a newer version has written, or that says what cannot be.
pub fn read(path: &Path) -> Result<(Schema, Sources)> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the schema {}", report::path_text(path)))?;
    parse(&text).with_context(|| format!("the schema {}", report::path_text(path)))
}

fn parse(text: &str) -> Result<(Schema, Sources)> {
    let table: toml::Table = text.parse().context("it is no TOML")?;
    // Before anything else is looked at: a newer format may have other keys.
    match table.get("format").and_then(toml::Value::as_integer) {
        Some(FORMAT) => {}
        Some(newer) if newer > FORMAT => {
            bail!("it has format {newer}, this program reads format {FORMAT}: use a newer scanns")
        }
        _ => bail!("it has no line 'format = {FORMAT}' in front of the first field: it is no schema"),
    }
    let document: SchemaDocument = toml::from_str(text).context("a key is unknown or has a wrong value")?;
    let mut schema = Schema::new();
    let mut sources = Vec::new();
    for table in &document.field {
        let place = || format!("line {}, field {:?}", line(text, &table.span()), table.get_ref().name);
        let table = table.get_ref();
        let field = entry(table).and_then(|entry| Ok(schema.add(entry)?)).with_context(place)?;
        sources.extend(table.source.as_deref().map(|source| (field, source)));
    }
    ensure!(
        schema.searched().next().is_some(),
        "no field is searched: give one type = \"text\" or \"keyword\", and not searched = false"
    );
    let mut known = Sources::of(&schema);
    sources.into_iter().for_each(|(field, source)| known.set(field, source));
    Ok((schema, known))
}

/// The line at which a part of a text begins.
fn line(text: &str, part: &Range<usize>) -> usize {
    text.bytes().take(part.start).filter(|byte| *byte == b'\n').count() + 1
}

/// What a table says of a field.
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
        column: table.column.unwrap_or(!is_text),
        stored: table.stored.unwrap_or(false),
        ..plain
    })
}

/// What is kept of a term in a document.
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

/// What stands in front of the fields.
const HEAD: &str = "\
# Edit it, and give it back:
#   scanns index --schema THIS-FILE -o NAME.scanns PATH
#
# Each [[field]] has
#   name      what queries call it: letters, digits, '_', '-' and '.'
#   type      text: found by its words; keyword: found as a whole; unsigned, signed, float: numbers; boolean;
#             date; path: a directory and a name in it; bytes. What is no such value is left out, and counted.
# and may have
#   source    what records call it, if that is something else: members of objects with dots between, or a
#             column of CSV. Several fields may have the same.
#   searched  true if it is found by its terms: text and keyword, unless false
#   column    true if documents are sorted, filtered, counted and grouped by it: all but text, unless false
#   stored    true if values are kept together with the others of the document, to be read back: false
# and a text
#   analyzer  how words are found, as in scanns index --analyzer: \"standard\", \"english\", ...
#   postings  \"documents\"; \"frequencies\", to rank; \"positions\", for phrases too; \"offsets\", to
#             highlight too
#
# Fields that are left out here are not indexed.
";

/// A schema as text that [`read`] takes; `figures` are what a sample says of the fields, in their order.
pub fn text(schema: &Schema, sources: &Sources, figures: &[FieldFigures]) -> String {
    let mut text = format!(
        "# The fields of records, by scanns {}.\n{HEAD}format = {FORMAT}\n",
        env!("CARGO_PKG_VERSION")
    );
    for (number, (field, entry)) in schema.fields().enumerate() {
        text.push('\n');
        if let Some(figures) = figures.get(number) {
            text.push_str(&told(figures));
        }
        let source = sources.source(field).filter(|source| *source != entry.name);
        push(&mut text, entry, source);
    }
    text
}

/// The same of an inferred schema, with what got no field.
pub fn inferred_text(inferred: &Inferred) -> String {
    let Inferred { schema, sources, figures, left_out, counts } = inferred;
    let records = counts.documents();
    let mut text = text(schema, sources, figures);
    if !left_out.is_empty() {
        text.push_str(&format!("\n# Of {records} records, these names got no field, with their values:\n"));
    }
    for (name, values) in left_out {
        text.push_str(&format!("#   {}: {values}\n", quoted(name)));
    }
    text
}

/// What a sample says, as a comment.
fn told(figures: &FieldFigures) -> String {
    let FieldFigures { values, nulls, distinct, bytes, longest } = figures;
    let mean = bytes.checked_div(*values).unwrap_or(0);
    let nulls = if *nulls > 0 { format!(", and {nulls} without") } else { String::new() };
    format!(
        "# {values} values{nulls}; about {distinct} different; {mean} bytes on average, at most {longest}\n"
    )
}

/// Appends the table of a field. Whether it is searched and a column is said even where it need not be.
fn push(text: &mut String, entry: &FieldEntry, source: Option<&str>) {
    let mut line = |key: &str, value: &str| text.push_str(&format!("{key} = {value}\n"));
    line("[[field]]\nname", &quoted(&entry.name));
    if let Some(source) = source {
        line("source", &quoted(source));
    }
    line("type", &quoted(entry.kind.name()));
    if let FieldKind::Text { analyzer, postings } = &entry.kind {
        line("analyzer", &quoted(&analyzer.name()));
        line("postings", &quoted(postings_name(*postings)));
    }
    if entry.kind.postings().is_some() {
        line("searched", if entry.searched { "true" } else { "false" });
    }
    line("column", if entry.column { "true" } else { "false" });
    if entry.stored {
        line("stored", "true");
    }
}

/// A text as TOML writes it, on one line.
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
        assert!(text.contains("these names got no field, with their values:\n#   \"none\": 0\n"), "{text}");
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
            for (kind, uses) in kinds.iter().flat_map(|kind| (0..8).map(move |uses| (kind, uses))) {
                let entry = FieldEntry {
                    name: format!("field-{names}.ä"),
                    kind: kind.clone(),
                    searched: uses & 1 != 0,
                    column: uses & 2 != 0,
                    stored: uses & 4 != 0,
                };
                names += usize::from(schema.add(entry).is_ok());
            }
            let mut sources = Sources::of(&schema);
            let (first, _) = schema.fields().next().unwrap();
            sources.set(first, "one\ttwo \"three\" \\ \u{85}");
            let text = text(&schema, &sources, &[]);
            let (read, read_sources) = parse(&text).unwrap();
            assert_eq!(read, schema, "{text}");
            for (field, _) in schema.fields() {
                assert_eq!(read_sources.source(field), sources.source(field), "{text}");
            }
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
                "line 3, field \"a b\": field 'a b' has no valid name; use letters",
            ),
            ("name = ''\ntype = 'text'", "has no valid name"),
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
                "line 7, field \"a\": field 'a' is there already",
            ),
            ("name = 'a'\nname = 'b'", "no TOML"),
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
            ("\u{0}", "no TOML"),
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
