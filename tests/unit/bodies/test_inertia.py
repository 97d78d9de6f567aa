"""Solids against integrals over their volume, and the parallel-axis theorem against point clouds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from haugmbd import Body, UsageError
from haugmbd.bodies.inertia import MassProperties, about_center_of_mass, box, combine, cylinder, point_mass, rod, sphere, steiner

ROUNDING = 1e-13  # sums of some hundred terms of size 1


def cloud(points, masses):
    """Inertia about the origin of point masses: sum m (x.x I - x x^T)."""
    return np.einsum(
        "n,nij->ij",
        masses,
        np.einsum("nk,nk->n", points, points)[:, None, None] * np.eye(3) - points[:, :, None] * points[:, None, :],
    )


def grid(inside, half, n=60):
    """Midpoints of n^3 cells of the cuboid with half edges `half` that lie inside, and the volume of a cell."""
    axes = [np.linspace(-h, h, n, endpoint=False) + h / n for h in half]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return points[inside(points)], 8.0 * np.prod(half) / n**3


VOLUMES = {
    "box": (box((1.0, 2.0, 3.0), density=700.0), lambda x: np.full(len(x), True), (0.5, 1.0, 1.5)),
    "sphere": (sphere(0.5, density=700.0), lambda x: (x**2).sum(axis=1) < 0.25, (0.5, 0.5, 0.5)),
    "cylinder": (cylinder(0.5, 2.0, density=700.0), lambda x: (x[:, :2] ** 2).sum(axis=1) < 0.25, (0.5, 0.5, 1.0)),
    "tube": (
        cylinder(0.5, 2.0, density=700.0, inner_radius=0.3, axis=(1, 0, 0)),
        lambda x: ((x[:, 1:] ** 2).sum(axis=1) < 0.25) & ((x[:, 1:] ** 2).sum(axis=1) > 0.09),
        (1.0, 0.5, 0.5),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("solid", "inside", "half"), VOLUMES.values(), ids=VOLUMES.keys())
def test_solid_is_the_sum_over_small_cells(solid, inside, half):
    points, volume = grid(inside, half)
    masses = np.full(len(points), 700.0 * volume)
    # Cells cut by a curved surface are in or out as a whole: some 1/60, with either sign; 1 % is enough for a wrong formula.
    assert solid.mass == pytest.approx(masses.sum(), rel=1e-2)
    assert np.abs(solid.J_bar - cloud(points, masses)).max() < 1e-2 * solid.J_bar.max()


def test_rod_is_the_limit_of_a_thin_cylinder_and_an_integral():
    x, w = np.polynomial.legendre.leggauss(3)  # exact for the polynomial x^2
    along = np.outer(x * 0.75, [0.6, 0.0, 0.8])
    slender = rod(1.5, density=4.0, axis=(3, 0, 4))
    assert slender.mass == pytest.approx(6.0, rel=1e-15)
    assert np.abs(slender.J_bar - cloud(along, w * 0.75 * 4.0)).max() < ROUNDING
    assert np.abs(slender.J_bar - cylinder(1e-8, 1.5, mass=6.0, axis=(3, 0, 4)).J_bar).max() < ROUNDING


def test_a_solid_unpacks_into_a_body():
    brick = Body("brick", *box((1, 2, 3), mass=12.0), r=(0, 0, 1))
    assert brick.faults() == ()
    assert brick.mass == 12.0
    assert np.array_equal(np.diag(brick.J_bar), [13.0, 10.0, 5.0])
    assert np.array_equal(point_mass(2.0).J_bar, np.zeros((3, 3)))


def test_parallel_axis_shift_there_and_back(rng):
    points, masses = rng.normal(size=(7, 3)), rng.uniform(1.0, 2.0, size=7)
    whole = combine(point_mass(m).placed(x) for m, x in zip(masses, points, strict=True))
    assert whole.mass == pytest.approx(masses.sum(), rel=1e-15)
    assert np.abs(whole.center - masses @ points / masses.sum()).max() < ROUNDING
    assert np.abs(whole.J_bar - cloud(points - whole.center, masses)).max() < ROUNDING
    assert np.abs(whole.shifted(whole.center) - cloud(points, masses)).max() < ROUNDING
    back = about_center_of_mass(whole.mass, cloud(points, masses), whole.center)
    assert np.abs(back.J_bar - whole.J_bar).max() < 10 * ROUNDING
    assert np.array_equal(about_center_of_mass(1.0, (1, 2, 3), (0, 0, 1)).J_bar, np.diag([0.0, 1.0, 3.0]))


def test_two_half_boxes_make_a_box_in_any_orientation():
    A = Rotation.from_rotvec([0.2, 0.5, -0.7]).as_matrix()
    half = box((1, 2, 3), mass=6.0)
    whole = combine([half.placed(A @ [-0.5, 0, 0], A), half.placed(A @ [0.5, 0, 0], A)])
    assert np.abs(whole.J_bar - box((2, 2, 3), mass=12.0).placed(A=A).J_bar).max() < ROUNDING
    assert np.abs(whole.center).max() < ROUNDING


def test_mass_properties_are_frozen():
    brick = box((1, 1, 1), mass=1.0)
    assert not brick.J_bar.flags.writeable
    with pytest.raises(AttributeError):
        brick.mass = 2.0
    assert isinstance(brick, MassProperties)
    assert np.array_equal(steiner(2.0, (0, 0, 3)), np.diag([18.0, 18.0, 0.0]))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: box((1, -2, 3), mass=1.0), r"box: size\[1\] is -2"),
        (lambda: box((1, 2), mass=1.0), r"box: size has shape \(2,\)"),
        (lambda: rod(1.0), "mass is None and density is None. Give exactly one"),
        (lambda: rod(1.0, mass=1.0, density=1.0), "Give exactly one"),
        (lambda: rod(0.0, mass=1.0), "rod: length is 0.0"),
        (lambda: rod(1.0, mass=1.0, axis=(0, 0, 0)), "rod: axis is"),
        (lambda: sphere(math.nan, mass=1.0), "sphere: radius is nan"),
        (lambda: sphere("big", mass=1.0), "sphere: radius is 'big'"),
        (lambda: cylinder(1.0, 1.0, mass=1.0, inner_radius=2.0), "inner_radius is 2.0 m"),
        (lambda: point_mass(-1.0), "point_mass: mass is -1.0"),
        (lambda: combine([]), "the 0 parts have a mass of 0.0 kg"),
    ],
)
def test_bad_arguments_are_named(call, text):
    with pytest.raises(UsageError, match=text):
        call()
