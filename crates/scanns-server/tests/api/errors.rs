//! Errors are problem details, and nothing that a client sends makes the server fail.

use axum::body::Body;
use axum::http::Request;
use fastrand::Rng;
use serde_json::json;

use crate::support::{Server, encoded, everything, records, seed};

async fn server() -> (tempfile::TempDir, Server) {
    let place = tempfile::tempdir().unwrap();
    let path = records(place.path(), "cacm.scanns", 100, &mut Rng::with_seed(seed()));
    let server = Server::of(&[&path]);
    (place, server)
}

#[tokio::test]
async fn errors_name_the_parameter_and_the_place() {
    let (_place, server) = server().await;
    let at = |offset: usize, length: usize| json!({"offset": offset, "length": length});
    for (query, parameter, position) in [
        ("q=ä+(b+c", "q", at(3, 1)),
        ("facet=year:x", "facet", at(5, 1)),
        ("facet=nothing", "facet", at(0, 7)),
        ("stats=year:a", "stats", at(5, 1)),
    ] {
        let query = query.replace('ä', "%C3%A4");
        let problem = server.get(&format!("/api/v1/cacm/search?{query}")).await.problem(400);
        assert_eq!((&problem["parameter"], &problem["position"]), (&json!(parameter), &position), "{query}");
    }
    for (query, parameter) in [
        ("wrong=1", "wrong"),
        ("limit=x", "limit"),
        ("sort=body", "sort"),
        ("sort=year:up", "sort"),
        ("fields=title,body,x", "fields"),
        ("model=best", "model"),
        ("k1=1&model=dph", "k1"),
        ("field=nothing", "field"),
        ("group=year:0", "group"),
        ("group=body", "group"),
        ("after=x", "after"),
        ("timeout=5", "timeout"),
        ("q=a&query=%7B%7D", "query"),
        ("query=%7B%22x%22:1%7D", "query"),
        ("group=year&after=x", "after"),
        ("default_operator=xor", "default_operator"),
        ("rm3_terms=3", "rm3_terms"),
        ("rm3&rm3_weight=2", "rm3_weight"),
        ("rm3&rm3_documents=0", "rm3_documents"),
    ] {
        let problem = server.get(&format!("/api/v1/cacm/search?{query}")).await.problem(400);
        assert_eq!(problem["parameter"], parameter, "{query}: {}", problem["detail"]);
    }
}

#[tokio::test]
async fn what_there_is_not_has_a_status() {
    let (_place, server) = server().await;
    for (address, status) in [
        ("/api/v1/nothing/search", 404),
        ("/api/v1/%FF/search", 404),
        ("/api/v1/cacm/nothing", 404),
        ("/api/nothing", 404),
        ("/api/v1/cacm/documents/none", 404),
        ("/api/v1/cacm/documents/%FF%00", 404),
        ("/api/v1/cacm/documents/%F", 400),
        ("/api/v1/cacm/documents", 400),
        ("/api/v1/cacm/documents?key=none", 404),
        ("/api/v1/cacm/growth", 400),
        ("/api/v1/cacm/growth?with=nothing", 404),
        ("/api/v1/cacm/growth?with=cacm", 422),
        ("/api/v1/cacm/usage?depth=3", 400),
        ("/api/v1/cacm/like", 400),
        ("/api/v1/cacm/like?key=none", 404),
        ("/api/v1/cacm/search?limit=10001", 416),
        ("/api/v1/cacm/search?limit=5000&group=year:3", 416),
        ("/api/v1/cacm/search?limit=18446744073709551615", 416),
        ("/api/v1/cacm/search?collapse=3", 422),
        ("/api/v1/cacm/terms?field=nothing", 400),
        ("/api/v1/cacm/terms?limit=0", 400),
        ("/api/v1/cacm/suggest?q=%C3%A4&position=1", 400),
        ("/api/v1/cacm/search?q=year:%3E99999999999999999999999", 400),
        ("/api/v1/cacm/export?format=xls", 400),
        ("/api/v1/cacm/export?sort=body", 400),
        ("/api/v1/cacm/export?sort=nothing", 400),
        ("/api/v1/cacm/export?k1=2&model=dph", 400),
    ] {
        server.get(address).await.problem(status);
    }
    let delete = Request::delete("/api/v1/cacm/search").body(Body::empty()).unwrap();
    server.send(Some(&everything()), delete).await.problem(405);
    server.send(None, Request::get("/api/v1/cacm/search").body(Body::empty()).unwrap()).await.problem(401);
    server.send(None, Request::get("/api/v1").body(Body::empty()).unwrap()).await.problem(401);
}

