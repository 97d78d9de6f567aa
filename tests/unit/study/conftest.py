"""The table of one sweep in this process."""

from __future__ import annotations

import pytest

import haugmbd as mbd
from tests.support.sweep_cells import GRID, build, run


@pytest.fixture(scope="session")
def table() -> mbd.Sweep:
    """The table of all cells of GRID."""
    return mbd.sweep(build, GRID, run, "serial")
