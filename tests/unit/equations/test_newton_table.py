"""The table of Newton's method: each step near the solution doubles the digits, and recording changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, slider_crank


def test_the_iterates_of_an_assembly_are_recorded_and_end_at_its_state():
    model = four_bar().compile()
    state = model.state()
    start = state.replace(r=state.r + 0.02 * np.sin(np.arange(state.r.size)).reshape(state.r.shape) * [[0], [1], [1], [1]])
    plain, recorded = mbd.assemble(model, start), mbd.assemble(model, start, record=True)
    assert plain.newton is None
    assert np.array_equal(plain.state.flat, recorded.state.flat)
    rows = recorded.newton.rows
    assert [row.iterate for row in rows] == list(range(len(rows)))
    assert rows[0].step == "start"
    assert rows[-1].Phi < 1e-12 < rows[0].Phi
    steps = [row.dq for row in rows[1:]]
    assert steps[-1] < 10 * steps[-2] ** 2
    assert all(row.condition >= 1.0 for row in rows)
    assert len(str(recorded.newton).splitlines()) == len(rows) + 1


def test_kinematics_records_the_position_analysis_of_each_time():
    system = slider_crank(driven=True)
    times = np.linspace(0.0, 0.5, 6)
    plain, recorded = mbd.kinematics(system, times), mbd.kinematics(system, times, record=True)
    assert plain.newton == ()
    assert np.array_equal(plain.y, recorded.y)
    assert len(recorded.newton) == len(times)
    for table in recorded.newton[1:]:
        assert table.rows[-1].Phi < 1e-12 < table.rows[0].Phi
        steps = [row.dq for row in table.rows[1:]]
        assert min(steps[k + 1] / steps[k] for k in range(len(steps) - 1)) < 1e-3  # quadratic at the end


def test_estimates_that_are_too_far_for_newtons_method_are_told():
    with pytest.raises(mbd.UsageError, match=r"record=True.*nearer"):
        mbd.kinematics(slider_crank(driven=True), [0.0, 0.3], record=True)
