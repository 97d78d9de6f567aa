r"""Systems that move in a plane: which rows of the spatial model are left, and the model of these rows, by which runs are made.

    r = r_1 e_1 + r_2 e_2 + const,   A = R(phi, n) A_0,   n = e_1 x e_2          q = (r_1, r_2, phi) of each body
    row      Phi_q = ( along the plane | across it )
    left     across = 0:   the two CD of a pin, the DP2 of a slide, a gear, a driver
    away     along = 0:    the CD along n, the DP1 of n: nothing in the plane changes them
    both     the row ties the plane to what leaves it: no planar mechanism

Where the rows that are left, the forces, v, omega and the products of inertia with n have no part across the plane, the motion of these
rows is that of all rows, and stays in the plane by itself, to the bit: zeros are added and multiplied. A pin of a loop has 2 rows in place
of 5, and none depends on others. A forest keeps all rows, because the recursion over its hinges is faster.
Source: Haug (1989), Nikravesh (1988): planar kinematics and dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.plane import AXES, Plane, plane_of
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.errors import Fault, ModelError, SimulationError
from haugmbd.kkt.solver import TREE, TREES_ON_BLOCKS
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.redundancy import redundant_at
from haugmbd.system.build import build_model
from haugmbd.workspace.layout import WIDTH, workspace_array

ACROSS_TOL = 1e-12
"""A number across the plane that is smaller than this part of those along it is a rounding of given coordinates."""
PUSHED_TOL = 1e-10
"""A force or moment across the plane that is smaller than this part of the largest one, and of 1 N or 1 N m, is a rounding."""
LEFT_TOL = 1e-9
"""A place or velocity across the plane beyond this part of the largest one has left it."""
N_STATES = 3
"""Poses of the plane at which rows are looked at."""
TURN, SHIFT = 0.2, 0.05
"""How far the bodies are turned [rad] and moved, of the length of the model: functions of joint coordinates stay in their ranges."""

Flags = npt.NDArray[np.bool_]


def check_plane(model: Model) -> None:
    """Raise ModelError with what of a model leaves its plane: bodies, gravity, joints and loads, by name."""
    assert model.planar is not None
    plane = plane_of(model.planar)
    faults = [*_body_faults(model, plane), *_row_faults(model, plane)]
    if not faults:
        faults = _force_faults(_in_plane(model, plane), plane)
    if faults:
        raise ModelError(faults)


@once_per_model
def model_in_plane(model: Model) -> Model | None:
    """Return the model of the rows that are left in the plane; None where all rows serve as well, or are needed.

    These are forests, which a recursion solves faster, and models with friction by reactions, blocks or parts that are switched.
    """
    if model.planar is None or model.solver in (TREE, TREES_ON_BLOCKS):
        return None
    if model.network is not None or model.parts is not None or len(model.tables["FRICTION_INTS"]):
        return None
    return _in_plane(model, plane_of(model.planar))


def need_in_plane(model: Model, t: Array, y: Array) -> None:
    """Raise SimulationError if states y (nt, ny) of a run at t (nt,) leave the plane: what pushes them out was not seen at the start."""
    assert model.planar is not None
    plane, n = plane_of(model.planar), model.nb + 1
    bodies = y[:, : WIDTH * n].reshape(len(y), n, WIDTH)
    r, v, omega = bodies[:, :, :3] - bodies[:1, :, :3], bodies[:, :, VELOCITY : VELOCITY + 3], bodies[:, :, OMEGA_BAR:WIDTH]
    size = (
        max(model.length, float(np.abs(r).max(initial=0.0))),
        max(1.0, float(np.abs(bodies[:, :, VELOCITY:WIDTH]).max(initial=0.0))),
    )
    out = np.abs(r[:, :, plane.normal]) / size[0]
    for part in (bodies[:, :, EULER + 1 + plane.first], bodies[:, :, EULER + 1 + plane.second]):
        out = np.maximum(out, np.abs(part))
    for part in (v[:, :, plane.normal], omega[:, :, plane.first], omega[:, :, plane.second]):
        out = np.maximum(out, np.abs(part) / size[1])
    if not np.any(out > LEFT_TOL):
        return
    k = int(np.argmax((out > LEFT_TOL).any(axis=1)))
    name = model.body_names[int(np.argmax(out[k]))]
    raise SimulationError(
        f"body {name!r} has left the plane {plane.name!r} by t = {t[k]:.9g} s: a force pushes it across, and the joints that would hold "
        "it have no rows for that in a planar model. Leave planar= out of the System, or let the force act in the plane."
    )


def _body_faults(model: Model, plane: Plane) -> list[Fault]:
    """Return the faults of gravity, and of the poses, velocities and inertias of the bodies."""
    faults, g = [], model.gravity
    if abs(g[plane.normal]) > ACROSS_TOL * np.abs(g).max(initial=0.0):
        faults.append(
            Fault(
                f"system {model.name!r}",
                f"gravity {_text(g)} is not in the plane {plane.name!r}",
                "Give another plane, or gravity.",
            )
        )
    others = [plane.first, plane.second]
    for body in model.bodies[1:]:
        where = f"body {body.name!r}"
        if np.any(body.p[1:][others] != 0.0):
            what = f"its axes are turned out of the plane {plane.name!r}: p = {_text(body.p)}"
            faults.append(Fault(where, what, f"Give p that turns about {AXES[plane.normal]} alone, and J_bar in these axes."))
        elif np.any(body.v[plane.normal] != 0.0) or np.any(body.omega_bar[others] != 0.0):
            what = f"it starts with a velocity out of the plane {plane.name!r}: v = {_text(body.v)}, omega_bar = {_text(body.omega_bar)}"
            faults.append(Fault(where, what, "Give velocities of the plane, or leave planar= out."))
        elif np.any(body.J_bar[plane.normal, others] != 0.0):
            what = f"it has products of inertia with the normal of the plane {plane.name!r}, so that its bearings carry moments across it"
            faults.append(Fault(where, what, "Give J_bar with zeros there, or leave planar= out."))
    return faults


def _row_faults(model: Model, plane: Plane) -> list[Fault]:
    """Return the faults of rows that tie motions of the plane to such across it, and of those that are driven across it."""
    faults = []
    for row, (along, across, driven) in enumerate(zip(*_parts(model, plane), strict=True)):
        label = model.labels[row]
        if along and across:
            what = f"its row {label.kind} ties motions in the plane {plane.name!r} to such across it"
            faults.append(
                Fault(f"joint {label.joint!r}", what, "Turn its axis along the normal, or into the plane, with points in it.")
            )
        elif driven and not along:
            what = f"its row {label.kind} is driven across the plane {plane.name!r}"
            faults.append(Fault(f"joint {label.joint!r}", what, "Drive a coordinate of the plane, or leave planar= out."))
    return list(dict.fromkeys(faults))


def _force_faults(model: Model, plane: Plane) -> list[Fault]:
    """Return the faults of forces that push a body across the plane, at the modelled state and in motion;  model: of the rows left."""
    for state in _states(model, plane):
        pack = model.pack()
        rows_entry(pack, state.t, state.y)
        model.raise_user_error(pack)
        Q = np.abs(workspace_array(pack, "Q")[1:])
        out, moment = Q[:, plane.normal], Q[:, [3 + plane.first, 3 + plane.second]].max(axis=1, initial=0.0)
        beyond = np.maximum(out / max(float(Q[:, :3].max(initial=0.0)), 1.0), moment / max(float(Q[:, 3:].max(initial=0.0)), 1.0))
        if np.any(beyond > PUSHED_TOL):
            k = int(np.argmax(beyond))
            of = f"body {model.body_names[1 + k]!r} across the plane {plane.name!r}"
            what = f"forces push {of}, with {out[k]:.3g} N and {moment[k]:.3g} N m"
            remedy = "Let loads act in the plane, or leave planar= out: bearings carry them then."
            return [Fault(f"system {model.name!r}", what, remedy)]
    return []


def _parts(model: Model, plane: Plane) -> tuple[Flags, Flags, Flags]:
    """Return whether rows (nc,) have a part along the plane, one across it, and a rate or acceleration that is driven."""
    along, across, driven = (np.zeros(model.nc, dtype=bool) for _ in range(3))
    for state in _states(model, plane):
        rows = evaluate(model, state)
        gradient = np.concatenate([rows.Phi_r, rows.PiBar], axis=2)
        gradient[rows.bodies == 0] = 0.0
        parts = [np.abs(gradient[:, :, list(own)]).max(axis=(1, 2), initial=0.0) for own in (plane.along, plane.across)]
        least = ACROSS_TOL * np.maximum(*parts)
        along |= parts[0] > least
        across |= parts[1] > least
        driven |= np.maximum(np.abs(rows.nu), np.abs(rows.gamma)) > ACROSS_TOL * np.maximum(1.0, np.maximum(*parts)) * 1e3
    return along, across, driven


def _states(model: Model, plane: Plane) -> list[State]:
    """Return the modelled state, and random ones of the plane near to it, which move in it."""
    rng, start = np.random.default_rng(7), model.state()
    found = [start]
    for _ in range(N_STATES):
        r, v, omega = start.r.copy(), np.zeros_like(start.v), np.zeros_like(start.omega_bar)
        r[1:, [plane.first, plane.second]] += SHIFT * model.length * rng.normal(size=(model.nb, 2))
        v[1:, [plane.first, plane.second]] = rng.normal(size=(model.nb, 2))
        omega[1:, plane.normal] = rng.normal(size=model.nb)
        half = 0.5 * TURN * rng.normal(size=model.nb)
        p, c, s = start.p.copy(), np.cos(half), np.sin(half)
        e0, e = start.p[1:, 0], start.p[1:, 1 + plane.normal]
        p[1:, 0], p[1:, 1 + plane.normal] = c * e0 - s * e, s * e0 + c * e
        found.append(start.replace(r=r, p=p, v=v, omega_bar=omega))
    return found


def _in_plane(model: Model, plane: Plane) -> Model:
    """Return the model of the rows that have a part along the plane."""
    along = _parts(model, plane)[0]
    joints = [entry.part for entry in model.joints.values()]
    given: Sequence[tuple[Primitive, ...]] = [
        tuple(model.labels[row].primitive for row in entry.rows.tolist() if along[row]) for entry in model.joints.values()
    ]
    flat = build_model(
        model.name,
        model.bodies,
        joints,
        model.force_elements,
        np.array(model.gravity),
        given=given,
        contacts=model.contacts,
    )
    if not np.array_equal(flat.y0, model.y0):  # a row that went away has counted an angle
        return model
    flat = flat.with_redundancy(model.redundancy.rule, model.redundancy.given)
    flat = redundant_at(flat, flat.state()) if flat.nc else flat
    flat.tables.reals[flat.tables.place("LENGTH")[0]] = model.length
    return replace(flat, planar=model.planar)


def _text(x: Array) -> str:
    return "(" + ", ".join(f"{float(each):.6g}" for each in x) + ")"
