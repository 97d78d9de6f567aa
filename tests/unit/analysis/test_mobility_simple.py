"""Bodies on one joint of one freedom: their motions are those of the joint, and the same as those found from the rows."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.analysis.mobility import instantaneous_motions
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.model.compiling import row_pattern
from haugmbd.model.labels import JointEntries
from joints import CJ, RJ, SJ, TJ

ROUNDING = 1e-9
"""Of an elimination and an SVD of rows of a few metres."""
OPEN = 1e-3
"""[m] A gap of a joint far above rounding, and below the tolerance of none."""


def tree(seed: int) -> mbd.System:
    """Hinges, slides and other joints on one another in any pose, with the body as the first or as the second body of its joint."""
    rng = np.random.default_rng(seed)
    system = mbd.System(f"tree {seed}")
    for k in range(8):
        pose = {"r": rng.normal(size=3), "p": from_axis_angle(rng.normal(size=3), rng.normal())}
        body = system.add(mbd.Body(f"body {k}", 1.0, (0.1, 0.2, 0.25), **pose))
        other = system.bodies[int(rng.integers(0, k + 1))]
        pair = (other, body) if rng.random() < 0.5 else (body, other)
        kind = (RJ, TJ, RJ, TJ, CJ, SJ)[int(rng.integers(6))]
        axis = {} if kind is SJ else {"axis": rng.normal(size=3)}
        system.add(kind(f"joint {k}", *pair, point=rng.normal(size=3), **axis))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_they_are_those_found_from_the_rows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = mbd.mobility(tree(seed))
    monkeypatch.setattr(instantaneous_motions, "simple_motions", lambda *_: {})
    usual = mbd.mobility(tree(seed))
    assert [(m.joint, m.freedom, m.base, m.carried) for m in quick.motions] == [
        (m.joint, m.freedom, m.base, m.carried) for m in usual.motions
    ]
    np.testing.assert_allclose(quick.basis, usual.basis, atol=ROUNDING)
    assert str(quick) == str(usual)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_an_open_joint_moves_as_its_rows_say(seed: int) -> None:
    model = tree(seed).compile()
    state = model.state()
    r = state.r.copy()
    r[1:] += OPEN * np.random.default_rng(seed).normal(size=(model.nb, 3))
    report = mbd.mobility(model, replace(state, r=r))
    Phi_q = mbd.evaluate(model, report.state).Phi_q.toarray()
    u = report.basis[:, 1:].reshape(len(report.motions), -1)
    assert len(u) == report.degrees_of_freedom
    np.testing.assert_allclose(Phi_q @ u.T, 0.0, atol=ROUNDING * np.abs(u).max())


def test_motions_are_a_sequence() -> None:
    motions = mbd.mobility(tree(0)).motions
    assert motions[0] is motions[0]
    assert [m.freedom for m in motions[:2]] == [m.freedom for m in list(motions)[:2]]
    assert motions[-1].joint == motions[len(motions) - 1].joint


@pytest.mark.parametrize("seed", range(2))
def test_no_row_is_eliminated_for_a_chain(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    system, body = mbd.System("chain"), None
    for k in range(6):
        before = body or system.ground
        body = system.add(mbd.Body(f"body {k}", 1.0, (0.1, 0.2, 0.25), r=rng.normal(size=3)))
        system.add(RJ(f"joint {k}", before, body, point=rng.normal(size=3), axis=rng.normal(size=3)))

    def refuse(*_: object) -> None:
        raise AssertionError("rows are eliminated")

    monkeypatch.setattr(instantaneous_motions, "random_motions", refuse)
    assert len(mbd.mobility(system).motions) == 6


def test_a_report_of_many_joints_is_that_of_their_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joints of one class are read at once; the report is that of joints read one by one, and survives a pickle."""
    system = mbd.System("comb")
    rng = np.random.default_rng(3)
    for k in range(12):
        body = system.add(mbd.Body(f"body {k}", 1.0, (0.1, 0.2, 0.25), r=rng.normal(size=3)))
        other = system.bodies[int(rng.integers(0, k + 1))]
        system.add(RJ(f"joint {k}", other, body, point=rng.normal(size=3), axis=rng.normal(size=3)))
    system.add(SJ("loop", system.bodies[3], system.bodies[9], point=rng.normal(size=3)))
    many = mbd.mobility(system)
    assert isinstance(system.compile().joints, JointEntries)
    monkeypatch.setattr(row_pattern, "LEAST", 1000)
    assert isinstance(system.compile().joints, dict)
    few = mbd.mobility(system)
    assert str(many) == str(few)
    assert many.reactions == few.reactions
    again = pickle.loads(pickle.dumps(many))
    for other in (few, again):
        np.testing.assert_array_equal(many.basis, other.basis)
        assert list(map(str, many.motions)) == list(map(str, other.motions))
