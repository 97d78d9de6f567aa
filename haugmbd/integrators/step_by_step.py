r"""A method of one's own that is no tableau: a step in plain Python, with rates, rows and forces at hand.

    y' = f(t, y)                              rates of the formulation, stabilized as the run says
    Phi(q, t) = 0,  Phi_q u = nu              rows at any state, for methods that solve constraints themselves
    M u' + Phi_q^T lam = Q
    q (+) x:  r <- r + dr,  p <- p exp(dpi_bar)

`simulate` stores its steps, projects them where the run asks for it, finds events between them, and restarts it after each.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.errors import SimulationError, UsageError
from haugmbd.integrators.base import FixedStep
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Problem
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import exponential, normalized, product
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import workspace_array

LAST = 1e-9
"""Part of a step that is left over by rounding: the step before it ends the run."""
CLOSED, MOST = 1e-12, 20
"""Largest row that counts as closed, in its own unit, and corrections of a projection."""


class RowsOfStep(NamedTuple):
    """The rows that are kept: Phi, nu, gamma (k,), and Phi_q (k, 6 nb)."""

    Phi: Array
    nu: Array
    gamma: Array
    Phi_q: Array


class Stopped(Exception):  # noqa: N818  it ends a step, and no user meets it
    """The failure of an evaluation: its code, and the time [s]."""

    def __init__(self, code: int, t: float) -> None:
        super().__init__(code, t)
        self.code, self.t = code, t


class StepEquations:
    """What a step of one's own can evaluate: rates, rows, forces, and moved states.

    Attributes
    ----------
    model : Model
        The compiled model.
    M : ndarray, (6 nb, 6 nb)
        Masses and inertias, for u = (v, omega_bar) body by body.
    earlier : list of (t, y, y_dot)
        The steps before, the last one first, since the last restart: for methods of several steps.
    """

    def __init__(self, problem: Problem, depth: int) -> None:
        self._problem, self._depth = problem, depth
        space: Any = problem.state_space
        if not hasattr(space, "model"):
            raise UsageError("a StepByStep method integrates a System; the run of a SerialChain takes the library's methods.")
        self.model: Any = space.model
        self.earlier: list[tuple[float, Array, Array]] = []
        nb = self.model.nb
        self.M = np.zeros((6 * nb, 6 * nb))
        for b in range(nb):
            self.M[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = self.model.mass[b + 1] * np.eye(3)
            self.M[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = self.model.J_bar[b + 1]
        self._kept: Ints = np.setdiff1d(np.arange(self.model.nc), np.array(self.model.redundancy.dropped, dtype=np.int64))

    def rates(self, t: float, y: Array) -> Array:
        """Return y' (ny,) of the formulation, with what the stabilization of the run adds to accelerations."""
        y_dot = np.zeros_like(y)
        problem = self._problem
        code = problem.rates(problem.pack, problem.options, t, np.ascontiguousarray(y), y_dot)
        if code != OK:
            raise Stopped(code, t)
        return y_dot

    def rows(self, t: float, y: Array) -> RowsOfStep:
        """Return the constraints at any state."""
        model, pack = self.model, self._evaluated(t, y)
        slots = model.slot_of_row[self._kept]
        level = workspace_array(pack, "LEVEL")[slots]
        J = workspace_array(pack, "J").reshape(-1, model.sides, 6)[slots[:, None], model.sides_of_rows[self._kept]]
        bodies = model.bodies_of_rows()[self._kept]
        Phi_q = np.zeros((len(slots), model.nb + 1, 6))
        for side in range(model.sides):
            np.add.at(Phi_q, (np.arange(len(slots)), bodies[:, side]), J[:, side])
        return RowsOfStep(level[:, 0].copy(), level[:, 1].copy(), level[:, 2].copy(), Phi_q[:, 1:].reshape(len(slots), -1))

    def forces(self, t: float, y: Array) -> Array:
        """Return Q (6 nb,): applied and gyroscopic forces [N] and torques, body frames [N m]."""
        return np.asarray(workspace_array(self._evaluated(t, y), "Q")[1:].ravel().copy())

    def velocities(self, y: Array) -> Array:
        """Return u (6 nb,): v global, omega_bar body frames."""
        return np.asarray(self._bodies(y)[1:, VELOCITY:WIDTH].ravel().copy())

    def moved(self, y: Array, x: Array, u: Array | None = None) -> Array:
        """Return the state with its bodies displaced by x (6 nb,), dr and dpi_bar, and with the velocities u (6 nb,) if they are given."""
        y = y.copy()
        bodies, x = self._bodies(y), np.asarray(x).reshape(-1, 6)
        bodies[1:, :EULER] += x[:, :3]
        bodies[1:, EULER:VELOCITY] = normalized(product(bodies[1:, EULER:VELOCITY], exponential(x[:, 3:])))
        if u is not None:
            bodies[1:, VELOCITY:WIDTH] = np.asarray(u).reshape(-1, 6)
        return y

    def projected(self, t: float, y: Array) -> Array:
        """Return the nearest state, by the masses, with Phi = 0 and Phi_q u = nu. Raise SimulationError if it is not reached."""
        for _ in range(MOST):
            rows = self.rows(t, y)
            if np.abs(rows.Phi).max(initial=0.0) <= CLOSED:
                break
            y = self.moved(y, self.solved(rows.Phi_q, np.zeros(len(self.M)), -rows.Phi)[0])
        else:
            raise SimulationError(f"the projection of a step does not close the rows at t = {t:.9g} s: give a shorter step.")
        u = self.velocities(y)
        rows = self.rows(t, y)
        du = self.solved(rows.Phi_q, np.zeros(len(self.M)), rows.nu - rows.Phi_q @ u)[0]
        return self.moved(y, np.zeros(len(self.M)), u + du)

    def solved(self, Phi_q: Array, b_u: Array, b_c: Array) -> tuple[Array, Array]:
        """Return x (6 nb,) and lam (k,) of  M x + Phi_q^T lam = b_u,  Phi_q x = b_c."""
        n, k = len(self.M), len(b_c)
        K = np.block([[self.M, Phi_q.T], [Phi_q, np.zeros((k, k))]])
        x = np.linalg.solve(K, np.concatenate([b_u, b_c]))
        return x[:n], x[n:]

    def _bodies(self, y: Array) -> Array:
        return y[: WIDTH * (self.model.nb + 1)].reshape(-1, WIDTH)

    def _evaluated(self, t: float, y: Array) -> Any:
        pack = self._problem.pack
        rows_entry(pack, t, np.ascontiguousarray(y))
        self.model.raise_user_error(pack)
        return pack

    def remember(self, t: float, y: Array, y_dot: Array) -> None:
        """Keep a step for those after it."""
        self.earlier.insert(0, (t, y, y_dot))
        del self.earlier[self._depth :]


