"""The commands `demo`, `gallery`, `labs` and `view`: what is shown, in pictures and on pages.

    demo          simulate, check, animate and plot the spatial slider-crank, and compare six methods on it
    demo NAME     simulate and animate another mechanism of the gallery
    gallery       the ready-made mechanisms, as a table, or as a page with pictures
    labs          the labs as files, for students or for lecturers
    view          a picture of a mechanism in a browser, built again when its file is saved, with the mobility report

Exit codes: 0 success, or ended by Ctrl-C; 1 the run failed or missed a published value; 2 there is nothing to view, the port is taken, or a
file cannot be written.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.cli.answers import NOT_VALID, OK, CommandError
from haugmbd.cli.model_argument import NothingToCheck, by_name, read_model, reading_of
from haugmbd.cli.parser import SHORTEST as STEP
from haugmbd.cli.parser import SIX, parser
from haugmbd.cli.run import run_run
from haugmbd.diagnostics.violation import Level
from haugmbd.errors import HaugmbdError, SimulationError, UsageError
from haugmbd.gallery import GALLERY, SHOWN, slider_crank
from haugmbd.gallery.shown import STEPPED, shown_system
from haugmbd.gallery.spatial_linkages import FREE, crank_angle
from haugmbd.labs import write
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.study.comparison.compare import compare
from haugmbd.study.method_text import method_from
from haugmbd.system.system import System
from haugmbd.text_table import first_line, table_lines
from haugmbd.viewer import picture
from haugmbd.viewer.animate import animation, written
from haugmbd.viewer.drag import Drag
from haugmbd.viewer.live import Built, LivePage, server_of
from haugmbd.viewer.mechanism import of_system
from haugmbd.viewer.still import save_drawing

VIEWED = 1e-6
"""Relative tolerance of the motion of `view`."""
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
        method = ["--method", "MoreauJean", "--h", str(STEPPED[name])] if name in STEPPED else ["--rtol", str(RTOL)]
        given = ["run", name, "--t-end", str(t_end), *method, "--animate", str(page)]
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
    comparison = compare(system, [method_from(text) for text in SIX], t_end, h=h, repeats=1)
    print(f"{comparison}\n\nreport: {comparison.report(folder / 'comparison.html')}  (open it in a browser)")


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


WIDTH = 120
"""Of the table [characters]."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Gallery of haugmbd</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.4 system-ui, sans-serif; margin: 1.5rem; }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1.5rem; }}
figure {{ margin: 0; }} img {{ width: 100%; background: white; border-radius: 6px; }}
</style></head><body><h1>Gallery of haugmbd</h1>
<p>To see one move: <code>haugmbd demo NAME</code>.</p><main>
{figures}
</main></body></html>
"""

FIGURE = """<figure><img alt="{name}" src="data:image/png;base64,{data}">
<figcaption><b>{name}</b><br>{what}<br>{counts}</figcaption></figure>"""


def run_gallery(arguments: argparse.Namespace) -> int:
    """List the mechanisms, and write the page if it is asked for."""
    systems = {name: build() for name, build in by_name().items()}
    rows = [(name, title(build), *counts(systems[name])) for name, build in by_name().items()]
    if arguments.out is not None:
        try:
            written(page(rows, systems), arguments.out)
        except UsageError as error:
            print(f"haugmbd: {error}", file=sys.stderr)
            return NOT_VALID
    if arguments.json:
        keys = ("name", "what", "bodies", "rows", "degrees_of_freedom")
        print(json.dumps({"ok": True, "mechanisms": [dict(zip(keys, row, strict=True)) for row in rows]}))
        return OK
    head = ("name", "what", "bodies", "rows", "freedoms")
    print("\n".join(table_lines(head, [tuple(map(str, row)) for row in rows], right={2, 3, 4}, width=WIDTH, may_be_cut={1})))
    if arguments.out is not None:
        print(f"\npictures: {arguments.out}  (open it in a browser)")
    return OK


def title(build: Callable[[], System]) -> str:
    """Return the first sentence of the docstring of a builder."""
    text = first_line(build).removeprefix("Return ").rstrip(".")
    return f"{text[:1].upper()}{text[1:]}"


def counts(system: System) -> tuple[int, int, int]:
    """Return the numbers of bodies, of rows, and of degrees of freedom."""
    model = system.compile()
    return model.nb, model.nc, 6 * model.nb - model.redundancy.rank


def page(rows: list[tuple[str, str, int, int, int]], systems: dict[str, System]) -> str:
    """Return the page with the pictures, from the rows of the table."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, what, bodies, equations, freedoms in rows:
            drawing = save_drawing(of_system(systems[name]), Path(folder) / f"{name}.png")
            data = base64.b64encode(drawing.read_bytes()).decode()
            counted = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {equations} rows"
            note = f"{counted}, {freedoms} degree{'s' * (freedoms != 1)} of freedom"
            figures.append(FIGURE.format(name=html.escape(name), what=html.escape(what), counts=note, data=data))
    return PAGE.format(figures="\n".join(figures))


