"""Evaluates all samples at a few states and saves the rows: run with and without NUMBA_DISABLE_JIT, and compared.

python -m tests.support.plain FILE.npz
"""

from __future__ import annotations

import sys

import numpy as np

from haugmbd.model.inspection.constraint_rows import evaluate
from tests.support.samples import SEED, everything, random_state

N_STATES = 5


def levels():
    """{name: (N_STATES, nc, ...)} of everything that the row kernels write."""
    model, _ = everything()
    rng = np.random.default_rng(SEED)
    rows = [evaluate(model, random_state(model, rng, t=0.3 * k)) for k in range(N_STATES)]
    return {name: np.array([getattr(r, name) for r in rows]) for name in ("Phi", "nu", "gamma", "Phi_r", "PiBar")}


if __name__ == "__main__":
    np.savez(sys.argv[1], **levels())
