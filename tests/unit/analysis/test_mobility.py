"""The mobility report: counts, dependent rows, motions and unique reactions, each against a dense computation or a closed form."""

from __future__ import annotations

from math import pi, sin
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.diagnostics.joint_reactions import COMPONENTS
from haugmbd.gallery import GALLERY
from haugmbd.math.euler_parameters import rotation_matrix
from joints import CJ, RJ, SJ, TJ, Distance, RotationDriver
from tests.support.mobility_systems import SYSTEMS, Z, four_bar, tree_with_loops
from tests.support.redundant_loops import GRAVITY, J_BAR, bennett, bricard, denavit_hartenberg, ladder, loop, planar_points

DATA = Path(__file__).resolve().parents[2] / "reference" / "data"

BENNETT = np.loadtxt(DATA / "bennett.csv", delimiter=",", skiprows=1)[:, :2]


def flat_parallelogram(*, hinges: bool) -> mbd.System:
    """All bars on the x axis; closed by two hinges (3 rows too many), or by a ball and a cylinder (none)."""
    points = [np.array(p, dtype=float) for p in ((0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0))]
    if hinges:
        return loop(points, [Z] * 4)
    system = mbd.System("parallelogram", gravity=GRAVITY)
    a, b, c = (system.add(mbd.Body(f"link {k}", 1.0, J_BAR, r=(points[k] + points[k + 1]) / 2)) for k in range(3))
    system.add(RJ("A", system.ground, a, point=points[0], axis=Z))
    system.add(RJ("B", a, b, point=points[1], axis=Z))
    system.add(SJ("C", b, c, point=points[2]))
    system.add(CJ("D", c, system.ground, point=points[3], axis=Z))
    return system


def null_space(M: np.ndarray) -> np.ndarray:
    """An orthonormal basis (n, k) of M x = 0, by LAPACK."""
    _, s, V = np.linalg.svd(M)
    return V[np.count_nonzero(s > 1e-9 * s[0]) :].T


def dense_flags(model: mbd.Model, state: mbd.State) -> dict[str, tuple[bool, ...]]:
    """Which components vanish on the null space of Phi_q^T: force and torque on body j at the joint's point, in its frame."""
    rows = mbd.evaluate(model, state)
    N = null_space(rows.Phi_q.toarray().T)
    flags = {}
    for name, e in model.joints.items():
        A = rotation_matrix(state.p[e.j])
        side = (rows.bodies[e.rows, 1] == e.j).astype(int)
        T = np.array([np.concatenate([rows.Phi_r[k, s], A @ rows.PiBar[k, s]]) for k, s in zip(e.rows, side, strict=True)])
        T[:, 3:] -= np.cross(A @ e.s_bar_j, T[:, :3])
        T = np.concatenate([T[:, :3] @ A @ e.A_bar_j, T[:, 3:] @ A @ e.A_bar_j], axis=1)
        flags[name] = tuple((np.abs(T.T @ N[e.rows]) < 1e-9).all(axis=1).tolist())
    return flags


