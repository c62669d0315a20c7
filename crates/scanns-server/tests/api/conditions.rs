//! Tags, new commits, time limits, clients that hang up, and a server that is busy.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use fastrand::Rng;
use scanns::Index;
use scanns::schema::Document;
use scanns_server::{Limits, WorkSettings};
use serde_json::json;
use tower::ServiceExt;

use crate::support::{Server, everything, records, seed, user};

#[tokio::test]
async fn a_new_commit_is_seen_without_a_restart_and_changes_tags() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 50, &mut random);
    let server = Server::of(&[&path]);
    let address = "/api/v1/cacm/search?q=*&limit=1";
    let first = server.get(address).await;
    assert_eq!(first.headers["cache-control"], "private, no-cache");
    assert!(first.headers.contains_key("vary"));
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    let known =
        |address: &str| Request::get(address).header("if-none-match", &tag).body(Body::empty()).unwrap();
    let same = server.send(Some(&everything()), known(address)).await;
    assert_eq!((same.status, same.body.len()), (StatusCode::NOT_MODIFIED, 0));
    for other in ["/api/v1/cacm/search?q=*&limit=2", "/api/v1/cacm/info"] {
        assert_eq!(server.send(Some(&everything()), known(other)).await.status, StatusCode::OK);
    }
    let token = first.good()["after"].as_str().unwrap().to_owned();
    let held = server.indexes.view("cacm", &everything()).unwrap();
    let writer = Index::open(&path).unwrap().writer().unwrap();
    writer.add(&Document::new("new")).unwrap();
    writer.commit().unwrap();
    let next = server.send(Some(&everything()), known(address)).await;
    assert_eq!(next.good()["count"], 51);
    assert_eq!(held.info().documents, 50, "a snapshot in use stays as it is");
    let stale = server.get(&format!("{address}&after={token}")).await.problem(400);
    assert!(stale["detail"].as_str().unwrap().contains("has changed"));
    let again = server.get("/api/v1").await.good();
    assert_eq!(again["indexes"][0]["documents"], 51);
}

#[tokio::test]
async fn an_index_that_was_removed_is_answered_with_a_note_and_one_in_its_place_without() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 50, &mut random);
    let server = Server::of(&[&path]);
    let address = "/api/v1/cacm/search?q=*&limit=1";
    let first = server.get(address).await;
    let (tag, token) = (first.headers["etag"].clone(), first.good()["after"].as_str().unwrap().to_owned());
    assert_eq!(first.good()["incomplete"], json!(null));
    std::fs::rename(&path, place.path().join("elsewhere")).unwrap();
    let known = Request::get(address).header("if-none-match", &tag).body(Body::empty()).unwrap();
    let gone = server.send(Some(&everything()), known).await.good();
    let text = gone["incomplete"]["text"].as_str().unwrap();
    assert!(text.contains("was removed") && text.contains("cacm.scanns"), "{text}");
    assert_eq!(gone["count"], 50);
    assert_eq!(server.get(&format!("{address}&after={token}")).await.status, StatusCode::OK);
    records(place.path(), "cacm.scanns", 60, &mut random);
    let known = Request::get(address).header("if-none-match", &tag).body(Body::empty()).unwrap();
    let new = server.send(Some(&everything()), known).await.good();
    assert_eq!((&new["count"], &new["incomplete"]), (&json!(60), &json!(null)));
    server.get(&format!("{address}&after={token}")).await.problem(400);
    std::fs::remove_dir_all(&path).unwrap();
    assert!(server.get(address).await.good()["incomplete"]["text"].is_string());
    std::fs::rename(place.path().join("elsewhere"), &path).unwrap();
    let back = server.get(address).await.good();
    assert_eq!((&back["count"], &back["incomplete"]), (&json!(50), &json!(null)));
    let slash = server.get("/api/v1/").await.good();
    assert_eq!(slash["indexes"][0]["documents"], 50);
}

#[tokio::test]
async fn tokens_belong_to_a_caller_an_index_a_query_and_an_order() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let paths = ["a.scanns", "b.scanns"].map(|name| records(place.path(), name, 50, &mut random));
    let server = Server::of(&[&paths[0], &paths[1]]);
    let first = server.get("/api/v1/a/search?q=system&limit=1").await.good();
    let token = first["after"].as_str().unwrap();
    server.get(&format!("/api/v1/a/search?q=system&limit=5&fields=year&after={token}")).await.good();
    for other in
        ["a/search?q=time", "b/search?q=system", "a/search?q=system&sort=year", "a/search?q=system&model=dph"]
    {
        let problem = server.get(&format!("/api/v1/{other}&after={token}")).await.problem(400);
        assert_eq!(problem["parameter"], "after");
    }
    let caller = scanns_server::Caller::Everything { name: "other".into() };
    server.get_as(&caller, &format!("/api/v1/a/search?q=system&after={token}")).await.problem(400);
    // An index that does not know who may see what is not for users, not even with a token.
    server.get_as(&user("anna", 1000, &[]), "/api/v1/a/search").await.problem(403);
    let listed = server.get_as(&user("anna", 1000, &[]), "/api/v1").await.good();
    assert_eq!((&listed["indexes"], &listed["user"]["name"]), (&json!([]), &json!("anna")));
    let listed = server.get("/api/v1").await.good();
    assert_eq!(listed["indexes"][0]["path"], json!(paths[0]), "who sees everything can open the index");
    assert_eq!((&listed["recognized_by"], &listed["socket"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn answers_that_took_too_long_say_so() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 2000, &mut random);
    let limits = Limits { query_time: Duration::from_nanos(1), ..Limits::default() };
    let server = Server::with(&[&path], limits);
    let reply = server.get("/api/v1/cacm/search?q=system&facet=year&timeout=5s").await;
    let answer = reply.good();
    assert_eq!((&answer["partial"], &answer["count"]), (&json!(true), &json!(null)));
    assert_eq!(answer["partial_reason"], "the query took longer than 1ns");
    assert_eq!(answer["facets"][0]["partial"], false);
    assert!(!reply.headers.contains_key("etag"));
    let server = Server::of(&[&path]);
    let answer = server.get("/api/v1/cacm/search?q=system&facet=year&facet_timeout=0.001us").await.good();
    assert_eq!((&answer["partial"], &answer["facets"][0]["partial"]), (&json!(true), &json!(true)));
    assert!(answer["count"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_server_that_is_busy_says_so_at_once() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 50, &mut random);
    let limits =
        Limits { work: WorkSettings { threads: 1, of_one_user: 1, waiting: 0 }, ..Limits::default() };
    let server = Server::with(&[&path], limits);
    let mut busy = 0;
    let mut others = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let mut request =
            Request::get("/api/v1/cacm/search?q=system&snippets&explain").body(Body::empty()).unwrap();
        request.extensions_mut().insert(everything());
        others.spawn(server.router.clone().oneshot(request));
    }
    while let Some(reply) = others.join_next().await {
        let reply = reply.unwrap().unwrap();
        match reply.status() {
            StatusCode::OK => {}
            StatusCode::SERVICE_UNAVAILABLE => {
                busy += 1;
                assert_eq!(reply.headers()["retry-after"], "1");
            }
            other => panic!("{other}"),
        }
    }
    assert!(busy > 0, "one thread and no place to wait");
    server.get("/api/v1/cacm/search?q=system").await.good();
}
