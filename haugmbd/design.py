"""Optima of designs, and the scatter of outputs by tolerances.

An objective is a number of the outputs; `gradient` has its derivatives by all parameters.

    dO/dp = dO/dz dz/dp         dO/dz dz by complex steps of the user's function along each parameter: O(z + i h dz/dp) / h

A function that takes complex numbers is differentiated exactly. One that does not (abs, comparisons, conversion to float) loses the
imaginary part, which would be a silent zero: such a derivative is compared with a difference, and refused if they do not agree.

`optimize`: the parameters that make it least, within bounds and constraints, by gradients.

    min O(z(p))    lower <= p <= upper     lower_k <= c_k(z(p)) <= upper_k         SLSQP or trust-constr of SciPy

Every evaluation is a line of a journal, that of a sweep, written before the next one begins: a search that was killed goes on from its
file, with the same numbers, because the optimizer meets the same answers.

`tolerances`: the scatter of outputs by the scatter of parameters.

    sd_i^2 = sum_j (dz_i/dp_j sd_j)^2           contributions: the parts of this sum;  parameters scatter independently

Beside it, on request, Monte Carlo: runs with random parameters, whose mean and standard deviation say whether the first order is enough.
Source: Kraft (1988), SLSQP; Nocedal and Wright (2006); Evans (1975), statistical tolerancing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

from haugmbd.choices import check_flags, is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.scalars import LANES
from haugmbd.deprecated import public_class
from haugmbd.errors import HaugmbdError, UsageError, naming, warn_user
from haugmbd.sensitivity.adjoint import adjoint_gradient, has_adjoint
from haugmbd.sensitivity.parameters import Parameters, as_parameters
from haugmbd.sensitivity.sensitivity import OverTime, Problem, Sensitivity, need_times, road_of, sensitivity, values_at_end
from haugmbd.sensitivity.simulated import method_of, refuse_what_is_not_smooth
from haugmbd.sensitivity.variations import arguments_of
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.simulation.results.named_outputs import names_of
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.sweeps.cells import cell_key, study_identity
from haugmbd.study.sweeps.executors import Row
from haugmbd.study.sweeps.store import Journal


@public_class
@dataclass(frozen=True, eq=False)
class Gradient(StudyData):
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

    def _columns(self) -> Columns:
        return {"parameter": column(list(self.p)), "value": column(self.p.values_array), "derivative": column(self.gradient)}


def problem_of(
    build: Any,
    p: Any,
    objective: Any,
    outputs: Any,
    run: str,
    t: Any,
    arguments: dict[str, Any],
    *,
    goes_on: bool = False,
) -> tuple[Problem, Objective]:
    """Return the outputs as functions of the parameters, and the objective.

    outputs: by default the objective itself, if it is a name;  goes_on: whether there will be many points
    """
    outputs = objective if outputs is None else outputs
    given = arguments if t is None else need_times(arguments, run, t)
    problem = Problem(build, p, outputs, run, given, at_end=t is None, goes_on=goes_on)
    names = tuple(output.text for output in names_of(outputs)(dict(problem.p)))
    return problem, Objective(objective, names, over_time=t is not None)


def gradient(
    build: Any,
    p: Any,
    objective: Any,
    *,
    outputs: Any = None,
    run: str = "simulate",
    t: Any = None,
    adjoint: bool | None = None,
    **arguments: Any,
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
    adjoint : bool, optional
        Whether to sweep backward over the motion, at a cost that does not depend on the number of parameters; by default for more than
        eight of them where it is possible, and False for direct differentiation.

    Returns
    -------
    Gradient
        Value, gradient and cost.

    Raises
    ------
    UsageError
        As of `sensitivity`; if the objective loses imaginary parts, so that its derivative would be wrong; if the adjoint is asked for,
        and the motion has none here.

    Notes
    -----
    Directly, the cost grows by about half a run for each parameter, and the building of two models. The adjoint of Runge-Kutta methods with
    projection is that of their discrete steps, and takes four to eight runs beside the building; outputs are then places, velocities and
    angles, and no contacts, stops, friction or functions of Python act.
    Source: Griewank and Walther (2008), ch. 4.
    """
    check_flags(**({} if adjoint is None else {"adjoint": adjoint}))
    problem, of = problem_of(build, p, objective, outputs, run, t, arguments)
    if adjoint is not False and problem.run == "simulate" and (adjoint or len(problem.p) > LANES):
        found = _by_adjoint(problem, of, asked=bool(adjoint))
        if found is not None:
            return found
    elif adjoint:
        raise UsageError(f"the adjoint is that of run='simulate', not of {run!r}: leave out adjoint=True.")
    over = problem.over_time(problem.p.values_array)
    return Gradient(of.value(over), of.gradient(over), problem.p, problem.runs)


