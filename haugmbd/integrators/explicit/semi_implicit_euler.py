r"""Semi-implicit (symplectic) Euler: velocities first, then positions with the new velocities.

    u_1 = u + h u'(q, u)        q_1 = q o exp(h u_1)       r + h v_1,  p exp(h omega_bar_1)         y <- post_step(q_1, u_1)

The order is one, as of Euler's method, at the same cost.  For conservative forces without constraints the step is a symplectic map, and
the energy error stays bounded.  Integrated angles of springs, which only count turns, follow Euler's method.
Source: Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. I.1.2 and VI.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, released
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.lie import turn
from haugmbd.integrators.explicit.runge_kutta import Explicit
from haugmbd.integrators.state_space import Places
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, end_step, ends_batch


@released
def run_entry(dynamics: Dynamics, options: Options, places: Places, h: float, point: Point, steps: Steps) -> tuple[int, int]:
    """Advance the point by steps of h to the times in `steps`, or until a watch ends them.

    Return the code and the number of steps done.
    """
    (slides, spins), y = places, point.y
    for step in range(steps.y.shape[0]):
        new = steps.y[step]
        for a in range(y.size):
            new[a] = y[a] + h * point.y_dot[a]
        for k in range(slides.shape[0]):
            new[slides[k, 0]] = y[slides[k, 0]] + h * new[slides[k, 1]]
        for k in range(spins.shape[0]):
            p, w = spins[k, 0], spins[k, 1]
            for a in range(4):
                new[p + a] = y[p + a]
            turn(new, p, h * new[w], h * new[w + 1], h * new[w + 2])
        code = end_step(dynamics, options, steps.t[step], new, point, steps.y_dot[step])
        if code != OK:
            return code, step
        if ends_batch(dynamics, steps.t[step], h, point):
            return OK, step + 1
    return OK, steps.y.shape[0]


run = DirectCall(run_entry)


@public_class
@dataclass(frozen=True)
class SemiImplicitEuler(Explicit):
    """Semi-implicit (symplectic) Euler: one evaluation per step, order one, fixed step.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Source: Hairer, Lubich and Wanner, Geometric Numerical Integration, sec. VI.3.
    """

    reference = "Hairer, Lubich and Wanner, Geometric Numerical Integration, sec. VI.3"
    order = 1

    def steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[int, int]:
        places, point = problem.state_space.places(), Point(problem.y, k1)
        found: tuple[int, int] = run(problem.dynamics, problem.options, places, h, point, steps)
        return found
