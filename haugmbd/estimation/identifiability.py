r"""What outputs can tell about parameters: the rank of their scaled Jacobian, and the directions along which nothing changes.

    J_ij = (p_j / sigma_i) dz_i/dp_j = U S V^T            columns in relative changes of the parameters, rows in standard deviations
    S_k <= RANK_TOL S_1:   the outputs do not change along V_k:  a null direction

Null directions are written on as few parameters as possible, by elimination with pivots, and in words: "k and m scaled together".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.sensitivity.problem import Problem, need_times

RANK_TOL = 1e-7
"""Singular value, relative to the largest, that is zero: derivatives are exact to about 1e-9 of their rows."""
SHARE = 1e-5
"""Part of a null direction, relative to its largest, that is nothing."""
WHOLE = 1e-4
"""Distance of a ratio from a fraction of small numbers at which it is written as one."""
LARGEST_DENOMINATOR = 4


@dataclass(frozen=True)
class NullDirection:
    """Relative changes of parameters that leave all outputs as they are.

    changes: relative change of each parameter, the first of which is 1
    """

    changes: dict[str, float]

    @property
    def text(self) -> str:
        """Return the direction in words."""
        names = list(self.changes)
        if len(names) == 1:
            return f"{names[0]} has no influence"
        values = list(self.changes.values())
        if all(abs(x - 1.0) < WHOLE for x in values):
            return f"{', '.join(names[:-1])} and {names[-1]} scaled together"
        parts = [f"{name} {'+' if x > 0 else '-'}{_ratio(abs(x))} %" for name, x in self.changes.items()]
        return f"{', '.join(parts[:-1])} and {parts[-1]} together"

    def __str__(self) -> str:
        return self.text


def _ratio(x: float) -> str:
    """Return a number, as a fraction of small numbers if it is one."""
    near = Fraction(x).limit_denominator(LARGEST_DENOMINATOR)
    return str(near) if near and abs(float(near) - x) < WHOLE * x else f"{x:.3g}"


def echelon(rows: Array) -> Array:
    """Return the reduced echelon form of independent rows, with the largest pivots: few numbers that are not zero."""
    R = np.array(rows, dtype=np.float64)
    for k in range(len(R)):
        rest = np.abs(R[k:])
        i, j = divmod(int(rest.argmax()), rest.shape[1])
        R[[k, k + i]] = R[[k + i, k]]
        R[k] /= R[k, j]
        for other in range(len(R)):
            if other != k:
                R[other] -= R[other, j] * R[k]
    R[np.abs(R) < SHARE] = 0.0
    return R


@dataclass(frozen=True)
class RankOf:
    """Rank and null space of a scaled Jacobian.

    singular_values: (n,);  null: (n - rank, n) orthonormal
    """

    names: tuple[str, ...]
    singular_values: Array
    null: Array

    @classmethod
    def of(cls, J: Array, names: tuple[str, ...]) -> RankOf:
        """Return those of a Jacobian in relative changes of the parameters, (outputs, n)."""
        n = len(names)
        padded = J if len(J) >= n else np.vstack([J, np.zeros((n - len(J), n))])
        _, s, V = np.linalg.svd(padded, full_matrices=False)
        return cls(names, s, V[s <= RANK_TOL * max(s[0], 1e-300)])

    @property
    def rank(self) -> int:
        """Return the number of directions that the outputs tell."""
        return len(self.names) - len(self.null)

    @property
    def null_directions(self) -> tuple[NullDirection, ...]:
        """Return the directions that change nothing."""
        found = []
        for line in echelon(self.null) if len(self.null) else ():
            changes = {name: float(x) for name, x in zip(self.names, line, strict=True) if x}
            first = next(iter(changes.values()))
            found.append(NullDirection({name: x / first for name, x in changes.items()}))
        return tuple(found)

    def base_parameters(self) -> tuple[str, ...]:
        """Return what the outputs determine: products of powers of the parameters that no null direction changes, near these values."""
        if not len(self.null):
            return self.names
        _, _, V = np.linalg.svd(self.null)
        lines = echelon(V[len(self.null) :]) if self.rank else np.zeros((0, len(self.names)))
        return tuple(_product(self.names, line) for line in lines)


def _product(names: tuple[str, ...], powers: Array) -> str:
    """Return a product of powers as text."""
    above = [_power(name, x) for name, x in zip(names, powers, strict=True) if x > 0.0]
    below = [_power(name, -x) for name, x in zip(names, powers, strict=True) if x < 0.0]
    text = " ".join(above) or "1"
    if not below:
        return text
    return f"{text} / {below[0]}" if len(below) == 1 else f"{text} / ({' '.join(below)})"


def _power(name: str, x: float) -> str:
    power = _ratio(x)
    return name if power == "1" else f"{name}^{power}" if "/" not in power else f"{name}^({power})"


@public_class
@dataclass(frozen=True, eq=False)
class Identifiability:
    """What outputs of a run can tell about parameters.

    Attributes
    ----------
    parameters : tuple of str
        Their names.
    rank : int
        Number of independent directions that the outputs tell.
    null_directions : tuple
        Directions that change no output, each with `changes` (relative, by name) and `text`.
    singular_values : ndarray, (n,)
        Those of the Jacobian in relative changes of the parameters, divided by sigma if it is given.
    """

    parameters: tuple[str, ...]
    rank: int
    null_directions: tuple[NullDirection, ...]
    singular_values: Array
    _rank: RankOf

    def base_parameters(self) -> tuple[str, ...]:
        """Return what the outputs determine, as products of powers of the parameters: those no null direction changes, near the values."""
        return self._rank.base_parameters()

    def __str__(self) -> str:
        head = f"{self.rank} of {len(self.parameters)} parameters can be told from the outputs: {', '.join(self.base_parameters())}"
        return "\n".join([head, *(f"not told: {direction.text}" for direction in self.null_directions)])

    __repr__ = __str__


def identifiability(
    build: Any, outputs: Any, p: Any, *, run: str = "simulate", t: Any = None, sigma: Any = None, **arguments: Any
) -> Identifiability:
    """Return what outputs can tell about parameters, before there are any data.

    Parameters
    ----------
    build, outputs, p, run, **arguments
        As of `sensitivity`.
    t : array_like, optional
        Times [s] of the outputs; by default all of the run.
    sigma : float or array_like, (outputs,), optional
        Standard deviations of the outputs; by default their sizes.

    Returns
    -------
    Identifiability
        Rank, null directions in words, and base parameters.

    Raises
    ------
    UsageError
        As of `sensitivity`; if an output is not unique.
    """
    problem = Problem(build, p, outputs, run, arguments if t is None else need_times(arguments, run, t))
    over = problem.over_time(problem.p.values_array)
    if not np.isfinite(over.jacobian).all():
        raise UsageError("an output is not unique: it depends on how redundant rows share their load, and tells nothing.")
    size = np.abs(over.values).max(axis=0) if sigma is None else np.broadcast_to(np.asarray(sigma, float), over.values.shape[1:])
    J = over.jacobian / np.where(size > 0.0, size, 1.0)[None, :, None] * problem.p.sizes
    rank = RankOf.of(J.reshape(-1, len(problem.p)), problem.p.names)
    return Identifiability(problem.p.names, rank.rank, rank.null_directions, rank.singular_values, rank)
