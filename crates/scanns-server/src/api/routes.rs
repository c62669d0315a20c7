//! The routes of the API, for the router and for its description.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::Method;
use schemars::{JsonSchema, SchemaGenerator};

use super::batch;
use super::context::ApiState;
use super::coverage::{self, CoverageAnswer};
use super::documents::{self, DocumentAnswer};
use super::export::{self, EXPORTS};
use super::given::Known;
use super::growth::{self, GrowthAnswer};
use super::handle::Handled;
use super::info::{self, IndexesAnswer, InfoAnswer};
use super::parameter::{COVERAGE, DIRECTORY, DOCUMENT, GROWTH, KEY, SUGGEST, TERMS};
use super::search::answer::SearchAnswer;
use super::searches::{self, LIKE, SEARCH, SEARCH_ALL};
use super::suggest::{self, SuggestAnswer};
use super::terms::{self, TermsAnswer};
use super::usage::{self, USAGES, UsageAnswer};

/// What an answer is.
#[derive(Clone, Copy)]
pub(super) enum RouteAnswer {
    /// JSON of a schema.
    Json(fn(&mut SchemaGenerator) -> schemars::Schema),
    /// JSON of a schema, or the text alone with `raw=text`.
    JsonOrText(fn(&mut SchemaGenerator) -> schemars::Schema),
    /// Lines of JSON of a schema, for lines of JSON of the parameters.
    Lines(fn(&mut SchemaGenerator) -> schemars::Schema),
    /// A file.
    File,
}

/// An example of a request.
pub(super) struct RouteExample {
    /// The path with its query.
    pub(super) address: &'static str,
    /// The body of a POST.
    pub(super) body: Option<&'static str>,
}

/// A route: an address, and what it does.
pub(super) struct ApiRoute {
    pub(super) path: &'static str,
    pub(super) methods: &'static [Method],
    pub(super) handle: fn(Arc<ApiState>, Request) -> Handled,
    /// What it does, in a sentence.
    pub(super) about: &'static str,
    pub(super) parameters: Known,
    pub(super) answer: RouteAnswer,
    /// The problems that it may answer with, besides those of all routes.
    pub(super) problems: &'static [u16],
    pub(super) examples: &'static [RouteExample],
}

/// A problem that every request may be answered with.
pub(super) const COMMON: &[u16] = &[400, 401, 403, 404, 405, 500, 503];

const GET: &[Method] = &[Method::GET];
const POST: &[Method] = &[Method::POST];
const BOTH: &[Method] = &[Method::GET, Method::POST];

const fn get(address: &'static str) -> RouteExample {
    RouteExample { address, body: None }
}

const fn post(address: &'static str, body: &'static str) -> RouteExample {
    RouteExample { address, body: Some(body) }
}

const fn json<T: JsonSchema>() -> RouteAnswer {
    RouteAnswer::Json(|generator| generator.subschema_for::<T>())
}

const fn json_or_text<T: JsonSchema>() -> RouteAnswer {
    RouteAnswer::JsonOrText(|generator| generator.subschema_for::<T>())
}

