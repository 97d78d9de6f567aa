r"""Friction of revolute joints in the recursion over a forest: sweeps along the paths from these joints to the ground.

    inward    e = h . dp + s f     v = (u_0 - U . g + e) / D     dp of the parent: X^T (dp - U e / D)
    outward   z = v - U . X a / D       a <- X a + g + h z           W = I^A a - p_0 - dp

f: friction;  s: the torque of unit friction along h, on the body that the joint carries;  a: acceleration, of the parent and then of the
body;  X: from the handle of the parent to that of the body, d farther out;  g: jump;  W: wrench of the joint on the body.
I^A, U and D, and p_0 and u_0, without friction, are those that the factorization left; a sweep changes neither them nor the solution.
The accelerations wait for one another, and so do the changes dp; X^T U / D is multiplied out to shorten this.
Source: Featherstone (2008), ch. 7 (articulated-body algorithm).
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.kkt.tree.revolute import jump
from haugmbd.kkt.tree.tree_arrays import ARM as TREE_ARM
from haugmbd.kkt.tree.tree_arrays import AXIS as TREE_AXIS
from haugmbd.kkt.tree.tree_arrays import D_INV as TREE_D_INV
from haugmbd.kkt.tree.tree_arrays import (
    FORCE,
    LINEAR,
    SMALL_U,
    U_FORCE,
    U_MOMENT,
    TreeArrays,
    load_inertia,
    load_wrench,
    store_inertia,
    tree_arrays,
)
from haugmbd.math.articulated_inertia import (
    NO_INERTIA,
    NO_TWIST,
    NO_WRENCH,
    ArticulatedInertia,
    Twist,
    Wrench,
    add_wrenches,
    full_downdate,
    power,
    scale_wrench,
    shift_inertia,
    shift_wrench,
    times_full,
    times_full_transposed,
    times_symmetric,
    times_twist,
)
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.columns import BODY, FRICTION_OF, IS_CHAIN, PARENT, SIDE
from haugmbd.model.friction.loop.anderson import AGREES, FAILS, advance, forget
from haugmbd.model.friction.loop.arrays import friction_of
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

CHANGE, ARM, AXIS, LOST, D_INV, FREE, TORQUE, MOVE, ACCELERATION, COMPLIANCE = 0, 6, 9, 12, 18, 19, 20, 21, 22, 28
"""Where the columns of FRICTION_SWEEPS start, by lines of FRICTION_PATHS: dp; d and h; X^T U / D; 1 / D; (u_0 - U . g) / D; s; v; the
acceleration; see `largest_own_slope` for the last."""
SWEEP_COLUMNS = 49
MOST = 30
"""Sweeps.  If more are needed, the columns are solved for."""
NO_FRICTION = -1


@inlined
def solve_by_sweeps(P: Pack) -> bool:
    """Solve friction and multipliers together, after `factorize` or `begin`; return whether it is done, else `finish` is to come.

    It starts from the friction without the loop, so that the result depends on the state alone.  Accepted as in `fixed_point`: no joint
    alone may have slope 1, and the friction must contract along every step, by a half.
    """
    ints, terms = ws.friction_ints(P), ws.friction_terms(P)
    f_t, before = friction_of(P), 1e300
    for k in range(ints.shape[0]):
        if ints[k, at.LOADED] == 1 and terms[k, at.STATE] != at.SLIDES:
            return False
    if not begin_sweeps(P):
        return False
    forget(f_t)
    sweep_outward(P, f_t[0])
    for count in range(MOST):
        sweep_inward(P, f_t[0])
        sweep_outward(P, f_t[1])
        result, before = advance(f_t, count, before, False)
        if result == AGREES:
            finish_sweeps(P)
            for k in range(ints.shape[0]):
                if ints[k, at.LOADED] == 1:
                    terms[k, at.FRICTION], terms[k, at.MARGIN] = -f_t[0, k] * terms[k, at.DIRECTION], terms[k, at.LIMIT] - f_t[0, k]
            return True
        if result == FAILS:
            return False
    return False


@inlined
def begin_sweeps(P: Pack) -> bool:
    """Write what all sweeps need, and v without friction; return whether no joint alone has a slope of 1."""
    bounded = True
    t, paths, rows, terms = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), ws.friction_terms(P)  # type: ignore[arg-type]
    for n in range(paths.shape[0]):
        k, f = paths[n, BODY], paths[n, FRICTION_OF]
        D_inv, arm, h, lost = t.joint[k, TREE_D_INV], load(t.joint, k, TREE_ARM), load(t.joint, k, TREE_AXIS), lost_wrench(t, k)
        rows[n, D_INV] = D_inv
        rows[n, FREE] = rows[n, MOVE] = D_inv * (t.joint[k, SMALL_U] - power(lost, jump(t, k)))
        passed = shift_wrench(lost, arm)
        store(rows, n, ARM, arm)
        store(rows, n, AXIS, h)
        store(rows, n, LOST, scale(D_inv, passed.force))
        store(rows, n, LOST + 3, scale(D_inv, passed.moment))
        store(rows, n, CHANGE, (0.0, 0.0, 0.0))
        store(rows, n, CHANGE + 3, (0.0, 0.0, 0.0))
        if f != NO_FRICTION:
            bounded = bounded and is_below_one(P, load_inertia(t.body, k, LINEAR), f)
            rows[n, TORQUE] = -paths[n, SIDE] * terms[f, at.DIRECTION] * dot(h, load(terms, f, at.AXIS))
    return bounded or largest_own_slope(P) < 1.0


@inlined
def lost_wrench(t: TreeArrays, k: int) -> Wrench:
    """Return U of the joint that carries body k."""
    return Wrench(load(t.joint, k, U_FORCE), load(t.joint, k, U_MOMENT))


@inlined
def sweep_inward(P: Pack, f_t: Array) -> None:
    """Pass the changes of the forces by friction f_t (nf,) inward; from a line to the one before they stay in registers."""
    paths, rows, passed = ws.friction_paths(P), ws.friction_sweeps(P), NO_WRENCH
    for n in range(paths.shape[0] - 1, -1, -1):
        f, parent = paths[n, FRICTION_OF], paths[n, PARENT]
        if paths[n, IS_CHAIN] == 1:
            dp = passed
            store(rows, n, CHANGE, dp.force)
            store(rows, n, CHANGE + 3, dp.moment)
        else:
            dp = Wrench(load(rows, n, CHANGE), load(rows, n, CHANGE + 3))
        h, m, change = load(rows, n, AXIS), dp.moment, 0.0
        if f != NO_FRICTION:
            change = rows[n, TORQUE] * f_t[f]
        change = change + h[0] * m[0] + h[1] * m[1] + h[2] * m[2]
        rows[n, MOVE] = rows[n, FREE] + rows[n, D_INV] * change
        if parent >= 0:
            passed = shift_wrench(dp, load(rows, n, ARM))
            passed = Wrench(
                sub(passed.force, scale(change, load(rows, n, LOST))), sub(passed.moment, scale(change, load(rows, n, LOST + 3)))
            )
            if paths[parent, IS_CHAIN] == 0:
                store(rows, parent, CHANGE, add(load(rows, parent, CHANGE), passed.force))
                store(rows, parent, CHANGE + 3, add(load(rows, parent, CHANGE + 3), passed.moment))


@kernel
def sweep_outward(P: Pack, out: Array) -> None:
    """Write C of the wrenches by the current v to out (nf,), and normal force, limit at rest to the terms; clear dp."""
    t, paths, rows, a = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), NO_TWIST  # type: ignore[arg-type]
    reals, terms = ws.friction_reals(P), ws.friction_terms(P)
    for n in range(paths.shape[0]):
        k, f, parent = paths[n, BODY], paths[n, FRICTION_OF], paths[n, PARENT]
        if parent != n - 1:
            a = Twist(load(rows, parent, ACCELERATION), load(rows, parent, ACCELERATION + 3)) if parent >= 0 else NO_TWIST
        given, h = jump(t, k), load(rows, n, AXIS)
        z = rows[n, MOVE] - power(Wrench(load(rows, n, LOST), load(rows, n, LOST + 3)), a)
        linear = add(add(given.linear, a.linear), cross(a.angular, load(rows, n, ARM)))
        a = Twist(linear, add(add(given.angular, a.angular), scale(z, h)))
        store(rows, n, ACCELERATION, a.linear)
        store(rows, n, ACCELERATION + 3, a.angular)
        if f != NO_FRICTION:
            out[f] = put_load(t, k, reals[f, at.LENGTH], terms, f, a, Wrench(load(rows, n, CHANGE), load(rows, n, CHANGE + 3)))
        if paths[n, IS_CHAIN] == 0:
            store(rows, n, CHANGE, (0.0, 0.0, 0.0))
            store(rows, n, CHANGE + 3, (0.0, 0.0, 0.0))


@inlined
def put_load(t: TreeArrays, k: int, length: float, terms: Array, f: int, a: Twist, dp: Wrench) -> float:
    """Write normal force and limit at rest of the friction f of body k; return C."""
    I, p, h = load_inertia(t.body, k, LINEAR), load_wrench(t, k, FORCE), load(terms, f, at.AXIS)
    F = sub(sub(add(times_symmetric(I.M, a.linear), times_full(I.H, a.angular)), p.force), dp.force)
    M = (0.0, 0.0, 0.0)
    if length > 0.0:
        M = sub(sub(add(times_full_transposed(I.H, a.linear), times_symmetric(I.J, a.angular)), p.moment), dp.moment)
    N, push = normal_of_revolute(F, M, h, length), abs(dot(F, h))
    terms[f, at.NORMAL], terms[f, at.LIMIT] = N, terms[f, at.S_0] + terms[f, at.S_1] * N + terms[f, at.S_2] * push
    return terms[f, at.C_0] + terms[f, at.C_1] * N + terms[f, at.C_2] * push  # type: ignore[no-any-return]


@inlined
def normal_of_revolute(F: Vec, M: Vec, h: Vec, length: float) -> float:
    """Return N of the wrench (F, M) of a revolute joint, see `forces.joint_friction`."""
    F_p = sub(F, scale(dot(F, h), h))
    if length > 0.0:
        half, c = scale(0.5, F_p), scale(1.0 / length, cross(M, h))
        return norm(add(half, c)) + norm(sub(half, c))
    return norm(F_p)


@inlined
def norm(a: Vec) -> float:
    """Return |a|."""
    return sqrt(dot(a, a))


@inlined
def finish_sweeps(P: Pack) -> None:
    """Write the solution with the friction of the last sweep."""
    t, paths, rows = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P)  # type: ignore[arg-type]
    for n in range(paths.shape[0]):
        k = paths[n, BODY]
        t.joint[k, SMALL_U] += (rows[n, MOVE] - rows[n, FREE]) / rows[n, D_INV]
    P.finish(P, P.python_solver)


@inlined
def is_below_one(P: Pack, I: ArticulatedInertia, f: int) -> bool:
    """Return whether friction f changes by less than itself through its own joint, by a bound, see `contraction`;  I: of its body."""
    ints, reals, terms, inertia = ws.friction_ints(P), ws.friction_reals(P), ws.friction_terms(P), ws.inertia(P)
    force, moment, length = I.M[0] + I.M[3] + I.M[5], 0.0, reals[f, at.LENGTH]
    if length > 0.0:
        moment = 4.0 * (I.J[0] + I.J[3] + I.J[5]) / (length * length)
    c_1, c_2, D = terms[f, at.C_1], terms[f, at.C_2], terms[f, at.DIRECTION]
    a = 2.0 * (c_1 * c_1 * (force + moment) + c_2 * c_2 * force)
    b_i, b_j = least_inertia(inertia, ints[f, at.BODY_I]), least_inertia(inertia, ints[f, at.BODY_J])
    return min(b_i, b_j) > 0.0 and a * D * D * (b_i + b_j) < b_i * b_j


@inlined
def least_inertia(J: Array, body: int) -> float:
    """Return a lower bound of 1 / (h^T J_bar^-1 h) for unit vectors h, without end of the ground; J: (nb + 1, 10).

    Source: Gershgorin (1931), eigenvalues in discs.
    """
    if body == 0:
        return 1e100
    xy, xz, yz = abs(J[body, 2]), abs(J[body, 3]), abs(J[body, 6])
    return min(J[body, 1] - xy - xz, J[body, 5] - xy - yz, J[body, 9] - xz - yz)  # type: ignore[no-any-return]


@kernel
def largest_own_slope(P: Pack) -> float:
    r"""Return the largest slope C(W) - C_0 of a joint through its own friction, of which W is the wrench by unit friction.

        Y     = X Omega_i X^T            compliance of the parent at the handle;  Omega: acceleration of a body by a wrench on it
        W     = s (beta U - I^A y / D)   y = Y U,   beta = (1 + U^T y / D) / D
        Omega = (1 - h U^T / D) Y (1 - U h^T / D) + h h^T / D

    Source: Rodriguez, Jain, Kreutz-Delgado, Spatial operator algebra for multibody system dynamics, J. Astronaut. Sci. 40 (1992).
    """
    t, paths, rows, worst = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), 0.0  # type: ignore[arg-type]
    reals, terms = ws.friction_reals(P), ws.friction_terms(P)
    for n in range(paths.shape[0]):
        k, f, parent = paths[n, BODY], paths[n, FRICTION_OF], paths[n, PARENT]
        h, D_inv, lost, Y = load(rows, n, AXIS), rows[n, D_INV], lost_wrench(t, k), NO_INERTIA
        if parent >= 0:
            Y = shift_inertia(load_inertia(rows, parent, COMPLIANCE), scale(-1.0, load(rows, n, ARM)))
        turned = times_twist(Y, Twist(lost.moment, lost.force))
        y = Twist(turned.moment, turned.force)
        beta = D_inv * (1.0 + D_inv * power(lost, y))
        store_inertia(rows, n, COMPLIANCE, compliance_outward(Y, h, scale(D_inv, y.angular), scale(D_inv, y.linear), beta))
        if f != NO_FRICTION:
            held = times_twist(load_inertia(t.body, k, LINEAR), y)
            W = add_wrenches(scale_wrench(beta, lost), scale_wrench(-D_inv, held))
            h = load(terms, f, at.AXIS)
            N, push = normal_of_revolute(W.force, W.moment, h, reals[f, at.LENGTH]), abs(dot(W.force, h))
            worst = max(worst, abs(rows[n, TORQUE]) * (terms[f, at.C_1] * N + terms[f, at.C_2] * push))
    return worst


@inlined
def compliance_outward(Y: ArticulatedInertia, h: Vec, y_turn: Vec, y: Vec, beta: float) -> ArticulatedInertia:
    """Return Y + beta h h^T - h (y_turn, y)^T - (y_turn, y) h^T: angular part first, which h belongs to."""
    M, b = Y.M, scale(beta, h)
    return ArticulatedInertia(
        (
            M[0] + h[0] * (b[0] - 2.0 * y_turn[0]),
            M[1] + h[0] * (b[1] - y_turn[1]) - h[1] * y_turn[0],
            M[2] + h[0] * (b[2] - y_turn[2]) - h[2] * y_turn[0],
            M[3] + h[1] * (b[1] - 2.0 * y_turn[1]),
            M[4] + h[1] * (b[2] - y_turn[2]) - h[2] * y_turn[1],
            M[5] + h[2] * (b[2] - 2.0 * y_turn[2]),
        ),
        full_downdate(Y.H, 1.0, h, y),
        Y.J,
    )
