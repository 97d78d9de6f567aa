r"""Compile user objects to tables: bodies, joints and loads are numbered, ordered and frozen, once.

bodies -> inertia;  equations -> rows, sorted by kind, over shared markers;  body pairs -> edges of at most six rows -> schedule
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.callbacks.calls import ForceCall, JacobianCall
from haugmbd.callbacks.force_callbacks import DriverCall, ForceCallbacks
from haugmbd.callbacks.jacobian_callbacks import JacobianCallbacks
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import FLOAT, Primitive
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.coordinate_function import CoordinateFunctionRow
from haugmbd.constraints.coupling import CouplingRow
from haugmbd.constraints.curve import PointOnCurveRow
from haugmbd.constraints.registry import COUPLINGS, ROW_KINDS
from haugmbd.control.network import Network
from haugmbd.control.output import BlockOutput
from haugmbd.drivers import Constant, Driver, DriverTables, compile_drivers
from haugmbd.forces.base import ForceElement, TablePlaces
from haugmbd.forces.internal_state import InternalState
from haugmbd.forces.registry import MODULES, table_of
from haugmbd.kkt.elimination_order import ABSOLUTE, RELATIVE, RELATIVE_TO_GROUND, EdgeRows
from haugmbd.kkt.solver_choice import TREE, Forest, choose_solver
from haugmbd.model.coupled_joints import coupled_rows
from haugmbd.model.friction.tables import friction_tables
from haugmbd.model.memory import need_memory
from haugmbd.model.revolute_edges import hinge_table, revolute_edges, rows_of_edges, set_hinges_apart
from haugmbd.model.separable_edges import separable_edges
from haugmbd.workspace.layout import WIDTH, Tables

ROWS_PER_EDGE = 6
ROW_INT_COLUMNS, ROW_REAL_COLUMNS = 6, 3
FORCE_INT_COLUMNS, FORCE_REAL_COLUMNS = 8, 4

SHIFT = 1e-8
"""Inertia added on a massless direction before factoring, relative to the body's own size. One sweep of iterative refinement leaves
the part SHIFT / (SHIFT + inertia that the joints add in this direction) of the error. It is small enough for axes down to 1e-3 rad
from that of a rod; refinement restores the digits that the small pivot costs."""

SUSPECT = 1e-11
"""Part of the largest principal moment; bodies whose least one is smaller are asked for their massless axes, which they tell from 1e-12."""


class LoadEntry(NamedTuple):
    """A load of a compiled model: the numbers of its bodies, signal and integrated angle, and its indices in the driver table.

    turns: the integrated angles of its coordinates, -1 for a displacement;  rows: the bodies that each of its rows acts on
    state: its first internal state, counted from the first of the model
    """

    load: ForceElement
    bodies: tuple[int, ...]
    signal: int
    angle: int
    drivers: tuple[int, ...]
    turns: tuple[int, ...] = ()
    rows: tuple[tuple[int, ...], ...] = ()
    state: int = 0

    def own_angles(self, angles: Array) -> Array:
        """Return its columns of the integrated angles (nt, na): (nt,), or (nt, n) of its coordinates; zeros where there is none."""
        if self.turns:
            return np.stack([angles[:, k] if k >= 0 else np.zeros(len(angles)) for k in self.turns], axis=1)
        if self.load.angles > 1:
            return angles[:, self.angle : self.angle + self.load.angles]
        return angles[:, self.angle] if self.load.angles else np.zeros(len(angles))


class Compiled(NamedTuple):
    """The result of compiling.

    Tables, the slot of each row, the side of its body i, drivers, loads, callbacks, declared jacobians; the solver, and why it was chosen.
    angles: coordinates of couplings and loads that the state integrates, with their indices among the integrated angles
    states: initial values of the internal states
    """

    tables: Tables
    slots: Ints
    sides: Ints
    drivers: tuple[Driver, ...]
    loads: tuple[LoadEntry, ...]
    force_callbacks: ForceCallbacks
    jacobian_callbacks: JacobianCallbacks
    solver: str
    solver_reason: str
    angles: tuple[tuple[Coordinate, int], ...]
    states: tuple[float, ...]


class Numbering:
    """Numbers of bodies, markers (one for each point or vector of a body, however often it is used) and drivers."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies = {body: number for number, body in enumerate(bodies)}
        self._given: dict[tuple[int, int], tuple[int, Array]] = {}
        self.body_of: list[int] = []
        self.x_bar: list[Array] = []
        self.drivers: list[Driver] = []
        self._markers: dict[tuple[int, bytes], int] = {}
        self._drivers: dict[Any, int] = {}

    def marker(self, body: Body, x_bar: Array) -> int:
        """Return the number of a point or vector of a body; arrays that are known by their ids are kept, so that no other has this id."""
        given = id(body), id(x_bar)
        known = self._given.get(given)
        if known is not None:
            return known[0]
        key = (self.bodies[body], (x_bar if x_bar.dtype is FLOAT else np.asarray(x_bar, dtype=np.float64)).tobytes())
        found = self._markers.get(key)
        if found is None:
            found = self._markers[key] = len(self.body_of)
            self.body_of.append(key[0])
            self.x_bar.append(x_bar)
        if not x_bar.flags.writeable:
            self._given[given] = found, x_bar
        return found

    def forget(self) -> None:
        """Give back the memory of the search for markers, which are all known."""
        self._given, self._markers = {}, {}

    def driver(self, driver: Driver) -> int:
        """Return the number of a driver; constants of the same value share one."""
        key: Any = driver.value if isinstance(driver, Constant) else id(driver)
        found = self._drivers.get(key)
        if found is None:
            found = self._drivers[key] = len(self.drivers)
            self.drivers.append(driver)
        return found


