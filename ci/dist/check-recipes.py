#!/usr/bin/env python3
"""Reads the recipes in a directory with the parsers of their tools, and checks that nothing is left to fill in.

Without a tool its recipe is only read as what it is, Python or YAML, and SKIPPED says so.
Usage: ci/dist/check-recipes.py DIRECTORY
"""

import ast
import os
import pathlib
import re
import sys


def skipped(what, why):
    print(f"SKIPPED dist: {what}: {why}")


def check_spack(path):
    tree = ast.parse(path.read_text())
    package = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    calls = {node.value.func.id for node in package.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)}
    assert package.name == "Scanns" and {"version", "depends_on", "license"} <= calls, calls
    print("recipe of Spack: Python, with the usual directives")


def check_conda(path):
    try:
        from rattler_build import RenderConfig, Stage0Recipe, VariantConfig
    except ImportError:
        return skipped("the recipe of conda", "run ci/setup-dist.sh")
    compilers = VariantConfig({"c_compiler": ["gcc"], "rust_compiler": ["rust"], "c_stdlib": ["sysroot"]})
    rendered = Stage0Recipe.from_file(str(path)).render(compilers, RenderConfig())
    assert len(rendered) == 1, rendered
    print("recipe of conda: read and rendered by rattler-build")


def check_easybuild(path):
    try:
        from easybuild.framework.easyconfig.default import DEFAULT_CONFIG
        from easybuild.framework.easyconfig.parser import EasyConfigParser
    except ImportError:
        return skipped("the easyconfig", "run ci/setup-dist.sh")
    config = EasyConfigParser(str(path)).get_config_dict()
    # The parameters of the easyblock Binary; the others are EasyBuild's own.
    unknown = set(config) - set(DEFAULT_CONFIG) - {"extract_sources", "install_cmd"}
    assert not unknown, unknown
    assert config["name"] == "scanns" and len(config["checksums"][0]) == 64, config["checksums"]
    assert config["toolchain"]["name"] == "GCCcore", config["toolchain"]
    print("easyconfig: read by EasyBuild")


def check_apptainer(path):
    sections = re.findall(r"^%(\w+)", path.read_text(), re.MULTILINE)
    headers = re.findall(r"^(\w+): ", path.read_text(), re.MULTILINE)
    assert headers.count("Bootstrap") == headers.count("From") == 2, headers
    assert {"files", "post", "runscript", "test"} <= set(sections), sections
    print("definition of Apptainer: has its sections")


def main():
    root = pathlib.Path(sys.argv[1])
    os.environ.setdefault("HOME", str(root))
    for path in root.rglob("*"):
        if path.is_file() and path.name != "README.md":
            left = re.search(r"@[A-Z]+[A-Z0-9]*@", path.read_text())
            assert not left, f"{path} still has {left[0]}"
    check_spack(root / "spack/scanns/package.py")
    check_conda(root / "conda/recipe.yaml")
    check_easybuild(next((root / "easybuild").glob("*.eb")))
    check_apptainer(root / "apptainer/scanns.def")


main()
