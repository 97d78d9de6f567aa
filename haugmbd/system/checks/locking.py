r"""Models that cannot move: no degree of freedom is left, or a small misalignment has taken one away.

    weak row     kept, though it is within WEAK of the span of the other rows; with a larger tolerance it would count as dependent
    locked       it is weak, and dependent along the whole motion: a loop whose axes nearly fit, and not a dead centre

If the axes of the joints of such a loop are parallel, or meet at a point, except for one, that one is named with its angle or distance.
"""

from __future__ import annotations

from math import asin, ceil, degrees, log10
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind, Side
from haugmbd.drivers import Constant
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.constraint_rows import Rows
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import RankAnalysis, analyse_rank, only_here, report_of

WEAK = 3e-3
"""Distance from the span of the others below which a kept row is weak: an axis that is off by a fifth of a degree."""

MARGIN = 1.5
"""The recommended tolerance is the next power of ten beyond so many times the distance."""

ALONE = 3.0
"""An axis is an outlier if it is so many times farther from the others than they are from one another."""

LONGEST = 40
"""Number of joints beyond which rows are nearly dependent by the length of the chain alone: of n bodies in a row they are n^-1.5 apart."""

NEARLY = 0.05
"""Largest spread of axes [rad] that count as parallel, or of lines relative to the model that count as meeting at a point."""


class _Line(NamedTuple):
    """The axis of a revolute joint or the direction of a translation: through a point, along a unit vector."""

    joint: str
    point: Array
    axis: Array


def locking_notes(model: Model, rows: Rows, analysis: RankAnalysis) -> tuple[str, ...]:
    """Return the reasons why the model cannot move, in sentences; () if it can.  `rows`, `found`: at the modelled pose."""
    rank = model.nc - len(analysis.dropped) - int(analysis.flat.sum())
    dof = 6 * model.nb - rank
    weak = [distance for _, distance in analysis.weak if distance <= WEAK]
    if weak:
        notes = _locked(model, rows, analysis, max(weak), dof)
        if notes:
            return notes
    if dof == 0 and model.nc and not _driven(model):
        return (
            f"model {model.name!r} has 0 degrees of freedom and no driver: it cannot move (6 x {model.nb} bodies - {rank} independent "
            "rows). mbd.mobility(system) lists the rows that lock it.",
        )
    return ()


def _driven(model: Model) -> bool:
    """Return whether a driver, constant or not, prescribes the motion."""
    moving = [k for k, driver in enumerate(model.drivers) if not isinstance(driver, Constant)]
    return bool(np.isin(model.drivers_of_rows(), moving).any()) or any(
        entry.kind.endswith("Driver") for entry in model.joints.values()
    )


def _locked(model: Model, rows: Rows, found: RankAnalysis, distance: float, dof: int) -> tuple[str, ...]:
    """Return one sentence for each set of joints that a small misalignment locks."""
    tolerance = 10.0 ** ceil(log10(MARGIN * distance))
    loose = analyse_rank(model, rows, tolerance)
    freed = np.setdiff1d(np.setdiff1d(loose.dropped, found.dropped), only_here(model, rows.state, loose))
    if len(freed) == 0:
        return ()
    report, sets = report_of(model, loose), list[tuple[str, ...]]()
    for dependency in report.dependencies:
        if dependency.row in freed:
            joints = report.joints_of(dependency)
            if joints not in sets and len(joints) <= LONGEST:
                sets.append(joints)
    would = dof + len(loose.dropped) - len(found.dropped)
    counts = f"{dof} degree{'s' * (dof != 1)} of freedom; with tolerance={tolerance:g} it has {would}"
    return tuple(
        f"model {model.name!r} has {counts}: {_misfit(model, rows.state, found.length, joints, distance)}. Correct the axes, or "
        f"System.compile(tolerance={tolerance:g}) to let it move; the gaps of the dropped rows are then about as large."
        for joints in sets
    )


