"""compare: one mechanism through many methods, measured in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any, Literal

import numpy as np

from haugmbd.choices import check_flags
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.model.inspection.given import need_state, no_model
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import check_budget, check_numbers, need_no_stops
from haugmbd.simulation.results.result import Result
from haugmbd.study.comparison.comparison import Comparison
from haugmbd.study.comparison.runs import (
    COMPLETED,
    FAILED,
    REFUSED,
    Cell,
    Measures,
    Reference,
    check_reference,
    check_same_model,
    compared_states,
    compute_reference,
    default_reference,
    run_cells,
)
from haugmbd.study.error_groups import GROUPS, Outputs, check_groups
from haugmbd.study.method import Method, MethodSet, RefusedMethod, no_method
from haugmbd.system.system import System

SAMPLES = 101
"""States of each method that are compared with the reference, evenly spread over its steps."""
ROUNDED = 1e-9
"""Part of the final time by which the last state of a run may differ from it: times of files have digits."""
PARTS = ("formulation", "integrator", "stabilization")
REPEATS = 3
"""Runs of a method of which the least CPU time counts."""


@check_keywords
def compare(
    system: System | Model,
    methods: Iterable[Method] = (),
    t_end: float = np.nan,
    *,
    results: Mapping[str, Result] | None = None,
    reference: Method | Result | Literal[False] | None = None,
    outputs: Outputs | None = None,
    budget: float | None = None,
    h: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    groups: Iterable[str] = GROUPS,
    state: State | None = None,
    project_velocity: bool = False,
    samples: int = SAMPLES,
    repeats: int = REPEATS,
    store_every: int = 1,
    progress: bool = False,
) -> Comparison:
    """Run one mechanism with many methods, and measure them in the same way: errors by group, violations, drifts and costs.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    methods : iterable of Method
        The methods, each with its own label, `Method(run=...)` for functions of your own; or what `methods` returned: its refused
        combinations become rows with their reason, and methods that h, rtol and atol make the same are run once.
    t_end : float
        Final time [s]; with results only, by default the last time that all have.
    results : mapping of str to Result, optional
        Runs that are there already, by label: of a file, of another program (`mbd.Result(model, t, y)`), of a loop of your own. Each is a
        row with errors, violations and drift like those of methods; its costs are what its counters say.
    reference : Method, Result or False, optional
        What errors are measured against. A Method is run at its tolerances, or its step, and at ten times these, or twice the step: the
        difference is the uncertainty of the reference. A Result has no known uncertainty. False: no errors. By default DOP853 with
        rtol = 1e-12.
    outputs : dict of str to callable, optional
        By name: functions of a Result that return an array (nt,) or (nt, ...); their errors are measured as well.
    budget : float, optional
        Longest time of a run [s]. A method that needs more is stopped, and is a row with the states so far; the reference may take
        twenty budgets. By default there is no limit.
    h, rtol, atol : float, optional
        Step [s] and tolerances of the methods that have none of their own.
    groups : iterable of str
        Groups of errors: "positions", "orientations", "velocities", "multipliers", "reactions", "energy". By default all.
    state : State, optional
        Initial state; by default the modelled one.
    project_velocity : bool
        If True, project inconsistent initial velocities on the velocity constraints.
    samples : int
        Number of states of each method that are compared with the reference: at its own steps, without interpolation.
    repeats : int
        Number of runs of a method of which the least CPU time counts. Methods that take longer than a second are run once.
    store_every : int
        Number of steps between stored states.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    Comparison
        One row for each method, with `.results`, tables, plots and a report. After Ctrl-C the rows so far; the others are not run.

    Raises
    ------
    UsageError
        If an argument is not valid, two methods have the same label, a method has no step, a group is unknown, or no reference is
        possible.
    ModelError
        If the system has faults.

    Notes
    -----
    Errors of a group are relative to its scale in the reference, orientations are in rad; values below the uncertainty of the reference
    are marked. Accelerations and multipliers are those of the method itself, see `Result.accelerations_of_method`. A method that fails
    is a row with the reason.

    With rigid contacts, by explicit methods (with events) and `MoreauJean`, there is the group of violations of `Result.check_contacts`;
    accelerations and multipliers are then those of the equations of motion. Errors are not taken at impacts and switches, where velocities
    and forces have two values.
    """
    numbers: dict[str, Any] = {} if results and np.isnan(t_end) else {"t_end": t_end}
    numbers |= {"budget": budget, "h": h, "rtol": rtol, "atol": atol}
    check_numbers(None, **numbers, samples=samples, repeats=repeats, store_every=store_every)
    check_flags(project_velocity=project_velocity, progress=progress)
    check_budget(budget)
    check_counts(samples=samples, repeats=repeats)
    wanted = check_groups(groups, outputs)
    t_start = 0.0 if state is None else float(need_state(state).t)
    # the rows: methods, runs that are there already, and refused combinations
    runs = _listed_results(results)
    if np.isnan(t_end) and runs:
        t_end = min(float(run.t[-1]) if len(run.t) else t_start for run in runs.values())
    chosen = [] if runs and not _any(methods) else ready(methods, t_end - t_start, h, rtol, atol)
    _need_own_labels(runs, chosen)
    refused = methods.refused if isinstance(methods, MethodSet) else ()
    model = compiled(system)
    if any(entry.load.impulsive for entry in model.loads):
        need_no_stops(model, "compare")
    more: dict[str, Any] = {"state": state, "project_velocity": project_velocity}
    # a reference that is refused is told before the first run; it is run last, at the times of the others
    exact = default_reference() if reference is None else reference
    if exact is not False:
        check_reference(exact, model, t_end, outputs, budget, more)
    cells = run_cells(
        chosen, model, t_end, repeats=repeats, budget=budget, more=more | {"store_every": store_every}, progress=progress
    )
    cells += [_cell_of(label, run, model, t_end, more) for label, run in runs.items()]
    solution = None
    if exact is not False:
        times = np.unique(np.concatenate([[t_end], *(c.result.t[compared_states(c.result, samples)] for c in cells if c.result)]))
        solution = compute_reference(exact, model, times, wanted, outputs, budget, more)
    cells += [Cell(method.label, REFUSED, method.reason) for method in refused]
    measures = _measured(cells, solution, wanted, outputs, samples)
    return Comparison(model, t_start, t_end, measures, solution, wanted, outputs, _parts([*chosen, *refused], runs), budget)


def _need_own_labels(runs: Mapping[str, Result], chosen: Iterable[Method]) -> None:
    """Raise UsageError for a result with the label of a method."""
    labels = [method.label for method in chosen]
    twice = [label for label in runs if label in labels]
    if twice:
        raise UsageError(f"results has the label {twice[0]!r}, which a method has, too: give each its own.")


def _parts(every: Iterable[Method | RefusedMethod], runs: Mapping[str, Result]) -> dict[str, tuple[Any, Any, Any]]:
    """Return formulation, integrator and stabilization of each row, by label."""
    parts: dict[str, tuple[Any, Any, Any]] = {
        method.label: (method.formulation, method.integrator, method.stabilization) for method in every
    }
    for label, run in runs.items():
        formulation, integrator, stabilization = (run.settings.get(key) for key in PARTS)
        parts[label] = formulation, integrator, stabilization
    return parts


def _any(methods: Any) -> bool:
    """Return whether there is a method, or something in its place that is told later."""
    return not isinstance(methods, Sized) or len(methods) > 0


def _listed_results(results: Any) -> dict[str, Result]:
    """Return the results by label. Raise UsageError for anything else."""
    if results is None:
        return {}
    if not isinstance(results, Mapping) or not all(isinstance(x, str) and isinstance(y, Result) for x, y in results.items()):
        raise UsageError("results must be a dict of Result objects by label: results={'my loop': mbd.Result(model, t, y)}.")
    return dict(results)


def _cell_of(label: str, result: Result, model: Model, t_end: float, more: Mapping[str, Any]) -> Cell:
    """Return the row of a run that is there already, up to t_end; one of another model is refused, a shorter one has failed."""
    try:
        check_same_model(result, model)
    except UsageError as error:
        return Cell(label, REFUSED, str(error))
    if not len(result.t):
        return Cell(label, FAILED, "it has no state")
    t_start = 0.0 if more.get("state") is None else more["state"].t
    part = result if result.t[-1] <= t_end * (1.0 + ROUNDED) else result[t_start:t_end]
    reached = len(part.t) > 0 and part.t[0] <= t_start + ROUNDED * t_end and part.t[-1] >= t_end * (1.0 - ROUNDED)
    why = "" if reached else f"it covers {result.t[0]:g} .. {result.t[-1]:g} s, and the comparison {t_start:g} .. {t_end:g} s"
    cpu = part.counters.cpu or np.nan
    return Cell(label, COMPLETED if reached else FAILED, why, None, part if len(part.t) else None, cpu, np.nan, 1)


def compiled(system: Any) -> Model:
    """Return the model; raise UsageError for anything but a System or a Model."""
    if isinstance(system, System):
        return system.compile()
    if isinstance(system, Model):
        return system
    raise no_model(system, "compare")


def check_counts(**counts: int) -> None:
    """Raise UsageError unless the numbers are whole, and 1 or more."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | float | np.number) or not count >= 1 or count % 1:
            raise UsageError(f"{name} = {count!r} must be a whole number, 1 or more.")


