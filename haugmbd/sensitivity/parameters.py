"""Parameters of a design: named numbers with bounds, the systems that are built of them, and their models.

    Parameters(length=0.4, k=Parameter(120.0, lower=0.0, unit="N/m", sd=2.0))         arguments of a function build(length, k)
    Parameters({"link.mass": 2.0, "pin.point[0]": 0.1})                               paths of a System, as of a batch

A function may move many things with one parameter: a length moves points, centres of mass and initial rates together.

A nominal model is compiled and checked as any other.  A varied one has the same parts with other numbers: it is built without checks, in
tables of the same structure, with the dependent rows and the measures of length of the nominal one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from math import isfinite
from typing import Any

import numpy as np

from haugmbd.batches.parameters import GRAVITY, named_parameters, variables_of
from haugmbd.batches.parameters import Parameter as PathParameter
from haugmbd.batches.parameters import read_parameters as read_paths
from haugmbd.batches.variant import variant_system
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.drivers import compile_drivers
from haugmbd.drivers.autodiff.tape import constants_apart
from haugmbd.drivers.functions import PythonDriver as UserFunctionDriver
from haugmbd.errors import ModelError, UsageError, naming
from haugmbd.formulations.error_messages import explain
from haugmbd.model.compiling.numbering import numbered_by_origin
from haugmbd.model.inspection.run_memory import need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.sensitivity.paths import numbers_of, put_component, system_with, unknown_path
from haugmbd.system.rebuilt import rebuilt_in_part
from haugmbd.system.system import System
from haugmbd.workspace.layout import Pack

__all__ = ["PathParameter", "UserFunctionDriver", "read_paths"]


def nominal_model(system: System) -> Model:
    """Return the checked model of a system, with tables that keep their structure when a parameter changes."""
    with numbered_by_origin(), constants_apart():
        return system.compile()


def varied_model(system: System, nominal: Model) -> Model:
    """Return the model of the same parts with other numbers; raise for faults, and if its tables have another structure."""
    try:
        with (
            numbered_by_origin(),
            constants_apart(),
            np.errstate(invalid="ignore"),
        ):  # numbers that are not valid make others not finite
            model = rebuilt_in_part(system, nominal, nominal.solver)
    except UsageError:  # without its rows that are not valid a model may need another solver
        _need_sound_parts(system)
        raise
    same = np.array_equal(model.tables.ints, nominal.tables.ints) and _off(model) == _off(nominal)
    if not (same and np.isfinite(model.tables.reals).all() and np.isfinite(model.y0).all()):
        _need_sound_parts(system)
        raise UsageError("the structure of the model changes: other bodies, joints, rows or loads")
    return model


def _need_sound_parts(system: System) -> None:
    """Raise ModelError with the faults of parts, each by itself."""
    parts: tuple[Any, ...] = (*system.bodies, *system.joints, *system.loads, *system.contacts, *system.blocks)
    faults = tuple(fault for part in parts for fault in part.faults())
    if faults:
        raise ModelError(faults)


def _off(model: Model) -> frozenset[str]:
    """Return the names of the parts that are off."""
    names: frozenset[str] = frozenset() if model.parts is None else model.parts.structure.off
    return names


def driver_constants(model: Model) -> Array:
    """Return f, f', f'' (nd, 3) of the constant drivers."""
    F0: Array = compile_drivers(model.drivers).F0
    return F0


def failure(model: Model, pack: Pack, code: int, t: float) -> Exception:
    """Return the error for a status code of a kernel;  pack: its workspace, also in duals"""
    if pack.work.dtype.names is not None:
        reals, work = (np.array(duals["value"]) for duals in (pack.reals, pack.work))  # type: ignore[call-overload]
        pack = Pack(pack.ints, reals, work, *pack[3:])
    model.raise_user_error(pack)
    return explain(model, pack, code, t)


def calls_python(model: Model) -> Any:
    """Return whether functions of the user, or blocks, are called in every evaluation."""
    return model.force_callbacks.any


SIZE_OF_ZERO = 0.1
"""Size of a parameter whose value is 0, and that has no standard deviation or bounds: steps of differences are relative to it."""

COMPONENT = re.compile(r"(?P<path>.+?)\[(?P<index>[\d,\s]+)\]")
"""One number of an array: "pin.point[0]", "link.J_bar[1,1]"."""


