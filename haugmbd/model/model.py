r"""The compiled model: frozen names and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import for_kernels, read_only
from haugmbd.callbacks import ForceCallbacks, JacobianCallbacks
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import NO_CALLBACK, Callback
from haugmbd.compiled.status_codes import NO_FORCE, USER_STOPPED
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.registry import assemblers
from haugmbd.control.diagram.network import Network
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver, compile_drivers
from haugmbd.errors import SimulationError
from haugmbd.forces.base import ForceElement
from haugmbd.forces.mass_in_time import MassInTime
from haugmbd.formats import view
from haugmbd.friction.routine import FRICTION, NO_FRICTION
from haugmbd.kkt.registry import leaves_out_edges, routines_of, without_tree
from haugmbd.kkt.solver import BLOCK, NO_ROUTINE
from haugmbd.kkt.tree_solver import has_tree
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.dependent_rows import Redundancy, Rule
from haugmbd.model.evaluate import PREPARE, PREPARE_WITH_COUPLINGS, PREPARE_WITH_HINGES
from haugmbd.model.explanation import Explanation, RowExplanation
from haugmbd.model.generalized_forces import APPLY, APPLY_WITH_CONTACTS, APPLY_WITH_MASSES, NO_APPLY
from haugmbd.model.immutable import immutable
from haugmbd.model.labels import JointEntry, RowLabel, rows_by_class
from haugmbd.model.state import State
from haugmbd.model.step_solver import explain_step_solver
from haugmbd.model.views import Pictured
from haugmbd.workspace.body_kinematics import DRIVE, NO_DRIVE
from haugmbd.workspace.layout import N_STATES, REFINES, WIDTH, Pack, Tables, workspace_array

CALLBACK_ARRAYS = ("Y_STOPPED", "SIGNALS", "F", "Q_USER")
"""The workspace arrays that the user's functions are called with, besides t."""

OF_ROWS_AND_BODIES = (
    "_classes_of_rows",
    "_modelled",
    "velocity_rows",
    "_drivers_of_rows",
    "_F0",
)
"""What a run needs of a model's rows and bodies, and does not depend on which rows are dropped, or on the solver."""

MOST_KEPT = 1_000_000
"""Largest number of numbers of a workspace that is kept for the next evaluation: a new one costs little beside what is done in it."""

Load = TypeVar("Load", bound=ForceElement)

Explainer: TypeAlias = "Callable[[Model, str | int | None, State | None], Explanation | RowExplanation]"
"""explainer(model, which, state): the equations as text, see `Model.explain`."""


