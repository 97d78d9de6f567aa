r"""Semi-implicit (symplectic) Euler: velocities first, then positions with the new velocities.

    u_1 = u + h u'(q, u)        q_1 = q o exp(h u_1)       r + h v_1,  p exp(h omega_bar_1)         y <- post_step(q_1, u_1)

Order one like Euler's method, at the same cost, but a symplectic map where forces are conservative and there are no constraints: its
energy error then stays bounded, where Euler's grows.  Integrated angles of springs, which only count turns, go by Euler's method.
Source: Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. I.1.2 and VI.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.lie import turn
from haugmbd.integrators.explicit.runge_kutta import Explicit
from haugmbd.integrators.step_context import Problem, check_finite
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace.layout import Pack


@entry
def run(
    post_step: Any,
    P: Pack,
    options: Array,
    slides: Ints,
    spins: Ints,
    t0: float,
    h: float,
    y: Array,
    k1: Array,
    ys: Array,
    ks: Array,
) -> tuple[int, int]:
    """Advance y and k1 in place by as many steps as `ys` (n, ny) has rows; fill ys and ks (states, rates); return code and steps done."""
    for step in range(ys.shape[0]):
        new = ys[step]
        for a in range(y.size):
            new[a] = y[a] + h * k1[a]
        for k in range(slides.shape[0]):
            new[slides[k, 0]] = y[slides[k, 0]] + h * new[slides[k, 1]]
        for k in range(spins.shape[0]):
            p, w = spins[k, 0], spins[k, 1]
            for a in range(4):
                new[p + a] = y[p + a]
            turn(new, p, h * new[w], h * new[w + 1], h * new[w + 2])
        code = check_finite(P, new)
        if code == OK:
            code = post_step(P, options, t0 + (step + 1) * h, new, k1)
        if code != OK:
            return code, step
        copy_line(new, y)
        copy_line(k1, ks[step])
    return OK, ys.shape[0]


@public_class
@dataclass(frozen=True)
class SemiImplicitEuler(Explicit):
    """One evaluation a step, order one, fixed step `h` [s], the last step shortened to end at t_end.  h_first: another first step [s]."""

    reference = "Hairer, Lubich and Wanner, Geometric Numerical Integration, sec. VI.3"
    order = 1

    def steps(self, problem: Problem, t: float, h: float, k1: Array, ys: Array, ks: Array) -> tuple[int, int]:
        slides, spins = problem.subject.places()
        work = (slides, spins, t, h, problem.y, k1, ys, ks)
        found: tuple[int, int] = run(problem.post_step, problem.pack, problem.options, *work)
        return found
