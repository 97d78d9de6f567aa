r"""mobility: what still moves, which rows clash and how, and which reactions can be trusted; of a sound model or of a faulty one.

    Gruebler            6 bodies - rows                        counts every row
    degrees of freedom  6 bodies - rank Phi_q                  counts what the rows say, at the pose of the report
    structural          a row depends on the others along the motion, too: what is said of the pose holds for the mechanism

    rank                block LDL^T on the body-joint graph           `model.rank`, O(n) for chains, trees, ladders
    along the motion    random steps along the kept rows, closed again  `model.nearby`
    motions             reduced echelon form, block by block          `remaining`
    unique reactions    null space of Phi_q^T                          `carrying`

Measured, one thread, of a compiled model: a chain of 1000 bodies 0.39 s, a ladder of 60 four-bars (180 dependent rows) 0.10 s; from 60
to 480 four-bars time grows with n to the power 1.05.  A System is validated first, which takes as long again.
Source: Haug sec. 3.6 and 4.4 (redundancy, rank); Wehage and Haug (1982) for the choice of independent coordinates by elimination.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from haugmbd.algebra.euler import rotation_matrix
from haugmbd.algebra.vec3 import Array
from haugmbd.analysis.assembly import assemble
from haugmbd.analysis.beginning import start_of
from haugmbd.analysis.carrying import JointReaction, joint_reactions
from haugmbd.analysis.dependent import DependentSet, dependent_sets
from haugmbd.analysis.doubts import doubts
from haugmbd.analysis.graph_blocks import Blocks, find_blocks
from haugmbd.analysis.locked import LockedLoop, locked_loops
from haugmbd.analysis.mobility_text import mobility_text
from haugmbd.analysis.remaining import Motion, Remaining, full_twists, joints_by_block, remaining
from haugmbd.errors import AssemblyError, Fault, UsageError
from haugmbd.model.consistency import position_faults, size_of
from haugmbd.model.model import Model
from haugmbd.model.rank import examine
from haugmbd.model.redundancy import Redundancy, redundancy_of
from haugmbd.model.rows import Rows, evaluate
from haugmbd.model.state import State
from haugmbd.model.system import System

TURNED_TOL = 1e-4
"""Part of its moments that a row between two bodies keeps when both turn together: only gaps (poses of few digits) where it sees
them against each other alone."""

AS_MODELLED = "as modelled"
AS_GIVEN = "as given"
ASSEMBLED = "assembled"


@dataclass(frozen=True, eq=False, repr=False)
class Mobility:
    """What a mechanism can do at one pose.  As text: the report.

    name: of the system;  state: of the report;  pose: "as modelled", "as given", or "assembled": the nearest that closes open joints
    bodies: without the ground;  rows: of Phi;  rank: of Phi_q;  tolerance: pivot, relative, below which a row depends on others
    dependent: sets of dependent rows;  motions: a basis of the motions that remain;  untold: how many motions are counted, not listed
    reactions: by joint, which components are unique;  locked: loops that one axis keeps from moving
    faults: what is wrong with the system or the state, as in `System.faults()`;  doubts: what is allowed, and looks like a mistake
    left_out: parts that are too faulty to be examined
    """

    name: str
    pose: str
    state: State
    bodies: int
    rows: int
    rank: int
    tolerance: float
    dependent: tuple[DependentSet, ...]
    motions: tuple[Motion, ...]
    untold: int
    reactions: tuple[JointReaction, ...]
    locked: tuple[LockedLoop, ...]
    faults: tuple[Fault, ...]
    doubts: tuple[Fault, ...]
    left_out: tuple[str, ...]
    redundancy: Redundancy
    _found: tuple[Blocks, Remaining]

    @property
    def gruebler(self) -> int:
        """6 bodies - rows."""
        return 6 * self.bodies - self.rows

    @property
    def degrees_of_freedom(self) -> int:
        """6 bodies - rank: independent motions at this pose."""
        return 6 * self.bodies - self.rank

    @property
    def degrees_of_freedom_nearby(self) -> int:
        """The same at poses around this one: fewer, where rows depend on others only here."""
        return self.degrees_of_freedom - len(self.redundancy.only_here)

    @property
    def consistent(self) -> bool:
        """Whether no row contradicts the others."""
        return all(one.consistent for one in self.dependent)

    @property
    def ok(self) -> bool:
        """No fault, and no conflict."""
        return self.consistent and not self.faults

    def reaction(self, joint: str) -> JointReaction:
        """Which components of a joint's reaction are unique; UsageError for an unknown joint."""
        found = next((one for one in self.reactions if one.joint == joint), None)
        if found is None:
            names = ", ".join(repr(one.joint) for one in self.reactions)
            raise UsageError(f"no joint is called {joint!r}; the joints are {names or 'none'}.")
        return found

    @cached_property
    def basis(self) -> Array:
        """The motions in full, (motions, nb + 1, 6): v of centres of mass, global, and omega_bar, body frames; the ground in row 0."""
        blocks, found = self._found
        twists = full_twists(found, blocks, self.state.r)
        twists[:, :, 3:] = np.einsum("bji,mbj->mbi", rotation_matrix(self.state.p), twists[:, :, 3:])
        return twists

    def __str__(self) -> str:
        """The report."""
        return mobility_text(self)

    __repr__ = __str__


