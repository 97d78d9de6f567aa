"""`import haugmbd` is free of consequences: it prints nothing, compiles nothing, and loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("matplotlib", "pydantic", "h5py", "h5netcdf", "xarray", "pandas", "quaternion", "tqdm")

PROGRAM = f"""
import sys, {{package}}
print([name for name in {HEAVY!r} if name in sys.modules])
from numba.core.dispatcher import Dispatcher
kernels = [value for name, module in list(sys.modules.items()) if name.startswith("haugmbd") and module
           for value in vars(module).values() if isinstance(value, Dispatcher)]
print([kernel.__name__ for kernel in kernels if kernel.signatures])
"""


@pytest.mark.parametrize("package", ["haugmbd", "joints"])
def test_import_is_free_of_consequences(package):
    run = subprocess.run([sys.executable, "-c", PROGRAM.format(package=package)], capture_output=True, text=True, timeout=120)
    assert run.stderr == ""
    assert run.stdout == "[]\n[]\n"
