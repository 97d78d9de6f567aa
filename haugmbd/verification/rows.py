"""The rows of a model against differences of Phi, at random states; and what a joint or a driver says besides its rows.

    Phi_r dr + PiBar dpi_bar    along displacements of each body
    nu    = -dPhi/dt            at fixed positions
    gamma = Phi_q u_dot - d/dt (Phi_q u - nu)       along a motion with accelerations

They are evaluated as integrators do, by the routine in the model's Pack. Bodies that share no row are displaced at once: a row then sees
one of them only, and the cost grows with the number of bodies, not with its square.

Joints: their rows hold at the modelled pose, are independent, and allow the declared freedoms. Drivers: f' and f'' against differences.
Phi = 0        rank Phi_q = rows        T S = 0,  6 - rank T columns in S
Source: Haug (2021), spatial kinematics: velocity and acceleration equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.freedoms import Freedom
from haugmbd.drivers import Driver
from haugmbd.graph import colors_of
from haugmbd.model.evaluate import evaluate_rows
from haugmbd.model.inspection.constraint_rows import Rows, rows_in
from haugmbd.model.inspection.joint_subspaces import constraint_wrenches, motion_subspace
from haugmbd.model.inspection.length import POWERS
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.verification.comparisons import (
    ALLOWED,
    AcceleratedMotion,
    Check,
    DerivativeGap,
    Random,
    displaced,
    gap_of,
    later,
    random_state,
    rate_of,
    steps_at,
)
from haugmbd.workspace.layout import workspace_array

TIMES = 16
"""Number of times at which it is found how fast drivers change."""
SIGN_TOL = 1e-12
"""Largest relative change of Phi by the sign of p: both are the same orientation, and only rounding differs."""

AGAINST = {
    "Phi": "Phi of -p, the same orientation",
    "Phi_r": "differences of Phi by displacements",
    "PiBar": "differences of Phi by small rotations, body frames",
    "nu": "differences of Phi in time",
    "gamma": "differences of Phi_q u - nu along a motion",
}


class RowEvaluator:
    """Rows and generalized forces of a model at states."""

    def __init__(self, model: Model) -> None:
        self.model, self._pack = model, model.pack()

    def rows(self, state: State) -> Rows:
        """Return all rows."""
        P = self._pack
        evaluate_rows(P, state.t, state.y)
        self.model.raise_user_error(P)
        return rows_in(self.model, P, state)

    def forces(self, state: State) -> Array:
        """Return the generalized forces (force, torque in the body frame) of all bodies, (nb + 1, 6)."""
        self.rows(state)
        return np.array(workspace_array(self._pack, "Q"))


class Worst:
    """The largest relative error of each block, over states; of rows of their own size each."""

    def __init__(self, model: Model, chosen: Ints) -> None:
        self._model, self._chosen = model, chosen
        self._error = {name: np.zeros(len(chosen)) for name in AGAINST}
        self._size = {name: np.zeros(len(chosen)) for name in AGAINST}
        self._where = {name: [""] * len(chosen) for name in AGAINST}

    def add(self, name: str, declared: Array, gap: DerivativeGap, t: float) -> None:
        """Add the entries of a block at one state: given (nc,) or (nc, ...)."""
        declared, error, nearest = (x.reshape(self._model.nc, -1)[self._chosen] for x in (declared, gap.error, gap.nearest))
        size = np.fmax(np.abs(declared), np.abs(nearest)).max(axis=1)
        self._size[name] = np.maximum(self._size[name], np.where(np.isfinite(size), size, 0.0))
        for k, column in enumerate(np.argmax(np.where(np.isnan(error), np.inf, error), axis=1)):
            x = error[k, column]
            if np.isnan(x) or x > self._error[name][k]:
                self._error[name][k] = x
                row, a, b = self._chosen[k], declared[k, column], nearest[k, column]
                self._where[name][k] = f"row {row}, {self._model.labels[row].words}: {a:.9g}, must be {b:.9g} at t = {t:.4g} s"

    def checks(self) -> Iterable[Check]:
        """Return a check for each block."""
        for name, against in AGAINST.items():
            size = np.where(self._size[name] > 0.0, self._size[name], 1.0)
            relative = self._error[name] / size
            k = int(np.argmax(np.where(np.isnan(relative), np.inf, relative)))
            allowed = SIGN_TOL if name == "Phi" else ALLOWED
            yield Check(name, float(relative[k]), allowed, against, self._where[name][k])


def check_rows(model: Model, chosen: Ints, states: int, rng: Random, bar: Progress) -> Iterator[Check]:
    """Yield the checks of the chosen rows at random states. After Ctrl-C they are those of the states so far."""
    if not len(chosen):
        return
    at, worst = RowEvaluator(model), Worst(model, chosen)
    first, last = common_times(model)
    times = np.random.default_rng(0).uniform(first, last, size=TIMES)
    steps = steps_at(max((rate_of(driver.values(times)) for driver in model.drivers), default=0.0))
    sets = independent_bodies(model)
    ended = 0
    try:
        for _ in range(states):
            motion = AcceleratedMotion(model, random_state(model, rng, float(rng.uniform(first, last))), rng)
            _check_state(at, worst, motion.at(0.0), motion, steps, sets)
            ended += 1
            bar.done()
    except KeyboardInterrupt:
        if ended:
            yield from worst.checks()
        raise
    yield from worst.checks()


def independent_bodies(model: Model) -> list[Ints]:
    """Return sets of moving bodies, no two of which share a row; all moving bodies are in one."""
    groups = np.unique(np.sort(model.bodies_of_rows(), axis=1), axis=0)
    colors = colors_of(model.nb + 1, ([body for body in group if body > 0] for group in groups.tolist()))
    return [np.flatnonzero(colors[1:] == color) + 1 for color in range(int(colors.max()) + 1)]


def _check_state(
    at: RowEvaluator, worst: Worst, state: State, motion: AcceleratedMotion, steps: tuple[float, ...], sets: list[Ints]
) -> None:
    """Compare all blocks at one state;  steps: in time;  sets: see `independent_bodies`"""
    rows, t = at.rows(state), state.t
    flipped = at.rows(state.replace(p=np.where(np.arange(len(state.p))[:, None] > 0, -state.p, state.p))).Phi
    worst.add("Phi", rows.Phi, DerivativeGap(np.abs(rows.Phi - flipped), flipped), t)
    for name, declared, directions in (("Phi_r", rows.Phi_r, range(3)), ("PiBar", rows.PiBar, range(3, 6))):
        worst.add(name, _moving(rows, declared), _jacobian_gap(at, rows, declared, directions, sets), t)
    worst.add("nu", rows.nu, gap_of(rows.nu, lambda s: -at.rows(later(at.model, state, s)).Phi, steps=steps), t)
    declared = _along(rows, motion.u_dot()) - rows.gamma  # = d/dt (Phi_q u - nu)
    gap = gap_of(declared, lambda s: _velocity_gap(at.rows(motion.at(s))), steps=steps)
    worst.add("gamma", rows.gamma, DerivativeGap(gap.error, _along(rows, motion.u_dot()) - gap.nearest), t)


def _jacobian_gap(at: RowEvaluator, rows: Rows, jacobian: Array, directions: range, sets: list[Ints]) -> DerivativeGap:
    """Return the gap of Phi_r or PiBar (nc, sides, 3); a row with the same body twice is compared by its sum."""
    error, nearest = np.zeros(jacobian.shape), np.zeros(jacobian.shape)
    for bodies in sets:
        row, side = np.nonzero(np.isin(rows.bodies, bodies))
        for column, direction in enumerate(directions):
            scale = at.model.length if direction < 3 else 1.0
            whole = np.zeros(len(rows.Phi))
            np.add.at(whole, row, jacobian[row, side, column])
            gap = gap_of(whole, lambda s, b=bodies, d=direction: at.rows(displaced(rows.state, b, d, s)).Phi, scale)  # type: ignore[misc]
            error[row, side, column], nearest[row, side, column] = gap.error[row], gap.nearest[row]
    alone = at.model.velocity_rows  # they have no Phi: their gamma is compared with differences of Phi_q u
    error[alone], nearest[alone] = 0.0, jacobian[alone]
    return DerivativeGap(error, nearest)


def _moving(rows: Rows, jacobian: Array) -> Array:
    """Return the blocks (nc, 2, 3) with zeros for the ground."""
    return np.where((rows.bodies > 0)[:, :, None], jacobian, 0.0)


def _along(rows: Rows, u: Array) -> Array:
    """Return Phi_q u, (nc,); u (nb + 1, 6)."""
    both = np.concatenate([_moving(rows, rows.Phi_r), _moving(rows, rows.PiBar)], axis=2)
    return np.asarray(np.einsum("nsk,nsk->n", both, u[rows.bodies]))


def _velocity_gap(rows: Rows) -> Array:
    """Return Phi_q u - nu at the state of the rows."""
    return _along(rows, np.hstack([rows.state.v, rows.state.omega_bar])) - rows.nu


def common_times(model: Model) -> tuple[float, float]:
    """Return first and last time [s] for random states: within 0 ... 2 s and the ranges of all drivers."""
    ranges = [driver.t_range for driver in model.drivers]
    first, last = max([0.0, *(a for a, _ in ranges)]), min([2.0, *(b for _, b in ranges)])
    inside = 0.05 * (last - first)  # differences in time stay in the ranges
    return first + inside, last - inside


POSE_TOL = 1e-9
"""Largest Phi at the modelled pose, relative to the model's length: rounding of the given geometry."""
RANK_TOL = 1e-10
"""Smallest singular value of independent rows of length one."""
EPS = float(np.finfo(np.float64).eps)
FREEDOM_TOL = 1e-9
"""Largest power of a constraint wrench on a declared freedom, relative: rounding."""