def test_four_revolutes_in_a_plane():
    """Forces in the plane are unique, those across it are not; torques about axes in the plane are not, and the hinges carry none
    about their own axis: a stress without a load is one wrench (F, M) all around the loop that turns no hinge, M . z = P_k x F . z,
    and four points P_k that are not in line leave F = (0, 0, F_z), M = (M_x, M_y, 0)."""
    m = mbd.mobility(four_bar())
    assert (m.bodies, m.rows, m.rank, m.gruebler, m.degrees_of_freedom) == (3, 20, 17, -2, 1)
    assert m.ok
    (one,) = m.dependent
    assert one.joints == ("hinge 0", "hinge 1", "hinge 2", "hinge 3")
    assert [str(line.row) for line in one.rows] == ["'hinge 3' CD z", "'hinge 3' DP1 (1)", "'hinge 3' DP1 (2)"]
    assert one.structural
    assert one.consistent
    for name in one.joints:
        assert m.reaction(name).unique == (True, True, False, False, False, True)
        assert m.reaction(name).carried == (True, True, True, True, True, False)
        assert m.reaction(name).marks == ("unique", "unique", "not", "not", "not", "-")
    (motion,) = m.motions
    assert motion.joint == "hinge 0"
    turns = {t.body: t.omega[2] for t in motion.twists}  # bars (0, 1), (3, 1), (1, -2): the loop closes, w x bars = 0
    np.testing.assert_allclose([turns[f"link {k}"] for k in range(3)], [1.0, -1 / 7, 3 / 7], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [four_bar, bennett, bricard, lambda: ladder(5), lambda: ladder(3, lean=np.pi / 2), lambda: flat_parallelogram(hinges=True)],
    ids=["four-bar", "Bennett", "Bricard", "ladder", "flat ladder", "flat parallelogram"],
)
def test_flags_and_coefficients_against_a_dense_null_space(make):
    model = make().compile(check_pose=False)
    m = mbd.mobility(model)
    assert {one.joint: one.unique for one in m.reactions} == dense_flags(model, m.state)
    Phi_q = mbd.evaluate(model).Phi_q.toarray()
    assert m.rank == np.linalg.matrix_rank(Phi_q, tol=1e-9)
    lines = [line for one in m.dependent for line in one.rows]
    assert len(lines) == m.rows - m.rank
    for line in lines:
        total = sum(c * Phi_q[name.number] for c, name in line.terms)
        np.testing.assert_allclose(total, Phi_q[line.row.number], atol=1e-11)


def test_flags_against_two_ways_to_share_a_load():
    """What is unique is the same for the kept rows and for the least multipliers; what is not differs under a general load."""
    model = four_bar().compile()
    m = mbd.mobility(model)
    for name in model.joints:
        kept, least = (
            np.concatenate([w.force, w.torque])
            for rule in (mbd.DropDependentRows(), mbd.MinimumNorm())
            for w in [mbd.reaction(model.with_redundancy(rule), None, name, frame="joint")]
        )
        same = np.abs(kept - least) < 1e-9
        assert tuple(same.tolist()) == m.reaction(name).unique, name


def dense_nullity(m: mbd.Mobility, model: mbd.Model) -> tuple[np.ndarray, int]:
    Phi_q = mbd.evaluate(model, m.state).Phi_q.toarray()
    return Phi_q, null_space(Phi_q).shape[1] if len(Phi_q) else 6 * model.nb


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_motions_are_a_basis_of_the_dense_null_space(name):
    model = SYSTEMS[name]().compile(check_pose=False)
    m = mbd.mobility(model)
    Phi_q, nullity = dense_nullity(m, model)
    assert m.degrees_of_freedom == nullity == len(m.motions)
    assert m.unlisted_motions == 0
    u = m.basis[:, 1:].reshape(len(m.motions), 6 * model.nb)
    assert (m.basis[:, 0] == 0.0).all()
    np.testing.assert_allclose(Phi_q @ u.T, 0.0, atol=1e-8 * max(1.0, np.abs(Phi_q).max(initial=0.0) * np.abs(u).max(initial=0.0)))
    assert np.linalg.matrix_rank(u, tol=1e-8) == nullity
    assert max(map(len, str(m).splitlines())) <= 120


def test_a_basis_is_sparse():
    """The arm's motions do not name the loop that carries it, and the loop's motion says that it carries the arm."""
    m = mbd.mobility(tree_with_loops())
    by = {(motion.joint, motion.freedom): motion for motion in m.motions}
    (crank,) = (motion for (joint, _), motion in by.items() if joint == "hinge 0")
    assert [t.body for t in crank.twists] == ["link 0", "link 1", "link 2"]
    assert crank.carried == 2
    elbows = [motion for (joint, _), motion in by.items() if joint == "elbow"]
    assert [[t.body for t in motion.twists] for motion in elbows] == [["arm"], ["arm"]]
    assert all(motion.base == "link 2" and motion.carried == 1 for motion in elbows)
    assert sum(motion.joint == "wrist" for motion in m.motions) == 3
    assert sum(motion.joint == "" for motion in m.motions) == 12  # two that float, in six ways each
    assert not any(motion.joint == "slide" for motion in m.motions)  # the rod holds it


