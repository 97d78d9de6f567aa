"""Programs of a page run when the page is read: what they print is compared with the comment beside it, and figures follow the program.

A page is Markdown that every reader shows; nothing in it belongs to this site. A program that fails or prints something else is a
warning of the build, which `make docs` takes for an error.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)
FENCE = re.compile(r"^```python\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"^print\(.*\) +# (.*)$", flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.connect("source-read", run_programs)
    return {"version": "1", "parallel_read_safe": True}


def run_programs(app: Sphinx, docname: str, source: list[str]) -> None:
    """Run all programs of a page, and put the figures that they leave open behind them."""
    if docname.startswith("generated/"):
        return
    number = iter(range(10_000))

    def after(match: re.Match[str]) -> str:
        figures = run_program(match[1], docname, Path(app.srcdir) / "generated" / "figures", next(number))
        return match[0] + "".join(f"\n\n![figure of the program above](/generated/figures/{name})\n" for name in figures)

    source[0] = FENCE.sub(after, source[0])


def run_program(program: str, docname: str, folder: Path, number: int) -> list[str]:
    """Run one program, compare what it prints with its comments, and return the files of its figures."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as place, inside(place), contextlib.redirect_stdout(said):
        try:
            exec(compile(program, docname, "exec"), {"__name__": "page"})
        except Exception:  # noqa: BLE001  whatever a program raises is reported with its page
            LOG.warning("program %d fails:\n%s", number, traceback.format_exc(limit=-3), location=docname)
            return []
    lines, promised = said.getvalue().splitlines(), PRINTED.findall(program)
    for line, comment in zip(lines, promised, strict=False):
        if not comment.startswith(line):
            LOG.warning("program %d prints %r, and its comment says %r", number, line, comment, location=docname)
    if len(lines) != len(promised):
        LOG.warning("program %d prints %d lines, and %d have comments", number, len(lines), len(promised), location=docname)
    return figures_of(folder, f"{docname.replace('/', '-')}-{number}")


def figures_of(folder: Path, name: str) -> list[str]:
    """Save and close the figures that are open, and return the names of their files."""
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for k in pyplot.get_fignums():
        files.append(f"{name}-{k}.png")
        pyplot.figure(k).savefig(folder / files[-1], dpi=90)
    pyplot.close("all")
    return files


@contextlib.contextmanager
def inside(folder: str) -> Iterator[None]:
    """Work in a folder for a while."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
