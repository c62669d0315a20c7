#!/usr/bin/env python3
"""Compares the text that `scanns extract` finds in files with the text that other programs find.

Words are runs of letters and digits in lower case, counted with their number of occurrences; in spreadsheets, only
words without digits count. The recall of a file is the share of the reference's words that the text or the fields of
scanns have; the precision is the share of words in the text of scanns that the reference has, too.

References are pdfium and pdftotext for PDF, LibreOffice for office documents, pandoc for EPUB, extract-msg for mail,
and h5py, netCDF4 and astropy for scientific headers, where only the recall of distinct words is measured. A reference
that is not installed is reported as SKIPPED.

Texts of the references are kept in a cache by the content of files, so a second run takes only the time of scanns.

Usage: ci/extract-quality.py --scanns target/release/scanns --cache DIR [--only doc,xls] FILE_OR_DIRECTORY...
Programs are sought in PATH; SOFFICE, PDFTOTEXT and PANDOC name others. Python modules: pypdfium2, extract-msg, h5py,
netCDF4, astropy.
"""

import argparse
import collections
import hashlib
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

WORD = re.compile(r"[^\W_]+")
# Files whose recall or precision is below this count as bad.
GOOD = 0.95
# The most seconds that scanns may take for a file; it ends by itself long before.
LIMIT = 90
# How many files one process of a reference converts.
BATCH = 40
# Repetitions of cells in spreadsheets that are counted.
REPEATED = 1000

TEXT, SHEET, SLIDES, DRAWING = "fodt", "fods", "fodp", "fodg"
# Extensions and the flat OpenDocument format that LibreOffice converts them to.
OFFICE = {
    "doc": TEXT, "dot": TEXT, "docx": TEXT, "docm": TEXT, "dotx": TEXT, "odt": TEXT, "ott": TEXT, "rtf": TEXT,
    "xls": SHEET, "xlt": SHEET, "xlsx": SHEET, "xlsm": SHEET, "xltx": SHEET, "xlsb": SHEET, "ods": SHEET,
    "ppt": SLIDES, "pps": SLIDES, "pptx": SLIDES, "pptm": SLIDES, "ppsx": SLIDES, "odp": SLIDES, "odg": DRAWING,
}
# The other extensions and their references.
OTHERS = {
    "pdf": ["pdfium", "pdftotext"], "epub": ["pandoc"], "msg": ["extract_msg"], "h5": ["h5py"], "hdf5": ["h5py"],
    "nc": ["netCDF4"], "nc4": ["netCDF4"], "fits": ["astropy"],
}
# References whose words are names in headers: their number of occurrences means nothing.
HEADERS = {"h5py", "netCDF4", "astropy"}


def words(text, kind=TEXT):
    """The words of a text, with their number of occurrences. Optional hyphens do not part words."""
    found = WORD.findall(text.lower().replace("\xad", ""))
    # LibreOffice shows numbers and dates as cells are formatted, which is a matter of taste.
    return collections.Counter(word for word in found if kind != SHEET or not any(map(str.isdigit, word)))


# References that are Python modules. Each takes a path and returns a text.


def of_pdfium(path):
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    # A hyphen at the end of a line comes as U+FFFE, or U+0002 from older versions.
    pages = (page.get_textpage().get_text_range() for page in document)
    return "\n".join(pages).replace("\ufffe", "").replace("\x02", "")


def of_extract_msg(path):
    import extract_msg

    message = extract_msg.openMsg(path)
    parts = [message.subject, message.sender, message.to, message.cc, message.body]
    parts += [attachment.longFilename or attachment.shortFilename for attachment in message.attachments]
    return "\n".join(part for part in parts if isinstance(part, str))


def of_h5py(path):
    import h5py

    found = []

    def attributes(item):
        for name in item.attrs:
            found.append(name)
            try:
                value = item.attrs[name]
            except (OSError, TypeError, ValueError, KeyError):
                continue
            values = value.ravel().tolist() if hasattr(value, "ravel") else [value]
            found.extend(text(value) for value in values[:100] if isinstance(value, (str, bytes)))

    def text(value):
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def visit(name, item):
        found.append(name)
        attributes(item)

    with h5py.File(path, "r") as file:
        attributes(file)
        file.visititems(visit)
    return "\n".join(found)


