"""The texts of the labs, for students and for lecturers: programs in the percent format, and the same as notebooks.

# %% [markdown]             a cell of text: its lines behind "# "
# %%                        a cell of Python
# %% tags=["solution"]      a cell that only lecturers get; students get the names of the answers, and fill them in

The texts stand in examples/labs of a checkout, and nowhere else; a wheel carries that folder inside of this package.

A notebook is read as a program: the cells with code, one after the other, with a stand-in for what only a notebook has.
%name, !command, name?     commands of the notebook itself        left out
%%time                     a command for its cell                 left out, the cell stays
%%bash, %%html             a cell that is not Python              left out
display, get_ipython       print, and an object that does nothing
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from haugmbd.choices import check_flags
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of

TIMED = ("%%time", "%%timeit", "%%capture", "%%prun")
"""Commands for a cell of Python."""
COMMAND = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$", flags=re.MULTILINE)
STAND_INS = """
import builtins as _builtins


class _Notebook:
    def __getattr__(self, name):
        return lambda *args, **kwargs: None


_builtins.display, _builtins.get_ipython = print, _Notebook
"""


def program_of(notebook: str) -> str:
    """Return the program of a notebook, the text of an .ipynb. Raise ValueError, KeyError or TypeError if it is none."""
    cells = ["".join(cell["source"]) for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    return "\n".join([STAND_INS, *map(_python, cells), ""])


def _python(cell: str) -> str:
    """Return a cell without commands of the notebook itself."""
    first, _, rest = cell.lstrip().partition("\n")
    if first.startswith("%%"):
        return _python(rest) if first.split()[0] in TIMED else ""
    try:
        ast.parse(cell)
    except SyntaxError:
        return COMMAND.sub(r"\1pass", cell)
    return cell


PACKED = Path(__file__).resolve().parent / "texts"
"""Where a wheel has the labs, see `force-include` in pyproject.toml."""
CHECKOUT = Path(__file__).resolve().parents[2] / "examples" / "labs"
HEAD = re.compile(r"^# %%.*\n", flags=re.MULTILINE)
CELL = re.compile(r"^(?=# %%)", flags=re.MULTILINE)
TEXT, SOLUTION = "# %% [markdown]\n", '# %% tags=["solution"]\n'
ANSWER = re.compile(r'^(answers\["[^"]+"\]) = ', flags=re.MULTILINE)
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}, "language_info": {"name": "python"}}


@check_keywords
def write(folder: str | Path, *, notebooks: bool = False, solutions: bool = False, replace: bool = False) -> list[Path]:
    """Write the labs into a folder, without their solutions.

    Parameters
    ----------
    folder : path
        Where the files go; it is made if it is not there.
    notebooks : bool
        If True, write notebooks (.ipynb); by default programs (.py), whose cells most editors show.
    solutions : bool
        If True, keep the solutions: a lecturer's copy.
    replace : bool
        If True, replace files that are there. By default they are kept, and nothing is written: they may have a student's answers.

    Returns
    -------
    list of Path
        The files, in the order of the labs.

    Raises
    ------
    UsageError
        If a file of a lab is there already, or the folder cannot be made.
    """
    check_flags(notebooks=notebooks, solutions=solutions, replace=replace)
    where = path_of(folder, "folder")
    files = {where / path.with_suffix(".ipynb" if notebooks else ".py").name: path for path in texts()}
    there = [path.name for path in files if path.exists()]
    if there and not replace:
        raise UsageError(
            f"folder {str(folder)!r} has {there[0]!r} already ({len(there)} of {len(files)} files), perhaps with answers: "
            "nothing was written. Name another folder, or replace the files by replace=True (--replace)."
        )
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make folder {str(folder)!r}: {error}") from None
    for path, source in files.items():
        text = source.read_text(encoding="utf-8")
        text = text if solutions else student_version(text)
        with replace_file(path) as file:
            file.write((notebook(text, source.stem) if notebooks else text).encode())
    return list(files)


def texts() -> list[Path]:
    """Return the files of the labs, with their solutions, in their order."""
    return sorted((PACKED if PACKED.is_dir() else CHECKOUT).glob("lab[0-9][0-9]_*.py"))


def student_version(text: str) -> str:
    """Return a lab in which cells with solutions only name the answers that are asked for."""
    return "".join(_without_solution(cell) if cell.startswith(SOLUTION) else cell for cell in CELL.split(text))


def _without_solution(cell: str) -> str:
    """Return the cell that a student fills in."""
    wanted = "\n".join(f"{name} = ...  # your answer" for name in ANSWER.findall(cell))
    return f"# %%\n# Your work stands here.\n{wanted}\n\n"


def notebook(text: str, name: str) -> str:
    """Return a program in the percent format as the text of an .ipynb;  name: stem of the names of its cells."""
    cells = [_cell(cell, f"{name}-{k}") for k, cell in enumerate(cell for cell in CELL.split(text) if cell.strip())]
    return json.dumps({"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def _cell(cell: str, name: str) -> dict[str, Any]:
    """Return one cell of a notebook."""
    body = HEAD.sub("", cell, count=1).strip("\n")
    if cell.startswith(TEXT):
        words = "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.split("\n"))
        return {"cell_type": "markdown", "id": name, "metadata": {}, "source": words.splitlines(keepends=True)}
    tags = {"tags": ["solution"]} if cell.startswith(SOLUTION) else {}
    source = body.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": tags, "outputs": [], "source": source}
