"""Bounds of contact forces that are not unique: against linear programs between two polygons, and what joints carry of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import haugmbd as mbd
from haugmbd.contact.uniqueness import ForceSet, force_bounds
from haugmbd.math.cone_program import least_values
from haugmbd.math.linear_program import Polyhedron
from joints import Fixed

g = 9.81


@pytest.mark.parametrize("seed", range(6))
def test_linear_programs_with_rows_that_are_added_give_the_values_of_another_method(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    n = int(rng.integers(d + 1, 25))
    polyhedron = Polyhedron(rng.normal(size=(n, d)), np.abs(rng.normal(size=n)) * (rng.uniform(size=n) < 0.7))
    for _ in range(4):
        cost = rng.normal(size=d)
        w, ends = polyhedron.least(cost)
        other = linprog(cost, A_ub=polyhedron.A, b_ub=polyhedron.b, bounds=(None, None))
        assert ends == (other.status == 0)
        if ends:
            assert cost @ w == pytest.approx(other.fun, abs=1e-9)
            row = rng.normal(size=d)
            polyhedron.add(row, max(float(row @ w) - 0.1, 0.0))
        else:
            assert cost @ w < 0.0
            assert (polyhedron.A @ w <= 1e-9).all()


def random_set(seed, m=4):
    """Return forces of m points on a plane that all stick, with the same resultant: most of them may slip nearly."""
    rng = np.random.default_rng(seed)
    x, mu = np.column_stack([rng.uniform(-1, 1, (m, 2)), np.zeros(m)]), rng.uniform(0.2, 0.8, m)
    f = np.column_stack([rng.uniform(0.1, 1.0, m), np.zeros((m, 2))])
    f[:, 1:] = rng.uniform(-0.5, 0.5, (m, 2)) * (mu * f[:, 0])[:, None]
    S = np.zeros((6, 3 * m))
    for k in range(m):
        for a, e in enumerate(np.eye(3)[[2, 0, 1]]):
            S[:3, 3 * k + a], S[3:, 3 * k + a] = e, np.cross(x[k], e)
    z = f.ravel()
    return ForceSet(np.eye(3 * m), S, S @ z, z, 3 * np.arange(m), np.ones(m), mu)


def by_polygons(F, row, sides, outside):
    """Return the least row . z with circles replaced by polygons of `sides` tangents, or of as many corners."""
    shrink, A = 1.0 if outside else np.cos(np.pi / sides), []
    for k, n in enumerate(F.first):
        for a in 2 * np.pi * np.arange(sides) / sides:
            line = np.zeros(len(F.z))
            line[n : n + 3] = -F.mu[k] * shrink, np.cos(a), np.sin(a)
            A.append(line)
    return linprog(row, A_ub=A, b_ub=np.zeros(len(A)), A_eq=F.S, b_eq=F.right, bounds=(None, None)).fun


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_between_those_of_polygons(seed):
    F = random_set(seed)
    low, high = force_bounds(F)
    for k, a in ((0, 0), (1, 1), (3, 2)):
        row = F.columns[3 * k + a]
        assert by_polygons(F, row, 40, True) - 1e-7 <= low[k, a] <= by_polygons(F, row, 40, False) + 1e-7
        assert -by_polygons(F, -row, 40, False) - 1e-7 <= high[k, a] <= -by_polygons(F, -row, 40, True) + 1e-7


def test_a_ball_of_three_dimensions_and_an_endless_cone():
    G, h = -np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]), np.array([[2.0, 0.0, 0.0]])  # |x| <= 2
    costs = np.array([[3.0, 4.0], [0.0, -1.0]])
    np.testing.assert_allclose(least_values(costs, G, h), [-10.0, -2.0], rtol=1e-9)
    G = -np.array([[[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]])  # |x| <= y
    assert np.isnan(least_values(np.array([[0.0, -1.0]]), G, np.zeros((1, 3))))[0]


def table_on_plates(mu):
    """Return a table whose legs stand two and two on plates that are fixed to the ground at x = -0.3 and 0.3."""
    system = mbd.System("table", gravity=(0, 0, -g))
    top = system.add(mbd.Body("top", 2.0, (0.1, 0.1, 0.1), r=(0, 0, 0.4)))
    for side in (-1, 1):
        plate = system.add(mbd.Body(f"plate {side}", 1.0, (0.1, 0.1, 0.1), r=(0.3 * side, 0, -0.1)))
        system.add(Fixed(f"bolt {side}", system.ground, plate, point=plate.r))
        for y in (-0.2, 0.2):
            foot = mbd.Sphere(0.0, center=(0.3 * side, y, -0.4))
            system.add(mbd.Contact(f"{side} {y}", plate, top, shape_i=mbd.Plane(point=(0, 0, 0.1)), shape_j=foot, mu=mu))
    return system


@pytest.mark.parametrize("method", [{"integrator": mbd.RK4()}, {"integrator": mbd.MoreauJean()}])
def test_what_joints_carry_of_shared_loads_is_told(method):
    """Each plate has half of the weight; which of its two legs has it, and how the friction of the plates squeezes the top, is open."""
    result = mbd.simulate(table_on_plates(0.5), 2e-3, h=1e-3, **method)
    bolt = result.reaction("bolt 1")
    assert bolt.force[-1, 2] == pytest.approx(2.0 * g)
    assert bolt.unique == (False, False, True, False, False, False)
    smooth = mbd.simulate(table_on_plates(0.0), 2e-3, h=1e-3, **method).reaction("bolt 1")
    assert smooth.unique == (True, True, True, False, True, True)
