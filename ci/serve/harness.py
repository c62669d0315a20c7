"""Starts servers, speaks to them byte by byte, and reports results as Cargo does.

Everything here is of the standard library. `Server` runs `scanns serve`, `Client` sends requests over its Unix
socket or port, and `Report` prints the lines that ci/sum-tests.sh sums.
"""

import gzip
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

# Beside the other tests a debug build is given more time.
PATIENCE = 5 if "--quick" in sys.argv else 1


class Skipped(Exception):
    """A part that cannot run here, and why."""


class Report:
    """The results of tests."""

    def __init__(self, wanted=()):
        self.wanted, self.passed, self.failed = wanted, 0, 0

    def test(self, name, run, *arguments):
        """Runs a test, unless others are wanted. An exception is a failure."""
        if self.wanted and not any(word in name for word in self.wanted):
            return
        begin, reason = time.monotonic(), None
        try:
            note = run(*arguments)
        except Skipped as skipped:
            print(f"SKIPPED serve::{name}: {skipped}", flush=True)
            return
        except AssertionError as error:
            reason = str(error) or traceback.format_exc()
        except Exception:  # a fault of the server can show itself as any error of the client
            reason = traceback.format_exc()
        if reason is None:
            self.passed += 1
        else:
            self.failed += 1
            print(f"serve::{name}: {reason}")
        if reason is None and note:
            print(f"serve::{name}: {note}")
        print(f"test serve::{name} ... {'FAILED' if reason else 'ok'}")
        print(f"     {time.monotonic() - begin:.1f} s", flush=True)

    def end(self):
        """Prints the sum, and returns the exit status."""
        word = "FAILED" if self.failed else "ok"
        print(f"test result: {word}. {self.passed} passed; {self.failed} failed;", flush=True)
        return 1 if self.failed else 0


class Place:
    """A temporary directory that every user can enter, and the program that is tested."""

    def __init__(self, program):
        self.program = os.path.realpath(program)
        self.path = tempfile.mkdtemp(prefix="scanns-serve-")
        os.chmod(self.path, 0o755)
        self.servers = []

    def at(self, *names):
        return os.path.join(self.path, *names)

    def index(self, name, *arguments, **options):
        """Makes an index, and returns its path."""
        path = self.at(name)
        run([self.program, "index", "-q", "-o", path, *arguments], **options)
        return path

    def serve(self, *arguments, **options):
        server = Server(self, *arguments, **options)
        self.servers.append(server)
        return server

    def end(self):
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.path, ignore_errors=True)


def run(command, check=True, **options):
    """Runs a program, which must succeed unless `check` is false, and returns what it printed."""
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, **options)
    if check and done.returncode != 0:
        words = done.stderr.decode(errors="replace")[-2000:]
        raise AssertionError(f"{command} failed with status {done.returncode}: {words}")
    return done.stdout


class Server:
    """A server that runs, on a Unix socket or a port; `tls` is the context of its clients."""

    number = 0

    def __init__(self, place, *arguments, tcp=False, log=True, prefix=(), socket_name=None, person=None, tls=None):
        Server.number += 1
        self.tls = tls
        self.log = place.at(f"log{Server.number}")
        self.socket = None if tcp else place.at(socket_name or f"s{Server.number}.sock")
        listen = ["--listen", "127.0.0.1:0"] if tcp else ["--socket", self.socket]
        command = [*prefix, place.program, "serve", *listen, *arguments]
        command += ["--log", self.log if log else "none"]
        self.errors = open(place.at(f"errors{Server.number}"), "wb")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            **(person.popen() if person else {}),
        )
        self.link = self.process.stdout.readline().decode().strip()
        if not self.link:
            raise AssertionError(f"the server did not start: {self.error_text()}")
        self.port = self.token = None
        if tcp:
            address = urllib.parse.urlsplit(self.link)
            self.port, self.token = address.port, address.query.removeprefix("token=")

    def error_text(self):
        with open(self.errors.name, "rb") as errors:
            return errors.read().decode(errors="replace")[-3000:]

    def connect(self, timeout=20.0):
        """A connected socket, with TLS if the server speaks it."""
        raw = self.reach(timeout)
        if self.tls:
            # As http.client does: otherwise a request waits 40 ms for the acknowledgement of the handshake's end.
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.tls.wrap_socket(raw, server_hostname="localhost") if self.tls else raw

    def reach(self, timeout=20.0):
        """A connected socket, without TLS in any case."""
        if self.socket:
            raw = socket.socket(socket.AF_UNIX)
            raw.settimeout(timeout)
            raw.connect(self.socket)
            return raw
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def get(self, path, **options):
        """Sends one request on a connection of its own."""
        with Client(self, options.pop("timeout", 60.0)) as client:
            return client.ask("GET", path, **options)

    def post(self, path, value, **options):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        headers = {"content-type": "application/json", **options.pop("headers", {})}
        with Client(self, options.pop("timeout", 60.0)) as client:
            return client.ask("POST", path, body=body, headers=headers, **options)

    def memory(self, name="VmHWM"):
        """Bytes that the process has now (VmRSS) or had at most (VmHWM)."""
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        raise AssertionError(f"no {name}")

    def forget_peak(self):
        """Begins to measure the peak of memory anew."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as refs:
            refs.write("5")

    def must_live(self):
        """Fails if the server has ended, or does not answer."""
        code = self.process.poll()
        assert code is None, f"the server ended with {code}: {self.error_text()}"
        answer = self.get("/health")
        assert answer.status == 200, f"/health answered {answer.status}"

    def failures(self):
        """Lines of the log with a status of 500 or more, but 503, and errors of the server."""
        time.sleep(0.2)
        found = []
        with open(self.log, errors="replace") as log:
            for line in log:
                value = json.loads(line)
                status = value.get("status", 0)
                if (status >= 500 and status != 503) or value.get("level") == "error":
                    found.append(line[:600])
        return found

    def must_be_sound(self):
        self.must_live()
        failures = self.failures()
        assert not failures, f"{len(failures)} requests failed, the first: {failures[0]}"
        assert "panicked" not in self.error_text(), self.error_text()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.errors.close()


class Answer:
    """The answer to a request."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:300]!r}"


class Client:
    """A connection on which requests are sent one after another."""

    def __init__(self, server, timeout=60.0):
        self.server = server
        self.http = http.client.HTTPConnection("localhost")
        self.http.sock = server.connect(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    def ask(self, method, path, body=None, headers=None):
        given = dict(headers or {})
        if self.server.token and "authorization" not in given:
            given["authorization"] = f"Bearer {self.server.token}"
        self.http.request(method, path, body=body, headers=given)
        answer = self.http.getresponse()
        data = answer.read()
        names = {name.lower(): value for name, value in answer.getheaders()}
        if names.get("content-encoding") == "gzip" and data:
            data = gzip.decompress(data)
        return Answer(answer.status, names, data)


def quoted(text):
    return urllib.parse.quote(text, safe="")


def open_files(number):
    """Allows this process and those that it starts to open files; skips what needs more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        most = max(hard, number) if os.geteuid() == 0 else hard
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, most), most))
        except (OSError, ValueError) as error:
            raise Skipped(f"{number} open files are not allowed: {error}") from error
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < number:
        raise Skipped(f"{number} open files are not allowed")


def mebibytes(number):
    return f"{number / (1 << 20):.0f} MiB"


def seed():
    """The seed of random choices, which is printed."""
    number = int(os.environ.get("SCANNS_SEED", int(time.time()) % 100_000))
    print(f"seed {number}", file=sys.stderr, flush=True)
    return number
