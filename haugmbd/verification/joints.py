"""What a joint says besides its rows: that they hold at the modelled pose, are independent, and allow the declared freedoms;
drivers: f' and f'' against differences.

Phi = 0        rank Phi_q = rows        T S = 0,  6 - rank T columns in S
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Freedom
from haugmbd.drivers import Driver
from haugmbd.model.inspection.joint_subspaces import constraint_wrenches, motion_subspace
from haugmbd.model.inspection.length import POWERS
from haugmbd.model.model import Model
from haugmbd.verification.differences import ALLOWED, Random, gap_of, rate_of, steps_at
from haugmbd.verification.report import Check
from haugmbd.verification.rows import RowEvaluator

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
TIMES = 5
"""Number of times for each random state."""


def check_driver(driver: Driver, states: int, rng: Random) -> tuple[Check, ...]:
    """Return the checks of a driver."""
    first, last = max(driver.t_range[0], 0.0), min(driver.t_range[1], 2.0)
    inside = 0.05 * (last - first)
    t = rng.uniform(first + inside, last - inside, size=TIMES * states)
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
