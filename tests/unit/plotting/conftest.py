"""One driven run, and figures that are closed again."""

from __future__ import annotations

import pytest

import haugmbd as mbd
from haugmbd.gallery.spatial_linkages import slider_crank


@pytest.fixture(scope="session")
def driven():
    """A run of the driven slider-crank, 1001 states."""
    return mbd.simulate(slider_crank(driven=True), 1.0, h=1e-3)


@pytest.fixture(autouse=True)
def _close_figures():
    """Let each test begin and end without figures: those of tests of other folders, too, are pyplot's."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    yield
    plt.close("all")
