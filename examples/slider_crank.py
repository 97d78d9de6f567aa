"""The spatial slider-crank at constant speed: the torque that the drive needs, from its multiplier and from the power.

M . omega = d(T + V)/dt                      two ways to the same torque
python examples/slider_crank.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import haugmbd as mbd
from haugmbd.gallery import slider_crank


def main(folder: Path) -> mbd.Result:
    result = mbd.simulate(slider_crank(driven=True), t_end=1.0, h=1e-3)
    torque = result.driver("drive").torque

    energy = result.energy()
    power = np.gradient(energy.kinetic + energy.potential, result.t, edge_order=2)
    from_power = power / (2.0 * np.pi)
    gap = abs(torque - from_power).max()
    print(f"torque of the drive: {torque[0]:.9f} N m at 0 s, {torque[250]:.9f} N m at 0.25 s")
    print(f"largest difference from the torque by the power: {gap:.1e} N m (of the difference quotient, h^2)")

    figure, axes = pyplot.subplots(layout="constrained")
    mbd.plot.driver(result, "drive", label="multiplier", ax=axes)
    axes.plot(result.t[::25], from_power[::25], "o", markersize=4, label="power / speed")
    axes.set_title("spatial slider-crank, one turn a second", loc="left")
    axes.legend()
    figure.savefig(folder / "slider_crank.png", dpi=100)
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
