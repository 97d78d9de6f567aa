"""Assembly: positions to rounding, velocities exact in kinetic energy, flipped joints found and turned back, failures named."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.analysis.assembly import position_solver
from haugmbd.analysis.assembly.branches import bodies_to_turn, choices, signs_of
from haugmbd.analysis.assembly.result import joint_gaps
from haugmbd.gallery import chain, double_pendulum, four_bar, hoberman_ring, pendulum, planar_slider_crank, slider_crank
from haugmbd.math.euler_parameters import from_axis_angle, product, rotation_matrix
from haugmbd.simulation.stepping.progress import Progress
from joints import CJ, RJ, Distance, RotationDriver, TranslationDriver
from tests.support.faulty_mechanisms import MECHANISMS, bar_loop, planar_loop, shaken
from tests.support.redundant_loops import bennett
from tests.support.seeds import seeds

assemble_module = importlib.import_module("haugmbd.analysis.assembly.assemble")
CLOSED = 1e-12  # |Phi| in the rows' own units: the goal, rounding is 1e-15


def mass_matrix(model):
    """diag(m 1, J_bar), dense."""
    n = model.nb
    M = np.zeros((6 * n, 6 * n))
    for k in range(n):
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = model.mass[k + 1] * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = model.J_bar[k + 1]
    return M


def velocity(state):
    return np.hstack([state.v, state.omega_bar])[1:].ravel()


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_shaken_mechanism_closes_in_ten_iterations(name, rng):
    model = MECHANISMS[name]().compile(check_pose=False)
    for _ in range(2):
        assembly = mbd.assemble(model, shaken(model.state(), 0.05, rng))
        rows = mbd.evaluate(model, assembly.state)
        assert assembly.iterations <= 10
        assert np.abs(rows.Phi).max() <= CLOSED
        assert np.abs(rows.Phi_q @ velocity(assembly.state) - rows.nu).max() < 1e-9
        assert assembly.flipped == ()


def test_a_system_whose_pose_does_not_fit_is_simulated_from_its_assembly():
    system = bar_loop((1.0, 2.0, 2.0), (3.0, 0.0))
    with pytest.raises(mbd.ModelError, match="'D'"):
        system.compile()
    assembly = mbd.assemble(system)
    result = mbd.simulate(assembly.model, 0.1, h=0.01)
    np.testing.assert_array_equal(result.r[0], assembly.state.r)
    assert np.abs(result.violation()).max() < 1e-12
    assert np.abs(result.energy().drift).max() < 1e-5
    other = mbd.simulate(assembly.model, 0.1, h=0.01, state=assembly.state)
    np.testing.assert_array_equal(result.r, other.r)


def test_the_correction_is_the_least_in_the_metric(rng):
    """A small one is that of the projection: W d = -Phi_q^T mu, so that d is W-orthogonal to every motion that the rows allow."""
    model = slider_crank().compile()
    start = shaken(model.state(), 1e-5, rng)
    end = mbd.assemble(model, start).state
    turn = 2.0 * np.array([product(p * [1, -1, -1, -1], q)[1:] for p, q in zip(start.p, end.p, strict=True)])
    d = np.hstack([end.r - start.r, turn])[1:].ravel()
    Phi_q = mbd.evaluate(model, end).Phi_q.toarray()
    W = mass_matrix(model)
    for k in range(model.nb):  # slender bodies are held to turn as if their least moment were a tenth of their largest
        J = W[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6]
        moments, axes = np.linalg.eigh(J)
        J[:] = axes * np.maximum(moments, 0.1 * moments[-1]) @ axes.T
    free = np.linalg.svd(Phi_q)[2][np.linalg.matrix_rank(Phi_q) :]
    assert np.abs(free @ W @ d).max() < 1e-4 * np.linalg.norm(W @ d)
    assert np.linalg.norm(d) > 1e-6


def test_velocities_are_the_nearest_in_kinetic_energy(rng):
    """Against the dense KKT system of the exact inertia."""
    model = slider_crank(driven=True).compile()
    given = model.state().replace(v=np.vstack([np.zeros(3), rng.normal(size=(3, 3))]))
    given = given.replace(omega_bar=np.vstack([np.zeros(3), rng.normal(size=(3, 3))]))
    rows = mbd.evaluate(model, given)
    J, M, n = rows.Phi_q.toarray(), mass_matrix(model), 6 * model.nb
    KKT = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    du = np.linalg.solve(KKT, np.concatenate([np.zeros(n), rows.nu - J @ velocity(given)]))[:n]
    found = velocity(mbd.assemble(model, given).state)
    np.testing.assert_allclose(found, velocity(given) + du, rtol=0.0, atol=1e-11)


def test_the_velocities_of_slender_rods_fulfil_their_rows_to_rounding(rng):
    """A rod has next to no inertia about itself: velocities about that axis had an error of 1e-9 of those that were given."""
    model = planar_slider_crank().compile()
    given = model.state().replace(omega_bar=np.vstack([np.zeros(3), 10.0 * rng.normal(size=(3, 3))]))
    state = mbd.assemble(model, given).state
    rows = mbd.evaluate(model, state)
    assert np.abs(rows.Phi_q @ velocity(state) - rows.nu).max() < 1e-14 * np.abs(velocity(given)).max()


def test_what_is_held_stays(rng):
    system = four_bar()
    crank, rocker, A = system["crank"], system["rocker"], system["A"]
    model = system.compile()
    start = shaken(model.state(), 0.03, rng)
    kept = mbd.assemble(system, start, hold=[mbd.FixedCoordinates(rocker, "x", value=3.45)]).state
    assert kept.r[3, 0] == 3.45
    turned = mbd.assemble(system, hold=mbd.FixedCoordinates(A, value=0.25, rate=2.0)).state
    np.testing.assert_allclose(turned.p[1], [np.cos(0.125), 0.0, np.sin(0.125), 0.0], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(turned.omega_bar[1], [0.0, 2.0, 0.0], rtol=0.0, atol=1e-11)
    rows = mbd.evaluate(model, turned)
    assert np.abs(rows.Phi_q @ velocity(turned)).max() < 1e-11
    fixed = mbd.assemble(system, hold=[crank])
    np.testing.assert_array_equal(fixed.state.r[1], model.state().r[1])
    assert "'crank'" in str(fixed)


def test_a_held_displacement():
    system = slider_crank()
    model = system.compile()
    state = mbd.assemble(system, hold=[mbd.FixedCoordinates(system["T"], value=0.03, rate=0.5)]).state
    np.testing.assert_allclose(state.r[3], [0.23, 0.0, 0.0], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(state.v[3], [0.5, 0.0, 0.0], rtol=0.0, atol=1e-10)
    assert np.abs(mbd.evaluate(model, state).Phi).max() < CLOSED


@pytest.mark.slow
def test_a_heavy_weight_stays(rng):
    system = double_pendulum()
    start = shaken(system.compile().state(), 0.02, rng)
    light = mbd.assemble(system, start)
    heavy = mbd.assemble(system, start, weights={system["bar 2"]: 1e8})
    moved = {c.body: c.distance for c in heavy.corrections}
    assert moved["bar 2"] < 0.5 * {c.body: c.distance for c in light.corrections}["bar 2"]


def test_the_report_names_bodies_and_joints():
    system = bar_loop((1.0, 2.0, 2.0), (3.0, 0.0))
    assembly = mbd.assemble(system)
    assert assembly.gaps[0].joint == "D"
    np.testing.assert_allclose(assembly.gaps[0].distance, 2.0, rtol=1e-12)
    assert {c.body for c in assembly.corrections} == {"crank", "coupler", "rocker"}
    text = str(assembly)
    assert "joint 'D' was open by 2 m" in text
    assert "body 'coupler' was moved by" in text


@pytest.mark.slow
@pytest.mark.parametrize(("lengths", "ground"), [((1.0, 1.0, 1.0), (4.0, 0.3)), ((1.0, 1.0, 4.0), (1.0, 0.0))])
def test_a_loop_that_cannot_close_says_by_how_much(lengths, ground):
    """The triangle inequality: the longest side misses the sum of the others."""
    sides = sorted([*lengths, float(np.hypot(*ground))])
    missing = sides[-1] - sum(sides[:-1])
    with pytest.raises(mbd.AssemblyError) as caught:
        mbd.assemble(bar_loop(lengths, ground))
    assert [fault.where for fault in caught.value.faults] == [f"joint {name!r}" for name in "ABCD"]
    total = float(str(caught.value.faults[0]).split("together: ")[1].split(" m")[0])
    np.testing.assert_allclose(total, missing, rtol=1e-4)
    gaps = {gap.joint: gap.distance for gap in joint_gaps(caught.value.assembly.model, caught.value.assembly.state)}
    np.testing.assert_allclose(sum(gaps.values()), missing, rtol=1e-4)


def test_distances_that_conflict_are_named_with_the_amount():
    system = mbd.System("two rods")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1), r=(1.1, 0, 0)))
    for name, distance in (("rod 1", 1.0), ("rod 2", 1.2)):
        system.add(Distance(name, system.ground, body, point_i=(0, 0, 0), point_j=(1.1, 0, 0), distance=distance))
    with pytest.raises(mbd.AssemblyError) as caught:
        mbd.assemble(system)
    text = str(caught.value)
    assert "'rod 1'" in text
    assert "'rod 2'" in text
    assert "together: 0.2 m" in text
    assert "different motions of the same bodies" in text
    assert abs(np.linalg.norm(caught.value.assembly.state.r[1]) - 1.1) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_drivers_at_rest_stop_a_mechanism_that_moves(seed):
    """The rounding of a correction is that of the velocities which it takes away, not of those that are left: none."""
    rng = np.random.default_rng(seed)
    axis, omega = rng.normal(size=3), rng.normal()
    omega_bar = omega * axis / np.linalg.norm(axis)
    r = rng.normal(size=3)
    system = mbd.System("brake")
    arm = system.add(mbd.Body("arm", 1.3, (0.1, 0.2, 0.25), r=r, v=np.cross(omega_bar, r), omega_bar=omega_bar))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=axis))
    system.add(RotationDriver("drive", pin, mbd.Expression("0.2 * t**2")))
    assembly = mbd.assemble(system)
    assert np.abs(velocity(assembly.state)).max() < 1e-14  # rounding of numbers of size 1
    angle = mbd.kinematics(system, [0.0, 0.5, 1.0]).joint("pin").angle
    np.testing.assert_allclose(angle, [0.0, 0.05, 0.2], rtol=0.0, atol=CLOSED)


def test_drivers_that_conflict_in_velocity():
    system = mbd.System("two drives")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("one", pin, lambda t: 1.0 * t))
    system.add(RotationDriver("two", pin, lambda t: 2.0 * t))
    with pytest.raises(mbd.AssemblyError, match="no velocities fit"):
        mbd.assemble(system)


def flipped_start(model, rng):
    """One body turned by half a turn about an axis across that of one of its joints, then all shaken by 3 %."""
    signs = signs_of(model)
    sign = signs[rng.integers(len(signs))]
    state = model.state()
    body = sign.j or sign.i
    h = rotation_matrix(state.p[sign.bodies[2]]) @ sign.x_bar[2]
    p = state.p.copy()
    p[body] = product(from_axis_angle(np.cross(h, rng.normal(size=3)), np.pi), p[body])
    return shaken(state.replace(p=p), 0.03, rng), sign.joint


@pytest.mark.slow
@pytest.mark.parametrize(("make", "n"), [(four_bar, 10), (slider_crank, 7), (planar_loop, 10), (bennett, 2), (pendulum, 5)])
def test_flipped_starts_are_detected_and_turned_back(make, n, rng):
    """Every one is named, and repaired to the modelled side."""
    model = make().compile(check_pose=False)
    signs = signs_of(model)
    for _ in seeds(n):
        start, joint = flipped_start(model, rng)
        assembly = mbd.assemble(model, start)
        assert joint in [flip.joint for flip in assembly.flips]
        assert all(flip.repaired for flip in assembly.flips)
        assert assembly.flipped == ()
        assert np.abs(mbd.evaluate(model, assembly.state).Phi).max() <= CLOSED
        for sign in signs:
            A = [rotation_matrix(assembly.state.p[k]) for k in sign.bodies]
            a, b, c = (R @ x for R, x in zip(A, sign.x_bar, strict=True))
            assert np.cross(a, b) @ c * sign.modelled > 0.0


@pytest.mark.slow
def test_a_flip_can_be_kept(rng):
    system = pendulum()
    model = system.compile()
    start, joint = flipped_start(model, rng)
    assembly = mbd.assemble(model, start, repair=False)
    assert assembly.flipped == (joint,)
    assert "still is" in str(assembly)
    with pytest.raises(mbd.AssemblyError, match="the other way round"):
        mbd.assemble(model, start, hold=[mbd.FixedCoordinates(system["bar"], "rotation")])


def test_a_driven_joint_is_turned_to_its_driver():
    """A start that is half a turn off what the driver asks for satisfies its row, and is led on."""
    system = pendulum(driven=True)
    model = system.compile()
    start = model.state()
    q = from_axis_angle((1.0, 0.0, 0.0), np.pi)
    r, p = start.r.copy(), start.p.copy()
    r[1], p[1] = rotation_matrix(q) @ r[1], product(q, p[1])
    assembly = mbd.assemble(system, start.replace(r=r, p=p))
    np.testing.assert_allclose(assembly.state.r[1], start.r[1], rtol=0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("make", [slider_crank, pendulum])
def test_a_driver_that_asks_for_a_pose_far_away_is_followed_there(make):
    """The modelled pose at later times: on the branch that the motion leads to."""
    model = make(driven=True).compile()
    for t in (0.3, 0.5, 0.8):
        state = mbd.assemble(model, model.state().replace(t=t)).state
        moved = mbd.kinematics(model, [t])
        np.testing.assert_allclose(state.r, moved.r[0], rtol=0.0, atol=1e-11)


@pytest.mark.slow
def test_a_joint_held_far_away_stays_on_its_branch():
    """The crank at many angles: coupler and rocker keep the side that they are modelled on."""
    system = four_bar()
    for angle in (-2.5, -1.0, 1.0, 2.5):
        state = mbd.assemble(system, hold=mbd.FixedCoordinates(system["A"], value=angle)).state
        B, D = np.array([np.sin(angle), 0.0, np.cos(angle)]), np.array([4.0, 0.0, 0.0])
        C = 2.0 * state.r[2] - B
        np.testing.assert_allclose(np.linalg.norm(C - B), np.sqrt(10.0), rtol=1e-12)
        assert np.cross(D - B, C - B)[1] < 0.0  # as modelled: C above the line from B to D


@pytest.mark.slow
def test_a_held_joint_that_cannot_come_there_is_named():
    system = slider_crank()
    with pytest.raises(mbd.AssemblyError, match=r"joint 'T': it is held at 0.1 m and comes to 0.0\d"):
        mbd.assemble(system, hold=mbd.FixedCoordinates(system["T"], value=0.1))


@pytest.mark.slow
@pytest.mark.slow
def test_forces_that_have_no_value_where_joints_are_open_do_not_matter():
    """A gas spring pulled out of its cylinder, and a bushing turned half round: rows depend on drivers alone."""
    system = mbd.System("strut", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 1)))
    slide = system.add(CJ("slide", system.ground, rod, point=(0, 0, 0), axis=(0, 0, 1)))
    calls = []

    def lift(t):
        calls.append(t)
        return float(np.sin(t))  # math.sin and floats: only Python can evaluate it

    system.add(TranslationDriver("lift", slide, (lift, lambda t: float(np.cos(t)), lambda t: -float(np.sin(t)))))
    system.add(mbd.PointForce("gas", rod, point=(0, 0, 1), force=lambda t, r, p, v, omega_bar: (0, 0, np.log(r[2]))))
    system.add(mbd.Bushing("grommet", system.ground, rod, point=(0, 0, 0), K=(1, 1, 1, 1, 1, 1), C=(0, 0, 0, 0, 0, 0)))
    model = system.compile()
    away = model.state().replace(t=0.5, r=[(0, 0, 0), (0.1, 0, -2.0)], p=[(1, 0, 0, 0), (0, 0, 0, 1)])
    with pytest.raises(mbd.SimulationError, match="gas"), np.errstate(invalid="ignore"):
        mbd.accelerations(model, away)
    calls.clear()
    rows = mbd.evaluate(model, away)
    np.testing.assert_allclose(rows.Phi[-1], -3.0 - np.sin(0.5), rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(rows.nu[-1], np.cos(0.5), rtol=0.0, atol=1e-15)
    assert calls
    state = mbd.assemble(model, away).state
    np.testing.assert_allclose(state.r[1], [0, 0, 1 + np.sin(0.5)], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(state.v[1], [0, 0, np.cos(0.5)], rtol=0.0, atol=1e-12)


def test_a_long_chain_closes():
    model = chain(200).compile()
    state = model.state()
    r = state.r.copy()
    r[1:] += 0.1 * np.random.default_rng(7).uniform(-1, 1, (200, 3))
    assembly = mbd.assemble(model, state.replace(r=r))
    assert assembly.iterations <= 15
    assert assembly.after <= CLOSED


def test_a_body_without_joints_is_assembled_as_it_is():
    system = mbd.System("free")
    system.add(mbd.Body("body", 1.0, (1, 1, 1), omega_bar=(1, 2, 3)))
    assert mbd.assemble(system).state.omega_bar[1].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(mbd.UsageError, match="6 degrees of freedom are free"):
        mbd.kinematics(system, [0.0, 1.0])


def test_bad_arguments_are_refused():
    system = four_bar()
    crank = system["crank"]
    for call, text in (
        (lambda: mbd.assemble("four-bar"), "needs a System"),
        (lambda: mbd.assemble(system, tol=0.0), "tol"),
        (lambda: mbd.assemble(system, hold=[mbd.FixedCoordinates(crank, "q")]), "'q' is not a coordinate"),
        (lambda: mbd.assemble(system, hold=[mbd.FixedCoordinates(crank, value=1.0)]), "one coordinate"),
        (lambda: mbd.assemble(system, hold=[system["C"]]), "no single angle"),
        (lambda: mbd.assemble(system, hold=["crank"]), "neither a body nor a joint"),
        (lambda: mbd.assemble(system, hold=[pendulum()["bar"]]), "hold: body 'bar' is not in model"),
        (lambda: mbd.assemble(system, weights={crank: -1.0}), "positive"),
        (lambda: mbd.assembly_modes(system, starts=0), "starts"),
    ):
        with pytest.raises(mbd.UsageError, match=text):
            call()
    with pytest.raises(mbd.ModelError, match="shape"):
        mbd.assemble(system, pendulum().compile().state())


def test_a_joint_of_ones_own_is_told_apart_as_well(rng):
    """The rows say which axes are parallel; no class is asked."""

    class Hinge(mbd.Joint):
        def __init__(self, name, i, j):
            super().__init__(name, mbd.Frame.from_global(i, (0, 0, 0)), mbd.Frame.from_global(j, (0, 0, 0)))

        def primitives(self):
            i, j = self.frame_i, self.frame_j
            return tuple(mbd.DP1(self.i, a, self.j, j.h) for a in (i.f, i.g))

    system = mbd.System("own")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))
    system.add(Hinge("hinge", system.ground, body))
    model = system.compile()
    start, _ = flipped_start(model, rng)
    assert mbd.assemble(model, start, repair=False).flipped == ("hinge",)


def test_a_free_body_that_is_held_has_nothing_to_solve_for(capfd):
    """No rows and no columns: LAPACK has complained of an empty matrix on its own."""
    system = mbd.System("held")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1), v=(1.0, 0, 0)))
    np.testing.assert_array_equal(mbd.assemble(system, hold=body).state.v[1], (1.0, 0.0, 0.0))
    assert capfd.readouterr() == ("", "")


def test_no_single_body_is_turned_where_the_joints_of_a_whole_ring_are_wrong():
    """Every joint of a ring is wrong, and no turn of one body mends that: ten thousand steps were tried, for half a minute."""
    model = hoberman_ring().compile(check_pose=False)
    signs = signs_of(model)
    wrong = tuple(dict.fromkeys(sign.joint for sign in signs))
    odd = wrong if bodies_to_turn(model, signs, wrong, [0]) is None else wrong[1:]
    assert len(odd) > 6
    assert choices(model, signs, odd, []) == []
    assert len(choices(model, signs, odd[:2], [])) <= 4


class Interrupts:
    """Raises KeyboardInterrupt at the n-th call of a function."""

    def __init__(self, function, n):
        self.function, self.left = function, n

    def __call__(self, *given):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.function(*given)


def test_after_ctrl_c_the_search_goes_on_from_the_closest_pose(monkeypatch, rng):
    model = four_bar().compile(check_pose=False)
    start = shaken(model.state(), 0.3, rng)
    whole = mbd.assemble(model, start)
    with monkeypatch.context() as patched:
        patched.setattr(position_solver, "_near", Interrupts(position_solver._near, 4))
        with pytest.raises(KeyboardInterrupt, match="Ctrl-C after 4 steps from 1 start; joints are open by") as caught:
            mbd.assemble(model, start)
    reached = caught.value.result
    gaps = [float(np.abs(mbd.evaluate(model, state).Phi).max()) for state in (start, reached)]
    assert gaps[1] < 0.1 * gaps[0]
    rest = mbd.assemble(model, reached)
    assert rest.iterations <= whole.iterations
    assert np.abs(mbd.evaluate(model, rest.state).Phi).max() <= CLOSED


def test_ctrl_c_before_the_first_step_leaves_the_start(monkeypatch):
    model = four_bar().compile(check_pose=False)
    monkeypatch.setattr(assemble_module, "continue_to_targets", Interrupts(None, 1))
    with pytest.raises(KeyboardInterrupt, match="after 0 steps") as caught:
        mbd.assemble(model)
    np.testing.assert_array_equal(caught.value.result.y, model.y0)


def test_progress_is_shown_in_digits(monkeypatch, rng):
    shown = []
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._stop)))
    model = four_bar().compile(check_pose=False)
    mbd.assemble(model, shaken(model.state(), 0.1, rng), progress=True)
    digits = [now for now, _ in shown]
    assert digits == sorted(digits)
    assert digits[0] < 2.0
    assert shown[-1][0] == shown[-1][1]
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        mbd.assemble(model, progress=1)


def test_a_text_does_not_list_gaps_of_rounding():
    """Points and centres of mass whose differences are not exact."""
    system = mbd.System("bars")
    before = system.ground
    for k in range(3):
        bar = system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.1, 0.1), r=(k + 1.0 / 3.0, 0.7, 0.1)))
        system.add(RJ(f"pin {k}", before, bar, point=(k + 1e-3 / 7.0, 0.1 / 3.0, 1e-3), axis=(0, 0, 1)))
        before = bar
    found = mbd.assemble(system)
    assert 0.0 < max(gap.distance for gap in found.gaps) < 1e-15
    assert "open by" not in str(found)
