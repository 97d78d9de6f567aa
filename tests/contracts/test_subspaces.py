"""What every joint says that it leaves free is what its rows leave free: T S = 0, at random poses that satisfy the joint."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd import Body, Joint, System, UsageError, evaluate
from haugmbd.constraints import Freedom
from haugmbd.constraints.freedoms import F_I, H_I, H_J, Axis, Kind, Side, ball, slide, turn
from haugmbd.math import euler_parameters, spatial
from tests.support.differences import slope
from tests.support.samples import SIDES, drives, from_zero, geometry, make_joint, model_of, random_body, random_state

ROUNDING = 1e-12  # some dozen products of numbers of size 1 to 10
DIFFERENCE_TOL = 1e-9  # eighth-order differences with h = 0.005: some 1e-12
RANK_TOL = 1e-8  # singular values of samples are above 1e-3, rounding is 1e-15
TIME = 0.4
DRIVEN = {joints.RotationDriver: Kind.TURN, joints.TranslationDriver: Kind.SLIDE}

DECLARED = [cls for cls in joints.CATALOGUE if drives(cls) or cls.freedoms is not None]
"""Joints with freedoms about axes of their frames; the bends of a ConstantVelocity have axes that are fixed on neither body."""
by_class = pytest.mark.parametrize("cls", DECLARED, ids=lambda cls: cls.__name__)
by_side = pytest.mark.parametrize("side", SIDES)


def moved(state, e, freedom, amount):
    """The state with body j (body i, where j is the ground, the other way) moved by a finite amount of one freedom."""
    body, s_bar, A_bar = (e.i, e.s_bar_i, e.A_bar_i) if freedom.side is Side.I else (e.j, e.s_bar_j, e.A_bar_j)
    A = euler_parameters.rotation_matrix(state.p[body])
    P, a = state.r[body] + A @ s_bar, A @ A_bar[:, freedom.axis]
    mover, amount = (e.j, amount) if e.j else (e.i, -amount)
    r, p = state.r.copy(), state.p.copy()
    if freedom.kind is Kind.SLIDE:
        r[mover] += amount * a
    else:
        q = euler_parameters.from_axis_angle(a, np.float64(amount))
        r[mover] = P + euler_parameters.rotation_matrix(q) @ (r[mover] - P)
        p[mover] = euler_parameters.product(q, p[mover])
    return state.replace(r=r, p=p)


def carried(state, rng):
    """Everything moved as one rigid body; the ground stays where it is, so only samples without it are moved."""
    q, shift = euler_parameters.normalized(rng.normal(size=4)), rng.normal(size=3)
    r, p = state.r @ euler_parameters.rotation_matrix(q).T + shift, euler_parameters.product(q, state.p)
    r[0], p[0] = 0.0, (1.0, 0.0, 0.0, 0.0)
    return state.replace(r=r, p=p)


class Nameless:
    """A joint of one's own that declares nothing: the rows of another one."""

    def __init__(self, joint):
        self.name, self.joint = "own", joint

    def primitives(self):
        return self.joint.primitives()


