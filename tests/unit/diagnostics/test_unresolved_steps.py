"""Fixed steps that are too large for a force that depends on velocity: the result is right, or it is doubtful, by the name of the load."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import RK3, Heun, SemiImplicitEuler
from joints import RJ, TJ
from tests.support.seeds import seeds

H, T_END = 1e-3, 0.4
RIGHT = 0.02
"""Relative to the largest force of the last steps: a force that is as near to its true value is right."""

Law = Callable[[float], float]


def drive(rng: np.random.Generator) -> tuple[mbd.System, float, Law, float]:
    """A rotor with a motor of a random torque curve, and a constant load: system, inertia, torque of all by speed, initial speed."""
    J, w0, T0 = 10 ** rng.uniform(-4, -0.5), 10 ** rng.uniform(0.5, 2.2), 10 ** rng.uniform(-1, 2)
    slope, load = T0 / w0 * 10 ** rng.uniform(-0.5, 1.5), T0 * 10 ** rng.uniform(-1.3, -0.3)
    curves: list[Law] = [lambda w: T0 - slope * w, lambda w: T0 * math.tanh(slope * (w0 - w) / T0), lambda w: T0 * (w0 - w) / w0]
    curve = curves[rng.integers(len(curves))]
    system = mbd.System("drive", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", mass=10 * J, J_bar=(J, J, J)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Motor("motor", pin, torque=lambda t, q, qd: curve(qd)))
    system.add(mbd.Torque("load", rotor, torque=(0, 0, -load)))
    return system, J, lambda w: curve(w) - load, 0.0


def brake(rng: np.random.Generator) -> tuple[mbd.System, float, Law, float]:
    """A block that smooth friction stops and holds against a force: system, mass, force of all by speed, initial speed."""
    m, mu, vt = 10 ** rng.uniform(-1, 1.5), rng.uniform(0.1, 0.6), 10 ** rng.uniform(-4, -1)
    push, v0 = m * 9.81 * mu * rng.uniform(-0.8, 0.8), rng.uniform(0.05, 0.5)
    system = mbd.System("brake", gravity=(0, 0, -9.81))
    block = system.add(mbd.Body("block", mass=m, J_bar=(m, m, m), v=(v0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.BrownMcPhee(mu_s=mu, mu_d=mu, v_t=vt)))
    system.add(mbd.PointForce("push", block, point=(0, 0, 0), force=(push, 0, 0)))
    law = lambda v: push - m * 9.81 * mu * math.tanh(4.0 * v / vt)  # noqa: E731
    return system, m, law, v0


def force_and_error(made: tuple[mbd.System, float, Law, float], result: Any) -> float:
    """Return the error of the force over the last steps, relative to the largest of the run."""
    system, inertia, law, start = made
    last = result.t[-30:]
    true = solve_ivp(lambda t, u: [law(u[0]) / inertia], (0.0, T_END), [start], "Radau", last, rtol=1e-9, atol=1e-12).y[0]
    speed = result.omega_bar[-30:, 1, 2] if "rotor" in result.names.bodies else result.v[-30:, 1, 0]
    wrong = [abs(law(u) - law(v)) for u, v in zip(speed, true, strict=True)]
    scale = max(abs(law(start)), *(abs(law(v)) for v in true))
    return max(wrong) / scale


@pytest.mark.slow
@pytest.mark.parametrize("first", [8 * block for block in seeds(2)][:5])
@pytest.mark.parametrize("make", [drive, brake])
def test_forces_are_right_or_the_result_is_doubtful(make: Any, first: int):
    """Random drives and brakes at h = 1e-3: 16 of each, or up to 40 as HAUGMBD_SEEDS says."""
    for seed in range(first, first + 8):
        made = make(np.random.default_rng(seed))
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            try:
                result = mbd.simulate(made[0], T_END, h=H)
            except mbd.SimulationError as error:
                assert "too large for Motor 'motor'" in str(error)  # noqa: PT017
                continue
        doubtful = [one for one in result.outcome.notes if one.doubtful]
        error = force_and_error(made, result)
        assert error < RIGHT or doubtful, f"seed {seed}: force wrong by {error:.2g}, without a word"
        assert len(issued) == len(doubtful)
        if doubtful:
            name = "Motor 'motor'" if make is drive else "JointFriction 'rub'"
            assert any(name in note.text and "h lambda" in note.text for note in doubtful)
            assert not _is_right_everywhere(made, result), f"seed {seed}: a right result is doubtful"


def _is_right_everywhere(made: tuple[mbd.System, float, Law, float], result: Any) -> bool:
    """Return whether the speeds of the whole run have right forces."""
    _, inertia, law, start = made
    true = solve_ivp(lambda t, u: [law(u[0]) / inertia], (0.0, T_END), [start], "Radau", result.t, rtol=1e-9, atol=1e-12).y[0]
    speed = result.omega_bar[:, 1, 2] if "rotor" in result.names.bodies else result.v[:, 1, 0]
    scale = max(abs(law(v)) for v in true)
    return all(abs(law(u) - law(v)) < RIGHT * scale for u, v in zip(speed, true, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "seed", "t_end"), [*((drive, k, 0.02) for k in (111, 113, 151)), (brake, 106, T_END), (brake, (5, 234), T_END)]
)
def test_a_run_that_ends_with_wrong_forces_is_doubtful(make: Any, seed: Any, t_end: float):
    """A decay of a few steps that is off by 2 to 9 %, or a chatter of 1 % of the kinetic energy: the energy ledger is closed to 1 %."""
    made = make(np.random.default_rng(seed))
    with pytest.warns(mbd.RunWarning, match=r"too large for .* accelerations are off by up to"):
        result = mbd.simulate(made[0], t_end, h=H)
    assert not _is_right_everywhere(made, result)


@pytest.mark.slow
def test_a_shaft_with_a_motor_curve_says_which_step_would_do():
    """A synchronous drive, whose torque falls steeply with the speed."""
    system = mbd.System("shaft", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", mass=0.1, J_bar=(1e-3, 1e-3, 1e-3)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Motor("motor", pin, torque=lambda t, q, qd: 40.0 * math.tanh(8.0 - qd)))
    with pytest.warns(
        mbd.RunWarning, match=r"h = 0.001 s is too large for Motor 'motor'.*h lambda = (39.9|40).*Give h = 2.5e-05 s"
    ) as issued:
        result = mbd.simulate(system, 0.2, h=H)
    assert result.warnings == (str(issued[0].message),)
    fine = mbd.simulate(system, 0.2, h=2e-5)
    assert fine.warnings == ()
    assert fine.omega_bar[-1, 1, 2] == pytest.approx(8.0, rel=1e-6)


def moving(v: float = 0.0) -> tuple[mbd.System, Any]:
    system = mbd.System("free", gravity=(0, 0, -9.81))
    return system, system.add(mbd.Body("body", mass=0.5, J_bar=(0.01, 0.01, 0.01), v=(v, 0, 0)))


def bushing() -> mbd.System:
    system, body = moving(0.1)
    system.add(mbd.Bushing("load", system.ground, body, point=(0, 0, 0.05), K=np.full(6, 1e4), C=np.full(6, 3e3)))
    return system


def strut() -> mbd.System:
    system, body = moving(0.1)
    system.add(mbd.TSDA("load", system.ground, body, point_i=(0, 0, 2), point_j=(0, 0, 0), k=10.0, c=3e3, l0=2))
    return system


def function_of_the_state() -> mbd.System:
    system, body = moving(0.1)
    system.add(mbd.PointForce("load", body, point=(0, 0, 0), force=lambda t, r, p, v, w: -3e3 * np.asarray(v)))
    return system


def on_a_pin(load: Any) -> Callable[[], mbd.System]:
    def make() -> mbd.System:
        system, body = moving()
        load(system, system.add(RJ("pin", system.ground, body, point=(0.3, 0, 0), axis=(0, 1, 0))))
        return system

    return make


def block_of_a_rate(system: mbd.System, pin: Any) -> None:
    block = mbd.Block(
        "law", 0.0, derivative=lambda t, x, s: 0.0, outputs={"out": lambda t, x, s: -1e3 * s["pin.rate"]}, inputs=["pin.rate"]
    )
    system.add(mbd.Motor("load", pin, torque=system.add(block)["out"]))


def overflows(t: float, q: float, qd: float) -> float:
    return -3e3 * qd * (1.0 + math.exp(abs(qd)))


UNSTABLE: dict[str, Callable[[], mbd.System]] = {
    "Bushing": bushing,
    "TSDA": strut,
    "PointForce": function_of_the_state,
    "RSDA": on_a_pin(lambda system, pin: system.add(mbd.RSDA("load", pin, c=1e3))),
    "JointForce": on_a_pin(lambda system, pin: system.add(mbd.JointForce("load", [pin], lambda t, q, qd: (-1e3 * qd[0],)))),
    "JointFriction": on_a_pin(lambda system, pin: system.add(mbd.JointFriction("load", pin, mbd.Viscous(1e3)))),
    "Motor": on_a_pin(block_of_a_rate),
    "Motor that overflows": on_a_pin(lambda system, pin: system.add(mbd.Motor("load", pin, torque=overflows))),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.RK4(H), RK3(H), Heun(H), SemiImplicitEuler(H)], ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("kind", UNSTABLE)
def test_an_unstable_run_names_the_step_and_the_load_whatever_it_leads_to(kind: str, method: Any):
    words = rf"step h = 0.001 s is too large for {kind.split()[0]} 'load'.*h lambda = .*Give h = .* or less"
    with pytest.raises(mbd.SimulationError, match=words) as caught:
        mbd.simulate(UNSTABLE[kind](), 1.0, integrator=method)
    assert caught.value.__cause__ is not None


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"store_every": 2}], ids=["all steps", "some"])
def test_a_force_that_single_steps_cross_is_told_or_costs_less_than_one_percent(options: Any):
    """Friction of a pendulum that reverses within a step: one or two steps of hundreds, and its ledger stays closed."""
    told, h, t_end, amount = 0, 0.02, 1.2, 9.81 / 1.1
    for seed in range(6):
        rng = np.random.default_rng(seed)
        torque, v, w0 = rng.uniform(4.0, 8.0), 10 ** rng.uniform(-3, -1.3), rng.uniform(-3.0, 3.0)
        system = mbd.System("brake", gravity=(0, 0, -9.81))
        link = system.add(mbd.Body("link", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0), v=(0, 0, -w0), omega_bar=(0, w0, 0)))
        pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
        system.add(mbd.JointForce("friction", pin, lambda t, q, w, T=torque, v=v: -T * np.tanh(w / v)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = mbd.simulate(system, t_end, h=h, **options)

        def rates(t, x, T=torque, v=v):
            return [x[1], amount * math.cos(x[0]) - T * math.tanh(x[1] / v) / 1.1]

        true = solve_ivp(rates, (0, t_end), [0.0, w0], "LSODA", rtol=1e-6, atol=1e-6, t_eval=np.arange(0, 61, 2) * h).y[1]
        rate = result.joint("pin").rate
        error = np.abs((rate if options else rate[::2]) - true) / np.abs(true).max()
        error = np.min([error[k : len(error) - 5 + k] for k in range(6)], axis=0).max()  # that does not decay at once
        notes = [note.text for note in result.outcome.notes if note.kind == "stiff"]
        assert notes or error < 0.01
        assert all("JointForce 'friction'" in note and "Give h = " in note for note in notes)
        told += bool(notes)
    assert 2 <= told < 6


def test_motions_that_their_steps_resolve_are_silent():
    """Friction that is crossed in a step at each reversal, a stable decay with h lambda = 1.5, and one that begins far from its rest."""
    system = mbd.System("reversals", gravity=(0, 0, -9.81))
    block = system.add(mbd.Body("block", mass=1.0, J_bar=(1, 1, 1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.BrownMcPhee(mu_s=0.01, mu_d=0.01, v_t=1e-4)))
    system.add(mbd.TSDA("spring", system.ground, block, point_i=(-5, 0, 0), point_j=(0, 0, 0), k=400.0, l0=5.0))
    decay, body = moving()
    pin = decay.add(RJ("pin", decay.ground, body, point=(0.3, 0, 0), axis=(0, 1, 0)))
    decay.add(mbd.RSDA("brake", pin, c=1.5e3 * 0.055))
    for one in (system, decay):
        assert mbd.simulate(one, 0.5, h=H).warnings == ()


def chain() -> mbd.SerialChain:
    links = [mbd.Link.revolute(f"link {k}", 1.0, (0.01, 0.1, 0.1), axis=(0, 1, 0), c=(0.5, 0, 0), L=(1, 0, 0)) for k in range(2)]
    return mbd.SerialChain(links, gravity=(0, 0, -9.81))


@pytest.mark.slow
@pytest.mark.parametrize("law", [lambda qd: -100.0 * qd, lambda qd: -20.0 * np.tanh(1e3 * qd)], ids=["viscous", "friction"])
def test_a_chain_is_doubtful_where_its_steps_do_not_resolve_tau(law: Any):
    with pytest.warns(mbd.RunWarning, match=r"too large for tau of chain 'chain'.*h lambda = .*Give h = .* or less"):
        result = mbd.simulate(chain(), T_END, h=2 * H, tau=lambda t, q, qd: law(qd))
    assert result.warnings


@pytest.mark.slow
@pytest.mark.parametrize("c", [200.0, 300.0, 1000.0, 1e5])
def test_an_unstable_run_of_a_chain_names_tau_and_the_step(c: float):
    with pytest.raises(mbd.SimulationError, match=r"step h = 0.002 s is too large for tau of chain 'chain'.*Give h = .* or less"):
        mbd.simulate(chain(), T_END, h=2 * H, tau=lambda t, q, qd: -c * qd)


def test_a_chain_that_its_steps_resolve_is_silent():
    for c in (0.0, 1.0, 20.0):
        assert mbd.simulate(chain(), T_END, h=2 * H, tau=lambda t, q, qd, c=c: 40.0 * (0.5 - q) - c * qd).warnings == ()


@pytest.mark.slow
def test_a_load_that_is_slow_is_not_blamed():
    """A controller with a fast filter fails; the damper with h lambda = 7e-4 beside it is no cause of it."""
    J, rate = 1e-2, 4e3
    system = mbd.System("controlled", gravity=(0, 0, 0))
    shaft = system.add(mbd.Body("shaft", mass=1.0, J_bar=(J, J, J)))
    arm = system.add(mbd.Body("arm", mass=1.0, J_bar=(J, J, J)))
    pin = system.add(RJ("pin", system.ground, shaft, point=(0, 0, 0), axis=(1, 0, 0)))
    joint = system.add(RJ("joint", shaft, arm, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.RSDA("slow", joint, k=1e3 * J, c=J))
    pid = system.add(mbd.PID("pid", "pin.angle", 1.0, kp=J * rate**2 / 6, kd=J * rate, tau=0.2 / rate))
    system.add(mbd.Motor("motor", pin, torque=pid["out"]))
    with pytest.raises(mbd.SimulationError, match="too large for") as caught:
        mbd.simulate(system, 0.3, h=H)
    assert "'slow'" not in str(caught.value).partition("The run stops")[0].partition("the run stops")[0]
    assert "blocks 'pid'" in str(caught.value)


def test_gains_of_a_stabilization_are_no_force_of_the_model():
    """Baumgarte's gains at h alpha = 1 make rates that depend on velocities; a pendulum has no force that does."""
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("link", mass=2.0, J_bar=(0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    for gain in (50.0, 100.0, 130.0):
        result = mbd.simulate(system, 2.0, h=0.01, stabilization=mbd.Baumgarte(gain, gain))
        assert not [note for note in result.outcome.notes if note.kind == "stiff"]
