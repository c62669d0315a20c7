"""Requests that two readers could understand differently, and other bytes that are not HTTP.

Each attack is sent on a connection of its own, with a request behind it that an attacker would hide: `GET
/smuggled`. If its answer comes where the first request should have been refused, another reader could have been
deceived.
"""

import random
import socket
import time

from harness import Client

GOOD = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
HIDDEN = b"GET /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n"
HEAD = b"POST /api/v1/docs/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"
BODY = b'{"q":"common1"}'
AS_CHUNKS = b"f\r\n" + BODY + b"\r\n0\r\n\r\n"


def length(text):
    return b"content-length: " + text + b"\r\n"


# Refused, and the connection is closed, so that nothing behind can be taken for a request.
REFUSED = {
    "two lengths": HEAD + length(b"15") + length(b"0") + b"\r\n" + BODY,
    "two lengths in one": HEAD + length(b"15, 0") + b"\r\n" + BODY,
    "length with a plus": HEAD + length(b"+15") + b"\r\n" + BODY,
    "length with a minus": HEAD + length(b"-15") + b"\r\n" + BODY,
    "length in hex": HEAD + length(b"0xf") + b"\r\n" + BODY,
    "length with a space": HEAD + length(b"1 5") + b"\r\n" + BODY,
    "length beyond 64 bits": HEAD + length(b"18446744073709551631") + b"\r\n" + BODY,
    "empty length": HEAD + length(b"") + b"\r\n" + BODY,
    "length of underscores": HEAD + length(b"1_5") + b"\r\n" + BODY,
    "space before a colon": HEAD + b"content-length : 15\r\n\r\n" + BODY,
    "folded header": HEAD + b"x: a\r\n b\r\n" + length(b"15") + b"\r\n" + BODY,
    "folded length": HEAD + b"content-length:\r\n 15\r\n\r\n" + BODY,
    "empty name": HEAD + b": a\r\n\r\n",
    "name with a NUL": HEAD + b"a\0b: c\r\n\r\n",
    "value with a NUL": HEAD + b"a: b\0c\r\n\r\n",
    "bare CR in a value": HEAD + b"a: b\rcontent-length: 5\r\n\r\n",
    "no colon": HEAD + b"abc\r\n\r\n",
    "space at the start": b" " + HEAD + b"\r\n",
    "encoding twice": HEAD + CHUNKED + CHUNKED + b"\r\n" + AS_CHUNKS,
    "unknown encoding": HEAD + b"transfer-encoding: xchunked\r\n\r\n" + AS_CHUNKS,
    "encoding list": HEAD + b"transfer-encoding: chunked, identity\r\n\r\n" + AS_CHUNKS,
    "encoding gzip": HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n" + AS_CHUNKS,
    "encoding in quotes": HEAD + b'transfer-encoding: "chunked"\r\n\r\n' + AS_CHUNKS,
    "encoding with a tab": HEAD + b"transfer-encoding:\x0bchunked\r\n\r\n" + AS_CHUNKS,
    "chunks of HTTP/1.0": HEAD.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n" + AS_CHUNKS,
    "chunk with a sign": HEAD + CHUNKED + b"\r\n+f\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk in 0x": HEAD + CHUNKED + b"\r\n0xf\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk too large": HEAD + CHUNKED + b"\r\nfffffffffffffffff\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk of a bare LF": HEAD + CHUNKED + b"\r\nf\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk too short": HEAD + CHUNKED + b"\r\ne\r\n" + BODY + b"\r\n0\r\n\r\n",
    "empty chunk size": HEAD + CHUNKED + b"\r\n\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a long chunk extension": HEAD + CHUNKED + b"\r\nf;" + b"a" * 100_000 + b"\r\n" + BODY + b"\r\n0\r\n\r\n",
    "zeros": b"\0" * 5000,
    "only line feeds": b"\r\n" * 5000 + b"x\r\n\r\n",
    "TLS": bytes.fromhex("16030100ca010000c60303") + bytes(range(200)),
}
# RFC 9112, 6.3: read as chunks alone, and the connection is closed behind the answer.
CLOSED = {
    "length and chunks": HEAD + length(b"15") + CHUNKED + b"\r\n" + AS_CHUNKS,
    "chunks and length": HEAD + CHUNKED + length(b"4") + b"\r\n" + AS_CHUNKS,
}
# Refused, and without a doubt where the request ends.
ENDED = {
    "two hosts": b"GET /health HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "foreign host": b"GET /health HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    "host with a list": b"GET /health HTTP/1.1\r\nhost: localhost, evil.example\r\n\r\n",
    "foreign target": b"GET http://evil.example/health HTTP/1.1\r\nhost: localhost\r\n\r\n",
}
REFUSED |= {
    "no version": b"GET /health\r\n\r\n",
    "wrong version": b"GET /health HTTP/1.2\r\nhost: localhost\r\n\r\n",
    "wrong version 2": b"GET /health HTTP/2.0\r\nhost: localhost\r\n\r\n",
    "target with spaces": b"GET /health /other HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "target with a NUL": b"GET /hea\0lth HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "method with a line feed": b"GE\nT /health HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "preface with a request": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + GOOD,
    "preface cut": b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    "200 headers": b"GET /health HTTP/1.1\r\nhost: localhost\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    "thousands of headers": b"GET /health HTTP/1.1\r\nhost: localhost\r\n" + b"a: b\r\n" * 20_000 + b"\r\n",
    "a long header": b"GET /health HTTP/1.1\r\nhost: localhost\r\na: " + b"b" * 200_000 + b"\r\n\r\n",
    "a long target": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
}
# Odd, and understood in one way only: the first answer has this status, and a request behind it is another request.
FINE = {
    "plain": (HEAD + length(b"15") + b"\r\n" + BODY, 200),
    "chunks": (HEAD + CHUNKED + b"\r\n" + AS_CHUNKS, 200),
    "chunks in capitals": (HEAD + b"Transfer-Encoding: CHUNKED\r\n\r\n" + AS_CHUNKS, 200),
    "chunk extensions": (HEAD + CHUNKED + b'\r\nf;a=b;c="d"\r\n' + BODY + b"\r\n0;x\r\n\r\n", 200),
    "trailers": (
        HEAD + CHUNKED + b"\r\nf\r\n" + BODY + b"\r\n0\r\nx-remote-user: root\r\ncontent-length: 5\r\n\r\n",
        200,
    ),
    "length 0 in zeros": (b"GET /health HTTP/1.1\r\nhost: localhost\r\n" + length(b"000") + b"\r\n", 200),
    "a body that nobody asked for": (b"GET /health HTTP/1.1\r\nhost: localhost\r\n" + length(b"5") + b"\r\nabcde", 200),
    "absolute target": (b"GET http://localhost/health HTTP/1.1\r\nhost: localhost\r\n\r\n", 200),
    "behind an error": (b"GET /api/v1/none/search HTTP/1.1\r\nhost: localhost\r\n\r\n", 404),
    "behind a wrong query": (b"GET /api/v1/docs/search?q=(( HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    "behind a wrong method": (b"BREW /api/v1 HTTP/1.1\r\nhost: localhost\r\n\r\n", 405),
    "an upgrade": (
        b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n"
        b"http2-settings: AAMAAABkAAQAAP__\r\n\r\n",
        200,
    ),
}


def exchange(server, data, wait=3.0, answers=99):
    """What comes back for these bytes until the server closes, has nothing more to say, or has begun so many answers."""
    with server.connect(wait) as raw:
        try:
            raw.sendall(data)
        except OSError:
            pass
        got, closed = b"", False
        try:
            while True:
                part = raw.recv(65536)
                if not part:
                    closed = True
                    break
                got += part
                if len(statuses(got)) >= answers:
                    break
                raw.settimeout(0.25)
        except (TimeoutError, ConnectionResetError, BrokenPipeError) as error:
            closed = not isinstance(error, TimeoutError)
    return got, closed


def statuses(got):
    return [int(part[:3]) for part in got.split(b"HTTP/1.1 ")[1:] if part[:3].isdigit()]


def refused(server):
    """What two readers could understand differently is refused, and what follows is not read."""
    for name, data in REFUSED.items():
        got, closed = exchange(server, data + HIDDEN)
        found = statuses(got)
        # Behind a preface the server speaks HTTP/2, in which the rest is an error.
        is_error = len(found) == 1 and 400 <= found[0] < 500
        assert closed and (is_error or (not found and "preface" in name)), f"{name}: {found} {got[:500]!r}"
    for name, data in CLOSED.items():
        got, closed = exchange(server, data + HIDDEN)
        assert closed and statuses(got) == [200], f"{name}: {statuses(got)} {got[:500]!r}"
    for name, data in ENDED.items():
        got, _ = exchange(server, data + HIDDEN, answers=2)
        assert statuses(got) in ([400, 404], [403, 404]), f"{name}: {statuses(got)} {got[:500]!r}"
    server.must_be_sound()
    return f"{len(REFUSED) + len(CLOSED) + len(ENDED)} requests"


def understood(server):
    """Odd requests with one meaning are answered, and so is the next one."""
    for name, (data, status) in FINE.items():
        got, _ = exchange(server, data + HIDDEN, answers=2)
        assert statuses(got) == [status, 404], f"{name}: {statuses(got)} {got[:800]!r}"
    server.must_be_sound()
    return f"{len(FINE)} requests"


def slices(server):
    """A request has one meaning however it is cut into pieces."""
    data = HEAD + CHUNKED + b'\r\n3;x\r\n{"q\r\nc\r\n":"common1"}\r\n0\r\n\r\n' + GOOD
    for step in (1, 2, 3, 7, 31):
        with server.connect() as raw:
            for at in range(0, len(data), step):
                raw.sendall(data[at : at + step])
            got = b""
            while len(statuses(got)) < 2 or not got.endswith(b"ok\n"):
                part = raw.recv(65536)
                assert part, got
                got += part
            assert statuses(got) == [200, 200], got
    server.must_be_sound()


def random_bytes(server, seconds, seed):
    """Changed requests end in an answer or a closed connection, never in silence or a failure of the server."""
    choice = random.Random(seed)
    samples = [data for data, _ in FINE.values()] + list(REFUSED.values())
    samples = [data for data in samples if len(data) < 2000]
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        data = bytearray(choice.choice(samples) + choice.choice(samples))
        for _ in range(choice.randint(1, 6)):
            at = choice.randrange(len(data))
            match choice.randrange(4):
                case 0:
                    data[at] = choice.randrange(256)
                case 1:
                    data[at:at] = choice.choice([b"\r\n", b"\n", b"\0", b" ", b"\t", b"0", b"\xff", b":", b"chunked"])
                case 2:
                    del data[at : at + choice.randint(1, 10)]
                case _:
                    data += data[at : at + 40]
        with server.connect(5) as raw:
            try:
                raw.sendall(data)
                raw.shutdown(socket.SHUT_WR)
                while raw.recv(65536):
                    pass
            except (ConnectionResetError, BrokenPipeError):
                pass
            except TimeoutError as error:
                raise AssertionError(f"no end after {bytes(data)!r}") from error
        number += 1
    server.must_be_sound()
    return f"{number} changed requests, seed {seed}"


def hostile_paths(server):
    """Paths and headers that lead nowhere else."""
    secrets = [b"root:x:0", b"manifest-", b"[package]"]
    paths = [
        "/../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/assets/../../etc/passwd",
        "/assets/..%2f..%2findex.html",
        "/assets/%00",
        "/assets/%2fetc%2fpasswd",
        "/api/v1/../../etc",
        "/api/v1/%2e%2e/search",
        "/api/v1/..%2fdocs/search",
        "//etc/passwd",
        "/api/v1/docs%2fsearch",
        "/api/v1/%ff/search",
        "/api/v1/docs/documents/%2fetc%2fpasswd",
        "/api/v1/docs/documents/%",
        "/api/v1/docs/documents//etc/passwd",
        "/api/v1/docs/documents/%00",
        "/api/v1/docs/documents/" + "%2e%2e/" * 50,
        "/api/v1/docs/usage?path=/../../etc",
        "/api/v1/docs/usage?path=%00%ff",
        "/?index=../../etc&q=%00",
        "/;/../x",
        "/%5c..%5c",
        "/api/v1/" + "a" * 5000 + "/info",
        "/api/v1/docs/search?" + "a=b&" * 2000,
        "/api/v1/docs/search?q=" + "%20" * 5000,
        "/api/v1/docs/search?q=%ff%fe",
        "/api/v1/docs/search?%ff=1",
        "/api/v1/docs/search?q=%",
        "/api/v1/docs/search?&&&=&",
    ]
    with Client(server) as client:
        for path in paths:
            answer = client.ask("GET", path)
            assert answer.status in (200, 400, 403, 404), f"{path[:80]}: {answer}"
            assert not any(secret in answer.body for secret in secrets), f"{path[:80]}: {answer}"
        for value in (
            "bytes=0-0",
            "bytes=0-",
            "bytes=-1",
            "bytes=" + ",".join(f"{at}-{at}" for at in range(0, 3000, 2)),
            "bytes=5-1",
            "x",
        ):
            for path in ("/openapi.json", "/", "/api/v1/docs/export"):
                answer = client.ask("GET", path, headers={"range": value, "if-range": '"x"'})
                assert answer.status == 200, f"Range {value[:60]}: {answer}"
        for method in ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND", "M" * 1000):
            answer = client.ask(method, "/api/v1/docs/search")
            assert answer.status in (400, 405), f"{method[:20]}: {answer}"
    got, _ = exchange(server, b"CONNECT evil.example:80 HTTP/1.1\r\nhost: evil.example:80\r\n\r\n")
    assert statuses(got)[:1] and statuses(got)[0] in (400, 403, 404, 405), got
    got, _ = exchange(server, b"OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert statuses(got)[:1] and statuses(got)[0] in (400, 404, 405), got
    server.must_be_sound()
    return f"{len(paths)} paths"


def run_all(report, server, port, quick, seed):
    """`server` needs no token, `port` does."""
    report.test("smuggling::two_meanings_are_refused", refused, server)
    report.test("smuggling::one_meaning_is_answered", understood, server)
    report.test("smuggling::pieces_change_nothing", slices, server)
    report.test("smuggling::hostile_paths", hostile_paths, server)
    seconds = 1 if quick else 60
    report.test("smuggling::random_bytes", random_bytes, server, seconds, seed)
    report.test("smuggling::random_bytes_without_a_token", random_bytes, port, seconds, seed + 1)
