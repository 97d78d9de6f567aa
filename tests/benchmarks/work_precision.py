"""Work against precision on open chains and planar loops: several methods of several tools, each at several settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.benchmarks import cloth, windows
from tests.benchmarks.precision import OURS, Curve, Method, Study, Task, equal_error
from tests.benchmarks.worker import Worker

LINKS = 50
FINE = (1e-4, 1e-6, 1e-8, 1e-10)
"""Tolerances."""


def methods(tool: str, worker: Worker, task: str, settings: dict[str, Sequence[float]], **given: Any) -> list[Method]:
    """Of one tool: each with its settings, asked by its name; none of a tool that is missing."""
    if worker.missing:
        return []
    words = [{"method": name} if tool == OURS else {} for name in settings]
    return [
        Method(tool, name, x, partial(_ask, worker, task, given | w)) for (name, x), w in zip(settings.items(), words, strict=True)
    ]


def _ask(worker: Worker, task: str, given: dict[str, Any], setting: float) -> dict[str, Any]:
    """The answer at a setting."""
    return worker.ask(task, setting=setting, **given)


def _chain(worker: Worker, tool: str, settings: dict[str, Sequence[float]]) -> list[Method]:
    """Runs of the chain, by steps a second."""
    named = tool != "MuJoCo"
    return (
        []
        if worker.missing
        else [Method(tool, name, x, partial(_swing, worker, name if named else None)) for name, x in settings.items()]
    )


def _swing(worker: Worker, name: str | None, setting: float) -> dict[str, Any]:
    """One second with so many steps, as time and error."""
    given = {} if name is None else {"method": name}
    found = worker.ask("step", n=LINKS, steps=int(setting), h=1.0 / setting, **given)
    return {"seconds": found["us"] * setting * 1e-6, "error": found["energy"]}


def andrews(ours: Worker, pinocchio: Worker, exudyn: Worker) -> Task:
    """A03."""
    study = Study(
        "Andrews' squeezing mechanism (A03) to 0.03 s",
        "andrews.png",
        "error of the crank angle at the end [rad]",
        1e-6,
        {"Pinocchio": 1.0, "Exudyn": 1.0},
        (
            "settings: tolerances, or steps. Pinocchio: minimal coordinates, loops closed by constraintDynamics, forces from Python.",
            "Exudyn: Euler parameters, EigenSparse, modified Newton, default tolerances.",
        ),
    )
    mine = {
        "DOP853": FINE,
        "Dormand-Prince": FINE,
        "RK4": (400, 800, 1600, 3200),
        "Radau IIA": FINE,
        "BDF": (1e-6, 1e-8, 1e-9, 1e-11),
        "generalized-alpha": (500, 1000, 4000, 16000),
    }
    measured = [
        *methods(OURS, ours, "squeeze", mine),
        *methods("Pinocchio", pinocchio, "squeeze", {"RK4 from Python": (200, 400, 850, 1600)}),
        *methods("Exudyn", exudyn, "squeeze", {"generalized-alpha": (500, 1000, 4000, 16000)}),
    ]
    return Task(study, measured, repeats=3)


def four_bars(ours: Worker, exudyn: Worker, mujoco: Worker) -> tuple[Task, Task]:
    """A02, of 2 and of 40 windows."""
    notes = (
        f"settings: tolerances, or steps each {windows.SAMPLE:g} s; behind the energy error that of the first top's place at the end.",
        "Exudyn: planar bodies, generalized-alpha, rho 0.95, modified Newton, relative tolerance 1e-6, EigenDense for 2 windows and",
        "EigenSparse for 40: the best of rho 0.8 to 1, EXUdense, full Newton. Its trapezoidal rule does not pass the singular position.",
        "MuJoCo: Newton, loops by soft `connect`, solref of one step, solimp 0.9999: the best of 1, 2 and 4 steps, and of 0.999999.",
    )
    explicit = {"DOP853": (1e-4, 1e-5, 1e-6, 1e-7, 1e-8), "Dormand-Prince": (1e-4, 1e-5, 1e-6, 1e-7), "RK4": (3, 4, 5, 10, 20)}
    title = "{} four-bar windows (A02) over 10 s"
    two = Study(title.format(2), "windows-2.png", "largest energy error [J]", 1e-3, {"Exudyn": 0.2}, notes)
    implicit = {
        "generalized-alpha": (10, 20, 50, 120),
        "trapezoidal": (10, 20),
        "BDF": (1e-6, 1e-7, 1e-8),
        "adaptive gen.-alpha": (1e-5, 1e-6, 1e-7),
    }
    of_two = [
        *methods(OURS, ours, "frame", {**explicit, **implicit}, n=2),
        *methods("Exudyn", exudyn, "frame", {"generalized-alpha": (20, 50, 108, 112, 200)}, n=2),
        *methods("MuJoCo", mujoco, "frame", {"RK4": (20, 25, 33, 40, 43, 46, 50, 100)}, n=2),
    ]
    many = Study(title.format(40), "windows-40.png", "largest energy error [J]", 5e-3, {"MuJoCo": 1.0}, notes)
    implicit = {"generalized-alpha": (10, 20, 50), "BDF": (1e-6, 1e-8)}
    of_many = [
        *methods(OURS, ours, "frame", {**explicit, **implicit}, n=40),
        *methods("Exudyn", exudyn, "frame", {"generalized-alpha": (20, 50, 100)}, n=40),
        *methods("MuJoCo", mujoco, "frame", {"RK4": (20, 25, 27, 29, 33, 50)}, n=40),
    ]
    return Task(two, of_two, repeats=5), Task(many, of_many, repeats=2)


def chains(ours: Worker, exudyn: Worker, mujoco: Worker) -> Task:
    """The chain of 50 links."""
    study = Study(
        f"Chain of {LINKS} links from rest, 1 s",
        "chain.png",
        "largest energy error / (n m g L)",
        1e-4,
        {"Exudyn": 0.35},
        (
            "settings: steps. Exudyn: EigenSparse, Euler parameters, modified Newton, default tolerances, rho 0.8. MuJoCo: joint angles.",
        ),
    )
    few, steps = (125, 250, 500, 1000), (250, 500, 1000, 2000)
    measured = [
        *_chain(ours, OURS, {"RK4": few, **dict.fromkeys(("generalized-alpha", "trapezoidal", "RATTLE"), (*steps, 4000))}),
        *_chain(exudyn, "Exudyn", {"generalized-alpha": steps, "trapezoidal index 2": steps}),
        *_chain(mujoco, "MuJoCo", {"RK4": few}),
    ]
    return Task(study, measured, repeats=2)


def chains_at_equal_error(curves: Sequence[Curve]) -> None:
    """Print generalized-alpha's time beside that of Exudyn's methods at equal error."""
    by_name: dict[str, Curve] = {curve.method.label: curve for curve in curves}
    for name in ("generalized-alpha", "trapezoidal index 2"):
        if f"Exudyn, {name}" in by_name:
            equal_error(by_name[f"{OURS}, generalized-alpha"], by_name[f"Exudyn, {name}"], 0.35)


def tops(ours: Worker, exudyn: Worker, mujoco: Worker) -> Task:
    """The heavy top."""
    study = Study(
        "Heavy top, 150 rad/s, 0.5 s",
        "top.png",
        "error of the centre's place at the end [m]",
        1e-6,
        {},
        ("settings: tolerances, or steps. Exudyn: Euler parameters, EigenDense, modified Newton, rho 0.8. MuJoCo: a ball joint.",),
    )
    few = (125, 250, 500, 1000, 2000)
    many = (500, 1000, 2000, 4000, 8000)
    mine = {
        "DOP853": (*FINE, 1e-12),
        "Dormand-Prince": (*FINE, 1e-12),
        "RK4": few,
        "RKMK4": few,
        "HEM4": few,
        **dict.fromkeys(("generalized-alpha", "trapezoidal", "RATTLE"), many),
        "Radau IIA": FINE,
        "BDF": (1e-5, 1e-7, 1e-9),
    }
    measured = [
        *methods(OURS, ours, "spin", mine),
        *methods("Exudyn", exudyn, "spin", {"generalized-alpha": many}),
        *methods("MuJoCo", mujoco, "spin", {"RK4": few}),
    ]
    return Task(study, measured, repeats=5)


def cloths(ours: Worker, exudyn: Worker) -> Task:
    """The cloth of rods."""
    study = Study(
        f"Cloth of {cloth.N} x {cloth.N} balls and rods from rest, {cloth.T_END:g} s",
        "cloth.png",
        "largest energy error / (n^2 m g a)",
        1e-6,
        {"Exudyn": 0.1},
        ("settings: steps. Exudyn: points of mass, distances, EigenSparse, modified Newton, default tolerances, rho 0.8.",),
    )
    trapezoidal, alpha = ({name: (100, 200, 400, 800)} for name in ("trapezoidal index 2", "generalized-alpha"))
    measured = [
        *methods(OURS, ours, "sway", {"RK4": (15, 20, 30, 40, 50)}),
        *methods("Exudyn", exudyn, "sway", trapezoidal, method="trapezoidal index 2"),
        *methods("Exudyn", exudyn, "sway", alpha, method="generalized-alpha"),
    ]
    return Task(study, measured, repeats=2)