def test_the_words_of_a_slider_crank():
    m = mbd.mobility(SYSTEMS["slider_crank"]())
    assert "by 'R': 'crank' turns 1 about x at (0, 0.1, 0.12);" in str(m)
    assert "'slider' moves 0.04 along x" in str(m)
    assert "reactions: all are unique" in str(m)
    assert str(m).count("\n") < 12


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), np.radians(BENNETT).tolist())
def test_bennetts_linkage(first, second):
    a, alpha, beta = 1.0, pi / 6, 5 * pi / 12  # tan(t1/2) tan(t2/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2)
    b = a * sin(beta) / sin(alpha)
    links = [(first, 0, a, alpha), (second, 0, b, beta), (-first, 0, a, alpha), (-second, 0, b, beta)]
    m = mbd.mobility(loop(*denavit_hartenberg(links)))
    assert (m.rows, m.rank, m.gruebler, m.degrees_of_freedom) == (20, 17, -2, 1)
    assert m.dependent[0].structural
    assert all(one.unique == (False,) * 5 + (True,) for one in m.reactions)
    rate = -sin(second) / sin(first)  # d t2 / d t1, from the product of tangents
    w = {t.body: t.omega for t in m.motions[0].twists}
    relative = np.linalg.norm(w["link 1"] - w["link 0"]) / np.linalg.norm(w["link 0"])
    np.testing.assert_allclose(relative, abs(rate), atol=1e-10)


def test_bricards_linkage():
    m = mbd.mobility(bricard())
    assert (m.rows, m.rank, m.gruebler, m.degrees_of_freedom) == (30, 29, 0, 1)
    (one,) = m.dependent
    assert len(one.joints) == 6
    assert one.structural
    assert "along the motion (structural), consistent" in " ".join(str(m).split())


def test_a_flat_parallelogram_is_singular_and_not_redundant():
    m = mbd.mobility(flat_parallelogram(hinges=False))
    assert (m.rows, m.rank, m.gruebler) == (17, 16, 1)
    assert (m.degrees_of_freedom, m.degrees_of_freedom_nearby) == (2, 1)
    (one,) = m.dependent
    assert not one.structural
    assert "SINGULAR POSE" in str(m)
    assert "only at this pose" in str(m)
    assert not m.ok  # compile refuses it, and says why
    assert "singular" in str(m.faults[0])
    both = mbd.mobility(flat_parallelogram(hinges=True))
    assert (both.rows, both.rank) == (20, 16)
    assert (both.degrees_of_freedom, both.degrees_of_freedom_nearby) == (2, 1)
    assert sum(line.structural for line in both.dependent[0].rows) == 3
    assert both.reaction("hinge 0").unique == (False, True, False, False, False, True)  # along the bars, too


def rods(*lengths: float) -> mbd.System:
    """Rods of these lengths from the ground to one point, 1 m away as modelled."""
    system = mbd.System("rods")
    body = system.add(mbd.Body("bob", 1.0, J_BAR, r=(1, 0, 0)))
    for k, length in enumerate(lengths):
        system.add(Distance(f"rod {k}", system.ground, body, point_i=(0, 0, 0), point_j=(1, 0, 0), distance=length))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(("lengths", "gap"), [((1.0, 1.2), 0.2), ((1.3, 1.0), 0.3), ((0.95, 1.05), 0.1), ((0.2, 1.5), 1.3)])
def test_conflicting_distances(lengths, gap):
    m = mbd.mobility(rods(*lengths))
    (one,) = m.dependent
    assert one.joints == ("rod 0", "rod 1")
    assert not m.consistent
    np.testing.assert_allclose(one.rows[0].gap, gap, rtol=1e-6)
    assert f"CONFLICTING by {one.amount}" in str(m)
    assert one.rows[0].unit == "m"
    assert m.faults


def test_distances_that_agree_are_redundant_only():
    m = mbd.mobility(rods(1.0, 1.0))
    assert m.ok
    assert [str(line) for line in m.dependent[0].rows] == ["'rod 1' D = 'rod 0' D"]
    assert "consistent" in str(m)


def test_drivers_with_different_rates():
    system = mbd.System("motors")
    wheel = system.add(mbd.Body("wheel", 1.0, J_BAR))
    hub = system.add(RJ("hub", system.ground, wheel, point=(0, 0, 0), axis=Z))
    system.add(RotationDriver("left", hub, lambda t: 2.0 * t))
    system.add(RotationDriver("right", hub, lambda t: 5.0 * t))
    m = mbd.mobility(system)
    assert m.dependent[0].amount == "3 rad/s"
    assert m.dependent[0].joints == ("left", "right")
    assert m.degrees_of_freedom == 0


