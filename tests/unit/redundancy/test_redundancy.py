"""Redundant systems run: what is dropped, that it holds all the same, and that the motion is that of the minimal model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import inertia
from haugmbd.crosscheck import solve_dense
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.redundancy.rank import analyse_rank, only_here
from haugmbd.redundancy.redundancy import redundant_at
from joints import CJ, RJ, SJ, UJ, Distance, Planar, RotationDriver
from tests.support.redundant_loops import GRAVITY, J_BAR, bennett, bennett_angle, bricard, ladder, loop, planar_points
from tests.support.work import Work, assert_linear, work_of

Z = np.array([0.0, 0.0, 1.0])
SAME_MOTION = 1e-9  # two models of one mechanism, RK4 at 0.5 ms over 5 s: both are off by less


def four_bar(make: Callable[..., list[mbd.Joint]]) -> mbd.System:
    """A planar four-bar whose coupler-rocker and rocker-ground joints are what `make` gives."""
    points = planar_points()
    system = mbd.System("four-bar", gravity=GRAVITY)
    a, b, c = (system.add(mbd.Body(f"link {k}", 1.0, J_BAR, r=(points[k] + points[k + 1]) / 2)) for k in range(3))
    system.add(RJ("hinge 0", system.ground, a, point=points[0], axis=Z))
    system.add(RJ("hinge 1", a, b, point=points[1], axis=Z))
    for joint in make(system, b, c, points):
        system.add(joint)
    return system


def all_revolute(s, b, c, p):
    return [RJ("hinge 2", b, c, point=p[2], axis=Z), RJ("hinge 3", c, s.ground, point=p[3], axis=Z)]


MINIMAL = {
    "R S C": lambda s, b, c, p: [SJ("ball", b, c, point=p[2]), CJ("slide", c, s.ground, point=p[3], axis=Z)],
    "C S R": lambda s, b, c, p: [CJ("slide", b, c, point=p[2], axis=Z), SJ("ball", c, s.ground, point=p[3])],
    "planar rows": lambda s, b, c, p: [
        Planar("plane", s.ground, c, point=p[2], normal=Z),
        mbd.CD((1, 0, 0), b, _bar(p, 1, 2), c, _bar(p, 2, 2)),
        mbd.CD((0, 1, 0), b, _bar(p, 1, 2), c, _bar(p, 2, 2)),
        mbd.CD((1, 0, 0), c, _bar(p, 2, 3), s.ground, p[3]),
        mbd.CD((0, 1, 0), c, _bar(p, 2, 3), s.ground, p[3]),
    ],
}


def _bar(points, link, point):
    """A point in the frame of a link."""
    return points[point] - (points[link] + points[link + 1]) / 2


@pytest.fixture(scope="module")
def revolute_run() -> mbd.Result:
    return mbd.simulate(four_bar(all_revolute), 5.0, h=5e-4, store_every=100)


@pytest.mark.slow
@pytest.mark.parametrize("name", MINIMAL)
def test_four_revolutes_move_as_the_minimal_model(name, revolute_run):
    minimal = four_bar(MINIMAL[name]).compile()
    assert (minimal.nc, minimal.redundancy.rank) == (17, 17)
    expected = mbd.simulate(minimal, 5.0, h=5e-4, store_every=100)
    for quantity in ("r", "p", "v", "omega_bar"):
        wanted = getattr(expected, quantity)
        tol = SAME_MOTION * max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(getattr(revolute_run, quantity), wanted, rtol=0.0, atol=tol)


@pytest.mark.slow
def test_dropped_rows_hold_and_carry_nothing(revolute_run):
    found = revolute_run.model.redundancy
    assert (found.n_rows, found.rank, len(found.dropped)) == (20, 17, 3)
    assert 6 * revolute_run.model.nb - found.rank == 1
    dropped = list(found.dropped)
    assert (revolute_run.lam[:, dropped] == 0.0).all()
    for level, tol in (("position", 1e-12), ("velocity", 1e-12), ("acceleration", 1e-10)):
        assert np.abs(revolute_run.violation(level)).max() < tol, level
    assert np.abs(revolute_run.energy().drift).max() < 1e-8


def test_the_record_says_what_and_why():
    model = four_bar(all_revolute).compile()
    found = model.redundancy
    assert [label.joint for label in found.dropped_labels] == ["hinge 3"] * 3
    assert found.joints == ("hinge 3",)
    assert found.structural == found.dropped
    text = str(found)
    assert text.startswith("20 rows, rank 17 (pivots below 1e-10 of their scale are zero); dropped, consistent:")
    assert text.count("'hinge 3'") == 3
    Phi_q = mbd.evaluate(model).Phi_q.toarray()
    for row, terms in found.dependencies:
        assert row in found.dropped
        np.testing.assert_allclose(sum(c * Phi_q[k] for k, c in terms), Phi_q[row], rtol=0.0, atol=1e-12)
    with pytest.raises(AttributeError):
        found.rank = 3


def hinge_turn(run, k):
    """The angle by which hinge k of a loop has turned since the start, about its z axis, in every state of a run."""
    joint = run.model.joints[f"hinge {k}"]
    A_i, A_j = (rotation_matrix(run.p[:, body]) @ axes for body, axes in ((joint.i, joint.A_bar_i), (joint.j, joint.A_bar_j)))
    relative = np.einsum("tki,tkj->tij", A_i, A_j)
    angle = np.unwrap(np.arctan2(relative[:, 1, 0], relative[:, 0, 0]))
    return angle - angle[0]


@pytest.mark.slow
@pytest.mark.parametrize(("off", "rank"), [(1e-6, 17), (1e-5, 17), (5e-3, 18)])
def test_axes_that_are_nearly_parallel(off, rank):
    """An axis typed with five digits is taken for parallel; one that is off by 5e-3 locks the mechanism, and nothing is hidden."""
    axes = [Z, Z, Z, np.array([0.0, off, 1.0])]
    result = mbd.simulate(loop(planar_points(), axes), 1.0, h=1e-3)
    assert result.model.redundancy.rank == rank
    moved = np.abs(result.r[-1] - result.r[0]).max()
    if rank == 17:
        assert np.abs(result.violation()).max() < 3.0 * off
        assert moved > 0.1
    else:
        assert np.abs(result.violation()).max() < 1e-11
        assert moved < 1e-8


@pytest.mark.slow
def test_kept_rows_do_not_fall_together_in_bennetts_linkage():
    """Two of the five rows of the last hinge are kept; elsewhere on the motion these two depend on the others, the five never do."""
    model = bennett().compile()
    assert (model.nc, model.redundancy.rank) == (20, 17)
    run = mbd.simulate(model, 10.0, h=1e-3, store_every=10)
    kept = np.delete(np.arange(20), model.redundancy.dropped)
    weakest = [
        np.linalg.svd(mbd.evaluate(model, run.state(k)).Phi_q.toarray()[kept], compute_uv=False)[-1] for k in range(len(run))
    ]
    assert min(weakest) < 2e-2 < 0.1 < max(weakest)
    assert np.abs(run.violation()).max() < 1e-11
    assert np.abs(run.energy().drift).max() < 1e-8
    adaptive = mbd.simulate(model, 10.0, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(adaptive.r[-1], run.r[-1], rtol=0.0, atol=1e-8)
    turns = [0.8, bennett_angle(0.8)]  # the closed form: the angles of hinges 0 and 1 keep Bennett's relation
    first, second = (start + hinge_turn(run, k) for k, start in enumerate(turns))
    half = np.sin(first / 2) * np.sin(second / 2), np.cos(first / 2) * np.cos(second / 2)
    constant = np.tan(turns[0] / 2) * np.tan(turns[1] / 2)
    np.testing.assert_allclose(half[0], constant * half[1], rtol=0.0, atol=1e-11)
    assert np.ptp(first) > 3.0


@pytest.mark.slow
def test_bricards_linkage_moves_where_gruebler_says_it_cannot():
    model = bricard().compile()
    assert (model.nc, 6 * model.nb, model.redundancy.rank) == (30, 30, 29)
    result = mbd.simulate(model, 2.0, h=1e-3)
    assert np.abs(result.violation()).max() < 1e-11
    assert np.abs(result.energy().drift).max() < 1e-8
    assert np.abs(result.r[-1] - result.r[0]).max() > 0.1


RUNS = {
    "Baumgarte": {"h": 1e-3, "stabilization": mbd.Baumgarte(alpha=20.0, beta=20.0)},
    "none": {"h": 1e-3, "stabilization": None},
    "Dormand-Prince": {"rtol": 1e-10, "atol": 1e-12},
    "SciPy": {"integrator": mbd.SciPySolver("DOP853", rtol=1e-10, atol=1e-12)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_every_method_runs_a_redundant_system(name):
    model = bennett().compile()
    expected = mbd.simulate(model, 1.0, h=1e-3)
    result = mbd.simulate(model, 1.0, **RUNS[name])
    np.testing.assert_allclose(result.r[-1], expected.r[-1], rtol=0.0, atol=1e-7)
    assert np.abs(result.violation()).max() < 1e-6


def random_loop(kind: str, seed: int) -> tuple[mbd.System, int]:
    """A loop of hinges with random sides, and how many of its rows depend on others: planar 3, spherical 3."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    if kind == "planar":
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, n))
        sides = zip(angles, *rng.uniform(1, 3, (2, n)), strict=True)
        points = [turn @ np.array([a * np.cos(t), b * np.sin(t), rng.normal()]) for t, a, b in sides]
        return loop(points, [turn[:, 2]] * n), 3
    points = list(rng.normal(size=(n, 3)))
    return loop(points, [p / np.linalg.norm(p) for p in points]), 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["planar", "spherical"])
