"""Code that calls BLAS finds an address before SciPy's BLAS is linked: no process ends because of a name."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import numpy as np
from haugmbd.kkt import front_kernels as f
F, B = np.arange(36.0).reshape(6, 6), np.arange(12.0)
wanted = F.copy()
f._plain_product(wanted, 0, 2, 2, 4, B, 0, 2, 2)
from haugmbd.compiled.jit import entry
def call(F, p, i, j, m, B, b, width, k):
    f.subtract_product(F, p, i, j, m, B, b, width, k)
entry(call)(F, 0, 2, 2, 4, B, 0, 2, 2)
assert "scipy.linalg.cython_blas" in __import__("sys").modules  # linked at the first call
assert np.allclose(F, wanted), (F, wanted)
"""


@pytest.mark.slow
def test_code_with_blas_runs_though_nobody_has_linked_it(tmp_path):
    script = tmp_path / "call.py"
    script.write_text(CODE)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
