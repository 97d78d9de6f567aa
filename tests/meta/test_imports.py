"""`import haugmbd` is free of consequences: it prints nothing, compiles nothing, and loads nothing heavy."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import haugmbd
from haugmbd.public_names import MODULES, PUBLIC

HEAVY = ("matplotlib", "pydantic", "h5py", "h5netcdf", "xarray", "pandas", "quaternion", "tqdm")

ENGINE = ("scipy.integrate", "scipy.interpolate")
FEW_COLLECTIONS = 20
"""Of small packages around the pause; without it there are 170 and more."""

PROGRAM = f"""
import gc, sys, haugmbd
count = []
gc.callbacks.append(lambda phase, info: count.append(phase))
{{first}}
print("numba" in sys.modules, len(count) <= {FEW_COLLECTIONS}, gc.isenabled())
gc.disable()
haugmbd.simulate, haugmbd.plot.energy
print(gc.isenabled())
import haugmbd.formulations.accelerations
print([name for name in {HEAVY + ENGINE!r} if name in sys.modules])
from numba.core.dispatcher import Dispatcher
from haugmbd.compiled.layer import DeferredKernel
values = [value for name, module in list(sys.modules.items()) if name.startswith("haugmbd") and module
          for value in vars(module).values()]
print([entry.__name__ for entry in values if isinstance(entry, Dispatcher) and entry.signatures])
print([kernel.__name__ for kernel in values if isinstance(kernel, DeferredKernel) and "dispatcher" in vars(kernel)])
"""


@pytest.mark.slow
@pytest.mark.parametrize("first", ["import joints", "haugmbd.System", "import haugmbd.gallery"])
def test_imports_are_free_of_consequences_and_do_not_visit_the_objects_that_they_make_again_and_again(first):
    """Two hundred thousand objects stay, most of them Numba's: collections of garbage between them took a tenth of a warm script."""
    run = subprocess.run([sys.executable, "-c", PROGRAM.format(first=first)], capture_output=True, text=True, timeout=600)
    assert run.stderr == ""
    assert run.stdout == "True True True\nFalse\n[]\n[]\n[]\n"


def test_everything_public_can_be_had_and_is_listed():
    for name in haugmbd.__all__:
        assert getattr(haugmbd, name) is not None
        assert name in dir(haugmbd)
    with pytest.raises(AttributeError, match="no attribute 'assembly_line'"):
        haugmbd.assembly_line  # noqa: B018  the question is the test


def test_what_a_simulation_does_not_need_is_not_imported():
    """Of the package itself neither, before a name of it is used."""
    names = (*HEAVY, *ENGINE, "numpy", "numba", "scipy.linalg", "haugmbd.analysis", "haugmbd.contact")
    program = f"import sys, haugmbd; print([n for n in {names} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (run.stdout, run.stderr) == ("[]\n", "")


@pytest.mark.slow
def test_no_module_hides_a_public_name():
    """Whichever module is imported first, and with all of them.  Only a module right below the package can hide a name: its own."""
    modules = {one.public for one in PUBLIC.values() if one.topic == MODULES}
    names = set(PUBLIC) - modules
    first = [f"haugmbd.{module.name}" for module in pkgutil.iter_modules(haugmbd.__path__) if module.name in names]
    program = f"""
import importlib, pkgutil, sys, types
for first in [*{first}, "all"]:  # then all others
    if first == "all":
        for module in pkgutil.iter_modules(haugmbd.__path__, "haugmbd."):
            importlib.import_module(module.name)
    else:
        for name in [n for n in sys.modules if n.split(".")[0] in ("haugmbd", "joints")]:
            del sys.modules[name]  # the package is loaded anew each time, in one process
        importlib.import_module(first)
    haugmbd = sys.modules["haugmbd"]
    for n in set(haugmbd.__all__) - {modules!r}:
        assert not isinstance(getattr(haugmbd, n), types.ModuleType), (first, n)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (run.returncode, run.stderr) == (0, "")


TABLES = ("formats.py", "public_names.py", "names_on_demand.py")
"""The tables of what is imported when it is asked for; they alone name modules of the package as texts.  The last one names those of a
package for this package itself, so that no import of it runs up."""
OF_USERS = ("content_digest.py", "functions.py", "results.py", "symbols.py", "collect.py")
"""Files that import modules of the user, or of an extra, by name; the last one walks through all modules of the package, above them."""


def test_imports_that_run_up_stand_in_two_tables():
    """An import that is written as a text is seen by no checker of layers."""
    wrong = []
    for file in sorted(
        [*Path(haugmbd.__file__).parent.rglob("*.py"), *(Path(haugmbd.__file__).parent.parent / "joints").rglob("*.py")]
    ):
        if file.name in TABLES:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called not in ("import_module", "__import__"):
                continue
            first = node.args[0]
            of_house = isinstance(first, ast.Constant) and str(first.value).split(".")[0] in ("haugmbd", "joints")
            if of_house or file.name not in OF_USERS:
                wrong.append(f"{file}:{node.lineno}")
    assert wrong == []