@pytest.mark.parametrize("seed", range(6))
def test_random_loops(kind, seed):
    system, dependent = random_loop(kind, seed)
    model = system.compile()
    found = model.redundancy
    assert len(found.dropped) == dependent
    assert found.only_here == ()
    result = mbd.simulate(model, 0.3, h=1e-3, store_every=100)
    for k in range(len(result)):
        s = np.linalg.svd(mbd.evaluate(model, result.state(k)).Phi_q.toarray(), compute_uv=False)
        assert int(np.sum(s > 1e-8 * s[0])) == found.rank
    assert np.abs(result.violation()).max() < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("make", [bennett, bricard, lambda: ladder(6)], ids=["Bennett", "Bricard", "ladder"])
def test_accelerations_and_multipliers_against_lapack(make):
    model = make().compile()
    result = mbd.simulate(model, 0.2, h=1e-3)
    for state in (model.state(), result.state()):
        found, expected = mbd.accelerations(model, state), solve_dense(model, state)
        for name in ("v_dot", "omega_bar_dot", "lam"):
            wanted = getattr(expected, name)
            np.testing.assert_allclose(getattr(found, name), wanted, rtol=0.0, atol=1e-9 * max(1.0, np.abs(wanted).max()))


def test_rows_that_depend_only_at_this_pose_are_refused():
    """Two bars in line: their rows are parallel there, and one would let the point go where two do not."""
    system = mbd.System("in line")
    point = system.add(mbd.Body("point", 1.0, J_BAR))
    for name, x in (("left", -1.0), ("right", 1.0)):
        system.add(Distance(name, system.ground, point, point_i=(x, 0, 0), point_j=(0, 0, 0)))
    (fault,) = system.faults()
    assert "'left'" in fault.where
    assert "'right'" in fault.where
    assert "only there" in fault.what
    with pytest.raises(mbd.ModelError, match="singular"):
        system.compile()


