"""Shapes: values, places, pickling; and the solids of inertias, whose shapes have the inertia that they are given with."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import haugmbd as mbd
from haugmbd.bodies import inertia
from haugmbd.viewer.shapes import converted, triangles_of

ROUNDING = 1e-12
ROUND = 0.07
"""A circle of 20 corners has 1.6 % less area than a true one, and a sphere of such circles 4 % less volume and 7 % less inertia."""


def volume_and_inertia(corners):
    """Volume, centre and inertia about the centre of triangles (n, 3, 3), by tetrahedra to the origin: unit density."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    v = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6.0
    center = np.einsum("n,ni->i", v, (a + b + c) / 4.0) / v.sum()
    total = a + b + c
    second = sum(np.einsum("n,ni,nj->ij", v, x, x) for x in (a, b, c, total)) / 20.0
    second -= v.sum() * np.outer(center, center)
    return v.sum(), center, np.trace(second) * np.eye(3) - second


SOLIDS = {
    "box": inertia.box((0.5, 0.3, 0.2), density=2.0),
    "sphere": inertia.sphere(0.3, density=2.0),
    "cylinder": inertia.cylinder(0.2, 0.7, density=2.0, axis=(1.0, 2.0, -0.5)),
    "tube": inertia.tube(0.3, 0.2, 0.7, density=2.0, axis=(0.0, 0.0, -1.0)),
    "cone": inertia.cone(0.3, 0.8, density=2.0, axis=(1.0, -1.0, 0.5)),
    "capsule": inertia.capsule(0.2, 0.7, density=2.0, axis=(1.0, 2.0, -0.5)),
    "ellipsoid": inertia.ellipsoid((0.3, 0.5, 0.2), density=2.0),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_the_shape_of_a_solid_has_its_mass_and_inertia(name):
    """Also turned: the solid, and its shape, are turned alike."""
    A = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
    for solid in (SOLIDS[name], SOLIDS[name].placed(A=A)):
        corners = np.concatenate([triangles_of(converted(shape, 1e-9, 1e-9)) for shape in solid.shapes])
        volume, center, J = volume_and_inertia(corners)
        assert 2.0 * volume == pytest.approx(solid.mass, rel=ROUND)
        assert np.abs(center).max() <= ROUNDING
        assert np.abs(2.0 * J - solid.J_bar).max() <= 2.0 * ROUND * np.abs(solid.J_bar).max()


def test_thin_solids_are_limits_of_thick_ones():
    """The discs and plates of a millionth of their width."""
    thin = 1e-6
    for flat, thick in (
        (inertia.disc(0.3, mass=2.0, axis=(1, 1, 0)), inertia.cylinder(0.3, thin, mass=2.0, axis=(1, 1, 0))),
        (inertia.plate((0.3, 0.5), mass=2.0), inertia.box((0.3, 0.5, thin), mass=2.0)),
        (inertia.disc(0.3, density=2.0), inertia.cylinder(0.3, thin, density=2.0 / thin)),
        (inertia.plate((0.3, 0.5), density=2.0), inertia.box((0.3, 0.5, thin), density=2.0 / thin)),
    ):
        assert flat.mass == pytest.approx(thick.mass, rel=1e-14)
        assert np.abs(flat.J_bar - thick.J_bar).max() <= 10.0 * thin**2
    with pytest.raises(mbd.UsageError, match="two edge lengths"):
        inertia.plate((1.0, 2.0, 3.0), mass=1.0)


def test_a_compound_is_drawn_with_its_parts_where_they_are():
    parts = [inertia.rod(1.0, mass=1.0).placed((0.5, 0.0, 0.0)), inertia.sphere(0.1, mass=3.0).placed((1.0, 0.0, 0.0))]
    whole = inertia.combine(parts)
    body = mbd.Body("bob", *whole)
    assert body.shape == (...,)
    rod, ball = body.solid
    np.testing.assert_allclose(rod.center, [0.5 - 0.875, 0.0, 0.0], atol=ROUNDING)
    np.testing.assert_allclose(ball.center, [1.0 - 0.875, 0.0, 0.0], atol=ROUNDING)
    assert (rod.length, ball.radius) == (1.0, 0.1)


def test_an_inertia_that_is_computed_with_is_of_no_solid():
    J = inertia.box((1.0, 2.0, 3.0), mass=1.0).J_bar
    for other in (2.0 * J, J @ J, J + J, np.linalg.inv(J), J[0] * 1.0, np.array(J)):
        assert type(other) is np.ndarray
    assert mbd.Body("b", 1.0, J.T).solid == ()
    assert repr(J) == repr(np.array(J))
    assert not J.flags.writeable


@pytest.mark.parametrize("through", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_copies_keep_their_shapes(through):
    solid = inertia.cone(0.3, 0.8, mass=1.0)
    assert through(solid).J_bar.shapes[0].length == 0.8
    body = through(mbd.Body("b", *solid, shape=[..., mbd.Sphere(0.1, center=(1, 0, 0), color="#112233")]))
    assert body.solid[0].radius == 0.3
    assert body.shape[0] is ...
    assert (body.shape[1].radius, body.shape[1].color) == (0.1, "#112233")
    assert body.shape[1].center.tolist() == [1.0, 0.0, 0.0]


def test_shapes_go_with_systems_models_and_chains():
    chain = mbd.SerialChain(
        [mbd.Link.revolute("arm", *inertia.rod(1.0, mass=1.0), c=0.5, shape=[..., mbd.Sphere(0.1)])], name="arm"
    )
    system = chain.to_system()
    for bodies in (system.bodies, system.compile().bodies, pickle.loads(pickle.dumps(system)).bodies):
        assert bodies[1].solid[0].length == 1.0
        assert bodies[1].shape[1].radius == 0.1
    (link,) = mbd.SerialChain.from_system(system).links
    assert (link.solid[0].length, link.shape[1].radius) == (1.0, 0.1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mbd.Box((1.0, -2.0, 3.0)), "edges are"),
        (lambda: mbd.Box((1.0, 2.0)), "edges has shape"),
        (lambda: mbd.Sphere(-1.0), "radius is -1 m"),
        (lambda: mbd.Sphere(np.nan), "radius is nan"),
        (lambda: mbd.Cylinder(1.0, "long"), "length is 'long'"),
        (lambda: mbd.Cylinder(1.0, 1.0, inner_radius=2.0), "inner_radius is 2 m"),
        (lambda: mbd.Cone(1.0, 1.0, axis=(0, 0, 0)), "axis is"),
        (lambda: mbd.Capsule(-1.0, 1.0), "radius is -1 m"),
        (lambda: mbd.Ellipsoid((1.0, 0.0, 1.0)), "semi_axes are"),
        (lambda: inertia.ellipsoid((1.0, 2.0), mass=1.0), "three lengths"),
        (lambda: mbd.Box((1, 1, 1), p=(1, 1, 0, 0)), "length 1"),
        (lambda: mbd.Sphere(1.0, color="red"), "color is 'red'"),
        (lambda: mbd.Sphere(1.0, center=(0, 0, np.inf)), "center"),
        (mbd.Shape, "Shape has no size of its own"),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises(mbd.UsageError, match=words):
        make()


def test_all_mistakes_are_named_at_once():
    with pytest.raises(mbd.UsageError) as said:
        mbd.Cylinder(-1.0, -2.0, color="blue", axis=(0, 0, 0))
    assert all(word in str(said.value) for word in ("radius", "length", "axis", "color"))
    with pytest.raises(TypeError, match="did you mean 'radius'"):
        mbd.Sphere(raduis=1.0)


def test_what_is_no_shape_is_a_fault_of_the_body():
    body = mbd.Body("b", 1.0, (1.0, 1.0, 1.0), shape=[mbd.Sphere(1.0), "mesh.stl"])
    assert ["'mesh.stl'" in fault.what for fault in body.faults()] == [True]
    system = mbd.System("s", ground_shape=3)
    system.add(body)
    with pytest.raises(mbd.ModelError) as said:
        system.compile()
    assert len(said.value.faults) == 2


def test_shapes_are_frozen():
    with pytest.raises(AttributeError):
        mbd.Sphere(1.0).radius = 2.0
    with pytest.raises(ValueError, match="read-only"):
        mbd.Box((1.0, 1.0, 1.0)).center[0] = 1.0
