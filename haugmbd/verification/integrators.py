r"""Integrators and stabilizations: order, repetition, restart, dense output and constraints in small mechanisms.

order           log2 of the ratio of the errors with h and h / 2, against DOP853 at its tightest tolerance, not below the declared order
repetition      two runs have the same bits
restart         [0, T] in one run, and in two:  the same steps of a method of one step, else within the error of the method
dense output    states between the steps against the reference, within ten times the error of the steps
constraints     |Phi| and |Phi_q u - nu| of a method that solves them, or of a stabilization that corrects them
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.compiled.array_types import Array
from haugmbd.errors import HaugmbdError, ModelError
from haugmbd.integrators import DOP853, RK4
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.study.method import Method
from haugmbd.system.system import System
from haugmbd.verification.comparisons import Check
from haugmbd.verification.formulations import loop, pendulum

T_END, STEPS = 0.32, (0.01, 0.005, 0.0025)
"""[s] The run, and its steps."""
RTOL = (1e-5, 1e-7, 1e-9)
"""Tolerances of methods with error control."""
SLACK = 0.3
"""By how much a measured order may be below the declared one: of three steps that are not yet small."""
LEAST = 0.7
"""Order of a method that declares none, at least: it converges."""
FINE = 1e-11
"""Relative error of the reference: smaller ones are not measured."""
DENSE = 10.0
"""Error between the steps, in errors of the steps."""
CLOSED = 1e-8
"""Row that a method leaves open which solves the constraints, or that a projection leaves."""
BOUNDED = 10.0
"""Violation with a stabilization, in that of the same short run without it: it must not make it grow."""
SAME = 1e-10
"""Relative difference of a run and its two halves, of a method of one step."""


def mechanisms() -> tuple[System, ...]:
    """Return the mechanisms in which methods are verified."""
    return pendulum(), loop()


def check_integrator(integrator: Integrator, bar: Progress) -> tuple[Check, ...]:
    """Return the checks of an integrator, with the stabilization that it has by default."""
    return _checks(
        lambda x: Method(integrator=_set(integrator, x)), integrator, bar, _closes(Method(integrator=_set(integrator, 0)))
    )


def check_stabilization(rule: Stabilization, bar: Progress) -> tuple[Check, ...]:
    """Return the checks of a stabilization, with RK4."""
    free = Method(integrator=RK4(h=STEPS[0]), stabilization=None)
    rk4 = RK4(h=STEPS[0])
    checks = list(_checks(lambda x: Method(integrator=RK4(h=STEPS[x]), stabilization=rule), rk4, bar, _corrects(rule)))
    if not _corrects(rule):
        worst = 0.0
        for system in mechanisms():
            model = system.compile()
            a, b = (method.run(model, 4.0 * T_END) for method in (Method(integrator=rk4, stabilization=rule), free))
            v, w = (float(np.abs(run.violation("position")).max()) for run in (a, b))
            worst = max(worst, v / max(w, FINE))
        checks.append(Check("violation", worst, BOUNDED, "that of the same run without stabilization"))
    return tuple(checks)


def _set(integrator: Integrator, k: int) -> Integrator:
    """Return the method at the k-th step or tolerance."""
    plain: Any = integrator
    if integrator.takes_step and not (integrator.takes_tolerances and plain.adaptive_by_default):
        return Method(integrator=integrator).with_step(STEPS[k]).integrator
    return Method(integrator=integrator).with_tolerances(RTOL[k], 1e-2 * RTOL[k]).integrator


def _repeats_steps(integrator: Integrator) -> bool:
    """Return whether a run in two parts makes the same steps."""
    closed = not integrator.solves_constraints or (integrator.keeps_velocities and integrator.keeps_positions)
    return closed and integrator.one_step and integrator.takes_step and not getattr(integrator, "adaptive_by_default", False)


def _closes(method: Method) -> bool:
    return method.integrator.keeps_positions if method.integrator.solves_constraints else method.stabilization is not None


def _corrects(rule: Stabilization) -> bool:
    return "Projection" in type(rule).__name__ or "projection" in (type(rule).__doc__ or "").split("\n")[0].lower()


def _checks(make: Any, integrator: Integrator, bar: Progress, closes: bool) -> tuple[Check, ...]:
    """Return the checks of methods make(0), make(1), make(2), from the coarsest on."""
    worst: dict[str, tuple[float, str]] = {}
    declared = getattr(type(integrator), "order", None)
    for system in mechanisms():
        model, where = system.compile(), f"in the mechanism {system.name!r}"
        try:
            found = _of_mechanism(make, model, integrator, declared)
        except HaugmbdError as error:
            return (Check("runs", np.nan, 0.0, "a run that reaches its end", f"{where}: {error}"),)
        for name, value in found.items():
            if name not in worst or np.isnan(value) or value > worst[name][0]:
                worst[name] = value, where
        bar.done()
    exactly = _repeats_steps(integrator)
    by = f"the declared order {declared}" if declared is not None else "an order of at least one"
    against = {
        "order": (SLACK, f"{by}: what the measured one lacks"),
        "repetition": (0.0, "the same run again"),
        "restart": (SAME, "one run, in two") if exactly else (DENSE, "one run, in two, in errors of the run"),
        "dense output": (DENSE, "the reference between the steps, in errors of the steps"),
        "constraints": (CLOSED, "closed rows"),
    }
    return tuple(
        Check(name, value, *against[name], where) for name, (value, where) in worst.items() if name != "constraints" or closes
    )


def _of_mechanism(make: Any, model: Model, integrator: Integrator, declared: Any) -> dict[str, float]:
    """Return the errors in one mechanism."""
    exact = Method(integrator=DOP853(rtol=1e-12, atol=1e-13))
    reference = exact.run(model, T_END)
    runs = [make(k).run(model, T_END) for k in range(len(STEPS))]
    errors = np.array([max(_difference(run.y[-1], reference.y[-1], model), FINE) for run in runs])
    errors_by_law = {"order": _lacking(errors, integrator, declared)}
    again = make(0).run(model, T_END)
    errors_by_law["repetition"] = 0.0 if np.array_equal(again.y, runs[0].y) else 1.0
    half = make(0).run(model, 0.5 * T_END)
    rest = _continued(make(0), model, half.state(-1))
    apart = _difference(rest.y[-1], runs[0].y[-1], model)
    errors_by_law["restart"] = apart if _repeats_steps(integrator) else apart / errors[0]
    times = np.linspace(0.013, T_END - 0.007, 17)
    between, true = make(0).run(model, T_END, t_eval=times), exact.run(model, T_END, t_eval=times)
    of_steps = max(_difference(a, b, model) for a, b in zip(_at(runs[0]), _at(reference.resample(runs[0].t)), strict=True))
    errors_by_law["dense output"] = max(_difference(a, b, model) for a, b in zip(between.y, true.y, strict=True)) / max(
        of_steps, 10.0 * FINE
    )
    levels = [
        name for name, keeps in (("position", integrator.keeps_positions), ("velocity", integrator.keeps_velocities)) if keeps
    ]
    solves = integrator.solves_constraints
    levels = levels if solves else ["position", "velocity"]
    errors_by_law["constraints"] = max((float(np.abs(runs[0].violation(level)).max()) for level in levels), default=0.0)
    return errors_by_law


def _continued(method: Method, model: Model, state: State) -> Result:
    """Return the second half of a run; where the method has drifted from the constraints, from the nearest state on them."""
    try:
        return method.run(model, T_END, state=state)
    except ModelError:
        return method.run(model, T_END, state=assemble(model, state).state, project_velocity=True)


def _at(result: Result) -> Array:
    return result.y


def _difference(a: Array, b: Array, model: Model) -> float:
    """Return the largest difference of two flat states: quaternions have two signs."""
    n = model.nb + 1
    x, y = (state[: 13 * n].reshape(n, 13).copy() for state in (a, b))
    sign = np.sign(np.sum(x[:, 3:7] * y[:, 3:7], axis=1))
    x[:, 3:7] *= sign[:, None]
    return float(np.abs(x - y).max())


def _lacking(errors: Array, integrator: Integrator, declared: Any) -> float:
    """Return what the measured order lacks of the declared one; of error control whether errors follow the tolerances."""
    if errors[-1] <= 10.0 * FINE:
        return 0.0
    measured = float(np.log2(errors[-2] / errors[-1]))
    if not integrator.takes_step or getattr(integrator, "adaptive_by_default", False):
        return max(0.0, 1.0 - float(np.log10(errors[0] / errors[-1])) / 2.0) * SLACK
    return max(0.0, (float(declared) if declared is not None else LEAST) - measured)
