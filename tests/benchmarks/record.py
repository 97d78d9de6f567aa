"""What was measured, as JSON: the machine and its load, the versions, the date, and minimum and median of every answer of every tool."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

TOOLS = ("haugmbd", "numpy", "scipy", "numba", "llvmlite", "pin", "exudyn", "mujoco")


def load() -> float:
    """Return how many processes the system had to run in the last minute; above the number of cores, times are those of a busy machine."""
    return round(os.getloadavg()[0], 2)


START_LOAD = load()
_answers: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}


def keep(tool: str, task: str, arguments: dict[str, Any], answer: dict[str, Any]) -> None:
    """Store an answer of a tool."""
    what = {"tool": tool, "task": task, "arguments": arguments}
    _answers.setdefault(json.dumps(what, sort_keys=True), (what, []))[1].append(answer)


def measured() -> dict[str, Any]:
    """Return everything that was stored."""
    lines = []
    for what, answers in _answers.values():
        names = [name for name, value in answers[0].items() if isinstance(value, int | float)]
        minimum, median = ({name: float(of([a[name] for a in answers])) for name in names} for of in (np.min, np.median))
        said = {name: value for name, value in answers[0].items() if isinstance(value, str)}
        lines.append({**what, "repeats": len(answers), "minimum": minimum, "median": median, **({"said": said} if said else {})})
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        "load": [START_LOAD, load()],
        "versions": versions(),
        "measured": lines,
    }


def machine() -> dict[str, Any]:
    """Return processor, number of cores, and system."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    processor = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {"processor": processor, "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the tools, here and in the Python of the peers."""
    peers = os.environ.get("HAUGMBD_PEERS_PYTHON", sys.executable)
    asked = subprocess.run(
        [peers, "-c", f"{VERSIONS}print(json.dumps(found({TOOLS!r})))"], capture_output=True, text=True, check=True
    )
    return {"python": platform.python_version(), **json.loads(asked.stdout), **found(TOOLS)}


VERSIONS = """
import importlib.metadata, json

def found(names):
    return {one.metadata["Name"]: one.version for one in importlib.metadata.distributions() if one.metadata["Name"] in names}
"""
"""A program for another Python."""


def found(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of those packages that are installed here."""
    return {one.metadata["Name"]: one.version for one in importlib.metadata.distributions() if one.metadata["Name"] in names}


def write(path: Path) -> None:
    """Write everything that was stored as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = measured()
    lines = ",\n".join(json.dumps(line) for line in whole.pop("measured"))
    path.write_text(json.dumps(whole, indent=1).removesuffix("\n}") + f',\n "measured": [\n{lines}\n]}}\n')
