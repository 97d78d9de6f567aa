"""The commands `compare` and `sweep`: one mechanism through many methods, or a model for many values of its parameters.

    --set length=0.5,1,2         values             --set mass=1:3:5         5 values from 1 to 3; several --set are a grid

Parameters are those of a model file, or the arguments of `system` in a Python file or of a function of the gallery.
Exit codes: 0 every cell reached its end, 1 one did not, 2 the arguments are not valid.

    compare       0 at least one method reached the end, 1 none did, no reference is possible, or the model has faults, 2 as above, or
                  there is no such model
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from haugmbd.cli.answers import FAILED, NOT_VALID, OK, as_options
from haugmbd.cli.model_argument import NothingToCheck, by_name, called_with, failed, run_file, with_model
from haugmbd.cli.parser import EVERY
from haugmbd.content_digest import digest_of
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.formats import SUFFIXES
from haugmbd.integrators import RK4
from haugmbd.model.pickling import functions_by_part
from haugmbd.modelfile import load_model
from haugmbd.simulation.simulate import simulate
from haugmbd.study.comparison.compare import compare
from haugmbd.study.method import Method, MethodSet, methods
from haugmbd.study.method_text import method_from
from haugmbd.study.sweeps.executors import PENDING
from haugmbd.study.sweeps.store import NOWHERE
from haugmbd.study.sweeps.sweep import SERIAL, sweep
from haugmbd.study.sweeps.table import SHOWN, Sweep
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance


def run_compare(arguments: argparse.Namespace) -> int:
    """Run the methods, print the table, write the report, and return the exit code."""
    try:
        chosen, name = _methods(arguments.methods), arguments.reference
        reference: Method | Literal[False] | None = (
            None if name is None else False if name == "none" else method_from(name).completed(h=arguments.h)
        )
    except UsageError as error:
        return failed(arguments, NOT_VALID, str(error))
    return with_model(arguments, lambda system: _act(system, chosen, reference, arguments))


def _act(
    system: System, chosen: MethodSet, reference: Method | Literal[False] | None, arguments: argparse.Namespace
) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the comparison."""
    numbers = {"h": arguments.h, "rtol": arguments.rtol, "budget": arguments.budget}
    comparison = compare(system, chosen, arguments.t_end, reference=reference, progress=True, **numbers)
    report = comparison.report(arguments.out)
    lines, files = [str(comparison), f"report: {report}  (open it in a browser)"], [str(report)]
    if arguments.csv is not None:
        files.append(str(comparison.to_csv(arguments.csv)))
        lines.append(f"table: {files[-1]}")
    rows = {label: comparison.row(label) for label in comparison.labels}
    code = OK if any(cell.completed for cell in comparison.cells.values()) else FAILED
    return code, {"methods": rows, "files": files}, "\n".join(lines)


def _methods(texts: Sequence[str]) -> MethodSet:
    """Return the methods of the texts."""
    methods = MethodSet(())
    for text in texts:
        methods = methods + (_every() if text == EVERY else MethodSet((method_from(text),)))
    return methods


def _every() -> MethodSet:
    """Return methods in which every formulation, integrator and stabilization of the package occurs."""
    rk4 = [RK4()]
    every = methods(formulations="all", integrators=rk4) + methods(integrators="all")
    return every + methods(integrators=rk4, stabilizations="all")


MOST = 100_000
"""Cells of a sweep."""


@dataclass(frozen=True)
class Build:
    """Builds the model of a cell;  content: digests of the file and of the code that it calls: a changed file is another study."""

    model: str
    content: str
    allow_code: bool
    tolerance: float | None

    def __call__(self, **cell: Any) -> System:
        """Return the system with these parameters."""
        path = Path(self.model)
        if self.model in by_name():
            made: Any = called_with(by_name()[self.model], self.model, cell)
        elif path.suffix in SUFFIXES:
            made = load_model(path, parameters=cell, allow_code=self.allow_code)
        else:
            function = run_file(path).get("system")
            if not callable(function) or isinstance(function, System):
                raise UsageError(f"{self.model} must define a function system({', '.join(cell)}) that returns a System.")
            made = called_with(function, f"system of {self.model}", cell)
        if not isinstance(made, System):
            raise UsageError(f"{self.model} makes a {type(made).__name__}, not a System.")
        made.tolerance = made.tolerance if self.tolerance is None else self.tolerance
        return made


@dataclass(frozen=True)
class Run:
    """Simulates a system, and measures the run."""

    t_end: float
    h: float
    method: str | None
    bodies: tuple[str, ...]

    def __call__(self, system: System) -> dict[str, float]:
        """Return violation, energy drift, steps, and the last positions of bodies."""
        how = method_from(self.method).completed(h=self.h) if self.method is not None else None
        result = simulate(system, self.t_end, h=self.h) if how is None else how.run(system, self.t_end)
        violation = abs(result.violation("position"))
        found = {
            "steps": float(result.counters.steps),
            "violation": float(violation.max()) if violation.size else 0.0,
            "energy_drift": float(abs(result.energy().drift).max()),
        }
        for body in self.bodies:
            found |= {f"{body}.{axis}": float(x) for axis, x in zip("xyz", result[body].r[-1], strict=True)}
        return found


