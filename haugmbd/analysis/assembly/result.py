r"""What an assembly found: the state, the model that begins there, and what had to be moved, by body and by joint.

Gaps are measured as elsewhere (`system.constraint_residuals`): in metres for points and distances, in radians for axes and driven angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees
from typing import NamedTuple

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.math.euler_parameters import conjugate, logarithm, product
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.constraint_residuals import constraint_gaps

SHOWN = 12
"""How many bodies or joints a text lists before it counts the rest."""


class Correction(NamedTuple):
    """How far a body was moved: global translation [m] (3,) as a tuple, its length [m], and the angle of its turn [rad]."""

    body: str
    translation: tuple[float, float, float]
    distance: float
    angle: float


class JointGap(NamedTuple):
    """How far a joint is open: its points or distances [m], its axes or driven angle [rad]."""

    joint: str
    distance: float
    angle: float


class Flip(NamedTuple):
    """A joint that the start, or its nearest closed pose, had the other way round, and whether it is right now."""

    joint: str
    repaired: bool


@public_class
@dataclass(frozen=True, eq=False)
class Assembly:
    """An assembled mechanism.

    model: its modelled state is `state`: simulate(assembly.model, t_end, h=...);  state: positions and velocities that fit
    iterations: of the positions;  before, after: largest |Phi| in the rows' own units;  rate_before, rate_after: largest |Phi_q u - nu|
    corrections: by body, the largest first;  gaps: by joint at the start, the largest first;  flips: joints that were turned round
    held: what was held, as text;  tolerance: the |Phi| that was asked for
    """

    model: Model
    state: State
    iterations: int
    before: float
    after: float
    rate_before: float
    rate_after: float
    corrections: tuple[Correction, ...]
    gaps: tuple[JointGap, ...]
    flips: tuple[Flip, ...]
    held: tuple[str, ...]
    tolerance: float

    @property
    def flipped(self) -> tuple[str, ...]:
        """The joints that are the other way round in `state`."""
        return tuple(flip.joint for flip in self.flips if not flip.repaired)

    def __str__(self) -> str:
        """What was moved, in a table."""
        head = f"{self.model.name!r} assembled in {self.iterations} iterations: |Phi| {self.before:.3g} -> {self.after:.3g}"
        rates = f"velocities: |Phi_q u - nu| {self.rate_before:.3g} -> {self.rate_after:.3g}"
        lines = [head, rates, *([f"held: {'; '.join(self.held)}"] if self.held else [])]
        lines += [f"joint {flip.joint!r} was turned round{'' if flip.repaired else ', and still is'}" for flip in self.flips]
        lines += _listed("joint", [(g.joint, g.distance, g.angle) for g in self.gaps], "was open by")
        lines += _listed("body", [(c.body, c.distance, c.angle) for c in self.corrections], "was moved by")
        return "\n".join(lines)

    __repr__ = __str__


def _listed(kind: str, items: Sequence[tuple[str, float, float]], verb: str) -> list[str]:
    """One line for each of the first few that are not zero."""
    some = [(name, d, a) for name, d, a in items if d > 0.0 or a > 0.0]
    lines = [f"{kind} {name!r} {verb} {d:.4g} m, {degrees(a):.4g} degrees" for name, d, a in some[:SHOWN]]
    return [*lines, *([f"and {len(some) - SHOWN} more"] if len(some) > SHOWN else [])]


def corrections(model: Model, start: State, end: State) -> tuple[Correction, ...]:
    """How far each body was moved, the largest first."""
    step = end.r - start.r
    angle = np.linalg.norm(logarithm(product(conjugate(start.p), end.p)), axis=1)
    size = float(np.linalg.norm(np.ptp(end.r, axis=0))) or 1.0
    found = [
        Correction(name, (float(d[0]), float(d[1]), float(d[2])), float(np.linalg.norm(d)), float(a))
        for name, d, a in zip(model.body_names[1:], step[1:], angle[1:], strict=True)
    ]
    return tuple(sorted(found, key=lambda c: -(c.distance + size * c.angle)))


def joint_gaps(model: Model, state: State) -> tuple[JointGap, ...]:
    """How far each joint is open, the largest first."""
    measured = constraint_gaps(model, evaluate(model, state), state.t)
    found = []
    for e in model.joints.values():
        gap, turns = measured.gap[e.rows], measured.is_angle[e.rows]
        found.append(JointGap(e.name, float(np.linalg.norm(gap[~turns])), float(np.linalg.norm(gap[turns]))))
    return tuple(sorted(found, key=lambda g: -(g.distance + g.angle)))
