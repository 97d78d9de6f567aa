r"""The tables of a model for implicit steps: bodies that a force couples get a block of their own in the augmented matrix.

    M + c_C C + c_K K        C, K: dampings and stiffnesses of the force elements between two bodies

Explicit steps do not need these blocks, and do not pay for them: they are other tables of the same model.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from haugmbd.forces.catalogue import KINDS
from haugmbd.forces.values import TIME
from haugmbd.model.model import Model
from haugmbd.model.tables import WIDTH, Tables
from haugmbd.saddle.schedule import make_schedule

STAGE_COLUMNS = 37
MOST_TIED = 6
"""Bodies of one force of the user that are tied to one another; of larger ones only the bodies' own blocks are differenced."""


def tied_tables(model: Model, curved: bool = False) -> Tables:
    """The model's tables with ties between bodies, the schedule that they need, and room for tangents and stages.

    curved: for the curvature of the constraints, too: all bodies are probed, and tied where they share a joint
    """
    entries = sorted(model.loads, key=lambda entry: KINDS.index(type(entry.load)))
    tie_of: dict[tuple[int, int], int] = {}
    pairs: list[tuple[int, int]] = []
    load_tie = np.full((len(entries), 1), -1, dtype=np.int64)
    for k, entry in enumerate(entries):
        pair = tuple(sorted(entry.bodies))
        if len(pair) == 2 and pair[0] != 0 and pair[0] != pair[1]:
            load_tie[k] = tie_of.setdefault((pair[0], pair[1]), len(tie_of))
    edges = [(int(i), int(j)) for i, j in model.tables["EDGES"]]
    probed = np.zeros((model.nb + 1, 1), dtype=np.int64)
    for entry in entries:
        question = entry.load.question()
        if question is not None and question.form != TIME:
            probed[list(entry.bodies)] = 1
            if len(entry.bodies) <= MOST_TIED:
                pairs += list(combinations(sorted(set(entry.bodies)), 2))
    if curved:
        probed[:] = 1
        pairs += [(min(edge), max(edge)) for edge in edges]
    for i, j in pairs:
        if i != 0 and i != j:
            tie_of.setdefault((i, j), len(tie_of))
    probed[0] = 0
    probed[0] = probed.sum()
    schedule = make_schedule(model.nb, edges, list(tie_of))
    ints = {
        "FLAGS": np.array([[0, model.tables["FLAGS"][0, 1]]]),  # Newton's iteration refines: massless directions need no other
        "ORDER": schedule.order[:, None],
        "NEAR_AT": schedule.near_at[:, None],
        "NEAR": schedule.near,
        "PAIR_AT": schedule.pair_at[:, None],
        "PAIRS": schedule.pairs,
        "BODY_BLOCK": schedule.body_block,
        "BODY_FIRST": schedule.body_first,
        "TIES": np.hstack([np.array(list(tie_of), dtype=np.int64).reshape(-1, 2), schedule.tie_block]),
        "LOAD_TIE": load_tie,
        "PROBED": probed,
    }
    work = {
        "B": (schedule.n_blocks, 36),
        "TANGENT": (model.nb + 1, 36),
        "TIE_TANGENT": (len(tie_of), 36),
        "PROBE": (1, model.y0.size + 12 * (model.nb + 1) if probed[0] else 0),
        "STAGE": (model.nb + 1, STAGE_COLUMNS),
        "ANGLE_RATE": (1, model.y0.size - WIDTH * (model.nb + 1)),
        "LAMBDA": (6 * len(edges), 1),
    }
    return model.tables.changed(ints, work)
