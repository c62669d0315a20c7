//! What every request passes before it reaches the router, and every answer after it.
//!
//! In this order: the name of the server (`host.rs`), the page that sent the request (`origin.rs`), the path
//! of a proxy, the token of a browser (`login.rs`), who asks (`identity`), the body (`body.rs`). A panic of a
//! handler becomes a problem. Then the answer gets its headers (`finish.rs`), is compressed (`compress.rs`),
//! and is noted when it has ended (`record.rs`). `memory.rs` limits what bodies and answers hold, and
//! `refusal.rs` answers bytes that are not a request.

mod body;
mod compress;
mod finish;
mod host;
mod login;
mod memory;
mod origin;
mod record;
mod refusal;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::MatchedPath;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use futures_util::FutureExt;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep_until};
use tower::ServiceExt;

use self::body::{Bodies, busy};
use self::compress::{accepts_gzip, compressed};
use self::host::Hosts;
use self::memory::SharedMemory;
use self::record::{Record, RecordedBody, Watchers};
use crate::caller::{Caller, Recognition};
use crate::error::ServeError;
use crate::identity::{Identity, Peer};
use crate::journal::Journal;
use crate::metrics::{Gauge, Metrics};
use crate::options::ServeOptions;
use crate::problem::Problem;

/// The maximum size of the body of a login, and of a request that is no batch, in bytes.
const LOGIN: usize = 4 << 10;
const ONE_REQUEST: usize = 1 << 20;

/// Values that something else than the transport counts.
pub type Gauges = Box<dyn Fn() -> Vec<Gauge> + Send + Sync>;

/// What every request passes.
pub struct Guard {
    router: Router,
    identity: Identity,
    hosts: Hosts,
    base_path: String,
    bodies: Bodies,
    answers: SharedMemory,
    answer_step: Duration,
    watchers: Watchers,
    gauges: Gauges,
    ids: RequestIds,
    /// The path of the Unix socket.
    socket: Option<Arc<Path>>,
    is_ready: AtomicBool,
}

/// The route of a request, in the extensions of its answer.
#[derive(Clone)]
struct Route(MatchedPath);

async fn note_route(request: axum::extract::Request, next: Next) -> axum::response::Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(Route(route));
    }
    response
}

impl Guard {
    /// The guard of a router whose handlers take the [`Caller`] from the extensions of a request. `port` is
    /// the one of a TCP socket, and `socket` the path of a Unix socket.
    ///
    /// # Errors
    ///
    /// Options that are not valid or cannot be combined, or a log that cannot be opened.
    pub fn new(
        router: Router,
        options: &ServeOptions,
        port: Option<u16>,
        socket: Option<PathBuf>,
        gauges: Gauges,
    ) -> Result<Self, ServeError> {
        let journal = Arc::new(Journal::begin(&options.log)?);
        Ok(Guard {
            router: router.layer(from_fn(note_route)),
            identity: Identity::new(options, port)?,
            hosts: Hosts::new(&options.hosts, options.allow_remote || options.is_remote()),
            base_path: base_path(&options.base_path)?,
            bodies: Bodies::new(Arc::new(options.limits.clone())),
            answers: SharedMemory::new(options.limits.all_answer_bytes),
            answer_step: options.limits.answer_step,
            watchers: Watchers { metrics: Arc::default(), journal },
            gauges,
            ids: RequestIds::new(),
            socket: socket.map(|path| std::path::absolute(&path).unwrap_or(path).into()),
            is_ready: AtomicBool::new(true),
        })
    }

    /// Who asks.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What is counted.
    pub fn metrics(&self) -> &Metrics {
        &self.watchers.metrics
    }

    /// The log.
    pub fn journal(&self) -> &Journal {
        &self.watchers.journal
    }

    /// The path below which a proxy shows the server, without a slash at its end.
    pub fn base_path(&self) -> &str {
        &self.base_path
    }

