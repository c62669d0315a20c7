//! Storage options of an index, checked against the index and its schema.

use crate::error::{Error, Result};
use crate::schema::{Compression, Schema, Store, Stored};

/// What to store of documents in addition to the inverted index. The first build or writer of an index
/// decides this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredOptions {
    /// How to store the text; `None` for the setting of the index. A new index then stores the content of
    /// records of JSON and CSV, and nothing of files and lines.
    pub store: Option<Store>,
    /// The compression of new stored text; `None` for the compression of the last commit, or
    /// [`Compression::Lz4`] for a new index.
    pub compression: Option<Compression>,
    /// Whether to store term vectors, that is, the terms of each document in order; `None` for the setting of
    /// the index, or false for a new index.
    pub vectors: Option<bool>,
}

impl StoredOptions {
    /// Returns the storage of the index from now on. `current` is the storage of an existing index: new
    /// documents must match it in everything except the compression.
    pub(crate) fn resolve(&self, current: Option<Stored>) -> Result<Stored> {
        let Some(current) = current else {
            return Ok(Stored {
                store: self.store.unwrap_or_default(),
                compression: self.compression.unwrap_or_default(),
                vectors: self.vectors.unwrap_or_default(),
            });
        };
        let conflict = |what: String, with: String| {
            Err(Error::Conflict {
                what,
                with,
                remedy: "leave the option to the index, or build another index".into(),
            })
        };
        if let Some(store) = self.store.filter(|&store| store != current.store) {
            return conflict(
                format!("store {}", store.name()),
                format!("the index, which was built with store {}", current.store.name()),
            );
        }
        match (current.vectors, self.vectors) {
            (true, Some(false)) => {
                conflict("no vectors".into(), "the index, which was built with vectors".into())
            }
            (false, Some(true)) => {
                conflict("vectors".into(), "the index, which was built without vectors".into())
            }
            _ => Ok(Stored { compression: self.compression.unwrap_or(current.compression), ..current }),
        }
    }

    /// Like [`StoredOptions::resolve`] for documents with the fields of `schema`. A new index whose schema
    /// stores fields stores content.
    pub(crate) fn resolve_for(&self, schema: &Schema, current: Option<Stored>) -> Result<Stored> {
        let mut wanted = *self;
        if schema.stores() && current.is_none() {
            wanted.store = Some(wanted.store.unwrap_or(Store::Content));
        }
        let stored = wanted.resolve(current)?;
        check(schema, &stored)?;
        Ok(stored)
    }
}

/// Refuses options that do not fit the fields of the schema.
fn check(schema: &Schema, stored: &Stored) -> Result<()> {
    if schema.stores() && stored.store != Store::Content {
        return Err(Error::Conflict {
            what: format!("store {}", stored.store.name()),
            with: "the schema, which stores fields".into(),
            remedy: "leave the store to the schema".into(),
        });
    }
    let has_one_text = schema.searched().count() == 1
        && schema.default_field().and_then(|field| schema.analyzer(field)).is_some();
    if stored.vectors && !has_one_text {
        return Err(Error::Unsupported {
            what: "storing vectors when the schema searches other fields than one text".into(),
            remedy: "leave out the vectors or the other searched fields".into(),
        });
    }
    Ok(())
}