def test_the_verdict_does_not_depend_on_the_rest_of_the_model():
    for lean, expected in ((np.pi / 2, 3), (0.3, 0)):
        model = ladder(3, lean=lean).compile(check_pose=False)
        assert len(only_here(model, model.state(), analyse_rank(model, mbd.evaluate(model)))) == expected


def test_a_model_compiled_at_a_singular_pose_is_examined_at_another():
    flat = ladder(2, lean=np.pi / 2).compile(check_pose=False)
    assert flat.redundancy.dropped == ()
    start = ladder(2).compile()
    turn = np.pi / 2 - 0.3  # back from lying flat about z; the bars keep their direction
    p = flat.state().p.copy()
    for name in ("upright 0", "upright 1", "upright 2"):
        p[flat.body(name)] = (np.cos(turn / 2), 0, 0, np.sin(turn / 2))
    state = flat.state().replace(r=start.state().r, p=p)
    model = redundant_at(flat, state)
    assert (model.redundancy.rank, len(model.redundancy.dropped), model.redundancy.only_here) == (29, 6, ())
    assert flat.redundancy.dropped == ()
    found = mbd.simulate(model, 0.2, h=1e-3, state=state)
    assert np.abs(found.violation()).max() < 1e-12
    expected = mbd.accelerations(start)
    bars = [start.body("bar 0"), start.body("bar 1")]
    np.testing.assert_allclose(mbd.accelerations(model, state).v_dot[bars], expected.v_dot[bars], rtol=0.0, atol=1e-9)


