"""What a run stores costs its own size of memory, and not twice that at the end."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.simulation.stepping.growing import GROWTH, Growing


def thrown() -> mbd.System:
    system = mbd.System("thrown", gravity=(0.0, 0.0, -9.81))
    system.add(mbd.Body("ball", 2.0, (1.0, 1.0, 1.0)))
    return system


@pytest.mark.slow
def test_the_peak_of_a_long_run():
    """200,000 states of 26 numbers are 42 MB; batches in flight are some MB, whatever the length."""
    model = thrown().compile()
    mbd.simulate(model, 1e-2, h=1e-3)
    tracemalloc.start()
    try:
        result = mbd.simulate(model, 2e-1, h=1e-6)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(result) == 200_001
    assert peak <= GROWTH * (result.y.nbytes + result.t.nbytes) + 12e6


def test_rows_that_have_been_given_out_stay_as_they_are():
    rows = Growing(3)
    rows.append(np.ones((4, 3)))
    given = rows.rows()
    np.testing.assert_array_equal(given, np.ones((4, 3)))
    for _ in range(100):
        rows.append(2.0 * np.ones((50, 3)))
    np.testing.assert_array_equal(given, np.ones((4, 3)))
    assert rows.rows().shape == (5004, 3)
    assert rows.rows() is rows.rows()
