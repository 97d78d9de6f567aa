"""Mistakes, one each, in a mechanism that is right otherwise: what is wrong, how it is made, and what must be said, by name.

docs/mobility.md shows this table; the test that compares prints it where it differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, RotationDriver

POINTS = {"A": (0, 0, 0), "B": (0, 1, 0), "C": (3, 2, 0), "D": (4, 0, 0)}
Z = (0, 0, 1)


def bar(name: str, start: str, end: str, **changes: Any) -> mbd.Body:
    """A slender rod of 1 kg/m between two points, its x along itself."""
    a, b = (np.array(POINTS[point], dtype=float) for point in (start, end))
    length, angle = float(np.linalg.norm(b - a)), np.arctan2((b - a)[1], (b - a)[0])
    J = length**3 / 12.0
    given = {"mass": length, "J_bar": (0.0, J, J), "r": (a + b) / 2, "p": (np.cos(angle / 2), 0, 0, np.sin(angle / 2))}
    return mbd.Body(name, **{**given, **changes})


def four_bar(
    *,
    name: str = "four-bar",
    crank: dict[str, Any] | None = None,
    joint_c: Callable[..., mbd.Joint] = RJ,
    name_c: str = "C",
    **changes: Any,
) -> mbd.System:
    """A four-bar of four hinges; `crank`: changes of the crank; `joint_c`, `changes`: what stands at C and with what."""
    system = mbd.System(name, gravity=(0, -9.81, 0))
    a = system.add(bar("crank", "A", "B", **(crank or {})))
    b, c = system.add(bar("coupler", "B", "C")), system.add(bar("rocker", "C", "D"))
    system.add(RJ("A", system.ground, a, point=POINTS["A"], axis=Z))
    system.add(RJ("B", a, b, point=POINTS["B"], axis=Z))
    given = {"point": POINTS["C"], "axis": Z} if joint_c in (RJ, CJ, TJ) else {"point": POINTS["C"]}
    system.add(joint_c(name_c, b, c, **{**given, **changes}))
    system.add(RJ("D", c, system.ground, point=POINTS["D"], axis=Z))
    return system


def add(make: Callable[[mbd.System], Any], system: mbd.System | None = None) -> mbd.System:
    """The four-bar with something more."""
    system = four_bar() if system is None else system
    system.add(make(system))
    return system


OTHER = four_bar(name="other")
"""Another system, which lives as long as its bodies are talked about."""


def driven(*functions: Any) -> mbd.System:
    """The four-bar with drivers on its crank."""
    system = four_bar()
    for name, f in zip(("motor", "second motor"), functions, strict=False):
        system.add(RotationDriver(name, system["A"], f))
    return system


def points_apart() -> mbd.System:
    system = four_bar()
    lid = system.add(mbd.Body("lid", 1.0, (0.1, 0.1, 0.1), r=(4, 0, 1)))
    system.add(SJ.from_vectors("hook", system.ground, (4, 0, 0.5), lid, (0, 0, -0.4)))
    return system


def locked_driver() -> mbd.System:
    system = four_bar()
    system.add(Fixed("weld", system.ground, system["crank"], point=POINTS["A"]))
    system.add(RotationDriver("motor", system["A"], lambda t: 2.0 * t))
    return system


def dead_centre() -> mbd.System:
    system = mbd.System("stretched")
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    for name, x in (("left", 0.0), ("right", 2.0)):
        system.add(Distance(name, system.ground, bob, point_i=(x, 0, 0), point_j=(1, 0, 0)))
    return system


def rods(*lengths: float) -> mbd.System:
    system = four_bar()
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(9, 0, 0)))
    for name, length in zip(("first rod", "second rod"), lengths, strict=False):
        system.add(Distance(name, system.ground, bob, point_i=(8, 0, 0), point_j=(9, 0, 0), distance=length))
    return system


def stranger() -> mbd.System:
    return add(lambda s: SJ("hook", s["rocker"], OTHER["crank"], point=(0, 0.5, 0)))


class Mistake(NamedTuple):
    """what was done wrong;  make: the system, or an error already there;  says: what must be said, parts of it in this order."""

    what: str
    make: Callable[[], mbd.System]
    says: tuple[str, ...]


def hinge(s: mbd.System, **changes: Any) -> mbd.Joint:
    return RJ(**{"name": "hook", "i": s["rocker"], "j": s.ground, "point": (4, 0, 0), "axis": Z, **changes})


MISTAKES = (
    Mistake(
        "one hinge of a loop has another axis",
        lambda: four_bar(axis=(0, 0.1, 1)),
        ("the loop of 'A', 'B', 'C', 'D' is locked", "the axis of 'C' is 5.71 degrees off"),
    ),
    Mistake("points that do not coincide", points_apart, ("joint 'hook': its points are 0.1 m apart",)),
    Mistake("a negative mass", lambda: four_bar(crank={"mass": -1.0}), ("body 'crank': mass is -1.0 kg, must be positive",)),
    Mistake(
        "principal moments in another order",
        lambda: four_bar(crank={"J_bar": (1 / 12, 0.0, 1 / 12)}),
        ("body 'crank': it is slender along y of its frame", "its joints 'A' and 'B' lie along x"),
    ),
    Mistake(
        "moments that no body can have",
        lambda: four_bar(crank={"J_bar": (0.1, 0.1, 0.3)}),
        ("body 'crank': J_bar breaks the triangle inequality",),
    ),
    Mistake(
        "a mass in grams",
        lambda: four_bar(crank={"mass": 1000.0, "J_bar": (1e-4, 1 / 12, 1 / 12)}),
        ("body 'crank': mass 1000 kg and J_bar give a radius of gyration of 0.00913 m", "joints are up to 0.5 m away"),
    ),
    Mistake("Euler parameters that are not normed", lambda: four_bar(crank={"p": (1, 0, 0, 1)}), ("body 'crank'", "|p| = 1.41421")),
    Mistake(
        "a joint between a body and itself",
        lambda: add(lambda s: hinge(s, j=s["rocker"])),
        ("joint 'hook': it joins body 'rocker' to itself",),
    ),
    Mistake(
        "a joint between ground and ground",
        lambda: add(lambda s: hinge(s, i=s.ground)),
        ("joint 'hook': it joins body 'ground' to itself",),
    ),
    Mistake("a name in place of a body", lambda: add(lambda s: hinge(s, i="rocker")), ("a joint needs two bodies, got 'rocker'",)),
    Mistake(
        "a body of another system",
        stranger,
        ("body 'crank': joint 'hook' is attached to it, but it is not in system 'four-bar': it belongs to system 'other'",),
    ),
    Mistake(
        "a body that was never added",
        lambda: add(lambda s: hinge(s, i=mbd.Body("lid", 1.0, (1, 1, 1)))),
        ("body 'lid': joint 'hook' is attached to it", "it was never added"),
    ),
    Mistake(
        "a body that nothing holds", lambda: add(lambda s: mbd.Body("lid", 1.0, (1, 1, 1))), ("body 'lid': no joint holds it",)
    ),
    Mistake("two joints of one name", lambda: four_bar(name_c="B"), ("joint 'B': the name is used 2 times",)),
    Mistake("an axis of length zero", lambda: four_bar(axis=(0, 0, 0)), ("joint 'C': axis is (0, 0, 0)",)),
    Mistake(
        "a universal joint with parallel axes",
        lambda: four_bar(joint_c=UJ, axis_i=(1, 0, 0), axis_j=(1, 0, 0)),
        ("joint 'C': axis_i (on 'coupler') and axis_j (on 'rocker') are parallel",),
    ),
    Mistake("a distance of zero", lambda: rods(0.0), ("joint 'first rod'", "the distance is 0 m")),
    Mistake(
        "two rods that cannot both fit",
        lambda: rods(1.0, 1.2),
        ("'first rod', 'second rod': 1 row depends on the others", "CONFLICTING by 0.2 m"),
    ),
    Mistake(
        "a driver of a body, not of a joint",
        lambda: add(lambda s: RotationDriver("motor", s["crank"], 0.0)),
        ("joint 'motor' drives a joint, got Body('crank'",),
    ),
    Mistake(
        "a driver of a joint that was never added",
        lambda: add(lambda s: RotationDriver("motor", hinge(s), 0.0)),
        ("joint 'motor': its joint 'hook' is not in system 'four-bar'",),
    ),
    Mistake(
        "a driver that begins elsewhere",
        lambda: driven(lambda t: 0.3 + t),
        ("joint 'motor': the driver of Rotation gives 0.3 rad at t = 0 s, and the modelled value is 0 rad",),
    ),
    Mistake(
        "two drivers that say the same",
        lambda: driven(lambda t: 2.0 * t, lambda t: 2.0 * t),
        ("'motor', 'second motor': 1 row depends on the others along the motion", "'second motor' Rotation = 'motor' Rotation"),
    ),
    Mistake(
        "two drivers that disagree",
        lambda: driven(lambda t: 2.0 * t, lambda t: 5.0 * t),
        ("'motor', 'second motor': 1 row depends on the others along the motion", "CONFLICTING by 3 rad/s"),
    ),
    Mistake("a driver of a joint that is locked", locked_driver, ("'weld', 'motor'", "CONFLICTING by 2 rad/s")),
    Mistake(
        "bars in line as modelled",
        dead_centre,
        ("'left', 'right': 1 row depends on the others", "only there", "The pose is singular"),
    ),
)


def said(mistake: Mistake) -> str:
    """The report, or the error that was raised before there was anything to report on; in one line."""
    try:
        text = str(mbd.mobility(mistake.make()))
    except mbd.HaugmbdError as error:
        text = str(error)
    return " ".join(text.split())


def table() -> list[str]:
    """The lines of that table."""
    lines = ["| mistake | message |", "|---|---|"]
    for mistake in MISTAKES:
        sentences = " ... ".join(mistake.says).replace("|", "\\|")
        lines.append(f"| {mistake.what} | {sentences} |")
    return lines
