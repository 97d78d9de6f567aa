"""Mechanisms that are struck."""

from __future__ import annotations

import pytest

from tests.support.random_trees import random_tree


@pytest.fixture
def tree(rng):
    """One random tree of six bodies."""
    return random_tree(rng, 6)
