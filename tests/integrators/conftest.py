"""Three mechanisms for the integrators: a chain in a plane, a fast rotation in space, a closed loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, heavy_top, slider_crank


class Case(NamedTuple):
    """A mechanism, a short interval [s], and where each order shows: interval [s] and numbers of steps (multiples of 20).

    The steps lie between truncation errors of higher order (too few) and rounding (too many).
    """

    make: Callable[[], mbd.System]
    t_end: float
    rk4: tuple[float, tuple[int, ...]]
    dormand_prince: tuple[float, tuple[int, ...]]
    knots: tuple[int, ...]


CASES = {
    "double pendulum": Case(double_pendulum, 1.0, (3.0, (480, 960, 1920)), (10.0, (2000, 4000)), (40, 80, 160)),
    "heavy top": Case(heavy_top, 0.1, (0.1, (80, 160, 320)), (1.0, (1600, 3200)), (20, 40, 80)),
    "slider-crank": Case(slider_crank, 0.5, (0.5, (160, 320, 640)), (1.0, (320, 640, 1280)), (40, 80, 160)),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each of the mechanisms."""
    return CASES[request.param]