def test_a_driven_parallelogram_turns_through_its_singular_poses():
    """Nothing is free to move, and twice a turn the rows depend on others: steps that land there are leapt over."""
    speed, points = 2.0 * np.pi, [np.array(p, dtype=float) for p in ((0, 0, 0), (0, 1, 0), (2, 1, 0), (2, 0, 0))]
    system = mbd.System("driven parallelogram")
    crank = {"v": (-speed / 2, 0, 0), "omega_bar": (0, 0, speed)}
    bodies = [system.ground]
    for k, motion in enumerate((crank, {"v": (-speed, 0, 0)}, crank)):
        bodies.append(system.add(mbd.Body(f"link {k}", 1.0, J_BAR, r=(points[k] + points[k + 1]) / 2, **motion)))
    hinges = [system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % 4], point=points[k], axis=Z)) for k in range(4)]
    system.add(RotationDriver("motor", hinges[0], lambda t: speed * t))
    result = mbd.simulate(system, 1.0, h=1.0 / 400.0)
    assert [round(place.t, 4) for place in result.singular_crossings] == [0.25, 0.75]
    coupler = result["link 1"].r
    np.testing.assert_allclose(coupler[:, 0], 1.0 - np.sin(speed * result.t), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(coupler[:, 1], np.cos(speed * result.t), rtol=0.0, atol=1e-9)


@pytest.mark.slow
def test_a_ladder_of_sixty_four_bars():
    def work(n: int) -> Work:
        system = ladder(n)
        model = system.compile()
        assert len(model.redundancy.dropped) == 3 * n
        assert model.redundancy.only_here == ()
        return work_of(system.compile)

    assert_linear(work(30), work(60))  # a dense SVD takes four times the memory and eight times the time
    result = mbd.simulate(ladder(60), 0.1, h=2e-3, store_every=50)
    assert np.abs(result.violation()).max() < 1e-11


def test_drivers_that_part_later_stop_the_run():
    system = mbd.System("motors")
    wheel = system.add(mbd.Body("wheel", 1.0, J_BAR))
    hub = system.add(RJ("hub", system.ground, wheel, point=(0, 0, 0), axis=Z))
    system.add(RotationDriver("left", hub, lambda t: t))
    system.add(RotationDriver("right", hub, lambda t: t + t**3))
    with pytest.raises(mbd.SimulationError, match="'right'.*dropped row") as caught:
        mbd.simulate(system, 1.0, h=1e-3, project_velocity=True)
    assert caught.value.result is not None


def test_a_massless_rod_in_a_redundant_loop():
    """The coupler is a slender rod: factored with a little inertia about its axis, refined, with rows left out."""
    points = planar_points()
    system = loop(points, [Z] * 4)
    rod = mbd.System("rods", gravity=GRAVITY)
    bodies = [rod.ground]
    for k in range(3):
        along = points[k + 1] - points[k]
        mass, J = inertia.rod(float(np.linalg.norm(along)), density=1.0, axis=along)
        bodies.append(rod.add(mbd.Body(f"link {k}", mass, J, r=(points[k] + points[k + 1]) / 2)))
    for k, joint in enumerate(system.joints):
        rod.add(RJ(joint.name, bodies[k], bodies[(k + 1) % 4], point=points[k], axis=Z))
    result = mbd.simulate(rod, 1.0, h=1e-3)
    assert len(result.model.redundancy.dropped) == 3
    assert np.abs(result.violation()).max() < 1e-12
    assert np.abs(result.energy().drift).max() < 1e-7


def test_universal_joint_pair_is_not_redundant():
    system = mbd.System("shaft")
    a, b = (system.add(mbd.Body(name, 1.0, J_BAR, r=(k, 0, 0))) for k, name in enumerate("ab"))
    system.add(RJ("bearing", system.ground, a, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(UJ("cross", a, b, point=(0.5, 0, 0), axis_i=(0, 1, 0), axis_j=(0, 0, 1)))
    assert system.compile().redundancy.dropped == ()
