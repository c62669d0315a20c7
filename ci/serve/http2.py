"""Attacks that only HTTP/2 makes possible: rapid resets, many streams, floods of frames, and stalled streams.

Needs the package h2, which knows frames; connections and faults in them are made here.
"""

import struct
import time

from harness import PATIENCE, mebibytes

try:
    import h2.config
    import h2.connection
    import h2.settings
except ImportError:
    h2 = None

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CAP = 512 << 20


class Speaker:
    """A connection of HTTP/2 whose streams end when we want."""

    def __init__(self, server, window=None):
        self.server, self.raw, self.next = server, server.connect(5), 1
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        if window is not None:
            codes = h2.settings.SettingCodes
            self.http.local_settings = h2.settings.Settings(
                client=True, initial_values={codes.INITIAL_WINDOW_SIZE: window}
            )
        self.http.initiate_connection()
        self.send()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.raw.close()

    def send(self):
        self.raw.sendall(self.http.data_to_send())

    def ask(self, path, ends=True, method="GET", extra=()):
        """Begins a request, and returns the number of its stream."""
        stream, self.next = self.next, self.next + 2
        headers = [(":method", method), (":path", path), (":scheme", "http"), (":authority", "localhost"), *extra]
        if self.server.token:
            headers.append(("authorization", f"Bearer {self.server.token}"))
        self.http.send_headers(stream, headers, end_stream=ends)
        return stream

    def hear(self, seconds):
        """What the server says in this time: its events, and whether the connection is still open."""
        events, until = [], time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.raw.settimeout(max(left, 0.001))
            try:
                data = self.raw.recv(65536)
            except TimeoutError:
                break
            except OSError:
                return events, False
            if not data:
                return events, False
            events += self.http.receive_data(data)
            try:
                self.send()
            except OSError:
                return events, False
        return events, True


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def rapid_reset(server, number):
    """Requests that are taken back at once: the server ends the connection, and others are answered."""
    server.forget_peak()
    reset = 0
    with Speaker(server) as speaker:
        try:
            while reset < number:
                for _ in range(50):
                    stream = speaker.ask("/api/v1/docs/search?q=common*&limit=1000")
                    speaker.http.reset_stream(stream)
                    reset += 1
                speaker.send()
        except OSError:
            pass
        _, is_open = speaker.hear(1)
    server.must_be_sound()
    began = time.monotonic()
    assert server.get("/api/v1/docs/search?q=common1").status == 200
    assert time.monotonic() - began < 2 * PATIENCE, "a good client had to wait"
    assert server.memory() < CAP, mebibytes(server.memory())
    return f"{reset} resets sent, the connection was {'kept' if is_open else 'ended'}"


def many_streams(server):
    """More streams than are allowed are refused, and those that are allowed are answered."""
    with Speaker(server) as speaker:
        streams = [speaker.ask("/health") for _ in range(20)]
        speaker.send()
        events, _ = speaker.hear(1)
        ended = {event.stream_id for event in events if type(event).__name__ == "StreamEnded"}
        assert ended >= set(streams), f"{len(ended)} of {len(streams)} streams were answered"
        # POSTs without a body stay open; the server said how many it takes.
        most = speaker.http.remote_settings.max_concurrent_streams
        assert most <= 100, f"{most} streams are allowed"
        data = b"".join(speaker_post(speaker) for _ in range(most + 200))
        try:
            speaker.raw.sendall(data)
        except OSError:
            pass
        speaker.hear(1)
    server.must_be_sound()
    return f"at most {most} streams"


def speaker_post(speaker):
    """The frames of a POST without an end, not counted by our own limits."""
    stream, speaker.next = speaker.next, speaker.next + 2
    block = speaker.http.encoder.encode(
        [
            (":method", "POST"),
            (":path", "/api/v1/docs/search"),
            (":scheme", "http"),
            (":authority", "localhost"),
            ("content-type", "application/json"),
        ]
    )
    return frame(1, 4, stream, block)