class Turns:
    """Numbers of the joint angles that the state integrates: one for each coordinate, whatever couplings and loads read it.

    first: the number of angles that loads integrate for themselves, which stand before these
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.angles: dict[tuple[int, str, int], tuple[Coordinate, int]] = {}

    def number(self, q: Coordinate) -> int:
        """Return the index of a coordinate among the integrated angles; -1 for a displacement."""
        return self.angles.setdefault(q.key, (q, self.first + len(self.angles)))[1] if q.turns else -1


def place_rows(bodies: Iterable[tuple[int, ...]], grounded: Iterable[bool]) -> tuple[list[tuple[int, ...]], list[int], list[int]]:
    """Assign a slot to each row (its body numbers); return edges (ascending), slot of each row, side of its first body on its edge.

    grounded: whether the row is a coupling that also reads the ground, see `Primitive.reads_ground`; such rows have edges of their own
    """
    edges: list[tuple[int, ...]] = []
    filling: dict[tuple[tuple[int, ...], bool], tuple[int, int]] = {}
    slots: list[int] = []
    sides: list[int] = []
    for touched, also_ground in zip(bodies, grounded, strict=True):
        if len(touched) == 2:  # noqa: PLR2004
            i, j = touched
            pair: tuple[int, ...] = touched if i <= j else (j, i)
        else:
            pair = tuple(sorted(touched))
        edge, used = filling.get((pair, also_ground), (-1, ROWS_PER_EDGE))
        if used == ROWS_PER_EDGE:
            edge, used = len(edges), 0
            edges.append(pair)
        filling[pair, also_ground] = (edge, used + 1)
        slots.append(ROWS_PER_EDGE * edge + used)
        sides.append(0 if touched[0] == pair[0] or len(pair) > 2 else 1)  # noqa: PLR2004  rows of more bodies keep the edge's order
    return edges, slots, sides


def edge_rows(primitives: Sequence[Primitive], slots: Sequence[int], n_edges: int) -> EdgeRows:
    """Return the number of rows of each edge, and their kind."""
    weight, kind = [0] * n_edges, [RELATIVE] * n_edges
    for primitive, slot in zip(primitives, slots, strict=True):
        edge = slot // ROWS_PER_EDGE
        weight[edge] += 1
        if not primitive.relative():
            kind[edge] = ABSOLUTE
        elif kind[edge] == RELATIVE and primitive.reads_ground():
            kind[edge] = RELATIVE_TO_GROUND
    return EdgeRows(weight, kind)


def compile_tables(
    bodies: Sequence[Body],
    primitives: Sequence[Primitive],
    owners: Sequence[str],
    loads: Sequence[ForceElement],
    gravity: Array,
    solver: str | None = None,
    network: Network | None = None,
) -> Compiled:
    """Return tables, numbers and callbacks; `bodies` with the ground first, `owners` the joint of each equation.

    solver: see `kkt.solver_choice`;  network: the blocks
    """
    number = Numbering(bodies)
    number.driver(Constant(0.0))
    touched = (tuple(number.bodies[body] for body in p.bodies()) for p in primitives)
    edges, slots, sides = place_rows(touched, (p.reads_ground() for p in primitives))
    n_sides = max((len(edge) for edge in edges), default=2)
    turns = Turns(sum(load.angles for load in loads))
    for q in (q for load in loads for q in load.coordinates()):  # first, so that rows that close later change no number
        turns.number(q)
    row_ints, row_reals, row_kind_at = _row_tables(number, primitives, slots, sides, edges, turns)
    entries = _number_loads(number, loads, turns)
    of_blocks = () if network is None else network.x0.tolist()
    states = (*(x for load in loads for x in load.states()), *of_blocks)
    places = [number.driver(InternalState()) for _ in states]
    n_signals, n_angles = sum(load.signals for load in loads), turns.first + len(turns.angles)
    force_ints, force_reals, force_kind_starts = _force_tables(number, entries, n_angles, places)
    n_tail = n_angles + len(states)
    friction = friction_tables(number, entries, owners, edges, slots, n_angles, places)
    if network is not None:
        outputs = [(k, driver) for k, driver in enumerate(number.drivers) if isinstance(driver, BlockOutput)]
        network = network.placed(entries, outputs, places[-network.size] if network.size else 0, len(states))
    # friction of many joints is solved with the factor of the blocks
    couplings = coupled_rows(primitives, slots, number.bodies, int(row_kind_at[0, COUPLINGS]))
    may_be_forest = len(edges) - len({row.edge for row in couplings}) < len(bodies) and not friction.solves
    rows_of = rows_of_edges(primitives, [slot // ROWS_PER_EDGE for slot in slots]) if may_be_forest else {}
    revolute = revolute_edges(rows_of, number.marker)
    separable = separable_edges({e: own for e, own in rows_of.items() if e not in revolute}, number.marker)
    number.forget()
    pad = np.full((len(edges), ROWS_PER_EDGE), -1.0)
    pad.ravel()[slots] = 0.0
    velocity_rows = np.zeros(pad.shape, dtype=np.int64)
    velocity_rows.ravel()[slots] = [primitive.velocity_only for primitive in primitives]
    inertia, shifted = _inertia(bodies, number)
    drivers = compile_drivers(number.drivers)
    callbacks = _callbacks(number, drivers, primitives, owners, entries, n_tail, network)
    positions = np.array([body.r for body in bodies], dtype=np.float64)
    padded = [(*edge, *[0] * (n_sides - len(edge))) for edge in edges]
    forest = Forest(revolute, separable, number.body_of, not np.array_equal(inertia, shifted), couplings)
    rows = edge_rows(primitives, slots, len(edges))
    chosen = choose_solver(positions, padded, rows, solver, forest)
    hinges = hinge_table(revolute if chosen.name == TREE else {}, primitives, slots, sides)
    row_ints, row_reals, row_kind_ends = set_hinges_apart(row_ints, row_reals, row_kind_at, hinges)
    n_nodes, n_slots = len(bodies) + len(edges), ROWS_PER_EDGE * len(edges)
    ints = (
        {
            "FLAGS": np.array(
                [[not np.array_equal(inertia, shifted), callbacks.any, len(states), *(places or [0])[:1], friction.solves]],
                dtype=np.int64,
            ),
            "BODY_OF": np.array(number.body_of, dtype=np.int64).reshape(-1, 1),
            "ROW_INTS": row_ints,
            "ROW_KIND_STARTS": row_kind_at,
            "ROW_KIND_ENDS": row_kind_ends,
            "HINGES": hinges,
            "FORCE_INTS": force_ints,
            "FORCE_KIND_STARTS": force_kind_starts,
            "DRIVER_TABLE": drivers.table,
            "DRIVER_OPS": drivers.ops,
            "EDGES": np.array(padded, dtype=np.int64).reshape(-1, n_sides),
            "VELOCITY_ROWS": velocity_rows,
            "EDGE_ROWS": np.array(rows, dtype=np.int64).T,
        }
        | friction.ints
        | chosen.ints
    )
    reals = {
        "INERTIA": inertia,
        "SHIFTED": shifted,
        "GRAVITY": gravity[None, :],
        "X_BAR": np.array(number.x_bar, dtype=np.float64).reshape(-1, 3),
        "ROW_REALS": row_reals,
        "FORCE_REALS": force_reals,
        "DRIVER_NUMBERS": drivers.numbers[None, :],
        "PAD": pad,
        "KEPT": 1.0 + pad,
        "ROW_WEIGHT": 1.0 + pad,
        "LENGTH": np.ones((1, 1)),
        "SCALE": _scale(shifted, n_nodes),
    } | friction.reals
    work = (
        {
            "A": (len(bodies), 9),
            "OMEGA": (len(bodies), 3),
            "X": (len(number.body_of), 9),
            "F": (len(number.drivers), 3),
            "SIGNALS": (n_signals, 2),
            "J": (n_slots, 6 * n_sides),
            "LEVEL": (n_slots, 3),
            "Q": (len(bodies), 6),
            "Q_USER": (len(bodies), 6),
            "Y_STOPPED": (1, WIDTH * len(bodies) + n_tail),
            "D_INV": (n_nodes, 6),
            "RIGHT": (n_nodes, 6),
            "SOLUTION": (n_nodes, 6),
            "CORRECTION": (n_nodes, 6),
            "PIVOTS": (6, 7),
            "SOLVE_FOR": (1, 1),
            "STATUS": (1, 4),
            "SUCCEEDED": (1, 1),
        }
        | friction.work(n_nodes)
        | chosen.work
    )
    need_memory(ints | reals, work, len(bodies) - 1, len(primitives))
    slot_of_row, side_of_i = np.array(slots, dtype=np.int64), np.array(sides, dtype=np.int64)
    slot_of_row.flags.writeable = side_of_i.flags.writeable = False
    derivatives = _derivatives(entries, callbacks.shapes[0], callbacks.shapes[1])
    return Compiled(
        Tables(ints, reals, work),
        slot_of_row,
        side_of_i,
        tuple(number.drivers),
        tuple(entries),
        callbacks,
        derivatives,
        chosen.name,
        chosen.reason,
        tuple(turns.angles.values()),
        states,
    )


def _row_tables(
    number: Numbering,
    primitives: Sequence[Primitive],
    slots: Sequence[int],
    sides: Sequence[int],
    edges: Sequence[tuple[int, ...]],
    turns: Turns,
) -> tuple[Ints, Array, Ints]:
    """Return rows sorted by kind: integers, constants, and the first row of each kind; the angles of couplings are added to `turns`."""
    by_kind: list[list[tuple[list[int], tuple[float, ...]]]] = [[] for _ in ROW_KINDS]
    kinds = {kind: (own, issubclass(kind, CouplingRow | PointOnCurveRow)) for kind, own in zip(ROW_KINDS, by_kind, strict=True)}
    marker = number.marker
    for primitive, slot, side in zip(primitives, slots, sides, strict=True):
        own, has_lines = kinds[type(primitive)]
        driver = number.driver(primitive.f)
        if not has_lines:
            numbers = [slot, side, driver, *[marker(body, x_bar) for body, x_bar in primitive.markers()]]
            own.append((numbers, primitive.constants()))
        elif isinstance(primitive, CouplingRow):
            edge = edges[slot // ROWS_PER_EDGE]
            further = primitive.term_lines() if isinstance(primitive, CoordinateFunctionRow) else ()
            for term, (q, c) in enumerate(primitive.terms):
                a, b = (edge.index(k) if (k := number.bodies[body]) in edge else -1 for body in q.bodies)
                angle = turns.number(q)
                markers = [marker(body, x_bar) for body, x_bar in q.markers()]
                more, constant = further[term] if further else ((), 0.0)
                own.append(([slot, a, driver, *markers, b, angle, int(term == 0), *more], (c, q.modelled() - q.q0, constant)))
            if isinstance(primitive, CoordinateFunctionRow):
                own.extend(primitive.program_lines(slot, driver))
        elif isinstance(primitive, PointOnCurveRow):
            markers = [marker(body, x_bar) for body, x_bar in primitive.markers()]
            own.extend(primitive.lines(slot, side, driver, markers))
    return _sorted_table(by_kind, ROW_INT_COLUMNS, ROW_REAL_COLUMNS)


def _number_loads(number: Numbering, loads: Sequence[ForceElement], turns: Turns) -> list[LoadEntry]:
    """Assign signal, angles and drivers to each load, in the order in which they were added."""
    entries: list[LoadEntry] = []
    n_signals = n_angles = n_states = 0
    for load in loads:
        bodies = tuple(number.bodies[body] for body in load.bodies())
        drivers = tuple(number.driver(driver) for driver in load.drivers())
        own = tuple(turns.number(q) for q in load.coordinates())
        rows = tuple(tuple(number.bodies[body] for body in row) for row in load.rows_of_bodies())
        entries.append(LoadEntry(load, bodies, n_signals, n_angles, drivers, own, rows, n_states))
        n_signals += load.signals
        n_angles += load.angles
        n_states += len(load.states())
    return entries


def _force_tables(
    number: Numbering, entries: Sequence[LoadEntry], n_angles: int, places: Sequence[int]
) -> tuple[Ints, Array, Ints]:
    """Return loads sorted by kind: integers, constants, and the first row of each kind.

    n_angles: the integrated angles, behind which the internal states stand;  places: those of the states in the driver table
    """
    by_kind: list[list[tuple[Sequence[int], tuple[float, ...]]]] = [[] for _ in MODULES]
    for load, _, signal, angle, drivers, turns, _, state in entries:
        markers = tuple(number.marker(body, x_bar) for body, x_bar in load.markers())
        own = (n_angles + state, places[state]) if load.states() else (-1, -1)
        by_kind[table_of(type(load))].extend(load.table_rows(TablePlaces(markers, drivers, signal, angle, turns, *own)))
    return _sorted_table(by_kind, FORCE_INT_COLUMNS, FORCE_REAL_COLUMNS)


def _callbacks(
    number: Numbering,
    drivers: DriverTables,
    primitives: Sequence[Primitive],
    owners: Sequence[str],
    entries: Sequence[LoadEntry],
    n_tail: int,
    network: Network | None = None,
) -> ForceCallbacks:
    """Return the calls of the user's functions at every evaluation;  n_tail: integrated angles and internal states of y."""
    force_calls = []
    where: dict[int, str] = {}
    for load, bodies, signal, _, slots, *_ in entries:
        user_function = load.user_function()
        if user_function is not None:
            force_calls.append(ForceCall(user_function, bodies, signal, slots))
        where.update(dict.fromkeys(slots, load.where))
    for primitive, owner in zip(primitives, owners, strict=True):
        where[number.driver(primitive.f)] = f"joint {owner!r}"
    calls = [DriverCall(k, number.drivers[k], where[k]) for k in drivers.python_drivers.tolist()]
    n_signals = sum(entry.load.signals for entry in entries)
    n = len(number.bodies)
    shapes = ((WIDTH * n + n_tail,), (n_signals, 2), (len(number.drivers), 3), (n, 6))
    return ForceCallbacks(tuple(force_calls), tuple(calls), shapes, network)


