"""Prints the largest files that nobody has changed for a year, and who owns how much.

    python large_files.py fs.scanns
"""

from __future__ import annotations

import sys

import scanns


def main(path: str) -> None:
    index = scanns.open(path)
    old = scanns.Q.field("mtime") < "now-1y"
    files = scanns.Q.field("type") == "file"
    found = index.search(files & old, 20, sort="size:desc", facets="owner:10:by=sum(size)")
    for hit in found:
        print(f"{hit['size']:>15,}  {hit.key}")
    for bucket in found.facets["owner:10:by=sum(size)"]:
        print(f"{bucket.sum:>15,}  {bucket.value}")


if __name__ == "__main__":
    main(sys.argv[1])
