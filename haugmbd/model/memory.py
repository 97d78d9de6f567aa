"""The memory that a model needs, estimated before its arrays are made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from haugmbd.constraints.joint import Joint
from haugmbd.errors import UsageError

COPIES, COPIES_WITH_LOOPS = 2, 4
"""Tables are collected and then joined; and there are two workspaces at least, one to examine the model and one for a run. In models with
loops, the elimination that finds dependent rows and the search of a run for singular configurations have others."""
LEAST_OF_BODY, LEAST_OF_PAIR = 120, 150
"""Numbers in the tables and in a workspace for each body, and for each pair of bodies that joints connect, whatever the solver."""
LEAST_OBJECTS = 300
"""[bytes] Of the equations of a joint, and of their names."""
GIGA = 1e9
ALWAYS_THERE = 1e7
"""[bytes] Less than the interpreter takes for itself: it is not asked whether so little is free."""


def available_memory() -> float:
    """Return the memory [bytes] that a process can still get, of the system and of the group it is held to; infinity where none is told."""
    return min([_free_of_system(), *map(_free_of_group, groups())])


def _free_of_system() -> float:
    """Return the free memory of the system."""
    lines = Path("/proc/meminfo")
    try:
        if lines.exists():
            found = dict(line.split(":", 1) for line in lines.read_text().splitlines())
            return 1024.0 * float(found["MemAvailable"].split()[0])
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, KeyError, OSError, ValueError):
        return float("inf")


class ControlGroup(NamedTuple):
    """The files of a control group of Linux, such as that of a container: its limit, what it uses, and of this what can be dropped."""

    limit: Path
    used: Path
    details: Path
    droppable: str


def groups() -> Iterator[ControlGroup]:
    """Yield the groups that may limit the memory of this process, in both versions of control groups: its own, and that of a container."""
    try:
        own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in own:
        for name in {path.strip("/"), ""}:
            if controllers == "":
                folder = Path("/sys/fs/cgroup", name)
                yield ControlGroup(folder / "memory.max", folder / "memory.current", folder / "memory.stat", "inactive_file")
            elif "memory" in controllers.split(","):
                folder = Path("/sys/fs/cgroup/memory", name)
                limit, used = folder / "memory.limit_in_bytes", folder / "memory.usage_in_bytes"
                yield ControlGroup(limit, used, folder / "memory.stat", "total_inactive_file")


def _free_of_group(group: ControlGroup) -> float:
    """Return what a group leaves; infinity for one without a limit, or that cannot be read."""
    try:
        limit, used = float(group.limit.read_text()), float(group.used.read_text())
        details = dict(line.split() for line in group.details.read_text().splitlines())
        return limit - used + float(details.get(group.droppable, 0.0))
    except (OSError, ValueError):  # "max" is not a number
        return float("inf")


def estimated_bytes(tables: Mapping[str, Any], work: Mapping[str, tuple[int, int]], *, loops: bool) -> float:
    """Return the memory [bytes] of a model with these constant matrices and these shapes of work matrices.  loops: whether it has any"""
    numbers: float = sum(matrix.size for matrix in tables.values()) + sum(float(rows) * columns for rows, columns in work.values())
    return 8.0 * (COPIES_WITH_LOOPS if loops else COPIES) * numbers


def need_memory(tables: Mapping[str, Any], work: Mapping[str, tuple[int, int]], bodies: int, rows: int, *, loops: bool) -> None:
    """Raise UsageError, with the estimate, for a model that is too large for the memory."""
    _need(estimated_bytes(tables, work, loops=loops), f"a model of {bodies} bodies and {rows} rows needs about")


def need_least_memory(bodies: int, joints: Sequence[Joint]) -> None:
    """Raise UsageError, with the estimate, if not even the least that a model needs is there: before its joints are asked for equations.

    The pairs of bodies that joints connect are counted only if there may be too little for one pair of each joint.
    """

    def least(pairs: int) -> float:
        return 8.0 * COPIES * (LEAST_OF_BODY * bodies + LEAST_OF_PAIR * pairs) + LEAST_OBJECTS * len(joints)

    if _is_there(least(len(joints))):
        return
    pairs = {(id(joint.frame_i.body), id(joint.frame_j.body)) for joint in joints}
    _need(least(len(pairs)), f"a model of {bodies} bodies and {len(joints)} joints needs at least")


def _is_there(needed: float) -> bool:
    """Return whether so many bytes are free, or so few are needed that nobody asks."""
    return needed < ALWAYS_THERE or needed <= available_memory()


def _need(needed: float, what: str) -> None:
    """Raise UsageError if less than `needed` bytes are free."""
    if not _is_there(needed):
        raise UsageError(
            f"{what} {needed / GIGA:.3g} GB, and {available_memory() / GIGA:.3g} GB are free: "
            "divide the mechanism, or compile it on a machine with more memory."
        )
