"""The energy ledger is that of the run: it does not depend on which states are stored, for every element and every kind of integrator."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import BDF, DOP853, HEM4, RK4, DormandPrince, GeneralizedAlpha, Heun, RadauIIA, SemiImplicitEuler
from haugmbd.gallery import slider_crank
from haugmbd.integrators import step_batch
from haugmbd.integrators.base import methods_below
from haugmbd.simulation.replay import Replay, replays_of
from haugmbd.simulation.run_options import RunMethods
from haugmbd.simulation.stepping import run
from joints import RJ

T_END, H = 0.3, 3e-3


def arm(*loads: Any) -> mbd.System:
    """A double pendulum of unit links with loads, each made of (system, joints, bodies)."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    pins: list[Any] = []
    before: Any = system.ground
    for k in range(2):
        body = system.add(mbd.Body(f"link {k}", mass=2.0, J_bar=(0.01, 0.2, 0.2), r=(k + 0.5, 0, 0)))
        pins.append(system.add(RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=(0, 1, 0))))
        before = body
    for load in loads:
        load(system, pins, system.bodies)
    return system


def controlled(system: mbd.System, pins: list[Any], bodies: Any) -> None:
    pid = system.add(mbd.PID("pid", "pin 0.angle", 0.5, kp=40.0, ki=10.0, kd=4.0, tau=0.01))
    system.add(mbd.Motor("motor", pins[0], torque=pid["out"]))


def sampled(system: mbd.System, pins: list[Any], bodies: Any) -> None:
    law = mbd.Sampled(
        "law", 0.013, lambda t, x, s: -30 * s["pin 0.angle"] - 5 * s["pin 0.rate"], inputs=["pin 0.angle", "pin 0.rate"]
    )
    system.add(mbd.Motor("motor", pins[0], torque=system.add(law)["out"]))


def ball() -> mbd.System:
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("ball", 1.0, (0.004, 0.004, 0.004), r=(0, 0, 0.15), v=(0.5, 0, 0)))
    shapes = {"shape_i": mbd.Plane(point=(0, 0, 0), normal=(0, 0, 1)), "shape_j": mbd.Sphere(0.1)}
    system.add(mbd.ContactForce("floor", system.ground, body, **shapes, K=1e5, restitution=0.6, mu=0.3))
    return system


SYSTEMS = {
    "damper": lambda: arm(lambda s, p, b: s.add(mbd.RSDA("brake", p[0], k=3.0, c=1.0))),
    "strut": lambda: arm(
        lambda s, p, b: s.add(
            mbd.TSDA(
                "strut",
                s.ground,
                b[-1],
                point_i=(0, 0, 2),
                point_j=(2, 0, 0),
                c=4.0,
                k=9.0,
                l0=1.0,
                actuator=lambda t: 30 * np.sin(7 * t),
            )
        )
    ),
    "motor": lambda: arm(lambda s, p, b: s.add(mbd.Motor("motor", p[1], torque=lambda t, q, qd: 8 - 2.0 * qd))),
    "force": lambda: arm(
        lambda s, p, b: s.add(mbd.PointForce("force", b[-1], point=(2, 0, 0), force=lambda t: (9 * np.cos(5 * t), 0, 0)))
    ),
    "torque": lambda: arm(lambda s, p, b: s.add(mbd.Torque("torque", b[-1], torque=(0, 4, 0)))),
    "bushing": lambda: arm(
        lambda s, p, b: s.add(mbd.Bushing("bush", s.ground, b[-1], point=(2, 0, 0), K=np.full(6, 200.0), C=np.full(6, 3.0)))
    ),
    "smooth friction": lambda: arm(
        lambda s, p, b: s.add(mbd.JointFriction("rub", p[0], mbd.BrownMcPhee(mu_s=0.3, mu_d=0.2, v_t=0.05), radius=0.2))
    ),
    "exact friction": lambda: arm(lambda s, p, b: s.add(mbd.JointFriction("rub", p[0], mbd.Coulomb(0.3), radius=0.2))),
    "bristles": lambda: arm(
        lambda s, p, b: s.add(
            mbd.JointFriction("rub", p[0], mbd.LuGre(mu_s=0.3, mu_c=0.2, v_s=0.1, sigma0=100.0, sigma1=1.0), radius=0.2)
        )
    ),
    "stop": lambda: arm(lambda s, p, b: s.add(mbd.JointLimit("stop", p[0], lower=-0.5, upper=0.4, k=3000.0, c=20.0))),
    "PID": lambda: arm(controlled),
    "sampled": lambda: arm(sampled),
    "contact": ball,
    "driver": lambda: slider_crank(driven=True),
    "rigid stop": lambda: arm(
        lambda s, p, b: s.add(mbd.JointLimit("stop", p[0], lower=-0.5, upper=0.4, restitution=0.5)),
        lambda s, p, b: s.add(mbd.RSDA("brake", p[1], c=0.4)),
    ),
}
METHODS = {
    "RK4": RK4(H),
    "Heun": Heun(H),
    "SemiImplicitEuler": SemiImplicitEuler(H),
    "HEM4": HEM4(H),
    "GeneralizedAlpha": GeneralizedAlpha(H),
    "DormandPrince": DormandPrince(rtol=1e-7),
    "DOP853": DOP853(rtol=1e-8),
    "BDF": BDF(rtol=1e-6),
    "RadauIIA": RadauIIA(rtol=1e-6),
}
ALIKE = 1e-6
"""Relative to the energy that is exchanged: what dense output may differ in where intervals of the quadrature are divided."""


