#!/usr/bin/env python3
"""Checks the links of a web site in a directory: files, and places within them. Fails, and names those that are broken.

Links to other sites are not followed. A canary shows that a broken link would be found.
Usage: ci/site/links.py DIRECTORY
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The places and the links of a page."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places.update(values[name] for name in ("id", "name") if values.get(name))
        self.links.extend(values[name] for name in ("href", "src") if values.get(name))


def broken(pages, root):
    """The broken links: pairs of a page and a link."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path
            if parts.path:
                target = (path.parent / urllib.parse.unquote(parts.path)).resolve()
                target = target / "index.html" if target.is_dir() else target
            place = urllib.parse.unquote(parts.fragment)
            is_there = target.is_file() and target.is_relative_to(root)
            if not is_there or (place and target in pages and place not in pages[target].places):
                found.append((path, link))
    return found


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    # Error pages are shown at any address, so their links begin at the root of the site.
    paths = [path for path in root.rglob("*.html") if path.name != "404.html"]
    pages = {path: Page(path.read_text()) for path in paths}
    canary = Page('<p id="a"><a href="#a">good</a><a href="#b">broken</a><a href="no-such-file.html">broken</a></p>')
    if len(broken({root / "canary.html": canary, **pages}, root)) < 2:
        sys.exit("the canary's broken links were not found")
    found = broken(pages, root)
    for path, link in found:
        print(f"{path.relative_to(root)}: {link} is broken", file=sys.stderr)
    if found or len(pages) < 20:
        sys.exit(f"{len(found)} broken links in {len(pages)} pages")
    print(f"site: {sum(len(page.links) for page in pages.values())} links in {len(pages)} pages")


main()
