"""Laws of contacts of two shapes: signed distance, symmetry, frames, units, rates, continuity; for each kind of shape and each pair."""

import itertools

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.geometry.narrow_phase import (
    BIAS,
    GAP_RATE,
    NORMAL_RATE,
    POINT_I_RATE,
    POINT_J_RATE,
    pair_faults,
    point_name,
    points_of,
    rates_of,
)
from haugmbd.geometry.tables import shape_tables
from haugmbd.math.euler_parameters import from_rotation_matrix, rotation_matrix
from tests.support.touching_shapes import PAIRS, SHAPES, moved, pose, random_state, random_turn, separation, state_of, support

PAIR = pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)


def tables_of(pair, size=1.0):
    return shape_tables([(k, SHAPES[name](size)) for k, name in enumerate(pair, start=1)])


def made(pair, size=1.0):
    return [SHAPES[name](size) for name in pair]


def in_hole(pair):
    return pair[1] == "tube" and pair[0] != "Plane"


@pytest.mark.slow
@PAIR
def test_gap_is_signed_distance(pair):
    """No direction separates more than the gap, the normal separates by the gap, and a positive gap is between points of both shapes."""
    rng = np.random.default_rng(1)
    tables, shapes = tables_of(pair), made(pair)
    directions = rng.normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    seen = set()
    for _ in range(25):
        y = random_state(rng, reach=3.0 if pair == ("Plane", "tube") else 0.9)
        points, _ = points_of(tables, 0, 1, y)
        k = int(np.argmin(points[:, 0]))
        gap, n, x_i, x_j = points[k, 0], points[k, 1:4], points[k, 4:7], points[k, 7:10]
        seen.add(gap > 0.0)
        assert np.allclose(x_j - x_i, gap * n, rtol=0.0, atol=1e-12)
        assert np.isclose(np.linalg.norm(n), 1.0, rtol=0.0, atol=1e-14)
        if in_hole(pair):
            continue
        poses = [pose(y, 1), pose(y, 2)]
        assert separation(shapes[0], poses[0], shapes[1], poses[1], n[None])[0] == pytest.approx(gap, rel=0.0, abs=1e-11)
        if pair[0] != "Plane":
            most = separation(shapes[0], poses[0], shapes[1], poses[1], directions).max()
            assert most <= gap + 1e-11
    assert True in seen or in_hole(pair)


@pytest.mark.slow
@PAIR
def test_points_lie_on_both_shapes(pair):
    """No point of contact is outside of its shape: along its normal no shape reaches less far than its point."""
    rng = np.random.default_rng(2)
    tables, shapes = tables_of(pair), made(pair)
    if in_hole(pair):
        pytest.skip("a hole has no support function")
    directions = rng.normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for _ in range(15):
        y = random_state(rng)
        for point in points_of(tables, 0, 1, y, margin=0.2)[0]:
            if point[0] < 0.0:
                continue
            for x, shape, at in ((point[4:7], shapes[0], pose(y, 1)), (point[7:10], shapes[1], pose(y, 2))):
                if not isinstance(shape, mbd.Plane):
                    assert np.all(directions @ x <= support(shape, *at, directions) + 1e-10)


@PAIR
def test_exchange_of_bodies(pair):
    """Contacts from j to i are those from i to j, with the other normal."""
    rng = np.random.default_rng(3)
    tables = tables_of(pair)
    for _ in range(10):
        y = random_state(rng)
        there, back = points_of(tables, 0, 1, y)[0], points_of(tables, 1, 0, y)[0]
        assert len(there) == len(back)
        back = np.concatenate([back[:, :1], -back[:, 1:4], back[:, 7:10], back[:, 4:7]], axis=1)
        for point in there:
            assert np.abs(back - point).max(axis=1).min() < 1e-9


@pytest.mark.slow
@PAIR
def test_frames_and_units(pair):
    """A motion of everything moves points and normals; in other units of length gaps are other numbers; features stay the same."""
    rng = np.random.default_rng(4)
    metres, wide_tables = tables_of(pair), tables_of(pair, 1000.0)
    for _ in range(6):
        y, A, d = random_state(rng), rotation_matrix(random_turn(rng)), 3.0 * rng.normal(size=3)
        points, features = points_of(metres, 0, 1, y)
        other = y.copy()
        for k in (13, 26):
            other[k : k + 3] = d + A @ y[k : k + 3]
            other[k + 3 : k + 7] = from_rotation_matrix(A @ rotation_matrix(y[k + 3 : k + 7]))
        turned, same = points_of(metres, 0, 1, other)
        assert set(features) == set(same)
        order = [list(same).index(f) for f in features]
        turned = turned[order]
        assert np.allclose(turned[:, 0], points[:, 0], rtol=0.0, atol=1e-12)
        assert np.allclose(turned[:, 1:4], points[:, 1:4] @ A.T, rtol=0.0, atol=1e-10)
        assert np.allclose(turned[:, 4:7], d + points[:, 4:7] @ A.T, rtol=0.0, atol=1e-9)
        wide = y.reshape(3, 13).copy()
        wide[:, 0:3] *= 1000.0
        millimetres, again = points_of(wide_tables, 0, 1, wide.ravel())
        assert set(again) == set(features)
        millimetres = millimetres[[list(again).index(f) for f in features]]
        assert np.allclose(millimetres[:, 0], 1000.0 * points[:, 0], rtol=0.0, atol=1e-9)
        assert np.allclose(millimetres[:, 1:4], points[:, 1:4], rtol=0.0, atol=1e-10)


