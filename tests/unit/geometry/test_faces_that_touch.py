"""Faces that lie on one another: exact normals, and points that carry as much as the whole of the common area."""

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.geometry.narrow_phase import points_of, rates_of
from haugmbd.geometry.tables import shape_tables
from haugmbd.math.euler_parameters import from_rotation_matrix, rotation_matrix
from tests.support.touching_shapes import PRISM_CORNERS, PRISM_FACES, random_turn, state_of


def about_z(angle):
    return np.array([np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)])


def area(points):
    """Return the area of the convex hull of points of a plane (n, 2)."""
    points = sorted(map(tuple, points))
    hull = []
    for side in (points, points[::-1]):
        chain = []
        for x in side:
            while len(chain) > 1 and np.linalg.det([np.subtract(chain[-1], chain[-2]), np.subtract(x, chain[-1])]) <= 0.0:
                chain.pop()
            chain.append(x)
        hull += chain[:-1]
    x, y = np.array(hull).T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def clipped(subject, clip):
    """Return the common part of two convex polygons, counterclockwise (Sutherland, Hodgman)."""
    for a, b in zip(clip, np.roll(clip, -1, axis=0), strict=True):
        heights = [np.linalg.det([b - a, x - a]) for x in subject]
        done = []
        for k, x in enumerate(subject):
            h, before = heights[k], heights[k - 1]
            if (h >= 0.0) != (before >= 0.0):
                done.append(subject[k - 1] + before / (before - h) * (x - subject[k - 1]))
            if h >= 0.0:
                done.append(x)
        subject = done
        if not subject:
            return np.empty((0, 2))
    return np.array(subject)


def rectangle(edges, r, angle):
    corners = 0.5 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * edges[:2]
    c, s = np.cos(angle), np.sin(angle)
    return corners @ np.array([[c, s], [-s, c]]) + r[:2]


