"""One heavy top, many integrators, one ruler: what a digit costs, and what becomes of the energy in a long run.

python examples/integrators.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import haugmbd as mbd
from haugmbd.gallery import heavy_top
from haugmbd.integrators.base import Integrator

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)  # [s]
TOLERANCES = (1e-5, 1e-7, 1e-9, 1e-11)
METHODS: dict[str, list[Integrator]] = {
    "Heun": [mbd.Heun(h) for h in STEPS],
    "RK4": [mbd.RK4(h) for h in STEPS],
    "HEM4": [mbd.HEM4(h) for h in STEPS],
    "RATTLE": [mbd.RATTLE(h) for h in STEPS],
    "GeneralizedAlpha": [mbd.GeneralizedAlpha(h) for h in STEPS],
    "BDF": [mbd.BDF(rtol=tol, atol=tol) for tol in TOLERANCES],
    "DormandPrince": [mbd.DormandPrince(rtol=tol, atol=tol) for tol in TOLERANCES],
    "DOP853": [mbd.DOP853(rtol=tol, atol=tol) for tol in TOLERANCES],
}
LONG: dict[str, Integrator] = {"RK4": mbd.RK4(2e-3), "RATTLE": mbd.RATTLE(2e-3), "GeneralizedAlpha": mbd.GeneralizedAlpha(2e-3)}
"""Methods of the long run, with one step for all."""
LABELS = {"GeneralizedAlpha": (1, "right", -7, 0), "BDF": (-1, "left", 7, -3)}
"""Point of a label, its side, and its place beside the point [points]; others stand above the last point."""


def costs(model: mbd.Model) -> dict[str, np.ndarray]:
    """For each method: evaluations of the equations of motion, and the largest error of a position [m], one line a setting."""
    exact = mbd.simulate(model, t_end=0.5, integrator=mbd.DOP853(rtol=1e-13, atol=1e-14)).r[-1]
    found = {}
    for name, settings in METHODS.items():
        runs = [mbd.simulate(model, t_end=0.5, integrator=method, store_every=10_000) for method in settings]
        found[name] = np.array([(run.counters.evaluations, abs(run.r[-1] - exact).max()) for run in runs])
    return found


def energies(model: mbd.Model) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For each method of the long run: times [s], and energy over its first value, less one."""
    found = {}
    for name, method in LONG.items():
        run = mbd.simulate(model, t_end=30.0, integrator=method, store_every=5)
        total = run.energy().total
        found[name] = run.t, total / total[0] - 1.0
    return found


def main(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, tuple[np.ndarray, np.ndarray]]]:
    model = heavy_top().compile()
    work, energy = costs(model), energies(model)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    for name, points in work.items():
        print(f"{name:<18}" + "".join(f"{evaluations:>9.0f} {error:.0e}" for evaluations, error in points))
        (line,) = left.loglog(points[:, 1], points[:, 0], "o-", markersize=4)
        k, side, *place = LABELS.get(name, (-1, "center", 0, 7))
        left.annotate(name, points[k, ::-1], place, textcoords="offset points", ha=side, color=line.get_color(), fontsize="small")
    left.set_xlim(1e2, 1e-13)
    left.margins(x=0.18, y=0.12)
    left.set(xlabel="error of positions after 0.5 s [m]", ylabel="evaluations", title="heavy top: what a digit costs")
    for name, (t, drift) in energy.items():
        right.semilogy(t, np.maximum.accumulate(abs(drift)), label=name)
    right.set(xlabel="t [s]", ylabel="|E / E(0) - 1|, largest so far", title="energy at h = 2 ms")
    right.legend(fontsize="small")
    figure.savefig(folder / "integrators.png", dpi=100)
    return work, energy


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
