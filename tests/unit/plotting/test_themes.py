"""Themes: what they set and restore, nothing cut, lines that differ in grey; blocks, sensors, and any quantity over any other."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ

mpl = pytest.importorskip("matplotlib")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result():
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    lag = system.add(mbd.Block("lag", 0.0, derivative=lambda t, x, s: s["pin.angle"] - x[0], outputs={"y": lambda t, x, s: x[0]}))
    system.add(mbd.Motor("motor", pin, torque=lag["y"]))
    height = mbd.Sensor("height", lambda t, state: state.r[1, 2], "m")
    return mbd.simulate(system, 0.5, h=0.01, sensors=[height])


@pytest.fixture(autouse=True)
def ended():
    yield
    mbd.plot.theme()


def test_a_theme_lasts_until_it_is_ended():
    before = dict(mpl.rcParams)
    mbd.plot.theme("dark")
    assert mpl.rcParams["figure.facecolor"] != before["figure.facecolor"]
    mbd.plot.theme("paper")
    assert mpl.rcParams["pdf.fonttype"] == 42
    mbd.plot.theme()
    assert dict(mpl.rcParams) == before
    with mbd.plot.theme("paper", columns=2):
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(("columns", "width"), [(1, 3.4), (2, 7.0)])
@pytest.mark.parametrize(
    "draw", [lambda r: r.plot.energy(), lambda r: r.plot.coordinates("bar"), lambda r: r.plot.reactions("pin")]
)
def test_nothing_is_cut_in_a_paper(columns, width, draw, result, tmp_path):
    mbd.plot.theme("paper", columns=columns)
    ax = draw(result)
    ax = ax[0] if isinstance(ax, np.ndarray | list | tuple) else ax
    figure = ax.figure
    assert figure.get_size_inches()[0] == pytest.approx(width)
    figure.savefig(tmp_path / "x.pdf")
    assert b"/Type3" not in (tmp_path / "x.pdf").read_bytes()
    assert not cut_text(figure)
    styles = [str(line._unscaled_dash_pattern) for line in ax.lines if line.get_gid()]
    assert len(set(styles)) == len(styles)


def cut_text(figure):
    """Return the texts of titles, labels and legends that reach beyond the page."""
    figure.draw_without_rendering()
    page, found = figure.bbox, []
    for one in figure.axes:
        legend = one.get_legend()
        shown = [one.title, one._left_title, one.xaxis.label, one.yaxis.label, *(legend.get_texts() if legend else ())]
        for text in [t for t in shown if t.get_text()]:
            box = text.get_window_extent()
            if max(page.x0 - box.x0, box.x1 - page.x1, page.y0 - box.y0, box.y1 - page.y1) > 1.0:
                found.append(text.get_text())
    return found


def test_nothing_of_a_study_is_cut_in_a_paper():
    """Of every kind of study; titles have the size of the theme, not that of the screen."""
    system = mbd.System("pendulum of a laboratory", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.Motor("motor", pin, torque=0.0))
    model = system.compile()
    two = [mbd.Method(integrator=mbd.RK4()), mbd.Method(integrator=mbd.Heun())]
    free = mbd.simulate(model, t_end=0.3, h=0.01, stabilization=None)
    studies = [
        mbd.compare(model, two, t_end=0.04, h=0.01, repeats=1),
        mbd.violation_by_joint(free),
        mbd.gain_map(model, alpha=[1.0, 5.0], beta=[1.0, 5.0], h=[0.01], t_end=0.8),
        mbd.linearize(free, inputs=["motor"], outputs=["pin.rate"], coordinates=["pin.angle"], t=[0.0])[0],
    ]
    mbd.plot.theme("paper")
    for study in studies:
        figure = np.ravel(study.plot())[0].figure if hasattr(study, "plot") else study.bode()
        assert figure.get_size_inches()[0] == pytest.approx(3.4), study
        assert not cut_text(figure), study
        titles = [one._left_title.get_fontsize() for one in figure.axes if one._left_title.get_text()]
        assert max(titles, default=0.0) <= 8.0, study


def test_blocks_sensors_and_any_quantity_over_any_other(result):
    ax = mbd.plot.block(result, "lag")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), result.block("lag")["y"])
    np.testing.assert_array_equal(result.plot.block("lag", what="x").lines[0].get_ydata(), result.block("lag").x[:, 0])
    ax = result.plot.sensor("height")
    assert ax.get_ylabel() == "height [m]"
    ax = result.plot.quantities("reaction.pin.force[2]", over="pin.angle")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), result.joint("pin").angle)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), result.reaction("pin").force[:, 2])
    assert len(result.plot.quantities(["body.bar.r", "lag.y"]).lines) == 4


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda r: r.plot.quantities("pin.angel"), "pin.ang"),
        (lambda r: r.plot.quantities("pin.angle", over="bar.r"), "say which"),
        (lambda r: r.plot.block("leg"), "lag"),
        (lambda r: mbd.plot.theme("papper"), "paper"),
        (lambda r: mbd.plot.theme("paper", columns=3), "3.4 in"),
    ],
)
def test_what_does_not_exist_is_told(call, what, result):
    with pytest.raises(mbd.UsageError, match=what):
        call(result)
