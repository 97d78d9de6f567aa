r"""`optimize`: the parameters that make a number of a run least, within bounds and constraints, by gradients.

    min O(z(p))    lower <= p <= upper     lower_k <= c_k(z(p)) <= upper_k         SLSQP or trust-constr of SciPy

Every evaluation is a line of a journal, written and synchronized before the next one begins: a study that was killed goes on from its
file, with the same numbers, because the optimizer meets the same answers.
Source: Kraft (1988), SLSQP; Nocedal and Wright (2006).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
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


class Journal:
    """Evaluations in a file, a line of JSON each, behind a head with the names of the parameters and constraints."""

    def __init__(self, path: Any, head: dict[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.known: dict[bytes, Evaluation] = {}
        if self.path is None:
            return
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        except OSError as error:
            raise UsageError(f"store = {str(path)!r} cannot be read: {error}.") from None
        if lines:
            self._read(lines, head)
        else:
            self._append(head)

    def _read(self, lines: Sequence[str], head: dict[str, Any]) -> None:
        first = _loaded(lines[0])
        if first != head:
            raise UsageError(
                f"store = {str(self.path)!r} has another search, of {first!r:.120}: this is {head!r:.120}. Give another file, or remove it."
            )
        for line in lines[1:]:
            one = _loaded(line)
            if one is None:  # the line that was being written when the process was killed
                continue
            x, gradient, c, J = (np.array(one[k], dtype=np.float64) for k in ("x", "gradient", "c", "J"))
            self.known[x.tobytes()] = Evaluation(x, float(one["value"]), gradient, c, J.reshape(-1, len(x)))

    def add(self, point: Evaluation) -> None:
        """Write an evaluation, to the disk."""
        self.known[point.x.tobytes()] = point
        if self.path is not None:
            line = {"x": point.x.tolist(), "value": point.value, "gradient": point.gradient.tolist()}
            self._append(line | {"c": point.constraints.tolist(), "J": point.jacobian.tolist()})

    def _append(self, line: dict[str, Any]) -> None:
        assert self.path is not None
        try:
            whole = not self.path.exists() or not self.path.stat().st_size or self.path.read_bytes().endswith(b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                file.write(("" if whole else "\n") + json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UsageError(f"store = {str(self.path)!r} cannot be written: {error}.") from None


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


class Search:
    """The functions that an optimizer calls, in relative values x / size of the parameters."""

    def __init__(self, problem: Problem, objective: Objective, constraints: Sequence[Objective], journal: Journal) -> None:
        self.problem, self.objective, self.limits, self.journal = problem, objective, constraints, journal
        self.history: list[Evaluation] = []
        self._seen: set[bytes] = set()

    def at(self, x: Array) -> Evaluation:
        """Return the evaluation at relative values x."""
        values = self.problem.p.at(x * self.problem.p.sizes).values_array
        key = values.tobytes()
        point = self.journal.known.get(key)
        if point is None:
            try:
                over = self.problem.over_time(values)
            except HaugmbdError:
                if not self.history:
                    raise
                return self._nowhere(values)
            n = len(values)
            c = np.array([limit.value(over) for limit in self.limits])
            J = np.array([limit.gradient(over) for limit in self.limits]).reshape(-1, n)
            point = Evaluation(values, self.objective.value(over), self.objective.gradient(over), c, J)
            self.journal.add(point)
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
        A file that keeps every evaluation. A search that was interrupted, or killed, goes on from it.
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
    head = {"search": 1, "parameters": list(problem.p), "start": problem.p.values_array.tolist(), "method": method}
    head |= {"objective": of.text, "constraints": [[limit.text, *map(str, r)] for limit, r in zip(limits, ranges, strict=True)]}
    search = Search(problem, of, limits, Journal(store, head))
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
