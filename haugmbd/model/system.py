r"""The mechanism as the user builds it: bodies, joints and loads by name; compiled to a frozen Model."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from haugmbd.body import Body
from haugmbd.forces.base import Load
from haugmbd.model.compile import compile_tables
from haugmbd.model.model import JointEntry, Model, RowLabel, frozen_y0
from haugmbd.primitives.base import Primitive
from haugmbd.primitives.joint import Joint, Single

Part = TypeVar("Part")


class System:
    """A mechanism under construction.

    name: what results call it;  gravity: (3,) global [m/s2], by default none
    """

    def __init__(self, name: str = "system", *, gravity: Any = (0.0, 0.0, 0.0)) -> None:
        self.name = name
        self.gravity = gravity
        self.ground = Body.ground()
        self.bodies: list[Body] = [self.ground]
        self.joints: list[Joint] = []
        self.loads: list[Load] = []

    def add(self, part: Part) -> Part:
        """Add a body, a joint, a primitive by itself, or a force element; return it."""
        if isinstance(part, Body):
            self.bodies.append(part)
        elif isinstance(part, Load):
            self.loads.append(part)
        elif isinstance(part, Primitive):
            self.joints.append(Single(f"{part.kind} {len(self.joints) + 1}", part))
        elif isinstance(part, Joint):
            self.joints.append(part)
        return part

    def compile(self) -> Model:
        """Return the frozen Model."""
        primitives = [(joint, p) for joint in self.joints for p in joint.primitives()]
        gravity = np.array(self.gravity, dtype=np.float64)
        owners = [joint.name for joint, _ in primitives]
        compiled = compile_tables(self.bodies, [p for _, p in primitives], owners, self.loads, gravity)
        number = {body: k for k, body in enumerate(self.bodies)}
        rows_of: dict[str, list[int]] = {joint.name: [] for joint in self.joints}
        for row, (joint, _) in enumerate(primitives):
            rows_of[joint.name].append(row)
        return Model(
            name=self.name,
            body_names=tuple(body.name for body in self.bodies),
            joints={j.name: _entry(j, number, rows_of[j.name]) for j in self.joints},
            loads=compiled.loads,
            labels=tuple(RowLabel(joint.name, p.kind, p.words(), p.unit) for joint, p in primitives),
            tables=compiled.tables,
            slot_of_row=compiled.slots,
            side_of_i=compiled.sides,
            drivers=compiled.drivers,
            questions=compiled.questions,
            y0=frozen_y0(
                [np.concatenate([b.r, b.p, b.v, b.omega_bar]) for b in self.bodies],
                [load.angle0() for load in self.loads if load.angles],
            ),
        )


def _entry(joint: Joint, number: dict[Body, int], rows: list[int]) -> JointEntry:
    """The joint as the model remembers it."""
    i, j = joint.frame_i, joint.frame_j
    ids = np.array(rows, dtype=np.int64)
    return JointEntry(joint.name, type(joint).__name__, ids, number[joint.i], number[joint.j], i.s_bar, i.A_bar, j.s_bar, j.A_bar)
