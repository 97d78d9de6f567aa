r"""The arrays of clusters of coupled joints, and the meaning of their columns."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.kkt.cluster_order import FREE, MOST_FREE, OF_SLIDE, SLIDES
from haugmbd.math.articulated_inertia import Wrench
from haugmbd.math.vec3 import Vec, load, store
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.accessors import accessor
from haugmbd.workspace.layout import Workspace, declare

ARRAYS_OF_CLUSTERS = declare(
    "clusters",
    {
        "CLUSTER_STEPS": "(nb, 8) and the next five: coupled joints of a forest, see `kkt.cluster_order`",
        "CLUSTERS": "(nc, 6)",
        "CLUSTER_ROWS": "(nr, 5)",
        "CLUSTER_TERMS": "(nt, 10)",
        "CLUSTER_ANGLES": "(na, 7)",
        "CLUSTER_DISPLACEMENTS": "(nd, 1)",
    },
    {
        "CLUSTER_MEMBERS": "(., .) and the next four: coupled joints of a forest, see `kkt.cluster_arrays`",
        "CLUSTER_PIVOTS": "(nc, 48)",
        "CLUSTER_MOMENTS": "(nt, 7)",
        "ANGLES": "(9, na)",
        "DISPLACEMENTS": "(nd, 11)",
    },
    {
        "CLUSTER_STEPS": 8,
        "CLUSTERS": 6,
        "CLUSTER_ROWS": 5,
        "CLUSTER_TERMS": 10,
        "CLUSTER_ANGLES": 7,
        "CLUSTER_DISPLACEMENTS": 1,
        "CLUSTER_MOMENTS": 7,
        "DISPLACEMENTS": 11,
    },
)
"""The matrices of this solver: shapes and meaning."""

cluster_steps = accessor("CLUSTER_STEPS")
clusters = accessor("CLUSTERS")
cluster_rows = accessor("CLUSTER_ROWS")
cluster_terms = accessor("CLUSTER_TERMS")
cluster_angles = accessor("CLUSTER_ANGLES")
cluster_displacements = accessor("CLUSTER_DISPLACEMENTS")
cluster_members = accessor("CLUSTER_MEMBERS")
cluster_pivots = accessor("CLUSTER_PIVOTS", 8, 6)
cluster_moments = accessor("CLUSTER_MOMENTS")
angle_rates_and_moments = accessor("ANGLES")
displacement_rates_and_wrenches = accessor("DISPLACEMENTS")

TAU, COLUMN, COLUMN_WIDTH = 0, 1, 7
"""Columns of CLUSTER_MEMBERS: tau; from COLUMN on, COLUMN_WIDTH for each free coordinate: G_kj and U_kj."""

SOLVED, PASSED, PIVOT = 0, 1, 2
"""Lines of a cluster in CLUSTER_PIVOTS, (8, 6): y; u; the factors of D = L diag(D_j) L^T."""
PIVOT_NUMBERS = (2 + MOST_FREE) * MOST_FREE

MOMENT, EFFECTIVE, FORCE, MOMENT_COLUMNS = 0, 3, 4, 7
"""Columns of CLUSTER_MOMENTS: the moment of W_k, and C_k, of each term; of the dependent joint's, 1/C_k; the force of W_k, if the joint
slides."""

ANGLE_Q, ANGLE_Q_DDOT, ANGLE_MOMENT, ANGLE_COS, ANGLE_SIN, ANGLE_OFFSET, ANGLE_NEAR, ANGLE_LINES = 0, 1, 2, 5, 6, 7, 8, 9
"""Lines of ANGLES: q; q'' at u' = 0; the gradient, a moment on body b; e . v and n . v, whose arctangent the angle is; what is taken off
it; the integrated angle."""

SLIDE_Q, SLIDE_Q_DDOT, SLIDE_FORCE, SLIDE_MOMENT_A, SLIDE_MOMENT_B, SLIDE_COLUMNS = 0, 1, 2, 5, 8, 11
"""Columns of DISPLACEMENTS: q; q'' at u' = 0; the gradient: a force on body b, whose opposite acts on a; moments about the
centres of mass."""


def member_columns(most_free: int) -> int:
    """Return the number of columns of CLUSTER_MEMBERS, for clusters of so many free coordinates."""
    return COLUMN + COLUMN_WIDTH * most_free


Form: TypeAlias = tuple[int, bool]
"""What the code is compiled for: `uniform` and `all_revolute` of `ClusterArrays`."""


class ClusterArrays(NamedTuple):
    """Views of the arrays of clusters.

    steps: (nb, 8);  clusters: (nc, 6);  rows: (nr, 5);  terms: (nt, 10), see `cluster_order`
    reals: constants of the rows;  angle: (9, na);  displacement: (nd, 11);  member: (., 1 + 7 m);  pivot: (nc, 8, 6)
    moment: (nt, 7)
    uniform: the number of free coordinates of every cluster, 0 if it varies;  all_revolute: whether all joints are; both are constants of
    the compiled code
    """

    steps: Ints
    clusters: Ints
    rows: Ints
    terms: Ints
    reals: Array
    angle: Array
    displacement: Array
    member: Array
    pivot: Array
    moment: Array
    uniform: int
    all_revolute: bool


@inlined
def cluster_arrays(w: Workspace, form: Form) -> ClusterArrays:
    """Return the views."""
    return ClusterArrays(
        cluster_steps(w),
        clusters(w),
        cluster_rows(w),
        cluster_terms(w),
        ws.row_reals(w),
        angle_rates_and_moments(w),
        displacement_rates_and_wrenches(w),
        cluster_members(w),
        cluster_pivots(w),
        cluster_moments(w),
        form[0],
        form[1],
    )


@inlined
def free_coordinates(q: ClusterArrays, c: int) -> int:
    """Return m of a cluster."""
    return q.uniform if q.uniform > 0 else q.clusters[c, FREE]


@inlined
def slides(q: ClusterArrays, cs: Ints) -> bool:
    """Return whether the joint of a step slides."""
    return not q.all_revolute and cs[SLIDES] == 1


@inlined
def is_displacement(q: ClusterArrays, n: int) -> bool:
    """Return whether a term is one."""
    return not q.all_revolute and q.terms[n, OF_SLIDE] == 1


@inlined
def load_column(q: ClusterArrays, member: int, j: int) -> Wrench:
    """Return U_kj."""
    first = COLUMN + COLUMN_WIDTH * j + 1
    return Wrench(load(q.member, member, first), load(q.member, member, first + 3))


@inlined
def store_column(q: ClusterArrays, member: int, j: int, U: Wrench) -> None:
    """Store U_kj."""
    first = COLUMN + COLUMN_WIDTH * j + 1
    store(q.member, member, first, U.force)
    store(q.member, member, first + 3, U.moment)


@inlined
def gain(q: ClusterArrays, member: int, j: int) -> float:
    """Return G_kj."""
    G: float = q.member[member, COLUMN + COLUMN_WIDTH * j]
    return G


@inlined
def gradient(angles: Array, n: int) -> Vec:
    """Return the gradient of an angle."""
    return (angles[ANGLE_MOMENT, n], angles[ANGLE_MOMENT + 1, n], angles[ANGLE_MOMENT + 2, n])


@inlined
def put_gradient(angles: Array, n: int, moment: Vec) -> None:
    """Write the gradient of an angle."""
    angles[ANGLE_MOMENT, n], angles[ANGLE_MOMENT + 1, n], angles[ANGLE_MOMENT + 2, n] = moment
