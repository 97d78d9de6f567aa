r"""The command `haugmbd compare`: one mechanism of a Python file, or of the gallery, through many methods; a table and a report.

Exit codes: 0 at least one method reached the end, 1 none did, or no reference is possible, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from haugmbd.cli.check import NothingToCheck, _system
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.gallery import GALLERY
from haugmbd.integrators import RK4
from haugmbd.study.comparison.compare import compare
from haugmbd.study.method import Method, MethodSet, methods
from haugmbd.study.method_text import method_from

SIX = ("RK4", "RK4 + None", "RK4 + Baumgarte(20, 20)", "Heun", "NullSpace + RK4", "GeneralizedAlpha")
"""The methods that are compared where none are given."""
EVERY = "all"


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to those of `haugmbd`."""
    command = add_parser(
        "compare", help="run a mechanism with many methods, and write a report of their errors, violations and costs"
    )
    names = ", ".join(make.__name__ for make in GALLERY)
    command.add_argument(
        "mechanism", metavar="FILE_OR_NAME", help=f"a Python file that defines `system` (its code is run), or one of {names}"
    )
    command.add_argument(
        "--methods",
        nargs="+",
        default=SIX,
        metavar="METHOD",
        help=f'parts joined by +, such as "NullSpace + RK4(h=1e-3) + Projection"; "{EVERY}" for each of the package ({"; ".join(SIX)})',
    )
    command.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE", help="the report (report.html)")
    command.add_argument("--csv", type=Path, metavar="FILE", help="a table of all numbers")
    command.add_argument("--t-end", type=_positive, default=1.0, metavar="T", help="end of the runs [s] (1)")
    command.add_argument(
        "--h", type=_positive, default=1e-3, metavar="H", help="step of methods that have none of their own [s] (1e-3)"
    )
    command.add_argument(
        "--rtol", type=_positive, metavar="R", help="relative tolerance of methods that have none of their own (1e-8)"
    )
    command.add_argument("--reference", metavar="METHOD", help='the reference, or "none" (DOP853 with rtol=1e-12)')
    command.add_argument("--budget", type=_positive, metavar="B", help="longest time of a run [s] (no limit)")
    command.set_defaults(run=run_compare)


def _positive(text: str) -> float:
    """Return a positive number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def run_compare(arguments: argparse.Namespace) -> int:
    """Compare the methods, print the table, write the report, and return the exit code."""
    try:
        chosen = _methods(arguments.methods)
        given = arguments.reference
        reference: Method | Literal[False] | None = (
            None if given is None else False if given == "none" else method_from(given).completed(h=arguments.h)
        )
        if arguments.out.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"--out is {str(arguments.out)!r}: the report is an .html file.")
        system = _system(arguments.mechanism)
    except (NothingToCheck, UsageError) as error:
        print(f"haugmbd: {error}", file=sys.stderr)
        return 2
    numbers = {"h": arguments.h, "rtol": arguments.rtol, "budget": arguments.budget}
    try:
        found = compare(system, chosen, arguments.t_end, reference=reference, progress=True, **numbers)
        print(found)
        print(f"report: {found.report(arguments.out)}  (open it in a browser)")
        if arguments.csv is not None:
            print(f"table: {found.to_csv(arguments.csv)}")
    except HaugmbdError as error:
        print(f"haugmbd: {arguments.mechanism}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"haugmbd: cannot write: {error}", file=sys.stderr)
        return 2
    return 0 if any(cell.completed for cell in found.cells.values()) else 1


def _methods(texts: Sequence[str]) -> MethodSet:
    """Return the methods of the texts."""
    found = MethodSet(())
    for text in texts:
        found = found + (_every() if text == EVERY else MethodSet((method_from(text),)))
    return found


def _every() -> MethodSet:
    """Return methods in which every formulation, integrator and stabilization of the package occurs."""
    rk4 = [RK4()]
    every = methods(formulations="all", integrators=rk4) + methods(integrators="all")
    return every + methods(integrators=rk4, stabilizations="all")
