r"""Inputs of a mechanism: numbers of force elements and of drivers that are held until they are set again.

    force element    f = u                                                        each of its numbers has a driver of its own
    driven joint     f = f_0 + f'_0 (t - t_0) + u (t - t_0)^2 / 2                 u = f'': angle and rate go on, so that no velocity jumps

A constant of a model is shared by all that have the same value: an input is no `Constant`, and has its own place in the tables. The model
with inputs is compiled from the parts of the given one, with other values in the places of the inputs, and has the same bits elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.bodies.part import changed
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import did_you_mean
from haugmbd.drivers import Constant, Driver
from haugmbd.drivers.autodiff.tape import trace
from haugmbd.drivers.program import CONSTANT, FIRST, INDEX, Program, tape_program
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.forces.user_function import Value
from haugmbd.model.model import Model
from haugmbd.system.system import System
from haugmbd.text_table import first_few
from haugmbd.workspace.layout import Pack, place_in

LISTED = 30
"""Names in a message."""


class HeldNumber(Driver):
    """A number of a force element, held until it is set again.  held: (1,), part of the values of all inputs."""

    def __init__(self, value: float) -> None:
        self.held = np.array([value])

    @property
    def value(self) -> float:
        """Return the number that is held now."""
        return float(self.held[0])

    def values(self, t: ArrayLike) -> Array:
        """Return (value, 0, 0) at every t."""
        F = np.zeros((*np.shape(t), 3))
        F[..., 0] = self.value
        return F

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault."""
        return ()

    def program(self) -> Program:
        """Return the number as a program."""
        return Program(CONSTANT, value=self.value)

    def __str__(self) -> str:
        """Return what it is."""
        return "an input"


PROBES = (0.7368062997, 1.3190837465, 2.9187364519, 5.1327645981)
"""Four numbers that differ, in place of t_0, f_0, f'_0 and f'' / 2 while the polynomial is recorded: a tape stores equal ones once."""


class HeldAcceleration(Driver):
    """The driver of a joint whose second derivative is held:  f_0 + f'_0 (t - t_0) + f'' (t - t_0)^2 / 2.

    before: the driver in whose place it is
    coefficients: (4,) t_0 [s], f_0, f'_0, f'' / 2
    """

    def __init__(self, before: Driver) -> None:
        self.before = before
        self.coefficients = np.zeros(4)
        self.begin(0.0)

    def begin(self, t: float) -> None:
        """Go on from the driver in whose place it is, at t [s], without acceleration."""
        f, f_dot, _ = self.before.values(t)
        self.coefficients[:] = t, f, f_dot, 0.0

    def values(self, t: ArrayLike) -> Array:
        """Return f, f', f'' at times t."""
        t_0, f, f_dot, half = self.coefficients
        tau = np.asarray(t, dtype=np.float64) - t_0
        return np.stack([f + tau * (f_dot + tau * half), f_dot + 2.0 * tau * half, 2.0 * half + 0.0 * tau], axis=-1)

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault."""
        return ()

    def program(self) -> Program:
        """Return the polynomial as a tape, with the coefficients as its constants."""
        program = recorded_polynomial()
        constants = program.numbers.copy()
        for probe, coefficient in zip(PROBES, self.coefficients, strict=True):
            constants[program.numbers == probe] = coefficient
        return program._replace(numbers=constants)

    def __str__(self) -> str:
        """Return what it is."""
        return "an input"


@cache
def recorded_polynomial() -> Program:
    """Return the polynomial as a tape, with the probes as its constants."""
    t_0, f, f_dot, half = PROBES
    tape = trace([lambda t: f + (t - t_0) * (f_dot + (t - t_0) * half)])
    assert tape is not None
    return tape_program(tape)


class InputPart(NamedTuple):
    """A part of a model that is an input: its name, its part, the attribute that holds its value, and its values as modelled."""

    name: str
    part: Any
    attribute: str
    start: tuple[float, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of its numbers."""
        n = len(self.start)
        return (self.name,) if n == 1 else tuple(f"{self.name}[{k}]" for k in range(n))


def input_of(part: Any) -> InputPart | None:
    """Return a force element or a driven joint as an input; None if it is none."""
    attributes = vars(part).items()
    if isinstance(part, ForceElement):
        value = part.value()
        names = [name for name, x in attributes if x is value and not name.startswith("_")]
        if part.is_open() or not value.drivers or not names or getattr(part, "curve", None) is not None:
            return None
        start = tuple(driver.value if isinstance(driver, Constant) else 0.0 for driver in value.drivers)
        return InputPart(part.name, part, names[0], start)
    if isinstance(part, Joint) and part.needs() and isinstance(getattr(part, "f", None), Driver):
        return InputPart(part.name, part, "f", (0.0,))
    return None


def inputs_of(model: Model) -> dict[str, InputPart]:
    """Return all that can be an input of a model, by name."""
    parts: Iterable[Any] = (*model.force_elements, *(entry.part for entry in model.joints.values()))
    inputs = [part for part in map(input_of, parts) if part is not None]
    return {part.name: part for part in inputs}


