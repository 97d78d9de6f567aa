"""Events and switches belong to one run: functions of many runs say so, and take no results in which the structure changes."""

from __future__ import annotations

import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum


@pytest.mark.parametrize(
    "call", [mbd.compare, mbd.convergence, mbd.work_precision, mbd.sweep, mbd.batch, mbd.gain_map, mbd.Batch.simulate]
)
def test_events_are_refused_with_a_remedy(call):
    with pytest.raises(TypeError, match=r"'events': events, and switches .* simulate\(\.\.\., events=\[\.\.\.\]\)"):
        call(None, events=[mbd.Event("now", lambda t, _: t - 0.1).then(release="pin")])


def test_results_with_switches_are_compared_with_no_other_structure():
    """Their rows would be measured with rows that are gone, and their errors against a motion without the switch."""
    model = pendulum().compile()
    pin = next(iter(model.joints))
    off = mbd.Event("off", lambda t, _: t - 0.05).then(release=pin)
    switched = mbd.simulate(model, 0.1, events=[off], h=0.01)
    plain = mbd.simulate(model, 0.1, h=0.01)
    told = mbd.compare(model, results={"plain": plain, "switched": switched}, reference=False)
    assert [told.cells[name].status for name in ("plain", "switched")] == ["completed", "refused"]
    assert "after its switch 'off' at t = 0.05 s" in told.cells["switched"].reason
    with pytest.raises(mbd.UsageError, match="no reference possible: .* switch 'off'"):
        mbd.compare(model, results={"plain": plain}, reference=switched)
