//! The page with its first answer in it: for readers without scripts, and for those whose scripts are still
//! on their way.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::IntoResponse;
use scanns::schema::Store;

use super::context::{Answer, ApiState, Context, Head, Refusal, respond};
use super::given::{Given, decoded};
use super::handle::Handled;
use super::request::SearchRequest;
use super::search::answer::{HitAnswer, SearchAnswer, SnippetAnswer};
use super::search::search;
use super::searches::SEARCH;
use crate::page::{attribute, escaped, filled_page};
use crate::problem::Problem;

/// The hits of a page.
const HITS: usize = 20;

/// Answers a request for the page.
pub(super) fn first_page(state: Arc<ApiState>, request: Request) -> Handled {
    Box::pin(async move {
        let (parts, _) = request.into_parts();
        match Head::of(&parts) {
            Ok(head) => respond(state, head, page).await,
            Err(problem) => problem.into_response(),
        }
    })
}

/// What the address of the page says. The other names in it belong to the page.
struct AskedPage {
    index: String,
    query: String,
    /// The parameters of the search, as they stand in the address.
    search: Vec<(&'static str, String)>,
}

impl AskedPage {
    /// Of names that are given several times, the last value counts, as in the page.
    fn of(address: Option<&str>, first_index: &str) -> Self {
        let pairs = address.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let pairs: Vec<(&str, &str)> = pairs.collect();
        let last = |name: &str| pairs.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let text = |name: &str| {
            let value = last(name).and_then(|value| decoded(value, true))?;
            Some(String::from_utf8_lossy(&value).into_owned())
        };
        let names = ["q", "sort", "after", "default_operator", "field"];
        let search = names.into_iter().filter_map(|name| {
            let value = last(name).filter(|value| !value.is_empty())?;
            Some((name, value.to_owned()))
        });
        let index = text("index").filter(|index| !index.is_empty());
        AskedPage {
            index: index.unwrap_or_else(|| first_index.to_owned()),
            query: text("q").unwrap_or_default(),
            search: search.collect(),
        }
    }

