"""TLS clients that are silent, slow or greedy before their handshake ends. Others are answered meanwhile.

Needs the command openssl, for a certificate.
"""

import os
import shutil
import ssl
import threading
import time

from harness import PATIENCE, Skipped, mebibytes, open_files, run
from slow import LATE, SHORT, Good, must_be_closed, wait_closed

# What a connection may take that has sent nothing (measured: 28 MiB for 4,000), or a hello to which it got the answer
# (56 MiB for 4,000). The program is what the good client and the allocator take.
PER_SILENT, PER_HANDSHAKE, PROGRAM = 8 << 10, 24 << 10, 32 << 20
# rustls keeps up to 64 KiB of a message of a handshake that does not end. Measured are 73 MiB for 1,000.
PER_LONG = 96 << 10


def certificate(place):
    """The options of a server with a certificate for localhost, and a context of clients that know it."""
    if shutil.which("openssl") is None:
        raise Skipped("install openssl")
    own, key = place.at("tls.pem"), place.at("tls.key")
    if not os.path.exists(own):
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "7"]
        name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        run(["openssl", "req", "-x509", *kind, *name, "-keyout", key, "-out", own])
    return ["--tls-certificate", own, "--tls-key", key], ssl.create_default_context(cafile=own)


def hello(context):
    """The first bytes of a client, a whole hello."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def record(kind, body):
    return bytes([kind, 3, 3]) + len(body).to_bytes(2, "big") + body


# The head of a hello of 65,000 bytes.
LONG = b"\1\0\xfd\xe8"


def ways(context):
    """What a slow client sends at first, and then again and again."""
    first = hello(context)
    return {
        "nothing": (b"", None),
        "one byte": (first[:1], None),
        "the head of a record": (first[:5], None),
        "half a hello": (first[: len(first) // 2], None),
        "a hello byte by byte": (first[:20], b"\0"),
        "a hello and nothing": (first, None),
        "a hello and messages without meaning": (first, record(20, b"\1")),
        "a hello and warnings": (first, record(21, b"\1\x5a")),
        "a long hello in records of one byte": (record(22, LONG), record(22, b"\0")),
        "empty records": (record(22, first[5:9]), record(22, b"")),
        "a record that is too long": (b"\x16\3\1\xff\xff", b"\0"),
        "a request without TLS, byte by byte": (b"G", b"E"),
    }


def each_is_closed(server, context):
    """Every way to be slow in a handshake ends within its limit, and others are answered meanwhile."""
    with Good(server) as good:
        closed = must_be_closed(server, server.reach, ways(context))
    return f"{closed}; {good.must_be_answered(1.0)}"


def many(place, indexes, number, seconds, first, per_connection):
    """Many connections that send something and wait: memory is bounded, others are answered, all are closed."""
    open_files(number + 2000)
    options, context = certificate(place)
    limit = str(number + 1000)
    limits = ["--max-connections", limit, "--max-connections-per-peer", limit]
    # Time for all of them to connect.
    times = ["--first-byte-timeout", f"{seconds}s", "--header-timeout", f"{seconds}s", *SHORT[4:]]
    server = place.serve(*indexes, *options, *times, *limits, tcp=True, tls=context)
    server.get("/health")
    before = server.memory("VmRSS")
    with Good(server) as good:
        held = []
        for _ in range(number):
            raw = server.reach(10)
            raw.sendall(first)
            held.append(raw)
        time.sleep(1)
        grown = server.memory("VmRSS") - before
    note = good.must_be_answered(3.0)
    still = wait_closed(held, seconds + LATE * PATIENCE)
    assert not still, f"{len(still)} of {number} connections were not closed"
    cap = number * per_connection + PROGRAM
    assert grown < cap, f"{mebibytes(grown)} more, the cap is {mebibytes(cap)}"
    server.must_be_sound()
    server.stop()
    return f"{number} connections, {mebibytes(grown)} more memory; {note}"


def noted(server):
    """Lines of the log about handshakes that failed."""
    with open(server.log) as log:
        return sum("TLS handshake" in line for line in log)


def storm(server, context, threads, seconds):
    """Clients that begin handshakes as fast as they can, and go away when the server has computed its part."""
    before = noted(server)
    first, until, counts = hello(context), time.monotonic() + seconds, [0] * threads

    def begin(number):
        while time.monotonic() < until:
            try:
                with server.reach(5) as raw:
                    raw.sendall(first)
                    raw.recv(1000)
                counts[number] += 1
            except OSError:
                pass

    with Good(server) as good:
        begun = [threading.Thread(target=begin, args=(number,)) for number in range(threads)]
        for thread in begun:
            thread.start()
        for thread in begun:
            thread.join()
    note = good.must_be_answered(1.0)
    server.must_be_sound()
    lines = noted(server) - before
    assert lines < 2 + seconds, f"{lines} lines of the log are about handshakes that failed"
    return f"{sum(counts) / seconds:.0f} handshakes a second, {lines} lines in the log; {note}"


def plain(server):
    """A request without TLS gets an answer that says so."""
    raw = server.reach()
    raw.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
    answer = b""
    while part := raw.recv(65536):
        answer += part
    raw.close()
    assert answer.startswith(b"HTTP/1.1 400 ") and b"https://" in answer, answer


def run_all(report, place, indexes, quick):
    try:
        options, context = certificate(place)
    except Skipped as skipped:
        print(f"SKIPPED serve::tls: {skipped}", flush=True)
        return
    server = place.serve(*indexes, *options, *SHORT, tcp=True, tls=context)
    report.test("tls::each_way_to_be_slow_ends", each_is_closed, server, context)
    report.test("tls::a_request_without_tls_is_told_so", plain, server)
    report.test("tls::a_storm_of_handshakes", storm, server, context, 4, 2 if quick else 10)
    server.stop()
    number, seconds = (500, 3) if quick else (4_000, 8)
    report.test("tls::many_that_send_nothing", many, place, indexes, number, seconds, b"", PER_SILENT)
    report.test("tls::many_hellos", many, place, indexes, number, seconds, hello(context), PER_HANDSHAKE)
    long = record(22, LONG + bytes(16_000)) + record(22, bytes(16_384)) * 2 + record(22, bytes(16_000))
    report.test("tls::many_long_hellos", many, place, indexes, number // 4, seconds, long, PER_LONG)
