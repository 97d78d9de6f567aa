"""Plots and the report of a comparison: what is drawn, what is said, and that nothing is lost or let through."""

from __future__ import annotations

import base64
import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import bricard, four_bar

T_END, H = 0.2, 0.02


@pytest.fixture(autouse=True)
def closed():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield
    pyplot.close("all")


def labels_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.slow
def test_columns_are_drawn_by_families_with_the_band(comparison, strange):
    ax = comparison.plot("evaluations", "error_multipliers_max")
    assert labels_of(ax) == ["RK4, Projection", strange, "exact", "uncertainty of the reference"]
    table = comparison.to_pandas()
    line = next(line for line in ax.lines if line.get_label() == "RK4, Projection")
    assert line.get_xdata().tolist() == sorted(table.evaluations.iloc[:2])
    assert line.get_ydata().tolist() == table.error_multipliers_max.iloc[:2].tolist()
    (hollow,) = [line for line in ax.lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]
    assert hollow.get_ydata().tolist() == [table.error_multipliers_max["exact"]]
    assert "not drawn: rattle" in ax.get_title(loc="left")
    assert ax.get_ylim()[0] < comparison.uncertainty("error_multipliers_max") < ax.get_ylim()[1]
    markers = {line.get_marker() for line in ax.lines if len(line.get_xdata())}
    assert len(markers) == 3  # distinct in grey


@pytest.mark.slow
def test_labels_of_a_short_axis_do_not_overlap(comparison):
    """Between 20 and 40 evaluations matplotlib labels 2.25e1, 2.5e1, 2.75e1 and more, of all digits."""
    ax = comparison.plot("steps", "error_positions_max")
    low, high = ax.get_xlim()
    assert high >= 10.0 * low * (1.0 - 1e-12)
    ax.figure.canvas.draw()
    marks = [text for text in ax.get_xticklabels(which="both") if text.get_text() and low <= text.get_position()[0] <= high]
    shown = sorted((text.get_window_extent() for text in marks), key=lambda box: box.x0)
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(shown))


def test_a_band_far_below_leaves_room_for_the_largest_marker():
    from matplotlib import pyplot  # noqa: PLC0415  as in `closed`: where matplotlib is missing, tests are skipped

    from haugmbd.study.comparison.plots import _band  # noqa: PLC0415

    _, ax = pyplot.subplots()
    ax.semilogy([1.0, 2.0], [1e-4, 2e-4], "o")
    _band(ax, ax.axhspan, False, 1e-13)
    low, high = np.log10(ax.get_ylim())
    assert low < -13.0
    assert np.log10(2e-4) < high - 0.03 * (high - low)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["position", "velocity", "acceleration", "energy drift", "multipliers", "x"])
def test_curves_over_time_carry_the_labels(comparison, strange, level):
    ax = comparison.overlay(level)
    assert labels_of(ax)[:4] == ["RK4(h=0.02), Projection", "RK4(h=0.01), Projection", strange, "exact"]
    assert "not drawn: rattle" in ax.get_title(loc="left")
    first = ax.lines[0]
    t = comparison.results["RK4(h=0.02), Projection"].t.tolist()
    assert first.get_xdata().tolist() in (t, t[1:])  # the start has no error, and no place on a logarithmic axis
    if level == "position":
        v = np.abs(comparison.results[strange].violation("position")).max(axis=1)
        drawn = ax.lines[2].get_ydata()
        assert drawn == pytest.approx(np.maximum(v, 1e-17)[-len(drawn) :])
    legend = ax.get_legend().get_window_extent()
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1, legend  # beside the data, not over them


@pytest.mark.slow
def test_a_given_axes_is_used_and_bad_columns_are_refused(comparison):
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    assert comparison.plot(ax=ax) is ax
    _, ax = pyplot.subplots()
    assert comparison.overlay(ax=ax) is ax
    with pytest.raises(mbd.UsageError, match=r"no column 'cpus' \(did you mean 'cpu'"):
        comparison.plot("cpus")
    with pytest.raises(mbd.UsageError, match="column 'status' is text"):
        comparison.plot("status")
    with pytest.raises(mbd.UsageError, match=r"level is 'positon' \(did you mean 'position"):
        comparison.overlay("positon")


class Page(HTMLParser):
    """The tags of a page, and the texts of its table cells."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells, self.attributes, self._open = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self._open = tag == "td"
        if self._open:
            self.cells.append("")

    def handle_data(self, data):
        if self._open:
            self.cells[-1] += data

    def handle_endtag(self, tag):
        self._open = self._open and tag != "td"


@pytest.mark.slow
def test_the_report_is_one_page_with_everything_in_it(comparison, strange, report_page):
    text = report_page.read_text()
    page = Page(text)
    assert page.tags.count("script") == 1  # its own
    assert page.cells.count(strange) == page.cells.count("exact") >= 5
    assert "<script>alert" not in text
    addresses = [value for name, value in page.attributes if name in ("src", "href")]
    assert all(address.startswith("data:image/svg+xml;base64,") for address in addresses)
    assert len(addresses) == 7
    for address in addresses:
        assert b"</svg>" in base64.b64decode(address.partition(",")[2])
    assert "have no inertia about some axis" in text
    assert comparison.row("rattle")["reason"].replace("'", "&#x27;") in text
    assert re.search(r"haugmbd \d|haugmbd not", text)
    assert "Baumgarte 1972" in text
    assert "RK4(h=0.02, h_first=None)" in text
    assert "DOP853(rtol=1e-12, atol=1e-13)" in text
    with pytest.raises(mbd.UsageError, match=r"report.pdf' is an? .html|the report is an .html file"):
        comparison.report(report_page.with_suffix(".pdf"))
    assert [file.name for file in report_page.parent.iterdir()] == ["report.html"]


def test_a_report_without_completed_methods_says_why(tmp_path):
    found = mbd.compare(four_bar(), [mbd.Method(integrator=mbd.RATTLE(h=H), label="rattle")], T_END, reference=False, repeats=1)
    text = found.report(tmp_path / "report.html").read_text()
    assert "Methods that did not reach the end" in text
    assert "<img" not in text
    assert "rattle: refused" in str(found)


def test_errors_of_reactions_of_which_none_is_unique_are_not_drawn():
    method = mbd.Method(integrator=mbd.RK4(0.02), label="RK4")
    found = mbd.compare(bricard(), [method], 0.1, groups=["reactions"], repeats=1)
    ax = found.overlay("reactions")
    assert ax.get_title(loc="left") == "Bricard: error of reactions\nnot drawn: RK4"
    assert not ax.lines
    assert found.notes["RK4"] == ("errors of reactions: no component of a reaction that a joint of 'Bricard' carries is unique",)
