//! Notes in an index that its fields were inferred from a sample, and which names of the sample got no field.
//!
//! ```text
//! note "scanns.inferred" = JSON { "no_field": [name, …] }
//! ```
//!
//! Somebody who writes a schema file chooses what is left out. Nobody chose it where a sample did not have a
//! name, so its values are reported as lost.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::report::RecordReport;
use crate::index::commit::manifest::Manifest;
use crate::index::commit::writer::Writer;
use crate::record::Inferred;

/// The name of the note.
const NOTE: &[u8] = b"scanns.inferred";

/// Adds the note to the manifest of a new index, if its fields were inferred.
pub(super) fn note_inferred(manifest: &mut Manifest, inferred: Option<&Inferred>) {
    let Some(inferred) = inferred else { return };
    let names: Vec<&str> = inferred.left_out.iter().map(|(name, _)| name.as_str()).collect();
    manifest.notes.insert(NOTE.to_vec(), json!({ "no_field": names }).to_string().into_bytes());
}

/// Reports the names that belong to no field, and that the sample of the index did not have.
pub(super) fn report_unforeseen(writer: &Writer<'_>, records: &mut RecordReport) {
    let Some(manifest) = writer.manifest() else { return };
    let Some(foreseen) = manifest.notes.get(NOTE).and_then(|note| names_of(note)) else { return };
    let unforeseen = records.unknown.iter().filter(|(name, _)| !foreseen.contains(name));
    records.unforeseen = unforeseen.cloned().collect();
}

/// The names of a note. A note that cannot be read is none: the names are told, but not as lost.
fn names_of(note: &[u8]) -> Option<BTreeSet<String>> {
    let note: Value = serde_json::from_slice(note).ok()?;
    let name = |name: &Value| name.as_str().map(str::to_owned);
    note.get("no_field")?.as_array()?.iter().map(name).collect()
}
