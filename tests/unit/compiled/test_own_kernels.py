"""Each entry has kernels of its own in its machine code."""

from __future__ import annotations

from itertools import count
from math import erf

import numba
import numpy as np
import pytest
from numba.core.bytecode import FunctionIdentity

from haugmbd.compiled.fast_numba import EntryCompiler
from haugmbd.compiled.jit import OPTIONS, kernel

LIKE_IN_ANOTHER_PROCESS = 10**9
"""Where Numba begins to count functions, for each entry again."""


def times(factor):
    """A kernel that LLVM does not copy into its callers."""

    @kernel
    def scaled(x):
        a = erf(x) + erf(2.0 * x) + erf(3.0 * x) + erf(4.0 * x) + erf(5.0 * x) + erf(6.0 * x) + erf(7.0 * x) + erf(8.0 * x)
        b = erf(9.0 * x) + erf(10.0 * x) + erf(11.0 * x) + erf(12.0 * x) + erf(13.0 * x) + erf(14.0 * x) + erf(15.0 * x)
        return factor * (a + b)

    return scaled


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("counted", [False, True])
def test_kernels_of_one_factory_that_two_processes_have_given_one_name_are_told_apart(counted, monkeypatch):
    """The name of both is that of the kernel in the factory, with the number that Numba has given it."""
    double, triple, options = times(2.0), times(3.0), {**OPTIONS, "_nrt": counted}

    def doubled(x):
        return double(x) + double(x + 1.0)

    def tripled(x):
        return triple(x) + triple(x + 1.0)

    found = []
    for function in (doubled, tripled):
        monkeypatch.setattr(FunctionIdentity, "_unique_ids", count(LIKE_IN_ANOTHER_PROCESS))
        found.append(numba.njit(pipeline_class=EntryCompiler, **options)(function)(0.7))
    both = sum(erf(0.7 * k) + erf(1.7 * k) for k in range(1, 16))
    np.testing.assert_allclose(found, [2.0 * both, 3.0 * both], rtol=1e-14)