def balance(result: Any) -> np.ndarray:
    energy = result.energy()
    assert energy.work_error is None
    return energy.applied_work - energy.dissipated_work


def exchanged(result: Any) -> float:
    energy = result.energy()
    return max(
        np.ptp(energy.kinetic), np.ptp(energy.potential), np.abs(energy.applied_work).max(), np.abs(energy.dissipated_work).max()
    )


def need_alike(some: Any, whole: Any, tolerance: float = ALIKE) -> None:
    """The work of a result is that of all steps, at its own times."""
    at_end = np.searchsorted(whole.t, some.t, side="right") - 1
    same = whole.t[at_end] == some.t
    assert same[-1]
    scale = exchanged(whole)
    np.testing.assert_allclose(balance(some)[same], balance(whole)[at_end[same]], atol=tolerance * scale)


def need_parts(result: Any) -> None:
    """Works of loads and drivers are those of the ledger: they sum up to the change of kinetic energy and of that of gravity."""
    model = result.model
    loads = [result.load(entry.load.name) for entry in model.loads]
    drivers = [result.driver(name) for name in ("drive", "driver", "crank drive") if name in model.joints]
    total = sum(one.work + one.energy - one.energy[0] for one in loads) + sum(one.work for one in drivers)
    np.testing.assert_allclose(total, balance(result), atol=1e-12 * (1.0 + exchanged(result)))


CASES = [(name, method) for name in SYSTEMS for method in ("RK4", "DormandPrince")]
CASES += [(name, method) for name in ("damper", "motor", "driver") for method in METHODS if method not in ("RK4", "DormandPrince")]
CASES += [("stop", "DOP853"), ("contact", "RadauIIA"), ("rigid stop", "DOP853"), ("sampled", "DOP853")]


@pytest.mark.filterwarnings(
    "ignore:the step h = 0.003 s is too large for ContactForce"
)  # the ball rolls, and its friction chatters
@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_ledger_does_not_depend_on_what_is_stored(name: str, method: str):
    """3, 11 and 101 stored states, and each 37th step, against all steps."""
    system, integrator = SYSTEMS[name]().compile(), METHODS[method]
    whole = mbd.simulate(system, T_END, integrator=integrator)
    for n in (3, 11, 101) if method == "RK4" else (3, 101):
        need_alike(mbd.simulate(system, T_END, integrator=integrator, t_eval=np.linspace(0, T_END, n)), whole)
    some = mbd.simulate(system, T_END, integrator=integrator, store_every=37)
    need_alike(some, whole)
    need_parts(some)


