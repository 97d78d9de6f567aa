"""The arctangent without a call against that of the C library."""

from __future__ import annotations

from math import atan2, nan, pi

import numpy as np
import pytest

from haugmbd.math.arctangent import TAN_PI_8, arctan2

ROUNDING = 4.5e-16
"""Relative: two units of rounding, one of the quotient and one of the sum."""


def points(n: int = 20_000) -> np.ndarray:
    """Random points of all sizes and directions, and those next to where the formula changes."""
    rng = np.random.default_rng(7)
    anywhere = rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-8.0, 8.0, size=(n, 2))
    edges = np.array([0.0, np.arctan(TAN_PI_8), 0.25 * pi, 0.375 * pi, 0.5 * pi])
    angles = (np.concatenate([edges, -edges, pi - edges])[:, None] + np.linspace(-1e-12, 1e-12, 41)).ravel()
    return np.concatenate([anywhere, np.column_stack([np.cos(angles), np.sin(angles)])])


@pytest.mark.slow
def test_it_is_that_of_the_library_to_rounding():
    for x, y in points():
        reference = atan2(y, x)
        assert abs(arctan2(y, x) - reference) <= ROUNDING * abs(reference), (x, y)


@pytest.mark.parametrize(("y", "x"), [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (-1e-300, 1.0), (1.0, 1.0), (-3.0, -3.0)])
def test_axes_and_diagonals(y, x):
    assert arctan2(y, x) == pytest.approx(atan2(y, x), rel=ROUNDING, abs=0.0)


@pytest.mark.parametrize(("y", "x"), [(nan, 1.0), (1.0, nan), (nan, nan), (0.0, 0.0)])
def test_what_is_no_direction_has_no_angle(y, x):
    assert np.isnan(arctan2(y, x))
