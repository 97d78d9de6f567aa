r"""Notebooks as programs: the cells with code, one after the other, with a stand-in for what only a notebook has.

%name, !command, name?     commands of the notebook itself        left out
%%time                     a command for its cell                 left out, the cell stays
%%bash, %%html             a cell that is not Python              left out
display, get_ipython       print, and an object that does nothing
"""

from __future__ import annotations

import ast
import json
import re

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
