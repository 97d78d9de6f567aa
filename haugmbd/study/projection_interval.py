r"""projection_interval: what is lost if the constraints are projected at every n-th step only.

    m = n - 1 steps without projection:    |Phi_q u - nu| ~ m,    |Phi| ~ m^2        for small m, with explicit methods

The violation is the largest of all steps, between projections, too.  Of n = 1 it is what the projection leaves.
Source: Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import UsageError
from haugmbd.formulations import Formulation
from haugmbd.integrators import RK4, Projection
from haugmbd.integrators.base import Integrator
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.plotting.style import axes, set_title, side_legend
from haugmbd.simulation.arguments import check_numbers, need_no_stops
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION
from haugmbd.study.error_groups import GROUPS, Outputs, check_groups
from haugmbd.study.method import Method
from haugmbd.study.order_fit import slope_of
from haugmbd.study.settings import Point, Setting, SharedRun, given_reference, other_arguments
from haugmbd.study.signal import PER_TIME, violation_signal
from haugmbd.system.system import System
from haugmbd.text_table import table_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT = RK4()
LEVELS = ("position", "velocity")
SYMBOLS = {"position": r"$|\Phi|$", "velocity": r"$|\Phi_q u - \nu|$"}
LOOKS = {"position": ("o-", "black"), "velocity": ("s--", "#D55E00")}


@dataclass(frozen=True, eq=False)
class ProjectionInterval(StudyData):
    """Violation, errors and cost over the number of steps from projection to projection.

    Attributes
    ----------
    every : ndarray of int, (n,)
        Steps from projection to projection.
    violation : dict of str to ndarray, (n,)
        By level, "position" and "velocity": the largest violation of all steps; NaN where a run failed.
    without : dict of str to float
        By level: the largest violation without projection.
    errors : dict of str to ndarray, (n,)
        Largest errors by group against the reference.
    energy_drift : ndarray, (n,)
        Largest change of the total energy, with all work [J].
    factorizations, projections : ndarray, (n,)
        Counters.
    cpu : ndarray, (n,)
        CPU time [s].
    reasons : dict of int to str
        Why runs failed, by `every`.
    h : float
        Step [s].
    quantities : dict of str to str
        What the violation of each level is, with its unit.
    model_name : str
        Name of the model.
    """

    every: npt.NDArray[np.int64]
    violation: dict[str, Array]
    without: dict[str, float]
    errors: dict[str, Array]
    energy_drift: Array
    factorizations: Array
    projections: Array
    cpu: Array
    reasons: dict[int, str]
    h: float
    quantities: dict[str, str]
    model_name: str

    def slope(self, level: str = "position") -> tuple[float, float]:
        """Return the exponent of the violation over the steps without projection, `every - 1`, and its 95 % confidence.

        Parameters
        ----------
        level : {"position", "velocity"}
            Level of the constraints.

        Returns
        -------
        tuple of float
            Exponent and half-width of its confidence interval; NaN for fewer than three runs with `every` > 1.

        Raises
        ------
        UsageError
            If the level is unknown.
        """
        if not is_one_of(level, LEVELS):
            raise UsageError(f"no level {level!r}: 'position' or 'velocity'{did_you_mean(str(level), LEVELS)}.")
        y = self.violation[level]
        counts = (self.every > 1) & np.isfinite(y) & (y > 0.0)
        return slope_of(np.asarray(self.every[counts] - 1.0, dtype=np.float64), y[counts])

    _grid = ("every",)

    def _columns(self) -> Columns:
        columns = {"every": column(self.every)} | {f"violation_{level}": column(x) for level, x in self.violation.items()}
        columns |= {f"error_{group}": column(x) for group, x in self.errors.items()}
        columns |= {name: column(getattr(self, name)) for name in ("energy_drift", "factorizations", "projections", "cpu")}
        return columns | {"reason": column([self.reasons.get(int(n), "") for n in self.every])}

    def __str__(self) -> str:
        """Return a table: violations, energy drift, errors and cost."""
        head = ["every", *LEVELS, "energy drift [J]", *self.errors, "factorizations", "cpu [s]"]
        rows = [
            [
                str(n),
                *(f"{self.violation[level][k]:.1e}" for level in LEVELS),
                f"{self.energy_drift[k]:.1e}",
                *(f"{values[k]:.1e}" for values in self.errors.values()),
                f"{self.factorizations[k]:.0f}",
                f"{self.cpu[k]:.2e}",
            ]
            for k, n in enumerate(self.every)
        ]
        last = f"without projection: {', '.join(f'{level} {self.without[level]:.1e}' for level in LEVELS)}"
        return "\n".join([*table_lines(head, rows, right=range(len(head))), last])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the violation at both levels over the interval, on logarithmic axes; dotted: without projection.

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
        for level, (look, color) in LOOKS.items():
            shown = np.isfinite(self.violation[level]) & (self.violation[level] > 0.0)
            label = f"{SYMBOLS[level]} {self.quantities[level]}"
            ax.loglog(self.every[shown], self.violation[level][shown], look, color=color, markersize=5, label=label)
            if np.isfinite(self.without[level]) and self.without[level] > 0.0:
                ax.axhline(
                    self.without[level], color=color, linestyle=":", linewidth=1.4, label=f"{SYMBOLS[level]} without projection"
                )
        ax.set_xticks(self.every, [str(n) for n in self.every])
        ax.minorticks_off()
        set_title(ax, f"{self.model_name}: violation over the interval of projection, h = {self.h:g} s")
        ax.set_xlabel("steps from projection to projection")
        ax.set_ylabel("largest violation")
        side_legend(ax)
        return ax


@check_keywords
def projection_interval(
    system: System | Model,
    *,
    every: npt.ArrayLike,
    h: float,
    t_end: float,
    integrator: Integrator = DEFAULT,
    stabilization: Projection = PROJECTION,
    formulation: Formulation = NEWTON_EULER,
    reference: Method | Result | None = None,
    groups: Iterable[str] = GROUPS,
    outputs: Outputs | None = None,
    state: State | None = None,
    project_velocity: bool = False,
    progress: bool = False,
) -> ProjectionInterval:
    """Return violation, errors and cost if the constraints are projected at every n-th step only.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    every : array_like of int, (n,)
        Steps from projection to projection.
    h : float
        Step [s].
    t_end : float
        Final time [s].
    integrator : Integrator
        A method of fixed step, without its step.
    stabilization : Projection or UnweightedProjection
        The projection; its `every` is replaced.
    formulation : Formulation
        Algorithm for the accelerations.
    reference : Method or Result, optional
        What errors are measured against, see `compare`; by default DOP853 with rtol = 1e-12.
    groups : iterable of str
        Groups of errors; by default all.
    outputs : dict of str to callable, optional
        By name: functions of a Result whose errors are measured as well.
    state : State, optional
        Initial state; by default the modelled one.
    project_velocity : bool
        If True, project inconsistent initial velocities on the velocity constraints.
    progress : bool
        If True, show a progress bar. Runs that Ctrl-C ends or prevents are points without errors, and the others are returned.

    Returns
    -------
    ProjectionInterval
        `.violation`, `.errors`, `.factorizations`, `.slope(level)`, and `.plot()`. Print it for a table.

    Raises
    ------
    UsageError
        If an argument is not valid, or no reference is possible.
    ModelError
        If the system has faults.

    Notes
    -----
    Source: Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482 (coordinate projection).
    """
    check_numbers(None, t_end=t_end, h=h)
    wanted, counts = check_groups(groups, outputs), _checked(every, stabilization)
    model = model_given(system, "projection_interval")
    need_no_stops(model, "projection_interval")
    if not integrator.takes_step:
        raise UsageError(f"projection_interval needs a method of fixed step, such as RK4(): {type(integrator).__name__} has none.")
    method = integrator.with_arguments(h, None, None)
    rules = [*(replace(stabilization, every=int(n)) for n in counts), None]
    settings = [
        Setting("every", float(n), Method(formulation=formulation, integrator=method, stabilization=rule))
        for n, rule in zip([*counts, 0], rules, strict=True)
    ]
    study = SharedRun(
        model,
        float(t_end),
        wanted,
        outputs,
        given_reference(reference),
        None,
        1,
        other_arguments(state, project_velocity),
        progress,
    )
    *points, without = study.run(settings)[0]
    results = [point.cell.result if point.errors is not None else None for point in points]
    counters = [(r.counters.factorizations, r.counters.projections) if r is not None else (np.nan, np.nan) for r in results]
    return ProjectionInterval(
        counts,
        {level: np.array([_violation(point, level) for point in points]) for level in LEVELS},
        {level: _violation(without, level) for level in LEVELS},
        {group: np.array([point.error(group, "max") for point in points]) for group in (*wanted, *(outputs or {}))},
        np.array([float(np.abs(r.energy().drift).max()) if r is not None else np.nan for r in results]),
        np.array([float(n) for n, _ in counters]),
        np.array([float(n) for _, n in counters]),
        np.array([point.cell.cpu for point in points]),
        {int(point.setting.value): point.cell.reason for point in points if point.errors is None},
        float(h),
        _quantities(model),
        model.name,
    )


def _quantities(model: Model) -> dict[str, str]:
    """Return the unit of the violation at each level."""
    unit = model.labels[0].unit if len(model.labels) == 1 else "1"
    return {level: f"[{unit}{PER_TIME[level]}]" for level in LEVELS}


def _violation(point: Point, level: str) -> float:
    """Return the largest violation of a run; NaN if it failed."""
    if point.errors is None or point.cell.result is None:
        return float("nan")
    return float(np.abs(violation_signal(point.cell.result, level).y).max())  # type: ignore[arg-type]


def _checked(every: npt.ArrayLike, stabilization: Projection) -> npt.NDArray[np.int64]:
    """Return the intervals, each once, from the smallest on.  Raise UsageError for others, and for what is no projection."""
    if not isinstance(stabilization, Projection):
        raise UsageError(
            f"projection_interval: stabilization = {stabilization!r} must be Projection(...) or UnweightedProjection(...)."
        )
    values = np.unique(np.atleast_1d(np.asarray(every)))
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "iu" or values[0] < 1:
        raise UsageError(
            f"projection_interval: every = {every!r} must be whole numbers of steps, 1 or more, such as [1, 2, 5, 10]."
        )
    return values.astype(np.int64)
