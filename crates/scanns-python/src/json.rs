//! Facts about an index as JSON, with the names that the command gives them.

use scanns::Snapshot;
use scanns::columns::ColumnInfo;
use scanns::schema::{FieldEntry, FieldKind, Value, format_date};
use scanns::search::Explanation;
use serde_json::{Map, Value as Json, json};

use crate::core::Core;
use crate::fields::name_of_postings;

/// What `scanns info` tells about an index.
pub fn info(core: &Core) -> Json {
    let info = core.snapshot.info();
    let key = core.snapshot.key_field().and_then(|field| core.snapshot.schema().entry(field));
    json!({
        "paths": core.paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        "generation": info.generation,
        "documents": info.documents,
        "deleted": info.deleted,
        "tokens": info.tokens,
        "records": info.records.name(),
        "analyzer": info.analyzer.name(),
        "key": key.map(|entry| &entry.name),
        "positions": info.postings.has_positions(),
        "offsets": info.postings.has_offsets(),
        "fields": fields(&core.snapshot),
        "index_bytes": info.index_bytes,
        "position_bytes": info.position_bytes,
        "store": info.stored.store.name(),
        "vectors": info.stored.vectors,
        "entries": core.snapshot.has_entries(),
        "segments": core.snapshot.segments().len(),
        "format_version": info.format_version,
    })
}

fn fields(snapshot: &Snapshot) -> Vec<Json> {
    snapshot.schema().fields().map(|(_, entry)| field(entry)).collect()
}

fn field(entry: &FieldEntry) -> Json {
    let mut object = json!({
        "name": entry.name,
        "type": entry.kind.name(),
        "searched": entry.searched,
        "default": entry.by_default,
        "column": entry.column,
        "stored": entry.stored,
    });
    if let (FieldKind::Text { analyzer, postings }, Some(object)) = (&entry.kind, object.as_object_mut()) {
        object.insert("analyzer".into(), analyzer.name().into());
        object.insert("postings".into(), name_of_postings(*postings).into());
    }
    object
}

/// The segments of an index.
pub fn segments(snapshot: &Snapshot) -> Json {
    let segments = snapshot.segments().iter().map(|segment| {
        json!({
            "id": segment.id,
            "documents": segment.documents,
            "deleted": segment.deleted,
            "terms": segment.terms,
            "tokens": segment.tokens,
            "bytes": segment.bytes,
        })
    });
    segments.collect()
}

/// The columns of an index.
pub fn columns(snapshot: &Snapshot, columns: &[ColumnInfo]) -> Json {
    let one = |info: &ColumnInfo| {
        let entry = snapshot.schema().entry(info.field);
        json!({
            "name": entry.map(|entry| &entry.name),
            "type": entry.map(|entry| entry.kind.name()),
            "documents": info.documents,
            "values": info.values,
            "least": info.least.as_ref().map(value),
            "greatest": info.greatest.as_ref().map(value),
            "distinct": info.distinct,
            "bytes": info.bytes,
        })
    };
    columns.iter().map(one).collect()
}

/// What an index of file systems covers.
pub fn coverage(snapshot: &Snapshot) -> scanns::Result<Json> {
    let one = |covered: &scanns::index::Coverage| {
        json!({
            "path": covered.path.to_string_lossy(),
            "format": covered.format,
            "began": format_date(covered.began),
            "ended": format_date(covered.ended),
            "entries": covered.entries,
            "directories": covered.directories,
            "complete": covered.is_whole(),
            "unread": covered.unread,
        })
    };
    Ok(snapshot.coverage()?.iter().map(one).collect())
}

fn value(value: &Value) -> Json {
    match value {
        Value::Text(text) | Value::Bytes(text) => String::from_utf8_lossy(text).into(),
        Value::Unsigned(number) => (*number).into(),
        Value::Signed(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::Date(moment) => format_date(*moment).into(),
    }
}

/// An explanation as objects with `value`, `description` and `details`.
pub fn explanation(explanation: &Explanation) -> Json {
    let Explanation { value, description, details } = explanation;
    // The shortest number that is the same float of 32 bits.
    let value = value.to_string().parse::<f64>().map_or(Json::Null, Json::from);
    let mut object = Map::new();
    object.insert("value".into(), value);
    object.insert("description".into(), description.as_str().into());
    object.insert("details".into(), details.iter().map(self::explanation).collect());
    object.into()
}
