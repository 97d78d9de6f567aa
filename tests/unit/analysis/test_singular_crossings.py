"""Driven mechanisms across singular positions: found once, at their times, whatever the bodies weigh; none where there is none."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, hoberman_ring, jansen_leg
from joints import CJ, RJ, SJ, TJ, RotationDriver, TranslationDriver

Z = np.array([0.0, 0.0, 1.0])
INERTIAS = ("thick", "slender", "nearly slender", "heavy")


def link(name, a, b, inertia):
    """A link between two points, as a ball or a rod."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    length = np.linalg.norm(b - a)
    along = np.outer(b - a, b - a) / length**2
    shape = {
        "thick": (1.0, 0.1 * np.eye(3)),
        "slender": (1.0, (np.eye(3) - along) / 12.0),
        "nearly slender": (1.0, (np.eye(3) - (1.0 - 1e-9) * along) / 12.0),
        "heavy": (1e6, 1e6 * (np.eye(3) - 0.5 * along)),
    }
    mass, J = shape[inertia]
    return mbd.Body(name, mass, J * length**2, r=(a + b) / 2.0)


def planar_four_bar(points, inertia, f, driven="A", frame=None, size=1.0, redundant=True):
    """A four-bar through points in the plane, one of whose joints is driven."""
    Q, o = (np.eye(3), np.zeros(3)) if frame is None else frame
    P = [size * (Q @ np.array([*p, 0.0]) + o) for p in points]
    axis = Q[:, 2]
    system = mbd.System("four-bar")
    crank, coupler, rocker = (
        system.add(link(name, P[k], P[k + 1], inertia)) for k, name in enumerate(("crank", "coupler", "rocker"))
    )
    system.add(RJ("A", system.ground, crank, point=P[0], axis=axis))
    system.add(RJ("B", crank, coupler, point=P[1], axis=axis))
    if redundant:
        system.add(RJ("C", coupler, rocker, point=P[2], axis=axis))
        system.add(RJ("D", system.ground, rocker, point=P[3], axis=axis))
    else:
        system.add(SJ("C", coupler, rocker, point=P[2]))
        system.add(CJ("D", system.ground, rocker, point=P[3], axis=axis))
    system.add(RotationDriver("drive", system[driven], f))
    return system


def parallelogram(inertia, **options):
    return planar_four_bar([(0, 0), (0, 1), (2, 1), (2, 0)], inertia, lambda t: 1.0 * t, **options)


R, L, START = 0.2, 0.5, 0.7


def pushed_slider(inertia, rate=2.0, size=1.0):
    """A slider-crank driven by its slider, so that the crank turns uniformly through both dead centres."""
    P = size * np.array([R * cos(START), R * sin(START), 0.0])
    X = size * (R * cos(START) + sqrt(L**2 - (R * sin(START)) ** 2))
    system = mbd.System("slider")
    crank = system.add(link("crank", (0, 0, 0), P, inertia))
    rod = system.add(link("rod", P, (X, 0, 0), inertia))
    block = system.add(mbd.Body("block", 1.0, size**2 * np.array([0.01, 0.01, 0.01]), r=(X, 0, 0)))
    system.add(RJ("axle", system.ground, crank, point=(0, 0, 0), axis=Z))
    system.add(RJ("pin", crank, rod, point=P, axis=Z))
    system.add(SJ("wrist", rod, block, point=(X, 0, 0)))
    guide = system.add(TJ("guide", system.ground, block, point=(X, 0, 0), axis=(1, 0, 0)))

    def place(t):
        angle = START + rate * t
        return size * (R * np.cos(angle) + np.sqrt(L**2 - (R * np.sin(angle)) ** 2)) - X

    system.add(TranslationDriver("push", guide, place))
    return system


def times_of(result):
    return [crossing.t for crossing in result.singular_crossings]


