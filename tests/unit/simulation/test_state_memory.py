"""Runs whose states do not fit into the memory are refused beforehand, or end with what they have."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from haugmbd.simulation.stepping import state_memory
from haugmbd.simulation.stepping.growing import Growing

H, T_END = 1e-3, 0.5


def free(monkeypatch: pytest.MonkeyPatch, *answers: float) -> None:
    """So many bytes are free when it is asked for the first time, the second, ..., and the last number from then on."""
    left = list(answers)
    monkeypatch.setattr(state_memory, "CHECKED", 0.0)
    monkeypatch.setattr(state_memory, "available_memory", lambda: left.pop(0) if len(left) > 1 else left[0])


@pytest.mark.parametrize(
    ("given", "states"),
    [
        ({"h": H}, "500"),
        ({"h": H, "store_every": 5}, "100"),
        ({"rtol": 1e-6, "t_eval": np.linspace(0.0, T_END, 41)}, "41"),
        ({"integrator": mbd.GeneralizedAlpha(), "h": H}, "500"),
    ],
)
def test_a_known_number_of_states_is_refused_beforehand_with_the_estimate(monkeypatch, given, states):
    model = pendulum().compile()
    free(monkeypatch, 1000.0)
    gigabytes = 8e-9 * float(states) * model.y0.size
    with pytest.raises(
        mbd.UsageError, match=rf"^{states} states of {model.y0.size} numbers .* {gigabytes:.3g} GB, and 1e-06 GB are free.*t_eval"
    ):
        mbd.simulate(model, T_END, **given)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"h": H}, {"rtol": 1e-9}, {"integrator": mbd.BDF(rtol=1e-6)}])
def test_a_run_that_fills_the_memory_ends_with_its_states(monkeypatch, given):
    """An event that may end a run lets it begin with small batches."""
    given = {**given, "events": [mbd.Event("never", lambda t, state: 1.0, terminal=True)]}
    whole = mbd.simulate(pendulum(), T_END, **given)
    free(monkeypatch, 1e9, 1e9, 1e9, 0.0)
    with pytest.raises(mbd.SimulationError, match=r"stored so far take .* GB: .* GB more are needed.*store_every") as caught:
        mbd.simulate(pendulum(), T_END, **given)
    part = caught.value.result
    assert 0 < len(part) < len(whole)
    assert part.status is mbd.RunStatus.FAILED
    np.testing.assert_array_equal(part.y, whole.y[: len(part)])


def test_a_system_that_gives_no_memory_is_told_alike(monkeypatch):
    """As under a limit of the process."""

    def refuse(array, shape, refcheck=True):
        raise MemoryError

    class Full(np.ndarray):
        resize = refuse

    rows = Growing(3)
    rows.append(np.ones((2, 3)))
    rows._array = rows._array.view(Full)
    with pytest.raises(mbd.SimulationError, match=r"take 4.8e-08 GB: the system gives no"):
        rows.append(np.ones((5, 3)))
    np.testing.assert_array_equal(rows._array[:2], 1.0)
