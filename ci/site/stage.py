#!/usr/bin/env python3
"""Lays out the documents for mdBook, as they are and in their places, so that links between them hold.

The contents are in site/contents.txt. Other files that documents link to are copied, too: the site needs no other one.

Usage: ci/site/stage.py DIRECTORY    in the root of the checkout; DIRECTORY/src/commands has the pages of the commands
"""

import os
import pathlib
import re
import shutil
import sys

RECORDS = "crates/scanns-bench/records"
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def title(path):
    """The first heading of a document."""
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            return line[2:].replace("`", "")
    sys.exit(f"{path} has no heading")


def command_entries(source):
    pages = sorted(path for path in (source / "commands").glob("*.md") if path.name != "README.md")
    return ["- [Commands](commands/README.md)", *(f"  - [{title(page)}](commands/{page.name})" for page in pages)]


def record_entries():
    """A chapter without a page of its own, and below it the records, newest first."""
    pages = sorted(pathlib.Path(RECORDS).glob("*.md"), reverse=True)
    named = [(page, title(page).removeprefix(f"{page.name[:10]}: ")) for page in pages]
    return ["- [Records of measurements]()", *(f"  - [{page.name[:10]}: {name}]({page})" for page, name in named)]


def summary(source):
    """The contents as mdBook reads them, and the documents that they name."""
    lines = ["# Summary", ""]
    for line in pathlib.Path("site/contents.txt").read_text().splitlines()[2:]:
        text = line.removesuffix(" ?")
        if line == "commands":
            lines += command_entries(source)
        elif line == "records":
            lines += record_entries()
        elif line == text or pathlib.Path(LINK.search(text)[1]).exists():
            lines.append(text)
    text = "\n".join(lines) + "\n"
    named = [found[1] for found in LINK.finditer(text)]
    return text, [path for path in named if not path.startswith("commands/")]


def files_linked(document):
    """Files of the project other than documents that a document links to."""
    targets = [found[1] for found in LINK.finditer(pathlib.Path(document).read_text())]
    paths = [os.path.normpath(os.path.join(os.path.dirname(document), target)) for target in targets if ":" not in target]
    return [path for path in paths if os.path.isfile(path) and not path.endswith(".md")]


def main():
    source = pathlib.Path(sys.argv[1]) / "src"
    text, documents = summary(source)
    for document in documents:
        for path in [document, *files_linked(document)]:
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, source / path)
        # mdBook makes index.html of README.md, and leaves links to it as they are.
        copy = source / document
        copy.write_text(re.sub(r"(\]\([^)\s]*)README\.md", r"\1index.md", copy.read_text()))
    (source / "SUMMARY.md").write_text(text)
    shutil.copyfile("site/book.toml", pathlib.Path(sys.argv[1]) / "book.toml")


main()
