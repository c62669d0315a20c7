#!/usr/bin/env python3
"""Finds faults that the tests would not notice, without a build for each.

cargo-mutants lists the changes; a random sample of them is compiled into one copy of the library, each behind a switch
that is read from the environment: `if crate::mutant(17) { changed body } else { body }`. Then the tests of the room run
once for each change, quick ones first, and the other tests of the library for a change that they miss. A change that does
not compile is replaced by another one. Changes in constants and in `const fn` cannot be switched and are left out.

Usage: ci/mutants.sh [SAMPLE] [SEED]; ROOMS="codec query" chooses rooms.
"""

import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

ROOMS = os.environ.get("ROOMS", "codec store query column segment search").split()
LIBRARY = "crates/scanns"
# Tests that take more seconds than this are run after the others.
SLOW = 1.0
SWITCH = """
/// True if the change with this number is tried.
pub(crate) fn mutant(number: u32) -> bool {
    static ACTIVE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ACTIVE.get_or_init(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number
}
"""


def listed():
    """Every change that cargo-mutants knows in the rooms, but those that cannot be switched."""
    files = [argument for room in ROOMS for argument in ("-f", f"{LIBRARY}/src/{room}/**")]
    command = ["cargo", "mutants", "--list", "--json", "-p", "scanns", *files]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [change for change in found if change.get("function")]


class Source:
    """A file, with offsets for the lines and columns (both from 1) of cargo-mutants."""

    def __init__(self, path):
        self.text = open(path, encoding="utf-8").read()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def range(self, span):
        start, end = span["start"], span["end"]
        return (self.starts[start["line"] - 1] + start["column"] - 1, self.starts[end["line"] - 1] + end["column"] - 1)

    def body(self, function):
        """Where the body of a function begins and ends, braces included; None for a `const fn` or one without a body."""
        start, end = self.range(function["span"])
        text = self.text[start:end]
        head = re.search(r"^[^{]*?\bfn\b", re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), text))
        if not head or re.search(r"\bconst\s+(unsafe\s+)?fn\b", head[0]) or not text.endswith("}"):
            return None
        depth = 0
        for at in range(head.end(), len(text)):
            if text[at] in "([":
                depth += 1
            elif text[at] in ")]":
                depth -= 1
            elif text[at] == "{" and depth == 0:
                return start + at, end
        return None


def switched(source, changes):
    """The file with all of its changes behind switches; changes are pairs of a number and a change."""
    bodies = collections.defaultdict(list)
    for number, change in changes:
        bodies[source.body(change["function"])].append((number, change))
    text = source.text
    for (start, end), changes in sorted(bodies.items(), reverse=True):
        original = source.text[start:end]
        branches = ""
        for number, change in changes:
            first, last = source.range(change["span"])
            body = source.text[start:first] + change["replacement"] + source.text[last:end]
            if change["genre"] == "FnValue":
                body = "{ " + change["replacement"] + " }"
            branches += f"if crate::mutant({number}) /*<{number}*/ {body} /*{number}>*/ else "
        text = text[:start] + "{ " + branches + original + " }" + text[end:]
    return text


def write(copy, chosen):
    by_file = collections.defaultdict(list)
    for number, change in chosen.items():
        by_file[change["file"]].append((number, change))
    for file, changes in by_file.items():
        open(f"{copy}/{file}", "w", encoding="utf-8").write(switched(Source(file), changes))


def broken(copy, environment):
    """The numbers of the changes that do not compile."""
    command = ["cargo", "check", "--tests", "--locked", "-p", "scanns", "--lib", "--message-format", "json"]
    output = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True).stdout
    numbers = set()
    for line in output.splitlines():
        message = json.loads(line).get("message") or {}
        if not isinstance(message, dict) or message.get("level") != "error":
            continue
        for span in message.get("spans", []):
            text = open(f"{copy}/{span['file_name']}", "rb").read()[: span["byte_start"]].decode("utf-8", "ignore")
            begun = [int(number) for number in re.findall(r"/\*<(\d+)\*/", text)]
            ended = {int(number) for number in re.findall(r"/\*(\d+)>\*/", text)}
            numbers |= {number for number in begun if number not in ended}
    return numbers


