r"""mobility: degrees of freedom, dependent and contradictory rows, and unique reactions; also of a system with faults.

    Gruebler            6 bodies - rows                        counts every row
    degrees of freedom  6 bodies - rank Phi_q                  counts independent rows, at the pose of the report
    structural          a row depends on the others along the motion as well: the dependency belongs to the mechanism, not to the pose

    rank                block LDL^T on the body-joint graph           `redundancy.rank`, O(n) for chains, trees, ladders
    along the motion    random steps along the kept rows, closed again  `redundancy.rank`
    motions             reduced echelon form, block by block          `instantaneous_motions`
    unique reactions    null space of Phi_q^T                          `reaction_uniqueness`

Source: Haug (2021), redundant constraints and rank; Wehage and Haug (1982), choice of independent coordinates by elimination.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.analysis.initial_model import start_of
from haugmbd.analysis.mobility.dependent_rows import dependent_sets
from haugmbd.analysis.mobility.instantaneous_motions import joints_of_blocks, remaining
from haugmbd.analysis.mobility.likely_mistakes import FREE, angles_in_degrees, implausible_parts, locked_loops
from haugmbd.analysis.mobility.report import Mobility
from haugmbd.compiled.array_types import Ints
from haugmbd.compiled.collection import collection_paused
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.joint_reactions import joint_reactions
from haugmbd.errors import AssemblyError, Fault, UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.graph import find_blocks, pairs_of
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.given import no_model, no_tolerance
from haugmbd.model.inspection.length import characteristic_length, unit_of_turns
from haugmbd.model.labels import frames_of, parts_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.alignment import examine
from haugmbd.redundancy.rank import RankAnalysis, analyse_rank
from haugmbd.redundancy.redundancy import redundancy_of
from haugmbd.system.checks.constraint_residuals import Flags, position_faults
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

TURNED_TOL = 1e-4
"""Part of its forces and moments (over a length) that a row between two bodies keeps in a common motion. Below it, only gaps (poses of
few digits) remain, and the row acts between the two bodies alone.
"""

AS_MODELLED = "as modelled"

AS_GIVEN = "as given"

ASSEMBLED = "assembled"


@check_keywords
def mobility(system: System | Model, state: State | None = None, *, tolerance: float | None = None) -> Mobility:
    """Return the degrees of freedom, the dependent rows and the unique reactions of a mechanism at one pose.

    Parameters
    ----------
    system : System or Model
        The mechanism. A System with faults is accepted: its valid parts are examined, and `faults` lists the faults.
    state : State, optional
        Pose of the report; by default the modelled one. If joints are open at the modelled pose, the nearest closed pose is used, if there
        is one.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.

    Returns
    -------
    Mobility
        The report; print it to read it.

    Raises
    ------
    UsageError
        If `system` is of another type, or has no body that can be examined.
    ModelError
        If `state` is not a state of the model.

    Notes
    -----
    Source: Haug (2021), redundant constraints and rank; Wehage and Haug (1982), elimination with a choice of independent
    coordinates.
    """
    if isinstance(system, System):
        check_tolerance(tolerance)
        checked = system.checked(tolerance=tolerance)
        if checked.model is None:
            raise UsageError(f"system {system.name!r} has no body that can be examined: {'; '.join(map(str, checked.faults))}")
        model, faults = checked.model, checked.faults
        if state is None and checked.rows is not None:  # it has no faults, and its joints are closed
            report = _report(model, checked.rows, AS_MODELLED, (), (), is_open=False, examined=checked.examined)
            return _with_warnings(report, system, system.joints, system.loads)
    elif isinstance(system, Model):
        no_tolerance(tolerance)
        model, faults = system, ()
    else:
        raise no_model(system, "mobility")
    at, pose = _pose(model, state)
    rows = evaluate(model, at)
    open_joints = position_faults(model, at, rows)
    if open_joints and state is None:
        closed = _assembled(model)
        if closed is not None:
            at, pose, rows = closed, ASSEMBLED, evaluate(model, closed)
    reported = {(fault.where, fault.what) for fault in faults}
    faults = (*faults, *(fault for fault in open_joints if (fault.where, fault.what) not in reported))
    left_out = _left_out(system, model) if isinstance(system, System) else ()
    report = _report(model, rows, pose, faults, left_out, is_open=bool(open_joints) and pose != ASSEMBLED)
    parts = (system.joints, system.loads) if isinstance(system, System) else (parts_of(model.joints), model.force_elements)
    return _with_warnings(report, system, *parts)


def _with_warnings(report: Mobility, system: System | Model, joints: Iterable[Joint], loads: Iterable[ForceElement]) -> Mobility:
    """Return the report with what is said of angles, and without what is said of bodies that contacts may hold."""
    touched = {f"body {name!r}" for name in _touched(system)}
    own = [fault for fault in report.warnings if fault.where not in touched or FREE not in fault.what]
    return replace(report, warnings=(*own, *angles_in_degrees(joints, loads)))


def _touched(system: System | Model) -> set[str]:
    """Return the names of the bodies that rigid contacts may hold."""
    return {body.name for contact in system.contacts for body in (contact.i, contact.j)}


def _pose(model: Model, state: State | None) -> tuple[State, str]:
    """Return the pose of the report. Raise ModelError for a state of another model."""
    if state is None:
        return model.state(), AS_MODELLED
    return start_of(model, state), AS_GIVEN


def _assembled(model: Model) -> State | None:
    """Return the nearest state at which all joints are closed; None if there is none, or if bodies have no mass for the metric."""
    if not ((model.mass[1:] >= 0.0).all() and (model.mass[1:] > 0.0).any() and np.isfinite(model.J_bar).all()):
        return None
    try:
        return assemble(model).state
    except AssemblyError:
        return None


def _left_out(system: System, model: Model) -> tuple[str, ...]:
    """Return the parts of the system that are not in the model."""
    if len(system.bodies) == len(model.bodies) and len(system.joints) == len(model.joints):
        return ()
    bodies = Counter(body.name for body in {id(body): body for body in system.bodies}.values()) - Counter(model.body_names)
    joints = Counter(joint.name for joint in {id(joint): joint for joint in system.joints}.values()) - Counter(list(model.joints))
    return (*(f"body {name!r}" for name in bodies), *(f"joint {name!r}" for name in joints))


def _pairs(rows: Rows) -> Ints:
    """Return the pairs of bodies that rows connect, (k, 2), each once; a ring of them for a row of more than two.

    A row that changes when its bodies move as one acts on the ground, too: that of a CD, or of a coupling with a joint on the ground.
    """
    edges = rows.model.tables["EDGES"]
    ends = edges if edges.shape[1] == 2 else np.array(pairs_of(edges.tolist())[0], dtype=np.int64).reshape(-1, 2)  # noqa: PLR2004
    touched = rows.bodies[_acts_on_ground(rows)].ravel()
    held = touched[touched > 0]
    pairs = np.concatenate([np.sort(ends, axis=1), np.stack([np.zeros_like(held), held], axis=1)])
    n = rows.nb + 1
    bodies: Ints = np.stack(np.divmod(np.unique(pairs[:, 0] * n + pairs[:, 1]), n), axis=1)
    return bodies


def _acts_on_ground(rows: Rows) -> Flags:
    """Return whether each row changes when its bodies move as one, (nc,).

    Moments are those about the first moving body of a row, so that the place of the origin has no part in them.
    """
    A, r, bodies = rotation_matrix(rows.state.p), rows.state.r, rows.bodies
    here = r[bodies[np.arange(len(bodies)), np.argmax(bodies > 0, axis=1)]]
    size, turns = np.zeros(len(bodies)), 1.0 / unit_of_turns(rows.model, rows)
    total = np.zeros((len(bodies), 6))
    for side in range(bodies.shape[1]):
        body, force = bodies[:, side], rows.Phi_r[:, side]
        moment = cross(r[body] - here, force) + np.einsum("rab,rb->ra", A[body], rows.PiBar[:, side])
        part = np.hstack([force, turns * moment])
        total += part
        np.maximum(size, np.einsum("ra,ra->r", part, part), out=size)
    acts: Flags = np.einsum("ra,ra->r", total, total) > TURNED_TOL**2 * size
    return acts


def position_rank(model: Model, rows: Rows, rank: int) -> int:
    """Return the rank of the rows that have a position equation; `rank` is that of all rows."""
    gone = model.velocity_rows
    if not len(gone):
        return rank
    examined = analyse_rank(model, rows, without=gone)
    return int(model.nc - len(gone) - np.count_nonzero(np.delete(examined.flat, gone)) - len(examined.dropped))


@collection_paused()
def _report(
    model: Model,
    rows: Rows,
    pose: str,
    faults: tuple[Fault, ...],
    left_out: tuple[str, ...],
    *,
    is_open: bool,
    examined: RankAnalysis | None = None,
) -> Mobility:
    """Return the report of a model at the pose at which `rows` were evaluated.  examined: their rank, if it is known"""
    examined = examine(model, rows, model.redundancy.given) if examined is None else examined
    redundancy = redundancy_of(model, rows, examined, given=model.redundancy.given)
    frames, blocks = frames_of(model.joints), find_blocks(model.nb + 1, _pairs(rows))
    joints = joints_of_blocks(model.joints, frames, blocks)
    motions = remaining(model, rows, examined, blocks, joints)
    loops = [(blocks.blocks[k], joints_of_loop) for k, joints_of_loop in joints.of(joints.count > 1).items()]
    return Mobility(
        name=model.name,
        pose=pose,
        state=rows.state,
        bodies=model.nb,
        rows=model.nc,
        rank=redundancy.rank,
        position_rank=position_rank(model, rows, redundancy.rank),
        tolerance=redundancy.tolerance,
        dependent=dependent_sets(model, rows, examined, redundancy, is_open=is_open),
        motions=motions.motions,
        unlisted_motions=motions.unlisted_motions,
        reactions=joint_reactions(model, rows, examined, redundancy.dependencies, frames),
        locked=locked_loops(model, rows.state, examined.length, loops),
        faults=faults,
        warnings=implausible_parts(model, rows.state, frames, blocks, characteristic_length(model, rows), whole=not left_out),
        skipped_parts=left_out,
        redundancy=redundancy,
        _found=(blocks, motions),
        solver=model.explain_solver(),
    )
