"""The error of a user's function is told, whichever call raises it: it ends the run, or is a warning about what was asked behind the run.

A function raises at call number n, for numbers n spread over all calls of a run and of what follows it. Where the call is of a check behind
the run, its motion is complete and equal, bit by bit, to that of the function that does not raise.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ
from tests.support.seeds import seeds

pytestmark = pytest.mark.slow
SAID = "the user's function has no value here"
"""What the error says."""
FAST = 130.0
"""[N m s/rad] of the motor: h lambda = 2.6 with RK4 and h = 0.01 s, which is stable, and not resolved."""


class Raises:
    """Counts the calls of a function, and raises at the one with number n."""

    def __init__(self):
        self.calls, self.n = 0, -1

    def see(self):
        self.calls += 1
        if self.calls == self.n:
            raise LookupError(SAID)


def bar(joint):
    system = mbd.System("bar", gravity=(0.0, 0.0, -9.81))
    body = system.add(mbd.Body("bar", 2.0, (0.1, 0.2, 0.3), r=(0.5, 0.0, 0.0)))
    return system, system.add(joint("joint", system.ground, body, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))


def motor(seen, damping):
    def torque(t, angle, rate):
        seen.see()
        return 3.0 - damping * rate

    system, pin = bar(RJ)
    system.add(mbd.Motor("motor", pin, torque=torque))
    return system


def unresolved(seen):
    return mbd.simulate(motor(seen, FAST), 0.15, h=1e-2)


def recorded(seen):
    return mbd.simulate(motor(seen, 1.0), 0.1, h=1e-2, record_method=True)


def ledger(seen):
    result = mbd.simulate(motor(seen, 1.0), 0.1, h=1e-2, t_eval=(0.0, 0.05, 0.1))
    result.energy()
    return result


def chain(seen):
    def tau(t, q, qd):
        seen.see()
        return -60.0 * np.tanh(qd / 1e-3)

    return mbd.simulate(mbd.SerialChain.from_system(bar(RJ)[0]), 0.15, h=1e-2, tau=tau)


def stuck(seen):
    """Friction that holds: the events of sticking are watched between the steps, too."""

    def force(t, r, p, v, omega_bar):
        seen.see()
        return 4.0 * np.sin(3.0 * t), 0.0, 0.0

    system, slide = bar(lambda *names, point, axis: TJ(*names, point=point, axis=(1.0, 0.0, 0.0)))
    system.add(mbd.JointFriction("friction", slide, mbd.Coulomb(0.3), stick=True))
    system.add(mbd.PointForce("force", slide.j, point=(0.5, 0.0, 0.0), force=force))
    return mbd.simulate(system, 0.5, rtol=1e-6, atol=1e-8)


RUNS = {run.__name__: run for run in (unresolved, recorded, ledger, chain, stuck)}


@pytest.mark.parametrize("name", RUNS)
def test_the_error_of_every_call_is_told(name):
    run, seen = RUNS[name], Raises()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = run(seen)
    last, behind = seen.calls, 0
    for n in np.linspace(2, last, len(seeds(4)) + 1).astype(int).tolist():
        seen.calls, seen.n = 0, n  # the calls of the check of the model count, too: they are the same at every run
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            try:
                result = run(seen)
            except LookupError as error:
                assert SAID in str(error)
                assert any("raised by" in note for note in error.__notes__) or name == "chain"
                continue
            except mbd.ModelError as error:
                assert SAID in str(error)
                continue
        behind += 1
        told = [*map(str, result.warnings), *(str(one.message) for one in issued)]
        assert any(SAID in text for text in told), f"call {n} of {last}"
        assert result.success and np.array_equal(result.t, whole.t)
        assert np.array_equal(getattr(result, "y", result.t), getattr(whole, "y", whole.t))
    assert behind > 0 or name == "stuck"
