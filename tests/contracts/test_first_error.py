"""The first error wins: when a function of the user raises, nothing is evaluated after it, and its error comes out, with name and time."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.model.inspection.driver_breaks import interval_faults
from tests.support.runs import INTEGRATORS, KINDS, Broken, Probe, cases, method_for, run
from tests.support.seeds import seeds

STEPS, PLACES = 3, len(seeds(2))
"""Steps of a run, about;  calls, drawn at random, at which the function raises."""


@pytest.fixture(scope="module")
def models():
    """For each kind its model and the probe in it."""
    probes = {kind: Probe() for kind in KINDS}
    return {kind: (KINDS[kind].make(probe), probe) for kind, probe in probes.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [*cases()])
def test_nothing_is_evaluated_after_an_error(models, kind, name, rng):
    (model, probe), method = models[kind], method_for(INTEGRATORS[name])
    run(kind, model, probe, method, 0.01 * STEPS)  # a model remembers what its first run has evaluated
    probe.calls = 0
    run(kind, model, probe, method, 0.01 * STEPS)
    calls, probe.calls = probe.calls, 0
    assert calls >= STEPS
    if kind == "driver":
        interval_faults(model, 0.0, 0.01 * STEPS)  # f, f', f'' against each other, which ends at a fault and tells nobody
    first = 1 + probe.calls
    for fatal in sorted({calls, *rng.integers(first, calls + 1, size=PLACES).tolist()}):
        probe.calls, probe.fatal = 0, fatal
        try:
            with pytest.raises((Broken, mbd.SimulationError)) as caught:
                run(kind, model, probe, method, 0.01 * STEPS)
        finally:
            probe.fatal = np.inf
        error = caught.value
        told = "\n".join([str(error), *getattr(error, "__notes__", [])])
        assert probe.calls == fatal, f"called {probe.calls - fatal} times after the error"
        assert str(fatal) in told or (isinstance(error.__cause__, Broken) and error.__cause__.args == (fatal,))
        assert KINDS[kind].words in told
        assert kind == "formulation" or "t = " in told
        if fatal == calls:
            assert error.result is not None
            assert len(error.result.t) >= 1
