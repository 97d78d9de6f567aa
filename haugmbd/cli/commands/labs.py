r"""The command `haugmbd labs`: the labs as files, for students or for lecturers.

Exit codes: 0 success, 2 they cannot be written.
"""

from __future__ import annotations

import argparse
import json
import sys

from haugmbd.cli.answers import NOT_VALID, OK
from haugmbd.errors import UsageError
from haugmbd.labs import write


def run_labs(arguments: argparse.Namespace) -> int:
    """Write the files, and print where they are."""
    try:
        files = write(arguments.to, notebooks=arguments.notebooks, solutions=arguments.solutions, replace=arguments.replace)
    except UsageError as error:
        print(f"haugmbd: {error}", file=sys.stderr)
        if arguments.json:
            print(json.dumps({"ok": False, "error": str(error), "faults": []}))
        return NOT_VALID
    if arguments.json:
        print(json.dumps({"ok": True, "files": [str(path) for path in files]}))
    else:
        print(f"{len(files)} labs in {arguments.to}")
    return OK
