"""The catalogue of joints by a name that no file of a user can take: `from haugmbd.joints import RJ`.

`joints` is a package beside this one. Python looks for a module in the folder of a program first: where that folder has a `joints.py` or
`joints/` of its own, `import joints` gives that one. Then the catalogue is loaded from its place under the name `haugmbd.joints`; else
`haugmbd.joints` is the package `joints` itself, so that there is one class of each joint.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from joints import *  # noqa: F403  for type checkers
    from joints import Locked as Locked
    from joints import Place as Place
    from joints import Spaced as Spaced
    from joints import Vectors as Vectors
    from joints import __all__ as __all__

HERE = __name__
CATALOGUE_FILE = Path(__file__).resolve().parent.parent / "joints" / "__init__.py"


def _is_catalogue(file: str | None) -> bool:
    return file is not None and Path(file).resolve() == CATALOGUE_FILE


def _is_in_the_way() -> bool:
    """Return whether `import joints` gives something else; a file of that name is found, but not run: it may be the program itself."""
    loaded = sys.modules.get("joints")
    if loaded is not None:
        return not _is_catalogue(getattr(loaded, "__file__", None))
    spec = find_spec("joints")
    return spec is None or not _is_catalogue(spec.origin)


def _loaded_from_its_place() -> ModuleType:
    """Return the catalogue, loaded as `haugmbd.joints`."""
    spec = spec_from_file_location(HERE, CATALOGUE_FILE, submodule_search_locations=[str(CATALOGUE_FILE.parent)])
    assert spec is not None
    assert spec.loader is not None
    package = module_from_spec(spec)
    sys.modules[HERE] = package
    spec.loader.exec_module(package)
    return package


def _the_package() -> ModuleType:
    """Return the package `joints`; its modules are those of `haugmbd.joints`, too, so that pickled joints are found by either name."""
    import joints as package  # noqa: PLC0415  only where it is the catalogue, and not a file of the program

    for name, module in list(sys.modules.items()):
        if name.startswith("joints."):
            sys.modules[f"haugmbd.{name}"] = module
    sys.modules[HERE] = package
    return package


if _is_in_the_way():
    _loaded_from_its_place()
else:
    _the_package()
