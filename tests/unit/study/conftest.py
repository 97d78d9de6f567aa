"""The table of one sweep in this process; one comparison, and its report."""

from __future__ import annotations

from pathlib import Path

import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar
from tests.support.sweep_cells import GRID, build, run


@pytest.fixture(scope="session")
def table() -> mbd.Sweep:
    """The table of all cells of GRID."""
    return mbd.sweep(build, GRID, run, "serial")


@pytest.fixture(scope="session")
def strange() -> str:
    """The label of a method of the comparison that a page must not take for its own text."""
    return "<script>alert('1')</script> & \"quotes\""


@pytest.fixture(scope="session")
def comparison(strange: str) -> mbd.Comparison:
    """A comparison of methods of a four-bar, of which one is refused."""
    t_end, h = 0.2, 0.02
    rk4 = [mbd.Method(integrator=mbd.RK4(h=each)) for each in (h, h / 2)]
    others = [
        mbd.Method(integrator=mbd.RK4(h=h), stabilization=mbd.Baumgarte(5, 5), label=strange),
        mbd.Method(integrator=mbd.RATTLE(h=h), label="rattle"),
        mbd.Method(integrator=mbd.DOP853(rtol=1e-12, atol=1e-14), label="exact"),
    ]
    outputs = {"x": lambda result: result["rocker"].r[:, 0]}
    return mbd.compare(four_bar(), [*rk4, *others], t_end, outputs=outputs, repeats=1)


@pytest.fixture(scope="session")
def report_page(comparison: mbd.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the comparison, alone in its folder."""
    pytest.importorskip("matplotlib")
    return comparison.report(tmp_path_factory.mktemp("report") / "report.html")
