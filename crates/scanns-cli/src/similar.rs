//! Queries made from documents: expanded by feedback, or made from an example.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use scanns::schema::Field;
use scanns::search::{Model, MoreLikeThis, Rm3};
use scanns::sources::absolute;
use scanns::{Hit, Query, Snapshot};

use crate::args::{FeedbackArgs, LikeArgs};
use crate::quoting::quoted;
use crate::report::{note, path_text};

/// The query, expanded if feedback is requested.
pub fn expand(
    args: &FeedbackArgs,
    snapshot: &Snapshot,
    query: Query,
    field: Field,
    model: Model,
) -> Result<Query> {
    if !args.rm3 {
        return Ok(query);
    }
    let rm3 = Rm3 {
        documents: args.rm3_documents,
        terms: args.rm3_terms,
        original_weight: args.rm3_weight,
        ..Rm3::default()
    };
    Ok(snapshot.expand(&query, field, model, &rm3)?)
}

/// The query for documents like an example, and the example itself if it is a document, since it is not a
/// hit; `None` if no example is given.
pub fn like(args: &LikeArgs, snapshot: &Snapshot, field: Field) -> Result<Option<(Query, Option<Hit>)>> {
    let options = MoreLikeThis {
        min_term_freq: u32::try_from(args.like_min_freq).unwrap_or(u32::MAX),
        min_doc_freq: args.like_min_docs as u64,
        max_doc_freq: args.like_max_docs.map(|most| most as u64),
        max_terms: args.like_terms,
        ..MoreLikeThis::default()
    };
    let (query, itself) = match (&args.like, &args.like_file) {
        (Some(key), _) => {
            let hit = document(snapshot, key)?.ok_or_else(|| {
                let key = quoted(key.as_bytes());
                anyhow!("the index has no document '{key}': give a key that search prints, or --like-file")
            })?;
            (snapshot.like(&hit, field, &options)?, Some(hit))
        }
        (None, Some(path)) => (snapshot.like_text(field, &read(path)?, &options)?, None),
        (None, None) => return Ok(None),
    };
    if query == Query::nothing() {
        note("the example has no such word: lower --like-min-freq or --like-min-docs, raise --like-max-docs");
    }
    Ok(Some((query, itself)))
}

/// The document with this key, or with the absolute path if the key is a relative one.
fn document(snapshot: &Snapshot, key: &OsStr) -> Result<Option<Hit>> {
    if let Some(hit) = snapshot.hit(key.as_bytes())? {
        return Ok(Some(hit));
    }
    match absolute(Path::new(key)) {
        Ok(path) => Ok(snapshot.hit(path.as_os_str().as_bytes())?),
        Err(_) => Ok(None),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = match path.as_os_str().as_bytes() {
        b"-" => std::io::stdin().lock().read_to_end(&mut text).map(drop),
        _ => std::fs::read(path).map(|bytes| text = bytes),
    };
    read.with_context(|| format!("cannot read {}", path_text(path)))?;
    Ok(text)
}
