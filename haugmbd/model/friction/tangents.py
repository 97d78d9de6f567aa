r"""The tangents of friction in an implicit step: its damping at the reaction of the iteration.

    friction on the surface  g = -f_t(s) e,  e = s / |s|        -dg/ds = f_t / |s| 1 + (f_t' - f_t / |s|) e e^T

f_t' counts where it is positive: M + c_u C stays definite, and Newton's iteration has the same solution. The change of the reaction is
left out.
Source: Haug (2021), friction; Geradin and Cardona, Flexible Multibody Dynamics, for tangents.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.forces.friction.friction_laws import P1
from haugmbd.forces.tangent import Tangents, add_pair
from haugmbd.math.vec3 import Vec, add, load, scale
from haugmbd.model.friction import columns as at


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
