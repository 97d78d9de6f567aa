r"""Small mechanisms in which formulations are verified: a pendulum, a chain with a spring, and a closed loop with independent rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.composites import coincident, perpendicular_1
from haugmbd.constraints.equations.d import D
from haugmbd.constraints.freedoms import H_I, Freedom, Side, ball, turn
from haugmbd.constraints.joint import Joint
from haugmbd.forces.tsda import TSDA
from haugmbd.system.system import System

GRAVITY = (0.3, -1.0, -9.81)


class Ball(Joint):
    """A common point of two bodies."""

    freedoms: ClassVar[tuple[Freedom, ...] | None] = ball(Side.J)

    def __init__(self, name: str, i: Body, j: Body, point: Any, axis: Any = (0.0, 0.0, 1.0)) -> None:
        super().__init__(name, Frame.from_global(i, point, axis), Frame.from_global(j, point, axis))

    def primitives(self) -> tuple[Primitive, ...]:
        return coincident(self.i, self.frame_i.s_bar, self.j, self.frame_j.s_bar)


class Hinge(Ball):
    """A common point and a common axis."""

    freedoms = (turn(H_I),)

    def primitives(self) -> tuple[Primitive, ...]:
        i, j = self.frame_i, self.frame_j
        return (*super().primitives(), *perpendicular_1(self.i, i.f, i.g, self.j, j.h))


def pendulum() -> System:
    """Return a spatial pendulum on a hinge whose axis is not a principal one."""
    system = System("pendulum", gravity=GRAVITY)
    system.add(Hinge("pin", system.ground, _body(system, "bob", (1.0, 0.2, -0.3)), (0.0, 0.0, 0.0), (0.2, 1.0, 0.1)))
    return system


def chain() -> System:
    """Return a chain of a hinge and two ball joints, with a damped spring."""
    system = System("chain", gravity=GRAVITY)
    a, b, c = (_body(system, name, (x, 0.1, 0.0)) for name, x in (("a", 0.5), ("b", 1.5), ("c", 2.5)))
    system.add(Hinge("pin", system.ground, a, (0.0, 0.0, 0.0), (0.0, 1.0, 0.3)))
    system.add(Ball("elbow", a, b, (1.0, 0.0, 0.0)))
    system.add(Ball("wrist", b, c, (2.0, 0.0, 0.2)))
    system.add(TSDA("spring", system.ground, c, point_i=(1.0, 2.0, 0.0), point_j=(2.5, 0.1, 0.0), k=30.0, c=2.0, l0=1.0))
    return system


def loop() -> System:
    """Return a closed loop: a crank on a hinge, a rod with a constant length, a rocker on a hinge."""
    system = System("loop", gravity=GRAVITY)
    crank, rocker = _body(system, "crank", (0.0, 0.0, 0.5)), _body(system, "rocker", (3.0, 0.0, 1.0))
    system.add(Hinge("A", system.ground, crank, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    system.add(Hinge("D", system.ground, rocker, (3.0, 0.0, 0.0), (0.1, 1.0, 0.0)))
    ends = np.array([(0.0, 0.1, 1.0), (3.0, -0.2, 2.0)])
    s_bar = [body.A.T @ (end - body.r) for body, end in zip((crank, rocker), ends, strict=True)]
    system.add(D(crank, s_bar[0], rocker, s_bar[1], float(np.linalg.norm(ends[1] - ends[0]))))
    return system


def _body(system: System, name: str, r: Any) -> Body:
    return system.add(Body(name, 1.3, (0.11, 0.17, 0.23), r=r, p=(0.8, 0.0, 0.6, 0.0)))
