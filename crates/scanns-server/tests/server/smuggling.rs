//! Requests that a proxy and this server could read differently: one must not become two.

use crate::bench::{Running, short, talk};

/// The statuses of all answers on a connection.
fn statuses(answers: &str) -> Vec<u16> {
    let heads = answers.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head.get(..3).unwrap_or_default().parse().unwrap()).collect()
}

#[test]
fn a_request_with_two_meanings_is_refused_or_ends_the_connection() {
    let running = Running::start(short);
    let mut wrong = Vec::new();
    let (host, token) = (running.address(), running.token());
    let begin = format!("POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n");
    let inner = format!("GET /smuggled HTTP/1.1\r\nhost: {host}\r\n\r\n");
    let chunked = "transfer-encoding: chunked\r\n";
    for (what, request) in [
        (
            "two lengths",
            format!("{begin}content-length: 0\r\ncontent-length: {}\r\n\r\n{inner}", inner.len()),
        ),
        ("two lengths in one", format!("{begin}content-length: 0, {}\r\n\r\n{inner}", inner.len())),
        ("a negative length", format!("{begin}content-length: -1\r\n\r\n{inner}")),
        ("a length with a sign", format!("{begin}content-length: +0\r\n\r\n{inner}")),
        ("a hexadecimal length", format!("{begin}content-length: 0x0\r\n\r\n{inner}")),
        ("a space before the colon", format!("{begin}content-length : 0\r\n\r\n{inner}")),
        ("a tab before the colon", format!("{begin}transfer-encoding\t: chunked\r\n\r\n0\r\n\r\n{inner}")),
        ("a folded line", format!("{begin}x: a\r\n content-length: 5\r\n\r\n{inner}")),
        ("a folded encoding", format!("{begin}transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n{inner}")),
        ("an unknown encoding", format!("{begin}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{inner}")),
        (
            "chunked before another",
            format!("{begin}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n{inner}"),
        ),
        (
            "chunked as a quoted word",
            format!("{begin}transfer-encoding: \"chunked\"\r\n\r\n0\r\n\r\n{inner}"),
        ),
        ("a chunk size with a sign", format!("{begin}{chunked}\r\n+0\r\n\r\n{inner}")),
        ("a chunk size with a prefix", format!("{begin}{chunked}\r\n0x0\r\n\r\n{inner}")),
        ("a chunk size of 17 digits", format!("{begin}{chunked}\r\n10000000000000000\r\n\r\n{inner}")),
        ("a chunk longer than it says", format!("{begin}{chunked}\r\n1\r\nab\r\n0\r\n\r\n{inner}")),
        ("a chunk that ends with a line feed", format!("{begin}{chunked}\r\n1\r\na\n0\r\n\r\n{inner}")),
        ("a chunk size that ends with a line feed", format!("{begin}{chunked}\r\n1\na\r\n0\r\n\r\n{inner}")),
        ("an extension with a line feed", format!("{begin}{chunked}\r\n1;a\nb\r\na\r\n0\r\n\r\n{inner}")),
        ("a zero in a header", format!("{begin}x: a\0b\r\ncontent-length: 0\r\n\r\n{inner}")),
        ("a carriage return in a header", format!("{begin}x: a\rcontent-length: 0\r\n\r\n{inner}")),
        (
            "HTTP/1.0 with chunks",
            format!("{begin}{chunked}\r\n0\r\n\r\n{inner}").replace("1.1\r\nhost", "1.0\r\nhost"),
        ),
    ] {
        let seen = statuses(&running.raw(&request));
        if seen.len() > 1 || !seen.iter().all(|status| (400..500).contains(status)) {
            wrong.push((what, seen));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A proxy that goes by the length would send the rest as the next request; one that goes by the chunks would
/// not. So the connection ends.
#[test]
fn chunks_and_a_length_are_never_two_requests() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    let begin = format!("POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n");
    let inner = format!("GET /smuggled HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    for order in [
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n",
    ] {
        let answers = running.raw(format!("{begin}{order}\r\n0\r\n\r\n{inner}"));
        let seen = statuses(&answers);
        assert!(seen.len() == 1 && answers.contains("connection: close"), "{order:?}: {answers}");
    }
}

#[test]
fn usual_chunks_are_read_as_they_are_meant() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    let begin = format!(
        "POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    for (body, bytes) in [
        ("5\r\nhello\r\n0\r\n\r\n", 5),
        ("5;a=b\r\nhello\r\n0\r\n\r\n", 5),
        ("A\r\n0123456789\r\n1\r\n.\r\n0\r\n\r\n", 11),
        ("5\r\nhello\r\n0\r\nx: trailer\r\n\r\n", 5),
    ] {
        let answer = running.raw(format!("{begin}{body}"));
        assert!(answer.ends_with(&format!("\r\n\r\n{bytes} bytes")), "{body:?}: {answer}");
    }
    // Extensions without end cost memory in some servers.
    let long = running.raw(format!("{begin}5;{}\r\nhello\r\n0\r\n\r\n", "a".repeat(100_000)));
    assert_eq!(statuses(&long), [400]);
}

/// The bytes that end a line, and the spaces in a request line, in all the ways that someone may try.
#[test]
fn odd_request_lines_are_refused() {
    let running = Running::start(|_| {});
    let (host, token) = (running.address(), running.token());
    let rest = format!("host: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n");
    for line in [
        "GET  /who HTTP/1.1\r\n",
        "GET /who  HTTP/1.1\r\n",
        "GET\t/who HTTP/1.1\r\n",
        "GET /who HTTP/1.2\r\n",
        "GET /who HTTP/3\r\n",
        "GET /who\r\n",
        "GET /who HTTP/1.1 \r\n",
        "GET who HTTP/1.1\r\n",
        "G@T\u{7f} /who HTTP/1.1\r\n",
        "GET /who\0 HTTP/1.1\r\n",
        " GET /who HTTP/1.1\r\n",
    ] {
        let answers = running.raw(format!("{line}{rest}"));
        let seen = statuses(&answers);
        assert!(seen.len() <= 1 && seen.iter().all(|status| *status >= 400), "{line:?}: {answers}");
    }
    assert_eq!(statuses(&running.raw(format!("GET /who HTTP/1.1\r\n{rest}"))), [200]);
    assert_eq!(statuses(&running.raw(format!("GET /who HTTP/1.1\n{}", rest.replace("\r\n", "\n")))), [200]);
}

/// Random changes of a valid request neither make the server panic nor answer more than was asked.
#[test]
fn damaged_requests_do_no_harm() {
    let running = Running::start(short);
    let (host, token) = (running.address(), running.token());
    let valid = format!(
        "POST /echo HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    );
    let seed = 7;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..300 {
        let mut bytes = valid.clone().into_bytes();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.insert(at, b"\r\n :\t\0,;"[random.usize(..8)]),
                _ => {
                    bytes.remove(at);
                }
            }
        }
        // What is cut short must not wait.
        let mut stream = running.connect();
        std::io::Write::write_all(&mut stream, &bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let answers = talk(stream, b"");
        let seen = statuses(&answers);
        // If the length is lost, the body is a second request, which is none.
        let rest = seen.get(1..).unwrap_or_default();
        assert!(seen.iter().all(|status| *status < 500), "{bytes:?}: {answers}");
        assert!(rest.is_empty() || rest == [400], "{bytes:?}: {answers}");
    }
    assert_eq!(running.metric("scanns_panics_total"), 0.0);
}
