r"""The matrices of a model by name, for compiled code:  `jacobian(P)` is the matrix of all rows, `inertia(P)` that of all bodies.

    constants:  ints, reals        work: what belongs to one run        P: a `Pack` or a `Workspace`

Each accessor is a pointer and a shape, at no cost; `workspace.layout` describes the content of each matrix.  A number of columns that is
the same in all models is a constant of the compiled code: no multiplication finds a row.
The matrices of one solver have their accessors in its own file.
Kernels import this module as `ws`:  `b, x = ws.right_hand_side(P), ws.solution(P)`.
"""

from __future__ import annotations

from math import prod
from typing import Any

from haugmbd.compiled.array_views import lower_view
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.native_tuples import TuplePointer, load_word
from haugmbd.compiled.numba_names import PLAIN, intrinsic, make_array, types
from haugmbd.workspace import layout as at


def accessor(name: str, *shape: int, flat: bool = False) -> Any:
    """Return the accessor of the matrix `name`, of `workspace.layout` or of a solver that has declared it.

    shape: of each of its rows, 0 for what the columns leave;  flat: all its numbers as one vector
    """
    number = at.PLACE[name] // 3
    if name in at.COLUMNS and not (shape or flat):
        shape = (at.COLUMNS[name],)
    buffer = "ints" if name in at.INTS else "reals" if name in at.REALS else "work"

    def plain(P: Any) -> Any:
        """Return the matrix where the compiler is switched off."""
        start, rows, columns = P.ints[3 * number :][:3].tolist()
        numbers = getattr(P, buffer)[start : start + rows * columns]
        rest = columns // max(1, prod(n for n in shape if n))
        return numbers if flat else numbers.reshape(rows, *(n or rest for n in shape or (columns,)))

    def typed(typing: Any, P: Any) -> Any:
        """Return the signature of the accessor for a record of type `P`, and its code."""
        record = P.fields[buffer] if isinstance(P, TuplePointer) else P.types[P.fields.index(buffer)]
        return types.Array(record.dtype, 1 if flat else 1 + max(1, len(shape)), "C")(P), lower

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write the code: start, rows and columns are in the head of `ints`."""
        record = signature.args[0]

        def data(field: str) -> Any:
            if isinstance(record, TuplePointer):
                number = context.get_data_type(record.fields[field].dtype)
                return load_word(builder, arguments[0], record.place(field), number.as_pointer())
            k = record.fields.index(field)
            return make_array(record.types[k])(context, builder, builder.extract_value(arguments[0], k)).data

        head = data("ints")
        constant = [context.get_constant(types.intp, 3 * number + k) for k in range(3)]
        start, rows, columns = (builder.load(builder.gep(head, [k])) for k in constant)
        if flat:
            dimensions = [builder.mul(rows, columns)]
        else:
            whole = context.get_constant(types.intp, prod(n for n in shape if n))
            rest = builder.sdiv(columns, whole) if 0 in shape else columns
            dimensions = [rows, *([context.get_constant(types.intp, n) if n else rest for n in shape] or [columns])]
        return lower_view(context, builder, signature.return_type, builder.gep(data(buffer), [start]), dimensions)

    return plain if PLAIN else intrinsic(typed)


# constants: integers
marker_body = accessor("BODY_OF", flat=True)
row_ints = accessor("ROW_INTS")
row_kind_starts = accessor("ROW_KIND_STARTS", flat=True)
row_kind_ends = accessor("ROW_KIND_ENDS", flat=True)
hinges = accessor("HINGES")
force_ints = accessor("FORCE_INTS")
force_kind_starts = accessor("FORCE_KIND_STARTS", flat=True)
driver_table = accessor("DRIVER_TABLE")
driver_operations = accessor("DRIVER_OPS")
edges = accessor("EDGES")
velocity_rows = accessor("VELOCITY_ROWS")
coupled_pairs = accessor("COUPLED_PAIRS")
difference_colors = accessor("DIFFERENCE_COLORS")
force_couplings = accessor("FORCE_COUPLINGS")
jacobian_pairs = accessor("JACOBIAN_PAIRS")
friction_ints = accessor("FRICTION_INTS")
friction_paths = accessor("FRICTION_PATHS")
links = accessor("LINKS")
freedoms = accessor("FREEDOMS")

# constants: real numbers
inertia = accessor("INERTIA")
shifted_inertia = accessor("SHIFTED")
gravity = accessor("GRAVITY", flat=True)
marker_coordinates = accessor("X_BAR")
row_reals = accessor("ROW_REALS")
force_reals = accessor("FORCE_REALS")
driver_numbers = accessor("DRIVER_NUMBERS", flat=True)
padding = accessor("PAD")
padding_line = accessor("PAD", flat=True)
kept_rows = accessor("KEPT")
row_weights = accessor("ROW_WEIGHT")
pivot_scale = accessor("SCALE")
even_inertia = accessor("EVEN")
friction_reals = accessor("FRICTION_REALS")
link_reals = accessor("LINK_REALS")
freedom_axes = accessor("FREEDOM_AXES")
chain_base = accessor("BASE", flat=True)

# of one run: the state, rows and forces
rotation_matrices = accessor("A", 3, 3)
angular_velocities = accessor("OMEGA")
markers = accessor("X")
driver_values = accessor("F")
tape_room = accessor("TAPE")
signals = accessor("SIGNALS")
jacobian = accessor("J", 0, 6)
row_values = accessor("LEVEL")
generalized_forces = accessor("Q")
user_forces = accessor("Q_USER")
stopped_state = accessor("Y_STOPPED", flat=True)

# of one run: the augmented matrix
diagonal_blocks = accessor("D", 6, 6)
inverse_pivots = accessor("D_INV")
right_hand_side = accessor("RIGHT")
solution = accessor("SOLUTION")
solve_for = accessor("SOLVE_FOR")
correction = accessor("CORRECTION")
even_scale = accessor("EVEN_SCALE")
pivot_rows = accessor("PIVOTS")
row_spans = accessor("SPAN")
status = accessor("STATUS", flat=True)
succeeded = accessor("SUCCEEDED", flat=True)

# of one run: an implicit step
tangents = accessor("TANGENT")
tangent_blocks = accessor("TANGENT", 6, 6)
coupled_tangents = accessor("COUPLED_TANGENTS")
coupled_tangent_blocks = accessor("COUPLED_TANGENTS", 6, 6)
user_jacobians = accessor("USER_JACOBIANS")
user_jacobian_line = accessor("USER_JACOBIANS", flat=True)
displacement = accessor("DISPLACEMENT")
base_pose = accessor("BASE_POSE")
u_dot = accessor("U_DOT")
algorithmic = accessor("ALGORITHMIC")
u_dot_before = accessor("U_DOT_BEFORE")
u_dot_earlier = accessor("U_DOT_EARLIER")
predicted_r7 = accessor("PREDICTED_R7")
angle_rates = accessor("ANGLE_RATE", flat=True)
state_rates_before = accessor("STATE_RATES_BEFORE")
multipliers = accessor("LAMBDA", flat=True)

# of one run: friction in joints
friction_terms = accessor("FRICTION_TERMS")
friction_modes = accessor("FRICTION_MODES")
friction_base = accessor("FRICTION_BASE")
friction_sweeps = accessor("FRICTION_SWEEPS", 0, 8)
friction_columns = accessor("FRICTION_COLUMNS")
friction_lanes = accessor("FRICTION_LANES", 6, 0)

# of one run: a serial chain
link_rotations = accessor("LINK_A", 3, 3)
link_places = accessor("LINK_PLACE")
link_rates = accessor("LINK_RATE")
link_wrenches = accessor("LINK_WRENCH")
link_inertias = accessor("LINK_J")
tau_is_a_function = accessor("TAU_IS_A_FUNCTION")
joint_accelerations = accessor("QDD", flat=True)
joint_forces = accessor("TAU", flat=True)
external_wrenches = accessor("EXTERNAL_WRENCHES")
link_motions = accessor("LINK_MOTION")
freedom_terms = accessor("FREEDOM_TERMS")


@kernel
def start_of(P: Any, number: int) -> int:
    """Return where the matrix of this number, such as `layout.LAMBDA`, starts in its buffer."""
    return P.ints[3 * number]  # type: ignore[no-any-return]


@kernel
def rows_of(P: Any, number: int) -> int:
    """Return the number of rows of a matrix."""
    return P.ints[3 * number + 1]  # type: ignore[no-any-return]


@kernel
def columns_of(P: Any, number: int) -> int:
    """Return the number of columns of a matrix."""
    return P.ints[3 * number + 2]  # type: ignore[no-any-return]


@kernel
def n_bodies(P: Any) -> int:
    """Return the number of bodies, the ground counted."""
    return P.ints[3 * at.INERTIA + 1]  # type: ignore[no-any-return]


@kernel
def n_forces(P: Any) -> int:
    """Return the number of force elements."""
    return P.ints[3 * at.FORCE_INTS + 1]  # type: ignore[no-any-return]


@kernel
def n_drivers(P: Any) -> int:
    """Return the number of drivers that compiled code evaluates."""
    return P.ints[3 * at.DRIVER_TABLE + 1]  # type: ignore[no-any-return]


@kernel
def n_angles(P: Any) -> int:
    """Return the number of integrated joint angles and internal states, of an implicit step."""
    return P.ints[3 * at.ANGLE_RATE + 2]  # type: ignore[no-any-return]


@kernel
def length(P: Any) -> float:
    """Return the characteristic length [m], see `model.length`."""
    return P.reals[P.ints[3 * at.LENGTH]]  # type: ignore[no-any-return]


@kernel
def refines_solutions(P: Any) -> bool:
    """Return whether solutions are refined: a body has a direction without inertia, or is light beside the others."""
    return P.ints[P.ints[3 * at.FLAGS] + at.REFINES] != 0  # type: ignore[no-any-return]


@kernel
def has_light_bodies(P: Any) -> bool:
    """Return whether a body is light beside the others."""
    return P.ints[P.ints[3 * at.FLAGS] + at.REFINES] & at.FOR_LIGHT != 0  # type: ignore[no-any-return]


@kernel
def calls_user(P: Any) -> bool:
    """Return whether functions of the user must be called."""
    return P.ints[P.ints[3 * at.FLAGS] + at.CALLS_USER] == 1  # type: ignore[no-any-return]


@kernel
def n_states(P: Any) -> int:
    """Return the number of internal states of force elements and blocks, the last numbers of y."""
    return P.ints[P.ints[3 * at.FLAGS] + at.N_STATES]  # type: ignore[no-any-return]


@kernel
def first_state(P: Any) -> int:
    """Return the place of the first internal state in the driver table, see `workspace.internal_states`."""
    return P.ints[P.ints[3 * at.FLAGS] + at.FIRST_STATE]  # type: ignore[no-any-return]


WITH_SOLUTION, BY_MULTIPLIERS, SOLVES_AGAIN = 1, 2, 3
"""How friction in joints enters: solved together with the multipliers; by the multipliers of an implicit step; solved together, and once
more for a solver in Python."""


@kernel
def n_frictions(P: Any) -> int:
    """Return the number of joints with friction."""
    return P.ints[3 * at.FRICTION_INTS + 1]  # type: ignore[no-any-return]


@kernel
def friction_mode(P: Any) -> int:
    """Return the mode in which friction in joints is solved for; 0 if no friction depends on the reaction of its joint."""
    return P.ints[P.ints[3 * at.FLAGS] + at.FRICTION_FLAG]  # type: ignore[no-any-return]


@kernel
def solves_by_sweeps(P: Any) -> bool:
    """Return whether the recursion over a forest solves for friction in joints, see `friction.sweeps`."""
    return P.ints[3 * at.FRICTION_PATHS + 1] > 0 and friction_mode(P) == WITH_SOLUTION
