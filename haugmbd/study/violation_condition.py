"""violation_condition: how fast the violation grows against the condition of the constraints, near a singular pose.

    growth = | Phi'_k+1 - Phi'_k | / (t_k+1 - t_k)  ~  condition^slope          condition = sigma_max / sigma_min of the scaled Phi_q

Accelerations and multipliers that follow from Phi_q u_dot = gamma grow with the condition, and with them the error of a step, which is
what the constraints are violated by between two states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.violation import Level
from haugmbd.errors import UsageError
from haugmbd.plotting.style import axes, set_title, side_legend
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.signal import PER_TIME, SYMBOL, need_result, rows_of, scaled_norm, signal_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from haugmbd.compiled.array_types import Ints
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State

SAMPLES = 400
"""States at which the condition is computed, at most."""
VARIES = 2.0
"""Ratio of the largest to the smallest condition below which no slope is fitted."""


@dataclass(frozen=True)
class ViolationCondition(StudyData):
    """Violation and condition of the constraints over time.

    Attributes
    ----------
    t : ndarray, (n,)
        Times [s].
    growth : ndarray, (n,)
        Norm of the change of the violation between neighbouring states, per second; the largest since the time before.
    condition : ndarray, (n,)
        Condition number of the scaled Jacobian; inf at a singular pose.
    smallest_singular_value : ndarray, (n,)
        Distance of the scaled Jacobian from a singular one.
    slope, slope_error : float
        Exponent of the growth over the condition and its standard error; NaN where the condition hardly varies.
    nearest : float
        Time of the largest condition [s].
    quantity : str
        What grows, with its unit.
    model_name : str
        Name of the model.
    """

    t: Array
    growth: Array
    condition: Array
    smallest_singular_value: Array
    slope: float
    slope_error: float
    nearest: float
    quantity: str
    model_name: str

    def _columns(self) -> Columns:
        return {name: column(getattr(self, name)) for name in ("t", "growth", "condition", "smallest_singular_value")}

    def __str__(self) -> str:
        """Return the largest condition, when, and the slope."""
        k = int(self.condition.argmax())
        text = f"{self.model_name}: condition {self.condition.min():.3g} to {self.condition[k]:.3g}, largest at t = {self.nearest:.6g} s"
        if np.isnan(self.slope):
            return f"{text}; it varies too little for a slope"
        return f"{text}; {self.quantity} ~ condition^({self.slope:.2f} +- {self.slope_error:.1g})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot violation over condition, both on logarithmic axes, before and after the nearest approach.

        Parameters
        ----------
        ax : Axes, optional
            Axes of the plot; by default new ones.

        Returns
        -------
        Axes
            The Axes.
        """
        ax = axes(ax)
        shown = np.isfinite(self.condition) & (self.growth > 0.0)
        before = self.t <= self.nearest
        for part, marker, color, label in ((before, "o-", "black", "before"), (~before, "x-", "0.55", "after")):
            at = shown & part
            ax.loglog(
                self.condition[at],
                self.growth[at],
                marker,
                color=color,
                markersize=4,
                linewidth=0.6,
                label=f"{label} t = {self.nearest:.4g} s",
            )
        if not np.isnan(self.slope):
            x = np.array([self.condition[shown].min(), self.condition[shown].max()])
            middle = np.exp(np.mean(np.log(self.growth[shown])) - self.slope * np.mean(np.log(self.condition[shown])))
            ax.loglog(x, middle * x**self.slope, "k--", linewidth=1.2, label=f"slope {self.slope:.2f}")
        set_title(ax, f"{self.model_name}: violation and condition of the constraints")
        ax.set_xlabel("condition of the scaled $\\Phi_q$")
        ax.set_ylabel(self.quantity)
        side_legend(ax)
        return ax


@check_keywords
def violation_condition(result: Result, *, level: Level = "velocity", samples: int = SAMPLES) -> ViolationCondition:
    """Return how fast the violation grows, and the condition of the constraints, over time.

    Parameters
    ----------
    result : Result
        The result of a run without projection: `stabilization=None`, or Baumgarte.
    level : {"velocity", "position", "acceleration"}
        Level of the constraints whose violation is examined. The error of a step appears at the velocity level first.
    samples : int
        Number of states at which the condition is computed, at most; the time of the worst growth between them is kept.

    Returns
    -------
    ViolationCondition
        `.growth`, `.condition`, `.slope`, `.nearest`, and `.plot()`.

    Raises
    ------
    UsageError
        If the result has fewer than three states or no constraints, or if an argument is not valid.

    Notes
    -----
    The condition is that of the independent rows of Phi_q, each of length 1, with rotations measured by the length of the model.
    Source: Golub and Van Loan, Matrix Computations, sec. 2.4.
    """
    need_result(result, "violation_condition", 3)
    signal_name(result.model, level)
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 2:
        raise UsageError(f"samples = {samples!r} must be a whole number, 2 or more.")
    rows = rows_of(result, level)
    step = np.diff(result.t)
    moved = step > 0.0
    change = np.nan_to_num(scaled_norm(result, np.diff(rows, axis=0)[moved]) / step[moved])
    ends = np.flatnonzero(moved) + 1
    edges = np.unique(np.rint(np.linspace(0, len(ends), min(samples, len(ends)) + 1)).astype(int))
    at = np.array([a + int(np.argmax(change[a:b])) for a, b in zip(edges[:-1], edges[1:], strict=True)])
    least, condition = smallest_and_condition(result.model, [result.state(int(k)) for k in ends[at]])
    slope, error = _slope(condition, change[at])
    t, unit = result.t[ends[at]], "1" + PER_TIME[level]
    unit = {"1": "1/s", "1/s": "1/s2", "1/s2": "1/s3"}[unit]
    quantity = f"growth of |{SYMBOL[level]}| [{unit}]"
    return ViolationCondition(
        t, change[at], condition, least, slope, error, float(t[int(condition.argmax())]), quantity, result.model.name
    )


