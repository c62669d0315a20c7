//! A server with a small router, and a client of raw bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::Extension;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use scanns_server::{Caller, Gauge, ListenOn, LogTarget, Problem, Recognition, ServeOptions, Server};
use serde_json::{Value, json};

/// Seconds that requests would have slept, of those that began and of those that were cancelled.
pub static BEGUN: Mutex<Vec<u64>> = Mutex::new(Vec::new());
pub static CANCELLED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Waits until the list has a number.
pub fn wait_until_listed(list: &Mutex<Vec<u64>>, number: u64) {
    let until = Instant::now() + Duration::from_secs(20);
    while !list.lock().unwrap().contains(&number) {
        assert!(Instant::now() < until, "{number} is not in {list:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

struct Sleep {
    seconds: u64,
    is_done: bool,
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if !self.is_done {
            CANCELLED.lock().unwrap().push(self.seconds);
        }
    }
}

async fn who(
    Extension(caller): Extension<Caller>,
    Extension(by): Extension<Recognition>,
    headers: HeaderMap,
) -> Json<Value> {
    let user = match &caller {
        Caller::Everything { .. } => Value::from("everything"),
        Caller::User { user, .. } => json!({ "uid": user.uid(), "groups": user.groups() }),
    };
    let by = match by {
        Recognition::Token => "token".into(),
        Recognition::Proxy => "proxy".into(),
        Recognition::Socket(path) => format!("socket {}", path.unwrap().display()),
    };
    Json(json!({ "name": caller.name(), "user": user, "by": by, "headers": headers.len() }))
}

/// Takes the seconds of the query.
async fn slow(uri: Uri) -> &'static str {
    let seconds = uri.query().and_then(|query| query.parse().ok()).unwrap_or(2);
    let mut sleep = Sleep { seconds, is_done: false };
    BEGUN.lock().unwrap().push(seconds);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    sleep.is_done = true;
    "done"
}

async fn large() -> impl IntoResponse {
    let parts = stream::iter((0..2000).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 16 << 10]))));
    ([("content-type", "application/octet-stream")], Body::from_stream(parts))
}

async fn panics() -> &'static str {
    panic!("a bug of this test")
}

async fn problem() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "/problems/query", "The query has an error", "add )")
}

fn router() -> Router {
    Router::new()
        .route("/", get(|uri: Uri| async move { uri.to_string() }))
        .route("/who", get(who))
        .route("/echo", post(|body: Bytes| async move { format!("{} bytes", body.len()) }))
        .route("/slow", get(slow))
        .route("/large", get(large))
        .route("/panic", get(panics))
        .route("/problem", get(problem))
        .route("/text", get(|| async { ([("etag", "\"1\"")], "words ".repeat(2000)) }))
        .route("/documents/{key}", get(|uri: Uri| async move { uri.path().to_owned() }))
}

/// A running server.
pub struct Running {
    pub link: String,
    pub log: tempfile::NamedTempFile,
    stop: Box<dyn Fn() + Send + Sync>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start(change: impl FnOnce(&mut ServeOptions)) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        let target = LogTarget::File(log.path().to_owned());
        let mut options = ServeOptions { log: target, ..ServeOptions::default() };
        change(&mut options);
        let gauges = Box::new(|| vec![Gauge { name: "queue", help: "Waiting.", value: 3.0 }]);
        let server = Server::open(router(), options, gauges).unwrap();
        let (link, stop) = (server.link().to_owned(), Box::new(server.stopper()));
        let thread = std::thread::spawn(move || server.run());
        Running { link, log, stop, thread: Some(thread) }
    }

    pub fn on_unix(place: &std::path::Path, change: impl FnOnce(&mut ServeOptions)) -> Self {
        let path = place.join("a.sock");
        Running::start(|options| {
            options.listen = ListenOn::Unix(path);
            change(options);
        })
    }

    /// The address of a TCP socket: `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.link.split_once("://").unwrap().1.split('/').next().unwrap()
    }

    pub fn token(&self) -> &str {
        self.link.split("token=").nth(1).unwrap()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes, and reads until the server closes the connection.
    pub fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        talk(self.connect(), bytes.as_ref())
    }

    /// Sends a request with the token, and reads its answer.
    pub fn get(&self, path: &str, headers: &str) -> Answer {
        let (host, token) = (self.address(), self.token());
        Answer::of(&self.raw(format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             {headers}\r\n"
        )))
    }

    pub fn stop(&self) {
        (self.stop)();
    }

    /// The time that the server takes to end.
    pub fn wait(mut self) -> Duration {
        let began = Instant::now();
        self.thread.take().unwrap().join().unwrap();
        began.elapsed()
    }

    /// Waits until a line of the log has this text.
    pub fn wait_for_log(&self, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let log = std::fs::read_to_string(self.log.path()).unwrap();
            if let Some(line) = log.lines().find(|line| line.contains(text)) {
                return line.to_owned();
            }
            assert!(Instant::now() < until, "{text:?} should be in the log: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The requests in the log, when it has as many.
    pub fn logged(&self, count: usize) -> Vec<Value> {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let text = std::fs::read_to_string(self.log.path()).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let requests: Vec<Value> = lines.filter(|line| line["status"].is_number()).collect();
            if requests.len() >= count {
                return requests;
            }
            assert!(Instant::now() < until, "{count} requests should be in the log: {text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A value of the metrics.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics", "").body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        line.unwrap_or_else(|| panic!("{name} is missing in {text}"))
    }

    /// Waits until a value of the metrics is this.
    pub fn wait_for_metric(&self, name: &str, value: f64) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.metric(name) != value {
            assert!(Instant::now() < until, "{name} is {} and not {value}", self.metric(name));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop();
            self.stop();
            let ended = thread.join();
            assert!(std::thread::panicking() || ended.is_ok());
        }
    }
}

/// An answer of HTTP/1.1.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// Sends bytes, and reads until the other end closes the connection.
pub fn talk(mut stream: impl Read + Write, bytes: &[u8]) -> String {
    // A server that answers before the end closes the connection.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error} after {}", String::from_utf8_lossy(&answer)),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// Reports on the real standard error, which the test harness does not capture, that a test was skipped.
pub fn skipped(test: &str, why: &str) {
    std::io::stderr().write_all(format!("SKIPPED {test}: {why}\n").as_bytes()).unwrap();
}

/// A request to a Unix socket.
pub fn ask_unix(path: &std::path::Path, target: &str, headers: &str) -> Answer {
    let stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    Answer::of(&talk(stream, request.as_bytes()))
}

/// Limits that tests can wait for.
pub fn short(options: &mut ServeOptions) {
    options.limits.first_byte = Duration::from_secs(2);
    options.limits.head = Duration::from_secs(1);
    options.limits.idle = Duration::from_secs(3);
    options.limits.body_time = Duration::from_secs(1);
    options.limits.send = Duration::from_secs(1);
}
