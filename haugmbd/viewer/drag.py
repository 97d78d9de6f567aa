r"""The freedoms of a mechanism as sliders: a coordinate of a joint goes to a value, and all joints are closed again.

    candidates    angles and displacements of joints:  rates  c_k = (dq_k/dq) Z,   Z a basis of the remaining motions
    freedoms      as many of them as are independent, the coordinates of joints with one freedom first (Gram and Schmidt)
    a way         from the values now to those that are wanted in small parts, each closed by `assemble` from the pose before, so that
                  the mechanism stays on its branch; it ends where it cannot be closed further

What moves with none of these coordinates, such as a free body, stays where the least motion leaves it.
Source: Wehage and Haug (1982), independent coordinates; Haug (2021), assembly of a mechanism.
"""

from __future__ import annotations

from math import degrees, pi
from typing import Any, NamedTuple

import numpy as np

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT, Coordinate, coordinates_of
from haugmbd.errors import Fault, HaugmbdError, UsageError
from haugmbd.joints import Coupling
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import characteristic_length
from haugmbd.model.state import State
from haugmbd.system.system import System

MOST_BODIES, MOST_SLIDERS = 60, 12
"""A larger mechanism has no sliders: its null space is found densely; nor are more of them of use on a page."""
INDEPENDENT = 1e-6
"""Part of its rate that a coordinate must have beyond those before it; turns count over the size of the mechanism."""
SHARED = 0.3
"""Weight of coordinates of joints with several freedoms: those of hinges and slides are taken first."""
TURN_STEP, SLIDE_STEP = 0.08, 0.02
"""[rad], part of the size: the parts of a way, small beside what leads to another branch."""
MOST_STEPS = 8
"""Parts of one call, some tenths of a second: what is further is gone with the next one, and is seen to move."""
NEAR = 0.5
"""[rad], part of the size: a body that goes further in one part has left its branch."""
TRIES = 4
"""How often a part that cannot be closed is halved before the way ends."""


class Held(Coupling):
    """A coordinate at a value that need not be that of the modelled pose: `assemble` brings it there."""

    def _start_faults(self, where: str) -> tuple[Fault, ...]:
        return ()


class Slider(NamedTuple):
    """A freedom: its coordinate, its name, its range and its unit."""

    coordinate: Coordinate
    name: str
    low: float
    high: float
    unit: str


