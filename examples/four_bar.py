"""A planar four-bar: where its links go, what its pins carry, and how well the constraints hold.

python examples/four_bar.py [FOLDER]            pictures and an animation go to FOLDER, by default here
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib import pyplot

import haugmbd as mbd
from haugmbd.gallery import four_bar


def main(folder: Path) -> mbd.Result:
    system = four_bar()
    print(system.table())

    result = mbd.simulate(system, t_end=5.0, h=1e-3)
    energy = result.energy()
    print(f"largest position violation  {abs(result.violation('position')).max():.1e}")
    print(f"largest energy drift        {abs(energy.drift).max():.1e} J, of {energy.total[0]:.3f} J")
    for joint in ("A", "B", "C", "D"):
        force = (result.reaction(joint).force ** 2).sum(axis=1) ** 0.5
        k = force.argmax()
        print(f"largest force in {joint:<12}{force[k]:.3f} N at {result.t[k]:.3f} s")

    figure, axes = pyplot.subplots(2, 2, figsize=(12.0, 7.2), layout="constrained")
    mbd.plot.path(result, "crank", "coupler", "rocker", ax=axes[0, 0])
    mbd.plot.joint(result, "A", ax=axes[0, 1])
    mbd.plot.joint(result, "B", ax=axes[0, 1]).set_title("A and B: angle", loc="left")
    mbd.plot.reactions(result, "A", ax=axes[1, 0])
    mbd.plot.phase(result, "D", ax=axes[1, 1])
    figure.savefig(folder / "four_bar.png", dpi=100)
    print(f"the motion is in {result.animate(folder / 'four_bar.html').name}")

    axes = mbd.plot.violation(result)
    axes.figure.savefig(folder / "four_bar_violation.png", dpi=100)
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
