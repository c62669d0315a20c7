"""Who may see what: each user gets the answers of an index that he built himself, and nothing of what is hidden.

A tree of many owners is indexed by root and served to all, and indexed and served by each user. The same requests
go to both, from processes that have become the user. Whatever names, words or numbers of hidden files an answer has
is a failure.
"""

import json
import os
import re
import shutil

from harness import Client, Skipped, quoted
from people import Person, ask_as, groups, ordinary
from tree import MIXED, OPEN, WORDS, Tree, seen_now

NDJSON = {"content-type": "application/x-ndjson"}
TEXT, ENTRIES = ["--positions", "--store", "content"], ["--content", "none"]
# Names with their trees and options. In the tree `open` who can list a file can read it, so that what a user
# indexes is what he sees. In the tree `mixed` the names of files may be seen and their texts not; an index of texts
# that the user builds has no document for such a file, so that its answers are only searched for what is hidden.
INDEXES = {"text": ("open", TEXT), "mixed": ("mixed", TEXT), "entries": ("mixed", ENTRIES)}
EXACT = ["text", "entries"]
# Members that differ between a view and an index of its own, or between two times.
OTHER = {
    "generation",
    "committed",
    "age_seconds",
    "took",
    "user",
    "trimmed",
    "request_id",
    "completeness",
    "incomplete",
    "after",
    "atime",
    "scanned",
}


def prepare(place, quick, seed):
    """The tree, the users, and the server of all."""
    if os.geteuid() != 0:
        raise Skipped("it needs root, to take on other users")
    people = ordinary(3 if quick else 6, without=["backup"])
    if len(people) < 3:
        raise Skipped("this machine has too few users")
    place.program = shutil.copy(place.program, place.at("scanns"))
    os.chmod(place.program, 0o755)
    files = 300 if quick else 1500
    trees = {
        "open": Tree(place.at("open"), people, groups(), files, OPEN, 0, seed),
        "mixed": Tree(place.at("mixed"), people, groups(), files, MIXED, 50_000, seed),
    }
    for name, (tree, options) in INDEXES.items():
        place.index(name + ".scanns", "--access", *options, trees[tree].path)
    server = place.serve("--shared", "--max-waiting", "1000", *served(place))
    return people, trees, server


def served(place):
    return [f"{name}={place.at(name + '.scanns')}" for name in INDEXES]


def paths_of(trees):
    """The paths of all entries by number."""
    return {number: path for tree in trees.values() for number, path in tree.made.items()}


