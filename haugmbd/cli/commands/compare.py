r"""The command `haugmbd compare`: one mechanism through many methods; a table and a report.

Exit codes: 0 at least one method reached the end, 1 none did, no reference is possible, or the model has faults, 2 the arguments are not
valid, or there is no such model.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Literal

from haugmbd.cli.answers import FAILED, NOT_VALID, OK
from haugmbd.cli.model_argument import failed, with_model
from haugmbd.cli.parser import EVERY
from haugmbd.errors import UsageError
from haugmbd.integrators import RK4
from haugmbd.study.comparison.compare import compare
from haugmbd.study.method import Method, MethodSet, methods
from haugmbd.study.method_text import method_from
from haugmbd.system.system import System


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
