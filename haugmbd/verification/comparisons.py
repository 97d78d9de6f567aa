"""Comparisons: the blocks that were compared, with the largest error of each; derivatives by differences, and their error.

    f'(0) = (4/5 (f_1 - f_-1) - 1/5 (f_2 - f_-2) + 4/105 (f_3 - f_-3) - 1/280 (f_4 - f_-4)) / h + O(h^8),   f_k = f(k h)

No step fits all functions: several are tried, and the nearest difference counts, entry by entry. The rounding of f is taken off.
Source: Fornberg, Math. Comp. 51 (1988) 699-706.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.text_table import table_lines


@dataclass(frozen=True)
class Check:
    """One block of a part, compared with something independent of it.

    Attributes
    ----------
    name : str
        The block: "PiBar", "gamma", "energy", ...
    error : float
        Largest difference, relative to the size of the block; NaN if a value is not finite.
    allowed : float
        Largest error that passes.
    against : str
        What the block was compared with.
    where : str
        The row, body or time of the largest error, with both numbers.
    """

    name: str
    error: float
    allowed: float
    against: str
    where: str = ""

    @property
    def ok(self) -> bool:
        """Return whether the error is within the allowed one; False for NaN."""
        return bool(self.error <= self.allowed)


@dataclass(frozen=True)
class Verification(StudyData):
    """The findings of `verify`.

    Attributes
    ----------
    subject : str
        What was verified.
    checks : tuple of Check
        One for each block.
    interrupted : bool
        Whether Ctrl-C ended the verification: blocks may be missing, and the last ones may be of fewer states.
    """

    subject: str
    checks: tuple[Check, ...]
    interrupted: bool = False

    def _columns(self) -> Columns:
        rows = [(check.name, check.error, check.allowed, check.ok, check.against, check.where) for check in self.checks]
        names = ("block", "error", "allowed", "ok", "against", "where")
        return {name: column([row[k] for row in rows]) for k, name in enumerate(names)}

    @property
    def ok(self) -> bool:
        """Return whether all blocks are right; False if the verification was interrupted."""
        return not self.interrupted and all(check.ok for check in self.checks)

    @property
    def worst(self) -> Check:
        """Return the check that is farthest beyond what is allowed, or nearest to it."""
        return max(self.checks, key=lambda check: np.inf if np.isnan(check.error) else check.error / check.allowed)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Return the names of the blocks that are wrong."""
        return tuple(check.name for check in self.checks if not check.ok)

    def __iter__(self) -> Iterator[Check]:
        """Return an iterator over the checks."""
        return iter(self.checks)

    def __getitem__(self, name: str) -> Check:
        """Return the check with this name. Raise UsageError if there is none."""
        by_name = {check.name: check for check in self.checks}
        if name not in by_name:
            raise UsageError(
                f"no check is called {name!r}{did_you_mean(name, by_name)}; there are {', '.join(map(repr, by_name))}."
            )
        return by_name[name]

    def __str__(self) -> str:
        """Return the table, with the place of each error that is too large."""
        verdict = f"WRONG: {', '.join(self.wrong)}" if self.wrong else "all blocks are right"
        if self.interrupted:
            verdict = f"interrupted by Ctrl-C; {len(self.checks)} blocks were compared: {verdict}"
        lines = [
            ["" if check.ok else "!", check.name, f"{check.error:.1e}", f"{check.allowed:.0e}", check.against]
            for check in self.checks
        ]
        note = [f"{self.subject}: {verdict}", *table_lines(["", "block", "error", "allowed", "against"], lines, right=(2, 3))]
        return "\n".join([*note, *(f"  {check.name}: {check.where}" for check in self.checks if not check.ok and check.where)])


OFFSETS = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEPS = (1e-2, 1e-3, 1e-4, 1e-5)
"""Relative to the scale of the argument."""
SHORT_STEPS = (1e-1, 1e-2)
"""Of functions of time that change faster, times the rate at which they change."""
ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Rounding of f relative to its size: some dozen products; a difference divides it by the step."""
ALLOWED = 1e-6
"""Largest relative error that passes: truncation and rounding stay below 1e-9, a wrong term is of size 1."""


class DerivativeGap(NamedTuple):
    """Entry by entry: the error of a derivative after rounding is taken off, and the difference that is nearest to it."""

    error: Array
    nearest: Array


def rate_of(F: Array) -> float:
    """Return the rate [1/s] at which a function of time changes, from f, f' and f'' at some times, (n, 3)."""
    f_dot, f_ddot = np.nanmax(np.abs(F[:, 1:]), axis=0, initial=0.0)
    return float(f_ddot / f_dot) if f_dot > 0.0 else 0.0


