"""The cells of a sweep, and what they are compared by: grid, list, random cells, ask and tell; the study and the key of a cell.

{"mass": [1, 2], "length": [3, 4, 5]}      grid: every combination, the last parameter fastest
[{"mass": 1, "length": 3}, ...]            list
RandomCells({"mass": (1, 2)}, n=100)       random: cell k depends on (seed, k, name) alone
AskTell(ask, tell)                         asked for one by one, by an optimizer

study = (build, run, method, seed, version, haugmbd's version, names of the parameters)         key = SHA-256 of study and cell

A function is its name, its code, and the values of all that it reads besides its arguments, at any depth (`content_digest`): two studies
whose functions differ in one of these values are two studies. What is read is kept by name, so that a store of another study says what
differs. A value that cannot be compared is refused, unless `version=` stands for it.

`Variants` are cells of one topology, as the members of a batch are, in place of a function that builds a system for each cell: the model is
compiled once, and a variant is its tables with other numbers where the parameters are numbers in them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import itertools
import json
import math
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.batches.direct_tables import direct_tables, member_model
from haugmbd.batches.parameters import read_parameters
from haugmbd.bodies.validation import numbers
from haugmbd.content_digest import (
    DIGITS,
    PYTHON,
    FileContent,
    NoContent,
    code_digest,
    digest_of,
    files_read,
    text_of_value,
    values_read,
    writes_files,
)
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.simulation.results.io.laws import laws_of


class Variants:
    """The `build` of a sweep over a model: variants(**cell) is the model with the values of the cell, by their paths."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"variants of model {self.model.name!r}"

    def __call__(self, **cell: Any) -> Model:
        parameters = read_parameters(self.model, _columns([cell]), None, "sweep")
        tables = direct_tables(self.model, parameters) if parameters else None
        return member_model(self.model, parameters, tables, 0)

    def check(self, cells: Sequence[Mapping[str, Any]]) -> None:
        """Raise UsageError, with all faults, for paths that the model does not have, and for values of another shape."""
        if cells:
            read_parameters(self.model, _columns(cells), None, "sweep")

    def values(self) -> dict[str, Any]:
        """Return what decides the rows of the cells besides their values, by name: names and numbers of the model, laws of the user."""
        model = self.model
        names = (model.name, model.body_names, tuple(model.joints), tuple(entry.load.where for entry in model.loads))
        found = {"names": names, "numbers of the model": (model.tables.ints, model.tables.reals, model.y0)}
        return found | {f"law of {where}": law for where, law in laws_of(model).items()}


