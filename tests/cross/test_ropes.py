"""Ropes against closed forms, equations of their own integrated by SciPy, and the shortest path found by a search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import haugmbd as mbd
from haugmbd import Body, System
from joints import RJ, SJ, TJ, Fixed, PoseDriver, Pulley, Rope

G = 9.81
CLOSED = 1e-10
"""Relative difference from a closed form: rounding of some dozen operations."""
INTEGRATED = 1e-8
"""Difference from an integration of its own [m]: both have a tolerance of about 1e-11 a step."""
FINE = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}


def fine():
    return mbd.DOP853(rtol=1e-11, atol=1e-12)


def block(system, name, mass, point):
    """A body that slides along the vertical."""
    body = system.add(Body(name, mass, (0.1, 0.1, 0.1), r=point))
    return body, system.add(TJ(f"guide of {name}", system.ground, body, point=point, axis=(0, 0, 1)))


def test_a_swinging_atwood_machine_over_points():
    M, m, r0, th0 = 3.0, 1.2, 1.0, 1.1
    t = np.linspace(0.0, 3.0, 31)

    def rates(_, y):
        r, v, th, w = y
        return [v, (m * r * w**2 + m * G * np.cos(th) - M * G) / (M + m), w, (-2 * v * w - G * np.sin(th)) / r]

    r, _, th, _ = solve_ivp(rates, (0, 3), [r0, 0, th0, 0], t_eval=t, **FINE).y
    system = System("atwood", gravity=(0, 0, -G))
    place = r0 * np.array([np.sin(th0), 0.0, -np.cos(th0)])
    big, _ = block(system, "M", M, (-1.0, 0.0, -2.0))
    bob = system.add(Body("m", m, (1e-3, 1e-3, 1e-3), r=place))
    system.add(Rope("rope", [(big, (-1, 0, -2)), (system.ground, (-1, 0, 0)), (system.ground, (0, 0, 0)), (bob, place)]))
    result = mbd.simulate(system, 3.0, t_eval=t, integrator=fine())
    assert np.abs(result["m"].r[:, [0, 2]] - np.stack([r * np.sin(th), -r * np.cos(th)], 1)).max() < INTEGRATED


def swing_over_disc(system, R, M, m, z0, l0, th0):
    """A block on the left of a disc about the origin, and a bob that swings on its right side."""
    big, _ = block(system, "M", M, (-R, 0.0, -z0))
    tangent, along = R * np.array([np.cos(th0), 0, np.sin(th0)]), np.array([np.sin(th0), 0, -np.cos(th0)])
    bob = system.add(Body("m", m, (1e-3, 1e-3, 1e-3), r=tangent + l0 * along))
    return big, bob


@pytest.mark.parametrize("carrier", ["wheel", "post"])
def test_a_bob_that_swings_at_a_disc_unwinds_and_winds_up(carrier):
    R, M, m, z0, l0, th0 = 0.15, 3.0, 2.2, 1.0, 0.8, 0.9
    t = np.linspace(0.0, 2.0, 21)

    def rates(_, y):
        s, v, th, w = y
        free = s + R * th
        return [v, (m * free * w**2 + m * G * np.cos(th) - M * G) / (m + M), w, (-2 * v * w - R * w**2 - G * np.sin(th)) / free]

    s, _, th, _ = solve_ivp(rates, (0, 2), [l0 - R * th0, 0, th0, 0], t_eval=t, **FINE).y
    system = System("disc", gravity=(0, 0, -G))
    big, bob = swing_over_disc(system, R, M, m, z0, l0, th0)
    if carrier == "wheel":
        wheel = system.add(Body("wheel", 0.3, (0.01, 0.02, 0.01)))
        disc = (system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0))), R)
    else:
        disc = Pulley(system.ground, R, center=(0, 0, 0), axis=(0, 2, 0))
    system.add(Rope("rope", [(big, big.r), disc, (bob, bob.r)]))
    result = mbd.simulate(system, 2.0, t_eval=t, integrator=fine())
    free = s + R * th
    wanted = np.stack([R * np.cos(th) + free * np.sin(th), R * np.sin(th) - free * np.cos(th)], 1)
    assert np.abs(result["m"].r[:, [0, 2]] - wanted).max() < INTEGRATED
    if carrier == "wheel":
        assert np.abs(result["wheel"].omega).max() < CLOSED  # rope runs on it without friction


def towards(point, center, R, way):
    """Free length from a point to a disc, the unit vector to the point there, that of the radius, and its angle."""
    D = point - center
    angle = np.arctan2(D[1], D[0]) + way * np.arccos(R / np.linalg.norm(D))
    n = np.array([np.cos(angle), np.sin(angle)])
    e = D - R * n
    free = np.linalg.norm(e)
    return free, e / free, n, angle


class Crane:
    """An arm on a hinge with a disc at its tip; a rope from the ground runs over it to a bob.  Plane x, z.

    L = s_A + R (angle_A - angle_B) + s_B        dL/dB = e_B,  dL/dC = -(e_A + e_B)
    L'' = e_B . (B'' - C'') - e_A . C'' + (n_B . (B' - C'))^2 / s_B + (n_A . C')^2 / s_A
    """

    A, R, a, phi0, B = np.array([-0.5, 0.6]), 0.12, 0.9, 0.3, np.array([1.15, -0.7])
    arm, wheel, m, J = 1.5, 0.4, 0.8, 0.07

    def path(self, phi, B):
        C = self.a * np.array([np.cos(phi), np.sin(phi)])
        one, other = towards(self.A, C, self.R, -1.0), towards(B, C, self.R, 1.0)
        return one[0] + self.R * (one[3] - other[3]) + other[0], one, other

    def rates(self, y, EA=None):
        """Rates of (phi, x, z, phi', x', z'), and the tension."""
        phi, w, B, vB = y[0], y[3], y[1:3], y[4:]
        L, (s_A, e_A, n_A, _), (s_B, e_B, n_B, _) = self.path(phi, B)
        across = self.a * np.array([-np.sin(phi), np.cos(phi)])
        inertia = self.J + self.arm * self.a**2 / 4 + self.wheel * self.a**2
        free = np.array([-G * (self.arm / 2 + self.wheel) * self.a * np.cos(phi) / inertia, 0.0, -G])
        gradient = np.array([-(e_A + e_B) @ across, *e_B])
        inverse = np.array([1 / inertia, 1 / self.m, 1 / self.m])
        if EA is None:
            C_t, bias = across * w, -(w**2) * self.a * np.array([np.cos(phi), np.sin(phi)])
            rest = -(e_A + e_B) @ bias + (n_B @ (vB - C_t)) ** 2 / s_B + (n_A @ C_t) ** 2 / s_A
            T = (gradient @ free + rest) / (gradient * inverse @ gradient)
        else:
            L0 = self.path(self.phi0, self.B)[0]
            T = max(0.0, EA * (L / L0 - 1))
        return np.array([*y[3:], *(free - inverse * gradient * T)]), T

    def system(self, carrier, **how):
        tip = self.a * np.array([np.cos(self.phi0), 0.0, np.sin(self.phi0)])
        system = System("crane", gravity=(0, 0, -G))
        more = self.wheel if carrier == "post" else 0.0  # as a point at the tip: with the arm one body
        mass, center = self.arm + more, tip * (self.arm / 2 + more) / (self.arm + more)
        J = self.J + self.a**2 * (self.arm / 4 + more - (self.arm / 2 + more) ** 2 / mass)
        arm = system.add(Body("arm", mass, (J, J, J), r=center))
        system.add(RJ("hinge", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
        if carrier == "post":
            disc = Pulley(arm, self.R, center=tip, axis=(0, 1, 0), side=(0, 0, 1))
        else:
            wheel = system.add(Body("wheel", self.wheel, (0.002, 0.003, 0.002), r=tip))
            disc = (system.add(RJ("axle", arm, wheel, point=tip, axis=(0, 1, 0))), self.R, (0, 0, 1))
        bob = system.add(Body("bob", self.m, (1e-3, 1e-3, 1e-3), r=(self.B[0], 0, self.B[1])))
        system.add(Rope("rope", [(system.ground, (self.A[0], 0, self.A[1])), disc, (bob, bob.r)], **how))
        return system


@pytest.mark.slow
@pytest.mark.parametrize("carrier", ["wheel", "post"])
@pytest.mark.parametrize("EA", [None, 4e3])
def test_a_disc_on_an_arm_that_swings_carries_the_pulls_of_both_sides(carrier, EA):
    crane, t = Crane(), np.linspace(0.0, 0.38, 11)  # while the rope is on the disc
    wanted = solve_ivp(lambda _, y: crane.rates(y, EA)[0], (0, 0.38), [crane.phi0, *crane.B, 0, 0, 0], t_eval=t, **FINE).y
    result = mbd.simulate(crane.system(carrier, **({} if EA is None else {"EA": EA})), 0.38, t_eval=t, integrator=fine())
    assert np.abs(result["bob"].r[:, [0, 2]] - wanted[1:3].T).max() < INTEGRATED
    assert np.abs(result.joint("hinge").angle + (wanted[0] - crane.phi0)).max() < INTEGRATED  # about y: from z to x
    tension = np.array([crane.rates(y, EA)[1] for y in wanted.T])
    found = result.lam[:, -1] if EA is None else result.load("rope").force
    assert np.abs(found - tension).max() < 1e-6 * tension.max()
    assert np.abs(result.energy().drift).max() < INTEGRATED
    if carrier == "wheel":
        assert np.abs(result["wheel"].omega).max() < CLOSED  # rope runs on it without friction


def test_the_tension_of_an_atwood_machine_and_the_load_of_its_axle():
    M, m, R = 3.0, 1.2, 0.1
    system = System("atwood", gravity=(0, 0, -G))
    big, _ = block(system, "M", M, (-R, 0.0, -1.0))
    small, _ = block(system, "m", m, (R, 0.0, -1.5))
    wheel = system.add(Body("wheel", 1e-9, (1e-9, 1e-9, 1e-9)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(Rope("rope", [(big, big.r), (axle, R), (small, small.r)]))
    found = mbd.accelerations(system)
    assert found.v_dot[1, 2] == pytest.approx((m - M) * G / (M + m), rel=CLOSED)
    assert found.lam[-1] == pytest.approx(2 * M * m * G / (M + m), rel=CLOSED)
    result = mbd.simulate(system, 0.1, h=0.01)
    assert result.reaction("axle", on="wheel").force[0, 2] == pytest.approx(4 * M * m * G / (M + m), rel=1e-6)


def test_a_rope_that_does_not_slip_turns_its_pulley():
    M, m, R, J = 3.0, 1.2, 0.1, 0.02
    system = System("atwood", gravity=(0, 0, -G))
    big, _ = block(system, "M", M, (-R, 0.0, -1.0))
    small, _ = block(system, "m", m, (R, 0.0, -1.5))
    wheel = system.add(Body("wheel", 2.0, (J, J, J)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(Rope("left", [(big, big.r), (axle, R)]))
    system.add(Rope("right", [(axle, R), (small, small.r)]))
    a = (M - m) * G / (M + m + J / R**2)
    result = mbd.simulate(system, 0.9, integrator=fine())
    assert result["m"].r[-1, 2] == pytest.approx(-1.5 + 0.405 * a, abs=1e-9)
    assert result.joint("axle").angle[-1] == pytest.approx(
        -0.405 * a / R, rel=1e-9
    )  # through more than a turn, the left side goes down


def test_a_tackle_of_two_pulleys_moves_the_load_by_half():
    M, m, R, r = 5.0, 1.5, 0.1, 0.06
    system = System("tackle", gravity=(0, 0, -G))
    load, _ = block(system, "M", M, (0.0, 0.0, -2.0))
    weight, _ = block(system, "m", m, (R + 2 * r, 0.0, -1.0))
    low = Pulley(load, R, center=(0, 0, -2.0), axis=(0, 1, 0))
    high = Pulley(system.ground, r, center=(R + r, 0, 0), axis=(0, 1, 0))
    system.add(Rope("rope", [(system.ground, (-R, 0, 0)), low, high, (weight, weight.r)]))
    found = mbd.accelerations(system)
    a = -G * (M - 2 * m) / (M + 4 * m)
    assert found.v_dot[1, 2] == pytest.approx(a, rel=CLOSED)
    assert found.v_dot[2, 2] == pytest.approx(-2 * a, rel=CLOSED)
    assert found.lam[-1] == pytest.approx(M * (G + a) / 2, rel=CLOSED)


def test_a_winch_lifts_as_its_length_says_and_as_its_drum_turns():
    m, R = 2.0, 0.2
    system = System("winch", gravity=(0, 0, -G))
    load, _ = block(system, "m", m, (0.0, 0.0, -3.0))
    system.add(Rope("rope", [(system.ground, (0, 0, 0)), (load, load.r)], length=mbd.Expression("3 - 0.25 * t**2")))
    result = mbd.simulate(system, 2.0, h=1e-2)
    assert result["m"].r[-1, 2] == pytest.approx(-2.0, abs=1e-10)
    assert result.lam[:, -1] == pytest.approx(m * (G + 0.5), rel=1e-9)
    system = System("drum", gravity=(0, 0, -G))
    load, _ = block(system, "m", m, (R, 0.0, -3.0))
    drum = system.add(Body("drum", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, drum, point=(0, 0, 0), axis=(0, -1, 0)))
    system.add(Rope("rope", [(axle, R), (load, load.r)]))
    system.add(mbd.Torque("motor", drum, torque=(0, -5.0, 0)))
    result = mbd.simulate(system, 1.0, integrator=fine())
    wound = result.joint("axle").angle * R
    assert np.abs(result["m"].r[:, 2] + 3.0 - wound).max() < INTEGRATED
    assert result.joint("axle").angle[-1] == pytest.approx(0.5 * (5 - m * G * R) / (0.1 + m * R**2), rel=1e-8)


def test_a_pendulum_meets_a_post_and_leaves_it_again():
    """Galileo's interrupted pendulum with a post of its own radius: straight, wound around it, straight, to the energy and the own path."""
    L, R, h, th0 = 1.0, 0.1, 0.5, -0.8  # post at (R, -h): its left side stands in the vertical through the pivot
    system = System("post", gravity=(0, 0, -G))
    bob = system.add(Body("bob", 1.0, (1e-3, 1e-3, 1e-3), r=(L * np.sin(th0), 0, -L * np.cos(th0))))
    post = Pulley(system.ground, R, center=(R, 0, -h), axis=(0, 1, 0))
    system.add(Rope("rope", [(system.ground, (0, 0, 0)), post, (bob, bob.r)]))

    def straight(_, y):
        return [y[1], -G / L * np.sin(y[0])]

    def wound(_, y):  # the free part L - h - R th, at the angle th from the vertical
        free = L - h - R * y[0]
        return [y[1], (R * y[1] ** 2 - G * np.sin(y[0])) / free]

    at_post = L / (L - h)  # the speed stays: L th' = (L - h) th'
    t, y, wanted = 0.0, [th0, 0.0], []
    at = np.linspace(0.0, 4.0, 41)
    for law in (straight, wound, straight, wound, straight, wound):
        run = solve_ivp(law, (t, 4.0), y, events=lambda _, y: y[0], dense_output=True, **FINE)
        stop = next((float(x) for x in run.t_events[0] if x > t + 1e-6), 4.0)
        for x in at[(at >= t - 1e-12) & (at < stop)]:
            th = run.sol(x)[0]
            free = L - h - R * th
            around = [R - R * np.cos(th) + free * np.sin(th), -h - R * np.sin(th) - free * np.cos(th)]
            wanted.append(around if law is wound else [L * np.sin(th), -L * np.cos(th)])
        if stop >= 4.0:
            break
        w = run.sol(stop)[1]
        t, y = stop, [1e-13, w * at_post] if law is straight else [-1e-13, w / at_post]
    result = mbd.simulate(system, 4.0, t_eval=at, integrator=mbd.DOP853(rtol=1e-10, atol=1e-11))
    energy = result.energy()
    assert np.abs(energy.drift).max() < 1e-6
    found = result["bob"].r[: len(wanted), [0, 2]]
    assert len(wanted) > 20
    assert np.abs(found - np.array(wanted)).max() < 1e-5  # the acceleration jumps at the post: the method loses digits in that step


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_length_is_that_of_the_shortest_path_around_a_cylinder(seed):
    """Points anywhere, a cylinder of any direction: the rope is the shortest polygon outside, up to its chords, found by a search."""
    rng = np.random.default_rng(seed)
    T, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    T *= np.sign(np.linalg.det(T))
    c, R = rng.normal(size=3), 0.4
    a = c + T @ np.array([-0.9 - rng.random(), 0.3 * rng.random(), rng.normal()])
    b = c + T @ np.array([0.9 + rng.random(), 0.3 * rng.random(), rng.normal()])

    n = 24

    def length(x):
        radius, angle, z = x.reshape(3, n)
        nodes = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1) @ T.T + c
        return np.linalg.norm(np.diff(np.vstack([a, nodes, b]), axis=0), axis=1).sum()

    ends = [T.T @ (x - c) for x in (a, b)]
    angles = np.linspace(*(np.arctan2(x[1], x[0]) for x in ends), n)
    start = np.concatenate([np.full(n, 1.2 * R), angles, np.linspace(ends[0][2], ends[1][2], n)])
    bounds = [(R, None)] * n + [(None, None)] * (2 * n)
    best = minimize(length, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000, "maxfun": 10**6}).fun
    system = System("cylinder")
    one, other = (system.add(Body(name, 1.0, (1, 1, 1), r=x)) for name, x in (("a", a), ("b", b)))
    rope = system.add(Rope("rope", [(one, a), Pulley(system.ground, R, center=c, axis=T[:, 2], side=T[:, 1]), (other, b)]))
    assert rope.modelled_length == pytest.approx(best, rel=1e-3)


def faults_of(*parts, **how):
    system = System("faulty")
    body = system.add(Body("b", 1.0, (1, 1, 1), r=(1, 0, 0)))
    wheel = system.add(Body("w", 1.0, (1, 1, 1), r=(0, 0, 1)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 1), axis=(0, 1, 0)))
    names = {"ground": system.ground, "body": body, "axle": axle}
    path = [(names[part[0]], *part[1:]) if isinstance(part, tuple) else part(system) for part in parts]
    system.add(Rope("rope", path, **how))
    return [f"{fault.what} {fault.remedy}" for fault in system.faults()]


A, B = ("ground", (-1.0, 0.0, 0.0)), ("body", (1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("path", "how", "words"),
    [
        ((A, B), {"length": 1.9}, "0.1 m shorter than its path as modelled, 2 m"),
        ((A, B), {"length": 2.5}, "longer"),
        ((A, ("axle", 5.0), B), {}, "lies within a disc"),
        ((A, ("axle", -1.0), B), {}, "positive"),
        (
            (A, lambda s: Pulley(s.ground, 0.1, center=(0, 0, 0), axis=(0, 1, 0)), B),
            {},
            "both ways round the disc are equally long",
        ),
        ((A, ("axle", 0.1), lambda s: Pulley(s.ground, 0.1, center=(1, 0, 2), axis=(0, 0, 1)), B), {}, "not parallel"),
        ((A, ("ground", (0.0, 1.0, 0.0))), {}, "joins body 'ground' to itself"),
        ((A, A, B), {}, "two points coincide"),
        ((A, lambda s: Pulley(s.ground, 0.1, center=(0, 0, 1.1), axis=(0, 1, 0)), B), {}, "passes it untouched"),
        ((("axle", 0.1), B), {}, "both ways round the disc are equally long"),
        ((("axle", 0.1, (0, 0, 1)), ("body", (1.0, 0.4, 0.0))), {}, "leaves a drum aslant"),
    ],
)
def test_bad_ropes_are_refused_with_what_to_do(path, how, words):
    found = faults_of(*path, **how)
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.parametrize("path", [[], "rope", [(1, 2), (3, 4)], [("a", (0, 0, 0)), ("b", (1, 0, 0))]])
def test_a_path_that_is_none_is_refused_at_once(path):
    with pytest.raises(mbd.UsageError, match="joint 'rope'"):
        Rope("rope", path)


def test_a_disc_on_a_joint_that_turns_about_several_axes_is_refused():
    ball = SJ("ball", mbd.Body.ground(), Body("b", 1.0, (1, 1, 1)), point=(0, 0, 1))
    (fault,) = Rope("rope", [(ball.i, (-1, 0, 0)), (ball, 0.1), (ball.j, (1, 0, 0))]).faults()
    assert "does not turn about one axis" in fault.what


def test_both_ends_may_be_on_one_body():
    """A load that hangs in the bight of a rope: twice the tension."""
    system = System("bight", gravity=(0, 0, -G))
    load, _ = block(system, "M", 4.0, (0, 0, -2))
    system.add(
        Rope(
            "rope",
            [(system.ground, (-0.1, 0, 0)), Pulley(load, 0.1, center=(0, 0, -2), axis=(0, 1, 0)), (system.ground, (0.1, 0, 0))],
        )
    )
    assert mbd.accelerations(system).lam[-1] == pytest.approx(4.0 * G / 2, rel=CLOSED)


def test_a_body_of_the_middle_of_the_path_that_is_not_in_the_system_is_named():
    system = System("foreign")
    body = system.add(Body("b", 1.0, (1, 1, 1), r=(1, 0, 0)))
    other = Body("other", 1.0, (1, 1, 1))
    system.add(Fixed("weld", system.ground, body))
    system.add(Rope("rope", [(system.ground, (-1, 0, 0)), (other, (0, 0, 0)), (body, (1, 0, 0))]))
    assert "other" in str(system.faults())


@pytest.mark.slow
def test_equations_in_symbols_have_straight_ropes_and_refuse_arcs_by_name():
    system = System("symbols")
    a, b = (system.add(Body(name, 1.0, (1, 1, 1), r=r)) for name, r in (("a", (1, 0, 0)), ("b", (0, 1, 0.5))))
    system.add(Rope("rope", [(a, (1, 0.1, 0)), (system.ground, (0, 0, 1)), (b, (0, 1, 0.2))]))
    eq = mbd.equations(system)
    state = eq.model.state()
    rows = mbd.evaluate(eq.model, state)
    assert np.abs(np.array(eq.lambdify("Phi_q")(state)) - rows.Phi_q.toarray()).max() < CLOSED
    system.add(
        Rope("arc", [(a, (1, 0, 0)), Pulley(system.ground, 0.1, center=(0, 0, 0), axis=(0, 0, 1), side=(0, -1, 0)), (b, (0, 1, 0))])
    )
    with pytest.raises(mbd.UsageError, match="'arc'"):
        mbd.equations(system).lambdify("Phi")


def hanging(**how):
    """A mass that falls 0.7 m before its rope of 1 m is taut."""
    system = System("bungee", gravity=(0, 0, -G))
    body = system.add(Body("b", 2.0, (0.1, 0.1, 0.1), r=(0, 0, -0.3)))
    system.add(Rope("rope", [(system.ground, (0, 0, 0)), (body, (0, 0, -0.3))], length=1.0, **how))
    return system


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_rigid_rope_becomes_taut_by_an_impact(restitution):
    result = mbd.simulate(hanging(unilateral=True, restitution=restitution), 0.6, rtol=1e-10, atol=1e-12)
    t1, speed = np.sqrt(2 * 0.7 / G), np.sqrt(2 * 0.7 * G)
    hit = result.impacts[0]
    assert hit.t == pytest.approx(t1, rel=1e-9)
    after = 0.6 - t1
    height = -1.0 if restitution == 0.0 else -1.0 + restitution * speed * after - 0.5 * G * after**2
    assert result["b"].r[-1, 2] == pytest.approx(height, abs=1e-8)
    assert result.contact("rope").gap[-1] == pytest.approx(height + 1.0, abs=1e-8)
    if restitution == 0.0:
        assert result.contact("rope").force[-1] == pytest.approx(2.0 * G, rel=1e-8)  # the tension


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.0, 30.0])
def test_an_elastic_rope_is_slack_and_taut(c):
    EA, m, t1 = 2e3, 2.0, np.sqrt(2 * 0.7 / G)
    result = mbd.simulate(hanging(EA=EA, c=c), 0.6, rtol=1e-11, atol=1e-12)

    def rates(_, y):
        pull = EA * (-y[0] - 1.0) - c * y[1]
        return [y[1], -G + max(0.0, pull if y[0] < -1.0 else 0.0) / m]

    y = solve_ivp(rates, (t1, 0.6), [-1.0, -G * t1], max_step=1e-3, **FINE).y
    assert result["b"].r[-1, 2] == pytest.approx(y[0, -1], abs=1e-6)
    load = result.load("rope")
    assert load.length[-1] == pytest.approx(-y[0, -1], abs=1e-6)
    assert (load.force[load.length <= 1.0] == 0.0).all()
    assert load.force.max() > 100.0
    assert (
        np.abs(result.energy().drift).max() < 0.1 * c / 30.0 + 1e-5
    )  # J; the damper jumps within a step, whose work is integrated


@pytest.mark.slow
def test_slack_ropes_are_saved_and_read(tmp_path):
    for how in ({"EA": 2e3, "c": 1.0}, {"unilateral": True, "restitution": 0.5}):
        system = hanging(**how)
        system.save(tmp_path / "rope.json")
        again = mbd.load_model(tmp_path / "rope.json")
        assert again.loads[0].rope.slack == system.loads[0].rope.slack
        state = [mbd.simulate(one, 0.5, h=1e-3).y[-1] for one in (system, again)]
        assert np.array_equal(*state)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"EA": -1.0}, "must be positive"),
        ({"EA": 1.0, "restitution": 0.2}, "restitution"),
        ({"unilateral": True, "c": 1.0}, "damping"),
        ({"c": 1.0}, "rigid both ways"),
        ({"unilateral": True, "length": 0.2}, "shorter than its path"),
        ({"unilateral": True, "length": lambda t: 1.0 + t}, "function of time"),
    ],
)
def test_options_of_slack_ropes_that_do_not_fit_are_refused(how, words):
    system = System("faulty")
    body = system.add(Body("b", 2.0, (0.1, 0.1, 0.1), r=(0, 0, -0.3)))
    system.add(
        Rope("rope", [(system.ground, (0, 0, 0)), (body, (0, 0, -0.3))], **{"length": 1.0 if how.get("c") != 1.0 else 0.3, **how})
    )
    (fault,) = system.faults()
    assert words in f"{fault.what} {fault.remedy}"


