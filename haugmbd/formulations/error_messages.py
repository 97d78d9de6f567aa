"""Error messages: from a status code of compiled code to a sentence with the time, the joint or body, the numbers and a remedy."""

from __future__ import annotations

import numpy as np

from haugmbd.compiled import status_codes
from haugmbd.errors import SimulationError, SingularKKTError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.model.constraint_rows import Rows, rows_in
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import rank_report
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

COLUMNS = ("r x", "r y", "r z", "e0", "e1", "e2", "e3", "v x", "v y", "v z", "omega_bar x", "omega_bar y", "omega_bar z")
TOO_LARGE = (
    "The step is too large for this motion, or a force grows without bound: reduce h, or use rtol; "
    "where a spring or damper is stiff, BDF() or GeneralizedAlpha(h)."
)
FAR = 0.5
"""Relative to the size of a model: a stage that opens a joint by more does not belong to a motion of the mechanism."""
ENOUGH = 0.5
"""[rad] Rotation in a step that is recommended to the user where RATTLE refuses a larger one."""


def explain(model: Model, pack: Pack, code: int, t: float) -> SimulationError:
    """Return the error for `code` at time `t` [s].  The place and the number are read from the status of the pack."""
    failed = _failed_drivers(model, t)
    if failed:
        return SimulationError(f"the simulation stops at t = {t:.6g} s: {failed}")
    _, place, number, step = workspace_array(pack, "STATUS")[0]
    node = int(place)
    if code == status_codes.SINGULAR and not np.isfinite(workspace_array(pack, "J")).all():
        return SimulationError(f"the state is not finite at t = {t:.6g} s: the rows of the joints overflow. {TOO_LARGE}")
    if code in (status_codes.SINGULAR, status_codes.NOT_SPREAD) and (apart := torn(model, rows_in(model, pack, model.state()))):
        return SimulationError(f"the motion grows without bound at t = {t:.6g} s: {apart}. {TOO_LARGE}")
    if code == status_codes.SINGULAR:
        return SingularKKTError(f"SingularKKTError at t = {t:.6g} s: {_singular(model, pack, node, number)}")
    if code == status_codes.NO_FORCE and (stopped := model.without_force(pack)):
        return SimulationError(f"the simulation stops at t = {t:.6g} s: {stopped}")
    if code == status_codes.FREE_AXIS:
        body = model.body_names[node] if 0 < node <= model.nb else "?"
        return SingularKKTError(
            f"SingularKKTError at t = {t:.6g} s: body {body!r} has no inertia about an axis that the joints leave free "
            f"(refinement stalls at {number:.1e}). Give it a moment of inertia, or a joint that holds the axis."
        )
    if code == status_codes.NOT_FINITE and node < 0:
        what = _friction_at(model, -1 - node)
        return SimulationError(f"{what} is not finite at t = {t:.6g} s: {number}. {TOO_LARGE}")
    if code == status_codes.NOT_FINITE:
        n = node // WIDTH
        where = f"{COLUMNS[node % WIDTH]} of body {model.body_names[n]!r}" if n <= model.nb else "an integrated joint angle"
        return SimulationError(f"the state is not finite at t = {t:.6g} s: {where} is {number}. {TOO_LARGE}")
    if code == status_codes.STEP_TOO_SMALL:
        return SimulationError(
            f"the error control needs a step of {number:.3g} s at t = {t:.6g} s. "
            "The motion is not smooth there (a jump in a force or driver, an impact): loosen rtol, or use a fixed step; "
            "or a spring or damper is stiff: use an implicit method, BDF() or RadauIIA()."
        )
    if code == status_codes.NO_CONVERGENCE:
        return SimulationError(
            f"Newton's iteration in the step at t = {t:.6g} s did not converge, nor in parts of the step where it may be divided: "
            f"its last correction is {number:.3g} (m, rad). Reduce h, or raise tol where that is rounding already; "
            "where a damper is stiff, BDF() or GeneralizedAlpha(h); or the position is singular, or a force jumps there."
        )
    if code == status_codes.NOT_TANGENT:
        return SimulationError(
            f"the Euler parameters of body {model.body_names[node]!r} leave their sphere at t = {t:.6g} s: |p| = 1 holds, but p . p' is "
            f"{number:.2g} of |p'|. Bodies turn too far in a step, or rho is too near to 1 for constraints on positions: reduce h or rho, "
            "or take GeneralizedAlpha, which turns bodies on the group."
        )
    if code == status_codes.TURNS_TOO_FAR:
        return SimulationError(
            f"RATTLE cannot turn body {model.body_names[node]!r} in the step to t = {t:.6g} s: h |omega| is {number:.3g} rad, and its "
            "equation for the turn, sin(turn) = h |omega| about a principal axis, has no solution beyond about 1. "
            f"Give h = {shorter_step(step, number):.2g} s or less, or use RK4."
        )
    if code == status_codes.ENERGY_LOST:
        return SimulationError(
            f"the energy projection cannot reach the energy of the start at t = {t:.6g} s: {number:.3g} of the largest energy is left. "
            "Reduce h; or the motion stands still there, and neither speeds nor forces are left that could restore it."
        )
    if code == status_codes.NOT_SPREAD:
        return SimulationError(
            f"dependent rows of {', '.join(map(repr, model.redundancy.joints))} contradict each other at t = {t:.6g} s, and no "
            f"accelerations that suit them were found (a part of {number:.1e} is left). "
            "Take Projection() in place of stabilization=None, or reduce h."
        )
    if code in (status_codes.FRICTION_HAS_NONE, status_codes.FRICTION_HAS_TWO, status_codes.FRICTION_STALLED):
        return SimulationError(f"{_friction(model, code, node, number)} (at t = {t:.6g} s).")
    if code == status_codes.OFF_MANIFOLD:
        row = list(model.slot_of_row).index(node) if node in model.slot_of_row else 0
        return SimulationError(
            f"the projection cannot reach the constraints at t = {t:.6g} s: {model.labels[row]} is left at {number:.3g}. "
            f"{TOO_LARGE} Or the mechanism cannot be assembled there (a dead centre, a driver beyond the reach of the mechanism)."
        )
    return SimulationError(
        f"a force or driver function gave a value that is not finite at t = {t:.6g} s. Check the functions of this model."
    )


