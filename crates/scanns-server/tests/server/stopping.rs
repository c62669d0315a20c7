//! The end of a server: what runs may finish, within a time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::bench::{Running, talk};

fn begin(running: &Running, path: &str) -> TcpStream {
    let mut stream = running.connect();
    let (host, token) = (running.address(), running.token());
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n").unwrap();
    stream
}

#[test]
fn running_requests_finish_and_nobody_else_is_served() {
    let running = Running::start(|_| {});
    let stream = begin(&running, "/slow");
    let (silent, mut idle) = (running.connect(), begin(&running, "/who"));
    let mut part = [0; 4096];
    assert!(idle.read(&mut part).unwrap() > 0);
    running.wait_for_metric("scanns_requests_running", 2.0);
    let address = running.address().to_owned();
    running.stop();
    let until = Instant::now() + Duration::from_secs(5);
    while TcpStream::connect(&address).is_ok() {
        assert!(Instant::now() < until, "connections are still accepted");
    }
    let answer = talk(stream, b"");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("done"), "{answer}");
    assert_eq!((talk(silent, b""), talk(idle, b"")), (String::new(), String::new()));
    let log = std::fs::read_to_string(running.log.path()).unwrap();
    assert!(running.wait() < Duration::from_secs(15), "{log}");
}

#[test]
fn requests_that_take_longer_are_cut_off() {
    let running = Running::start(|options| options.grace = Duration::from_millis(200));
    let stream = begin(&running, "/slow?30");
    running.wait_for_metric("scanns_requests_running", 2.0);
    running.stop();
    assert_eq!(talk(stream, b""), "");
    assert!(running.wait() < Duration::from_secs(15));
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let running = Running::start(|options| options.grace = Duration::from_secs(30));
    let _stream = begin(&running, "/slow?30");
    running.wait_for_metric("scanns_requests_running", 2.0);
    running.stop();
    running.stop();
    assert!(running.wait() < Duration::from_secs(15));
}
