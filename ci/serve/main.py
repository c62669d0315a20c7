"""The campaign against `scanns serve`: runs its parts, and sums them up as Cargo does. ci/serve.sh says how."""

import argparse
import os
import random
import signal
import sys
import time

import bombs
import conformance
import fairness
import http2
import proxies
import slow
import smuggling
import soak
import tls
import tokens
import visibility
from harness import Place, Report, seed
from tree import WORDS

# The words of texts, besides those of `WORDS`.
VOCABULARY = 20_000
# Documents of which three make an answer of some 30 MB.
LARGE, LARGE_TEXT = 4, 10 << 20
LARGE_PATH = "/api/v1/large/search?limit=3&content=true"


def corpus(place, number):
    """The index `docs` of many small texts, and `large` of a few large ones."""
    choice = random.Random(number)
    words = ["".join(choice.choices("abcdefghijklmnopqrstuvwxyz", k=choice.randint(3, 10))) for _ in range(VOCABULARY)]
    first = []
    for file in range(3000):
        directory = place.at("docs", f"d{file % 40}", f"e{file % 7}")
        os.makedirs(directory, exist_ok=True)
        text = [words[int(VOCABULARY * choice.random() ** 3)] for _ in range(100)] + choice.choices(WORDS, k=5)
        with open(os.path.join(directory, f"f{file}.txt"), "w") as out:
            out.write(" ".join(text))
        first += text if file < 20 else []
    os.makedirs(place.at("large"))
    for file in range(LARGE):
        with open(place.at("large", f"b{file}.txt"), "w") as out:
            line = f"word{file} common1 "
            out.write(line * (LARGE_TEXT // len(line)))
    indexes = [
        place.index("docs.scanns", "--access", "--positions", "--store", "content", place.at("docs")),
        place.index("large.scanns", "--access", "--store", "content", place.at("large")),
    ]
    keys = [place.at("docs", f"d{file}", f"e{file}", f"f{file}.txt") for file in range(5)]
    return indexes, list(dict.fromkeys(first)), keys


def campaign(report, place, quick):
    number = seed()
    indexes, words, keys = corpus(place, number)
    plain, port = place.serve(*indexes), place.serve(*indexes, tcp=True)
    smuggling.run_all(report, plain, port, quick, number)
    plain.stop()
    port.stop()
    tokens.run_all(report, place, indexes)
    proxies.run_all(report, place, indexes[0], keys[0])
    bombs.run_all(report, place, indexes, words, LARGE_PATH, quick)
    http2.run_all(report, place, indexes, LARGE_PATH, quick)
    fairness.run_all(report, place, indexes, quick)
    slow.run_all(report, place, indexes, LARGE_PATH, quick)
    tls.run_all(report, place, indexes, quick)
    conformance.run_all(report, place, indexes, keys, quick, number)
    visibility.run_all(report, place, quick, number)


def main():
    parser = argparse.ArgumentParser(prog="ci/serve.sh")
    parser.add_argument("program", help="the scanns to test")
    parser.add_argument("--quick", action="store_true", help="take a minute")
    parser.add_argument("--soak", type=int, metavar="SECONDS", help="only serve and commit for this time")
    parser.add_argument("tests", nargs="*", help="run tests with these words in their names")
    asked = parser.parse_intermixed_args()
    # The servers are stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report, place = Report(asked.tests), Place(asked.program)
    began = time.monotonic()
    try:
        if asked.soak:
            report.test("soak", soak.soak, place, asked.soak, seed())
        else:
            campaign(report, place, asked.quick)
    finally:
        place.end()
    print(f"{time.monotonic() - began:.0f} s")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
