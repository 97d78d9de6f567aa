r"""Newton-Euler: accelerations and multipliers of the augmented system, by one block LDL^T.

    M u_dot + Phi_q^T lam = Q            Q = (F,  n_bar - omega_bar x J_bar omega_bar)
    Phi_q u_dot           = gamma        u = (v, omega_bar),   M = diag(m I, J_bar)

The reaction on a body is -Phi_q^T lam.
Source: Haug 2021, sec. 11.3; Baraff 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.jit import entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.formulations.base import Formulation, KKTSolution, KKTSystem
from haugmbd.formulations.error_messages import explain
from haugmbd.friction.routine import SOLVE as SOLVE_FRICTION
from haugmbd.kkt.solver import finish_solution, put_loads
from haugmbd.kkt.tree_solver import has_tree
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.euler_kernels import put_euler_rate
from haugmbd.model.evaluate import (
    PREPARE_STAGE_WITH_COUPLINGS,
    PREPARE_STAGE_WITH_HINGES,
    PREPARE_WITH_COUPLINGS,
    PREPARE_WITH_HINGES,
    prepare,
    rows_entry,
)
from haugmbd.model.generalized_forces import put_angle_rates_of_loads
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array


@public_class
@dataclass(frozen=True)
class NewtonEuler(Formulation):
    """The augmented KKT system in (v, omega_bar), solved by a block LDL^T.  The work is O(n) for chains and trees.

    Notes
    -----
    This is the default formulation.  It returns accelerations and multipliers together, and accepts bodies without inertia about axes
    that the joints hold.
    Sources: Haug 2021, sec. 11.3; Baraff, Linear-time dynamics using Lagrange multipliers, SIGGRAPH 1996.
    """

    reference: ClassVar[str] = "Haug 2021, sec. 11.3 (Newton-Euler form); Baraff 1996 (linear time for trees)"
    ms: ClassVar[float] = 0.006
    block_factor: ClassVar[bool] = True
    exponent: ClassVar[int] = 1
    most_bodies: ClassVar[float] = np.inf

    def pack(self, model: Model) -> Pack:
        pack = model.pack()
        recursive = has_tree(model.tables) and not model.redundancy.dropped
        if recursive and pack.prepare is PREPARE_WITH_HINGES:
            pack = pack._replace(prepare_stage=PREPARE_STAGE_WITH_HINGES)
        elif recursive and pack.prepare is PREPARE_WITH_COUPLINGS:
            pack = pack._replace(prepare_stage=PREPARE_STAGE_WITH_COUPLINGS)
        return pack

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        pack = kkt.model.pack()
        b, n = workspace_array(pack, "RIGHT"), kkt.model.nb + 1
        code = rows_entry(pack, kkt.state.t, kkt.state.y)
        b[1:n], b[n:].reshape(-1)[kkt.model.slot_of_row[kkt.rows]] = kkt.b_u.reshape(-1, 6), kkt.b_c
        code = code or factorize_and_solve_entry(pack)
        if code != OK:
            kkt.model.raise_user_error(pack)
            raise explain(kkt.model, pack, code, kkt.state.t)
        x = workspace_array(pack, "SOLUTION")
        return KKTSolution(x[1:n].ravel().copy(), kkt.model.lam_of(x)[kkt.rows])


@kernel
def factorize(P: Pack) -> int:
    """Factor the augmented matrix of the current rows."""
    return P.factorize(P, P.python_solver)


@kernel
def begin(P: Pack) -> int:
    """Eliminate forward for K x = b with the current factor; `finish` substitutes back."""
    return P.begin(P, P.python_solver)


finish = finish_solution
"""Solve K x = b for the b that was the right-hand side when `factorize` or `begin` was called."""


@kernel
def finish_accelerations(P: Pack) -> int:
    """Finish the solution for b = (Q, gamma), together with friction in joints, if there is any."""
    if ws.friction_mode(P) > 0:
        return P.friction(SOLVE_FRICTION, 0.0, P, ws.stopped_state(P))
    return finish(P)


@kernel
def solve_once(P: Pack) -> int:
    """Solve K x = b without refinement, for iterations that correct themselves."""
    begin(P)
    return P.finish(P, P.python_solver)


@kernel
def solve_system(P: Pack) -> int:
    """Solve K x = b for another b, with the current factor."""
    begin(P)
    return finish(P)


@entry
def factorize_and_solve_entry(P: Pack) -> int:
    """Write K^-1 b to the solution array, for the rows and the b in the workspace."""
    code = factorize(P)
    return finish(P) if code == OK else code


@kernel
def put_right_hand_side(P: Pack) -> None:
    """Write b = (Q, gamma)."""
    ws.solve_for(P)[0, 0] = at.ACCELERATIONS
    put_loads(P)


@kernel
def accelerate(P: Pack, t: float, y: Array) -> int:
    """Write (u_dot, lam) of the state `y` to the solution array."""
    code = prepare(P, t, y)
    return solve_for_accelerations(P) if code == OK else code


@kernel
def solve_for_accelerations(P: Pack) -> int:
    """Write (u_dot, lam) to the solution array, for the rows and forces in the workspace."""
    put_right_hand_side(P)
    code = factorize(P)
    if code != OK:
        return code
    return finish_accelerations(P)


@kernel
def put_rates(P: Pack, t: float, y: Array, y_dot: Array) -> None:
    """Write y_dot = (v, G^T omega_bar / 2, v_dot, omega_bar_dot; angle rates) from the solution array."""
    m = update_kinematics(P, t, y)
    n = m.bodies.shape[0]
    rates = borrow(y_dot, 0, n, WIDTH)
    x = ws.solution(P)
    for k in range(1, n):
        put_euler_rate(m.bodies, rates, k)
        for a in range(3):
            rates[k, a] = m.bodies[k, VELOCITY + a]
        for a in range(6):
            rates[k, VELOCITY + a] = x[k, a]
    if m.angles.shape[0] > 0:
        put_angle_rates_of_loads(P, t, y, borrow_line(y_dot, WIDTH * n, m.angles.size))


@kernel
def rates_at_hand(P: Pack, t: float, y: Array, y_dot: Array) -> int:
    """Write y_dot of the state `y` with the current rows, forces and factor, as a projection leaves them."""
    put_right_hand_side(P)
    begin(P)
    code = finish_accelerations(P)
    if code == OK:
        put_rates(P, t, y, y_dot)
    return code


@kernel
def right_hand_side(P: Pack, t: float, y: Array, y_dot: Array) -> int:
    """Evaluate everything at the state `y` and the time `t`, and write y_dot."""
    code = accelerate(P, t, y)
    if code == OK:
        put_rates(P, t, y, y_dot)
    return code


@kernel
def rates_of_stage(P: Pack, t: float, y: Array, y_dot: Array) -> int:
    """Write y_dot as `right_hand_side` does; the rows need not be in J afterwards, unless something went wrong."""
    code = P.prepare_stage(P, t, y)
    if code == OK:
        code = solve_for_accelerations(P)
        if code == OK:
            put_rates(P, t, y, y_dot)
        else:
            prepare(P, t, y)
    return code
