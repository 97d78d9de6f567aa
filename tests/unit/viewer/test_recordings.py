"""Recordings for other viewers: read again with their own packages, they have the poses of the result."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from tests.support.needed import need

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ran():
    return mbd.simulate(slider_crank(), t_end=0.02, h=2e-3)


def test_an_mcap_recording_has_the_motion_and_its_shapes(ran, tmp_path):
    need("mcap")
    from mcap.reader import make_reader  # noqa: PLC0415  an extra

    with ran.to_mcap(tmp_path / "x.mcap", frames=5).open("rb") as file:
        found = [(channel.topic, m.log_time, json.loads(m.data)) for _, channel, m in make_reader(file).iter_messages()]
    poses = [(time, m) for topic, time, m in found if topic == "/tf"]
    assert [time for time, _ in poses] == [0, 5_000_000, 10_000_000, 15_000_000, 20_000_000]
    for one in poses[-1][1]["transforms"]:
        history = ran[one["child_frame_id"]]
        np.testing.assert_allclose([one["translation"][a] for a in "xyz"], history.r[-1], atol=1e-12)
        np.testing.assert_allclose([one["rotation"][a] for a in "wxyz"], history.p[-1], atol=1e-12)
    (scene,) = [m for topic, _, m in found if topic == "/scene"]
    assert {one["frame_id"] for one in scene["entities"]} == {"world", *ran.names.bodies[1:]}
    assert all(len(t["points"]) % 3 == 0 for one in scene["entities"] for t in one["triangles"])
    motion = [m for topic, _, m in found if topic == "/motion"][-1]
    name = ran.names.bodies[1]
    np.testing.assert_allclose([motion[name]["omega"][a] for a in "xyz"], ran[name].omega[-1], atol=1e-12)


def test_a_recording_of_rerun_is_written(ran, tmp_path):
    reader = pytest.importorskip("rerun.chunk").RrdReader(ran.to_rerun(tmp_path / "x.rrd", frames=5))
    chunks = {chunk.entity_path: chunk.to_record_batch().to_pydict() for chunk in reader.stream()}
    for name in ran.names.bodies[1:]:
        own = chunks[f"/world/{name}"]
        assert [x.total_seconds() for x in own["time"]] == pytest.approx(np.linspace(0, 0.02, 5))
        np.testing.assert_allclose(own["Transform3D:translation"][-1][0], ran[name].r[-1], atol=1e-6)
        np.testing.assert_allclose(own["Transform3D:quaternion"][-1][0], ran[name].p[-1][[1, 2, 3, 0]], atol=1e-6)
        np.testing.assert_allclose(chunks[f"/velocity/{name}"]["Scalars:scalars"][-1], ran[name].v[-1], atol=1e-9)
        assert "Mesh3D:vertex_positions" in chunks[f"/world/{name}/0"]


@pytest.mark.parametrize(("write", "ending", "package"), [("to_mcap", ".mcap", "mcap"), ("to_rerun", ".rrd", "rerun-sdk")])
def test_without_the_extra_or_the_ending_it_says_so(write, ending, package, ran, tmp_path, monkeypatch):
    with pytest.raises(mbd.UsageError, match=ending):
        getattr(ran, write)(tmp_path / "x.bag")
    for name in ("mcap", "mcap.writer", "rerun"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(mbd.UsageError, match=f"pip install {package}"):
        getattr(ran, write)(tmp_path / f"x{ending}")