    /// The address of a search, for an index with or without texts.
    fn address(&self, has_texts: bool) -> String {
        let mut address = format!("limit={HITS}");
        if has_texts {
            address.push_str("&snippets=true");
        }
        for (name, value) in &self.search {
            address.push_str(&format!("&{name}={value}"));
        }
        address
    }
}

/// Makes the page on a thread of the pool.
fn page(context: &Context<'_>) -> Result<Answer, Refusal> {
    let first = context.state.indexes.names().next().unwrap_or_default();
    let asked = AskedPage::of(context.head.query.as_deref(), first);
    let (status, results) = match answer(context, &asked) {
        Ok((status, answer)) => (status, results(&asked, &answer)),
        Err(Refusal::Problem(problem)) => (String::new(), told(&problem)),
        Err(unmodified @ Refusal::NotModified(_)) => return Err(unmodified),
    };
    let title = if asked.query.is_empty() { asked.index.clone() } else { asked.query.clone() };
    let values = [
        ("title", format!("{} – scanns", escaped(&title))),
        ("index", attribute(&asked.index)),
        ("q", attribute(&asked.query)),
        ("status", status),
        ("results", results),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let html = filled_page(&values)?;
    Ok(Answer::of(html.into_bytes(), "text/html; charset=utf-8", None))
}

/// The status of the index, and the answer to the search.
fn answer(context: &Context<'_>, asked: &AskedPage) -> Result<(String, SearchAnswer), Refusal> {
    let seen = context.view(&[asked.index.as_str()])?;
    let info = seen.snapshot.info();
    let address = asked.address(info.stored.store != Store::None);
    let given = Given::of_address(Some(&address), SEARCH)?;
    let request = SearchRequest::of(&given, &context.state.limits)?;
    let answer = search(context, &seen, &request)?;
    let mut status = format!("<strong>{}</strong> documents", grouped(info.documents));
    if let Some(incomplete) = &answer.incomplete {
        let _ = write!(status, " · {}", escaped(&incomplete.text));
    }
    Ok((status, answer))
}

fn results(asked: &AskedPage, answer: &SearchAnswer) -> String {
    let mut html = String::new();
    let count = answer.count.map_or_else(
        || "Some documents".into(),
        |count| match count {
            1 => "1 document".to_owned(),
            count => format!("{} documents", grouped(count)),
        },
    );
    // Writing to a string cannot fail.
    let _ = write!(html, "<p class=\"count\"><strong>{count}</strong></p>");
    if let Some(reason) = &answer.partial_reason {
        let _ = write!(html, "<p class=\"notice\">Not all is shown: {}.</p>", escaped(reason));
    }
    if let Some(meant) = &answer.did_you_mean {
        let link = link(&asked.index, &meant.text, None);
        let _ = write!(
            html,
            "<p class=\"notice\">Did you mean <a href=\"{link}\">{}</a>?</p>",
            escaped(&meant.text)
        );
    }
    html.push_str("<ol class=\"hits\">");
    answer.hits.iter().for_each(|hit| put_hit(&mut html, hit));
    html.push_str("</ol>");
    if let Some(after) = &answer.after {
        let link = link(&asked.index, &asked.query, Some(after));
        let _ = write!(html, "<nav class=\"pager\"><a href=\"{link}\">Next page</a></nav>");
    }
    html
}

fn put_hit(html: &mut String, hit: &HitAnswer) {
    let (rank, key) = (hit.rank, escaped(&hit.key));
    let _ = write!(html, "<li class=\"hit\" value=\"{rank}\"><bdi class=\"hit-name\">{key}</bdi>");
    for snippet in hit.snippets.iter().flatten() {
        let _ = write!(html, "<p class=\"snippet\">{}</p>", marked(snippet));
    }
    html.push_str("</li>");
}

/// The text of a snippet with its matches.
fn marked(snippet: &SnippetAnswer) -> String {
    let (mut html, mut done) = (String::new(), 0);
    for &(from, to) in &snippet.marks {
        let (Some(before), Some(found)) = (snippet.text.get(done..from), snippet.text.get(from..to)) else {
            break;
        };
        let _ = write!(html, "{}<mark>{}</mark>", escaped(before), escaped(found));
        done = to;
    }
    html + &escaped(snippet.text.get(done..).unwrap_or_default())
}

/// A problem as the page shows it.
fn told(problem: &Problem) -> String {
    format!(
        "<p class=\"notice error\"><strong>{}</strong>: {}</p>",
        escaped(problem.title),
        escaped(&problem.detail)
    )
}

/// A link to a page of hits, for an attribute.
fn link(index: &str, query: &str, after: Option<&str>) -> String {
    let mut link = format!("./?index={}&q={}", encoded(index), encoded(query));
    if let Some(after) = after {
        link.push_str(&format!("&after={}", encoded(after)));
    }
    attribute(&link)
}

/// A text, percent-encoded for the query of an address.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_values_counts_and_other_names_are_left() {
        let asked = AskedPage::of(Some("q=a+b&view=map&after=1&after=2&index=x%20y&open=%00"), "first");
        assert_eq!((asked.index.as_str(), asked.query.as_str()), ("x y", "a b"));
        assert_eq!(asked.address(false), "limit=20&q=a+b&after=2");
        assert_eq!(AskedPage::of(None, "first").index, "first");
    }

    #[test]
    fn links_and_texts_are_harmless() {
        assert_eq!(
            link("a&b", "\"<x>' é", Some("t/1")),
            "./?index=a%26b&amp;q=%22%3Cx%3E%27%20%C3%A9&amp;after=t/1"
        );
        let snippet = SnippetAnswer {
            text: "<b>é & co".into(),
            text_bytes: None,
            start: 0,
            marks: vec![(3, 5), (8, 10)],
            more: false,
        };
        assert_eq!(marked(&snippet), "&lt;b&gt;<mark>é</mark> &amp; <mark>co</mark>");
        let cut = SnippetAnswer { marks: vec![(4, 5)], ..snippet };
        assert_eq!(marked(&cut), "&lt;b&gt;é &amp; co", "a mark within a character is left out");
        assert_eq!((grouped(0), grouped(1_234_567)), ("0".into(), "1,234,567".into()));
    }
}