def test_a_slack_drum_and_a_rigid_slack_winch_are_refused_by_name():
    system = System("three")
    a, b, wheel = (
        system.add(Body(name, 1.0, (1, 1, 1), r=r)) for name, r in (("a", (-1, 0, -1)), ("b", (1, 0, -1)), ("w", (0, 0, 0)))
    )
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(Rope("winch", [(a, a.r), (axle, 0.1), (b, b.r)], unilateral=True, length=lambda t: 3.0 - 0.1 * t))
    system.add(Rope("drum", [(axle, 0.1, (1, 0, 0)), (b, b.r)], EA=1.0))
    texts = [str(fault.what) for fault in system.faults()]
    assert any("its length is a function of time" in text for text in texts)
    assert any("wound on a drum" in text for text in texts)


@pytest.mark.parametrize("how", [{"h": 0.01}, {"rtol": 1e-8}])
def test_a_winch_that_reels_in_more_than_its_rope_is_named_with_its_time(how):
    system = System("hoist")
    load = system.add(Body("load", 1.0, (0.1, 0.1, 0.1), r=(0, 0, -2), v=(0, 0, 3)))
    system.add(Rope("winch", [(system.ground, (0, 0, 0)), (load, load.r)], length=lambda t: 2.0 - 3.0 * t))
    with pytest.raises(mbd.SimulationError, match=r"t = 0\.66666.*'winch': its length f\(t\) reaches zero"):
        mbd.simulate(system, 1.0, **how)


