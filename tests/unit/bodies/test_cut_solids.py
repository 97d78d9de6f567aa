"""Solids with holes, closed meshes, and bodies in frames off their centre of mass, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Body, inertia
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix

EXACT = 1e-12
"""Relative difference: rounding of a few sums."""
BOX = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
FACES = [
    (0, 1, 3),
    (0, 3, 2),
    (4, 6, 7),
    (4, 7, 5),
    (0, 4, 5),
    (0, 5, 1),
    (2, 3, 7),
    (2, 7, 6),
    (0, 2, 6),
    (0, 6, 4),
    (1, 5, 7),
    (1, 7, 3),
]


def box_mesh(size, **place):
    return mbd.Mesh.from_arrays(BOX * size, FACES, **place)


def test_a_tube_is_a_cylinder_without_its_bore():
    outer, inner = inertia.cylinder(0.2, 0.5, density=1000.0), inertia.cylinder(0.1, 0.5, density=1000.0)
    cut, tube = inertia.combine([outer], minus=[inner]), inertia.cylinder(0.2, 0.5, density=1000.0, inner_radius=0.1)
    assert cut.mass == pytest.approx(tube.mass, rel=EXACT)
    assert np.abs(cut.J_bar - tube.J_bar).max() < EXACT * np.abs(tube.J_bar).max()


def test_what_is_put_back_gives_the_whole():
    rng = np.random.default_rng(1)
    whole = inertia.box((1.0, 0.8, 0.6), density=500.0)
    hole = inertia.sphere(0.1, density=500.0).placed(0.2 * rng.normal(size=3).clip(-1, 1))
    again = inertia.combine([inertia.combine([whole], minus=[hole]), hole])
    assert again.mass == pytest.approx(whole.mass, rel=EXACT)
    assert np.abs(again.center).max() < EXACT
    assert np.abs(again.J_bar - whole.J_bar).max() < EXACT * np.abs(whole.J_bar).max()


def test_holes_that_are_none_are_refused():
    small, large = inertia.sphere(0.1, mass=1.0), inertia.sphere(0.2, mass=2.0)
    with pytest.raises(mbd.UsageError, match="2 kg are cut out of 1 kg"):
        inertia.combine([small], minus=[large])
    with pytest.raises(mbd.UsageError, match="lies outside of the parts"):
        inertia.combine([large], minus=[small.placed((5.0, 0, 0))])


@pytest.mark.parametrize("inwards", [False, True])
def test_the_solid_within_a_box_of_triangles(inwards):
    size, place = np.array([0.3, 0.5, 0.2]), {"center": (1.0, 2.0, 3.0), "p": from_axis_angle(np.array([0.6, 0, 0.8]), 0.7)}
    shape = box_mesh(size, **place)
    if inwards:
        shape = mbd.Mesh.from_arrays(BOX * size, [face[::-1] for face in FACES], **place)
    found, A = inertia.mesh(shape, density=2000.0), rotation_matrix(np.array(place["p"]))
    wanted = inertia.box(size, density=2000.0)
    assert found.mass == pytest.approx(wanted.mass, rel=EXACT)
    assert np.abs(found.center - (np.array(place["center"]) + A @ size / 2)).max() < EXACT
    assert np.abs(found.J_bar - A @ wanted.J_bar @ A.T).max() < EXACT * np.abs(wanted.J_bar).max()
    assert Body("b", *found).faults() == ()


def test_meshes_that_are_no_solid_are_refused():
    with pytest.raises(mbd.UsageError, match="not closed: 3 of its edges"):
        inertia.mesh(mbd.Mesh.from_arrays(BOX, FACES[1:]), density=1.0)
    with pytest.raises(mbd.UsageError, match="not closed"):
        inertia.mesh(mbd.Mesh.from_arrays(BOX, [FACES[0][::-1], *FACES[1:]]), density=1.0)
    with pytest.raises(mbd.UsageError, match="Give a Mesh"):
        inertia.mesh("part.stl", density=1.0)
    with pytest.raises(mbd.UsageError, match="exactly one"):
        inertia.mesh(box_mesh(1.0))


def test_a_body_in_a_frame_off_its_centre():
    J, c, r = np.diag([0.1, 0.2, 0.25]), np.array([0.3, -0.1, 0.2]), np.array([1.0, 2.0, 3.0])
    p = from_axis_angle(np.array([0.0, 0.6, 0.8]), 0.9)
    A = rotation_matrix(p)
    omega_bar, v = np.array([0.1, 0.2, -0.3]), np.array([1.0, 0.0, 0.5])
    J_origin = J + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    for J_bar, about in ((J, "center"), (J_origin, "origin")):
        body = Body.at_reference("b", 2.0, J_bar, center=c, r=r, p=p, v=v, omega_bar=omega_bar, about=about)
        assert body.faults() == ()
        assert np.abs(body.r - (r + A @ c)).max() < EXACT
        assert np.abs(body.v - (v + np.cross(A @ omega_bar, A @ c))).max() < EXACT
        assert np.abs(body.J_bar - J).max() < EXACT
    with pytest.raises(mbd.UsageError, match="about is 'tip'"):
        Body.at_reference("b", 2.0, J, center=c, about="tip")
    assert "center" in Body.at_reference("b", 2.0, J, center=(1, 2)).faults()[0].what
