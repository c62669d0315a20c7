"""The answers of the API are those that /openapi.json describes: schemathesis makes requests of it, right and wrong
ones.

The document is tried as it is, where nearly all requests are about indexes that do not exist, and once more with
names and values of a real index, so that searches run.
"""

import json
import os
import re
import shutil
import subprocess
import sys

from harness import Skipped

VALUES = {
    "index": ["docs"],
    "q": [
        "*",
        "common1",
        "common1 common2",
        '"common1 common2"',
        "comon~",
        "com*",
        "size>10",
        "owner:root",
        "(",
        "text:",
        "-common3",
        "",
    ],
    "field": ["text", "text^2", "name", "name^2,text", "none"],
    "sort": ["score", "key", "-key", "size:desc,path", "mtime", "size:first", "none", ":"],
    "fields": ["path", "size", "mtime", "owner", "none", ""],
    "facet": [
        "owner",
        "ext:3",
        "size:every:100",
        "mtime:month",
        "owner > sum:size",
        "ext > owner:2",
        "path:below:/",
        "size:0..10,10..",
        "none",
        ">",
    ],
    "stats": ["size", "size:50,99", "mtime", "none", "size:101"],
    "distinct": ["owner", "path:estimate", "none"],
    "group": ["owner", "ext:2", "none", "ext:0", "ext:"],
    "prefix": ["", "com", "\u00e4"],
    "path": ["/", "/none"],
    "after": ["", "AAAA"],
}


def with_values(document, keys):
    """The document with values of a real index in place of any text."""
    values = {**VALUES, "key": [*keys, "/none"]}

    def narrow(schema, name):
        if name not in values:
            return
        if schema.get("type") == "array":
            schema["items"] = {"type": "string", "enum": values[name]}
            schema["maxItems"] = 4
        else:
            schema.clear()
            schema.update({"type": "string", "enum": values[name]})

    for path, operations in document["paths"].items():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if "schema" in parameter:
                    narrow(parameter["schema"], parameter["name"])
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for name, schema in content["schema"]["properties"].items():
                    narrow(schema, name)
    return document


def run_schemathesis(place, server, document, mode, examples, seconds, seed):
    """Runs schemathesis over a document, and fails with what it found."""
    program = os.path.join(os.path.dirname(sys.executable), "st")
    if not os.path.exists(program):
        raise Skipped("install schemathesis")
    work = place.at("schemathesis")
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "openapi.json"), "w") as out:
        json.dump(document, out)
    shutil.copy(os.path.join(os.path.dirname(__file__), "schemathesis.toml"), work)
    url = f"http://127.0.0.1:{server.port}/"
    command = [
        program,
        "run",
        "openapi.json",
        "--url",
        url,
        "-H",
        f"Authorization: Bearer {server.token}",
        "--no-color",
        "--mode",
        mode,
        "--seed",
        str(seed),
        "--max-examples",
        str(examples),
        "--continue-on-failure",
        "--request-timeout",
        "30",
        # Bodies of JSON lines have no generator here; bombs.py has such.
        "--exclude-path",
        "/api/v1/{index}/_batch",
    ]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=seconds)
    words = done.stdout + done.stderr
    found = re.search(r"(\d+) generated", words)
    assert done.returncode == 0, f"seed {seed}:\n{words[-6000:]}"
    server.must_be_sound()
    return f"{found.group(1) if found else 'no'} requests, seed {seed}"


def run_all(report, place, indexes, keys, quick, seed):
    server = place.serve(*indexes, tcp=True)
    described = server.get("/openapi.json")
    document = json.loads(described.body)
    examples = 1 if quick else 300
    # A value that is not in a list of ours is not wrong, so that the second run makes right requests only.
    for name, one, mode in [
        ("as_described", document, "all"),
        ("with_values", with_values(json.loads(described.body), keys), "positive"),
    ]:
        report.test(
            f"conformance::{name}", run_schemathesis, place, server, one, mode, examples, 120 if quick else 1800, seed
        )
    server.stop()
