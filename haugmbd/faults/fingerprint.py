"""Fingerprints: which diagnostics see a fault, at which level, and with which order of the step.

    error(h) ~ h^k      k = log2( error(h) / error(h / 2) )

The error of a right program shrinks with the step, with the order of the method; that of a wrong equation stays: k = 0. A run with a
fault and one without, both of RK4 without stabilization, are measured by the right model.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import did_you_mean
from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.errors import RunWarning, UsageError
from haugmbd.faults.contexts import FAULTS
from haugmbd.formulations.accelerations import accelerations
from haugmbd.integrators import RK4
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System
from haugmbd.text_table import table_lines
from haugmbd.verification.formulations import Ball, Hinge, allowed_motion
from haugmbd.verification.verify import verify

DIAGNOSTICS = {
    "position": "|Phi|",
    "velocity": "|Phi_q u - nu|",
    "acceleration": "|Phi_q u_dot - gamma|",
    "energy": "energy, against that at the start",
    "momentum": "angular momentum about the vertical through the origin",
}
"""Diagnostics, and what they measure."""

FAR = 1e3
"""An error that is larger than that of the right model by this factor is due to the fault, and not to rounding."""
STAYS = 0.5
"""An error of a smaller order in h than this stays when the step is halved."""
STATES = 5
"""Number of states of a run at which accelerations are compared."""


@dataclass(frozen=True)
class Seen:
    """The response of one diagnostic to a fault.

    Attributes
    ----------
    name : str
        The diagnostic.
    error : float
        Its largest value in the run with the fault.
    healthy : float
        The same without the fault.
    order : float
        Order of the error in the step; 0 if it stays when the step is halved.
    """

    name: str
    error: float
    healthy: float
    order: float

    @property
    def sees(self) -> bool:
        """Return whether it sees the fault: the error is far larger than without it, and stays when the step is halved."""
        return self.error > FAR * self.healthy and self.order < STAYS


@dataclass(frozen=True)
class Fingerprint:
    """Which diagnostics see a fault.

    Attributes
    ----------
    fault : str
        Name of the fault.
    diagnostics : tuple of Seen
        What each diagnostic sees.
    blocks : tuple of str
        Blocks that `verify` finds wrong.
    """

    fault: str
    diagnostics: tuple[Seen, ...]
    blocks: tuple[str, ...]

    @property
    def sees(self) -> tuple[str, ...]:
        """Return the names of the diagnostics that see the fault."""
        return tuple(each.name for each in self.diagnostics if each.sees)

    def __str__(self) -> str:
        """Return a table."""
        lines = [
            ["x" if each.sees else "", each.name, f"{each.error:.1e}", f"{each.healthy:.1e}", f"{each.order:.1f}"]
            for each in self.diagnostics
        ]
        table = table_lines(["seen", "diagnostic", "error", "without the fault", "order in h"], lines, right=(2, 3, 4))
        return "\n".join([f"{self.fault}: verify finds {', '.join(self.blocks) or 'nothing'}", *table])


FINGERPRINTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "wrong_gamma_sign": (("position", "velocity", "acceleration", "energy", "momentum"), ("gamma",)),
    "missing_factor_2": (("position", "velocity", "acceleration", "energy"), ("gamma",)),
    "world_inertia": (("energy", "momentum"), ("inertial forces",)),
    "no_gyroscopic_term": (("momentum",), ("inertial forces",)),
    "transposed_A": (("position", "velocity", "acceleration", "energy", "momentum"), ("PiBar", "gamma")),
    "forgotten_normalization": (("position", "velocity", "acceleration", "energy", "momentum"), ("PiBar", "gamma")),
    "wrong_PiBar": (("position", "velocity", "acceleration", "energy", "momentum"), ("PiBar", "gamma")),
}
"""For each fault the diagnostics that see it, and the blocks that `verify` finds wrong, in the mechanism of `example`."""


def fingerprint(fault: str, model: Any = None, *, state: State | None = None, t_end: float = 0.5, h: float = 4e-3) -> Fingerprint:
    """Run a model with and without a fault, with h and h / 2, and return what each diagnostic sees.

    Parameters
    ----------
    fault : str
        Name of the fault, one of `FAULTS`.
    model : Model or System, optional
        By default a mechanism in which every fault acts.
    state : State, optional
        Initial state; by default the modelled one.
    t_end : float
        Length of the runs [s].
    h : float
        Larger step [s].

    Returns
    -------
    Fingerprint
        Errors and their orders; print it.

    Raises
    ------
    UsageError
        If there is no such fault, or it changes nothing in this model.
    """
    if not is_one_of(fault, FAULTS):
        raise UsageError(f"no fault is called {fault!r}{did_you_mean(fault, FAULTS)}; there are {', '.join(FAULTS)}.")
    whole, start = example() if model is None else (model_given(model, "fingerprint"), None)
    start = state or start or whole.state()
    healthy = _measured(whole, whole, start, t_end, h)
    with FAULTS[fault](whole) as broken:
        verification = verify(broken)
    if verification.interrupted:
        raise KeyboardInterrupt
    coarse, fine = (_measured_broken(fault, whole, start, t_end, step) for step in (h, 0.5 * h))
    seen = tuple(Seen(name, coarse[name], healthy[name], _order(coarse[name], fine[name])) for name in DIAGNOSTICS)
    return Fingerprint(fault, seen, verification.wrong)


def _order(coarse: float, fine: float) -> float:
    """Return the order of an error in the step; of one that is zero throughout 0, of one that vanishes with the step infinity."""
    if fine == 0.0:
        return 0.0 if coarse == 0.0 else np.inf
    return float(np.log2(coarse / fine)) if coarse > 0.0 else -np.inf


def _measured_broken(fault: str, model: Model, state: State, t_end: float, h: float) -> dict[str, float]:
    """Return the diagnostics of a run with a fault, by the right model."""
    with FAULTS[fault](model) as broken:
        return _measured(model, broken, state, t_end, h)


def _measured(model: Model, run: Model, state: State, t_end: float, h: float) -> dict[str, float]:
    """Return the diagnostics of a run of the model `run`, by the right model. Raise KeyboardInterrupt if Ctrl-C has ended the run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # energy that is lost is what is looked for
        result = simulate(run, t_end, h=h, state=state, integrator=RK4(), stabilization=None)
    if result.status is RunStatus.INTERRUPTED:
        raise KeyboardInterrupt
    right = Result(model, result.t, result.y)
    energy, momentum = right.energy(), right.momentum().angular[:, 2]
    return {
        "position": _largest(right.violation("position")),
        "velocity": _largest(right.violation("velocity")),
        "acceleration": max(_acceleration_gap(model, run, right, k) for k in np.linspace(0, len(right.t) - 1, STATES, dtype=int)),
        "energy": _largest(energy.kinetic + energy.potential - energy.kinetic[0] - energy.potential[0]),
        "momentum": _largest(momentum - momentum[0]),
    }