def run_labs(arguments: argparse.Namespace) -> int:
    """Write the files, and print where they are."""
    try:
        files = write(arguments.to, notebooks=arguments.notebooks, solutions=arguments.solutions, replace=arguments.replace)
    except UsageError as error:
        print(f"haugmbd: {error}", file=sys.stderr)
        if arguments.json:
            print(json.dumps({"ok": False, "error": str(error), "faults": []}))
        return NOT_VALID
    if arguments.json:
        print(json.dumps({"ok": True, "files": [str(path) for path in files]}))
    else:
        print(f"{len(files)} labs in {arguments.to}")
    return OK


def run_view(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    given = arguments.model
    if not Path(given).is_file() and given not in {make.__name__ for make in GALLERY}:
        print(f"haugmbd: {given!r} is neither a file nor a mechanism of the gallery.", file=sys.stderr)
        return 2
    try:
        server = server_of(live_page(given, arguments.t_end, **reading_of(arguments)), arguments.port)
    except (OSError, OverflowError) as error:
        print(f"haugmbd: cannot serve at port {arguments.port}: {error}", file=sys.stderr)
        return 2
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    print(f"{address}  (Ctrl-C ends it)", flush=True)
    if not arguments.no_browser:
        webbrowser.open(address)
    with server:
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            print()
    return 0


def live_page(given: str, t_end: float = 0.0, **how: Any) -> LivePage:
    """Return the page of a file, or of a name of the gallery, with a motion of t_end [s];  how: keywords of `read_model`."""
    path = Path(given)
    return LivePage(
        lambda: built(given, t_end, **how), lambda: (path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None
    )


PLAYS = 5.0
"""[s] Of CPU time: a longer run is shown as far as it came."""


def built(given: str, t_end: float = 0.0, **how: Any) -> Built:
    """Return the page, which plays a motion of t_end [s] or is a still picture, and the report; no page, and the error of a wrong file."""
    try:
        system = read_model(given, **how)
        report = str(mobility(system))
    except (NothingToCheck, HaugmbdError, SyntaxError) as error:
        wrong = next((one for one in (error, error.__cause__, error.__context__) if isinstance(one, SyntaxError)), None)
        return Built(None, str(error) if wrong is None else syntax_fault(wrong))
    drag = partial(Drag, system)
    if t_end > 0.0:
        try:
            return Built(animation(simulate(system, t_end, rtol=VIEWED, budget=PLAYS)), report, drag)
        except HaugmbdError as error:
            result, report = getattr(error, "result", None), f"{report}\n\nThe motion: {error}"
            if isinstance(result, Result) and len(result.t) > 1:
                return Built(animation(result), report, drag)
    return Built(picture(system).html, report, drag)


def syntax_fault(error: SyntaxError) -> str:
    """Return a syntax error as Python prints it: file, line, the text there, and a mark below it."""
    where = f"{error.filename}, line {error.lineno}" if error.filename else f"line {error.lineno}"
    text = (error.text or "").rstrip()
    start = len(text) - len(text.lstrip())
    mark = " " * max((error.offset or 1) - 1 - start, 0) + "^"
    return f"{where}: {error.msg}\n\n    {text.strip()}\n    {mark}" if text else f"{where}: {error.msg}"
