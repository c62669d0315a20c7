//! What an index covers of file systems and dumps, and which inputs could not be read.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use scanns::index::Coverage;
use scanns::schema::format_date;
use scanns::sources::{Failure, Skipped};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{Answer, ApiState, Context, Refusal};
use super::handle::{Asked, Handled, handle};
use super::parameter::COVERAGE;
use super::show;
use crate::problem::Problem;

/// What an index covers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CoverageAnswer {
    index: String,
    generation: u64,
    /// The directories that were scanned and the dumps that were read, as far as the index knows them.
    covered: Vec<CoveredPlace>,
}

/// A directory that was scanned, or a dump.
#[derive(Debug, Serialize, JsonSchema)]
struct CoveredPlace {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    /// The format of the dump; null for a scan.
    format: Option<String>,
    /// When the scan began, or when the dump was made, in RFC 3339.
    began: String,
    ended: String,
    /// The number of entries found.
    entries: u64,
    /// The number of directories that were listed; 0 for a dump.
    directories: u64,
    /// False if the scan was stopped, or the dump is cut off or has rows that could not be read.
    complete: bool,
    /// The number of inputs that could not be read.
    unread: u64,
    /// The first of them, with the reasons.
    failures: Vec<FailedInput>,
    /// What was left out on purpose, by kind.
    left_out: Vec<LeftOut>,
}

/// An input that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
struct FailedInput {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    reason: String,
}

/// Inputs of a kind that were left out on purpose.
#[derive(Debug, Serialize, JsonSchema)]
struct LeftOut {
    what: String,
    count: u64,
    /// An example.
    first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_bytes: Option<String>,
}

struct CoverageRequest {
    index: String,
    limit: usize,
}

/// Tells what an index covers.
pub(super) fn coverage(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let limit = usize::try_from(asked.given.number("limit")?.unwrap_or(1000)).unwrap_or(usize::MAX);
        Ok(CoverageRequest { index: asked.head.index(), limit })
    };
    handle(state, request, &[COVERAGE], read, answer)
}

fn answer(context: &Context<'_>, request: &CoverageRequest) -> Result<Answer, Refusal> {
    let (seen, tag) = context.seen(&[&request.index])?;
    if seen.trimmed {
        let detail = "what could not be read is told to who sees the whole index: its owner and root";
        let (kind, title) = ("/problems/view", "This cannot be told of what you may see");
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail).into());
    }
    let all = seen.snapshot.coverage()?;
    let answer = CoverageAnswer {
        index: seen.name(),
        generation: seen.snapshot.info().generation,
        covered: all.iter().map(|one| covered(one, request.limit)).collect(),
    };
    Answer::json(&answer, tag)
}

fn covered(one: &Coverage, limit: usize) -> CoveredPlace {
    let failed = |Failure { path, reason }: &Failure| {
        let (path, path_bytes) = shown(path);
        FailedInput { path, path_bytes, reason: reason.clone() }
    };
    let left_out = |(what, Skipped { count, first }): &(String, Skipped)| {
        let (first, first_bytes) = first.as_deref().map(shown).unzip();
        LeftOut { what: what.clone(), count: *count, first, first_bytes: first_bytes.flatten() }
    };
    let (path, path_bytes) = shown(&one.path);
    CoveredPlace {
        path,
        path_bytes,
        format: one.format.clone(),
        began: format_date(one.began),
        ended: format_date(one.ended),
        entries: one.entries,
        directories: one.directories,
        complete: one.complete,
        unread: one.unread,
        failures: one.failures.iter().take(limit).map(failed).collect(),
        left_out: one.left_out.iter().map(left_out).collect(),
    }
}

/// A path as it is shown, and its bytes in base64 if they are not valid UTF-8.
fn shown(path: &Path) -> (String, Option<String>) {
    let bytes = path.as_os_str().as_bytes();
    (show::shown(bytes).into_owned(), show::exact(bytes))
}
