"""Forces along joint coordinates: the coordinate and its direction against differences, laws against closed forms and quadrature."""

from __future__ import annotations

import json

import numba
import numpy as np
import pytest
from scipy.integrate import simpson

import haugmbd as mbd
from haugmbd.diagnostics.work import load_ledger
from haugmbd.forces.joint_loads import joint_load
from haugmbd.math import euler_parameters
from haugmbd.workspace.layout import WIDTH
from joints import CJ, RJ, SJ, TJ, UJ

STEP = 1e-5  # central differences: truncation 1e-10, rounding 1e-11
DIFFERENCE_TOL = 1e-8
ROUNDING = 1e-12  # sums of terms of size 1 to 10

COORDINATES = {
    "RJ": lambda a, b: RJ("joint", a, b, point=(0.4, 0.1, 0.3), axis=(1, 2, 2), q0=0.7),
    "TJ": lambda a, b: TJ("joint", a, b, point=(0.4, 0.1, 0.3), axis=(1, 2, 2), q0=-0.3),
    "CJ angle": lambda a, b: CJ("joint", a, b, point=(0.4, 0.1, 0.3), axis=(1, 2, 2)).coordinate("angle"),
    "CJ displacement": lambda a, b: CJ("joint", a, b, point=(0.4, 0.1, 0.3), axis=(1, 2, 2)).coordinate("displacement"),
    "UJ 1": lambda a, b: UJ("joint", a, b, point=(0.4, 0.1, 0.3), axis_i=(1, 2, 2), axis_j=(0, 1, -1)).coordinate("angle", 1),
    "UJ 2": lambda a, b: UJ("joint", a, b, point=(0.4, 0.1, 0.3), axis_i=(1, 2, 2), axis_j=(0, 1, -1)).coordinate("angle", 2),
}


def two_bodies(kind, load):
    """Two bodies with a joint, and a load on a coordinate of it."""
    system = mbd.System("rig")
    a = system.add(mbd.Body("a", 2.0, (0.4, 0.5, 0.6), r=(0.2, -0.1, 0.3), p=np.array([4.0, 1.0, -2.0, 2.0]) / 5.0))
    b = system.add(mbd.Body("b", 3.0, (0.7, 0.8, 0.9), r=(0.9, 0.5, -0.2), p=np.array([1.0, 1.0, 1.0, -1.0]) / 2.0))
    given = COORDINATES[kind](a, b)
    system.add(given.joint if not isinstance(given, mbd.Joint) else given)
    system.add(load(given))
    return system.compile()


def near_the_model(model, rng, size=0.3):
    """Return a state near the modelled one that violates the joint, with any velocities."""
    y = model.y0.copy()
    bodies = y[: WIDTH * (model.nb + 1)].reshape(-1, WIDTH)
    bodies[1:, :3] += size * rng.normal(size=(model.nb, 3))
    bodies[1:, 3:7] = euler_parameters.product(bodies[1:, 3:7], euler_parameters.exponential(size * rng.normal(size=(model.nb, 3))))
    bodies[1:, 7:] = rng.normal(size=(model.nb, 6))
    return y


def moved(y, n, k, direction, step):
    y = y.copy()
    row = y[WIDTH * k :][:WIDTH]
    if direction < 3:
        row[direction] += step
    else:
        row[3:7] = euler_parameters.product(row[3:7], euler_parameters.exponential(step * np.eye(3)[direction - 3]))
    return y


