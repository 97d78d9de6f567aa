r"""Baumgarte: the acceleration-level constraints are asked to damp what has drifted.

    Phi_q u_dot = gamma - 2 alpha (Phi_q u - nu) - beta^2 Phi               Phi_ddot + 2 alpha Phi_dot + beta^2 Phi = 0

alpha = beta is critical damping.  Larger gains are not better: beyond about 1 / h the drift grows again, and the step becomes stiff.
Source: Baumgarte, Stabilization of constraints and integrals of motion, CMAME 1 (1972) 1-16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from haugmbd.algebra.jit import entry, inlined, kernel
from haugmbd.algebra.routine import Routine
from haugmbd.algebra.vec3 import Array
from haugmbd.formulations.newton_euler import factorize, finish, put_rates, put_right_hand_side
from haugmbd.integrators.stepping import N_FACTOR, N_RATES, SIGNATURE, make_options, normalize_euler
from haugmbd.model import tables as at
from haugmbd.model.motion import look
from haugmbd.model.passes import prepare
from haugmbd.model.status import OK
from haugmbd.model.tables import Pack, blocks, view


@kernel
def add_feedback(P: Pack, bodies: Array, alpha: float, beta: float) -> None:
    """gamma <- gamma - 2 alpha (Phi_q u - nu) - beta^2 Phi in the rows at hand."""
    level, J = view(P.work, P.ints, at.LEVEL), blocks(P.work, P.ints, at.J, 2, 6)
    edges = view(P.ints, P.ints, at.EDGES)
    for slot in range(level.shape[0]):
        i, j = edges[slot // 6, 0], edges[slot // 6, 1]
        Phi_dot = -level[slot, 1]
        for c in range(6):
            Phi_dot += J[slot, 0, c] * bodies[i, 7 + c] + J[slot, 1, c] * bodies[j, 7 + c]
        level[slot, 2] -= 2.0 * alpha * Phi_dot + beta * beta * level[slot, 0]


@inlined
def stabilized_rates(P: Pack, options: Array, t: float, y: Array, y_dot: Array) -> int:
    """y_dot with the feedback."""
    options[N_RATES] += 1
    options[N_FACTOR] += 1
    code = prepare(P, t, y)
    if code != OK:
        return code
    add_feedback(P, look(P, t, y).bodies, options[0], options[1])
    put_right_hand_side(P)
    code = factorize(P)
    if code != OK:
        return code
    code = finish(P)
    if code == OK:
        put_rates(P, t, y, y_dot)
    return code


@entry
def rates(P: Pack, options: Array, t: float, y: Array, y_dot: Array) -> int:
    """y_dot = f(t, y) with the feedback."""
    return stabilized_rates(P, options, t, y, y_dot)


@entry
def settle(P: Pack, options: Array, t: float, y: Array, y_dot: Array) -> int:
    """Normalise the Euler parameters; y_dot = f(t, y) with the feedback."""
    normalize_euler(P, options, y)
    return stabilized_rates(P, options, t, y, y_dot)


RATES, SETTLE = Routine(rates, SIGNATURE), Routine(settle, SIGNATURE)


@dataclass(frozen=True)
class Baumgarte:
    """Feedback of the violation: alpha [1/s] on the velocity level, beta [1/s] on the position level."""

    alpha: float
    beta: float
    rates: ClassVar[Routine] = RATES
    settle: ClassVar[Routine] = SETTLE
    reference: ClassVar[str] = "Baumgarte 1972, CMAME 1, 1-16"

    def options(self) -> Array:
        """alpha and beta."""
        return make_options(self.alpha, self.beta)
