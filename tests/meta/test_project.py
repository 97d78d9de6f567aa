"""The set-up: one version, constraints that name no address, and checks that name modules which exist."""

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
        *PROJECT["project"]["dependencies"],
        *(name for extra in extras for name in extra),
        *PROJECT["build-system"]["requires"],
    ]
    missing = {re.match(r"[A-Za-z0-9-]+", name)[0].lower() for name in wanted} - pinned
    assert missing == set()


def test_a_name_in_the_floors_stands_on_one_floor_only():
    for floors in (contract for contract in PROJECT["tool"]["importlinter"]["contracts"] if "containers" in contract):
        names = [name.strip(" ()") for layer in floors["layers"] for name in re.split(r"[|:]", layer)]
        assert len(names) == len(set(names))


def test_every_package_has_a_contract_that_names_all_of_its_modules():
    contracts = {
        floors["containers"][0]: floors.get("exhaustive", False)
        for floors in PROJECT["tool"]["importlinter"]["contracts"]
        if "containers" in floors
    }
    packages = [init.parent for init in (ROOT / "haugmbd").rglob("__init__.py")]
    several = {
        ".".join(folder.relative_to(ROOT).parts)
        for folder in packages
        if len([one for one in folder.iterdir() if one.suffix == ".py" or (one / "__init__.py").is_file()]) > 2
    }
    assert contracts == dict.fromkeys(several, True)


def test_a_folder_has_at_most_a_dozen_files_beside_its_map():
    loose = {"haugmbd"}  # what the whole package shares: errors, notation, the graph
    folders = [init.parent for init in (ROOT / "haugmbd").rglob("__init__.py") if init.parent.name not in loose]
    assert {str(folder.relative_to(ROOT)): n for folder in folders if (n := len(list(folder.glob("*.py"))) - 1) > 12} == {}
