"""The memory that a model needs, estimated before its arrays are made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from haugmbd.errors import UsageError

COPIES = 2
"""Tables are collected and then joined; and there are two workspaces at least, one to examine the model and one for a run."""
LEAST_OF_BODY, LEAST_OF_PAIR = 120, 150
"""Numbers in the tables and in a workspace for each body, and for each pair of bodies that joints connect, whatever the solver."""
LEAST_OBJECTS = 300
"""[bytes] Of the equations of a joint, and of their names."""
GIGA = 1e9
ALWAYS_THERE = 1e7
"""[bytes] Less than the interpreter takes for itself: it is not asked whether so little is free."""


def available_memory() -> float:
    """Return the memory [bytes] that a process can still get; infinity where the system does not tell."""
    lines = Path("/proc/meminfo")
    try:
        if lines.exists():
            found = dict(line.split(":", 1) for line in lines.read_text().splitlines())
            return 1024.0 * float(found["MemAvailable"].split()[0])
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, KeyError, OSError, ValueError):
        return float("inf")


def estimated_bytes(tables: Mapping[str, Any], work: Mapping[str, tuple[int, int]]) -> float:
    """Return the memory [bytes] of a model with these constant matrices and these shapes of work matrices."""
    numbers: float = sum(matrix.size for matrix in tables.values()) + sum(float(rows) * columns for rows, columns in work.values())
    return 8.0 * COPIES * numbers


def need_memory(tables: Mapping[str, Any], work: Mapping[str, tuple[int, int]], bodies: int, rows: int) -> None:
    """Raise UsageError, with the estimate, for a model that is too large for the memory."""
    _need(estimated_bytes(tables, work), f"a model of {bodies} bodies and {rows} rows needs about")


def need_least_memory(bodies: int, joints: int, pairs: int) -> None:
    """Raise UsageError, with the estimate, if not even the least that a model needs is there: before its joints are asked for equations.

    pairs: number of pairs of bodies with a joint between them
    """
    needed = 8.0 * COPIES * (LEAST_OF_BODY * bodies + LEAST_OF_PAIR * pairs) + LEAST_OBJECTS * joints
    _need(needed, f"a model of {bodies} bodies and {joints} joints needs at least")


def _need(needed: float, what: str) -> None:
    """Raise UsageError if less than `needed` bytes are free."""
    if needed < ALWAYS_THERE:
        return
    there = available_memory()
    if needed > there:
        raise UsageError(
            f"{what} {needed / GIGA:.3g} GB, and {there / GIGA:.3g} GB are free: "
            "divide the mechanism, or compile it on a machine with more memory."
        )
