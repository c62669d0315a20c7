"""The build backend of the wheel: builds the `scanns` command into the folder of scripts, then runs maturin.

`SCANNS_WHEEL_PROFILE` chooses another profile of Cargo than `python`; `dev` compiles in the least time, for tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "target" / "wheel" / "scanns.data" / "scripts"


def _profile() -> str:
    return os.environ.get("SCANNS_WHEEL_PROFILE", "python")


def _build_command() -> None:
    """Builds the command. Like the release, it ends at a panic, since nothing else is in its process."""
    profile = "release" if _profile() == "python" else _profile()
    cargo = os.environ.get("CARGO", "cargo")
    arguments = [cargo, "build", "--locked", "-p", "scanns-cli", "--profile", profile]
    subprocess.run(arguments, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = ROOT / target / ("debug" if profile == "dev" else profile) / "scanns"
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    copy = SCRIPTS / "scanns"
    shutil.copy2(built, copy)
    strip = shutil.which(os.environ.get("STRIP", "strip"))
    if strip is not None:
        subprocess.run([strip, str(copy)], check=True)


def _settings(config: dict[str, Any] | None) -> dict[str, Any]:
    config = dict(config or {})
    if _profile() != "python":
        config.setdefault("build-args", f"--profile {_profile()}")
    return config


def build_wheel(folder: str, config: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    _build_command()
    name: str = maturin.build_wheel(folder, _settings(config), metadata)
    return name


def build_sdist(folder: str, config: dict[str, Any] | None = None) -> str:
    # Maturin wants the folder to exist.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    name: str = maturin.build_sdist(folder, config)
    return name


def prepare_metadata_for_build_wheel(folder: str, config: dict[str, Any] | None = None) -> str:
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    name: str = maturin.prepare_metadata_for_build_wheel(folder, _settings(config))
    return name


get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
