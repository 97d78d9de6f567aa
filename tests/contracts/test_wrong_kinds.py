"""Arguments of a wrong kind: one error of the package that names what was given, at every public function and argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.joints import RJ, RotationDriver


class Other:
    """An object of no kind that the package knows."""


WRONG = (float("nan"), -3, 10**30, "nope", [1, "a"], {"a": 1}, Other, np.zeros((2, 3, 4)), b"x", True, 1j, np.array("z"))


def pendulum(driver: bool = False) -> mbd.System:
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(0, 0, -0.5)))
    pin = system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    if driver:
        system.add(RotationDriver("drive", pin, lambda t: t))
    return system


@pytest.fixture(scope="module")
def calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Calls that are right, by name: function and arguments."""
    system, model, driven = pendulum(), pendulum().compile(), pendulum(driver=True)
    times = np.linspace(0.0, 0.02, 3)
    run = {"t_end": 0.02, "h": 1e-2}
    result = mbd.simulate(system, **run)
    members = mbd.batch(system, parameters={"bob.mass": [1.0, 2.0]})
    return {
        "simulate": (mbd.simulate, {"system": system, **run}),
        "kinematics": (mbd.kinematics, {"system": driven, "t": times}),
        "inverse_dynamics": (mbd.inverse_dynamics, {"system": driven, "motion": mbd.kinematics(driven, times)}),
        "assemble": (mbd.assemble, {"system": system}),
        "equilibrium": (mbd.equilibrium, {"system": system}),
        "linearize": (mbd.linearize, {"system": system}),
        "accelerations": (mbd.accelerations, {"model": model}),
        "reactions": (mbd.reactions, {"model": model}),
        "evaluate": (mbd.evaluate, {"model": model}),
        "mobility": (mbd.mobility, {"system": system}),
        "equations": (mbd.equations, {"system": system}),
        "batch": (mbd.batch, {"model": system, "parameters": {"bob.mass": [1.0, 2.0]}}),
        "batch.simulate": (members.simulate, run),
        "Stepper": (mbd.Stepper, {"system": system, "h": 1e-2}),
        "result.joint": (result.joint, {"name": "pin"}),
        "result.reaction": (result.reaction, {"joint": "pin"}),
        "result.energy": (result.energy, {}),
        "result.violation": (result.violation, {}),
        "result.at": (result.at, {"t": 0.01}),
        "result.state": (result.state, {}),
        "result.plot": (result.plot, {}),
        "sensitivity": (mbd.sensitivity, {"build": system, "p": {"bob.mass": 1.0}, "outputs": "pin.angle", **run}),
        "gradient": (mbd.gradient, {"build": system, "p": {"bob.mass": 1.0}, "objective": "pin.angle", "t": times, "h": 1e-2}),
        "fit": (mbd.fit, {"build": system, "data": {"pin.angle": [0.0, 1.0, 2.0]}, "p": {"pin.q0": 0.1}, "t": times, "h": 1e-2}),
        "identifiability": (mbd.identifiability, {"build": system, "outputs": "pin.angle", "p": {"bob.mass": 1.0}, **run}),
        "tolerances": (
            mbd.tolerances,
            {"build": system, "outputs": "pin.rate", "p": {"bob.mass": mbd.Parameter(1, sd=0.1)}, **run},
        ),
        "optimize": (mbd.optimize, {"build": system, "objective": "pin.angle", "p": {"bob.mass": 1.0}, "most": 1, **run}),
        "Parameter": (mbd.Parameter, {"value": 1.0}),
        "system.compile": (system.compile, {}),
        "system.save": (system.save, {"path": "x.json"}),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    """simulate kinematics inverse_dynamics assemble equilibrium linearize accelerations reactions evaluate mobility equations batch
    batch.simulate Stepper result.joint result.reaction result.energy result.violation result.at result.state result.plot
    sensitivity gradient fit identifiability tolerances optimize Parameter system.compile system.save""".split(),
)
def test_a_wrong_kind_is_one_error_of_the_package(name, calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, right = calls[name]
    function(**right)
    wrong = []
    for argument in inspect.signature(function).parameters.values():
        if argument.kind in (argument.VAR_KEYWORD, argument.VAR_POSITIONAL):
            continue
        for given in WRONG:
            try:
                function(**{**right, argument.name: given})
            except mbd.HaugmbdError:
                pass
            except Exception as error:  # noqa: BLE001
                wrong.append(f"{argument.name} = {given!r:.40}: {type(error).__name__}: {error}")
    assert not wrong
