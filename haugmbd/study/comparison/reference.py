"""The reference of a comparison: one method at two tolerances, or a result; its states at any times, and how good they are.

    reference     the given method, by default DOP853 at the tightest tolerance
    partner       the same method with ten times the tolerance, or twice the step
    uncertainty   their difference, by group: larger than the error of the reference, which is that of the better one

A result has no partner: its uncertainty is unknown.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import HaugmbdError, RunWarning, SlowFormulationWarning, UsageError
from haugmbd.integrators import DOP853
from haugmbd.model.model import Model
from haugmbd.simulation.results.io.laws import law_digests
from haugmbd.simulation.results.io.schema import check_model, numbers_of
from haugmbd.simulation.results.result import Result
from haugmbd.study.error_groups import GroupErrors, Outputs, group_errors, scales_of, values_of
from haugmbd.study.method import Method, label_of

TIGHTEST = 1e-12
"""Relative tolerance of the default reference; its absolute one is a tenth. Smaller ones reach the rounding of a step."""
LOOSER, COARSER = 10.0, 2.0
"""Factors of the tolerances, or of the step, of the partner."""
PATIENCE = 20.0
"""The reference may take this many budgets of a cell."""
REMEDY = (
    "Give a reference that can run, such as reference=Method(integrator=RadauIIA(rtol=1e-10)) for stiff systems, or a Result; "
    "or reference=False for a comparison without errors."
)


def default_reference() -> Method:
    """Return the default reference: DOP853 with NewtonEuler and projection."""
    return Method(integrator=DOP853(rtol=TIGHTEST, atol=0.1 * TIGHTEST), label="reference")


def partner_of(method: Method) -> Method:
    """Return the same method with looser tolerances, or a longer step."""
    h, (rtol, atol) = method.integrator.step, method.integrator.tolerances
    if h is None:
        return method.with_tolerances(LOOSER * rtol, LOOSER * atol)
    return method.with_step(COARSER * h)


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference of a comparison.

    Attributes
    ----------
    result : Result
        Its states.
    name : str
        What it is, in words.
    scales : dict of str to float
        Scales of the errors, by group and output.
    uncertainty : dict of str to (float, float)
        By group and output: its uncertainty at the end, and the largest; empty if it is unknown.
    notes : tuple of str
        What could not be computed.
    """

    result: Result
    name: str
    scales: dict[str, float]
    uncertainty: dict[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def check_reference(
    given: Method | Result, model: Model, t_end: float, outputs: Outputs | None, budget: float | None, more: Mapping[str, Any]
) -> None:
    """Raise UsageError if the reference cannot be computed up to `t_end`, is of another model, or an output does not fit."""
    if isinstance(given, Result):
        check_result(given, model, t_end, more)
        trial = given
    elif isinstance(given, Method):
        given.integrator.check(t_end - (0.0 if more.get("state") is None else more["state"].t))
        trial = _run(given, model, t_end, budget, more, t_eval=[t_end])
    else:
        raise UsageError(f"reference = {given!r} must be a Method, a Result, or False for a comparison without errors.")
    for name, output in (outputs or {}).items():
        values_of(name, output, trial)


def check_result(given: Result, model: Model, t_end: float, more: Mapping[str, Any]) -> None:
    """Raise UsageError unless a result is of this model and covers the run."""
    t_start = 0.0 if more.get("state") is None else more["state"].t
    if not given.has_model:
        raise UsageError("no reference possible: the Result was loaded without its model. Pass it: mbd.load(path, model=...).")
    try:
        check_model(model, given.names, numbers_of(given.model), given.y.shape[1], law_digests(given.model))
    except UsageError as error:
        raise UsageError(f"no reference possible: the Result {error}.") from None
    if len(given) < 2 or given.t[0] > t_start or given.t[-1] < t_end:
        span = f"{given.t[0]:g} .. {given.t[-1]:g} s" if len(given) else "no time"
        raise UsageError(f"no reference possible: the Result covers {span}, and the comparison {t_start:g} .. {t_end:g} s.")


def compute_reference(
    given: Method | Result,
    model: Model,
    times: Array,
    groups: tuple[str, ...],
    outputs: Outputs | None,
    budget: float | None,
    more: Mapping[str, Any],
) -> Reference:
    """Return the reference at increasing `times` (k,); UsageError if it cannot be computed."""
    if isinstance(given, Result):
        note = "The reference is a result: its uncertainty is unknown, and no error is marked as below it."
        return Reference(
            given, f"a Result, {given.settings.get('integrator', '')}", scales_of(given, groups, outputs), notes=(note,)
        )
    t_end = float(times[-1])
    best = _run(given, model, t_end, budget, more, t_eval=times)
    scales, partner = scales_of(best, groups, outputs), partner_of(given)
    name = label_of(given.formulation, given.integrator, given.stabilization)
    try:
        other = _run(partner, model, t_end, budget, more, t_eval=times)
    except UsageError as error:
        return Reference(best, name, scales, notes=(f"The uncertainty of the reference is unknown: {error}",))
    found = group_errors(other, best, groups=groups, outputs=outputs, scales=scales)
    return Reference(best, name, scales, uncertainty_of(found), tuple(f"{group}: {note}" for group, note in found.notes.items()))


def uncertainty_of(found: GroupErrors) -> dict[str, tuple[float, float]]:
    """Return the differences at the end and the largest ones, by group; at least the rounding of a number."""
    rounding = float(np.finfo(np.float64).eps)
    return {group: (max(found.end(group), rounding), max(found.max(group), rounding)) for group in found.errors}


def _run(method: Method, model: Model, t_end: float, budget: float | None, more: Mapping[str, Any], t_eval: Any) -> Result:
    """Run a reference. Raise UsageError with its reason if it does not reach the end."""
    patience = None if budget is None else PATIENCE * budget
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)
            warnings.simplefilter("ignore", SlowFormulationWarning)
            result = method.run(model, t_end, t_eval=t_eval, budget=patience, **more)
    except HaugmbdError as error:
        raise UsageError(f"no reference possible: {method.label!r} cannot run: {error} {REMEDY}") from error
    if result.interrupted and result.message.startswith("interrupted"):
        raise KeyboardInterrupt
    if not result.success:
        raise UsageError(f"no reference possible: {method.label!r} {result.message}. {REMEDY}")
    return result
