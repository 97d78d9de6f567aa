"""Which components of reactions are unique: as `mobility` says, and by two rules for redundant rows that differ in the others only."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.diagnostics import joint_reactions as reaction_uniqueness
from haugmbd.diagnostics import violation as rows_over_time
from haugmbd.diagnostics.joint_reactions import COMPONENTS
from joints import RJ
from tests.support.redundant_loops import bennett, loop, planar_points

SAME = 1e-8  # of reactions of size 1 to 100 by two rules, whose least-norm solutions are refined to about 1e-11
DIFFERENT = 1e-3


def planar():
    return loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4)


@pytest.fixture(scope="module", params=[planar, bennett], ids=["planar", "Bennett"])
def runs(request):
    system = request.param()
    return [mbd.simulate(system, 0.1, h=2e-3, redundancy=rule) for rule in (mbd.DropDependentRows(), mbd.MinimumNorm())]


@pytest.mark.slow
def test_flags_are_those_of_mobility(runs):
    report = mbd.mobility(runs[0].model)
    for name in runs[0].model.joints:
        assert runs[0].reaction(name, frame="joint").unique == report.reaction(name).unique


@pytest.mark.slow
@pytest.mark.parametrize("frame", ["ground", "body", "joint"])
@pytest.mark.parametrize("on", ["i", "j"])
def test_unique_components_do_not_depend_on_the_rule(runs, frame, on):
    dropped, least = runs
    doubtful = 0
    for name in dropped.model.joints:
        one, other = dropped.reaction(name, on=on, frame=frame), least.reaction(name, on=on, frame=frame)
        assert one.unique == other.unique
        gap = np.abs(np.hstack([one.force - other.force, one.torque - other.torque])).max(axis=0)
        assert gap[np.array(one.unique)].max(initial=0.0) < SAME
        doubtful += int(np.sum(gap[~np.array(one.unique)] > DIFFERENT))
        assert one.shared == tuple(c for c, unique in zip(COMPONENTS, one.unique, strict=True) if not unique)
    assert doubtful > 0


def test_the_text_and_a_single_state_say_it():
    system = planar()
    result = mbd.simulate(system, 0.01, h=1e-3)
    name = "hinge 0"
    assert "not unique: force z" in repr(result.reaction(name))
    assert mbd.reaction(result.model, result.state(), name, frame="joint").unique == result.reaction(name, frame="joint").unique


def ladder(n):
    """A row of n parallelograms on pins: three rows of each depend on the others."""
    system = mbd.System("ladder", gravity=(0, 0, -9.81))
    posts = [system.add(mbd.Body(f"post {k}", 1.0, (0.1, 0.1, 0.01), r=(k, 0, 0.5))) for k in range(n + 1)]
    for k, post in enumerate(posts):
        system.add(RJ(f"foot {k}", system.ground, post, point=(k, 0, 0), axis=(0, 1, 0)))
    for k in range(n):
        bar = system.add(mbd.Body(f"bar {k}", 1.0, (0.01, 0.1, 0.1), r=(k + 0.5, 0, 1)))
        system.add(RJ(f"left {k}", posts[k], bar, point=(k, 0, 1), axis=(0, 1, 0)))
        system.add(RJ(f"right {k}", bar, posts[k + 1], point=(k + 1, 0, 1), axis=(0, 1, 0)))
    return system.compile()


def test_rows_are_not_evaluated_again_for_every_joint(monkeypatch):
    """Each joint took all self-stresses at all rows: time grew with the cube of a ladder, 4 s for 130 bodies."""
    evaluated, over_time = [], rows_over_time.rows_over_time

    def counted(model, t, y, **more):
        evaluated.append(len(t))
        return over_time(model, t, y, **more)

    for module in (rows_over_time, reaction_uniqueness):
        monkeypatch.setattr(module, "rows_over_time", counted)
    states = []
    for n in (2, 8):
        model = ladder(n)
        result = mbd.simulate(model, 0.05, h=1e-2)
        evaluated.clear()
        shared = {name: result.reaction(name).shared for name in model.joints}
        assert len(shared[f"foot {n}"]) > 0
        states.append(sum(evaluated))
    assert states[0] == states[1]
