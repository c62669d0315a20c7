//! The parameters of requests: what there is, for the reader of requests and for the description of the API.
//!
//! `given.rs` reads them. A route lists groups of parameters, and refuses every other name.

/// A parameter of a request: a name in the query of an address, or a member of a JSON object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: ParameterKind,
    /// What it means, in a sentence.
    pub(super) about: &'static str,
    /// True if a request must have it.
    pub(super) is_required: bool,
}

/// The values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterKind {
    Text,
    /// Bytes, percent-encoded in an address.
    Bytes,
    /// A whole number within these bounds.
    Number(u64, u64),
    /// Any number.
    Decimal,
    Flag,
    /// Several texts: separated by commas in an address.
    List,
    /// Several texts, which may have commas: the parameter is repeated in an address.
    Texts,
    /// A JSON object: as text in an address.
    Object,
    /// A time such as `50ms` or `2s`.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
}

use ParameterKind::{Bytes, Decimal, Flag, List, Number, Object, Text, Texts, Time, Word};

const fn parameter(name: &'static str, kind: ParameterKind, about: &'static str) -> Parameter {
    Parameter { name, kind, about, is_required: false }
}

const fn required(name: &'static str, kind: ParameterKind, about: &'static str) -> Parameter {
    Parameter { name, kind, about, is_required: true }
}

/// The names of the models.
pub(super) const MODELS: &[&str] =
    &["bm25", "tf-idf", "lm-dirichlet", "lm-jelinek-mercer", "pl2", "dph", "p-norm"];

/// What is searched.
pub(super) const QUERY: &[Parameter] = &[
    parameter("q", Text, "The query as text, as people write it; * finds every document. The default is *."),
    parameter("query", Object, "The query as JSON, instead of q."),
];

/// How words are read.
pub(super) const WORDS: &[Parameter] = &[
    parameter(
        "field",
        Text,
        "The fields that words search, with weights: title or title^3,body. The default is all fields of \
         text.",
    ),
    parameter(
        "default_operator",
        Word(&["or", "and"]),
        "How words without an operator between them are combined. The default is or.",
    ),
];

/// Which hits are shown.
pub(super) const PAGE: &[Parameter] = &[
    parameter("limit", Number(0, u64::MAX), "The maximum number of hits. The default is 10."),
    parameter("after", Text, "A token of an earlier answer: shows the hits after the hit that has it."),
];

/// The order of hits, by everything.
pub(super) const ORDER: &[Parameter] = &[parameter(
    "sort",
    Text,
    "The order: score, key, -key, or columns such as size:desc,owner, each with an optional :asc or :desc, \
     and :first to put documents without a value first. The default is score.",
)];

/// Which values are shown.
pub(super) const FIELDS: &[Parameter] =
    &[parameter("fields", List, "Fields whose values are shown: columns and stored fields.")];

/// What is computed over all matches.
pub(super) const FACETS: &[Parameter] = &[
    parameter(
        "facet",
        Texts,
        "Counts by the values of a column, in the words of the command: ext:20, size:every:1MiB > sum:size, \
         mtime:month, path:below:/data/.",
    ),
    parameter("stats", Texts, "Statistics of a column, with percentiles: size:50,99."),
    parameter("distinct", Texts, "The number of different values of a column; owner:estimate is faster."),
    parameter("facet_timeout", Time, "Stop counting after this time, and show what was counted until then."),
    parameter("count", Flag, "Count all matches. The default is true."),
];

/// How hits are shown.
pub(super) const SHOW: &[Parameter] = &[
    parameter(
        "snippets",
        Flag,
        "Show the parts of each text that match best; the index must have been built with --store.",
    ),
    parameter("snippet_length", Number(16, 65_536), "The length of a snippet in bytes. The default is 160."),
    parameter(
        "snippet_count",
        Number(1, 64),
        "The maximum number of snippets of a document. The default is 2.",
    ),
    parameter("explain", Flag, "Say how the score of each hit was computed."),
    parameter("content", Flag, "Show the text of each hit, if the index stores it."),
    parameter("timeout", Time, "Stop the query after this time, and show what was found until then."),
];

/// How hits are put together.
pub(super) const GROUPS: &[Parameter] = &[
    parameter(
        "group",
        Text,
        "The best hit of each value of a column, or the best three with FIELD:3. limit is the number of \
         values.",
    ),
    parameter("group_missing", Flag, "Documents without a value of the column are a group, too."),
    parameter(
        "collapse",
        Number(0, 15),
        "Show documents whose texts are nearly equal once: their sketches differ in at most this number of \
         bits.",
    ),
];

