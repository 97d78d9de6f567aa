"""The runs of a comparison: each method with what it cost, the reference, and what is measured of both.

compilation    a run of two steps before the others: its time is that of the compiler, and of loading compiled code
CPU time       the least of several runs; it holds the run only, not the compilation of the model, and not the recording

    reference     the given method, by default DOP853 at the tightest tolerance
    partner       the same method with ten times the tolerance, or twice the step
    uncertainty   their difference, by group: larger than the error of the reference, which is that of the better one

A result has no partner: its uncertainty is unknown.

error_<group>_<end|max>           at t_end, and the largest over the states that are compared; see `error_groups`
error_outputs_<end|max>           the largest of all outputs;  error_<output>_<end|max>  of each
                                  unknown of a run that did not reach t_end: its errors are those of a shorter motion
violation_<level>_<max|rms|end>   of v(t) = max_row |Phi|, |Phi_q u - nu|, |Phi_q u' - gamma|:  its largest value, sqrt(int v^2 dt / T),
                                  and its last value.  u' is that of the method.  In units of the rows
violation_contact_<max|rms|end>   of rigid contacts: the largest residual of the laws of Signorini, Coulomb and Newton-Euler, and of each of
violation_<law>_<max|rms|end>     them, and the overlap, relative: see `Result.check_contacts`
euler_max, euler_drift            largest | |p| - 1 | of the stored states;  the largest of a step before it is normalized
energy_drift_<max|end>            |E - E_0| of the total energy with all work [J]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.deprecated import object_meant
from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.errors import HaugmbdError, ModelError, RunWarning, SlowFormulationWarning, UsageError, error_text
from haugmbd.integrators import DOP853
from haugmbd.integrators.base import Integrator
from haugmbd.model.model import Model
from haugmbd.simulation.results.io.laws import law_digests
from haugmbd.simulation.results.io.schema import check_model, numbers_of
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.study.error_groups import GroupErrors, Outputs, group_errors, scales_of, values_of
from haugmbd.study.method import Method, label_of

COMPLETED, BUDGET, FAILED, REFUSED, NOT_RUN = "completed", "budget", "failed", "refused", "not run"
"""Status of a cell: at t_end; stopped by its budget; by an error; not possible with this method or model; after Ctrl-C."""

REPEATS_FOR = 1.0
"""[s] Runs are repeated while all runs of a cell together have taken less than this: longer ones are measured well by one."""
FIRST_PART = 1e-3
"""Of the interval: the run before the others, of methods with error control."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One method of a comparison.

    Attributes
    ----------
    label : str
        Name of the method.
    status, reason : str
        "completed", or "budget", "failed", "refused", "not run", with the text of the error or of the end of the run.
    method : Method or None
        The method; None where its parts cannot be combined.
    result : Result or None
        The result, up to where it failed; None if there is none.
    cpu : float
        CPU time of the run [s], the least of `runs`.
    compilation : float
        Time of the first, short run [s].
    runs : int
        Number of runs that were measured.
    """

    label: str
    status: str
    reason: str = ""
    method: Method | None = None
    result: Result | None = None
    cpu: float = np.nan
    compilation: float = np.nan
    runs: int = 0

    @property
    def completed(self) -> bool:
        """Return whether the run reached its end."""
        return self.status == COMPLETED


def run_cell(method: Method, model: Model, t_end: float, *, repeats: int, budget: float | None, more: Mapping[str, Any]) -> Cell:
    """Return the cell of a method; `more`: other arguments of `simulate`. What it raises is its reason; Ctrl-C ends its run."""
    compilation = warm(method, model, t_end, more)
    began = time.perf_counter()
    try:
        result = _without_warnings(method, model, t_end, budget=budget, record_method=not model.contacts, **more)
    except (ModelError, UsageError) as error:
        return Cell(method.label, REFUSED, str(error), method, compilation=compilation)
    except Exception as error:  # noqa: BLE001  of a user's function, too: a failure is a row
        found = getattr(error, "result", None)
        return Cell(method.label, FAILED, error_text(error), method, found, compilation=compilation)
    status = {RunStatus.BUDGET_EXHAUSTED: BUDGET, RunStatus.INTERRUPTED: NOT_RUN}.get(result.status, COMPLETED)
    cpu, runs = result.counters.cpu, 1
    while status == COMPLETED and runs < repeats:
        taken = time.perf_counter() - began
        if taken > min(REPEATS_FOR, np.inf if budget is None else budget * runs / (runs + 1)):
            break
        again = _without_warnings(method, model, t_end, **more)  # it keeps within the budget, and its batches need not be short
        if not again.success:
            break
        cpu, runs = min(cpu, again.counters.cpu), runs + 1
    return Cell(method.label, status, "" if status == COMPLETED else result.message, method, result, cpu, compilation, runs)


def run_cells(
    methods: Sequence[Method],
    model: Model,
    t_end: float,
    *,
    repeats: int,
    budget: float | None,
    more: Mapping[str, Any],
    progress: bool,
) -> list[Cell]:
    """Return the cells of methods; after Ctrl-C the others are cells that were not run."""
    cells: list[Cell] = []
    with Progress(progress, 0, len(methods), "methods") as bar:
        for method in methods:
            stopped = bool(cells) and cells[-1].status == NOT_RUN
            if not stopped:
                try:
                    cells.append(run_cell(method, model, t_end, repeats=repeats, budget=budget, more=more))
                except KeyboardInterrupt:
                    stopped = True
            if stopped:
                cells.append(Cell(method.label, NOT_RUN, "not run: Ctrl-C", method))
            bar.reach(len(cells))
    return cells


def warm(method: Method, model: Model, t_end: float, more: Mapping[str, Any]) -> float:
    """Run the method for two steps, so that its code is compiled and loaded; return the time [s]. Errors are those of the whole run."""
    state = more.get("state")
    t_start = 0.0 if state is None else float(state.t)
    span, h = t_end - t_start, method.integrator.step
    part = min(span, FIRST_PART * span if h is None else 2.0 * h)
    began = time.perf_counter()
    try:
        _without_warnings(method, model, t_start + part, record_method=not model.contacts, **more)
    except Exception:  # noqa: BLE001, S110  the run itself reports it
        pass
    return time.perf_counter() - began


def _without_warnings(method: Method, model: Model, t_end: float, **more: Any) -> Result:
    """Run a method; its warnings stay in the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        warnings.simplefilter("ignore", SlowFormulationWarning)
        return method.run(model, t_end, **more)


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
    reference: Method | Result, model: Model, t_end: float, outputs: Outputs | None, budget: float | None, more: Mapping[str, Any]
) -> None:
    """Raise UsageError if the reference cannot be computed up to `t_end`, is of another model, or an output does not fit."""
    if isinstance(reference, Result):
        check_result(reference, model, t_end, more)
        trial = reference
    elif isinstance(reference, Method):
        reference.integrator.check(t_end - (0.0 if more.get("state") is None else more["state"].t))
        trial = _run(reference, model, t_end, budget, more, t_eval=[t_end])
    else:
        meant = object_meant(reference, Integrator)
        remedy = f" Give mbd.Method(integrator=...){meant}." if meant else ""
        raise UsageError(f"reference = {reference!r} must be a Method, a Result, or False for a comparison without errors.{remedy}")
    for name, output in (outputs or {}).items():
        values_of(name, output, trial)


