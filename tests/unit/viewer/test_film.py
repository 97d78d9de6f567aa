"""Pictures and films without a browser, their mistakes, and one picture through Chromium."""

from __future__ import annotations

import io
import shutil
import sys

import numpy as np
import pytest
from PIL import Image

import haugmbd as mbd
from haugmbd import inertia
from haugmbd.gallery import pendulum, slider_crank
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.viewer.animate import mechanism_of
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import frames_of
from haugmbd.viewer.shapes import equivalent_solid, triangles_of, unit_mesh

film_module = sys.modules["haugmbd.viewer.film"]  # the package has a function of this name


@pytest.fixture(scope="module")
def swing():
    return mbd.simulate(pendulum(), 1.0, h=1e-2)


@pytest.mark.parametrize("kind", ["box", "cylinder", "sphere"])
def test_solids_are_closed_and_face_outwards(kind):
    vertices, triangles = unit_mesh(kind)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = 0.5 * np.cross(b - a, c - a)
    assert abs(areas.sum(axis=0)).max() <= 1e-12
    volume = np.sum(a * np.cross(b, c)) / 6.0
    exact = {"box": 1.0, "cylinder": np.pi / 4.0, "sphere": np.pi / 6.0}[kind]
    assert 0.93 * exact <= volume <= exact * (1.0 + 1e-12)
    assert np.all(np.sum(areas * (a + b + c), axis=1) > 0.0)


@pytest.mark.parametrize(
    ("solid", "size"),
    [
        (inertia.box((0.5, 0.3, 0.2), mass=2.0), (0.2, 0.3, 0.5)),
        (inertia.cylinder(0.1, 0.8, mass=2.0, axis=(1.0, 1.0, 0.0)), (0.2, 0.2, 0.8)),
        (inertia.cylinder(0.4, 0.1, mass=2.0), (0.1, 0.8, 0.8)),
        (inertia.sphere(0.3, mass=2.0), (0.6, 0.6, 0.6)),
        (inertia.rod(2.0, mass=1.0), (0.0, 0.0, 2.0)),
    ],
    ids=["box", "cylinder", "disc", "sphere", "rod"],
)
def test_the_solid_of_an_inertia_is_the_one_that_has_it(solid, size):
    shape = equivalent_solid(solid.mass, solid.J_bar, 0.0)
    np.testing.assert_allclose(np.sort(shape.size), size, atol=1e-12)
    corners = triangles_of(shape).reshape(-1, 3)
    assert np.isfinite(corners).all()


@pytest.mark.slow
def test_a_snapshot_shows_the_mechanism_where_it_is(swing, tmp_path):
    path = swing.snapshot(0.35, tmp_path / "swing.png")
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=float)
    blue = (pixels[..., 2] > 1.3 * pixels[..., 0]) & (pixels[..., 0] < 120.0)
    assert blue.sum() > 500
    drawing = Drawing(mechanism_of(swing), frames_of(swing))
    drawing.place(35)
    bar = swing["bar"].r[35]
    seen = drawing.project(bar[None])[0, :2]
    inside = drawing.surfaces.get_paths()
    assert any(path.contains_point(seen, radius=1e-2) or path.contains_point(seen, radius=-1e-2) for path in inside)
    drawing.close()


@pytest.mark.slow
def test_a_gif_lasts_as_long_as_its_pictures_should(swing, tmp_path):
    """Its pictures stay for hundredths of a second; at 30 a second, 0.03 s for all would be a tenth too fast."""
    with Image.open(swing.film(tmp_path / "swing.gif", frames=6, fps=30)) as film:
        stays = []
        for k in range(film.n_frames):
            film.seek(k)
            stays.append(film.info["duration"])
    assert stays == [30, 40, 30, 30, 40, 30]


@pytest.mark.slow
def test_a_gif_has_its_frames(swing, tmp_path):
    with Image.open(swing.film(tmp_path / "swing.gif", frames=5, fps=10)) as film:
        assert film.n_frames == 5


