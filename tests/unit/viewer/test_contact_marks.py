"""Contact forces in pictures: the plane and the sphere as marks, and the normal force as a curve for the arrow."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.viewer.drawing import Drawing, plane_corners
from haugmbd.viewer.frames import frames_of
from haugmbd.viewer.mechanism import of_model, of_system
from haugmbd.viewer.packing import Packer
from haugmbd.viewer.quantities import describe_quantities
from tests.support.contacts import ball_on_floor


def ball_and_box():
    """A ball and a box on the floor, and two balls, which have no mark."""
    system, _ = ball_on_floor(0.001, e=0.5)
    box = system.add(mbd.Body("box", 1.0, (0.01,) * 3, r=(1, 0, 0.5)))
    slope = mbd.Plane(point=(1, 0, 0.2), normal=(0, 0.6, 0.8))
    system.add(mbd.ContactForce("slope", system.ground, box, shape_i=slope, shape_j=mbd.Box((0.1,) * 3), K=1e4))
    balls = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Sphere(0.05)}
    system.add(mbd.ContactForce("pair", system["ball"], box, **balls, K=1e4))
    return system


def test_planes_have_marks():
    system = ball_and_box()
    for parts in (of_system(system), of_model(system.compile())):
        ball, box = parts.contacts
        assert (ball.name, ball.i, ball.j, ball.more["radius"]) == ("floor", 0, 1, 0.1)
        assert (box.name, box.i, box.j, box.more["radius"]) == ("slope", 0, 2, 0.0)
        np.testing.assert_allclose(rotation_matrix(np.array(box.more["p_i"]))[:, 2], (0, 0.6, 0.8), atol=1e-15)
        np.testing.assert_array_equal(box.s_i, (1, 0, 0.2))


def test_a_faulty_contact_has_no_mark_and_is_drawn_without():
    system = ball_and_box()
    system.add(mbd.ContactForce("wrong", system["ball"], system.ground, shape_i=3, shape_j=mbd.Plane(), K=1.0))
    assert [part.name for part in of_system(system).contacts] == ["floor", "slope"]


def test_the_page_has_a_curve_of_the_normal_force_for_each_mark(monkeypatch):
    """The curve that the arrows are drawn from is the sum over the points of contact."""
    result = mbd.simulate(ball_and_box(), 0.018, rtol=1e-7, atol=1e-9)
    packer, kept = Packer(), []
    monkeypatch.setattr(packer, "add_curves", lambda values: kept.append(values) or len(kept) - 1)
    made = describe_quantities(result, frames_of(result), packer)
    assert made["notes"] == []
    curves = kept[made["contact"]]
    assert curves.shape[1] == 2
    assert curves[:, 0].max() > 10.0
    np.testing.assert_array_equal(curves[-1], [result.load("floor").normal_force[-1], result.load("slope").normal_force[-1].sum()])


def test_still_pictures_show_the_planes():
    """A square of each plane, below the body, in every frame."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    others = pyplot.get_fignums()
    result = mbd.simulate(ball_and_box(), 0.018, rtol=1e-7, atol=1e-9)
    drawing = Drawing(of_model(result.model), frames_of(result))
    drawing.place(len(drawing.frames.t) - 1)
    (floor, first), (slope, second) = drawing.planes
    r, A = drawing.frames.r[-1], rotation_matrix(drawing.frames.p[-1])
    corners = plane_corners(slope, r, A, 0.1)
    np.testing.assert_allclose((corners - [1, 0, 0.2]) @ [0, 0.6, 0.8], 0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(np.diff(corners, axis=0), axis=1), 0.2)
    foot = corners.mean(axis=0)
    np.testing.assert_allclose(np.cross(r[2] - foot, [0, 0.6, 0.8]), 0.0, atol=1e-14)
    for part, patch in ((floor, first), (slope, second)):
        wanted = drawing.project(plane_corners(part, r, A, 0.35 * drawing.size))[:, :2]
        np.testing.assert_allclose(patch.get_xy()[:4], wanted)
    drawing.close()
    assert pyplot.get_fignums() == others