def run_sweep(arguments: argparse.Namespace) -> int:
    """Run the sweep, print the table, and return the exit code."""
    try:
        cells = {name: values for name, values in map(values_of, arguments.set)}
        if not cells or len(cells) < len(arguments.set):
            raise UsageError("--set NAME=VALUES is needed, once for each parameter.")
        count = int(np.prod([len(values) for values in cells.values()], dtype=np.float64))
        if count > MOST:
            raise UsageError(f"the grid has {count} cells, more than {MOST}.")
        first = {name: values[0] for name, values in cells.items()}
        check_tolerance(arguments.tolerance)
        build = Build(arguments.model, _digest(arguments.model), arguments.allow_code, arguments.tolerance)
        run = Run(arguments.t_end, arguments.h, arguments.method, tuple(arguments.body))
        if run.method is not None:
            method_from(run.method)
        system = build(**first)
        build = replace(build, content=f"{build.content} {_digest_of_code(arguments.model, system)}")
        bodies = [body.name for body in system.bodies]
        for name in run.bodies:
            if name not in bodies:
                raise UsageError(f"--body: no body is called {name!r}{did_you_mean(name, bodies)}.")
        executor = SERIAL if arguments.workers == 1 else None
        workers = None if arguments.workers == 1 else arguments.workers
        table = sweep(build, cells, run, executor, arguments.store, arguments.budget, workers=workers)
        files = [] if arguments.out is None else [str(table.to_csv(arguments.out))]
    except (NothingToCheck, HaugmbdError, TypeError, OSError) as error:
        print(f"haugmbd: {as_options(str(error))}", file=sys.stderr)
        if arguments.json:
            print(json.dumps({"ok": False, "model": arguments.model, "error": str(error), "faults": []}))
        return NOT_VALID
    good = not table.interrupted and not table.failures
    print(json.dumps(_data(table, arguments.model, good, files)) if arguments.json else _text(table, files))
    return OK if good else FAILED


def values_of(text: str) -> tuple[str, list[float]]:
    """Return the name and the values of --set. Raise UsageError for another text."""
    name, sign, listed = text.partition("=")
    try:
        if not (sign and name.strip()):
            raise ValueError
        if ":" in listed:
            start, stop, count = listed.split(":")
            if not 1 <= int(count) <= MOST:
                raise ValueError
            values = np.linspace(float(start), float(stop), int(count)).tolist()
        else:
            values = [float(part) for part in listed.split(",")]
        if not all(map(np.isfinite, values)):
            raise ValueError
    except ValueError:
        raise UsageError(f"--set {text!r:.80} is not NAME=a,b,c or NAME=start:stop:count.") from None
    return name.strip(), values


def _digest(model: str) -> str:
    """Return a digest of the file; "" for a name of the gallery. Raise NothingToCheck if there is none."""
    if model in by_name():
        return ""
    path = Path(model)
    if not path.is_file() or path.suffix not in (*SUFFIXES, ".py"):
        raise NothingToCheck(f"{model!r} is no .json, .toml or .py file, and no mechanism of the gallery ({', '.join(by_name())}).")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest_of_code(model: str, system: System) -> str:
    """Return a digest of the functions that a file defines or names, with what they call in other files of the user."""
    path = Path(model)
    if model in by_name():
        return ""
    if path.suffix in SUFFIXES:
        called: Any = [(where, tuple(functions)) for where, functions in functions_by_part(system)]
        return digest_of([each for each in called if each[1]], vouched=True)
    return digest_of(run_file(path).get("system"), vouched=True)


def _data(table: Sweep, model: str, good: bool, files: list[str]) -> dict[str, Any]:
    """Return the table as data."""
    rows = [
        {"cell": cell, "status": row.status, "values": row.values, "reason": row.reason}
        for cell, row in zip(table.cells, table.rows, strict=True)
    ]
    return {"ok": good, "model": model, "rows": rows, "interrupted": table.interrupted, "files": files}


def _text(table: Sweep, files: list[str]) -> str:
    """Return the table, why cells failed, and in one line how many have not run."""
    failed = [failure for failure in table.failures if failure.status != PENDING]
    lines = [f"failed: {failure}" for failure in failed[:SHOWN]]
    lines += [f"failed: {len(failed) - SHOWN} more"] if len(failed) > SHOWN else []
    pending = table.status.count(PENDING)
    if pending:
        how = "give --store to continue later" if table.store == NOWHERE else "the same command continues"
        lines.append(f"interrupted: {pending} of {len(table)} cells have not run; {how}")
    return "\n".join([str(table), *lines, *(f"wrote {path}" for path in files)])
