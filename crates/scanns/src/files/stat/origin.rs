//! Where and when an entry was seen, and its attributes, as the index has them.

use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::schema::Value;

/// What the index has of an entry beside the values that stat shows.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryOrigin {
    /// The directory that was scanned, or the dump.
    pub(super) source: Option<Vec<u8>>,
    /// The time at which it was seen.
    pub(super) scanned: Option<i64>,
    /// Its ACL, and its extended attributes; `None` if the index has no such field.
    pub(super) acl: Option<Vec<Vec<u8>>>,
    pub(super) xattrs: Option<Vec<Vec<u8>>>,
}

/// The origin of the entry at a path.
pub(super) fn origin(snapshot: &Snapshot, path: &[u8]) -> Result<EntryOrigin> {
    let Some(hit) = snapshot.hit(path)? else { return Ok(EntryOrigin::default()) };
    let values = |name: &str| -> Result<Option<Vec<Value>>> {
        let field = snapshot.schema().field(name);
        field.map(|field| Ok(snapshot.field_values(&hit, &[field])?.pop().unwrap_or_default())).transpose()
    };
    let texts = |name: &str| -> Result<Option<Vec<Vec<u8>>>> {
        let texts = values(name)?.map(|values| values.into_iter().filter_map(text_of));
        Ok(texts.map(Iterator::collect))
    };
    let scanned = match values("scanned")?.as_deref() {
        Some([Value::Date(date), ..]) => Some(*date),
        _ => None,
    };
    Ok(EntryOrigin {
        source: texts("source")?.and_then(|texts| texts.into_iter().next()),
        scanned,
        acl: texts("acl")?,
        xattrs: texts("xattrs")?,
    })
}

fn text_of(value: Value) -> Option<Vec<u8>> {
    if let Value::Text(text) = value { Some(text) } else { None }
}
