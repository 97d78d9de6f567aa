r"""The command `haugmbd`.

    run         simulate a mechanism                    crosscheck  compare random chains in reduced and in maximal coordinates
    check       its mobility report                     view        show a mechanism in the browser
    assemble    close its joints                        warm        compile in advance
    convert     write it as a model file                completion  completion scripts for shells
    info        versions, or the table of a mechanism   demo        the spatial slider-crank
    compare     run it with many methods                sweep       run it for many values of its parameters
    gallery     the mechanisms that have a name             labs        the labs, for students

Exit codes: 0 success, 1 the model has faults, or the run failed or missed a published value, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from haugmbd.cli.answers import CommandError, as_options, json_line
from haugmbd.cli.parser import parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv` (by default those of the process) and return its exit code."""
    try:
        arguments = parser().parse_args(argv)
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            code = action_of(arguments.command)(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has what it wants; nothing is flushed into its pipe at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except SystemExit:  # argparse has printed the help
        return 0
    except CommandError as error:
        print(f"haugmbd: {error}", file=sys.stderr)
        if "--json" in (sys.argv if argv is None else argv):
            print(json_line({"ok": False, "error": str(error), "faults": []}))
        return 2
    return code


def action_of(command: str) -> Callable[[argparse.Namespace], int]:
    """Return what a command does. It is imported here, with the parts of the engine that it needs: the parser knows none of it."""
    # ruff: noqa: PLC0415
    match command:
        case "run":
            from haugmbd.cli.run import run_run

            return run_run
        case "check" | "assemble" | "convert" | "info":
            from haugmbd.cli.models import run_assemble, run_check, run_convert, run_info

            return {"check": run_check, "assemble": run_assemble, "convert": run_convert, "info": run_info}[command]
        case "demo" | "gallery" | "labs" | "view":
            from haugmbd.cli.shown import run_demo, run_gallery, run_labs, run_view

            return {"demo": run_demo, "gallery": run_gallery, "labs": run_labs, "view": run_view}[command]
        case "compare" | "sweep":
            from haugmbd.cli.studies import run_compare, run_sweep

            return {"compare": run_compare, "sweep": run_sweep}[command]
        case "crosscheck":
            from haugmbd.cli.crosscheck import run_crosscheck

            return run_crosscheck
        case "warm":
            from haugmbd.cli.warm import run_warm

            return run_warm
    from haugmbd.cli.completion import run_completion

    return run_completion


def _print_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning without the line of this program that it is shown for."""
    print(f"haugmbd: {category.__name__}: {as_options(str(message))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
