"""Errors by group: known differences come out as written, each over its scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import bricard, double_pendulum, four_bar
from haugmbd.math.euler_parameters import product
from haugmbd.study.error_groups import GROUPS, group_errors, scales_of
from joints import TJ
from tests.support.redundant_loops import loop, planar_points

ROUNDING = 1e-12
"""Of differences of order one that are put in by hand."""
BODY = 2
"""The body that is moved."""


@pytest.fixture(scope="module")
def reference():
    return mbd.simulate(four_bar().compile(), 0.2, h=0.02)


def changed(reference, part, by):
    """The reference with one part of one body changed at the third state."""
    y = reference.y.copy()
    y[3, 13 * BODY : 13 * BODY + 13][part] += by
    return replace(reference, y=y)


def test_a_result_has_no_error_against_itself(reference):
    errors = group_errors(reference, reference)
    assert errors.errors.keys() == set(GROUPS)
    assert all(errors.max(group) == 0.0 for group in GROUPS if group != "orientations")
    assert errors.max("orientations") < ROUNDING


def test_each_group_sees_its_own_difference_over_its_scale(reference):
    model, shift = reference.model, np.array([3e-4, 0.0, -4e-4])
    L = model.length
    errors = group_errors(changed(reference, slice(0, 3), shift), reference, groups=["positions", "velocities"])
    assert errors.max("positions") == pytest.approx(5e-4 / L, rel=ROUNDING * 1e4)
    assert errors.end("positions") == errors.max("velocities") == 0.0
    speed = max(np.linalg.norm(reference.v, axis=-1).max(), L * np.linalg.norm(reference.omega_bar, axis=-1).max())
    errors = group_errors(changed(reference, slice(7, 10), shift), reference)
    assert errors.max("velocities") == pytest.approx(5e-4 / speed, rel=ROUNDING * 1e4)
    errors = group_errors(changed(reference, slice(10, 13), shift), reference)
    assert errors.max("velocities") == pytest.approx(5e-4 * L / speed, rel=ROUNDING * 1e4)
    assert errors.max("positions") == 0.0
    energy = reference.energy()
    moved = changed(reference, slice(7, 10), shift)
    gap = np.abs(moved.energy().kinetic - energy.kinetic).max()
    exchanged = max(energy.kinetic.max(), np.ptp(energy.potential))
    assert group_errors(moved, reference).max("energy") == pytest.approx(gap / exchanged, rel=1e-6)


@pytest.mark.parametrize("angle", [1e-9, 0.3, 3.0])
def test_orientation_errors_are_angles_whatever_the_sign_and_length_of_p(reference, angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    p = reference.y[3, 13 * BODY + 3 : 13 * BODY + 7]
    turned = -1.001 * product(p, np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]))
    errors = group_errors(changed(reference, slice(3, 7), turned - p), reference, groups="orientations")
    assert errors.max("orientations") == pytest.approx(angle, rel=1e-6)  # rounding of p is 1e-16 of 1e-9


def test_multipliers_and_reactions_are_measured_against_those_of_the_reference(reference):
    other = mbd.simulate(reference.model, 0.2, h=0.02, formulation=mbd.NewtonEuler(), stabilization=None)
    errors = group_errors(other, reference)
    powers = {"m": 1, "m2": 2}
    units = np.array([reference.model.length ** powers.get(label.unit, 0) for label in reference.model.labels])
    gap = np.abs((other.lam - reference.lam) * units).max() / np.abs(reference.lam * units).max()
    assert errors.max("multipliers") == pytest.approx(gap, rel=1e-9)
    L, largest, worst = reference.model.length, 0.0, 0.0
    for name in reference.model.joints:
        mine, right = other.reaction(name, frame="joint"), reference.reaction(name, frame="joint")
        largest = max(largest, np.abs(right.force).max(), np.abs(right.torque).max() / L)
        worst = max(worst, np.abs(mine.force - right.force).max(), np.abs(mine.torque - right.torque).max() / L)
    assert errors.max("reactions") == pytest.approx(worst / largest, rel=1e-9)


@pytest.mark.slow
def test_reactions_that_are_not_unique_are_left_out():
    """Four parallel pins: what DropDependentRows and MinimumNorm share differently does not count, what is unique does."""
    model = loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4).compile()
    one, other = (mbd.simulate(model, 0.05, h=0.01, redundancy=rule) for rule in (mbd.DropDependentRows(), mbd.MinimumNorm()))
    errors = group_errors(one, other)
    assert errors.max("multipliers") > 1e-3
    assert errors.max("reactions") < 1e-9
    assert errors.scales["reactions"] > 1.0


def test_where_no_reaction_is_unique_there_is_no_error_of_reactions_and_a_note_says_so():
    """Each hinge of Bricard's linkage shares all that it carries: what is left are torques about the hinges, which are rounding."""
    one, other = (mbd.simulate(bricard(), 0.05, h=0.01, formulation=f) for f in (mbd.NewtonEuler(), mbd.UdwadiaKalaba()))
    errors = group_errors(one, other)
    assert np.isnan(errors.errors["reactions"]).all()
    assert "no component of a reaction that a joint of 'Bricard' carries is unique" in errors.notes["reactions"]
    assert max(errors.max(group) for group in GROUPS if group != "reactions") < 1e-9


