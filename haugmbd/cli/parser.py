"""The parser of the command `haugmbd`: every command and its options.

Nothing of the engine is imported here, so that `--help`, `--version`, completion and a mistyped option answer at once; `main` imports what
a command runs.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from haugmbd import __version__
from haugmbd.cli.answers import CommandError
from haugmbd.deprecated import did_you_mean
from haugmbd.formats import JSON, PAGES, PLOTS, RESULTS, read_suffixes, written_suffixes

STEP = 1e-3
"""Step of methods that have none of their own [s]."""
SHORTEST, LONGEST = 5e-4, 1000.0
"""Times of the demo [s]: its step, and a limit for the memory of stored states."""
SIX = ("RK4", "RK4 + None", "RK4 + Baumgarte(20, 20)", "Heun", "NullSpace + RK4", "GeneralizedAlpha")
"""The methods that are compared where none are given."""
EVERY = "all"
MOST_LINKS = 1000
"""Limit of links: the time of full matrices grows with the cube."""
MOST_CHAINS = 100_000
LARGEST_SEED = 2**32 - 1
METHOD = 'parts joined by +, such as "RK4", "BDF" or "NullSpace + RK4 + Baumgarte(20, 20)"'

PARTS = {
    "--formulation": '"NullSpace + RK4"',
    "--integrator": '"GeneralizedAlpha"',
    "--stabilization": '"RK4 + Baumgarte(20, 20)"',
}
"""Parts of a method that are no options of their own, and how they are given."""

AddParser = Callable[..., argparse.ArgumentParser]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, without the usage, and name the nearest command."""

    def error(self, message: str) -> NoReturn:
        wrong = re.match(r"argument command: invalid choice: '(.*?)' \(choose from (.*)\)", message)
        hint = did_you_mean(wrong[1], re.findall(r"[\w-]+", wrong[2])) if wrong else ""
        unknown = re.match(r"unrecognized arguments: (--[\w-]+)", message)
        if unknown and unknown[1] in PARTS:
            hint = f": give --method {PARTS[unknown[1]]}"
        raise CommandError(f"{message}{hint}; see {self.prog} --help")