class Sample:
    """A joint (with the joint that it drives, and its rows once more, undeclared), its model, and a random pose that satisfies it."""

    def __init__(self, cls, side, rng):
        system = System("sample")
        bodies = {"crank": random_body("crank", rng), "rod": random_body("rod", rng)}
        i = system.ground if side == "ground i" else system.add(bodies["crank"])
        j = system.ground if side == "ground j" else system.add(bodies["rod"])
        self.joint, carrier = make_joint(cls, "sample", i, j, geometry(rng))
        for part in (carrier, self.joint, Nameless(self.joint)):
            if part is not None:
                system.add(part)
        self.model = system.compile(check_pose=False)
        self.entry = self.model.joints["sample"]
        state = self.model.state().replace(t=TIME)
        for freedom in (carrier or self.joint).freedoms:
            held = drives(cls) and freedom.axis is Axis.H and freedom.kind is DRIVEN[cls]
            state = moved(state, self.entry, freedom, from_zero(TIME) if held else rng.uniform(0.3, 1.5))
        if side == "both":
            state = carried(state, rng)
        v, omega_bar = random_state(self.model, rng).v, random_state(self.model, rng).omega_bar
        self.state = state.replace(v=v, omega_bar=omega_bar)
        self.S = mbd.motion_subspace(self.model, self.state, "sample")
        self.T = mbd.constraint_wrenches(self.model, self.state, "sample")

    def inertia(self):
        """Spatial inertia of some body j at the world origin."""
        A = euler_parameters.rotation_matrix(self.state.p[self.entry.j])
        return spatial.spatial_inertia(2.0, A @ np.diag([1.0, 1.2, 1.4]) @ A.T, self.state.r[self.entry.j])

    def relative_twist(self, state_at):
        """Twist of body j against body i at the world origin, by differences of poses; state_at(0) is the pose."""
        twists = []
        for body in (self.entry.i, self.entry.j):
            A, r = euler_parameters.rotation_matrix(state_at(0.0).p[body]), state_at(0.0).r[body]
            turning = slope(lambda s, b=body: euler_parameters.rotation_matrix(state_at(s).p[b])) @ A.T
            omega = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
            v = slope(lambda s, b=body: state_at(s).r[b])
            twists.append(np.concatenate([v - np.cross(omega, r), omega]))
        return twists[1] - twists[0]


@pytest.fixture
def sample(cls, side, rng):
    return Sample(cls, side, rng)


def same_space(A, B):
    """Whether two matrices (6, k) have one range."""
    ranks = {np.linalg.matrix_rank(M, RANK_TOL) if M.size else 0 for M in (A, B, np.hstack([A, B]))}
    return ranks == {A.shape[1]} == {B.shape[1]}


@pytest.mark.slow
@by_class
@by_side
def test_the_pose_satisfies_the_joint(sample):
    assert np.abs(evaluate(sample.model, sample.state).Phi).max() < ROUNDING


@pytest.mark.slow
@by_class
@by_side
def test_motions_do_not_break_rows_and_both_together_are_everything(sample):
    S, T = sample.S, sample.T
    assert T.shape == (sample.joint.rows, 6)
    assert np.abs(T @ S).max(initial=0.0) < ROUNDING * max(1.0, np.abs(T).max())
    rank = np.linalg.matrix_rank(S, RANK_TOL) if S.size else 0
    assert rank == S.shape[1]
    assert rank + np.linalg.matrix_rank(T, RANK_TOL) == 6
    if S.size:
        assert np.linalg.cond(S) < 1e4


@pytest.mark.slow
@by_class
@by_side
def test_what_the_joint_opposes_does_no_work(sample, rng):
    """S^T f_c = 0, and f_c is carried by the rows alone: f_c = T^T lam."""
    f = 10.0 * rng.normal(size=6)
    f_a, f_c = mbd.split_wrench(sample.inertia(), sample.S, f)
    assert np.abs(sample.S.T @ f_c).max(initial=0.0) < 1e3 * ROUNDING  # forces of 10 N at arms of some metres
    assert np.abs(f_a + f_c - f).max() < ROUNDING
    lam = np.linalg.lstsq(sample.T.T, f_c, rcond=None)[0]
    assert np.abs(sample.T.T @ lam - f_c).max() < 1e3 * ROUNDING


