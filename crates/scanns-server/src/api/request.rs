//! A search as a request asks for it, before any index is looked at.

use std::time::Duration;

use axum::http::StatusCode;
use scanns::query::Operator;
use scanns::search::{Missing, Model, Rm3, SnippetOptions};

use super::given::Given;
use super::limits::Limits;
use super::parameter::MODELS;
use crate::problem::Problem;

/// The maximum number of columns of an order.
const MOST_COLUMNS: usize = 16;

/// What is searched.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question {
    Text(String),
    Json(String),
    /// Documents like one of this key.
    Like(Vec<u8>, scanns::search::MoreLikeThis),
}

/// A column of an order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderColumn {
    /// Its name, or `score`.
    pub(super) name: String,
    pub(super) descending: bool,
    pub(super) missing: Missing,
}

/// An order of hits.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Order {
    Score,
    Key { descending: bool },
    Columns(Vec<OrderColumn>),
}

/// A group for each value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GroupRequest {
    pub(super) field: String,
    pub(super) hits: usize,
    pub(super) missing: bool,
}

/// What is computed over all matches, in the words of the command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FacetRequest {
    pub(super) facets: Vec<String>,
    pub(super) stats: Vec<String>,
    pub(super) distinct: Vec<String>,
}

/// What is shown of each hit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ShowRequest {
    pub(super) fields: Vec<String>,
    pub(super) snippets: Option<SnippetOptions>,
    pub(super) explain: bool,
    pub(super) content: bool,
}

/// A search.
#[derive(Clone, Debug)]
pub(super) struct SearchRequest {
    pub(super) question: Question,
    pub(super) field: Option<String>,
    pub(super) operator: Operator,
    /// How the query is expanded by words of its best hits.
    pub(super) feedback: Option<Rm3>,
    pub(super) model: Model,
    pub(super) limit: usize,
    pub(super) after: Option<String>,
    pub(super) order: Order,
    pub(super) show: ShowRequest,
    pub(super) aggregations: FacetRequest,
    pub(super) group: Option<GroupRequest>,
    pub(super) collapse: Option<u32>,
    pub(super) count: bool,
    pub(super) time: Duration,
    pub(super) facet_time: Duration,
}

impl SearchRequest {
    /// The search that a request gives.
    ///
    /// # Errors
    /// 400 for a value that is wrong, and 416 for more hits than an answer may have.
    pub(super) fn of(given: &Given, limits: &Limits) -> Result<Self, Problem> {
        let limit = usize::try_from(given.number("limit")?.unwrap_or(10)).unwrap_or(usize::MAX);
        let group = group(given)?;
        if limit.saturating_mul(group.as_ref().map_or(1, |group| group.hits)) > limits.window {
            return Err(too_large(limits.window));
        }
        let texts = |name| given.texts(name);
        let aggregations =
            FacetRequest { facets: texts("facet")?, stats: texts("stats")?, distinct: texts("distinct")? };
        let (most, all) = (limits.aggregations, &aggregations);
        if all.facets.len() + all.stats.len() + all.distinct.len() > most {
            return Err(Problem::parameter(
                "facet",
                format!("there are more than {most} facets and statistics"),
            ));
        }
        let collapse = given.number("collapse")?.map(|bits| u32::try_from(bits).unwrap_or(u32::MAX));
        let after = given.text("after")?.map(String::from);
        for (name, is_given) in [("group", group.is_some()), ("collapse", collapse.is_some())] {
            if is_given && after.is_some() {
                return Err(Problem::parameter(
                    "after",
                    format!("after cannot be used with {name}: it has one page"),
                ));
            }
        }
        if group.is_some() && collapse.is_some() {
            return Err(Problem::parameter("collapse", "collapse cannot be used with group: leave one out"));
        }
        let time =
            |name, most: Duration| given.time(name).map(|time| time.map_or(most, |time| time.min(most)));
        Ok(SearchRequest {
            question: question(given)?,
            field: given.text("field")?.map(String::from),
            operator: operator(given)?,
            feedback: feedback(given)?,
            model: model(given)?,
            limit,
            after,
            order: order(given.text("sort")?.unwrap_or("score"))?,
            show: show(given)?,
            aggregations,
            group,
            collapse,
            count: given.flag("count")?.unwrap_or(true),
            time: time("timeout", limits.query_time)?,
            facet_time: time("facet_timeout", limits.facet_time)?,
        })
    }
}

