"""Every mechanism of the gallery: degrees of freedom, a run that keeps joints and energy, and wrong arguments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.gallery import GALLERY

MOBILITY = {
    "pendulum": 1,
    "double_pendulum": 2,
    "heavy_top": 3,
    "four_bar": 1,
    "slider_crank": 1,
    "chain": 10,
    "andrews": 1,
    "governor": 4,
    "dzhanibekov": 6,
    "gyroscope": 3,
    "planar_slider_crank": 1,
    "windows": 1,
    "bennett": 1,
    "bricard": 1,
    "bricard_cube": 1,
    "peaucellier": 1,
    "jansen_leg": 1,
    "scissor_lift": 1,
    "hoberman_ring": 1,
    "universal_shaft": 1,
    "indexing_cam": 1,
    "planetary_gear": 1,
    "differential": 2,
    "piston_engine": 1,
    "double_wishbone": 2,
    "stewart_platform": 6,
    "delta_robot": 3,
    "excavator": 3,
    "rolling_disc": 3,
    "bouncing_toy": 2,
    "trebuchet": 3,
    "net": 104,
    "rattleback": 6,
    "tippe_top": 6,
    "woodpecker": 3,
    "incline_block": 6,
    "stack": 60,
    "tumbling_box": 6,
    "gripper": 8,
    "jumping_follower": 1,
    "rimless_wheel": 3,
    "dominoes": 48,
    "ratchet": 2,
    "geneva_drive": 1,
}
DISSIPATIVE = (
    "governor",
    "double_wishbone",
    "stewart_platform",
    "tippe_top",
    "woodpecker",
    "tumbling_box",
    "rimless_wheel",
    "dominoes",
)
"""Mechanisms with dampers, dry friction or impacts."""
DRIVEN = ("andrews", "gripper", "jumping_follower", "ratchet", "geneva_drive")
"""Mechanisms with a motor."""
T_END = {"andrews": 0.02, "governor": 0.1}
"""[s] By default 0.2."""
ENERGY = 1e-7
"""Change of energy relative to the largest kinetic or potential energy; a run with rtol = 1e-8 shows 2e-8 at most."""

WORK = 1e-6
"""The same where the work of a force of Python is summed over the stored steps."""
PYTHON = ("piston_engine",)
OWN_ENERGY = ("bouncing_toy",)
"""Its floor stores energy between two stored steps; a test of its own counts it."""


def test_the_gallery_has_24_mechanisms_and_every_one_is_listed():
    assert len(GALLERY) >= 24
    assert set(MOBILITY) == {make.__name__ for make in GALLERY} <= set(gallery.__all__)
    assert list(gallery.SHOWN) == [make.__name__ for make in GALLERY]


@pytest.mark.slow
@pytest.mark.parametrize("make", GALLERY, ids=lambda make: make.__name__)
def test_it_has_its_degrees_of_freedom_and_runs(make):
    name, system = make.__name__, make()
    report = mbd.mobility(system)
    assert report.degrees_of_freedom == MOBILITY[name]
    assert report.ok
    model = system.compile()
    assert abs(mbd.evaluate(model).Phi).max(initial=0.0) <= 1e-14
    assert f"Degrees of freedom: {MOBILITY[name]}" in make.__doc__ or name in ("chain", "net")
    result = mbd.simulate(model, T_END.get(name, 0.2), rtol=1e-8)
    assert result.success
    assert abs(result.violation("position")).max(initial=0.0) <= 1e-9 * max(1.0, model.length)
    energy = result.energy()
    scale = max(np.ptp(energy.kinetic), energy.kinetic.max(), np.ptp(energy.potential))
    change = np.diff(energy.total)
    if name in DISSIPATIVE:
        assert change.max() <= ENERGY * scale
    elif name not in (*DRIVEN, *OWN_ENERGY):
        assert np.ptp(energy.total) <= (WORK if name in PYTHON else ENERGY) * scale


def test_the_page_lists_every_mechanism_with_its_degrees_of_freedom():
    page = (Path(__file__).parents[3] / "docs" / "gallery.md").read_text()
    for name, freedoms in MOBILITY.items():
        assert f"| `{name}` | {freedoms} |" in page


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (gallery.windows, {"n": 0}),
        (gallery.windows, {"n": 1.5}),
        (gallery.scissor_lift, {"stages": True}),
        (gallery.scissor_lift, {"angle": 2.0}),
        (gallery.hoberman_ring, {"n": 10}),
        (gallery.hoberman_ring, {"opening": 1.0}),
        (gallery.net, {"n": 1}),
        (gallery.planetary_gear, {"planets": 0}),
        (gallery.rolling_disc, {"lean": 0.0}),
        (gallery.incline_block, {"share": 0.0}),
        (gallery.stack, {"n": 0}),
        (gallery.gripper, {"share": -1.0}),
    ],
)
def test_wrong_arguments_are_refused_with_the_number(make, wrong):
    with pytest.raises(mbd.UsageError, match=str(next(iter(wrong.values())))):
        make(**wrong)
