"""Tokens, cookies, and pages of others: what a browser may be made to do, and what is written into the log."""

import os
import re
import socket
import time

from harness import Client, Skipped, quoted
from people import ask_as, ordinary

LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def ask(server, method, path, headers=None, body=None):
    with Client(server) as client:
        return client.ask(method, path, body, {"authorization": "none", **(headers or {})})


def only_with_the_token(server):
    """Nothing but the health is told without the token, which is in no answer and not in the log."""
    token, cookie = server.token, None
    for path in (
        "/api/v1",
        "/api/v1/docs/search",
        "/api/v1/docs/export",
        "/api/v1/docs/documents/x",
        "/openapi.json",
        "/metrics",
        "/",
        "/?q=common1",
        "/assets/x",
        "/none",
        "/?token=" + "0" * len(token),
        "/?token=",
        "/?token=" + token[:-1],
        "/?token=" + token.upper(),
        "/api/v1?token=" + token,
    ):
        for headers in (
            {},
            {"accept": "text/html"},
            {"cookie": f"scanns-{server.port}={token}"},
            {"authorization": f"Basic {token}"},
            {"authorization": token},
            {"x-remote-user": "root"},
        ):
            answer = ask(server, "GET", path, headers)
            assert answer.status == 401, f"{path} {headers}: {answer}"
            assert token.encode() not in answer.body and "set-cookie" not in answer.headers, (
                f"{path} {headers}: {answer}"
            )
    answer = ask(server, "GET", f"/?q=a&token={token}&sort=size")
    assert answer.status == 303 and answer.headers["location"] == "./?q=a&sort=size", answer
    found = re.fullmatch(rf"scanns-{server.port}=([^;]+); HttpOnly; SameSite=Strict", answer.headers["set-cookie"])
    assert found and found.group(1) != token and len(found.group(1)) >= 32, answer
    cookie = found.group(1)
    assert "no-store" in answer.headers["cache-control"] and answer.headers["referrer-policy"] == "no-referrer", answer
    pair = f"scanns-{server.port}={cookie}"
    for headers in ({"cookie": pair}, {"cookie": f"a=b; {pair}"}, {"authorization": f"Bearer {token}"}):
        assert ask(server, "GET", "/api/v1", headers).status == 200, headers
    answer = ask(
        server, "POST", "/login", {"content-type": "application/x-www-form-urlencoded"}, f"token={token}".encode()
    )
    assert answer.status == 303 and pair in answer.headers["set-cookie"], answer
    # Ways in which a token could come into the log.
    for path in (f"/?token={token}", f"/api/v1?token={token}", f"/x?a=b&token={token}&c", f"/login?token={token}"):
        ask(server, "GET", path, {"cookie": pair, "referer": f"http://localhost/?token={token}"})
    ask(server, "POST", "/login", {"content-type": "application/x-www-form-urlencoded"}, f"token={token}x".encode())
    time.sleep(0.3)
    with open(server.log) as log:
        words = log.read() + server.error_text()
    assert token not in words and cookie not in words, "the token is in the log: " + next(
        line for line in words.splitlines() if token in line or cookie in line
    )


def other_pages(server):
    """Pages of other sites can make a browser open a link, and nothing else."""
    token = {"authorization": f"Bearer {server.token}"}
    for headers, method, expected in [
        (LINK, "GET", 200),
        (LINK, "POST", 403),
        ({**LINK, "sec-fetch-dest": "iframe"}, "GET", 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}, "GET", 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}, "GET", 403),
        ({"origin": "http://evil.example"}, "POST", 403),
        ({"origin": "null"}, "POST", 403),
        ({"origin": f"http://localhost:{server.port + 1}"}, "POST", 403),
        ({"origin": f"http://localhost:{server.port}.evil.example"}, "POST", 403),
        ({"sec-fetch-site": "same-origin"}, "POST", 200),
        ({"sec-fetch-site": "none"}, "GET", 200),
    ]:
        given = {**token, **headers, "host": f"localhost:{server.port}", "content-type": "application/json"}
        answer = ask(server, method, "/api/v1/docs/search", given, b"{}" if method == "POST" else None)
        assert answer.status == expected, f"{method} {headers}: {answer}"
        for name in ("access-control-allow-origin", "access-control-allow-credentials"):
            assert name not in answer.headers, answer
    for host in (
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "[::1",
        "",
        "localhost@evil.example",
        "10.0.0.1",
        "0.0.0.0",
    ):
        answer = ask(server, "GET", "/api/v1", {**token, "host": host})
        assert answer.status in (400, 403), f"Host {host!r}: {answer}"
    for path in ("/", "/api/v1", "/none", "/health", "/api/v1/docs/export"):
        answer = ask(server, "GET", path, token)
        policy = answer.headers["content-security-policy"]
        assert (
            "script-src 'self'" in policy
            and "unsafe" not in policy
            and answer.headers["x-content-type-options"] == "nosniff"
        ), answer


def hostile_texts(server):
    """Markup in a question comes back escaped, in the page and in errors."""
    token = {"authorization": f"Bearer {server.token}", "accept": "text/html"}
    for text in (
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "'-alert(1)-'",
        "</title><svg onload=alert(1)>",
        "<!--scanns:q-->",
        "javascript:alert(1)",
        "\u202egpj.exe",
        "<b>(",
        "\r\nset-cookie: a=b",
    ):
        for name in ("q", "index", "sort", "after", "field"):
            answer = ask(server, "GET", f"/?{name}={quoted(text)}", token)
            assert answer.status == 200 and answer.headers["content-type"].startswith("text/html"), answer
            assert not re.search(rb"<(script>alert|img src=x|svg onload|b>\()|<!--scanns:", answer.body), (
                f"{name}={text}: {answer.body!r}"
            )
            assert "set-cookie" not in answer.headers, answer


def places(place, indexes):
    """A socket in a directory of others is not taken over, and others cannot reach one of ours."""
    if os.geteuid() != 0:
        raise Skipped("it needs root, to take on another user")
    other = ordinary(1)[0]
    own = place.serve(*indexes)
    try:
        status = ask_as(other, lambda: own.get("/api/v1").status)
    except AssertionError as error:
        assert "Permission" in str(error), error
    else:
        assert status == 403, status
    path = place.at("taken.sock")
    taken = socket.socket(socket.AF_UNIX)
    taken.bind(path)
    taken.listen()
    for make, words in [
        (lambda: None, "another server answers"),
        (lambda: os.symlink("/etc/passwd", place.at("link.sock")), "is not a socket"),
    ]:
        make()
        name = "taken.sock" if "another" in words else "link.sock"
        try:
            place.serve(*indexes, socket_name=name)
        except AssertionError as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"{name} was taken over")
    taken.close()
    own.must_be_sound()


def run_all(report, place, indexes):
    server = place.serve(*indexes, tcp=True)
    report.test("tokens::only_with_the_token", only_with_the_token, server)
    report.test("tokens::pages_of_others", other_pages, server)
    report.test("tokens::hostile_texts", hostile_texts, server)
    report.test("tokens::sockets", places, place, indexes)
    server.stop()
