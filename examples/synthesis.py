"""Three mechanisms that are designed by their derivatives: a coupler that draws a straight line, a suspension that does not steer, and a
crank with the least peak torque.

`fit` brings a point to a wanted curve, which is data as a measured one is; `optimize` makes a number of a motion least, by gradients.
python examples/synthesis.py [FOLDER]            the picture goes to FOLDER, if one is given
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import haugmbd as mbd
from joints import RJ, SJ, Distance, RotationDriver

Z = (0, 0, 1)
SWEEP = np.linspace(0.0, 1.0, 19)  # part of the half turn in which the coupler draws its line
TURN = np.linspace(0.0, 1.0, 49)  # time of one turn of the crank [s]
TRAVEL = np.linspace(0.0, 1.0, 17)  # time in which the wheel goes up and down [s]


# ---------------------------------------------------------------------------------------------------------------- a straight line
def pins(crank: float, coupler: float, rocker: float, base: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Where the pins B, C, D are, with the crank upright, and the angle of the coupler."""
    B, D = np.array([0.0, crank, 0.0]), np.array([base, 0.0, 0.0])
    gap = D - B
    c = (coupler**2 + gap @ gap - rocker**2) / (2 * coupler * np.sqrt(gap @ gap))
    angle = np.arctan2(gap[1], gap[0]) + np.arccos(c)
    return B, B + coupler * np.array([np.cos(angle), np.sin(angle), 0.0]), D, angle


def four_bar(crank: float, coupler: float, rocker: float, base: float, weight: float = 0.0, radius: float = 0.1) -> mbd.System:
    """A crank-rocker of slender rods (1 kg/m), driven once around in a second; a weight [kg] on the crank, opposite to its pin B."""
    B, C, D, _ = pins(crank, coupler, rocker, base)
    system = mbd.System("four-bar", gravity=(0, -9.81, 0))
    own, place = crank, crank * B / 2  # mass and first moment of the crank
    mass, centre = own + weight, (place - weight * radius * B / crank) / (own + weight)
    about_pin = own * crank**2 / 3 + weight * radius**2
    inertia = (about_pin - mass * centre @ centre, coupler**3 / 12, rocker**3 / 12)
    where = (("crank", mass, centre), ("coupler", coupler, (B + C) / 2), ("rocker", rocker, (C + D) / 2))
    first, second, third = (system.add(mbd.Body(name, m, (J, J, J), r=r)) for (name, m, r), J in zip(where, inertia, strict=True))
    pin = system.add(RJ("A", system.ground, first, point=(0, 0, 0), axis=Z))
    system.add(RJ("B", first, second, point=B, axis=Z))
    system.add(SJ("C", second, third, point=C))
    system.add(RJ("D", system.ground, third, point=D, axis=Z))
    system.add(RotationDriver("drive", pin, mbd.Expression("w * t", parameters={"w": 2.0 * np.pi})))
    return system


def drawing(u: float, n: float, **bars: float) -> mbd.System:
    """The four-bar; the point that draws moves with u and n, see `pen`."""
    return four_bar(**bars)


def pen(axis: int, u: float, n: float, **bars: float) -> str:
    """The name of a coordinate of the point that draws: u along the coupler from its centre, n across it."""
    angle = pins(**bars)[3]
    x, y = u * np.cos(angle) - n * np.sin(angle), u * np.sin(angle) + n * np.cos(angle)
    return f"point.coupler({float(x)!r}, {float(y)!r}, 0.0).r[{axis}]"


# ---------------------------------------------------------------------------------------------------------------- a suspension
def suspension(inner_y: float, inner_z: float) -> mbd.System:
    """A double wishbone whose lower arm turns by +-0.2 rad, and a tie rod to a point of the rack."""
    points = {"lower": ((0, 0.35, 0.20), (0, 0.72, 0.18)), "upper": ((0, 0.42, 0.44), (-0.01, 0.68, 0.46))}
    system = mbd.System("suspension", gravity=(0, 0, -9.81))
    upright = system.add(mbd.Body("upright", 20.0, (0.5, 0.5, 0.5), r=(0, 0.75, 0.30)))
    hinges = []
    for name, (inner, outer) in points.items():
        arm = system.add(mbd.Body(f"{name} arm", 3.0, (0.05, 0.05, 0.05), r=(np.array(inner) + outer) / 2))
        hinges.append(system.add(RJ(f"{name} hinge", system.ground, arm, point=inner, axis=(1, 0, 0))))
        system.add(SJ(f"{name} ball", arm, upright, point=outer))
    system.add(Distance("tie rod", system.ground, upright, point_i=(-0.12, inner_y, inner_z), point_j=(-0.14, 0.70, 0.27)))
    system.add(RotationDriver("bump", hinges[0], mbd.Expression("0.2 * sin(2 * pi * t)")))
    return system


