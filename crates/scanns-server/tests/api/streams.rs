//! Answers that are sent as they are made: exports and batches of searches.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use fastrand::Rng;
use http_body_util::BodyExt;
use scanns::query::Operator;
use scanns::schema::{Document, FieldEntry, Schema};
use scanns::search::Model;
use scanns::{Index, Snapshot};
use scanns_server::{Limits, WorkSettings};
use serde_json::{Value as Json, json};
use tower::ServiceExt;

use crate::support::{Server, everything, records, seed};

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_all_hits_in_the_order_of_the_index() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 400, &mut random);
    let (server, snapshot) = (Server::of(&[&path]), Snapshot::open(&path).unwrap());
    let query = snapshot.parse("system title:time", Operator::Or).unwrap();
    let mut expected = Vec::new();
    let visit = |hit: scanns::Hit| {
        let year = snapshot.field_values(&hit, &[snapshot.schema().field("year").unwrap()]).unwrap();
        let key = String::from_utf8(snapshot.key(&hit).unwrap()).unwrap();
        let scanns::schema::Value::Unsigned(year) = year[0][0] else { panic!("a year") };
        expected.push((key, year));
        std::ops::ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&query, Model::Classic, visit).unwrap();
    assert!(expected.len() > 50);
    let lines = server.get("/api/v1/cacm/export?q=system+title:time&format=jsonl&fields=_key,year").await;
    assert_eq!(lines.headers["content-disposition"], "attachment; filename=\"cacm.jsonl\"");
    let lines: Vec<Json> = String::from_utf8(lines.body.to_vec())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let wanted: Vec<Json> = expected.iter().map(|(key, year)| json!({"_key": key, "year": year})).collect();
    assert_eq!(lines, wanted);
    let csv = server.get("/api/v1/cacm/export?q=system+title:time&fields=_key,year").await;
    let wanted: String = expected.iter().map(|(key, year)| format!("{key},{year}\n")).collect();
    assert_eq!(String::from_utf8(csv.body.to_vec()).unwrap(), format!("_key,year\n{wanted}"));
    let all = server.post("/api/v1/cacm/export", &json!({"format": "csv"})).await;
    assert_eq!(all.body.iter().filter(|byte| **byte == b'\n').count(), 401);
    assert!(all.body.starts_with(b"_key,title,body,author,year,when,weight\n"));
    server.get("/api/v1/cacm/export?q=(").await.problem(400);
    server.get("/api/v1/cacm/export?fields=nothing").await.problem(400);
    server.get("/api/v1/nothing/export").await.problem(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sorted_export_has_the_order_of_a_search() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 400, &mut random);
    // A sort that does not fit into memory, too.
    let few = Limits { sort_memory: 2000, ..Limits::default() };
    let servers = [Server::of(&[&path]), Server::with(&[&path], few)];
    for sort in ["score", "key", "-key", "year:desc,author", "when:first,-weight", "year,score:asc"] {
        let asked = format!("q=system+title:time&sort={sort}&model=lm-dirichlet&mu=100");
        let found = servers[0].get(&format!("/api/v1/cacm/search?{asked}&limit=10000")).await.good();
        let expected: Vec<&Json> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["key"]).collect();
        assert!(expected.len() > 50);
        for server in &servers {
            let lines =
                server.get(&format!("/api/v1/cacm/export?{asked}&format=jsonl&fields=_key")).await.body;
            let lines: Vec<Json> = lines
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| serde_json::from_slice::<Json>(line).unwrap()["_key"].clone())
                .collect();
            assert_eq!(lines.iter().collect::<Vec<_>>(), expected, "{sort}");
        }
    }
    let arrow = servers[0].get("/api/v1/cacm/export?format=arrow").await;
    if cfg!(feature = "arrow") {
        assert!(arrow.status == 200 && arrow.body.starts_with(b"ARROW1"));
    } else {
        assert_eq!(arrow.problem(400)["parameter"], "format");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_or_does_not_read_ends_its_export_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("large.scanns");
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text").stored()).unwrap();
    let writer = Index::create(&path, &schema).unwrap().writer().unwrap();
    for number in 0..2000 {
        writer.add(&Document::new(format!("{number}")).text(text, "word ".repeat(2000).as_str())).unwrap();
    }
    writer.commit().unwrap();
    let limits =
        Limits { exports: WorkSettings { threads: 1, of_one_user: 1, waiting: 0 }, ..Limits::default() };
    let server = Server::with(&[&path], limits);
    for order in ["", "?sort=-key", "?sort=score&format=jsonl"] {
        hang_up(&server, &format!("/api/v1/large/export{order}")).await;
    }
}

/// Hangs up in the middle of an export, after which the only thread of exports is free again.
async fn hang_up(server: &Server, address: &str) {
    let export = || {
        let mut request = Request::get(address).body(Body::empty()).unwrap();
        request.extensions_mut().insert(everything());
        server.router.clone().oneshot(request)
    };
    // 20 MB do not fit into what waits to be read, so the thread waits for the client.
    let mut first = export().await.unwrap();
    assert_eq!(first.status(), 200);
    assert!(first.body_mut().frame().await.unwrap().unwrap().is_data());
    assert_eq!(export().await.unwrap().status(), 503);
    server.get("/api/v1/large/search?q=word").await.good();
    drop(first);
    let mut tries = 0;
    let next = loop {
        let next = export().await.unwrap();
        if next.status() == 200 || tries > 500 {
            break next;
        }
        tries += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let whole = next.into_body().collect().await.unwrap().to_bytes();
    let head = usize::from(!address.ends_with("jsonl"));
    assert_eq!(whole.iter().filter(|byte| **byte == b'\n').count(), 2000 + head, "{address}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_answers_each_line_as_a_search() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 200, &mut random);
    let limits = Limits { batch: (4096, 5), ..Limits::default() };
    let server = Server::with(&[&path], limits);
    let send = async |kind: &str, body: String| {
        let request = Request::post("/api/v1/cacm/_batch").header("content-type", kind);
        server.send(Some(&everything()), request.body(Body::from(body)).unwrap()).await
    };
    let lines = "application/x-ndjson";
    let searches = [
        json!({"q": "system", "limit": 3}),
        json!({"q": "("}),
        json!({"query": {"match": "time"}, "facet": ["year"]}),
    ];
    let body = format!("{}\n\n{}\n{}", searches[0], searches[1], searches[2]);
    let reply = send(lines, body).await;
    assert_eq!(reply.headers["content-type"], lines);
    let answers: Vec<Json> = String::from_utf8(reply.body.to_vec())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 3);
    for (search, answer) in searches.iter().zip(&answers) {
        let mut alone = server.post("/api/v1/cacm/search", search).await.json();
        let mut answer = answer.clone();
        if let Some(problem) = answer.get("error") {
            assert_eq!(*problem, alone);
            continue;
        }
        answer["took"] = json!(0);
        alone["took"] = json!(0);
        assert_eq!(answer, alone);
    }
    send("application/json", "{}".into()).await.problem(415);
    send(lines, "{}\n".repeat(6)).await.problem(400);
    send(lines, "x".repeat(5000)).await.problem(413);
    let wrong = send(lines, "[1]\n{\"wrong\": 1}".into()).await;
    let text = String::from_utf8(wrong.body.to_vec()).unwrap();
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.starts_with("{\"error\":")), "{text}");
}