def check_result(result: Result, model: Model, t_end: float, more: Mapping[str, Any]) -> None:
    """Raise UsageError unless a result is of this model and covers the run."""
    t_start = 0.0 if more.get("state") is None else more["state"].t
    try:
        check_same_model(result, model)
    except UsageError as error:
        raise UsageError(f"no reference possible: {error}") from None
    if len(result) < 2 or result.t[0] > t_start or result.t[-1] < t_end:
        span = f"{result.t[0]:g} .. {result.t[-1]:g} s" if len(result) else "no time"
        raise UsageError(f"no reference possible: the Result covers {span}, and the comparison {t_start:g} .. {t_end:g} s.")


def compute_reference(
    reference: Method | Result,
    model: Model,
    times: Array,
    groups: tuple[str, ...],
    outputs: Outputs | None,
    budget: float | None,
    more: Mapping[str, Any],
) -> Reference:
    """Return the reference at increasing `times` (k,); UsageError if it cannot be computed."""
    if isinstance(reference, Result):
        note = "The reference is a result: its uncertainty is unknown, and no error is marked as below it."
        return Reference(
            reference, f"a Result, {reference.settings.get('integrator', '')}", scales_of(reference, groups, outputs), notes=(note,)
        )
    t_end = float(times[-1])
    best = _run(reference, model, t_end, budget, more, t_eval=times)
    scales, partner = scales_of(best, groups, outputs), partner_of(reference)
    name = label_of(reference.formulation, reference.integrator, reference.stabilization)
    try:
        other = _run(partner, model, t_end, budget, more, t_eval=times)
    except UsageError as error:
        return Reference(best, name, scales, notes=(f"The uncertainty of the reference is unknown: {error}",))
    apart = group_errors(other, best, groups=groups, outputs=outputs, scales=scales)
    return Reference(best, name, scales, uncertainty_of(apart), tuple(f"{group}: {note}" for group, note in apart.notes.items()))


