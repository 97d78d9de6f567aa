"""A mechanism to simulate, and what its motion is held against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import haugmbd as mbd

G = 9.81
ALLOWED = (mbd.UsageError, mbd.ModelError, mbd.SimulationError)
"""Errors of this package."""


class Broken(Exception):
    """What a user's function raises here."""


@dataclass
class Mechanism:
    """A mechanism to simulate.  reference(times) -> y (n, ny);  must: what an error has to say, where the run has to be refused.

    size: velocity that errors of velocities are held against [m/s, rad/s]
    """

    name: str
    model: mbd.Model
    t_end: float
    reference: Callable[[np.ndarray], np.ndarray]
    state: mbd.State | None = None
    must: tuple[str, ...] = ()
    reset: Callable[[], None] = lambda: None
    reached: Callable[[], bool] | None = None
    """Whether the user's function has failed in the run just made."""
    may_fail: Callable[[bool], None] = lambda may: None
    """Lets the user's function fail, or not."""
    known: dict[bytes, Any] = field(default_factory=dict)

    def at(self, times: np.ndarray) -> np.ndarray:
        """The reference at these times, or the error that it ended in, made once."""
        key = times.tobytes()
        if key not in self.known:
            self.reset()
            try:
                self.known[key] = self.reference(times)
            except ALLOWED as error:
                self.known[key] = error
        if isinstance(self.known[key], Exception):
            raise self.known[key]
        return self.known[key]


def by_dop853(model: mbd.Model, state: mbd.State | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """States of a run with DOP853 at 1e-11, whose violation is looked at."""

    def reference(times: np.ndarray) -> np.ndarray:
        result = mbd.simulate(model, times[-1], integrator=mbd.DOP853(rtol=1e-11, atol=1e-12), t_eval=times, state=state)
        assert np.max(result.violation("position"), initial=0.0) < 1e-8
        return result.y

    return reference


def plane(rng: np.random.Generator) -> np.ndarray:
    """Two directions, the plane of a mechanism."""
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return R[:, :2].T
