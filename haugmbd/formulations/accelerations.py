r"""Accelerations and multipliers of a model at a state.

M u_dot + Phi_q^T lam = Q,      Phi_q u_dot = gamma
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import DirectCall, entry
from haugmbd.deprecated import check_keywords, object_meant, public_class
from haugmbd.errors import SimulationError, UsageError
from haugmbd.formulations.base import Formulation
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import NewtonEuler, accelerate
from haugmbd.formulations.python_formulation import kkt_solution_of
from haugmbd.model.dependent_rows import Rule, check_rule
from haugmbd.model.inspection.given import model_given, state_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.minimum_norm import least_multipliers
from haugmbd.system.checks.constraint_residuals import need_sound_state
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLUTION, Pack, workspace_array


@public_class
@dataclass(frozen=True, eq=False)
class Accelerations:
    """Accelerations and multipliers of a model at a state.

    Attributes
    ----------
    v_dot : array, shape (nb + 1, 3)
        Accelerations of the centres of mass, global frame [m/s2].  The ground is in row 0.
    omega_bar_dot : array, shape (nb + 1, 3)
        Angular accelerations, body frames [rad/s2].  The ground is in row 0.
    lam : array, shape (nc,)
        Multipliers of the constraint rows.  The reaction on the bodies is -Phi_q^T lam.
    lam_p : array, shape (nb + 1,)
        Multipliers of |p| = 1, where the formulation has them; otherwise empty.
    iterations : int
        Iterations of an iterative formulation; otherwise 0.
    """

    v_dot: Array
    omega_bar_dot: Array
    lam: Array
    lam_p: Array
    iterations: int = 0


@entry
def accelerate_entry(P: Pack, t: float, y: Array) -> int:
    """Solve for (u_dot, lam) and write them to the solution array."""
    return accelerate(P, t, y)


solve_once = DirectCall(accelerate_entry)


@entry
def multipliers_entry(P: Pack, t: Array, y: Array, x: Array) -> tuple[int, int]:
    """Solve at many states y (nt, ny) and write the solutions to x (nt, nn 6).  Return the code and the number of solved states."""
    solution = borrow_line(P.work, ws.start_of(P, SOLUTION), x.shape[1])
    for k in range(t.shape[0]):
        code = accelerate(P, t[k], y[k])
        if code != 0:
            return code, k
        for a in range(x.shape[1]):
            x[k, a] = solution[a]
    return 0, t.shape[0]


def chosen(formulation: Formulation | None) -> Formulation:
    """Return the formulation that an argument selects, NewtonEuler() for None.  Raise UsageError if it is not valid."""
    by = NewtonEuler() if formulation is None else formulation
    check_formulation(by)
    return by


def check_formulation(formulation: object) -> None:
    """Raise UsageError if this is not a formulation, or if its parameters are invalid."""
    if not isinstance(formulation, Formulation):
        where = "haugmbd.formulations.FORMULATIONS lists all"
        meant = object_meant(formulation, Formulation)
        raise UsageError(f"formulation = {formulation!r} must be an object, such as NewtonEuler() or NullSpace(){meant}; {where}.")
    formulation.check()


@check_keywords
def accelerations(
    model: Model,
    state: State | None = None,
    *,
    formulation: Formulation | None = None,
    redundancy: Rule | None = None,
    tolerance: float | None = None,
) -> Accelerations:
    """Return the accelerations and multipliers of a model at a state.

    Parameters
    ----------
    model : Model or System
        A System is compiled first.
    state : State, optional
        By default the modelled state.
    formulation : Formulation, optional
        By default `NewtonEuler()`.
    redundancy : DropDependentRows or MinimumNorm, optional
        Which multipliers dependent rows get.  By default the choice made when the model was compiled.  Formulations that accept
        dependent rows return those of least norm.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.

    Returns
    -------
    Accelerations
        Accelerations of all bodies and multipliers of all rows.

    Raises
    ------
    SingularKKTError
        At a singular configuration, or where an axis without inertia is free.  The error names the joint or the body.
    ModelError
        If the formulation cannot treat the model, or the state does not belong to it.
    UsageError
        If an argument has the wrong kind.

    Notes
    -----
    Solves M u_dot + Phi_q^T lam = Q and Phi_q u_dot = gamma for u = (v, omega_bar).
    Source: Haug 2021, sec. 11.3.
    """
    model = model_given(model, "accelerations", tolerance)
    if redundancy is not None:
        check_rule(redundancy)
        model = model.with_redundancy(redundancy)
    by = chosen(formulation)
    state = need_sound_state(model, state_given(model, state, "accelerations"))
    borrowed = type(by) is NewtonEuler and type(model) is Model  # a subclass has a Pack of its own: `faults`
    pack = model.borrow() if borrowed else by.pack(model)
    code = solve_once(pack, state.t, state.flat)
    if code != 0:
        model.raise_user_error(pack)
        raise explain(model, pack, code, state.t)
    x = workspace_array(pack, "SOLUTION")
    if not by.all_rows and model.redundancy.dropped:
        x = least_multipliers(model, np.array([state.t]), state.y[None], x[None])[0]
    x[0] = 0.0  # the forces on the ground are stored there
    n, last = model.nb + 1, kkt_solution_of(pack)
    lam_p = np.concatenate([np.zeros(min(1, len(last.lam_p))), last.lam_p])
    solution = Accelerations(x[:n, :3].copy(), x[:n, 3:].copy(), model.lam_of(x), lam_p, last.iterations)
    if borrowed:
        model.give_back(pack)
    return solution


def solve_states(model: Model, t: Array, y: Array, pack: Pack | None = None) -> Array:
    """Return the solutions (nt, nn, 6), by nodes, at many states y (nt, ny);  pack: a workspace of the model, by default a new one."""
    pack = model.pack() if pack is None else pack
    n_nodes = workspace_array(pack, "SOLUTION").shape[0]
    x = np.zeros((len(t), 6 * n_nodes))
    t, y = for_kernels(t), for_kernels(y)
    code, done = multipliers_entry(pack, t, y, x)
    if code != 0:
        model.raise_user_error(pack)
        error: SimulationError = explain(model, pack, code, float(t[done]))
        raise error
    x[:, :6] = 0.0  # the forces on the ground
    return least_multipliers(model, t, y, x.reshape(len(t), n_nodes, 6))
