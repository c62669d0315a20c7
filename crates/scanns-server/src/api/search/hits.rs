//! Shows hits: keys, values, snippets, texts and explanations.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use scanns::schema::{Field, Store, Value};
use scanns::search::{Explanation, Highlighter, Model, PreparedQuery, Snippet, SortedHit};
use scanns::{Error, Hit, Query, Snapshot};
use serde_json::Value as Json;

use super::answer::{ExplanationAnswer, HitAnswer, SnippetAnswer};
use crate::api::context::Refusal;
use crate::api::fields;
use crate::api::request::ShowRequest;
use crate::api::show::{self, ShownText};
use crate::indexes::Seen;
use crate::problem::Problem;

/// Shows hits of a query, as a request asks for it.
pub(crate) struct HitPrinter<'a> {
    seen: &'a Seen,
    show: &'a ShowRequest,
    prepared: &'a PreparedQuery<'a, 'a, 'a>,
    model: Model,
    field: Field,
    fields: Vec<Field>,
    highlighter: Option<Highlighter<'a>>,
    /// The number of bytes that the hits may still have.
    room: usize,
}

/// A hit with what is known of its place.
pub(crate) struct Placed<'h> {
    pub(crate) rank: u64,
    pub(crate) hit: &'h SortedHit,
    pub(crate) near: u64,
    /// True if the score was computed.
    pub(crate) scored: bool,
    pub(crate) after: Option<String>,
}

impl<'a> HitPrinter<'a> {
    /// A printer for hits of a prepared query, whose answer has at most `room` bytes of JSON.
    ///
    /// # Errors
    /// 400 for a field without values, and 422 for texts that the index does not store.
    pub(crate) fn new(
        seen: &'a Seen,
        show: &'a ShowRequest,
        asked: (&'a Query, &'a PreparedQuery<'a, 'a, 'a>, Field),
        model: Model,
        room: usize,
    ) -> Result<Self, Refusal> {
        let ((query, prepared, field), snapshot) = (asked, &*seen.snapshot);
        for (name, is_asked) in [("snippets", show.snippets.is_some()), ("content", show.content)] {
            if is_asked && snapshot.info().stored.store == Store::None {
                return Err(no_text().of_parameter(name).into());
            }
        }
        let fields = show.fields.iter().map(|name| fields::kept(snapshot, name)).collect::<Result<_, _>>()?;
        let highlighter =
            show.snippets.map(|options| snapshot.highlighter(field, query, options)).transpose()?;
        Ok(HitPrinter { seen, show, prepared, model, field, fields, highlighter, room })
    }

    /// A hit as JSON.
    ///
    /// # Errors
    /// The errors of reading the hit, and 416 if the hits have more bytes than an answer may have.
    pub(crate) fn print(&mut self, placed: Placed<'_>) -> Result<HitAnswer, Refusal> {
        let (snapshot, hit) = (&self.seen.snapshot, &placed.hit.hit);
        let key = snapshot.key(hit)?;
        let mut text_error = None;
        let content = if self.show.content { read(snapshot.document(hit), &mut text_error)? } else { None };
        let highlighter = self.highlighter.as_mut().filter(|_| text_error.is_none());
        let snippets = highlighter.map(|highlighter| snapshot.snippets(hit, self.field, highlighter));
        let snippets = snippets.map_or(Ok(None), |snippets| read(snippets, &mut text_error))?;
        let fields = self.fields(hit)?;
        let explanation = match self.show.explain {
            true => self.prepared.explain(self.model, hit)?.as_ref().map(explanation),
            false => None,
        };
        let answer = HitAnswer {
            rank: placed.rank,
            index: (self.seen.names.len() > 1).then(|| self.index_of(hit)),
            score: if placed.scored { show::score(hit.score) } else { Json::Null },
            sort: placed.hit.keys.iter().map(|key| key.as_ref().map_or(Json::Null, show::value)).collect(),
            key: show::shown(&key).into_owned(),
            key_bytes: show::exact(&key),
            fields,
            snippets: snippets.map(|snippets| snippets.iter().map(snippet).collect()),
            content: content.as_deref().map(|text| show::shown(text).into_owned()),
            content_bytes: content.as_deref().and_then(show::exact),
            text_error,
            explanation,
            near: placed.near,
            after: placed.after,
        };
        self.take(&answer)?;
        Ok(answer)
    }

    /// The name of the index of a hit.
    fn index_of(&self, hit: &Hit) -> String {
        let mut end = 0;
        let mut parts = self.seen.names.iter().zip(&self.seen.commits);
        let part = parts.find(|(_, commit)| {
            end += commit.snapshot.segments().len();
            hit.leaf < end
        });
        part.map(|(name, _)| name.to_string()).unwrap_or_default()
    }

    fn fields(&self, hit: &Hit) -> Result<BTreeMap<String, Vec<Json>>, Refusal> {
        let values = match self.fields.is_empty() {
            true => Vec::new(),
            false => self.seen.snapshot.field_values(hit, &self.fields)?,
        };
        Ok(named_values(self.show.fields.iter().map(String::as_str).zip(&values)))
    }

    /// Refuses an answer with too many bytes.
    fn take(&mut self, answer: &HitAnswer) -> Result<(), Refusal> {
        let mut written = WrittenBytes(0);
        // What only counts cannot fail.
        let _ = serde_json::to_writer(&mut written, answer);
        match self.room.checked_sub(written.0) {
            Some(rest) => self.room = rest,
            None => {
                let detail = "the values and texts of these hits are too large for one answer: ask for fewer \
                              hits at a time, for fewer fields, or without content";
                let (kind, title) = ("/problems/window", "The answer is too large");
                let problem = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, kind, title, detail);
                return Err(problem.of_parameter("limit").into());
            }
        }
        Ok(())
    }
}

