r"""Dormand-Prince 5(4): seven stages, order five, step size from the embedded order four, first stage same as last.

    y1 = y + h sum b_i k_i          error = h sum e_i k_i,  k_7 = f(t + h, y1)              e = b - b_hat
    |error| = rms( error_a / (atol + rtol max(|y_a|, |y1_a|)) ) <= 1                h <- h min(5, max(0.2, 0.9 |error|^(-1/5)))

Source: Dormand, Prince, J. Comp. Appl. Math. 6 (1980) 19-26; Hairer, Norsett, Wanner, Solving ODE I, sec. II.4 and table II.5.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from haugmbd.algebra.jit import entry
from haugmbd.algebra.vec3 import Array
from haugmbd.integrators.chunk import Chunk, chunk_lengths
from haugmbd.integrators.method import Adaptive
from haugmbd.integrators.stepping import Problem, check_finite
from haugmbd.model.status import NOT_FINITE, OFF_MANIFOLD, OK, SINGULAR, STEP_TOO_SMALL
from haugmbd.model.tables import STATUS, Pack

C = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0])
A = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    ]
)
B = np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
E = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
SMALLEST_STEP = 1e-14
"""Relative to |t| + 1 s: a step below it no longer changes t reliably."""


@entry
def run(
    rates: Any,
    settle: Any,
    P: Pack,
    options: Array,
    control: Array,
    y: Array,
    k1: Array,
    room: Array,
    ts: Array,
    ys: Array,
    ks: Array,
) -> tuple[int, int]:
    """Advance to control[1] or until `ys` (n, ny) is full; return code and steps done.

    control: t, t_end, h, rtol, atol, h_max, rejected.  y and k1 are advanced in place; room: (7, ny).
    """
    t, t_end, h, rtol, atol = control[0], control[1], control[2], control[3], control[4]
    ny, done = y.size, 0
    stage = room[6]
    while done < ys.shape[0] and t < t_end:
        h = min(h, control[5])
        last = t + h >= t_end * (1.0 - 1e-15) or t + 1.0001 * h >= t_end
        step = t_end - t if last else h
        code = OK
        for i in range(1, 6):
            for a in range(ny):
                total = A[i, 0] * k1[a]
                for j in range(1, i):
                    total += A[i, j] * room[j, a]
                stage[a] = y[a] + step * total
            code = rates(P, options, t + C[i] * step, stage, room[i])
            if code != OK:
                break
        if code == OK:
            for a in range(ny):
                total = B[0] * k1[a]
                for j in range(2, 6):
                    total += B[j] * room[j, a]
                stage[a] = y[a] + step * total
            code = check_finite(P, stage)
        if code == OK:
            code = settle(P, options, t + step, stage, room[0])
        error = 1e10
        if code == OK:
            error = 0.0
            for a in range(ny):
                total = E[0] * k1[a] + E[6] * room[0, a]
                for j in range(2, 6):
                    total += E[j] * room[j, a]
                scaled = step * total / (atol + rtol * max(abs(y[a]), abs(stage[a])))
                error += scaled * scaled
            error = sqrt(error / ny)
        elif code != NOT_FINITE and code != OFF_MANIFOLD and code != SINGULAR:  # those a shorter step may avoid
            control[0], control[2] = t, h
            return code, done
        if error <= 1.0:
            t = t_end if last else t + step
            for a in range(ny):
                y[a] = stage[a]
                k1[a] = room[0, a]
                ys[done, a] = y[a]
                ks[done, a] = k1[a]
            ts[done] = t
            done += 1
        else:
            control[6] += 1.0
        factor = SAFETY * error ** (-0.2) if error > 0.0 else GROW
        if error > 1.0 or not last:
            h = step * min(GROW, max(SHRINK, factor))
        if not h > SMALLEST_STEP * (abs(t) + 1.0):
            control[0], control[2] = t, h
            if code == OK:
                code = STEP_TOO_SMALL
                P.work[P.ints[3 * STATUS] + 2] = h
            return code, done
    control[0], control[2] = t, h
    return OK, done


@dataclass(frozen=True)
class DormandPrince(Adaptive):
    """Adaptive, order five.  rtol, atol: error a step relative and absolute;  h_first, h_max: [s], by default chosen and unlimited."""

    reference: ClassVar[str] = (
        "Dormand and Prince 1980, J. Comp. Appl. Math. 6, 19-26; Hairer, Norsett and Wanner, Solving ODE I, sec. II.4"
    )

    def chunks(self, problem: Problem, k1: Array, t_end: float) -> Iterator[Chunk]:
        """Advance to `t_end`, a chunk of steps at a time."""
        ny = problem.y.size
        h = self.h_first or self._first_step(problem.y, k1, t_end - problem.t)
        control = np.array([problem.t, t_end, h, self.rtol, self.atol, min(self.h_max, t_end - problem.t), 0.0])
        room, lengths = np.zeros((7, ny)), chunk_lengths(ny, problem.first_chunk)
        while control[0] < t_end:
            most = next(lengths)
            ts, ys, ks = np.empty(most), np.empty((most, ny)), np.empty((most, ny))
            control[6] = 0.0
            code, done = run(problem.rates, problem.settle, problem.pack, problem.options, control, problem.y, k1, room, ts, ys, ks)
            yield Chunk(ts[:done], ys[:done], ks[:done], code, control[0], done, int(control[6]))
            if code != OK:
                return

    def _first_step(self, y: Array, k1: Array, span: float) -> float:
        """A hundredth of the time in which y changes by its own size, measured in the tolerances (Hairer, sec. II.4)."""
        scale = self.atol + self.rtol * np.abs(y)
        d0, d1 = np.sqrt(np.mean((y / scale) ** 2)), np.sqrt(np.mean((k1 / scale) ** 2))
        return float(min(span, 0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6))
