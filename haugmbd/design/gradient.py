"""`gradient`: one number of a run, and its derivatives by all parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.design.objective import Objective
from haugmbd.sensitivity.parameters import Parameters
from haugmbd.sensitivity.problem import Problem, need_times
from haugmbd.simulation.results.named_outputs import names_of


@public_class
@dataclass(frozen=True, eq=False)
class Gradient:
    """An objective and its gradient.

    Attributes
    ----------
    value : float
        The objective.
    gradient : ndarray, (n,)
        Its derivatives by the parameters.
    p : Parameters
        The parameters.
    runs : float
        Cost: CPU time in runs.
    """

    value: float
    gradient: Array
    p: Parameters
    runs: float


def problem_of(
    build: Any, p: Any, objective: Any, outputs: Any, run: str, t: Any, arguments: dict[str, Any]
) -> tuple[Problem, Objective]:
    """Return the outputs as functions of the parameters, and the objective;  outputs: by default the objective itself, if it is a name"""
    outputs = objective if outputs is None else outputs
    problem = Problem(build, p, outputs, run, arguments if t is None else need_times(arguments, run, t))
    names = tuple(output.text for output in names_of(outputs)(dict(problem.p)))
    return problem, Objective(objective, names, over_time=t is not None)


def gradient(
    build: Any, p: Any, objective: Any, *, outputs: Any = None, run: str = "simulate", t: Any = None, **arguments: Any
) -> Gradient:
    """Return one number of a run and its derivatives by all parameters.

    Parameters
    ----------
    build, p, run, **arguments
        As of `sensitivity`.
    objective : str or callable
        The name of an output, or a function of the outputs that takes complex numbers: of an array (m,) at the last time, or (nt, m) if
        the times t are given.
    outputs : str, sequence of str, or callable, optional
        The outputs that a function takes.
    t : array_like, (nt,), optional
        Times [s] of the outputs.

    Returns
    -------
    Gradient
        Value, gradient and cost.

    Raises
    ------
    UsageError
        As of `sensitivity`; if the objective loses imaginary parts, so that its derivative would be wrong.

    Notes
    -----
    By direct differentiation: the cost grows with the number of parameters, by one to four runs each.
    """
    problem, of = problem_of(build, p, objective, outputs, run, t, arguments)
    over = problem.over_time(problem.p.values_array)
    return Gradient(of.value(over), of.gradient(over), problem.p, problem.runs)
