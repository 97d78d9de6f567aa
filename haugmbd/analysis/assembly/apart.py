r"""Bodies that overlap at rigid contacts are moved apart, with the least motion in the metric of the masses, while joints stay closed.

    least  dq^T M dq / 2    with    Phi + Phi_q dq = 0,    gap + C dq = 0

for all points that overlap now, or have overlapped in the search: Newton's steps, until no gap is negative.
"""

from __future__ import annotations

import numpy as np

from haugmbd.errors import ModelError
from haugmbd.impacts.contact_problem import ContactProblem, Key
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import exponential, product
from haugmbd.model.model import Model
from haugmbd.model.state import State

OVERLAP = 1e-12
"""Relative to the size: a smaller overlap is rounding."""
STEPS = 50
"""Newton's steps: three to six are usual, more where other corners come to touch."""


def moved_apart(model: Model, state: State) -> State:
    """Return the nearest pose, in the metric of the masses, in which no bodies overlap at rigid contacts, and joints stay closed.

    Raises ModelError with the contacts whose bodies still overlap after STEPS steps, as a body in a gap that is too narrow for it.
    """
    problem, y = ContactProblem(model, model.contacts), state.y.copy()
    bodies = y[: WIDTH * problem.n].reshape(problem.n, WIDTH)
    pressed: dict[Key, None] = {}
    for _ in range(STEPS):
        keys, _ = problem.near(y, -OVERLAP * model.length)
        if not keys:
            return State.from_y(state.t, y, problem.n)
        pressed |= dict.fromkeys(keys)
        there = set(problem.near(y, np.inf)[0])
        pressed = {key: None for key in pressed if key in there}
        problem.response.factor(state.t, y)
        Phi = problem.response.row_values()[0] * problem.response.kept_rows()
        dq = problem.position_change(state.t, problem.at(y, list(pressed)), list(pressed), Phi)
        bodies[1:, :3] += dq[1:, :3]
        bodies[1:, EULER:VELOCITY] = product(bodies[1:, EULER:VELOCITY], exponential(dq[1:, 3:]))
        bodies[:, EULER:VELOCITY] /= np.linalg.norm(bodies[:, EULER:VELOCITY], axis=1)[:, None]
    raise ModelError(problem.overlap_faults(y, OVERLAP * model.length))
