//! The indexes, and what each of them has.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::Request;
use scanns::Snapshot;
use scanns::schema::{Store, format_date};
use scanns::search::MoreLikeThis;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{Answer, ApiState, Context, Refusal};
use super::directories::Directories;
use super::fields;
use super::handle::{Asked, Handled, handle};
use super::search::answer::Incomplete;
use super::search::incomplete;
use crate::caller::{Caller, Recognition};
use crate::indexes::{IndexSummary, Opened};

/// The indexes, and who asks.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct IndexesAnswer {
    server: ServerAnswer,
    /// Who asks; null for who sees everything.
    user: Option<UserAnswer>,
    /// True if the caller sees only what he may.
    trimmed: bool,
    /// How the server knows who asks, and so what other programs must send: `token`, a header with the
    /// token; `socket`, nothing but to connect to the Unix socket; `proxy`, what the reverse proxy asks for.
    recognized_by: Option<&'static str>,
    /// The path of the Unix socket that the caller has connected to, or somebody for him.
    socket: Option<String>,
    indexes: Vec<IndexListed>,
}

/// The program.
#[derive(Debug, Serialize, JsonSchema)]
struct ServerAnswer {
    name: &'static str,
    version: &'static str,
}

/// A user.
#[derive(Debug, Serialize, JsonSchema)]
struct UserAnswer {
    name: String,
    uid: u32,
}

/// An index in the list.
#[derive(Debug, Serialize, JsonSchema)]
struct IndexListed {
    name: String,
    /// Its path; for users, only the last part.
    path: String,
    /// The number of documents that the caller sees.
    documents: u64,
    generation: u64,
    /// When the newest commit was made.
    committed: Option<String>,
}

/// What an index has.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InfoAnswer {
    name: String,
    generation: u64,
    committed: Option<String>,
    age_seconds: Option<u64>,
    /// The number of documents that the caller sees.
    documents: u64,
    /// What a document is: file, lines, jsonl, csv and others.
    records: &'static str,
    /// True if documents are the entries of file systems, directories too.
    entries: bool,
    /// The field that is the key, if one is.
    key: Option<String>,
    fields: Vec<FieldAnswer>,
    /// What the index lacks; null if nothing is known, and for a user.
    completeness: Option<Incomplete>,
    /// True if snippets and texts can be shown.
    snippets: bool,
    /// True if documents like another can be found.
    like: bool,
    /// True if near-duplicates can be shown once.
    collapse: bool,
    /// True if documents have paths and sizes, which `usage` and `growth` sum up.
    sizes: bool,
}

/// A field.
#[derive(Debug, Serialize, JsonSchema)]
struct FieldAnswer {
    name: String,
    /// text, keyword, path, unsigned, signed, float, boolean, date or bytes.
    kind: &'static str,
    /// True if it can be counted, sorted and grouped by.
    column: bool,
    stored: bool,
    searched: bool,
    /// True if words without a field search it.
    default: bool,
}

/// Lists the indexes.
pub(super) fn list(state: Arc<ApiState>, request: Request) -> Handled {
    handle(state, request, &[], |_| Ok(()), |context, ()| list_answer(context))
}

fn list_answer(context: &Context<'_>) -> Result<Answer, Refusal> {
    let all = context.indexes();
    let commits: Vec<u64> = all.iter().flat_map(|one| one.seen.state()).collect();
    let tag = context.tag(&commits)?;
    let (user, trimmed) = match &context.head.caller {
        Caller::Everything { .. } => (None, false),
        Caller::User { name, user } => (Some(UserAnswer { name: name.to_string(), uid: user.uid() }), true),
    };
    let listed = |one: &IndexSummary| {
        let info = one.seen.snapshot.info();
        IndexListed {
            name: one.name.to_string(),
            path: one.path.clone(),
            documents: info.documents,
            generation: info.generation,
            committed: one.seen.commits.first().and_then(|commit| committed(commit)),
        }
    };
    let (recognized_by, socket) = match &context.head.recognition {
        None => (None, None),
        Some(Recognition::Token) => (Some("token"), None),
        Some(Recognition::Proxy) => (Some("proxy"), None),
        Some(Recognition::Socket(path)) => {
            (Some("socket"), path.as_deref().and_then(Path::to_str).map(str::to_owned))
        }
    };
    let server = ServerAnswer { name: "scanns", version: env!("CARGO_PKG_VERSION") };
    let indexes = all.iter().map(listed).collect();
    Answer::json(&IndexesAnswer { server, user, trimmed, recognized_by, socket, indexes }, tag)
}

/// Describes an index.
pub(super) fn info(state: Arc<ApiState>, request: Request) -> Handled {
    handle(
        state,
        request,
        &[],
        |asked: &Asked<'_>| Ok(asked.head.index()),
        |context, name| info_answer(context, name),
    )
}

fn info_answer(context: &Context<'_>, name: &str) -> Result<Answer, Refusal> {
    let (seen, tag) = context.seen(&[name])?;
    let snapshot = &*seen.snapshot;
    let info = snapshot.info();
    let defaults = snapshot.schema().default_fields();
    let field = |(field, entry): (scanns::schema::Field, &scanns::schema::FieldEntry)| FieldAnswer {
        name: entry.name.clone(),
        kind: entry.kind.name(),
        column: entry.column,
        stored: entry.stored,
        searched: entry.searched,
        default: defaults.contains(&field),
    };
    let commit = seen.commits.first();
    let has_text = info.stored.store != Store::None;
    let key = snapshot.key_field().and_then(|field| snapshot.schema().entry(field));
    let answer = InfoAnswer {
        name: seen.name(),
        generation: info.generation,
        committed: commit.and_then(|commit| committed(commit)),
        age_seconds: commit.and_then(|commit| Some(commit.committed?.elapsed().ok()?.as_secs())),
        documents: info.documents,
        records: info.records.name(),
        entries: snapshot.has_entries(),
        key: key.map(|entry| entry.name.clone()),
        fields: fields::known(snapshot).map(field).collect(),
        completeness: incomplete(&seen),
        snippets: has_text,
        like: has_text || has_vectors(snapshot),
        collapse: snapshot.sketch_field().is_some(),
        sizes: Directories::of(snapshot).is_some(),
    };
    // The age grows although nothing changes.
    Answer::json(&answer, tag)
}

/// True if documents have the words that others can be like, although no text is stored.
fn has_vectors(snapshot: &Snapshot) -> bool {
    let Some(field) = snapshot.schema().default_field() else { return false };
    let first = snapshot.searcher().top_k(&scanns::Query::All, scanns::search::Model::Classic, 1);
    let Ok(Some(hit)) = first.map(|hits| hits.first().copied()) else { return false };
    snapshot.like(&hit, field, &MoreLikeThis::default()).is_ok()
}

/// When a commit was made, in RFC 3339.
fn committed(commit: &Opened) -> Option<String> {
    date(commit.committed?)
}

fn date(time: SystemTime) -> Option<String> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(format_date(i64::try_from(since.as_nanos()).ok()?))
}
