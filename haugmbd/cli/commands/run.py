r"""The command `haugmbd run`: simulate a mechanism; print how the run went; write its result, plots and an animation.

Exit codes: 0 the run reached its end, 1 the model has faults or the run failed, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from haugmbd.cli.model_argument import FAILED, NOT_VALID, OK, add_model, failed, file_to_write, positive, with_model
from haugmbd.errors import RunWarning, SimulationError, UsageError
from haugmbd.integrators.base import Integrator, methods_below
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System
from haugmbd.viewer.page import PAGES

STEP = 1e-3
"""Fixed step [s] where neither --h nor --rtol is given."""
PLOTS = (".png", ".pdf", ".svg", ".eps", ".ps", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
"""Endings of plots."""
ROUNDING = 1e-12
"""Coordinates below this part of the largest one are printed as 0."""
SHOWN_BODIES = 12
"""Bodies whose final position is printed; --out writes all."""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to those of `haugmbd`."""
    command = add_parser("run", help="simulate a mechanism; write its result, plots, an animation")
    add_model(command)
    command.add_argument("--t-end", type=positive, default=1.0, metavar="T", help="end of the simulation [s] (1)")
    command.add_argument("--h", type=positive, metavar="H", help=f"fixed step [s] ({STEP:g}, unless --rtol is given)")
    command.add_argument("--rtol", type=positive, metavar="R", help="error control: relative tolerance of a step")
    command.add_argument("--atol", type=positive, metavar="A", help="error control: absolute tolerance of a step")
    command.add_argument("--method", choices=sorted(methods()), metavar="NAME", help=f"integrator: {', '.join(sorted(methods()))}")
    command.add_argument("--project-velocity", action="store_true", help="project the initial velocities onto the constraints")
    result_file = file_to_write("a result is a .npz, .nc or .csv file", ".npz", ".nc", ".csv")
    command.add_argument("--out", type=result_file, metavar="FILE", help="write the result: .npz, .nc or .csv")
    plot_file = file_to_write("a plot is a .png, .pdf or .svg file", *PLOTS)
    command.add_argument("--plot", type=plot_file, metavar="FILE", help="write a plot of energy and violation: .png, .pdf or .svg")
    page_file = file_to_write("an animation is an .html file", *PAGES)
    command.add_argument("--animate", type=page_file, metavar="FILE", help="write an animation: one .html file")
    command.set_defaults(run=run_run)


def methods() -> dict[str, type[Integrator]]:
    """Return the integrators that need no argument, by name."""
    found: dict[str, type[Integrator]] = {}
    for kind in methods_below():
        try:
            kind()
        except (TypeError, UsageError):
            continue
        found[kind.__name__] = kind
    return found


def run_run(arguments: argparse.Namespace, system: System | None = None) -> int:
    """Simulate, write, print, and return the exit code;  system: in place of the model that the arguments name."""
    if arguments.h is not None and (arguments.rtol is not None or arguments.atol is not None):
        return failed(arguments, NOT_VALID, "--h selects a fixed step, --rtol and --atol an adaptive one: give one of them.")
    return with_model(arguments, lambda named: _act(system or named, arguments))


def _act(system: System, arguments: argparse.Namespace) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the run."""
    how: dict[str, Any] = {"project_velocity": arguments.project_velocity}
    how |= {key: value for key in ("h", "rtol", "atol") if (value := getattr(arguments, key)) is not None}
    if arguments.h is None and arguments.rtol is None and arguments.atol is None:
        how["h"] = STEP
    if arguments.method is not None:
        method = methods()[arguments.method]()
        how |= {"integrator": method} | ({} if method.correctable and not method.solves_constraints else {"stabilization": None})
        how = {key: value for key, value in how.items() if key != "h" or method.takes_step or arguments.h is not None}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)  # the result has its texts, which are printed below
            result = simulate(system, arguments.t_end, **how)
    except SimulationError as error:
        if not isinstance(error.result, Result) or len(error.result.t) < 1:
            raise
        result = error.result
    written = _write(result, arguments)
    data = _data(result, written)
    return OK if result.success else FAILED, data, _text(result, data)


def _write(result: Result, arguments: argparse.Namespace) -> list[str]:
    """Write the files that are wanted, and return their paths."""
    written = []
    if arguments.out is not None:
        written.append(result.to_csv(arguments.out) if arguments.out.suffix == ".csv" else result.save(arguments.out))
    if arguments.plot is not None:
        written.append(_plot(result, arguments.plot))
    if arguments.animate is not None:
        written.append(result.animate(arguments.animate))
    return [str(path) for path in written]


def _plot(result: Result, path: Path) -> Path:
    """Write energy and violation over time."""
    try:
        import matplotlib  # noqa: PLC0415  only where a plot is written
    except ImportError:
        raise UsageError("--plot needs matplotlib, which is not installed: pip install 'haugmbd[viz]'.") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    from haugmbd import plotting  # noqa: PLC0415

    figure, (above, below) = pyplot.subplots(2, 1, figsize=(8.0, 8.0), layout="constrained")
    plotting.energy(result, ax=above)
    plotting.violation(result, ax=below)
    try:
        figure.savefig(path, dpi=120)
    except ValueError as error:
        raise UsageError(f"--plot {path}: {error}.") from None
    finally:
        pyplot.close(figure)
    return path


def _data(result: Result, written: list[str]) -> dict[str, Any]:
    """Return how the run went, and its last state."""
    energy = result.energy()
    violation = abs(result.violation("position"))
    names = result.names.bodies[1:]
    return {
        "name": result.names.model,
        "status": result.status.name,
        "message": result.message,
        "warnings": list(result.warnings),
        "t_end": float(result.t[-1]),
        "steps": result.counters.steps,
        "settings": result.settings,
        "energy_drift": float(abs(energy.drift).max()),
        "violation": float(violation.max()) if violation.size else 0.0,
        "bodies": {name: {"r": result.r[-1, k].tolist(), "p": result.p[-1, k].tolist()} for k, name in enumerate(names, start=1)},
        "files": written,
    }


def _text(result: Result, data: dict[str, Any]) -> str:
    """Return the data as lines."""
    far = max((abs(x) for body in data["bodies"].values() for x in body["r"]), default=0.0)
    settings = ", ".join(str(data["settings"][key]) for key in ("integrator", "stabilization") if key in data["settings"])
    lines = [
        f"{data['name']}: {data['status'].lower()} at t = {data['t_end']:g} s after {data['steps']} steps ({settings})",
        *([data["message"]] if data["message"] else []),
        f"  violation, position   {data['violation']:9.1e}   largest of all rows and times",
        f"  energy drift          {data['energy_drift']:9.1e} J",
        *(
            f"  {name:<20}  r = ({', '.join(f'{x:.6g}' if abs(x) > ROUNDING * far else '0' for x in body['r'])}) m"
            for name, body in list(data["bodies"].items())[:SHOWN_BODIES]
        ),
        *(f"warning: {text}" for text in data["warnings"]),
        *(f"wrote {path}" for path in data["files"]),
    ]
    return "\n".join(lines)
