"""The public names of the package: those of its stub, each imported when it is first used.

The stub, `haugmbd/__init__.pyi`, is what editors and type checkers read, too: a line `from MODULE import NAME as NAME` for each name, below
the topic that it belongs to.  Source: Scientific Python, SPEC 1, lazy loading of submodules and functions.
"""

from __future__ import annotations

import importlib
import re
import sys
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from haugmbd.compiled.collection import collection_paused
from haugmbd.deprecated import NAMES_MEANT, did_you_mean, old_constructor, warn_renamed

STUB = Path(__file__).resolve().with_name("__init__.pyi")
LINE = re.compile(r"# (?P<topic>.+)|from (?P<module>[\w.]+) import (?P<name>\w+) as (?P<public>\w+)")
MODULES = "modules"
"""The topic of names that are modules themselves."""


class PublicName(NamedTuple):
    """A name that users see, its topic in the documentation, and what is imported for it: `name` from `module`."""

    public: str
    topic: str
    module: str
    name: str


def names_in(stub: str) -> dict[str, PublicName]:
    """Return what the text of a stub imports, by public name, in its order."""
    found: dict[str, PublicName] = {}
    topic = ""
    for line in LINE.finditer(stub):
        if line["topic"]:
            topic = line["topic"]
        else:
            found[line["public"]] = PublicName(line["public"], topic, line["module"], line["name"])
    return found


PUBLIC = names_in(STUB.read_text(encoding="utf-8"))
"""Every public name, in the order of the documentation."""


def meant_by(name: str) -> str:
    """Return " (did you mean ...?)" for a name that is not public: the nearest one, or that of a joint, which has a package of its own."""
    if name in NAMES_MEANT:
        return f" (did you mean {NAMES_MEANT[name]!r}?)"
    joints = {each.lower(): each for each in importlib.import_module("haugmbd.joints").__all__ if each not in PUBLIC}
    near = get_close_matches(name.lower(), (*(each.lower() for each in PUBLIC), *joints), n=1, cutoff=0.6)
    if near and near[0] in joints:
        return f" (did you mean: from joints import {joints[near[0]]}?)"
    return did_you_mean(name, PUBLIC)


def say_what_hides_the_joints() -> None:
    """Say which file of the program's folder `import joints` takes for the catalogue of joints, if there is one."""
    folder, ours = Path(sys.path[0] if sys.path else ""), STUB.parent.parent
    for name in ("joints/__init__.py", "joints.py"):  # in the order in which Python looks
        file = folder / name
        if file.is_file():
            if folder.resolve() != ours:
                import logging  # noqa: PLC0415  hardly any program needs it here

                what = f"{file} hides the package `joints` from this program"
                logging.getLogger("haugmbd").warning("haugmbd: %s: write `from haugmbd.joints import RJ`, or rename it", what)
            return


class LazyPackage(ModuleType):
    """The package as an object: it imports a public name when it is first used."""

    def __getattr__(self, name: str) -> Any:
        """Import a public name; warn of an old one; say which one was meant by a wrong one."""
        if name in PUBLIC:
            _, topic, module, own = PUBLIC[name]
            with collection_paused():
                found = (
                    importlib.import_module(f"{module}.{own}")
                    if topic == MODULES
                    else getattr(importlib.import_module(module), own)
                )
            super().__setattr__(name, found)
            return found
        old = old_constructor(name, self.__getattr__)
        if old is not None:
            return old
        renamed = warn_renamed(name)
        if renamed is not None:
            return getattr(self, renamed)
        hint = "" if name.startswith("_") else meant_by(name)  # programs ask for private names, and often: __wrapped__
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{hint}")

    def __reduce__(self) -> Any:
        """Return the pickled form, the name: what pickles functions by their content meets the package among their globals."""
        return importlib.import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        """Return the public names, loaded or not."""
        return sorted(("__version__", *PUBLIC))

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, but no submodule in the place of a public name: `crosscheck` is a folder, too."""
        if not (name in PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)