def test_the_pieces_that_are_drawn_are_the_path():
    """They follow one another, and are as long as the rope but for the chords of its arcs."""
    system = System("drawn")
    a, b = (system.add(Body(name, 1.0, (1, 1, 1), r=r)) for name, r in (("a", (-0.3, 0.1, -1)), ("b", (0.5, 0.1, -0.7))))
    pulley = Pulley(system.ground, 0.2, center=(0, 0, 0.1), axis=(0, 1, 0))
    beside = Pulley(system.ground, 0.1, center=(0.9, 0, 2.0), axis=(0, 1, 0), side=(0, 0, -1))
    rope = system.add(Rope("rope", [(a, (-0.3, 0, -0.9)), pulley, beside, (b, (0.5, 0, -0.6))]))
    ends = [(i.r + i.A @ s_i, j.r + j.A @ s_j) for i, s_i, j, s_j in rope.row.pieces()]
    assert all(np.abs(end - start).max() < 1e-12 for (_, end), (start, _) in zip(ends, ends[1:], strict=False))
    drawn = sum(np.linalg.norm(end - start) for start, end in ends)
    assert drawn == pytest.approx(rope.modelled_length, rel=5e-3)
    assert drawn < rope.modelled_length
    assert ends[0][0] == pytest.approx([-0.3, 0, -0.9])
    assert ends[-1][1] == pytest.approx([0.5, 0, -0.6])


