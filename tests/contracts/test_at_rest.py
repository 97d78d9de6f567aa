"""Where nothing moves."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ


@pytest.mark.slow
def test_an_augmented_lagrangian_where_nothing_moves():
    """Hanging in equilibrium the accelerations are the rounding of what gravity would do: the iteration ends at that."""
    system = mbd.System("hanging", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.2, 0.2, 0.02), r=(0.0, 0.0, -0.5)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model = system.compile()
    found = mbd.accelerations(model, formulation=mbd.AugmentedLagrangian())
    assert np.abs(found.v_dot).max() <= 1e-9
    result = mbd.simulate(model, 0.03, h=1e-2, formulation=mbd.AugmentedLagrangian())
    np.testing.assert_allclose(result["bar"].r[-1], (0, 0, -0.5), atol=1e-12)
