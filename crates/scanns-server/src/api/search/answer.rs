//! The answer to a search, as JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

/// The answer to a search.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SearchAnswer {
    /// The index; several are separated by commas.
    pub(crate) index: String,
    /// The number of the commit; of several indexes the greatest.
    pub(crate) generation: u64,
    /// The query as JSON.
    pub(crate) query: Json,
    /// The query as it was given as text.
    pub(crate) query_text: Option<String>,
    /// The number of all matches; null if it was not asked for or if the time was up.
    pub(crate) count: Option<u64>,
    /// True if the time was up: hits and counts are what was found until then.
    pub(crate) partial: bool,
    pub(crate) partial_reason: Option<String>,
    /// Seconds that the answer took.
    pub(crate) took: f64,
    /// What the index lacks.
    pub(crate) incomplete: Option<Incomplete>,
    pub(crate) did_you_mean: Option<DidYouMean>,
    pub(crate) hits: Vec<HitAnswer>,
    /// The token of the next page; null if there are no more hits.
    pub(crate) after: Option<String>,
    /// With `collapse`, the number of best hits among which near-duplicates were counted, if that is not all.
    pub(crate) compared: Option<usize>,
    pub(crate) groups: Option<Vec<GroupAnswer>>,
    /// With `group`, the number of all groups.
    pub(crate) groups_total: Option<u64>,
    pub(crate) facets: Vec<FacetAnswer>,
    pub(crate) stats: Vec<StatsAnswer>,
    pub(crate) distinct: Vec<DistinctAnswer>,
}

/// What an index lacks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Incomplete {
    /// What is missing, in sentences.
    pub(crate) text: String,
    /// The number of paths that could not be read.
    pub(crate) unread: u64,
    /// False if a scan or a dump was not complete.
    pub(crate) complete: bool,
}

/// Another spelling of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DidYouMean {
    /// The whole query in the other spelling.
    pub(crate) text: String,
    /// Each word that was changed, and what it became.
    pub(crate) changed: Vec<(String, String)>,
    /// For each of these, the number of documents that have the word, and that have what it became.
    pub(crate) counts: Vec<(u64, u64)>,
}

/// A hit.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HitAnswer {
    /// From 1, over all pages.
    pub(crate) rank: u64,
    /// The index, in searches of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<String>,
    /// The score; null in an order that needs none.
    pub(crate) score: Json,
    /// The values of the columns that the hit was sorted by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sort: Vec<Json>,
    pub(crate) key: String,
    /// The key in base64, if it is not valid UTF-8; `key` is escaped then.
    pub(crate) key_bytes: Option<String>,
    /// The values by field. Beside texts that are not valid UTF-8, `NAME_bytes` has base64.
    pub(crate) fields: BTreeMap<String, Vec<Json>>,
    pub(crate) snippets: Option<Vec<SnippetAnswer>>,
    pub(crate) content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_bytes: Option<String>,
    /// Why the text could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text_error: Option<String>,
    pub(crate) explanation: Option<ExplanationAnswer>,
    /// With `collapse`, the number of later hits that nearly repeat this one.
    pub(crate) near: u64,
    /// A token for the hits after this one.
    pub(crate) after: Option<String>,
}

/// A part of a text.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SnippetAnswer {
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text_bytes: Option<String>,
    /// Where it begins in the text of the document, in bytes.
    pub(crate) start: usize,
    /// The matches: where each begins and ends in `text`, in bytes.
    pub(crate) marks: Vec<(usize, usize)>,
    /// True if the text of the document goes on.
    pub(crate) more: bool,
}

/// How a score was computed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplanationAnswer {
    pub(crate) value: Json,
    pub(crate) description: String,
    pub(crate) details: Vec<ExplanationAnswer>,
}

/// The hits that share a value.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GroupAnswer {
    /// The value; null for documents without one.
    pub(crate) value: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value_bytes: Option<String>,
    /// The number of all documents of the group.
    pub(crate) count: u64,
    pub(crate) hits: Vec<HitAnswer>,
}

/// The counts of a facet.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FacetAnswer {
    /// The facet as it was asked for.
    pub(crate) facet: String,
    #[serde(flatten)]
    pub(crate) counts: CountsAnswer,
    /// True if the time was up.
    pub(crate) partial: bool,
}

/// Counts by value.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CountsAnswer {
    pub(crate) buckets: Vec<BucketAnswer>,
    /// The sum of the counts of the values that are not shown.
    pub(crate) other: u64,
    /// The number of all values.
    pub(crate) total: u64,
    /// The number of documents without a value.
    pub(crate) missing: u64,
}

/// A value, an interval or a range, and its documents.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BucketAnswer {
    pub(crate) value: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value_bytes: Option<String>,
    /// The least value of an interval or range, if it has one.
    pub(crate) from: Json,
    /// The first value after an interval or range, if it has one.
    pub(crate) to: Json,
    pub(crate) count: u64,
    /// The sum that orders the values, with `by=sum(FIELD)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sum: Option<Json>,
    /// What was asked for of the documents of each value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nested: Option<Box<NestedAnswer>>,
}

/// What was computed of the documents of a value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum NestedAnswer {
    Counts(CountsAnswer),
    Stats(Box<FiguresAnswer>),
    Distinct(NumberAnswer),
}

/// Statistics of a column.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatsAnswer {
    /// As it was asked for.
    pub(crate) stats: String,
    #[serde(flatten)]
    pub(crate) figures: FiguresAnswer,
    pub(crate) partial: bool,
}

/// Figures of values. Those of dates are dates.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FiguresAnswer {
    /// The number of values.
    pub(crate) count: u64,
    /// The number of documents with a value.
    pub(crate) documents: u64,
    /// The number of documents without a value.
    pub(crate) missing: u64,
    pub(crate) sum: Json,
    pub(crate) mean: Option<f64>,
    pub(crate) deviation: Option<f64>,
    pub(crate) least: Json,
    pub(crate) greatest: Json,
    /// Each percentage, and the value that this part of all values does not exceed.
    pub(crate) percentiles: Vec<(f64, Json)>,
}

/// The number of different values of a column.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DistinctAnswer {
    /// As it was asked for.
    pub(crate) distinct: String,
    #[serde(flatten)]
    pub(crate) number: NumberAnswer,
    pub(crate) partial: bool,
}

/// A number of different values.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NumberAnswer {
    /// The number of different values.
    pub(crate) count: u64,
    /// True if it is estimated.
    pub(crate) estimate: bool,
    /// The number of documents without a value.
    pub(crate) missing: u64,
}
