"""`haugmbd view`: what its server answers, to whom, and that it builds again when the file is saved."""

from __future__ import annotations

import http.client
import json
import os
import threading

import pytest

from haugmbd.cli import main
from haugmbd.cli.shown import live_page
from haugmbd.viewer.live import server_of

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
    assert "ZeroDivisionError" in ask("/report")[1]
    assert "<title>second, and longer</title>" in ask("/picture?3")[1]  # the last good picture stays


def test_the_picture_plays_as_far_as_the_motion_comes():
    plays = live_page("pendulum", 0.2)
    plays.refresh()
    still = live_page("pendulum", 0.0)
    still.refresh()
    frames = [json.loads(page.page.split('id="scene">')[1].split("</script>")[0])["motion"]["t"]["n"] for page in (plays, still)]
    assert frames[0] > frames[1]
    assert plays.report == still.report


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
