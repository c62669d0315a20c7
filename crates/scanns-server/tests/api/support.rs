//! Indexes, requests and answers for the tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use scanns::Index;
use scanns::access::AccessUser;
use scanns::index::{IndexOptions, Progress};
use scanns::schema::{Document, FieldEntry, FieldKind, Schema, Store, Value};
use scanns::sources::SourceOptions;
use scanns_server::{Caller, IndexSettings, IndexSource, Indexes, Limits, router};
use serde_json::Value as Json;
use tower::ServiceExt;

pub fn seed() -> u64 {
    let given = std::env::var("SCANNS_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| fastrand::u64(..));
    println!("SCANNS_SEED={seed}");
    seed
}

pub fn everything() -> Caller {
    Caller::Everything { name: "owner".into() }
}

pub fn user(name: &str, uid: u32, groups: &[u32]) -> Caller {
    let gid = groups.first().copied().unwrap_or(uid);
    Caller::User { name: name.into(), user: Arc::new(AccessUser::new(uid, gid, groups)) }
}

/// An answer.
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Json {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The answer, which must be a good one.
    pub fn good(&self) -> Json {
        assert_eq!(self.status, StatusCode::OK, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The answer, which must be a problem of this status.
    pub fn problem(&self, status: u16) -> Json {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(problem["type"].as_str().unwrap().starts_with("/problems/"));
        assert!(!problem["title"].as_str().unwrap().is_empty());
        problem
    }
}

/// A server without a socket.
pub struct Server {
    pub router: Router,
    pub indexes: Arc<Indexes>,
}

impl Server {
    pub fn of(paths: &[&Path]) -> Self {
        Server::with(paths, Limits::default())
    }

    pub fn with(paths: &[&Path], limits: Limits) -> Self {
        let sources = paths.iter().map(|path| IndexSource::parse(path).unwrap()).collect();
        let settings = IndexSettings { refresh: Duration::ZERO, ..IndexSettings::default() };
        let indexes = Arc::new(Indexes::open(sources, settings).unwrap());
        Server { router: router(Arc::clone(&indexes), limits).unwrap(), indexes }
    }

    pub async fn send(&self, caller: Option<&Caller>, request: Request<Body>) -> Reply {
        let mut request = request;
        if let Some(caller) = caller {
            request.extensions_mut().insert(caller.clone());
        }
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: parts.status, headers: parts.headers, body }
    }

    pub async fn get(&self, address: &str) -> Reply {
        self.get_as(&everything(), address).await
    }

    pub async fn get_as(&self, caller: &Caller, address: &str) -> Reply {
        self.send(Some(caller), Request::get(address).body(Body::empty()).unwrap()).await
    }

    pub async fn post(&self, address: &str, body: &Json) -> Reply {
        self.post_as(&everything(), address, body).await
    }

    pub async fn post_as(&self, caller: &Caller, address: &str, body: &Json) -> Reply {
        let request = Request::post(address).header("content-type", "application/json");
        self.send(Some(caller), request.body(Body::from(body.to_string())).unwrap()).await
    }
}

/// A text for an address.
pub fn encoded(text: impl AsRef<[u8]>) -> String {
    let one = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.as_ref().iter().map(one).collect()
}

/// Options of an index of the text of files, in one lane, so that documents are in the order of inputs.
pub fn file_options(paths: Vec<PathBuf>, access: bool) -> IndexOptions {
    let mut options = IndexOptions {
        source: SourceOptions { paths, ..SourceOptions::default() },
        ..IndexOptions::default()
    };
    options.read.lanes = 1;
    options.read.read_threads = 1;
    options.fields.access = access;
    options.stored.store = Some(Store::Content);
    options.memory = 160 << 20;
    options
}

pub fn build(path: &Path, options: &IndexOptions) {
    Index::at(path).build(options, &Progress::new(), &Arc::new(AtomicBool::new(false))).unwrap();
}

/// An index of the documents of the project.
pub fn docs(place: &Path) -> PathBuf {
    let path = place.join("docs.scanns");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").canonicalize().unwrap();
    build(&path, &file_options(vec![docs], false));
    path
}

/// Words of records, the first ones more often.
pub const WORDS: [&str; 24] = [
    "system",
    "algorithm",
    "time",
    "program",
    "language",
    "data",
    "storage",
    "memory",
    "compiler",
    "parallel",
    "matrix",
    "sorting",
    "retrieval",
    "index",
    "query",
    "tree",
    "hash",
    "paging",
    "grammar",
    "syntax",
    "numerical",
    "integral",
    "random",
    "cipher",
];

/// A random word, the first ones more often.
pub fn word(random: &mut fastrand::Rng) -> &'static str {
    let at = random.usize(..WORDS.len()).min(random.usize(..WORDS.len()));
    WORDS[at]
}

/// An index of random records like those of CACM, with several commits.
pub fn records(place: &Path, name: &str, count: usize, random: &mut fastrand::Rng) -> PathBuf {
    let path = place.join(name);
    let mut schema = Schema::new();
    let title = schema.add(FieldEntry::text("title").positions().stored()).unwrap();
    let body = schema.add(FieldEntry::text("body").positions().stored()).unwrap();
    let author = schema.add(FieldEntry::new("author", FieldKind::Keyword).column()).unwrap();
    let year = schema.add(FieldEntry::new("year", FieldKind::Unsigned).column()).unwrap();
    let when = schema.add(FieldEntry::new("when", FieldKind::Date).column()).unwrap();
    let weight = schema.add(FieldEntry::new("weight", FieldKind::Float).column()).unwrap();
    let writer = Index::create(&path, &schema).unwrap().writer().unwrap();
    let words = |random: &mut fastrand::Rng, most: usize| {
        (0..random.usize(1..most)).map(|_| word(random)).collect::<Vec<_>>().join(" ")
    };
    for number in 0..count {
        let mut document = Document::new(format!("CACM-{number:04}"))
            .text(title, words(random, 8))
            .text(body, words(random, 60))
            .with(year, Value::Unsigned(random.u64(1958..1980)))
            .with(weight, Value::Float(f64::from(random.u32(..1000)) / 8.0));
        for _ in 0..random.usize(..3) {
            document = document.text(author, *random.choice(&["Ann", "Bob", "Cy D.", "Dé"]).unwrap());
        }
        if random.bool() {
            document = document.with(when, Value::Date(random.i64(0..1_000_000_000) * 1_000_000_000));
        }
        writer.add(&document).unwrap();
        if random.usize(..100) == 0 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    path
}
