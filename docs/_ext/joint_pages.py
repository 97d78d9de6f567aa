"""The reference of joints: each joint of the catalogue with a drawing, its rows, its freedoms, and the sign and zero of its coordinates."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import coupled_joints
import formulas as typesetting
import joint_drawing

import haugmbd as mbd
import joints
from haugmbd.constraints.freedoms import Freedom, Kind

GEOMETRY: dict[str, Any] = {
    "point": (0.0, 0.0, 0.0),
    "point_i": (-0.25, 0.0, 0.0),
    "point_j": (0.3, 0.15, 0.2),
    "axis": (0.0, 0.0, 1.0),
    "axis_i": (0.0, 1.0, 0.0),
    "axis_j": (0.0, 0.0, 1.0),
    "normal": (0.0, 0.0, 1.0),
}
"""What the joints of the drawings are made of, by the names of their arguments."""

HEAD = """# Joints: reference

Each joint is made of constraint equations between body i (grey) and body j (blue). The drawings are made by the library from the joint
itself: **f**, **g** and **h** are the axes of its frame on body i, orange arrows are the freedoms of body j relative to body i, in their
positive sense. Composition, rows and freedoms are read from the code, and the signs are those of the docstrings.

`SJ` stands for three CD, `perp-1` for two DP1 and `perp-2` for two DP2; the equations themselves are in the
[reference of the equations](api/a-mechanism.rst).

"""

MORE = """
# Couplings, rolling and guides: reference

The rows of [couplings](../couplings.md) touch the bodies of several joints, those of [rolling](../rolling.md) are mostly
rows of velocities. Orange arrows are the coordinates that a coupling relates, in their positive sense.
"""


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the page, and write the drawings."""
    folder = generated / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [HEAD, overview(), *(section(kind, folder) for kind in joints.CATALOGUE), MORE]
    parts += [
        section(kind, folder)
        for kind in (*joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES, *joints.ROPES, *joints.MOTIONS)
        if kind.__name__ in coupled_joints.EXAMPLES
    ]
    return {"joints.md": "\n".join(parts)}


def built(kind: type[Any]) -> tuple[mbd.System, Any]:
    """Return a system with a joint of this kind between the ground and a body, and the joint."""
    if kind.__name__ in coupled_joints.EXAMPLES:
        return coupled_joints.EXAMPLES[kind.__name__]()
    ground = mbd.Box((0.7, 0.5, 0.24), center=(-0.6, 0.0, 0.0), color="#9aa5b1")
    system = mbd.System(kind.__name__, ground_shape=ground)
    body = mbd.Body("j", 1.0, (0.1, 0.1, 0.1), r=(0.65, 0.15, 0.2), shape=mbd.Box((0.7, 0.4, 0.2), color="#0072b2"))
    system.add(body)
    asked = inspect.signature(kind).parameters
    if "joint" in asked:
        base = joints.RJ if kind is joints.RotationDriver else joints.TJ
        driven = system.add(base("driven", system.ground, body, point=GEOMETRY["point"], axis=GEOMETRY["axis"]))
        return system, system.add(kind("drive", driven, lambda t: 0.5 * t))
    given = {name: value for name, value in GEOMETRY.items() if name in asked}
    return system, system.add(kind("joint", system.ground, body, **given))


def overview() -> str:
    """Return the table of all joints."""
    lines = ["| joint | rows | equations | freedoms of body j |", "|---|---|---|---|"]
    for kind in joints.CATALOGUE:
        _, joint = built(kind)
        lines.append(f"| [`{kind.__name__}`](#{anchor(kind)}) | {joint.rows} | {equations(joint)} | {freedoms(joint)} |")
    return "\n".join(lines) + "\n"


def anchor(kind: type[Any]) -> str:
    """Return the target of the section of a joint."""
    return heading(kind).lower().replace(" ", "-").replace(",", "")


def heading(kind: type[Any]) -> str:
    """Return the heading of the section of a joint: its name, and its long name."""
    long = [name for name in joints.__all__ if getattr(joints, name) is kind and name != kind.__name__]
    return ", ".join([kind.__name__, *long])


def equations(joint: Any) -> str:
    """Return the kinds of equations that a joint is composed of, such as 3 CD, 2 DP1."""
    return ", ".join(f"{n} {name}" for name, n in Counter(row.kind for row in joint.primitives()).items())


def freedoms(joint: Any) -> str:
    """Return the declared freedoms in words."""
    if joint.needs():
        return "one less than the driven joint (drawn: the one that is prescribed)"
    if joint.freedoms is None:
        return "not declared"
    if not joint.freedoms:
        return "none"
    balls = sum(one.kind is Kind.BALL for one in joint.freedoms)
    words = [word(one) for one in joint.freedoms if one.kind is not Kind.BALL]
    return ", ".join([*words, *(["three rotations about the point of body j"] if balls else [])])


def word(freedom: Freedom) -> str:
    """Return one freedom in words, such as `turns about h_i`."""
    verb = "turns about" if freedom.kind is Kind.TURN else "slides along"
    return f"{verb} {freedom.axis.name.lower()}_{freedom.side.value}"


def section(kind: type[Any], folder: Path) -> str:
    """Return the section of one joint."""
    system, joint = built(kind)
    name = f"joint-{kind.__name__}.png"
    coupled = kind.__name__ in coupled_joints.EXAMPLES
    (coupled_joints if coupled else joint_drawing).draw(system, joint, folder / name)
    module = inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "")
    says, formulas = module.splitlines()[0], [line.strip() for line in module.splitlines() if line.startswith("    ")]
    if kind in joints.ROLLING:  # they share a file
        says = (inspect.getdoc(kind) or "").split(". ")[0]
        formulas = [formula for formula in formulas if formula.startswith(kind.__name__)]
    first = says.split(": ", 1)[1].rstrip(".")
    notes = re.search(r"Notes\n-+\n(.*)\Z", inspect.getdoc(kind) or "", flags=re.DOTALL)
    rows = [f"| {k} | {row.kind} | {row.words()} | {equation(row.symbols)} |" for k, row in enumerate(joint.primitives())]
    call = f"{kind.__name__}{inspect.signature(kind)}"
    return "\n".join(
        [
            f"\n## {heading(kind)}\n",
            f"{first[0].upper()}{first[1:]}.\n",
            f"```{{image}} figures/{name}\n:alt: {kind.__name__}, its bodies and freedoms\n:class: joint-drawing\n```\n",
            "```text\n" + re.sub(r": 'Body'|: Any|: str|: Body| -> None|'", "", call) + "\n```\n",
            typesetting.markdown(formulas),
            f"Rows: {joint.rows}.{'' if coupled else f' Freedoms: {freedoms(joint)}.'}\n",
            f"Sign and zero: {' '.join(notes[1].split())}\n" if notes else "",
            "| row | kind | says | equation |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def equation(symbols: str) -> str:
    """Return the equation of a row, typeset part by part; parts that are words stay words."""
    parts = re.split(r",  |; ", symbols)
    return ", ".join(f"${made}$" if (made := typesetting.tex(part)) else part.replace("|", "\\|") for part in parts)
