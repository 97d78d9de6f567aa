"""Three mechanisms for the integrators: a chain in a plane, a fast rotation in space, a closed loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, heavy_top, slider_crank


class Case(NamedTuple):
    """A mechanism, a short interval [s], and numbers of knots between which the order of dense output shows."""

    make: Callable[[], mbd.System]
    t_end: float
    knots: tuple[int, ...]


CASES = {
    "double pendulum": Case(double_pendulum, 1.0, (40, 80, 160)),
    "heavy top": Case(heavy_top, 0.1, (20, 40, 80)),
    "slider-crank": Case(slider_crank, 0.5, (40, 80, 160)),
}