/// All routes but the one of the description, which is made of them.
pub(super) const ROUTES: &[ApiRoute] = &[
    ApiRoute {
        path: "/api/v1",
        methods: GET,
        handle: info::list,
        about: "Lists the indexes that the caller may search.",
        parameters: &[],
        answer: json::<IndexesAnswer>(),
        problems: &[],
        examples: &[get("/api/v1")],
    },
    ApiRoute {
        path: "/api/v1/{index}/search",
        methods: BOTH,
        handle: searches::one,
        about: "Finds the best documents for a query, counts all matches, and computes facets over them.",
        parameters: SEARCH,
        answer: json::<SearchAnswer>(),
        problems: &[413, 415, 416, 422],
        examples: &[
            get("/api/v1/docs/search?q=license+warranty&limit=3&fields=size,mtime&snippets"),
            post(
                "/api/v1/docs/search",
                "{\"q\": \"name:*.md\", \"sort\": \"size:desc\", \"facet\": [\"owner:5\", \"ext\"]}",
            ),
        ],
    },
    ApiRoute {
        path: "/api/v1/_search",
        methods: BOTH,
        handle: searches::several,
        about: "Searches several indexes as if they were one.",
        parameters: SEARCH_ALL,
        answer: json::<SearchAnswer>(),
        problems: &[413, 415, 416, 422],
        examples: &[get("/api/v1/_search?index=docs,before&q=query&limit=5")],
    },
    ApiRoute {
        path: "/api/v1/{index}/like",
        methods: BOTH,
        handle: searches::like,
        about: "Finds documents like another.",
        parameters: LIKE,
        answer: json::<SearchAnswer>(),
        problems: &[413, 415, 416, 422],
        examples: &[get("/api/v1/docs/like?key=/data/docs/search.md&limit=3")],
    },
    ApiRoute {
        path: "/api/v1/{index}/documents/{*key}",
        methods: GET,
        handle: documents::document,
        about: "Shows a document. The key is percent-encoded; slashes need not be.",
        parameters: &[DOCUMENT],
        answer: json_or_text::<DocumentAnswer>(),
        problems: &[422],
        examples: &[
            get("/api/v1/docs/documents/%2Fdata/docs/search.md"),
            get("/api/v1/docs/documents/%2Fdata/docs/search.md?raw=text"),
        ],
    },
    ApiRoute {
        path: "/api/v1/{index}/documents",
        methods: GET,
        handle: documents::by_key,
        about: "Shows the document of a key that is a parameter.",
        parameters: &[KEY, DOCUMENT],
        answer: json_or_text::<DocumentAnswer>(),
        problems: &[422],
        examples: &[get("/api/v1/docs/documents?key=/data/docs/search.md&content=false")],
    },
    ApiRoute {
        path: "/api/v1/{index}/terms",
        methods: GET,
        handle: terms::terms,
        about: "Lists terms of a field, or values of a column, with their numbers of documents.",
        parameters: &[TERMS],
        answer: json::<TermsAnswer>(),
        problems: &[422],
        examples: &[
            get("/api/v1/docs/terms?field=text&prefix=ind&limit=5"),
            get("/api/v1/docs/terms?field=owner"),
        ],
    },
    ApiRoute {
        path: "/api/v1/{index}/suggest",
        methods: GET,
        handle: suggest::suggest,
        about: "Completes a query that is being written, and suggests other spellings.",
        parameters: &[SUGGEST],
        answer: json::<SuggestAnswer>(),
        problems: &[422],
        examples: &[get("/api/v1/docs/suggest?q=owner:"), get("/api/v1/docs/suggest?q=lisense")],
    },
    ApiRoute {
        path: "/api/v1/{index}/info",
        methods: GET,
        handle: info::info,
        about: "Describes an index: its fields, its age, and what it lacks.",
        parameters: &[],
        answer: json::<InfoAnswer>(),
        problems: &[],
        examples: &[get("/api/v1/docs/info")],
    },
    ApiRoute {
        path: "/api/v1/{index}/usage",
        methods: GET,
        handle: usage::usage,
        about: "Sums up what is in a directory, for each directory in it.",
        parameters: USAGES,
        answer: json::<UsageAnswer>(),
        problems: &[422],
        examples: &[
            get("/api/v1/docs/usage?path=/data/docs&by=count"),
            get("/api/v1/docs/usage?q=name:*.md&depth=2"),
        ],
    },
    ApiRoute {
        path: "/api/v1/{index}/growth",
        methods: GET,
        handle: growth::growth,
        about: "Compares what is in a directory with another index, such as one of yesterday, for each \
                directory in it.",
        parameters: &[GROWTH, DIRECTORY],
        answer: json::<GrowthAnswer>(),
        problems: &[422],
        examples: &[get("/api/v1/docs/growth?with=before&path=/data/docs")],
    },
    ApiRoute {
        path: "/api/v1/{index}/coverage",
        methods: GET,
        handle: coverage::coverage,
        about: "Tells which directories and dumps an index covers, and which inputs could not be read; only \
                to callers who see the whole index.",
        parameters: &[COVERAGE],
        answer: json::<CoverageAnswer>(),
        problems: &[422],
        examples: &[get("/api/v1/docs/coverage?limit=10")],
    },
    ApiRoute {
        path: "/api/v1/{index}/export",
        methods: BOTH,
        handle: export::export,
        about: "Sends the values of all hits as a file.",
        parameters: EXPORTS,
        answer: RouteAnswer::File,
        problems: &[413, 415, 416, 422],
        examples: &[
            get("/api/v1/docs/export?q=query&fields=_key,size&sort=size:desc"),
            post("/api/v1/docs/export", "{\"q\": \"query\", \"format\": \"jsonl\"}"),
        ],
    },
    ApiRoute {
        path: "/api/v1/{index}/_batch",
        methods: POST,
        handle: batch::batch,
        about: "Answers many searches: a JSON object of parameters on each line, and an answer, or an object \
                with error, on each line.",
        parameters: SEARCH,
        answer: RouteAnswer::Lines(|generator| generator.subschema_for::<SearchAnswer>()),
        problems: &[413, 415],
        examples: &[post("/api/v1/docs/_batch", "{\"q\": \"query\", \"limit\": 1}")],
    },
];
