"""What a run stores costs its own size of memory, and not twice that at the end."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Model
from haugmbd.gallery import chain
from haugmbd.simulation.stepping.growing import GROWTH, Growing

MOST_STATES = 13
"""State vectors that a run of RK4 holds at once beside its workspace: the current state and its rates, three stages, the last step and the
one before with their rates, two stored states; and as much as two more in single numbers of bodies, joints and rows."""


def thrown() -> mbd.System:
    system = mbd.System("thrown", gravity=(0.0, 0.0, -9.81))
    system.add(mbd.Body("ball", 2.0, (1.0, 1.0, 1.0)))
    return system


def counts_twice() -> bool:
    """Return whether tracemalloc counts an array twice while it grows in place, as with NumPy 2.5."""
    tracemalloc.start()
    try:
        array = np.empty((100_000, 8))
        array.resize((110_000, 8), refcheck=False)
        return tracemalloc.get_traced_memory()[1] > 1.5 * array.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_the_peak_of_a_long_run():
    """200,000 states of 26 numbers are 42 MB; batches in flight are some MB, whatever the length."""
    if counts_twice():
        pytest.skip("tracemalloc counts an array twice while it grows in place")
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


@pytest.mark.slow
def test_a_run_of_a_large_model_holds_its_workspace_and_few_states():
    """Of 8000 links each batch is a single step."""
    model = chain(8_000).compile()

    def peak(given: Model) -> int:
        tracemalloc.start()
        try:
            mbd.simulate(given, 3e-4, h=1e-4, store_every=3)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(chain(20).compile())  # loads machine code
    peak(model)  # and what a model keeps for later runs
    assert peak(model) < 8 * model.tables.work_size + MOST_STATES * model.y0.nbytes


def test_the_modelled_state_is_part_of_the_model_and_cannot_be_written_to():
    model = chain(3).compile()
    state = model.state()
    for name in ("r", "p", "v", "omega_bar"):
        own = getattr(state, name)
        assert np.shares_memory(own, model.y0)
        with pytest.raises(ValueError, match="read-only"):
            own[0] = 1.0
    copy = state.replace(t=1.0)
    np.testing.assert_array_equal(copy.y, model.y0)
    assert not np.shares_memory(copy.y, model.y0)


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
