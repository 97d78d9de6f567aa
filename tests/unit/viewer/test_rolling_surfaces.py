"""Round surfaces on which balls roll are drawn, and the planes of rigid contacts in still pictures, too."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.inertia import sphere
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from haugmbd.viewer.mechanism import of_model, of_system
from haugmbd.viewer.scene import size_of
from haugmbd.viewer.shapes import shapes_of, triangles_of
from joints import RollingOnCylinder, RollingOnSphere

CHORD = 0.05
"""Of a circle drawn with 20 corners or a sphere of 10 by 20, the middle of an edge is so far inside at most, over the radius, with the
wall of the tube."""


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("on_drum", [False, True])
@pytest.mark.parametrize("kind", [RollingOnCylinder, RollingOnSphere])
def test_the_ball_touches_the_surface_that_is_drawn(kind, on_drum, inside):
    """The law, in frames that are turned: corners of the drawing are at R from the axis or the centre, about the ball as well."""
    R, r, h = 0.8, 0.3, np.array([0.6, 0.0, 0.8])
    middle, across = np.array([0.2, -0.1, 0.4]), np.array([0.8, 0.0, -0.6])
    system = mbd.System("surface")
    drum = mbd.Body("drum", *sphere(0.1, mass=1.0), r=(0.3, 0.3, 0.3), p=from_axis_angle((1.0, 2.0, 3.0), 0.7), shape=())
    carrier = system.add(drum) if on_drum else None
    centre = middle + (R - r if inside else R + r) * across + 0.5 * h * (kind is RollingOnCylinder)
    ball = system.add(mbd.Body("ball", *sphere(r, mass=1.0), r=centre))
    given = (
        {"point": middle, "axis": h, "cylinder_radius": R}
        if kind is RollingOnCylinder
        else {"sphere_center": middle, "sphere_radius": R}
    )
    system.add(kind("roll", ball, center=centre, radius=r, inside=inside, surface_body=carrier, **given))
    for mechanism in (of_system(system), of_model(system.compile())):
        drawn = shapes_of(mechanism, size_of(mechanism, mechanism.r, mechanism.p))
        k = 1 if on_drum else 0
        (shape,) = drawn[k]
        assert shape.clear
        corners = mechanism.r[k] + triangles_of(shape).reshape(-1, 3) @ rotation_matrix(mechanism.p[k]).T - middle
        along = corners @ h if kind is RollingOnCylinder else np.zeros(len(corners))
        assert np.abs(np.linalg.norm(corners - along[:, None] * h, axis=1) - R).max() <= CHORD * R
        if kind is RollingOnCylinder:
            assert along.min() < 0.5 < along.max()


def test_a_still_picture_of_a_system_or_a_model_has_the_planes_of_rigid_contacts():
    """Those of `Contact` and of `Contacts` were drawn in motions alone; faulty ones have no mark."""
    system = mbd.System("floor")
    box = system.add(mbd.Body("box", 1.0, (0.1,) * 3, r=(0.0, 0.0, 0.5), shape=mbd.Box((0.2,) * 3)))
    system.add(mbd.Contact("point", system.ground, box, point=(0.0, 0.0, 0.4), normal=(0.0, 0.0, 1.0)))
    system.add(mbd.Contacts("floor", [(system.ground, mbd.Plane()), box], mu=0.3))
    for mechanism in (of_system(system), of_model(system.compile(), system.contacts)):
        assert [(part.name, part.more["plane"]) for part in mechanism.contacts] == [("point", True), ("floor: ground-box", True)]
    assert '"contacts": [{' in mbd.picture(system).html.replace('"contacts":[{', '"contacts": [{')
    assert mbd.picture(system.compile()).html.count("floor: ground-box") > 0
    system.add(mbd.Contact("wrong", system.ground, box, shape_i=mbd.Plane(), restitution=2.0))
    assert [part.name for part in of_system(system).contacts] == ["point", "floor: ground-box"]
