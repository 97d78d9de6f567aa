"""The command `haugmbd warm`: compile code of simulations in advance, so that the first simulation does not wait.

By default the default methods of `simulate` (RK4, Dormand-Prince, both with projection) and all diagnostics of their
results; with `--all` every integrator, formulation and stabilization, serial chains and impacts.
Exit code: 0; a method that cannot be compiled is a fault of this package, and raises.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.notices import LOGGER
from haugmbd.contact import Contact
from haugmbd.forces.torque import Torque
from haugmbd.formulations import FORMULATIONS
from haugmbd.formulations.accelerations import accelerations
from haugmbd.gallery.pendulums import double_pendulum
from haugmbd.gallery.planar_linkages import four_bar
from haugmbd.gallery.spatial_linkages import slider_crank
from haugmbd.integrators.base import Adaptive
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.simulation.compatibility import integrators, stabilizations
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System

STEP = 1e-3


def run_warm(arguments: argparse.Namespace) -> int:
    """Compile, and print the time of each part."""
    start, LOGGER.disabled = time.perf_counter(), True  # the command prints its own progress
    seconds: dict[str, float] = {}
    try:
        for name, compile_it in (*default_methods(), *(other_methods() if arguments.all else ())):
            begun = time.perf_counter()
            print("" if arguments.json else f"{name} ... ", end="", flush=True)
            compile_it()
            seconds[name] = time.perf_counter() - begun
            print("" if arguments.json else f"{seconds[name]:.1f} s\n", end="")
    finally:
        LOGGER.disabled = False
    if arguments.json:
        print(json.dumps({"ok": True, "seconds": seconds}))
        return 0
    print(f"ready after {time.perf_counter() - start:.1f} s; `haugmbd info` prints the folder of compiled code")
    return 0


def default_methods() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the methods that are compiled without options, by name."""
    closed, redundant, tree = slider_crank(driven=True), four_bar(), double_pendulum()
    yield "RK4 with projection, and its result", partial(_compute_diagnostics, closed, h=STEP)
    yield (
        "DormandPrince with projection",
        partial(_compute_diagnostics, closed, rtol=1e-6, atol=1e-8, t_eval=np.linspace(0.0, 5 * STEP, 4)),
    )
    yield "redundant constraints", partial(_compute_diagnostics, redundant, h=STEP)
    yield "open chains and trees", partial(_compute_diagnostics, tree, h=STEP)


def other_methods() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the methods that `--all` adds, by name."""
    for name, method in integrators().items():
        how: dict[str, object] = {} if isinstance(method, Adaptive) or method.step is not None else {"h": STEP}
        how |= {} if method.correctable else {"stabilization": None}
        yield name, partial(_simulate, integrator=method, **how)
    for kind in FORMULATIONS:
        yield kind.__name__, partial(_simulate, h=STEP, formulation=kind())
    for name, rule in stabilizations().items():
        yield f"stabilization {name}", partial(_simulate, h=STEP, stabilization=rule)
    yield "a serial chain", _move_chain
    yield "impacts", _simulate_impacts


def _simulate(**how: Any) -> None:
    """Simulate two pendulums for a few steps."""
    simulate(double_pendulum(), 5 * STEP, **how)


def _move_chain() -> None:
    """Simulate two pendulums in joint coordinates."""
    chain = SerialChain.from_system(double_pendulum())
    simulate(chain, 5 * STEP, h=STEP)
    simulate(chain, 5 * STEP, rtol=1e-6, atol=1e-8)


def _compute_diagnostics(system: System, **how: Any) -> None:
    """Simulate a mechanism with a force element, and compute all diagnostics of its result."""
    if not system.loads:
        system.add(Torque("load", system.bodies[-1], torque=(0.0, 0.0, 0.0)))
    model = system.compile()
    result = simulate(model, 5 * STEP, **how)
    accelerations(model)
    for level in ("position", "velocity", "acceleration"):
        result.violation(level)
    result.energy()
    result.reaction(next(iter(model.joints)))
    result.resample(result.t[:-1] + 0.3 * np.diff(result.t))


def _simulate_impacts() -> None:
    """Simulate a ball that falls on the ground."""
    system = System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.add(Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, 0.1)))
    system.add(
        Contact("floor", system.ground, ball, point=ball.r, normal=(0.0, 0.0, 1.0), plane_point=(0.0, 0.0, 0.0), restitution=0.5)
    )
    simulate(system, 0.2, h=STEP)