@public_class
@dataclass(frozen=True)
class Parameter:
    """A number of a design.

    Parameters
    ----------
    value : float
        Its value.
    lower, upper : float
        Bounds for fits and optima; by default none.
    unit : str
        Its unit, for tables.
    sd : float, optional
        Standard deviation of its scatter, for `tolerances`; positive.

    Raises
    ------
    UsageError
        If a number is not finite, the value is outside the bounds, or sd is not positive.
    """

    value: float
    lower: float = -np.inf
    upper: float = np.inf
    unit: str = ""
    sd: float | None = None

    def __post_init__(self) -> None:
        for name in ("value", "lower", "upper", "sd"):
            given = getattr(self, name)
            if given is None and name == "sd":
                continue
            try:
                number = float(given)
            except (TypeError, ValueError):
                raise UsageError(f"Parameter: {name} = {given!r} must be a number.") from None
            object.__setattr__(self, name, number)
        if not isfinite(self.value):
            raise UsageError(f"Parameter: value = {self.value} must be finite.")
        if not self.lower <= self.value <= self.upper or self.lower == self.upper:
            raise UsageError(
                f"Parameter: value = {self.value:g} must be within lower = {self.lower:g} and upper = {self.upper:g}, which differ."
            )
        if self.sd is not None and not (isfinite(self.sd) and self.sd > 0.0):
            raise UsageError(f"Parameter: sd = {self.sd} must be positive: the standard deviation of the value.")

    @property
    def size(self) -> float:
        """Return the size to which steps and scales are relative: |value|, or for 0 the standard deviation, or the width of bounds."""
        if self.value != 0.0:
            return abs(self.value)
        if self.sd is not None:
            return self.sd
        width = self.upper - self.lower
        return width if isfinite(width) else SIZE_OF_ZERO


