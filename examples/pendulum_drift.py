"""How a pendulum leaves its pin: no stabilization, Baumgarte with two gains, and projection, one step size for all.

python examples/pendulum_drift.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib import pyplot

import haugmbd as mbd
from haugmbd.gallery import pendulum

RULES: dict[str, mbd.Baumgarte | mbd.Projection | None] = {
    "none": None,
    "Baumgarte(5, 5)": mbd.Baumgarte(alpha=5.0, beta=5.0),
    "Baumgarte(50, 50)": mbd.Baumgarte(alpha=50.0, beta=50.0),
    "Projection()": mbd.Projection(),
}


def main(folder: Path) -> dict[str, mbd.Result]:
    model = pendulum().compile()
    figure, axes = pyplot.subplots(figsize=(7.2, 4.0), layout="constrained")
    results = {}
    for name, rule in RULES.items():
        result = results[name] = mbd.simulate(model, t_end=10.0, h=1e-2, stabilization=rule)
        gap = result.violation("position", by="joint")["pin"]
        print(f"{name:<20} largest violation {gap.max():.1e}   energy drift {abs(result.energy().drift).max():.1e} J")
        mbd.plot.violation(result, ax=axes, label=name)
    axes.set_title("pendulum of 4 m, RK4, h = 0.01 s: violation of the pin", loc="left")
    figure.savefig(folder / "pendulum_drift.png", dpi=100)
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