def of_netcdf4(path):
    import netCDF4

    found = []

    def visit(item):
        found.extend(item.ncattrs())
        values = (item.getncattr(name) for name in item.ncattrs())
        found.extend(value for value in values if isinstance(value, str))
        for members in ("dimensions", "variables", "groups"):
            for name, member in getattr(item, members, {}).items() if isinstance(item, netCDF4.Dataset) else ():
                found.append(name)
                if members != "dimensions":
                    visit(member)

    with netCDF4.Dataset(path) as dataset:
        visit(dataset)
    return "\n".join(found)


def of_astropy(path):
    import astropy.io.fits

    found = []
    with astropy.io.fits.open(path) as units:
        for unit in units:
            for card in unit.header.cards:
                found += [card.keyword, str(card.value) if isinstance(card.value, str) else "", card.comment]
    return "\n".join(found)


MODULES = {
    "pdfium": ("pypdfium2", of_pdfium), "extract_msg": ("extract_msg", of_extract_msg), "h5py": ("h5py", of_h5py),
    "netCDF4": ("netCDF4", of_netcdf4), "astropy": ("astropy", of_astropy),
}


# LibreOffice writes flat OpenDocument files, whose paragraphs are the text.


def local(element):
    return element.tag.rpartition("}")[2]


# Changes that were undone, numbers of notes, pictures and formulas, charts, and forms have no text here.
NO_TEXT = {"tracked-changes", "note-citation", "binary-data", "object", "forms", "meta", "styles", "automatic-styles",
           "settings", "scripts", "font-face-decls", "desc", "title", "dde-source", "dde-links", "page-number"}
BREAKS = {"p", "h", "tab", "line-break", "s", "note", "annotation", "frame", "list-item"}


class FlatText:
    """The text of a flat OpenDocument file, piece by piece."""

    def __init__(self, root, kind):
        self.kind = kind
        self.pieces = []
        # Deleted text stands between two marks whose number the list of changes has.
        self.deletions = {number(region) for region in root.iter() if local(region) == "changed-region"
                          and any(local(change) == "deletion" for change in region)}
        self.is_deleted = False
        self.visit(root)

    def add(self, text):
        if text and not self.is_deleted:
            self.pieces.append(text)

    def visit(self, element):
        name = local(element)
        if name in ("change-start", "change-end") and number(element) in self.deletions:
            self.is_deleted = name == "change-start"
        # Annotations begin with their author and date.
        if "purl.org/dc" in element.tag or name in ("creator-initials", "sender-initials") or name in NO_TEXT:
            return
        # The pages' templates of sheets and slides have words of LibreOffice itself.
        if name == "master-styles" and self.kind != TEXT:
            return
        before = len(self.pieces)
        if name == "table" and self.kind == SHEET:
            sheet = next((value for key, value in element.attrib.items() if key.endswith("}name")), "")
            # LibreOffice keeps copies of sheets in other files.
            if sheet.startswith("'file:"):
                return
            self.add(f"\n{sheet}\n")
        self.add("\n" if name in BREAKS else "")
        self.add(element.text)
        for child in element:
            self.visit(child)
            self.add(child.tail)
        self.add("\n" if name in BREAKS else "")
        repeated = [value for key, value in element.attrib.items() if key.endswith("}number-columns-repeated")
                    or key.endswith("}number-rows-repeated")]
        if repeated and any(part.strip() for part in self.pieces[before:]):
            self.pieces.extend(self.pieces[before:] * (min(int(repeated[0]), REPEATED) - 1))


def number(element):
    """The number of a change."""
    return next((value for key, value in element.attrib.items() if key.endswith(("}id", "}change-id"))), None)


def office(paths, kind, outputs):
    """Converts files with one process of LibreOffice."""
    with tempfile.TemporaryDirectory() as scratch:
        for place, path in enumerate(paths):
            # LibreOffice follows no links.
            shutil.copyfile(path, f"{scratch}/{place}.{extension(path)}")
        names = [f"{scratch}/{place}.{extension(path)}" for place, path in enumerate(paths)]
        command = [program("soffice"), f"-env:UserInstallation=file://{scratch}/profile", "--headless",
                   "--convert-to", kind, "--outdir", f"{scratch}/out", *names]
        ended(command, 30 + 3 * len(paths))
        for place, output in enumerate(outputs):
            try:
                root = xml.etree.ElementTree.parse(f"{scratch}/out/{place}.{kind}").getroot()
                text = "".join(FlatText(root, kind).pieces)
            except (OSError, RecursionError, xml.etree.ElementTree.ParseError):
                continue
            save(output, text)


