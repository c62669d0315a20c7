//! Tokens, cookies, and pages of others that make a browser send requests.

use crate::bench::{Answer, Running};

const PAGE: &str = "accept: text/html,*/*\r\n";

/// A request without a token.
fn ask(running: &Running, line: &str, headers: &str) -> Answer {
    let host =
        if headers.contains("host:") { String::new() } else { format!("host: {}\r\n", running.address()) };
    Answer::of(&running.raw(format!("{line} HTTP/1.1\r\n{host}connection: close\r\n{headers}\r\n")))
}

#[test]
fn the_link_gives_a_cookie_and_leads_to_a_clean_address() {
    let running = Running::start(|_| {});
    let answer = ask(&running, &format!("GET /?q=a&token={}&sort=size", running.token()), PAGE);
    assert_eq!((answer.status, answer.header("location")), (303, Some("./?q=a&sort=size")));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; httponly; samesite=strict") && !cookie.contains(running.token()), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let seen = ask(&running, "GET /?q=a&sort=size", &format!("cookie: a=b; {pair}\r\n"));
    assert_eq!((seen.status, seen.body.as_str()), (200, "/?q=a&sort=size"));
    // Another server of the same machine gives another cookie.
    let other = Running::start(|_| {});
    assert_eq!(ask(&other, "GET /who", &format!("cookie: {pair}\r\n")).status, 401);
}

#[test]
fn without_the_token_there_is_a_form_for_people_and_a_problem_for_programs() {
    let running = Running::start(|_| {});
    let program = ask(&running, "GET /who", "");
    assert_eq!((program.status, program.json()["type"].as_str()), (401, Some("/problems/token")));
    let page = ask(&running, "GET /documents/x", PAGE);
    assert_eq!((page.status, page.header("content-type")), (401, Some("text/html; charset=utf-8")));
    assert!(page.body.contains("action=\"../login\"") && !page.body.contains("refresh"), "{}", page.body);
    assert_eq!(ask(&running, "GET /?token=wrong", PAGE).status, 401);
    let form = |token: &str| {
        let body = format!("token={token}");
        let length = format!("content-length: {}\r\n\r\n{body}", body.len());
        let host = running.address();
        Answer::of(
            &running.raw(format!("POST /login HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{length}")),
        )
    };
    assert_eq!(form("wrong").status, 401);
    let answer = form(running.token());
    assert_eq!((answer.status, answer.header("location")), (303, Some("./")));
    assert!(answer.header("set-cookie").is_some());
    let based = Running::start(|options| options.base_path = "/a/b".into());
    let answer = ask(&based, &format!("GET /a/b/?token={}", based.token()), PAGE);
    assert!(answer.header("set-cookie").unwrap().contains("; path=/a/b/;"), "{}", answer.head);
}

#[test]
fn a_link_of_another_page_is_sent_again_with_the_cookie() {
    let running = Running::start(|_| {});
    let foreign = "sec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n";
    let page = ask(&running, "GET /?q=a", &format!("{PAGE}{foreign}"));
    assert!(page.status == 401 && page.body.contains("http-equiv=\"refresh\""), "{}", page.body);
}

#[test]
fn a_name_that_leads_here_by_a_trick_is_refused() {
    let running = Running::start(|options| options.hosts = vec!["search.example.org".into()]);
    let token = format!("authorization: Bearer {}\r\n", running.token());
    for (host, status) in [
        ("evil.example", 403),
        ("search.example.org", 200),
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("10.0.0.1", 403),
        ("", 403),
    ] {
        for path in ["/who", "/health"] {
            let answer = ask(&running, &format!("GET {path}"), &format!("host: {host}\r\n{token}"));
            assert_eq!(answer.status, status, "{host} {path}");
        }
    }
    assert_eq!(
        ask(&running, "GET http://evil.example/who", &format!("host: localhost\r\n{token}")).status,
        403
    );
}

#[test]
fn pages_of_others_cannot_send_requests() {
    let running = Running::start(|_| {});
    let token = format!("authorization: Bearer {}\r\n", running.token());
    let foreign = format!("{token}sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n");
    assert_eq!(ask(&running, "GET /who", &foreign).status, 403);
    let form = format!("{token}origin: https://evil.example\r\ncontent-length: 0\r\n");
    assert_eq!(ask(&running, "POST /echo", &form).status, 403);
    let own = format!("{token}origin: http://{}\r\ncontent-length: 0\r\n", running.address());
    assert_eq!(ask(&running, "POST /echo", &own).status, 200);
}
