r"""Friction of revolute joints in the recursion over a forest: sweeps along the paths from these joints to the ground.

    inward    e = h . dp + s f     v = (u_0 - U . g + e) / D     dp of the parent: X^T (dp - U e / D)
    outward   z = v - U . X a / D       a <- X a + g + h z           W = I^A a - p_0 - dp

f: friction;  s: the torque of unit friction along h, on the body that the joint carries;  a: acceleration, of the parent and then of the
body;  X: from the handle of the parent to that of the body, d farther out;  g: jump;  W: wrench of the joint on the body.
I^A, U and D, and p_0 and u_0, without friction, are those that the factorization left; a sweep changes neither them nor the solution.
The accelerations wait for one another, and so do the changes dp: X^T U / D is multiplied out, and sums are written so that what is known
last is added last.  From a body to the only one that it carries, z is written by what is known a body earlier, and waits for one product:

    z = v - X^T (X^T U / D) . a_g - k z_p          a_g: acceleration of the parent's parent;  z_p: z of the parent;  k = h_p . (X^T U / D)

Cost: that of sweeps, and of their preparation: rates, coefficients and what all sweeps need (`make bench`, section `friction`).  Without
lengths friction changes the reactions by less than a hundredth of itself, and four or five sweeps end the iteration.  With lengths of a
tenth of the links, couples press: slopes are up to 0.2, ten sweeps are needed, and the bound of `is_below_one` does not hold, so that the
slopes of joints alone are computed, for as much as a sweep and a half.  Fewer sweeps need slopes along the whole path.  A symmetric
Gauss-Seidel sweep with compliances Y of `own_slopes` reduces the residual by 1e-2 in place of 1e-1, but takes more than twice as long.
Newton's iteration with the slopes after two sweeps ends with the fifth, but its elimination, with inertias that are not symmetric, takes as
long as three or four sweeps, and its sweeps take longer.
Source: Featherstone (2008), ch. 7 (articulated-body algorithm).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.friction import columns as at
from haugmbd.friction.columns import BODY, FRICTION_OF, IS_CHAIN, PARENT, SIDE
from haugmbd.friction.contraction import FAILS, GOES_ON, NEXT_AGREES, advance, forget
from haugmbd.friction.locks import BIAS, LOCKED, lock_joints, put_holding_friction, unlock
from haugmbd.friction.loop_arrays import friction_of_lines
from haugmbd.friction.one_joint import change_of, limit_of_parts, parts_of, parts_of_lane, solve_lane
from haugmbd.friction.own_slopes import NO_BOUND, is_below_one, largest_own_slope, least_inertia, lost_wrench
from haugmbd.friction.sweep_lanes import (
    ACCELERATION,
    AHEAD,
    C_0,
    C_1,
    C_2,
    CHANGE,
    COUPLING,
    D_INV,
    DIRECTION,
    FORCES,
    FREE,
    HAS_FRICTION,
    LANES,
    LINEAR,
    LOST,
    MOVE,
    NORMAL,
    PER_LENGTH,
    PUSH,
    TORQUE,
    acceleration_of,
    add_to,
    clear_sums,
    in_fours,
    put,
    put_inertia,
    put_loads,
    take,
)
from haugmbd.kkt.revolute_joint import jump
from haugmbd.kkt.tree_arrays import ARM as TREE_ARM
from haugmbd.kkt.tree_arrays import AXIS as TREE_AXIS
from haugmbd.kkt.tree_arrays import D_INV as TREE_D_INV
from haugmbd.kkt.tree_arrays import FORCE, SMALL_U, TreeArrays, load_inertia, load_wrench, tree_arrays
from haugmbd.kkt.tree_arrays import LINEAR as TREE_LINEAR
from haugmbd.math.articulated_inertia import (
    NO_TWIST,
    NO_WRENCH,
    ZERO,
    Twist,
    Wrench,
    power,
    scale_wrench,
    shift_wrench,
    times_twist,
)
from haugmbd.math.vec3 import Vec, add, dot, load, scale, sub
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

MOST = 30
"""Sweeps.  If more are needed, the columns are solved for."""
NO_FRICTION = -1


@inlined
def solve_by_sweeps(P: Pack) -> bool:
    """Solve friction and multipliers together, after `factorize` or `begin`; return whether it is done, else `finish` is to come.

    It starts from the friction without the loop, so that the result depends on the state alone.  Accepted as in `contraction`: no joint
    alone may have slope 1, and the friction must contract along every step, by a half.
    """
    ints, terms, locked = ws.friction_ints(P), ws.friction_terms(P), False
    for k in range(ints.shape[0]):
        if ints[k, at.LOADED] == 1:
            if terms[k, at.STATE] == at.AT_LIMIT:
                return False
            locked = locked or terms[k, at.STATE] == at.STICKS
    if not locked:
        return sweep(P)
    done = lock_joints(P, BIAS) and sweep(P) and put_holding_friction(P)
    unlock(P, ws.friction_base(P), done)
    return done


@kernel
def sweep(P: Pack) -> bool:
    """Do what `solve_by_sweeps` does with the current factor, in which joints that stick are locked."""
    before, slope, f_t = 0.0, 0.0, friction_of_lines(P, in_fours(ws.friction_paths(P).shape[0]))
    if is_first_joint(P):
        return solve_for_first_joint(P)
    bounded = begin_sweeps(P)
    if ws.n_frictions(P) == 1:
        return solve_for_one(P, f_t[0])
    if not bounded and not largest_own_slope(P) < 1.0:
        return False
    forget(f_t)
    sweep_outward(P, f_t[0])
    for count in range(MOST):
        sweep_inward(P, f_t[0])
        sweep_outward(P, f_t[1])
        result, before, slope = advance(f_t, count, before, slope, False)
        if result == FAILS:
            return False
        if result != GOES_ON:
            if result == NEXT_AGREES:
                sweep_inward(P, f_t[0])
            finish_sweeps(P, f_t[0])
            return True
    return False


@inlined
def begin_sweeps(P: Pack) -> bool:
    """Write what all sweeps need, and v without friction; return whether no joint alone has a slope of 1, by a bound."""
    bounded, jump_i, arm_i, h_i, least_i = True, NO_TWIST, ZERO, ZERO, NO_BOUND  # those of the line before
    t, paths, lanes, terms = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), ws.friction_terms(P)  # type: ignore[arg-type]
    reals, inertia = ws.friction_reals(P), ws.inertia(P)
    for n in range(paths.shape[0]):
        k, f, z, r = paths[n, BODY], paths[n, FRICTION_OF], lanes[n // LANES], n % LANES
        D_inv, arm, h = t.joint[k, TREE_D_INV], load(t.joint, k, TREE_ARM), load(t.joint, k, TREE_AXIS)
        lost, g, least = lost_wrench(t, k), jump(t, k), least_inertia(inertia, k) if bounded else 0.0
        if r == 0:
            z[HAS_FRICTION, 0] = z[HAS_FRICTION, 1] = z[HAS_FRICTION, 2] = 0.0
        z[D_INV, r] = D_inv
        # X^T U / D, and v = (u_0 - U . g) / D without friction
        passed, free = scale_wrench(D_inv, shift_wrench(lost, arm)), D_inv * (t.joint[k, SMALL_U] - power(lost, g))
        put(z, LOST, r, passed.force)
        put(z, LOST + 3, r, passed.moment)
        parent = paths[n, PARENT]
        # from a body to the only one that it carries: k = h_p . (X^T U / D), and the moment about the handle of the parent's parent
        if parent < 0:
            least_i = NO_BOUND
        elif paths[parent, IS_CHAIN] == 1:
            free -= power(passed, jump_i)
            z[COUPLING, r] = dot(passed.moment, h_i)
            put(z, AHEAD, r, shift_wrench(passed, arm_i).moment)
        else:
            least_i = least_inertia(inertia, paths[parent, BODY])
            lanes[parent // LANES, HAS_FRICTION, 2] = 1.0
        z[FREE, r] = z[MOVE, r] = free
        put(z, CHANGE, r, (0.0, 0.0, 0.0))
        put(z, CHANGE + 3, r, (0.0, 0.0, 0.0))
        if f != NO_FRICTION:
            I, length = load_inertia(t.body, k, TREE_LINEAR), reals[f, at.LENGTH]
            slides = terms[f, at.STATE] != at.STICKS
            bounded = bounded and (not slides or is_below_one(terms, f, length, I, least, least_i))
            put_inertia(z, LINEAR, r, I, length > 0.0)
            put_joint(z, r, load_wrench(t, k, FORCE), length, terms, f)
            z[TORQUE, r] = torque_of(terms, f, paths[n, SIDE], h) if slides else 0.0
        jump_i, arm_i, h_i, least_i = g, arm, h, least
    return bounded


@inlined
def put_joint(z: Array, r: int, p: Wrench, length: float, terms: Array, f: int) -> None:
    """Write what the normal force of friction f needs in lane r;  p: forces on its body."""
    put(z, FORCES, r, p.force)
    put(z, DIRECTION, r, load(terms, f, at.AXIS))
    slides = terms[f, at.STATE] != at.STICKS
    z[C_0, r], z[C_1, r], z[C_2, r] = (terms[f, at.C_0], terms[f, at.C_1], terms[f, at.C_2]) if slides else (0.0, 0.0, 0.0)
    z[PER_LENGTH, r], z[HAS_FRICTION, 0] = 0.0, 1.0
    if length > 0.0:
        put(z, FORCES + 3, r, p.moment)
        z[PER_LENGTH, r], z[HAS_FRICTION, 1] = 1.0 / length, 1.0


@kernel
def sweep_inward(P: Pack, f_t: Array) -> None:
    """Pass the changes of the forces by friction f_t (lines,) inward; from a line to the one before they stay in registers."""
    t, paths, lanes, passed = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), NO_WRENCH  # type: ignore[arg-type]
    for n in range(paths.shape[0] - 1, -1, -1):
        k, parent, z, r = paths[n, BODY], paths[n, PARENT], lanes[n // LANES], n % LANES
        if paths[n, IS_CHAIN] == 1:
            dp = passed
            put(z, CHANGE, r, dp.force)
            put(z, CHANGE + 3, r, dp.moment)
        else:
            dp = Wrench(take(z, CHANGE, r), take(z, CHANGE + 3, r))
        # e = h . dp + s f,   v = (u_0 - U . g + e) / D
        h, m = load(t.joint, k, TREE_AXIS), dp.moment
        change = z[TORQUE, r] * f_t[n] + h[0] * m[0] + h[1] * m[1] + h[2] * m[2]
        z[MOVE, r] = z[FREE, r] + z[D_INV, r] * change
        if parent >= 0:
            # dp of the parent: X^T (dp - U e / D)
            passed = pass_change(z, r, load(t.joint, k, TREE_ARM), dp, change)
            if paths[parent, IS_CHAIN] == 0:
                add_to(lanes[parent // LANES], CHANGE, parent % LANES, passed.force)
                add_to(lanes[parent // LANES], CHANGE + 3, parent % LANES, passed.moment)


@inlined
def pass_change(z: Array, r: int, d: Vec, dp: Wrench, change: float) -> Wrench:
    """Return X^T (dp - U e / D)."""
    F, M, u, v = dp.force, dp.moment, take(z, LOST, r), take(z, LOST + 3, r)
    return Wrench(
        (F[0] - u[0] * change, F[1] - u[1] * change, F[2] - u[2] * change),
        (
            M[0] + d[1] * F[2] - d[2] * F[1] - v[0] * change,
            M[1] + d[2] * F[0] - d[0] * F[2] - v[1] * change,
            M[2] + d[0] * F[1] - d[1] * F[0] - v[2] * change,
        ),
    )


@kernel
def sweep_outward(P: Pack, out: Array) -> None:
    """Write C of the wrenches by the current v to out (lines,), in eights of which one has friction; clear sums dp."""
    paths, lanes = ws.friction_paths(P), ws.friction_sweeps(P)
    move_outward(P)
    for b in range(lanes.shape[0]):  # not at once: numbers that were just written wait to be read by eight
        z, first, m = lanes[b], b * LANES, min(LANES, paths.shape[0] - b * LANES)
        if z[HAS_FRICTION, 0] > 0.0:
            put_loads(z, in_fours(m), z[HAS_FRICTION, 1] > 0.0, out[first : first + in_fours(m)])
    clear_sums(paths, lanes)


@inlined
def move_outward(P: Pack) -> None:
    """Write the accelerations of the bodies by the current v."""
    t, paths, lanes, a = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), NO_TWIST  # type: ignore[arg-type]
    before, y, ahead = NO_TWIST, 0.0, False
    for n in range(paths.shape[0]):
        k, z, r, parent = paths[n, BODY], lanes[n // LANES], n % LANES, paths[n, PARENT]
        # z = v - U . X a / D, by what is known a body earlier where the body before carries this one only
        if ahead:
            y = turning(z, r, before, take(z, AHEAD, r)) - z[COUPLING, r] * y
        else:
            if parent != n - 1:
                a = acceleration_of(lanes, parent)
            y = turning(z, r, a, take(z, LOST + 3, r))
        before, ahead = a, paths[n, IS_CHAIN] == 1
        # a <- X a + g + h z
        a = move_body(t, k, a, y)
        put(z, ACCELERATION, r, a.linear)
        put(z, ACCELERATION + 3, r, a.angular)


@inlined
def turning(z: Array, r: int, a: Twist, v: Vec) -> float:
    """Return v - (U / D) . a of lane r, with the moment v of U / D about the handle of which a is the acceleration."""
    b, w, u = a.linear, a.angular, take(z, LOST, r)
    return z[MOVE, r] - u[0] * b[0] - u[1] * b[1] - u[2] * b[2] - v[0] * w[0] - v[1] * w[1] - v[2] * w[2]  # type: ignore[no-any-return]


@inlined
def move_body(t: TreeArrays, k: int, a: Twist, y: float) -> Twist:
    """Return the acceleration of body k from that of its parent, with y of its joint."""
    b, w, d, h, jumps = a.linear, a.angular, load(t.joint, k, TREE_ARM), load(t.joint, k, TREE_AXIS), jump(t, k)
    g, beta = jumps.linear, jumps.angular
    return Twist(
        (
            g[0] + b[0] + w[1] * d[2] - w[2] * d[1],
            g[1] + b[1] + w[2] * d[0] - w[0] * d[2],
            g[2] + b[2] + w[0] * d[1] - w[1] * d[0],
        ),
        (beta[0] + w[0] + h[0] * y, beta[1] + w[1] + h[1] * y, beta[2] + w[2] + h[2] * y),
    )


@inlined
def is_first_joint(P: Pack) -> bool:
    """Return whether the only friction is in a joint on the ground, which slides."""
    if ws.n_frictions(P) > 1 or ws.friction_paths(P).shape[0] > 1:
        return False
    return ws.friction_terms(P)[ws.friction_paths(P)[0, FRICTION_OF], at.STATE] != at.STICKS  # type: ignore[no-any-return]


@inlined
def solve_for_first_joint(P: Pack) -> bool:
    """Solve for this friction: a change of the wrench by friction has the direction of U."""
    t, paths, z, terms = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P)[0], ws.friction_terms(P)  # type: ignore[arg-type]
    k, f = paths[0, BODY], paths[0, FRICTION_OF]
    g, lost, h, D_inv, p = (
        jump(t, k),
        lost_wrench(t, k),
        load(t.joint, k, TREE_AXIS),
        t.joint[k, TREE_D_INV],
        load_wrench(t, k, FORCE),
    )
    put_joint(z, 0, p, ws.friction_reals(P)[f, at.LENGTH], terms, f)
    # z = (u_0 - U . g) / D,   W = I^A (g + h z) - p_0 without friction;  unit friction changes W by s U / D
    y = D_inv * (t.joint[k, SMALL_U] - power(lost, g))
    stiff = times_twist(load_inertia(t.body, k, TREE_LINEAR), Twist(g.linear, add(g.angular, scale(y, h))))
    before = parts_of(z, 0, sub(stiff.force, p.force), sub(stiff.moment, p.moment))
    s = torque_of(terms, f, paths[0, SIDE], h)
    change = scale_wrench(s * D_inv, lost)
    f_t = solve_lane(z, 0, before, parts_of(z, 0, change.force, change.moment), limit_of_parts(z, 0, before))
    if f_t < 0.0:
        return False
    t.joint[k, SMALL_U] += s * f_t
    put_terms_of_lane(z, 0, f_t, terms, f)
    P.finish(P, P.python_solver)
    return True


@inlined
def torque_of(terms: Array, f: int, side: int, h: Vec) -> float:
    """Return the torque of unit friction f along h, on the body that the joint carries."""
    return -side * terms[f, at.DIRECTION] * dot(h, load(terms, f, at.AXIS))  # type: ignore[no-any-return]


@inlined
def put_terms_of_lane(z: Array, r: int, f_t: float, terms: Array, f: int) -> None:
    """Write friction, normal force, limit at rest and margin of friction f, of lane r."""
    limit = terms[f, at.S_0] + terms[f, at.S_1] * z[NORMAL, r] + terms[f, at.S_2] * z[PUSH, r]
    terms[f, at.NORMAL], terms[f, at.LIMIT], terms[f, at.MARGIN] = z[NORMAL, r], limit, limit - f_t
    terms[f, at.FRICTION] = -f_t * terms[f, at.DIRECTION]


@inlined
def solve_for_one(P: Pack, f_t: Array) -> bool:
    """Solve for the only friction, by the wrench of its joint and the change of this by unit friction."""
    paths, lanes = ws.friction_paths(P), ws.friction_sweeps(P)
    last = paths.shape[0] - 1  # the path ends with the joint
    z, r = lanes[last // LANES], last % LANES
    for n in range(last):
        f_t[n] = 0.0
    # the wrench without friction, then with unit friction: x = C(x) is a scalar equation
    move_outward(P)
    before = parts_of_lane(z, r)
    f, f_t[last] = limit_of_parts(z, r, before), 1.0
    sweep_inward(P, f_t)
    move_outward(P)
    f_t[last] = solve_lane(z, r, before, change_of(before, parts_of_lane(z, r)), f)
    if f_t[last] < 0.0:
        return False
    sweep_inward(P, f_t)
    finish_sweeps(P, f_t)
    return True


@inlined
def finish_sweeps(P: Pack, f_t: Array) -> None:
    """Write the solution with the friction of the last sweep; and friction, normal force, limit at rest and margin to the terms."""
    t, paths, lanes, terms = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), ws.friction_terms(P)  # type: ignore[arg-type]
    for n in range(paths.shape[0]):
        k, f, z, r = paths[n, BODY], paths[n, FRICTION_OF], lanes[n // LANES], n % LANES
        if z[D_INV, r] != LOCKED:
            t.joint[k, SMALL_U] += (z[MOVE, r] - z[FREE, r]) / z[D_INV, r]
        if f != NO_FRICTION:
            put_terms_of_lane(z, r, f_t[n], terms, f)
    P.finish(P, P.python_solver)