def _acceleration_gap(model: Model, run: Model, result: Result, k: int) -> float:
    """Return the largest |Phi_q u_dot - gamma| of the accelerations of `run` at a stored state."""
    state = State.from_y(float(result.t[k]), result.y[k], model.nb + 1)
    solution, rows = accelerations(run, state), evaluate(model, state)
    u_dot = np.hstack([solution.v_dot, solution.omega_bar_dot])[1:].ravel()
    return _largest(rows.Phi_q @ u_dot - rows.gamma)


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


# The mechanism in which fingerprints are taken: two bodies, a ball joint and a skew hinge, spinning in space, so that every fault acts.
#
# Its energy is constant, and so is its angular momentum about the vertical through the ball joint, which is at the origin.


def example() -> tuple[Model, State]:
    """Return the model, and a state with velocities that the joints allow."""
    system = System("spinning pair", gravity=(0.0, 0.0, -9.81))
    first, second = (
        system.add(Body(name, 1.3, (0.11, 0.27, 0.35), r=r, p=(0.8, 0.0, 0.6, 0.0)))
        for name, r in (("first", (0.5, 0.0, 0.0)), ("second", (1.2, 0.3, 0.1)))
    )
    system.add(Ball("ball", system.ground, first, (0.0, 0.0, 0.0)))
    system.add(Hinge("hinge", first, second, (1.0, 0.0, 0.0), (0.3, 1.0, 0.2)))
    model = system.compile()
    return model, allowed_motion(model, np.random.default_rng(0))
