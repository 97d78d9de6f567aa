r"""Parameters that are numbers in the tables of a model: masses, inertias, gravity, constants of force elements.

They do not change what a system's compilation finds, so that a member is the model's tables with some numbers exchanged:

    INERTIA, SHIFTED   (m, J_bar) of a body                          SCALE   m, diag J_bar of a body;  J_r M^-1 J_r^T of its rows
    GRAVITY            g                                             FORCE_REALS   k, c, l0, ...

All other parameters (points, axes, named parameters; bodies with a direction without inertia) make a system of their own, see `variant`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.batches.parameters import GRAVITY, Parameter
from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.forces.base import ForceElement
from haugmbd.forces.registry import KINDS
from haugmbd.model.compile import SUSPECT
from haugmbd.model.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import row_compliance

PROBE = 0.7368062997
"""A value that no constant has by chance."""
NEAR = 10.0
"""A member whose least moment is below this times SUSPECT, or that is that near to no rigid body, is examined by itself."""


@dataclass(frozen=True, eq=False)
class DirectTables:
    """The places in `reals` that members exchange, and their values.

    places: (m,);  columns: of each parameter the places of its numbers;  odd: (N,) members that are examined by themselves
    """

    model: Model
    rows: Rows
    parameters: tuple[Parameter, ...]
    places: Ints
    odd: Any

    def values(self, first: int, last: int) -> Array:
        """Return the numbers (last - first, m) of the members first ... last - 1."""
        parts = [one.values[first:last].reshape(last - first, -1) for one in self.parameters if not isinstance(one.part, Body)]
        bodies = [one for one in self.parameters if isinstance(one.part, Body)]
        if bodies:
            parts.append(_inertias(self.model, self.rows, bodies, slice(first, last)))
        return np.ascontiguousarray(np.concatenate(parts, axis=1)) if parts else np.zeros((last - first, 0))


def direct_tables(model: Model, parameters: Sequence[Parameter]) -> DirectTables | None:
    """Return the places that the parameters exchange; None if one of them changes more than numbers."""
    shifted = (model.tables["INERTIA"] != model.tables["SHIFTED"]).any(axis=1)
    places: list[Ints] = []
    bodies = [one for one in parameters if isinstance(one.part, Body)]
    for one in parameters:
        if isinstance(one.part, Body):
            if shifted[model.bodies.index(one.part)]:
                return None
        elif one.part is None and one.name == GRAVITY:
            places.append(_places(model, "GRAVITY", np.arange(3)))
        elif isinstance(one.part, ForceElement) and (place := _constant(model, one)) >= 0:
            places.append(_places(model, "FORCE_REALS", np.array([place])))
        else:
            return None
    if bodies:
        numbers = sorted({model.bodies.index(one.part) for one in bodies})
        rows = _rows_on(model, numbers)
        places += [
            *(
                _places(model, table, np.add.outer(10 * np.array(numbers), np.arange(10)).ravel())
                for table in ("INERTIA", "SHIFTED")
            ),
            _places(model, "SCALE", np.add.outer(6 * np.array(numbers), np.arange(6)).ravel()),
            _places(model, "SCALE", 6 * (model.nb + 1) + model.slot_of_row[rows]),
        ]
    n = len(parameters[0].values)
    odd = np.zeros(n, dtype=bool)
    for one in bodies:
        odd |= _odd(one)
    for load in {id(one.part): one.part for one in parameters if isinstance(one.part, ForceElement)}.values():
        odd |= _at_fault(load, [one for one in parameters if one.part is load], n)
    return DirectTables(model, evaluate(model), tuple(parameters), np.concatenate([np.zeros(0, dtype=np.int64), *places]), odd)


def _places(model: Model, table: str, within: Ints) -> Ints:
    """Return indices in `reals` of indices in a flat table."""
    found: Ints = model.tables.place(table)[0] + within.astype(np.int64)
    return found


def _constant(model: Model, one: Parameter) -> int:
    """Return the index in the flat FORCE_REALS of a constant of an element; -1 if the parameter is not one constant alone."""
    loads = sorted((entry.load for entry in model.loads), key=lambda load: KINDS.index(type(load)))
    table = model.tables["FORCE_REALS"]
    if one.part.variable[one.name] != ((),) or len(loads) != len(table):
        return -1
    probe = one.part.varied(**{one.name: PROBE})
    before, after = one.part.numbers(), probe.numbers()
    changed = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    same = all(np.array_equal(x, y) for (_, x), (_, y) in zip(one.part.markers(), probe.markers(), strict=True))
    if len(changed) != 1 or after[changed[0]] != PROBE or not same or probe.drivers() != one.part.drivers():
        return -1
    row = next(k for k, load in enumerate(loads) if load is one.part)
    return int(row * table.shape[1] + changed[0])


def _rows_on(model: Model, bodies: Sequence[int]) -> Ints:
    """Return the rows that touch one of the bodies."""
    found: Ints = np.nonzero(np.isin(model.bodies_of_rows(), bodies).any(axis=1))[0].astype(np.int64)
    return found


def _inertias(model: Model, rows: Rows, parameters: Sequence[Parameter], members: slice) -> Array:
    """Return INERTIA, SHIFTED and SCALE of the varied bodies, and SCALE of the rows on them, of the members."""
    numbers = sorted({model.bodies.index(one.part) for one in parameters})
    n = len(parameters[0].values[members])
    inertia = np.repeat(model.tables["SHIFTED"][None], n, axis=0)
    for one in parameters:
        k, values = model.bodies.index(one.part), one.values[members]
        if one.name == "mass":
            inertia[:, k, 0] = values
        else:
            J = values if values.ndim > 2 else values[:, :, None] * np.eye(3)
            inertia[:, k, 1:] = (0.5 * (J + np.swapaxes(J, 1, 2))).reshape(n, 9)
    own = inertia[:, numbers]
    scale = np.concatenate([np.repeat(own[:, :, :1], 3, axis=2), own[:, :, [1, 5, 9]]], axis=2)
    compliance = row_compliance(inertia, rows, _rows_on(model, numbers))
    return np.concatenate([own.reshape(n, -1), own.reshape(n, -1), scale.reshape(n, -1), compliance], axis=1)


def _odd(one: Parameter) -> Any:
    """Return which members have a mass or an inertia that may be no rigid body's, or that have an axis without inertia."""
    if one.name == "mass":
        return one.values <= 0.0
    J = one.values if one.values.ndim > 2 else one.values[:, :, None] * np.eye(3)
    moments = np.linalg.eigvalsh(J)
    least, largest = moments[:, 0], moments[:, 2]
    asymmetric = (np.swapaxes(J, 1, 2) != J).any(axis=(1, 2))
    return asymmetric | (least <= NEAR * SUSPECT * largest) | (largest > moments[:, 0] + moments[:, 1])


def _at_fault(load: ForceElement, parameters: Sequence[Parameter], n: int) -> Any:
    """Return which of n members have values of which the element says that they are wrong."""
    if type(load).number_faults is ForceElement.number_faults:
        return np.zeros(n, dtype=bool)
    each = ({one.name: one.values[k] for one in parameters} for k in range(n))
    return np.array([bool(load.varied(**values).number_faults()) for values in each], dtype=bool)
