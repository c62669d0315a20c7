"""Hours of service in short: clients at half of what the server can bear, commits, and writers that are killed.

File `i` has the words `common`, `mod<i % 7>` and `u<i>`, and files are only added, in their order. So an answer
about `F` files says of every word how many documents have it. Every answer must be of one commit: its generation
has one number of files, which one of the writers saw, which never goes back, and which is the newest a moment after
a writer has ended.

Memory is flat if what the process has of its own (RssAnon; pages of mapped files belong to the cache) is in the
last third of the time at most a tenth and 16 MiB more than in the second third: the index grows a little, and the
first third fills caches. The same holds for descriptors and threads.
"""

import json
import os
import random
import subprocess
import threading
import time

from harness import Client, mebibytes

CLIENTS = 4
COMMIT_EVERY = 10.0
ADDED = 40
# The server looks for a commit when a request comes, twice a second at most; the rest is for a machine that is busy.
FRESH = 5.0


class Files:
    """The directory that grows, and what was committed of it."""

    def __init__(self, place):
        self.path, self.number = place.at("grows"), 0
        os.mkdir(self.path)
        self.lock = threading.Lock()
        # The numbers of files that a commit can have, the number of the last writer that ended, and when.
        self.possible, self.committed, self.since = set(), 0, 0.0
        # The number of files by generation, as answers say.
        self.generations = {}

    def grow(self, number):
        for file in range(self.number, self.number + number):
            directory = os.path.join(self.path, f"d{file // 100}")
            os.makedirs(directory, exist_ok=True)
            with open(os.path.join(directory, f"f{file}.txt"), "w") as out:
                out.write(f"common mod{file % 7} u{file} " + "filler " * (file % 50))
        self.number += number
        with self.lock:
            self.possible.add(self.number)

    def end_commit(self):
        with self.lock:
            self.committed, self.since = self.number, time.monotonic()

    def check(self, asked, generation, files):
        """Checks the number of files of an answer that was asked for at this time."""
        with self.lock:
            assert files in self.possible, f"{files} files, but writers saw {sorted(self.possible)[-5:]}"
            known = self.generations.setdefault(generation, files)
            assert known == files, f"generation {generation} had {known} files and now {files}"
            for other, count in self.generations.items():
                assert (other <= generation) == (count <= files) or count == files, (
                    f"generation {other} has {count} files, {generation} {files}"
                )
            is_late = asked - self.since > FRESH
            assert not is_late or files >= self.committed, (
                f"{files} files {asked - self.since:.1f} s after the commit of {self.committed}"
            )


def with_rest(files, rest):
    """How many of the first files have this rest."""
    return (files - rest + 6) // 7


