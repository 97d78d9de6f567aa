r"""The joints of an imported mechanism, closed by `assemble`, with the gaps that they had, and the freedom that is left."""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.modelfile.files import at_state
from haugmbd.system.checks.contradictions import LEFT_OUT
from haugmbd.system.system import System
from haugmbd.tolerances import TOLD

OPEN = TOLD
"""Gap of a joint [m], [rad] that is worth a line in a report: far above rounding, far below what matters."""


class Closed(NamedTuple):
    """A mechanism with its joints closed.

    system: at the closed pose;  gaps: distance [m] and angle [rad] of each joint as read, the largest first; empty if nothing was closed;
    closed: whether all joints are closed;  degrees_of_freedom: None if it was not determined;  warnings: of the mobility report
    """

    system: System
    gaps: dict[str, tuple[float, float]]
    iterations: int
    closed: bool
    degrees_of_freedom: int | None
    warnings: list[str]


def close_joints(system: System, may_be_open: bool, close: bool) -> Closed:
    """Return the system with its joints closed, if they may be open and shall be closed.

    Raise AssemblyError, with the joints, if they cannot be closed.
    """
    gaps: dict[str, tuple[float, float]] = {}
    told: list[str] = []
    iterations, closed = 0, not may_be_open
    if may_be_open and close and len(system.bodies) > 1:
        assembly = assemble(system)
        gaps = {gap.joint: (gap.distance, gap.angle) for gap in assembly.gaps}
        iterations, closed = assembly.iterations, True
        told = [f"{one}: {LEFT_OUT}" for one in assembly.contradictions]
        if iterations or assembly.rate_before > OPEN:
            system = at_state(system, assembly.state)
    freedom, warnings = None, told
    if closed and len(system.bodies) > 1:
        mobile = mobility(system)
        freedom = mobile.degrees_of_freedom
        warnings += [str(fault) for fault in (*mobile.faults, *mobile.warnings)]
    return Closed(system, gaps, iterations, closed, freedom, warnings)