@public_class
@immutable("Change the System and compile it again; poses and velocities of a run are in State.")
@dataclass(frozen=True, eq=False)
class Model(Pictured):
    """A compiled mechanism, which is frozen. `System.compile` returns it.

    Attributes
    ----------
    name : str
        Name of the system.
    bodies : tuple of Body
        The bodies that were compiled, the ground first.
    body_names : tuple of str
        Their names.
    joints : mapping of str to JointEntry
        The joints by name.
    loads : tuple of LoadEntry
        The force elements, with their numbers.
    labels : sequence of RowLabel
        Joint, kind, words and unit of each row.
    tables : Tables
        The flat arrays that kernels read.
    slot_of_row, side_of_i : ndarray of int, (nc,)
        Slot of each row, and the side of its body i.
    drivers : tuple of Driver
        The drivers, in the order of the tables.
    force_callbacks, jacobian_callbacks : ForceCallbacks, JacobianCallbacks
        The calls of the user's functions, and of their declared jacobians.
    y0 : ndarray
        The modelled state as a flat vector.
    redundancy : Redundancy
        The dependent rows.
    explainer : callable
        The function that `explain` calls.
    warnings : tuple of str
        Reasons why the model cannot move, if it cannot.
    solver, solver_reason : str
        How the equations of motion are solved, "block LDL^T", "tree", "trees on blocks", "multifrontal" or "dense", and why.
    angles : tuple of (Coordinate, int)
        The joint angles that couplings and loads read, and their indices among the integrated angles of the state.
    contacts : tuple of Contact
        The rigid contacts, which have no row while they are open: a run has the models with closed ones.
    parts : SwitchableParts or None
        All parts of a system some of which are off in this model; None where all are on.
    layout : StateLayout or None
        Whose angles and internal states the state has, where some parts are off.
    planar : str or None
        The plane in which it moves, of a planar System; None for a spatial one.
    """

    name: str
    bodies: tuple[Body, ...]
    body_names: tuple[str, ...]
    joints: Mapping[str, JointEntry]
    loads: tuple[LoadEntry, ...]
    labels: Sequence[RowLabel]
    tables: Tables
    slot_of_row: Ints
    side_of_i: npt.NDArray[np.int8]
    drivers: tuple[Driver, ...]
    force_callbacks: ForceCallbacks
    jacobian_callbacks: JacobianCallbacks
    y0: Array
    redundancy: Redundancy
    explainer: Explainer
    warnings: tuple[str, ...] = ()
    solver: str = BLOCK
    solver_reason: str = ""
    angles: tuple[tuple[Coordinate, int], ...] = ()
    contacts: tuple[Any, ...] = ()
    parts: Any = None
    layout: Any = None
    planar: str | None = None

    def __repr__(self) -> str:
        return f"Model({self.name!r}: {self.nb} bodies, {len(self.joints)} joints, {self.nc} rows, {len(self.loads)} loads)"

    @property
    def nb(self) -> int:
        """Return the number of bodies, without the ground."""
        return len(self.body_names) - 1

    @property
    def nc(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    @cached_property
    def _classes_of_rows(self) -> frozenset[type[Primitive]]:
        """The classes of the equations."""
        return frozenset([type(label.primitive) for labels, _ in rows_by_class(self.labels) for label in labels])

    def has_rows_of(self, *kinds: type[Primitive]) -> bool:
        """Return whether there is an equation of one of these classes."""
        return any(issubclass(own, kinds) for own in self._classes_of_rows)

    @property
    def mass(self) -> Array:
        """Return the masses [kg], (nb + 1,); that of the ground is 0."""
        return self.tables["INERTIA"][:, 0]

    @property
    def J_bar(self) -> Array:
        """Return the inertias about the centres of mass, body frames [kg m2], (nb + 1, 3, 3)."""
        return self.tables["INERTIA"][:, 1:].reshape(-1, 3, 3)

    @property
    def gravity(self) -> Array:
        """Return gravity, global [m/s2], (3,)."""
        gravity: Array = self.tables["GRAVITY"][0]
        return gravity

    @property
    def length(self) -> float:
        """The characteristic length [m] that absolute tolerances are measured with, see `model.length`."""
        return float(self.tables["LENGTH"][0, 0])

    @cached_property
    def force_elements(self) -> tuple[ForceElement, ...]:
        """The force elements, in the order of `loads`."""
        return tuple(entry.load for entry in self.loads)

    def loads_of(self, kind: type[Load]) -> list[Load]:
        """Return the force elements of a class, in the order of `loads`."""
        return [load for load in self.force_elements if isinstance(load, kind)]

    @cached_property
    def has_contacts(self) -> bool:
        """Whether one of the loads is a ContactForce."""
        return any(entry.load.is_contact for entry in self.loads)

    @cached_property
    def masses_in_time(self) -> tuple[LoadEntry, ...]:
        """The loads that are masses in time."""
        return tuple(entry for entry in self.loads if isinstance(entry.load, MassInTime))

    def known_mass(self, entry: LoadEntry, t: Array, y: Array) -> MassInTime:
        """Return a mass in time with the values that outputs of blocks have at states y (nt, ny) at t (nt,)."""
        network = self.network

        def known(driver: Driver) -> Driver:
            if network is None or not driver.reads_state:
                return driver
            return network.recorded(driver, t, y)

        assert isinstance(entry.load, MassInTime)
        return entry.load.known(known, self.gravity)

    def inertia_over_time(self, t: Array, y: Array) -> tuple[Array, Array]:
        """Return masses (nt, nb + 1) and J_bar (nt, nb + 1, 3, 3) at states y (nt, ny) at t (nt,)."""
        mass = np.broadcast_to(self.mass, (len(t), self.nb + 1))
        J_bar = np.broadcast_to(self.J_bar, (len(t), self.nb + 1, 3, 3))
        if self.masses_in_time:
            mass, J_bar = mass.copy(), J_bar.copy()
        for entry in self.masses_in_time:
            body = entry.bodies[0]
            mass[:, body], J_bar[:, body] = self.known_mass(entry, t, y).inertia(t)
        return mass, J_bar

    @cached_property
    def has_stops(self) -> bool:
        """Whether one of the loads starts and stops pushing at a limit of a joint's coordinate."""
        return any(entry.load.sides() for entry in self.loads)

    @cached_property
    def touch_columns(self) -> Ints:
        """The columns of the flat state that hold the touch speeds of contact forces; their values jump at touch."""
        first = WIDTH * (self.nb + 1)
        columns = [first + e.angle + k for e in self.loads if e.load.is_contact for k in range(e.load.angles)]
        return np.array(columns, dtype=np.int64)

    @property
    def network(self) -> Network | None:
        """The blocks of the model; None without blocks."""
        return self.force_callbacks.network

    @property
    def n_states(self) -> int:
        """The number of internal states of force elements and blocks, the last numbers of y."""
        return int(self.tables["FLAGS"][0, N_STATES])

    def state(self) -> State:
        """Return the modelled initial state, at t = 0."""
        return self._modelled

    @cached_property
    def _modelled(self) -> State:
        return State.from_y(0.0, self.y0, self.nb + 1, flat=for_kernels(self.y0))

    def pack(self, tables: Tables | None = None) -> Pack:
        """Return the tables (by default the model's own; others have tangents) with a new workspace."""
        callback = self.callback()
        if tables is None or tables is self.tables:
            pack = self.tables.pack(self._F0, callback=callback, **self._own_routines)
        else:
            pack = tables.pack(self._F0, callback=callback, **self._routines(tables))
        callback.link(pack)
        return pack._replace(reals=pack.reals.copy()) if self._own_numbers else pack

    @cached_property
    def _own_numbers(self) -> bool:
        """Whether a run changes numbers of the tables, so that each workspace has its own: masses in time, rows that lock joints."""
        return bool(self.masses_in_time) or any(entry.load.is_exact for entry in self.loads)

    @cached_property
    def block_tables(self) -> Tables:
        """The tables with the block LDL^T of all edges in place of the recursion over a forest, or of blocks that leave some out."""
        return without_tree(self.tables)

    @cached_property
    def _own_routines(self) -> dict[str, Any]:
        """The routines of a workspace of the model's own tables."""
        return self._routines(self.tables)

    def _routines(self, tables: Tables) -> dict[str, Any]:
        """Return the routines of a workspace of these tables, by name."""
        drive = DRIVE if len(self.tables["DRIVER_TABLE"]) else NO_DRIVE
        has_tail = len(self.y0) > WIDTH * (self.nb + 1)
        apply = APPLY if self.loads or self.force_callbacks.any or has_tail else NO_APPLY
        apply = APPLY_WITH_CONTACTS if self.has_contacts else apply
        apply = APPLY_WITH_MASSES if self.masses_in_time else apply
        starts = self.tables["ROW_KIND_STARTS"][0]
        prepare = PREPARE_WITH_HINGES if len(self.tables["HINGES"]) else PREPARE
        prepare = PREPARE_WITH_COUPLINGS if len(self.tables["CLUSTERS"]) else prepare
        solver = routines_of(tables, not self.redundancy.dropped)
        return {
            "drive": drive,
            "apply": apply,
            "fills": assemblers(self.tables["ROW_KIND_ENDS"][0] - starts[:-1]),
            "prepare": prepare,
            "prepare_stage": prepare,
            "factorize": solver.factorize_chosen if self.redundancy.dropped else solver.factorize,
            "finish": solver.finish,
            "begin": solver.begin,
            "refine": solver.refine if self.tables["FLAGS"][0, REFINES] else NO_ROUTINE,
            "friction": FRICTION if len(self.tables["FRICTION_INTS"]) else NO_FRICTION,
        }

    def borrow(self) -> Pack:
        """Return a workspace as new, for one evaluation; `give_back` it afterwards, unless an exception was raised."""
        if self.tables.work_size > MOST_KEPT:
            return self.pack()
        try:
            pack = self._idle.pop()
        except IndexError:
            return self.pack()
        for part in self._kept_work:
            pack.work[part] = self._new_work[part]
        return pack

    def give_back(self, pack: Pack) -> None:
        """Keep a workspace of `borrow` for the next evaluation, if it is not large."""
        if self.tables.work_size <= MOST_KEPT:
            self._idle.append(pack)

    @cached_property
    def _idle(self) -> list[Pack]:
        """The workspaces that nobody uses now: one for each thread that has evaluated the model at the same time."""
        return []

    @cached_property
    def _new_work(self) -> Array:
        """The numbers in a new workspace."""
        return self.pack().work

    @cached_property
    def _kept_work(self) -> tuple[slice, ...]:
        """The parts of a workspace whose numbers an evaluation may find: all but the columns of friction, which grow with the square of
        the joints, and are written before they are read, in a run as here.
        """
        parts, first = [], 0
        columns = [self.tables.place(name) for name in ("FRICTION_COLUMNS", "FRICTION_LANES", "FRICTION_ALGEBRA")]
        for start, rows, width in sorted(columns):
            parts += [slice(first, start)] if start > first else []
            first = max(first, start + rows * width)
        return (*parts, slice(first, self.tables.work_size))

    @cached_property
    def _F0(self) -> Array:
        """The values, rates and accelerations of constant drivers."""
        return compile_drivers(self.drivers).F0

    def callback(self) -> Callback:
        """Return the callback of the user's functions for one run."""
        return self.force_callbacks.callback()

    def raise_user_error(self, pack: Pack) -> None:
        """Raise the exception of a user's function in the run of `pack`, or an error for what it returned, if that stopped the run."""
        for callback in (pack.callback, pack.python_solver):
            error = callback.take_error()
            if error is not None:
                raise error
        code, _, t = workspace_array(pack, "STATUS")[0, :3]
        if code == NO_FORCE and (stopped := self.without_force(pack)):
            raise SimulationError(f"at t = {t:.6g} s {stopped}")
        if code != USER_STOPPED:
            return
        if not self.force_callbacks.compiled or pack.python_solver is not NO_CALLBACK:
            raise KeyboardInterrupt  # lost between compiled code and Python, see `compiled.ffi`
        self.force_callbacks.call(
            t,
            *(
                workspace_array(pack, n).copy().reshape(s)
                for n, s in zip(CALLBACK_ARRAYS, self.force_callbacks.shapes, strict=True)
            ),
        )
        what = (
            f"a function of {self.force_callbacks.names()} gave no finite number at t = {t:.9g} s, but does when it is called again"
        )
        raise SimulationError(f"{what}. A force must depend on nothing but its arguments.")

    def without_force(self, pack: Pack) -> str:
        """Return which force elements have no force at the state that stopped the run of `pack`, and why; "" if all have."""
        n = self.nb + 1
        rows = workspace_array(pack, "Y_STOPPED")[0, : WIDTH * n].reshape(n, 1, WIDTH)
        if not np.isfinite(rows).all():
            return ""
        t = float(workspace_array(pack, "STATUS")[0, 2])
        texts = [entry.load.stopped_at(rows[list(entry.bodies)]) for entry in self.loads]
        y = np.array(workspace_array(pack, "Y_STOPPED"))
        texts += [self.known_mass(entry, np.array([t]), y).wrong_at(t) for entry in self.masses_in_time]
        return " ".join(filter(None, texts))

    @cached_property
    def sides(self) -> int:
        """The largest number of bodies of a row: 2, or more if a coupling connects joints of more bodies."""
        return int(self.tables["EDGES"].shape[1])

    @cached_property
    def velocity_rows(self) -> Ints:
        """The numbers of the rows of velocities only (nonholonomic), which have no position equation."""
        if not any(own.velocity_only for own in self._classes_of_rows):
            return np.zeros(0, dtype=np.int64)
        return np.array([k for k, label in enumerate(self.labels) if label.primitive.velocity_only], dtype=np.int64)

    @cached_property
    def sides_of_rows(self) -> npt.NDArray[np.int8]:
        """The sides of body i, body j and further bodies in the slot of each row, (nc, sides)."""
        others = [np.full(self.nc, side, dtype=np.int8) for side in range(2, self.sides)]
        return np.stack([self.side_of_i, 1 - self.side_of_i, *others], axis=1)

    def bodies_of_rows(self) -> Ints:
        """Return the numbers of body i, body j and further bodies (0 for none) of each row, (nc, sides), read-only."""
        return self._bodies_of_rows

    @cached_property
    def _bodies_of_rows(self) -> Ints:
        edges = self.tables["EDGES"][self.slot_of_row // 6]
        bodies = np.take_along_axis(edges, self.sides_of_rows, axis=1)
        bodies.flags.writeable = False
        return bodies

    @cached_property
    def bodies_of_slots(self) -> Ints:
        """The numbers of the two bodies of the edge of each row, in the order of its slot, (nc, 2)."""
        pairs: Ints = np.asarray(self.tables["EDGES"][self.slot_of_row // 6], dtype=np.int64)
        pairs.flags.writeable = False
        return pairs

    def driver_over_time(self, row: int, t: Array, y: Array) -> Array:
        """Return f, f', f'' (nt, 3) of the driver of a row at states y (nt, ny) at t (nt,): one may follow a block."""
        k = int(self.drivers_of_rows()[row])
        if self.network is not None and any(place == k for place, _ in self.network.motions):
            return self.network.motion_over_time(t, y, k)
        return np.asarray(self.drivers[k].values(t), dtype=np.float64)

    def drivers_of_rows(self) -> Ints:
        """Return the number of the driver of each row, (nc,), read-only."""
        return self._drivers_of_rows

    @cached_property
    def _drivers_of_rows(self) -> Ints:
        ints = np.asarray(self.tables["ROW_INTS"], dtype=np.int64)
        of_slot = np.zeros(6 * len(self.tables["EDGES"]), dtype=np.int64)
        of_slot[ints[:, 0]] = ints[:, 2]
        if not of_slot.any():
            return np.broadcast_to(np.int64(0), self.nc)  # of many rows it would be large
        numbers: Ints = of_slot[self.slot_of_row]
        numbers.flags.writeable = False
        return numbers

    def with_redundancy(self, rule: Rule, tolerance: float | None = None) -> Model:
        """Return the same model with another choice of multipliers of dependent rows.

        Parameters
        ----------
        rule : DropDependentRows or MinimumNorm
            The choice of multipliers.
        tolerance : float, optional
            Distance from the span of the other rows below which a row is dependent at other poses; see `System.compile`.

        Returns
        -------
        Model
            A new model with the same tables.
        """
        return self.changed(redundancy=self.redundancy.with_rule(rule, tolerance))

    def changed(self, **fields: Any) -> Model:
        """Return the same bodies and rows with other `redundancy`, `warnings`, `tables` or solver; what a run needs of them is kept."""
        other = replace(self, **fields)
        vars(other).update({name: known for name, known in vars(self).items() if name in OF_ROWS_AND_BODIES})
        return other

    def with_dropped(self, redundancy: Redundancy) -> Model:
        """Return the same model with these dependent rows, which the recursion over a forest cannot leave out: blocks take its place.

        So they do of blocks that leave out other edges.
        """
        if leaves_out_edges(self.tables):
            return self.changed(tables=without_tree(self.tables), redundancy=redundancy)
        if not (redundancy.dropped and has_tree(self.tables)):
            return self.changed(redundancy=redundancy)
        by_blocks = {"tables": without_tree(self.tables), "solver": BLOCK, "solver_reason": "because rows depend on others"}
        return self.changed(**by_blocks, redundancy=redundancy)

    def body(self, name: str) -> int:
        """Return the number of a body: its row in all arrays."""
        return self.body_names.index(name)

    def explain(self, which: str | int | None = None, *, state: State | None = None) -> Explanation | RowExplanation:
        """Return the equations as text; print them.

        Parameters
        ----------
        which : str or int, optional
            Name of a joint, or number of a row; by default a table of all rows.
        state : State, optional
            The state; by default the modelled one.

        Returns
        -------
        Explanation or RowExplanation
            The rows, or one row.

        Raises
        ------
        UsageError
            If there is no such joint or row.
        """
        return self.explainer(self, which, state)

    def explain_solver(self) -> str:
        """Return how the equations of motion are solved, and why, in a line."""
        in_steps = explain_step_solver(self.tables, (self.solver, self.solver_reason), self.loads)
        return f"{self.solver}, {self.solver_reason}" + ("" if in_steps == self.solver else f"; in implicit steps {in_steps}")

    def evaluator(self) -> Any:
        """Return an object that evaluates accelerations, multipliers and rows in loops of one's own, without copies.

        Returns
        -------
        Evaluator
            evaluator(t, y) evaluates a flat state, such as `State.y`; `v_dot`, `omega_bar_dot`, `lam`, `Phi`, `nu`, `gamma` are its
            results.
        """
        return view("evaluator")(self)

    def are_between_two(self, entry: JointEntry) -> bool:
        """Return whether all rows of a joint act between its two bodies, and on no other, such as the ground beside a pair of gears."""
        if len({place[0] for place in entry.places}) > 2:  # noqa: PLR2004
            return False
        bodies = self.bodies_of_rows()[entry.rows]
        return bool((np.sort(bodies[:, :2], axis=1) == sorted((entry.i, entry.j))).all() and not bodies[:, 2:].any())

    def lam_of(self, x: Array) -> Array:
        """Return the multipliers by rows (nc,) of a solution by nodes (nn, 6)."""
        return x[self.nb + 1 :].ravel()[self.slot_of_row]


def frozen_y0(bodies: list[Array], angles: list[float]) -> Array:
    """Return the flat state of the modelled bodies and integrated angles, read-only."""
    return read_only(np.concatenate([*bodies, angles]))
