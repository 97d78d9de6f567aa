r"""The multipliers that an implicit method solved for, in the rows of the model.

start            the multipliers of the accelerations
dependent rows   the same reactions, shared by the rule of the model: on the kept rows only, or with the least sum of squares
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.formulations.accelerations import solve_states
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.kept_rows import keep_entry
from haugmbd.model.model import Model
from haugmbd.redundancy.minimum_norm import least_multipliers


def multipliers_of_method(model: Model, t: Array, y: Array, found: Array) -> Array:
    """Return the multipliers (nt, nc) at the states y (nt, ny), from those of the method; NaN where there are none.

    The first state gets the multipliers of the accelerations.
    """
    lam = found.copy()
    known = np.asarray(np.isfinite(lam).all(axis=1))
    if model.redundancy.dropped and known.any():
        lam[known] = _shared(model, t[known], y[known], lam[known])
    if len(t) and not known[0]:
        lam[0] = _slots(model, solve_states(model, t[:1], y[:1]))[0, model.slot_of_row]
    return lam


def _slots(model: Model, x: Array) -> Array:
    """Return the multipliers in solutions x (nt, nn, 6) by slots, (nt, 6 ne), as a view."""
    return x.reshape(len(x), -1)[:, 6 * (model.nb + 1) :]


def _shared(model: Model, t: Array, y: Array, lam: Array) -> Array:
    """Return the multipliers of the same reactions, shared between dependent rows by the rule of the model."""
    pack = model.pack()
    x = np.zeros((len(t), model.nb + 1 + len(model.tables["EDGES"]), 6))
    _slots(model, x)[:, model.slot_of_row] = lam
    code = keep_entry(pack, t, y, x.reshape(len(t), -1))
    if code != 0:
        model.raise_user_error(pack)
        raise explain(model, pack, code, float(t[0]))
    return _slots(model, least_multipliers(model, t, y, x))[:, model.slot_of_row]
