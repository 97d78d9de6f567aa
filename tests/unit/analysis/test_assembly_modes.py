"""Both ways to assemble a mechanism, against their closed forms."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, slider_crank
from haugmbd.simulation.stepping.progress import Progress
from tests.support.faulty_mechanisms import bar_loop, planar_loop
from tests.support.redundant_loops import bennett

modes_module = importlib.import_module("haugmbd.analysis.assembly.assembly_modes")


def mirrored(point, one, other):
    """The image of a point in the line through two others (in a plane)."""
    along = (other - one) / np.linalg.norm(other - one)
    d = point - one
    return one + 2.0 * (d @ along) * along - d


@pytest.mark.slow
def test_elbow_up_and_elbow_down_of_a_four_bar():
    """With the crank held, the pin between coupler and rocker is on either side of the line from B to D."""
    found = mbd.assembly_modes(four_bar())
    assert [branch.held for branch in found] == [("A",)] * 2
    up, down = (branch.state for branch in found)
    np.testing.assert_allclose(down.r[1], up.r[1], rtol=0.0, atol=1e-10)
    B, C, D = np.array([0.0, 0.0, 1.0]), np.array([3.0, 0.0, 2.0]), np.array([4.0, 0.0, 0.0])
    image = mirrored(C, B, D)
    np.testing.assert_allclose(down.r[2], (B + image) / 2.0, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(down.r[3], (D + image) / 2.0, rtol=0.0, atol=1e-10)
    mass = four_bar().compile().mass
    np.testing.assert_allclose(found[1].distance, np.sqrt(mass @ np.sum((down.r - up.r) ** 2, axis=1) / mass.sum()), rtol=1e-12)
    assert found[0].distance == 0.0
    assert min(branch.found for branch in found) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("make", [planar_loop, lambda: mbd.assemble(bar_loop((1.0, 2.0, 2.5), (3.0, 0.0))).model])
def test_redundant_four_bars_have_two(make):
    found = mbd.assembly_modes(make(), starts=20)
    assert len(found) == 2
    for branch in found:
        assert np.abs(mbd.evaluate(branch.model, branch.state).Phi).max() <= 1e-12


@pytest.mark.slow
def test_the_slider_is_on_either_side_of_the_crank():
    """x = +- sqrt(l^2 - |B|^2) = +- 0.2: and the rod either way round about itself, which its universal joint allows."""
    found = mbd.assembly_modes(slider_crank(), starts=60)
    x = sorted(round(float(branch.state.r[3, 0]), 9) for branch in found)
    assert set(x) == {-0.2, 0.2}
    assert len(found) == 4


@pytest.mark.slow
def test_bennett_has_one():
    assert len(mbd.assembly_modes(bennett(), starts=12)) == 1


@pytest.mark.slow
def test_what_cannot_be_assembled_has_none():
    with pytest.raises(mbd.AssemblyError):
        mbd.assembly_modes(bar_loop((1.0, 1.0, 1.0), (4.0, 0.0)))


def test_after_ctrl_c_the_modes_so_far_are_kept(monkeypatch):
    calls, shown, close_positions = [], [], modes_module.close_positions

    def struck(*given):
        calls.append(0)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return close_positions(*given)

    system = four_bar()
    whole = mbd.assembly_modes(system, starts=10)
    monkeypatch.setattr(modes_module, "close_positions", struck)
    reach = Progress.reach
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._stop)) or reach(self, now))
    with pytest.raises(KeyboardInterrupt, match="assembly_modes was interrupted by Ctrl-C after .* starts that closed") as caught:
        mbd.assembly_modes(system, starts=20, progress=True)
    assert shown[-1] == (10, 20)
    assert [mode.distance for mode in caught.value.result] == [mode.distance for mode in whole]