def parser() -> argparse.ArgumentParser:
    """Return the parser with all commands and options; `command` of what it parses is the name of the command."""
    whole = Parser(prog="haugmbd", description="Multibody dynamics: define, simulate, check.")
    whole.add_argument("--version", action="version", version=f"haugmbd {__version__}")
    commands = whole.add_subparsers(required=True, metavar="command", dest="command")

    def add_parser(name: str, *, help: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")

    for add in (
        _demo,
        _run,
        _check,
        _compare,
        _assemble,
        _convert,
        _info,
        _gallery,
        _labs,
        _sweep,
        _crosscheck,
        _view,
        _warm,
        _completion,
    ):
        add(add_parser)
    return whole


def _demo(add_parser: AddParser) -> None:
    command = add_parser("demo", help="simulate, check and plot the spatial slider-crank, and compare six methods on it")
    command.add_argument(
        "name", nargs="?", type=gallery_name, metavar="NAME", help="another mechanism, of those that `haugmbd gallery` lists"
    )
    command.add_argument("--out", type=Path, default=Path("haugmbd-demo"), metavar="DIR", help="folder of the plots (haugmbd-demo)")
    command.add_argument(
        "--t-end", type=_duration, metavar="T", help="end of the simulation [s] (of the slider-crank 5, of others their own)"
    )


def _run(add_parser: AddParser) -> None:
    command = add_parser("run", help="simulate a mechanism; write its result, plots, an animation")
    _add_model(command)
    command.add_argument("--t-end", type=_positive, default=1.0, metavar="T", help="end of the simulation [s] (1)")
    command.add_argument("--h", type=_positive, metavar="H", help=f"fixed step [s] ({STEP:g}, unless --rtol is given)")
    command.add_argument("--rtol", type=_positive, metavar="R", help="error control: relative tolerance of a step")
    command.add_argument("--atol", type=_positive, metavar="A", help="error control: absolute tolerance of a step")
    command.add_argument("--method", metavar="METHOD", help=f"formulation, integrator, stabilization: {METHOD}")
    command.add_argument("--project-velocity", action="store_true", help="project the initial velocities onto the constraints")
    command.add_argument("--store-every", type=_whole(1, 10**9), default=1, metavar="N", help="store every N-th step (1)")
    command.add_argument("--budget", type=_positive, metavar="B", help="longest time of the run [s] (no limit)")
    result_file = _file_to_write("a result is a .npz, .nc or .csv file", *RESULTS)
    command.add_argument("--out", type=result_file, metavar="FILE", help="write the result: .npz, .nc or .csv")
    plot_file = _file_to_write("a plot is a .png, .pdf or .svg file", *PLOTS)
    command.add_argument("--plot", type=plot_file, metavar="FILE", help="write a plot of energy and violation: .png, .pdf or .svg")
    page_file = _file_to_write("an animation is an .html file", *PAGES)
    command.add_argument("--animate", type=page_file, metavar="FILE", help="write an animation: one .html file")


def _check(add_parser: AddParser) -> None:
    _add_model(add_parser("check", help="print degrees of freedom, dependent constraints and unique reactions of a mechanism"))


def _compare(add_parser: AddParser) -> None:
    command = add_parser(
        "compare", help="run a mechanism with many methods, and write a report of their errors, violations and costs"
    )
    _add_model(command)
    command.add_argument(
        "--methods",
        nargs="+",
        default=SIX,
        metavar="METHOD",
        help=f'parts joined by +, such as "NullSpace + RK4(h=1e-3) + Projection"; "{EVERY}" for each of the package ({"; ".join(SIX)})',
    )
    report_file = _file_to_write("the report is an .html file", *PAGES)
    command.add_argument("--out", type=report_file, default=Path("report.html"), metavar="FILE", help="the report (report.html)")
    table_file = _file_to_write("the table is a .csv file", ".csv")
    command.add_argument("--csv", type=table_file, metavar="FILE", help="a table of all numbers: .csv")
    command.add_argument("--t-end", type=_positive, default=1.0, metavar="T", help="end of the runs [s] (1)")
    command.add_argument(
        "--h", type=_positive, default=STEP, metavar="H", help=f"step of methods that have none of their own [s] ({STEP:g})"
    )
    command.add_argument(
        "--rtol", type=_positive, metavar="R", help="relative tolerance of methods that have none of their own (1e-8)"
    )
    command.add_argument("--reference", metavar="METHOD", help='the reference, or "none" (DOP853 with rtol=1e-12)')
    command.add_argument("--budget", type=_positive, metavar="B", help="longest time of a run [s] (no limit)")


def _assemble(add_parser: AddParser) -> None:
    command = add_parser("assemble", help="close the joints of a mechanism with the least motion of its bodies")
    _add_model(command)
    model_file = _file_to_write("a system is saved as .json", JSON)
    command.add_argument("--out", type=model_file, metavar="FILE", help="write the closed model: .json")


def _convert(add_parser: AddParser) -> None:
    command = add_parser("convert", help="read a model of any format, and write it in another one")
    _add_model(command)
    endings = ", ".join(written_suffixes())
    file = _file_to_write(f"a model is written as {endings}", *written_suffixes())
    command.add_argument("out", type=file, metavar="FILE", help=f"the file to write: {endings}")
    command.add_argument("--leave-out", action="store_true", help="leave out what the format cannot hold, and say so")


def _info(add_parser: AddParser) -> None:
    command = add_parser("info", help="print versions, the folder of compiled code, and threads; or the table of a mechanism")
    _add_model(command, nargs="?")
    command.add_argument("--schema", action="store_true", help="print the JSON Schema of model files")


def _gallery(add_parser: AddParser) -> None:
    command = add_parser("gallery", help="list the ready-made mechanisms, or write a page with their pictures")
    page_file = _file_to_write("the page is an .html file", *PAGES)
    command.add_argument("--out", type=page_file, metavar="FILE", help="write a page with a picture of each: one .html file")
    _add_json(command)


def _labs(add_parser: AddParser) -> None:
    command = add_parser("labs", help="write the labs into a folder, without their solutions")
    command.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="the folder; it is made if it is not there")
    command.add_argument("--notebooks", action="store_true", help="as notebooks (.ipynb); by default programs (.py)")
    command.add_argument("--solutions", action="store_true", help="with their solutions: a lecturer's copy")
    command.add_argument("--replace", action="store_true", help="replace files that are there; by default nothing is written then")
    _add_json(command)


def _sweep(add_parser: AddParser) -> None:
    command = add_parser("sweep", help="simulate a model for many values of its parameters")
    command.add_argument(
        "model", metavar="MODEL", help="a .json or .toml with parameters, a Python file with system(...), or a gallery name"
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUES", help="a,b,c or start:stop:count; several make a grid"
    )
    command.add_argument("--t-end", type=_positive, default=1.0, metavar="T", help="end of the runs [s] (1)")
    command.add_argument("--h", type=_positive, default=STEP, metavar="H", help=f"step [s] ({STEP:g})")
    command.add_argument("--method", metavar="METHOD", help='such as "NullSpace + RK4"; by default that of `simulate`')
    command.add_argument("--body", action="append", default=[], metavar="NAME", help="a body whose last position is in the table")
    command.add_argument("--store", metavar="PATH", help="folder or .nc file of the rows: a sweep that is stopped continues there")
    table_file = _file_to_write("the table is a .csv file", ".csv")
    command.add_argument("--out", type=table_file, metavar="FILE", help="the table: .csv")
    command.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
    command.add_argument("--budget", type=_positive, metavar="B", help="longest time of a run [s] (no limit)")
    _add_tolerance(command)
    command.add_argument("--allow-code", action="store_true", help="import the functions that a model file names")
    _add_json(command)


