"""The package as it is installed: types, size of the import, documentation and notebooks."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

import scanns

PACKAGE = ROOT / "crates/scanns-python"


def test_the_version_is_the_one_of_the_workspace() -> None:
    from importlib.metadata import PackageNotFoundError, version

    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert scanns.__version__ == workspace
    try:
        assert version("scanns") == workspace
    except PackageNotFoundError:
        pytest.skip("SKIPPED: the package was copied, and not installed from a wheel; see ci/wheel.sh")


def test_the_wheel_unwinds_on_panics() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    name = project["profile"]
    while name in cargo:
        assert cargo[name].get("panic", "unwind") == "unwind", name
        name = cargo[name].get("inherits", "")


def test_everything_public_exists_and_is_documented() -> None:
    for name in scanns.__all__:
        made = getattr(scanns, name)
        assert made.__doc__, name
        for method, value in vars(made).items() if isinstance(made, type) else ():
            if not method.startswith("_") and callable(value) and made.__module__.startswith("scanns"):
                assert value.__doc__ or method in ("rows", "to_dict"), f"{name}.{method}"


def test_the_stubs_name_what_the_native_module_has() -> None:
    from scanns import _native

    stub = ast.parse((PACKAGE / "scanns/_native.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            assert hasattr(_native, node.name)
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        named = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        named |= {part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)}
        own = {name for name in vars(getattr(_native, node.name)) if not name.startswith("__")}
        assert own == {name for name in named if not name.startswith("__")}, node.name


def test_types_are_strict() -> None:
    for words in (["mypy"], ["pyright"]):
        done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True)
        if "pyright" in words and "node" in done.stderr.lower() and "download" in done.stderr.lower():
            pytest.skip("SKIPPED pyright: it cannot install node")
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_import_is_light() -> None:
    script = (
        "import time; began = time.perf_counter(); import scanns, sys; print(time.perf_counter() - began);"
        "print([name for name in ('pandas', 'numpy', 'pyarrow', 'polars', 'subprocess') if name in sys.modules])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment) for _ in range(5)]
    seconds = min(float(run.stdout.splitlines()[0]) for run in runs)
    heavy = ast.literal_eval(runs[0].stdout.splitlines()[1])
    assert not set(heavy) - {"subprocess"}
    assert seconds < 0.5, f"{seconds:.3f} s, far more than the 50 ms of a release"


def test_the_guide_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (ROOT / "docs/python.md").read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S)
    assert len(blocks) >= 10
    for number, block in enumerate(blocks):
        code = compile(block, f"docs/python.md, block {number + 1}", "exec")
        exec(code, names)


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs/notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    content = nbformat.read(notebook, as_version=4)
    NotebookClient(content, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in content.cells for output in cell.get("outputs", [])]
    assert outputs and not any(output.output_type == "error" for output in outputs)
