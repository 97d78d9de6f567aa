"""What sweeps of the tests build and run, importable by worker processes; as a program, a study that waits in the middle to be killed."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from pathlib import Path

import haugmbd as mbd

GRID = {"x": list(range(20)), "y": [0.1 * k for k in range(15)]}
BLOCKING = (10, 11)
"""Cells with these x, and the first y, wait while the file  wait  of the folder exists."""


def build(x, y):
    return x, y


def run(system):
    x, y = system
    return {"sine": math.sin(x * y + 0.1), "sum": x + y, "count": 3 * x}


def build_waiting(x, y, folder):
    return x, y, Path(folder)


def run_waiting(system):
    """Count every run in a file of its own; two cells wait."""
    x, y, folder = system
    with (folder / "runs").open("a") as file:
        file.write(f"{x} {y!r}\n")
    if x in BLOCKING and y == 0.0:
        (folder / f"begun {x}").touch()
        while (folder / "wait").exists():
            time.sleep(0.01)
    return run((x, y))


def build_pendulum(mass, length):
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.add(mbd.Body("bob", mass, (0.1, 0.1, 0.1), r=(length, 0, 0)))
    for axis in ((1, 0, 0), (0, 0, 1)):
        system.add(mbd.DP1(system.ground, (0, 1, 0), bob, axis))
    for c in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        system.add(mbd.CD(c, system.ground, (0, 0, 0), bob, (-length, 0, 0)))
    return system


def run_pendulum(system):
    result = mbd.simulate(system, 0.05, h=5e-3)
    return {"z": result.r[-1, 1, 2], "drift": abs(result.energy().drift).max(), "steps": len(result.t)}


def build_ending(how):
    return how


def run_ending(how):
    """End in the way that the cell asks for."""
    if how == "raise":
        raise ValueError("a bad cell")
    if how == "hang":
        time.sleep(1000.0)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(3)
    return {"length": len(how)}


def waiting_cells(folder):
    return GRID | {"folder": [str(folder)]}


def assert_same(a, b):
    """The same columns, bit by bit, in the same order."""
    assert a.parameters == b.parameters
    assert a.names == b.names
    assert [row.values for row in a.rows] == [row.values for row in b.rows]
    assert (a.cells, a.status) == (b.cells, b.status)
    assert [row.reason for row in a.rows] == [row.reason for row in b.rows]


def module_path():
    """The environment in which another process finds this module."""
    return {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def main(folder, store):
    mbd.sweep(build_waiting, waiting_cells(folder), run_waiting, store=store, workers=2)


if __name__ == "__main__":
    from tests.support import sweep_cells  # the functions of the module that the other processes import, not of __main__

    sweep_cells.main(*sys.argv[1:])