def test_a_row_that_says_nothing():
    system = mbd.System("flat")
    body = system.add(mbd.Body("body", 1.0, J_BAR))
    system.add(mbd.DP1(system.ground, (1, 0, 0), body, (1, 0, 0), 1.0))
    m = mbd.mobility(system)
    assert (m.rank, m.degrees_of_freedom) == (0, 6)
    assert "says nothing at this pose" in str(m)


@pytest.mark.slow
def test_a_ladder_of_sixty_four_bars():
    m = mbd.mobility(ladder(60))
    assert m.rows - m.rank == 180
    assert m.degrees_of_freedom == 1
    assert len(m.dependent) == 60
    assert all(len(one.rows) == 3 and len(one.joints) == 4 and one.structural for one in m.dependent)
    assert all(one.unique == (True, True, False, False, False, True) for one in m.reactions)
    text = str(m)
    assert "180 rows depend on the others" in text
    assert "and 48 more" in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.slow
def test_a_long_chain():
    chain = next(make for make in GALLERY if make.__name__ == "chain")
    m = mbd.mobility(chain(200))
    assert m.degrees_of_freedom == len(m.motions) == 200
    assert [motion.carried for motion in m.motions] == list(range(199, -1, -1))
    assert all(len(motion.twists) == 1 for motion in m.motions)
    assert "and 188 more" in str(m)


def test_another_state():
    model = four_bar().compile()
    result = mbd.simulate(model, 0.5, h=1e-3, store_every=100)
    m = mbd.mobility(model, result.state())
    assert m.pose == "as given"
    assert m.ok
    assert (m.rank, m.degrees_of_freedom) == (17, 1)
    assert {one.joint: one.unique for one in m.reactions} == dense_flags(model, result.state())
    moved = result.state().replace(r=result.state().r + np.array([0.0, 0.0, 0.3]) * (np.arange(4) == 2)[:, None])
    opened = mbd.mobility(model, moved)
    assert {fault.where for fault in opened.faults} == {"joint 'hinge 1'", "joint 'hinge 2'"}
    assert opened.pose == "as given"
    with pytest.raises(mbd.ModelError, match="shape"):
        mbd.mobility(model, result.state().replace(r=np.zeros((2, 3))))


def test_an_open_pose_is_assembled_first():
    system = mbd.System("roughly placed")
    before, end, x = system.ground, (0, 0, 0), 0.0
    for name, joint, length in (("crank", "A", 1.0), ("coupler", "B", 2.0), ("rocker", "C", 2.5)):
        bar = system.add(mbd.Body(name, 1.0, J_BAR, r=(x + length / 2, 0.1 * length, 0)))
        system.add(RJ.from_vectors(joint, before, end, (1, 0, 0), (0, 1, 0), bar, (-length / 2, 0, 0), (0, 0, 1)))
        before, end, x = bar, (length / 2, 0, 0), x + length
    system.add(RJ.from_vectors("D", before, end, (1, 0, 0), (0, 1, 0), system.ground, (3, 0, 0), (0, 0, 1)))
    m = mbd.mobility(system)
    assert m.pose == "assembled"
    assert (m.rank, m.degrees_of_freedom) == (17, 1)
    assert {fault.where for fault in m.faults} == {"joint 'A'", "joint 'B'", "joint 'C'", "joint 'D'"}
    assert "assembled" in str(m).splitlines()[0]
    assert np.abs(mbd.evaluate(system.compile(check_pose=False), m.state).Phi).max() < 1e-10


@pytest.mark.slow
def test_a_loop_that_one_axis_locks():
    tilted = np.array([0.0, np.sin(np.radians(5.0)), np.cos(np.radians(5.0))])
    for k in range(4):
        m = mbd.mobility(loop(planar_points(), [tilted if k == j else Z for j in range(4)]))
        assert m.degrees_of_freedom == 0
        assert [one.odd for one in m.locked] == [f"hinge {k}"]
        assert "5 degrees off" in str(m)
    points = list(np.random.default_rng(3).normal(size=(4, 3)))
    axes = [p / np.linalg.norm(p) for p in points]
    assert mbd.mobility(loop(points, axes)).degrees_of_freedom == 1
    points[2] = points[2] + 0.1 * np.cross(axes[2], Z)
    (one,) = mbd.mobility(loop(points, axes)).locked
    assert one.odd == "hinge 2"
    assert f"misses it by {0.1 * np.linalg.norm(np.cross(axes[2], Z)):.3g} m" in str(one)


