//! A document: its values and its text.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::context::{Answer, ApiState, Context, Refusal};
use super::handle::{Asked, Handled, handle};
use super::parameter::{DOCUMENT, KEY};
use super::search::find;
use super::search::hits::{named_values, no_text, text_of};
use super::{fields, show};
use crate::problem::Problem;

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DocumentAnswer {
    index: String,
    generation: u64,
    key: String,
    /// The key in base64, if it is not valid UTF-8.
    key_bytes: Option<String>,
    /// All values that the index keeps, by field.
    fields: BTreeMap<String, Vec<Json>>,
    /// The text; null if the index stores none, or if the caller may not read it.
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_bytes: Option<String>,
    /// Why the text could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_error: Option<String>,
}

struct DocumentRequest {
    index: String,
    key: Vec<u8>,
    raw: bool,
    content: bool,
}

impl DocumentRequest {
    fn of(asked: &Asked<'_>, key: Vec<u8>) -> Result<Self, Problem> {
        Ok(DocumentRequest {
            index: asked.head.index(),
            key,
            raw: asked.given.word("raw")?.is_some(),
            content: asked.given.flag("content")?.unwrap_or(true),
        })
    }
}

/// Shows a document.
pub(super) fn document(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| DocumentRequest::of(asked, asked.head.rest("documents")?);
    handle(state, request, &[DOCUMENT], read, answer)
}

/// Shows the document whose key is a parameter.
pub(super) fn by_key(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let key = asked.given.bytes("key")?;
        let key = key.ok_or_else(|| Problem::parameter("key", "the key of a document is missing"))?;
        DocumentRequest::of(asked, key.into_owned())
    };
    handle(state, request, &[KEY, DOCUMENT], read, answer)
}

fn answer(context: &Context<'_>, request: &DocumentRequest) -> Result<Answer, Refusal> {
    let (seen, tag) = context.seen(&[&request.index])?;
    let snapshot = &*seen.snapshot;
    let hit = find(snapshot, &request.key)?;
    let mut text_error = None;
    let wants_text = request.raw || request.content;
    let text = if wants_text { text_of(snapshot, &hit, &mut text_error)? } else { None };
    if request.raw {
        let text = text.ok_or_else(|| match text_error {
            Some(why) => Problem { detail: why, ..no_text() },
            None => no_text(),
        })?;
        let answer = Answer::of(text, "text/plain; charset=utf-8", tag);
        return Ok(answer.with(CONTENT_SECURITY_POLICY, "sandbox").with(X_CONTENT_TYPE_OPTIONS, "nosniff"));
    }
    if text.as_ref().is_some_and(|text| text.len() > context.state.limits.answer) {
        let detail = "the text is too large for an answer of JSON: ask for it with raw=text";
        return Err(Problem::parameter("content", detail).into());
    }
    let kept = fields::known(snapshot).filter(|(_, entry)| entry.column || entry.stored);
    let (numbers, names): (Vec<_>, Vec<_>) = kept.map(|(field, entry)| (field, entry.name.as_str())).unzip();
    let values = snapshot.field_values(&hit, &numbers)?;
    let has_values = names.into_iter().zip(&values).filter(|(_, values)| !values.is_empty());
    let answer = DocumentAnswer {
        index: seen.name(),
        generation: snapshot.info().generation,
        key: show::shown(&request.key).into_owned(),
        key_bytes: show::exact(&request.key),
        fields: named_values(has_values),
        content: text.as_deref().map(|text| show::shown(text).into_owned()),
        content_bytes: text.as_deref().and_then(show::exact),
        text_error,
    };
    Answer::json(&answer, tag)
}
