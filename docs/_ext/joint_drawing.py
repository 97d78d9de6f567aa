"""A drawing of one joint: two bodies by the viewer's own drawing, and over it the axes of the joint and its freedoms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.constraints.freedoms import Freedom, Kind, Side
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import of_system

LENGTH = 0.55
"""Of the drawn axes [m]."""
FREE, AXES = "#d55e00", ("#333d47", "#333d47", "#333d47")


def draw(system: mbd.System, joint: Any, path: Path) -> None:
    """Draw a system of two bodies with one joint, and save the picture."""
    mechanism = of_system(system)
    still = Frames(np.zeros(1), mechanism.r[None], mechanism.p[None], np.ones(1, dtype=bool), ())
    drawing = Drawing(mechanism, still)
    drawing.place(0)
    drawing.title.set_text("")
    axes(drawing, joint)
    shown = joint.needs()[0].freedoms if joint.needs() else joint.freedoms  # of a driver: the freedom that it prescribes
    for number, freedom in enumerate(shown or ()):
        arrow(drawing, joint, freedom, number)
    drawing.axes.set_xlim(-1.05, 1.15)
    drawing.axes.set_ylim(-0.55, 0.85)
    drawing.axes.set_position((0.0, 0.0, 1.0, 1.0))
    drawing.figure.set_size_inches(6.6, 4.2)
    drawing.figure.savefig(path, dpi=80)
    drawing.close()


def frame(joint: Any, side: Side) -> tuple[Any, Any]:
    """Return the point and the axes (columns) of the frame of a joint on one side, global frame."""
    given = joint.frame_i if side is Side.I else joint.frame_j
    body = given.body
    return body.r + body.A @ given.s_bar, body.A @ given.A_bar


def axes(drawing: Drawing, joint: Any) -> None:
    """Draw f, g and h of body i."""
    point, A = frame(joint, Side.I)
    for name, color, axis in zip("fgh", AXES, A.T, strict=True):
        line(drawing, np.stack([point, point + LENGTH * axis]), color=color, linewidth=1.1, linestyle="--")
        at = drawing.project(point + 1.1 * LENGTH * axis)
        drawing.axes.text(at[0], at[1], name, color=color, ha="center", va="center", fontsize=13, style="italic", zorder=9)


def arrow(drawing: Drawing, joint: Any, freedom: Freedom, number: int) -> None:
    """Draw one freedom: an arc about an axis, or a straight arrow along it."""
    point, A = frame(joint, freedom.side)
    axis, first = A[:, freedom.axis], A[:, (freedom.axis + 1) % 3]
    if freedom.kind is Kind.SLIDE:
        out = point + (0.3 - 0.02 * number) * LENGTH * np.cross(axis, first)
        path = out + np.linspace(-0.7, 0.7, 20)[:, None] * LENGTH * axis
    else:
        angle = np.linspace(-1.9, 1.9, 60)[:, None]
        second = np.cross(axis, first)
        path = point + LENGTH * (0.78 * axis + 0.2 * (np.cos(angle) * first + np.sin(angle) * second))
    line(drawing, path, color=FREE, linewidth=2.2)
    ends = drawing.project(path)[:, :2]
    drawing.axes.annotate("", ends[-1], ends[-3], arrowprops={"arrowstyle": "-|>", "color": FREE, "lw": 2.2}, zorder=9)


def line(drawing: Drawing, points: Any, **style: Any) -> None:
    """Draw a line through points in space."""
    flat = drawing.project(points)
    drawing.axes.plot(flat[:, 0], flat[:, 1], zorder=8, **style)
