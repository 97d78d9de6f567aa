"""The reference of force elements: each kind with a drawing of what it acts on, its law, its signs and its arguments."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import coupled_joints
import formulas as typesetting
import joint_drawing
import numpy as np

import haugmbd as mbd
import joints
from haugmbd.forces import KINDS
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import of_system

HEAD = """# Force elements: reference

Each kind of force element, read from the code: what it acts on, its law, and which sense is positive. Orange arrows are the
forces and torques on the bodies where the number that the element reports is positive. How they are used stands on the page of
[forces](../forces.md).

"""

GREY, BLUE = "#9aa5b1", "#0072b2"
PAIR, TURN, POINT, FREE = "pair", "turn", "point", "free"
TOUCH, SOFT, FLUID = "touch", "soft", "fluid"
"""What an element acts on: two points, the coordinate of a joint, a point of a body, a body; two shapes that touch, a place between two
bodies, a shape in a fluid."""


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the page, and write the drawings."""
    folder = generated / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    return {"forces.md": HEAD + "\n".join(section(kind, folder) for kind in KINDS)}


def section(kind: type[Any], folder: Path) -> str:
    """Return the section of one kind."""
    doc, module = inspect.getdoc(kind) or "", inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "")
    formulas = [line for line in module.splitlines() if line.startswith("    ")]
    notes = re.search(r"Notes\n-+\n(.*?)(?:\n\n[A-Z]\w+\n-+\n|\Z)", doc, flags=re.DOTALL)
    parts = [f"\n## {kind.__name__}\n", " ".join(doc.split("\n\n")[0].split()) + "\n"]
    if what := acts_on(kind):
        name = f"force-{kind.__name__}.png"
        draw(kind, what, folder / name)
        parts.append(f"```{{image}} figures/{name}\n:alt: what {kind.__name__} acts on\n:class: joint-drawing\n```\n")
    parts += [f"```text\n{call(kind)}\n```\n", typesetting.markdown(formulas)]
    if notes:
        parts.append(f"Signs: {' '.join(notes[1].split())}\n")
    parts.append(f"All arguments: {{py:class}}`haugmbd.{kind.__name__}`.\n")
    return "\n".join(parts)


def call(kind: type[Any]) -> str:
    """Return how a kind is called, with its defaults."""
    given, named = list[str](), False
    for name, one in inspect.signature(kind).parameters.items():
        if one.kind is one.KEYWORD_ONLY and not named:
            given, named = [*given, "*"], True
        given.append(name if one.default is one.empty else f"{name}={one.default!r}")
    return f"{kind.__name__}({', '.join(given)})"


def acts_on(kind: type[Any]) -> str:
    """Return what an element of a kind acts on, "" for one that is not drawn."""
    asked = inspect.signature(kind).parameters
    if {"point_i", "point_j"} <= set(asked):
        return PAIR
    if {"shape_i", "shape_j"} <= set(asked):
        return TOUCH
    if {"K", "point"} <= set(asked):
        return SOFT
    if {"shape", "density"} <= set(asked):
        return FLUID
    if {"joint", "joints"} & set(asked):
        return TURN
    return POINT if {"body", "force"} <= set(asked) else FREE if {"body", "torque"} <= set(asked) else ""