def check_joint(model: Model, name: str, freedoms: tuple[Freedom, ...] | None) -> tuple[Check, ...]:
    """Return the checks of a joint at the modelled pose."""
    entry, rows = model.joints[name], RowEvaluator(model).rows(model.state())
    units = np.array([model.length ** POWERS.get(model.labels[row].unit, 0) for row in entry.rows])
    Phi = np.abs(rows.Phi[entry.rows]) / units
    k = int(np.argmax(Phi))
    row = int(entry.rows[k])
    where = f"row {row}, {model.labels[row].words}: Phi = {rows.Phi[row]:.9g} at the modelled pose"
    pose = Check("modelled pose", float(Phi[k]), POSE_TOL, "Phi = 0 at the modelled pose", where)
    T = constraint_wrenches(model, None, name) if model.are_between_two(entry) else rows.Phi_q.toarray()[entry.rows]
    smallest = float(np.linalg.svd(_unit(T, model.length), compute_uv=False)[-1])
    note = f"the smallest singular value of its {len(T)} rows is {smallest:.1e}: one of them depends on the others"
    rank = Check(
        "rank", EPS / max(smallest, EPS**2), EPS / RANK_TOL, "independent rows: rounding over the smallest singular value", note
    )
    if freedoms is None:
        return pose, rank
    return pose, rank, _freedoms(model, name, T)


