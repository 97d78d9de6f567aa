r"""A compiled model as three flat arrays, and the names of the matrices in them.

    Pack = (ints, reals, work, ...)     ints: numbers of bodies, markers, rows, steps;  reals: constants;  work: the workspace
    y    = ( r, p, v, omega_bar of body 0 (ground), 1, ..., nb;  integrated joint angles, internal states )   13 numbers a body

Every array argument costs compiled functions time at each call and at compilation. All matrices therefore travel as three arrays, and
`accessors` returns them by name. `ints` begins with (start, rows, columns) of each matrix.

Rows are stored in SLOTS: edge e (the rows between the same bodies, at most six) owns slots 6 e ... 6 e + 5; unused ones are padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import CALLBACK_TYPE, NO_CALLBACK, Callback
from haugmbd.compiled.function_pointers import F1, F2, I1, Routine, function_type, types
from haugmbd.compiled.native_tuples import tuple_pointer, words_of
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.constraints.registry import ASSEMBLERS_TYPE
from haugmbd.math.body_columns import WIDTH as WIDTH

INTS = {
    "FLAGS": "(1, 5) refines: FOR_MASSLESS + FOR_LIGHT, 0 if solutions are not refined;  calls_user: 1 if functions of the user are called;"
    "  number of internal states, and the place of the first in the driver table;  friction: see `accessors.friction_mode`",
    "BODY_OF": "(nm, 1) the body of each marker",
    "ROW_INTS": "(., 6) rows sorted by kind: slot, side of body i, driver, markers; of couplings a line for each term, 9 columns",
    "ROW_KIND_STARTS": "(1, kinds + 1) first row of each kind",
    "ROW_KIND_ENDS": "(1, kinds) end of the rows of each kind that are written one by one; those of hinges follow",
    "HINGES": "(nh, 8) revolute joints whose rows are written at once, see `constraints.hinge`",
    "FORCE_INTS": "(nl, 8 or more) rows of loads sorted by kind: markers, drivers, signal, angle, first internal state and its place in "
    "the driver table; of joint coordinates one row for each",
    "FORCE_KIND_STARTS": "(1, kinds + 1) first load of each kind",
    "DRIVER_TABLE": "(., 9) programs of the drivers, see `drivers.tables`",
    "DRIVER_OPS": "(., 4) operations of their tapes",
    "EDGES": "(ne, sides) the bodies of each edge: two, or more with couplings of several joints, then filled with 0",
    "VELOCITY_ROWS": "(ne, 6) 1 for a row of velocities only, which has no Phi; (0, 6) if there is none",
    "EDGE_ROWS": "(ne, 2) number and kind of the rows of each edge, see `kkt.elimination_order`",
    "COUPLED_PAIRS": "(n, 4) pairs of bodies coupled by the tangent of a force: bodies i and j, block, 1 where it is [j, i]",
    "DIFFERENCE_COLORS": "(nb + 1, 1) colors of bodies whose forces are differenced, 0 for none; in the ground's place their number",
    "FORCE_COUPLINGS": "(nl, 2) of each load: coupled pair of bodies, first index of its declared jacobian in USER_JACOBIANS; -1 for none",
    "JACOBIAN_PAIRS": "(n, 7) pairs of bodies of a StateForce with a jacobian: first index, number of bodies, places, bodies, coupled pair",
    "FRICTION_INTS": "(nf, 27) joints with friction, see `friction.columns`",
    "FRICTION_PATHS": "(n, 5) bodies of a forest between joints with friction and the ground, see `friction.columns`",
    "LINKS": "(n, 3) of a serial chain: first freedom, number of freedoms, first coordinate",
    "FREEDOMS": "(nv, 2) of a serial chain: kind, link",
}
REALS = {
    "INERTIA": "(nb + 1, 10) mass [kg], J_bar row by row [kg m2]",
    "SHIFTED": "(nb + 1, 10) the same, with inertia added on massless directions",
    "GRAVITY": "(1, 3) global [m/s2]",
    "X_BAR": "(nm, 3) the markers: points [m] and vectors in their body's frame",
    "ROW_REALS": "(nc, 3) constants of the rows",
    "FORCE_REALS": "(nl, 4 or more) constants of the loads",
    "DRIVER_NUMBERS": "(1, .) constants and tables of the drivers",
    "PAD": "(ne, 6) 0 for a row, -1 for padding",
    "KEPT": "(ne, 6) 1 for a row, 0 for padding and for a row that is dropped because it depends on the others",
    "ROW_WEIGHT": "(ne, 6) factor that makes Phi of a kept row a number without a length, see `model.length`; 0 for the others",
    "LENGTH": "(1, 1) the characteristic length [m], see `model.length`",
    "SCALE": "(nn, 6) scales of the pivots",
    "EVEN": "(nb + 1, 10) of models whose solutions are refined: an inertia that is equal for all bodies, see `kkt.entry_points`",
    "FRICTION_REALS": "(nf, 14) joints with friction",
    "LINK_REALS": "(n, 25) of a serial chain: offset of the handle, orientation there, centre of mass, mass, J_bar",
    "FREEDOM_AXES": "(nv, 3) of a serial chain: unit axes, link frames",
    "BASE": "(1, 3) of a serial chain: the base point, global [m]",
}
WORK = {
    "A": "(nb + 1, 9) rotation matrices",
    "OMEGA": "(nb + 1, 3) angular velocities, global",
    "X": "(nm, 9) markers: value, rate, centripetal part, global",
    "F": "(nd, 3) drivers: f, f', f''",
    "TAPE": "(n, 3) room for the tape that is evaluated: a driver, or a function of a joint coordinate",
    "SIGNALS": "(n, 2) length or angle of an actuator, and its rate",
    "J": "(6 ne, 6 sides) rows: Phi_r and PiBar of the edge's bodies",
    "LEVEL": "(6 ne, 3) rows: Phi, nu, gamma",
    "Q": "(nb + 1, 6) generalized forces",
    "Q_USER": "(nb + 1, 6) the part of the user's callables",
    "Y_STOPPED": "(1, ny) the state at which a callable of the user stopped the run",
    "D": "(nn, 36) diagonal blocks of the bodies, and of the edges with blocks",
    "D_INV": "(nn, 6) inverse pivots, which every solver leaves to those who watch them",
    "RIGHT": "(nn, 6) right-hand side, by nodes",
    "SOLUTION": "(nn, 6) solution, by nodes",
    "SOLVE_FOR": "(1, 1) unknowns of the right-hand side: ACCELERATIONS, POSITIONS or VELOCITIES",
    "CORRECTION": "(nn, 6) correction of a refinement sweep",
    "EVEN_SCALE": "(nn, 6) scales of the pivots with the inertia EVEN",
    "COMPLETE": "(n, n + 5) of models whose solutions are refined: the matrix of all unknowns, see `kkt.complete_pivoting`",
    "PIVOTS": "(6, 9) the rows of one edge while some of them are chosen",
    "SPAN": "(ne, 1) squared volume of the rows of edges of which some are left out, see `kkt.rank_deficient`; 0 for the others",
    "LEAST_SQUARES": "(5, 6 nn) vectors of the conjugate gradients for dependent rows, and lengths of rows, see `kkt.least_squares`",
    "STATUS": "(1, 4) status: code, place, number, and a step [s] for some codes",
    "SUCCEEDED": "(1, 3) 1 if the last call of the user's functions returned without an exception, and addresses, see `compiled.ffi`",
    "TANGENT": "(nb + 1, 36) the tangents of the forces in the bodies' blocks of M, for an implicit step",
    "COUPLED_TANGENTS": "(n, 36) the same, of two bodies i and j",
    "DIFFERENCES": "(1, .) differences of forces: a state, and Phi_q^T lam - Q before and after",
    "USER_JACOBIANS": "(1, .) values of the user's jacobians, see `callbacks`",
    "DISPLACEMENT": "(nb + 1, 6) of an implicit step: from the base pose [m, rad]; a failed step restores the matrices from here on",
    "BASE_POSE": "(nb + 1, 7) of an implicit step: the pose from which displacements are counted",
    "U_DOT": "(nb + 1, 6) of an implicit step: u' = (v', omega_bar')",
    "ALGORITHMIC": "(nb + 1, 6) of an implicit step: the algorithmic acceleration a of generalized-alpha",
    "U_DOT_BEFORE": "(nb + 1, 6) of an implicit step: u' one step before",
    "U_DOT_EARLIER": "(nb + 1, 6) of an implicit step: u' two steps before",
    "PREDICTED_R7": "(nb + 1, 11) of an implicit step: predicted p' (4) and a (7) of generalized-alpha on R^7",
    "ANGLE_RATE": "(1, na) rates of the integrated angles and internal states at the start of an implicit step",
    "STATE_RATES_BEFORE": "(2, nx) rates of the internal states one and two steps before, of an implicit step",
    "LAMBDA": "(6 ne, 1) multipliers of an implicit step, by slots",
    "FRICTION_TERMS": "(nf, 74) of each joint with friction: directions, rates, coefficients, friction",
    "FRICTION_MODES": "(nf, 5) how it moves until the next event of a run, and against which direction; 0: the state decides",
    "FRICTION_BASE": "(1, 6 nn) the solution without friction",
    "FRICTION_COLUMNS": "(m, 6 nn) solutions by unit friction, of each channel",
    "FRICTION_LANES": "(nn, 96) solutions by unit friction of sixteen joints that slide, side by side",
    "FRICTION_ALGEBRA": "(1, .) small matrices, see `friction.loop_arrays`",
    "FRICTION_SWEEPS": "(n / 8, 680) of each eight bodies of FRICTION_PATHS, see `friction.sweep_lanes`",
    "LINK_A": "(n, 9) of a serial chain: rotation matrices",
    "LINK_PLACE": "(n, 9) handle, step from the handle before, centre of mass from the handle, global",
    "LINK_RATE": "(n, 12) velocity of the handle, angular velocity, bias acceleration, global",
    "LINK_WRENCH": "(n, 6) force and moment about the handle, global",
    "LINK_J": "(n, 6) inertia about the centre of mass, global axes: xx, xy, xz, yy, yz, zz",
    "TAU_IS_A_FUNCTION": "(1, 1) of a serial chain: 1 if a function of the user returns tau",
    "QDD": "(1, nv) of a serial chain: joint accelerations",
    "TAU": "(1, nv) of a serial chain: generalized forces",
    "EXTERNAL_WRENCHES": "(n, 6) of a serial chain: external forces and moments at the centres of mass, global",
    "LINK_MOTION": "(n, 6) acceleration of the handle, angular acceleration, global (spatial)",
    "FREEDOM_TERMS": "(nv, 11) axis, U, 1/D, u, global",
}
PLACE = {name: 3 * number for number, name in enumerate((*INTS, *REALS, *WORK))}
"""The place of (start, rows, columns) of each matrix in `ints`."""
N_OF_MODEL = len(PLACE)
"""Number of the matrices above: those of a model and a run, whatever the solver. A solver names its own in its own file, see `declare`."""

OWNERS = {"blocks": 16, "fronts": 16, "tree": 16, "clusters": 16}
"""The solvers with matrices of their own, and how many each may have: the number of a matrix is a constant in machine code, which must not
depend on which solvers a process has imported."""

(
    FLAGS, BODY_OF, ROW_INTS, ROW_KIND_STARTS, ROW_KIND_ENDS, HINGES, FORCE_INTS, FORCE_KIND_STARTS, DRIVER_TABLE, DRIVER_OPS,
    EDGES, VELOCITY_ROWS,
    EDGE_ROWS,
    COUPLED_PAIRS,
    DIFFERENCE_COLORS, FORCE_COUPLINGS, JACOBIAN_PAIRS, FRICTION_INTS, FRICTION_PATHS, LINKS, FREEDOMS,
    INERTIA, SHIFTED, GRAVITY, X_BAR, ROW_REALS, FORCE_REALS, DRIVER_NUMBERS, PAD, KEPT,
    ROW_WEIGHT, LENGTH, SCALE, EVEN, FRICTION_REALS, LINK_REALS, FREEDOM_AXES, BASE,
    A, OMEGA, X, F, TAPE, SIGNALS, J, LEVEL, Q, Q_USER, Y_STOPPED,
    D, D_INV,
    RIGHT, SOLUTION, SOLVE_FOR, CORRECTION, EVEN_SCALE, COMPLETE, PIVOTS, SPAN, LEAST_SQUARES, STATUS, SUCCEEDED,
    TANGENT, COUPLED_TANGENTS, DIFFERENCES, USER_JACOBIANS,
    DISPLACEMENT, BASE_POSE, U_DOT, ALGORITHMIC, U_DOT_BEFORE, U_DOT_EARLIER, PREDICTED_R7, ANGLE_RATE,
    STATE_RATES_BEFORE, LAMBDA,
    FRICTION_TERMS, FRICTION_MODES, FRICTION_BASE, FRICTION_COLUMNS, FRICTION_LANES, FRICTION_ALGEBRA, FRICTION_SWEEPS,
    LINK_A, LINK_PLACE, LINK_RATE, LINK_WRENCH, LINK_J, TAU_IS_A_FUNCTION, QDD, TAU, EXTERNAL_WRENCHES, LINK_MOTION, FREEDOM_TERMS,
) = range(N_OF_MODEL)  # fmt: skip

HEAD = 3 * (N_OF_MODEL + sum(OWNERS.values()))
FOR_MASSLESS, FOR_LIGHT = 1, 2
"""Why solutions are refined: a body has a massless direction, is light beside the others, or both, the sum; 0 if they are not."""
REFINES, CALLS_USER, N_STATES, FIRST_STATE, FRICTION_FLAG = range(5)
"""Columns of FLAGS: why solutions are refined, see `block_ldl`; whether functions of the user must be called; the number of internal
states, and the place of the first in the driver table; how friction in joints enters, see `accessors`."""

COLUMNS = {
    **{"HINGES": 8, "INERTIA": 10, "SHIFTED": 10, "X_BAR": 3, "ROW_REALS": 3, "SCALE": 6, "EVEN": 10},
    **{"OMEGA": 3, "X": 9, "F": 3, "LEVEL": 3, "Q": 6, "D_INV": 6, "RIGHT": 6, "SOLUTION": 6},
}
"""Numbers of columns that are constants of the compiled code, see `accessors`: of the matrices that each evaluation reads most."""


def declare(owner: str, ints: Mapping[str, str], work: Mapping[str, str], columns: Mapping[str, int]) -> tuple[str, ...]:
    """Let a solver name its matrices: integers and work, with their shapes and meaning.  columns: see COLUMNS;  return the names."""
    owners = list(OWNERS)
    first, names = N_OF_MODEL + sum(OWNERS[other] for other in owners[: owners.index(owner)]), (*ints, *work)
    assert len(names) <= OWNERS[owner], f"{owner} has {len(names)} matrices, and place for {OWNERS[owner]}"
    PLACE.update({name: 3 * (first + k) for k, name in enumerate(names)})
    INTS.update(ints)
    WORK.update(work)
    COLUMNS.update(columns)
    return names


ACCELERATIONS, POSITIONS, VELOCITIES = 0.0, 1.0, 2.0
"""Values of SOLVE_FOR; the block LDL^T solves every right-hand side in the same way, but not every formulation does."""


class Workspace(NamedTuple):
    """The three flat arrays of a model; `work` belongs to one run."""

    ints: Ints
    reals: Array
    work: Array


class PackFields(NamedTuple):
    """A model and its workspace, as compiled code sees them, and the routines that belong to them.

    drive: evaluates the drivers that compiled code can evaluate;  apply: the force elements;  callback: to the user's functions
    fills: a routine for each kind of row
    prepare: evaluates rows and loads;  prepare_stage: the same for a stage of a step, where rows in J need not be written
    factorize, finish, begin, refine: the operations on the augmented matrix
    friction: friction in joints
    python_solver: solves with it if the formulation is written in Python;  derive: the callback to the user's jacobians, in
    implicit steps
    """

    ints: Ints
    reals: Array
    work: Array
    drive: Routine
    apply: Routine
    callback: Callback
    fills: Any
    prepare: Routine
    prepare_stage: Routine
    factorize: Routine
    finish: Routine
    begin: Routine
    refine: Routine
    friction: Routine
    python_solver: Callback = NO_CALLBACK
    derive: Callback = NO_CALLBACK


class Address:
    """The attribute `address` of a Pack, or of another tuple that is written to memory once.

    It is made when it is first read, without a lock, which compiled code of another thread could hold.
    """

    def __get__(self, pack: Any, owner: type | None = None) -> int:
        vars(pack)["words"] = words = words_of(pack)
        vars(pack)["address"] = address = words.ctypes.data
        return address


class Pack(PackFields):
    """A PackFields that is written to memory for compiled code once: `address` is the address of its words."""

    address = Address()


PACK_TYPE = tuple_pointer("Pack")
DRIVE_SIGNATURE = types.int64(types.float64, PACK_TYPE, F2)
APPLY_SIGNATURE = types.int64(types.int64, types.float64, PACK_TYPE, CALLBACK_TYPE, F1, F1)
SOLVE_SIGNATURE = types.int64(PACK_TYPE, CALLBACK_TYPE)
PREPARE_SIGNATURE = types.int64(PACK_TYPE, types.float64, F1)
FRICTION_SIGNATURE = types.int64(types.int64, types.float64, PACK_TYPE, F1)
PACK_TYPE.fields = {
    **dict.fromkeys(("ints",), I1),
    **dict.fromkeys(("reals", "work"), F1),
    "drive": function_type(DRIVE_SIGNATURE),
    "apply": function_type(APPLY_SIGNATURE),
    "callback": CALLBACK_TYPE,
    "fills": ASSEMBLERS_TYPE,
    **dict.fromkeys(("prepare", "prepare_stage"), function_type(PREPARE_SIGNATURE)),
    **dict.fromkeys(("factorize", "finish", "begin", "refine"), function_type(SOLVE_SIGNATURE)),
    "friction": function_type(FRICTION_SIGNATURE),
    **dict.fromkeys(("python_solver", "derive"), CALLBACK_TYPE),
}


@typeof_impl.register(Pack)  # type: ignore[untyped-decorator]
def pack_type(pack: Pack, context: Any) -> Any:
    """Return the one type of every Pack."""
    return PACK_TYPE


def with_callback(pack: Pack, callback: Callback) -> Pack:
    """Return a pack that calls another callback, in the same workspace."""
    own = pack._replace(callback=callback)
    callback.link(own)
    return own


class Tables:
    """The constant arrays of a model, and the head with the position of every matrix.

    `ints` and `reals` are writable only for the compiler's sake (one array type instead of two halves its work): use `tables[name]`.
    """

    def __init__(self, ints: Mapping[str, Ints], reals: Mapping[str, Array], work_shapes: Mapping[str, tuple[int, int]]) -> None:
        head = [0] * HEAD
        flat_ints: list[Any] = []
        flat_reals: list[Any] = [np.zeros(0)]
        size = 0
        for group, flat, at in ((ints, flat_ints, HEAD), (reals, flat_reals, 0)):
            for name, matrix in group.items():
                head[PLACE[name] : PLACE[name] + 3] = at, *matrix.shape
                flat.append(matrix.ravel())
                at += matrix.size
        for name, shape in work_shapes.items():
            head[PLACE[name] : PLACE[name] + 3] = size, *shape
            size += shape[0] * shape[1]
        for name, columns in COLUMNS.items():
            _, rows, found = head[PLACE[name] : PLACE[name] + 3]
            assert rows == 0 or found == columns, f"{name} has {found} columns, and the compiled code knows {columns}"
        self.ints: Ints = np.concatenate([np.array(head, dtype=np.int64), *flat_ints])
        self.reals: Array = np.concatenate(flat_reals)
        self.work_size = size

    def place(self, name: str) -> tuple[int, int, int]:
        """Return start, rows and columns of the matrix `name` in its buffer."""
        return place_in(self.ints, name)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return the constant matrix `name`, read-only."""
        start, rows, columns = self.place(name)
        matrix: npt.NDArray[Any] = (self.ints if name in INTS else self.reals)[start : start + rows * columns].reshape(
            rows, columns
        )
        matrix.flags.writeable = False
        return matrix

    def changed(self, ints: Mapping[str, Ints], work: Mapping[str, tuple[int, int]]) -> Tables:
        """Return the same tables with some integers and some work matrices exchanged or added."""
        parts = {name: self[name] for name in (*INTS, *REALS) if any(self.place(name))}
        shapes = {name: self.place(name)[1:] for name in WORK if any(self.place(name))}
        return Tables(
            {name: x for name, x in parts.items() if name in INTS} | dict(ints),
            {name: x for name, x in parts.items() if name in REALS},
            shapes | dict(work),
        )

    def pack(self, F0: Array, **routines: Any) -> Pack:
        """Return a new workspace, with the routines by name and the constant drivers `F0` (nd, 3)."""
        pack = Pack(self.ints, self.reals, np.zeros(self.work_size), **routines)
        workspace_array(pack, "F")[:] = F0
        workspace_array(pack, "A")[:] = np.eye(3).ravel()
        return pack


def place_in(ints: Ints, name: str) -> tuple[int, int, int]:
    """Return start, rows and columns of the matrix `name` in its buffer, by the integers of tables."""
    start, rows, columns = ints[PLACE[name] : PLACE[name] + 3].tolist()
    return start, rows, columns


def move_matrix(ints: Ints, name: str, start: int) -> None:
    """Let the matrix `name` start at another place of its buffer."""
    ints[PLACE[name]] = start


def empty_matrix(ints: Ints, name: str) -> None:
    """Let the matrix `name` have no rows."""
    ints[PLACE[name] + 1] = 0


def flags_in(ints: Ints) -> Ints:
    """Return the flags of a model, see FLAGS, as a view of the integers of its tables."""
    start, _, columns = place_in(ints, "FLAGS")
    return ints[start : start + columns]


def workspace_array(pack: Pack, name: str) -> Array:
    """Return the work matrix `name` of a pack, writable."""
    start, rows, columns = place_in(pack.ints, name)
    return pack.work[start : start + rows * columns].reshape(rows, columns)
