r"""The models of varied parameters, and the derivatives of their numbers.

    dx/dp = (x(p + s) - x(p - s)) / (2 s)        x: tables of the compiled model, constant drivers, modelled state;  s = 1e-5 |p|

Nothing is integrated in these differences: they are of the building of the model alone.  The second difference says whether x is smooth
on this scale.  If it is not small, the derivative is of sixth order, and taken at two steps, which must agree: at a kink they do not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from haugmbd.bodies.frame import TriadChoices
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.scalars import LANES
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.formulations.newton_euler import NewtonEuler
from haugmbd.model.inspection.run_memory import need_constant_masses
from haugmbd.model.model import Model
from haugmbd.sensitivity.dual_pack import DualCallback, DualPack, dual_pack, tangents_of
from haugmbd.sensitivity.parameters import (
    Builder,
    Built,
    Parameters,
    calls_python,
    driver_constants,
    nominal_model,
    varied_model,
)
from haugmbd.sensitivity.tangents import Lanes
from haugmbd.simulation.results.named_outputs import Names
from haugmbd.system.rebuilt import FROZEN
from haugmbd.workspace.layout import place_in, workspace_array

STEP = 1e-5
"""Distance of the models on both sides of a parameter, relative to its size: the cube root of rounding."""
CURVED = 1e-9
"""Second difference, relative to the largest number of its kind, above which two points are not trusted: of a smooth number it is
STEP^2 = 1e-10, at a kink STEP = 1e-5."""
SIXTH, SIXTH_STEPS = ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0)), (1e-3, 3e-4)
"""Differences of sixth order: points, weights and two steps, relative to the parameter."""
AGREE = 1e-6
"""Relative difference of the derivatives at two steps of a number that is smooth, at most."""
NOTHING = 1e-12
"""Change of all numbers, relative to their sizes and to the change of the parameter, that is rounding: the parameter does not enter."""


class Variation:
    """A model with one parameter moved by `step`, and the names of outputs there."""

    def __init__(self, design: Design, name: str, step: float) -> None:
        values = dict(design.p) | {name: design.p[name] + step}
        try:
            with design.triads.used():
                built = design.build(values)
            self.model = varied_model(built.system, design.model)
        except HaugmbdError as error:
            raise UsageError(
                f"parameter {name!r}: the model of {values[name]!r} in place of {design.p[name]!r} cannot be built: {error} "
                "A derivative needs models on both sides of the value."
            ) from error
        self.step, self.arguments = step, built.arguments
        self.outputs = design.names(values)

    @cached_property
    def numbers(self) -> tuple[Array, Array, Array]:
        """Return the tables, the constant drivers and the modelled state."""
        return self.model.tables.reals, driver_constants(self.model).ravel(), self.model.y0


class Design:
    """A system of nominal values, and its variations."""

    def __init__(self, build: Builder, p: Parameters, names: Names) -> None:
        self.began, self.seconds = time.process_time(), 0.0
        self.build, self.p, self.names = build, p, names
        self.triads = TriadChoices()
        with self.triads.used():
            self.built: Built = build(dict(p))
        self.model: Model = nominal_model(self.built.system)
        need_constant_masses(self.model, "sensitivity")
        self.outputs = names(dict(p))
        self._sides: dict[str, tuple[Variation, Variation]] = {}
        self.calls_python = bool(calls_python(self.model))
        """Whether functions of the user, or blocks, act in every evaluation: they are evaluated for both sides of each parameter."""

    def ran(self) -> None:
        """Note that the model is built, compiled and run: what one run takes."""
        self.seconds = time.process_time() - self.began

    def sides(self, name: str) -> tuple[Variation, Variation]:
        """Return the variations on both sides of a parameter."""
        if name not in self._sides:
            step = STEP * self.p.part(name).size
            self._sides[name] = Variation(self, name, step), Variation(self, name, -step)
        return self._sides[name]

    @cached_property
    def numbers(self) -> tuple[Array, Array, Array]:
        """Return the nominal tables, constant drivers and modelled state."""
        return self.model.tables.reals, driver_constants(self.model).ravel(), self.model.y0

    @cached_property
    def slopes(self) -> dict[str, tuple[Array, Array, Array]]:
        """Return the derivatives of the numbers by each parameter. Raise UsageError for one that enters nothing, or at a kink."""
        return {name: self._slopes_of(name) for name in self.p}

    @cached_property
    def _units(self) -> tuple[Array, Array, Array]:
        """Return of each number the largest of its kind, at least."""
        reals = np.ones(len(self.numbers[0]))
        for name in ("INERTIA", "GRAVITY", "X_BAR", "ROW_REALS", "FORCE_REALS", "DRIVER_NUMBERS", "FRICTION_REALS"):
            start, rows, columns = self.model.tables.place(name)
            if not rows * columns:
                continue
            part = np.abs(self.model.tables[name])
            most = np.broadcast_to(part.max(axis=0) if name == "INERTIA" else part, part.shape)
            reals[start : start + rows * columns] = np.maximum(most, most.max() * 1e-3 + 1e-30).ravel()
        return reals, np.maximum(np.abs(self.numbers[1]), 1.0), np.maximum(np.abs(self.numbers[2]), 1.0)

    def _slopes_of(self, name: str) -> tuple[Array, Array, Array]:
        plus, minus = self.sides(name)
        pairs = zip(plus.numbers, minus.numbers, strict=True)
        slopes, curved = [(high - low) / (plus.step - minus.step) for high, low in pairs], self._curvature(plus, minus)
        if curved > CURVED:
            slopes = self._sixth_order(name, curved)
        for frozen in FROZEN:
            start, rows, columns = self.model.tables.place(frozen)
            slopes[0][start : start + rows * columns] = 0.0
        size, enters = self.p.part(name).size, self._moves(slopes, self.p.part(name).size)
        if not (enters or self.calls_python or plus.arguments or self.built.arguments) and plus.outputs == self.outputs:
            raise UsageError(
                f"parameter {name!r} enters nothing: no number of the model, of its modelled state or of the outputs changes with it. "
                "Leave it out, or use it in build(...)."
            )
        for dx, unit in zip(slopes, self._units, strict=True):
            dx[np.abs(dx) * size <= NOTHING * unit / STEP * 1e-2] = 0.0
        return slopes[0], slopes[1], slopes[2]

    def _moves(self, slopes: Sequence[Array], size: float) -> bool:
        """Return whether derivatives of the numbers are more than rounding."""
        return any(bool((np.abs(dx) * size > NOTHING * unit / STEP).any()) for dx, unit in zip(slopes, self._units, strict=True))

    def enters(self, name: str) -> bool:
        """Return whether a number of the model changes with a parameter."""
        return self._moves(self.slopes[name], self.p.part(name).size)

    def _curvature(self, plus: Variation, minus: Variation) -> float:
        """Return the largest second difference of the numbers, relative to those of their kind."""
        found = 0.0
        for x, high, low, unit in zip(self.numbers, plus.numbers, minus.numbers, self._units, strict=True):
            found = max(found, float((np.abs(high - 2.0 * x + low) / unit).max(initial=0.0)))
        return found

    def _sixth_order(self, name: str, curved: float) -> list[Array]:
        """Return derivatives of sixth order. Raise UsageError if those at two steps do not agree, or the curvature grows without bound.

        curved: the second difference at STEP
        """
        found, size = list[list[Array]](), self.p.part(name).size
        kink = False
        for relative in SIXTH_STEPS:
            step, total = relative * size, [np.zeros_like(x) for x in self.numbers]
            for k, weight in SIXTH:
                sides = Variation(self, name, k * step), Variation(self, name, -k * step)
                for part, high, low in zip(total, sides[0].numbers, sides[1].numbers, strict=True):
                    part += weight * (high - low) / step
                if k == 1:  # curvature falls like the square of the step where numbers are smooth, like the step at a kink
                    kink |= curved * (relative / STEP) ** 1.5 > self._curvature(*sides)
            found.append(total)
        for a, b, unit in zip(*found, self._units, strict=True):
            kink |= bool((np.abs(a - b) * size > AGREE * (unit + size * np.abs(a).max(initial=0.0))).any())
        if kink:
            raise UsageError(
                f"parameter {name!r}: the numbers of the model have no derivative at {self.p[name]!r}; differences at several steps do not "
                "agree. A kink of build(...), such as abs, max or a rounding, is at this value: move the value, or smooth it."
            )
        return found[1]

    @cached_property
    def lanes(self) -> Lanes:
        """Return the derivatives of the constants as kernels read them."""
        first, place, slope = _sparse([self.slopes[name][0] for name in self.p])
        driver_first, driver_place, driver_slope = _sparse([self.slopes[name][1] for name in self.p])
        F0 = np.ascontiguousarray(driver_constants(self.model))
        return Lanes(first, place, slope, driver_first, driver_place, driver_slope, F0)

    def dual_packs(self) -> list[tuple[slice, DualPack]]:
        """Return a workspace in duals for each LANES of the parameters, with the derivatives of its constants."""
        return [self._dual_pack(first) for first in range(0, len(self.p), LANES)]

    def _dual_pack(self, first: int) -> tuple[slice, DualPack]:
        """Return the workspace of the parameters from `first`, and which they are."""
        names, pack = list(self.p)[first : first + LANES], NewtonEuler().pack(self.model)
        callback = None
        if self.calls_python:
            sides = [(plus.model.callback(), minus.model.callback(), plus.step) for plus, minus in map(self.sides, names)]
            shapes = ((len(self.model.y0),), *(workspace_array(pack, name).shape for name in ("SIGNALS", "F", "Q_USER")))
            callback = DualCallback(pack.callback, sides, shapes)
        own = dual_pack(pack, callback)
        start, rows, columns = place_in(pack.ints, "F")
        for lane, name in enumerate(names):
            reals, drivers, _ = self.slopes[name]
            tangents_of(own.reals)[: len(reals), lane] = reals
            tangents_of(own.work)[start : start + rows * columns, lane] = drivers
        return slice(first, first + len(names)), own

    def mass_slopes(self, name: str) -> Array:
        """Return the derivatives of the masses of all bodies by a parameter, (nb + 1,)."""
        start, rows, columns = self.model.tables.place("INERTIA")
        slopes: Array = self.slopes[name][0][start : start + rows * columns].reshape(rows, columns)[:, 0]
        return slopes

    @cached_property
    def start(self) -> Array:
        """Return the derivatives of the modelled state, (n, ny)."""
        return np.array([self.slopes[name][2] for name in self.p])


def _sparse(lines: list[Array]) -> tuple[Ints, Ints, Array]:
    """Return the entries of lines that are not zero: the first of each line, places and values."""
    places = [np.flatnonzero(line) for line in lines]
    first = np.concatenate([[0], np.cumsum([len(k) for k in places])]).astype(np.int64)
    return first, np.concatenate(places).astype(np.int64), np.concatenate([x[k] for x, k in zip(lines, places, strict=True)])


def arguments_of(built: Built, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the run: those of build(...), and those of the call."""
    return built.arguments | dict(given)