def shorter_step(h: float, angle: float) -> float:
    """Return the step [s] in which a body turns by ENOUGH, if it turns by `angle` [rad] in `h` [s]."""
    return h * ENOUGH / angle


def _failed_drivers(model: Model, t: float) -> str:
    """Return which drivers have no finite value at time `t`, by joint; "" if all have."""
    texts = []
    numbers = model.drivers_of_rows()
    for k, driver in enumerate(model.drivers):
        fault = driver.fault_at(t)
        if fault is not None:
            joints = sorted({label.joint for label, n in zip(model.labels, numbers, strict=True) if n == k})
            texts.append(f"driver of {', '.join(map(repr, joints)) or 'a force'}: {fault.what}. {fault.remedy}")
    return "; ".join(texts)


def torn(model: Model, rows: Rows) -> str:
    """Return which joint has opened by the size of the mechanism; "" if none."""
    force = np.linalg.norm(rows.Phi_r, axis=2).max(axis=1)
    gaps = np.abs(np.divide(rows.Phi, force, out=np.zeros_like(force), where=force > 0.0))
    k = int(gaps.argmax())
    if not gaps[k] > FAR * model.length:
        return ""
    return f"joint {model.labels[k].joint!r} is {gaps[k]:.3g} m apart"


def _singular(model: Model, pack: Pack, node: int, number: float) -> str:
    """Return what is singular at a node: the joints of an edge and those that its rows depend on, or a body."""
    if node <= model.nb:
        return f"body {model.body_names[node]!r} has no inertia in a direction (pivot {number:.1e}). Check its mass and J_bar."
    i, j, *more = model.tables["EDGES"][node - model.nb - 1]
    names = [repr(model.body_names[k]) for k in (i, j, *(body for body in more if body))]
    report = rank_report(model, rows_in(model, pack, model.state()))
    tied = [name for d in report.dependencies if d.row not in model.redundancy.dropped for name in report.joints_of(d)]
    others = [name for name in dict.fromkeys(tied) if name not in joints_at(model, node)]
    among = f"those of {', '.join(map(repr, others))}" if others else "others"
    return (
        f"the rows of {', '.join(map(repr, joints_at(model, node)))} between {' and '.join(names)} depend on {among} there "
        f"(pivot {number:.1e} of their scale). "
        "A singular position (a dead centre, a flat parallelogram, bars in line): more than one motion is possible, or none. "
        "A run crosses it if its velocity selects one motion; otherwise start away from it, or add a driver or a spring."
    )


def _friction(model: Model, code: int, place: int, slope: float) -> str:
    """Return why the friction in a joint could not be solved for."""
    what = _friction_at(model, place)
    why = f"each newton of its friction presses the joint with so much that the friction grows by {slope:.3g} N"
    remedy = "Reduce the coefficient, or change the geometry so that friction presses the joint less"
    if code == status_codes.FRICTION_HAS_NONE:
        return (
            f"{what} has no solution: {why}, and no friction agrees with the reaction that it causes (Painleve: it jams). {remedy}"
        )
    if code == status_codes.FRICTION_HAS_TWO:
        return f"{what} has two solutions: {why}, so that a small and a large friction both agree with their reactions (Painleve). {remedy}"
    return f"{what} was not found: the iteration with the multipliers did not converge, where {why}. {remedy}"


def _friction_at(model: Model, place: int) -> str:
    """Return the words for a joint with friction."""
    load = [entry.load for entry in model.loads if isinstance(entry.load, JointFriction)][place]
    return f"friction {load.name!r} in joint {load.joint.name!r}"


def joints_at(model: Model, node: int) -> tuple[str, ...]:
    """Return the joints whose rows belong to the node of an edge."""
    edge = node - model.nb - 1
    labels = [label for label, slot in zip(model.labels, model.slot_of_row, strict=True) if slot // 6 == edge]
    return tuple(sorted({label.joint for label in labels}))
