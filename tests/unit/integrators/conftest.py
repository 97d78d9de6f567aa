"""Three mechanisms for the integrators: a chain in a plane, a fast rotation in space, a closed loop."""

from __future__ import annotations

import pytest

from tests.support.integrator_cases import CASES, Case


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each of the mechanisms."""
    return CASES[request.param]
