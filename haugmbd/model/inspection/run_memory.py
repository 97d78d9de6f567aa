r"""What only a run knows: parts whose forces do not follow from time and state alone, because a run changes them at its events.

rigid stops       the velocities jump at a hit, and a closed stop transmits a force
damped contacts   the damping depends on the speed of the last touch, which a run writes to the state
sampled blocks    a run calls them, and holds their values in between
delays            a run keeps the motion before
freewheels        a run lets them lock and slip
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.joint_loads.joint_limit import JointLimit
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

STOP_TOL = 1e-6
"""Excess over a rigid limit, relative to 1 rad or the length of the model, of a stop that a run has closed."""

EDGE_TOL = 1e-9
"""Distance from a rigid limit, in the same units, that is rounding of a pose at its edge."""


def need_no_memory(model: Model, what: str) -> None:
    """Raise UsageError, with the names, for parts that only a run can treat;  what: that has time and state alone."""
    network = model.network
    ways = {
        "stops that hit": [entry.load.where for entry in _rigid_limits(model)],
        "contacts that strike": [contact.where for contact in model.contacts],
        "the speed of the last touch": [entry.load.where for entry in _damped_contacts(model)],
        "calls that hold a value": [] if network is None else [block.where for block in network.sampled],
        "freewheels that lock": [f"joint {joint.name!r}" for joint in freewheels_of(model)],
        "the motion before": [] if network is None else [block.where for block in network.delays],
    }
    found = [f"{why} ({', '.join(names)})" for why, names in ways.items() if names]
    if found:
        raise UsageError(
            f"{what} has time and state alone, and this model needs {' and '.join(found)}, which a run adds at its events: "
            "use simulate, with integrator=SciPySolver(...) for SciPy's methods."
        )


def need_constant_masses(model: Model, what: str) -> None:
    """Raise UsageError, with the bodies, for masses in time;  what: that has one mass matrix for all times."""
    names = ", ".join(repr(body.name) for entry in model.masses_in_time for body in entry.load.bodies())
    if names:
        raise UsageError(f"{what} has one mass matrix, and mass or inertia of {names} change in time: simulate it.")


def need_drivers_of_time(model: Model, what: str) -> None:
    """Raise UsageError, with the outputs, if joints are driven by blocks;  what: that takes drivers for functions of time alone."""
    followed = () if model.network is None else model.network.motions
    names = ", ".join(dict.fromkeys(repr(output.label) for _, output in followed))
    if names:
        raise UsageError(f"{what} takes drivers for functions of time, and here a driver follows {names}: simulate it.")


def freewheels_of(model: Model) -> tuple[Joint, ...]:
    """Return the freewheels of a model; () for most models."""
    return () if model.parts is None else tuple(joint for joint in model.parts.joints if joint.one_way)


def need_no_freewheels(model: Model, what: str) -> None:
    """Raise UsageError, by name, if a model has freewheels;  what: that sees no locking and slipping."""
    names = ", ".join(repr(joint.name) for joint in freewheels_of(model))
    if names:
        raise UsageError(
            f"{what} does not take freewheels, which lock and slip in simulate alone: {names}. Put a Coupling, or nothing, in its place."
        )


def stop_faults(model: Model, t: Array, y: Array) -> tuple[Fault, ...]:
    """Return one fault for each rigid JointLimit beyond which the states y (nt, ny) at t (nt,) are, with the first of them."""
    found = []
    for entry in _rigid_limits(model):
        load = entry.load
        assert isinstance(load, JointLimit)
        q, coordinate, unit = _limited(model, entry, y), load.coordinates()[0], load.units[0]
        beyond = np.maximum(q - load.upper, load.lower - q) > STOP_TOL * _unit_of(model, coordinate)
        if beyond.any():
            k = int(np.argmax(beyond))
            limit, side = (load.upper, "upper") if q[k] > load.upper else (load.lower, "lower")
            what = (
                f"{coordinate.label} is {q[k]:.6g} {unit} at t = {t[k]:.6g} s, beyond its rigid limit {side} = {limit:.6g} {unit}"
            )
            found.append(Fault(load.where, what, "Stay within the limits, move the limit, or make it compliant (k=, c=)."))
    return (*found, *_contact_faults(model, t, y))


def _contact_faults(model: Model, t: Array, y: Array) -> list[Fault]:
    """Return one fault for each rigid contact whose bodies overlap at the states y (nt, ny) at t (nt,), with the first of them.

    A contact with friction, or of two shapes, is one where they touch: it carries forces there that states alone do not tell.
    """
    found = []
    for contact in model.contacts:
        gap = contact.gaps(model, y)
        touches = np.zeros(len(gap), dtype=bool) if contact.is_plain else np.abs(gap) <= EDGE_TOL * model.length
        overlap = (gap < -STOP_TOL * model.length) & ~touches
        if overlap.any():
            k = int(np.argmax(overlap))
            what = f"its gap is {gap[k]:.6g} m at t = {t[k]:.6g} s: the bodies overlap"
            found.append(Fault(contact.where, what, "Stay on its open side, or make it compliant: mbd.ContactForce(...)."))
        elif touches.any():
            k = int(np.argmax(touches))
            what = f"it touches at t = {t[k]:.6g} s, where it could stick or slip (mu = {contact.mu:g}), and its forces are not known here"
            found.append(Fault(contact.where, what, "Use simulate, or hold the body by a joint instead."))
    return found


def touched_stops(model: Model, y: Array) -> tuple[str, ...]:
    """Return the rigid JointLimits at whose edge the state y (ny,) is, up to rounding."""
    found = []
    for entry in _rigid_limits(model):
        load = entry.load
        assert isinstance(load, JointLimit)
        q = float(_limited(model, entry, y[None])[0])
        if min(abs(q - load.upper), abs(q - load.lower)) <= EDGE_TOL * _unit_of(model, load.coordinates()[0]):
            found.append(load.where)
    touching = (contact.where for contact in model.contacts if abs(contact.gaps(model, y[None])[0]) <= EDGE_TOL * model.length)
    return (*found, *touching)


def _limited(model: Model, entry: LoadEntry, y: Array) -> Array:
    """Return the coordinate (nt,) of a limit at the states y (nt, ny)."""
    load = entry.load
    assert isinstance(load, JointLimit)
    return np.asarray(load.motion(_bodies(model, entry, y), entry.own_angles(y[:, WIDTH * (model.nb + 1) :]))[0][:, 0])


def _unit_of(model: Model, coordinate: Coordinate) -> float:
    """Return 1 rad, or the length of the model [m]."""
    return 1.0 if coordinate.turns else model.length


def touch_faults(model: Model, t: Array, y: Array) -> tuple[Fault, ...]:
    """Return one fault for each damped ContactForce that touches along the states y (nt, ny) at t (nt,), which no run has located.

    A contact that is closed in all of them, with a touch speed in the state, has touched before.
    """
    found = []
    for entry in _damped_contacts(model):
        load = entry.load
        assert isinstance(load, ContactForce)
        closed = load.indentation(_bodies(model, entry, y)).depth > 0.0
        speeds = entry.own_angles(y[:, WIDTH * (model.nb + 1) :]).reshape(closed.shape)
        unknown = closed & ((speeds <= 0.0) | ~closed.all(axis=0))
        if unknown.any():
            k = int(np.argmax(unknown.any(axis=1)))
            what = f"it is closed at t = {t[k]:.6g} s, and its damping depends on the speed of a touch that no run has located"
            found.append(Fault(load.where, what, "Use simulate, or leave the damping out: restitution=1."))
    return tuple(found)


def _rigid_limits(model: Model) -> list[LoadEntry]:
    """Return the limits with a restitution."""
    return [entry for entry in model.loads if entry.load.impulsive]


def _damped_contacts(model: Model) -> list[LoadEntry]:
    """Return the contact forces with damping."""
    return [entry for entry in model.loads if isinstance(entry.load, ContactForce) and entry.load.c != 0.0]


def _bodies(model: Model, entry: LoadEntry, y: Array) -> Array:
    """Return the states (n, nt, 13) of the bodies of a force element."""
    n = model.nb + 1
    states: Array = np.swapaxes(y[:, : WIDTH * n].reshape(len(y), n, WIDTH), 0, 1)[list(entry.bodies)]
    return states
