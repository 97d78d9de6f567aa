"""Random bodies, frames and spatial vectors, the same in every run."""

from __future__ import annotations

import pytest

from tests.support.spatial_samples import Body, Motion, rotation


@pytest.fixture
def body(rng):
    return Body(rng)


@pytest.fixture
def motion(rng):
    return Motion(rng)


@pytest.fixture
def R(rng):
    return rotation(rng)


@pytest.fixture
def r(rng):
    return rng.normal(size=3)


@pytest.fixture
def twist(rng):
    return rng.normal(size=6)


@pytest.fixture
def wrench(rng):
    return rng.normal(size=6)
