"""What one user does stops no other, and an answer that is sent while it is made is whole.

A user takes all the threads that he can, with exports that he does not read and with slow searches; others must be
answered.
"""

import os
import socket
import threading
import time

from harness import PATIENCE, Client, Skipped, quoted
from people import Person, ask_as, ordinary

# More of an export than buffers take.
EXPORT = "/api/v1/docs/export?q=*&fields=" + ",".join(["path"] * 100)
SLOW = "/api/v1/docs/search?limit=3000&explain&q=" + "+".join(f"common{number}" for number in range(40))
GOOD = "/api/v1/docs/search?q=common1&limit=3"


def two_users(place, indexes):
    if os.geteuid() != 0:
        raise Skipped("it needs root, to take on other users")
    return place.serve("--shared", *indexes), ordinary(2)


def hold(server, paths):
    """Sends requests and leaves their answers unread."""
    held = []
    for path in paths:
        raw = server.connect()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        held.append(raw)
    return held


def holding(person, server, paths):
    """A child process that holds requests as a user, and what ends it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        person.become()
        held = hold(server, paths)
        os.read(read, 1)
        del held
        os._exit(0)
    os.close(read)

    def end():
        os.close(write)
        os.waitpid(child, 0)

    return end


def answered(server, path, number=4):
    """The statuses of the answers, and the longest time."""
    statuses, slowest = [], 0.0
    for _ in range(number):
        began = time.monotonic()
        statuses.append(server.get(path).status)
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.05)
    return statuses, slowest


def others_are_answered(place, indexes, paths, path):
    server, (busy, other) = two_users(place, indexes)
    end = holding(busy, server, paths)
    try:
        time.sleep(1)
        statuses, slowest = ask_as(other, answered, server, path)
    finally:
        end()
    server.must_be_sound()
    server.stop()
    assert set(statuses) == {200}, f"{busy.name} has {len(paths)} requests, and {other.name} gets {statuses}"
    assert slowest < 5 * PATIENCE, f"{other.name} waits {slowest:.1f} s"


def exports_are_whole(server, seconds):
    """Exports that are read at once have all rows and a proper end."""
    lines = server.get("/api/v1/docs/export?fields=name").body.count(b"\n")
    wrong, counted, until = {}, [], time.monotonic() + seconds

    def run():
        with Client(server) as client:
            while time.monotonic() < until:
                answer = client.ask("GET", "/api/v1/docs/export?fields=name&q=common1")
                found = (answer.status, answer.body.count(b"\n"))
                wrong[found] = wrong.get(found, 0) + 1
                counted.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.must_be_sound()
    good = {found for found in wrong if found[0] == 200 and found[1] > 1}
    assert lines > 1000 and len(good) == 1 and set(wrong) == good, (
        f"statuses and rows of {len(counted)} exports: {wrong}"
    )
    return f"{len(counted)} exports"


def changed_files(place):
    """Files that their owners changed after they were indexed show nothing of others and stop nobody."""
    if os.geteuid() != 0:
        raise Skipped("it needs root, to take on other users")
    owner, other = ordinary(2)
    tree, secret = place.at("changed"), place.at("secret")
    os.mkdir(tree, 0o755)
    os.mkdir(secret, 0o700)
    os.chown(tree, owner.uid, owner.gid)
    text = "common1 that everybody may read\n"
    names = ["link", "pipe", "directory", "device", "longer", "same"]
    for name in names:
        path = os.path.join(tree, name)
        with open(path, "w") as out:
            out.write(text)
        os.chown(path, owner.uid, owner.gid)
        os.utime(path, (1_600_000_000, 1_600_000_000))
    hidden = os.path.join(secret, "link")
    with open(hidden, "w") as out:
        out.write("hidden".ljust(len(text) - 1, "x") + "\n")
    os.utime(hidden, (1_600_000_000, 1_600_000_000))
    index = place.index("changed.scanns", "--access", "--store", "reference", "--positions", tree)
    server = place.serve("--shared", index)

    def change():
        at = lambda name: os.path.join(tree, name)
        for name in names[:4]:
            os.remove(at(name))
        os.symlink(hidden, at("link"))
        os.mkfifo(at("pipe"))
        os.mkdir(at("directory"))
        os.symlink("/dev/zero", at("device"))
        with open(at("longer"), "a") as out:
            out.write("more")

    ask_as(owner, change)
    for person in (owner, other, Person("root")):
        # Root may read the file that the link leads to, which has the same size and time.
        for name in names[1:] if person.name == "root" else names:
            path = f"/api/v1/changed/documents/{quoted(os.path.join(tree, name))}"
            answer = ask_as(person, quick_get, server, path)
            assert b"hidden" not in answer.body, f"{person.name} {name}: {answer}"
            assert answer.status == 200 and (answer.json()["content"] == text) == (name == "same"), (
                f"{person.name} {name}: {answer}"
            )
        answer = ask_as(person, quick_get, server, "/api/v1/changed/search?q=common1&snippets&content=true")
        assert answer.status == 200 and (person.name == "root" or b"hidden" not in answer.body), answer
    server.must_be_sound()
    server.stop()


def quick_get(server, path):
    with Client(server, 5) as client:
        return client.ask("GET", path)


def run_all(report, place, indexes, quick):
    server = place.serve(*indexes)
    report.test("fairness::exports_are_whole", exports_are_whole, server, 3 if quick else 60)
    server.stop()
    report.test("fairness::unread_exports_of_another", others_are_answered, place, indexes, [EXPORT] * 40, EXPORT)
    report.test(
        "fairness::slow_searches_of_another", others_are_answered, place, indexes, [SLOW] * (60 if quick else 200), GOOD
    )
    report.test("fairness::files_that_changed", changed_files, place)
