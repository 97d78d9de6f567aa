r"""Internal states of force elements and blocks: the last numbers of y, integrated with the bodies.

    x' = f(t, q, u, x)           F[place] = (x', past, c),  one line of the driver table for each state

    explicit    c = 0            x is given; whoever evaluates f writes x'
    implicit    x = past + c x'  whoever evaluates f solves for x first, at the q and u that it is given, and writes x to y and x' to F

The equation of an implicit step is linear in x' for every method: the trapezoidal rule, the formula of BDF, a stage of Radau IIA. With x
eliminated in this way the forces are functions of q and u, so that Newton's iteration of the bodies, and its differences, contain the
feedback through x.
Source: Hairer, Wanner, Solving ODE II, sec. IV.8 (elimination of components in the stages of an implicit method).
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.errors import UsageError
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

RATE, PAST, STEP = 0, 1, 2
"""Columns of the line of a state: x', past and c."""


@kernel
def put_state_rates(P: Pack, F: Array, rates: Array) -> None:
    """Write x' of the internal states, as they were evaluated last, to the end of `rates` (na,)."""
    n, place = ws.n_states(P), ws.first_state(P)
    for k in range(n):
        rates[rates.size - n + k] = F[place + k, RATE]


@kernel
def give_states(P: Pack) -> None:
    """Take x as it is in y from now on, as explicit evaluations do."""
    F, place = ws.driver_values(P), ws.first_state(P)
    for k in range(ws.n_states(P)):
        F[place + k, STEP] = 0.0


@kernel
def put_state_trapezoids(P: Pack, h: float, y: Array, rates: Array) -> None:
    """Let x be solved for by the trapezoidal rule from now on: past = x_n + h x'_n / 2, c = h / 2;  rates: (na,) at y."""
    n, F, place = ws.n_states(P), ws.driver_values(P), ws.first_state(P)
    for k in range(n):
        F[place + k, PAST] = y[y.size - n + k] + 0.5 * h * rates[rates.size - n + k]
        F[place + k, STEP] = 0.5 * h


def refuse_internal_states(model: Any, what: str) -> None:
    """Raise UsageError, with the elements, if a model has internal states: `what` does not solve for them."""
    names = [entry.load.where for entry in model.loads if entry.load.states()]
    names += [] if model.network is None else [block.where for block in model.network.blocks if block.states]
    if model.n_states:
        who = ", ".join(names) or "an angle that a block reads"
        raise UsageError(
            f"{what} does not solve for internal states, and this model has those of {who}. Leave them out, or simulate."
        )