def test_three_states_of_a_damper_close_the_ledger():
    few = mbd.simulate(SYSTEMS["damper"](), T_END, h=H, t_eval=[0.0, 0.1, T_END])
    assert np.abs(few.energy().drift).max() < 1e-7 * exchanged(few)  # RK4 at h = 2e-3; 0.17 J between stored states
    need_parts(few)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["BDF", "RadauIIA", "GeneralizedAlpha", "HEM4", "DOP853"])
def test_a_loaded_result_makes_its_run_again_by_its_own_method(method: str, tmp_path: Any):
    model = SYSTEMS["damper"]().compile()
    few = mbd.simulate(model, T_END, integrator=METHODS[method], t_eval=[0.0, 0.1, T_END])
    np.testing.assert_array_equal(balance(mbd.load(few.save(tmp_path / "run.npz"), model=model)), balance(few))


@pytest.mark.filterwarnings(
    "ignore:the step h = 0.003 s is too large for ContactForce"
)  # the ball rolls, and its friction chatters
@pytest.mark.slow
@pytest.mark.parametrize("name", ["motor", "driver", "rigid stop", "contact"])
def test_joined_saved_loaded_and_cut_results_have_the_same_ledger(name: str, tmp_path: Any):
    system = SYSTEMS[name]().compile()
    whole = mbd.simulate(system, T_END, h=H)
    first = mbd.simulate(system, 0.1, h=H, t_eval=[0.0, 0.1])
    second = mbd.simulate(system, T_END, h=H, state=first.state(), store_every=50)
    both = first.join(second)
    assert len(both) < 0.3 * len(whole)
    wanted = balance(whole)[-1]
    assert balance(both)[-1] == pytest.approx(wanted, abs=ALIKE * exchanged(whole))
    path = both.save(tmp_path / "run.npz")
    loaded = mbd.load(path, model=whole.model)
    np.testing.assert_array_equal(balance(loaded), balance(both))
    part = both[0.1:]
    assert balance(part)[-1] == pytest.approx(wanted - balance(both)[np.searchsorted(both.t, 0.1)], abs=ALIKE * exchanged(whole))


@pytest.mark.slow
def test_resampled_results_have_the_ledger_of_their_run():
    whole = mbd.simulate(SYSTEMS["motor"](), T_END, h=H)
    few = whole.resample([0.0, whole.t[50], T_END])
    np.testing.assert_allclose(balance(few), np.interp(few.t, whole.t, balance(whole)), atol=1e-9)


@pytest.mark.slow
def test_a_chain_has_the_ledger_of_its_run():
    links = [mbd.Link.revolute(f"link {k}", 1.0, (0.01, 0.1, 0.1), axis=(0, 1, 0), c=(0.5, 0, 0), L=(1, 0, 0)) for k in range(2)]
    chain = mbd.SerialChain(links)
    tau = lambda t, q, qd: np.array([9.0, 4.0]) - 1.5 * qd  # noqa: E731
    for options in ({"h": H}, {"integrator": DOP853(rtol=1e-8)}):
        whole = mbd.simulate(chain, T_END, tau=tau, **options)
        for n in (3, 11):
            some = mbd.simulate(chain, T_END, tau=tau, t_eval=np.linspace(0, T_END, n), **options)
            assert balance(some)[-1] == pytest.approx(balance(whole)[-1], abs=ALIKE * exchanged(whole))


def in_small_parts(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(run, "PART", rows)
    monkeypatch.setattr(step_batch, "NUMBERS", 30 * rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "rigid stop"])
