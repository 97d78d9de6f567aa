r"""violation_by_joint: which joint is violated when, as a heat map over time.

    value of a joint in an interval of time = max over its states of  |Phi|, |Phi_q u - nu| or |Phi_q u_dot - gamma|  over its rows

Rows in m are divided by the length L of the model, rows in m2 by L^2, so that joints can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.violation import Level
from haugmbd.errors import UsageError
from haugmbd.plotting.heat_map import draw_cells
from haugmbd.plotting.style import axes, literal, set_title
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.signal import PER_TIME, SYMBOL, need_result, rows_of, scaled_norm, signal_name
from haugmbd.text_table import table_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVALS = 200
"""Intervals of time that can be told apart in a diagram."""
FLOOR = 1e-17
"""Value at which exact zeros are drawn."""
HEIGHT, LEAST_HEIGHT, MOST_HEIGHT = 0.32, 2.4, 16.0
"""Of the diagram [inch]: for each joint, at least, and at most."""


@dataclass(frozen=True)
class JointViolation(StudyData):
    """The violation of each joint over time.

    Attributes
    ----------
    joints : tuple of str
        Names of the joints, (k,).
    t : ndarray, (n + 1,)
        Borders of the intervals of time [s].
    violation : ndarray, (k, n)
        The largest violation of each joint in each interval, with lengths in units of that of the model.
    level : str
        Level of the constraints.
    unit : str
        Unit of the violation.
    model_name : str
        Name of the model.
    """

    joints: tuple[str, ...]
    t: Array
    violation: Array
    level: str
    unit: str
    model_name: str

    @property
    def worst(self) -> str:
        """The name of the joint with the largest violation."""
        return self.joints[int(self.violation.max(axis=1).argmax())]

    _grid = ("joint", "t")

    def _columns(self) -> Columns:
        n = len(self.t) - 1
        return {
            "joint": column([name for name in self.joints for _ in range(n)]),
            "t": column(np.tile(self.t[:-1], len(self.joints))),
            "t_end": column(np.tile(self.t[1:], len(self.joints))),
            "violation": column(self.violation.ravel()),
        }

    def __str__(self) -> str:
        """Return a table of the joints: the largest violation, and when."""
        middle = 0.5 * (self.t[1:] + self.t[:-1])
        rows = [
            [name, f"{values.max():.2e}", f"{middle[int(values.argmax())]:.4g}"]
            for name, values in zip(self.joints, self.violation, strict=True)
        ]
        return "\n".join(table_lines(["joint", f"largest [{self.unit}]", "near t [s]"], rows, right=(1, 2)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the heat map: a row for each joint, time to the right, violation as color on a logarithmic scale.

        Parameters
        ----------
        ax : Axes, optional
            Axes of the plot; by default new ones, as high as the joints need.

        Returns
        -------
        Axes
            The Axes.
        """
        new = ax is None
        ax = axes(ax)
        if new:
            height = min(max(LEAST_HEIGHT, 1.4 + HEIGHT * len(self.joints)), MOST_HEIGHT)
            ax.figure.set_figheight(height)  # type: ignore[union-attr]
        borders = np.linspace(-0.5, len(self.joints) - 0.5, len(self.joints) + 1)
        draw_cells(ax, self.t, borders, np.maximum(self.violation, FLOOR).T, f"largest |{SYMBOL[self.level]}| [{self.unit}]")
        ax.set_yticks(range(len(self.joints)), [literal(name) for name in self.joints])
        ax.set_ylim(len(self.joints) - 0.5, -0.5)
        ax.set_xlabel("t [s]")
        set_title(ax, f"{self.model_name}: violation by joint, {self.level} level")
        return ax


@check_keywords
def violation_by_joint(result: Result, *, level: Level = "position", intervals: int = INTERVALS) -> JointViolation:
    """Return the violation of each joint over time, for a heat map.

    Parameters
    ----------
    result : Result
        The result.
    level : {"position", "velocity", "acceleration"}
        Level of the constraints.
    intervals : int
        Number of intervals of time, at most; in each the largest violation of its states is taken.

    Returns
    -------
    JointViolation
        `.violation` by joint and interval, `.worst`, and `.plot()`.

    Raises
    ------
    UsageError
        If the result has no joints, or fewer than two states, or if an argument is not valid.
    """
    need_result(result, "violation_by_joint")
    signal_name(result.model, level)
    if isinstance(intervals, bool) or not isinstance(intervals, int | np.integer) or intervals < 1:
        raise UsageError(f"intervals = {intervals!r} must be a whole number, 1 or more.")
    rows, model = rows_of(result, level), result.model
    norms = np.array([scaled_norm(result, rows[:, joint.rows], joint.rows) for joint in model.joints.values()])
    edges = np.unique(np.rint(np.linspace(0, len(result.t) - 1, min(intervals, len(result.t) - 1) + 1)).astype(int))
    starts = edges[:-1].copy()
    starts[1:] += 1  # a state belongs to the interval that ends with it
    largest: Array = np.fmax.reduceat(norms[:, : edges[-1] + 1], starts, axis=1)  # NaN: the method has no accelerations there
    return JointViolation(tuple(model.joints), result.t[edges], largest, level, "1" + PER_TIME[level], model.name)
