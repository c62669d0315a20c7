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

/// The query, of these words or of JSON; `fields` are its default fields.
pub(super) fn query(
    args: &SearchArgs,
    words: &[String],
    snapshot: &Snapshot,
    fields: &[WeightedField],
    operator: Operator,
) -> Result<Query> {
    match &args.query_json {
        Some(given) => Ok(snapshot.parse_json_in(fields, &json(given)?, operator)?),
        None => Ok(snapshot.parse_in(fields, &words.join(" "), operator)?),
    }
}

/// Refuses words beside another query, and a command without any query.
pub(super) fn must_be_one_query(args: &SearchArgs, words: &[String]) -> Result<()> {
    let given = [
        ("--query-json", args.query_json.is_some()),
        ("--queries", args.batch.queries.is_some()),
        ("--like", args.like.like.is_some()),
        ("--like-file", args.like.like_file.is_some()),
    ];
    match (given.iter().find(|(_, is_given)| *is_given), words) {
        (Some((option, _)), [first, ..]) => {
            bail!("{option} cannot be used with words of a query: leave out '{}'", quoted(first.as_bytes()))
        }
        (None, []) => bail!("the query is missing: write it after the indexes; '*' finds every document"),
        _ => Ok(()),
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
