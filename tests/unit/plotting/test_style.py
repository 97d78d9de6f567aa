"""House style under given Axes: legends, overlays, identical lines, rounding, dark backgrounds; new kinds of plots."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar
from haugmbd.plotting.curves import amplitudes
from haugmbd.plotting.style import stacked_axes
from joints import CJ, RJ
from tests.support.redundant_loops import loop, planar_points
from tests.support.with_contacts import simulate_with

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def bar():
    return mbd.simulate(four_bar(), 1.0, h=1e-2)


@pytest.fixture(scope="module")
def results(bar):
    """One result of each kind, with a joint and a body of it."""
    chain = mbd.random_chain(2, 1)
    reduced = mbd.simulate(chain, 0.2, h=1e-2)
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0.3)))
    system.add(RJ("pin", system.ground, arm, point=(0, 0, 0.3), axis=(0, 1, 0)))
    floor = mbd.Contact("floor", system.ground, arm, point=(1, 0, 0.3), normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.3)
    impacts = simulate_with(system, 0.5, contacts=floor, h=2e-3)
    twin = reduced.maximal()
    joint = next(name for name, entry in twin.model.joints.items() if entry.freedoms)
    return {
        "Result": (bar, "A", "crank"),
        "ReducedResult": (reduced, joint, chain.links[0].name),
        "ImpactResult": (impacts, "pin", "arm"),
    }


DRAWN = {
    "joint": lambda r, joint, body, **o: mbd.plot.joint(r, joint, **o),
    "coordinates": lambda r, joint, body, **o: mbd.plot.coordinates(r, body, **o),
    "reactions": lambda r, joint, body, **o: mbd.plot.reactions(r, joint, **o),
    "energy": lambda r, joint, body, **o: mbd.plot.energy(r, **o),
    "violation": lambda r, joint, body, **o: mbd.plot.violation(r, **o),
    "path": lambda r, joint, body, **o: mbd.plot.path(r, body, **o),
    "phase": lambda r, joint, body, **o: mbd.plot.phase(r, joint, **o),
    "spectrum": lambda r, joint, body, **o: mbd.plot.spectrum(r, joint, **o),
}


def own(ax):
    return [line for line in ax.lines if str(line.get_gid()).startswith("haugmbd:")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Result", "ReducedResult", "ImpactResult"])
def test_every_plot_takes_every_result_and_given_axes_and_a_label(results, kind):
    _, grid = plt.subplots(2, 4, figsize=(16, 8))
    for (name, draw), ax in zip(DRAWN.items(), grid.flat, strict=True):
        assert draw(*results[kind], ax=ax, label="run") is ax, name
        assert own(ax), name
        assert all(str(line.get_label()).startswith("run") for line in own(ax)), name
        assert not ax.spines["top"].get_visible()
    assert len(plt.get_fignums()) == 1


def boxes(figure):
    figure.draw_without_rendering()
    return [ax.get_legend().get_window_extent() for ax in figure.axes if ax.get_legend()], [
        ax.get_window_extent() for ax in figure.axes
    ]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6.0, 4.0), (13.0, 7.0)])
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_legends_hide_neither_data_nor_neighbours(bar, size, layout):
    figure, grid = plt.subplots(2, 2, figsize=size, layout=layout)
    mbd.plot.energy(bar, ax=grid[0, 0])
    mbd.plot.reactions(bar, "A", ax=grid[0, 1])
    mbd.plot.coordinates(bar, "crank", what="p", ax=grid[1, 0])
    mbd.plot.violation(bar, ax=grid[1, 1])
    figure.draw_without_rendering()
    for ax in grid.flat:
        legend = ax.get_legend().get_window_extent()
        for other in grid.flat:
            if other is not ax:
                assert not legend.overlaps(other.get_window_extent())
        for line in own(ax):
            x, y = ax.transData.transform(np.column_stack(line.get_data())).T
            inside = (x > legend.x0) & (x < legend.x1) & (y > legend.y0) & (y < legend.y1)
            assert not inside.any(), (ax.get_title(loc="left"), line.get_label())
    titles = [ax._left_title.get_window_extent() for ax in grid.flat]
    assert not any(a.overlaps(b) for a, b in combinations(titles, 2))


def test_an_overlay_keeps_colours_and_changes_the_style(bar):
    half = bar[:0.5]
    ax = mbd.plot.coordinates(bar, "rocker", label="whole")
    mbd.plot.coordinates(half, "crank", ax=ax, label="crank")
    first, second = own(ax)[:3], own(ax)[3:]
    assert [line.get_color() for line in first] == [line.get_color() for line in second]
    assert {line.get_linestyle() for line in first} == {"-"}
    assert {line.get_linestyle() for line in second} == {"--"}
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[:4] == ["whole: x", "whole: y", "whole: z", "crank: x"]
    assert ax.get_xlim() == (0.0, 1.0)


def test_single_lines_of_an_overlay_have_their_own_colours(bar):
    ax = mbd.plot.joint(bar, "A")
    mbd.plot.joint(bar, "B", ax=ax)
    assert [line.get_label() for line in own(ax)] == ["A", "B"]
    assert len({line.get_color() for line in own(ax)}) == 2
    assert ax.get_ylabel() == "angle [rad]"
    mbd.plot.joint(bar[:0.5], "A", ax=ax)
    assert ax.get_title(loc="left") == "A, B: angle"


def test_identical_lines_are_seen(bar):
    ax = mbd.plot.joint(bar, "A", label="one")
    mbd.plot.joint(bar, "A", ax=ax, label="two")
    one, two = own(ax)
    assert two.get_label() == "two (on one)"
    assert two.get_marker() not in ("", "None")
    assert one.get_marker() in ("", "None")


@pytest.mark.slow
def test_rounding_is_not_blown_up(bar):
    ax = mbd.plot.coordinates(bar, "crank", what="p")
    assert ax.get_ylim()[1] - ax.get_ylim()[0] > 0.1
    still = mbd.plot.joint(bar, "D", what="displacement")  # the slider of a closed plane does not move
    assert abs(bar.joint("D").displacement).max() < 1e-12
    assert still.get_ylim()[1] >= 1e-12
    bands = [patch for patch in mbd.plot.violation(bar).patches if patch.get_alpha() == 0.15]
    assert len(bands) == 1


def test_on_a_dark_background(bar):
    with mbd.plot.theme(dark=True):
        ax = mbd.plot.energy(bar)
    total = next(line for line in own(ax) if line.get_label() == "total")
    assert total.get_color() == "#f2f2f2"
    assert own(ax)[0].get_color() == "#56B4E9"
    light = mbd.plot.energy(bar)
    assert next(line for line in own(light) if line.get_label() == "total").get_color() == "#000000"
    figure, given = plt.subplots(facecolor="black")
    given.set_facecolor("black")
    assert own(mbd.plot.energy(bar, ax=given))[0].get_color() == "#56B4E9"


@pytest.mark.slow
def test_reactions_that_are_not_unique_have_a_band():
    result = mbd.simulate(loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4), 0.1, h=2e-3)
    ax = mbd.plot.reactions(result, "hinge 0")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["x", "y", "z (not unique)", "magnitude (not unique)"]
    assert len(ax.collections) == 1
    assert ax.collections[0].get_hatch()
    least = mbd.simulate(loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4), 0.1, h=2e-3, redundancy=mbd.MinimumNorm())
    path = ax.collections[0].get_paths()[0].vertices
    for run in (result, least):  # both choices lie in the band
        assert path[:, 1].min() <= run.reaction("hinge 0").force[:, 2].min()
        assert path[:, 1].max() >= run.reaction("hinge 0").force[:, 2].max()


def test_one_axis_has_one_unit():
    system = mbd.System("screw", gravity=(0, 0, -9.81))
    nut = system.add(mbd.Body("nut", 1.0, (1, 1, 1), omega_bar=(0, 0, 1.0)))
    system.add(CJ("axle", system.ground, nut, point=(0, 0, 0), axis=(0, 0, 1)))
    result = mbd.simulate(system, 0.2, h=1e-2)
    assert mbd.plot.joint(result, "axle").get_ylabel() == "angle [rad]"
    assert "it has displacement, too" in mbd.plot.joint(result, "axle").get_title(loc="left")
    fall = mbd.plot.joint(result, "axle", what="displacement", derivative=1)
    assert fall.get_ylabel() == "rate of the displacement [m/s]"
    np.testing.assert_allclose(own(fall)[0].get_ydata(), -9.81 * result.t, rtol=0.0, atol=1e-9)


def test_path_phase_and_spectrum_draw_the_numbers(bar):
    ax = mbd.plot.path(bar, "crank", ("coupler", (0, 0, 0)))
    np.testing.assert_array_equal(np.column_stack(own(ax)[0].get_data()), bar["crank"].r[:, [0, 2]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "z [m]")
    ax = mbd.plot.phase(bar, "B")
    np.testing.assert_array_equal(own(ax)[0].get_xdata(), bar.joint("B").angle)
    np.testing.assert_array_equal(own(ax)[0].get_ydata(), bar.joint("B").rate)
    ax = mbd.plot.spectrum(bar, "B", derivative=2)
    assert ax.get_ylabel() == "amplitude, acceleration of the angle [rad/s²]"


@pytest.mark.parametrize("uneven", [False, True])
def test_a_spectrum_has_the_amplitude_at_its_frequency(uneven):
    t = np.linspace(0.0, 20.0, 2001)[:-1]
    t = t + 2e-3 * np.sin(t) if uneven else t
    f, a = amplitudes(t, 0.7 * np.sin(2.0 * np.pi * 3.0 * t) + 5.0)
    k = int(np.argmax(a))
    assert f[k] == pytest.approx(3.0, abs=1e-2)
    assert a[k] == pytest.approx(0.7, rel=2e-2)
    with pytest.raises(mbd.UsageError, match="needs 8 finite states"):
        amplitudes(t[:5], t[:5])


@pytest.mark.parametrize(
    ("draw", "match"),
    [
        (lambda r: mbd.plot.joint(r, "AA"), "did you mean 'A'"),
        (lambda r: mbd.plot.joint(r, "A", what="displacement"), "joint 'A' has 'angle'"),
        (lambda r: mbd.plot.joint(r, "A", derivative=3), "derivative is 3"),
        (lambda r: mbd.plot.load(r, "strut"), "no load is called 'strut'"),
        (lambda r: mbd.plot.driver(r, "A"), "no driver is called 'A'"),
        (lambda r: mbd.plot.path(r, "crank", plane="xx"), "give two of x, y, z"),
        (lambda r: mbd.plot.energy(r, ax=3), "must be one Axes"),
        (lambda r: mbd.plot.violation(r, level="x"), "level is 'x'"),
        (lambda r: mbd.plot.violation(r, by="x"), "by is 'x'"),
    ],
)
def test_wrong_arguments(bar, draw, match):
    with pytest.raises(mbd.UsageError, match=match):
        draw(bar)


def test_pyplot_shows_figures_of_studies():
    figure, several = stacked_axes(2)
    assert len(several) == 2
    assert figure.number in plt.get_fignums()
    plt.close(figure)