/// How hits are scored.
pub(super) const MODEL: &[Parameter] = &[
    parameter("model", Word(MODELS), "The ranking model. The default is bm25."),
    parameter("k1", Decimal, "bm25: how fast the weight of a repeated term saturates. The default is 1.2."),
    parameter("b", Decimal, "bm25: how much the length of a document counts. The default is 0.75."),
    parameter("mu", Decimal, "lm-dirichlet: the weight of the collection, in tokens. The default is 2000."),
    parameter("lambda", Decimal, "lm-jelinek-mercer: the weight of the collection. The default is 0.1."),
    parameter("c", Decimal, "pl2: how much the length of a document counts. The default is 1."),
    parameter("p", Decimal, "p-norm: from vectors to logic. The default is 2."),
];

/// Feedback: the words of the best hits.
pub(super) const RM3: &[Parameter] = &[
    parameter(
        "rm3",
        Flag,
        "Expand the query with words of its best hits (RM3), and search again; the index must have been \
         built with --vectors or --store.",
    ),
    parameter(
        "rm3_documents",
        Number(1, 1000),
        "The number of best hits whose words are used. The default is 10.",
    ),
    parameter("rm3_terms", Number(1, 1024), "The number of words that are added. The default is 10."),
    parameter(
        "rm3_weight",
        Decimal,
        "The weight of the original query, from 0 to 1; the added words have the rest. The default is 0.5.",
    ),
];

/// Several indexes.
pub(super) const INDEXES: &[Parameter] =
    &[parameter("index", List, "The indexes that are searched as one; all of them if it is left out.")];

/// The document that others are to be like.
pub(super) const EXAMPLE: &[Parameter] = &[
    required("key", Bytes, "The key of the document."),
    parameter(
        "like_min_freq",
        Number(1, u64::MAX),
        "Use words that occur in it this number of times. The default is 1.",
    ),
    parameter(
        "like_min_docs",
        Number(1, u64::MAX),
        "Use words of at least this number of documents. The default is 2.",
    ),
    parameter("like_max_docs", Number(1, u64::MAX), "Use words of at most this number of documents."),
    parameter("like_terms", Number(1, 1024), "The maximum number of words. The default is 25."),
];

/// The document of a request without it in its path.
pub(super) const KEY: &[Parameter] =
    &[required("key", Bytes, "The key of the document, percent-encoded; it may have any bytes.")];

/// A document.
pub(super) const DOCUMENT: &[Parameter] = &[
    parameter(
        "raw",
        Word(&["text"]),
        "With text, the answer is the text alone, as text/plain and sandboxed.",
    ),
    parameter("content", Flag, "Show the text, if the index stores it. The default is true."),
];

/// Terms of a field.
pub(super) const TERMS: &[Parameter] = &[
    parameter("field", Text, "The field. The default is the field that words search."),
    parameter("prefix", Text, "How the terms begin."),
    parameter("limit", Number(1, 10_000), "The maximum number of terms. The default is 20."),
    parameter(
        "by",
        Word(&["documents", "term"]),
        "The order: the most frequent first, or by term. The default is documents.",
    ),
];

/// A text that is being written.
pub(super) const SUGGEST: &[Parameter] = &[
    parameter("q", Text, "The query as far as it is written."),
    parameter("position", Number(0, u64::MAX), "The place of the cursor, in bytes. The default is the end."),
    parameter("limit", Number(1, 100), "The maximum number of suggestions. The default is 10."),
];

/// A directory, and which of its children are shown.
pub(super) const DIRECTORY: &[Parameter] = &[
    parameter("path", Bytes, "The directory. The default is the uppermost one."),
    parameter(
        "by",
        Word(&["size", "count"]),
        "The order of its children, the largest first. The default is size.",
    ),
    parameter("limit", Number(1, 10_000), "The maximum number of children. The default is 100."),
];

/// The use of space.
pub(super) const USAGE: &[Parameter] = &[parameter(
    "depth",
    Number(1, 2),
    "With 2, the children of the first 100 directories are shown, too, up to 100 of each. The default is 1.",
)];

/// Growth.
pub(super) const GROWTH: &[Parameter] =
    &[required("with", Text, "The index of the state before, which must be served, too.")];

/// What an index covers.
pub(super) const COVERAGE: &[Parameter] = &[parameter(
    "limit",
    Number(0, 10_000),
    "The maximum number of inputs that could not be read, of each place. The default is 1,000.",
)];

/// An export.
pub(super) const EXPORT: &[Parameter] = &[
    parameter("format", Word(&["csv", "jsonl", "arrow", "parquet"]), "The format. The default is csv."),
    parameter("fields", List, "The columns; _key is the key. The default is all of them."),
    parameter(
        "sort",
        Text,
        "The order, in the words of search: score, key, -key, or columns such as size:desc,owner. The \
         default is the order of the index, which is fastest.",
    ),
];
