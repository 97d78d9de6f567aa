"""Rates, directions and coefficients of friction at a state, of every joint with friction; and its tangents in an implicit step.

    slide    q' of a . d, a on body i         turn    q' = a . (omega_j - omega_i)         s_c = arm_c q'_c,   s = |s_c|
    friction in the channels   -f_t arm_c e_c,   e = s_c / s,   f_t = mu(s) (N + N_0) + mu(r_t / r s) r_t / r |thrust|        [N]

With a mode the direction e is the mode's: a step that goes beyond the instant of rest stays smooth, and the event is located there.
That of a joint which begins to slide is found with its acceleration, see `first_motion`.

    tangent: friction on the surface  g = -f_t(s) e        -dg/ds = f_t / |s| 1 + (f_t' - f_t / |s|) e e^T

f_t' counts where it is positive: M + c_u C stays definite, and Newton's iteration has the same solution.  The change of the reaction is
left out.
Source: Haug (2021), spatial kinematics: relative coordinates of joints, and friction; Geradin and Cardona, Flexible Multibody Dynamics,
for tangents.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, inlined_kernel, kernel
from haugmbd.constraints.base import Motion, value
from haugmbd.constraints.coordinate import displacement_rates
from haugmbd.forces.friction_laws import (
    COULOMB,
    LUGRE,
    P1,
    P4,
    P5,
    P6,
    VISCOUS,
    bristle_rate,
    coefficient,
    coefficient_slope,
)
from haugmbd.forces.friction_laws import LAW as LAW_NUMBER
from haugmbd.forces.joint_friction import CYLINDRICAL, MESH_TURN, PLANAR, REVOLUTE, SPHERICAL, THREAD
from haugmbd.forces.tangent import Tangents, add_pair
from haugmbd.friction import columns as at
from haugmbd.friction.load import is_bearing
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_body, to_global
from haugmbd.workspace.internal_states import PAST, RATE, STEP


@kernel
def put_slide(m: Motion, ints: Ints, k: int, axis: int, c: int, terms: Array) -> None:
    """Write channel c: the sliding of P_j along an axis of body i."""
    i, j = ints[k, at.BODY_I], ints[k, at.BODY_J]
    rates = displacement_rates(m, axis, ints[k, at.POINT_I], ints[k, at.POINT_J], 0.0)
    B = at.B + 12 * c
    store(terms, k, B, scale(-1.0, rates.g))
    store(terms, k, B + 3, to_body(m.A, i, rates.m_a))
    store(terms, k, B + 6, rates.g)
    store(terms, k, B + 9, to_body(m.A, j, rates.m_b))
    terms[k, at.BIAS + c] = rates.q_ddot


@kernel
def put_turn(m: Motion, omega: Array, ints: Ints, k: int, axis: Vec, fixed: bool, c: int, terms: Array) -> None:
    """Write channel c: the turning of body j about an axis, global; fixed: the axis is that of no body; omega: (nb + 1, 3), global."""
    i, j = ints[k, at.BODY_I], ints[k, at.BODY_J]
    B = at.B + 12 * c
    store(terms, k, B, (0.0, 0.0, 0.0))
    store(terms, k, B + 3, to_body(m.A, i, scale(-1.0, axis)))
    store(terms, k, B + 6, (0.0, 0.0, 0.0))
    store(terms, k, B + 9, to_body(m.A, j, axis))
    terms[k, at.BIAS + c] = 0.0
    if not fixed:
        omega_i = load(omega, i, 0)
        terms[k, at.BIAS + c] = dot(cross(omega_i, axis), sub(load(omega, j, 0), omega_i))


@kernel
def put_directions(m: Motion, omega: Array, ints: Ints, reals: Array, k: int, terms: Array) -> None:
    """Write the channels of a joint, its axis and the lever of P_j."""
    kind = ints[k, at.KIND]
    h = value(m, ints[k, at.H_I])
    store(terms, k, at.AXIS, h)
    lever = value(m, ints[k, at.POINT_J])
    store(terms, k, at.LEVER, lever)
    if ints[k, at.CHILD] == ints[k, at.BODY_I]:
        lever = add(lever, sub(load(m.bodies, ints[k, at.BODY_J], 0), load(m.bodies, ints[k, at.BODY_I], 0)))
    store(terms, k, at.CHILD_LEVER, lever)
    if kind == PLANAR:
        put_slide(m, ints, k, ints[k, at.F_I], 0, terms)
        put_slide(m, ints, k, ints[k, at.G_I], 1, terms)
    elif kind in (REVOLUTE, MESH_TURN):
        put_turn(m, omega, ints, k, h, False, 0, terms)
    elif kind == SPHERICAL:
        put_turn(m, omega, ints, k, (1.0, 0.0, 0.0), True, 0, terms)
        put_turn(m, omega, ints, k, (0.0, 1.0, 0.0), True, 1, terms)
        put_turn(m, omega, ints, k, (0.0, 0.0, 1.0), True, 2, terms)
    else:
        put_slide(m, ints, k, ints[k, at.H_I], 0, terms)
        if kind in (CYLINDRICAL, THREAD):
            put_turn(m, omega, ints, k, h, False, 1, terms)
        if kind == THREAD:  # one channel along the helix: s = v sin beta + r w cos beta
            put_helix(reals, k, terms)
    i, j = ints[k, at.BODY_I], ints[k, at.BODY_J]
    for c in range(ints[k, at.CHANNELS]):
        rate = 0.0
        for a in range(6):
            rate += terms[k, at.B + 12 * c + a] * m.bodies[i, VELOCITY + a]
            rate += terms[k, at.B + 12 * c + 6 + a] * m.bodies[j, VELOCITY + a]
        terms[k, at.RATE + c] = rate


@kernel
def put_helix(reals: Array, k: int, terms: Array) -> None:
    """Write the channel along the helix of a thread in place of those along and about its axis."""
    r, lead = reals[k, at.RADIUS], reals[k, at.LEAD]
    sine, cosine = lead / sqrt(r * r + lead * lead), r / sqrt(r * r + lead * lead)
    for a in range(12):
        terms[k, at.B + a] = sine * terms[k, at.B + a] + r * cosine * terms[k, at.B + 12 + a]
    terms[k, at.BIAS] = sine * terms[k, at.BIAS] + r * cosine * terms[k, at.BIAS + 1]


@kernel
def put_sliding(ints: Ints, reals: Array, modes: Array, k: int, terms: Array) -> None:
    """Write the speed, the direction of sliding, and how the joint moves as far as the state and its mode tell.

    Where a step looks beyond the end of a mode, at which the speed along its direction is zero, friction does not jump: this part of the
    velocity is reflected, so that a joint of one rate keeps its direction, and one that turns round that of its velocity.
    """
    kind, n = ints[k, at.KIND], ints[k, at.CHANNELS]
    viscous = int(reals[k, at.LAW + LAW_NUMBER]) == VISCOUS
    total, along = 0.0, 0.0
    for c in range(n):
        turns = is_bearing(kind) and (kind != CYLINDRICAL or c == 1)
        arm = reals[k, at.RADIUS] if turns and not (viscous and kind != CYLINDRICAL) else 1.0
        s = arm * terms[k, at.RATE + c]
        terms[k, at.ARM + c] = arm
        total = abs(s) if n == 1 else total + s * s
        along += s * modes[k, at.AGAINST + c]
    speed, mode = total if n == 1 else sqrt(total), modes[k, at.MODE]
    terms[k, at.SPEED] = speed
    terms[k, at.STATE] = at.SLIDES if mode in (at.FREE, at.BEGINS, at.SLOWS) else mode
    if mode == at.FREE and ints[k, at.EXACT] == 1 and speed <= max(at.REST, modes[k, at.FAST]):
        terms[k, at.STATE] = at.STICKS
    by_mode = mode in (at.AT_LIMIT, at.BEGINS, at.SLOWS) or (mode == at.SLIDES and (n == 1 or not speed > 0.0))
    back = 2.0 * along if mode == at.SLIDES and along < 0.0 else 0.0
    for c in range(n):
        arm = terms[k, at.ARM + c]
        if by_mode:
            e = modes[k, at.AGAINST + c]
        elif speed > 0.0:
            e = (arm * terms[k, at.RATE + c] - back * modes[k, at.AGAINST + c]) / speed
        else:
            e = 1.0 if c == 0 else 0.0
        terms[k, at.DIRECTION + c] = arm * e
        terms[k, at.FRICTION + c] = -reals[k, at.LAW + P1] * arm * arm * terms[k, at.RATE + c] if viscous else 0.0


@kernel
def put_sliding_of_revolute(ints: Ints, reals: Array, modes: Array, k: int, terms: Array) -> None:
    """Do what `put_sliding` does, for a revolute joint whose friction depends on its reaction."""
    radius, rate, mode = reals[k, at.RADIUS], terms[k, at.RATE], modes[k, at.MODE]
    speed, e = radius * abs(rate), -1.0 if rate < 0.0 else 1.0
    terms[k, at.ARM], terms[k, at.SPEED], terms[k, at.FRICTION] = radius, speed, 0.0
    terms[k, at.STATE] = at.SLIDES if mode == at.FREE else mode
    if mode == at.FREE and ints[k, at.EXACT] == 1 and speed <= max(at.REST, modes[k, at.FAST]):
        terms[k, at.STATE] = at.STICKS
    if mode in (at.AT_LIMIT, at.SLIDES):
        e = modes[k, at.AGAINST]
    terms[k, at.DIRECTION] = radius * e


@inlined_kernel
def put_bristles(m: Motion, ints: Ints, reals: Array, k: int, terms: Array) -> None:
    """Write z' of the LuGre law, and z where it is solved for in an implicit step; then coefficient and direction of the friction.

    The bristles of a spherical joint stand on body i, and turn with it: z has components of its frame.
    """
    law, n, state, line = at.LAW, ints[k, at.CHANNELS], ints[k, at.STATE_Z], ints[k, at.PLACE_Z]
    a, total = bristle_rate(reals, k, law, terms[k, at.SPEED]), 0.0
    for c in range(n):
        terms[k, at.DIRECTION + c] = terms[k, at.ARM + c] * terms[k, at.RATE + c]
    if ints[k, at.KIND] == SPHERICAL:
        store(terms, k, at.DIRECTION, to_body(m.A, ints[k, at.BODY_I], load(terms, k, at.DIRECTION)))
    for c in range(n):
        # z' = s - a z;  in an implicit step z = past + step z' is eliminated: z' = (s - a past) / (1 + a step)
        s, step, past = terms[k, at.DIRECTION + c], m.F[line + c, STEP], m.F[line + c, PAST]
        z = m.angles[state + c]
        z_dot = s - a * z
        if step > 0.0:
            z_dot = (s - a * past) / (1.0 + a * step)
            z = past + step * z_dot
            m.angles[state + c] = z
        m.F[line + c, RATE] = z_dot
        mu = reals[k, law + P4] * z + reals[k, law + P5] * z_dot + reals[k, law + P6] * s
        terms[k, at.DIRECTION + c] = mu
        total = abs(mu) if n == 1 else total + mu * mu
    if ints[k, at.KIND] == SPHERICAL:
        store(terms, k, at.DIRECTION, to_global(m.A, ints[k, at.BODY_I], load(terms, k, at.DIRECTION)))
    total = total if n == 1 else sqrt(total)
    terms[k, at.COEFFICIENT] = total
    for c in range(n):
        mu = terms[k, at.DIRECTION + c]
        if n == 1:
            e = -1.0 if mu < 0.0 else 1.0
        else:
            e = mu / total if total > 0.0 else (1.0 if c == 0 else 0.0)
        terms[k, at.DIRECTION + c] = terms[k, at.ARM + c] * e


@inlined_kernel
def put_coefficients(m: Motion, ints: Ints, reals: Array, k: int, terms: Array) -> None:
    """Write f_t = C_0 + C_1 N + C_2 |thrust| of sliding, and its largest value at rest."""
    s, ratio = terms[k, at.SPEED], 0.0
    if ints[k, at.KIND] == REVOLUTE and reals[k, at.RADIUS] > 0.0:
        ratio = reals[k, at.THRUST_RADIUS] / reals[k, at.RADIUS]
    kind = int(reals[k, at.LAW + LAW_NUMBER])
    mu = terms[k, at.COEFFICIENT] if kind == LUGRE else coefficient(reals, k, at.LAW, s)
    mu_thrust = mu
    if kind != LUGRE and ratio > 0.0:
        mu_thrust = coefficient(reals, k, at.LAW, ratio * s)
    mu_s = reals[k, at.LAW + P1] if kind in (COULOMB, LUGRE) else mu
    preload, line = reals[k, at.PRELOAD], ints[k, at.PLACE_PRELOAD]
    if line >= 0:
        preload = max(m.F[line, 0], 0.0)
    terms[k, at.PRESSED] = preload
    terms[k, at.C_0], terms[k, at.C_1], terms[k, at.C_2] = mu * preload, mu, mu_thrust * ratio
    terms[k, at.S_0], terms[k, at.S_1], terms[k, at.S_2] = mu_s * preload, mu_s, mu_s * ratio


@kernel
def put_slopes(m: Motion, ints: Ints, reals: Array, k: int, terms: Array) -> None:
    """Write the slope of the friction over the speed, for implicit steps."""
    s, ratio = terms[k, at.SPEED], 0.0
    if ints[k, at.KIND] == REVOLUTE and reals[k, at.RADIUS] > 0.0:
        ratio = reals[k, at.THRUST_RADIUS] / reals[k, at.RADIUS]
    terms[k, at.SLOPE] = coefficient_slope(reals, k, at.LAW, s)
    terms[k, at.BY_THRUST] = coefficient_slope(reals, k, at.LAW, ratio * s) * ratio * ratio
    if int(reals[k, at.LAW + LAW_NUMBER]) == LUGRE:
        a, step = bristle_rate(reals, k, at.LAW, s), m.F[ints[k, at.PLACE_Z], STEP]
        slope = (reals[k, at.LAW + P4] * step + reals[k, at.LAW + P5]) / (1.0 + a * step) + reals[k, at.LAW + P6]
        terms[k, at.SLOPE], terms[k, at.BY_THRUST] = slope, slope * ratio


@inlined
def put_terms_of_sweeps(m: Motion, omega: Array, ints: Ints, reals: Array, modes: Array, terms: Array) -> None:
    """Write what sweeps over a forest need: axes, rates and coefficients of revolute joints."""
    for k in range(ints.shape[0]):
        if ints[k, at.LOADED] == 0:
            put_directions(m, omega, ints, reals, k, terms)
            put_sliding(ints, reals, modes, k, terms)
        else:
            h = value(m, ints[k, at.H_I])
            store(terms, k, at.AXIS, h)
            terms[k, at.RATE] = dot(h, sub(load(omega, ints[k, at.BODY_J], 0), load(omega, ints[k, at.BODY_I], 0)))
            put_sliding_of_revolute(ints, reals, modes, k, terms)
            if ints[k, at.STATE_Z] >= 0:
                put_bristles(m, ints, reals, k, terms)
            put_coefficients(m, ints, reals, k, terms)


@kernel
def put_rest_of_revolute(m: Motion, omega: Array, ints: Ints, k: int, terms: Array) -> None:
    """Write what sweeps leave out, without the state: the channel of a revolute joint, and the lever of P_j."""
    store(terms, k, at.LEVER, value(m, ints[k, at.POINT_J]))
    put_turn(m, omega, ints, k, value(m, ints[k, at.H_I]), False, 0, terms)


@inlined
def put_terms(m: Motion, omega: Array, ints: Ints, reals: Array, modes: Array, terms: Array, slopes: bool) -> None:
    """Write directions, rates and coefficients of all joints with friction."""
    for k in range(ints.shape[0]):
        put_directions(m, omega, ints, reals, k, terms)
        put_sliding(ints, reals, modes, k, terms)
        if ints[k, at.STATE_Z] >= 0:
            put_bristles(m, ints, reals, k, terms)
        if ints[k, at.LOADED] == 1:
            put_coefficients(m, ints, reals, k, terms)
            if slopes:
                put_slopes(m, ints, reals, k, terms)


@kernel
def add_friction(ints: Ints, terms: Array, k: int, Q: Array) -> None:
    """Add B^T f of the friction found to the generalized forces Q (., 6)."""
    i, j = ints[k, at.BODY_I], ints[k, at.BODY_J]
    for c in range(ints[k, at.CHANNELS]):
        f, B = terms[k, at.FRICTION + c], at.B + 12 * c
        for a in range(6):
            Q[i, a] += f * terms[k, B + a]
            Q[j, a] += f * terms[k, B + 6 + a]


@kernel
def along(terms: Array, k: int, c: int, first: int, x: float, v: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
    """Return v plus x times the generalized force of channel c on the body whose numbers start at `first`."""
    B = at.B + 12 * c + first
    return add(v[0], scale(x, load(terms, k, B))), add(v[1], scale(x, load(terms, k, B + 3)))


@kernel
def add_friction_tangents(ints: Ints, reals: Array, terms: Array, row: int, T: Tangents) -> None:
    """Add c_u C of all joints with friction; row: the first of them in the force tables."""
    zero = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for k in range(ints.shape[0]):
        i, j, n = ints[k, at.BODY_I], ints[k, at.BODY_J], ints[k, at.CHANNELS]
        slope, size, s = max(terms[k, at.SLOPE], 0.0), 0.0, terms[k, at.SPEED]
        g_i, g_j = zero, zero
        for c in range(n):
            D, arm = terms[k, at.DIRECTION + c], terms[k, at.ARM + c]
            g_i, g_j = along(terms, k, c, 0, -D, g_i), along(terms, k, c, 6, D, g_j)
            size += (terms[k, at.FRICTION + c] / arm) ** 2
        across = size**0.5 / s if s > 0.0 else slope
        if ints[k, at.LOADED] == 0:
            across = slope = reals[k, at.LAW + P1]
        if ints[k, at.STATE_Z] >= 0:
            across = slope
        for c in range(n):
            arm = terms[k, at.ARM + c]
            add_pair(
                T, row + k, i, j, T.c_C * across * arm * arm, along(terms, k, c, 0, -1.0, zero), along(terms, k, c, 6, 1.0, zero)
            )
        if slope != across:
            add_pair(T, row + k, i, j, T.c_C * (slope - across), g_i, g_j)
