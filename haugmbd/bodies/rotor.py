r"""The rotor of a motor as a body: the inertia about its axis, and nothing else that could be felt.

The mass of a rotor and its inertia across the axis belong to the body that carries it. A body needs some of both: they are so small that
they change accelerations by less than rounding does, and large enough for the factorization.
Source: Featherstone (2008), sec. 9.6: gears; the exact model in place of the reflected inertia.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import frozen

NEGLIGIBLE_MASS = 1e-13
"""Mass of a rotor, in units of a mass beside it: accelerations change by this part."""
NEGLIGIBLE_ACROSS = 1e-10
"""Inertia across the axis, in units of that about it; bodies with less than 1e-11 count as massless in a direction."""


class Rotor(Body):
    """A body that has inertia about its z axis only, up to what is negligible beside `mass_beside`."""

    __slots__ = ()

    def __init__(self, name: str, inertia: float, mass_beside: float, **pose: Any) -> None:
        super().__init__(name, 1.0, (1.0, 1.0, 1.0), shape=(), **pose)
        object.__setattr__(self, "mass", NEGLIGIBLE_MASS * mass_beside)
        across = NEGLIGIBLE_ACROSS * inertia
        object.__setattr__(self, "J_bar", frozen(np.diag((across, across, inertia))))