def uncertainty_of(differences: GroupErrors) -> dict[str, tuple[float, float]]:
    """Return the differences at the end and the largest ones, by group; at least the rounding of a number."""
    rounding = float(np.finfo(np.float64).eps)
    return {group: (max(differences.end(group), rounding), max(differences.max(group), rounding)) for group in differences.errors}


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


def check_same_model(result: Result, model: Model) -> None:
    """Raise UsageError unless a result is of this model."""
    if not result.has_model:
        raise UsageError("the Result was loaded without its model. Pass it: mbd.load(path, model=...).")
    if result.switches:
        first = result.switches[0]
        name = f" {first.names[0]!r}" if first.names else ""
        raise UsageError(
            f"the Result is of another structure after its switch{name} at t = {first.t:.6g} s, and errors and violations are of one. "
            "Compare its states with those of another run with the same switches, such as result.at(t) of both."
        )
    try:
        check_model(model, result.names, numbers_of(result.model), result.y.shape[1], law_digests(result.model))
    except UsageError as error:
        raise UsageError(f"the Result {error}.") from None


LEVELS = ("position", "velocity", "acceleration")
VIOLATIONS = tuple(f"violation_{level}_{what}" for level in LEVELS for what in ("max", "rms", "end"))
LAWS = ("signorini", "coulomb", "newton_euler")
CONTACT = "contact"
"""The worst of the laws of contact and friction."""
CONTACT_VIOLATIONS = tuple(f"violation_{what}_{how}" for what in (CONTACT, *LAWS, "overlap") for how in ("max", "rms", "end"))
DRIFTS = ("euler_max", "euler_drift", "energy_drift_max", "energy_drift_end")
COUNTS = ("steps", "evaluations", "factorizations", "newton_iterations", "rejected", "solves")
COSTS = ("cpu", "compilation", "runs", "t_reached")
TEXTS = ("status", "reason", "formulation", "integrator", "stabilization")


def error_columns(groups: tuple[str, ...], outputs: Outputs | None) -> tuple[str, ...]:
    """Return the names of the columns of errors."""
    names = [*groups, *(("outputs", *outputs) if outputs else ())]
    return tuple(f"error_{name}_{what}" for name in names for what in ("end", "max"))


def violation_columns(model: Model) -> tuple[str, ...]:
    """Return the names of the columns of violations: those of contacts where the model has rigid ones."""
    return (*VIOLATIONS, *(CONTACT_VIOLATIONS if model.contacts else ()))


def columns_of(model: Model, groups: tuple[str, ...], outputs: Outputs | None) -> tuple[str, ...]:
    """Return the names of all columns, in their order."""
    return (*error_columns(groups, outputs), *violation_columns(model), *DRIFTS, *COUNTS, *COSTS, *TEXTS)


def compared_states(result: Result, most: int) -> Ints:
    """Return the numbers of at most `most` states, evenly spread over the steps, with the first and the last.

    Times of jumps, which stand twice, are left out: a reference whose jump is a rounding later has the values before it there.
    """
    n = len(result)
    some: Ints = np.unique(np.rint(np.linspace(0, n - 1, min(n, most))).astype(np.int64))
    twice = np.diff(result.t) == 0.0
    jumps = np.append(twice, False) | np.insert(twice, 0, False) if n else twice
    left: Ints = some[~jumps[some] | (some == 0) | (some == n - 1)]
    return left


