"""The file that `animate` writes: its size, what it says, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import chain, pendulum
from haugmbd.viewer import animation
from haugmbd.viewer.frames import frames_of
from joints import RJ


@pytest.fixture(scope="module")
def swing():
    return mbd.simulate(pendulum(), 1.0, h=1e-2)


def scene_of(page):
    """The description in a page."""
    return json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.slow
def test_twenty_bodies_and_five_hundred_frames_stay_below_one_megabyte(tmp_path):
    result = mbd.simulate(chain(20), 2.0, h=4e-3)
    assert len(result) == 501
    assert result.animate(tmp_path / "chain.html").stat().st_size <= 1_000_000


@pytest.mark.parametrize("frames", [0, -3, 2.5, "many", True, 10**9])
def test_frames_are_a_whole_number_that_a_page_can_hold(swing, tmp_path, frames):
    with pytest.raises(mbd.UsageError, match=f"frames is {frames!r}"):
        swing.animate(tmp_path / "x.html", frames=frames)


def test_a_folder_that_cannot_be_written_is_named(swing, tmp_path):
    with pytest.raises(mbd.UsageError, match="missing"):
        swing.animate(tmp_path / "missing" / "x.html")


@pytest.mark.parametrize("name", ["x.mp4", "x.gif", "x"])
def test_a_page_is_an_html_file(swing, tmp_path, name):
    with pytest.raises(mbd.UsageError, match=r"does not end with \.html.*film"):
        swing.animate(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_what_is_no_result_is_refused(tmp_path):
    from haugmbd.viewer import animate

    with pytest.raises(mbd.UsageError, match="System is not a result"):
        animate(pendulum(), tmp_path / "x.html")


@pytest.mark.slow
def test_frames_beyond_what_is_needed_are_resampled_and_it_is_said(swing):
    k = np.arange(1_000_000) % 50
    many = replace(swing, t=np.linspace(0.0, 10.0, len(k)), y=np.ascontiguousarray(swing.y[k]))
    scene = scene_of(animation(many))
    assert any("1000000 states" in note for note in scene["notes"])
    assert scene["motion"]["t"]["n"] <= 4000


def test_states_that_are_not_finite_are_left_out_and_it_is_said(swing):
    y = swing.y.copy()
    y[60:, 13:] = np.nan
    with pytest.warns(UserWarning, match="41 of 101 states"):
        scene = scene_of(animation(replace(swing, y=y, interrupted=True)))
    assert scene["motion"]["t"]["n"] == 60
    assert any("interrupted" in note for note in scene["notes"])
    y[:] = np.nan
    with pytest.raises(mbd.UsageError, match="none of them finite"):
        animation(replace(swing, y=y))


def test_names_cannot_leave_their_place_in_the_page():
    system = mbd.System("</script><b>bold</b>")
    system.add(mbd.Body("<i>&", 1.0, (1.0, 1.0, 1.0)))
    page = animation(mbd.simulate(system, 0.1, h=0.05))
    assert "</script><b>" not in page
    assert scene_of(page)["bodies"][1]["name"] == "<i>&"


def test_reactions_that_are_not_unique_are_marked():
    points = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.5), (1.0, 0.0, 0.5), (1.0, 0.0, 0.0)]
    system = mbd.System("four hinges", gravity=(0.0, 0.0, -9.81))
    bodies = [system.ground]
    for k in range(3):
        middle = [0.5 * (a + b) for a, b in zip(points[k], points[k + 1], strict=True)]
        bodies.append(system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.1, 0.1), r=middle)))
    for k, point in enumerate(points):
        system.add(RJ("ABCD"[k], bodies[k], bodies[(k + 1) % 4], point=point, axis=(0.0, 1.0, 0.0)))
    result = mbd.simulate(system, 0.05, h=1e-2)
    report = mbd.mobility(result.model)
    expected = [[all(report.reaction(name).unique[:3]), all(report.reaction(name).unique[3:])] for name in "ABCD"]
    assert scene_of(animation(result))["curves"]["unique"] == expected
    assert [False] in [sorted(set(pair))[:1] for pair in expected]


@pytest.mark.slow
def test_reduced_results_are_shown_with_a_function_for_tau_too(tmp_path):
    chain = mbd.random_chain(3, seed=4)
    result = mbd.simulate(chain, 0.1, h=1e-2, tau=lambda t, q, qd: -qd)
    scene = scene_of(animation(result))
    assert "force" in scene["curves"]  # tau along the motion is known
    assert scene["motion"]["t"]["n"] >= len(result)
    assert "force" in scene_of(animation(mbd.simulate(chain, 0.1, h=1e-2)))["curves"]


@pytest.mark.parametrize("frames", [1, 2, 37])
def test_frames_are_at_equal_steps_and_on_the_motion(swing, frames):
    drawn = frames_of(swing, frames)
    np.testing.assert_allclose(drawn.t, np.linspace(0.0, 1.0, frames) if frames > 1 else [0.0])
    length = np.linalg.norm(drawn.r[:, 1], axis=1)
    np.testing.assert_allclose(length, 2.0, atol=1e-8)  # Hermite through states 0.01 s apart
    np.testing.assert_allclose(np.linalg.norm(drawn.p, axis=2), 1.0, atol=1e-15)