#[tokio::test]
async fn hostile_bodies_are_refused() {
    let (_place, server) = server().await;
    let post = async |kind: &str, body: Vec<u8>| {
        let request = Request::post("/api/v1/cacm/search").header("content-type", kind);
        server.send(Some(&everything()), request.body(Body::from(body)).unwrap()).await
    };
    let json = "application/json";
    post("text/plain", b"{}".into()).await.problem(415);
    post("application/x-www-form-urlencoded", b"q=a".into()).await.problem(415);
    post("application/json; charset=utf-8", b"{\"q\": \"system\"}".into()).await.good();
    post(json, vec![b'['; 100_000]).await.problem(400);
    post(json, "{\"query\":".repeat(100_000).into()).await.problem(400);
    let nested = format!("{{\"query\":{}{}}}", "{\"not\":".repeat(100), "}".repeat(100));
    post(json, nested.into()).await.problem(400);
    post(json, vec![b' '; 100 << 20]).await.problem(413);
    post(json, b"{\"q\": \"\xff\"}".into()).await.problem(400);
    post(json, b"{\"limit\": 1e400}".into()).await.problem(400);
    post(json, b"{\"limit\": -0.5}".into()).await.problem(400);
    let large = format!("{{\"q\": \"{}\"}}", "a ".repeat(400_000));
    post(json, large.into()).await.problem(400);
    // A body without a length, which never says how long it is.
    let pieces = (0..100).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 16]));
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    let request = Request::post("/api/v1/cacm/search").header("content-type", json).body(body).unwrap();
    server.send(Some(&everything()), request).await.problem(413);
}

/// Names of parameters.
const NAMES: &[&str] = &[
    "q", "query", "limit", "after", "sort", "fields", "facet", "stats", "distinct", "group", "timeout",
    "snippets", "explain", "content", "model", "mu", "key", "prefix", "field", "position", "raw", "count",
    "rm3", "with", "path", "depth", "format",
];

/// Parts of values.
const PARTS: &[&str] = &[
    "system",
    "year",
    ":",
    "(",
    ")",
    "\"",
    "*",
    "~",
    "^",
    "[",
    "TO",
    "]",
    "{",
    "}",
    ">",
    "..",
    ",",
    "-",
    "1",
    "99999999999999999999",
    "\u{0}",
    "ä",
    "\u{202e}",
    "re\"(a+)+$\"",
    "every:0",
    "all",
    "by=sum(",
    "true",
    "%",
    "\\",
    "body",
    "when:month",
    "NaN",
    "inf",
    "-1",
];

#[tokio::test]
async fn random_requests_never_fail() {
    let (_place, server) = server().await;
    let mut random = Rng::with_seed(seed());
    let paths = [
        "search",
        "like",
        "terms",
        "suggest",
        "info",
        "documents/x",
        "documents/",
        "nothing",
        "usage",
        "growth",
        "coverage",
        "export",
    ];
    for _ in 0..1500 {
        let mut query = Vec::new();
        for _ in 0..random.usize(..4) {
            let value: String = (0..random.usize(..6)).map(|_| *random.choice(PARTS).unwrap()).collect();
            query.push(format!("{}={}", random.choice(NAMES).unwrap(), encoded(&value)));
        }
        let address = format!("/api/v1/cacm/{}?{}", random.choice(&paths).unwrap(), query.join("&"));
        let reply = server.get(&address).await;
        assert!(!reply.status.is_server_error(), "{address}: {}", String::from_utf8_lossy(&reply.body));
        if !reply.status.is_success() {
            reply.problem(reply.status.as_u16());
        }
    }
}