def _slope(condition: Array, growth: Array) -> tuple[float, float]:
    """Return the slope of log growth over log condition, and its standard error; NaN where the condition hardly varies."""
    known = np.isfinite(condition) & (growth > 0.0)
    x, y = np.log(condition[known]), np.log(growth[known])
    if len(x) < 3 or np.ptp(x) < np.log(VARIES):
        return float("nan"), float("nan")
    dx = x - x.mean()
    slope = float(dx @ y / (dx @ dx))
    residual = y - y.mean() - slope * dx
    return slope, float(np.sqrt((residual @ residual) / (len(x) - 2) / (dx @ dx)))


# The condition of the constraints at a pose: how far Phi_q is from losing rank.
#
#     J = D Phi_q W^-1         D: rows of length 1;  W: columns of rotations times the length L of the model
#     condition = sigma_max / sigma_min        over the rows that are independent at a general pose
#
# sigma_min is the distance from the next pose-like matrix of smaller rank; at a singular pose it is zero.
#
# Of many rows both follow from the extreme eigenvalues of J J^T, by Lanczos' method with its sparse factor: an error of rounding times
# condition^2, which is why the decomposition of the full matrix decides near a singular pose.
# Source: Golub and Van Loan, Matrix Computations, sec. 2.4 and 10.1.


def independent_rows(model: Model) -> Ints:
    """Return the numbers of the rows that do not depend on others at every pose."""
    redundancy = model.redundancy
    always = set(redundancy.dropped) - set(redundancy.only_here)
    return np.array([k for k in range(redundancy.n_rows) if k not in always], dtype=np.int64)


DENSE = 300
"""Largest number of rows that are decomposed as a full matrix: its time grows with their cube, 4 s for 2000."""
WELL = 1e-5
"""sigma_min over sigma_max down to which eigenvalues of J J^T give it, to 1e-6 of its size."""
TOL = 1e-6
"""Residual of Lanczos' method, relative; the errors of eigenvalues are about its square."""


def singular_values(rows: Rows, kept: Ints) -> Array:
    """Return the singular values of the scaled rows, from the largest on."""
    J = rows.Phi_q.toarray()[kept]
    J.reshape(len(kept), rows.nb, 6)[:, :, 3:] /= rows.model.length
    size = np.linalg.norm(J, axis=1, keepdims=True)
    found: Array = np.linalg.svd(J / np.where(size > 0.0, size, 1.0), compute_uv=False)
    return found


def extreme_singular_values(rows: Rows, kept: Ints) -> tuple[float, float]:
    """Return the largest and the smallest singular value of the scaled rows."""
    extremes = _sparse_extremes(rows, kept) if len(kept) > DENSE else None
    if extremes is None or extremes[1] <= WELL * extremes[0]:
        sigma = singular_values(rows, kept)
        return float(sigma[0]), float(sigma[-1])
    return extremes


def _sparse_extremes(rows: Rows, kept: Ints) -> tuple[float, float] | None:
    """Return both singular values by Lanczos' method; None where it does not converge, or a row vanishes or depends on others."""
    from scipy.sparse import diags  # noqa: PLC0415  only for many rows
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu  # noqa: PLC0415

    J = rows.Phi_q.tocsr()[kept] @ diags(np.tile(np.repeat([1.0, 1.0 / rows.model.length], 3), rows.nb))
    size = np.sqrt(np.asarray(J.multiply(J).sum(axis=1)).ravel())
    if not (size > 0.0).all():
        return None
    J = diags(1.0 / size) @ J
    A = (J @ J.T).tocsc()
    start = np.random.default_rng(0).normal(size=len(kept))  # the same result each time
    try:
        factor = splu(A, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        pivots = np.abs(factor.U.diagonal())
        if not pivots.min() > WELL**2 * pivots.max():
            return None
        inverse = LinearOperator(A.shape, matvec=factor.solve, dtype=np.float64)
        largest, least = (eigsh(one, k=1, which="LM", tol=TOL, v0=start, return_eigenvectors=False)[0] for one in (A, inverse))
    except (ArpackError, RuntimeError):
        return None
    return (float(np.sqrt(largest)), float(1.0 / np.sqrt(least))) if least > 0.0 else None


def smallest_and_condition(model: Model, states: list[State]) -> tuple[Array, Array]:
    """Return the smallest singular value and the condition number at each state; inf where a row vanishes or depends on others."""
    kept = independent_rows(model)
    least, condition = np.empty(len(states)), np.empty(len(states))
    for k, state in enumerate(states):
        largest, least[k] = extreme_singular_values(evaluate(model, state), kept)
        condition[k] = largest / least[k] if least[k] > 0.0 else np.inf
    return least, condition
