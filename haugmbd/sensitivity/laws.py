r"""The law of a motion between events within one structure: which joints stick, which way others slide, which stops push.

sticks    |s| = 0 at both ends of a step        slides against the sign of s        s: sliding speed of a joint of one rate
pushes    p > 0 in a step                       p: see `forces.stops`

A run ends its steps where a law changes, so that each step has one.  What ends a law is a zero of s (a joint stops or turns), of the
margin of friction (it slips), of the depth of a stop (it touches) or of its force (it is released).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.friction import columns as at
from haugmbd.integrators.stick_slip.watched_quantities import ALONG, MARGIN, MISSING, Watch, may_stick
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.model import Model
from haugmbd.workspace.layout import Pack, workspace_array

RESTS = 1e-8
"""Sliding speed [m/s], of 1 m/s or of the fastest of the run, below which a joint is at rest at both ends of a step."""

SLOW = 1e-4
"""The same of bristles in a joint of several rates, whose law has a corner at rest."""

Flags = npt.NDArray[np.bool_]


class Law(NamedTuple):
    """How joints with friction and stops act in some steps.

    slides: (nf,) direction of sliding, 1 or -1; 0 of a joint that sticks; NaN of one whose state decides;  pushes: (sides,)
    """

    slides: Array
    pushes: Flags

    def hold(self, model: Model, pack: Pack) -> None:
        """Write the law to a workspace."""
        if len(self.slides):
            put_modes(workspace_array(pack, "FRICTION_MODES"), self.slides)
        if len(self.pushes):
            Stops(model).hold(pack, self.pushes)


NO_LAW = Law(np.zeros(0), np.zeros(0, dtype=np.bool_))


def put_modes(modes: Array, slides: Array) -> None:
    """Write the modes of friction."""
    known = np.isfinite(slides)
    modes[:, at.MODE] = np.where(known, np.where(slides == 0.0, at.STICKS, at.SLIDES), at.FREE)
    modes[:, at.AGAINST] = np.where(known, slides, 0.0)


def laws_of_steps(model: Model, t: Array, y: Array) -> list[tuple[slice, Law]]:
    """Return the states (first and last included) of each law of a motion with states y (nt, ny) at t, in order."""
    if not (may_stick(model) or model.has_stops):
        return [(slice(0, len(t)), NO_LAW)]
    slides, pushes = _slides(model, t, y), _pushes(model, y)
    whole, first = [], 0
    changes = (np.nan_to_num(slides[1:], nan=2.0) != np.nan_to_num(slides[:-1], nan=2.0)).any(axis=1) | (
        pushes[1:] != pushes[:-1]
    ).any(axis=1)
    for last in (*(1 + np.flatnonzero(changes)).tolist(), max(len(t) - 1, 1)):
        whole.append((slice(first, last + 1), Law(slides[first], pushes[first])))
        first = last
    return whole


def _slides(model: Model, t: Array, y: Array) -> Array:
    """Return the directions of sliding in each step, (nt - 1, nf). Raise UsageError for a joint of several rates that comes to rest."""
    loads = model.loads_of(JointFriction)
    if not may_stick(model):
        return np.full((max(len(t) - 1, 1), len(loads)), np.nan)
    watch, exact = Watch(model), np.array([load.is_exact for load in loads])
    put_modes(watch.modes, np.where(exact, 1.0, np.nan))
    watch.units[:] = 0.0
    values = watch.over(t, y)
    along, speed = values[:, :, ALONG], -values[:, :, MISSING]
    level = RESTS * max(1.0, float(np.nanmax(speed, initial=0.0)))
    fastest = np.where(np.abs(along[1:]) >= np.abs(along[:-1]), along[1:], along[:-1]) if len(t) > 1 else along
    found = np.where(np.abs(fastest) <= level, 0.0, np.sign(fastest))
    for k, load in enumerate(loads):
        if not exact[k]:
            found[:, k] = np.nan
        elif model.tables["FRICTION_INTS"][k, at.CHANNELS] > 1:
            if (speed[:, k] <= level).any():
                raise UsageError(
                    f"sensitivity through a stop or slip of friction {load.name!r}, in a joint of several rates, is not there yet: take a "
                    "smooth law there, such as Coulomb(mu, velocity=1e-4), or difference whole runs."
                )
            found[:, k] = np.nan
    if np.isnan(along).any():
        raise UsageError("the friction of the run is not determined at one of its states: it has no derivative there.")
    return found


def need_one_rate(model: Model, loads: Sequence[JointFriction], t: Array, y: Array) -> None:
    """Raise UsageError if bristles in a joint of several rates come to rest, where their law has a corner."""
    every = model.loads_of(JointFriction)
    several = [k for k, load in enumerate(every) if load in loads and model.tables["FRICTION_INTS"][k, at.CHANNELS] > 1]
    if not several:
        return
    watch = Watch(model)
    put_modes(watch.modes, np.full(len(every), np.nan))
    speed = -watch.over(t, y)[:, :, MISSING]
    for k in several:
        if (speed[:, k] <= SLOW * max(1.0, float(speed[:, k].max()))).any():
            raise UsageError(
                f"sensitivity through the rest of friction {every[k].name!r}, whose bristles are in a joint of several rates, is not there "
                "yet: take a smooth law, such as BrownMcPhee(mu_s, mu_d, v_t), or difference whole runs."
            )


def _pushes(model: Model, y: Array) -> Flags:
    """Return which sides of stops push in each step, (nt - 1, sides)."""
    stops = Stops(model)
    p = stops.pressed(y).p
    if len(y) < 2:  # noqa: PLR2004  one state
        return p > 0.0
    stronger = np.where(np.abs(p[1:]) >= np.abs(p[:-1]), p[1:], p[:-1])
    pushes: Flags = stronger > 0.0
    return pushes


# ---------------------------------------------------------------------------------------------------------------- what ends a law
def guards(before: Law, after: Law, model: Model) -> Iterator[tuple[str, Callable[[Model], Callable[..., float]]]]:
    """Yield what may have ended a law: a name, and the function of a model that returns g(t, y)."""
    loads = model.loads_of(JointFriction)
    for k, load in enumerate(loads):
        if np.isfinite(before.slides[k]) and before.slides[k] != after.slides[k]:
            what = "slips" if before.slides[k] == 0.0 else "stops"
            yield f"{load.name} {what}", partial(_of_friction, before, k, MARGIN if what == "slips" else ALONG)
    for k, side in enumerate(Stops(model).sides if len(before.pushes) else ()):
        if before.pushes[k] != after.pushes[k]:
            yield f"{side.name} {'touches' if after.pushes[k] else 'is released'}", partial(_of_stop, k)


def _of_friction(law: Law, k: int, which: int, model: Model) -> Callable[..., float]:
    watch = Watch(model)
    put_modes(watch.modes, law.slides)
    if len(law.pushes):
        Stops(model).hold(watch.pack, law.pushes)

    def g(t: float, y: Array) -> float:
        watch.forget()
        return float(watch.over(np.array([t]), np.array(y)[None])[0, k, which])

    return g


def _of_stop(k: int, model: Model) -> Callable[..., float]:
    stops = Stops(model)

    def g(t: float, y: Array) -> float:
        found = stops.pressed(np.array(y)[None])
        depth, push = float(found.depth[0, k]), float(found.push[0, k])
        return depth if abs(depth) <= abs(push) else push

    return g
