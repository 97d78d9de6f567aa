r"""StateForce: any force law of several bodies, given as one function of their states.

Q_k += (F_k, n_bar_k),      rows of f(t, r, p, v, omega_bar) -> (n, 6)       F global, at the centre of mass; n_bar body frame

power of the applied forces  sum_k F_k . v_k + n_bar_k . omega_bar_k
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, repeated_bodies
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.tangent import Tangents, add_half
from haugmbd.forces.user_function import BODY, UserFunction, Value, arguments_needed, wrong_arguments


@public_class
class StateForce(ForceElement):
    """Forces and torques on several bodies as a function of their states, such as mutual attraction, a bushing or a tyre.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    bodies : sequence of Body
        The bodies, in the order of the function's rows.
    force : callable
        f(t, r, p, v, omega_bar) -> (n, 6) with r (n, 3), p (n, 4), v (n, 3), omega_bar (n, 3). A row is (F, n_bar): F global, at the
        centre of mass [N]; n_bar about it, body frame [N m]. A Python function or an @njit function.
    jacobian : callable, optional
        Derivative of a stiff force, for implicit methods: jacobian(t, r, p, v, omega_bar) -> (dQ/dr (n, 6, n, 3), dQ/dp (n, 6, n, 4) or
        dQ/dpi_bar (n, 6, n, 3), dQ/dv (n, 6, n, 3), dQ/domega_bar (n, 6, n, 3)), 0 for a part that vanishes. The entry [k, a, l, b] is the
        derivative of component a of row k by coordinate b of body l. Without it the methods use differences.

    Raises
    ------
    UsageError
        If bodies is not a sequence of Body. Other bad values are collected in `faults()`.

    Notes
    -----
    Q_k += (F_k, n_bar_k). The jacobian is compared with differences when the system is compiled.
    Source: Haug (2021), generalized forces and virtual work.
    """

    kind = "StateForce"

    def __init__(self, name: str, bodies: Sequence[Body], *, force: Callable[..., Any], jacobian: Any = None) -> None:
        super().__init__(name)
        self._bodies = _read_bodies(self.where, bodies)
        self._value = Value((), UserFunction(self.where, "force", force, BODY, (len(self._bodies), 6)))
        needed = arguments_needed(force) if callable(force) else None
        if not callable(force):
            self._faults = (Fault(self.where, f"force is {shown(force)}, must be a function", f"Give force({BODY})."),)
        elif needed != len(BODY.split(",")):
            self._faults = (wrong_arguments(self.where, "force", needed, f"force({BODY})"),)
        self._faults += repeated_bodies(self.where, self._bodies)
        if not self._faults:
            faults: list[Fault] = []
            self.jacobian = read_jacobian(faults, self.where, "force", jacobian, self._value)
            self._faults = tuple(faults)

    def bodies(self) -> tuple[Body, ...]:
        return self._bodies

    def value(self) -> Value:
        return self._value

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        return EnergyLedger(np.zeros(len(t)), np.zeros(len(t)), self.quantities(t, bodies, angle).power)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return force and torque on each body, (nt, n, 3), at and about the centre of mass, global."""
        return self.forces_over_time(t, bodies, self.arguments(bodies, angle))


def _read_bodies(where: str, bodies: Any) -> tuple[Body, ...]:
    """Return the bodies as a tuple. Raise UsageError if one of them is not a Body."""
    if isinstance(bodies, Body) or not isinstance(bodies, Iterable):
        raise UsageError(f"{where} needs a list of bodies, got {shown(bodies)}. Give [body, ...], what system.add(...) returned.")
    given = () if isinstance(bodies, str) else tuple(bodies)
    for body in (bodies,) if isinstance(bodies, str) else given:
        if not isinstance(body, Body):
            raise UsageError(f"{where} needs bodies, got {shown(body)}. Give what system.add(...) returned, or system.ground.")
    return given


@kernel
def add_declared_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add the symmetric part of c_K K + c_C C of the elements with a jacobian, block by block: dQ of body i by the motion of body j."""
    for k in range(T.jacobian_pairs.shape[0]):
        start, n, i, j, pair = (
            T.jacobian_pairs[k, 0],
            T.jacobian_pairs[k, 1],
            T.jacobian_pairs[k, 4],
            T.jacobian_pairs[k, 5],
            T.jacobian_pairs[k, 6],
        )
        corner = start + 72 * n * T.jacobian_pairs[k, 2] + 3 * T.jacobian_pairs[k, 3]
        for row in range(6):
            for column in range(6):
                at = corner + 12 * n * row + (column if column < 3 else 3 * n + column - 3)
                x = -(T.c_K * T.D[at] + T.c_C * T.D[at + 6 * n])
                if i == j:
                    add_half(T.own, i, row, column, x)
                elif T.pairs[pair, 0] == i:
                    T.pair_blocks[pair, 6 * row + column] += 0.5 * x
                else:
                    T.pair_blocks[pair, 6 * column + row] += 0.5 * x
