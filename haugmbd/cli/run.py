"""The command `haugmbd run`: simulate a mechanism; print how the run went; write its result, plots and an animation.

Exit codes: 0 the run reached its end, 1 the model has faults or the run failed, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from haugmbd.cli.answers import FAILED, NOT_VALID, OK, as_options
from haugmbd.cli.model_argument import failed, with_model
from haugmbd.cli.parser import STEP
from haugmbd.errors import RunWarning, SimulationError, UsageError
from haugmbd.integrators.base import RTOL
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.study.method import Method
from haugmbd.study.method_text import method_from
from haugmbd.system.system import System

ROUNDING = 1e-12
"""Coordinates below this part of the largest one are printed as 0."""
SHOWN_BODIES = 12
"""Bodies whose final position is printed; --out writes all."""


def run_run(arguments: argparse.Namespace, system: System | None = None) -> int:
    """Simulate, write, print, and return the exit code;  system: in place of the model that the arguments name."""
    if arguments.h is not None and (arguments.rtol is not None or arguments.atol is not None):
        return failed(arguments, NOT_VALID, "--h selects a fixed step, --rtol and --atol an adaptive one: give one of them.")
    try:
        method = None if arguments.method is None else method_from(arguments.method)
    except UsageError as error:
        return failed(arguments, NOT_VALID, f"--method: {error}")
    return with_model(arguments, lambda named: _act(system or named, method, arguments))


def _act(system: System, method: Method | None, arguments: argparse.Namespace) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the run."""
    how: dict[str, Any] = {"project_velocity": arguments.project_velocity, "store_every": arguments.store_every}
    how |= {} if arguments.budget is None else {"budget": arguments.budget}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)  # the result has its texts, which are printed below
            if method is not None:
                result = _with_numbers(method, arguments).run(system, arguments.t_end, **how)
            else:
                result = simulate(system, arguments.t_end, **_numbers(arguments), **how)
    except SimulationError as error:
        if not isinstance(error.result, Result) or len(error.result.t) < 1:
            raise
        result = error.result
    written = _write(result, arguments)
    data = _data(result, written)
    return OK if result.success else FAILED, data, _text(result, data)


def _numbers(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return step and tolerances of the arguments; STEP where there are none."""
    given = {key: value for key in ("h", "rtol", "atol") if (value := getattr(arguments, key)) is not None}
    return given or {"h": STEP}


def _with_numbers(method: Method, arguments: argparse.Namespace) -> Method:
    """Return the method with the step or the tolerances of the arguments; raise UsageError if it takes none, or has a step already."""
    if arguments.h is not None:
        if getattr(method.integrator, "h", None) is not None:
            raise UsageError(f"--h and the step of --method {method.label!r} are two steps: give one of them.")
        return method.with_step(arguments.h)
    if arguments.rtol is not None or arguments.atol is not None:
        return method.with_tolerances(float(RTOL) if arguments.rtol is None else arguments.rtol, arguments.atol)
    return method.completed(h=STEP)


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
        raise UsageError("--plot needs matplotlib, which is not installed: pip install matplotlib.") from None
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
        "message": as_options(result.message),
        "warnings": [as_options(text) for text in result.warnings],
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
