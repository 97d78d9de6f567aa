r"""The models of varied parameters, and the derivatives of their numbers.

    dx/dp = (x(p + s) - x(p - s)) / (2 s)        x: tables of the compiled model, constant drivers, modelled state;  s = 1e-5 |p|

Nothing is integrated in these differences: they are of the building of the model alone.  The second difference says whether x is smooth
on this scale.  If it is not small, the derivative is of sixth order, and taken at two steps, which must agree: at a kink they do not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.frame import TriadChoices
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.scalars import LANES
from haugmbd.contact.gap import placed_contacts
from haugmbd.contact.joint_stop import rigid_contacts
from haugmbd.drivers.autodiff.tape import constants_apart
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.formulations.newton_euler import NewtonEuler
from haugmbd.integrators.implicit.base import implicit_tables
from haugmbd.model.inspection.run_memory import need_constant_masses, need_drivers_of_time, need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.sensitivity.dual_pack import DualCallback, DualPack, dual_pack, tangents_of
from haugmbd.sensitivity.laws import NO_LAW, Law
from haugmbd.sensitivity.parameters import (
    Builder,
    Built,
    Parameters,
    calls_python,
    driver_constants,
    nominal_model,
    varied_model,
)
from haugmbd.sensitivity.solved_outputs import TINY, SolvedOutputs
from haugmbd.sensitivity.tangents import Lanes
from haugmbd.simulation.results.named_outputs import Names, Output, resolved
from haugmbd.system.rebuilt import FROZEN
from haugmbd.workspace.layout import REALS, Pack, place_in, workspace_array

STEP = 1e-5
"""Distance of the models on both sides of a parameter, relative to its size: the cube root of rounding."""
CURVED = 1e-9
"""Second difference, relative to the largest number of its kind, above which two points are not trusted: of a smooth number it is
STEP^2 = 1e-10, at a kink STEP = 1e-5."""
SIXTH, SIXTH_STEPS = ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0)), (1e-3, 3e-4)
"""Differences of sixth order: points, weights and two steps, relative to the parameter."""
AGREE = 1e-6
"""Relative difference of the derivatives at two steps of a number that is smooth, at most."""
WIDER, SMOOTH = 10.0, 1e-7
"""Times STEP: a second step of a number that is curved; and the error at STEP, relative to the largest of its kind, that is corrected."""
FEW = 4
"""Parameters below which a test of what is linear does not save models."""
TOGETHER, LINEAR = 1e-3, 1e-13
"""Relative distance by which all parameters move at once, and the second difference of a linear number there, relative to those of its
kind: the difference on one side of STEP is then wrong by less than 1e-12."""
TOLD, ROUNDING = 1e-10, 1e-14
"""Distance of a number, relative to those of its kind, from that which the derivatives at another point tell: of the derivatives, in
parts of the change of the parameters, and of the number itself."""
GOLDEN = 0.6180339887
"""Parts by which the steps of different parameters differ, so that their curvatures do not cancel."""
LONG = 1e-4
"""Part of the size of the mechanism by which two sides of a function of the state may lie apart; beyond it the state and the parameter
are varied by themselves, since tangents are large."""
NOTHING = 1e-12
"""Change of all numbers, relative to their sizes and to the change of the parameter, that is rounding: the parameter does not enter."""


class Variation:
    """A model with one parameter moved by `step`, with the arguments of the run and the names of outputs there."""

    def __init__(self, model: Model, step: float, arguments: dict[str, Any], outputs: tuple[Output, ...]) -> None:
        self.model, self.step, self.arguments, self.outputs = model, step, arguments, outputs

    @cached_property
    def numbers(self) -> Numbers:
        """Return the tables, the constant drivers and the modelled state."""
        return self.model.tables.reals, driver_constants(self.model).ravel(), self.model.y0, frames_of(self.model, self.outputs)


Numbers = tuple[Array, Array, Array, Array]
"""The constants of the tables, constant drivers, the modelled state, and the frames of joints whose coordinates are outputs."""


def frames_of(model: Model, outputs: Sequence[Output]) -> Array:
    """Return points, frames and zeros of the joints whose coordinates or reactions are outputs: FRAME numbers each."""
    found = [np.zeros(0)]
    for owner in joints_of(model, outputs):
        entry: Any = model.joints[owner]
        found += [np.ravel(x) for x in (entry.s_bar_i, entry.A_bar_i, entry.s_bar_j, entry.A_bar_j, entry.part.q0)]
    return np.concatenate(found)


FRAME = 25
"""Numbers of two points, two frames and a zero."""


def joints_of(model: Model, outputs: Sequence[Output]) -> list[str]:
    """Return the joints of a model whose coordinates or reactions are outputs."""
    owners = dict.fromkeys(one.owner for one in outputs if one.kind in ("joint", "reaction"))
    return [owner for owner in owners if owner in model.joints]


class Known(NamedTuple):
    """What a design tells of the next one, at other values.

    x: (n,) its values;  numbers, slopes: of it;  bent: which numbers are not linear in the parameters, by kind
    """

    x: Array
    numbers: Numbers
    slopes: Mapping[str, Numbers]
    bent: Sequence[Any]


def given_values(p: Mapping[str, float]) -> dict[str, float]:
    """Return the values that a function builds with.

    A zero is a number of NumPy: a part does not take it for the zero of its own that all equations without a function share.
    """
    return {name: value or np.float64(0.0) for name, value in p.items()}


class Design:
    """A system of nominal values, and its variations.

    known: what another design of the same function tells, see `Known`;  is_rough: whether derivatives of numbers that are not linear may
    be one-sided differences, right to about 1e-4;  was_rough: whether one was;  remembers: whether the next one will ask
    """

    is_whole = True

    known: Known | None = None
    is_rough = was_rough = remembers = False

    def __init__(
        self,
        build: Builder,
        p: Parameters,
        names: Names,
        *,
        known: Known | None = None,
        is_rough: bool = False,
        remembers: bool = False,
    ) -> None:
        self.began, self.seconds = time.process_time(), 0.0
        self.known, self.is_rough, self.remembers = known, is_rough, remembers
        self.build, self.p = build, p
        self.triads = TriadChoices()
        with self.triads.used(), constants_apart():
            self.built: Built = build(given_values(p))
        self.model: Model = nominal_model(self.built.system)
        need_constant_masses(self.model, "sensitivity")
        need_no_freewheels(self.model, "sensitivity")
        need_drivers_of_time(self.model, "sensitivity")
        self._names = names
        self.outputs = self.names(dict(p))
        self._sides: dict[str, tuple[Variation, Variation]] = {}
        self._plus: dict[str, Variation] = {}
        self._outputs_at: dict[tuple[str, float], tuple[Output, ...]] = {}

    def names(self, values: Mapping[str, float]) -> tuple[Output, ...]:
        """Return the outputs at values of the parameters."""
        return tuple(resolved(self.model, output) for output in self._names(values))

    @cached_property
    def calls_python(self) -> bool:
        """Whether functions of the user, or blocks, act in every evaluation: they are evaluated for both sides of each parameter."""
        return bool(calls_python(self.model))

    def variation(self, name: str, step: float) -> Variation:
        """Return the design with one parameter moved. Raise UsageError if it cannot be built."""
        return self.moved({name: step})

    def moved(self, steps: Mapping[str, float]) -> Variation:
        """Return the design with some parameters moved. Raise UsageError if it cannot be built."""
        values = dict(self.p) | {name: self.p[name] + step for name, step in steps.items()}
        try:
            with self.triads.used(), constants_apart():
                built = self.build(values)
            model = varied_model(built.system, self.model)
        except HaugmbdError as error:
            name = next(iter(steps))
            raise UsageError(
                f"parameter {name!r}: the model of {values[name]!r} in place of {self.p[name]!r} cannot be built: {error} "
                "A derivative needs models on both sides of the value."
            ) from error
        return Variation(model, next(iter(steps.values())), built.arguments, self.names(values))

    def step(self, name: str) -> float:
        """Return the distance of the models on both sides of a parameter."""
        return STEP * self.p.part(name).size

    def outputs_at(self, name: str, sign: float) -> tuple[Output, ...]:
        """Return the outputs on one side of a parameter: a point may move with it."""
        key = name, sign
        if key not in self._outputs_at:
            self._outputs_at[key] = self.names(dict(self.p) | {name: self.p[name] + sign * self.step(name)})
        return self._outputs_at[key]

    def moves_joint(self, name: str, owner: str) -> bool:
        """Return whether the frames of a joint, or the zero of its coordinate, move with a parameter, at states that do not."""
        first = FRAME * joints_of(self.model, self.outputs).index(owner)
        return bool(self.all_slopes[name][3][first : first + FRAME].any())

    def frames_beside(self, name: str, owner: str, step: float) -> tuple[Array, Array, Array, Array, Array]:
        """Return points and frames of a joint on its bodies, s_bar_i, A_bar_i, s_bar_j, A_bar_j, and its zero, beside the value."""
        first = FRAME * joints_of(self.model, self.outputs).index(owner)
        numbers, slopes = (x[3][first : first + FRAME] for x in (self.numbers, self.all_slopes[name]))
        moved = numbers + step * slopes
        return moved[:3], moved[3:12].reshape(3, 3), moved[12:15], moved[15:24].reshape(3, 3), moved[24]

    def plus(self, name: str) -> Variation:
        """Return the variation on the upper side of a parameter alone."""
        if name in self._sides:
            return self._sides[name][0]
        if name not in self._plus:
            self._plus[name] = self.variation(name, self.step(name))
        return self._plus[name]

    def ran(self) -> None:
        """Note that the model is built, compiled and run: what one run takes."""
        self.seconds = time.process_time() - self.began

    def sides(self, name: str) -> tuple[Variation, Variation]:
        """Return the variations on both sides of a parameter."""
        if name not in self._sides:
            plus = self.plus(name)
            self._sides[name] = plus, self.variation(name, -plus.step)
        return self._sides[name]

    @cached_property
    def solved(self) -> SolvedOutputs:
        """Return the outputs that follow from the solution, and what they read of it."""
        return SolvedOutputs(self.model, self.outputs)

    def points_beside(self, number: int) -> Any:
        """Return the point on its body of an output, or of the joint of a reaction, with its derivatives by parameters: (n, 3) complex."""
        output, points = self.outputs[number], np.zeros((len(self.p), 3), dtype=complex)
        for line, name in zip(points, self.p, strict=True):
            if output.kind == "point":
                high, low = (np.array(self.outputs_at(name, sign)[number].at) for sign in (1.0, -1.0))
                line[:] = np.array(output.at) + 1j * TINY * (high - low) / (2.0 * self.step(name))
            elif output.kind == "reaction":
                here, high, low = (self.frames_beside(name, output.owner, step)[2] for step in (0.0, 1.0, -1.0))
                line[:] = here + 1j * TINY * (high - low) / 2.0
        return points

    @cached_property
    def nominal(self) -> Variation:
        """Return the design with no parameter moved."""
        return Variation(self.model, 0.0, self.built.arguments, self.outputs)

    def along(self, name: str, motion: tuple[Any, Array, Any, Array], of: Callable[[Variation], Callable[..., Array]]) -> Array:
        """Return the derivative of a function of (t, y, p) along a parameter and a motion (t, y, dt, dy).  of(side)(t, y): its value

        Both sides are taken at once, unless the motion is so long that t and y are varied by themselves.
        """
        t, y, dt, dy = motion
        plus, minus = self.sides(name)
        far = float(np.abs(dy).max(initial=0.0)) * plus.step
        slope: Array
        if far <= LONG:
            high, low = (of(side)(t + side.step * dt, y + side.step * dy) for side in (plus, minus))
            slope = (high - low) / (plus.step - minus.step)
            return slope
        high, low = (of(side)(t, y) for side in (plus, minus))
        slope = (high - low) / (plus.step - minus.step)
        d, nominal = plus.step * LONG / far, of(self.nominal)
        slope = slope + (nominal(t + d * dt, y + d * dy) - nominal(t - d * dt, y - d * dy)) / (2.0 * d)
        return slope

    @cached_property
    def numbers(self) -> Numbers:
        """Return the nominal tables, constant drivers, modelled state, and frames of joints that are outputs."""
        return self.nominal.numbers

    @cached_property
    def slopes(self) -> dict[str, tuple[Array, Array, Array]]:
        """Return the derivatives of tables, constant drivers and modelled state by each parameter, see `all_slopes`."""
        return {name: found[:3] for name, found in self.all_slopes.items()}

    @cached_property
    def all_slopes(self) -> dict[str, Numbers]:
        """Return the derivatives of the numbers by each parameter. Raise UsageError for one that enters nothing, or at a kink."""
        return {name: self._known_slopes(name) or self._slopes_of(name) for name in self.p}

    def _known_slopes(self, name: str) -> Numbers | None:
        """Return the derivatives that another design knows, if they are those of numbers that are linear in all parameters."""
        return self.known.slopes[name] if self.known is not None and name in self._told else None

    @cached_property
    def _told(self) -> frozenset[str]:
        """Return the parameters that move only numbers that are linear in all, where another design tells these numbers right.

        A model beside the value, with these parameters moved, must be told, too: there may be a law that does not act at the other values.
        """
        base, nothing = self.known, frozenset[str]()
        if base is None or any(a.shape != b.shape for a, b in zip(base.numbers, self.numbers, strict=True)):
            return nothing
        linear = [
            name for name in self.p if not any(b[dx != 0.0].any() for b, dx in zip(base.bent, base.slopes[name], strict=True))
        ]
        steps = {name: step for name, step in self._together().items() if name in linear}
        try:
            beside = self.moved(steps).numbers if steps else self.numbers
        except UsageError:
            return nothing
        moved = dict(zip(self.p, self.p.values_array - base.x, strict=True))
        far = float(np.abs(np.array(list(moved.values())) / self.p.sizes).max())
        for kind, (x, other, unit) in enumerate(zip(self.numbers, beside, self._units, strict=True)):
            told, further = (
                start + sum(d * base.slopes[name][kind] for name, d in change.items())
                for start, change in ((base.numbers[kind], moved), (x, steps))
            )
            off = (np.abs(x - told) > (TOLD * far + ROUNDING) * unit) & ~base.bent[kind]
            off |= np.abs(other - further) > (2.0 * TOLD * TOGETHER + ROUNDING) * unit
            if kind == 0:
                off[self._frozen] = False
            if off.any():
                return nothing
        return frozenset(linear)

    @cached_property
    def _frozen(self) -> Any:
        """Return which constants of the tables are those of the nominal model in all others, see `rebuilt`."""
        found = np.zeros(len(self.numbers[0]), dtype=bool)
        for frozen in FROZEN:
            start, rows, columns = self.model.tables.place(frozen)
            found[start : start + rows * columns] = True
        return found

    def _together(self) -> dict[str, float]:
        """Return steps of all parameters at once, by different parts of their sizes, so that nothing cancels."""
        return {name: TOGETHER * (1.0 + (k * GOLDEN) % 1.0) * self.p.part(name).size for k, name in enumerate(self.p)}

    def for_the_next(self) -> Known | None:
        """Return what this design tells of one at other values; None if it does not know what is linear."""
        if self._bent is None or not self.is_whole:
            return None
        return Known(self.p.values_array, self.numbers, self.all_slopes, self._bent)

    @cached_property
    def _units(self) -> Numbers:
        """Return of each number the largest of its kind, at least."""
        reals = np.ones(len(self.numbers[0]))
        for name in ("INERTIA", "GRAVITY", "X_BAR", "ROW_REALS", "FORCE_REALS", "DRIVER_NUMBERS", "FRICTION_REALS"):
            start, rows, columns = self.model.tables.place(name)
            if not rows * columns:
                continue
            part = np.abs(self.model.tables[name])
            most = np.broadcast_to(part.max(axis=0) if name == "INERTIA" else part, part.shape)
            reals[start : start + rows * columns] = np.maximum(most, most.max() * 1e-3 + 1e-30).ravel()
        one, two, three = (np.maximum(np.abs(x), 1.0) for x in self.numbers[1:])
        return reals, one, two, three

    def _slopes_of(self, name: str) -> Numbers:
        plus = self.plus(name)
        slopes = [(high - x) / plus.step for high, x in zip(plus.numbers, self.numbers, strict=True)]
        bends = self._bends(plus)
        if bends and self.is_rough:
            self.was_rough = True
        elif bends:
            plus, minus = self.sides(name)
            pairs = zip(plus.numbers, minus.numbers, strict=True)
            slopes, curved = [(high - low) / (plus.step - minus.step) for high, low in pairs], self._curvature(plus, minus)
            if curved > CURVED:
                slopes = self._fourth_order(name, slopes, curved) or self._sixth_order(name, curved)
        slopes[0][self._frozen] = 0.0
        size = self.p.part(name).size
        self._need_entry(name, plus, slopes)
        for dx, unit in zip(slopes, self._units, strict=True):
            dx[np.abs(dx) * size <= NOTHING * unit / STEP * 1e-2] = 0.0
        return slopes[0], slopes[1], slopes[2], slopes[3]

    @cached_property
    def _bent(self) -> list[Any] | None:
        """Return which numbers are not linear in the parameters, by kind: all of them move at once, by different parts of their sizes.

        None if this is not known: few parameters, or no model there.
        """
        if self.known is not None and self._told:
            return list(self.known.bent)
        if len(self.p) < (1 if self.remembers else FEW):
            return None
        steps = self._together()
        try:
            ends = [self.moved({name: sign * step for name, step in steps.items()}).numbers for sign in (1.0, -1.0)]
        except UsageError:
            return None
        return [
            np.abs(high - 2.0 * x + low) > LINEAR * unit
            for x, high, low, unit in zip(self.numbers, *ends, self._units, strict=True)
        ]

    def _bends(self, plus: Variation) -> bool:
        """Return whether a parameter moves a number that is not linear, so that a difference on one side is not enough."""
        if self._bent is None:
            return True
        return any(bool((bent & (high != x)).any()) for bent, high, x in zip(self._bent, plus.numbers, self.numbers, strict=True))

    def _need_entry(self, name: str, plus: Variation, slopes: Sequence[Array]) -> None:
        """Raise UsageError for a parameter that enters nothing."""
        enters = self._moves(slopes, self.p.part(name).size) or contact_numbers(plus.model) != contact_numbers(self.model)
        later = self.calls_python or plus.arguments or self.built.arguments or self.model.parts is not None  # see `read_outputs`
        if not (enters or later) and plus.outputs == self.outputs:
            raise UsageError(
                f"parameter {name!r} enters nothing: no number of the model, of its modelled state or of the outputs changes with it. "
                "Leave it out, or use it in build(...)."
            )

    def _moves(self, slopes: Sequence[Array], size: float) -> bool:
        """Return whether derivatives of the numbers are more than rounding."""
        return any(bool((np.abs(dx) * size > NOTHING * unit / STEP).any()) for dx, unit in zip(slopes, self._units, strict=True))

    def enters(self, name: str) -> bool:
        """Return whether a number of the model changes with a parameter."""
        moves = self._moves(self.all_slopes[name], self.p.part(name).size)
        return moves or contact_numbers(self.plus(name).model) != contact_numbers(self.model)

    def _curvature(self, plus: Variation, minus: Variation) -> float:
        """Return the largest second difference of the numbers, relative to those of their kind."""
        largest = 0.0
        for x, high, low, unit in zip(self.numbers, plus.numbers, minus.numbers, self._units, strict=True):
            largest = max(largest, float((np.abs(high - 2.0 * x + low) / unit).max(initial=0.0)))
        return largest

    def _fourth_order(self, name: str, slopes: list[Array], curved: float) -> list[Array] | None:
        """Return derivatives of fourth order from those at STEP and at a step that is WIDER; None where the two tell of no smooth number.

        The difference of both is WIDER^2 - 1 times the error at STEP.
        """
        size = self.p.part(name).size
        high, low = (self.variation(name, sign * WIDER * STEP * size) for sign in (1.0, -1.0))
        if curved * WIDER**1.5 > self._curvature(high, low):
            return None  # as at a kink
        found = []
        for x, a, b, unit in zip(slopes, high.numbers, low.numbers, self._units, strict=True):
            error = ((a - b) / (high.step - low.step) - x) / (WIDER**2 - 1.0)
            if (np.abs(error) * size > SMOOTH * (unit + size * np.abs(x).max(initial=0.0))).any():
                return None
            found.append(x - error)
        return found

    def _sixth_order(self, name: str, curved: float) -> list[Array]:
        """Return derivatives of sixth order. Raise UsageError if those at two steps do not agree, or the curvature grows without bound.

        curved: the second difference at STEP
        """
        sums, size = list[list[Array]](), self.p.part(name).size
        kink = False
        for relative in SIXTH_STEPS:
            step, total = relative * size, [np.zeros_like(x) for x in self.numbers]
            for k, weight in SIXTH:
                sides = self.variation(name, k * step), self.variation(name, -k * step)
                for part, high, low in zip(total, sides[0].numbers, sides[1].numbers, strict=True):
                    part += weight * (high - low) / step
                if k == 1:  # curvature falls like the square of the step where numbers are smooth, like the step at a kink
                    kink |= curved * (relative / STEP) ** 1.5 > self._curvature(*sides)
            sums.append(total)
        for a, b, unit in zip(*sums, self._units, strict=True):
            kink |= bool((np.abs(a - b) * size > AGREE * (unit + size * np.abs(a).max(initial=0.0))).any())
        if kink:
            raise UsageError(
                f"parameter {name!r}: the numbers of the model have no derivative at {self.p[name]!r}; differences at several steps do not "
                "agree. A kink of build(...), such as abs, max or a rounding, is at this value: move the value, or smooth it."
            )
        return sums[1]

    @cached_property
    def lanes(self) -> Lanes:
        """Return the derivatives of the constants as kernels read them."""
        first, place, slope = _sparse([self.slopes[name][0] for name in self.p])
        driver_first, driver_place, driver_slope = _sparse([self.slopes[name][1] for name in self.p])
        F0 = np.ascontiguousarray(driver_constants(self.model))
        return Lanes(first, place, slope, driver_first, driver_place, driver_slope, F0)

    def dual_packs(self, law: Law = NO_LAW) -> list[tuple[slice, DualPack]]:
        """Return a workspace in duals for each LANES of the parameters, with the derivatives of its constants;  law: that holds in it"""
        return [self._dual_pack(first, law) for first in range(0, len(self.p), LANES)]

    def _dual_pack(self, first: int, law: Law) -> tuple[slice, DualPack]:
        """Return the workspace of the parameters from `first`, and which they are."""
        names, pack = list(self.p)[first : first + LANES], NewtonEuler().pack(self.model)
        law.hold(self.model, pack)
        callback = None
        if self.calls_python:
            sides = [(plus.model.callback(), minus.model.callback(), plus.step) for plus, minus in map(self.sides, names)]
            shapes = ((len(self.model.y0),), *(workspace_array(pack, name).shape for name in ("SIGNALS", "F", "Q_USER")))
            callback = DualCallback(pack.callback, sides, shapes)
        return slice(first, first + len(names)), self._with_slopes(dual_pack(pack, callback), names)

    def implicit_packs(self) -> list[tuple[slice, DualPack, Pack]]:
        """Return the same workspaces with the tables of implicit steps, and the real one of each."""
        found, tables = [], implicit_tables(self.model, False)
        for first in range(0, len(self.p), LANES):
            names, pack = list(self.p)[first : first + LANES], self.model.pack(tables)
            found.append((slice(first, first + len(names)), self._with_slopes(dual_pack(pack), names), pack))
        return found

    def _with_slopes(self, own: DualPack, names: Sequence[str]) -> DualPack:
        """Write the derivatives of constants by some parameters to a workspace in duals, whose matrices may stand elsewhere."""
        tables, places = self.model.tables, [(name, place_in(own.ints, name)) for name in REALS]
        start, rows, columns = place_in(own.ints, "F")
        for lane, name in enumerate(names):
            reals, drivers, _ = self.slopes[name]
            for matrix, (there, m, n) in places:
                here = tables.place(matrix)[0]
                tangents_of(own.reals)[there : there + m * n, lane] = reals[here : here + m * n]
            tangents_of(own.work)[start : start + rows * columns, lane] = drivers
        return own

    def mass_slopes(self, name: str) -> Array:
        """Return the derivatives of the masses of all bodies by a parameter, (nb + 1,)."""
        start, rows, columns = self.model.tables.place("INERTIA")
        slopes: Array = self.slopes[name][0][start : start + rows * columns].reshape(rows, columns)[:, 0]
        return slopes

    @cached_property
    def start(self) -> Array:
        """Return the derivatives of the modelled state, (n, ny)."""
        return np.array([self.slopes[name][2] for name in self.p])


class Piece(Design):
    """A design with the model of one structure of its motion: contacts that are closed, parts that are on.

    whole: the design itself;  varied: the model of this structure of a varied model;  numbers that enter are those of the whole
    """

    is_whole = False

    def __init__(self, whole: Design, model: Model, varied: Callable[[Variation], Model]) -> None:
        self.whole, self._varied = whole, varied
        self.build, self.p, self._names, self.triads, self.built = whole.build, whole.p, whole.names, whole.triads, whole.built
        self.model, self.outputs, self._sides, self._plus, self._outputs_at = model, whole.outputs, {}, {}, {}

    def moved(self, steps: Mapping[str, float]) -> Variation:
        side = self.whole.moved(steps)
        return Variation(self._of(next(iter(steps)), side), side.step, side.arguments, side.outputs)

    def plus(self, name: str) -> Variation:
        return self.sides(name)[0]

    def sides(self, name: str) -> tuple[Variation, Variation]:
        if name not in self._sides:
            plus, minus = (Variation(self._of(name, s), s.step, s.arguments, s.outputs) for s in self.whole.sides(name))
            self._sides[name] = plus, minus
        return self._sides[name]

    def _of(self, name: str, side: Variation) -> Model:
        """Return the model of the structure. Raise UsageError if it has another one beside the value."""
        model = self._varied(side)
        if not np.array_equal(model.tables.ints, self.model.tables.ints):
            raise UsageError(
                f"parameter {name!r}: the structure of the model changes within the run: other bodies, joints, rows or loads."
            )
        return model

    def _need_entry(self, name: str, plus: Variation, slopes: Sequence[Array]) -> None:
        """Let a parameter enter another structure than this one."""


def contact_numbers(model: Model) -> list[list[float]]:
    """Return the numbers of rigid contacts and stops: the restitution, the limit, and the places."""
    placed = [contact.placed(model) for contact in rigid_contacts(model) if contact.is_plain]
    gaps = placed_contacts(placed).gaps(np.array(model.y0)[None])[0].tolist() if placed else []
    return [*map(_flat, placed), gaps]


def _flat(placed: Any) -> list[float]:
    """Return the numbers of a placed contact."""
    arrays = [np.ravel(x) for x in placed if isinstance(x, float | np.ndarray)]
    return np.concatenate(arrays).tolist() if arrays else []


def _sparse(lines: list[Array]) -> tuple[Ints, Ints, Array]:
    """Return the entries of lines that are not zero: the first of each line, places and values."""
    places = [np.flatnonzero(line) for line in lines]
    first = np.concatenate([[0], np.cumsum([len(k) for k in places])]).astype(np.int64)
    return first, np.concatenate(places).astype(np.int64), np.concatenate([x[k] for x, k in zip(lines, places, strict=True)])


def arguments_of(built: Built, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the run: those of build(...), and those of the call."""
    return built.arguments | dict(given)
