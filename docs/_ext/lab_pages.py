"""The pages of the labs: the student's version of each, as a notebook that runs when the site is built."""

from __future__ import annotations

import sys
from pathlib import Path

import jupytext
import nbformat

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "labs"))

import hand_out  # noqa: E402  it stands beside the labs

PAGES = tuple(f"generated/labs/{path.stem}" for path in hand_out.labs())


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return a notebook for each lab, without solutions."""
    made = {}
    for path in hand_out.labs():
        notebook = jupytext.reads(hand_out.student_version(path.read_text()), fmt="py:percent")
        for k, cell in enumerate(notebook.cells):
            cell["id"] = f"{path.stem}-{k}"  # the same in every build, so that a page that has not changed stays as it is
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        made[f"labs/{path.stem}.ipynb"] = nbformat.writes(notebook)
    return made
