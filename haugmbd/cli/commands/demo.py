r"""The command `haugmbd demo`: simulate, check, animate and plot the spatial slider-crank, and compare six methods on it.

`demo NAME` simulates and animates another mechanism of the gallery. Exit codes: 0 success, 1 the run failed or missed a published value.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from haugmbd.cli.answers import CommandError
from haugmbd.cli.commands.run import run_run
from haugmbd.cli.model_argument import by_name
from haugmbd.cli.parser import SHORTEST as STEP
from haugmbd.cli.parser import SIX, parser
from haugmbd.diagnostics.violation import Level
from haugmbd.errors import SimulationError
from haugmbd.gallery import SHOWN, slider_crank
from haugmbd.gallery.mechanisms.slider_crank import FREE, crank_angle
from haugmbd.gallery.shown import shown_system
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.study.comparison.compare import compare
from haugmbd.study.method_text import method_from
from haugmbd.system.system import System

RTOL = 1e-8
"""Relative tolerance of the demo of another mechanism."""

COMPARED, COMPARED_STEP = 0.5, 2e-3
"""Longest time of the comparison of methods in the demo [s], and its step [s]."""

LEVELS: tuple[Level, ...] = ("position", "velocity", "acceleration")


def run_demo(arguments: argparse.Namespace) -> int:
    """Simulate the spatial slider-crank, print the diagnostics, and write the plots; of another mechanism, an animation."""
    folder, name = _writable(arguments.out), arguments.name or slider_crank.__name__
    t_end = SHOWN[name] if arguments.t_end is None else arguments.t_end
    if name != slider_crank.__name__:
        page = folder / f"{name}.html"
        given = ["run", name, "--t-end", str(t_end), "--rtol", str(RTOL), "--animate", str(page)]
        return run_run(parser().parse_args(given), shown_system(by_name()[name]))
    system = slider_crank()
    print("Loading compiled code (the first run compiles it once, 10 to 30 s) ...", flush=True)
    clock = time.perf_counter()
    model = system.compile()
    simulate(model, 2.0 * STEP, h=STEP)
    print(f"ready after {time.perf_counter() - clock:.1f} s\n")
    print(system.table())
    try:
        result = simulate(model, t_end, h=STEP)
    except SimulationError as error:
        print(f"haugmbd: the simulation stopped: {error}", file=sys.stderr)
        return 1
    _print_figures(result)
    reached = _print_published(result)
    print(f"animation: {result.animate(folder / 'slider_crank.html')}  (open it in a browser)")
    _write_plots(result, folder)
    _compare(system, min(COMPARED, t_end), folder)
    return 0 if reached else 1


def _writable(folder: Path) -> Path:
    """Create `folder`, and check that files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CommandError(f"cannot write plots to {str(folder)!r} ({error.strerror}): give another folder with --out.") from None
    return folder


def _print_figures(result: Result) -> None:
    """Print the violation at three levels, the energy drift, and the cost."""
    counters, energy = result.counters, result.energy()
    print(f"\n{counters.steps} steps of {STEP:g} s, {result.settings['integrator']}, {result.settings['stabilization']}")
    for level in LEVELS:
        rows = abs(result.violation(level)).max(axis=0)
        worst = result.model.labels[rows.argmax()]
        print(f"  violation, {level:<12}  {rows.max():9.1e}   largest in a {worst.kind} row of joint {worst.joint!r}")
    scale = abs(energy.kinetic[0]) + abs(energy.potential[0])
    print(f"  energy drift             {abs(energy.drift).max():9.1e} J   (kinetic and potential energy at first: {scale:.3g} J)")
    print(f"  Euler parameters         {counters.max_euler_drift:9.1e}   largest drift of |p| in a step, before it is normalised")
    print(f"  CPU time                 {1e6 * counters.cpu / counters.steps:9.1f} us a step\n")


def _print_published(result: Result) -> bool:
    """Print differences from the published values, and return whether all are within their tolerance."""
    curves = {"crank angle theta": crank_angle(result), "slider position x": result["slider"].r[:, 0]}
    reached = True
    for known in FREE:
        k = abs(result.t - known.t).argmin()
        if abs(result.t[k] - known.t) > 0.5 * STEP:
            continue
        gap = float(curves[known.quantity][k]) - known.value
        reached = reached and abs(gap) <= known.tol
        verdict = "ok" if abs(gap) <= known.tol else "TOO FAR"
        at = f"{known.quantity} at {known.t:g} s"
        print(f"  {at:<24} {known.value:16.12f} {known.unit:<3}  difference {gap:9.1e}   (tolerance {known.tol:g}: {verdict})")
    print(f"  source: {FREE[0].source}\n")
    return reached


def _compare(system: System, t_end: float, folder: Path) -> None:
    """Compare six methods on the same mechanism, print the table and write the report."""
    h = min(COMPARED_STEP, t_end)
    print(f"\nSix methods on the same mechanism, h = {h:g} s:\n", flush=True)
    found = compare(system, [method_from(text) for text in SIX], t_end, h=h, repeats=1)
    print(f"{found}\n\nreport: {found.report(folder / 'comparison.html')}  (open it in a browser)")


def _write_plots(result: Result, folder: Path) -> None:
    """Write the four plots to `folder`, if matplotlib is installed."""
    try:
        import matplotlib  # noqa: PLC0415  only where plots are written
    except ImportError:
        print("no plots: matplotlib is not installed (pip install matplotlib)")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    from haugmbd import plotting  # noqa: PLC0415

    pictures: dict[str, Callable[[], object]] = {
        "violation": lambda: plotting.violation(result),
        "energy": lambda: plotting.energy(result),
        "coordinates": lambda: plotting.coordinates(result, "slider"),
        "reactions": lambda: plotting.reactions(result, "R"),
    }
    for name, draw in pictures.items():
        draw()  # in a new figure, which is then the current one, with a layout that fits
        pyplot.savefig(folder / f"{name}.png", dpi=120)
        pyplot.close()
    print(f"plots: {', '.join(str(folder / f'{name}.png') for name in pictures)}")
