#!/usr/bin/env python3
"""Writes the list of the crates in a program as CycloneDX 1.5 in JSON.

The list is the one that cargo-auditable has put into the program, so it says what was compiled. Licences come from
`cargo metadata`, checksums from Cargo.lock.

Usage: ci/dist/sbom.py PROGRAM > scanns.cdx.json    in the root of the checkout; SOURCE_DATE_EPOCH is its time
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import uuid
import zlib

SECTION = ".dep-v0"


def embedded(program):
    """The packages that cargo-auditable lists in a program; the indexes of their dependencies are positions here."""
    with tempfile.NamedTemporaryFile() as out:
        # The section is not loaded into memory, so it has to be dumped by its name.
        subprocess.run(["objcopy", "--dump-section", f"{SECTION}={out.name}", program, "/dev/null"], check=False)
        data = open(out.name, "rb").read()
    if not data:
        sys.exit(f"{program} has no list of its crates: build it with cargo auditable")
    return json.loads(zlib.decompress(data))["packages"]


def licences():
    """The licences of packages by name and version."""
    text = subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], check=True, capture_output=True)
    packages = json.loads(text.stdout)["packages"]
    return {(package["name"], package["version"]): package["license"] for package in packages}


def checksums():
    """The SHA-256 of packages by name and version; those of the workspace have none."""
    with open("Cargo.lock", "rb") as file:
        packages = tomllib.load(file)["package"]
    return {(package["name"], package["version"]): package.get("checksum") for package in packages}


def component(package, licences, checksums):
    key = (package["name"], package["version"])
    purl = f"pkg:cargo/{key[0]}@{key[1]}"
    found = {"type": "library", "bom-ref": purl, "name": key[0], "version": key[1], "purl": purl}
    if licences.get(key):
        # Older crates write a slash, which means or.
        found["licenses"] = [{"expression": licences[key].replace("/", " OR ")}]
    if checksums.get(key):
        found["hashes"] = [{"alg": "SHA-256", "content": checksums[key]}]
    return found


def main():
    packages = [package for package in embedded(sys.argv[1])]
    known_licences, known_checksums = licences(), checksums()
    components = [component(package, known_licences, known_checksums) for package in packages]
    dependencies = [
        {"ref": found["bom-ref"], "dependsOn": sorted(components[at]["bom-ref"] for at in package.get("dependencies", []))}
        for package, found in zip(packages, components)
    ]
    root = next(at for at, package in enumerate(packages) if package.get("root"))
    program = {**components[root], "type": "application"}
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", 0)) or int(os.stat("Cargo.lock").st_mtime)
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    others = [found for at, found in enumerate(components) if at != root]
    # The same content has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([time.isoformat(), components], sort_keys=True))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"timestamp": time.isoformat().replace("+00:00", "Z"), "component": program},
        "components": others,
        "dependencies": dependencies,
    }
    json.dump(document, sys.stdout, indent=1)
    print()


main()