class Asker:
    """A client: each question has an answer that follows from the number of files."""

    def __init__(self, server, files, number):
        self.client, self.files, self.random = Client(server), files, random.Random(number)
        self.questions = [self.words, self.facets, self.one_file, self.terms, self.export, self.pages, self.sorted]
        self.asked = 0

    def ask(self):
        self.began = time.monotonic()
        self.random.choice(self.questions)()
        self.asked += 1

    def get(self, path):
        answer = self.client.ask("GET", "/api/v1/grows" + path)
        assert answer.status == 200, f"{path}: {answer}"
        return answer

    def json(self, path):
        return self.get(path).json()

    def words(self):
        answer = self.json("/search?q=common&limit=3")
        self.files.check(self.began, answer["generation"], answer["count"])
        rest = self.random.randrange(7)
        answer = self.json(f"/search?q=mod{rest}&limit=0&facet=name:10000")
        files = self.files_of(answer)
        assert answer["count"] == with_rest(files, rest), f"{answer['count']} of {files} files have mod{rest}"
        shown = {bucket["value"] for bucket in answer["facets"][0]["buckets"]}
        expected = {f"f{file}.txt" for file in range(rest, files, 7)}
        assert shown == expected or answer["facets"][0]["other"], f"{len(shown)} names, {len(expected)} expected"

    def files_of(self, answer):
        """The number of files of the generation of an answer, asking for it if it is new."""
        known = self.files.generations.get(answer["generation"])
        while known is None:
            other = self.json("/search?q=common&limit=1")
            self.files.check(self.began, other["generation"], other["count"])
            known = self.files.generations.get(answer["generation"])
            if known is None:
                # The index was committed in between; the next question will find the newer one.
                return answer["count"] * 7
        return known

    def facets(self):
        answer = self.json("/search?q=*&limit=0&facet=ext&stats=size&distinct=name")
        files = answer["count"]
        self.files.check(self.began, answer["generation"], files)
        assert answer["facets"][0]["buckets"][0]["count"] == files, answer
        assert answer["stats"][0]["count"] == files and answer["distinct"][0]["count"] == files, answer

    def one_file(self):
        file = self.random.randrange(self.files.number + ADDED)
        answer = self.json(f"/search?q=u{file}&explain")
        known = self.files.generations.get(answer["generation"])
        assert known is None or answer["count"] == (1 if file < known else 0), f"u{file} of {known} files: {answer}"

    def terms(self):
        answer = self.json("/terms?prefix=mod&by=term")
        known = self.files.generations.get(answer["generation"])
        counts = [term["documents"] for term in answer["terms"]]
        files = sum(counts)
        self.files.check(self.began, answer["generation"], files)
        assert counts == [with_rest(files, rest) for rest in range(7)], f"{counts} of {known}"

    def export(self):
        lines = self.get("/export?fields=name&format=jsonl").body.splitlines()
        names = {json.loads(line)["name"] for line in lines}
        assert len(names) == len(lines) and len(lines) in self.files.possible, f"{len(lines)} lines, {len(names)} names"
        assert names == {f"f{file}.txt" for file in range(len(lines))}, "other names than those of the first files"

    def pages(self):
        seen, after, first = [], "", None
        for _ in range(4):
            answer = self.client.ask("GET", f"/api/v1/grows/search?q=mod1&sort=size:desc,name&limit=7{after}")
            if first and answer.status == 400 and b"has changed" in answer.body:
                return
            assert answer.status == 200, answer
            page = answer.json()
            first = first or page["generation"]
            assert page["generation"] == first, "pages of two commits"
            seen += [hit["key"] for hit in page["hits"]]
            if not page["after"]:
                break
            after = "&after=" + page["after"]
        assert len(set(seen)) == len(seen), "a hit is on two pages"

    def sorted(self):
        hits = self.json("/search?q=common&sort=size:desc,name&limit=50&fields=size")["hits"]
        sizes = [hit["fields"]["size"][0] for hit in hits]
        assert sizes == sorted(sizes, reverse=True), sizes


