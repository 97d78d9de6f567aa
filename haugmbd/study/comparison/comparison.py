"""Comparison: the rows of `compare`, as a table, as an xarray Dataset, in plots and in a report."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of, path_with_ending
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.comparison.rows import ComparisonRows
from haugmbd.study.comparison.runs import LEVELS, TEXTS

if TYPE_CHECKING:
    import xarray
if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes


def dataset_of(comparison: ComparisonRows) -> xarray.Dataset:
    """Return the columns over `label`, and the largest violation of each joint over `label` and `joint`.

    Attributes of a column of errors are its uncertainty and its scale.
    """
    try:
        import xarray as xr  # noqa: PLC0415  only where it is used
    except ImportError as error:
        raise UsageError("to_xarray needs xarray, which is not installed: pip install xarray.") from error
    scales = {} if comparison.reference is None else comparison.reference.scales
    variables: dict[str, Any] = {}
    for name in comparison.columns:
        values = comparison.column(name)
        attributes_of_errors = {"uncertainty": comparison.uncertainty(name), "scale": scales.get(name[6:-4], np.nan)}
        attributes = attributes_of_errors if name.startswith("error_") else {}
        variables[name] = (("label",), np.array(values, dtype=str if name in TEXTS else np.float64), attributes)
    joints = list(comparison.model.joints)
    for level in LEVELS:
        by_joint = [[one.by_joint.get(level, {}).get(joint, np.nan) for joint in joints] for one in comparison.measures.values()]
        variables[f"violation_{level}_by_joint"] = (("label", "joint"), np.array(by_joint).reshape(len(by_joint), len(joints)))
    reference = "none" if comparison.reference is None else comparison.reference.name
    facts: dict[str, Any] = {
        "model": comparison.model.name,
        "t_start": comparison.t_start,
        "t_end": comparison.t_end,
        "reference": reference,
    }
    made: xarray.Dataset = xr.Dataset(variables, {"label": list(comparison.labels), "joint": joints}, facts)
    return made


class Comparison(ComparisonRows, StudyData):
    """One mechanism with many methods: a row for each, with errors by group, violations, drifts and costs.

    Attributes
    ----------
    labels : tuple of str
        Labels of the methods, in their order.
    columns : tuple of str
        Names of the columns, see Notes.
    results : dict of str to Result
        Results by label, up to where a method failed; methods that were refused have none.
    cells : dict of str to Cell
        By label: `.status`, `.reason`, `.method`, `.result`, `.cpu`, `.compilation`, `.runs`.
    reference : Reference or None
        `.result`, `.name`, `.scales`, `.uncertainty` and `.notes`; None without a reference.
    notes : dict of str to tuple of str
        By label: what could not be measured, and the warnings of the run.
    model : Model
        The compiled model.

    Notes
    -----
    Columns:

    error_<group>_<end|max>
        Errors at `t_end` and the largest, relative to the scale of the group; of orientations in rad. Likewise of each output, and of
        `outputs`, the largest of them. NaN of a run that did not reach its end; `overlay` shows its errors as far as it came.
    violation_<level>_<max|rms|end>
        Of the largest row at each time, in the units of the rows; at acceleration level with the accelerations of the method.
    violation_contact_<max|rms|end>, violation_<signorini|coulomb|newton_euler|overlap>_<max|rms|end>
        With rigid contacts: the worst residual of the three laws, each of them, and the overlap, relative, see `Result.check_contacts`.
    euler_max, euler_drift, energy_drift_max, energy_drift_end
        Deviation of `|p|` from 1, at the stored states and in a step before it is normalized; drift of the total energy [J].
    steps, evaluations, factorizations, newton_iterations, rejected, solves
        Counters of the run.
    cpu, compilation, runs, t_reached
        Least CPU time [s] of so many runs; time of the first short run [s], with the compiler; time that was reached [s].
    status, reason, formulation, integrator, stabilization
        "completed", "budget", "failed", "refused" or "not run", with the reason; the parts of the method.
    """

    def _columns(self) -> Columns:
        rows = [self.row(label) for label in self.labels]
        return {"label": column(list(self.labels))} | {name: column([row[name] for row in rows]) for name in self.columns}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with one row for each method, indexed by label (needs pandas)."""
        try:
            import pandas as pd  # noqa: PLC0415  only where it is used
        except ImportError as error:
            raise UsageError("to_pandas needs pandas, which is not installed: pip install pandas, or use to_csv.") from error
        rows = [self.row(label) for label in self.labels]
        return pd.DataFrame(rows, index=pd.Index(self.labels, name="label"), columns=list(self.columns))

    def to_xarray(self) -> xarray.Dataset:
        """Return a Dataset over method, group, level and joint, with the uncertainty of the reference (needs the extra `xarray`)."""

        return dataset_of(self)

    def to_csv(self, path: str | Path) -> Path:
        """Write one line for each method, with 17 digits, and return the path. An old file is replaced when the new one is complete."""
        path = path_with_ending(path, ".csv", "Other tables: to_pandas().to_excel(...), .to_parquet(...).")
        lines: list[list[str]] = [["label", *self.columns]]
        for label in self.labels:
            row = self.row(label)
            lines.append([label, *(x if isinstance(x, str) else f"{x:.17g}" for x in row.values())])
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(lines)
        with replace_file(path) as file:
            file.write(text.getvalue().encode())
        return path

    @check_keywords
    def plot(self, x: str = "cpu", y: str = "error_positions_max", *, ax: Axes | None = None) -> Axes:
        """Plot one column of numbers over another, one point for each method, on logarithmic axes.

        Parameters
        ----------
        x, y : str
            Names of columns.
        ax : Axes, optional
            Axes of the plot; by default new ones.

        Returns
        -------
        Axes
            The Axes. Methods that differ in their step or tolerance only are joined by a line. A grey band is the uncertainty of the
            reference; points in it are hollow. Rows that did not reach the end are not drawn, and are named below the title.
        """
        from haugmbd.study.comparison.plots import plot_columns  # noqa: PLC0415  only where something is drawn

        return plot_columns(self, x, y, ax)

    @check_keywords
    def overlay(self, level: str = "position", *, ax: Axes | None = None) -> Axes:
        """Plot a violation, an error or the drift of the energy over time, one line for each method.

        Parameters
        ----------
        level : str
            "position", "velocity" or "acceleration": the largest row at each time. A group or an output: its error. "energy drift".
            With rigid contacts "contact", "signorini", "coulomb", "newton_euler" and "overlap".
        ax : Axes, optional
            Axes of the plot; by default new ones.

        Returns
        -------
        Axes
            The Axes, with the labels of the methods in the legend.
        """
        from haugmbd.study.comparison.plots import overlay_curves  # noqa: PLC0415  only where something is drawn

        return overlay_curves(self, level, ax)

    def report(self, path: str | Path) -> Path:
        """Write the comparison as one HTML page that needs no network, and return the path.

        The page has tables that sort, figures (SVG, if matplotlib is installed), settings, versions, and all reasons and warnings.
        """
        from haugmbd.study.comparison.report import write_report  # noqa: PLC0415  only where a report is written

        return write_report(self, path_of(path))
