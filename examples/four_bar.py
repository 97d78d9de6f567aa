"""A planar four-bar: where its links go, what its pins carry, and how well the constraints hold.

python examples/four_bar.py [FOLDER]            the pictures go to FOLDER, by default here
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

    figure, (above, below) = pyplot.subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
    mbd.plot.path(result, "crank", "coupler", "rocker", ax=above)
    mbd.plot.reactions(result, "A", ax=below)
    figure.savefig(folder / "four_bar.png", dpi=100)

    axes = mbd.plot.violation(result)
    axes.figure.savefig(folder / "four_bar_violation.png", dpi=100)
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
