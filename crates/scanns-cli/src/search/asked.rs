//! Reads the query: text or JSON, from the command line, a file or standard input.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use scanns::query::{Operator, WeightedField};
use scanns::{Query, Snapshot};

use crate::args::SearchArgs;
use crate::quoting::quoted;
use crate::report::path_text;

/// The query; `fields` are its default fields.
pub(super) fn query(
    args: &SearchArgs,
    snapshot: &Snapshot,
    fields: &[WeightedField],
    operator: Operator,
) -> Result<Query> {
    match &args.query_json {
        Some(given) => Ok(snapshot.parse_json_in(fields, &json(given)?, operator)?),
        None => {
            refuse_indexes(&args.query)?;
            Ok(snapshot.parse_in(fields, &args.query.join(" "), operator)?)
        }
    }
}

/// Refuses a query with an argument that is an index, which would be searched as a word.
fn refuse_indexes(query: &[String]) -> Result<()> {
    let is_index = |word: &&String| {
        let path = Path::new(word);
        path.extension().is_some_and(|extension| extension == "scanns") && path.is_dir()
    };
    match query.iter().find(is_index) {
        Some(index) => bail!(
            "'{}' is an index, not a word of a query: search one index at a time, or quote the word as \
             '\"{}\"'",
            quoted(index.as_bytes()),
            quoted(index.as_bytes()),
        ),
        None => Ok(()),
    }
}

/// The JSON on the command line, in a file or on standard input.
fn json(given: &OsStr) -> Result<String> {
    let bytes = match given.as_bytes() {
        b"-" => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
            bytes
        }
        [b'@', path @ ..] => {
            let path = Path::new(OsStr::from_bytes(path));
            std::fs::read(path).with_context(|| format!("cannot read {}", path_text(path)))?
        }
        bytes => bytes.to_vec(),
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => {
            bail!("the query is not valid UTF-8: write other bytes of a term as {{\"bytes\": \"ff61\"}}")
        }
    }
}