@pytest.mark.parametrize("method", ["RK4", "DormandPrince", "DOP853"])
@pytest.mark.filterwarnings("ignore:the step h:haugmbd.RunWarning")
def test_a_replay_in_parts_is_that_in_one(name: str, method: str, monkeypatch: pytest.MonkeyPatch):
    """Across touches, stops of friction, calls of blocks and stored states between steps, wherever a part ends."""
    integrator = {"RK4": RK4(1e-3), "DormandPrince": DormandPrince(rtol=1e-9)}.get(method, DOP853())
    times = np.array([0.0, 0.0771, 0.2, 0.25, T_END])
    some = mbd.simulate(SYSTEMS[name](), T_END, integrator=integrator, t_eval=times)
    same = replace(some)
    whole, scale = balance(some), exchanged(some)
    in_small_parts(monkeypatch, 40)
    np.testing.assert_allclose(balance(same), whole, atol=1e-9 * scale)


@pytest.mark.slow
def test_a_replay_needs_the_memory_of_a_part(monkeypatch: pytest.MonkeyPatch):
    """Four times as many steps of a run that stores three states: the same memory."""
    in_small_parts(monkeypatch, 100)
    peaks = []
    for steps in (500, 2000):
        few = mbd.simulate(SYSTEMS["damper"](), 1.0, h=1.0 / steps, store_every=steps // 2)
        assert len(few) == 3
        tracemalloc.start()
        try:
            assert few.energy().work_error is None
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_states_of_ones_own_tell_the_error_of_their_work():
    """Of three states nothing says what lies between them: the error is measured, and told; of many it is small, and nothing is said."""
    whole = mbd.simulate(SYSTEMS["motor"](), 1.5, h=H)
    few = mbd.Result(whole.model, whole.t[::250].copy(), whole.y[::250].copy())
    with pytest.warns(mbd.RunWarning, match=r"'arm' is integrated between 3 stored states alone"):
        energy = few.energy()
    true = balance(whole)[::250]
    assert energy.work_error is not None
    assert (np.abs(energy.applied_work - energy.dissipated_work - true) <= energy.work_error + 1e-9).all()
    many = mbd.Result(whole.model, whole.t, whole.y).energy()
    assert many.work_error is not None
    assert many.work_error[-1] < 1e-6 * exchanged(whole)


def test_a_function_that_does_not_repeat_itself_is_noticed():
    """A run that is made again is compared with the stored states."""
    calls = [0.0]

    def torque(t: float, q: float, qd: float) -> float:
        calls[0] += 1e-3
        return 8.0 + calls[0]

    few = mbd.simulate(arm(lambda s, p, b: s.add(mbd.Motor("motor", p[1], torque=torque))), T_END, h=H, t_eval=[0.0, 0.15, T_END])
    with pytest.warns(mbd.RunWarning, match="made again, the run has another state"):
        assert few.energy().work_error is not None


def test_nothing_is_made_again_before_it_is_asked_for():
    calls = [0]

    def torque(t: float, q: float, qd: float) -> float:
        calls[0] += 1
        return 8.0 - 2.0 * qd

    few = mbd.simulate(arm(lambda s, p, b: s.add(mbd.Motor("motor", p[1], torque=torque))), T_END, h=H, t_eval=[0.0, T_END])
    before = calls[0]
    assert few.load("motor").torque.shape == (2,)
    assert calls[0] <= before + 10
    few.energy()
    assert calls[0] > before + 100
    once = calls[0]
    few.energy()
    assert few.load("motor").work[0] == 0.0
    assert calls[0] <= once + 10
    assert replace(few).energy().work_error is None


@pytest.mark.parametrize("method", methods_below(), ids=lambda kind: kind.__name__)
def test_every_method_is_in_a_file_as_it_was(method: Any):
    """With its defaults, which are measured by the model: a run from a file is made again by the same steps."""
    one = Replay(0.0, np.zeros(3), 1.0, 1.0, RunMethods(method()))
    (again,) = replays_of(json.loads(json.dumps([one.as_data()])), 3)
    assert again.methods == one.methods
    if hasattr(method(), "atol"):
        assert type(again.methods.integrator.atol) is type(method().atol)