@pytest.mark.parametrize("n", [8, 25, 192])
@pytest.mark.parametrize("redundant", [True, False])
@pytest.mark.parametrize("inertia", INERTIAS)
def test_a_flat_parallelogram_is_found_once_at_its_time(inertia, redundant, n):
    result = mbd.kinematics(parallelogram(inertia, redundant=redundant), np.linspace(0.0, 2.0 * pi, n))
    np.testing.assert_allclose(times_of(result), [pi / 2.0, 1.5 * pi], atol=1e-9)
    assert {"B", "C", "D"} <= set(result.singular_crossings[0].joints)
    assert np.abs(result["coupler"].omega_bar).max() < 1e-9
    np.testing.assert_allclose(result["rocker"].omega_bar[:, 2], 1.0, atol=1e-9)


@pytest.mark.parametrize(("n", "rate", "size"), [(11, 2.0, 1.0), (101, 2.0, 1e-3), (64, 2e3, 1.0), (40, -2e-3, 1e3)])
@pytest.mark.parametrize("inertia", INERTIAS)
def test_dead_centres_of_a_pushed_slider(inertia, n, rate, size):
    end = 8.0 / abs(rate)
    result = mbd.kinematics(pushed_slider(inertia, rate, size), np.linspace(0.0, end, n))
    known = sorted(t for t in ((k * pi - START) / rate for k in range(-4, 5)) if 0.0 < t < end)
    np.testing.assert_allclose(times_of(result), known, atol=1e-9 * end)
    np.testing.assert_allclose(result.joint("axle").angle, rate * result.t, atol=1e-9)


@pytest.mark.parametrize("driven", ["four-bar", "Jansen leg"])
def test_regular_linkages_of_slender_rods_have_no_crossing(driven):
    system, pin = (four_bar(), "A") if driven == "four-bar" else (jansen_leg(), "crank pivot")
    system.add(RotationDriver("drive", system[pin], lambda t: 2.0 * pi * t))
    assert not mbd.kinematics(system, np.linspace(0.0, 1.0, 40)).singular_crossings


def crank_rocker(seed, inertia):
    """A random crank-rocker whose rocker is driven as a uniform crank moves it; and the times at which crank and coupler are in line."""
    random = np.random.default_rng(seed)
    a, b, c, d = 1.0, 2.0, 2.2, 2.5
    b, c, d = np.array([b, c, d]) + random.uniform(-0.3, 0.3, 3)
    start, rate = random.uniform(0.3, 1.2), random.uniform(0.5, 2.0)

    def rocker(angle):
        X, Y = a * np.cos(angle) - d, a * np.sin(angle)
        size = X * X + Y * Y
        return pi + np.arctan(Y / X) - np.arccos((size + c * c - b * b) / (2.0 * c * np.sqrt(size)))

    begin = rocker(start)
    points = [(0, 0), (a * cos(start), a * sin(start)), (d + c * cos(begin), c * sin(begin)), (d, 0)]
    Q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    frame = (Q * np.linalg.det(Q), random.normal(size=3))
    system = planar_four_bar(
        points, inertia, lambda t: rocker(start + rate * t) - begin, "D", frame, 10.0 ** random.integers(-3, 3)
    )
    side = [np.arccos((d * d + r * r - c * c) / (2.0 * d * r)) for r in (a + b, b - a)]  # of A C with the ground
    # this branch has C on the side of positive angles, or below the ground: the sign of C at the start decides
    sign = np.sign(c * sin(begin))
    lines = [sign * side[0], sign * side[1] + pi]
    known = sorted((angle + 2.0 * pi * k - start) / rate for angle in lines for k in range(-1, 3))
    return system, rate, [t for t in known if 0.0 < t < 6.5 / rate]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_crank_rockers_driven_through_their_dead_centres(seed):
    found = []
    for inertia in INERTIAS:
        system, rate, known = crank_rocker(seed, inertia)
        result = mbd.kinematics(system, np.linspace(0.0, 6.5 / rate, 20 + 31 * seed))
        np.testing.assert_allclose(times_of(result), known, atol=1e-8)
        np.testing.assert_allclose(result.joint("A").angle, rate * result.t, atol=1e-8)
        found.append(result)
    for other in found[1:]:
        np.testing.assert_allclose(other.r, found[0].r, atol=1e-12 * np.ptp(found[0].r))
        np.testing.assert_allclose(times_of(other), times_of(found[0]), atol=1e-10)


