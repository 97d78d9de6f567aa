r"""tolerance_map: what the relative and the absolute tolerance do to errors, violations and costs.

    every rtol with every atol:   largest error of each group,  violation at position and velocity level,  steps, evaluations, CPU time

Source: Hairer, Norsett and Wanner, Solving ODE I, sec. II.4 (error control by a mixed tolerance).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import UsageError
from haugmbd.integrators import DormandPrince
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.plotting.heat_map import cell_borders, draw_cells
from haugmbd.plotting.style import axes, set_title
from haugmbd.simulation.arguments import check_budget, check_numbers, need_no_stops
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.error_groups import GROUPS, Outputs, check_groups
from haugmbd.study.method import Method
from haugmbd.study.settings import (
    Point,
    Setting,
    SharedRun,
    given_reference,
    other_arguments,
    positive_numbers,
)
from haugmbd.study.signal import scaled_norm
from haugmbd.study.work_precision import takes_tolerances
from haugmbd.system.system import System
from haugmbd.text_table import table_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT = Method(integrator=DormandPrince())
COUNTS = ("steps", "rejected", "evaluations")
LEVELS = ("position", "velocity")
WORDS = {
    "violation_position": r"largest $|\Phi|$ [1]",
    "violation_velocity": r"largest $|\Phi_q u - \nu|$ [1/s]",
    "steps": "steps",
    "rejected": "rejected steps",
    "evaluations": "evaluations",
    "cpu": "CPU time [s]",
}
"""What is drawn, in words, besides errors."""


@dataclass(frozen=True, eq=False)
class ToleranceMap(StudyData):
    """Errors, violations and costs over both tolerances.

    Attributes
    ----------
    rtol, atol : ndarray, (n,) and (m,)
        Relative and absolute tolerances, from the largest on.
    values : dict of str to ndarray, (n, m)
        By name: the error at the end of each group or output; "violation_position", "violation_velocity" with lengths in units of that of
        the model; "steps", "rejected", "evaluations", "cpu" [s]. NaN where a run did not reach the end.
    uncertainty : dict of str to (float, float)
        Uncertainty of the reference by group: at the end, and the largest; empty if it is unknown.
    reasons : dict of (int, int) to str
        Why runs did not reach the end, by index.
    label, model_name : str
        Name of the method, and of the model.
    """

    rtol: Array
    atol: Array
    values: dict[str, Array]
    uncertainty: dict[str, tuple[float, float]]
    reasons: dict[tuple[int, int], str]
    label: str
    model_name: str

    def __getitem__(self, name: str) -> Array:
        """Return the values of a name, (n, m); raise UsageError, with all names, if there is none."""
        if name not in self.values:
            raise UsageError(f"no values {name!r}: {', '.join(self.values)}{did_you_mean(str(name), self.values)}.")
        return self.values[name]

    _grid = ("rtol", "atol")

    def _columns(self) -> Columns:
        rtol, atol = np.meshgrid(self.rtol, self.atol, indexing="ij")
        columns = {"rtol": column(rtol.ravel()), "atol": column(atol.ravel())} | {
            n: column(x.ravel()) for n, x in self.values.items()
        }
        return columns | {"reason": column([self.reasons.get(place, "") for place in np.ndindex(rtol.shape)])}

    def __str__(self) -> str:
        """Return a table of the errors in positions, or in the first group, and the steps."""
        name = next(iter(self.values))
        head = ["rtol", *(f"atol {x:.0e}" for x in self.atol)]
        rows = [
            [f"{x:.0e}", *(f"{self.values[name][i, j]:.1e} ({self.values['steps'][i, j]:.0f})" for j in range(len(self.atol)))]
            for i, x in enumerate(self.rtol)
        ]
        title = f"{self.model_name}, {self.label}: {name}, and steps in brackets"
        return "\n".join([title, *table_lines(head, rows, right=range(len(head)))])

    def plot(self, name: str = "positions", *, ax: Axes | None = None) -> Axes:
        """Draw one of the values as color over both tolerances.

        Parameters
        ----------
        name : str
            One of `.values`.
        ax : Axes, optional
            Axes of the plot; by default new ones.

        Returns
        -------
        Axes
            The Axes.

        Raises
        ------
        UsageError
            If there are no values of that name.
        """
        values = self[name]
        ax = axes(ax)
        unit = "[rad]" if name == "orientations" else "[1]"
        label = WORDS.get(name, f"error in {name} at the end {unit}")
        x, y = (cell_borders(v[::-1], geometric=True) for v in (self.rtol, self.atol))
        shown = np.where(values[::-1, ::-1] > 0.0, values[::-1, ::-1], np.nan)
        if np.isfinite(shown).any():
            draw_cells(ax, x, y, shown, label)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(x[0], x[-1])
        ax.set_ylim(y[0], y[-1])
        set_title(ax, f"{self.model_name}: {self.label}")
        ax.set_xlabel("rtol [1]")
        ax.set_ylabel("atol [m, rad, m/s, rad/s]")
        return ax


@check_keywords
def tolerance_map(
    system: System | Model,
    *,
    rtol: npt.ArrayLike,
    atol: npt.ArrayLike,
    t_end: float,
    method: Method = DEFAULT,
    reference: Method | Result | None = None,
    groups: Iterable[str] = GROUPS,
    outputs: Outputs | None = None,
    state: State | None = None,
    project_velocity: bool = False,
    budget: float | None = None,
    progress: bool = False,
) -> ToleranceMap:
    """Return errors, violations and costs of a method with error control, for all pairs of tolerances.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    rtol, atol : array_like, (n,) and (m,)
        Relative and absolute tolerances; each rtol is combined with each atol.
    t_end : float
        Final time [s].
    method : Method
        A method with error control; its tolerances are replaced. By default DormandPrince with projection.
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
    budget : float, optional
        Longest time of a run [s]; runs that need more are cells without values.
    progress : bool
        If True, show a progress bar. Runs that Ctrl-C ends or prevents are points without errors, and the others are returned.

    Returns
    -------
    ToleranceMap
        `.values[name]`, or `map[name]`, and `.plot(name)`. Print it for a table.

    Raises
    ------
    UsageError
        If an argument is not valid, the method has no error control, or no reference is possible.
    ModelError
        If the system has faults.

    Notes
    -----
    Source: Hairer, Norsett and Wanner, Solving ODE I, sec. II.4.
    """
    if not isinstance(method, Method) or not takes_tolerances(method):
        raise UsageError(
            f"tolerance_map: method = {method!r} must be a Method with error control, such as Method(integrator=BDF())."
        )
    wanted = check_groups(groups, outputs)
    check_numbers(None, t_end=t_end, budget=budget)
    check_budget(budget)
    relative, absolute = positive_numbers("rtol", rtol, "tolerance_map"), positive_numbers("atol", atol, "tolerance_map")
    model = model_given(system, "tolerance_map")
    need_no_stops(model, "tolerance_map")
    study = SharedRun(
        model,
        float(t_end),
        wanted,
        outputs,
        given_reference(reference),
        budget,
        1,
        other_arguments(state, project_velocity),
        progress,
    )
    settings = [Setting("map", float(x), method.with_tolerances(float(x), float(y))) for x in relative for y in absolute]
    points, found = study.run(settings)
    shape = (len(relative), len(absolute))
    columns = {group: [point.error(group, "end") for point in points] for group in (*wanted, *(outputs or {}))}
    columns |= {f"violation_{level}": [_violation(point, level) for point in points] for level in LEVELS}
    columns |= {name: [_count(point, name) for point in points] for name in COUNTS}
    columns["cpu"] = [point.cell.cpu if point.errors is not None else float("nan") for point in points]
    return ToleranceMap(
        relative,
        absolute,
        {name: np.array(column).reshape(shape) for name, column in columns.items()},
        found.uncertainty,
        {divmod(k, len(absolute)): point.cell.reason for k, point in enumerate(points) if point.errors is None},
        type(method.integrator).__name__,
        model.name,
    )


def _violation(point: Point, level: str) -> float:
    """Return the largest violation of a run in units of the length; NaN if it did not reach the end."""
    if point.errors is None or point.cell.result is None:
        return float("nan")
    result = point.cell.result
    return float(scaled_norm(result, result.violation(level)).max())  # type: ignore[call-overload]


def _count(point: Point, name: str) -> float:
    """Return a counter of a run; NaN if it did not reach the end."""
    if point.errors is None or point.cell.result is None:
        return float("nan")
    return float(getattr(point.cell.result.counters, name))
