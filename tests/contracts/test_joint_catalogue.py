"""The catalogue of joints: what the package exports, the joints of the book, names, and frames."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import joints
from haugmbd import Body
from haugmbd.constraints import Joint
from haugmbd.system.system import System
from tests.support.samples import (
    ROUNDING,
    geometry,
    make_joint,
)


def test_the_catalogue_holds_every_joint_that_the_package_exports():
    exported = {getattr(joints, name) for name in joints.__all__}
    classes = {x for x in exported if inspect.isclass(x) and issubclass(x, Joint) and not inspect.isabstract(x)}
    assert classes == {
        *joints.CATALOGUE,
        *joints.COUPLINGS,
        *joints.ROLLING,
        *joints.GUIDES,
        *joints.ROPES,
        *joints.MOTIONS,
        *joints.FREEWHEELS,
    }
    assert len(set(joints.CATALOGUE)) == len(joints.CATALOGUE)


@pytest.mark.parametrize(
    ("short", "kinds"),
    [
        ("SJ", ["CD"] * 3),
        ("UJ", ["CD"] * 3 + ["DP1"]),
        ("CJ", ["DP1"] * 2 + ["DP2"] * 2),
        ("RJ", ["CD"] * 3 + ["DP1"] * 2),
        ("TJ", ["DP1"] * 2 + ["DP2"] * 2 + ["DP1"]),
    ],
)
def test_the_five_joints_of_the_book_are_composed_as_its_table_says(short, kinds, crank, rod, rng):
    joint, _ = make_joint(getattr(joints, short), "sample", crank, rod, geometry(rng))
    assert [p.kind for p in joint.primitives()] == kinds


def test_a_fixed_joint_without_a_point_sits_at_the_centre_of_mass(crank, rod):
    assert np.abs(joints.Fixed("weld", crank, rod).frame_i.point - rod.r).max() < ROUNDING
    assert np.abs(joints.Fixed("weld", crank, Body.ground()).frame_j.point - crank.r).max() < ROUNDING


def test_long_names_are_the_same_classes():
    long = dict(Spherical="SJ", Universal="UJ", Cylindrical="CJ", Revolute="RJ", Translational="TJ")
    long |= dict(Distance="SS", RevoluteSpherical="RS", UniversalSpherical="US")
    for name, short in long.items():
        assert getattr(joints, name) is getattr(joints, short)


def test_a_joint_in_a_system_is_found_by_its_name(crank, rod):
    system = System("sample")
    for part in (crank, rod, joints.RJ("pin", crank, rod, point=(0, 0, 0), axis=(0, 1, 0))):
        system.add(part)
    entry = system.compile().joints["pin"]
    assert (entry.kind, entry.rows.tolist(), entry.i, entry.j) == ("RJ", [0, 1, 2, 3, 4], 1, 2)


def test_an_axis_given_backwards_keeps_its_rows_and_turns_the_frame(crank, rod):
    pin = joints.RJ("pin", crank, rod, point=(1, 2, 3), axis=(0, 0, 1))
    v = pin.vectors
    back = joints.RJ.from_vectors("pin", crank, v.s_bar_i, v.a_bar_i, v.b_bar_i, rod, v.s_bar_j, -v.c_bar_j)
    assert np.array_equal(back.primitives()[-1].a_bar_j, -v.c_bar_j)
    assert np.abs(back.frame_j.A - pin.frame_j.A).max() < ROUNDING
