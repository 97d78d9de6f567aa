r"""Compile user objects to tables: bodies, joints and loads are numbered, ordered and frozen, once.

    joints     ->  equations as columns     which bodies, markers and drivers each row reads
    equations  ->  edges                    a slot for each row: at most six between the same bodies
    edges      ->  solver                   the order in which they are eliminated
    all        ->  tables                   constant arrays, and the shapes of those that a run writes

Every number in the tables has the same bits for the same parts in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.callbacks import ForceCallbacks, JacobianCallbacks
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import WORDS
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.equations.coordinate_function import room_for_profiles
from haugmbd.constraints.equations.hinge import COLUMNS as HINGE_COLUMNS
from haugmbd.constraints.joint import Joint
from haugmbd.constraints.registry import COORDINATE_FUNCTIONS
from haugmbd.control.diagram.network import Network
from haugmbd.control.output import BlockOutput
from haugmbd.drivers import Constant, Driver, DriverTables, compile_drivers
from haugmbd.drivers.program import room_for_tapes
from haugmbd.forces.base import ForceElement
from haugmbd.forces.mass_in_time import INERTIA, SHIFT, MassInTime
from haugmbd.forces.registry import MASSES
from haugmbd.forces.stops import WrittenLine
from haugmbd.friction.tables import FrictionTables, friction_tables, sweep_tables
from haugmbd.kkt.cluster_order import CoupledRow
from haugmbd.kkt.complete_pivoting import room_for
from haugmbd.kkt.elimination_order import EdgeRows
from haugmbd.kkt.registry import choose_solver
from haugmbd.kkt.solver import TREE, TREES_ON_BLOCKS, SolverTables
from haugmbd.kkt.tree_order import NO_FORM, Branch, Forms, hanging_branches, no_forms, order_of_forest
from haugmbd.kkt.tree_solver import Forest
from haugmbd.model.compiling.equations import Equations, Given, read_equations
from haugmbd.model.compiling.inertia import InertiaTables, inertia_tables, pivot_scale
from haugmbd.model.compiling.joint_forms import (
    COUPLINGS,
    angle_table,
    coupled_rows,
    hinge_table,
    revolute_edges,
    separable_edges,
    set_hinges_apart,
)
from haugmbd.model.compiling.loads import LoadEntry, force_callbacks, force_table, jacobian_callbacks, number_loads
from haugmbd.model.compiling.numbering import Numbering, StateLayout, Turns, new_numbering
from haugmbd.model.compiling.row_table import ROWS_PER_EDGE, Edges, edge_rows, place_rows, row_table
from haugmbd.model.memory import need_memory
from haugmbd.workspace.layout import FOR_LIGHT, FOR_MASSLESS, WIDTH, Tables

NO_HINGES = np.zeros((0, HINGE_COLUMNS), dtype=np.int64)


class Compiled(NamedTuple):
    """The result of compiling.

    Tables, the equations, the edges, drivers, loads, callbacks, declared jacobians; the solver, and why it was chosen.
    angles: coordinates of couplings and loads that the state integrates, with their indices among the integrated angles
    states: initial values of the internal states
    """

    tables: Tables
    equations: Equations
    edges: Edges
    drivers: tuple[Driver, ...]
    loads: tuple[LoadEntry, ...]
    force_callbacks: ForceCallbacks
    jacobian_callbacks: JacobianCallbacks
    solver: str
    solver_reason: str
    angles: tuple[tuple[Coordinate, int], ...]
    states: tuple[float, ...]


class _Parts(NamedTuple):
    """The parts of the tables.

    inertia: of the bodies;  rows: integers, constants, first line of each kind;  forces: the same of loads
    body_of, x_bar: the markers;  places: lines of the internal states in the driver table;  n_tail: angles and internal states of y
    couplings: of joint coordinates, on edges of their own
    """

    gravity: Array
    inertia: InertiaTables
    edges: Edges
    equations: Equations
    rows: tuple[Ints, Array, Ints]
    forces: tuple[Ints, Array, Ints]
    body_of: Ints
    x_bar: Array
    drivers: DriverTables
    friction: FrictionTables
    places: list[int]
    n_signals: int
    n_tail: int
    has_callbacks: bool
    couplings: tuple[CoupledRow, ...]


def compile_tables(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    given: Given,
    loads: Sequence[ForceElement],
    gravity: Array,
    solver: str | None = None,
    network: Network | None = None,
    layout: StateLayout | None = None,
    dropped: Sequence[int] = (),
) -> Compiled:
    """Return tables, numbers and callbacks; `bodies` with the ground first, `given` the equations of each joint.

    solver: see `kkt.registry`;  network: the blocks;  layout: of the state, where some parts of a system are off
    dropped: rows that depend on the others
    """
    every = loads if layout is None else layout.loads
    number = new_numbering(bodies)
    number.driver(Constant(0.0))
    # joints -> equations as columns -> edges with a slot for each row
    equations = read_equations(joints, given, number)
    edges = place_rows(equations)
    turns = _number_turns(every, layout)
    rows = row_table(equations, edges, number, turns)
    # loads -> entries, with the lines of the driver table that their internal states write
    entries = number_loads(number, loads, turns, None if layout is None else every)
    states = (*(x for load in every for x in load.states()), *(() if network is None else network.x0.tolist()))
    places = [number.driver(WrittenLine()) for _ in states]
    n_angles = turns.first + len(turns.angles)
    forces = force_table(number, entries, n_angles, places)
    friction = friction_tables(number, entries, _slots_by_joint(joints, equations, edges), edges, n_angles, places)
    if network is not None:
        network = _placed(network, entries, equations, number, places)
    # all markers and drivers have their numbers here
    body_of, x_bar = number.marker_table()
    number.forget()
    drivers = compile_drivers(number.drivers)
    n_tail = n_angles + len(states)
    inertia = inertia_tables(bodies, equations, body_of, x_bar)
    keep_shifts(forces, entries, inertia)
    callbacks = force_callbacks(number, drivers, _joint_by_driver(joints, equations), entries, n_tail, network)
    parts = _Parts(
        gravity, inertia, edges, equations, rows, forces, body_of, x_bar, drivers, friction, places,
        n_signals=sum(load.signals for load in loads),
        n_tail=n_tail,
        has_callbacks=callbacks.any,
        couplings=coupled_rows(equations, edges, number, int(rows[2][0, COUPLINGS])),
    )  # fmt: skip
    # edges -> solver -> tables
    tables, chosen = _tables(bodies, parts, solver, edges_without_rows(edges.slot, dropped))
    jacobians = jacobian_callbacks(entries, callbacks.shapes[0], callbacks.shapes[1])
    return Compiled(
        tables, equations, edges, tuple(number.drivers), tuple(entries), callbacks, jacobians,
        chosen.name, chosen.reason, tuple(turns.angles.values()), states,
    )  # fmt: skip


def _number_turns(every: Sequence[ForceElement], layout: StateLayout | None) -> Turns:
    """Return the angles that are integrated: those of loads first, so that rows that close later change no number."""
    turns = Turns(sum(load.angles for load in every))
    for q in (q for load in every for q in load.coordinates()):
        turns.number(q)
    for q in () if layout is None else layout.coordinates:
        turns.number(q)
    return turns


def _placed(network: Network, entries: Sequence[LoadEntry], equations: Equations, number: Numbering, places: list[int]) -> Network:
    """Return the network with the lines of its outputs: those that prescribe motions, those that change masses, and the others."""
    followed = [(k, driver) for k, driver in enumerate(number.drivers) if isinstance(driver, BlockOutput)]
    driving = {*equations.driver.tolist(), *(number.driver(f) for p in equations.objects.values() for f in p.prescribed())}
    of_masses = {k for entry in entries if isinstance(entry.load, MassInTime) for k in entry.drivers} - driving
    motions, masses = ([output for output in followed if output[0] in some] for some in (driving, of_masses))
    outputs = [output for output in followed if output[0] not in driving | of_masses]
    return network.placed(entries, outputs, motions, masses, places[-network.size] if network.size else 0, len(places))


def keep_shifts(forces: tuple[Ints, Array, Ints], entries: Sequence[LoadEntry], inertia: InertiaTables) -> None:
    """Write what is added to the inertia on massless directions to the rows of the masses in time."""
    first = int(forces[2].ravel()[MASSES])
    for k, entry in enumerate(entry for entry in entries if isinstance(entry.load, MassInTime)):
        forces[1][first + k, SHIFT : SHIFT + INERTIA] = (inertia.shifted - inertia.true)[entry.bodies[0]]


def _slots_by_joint(joints: Sequence[Joint], equations: Equations, edges: Edges) -> Callable[[str], Ints]:
    """Return a function that gives the slots of the rows of a joint by its name."""

    def slots_of(name: str) -> Ints:
        k = next(k for k, joint in enumerate(joints) if joint.name == name)
        return edges.slot[equations.first[k] : equations.first[k + 1]]

    return slots_of


def _joint_by_driver(joints: Sequence[Joint], equations: Equations) -> Callable[[int], str | None]:
    """Return a function that gives the name of the last joint with a row that a driver prescribes, None without one."""

    def joint_of(driver: int) -> str | None:
        rows = np.flatnonzero(equations.driver == driver)
        return joints[int(np.searchsorted(equations.first, rows[-1], side="right")) - 1].name if len(rows) else None

    return joint_of


def edges_without_rows(slots: Ints, dropped: Sequence[int]) -> frozenset[int]:
    """Return the edges of which all rows are dropped;  slots: of all rows;  dropped: numbers of rows"""
    if not dropped:
        return frozenset()
    rows = np.bincount(slots // ROWS_PER_EDGE)
    gone = np.bincount(slots[np.array(dropped, dtype=np.int64)] // ROWS_PER_EDGE, minlength=len(rows))
    return frozenset(np.flatnonzero((gone == rows) & (rows > 0)).tolist())


class _Choice(NamedTuple):
    """The solver that is chosen, and what it is chosen by.

    solver: with its tables;  forms: of the edges;  paths: along which sweeps solve for friction;  rows: of each edge
    massless, light: whether some directions of bodies have no inertia, or little
    """

    solver: SolverTables
    forms: Forms
    paths: Ints
    rows: EdgeRows
    massless: bool
    light: bool


def _choose(bodies: Sequence[Body], p: _Parts, solver: str | None, left_out: frozenset[int]) -> _Choice:
    """Return the solver for the edges: the one of this name, or that which is predicted to be faster."""
    massless = not np.array_equal(p.inertia.true, p.inertia.shifted)
    pairs = list(map(tuple, p.edges.bodies.tolist()))
    forms = _forms(p, len(bodies))
    paths = friction_paths(p.friction, pairs, forms, len(bodies))
    if p.friction.solves and not len(paths):
        forms = no_forms(len(pairs))  # friction is solved with the factor of the blocks
    hanging = [] if massless or p.inertia.has_light else _hanging(p, pairs, len(bodies))
    if hanging:
        forms = _forms_of(p).of({branch.edge for branch in hanging})
    positions = np.array([body.r for body in bodies], dtype=np.float64)
    rows = edge_rows(p.equations, p.edges)
    chosen = choose_solver(positions, pairs, rows, solver, Forest(forms, p.body_of, massless, p.couplings, hanging), left_out)
    light = p.inertia.has_lightest and not p.couplings if chosen.name == TREE else p.inertia.has_light
    return _Choice(chosen, forms, paths, rows, massless, bool(light))


def _tables(bodies: Sequence[Body], p: _Parts, solver: str | None, left_out: frozenset[int]) -> tuple[Tables, SolverTables]:
    """Return the tables, and the solver that they are made for."""
    choice = _choose(bodies, p, solver, left_out)
    chosen = choice.solver
    sweeps = sweep_tables(choice.paths if chosen.name == TREE else choice.paths[:0])
    n_edges = len(p.edges.bodies)
    n_nodes = len(bodies) + n_edges
    ints = _integer_tables(p, choice) | p.friction.ints | sweeps.ints | chosen.ints
    if "CLUSTER_ANGLES" in ints:
        ints["CLUSTER_ANGLES"] = angle_table(ints["CLUSTER_ANGLES"], p.rows[0], p.body_of)
    reals = _real_tables(p, choice, n_nodes) | p.friction.reals
    refines = choice.massless or choice.light
    complete = room_for(len(bodies) - 1, len(p.equations.kind)) if refines else (0, 0)
    even = {"EVEN_SCALE": (n_nodes * refines, 6), "COMPLETE": complete}
    work = _work(len(bodies), p, n_nodes) | even | p.friction.work(n_nodes) | sweeps.work | chosen.work
    need_memory(ints | reals, work, len(bodies) - 1, len(p.equations.kind), loops=n_edges >= len(bodies))
    return Tables(ints, reals, work), chosen._replace(reason=chosen.reason + (sweeps.reason and f"; {sweeps.reason}"))


def _integer_tables(p: _Parts, choice: _Choice) -> dict[str, Ints]:
    """Return the tables of integers that every solver has; rows that hinges write are set apart from the others of their kind."""
    name = choice.solver.name
    hinges = hinge_table(choice.forms.revolute, p.equations, p.edges) if name in (TREE, TREES_ON_BLOCKS) else NO_HINGES
    kind_ends, starts = set_hinges_apart(*p.rows, hinges), p.rows[2][0]
    if len(choice.solver.ints.get("CLUSTER_TERMS", ())) == starts[COUPLINGS + 1] - starts[COUPLINGS]:
        kind_ends[0, COUPLINGS] = starts[COUPLINGS]  # otherwise these are written with the others, and again
    has_velocity_rows = p.equations.velocity_only.any()
    velocity_rows = np.zeros((len(p.edges.bodies) if has_velocity_rows else 0, ROWS_PER_EDGE), dtype=np.int64)
    if len(velocity_rows):
        velocity_rows.ravel()[p.edges.slot] = p.equations.velocity_only
    flags = [
        FOR_MASSLESS * choice.massless + FOR_LIGHT * choice.light,
        p.has_callbacks,
        len(p.places),
        *(p.places or [0])[:1],
        p.friction.solves,
    ]
    return {
        "FLAGS": np.array([flags], dtype=np.int64),
        "BODY_OF": p.body_of.reshape(-1, 1),
        "ROW_INTS": p.rows[0],
        "ROW_KIND_STARTS": p.rows[2],
        "ROW_KIND_ENDS": kind_ends,
        "HINGES": hinges,
        "FORCE_INTS": p.forces[0],
        "FORCE_KIND_STARTS": p.forces[2],
        "DRIVER_TABLE": p.drivers.table,
        "DRIVER_OPS": p.drivers.ops,
        "EDGES": p.edges.bodies,
        "VELOCITY_ROWS": velocity_rows,
        "EDGE_ROWS": np.array(choice.rows, dtype=np.int64).T,
    }


def _real_tables(p: _Parts, choice: _Choice, n_nodes: int) -> dict[str, Array]:
    """Return the tables of numbers that every solver has;  n_nodes: bodies and edges"""
    pad = np.full((len(p.edges.bodies), ROWS_PER_EDGE), -1.0)
    pad.ravel()[p.edges.slot] = 0.0
    kept = 1.0 + pad
    return {
        "INERTIA": p.inertia.true,
        "SHIFTED": p.inertia.shifted,
        "GRAVITY": p.gravity[None, :],
        "X_BAR": p.x_bar,
        "ROW_REALS": p.rows[1],
        "FORCE_REALS": p.forces[1],
        "DRIVER_NUMBERS": p.drivers.numbers[None, :],
        "PAD": pad,
        "KEPT": kept,
        "ROW_WEIGHT": kept,
        "LENGTH": np.ones((1, 1)),
        "SCALE": pivot_scale(p.inertia.shifted, n_nodes),
        "EVEN": p.inertia.even if choice.massless or choice.light else p.inertia.even[:0],
    }


def _forms(p: _Parts, n_bodies: int) -> Forms:
    """Return the edges of known forms of a model that may be a forest.  n_bodies: the ground counted"""
    n_edges = len(p.edges.bodies)
    if n_edges - len({row.edge for row in p.couplings}) >= n_bodies:
        return no_forms(n_edges)
    return _forms_of(p)


def _forms_of(p: _Parts) -> Forms:
    """Return the edges of known forms."""
    forms = no_forms(len(p.edges.bodies))._replace(revolute=revolute_edges(p.equations, p.edges, p.x_bar))
    others = np.flatnonzero(forms.revolute[:, 0] == NO_FORM)
    if len(others):
        forms.separable[others] = separable_edges(p.equations, p.edges, p.x_bar, p.body_of)[others]
    return forms


def _hanging(p: _Parts, pairs: list[tuple[int, ...]], n_bodies: int) -> list[Branch]:
    """Return the branches of trees that hang on loops; none of a forest, with couplings of angles, or friction by reactions.

    A forest may have couplings on edges of their own.
    """
    of_angles = any(not any(term.slides for term in row.terms) for row in p.couplings)
    n_edges = len(p.edges.bodies) - len({row.edge for row in p.couplings})
    if p.edges.bodies.shape[1] > 2 or of_angles or p.friction.solves or n_edges < n_bodies:  # noqa: PLR2004
        return []
    return hanging_branches(n_bodies, pairs)


def friction_paths(friction: FrictionTables, pairs: list[tuple[int, ...]], forms: Forms, n_bodies: int) -> Ints:
    """Return the bodies along which sweeps solve for friction, see `friction.tables.paths_to_ground`."""
    revolute = set(np.flatnonzero(forms.revolute[:, 0] != NO_FORM).tolist())
    return friction.paths_to_ground(order_of_forest(n_bodies, pairs) if friction.solves and revolute else None, revolute)


def _room_for_tapes(p: _Parts) -> int:
    """Return the number of slots of the longest tape, of the drivers and of the functions of joint coordinates."""
    row_ints, starts = p.rows[0], p.rows[2].ravel()
    functions = row_ints[starts[COORDINATE_FUNCTIONS] : starts[COORDINATE_FUNCTIONS + 1]]
    return max(room_for_tapes(p.drivers.table), room_for_profiles(functions) if len(functions) else 0)


def _work(n_bodies: int, p: _Parts, n_nodes: int) -> dict[str, tuple[int, int]]:
    """Return the shapes of the arrays that every run writes, whatever the solver."""
    n_slots, sides = ROWS_PER_EDGE * len(p.edges.bodies), p.edges.bodies.shape[1]
    return {
        "A": (n_bodies, 9),
        "OMEGA": (n_bodies, 3),
        "X": (len(p.body_of), 9),
        "F": (len(p.drivers.F0), 3),
        "TAPE": (_room_for_tapes(p), 3),
        "SIGNALS": (p.n_signals, 2),
        "J": (n_slots, 6 * sides),
        "LEVEL": (n_slots, 3),
        "Q": (n_bodies, 6),
        "Q_USER": (n_bodies, 6),
        "Y_STOPPED": (1, WIDTH * n_bodies + p.n_tail),
        "D_INV": (n_nodes, 6),
        "RIGHT": (n_nodes, 6),
        "SOLUTION": (n_nodes, 6),
        "CORRECTION": (n_nodes, 6),
        "PIVOTS": (6, 9),
        "SPAN": (len(p.edges.bodies), 1),
        "SOLVE_FOR": (1, 1),
        "STATUS": (1, 4),
        "SUCCEEDED": (1, WORDS),
    }
