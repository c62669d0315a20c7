"""Clients that send slowly, or nothing, or do not read; and thousands of them. Others are answered meanwhile.

The same is done with slowhttptest, an attacker that this project has not written.
"""

import os
import re
import select
import shutil
import socket
import subprocess
import threading
import time

from harness import PATIENCE, Client, Skipped, mebibytes, open_files
from people import ask_as, ordinary

# Each connection has a socket, a task of about 2 KiB, and the 8 KiB in which hyper reads, if there was anything to
# read. The rest is what the allocator keeps and what the good client takes. Measured are 75 MiB for 10,000.
PER_CONNECTION, PROGRAM = 12 << 10, 32 << 20


class Good:
    """A client that asks all the time, and notes how long its answers take."""

    def __init__(self, server, path="/api/v1/docs/search?q=common1"):
        self.server, self.path, self.times, self.wrong, self.stop = server, path, [], [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        # One connection that is kept and new ones by turns: both must work.
        with Client(self.server) as kept:
            while not self.stop.wait(0.02):
                for ask in (lambda: kept.ask("GET", self.path), lambda: self.server.get(self.path)):
                    began = time.monotonic()
                    try:
                        answer = ask()
                        if answer.status != 200:
                            self.wrong.append(repr(answer)[:300])
                    except OSError as error:
                        self.wrong.append(repr(error))
                    self.times.append(time.monotonic() - began)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def must_be_answered(self, slowest):
        assert not self.wrong, (
            f"{len(self.wrong)} of {len(self.times)} good requests failed, the first: {self.wrong[0]}"
        )
        times = sorted(self.times)
        late = times[int(len(times) * 0.99)]
        assert late < slowest * PATIENCE, f"the 99th percentile of {len(times)} good requests was {late * 1000:.0f} ms"
        return f"{len(times)} good requests, median {times[len(times) // 2] * 1000:.1f} ms, 99 % {late * 1000:.1f} ms"


SHORT = [
    "--first-byte-timeout",
    "2s",
    "--header-timeout",
    "2s",
    "--body-timeout",
    "2s",
    "--idle-timeout",
    "2s",
    "--send-timeout",
    "2s",
]
# The time after which a limit of two seconds must have been applied, on a busy machine.
LATE = 6.0


def flood(server, number):
    """Opens many connections that send nothing."""
    held = []
    for _ in range(number):
        try:
            held.append(server.connect(10))
        except OSError:
            # The queue of a Unix socket is full: the server is given time.
            time.sleep(0.01)
            held.append(server.connect(10))
    return held


def wait_closed(held, seconds):
    """Waits until the other end has closed all; those that it has not."""
    waiting = {raw.fileno(): raw for raw in held}
    poll = select.poll()
    for number in waiting:
        poll.register(number, select.POLLIN)
    until = time.monotonic() + seconds
    while waiting and time.monotonic() < until:
        for number, _ in poll.poll(200):
            try:
                is_open = waiting[number].recv(65536)
            except OSError:
                is_open = b""
            if not is_open:
                poll.unregister(number)
                waiting.pop(number).close()
    return list(waiting.values())


def silent(place, indexes, tcp, number, seconds):
    """Ten thousand connections that say nothing: memory is bounded, others are answered, all are closed."""
    open_files(number + 2000)
    limit = str(number + 1000)
    server = place.serve(
        *indexes,
        "--first-byte-timeout",
        f"{seconds}s",
        *SHORT[2:],
        "--max-connections",
        limit,
        "--max-connections-per-peer",
        limit,
        tcp=tcp,
    )
    before = server.memory("VmRSS")
    with Good(server) as good:
        held = flood(server, number)
        time.sleep(1)
    note = good.must_be_answered(0.5)
    grown = server.memory() - before
    still = wait_closed(held, seconds + LATE * PATIENCE)
    assert not still, f"{len(still)} of {number} silent connections were not closed"
    cap = number * PER_CONNECTION + PROGRAM
    assert grown < cap, f"{mebibytes(grown)} more, the cap is {mebibytes(cap)}"
    server.must_be_sound()
    server.stop()
    return f"{number} connections, {mebibytes(grown)} more memory; {note}"


def one_peer(place, indexes, number):
    """With the limits as they are, one user who opens ten thousand connections does not keep out another."""
    if os.geteuid() != 0:
        raise Skipped("it needs root, to take on another user")
    open_files(number + 1000)
    people = ordinary(1)
    server = place.serve("--shared", *indexes)
    held, answers = flood(server, number), []
    for _ in range(20):
        answers.append(ask_as(people[0], status_of, server, "/api/v1/docs/search?q=common1"))
    own = server.connect()
    refusal = own.recv(1000)
    held.append(own)
    for raw in held:
        raw.close()
    assert answers == [200] * 20, answers
    assert b" 429 " in refusal, f"the one with all these connections got {refusal!r}"
    time.sleep(0.5)
    server.must_be_sound()
    server.stop()


def one_address(place, indexes, number):
    """The same for addresses: 127.0.0.1 floods, and 127.0.0.2 is answered."""
    open_files(number + 1000)
    server = place.serve(*indexes, tcp=True)
    held, answers = flood(server, number), []
    for _ in range(20):
        raw = socket.create_connection(("127.0.0.1", server.port), 10, source_address=("127.0.0.2", 0))
        head = f"host: localhost\r\nauthorization: Bearer {server.token}\r\nconnection: close\r\n"
        raw.sendall(f"GET /api/v1 HTTP/1.1\r\n{head}\r\n".encode())
        answers.append(int(raw.recv(20)[9:12]))
        raw.close()
    for raw in held:
        raw.close()
    assert answers == [200] * 20, answers
    time.sleep(0.5)
    server.must_be_sound()
    server.stop()


def status_of(server, path):
    return server.get(path).status


HEAD = b"GET /api/v1/docs/search?q=common1 HTTP/1.1\r\nhost: localhost\r\n"
POST = b"POST /api/v1/docs/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
# What a slow client sends at first, and then again and again.
SLOW = {
    "nothing": (b"", None),
    "a head that does not end": (HEAD, None),
    "a head byte by byte": (HEAD + b"x: ", b"a"),
    "endless headers": (HEAD, b"a: b\r\n"),
    "one letter": (b"G", None),
    "half a preface": (b"PRI * HTTP/2.0\r\n", None),
    "only a preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", None),
    "a preface and pings": (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
        b"\0\0\x08\x06\0\0\0\0\0" + b"p" * 8,
    ),
    "a body that does not come": (POST + b"content-length: 15\r\n\r\n", None),
    "a body byte by byte": (POST + b"content-length: 100000\r\n\r\n", b" "),
    "chunks byte by byte": (POST + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "an endless chunk extension": (POST + b"transfer-encoding: chunked\r\n\r\n1;", b"a"),
    "line feeds": (b"\r\n", b"\r\n"),
    "no next request": (HEAD + b"\r\n", None),
    "half a next request": (HEAD + b"\r\n" + b"G", b"E"),
}


def each_is_closed(server):
    """Every way to be slow ends within its limit."""
    return must_be_closed(server, server.connect, SLOW)


def must_be_closed(server, connect, ways):
    """Connections that send something first, and more of it ten times a second, are closed in time."""
    held, began = {}, time.monotonic()
    for name, (first, _) in ways.items():
        raw = connect()
        raw.sendall(first)
        raw.setblocking(False)
        held[name] = raw
    took = {}
    while held and time.monotonic() - began < 2 * LATE * PATIENCE:
        time.sleep(0.1)
        for name, raw in list(held.items()):
            more = ways[name][1]
            try:
                if more:
                    raw.send(more)
                while raw.recv(65536):
                    pass
                is_closed = True
            except BlockingIOError:
                is_closed = False
            except OSError:
                is_closed = True
            if is_closed:
                took[name] = time.monotonic() - began
                held.pop(name).close()
    assert not held, f"still open after {time.monotonic() - began:.0f} s: {', '.join(held)}"
    late = {name: f"{seconds:.1f} s" for name, seconds in took.items() if seconds > (LATE + 2) * PATIENCE}
    assert not late, f"closed late: {late}"
    server.must_be_sound()
    return f"{len(took)} ways to be slow, the slowest {max(took.values()):.1f} s"


def slow_readers(server, large, number):
    """Who takes his answer too slowly is cut off, and others are answered meanwhile."""
    held = []
    for _ in range(number):
        raw = server.connect()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.sendall(f"GET {large} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        held.append(raw)
    # Making the answers takes the threads of queries; what counts is the time in which they are sent.
    taken = sum(len(raw.recv(100)) for raw in held)
    began = time.monotonic()
    with Good(server) as good:
        while time.monotonic() - began < LATE:
            time.sleep(0.25)
            # A few bytes in 250 ms are less than 16 KiB in two seconds.
            for raw in held:
                try:
                    taken += len(raw.recv(100))
                except OSError:
                    pass
    closed = 0
    for raw in held:
        raw.settimeout(0.5)
        try:
            while raw.recv(1 << 20):
                pass
            closed += 1
        except TimeoutError:
            pass
        except OSError:
            closed += 1
        raw.close()
    note = good.must_be_answered(2.0)
    assert closed == len(held), f"{len(held) - closed} of {len(held)} slow readers are still served"
    server.must_be_sound()
    return note


def slowhttptest(server, mode, seconds):
    """Runs slowhttptest against a server on a port, and measures a good client meanwhile."""
    program = shutil.which("slowhttptest")
    if program is None:
        raise Skipped("install slowhttptest")
    url = (
        f"http://localhost:{server.port}/login"
        if mode == "-B"
        else f"http://localhost:{server.port}/?token={server.token}"
    )
    how = {
        "-H": ["-i", "1"],
        "-B": ["-i", "1", "-s", "8192", "-x", "10"],
        "-X": ["-w", "10", "-y", "20", "-n", "1", "-z", "5", "-k", "3"],
    }[mode]
    # Fewer than the limit of an address, so that the good client, which has the same address, can connect.
    command = [program, mode, "-c", "200", "-r", "200", "-l", str(seconds), "-p", "3", "-u", url, *how]
    with Good(server) as good:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60)
    note = good.must_be_answered(1.0)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    available = re.findall(r"service available:\s*(\w+)", plain)
    assert available and "NO" not in available, plain[-1500:]
    closed = [int(number) for number in re.findall(r"closed:\s*(\d+)", plain)]
    all_closed = "No open connections left" in plain
    assert mode == "-X" or all_closed or (closed and closed[-1] > 0), f"no slow connection was closed: {plain[-1500:]}"
    server.must_be_sound()
    return note


def run_all(report, place, indexes, large, quick):
    # In this time all of them must have connected.
    number, seconds = (1_000, 3) if quick else (10_000, 8)
    report.test("slow::silent_connections_of_a_unix_socket", silent, place, indexes, False, number, seconds)
    report.test("slow::silent_connections_of_a_port", silent, place, indexes, True, number, seconds)
    report.test("slow::one_user_does_not_keep_out_another", one_peer, place, indexes, number)
    report.test("slow::one_address_does_not_keep_out_another", one_address, place, indexes, number)
    short = place.serve(*indexes, *SHORT)
    report.test("slow::each_way_to_be_slow_ends", each_is_closed, short)
    report.test("slow::slow_readers_are_cut_off", slow_readers, short, large, 2 if quick else 6)
    short.stop()
    if quick:
        return
    for mode, name in [("-H", "heads"), ("-B", "bodies"), ("-X", "readers")]:
        server = place.serve(*indexes, *SHORT, tcp=True)
        report.test(f"slow::slowhttptest_{name}", slowhttptest, server, mode, 10)
        server.stop()
