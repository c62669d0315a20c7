//! What one request can take: texts, lists, levels, bytes and time.

use std::fmt::Write;
use std::time::{Duration, Instant};

use fastrand::Rng;
use scanns_server::Limits;
use serde_json::{Value as Json, json};

use crate::support::{Server, WORDS, records, seed};

fn server(limits: Limits) -> (tempfile::TempDir, Server) {
    let place = tempfile::tempdir().unwrap();
    let path = records(place.path(), "cacm.scanns", 300, &mut Rng::with_seed(seed()));
    let server = Server::with(&[&path], limits);
    (place, server)
}

#[tokio::test]
async fn long_texts_and_lists_are_refused_with_a_short_message() {
    let (_place, server) = server(Limits::default());
    let many = |text: &str, count: usize, between: &str| vec![text; count].join(between);
    for (parameter, value) in [
        ("facet", json!([many("year", 100_000, " > ")])),
        ("facet", json!([many("year", 1_500, " > ")])),
        ("facet", json!([many("year", 11, " > ")])),
        ("facet", json!([format!("year:{}", many("0..1", 1_500, ","))])),
        ("facet", json!([many("x", 8_000, "")])),
        ("facet", json!(vec!["year"; 300])),
        ("sort", json!(many("year", 100_000, ","))),
        ("sort", json!(many("year", 17, ","))),
        ("field", json!(many("body", 50_000, ","))),
        ("field", json!(many("body", 17, ","))),
        ("fields", json!(vec!["year"; 10_000])),
        ("stats", json!([format!("year:{}", many("50", 101, ","))])),
        ("q", json!(many("word", 50_000, " "))),
    ] {
        let problem = server.post("/api/v1/cacm/search", &json!({ parameter: value })).await.problem(400);
        assert_eq!(problem["parameter"], parameter);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.len() < 20_000 && !detail.is_empty(), "{} bytes", detail.len());
    }
    for (parameter, value) in [
        ("facet", json!([many("year", 8, " > ")])),
        ("sort", json!(many("year", 16, ","))),
        ("field", json!(many("body", 16, ","))),
        ("fields", json!(vec!["year"; 256])),
        ("stats", json!([format!("year:{}", many("50", 100, ","))])),
    ] {
        server.post("/api/v1/cacm/search", &json!({ parameter: value })).await.good();
    }
}

#[tokio::test]
async fn everything_that_hits_show_counts() {
    let (_place, server) = server(Limits { answer: 30_000, ..Limits::default() });
    for show in [json!({"explain": true}), json!({"sort": "year,weight,author,year,weight,author"})] {
        let mut request = json!({"q": WORDS[..6].join(" "), "limit": 250, "count": false});
        request.as_object_mut().unwrap().extend(show.as_object().unwrap().clone());
        let problem = server.post("/api/v1/cacm/search", &request).await.problem(416);
        assert_eq!(problem["parameter"], "limit");
        request["limit"] = json!(1);
        server.post("/api/v1/cacm/search", &request).await.good();
    }
}

#[tokio::test]
async fn hits_that_take_long_to_show_are_cut_and_the_next_page_goes_on() {
    let (_place, server) = server(Limits::default());
    let fields = vec!["title"; 256];
    let (mut keys, mut after, mut is_cut) = (Vec::new(), Json::Null, false);
    for round in 0.. {
        let request = json!({
            "q": "*", "sort": "key", "limit": 300, "fields": fields, "timeout": "15ms", "after": after,
            // Counting after a page that is whole could take too long as well.
            "count": false,
        });
        let begin = Instant::now();
        let answer = server.post("/api/v1/cacm/search", &request).await.good();
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        for hit in answer["hits"].as_array().unwrap() {
            keys.push(hit["key"].as_str().unwrap().to_owned());
        }
        is_cut |= answer["partial_reason"].as_str().is_some_and(|why| why.contains("showing the hits"));
        after = answer["after"].clone();
        if after.is_null() && answer["partial"] == false {
            break;
        }
        assert!(round < 1000, "{}", keys.len());
    }
    let mut all = String::new();
    for number in 0..300 {
        writeln!(all, "CACM-{number:04}").unwrap();
    }
    assert_eq!(keys.join("\n") + "\n", all);
    println!("cut: {is_cut}");
}

#[tokio::test]
async fn an_answer_that_the_client_has_is_not_sent_again() {
    let (_place, server) = server(Limits::default());
    let reply = server.get("/api/v1/cacm/info").await;
    let tag = reply.headers["etag"].to_str().unwrap().to_owned();
    for known in [tag.clone(), tag.trim_start_matches("W/").to_owned(), format!("\"x\", {tag}")] {
        let request = axum::http::Request::get("/api/v1/cacm/info").header("if-none-match", known);
        let caller = crate::support::everything();
        let again = server.send(Some(&caller), request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    }
}
