r"""Moreau-Jean: time stepping for contacts with dry friction, without events.  Between contacts it is an explicit midpoint rule.

    q_m = q_k o exp(h/2 u_k)                     r + h/2 v,  p exp(h/2 omega_bar)
    u_f = u_k + h u'(t + h/2, q_m, u_k + h/2 u'_k)
    u_(k+1) = u_f + K^-1 C^T f                   f: impulses of contacts at q_m, one cone problem    `simulation.hybrid.time_stepping`
    q_(k+1) = q_m o exp(h/2 u_(k+1))             then rows, and gaps of contacts that press, are projected

Order two where nothing switches, one at impacts and switches.  `steps` below are those without contacts; a run with contacts adds f.
Sources: Moreau (1988); Jean, The non-smooth contact dynamics method (1999); Acary, Brogliato (2008), ch. 10.
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
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, end_step, ends_batch, start_of


@released
def run_entry(
    dynamics: Dynamics,
    options: Options,
    places: Places,
    t0: float,
    h: float,
    point: Point,
    middle: Array,
    rates: Array,
    steps: Steps,
) -> tuple[int, int]:
    """Advance the point by steps of h to the times in `steps`, or until a watch ends them;  middle, rates: (ny,) work arrays.

    Return the code and the number of steps done.
    """
    (slides, spins), y = places, point.y
    for step in range(steps.y.shape[0]):
        t, new = start_of(step, t0, steps), steps.y[step]
        # q_m = q_k o exp(h/2 u_k);  velocities, angles and states of blocks by half an Euler step
        for a in range(y.size):
            middle[a] = y[a] + 0.5 * h * point.y_dot[a]
        for k in range(slides.shape[0]):
            middle[slides[k, 0]] = y[slides[k, 0]] + 0.5 * h * y[slides[k, 1]]
        for k in range(spins.shape[0]):
            p, w = spins[k, 0], spins[k, 1]
            for a in range(4):
                middle[p + a] = y[p + a]
            turn(middle, p, 0.5 * h * y[w], 0.5 * h * y[w + 1], 0.5 * h * y[w + 2])
        code = dynamics.rates(dynamics.pack, options, t + 0.5 * h, middle, rates)
        if code != OK:
            return code, step
        # u_(k+1) = u_k + h u';  q_(k+1) = q_m o exp(h/2 u_(k+1))
        for a in range(y.size):
            new[a] = y[a] + h * rates[a]
        for k in range(slides.shape[0]):
            new[slides[k, 0]] = middle[slides[k, 0]] + 0.5 * h * new[slides[k, 1]]
        for k in range(spins.shape[0]):
            p, w = spins[k, 0], spins[k, 1]
            for a in range(4):
                new[p + a] = middle[p + a]
            turn(new, p, 0.5 * h * new[w], 0.5 * h * new[w + 1], 0.5 * h * new[w + 2])
        code = end_step(dynamics, options, steps.t[step], new, point, steps.y_dot[step])
        if code != OK:
            return code, step
        if ends_batch(dynamics, steps.t[step], h, point):
            return OK, step + 1
    return OK, steps.y.shape[0]


run = DirectCall(run_entry)


@public_class
@dataclass(frozen=True)
class MoreauJean(Explicit):
    """Moreau-Jean time stepping: fixed steps without events, for many contacts with dry friction.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Each step solves one cone problem for the impulses of all contacts that touch in its middle, and those that pressed before.  Joints, and
    the gaps of contacts that press, are projected: bodies at rest do not creep, and stacks do not sink.  Order two where nothing switches,
    one at impacts, stick and slip: halve h, and the error halves.
    Sources: Moreau 1988; Jean 1999; Acary and Brogliato 2008, ch. 10.
    """

    reference = "Moreau 1988; Jean 1999; Acary and Brogliato 2008, Numerical Methods for Nonsmooth Dynamical Systems, ch. 10"
    order = 2

    def steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[int, int]:
        places, point, (middle, rates) = problem.state_space.places(), Point(problem.y, k1), problem.stages(2)
        found: tuple[int, int] = run(problem.dynamics, problem.options, places, t, h, point, middle, rates, steps)
        return found
