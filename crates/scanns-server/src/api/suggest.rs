//! Completes a query that is being written: names of fields, their values, and words.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use scanns::Snapshot;
use scanns::schema::{Field, Value, format_date};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{Answer, ApiState, Context, Refusal};
use super::fields;
use super::handle::{Asked, Handled, handle};
use super::parameter::SUGGEST;
use super::search::answer::DidYouMean;
use super::search::other_spelling;
use super::terms::{Listing, field_of};
use crate::problem::Problem;

/// The time for the suggestions: somebody is typing.
const TIME: Duration = Duration::from_millis(200);

/// Suggestions for a part of a query.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SuggestAnswer {
    /// Where the part begins that a suggestion replaces, in bytes.
    from: usize,
    /// Where it ends.
    to: usize,
    suggestions: Vec<SuggestionAnswer>,
    did_you_mean: Option<DidYouMean>,
    /// True if the time was up: there may be better suggestions.
    partial: bool,
}

/// A suggestion.
#[derive(Debug, Serialize, JsonSchema)]
struct SuggestionAnswer {
    /// The text to put in place, with quotes if the query needs them.
    text: String,
    /// field, value or term.
    kind: &'static str,
    /// The number of documents that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

struct SuggestRequest {
    index: String,
    text: String,
    position: usize,
    limit: usize,
}

/// Suggests what to write.
pub(super) fn suggest(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let text = asked.given.text("q")?.unwrap_or_default().to_owned();
        let position = asked.given.number("position")?.map(usize::try_from);
        let position = position.map_or(Some(text.len()), Result::ok).filter(|at| text.is_char_boundary(*at));
        let wrong =
            || Problem::parameter("position", "position is not the place of a character of q, in bytes");
        Ok(SuggestRequest {
            index: asked.head.index(),
            position: position.ok_or_else(wrong)?,
            text,
            limit: usize::try_from(asked.given.number("limit")?.unwrap_or(10)).unwrap_or(usize::MAX),
        })
    };
    handle(state, request, &[SUGGEST], read, answer)
}

fn answer(context: &Context<'_>, request: &SuggestRequest) -> Result<Answer, Refusal> {
    let (seen, tag) = context.seen(&[&request.index])?;
    let snapshot = &*seen.snapshot;
    let part = Part::at(&request.text, request.position);
    let mut found = Found { suggestions: Vec::new(), partial: false };
    match part.field {
        Some(name) => {
            // A name that no field has gets no suggestions.
            if let Ok(field) = field_of(snapshot, name) {
                found.add(context, snapshot, (field, part.word, "value"), request.limit)?;
            }
        }
        None => {
            let is_usable = |entry: &scanns::schema::FieldEntry| entry.searched || entry.column;
            let names = fields::known(snapshot).filter(|(_, entry)| is_usable(entry));
            let begins =
                names.filter(|(_, entry)| !part.word.is_empty() && entry.name.starts_with(part.word));
            found.suggestions.extend(begins.map(|(_, entry)| SuggestionAnswer {
                text: format!("{}:", entry.name),
                kind: "field",
                count: None,
            }));
            let default = snapshot.schema().default_field().filter(|_| !part.word.is_empty());
            if let Some(field) = default {
                let word = part.word.to_lowercase();
                found.add(context, snapshot, (field, &word, "term"), request.limit)?;
            }
        }
    }
    found.suggestions.truncate(request.limit);
    let answer = SuggestAnswer {
        from: part.from,
        to: request.position,
        suggestions: found.suggestions,
        did_you_mean: other_spelling(context, snapshot, &request.text)?,
        partial: found.partial,
    };
    Answer::json(&answer, tag.filter(|_| !found.partial))
}

/// What was found so far.
struct Found {
    suggestions: Vec<SuggestionAnswer>,
    partial: bool,
}