def _freedoms(model: Model, name: str, T: Array) -> Check:
    """Return the check of the declared freedoms: their number, and that the rows allow them."""
    S = motion_subspace(model, None, name)
    against = "T S = 0, and as many freedoms as 6 less the rank"
    missing = 6 - np.linalg.matrix_rank(_unit(T, model.length), tol=RANK_TOL) - S.shape[1]
    if missing:
        return Check("freedoms", abs(float(missing)), FREEDOM_TOL, against, f"{S.shape[1]} declared, {S.shape[1] + missing} left")
    if not S.shape[1]:
        return Check("freedoms", 0.0, FREEDOM_TOL, against)
    power = np.abs(T @ S) / np.outer(np.linalg.norm(T, axis=1), np.linalg.norm(S, axis=0))
    row, column = np.unravel_index(int(np.argmax(power)), power.shape)
    return Check("freedoms", float(power.max()), FREEDOM_TOL, against, f"row {row} resists freedom {column}")


def _unit(T: Array, length: float) -> Array:
    """Return wrenches of length one, with moments per length;  T: (nr, 6), or (nr, 6 nb) on the bodies of a coupling."""
    scaled = T / np.tile([1.0] * 3 + [length] * 3, T.shape[1] // 6)
    norm = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(norm > 0.0, norm, 1.0))


# Drivers: f' and f'' against differences of f and f', at random times.

NAMES = ("f", "f_dot", "f_ddot")
DRIVER_TIMES = 5
"""Number of times for each random state."""


def check_driver(driver: Driver, states: int, rng: Random) -> tuple[Check, ...]:
    """Return the checks of a driver."""
    first, last = max(driver.t_range[0], 0.0), min(driver.t_range[1], 2.0)
    inside = 0.05 * (last - first)
    t = rng.uniform(first + inside, last - inside, size=DRIVER_TIMES * states)
    F = driver.values(t)
    bad = ~np.isfinite(F).all(axis=1)
    where = f"(f, f', f'') = {F[bad][0].tolist()} at t = {t[bad][0]:.9g} s" if bad.any() else ""
    checks = [Check("f", float(bad.any()), 0.5, "finite values", where)]
    steps = steps_at(rate_of(F))
    for k in (0, 1):
        gap = gap_of(F[:, k + 1], lambda s, k=k: driver.values(t + s)[:, k], steps=steps)  # type: ignore[misc]
        n, size = (
            int(np.argmax(np.where(np.isnan(gap.error), np.inf, gap.error))),
            float(np.nanmax(np.abs(gap.nearest), initial=0.0)),
        )
        where = f"{NAMES[k + 1]} = {F[n, k + 1]:.9g}, differences of {NAMES[k]} give {gap.nearest[n]:.9g} at t = {t[n]:.9g} s"
        error = float(gap.error[n]) / max(size, float(np.nanmax(np.abs(F[:, k + 1]), initial=0.0)) or 1.0)
        checks.append(Check(NAMES[k + 1], error, ALLOWED, f"differences of {NAMES[k]}", where))
    return tuple(checks)
