"""BaseChain: links in a row, their tables for compiled code, and the reading of coordinates; ChainState; errors of the recursions.

`SerialChain` adds the conversions to and from a System.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from haugmbd.bodies.validation import FloatArray, frozen, numbers, read_array
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, ModelError, SimulationError, UsageError, warn_user
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.immutable import immutable
from haugmbd.model.labels import no_such
from haugmbd.model.model import Model
from haugmbd.serial_chain.link import ROWS, Link, faults_in_a_row, read_table
from haugmbd.system.system import System
from haugmbd.workspace.layout import Tables


def chain_tables(links: Sequence[Link], gravity: FloatArray, base: FloatArray) -> Tables:
    """Return the tables of a chain for compiled code."""
    nv, n = sum(link.nv for link in links), len(links)
    rows, freedoms, axes, reals = [], [], [], []
    first = coordinate = 0
    offset = np.zeros(3)
    for k, link in enumerate(links):
        rows.append((first, link.nv, coordinate))
        freedoms += [(kind, k) for kind, _ in link.ways]
        axes += [axis for _, axis in link.ways]
        reals.append(np.concatenate([offset, rotation_matrix(link.p).ravel(), link.c, [link.mass], link.J_bar.ravel()]))
        first, coordinate, offset = first + link.nv, coordinate + link.nq, link.L
    ints = {
        "LINKS": np.array(rows, dtype=np.int64).reshape(n, 3),
        "FREEDOMS": np.array(freedoms, dtype=np.int64).reshape(nv, 2),
    }
    constants = {
        "GRAVITY": frozen(gravity)[None],
        "LINK_REALS": np.array(reals).reshape(n, 25),
        "FREEDOM_AXES": np.array(axes, dtype=np.float64).reshape(nv, 3),
        "BASE": frozen(base)[None],
    }
    widths = {"LINK_A": 9, "LINK_PLACE": 9, "LINK_RATE": 12, "LINK_WRENCH": 6, "LINK_J": 6, "LINK_MOTION": 6}
    work = {
        "STATUS": (1, 4),
        "SUCCEEDED": (1, 1),
        **{name: (n, width) for name, width in widths.items()},
        "FREEDOM_TERMS": (nv, 11),
    }
    work |= {"TAU_IS_A_FUNCTION": (1, 1), "QDD": (1, nv), "TAU": (1, nv), "EXTERNAL_WRENCHES": (n, 6)}
    return Tables(ints, constants, work)


NONE: Array = np.zeros((0, 6))

DOUBLE = NONE.dtype

MOST_LABELS = 8
"""Freedoms that a message names: as many as a robot has; a chain of 300 links would fill the screen."""


def ready(value: Any) -> bool:
    """Return whether compiled code can use the value directly: a contiguous writable vector of doubles."""
    return type(value) is ndarray and value.dtype is DOUBLE and value.ndim == 1 and value.flags.carray


@immutable("Make another SerialChain.")
class BaseChain:
    """Links of a serial chain, with the data of the recursions; see `SerialChain`.

    links: base first;  gravity: (3,) global [m/s2];  base: the first handle, global [m], (3,);  name
    order: the row of each link in the states of a System with the same bodies; by default 1, 2, ... n
    Raises ModelError with all faults of the links; UsageError if they are not a list.
    """

    name: str
    links: tuple[Link, ...]
    gravity: FloatArray
    base: FloatArray
    order: tuple[int, ...]
    tables: Tables
    nq: int
    nv: int

    def __init__(
        self,
        links: Iterable[Link],
        *,
        gravity: Any = (0.0, 0.0, 0.0),
        base: Any = (0.0, 0.0, 0.0),
        name: str = "chain",
        order: Sequence[int] | None = None,
    ) -> None:
        if not isinstance(links, Iterable):
            raise UsageError(f"links={links!r} is not a list of links. Give [Link.revolute(...), Link.prismatic(...), ...].")
        links = tuple(links)
        if not isinstance(order, Iterable | None):
            raise UsageError(f"order={order!r} is not a list of rows. Give each of the rows 1 ... {len(links)} once, or nothing.")
        order = tuple(range(1, len(links) + 1)) if order is None else tuple(order)
        faults: list[Fault] = []
        where = f"chain {name!r}"
        g, origin = (
            read_array(faults, where, "gravity", gravity, (3,), unit="m/s2"),
            read_array(faults, where, "base", base, (3,), unit="m"),
        )
        faults += faults_in_a_row(where, links)
        if not (isinstance(name, str) and name.strip()):
            faults.append(Fault(where, "the name is empty or not a string", 'Give the chain a name, such as "arm".'))
        if set(order) != set(range(1, len(links) + 1)) or len(order) != len(links):
            faults.append(Fault(where, f"order is {order}", f"Give each of the rows 1 ... {len(links)} once, or nothing."))
        if faults:
            raise ModelError(faults)
        fill = {
            "name": name,
            "links": links,
            "gravity": g,
            "base": origin,
            "order": order,
            "tables": chain_tables(links, g, origin),
        }
        fill |= {"nq": sum(link.nq for link in links), "nv": sum(link.nv for link in links), "_spare": []}
        for key, value in fill.items():
            object.__setattr__(self, key, value)

    @classmethod
    def from_tables(
        cls,
        m: npt.ArrayLike,
        c: npt.ArrayLike,
        L: npt.ArrayLike,
        I: npt.ArrayLike,  # noqa: E741  the letter of inertia
        z: npt.ArrayLike,
        **options: Any,
    ) -> Self:
        """Return a chain of revolute joints from tables with one row for each link.

        Parameters
        ----------
        m : array_like, (n,)
            Masses [kg].
        c : array_like, (n,) or (n, 3)
            Centres of mass from the handles [m]; numbers are lengths along x.
        L : array_like, (n,) or (n, 3)
            Next handles from the handles [m]; numbers are lengths along x.
        I : array_like, (n, 3) or (n, 3, 3)
            Inertias about the centres of mass [kg m2].
        z : array_like, (n, 3)
            Axes of the joints, link frames.
        **options
            gravity, base and name of `SerialChain`.

        Returns
        -------
        SerialChain
            Link i turns about z_i and is called "link i", i = 1 ... n.

        Raises
        ------
        UsageError
            If a table has a wrong shape.
        ModelError
            If the links have faults.
        """
        tables = zip("mcLIz", (m, c, L, I, z), ROWS, strict=True)
        table = [read_table(name, value, shapes) for name, value, shapes in tables]
        if len({len(x) for x in table}) != 1:
            sizes = ", ".join(f"{name}: {len(x)}" for name, x in zip("mcLIz", table, strict=True))
            raise UsageError(f"the tables differ in length ({sizes}): give one row for each link.")
        c3, L3 = (x if x.ndim == 2 else np.outer(x, (1.0, 0.0, 0.0)) for x in (table[1], table[2]))
        rows = zip(table[0], table[3], table[4], c3, L3, strict=True)
        links = [Link.revolute(f"link {k}", mi, Ii, axis=zi, c=ci, L=Li) for k, (mi, Ii, zi, ci, Li) in enumerate(rows, start=1)]
        return cls(links, **options)

    @property
    def n(self) -> int:
        """Return the number of links."""
        return len(self.links)

    def link(self, name: str | int) -> int:
        """Return the number of a link, by its name, or by a number that may count from the end. Raise UsageError for an unknown link."""
        if isinstance(name, str):
            names = [link.name for link in self.links]
            if name not in names:
                raise no_such("link", name, names)
            return names.index(name)
        if isinstance(name, bool) or not isinstance(name, (int, np.integer)):
            raise UsageError(f"link {name!r} is not a link: give its name, or its number, 0 ... {self.n - 1}.")
        if not -self.n <= name < self.n:
            raise UsageError(f"link {name} does not exist: the chain has {self.n} links, 0 ... {self.n - 1}.")
        return int(name) % self.n

    @property
    def labels(self) -> tuple[str, ...]:
        """Return a description of each freedom, (nv,)."""
        return tuple(label for link in self.links for label in link.labels())

    def q_zero(self) -> Array:
        """Return the coordinates at which every joint is at zero: zeros, and (1, 0, 0, 0) for a spherical joint."""
        q = np.zeros(self.nq)
        for (_, n, at), link in zip(self.tables["LINKS"], self.links, strict=True):
            if link.nq > link.nv:
                q[at + n - 3] = 1.0
        return q

    def read(self, label: str, value: Any, size: int) -> Array:
        """Return `value` as a vector of `size` finite numbers; None is zeros, for q `q_zero()`. Raise UsageError for anything else."""
        if ready(value) and value.size == size:
            return value  # type: ignore[no-any-return]
        if value is None:
            return self.q_zero() if label == "q" else np.zeros(size)
        return self._read_slowly(label, value, (size,))

    def read_motion(self, q: Any, qd: Any, label: str, x: Any) -> tuple[Array, Array, Array]:
        """Return q (nq,), qd (nv,) and x (nv,), which is tau or qdd, without a copy if possible."""
        if ready(q) and ready(qd) and ready(x) and q.size == self.nq and qd.size == x.size == self.nv:
            return q, qd, x
        return self.read("q", q, self.nq), self.read("qd", qd, self.nv), self.read(label, x, self.nv)

    def read_wrenches(self, value: Any, label: str = "wrenches") -> Array:
        """Return external wrenches (n, 6), force and moment at each link's centre of mass, global; None is zero.

        Raise UsageError if wrong.
        """
        return NONE if value is None else self._read_slowly(label, value, (self.n, 6))

    def _read_slowly(self, label: str, value: Any, shape: tuple[int, ...]) -> Array:
        faults: list[Fault] = []
        what = {"q": "coordinates", "qd": "rates", "tau": "generalized forces", "qdd": "accelerations"}.get(label, "numbers")
        some = "; ".join(self.labels[:MOST_LABELS]) + ("; ..." if self.nv > MOST_LABELS else "")
        remedy = f"The chain of {self.n} links has {self.nq} coordinates and {self.nv} freedoms ({some})."
        array = read_array(faults, f"chain {self.name!r}", f"{label} ({what})", value, shape, remedy=remedy)
        if faults:
            raise UsageError(str(faults[0]))
        return array.copy()

    def workspace(self) -> Array:
        """Return a workspace; return it with `give_back`. Threads never share one."""
        spare: list[Array] = self._spare  # type: ignore[attr-defined]
        try:
            return spare.pop()
        except IndexError:
            return np.zeros(self.tables.work_size)

    def give_back(self, work: Array) -> None:
        """Return a workspace to the chain for the next call."""
        self._spare.append(work)  # type: ignore[attr-defined]

    def matrix(self, work: Array, name: str) -> Array:
        """Return a copy of the matrix `name` of the workspace."""
        start, rows, columns = self.tables.place(name)
        return work[start : start + rows * columns].reshape(rows, columns).copy()

    def no_inertia(self, freedom: int) -> SimulationError:
        """Return the error for a freedom without inertia; `error_messages.not_finite_error` checks other reasons first."""
        return SimulationError(
            f"chain {self.name!r}: nothing has inertia along freedom {freedom}, {self.labels[freedom]}. "
            "Give the link, or one beyond it, a mass or moment of inertia along this freedom; or turn the arms of a universal joint apart."
        )

    def __repr__(self) -> str:
        return f"SerialChain({self.name!r}, {self.n} links, {self.nv} freedoms)"


@public_class
@immutable("Make another one: state.replace(qd=..., t=...).")
@dataclass(frozen=True, eq=False, init=False)
class ChainState:
    """A state of a serial chain: ChainState(t, q, qd), or ChainState(q, qd) at t = 0.

    Attributes
    ----------
    t : float
        Time [s].
    q : ndarray, (nq,)
        Joint coordinates, read-only.
    qd : ndarray, (nv,)
        Joint rates, read-only.

    Raises
    ------
    UsageError
        If q or qd is not a vector, or t is not a number.

    Notes
    -----
    All arguments can be given by name. The old order ChainState(q, qd, t) still works, with a DeprecationWarning.
    """

    t: float
    q: Array
    qd: Array

    def __init__(self, *given: Any, **named: Any) -> None:
        names: tuple[str, ...] = ("t", "q", "qd") if len(given) == 3 or (given and _is_time(given[0])) else ("q", "qd")
        if len(given) == 3 and not _is_time(given[0]) and _is_time(given[2]):
            warn_user("ChainState(q, qd, t): give t first, as in State, ChainState(t, q, qd), or by name.", DeprecationWarning)
            names = ("q", "qd", "t")
        values = {"t": 0.0} | dict(zip(names, given, strict=False)) | named
        if len(given) > len(names) or {*names[: len(given)]} & {*named} or {*values} != {"t", "q", "qd"}:
            raise UsageError("ChainState takes q and qd, and the time t [s]: ChainState(t, q, qd), or ChainState(q, qd) at t = 0.")
        for name in ("q", "qd"):
            array = numbers(values[name])
            if array is None or array.ndim != 1:
                raise UsageError(f"ChainState: {name} is {values[name]!r:.60}. Give its numbers in a row, one for each.")
            object.__setattr__(self, name, frozen(array))
        if not _is_time(values["t"]):
            raise UsageError(f"ChainState: t is {values['t']!r}. Give the time [s].")
        object.__setattr__(self, "t", values["t"])

    def replace(self, **changes: Any) -> ChainState:
        """Return a copy with some values changed: state.replace(qd=..., t=...)."""
        return replace(self, **changes)

    @property
    def y(self) -> Array:
        """Return (q, qd) as one flat vector, a new array."""
        return np.concatenate([self.q, self.qd])


def _is_time(argument: Any) -> bool:
    """Return whether this can be a time."""
    return isinstance(argument, Real) and not isinstance(argument, bool)


def need_chain(chain: Any, who: str) -> None:
    """Raise UsageError, with a remedy, if `chain` is not a chain. `who` names the caller."""
    if isinstance(chain, BaseChain):
        return
    if isinstance(chain, System | Model):
        remedy = "It is in maximal coordinates: SerialChain.from_system(...) gives its chain, if it is one."
    else:
        remedy = "Make one by SerialChain([Link.revolute(...), ...])."
    raise UsageError(f"{who} needs a SerialChain, got {chain!r:.60} ({type(chain).__name__}). {remedy}")


def need_finite(chain: BaseChain, q: Array, *numbers: Array) -> None:
    """Raise UsageError if coordinates or other numbers are not finite, or Euler parameters are zero."""
    if not all(np.isfinite(array).all() for array in (q, *numbers)):
        raise UsageError(f"chain {chain.name!r}: q, qd, qdd, tau and wrenches must be finite, got a NaN or an infinity.")
    for (_, n, at), link in zip(chain.tables["LINKS"], chain.links, strict=True):
        first = at + n - 3
        if link.nq > link.nv and not q[first : first + 4].any():
            raise UsageError(
                f"chain {chain.name!r}: the Euler parameters of link {link.name!r}, q[{first}:{first + 4}], are all zero, which is no "
                "rotation. Give (1, 0, 0, 0) for none; chain.q_zero() has every joint at zero."
            )


def not_finite_error(chain: BaseChain, freedom: int, q: Array, *numbers: Array) -> SimulationError:
    """Return the error for a result that is not finite.

    If `freedom` < 0, inertia is not the cause. Raises UsageError for wrong numbers.
    """
    need_finite(chain, q, *numbers)
    if freedom >= 0:
        return chain.no_inertia(freedom)
    largest = max(float(np.abs(array).max(initial=0.0)) for array in (q, *numbers))
    return SimulationError(f"chain {chain.name!r}: the numbers overflow; the largest that was given is {largest:.3g}.")
