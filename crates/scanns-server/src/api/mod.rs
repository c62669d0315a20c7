//! The HTTP API: reads requests, runs them on the threads of the pool, and writes answers.
//!
//! `routes.rs` lists what there is, and the router and the description of the API (`openapi.rs`) are made of
//! this list; `markdown.rs` makes docs/API.md of the description. `handle.rs` reads a request by its
//! parameters (`parameter.rs`, `given.rs`), and `context.rs` runs it.
//! Each kind of request has a file: `search/`, `documents.rs`, `terms.rs`, `suggest.rs`, `usage.rs` and
//! `growth.rs` (both with `directories.rs`), `info.rs`, `coverage.rs`, and `export.rs` and `batch.rs`, whose
//! answers are sent as they are made (`stream.rs`). `first_page.rs` is the page with its first answer.

mod batch;
mod context;
mod coverage;
mod directories;
mod documents;
mod export;
mod fields;
mod first_page;
mod given;
mod growth;
mod handle;
mod info;
mod limits;
mod markdown;
mod openapi;
mod parameter;
mod request;
mod routes;
mod search;
mod searches;
mod show;
mod stream;
mod suggest;
mod terms;
mod token;
mod usage;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::indexes::Indexes;
use crate::problem::Problem;
use crate::work::{WorkLoad, Workers};
use context::ApiState;
pub use limits::Limits;
pub use markdown::api_guide;
use routes::{ApiRoute, ROUTES};
use token::TokenKeys;

/// The API of indexes, with its threads. Clones are of the same API.
#[derive(Clone, Debug)]
pub struct Api {
    state: Arc<ApiState>,
}

/// What the threads of an API do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiLoad {
    /// The threads of requests.
    pub requests: WorkLoad,
    /// The threads of exports and batches.
    pub exports: WorkLoad,
    /// The number of indexes that were removed or cannot be opened any more. They are answered from their
    /// last state.
    pub out_of_reach: usize,
}

impl Api {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system gives no threads or no random bytes.
    pub fn start(indexes: Arc<Indexes>, limits: Limits) -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let state = ApiState {
            indexes,
            workers: Workers::start(limits.work)?,
            exporters: Workers::start(limits.exports)?,
            threads: scanns::search::SearchThreads::new(cores),
            keys: TokenKeys::random()?,
            limits,
        };
        Ok(Api { state: Arc::new(state) })
    }

    /// The router of everything below `/api/v1`, of `/openapi.json`, and of the page with its files.
    ///
    /// A request below `/api` must have a [`Caller`](crate::Caller) as an extension, or it is refused with
    /// 401.
    pub fn router(&self) -> Router {
        let router =
            ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, methods(route)));
        // Clients and people add slashes to what looks like a directory.
        let list = ROUTES.iter().filter(|route| route.path == "/api/v1");
        let router = list.fold(router, |router, list| router.route("/api/v1/", methods(list)));
        let router = router.route(openapi::PATH, axum::routing::get(openapi::openapi));
        let page =
            |State(state): State<Arc<ApiState>>, request: Request| first_page::first_page(state, request);
        let router = router.route("/", axum::routing::get(page));
        // What is below `/api` and has no route is told as a problem, too.
        let router = router.route("/api/{*rest}", axum::routing::any(|| async { no_route() }));
        let router = router.method_not_allowed_fallback(|| async { wrong_method() });
        router.with_state(Arc::clone(&self.state)).merge(crate::page::assets())
    }

    /// What the threads do now, for metrics.
    pub fn load(&self) -> ApiLoad {
        ApiLoad {
            requests: self.state.workers.load(),
            exports: self.state.exporters.load(),
            out_of_reach: self.state.indexes.out_of_reach(),
        }
    }
}

/// The router of a new API; see [`Api::router`].
///
/// # Errors
/// The system gives no threads or no random bytes.
pub fn router(indexes: Arc<Indexes>, limits: Limits) -> std::io::Result<Router> {
    Ok(Api::start(indexes, limits)?.router())
}

fn methods(route: &'static ApiRoute) -> MethodRouter<Arc<ApiState>> {
    let filter = route.methods.iter().fold(None, |all: Option<MethodFilter>, method| {
        let one = if *method == Method::POST { MethodFilter::POST } else { MethodFilter::GET };
        Some(all.map_or(one, |all| all.or(one)))
    });
    on(filter.unwrap_or(MethodFilter::GET), move |State(state): State<Arc<ApiState>>, request: Request| {
        (route.handle)(state, request)
    })
}

fn no_route() -> Problem {
    let detail = "there is nothing at this address: /openapi.json describes the API";
    Problem::new(StatusCode::NOT_FOUND, "/problems/not-found", "There is no such address", detail)
}

fn wrong_method() -> Problem {
    let detail = "this address has another method: /openapi.json describes the API";
    let (kind, title) = ("/problems/method", "The method is not allowed");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, kind, title, detail)
}
