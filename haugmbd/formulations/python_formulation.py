r"""Formulations in Python, called from compiled integrators: the workspace is read into a `KKTSystem`, and the solution written back.

    called by `prepare`      new state                 J, LEVEL           Phi_q, Phi, Phi_dot
    called by `factorize`    new rows                  RIGHT, SOLVE_FOR   b_u, b_c, solve_for
    called by `finish`       K x = b is needed         SOLUTION           u, lam by slots; zero for rows that do not take part

A formulation that needs independent rows receives as many as there are.  The selection is kept from one solution to the next until
other rows are much better conditioned: in a spatial closed loop no fixed selection stays independent along the whole motion.

Dense algebra squares units: a mechanism outside 1 mm ... 1 km is expressed in another unit of length l, v' = v / l, and so on:

    D = diag(l, 1) of (v, omega_bar)      W = 1 / l, 1 / l^2, 1 of rows in m, m2, others
    M' = D M D / l^2      Phi_q' = W Phi_q D      b_u' = D b_u / l^2      b_c' = W b_c            u = D u'      lam = l^2 W lam'

It squares masses, too: where bodies are light beside others, solutions of a formulation that `refines` are corrected by those of their
residuals, x <- x + F(b - K x), until they no longer change, each body on its own scale.

Nothing is compiled here.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import Callback
from haugmbd.errors import UsageError
from haugmbd.formulations.base import NONE, Formulation, KKTSolution, KKTSystem, SolveFor, Solver
from haugmbd.formulations.dense_matrices import least_pivot, pivots_of, singular, times_mass, without_dependencies
from haugmbd.kkt.block_ldl import HELD, LEAST_DIGITS, REFINED
from haugmbd.kkt.python_solver import CALL_PYTHON_SOLVER, NEW_ROWS, RECORD_ROWS, SKIP, SOLVE
from haugmbd.kkt.solver import NO_ROUTINE
from haugmbd.model.compiling.inertia import has_light, least_moments
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.generalized_forces import APPLY, APPLY_WITH_CONTACTS, APPLY_WITH_MASSES
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import POWERS
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.accessors import SOLVES_AGAIN, WITH_SOLUTION
from haugmbd.workspace.layout import CALLS_USER, FRICTION_FLAG, REFINES, Pack, Tables, flags_in, workspace_array

FAR_BETTER = 10.0
"""Other rows replace the selected ones if their smallest pivot is larger by this factor.  Near a loss of rank the pivots change by far
more; elsewhere they change by less."""


STEP = 6.0
"""Powers of ten from one unit of length to the next: within 1e-3 ... 1e3 m it is the metre, and the algebra has ten digits there."""


MOST_CORRECTIONS = 12
"""Corrections of a solution by that of its residuals; two or three are enough where it has some right digits."""


class PythonFormulation(Formulation):
    """A formulation that is written in Python: a subclass implements `solve`.

    any_unit: True if `solve` uses nothing but the system that it receives, which may then be in another unit of length
    refines: True if `solve` is linear in b_u and b_c, and its solution may be corrected by that of the residuals
    """

    any_unit: ClassVar[bool] = False
    refines: ClassVar[bool] = False

    @abstractmethod
    def solve(self, kkt: KKTSystem) -> KKTSolution:
        """Solve one augmented KKT system.  See `Formulation.solve`."""

    def pack(self, model: Model) -> Pack:
        self.check_model(model)
        unit = unit_of(model) if self.any_unit else 1.0
        kkt_solver = PythonKKTSolver(model, self.begin(model), rows_for(model), every=self.all_rows, unit=unit)
        ints = model.tables.ints.copy()
        flags = flags_in(ints)
        flags[REFINES], flags[CALLS_USER] = 0, 1
        if flags[FRICTION_FLAG] == WITH_SOLUTION:
            flags[FRICTION_FLAG] = SOLVES_AGAIN
        routines: dict[str, Any] = {"factorize": RECORD_ROWS, "finish": CALL_PYTHON_SOLVER, "begin": SKIP, "refine": NO_ROUTINE}
        apply = APPLY_WITH_CONTACTS if model.has_contacts else APPLY
        apply = APPLY_WITH_MASSES if model.masses_in_time else apply
        return model.pack()._replace(ints=ints, apply=apply, callback=kkt_solver.callback, python_solver=kkt_solver, **routines)


def rows_for(model: Model) -> Ints:
    """Return the rows that may take part: all of them where dropped rows depend on others along the whole motion.

    The number of independent rows is that of the compiled model.  It is not determined again by a threshold.
    """
    return np.delete(np.arange(model.nc), np.array(model.redundancy.only_here, dtype=np.int64))


def independent(Phi_q: Array, at_hand: Ints) -> Ints:
    """Return as many independent rows of Phi_q as there are in `at_hand`: those rows, unless others are much better conditioned."""
    rank, lengths = len(at_hand), np.linalg.norm(Phi_q, axis=1)
    unit = (Phi_q / np.where(lengths > 0.0, lengths, 1.0)[:, None]).T
    pivots, order = pivots_of(unit)
    if FAR_BETTER * least_pivot(unit[:, at_hand]) >= pivots[:rank].min(initial=np.inf):
        return at_hand
    return np.sort(order[:rank])


@dataclass
class SolverStatistics:
    """The work of a run: systems solved, iterations in all of them, and selections of dependent coordinates."""

    solves: int = 0
    iterations: int = 0
    repartitions: int = 0

    def count(self, solution: KKTSolution) -> None:
        """Add the work of one solution."""
        self.solves += 1
        self.iterations += solution.iterations
        self.repartitions += solution.repartitions


class PythonKKTSolver(Callback):
    """The callback that solves the KKT systems of one run in Python.

    `work` contains the statistics, `last` the last solution, and `callback` receives every state.
    """

    def __init__(self, model: Model, solver: Solver, rows: Ints, *, every: bool, unit: float = 1.0) -> None:
        tables = model.tables
        super().__init__(self._record_or_solve, tuple(tables.place(name)[1:] for name in ("J", "LEVEL", "RIGHT", "SOLUTION")))
        self.callback = Callback(self._record_state, model.force_callbacks.shapes)
        self.work, self.last = SolverStatistics(), KKTSolution(NONE, NONE)
        self._model, self._solver, self._rows = model, solver, rows
        self._rank = model.nc - len(model.redundancy.dropped)
        self._corrects = isinstance(solver.formulation, PythonFormulation) and solver.formulation.refines and is_uneven(model)
        self._slots, self._is_scaled = np.asarray(model.slot_of_row[rows]), unit != 1.0
        self._columns = np.tile([unit] * 3 + [1.0] * 3, model.nb)
        self._weights = np.array([unit ** -POWERS.get(model.labels[row].unit, 0) for row in rows])
        self._square = unit**2
        self._M, self._scatter = mass_blocks(tables), scatter(model, self._slots)
        self._M[:, 3:, 3:] /= self._square
        self._M.setflags(write=False)  # every solution has the same
        self._t, self._y = 0.0, model.y0
        self._sizes = NONE
        self._choose(np.arange(len(rows)) if every else np.nonzero(~np.isin(rows, model.redundancy.dropped))[0])

    def _choose(self, chosen: Ints) -> None:
        """Select these rows for the system."""
        self._chosen = chosen
        self._chosen_rows, self._chosen_slots, self._chosen_weights = (x[chosen] for x in (self._rows, self._slots, self._weights))

    def fit_all_rows(self, size: Array) -> None:
        """Compute accelerations that fit dependent rows in the least-squares sense from now on, see `kkt.least_squares`.

        size: (nc,) lengths of the rows
        """
        self._sizes = size[self._rows] * np.where(self._weights == 1.0, 1.0, self._weights * np.sqrt(self._square))

    def _record_state(self, t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        """Store the state, and evaluate the user's callables, if there are any."""
        self._t, self._y = t, y.copy()
        self._model.force_callbacks.call(t, y, signals, F, Q_user)

    @np.errstate(over="ignore", invalid="ignore")
    def _record_or_solve(self, which: float, J: Array, level: Array, b: Array, x: Array) -> None:
        """Read new rows, or solve. A state that is not finite is reported by the run."""
        if which == NEW_ROWS:
            self._read_rows(J)
            return
        state = State.from_y(self._t, self._y, self._model.nb + 1)
        try:
            kkt = self._kkt_system(state, SolveFor(which - SOLVE), level, b)
        except np.linalg.LinAlgError as error:
            kkt = self._kkt_system(state, SolveFor.VELOCITIES, level, b)
            raise singular(kkt, f"the SVD of its rows did not converge ({error})") from error
        try:
            solution = self._solver.solve(kkt)
            if self._corrects:
                solution = corrected(self._solver, kkt, solution)
        except np.linalg.LinAlgError as error:
            raise singular(kkt, f"its factorization did not converge ({error})") from error
        solution = checked_solution(self._solver.formulation, kkt, solution)
        self.work.count(solution)
        self.last = solution
        n, u, lam = self._model.nb + 1, solution.u, solution.lam
        if self._is_scaled:
            self.last = solution._replace(lam_p=solution.lam_p * self._square)
            u, lam = u * self._columns, lam * self._chosen_weights * self._square
        x[:] = 0.0
        x[1:n] = u.reshape(-1, 6)
        x[n:].reshape(-1)[self._chosen_slots] = lam

    def _read_rows(self, J: Array) -> None:
        """Read the rows, and select those that take part."""
        Phi_q = self._gather(J)
        if self._rank == len(self._chosen) < len(self._rows):
            self._choose(independent(Phi_q, self._chosen))
        self._Phi_q, self._every = Phi_q[self._chosen], Phi_q
        self._Phi_q.setflags(write=False)  # those of one state have the same

    def _fitted(self, b: Array) -> tuple[Array, Array]:
        """Return the selected rows and right-hand sides of the nearest consistent system of the same rank."""
        size, n = self._sizes[:, None], self._every.shape[1]
        rows = np.empty((len(size), n + 1))
        rows[:, :n], rows[:, n] = self._every, self._weights * b[self._model.nb + 1 :].reshape(-1)[self._slots]
        rows /= size
        fitted = (size * without_dependencies(rows, self._rank))[self._chosen]
        return fitted[:, :n], fitted[:, n]

    def _gather(self, J: Array) -> Array:
        """Return Phi_q (k, 6 nb)."""
        row, slot, side, column = self._scatter
        Phi_q = np.zeros((len(self._slots), 6 * self._model.nb))
        Phi_q[row[:, None], column] = J.reshape(-1, self._model.sides, 6)[slot, side]
        if self._is_scaled:
            Phi_q *= self._weights[:, None]
            Phi_q *= self._columns
        return Phi_q

    def kkt_system(self, state: State, J: Array, level: Array, b: Array) -> KKTSystem:
        """Return the system for the accelerations, from rows and forces that were evaluated elsewhere."""
        self._read_rows(J)
        return self._kkt_system(state, SolveFor.ACCELERATIONS, level, b)

    def _kkt_system(self, state: State, solve_for: SolveFor, level: Array, b: Array) -> KKTSystem:
        """Return the system with right-hand side b (nn, 6); level: (slots, 3)."""
        n, slots, Phi_q = self._model.nb + 1, self._chosen_slots, self._Phi_q
        u = np.concatenate((state.v, state.omega_bar), axis=1)[1:].ravel()
        b_u, b_c, Phi, nu = b[1:n].flatten(), b[n:].reshape(-1)[slots], level[slots, 0], level[slots, 1]
        if self._is_scaled:
            u, b_u = u / self._columns, b_u * self._columns / self._square
            b_c, Phi, nu = (self._chosen_weights * part for part in (b_c, Phi, nu))
        if len(self._sizes) and solve_for is SolveFor.ACCELERATIONS:
            Phi_q, b_c = self._fitted(b)
        gaps = Phi, Phi_q @ u - nu
        M = self._mass_at(state) if self._model.masses_in_time else self._M
        return KKTSystem(self._model, state, solve_for, self._chosen_rows, self._rank, M, Phi_q, b_u, b_c, *gaps)

    def _mass_at(self, state: State) -> Array:
        """Return the mass matrix (nb, 6, 6) of a model with masses in time."""
        mass, J_bar = self._model.inertia_over_time(np.array([state.t]), self._y[None] if state.t == self._t else state.flat[None])
        M = blocks_of(mass[0, 1:], J_bar[0, 1:] / self._square)
        M.setflags(write=False)
        return M


