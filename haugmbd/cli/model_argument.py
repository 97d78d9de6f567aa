r"""MODEL, the argument of commands: a model file of any format, a Python file with `system`, or a name of the gallery.

A Python file is executed, which is said on standard error. Exit codes of all commands with a MODEL:

    0   success
    1   the model has faults, or a computation with it failed
    2   the arguments are not valid, or there is no such model
"""

from __future__ import annotations

import argparse
import inspect
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from haugmbd.cli.answers import FAILED, NOT_VALID, OK, as_options, json_line
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import HaugmbdError, ModelError, ModelFileError, UsageError
from haugmbd.formats import MODELS, PYTHON, SUFFIXES, read, read_suffixes, reader_of
from haugmbd.gallery import GALLERY
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

NONE: Mapping[str, float] = MappingProxyType({})
MODULE = "checked_mechanism"
"""`__name__` of a Python file while it is run: code under `if __name__ == "__main__"` is left alone."""


class NothingToCheck(Exception):
    """Error if there is no model, with the reason in one sentence."""


def by_name() -> dict[str, Callable[[], System]]:
    """Return the mechanisms of the gallery by name."""
    return {make.__name__: make for make in GALLERY}


def read_model(
    given: str,
    *,
    allow_code: bool = False,
    loops: str | None = None,
    length: float | None = None,
    tolerance: float | None = None,
    parameters: Mapping[str, float] = NONE,
) -> System:
    """Return the system of a MODEL with these `parameters`. Raise NothingToCheck if there is none, HaugmbdError if it cannot be built."""
    check_tolerance(tolerance)
    system = _read(given, allow_code, loops, length, tolerance, parameters)
    system.tolerance = system.tolerance if tolerance is None else tolerance
    return system


def _read(
    text: str, allow_code: bool, loops: str | None, length: float | None, tolerance: float | None, parameters: Mapping[str, float]
) -> System:
    """Return the system of a MODEL."""
    for option, value in (("loops", loops), ("length", length)):
        takers = [each for each in MODELS if option in each.options]
        if value is not None and not any(Path(text).suffix in each.suffixes for each in takers):
            kinds = ", ".join(f"{each.says} ({', '.join(each.suffixes)})" for each in takers)
            raise NothingToCheck(f"--{option} is for {kinds}, and {text!r} is not one.")
    if text in by_name():
        made: System = called_with(by_name()[text], text, parameters)
        return made
    path = Path(text)
    if not path.is_file():
        hint = did_you_mean(text, by_name()) or "; `haugmbd gallery` lists the mechanisms"
        raise NothingToCheck(f"{text!r} is neither a file nor a mechanism of the gallery{hint}.")
    format_of_file = reader_of(path)
    if format_of_file is not None:
        if parameters and "parameters" not in format_of_file.options:
            raise NothingToCheck(
                f"--set is for parameters of {', '.join(SUFFIXES)}, a Python file or the gallery, and {text!r} has none."
            )
        how = {"loops": loops, "length": length, "allow_code": allow_code, "parameters": parameters or None}
        try:
            system: System = read(format_of_file, path, tolerance, **how)
        except UsageError as error:
            if parameters:
                raise NothingToCheck(str(error)) from None
            raise
        return system
    if path.suffix != PYTHON:
        what = f"{text!r} ends with {path.suffix!r}" if path.suffix else f"{text!r} has no ending"
        raise NothingToCheck(f"{what}: a model is a file {', '.join(read_suffixes())}, or a {PYTHON}, which is executed.")
    print(f"haugmbd: executing {text}", file=sys.stderr)
    return _made(text, run_file(path).get("system"), parameters)


def with_model(arguments: argparse.Namespace, act: Callable[[System], tuple[int, dict[str, Any], str]]) -> int:
    """Read the model, act, and print: the text of the action, or its data with --json. Return the exit code.

    act: a function of the system that returns exit code, data and text
    """
    try:
        code, data, text = act(read_model(arguments.model, **reading_of(arguments)))
    except NothingToCheck as error:
        return failed(arguments, NOT_VALID, str(error))
    except OSError as error:
        note = str(error) if isinstance(error, HaugmbdError) else f"{error.filename or arguments.model}: {error.strerror or error}"
        return failed(arguments, NOT_VALID, note)
    except HaugmbdError as error:
        faults = error.faults if isinstance(error, ModelError) else ()
        note = str(error) if isinstance(error, ModelFileError) else f"{arguments.model}{line_of(error, arguments.model)}: {error}"
        return failed(arguments, FAILED, note, str(error), [str(fault) for fault in faults])
    print(json_line({"ok": code == OK, "model": arguments.model, **data}) if arguments.json else text)
    return code


def reading_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `add_reading` as keywords of `read_model`."""
    given = {key: getattr(arguments, key) for key in ("allow_code", "loops", "length", "tolerance")}
    return {**given, "parameters": dict(arguments.set)}


def failed(arguments: argparse.Namespace, code: int, note: str, error: str = "", faults: Sequence[str] = ()) -> int:
    """Print an error, and return the exit code."""
    print(f"haugmbd: {as_options(note)}", file=sys.stderr)
    if arguments.json:
        print(json_line({"ok": False, "model": arguments.model, "error": as_options(error or note), "faults": list(faults)}))
    return code


def run_file(path: Path) -> dict[str, Any]:
    """Return the names that the file defines; it imports from its own folder first."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        return runpy.run_path(str(path), run_name=MODULE)
    except HaugmbdError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  a user's file may raise anything
        raise NothingToCheck(f"{path}{line_of(error, str(path))} raises {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(folder)


def called_with(function: Callable[..., Any], name: str, parameters: Mapping[str, float]) -> Any:
    """Return what a function makes of parameters, which are whole numbers where the function takes such.

    Raise NothingToCheck for a parameter that it does not have.
    """
    taken = inspect.signature(function).parameters
    if not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
        for key in parameters:
            if key not in taken:
                has = f"its parameters are {', '.join(map(repr, taken))}" if taken else "it has no parameters"
                raise NothingToCheck(f"{name} has no parameter {key!r}{did_you_mean(key, taken)}; {has}.")
    whole = {key for key, each in taken.items() if type(each.default) is int or each.annotation in (int, "int")}
    return function(**{key: int(x) if key in whole and x == int(x) else x for key, x in parameters.items()})


def _made(text: str, system: Any, parameters: Mapping[str, float]) -> System:
    """Return `system`, or the result of the function of that name."""
    if parameters and (isinstance(system, System) or not callable(system)):
        raise NothingToCheck(f"{text} must define a function system({', '.join(parameters)}) that returns a System, for --set.")
    if callable(system) and not isinstance(system, System):
        try:
            system = called_with(system, f"system of {text}", parameters)
        except (HaugmbdError, NothingToCheck):
            raise
        except Exception as error:  # noqa: BLE001  a user's function may raise anything
            raise NothingToCheck(f"system() of {text}{line_of(error, text)} raises {type(error).__name__}: {error}") from None
    if isinstance(system, System):
        return system
    what = "does not define" if system is None else f"defines {type(system).__name__}, not a System, as"
    raise NothingToCheck(f"{text} {what} `system`: give it a System of that name, or a function system() that returns one.")


def line_of(error: BaseException, path: str) -> str:
    """Return the line of the file in the traceback, as ", line 12"; "" if there is none."""
    name = str(Path(path))
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    return f", line {lines[-1]}" if lines else ""
