r"""Parameters that are numbers in the tables of a model: masses, inertias, gravity, constants of force elements.

They do not change what a system's compilation finds, so that a member is the model's tables with some numbers exchanged:

    INERTIA, SHIFTED   (m, J_bar) of a body                          SCALE   m, diag J_bar of a body;  J_r M^-1 J_r^T of its rows
    GRAVITY            g                                             FORCE_REALS   k, c, l0, ...

All other parameters (points, axes, named parameters; bodies with a direction without inertia) make a system of their own, see `variant`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from haugmbd.batches.parameters import GRAVITY, Parameter
from haugmbd.batches.variant import variant_model, variant_system
from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import FIRST_MARKER
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.forces.base import ForceElement, TablePlaces
from haugmbd.forces.registry import table_of
from haugmbd.kkt.solver import TREE
from haugmbd.model.compiling.inertia import POINTS, SUSPECT, arms_of, has_light, least_moments
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.inspection.constraint_rows import Rows, evaluate, lines_of
from haugmbd.model.inspection.length import put_length
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import sliding, turning
from haugmbd.workspace.layout import FOR_LIGHT, REFINES, Tables

PROBE = 0.7368062997
"""A value that no constant has by chance."""
NEAR = 10.0
"""A member whose least moment is below this times SUSPECT of the largest is examined by itself: it may have an axis without inertia."""
MASS, INERTIA = "mass", "J_bar"
DIAGONAL = (0, 4, 8)
"""Of J_bar row by row."""


@dataclass(frozen=True, eq=False)
class DirectTables:
    """The places in `reals` that members exchange, and their values.

    rows: at the modelled pose;  places: (m,);  odd: (N,) members that are examined by themselves
    """

    model: Model
    rows: Rows
    parameters: tuple[Parameter, ...]
    places: Ints
    odd: Any

    def reals(self, k: int) -> Array:
        """Return all constants of member k."""
        reals = self.model.tables.reals.copy()
        reals[self.places] = self.values(k, k + 1)[0]
        return reals

    def values(self, first: int, last: int) -> Array:
        """Return the numbers (last - first, m) of the members first ... last - 1, in the order of `places`."""
        members = slice(first, last)
        parts = [_numbers(one, members) for one in self.parameters]
        parts.append(_compliance(self.model, self.rows, self.parameters, members))
        return np.ascontiguousarray(np.concatenate(parts, axis=1))


def loads_and_gravity_alone(parameters: Sequence[Parameter]) -> bool:
    """Return whether nothing but force elements and gravity varies: rows, inertias and the modelled state are those of the model."""
    return all(isinstance(one.part, ForceElement) or one.name == GRAVITY for one in parameters)


def member_model(model: Model, parameters: Sequence[Parameter], direct: DirectTables | None, k: int) -> Model:
    """Return the model of member k: with numbers exchanged where that suffices, else compiled.

    Raise ModelError with its faults, and UsageError if its topology is another.
    """
    return variant_model(model, parameters, k) if direct is None or direct.odd[k] else direct_model(direct, k)


def direct_model(direct: DirectTables, k: int) -> Model:
    """Return the model of member k with the numbers exchanged: what its system compiles to, without the time of a compilation."""
    model, system = direct.model, variant_system(direct.model, direct.parameters, k)
    parts, loads = {joint.name: joint for joint in system.joints}, {load.name: load for load in system.loads}
    primitives = (primitive for joint in system.joints for primitive in joint.primitives())
    labels = tuple(label._replace(primitive=primitive) for label, primitive in zip(model.labels, primitives, strict=True))
    tables = own_tables(model.tables)
    tables.reals[direct.places] = direct.values(k, k + 1)[0]
    found = replace(
        model,
        bodies=tuple(system.bodies),
        joints={name: entry._replace(part=parts[name]) for name, entry in model.joints.items()},
        loads=tuple(entry._replace(load=loads[entry.load.name]) for entry in model.loads),
        contacts=tuple(system.contacts),
        labels=labels,
        tables=tables,
        angles=tuple((Coordinate(parts[q.joint.name], q.what, q.number), k) for q, k in model.angles),
    )
    put_length(found, direct.rows)  # masses decide it where all bodies and joints are in one place
    return found


def own_tables(tables: Tables) -> Tables:
    """Return the same tables with constants of their own, which may be changed."""
    copied = Tables.__new__(Tables)
    copied.ints, copied.reals, copied.work_size = tables.ints, tables.reals.copy(), tables.work_size
    return copied


def direct_tables(model: Model, parameters: Sequence[Parameter]) -> DirectTables | None:
    """Return the places that the parameters exchange; None if one of them changes more than numbers, or blocks may read them."""
    if model.network is not None:
        return None
    places = [_places_of(model, parameter) for parameter in parameters]
    exchanged = [indices for indices in places if indices is not None]
    if len(exchanged) < len(places):
        return None
    rows = _rows_on(model, parameters)
    exchanged.append(_places(model, "SCALE", 6 * (model.nb + 1) + model.slot_of_row[rows]))
    n = len(parameters[0].values)
    odd = np.zeros(n, dtype=bool)
    for parameter in parameters:
        odd |= _odd(parameter) if isinstance(parameter.part, Body) else False
    odd |= _lightness(model, parameters, n) != (model.tables["FLAGS"][0, REFINES] & FOR_LIGHT != 0)
    for load in {
        id(parameter.part): parameter.part for parameter in parameters if isinstance(parameter.part, ForceElement)
    }.values():
        odd |= _at_fault(load, [parameter for parameter in parameters if parameter.part is load], n)
    sound = tuple(_without(parameter, odd) for parameter in parameters) if odd.any() else tuple(parameters)
    return DirectTables(model, evaluate(model), sound, np.concatenate(exchanged), odd)


def _without(parameter: Parameter, odd: Any) -> Parameter:
    """Return the parameter with the values of the model for some members: they are examined by themselves."""
    if not isinstance(parameter.part, Body):
        return parameter
    values = parameter.values.copy()
    modelled = np.asarray(getattr(parameter.part, parameter.name))
    values[odd] = modelled if values.ndim != 2 else np.diag(modelled)  # noqa: PLR2004  three moments a member
    return parameter._replace(values=values)


def _places_of(model: Model, parameter: Parameter) -> Ints | None:
    """Return the indices in `reals` of what `_numbers` returns; None if the parameter changes more."""
    if isinstance(parameter.part, Body):
        k = model.bodies.index(parameter.part)
        if not np.array_equal(model.tables["INERTIA"][k], model.tables["SHIFTED"][k]):
            return None
        within, scale = (np.array([0]), np.arange(3)) if parameter.name == MASS else (np.arange(1, 10), np.arange(3, 6))
        tables = [_places(model, table, 10 * k + within) for table in ("INERTIA", "SHIFTED")]
        return np.concatenate([*tables, _places(model, "SCALE", 6 * k + scale)])
    if parameter.part is None:
        return _places(model, "GRAVITY", np.arange(3)) if parameter.name == GRAVITY else None
    constant = _constant(model, parameter) if isinstance(parameter.part, ForceElement) else -1
    return _places(model, "FORCE_REALS", np.array([constant])) if constant >= 0 else None


def _numbers(parameter: Parameter, members: slice) -> Array:
    """Return the numbers at the places of a parameter, (n, .)."""
    values = parameter.values[members]
    if not isinstance(parameter.part, Body):
        return values.reshape(len(values), -1)
    if parameter.name == MASS:
        return np.repeat(values[:, None], 5, axis=1)
    J = _matrices(values)
    return np.concatenate([J, J, J[:, DIAGONAL]], axis=1)


def _matrices(J_bar: Array) -> Array:
    """Return inertias (n, 9), row by row and symmetric as `Body` makes them, of (n, 3) or (n, 3, 3)."""
    J = J_bar if J_bar.ndim > 2 else J_bar[:, :, None] * np.eye(3)
    return (0.5 * (J + np.swapaxes(J, 1, 2))).reshape(-1, 9)


def _places(model: Model, table: str, within: Any) -> Ints:
    """Return indices in `reals` of indices in a flat table."""
    indices: Ints = model.tables.place(table)[0] + np.asarray(within, dtype=np.int64)
    return indices


def _constant(model: Model, parameter: Parameter) -> int:
    """Return the index in the flat FORCE_REALS of a constant of an element; -1 if the parameter is not one constant alone."""
    if parameter.part.variable[parameter.name] != ((),):
        return -1
    first = 0
    for entry in sorted(model.loads, key=lambda entry: table_of(type(entry.load))):
        ints, rows = _table_rows(entry, entry.load)
        if entry.load is not parameter.part:
            first += len(rows)
            continue
        probe = parameter.part.varied(**{parameter.name: PROBE})
        other_ints, other = _table_rows(entry, probe)
        changed = [(r, c) for r, row in enumerate(rows) for c, x in enumerate(row) if x != other[r][c]]
        same = all(np.array_equal(x, y) for (_, x), (_, y) in zip(parameter.part.markers(), probe.markers(), strict=True))
        if ints != other_ints or len(changed) != 1 or not same or probe.drivers() != parameter.part.drivers():
            return -1
        r, c = changed[0]
        return (first + r) * model.tables["FORCE_REALS"].shape[1] + c if other[r][c] == PROBE else -1
    return -1


def _table_rows(entry: LoadEntry, load: ForceElement) -> tuple[Any, Any]:
    """Return the integers and the constants in each row of an element in the force table."""
    places = TablePlaces((0,) * len(load.markers()), entry.drivers, entry.signal, entry.angle, entry.turns)
    rows = load.table_rows(places)
    return tuple(tuple(row[0]) for row in rows), tuple(tuple(row[1]) for row in rows)


def _rows_on(model: Model, parameters: Sequence[Parameter]) -> Ints:
    """Return the rows that touch one of the varied bodies."""
    bodies = {model.bodies.index(parameter.part) for parameter in parameters if isinstance(parameter.part, Body)}
    rows: Ints = np.nonzero(np.isin(model.bodies_of_rows(), sorted(bodies)).any(axis=1))[0].astype(np.int64)
    return rows


def _compliance(model: Model, rows: Rows, parameters: Sequence[Parameter], members: slice) -> Array:
    """Return J_r M^-1 J_r^T of the rows on varied bodies, (n, .), as `redundancy.rank.row_scale` does."""
    numbers, n = _rows_on(model, parameters), len(parameters[0].values[members])
    scale, table = np.zeros((n, len(numbers))), model.tables["SHIFTED"]
    varied = {
        (model.bodies.index(parameter.part), parameter.name): parameter.values[members]
        for parameter in parameters
        if isinstance(parameter.part, Body)
    }
    for side in range(rows.bodies.shape[1]):
        bodies, Phi_r, PiBar = rows.bodies[numbers, side], rows.Phi_r[numbers, side], rows.PiBar[numbers, side]
        for k in set(bodies[bodies > 0].tolist()):
            touching = np.nonzero(bodies == k)[0]
            mass = varied.get((k, MASS), table[k, :1])[:, None]
            if (k, INERTIA) in varied:
                J = np.repeat(_matrices(varied[k, INERTIA])[:, None], len(touching), axis=1)
            else:
                J = np.repeat(table[k, None, 1:], len(touching), axis=0)
            inverse = np.asarray(np.linalg.inv(J.reshape(*J.shape[:-1], 3, 3)), dtype=np.float64)
            scale[:, touching] += sliding(Phi_r[touching]) / mass + turning(PiBar[touching], inverse)
    return scale


def _odd(parameter: Parameter) -> Any:
    """Return which members have a mass or an inertia that may be no rigid body's, or that may have an axis without inertia."""
    if parameter.name == MASS:
        return parameter.values <= 0.0
    J = parameter.values if parameter.values.ndim > 2 else parameter.values[:, :, None] * np.eye(3)
    moments = np.linalg.eigvalsh(J)
    asymmetric = (np.swapaxes(J, 1, 2) != J).any(axis=(1, 2))
    return asymmetric | (moments[:, 0] <= NEAR * SUSPECT * moments[:, 2]) | (moments[:, 2] > moments[:, 0] + moments[:, 1])


