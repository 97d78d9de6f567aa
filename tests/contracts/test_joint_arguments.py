"""Wrong arguments of every joint: faults that name them all, and never a crash."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import joints
from haugmbd import Body, Fault, UsageError, evaluate
from tests.support.samples import (
    ROUNDING,
    by_class,
    by_plain_class,
    carrier_classes,
    drives,
    geometry,
    make_joint,
    model_of,
    vectors_of,
)

BAD_VECTORS = {"text": "up", "None": None, "short": (1.0, 2.0), "NaN": (0.0, np.nan, 1.0), "infinite": (np.inf, 0.0, 0.0)}
BAD_NUMBERS = {"text": "far", "list": [1.0, 2.0], "NaN": np.nan}


def bad_values(name, parameter):
    """What cannot be meant by an argument of this name."""
    if name in ("name", "i", "j", "joint"):
        return {}
    if name in ("f", "distance"):
        return BAD_NUMBERS
    zero = {} if name.startswith(("point", "s_")) else {"zero": (0.0, 0.0, 0.0)}
    bad = BAD_VECTORS | zero
    return {label: value for label, value in bad.items() if not (value is None and parameter.default is None)}


def bad_cases(make_of):
    return [
        pytest.param(cls, name, bad, id=f"{cls.__name__}-{name}-{label}")
        for cls in joints.CATALOGUE
        if make_of(cls) is not None
        for name, parameter in inspect.signature(make_of(cls)).parameters.items()
        for label, bad in bad_values(name, parameter).items()
    ]


def check_faults(faults):
    assert faults
    for fault in faults:
        assert isinstance(fault, Fault)
        assert "'sample'" in fault.where
        assert fault.what
        assert fault.remedy.endswith(".")
    assert len(faults) == 1, "one mistake is one fault"


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "name", "bad"), bad_cases(lambda cls: cls))
def test_bad_global_geometry_is_a_fault_and_never_raises(cls, name, bad, crank, rod, rng):
    known = dict(name="sample", i=crank, j=rod, f=0.0) | geometry(rng)
    if drives(cls):
        known["joint"], _ = make_joint(carrier_classes()[cls][0], "carrier", crank, rod, geometry(rng))
    known[name] = bad
    asked = [n for n, p in inspect.signature(cls).parameters.items() if n in known and (n == name or p.default is p.empty)]
    check_faults(cls(**{n: known[n] for n in asked}).faults())


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "name", "bad"), bad_cases(lambda cls: None if drives(cls) else cls.from_vectors))
def test_bad_vectors_are_a_fault_and_never_raise(cls, name, bad, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    known = vectors_of(joint) | {name: bad}
    asked = inspect.signature(cls.from_vectors).parameters
    check_faults(cls.from_vectors(**{n: known[n] for n, p in asked.items() if n == name or p.default is p.empty}).faults())


@by_class
def test_all_mistakes_are_reported_at_once(cls, crank, rod, rng):
    values = {name: (np.nan, 0.0, 0.0) for name in geometry(rng)}
    vectors = [n for n, p in inspect.signature(cls).parameters.items() if n in values and p.default is p.empty]
    if drives(cls) or not vectors:
        pytest.skip("needs no vectors")
    faults = make_joint(cls, "sample", crank, rod, {name: values[name] for name in vectors})[0].faults()
    assert [name for fault in faults for name in vectors if fault.what.startswith(f"{name} = ")] == vectors


@by_plain_class
def test_a_faulty_body_is_not_blamed_on_the_joint(cls, rod, rng):
    crank = Body("crank", 1.0, (1, 1, 1), p=(0, 0, 0, 0), r="here")
    assert crank.faults()
    values = geometry(rng)
    joint, _ = make_joint(cls, "sample", crank, rod, values)
    assert joint.faults() == ()
    joint, _ = make_joint(cls, "sample", rod, crank, values)
    assert joint.faults() == ()


@by_plain_class
def test_a_name_is_not_a_body(cls, rod, rng):
    with pytest.raises(UsageError, match=r"needs two bodies, got 'crank'. Give the object that system.add"):
        make_joint(cls, "sample", "crank", rod, geometry(rng))


@by_class
def test_a_joint_between_a_body_and_itself_does_not_crash(cls, rod, rng):
    joint, _ = make_joint(cls, "sample", rod, rod, geometry(rng))
    assert joint.i is joint.j
    assert isinstance(joint.faults(), tuple)


def test_a_universal_joint_needs_crossed_axes(crank, rod):
    (fault,) = joints.UJ("hooke", crank, rod, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(0, 0, -2)).faults()
    assert str(fault).startswith("joint 'hooke': axis_i (on 'crank') and axis_j (on 'rod') are parallel")


def test_an_oblique_universal_joint_keeps_its_axes_so_that_the_gap_can_be_seen(crank, rod):
    joint = joints.UJ("hooke", crank, rod, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(0, 0.8, 0.6))
    assert joint.faults() == ()
    assert evaluate(model_of(joint)).Phi[3] == pytest.approx(0.6, abs=ROUNDING)


@pytest.mark.parametrize(
    "cls", [joints.Distance, joints.RevoluteSpherical, joints.UniversalSpherical], ids=lambda cls: cls.__name__
)
def test_a_distance_needs_two_points(cls, crank, rod, rng):
    values = geometry(rng)
    (fault,) = make_joint(cls, "rod", crank, rod, values | dict(point_j=values["point_i"]))[0].faults()
    assert "its two points coincide at (" in fault.what
    assert "SJ" in fault.remedy


@pytest.mark.parametrize("cls", [joints.RevoluteSpherical, joints.UniversalSpherical], ids=lambda cls: cls.__name__)
def test_an_arm_along_its_axis_is_refused(cls, crank, rod, rng):
    values = geometry(rng)
    (fault,) = make_joint(cls, "arm", crank, rod, values | dict(point_j=values["point_i"] + 2.0 * values["axis"]))[0].faults()
    assert "parallel to the axis on body 'crank'" in fault.what


@pytest.mark.parametrize("cls", [joints.TJ, joints.Fixed], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("angle", [0.0, np.pi, 0.4])
def test_the_lock_of_an_angle_needs_directions_that_are_not_parallel(cls, angle, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    known = vectors_of(joint)
    along = joint.i.A @ (np.cos(angle) * joint.frame_i.f + np.sin(angle) * joint.frame_i.g)
    known |= dict(a_bar_j=joint.j.A.T @ along)
    asked = [n for n in inspect.signature(cls.from_vectors).parameters if n != "f"]
    given = cls.from_vectors(*(known[n] for n in asked))
    if angle == 0.4:
        assert given.faults() == ()
        assert given.f.values(0.0)[0] == pytest.approx(np.cos(angle), rel=ROUNDING)
        assert np.abs(evaluate(model_of(given)).Phi).max() < ROUNDING
        return
    (fault,) = given.faults()
    assert "parallel as seen along the axis" in fault.what
