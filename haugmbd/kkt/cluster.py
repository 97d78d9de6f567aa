"""Coupled joints of one freedom in the recursion: clusters of joints that m free coordinates y move, z_k = sum_j G_kj y_j + z0_k.

    row r      sum_k W_k^T (a_k - a_i) = b_r                W_k = c_k times the gradient of the coordinate; k: body, i: its parent
    =>         sum_k C_k z_k = b_r - sum_k W_k^T (g, beta)   C_k = W_k^T S_k, as a_k - a_i = (g, beta)_k + S_k z_k at the joint
    dependent  G_d = - sum_k!=d C_k G_k / C_d               z0_d = (b_r - sum_k W_k^T (g, beta) - sum_k!=d C_k z0_k) / C_d
    inward     F = I_k S_k                                  I_k: body k and what it carries, the joints of the cluster not moving
               D_ij += G_ki G_kj S_k^T F + (G_ki U_kj + G_kj U_ki)^T S_k
               U_kj += G_kj F                               I_i <- I_i + I_k,  U_ij <- U_ij + U_kj,  to the parent, at P
               u_j  += G_kj S_k^T p_k - U_kj^T (g, beta)    p_i <- p_i + p_k - I_k (g, beta);  (g, beta) contains S z0 from here on
    base       I_0 <- I_0 - U D^-1 U^T                      p_0 <- p_0 - U D^-1 u
    outward    y = D^-1 (u - U^T a_0)                       z_k = G_k y
    rows       tau_k = S_k^T w_k = sum_r C_rk lam_r         backward through the dependent joints;  w_k - sum_r W_rk lam_r is the joint's

S_k = (0, h) of a revolute joint, where W_k is a moment, and (d, 0) of one that slides, see `cluster_joint`.
The work for a body is O(m^2). U_j and D are those of the composite-rigid-body algorithm, S G those of constraint embedding.

Factorization and solution over a forest with such joints: the recursion of `tree_recursion`, with clusters.

The bodies of a cluster follow its base, in their own order: inward, the last of them that is passed is the first of the cluster.
It is a recursion of its own, so that models without couplings do without its compilation; `form` is a constant of the compiled code.
Source: Jain (2012), Multibody graph transformations and analysis II; Featherstone (2008), sec. 6.2 (composite rigid bodies).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.compiled.subscripts import unsigned
from haugmbd.constraints.equations.coupling import COEFFICIENT
from haugmbd.kkt.cluster_arrays import (
    COLUMN,
    COLUMN_WIDTH,
    EFFECTIVE,
    MOMENT,
    PASSED,
    PIVOT,
    SLIDE_FORCE,
    SLIDE_MOMENT_A,
    SLIDE_MOMENT_B,
    SOLVED,
    TAU,
    ClusterArrays,
    Form,
    cluster_arrays,
    free_coordinates,
    gain,
    gradient,
    is_displacement,
    load_column,
    slides,
    store_column,
)
from haugmbd.kkt.cluster_arrays import FORCE as PULL
from haugmbd.kkt.cluster_order import (
    BASE,
    BASE_MEMBER,
    CARRIER,
    CLUSTER,
    COORDINATE,
    END_ROW,
    END_TERM,
    FIRST,
    FIRST_ROW,
    FIRST_TERM,
    JOINT,
    LAST,
    LEAF,
    LINE,
    MEMBER,
    NODE,
    OF,
    ONLY,
    ROW,
    SIGN,
    STEP,
)
from haugmbd.kkt.cluster_order import BODY as CARRIED
from haugmbd.kkt.revolute_joint import put_revolute_multipliers
from haugmbd.kkt.separable_joint import prescribed
from haugmbd.kkt.tree_arrays import (
    ARM,
    ARM_LINE,
    AXIS,
    BODY,
    DIRECTION,
    DUAL_1,
    DUAL_2,
    EDGE,
    FORCE,
    JUMP_ANGULAR,
    JUMP_LINE,
    JUMP_LINEAR,
    LINEAR,
    PARENT,
    TreeArrays,
    add_wrench,
    center,
    keep_rotations,
    load_inertia,
    load_wrench,
    motion,
    put_own_inertia,
    store_inertia,
    store_wrench,
    tree_arrays,
)
from haugmbd.kkt.tree_arrays import FIRST_ROW as FIRST_ROW_OF_JOINT
from haugmbd.kkt.tree_recursion import (
    attach_joint,
    eliminate_joint,
    move_joint,
    pass_joint_force,
    place_joint,
    put_acceleration,
    put_forces_and_jump,
    put_joint_multipliers,
    put_right_hand_side,
)
from haugmbd.math.articulated_inertia import (
    ArticulatedInertia,
    Twist,
    Wrench,
    add_inertias,
    add_twists,
    add_wrenches,
    power,
    rank_one_downdate,
    scale_wrench,
    shift_inertia,
    shift_twist,
    shift_wrench,
    times_full,
    times_full_transposed,
    times_symmetric,
    times_twist,
)
from haugmbd.math.larger import weakest_of
from haugmbd.math.vec3 import Vec, add, dot, load, scale, store, sub
from haugmbd.workspace.layout import Workspace


@inlined
def place_cluster(t: TreeArrays, q: ClusterArrays, c: int, x: Array) -> tuple[float, int]:
    """Write W, C and G of the couplings of a cluster, do what `prescribe` does, and clear D and u.

    Return the weakest pivot C_d^2 / c_d^2, and its node (1.0, -1 where all are larger).
    """
    worst, where = 1.0, -1
    m, base = free_coordinates(q, c), q.clusters[c, BASE_MEMBER]
    for i in range(m):
        for j in range(m):
            q.member[unsigned(base + 1 + i), COLUMN + COLUMN_WIDTH * j] = 1.0 if i == j else 0.0
            q.pivot[c, PIVOT + i, j] = 0.0
        q.pivot[c, PASSED, i] = 0.0
    for r in range(q.clusters[c, FIRST_ROW], q.clusters[c, END_ROW]):
        weak = place_coupling(t, q, unsigned(r), m, x)
        worst, where = weakest_of(worst, where, weak, q.rows[unsigned(r), NODE])
    return worst, where


@inlined
def place_coupling(t: TreeArrays, q: ClusterArrays, r: int, m: int, x: Array) -> float:
    """Write W and C of a row, 1/C of its dependent joint, and G of that, and do what `prescribe` does; return C_d^2 / c_d^2."""
    first, node, row = unsigned(q.rows[r, FIRST_TERM]), unsigned(q.rows[r, NODE]), unsigned(q.rows[r, ROW])
    dependent = unsigned(q.terms[first, OF])
    # the dependent coordinate:  z_d = (gamma - sum C_k z_k) / C_d
    C, prescribed = place_term(t, q, first)
    along: float = C / q.reals[unsigned(q.terms[first, LINE]), COEFFICIENT]
    inverse, total = 1.0 / C, x[node, row] - prescribed
    q.moment[first, EFFECTIVE] = inverse
    t.d_inv[node, row] = inverse * inverse
    for j in range(m):
        q.member[dependent, COLUMN + COLUMN_WIDTH * j] = 0.0
    # G_d = - sum (C_k / C_d) G_k
    for n in range(q.rows[r, FIRST_TERM] + 1, q.rows[r, END_TERM]):
        C, prescribed = place_term(t, q, unsigned(n))
        q.moment[unsigned(n), EFFECTIVE] = C
        total -= prescribed
        k, ratio = unsigned(q.terms[unsigned(n), OF]), -inverse * C
        for j in range(m):
            q.member[dependent, COLUMN + COLUMN_WIDTH * j] += ratio * gain(q, k, j)
    # z0 of the dependent joint is part of what it is given
    add_to_jump(t, unsigned(q.terms[first, CARRIED]), is_displacement(q, first), total * inverse)
    return along * along


@inlined
def place_term(t: TreeArrays, q: ClusterArrays, n: int) -> tuple[float, float]:
    """Write W of a term; return C and W^T (g, beta)."""
    k, c = unsigned(q.terms[n, CARRIED]), q.reals[unsigned(q.terms[n, LINE]), COEFFICIENT]
    if is_displacement(q, n):
        w = scale_wrench(c, displacement_wrench(t, q, n))
        store(q.moment, n, PULL, w.force)
        store(q.moment, n, MOMENT, w.moment)
        return dot(w.force, axis_of(t, k, True)), power(w, jump_of(t, k, True))
    moment = scale(c * q.terms[n, SIGN], gradient(q.angle, unsigned(q.terms[n, COORDINATE])))
    store(q.moment, n, MOMENT, moment)
    return dot(moment, axis_of(t, k, False)), dot(moment, load(t.joint, k, JUMP_ANGULAR))


@inlined
def displacement_wrench(t: TreeArrays, q: ClusterArrays, n: int) -> Wrench:
    """Return the gradient of the displacement of a term, as a wrench on the body that the joint carries, about its handle."""
    k, d, sign = unsigned(q.terms[n, CARRIED]), unsigned(q.terms[n, COORDINATE]), float(q.terms[n, SIGN])
    moment = load(q.displacement, d, SLIDE_MOMENT_B if sign > 0.0 else SLIDE_MOMENT_A)
    return shift_wrench(Wrench(scale(sign, load(q.displacement, d, SLIDE_FORCE)), moment), center(t, k))


@inlined
def prescribed_part(t: TreeArrays, q: ClusterArrays, n: int) -> float:
    """Return W^T (g, beta) of a term."""
    k = unsigned(q.terms[n, CARRIED])
    if is_displacement(q, n):
        return power(Wrench(load(q.moment, n, PULL), load(q.moment, n, MOMENT)), jump_of(t, k, True))
    return dot(load(q.moment, n, MOMENT), load(t.joint, k, JUMP_ANGULAR))


@inlined
def put_prescribed(t: TreeArrays, q: ClusterArrays, x: Array) -> None:
    """Add S z0 to (g, beta) of the dependent joints, row by row, and clear u."""
    for c in range(q.clusters.shape[0]):
        for j in range(free_coordinates(q, c)):
            q.pivot[c, PASSED, j] = 0.0
        for r in range(q.clusters[c, FIRST_ROW], q.clusters[c, END_ROW]):
            prescribe(t, q, unsigned(r), x)


@inlined
def prescribe(t: TreeArrays, q: ClusterArrays, r: int, x: Array) -> None:
    """Add S z0 to (g, beta) of the dependent joint of a row."""
    first, total = unsigned(q.rows[r, FIRST_TERM]), x[unsigned(q.rows[r, NODE]), unsigned(q.rows[r, ROW])]
    for n in range(q.rows[r, FIRST_TERM], q.rows[r, END_TERM]):
        total -= prescribed_part(t, q, unsigned(n))
    add_to_jump(t, unsigned(q.terms[first, CARRIED]), is_displacement(q, first), total * q.moment[first, EFFECTIVE])


@inlined
def eliminate_member(t: TreeArrays, s: Ints, q: ClusterArrays, cs: Ints, m: int) -> float:
    """Add the joint of a body to D and u, and pass the inertia, U and the forces to its carrier; return the weakest pivot of D, at most 1.

    The columns come first: the inertia need not wait in registers for them.
    """
    k, i, sliding = unsigned(s[BODY]), unsigned(s[PARENT]), slides(q, cs)
    c, member, carrier = unsigned(cs[CLUSTER]), unsigned(cs[MEMBER]), unsigned(cs[CARRIER])
    arm = arm_of(t, k, sliding)
    # D += G^T S^T I^A S G,  u += G^T (S^T p - ...),  U = I^A S G
    add_joint(t, s, q, cs, m)
    if i > 0:
        # U of the carrier += X^T U
        for a in range(m):
            U = shift_wrench(load_column(q, member, a), arm)
            store_column(q, carrier, a, U if cs[ONLY] == 1 else add_wrenches(U, load_column(q, carrier, a)))
    # all joints of the cluster are in D: factor it
    weak = eliminate_base(q, c, m, i > 0) if cs[FIRST] == 1 else 1.0
    if i > 0:
        # I_i += X^T I^A X,  p_i += X^T (p - I^A a_J)
        I, p = load_inertia(t.body, k, LINEAR), load_wrench(t, k, FORCE)
        I_i = add_inertias(load_inertia(t.body, i, LINEAR), shift_inertia(I, arm))
        p_i = add_wrenches(load_wrench(t, i, FORCE), passed_force(I, p, jump_of(t, k, sliding), arm))
        if cs[FIRST] == 1:
            # at the base:  I_i -= U D^-1 U^T,  p_i -= U D^-1 u
            for j in range(m):
                U, inverse = load_column(q, carrier, j), q.pivot[c, PIVOT + j, j]
                I_i = rank_one_downdate(I_i, inverse, U)
                p_i = add_wrenches(p_i, scale_wrench(-inverse * q.pivot[c, PASSED, j], U))
        store_inertia(t.body, i, LINEAR, I_i)
        store_wrench(t, i, FORCE, p_i)
    return weak


@inlined
def add_joint(t: TreeArrays, s: Ints, q: ClusterArrays, cs: Ints, m: int) -> None:
    """Add a joint to D and u, and write U."""
    k, c, member, sliding = unsigned(s[BODY]), unsigned(cs[CLUSTER]), unsigned(cs[MEMBER]), slides(q, cs)
    p, axis, prescribed = load_wrench(t, k, FORCE), axis_of(t, k, sliding), jump_of(t, k, sliding)
    F = response(load_inertia(t.body, k, LINEAR), axis, sliding)
    stiff, u = along(axis, F, sliding), along(axis, p, sliding) - power(F, prescribed)
    for a in range(m):
        G = gain(q, member, a)
        U, coupled, passed = scale_wrench(G, F), 0.0, G * u
        if cs[LEAF] == 0:
            V = load_column(q, member, a)
            U, coupled, passed = add_wrenches(U, V), along(axis, V, sliding), passed - power(V, prescribed)
        q.pivot[c, PASSED, a] += passed
        q.pivot[c, PIVOT + a, a] += G * (2.0 * coupled + G * stiff)
        for b in range(a):  # U_kb with its part of F, U_ka without
            q.pivot[c, PIVOT + a, b] += G * along(axis, load_column(q, member, b), sliding) + gain(q, member, b) * coupled
        store_column(q, member, a, U)


@inlined
def passed_force(I: ArticulatedInertia, p: Wrench, prescribed: Twist, arm: Vec) -> Wrench:
    """Return the forces on a body about the handle of its carrier, less those of the prescribed acceleration."""
    inertial = times_twist(I, prescribed)
    return shift_wrench(Wrench(sub(p.force, inertial.force), sub(p.moment, inertial.moment)), arm)


@inlined
def eliminate_base(q: ClusterArrays, c: int, m: int, moves: bool) -> float:
    """Factor D = L diag(D_j) L^T, set u <- L^-1 u, and U <- U L^-T of a base that moves; return the smallest pivot, at most 1."""
    base = unsigned(q.clusters[c, BASE_MEMBER])
    D, weak = q.pivot[c], 1.0
    # D = L diag(D_j) L^T, column by column;  u <- L^-1 u,  U <- U L^-T
    for j in range(m):
        pivot = D[PIVOT + j, j]
        weak = weak if pivot >= weak else 1.0 if pivot > 0.0 else 0.0
        inverse = 1.0 / pivot
        D[PIVOT + j, j] = inverse
        for a in range(j + 1, m):
            factor = D[PIVOT + a, j] * inverse
            for b in range(j + 1, a + 1):
                D[PIVOT + a, b] -= factor * D[PIVOT + b, j]
            D[PASSED, a] -= factor * D[PASSED, j]
            if moves:
                store_column(q, base, a, add_wrenches(load_column(q, base, a), scale_wrench(-factor, load_column(q, base, j))))
        for a in range(j + 1, m):
            D[PIVOT + a, j] *= inverse
    return weak


@inlined
def pass_member_force(t: TreeArrays, s: Ints, q: ClusterArrays, cs: Ints, m: int) -> None:
    """Add the forces on a body to u, and pass them to its carrier."""
    k, i, c, member, sliding = unsigned(s[BODY]), unsigned(s[PARENT]), unsigned(cs[CLUSTER]), unsigned(cs[MEMBER]), slides(q, cs)
    p, prescribed = load_wrench(t, k, FORCE), jump_of(t, k, sliding)
    u = along(axis_of(t, k, sliding), p, sliding)
    for j in range(m):
        q.pivot[c, PASSED, j] += gain(q, member, j) * u - power(load_column(q, member, j), prescribed)
    if i > 0:
        add_wrench(t, i, FORCE, passed_force(load_inertia(t.body, k, LINEAR), p, prescribed, arm_of(t, k, sliding)))


@inlined
def pass_base_force(t: TreeArrays, q: ClusterArrays, c: int, m: int) -> None:
    """Set u <- L^-1 u, and subtract U D^-1 u from the forces on the base."""
    base, i = unsigned(q.clusters[c, BASE_MEMBER]), unsigned(q.clusters[c, BASE])
    D = q.pivot[c]
    for j in range(m):
        u = D[PASSED, j]
        for a in range(j + 1, m):
            D[PASSED, a] -= D[PIVOT + a, j] * u
        if i > 0:
            add_wrench(t, i, FORCE, scale_wrench(-u * D[PIVOT + j, j], load_column(q, base, j)))


@inlined
def solve_free(t: TreeArrays, q: ClusterArrays, c: int, m: int) -> None:
    """Write y, from the acceleration of the base."""
    base, i = unsigned(q.clusters[c, BASE_MEMBER]), unsigned(q.clusters[c, BASE])
    D = q.pivot[c]
    for j in range(m - 1, -1, -1):
        y = D[PASSED, j]
        if i > 0:
            y -= power(load_column(q, base, j), motion(t, i))
        y *= D[PIVOT + j, j]
        for a in range(j + 1, m):
            y -= D[PIVOT + a, j] * D[SOLVED, a]
        D[SOLVED, j] = y


@inlined
def move_member(t: TreeArrays, s: Ints, q: ClusterArrays, cs: Ints, m: int) -> Twist:
    """Return the acceleration of a body at its handle, from that of its carrier."""
    k, i, c, member, sliding = unsigned(s[BODY]), unsigned(s[PARENT]), unsigned(cs[CLUSTER]), unsigned(cs[MEMBER]), slides(q, cs)
    a = jump_of(t, k, sliding)
    if i > 0:
        a = add_twists(a, shift_twist(motion(t, i), arm_of(t, k, sliding)))
    z = 0.0
    for j in range(m):
        z += gain(q, member, j) * q.pivot[c, SOLVED, j]
    return add_motion(a, axis_of(t, k, sliding), z, sliding)


@inlined
def put_member_multipliers(t: TreeArrays, s: Ints, q: ClusterArrays, cs: Ints, x: Array) -> None:
    """Write the multipliers of a joint, what its couplings give not yet taken off, and tau, what it must give along its freedom."""
    sliding = slides(q, cs)
    w = put_slide_multipliers(t, s, x) if sliding else put_revolute_multipliers(t, s, x)
    q.member[unsigned(cs[MEMBER]), TAU] = along(axis_of(t, unsigned(s[BODY]), sliding), w, sliding)


@inlined
def put_coupling_multipliers(t: TreeArrays, q: ClusterArrays, c: int, x: Array) -> None:
    """Write the multipliers of the couplings of a cluster, and take what they give off the multipliers of its joints."""
    for r in range(q.clusters[c, END_ROW] - 1, q.clusters[c, FIRST_ROW] - 1, -1):
        put_coupling_multiplier(t, q, unsigned(r), x)


@inlined
def put_coupling_multiplier(t: TreeArrays, q: ClusterArrays, r: int, x: Array) -> None:
    """Write the multiplier of a row, and take what it gives off the multipliers and tau of its joints."""
    first = unsigned(q.rows[r, FIRST_TERM])
    lam = q.member[unsigned(q.terms[first, OF]), TAU] * q.moment[first, EFFECTIVE]
    x[unsigned(q.rows[r, NODE]), unsigned(q.rows[r, ROW])] = lam
    take_off(t, q, first, lam, x)
    for n in range(q.rows[r, FIRST_TERM] + 1, q.rows[r, END_TERM]):
        q.member[unsigned(q.terms[unsigned(n), OF]), TAU] -= q.moment[unsigned(n), EFFECTIVE] * lam
        take_off(t, q, unsigned(n), lam, x)


@inlined
def take_off(t: TreeArrays, q: ClusterArrays, n: int, lam: float, x: Array) -> None:
    """Take W lam of a term off the multipliers of its joint: those of the dot products, if it is revolute."""
    k, node = unsigned(q.terms[n, CARRIED]), unsigned(q.terms[n, JOINT])
    if is_displacement(q, n):
        w = Wrench(load(q.moment, n, PULL), load(q.moment, n, MOMENT))
        add_slide_multipliers(t, t.steps[unsigned(q.terms[n, STEP])], scale_wrench(-lam, w), x)
    else:
        moment = load(q.moment, n, MOMENT)
        x[node, 3] += lam * dot(moment, load(t.joint, k, DUAL_1))
        x[node, 4] += lam * dot(moment, load(t.joint, k, DUAL_2))


# The joints of clusters, which have one freedom: revolute ones, S = (0, h), and those that slide, S = (d, 0), see `separable_joint`.
#
#     along      S^T w = h . n   or   d . f                response   I S = (H h, J h)   or   (M d, H^T d)
#
# Both keep their geometry in TREE_JOINTS, in columns of their own; `slides` says which.
# Source: Featherstone (2008), sec. 4.4 (motion subspaces of revolute and prismatic joints).

LINE_LENGTH = 6
"""Columns of a line of a separable joint."""

N_LINEAR_OF_SLIDE, N_ANGULAR_OF_SLIDE = 2, 3
"""Rows of a joint that slides, by what they restrict: the third linear direction is its freedom."""


@inlined
def axis_of(t: TreeArrays, k: int, slides: bool) -> Vec:
    """Return h, or d."""
    return load(t.joint, k, LINE_LENGTH * (DIRECTION + N_LINEAR_OF_SLIDE) if slides else AXIS)


@inlined
def arm_of(t: TreeArrays, k: int, slides: bool) -> Vec:
    """Return the point of the joint on the carrier, from its handle."""
    return load(t.joint, k, LINE_LENGTH * ARM_LINE if slides else ARM)


@inlined
def jump_of(t: TreeArrays, k: int, slides: bool) -> Twist:
    """Return (g, beta), the acceleration that the right-hand side prescribes between the bodies."""
    first = LINE_LENGTH * JUMP_LINE if slides else JUMP_LINEAR
    return Twist(load(t.joint, k, first), load(t.joint, k, first + 3))


@inlined
def add_to_jump(t: TreeArrays, k: int, slides: bool, z: float) -> None:
    """Add S z to (g, beta)."""
    first = LINE_LENGTH * JUMP_LINE if slides else JUMP_LINEAR + 3
    store(t.joint, k, first, add(load(t.joint, k, first), scale(z, axis_of(t, k, slides))))


@inlined
def put_slide_jump(t: TreeArrays, s: Ints, x: Array) -> None:
    """Write (g, beta) of a joint that slides, from the right-hand side x (nn, 6)."""
    block = t.block[s[BODY]]
    given = prescribed(block, s, x[t.body.shape[0] + s[EDGE]])
    store(block, JUMP_LINE, 0, given.linear)
    store(block, JUMP_LINE, 3, given.angular)


@inlined
def along(axis: Vec, w: Wrench, slides: bool) -> float:
    """Return S^T w."""
    return dot(axis, w.force if slides else w.moment)


@inlined
def response(I: ArticulatedInertia, axis: Vec, slides: bool) -> Wrench:
    """Return I S."""
    if slides:
        return Wrench(times_symmetric(I.M, axis), times_full_transposed(I.H, axis))
    return Wrench(times_full(I.H, axis), times_symmetric(I.J, axis))


@inlined
def add_motion(a: Twist, axis: Vec, z: float, slides: bool) -> Twist:
    """Return a + S z."""
    if slides:
        return Twist(add(a.linear, scale(z, axis)), a.angular)
    return Twist(a.linear, add(a.angular, scale(z, axis)))


@inlined
def put_slide_multipliers(t: TreeArrays, s: Ints, x: Array) -> Wrench:
    """Write the multipliers of a joint that slides, pass its wrench to the parent, and return it about the handle."""
    k, i, node = s[BODY], s[PARENT], t.body.shape[0] + s[EDGE]
    w = shift_wrench(load_wrench(t, k, FORCE), center(t, k))
    for a in range(N_LINEAR_OF_SLIDE + N_ANGULAR_OF_SLIDE):
        x[node, s[FIRST_ROW_OF_JOINT + a]] = 0.0
    add_slide_multipliers(t, s, w, x)
    if i > 0:
        add_wrench(t, i, FORCE, shift_wrench(w, sub(arm_of(t, k, True), center(t, i))))
    return w


@inlined
def add_slide_multipliers(t: TreeArrays, s: Ints, w: Wrench, x: Array) -> None:
    """Add what a wrench on the body, about its handle, takes of the rows of a joint that slides."""
    block, node = t.block[s[BODY]], t.body.shape[0] + s[EDGE]
    for a in range(N_LINEAR_OF_SLIDE):
        x[node, s[FIRST_ROW_OF_JOINT + a]] += dot(load(block, DIRECTION + a, 0), w.force)
    for a in range(N_ANGULAR_OF_SLIDE):
        x[node, s[FIRST_ROW_OF_JOINT + N_LINEAR_OF_SLIDE + a]] += dot(load(block, DIRECTION + 3 + a, 0), w.moment)


@inlined
def factor(w: Workspace, x: Array, form: Form) -> tuple[float, int]:
    """Factor, and apply `forward` to the right-hand side x (nn, 6) in the same pass.

    Return the weakest pivot and its node (1.0, -1 where all are larger).
    """
    keep_rotations(w)
    t, q = tree_arrays(w), cluster_arrays(w, form)
    worst, where = 1.0, -1
    # geometry, own inertia and own forces of every body
    for n in range(t.steps.shape[0]):
        s = t.steps[unsigned(n)]
        weak = place_joint(w, t, n, q.all_revolute)
        attach_joint(w, t, n, q.all_revolute)
        put_own_inertia(t, s)
        put_forces_and_jump(t, s, x, q.all_revolute)
        worst, where = weakest_of(worst, where, weak, t.body.shape[0] + s[EDGE])
    put_slide_jumps(t, q, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            if cs[LAST] == 1:
                # z = G y + z0: the couplings of the cluster make its joints follow y
                weak, node = place_cluster(t, q, unsigned(cs[CLUSTER]), x)
                worst, where = weakest_of(worst, where, weak, node)
            # add the joint to D = sum S^T I^A S and u; at the base of the cluster eliminate y
            weak = eliminate_member(t, s, q, cs, free_coordinates(q, unsigned(cs[CLUSTER])))
        else:
            # a joint of no cluster: as in `recursion`
            weak = eliminate_joint(w, t, n, x, q.all_revolute)
        worst, where = weakest_of(worst, where, weak, s[BODY])
    return worst, where


@inlined
def forward(w: Workspace, x: Array, form: Form) -> None:
    """Pass the forces of another right-hand side x (nn, 6) inward, with the current factor."""
    t, q = tree_arrays(w), cluster_arrays(w, form)
    put_right_hand_side(t, x, q.all_revolute)
    put_slide_jumps(t, q, x)
    put_prescribed(t, q, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            m = free_coordinates(q, unsigned(cs[CLUSTER]))
            pass_member_force(t, s, q, cs, m)
            if cs[FIRST] == 1:
                pass_base_force(t, q, unsigned(cs[CLUSTER]), m)
        else:
            pass_joint_force(w, t, n, x, q.all_revolute)


@inlined
def backward(w: Workspace, x: Array, form: Form) -> None:
    """Overwrite the right-hand side x (nn, 6), after `factor` or `forward`, by the solution."""
    t, q = tree_arrays(w), cluster_arrays(w, form)
    for n in range(t.steps.shape[0]):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            m = free_coordinates(q, unsigned(cs[CLUSTER]))
            if cs[FIRST] == 1:
                # D y = u - U^T a of the base
                solve_free(t, q, unsigned(cs[CLUSTER]), m)
            # a = X a_i + a_J + S (G y)_k
            put_acceleration(t, s, move_member(t, s, q, cs, m), x)
        else:
            put_acceleration(t, s, move_joint(w, t, n, x, q.all_revolute), x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            # lam of the joints, then of the couplings, which take their part off
            put_member_multipliers(t, s, q, cs, x)
        else:
            put_joint_multipliers(w, t, n, x, q.all_revolute)
        if cs[FIRST] == 1:
            put_coupling_multipliers(t, q, unsigned(cs[CLUSTER]), x)


@inlined
def put_slide_jumps(t: TreeArrays, q: ClusterArrays, x: Array) -> None:
    """Write the accelerations that the right-hand side prescribes for the joints of clusters that slide."""
    for n in range(t.steps.shape[0]):
        if slides(q, q.steps[unsigned(n)]):
            put_slide_jump(t, t.steps[unsigned(n)], x)
