"""Limits are drawn where they are: the pointer meets the end of its sector, scale or cone where the limit is met."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import from_axis_angle, product, rotation_matrix
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import of_model, of_system
from joints import RJ, SJ, TJ, UJ

ROUNDING = 1e-12
LOWER, UPPER, SWING = -0.4, 1.1, 0.7
AXIS, ACROSS = np.array([0.6, 0.0, 0.8]), np.array([0.8, 0.0, -0.6])
POINT = np.array([0.1, 0.2, 0.3])


def limited(kind, at=0.0):
    """Two turned bodies with a limited joint, whose second one has moved to the coordinate `at` since the pose of the limit's model."""
    system = mbd.System("limited")
    turned = from_axis_angle((1.0, 2.0, 3.0), 0.7)
    first = system.add(mbd.Body("first", 1.0, (0.1,) * 3, r=(0.3, 0.3, 0.3), p=turned))
    second = system.add(mbd.Body("second", 1.0, (0.1,) * 3, r=(0.5, -0.2, 0.9), p=from_axis_angle((3.0, 1.0, 0.0), -0.4)))
    both = {"k": 1e3}
    moves = AXIS
    if kind == "slide":
        joint = system.add(TJ("joint", first, second, point=POINT, axis=AXIS))
    elif kind == "pin":
        joint = system.add(RJ("joint", first, second, point=POINT, axis=AXIS))
    elif kind in ("cone", "twist"):
        joint = system.add(SJ("joint", first, second, point=POINT))
    else:
        joint = system.add(UJ("joint", first, second, point=POINT, axis_i=AXIS, axis_j=ACROSS))
        moves = AXIS if kind == "cross 1" else ACROSS
    if kind == "cone":
        moves = ACROSS
        system.add(mbd.ConeLimit("limit", joint, axis=AXIS, angle=SWING, **both))
    elif kind == "twist":
        system.add(mbd.TwistLimit("limit", joint, axis=AXIS, lower=LOWER, upper=UPPER, **both))
    else:
        q = joint.coordinate("angle", int(kind[-1])) if kind.startswith("cross") else joint
        system.add(mbd.JointLimit("limit", q, lower=LOWER, upper=UPPER, **both))
    mechanism = of_system(system)
    r, p = mechanism.r.copy(), mechanism.p.copy()
    if kind == "slide":
        r[2] += at * AXIS
    else:
        q = from_axis_angle(moves, at)
        p[2] = product(q, p[2])
        r[2] = POINT + rotation_matrix(q) @ (r[2] - POINT)
    return system, mechanism, r, p


def lines_at(mechanism, r, p, g=0.01):
    """Return the lines of a limit and its pointer, global."""
    (load,) = mechanism.loads
    placed = [(line.pointer, r[line.body] + line.points(g) @ rotation_matrix(p[line.body]).T) for line in load.lines]
    return [points for pointer, points in placed if not pointer], next(points for pointer, points in placed if pointer)


@pytest.mark.parametrize(("limit", "end"), [(LOWER, 0), (UPPER, -1)])
@pytest.mark.parametrize("kind", ["pin", "cross 1", "cross 2", "twist"])
def test_the_pointer_meets_the_end_of_the_sector_where_the_limit_is_met(kind, limit, end):
    _, *moved = limited(kind, limit)
    (sector,), pointer = lines_at(*moved)
    radius = np.delete(sector, [0, -1], axis=0)[end] - sector[0]
    along = pointer[-1] - pointer[-2]
    assert np.abs(sector[0] - pointer[-2]).max() <= ROUNDING
    assert np.abs(radius / np.linalg.norm(radius) - along / np.linalg.norm(along)).max() <= ROUNDING


@pytest.mark.parametrize("limit", [LOWER, UPPER])
def test_the_pointer_of_a_slide_is_at_the_end_of_its_scale_where_the_limit_is_met(limit):
    _, *moved = limited("slide", limit)
    lines, pointer = lines_at(*moved)
    ends = [line.mean(axis=0) for line in lines[:2]]
    assert min(np.abs(pointer.mean(axis=0) - end).max() for end in ends) <= ROUNDING


@pytest.mark.parametrize("swing", [-SWING, SWING])
def test_the_pointer_is_on_the_rim_of_the_cone_where_the_limit_is_met(swing):
    _, *moved = limited("cone", swing)
    (rim, *generators), pointer = lines_at(*moved)
    along, axis = pointer[1] - pointer[0], rim[:-1].mean(axis=0) - pointer[0]
    assert len(generators) > 1
    assert np.arccos(along @ axis / np.linalg.norm(along) / np.linalg.norm(axis)) == pytest.approx(SWING, abs=1e-7)
    slant = rim - pointer[0]
    cosines = slant @ axis / np.linalg.norm(slant, axis=1) / np.linalg.norm(axis)
    assert np.abs(cosines - np.cos(SWING)).max() <= ROUNDING


@pytest.mark.parametrize(
    "given",
    [{"lower": -1.0}, {"upper": 2.0}, {"lower": -9.0, "upper": 40.0}, {"lower": 0.5, "upper": 1.0}, {"lower": 1.0, "upper": 0.0}],
)
@pytest.mark.parametrize("kind", [RJ, TJ])
def test_limits_of_one_side_of_many_turns_and_with_faults_are_drawn_with_finite_numbers(kind, given):
    system = mbd.System("one")
    body = system.add(mbd.Body("body", 1.0, (0.1,) * 3, r=(0.5, 0.0, 0.0)))
    joint = system.add(kind("joint", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointLimit("limit", joint, k=1.0, **given))
    (load,) = of_system(system).loads
    assert len(load.lines) >= 2
    assert all(np.isfinite(line.points(0.1)).all() for line in load.lines)


@pytest.mark.parametrize("kind", ["pin", "slide", "cone", "twist"])
def test_pages_and_pictures_have_the_lines_of_limits(kind):
    system, mechanism, r, p = limited(kind)
    assert of_model(system.compile()).loads[0].data() == mechanism.loads[0].data()
    assert '"pointer": true' in mbd.picture(system).html.replace('"pointer":true', '"pointer": true')
    drawing = Drawing(mechanism, Frames(np.zeros(1), r[None], p[None], np.ones(1, dtype=bool), ()))
    drawing.place(0)
    assert len(drawing.limits) == len(mechanism.loads[0].lines)
    assert all(len(line.get_xdata()) == len(limit.along) for limit, line in drawing.limits)
    drawing.close()