def stacked(rng, angle, offset, edges, gap, tilt, turn=None):
    """Return tables and state of one box on another one, in a frame that is turned and far away, if `turn` is given."""
    tables = shape_tables([(1, mbd.Box(edges[0])), (2, mbd.Box(edges[1]))])
    r_2 = np.array([*offset, 0.5 * (edges[0][2] + edges[1][2]) + gap])
    small = np.array([1.0, *(0.5 * tilt * rng.normal(size=3))])
    A, d = (np.eye(3), np.zeros(3)) if turn is None else (rotation_matrix(turn), np.array([3.0, -2.0, 1.0]))
    bodies = [(np.zeros(3), np.eye(3)), (r_2, rotation_matrix(about_z(angle)) @ rotation_matrix(small / np.linalg.norm(small)))]
    return tables, state_of(*((d + A @ r, from_rotation_matrix(A @ B), np.zeros(3), np.zeros(3)) for r, B in bodies)), A, d


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["aligned", "equal and aligned", "turned", "small turns", "half turns", "crossed bars"])
def test_boxes_on_one_another(kind):
    """At gap 0, and at tilts of rounding: the normal is that of the face, and the points span the common area."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        edges = rng.uniform(0.5, 1.5, (2, 3))
        offset, angle = rng.uniform(-0.5, 0.5, 2), 0.0
        if kind == "equal and aligned":
            edges[1], offset = edges[0], np.zeros(2)
        elif kind == "turned":
            angle = rng.uniform(-np.pi, np.pi)
        elif kind == "small turns":
            angle = 10.0 ** rng.uniform(-5, -1)
        elif kind == "half turns":
            angle, offset = 0.5 * np.pi * rng.integers(4), rng.choice([0.0, 0.25], 2)
        elif kind == "crossed bars":
            edges, offset, angle = np.array([(3.0, 0.3, 0.4), (0.3, 3.0, 0.2)]), rng.uniform(-0.3, 0.3, 2), rng.uniform(-0.3, 0.3)
        for gap, tilt in ((0.0, 0.0), (1e-15, 1e-15), (-1e-12, 1e-13), (-1e-7, 0.0), (1e-4, 0.0)):
            tables, y, A, d = stacked(rng, angle, offset, edges, gap, tilt, random_turn(rng))
            points, features = points_of(tables, 0, 1, y, margin=1e-3)
            assert np.abs(points[:, 0] - gap).max() < 4e-12
            assert np.abs(points[:, 1:4] - A[:, 2]).max() < (1e-7 if tilt else 1e-10)
            assert len(set(features)) == len(features) <= 8
            common = clipped(list(rectangle(edges[1], offset, angle)), rectangle(edges[0], np.zeros(2), 0.0))
            spanned = area(((points[:, 7:10] - d) @ A)[:, :2]) if len(points) > 2 else 0.0
            assert spanned == pytest.approx(area(common) if len(common) > 2 else 0.0, abs=2e-5)


def test_tower_of_prisms_and_boxes():
    """A prism of a mesh on a box, and on another prism: the points are the corners of its face."""
    prism = mbd.Mesh.from_arrays(PRISM_CORNERS, PRISM_FACES, scale=0.5)
    for below, height in ((mbd.Box((2.0, 2.0, 0.4)), 0.2), (prism, 0.3)):
        tables = shape_tables([(1, below), (2, prism)])
        y = state_of(
            (np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)),
            (np.array([0.0, 0.0, height + 0.2]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)),
        )
        points, _ = points_of(tables, 0, 1, y, margin=1e-6)
        assert len(points) == 5
        assert np.abs(points[:, 0]).max() < 1e-15
        assert np.array_equal(points[:, 1:4], np.tile([0.0, 0.0, 1.0], (5, 1)))


def test_edge_on_face_and_capsule_on_box():
    """A box on its edge has the two ends of the edge, a capsule that lies on a box the two ends of its line, at its sides crossings."""
    upright = about_z(0.0)
    on_edge = np.array([np.cos(np.pi / 8), np.sin(np.pi / 8), 0.0, 0.0])
    at = (np.zeros(3), upright, np.zeros(3), np.zeros(3))
    tables = shape_tables(
        [(1, mbd.Box((2.0, 2.0, 2.0))), (2, mbd.Box((0.5, 0.4, 0.4))), (2, mbd.Capsule(0.1, 1.0, axis=(1, 0, 0)))]
    )
    y = state_of(at, (np.array([0.1, 0.0, 1.0 + 0.2 * np.sqrt(2.0)]), on_edge, np.zeros(3), np.zeros(3)))
    points, _ = points_of(tables, 0, 1, y, margin=1e-6)
    assert np.allclose(sorted(points[:, 7]), [-0.15, 0.35], rtol=0.0, atol=1e-15)
    assert np.abs(points[:, 0]).max() < 1e-15
    for x, ends in ((0.0, [-0.5, 0.5]), (0.8, [0.3, 1.0]), (-0.9, [-1.0, -0.4])):
        y = state_of(at, (np.array([x, 0.3, 1.1]), upright, np.zeros(3), np.zeros(3)))
        points, _ = points_of(tables, 0, 2, y, margin=1e-6)
        assert np.allclose(sorted(points[:, 7]), ends, rtol=0.0, atol=1e-14)
        assert np.abs(points[:, 0]).max() < 1e-15
        assert np.allclose(points[:, 1:4], [0.0, 0.0, 1.0], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_a_ball_or_point_on_a_box(radius):
    """On a face, on its edges and corners, exactly and beside them by rounding: the gap is 0, and the normal is one of the faces there."""
    tables = shape_tables([(1, mbd.Box((2.0, 2.0, 2.0))), (2, mbd.Sphere(radius))])
    upright = (np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))
    for x, y in ((0.2, 0.3), (1.0, 0.3), (1.0, 1.0), (1.0 + 1e-15, 1.0 - 1e-15), (-1.0, 1.0 + 1e-13)):
        state = state_of((np.zeros(3), *upright), (np.array([x, y, 1.0 + radius]), *upright))
        ((gap, *n_and_points),) = points_of(tables, 0, 1, state, margin=1e-6)[0]
        assert abs(gap) < 1e-12
        assert np.abs(n_and_points[:3]).max() == pytest.approx(1.0, abs=1e-12)


def test_cylinder_that_stands_lies_and_leans():
    """Flat on a plane: eight points of the rim; on its mantle: one of each rim; leaning: the lowest point, and the highest of its rim."""
    tables = shape_tables([(0, mbd.Plane()), (1, mbd.Cylinder(0.5, 2.0)), (1, mbd.Cone(0.5, 2.0))])

    def points(shape, r, angle, margin=1e-6):
        turn = np.array([np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0, 0.0])
        return points_of(tables, 0, shape, state_of((np.array(r), turn, np.zeros(3), np.zeros(3))), margin)[0]

    for shape in (1, 2):
        for tilt in (0.0, 1e-12):
            standing = points(shape, (0.1, 0.2, 1.0), tilt)
            assert len(standing) == 8
            assert np.allclose(np.linalg.norm(standing[:, 7:9] - (0.1, 0.2), axis=1), 0.5, rtol=0.0, atol=2e-12)
    lying = points(1, (0.0, 0.0, 0.5), 0.5 * np.pi)
    assert np.allclose(sorted(lying[:, 8]), [-1.0, 1.0], rtol=0.0, atol=1e-14)
    lean = 0.3
    height = np.cos(lean) + 0.5 * np.sin(lean)
    (leaning,) = points(1, (0.0, 0.0, height), lean)
    assert leaning[0] == pytest.approx(0.0, abs=1e-15)
    assert len(points(1, (0.0, 0.0, height), lean, margin=0.5)) == 2
    side = np.arctan2(0.5, 2.0)  # a cone on its mantle: tip and lowest point of the rim
    on_mantle = points(2, (0.0, 0.0, np.sin(side)), 0.5 * np.pi + side)
    assert len(on_mantle) == 2
    assert np.abs(on_mantle[:, 0]).max() < 1e-15


def test_ground_and_far_away():
    """Points far from the origin have the rounding of positions there, and no more."""
    tables = shape_tables([(1, mbd.Box((1.0, 1.0, 1.0))), (2, mbd.Box((1.0, 1.0, 1.0)))])
    far = np.array([1e6, -2e6, 3e6])
    zero, turn = np.zeros(3), about_z(0.25)
    y = state_of((far, turn, zero, zero), (far + np.array([0.125, 0.25, 1.0]), turn, zero, zero))
    points, features = points_of(tables, 0, 1, y, margin=1e-6)
    assert len(points) == 4
    assert np.abs(points[:, 0]).max() < 1e-15
    assert np.abs(rates_of(tables, 0, 1, features[0], y)[0]) < 1e-15