def passes(binary, names, environment, number, limit):
    """True if the named tests pass with the change, and False as soon as one fails, or if they hang or crash."""
    tests = subprocess.Popen(
        [binary, "--exact", *names], env={**environment, "MUTANT": str(number)}, cwd=f"{os.getcwd()}/{LIBRARY}",
        text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    watchdog = threading.Timer(limit, tests.kill)
    watchdog.start()
    try:
        if any(line.rstrip().endswith("... FAILED") for line in tests.stdout):
            return False
        return tests.wait() == 0
    finally:
        tests.kill()
        tests.wait()
        watchdog.cancel()


def durations(binary, environment):
    """The seconds that each test takes without a change, by its name."""
    tests = subprocess.Popen(
        [binary, "--test-threads=1"], env={**environment, "MUTANT": "0"}, cwd=f"{os.getcwd()}/{LIBRARY}", text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    seconds, begun = {}, time.monotonic()
    for line in tests.stdout:
        ended = re.match(r"test (\S+)( - should panic)? \.\.\. ok", line)
        now = time.monotonic()
        if ended:
            seconds[ended[1]] = now - begun
        begun = now
    assert tests.wait() == 0, "the tests fail without a change"
    return seconds


def stages(room, seconds):
    """The tests in the order in which they are run for a change in a room, in groups with a limit in seconds."""
    groups = collections.defaultdict(list)
    for name, taken in seconds.items():
        groups[not name.startswith(f"{room}::"), taken > SLOW].append(name)
    return [(groups[key], 30 + 5 * sum(seconds[name] for name in groups[key])) for key in sorted(groups)]


def main():
    size, seed = int(sys.argv[1]), int(sys.argv[2])
    target = os.path.abspath(os.environ.get("CARGO_TARGET_DIR", "target") + "/mutants")
    copy = f"{target}/tree"
    environment = {**os.environ, "CARGO_TARGET_DIR": f"{target}/build", "RUST_BACKTRACE": "0", "RUSTFLAGS": "--cap-lints=allow"}
    changes = listed()
    sources = {file: Source(file) for file in {change["file"] for change in changes}}
    changes = [change for change in changes if sources[change["file"]].body(change["function"])]
    random.Random(seed).shuffle(changes)
    print(f"{len(changes)} changes can be tried in {', '.join(ROOMS)}; {size} of them, seed {seed}", flush=True)
    chosen, spare = dict(enumerate(changes[:size], 1)), changes[size:]
    while True:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(".", copy, ignore=shutil.ignore_patterns("target", ".git"), symlinks=True)
        with open(f"{copy}/{LIBRARY}/src/lib.rs", "a", encoding="utf-8") as library:
            library.write(SWITCH)
        write(copy, chosen)
        refused = broken(copy, environment)
        if not refused:
            break
        print(f"{len(refused)} do not compile, and are replaced by others", flush=True)
        for number in refused:
            del chosen[number]
            if spare:
                chosen[max([0, *chosen, number, *refused]) + 1] = spare.pop(0)
    command = ["cargo", "test", "--no-run", "--locked", "-p", "scanns", "--lib", "--message-format", "json"]
    built = subprocess.run(command, cwd=copy, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    binary = [message["executable"] for message in map(json.loads, built.splitlines()) if message.get("executable")][-1]
    seconds = durations(binary, environment)
    print(f"{len(seconds)} tests take {sum(seconds.values()):.0f} s", flush=True)
    caught, survivors = 0, []
    for number, change in chosen.items():
        room = change["file"].removeprefix(f"{LIBRARY}/src/").split("/")[0]
        if any(not passes(binary, names, environment, number, limit) for names, limit in stages(room, seconds)):
            caught += 1
        else:
            survivors.append(change["name"])
            print(f"SURVIVED {change['name']}", flush=True)
        if (caught + len(survivors)) % 10 == 0:
            print(f"{caught + len(survivors)} tried, {len(survivors)} survived", flush=True)
    print(f"{caught} changes of {len(chosen)} were noticed, {len(survivors)} survived")


if __name__ == "__main__":
    main()