    /// Says that the server stops, so that nobody sends it more requests.
    pub fn stop(&self) {
        self.is_ready.store(false, Ordering::Relaxed);
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Incoming>, peer: &Peer) -> Response<Body> {
        let id = self.ids.next();
        let (mut head, body) = request.into_parts();
        let mut record = Record::begin(&self.watchers, &head, peer, Arc::clone(&id));
        let (gzip, version) = (accepts_gzip(&head.headers), head.version);
        let answer = self.checked(&mut head, body, peer, &mut record).await;
        let answer = answer.unwrap_or_else(|problem| problem.into_response());
        record.cause = answer.extensions().get::<Problem>().and_then(|problem| problem.cause.clone());
        let mut response = finish::finish(answer, &id, version);
        if let Some(Route(route)) = response.extensions_mut().remove() {
            route.as_str().clone_into(&mut record.route);
        }
        let mut response = compressed(response, gzip);
        let mut share = self.answers.share(record.user.clone());
        let bytes = HttpBody::size_hint(response.body()).exact().unwrap_or(0);
        if usize::try_from(bytes).is_ok_and(|bytes| share.grow_to(bytes)) {
            record.memory.push(share);
        } else {
            let detail = "too many large answers wait to be sent: read them, or try again in a few seconds";
            response = finish::finish((*busy(detail)).into_response(), &id, version);
        }
        record.status = Some(response.status().as_u16());
        if record.user.is_some() {
            self.wait_for_step(record.began).await;
        }
        response.map(|body| Body::new(RecordedBody { body, record }))
    }

    /// Waits until a whole number of steps has passed since a request came, so that the times of answers to
    /// users tell little about what they may not see.
    async fn wait_for_step(&self, began: Instant) {
        let step = self.answer_step.as_nanos().max(1);
        let steps = began.elapsed().as_nanos().div_ceil(step);
        if let Ok(nanos) = u64::try_from(steps * step)
            && !self.answer_step.is_zero()
        {
            sleep_until(began + Duration::from_nanos(nanos)).await;
        }
    }

    async fn checked(
        &self,
        head: &mut Parts,
        body: Incoming,
        peer: &Peer,
        record: &mut Record,
    ) -> Result<Response<Body>, Box<Problem>> {
        body::check_encoding(head)?;
        self.hosts.check(head)?;
        origin::check(head, &self.hosts)?;
        if let Some(redirect) = self.strip_base_path(head) {
            return Ok(redirect);
        }
        if let Some(response) = self.about_health(head, record) {
            return Ok(response);
        }
        let is_form = head.method == Method::POST && head.uri.path() == "/login";
        if let (Some(token), true) = (self.identity.token(), is_form) {
            record.route = "/login".into();
            let read = self.bodies.read(head, body, LOGIN, None).await?;
            return Ok(login::by_form(token, head, &read.bytes, &self.base_path));
        }
        if let Some(response) =
            self.identity.token().and_then(|token| login::by_link(token, head, &self.base_path))
        {
            record.route = "/".into();
            return Ok(response);
        }
        let caller = match self.identity.decide(peer, &head.headers).await {
            Err(problem)
                if problem.status == StatusCode::UNAUTHORIZED && login::is_for_people(&head.headers) =>
            {
                return Ok(login::page(head, "This server has a token."));
            }
            caller => caller?,
        };
        record.who = Some(caller.name().into());
        if head.uri.path() == "/metrics" {
            return self.show_metrics(&caller, record);
        }
        if matches!(caller, Caller::User { .. }) {
            record.user.clone_from(&record.who);
        }
        let most = if head.uri.path().ends_with("/_batch") { usize::MAX } else { ONE_REQUEST };
        let read = self.bodies.read(head, body, most, record.user.clone()).await?;
        record.note_body(&read.bytes);
        record.memory.extend(read.memory);
        let mut request = Request::new(Body::from(read.bytes));
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = head.uri.clone();
        *request.version_mut() = head.version;
        *request.headers_mut() = std::mem::take(&mut head.headers);
        request.extensions_mut().insert(self.recognition(peer));
        request.extensions_mut().insert(caller);
        self.route(request, record).await
    }

    /// How the caller was recognised.
    fn recognition(&self, peer: &Peer) -> Recognition {
        match peer {
            Peer::Tcp(_) => Recognition::Token,
            Peer::Proxy(_) => Recognition::Proxy,
            Peer::Unix(_) if self.identity.is_proxy(peer) => Recognition::Proxy,
            Peer::Unix(_) => Recognition::Socket(self.socket.clone()),
        }
    }