def draw(kind: type[Any], what: str, path: Path) -> None:
    """Draw two bodies, and the forces or torques on them."""
    system = mbd.System("forces", ground_shape=mbd.Box((0.12, 0.5, 0.5), center=(-0.06, 0.0, 0.0), color=GREY))
    if what == TURN:
        system = mbd.System("forces")
        coupled_joints.wheel(system, "j", 0.0, 0.4)
    elif what == TOUCH:
        ball = system.add(mbd.Body("i", 1.0, (0.1, 0.1, 0.1), r=(0.24, 0.0, 0.0), shape=mbd.Sphere(0.25, color=BLUE)))
        floor = mbd.Plane(normal=(1, 0, 0))
        system.add(mbd.ContactForce("contact", ball, system.ground, shape_i=mbd.Sphere(0.25), shape_j=floor, K=1.0))
    elif what == FLUID:
        system = mbd.System("forces")
        system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), shape=mbd.Box((0.5, 0.3, 0.3), color=BLUE)))
    elif what == SOFT:
        system.add(mbd.Body("j", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0), shape=mbd.Box((0.5, 0.4, 0.4), color=BLUE)))
    else:
        system.add(mbd.Body("j", 1.0, (0.1, 0.1, 0.1), r=(1.25, 0.0, 0.0), shape=mbd.Box((0.5, 0.4, 0.4), color=BLUE)))
    if kind is mbd.TSDA:
        system.add(mbd.TSDA("spring", system.ground, system.bodies[1], point_i=(0, 0, 0), point_j=(1, 0, 0), k=1.0, l0=0.8))
    mechanism = of_system(system)
    drawing = Drawing(mechanism, Frames(np.zeros(1), mechanism.r[None], mechanism.p[None], np.ones(1, dtype=bool), ()))
    drawing.place(0)
    drawing.title.set_text("")
    marks(drawing, kind, what, system)
    if half := {TOUCH: 0.85, SOFT: 0.85, FLUID: 1.2}.get(what):  # room for the arrows beside the bodies
        for limits, put in ((drawing.axes.get_xlim(), drawing.axes.set_xlim), (drawing.axes.get_ylim(), drawing.axes.set_ylim)):
            put(np.mean(limits) + half * np.ptp(limits) * np.array([-1.0, 1.0]))
    drawing.axes.set_position((0.0, 0.0, 1.0, 1.0))
    drawing.figure.set_size_inches(6.6, 3.6)
    drawing.figure.savefig(path, dpi=80)
    drawing.close()


def marks(drawing: Drawing, kind: type[Any], what: str, system: mbd.System) -> None:
    """Draw the arrows."""
    steps = np.linspace(0.0, 0.35, 9)[:, None]
    x = np.array([1.0, 0.0, 0.0])
    if what == PAIR:
        pull = 1.0 if kind is mbd.TSDA else -1.0
        joint_drawing.line(drawing, np.array([[0.0, 0.0, 0.0], x]), color=joint_drawing.AXES[0], linewidth=0.8, linestyle="--")
        coupled_joints.line(drawing, pull * steps * x)
        coupled_joints.line(drawing, x - pull * steps * x)
    elif what == TOUCH:
        coupled_joints.line(drawing, (0.5 + steps) * x)
        coupled_joints.line(drawing, -(0.13 + steps) * x)
    elif what == SOFT:
        corner = np.array([0.12, 0.0, 0.32])
        for axis in np.eye(3):
            joint_drawing.line(drawing, corner + np.array([[0.0], [0.3]]) * axis, color=joint_drawing.AXES[0], linewidth=0.8)
        coupled_joints.line(drawing, (0.78 + steps) * x)
        coupled_joints.line(drawing, -(0.13 + steps) * x)
    elif what == FLUID:
        up = np.array([0.0, 0.0, 1.0])
        if kind is mbd.Drag:
            for side in (-0.3, 0.3):  # the flow against the body
                path = np.array([[-0.9, 0.0, side], [0.7, 0.0, side]])
                joint_drawing.line(drawing, path, color=joint_drawing.AXES[0], linewidth=0.8, linestyle="--")
        coupled_joints.line(drawing, 0.3 * x + steps * x if kind is mbd.Drag else (0.2 + steps) * up)
    elif what == POINT:
        coupled_joints.line(drawing, np.array([1.0, 0.0, 0.0]) + steps * np.array([0.3, 0.0, 1.0]))
    elif what == FREE:
        angle = np.linspace(-1.9, 1.9, 60)[:, None]
        coupled_joints.line(
            drawing, np.array([1.25, 0.0, 0.3]) + 0.2 * (np.cos(angle) * x + np.sin(angle) * np.array([0.0, 1.0, 0.0]))
        )
    else:
        wheel = next(joint for joint in system.joints if isinstance(joint, joints.RJ))
        freedom = wheel.freedoms[0]
        coupled_joints.arrow(drawing, wheel, freedom, sense=-1.0 if kind is mbd.RSDA else 1.0)