def is_uneven(model: Model) -> bool:
    """Return whether a body is light beside the others, see `model.compiling.inertia`."""
    moments: Array = np.asarray(np.linalg.eigvalsh(model.J_bar[1:]), dtype=np.float64)
    return bool(has_light(model.mass[1:], least_moments(moments), evaluate(model).longest_arms[1:]))


def corrected(solver: Solver, kkt: KKTSystem, x: KKTSolution) -> KKTSolution:
    """Return the solution with the corrections by its residuals.  Raise SingularKKTError where they do not become small.

    They are compared with the acceleration of each body, or with a part of the largest where joints hold it, see `kkt.block_ldl`.
    """
    inertia = np.diagonal(kkt.M, axis1=1, axis2=2)
    moving = np.where(inertia > 0.0, inertia, np.inf)
    at_rest = replace(kkt.state, v=0.0 * kkt.state.v, omega_bar=0.0 * kkt.state.omega_bar)  # the residual has all that speeds do
    free, change = np.abs(kkt.b_u.reshape(-1, 6) / moving).max(axis=1), np.inf
    for _ in range(MOST_CORRECTIONS):
        b_u = kkt.b_u - times_mass(kkt, x.u) - kkt.Phi_q.T @ x.lam
        dx = solver.solve(replace(kkt, state=at_rest, b_u=b_u, b_c=kkt.b_c - kkt.Phi_q @ x.u))
        x = x._replace(u=x.u + dx.u, lam=x.lam + dx.lam)
        largest = np.maximum(np.abs(x.u.reshape(-1, 6)).max(axis=1), free)
        size = np.maximum(largest, HELD * largest.max())
        now = float(np.divide(np.abs(dx.u.reshape(-1, 6)).max(axis=1), size, out=np.zeros_like(size), where=size > 0.0).max())
        before, change = change, now
        if change <= REFINED or change >= before:
            break
    if not change <= LEAST_DIGITS:
        raise singular(kkt, f"bodies of very different masses: corrections of its accelerations stall at {change:.1e}")
    return x


