"""MathJax for formulas without a network: one file and its licence, from the package that the extra `docs` installs."""

from __future__ import annotations

import shutil
from importlib.metadata import files
from pathlib import Path

PACKAGE, NAME = "sphinx-mathjax-offline", "tex-svg.js"
"""The package, and the file of MathJax that needs no fonts besides itself."""


def copy(folder: Path) -> None:
    """Copy MathJax and its licence into a folder of static files. Raise FileNotFoundError if the package does not have it."""
    found = [path for path in files(PACKAGE) or () if path.name == NAME]
    if not found:
        raise FileNotFoundError(f"{PACKAGE} has no {NAME}; see the extra `docs` in pyproject.toml")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(found[0].locate(), folder / NAME)
    shutil.copyfile(Path(__file__).resolve().parents[1] / "_static" / "LICENSE.mathjax", folder / "LICENSE")
