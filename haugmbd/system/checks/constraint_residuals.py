r"""Residuals of the constraints at a state, by joint, in metres and degrees: positions, velocities, and the state by itself.

    unit of Phi   gap of one row                                                      rate: (Phi_q u - nu) divided by
    m             Phi / |Phi_r|                                          [m]          |Phi_r|
    1             angle of the two vectors - arccos(f / |a_i| |a_j|)     [rad]        |PiBar|
    m2            sqrt(Phi + f^2) - f                                    [m]          |Phi_r| = 2 d
    rad           theta - f = atan2(Phi, cos(theta - f)), within pi      [rad]        |PiBar|

Rows without a driver are reported as one gap for each joint (distance of its points, angle of its axes); each driven row is a gap of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import degrees, isfinite, pi
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.status_codes import OK
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.drivers import Constant
from haugmbd.errors import Fault, ModelError
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_parameters import cross
from haugmbd.model.evaluate import evaluate_rows
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.given import other_parts
from haugmbd.model.inspection.length import characteristic_length, unit_names
from haugmbd.model.inspection.row_gaps import gaps_of_states_entry, largest_gap, largest_rate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import driver_values
from haugmbd.redundancy.redundancy import without_drivers
from haugmbd.system.checks.function_ranges import profile_faults
from haugmbd.tolerances import DEPENDENT, GROWTH, TYPED_ANGLE, TYPED_LENGTH, TYPED_SPEED
from haugmbd.workspace.layout import WIDTH

HALF_TURN_TOL = 0.01
"""[rad] A rotation that is off by half a turn, up to this, satisfies its row on the other branch; the message mentions it."""

OPEN = 3.0
"""Times the limit of a contradiction that a joint of a redundant loop may be open: its own gap is not the contradiction, which is what is
left when the others are closed, and is judged by itself."""

PART_OF_LENGTH = 0.1
"""Of the length at the modelled pose: with FAR_BELOW it leaves a factor of a thousand to that at any other."""

FAR_BELOW = 1e-2
"""Relative to the tolerances: where Phi over its gradient is so small it is the gap, within a few percent."""

UNIT_P_TOL = 1e-4
"""Allowed error of |p| of a state, as for `Body`."""

ASSEMBLE = "or use the assembled pose, where all joints are closed: mbd.assemble(system).model."
CLOSE = f"Correct the pose (r, p) of the bodies or the points and axes of the joint, {ASSEMBLE}"


Flags = npt.NDArray[np.bool_]


class Gaps(NamedTuple):
    """Residuals of the rows (nc,): gap [m or rad]; norm of the gradient (Phi per m or rad); f; whether the gap is an angle."""

    gap: Array
    gradient: Array
    f: Array
    is_angle: Flags


class _Part(NamedTuple):
    """The rows of one unit: Phi, f, |Phi_r|, |PiBar| and cos(theta - f) (rotations only)."""

    Phi: Array
    f: Array
    force: Array
    moment: Array
    cosine: Array


def _offset(p: _Part) -> tuple[Array, Array]:
    return p.Phi / p.force, p.force


def _angle(p: _Part) -> tuple[Array, Array]:
    size = np.hypot(p.Phi + p.f, p.moment)
    wanted = np.clip(p.f / size, -1.0, 1.0)
    gap = np.arccos(wanted) - np.arccos(np.clip((p.Phi + p.f) / size, -1.0, 1.0))
    return np.where(np.abs(p.f) > size * (1.0 + TYPED_ANGLE), p.Phi / size, gap), p.moment


def _length(p: _Part) -> tuple[Array, Array]:
    return np.sqrt(np.maximum(p.Phi + p.f**2, 0.0)) - p.f, p.force


def _turn(p: _Part) -> tuple[Array, Array]:
    return np.arctan2(p.Phi, p.cosine), p.moment


def _unknown(p: _Part) -> tuple[Array, Array]:
    gradient = np.where(p.force > 0.0, p.force, p.moment)
    return p.Phi / gradient, gradient


MEASURES: dict[str, Callable[[_Part], tuple[Array, Array]]] = {"m": _offset, "1": _angle, "m2": _length, "rad": _turn}
ANGLES = ("1", "rad")


def constraint_gaps(model: Model, rows: Rows, t: float) -> Gaps:
    """Return the gaps of all rows at time t [s]."""
    f = driver_values(model, rows.state.replace(t=t))[model.drivers_of_rows()]
    force, moment = (np.sqrt(np.einsum("ra,ra->r", x, x)) for x in (rows.Phi_r[:, 1], rows.PiBar[:, 1]))
    coupled, by_unit, is_angle = _units_of(model)
    cosine = _cosines(model, rows)
    gap, gradient = np.where(coupled, rows.Phi, 0.0), np.ones(model.nc)
    with np.errstate(invalid="ignore", divide="ignore"):
        for name, k in by_unit.items():
            part = _Part(rows.Phi[k], f[k], force[k], moment[k], cosine[k])
            gap[k], gradient[k] = MEASURES.get(name, _unknown)(part)
    return Gaps(gap, gradient, f, is_angle)


@once_per_model
def _units_of(model: Model) -> tuple[Flags, dict[str, Flags], Flags]:
    """Return which rows are of couplings (nc,), which others have each unit (nc,), and whether gaps are angles (nc,)."""
    coupled = np.zeros(model.nc, dtype=bool)
    if model.has_rows_of(CouplingRow):
        coupled[:] = [isinstance(label.primitive, CouplingRow) for label in model.labels]
    units, number = unit_names(model)
    by_unit = {name: (number == k) & ~coupled for k, name in enumerate(units)}
    return coupled, by_unit, np.array([name in ANGLES for name in units], dtype=bool)[number]


def has_branches(model: Model) -> bool:
    """Return whether a motion can leave its branch without a violation of the kept rows: with rotation drivers, or dropped rows."""
    return bool(_rotations(model) or model.redundancy.dropped)


def branch_faults(model: Model, state: State) -> tuple[Fault, ...]:
    """Return one fault for each rotation driver that `state` follows half a turn off, where its row holds as well."""
    remedy = "A step has jumped across more than a quarter turn (the driver is too fast for the step, or it jumps): reduce h."
    what = f"at t = {state.t:.6g} s the bodies are half a turn away from the angle that the driver prescribes"
    return tuple(Fault(f"joint {joint!r}", what, remedy) for joint in half_turned(model, state))


def half_turned(model: Model, state: State) -> tuple[str, ...]:
    """Return the joints whose rotation at `state` is more than a quarter turn off its driver."""
    if not _rotations(model):
        return ()
    cosine = _cosines(model, evaluate(model, state))
    return tuple(
        dict.fromkeys(label.joint for label, c in zip(model.labels, cosine, strict=True) if label.kind == Rotation.kind and c < 0.0)
    )


@once_per_model
def _rotations(model: Model) -> list[int]:
    """Return the numbers of the rows that prescribe a rotation."""
    if not model.has_rows_of(Rotation):
        return []
    return [k for k, label in enumerate(model.labels) if label.kind == Rotation.kind]


def _cosines(model: Model, rows: Rows) -> Array:
    """Return cos(theta - f) = -PiBar_i . (e_bar_i x n_bar_i) of rotations; 1 for all other rows."""
    cosine = np.ones(model.nc)
    turning = _rotations(model)
    if not turning:
        return cosine
    ints, x_bar = model.tables["ROW_INTS"].astype(np.int64), model.tables["X_BAR"]
    markers = {int(line[0]): line[3:5] for line in ints}
    for k in turning:
        e, n = markers[int(model.slot_of_row[k])]
        cosine[k] = -float(rows.PiBar[k, 0] @ cross(x_bar[e], x_bar[n]))
    return cosine


SLOWEST = 1e-3
"""Smallest speed, in sizes of the model per second, that gaps of velocities are compared with: TYPED_SPEED of it is above the rounding
of drivers and typed numbers, and of a spline that starts from rest."""


def is_sound(model: Model, state: State) -> bool:
    """Return whether a state is finite, has unit Euler parameters, and the ground where it was modelled; it is checked once."""
    if state.structure is not None and other_parts(model, state):
        return False
    if vars(state).get("_sound_for") is model.y0:
        return True
    n = model.nb + 1
    if not (
        state.r.shape == state.v.shape == state.omega_bar.shape == (n, 3) and state.p.shape == (n, 4) and state.angles.ndim == 1
    ):
        return False
    y = state.flat
    if y.shape != model.y0.shape:
        return False
    off = np.einsum("ij,ij->i", state.p, state.p) - 1.0
    unit = -UNIT_P_TOL < off.min() and off.max() < UNIT_P_TOL
    sound = bool(unit and isfinite(state.t + y.sum()) and (y[:WIDTH] == model.y0[:WIDTH]).all())
    if sound:
        vars(state)["_sound_for"] = model.y0
    return sound


def unsound_states(model: Model, t: Array, y: Array) -> Ints:
    """Return the numbers of those of the flat states y (nt, ny) at the times t (nt,) that `is_sound` does not hold for."""
    p = y[:, : WIDTH * (model.nb + 1)].reshape(len(y), -1, WIDTH)[..., EULER:VELOCITY]
    off = np.abs(np.einsum("tij,tij->ti", p, p) - 1.0).max(axis=1, initial=0.0)
    sound = (off < UNIT_P_TOL) & np.isfinite(t + y.sum(axis=1)) & (y[:, :WIDTH] == model.y0[:WIDTH]).all(axis=1)
    return np.flatnonzero(~sound)


def need_sound_state(model: Model, state: State) -> State:
    """Return a state. Raise ModelError if it does not belong to the model, or is of another structure of its mechanism."""
    faults = state_faults(model, state)
    if faults:
        raise ModelError(faults)
    return state


def state_faults(model: Model, state: State) -> tuple[Fault, ...]:
    """Return the faults of a state by itself: wrong shapes, values that are not finite, Euler parameters far from unit."""
    if is_sound(model, state):
        return ()
    n, remedy = model.nb + 1, "Start from model.state() and change it with state.replace(...)."
    found = []
    if state.structure is not None and (parts := other_parts(model, state)):
        what = f"it is of another structure of the mechanism: {parts} on or off, or held at another pose"
        found.append(Fault("state", what, "Take the model of its segment, result.segments[k].model, or simulate from it."))
    for name, width in (("r", 3), ("p", 4), ("v", 3), ("omega_bar", 3)):
        array = getattr(state, name)
        if array.shape != (n, width):
            what = f"{name} has shape {array.shape}, expected {(n, width)}: the ground and {model.nb} bodies"
            found.append(Fault("state", what, remedy))
            continue
        found += [
            Fault("state", f"{name} of body {model.body_names[k]!r} is {array[k].tolist()}, not finite", remedy)
            for k in np.nonzero(~np.isfinite(array).all(axis=1))[0]
        ]
    if state.angles.shape != (len(model.y0) - 13 * n,):
        what = f"angles has shape {state.angles.shape}, expected {(len(model.y0) - 13 * n,)}: one for each integrated joint angle"
        what += ", and each touch speed of a contact"
        moved = "model.state().replace(t=s.t, r=s.r, p=s.p, v=s.v, omega_bar=s.omega_bar)"
        found.append(Fault("state", what, f"{remedy} With the bodies of a state s of another model: {moved}."))
    if not np.isfinite([state.t, *state.angles.ravel()]).all():
        found.append(Fault("state", f"t = {state.t} or angles = {state.angles.tolist()} is not finite", remedy))
    if not found:
        length = np.linalg.norm(state.p, axis=1)
        found += [
            Fault("state", f"|p| of body {model.body_names[k]!r} is {length[k]:.6g}, must be 1", "Divide p by its length.")
            for k in np.nonzero(np.abs(length - 1.0) > UNIT_P_TOL)[0]
        ]
    still, arrays = model.state(), ("r", "p", "v", "omega_bar")
    if not found and not all(np.array_equal(getattr(state, name)[0], getattr(still, name)[0]) for name in arrays):
        found.append(Fault("state", "row 0 is the ground, and it has been moved or given a velocity", remedy))
    return tuple(found)


def allowed_gaps(model: Model, measured: Gaps, size: float, part: float) -> Array:
    """Return how large the gap of each row may be (nc,) [m or rad], in a model of a size [m].

    Gaps of typed digits; joints with redundant rows may be open by `part` times what these may contradict each other by.
    """
    allowed: Array = np.where(measured.is_angle, TYPED_ANGLE, TYPED_LENGTH * size)
    if model.redundancy.dropped and not (np.abs(measured.gap) <= allowed).all():
        limit = part * model.redundancy.limit * np.where(measured.is_angle, 1.0, size)
        allowed = np.where(in_redundant_joints(model), np.maximum(allowed, limit), allowed)
    return allowed


@once_per_model
def in_redundant_joints(model: Model) -> Flags:
    """Return whether each row (nc,) is of a joint whose rows depend on those of others all along the motion, and follows no driver."""
    redundancy, inside = model.redundancy, np.zeros(model.nc, dtype=bool)
    report = redundancy.report
    for dependency in report.dependencies:
        if dependency.terms and dependency.row not in redundancy.only_here:
            for name in report.joints_of(dependency):
                inside[model.joints[name].rows] = True
    free = np.zeros(model.nc, dtype=bool)
    free[without_drivers(model)] = True
    return inside & free


def position_faults(
    model: Model, state: State | None = None, rows: Rows | None = None, *, moved: bool = False
) -> tuple[Fault, ...]:
    """Return one fault for each joint that is not closed at `state` (by default the modelled one), with its gap in m and degrees.

    Functions of joint coordinates that are not defined at this state, and ends of curves, are faults, too.
    moved: whether the state was reached by a motion, along which contradictions of redundant rows grow
    """
    state = model.state() if state is None else state
    found = list(profile_faults(model, state.y[None]))
    rows = evaluate(model, state) if rows is None else rows
    measured = constraint_gaps(model, rows, state.t)
    allowed = allowed_gaps(model, measured, characteristic_length(model, rows), GROWTH if moved else OPEN)
    if (np.abs(measured.gap) <= allowed).all():
        return tuple(found)
    for name, free, driven in _joints(model):
        what = [_free_gap(measured, free, allowed), *(_driven_gap(model, measured, k, allowed, state.t) for k in driven)]
        parts = [text for text in what if text]
        if parts:
            found.append(Fault(f"joint {name!r}", "; ".join(parts), _position_remedy(measured, free, driven, allowed)))
    return tuple(found)


def all_rows_hold(model: Model, t: float, y: Array, *, rates: bool = False) -> bool:
    """Return whether the gaps of all rows are far below their tolerances at the state y (ny,); False if compiled code cannot tell.

    rates: whether Phi_q u - nu is compared, too, with what is allowed at the speed at which the bodies turn
    Raises what a user's function has raised, and Ctrl-C.
    """
    spread = spread_of_bodies(model)
    if not spread:
        return False
    pack = model.borrow()
    if evaluate_rows(pack, t, np.ascontiguousarray(y)) != OK:
        model.raise_user_error(pack)
        return False
    gap: float = largest_gap(pack, spread)[0]
    rate, turn = largest_rate(pack, np.ascontiguousarray(y), spread) if rates else (0.0, 0.0)
    model.give_back(pack)
    return bool(_far_below(gap, rate, turn))


def _far_below(gap: Any, rate: Any, turn: Any) -> Any:
    """Return whether gaps, and their rates at the speed at which bodies turn, are far below their tolerances; numbers or arrays."""
    return (gap <= FAR_BELOW * min(TYPED_LENGTH, TYPED_ANGLE)) & (rate <= FAR_BELOW * TYPED_SPEED * np.maximum(SLOWEST, turn))


def states_that_hold(model: Model, t: Array, y: Array) -> Flags:
    """Return of which of the flat states y (n, ny) at t (n,) compiled code can tell that they are sound, and that their rows hold.

    As `is_sound` and `all_rows_hold` of each. It calls no function of the user in Python: of a model with some it tells nothing.
    """
    holds, spread = np.zeros(len(t), dtype=bool), spread_of_bodies(model)
    if not spread or model.force_callbacks.any:
        return holds
    worst, pack = np.zeros((len(t), 3)), model.borrow()
    gaps_of_states_entry(pack, t, y, spread, worst)
    model.give_back(pack)
    holds[:] = _far_below(*worst.T)
    holds[unsound_states(model, t, y)] = False
    return holds


@once_per_model
def spread_of_bodies(model: Model) -> float:
    """Return the spread of the bodies [m], which `characteristic_length` is at least at any pose.

    Of one body a part of the length at the modelled pose: the arms of its rows keep their size.
    0 if Phi over its gradient is not the gap of each dropped row, or cannot tell a rotation from one that is half a turn off.
    """
    least = 0.0 if _rotations(model) else least_length_of_gaps(model)
    return PART_OF_LENGTH * model.length if model.nb == 1 and not _rotations(model) and not model.redundancy.dropped else least


def least_length_of_gaps(model: Model) -> float:
    """Return the spread of the bodies [m]; 0 if Phi over its gradient is not the gap of each dropped row."""
    if not all(model.labels[k].unit in ("m", "1", "m2") for k in model.redundancy.dropped):
        return 0.0
    if any(isinstance(model.labels[k].primitive, CouplingRow) for k in model.redundancy.dropped):
        return 0.0
    return float(np.linalg.norm(np.ptp(model.state().r[1:], axis=0)))


def _joints(model: Model) -> Iterator[tuple[str, Ints, Ints]]:
    """Yield the name of each joint, its rows with f = 0, and its rows that follow a number or a function of time."""
    driver = model.drivers_of_rows()
    zero = np.array([isinstance(d, Constant) and d.value == 0.0 for d in model.drivers])
    units = np.array([label.unit in ("m", "1") for label in model.labels], dtype=bool)
    is_free = zero[driver] & units
    for entry in model.joints.values():
        yield entry.name, entry.rows[is_free[entry.rows]], entry.rows[~is_free[entry.rows]]


def _free_gap(measured: Gaps, rows: Ints, allowed: Array) -> str:
    """Return the gap of points and axes of a joint as text; "" if it is closed."""
    parts = []
    offsets, angles = rows[~measured.is_angle[rows]], rows[measured.is_angle[rows]]
    gap = float(np.linalg.norm(measured.gap[offsets]))
    if not np.all(np.abs(measured.gap[offsets]) <= allowed[offsets]):
        where = {1: "off the plane in which", 2: "off the line on which"}.get(len(offsets), "apart where")
        must = "stay" if len(offsets) < 3 else "coincide"
        parts.append(f"its points are {gap:.6g} m {where} they must {must} (allowed {allowed[offsets[0]]:.2g} m)")
    if not np.all(np.abs(measured.gap[angles]) <= allowed[angles]):
        sine = float(np.linalg.norm(np.sin(measured.gap[angles])))
        angle = degrees(np.arcsin(min(1.0, sine)))
        parts.append(f"its axes are off by {angle:.6g} degrees (allowed {degrees(TYPED_ANGLE):.2g} degrees)")
    return "; ".join(parts)


def _driven_gap(model: Model, measured: Gaps, row: int, allowed: Array, t: float) -> str:
    """Return the gap of a driven row as text; "" if there is none."""
    gap, f, label = float(measured.gap[row]), float(measured.f[row]), model.labels[row]
    if abs(gap) <= allowed[row]:
        return ""
    at_time = f"the driver of {label.kind} gives {f:.9g} {_unit(label.unit)} at t = {t:g} s"
    if label.unit == "1":
        return f"{at_time}, and the modelled vectors are {degrees(gap):.6g} degrees off the angle that this dot product prescribes"
    if label.unit == "rad" and pi - abs(gap) < HALF_TURN_TOL:
        return f"{at_time}, and the modelled angle is {f + gap:.9g} rad (modulo a turn): the wrong branch, off by half a turn"
    turn = " (modulo a turn)" if label.unit == "rad" else ""
    unit = "rad" if measured.is_angle[row] else "m"
    far = ", more than a quarter turn" if label.unit == "rad" and abs(gap) > pi / 2.0 else ""
    return f"{at_time}, and the modelled value is {f + gap:.9g} {unit}{turn}: off by {abs(gap):.6g} {unit}{far}"


def _unit(unit: str) -> str:
    """Return the unit of a driver of a row whose Phi has this unit; a distance is squared only inside the row."""
    return {"m2": "m", "1": "(dot product)"}.get(unit, unit)


def _position_remedy(measured: Gaps, free: Ints, driven: Ints, allowed: Array) -> str:
    """Return the remedy of an open joint."""
    if not np.all(np.abs(measured.gap[free]) <= allowed[free]):
        return CLOSE
    half = [k for k in driven if measured.is_angle[k] and pi - abs(measured.gap[k]) < HALF_TURN_TOL]
    if half:
        return "Add pi to the driver, or turn the second body (or the vector on it) by half a turn."
    return f"Let the driver start at the modelled value, {ASSEMBLE}"


def velocity_gaps(model: Model, state: State, rows: Rows) -> tuple[Array, Array]:
    """Return Phi_q u - nu of every row [m/s, rad/s], and how large each may be."""
    u = np.hstack([state.v, state.omega_bar])
    u[0] = 0.0
    J = np.concatenate([rows.Phi_r, rows.PiBar], axis=2)
    left = np.einsum("rsc,rsc->r", J, u[rows.bodies]) - rows.nu
    measured = constraint_gaps(model, rows, state.t)
    gradient = np.where(measured.gradient > 0.0, measured.gradient, 1.0)
    gap, driven, size = left / gradient, np.abs(rows.nu / gradient), characteristic_length(model, rows)
    speed = max(
        SLOWEST * size,
        float(np.linalg.norm(state.v, axis=1).max()),
        size * float(np.linalg.norm(state.omega_bar, axis=1).max()),
        float((driven * np.where(measured.is_angle, size, 1.0)).max(initial=0.0)),
    )
    allowed = TYPED_SPEED * np.where(measured.is_angle, speed / size, speed)
    if model.redundancy.dropped and not (np.abs(gap) <= allowed).all():
        beyond = model.redundancy.tolerance**0.5
        wide = max(1.0, GROWTH * model.redundancy.misfit / TYPED_SPEED, beyond / TYPED_SPEED if beyond > DEPENDENT else 1.0)
        inside, follows = in_redundant_joints(model).copy(), np.zeros(model.nc, dtype=bool)
        inside[model.velocity_rows] = False  # a wheel slips, or does not: no axis is off
        follows[list(model.redundancy.dropped)] = True
        left_out = max(wide, OPEN * model.redundancy.limit / TYPED_SPEED)
        allowed = np.where(inside, np.where(follows, left_out, wide) * allowed, allowed)
    return gap, allowed


def velocity_faults(model: Model, state: State | None = None, rows: Rows | None = None) -> tuple[Fault, ...]:
    """Return one fault for each joint whose rows do not hold for the velocities of `state`: Phi_q u - nu in m/s and rad/s.

    `System.compile` does not check this: a run may project the velocities first.
    """
    state = model.state() if state is None else state
    rows = evaluate(model, state) if rows is None else rows
    gap, allowed = velocity_gaps(model, state, rows)
    if (np.abs(gap) <= allowed).all():
        return ()
    found = []
    is_angle = constraint_gaps(model, rows, state.t).is_angle
    for entry in model.joints.values():
        texts = [_velocity_gap(gap, allowed, entry.rows[is_angle[entry.rows] == turns], turns) for turns in (False, True)]
        if any(texts):
            what = f"its bodies move apart at t = {state.t:g} s: " + " and ".join(text for text in texts if text)
            project = "simulate(..., project_velocity=True), or mbd.assemble(system).model for other calls"
            remedy = f"Give velocities that keep the joint closed, or project them: {project}."
            found.append(Fault(f"joint {entry.name!r}", what, remedy))
    return tuple(found)


def _velocity_gap(gap: Array, allowed: Array, rows: Ints, turns: bool) -> str:
    """Return the rate at which a joint opens as text; "" if there is none."""
    if np.all(np.abs(gap[rows]) <= allowed[rows]):
        return ""
    return f"{float(np.linalg.norm(gap[rows])):.6g} {'rad/s' if turns else 'm/s'}"