def checked_solution(formulation: Formulation, kkt: KKTSystem, solution: Any) -> KKTSolution:
    """Return what `solve` has returned, with arrays in place of lists. Raise UsageError for what is no solution of the system."""
    if isinstance(solution, KKTSolution):
        u, lam = solution.u, solution.lam
        if isinstance(u, np.ndarray) and isinstance(lam, np.ndarray) and u.dtype == lam.dtype == np.float64:
            if u.shape == kkt.b_u.shape and lam.shape == kkt.b_c.shape:
                return solution
    wrong, arrays = [], {}
    for name, right in (("u", kkt.b_u), ("lam", kkt.b_c)) if isinstance(solution, KKTSolution) else ():
        try:
            arrays[name] = np.asarray(getattr(solution, name)).astype(np.float64, casting="same_kind")
            if arrays[name].shape != right.shape:
                wrong.append(f"{name} of shape {arrays[name].shape}")
        except (TypeError, ValueError):
            wrong.append(f"{name} that is no array of numbers")
    if not arrays and not wrong:
        wrong = ["None" if solution is None else type(solution).__name__]
    if wrong:
        raise UsageError(
            f"formulation {type(formulation).__name__}: solve must return KKTSolution(u, lam) with u {kkt.b_u.shape} and lam "
            f"{kkt.b_c.shape}, arrays of numbers: it returned {' and '.join(wrong)}."
        )
    return solution._replace(**arrays)  # type: ignore[no-any-return]


