//! `scanns info`: describes an index, its segments, its fields (`info/fields.rs`), its terms and its named
//! snapshots (`info/snapshots.rs`), and what it covers of file systems (`info/completeness.rs`).

pub mod completeness;
mod fields;
mod snapshots;

use std::io::Write;

use anyhow::Result;
use scanns::access::AccessFigures;
use scanns::columns::ColumnInfo;
use scanns::index::{IndexInfo, SegmentInfo, StoredFigures};
use scanns::schema::{Compression, Field, FieldEntry, FieldKind, Records, Store};
use scanns::{Index, Snapshot};
use serde_json::{Map, Value, json};
use snapshots::Named;

use crate::args::InfoArgs;
use crate::output::Output;
use crate::report::{self, Outcome};
use crate::units;

/// The requested facts.
struct Facts<'a> {
    args: &'a InfoArgs,
    info: IndexInfo,
    segments: &'a [SegmentInfo],
    named: Named,
    stored: StoredFigures,
    unique_terms: Option<u64>,
    /// The name of the field that is the key.
    key: Option<&'a str>,
    /// Whether there are sketches of texts.
    has_sketches: bool,
    /// The columns that mean nothing to people.
    internal: Vec<Field>,
    access: Option<AccessFigures>,
    columns: Option<Vec<ColumnInfo>>,
    terms: Option<Vec<(Vec<u8>, u64)>>,
}

/// Runs the verb.
pub fn run(args: &InfoArgs) -> Result<Outcome> {
    let snapshot = Snapshot::open(&args.index)?;
    if args.completeness {
        return completeness::run(&snapshot, args.json);
    }
    let terms = match &args.terms {
        Some(prefix) => Some(snapshot.terms(prefix.as_encoded_bytes(), args.limit)?),
        None => None,
    };
    let unique_terms = if args.unique { Some(snapshot.unique_terms()?) } else { None };
    let columns = if args.fields { Some(snapshot.columns()?) } else { None };
    let (info, stored) = (snapshot.info(), snapshot.stored_figures()?);
    let key = snapshot.key_field().and_then(|field| snapshot.schema().entry(field));
    let key = key.map(|entry| entry.name.as_str());
    let named = Index::open(&args.index)?.named_snapshots()?;
    let is_whole = named.iter().all(|(_, kept)| kept.is_ok());
    let segments = snapshot.segments();
    let has_sketches = snapshot.sketch_field().is_some();
    let internal = snapshot.schema().fields().map(|(field, _)| field);
    let internal = internal.filter(|field| snapshot.is_internal(*field)).collect();
    let access = snapshot.access_figures()?;
    let facts = Facts {
        args,
        info,
        segments,
        named,
        stored,
        unique_terms,
        key,
        has_sketches,
        internal,
        access,
        columns,
        terms,
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&as_json(&facts))?
    } else {
        print(&mut out, &facts)?
    }
    out.flush()?;
    Ok(if is_whole { Outcome::Done } else { Outcome::WithFailures })
}

/// What one document is, in the singular.
fn unit(records: Records) -> &'static str {
    match records {
        Records::File => "file",
        Records::Lines => "line",
        Records::Jsonl => "line of JSON",
        Records::Csv => "row of CSV",
        Records::Warc => "page of a web archive",
        Records::Trec => "document of TREC",
        Records::Smart => "document of SMART",
        Records::Mbox => "message",
        Records::MediaWiki => "page of MediaWiki",
        Records::Access => "line of an access log",
        Records::Syslog => "line of syslog",
        Records::Journal => "entry of a journal",
    }
}