impl Found {
    /// Adds the most frequent terms of a field that begin with a word.
    fn add(
        &mut self,
        context: &Context<'_>,
        snapshot: &Snapshot,
        what: (Field, &str, &'static str),
        limit: usize,
    ) -> Result<(), Refusal> {
        let (field, prefix, kind) = what;
        let listing = Listing { prefix, limit, by_term: false, time: TIME };
        let listed = match listing.list(context, snapshot, field) {
            // Numbers have no beginnings; the query itself is not wrong.
            Err(Refusal::Problem(problem)) if problem.status.is_client_error() => return Ok(()),
            listed => listed?,
        };
        self.partial |= listed.partial;
        self.suggestions.extend(listed.terms.into_iter().filter_map(|(value, count)| {
            let text = match value {
                Value::Text(text) => quoted(&String::from_utf8(text).ok()?),
                Value::Unsigned(number) => number.to_string(),
                Value::Signed(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::Boolean(flag) => flag.to_string(),
                Value::Date(moment) => format_date(moment),
                Value::Bytes(_) => return None,
            };
            Some(SuggestionAnswer { text, kind, count: Some(count) })
        }));
        Ok(())
    }
}

/// The part of a query before the cursor.
#[derive(Debug, PartialEq, Eq)]
struct Part<'t> {
    /// The name of a field and a colon come before it.
    field: Option<&'t str>,
    word: &'t str,
    /// Where the word begins, with its quotation mark if it has one.
    from: usize,
}

impl<'t> Part<'t> {
    fn at(text: &'t str, position: usize) -> Self {
        let before = text.get(..position).unwrap_or(text);
        let is_break = |letter: char| letter.is_whitespace() || matches!(letter, '(' | ')' | '[' | ']');
        // An open quotation mark is a part of the word that it begins.
        let (mut start, mut quote, mut escaped) = (0, None, false);
        for (at, letter) in before.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' if quote.is_some() => quote = None,
                '"' => quote = Some(at),
                letter if quote.is_none() && is_break(letter) => start = at + letter.len_utf8(),
                _ => {}
            }
        }
        let token = before.get(start..).unwrap_or_default();
        let signs = token.len() - token.trim_start_matches(['+', '-', '!']).len();
        let (token, start) = (token.get(signs..).unwrap_or_default(), start + signs);
        let colon = token.find(':').filter(|colon| quote.is_none_or(|quote| quote > start + colon));
        let (field, word, from) = match colon {
            Some(colon) => {
                (token.get(..colon), token.get(colon + 1..).unwrap_or_default(), start + colon + 1)
            }
            None => (None, token, start),
        };
        let word = word.strip_prefix('"').unwrap_or(word);
        Part { field, word, from }
    }
}

/// A value as a query needs it.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    let is_word = text.chars().all(is_plain) && !matches!(text, "AND" | "OR" | "NOT" | "TO" | "");
    if is_word { text.to_owned() } else { format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_before_the_cursor_is_found() {
        for (text, field, word, from) in [
            ("", None, "", 0),
            ("lic", None, "lic", 0),
            ("a lic", None, "lic", 2),
            ("a -lic", None, "lic", 3),
            ("(own", None, "own", 1),
            ("owner:", Some("owner"), "", 6),
            ("x +owner:an", Some("owner"), "an", 9),
            ("owner:\"ann b", Some("owner"), "ann b", 6),
            ("owner:\"a\" b", None, "b", 10),
            ("\"a b", None, "a b", 0),
            ("path:/data/x:y", Some("path"), "/data/x:y", 5),
            ("ä ow", None, "ow", 3),
        ] {
            assert_eq!(Part::at(text, text.len()), Part { field, word, from }, "{text}");
        }
        assert_eq!(Part::at("own x", 2), Part { field: None, word: "ow", from: 0 });
        assert_eq!(
            [quoted("gz"), quoted("a b"), quoted("a\"\\"), quoted("OR")],
            ["gz", "\"a b\"", "\"a\\\"\\\\\"", "\"OR\""]
        );
    }
}
