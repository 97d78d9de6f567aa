"""Ctrl-C at every line that a run executes in a callback, and at lines drawn from all others: none is lost, what was computed is kept.

No signal and no clock: a trace function raises KeyboardInterrupt at a given line, where Python may look for signals.  On the way into a
callback of compiled code it stands at the call of the callback's entry, where ctypes drops the exception.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from functools import cached_property
from inspect import CO_GENERATOR

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.compiled.ffi import Callback
from haugmbd.gallery import windows
from haugmbd.simulation.stepping.run import Run
from tests.support.runs import INTEGRATORS, KINDS, Probe, method_for, pendulum, run
from tests.support.seeds import seeds
from tests.support.with_contacts import simulate_with

STEPS = 3
"""Steps of a run, about."""
OTHERS = len(seeds(5))
"""Lines outside callbacks, and entries into callbacks, that are struck."""
ENTRY, BEGIN = Callback._enter.__code__, Run.run_under.__code__
"""By which compiled code enters Python;  where a run begins: before it Ctrl-C leaves nothing to keep."""


class Tracer:
    """Counts lines and calls by their place: in a run, and in its callbacks.  `strike` = (place, n): raises at the n-th time of a place."""

    def __init__(self, strike=None):
        self.strike, self.struck = strike, False
        self.seen, self.inside = Counter(), set()
        self.begin = self.entry = None
        self.wanted = None if strike is None else {BEGIN, ENTRY, strike[0][0]}

    def __call__(self, frame, event, argument):
        if self.wanted is not None and frame.f_code not in self.wanted:
            return None
        if event == "call":
            self.begin = frame if frame.f_code is BEGIN else self.begin
            self.entry = frame if frame.f_code is ENTRY else self.entry
        elif event == "return":
            self.begin = None if frame is self.begin else self.begin
            self.entry = None if frame is self.entry else self.entry
        if self.begin is not None and event in ("call", "line"):
            place = (frame.f_code, frame.f_lineno, event)
            self.seen[place] += 1
            if self.entry is not None:
                self.inside.add(place)
            if self.strike == (place, self.seen[place]):
                self.struck = True
                raise KeyboardInterrupt
        return self

    @contextmanager
    def watching(self):
        """Trace the runs in here, each from its beginning on."""
        before, begin = sys.gettrace(), Run.run_under

        def run_under(*given):
            sys.settrace(self)
            try:
                return begin(*given)
            finally:
                sys.settrace(before)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Run, "run_under", run_under)
            yield


def ending(make, strike):
    """How a run ends that is struck so: "raised", "kept", "lost"; "passed by" where it does not come there so often."""
    tracer = Tracer(strike)
    try:
        with np.errstate(), tracer.watching():
            result = make()
    except KeyboardInterrupt:
        return "raised"
    if not tracer.struck:
        return "passed by"
    if not result.interrupted:
        return "lost"
    assert len(result.t) > 0, "at least the initial state is kept"
    for segment in getattr(result, "segments", [result]):
        states = segment.y if hasattr(segment, "y") else np.hstack([segment.q, segment.qd])
        assert len(segment.t) == len(states)
        assert np.isfinite(states).all()
        assert (np.diff(segment.t) > 0.0).all()
    return "kept"


def thrown_away(code, line, event):
    """Whether this may be a generator that is closed, which is traced as a call: Python handles no signal there, and drops errors.

    One that is resumed is struck at its next line.
    """
    return event == "call" and bool(code.co_flags & CO_GENERATOR)


def holds_a_lock(code):
    """Whether this is the lock of a cached property: a trace may raise where `with` lets it go, a signal is not handled there.

    The lock would stay closed, and every other thread of the process would wait for it.
    """
    return code is cached_property.__get__.__code__


def strikes_of(make, rng, others):
    """Each line of a callback at its first time; so many drawn from all others, and so many entries into callbacks, at any time."""
    make()
    tracer = Tracer()
    with tracer.watching():
        make()
    for place in [place for place in tracer.seen if holds_a_lock(place[0])]:
        del tracer.seen[place]
    inside = [place for place in tracer.seen if place in tracer.inside]
    outside = [place for place in tracer.seen if place not in tracer.inside and not thrown_away(*place)]
    entries = [(place, n + 1) for place in inside if place[0] is ENTRY and place[2] == "call" for n in range(tracer.seen[place])]
    strikes = [(place, 1) for place in inside]
    for k in rng.permutation(len(outside))[:others].tolist():
        strikes.append((outside[k], int(rng.integers(tracer.seen[outside[k]])) + 1))
    return strikes + [entries[k] for k in rng.permutation(len(entries))[:others].tolist()]


def assert_none_is_lost(make, rng, monkeypatch, others=OTHERS):
    monkeypatch.setattr(sys, "unraisablehook", lambda args: None)  # ctypes tells of each that it drops
    found = Counter()
    for strike in strikes_of(make, rng, others):
        (code, line, event), n = strike
        how = ending(make, strike)
        assert how != "lost", f"Ctrl-C is lost at the {event} of {code.co_qualname}, line {line} of {code.co_filename}, time {n}"
        found[how] += 1
    assert found["kept"] > 2 * found["raised"]
    assert found["passed by"] <= 0.1 * found.total()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("force", "RK4"),
        ("force", "SciPySolver RK45"),
        ("driver", "SciPySolver DOP853"),
        ("driver", "SemiImplicitEuler"),
        ("jacobian", "BDF"),
        ("event", "DormandPrince"),
        ("formulation", "RK4"),
        ("tau", "RK4"),
    ],
)
def test_no_interruption_is_lost(kind, name, rng, monkeypatch):
    probe = Probe()
    model, method = KINDS[kind].make(probe), method_for(INTEGRATORS[name])
    assert_none_is_lost(lambda: run(kind, model, probe, method, 0.01 * STEPS), rng, monkeypatch)


@pytest.mark.slow
def test_none_is_lost_where_a_second_rate_is_asked_for(rng, monkeypatch):
    probe = Probe()
    model, method = KINDS["force"].make(probe), mbd.GeneralizedAlpha(rho=0.8)
    assert_none_is_lost(lambda: run("force", model, probe, method_for(method), 0.01 * STEPS), rng, monkeypatch)


@pytest.mark.slow
def test_none_is_lost_in_a_driver_that_numpy_computes(rng, monkeypatch):
    model = pendulum(driver=lambda t: 0.1 * (1.0 - np.cos(t)) if t < 1.0 else 0.1 * (1.0 - np.cos(t)))
    assert_none_is_lost(lambda: mbd.simulate(model, 0.01 * STEPS, h=0.01), rng, monkeypatch)


@pytest.mark.slow
def test_none_is_lost_while_a_singular_position_is_crossed(rng, monkeypatch):
    system = windows(1, lean=1.45, speed=2.0)
    system.add(mbd.PointForce("push", system.bodies[1], force=lambda t, r, p, v, omega_bar: (0.0, 0.0, -0.1 * v[2])))
    model = system.compile()

    def make():
        return mbd.simulate(model, 0.15, h=0.02)

    assert make().singular_crossings
    assert_none_is_lost(make, rng, monkeypatch)


@pytest.mark.slow
def test_none_is_lost_between_impacts(rng, monkeypatch):
    system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, 0.1), v=(0.0, 0.0, -1.0)))
    system.add(mbd.PointForce("wind", ball, force=lambda t, r, p, v, omega_bar: (0.1, 0.0, -0.1 * v[2])))
    floor = mbd.Contact("floor", system.ground, ball, point=(0, 0, 0), normal=(0, 0, 1), restitution=0.0)

    def make():
        return simulate_with(system, 0.2, contacts=[floor], h=0.02)

    assert make().impacts
    assert_none_is_lost(make, rng, monkeypatch)