@pytest.mark.slow
@by_class
@by_side
def test_every_freedom_is_the_twist_of_its_finite_motion(sample):
    """The columns are the twists of the declared motions, and these keep Phi to first order (and, drivers aside, for good)."""
    found = np.array(
        [sample.relative_twist(lambda s, f=f: moved(sample.state, sample.entry, f, s)) for f in sample.entry.freedoms]
    ).reshape(-1, 6)
    kept = [k for k, twist in enumerate(found) if (np.abs(sample.S.T - twist).max(axis=1) < DIFFERENCE_TOL).any()]
    assert len(kept) == sample.S.shape[1]
    assert np.abs(sample.S.T - found[kept]).max(initial=0.0) < DIFFERENCE_TOL
    for freedom in sample.entry.freedoms:
        rate = slope(lambda s, f=freedom: evaluate(sample.model, moved(sample.state, sample.entry, f, s)).Phi)
        rows = sample.entry.rows
        assert np.abs(rate[rows]).max() < DIFFERENCE_TOL
        if not drives(type(sample.joint)):
            far = evaluate(sample.model, moved(sample.state, sample.entry, freedom, 2.3))
            assert np.abs(far.Phi[rows]).max() < 1e2 * ROUNDING


@pytest.mark.slow
@by_class
def test_the_rows_as_wrenches_have_the_power_of_the_rows(cls, rng):
    """Phi_q u = T (twist of j - twist of i): rows know of relative motion only; the same wrench, turned round, acts on body i."""
    sample = Sample(cls, "both", rng)
    state, rows = sample.state, evaluate(sample.model, sample.state)
    twists = []
    for body in (sample.entry.i, sample.entry.j):
        omega = euler_parameters.rotation_matrix(state.p[body]) @ state.omega_bar[body]
        twists.append(np.concatenate([state.v[body] - np.cross(omega, state.r[body]), omega]))
    u = np.hstack([state.v, state.omega_bar])[1:].ravel()
    power = (rows.Phi_q @ u)[sample.entry.rows]
    assert np.abs(sample.T @ (twists[1] - twists[0]) - power).max() < 10 * ROUNDING


@pytest.mark.slow
@by_class
@by_side
def test_a_joint_that_declares_nothing_gets_the_space_that_its_rows_leave(sample):
    assert sample.model.joints["own"].freedoms is None
    S = mbd.motion_subspace(sample.model, sample.state, "own")
    assert np.abs(sample.T @ S).max(initial=0.0) < 10 * ROUNDING
    assert same_space(S, sample.S)


def test_a_constant_velocity_joint_alone_declares_nothing_and_gets_the_space_that_its_rows_leave(rng):
    assert {*joints.CATALOGUE} - {*DECLARED} == {joints.ConstantVelocity}
    joint, _ = make_joint(joints.ConstantVelocity, "own", random_body("i", rng), random_body("j", rng), geometry(rng))
    model = model_of(joint)
    S = mbd.motion_subspace(model, model.state(), "own")
    bisector = joint.i.A @ joint.frame_i.h + joint.j.A @ np.cross(joint.vectors.a_bar_j, joint.vectors.c_bar_j)
    assert S.shape == (6, 2)
    assert np.abs(bisector @ S[3:]).max() < 10 * ROUNDING
    assert np.linalg.matrix_rank(S[3:]) == 2


def test_columns_are_the_declared_freedoms_in_their_order(rng):
    sample = Sample(joints.CJ, "ground i", rng)
    h = sample.entry.A_bar_i[:, 2]
    P = sample.state.r[1] + euler_parameters.rotation_matrix(sample.state.p[1]) @ sample.entry.s_bar_j
    assert np.abs(sample.S[:, 0] - [*h, 0, 0, 0]).max() < ROUNDING
    assert np.abs(sample.S[:, 1] - [*np.cross(P, h), *h]).max() < ROUNDING


def test_a_joint_of_a_compiled_model_remembers_its_freedoms(rng):
    pin = joints.RJ("pin", random_body("crank", rng), random_body("rod", rng), point=(0, 0, 0), axis=(0, 1, 0))
    assert model_of(pin).joints["pin"].freedoms == (turn(H_I),) == (Freedom(Kind.TURN, Axis.H, Side.I),)
    assert joints.CJ.freedoms == (slide(H_I), turn(H_J))
    assert joints.SJ.freedoms == ball(Side.J)