@pytest.mark.slow
def test_a_locked_loop_is_said_of_a_part_and_of_what_is_driven():
    """A second, sound four-bar on the rocker moves; the driver of the locked one is in conflict."""
    tilted = np.array([0.0, 0.1, 1.0])
    system = loop(planar_points(), [Z, tilted, Z, Z])
    ends = [np.array(p, dtype=float) for p in ((4, 3, 0), (6, 4, 0), (7, 0, 0))]
    before = system["link 2"]
    for k, end in enumerate((*ends, planar_points()[3])):
        after = system.add(mbd.Body(f"more {k}", 1.0, J_BAR, r=end)) if k < 3 else system["link 2"]
        system.add(RJ(f"pin {k}", before, after, point=end, axis=Z))
        before = after
    assert [one.odd for one in mbd.mobility(system).locked] == ["hinge 1"]
    system.add(RotationDriver("motor", system["hinge 0"], lambda t: t))
    driven = mbd.mobility(system)
    assert [one.odd for one in driven.locked] == ["hinge 1"]
    assert not driven.consistent
    sound = four_bar()
    sound.add(RotationDriver("motor", sound["hinge 0"], lambda t: t))
    assert mbd.mobility(sound).locked == ()


def test_a_hinge_across_that_does_no_harm_is_no_odd_one():
    points = [np.array(p, dtype=float) for p in ((0, 0, 0), (0, 1, 0), (1, 1.5, 0), (3, 2, 0), (4, 0, 0))]
    system = loop(points, [Z, Z, np.array([1.0, 0.0, 0.0]), Z, Z])
    assert mbd.mobility(system).degrees_of_freedom == 1  # four in the plane; the fifth stays
    system.add(RotationDriver("motor", system["hinge 0"], lambda t: t))
    m = mbd.mobility(system)
    assert m.degrees_of_freedom == 0
    assert m.locked == ()


def test_what_is_no_system():
    with pytest.raises(mbd.UsageError, match="System or a compiled Model"):
        mbd.mobility("four-bar")
    with pytest.raises(mbd.UsageError, match="no body"):
        mbd.mobility(mbd.System("empty"))
    with pytest.raises(mbd.UsageError, match="'hinge 9'.*'hinge 0'"):
        mbd.mobility(four_bar()).reaction("hinge 9")


def test_components_are_in_the_order_of_reactions():
    assert COMPONENTS == ("force x", "force y", "force z", "torque x", "torque y", "torque z")


def test_angles_that_look_like_degrees_are_doubted():
    system = mbd.System("lid", gravity=(0, 0, -9.81))
    lid = system.add(mbd.Body("lid", 2.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, lid, point=(0, 0, 0), axis=(0, 1, 0), q0=90.0))
    system.add(mbd.RSDA("spring", pin, k=1.0, theta0=-30.0))
    system.add(mbd.JointSpring("other", pin, k=1.0, free=np.radians(720.0)))
    system.add(mbd.JointLimit("stop", pin, lower=0.0, upper=180.0, k=1.0))
    found = [str(one) for one in mbd.mobility(system).warnings]
    assert found[0].startswith("joint 'pin': q0 = 90 rad is 14.3 turns, and looks like degrees. Give radians: np.radians(90)")
    assert [text.split(" rad")[0] for text in found[1:]] == ["RSDA 'spring': theta0 = -30", "JointLimit 'stop': upper = 180"]


def test_lengths_are_no_degrees():
    system = mbd.System("lift")
    cabin = system.add(mbd.Body("cabin", 500.0, (300.0, 300.0, 200.0)))
    rail = system.add(TJ("rail", system.ground, cabin, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("buffer", rail, lower=-45.0, upper=90.0, k=1e5))
    system.add(mbd.JointSpring("rope", rail, k=1e4, free=30.0))
    assert mbd.mobility(system).warnings == ()
