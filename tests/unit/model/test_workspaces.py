"""Workspaces that are used again: every evaluation is as that of a new one."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.workspace.layout import workspace_array


def states(model, rng, k=4):
    """States of other velocities, at the modelled pose."""
    start = model.state()
    for _ in range(k):
        v, w = (rng.standard_normal((model.nb + 1, 3)) for _ in range(2))
        v[0] = w[0] = 0.0
        yield start.replace(v=v, omega_bar=w, t=float(rng.uniform()))


def values(model, state):
    """Everything that is computed at a state."""
    found, rows = mbd.accelerations(model, state), mbd.evaluate(model, state)
    return np.concatenate(
        [np.ravel(x) for x in (found.v_dot, found.omega_bar_dot, found.lam, rows.Phi, rows.nu, rows.gamma, rows.Phi_r, rows.PiBar)]
    )


@pytest.mark.slow
@pytest.mark.parametrize("make", [gallery.slider_crank, gallery.four_bar, gallery.governor], ids=lambda make: make.__name__)
def test_an_evaluation_leaves_no_trace_in_the_next(make, rng):
    model = make().compile()
    given = list(states(model, rng))
    alone = [values(make().compile(), state) for state in given]
    for _ in range(2):
        for state, wanted in zip(given, alone, strict=True):
            np.testing.assert_array_equal(values(model, state), wanted)
    assert len(model._idle) == 1


@pytest.mark.slow
def test_threads_do_not_share_a_workspace(rng):
    model = gallery.slider_crank().compile()
    given = list(states(model, rng, 8))
    wanted = [values(model, state) for state in given]
    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(lambda state: values(model, state), given * 50)):
            np.testing.assert_array_equal(found, wanted[k % len(given)])


def test_a_borrowed_workspace_is_as_new():
    model = gallery.slider_crank().compile()
    pack = model.borrow()
    pack.work[:] = np.nan
    model.give_back(pack)
    again = model.borrow()
    assert again is pack
    np.testing.assert_array_equal(again.work, model.pack().work)


def test_a_model_that_was_evaluated_can_be_pickled_and_copied():
    model = gallery.slider_crank().compile()
    state = model.state()
    wanted = values(model, state)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert not vars(twin).keys() & {"_idle", "_new_work"}
        np.testing.assert_array_equal(values(twin, pickle.loads(pickle.dumps(state))), wanted)


def test_a_state_is_looked_at_for_each_model():
    """A sound state of one model is refused by another one, and a faulty one every time."""
    crank, bars = gallery.slider_crank().compile(), gallery.pendulum().compile()
    state = crank.state()
    mbd.accelerations(crank, state)
    with pytest.raises(mbd.ModelError, match="expected"):
        mbd.accelerations(bars, state)
    p = state.p.copy()
    p[1] *= 1.01
    for _ in range(2):
        with pytest.raises(mbd.ModelError, match=r"\|p\| of body"):
            mbd.accelerations(crank, state.replace(p=p))


def test_the_flat_state_that_a_user_gets_is_a_copy():
    state = gallery.slider_crank().compile().state()
    state.y[:] = 0.0
    assert state.y.any()


@pytest.mark.parametrize("make", [gallery.slider_crank, gallery.four_bar, gallery.governor], ids=lambda make: make.__name__)
def test_an_evaluator_gives_the_same_numbers(make, rng):
    model = make().compile()
    evaluator = model.evaluator()
    for state in states(model, rng):
        found, rows = mbd.accelerations(model, state), mbd.evaluate(model, state)
        assert evaluator(state.t, state.y) is evaluator
        for name in ("v_dot", "omega_bar_dot", "lam"):
            np.testing.assert_array_equal(getattr(evaluator, name), getattr(found, name))
        for name in ("Phi", "nu", "gamma"):
            np.testing.assert_array_equal(getattr(evaluator, name), getattr(rows, name))
    assert evaluator.v_dot.base is not None


def test_an_evaluator_refuses_what_it_cannot_read():
    model = gallery.four_bar().compile()
    evaluator, y = model.evaluator(), model.state().y
    for bad in (y[:-1], y.astype(np.float32), y.tolist(), np.stack([y, y], axis=1)[:, 0], None):
        with pytest.raises(mbd.UsageError, match="contiguous, writable array of"):
            evaluator(0.0, bad)
    with pytest.raises(mbd.UsageError, match="cannot be pickled"):
        pickle.dumps(evaluator)


def test_an_evaluator_tells_of_a_users_fault():
    system = mbd.System("pushed")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0)))
    system.add(mbd.PointForce("push", body, force=lambda t, *_: np.array([1.0, 0.0, 0.0]) if t < 1.0 else np.full(3, np.nan)))
    evaluator = system.compile().evaluator()
    y = system.compile().state().y
    assert evaluator(0.0, y).v_dot[1, 0] == 1.0
    with pytest.raises(mbd.SimulationError, match="push"):
        evaluator(2.0, y)
    assert evaluator(0.5, y).v_dot[1, 0] == 1.0


def test_a_pack_is_taken_apart_once(monkeypatch):
    model = gallery.four_bar().compile()
    pack = model.pack()
    address = pack.address
    assert pack._replace(work=pack.work.copy()).address != address
    assert pack.address == address
    assert workspace_array(pack, "SOLUTION").base is not None