@pytest.mark.parametrize("through", ["matplotlib", "chromium"])
def test_after_ctrl_c_the_pictures_so_far_are_a_film(swing, tmp_path, monkeypatch, through):
    """The third picture is not drawn."""
    place, shown, reach = Drawing.place, [], Progress.reach

    def struck(drawing, k):
        if k == 2:
            raise KeyboardInterrupt
        place(drawing, k)

    def screens(result, times, frames):
        drawing = Drawing(mechanism_of(result), frames_of(result, frames))
        for k in range(len(times)):
            struck(drawing, k)
            picture = io.BytesIO()
            drawing.figure.savefig(picture, format="png", dpi=20)
            yield picture.getvalue()

    monkeypatch.setattr(Drawing, "place", struck)
    monkeypatch.setattr(film_module, "_screens", screens)
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._stop)) or reach(self, now))
    with pytest.raises(KeyboardInterrupt, match=r"after 2 of 4 pictures: .*swing.gif', the attribute") as caught:
        swing.film(tmp_path / "swing.gif", frames=4, fps=10, through=through, progress=True)
    assert caught.value.result == tmp_path / "swing.gif"
    with Image.open(tmp_path / "swing.gif") as film:
        assert film.n_frames == 2
    assert shown == [(1, 4), (2, 4)]


@pytest.mark.parametrize("through", ["matplotlib", "chromium"])
def test_ctrl_c_before_the_first_picture_leaves_no_film(swing, tmp_path, monkeypatch, through):
    def struck(*_):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(Drawing, "place", lambda drawing, k: next(struck()))
    monkeypatch.setattr(film_module, "_screens", struck)
    with pytest.raises(KeyboardInterrupt, match="before it was written: there is no film") as caught:
        swing.film(tmp_path / "swing.gif", frames=4, through=through)
    assert caught.value.result is None
    assert not (tmp_path / "swing.gif").exists()


def test_ctrl_c_while_the_file_is_written_leaves_no_part_of_it(swing, tmp_path, monkeypatch):
    def struck(pictures, where, fps):
        where.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(film_module, "_save_gif", struck)
    with pytest.raises(KeyboardInterrupt, match="before it was written: there is no film") as caught:
        swing.film(tmp_path / "swing.gif", frames=2)
    assert caught.value.result is None
    assert not (tmp_path / "swing.gif").exists()


def test_mp4_names_ffmpeg_where_it_is_missing(swing, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(mbd.UsageError, match="ffmpeg"):
        swing.film(tmp_path / "swing.mp4", frames=2)
    with pytest.raises(mbd.UsageError, match="no Chromium"):
        swing.snapshot(0.1, tmp_path / "swing.png", through="chromium")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda result, folder: result.snapshot(2.0, folder / "x.png"), "within 0 .. 1 s"),
        (lambda result, folder: result.snapshot(np.nan, folder / "x.png"), "within 0 .. 1 s"),
        (lambda result, folder: result.snapshot(0.5, folder / "x.txt"), "'.txt'"),
        (lambda result, folder: result.snapshot(0.5, folder / "no" / "x.png"), "No such file"),
        (lambda result, folder: result.snapshot(0.5, folder / "x.png", through="blender"), "'blender'"),
        (lambda result, folder: result.film(folder / "x.avi"), "'.avi'"),
        (lambda result, folder: result.film(folder / "x.gif", frames=0), "frames is 0"),
        (lambda result, folder: result.film(folder / "x.gif", fps=0), "fps is 0"),
        (lambda result, folder: result.film(folder / "x.gif", fps=60), "a .gif has at most 50 pictures a second"),
        (lambda result, folder: result.film(folder / "no" / "x.gif"), "no folder"),
        (lambda result, folder: result.film(folder / "x.gif", progress=1), "progress = 1 must be True or False"),
    ],
)
def test_mistakes_are_named(swing, tmp_path, call, words):
    with pytest.raises(mbd.UsageError, match=words):
        call(swing, tmp_path)


@pytest.mark.slow
def test_a_picture_through_chromium(chromium, tmp_path):
    result = mbd.simulate(slider_crank(), 0.1, h=1e-2)
    with Image.open(result.snapshot(0.05, tmp_path / "crank.png", through="chromium")) as picture:
        assert picture.size == (1280, 720)


def test_names_are_no_formulas(tmp_path):
    """A title with two $ is one of matplotlib's formulas, if nothing is done."""
    system = pendulum()
    system.name = r"cost $\frac$"
    state = mbd.simulate(system, 0.02, h=1e-2)
    assert state.snapshot(0.0, tmp_path / "x.png").exists()
