"""Requests that would take much memory or time: large and deep JSON, patterns, facets, long lists, compressed
bodies.

Each is small beside what it asks for. All must be answered in a few seconds, with an error of the client or with an
answer, and the memory of the server must stay below a cap.
"""

import gzip
import json
import socket
import threading
import time
import zlib

from harness import PATIENCE, Answer, Client, mebibytes, quoted

SEARCH = "/api/v1/docs/search"
# A body of 16 MiB, its JSON, and an answer of 64 MiB with its text and its JSON, for both threads; and the program
# itself.
CAP = 768 << 20
# The time limits of a query and of its facets are a second each in this campaign; the rest is for a machine that is
# busy.
SLOWEST = 6.0 * PATIENCE
LIMITS = ["--query-timeout", "1s", "--facet-timeout", "1s"]


def many(word, number, between=","):
    return between.join([word] * number)


def bodies(words):
    """JSON bodies by name."""
    unknown = [f"qqzz{number}yk" for number in range(1000)]
    queries = {
        "open parentheses": "(" * 400_000,
        "nested parentheses": "(" * 100_000 + "a" + ")" * 100_000,
        "nested or": "(a OR " * 50_000 + "b" + ")" * 50_000,
        "not": "NOT " * 100_000 + "a",
        "signs": "-+!" * 150_000 + "a",
        "quotation marks": '"' * 400_000,
        "colons": "a:" * 400_000,
        "fields of fields": "path:(" * 60_000,
        "brackets": "[" * 400_000,
        "words": " ".join(f"w{number}" for number in range(100_000)),
        "stars": "*" * 400_000,
        "wildcards": " ".join(f"*{one}*{other}*" for one in "abcdefghijklmnopqrst" for other in "abcdefghijklmnopqrst"),
        "one long wildcard": "*a" * 499,
        "question marks": "?*" * 490 + "z",
        "patterns": " ".join(["a*"] * 20_000),
        "prefixes": " ".join(f"{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz" * 39),
        "fuzzy words": " ".join(f"{word}~2" for word in unknown),
        "misspelt words": " ".join(unknown),
        "a regular expression": "path:/(a{1000}){1000}/",
        "nested stars": "/((a*)*)*b/",
        "backtracking": "/" + "(a|b|ab)*" * 40 + "c/",
        "a near phrase": '"a b"~999999999',
        "a long phrase": '"' + " ".join(words[:1000]) + '"',
        "a phrase of one word": '"' + " ".join([words[0]] * 1000) + '"~1000',
        "a long boost": "a^" + "9" * 100_000,
        "a long number": "size:[* TO " + "9" * 100_000 + "]",
        "control characters": "\x01" * 150_000,
    }
    yield from ((name, {"q": query}) for name, query in queries.items())
    yield "many sort columns", {"sort": many("size", 100_000), "limit": 1000}
    yield "sort columns", {"sort": many("size", 2_000), "limit": 3000}
    yield "many fields", {"fields": ["path"] * 100_000, "limit": 3000}
    yield "many weights", {"field": many("text", 100_000), "q": " ".join(words[:1000])}
    yield "many facets", {"facet": ["path:10000 > path:10000 > path:10000"] * 64, "limit": 0}
    yield "too many facets", {"facet": ["path:10000"] * 60_000}
    for levels in (100, 1_000, 3_000, 30_000, 100_000):
        yield f"{levels} levels of facets", {"facet": [many("size", levels, " > ")]}
    yield "ranges", {"facet": ["size:" + ",".join(f"{at}..{at + 1}" for at in range(50_000))]}
    yield "percentiles", {"stats": ["size:" + many("50", 5_000)] * 64, "limit": 0}
    yield "a tiny interval", {"facet": ["size:every:1", "mtime:hour"], "limit": 0}
    for interval in ("0", "-1", "nan", "inf", "1e-300", "1e308", "9" * 40):
        yield f"an interval of {interval[:10]}", {"facet": [f"size:every:{interval}"]}
    yield "explanations", {"q": " ".join(words[:300]), "limit": 3000, "explain": True}
    yield (
        "all snippets",
        {"q": " ".join(words[:300]), "limit": 3000, "snippets": True, "snippet_count": 64, "snippet_length": 65_536},
    )
    yield "all texts", {"limit": 3000, "content": True}
    for limit in (10**18, 10_001, 18446744073709551615):
        yield f"limit {limit}", {"limit": limit}
    yield "large groups", {"group": "path:18446744073709551615", "limit": 1}
    yield "many large groups", {"group": "owner:10000", "limit": 1}
    for name, value in [("k1", 1e308), ("b", -1), ("k1", "nan")]:
        yield f"{name} {value}", {"q": words[0], name: value}