def _columns(cells: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each path, one for each cell."""
    return {path: [cell[path] for cell in cells] for path in cells[0]}


READS = " reads"
"""What `build` and `run` read is kept under "build reads" and "run reads"."""
TEXT = "text"
"""The name of the digest of the code itself among these."""


def digest(text: str) -> str:
    """Return the digest of a text."""
    return digest_of(text)


def study_identity(
    build: Callable[..., Any],
    run: Callable[..., Any],
    method: Any,
    seed: int | None,
    version: str,
    library: str,
    names: list[str],
    who: str = "sweep",
) -> dict[str, Any]:
    """Return the identity of a study, as texts: two studies with the same identity may share a store.

    who: the function that asks for it.
    Raise UsageError if `build`, `run` or `method` holds something that cannot be compared, and there is no version that stands for it.
    """
    vouched = bool(version)
    identity: dict[str, Any] = {}
    for name, part in (("build", build), ("run", run), ("method", method)):
        if part is None:
            identity |= {name: None, f"{name}{READS}": {}}
            continue
        try:
            identity |= {name: describe(part, vouched=vouched), f"{name}{READS}": values_of(part, vouched=vouched)}
        except NoContent as error:
            raise UsageError(
                f"{who}: {name} reads {error}, which cannot be compared with that of another call: the store could return rows of "
                'another study. Give version="1" with this store, and another version whenever that changes; or make it inside of '
                f"{name}, from numbers."
            ) from None
    return {**identity, "python": PYTHON, "seed": seed, "version": version, "haugmbd": library, "parameters": sorted(names)}


def cell_key(identity: Mapping[str, Any], cell: Mapping[str, Value]) -> str:
    """Return the key of a cell of a study: it depends on nothing else, in particular not on the order or the other cells.

    A value that names a file is the content of the file, too.
    """
    files = {name: FileContent(x).digest() for name, x in cell.items() if isinstance(x, str) and os.path.isfile(x)}
    return digest(text_of([identity, cell, files] if files else [identity, cell]))


def cell_seed(seed: int, cell: Mapping[str, Value]) -> int:
    """Return the seed of a cell, a number of 63 bits, from the seed of the study and the cell."""
    return int(digest(text_of([seed, cell])), 16) >> (4 * DIGITS - 63)


def describe(function: Any, *, vouched: bool = False) -> str:
    """Return the name of a function, method, partial or callable object, and the digest of its code and of all that it reads.

    Raise NoContent, with its place, for a value that cannot be compared, unless it is vouched for.
    """
    return f"{_name(function)} {digest(text_of(values_of(function, vouched=vouched)))}"


def values_of(function: Any, *, vouched: bool = False) -> dict[str, str]:
    """Return the code of a function and what it reads, by name, as texts that differ where the values do."""
    files = not writes_files(function)
    return {name: _text(name, x, vouched, files) for name, x in sorted(_values(function).items())}


def rounded_values(build: Any, run: Any) -> dict[str, str]:
    """Return digests of what `build` and `run` read, by name: another process that imports them must find the same values."""
    digests: dict[str, str] = {}
    for what, function in (("build", build), ("run", run)):
        if not is_imported(function):  # it was sent by its content, with all that it reads
            continue
        for name, x in _values(function).items():
            if isinstance(x, FileContent):  # it may be elsewhere there
                continue
            with contextlib.suppress(NoContent):
                digests[f"{name!r}, which {what} reads"] = digest_of(x, rounded=True, vouched=True)
    return digests


def is_imported(function: Any) -> bool:
    """Return whether a function is the one that its module has under its name, as it is where another process has imported it."""
    imported: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in str(getattr(function, "__qualname__", "<locals>")).split("."):
        imported = getattr(imported, part, None)
    return inspect.isfunction(function) and imported is function


def _name(function: Any) -> str:
    """Return module and name of a function or class, the class of an object; the main script has one name in all processes."""
    if isinstance(function, functools.partial):
        return f"partial({_name(function.func)})"
    if isinstance(function, Variants):
        return "Model"
    if (
        dataclasses.is_dataclass(function)
        and not isinstance(function, type)
        and not callable(function)
        and " at 0x" not in repr(function)
    ):
        return repr(function)
    is_function = inspect.isroutine(function) or inspect.isclass(function)
    named = function if is_function else type(function)
    name = f"{getattr(named, '__module__', '')}.{getattr(named, '__qualname__', repr(type(named)))}".replace(
        "__mp_main__", "__main__"
    )
    return name if is_function or not callable(function) else f"call of {name}"


def _values(function: Any) -> dict[str, Any]:
    """Return the values by name."""
    if isinstance(function, functools.partial):
        named = {f"argument {k}": x for k, x in enumerate(function.args)} | {f"{name}=": x for name, x in function.keywords.items()}
        return named | {"function": function.func, "attributes": vars(function)}
    if isinstance(function, Variants):
        return function.values()
    if inspect.isfunction(function):
        wrapped = {name: x for name, x in vars(function).items() if name != "__wrapped__"}
        return (
            {TEXT: code_digest(function)}
            | values_read(function)
            | files_read(function)
            | ({"attributes": wrapped} if wrapped else {})
        )
    if inspect.ismethod(function):
        return {TEXT: code_digest(function), "self": function.__self__, "function": function.__func__}
    return {"value": function}


def _text(name: str, x: Any, vouched: bool, files: bool) -> str:
    try:
        return text_of_value(x, vouched=vouched, files=files)
    except NoContent as error:
        raise error.inside(name) from None


# What a parameter and a result of a sweep may be, and their exact text.
#
# A parameter is a number, a string, True, False, None, or a tuple of these; a result is a number. NumPy's numbers become Python's, so that
# one value has one text. JSON writes a float with as many digits as it takes to read the same float again; NaN and infinities as words.

Value = Any
"""int, float, bool, str, None, or a tuple of them."""


def as_value(x: Any) -> Value:
    """Return a parameter's value as plain Python. Raise TypeError, which says what it may be."""
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        x = x.item()
    if isinstance(x, np.ndarray):
        x = tuple(x.tolist())
    if isinstance(x, tuple | list):
        return tuple(as_value(part) for part in x)
    if isinstance(x, float) and math.isnan(x):
        raise TypeError("it is NaN")
    if x is None or isinstance(x, bool | int | float | str):
        return x
    raise TypeError(f"it is a {type(x).__name__}; a value is a number, a string, True, False, None, or a tuple of these")


def as_number(x: Any) -> int | float | bool:
    """Return a result as a plain Python number. Raise TypeError, which says what it is."""
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        x = x.item()
    if isinstance(x, bool | int | float):
        return x
    shape = f" of shape {x.shape}" if isinstance(x, np.ndarray) else ""
    raise TypeError(f"a {type(x).__name__}{shape}, not a number")


def text_of(x: Any) -> str:
    """Return the exact text of values: JSON with sorted names."""
    return json.dumps(x, sort_keys=True, separators=(",", ":"))


def show(cell: Mapping[str, Value]) -> str:
    """Return a cell for people: mass=1.5, length=2."""
    return ", ".join(f"{name}={value!r}" for name, value in cell.items()) or "(no parameters)"


Cell = dict[str, Value]

RESERVED = ("status", "reason", "cell", "record")
"""Names that the table uses."""


@public_class
@dataclass(frozen=True)
class Distribution:
    """A distribution of a parameter, for `RandomCells`; made by `normal` and `uniform`.

    Parameters
    ----------
    kind : {"normal", "uniform"}
        Which.
    a, b : float
        Mean and standard deviation, or the ends.
    """

    kind: str
    a: float
    b: float

    def at(self, part: float) -> float:
        """Return the value below which this part of the distribution is, 0 < part < 1."""
        if self.kind == "uniform":
            return self.a + part * (self.b - self.a)
        from scipy.special import ndtri  # noqa: PLC0415  only where it is used

        return self.a + self.b * float(ndtri(part))


def normal(mean: float, sd: float) -> Distribution:
    """Return a normal distribution, for `RandomCells`.

    Parameters
    ----------
    mean, sd : float
        Mean and standard deviation.

    Returns
    -------
    Distribution
        The distribution.

    Raises
    ------
    UsageError
        If one is not finite, or sd is not positive.
    """
    moments = numbers([mean, sd])
    if moments is None or moments.shape != (2,) or not (np.isfinite(moments).all() and sd > 0.0):
        raise UsageError(f"normal({mean!r:.40}, {sd!r:.40}) needs a finite mean and a positive standard deviation.")
    return Distribution("normal", float(mean), float(sd))


def uniform(low: float, high: float) -> Distribution:
    """Return a uniform distribution, for `RandomCells`.

    Parameters
    ----------
    low, high : float
        Its ends.

    Returns
    -------
    Distribution
        The distribution.

    Raises
    ------
    UsageError
        If one is not finite, or low is not below high.
    """
    bounds = numbers([low, high])
    if bounds is None or bounds.shape != (2,) or not (np.isfinite(bounds).all() and low < high):
        raise UsageError(f"uniform({low!r:.40}, {high!r:.40}) needs two finite numbers, the smaller one first.")
    return Distribution("uniform", float(low), float(high))


@public_class
@dataclass(frozen=True)
class RandomCells:
    """Cells with random values, for the `parameters` of `sweep`.

    Parameters
    ----------
    ranges : dict
        For each parameter a tuple (low, high) of numbers, for a uniform distribution in low <= x < high; `normal(mean, sd)` or
        `uniform(low, high)`; a list, of which one value is chosen; or a function of a `numpy.random.Generator` that returns the value.
    n : int
        Number of cells; with a grid, of each cell of it.
    seed : int
        Seed. Cell k depends on the seed, k and the parameter's name alone: a larger n adds cells, a further parameter changes no other.
    latin : bool
        Whether distributions are sampled as a Latin hypercube: each n-th part of each of them once. All cells then depend on n.
    grid : dict of lists, optional
        Parameters beside the random ones, whose values are combined: the same random cells for each combination.

    Examples
    --------
    >>> from haugmbd import RandomCells
    >>> cells = RandomCells({"mass": (1.0, 2.0), "material": ["steel", "brass"]}, n=100, seed=1)
    """

    ranges: Mapping[str, Any]
    n: int
    seed: int = 0
    latin: bool = False
    grid: Mapping[str, Sequence[Any]] | None = None

    def cells(self) -> list[Cell]:
        """Return the cells, in order."""
        faults = [f"n = {self.n!r} must be a positive integer"] if not _is_count(self.n) else []
        faults += [f"seed = {self.seed!r} must be an integer, 0 or more"] if not _is_count(self.seed, least=0) else []
        if not isinstance(self.ranges, Mapping):
            raise UsageError(
                f"ranges = {self.ranges!r} must be a dict: a name and (low, high), a list or a function for each parameter."
            )
        faults += [sentence for name, given in self.ranges.items() if (sentence := _range_fault(name, given))]
        if faults:
            raise UsageError(f"RandomCells: {'; '.join(faults)}.")
        cells = [{name: self._value(name, k) for name in self.ranges} for k in range(self.n)]
        if not self.grid:
            return cells
        both = sorted(set(self.grid) & set(self.ranges))
        wrong = [
            name for name, values in self.grid.items() if isinstance(values, str) or not isinstance(values, Sequence) or not values
        ]
        if both or wrong:
            what = f"{both[0]!r} is in grid and in ranges" if both else f"grid: {wrong[0]!r} must be a list of values"
            raise UsageError(f"RandomCells: {what}.")
        return [
            dict(zip(self.grid, values, strict=True)) | cell for values in itertools.product(*self.grid.values()) for cell in cells
        ]

    def _stratum(self, name: str, k: int) -> float:
        """Return the part of a distribution for cell k: within one of n parts, each of which is taken once."""
        crc = zlib.crc32(name.encode())
        stratum = int(np.random.default_rng([self.seed, crc]).permutation(self.n)[k])
        inside = float(np.random.default_rng([self.seed, k, crc]).random())
        return (stratum + min(max(inside, 1e-12), 1.0 - 1e-12)) / self.n

    def _value(self, name: str, k: int) -> Value:
        """Return the value of a parameter in cell k."""
        rng, values = np.random.default_rng([self.seed, k, zlib.crc32(name.encode())]), self.ranges[name]
        if self.latin and isinstance(values, tuple | Distribution):
            distribution = values if isinstance(values, Distribution) else Distribution("uniform", *map(float, values))
            return distribution.at(self._stratum(name, k))
        if isinstance(values, Distribution):
            return values.at(min(max(float(rng.random()), 1e-15), 1.0 - 1e-15))
        if isinstance(values, tuple):
            return float(rng.uniform(*values))
        return values[int(rng.integers(len(values)))] if isinstance(values, list) else values(rng)


def _range_fault(name: str, values: Any) -> str:
    """Return what is wrong with a range; "" if nothing."""
    if isinstance(values, tuple):
        try:
            low, high = (float(x) for x in values)
            good = bool(np.isfinite([low, high]).all()) and low <= high
        except (TypeError, ValueError):
            good = False
        return "" if good else f"{name!r}: (low, high) = {values!r} must be two finite numbers, the smaller one first"
    if isinstance(values, Distribution):
        return ""
    if isinstance(values, list):
        return "" if values else f"{name!r}: the list is empty"
    return "" if callable(values) else f"{name!r}: {values!r} is not a tuple (low, high), list or function of a random generator"


def _is_count(x: Any, least: int = 1) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and x >= least


@public_class
@dataclass(frozen=True)
class AskTell:
    """Cells that an optimizer or a sampler asks for, one by one, for the `parameters` of `sweep`.

    Parameters
    ----------
    ask : callable
        `ask()` returns the parameters of the next cell, a dict, or None if there is no more. It is called when a worker is free.
    tell : callable, optional
        `tell(cell, row)` gets the dict that `ask` returned, the same object, and the `Row` of it: `row.values`, `row.status`, `row.reason`.
        It is called in the order in which cells end.
    n : int, optional
        Most cells that are asked for.

    Raises
    ------
    UsageError
        If ask or tell is not a function, or n no positive integer.

    Notes
    -----
    A cell that is in the store is not run again: `tell` gets the stored row. `ask` and `tell` are called in the process and the thread of
    `sweep`.

    Examples
    --------
    >>> from haugmbd import AskTell
    >>> masses = iter([1.0, 2.0])
    >>> cells = AskTell(lambda: {"mass": m} if (m := next(masses, None)) else None, lambda cell, row: print(cell, row.values))
    """

    ask: Callable[[], Mapping[str, Any] | None]
    tell: Callable[[Any, Any], Any] | None = None
    n: int | None = None

    def __post_init__(self) -> None:
        wrong: list[str] = []
        wrong += [f"ask = {self.ask!r} must be a function"] if not callable(self.ask) else []
        wrong += [f"tell = {self.tell!r} must be a function, or None"] if not (self.tell is None or callable(self.tell)) else []
        wrong += [f"n = {self.n!r} must be a positive integer, or None"] if not (self.n is None or _is_count(self.n)) else []
        if wrong:
            raise UsageError(f"AskTell: {'; '.join(wrong)}.")

    def asked(self) -> Iterator[Any]:
        """Yield what `ask` returns, until it is None."""
        counted: Iterator[int] = itertools.count() if self.n is None else iter(range(self.n))
        for _ in counted:
            found = self.ask()
            if found is None:
                return
            yield found


def read_cells(parameters: Any, *, paths: bool = False) -> tuple[list[Cell], tuple[str, ...] | None]:
    """Return all cells, and the names of the axes if they are a grid. Raise UsageError with all faults.

    paths: whether the parameters are paths of a model, such as "link.mass", and not names of arguments
    """
    if isinstance(parameters, RandomCells):
        return read_list(parameters.cells(), paths), None
    if isinstance(parameters, Mapping):
        return read_grid(parameters, paths), tuple(parameters)
    if isinstance(parameters, Sequence) and not isinstance(parameters, str | bytes):
        return read_list(parameters, paths), None
    raise UsageError(
        f"parameters is a {type(parameters).__name__}; give a dict of lists (a grid), a list of dicts, RandomCells(...) or AskTell(...)."
    )


def read_grid(axes: Mapping[str, Any], paths: bool) -> list[Cell]:
    """Return every combination of the values of the axes. Raise UsageError for axes that are not lists, are empty or repeat a value."""
    faults, values = _name_faults(axes, paths), []
    for name, listed in axes.items():
        if isinstance(listed, str | bytes | Mapping) or not np.iterable(listed):
            faults.append(f"{name!r} is {listed!r}: give a list of values, [{listed!r}] for one")
            continue
        axis = list(listed)
        faults += [f"{name!r}[{k}]: {why}" for k, why in _value_faults(axis)]
        if not axis:
            faults.append(f"{name!r} has no values")
        values.append(axis)
    if faults:
        raise UsageError(f"parameters: {'; '.join(faults)}.")
    plain = [[as_value(x) for x in axis] for axis in values]
    repeated = [f"{name!r}" for name, axis in zip(axes, plain, strict=True) if len({(type(x), x) for x in axis}) < len(axis)]
    if repeated:
        raise UsageError(f"parameters: {', '.join(repeated)} repeats a value: the axes of a grid are sets.")
    return [dict(zip(axes, combination, strict=True)) for combination in itertools.product(*plain)]


def read_list(cells: Sequence[Any], paths: bool) -> list[Cell]:
    """Return the cells of a list. Raise UsageError, with all faults, for what is not a dict, or has other names than the first."""
    faults: list[str] = []
    for k, cell in enumerate(cells):
        faults += [f"cell {k}: {why}" for why in cell_faults(cell, cells[0], paths)]
    if faults:
        raise UsageError(f"parameters: {'; '.join(faults)}.")
    return [{name: as_value(x) for name, x in cell.items()} for cell in cells]


def cell_faults(cell: Any, first: Any, paths: bool) -> list[str]:
    """Return what is wrong with a cell: no dict, other names than the first one, bad names, values that have no text."""
    if not isinstance(cell, Mapping):
        return [f"it is {cell!r}; a cell is a dict of parameters"]
    if isinstance(first, Mapping) and set(cell) != set(first):
        return [f"its parameters are {', '.join(map(repr, cell))}; those of the first are {', '.join(map(repr, first))}"]
    return _name_faults(cell, paths) + [f"{list(cell)[k]!r}: {why}" for k, why in _value_faults(list(cell.values()))]


def _name_faults(cell: Mapping[Any, Any], paths: bool) -> list[str]:
    bad = [name for name in cell if not (isinstance(name, str) and (paths or name.isidentifier()))]
    faults = [f"{name!r} is not a name of a parameter of a Python function" for name in bad]
    return faults + [f"{name!r} is a reserved name in a sweep: choose another one" for name in cell if name in RESERVED]


def _value_faults(values: list[Any]) -> list[tuple[int, str]]:
    """Return the number and the fault of each bad value."""
    faults = []
    for k, x in enumerate(values):
        try:
            as_value(x)
        except TypeError as error:
            faults.append((k, str(error)))
    return faults
