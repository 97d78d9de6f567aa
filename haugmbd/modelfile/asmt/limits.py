r"""Limits of joints: of the angle from x_i to x_j about z_i, or of the displacement along it, as the motions of a file count them.

RotationLimit, TranslationLimit       =< upper,   => lower;    a formula without time
"""

from __future__ import annotations

import numpy as np

from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT, coordinates_of
from haugmbd.constraints.joint import Joint
from haugmbd.drivers.expression_grammar import parse as parse_formula
from haugmbd.drivers.expression_grammar import variables
from haugmbd.errors import UsageError
from haugmbd.modelfile.asmt.assembly import AsmtLimit, Assembly
from haugmbd.modelfile.asmt.formulas import expression_of
from haugmbd.modelfile.imports import Limit

KINDS = {"RotationLimit": ANGLE, "TranslationLimit": DISPLACEMENT}
SIDES = {"=<": 1, "<=": 1, "=>": 0, ">=": 0}
"""The number of the side in (lower, upper)."""


def limits_of(made: Assembly, joints: list[Joint]) -> tuple[list[Limit], list[str]]:
    """Return the limits of joints, both sides together, and those that cannot be read, as texts."""
    known = {joint.name: joint for joint in joints}
    found: dict[tuple[str, str], list[float]] = {}
    ignored = []
    for limit in made.limits:
        try:
            what, joint = KINDS[limit.type], known[limit.joint]
            side, bound = SIDES[limit.side], _bound(limit, 1.0 if what == ANGLE else made.length)
            if len(coordinates_of(joint)[what]) != 1:
                raise KeyError(what)
        except (KeyError, UsageError):
            ignored.append(str(limit))
            continue
        ends = found.setdefault((joint.name, what), [-np.inf, np.inf])
        ends[side] = (min if side else max)(ends[side], bound)
    limits = []
    for (name, what), (lower, upper) in found.items():
        coordinate = known[name].coordinate(what)
        limits.append(Limit(name, coordinate, 1.0, lower, upper, coordinate.modelled(), 0.0))
    return limits, ignored


def _bound(limit: AsmtLimit, factor: float) -> float:
    """Return the number of a formula. Raise UsageError for one that is not understood, or that changes with time."""
    formula = expression_of(limit.formula, factor)
    if variables(parse_formula(formula.text)):
        raise UsageError(f"{limit} changes with time.")
    return float(np.ravel(formula.values(0.0))[0])