RAW = {
    "depth 100,000": b'{"query":' * 100_000,
    "depth 100,000 of lists": b'{"query":' + b"[" * 100_000,
    "closed depth 100,000": b'{"query":' + b'{"bool":' * 100_000 + b"}" * 100_001,
    "many members": b"{" + b",".join(b'"a%d":1' % number for number in range(80_000)) + b"}",
    "the same member": b"{" + b",".join([b'"q":"a"'] * 80_000) + b"}",
    "a long number": b'{"limit":' + b"9" * 900_000 + b"}",
    "a long name": b'{"' + b"a" * 900_000 + b'":1}',
    "half a surrogate": b'{"q":"\\ud800"}',
    "not UTF-8": b'{"q":"\xff\xfe"}',
    "a mark of the byte order": b'\xef\xbb\xbf{"q":"a"}',
    "nothing": b"",
    "spaces": b" " * 1_000_000,
}


def must_be_fair(name, answer, began, slowest=SLOWEST):
    took = time.monotonic() - began
    assert answer.status < 500 or (answer.status == 503 and "retry-after" in answer.headers), f"{name}: {answer}"
    assert took < slowest, f"{name} took {took:.1f} s: {answer}"
    if answer.status >= 400:
        assert answer.headers["content-type"] == "application/problem+json", f"{name}: {answer}"
        assert len(answer.body) < 4096, f"{name}: an error of {len(answer.body)} bytes: {answer}"


def must_fit(server, name):
    peak = server.memory()
    assert peak < CAP, f"{name} took {mebibytes(peak)}, the cap is {mebibytes(CAP)}"


def small_requests(place, indexes, words):
    """Every bomb is tried, each on a server that lives, and all that fail are told."""
    server, wrong, number = place.serve(*LIMITS, *indexes), [], 0
    every = [*((name, value) for name, value in bodies(words)), *RAW.items()]
    for name, value in every:
        number += 1
        server.forget_peak()
        began = time.monotonic()
        try:
            must_be_fair(name, server.post(SEARCH, value, timeout=20), began)
            must_fit(server, name)
            server.must_live()
        except (AssertionError, OSError) as error:
            wrong.append(f"{name}: {error!r}"[:600])
            # What runs on would slow down the next one, and a dead server needs a successor.
            if server.process.poll() is None:
                server.process.kill()
            server.stop()
            server = place.serve(*LIMITS, *indexes)
    assert not wrong, f"{len(wrong)} of {number}:\n" + "\n".join(wrong)
    server.must_be_sound()
    return f"{number} requests"


