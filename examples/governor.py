"""A flyball governor: how high its slider hangs at each speed, and how the balls swing about that.

Weight, springs and centrifugal forces are in balance: `equilibrium(..., steady=UniformRotation(...))`, and `linearize` of what it finds.
python examples/governor.py [FOLDER]            the picture goes to FOLDER, if one is given
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import haugmbd as mbd
from joints import RJ, TJ, RotationDriver

ARM, HEIGHT = 0.30, 0.50
SPEEDS = np.linspace(2.0, 14.0, 13)  # [rad/s]


def governor(omega: float) -> mbd.System:
    """Two arms with balls on a driven shaft, and a slider that hangs on them by springs."""
    system = mbd.System("governor", gravity=(0, 0, -9.81))
    shaft = system.add(mbd.Body("shaft", *mbd.inertia.cylinder(0.01, 0.6, density=7800.0, axis=(0, 0, 1)), r=(0, 0, 0.3)))
    slider = system.add(mbd.Body("slider", 1.0, (1e-3, 1e-3, 1e-3), r=(0, 0, 0.25)))
    axle = system.add(RJ("axle", system.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("motor", axle, lambda t: omega * t))
    system.add(TJ("guide", shaft, slider, point=(0, 0, 0.25), axis=(0, 0, 1)))
    for name, side in (("left", -1.0), ("right", 1.0)):
        down = np.array([side * np.sin(0.4), 0.0, -np.cos(0.4)])
        pivot = np.array([0.02 * side, 0.0, HEIGHT])
        ball = system.add(mbd.Body(name, *mbd.inertia.sphere(0.03, mass=0.8), r=pivot + ARM * down))
        system.add(RJ(f"{name} hinge", shaft, ball, point=pivot, axis=(0, 1, 0)))
        ends = {"point_i": pivot + 0.5 * ARM * down, "point_j": (0.02 * side, 0, 0.25)}
        system.add(mbd.TSDA(f"{name} spring", ball, slider, k=400.0, c=4.0, l0=0.14, **ends))
    return system


def swing(omega: float) -> mbd.Result:
    """Return the motion about the balance at this speed, from a push on the slider."""
    found = mbd.equilibrium(governor(omega), steady=mbd.UniformRotation(omega=(0, 0, omega)))
    state = found.state
    v = state.v.copy()
    v[found.model.body("slider"), 2] += 0.02
    return mbd.simulate(found.model, state.t + 4.0, h=2e-3, state=state.replace(v=v), project_velocity=True)


def main(folder: Path | None = None) -> dict[str, np.ndarray]:
    heights, slow, damping = [], [], []
    for omega in SPEEDS:
        found = mbd.equilibrium(governor(omega), steady=mbd.UniformRotation(omega=(0, 0, omega)))
        modes = [mode for mode in mbd.linearize(found).modes if mode.oscillates]
        heights.append(found.state.r[found.model.body("slider"), 2])
        slow.append(modes[0].frequency)
        damping.append(modes[0].zeta)
        if omega in SPEEDS[[0, -1]]:
            print(found)
            print(modes[0])
    results = {"height": np.array(heights), "frequency": np.array(slow), "zeta": np.array(damping)}
    if folder is None:
        return results

    figure, axes = pyplot.subplots(2, 2, figsize=(12.0, 6.4), layout="constrained")
    axes[0, 0].plot(SPEEDS, results["height"])
    axes[0, 0].set(xlabel="speed [rad/s]", ylabel="height of the slider [m]", title="a governor at constant speed")
    axes[1, 0].plot(SPEEDS, results["frequency"])
    axes[1, 0].set(xlabel="speed [rad/s]", ylabel="slowest mode [Hz]")
    swinging = swing(SPEEDS[6])
    mbd.plot.load(swinging, "left spring", ax=axes[0, 1])
    mbd.plot.spectrum(swinging, "left hinge", ax=axes[1, 1])
    axes[1, 1].axvline(results["frequency"][6], color="#888888", linestyle=":")  # of the linearized motion
    axes[1, 1].set_xlim(0.0, 8.0)
    figure.savefig(folder / "governor.png", dpi=100)
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