    /// Calls the router. Its answer to a panic is a problem.
    async fn route(&self, request: Request<Body>, record: &Record) -> Result<Response<Body>, Box<Problem>> {
        let answer = AssertUnwindSafe(self.router.clone().oneshot(request)).catch_unwind().await;
        match answer {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(never)) => match never {},
            Err(_) => {
                self.watchers.metrics.panicked();
                self.watchers
                    .journal
                    .event("error", &format!("request {} failed because of a bug", record.id));
                let detail = "this is a bug: please report it with the time and the number of the request";
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Err(Problem::new(status, "/problems/bug", "The server has a bug", detail).into())
            }
        }
    }

    /// Removes the base path from a request that has it. The base path without a slash leads to the one with
    /// it, since links are relative.
    fn strip_base_path(&self, head: &mut Parts) -> Option<Response<Body>> {
        if self.base_path.is_empty() {
            return None;
        }
        let rest = head.uri.path_and_query()?.as_str().strip_prefix(self.base_path.as_str())?;
        if rest.is_empty() || rest.starts_with('?') {
            let last = self.base_path.rsplit('/').next().unwrap_or_default();
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
            let to = HeaderValue::try_from(format!("{last}/{rest}")).ok()?;
            response.headers_mut().insert(header::LOCATION, to);
            return Some(response);
        }
        if rest.starts_with('/') {
            let mut parts = head.uri.clone().into_parts();
            parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
            head.uri = Uri::from_parts(parts).ok()?;
        }
        None
    }

    /// Answers about the state of the server, which everybody may know.
    fn about_health(&self, head: &Parts, record: &mut Record) -> Option<Response<Body>> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return None;
        }
        let (route, is_fine) = match head.uri.path() {
            "/health" => ("/health", true),
            "/ready" => ("/ready", self.is_ready.load(Ordering::Relaxed)),
            _ => return None,
        };
        record.route = route.into();
        let status = if is_fine { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let text = if is_fine { "ok\n" } else { "stopping\n" };
        Some((status, [(header::CACHE_CONTROL, "no-store")], text).into_response())
    }

    /// Shows what is counted to those who see everything.
    fn show_metrics(&self, caller: &Caller, record: &mut Record) -> Result<Response<Body>, Box<Problem>> {
        record.route = "/metrics".into();
        if !matches!(caller, Caller::Everything { .. }) {
            let detail = "the metrics are for root and the owner of the indexes";
            return Err(
                Problem::new(StatusCode::FORBIDDEN, "/problems/identity", "Not for you", detail).into()
            );
        }
        let text = self.watchers.metrics.to_text(&(self.gauges)());
        let kind = "text/plain; version=0.0.4; charset=utf-8";
        Ok(([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], text).into_response())
    }
}

/// A base path with a slash at its beginning and none at its end.
fn base_path(given: &str) -> Result<String, ServeError> {
    let path = given.trim_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%:@".contains(&byte);
    let has_odd_part = path.split('/').any(|part| matches!(part, "" | "." | ".."));
    match path {
        "" => Ok(String::new()),
        path if path.bytes().all(is_plain) && !has_odd_part => Ok(format!("/{path}")),
        _ => Err(ServeError::Options(format!("'{given}' is not a base path: write it as /search/files"))),
    }
}

/// Numbers of requests, which differ between servers.
struct RequestIds {
    server: u32,
    next: AtomicU64,
}

impl RequestIds {
    fn new() -> Self {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let server = std::process::id().rotate_left(20) ^ time.subsec_nanos();
        RequestIds { server, next: AtomicU64::new(1) }
    }

    fn next(&self) -> Arc<str> {
        format!("{:08x}-{:08x}", self.server, self.next.fetch_add(1, Ordering::Relaxed)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_paths_have_one_form() {
        for (given, expected) in
            [("", ""), ("/", ""), ("a", "/a"), ("/a/b/", "/a/b"), ("/rnode/n1/80/", "/rnode/n1/80")]
        {
            assert_eq!(base_path(given).unwrap(), expected);
        }
        for given in ["/a//b", "/../a", "/a b", "/a\n", "/a?b", "/a;b", "http://x/a"] {
            assert!(base_path(given).is_err(), "{given}");
        }
    }
}