def _misfit(model: Model, state: State, length: float, joints: tuple[str, ...], distance: float) -> str:
    """Return which axis is off and by how much; if none is an outlier, that the rows are nearly dependent."""
    names = ", ".join(map(repr, joints))
    A = rotation_matrix(state.p)
    lines = [line for name in joints if (line := _line(state, A, model.joints[name])) is not None]
    if len(lines) >= 3:
        for off, spread, text in (*_off_parallel(lines), *_off_centre(lines, length)):
            if off > ALONE * spread:
                return text
        off, direction = _spread([line.axis for line in lines])
        if off < NEARLY:
            return f"the axes of {names} are up to {degrees(off):.3g} degrees off {_vector(direction)}, their mean direction"
    return f"the rows of {names} depend on each other but for a misalignment of about {distance:.2g} (rad, or part of the size)"


def _line(state: State, A: Array, entry: JointEntry) -> _Line | None:
    """Return the axis of a joint with a single rotation; None for other joints."""
    if entry.freedoms is None or len(entry.freedoms) != 1 or entry.freedoms[0].kind is Kind.SLIDE:
        return None
    (one,) = entry.freedoms
    body, s_bar, A_bar = (entry.i, entry.s_bar_i, entry.A_bar_i) if one.side is Side.I else (entry.j, entry.s_bar_j, entry.A_bar_j)
    return _Line(entry.name, state.r[body] + A[body] @ s_bar, A[body] @ A_bar[:, one.axis])


def _spread(axes: list[Array]) -> tuple[float, Array]:
    """Return the largest angle [rad] between axes and their mean direction, and that direction."""
    mean = np.linalg.svd(np.array(axes))[2][0]
    mean = mean if mean[np.argmax(np.abs(mean))] > 0.0 else -mean
    return max(_angle(axis, mean) for axis in axes), mean


def _angle(a: Array, b: Array) -> float:
    """Return the angle between two unit axes, whatever their sense [rad]."""
    return asin(min(1.0, float(np.linalg.norm(cross(a, b)))))


def _off_parallel(lines: list[_Line]) -> list[tuple[float, float, str]]:
    """Return the angle of the outlying axis to the others, their spread, and the sentence; nothing if they are not nearly parallel."""
    found = []
    for line in lines:
        spread, mean = _spread([other.axis for other in lines if other is not line])
        off = _angle(line.axis, mean)
        text = f"the axis of {line.joint!r} is {degrees(off):.3g} degrees off {_vector(mean)}, about which the others turn"
        if max(off, spread) < NEARLY:
            found.append((off, spread, text))
    return sorted(found, reverse=True)[:1]


def _off_centre(lines: list[_Line], length: float) -> list[tuple[float, float, str]]:
    """Return the distance of the outlying axis from the point where the others meet, their spread, and the sentence.

    Distances are relative to `length` [m].  Nothing is returned if the axes do not nearly meet.
    """
    off_centre = []
    for line in lines:
        others = [other for other in lines if other is not line]
        across = [np.eye(3) - np.outer(other.axis, other.axis) for other in others]
        right = sum((P @ other.point for P, other in zip(across, others, strict=True)), np.zeros(3))
        centre = np.linalg.lstsq(np.sum(across, axis=0), right, rcond=None)[0]
        off, *misses = (
            float(np.linalg.norm(cross(axis_line.axis, centre - axis_line.point))) / length for axis_line in (line, *others)
        )
        at = _vector(np.where(np.abs(centre) < 1e-9 * length, 0.0, centre))
        text = f"the axis of {line.joint!r} misses {at}, where those of the others meet, by {off * length:.3g} m"
        if max(off, *misses) < NEARLY:
            off_centre.append((off, max(misses), text))
    return sorted(off_centre, reverse=True)[:1]


def _vector(x: Array) -> str:
    """Return x, y, z, or three numbers, as text."""
    for letter, axis in zip("xyz", np.eye(3), strict=True):
        if np.linalg.norm(x - axis) < WEAK:
            return letter
    return "(" + ", ".join(f"{round(float(value), 4) + 0.0:g}" for value in x) + ")"