def read_names(given: Any, who: str, what: str) -> tuple[str, ...]:
    """Return names that were given as one text or as several. Raise UsageError for anything else, and for a name that is given twice."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{who}: {what} = {given!r:.80} must be names, such as {what}=['motor'].")
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise UsageError(f"{who}: {what} has {twice[0]!r} more than once.")
    return tuple(names)


def chosen_inputs(model: Model, given: Any, who: str) -> tuple[InputPart, ...]:
    """Return the parts of these names. Raise UsageError, with the names that there are, for others."""
    names, inputs = read_names(given, who, "inputs"), inputs_of(model)
    wrong = [name for name in names if name not in inputs]
    if wrong:
        have = first_few([repr(name) for name in inputs], LISTED) if inputs else "none"
        hint = did_you_mean(wrong[0], inputs)
        exists = wrong[0] in model.joints or any(entry.load.name == wrong[0] for entry in model.loads)
        has = ", which has no number that could be set" if exists else ""
        raise UsageError(
            f"{who}: {wrong[0]!r} is not an input of model {model.name!r}{hint}{has}. Its inputs are {have}: force elements with a force, "
            "torque or actuator, and drivers of joints."
        )
    return tuple(inputs[name] for name in names)


class Inputs:
    """The inputs of one model, which belongs to them alone: their values, and where compiled code reads them.

    names: (m,) of their numbers;  values: (m,);  start: (m,) as modelled
    """

    def __init__(self, parts: Sequence[InputPart], drivers: Sequence[tuple[Driver, ...]], model: Model) -> None:
        self.names = tuple(column for part in parts for column in part.columns)
        self.start = np.array([x for part in parts for x in part.start])
        self.values = self.start.copy()
        self._columns = {}
        at = 0
        for part in parts:
            self._columns[part.name] = slice(at, at + len(part.start))
            at += len(part.start)
        self._columns |= {name: slice(k, k + 1) for k, name in enumerate(self.names)}
        self._model = model
        self._drivers = [driver for of_part in drivers for driver in of_part]
        number = {id(driver): k for k, driver in enumerate(model.drivers)}
        held = [k for k, driver in enumerate(self._drivers) if isinstance(driver, HeldNumber)]
        for k, driver in enumerate(self._drivers):
            if isinstance(driver, HeldNumber):
                driver.held = self.values[k : k + 1]
        self._held = np.array(held, dtype=np.int64)
        self._all_held = len(held) == len(self._drivers)
        self._rows = np.array([number[id(self._drivers[k])] for k in held], dtype=np.int64)
        self._places_in_work: Ints | None = None
        self._moving = [(k, driver) for k, driver in enumerate(self._drivers) if isinstance(driver, HeldAcceleration)]
        self._places = [self._places_of(model, number[id(driver)]) for _, driver in self._moving]

    @staticmethod
    def _places_of(model: Model, driver: int) -> Array:
        """Return the places of t_0, f_0, f'_0 and f'' / 2 of a driver in the constants of a model."""
        constants = recorded_polynomial().numbers
        row = next(row for row in model.tables["DRIVER_TABLE"] if row[INDEX] == driver)
        first = model.tables.place("DRIVER_NUMBERS")[0] + int(row[FIRST])
        return np.array([first + int(np.flatnonzero(constants == probe)[0]) for probe in PROBES], dtype=np.int64)

    def read(self, given: Any, who: str) -> Array:
        """Return values of all inputs, (m,): those that are given, and the others as they are. Raise UsageError for anything else."""
        if given.__class__ is np.ndarray and given.dtype == np.float64 and given.shape == self.values.shape:
            if all(map(isfinite, given.tolist())):
                return given
        elif given.__class__ is float and self.values.shape == (1,) and isfinite(given):
            return np.array([given])
        elif given.__class__ in (list, tuple) and len(given) == len(self.values):
            if all(x.__class__ is float and isfinite(x) for x in given):
                return np.array(given)
        if isinstance(given, Mapping):
            values = self.values.copy()
            for name, value in given.items():
                if name not in self._columns:
                    hint = did_you_mean(name, self._columns)
                    have = first_few([repr(each) for each in self._columns], LISTED)
                    raise UsageError(f"{who}: {name!r} is not one of its inputs{hint}: {have or 'it has none'}.")
                values[self._columns[name]] = self._numbers(value, (values[self._columns[name]].size,), f"{who}: {name!r}")
            return values
        return self._numbers(given, self.values.shape, f"{who}: inputs")

    def _numbers(self, given: Any, shape: tuple[int, ...], what: str) -> Array:
        """Return finite numbers of this shape; one number may stand for an array of one. Raise UsageError for anything else."""
        array = numbers(given)
        if array is not None and array.shape == () and shape == (1,):
            array = array.reshape(1)
        if array is None or array.shape != shape or not np.isfinite(array).all():
            raise UsageError(
                f"{what} = {given!r:.60} must be finite numbers of shape {shape}: {', '.join(self.names) or 'there are none'}."
            )
        return array.astype(np.float64)

    def put(self, pack: Pack, t: float, values: Array) -> None:
        """Hold other values from the time t [s] on."""
        self.values[:] = values
        if len(self._rows):
            held_places = self._place_in(pack)
            pack.work[held_places] = values if self._all_held else values[self._held]
        for (k, driver), places in zip(self._moving, self._places, strict=True):
            f, f_dot, _ = driver.values(t)
            driver.coefficients[:] = t, f, f_dot, 0.5 * values[k]
            pack.reals[places] = driver.coefficients

    def _place_in(self, pack: Pack) -> Ints:
        """Return the places of the held numbers in the workspace of a run."""
        if self._places_in_work is None:
            first, _, columns = place_in(pack.ints, "F")
            self._places_in_work = first + columns * self._rows
        return self._places_in_work

    def restart(self, pack: Pack, t: float) -> None:
        """Hold the values as modelled again, from the time t [s] on."""
        for _, driver in self._moving:
            driver.begin(t)
        self.put(pack, t, self.start)

    def kept(self) -> dict[str, Any]:
        """Return the values, and the polynomials of driven joints, for a pickle."""
        return {"values": self.values.copy(), "moving": [driver.coefficients.copy() for _, driver in self._moving]}

    def restore(self, pack: Pack, kept: Mapping[str, Any]) -> None:
        """Hold the values of another one."""
        self.put(pack, 0.0, kept["values"])
        for (_, driver), places, coefficients in zip(self._moving, self._places, kept["moving"], strict=True):
            driver.coefficients[:] = pack.reals[places] = coefficients

    def keep_in_model(self) -> None:
        """Let all that is computed of the model have the values of now: its constants, and the workspaces that it lends."""
        for (_, driver), places in zip(self._moving, self._places, strict=True):
            self._model.tables.reals[places] = driver.coefficients
        if len(self._rows):
            F0 = np.array(self._model._F0)
            F0[self._rows, 0] = self.values[self._held]
            vars(self._model)["_F0"] = F0
            for name in ("_new_work", "_idle"):
                vars(self._model).pop(name, None)