def _by_adjoint(problem: Problem, of: Objective, *, asked: bool) -> Gradient | None:
    """Return the gradient by a sweep backward; None where there is none. Raise UsageError if it was asked for."""
    design = problem.design()
    keywords = arguments_of(design.built, problem.arguments)
    method = method_of(design, keywords)
    why = has_adjoint(design, method)
    gradient = None
    if not why:
        refuse_what_is_not_smooth(design, keywords)
        gradient = adjoint_gradient(design, method, keywords, of.bars)
        why = "the run has events that change it, or has not come to its end"
    if gradient is None:
        if asked:
            raise UsageError(f"the gradient has no adjoint here: {why}. Leave out adjoint=True.")
        return None
    values, slopes = gradient
    over = OverTime(np.zeros(len(values)), values, np.zeros((*values.shape, 1)))
    return Gradient(of.value(over), slopes, problem.p, problem.spent(design))


TINY = 1e-30
"""Complex step, relative to the change of the outputs."""
SIDE = 1e-6
"""Difference along the gradient that checks it, relative to the size of the outputs."""
AGREE = 1e-3
"""Relative distance of the difference from the derivative at which the function has lost imaginary parts."""


class Objective:
    """A number of the outputs.

    given: the name of an output, or a function of the outputs: (m,) at the last time, or (nt, m) at the times of the run
    """

    def __init__(self, objective: Any, names: tuple[str, ...], *, over_time: bool) -> None:
        self.over_time = over_time
        self.text = objective if isinstance(objective, str) else getattr(objective, "__name__", "objective")
        if isinstance(objective, str):
            if objective not in names:
                raise UsageError(f"objective {objective!r} is none of the outputs {', '.join(map(repr, names))}.")
            k = names.index(objective)
            self._function: Callable[[Any], Any] = lambda z: z[..., -1, k] if over_time else z[..., k]
        elif callable(objective):
            _need_one_argument(objective)
            self._function = objective
        else:
            raise UsageError(f"objective = {objective!r:.60} must be the name of an output, or a function of the outputs.")
        self._checked = False

    def _outputs(self, over: OverTime) -> tuple[Array, Array]:
        """Return the outputs as the function takes them, and their Jacobian."""
        return (over.values, over.jacobian) if self.over_time else (over.values[-1], over.jacobian[-1])

    def value(self, over: OverTime) -> float:
        """Return the objective."""
        with naming(f"objective {self.text!r}"):
            value = self._function(self._outputs(over)[0])
        if np.ndim(value) or not np.isreal(value) or not np.isfinite(value):
            raise UsageError(f"objective {self.text!r} returned {value!r:.60}, and must return one finite number.")
        return float(np.real(value))

    def gradient(self, over: OverTime) -> Array:
        """Return its derivatives by the parameters, (n,). Raise UsageError where the function loses them."""
        z, J = self._outputs(over)
        if not np.isfinite(J).all():
            raise UsageError(f"objective {self.text!r}: an output is not unique, and has no derivative.")
        found = np.array([self._along(z, J[..., k]) for k in range(J.shape[-1])])
        if not self._checked:
            self._check(z, J, found)
        return found

    def bars(self, values: Array) -> Array:
        """Return its derivatives by the outputs (nt, m) at all times. Raise UsageError where the function loses them."""
        bars = np.zeros_like(values)
        z, gradient = (values, bars) if self.over_time else (values[-1], bars[-1])
        for index in np.ndindex(z.shape):
            dz = np.zeros_like(z)
            dz[index] = max(1.0, abs(z[index]))
            gradient[index] = self._along(z, dz) / dz[index]
        if not self._checked:
            J = np.cos(1.0 + np.arange(z.size)).reshape(z.shape)[..., None]
            self._check(z, J, np.array([(gradient * J[..., 0]).sum()]))
        return bars

    def _along(self, z: Array, dz: Array) -> float:
        try:
            value = self._function(z + 1j * TINY * dz)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"objective {self.text!r} takes no complex numbers ({error}): write it with + - * / ** and functions of NumPy, not of math."
            ) from None
        return float(np.imag(value)) / TINY

    def _check(self, z: Array, J: Array, gradient: Array) -> None:
        """Compare the derivative along all parameters, which are mixed so that none cancels, with a difference."""
        n = J.shape[-1]
        size = np.abs(z).max(initial=0.0) or 1.0
        per = np.array([np.abs(J[..., k]).max(initial=0.0) for k in range(n)])
        mix = np.where(per > 0.0, np.cos(1.0 + np.arange(n)) / np.where(per > 0.0, per, 1.0), 0.0) * size
        dz = J @ mix
        high, low = (float(np.real(self._function(z + side * SIDE * dz))) for side in (1.0, -1.0))
        difference, exact = (high - low) / (2.0 * SIDE), float(gradient @ mix)
        noise = 1e-9 * (abs(high) + abs(low)) / SIDE * 1e-4
        if abs(difference - exact) > AGREE * max(abs(difference), abs(exact)) + noise:
            raise UsageError(
                f"objective {self.text!r}: its derivative by complex numbers is {exact:.6g}, and by a difference {difference:.6g}. It "
                "loses imaginary parts, such as by abs, max, comparisons or float(...), or has a kink here: write it with smooth functions."
            )
        self._checked = True


