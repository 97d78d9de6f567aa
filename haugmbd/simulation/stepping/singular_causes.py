"""Whether a run with fixed steps has failed at a singular position: it is followed with error control, from a state some steps before.

A fixed step that ends at a dead centre, or behind it, only shows what the step does there: a state that is not finite, a projection that
fails, a body that turns too far. Steps with error control come as near to the position as rounding allows, and name it by its rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.errors import error_text
from haugmbd.formulations.error_messages import names_singular_position
from haugmbd.integrators.explicit.dormand_prince import DormandPrince
from haugmbd.integrators.singularities.singularity_crossing import batches_across
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.model.model import Model
from haugmbd.simulation.stepping.unresolved_steps import first_sentence

BEFORE, BEHIND = (3, 12), 3.0
"""Steps before the failure from whose state the motion is followed, those of the second attempt where the last ones are astray; and steps
behind it up to which it is."""
RTOL = 1e-7
"""Of the steps with error control: well below the distance of the last state from the manifold."""
MOST = 3000
"""Steps with error control; a motion that takes more is not followed to its end."""


def singular_cause(problem: Problem, method: Any, t: Array, y: Array, t_failed: float) -> Exception | None:
    """Return the error that names the singular position at which a run has failed; None if it has come to none.

    t (nt,), y (nt, ny): the states that are stored
    """
    space = problem.state_space
    if method.step is None or not isinstance(space, MaximalStateSpace) or space.model.has_contacts or space.model.has_stops:
        return None
    for before in BEFORE:
        k = max(int(np.searchsorted(t, t_failed - before * method.step)) - 1, 0)
        error = _followed(space.model, float(t[k]), y[k].copy(), t_failed + BEHIND * method.step)
        if error is not None and names_singular_position(error):
            return error
        if k == 0:
            break
    return None


def singular_text(cause: Exception, words: str) -> str:
    """Return the text of a run that has failed at a singular position.  words: of the error to which the steps have led"""
    return f"{error_text(cause)} The fixed steps of the run end beyond it: {first_sentence(words)}."


def _followed(model: Model, t: float, y: Array, t_end: float) -> Exception | None:
    """Return the error of a motion with error control from a state to t_end, in a workspace of its own; None if there is none."""
    rule = Projection()
    space, pack = MaximalStateSpace(model), rule.fitted(model, model.pack())
    beside = rule.problem(space, pack, t, y)
    k1, steps = np.zeros_like(y), 0
    try:
        beside.post_step(pack, beside.options, t, beside.y, k1)
        for batch in batches_across(DormandPrince(rtol=RTOL), beside, k1, t_end):
            steps += len(batch.t)
            if batch.code != OK:
                failed: Any = space.error(pack, batch.code, batch.t_stop)
                return failed  # type: ignore[no-any-return]
            if steps > MOST:
                return None
    except Exception as error:  # noqa: BLE001  of the user's functions, or of the search itself: the first error stays
        return error
    return None
