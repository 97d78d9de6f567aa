r"""Packages that import a name when it is first used: `from haugmbd.integrators import RK4` loads RK4, and no other method.

The names are those of the stub beside the package, `__init__.pyi`, which editors and type checkers read, too: a line
`from MODULE import NAME as NAME` for each.  A run needs one method of forty, and a fresh process is at its result the sooner.
Source: Python Enhancement Proposal 562, module `__getattr__`; Scientific Python, SPEC 1, lazy loading of submodules and functions.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LINE = re.compile(r"^from ([\w.]+) import (\w+) as \2$", re.MULTILINE)


def on_demand(package: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return `__getattr__` and `__all__` of a package, by the stub beside it."""
    module = sys.modules[package]
    stub = Path(str(module.__file__)).with_name("__init__.pyi")
    lines = LINE.findall(stub.read_text(encoding="utf-8"))
    places = {name: place for place, name in lines if place.startswith(f"{package}.")}

    def imported(name: str) -> Any:
        """Import a name.  Raise AttributeError if the stub has none."""
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(places[name]), name)
        setattr(module, name, found)
        return found

    return imported, sorted(places)


def load_package_of(kind: type) -> None:
    """Import all names of the package that a class of haugmbd belongs to, so that the class knows every one below it."""
    top, _, rest = kind.__module__.partition(".")
    if top != "haugmbd" or not rest:
        return
    package = importlib.import_module(f"{top}.{rest.partition('.')[0]}")
    for name in getattr(package, "__all__", ()):
        getattr(package, name)