def _need_one_argument(objective: Callable[..., Any]) -> None:
    """Raise UsageError for a function that does not take an array of outputs."""
    try:
        signature(objective).bind(None)
    except TypeError as error:
        raise UsageError(f"objective = {objective!r:.60} must be a function of an array of outputs: {error}.") from None
    except ValueError:  # of a built-in function nothing is known
        return


METHODS = ("SLSQP", "trust-constr", "L-BFGS-B")
NOWHERE = 100.0
"""Objective, relative to the largest of the search, of a point where the mechanism does not exist."""
MOST = 100
"""Iterations, at most."""
MOST_OF_ALL = 2**31 - 1
"""Iterations, samples and seeds that are whole numbers of every library."""
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
class Optimum(StudyData):
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

    def _columns(self) -> Columns:
        return {"parameter": column(list(self.p)), "value": column(self.p.values_array)}

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
    if not is_one_of(method, METHODS):
        raise UsageError(f"method = {method!r} must be one of {', '.join(map(repr, METHODS))}.")
    if not isinstance(constraints, list | tuple):
        raise UsageError(f"constraints = {constraints!r:.60} must be a list of (objective, lower, upper).")
    for limit in constraints:
        _need_limits(limit)
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_OF_ALL:
        raise UsageError(f"most = {most!r} must be a whole number of iterations, 1 to {MOST_OF_ALL}.")
    if constraints and method == "L-BFGS-B":
        raise UsageError("method 'L-BFGS-B' takes no constraints: take 'SLSQP' or 'trust-constr'.")
    if outputs is None and any(not isinstance(limit[0], str) or limit[0] != objective for limit in constraints):
        raise UsageError("optimize with constraints needs outputs=: the names that objective and constraints take.")
    # a search that goes on from its file meets the same numbers to the bit: no point tells of the next
    problem, of = problem_of(build, p, objective, outputs, run, t, arguments, goes_on=store is None)
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


def _need_limits(limit: Any) -> None:
    """Raise UsageError unless a constraint is an objective with two limits."""
    try:
        _, low, high = limit
        right = float(low) <= float(high)
    except (TypeError, ValueError):
        right = False
    if not right:
        raise UsageError(
            f"constraint {limit!r:.80} must be (objective, lower, upper), with lower <= upper, such as ('joint.pin.angle', 0.0, 1.0)."
        )


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