def _derivatives(entries: Sequence[LoadEntry], y_shape: tuple[int, ...], signals_shape: tuple[int, ...]) -> JacobianCallbacks:
    """Return the declared jacobians, and the places of their values."""
    jacobian_calls: list[JacobianCall] = []
    size = 0
    for load, bodies, signal, *_ in entries:
        if load.jacobian is not None:
            jacobian_calls.append(JacobianCall(load.jacobian, bodies, signal, size))
            size += jacobian_calls[-1].size
    return JacobianCallbacks(tuple(jacobian_calls), (y_shape, signals_shape, (size,), (0,)))


def _sorted_table(
    by_kind: Sequence[Sequence[tuple[Sequence[int], tuple[float, ...]]]], int_columns: int, real_columns: int
) -> tuple[Ints, Array, Ints]:
    """Return lists of (integers, constants), one list a kind, as two zero-padded matrices and the first row of each kind."""
    rows = [row for kind in by_kind for row in kind]
    ints = _padded([numbers for numbers, _ in rows], int_columns, np.dtype(np.int64))
    reals = _padded([constants for _, constants in rows], real_columns, np.dtype(np.float64))
    starts = np.cumsum([0, *(len(kind) for kind in by_kind)], dtype=np.int64)
    return ints, reals, starts[None, :]