def steps_at(rate: float) -> tuple[float, ...]:
    """Return steps in time for functions that change at a rate [1/s]."""
    return (*STEPS, *(step / rate for step in SHORT_STEPS if step < rate * STEPS[-1]))


def gap_of(derivative: Array, f: Callable[[float], Array], scale: float = 1.0, steps: tuple[float, ...] = STEPS) -> DerivativeGap:
    """Return how far the given derivative of f at 0 is from differences; scale: the size of the argument of f."""
    error, nearest = np.full(derivative.shape, np.inf), np.full(derivative.shape, np.nan)
    for step in steps:
        h = scale * step
        values = np.array([f(h * k) for k in OFFSETS])
        slope = np.tensordot(WEIGHTS, values, axes=1) / h
        left = np.maximum(np.abs(slope - derivative) - ROUNDING * np.abs(values).max(axis=0) / h, 0.0)
        better = left < error
        error[better], nearest[better] = left[better], slope[better]
        if not error.any():  # nothing but rounding is left
            break
    return DerivativeGap(np.where(np.isinf(error), np.nan, error), nearest)


# Random states of a model, small displacements of its bodies, and a motion with accelerations through a state.
#
# r = r0 + v s + a s^2 / 2        p = p0 exp(w1 s) exp(w2 s)        omega_bar = A(exp(w2 s))^T w1 + w2

Random = np.random.Generator


def random_state(model: Model, rng: Random, t: float, part: float = 1.0) -> State:
    """Return a state whose bodies are placed about the modelled positions, as far as the model is large; the ground stays.

    part: of the way from the modelled pose at rest to such a state
    """
    n, length = model.nb + 1, part * model.length
    start = model.state()
    r = start.r + length * rng.normal(size=(n, 3))
    v, omega_bar = length * rng.normal(size=(n, 3)), part * rng.normal(size=(n, 3))
    p = euler_parameters.normalized((1.0 - part) * start.p + part * rng.normal(size=(n, 4)))
    r[0], p[0], v[0], omega_bar[0] = start.r[0], start.p[0], 0.0, 0.0
    return start.replace(t=t, r=r, p=p, v=v, omega_bar=omega_bar)


def displaced(state: State, bodies: Ints, direction: int, s: float) -> State:
    """Return the state with some bodies moved by s in one of six directions: dr (global), or dpi_bar (body frame)."""
    r, p = state.r.copy(), state.p.copy()
    d = s * np.eye(3)[direction % 3]
    if direction < 3:
        r[bodies] += d
    else:
        p[bodies] = euler_parameters.product(p[bodies], euler_parameters.exponential(d))
    return state.replace(r=r, p=p)


def later(model: Model, state: State, s: float) -> State:
    """Return the state at the time s from it, with the states of blocks that drivers follow moved by their rates."""
    network = model.network
    if network is None or not network.motions:
        return state.replace(t=state.t + s)
    angles, rates = np.array(state.angles), np.zeros((1, len(state.flat)))
    network.put_rates(np.array([state.t]), state.flat[None], rates)
    return state.replace(t=state.t + s, angles=angles + s * rates[0, len(state.flat) - len(angles) :])


class AcceleratedMotion:
    """A motion through a state, with accelerations of all bodies but the ground."""

    def __init__(self, model: Model, state: State, rng: Random) -> None:
        self._state, self._model = state, model
        self._a, self._w1, self._w2 = rng.normal(size=(3, *state.r.shape))
        self._a *= model.length
        self._a[0] = self._w1[0] = self._w2[0] = 0.0

    def at(self, s: float) -> State:
        """Return the state at the time s from the first one."""
        turn = euler_parameters.exponential(self._w2 * s)
        back = np.einsum("nji,nj->ni", euler_parameters.rotation_matrix(turn), self._w1)
        p = euler_parameters.product(euler_parameters.product(self._state.p, euler_parameters.exponential(self._w1 * s)), turn)
        r = self._state.r + self._state.v * s + 0.5 * self._a * s * s
        moved = later(self._model, self._state, s)
        return moved.replace(r=r, p=p, v=self._state.v + self._a * s, omega_bar=back + self._w2)

    def u_dot(self) -> Array:
        """Return the accelerations (v_dot, omega_bar_dot) at the first state, (nb + 1, 6)."""
        return np.hstack([self._a, -cross(self._w2, self._w1)])
