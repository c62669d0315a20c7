//! Turns orders from the command line into sort keys.

use anyhow::Result;
use scanns::Snapshot;
use scanns::search::{Missing, SortBy, SortKey};

use super::fields;
use crate::args::FieldSort;

/// The sort keys of an order.
pub fn keys(snapshot: &Snapshot, fields: &[FieldSort]) -> Result<Vec<SortKey>> {
    let key = |FieldSort { name, descending, missing_first }: &FieldSort| {
        // A field with the name `score` takes precedence.
        let by = match snapshot.schema().field(name) {
            None if name == "score" => SortBy::Score,
            _ => SortBy::Field(fields::column(snapshot, name)?.0),
        };
        let missing = if *missing_first { Missing::First } else { Missing::Last };
        Ok(SortKey { by, descending: *descending, missing })
    };
    fields.iter().map(key).collect()
}
