r"""The table of a position analysis: what Newton's method does, iterate by iterate.

    iterate   |Phi|, the largest gap [m]   |dq|   condition of Phi_q   step

|dq| is the largest motion of a body from the iterate before, translations and rotations times the size of the model [m]. The condition is
that of Phi_q with rows of length 1, of its nonzero singular values. A step is the start of a search, or a Newton step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import Pose
from haugmbd.math.euler_parameters import conjugate, logarithm, product

ZERO_RTOL = 1e-10
"""Singular values smaller than this part of the largest are those of redundant rows."""


class NewtonRow(NamedTuple):
    """An iterate: its number, largest |Phi| in the units of the rows, largest gap [m], |dq| [m], condition of Phi_q, and the step to it."""

    iterate: int
    Phi: float
    gap: float
    dq: float
    condition: float
    step: str


@dataclass(frozen=True, eq=False)
class NewtonTable:
    """The iterates of a position analysis; print it, or `plot` it."""

    rows: tuple[NewtonRow, ...]

    def __str__(self) -> str:
        lines = [f"{'iterate':>7} {'|Phi|':>10} {'gap [m]':>10} {'|dq| [m]':>10} {'cond':>9}  step"]
        lines += [f"{r.iterate:7d} {r.Phi:10.2e} {r.gap:10.2e} {r.dq:10.2e} {r.condition:9.2e}  {r.step}" for r in self.rows]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Draw |Phi| and |dq| over the iterates, logarithmic; return the axes. Needs matplotlib."""
        import matplotlib.pyplot as plt  # noqa: PLC0415  an extra

        if axes is None:
            _, axes = plt.subplots(layout="constrained")
        k = [row.iterate for row in self.rows]
        axes.semilogy(k, [max(row.Phi, 1e-17) for row in self.rows], "o-", label="|Phi|")
        axes.semilogy(k[1:], [max(row.dq, 1e-17) for row in self.rows[1:]], "s--", label="|dq| [m]")
        axes.set(xlabel="iterate", title="Newton's method: each step doubles the digits")
        axes.legend()
        return axes


def newton_table(poses: Sequence[tuple[Pose, bool]], size: float) -> NewtonTable:
    """Return the table of recorded poses, each with whether it starts a search; size: of the model [m]."""
    rows: list[NewtonRow] = []
    before: Pose | None = None
    for pose, starts in poses:
        dq = 0.0 if before is None else _motion(before, pose, size)
        if before is not None and dq == 0.0 and not starts:
            continue  # the last pose, once more
        rows.append(NewtonRow(len(rows), pose.worst, pose.furthest, dq, _condition(pose), "start" if starts else "Newton"))
        before = pose
    return NewtonTable(tuple(rows))


def _motion(before: Pose, after: Pose, size: float) -> float:
    """Return the largest motion of a body [m]."""
    a, b = before.state, after.state
    turns = np.linalg.norm(logarithm(product(conjugate(a.p), b.p)), axis=1)
    return float(np.maximum(np.linalg.norm(b.r - a.r, axis=1), size * turns).max())


def _condition(pose: Pose) -> float:
    """Return the condition of Phi_q, rows of length 1."""
    J = pose.rows.Phi_q.toarray()
    lengths = np.linalg.norm(J, axis=1, keepdims=True)
    values = np.linalg.svd(J / np.where(lengths > 0.0, lengths, 1.0), compute_uv=False)
    kept = values[values > ZERO_RTOL * values.max(initial=0.0)]
    return float(kept[0] / kept[-1]) if len(kept) else 1.0