def mobility(system: System | Model, state: State | None = None) -> Mobility:
    """Say what moves, which rows depend on others, and which reactions are unique, at `state` (by default the modelled one).

    system: one that does not compile is taken, too: its sound parts are examined, and `faults` says what is wrong;  where its joints are
        open as modelled, the report is of the nearest pose that closes, if there is one
    Raises UsageError for anything else, and for a system without bodies; ModelError for a state that is none of this model.
    """
    if isinstance(system, System):
        checked = system.checked()
        if checked.model is None:
            raise UsageError(f"system {system.name!r} has no body that can be examined: {'; '.join(map(str, checked.faults))}")
        model, faults = checked.model, checked.faults
    elif isinstance(system, Model):
        model, faults = system, ()
    else:
        raise UsageError(f"mobility got {system!r}, and needs a System or a compiled Model.")
    at, pose = _pose(model, state)
    rows = evaluate(model, at)
    open_joints = position_faults(model, at, rows)
    if open_joints and state is None:
        closed = _assembled(model)
        if closed is not None:
            at, pose, rows = closed, ASSEMBLED, evaluate(model, closed)
    known = {(fault.where, fault.what) for fault in faults}
    faults = (*faults, *(fault for fault in open_joints if (fault.where, fault.what) not in known))
    left_out = _left_out(system, model) if isinstance(system, System) else ()
    return _report(model, rows, pose, faults, left_out, is_open=bool(open_joints) and pose != ASSEMBLED)


def _pose(model: Model, state: State | None) -> tuple[State, str]:
    """Where to look; ModelError for a state that is none of this model."""
    if state is None:
        return model.state(), AS_MODELLED
    return start_of(model, state), AS_GIVEN


def _assembled(model: Model) -> State | None:
    """The nearest state at which all joints are closed, None if there is none, or where bodies have no mass to measure nearness by."""
    if not ((model.mass[1:] > 0.0).all() and np.isfinite(model.J_bar).all()):
        return None
    try:
        return assemble(model).state
    except AssemblyError:
        return None


def _left_out(system: System, model: Model) -> tuple[str, ...]:
    """Parts of the system that the model has not."""
    bodies = Counter(body.name for body in {id(body): body for body in system.bodies}.values()) - Counter(model.body_names)
    joints = Counter(joint.name for joint in {id(joint): joint for joint in system.joints}.values()) - Counter(list(model.joints))
    return (*(f"body {name!r}" for name in bodies), *(f"joint {name!r}" for name in joints))


def _pairs(rows: Rows) -> set[tuple[int, int]]:
    """The pairs of bodies that rows tie together; one with a direction of the ground (CD between points apart) ties both to it, too."""
    pairs = {(min(pair), max(pair)) for pair in map(tuple, rows.bodies.tolist())}
    r, A = rows.state.r[rows.bodies], rotation_matrix(rows.state.p)[rows.bodies]
    moment = np.cross(r, rows.Phi_r) + np.einsum("rsab,rsb->rsa", A, rows.PiBar)
    size = np.linalg.norm(moment, axis=2).max(axis=1) + np.linalg.norm(rows.Phi_r, axis=2).max(axis=1)
    turned = np.linalg.norm(moment.sum(axis=1), axis=1) > TURNED_TOL * size
    return pairs | {(0, body) for pair in rows.bodies[turned].tolist() for body in pair if body}


def _report(
    model: Model, rows: Rows, pose: str, faults: tuple[Fault, ...], left_out: tuple[str, ...], *, is_open: bool
) -> Mobility:
    """The report of a model where `rows` were evaluated."""
    examined = examine(model, rows)
    redundancy = redundancy_of(model, rows, examined)
    blocks = find_blocks(model.nb + 1, _pairs(rows))
    found = remaining(model, rows, examined, blocks)
    loops = [pair for pair in zip(blocks.blocks, joints_by_block(model, blocks), strict=True) if len(pair[1]) > 1]
    return Mobility(
        name=model.name,
        pose=pose,
        state=rows.state,
        bodies=model.nb,
        rows=model.nc,
        rank=redundancy.rank,
        tolerance=redundancy.tolerance,
        dependent=dependent_sets(model, rows, examined, redundancy, is_open=is_open),
        motions=found.motions,
        untold=found.untold,
        reactions=joint_reactions(model, rows, examined, redundancy.dependencies),
        locked=locked_loops(model, rows.state, examined.length, loops),
        faults=faults,
        doubts=doubts(model, rows.state, blocks, size_of(model, rows), whole=not left_out),
        left_out=left_out,
        redundancy=redundancy,
        _found=(blocks, found),
    )