class Measures:
    """The measurements of one cell: a number for each column, violations by joint, curves over time, and what could not be measured."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.numbers: dict[str, float] = {}
        self.by_joint: dict[str, dict[str, float]] = {}
        self.curves: dict[str, tuple[Array, Array]] = {}
        self.notes: list[str] = []

    def add_all(self, reference: Reference | None, groups: tuple[str, ...], outputs: Outputs | None, most: int) -> None:
        """Measure everything."""
        cell, result = self.cell, self.cell.result
        self.numbers |= {"cpu": cell.cpu, "compilation": cell.compilation, "runs": float(cell.runs)}
        if result is None or not len(result):
            return
        self._count(result)
        for level in LEVELS:
            self._try(f"violation at {level} level", lambda level=level: self._violation(result, level))  # type: ignore[misc]
        if result.model.contacts:
            self._try("laws of contact", lambda: self._laws(result))
        self._try("energy", lambda: self._energy(result))
        self.numbers["euler_max"] = float(result.euler_violation().max(initial=0.0))
        if reference is not None:
            self._try("errors", lambda: self._errors(result, reference, groups, outputs, most))

    def _try(self, what: str, measure: Callable[[], None]) -> None:
        """Measure, or note why it cannot be measured."""
        try:
            with np.errstate(all="ignore"):  # a run that failed may hold numbers whose squares overflow
                measure()
        except (HaugmbdError, np.linalg.LinAlgError) as error:
            self.notes.append(f"{what}: {error_text(error)}")

    def _count(self, result: Result) -> None:
        c, method = result.counters, self.cell.method
        solves = method is not None and method.integrator.solves_constraints
        self.numbers |= {
            "steps": c.steps,
            "evaluations": c.evaluations,
            "factorizations": c.factorizations,
            "newton_iterations": c.projections if solves else 0,
            "rejected": c.rejected,
            "solves": c.solves,
            "euler_drift": c.max_euler_drift,
            "t_reached": float(result.t[-1]),
        }

    def _violation(self, result: Result, level: str) -> None:
        model = result.model
        rows: Any = result.violation(level, of_method=not model.contacts)  # type: ignore[call-overload]
        v = np.abs(rows).max(axis=1, initial=0.0)
        known = np.isfinite(v)
        self._over_time(level, result.t[known], v[known])
        if not known.any():
            return
        self.by_joint[level] = {
            name: float(np.linalg.norm(rows[known][:, joint.rows], axis=1).max()) for name, joint in model.joints.items()
        }

    def _laws(self, result: Result) -> None:
        check = result.check_contacts()
        for law in (*LAWS, "overlap"):
            self._over_time(law, check.t, getattr(check, law))
        self._over_time(CONTACT, check.t, np.max([getattr(check, law) for law in LAWS], axis=0))

    def _over_time(self, what: str, t: Array, v: Array) -> None:
        """Keep a violation v (nt,) as a curve, and its largest, mean and last value."""
        self.curves[what] = (t, v)
        if not len(v):
            return
        span = float(t[-1] - t[0])
        rms = np.sqrt(np.trapezoid(v**2, t) / span) if span > 0.0 else v[-1]
        self.numbers |= {f"violation_{what}_{how}": float(x) for how, x in (("max", v.max()), ("rms", rms), ("end", v[-1]))}

    def _energy(self, result: Result) -> None:
        drift = np.abs(result.energy().drift)
        self.curves["drift"] = (result.t, drift)
        self.numbers |= {"energy_drift_max": float(drift.max()), "energy_drift_end": float(drift[-1])}

    def _errors(self, result: Result, reference: Reference, groups: tuple[str, ...], outputs: Outputs | None, most: int) -> None:
        at = compared_states(result, most)
        differences = group_errors(result, reference.result, groups=groups, outputs=outputs, at=at, scales=reference.scales)
        for name, errors in differences.errors.items():
            finite = np.isfinite(errors)
            self.curves[name] = (differences.t[finite], errors[finite])
            largest = float(errors[finite].max()) if finite.any() else np.nan
            self.numbers[f"error_{name}_max"] = largest if self.cell.completed else np.nan
            if not finite.all() and name not in differences.notes:
                self.notes.append(f"errors of {name}: {np.sum(~finite)} of {len(finite)} states are not steps of the method")
            self.numbers[f"error_{name}_end"] = differences.end(name) if self.cell.completed else np.nan
        if outputs:
            for what in ("end", "max"):
                self.numbers[f"error_outputs_{what}"] = max(self.numbers[f"error_{name}_{what}"] for name in outputs)
        self.notes += [f"errors of {group}: {note}" for group, note in differences.notes.items()]