def _lightness(model: Model, parameters: Sequence[Parameter], n: int) -> Any:
    """Return which of n members have solutions that are refined for light bodies; those of a recursion over a tree never are."""
    varied = {
        (model.bodies.index(parameter.part), parameter.name): parameter.values
        for parameter in parameters
        if isinstance(parameter.part, Body)
    }
    if not varied or model.solver == TREE:
        return np.zeros(n, dtype=bool)
    table = model.tables["INERTIA"]
    mass = np.tile(table[:, 0], (n, 1))
    least = np.tile(least_moments(np.linalg.eigvalsh(table[:, 1:].reshape(-1, 3, 3))), (n, 1))
    for (k, name), values in varied.items():
        if name == MASS:
            mass[:, k] = values
        else:
            moments = np.linalg.eigvalsh(_matrices(values).reshape(-1, 3, 3))
            least[:, k] = least_moments(np.asarray(moments, dtype=np.float64))
    markers = {kind: lines_of(model, kind)[:, FIRST_MARKER:] for kind in POINTS}
    arms = arms_of(markers, model.tables["BODY_OF"].ravel(), model.tables["X_BAR"], model.nb + 1)
    return has_light(mass[:, 1:], least[:, 1:], arms[1:])


def _at_fault(load: ForceElement, parameters: Sequence[Parameter], n: int) -> Any:
    """Return which of n members have values of which the element says that they are wrong."""
    if type(load).number_faults is ForceElement.number_faults:
        return np.zeros(n, dtype=bool)
    each = ({one.name: one.values[k] for one in parameters} for k in range(n))
    return np.array([bool(load.varied(**values).number_faults()) for values in each], dtype=bool)
