r"""The start of a driven motion in the metric of the geometry, see `formulations.determined_motion`: masses do not decide what is near."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.formulations.determined_motion import geometric_metric
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import put_row_scale


def with_geometric_inertia(model: Model, state: State) -> Model:
    """Return the model with W in place of its inertia, by the arms at a state: what is near then does not depend on masses."""
    W, _ = geometric_metric(model, evaluate(model, state))
    return _with_inertia(model, W, W)


def with_inertia_of(model: Model, own: Model) -> Model:
    """Return the model with the inertia of `own`, of which it is the same model at another pose, or with other rows left out."""
    return _with_inertia(model, own.tables["INERTIA"], own.tables["SHIFTED"])


def _with_inertia(model: Model, true: Array, shifted: Array) -> Model:
    """Return the model with other inertias (nb + 1, 10)."""
    tables = copy(model.tables)
    tables.reals = model.tables.reals.copy()
    for name, inertia in (("INERTIA", true), ("SHIFTED", shifted)):
        start = tables.place(name)[0]
        tables.reals[start : start + inertia.size] = inertia.ravel()
    start, n = tables.place("SCALE")[0], model.nb + 1
    tables.reals[start : start + 6 * n] = np.hstack([np.repeat(shifted[:, :1], 3, axis=1), shifted[:, [1, 5, 9]]]).ravel()
    other = replace(model, tables=tables)
    put_row_scale(other, evaluate(other))
    return other