def _crosscheck(add_parser: AddParser) -> None:
    command = add_parser("crosscheck", help="compare random chains in joint and in maximal coordinates")
    command.add_argument(
        "--links", type=_whole(1, MOST_LINKS), default=30, metavar="N", help="largest number of links of a chain (30)"
    )
    command.add_argument("--random", type=_whole(1, MOST_CHAINS), default=50, metavar="N", help="number of random chains (50)")
    command.add_argument("--seed", type=_whole(0, LARGEST_SEED), default=0, metavar="S", help="seed of the first chain (0)")
    command.add_argument("--tol", type=_positive, metavar="TOL", help="largest relative difference allowed (that of crosscheck)")
    command.add_argument("--joints", metavar="A,B", help="kinds of joints, such as revolute,prismatic (all)")
    command.add_argument("--free", action="store_true", help="use chains with a free base")
    _add_json(command)


def _view(add_parser: AddParser) -> None:
    command = add_parser("view", help="show a mechanism in the browser, and again at every change of its file")
    _add_reading(command)
    command.add_argument("--port", type=int, default=0, help="port of the loopback address (a free one)")
    command.add_argument("--no-browser", action="store_true", help="do not open a browser")
    command.add_argument(
        "--t-end", type=float, default=2.0, metavar="T", help="how long the motion is that plays [s]; 0 for a still picture (2)"
    )


def _warm(add_parser: AddParser) -> None:
    command = add_parser("warm", help="compile the code of simulations in advance, and keep it on disk")
    command.add_argument("--all", action="store_true", help="compile all methods, not only the default ones; takes some minutes")
    _add_json(command)


def _completion(add_parser: AddParser) -> None:
    command = add_parser("completion", help="print a completion script for bash or zsh")
    command.add_argument("shell", choices=("bash", "zsh"))


def _add_model(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the arguments MODEL, --loops, --length, --tolerance, --set, --allow-code and --json."""
    _add_reading(command, nargs)
    _add_json(command)


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object for other programs")


def _add_reading(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the arguments MODEL, --loops, --length, --tolerance, --set and --allow-code."""
    endings = ", ".join(read_suffixes())
    command.add_argument(
        "model",
        metavar="MODEL",
        nargs=nargs,
        help=f"a model file ({endings}), a Python file that defines `system` (it is executed), or a mechanism of `haugmbd gallery`",
    )
    reading = command.add_argument_group("options for reading MODEL")
    reading.add_argument("--loops", metavar="FILE", help="for a .urdf: a sidecar file with closed loops")
    reading.add_argument(
        "--length", type=_positive, metavar="M", help="for a .asmt: its unit of length [m], 0.001 for FreeCAD's millimetres (1)"
    )
    _add_tolerance(reading)
    reading.add_argument(
        "--set",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a parameter of a .json or .toml, or an argument of system(...) or of the gallery's function; again for others",
    )
    reading.add_argument(
        "--allow-code", action="store_true", help="import the functions that a model file names, or expand a .xacro"
    )


def _add_tolerance(options: argparse._ActionsContainer) -> None:
    """Add the argument --tolerance."""
    options.add_argument(
        "--tolerance",
        type=_positive,
        metavar="E",
        help="how far redundant joints may contradict each other [rad, or part of the size] (1e-3 for those that were meant to fit)",
    )


def _parameter(text: str) -> tuple[str, float]:
    """Return the name and the number of NAME=NUMBER."""
    name, sign, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not (sign and name.strip() and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not NAME=NUMBER")
    return name.strip(), value


def gallery_names() -> list[str]:
    """Return the names of the mechanisms of the gallery, read from its list: importing them takes a second."""
    listed = (Path(__file__).parents[1] / "gallery" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r"^    (\w+),$", listed[listed.index("GALLERY: ") :], re.MULTILINE)


def gallery_name(text: str) -> str:
    """Return the name of a mechanism of the gallery."""
    names = gallery_names()
    if text not in names:
        hint = did_you_mean(text, names) or "; `haugmbd gallery` lists them"
        raise argparse.ArgumentTypeError(f"{text!r} is not a mechanism of the gallery{hint}")
    return text


def _number(text: str) -> float:
    """Return the number that a text is, NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _duration(text: str) -> float:
    """Return a time that holds at least one step [s]."""
    value = _number(text)
    if not SHORTEST <= value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from {SHORTEST:g} s (one step) to {LONGEST:g} s")
    return value


def _positive(text: str) -> float:
    """Return a positive finite number."""
    value = _number(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return value

    return read


def _file_to_write(what: str, *endings: str) -> Callable[[str], Path]:
    """Return the type of an argument that names a file with one of the endings, in a folder that exists.

    what: the sentence for another ending.  The argument is refused before anything is computed, which may take long.
    """

    def path_of(text: str) -> Path:
        path = Path(text)
        if path.suffix not in endings:
            raise argparse.ArgumentTypeError(f"cannot write {text!r}: {what}")
        if not path.absolute().parent.is_dir():
            raise argparse.ArgumentTypeError(f"cannot write {text!r}: there is no folder {str(path.parent)!r}")
        return path

    return path_of
