//! What answers have: headers, numbers, problems, compression, and what is noted about them.

use serde_json::json;

use crate::bench::{Answer, Running, talk};

#[test]
fn every_answer_has_the_headers_that_protect_browsers_and_a_number() {
    let running = Running::start(|_| {});
    let mut numbers = Vec::new();
    for path in ["/who", "/health", "/missing", "/problem", "/panic", "/metrics"] {
        let answer = running.get(path, "");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert!(answer.header("cache-control").is_some());
        numbers.push(answer.header("x-request-id").unwrap().to_owned());
    }
    numbers.dedup();
    assert_eq!(numbers.len(), 6);
}

#[test]
fn problems_have_the_number_of_the_request() {
    let running = Running::start(|_| {});
    let problem = running.get("/problem", "");
    assert_eq!(problem.header("content-type"), Some("application/problem+json"));
    let expected = json!({
        "type": "/problems/query", "title": "The query has an error", "status": 400, "detail": "add )",
        "request_id": problem.header("x-request-id").unwrap(),
    });
    assert_eq!(problem.json(), expected);
    let missing = running.get("/missing", "");
    assert_eq!((missing.status, missing.json()["type"].as_str()), (404, Some("/problems/path")));
    let (host, token) = (running.address(), running.token());
    let head = format!("host: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n");
    let wrong = Answer::of(&running.raw(format!("POST /who HTTP/1.1\r\n{head}content-length: 0\r\n\r\n")));
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("get,head")));
    assert_eq!(wrong.json()["status"], 405);
}

#[test]
fn what_is_no_request_is_answered_with_what_to_do() {
    let running = Running::start(|_| {});
    let (host, long) = (running.address(), "a".repeat(200_000));
    for (target, headers, status, hint) in [
        ("/who?q=size:>1GiB", "", 400, "curl -G --data-urlencode"),
        ("/who?q=\"two words\"", "", 400, "percent-encoded"),
        ("/a b", "", 400, "percent-encoded"),
        (&*format!("/who?q={long}"), "", 431, "in the body of a POST"),
        ("/who", &*format!("x: {long}\r\n"), 431, "more bytes, or more headers"),
        ("/who", &*"x: a\r\n".repeat(300), 431, "more bytes, or more headers"),
    ] {
        let text = running.raw(format!("GET {target} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n"));
        let answer = Answer::of(&text);
        assert_eq!(answer.status, status, "{text}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        assert_eq!(answer.header("connection"), Some("close"));
        assert_eq!(answer.json()["request_id"].as_str(), answer.header("x-request-id"));
        assert!(answer.json()["detail"].as_str().unwrap().contains(hint), "{text}");
    }
    let after_another =
        running.raw(format!("GET /health HTTP/1.1\r\nhost: {host}\r\n\r\nGET /> HTTP/1.1\r\n\r\n"));
    assert!(after_another.starts_with("HTTP/1.1 200 "), "{after_another}");
    assert!(after_another.contains("HTTP/1.1 400 ") && after_another.contains("curl -G"), "{after_another}");
    assert_eq!(running.metric("scanns_requests_total{route=\"other\",method=\"other\",status=\"400\"}"), 4.0);
}

#[test]
fn a_panic_of_one_request_harms_no_other() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    let request = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n{more}\r\n")
    };
    // On the same connection, too.
    let both = running.raw(request("/panic", "") + &request("/who", "connection: close\r\n"));
    assert!(both.starts_with("HTTP/1.1 500 ") && both.contains("HTTP/1.1 200 "), "{both}");
    assert!(both.contains("this is a bug") && !both.contains("a bug of this test"), "{both}");
    for _ in 0..10 {
        assert_eq!(running.get("/panic", "").status, 500);
    }
    assert_eq!(running.get("/who", "").status, 200);
    assert_eq!(running.metric("scanns_panics_total"), 11.0);
}

#[test]
fn long_texts_are_compressed_and_keep_their_tag() {
    let running = Running::start(|_| {});
    let plain = running.get("/text", "");
    assert_eq!((plain.header("content-encoding"), plain.header("etag")), (None, Some("\"1\"")));
    let gzip = running.get("/text", "accept-encoding: gzip, br\r\n");
    assert_eq!((gzip.header("content-encoding"), gzip.header("etag")), (Some("gzip"), Some("w/\"1\"")));
    assert_eq!(gzip.header("vary"), Some("accept-encoding"));
    assert!(gzip.body.len() < plain.body.len() / 4);
    assert_eq!(running.get("/who", "accept-encoding: gzip\r\n").header("content-encoding"), None);
}

#[test]
fn requests_are_logged_and_counted() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    running.get("/documents/a%20b?q=red+rose", "");
    let post = format!(
        "POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-length: 7\r\n\r\n{{\"q\":1}}"
    );
    let number = Answer::of(&running.raw(post)).header("x-request-id").unwrap().to_owned();
    running.raw(format!("GET /?token=wrong&q=a HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"));
    let logged = running.logged(3);
    assert_eq!(logged[0]["path"], "/documents/a%20b");
    assert_eq!((&logged[0]["query"], &logged[0]["who"]), (&json!("q=red+rose"), &json!("token")));
    assert_eq!((&logged[1]["body"], &logged[1]["request_id"]), (&json!("{\"q\":1}"), &json!(number)));
    assert_eq!((&logged[1]["status"], &logged[1]["bytes"]), (&json!(200), &json!(7)));
    assert_eq!((&logged[2]["query"], &logged[2]["status"]), (&json!("token=…&q=a"), &json!(401)));
    assert!(logged[0]["ms"].as_f64().unwrap() > 0.0 && logged[0]["peer"] == "127.0.0.1");
    let route = "scanns_requests_total{route=\"/documents/{key}\",method=\"GET\",status=\"200\"}";
    assert_eq!((running.metric(route), running.metric("scanns_queue")), (1.0, 3.0));
    let text = std::fs::read_to_string(running.log.path()).unwrap();
    assert!(!text.contains(token) && !text.contains("wrong"), "{text}");
}

#[test]
fn a_base_path_may_be_removed_by_a_proxy_or_not() {
    let running = Running::start(|options| options.base_path = "/rnode/n1/8080".into());
    assert!(running.link.contains("/rnode/n1/8080/?token="));
    for path in ["/who", "/rnode/n1/8080/who", "/health", "/rnode/n1/8080/health"] {
        assert_eq!(running.get(path, "").status, 200, "{path}");
    }
    assert_eq!(running.get("/rnode/n1/8080/?q=1", "").body, "/?q=1");
    let short = running.get("/rnode/n1/8080?q=1", "");
    assert_eq!((short.status, short.header("location")), (308, Some("8080/?q=1")));
    for path in ["/rnode/n1/80801/who", "/rnode/n1/8080who", "/rnode/who"] {
        assert_eq!(running.get(path, "").status, 404, "{path}");
    }
}

#[test]
fn head_requests_have_no_body() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    let head = format!("host: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n");
    let answer = talk(running.connect(), format!("HEAD /text HTTP/1.1\r\n{head}\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n"), "{answer}");
}
