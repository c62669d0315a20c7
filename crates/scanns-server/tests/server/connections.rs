//! Limits of connections: clients that are silent, slow, greedy or many.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::bench::{Answer, BEGUN, CANCELLED, Running, short, talk, wait_until_listed};

/// What is due has happened by then, even on a busy machine.
const SOON: Duration = Duration::from_secs(15);

/// Reads until the server closes the connection; what it sent, and how long that took.
fn until_closed(mut stream: TcpStream) -> (String, Duration) {
    let began = Instant::now();
    (talk(&mut stream, b""), began.elapsed())
}

#[test]
fn a_silent_connection_is_closed() {
    let running = Running::start(short);
    let (answer, time) = until_closed(running.connect());
    assert_eq!(answer, "");
    assert!(time >= Duration::from_millis(1900) && time < SOON, "{time:?}");
    assert_eq!(running.metric("scanns_connections_expired_total{waiting_for=\"silent\"}"), 1.0);
}

#[test]
fn a_slow_head_is_refused_even_if_bytes_keep_coming() {
    let running = Running::start(short);
    // The first three could begin HTTP/2, which is looked for first.
    for begin in ["GET / HTTP/1.1\r\nhost: localhost\r\n", "P", "PRI * HTTP/2.0\r\n\r\n", "G"] {
        let mut stream = running.connect();
        stream.write_all(begin.as_bytes()).unwrap();
        let mut trickle = stream.try_clone().unwrap();
        let feeder = std::thread::spawn(move || {
            for _ in 0..200 {
                std::thread::sleep(Duration::from_millis(50));
                if trickle.write_all(b"x").is_err() {
                    return;
                }
            }
        });
        let (answer, time) = until_closed(stream);
        assert!(time < SOON, "{begin:?} {time:?}");
        if begin.starts_with('G') {
            assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        }
        feeder.join().unwrap();
    }
}

#[test]
fn a_slow_body_is_refused() {
    let running = Running::start(short);
    let (host, token) = (running.address(), running.token());
    for length in ["content-length: 100", "transfer-encoding: chunked"] {
        let mut stream = running.connect();
        write!(
            stream,
            "POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n{length}\r\n\r\n"
        )
        .unwrap();
        let (answer, time) = until_closed(stream);
        let answer = Answer::of(&answer);
        assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
        assert!(time < SOON, "{time:?}");
    }
}

#[test]
fn an_idle_connection_is_closed_and_its_next_head_has_its_own_limit() {
    let running = Running::start(short);
    let (host, token) = (running.address().to_owned(), running.token().to_owned());
    let request = format!("GET /who HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    let mut stream = running.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let (answer, time) = until_closed(stream);
    assert!(answer.starts_with("HTTP/1.1 200 ") && !answer.contains("408"), "{answer}");
    assert!(time >= Duration::from_millis(2900) && time < SOON, "{time:?}");
    // Several requests, each within the idle limit.
    let mut stream = running.connect();
    for _ in 0..3 {
        stream.write_all(request.as_bytes()).unwrap();
        let mut part = [0; 4096];
        assert!(stream.read(&mut part).unwrap() > 0);
        std::thread::sleep(Duration::from_millis(1200));
    }
    stream.write_all(b"GET /who").unwrap();
    let (answer, time) = until_closed(stream);
    assert!(answer.starts_with("HTTP/1.1 408 ") && time < SOON, "{answer} {time:?}");
}

#[test]
fn a_client_that_does_not_take_its_answer_is_disconnected() {
    let running = Running::start(short);
    let (host, token) = (running.address(), running.token());
    let mut stream = running.connect();
    write!(stream, "GET /large HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n").unwrap();
    running.wait_for_metric("scanns_connections_expired_total{waiting_for=\"send\"}", 1.0);
    // One that reads slowly, and gets everything.
    let mut stream = running.connect();
    write!(
        stream,
        "GET /large HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let (mut all, mut part) = (0, vec![0; 1 << 20]);
    while let Ok(1..) = stream.read(&mut part).inspect(|read| all += read) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(all > 2000 * (16 << 10), "{all}");
}

#[test]
fn a_client_that_hangs_up_cancels_its_request() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    let mut stream = running.connect();
    // No other test sleeps that long.
    write!(stream, "GET /slow?31 HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n").unwrap();
    wait_until_listed(&BEGUN, 31);
    drop(stream);
    wait_until_listed(&CANCELLED, 31);
    let logged = running.logged(1);
    assert!(logged.iter().any(|line| line["path"] == "/slow" && line["status"] == 499), "{logged:?}");
}

#[test]
fn peers_and_all_have_limits_of_connections() {
    let running = Running::start(|options| options.limits.per_peer = 5);
    let held: Vec<TcpStream> = (0..5).map(|_| running.connect()).collect();
    // They are counted when they are accepted, which happens in this order.
    let answer = Answer::of(&until_closed(running.connect()).0);
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("1")));
    drop(held);
    let until = Instant::now() + Duration::from_secs(10);
    while running.get("/who", "").status != 200 {
        assert!(Instant::now() < until);
    }
    let running = Running::start(|options| options.limits.connections = 5);
    let held: Vec<TcpStream> = (0..5).map(|_| running.connect()).collect();
    let answer = Answer::of(&until_closed(running.connect()).0);
    assert_eq!((answer.status, answer.json()["status"].as_u64()), (503, Some(503)));
    drop(held);
}

