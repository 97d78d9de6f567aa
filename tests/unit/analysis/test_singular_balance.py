"""Equilibria and small motions at singular poses: refused by the names of the rows that lose their rank there, and only there."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ, UJ, Distance, RotationDriver

G = 9.81
CLOSED = 1e-5  # [m] along a line that rods leave with the square of the distance


def ball(system, name, r):
    return system.add(mbd.Body(name, 1.0, (0.01, 0.01, 0.01), r=r))


def ring(n):
    """A ring of n rods and balls that hangs from one of its joints: an even one collapses to a line, an odd one to a narrow triangle."""
    system, radius = mbd.System("ring", gravity=(0, 0, -G)), 0.5 / sin(pi / n)
    points = [radius * np.array([sin(2 * pi * k / n), 0.0, cos(2 * pi * k / n) - 1.0]) for k in range(n)]
    bodies = [system.ground, *(ball(system, f"ball {k}", points[k]) for k in range(1, n))]
    for k, other in enumerate([*range(1, n), 0]):
        system.add(Distance(f"rod {k}", bodies[k], bodies[other], point_i=points[k], point_j=points[other]))
    return system


def lattice(n):
    """n rhombs of rods, one below the other."""
    system, at = mbd.System("lattice", gravity=(0, 0, -G)), np.zeros(3)
    top = system.ground
    for k in range(n):
        places = {"left": at + (-0.6, 0, -0.8), "right": at + (0.6, 0, -0.8), "low": at + (0, 0, -1.6)}
        balls = {name: ball(system, f"{name} {k}", r) for name, r in places.items()}
        for name in ("left", "right"):
            system.add(Distance(f"upper {name} {k}", top, balls[name], point_i=at, point_j=places[name]))
            system.add(Distance(f"lower {name} {k}", balls[name], balls["low"], point_i=places[name], point_j=places["low"]))
        top, at = balls["low"], places["low"]
    return system


def parallelogram(angle):
    """Crank and rocker of 1 m, coupler of 2 m; all in line at the angle 0."""
    system = mbd.System("parallelogram")
    tip = np.array([cos(angle), sin(angle), 0.0])
    points = [np.zeros(3), tip, tip + (2, 0, 0), np.array([2.0, 0, 0])]
    turned = {"p": (cos(angle / 2), 0, 0, sin(angle / 2))}
    crank = system.add(mbd.Body("crank", 1.0, (0.01, 0.1, 0.1), r=tip / 2, **turned))
    coupler = system.add(mbd.Body("coupler", 1.0, (0.01, 0.1, 0.1), r=tip + (1, 0, 0)))
    rocker = system.add(mbd.Body("rocker", 1.0, (0.01, 0.1, 0.1), r=tip / 2 + (2, 0, 0), **turned))
    system.add(RJ("A", system.ground, crank, point=points[0], axis=(0, 0, 1)))
    system.add(RJ("B", crank, coupler, point=points[1], axis=(0, 0, 1)))
    system.add(SJ("C", coupler, rocker, point=points[2]))
    system.add(CJ("D", system.ground, rocker, point=points[3], axis=(0, 0, 1)))
    return system


@pytest.mark.parametrize("n", [4, 6])
def test_a_ring_that_hangs_in_a_line_has_no_stability(n):
    """It had a motion too many, and was called indifferent or unstable, as rounding would have it."""
    with pytest.raises(
        mbd.SingularKKTError, match=r"in balance, is singular: joints 'rod 0', 'rod 1', .* 1 row depends .*only there"
    ) as e:
        mbd.equilibrium(ring(n))
    found = e.value.result
    np.testing.assert_allclose(found.r[1:, :2], 0.0, atol=CLOSED)
    np.testing.assert_allclose(found.r[1:, 2], [-min(k, n - k) for k in range(1, n)], atol=CLOSED)


def test_a_ring_of_an_odd_number_of_rods_is_regular():
    found = mbd.equilibrium(ring(5))
    assert found.dof == 6 * 4 - 5


def test_every_rhomb_of_a_lattice_that_has_collapsed_is_named():
    with pytest.raises(mbd.SingularKKTError) as e:
        mbd.equilibrium(lattice(2))
    for k in (0, 1):
        names = ", ".join(f"'{name} {k}'" for name in ("upper left", "lower left", "upper right", "lower right"))
        assert f"joints {names}: 1 row depends on the others at this pose (4 rows, rank 3)" in str(e.value)


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-6, pi])
def test_links_in_line_have_no_small_motions(angle):
    """One degree of freedom was found, and a motion of all links across: there are two ways on."""
    model, flat = parallelogram(0.7).compile(), parallelogram(angle).compile(check_pose=False).state()
    for analysis in (mbd.equilibrium, mbd.linearize):
        with pytest.raises(
            mbd.SingularKKTError, match=r"is singular: joints 'A', 'B', 'C', 'D': 1 row .*\(17 rows, rank 16\), and only"
        ):
            analysis(model, flat)


def test_links_that_are_hardly_not_in_line_move_as_one():
    model, near = parallelogram(0.7).compile(), parallelogram(1e-3).compile().state()
    (mode,) = mbd.linearize(model, near).modes
    turn = mode.shape[:, 5].real
    np.testing.assert_allclose(turn[1:] / turn[1], [1, 0, 1], atol=1e-9)  # rounding over the angle


def test_a_dead_centre_is_singular_only_where_the_slide_is_driven():
    """Crank and rod in line: with a free crank the pose is regular."""
    system = parallelogram(0.7)
    system.add(RotationDriver("motor", system["A"], 0.0))
    assert mbd.equilibrium(system).dof == 0


def four_bar_on_a_flap():
    """A flap that hangs down after a quarter of a turn, and a four-bar of revolute joints on it, which is modelled level."""
    system = mbd.System("flap", gravity=(0, 0, -G))
    flap = system.add(mbd.Body("flap", 50.0, (1.0, 1.0, 1.0), r=(0, 1.5, 0)))
    system.add(RJ("hinge", system.ground, flap, point=(0, 0, 0), axis=(1, 0, 0)))
    points = np.array([(0, 1, 0), (0.1, 2, 0), (3, 3, 0), (4, 1, 0)], dtype=float)
    links = [system.add(mbd.Body(f"link {k}", 1.0, (0.1, 0.1, 0.1), r=points[k : k + 2].mean(axis=0))) for k in range(3)]
    bodies = [flap, *links, flap]
    for k, point in enumerate(points):
        system.add(RJ("ABCD"[k], bodies[k], bodies[k + 1], point=point, axis=(0, 0, 1)))
    return system


def test_rows_that_lose_their_rank_on_the_way_are_replaced():
    """Across the plane of the loop a row follows from the others: along z where it is modelled, along y after a quarter of a turn."""
    model = four_bar_on_a_flap().compile()
    found = mbd.equilibrium(model)
    np.testing.assert_allclose(found.state.r[1], (0, 0, -1.5), atol=0.2)
    assert found.dof == 2
    assert found.stable
    a = mbd.accelerations(model, found.state)
    assert max(np.abs(a.v_dot).max(), np.abs(a.omega_bar_dot).max()) < 1e-11
    assert [mode.oscillates for mode in mbd.linearize(found).modes] == [True, True]
    assert abs(model.mass @ found.state.r[:, 1]) < 1e-9  # the moment about the hinge, over G
    assert abs(found.reaction("hinge").force[2] - G * model.mass.sum()) < 1e-9


def test_a_rod_that_turns_about_itself_without_inertia_has_no_small_motions():
    """A slender rod on a universal joint whose first axis it comes to hang along: one mode of 30 rad/s was that of rounding."""
    system = mbd.System("rod", gravity=(0, 0, -G))
    rod = system.add(mbd.Body("rod", 1.0, (0, 0.1, 0.1), r=(0.5, 0, 0)))
    system.add(UJ("cross", system.ground, rod, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(0, 1, 0)))
    found = mbd.equilibrium(system)
    assert found.stability is mbd.Stability.INDIFFERENT
    with pytest.raises(mbd.SingularKKTError, match="no inertia beside the others: 'rod' turns 1.00 about z"):
        mbd.linearize(found)


@pytest.mark.parametrize(("load", "at_edge"), [(0.0, True), (1e-3, False)])
def test_a_pose_at_the_edge_of_a_rigid_stop_moves_to_one_side_only(load, at_edge):
    """It had the frequency of a motion to both sides."""
    system = mbd.System("stop")
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1)))
    slide = system.add(TJ("slide", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointSpring("spring", slide, k=10.0))
    system.add(mbd.JointLimit("stop", slide, lower=0.0, upper=1.0, restitution=0.5))
    system.add(mbd.PointForce("push", mass, force=(load, 0, 0)))
    if at_edge:
        with pytest.raises(mbd.SimulationError, match=r"edge of a rigid stop, JointLimit 'stop': it can move to one side only"):
            mbd.equilibrium(system)
        with pytest.raises(mbd.UsageError, match=r"at a rigid stop, JointLimit 'stop', or beyond"):
            mbd.linearize(system)
        return
    found = mbd.equilibrium(system)
    np.testing.assert_allclose(mbd.linearize(found).omega, [10.0**0.5], rtol=1e-9)