/// Counts what is written.
struct WrittenBytes(usize);

impl std::io::Write for WrittenBytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The problem of an index without texts.
pub(crate) fn no_text() -> Problem {
    let detail = "the index does not store text: it must be built with --store content or --store reference";
    let (kind, title) = ("/problems/unsupported", "The index cannot answer this");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail)
}

/// Values by name, with base64 beside texts that are not valid UTF-8.
pub(crate) fn named_values<'n>(
    values: impl Iterator<Item = (&'n str, &'n Vec<Value>)>,
) -> BTreeMap<String, Vec<Json>> {
    let mut named = BTreeMap::new();
    for (name, values) in values {
        let exact: Vec<Option<String>> = values.iter().map(show::exact_value).collect();
        if exact.iter().any(Option::is_some) {
            named.insert(format!("{name}_bytes"), exact.into_iter().map(Json::from).collect());
        }
        named.insert(name.to_owned(), values.iter().map(show::value).collect());
    }
    named
}

/// What was read of a text. That its file has changed is told with the hit; the hit is still shown.
pub(crate) fn read<T>(
    read: scanns::Result<Option<T>>,
    text_error: &mut Option<String>,
) -> Result<Option<T>, Refusal> {
    match read {
        Err(error @ (Error::SourceChanged { .. } | Error::Io { .. })) => {
            *text_error = Some(match error {
                Error::SourceChanged { what, .. } => {
                    format!("the file has changed since it was indexed: {what}")
                }
                _ => "the file cannot be read".into(),
            });
            Ok(None)
        }
        read => Ok(read?),
    }
}

fn snippet(snippet: &Snippet) -> SnippetAnswer {
    let Snippet { text, start, marks, goes_on } = snippet;
    let (start, more, text_bytes) = (*start, *goes_on, show::exact(text));
    if text_bytes.is_none() {
        let marks = marks.iter().map(|mark| (mark.start, mark.end)).collect();
        return SnippetAnswer { text: show::shown(text).into_owned(), text_bytes, start, marks, more };
    }
    let shown = ShownText::of(text);
    let marks = marks.iter().map(|mark| (shown.place(mark.start), shown.place(mark.end))).collect();
    SnippetAnswer { text: shown.text, text_bytes, start, marks, more }
}

fn explanation(found: &Explanation) -> ExplanationAnswer {
    let Explanation { value, description, details } = found;
    let details = details.iter().map(explanation).collect();
    ExplanationAnswer { value: show::score(*value), description: description.clone(), details }
}

/// The text of a document of a snapshot, for other requests than searches.
pub(crate) fn text_of(
    snapshot: &Snapshot,
    hit: &Hit,
    text_error: &mut Option<String>,
) -> Result<Option<Vec<u8>>, Refusal> {
    if snapshot.info().stored.store == Store::None {
        return Ok(None);
    }
    read(snapshot.document(hit), text_error)
}