def floods(server, times):
    """Endless frames of each kind take no memory and stop nobody."""
    settings = frame(4, 0, 0)
    block = b"\x82\x84\x86\x41\x09localhost"
    attacks = {
        "pings": frame(6, 0, 0, b"12345678"),
        "settings": frame(4, 0, 0, struct.pack(">HI", 3, 100)),
        "empty data": frame(0, 0, 1),
        "window updates": frame(8, 0, 0, struct.pack(">I", 1)),
        "windows too large": frame(8, 0, 0, struct.pack(">I", 0x7FFFFFFF)),
        "windows of nothing": frame(8, 0, 0, struct.pack(">I", 0)),
        "priorities": frame(2, 0, 1, struct.pack(">IB", 0, 1)),
        "unknown frames": frame(99, 255, 1, b"x" * 1000),
        "resets of nothing": frame(3, 0, 1, struct.pack(">I", 8)),
        "goaways": frame(7, 0, 0, struct.pack(">II", 0, 0)),
        "frames too large": frame(0, 0, 1, b"x" * 100_000),
        "continuations": frame(9, 0, 1, b"\x40\x01a\x01b" * 100),
    }
    for name, data in attacks.items():
        server.forget_peak()
        with server.connect(3) as raw:
            begin = PREFACE + settings
            if name == "continuations":
                begin += frame(1, 0, 1, block)
            elif name == "empty data":
                begin += frame(1, 4, 1, b"\x83\x84\x86\x41\x09localhost")
            try:
                raw.sendall(begin)
                for _ in range(times):
                    raw.sendall(data * 200)
            except OSError:
                pass
        server.must_live()
        assert server.memory() < CAP, f"{name}: {mebibytes(server.memory())}"
    server.must_be_sound()
    return f"{len(attacks)} floods"


def header_bomb(server):
    """A few bytes that stand for many headers."""
    big = b"\x40\x01a\x7f" + bytes([0x80 | ((3900 - 127) & 0x7F), (3900 - 127) >> 7]) + b"b" * 3900
    block = b"\x82\x84\x86\x41\x09localhost" + big + b"\xbe" * 10_000
    server.forget_peak()
    before = server.memory()
    with server.connect(3) as raw:
        try:
            raw.sendall(PREFACE + frame(4, 0, 0))
            for stream in range(1, 41, 2):
                raw.sendall(frame(1, 5, stream, block[:16_384]))
            raw.recv(65536)
        except OSError:
            pass
    server.must_be_sound()
    assert server.memory() < before + (64 << 20), mebibytes(server.memory())


def odd_names(server):
    """Names that HTTP/2 forbids and that would change a request of HTTP/1.1."""
    wrong = [
        [("transfer-encoding", "chunked")],
        [("connection", "close")],
        [("host", "evil.example")],
        [("content-length", "5")],
        [("a\r\nb", "c")],
        [("a", "b\r\nhost: evil")],
        [("A", "b")],
        [(":path", "/other")],
        [("", "x")],
    ]
    for extra in wrong:
        with Speaker(server) as speaker:
            speaker.http.config.validate_outbound_headers = False
            speaker.http.config.normalize_outbound_headers = False
            speaker.ask("/health", extra=extra)
            speaker.send()
            events, _ = speaker.hear(0.2)
            for event in events:
                if type(event).__name__ == "ResponseReceived":
                    status = dict(event.headers)[":status"]
                    assert status in ("400", "403", "413", "415", "431"), f"{extra}: {status}"
    server.must_be_sound()
    return f"{len(wrong)} names"


def stalled_streams(server, large, seconds):
    """Streams that take nothing end, although another stream of the connection is busy."""
    server.forget_peak()
    with Speaker(server, window=0) as speaker:
        stalled = {speaker.ask(large) for _ in range(8)}
        speaker.send()
        until, ended = time.monotonic() + seconds, set()
        while time.monotonic() < until and ended < stalled:
            stream = speaker.ask("/health")
            speaker.http.increment_flow_control_window(1000, stream_id=stream)
            try:
                speaker.send()
            except OSError:
                ended = stalled
                break
            events, is_open = speaker.hear(0.3)
            ended |= {
                event.stream_id for event in events if type(event).__name__ in ("StreamReset", "StreamEnded")
            } & stalled
            if not is_open or any(type(event).__name__ == "ConnectionTerminated" for event in events):
                ended = stalled
    assert ended == stalled, (
        f"{len(stalled - ended)} streams are still there after {seconds} s, with {mebibytes(server.memory())}"
    )
    server.must_be_sound()


def run_all(report, place, indexes, large, quick):
    if h2 is None:
        print("SKIPPED serve::http2: install the Python package h2")
        return
    server = place.serve(*indexes)
    report.test("http2::rapid_reset", rapid_reset, server, 5_000 if quick else 200_000)
    report.test("http2::many_streams", many_streams, server)
    report.test("http2::floods", floods, server, 20 if quick else 200)
    report.test("http2::header_bomb", header_bomb, server)
    report.test("http2::odd_names", odd_names, server)
    server.stop()
    short = place.serve(*indexes, "--send-timeout", "2s")
    report.test("http2::stalled_streams_end", stalled_streams, short, large, 12)
    short.stop()
