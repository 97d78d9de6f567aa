"""Figures of the signs on the page of concepts: each shows a mechanism, and what the library computes of it."""

from __future__ import annotations

from collections.abc import Callable
from math import degrees, radians
from pathlib import Path
from typing import Any

import numpy as np
from joint_drawing import line

import haugmbd as mbd
from haugmbd.bodies.inertia import rod
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import of_system
from joints import RJ, TJ, RotationDriver, TranslationDriver

GLOBAL, BODY, SIGN = "#333d47", "#0072b2", "#d55e00"
"""Colours: the global frame and body i, the frame of the body, what is positive."""
GREY = "#9aa5b1"


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Draw the figures; they have no page of their own."""
    folder = generated / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        draw(folder / f"sign-{name}.png")
    return {}


class Sheet:
    """A drawing of a system at a state, to which vectors and arcs are added."""

    def __init__(self, system: mbd.System, r: Any = None, p: Any = None) -> None:
        mechanism = of_system(system)
        r, p = mechanism.r if r is None else r, mechanism.p if p is None else p
        self.drawing = Drawing(mechanism, Frames(np.zeros(1), r[None], p[None], np.ones(1, dtype=bool), ()))
        self.drawing.place(0)
        A = rotation_matrix(p)
        corners = [np.zeros((0, 3)), *(t.reshape(-1, 3) @ A[k].T + r[k] for k, t in enumerate(self.drawing.bodies))]
        self.points: list[Any] = list(self.drawing.project(np.concatenate(corners))[:, :2])

    def arrow(self, start: Any, along: Any, text: str, color: str, *, dashed: bool = False) -> None:
        """Draw a vector with its name at its tip."""
        start, end = np.asarray(start, float), np.asarray(start, float) + np.asarray(along, float)
        line(self.drawing, np.stack([start, end]), color=color, linewidth=1.8, linestyle="--" if dashed else "-")
        self._head(np.stack([start, start + 0.98 * (end - start), end]), color)
        self.text(end + 0.09 * np.asarray(along) / np.linalg.norm(along), text, color)

    def arc(self, center: Any, axis: Any, start: Any, angle: float, text: str) -> None:
        """Draw the turn of a vector about an axis by an angle, with an arrowhead."""
        turns = [rotation_matrix(from_axis_angle(axis, s)) @ start for s in np.linspace(0.0, angle, 40)]
        path = np.asarray(center) + np.array(turns)
        line(self.drawing, path, color=SIGN, linewidth=2.2)
        self._head(path, SIGN)
        self.text(np.asarray(center) + 1.22 * turns[len(turns) // 2], text, SIGN)

    def _head(self, path: Any, color: str) -> None:
        """Draw an arrowhead at the end of a path."""
        ends = self.drawing.project(path)[:, :2]
        self.drawing.axes.annotate("", ends[-1], ends[-2], arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.8}, zorder=9)
        self.points += list(ends)

    def text(self, point: Any, text: str, color: str) -> None:
        """Write a text at a point in space."""
        at = self.drawing.project(np.asarray(point))[:2]
        self.drawing.axes.text(at[0], at[1], text, color=color, ha="center", va="center", fontsize=12, zorder=10)
        self.points.append(at)

    def save(self, path: Path, title: str) -> None:
        """Write the picture with a title around all that was drawn."""
        points = np.array(self.points)
        (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
        margin = 0.14 * max(right - left, high - low)
        self.drawing.axes.set_xlim(left - 1.6 * margin, right + 1.6 * margin)
        self.drawing.axes.set_ylim(low - margin, high + margin)
        self.drawing.title.set(text=title, fontsize=10)
        self.drawing.figure.set_size_inches(6.4, 4.2)
        self.drawing.figure.savefig(path, dpi=80)
        self.drawing.close()


def frame(sheet: Sheet, point: Any, A: Any, names: str, color: str, length: float = 0.8) -> None:
    """Draw three axes."""
    for name, axis in zip(names.split(), np.asarray(A).T, strict=True):
        sheet.arrow(point, length * axis, name, color)


def euler_parameters(path: Path) -> None:
    """A body that is turned about an axis, its frame, and its Euler parameters."""
    axis, angle = np.array([2.0, -1.0, 2.0]) / 3.0, radians(70.0)
    p = from_axis_angle(axis, angle)
    system = mbd.System("p")
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), p=p, shape=mbd.Box((0.5, 0.3, 0.15), color=BODY)))
    sheet = Sheet(system)
    frame(sheet, np.zeros(3), np.eye(3), "x y z", GLOBAL)
    frame(sheet, np.zeros(3), body.A, r"$\bar{x}$ $\bar{y}$ $\bar{z}$", BODY)
    sheet.arrow(np.zeros(3), 0.9 * axis, "u", SIGN, dashed=True)
    across = np.array([1.0, 0.0, 0.0]) - axis[0] * axis
    sheet.arc(0.5 * axis, axis, 0.35 * across / np.linalg.norm(across), angle, r"$\chi$")
    numbers = ", ".join(f"{x:.3f}" for x in p)
    sheet.save(
        path, rf"$p = (\cos\frac{{\chi}}{{2}},\ u\,\sin\frac{{\chi}}{{2}})$;  here $\chi$ = {degrees(angle):.0f}°,  p = ({numbers})"
    )


def moved(kind: Any, driver: Any, value: float) -> tuple[mbd.System, Any, mbd.Result]:
    """Return a system whose joint is driven from 0 to a value in 1 s, the joint, and the motion."""
    ground = mbd.Box((0.7, 0.4, 0.2), center=(-0.55, 0.0, 0.0), color=GREY)
    system = mbd.System("sign", ground_shape=ground)
    body = system.add(mbd.Body("j", 1.0, (0.1, 0.1, 0.1), r=(0.55, 0.0, 0.0), shape=mbd.Box((0.7, 0.3, 0.16), color=BODY)))
    joint = system.add(kind("joint", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(driver("drive", joint, lambda t: value * t))
    return system, joint, mbd.kinematics(system, [0.0, 1.0])


def angle(path: Path) -> None:
    """The angle of a revolute joint."""
    system, joint, result = moved(RJ, RotationDriver, radians(50.0))
    sheet = Sheet(system, result.r[-1], result.p[-1])
    A_i = joint.frame_i.A_bar
    A_j = rotation_matrix(result.p[-1, 1]) @ joint.frame_j.A_bar
    frame(sheet, np.zeros(3), A_i, "$f_i$ $g_i$ $h_i$", GLOBAL, 1.0)
    sheet.arrow(np.zeros(3), 1.2 * A_j[:, 0], "$f_j$", BODY)
    found = result.joint("joint").angle[-1]
    sheet.arc(np.zeros(3), A_i[:, 2], 0.85 * A_i[:, 0], found, r"$\theta$")
    sheet.save(path, rf"result.joint(name).angle = {found:.4f} rad: from $f_i$ to $f_j$, right-handed about $h_i$")


def displacement(path: Path) -> None:
    """The displacement of a translational joint."""
    system, joint, result = moved(TJ, TranslationDriver, 0.45)
    sheet = Sheet(system, result.r[-1], result.p[-1])
    frame(sheet, np.zeros(3), joint.frame_i.A_bar, "$f_i$ $g_i$ $h_i$", GLOBAL, 0.75)
    found = result.joint("joint").displacement[-1]
    sheet.arrow((0.14, 0.0, 0.0), found * joint.frame_i.A_bar[:, 2], "s", SIGN)
    sheet.save(path, f"result.joint(name).displacement = {found:.4f} m: of body j along $h_i$")


def reaction(path: Path) -> None:
    """The reaction of a pin on both bodies."""
    system = mbd.System(
        "reaction", gravity=(0.0, 0.0, -9.81), ground_shape=mbd.Box((0.2, 0.3, 0.5), center=(-0.1, 0, 0), color=GREY)
    )
    bar = system.add(mbd.Body("bar", *rod(1.0, mass=2.0), r=(0.5, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    result = mbd.simulate(system, 1e-3, h=1e-3)
    on_j, on_i = (result.reaction("pin", on=side).force[0] for side in ("j", "i"))
    sheet, scale = Sheet(system), 0.06
    sheet.arrow((0.0, 0.0, 0.0), scale * on_j, "on body j, the bar", SIGN)
    sheet.arrow((-0.1, 0.0, -0.25), scale * on_i, "on body i, the ground", GLOBAL)
    sheet.arrow((0.5, 0.0, 0.0), scale * bar.mass * np.array(system.gravity), "weight", BODY)
    numbers = ", ".join(f"{x:.3f}" for x in on_j + 0.0)
    sheet.save(path, f"a bar of {bar.mass:g} kg at its release: result.reaction('pin').force[0] = ({numbers}) N")


def spring(path: Path) -> None:
    """Length and force of a spring."""
    system = mbd.System("spring", ground_shape=mbd.Box((0.1, 0.4, 0.4), center=(-0.05, 0.0, 0.0), color=GREY))
    body = system.add(mbd.Body("j", 1.0, (0.1, 0.1, 0.1), r=(1.2, 0.0, 0.0), shape=mbd.Box((0.4, 0.3, 0.3), color=BODY)))
    system.add(TJ("slide", system.ground, body, point=(1.2, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.TSDA("spring", system.ground, body, point_i=(0, 0, 0), point_j=(1.0, 0, 0), k=10.0, l0=0.7))
    load = mbd.simulate(system, 1e-3, h=1e-3).load("spring")
    sheet, scale = Sheet(system), 0.09
    sheet.arrow((0.0, 0.0, 0.2), (load.length[0], 0.0, 0.0), "length", GLOBAL)
    for x, way, body_name in ((0.0, 1.0, "i"), (1.0, -1.0, "j")):
        sheet.arrow((x, 0.0, 0.0), (way * scale * load.force[0], 0.0, 0.0), "", SIGN)
        sheet.text((x + 0.2 * way, 0.0, -0.16), f"on body {body_name}", SIGN)
    sheet.save(
        path, f"result.load(name).force = {load.force[0]:.3g} N: positive pulls both ends together, length {load.length[0]:g} m"
    )


FIGURES: dict[str, Callable[[Path], None]] = {
    "euler_parameters": euler_parameters,
    "angle": angle,
    "displacement": displacement,
    "reaction": reaction,
    "spring": spring,
}
"""The figures by name."""