def requests(trees, hidden_names, hidden_texts, quick):
    """Requests of every route; those about hidden things too."""
    some = lambda numbers: sorted(numbers)[:: max(1, len(numbers) // (6 if quick else 25))]
    word = WORDS[3]
    asked = [
        "/api/v1",
        f"/?index=text&q={word}",
        "/?index=entries&q=*&sort=size",
        "/api/v1/_search?index=text,mixed&q=*&sort=key&limit=1000",
        f"/?index=mixed&q={word}",
    ]
    made = paths_of(trees)
    for index, (tree, _) in INDEXES.items():
        base = f"/api/v1/{index}"
        asked += [
            base + path
            for path in (
                "/info",
                "/search?q=*&limit=10000&sort=key&fields=path,size,owner,mode,mtime",
                "/search?q=*&limit=0&facet=owner:1000&facet=ext:10000&facet=path:10000&facet=size:every:10&facet=mtime:month"
                "&facet=mode&facet=group%20%3E%20sum:size&stats=size:1,50,99&stats=mtime&distinct=path&distinct=owner:estimate",
                "/search?q=*&sort=size:desc,name&limit=50",
                "/search?q=*&sort=-key&limit=20",
                "/search?q=name:fname*&limit=1000&sort=key",
                "/search?q=*&group=owner:2&sort=size:desc,name&limit=100",
                "/search?q=*&group=ext&sort=name&limit=1000",
                "/terms?field=owner",
                "/terms?field=ext&limit=10000&by=term",
                "/terms?field=path&limit=10000&by=term",
                "/terms?field=name&limit=10000&by=term",
                "/suggest?q=ext:ext",
                "/suggest?q=name:fname",
                "/suggest?q=path:/",
                "/suggest?q=com",
                "/usage",
                "/usage?by=count&limit=10000",
                f"/usage?path={quoted(trees[tree].path)}",
                "/export?format=jsonl",
                "/export?format=csv&fields=_key,size",
            )
        ]
    asked += [
        f"/api/v1/{index}{path}"
        for index in ("text", "mixed")
        for path in (
            f"/search?q={word}&limit=10000&explain&snippets",
            f"/search?q={word}+{WORDS[5]}&limit=10000&explain&model=lm-dirichlet",
            f"/search?q={word}+AND+{WORDS[7]}&limit=10000&content=true&model=pl2",
            f"/search?q=%22{word}+{WORDS[5]}%22&limit=100&snippets",
            "/search?q=secret*&limit=10000&sort=key&explain",
            "/search?q=secret1x~2&limit=10000&sort=key",
            "/search?q=comon3",
            "/search?q=secretx",
            "/terms?prefix=secret&limit=10000&by=term",
            "/terms?limit=10000&by=term",
            "/terms?prefix=secret",
            "/suggest?q=secret",
            "/suggest?q=secret1xx",
            "/suggest?q=comonn3",
        )
    ]
    for number in some(hidden_texts):
        secret, key = f"secret{number}x", quoted(made[number])
        index = "text" if number < 50_000 else "mixed"
        base = f"/api/v1/{index}"
        asked += [
            f"{base}/search?q={secret}&explain",
            f"{base}/suggest?q={secret}",
            f"{base}/terms?prefix={secret[:-1]}",
            f"{base}/search?q={secret[:-2]}*+{word}&explain",
            f"{base}/search?q={secret}z",
            f"{base}/documents/{key}",
            f"{base}/documents/{key}?raw=text",
            f"{base}/like?key={key}",
            f"/?index={index}&q={secret}",
        ]
    for number in some(hidden_names):
        key = quoted(made[number])
        for index in ["text"] if number <= 50_000 else ["mixed", "entries"]:
            asked += [
                f"/api/v1/{index}/documents/{key}",
                f"/api/v1/{index}/like?key={key}",
                f"/api/v1/{index}/usage?path={key}",
                f"/api/v1/{index}/suggest?q=path:{key[:-6]}",
                f"/api/v1/{index}/search?q=path:{key}",
                f"/api/v1/{index}/search?q=name:*name{number}*",
                f"/api/v1/{index}/search?facet=path:below:{key}&q=*&limit=0",
                f"/api/v1/{index}/terms?field=path&prefix={key}",
                f"/?index={index}&q=name:*name{number}*",
            ]
    return asked


def answers(server, asked, headers=None):
    """The answers to GETs and to a batch, on one connection."""
    found = {}
    with Client(server) as client:
        for path in asked:
            answer = client.ask("GET", path, headers=headers)
            found[path] = (answer.status, answer.headers, answer.body)
        lines = "\n".join(
            json.dumps({"q": word, "limit": 100, "explain": True}) for word in [*WORDS[:5], "secret*", "secret1xx"]
        )
        answer = client.ask("POST", "/api/v1/text/_batch", lines.encode(), {**NDJSON, **(headers or {})})
        found["_batch"] = (answer.status, answer.headers, answer.body)
    return found


def alike(path, status, body):
    """An answer without what may differ."""
    text = body.decode()
    if path == "_batch" or "format=jsonl" in path:
        # Exports have the order in which the tree was walked.
        lines = (
            text.splitlines()
            if path == "_batch"
            else sorted(text.splitlines(), key=lambda line: json.loads(line)["_key"])
        )
        return status, [strip(json.loads(line)) for line in lines]
    if "/export" in path:
        return status, sorted(text.splitlines())
    if not path.startswith("/api"):
        text = text[text.find("<!DOCTYPE") :]
        return status, re.sub(r"after=[^&\"]*| · [^<]*", "", text)
    try:
        return status, strip(json.loads(text))
    except ValueError:
        return status, text


def strip(value):
    if isinstance(value, dict):
        return {name: strip(member) for name, member in value.items() if name not in OTHER}
    if isinstance(value, list):
        return [strip(one) for one in value]
    return value


def nothing_hidden(found, hidden_names, hidden_texts, asked_in=True):
    """Fails if an answer has a hidden name or word that the request did not have."""
    marks = [
        (re.compile(rb"(?:[df]name|ext)(\d+)x(?!\d)"), hidden_names),
        (re.compile(rb"secret(\d+)x(?!x)"), hidden_texts),
    ]
    for path, (_, headers, body) in found.items():
        data = json.dumps(headers).encode() + body
        for mark, hidden in marks:
            for match in mark.finditer(data):
                is_echo = asked_in and match.group(0).decode() in path
                assert int(match.group(1)) not in hidden or is_echo, (
                    f"{path} shows {match.group(0)!r}: {data[max(0, match.start() - 200) : match.end() + 80]!r}"
                )


def same_answers(place, quick, seed, state):
    """Compares all answers with those of the index that each user built."""
    state["people"], state["trees"], state["server"] = prepare(place, quick, seed)
    people, trees, server = state["people"], state["trees"], state["server"]
    compared, wrong, state["found"] = 0, [], {}
    for person in people:
        names, texts = ask_as(person, seen_now, [tree.path for tree in trees.values()])
        made = set(paths_of(trees))
        hidden_names, hidden_texts = made - names, made - texts
        asked = requests(trees, hidden_names, hidden_texts, quick)
        found = ask_as(person, answers, server, asked)
        state["found"][person.name] = (asked, found)
        nothing_hidden(found, hidden_names, hidden_texts)
        home = place.at(f"home-{person.name}")
        os.mkdir(home, 0o700)
        os.chown(home, person.uid, person.gid)
        for name in EXACT:
            tree, options = INDEXES[name]
            place.index(
                f"home-{person.name}/{name}.scanns",
                "--access",
                *options,
                trees[tree].path,
                **person.popen(),
                check=False,
            )
        own = place.serve(
            *(f"{name}={home}/{name}.scanns" for name in EXACT),
            person=person,
            socket_name=f"home-{person.name}/own.sock",
            log=False,
        )
        exact = [path for path in asked if "mixed" not in path.replace(place.at("mixed"), "") and path != "/api/v1"]
        expected = ask_as(person, answers, own, exact)
        own.stop()
        for path in expected:
            status, _, body = found[path]
            compared += 1
            one, other = alike(path, status, body), alike(path, expected[path][0], expected[path][2])
            if one != other:
                wrong.append(f"{person.name} {path}: {difference(one, other)}")
    server.must_be_sound()
    assert not wrong, f"{len(wrong)} of {compared} answers differ:\n" + "\n".join(wrong[:10])
    return f"{compared} answers to {len(people)} users over {len(paths_of(trees))} entries, 0 differences"


def check_works(state):
    """What root sees has what is hidden from a user, and the check must notice it."""
    if "found" not in state:
        raise Skipped("the shared server did not start")
    person, made = state["people"][0], set(paths_of(state["trees"]))
    names, texts = ask_as(person, seen_now, [tree.path for tree in state["trees"].values()])
    asked, noticed = state["found"][person.name][0], 0
    for path, answer in answers(state["server"], asked).items():
        try:
            nothing_hidden({path: answer}, made - names, made - texts)
        except AssertionError:
            noticed += 1
    assert noticed > len(asked) // 10, f"only {noticed} of {len(asked)} answers to root are noticed"


def difference(one, other, at=""):
    """The first place where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            if one.get(name) != other.get(name):
                return difference(one.get(name), other.get(name), f"{at}.{name}")
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other)):
            if left != right:
                return difference(left, right, f"{at}[{number}]")
    cut = lambda value: json.dumps(value)[:300]
    return f"{at}: the view has {cut(one)}, the index of the user {cut(other)}"


def tags_and_tokens(state):
    """ETags and paging tokens of one user are worth nothing for another."""
    if "found" not in state:
        raise Skipped("the shared server did not start")
    server, people = state["server"], state["people"]
    root = Person("root")
    checked = 0
    paths = [
        "/api/v1",
        "/api/v1/text/info",
        "/api/v1/text/search?q=common1",
        "/api/v1/text/usage",
        "/api/v1/entries/terms?field=owner",
        "/api/v1/entries/suggest?q=ow",
        "/api/v1/_search?index=text,mixed&q=*",
        "/openapi.json",
    ]
    tags = {}
    for person in [root, *people]:
        for path in paths:
            answer = ask_as(person, ask, server, path, {})
            assert answer[0] == 200, f"{person.name} {path}: {answer}"
            tags[person.name, path] = answer[1].get("etag")
    for person in [root, *people]:
        for other in [root, *people]:
            for path in paths:
                tag = tags[other.name, path]
                if tag is None:
                    continue
                status = ask_as(person, ask, server, path, {"if-none-match": tag})[0]
                expected = 304 if person is other else 200
                assert status == expected, f"{person.name} asks {path} with the tag of {other.name}: {status}"
                checked += 1
    pages = [
        "/api/v1/text/search?q=*&limit=2",
        "/api/v1/entries/search?q=*&limit=2&sort=size",
        "/api/v1/entries/search?q=*&limit=2&sort=key",
    ]
    for path in pages:
        tokens = {
            person.name: json.loads(ask_as(person, ask, server, path, {})[2])["after"] for person in [root, *people]
        }
        for person in [root, *people]:
            for other in [root, *people]:
                status = ask_as(person, ask, server, f"{path}&after={quoted(tokens[other.name])}", {})[0]
                assert status == (200 if person is other else 400), (
                    f"{person.name} with the token of {other.name}: {status}"
                )
                checked += 1
    return f"{checked} tags and tokens"


def ask_all(server, path, headers):
    """The answers to one question with different headers, without what may differ."""
    answers = (ask(server, path, one) for one in headers)
    return [(status, strip(json.loads(body))) for status, _, body in answers]


def ask(server, path, headers):
    answer = server.get(path, headers=headers)
    return answer.status, answer.headers, answer.body


def spoofed_headers(place, quick, state):
    """Headers change nothing, unless the proxy sends the one that is agreed."""
    if "found" not in state:
        raise Skipped("the shared server did not start")
    people = state["people"]
    claims = ["root", people[1].name] if quick else ["root", "0", people[1].name, str(people[1].uid)]
    names = [
        "x-forwarded-user",
        "x-remote-user",
        "remote-user",
        "x-user",
        "x-forwarded-for",
        "forwarded",
        "authorization",
        "cookie",
        "x-real-ip",
        "x-original-url",
        "x-rewrite-url",
        "x-forwarded-host",
        "x-http-method-override",
        "user",
        "from",
    ]
    proxy = Person("www-data")
    with_proxy = place.serve("--shared", "--trust-proxy", "www-data", "--user-header", "X-Remote-User", *served(place))
    person = people[0]
    paths = [
        "/api/v1/text/search?q=*&limit=10000&sort=key",
        "/api/v1/entries/search?q=*&limit=10000&sort=key",
        "/api/v1",
    ]
    checked = 0
    for server in (state["server"], with_proxy):
        for path in paths:
            given = [{}, *({name: claim} for name in names for claim in claims)]
            plain, *spoofed = ask_as(person, ask_all, server, path, given)
            assert plain[0] == 200, plain
            for headers, answer in zip(given[1:], spoofed, strict=True):
                assert answer == plain, f"{headers} changes the answer to {person.name} at {path}"
                checked += 1
            metrics = ask_as(person, ask, server, "/metrics", {"x-remote-user": "root"})
            assert metrics[0] == 403, metrics
    for other in people:
        for path in paths:
            by_header = ask_as(proxy, ask_all, with_proxy, path, [{"X-Remote-User": other.name}])
            by_kernel = ask_as(other, ask_all, state["server"], path, [{}])
            for _, answer in (*by_header, *by_kernel):
                # How the server knows him is all that differs.
                for member in ("recognized_by", "socket"):
                    answer.pop(member, None)
            assert by_header == by_kernel, f"{other.name} by the proxy sees other things at {path}"
            checked += 1
    for claim, expected in [
        ("root", 403),
        ("0", 403),
        ("", 403),
        ("no-such-user-here", 403),
        ("nobody", 403),
        (f"{people[0].name},root", 403),
        (None, 401),
    ]:
        status = ask_as(proxy, ask, with_proxy, paths[0], {} if claim is None else {"X-Remote-User": claim})[0]
        assert status == expected, f"the proxy says {claim!r}: {status}"
    twice = ask_as(proxy, raw_twice, with_proxy, people[0].name)
    assert b" 401 " in twice.split(b"\r\n")[0], twice
    state["server"].must_be_sound()
    with_proxy.must_be_sound()
    return f"{checked} answers"


def raw_twice(server, name):
    """The beginning of the answer to a request in which the proxy names two users."""
    with server.connect() as raw:
        raw.sendall(
            f"GET /api/v1 HTTP/1.1\r\nhost: localhost\r\nx-remote-user: {name}\r\nX-REMOTE-USER: root\r\n\r\n".encode()
        )
        return raw.recv(1000)


def run_all(report, place, quick, seed):
    state = {}
    report.test("visibility::each_user_gets_the_answers_of_an_own_index", same_answers, place, quick, seed, state)
    report.test("visibility::the_check_finds_what_root_sees", check_works, state)
    report.test("visibility::tags_and_tokens_are_of_one_user", tags_and_tokens, state)
    report.test("visibility::headers_change_nothing", spoofed_headers, place, quick, state)