@public_class
@dataclass(frozen=True)
class StepByStep(FixedStep):
    """Base class of methods of one's own with a fixed step, in plain Python: one method, `step_from`.

    Parameters
    ----------
    h : float
        The step [s].

    Notes
    -----
    A method is a frozen dataclass, in a module, a script or a notebook:

    1. `step_from(self, equations, t, y, y_dot, h)` returns the state at t + h from that at t, whose rates are y_dot. `equations` has
       `rates(t, y)`, `rows(t, y)` (Phi, nu, gamma, Phi_q), `forces(t, y)`, `M`, `solved(Phi_q, b_u, b_c)`, `moved(y, x, u)`,
       `projected(t, y)`, `velocities(y)`, and `earlier`, the steps before: see `StepEquations`. It changes neither y nor y_dot.
    2. `reference`, the source, for `mbd.cite`; `order`, if it is known: `mbd.verify` measures it.
    3. `steps = 2` for a method that uses `earlier`: so many are kept. At the start, and after each event, there are none: begin with a
       method of one step.
    4. `solves_constraints = True` for a method that closes the rows itself; the run then takes no stabilization.

    Raise SimulationError, with the time, where a step cannot be made: an iteration that does not converge is no step.
    `mbd.verify(MyMethod())` checks order, repetition, restart, dense output and constraints.
    """

    reference: ClassVar[str] = "a method of one's own"
    order: ClassVar[int] = 1
    steps: ClassVar[int] = 1

    @abstractmethod
    def step_from(self, equations: StepEquations, t: float, y: Array, y_dot: Array, h: float) -> Array:
        """Return the state at t + h."""

    @property
    def one_step(self) -> bool:  # type: ignore[override]
        """Whether a step depends on the state at its start only."""
        return self.steps == 1

    @property
    def correctable(self) -> bool:
        return self.steps == 1 and not self.solves_constraints

    @property
    def dense(self) -> bool:
        return not self.solves_constraints

    def batches(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance to `t_end`, a step at a time."""
        equations, t, y, y_dot = StepEquations(problem, self.steps - 1), problem.t, problem.y.copy(), k1.copy()
        assert self.h is not None
        empty = np.zeros((0, y.size))
        while t_end - t > LAST * self.h:
            h = min(self.h, t_end - t)
            h = t_end - t if t_end - t - h < LAST * self.h else h
            try:
                after = np.array(self.step_from(equations, t, y.copy(), y_dot.copy(), h), dtype=np.float64)
                end = t_end if t + h >= t_end else t + h
                if after.shape != y.shape or not np.isfinite(after).all():
                    raise SimulationError(
                        f"{type(self).__name__}: the step from t = {t:.9g} s gave no finite state of {y.size} numbers."
                    )
                after[:WIDTH] = y[:WIDTH]  # the ground stays, whatever rounding says
                rates = np.zeros_like(after)
                code = problem.post_step(problem.pack, problem.options, end, after, rates)
            except Stopped as failed:
                yield StepBatch(np.zeros(0), empty, empty, failed.code, failed.t, 0, 0)
                return
            if code != OK:
                yield StepBatch(np.zeros(0), empty, empty, code, end, 0, 0)
                return
            equations.remember(t, y, y_dot)
            t, y, y_dot = end, after, rates
            yield StepBatch(np.array([t]), y[None].copy(), y_dot[None].copy(), OK, t, 1, 0)
