r"""Accelerations and multipliers of a model at a state.

M u_dot + Phi_q^T lam = Q,      Phi_q u_dot = gamma
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import ModelError, SimulationError, UsageError
from haugmbd.formulations.base import Formulation
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import NewtonEuler, accelerate
from haugmbd.formulations.python_formulation import kkt_solution_of
from haugmbd.model.dependent_rows import Rule, check_rule
from haugmbd.model.given import model_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.minimum_norm import least_multipliers
from haugmbd.system.constraint_residuals import state_faults
from haugmbd.workspace.layout import SOLUTION, Pack, workspace_array


@public_class
@dataclass(frozen=True, eq=False)
class Accelerations:
    """v_dot: (nb + 1, 3) global [m/s2];  omega_bar_dot: (nb + 1, 3) body frames [rad/s2];  lam: (nc,) by rows; ground in row 0.

    lam_p: (nb + 1,) multipliers of |p| = 1 where the formulation has them, else (0,);  iterations: that an iterative one took
    """

    v_dot: Array
    omega_bar_dot: Array
    lam: Array
    lam_p: Array
    iterations: int = 0


@entry
def accelerate_entry(P: Pack, t: float, y: Array) -> int:
    """Leave (u_dot, lam) in the solution."""
    return accelerate(P, t, y)


@entry
def multipliers_entry(P: Pack, t: Array, y: Array, x: Array) -> tuple[int, int]:
    """Solve at many states y (nt, ny): x (nt, nn 6); return the code and how many were done."""
    solution = P.work[P.ints[3 * SOLUTION] :]
    for k in range(t.shape[0]):
        code = accelerate(P, t[k], y[k])
        if code != 0:
            return code, k
        for a in range(x.shape[1]):
            x[k, a] = solution[a]
    return 0, t.shape[0]


def chosen(formulation: Formulation | None) -> Formulation:
    """The formulation that an argument means; UsageError for what is none."""
    by = NewtonEuler() if formulation is None else formulation
    if not isinstance(by, Formulation):
        raise UsageError(f"formulation = {formulation!r} must be an object, such as NewtonEuler() or NullSpace().")
    return by


@check_keywords
def accelerations(
    model: Model, state: State | None = None, *, formulation: Formulation | None = None, redundancy: Rule | None = None
) -> Accelerations:
    """Return accelerations and multipliers of `model` (or of a System, which is compiled) at `state` (by default the modelled one).

    formulation: by which algebra; by default `NewtonEuler()`
    redundancy: which multipliers dependent rows get, `DropDependentRows()` or `MinimumNorm()`; by default what the model was
    compiled with, and
        with formulations that take dependent rows, those of least norm
    Raises SingularKKTError at a singular position or where a massless axis is free, naming joint or body; ModelError for a model that the
    formulation cannot treat.
    """
    model = model_given(model, "accelerations")
    if redundancy is not None:
        check_rule(redundancy)
        model = model.with_redundancy(redundancy)
    by = chosen(formulation)
    state = model.state() if state is None else state
    faults = state_faults(model, state)
    if faults:
        raise ModelError(faults)
    pack = by.pack(model)
    code = accelerate_entry(pack, state.t, state.y)
    if code != 0:
        model.raise_user_error(pack)
        raise explain(model, pack, code, state.t)
    x = workspace_array(pack, "SOLUTION")
    if not by.all_rows:
        x = least_multipliers(model, np.array([state.t]), state.y[None], x[None])[0]
    x[0] = 0.0  # what loads do to the ground stands there
    n, last = model.nb + 1, kkt_solution_of(pack)
    lam_p = np.concatenate([np.zeros(min(1, len(last.lam_p))), last.lam_p])
    return Accelerations(x[:n, :3].copy(), x[:n, 3:].copy(), model.lam_of(x), lam_p, last.iterations)


def solve_states(model: Model, t: Array, y: Array) -> Array:
    """Solutions (nt, nn, 6) by nodes at many states y (nt, ny)."""
    pack = model.pack()
    n_nodes = workspace_array(pack, "SOLUTION").shape[0]
    x = np.zeros((len(t), 6 * n_nodes))
    t, y = for_kernels(t), for_kernels(y)
    code, done = multipliers_entry(pack, t, y, x)
    if code != 0:
        model.raise_user_error(pack)
        error: SimulationError = explain(model, pack, code, float(t[done]))
        raise error
    x[:, :6] = 0.0  # what loads do to the ground
    return least_multipliers(model, t, y, x.reshape(len(t), n_nodes, 6))
