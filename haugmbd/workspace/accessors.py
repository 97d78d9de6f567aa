r"""The matrices of a model by name, for compiled code:  `jacobian(P)` is the matrix of all rows, `inertia(P)` that of all bodies.

    constants:  ints, reals        work: what belongs to one run        P: a `Pack` or a `Workspace`

Each accessor is a pointer and a shape, at no cost; `workspace.layout` describes the content of each matrix.  A number of columns that is
the same in all models is a constant of the compiled code: no multiplication finds a row.
Kernels import this module as `ws`:  `b, x = ws.right_hand_side(P), ws.solution(P)`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numba
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from haugmbd.compiled.array_views import lower_view
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.native_tuples import TuplePointer, load_word
from haugmbd.workspace import layout as at


def _accessor(name: str, *shape: int, flat: bool = False) -> Any:
    """Return the accessor of the matrix `name` of `workspace.layout`.

    shape: of each of its rows, 0 for what the columns leave;  flat: all its numbers as one vector
    """
    number = at.NAMES.index(name)
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
        item = types.int64 if buffer == "ints" else types.float64
        return types.Array(item, 1 if flat else 1 + max(1, len(shape)), "C")(P), lower

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

    return plain if numba.config.DISABLE_JIT else intrinsic(typed)


# constants: integers
marker_body = _accessor("BODY_OF", flat=True)
row_ints = _accessor("ROW_INTS")
row_kind_starts = _accessor("ROW_KIND_STARTS", flat=True)
row_kind_ends = _accessor("ROW_KIND_ENDS", flat=True)
hinges = _accessor("HINGES")
force_ints = _accessor("FORCE_INTS")
force_kind_starts = _accessor("FORCE_KIND_STARTS", flat=True)
driver_table = _accessor("DRIVER_TABLE")
driver_operations = _accessor("DRIVER_OPS")
edges = _accessor("EDGES")
velocity_rows = _accessor("VELOCITY_ROWS")
elimination_order = _accessor("ORDER")
neighbor_starts = _accessor("NEIGHBOR_STARTS", flat=True)
neighbors = _accessor("NEIGHBORS")
update_starts = _accessor("UPDATE_STARTS", flat=True)
fill_updates = _accessor("FILL_UPDATES")
body_block = _accessor("BODY_BLOCK")
body_first = _accessor("BODY_FIRST")
edge_width = _accessor("EDGE_WIDTH")
fill_lines = _accessor("FILL_LINES")
fronts = _accessor("FRONTS")
front_rows = _accessor("FRONT_ROWS", flat=True)
front_runs = _accessor("FRONT_RUNS")
front_bodies = _accessor("FRONT_BODIES")
body_rows = _accessor("BODY_ROWS")
tree_steps = _accessor("TREE")
pair_of_step = _accessor("PAIR_OF_STEP")
cluster_steps = _accessor("CLUSTER_STEPS")
clusters = _accessor("CLUSTERS")
cluster_rows = _accessor("CLUSTER_ROWS")
cluster_terms = _accessor("CLUSTER_TERMS")
cluster_angles = _accessor("CLUSTER_ANGLES")
cluster_displacements = _accessor("CLUSTER_DISPLACEMENTS")
coupled_pairs = _accessor("COUPLED_PAIRS")
difference_colors = _accessor("DIFFERENCE_COLORS")
force_couplings = _accessor("FORCE_COUPLINGS")
jacobian_pairs = _accessor("JACOBIAN_PAIRS")
friction_ints = _accessor("FRICTION_INTS")
friction_paths = _accessor("FRICTION_PATHS")
links = _accessor("LINKS")
freedoms = _accessor("FREEDOMS")

# constants: real numbers
inertia = _accessor("INERTIA")
shifted_inertia = _accessor("SHIFTED")
gravity = _accessor("GRAVITY", flat=True)
marker_coordinates = _accessor("X_BAR")
row_reals = _accessor("ROW_REALS")
force_reals = _accessor("FORCE_REALS")
driver_numbers = _accessor("DRIVER_NUMBERS", flat=True)
padding = _accessor("PAD")
padding_line = _accessor("PAD", flat=True)
kept_rows = _accessor("KEPT")
row_weights = _accessor("ROW_WEIGHT")
pivot_scale = _accessor("SCALE")
even_inertia = _accessor("EVEN")
friction_reals = _accessor("FRICTION_REALS")
link_reals = _accessor("LINK_REALS")
freedom_axes = _accessor("FREEDOM_AXES")
chain_base = _accessor("BASE", flat=True)

# of one run: the state, rows and forces
rotation_matrices = _accessor("A", 3, 3)
angular_velocities = _accessor("OMEGA")
markers = _accessor("X")
driver_values = _accessor("F")
signals = _accessor("SIGNALS")
jacobian = _accessor("J", 0, 6)
row_values = _accessor("LEVEL")
generalized_forces = _accessor("Q")
user_forces = _accessor("Q_USER")
stopped_state = _accessor("Y_STOPPED", flat=True)

# of one run: the augmented matrix
diagonal_blocks = _accessor("D", 6, 6)
inverse_pivots = _accessor("D_INV")
off_diagonal_blocks = _accessor("B", 6, 6)
front_factor = _accessor("FRONT_FACTOR", flat=True)
front_stack = _accessor("FRONT_STACK", flat=True)
front_matrix = _accessor("FRONT_MATRIX", flat=True)
rows_of_body = _accessor("ROWS_OF_BODY")
front_pivots = _accessor("FRONT_PIVOTS", flat=True)
front_unknowns = _accessor("FRONT_UNKNOWNS", flat=True)
front_panel = _accessor("FRONT_PANEL", flat=True)
tree_bodies = _accessor("TREE_BODIES")
tree_joints = _accessor("TREE_JOINTS")
tree_joint_blocks = _accessor("TREE_JOINTS", 0, 6)
tree_rotations = _accessor("TREE_ROTATIONS", 3, 3)
tree_pairs = _accessor("TREE_PAIRS", 6, 6)
cluster_members = _accessor("CLUSTER_MEMBERS")
cluster_pivots = _accessor("CLUSTER_PIVOTS", 8, 6)
cluster_moments = _accessor("CLUSTER_MOMENTS")
angle_rates_and_moments = _accessor("ANGLES")
displacement_rates_and_wrenches = _accessor("DISPLACEMENTS")
right_hand_side = _accessor("RIGHT")
solution = _accessor("SOLUTION")
solve_for = _accessor("SOLVE_FOR")
correction = _accessor("CORRECTION")
even_scale = _accessor("EVEN_SCALE")
pivot_rows = _accessor("PIVOTS")
row_spans = _accessor("SPAN")
status = _accessor("STATUS", flat=True)
succeeded = _accessor("SUCCEEDED", flat=True)

# of one run: an implicit step
tangents = _accessor("TANGENT")
tangent_blocks = _accessor("TANGENT", 6, 6)
coupled_tangents = _accessor("COUPLED_TANGENTS")
coupled_tangent_blocks = _accessor("COUPLED_TANGENTS", 6, 6)
user_jacobians = _accessor("USER_JACOBIANS")
user_jacobian_line = _accessor("USER_JACOBIANS", flat=True)
displacement = _accessor("DISPLACEMENT")
base_pose = _accessor("BASE_POSE")
u_dot = _accessor("U_DOT")
algorithmic = _accessor("ALGORITHMIC")
u_dot_before = _accessor("U_DOT_BEFORE")
u_dot_earlier = _accessor("U_DOT_EARLIER")
predicted_r7 = _accessor("PREDICTED_R7")
angle_rates = _accessor("ANGLE_RATE", flat=True)
state_rates_before = _accessor("STATE_RATES_BEFORE")
multipliers = _accessor("LAMBDA", flat=True)

# of one run: friction in joints
friction_terms = _accessor("FRICTION_TERMS")
friction_modes = _accessor("FRICTION_MODES")
friction_base = _accessor("FRICTION_BASE")
friction_sweeps = _accessor("FRICTION_SWEEPS", 0, 8)
friction_columns = _accessor("FRICTION_COLUMNS")
friction_lanes = _accessor("FRICTION_LANES", 6, 0)

# of one run: a serial chain
link_rotations = _accessor("LINK_A", 3, 3)
link_places = _accessor("LINK_PLACE")
link_rates = _accessor("LINK_RATE")
link_wrenches = _accessor("LINK_WRENCH")
link_inertias = _accessor("LINK_J")
tau_is_a_function = _accessor("TAU_IS_A_FUNCTION")
joint_accelerations = _accessor("QDD", flat=True)
joint_forces = _accessor("TAU", flat=True)
external_wrenches = _accessor("EXTERNAL_WRENCHES")
link_motions = _accessor("LINK_MOTION")
freedom_terms = _accessor("FREEDOM_TERMS")


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
def tree_lead(P: Any) -> int:
    """Return how many steps of a forest a body is behind the one that carries it, at most."""
    return P.ints[P.ints[3 * at.TREE_LEAD]]  # type: ignore[no-any-return]


@kernel
def length(P: Any) -> float:
    """Return the characteristic length [m], see `model.length`."""
    return P.reals[P.ints[3 * at.LENGTH]]  # type: ignore[no-any-return]


@kernel
def refines_solutions(P: Any) -> bool:
    """Return whether solutions are refined: a body has a direction without inertia, or is light beside the others."""
    return P.ints[P.ints[3 * at.FLAGS] + at.REFINES] != 0  # type: ignore[no-any-return]


@kernel
def has_massless_directions(P: Any) -> bool:
    """Return whether a body has a direction without inertia."""
    return P.ints[P.ints[3 * at.FLAGS] + at.REFINES] & at.FOR_MASSLESS != 0  # type: ignore[no-any-return]


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