fn too_large(window: usize) -> Problem {
    let detail =
        format!("an answer has at most {window} hits: ask for the next ones with after, or export them");
    let (kind, title) = ("/problems/window", "The window of hits is too large");
    Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, kind, title, detail).of_parameter("limit")
}

/// How words without an operator between them are combined.
pub(super) fn operator(given: &Given) -> Result<Operator, Problem> {
    let is_and = given.word("default_operator")? == Some("and");
    Ok(if is_and { Operator::And } else { Operator::Or })
}

/// How the query is expanded, if it is.
#[expect(clippy::cast_possible_truncation, reason = "the weight is a float of 32 bits")]
fn feedback(given: &Given) -> Result<Option<Rm3>, Problem> {
    if given.flag("rm3")? != Some(true) {
        let parts = ["rm3_documents", "rm3_terms", "rm3_weight"];
        return match parts.into_iter().find(|part| given.has(part)) {
            Some(part) => Err(Problem::parameter(part, format!("{part} needs rm3"))),
            None => Ok(None),
        };
    }
    let number = |name, default| {
        given
            .number(name)
            .map(|given| given.and_then(|number| usize::try_from(number).ok()).unwrap_or(default))
    };
    let default = Rm3::default();
    let weight = given.decimal("rm3_weight")?.unwrap_or(default.original_weight.into());
    if !(0.0..=1.0).contains(&weight) {
        return Err(Problem::parameter("rm3_weight", "rm3_weight must be a number from 0 to 1"));
    }
    Ok(Some(Rm3 {
        documents: number("rm3_documents", default.documents)?,
        terms: number("rm3_terms", default.terms)?,
        original_weight: weight as f32,
        ..default
    }))
}

/// What is searched; everything if the request does not say.
pub(super) fn question(given: &Given) -> Result<Question, Problem> {
    if given.has("key") {
        return example(given);
    }
    match (given.text("q")?, given.object("query")?) {
        (Some(_), Some(_)) => Err(Problem::parameter("query", "q and query are both given: leave one out")),
        (None, Some(json)) => Ok(Question::Json(json.into_owned())),
        (text, None) => {
            let text = text.unwrap_or("*");
            Ok(Question::Text(if text.trim().is_empty() { "*".into() } else { text.into() }))
        }
    }
}

fn example(given: &Given) -> Result<Question, Problem> {
    let key = given.bytes("key")?.unwrap_or_default().into_owned();
    let mut options = scanns::search::MoreLikeThis::default();
    if let Some(least) = given.number("like_min_freq")? {
        options.min_term_freq = u32::try_from(least).unwrap_or(u32::MAX);
    }
    options.min_doc_freq = given.number("like_min_docs")?.unwrap_or(options.min_doc_freq);
    options.max_doc_freq = given.number("like_max_docs")?;
    if let Some(most) = given.number("like_terms")? {
        options.max_terms = usize::try_from(most).unwrap_or(usize::MAX);
    }
    Ok(Question::Like(key, options))
}

fn show(given: &Given) -> Result<ShowRequest, Problem> {
    let mut options = SnippetOptions::default();
    let number =
        |name| given.number(name).map(|number| number.and_then(|number| usize::try_from(number).ok()));
    options.length = number("snippet_length")?.unwrap_or(options.length);
    options.fragments = number("snippet_count")?.unwrap_or(options.fragments);
    Ok(ShowRequest {
        fields: given.texts("fields")?,
        snippets: given.flag("snippets")?.unwrap_or(false).then_some(options),
        explain: given.flag("explain")?.unwrap_or(false),
        content: given.flag("content")?.unwrap_or(false),
    })
}