def model_with_inputs(model: Model, given: Any, who: str) -> tuple[Model, Inputs]:
    """Return the model with inputs of its own, and these; the same model if there are none.

    Raise UsageError for names that are no inputs, and for a driven joint that other parts refer to.
    """
    parts = chosen_inputs(model, given, who)
    if not parts:
        return model, Inputs((), (), model)
    replaced: dict[int, Any] = {}
    drivers: list[tuple[Driver, ...]] = []
    for held_part in parts:
        if isinstance(held_part.part, ForceElement):
            held: tuple[Driver, ...] = tuple(map(HeldNumber, held_part.start))
            replaced[id(held_part.part)] = changed(held_part.part, **{held_part.attribute: Value(held), "jacobian": None})
        else:
            held = (HeldAcceleration(getattr(held_part.part, held_part.attribute)),)
            replaced[id(held_part.part)] = changed(held_part.part, **{held_part.attribute: held[0]})
            _need_alone(model, held_part.part, who)
        drivers.append(held)
    compiled = _recompiled(model, replaced)
    return compiled, Inputs(parts, drivers, compiled)


def _need_alone(model: Model, joint: Joint, who: str) -> None:
    """Raise UsageError if other parts refer to a driven joint: they would go on with the one that it replaces."""
    others: list[Any] = [entry.part for entry in model.joints.values() if any(needed is joint for needed in entry.part.needs())]
    others += [entry.load for entry in model.loads if any(needed is joint for needed in entry.load.needs())]
    if others:
        raise UsageError(f"{who}: {joint.name!r} cannot be an input, because {others[0].name!r} refers to it.")


def _recompiled(model: Model, replaced: Mapping[int, Any]) -> Model:
    """Return the model compiled from its parts, with others in place of some, by their ids."""
    system = System(model.name, gravity=tuple(model.gravity.tolist()))
    system.ground = system.bodies[0] = model.bodies[0]
    system.bodies += model.bodies[1:]
    system.joints += [replaced.get(id(entry.part), entry.part) for entry in model.joints.values()]
    system.loads += [replaced.get(id(entry.load), entry.load) for entry in model.loads]
    system.contacts += model.contacts
    if model.network is not None:
        system.blocks += model.network.blocks
        system.sensors += model.network.scope.sensors.values()
    rule, tolerance = model.redundancy.rule, model.redundancy.given
    compiled = system.compile_quietly(check_pose=True, redundancy=rule, tolerance=tolerance, solver=None)
    if compiled.solver != model.solver:
        compiled = system.compile_quietly(check_pose=True, redundancy=rule, tolerance=tolerance, solver=model.solver)
    return compiled
