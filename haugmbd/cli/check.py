r"""The command `haugmbd check`: the mobility report of a mechanism in a Python file, or of one of the gallery.

The file defines `system`, a System or a function without arguments that returns one; it is run as a module, not as a program.
Exit codes: 0 no faults, 1 faults or contradictions, 2 there is nothing to check.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.errors import HaugmbdError
from haugmbd.gallery import GALLERY
from haugmbd.system.system import System

MODULE = "checked_mechanism"
"""`__name__` of the file while it is run: what stands under `if __name__ == "__main__"` is left alone."""


class NothingToCheck(Exception):
    """Error if there is nothing to check, with the reason in one sentence."""


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to those of `haugmbd`."""
    command = add_parser("check", help="print degrees of freedom, dependent constraints and unique reactions of a mechanism")
    names = ", ".join(make.__name__ for make in GALLERY)
    command.add_argument(
        "mechanism", metavar="FILE_OR_NAME", help=f"a Python file that defines `system` (its code is run), or one of {names}"
    )
    command.set_defaults(run=run_check)


def run_check(arguments: argparse.Namespace) -> int:
    """Print the report, and return the exit code."""
    try:
        report = mobility(_system(arguments.mechanism))
    except NothingToCheck as error:
        print(f"haugmbd: {error}", file=sys.stderr)
        return 2
    except HaugmbdError as error:
        print(f"haugmbd: {arguments.mechanism}{_line_of(error, arguments.mechanism)}: {error}", file=sys.stderr)
        return 1
    print(report)
    return 0 if report.ok else 1


def _system(given: str) -> System:
    """Return the system of a gallery name or of a file. Raise NothingToCheck if there is none, HaugmbdError if it cannot be built."""
    by_name = {make.__name__: make for make in GALLERY}
    if given in by_name:
        return by_name[given]()
    path = Path(given)
    if not path.is_file():
        raise NothingToCheck(f"{given!r} is no file, and no mechanism of the gallery ({', '.join(by_name)}).")
    return _made(given, _run(path).get("system"))


def _run(path: Path) -> dict[str, Any]:
    """Return the names that the file defines; it imports from its own folder first."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        return runpy.run_path(str(path), run_name=MODULE)
    except HaugmbdError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  a user's file may raise anything
        raise NothingToCheck(f"{path}{_line_of(error, str(path))} raises {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(folder)


def _made(given: str, system: Any) -> System:
    """Return `system`, or the result of the function of that name."""
    if callable(system) and not isinstance(system, System):
        try:
            system = system()
        except HaugmbdError:
            raise
        except Exception as error:  # noqa: BLE001  a user's function may raise anything
            raise NothingToCheck(f"system() of {given}{_line_of(error, given)} raises {type(error).__name__}: {error}") from None
    if isinstance(system, System):
        return system
    what = "does not define" if system is None else f"defines {type(system).__name__}, not a System, as"
    raise NothingToCheck(f"{given} {what} `system`: give it a System of that name, or a function system() that returns one.")


def _line_of(error: BaseException, path: str) -> str:
    """Return the line of the file in the traceback, as ", line 12"; "" if there is none."""
    name = str(Path(path))
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    return f", line {lines[-1]}" if lines else ""