#[test]
fn thousands_of_silent_connections_do_no_harm() {
    let running = Running::start(|options| {
        options.limits.first_byte = Duration::from_millis(1500);
        options.limits.per_peer = 500;
        options.limits.connections = 600;
    });
    let mut held = Vec::new();
    for _ in 0..4000 {
        match TcpStream::connect(running.address()) {
            Ok(stream) if held.len() < 800 => held.push(stream),
            Ok(_) => {}
            Err(error) => panic!("{error} after {} connections", held.len()),
        }
    }
    // When the silent ones are gone, others are served.
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut stream = running.connect();
        let request = format!(
            "GET /who HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            running.token()
        );
        if talk(&mut stream, request.as_bytes()).starts_with("HTTP/1.1 200 ") {
            break;
        }
        assert!(Instant::now() < until, "nobody is served");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(held);
    running.wait_for_metric("scanns_connections", 1.0);
}

#[test]
fn heads_and_bodies_have_limits_of_size() {
    let running = Running::start(|options| {
        options.limits.head_bytes = 8 << 10;
        options.limits.headers = 20;
        options.limits.body_bytes = 1000;
    });
    assert_eq!(running.get("/who", &format!("x: {}\r\n", "a".repeat(9000))).status, 431);
    assert_eq!(running.get("/who", &"x: a\r\n".repeat(30)).status, 431);
    assert_eq!(running.get(&format!("/{}", "a".repeat(9000)), "").status, 431);
    assert_eq!(running.get("/who", &"x: a\r\n".repeat(10)).status, 200);
    let post = |headers: &str, body: &str| {
        let (host, token) = (running.address(), running.token());
        let text = running.raw(format!(
            "POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             {headers}\r\n\r\n{body}"
        ));
        let answer = Answer::of(&text);
        (answer.status, answer.body)
    };
    assert_eq!(post("content-length: 1000", &"a".repeat(1000)), (200, "1000 bytes".into()));
    assert_eq!(post("content-length: 1001", &"a".repeat(1001)).0, 413);
    // Larger than what the system keeps for the server: the answer must come through nevertheless.
    assert_eq!(post("content-length: 4000000", &"a".repeat(4_000_000)).0, 413);
    assert!(matches!(post("content-length: 18446744073709551615", "").0, 413 | 431));
    assert_eq!(post("content-length: 9223372036854775807", "").0, 413);
    assert_eq!(post("transfer-encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"), (200, "5 bytes".into()));
    let chunks = format!("{}0\r\n\r\n", format!("64\r\n{}\r\n", "a".repeat(100)).repeat(11));
    assert_eq!(post("transfer-encoding: chunked", &chunks).0, 413);
    let (status, body) = post("content-encoding: gzip\r\ncontent-length: 3", "abc");
    assert!(status == 415 && body.contains("without Content-Encoding"), "{body}");
    assert_eq!(post("content-encoding: identity\r\ncontent-length: 3", "abc").0, 200);
}

#[test]
fn all_bodies_together_have_a_limit() {
    let running = Running::start(|options| {
        options.limits.body_bytes = 1 << 20;
        options.limits.all_body_bytes = 1 << 20;
    });
    let (host, token) = (running.address(), running.token());
    let head = format!(
        "POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        1 << 20
    );
    let whole = [head.as_bytes(), &vec![b'a'; 1 << 20]].concat();
    // What a body announces takes no memory; what has come does.
    let mut silent = running.connect();
    silent.write_all(head.as_bytes()).unwrap();
    running.wait_for_metric("scanns_requests_running", 2.0);
    assert!(running.raw(&whole).starts_with("HTTP/1.1 200 "));
    let (begun, rest) = whole.split_at(whole.len() - 1);
    let until = Instant::now() + Duration::from_secs(20);
    // If the second is read before all of the first, it is the first that is refused.
    let (first, refused) = loop {
        let mut first = running.connect();
        first.write_all(begun).unwrap();
        running.wait_for_metric("scanns_requests_running", 3.0);
        let answer = Answer::of(&running.raw(&whole));
        if answer.status == 503 {
            break (first, answer);
        }
        assert!(Instant::now() < until, "{}", answer.status);
        drop(first);
        running.wait_for_metric("scanns_requests_running", 2.0);
    };
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(talk(first, rest).starts_with("HTTP/1.1 200 "));
    // What was freed can be used.
    let until = Instant::now() + Duration::from_secs(5);
    while !running.raw(&whole).starts_with("HTTP/1.1 200 ") {
        assert!(Instant::now() < until);
    }
}

#[test]
fn requests_in_a_row_are_answered_in_their_order() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    let request = |target: &str, close: &str| {
        format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n{close}\r\n")
    };
    let mut all: String = (0..50).map(|number| request(&format!("/documents/{number}"), "")).collect();
    all += &request("/documents/last", "connection: close\r\n");
    let answers = running.raw(all);
    let order: Vec<&str> = answers.split("/documents/").skip(1).collect();
    assert_eq!(order.len(), 51, "{answers}");
    for (number, answer) in order.iter().take(50).enumerate() {
        assert!(answer.starts_with(&format!("{number}HTTP/1.1 200 ")), "{number} {answer}");
    }
}