@public_class
class Parameters(Mapping[str, float]):
    """Named numbers of a design, in their order: a mapping of names to values.

    Parameters
    ----------
    paths : mapping of str to float or Parameter, optional
        Parameters whose names are no identifiers: paths of a System, such as {"link.mass": 2.0}.
    **numbers : float or Parameter
        Parameters by name.

    Raises
    ------
    UsageError
        If a value is not a number or Parameter, a name is given twice, or there is no parameter.
    """

    def __init__(self, paths: Mapping[str, Any] | None = None, /, **numbers: Any) -> None:
        if paths is not None and not isinstance(paths, Mapping):
            raise UsageError(f"Parameters: {paths!r:.60} must be a dict of numbers by paths, such as {{'link.mass': 2.0}}.")
        values = dict(paths or {})
        twice = sorted(values.keys() & numbers.keys())
        if twice:
            raise UsageError(f"Parameters: {', '.join(map(repr, twice))} are given twice.")
        values |= numbers
        if not values:
            raise UsageError("Parameters: give at least one number, such as Parameters(length=0.4).")
        self._parts = {str(name): x if isinstance(x, Parameter) else _number(name, x) for name, x in values.items()}

    def __getitem__(self, name: str) -> float:
        """Return the value of a parameter."""
        return self._parts[name].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(f'{name}={part.value:g}' for name, part in self._parts.items())})"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names."""
        return tuple(self._parts)

    @property
    def values_array(self) -> Array:
        """Return the values, (n,)."""
        return np.array([part.value for part in self._parts.values()])

    @property
    def sizes(self) -> Array:
        """Return what steps and scales are relative to, (n,), see `Parameter.size`."""
        return np.array([part.size for part in self._parts.values()])

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper bounds, (n,) each."""
        return np.array([part.lower for part in self._parts.values()]), np.array([part.upper for part in self._parts.values()])

    def part(self, name: str) -> Parameter:
        """Return a parameter with its bounds."""
        return self._parts[name]

    def at(self, x: Array) -> Parameters:
        """Return the same parameters with other values (n,)."""
        changed = {}
        for (name, part), value in zip(self._parts.items(), np.asarray(x, dtype=np.float64), strict=True):
            inside = float(min(max(value, part.lower), part.upper))
            changed[name] = Parameter(inside, part.lower, part.upper, part.unit, part.sd)
        return Parameters(changed)


def _number(name: str, x: Any) -> Parameter:
    """Return a parameter without bounds for a number."""
    try:
        return Parameter(float(x))
    except (TypeError, ValueError):
        raise UsageError(f"Parameters: {name!r} is {x!r:.60}, and must be a number or a Parameter.") from None


def as_parameters(parameters: Any) -> Parameters:
    """Return Parameters for Parameters, or for a mapping of numbers."""
    if isinstance(parameters, Parameters):
        return parameters
    if isinstance(parameters, Mapping):
        return Parameters(parameters)
    raise UsageError(f"parameters = {parameters!r:.60} must be mbd.Parameters(...), or a dict of numbers by name.")


class Built:
    """A system of given values, with the arguments of the run that depend on them."""

    def __init__(self, given: Any) -> None:
        system, arguments = given if isinstance(given, tuple) and len(given) == 2 else (given, {})  # noqa: PLR2004
        if not isinstance(system, System):
            raise UsageError(f"build(...) returned {system!r:.60}, and must return a System, or (System, arguments of the run).")
        if not isinstance(arguments, Mapping):
            raise UsageError(f"build(...) returned arguments {arguments!r:.60}, which must be a dict, such as {{'events': [...]}}.")
        self.system, self.arguments = system, dict(arguments)


Builder = Callable[[Mapping[str, float]], Built]


def builder_of(system: Any, p: Parameters) -> Builder:
    """Return the function that builds the system of given values: a function build(**p), or a System whose paths vary."""
    if isinstance(system, System):
        return _by_paths(system, p)
    if isinstance(system, Model):
        raise UsageError(
            "give the System, or a function that builds it, in place of the Model: parameters change what is compiled."
        )
    if not callable(system):
        raise UsageError(f"{system!r:.60} must be a System, or a function build(**parameters) that returns one.")
    _need_arguments(system, p)

    def build(values: Mapping[str, float]) -> Built:
        with naming(f"build({', '.join(f'{name}={value!r}' for name, value in values.items())})"):
            made = system(**values)
        return Built(made)

    return build


def _need_arguments(build: Callable[..., Any], p: Parameters) -> None:
    """Raise UsageError if a function does not take the parameters, or needs others."""
    try:
        asked = signature(build)
    except (TypeError, ValueError):  # of a built-in function nothing is known
        return
    try:
        asked.bind(**p)
    except TypeError as error:
        raise UsageError(
            f"build{asked} cannot be called with the parameters {', '.join(p)}: {error}. Each parameter is an argument by its name."
        ) from None


def _by_paths(system: System, p: Parameters) -> Builder:
    """Return the function that gives parts of a system the values of paths: those of a batch, or numbers of any part, see `paths`."""
    model = nominal_model(system)
    of_batch = variables_of(model)
    paths = {path_of(name, of_batch) for name in p}
    if not system.inactive and all(path in of_batch and _has_value(of_batch[path]) for path in paths):
        return by_paths(model)  # a model knows the parts that are on
    numbers = numbers_of(system, model)
    for name in p:
        path, index = (name, ()) if name in numbers else component(name)
        if path not in numbers:
            raise UsageError(f"parameters: {unknown_path(system, path, numbers)}.")
        _need_number(name, numbers[path].value, index)
    same = varied_model(system_with(system, model, {}, numbers), model)
    if not all(np.array_equal(a, b) for a, b in ((same.tables.reals, model.tables.reals), (same.y0, model.y0))):
        raise UsageError(
            f"system {system.name!r}: arrays that parts were made of have changed since, so that paths of their arguments are not known: "
            "give a function that builds the system."
        )

    def build(values: Mapping[str, float]) -> Built:
        arrays: dict[str, Array] = {}
        for name, value in values.items():
            path, index = (name, ()) if name in numbers else component(name)
            put_component(path, arrays.setdefault(path, numbers[path].value.copy()), index, value)
        return Built(system_with(system, model, arrays, numbers))

    return build


def _has_value(variable: Any) -> bool:
    """Return whether the part of a variable keeps its value."""
    return variable.part is None or hasattr(variable.part, variable.name)


def path_of(name: str, known: Mapping[str, Any]) -> str:
    """Return the path of a parameter: its name, without the index of one number of an array."""
    return name if name in known else component(name)[0]


def _need_number(name: str, value: Array, index: tuple[int, ...]) -> None:
    """Raise UsageError unless an index is that of one number of an array."""
    try:
        whole = np.ndim(value[index]) > 0
    except IndexError:
        whole = True
    if whole:
        what = f"shape {value.shape}" if value.ndim else "one number"
        raise UsageError(f"parameters: {name!r} has {what}: give the index of one number, such as {component(name)[0] + '[0]'!r}.")


def by_paths(model: Model) -> Builder:
    """Return the function that gives parts of the system of a model the values of paths that exist."""
    need_no_freewheels(model, "a study of parameters")
    known = variables_of(model)

    def build(values: Mapping[str, float]) -> Built:
        arrays: dict[str, Any] = {}
        for name, value in values.items():
            if name in known and name not in arrays:
                arrays[name] = np.array(float(value))
            else:
                path, index = component(name)
                put_component(path, arrays.setdefault(path, present(model, known[path])), index, value)
        read: tuple[PathParameter, ...] = read_paths(model, {path: x[None] for path, x in arrays.items()}, 1, "sensitivity")
        return Built(variant_system(model, read, 0))

    return build


def component(name: str) -> tuple[str, tuple[int, ...]]:
    """Return the path and the index of "path[index]"."""
    match = COMPONENT.fullmatch(name)
    return (match["path"], tuple(int(k) for k in match["index"].split(","))) if match else (name, ())


def present(model: Model, variable: Any) -> Array:
    """Return the value of an array that a system has, writable.  Raise UsageError for one that its part does not keep."""
    if variable.part is None:
        return np.array(model.gravity if variable.name == GRAVITY else named_parameters(model)[variable.name], dtype=np.float64)
    if not hasattr(variable.part, variable.name):
        raise UsageError(
            f"{variable.part.name}.{variable.name} of this {type(variable.part).__name__} is given by frames on its bodies, so that it has "
            "no value to start from: give a function that builds the system of it."
        )
    return np.array(getattr(variable.part, variable.name), dtype=np.float64)
