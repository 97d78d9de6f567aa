"""BaseChain: links, their tables, and the reading of coordinates. `SerialChain` adds the conversions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from haugmbd.bodies.validation import FloatArray, read_array
from haugmbd.compiled.array_types import Array
from haugmbd.errors import Fault, ModelError, SimulationError, UsageError
from haugmbd.model.immutable import immutable
from haugmbd.model.labels import no_such
from haugmbd.serial_chain.layout import chain_tables
from haugmbd.serial_chain.link import Link
from haugmbd.serial_chain.validation import ROWS, faults_in_a_row, read_table
from haugmbd.workspace.layout import Tables

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
        given = zip("mcLIz", (m, c, L, I, z), ROWS, strict=True)
        table = [read_table(name, value, shapes) for name, value, shapes in given]
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
