"""A real notebook: executed by a kernel, converted by nbconvert, opened in a browser; the motion in it plays."""

from __future__ import annotations

import pytest

SETUP = """
import haugmbd as mbd
from haugmbd.gallery import pendulum, slider_crank
"""

READY = """new Promise((done) => {
  const look = () => {
    const all = [...document.querySelectorAll("iframe")].map((one) => one.contentWindow.mechanism);
    if (all.length === 3 && all.every((one) => one && one.ready)) done(all.map((one) => one.names().bodies));
    else setTimeout(look, 20);
  };
  look();
})"""

MOVED = """new Promise((done) => {
  const look = () => {
    const [motion, still] = [...document.querySelectorAll("iframe")].map((one) => one.contentWindow.mechanism);
    if (motion.playing && motion.time > 0 && !still.playing) done(true); else setTimeout(look, 20);
  };
  look();
})"""


@pytest.fixture
def converted(tmp_path, monkeypatch):
    """The HTML page of a notebook whose cells end with a result, a system and a model."""
    nbconvert, nbformat = pytest.importorskip("nbconvert"), pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    cells = (SETUP, "mbd.simulate(pendulum(), 0.5, h=1e-2)", "slider_crank()", "slider_crank().compile()")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    body, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    page = tmp_path / "notebook.html"
    page.write_text(body, encoding="utf-8")
    return page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_converted_notebook_plays_its_result(chromium, converted):
    text = converted.read_text(encoding="utf-8")
    assert text.count("<iframe ") == 3
    assert "<td>slider</td>" in text  # the table beside the picture
    chromium.send("Page.navigate", url=converted.as_uri())
    chromium.wait_for("Page.loadEventFired")
    crank = ["ground", "crank", "rod", "slider"]
    assert chromium.evaluate(READY) == [["ground", "bar"], crank, crank]
    assert chromium.evaluate(MOVED) is True
