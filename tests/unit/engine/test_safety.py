"""What may go wrong around a library: it is cut, a build is stopped, threads and forked processes share it, two are in one process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.compiled.engine_library import FOLDER, MANIFEST, WISH, choose, names_here, stamp_of
from haugmbd.engine.blob import blob
from haugmbd.engine.host import EngineModel, library_for
from haugmbd.engine_build import build

H, STEPS = 1e-3, 200


def libraries():
    """The libraries of these sources that run on this machine."""
    found = []
    for name in ("exact", "linux_x86_64", "fmu_linux_x86_64"):
        try:
            found.append(library_for(name))
        except mbd.UsageError:
            continue
    return found


LIBRARIES = libraries()
needs_engine = pytest.mark.skipif(not LIBRARIES, reason="no engine is built: make engine")


class Collected:
    """A collection without code."""

    entries, routine_names = (), ()

    def digest(self):
        return ""


def built(folder, data):
    """Register a library of some bytes, as a build does; return its name."""
    name = names_here()[-1]
    source = folder.parent / "new"
    source.write_bytes(data)
    folder.mkdir(exist_ok=True)
    build._replace(source, folder / name)
    digest = build.hashlib.sha256(data).hexdigest()
    stamp = stamp_of(build.files_of_entries())
    build.register(folder, name, {"format": build.FORMAT, "stamp": stamp, "size": len(data), "sha256": digest}, Collected())
    return name


@pytest.mark.skipif(not names_here(), reason="no engine is built for machines of this kind")
@pytest.mark.parametrize("stop", range(2))
def test_a_build_that_is_stopped_leaves_the_engine_of_before_or_none(tmp_path, monkeypatch, stop):
    monkeypatch.delenv(WISH, raising=False)
    folder, moves, move = tmp_path / "library", [], os.replace
    name = built(folder, b"before " * 9)
    assert choose(folder).library.path == folder / name

    def stopped(*paths):
        if len(moves) == stop:
            raise KeyboardInterrupt
        moves.append(paths)
        move(*paths)

    monkeypatch.setattr(build.os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        built(folder, b"behind " * 10)
    monkeypatch.undo()
    monkeypatch.delenv(WISH, raising=False)
    library, reason = choose(folder)
    if stop == 0:
        assert library.path.read_bytes() == b"before " * 9
    else:
        assert library is None
        assert "damaged" in reason
    built(folder, b"behind " * 10)
    assert choose(folder).library.path.read_bytes() == b"behind " * 10


KILLED = """
import os, signal, sys
from pathlib import Path
from haugmbd.engine_build import build
from tests.unit.engine.test_safety import built
moves, move = [], os.replace
def stopped(*paths):
    if len(moves) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    moves.append(paths)
    move(*paths)
