"""Drivers: f' and f'' against differences of f and f', at random times."""

from __future__ import annotations

import numpy as np

from haugmbd.drivers import Driver
from haugmbd.verification.differences import ALLOWED, gap_of, rate_of, steps_at
from haugmbd.verification.report import Check
from haugmbd.verification.states import Random

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
