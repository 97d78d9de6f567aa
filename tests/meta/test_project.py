"""The set-up: one version, constraints that name no address, and a pin for each direct dependency."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import haugmbd

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONSTRAINTS = (ROOT / ".ci" / "constraints.txt").read_text().splitlines()


def test_the_version_is_written_the_same_everywhere():
    version = PROJECT["project"]["version"]
    assert haugmbd.__version__ == version
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_constraints_are_names_and_versions_only():
    pins = [line for line in CONSTRAINTS if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", pin) for pin in pins)
    names = [re.sub(r"[-_.]+", "-", pin.split("==")[0]).lower() for pin in pins]
    assert len(names) == len(set(names))


def test_every_direct_dependency_is_pinned():
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in CONSTRAINTS}
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [
        *PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["dependencies"],
        *PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["compiler"],
        *(name for extra in extras for name in extra),
        *PROJECT["build-system"]["requires"],
    ]
    missing = {re.match(r"[A-Za-z0-9-]+", name)[0].lower() for name in wanted} - pinned
    assert missing == set()


def test_no_program_lies_beside_the_packages():
    assert [file.name for file in ROOT.glob("*.py")] == []
