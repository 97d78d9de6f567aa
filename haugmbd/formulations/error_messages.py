"""Error messages: from a status code of compiled code to a sentence with the time, the joint or body, the numbers and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import MASSLESS_RTOL
from haugmbd.compiled import status_codes
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SimulationError, SingularKKTError
from haugmbd.forces.friction_laws import BENT, LuGre, relaxation_text
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.friction import columns as at
from haugmbd.model.inspection.constraint_rows import Rows, evaluate, rows_in
from haugmbd.model.inspection.driver_breaks import vanished_lengths
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import rank_report
from haugmbd.workspace.layout import FOR_LIGHT, REFINES, WIDTH, Pack, workspace_array

SINGULAR_POSITION = "a singular position"
"""In each text that names one, with the rows that depend on each other there."""
COLUMNS = ("r x", "r y", "r z", "e0", "e1", "e2", "e3", "v x", "v y", "v z", "omega_bar x", "omega_bar y", "omega_bar z")
TOO_LARGE = (
    "The step is too large for this motion, or a force grows without bound: reduce h, or use rtol; "
    "where a spring or damper is stiff, BDF() or GeneralizedAlpha(h)."
)
FAR = 0.5
"""Relative to the size of a model: a stage that opens a joint by more does not belong to a motion of the mechanism."""
LOST = 1e-14
"""Relative to m a^2 of a body with joints at the distance a: a smaller moment of inertia is lost in rounding, also with refinement."""
NEARLY = 1e-2
"""Of the smallest singular value of the modelled pose: a run that finds no step below it has come to a singular position."""
NEAR = 0.25
"""The same where a projection has failed, which is a step away from the singular position."""
MOST_ROWS = 1000
"""A larger Jacobian is not made a full matrix for the sake of a message."""
SHARE = 0.1
"""Of the largest component of a dependency: rows with less take no part in it."""
ENOUGH = 0.5
"""[rad] Rotation in a step that is recommended to the user where RATTLE refuses a larger one."""


class Failure(NamedTuple):
    """A status code of compiled code at a time, with the node, number and step that its status has recorded."""

    model: Model
    pack: Pack
    code: int
    t: float
    node: int
    number: float
    step: float


def explain(model: Model, pack: Pack, code: int, t: float) -> SimulationError:
    """Return the error for `code` at time `t` [s].  The place and the number are read from the status of the pack."""
    failed = _failed_drivers(model, t)
    if failed:
        return SimulationError(f"the simulation stops at t = {t:.6g} s: {failed}")
    if vanished := vanished_lengths(model, t):
        return (SingularKKTError if code in SINGULAR else SimulationError)(f"the simulation stops at t = {t:.6g} s: {vanished}")
    _, node, number, step = workspace_array(pack, "STATUS")[0]
    failure = Failure(model, pack, code, t, int(node), number, step)
    if gone := _vanished_mass(failure):
        return (SingularKKTError if code in SINGULAR else SimulationError)(gone)
    why = _unbounded(failure)
    if why:
        return SimulationError(why)
    if code in SINGULAR:
        return SingularKKTError(SINGULAR[code](failure))
    if code == status_codes.NO_FORCE and (stopped := model.without_force(pack)):
        return SimulationError(f"the simulation stops at t = {t:.6g} s: {stopped}")
    if code in WORDS:
        return SimulationError(WORDS[code](failure))
    return SimulationError(
        f"a force or driver function gave a value that is not finite at t = {t:.6g} s. Check the functions of this model."
    )


def _unbounded(f: Failure) -> str:
    """Return what has grown without bound where a matrix could not be factored; "" if nothing has."""
    if f.code == status_codes.SINGULAR and not np.isfinite(workspace_array(f.pack, "J")).all():
        return f"the state is not finite at t = {f.t:.6g} s: the rows of the joints overflow. {TOO_LARGE}"
    if f.code in (status_codes.SINGULAR, status_codes.NOT_SPREAD):
        apart = opened_joint(f.model, rows_in(f.model, f.pack, f.model.state()))
        return f"the motion grows without bound at t = {f.t:.6g} s: {apart}. {TOO_LARGE}" if apart else ""
    return ""


def _free_axis(f: Failure) -> str:
    body = f.model.body_names[f.node] if 0 < f.node <= f.model.nb else "?"
    if f.model.tables["FLAGS"][0, REFINES] & FOR_LIGHT or (f.model.tables["INERTIA"] == f.model.tables["SHIFTED"]).all():
        lost = _nearly_massless(f.model, rows_in(f.model, f.pack, f.model.state()))
        near = "Bodies of very different masses are near a singular configuration: give light ones more mass or inertia, or start away."
        stalls = f"refinement of the accelerations stalls at {f.number:.1e} (body {body!r})"
        return f"SingularKKTError at t = {f.t:.6g} s: {stalls}. {lost or near}"
    return (
        f"SingularKKTError at t = {f.t:.6g} s: body {body!r} has no inertia about an axis that the joints leave free "
        f"(refinement stalls at {f.number:.1e}). Give it a moment of inertia, or a joint that holds the axis."
    )


def _not_finite(f: Failure) -> str:
    if f.node < 0:
        return f"{_words(_friction_at(f.model, -1 - f.node))} is not finite at t = {f.t:.6g} s: {f.number}. {TOO_LARGE}"
    n = f.node // WIDTH
    named = n <= f.model.nb
    where = f"{COLUMNS[f.node % WIDTH]} of body {f.model.body_names[n]!r}" if named else "an integrated joint angle"
    return f"the state is not finite at t = {f.t:.6g} s: {where} is {f.number}. {TOO_LARGE}"


def _vanished_mass(f: Failure) -> str:
    """Return which mass, a function of time, is nearly gone; "" if none."""
    y = np.array(f.model.y0[None])
    for entry in f.model.masses_in_time:
        blocks = any(driver.reads_state for driver in entry.load.drivers())
        if not blocks and (wrong := f.model.known_mass(entry, np.array([f.t]), y).vanishes_at(f.t)):
            return wrong
    return ""


def _step_too_small(f: Failure) -> str:
    needed = f"the error control needs a step of {f.number:.3g} s at t = {f.t:.6g} s"
    if singular := _singular_nearby(f, NEARLY):
        return f"{needed}, at {singular}"
    dry = [_words(load) for load in f.model.loads_of(JointFriction) if load.law.is_exact]
    jams = f"; or {' or '.join(dry)} grows without bound with the reaction that it causes, and jams (Painleve)" if dry else ""
    return (
        f"{needed}. "
        "The motion is not smooth there (a jump in a force or driver, an impact): loosen rtol, or use a fixed step; "
        f"or a spring or damper is stiff: use an implicit method, BDF() or RadauIIA(){jams}."
    )


def _no_convergence(f: Failure) -> str:
    if singular := _singular_nearby(f, NEARLY):
        return (
            f"Newton's iteration in the step at t = {f.t:.6g} s did not converge (its last correction is {f.number:.3g} m, rad), "
            f"at {singular}"
        )
    return (
        f"Newton's iteration in the step at t = {f.t:.6g} s did not converge, nor in parts of the step where it may be divided: "
        f"its last correction is {f.number:.3g} (m, rad). Reduce h, or raise tol where that is rounding already; "
        "where a damper is stiff, BDF() or GeneralizedAlpha(h); or the position is singular, or a force jumps there."
    )


def _not_tangent(f: Failure) -> str:
    return (
        f"the Euler parameters of body {f.model.body_names[f.node]!r} leave their sphere at t = {f.t:.6g} s: |p| = 1 holds, "
        f"but p . p' is {f.number:.2g} of |p'|. Bodies turn too far in a step, or rho is too near to 1 for constraints on "
        "positions: reduce h or rho, or take GeneralizedAlpha, which turns bodies on the group."
    )


def _turns_too_far(f: Failure) -> str:
    return (
        f"RATTLE cannot turn body {f.model.body_names[f.node]!r} in the step to t = {f.t:.6g} s: h |omega| is "
        f"{f.number:.3g} rad, and its equation for the turn, sin(turn) = h |omega| about a principal axis, has no solution beyond "
        f"about 1. Give h = {shorter_step(f.step, f.number):.2g} s or less, or use RK4."
    )


def _energy_lost(f: Failure) -> str:
    return (
        f"the energy projection cannot reach the energy of the start at t = {f.t:.6g} s: {f.number:.3g} of the largest energy is "
        "left. Reduce h; or the motion stands still there, and neither speeds nor forces are left that could restore it."
    )


def _not_spread(f: Failure) -> str:
    return (
        f"dependent rows of {', '.join(map(repr, f.model.redundancy.joints))} contradict each other at t = {f.t:.6g} s, and no "
        f"accelerations that suit them were found (a part of {f.number:.1e} is left). "
        "Take Projection() in place of stabilization=None, or reduce h."
    )


def _off_manifold(f: Failure) -> str:
    slots = f.model.slot_of_row
    row = list(slots).index(f.node) if f.node in slots else 0
    left = f"the projection cannot reach the constraints at t = {f.t:.6g} s: {f.model.labels[row]} is left at {f.number:.3g}"
    if singular := _singular_nearby(f, NEAR):
        return f"{left}, near {singular} If the mechanism does go on from there, the step is too large: reduce h, or use rtol."
    return (
        f"{left}. "
        f"{TOO_LARGE} Or the mechanism cannot be assembled there (a dead centre, a driver beyond the reach of the mechanism)."
    )


def _singular_nearby(f: Failure, part: float) -> str:
    """Return the singular position that the rows come to where they were evaluated last, with its rows and a remedy; "" if to none.

    sigma_min(unit rows there) < part sigma_min(unit rows at the modelled pose)
    """
    model = f.model
    if not 0 < model.nc <= MOST_ROWS:
        return ""
    kept = np.setdiff1d(np.arange(model.nc), model.redundancy.dropped)
    there, modelled = (_unit_rows(model, rows, kept) for rows in (rows_in(model, f.pack, model.state()), evaluate(model)))
    if not (len(kept) and np.isfinite(there).all() and np.isfinite(modelled).all()):
        return ""
    U, sigma, _ = np.linalg.svd(there, full_matrices=False)
    usual = float(np.linalg.svd(modelled, compute_uv=False)[-1])
    if not sigma[-1] < part * usual:
        return ""
    weight = abs(U[:, -1])
    joints = dict.fromkeys(model.labels[kept[k]].joint for k in np.argsort(-weight) if weight[k] > SHARE * weight.max())
    return (
        f"{SINGULAR_POSITION} (a dead centre, a driver at the end of its reach): the rows of {', '.join(map(repr, joints))} become "
        f"dependent (smallest singular value {sigma[-1]:.1e} there, {usual:.1e} as modelled). Let the driver stop or turn before it, drive "
        "another joint through it, or start away from it."
    )


def names_singular_position(error: Exception) -> bool:
    """Return whether an error of a run names a singular position as its cause."""
    return isinstance(error, SingularKKTError) or SINGULAR_POSITION in str(error)


def _unit_rows(model: Model, rows: Rows, kept: Ints) -> Array:
    """Return the `kept` rows of the Jacobian as a full matrix, with turns in units of length; each row has the length 1."""
    J: Array = rows.Phi_q.toarray()[kept] / np.tile(np.repeat([1.0, model.length], 3), model.nb)
    return np.asarray(J / np.maximum(np.linalg.norm(J, axis=1), np.finfo(np.float64).tiny)[:, None])


def shorter_step(h: float, angle: float) -> float:
    """Return the step [s] in which a body turns by ENOUGH, if it turns by `angle` [rad] in `h` [s]."""
    return h * ENOUGH / angle


def _failed_drivers(model: Model, t: float) -> str:
    """Return which drivers have no finite value at time `t`, by joint or load; "" if all have."""
    texts = []
    numbers = model.drivers_of_rows()
    for k, driver in enumerate(model.drivers):
        fault = driver.fault_at(t)
        if fault is not None:
            joints = sorted({label.joint for label, n in zip(model.labels, numbers, strict=True) if n == k})
            loads = [entry.load.where for entry in model.loads if k in entry.drivers]
            texts.append(f"driver of {', '.join([*map(repr, joints), *loads]) or 'a force'}: {fault.what}. {fault.remedy}")
    return "; ".join(texts)


def opened_joint(model: Model, rows: Rows) -> str:
    """Return which joint has opened by the size of the mechanism; "" if none."""
    force = np.linalg.norm(rows.Phi_r, axis=2).max(axis=1)
    gaps = np.abs(np.divide(rows.Phi, force, out=np.zeros_like(force), where=force > 0.0))
    k = int(gaps.argmax()) if len(gaps) else -1
    if not len(gaps) or not gaps[k] > FAR * model.length:
        return ""
    return f"joint {model.labels[k].joint!r} is {gaps[k]:.3g} m apart"


def _singular(f: Failure) -> str:
    """Return what is singular at a node: the joints of an edge and those that its rows depend on, or a body."""
    model, pack, node, number = f.model, f.pack, f.node, f.number
    if node <= model.nb:
        return (
            f"SingularKKTError at t = {f.t:.6g} s: body {model.body_names[node]!r} has no inertia in a direction "
            f"(pivot {number:.1e}). Check its mass and J_bar."
        )
    rows = rows_in(model, pack, model.state())
    between = f"the rows of {', '.join(map(repr, joints_at(model, node)))}"
    report = rank_report(model, rows)
    regular = len(report.dependencies) <= len(model.redundancy.dropped)
    if regular and (body := _nearly_massless(model, rows)):
        pivot = f"pivot {number:.1e} of their scale"
        return f"SingularKKTError at t = {f.t:.6g} s: {between} cannot be told from dependent ones ({pivot}). {body}"
    i, j, *more = model.tables["EDGES"][node - model.nb - 1]
    names = [repr(model.body_names[k]) for k in (i, j, *(body for body in more if body))]
    tied = [name for d in report.dependencies if d.row not in model.redundancy.dropped for name in report.joints_of(d)]
    others = [name for name in dict.fromkeys(tied) if name not in joints_at(model, node)]
    among = f"those of {', '.join(map(repr, others))}" if others else "others"
    return (
        f"SingularKKTError at t = {f.t:.6g} s: "
        f"{between} between {' and '.join(names)} depend on {among} there "
        f"(pivot {number:.1e} of their scale). "
        "A singular position (a dead centre, a flat parallelogram, bars in line): more than one motion is possible, or none. "
        "A run crosses it if its velocity selects one motion; otherwise start away from it, or add a driver or a spring."
    )


def _nearly_massless(model: Model, rows: Rows) -> str:
    """Return the body whose least moment of inertia is lost in the rounding of that of its mass at its joints; "" if there is none."""
    moments = np.linalg.eigvalsh(model.J_bar)
    least = np.where(moments > MASSLESS_RTOL * moments[:, -1:], moments, np.inf).min(axis=1)
    size = model.mass * rows.longest_arms**2
    lost = np.nonzero(least < LOST * size)[0]
    if not len(lost):
        return ""
    k = int(lost[np.argmin(least[lost] / size[lost])])
    return (
        f"Body {model.body_names[k]!r} has a moment of inertia of {least[k]:.3g} kg m2, {least[k] / size[k]:.1e} of its mass at its "
        f"farthest joint, m a^2 = {size[k]:.3g} kg m2: that is lost in rounding. Give zero, which is exact (a rod, a point mass), or more "
        f"than {10.0 * LOST * size[k]:.1g} kg m2."
    )


def _friction(f: Failure) -> str:
    """Return why the friction in a joint could not be solved for."""
    load = _friction_at(f.model, f.node)
    what = _words(load)
    if bent := _bent_bristles(f, load):
        return f"{what} was not found at t = {f.t:.6g} s: {bent}"
    why = f"1 N of its friction increases the normal force so much that the friction grows by {f.number:.3g} N"
    remedy = f"Reduce the coefficient, or change the geometry so that friction presses the joint less (at t = {f.t:.6g} s)."
    if f.code == status_codes.FRICTION_HAS_NONE:
        return (
            f"{what} has no solution: {why}, and no friction agrees with the reaction that it causes (Painleve: it jams). {remedy}"
        )
    if f.code == status_codes.FRICTION_HAS_TWO:
        return f"{what} has two solutions: {why}, so that a small and a large friction both agree with their reactions (Painleve). {remedy}"
    return f"{what} was not found: the iteration with the multipliers did not converge, where {why}. {remedy}"


def _bent_bristles(f: Failure, load: JointFriction) -> str:
    """Return that the bristles of LuGre's law are bent beyond their range, which only steps do that are too long; "" if they are not.

    |sigma0 z + sigma1 z' + sigma2 s| <= mu_s + sigma1 (1 + mu_s / mu_c) s + sigma2 s        within sigma0 |z| <= mu_s
    """
    law = load.law
    if not isinstance(law, LuGre):
        return ""
    terms = workspace_array(f.pack, "FRICTION_TERMS")[f.node]
    s, mu = float(terms[at.SPEED]), float(terms[at.COEFFICIENT])
    most = law.mu_s + (law.sigma1 * (1.0 + law.mu_s / law.mu_c) + law.sigma2) * s
    if not mu > BENT * most:
        return ""
    return (
        f"the bristles of its law give a coefficient of {mu:.3g}, and at most {most:.3g} at {s:.3g} m/s while they are within their range. "
        f"The step is too long for them: they {relaxation_text(law)}"
    )


def _friction_at_rest(f: Failure) -> str:
    """Return why it was not found which joints stick."""
    return (
        f"which joints stick was not found at t = {f.t:.6g} s: {_words(_friction_at(f.model, f.node))} lacks {f.number:.3g} N, and "
        "joints change between rest and sliding without an end. Change a coefficient, or take a law without jump, such as BrownMcPhee."
    )


def _friction_at(model: Model, line: int) -> JointFriction:
    """Return the joint friction of a line of the tables."""
    return model.loads_of(JointFriction)[line]


def _words(load: JointFriction) -> str:
    return f"friction {load.name!r} in joint {load.joint.name!r}"


def joints_at(model: Model, node: int) -> tuple[str, ...]:
    """Return the joints whose rows belong to the node of an edge."""
    edge = node - model.nb - 1
    labels = [label for label, slot in zip(model.labels, model.slot_of_row, strict=True) if slot // 6 == edge]
    return tuple(sorted({label.joint for label in labels}))


SINGULAR: Mapping[int, Callable[[Failure], str]] = {status_codes.SINGULAR: _singular, status_codes.FREE_AXIS: _free_axis}
"""Words of the codes of a singular matrix."""

WORDS: Mapping[int, Callable[[Failure], str]] = {
    status_codes.NOT_FINITE: _not_finite,
    status_codes.STEP_TOO_SMALL: _step_too_small,
    status_codes.NO_CONVERGENCE: _no_convergence,
    status_codes.NOT_TANGENT: _not_tangent,
    status_codes.TURNS_TOO_FAR: _turns_too_far,
    status_codes.ENERGY_LOST: _energy_lost,
    status_codes.NOT_SPREAD: _not_spread,
    status_codes.OFF_MANIFOLD: _off_manifold,
    status_codes.FRICTION_HAS_NONE: _friction,
    status_codes.FRICTION_HAS_TWO: _friction,
    status_codes.FRICTION_STALLED: _friction,
    status_codes.FRICTION_UNDECIDED: _friction_at_rest,
}
"""Words of the other codes."""
