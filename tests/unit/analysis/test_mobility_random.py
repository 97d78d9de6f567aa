"""Random systems, sound and faulty, closed and open: the report never fails, and what it says is what LAPACK says of the same rows."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, Planar, RotationDriver
from tests.support.redundant_loops import J_BAR, loop, planar_points
from tests.support.seeds import seeds

KINDS = (RJ, SJ, UJ, CJ, TJ, Fixed, Distance, Planar)
Z = np.array([0.0, 0.0, 1.0])


def geometry(kind: type, rng: np.random.Generator, flat: bool) -> dict[str, Any]:
    """Where a joint stands; in flat systems in the plane z = 0, with axes along z."""
    point = rng.normal(size=3) * (1, 1, not flat)
    axis = Z if flat else rng.normal(size=3)
    if kind is Distance:
        length = {"distance": abs(rng.normal())} if rng.random() < 0.4 else {}  # open, as modelled
        return {"point_i": point, "point_j": point + rng.normal(size=3), **length}
    other = {UJ: {"axis_i": axis, "axis_j": np.cross(axis, (1, 2, 3))}, Planar: {"normal": axis}, SJ: {}, Fixed: {}}
    return {"point": point, **other.get(kind, {"axis": axis})}


def random_system(seed: int) -> mbd.System:
    """Up to six bodies, some without a mass that could be, and joints between any two of them, some faulty, some driven."""
    rng = np.random.default_rng(seed)
    system, flat = mbd.System(f"random {seed}"), rng.random() < 0.4
    for k in range(int(rng.integers(1, 7))):
        mass, J = rng.choice([1.0, 1.0, 1.0, -1.0, 1e-3]), J_BAR if rng.random() < 0.9 else (0.0, 1.0, 1.0)
        system.add(mbd.Body(f"body {k}", mass, J, r=rng.normal(size=3) * (1, 1, not flat)))
    n = len(system.bodies)
    for k in range(int(rng.integers(0, 2 * n))):
        i, j = rng.integers(0, n, 2)
        kind = RJ if flat else KINDS[rng.integers(len(KINDS))]
        name = f"joint {k}" if rng.random() < 0.95 else "joint 0"
        joint = system.add(kind(name, system.bodies[i], system.bodies[j], **geometry(kind, rng, flat)))
        if kind is RJ and rng.random() < 0.2:
            speed = rng.normal()
            system.add(RotationDriver(f"motor {k}", joint, lambda t, speed=speed: speed * t))
    return system


@cache
def reported(seed: int) -> tuple[mbd.System, mbd.Mobility]:
    """A random system and its report."""
    system = random_system(seed)
    return system, mbd.mobility(system)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(15))
def test_against_lapack(seed):
    system, m = reported(seed)
    assert max(map(len, str(m).splitlines())) <= 120
    assert set(map(str, system.faults())) <= set(map(str, m.faults))
    model = system.checked().model
    Phi_q = mbd.evaluate(model, m.state).Phi_q.toarray()
    length = np.linalg.norm(Phi_q, axis=1)
    unit = Phi_q / np.where(length > 0.0, length, 1.0)[:, None]
    assert m.rank == (np.linalg.matrix_rank(unit, tol=1e-7) if len(unit) else 0)
    u = m.basis[:, 1:].reshape(len(m.motions), 6 * m.bodies)
    assert len(u) == m.degrees_of_freedom == 6 * m.bodies - m.rank
    np.testing.assert_allclose(unit @ u.T, 0.0, atol=1e-7 * max(1.0, np.abs(u).max(initial=0.0)))
    assert len(u) == 0 or np.linalg.matrix_rank(u, tol=1e-7) == len(u)
    for row in (row for one in m.dependent for row in one.rows if row.terms):
        total = sum(c * Phi_q[name.number] for c, name in row.terms)
        size = max(abs(c) * length[name.number] for c, name in row.terms)
        np.testing.assert_allclose(total, Phi_q[row.row.number], atol=1e-6 * max(1.0, size))


@pytest.mark.slow
def test_some_of_them_are_of_every_sort():
    found = [reported(seed)[1] for seed in range(80)]
    assert sum(bool(m.dependent) for m in found) >= 10
    assert sum(m.pose == "assembled" for m in found) >= 2
    assert sum(not m.consistent for m in found) >= 3
    assert sum(bool(m.skipped_parts) for m in found) >= 10
    assert sum(not m.faults for m in found) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("turn", [None, ((1, 2, 3), 0.7)], ids=["straight", "turned"])
def test_size_and_direction_do_not_matter(size, turn):
    A = np.eye(3) if turn is None else rotation_matrix(from_axis_angle(*turn))
    m = mbd.mobility(loop([size * A @ p for p in planar_points()], [A @ Z] * 4))
    assert (m.rank, m.degrees_of_freedom) == (17, 1)
    assert m.dependent[0].structural
    assert all(one.marks == ("unique", "unique", "not", "not", "not", "-") for one in m.reactions)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_last_digits_of_a_pose_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    points = [np.round(p + 0.123456789, 6) for p in planar_points()]
    axes = [Z + 1e-6 * rng.uniform(-1, 1, 3) for _ in points]
    m = mbd.mobility(loop(points, axes))
    assert (m.rank, m.degrees_of_freedom) == (17, 1)
    assert m.dependent[0].structural
    assert all(one.marks == ("unique", "unique", "not", "not", "not", "-") for one in m.reactions)