@pytest.mark.parametrize("inertia", ["thick", "slender"])
def test_a_parallelogram_with_an_error_is_not_taken_across(inertia):
    """The ground is 1e-4 too long: coupler and rocker in line are a dead centre of the crank, before the flat pose, and the motion ends."""
    d = 2.0 + 1e-4
    size = 1.0 + d**2
    base, turn = np.arctan2(1.0, -d), np.arccos((size + 1.0 - 4.0) / (2.0 * sqrt(size)))
    rocker = base - turn
    system = planar_four_bar([(0, 0), (0, 1), (d + cos(rocker), sin(rocker)), (d, 0)], inertia, lambda t: 1.0 * t, redundant=False)
    with pytest.raises(mbd.SimulationError, match="singular position") as caught:
        mbd.kinematics(system, np.linspace(0.0, 6.0, 31))
    end = float(str(caught.value).split("t = ")[1].split(" s")[0])
    assert end == pytest.approx(np.arcsin((3.0**2 - 1.0 - d**2) / (2.0 * d)), abs=1e-6)  # |B D| = 3
    assert not caught.value.result.singular_crossings


@pytest.mark.parametrize("inertia", INERTIAS)
def test_torques_of_drivers_belong_to_the_inertia(inertia):
    """Power of the driver = rate of the kinetic energy, whatever the metric in which the motion was computed."""
    h = 1e-4
    result = mbd.kinematics(pushed_slider(inertia), 0.3 + np.array([-h, 0.0, h]))
    kinetic = result.energy().kinetic
    power = result.reaction("push").force[1, 0] * result["block"].v[1, 0]
    assert power == pytest.approx((kinetic[2] - kinetic[0]) / (2.0 * h), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [19, 37])
def test_no_crossing_where_the_least_singular_value_vanishes_like_a_square(n):
    """All units of a Hoberman ring in line: several motions become free at once; the grid of times does not decide whether it is passed."""
    system = hoberman_ring()
    system.add(RotationDriver("drive", system["pivot 1"], lambda t: 1.0 * t))
    with pytest.raises(mbd.SimulationError, match=r"ends at t = 1\.85458\d* s, at a singular position"):
        mbd.kinematics(system, np.linspace(0.0, 2.2, n))


@pytest.mark.parametrize("apart", [0.3, 0.03, 0.01, 0.003, 0.0])
def test_mechanisms_in_one_system_have_the_crossings_that_each_has_alone(apart):
    """Two parallelograms that become flat one after the other, within one step and within the gap around the first; or together."""
    system = mbd.System("two")
    for name, start, z in (("one", pi / 2.0, 0.0), ("two", pi / 2.0 - apart, 1.0)):
        top = np.array([cos(start), sin(start), z])
        P = [np.array([0.0, 0.0, z]), top, top + (2.0, 0.0, 0.0), np.array([2.0, 0.0, z])]
        crank, coupler, rocker = (system.add(link(f"{name} link {k}", P[k], P[k + 1], "slender")) for k in range(3))
        pin = system.add(RJ(f"{name} A", system.ground, crank, point=P[0], axis=Z))
        system.add(RJ(f"{name} B", crank, coupler, point=P[1], axis=Z))
        system.add(RJ(f"{name} C", coupler, rocker, point=P[2], axis=Z))
        system.add(RJ(f"{name} D", system.ground, rocker, point=P[3], axis=Z))
        system.add(RotationDriver(f"{name} drive", pin, lambda t: 1.0 * t))
    result = mbd.kinematics(system, np.linspace(0.0, 6.2, 40))
    known = sorted({pi / 2.0, pi / 2.0 + apart, 1.5 * pi, 1.5 * pi + apart})
    np.testing.assert_allclose(times_of(result), known, atol=1e-8)
    for name in ("one", "two"):
        np.testing.assert_allclose(result.joint(f"{name} D").angle, result.t, atol=1e-9)