class Clients:
    """Threads of askers, at full speed or at a rate."""

    def __init__(self, server, files, number):
        self.askers = [Asker(server, files, number + client) for client in range(CLIENTS)]
        self.wrong, self.lock = [], threading.Lock()

    def run(self, seconds, rate=None):
        """Asks for a time, and returns the number of questions that were answered."""
        before, until = sum(asker.asked for asker in self.askers), time.monotonic() + seconds
        threads = [threading.Thread(target=self.loop, args=(asker, until, rate)) for asker in self.askers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(asker.asked for asker in self.askers) - before

    def loop(self, asker, until, rate):
        following = time.monotonic()
        while time.monotonic() < until and len(self.wrong) < 20:
            if rate:
                following += asker.random.expovariate(rate / CLIENTS)
                time.sleep(max(0.0, following - time.monotonic()))
            try:
                asker.ask()
            except Exception as error:
                with self.lock:
                    self.wrong.append(repr(error)[:600])
                asker.client.__exit__()
                asker.client = Client(asker.client.server)


class Writer:
    """Commits until it is stopped, and is killed now and then."""

    def __init__(self, place, files, number):
        self.place, self.files, self.random = place, files, random.Random(number)
        self.commits = self.kills = self.survived = 0
        self.takes, self.wrong, self.stop = 0.5, None, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.stop.wait(COMMIT_EVERY):
                self.files.grow(self.random.randint(1, 2 * ADDED))
                self.commit(is_killed=self.random.random() < 0.3)
        except Exception as error:
            self.wrong = repr(error)

    def commit(self, is_killed=False):
        began = time.monotonic()
        command = [
            self.place.program,
            "index",
            "-q",
            "-o",
            self.place.at("grows.scanns"),
            "--positions",
            self.files.path,
        ]
        writer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if is_killed:
            try:
                writer.wait(self.random.uniform(0, self.takes))
                self.survived += 1
            except subprocess.TimeoutExpired:
                writer.kill()
                self.kills += 1
        words = writer.communicate()[1]
        if writer.returncode == 0:
            self.commits += 1
            self.takes = time.monotonic() - began
            self.files.end_commit()
        elif writer.returncode > 0:
            raise AssertionError(f"a writer failed: {words.decode(errors='replace')[-500:]}")


def measured(server):
    process = f"/proc/{server.process.pid}"
    with open(f"{process}/maps") as maps:
        deleted = sum("(deleted)" in line for line in maps)
    return {
        "memory": server.memory("RssAnon"),
        "descriptors": len(os.listdir(f"{process}/fd")),
        "threads": len(os.listdir(f"{process}/task")),
        "deleted files": deleted,
    }


def middle(values):
    return sorted(values)[len(values) // 2]


def thirds(samples, name):
    """The medians of the second and the last third."""
    third = len(samples) // 3
    return [middle([one[name] for one in part]) for part in (samples[third : 2 * third], samples[2 * third :])]


def grown(samples):
    """What is not flat; None if all is."""
    wrong = []
    for name in samples[0]:
        before, after = thirds(samples, name)
        slack = 16 << 20 if name == "memory" else 16
        if after > before * 1.1 + slack:
            wrong.append(
                f"{name} grew from {before} to {after}: {[one[name] for one in samples[:: max(1, len(samples) // 15)]]}"
            )
    return "; ".join(wrong) or None


def told(samples):
    show = lambda name, value: mebibytes(value) if name == "memory" else value
    return ", ".join(
        f"{name} {show(name, thirds(samples, name)[0])}, then {show(name, thirds(samples, name)[1])}"
        for name in samples[0]
    )


def soak(place, seconds, number):
    files = Files(place)
    files.grow(500)
    writer = Writer(place, files, number)
    writer.commit()
    server = place.serve(place.at("grows.scanns"), log=False)
    clients = Clients(server, files, number)
    # The best second, as other work on the machine makes some of them slow.
    most = max(clients.run(1) for _ in range(5))
    assert not clients.wrong, clients.wrong[0]
    samples, stop = [], threading.Event()

    def sample():
        while not stop.wait(min(2.0, seconds / 30)):
            samples.append(measured(server))

    sampler = threading.Thread(target=sample)
    sampler.start()
    writer.thread.start()
    answered = clients.run(seconds, rate=most / 2)
    writer.stop.set()
    stop.set()
    writer.thread.join()
    sampler.join()
    assert server.process.poll() is None, f"the server ended: {server.error_text()}"
    assert writer.wrong is None, writer.wrong
    note = (
        f"{answered} answers in {seconds} s, {most / 2:.0f} of {most:.0f} a second, {writer.commits} commits, "
        f"{writer.kills} writers killed, {len(files.generations)} generations, {files.number} files, seed {number}"
    )
    assert not clients.wrong, (
        f"{note}: {len(clients.wrong)} wrong answers, as {set(clients.wrong)}; {grown(samples) or told(samples)}"
    )
    flat = grown(samples)
    assert flat is None, f"{note}: {flat}"
    return f"{note}; {told(samples)}"