def ready(methods: Any, span: float, h: float | None, rtol: float | None, atol: float | None) -> list[Method]:
    """Return the methods, with steps and tolerances. Raise UsageError, with all faults, for what is not a method or cannot be started."""
    if isinstance(methods, Method | str) or not isinstance(methods, Iterable):
        raise UsageError(f"methods = {methods!r} must be a list of Method objects, or what mbd.methods(...) returned.")
    listed = list(methods)
    wrong = [no_method(method) for method in listed if not isinstance(method, Method)]
    if wrong:
        raise UsageError(f"{'; '.join(wrong)}.")
    if not listed:
        raise UsageError("there is no method to compare: give at least one that can be run.")
    chosen = [method.completed(h, rtol, atol) for method in listed]
    if isinstance(methods, MethodSet):  # two of a set may become the same by the step
        chosen = [method for k, method in enumerate(chosen) if method not in chosen[:k]]
    labels = [method.label for method in chosen]
    for label in dict.fromkeys(label for label in labels if labels.count(label) > 1):
        wrong.append(f"{labels.count(label)} methods have the label {label!r}: give each its own, Method(..., label=...)")
    for method in chosen:
        try:
            method.integrator.check(span)
        except UsageError as error:
            wrong.append(f"{method.label}: {str(error).replace('simulate(', 'compare(')}")
    if wrong:
        raise UsageError("; ".join(each.rstrip(".") for each in wrong) + ".")
    return chosen


def _measured(
    cells: list[Cell], reference: Reference | None, groups: tuple[str, ...], outputs: Outputs | None, samples: int
) -> dict[str, Measures]:
    """Return the measurements of each cell, by label."""
    measures = {}
    for cell in cells:
        row = Measures(cell)
        row.add_all(reference, groups, outputs, samples)
        measures[cell.label] = row
    return measures
