r"""`optimize`: the parameters that make a number of a run least, within bounds and constraints, by gradients.

    min O(z(p))    lower <= p <= upper     lower_k <= c_k(z(p)) <= upper_k         SLSQP or trust-constr of SciPy

Every evaluation is a line of a journal, that of a sweep, written before the next one begins: a search that was killed goes on from its
file, with the same numbers, because the optimizer meets the same answers.
Source: Kraft (1988), SLSQP; Nocedal and Wright (2006).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.design.gradient import problem_of
from haugmbd.design.objective import Objective
from haugmbd.errors import HaugmbdError, UsageError, warn_user
from haugmbd.sensitivity.parameters import Parameters
from haugmbd.sensitivity.problem import Problem
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.study.sweeps.evaluate import Row
from haugmbd.study.sweeps.identity import cell_key, study_identity
from haugmbd.study.sweeps.journal import Journal

METHODS = ("SLSQP", "trust-constr", "L-BFGS-B")
NOWHERE = 100.0
"""Objective, relative to the largest of the search, of a point where the mechanism does not exist."""
MOST = 100
"""Iterations, at most."""
CONVERGED = 1e-9
"""Relative change of the objective at which the search ends."""


class Evaluation(NamedTuple):
    """One point of the search: parameters (n,), objective and its gradient, constraints and their Jacobian."""

    x: Array
    value: float
    gradient: Array
    constraints: Array
    jacobian: Array


@public_class
@dataclass(frozen=True, eq=False)
class Optimum:
    """The parameters that make an objective least.

    Attributes
    ----------
    p : Parameters
        The values.
    value : float
        The objective there.
    history : tuple
        All points of the search, each with x, value, gradient, constraints and jacobian.
    constraints : ndarray
        Values of the constraints at the optimum.
    runs : float
        Cost of this call: its CPU time in runs; points read from the journal cost nothing.
    success, message
        Whether the search converged, and why it ended.
    """

    p: Parameters
    value: float
    history: tuple[Evaluation, ...]
    constraints: Array
    runs: float
    success: bool
    message: str

    @property
    def values(self) -> dict[str, float]:
        """Return the parameters by name."""
        return dict(self.p)

    def __str__(self) -> str:
        found = ", ".join(f"{name} = {value:.6g}" for name, value in self.p.items())
        return f"objective {self.value:.6g} at {found}; {self.message} after {len(self.history)} evaluations"

    __repr__ = __str__


class Kept:
    """The evaluations of a search, in memory or in a journal as that of a sweep: a point is a cell, its numbers are a row."""

    def __init__(self, path: Any, identity: Mapping[str, Any], n_constraints: int) -> None:
        self._identity, self._n = identity, n_constraints
        where = None if path is None else path_of(path, "store")
        try:
            self._journal = None if where is None else Journal(where, identity, "search")
        except OSError as error:
            raise unwritable(where or Path(), error) from None
        self._rows: dict[str, Row] = {} if self._journal is None else self._journal.rows

    def at(self, p: Parameters) -> Evaluation | None:
        """Return the evaluation at values of the parameters, if there is one."""
        row = self._rows.get(cell_key(self._identity, dict(p)))
        if row is None:
            return None
        # a line of the table is a value and its gradient: of the objective, then of each constraint
        table = np.array(list(row.values.values()), dtype=np.float64).reshape(1 + self._n, 1 + len(p))
        return Evaluation(p.values_array, float(table[0, 0]), table[0, 1:], table[1:, 0], table[1:, 1:])

    def add(self, p: Parameters, point: Evaluation) -> None:
        """Keep an evaluation."""
        lines = {"objective": (point.value, point.gradient)}
        lines |= {f"constraint {k}": line for k, line in enumerate(zip(point.constraints, point.jacobian, strict=True))}
        values: dict[str, float] = {}
        for name, (value, slopes) in lines.items():
            values[name] = float(value)
            values |= {f"{name} by {each}": float(slope) for each, slope in zip(p.names, slopes, strict=True)}
        key, row = cell_key(self._identity, dict(p)), Row("ok", values)
        self._rows[key] = row
        if self._journal is not None:
            self._journal.append(key, dict(p), row)

    def close(self) -> None:
        """Close the file."""
        if self._journal is not None:
            self._journal.close()


class Search:
    """The functions that an optimizer calls, in relative values x / size of the parameters."""

    def __init__(self, problem: Problem, objective: Objective, constraints: Sequence[Objective], kept: Kept) -> None:
        self.problem, self.objective, self.limits, self.kept = problem, objective, constraints, kept
        self.history: list[Evaluation] = []
        self._seen: set[bytes] = set()

    def at(self, x: Array) -> Evaluation:
        """Return the evaluation at relative values x."""
        p = self.problem.p.at(x * self.problem.p.sizes)
        point = self.kept.at(p)
        if point is None:
            try:
                over = self.problem.over_time(p.values_array)
            except HaugmbdError:
                if not self.history:
                    raise
                return self._nowhere(p.values_array)
            c = np.array([limit.value(over) for limit in self.limits])
            J = np.array([limit.gradient(over) for limit in self.limits]).reshape(-1, len(p))
            point = Evaluation(p.values_array, self.objective.value(over), self.objective.gradient(over), c, J)
            self.kept.add(p, point)
        key = point.x.tobytes()
        if key not in self._seen:
            self._seen.add(key)
            self.history.append(point)
        return point

    def _nowhere(self, values: Array) -> Evaluation:
        """Return a point where the mechanism does not exist, such as a linkage that cannot be closed: so bad that the step is shortened."""
        last = self.history[-1]
        worst = max(abs(point.value) for point in self.history)
        return last._replace(x=values, value=NOWHERE * max(worst, 1e-300))


def optimize(
    build: Any,
    objective: Any,
    p: Any,
    constraints: Sequence[tuple[Any, float, float]] = (),
    *,
    outputs: Any = None,
    method: str = "SLSQP",
    run: str = "simulate",
    t: Any = None,
    store: Any = None,
    version: str = "",
    most: int = MOST,
    **arguments: Any,
) -> Optimum:
    """Return the parameters that make an objective least.

    Parameters
    ----------
    build, objective, p, outputs, run, t, **arguments
        As of `gradient`. The bounds of the parameters hold.
    constraints : sequence of (objective, lower, upper), optional
        Numbers of the outputs that stay between limits; equal limits prescribe a value, infinite ones are none.
    method : {"SLSQP", "trust-constr", "L-BFGS-B"}
        The optimizer of SciPy; the last one takes no constraints.
    store : path, optional
        A file that keeps every evaluation. A search that was interrupted, or killed, goes on from it; a search of another build,
        objective or start, or whose functions read other values, is refused.
    version : str, optional
        Stands for values that `build` or `objective` reads and that cannot be compared, as of `sweep`: give another one when they change.
    most : int
        Iterations, at most.

    Returns
    -------
    Optimum
        Values, objective and history. After Ctrl-C the best so far, with success False.

    Raises
    ------
    UsageError
        As of `gradient`; if the file has another search.

    Warns
    -----
    UserWarning
        If the search did not converge.
    """
    if method not in METHODS:
        raise UsageError(f"method = {method!r} must be one of {', '.join(map(repr, METHODS))}.")
    if constraints and method == "L-BFGS-B":
        raise UsageError("method 'L-BFGS-B' takes no constraints: take 'SLSQP' or 'trust-constr'.")
    if outputs is None and any(not isinstance(limit[0], str) or limit[0] != objective for limit in constraints):
        raise UsageError("optimize with constraints needs outputs=: the names that objective and constraints take.")
    problem, of = problem_of(build, p, objective, outputs, run, t, arguments)
    names = (objective,) if outputs is None else tuple(o.text for o in problem.names(dict(problem.p)))
    limits = [Objective(limit[0], names, over_time=t is not None) for limit in constraints]
    ranges = [(float(limit[1]), float(limit[2])) for limit in constraints]
    limited = [(limit[0], *r) for limit, r in zip(constraints, ranges, strict=True)]
    asked = partial(
        optimize,
        objective=objective,
        p=dict(problem.p),
        constraints=limited,
        outputs=outputs,
        method=method,
        run=run,
        t=t,
        **arguments,
    )
    library = sys.modules["haugmbd"].__version__  # an import would be a circle
    identity = {} if store is None else study_identity(build, asked, None, None, version, library, list(problem.p), "optimize")
    kept = Kept(store, identity, len(limits))
    search = Search(problem, of, limits, kept)
    try:
        return _found(search, ranges, method, most)
    finally:
        kept.close()


def _found(search: Search, ranges: Sequence[tuple[float, float]], method: str, most: int) -> Optimum:
    """Return what a search finds; after Ctrl-C the best so far."""
    problem = search.problem
    try:
        found = _minimized(search, ranges, method, most)
        success, message, x = bool(found.success), str(found.message), found.x
    except KeyboardInterrupt:
        if not search.history:
            raise
        success, message, x = False, "interrupted by Ctrl-C", _best(search, ranges).x / problem.p.sizes
    point = search.at(x)
    if not success:
        warn_user(f"optimize: {message}; the values are the last ones, and no optimum.")
    return Optimum(
        problem.p.at(point.x),
        point.value,
        tuple(search.history),
        point.constraints,
        problem.runs,
        success,
        message.lower().rstrip("."),
    )


def _best(search: Search, ranges: Sequence[tuple[float, float]]) -> Evaluation:
    """Return the point of least objective among those that violate the constraints least."""

    def violation(point: Evaluation) -> float:
        return float(sum(max(low - c, c - high, 0.0) for c, (low, high) in zip(point.constraints, ranges, strict=True)))

    return min(search.history, key=lambda point: (round(violation(point), 9), point.value))


def _minimized(search: Search, ranges: Sequence[tuple[float, float]], method: str, most: int) -> Any:
    """Return what SciPy's optimizer found."""
    sizes = search.problem.p.sizes
    lower, upper = (x / sizes for x in search.problem.p.bounds)
    scale = max(abs(search.at(search.problem.p.values_array / sizes).value), 1e-300)
    low, high = (np.array([r[k] for r in ranges]) for k in range(2))
    limits: Any = ()
    if ranges:
        limits = [NonlinearConstraint(lambda x: search.at(x).constraints, low, high, jac=lambda x: search.at(x).jacobian * sizes)]
    options = {"maxiter": most} | ({"ftol": CONVERGED} if method != "trust-constr" else {"gtol": 1e-8, "xtol": 1e-9})
    return minimize(
        lambda x: search.at(x).value / scale,
        search.problem.p.values_array / sizes,
        jac=lambda x: search.at(x).gradient * sizes / scale,
        bounds=list(zip(lower, upper, strict=True)),
        constraints=limits,
        method=method,
        options=options,
    )