def _padded(rows: Sequence[Sequence[Any]], columns: int, dtype: np.dtype[Any]) -> Any:
    """Return rows of numbers as a matrix of at least so many columns, filled with zeros."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    width = max(columns, int(lengths.max(initial=0)))
    matrix = np.zeros((len(rows), width), dtype=dtype)
    matrix[np.arange(width) < lengths[:, None]] = np.fromiter(chain.from_iterable(rows), dtype=dtype, count=int(lengths.sum()))
    return matrix


def _inertia(bodies: Sequence[Body], number: Numbering) -> tuple[Array, Array]:
    """Return rows (mass, J_bar), without and with the shift on massless directions."""
    true = np.array([[body.mass, *body.J_bar.ravel()] for body in bodies])
    shifted = true.copy()
    finite = np.nonzero(np.isfinite(true).all(axis=1))[0]  # an inertia that cannot be is a fault of its own
    moments = np.linalg.eigvalsh(true[finite, 1:].reshape(-1, 3, 3))
    for k in finite[moments[:, 0] <= SUSPECT * moments[:, 2]]:
        body, axes = bodies[int(k)], bodies[int(k)].massless_axes()
        if len(axes):
            arms = [np.sum(np.square(x)) for b, x in zip(number.body_of, number.x_bar, strict=True) if b == k]
            size = max(np.trace(body.J_bar), body.mass * max(arms, default=0.0)) or body.mass
            shifted[k, 1:] += (SHIFT * size * axes.T @ axes).ravel()
    return true, shifted


def _scale(inertia: Array, n_nodes: int) -> Array:
    """Return the scales of pivots: a body's own inertia; 1 for rows until the modelled pose is known."""
    scale = np.ones((n_nodes, 6))
    scale[: len(inertia), :3] = inertia[:, :1]
    scale[: len(inertia), 3:] = inertia[:, [1, 5, 9]]
    return scale
