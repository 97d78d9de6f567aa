"""The one expensive computation of the contracts, made once: all derivatives of all samples at random states; two bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from haugmbd import Model
from tests.support.differences import worst_errors
from tests.support.samples import SEED, everything, random_body
from tests.support.seeds import seeds

N_STATES = len(seeds(50))


class Report(NamedTuple):
    """Rows of each sample, and the largest relative error of each row."""

    model: Model
    rows: dict
    errors: dict


@pytest.fixture(scope="session")
def report():
    model, rows = everything()
    return Report(model, rows, worst_errors(model, N_STATES, np.random.default_rng(SEED)))


@pytest.fixture
def crank(rng):
    return random_body("crank", rng)


@pytest.fixture
def rod(rng):
    return random_body("rod", rng)