TOE = ["point.upright(0.0, 0.1, 0.0).r[0]", "body.upright.r[0]"]


def steer(z: np.ndarray) -> np.ndarray:
    """The toe angle over the travel [rad], against that at rest, of the places of two points of the wheel's axis."""
    toe = (z[:, 1] - z[:, 0]) / 0.1
    return toe - toe[0]


def bump_steer(z: np.ndarray) -> np.ndarray:
    """Mean square of the toe angle in milliradians."""
    return (1e3 * steer(z)) ** 2 @ np.ones(len(z)) / len(z)


# ---------------------------------------------------------------------------------------------------------------- a crank
def peak(z: np.ndarray) -> np.ndarray:
    """The peak of a torque as a smooth number: the mean of its eighth powers."""
    return (np.sum((z[:, 0] ** 2) ** 4) / len(z)) ** 0.125


def main(folder: Path | None = None) -> dict[str, object]:
    start = {"crank": 0.11, "coupler": 0.27, "rocker": 0.24, "base": 0.21, "u": 0.36, "n": 0.02}
    t, x, y = 0.5 * SWEEP, 0.4 - 0.4 * SWEEP, np.full(len(SWEEP), 0.4)
    line = mbd.fit(drawing, {partial(pen, 0): x, partial(pen, 1): y}, start, t=t, run="kinematics")
    print(line)

    rack = mbd.Parameters(inner_y=mbd.Parameter(0.37, lower=0.3, upper=0.5), inner_z=mbd.Parameter(0.25, lower=0.15, upper=0.4))
    toe = mbd.optimize(suspension, bump_steer, rack, outputs=TOE, run="kinematics", t=TRAVEL)
    print(toe)

    bars = {name: line.values[name] for name in ("crank", "coupler", "rocker", "base")}
    torque = mbd.optimize(
        lambda weight, radius: four_bar(**bars, weight=weight, radius=radius),
        peak,
        mbd.Parameters(weight=mbd.Parameter(0.05, lower=0.0, upper=3.0), radius=mbd.Parameter(0.1, lower=0.05, upper=0.15)),
        outputs=["drive.torque"],
        run="inverse_dynamics",
        t=TURN,
    )
    print(torque)
    results = {"line": line, "toe": toe, "torque": torque}
    if folder is None:
        return results

    figure, axes = pyplot.subplots(1, 3, figsize=(13.5, 4.2), layout="constrained")
    for values, label in ((start, "before"), (line.values, "after")):
        drawn = mbd.kinematics(drawing(**values), np.linspace(0.0, 1.0, 121))
        at = [float(part) for part in pen(0, **values)[len("point.coupler(") :].split(")")[0].split(",")]
        path = drawn["coupler"].point(at).r
        axes[0].plot(path[:, 0], path[:, 1], label=label)
    axes[0].plot(x, y, "k.", label="wanted")
    axes[0].set(xlabel="x [m]", ylabel="y [m]", title="a coupler that draws a line")
    axes[0].set_aspect("equal", "datalim")
    for values, label in ((dict(rack), "before"), (toe.values, "after")):
        moved = mbd.kinematics(suspension(**values), TRAVEL)["upright"]
        z = np.column_stack([moved.point((0, 0.1, 0)).r[:, 0], moved.r[:, 0]])
        axes[1].plot(1e3 * steer(z), 1e3 * (moved.r[:, 2] - moved.r[0, 2]), label=label)
    axes[1].set(xlabel="toe angle [mrad]", ylabel="travel [mm]", title="a suspension that does not steer")
    for weight, label in ((0.0, "without a weight"), (None, "after")):
        design = four_bar(**bars) if weight == 0.0 else four_bar(**bars, **torque.values)
        axes[2].plot(TURN, mbd.kinematics(design, TURN).driver("drive").torque, label=label)
    axes[2].set(xlabel="t [s]", ylabel="torque of the crank [N m]", title="the least peak torque")
    for one in axes:
        one.legend()
    figure.savefig(folder / "synthesis.png", dpi=100)
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