def coordinate(model, y):
    """Return value and rate of the coordinate, from Python."""
    entry = model.loads[0]
    n = model.nb + 1
    bodies = y[: WIDTH * n].reshape(n, 1, WIDTH)[list(entry.bodies)]
    q, rate = entry.load.motion(bodies, entry.own_angles(y[None, WIDTH * n :]))
    return q[0, 0], rate[0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", COORDINATES)
def test_a_unit_force_is_the_gradient_of_the_coordinate(kind, rng, forces):
    """Q = dq/dq by differences, Q . u = q' , at states that violate the joint: the formulas hold there, too."""
    model = two_bodies(kind, lambda q: mbd.JointForce("force", q, 1.0))
    assert coordinate(model, model.y0)[0] == pytest.approx({"RJ": 0.7, "TJ": -0.3}.get(kind, 0.0), abs=ROUNDING)
    for _ in range(5):
        y = near_the_model(model, rng)
        Q = forces(model, 0.0, y)
        gradient = [
            [
                (coordinate(model, moved(y, 3, k, d, STEP))[0] - coordinate(model, moved(y, 3, k, d, -STEP))[0]) / (2 * STEP)
                for d in range(6)
            ]
            for k in (1, 2)
        ]
        np.testing.assert_allclose(Q[1:], gradient, rtol=0.0, atol=DIFFERENCE_TOL)
        u = y[: WIDTH * 3].reshape(3, WIDTH)[:, 7:]
        assert np.sum(Q * u) == pytest.approx(coordinate(model, y)[1], abs=ROUNDING)


TABLE = ((-1.0, -0.2, 0.1, 0.5, 1.5), (-3.0, -1.0, 0.0, 0.4, 5.0))
SPLINE = mbd.QuinticSpline(np.linspace(0.0, 2.0, 9), np.sin(np.pi * np.linspace(0.0, 2.0, 9)) + 0.2, periodic=True)
LAWS = {
    "linear": lambda q: mbd.JointSpring("load", q, k=7.0, c=0.5, free=0.2),
    "table": lambda q: mbd.JointSpring("load", q, characteristic=TABLE, c=0.5, free=0.1),
    "spline": lambda q: mbd.JointSpring("load", q, characteristic=SPLINE, free=-0.1),
    "above": lambda q: mbd.JointSpring("load", q, k=7.0, c=0.5, free=-0.4, side="above"),
    "below": lambda q: mbd.JointSpring("load", q, k=7.0, c=0.5, free=0.9, side="below"),
    "limit": lambda q: mbd.JointLimit("load", q, lower=-0.31, upper=0.71, k=7.0, c=0.5),
    "function": lambda q: mbd.JointForce("load", q, lambda t, q, qd: t - q * qd),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["RJ", "TJ"])
def test_power_is_Q_u_and_the_kernel_has_the_law_of_the_ledger(kind, law, rng, forces):
    """applied - dissipated - dV/dt = Q . u, V by differences along the motion; nothing gives energy but functions."""
    model = two_bodies(kind, LAWS[law])
    acted = 0
    for t in np.linspace(0.0, 1.0, 12):
        y = near_the_model(model, rng)
        u = y[: WIDTH * 3].reshape(3, WIDTH)[:, 7:]
        power = np.sum(forces(model, t, y) * u)
        book = load_ledger(model, [t], [y])["load"]
        stored = []
        for sign in (1.0, -1.0):
            z = y.copy()
            rows = z[: WIDTH * 3].reshape(3, WIDTH)
            rows[:, :3] += sign * STEP * u[:, :3]
            rows[:, 3:7] = euler_parameters.product(rows[:, 3:7], euler_parameters.exponential(sign * STEP * u[:, 3:]))
            stored.append(load_ledger(model, [t], [z])["load"].potential[0])
        rate = (stored[0] - stored[1]) / (2.0 * STEP)
        assert power == pytest.approx(book.applied[0] - book.dissipated[0] - rate, rel=1e-7, abs=1e-7)
        assert book.dissipated[0] >= 0.0
        assert book.potential[0] >= 0.0 or law in ("table", "spline")
        acted += power != 0.0
    assert acted >= 3


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_a_row_of_the_table_has_all_numbers_that_its_kernel_reads(law):
    """Beyond the row the kernel read the numbers behind the table, and failed without the compiler."""
    model = two_bodies("RJ", LAWS[law])
    assert model.tables["FORCE_REALS"].shape[1] >= joint_load.TABLE


def test_a_characteristic_goes_through_its_table_and_on_with_its_slope():
    """Values at the table, slope by differences, the integral by Simpson's rule on the cubic pieces (exact there)."""
    curve = mbd.JointSpring(
        "s", RJ("j", mbd.Body.ground(), mbd.Body("b", 1.0, (1, 1, 1)), point=(0, 0, 0), axis=(0, 0, 1)), characteristic=TABLE
    ).characteristic
    x, f = map(np.array, TABLE)
    np.testing.assert_allclose(curve.values(x)[:, 0], f, rtol=0.0, atol=ROUNDING)
    outside = curve.values(np.array([-3.0, -2.0, 2.5, 3.5]))
    assert outside[0, 0] - outside[1, 0] == pytest.approx(-outside[0, 1], rel=1e-12)
    assert outside[3, 0] - outside[2, 0] == pytest.approx(outside[3, 1], rel=1e-12)
    ends, middles = curve.values(x), curve.values(0.5 * (x[1:] + x[:-1]))
    simpson = np.diff(x) / 6.0 * (ends[:-1, 0] + 4.0 * middles[:, 0] + ends[1:, 0])
    np.testing.assert_allclose(np.diff(ends[:, 2]), simpson, rtol=0.0, atol=ROUNDING)
    assert curve.values(np.zeros(1))[0, 2] == 0.0
    inside = np.linspace(-1.0, 1.5, 501)
    assert (np.diff(curve.values(inside)[:, 0]) >= 0.0).all()  # monotone, as the table


def slider(*parts, v=0.0, q0=0.0, mass=2.0, gravity=0.0):
    """A mass on a rail along x, with parts made of the rail."""
    system = mbd.System("slider", gravity=(gravity, 0.0, 0.0))
    block = system.add(mbd.Body("block", mass, (0.1, 0.1, 0.1), v=(v, 0.0, 0.0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0), q0=q0))
    for part in parts:
        system.add(part(rail))
    return system


def test_a_spring_swings_about_its_free_value_in_the_joints_own_coordinate():
    """q(0) = q0 = 0.3, free = 0.1: q = 0.1 + 0.2 cos(w t), w = sqrt(k / m)."""
    result = mbd.simulate(slider(lambda rail: mbd.JointSpring("spring", rail, k=50.0, free=0.1), q0=0.3), 2.0, h=1e-3)
    q = 0.1 + 0.2 * np.cos(5.0 * result.t)
    spring = result.load("spring")
    accuracy = 1e-9  # RK4 with w h = 5e-3: 10 x its global error
    np.testing.assert_allclose(spring.displacement, q, rtol=0.0, atol=accuracy)
    np.testing.assert_allclose(spring.force, -50.0 * (q - 0.1), rtol=0.0, atol=50 * accuracy)
    assert abs(result.energy().drift).max() < 1e-9
    assert spring.unit("force") == "N"
    assert spring.stroke == pytest.approx(0.4, abs=1e-5)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_stop_without_damping_returns_the_speed_after_half_a_period(side):
    """Touch at x / v, contact for pi sqrt(m / k): the mass comes back with its speed, and is never pulled."""
    k, m, v, gap = 5e3, 2.0, 1.5, 0.3
    limits = {"upper": gap} if side > 0 else {"lower": -gap}
    system = slider(lambda rail: mbd.JointLimit("stop", rail, k=k, **limits), v=side * v)
    t_end = 2.0 * gap / v + np.pi * np.sqrt(m / k)
    result = mbd.simulate(system, t_end, rtol=1e-10, atol=1e-12)
    assert result["block"].v[-1, 0] == pytest.approx(-side * v, abs=1e-6)
    assert result["block"].r[-1, 0] == pytest.approx(0.0, abs=1e-6)
    stop = result.load("stop")
    assert (side * stop.force <= 0.0).all()
    assert abs(result.energy().drift).max() < 1e-6


def gas(t, q, qd):
    return 3.0 * np.sin(0.5 * q[0]) ** 2 - 0.01 * qd[0], 0.2 * q[0]


@pytest.mark.slow
def test_a_cycle_of_720_degrees_works_on_the_unwound_angle_compiled_or_not():
    """The work of the force is the integral over the unwound angles; Python and compiled functions give the same bits."""

    def machine(f):
        system = mbd.System("crank")
        wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 5.0)))
        block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), r=(0, 1, 0)))
        shaft = system.add(RJ("shaft", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
        rail = system.add(TJ("rail", system.ground, block, point=(0, 1, 0), axis=(1, 0, 0)))
        system.add(mbd.JointForce("gas", [shaft, rail], f))
        return mbd.simulate(system, 3.0, h=2e-3)

    result, compiled = machine(gas), machine(numba.njit(gas))
    np.testing.assert_allclose(result.y, compiled.y, rtol=0.0, atol=1e-12)  # contractions differ
    load = result.load("gas")
    assert load.coordinates[-1, 0] > 4.0 * np.pi
    np.testing.assert_allclose(load.coordinates[:, 0], result.joint("shaft").angle, rtol=0.0, atol=1e-9)
    work, energy = simpson(np.sum(load.forces * load.rates, axis=1), x=result.t), result.energy().kinetic
    assert work == pytest.approx(energy[-1] - energy[0], rel=1e-8)  # Simpson's rule over 1500 steps
    np.testing.assert_allclose(load.power, np.sum(load.forces * load.rates, axis=1), rtol=0.0, atol=ROUNDING)


def test_an_angle_that_a_coupling_and_loads_read_is_integrated_once():
    system = mbd.System("shared")
    wheels = [system.add(mbd.Body(f"wheel {k}", 1.0, (0.1, 0.1, 0.2), r=(k, 0, 0))) for k in (0, 1)]
    a, b = (system.add(RJ(f"shaft {k}", system.ground, w, point=w.r, axis=(0, 0, 1))) for k, w in enumerate(wheels))
    from joints import Gear  # noqa: PLC0415

    system.add(Gear("gear", a, b, ratio=-2.0))
    system.add(mbd.JointSpring("spring", a, k=3.0))
    system.add(mbd.JointForce("motor", b, lambda t, q, qd: 0.1 - 0.02 * q))
    system.add(mbd.RSDA("old", a, k=1.0))
    model = system.compile()
    assert len(model.y0) == 3 * WIDTH + 3
    result = mbd.simulate(system, 1.0, h=1e-2)
    np.testing.assert_allclose(result.load("motor").angle, -2.0 * result.load("spring").angle, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.load("old").angle, result.load("spring").angle, rtol=0.0, atol=1e-9)


STIFF = {
    "spring": lambda rail: mbd.JointSpring("s", rail, k=1e8, c=1e4, free=1.0),
    "table": lambda rail: mbd.JointSpring("s", rail, characteristic=((0.0, 1.0), (0.0, 1e8)), c=1e4, free=1.0),
    "limit": lambda rail: mbd.JointLimit("s", rail, upper=1.0, k=1e8, c=1e4),
    "function": lambda rail: mbd.JointForce("s", rail, lambda t, q, qd: -1e8 * (q - 1.0) - 1e4 * qd),
    "declared": lambda rail: mbd.JointForce(
        "s", rail, lambda t, q, qd: -1e8 * (q - 1.0) - 1e4 * qd, jacobian=lambda t, q, qd: (-1e8, -1e4)
    ),
    "list": lambda rail: mbd.JointForce("s", [rail], lambda t, q, qd: [-1e8 * (q[0] - 1.0) - 1e4 * qd[0]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", STIFF)
def test_a_stiff_law_has_its_tangent_in_implicit_methods(law):
    """sqrt(k / m) h = 7: without the tangent no iteration would converge. Weight m g / k holds the mass at the end."""
    system = slider(STIFF[law], q0=1.0, gravity=9.81)
    result = mbd.simulate(system, 0.05, integrator=mbd.GeneralizedAlpha(1e-3, rho=0.2))
    assert result.counters.projections < 3 * result.counters.steps
    assert result["block"].r[-1, 0] == pytest.approx(2.0 * 9.81 / 1e8, rel=1e-3)


def test_the_equilibrium_of_springs_on_both_sides_of_a_gear_is_the_closed_form():
    """k_a (q - a) - 2 k_b (-2 q - b) = 0 after a preload of many turns."""
    system = mbd.System("train")
    wheels = [system.add(mbd.Body(f"wheel {k}", 1.0, (0.1, 0.1, 0.2), r=(k, 0, 0))) for k in (0, 1)]
    a, b = (system.add(RJ(f"shaft {k}", system.ground, w, point=w.r, axis=(0, 0, 1))) for k, w in enumerate(wheels))
    from joints import Gear  # noqa: PLC0415

    system.add(Gear("gear", a, b, ratio=-2.0))
    system.add(mbd.JointSpring("one", a, k=3.0, free=2.0))
    system.add(mbd.JointSpring("two", b, k=1.0, free=1.0))
    found = mbd.equilibrium(system)
    q = (3.0 * 2.0 - 2.0 * 1.0) / (3.0 + 4.0)
    assert found.state.angles[0] == pytest.approx(q, abs=1e-9)


def limit(joint, **options):
    return mbd.JointLimit("stop", joint, **options)


WRONG = {
    "no stiffness": (lambda pin, ball: limit(pin, lower=-1.0), "it has no stiffness k and no restitution"),
    "no limit": (lambda pin, ball: limit(pin, k=1.0), "it has no limit"),
    "negative": (lambda pin, ball: limit(pin, upper=1.0, k=-1.0), "k is -1 N m/rad, must be positive"),
    "damping": (lambda pin, ball: limit(pin, upper=1.0, k=1.0, c=-2.0), "c is -2, must not be negative"),
    "crossed": (lambda pin, ball: limit(pin, lower=1.0, upper=-1.0, k=1.0), "lower is 1 and upper is -1"),
    "violated": (lambda pin, ball: limit(pin, upper=0.2, k=1.0), r"q = 0.25 rad is 0.05 rad beyond upper = 0.2 rad"),
    "ball": (
        lambda pin, ball: mbd.JointSpring("s", ball, k=1.0),
        r"joint 'ball' \(SJ\) has no coordinate that a force could act along.*K=\(0, 0, 0, k, k, k\)",
    ),
    "spring": (lambda pin, ball: mbd.JointSpring("s", pin, k=-1.0), "k is -1 N m/rad, must not be negative"),
    "nothing": (lambda pin, ball: mbd.JointSpring("s", pin), "it has no k, no c and no characteristic"),
    "side": (lambda pin, ball: mbd.JointSpring("s", pin, k=1.0, side="over"), "side is 'over'"),
    "sides": (lambda pin, ball: mbd.JointSpring("s", pin, k=1.0, side=np.zeros(2)), "side is "),
    "both": (lambda pin, ball: mbd.JointSpring("s", pin, k=1.0, characteristic=TABLE), "it has a characteristic and k"),
    "table": (
        lambda pin, ball: mbd.JointSpring("s", pin, characteristic=((0, 0), (1, 2))),
        "x of characteristic does not increase",
    ),
    "ragged": (
        lambda pin, ball: mbd.JointSpring("s", pin, characteristic=((0, 1), (1, 2, 3))),
        "not a table of two equally long lists",
    ),
    "one number": (
        lambda pin, ball: mbd.JointSpring("s", pin, characteristic=np.array(3.0)),
        "not a table of two equally long lists",
    ),
    "twice": (lambda pin, ball: mbd.JointForce("f", [pin, pin], (1.0, 2.0)), "pin.angle is given 2 times"),
    "length": (
        lambda pin, ball: mbd.JointForce("f", [pin], lambda t, q, qd: (1.0, 2.0)),
        r"must be finite numbers of shape \(1,\)",
    ),
    "arguments": (lambda pin, ball: mbd.JointForce("f", pin, lambda q, qd: 1.0), r"Give f\(t\) or f\(t, q, qd\)"),
    "raises": (lambda pin, ball: mbd.JointForce("f", pin, lambda t, q, qd: 1.0 / 0.0), "raises ZeroDivisionError at t = 0 s"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_one_fault_that_names_the_element(case):
    make, words = WRONG[case]
    system = mbd.System("rig")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1), q0=0.25))
    ball = SJ("ball", system.ground, body, point=(0, 0, 0))
    if case == "ball":
        system.add(ball)
    load = system.add(make(pin, ball))
    with pytest.raises(mbd.ModelError, match=words) as caught:
        system.compile()
    assert [fault.where for fault in caught.value.faults] == [f"{load.kind} {load.name!r}"]


def test_a_joint_of_several_freedoms_asks_which_and_what_is_no_joint_is_refused():
    system = mbd.System("rig")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))
    slot = system.add(CJ("slot", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointSpring("spring", slot, k=1.0))
    with pytest.raises(
        mbd.ModelError, match=r'Say which coordinate is meant: .coordinate\("angle"\) or .coordinate\("displacement"\)'
    ):
        system.compile()
    with pytest.raises(mbd.UsageError, match="JointSpring 'spring' needs a joint, got 'slot'"):
        mbd.JointSpring("spring", "slot", k=1.0)
    with pytest.raises(mbd.UsageError, match="JointForce 'f' needs a joint or a list of joints"):
        mbd.JointForce("f", [], 1.0)


def every_load(system):
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))
    slot = system.add(CJ("slot", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    angle, displacement = slot.coordinate("angle"), slot.coordinate("displacement")
    system.add(mbd.JointSpring("spring", angle, k=1.0, c=0.1, free=0.2))
    system.add(mbd.JointSpring("table", displacement, characteristic=TABLE))
    system.add(mbd.JointSpring("spline", angle, characteristic=SPLINE))
    system.add(mbd.JointSpring("bump", displacement, k=1.0, free=0.1, side="above"))
    system.add(mbd.JointLimit("stop", displacement, upper=0.3, k=100.0, c=1.0))
    system.add(mbd.JointForce("force", angle, mbd.Expression("0.1 * t")))
    system.add(mbd.JointForce("forces", [angle, displacement], [0.5, mbd.Expression("sin(t)")]))
    system.add(mbd.JointForce("gas", [angle, displacement], gas))
    system.add(
        mbd.LinearActuator("ram", system.ground, body, point_i=(0, 0, 1), point_j=(0.1, 0.2, 0), force=mbd.Expression("2 + t"))
    )
    return system


@pytest.mark.slow
def test_model_files_hold_every_law_bit_by_bit(tmp_path):
    system = every_load(mbd.System("file"))
    path = system.save(tmp_path / "model.json")
    again = mbd.load_model(path, allow_code=True)
    assert again.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    results = [mbd.simulate(one, 0.2, h=1e-2) for one in (system, again)]
    np.testing.assert_array_equal(results[0].y, results[1].y)
    assert {load["type"] for load in json.loads(path.read_text())["loads"]} == {
        "JointSpring",
        "JointLimit",
        "JointForce",
        "LinearActuator",
    }
    assert results[0].to_pandas() is not None


@pytest.mark.slow
def test_a_linear_actuator_is_a_tsda_with_the_other_sign_and_pushes():
    """The same motion from actuator = -force, and from a point force on the mass; the same tangent with a declared jacobian."""
    ends = {"point_i": (-1.0, 0.0, 0.0), "point_j": (0.0, 0.0, 0.0)}

    def force(t, length, rate):
        return 3.0 - 2.0 * length - 0.5 * rate

    def machine(make, method):
        system = slider()
        block = system.bodies[1]
        system.add(make(system.ground, block))
        return mbd.simulate(system, 0.5, integrator=method)

    makes = [
        lambda i, j: mbd.LinearActuator("ram", i, j, **ends, force=force),
        lambda i, j: mbd.TSDA("ram", i, j, **ends, actuator=lambda t, length, rate: -force(t, length, rate)),
        lambda i, j: mbd.LinearActuator("ram", i, j, **ends, force=force, jacobian=lambda t, length, rate: (-2.0, -0.5)),
        lambda i, j: mbd.PointForce("ram", j, point=(0, 0, 0), force=lambda t, r, p, v, w: (force(t, 1.0 + r[0], v[0]), 0.0, 0.0)),
    ]
    for method in (mbd.RK4(1e-3), mbd.GeneralizedAlpha(1e-3, rho=0.8)):
        ram, *others = [machine(make, method) for make in makes]
        assert ram["block"].r[-1, 0] > 0.05
        for other in others:
            np.testing.assert_allclose(other["block"].r, ram["block"].r, rtol=0.0, atol=1e-9)  # Newton's tolerance
        load = ram.load("ram")
        assert load.force[0] > 0.0 < load.rate[-1]
        np.testing.assert_allclose(load.power, load.force * load.rate, rtol=0.0, atol=ROUNDING)


def test_a_linear_actuator_whose_ends_coincide_has_no_direction():
    system = slider()
    system.add(mbd.LinearActuator("ram", system.ground, system.bodies[1], point_i=(0, 0, 0), point_j=(0, 0, 0), force=1.0))
    with pytest.raises(mbd.ModelError, match="LinearActuator 'ram': its ends coincide at the modelled pose"):
        system.compile()