@public_class
@dataclass(frozen=True, eq=False)
class Tolerances(StudyData):
    """The scatter of outputs.

    Attributes
    ----------
    outputs, parameters : tuple of str
        Names.
    values : ndarray, (outputs,)
        Nominal outputs.
    standard_deviations : ndarray, (outputs,)
        Of first order; NaN where an output is not unique.
    samples : ndarray, (number, outputs)
        Outputs of random parameters; (0, outputs) if none were asked for.
    """

    outputs: tuple[str, ...]
    p: Parameters
    values: Array
    standard_deviations: Array
    samples: Array
    _shares: Array

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return self.p.names

    def _columns(self) -> Columns:
        found = {"output": column(list(self.outputs)), "value": column(self.values)}
        shares = {f"part of {name}": column(x) for name, x in zip(self.parameters, self._shares.T, strict=True)}
        return found | {"standard_deviation": column(self.standard_deviations)} | shares

    def contributions(self) -> dict[str, dict[str, float]]:
        """Return, of each output, the parts of its variance by each parameter, the largest first; they sum to 1."""
        found = {}
        for name, line in zip(self.outputs, self._shares, strict=True):
            order = np.argsort(-np.nan_to_num(line), kind="stable")
            found[name] = {self.parameters[k]: float(line[k]) for k in order}
        return found

    @property
    def sampled_standard_deviations(self) -> Array:
        """Return the standard deviations of the samples, (outputs,)."""
        if len(self.samples) < 2:  # noqa: PLR2004
            raise UsageError("there are no samples: give tolerances(..., samples=200).")
        found: Array = self.samples.std(axis=0, ddof=1)
        return found

    def __str__(self) -> str:
        lines = []
        for name, value, sd in zip(self.outputs, self.values, self.standard_deviations, strict=True):
            parts = ", ".join(f"{p} {100 * share:.0f} %" for p, share in self.contributions()[name].items() if share >= 0.005)
            lines.append(f"{name} = {value:.6g} +- {sd:.2g}: {parts}")
        return "\n".join(lines)

    __repr__ = __str__


def tolerances(
    build: Any, outputs: Any, p: Any, *, run: str = "simulate", samples: int = 0, seed: int = 0, **arguments: Any
) -> Tolerances:
    """Return the scatter of outputs by the scatter of parameters, to first order, and by random samples.

    Parameters
    ----------
    build, outputs, run, **arguments
        As of `sensitivity`.
    p : Parameters
        Parameters with standard deviations, Parameter(0.4, sd=1e-4).
    samples : int
        Number of runs with random parameters, normally distributed within the bounds; 0 for none.
    seed : int
        Of the random numbers.

    Returns
    -------
    Tolerances
        Standard deviations and contributions.

    Raises
    ------
    UsageError
        As of `sensitivity`; if a parameter has no standard deviation.
    """
    parameters = as_parameters(p)
    missing = [name for name in parameters if parameters.part(name).sd is None]
    if missing:
        raise UsageError(
            f"tolerances: {', '.join(map(repr, missing))} have no standard deviation: give mbd.Parameter(value, sd=...)."
        )
    for name, number in (("samples", samples), ("seed", seed)):
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_OF_ALL:
            raise UsageError(f"{name} = {number!r} must be a whole number from 0 to {MOST_OF_ALL}; samples=0 are none.")
    found: Sensitivity = sensitivity(build, parameters, outputs, run=run, **arguments)
    sd = np.array([float(parameters.part(name).sd or 0.0) for name in parameters])
    parts = (found.jacobian * sd) ** 2
    variance = parts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(variance[:, None] > 0.0, parts / variance[:, None], np.where(np.isnan(variance)[:, None], np.nan, 0.0))
    drawn = _sampled(build, parameters, outputs, run, samples, seed, sd, arguments)
    return Tolerances(found.outputs, parameters, found.values, np.sqrt(variance), drawn, shares)


def _sampled(
    build: Any, p: Parameters, outputs: Any, run: str, samples: int, seed: int, sd: Array, arguments: dict[str, Any]
) -> Array:
    """Return outputs (samples, m) of runs with random parameters."""
    rng, (lower, upper) = np.random.default_rng(seed), p.bounds
    (builder, run), names = road_of(build, p, run), names_of(outputs)
    drawn = []
    for _ in range(samples):
        x = np.clip(p.values_array + sd * rng.normal(size=len(p)), lower, upper)
        drawn.append(values_at_end(builder, dict(p.at(x)), names, run, arguments))
    return np.array(drawn).reshape(samples, len(names(dict(p))))
