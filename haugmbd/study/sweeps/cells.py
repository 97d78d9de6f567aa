"""The cells of a sweep: grid, list, random cells, ask and tell.

{"mass": [1, 2], "length": [3, 4, 5]}      grid: every combination, the last parameter fastest
[{"mass": 1, "length": 3}, ...]            list
RandomCells({"mass": (1, 2)}, n=100)       random: cell k depends on (seed, k, name) alone
AskTell(ask, tell)                         asked for one by one, by an optimizer
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.study.sweeps.identity import Value, as_value

Cell = dict[str, Value]

RESERVED = ("status", "reason", "cell", "record")
"""Names that the table uses."""


@public_class
@dataclass(frozen=True)
class RandomCells:
    """Cells with random values, for the `parameters` of `sweep`.

    Parameters
    ----------
    ranges : dict
        For each parameter a tuple (low, high) of numbers, for a uniform distribution in low <= x < high; a list, of which one value is
        chosen; or a function of a `numpy.random.Generator` that returns the value.
    n : int
        Number of cells.
    seed : int
        Seed. Cell k depends on the seed, k and the parameter's name alone: a larger n adds cells, a further parameter changes no other.

    Examples
    --------
    >>> from haugmbd import RandomCells
    >>> cells = RandomCells({"mass": (1.0, 2.0), "material": ["steel", "brass"]}, n=100, seed=1)
    """

    ranges: Mapping[str, Any]
    n: int
    seed: int = 0

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
        return [{name: self._value(name, k) for name in self.ranges} for k in range(self.n)]

    def _value(self, name: str, k: int) -> Value:
        """Return the value of a parameter in cell k."""
        rng, given = np.random.default_rng([self.seed, k, zlib.crc32(name.encode())]), self.ranges[name]
        if isinstance(given, tuple):
            return float(rng.uniform(*given))
        return given[int(rng.integers(len(given)))] if isinstance(given, list) else given(rng)


def _range_fault(name: str, given: Any) -> str:
    """Return what is wrong with a range; "" if nothing."""
    if isinstance(given, tuple):
        try:
            low, high = (float(x) for x in given)
            good = bool(np.isfinite([low, high]).all()) and low <= high
        except (TypeError, ValueError):
            good = False
        return "" if good else f"{name!r}: (low, high) = {given!r} must be two finite numbers, the smaller one first"
    if isinstance(given, list):
        return "" if given else f"{name!r}: the list is empty"
    return "" if callable(given) else f"{name!r}: {given!r} is not a tuple (low, high), list or function of a random generator"


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
    for name, given in axes.items():
        if isinstance(given, str | bytes | Mapping) or not np.iterable(given):
            faults.append(f"{name!r} is {given!r}: give a list of values, [{given!r}] for one")
            continue
        axis = list(given)
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
