r"""The command `haugmbd compare`: one mechanism through many methods; a table and a report.

Exit codes: 0 at least one method reached the end, 1 none did, no reference is possible, or the model has faults, 2 the arguments are not
valid, or there is no such model.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from haugmbd.cli.model_argument import FAILED, NOT_VALID, OK, add_model, failed, file_to_write, positive, with_model
from haugmbd.errors import UsageError
from haugmbd.integrators import RK4
from haugmbd.study.comparison.compare import compare
from haugmbd.study.method import Method, MethodSet, methods
from haugmbd.study.method_text import method_from
from haugmbd.system.system import System
from haugmbd.viewer.page import PAGES

SIX = ("RK4", "RK4 + None", "RK4 + Baumgarte(20, 20)", "Heun", "NullSpace + RK4", "GeneralizedAlpha")
"""The methods that are compared where none are given."""
EVERY = "all"


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to those of `haugmbd`."""
    command = add_parser(
        "compare", help="run a mechanism with many methods, and write a report of their errors, violations and costs"
    )
    add_model(command)
    command.add_argument(
        "--methods",
        nargs="+",
        default=SIX,
        metavar="METHOD",
        help=f'parts joined by +, such as "NullSpace + RK4(h=1e-3) + Projection"; "{EVERY}" for each of the package ({"; ".join(SIX)})',
    )
    report_file = file_to_write("the report is an .html file", *PAGES)
    command.add_argument("--out", type=report_file, default=Path("report.html"), metavar="FILE", help="the report (report.html)")
    table_file = file_to_write("the table is a .csv file", ".csv")
    command.add_argument("--csv", type=table_file, metavar="FILE", help="a table of all numbers: .csv")
    command.add_argument("--t-end", type=positive, default=1.0, metavar="T", help="end of the runs [s] (1)")
    command.add_argument(
        "--h", type=positive, default=1e-3, metavar="H", help="step of methods that have none of their own [s] (1e-3)"
    )
    command.add_argument(
        "--rtol", type=positive, metavar="R", help="relative tolerance of methods that have none of their own (1e-8)"
    )
    command.add_argument("--reference", metavar="METHOD", help='the reference, or "none" (DOP853 with rtol=1e-12)')
    command.add_argument("--budget", type=positive, metavar="B", help="longest time of a run [s] (no limit)")
    command.set_defaults(run=run_compare)


def run_compare(arguments: argparse.Namespace) -> int:
    """Run the methods, print the table, write the report, and return the exit code."""
    try:
        chosen, given = _methods(arguments.methods), arguments.reference
        reference: Method | Literal[False] | None = (
            None if given is None else False if given == "none" else method_from(given).completed(h=arguments.h)
        )
    except UsageError as error:
        return failed(arguments, NOT_VALID, str(error))
    return with_model(arguments, lambda system: _act(system, chosen, reference, arguments))


def _act(
    system: System, chosen: MethodSet, reference: Method | Literal[False] | None, arguments: argparse.Namespace
) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the comparison."""
    numbers = {"h": arguments.h, "rtol": arguments.rtol, "budget": arguments.budget}
    found = compare(system, chosen, arguments.t_end, reference=reference, progress=True, **numbers)
    report = found.report(arguments.out)
    lines, files = [str(found), f"report: {report}  (open it in a browser)"], [str(report)]
    if arguments.csv is not None:
        files.append(str(found.to_csv(arguments.csv)))
        lines.append(f"table: {files[-1]}")
    rows = {label: found.row(label) for label in found.labels}
    code = OK if any(cell.completed for cell in found.cells.values()) else FAILED
    return code, {"methods": rows, "files": files}, "\n".join(lines)


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
