"""Couplings, rolling joints and guides for the reference of joints: an example of each, and its drawing with what takes part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import joint_drawing
import numpy as np

import haugmbd as mbd
import joints
from haugmbd.bodies.inertia import box, cylinder, sphere
from haugmbd.constraints.freedoms import Freedom, Kind, Side
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import of_system

Z = (0.0, 0.0, 1.0)
STRIPE = "#f0f0f0"


def wheel(system: mbd.System, name: str, x: float, radius: float) -> Any:
    """Add a wheel about z at (x, 0, 0), and return its revolute joint."""
    shapes = (mbd.Cylinder(radius, 0.1), mbd.Box((1.7 * radius, 0.03, 0.104), color=STRIPE))
    body = system.add(mbd.Body(name, *cylinder(radius, 0.1, mass=1.0), r=(x, 0.0, 0.0), shape=shapes))
    return system.add(joints.RJ(f"axis {name}", system.ground, body, point=(x, 0.0, 0.0), axis=Z))


def wheels(first: float, second: float, apart: float) -> tuple[mbd.System, Any, Any]:
    """Return a system of two wheels, and their joints."""
    system = mbd.System("wheels")
    return system, wheel(system, "a", 0.0, first), wheel(system, "b", apart, second)


def coupling() -> tuple[mbd.System, Any]:
    """Return two wheels whose angles are coupled."""
    system, a, b = wheels(0.3, 0.3, 0.9)
    return system, system.add(joints.Coupling("coupling", {a: 1.0, b: 2.0}))


def gear() -> tuple[mbd.System, Any]:
    """Return a pair of external gears."""
    system, a, b = wheels(0.2, 0.4, 0.6)
    return system, system.add(joints.Gear("gear", a, b, teeth=(20, 40)))


def belt() -> tuple[mbd.System, Any]:
    """Return two pulleys."""
    system, a, b = wheels(0.2, 0.35, 0.9)
    return system, system.add(joints.Belt("belt", a, b, radii=(0.2, 0.35)))


def rack_pinion() -> tuple[mbd.System, Any]:
    """Return a rack and its pinion."""
    system = mbd.System("rack")
    turn = wheel(system, "pinion", 0.0, 0.3)
    rack = system.add(mbd.Body("rack", *box((1.4, 0.1, 0.1), mass=1.0), r=(0.0, -0.36, 0.0)))
    slide = system.add(joints.TJ("guide", system.ground, rack, point=(0.0, -0.36, 0.0), axis=(1.0, 0.0, 0.0)))
    return system, system.add(joints.RackPinion("mesh", turn, slide, radius=0.3))


def screw() -> tuple[mbd.System, Any]:
    """Return a nut on a spindle."""
    system = mbd.System("screw", ground_shape=mbd.Cylinder(0.05, 1.4, color="#9aa5b1"))
    nut = system.add(mbd.Body("nut", *cylinder(0.2, 0.2, mass=1.0, inner_radius=0.05)))
    spindle = system.add(joints.CJ("spindle", system.ground, nut, point=(0.0, 0.0, 0.0), axis=Z))
    return system, system.add(joints.Screw("thread", spindle, pitch=0.1))


def cam_and_slide(kind: type[Any]) -> tuple[mbd.System, Any]:
    """Return a disc whose angle moves a slide along x."""
    system = mbd.System("cam")
    turn = wheel(system, "cam", 0.0, 0.3)
    rod = system.add(mbd.Body("follower", *box((0.5, 0.08, 0.08), mass=1.0), r=(0.56, 0.0, 0.0)))
    slide = system.add(joints.TJ("guide", system.ground, rod, point=(0.56, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system, system.add(kind("profile", turn, slide, lambda angle: 0.05 * (1.0 - np.cos(angle))))


def rolling_disc() -> tuple[mbd.System, Any]:
    """Return a disc that leans."""
    system, lean = mbd.System("disc"), 0.2
    shapes = (mbd.Cylinder(0.4, 0.03), mbd.Box((0.68, 0.04, 0.034), color=STRIPE))
    center, axis = (0.0, 0.0, 0.4 * np.cos(lean)), (0.0, np.cos(lean), np.sin(lean))
    p = from_axis_angle((1.0, 0.0, 0.0), -(np.pi / 2.0 - lean))
    coin = system.add(mbd.Body("disc", 1.0, (0.04, 0.04, 0.08), r=center, p=p, shape=shapes))
    return system, system.add(joints.RollingDisc("edge", coin, center=center, axis=axis, radius=0.4))


def rolling_sphere() -> tuple[mbd.System, Any]:
    """Return a ball."""
    system = mbd.System("sphere")
    ball = system.add(mbd.Body("ball", *sphere(0.3, mass=1.0), r=(0.0, 0.0, 0.3)))
    return system, system.add(joints.RollingSphere("roll", ball, center=(0.0, 0.0, 0.3), radius=0.3))


def rolling_on_cylinder() -> tuple[mbd.System, Any]:
    """Return a ball in a pipe."""
    system = mbd.System("pipe")
    ball = system.add(mbd.Body("ball", *sphere(0.3, mass=1.0), r=(0.4, 0.0, -0.3)))
    pipe = {"point": (0.0, 0.0, 0.0), "axis": (0.0, 1.0, 0.0), "cylinder_radius": 0.8, "inside": True}
    return system, system.add(joints.RollingOnCylinder("roll", ball, center=(0.4, 0.0, -0.3), radius=0.3, **pipe))


def rolling_on_curve() -> tuple[mbd.System, Any]:
    """Return a wheel in a hollow."""
    system, x = mbd.System("hollow"), np.linspace(-1.5, 1.5, 31)
    wheel = system.add(mbd.Body("wheel", *cylinder(0.3, 0.1, mass=1.0, axis=(0, 1, 0)), r=(0.0, 0.0, 0.3)))
    curve = np.stack([x, 0.0 * x, 0.3 * x**2], axis=1)
    return system, system.add(joints.RollingOnCurve("roll", wheel, center=(0.0, 0.0, 0.3), radius=0.3, curve=curve, axis=(0, 1, 0)))


def rolling_on_sphere() -> tuple[mbd.System, Any]:
    """Return a marble in a bowl."""
    system = mbd.System("bowl")
    ball = system.add(mbd.Body("marble", *sphere(0.3, mass=1.0), r=(0.4, 0.0, -0.3)))
    bowl = {"sphere_center": (0.0, 0.0, 0.0), "sphere_radius": 0.8, "inside": True}
    return system, system.add(joints.RollingOnSphere("roll", ball, center=(0.4, 0.0, -0.3), radius=0.3, **bowl))


def knife_edge() -> tuple[mbd.System, Any]:
    """Return a skate on ice."""
    system = mbd.System("skate")
    skate = system.add(mbd.Body("skate", *box((0.8, 0.03, 0.2), mass=1.0), r=(0.0, 0.0, 0.1)))
    system.add(joints.Planar("ice", system.ground, skate, point=(0.0, 0.0, 0.0), normal=Z))
    return system, system.add(joints.KnifeEdge("blade", skate, point=(0.0, 0.0, 0.0), direction=(1.0, 0.0, 0.0)))


CURVE = np.array([(x, 0.0, 0.25 * np.sin(2.0 * x)) for x in np.linspace(-1.2, 1.2, 13)])
"""Points of a curved rail [m]."""


def point_on_curve() -> tuple[mbd.System, Any]:
    """Return a bead on a curved rail."""
    system = mbd.System("rail", ground_shape=mbd.Box((2.6, 0.4, 0.04), center=(0.0, 0.0, -0.45), color="#9aa5b1"))
    bead = system.add(mbd.Body("bead", *sphere(0.1, mass=1.0)))
    return system, system.add(joints.PointOnCurve("rail", system.ground, bead, point=(0.0, 0.0, 0.0), curve=CURVE))


EXAMPLES: dict[str, Callable[[], tuple[mbd.System, Any]]] = {
    "Coupling": coupling,
    "Gear": gear,
    "RackPinion": rack_pinion,
    "Screw": screw,
    "Belt": belt,
    "CoordinateFunction": lambda: cam_and_slide(joints.CoordinateFunction),
    "Cam": lambda: cam_and_slide(joints.Cam),
    "RollingDisc": rolling_disc,
    "RollingSphere": rolling_sphere,
    "RollingOnCylinder": rolling_on_cylinder,
    "RollingOnSphere": rolling_on_sphere,
    "RollingOnCurve": rolling_on_curve,
    "KnifeEdge": knife_edge,
    "PointOnCurve": point_on_curve,
}
"""An example of each, by the names of the classes."""


def draw(system: mbd.System, joint: Any, path: Path) -> None:
    """Draw a system with one of these joints, and the positive sense of each coordinate that takes part."""
    mechanism = of_system(system)
    drawing = Drawing(mechanism, Frames(np.zeros(1), mechanism.r[None], mechanism.p[None], np.ones(1, dtype=bool), ()))
    drawing.place(0)
    drawing.title.set_text("")
    for coupled in joint.needs():
        for freedom in coupled.freedoms:
            arrow(drawing, coupled, freedom)
    if isinstance(joint, joints.PointOnCurve):
        joint_drawing.line(drawing, CURVE, color=joint_drawing.AXES[0], linewidth=1.5)
    if isinstance(joint, joints.KnifeEdge):
        point, A = joint_drawing.frame(joint, Side.J)
        line(drawing, point + np.linspace(0.0, 0.6, 9)[:, None] * A[:, 2])
    drawing.axes.set_position((0.0, 0.0, 1.0, 1.0))
    drawing.figure.set_size_inches(6.6, 4.2)
    drawing.figure.savefig(path, dpi=80)
    drawing.close()


def arrow(drawing: Drawing, joint: Any, freedom: Freedom, sense: float = 1.0) -> None:
    """Draw the positive sense of a coordinate, or the other for sense = -1: an arc over the wheel, or a straight arrow along the axis."""
    point, A = joint_drawing.frame(joint, freedom.side)
    axis = A[:, freedom.axis]
    first = A[:, (freedom.axis + 1) % 3]
    second = np.cross(axis, first)
    if freedom.kind is Kind.SLIDE:
        line(drawing, point + 0.32 * second + np.linspace(-0.3, 0.3, 9)[:, None] * axis)
    else:
        angle = sense * np.linspace(-1.9, 1.9, 60)[:, None]
        line(drawing, point + 0.13 * axis + 0.17 * (np.cos(angle) * first + np.sin(angle) * second))


def line(drawing: Drawing, path: Any) -> None:
    """Draw a path with an arrowhead at its end."""
    joint_drawing.line(drawing, path, color=joint_drawing.FREE, linewidth=2.2)
    ends = drawing.project(path)[:, :2]
    look = {"arrowstyle": "-|>", "color": joint_drawing.FREE, "lw": 2.2}
    drawing.axes.annotate("", ends[-1], ends[-3], arrowprops=look, zorder=9)