def test_scales_that_are_rounding_count_as_one():
    """A mass that hangs at rest on a spring: 1e-16 m/s over 1e-16 m/s is no error of 100 percent."""
    system = mbd.System("at rest", gravity=(0, 0, -9.81))
    mass = system.add(mbd.Body("mass", 3.0, (0.1, 0.2, 0.3), r=(0.3, 0.4, -1.2)))
    system.add(TJ("guide", system.ground, mass, point=(0.3, 0.4, 0), axis=(0, 0, 1)))
    spring = {"point_i": (0.3, 0.4, 0.1), "point_j": (0.3, 0.4, -1.2)}
    system.add(mbd.TSDA("spring", system.ground, mass, **spring, k=700.0, l0=1.3 - 3.0 * 9.81 / 700.0))
    one, other = (mbd.simulate(system, 1.0, h=h) for h in (0.01, 0.02))
    assert 0.0 < np.abs(other.v).max() < 1e-13  # it does move, by rounding
    errors = group_errors(one, other)
    assert errors.scales["velocities"] == errors.scales["energy"] == 1.0
    assert max(errors.max(group) for group in GROUPS) < 1e-12


def test_the_reference_is_interpolated_where_it_has_no_state(reference):
    finer = mbd.simulate(reference.model, 0.2, h=0.01)
    between = group_errors(finer, mbd.simulate(reference.model, 0.2, rtol=1e-11, atol=1e-13))
    stored = group_errors(finer, mbd.simulate(reference.model, 0.2, rtol=1e-11, atol=1e-13, t_eval=finer.t))
    for group in GROUPS:
        assert between.max(group) == pytest.approx(stored.max(group), rel=0.1, abs=1e-11)
    chosen = group_errors(finer, reference, at=[2, 4])
    assert chosen.t.tolist() == finer.t[[2, 4]].tolist()


def test_outputs_are_measured_over_their_largest_value(reference):
    def x(result):
        return result["rocker"].r[:, 0]

    errors = group_errors(changed(reference, slice(0, 3), 0.0), reference, outputs={"x": x, "2 x": lambda r: 2.0 * x(r) + 1.0})
    assert errors.max("x") == errors.max("2 x") == 0.0
    assert scales_of(reference, outputs={"x": x})["x"] == np.abs(x(reference)).max()


def test_bad_input_is_refused(reference):
    with pytest.raises(mbd.UsageError, match=r"unknown group 'position' \(did you mean 'positions'"):
        group_errors(reference, reference, groups=["position"])
    with pytest.raises(mbd.UsageError, match="output 'energy' has the name of a group"):
        group_errors(reference, reference, outputs={"energy": len})
    with pytest.raises(mbd.UsageError, match="one value for each of the 11 states"):
        group_errors(reference, reference, outputs={"n": len})
    with pytest.raises(mbd.UsageError, match="must return numbers"):
        group_errors(reference, reference, outputs={"n": lambda result: result})
    with pytest.raises(mbd.UsageError, match="must be a name and a function"):
        group_errors(reference, reference, outputs={"n": 3})
    with pytest.raises(mbd.UsageError, match="outputs = 3 must be a dict"):
        group_errors(reference, reference, outputs=3)
    with pytest.raises(mbd.UsageError, match="a result of another model: 'double pendulum'"):
        group_errors(reference, mbd.simulate(double_pendulum(), 0.2, h=0.02))
    with pytest.raises(mbd.UsageError, match=r"the reference covers 0 .. 0.1 s, and errors are wanted from 0 to 0.2 s"):
        group_errors(reference, mbd.simulate(reference.model, 0.1, h=0.02))
    with pytest.raises(mbd.UsageError, match="no group 'speed'"):
        group_errors(reference, reference).end("speed")