fn group(given: &Given) -> Result<Option<GroupRequest>, Problem> {
    let missing = given.flag("group_missing")?.unwrap_or(false);
    let Some(text) = given.text("group")? else {
        if missing {
            return Err(Problem::parameter("group_missing", "group_missing needs group"));
        }
        return Ok(None);
    };
    let (field, hits) = text.split_once(':').unwrap_or((text, "1"));
    let hits = hits.parse::<usize>().ok().filter(|hits| *hits > 0);
    let hits = hits
        .ok_or_else(|| Problem::parameter("group", "write FIELD, or FIELD:3 for three hits of each value"))?;
    Ok(Some(GroupRequest { field: field.into(), hits, missing }))
}

/// An order in the words of the command.
pub(super) fn order(text: &str) -> Result<Order, Problem> {
    match text {
        "score" => return Ok(Order::Score),
        "key" => return Ok(Order::Key { descending: false }),
        "-key" => return Ok(Order::Key { descending: true }),
        _ => {}
    }
    if text.split(',').count() > MOST_COLUMNS {
        return Err(Problem::parameter("sort", format!("hits are sorted by at most {MOST_COLUMNS} columns")));
    }
    text.split(',').map(order_column).collect::<Result<_, _>>().map(Order::Columns)
}

fn order_column(text: &str) -> Result<OrderColumn, Problem> {
    let wrong = |how: String| Problem::parameter("sort", how);
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let plain = name.strip_prefix('-').unwrap_or(name);
    if plain.is_empty() {
        return Err(wrong(
            "a column has no name: write score, key, -key, or columns as in size:desc,owner".into(),
        ));
    }
    if plain == "key" {
        return Err(wrong("key cannot be combined with columns: write key or -key alone".into()));
    }
    let descending = plain != name || plain == "score";
    let mut column = OrderColumn { name: plain.into(), descending, missing: Missing::Last };
    for part in parts {
        match part {
            "asc" => column.descending = false,
            "desc" => column.descending = true,
            "first" => column.missing = Missing::First,
            "last" => column.missing = Missing::Last,
            _ => {
                let name: String = plain.chars().take(60).collect();
                return Err(wrong(format!("what follows '{name}' is unknown: use asc, desc, first or last")));
            }
        }
    }
    Ok(column)
}

/// The model with its parameters; a parameter of another model would have no effect, so it is an error.
#[expect(clippy::cast_possible_truncation, reason = "parameters of models are floats of 32 bits")]
fn model(given: &Given) -> Result<Model, Problem> {
    let name = given.word("model")?.unwrap_or(MODELS.first().copied().unwrap_or_default());
    let of = |name, default| given.decimal(name).map(|value| value.unwrap_or(default));
    let single = |name, default| of(name, default).map(|value| value as f32);
    let (model, own): (Model, &[&str]) = match name {
        "tf-idf" => (Model::Classic, &[]),
        "lm-dirichlet" => (Model::LmDirichlet { mu: single("mu", 2000.0)? }, &["mu"]),
        "lm-jelinek-mercer" => (Model::LmJelinekMercer { lambda: single("lambda", 0.1)? }, &["lambda"]),
        "pl2" => (Model::Pl2 { c: single("c", 1.0)? }, &["c"]),
        "dph" => (Model::Dph, &[]),
        "p-norm" => (Model::PNorm { p: of("p", 2.0)? }, &["p"]),
        _ => (Model::Bm25 { k1: single("k1", 1.2)?, b: single("b", 0.75)? }, &["k1", "b"]),
    };
    for parameter in ["k1", "b", "mu", "lambda", "c", "p"] {
        if given.has(parameter) && !own.contains(&parameter) {
            let detail = format!("{parameter} is not a parameter of the model {name}: leave it out");
            return Err(Problem::parameter(parameter, detail));
        }
    }
    Ok(model)
}
