"""Work against precision: Andrews' squeezing mechanism to 0.03 s, by several methods of three tools, each at several settings."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.turns import best, in_turn, verdict
from tests.benchmarks.worker import Worker

OURS = {
    "DOP853": (1e-4, 1e-6, 1e-8, 1e-10),
    "Dormand-Prince": (1e-4, 1e-6, 1e-8, 1e-10),
    "RK4": (400, 800, 1600, 3200),
    "BDF": (1e-6, 1e-8, 1e-9, 1e-11),
    "generalized-alpha": (500, 1000, 4000, 16000),
}
PINOCCHIO, EXUDYN = (200, 400, 850, 1600), (500, 1000, 4000)
ENOUGH = 1e-6
"""[rad] of 15.8 rad."""
REPEATS = 3


def section(ours: Worker, pinocchio: Worker, exudyn: Worker) -> None:
    """Print a line for each method: CPU time [ms] and error of the crank angle at each setting; then the least time to 1e-6."""
    asks: dict[str, Any] = {}
    for method, settings in OURS.items():
        for setting in settings:
            asks[f"haugmbd, {method}|{setting:g}"] = lambda m=method, s=setting: ours.ask("squeeze", method=m, setting=s)
    if not pinocchio.missing:
        for steps in PINOCCHIO:
            asks[f"Pinocchio, RK4 from Python|{steps}"] = lambda n=steps: pinocchio.ask("squeeze", steps=n)
    if not exudyn.missing:
        for steps in EXUDYN:
            asks[f"Exudyn, generalized-alpha|{steps}"] = lambda n=steps: exudyn.ask("squeeze", steps=n)
    answers = in_turn(asks, REPEATS)
    print("\nAndrews' squeezing mechanism to 0.03 s: CPU time [ms] and error of the crank angle [rad], at several settings")
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, found in answers.items():
        lines.setdefault(name.split("|")[0], []).append((1e3 * best(found, "seconds"), found[0]["error"]))
    least = {name: min((ms for ms, error in points if error <= ENOUGH), default=None) for name, points in lines.items()}
    for name, points in lines.items():
        reached = "not reached" if least[name] is None else f"{least[name]:.1f} ms"
        print(f"{name:<28}" + "".join(f"{ms:>8.1f} {error:.0e}" for ms, error in points) + f"   to {ENOUGH:g}: {reached}")
    mine = min(ms for name, ms in least.items() if name.startswith("haugmbd") and ms is not None)
    for name, ms in least.items():
        if not name.startswith("haugmbd") and ms is not None:
            print(f"best of haugmbd / {name}: {mine / ms:.2f}   {verdict(mine / ms, 1.0)}")
    print("Pinocchio: minimal coordinates, loops closed by constraintDynamics, forces from Python.")
    print("Exudyn: Euler parameters, EigenSparse, modified Newton, default tolerances.")
