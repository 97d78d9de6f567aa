"""The report in a real browser, from file://, without a network: its figures are there, and its tables sort."""

from __future__ import annotations

import pytest

from haugmbd.viewer.chromium import Chromium, find_chromium

COLUMN = """(() => {
  const table = [...document.querySelectorAll('table')].find((each) => each.tHead.textContent.includes('positions, largest'));
  const column = [...table.tHead.rows[0].cells].findIndex((each) => each.textContent === 'positions, largest');
  const read = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.value));
  const found = [read()];
  for (let k = 0; k < 2; k++) { table.tHead.rows[0].cells[column].querySelector('button').click(); found.push(read()); }
  return found.map((values) => values.map((x) => Number.isNaN(x) ? null : x));
})()"""


@pytest.mark.slow
def test_its_tables_sort_and_its_figures_are_shown(comparison, report_page):
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium is installed: apt-get install chromium, or set HAUGMBD_CHROMIUM to its path")
    errors = comparison.to_pandas().error_positions_max
    with Chromium(executable, size=(1280, 900)) as browser:
        browser.send("Page.navigate", url=report_page.as_uri())
        browser.wait_for("Page.loadEventFired")
        given, rising, falling = browser.evaluate(COLUMN)
        widths = browser.evaluate("[...document.images].map((image) => image.naturalWidth)")
        wide = browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        complaints = [event for event in browser.events if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
        asked = [e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"]
    known = sorted(errors.dropna())
    assert given == [None if x != x else x for x in errors]
    assert rising == [*known, None]
    assert falling == [*known[::-1], None]
    assert len(widths) == 7
    assert min(widths) > 300
    assert wide
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