build.os.replace = stopped
built(Path(sys.argv[1]), b"behind " * 10)
"""


@pytest.mark.slow
@pytest.mark.skipif(not names_here() or not hasattr(signal, "SIGKILL"), reason="there is no such signal, or no engine here")
def test_a_build_that_is_killed_leaves_the_engine_of_before_or_none(tmp_path, monkeypatch):
    """At both of its moves, by a signal that no program sees; the next build mends what is left."""
    monkeypatch.delenv(WISH, raising=False)
    folder = tmp_path / "library"
    built(folder, b"before " * 9)
    for stop, left in ((0, b"before " * 9), (1, b"behind " * 10)):
        done = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(stop)], cwd=build.PACKAGE.parent)
        assert done.returncode == -signal.SIGKILL
        library, reason = choose(folder)
        assert (folder / names_here()[-1]).read_bytes() == left
        assert (library is not None) if stop == 0 else "damaged" in reason
    built(folder, b"behind " * 10)
    assert choose(folder).library.path.read_bytes() == b"behind " * 10


@pytest.mark.skipif(not names_here(), reason="no engine is built for machines of this kind")
def test_nothing_is_taken_where_numbers_are_big_endian(tmp_path, monkeypatch):
    monkeypatch.delenv(WISH, raising=False)
    folder = tmp_path / "library"
    built(folder, b"of this machine " * 9)
    monkeypatch.setattr(sys, "byteorder", "big")
    library, reason = choose(folder)
    assert library is None
    assert "has no library" in reason


@needs_engine
def test_a_blob_of_big_endian_words_is_refused():
    data = blob(mbd.gallery.pendulum(), h=H)
    turned = data[:8] + np.frombuffer(data[8:], dtype="<i8").astype(">i8").tobytes()
    with pytest.raises(mbd.UsageError, match="another version"):
        EngineModel(turned, library=LIBRARIES[0])


@needs_engine
def test_two_versions_side_by_side(tmp_path):
    """The same library from another folder, as of another installation, whose manifest says that its sources are others."""
    for name in (MANIFEST, LIBRARIES[0].name):
        shutil.copy(FOLDER / name, tmp_path)
    data = blob(mbd.gallery.slider_crank(), h=H)
    one, other = (EngineModel(data, library=folder / LIBRARIES[0].name) for folder in (FOLDER, tmp_path))
    right = EngineModel(data, library=LIBRARIES[0]).run(60)
    found = [[model.run(20) for model in (one, other)] for _ in range(3)]
    for k in range(2):
        assert np.array_equal(np.concatenate([pair[k] for pair in found]), right)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    for line in manifest["libraries"].values():
        line["stamp"] = "0" * 16
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(mbd.UsageError, match="other sources"):
        library_for(LIBRARIES[0].stem, tmp_path)
    assert library_for(LIBRARIES[0].stem) == LIBRARIES[0]


@needs_engine
def test_a_cut_library_is_refused_before_it_is_loaded(tmp_path):
    shutil.copy(FOLDER / MANIFEST, tmp_path)
    data = LIBRARIES[0].read_bytes()
    for length in (0, 100, len(data) // 2, len(data) - 1):
        cut = tmp_path / LIBRARIES[0].name
        cut.write_bytes(data[:length])
        with pytest.raises(mbd.UsageError, match="damaged"):
            EngineModel(blob(mbd.gallery.pendulum(), h=H), library=cut)
    (tmp_path / "other.so").write_text("no library")
    for name in ("other.so", "none.so"):
        with pytest.raises(mbd.UsageError, match=name):
            EngineModel(blob(mbd.gallery.pendulum(), h=H), library=tmp_path / name)


@needs_engine
def test_threads_with_a_model_each_have_the_states_of_one():
    data = blob(mbd.gallery.four_bar(), h=H)
    right = EngineModel(data, library=LIBRARIES[0]).run(STEPS)
    with ThreadPoolExecutor(4) as pool:
        for states in pool.map(lambda _: EngineModel(data, library=LIBRARIES[0]).run(STEPS), range(8)):
            assert np.array_equal(states, right)


@needs_engine
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_goes_on():
    engine = EngineModel(blob(mbd.gallery.four_bar(), h=H), library=LIBRARIES[0])
    engine.run(20)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, engine.run(20)[-1].tobytes())
        finally:
            os._exit(0)
    os.close(write)
    found = np.frombuffer(os.read(read, 1 << 16))
    os.close(read)
    os.waitpid(child, 0)
    assert np.array_equal(found, engine.run(20)[-1])


@pytest.mark.skipif(len(LIBRARIES) < 2, reason="two engines are not built")
def test_two_engines_in_one_process():
    data = blob(mbd.gallery.slider_crank(), h=H)
    models = [EngineModel(data, library=library) for library in LIBRARIES]
    runs = [np.concatenate([model.run(50) for _ in range(4)]) for model in models]
    for run in runs[1:]:
        assert np.abs(run - runs[0]).max() <= 1e-11 * np.abs(runs[0]).max()


@needs_engine
def test_a_blob_of_other_sources_is_refused():
    data = bytearray(blob(mbd.gallery.pendulum(), h=H))
    place = data.index(stamp_of(build.files_of_entries()).encode())
    data[place : place + 16] = b"0" * 16
    with pytest.raises(mbd.UsageError, match="other sources"):
        EngineModel(bytes(data), library=LIBRARIES[0])