def modules(paths, name, outputs):
    """Converts files with a Python module in one process."""
    pairs = "\0".join(part for pair in zip(paths, outputs) for part in pair)
    ended([sys.executable, __file__, "--module", name], 30 + 3 * len(paths), pairs.encode())


def module_process(name):
    """What the process of [modules] does: input are paths of files and of their texts."""
    parts = sys.stdin.buffer.read().decode().split("\0")
    for path, output in zip(parts[::2], parts[1::2]):
        try:
            text = MODULES[name][1](path)
        except Exception as error:
            print(f"{name}: {path}: {error}", file=sys.stderr)
            text = ""
        save(output, text)


def single(command, outputs):
    """Keeps what a program writes for one file."""
    save(outputs[0], ended(command, 60).decode("utf-8", "replace"))


def program(name):
    return os.environ.get(name.upper()) or shutil.which(name)


def ended(command, seconds, data=None):
    """Runs a program to its end or kills it, and returns what it wrote."""
    with subprocess.Popen(command, stdin=subprocess.PIPE if data else subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.communicate(data, timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return process.communicate()[0]


def save(path, text):
    with open(path + ".new", "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    os.replace(path + ".new", path)


def extension(path):
    return os.path.splitext(path)[1][1:].lower()


def references_of(path):
    kind = extension(path)
    return ["soffice"] if kind in OFFICE else OTHERS.get(kind, [])


def is_there(name):
    if name in MODULES:
        return importlib.util.find_spec(MODULES[name][0]) is not None
    return program(name) is not None


def convert(name, paths, outputs):
    """Makes the texts of a reference. A file that ends its process is tried alone, and then has no text."""
    if not paths:
        return
    if name in MODULES:
        modules(paths, name, outputs)
    elif name == "soffice":
        office(paths, OFFICE[extension(paths[0])], outputs)
    elif name == "pdftotext":
        single([program(name), "-q", "-enc", "UTF-8", paths[0], "-"], outputs)
    else:
        single([program(name), "-f", "epub", "-t", "plain", "--wrap=none", paths[0]], outputs)
    left = [pair for pair in zip(paths, outputs) if not os.path.exists(pair[1])]
    if len(paths) == 1:
        for _, output in left:
            save(output, "")
        return
    half = (len(left) + 1) // 2
    for part in (left[:half], left[half:]):
        convert(name, [path for path, _ in part], [output for _, output in part])


def make_references(files, cache):
    """Fills the cache; returns the references that exist."""
    groups = collections.defaultdict(list)
    for path, digest in files:
        for name in references_of(path):
            groups[name, OFFICE.get(extension(path))].append((path, f"{cache}/{name}/{digest}.txt"))
    there = set()
    for (name, kind), pairs in sorted(groups.items(), key=str):
        if not is_there(name):
            print(f"SKIPPED {name}: it is not installed")
            continue
        there.add(name)
        os.makedirs(f"{cache}/{name}", exist_ok=True)
        pairs = [pair for pair in pairs if not os.path.exists(pair[1])]
        size = BATCH if name in MODULES or name == "soffice" else 1
        for start in range(0, len(pairs), size):
            part = pairs[start : start + size]
            convert(name, [path for path, _ in part], [output for _, output in part])
            if start % (10 * BATCH) == 0:
                print(f"{name} {kind or ''}: {start} of {len(pairs)}", file=sys.stderr)
    return there


# What scanns finds.


def found(scanns, path):
    """The answer of `scanns extract` for a file, with the seconds it took and how many processes it left."""
    start = time.monotonic()
    with subprocess.Popen([scanns, "extract", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, errors = process.communicate()
            errors += b"no text after the limit of this program"
        session = process.pid
    seconds = time.monotonic() - start
    answer = json.loads(output) if output.strip() else {"format": "", "fields": {}, "text": ""}
    answer["error"] = errors.decode("utf-8", "replace").strip()
    answer["seconds"] = seconds
    # A process that was killed ends when the system has taken back its memory.
    while (left := processes_of(session)) and time.monotonic() - start < seconds + 3:
        time.sleep(0.05)
    answer["left"] = left
    return answer


def processes_of(session):
    """How many processes of a session live."""
    count = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        count += int(fields[3]) == session and fields[0] != b"Z"
    return count


def measure(answer, text, name, kind):
    """Recall and precision of a file; None where there is nothing to compare."""
    theirs, body = words(text, kind), words(answer.get("text") or "", kind)
    fields = "\n".join(value for values in answer["fields"].values() for value in values)
    ours = body + words(fields, kind)
    if name in HEADERS:
        names = set(theirs)
        return (len(names & set(ours)) / len(names) if names else None), None
    recall = sum((ours & theirs).values()) / theirs.total() if theirs else None
    return recall, (sum((body & theirs).values()) / body.total() if body else None)


def main():
    parser = argparse.ArgumentParser(description="Compares extracted text with the text of other programs.")
    parser.add_argument("paths", nargs="+", metavar="FILE_OR_DIRECTORY")
    parser.add_argument("--scanns", required=True, help="the program to measure")
    parser.add_argument("--cache", required=True, help="directory for the texts of references")
    parser.add_argument("--only", help="extensions, separated by commas")
    parser.add_argument("--worst", type=int, default=10, help="how many of the worst files are printed")
    parser.add_argument("--save", metavar="FILE", help="write all measures as JSON Lines")
    args = parser.parse_args()
    only = args.only.split(",") if args.only else [*OFFICE, *OTHERS]
    files = [(path, digest_of(path)) for path in listed(args.paths) if extension(path) in only]
    there = make_references(files, args.cache)
    rows = []
    for path, digest in files:
        names = [name for name in references_of(path) if name in there]
        answer = found(args.scanns, path) if names else None
        for name in names:
            with open(f"{args.cache}/{name}/{digest}.txt", encoding="utf-8") as file:
                recall, precision = measure(answer, file.read(), name, OFFICE.get(extension(path)))
            row = {"path": path, "reference": name, "recall": recall, "precision": precision}
            row.update((key, answer[key]) for key in ("format", "error", "seconds", "left"))
            row["empty"] = not words(answer.get("text") or "")
            rows.append(row)
    report(rows, args.worst)
    if args.save:
        save(args.save, "".join(json.dumps(row) + "\n" for row in rows))


def listed(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
        for directory, _, names in sorted(os.walk(path)):
            yield from (os.path.join(directory, name) for name in sorted(names))


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()


def report(rows, worst):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[extension(row["path"]), row["reference"]].append(row)
    print("| format | reference | files | compared | recall | precision | both ≥ 0.95 | only reference has words "
          "| only scanns has words | none | encrypted | errors | crashes | timeouts | left | ms, median | ms, most |")
    print("|" + "---|" * 17)
    for (kind, name), group in sorted(groups.items()):
        print(line(kind, name, group))
    for (kind, name), group in sorted(groups.items()):
        bad = sorted((row for row in group if score(row) < GOOD), key=score)
        print(f"\n{kind} beside {name}: {len(bad)} files below {GOOD}" if bad else "", end="\n" if bad else "")
        for row in bad[:worst]:
            numbers = " ".join("-" if row[key] is None else f"{row[key]:.3f}" for key in ("recall", "precision"))
            print(f"  {numbers} {row['format']!r} {row['path']} {row['error'][:150]}")


def score(row):
    return min((row[key] for key in ("recall", "precision") if row[key] is not None and row["recall"] is not None),
               default=1.0)


def line(kind, name, group):
    compared = [row for row in group if row["recall"] is not None and not row["empty"]]

    def median(key):
        values = [row[key] for row in compared if row[key] is not None]
        return f"{statistics.median(values):.3f}" if values else "–"

    def count(test):
        return str(sum(1 for row in group if test(row)))

    good = sum(1 for row in compared if score(row) >= GOOD)
    times = [1000 * row["seconds"] for row in group]
    cells = [
        kind, name, str(len(group)), str(len(compared)), median("recall"), median("precision"),
        f"{100 * good / len(compared):.1f} %" if compared else "–",
        count(lambda row: row["recall"] is not None and row["empty"]),
        count(lambda row: row["recall"] is None and not row["empty"]),
        count(lambda row: row["recall"] is None and row["empty"]),
        count(lambda row: "(encrypted)" in row["format"]),
        count(lambda row: not row["format"]),
        count(lambda row: re.search(r"SIG|panic|ended: ", row["error"])),
        count(lambda row: "no text after" in row["error"]),
        str(sum(row["left"] for row in group)),
        f"{statistics.median(times):.0f}", f"{max(times):.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--module"]:
        module_process(sys.argv[2])
    else:
        main()
