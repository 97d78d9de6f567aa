"""The four-bar of Kamino keeps its joints and its energy through four singular configurations."""

from __future__ import annotations

import pytest

import haugmbd as mbd
from tests.benchmarks import kamino


@pytest.mark.slow
def test_gap_and_energy_are_within_their_bars():
    found = kamino.measured()
    assert found["gap"] < kamino.ENOUGH_GAP
    assert found["energy"] < kamino.ENOUGH_ENERGY


@pytest.mark.slow
def test_the_mechanism_is_over_constrained_and_has_one_freedom():
    found = mbd.mobility(kamino.four_bar())
    assert (found.degrees_of_freedom, found.rows - found.rank) == (1, 3)