def kkt_solution_of(pack: Pack) -> KKTSolution:
    """Return the last solution of the Python solver in `pack`; an empty one if the formulation is compiled."""
    return pack.python_solver.last if isinstance(pack.python_solver, PythonKKTSolver) else KKTSolution(NONE, NONE)


def statistics_of(pack: Pack | None) -> SolverStatistics:
    """Return the work of the Python solver in `pack`; zeros if the formulation is compiled."""
    if pack is None:
        return SolverStatistics()
    return pack.python_solver.work if isinstance(pack.python_solver, PythonKKTSolver) else SolverStatistics()


def kkt_system_of(formulation: Formulation, model: Model, state: State | None = None) -> KKTSystem:
    """Return the system that `formulation` solves for the accelerations at `state` (by default the modelled one).

    Use `replace` to change it.
    """
    formulation.check_model(model)
    state = model.state() if state is None else state
    pack = model.pack()
    rows_entry(pack, state.t, state.y)
    model.raise_user_error(pack)
    b = np.zeros_like(workspace_array(pack, "RIGHT"))
    level = workspace_array(pack, "LEVEL")
    b[: model.nb + 1], b[model.nb + 1 :] = workspace_array(pack, "Q"), level[:, 2].reshape(-1, 6)
    return PythonKKTSolver(model, Solver(formulation), rows_for(model), every=formulation.all_rows).kkt_system(
        state, workspace_array(pack, "J"), level, b
    )


def unit_of(model: Model) -> float:
    """Return the unit of length [m] in which the model is of ordinary size: 1, or 1e-6, 1e6, ..."""
    return float(10.0 ** (STEP * round(np.log10(model.length) / STEP)))


def mass_blocks(tables: Tables) -> Array:
    """Return diag(m 1, J_bar) of each body, (nb, 6, 6)."""
    inertia = tables["INERTIA"][1:]
    return blocks_of(inertia[:, 0], inertia[:, 1:].reshape(-1, 3, 3))


def blocks_of(mass: Array, J_bar: Array) -> Array:
    """Return diag(m 1, J_bar) (nb, 6, 6);  mass: (nb,);  J_bar: (nb, 3, 3)."""
    M = np.zeros((len(mass), 6, 6))
    M[:, :3, :3] = mass[:, None, None] * np.eye(3)
    M[:, 3:, 3:] = J_bar
    return M


def scatter(model: Model, slots: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return row, slot, side and columns (., 6) of each half row that is not on the ground."""
    bodies = np.asarray(model.tables["EDGES"], dtype=np.int64)[slots // 6]
    row, side = np.nonzero(bodies)
    return row, slots[row], side, 6 * (bodies[row, side] - 1)[:, None] + np.arange(6)
