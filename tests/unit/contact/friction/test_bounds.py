"""Bounds of contact forces that are not unique: against linear programs between two polygons, and what joints carry of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import haugmbd as mbd
from haugmbd.bodies.inertia import box
from haugmbd.contact.uniqueness import ForceSet, force_bounds
from haugmbd.impacts.contact_history import RigidContactHistory
from haugmbd.math.cone_program import least_values
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
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


def sliding(x, v, w, n):
    """A contact whose points x (k, 3) of normal n slide with v + w x x at one instant."""
    slip = v + np.cross(w, x)
    t = slip / np.linalg.norm(slip, axis=1)[:, None]
    k, zero = len(x), np.zeros((1, len(x)))
    state = np.full((1, k), "slip")
    return RigidContactHistory(
        "face", np.zeros(1), zero, zero + 1.0, -0.3 * t[None], x[None], np.tile(n, (1, k, 1)), slip[None], state, (), ()
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_face_that_slides_and_turns_moves_as_its_points_share_the_load(seed):
    """More than three points share a load in many ways; that changes the motion unless all slide alike.  The frame is turned."""
    rng = np.random.default_rng(seed)
    A = rotation_matrix(from_axis_angle(rng.normal(size=3), rng.uniform(0.0, 3.0)))
    e, n = A[:, :2], A[:, 2]
    v, w = e @ rng.normal(size=2), rng.uniform(0.5, 3.0) * n
    for k in range(1, 8):
        x = rng.normal(size=3) + rng.normal(size=(k, 2)) @ e.T
        assert not sliding(x, v, 0.0 * n, n).depends_on_shares[0]
        assert sliding(x, v, w, n).depends_on_shares[0] == (k > 3)
    line = rng.normal(size=(3, 1)) * e[:, 0]
    assert sliding(line, v, w, n).depends_on_shares[0]  # of three points in a row two can carry all
    assert not sliding(line[:2], v, w, n).depends_on_shares[0]


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "depends"), [(0.0, False), (3.0, True)])
def test_a_run_tells_where_the_shares_decide(turn, depends):
    system = mbd.System("slide", gravity=(0.0, 0.0, -g))
    edges = (0.4, 0.3, 0.1)
    body = system.add(mbd.Body("box", *box(edges, mass=1.0), r=(0, 0, 0.05), v=(1.0, 0.4, 0.0), omega_bar=(0.0, 0.0, turn)))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=mbd.Box(edges), mu=0.3))
    contact = mbd.simulate(system, 3e-3, h=1e-3, integrator=mbd.MoreauJean()).contact("floor")
    assert set(contact.depends_on_shares[1:].tolist()) == {depends}
