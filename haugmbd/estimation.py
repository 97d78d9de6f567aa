"""Parameters from data: fits, their standard errors, and what data can tell apart.

    min over p   sum ((z(p, t) - data) / sigma)^2              J = dz/dp exact: Gauss-Newton steps within bounds
    covariance   (J^T J)^-1, with J in standard deviations; without sigma times the mean square of the residuals

Along a null direction of J the fit does not move, and errors are infinite: a step of least norm leaves it as it is given.

Identifiability: the rank of the scaled Jacobian, and the directions along which no output changes.

    J_ij = (p_j / sigma_i) dz_i/dp_j = U S V^T            columns in relative changes of the parameters, rows in standard deviations
    S_k <= RANK_TOL S_1:   the outputs do not change along V_k:  a null direction

Null directions are written with small whole numbers where they have them, else on few parameters, by elimination with pivots, and in
words: "k and m scaled together".
Source: Nocedal and Wright (2006), ch. 10; Stark, Parker (1995), bounded-variable least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import lsq_linear

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import HaugmbdError, UsageError, warn_user
from haugmbd.plotting.style import set_title, stacked_axes
from haugmbd.sensitivity.parameters import Parameters, as_parameters
from haugmbd.sensitivity.sensitivity import Problem, need_times
from haugmbd.simulation.results.study_data import Columns, StudyData, column

RANK_TOL = 1e-7
"""Singular value, relative to the largest, that is zero: derivatives are exact to about 1e-9 of their rows."""
SHARE = 1e-5
"""Part of a null direction, relative to its largest, that is nothing."""
WHOLE = 1e-4
"""Distance of a ratio from a fraction of small numbers at which it is written as one."""
LARGEST_DENOMINATOR = 4
MOST_TOGETHER, MANY = 4, 8
"""Parameters in a direction of small whole numbers, at most, of so many parameters; of more of them two."""


@dataclass(frozen=True)
class NullDirection:
    """Relative changes of parameters that leave all outputs as they are.

    changes: relative change of each parameter, the first of which is 1
    """

    changes: dict[str, float]

    @property
    def text(self) -> str:
        """Return the direction in words."""
        names = list(self.changes)
        if len(names) == 1:
            return f"{names[0]} has no influence"
        values = list(self.changes.values())
        if all(abs(x - 1.0) < WHOLE for x in values):
            return f"{', '.join(names[:-1])} and {names[-1]} scaled together"
        parts = [f"{name} {'+' if x > 0 else '-'}{_ratio(abs(x))} %" for name, x in self.changes.items()]
        return f"{', '.join(parts[:-1])} and {parts[-1]} together"

    def __str__(self) -> str:
        return self.text


def _ratio(x: float) -> str:
    """Return a number, as a fraction of small numbers if it is one."""
    near = Fraction(x).limit_denominator(LARGEST_DENOMINATOR)
    return str(near) if near and abs(float(near) - x) < WHOLE * x else f"{x:.3g}"


def echelon(rows: Array) -> Array:
    """Return the reduced echelon form of independent rows, with the largest pivots: few numbers that are not zero."""
    R = np.array(rows, dtype=np.float64)
    for k in range(len(R)):
        rest = np.abs(R[k:])
        i, j = divmod(int(rest.argmax()), rest.shape[1])
        R[[k, k + i]] = R[[k + i, k]]
        R[k] /= R[k, j]
        for other in range(len(R)):
            if other != k:
                R[other] -= R[other, j] * R[k]
    R[np.abs(R) < SHARE] = 0.0
    return R


def simplest(space: Array) -> Array:
    """Return independent vectors of a space, given by orthonormal rows: those of few small whole numbers first, others in echelon form."""
    n, basis = space.shape[1], np.zeros((0, space.shape[1]))
    for v in _whole_numbers(n, MOST_TOGETHER if n <= MANY else 2):
        if len(basis) == len(space):
            break
        inside = np.linalg.norm(v - space.T @ (space @ v)) <= SHARE * np.linalg.norm(v)
        if inside and np.linalg.matrix_rank(np.vstack([basis, v])) > len(basis):
            basis = np.vstack([basis, v])
    for line in echelon(space):
        if len(basis) < len(space) and np.linalg.matrix_rank(np.vstack([basis, line]), tol=WHOLE) > len(basis):
            basis = np.vstack([basis, line])
    return basis


def _whole_numbers(n: int, most: int) -> Iterator[Array]:
    """Yield vectors (n,) of at most `most` numbers of -2 ... 2 that are not zero, the simplest first."""
    for together in range(1, most + 1):
        for numbers in sorted(product((1, -1, 2, -2), repeat=together), key=lambda x: (sum(map(abs, x)), -sum(x))):
            if numbers[0] < 0 or 1 not in map(abs, numbers):
                continue
            for places in combinations(range(n), together):
                v = np.zeros(n)
                v[list(places)] = numbers
                yield v


@dataclass(frozen=True)
class RankOf:
    """Rank and null space of a scaled Jacobian.

    singular_values: (n,);  null: (n - rank, n) orthonormal
    """

    names: tuple[str, ...]
    singular_values: Array
    null: Array

    @classmethod
    def of(cls, J: Array, names: tuple[str, ...]) -> RankOf:
        """Return those of a Jacobian in relative changes of the parameters, (outputs, n)."""
        n = len(names)
        padded = J if len(J) >= n else np.vstack([J, np.zeros((n - len(J), n))])
        _, s, V = np.linalg.svd(padded, full_matrices=False)
        return cls(names, s, V[s <= RANK_TOL * max(s[0], 1e-300)])

    @property
    def rank(self) -> int:
        """Return the number of directions that the outputs tell."""
        return len(self.names) - len(self.null)

    @property
    def null_directions(self) -> tuple[NullDirection, ...]:
        """Return the directions that change nothing."""
        directions = []
        for line in simplest(self.null) if len(self.null) else ():
            changes = {name: float(x) for name, x in zip(self.names, line, strict=True) if x}
            first = next(iter(changes.values()))
            directions.append(NullDirection({name: x / first for name, x in changes.items()}))
        return tuple(directions)

    def base_parameters(self) -> tuple[str, ...]:
        """Return what the outputs determine: products of powers of the parameters that no null direction changes, near these values."""
        if not len(self.null):
            return self.names
        _, _, V = np.linalg.svd(self.null)
        lines = simplest(V[len(self.null) :]) if self.rank else np.zeros((0, len(self.names)))
        return tuple(_product(self.names, line) for line in lines)


def _product(names: tuple[str, ...], powers: Array) -> str:
    """Return a product of powers as text."""
    above = [_power(name, x) for name, x in zip(names, powers, strict=True) if x > 0.0]
    below = [_power(name, -x) for name, x in zip(names, powers, strict=True) if x < 0.0]
    text = " ".join(above) or "1"
    if not below:
        return text
    return f"{text} / {below[0]}" if len(below) == 1 else f"{text} / ({' '.join(below)})"


def _power(name: str, x: float) -> str:
    power = _ratio(x)
    return name if power == "1" else f"{name}^{power}" if "/" not in power else f"{name}^({power})"


@public_class
@dataclass(frozen=True, eq=False)
class Identifiability(StudyData):
    """What outputs of a run can tell about parameters.

    Attributes
    ----------
    parameters : tuple of str
        Their names.
    rank : int
        Number of independent directions that the outputs tell.
    null_directions : tuple
        Directions that change no output, each with `changes` (relative, by name) and `text`.
    singular_values : ndarray, (n,)
        Those of the Jacobian in relative changes of the parameters, divided by sigma if it is given.
    """

    parameters: tuple[str, ...]
    rank: int
    null_directions: tuple[NullDirection, ...]
    singular_values: Array
    _rank: RankOf

    def _columns(self) -> Columns:
        k = np.arange(1, len(self.singular_values) + 1)
        return {"direction": column(k), "singular_value": column(self.singular_values), "told": column(k <= self.rank)}

    def base_parameters(self) -> tuple[str, ...]:
        """Return what the outputs determine, as products of powers of the parameters: those no null direction changes, near the values."""
        return self._rank.base_parameters()

    def __str__(self) -> str:
        head = f"{self.rank} of {len(self.parameters)} parameters can be told from the outputs: {', '.join(self.base_parameters())}"
        return "\n".join([head, *(f"not told: {direction.text}" for direction in self.null_directions)])

    __repr__ = __str__


def identifiability(
    build: Any, outputs: Any, p: Any, *, run: str = "simulate", t: Any = None, sigma: Any = None, **arguments: Any
) -> Identifiability:
    """Return what outputs can tell about parameters, before there are any data.

    Parameters
    ----------
    build, outputs, p, run, **arguments
        As of `sensitivity`.
    t : array_like, optional
        Times [s] of the outputs; by default all of the run.
    sigma : float or array_like, (outputs,), optional
        Standard deviations of the outputs; by default their sizes.

    Returns
    -------
    Identifiability
        Rank, null directions in words, and base parameters.

    Raises
    ------
    UsageError
        As of `sensitivity`; if an output is not unique.
    """
    problem = Problem(build, p, outputs, run, arguments if t is None else need_times(arguments, run, t))
    over = problem.over_time(problem.p.values_array)
    if not np.isfinite(over.jacobian).all():
        raise UsageError("an output is not unique: it depends on how redundant rows share their load, and tells nothing.")
    size = np.abs(over.values).max(axis=0) if sigma is None else _sigma_of_outputs(sigma, over.values.shape[1])
    J = over.jacobian / np.where(size > 0.0, size, 1.0)[None, :, None] * problem.p.sizes
    rank = RankOf.of(J.reshape(-1, len(problem.p)), problem.p.names)
    return Identifiability(problem.p.names, rank.rank, rank.null_directions, rank.singular_values, rank)


NULL_PART = 1e-3
"""Part of a parameter in a null direction beyond which its error is infinite."""
CONVERGED = 1e-10
"""Relative change of the parameters at which a fit ends."""
REDUCED = 1e-13
"""Relative reduction of the sum of squares, as the Jacobian tells it, at which a fit ends: a step of 3e-7 standard errors."""
ROUNDED = 1e-7
"""Step that reduces a sum of squares less than rounding does, where there is something to gain in exact numbers."""
ROUGH = 1e-3
"""Step, relative to the parameters, that leads to a point where the Jacobian is exact: before, one to 1e-4 is enough."""
FIRST_STEP = 1.0
"""Relative change of a parameter in the first step, at most."""
LEAST_GAIN, POOR_GAIN, GOOD_GAIN = 1e-4, 0.25, 0.75
"""Reduction, relative to what the Jacobian tells: of a step that is taken, of one that was too long, and of one that may be longer."""
POSITIVE = 1e-6
"""Distance, relative to a parameter, from the value at which a mass would be zero."""
MOST = 60
"""Steps of a fit, at most."""


@public_class
@dataclass(frozen=True, eq=False)
class Fit(StudyData):
    """Parameters that fit data.

    Attributes
    ----------
    p : Parameters
        The fitted values, with their bounds.
    values : dict of str to float
        The same by name.
    standard_errors : dict of str to float
        Their standard errors; infinite along null directions.
    correlation : ndarray, (n, n)
        Correlations of the errors; NaN for parameters that the data do not tell.
    rank : int
        Number of directions that the data tell.
    null_directions : tuple
        Directions that change no datum, each with `changes` and `text`: "k and m scaled together".
    residuals : dict of str to ndarray
        Values minus data, by output.
    t : ndarray, (nt,)
        Times [s].
    sum_of_squares : float
        That of residuals divided by sigma, or of the residuals.
    runs : float
        Cost of the fit: its CPU time in runs.
    success : bool
        Whether the fit converged.
    message : str
        Why it ended.
    at_bounds : tuple of str
        Parameters that ended at a bound.
    """

    p: Parameters
    standard_errors: dict[str, float]
    correlation: Array
    rank: int
    null_directions: tuple[NullDirection, ...]
    residuals: dict[str, Array]
    t: Array
    sum_of_squares: float
    runs: float
    evaluations: int
    success: bool
    message: str
    at_bounds: tuple[str, ...]

    def _columns(self) -> Columns:
        names = list(self.p)
        errors = [self.standard_errors[name] for name in names]
        found = {"parameter": column(names), "value": column(self.p.values_array), "standard_error": column(errors)}
        return found | {"at_bound": column([name in self.at_bounds for name in names])}

    @property
    def values(self) -> dict[str, float]:
        """Return the fitted values by name."""
        return dict(self.p)

    def __str__(self) -> str:
        lines = []
        for name, value in self.p.items():
            lines.append(f"{name} = {value:.6g} +- {self.standard_errors[name]:.2g} {self.p.part(name).unit}".rstrip())
        lines += [f"not told by the data: {direction.text}" for direction in self.null_directions]
        return "\n".join([*lines, f"{self.message}; {self.evaluations} evaluations, {self.runs:.1f} runs"])

    __repr__ = __str__

    def plot(self) -> Any:
        """Draw the residuals over time; return the Matplotlib figure."""
        figure, axes = stacked_axes(len(self.residuals))
        for (name, values), ax in zip(self.residuals.items(), axes, strict=True):
            ax.plot(self.t, values, ".")
            ax.set_ylabel("residual")
            set_title(ax, name)
        axes[-1].set_xlabel("t [s]")
        return figure


def fit(build: Any, data: Any, p: Any, *, t: Any, sigma: Any = None, run: str = "simulate", **arguments: Any) -> Fit:
    """Return the parameters that fit data best in the sense of least squares.

    Parameters
    ----------
    build : callable or System
        As of `sensitivity`.
    data : mapping of str to array_like, (nt,)
        Measured or wanted values by the names of outputs; NaN where there is none. A name may be a function of the parameters that
        returns it: a point may move with them.
    p : Parameters or mapping
        Start, with bounds. Masses stay positive.
    t : array_like, (nt,)
        Times of the data [s].
    sigma : float or mapping of str to float, optional
        Standard deviation of the data; by default estimated from the residuals.
    run : {"simulate", "kinematics", "inverse_dynamics"}
        What is fitted.
    **arguments
        Those of that function; `t_end` is the last time.

    Returns
    -------
    Fit
        Values, errors, rank and null directions.

    Raises
    ------
    UsageError
        As of `sensitivity`; if data, times and sigma do not fit together.

    Warns
    -----
    UserWarning
        If the fit did not converge, or the data do not tell parameters apart.
    """
    parameters = as_parameters(p)
    given = need_times(arguments, run, t)
    names, wanted = _read_data(data, t)
    outputs: Any = (
        (lambda **values: [key(**values) if callable(key) else key for key in names]) if any(map(callable, names)) else names
    )
    problem = Problem(build, parameters, outputs, run, given, goes_on=True)
    scale = _read_sigma(sigma, names)
    here = np.isfinite(wanted)
    sizes = problem.p.sizes

    def residuals(x: Array, size: float) -> Array:
        try:
            over = problem.over_time(x * sizes, is_rough=size > ROUGH)
        except HaugmbdError:  # a mechanism that does not exist: the step is made shorter
            if not problem.evaluations:
                raise
            return np.full(int(here.sum()), np.nan)
        residual: Array = ((over.values - wanted) / scale)[here]
        return residual

    def jacobian(x: Array, size: float) -> Array:
        over = problem.over_time(x * sizes, is_rough=size > ROUGH)
        if not np.isfinite(over.jacobian).all():
            raise UsageError("an output of the data is not unique: it depends on how redundant rows share their load.")
        in_sizes: Array = (over.jacobian / scale[..., None])[here] * sizes
        return in_sizes

    lower, upper = _bounds(problem)
    start = np.clip(problem.p.values_array / sizes, lower, upper)
    found = least_squares(residuals, jacobian, start, lower, upper)
    return _fitted(problem, names, found, sigma, wanted, np.atleast_1d(np.asarray(t, dtype=np.float64)))


class LeastSquares(NamedTuple):
    """What a search found: x (n,), residuals there and their Jacobian, whether it converged, and which bounds hold, (n,)."""

    x: Array
    r: Array
    J: Array
    success: bool
    at_bounds: npt.NDArray[np.bool_]


def least_squares(
    residuals: Callable[[Array, float], Array], jacobian: Callable[[Array, float], Array], x: Array, lower: Array, upper: Array
) -> LeastSquares:
    """Return x within bounds that makes the sum of squares of residuals least, by Gauss-Newton steps in a box that shrinks and grows.

    A step of least norm leaves x as it is along directions that nothing tells.  Residuals that are not finite reject a step.
    Both functions are told the step that led to x: far from the end, a Jacobian need not be exact.
    """
    r, J, far, came = residuals(x, np.inf), jacobian(x, np.inf), FIRST_STEP, np.inf
    for _ in range(MOST):
        step = _step(J, r, np.maximum(lower - x, -far), np.minimum(upper - x, far))
        squares, left = float(r @ r), r + J @ step
        size, predicted = float(np.abs(step).max()), squares - float(left @ left)
        if size <= CONVERGED or predicted <= REDUCED * squares:
            if came > ROUGH:  # the end is told by an exact Jacobian
                J, came = jacobian(x, 0.0), 0.0
                continue
            return LeastSquares(x, r, J, success=True, at_bounds=(x <= lower) | (x >= upper))
        trial = np.clip(x + step, lower, upper)
        there = residuals(trial, size)
        gain = (squares - float(there @ there)) / predicted if np.isfinite(there).all() else -1.0
        if gain > LEAST_GAIN:
            x, r, J, came = trial, there, jacobian(trial, size), size
            far = 2.0 * far if gain > GOOD_GAIN and size > 0.5 * far else far if gain > POOR_GAIN else 0.5 * size
        elif size <= ROUNDED and np.isfinite(there).all():  # the sum of squares is rounding: nothing is left to gain
            return LeastSquares(x, r, J, success=True, at_bounds=(x <= lower) | (x >= upper))
        else:
            far = 0.25 * size
    return LeastSquares(x, r, J, success=False, at_bounds=(x <= lower) | (x >= upper))


def _step(J: Array, r: Array, low: Array, high: Array) -> Array:
    """Return the step (n,) within low and high that makes |r + J step| least: of least norm, where it is not held by them."""
    free = np.asarray(np.linalg.lstsq(J, -r, rcond=RANK_TOL)[0], dtype=np.float64)
    if ((low <= free) & (free <= high)).all():
        return free
    held = high - low <= 0.0
    bounded, mu = np.zeros(len(low)), RANK_TOL * float(np.linalg.norm(J, 2))
    if not held.all() and mu > 0.0:
        rows = np.vstack([J[:, ~held], mu * np.eye(int((~held).sum()))])  # a step along what nothing tells is no step
        bounded[~held] = lsq_linear(rows, -np.append(r, np.zeros(int((~held).sum()))), (low[~held], high[~held]), "bvls").x
    return bounded


def _fitted(problem: Problem, names: list[Any], solution: LeastSquares, sigma: Any, wanted: Array, t: Array) -> Fit:
    """Return the fit of what least squares found."""
    p = problem.p.at(solution.x * problem.p.sizes)
    J = solution.J * (p.sizes / problem.p.sizes)  # in relative changes of the fitted values
    rank = RankOf.of(J, p.names)
    n_data, n = solution.J.shape
    squares = float(solution.r @ solution.r)
    variance = 1.0 if sigma is not None else squares / max(n_data - rank.rank, 1)
    errors, correlation = _errors(J, rank, variance)
    over = problem.over_time(solution.x * problem.p.sizes)
    residuals = {str(key(**dict(p)) if callable(key) else key): over.values[:, k] - wanted[:, k] for k, key in enumerate(names)}
    success = solution.success
    at_bounds = tuple(name for name, active in zip(p.names, solution.at_bounds, strict=True) if active)
    result = Fit(
        p,
        dict(zip(p.names, (errors * p.sizes).tolist(), strict=True)),
        correlation,
        rank.rank,
        rank.null_directions,
        residuals,
        t,
        squares,
        problem.runs,
        problem.evaluations,
        success,
        "converged" if success else f"not converged after {problem.evaluations} evaluations",
        at_bounds,
    )
    if not success:
        warn_user(f"fit: {result.message}; the values are the best so far, and no minimum.")
    if rank.rank < n:
        warn_user(f"fit: the data do not tell {'; '.join(d.text for d in rank.null_directions)}.")
    return result


def _errors(J: Array, rank: RankOf, variance: float) -> tuple[Array, Array]:
    """Return relative standard errors (n,) and their correlations (n, n);  J: in relative changes"""
    _, s, V = np.linalg.svd(J, full_matrices=False)
    told = s > 0.0
    told[rank.rank :] = False
    covariance = (V[told].T / s[told] ** 2) @ V[told] * variance
    errors = np.sqrt(np.diag(covariance))
    lost = np.abs(rank.null).max(axis=0, initial=0.0) > NULL_PART
    safe = np.where(errors > 0.0, errors, 1.0)
    correlation = covariance / np.outer(safe, safe)
    errors[lost] = np.inf
    correlation[lost] = correlation[:, lost] = np.nan
    return errors, correlation


def _read_data(data: Any, t: Any) -> tuple[list[Any], Array]:
    """Return the names, and the data (nt, m)."""
    if not isinstance(data, Mapping) or not data:
        raise UsageError(f"data = {data!r:.60} must be a dict of values at the times t by names of outputs.")
    number = len(np.atleast_1d(np.asarray(t)))
    columns = []
    for name, values in data.items():
        try:
            column = np.atleast_1d(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError):
            raise UsageError(f"data of {name!r} are {values!r:.60}, and must be numbers, NaN where there is none.") from None
        if column.shape != (number,):
            raise UsageError(f"data of {name!r} have shape {column.shape}, and t has {number} times: give one value for each time.")
        if np.isinf(column).any():
            raise UsageError(f"data of {name!r} have infinite values: give NaN where there is none.")
        columns.append(column)
    wanted = np.array(columns).T
    if np.isnan(wanted).all():
        raise UsageError("data have no value: all are NaN.")
    return list(data), wanted


def _read_sigma(sigma: Any, names: list[Any]) -> Array:
    """Return the standard deviation of each output, (1, m)."""
    entries = [sigma.get(name) for name in names] if isinstance(sigma, Mapping) else [1.0 if sigma is None else sigma] * len(names)
    try:
        values = np.array(entries, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(len(names), np.nan)
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise UsageError(f"sigma = {sigma!r:.60} must be a positive number, or one for each name of the data.")
    return values[None]


def _sigma_of_outputs(sigma: Any, number: int) -> Array:
    """Return standard deviations of outputs, (m,)."""
    try:
        sigmas = np.asarray(sigma, dtype=np.float64)
    except (TypeError, ValueError):
        sigmas = np.full(1, np.nan)
    if sigmas.shape not in ((), (number,)) or not (np.isfinite(sigmas) & (sigmas > 0.0)).all():
        raise UsageError(f"sigma = {sigma!r:.60} must be a positive number, or one for each of {number} outputs.")
    return np.broadcast_to(sigmas, (number,))


def _bounds(problem: Problem) -> tuple[Array, Array]:
    """Return the bounds of the relative values: the given ones, and such that masses stay positive to first order."""
    lower, upper = (x / problem.p.sizes for x in problem.p.bounds)
    design = problem.sensitivity(problem.p.values_array, is_rough=True).design
    masses = design.model.mass[1:]
    for k, name in enumerate(problem.p.names):
        slope = design.mass_slopes(name)[1:] * problem.p.sizes[k]
        x = problem.p.values_array[k] / problem.p.sizes[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = x - masses / slope
        lower[k] = max(lower[k], *(ends[slope > 0.0] + POSITIVE), -np.inf)
        upper[k] = min(upper[k], *(ends[slope < 0.0] - POSITIVE), np.inf)
    return lower, upper
