"""The impacts of a compliant contact: one record from each touch to the release behind it.

    e = -d'(release) / d'(touch)             J = integral N dt             W_N = integral (N - K d^n) d' dt      W_F = integral |F| |v_t| dt

The integrals are those of Gauss's rule, graded towards the ends of each step (`work`). The largest indentation is the maximum of
the cubic through d and d' at the ends of a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.work import AT_CONTACT, hold_touch_speeds, times_between
from haugmbd.forces.compliant.contact_force import ContactForce, ContactValues, at_touch
from haugmbd.forces.compliant.indentation import Indentation
from haugmbd.integrators.dense_output import interpolate
from haugmbd.integrators.events import EventRecord
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH


@public_class
@dataclass(frozen=True)
class ContactImpact:
    """One impact of a compliant contact, from touch to release at one of its points.

    Attributes
    ----------
    contact : str
        Name of the ContactForce.
    point : int
        Number of the point of contact, 0 where there is one.
    touch, release : float
        Times of touch and release [s]; NaN of a touch before the first state, and of a release that is not reached.
    touch_speed, release_speed : float
        Speeds d' at touch and -d' at release, along the normal [m/s].
    indentation : float
        Largest indentation [m].
    impulse : float
        Integral of the normal force [N s].
    damping_work, friction_work : float
        Energy that damping and friction take [J].
    """

    contact: str
    point: int
    touch: float
    release: float
    touch_speed: float
    release_speed: float
    indentation: float
    impulse: float
    damping_work: float
    friction_work: float

    @property
    def restitution(self) -> float:
        """The restitution that is reached: speed at release over speed at touch; NaN where one of them is not known."""
        return self.release_speed / self.touch_speed if self.touch_speed > 0.0 else float("nan")

    @property
    def duration(self) -> float:
        """The time from touch to release [s]."""
        return self.release - self.touch

    @property
    def energy_lost(self) -> float:
        """The energy that damping and friction take [J]."""
        return self.damping_work + self.friction_work

    def followed_by(self, later: ContactImpact) -> ContactImpact:
        """Return both as one: this is not released, and `later` starts inside."""
        return replace(
            self,
            release=later.release,
            release_speed=later.release_speed,
            indentation=max(self.indentation, later.indentation),
            impulse=self.impulse + later.impulse,
            damping_work=self.damping_work + later.damping_work,
            friction_work=self.friction_work + later.friction_work,
        )


class ContactSteps(NamedTuple):
    """What all points of a contact have done in some steps, (k,) each: largest depth [m], impulse [N s], works [J]."""

    depth: Array
    impulse: Array
    damping_work: Array
    friction_work: Array


def contact_values(entry: LoadEntry, model: Model, y: Array) -> tuple[Indentation, ContactValues]:
    """Return geometry and forces of a contact at flat states y (nt, ny)."""
    load, n = entry.load, model.nb + 1
    assert isinstance(load, ContactForce)
    bodies = np.swapaxes(y[:, : WIDTH * n].reshape(len(y), n, WIDTH), 0, 1)[list(entry.bodies)]
    geometry, first = load.indentation(bodies), WIDTH * n + entry.angle
    return geometry, load.contact_forces(geometry, y[:, first : first + load.angles])


def over_steps(entry: LoadEntry, model: Model, t: Array, y: Array, y_dot: Array) -> ContactSteps:
    """Return impulses, energies and largest indentations of a contact in the steps between states y (nt, ny) at t, with their rates."""
    ends, _ = contact_values(entry, model, y)
    times = times_between(t, AT_CONTACT)
    states = interpolate(times, t, y, y_dot, model.nb + 1)
    hold_touch_speeds(model, t, y, times, states)
    inside, force = contact_values(entry, model, states)
    weights = (np.diff(t)[:, None] * AT_CONTACT.weights).ravel()
    return ContactSteps(
        _largest(t, ends.depth, ends.rate),
        weights @ force.normal,
        weights @ ((force.normal - force.elastic) * inside.rate),
        weights @ (force.friction * force.slip),
    )


def _largest(t: Array, depth: Array, rate: Array) -> Array:
    """Return the maximum (k,) of the cubics through depths and rates (nt, k); its derivative is A s^2 + B s + C."""
    deepest = depth.max(axis=0)
    h = np.diff(t)[:, None]
    d0, d1, r0, r1 = depth[:-1], depth[1:], h * rate[:-1], h * rate[1:]
    A, B, C = 6.0 * (d0 - d1) + 3.0 * (r0 + r1), -6.0 * (d0 - d1) - 4.0 * r0 - 2.0 * r1, r0
    turns = (C > 0.0) & (r1 <= 0.0)
    with np.errstate(all="ignore"):
        s = 2.0 * C / (-B + np.sqrt(np.maximum(B * B - 4.0 * A * C, 0.0)))
        top = d0 + s * (C + s * (0.5 * B + s * A / 3.0))
    largest: Array = np.maximum(deepest, np.where(turns & np.isfinite(top), top, -np.inf).max(axis=0, initial=-np.inf))
    return largest


class ImpactLog:
    """The impacts of one run, from its steps."""

    def __init__(self, model: Model, entries: Iterable[LoadEntry]) -> None:
        self.model, self.entries = model, tuple(entries)
        self.done: list[ContactImpact] = []
        self._open: dict[tuple[str, int], ContactImpact] = {}

    def touch(self, contact: str, point: int, t: float, speed: float) -> None:
        """Begin an impact; t is NaN if it has begun before the run."""
        nan = float("nan")
        self._open[contact, point] = ContactImpact(contact, point, t, nan, speed, nan, 0.0, 0.0, 0.0, 0.0)

    def release(self, contact: str, point: int, t: float, rate: float) -> None:
        """End an impact."""
        impact = self._open.pop((contact, point), None)
        if impact is not None:
            self.done.append(replace(impact, release=t, release_speed=-rate))

    def add_steps(self, t: Array, y: Array, y_dot: Array) -> None:
        """Add the steps between states y (nt, ny) at t, in which no point touches or is released."""
        for entry in self.entries if len(t) > 1 else ():
            points = [point for name, point in self._open if name == entry.load.name]
            if not points:
                continue
            steps = over_steps(entry, self.model, t, y, y_dot)
            for k in points:
                key, now = (entry.load.name, k), self._open[entry.load.name, k]
                self._open[key] = replace(
                    now,
                    indentation=max(now.indentation, float(steps.depth[k])),
                    impulse=now.impulse + float(steps.impulse[k]),
                    damping_work=now.damping_work + float(steps.damping_work[k]),
                    friction_work=now.friction_work + float(steps.friction_work[k]),
                )

    def impacts(self) -> tuple[ContactImpact, ...]:
        """Return all impacts in the order of their ends; those that continue are the last."""
        return (*self.done, *self._open.values())


def impacts_of_states(
    model: Model, entry: LoadEntry, t: Array, y: Array, y_dot: Array, events: Iterable[EventRecord]
) -> tuple[ContactImpact, ...]:
    """Return the impacts of a contact from all states of a run, y (nt, ny) at t, their rates, and the events of the run."""
    load, log = entry.load, ImpactLog(model, (entry,))
    names = {load.name if load.angles == 1 else f"{load.name}[{k}]": k for k in range(load.angles)}
    values, _ = contact_values(entry, model, y[:1])
    touching, inside = at_touch(values)
    for k in range(load.angles):
        if touching[0, k] or inside[0, k]:
            start = (float(t[0]), float(values.rate[0, k])) if touching[0, k] else (float("nan"), float("nan"))
            log.touch(load.name, k, *start)
    first = 0
    for event in events:
        name, _, what = event.name.rpartition(": ")
        if name not in names or what not in ("touch", "release"):
            continue
        last = int(np.searchsorted(t, event.t, side="right"))
        log.add_steps(t[first:last], y[first:last], y_dot[first:last])
        first, k = max(last - 1, 0), names[name]
        rate = float(contact_values(entry, model, event.state.y[None])[0].rate[0, k])
        if what == "touch":
            log.touch(load.name, k, event.t, rate)
        else:
            log.release(load.name, k, event.t, rate)
    log.add_steps(t[first:], y[first:], y_dot[first:])
    return log.impacts()


def joined_impacts(parts: Iterable[tuple[ContactImpact, ...]]) -> tuple[ContactImpact, ...]:
    """Return the impacts of consecutive segments of a motion, in the order of touch; one that continues is one."""
    whole: list[ContactImpact] = []
    for part in parts:
        for impact in part:
            before = [k for k, one in enumerate(whole) if (one.contact, one.point) == (impact.contact, impact.point)]
            if np.isnan(impact.touch) and before and np.isnan(whole[before[-1]].release):
                whole[before[-1]] = whole[before[-1]].followed_by(impact)
            else:
                whole.append(impact)
    return tuple(sorted(whole, key=lambda one: -np.inf if np.isnan(one.touch) else one.touch))


@public_class
@dataclass(frozen=True, eq=False)
class CompliantContact:
    """A ContactForce over time, and its impacts.

    Attributes
    ----------
    name : str
        Name of the element.
    t : ndarray, (nt,)
        Times [s].
    indentation, rate : ndarray, (nt,) or (nt, k)
        Depth of each of its k points of contact [m], negative where there is a gap, and its rate [m/s].
    normal_force, friction_force : ndarray, (nt,) or (nt, k)
        Sizes of the forces of each point [N].
    slip : ndarray, (nt,) or (nt, k)
        Slip speed of each point [m/s]; 0 where there is a gap.
    impacts : tuple of ContactImpact
        Its impacts in the order of touch.
    """

    name: str
    t: Array
    indentation: Array
    rate: Array
    normal_force: Array
    friction_force: Array
    slip: Array
    impacts: tuple[ContactImpact, ...]