def large_bodies(server):
    """100 MB of JSON with and without a length, and more bodies at once than there is memory for."""
    server.forget_peak()
    piece = b'{"q":"' + b"a" * (1 << 20)
    for head in (b"content-length: 104857600\r\n", b"transfer-encoding: chunked\r\n"):
        with server.connect() as raw:
            raw.sendall(
                b"POST "
                + SEARCH.encode()
                + b" HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                + head
                + b"\r\n"
            )
            sent = 0
            try:
                while sent < 100 << 20:
                    raw.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n" if b"chunked" in head else piece)
                    sent += len(piece)
            except OSError:
                pass
            answer = b""
            try:
                answer = raw.recv(1000)
            except ConnectionResetError:
                pass
            assert not answer or b" 413 " in answer, answer
    statuses = []
    body = b'{"q":"' + b"a " * (6 << 20) + b'"}'
    threads = [threading.Thread(target=lambda: statuses.append(server.post(SEARCH, body).status)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {413, 503}, statuses
    must_fit(server, "large bodies")
    server.must_be_sound()


def unfinished_bodies(server):
    """Clients that promise bodies and do not send them keep nobody from sending one."""
    held = []
    for _ in range(16):
        raw = server.connect()
        raw.sendall(
            b"POST " + SEARCH.encode() + b" HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"content-length: 16777216\r\n\r\n{"
        )
        held.append(raw)
    time.sleep(0.3)
    answer = server.post(SEARCH, {"q": "common1"})
    for raw in held:
        raw.close()
    assert answer.status == 200, f"16 bodies that do not come stop the one that does: {answer}"


def compressed_bodies(server):
    """Compressed bodies are refused and never unpacked."""
    bomb = gzip.compress(b'{"q":"' + b"a" * (256 << 20) + b'"}', 6)
    server.forget_peak()
    before = server.memory()
    for name, body in [
        ("gzip", bomb),
        ("deflate", zlib.compress(b"a" * (64 << 20))),
        ("br", b"\x8b" * 1000),
        ("gzip, gzip", bomb),
        ("identity, gzip", bomb),
        ("x-gzip", bomb),
        ("zstd", b"(\xb5/\xfd" * 100),
        ("", b'{"q":"a"}'),
        ("GZIP", bomb),
    ]:
        answer = server.post(SEARCH, body, headers={"content-encoding": name})
        assert answer.status == 415, f"content-encoding {name!r}: {answer}"
    assert server.memory() < before + (64 << 20), f"{mebibytes(server.memory())} instead of {mebibytes(before)}"
    server.must_be_sound()


def long_addresses(server):
    """Thousands of names, and addresses up to the longest that is read."""
    for name, path in [
        ("facets", SEARCH + "?" + many("facet=size", 900, "&")),
        ("too many parameters", SEARCH + "?" + many("facet=size", 2_000, "&")),
        ("facets of facets", SEARCH + "?facet=" + many("size", 3_200, "+%3E+")),
        ("sort", SEARCH + "?limit=1000&sort=" + many("size", 5_000)),
        ("fields", SEARCH + "?limit=1000&fields=" + many("path", 5_000)),
        ("columns", "/api/v1/docs/export?fields=" + many("path", 5_000)),
        ("indexes", "/api/v1/_search?index=" + many("docs", 5_000)),
        ("prefix", "/api/v1/docs/terms?prefix=" + "a" * 30_000),
        ("completion", "/api/v1/docs/suggest?q=" + quoted("qzx " * 7_000)),
        ("position", "/api/v1/docs/suggest?q=a&position=18446744073709551615"),
        ("key", "/api/v1/docs/documents/" + "a/" * 15_000),
        ("deep", "/api/v1/docs/usage?path=" + "/a" * 15_000),
        ("page", "/?index=docs&q=" + "%22" * 10_000),
        ("token", SEARCH + "?after=" + "A" * 30_000),
    ]:
        began = time.monotonic()
        try:
            # The connection ends after an address that is too long.
            with Client(server) as client:
                answer = client.ask("GET", path)
        except (OSError, ValueError) as error:
            raise AssertionError(
                f"{name}: {error!r}; {server.process.poll()} {server.error_text()[-300:]}"
            ) from error
        must_be_fair(name, answer if answer.status >= 400 else Answer(200, {}, b""), began)
        must_fit(server, name)
    server.must_be_sound()


def batches(server):
    """Batches of the most lines and bytes, and of lines that are wrong."""
    line = json.dumps({"q": "common1", "limit": 1}).encode() + b"\n"
    for name, body, status in [
        ("1000", line * 1000, 200),
        ("1001", line * 1001, 400),
        ("wrong", b"{\n[]\n\xff\n1\nnull\n" + line, 200),
        ("deep", b'{"query":' * 100_000 + b"\n" + line, 200),
        ("nothing", b"\n" * 100_000, 200),
        ("a long line", b'{"q":"' + b"a " * (1 << 22) + b'"}', 200),
    ]:
        answer = server.post("/api/v1/docs/_batch", body, headers={"content-type": "application/x-ndjson"})
        assert answer.status in (status, 413), f"{name}: {answer}"
        for one in answer.body.splitlines():
            json.loads(one)
        must_fit(server, f"a batch of {name}")
    server.must_be_sound()


def unread_answers(server, path, seconds):
    """Clients that do not read large answers take no more memory together than the cap."""
    server.forget_peak()
    held = []
    for _ in range(60):
        raw = server.connect()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        held.append(raw)
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.memory() < CAP:
        time.sleep(0.1)
    for raw in held:
        raw.close()
    must_fit(server, "60 answers that nobody reads")
    server.must_be_sound()


def hung_up(server):
    """What a client asked for that has hung up runs no longer."""
    path = SEARCH + "?limit=3000&fields=" + many("path", 3_000)
    held = []
    for _ in range(20):
        raw = server.connect()
        raw.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        held.append(raw)
    # Until then some of them run.
    time.sleep(0.3)
    for raw in held:
        raw.close()
    began = time.monotonic()
    status = None
    while status != 200 and time.monotonic() - began < SLOWEST:
        try:
            status = server.get(SEARCH + "?q=common1", timeout=SLOWEST).status
        except TimeoutError:
            pass
        time.sleep(0.05)
    took = time.monotonic() - began
    assert status == 200 and took < 2 * PATIENCE, f"a good client waited {took:.1f} s: {status}"
    server.must_be_sound()


def run_all(report, place, indexes, words, large, quick):
    """`indexes` has `docs`, and `large`, whose hits are answers of some 30 MB."""
    report.test("bombs::small_requests_that_ask_for_much", small_requests, place, indexes, words)
    server = lambda *options: place.serve(*LIMITS, *options, *indexes)
    report.test("bombs::bodies_of_100_MB", lambda: large_bodies(server()))
    report.test("bombs::bodies_that_do_not_come", lambda: unfinished_bodies(server()))
    report.test("bombs::compressed_bodies", lambda: compressed_bodies(server()))
    report.test("bombs::long_addresses", lambda: long_addresses(server()))
    report.test("bombs::batches", lambda: batches(server()))
    report.test("bombs::clients_that_hang_up", lambda: hung_up(server()))
    if not quick:
        report.test("bombs::answers_that_nobody_reads", lambda: unread_answers(server(), large, 60))
