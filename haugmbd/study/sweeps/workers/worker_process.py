"""What a worker process does: it reads a cell from its pipe, runs it, and sends the row.

    to the worker       (cell, seed)
    from the worker     ("ready", "")    ("unable", why)    ("other values", why)    ("row", row)

It ends when the other end of the pipe is closed: no worker outlives a parent that is killed by more than its running cell.
"""

from __future__ import annotations

import pickle
import signal
from multiprocessing.connection import Connection

from haugmbd.errors import UsageError, error_text
from haugmbd.study.sweeps.evaluate import Task, check_values, evaluate_cell

READY, UNABLE, OTHER, ROW = "ready", "unable", "other values", "row"


def work(pipe: Connection, pickled: bytes) -> None:
    """Run the cells that come through the pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    try:
        task: Task = pickle.loads(pickled)  # noqa: S301  from the parent
        check_values(task)
    except UsageError as error:
        pipe.send((OTHER, str(error)))
        return
    except BaseException as error:  # noqa: BLE001  importing the user's module may raise anything
        pipe.send((UNABLE, error_text(error)))
        return
    pipe.send((READY, ""))
    try:
        while True:
            cell, seed = pipe.recv()
            pipe.send((ROW, evaluate_cell(task, cell, seed)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