class Drag:
    """A mechanism whose freedoms are dragged: `sliders`, `values`, the state now, and `to`, which goes on.

    Parameters
    ----------
    system : System
        The mechanism; it is as before after each call.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        model = system.compile()
        self.state = _at_rest(model.state())
        self.length = characteristic_length(model, evaluate(model, model.state()))
        self.sliders = tuple(self._slider(q) for q in _independent(system, model, self.length)) if model.nb <= MOST_BODIES else ()
        self._modelled = self.state
        self._held: State | None = None
        self.values = np.array([slider.coordinate.q0 for slider in self.sliders])

    def _slider(self, q: Coordinate) -> Slider:
        limits = [load.joint_range() for load in self.system.loads]
        limit = next((x for x in limits if x is not None and x.coordinate.joint is q.joint and x.coordinate.what == q.what), None)
        far = pi if q.turns else self.length
        low, high = (q.q0 - far, q.q0 + far) if limit is None else (max(limit.lower, q.q0 - far), min(limit.upper, q.q0 + far))
        several = len(q.joint.freedoms or ()) > 1
        return Slider(q, q.label if several else q.joint.name, low, high, "rad" if q.turns else "m")

    def reset(self) -> None:
        """Go back to the modelled pose."""
        self.state, self._held = self._modelled, None
        self.values = np.array([slider.coordinate.q0 for slider in self.sliders])

    def to(self, values: Any) -> str:
        """Go towards values of the sliders; return "", or why the mechanism stays before them.

        A long way is gone in parts: `values` says how far it came, and the next call goes on.

        Raises
        ------
        UsageError
            If values are not as many finite numbers as there are sliders.
        """
        wanted = np.array(values, dtype=np.float64)
        if wanted.shape != self.values.shape or not np.all(np.isfinite(wanted)):
            raise UsageError(f"values are {values!r:.80}: give {len(self.sliders)} finite numbers.")
        wanted = np.clip(wanted, [s.low for s in self.sliders], [s.high for s in self.sliders])
        steps = np.array([TURN_STEP if s.coordinate.turns else SLIDE_STEP * self.length for s in self.sliders])
        halved = 0
        for _ in range(MOST_STEPS):
            rest = wanted - self.values
            parts = float(np.max(np.abs(rest) / steps, initial=0.0))
            if parts == 0.0:
                return ""
            part = 1.0 if parts <= 1.0 and not halved else min(1.0, 0.5**halved / max(parts, 1.0))
            goal = wanted if part == 1.0 else self.values + part * rest
            try:
                self._held = self._closed(goal)
                self.state = _like(self._modelled, self._held)
                self.values, halved = goal, 0
            except HaugmbdError:
                halved += 1
                if halved > TRIES:
                    return f"It cannot be closed beyond {self.told()}."
        return ""

    def _closed(self, goal: Array) -> State:
        """Return the pose nearest to the one now at which the coordinates have these values."""
        drivers = [
            Held(f"slider {k}", {s.coordinate: 1.0}, float(x)) for k, (s, x) in enumerate(zip(self.sliders, goal, strict=True))
        ]
        with _added(self.system, drivers):
            model = self.system.compile(check_pose=False)
        # The state of the model with these drivers has their angles, which go through any number of turns.
        start = _like(model.state(), self.state) if self._held is None else self._held
        closed = assemble(model, start).state
        moved = float(np.linalg.norm(closed.r - start.r, axis=1).max())
        turned = 2.0 * np.arccos(np.clip(np.abs(np.sum(closed.p * start.p, axis=1)).min(), 0.0, 1.0))
        if moved > NEAR * self.length or turned > NEAR:
            raise UsageError("the mechanism would leave its branch.")
        return _at_rest(closed)

    def told(self) -> str:
        """Return the values, with their units."""
        texts = [
            f"{s.name} = {degrees(x):.4g} degrees" if s.coordinate.turns else f"{s.name} = {x:.4g} m"
            for s, x in zip(self.sliders, self.values, strict=True)
        ]
        return ", ".join(texts)


class _added:  # noqa: N801  reads as a word
    """A system with more joints while it is entered."""

    def __init__(self, system: System, joints: list[Any]) -> None:
        self.system, self.joints = system, joints

    def __enter__(self) -> None:
        for joint in self.joints:
            self.system.add(joint)

    def __exit__(self, *error: object) -> None:
        for joint in self.joints:
            self.system.remove(joint)


def _at_rest(state: State) -> State:
    return state.replace(v=np.zeros_like(state.v), omega_bar=np.zeros_like(state.omega_bar))


def _like(state: State, pose: State) -> State:
    """Return a state of another model of the same bodies at a pose."""
    return _at_rest(state.replace(r=pose.r, p=pose.p))


def _independent(system: System, model: Any, length: float) -> list[Coordinate]:
    """Return independent coordinates of joints, those of hinges and slides first."""
    coordinates = [
        Coordinate(joint, what, number)
        for joint in system.joints
        for what, axes in coordinates_of(joint).items()
        for number in range(1, len(axes) + 1)
        if what in (ANGLE, DISPLACEMENT)
    ]
    if not coordinates:
        return []
    drivers = [Held(f"slider {k}", {q: 1.0}, q.q0) for k, q in enumerate(coordinates)]
    scale = np.tile(np.repeat([1.0, 1.0 / length], 3), model.nb)
    Z = _null_space(evaluate(model, model.state()).Phi_q.toarray() * scale)
    if not Z.shape[1]:
        return []
    with _added(system, drivers):
        driven = system.compile(check_pose=False)
    rows = [driven.joints[driver.name].rows[0] for driver in drivers]
    units = np.array([length if q.turns else 1.0 for q in coordinates])[:, None]
    J = units * (evaluate(driven, driven.state()).Phi_q.toarray()[rows] * scale) @ Z
    weight = np.array([1.0 if len(q.joint.freedoms or ()) == 1 else SHARED for q in coordinates])
    chosen: list[int] = []
    left = J.copy()
    for _ in range(min(Z.shape[1], MOST_SLIDERS)):
        sizes = weight * np.linalg.norm(left, axis=1)
        usable = [
            k
            for k in range(len(coordinates))
            if k not in chosen and sizes[k] > INDEPENDENT * max(float(np.linalg.norm(J[k])), 1e-300)
        ]
        if not usable or float(sizes[usable].max()) <= INDEPENDENT:
            break
        best = next(k for k in usable if sizes[k] >= 0.5 * float(sizes[usable].max()))  # the first in the file that is as good
        chosen.append(best)
        e = left[best] / np.linalg.norm(left[best])
        left = left - np.outer(left @ e, e)
    return [coordinates[k] for k in sorted(chosen)]


def _null_space(J: Array) -> Array:
    """Return an orthonormal basis of the motions with J u = 0, (n, freedoms)."""
    n = J.shape[1]
    if not J.shape[0]:
        return np.eye(n)
    _, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > INDEPENDENT * 1e-3 * max(float(s[0]), 1.0)))
    return np.asarray(Vt[rank:].T)