def test_the_modelled_state_is_the_default(rng):
    pin = joints.RJ("pin", random_body("crank", rng), random_body("rod", rng), point=(0, 0, 2), axis=(0, 3, 0))
    model = model_of(pin)
    assert np.abs(mbd.motion_subspace(model, None, "pin")[:, 0] - [-2, 0, 0, 0, 1, 0]).max() < ROUNDING
    assert np.array_equal(mbd.constraint_wrenches(model, None, "pin"), mbd.constraint_wrenches(model, model.state(), "pin"))


@pytest.mark.parametrize("ask", [mbd.motion_subspace, mbd.constraint_wrenches])
def test_an_unknown_joint_is_told_the_joints(ask, rng):
    pin = joints.RJ("pin", random_body("crank", rng), random_body("rod", rng), point=(0, 0, 0), axis=(0, 1, 0))
    with pytest.raises(UsageError, match=r"no joint is called 'pn'; the joints are 'pin'"):
        ask(model_of(pin), None, "pn")


def test_a_joint_with_rows_between_three_bodies_has_no_subspace(rng):
    a, b, c = (random_body(name, rng) for name in "abc")

    class Gear:
        name = "gear"

        def primitives(self):
            return (mbd.DP1(a, (1, 0, 0), b, (0, 1, 0)), mbd.DP1(b, (1, 0, 0), c, (0, 1, 0)))

    system = System("three")
    for part in (a, b, c, Gear()):
        system.add(part)
    with pytest.raises(UsageError, match="'gear' has rows between more than two bodies: 'a', 'b', 'c'"):
        mbd.motion_subspace(system.compile(check_pose=False), None, "gear")


def test_rows_that_name_the_bodies_the_other_way_round_still_act_on_body_j(rng):
    a, b = random_body("a", rng), random_body("b", rng)

    class Mixed:
        name = "mixed"

        def primitives(self):
            return (mbd.DP1(a, (1, 0, 0), b, (0, 1, 0)), mbd.DP1(b, (1, 0, 0), a, (0, 1, 0)))

    system = System("two")
    for part in (a, b, Mixed()):
        system.add(part)
    model = system.compile(check_pose=False)
    T = mbd.constraint_wrenches(model, None, "mixed")
    A = [a.A, b.A]
    expected = [np.cross(A[1] @ [0, 1, 0], A[0] @ [1, 0, 0]), np.cross(A[1] @ [1, 0, 0], A[0] @ [0, 1, 0])]
    assert np.abs(T[:, 3:] - expected).max() < ROUNDING
    assert np.abs(T[:, :3]).max() == 0.0


@pytest.mark.parametrize("given", [turn(H_I), (turn(H_I), "slide"), [slide(F_I)], "turn"])
def test_a_declaration_that_is_no_tuple_of_freedoms_is_refused_where_it_is_made(given):
    with pytest.raises(UsageError, match=r"Pin\.freedoms is .* Give a tuple of freedoms, such as \(turn\(H_I\),\), or None\."):
        type("Pin", (Joint,), {"freedoms": given})


def test_a_joint_that_declares_nothing_turns_and_slides_nowhere():
    system = System("own")
    link = system.add(Body("link", 1.0, (1, 1, 1)))
    system.add(Nameless(joints.RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0))))
    own = system.joints[-1]
    assert own.freedoms is None
    assert not own.rotates_about_h
    assert not own.slides_along_h


def test_a_coupling_of_two_joints_of_the_ground_acts_on_it_as_well():
    """The torques on the wheels are not opposite, so that no wrench of one on the other describes them."""
    system = System("gear pair")
    wheels = [system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for name, x in (("a", 0.0), ("b", 0.3))]
    axes = [system.add(joints.RJ(f"axis {w.name}", system.ground, w, point=w.r, axis=(0, 0, 1))) for w in wheels]
    system.add(joints.Gear("gear", *axes, ratio=-0.5))
    model = system.compile()
    for question in (mbd.constraint_wrenches, mbd.motion_subspace):
        with pytest.raises(UsageError, match="'gear' has rows between more than two bodies: 'a', 'b', 'ground'"):
            question(model, None, "gear")
