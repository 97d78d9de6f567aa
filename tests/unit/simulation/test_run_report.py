"""The page about one run: largest reactions, drivers, loads, violations, energy and events, and no address that leaves it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import haugmbd as mbd
from joints import RJ, TJ, RotationDriver


class Cells(HTMLParser):
    """The lines of the tables of a page."""

    def __init__(self):
        super().__init__()
        self.lines, self.inside = [], False

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "td"
        if tag == "tr":
            self.lines.append([])
        elif tag == "td":
            self.lines[-1].append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.lines[-1][-1] += data


def cells(path):
    parser = Cells()
    parser.feed(path.read_text())
    return [line for line in parser.lines if line]


@pytest.fixture(scope="module")
def run():
    """A block that friction stops, beside a bar that is driven."""
    system = mbd.System("block & bar", gravity=(0, 0, -9.81))
    block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(0.35, 0.3)))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 2, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 2, 0), axis=(0, 1, 0)))
    system.add(RotationDriver("drive", pin, 0.0))
    return mbd.simulate(system, 0.5, h=1e-2)


def test_its_numbers_are_those_of_the_result(run, tmp_path):
    path = run.report(tmp_path / "run.html")
    lines = {line[0]: line for line in cells(path)}
    assert lines["rail"][1] == f"{2.0 * 9.81:.6g}"
    assert lines["drive"][1] == f"{0.5 * 9.81:.6g} N m"
    assert float(lines["rub"][5]) == pytest.approx(-1.0, abs=1e-6)  # m v^2 / 2
    stop = run.events[0]
    assert lines[f"{stop.t:.9g}"][1] == "rub stops"
    assert float(lines["drift of the energy [J]"][1]) == pytest.approx(abs(run.energy().drift).max(), rel=1e-5)
    position = lines["violation, position [m or rad]"]
    assert float(position[1]) == pytest.approx(abs(run.violation("position")).max(), rel=1e-5)
    assert position[3] in run.names.rows


def test_it_is_one_page_with_the_machine_the_date_and_the_versions(run, tmp_path):
    text = run.report(tmp_path / "run.html").read_text()
    assert "block &amp; bar" in text
    assert "numpy" in text
    assert "machine" in text
    assert 'src="http' not in text
    for path in ("run.pdf", ""):
        with pytest.raises(mbd.UsageError):
            run.report(path)
