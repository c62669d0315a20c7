#!/usr/bin/env python3
"""Compresses the files of a zip archive again, with zopfli, in the same order and with the same times and modes.

Usage: recompress.py ARCHIVE
"""

import os
import sys
import zipfile

import zopfli.zipfile


def recompress(path: str) -> None:
    made = path + ".tmp"
    with zipfile.ZipFile(path) as given, zopfli.zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as taken:
        for entry in given.infolist():
            copy = zipfile.ZipInfo(entry.filename, entry.date_time)
            copy.external_attr = entry.external_attr
            copy.create_system = entry.create_system
            # Zopfli gains nothing on what is too small to be compressed.
            copy.compress_type = entry.compress_type
            taken.writestr(copy, given.read(entry))
    before, after = os.stat(path).st_size, os.stat(made).st_size
    os.replace(made, path)
    print(f"{os.path.basename(path)}: {before:,} bytes, compressed again {after:,}")


if __name__ == "__main__":
    recompress(sys.argv[1])
