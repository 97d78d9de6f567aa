"""`haugmbd view`: what its server answers, to whom, and that it builds again when the file is saved."""

from __future__ import annotations

import http.client
import json
import os
import threading

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.cli.shown import live_page
from haugmbd.gallery import four_bar
from haugmbd.viewer.drag import Drag
from haugmbd.viewer.live import server_of
from joints import RJ

DOOR = """
import haugmbd as mbd
system = mbd.System("{name}")
system.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4)))
"""


@pytest.fixture
def served(tmp_path):
    """A file, and a function that asks its server: (status, text)."""
    path = tmp_path / "door.py"
    path.write_text(DOOR.format(name="first"))
    server = server_of(live_page(str(path)), 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    port = server.server_address[1]

    def ask(target, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        connection.putrequest("GET", target, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{port}")
        connection.endheaders()
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    yield path, ask, server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_page_is_built_again_when_the_file_is_saved(served):
    path, ask, _ = served
    assert ask("/picture")[1].count("<title>first</title>") == 1
    version = ask("/version")[1]
    assert ask("/version")[1] == version
    assert "degrees of freedom" in ask("/report")[1]
    path.write_text(DOOR.format(name="second, and longer"))
    os.utime(path, ns=(1, 1))
    assert ask("/version")[1] != version
    assert "<title>second, and longer</title>" in ask("/picture?2")[1]
    path.write_text("system = 1 / 0")
    assert json.loads(ask("/report")[1])["report"].count("ZeroDivisionError") == 1
    assert "<title>second, and longer</title>" in ask("/picture?3")[1]  # the last good picture stays


def test_the_picture_plays_as_far_as_the_motion_comes():
    plays = live_page("pendulum", 0.2)
    plays.refresh()
    still = live_page("pendulum", 0.0)
    still.refresh()
    frames = [json.loads(page.page.split('id="scene">')[1].split("</script>")[0])["motion"]["t"]["n"] for page in (plays, still)]
    assert frames[0] > frames[1]
    assert plays.report == still.report


def test_freedoms_are_dragged_through_closed_poses():
    """All joints are closed on the way, the crank has the angle of its slider, and a wrong request is told."""
    page = live_page("four_bar", 0.0)
    page.refresh()
    version = page.answer("/version")[1]
    (slider,) = json.loads(page.answer("/freedoms")[1])["sliders"]
    assert (slider["name"], slider["unit"], slider["value"]) == ("A", "rad", 0.0)
    for angle in (0.3, -0.2):
        answer = json.loads(page.answer(f"/pose?{version}&{angle}")[1])
        assert answer["values"] == [pytest.approx(angle)]
        model = four_bar().compile()
        state = model.state().replace(r=np.array(answer["r"]), p=np.array(answer["p"]))
        assert np.abs(mbd.evaluate(model, state).Phi).max() < 1e-9
    assert json.loads(page.answer(f"/pose?{version}&")[1])["values"] == [0.0]
    for wrong in ("nan", "1,2", "x", "1e400"):
        assert json.loads(page.answer(f"/pose?{version}&{wrong}")[1])["said"]
    assert json.loads(page.answer(f"/pose?{int(version) + 1}&0.5")[1])["values"] == [0.0]  # of a file that is no longer there


def test_a_drag_ends_where_the_mechanism_cannot_be_closed():
    """A rocker whose slider would turn it through: it stops at its dead centre, closed, and says so."""
    system = mbd.System("rocker")
    A, B, C, D = np.array([(0, 0, 0), (0, 0, 2), (1, 0, 2), (1.5, 0, 0.0)])
    links = [
        system.add(mbd.Body(name, 1.0, (0.1,) * 3, r=0.5 * (a + b))) for name, a, b in (("ab", A, B), ("bc", B, C), ("cd", C, D))
    ]
    for name, i, j, P in zip("ABCD", (system.ground, *links), (*links, system.ground), (A, B, C, D), strict=True):
        system.add(RJ(name, i, j, point=P, axis=(0, 1, 0)))
    drag, said = Drag(system), ""
    for _ in range(6):
        said = said or drag.to([np.pi])
    assert "cannot be closed beyond A" in said
    folded = np.linalg.norm(D - C) - np.linalg.norm(C - B)  # B goes round A towards D, until the other two are one line
    angle = np.arccos((4.0 + 1.5**2 - folded**2) / (2 * 2.0 * 1.5))
    assert 0.0 <= np.pi / 2 - angle - drag.values[0] < 0.01
    model = drag.system.compile()
    assert np.abs(mbd.evaluate(model, drag.state).Phi).max() < 1e-9


def test_a_part_that_leads_far_away_is_not_taken(monkeypatch):
    """A body that would jump has left its branch: the slider stays where it is, and says so."""
    monkeypatch.setattr("haugmbd.viewer.drag.NEAR", 1e-6)
    drag = Drag(four_bar())
    assert "cannot be closed beyond A = 0 degrees" in drag.to([0.5])
    assert drag.values.tolist() == [0.0]


def test_a_syntax_error_stands_with_its_line_and_a_mark(served):
    path, ask, _ = served
    ask("/picture")
    path.write_text("a = 1\nsystem = (1 +\n")
    report = json.loads(ask("/report")[1])
    assert report["wrong"]
    assert "line 2" in report["report"]
    assert "^" in report["report"]
    assert json.loads(ask("/freedoms")[1])["sliders"] == []


def test_others_get_nothing(served):
    _, ask, server = served
    assert server.server_address[0] == "127.0.0.1"
    for target in ("/../../etc/passwd", "/door.py", "/picture/x", "/%2e%2e/door.py"):
        status, text = ask(target)
        assert status == 404
        assert "mbd" not in text
    for host in ("evil.example", "evil.example:80", "127.0.0.1", "0.0.0.0"):
        assert ask("/picture", host)[0] == 403


def test_what_cannot_be_viewed_is_refused(capsys):
    assert main.main(["view", "no_such.py", "--no-browser"]) == 2
    assert "neither a file" in capsys.readouterr().err
    assert main.main(["view", "pendulum", "--no-browser", "--port", "99999"]) == 2
    assert "port 99999" in capsys.readouterr().err