fn print(out: &mut Output, facts: &Facts<'_>) -> Result<()> {
    let info = &facts.info;
    out.quoted(facts.args.index.as_os_str().as_encoded_bytes())?;
    writeln!(out, ": commit {}", info.generation)?;
    writeln!(out, "documents  {} (one per {})", units::count(info.documents), unit(info.records))?;
    writeln!(out, "tokens     {}", units::count(info.tokens))?;
    if let Some(unique) = facts.unique_terms {
        writeln!(out, "terms      {}", units::count(unique))?;
    }
    writeln!(out, "analyzer   {}", info.analyzer.name())?;
    writeln!(out, "size       {}", units::size(info.index_bytes))?;
    if info.postings.has_positions() {
        let offsets = if info.postings.has_offsets() { ", offsets included" } else { "" };
        writeln!(out, "positions  {} of the size{offsets}", units::size(info.position_bytes))?;
    }
    if let Some(key) = facts.key {
        writeln!(out, "key        {key}")?;
    }
    let fields = info.schema.fields().filter(|_| facts.columns.is_none());
    let fields = fields.filter(|(field, _)| !facts.internal.contains(field));
    for (_, entry) in fields.filter(|_| info.schema.fields().count() > 1) {
        writeln!(out, "field      {}", described(entry))?;
    }
    if facts.has_sketches {
        writeln!(out, "sketches   of texts, by which search --collapse finds near-duplicates")?;
    }
    if let Some(access) = &facts.access {
        print_access(out, access)?;
    }
    print_stored(out, facts)?;
    if info.deleted > 0 {
        writeln!(out, "deleted    {}; scanns merge frees their space", units::count(info.deleted))?;
    }
    writeln!(out, "segments   {}", facts.segments.len())?;
    for segment in facts.segments.iter().filter(|_| facts.args.segments) {
        let deleted = match segment.deleted {
            0 => String::new(),
            deleted => format!(" ({} deleted)", units::count(deleted)),
        };
        writeln!(
            out,
            "  {}  {}{deleted}, {}, {}, {}",
            segment.id,
            units::counted(segment.documents, "document"),
            units::counted(segment.terms, "term"),
            units::counted(segment.tokens, "token"),
            units::size(segment.bytes)
        )?;
    }
    snapshots::print(out, &facts.named)?;
    if let Some(columns) = &facts.columns {
        fields::print(out, &info.schema, columns)?;
    }
    if let Some(terms) = &facts.terms {
        writeln!(out, "\ndocuments  term")?;
        for (term, documents) in terms {
            write!(out, "{documents:>9}  ")?;
            out.quoted(term)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Prints what is known of who may see the documents.
fn print_access(out: &mut Output, access: &AccessFigures) -> Result<()> {
    write!(out, "access     {}", units::counted(access.classes, "access class"))?;
    if access.undecided > 0 {
        write!(out, "; {} cannot be decided, for root alone", units::count(access.undecided))?;
    }
    if access.unclassed > 0 {
        write!(out, "; {} without one, for nobody", units::counted(access.unclassed, "document"))?;
    }
    writeln!(out)?;
    Ok(())
}

fn access_json(access: &AccessFigures) -> Value {
    json!({ "classes": access.classes, "undecided": access.undecided, "unclassed": access.unclassed })
}

/// A field, in words.
fn described(entry: &FieldEntry) -> String {
    let how = match &entry.kind {
        FieldKind::Text { analyzer, postings } => {
            format!(", {}, {}", analyzer.name(), fields::kept(*postings))
        }
        _ => String::new(),
    };
    let uses = [(entry.stored, ", stored"), (entry.column, ", column"), (!entry.searched, ", not searched")];
    let uses: String = uses.iter().filter(|(holds, _)| *holds).map(|(_, name)| *name).collect();
    format!("{} ({}{how}{uses})", entry.name, entry.kind.name())
}

/// Prints what is stored of documents, if anything.
fn print_stored(out: &mut Output, facts: &Facts<'_>) -> Result<()> {
    let (kept, figures) = (&facts.info.stored, &facts.stored);
    let packed = |out: &mut Output, name: &str, bytes: u64, text: u64| {
        let ratio = text as f64 / bytes.max(1) as f64;
        let (bytes, text, codec) = (units::size(bytes), units::size(text), kept.compression.name());
        writeln!(out, "{name} {bytes} of the size, {text} uncompressed, {ratio:.1} to 1 ({codec})")
    };
    match kept.store {
        Store::None => {}
        Store::Reference => {
            writeln!(out, "stored     locations of the text, {} of the size", units::size(figures.documents))?
        }
        Store::Content => packed(out, "stored    ", figures.documents, figures.document_text)?,
    }
    if kept.vectors {
        packed(out, "vectors   ", figures.vectors, figures.vector_text)?;
    }
    Ok(())
}

fn as_json(facts: &Facts<'_>) -> Value {
    let info = &facts.info;
    let mut object = Map::new();
    report::put_bytes(&mut object, "index", facts.args.index.as_os_str().as_encoded_bytes());
    for (name, value) in [
        ("generation", json!(info.generation)),
        ("documents", json!(info.documents)),
        ("key", json!(facts.key)),
        ("deleted", json!(info.deleted)),
        ("tokens", json!(info.tokens)),
        ("records", json!(info.records.name())),
        ("analyzer", json!(info.analyzer.name())),
        ("positions", json!(info.postings.has_positions())),
        ("offsets", json!(info.postings.has_offsets())),
        ("fields", fields::as_json(&info.schema, facts.columns.as_deref().unwrap_or_default())),
        ("index_bytes", json!(info.index_bytes)),
        ("position_bytes", json!(info.position_bytes)),
        ("store", json!(info.stored.store.name())),
        ("vectors", json!(info.stored.vectors)),
        ("near_duplicates", json!(facts.has_sketches)),
        ("access", facts.access.as_ref().map(access_json).into()),
        ("compression", compression_json(info)),
        ("stored_bytes", json!(facts.stored.documents)),
        ("stored_text_bytes", json!(facts.stored.document_text)),
        ("vector_bytes", json!(facts.stored.vectors)),
        ("vector_text_bytes", json!(facts.stored.vector_text)),
        ("segments", facts.segments.iter().map(segment_json).collect()),
        ("snapshots", snapshots::as_json(&facts.named)),
    ] {
        object.insert(name.into(), value);
    }
    if let Some(unique) = facts.unique_terms {
        object.insert("unique_terms".into(), unique.into());
    }
    if let Some(terms) = &facts.terms {
        object.insert(
            "terms".into(),
            terms.iter().map(|(term, documents)| term_json(term, *documents)).collect(),
        );
    }
    object.into()
}

/// The compression of stored data; null if there is none.
fn compression_json(info: &IndexInfo) -> Value {
    let packs = info.stored.store == Store::Content || info.stored.vectors;
    Some(info.stored.compression).filter(|_| packs).map(Compression::name).into()
}

fn segment_json(segment: &SegmentInfo) -> Value {
    json!({
        "id": segment.id,
        "documents": segment.documents,
        "deleted": segment.deleted,
        "terms": segment.terms,
        "tokens": segment.tokens,
        "bytes": segment.bytes,
    })
}

fn term_json(term: &[u8], documents: u64) -> Value {
    let mut object = Map::new();
    report::put_bytes(&mut object, "term", term);
    object.insert("documents".into(), documents.into());
    object.into()
}