@pytest.mark.slow
@PAIR
def test_rates_of_a_frozen_pair_of_features(pair):
    """Rates of gap, normal and points, and the second derivative of the gap, against differences along a motion."""
    rng = np.random.default_rng(5)
    tables, dt = tables_of(pair), 1e-4
    kinds = set()
    for _ in range(6):
        y = random_state(rng)
        points, features = points_of(tables, 0, 1, y)
        for point, feature in zip(points, features, strict=True):
            rates = rates_of(tables, 0, 1, feature, y)
            assert np.allclose(rates[:10], point, rtol=0.0, atol=1e-13)
            assert rates[NORMAL_RATE : NORMAL_RATE + 3] @ point[1:4] == pytest.approx(0.0, abs=1e-10)
            before, after = (rates_of(tables, 0, 1, feature, moved(y, t)) for t in (-dt, dt))
            two_before, two_after = (rates_of(tables, 0, 1, feature, moved(y, t)) for t in (-2 * dt, 2 * dt))
            found = (8.0 * (after - before) - (two_after - two_before)) / (12.0 * dt)
            scale = max(1.0, np.abs(rates).max()) ** 3
            assert found[0] == pytest.approx(rates[GAP_RATE], abs=1e-8 * scale)
            assert np.allclose(found[1:4], rates[NORMAL_RATE : NORMAL_RATE + 3], rtol=0.0, atol=1e-8 * scale)
            assert np.allclose(found[4:7], rates[POINT_I_RATE : POINT_I_RATE + 3], rtol=0.0, atol=1e-8 * scale)
            assert np.allclose(found[7:10], rates[POINT_J_RATE : POINT_J_RATE + 3], rtol=0.0, atol=1e-8 * scale)
            assert found[GAP_RATE] == pytest.approx(rates[BIAS], abs=1e-7 * scale)
            kinds.add(feature)
    assert kinds


@pytest.mark.slow
@PAIR
def test_gap_is_continuous(pair):
    """Along a motion, across changes of features, the least gap changes by no more than the fastest points move."""
    rng = np.random.default_rng(6)
    tables, dt = tables_of(pair), 2e-3
    for _ in range(3):
        y = random_state(rng)
        speed = sum(np.linalg.norm(y[k + 7 : k + 10]) + 6.0 * np.linalg.norm(y[k + 10 : k + 13]) for k in (13, 26))
        gaps = [points_of(tables, 0, 1, moved(y, k * dt))[0][:, 0].min() for k in range(60)]
        assert np.abs(np.diff(gaps)).max() <= speed * dt


def test_each_pair_exists_or_is_refused_with_the_list_of_pairs():
    """Every two shapes have a contact, or a fault that names both and the pairs that exist."""
    every = {name: make(1.0) for name, make in SHAPES.items()}
    for a, b in itertools.product(every, repeat=2):
        faults = pair_faults("contact 'c'", every[a], every[b])
        if (a, b) in PAIRS or (b, a) in PAIRS:
            assert not faults
        elif {a, b} != {"point"}:
            (fault,) = faults
            assert type(every[a]).__name__ in str(fault)
            assert "Plane with Sphere" in str(fault)


REFUSED = {
    "open": (TETRA := [(0, 2, 1), (0, 1, 3), (1, 2, 3)], "is open"),
    "inside out": ([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)], "is inside out"),
    "one triangle turned": ([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 3, 0)], "same direction"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_meshes_that_are_no_solids_are_refused(case):
    triangles, what = REFUSED[case]
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    mesh = mbd.Mesh.from_arrays(corners, triangles)
    with pytest.raises(mbd.UsageError, match=what):
        shape_tables([(0, mesh)])


def test_a_mesh_that_is_not_convex_is_refused():
    corners = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, 1), (0, 0, 0.4)]
    triangles = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (1, 0, 5), (2, 1, 5), (3, 2, 5), (0, 3, 5)]
    with pytest.raises(mbd.UsageError, match="is not convex"):
        shape_tables([(0, mbd.Mesh.from_arrays(corners, triangles))])


def test_points_have_names():
    """A corner on a plane is its number; of two solids both features are named; each name stands for one point."""
    upright = (np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))
    shapes = (mbd.Box((1, 1, 1)), mbd.Box((1, 1, 1)), mbd.Plane(), mbd.Cylinder(0.5, 1.0))
    tables = shape_tables(list(zip((1, 2, 0, 2), shapes, strict=True)))
    y = state_of((np.array([0.0, 0.0, 0.5]), *upright), (np.array([0.25, 0.25, 1.5]), *upright))
    named = {
        pair: [point_name(tables, *pair, int(feature)) for feature in points_of(tables, *pair, y, margin=1e-6)[1]]
        for pair in ((2, 0), (0, 1))
    }
    assert named[2, 0] == ["0", "1", "2", "3"]
    assert {"face 4, corner 0", "corner 7, face 5"} < set(named[0, 1])
    assert len(set(named[0, 1])) == 4
    assert sum(name.startswith("edge") for name in named[0, 1]) == 2
    lying = state_of(
        (np.zeros(3), *upright),
        (np.array([0.0, 0.0, 0.5]), np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2.0), np.zeros(3), np.zeros(3)),
    )
    assert [point_name(tables, 2, 3, int(x)) for x in points_of(tables, 2, 3, lying, margin=1e-6)[1]] == [
        "rim 0 lowest",
        "rim 1 lowest",
    ]