def capstan(mu, wrap, v=0.0, pull=None, table=False):
    """Return two weights of 3 and 2 kg on a rope over a drum with friction, both hanging, or the second one on a table."""
    R = 0.1
    system = mbd.System("capstan", gravity=(0, 0, -9.81))
    where, along = ((-2.0, 0.0, R), (1.0, 0.0, 0.0)) if table else ((R, 0.0, -1.5), (0.0, 0.0, 1.0))
    a = system.add(mbd.Body("a", 3.0, (0.1,) * 3, r=(-1.3 if table else -R, 0, -1.0), v=(0, 0, -v)))
    b = system.add(mbd.Body("b", 2.0, (0.1,) * 3, r=where, v=v * np.array(along)))
    rim = system.add(mbd.Body("rim", 0.0, (0, 0, 0), omega_bar=(0, (v if table else -v) / R, 0)))
    drum = system.add(RJ("drum", system.ground, rim, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(TJ("guide a", system.ground, a, point=a.r, axis=(0, 0, 1)))
    system.add(TJ("guide b", system.ground, b, point=b.r, axis=along))
    led = [Pulley(system.ground, 0.3, center=(-1.0, 0, -R - 0.3), axis=(0, 1, 0), side=(-1, 0, 1))] if table else []
    system.add(Rope("rope a", [(drum, R, (0, 0, -1) if table else (-1, 0, 0)), *led, (a, a.r)]))
    system.add(Rope("rope b", [(drum, R, (0, 0, 1) if table else (1, 0, 0)), (b, b.r)]))
    system.add(mbd.JointFriction("grip", drum, mbd.Coulomb(np.tanh(mu * wrap / 2)), radius=R))
    if pull is not None:
        system.add(mbd.PointForce("pull", a, point=a.r, force=(0, 0, pull)))
    return system


def test_a_rope_on_a_drum_slips_sticks_and_slips_by_the_capstan():
    """T_1 = T_2 exp(mu alpha) while it slips, any ratio below while it sticks, in both senses."""
    mu, v, k = 0.2, 0.8, 20.0
    e = np.exp(mu * np.pi)
    slope = (3.0 - e * 2.0) * 9.81 / (3.0 + e * 2.0)
    slips = 1.0 + (e * 2.0 - 3.0) * 9.81 / k
    result = mbd.simulate(capstan(mu, np.pi, v, lambda t: -k * max(0.0, t - 1.0)), slips + 0.4, rtol=1e-10)
    assert [event.t for event in result.events] == pytest.approx([-v / slope, slips], abs=1e-8)
    assert result["a"].v[-1, 2] == pytest.approx(-k * 0.4**2 / 2 / (3.0 + e * 2.0), abs=1e-9)
    one, other = (result.reaction(f"rope {name}", on=name).force[:, 2] for name in "ab")
    moving = np.abs(result["a"].v[:, 2]) > 1e-6
    assert one[moving] / other[moving] == pytest.approx(e, rel=1e-9)
    assert np.all((one / other)[~moving] < e * (1 + 1e-9))
    assert abs(result.energy().drift).max() < 1e-8


@pytest.mark.parametrize("turns", [0.0, 1.0])
def test_a_weight_that_draws_a_block_over_the_edge_of_a_table(turns):
    """A wrap of a quarter turn, and of one and a quarter: the rope is led to the edge's direction behind the rim."""
    wrap = 0.5 * np.pi + 2.0 * np.pi * turns
    e = np.exp(0.2 * wrap)
    found = mbd.accelerations(capstan(0.2, wrap, 0.1, table=True))
    assert found.v_dot[1, 2] == pytest.approx(-3.0 * 9.81 / (3.0 + e * 2.0), rel=1e-12)


def lift(e, heave="1.2 * (cos(5 * t) - 1)", speed=0.0):
    """Return two weights of 3 and 2 kg on a slack rope over a pulley of a cabin that is driven up and down."""
    R = 0.1
    system = mbd.System("lift", gravity=(0, 0, -G))
    cabin = system.add(mbd.Body("cabin", 100.0, (10.0,) * 3, v=(0, 0, speed)))
    system.add(PoseDriver("drive", cabin, r=(0, 0, mbd.Expression(heave))))
    for name, m, x in (("a", 3.0, -R), ("b", 2.0, R)):
        body = system.add(mbd.Body(name, m, (0.1,) * 3, r=(x, 0, -1), v=(0, 0, speed)))
        system.add(TJ(f"guide {name}", cabin, body, point=body.r, axis=(0, 0, 1)))
    a, b = system["a"], system["b"]
    path = [(a, a.r), Pulley(cabin, R, center=(0, 0, 0), axis=(0, 1, 0), side=(0, 0, 1)), (b, b.r)]
    system.add(Rope("rope", path, unilateral=True, restitution=e))
    return system


def test_a_slack_rope_over_a_pulley_of_a_moving_body_stays_taut():
    """y'' = (m_2 - m_1) / (m_1 + m_2) (g + f'') of a rope that is taut all the time."""
    result = mbd.simulate(lift(0.0, "0.5 * sin(3 * t)", 1.5), 0.8, rtol=1e-10)
    y = -0.2 * (G * 0.8**2 / 2 + 0.5 * (np.sin(2.4) - 2.4))
    assert result["a"].r[-1, 2] == pytest.approx(0.5 * np.sin(2.4) - 1.0 + y, abs=1e-9)
    assert not result.impacts
    assert result.contact("rope").force.min() > 0.0


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_it_becomes_taut_between_three_bodies_by_an_impact_with_its_loss(e):
    """A cabin that falls faster than its weights: these rise in it until the rope pulls, and the driver of the cabin takes its part."""
    m1, m2, A, w = 3.0, 2.0, 1.2, 5.0

    def push(t):
        return G - A * w**2 * np.cos(w * t)  # g + f''

    def gap(t, y):
        return y[0] + y[1] if t > 1e-3 else 1.0

    gap.terminal, gap.direction = True, -1
    flight = solve_ivp(lambda t, y: [y[2], y[3], -push(t), -push(t)], (0, 3), np.zeros(4), events=gap, **FINE)
    t, y = flight.t[-1], flight.y[:, -1].copy()
    closing = y[2] + y[3]
    pull = -(1.0 + e) * closing / (1 / m1 + 1 / m2)
    y[2:] += pull / m1, pull / m2

    def behind(t, y):
        taut = (m2 - m1) / (m1 + m2) * push(t)
        return [y[2], y[3], *((taut, -taut) if e == 0.0 else (-push(t), -push(t)))]

    y = solve_ivp(behind, (t, t + 0.05), y, **FINE).y[:, -1]
    result = mbd.simulate(lift(e), t + 0.05, rtol=1e-10)
    assert [one.t for one in result.impacts] == pytest.approx([t], abs=1e-9)
    assert [result[name].r[-1, 2] - result["cabin"].r[-1, 2] + 1.0 for name in "ab"] == pytest.approx(y[:2].tolist(), abs=1e-8)
    loss = 0.5 * (1 - e**2) * closing**2 / (1 / m1 + 1 / m2)
    assert result.energy().drift[-1] == pytest.approx(-loss, rel=1e-7)
    some = mbd.simulate(lift(e), t + 0.05, rtol=1e-10, t_eval=np.linspace(0, t + 0.05, 5))
    assert some.energy().drift[-1] == pytest.approx(-loss, rel=1e-6)


@pytest.mark.parametrize("options", [{"unilateral": True}, {"EA": 1e4}])
def test_results_of_slack_ropes_over_the_ground_are_read_again(options, tmp_path):
    system = mbd.System("ropes", gravity=(0, 0, -G))
    a = system.add(mbd.Body("a", 1.0, (0.1,) * 3, r=(0, 0, -1)))
    b = system.add(mbd.Body("b", 2.0, (0.1,) * 3, r=(1, 0, -1)))
    path = [(a, a.r), Pulley(system.ground, 0.5, center=(0.5, 0, 0), axis=(0, 1, 0), side=(0, 0, 1)), (b, b.r)]
    system.add(Rope("rope", path, **options))
    result = mbd.simulate(system, 0.1, h=1e-2)
    result.save(tmp_path / "run.npz")
    assert np.array_equal(mbd.load(tmp_path / "run.npz").model.y0, result.model.y0)
