"""Saved files: equal numbers or a UsageError with the path, whatever happens to the bytes; and a file is whole, or the old one."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.simulation.results.io import results, schema
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.checksums import LENGTH, check_seal, seal
from haugmbd.simulation.results.io.results import _read_npz, _write_npz
from joints import RJ

ENDINGS = ["npz", "nc"]


def double_pendulum(gravity=9.81, mass=2.0, length=1.0, k=5.0):
    """Two bobs on rods, with a spring to the ground."""
    system = mbd.System("double pendulum", gravity=(0.0, 0.0, -gravity))
    bobs = [system.add(mbd.Body(f"bob {n}", m, (0.1, 0.1, 0.1), r=(n, 0.0, 0.0))) for n, m in ((1, 1.0), (2, mass))]
    system.add(RJ("pin 1", system.ground, bobs[0], point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(RJ("pin 2", bobs[0], bobs[1], point=(length, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(mbd.TSDA("spring", system.ground, bobs[1], point_i=(0.0, 0.0, 1.0), point_j=(2.0, 0.0, 0.0), k=k, l0=1.0))
    return system


def need(ending):
    if ending == "nc":
        pytest.importorskip("h5netcdf")
        pytest.importorskip("h5py")


@pytest.fixture(scope="module")
def run():
    """Three states and an event of two bodies, with multipliers of the method's own."""
    half = mbd.Event("half", lambda t, state: t - 0.015)
    return mbd.simulate(double_pendulum(), 0.02, integrator=mbd.GeneralizedAlpha(1e-2), events=[half])


@pytest.fixture(scope="module", params=ENDINGS)
def file(run, request, tmp_path_factory):
    need(request.param)
    return run.save(tmp_path_factory.mktemp("saved") / f"run.{request.param}")


def equal(one, other):
    """Whether two results are the same to the last bit."""
    arrays = (
        np.array_equal(one.t, other.t),
        np.array_equal(one.y, other.y),
        np.array_equal(one.lam_of_method, other.lam_of_method),
    )
    said = [(r.names, r.counters, r.settings, r.interrupted, r.singular_crossings, repr(r.events)) for r in (one, other)]
    states = [np.array([e.state.y for e in r.events]) for r in (one, other)]
    return all(arrays) and said[0] == said[1] and np.array_equal(*states)


def refused_or_equal(data, path, run):
    """Whether the data are refused with the path (True), or give the same result (False); anything else fails."""
    path.write_bytes(data)
    try:
        loaded = mbd.load(path)
    except mbd.UsageError as error:
        told = str(error)
    else:
        assert equal(loaded, run)
        return False
    assert str(path) in told
    return True


@pytest.mark.slow
def test_everything_is_read_back(run, file):
    loaded = mbd.load(file)
    assert equal(loaded, run)
    assert len(loaded.events) == 1
    again = loaded.save(file.with_name(f"again{file.suffix}"))
    assert equal(mbd.load(again, model=run.model), run)


@pytest.mark.slow
@pytest.mark.parametrize("sealed", [True, False])
def test_no_flipped_bit_and_no_cut_gives_other_numbers(run, file, tmp_path, sealed, rng):
    """Without the seal (another program has written the file anew) the digests of the variables must see it alone."""
    data = file.read_bytes() if sealed else file.read_bytes()[:-LENGTH]
    if not sealed and file.suffix == ".npz":
        data = data[:-2] + b"\0\0"  # a comment of no bytes
    assert not refused_or_equal(data, tmp_path / file.name, run)
    path, refused = tmp_path / file.name, 0
    places = rng.integers(0, 8 * len(data), 60 if file.suffix == ".npz" or sealed else 0)
    for place in places.tolist():
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        refused += refused_or_equal(bytes(broken), path, run)
    assert refused >= (len(places) if sealed else 0.5 * len(places)) - 5
    for length in rng.integers(0, len(data) - LENGTH, 30).tolist():
        assert refused_or_equal(data[:length], path, run)


def changed(run, path, **new):
    """A file as `save` writes it, with all checksums right, but other arrays or metadata: what only plausibility can refuse."""
    contents = schema.contents_of(run)
    meta, arrays = json.loads(contents.meta), dict(contents.arrays)
    for name, value in new.items():
        if name in arrays:
            arrays[name] = value
            meta["digests"][name] = schema.digest_of(value)
        else:
            meta[name] = value
    text = json.dumps(meta)
    path.write_bytes(_write_npz(schema.Contents(text, schema._sha256(text.encode()), arrays)))
    return path


@pytest.mark.slow
def test_impossible_numbers_are_refused_even_with_right_checksums(run, tmp_path):
    def put(name, place, value):
        array = np.array(getattr(run, name))
        array[place] = value
        return {name: array}

    t, path = run.t, tmp_path / "odd.npz"
    for new, words in (
        ({"t": t[::-1].copy()}, "do not increase"),
        ({"t": np.where(t == t[1], t[0], t)}, "do not increase"),
        (put("t", 1, np.nan), "'t' is not finite"),
        (put("p", (1, 2), 0.0), r"body 'bob 2'|Euler parameters \[0.0, 0.0, 0.0, 0.0\] at t = 0.01 s"),
        (put("r", (0, 1, 2), np.inf), r"'r' is not finite at \[0, 1, 2\]"),
        ({"r": run.r.astype(complex)}, "'r' is complex128, must be float64"),
        ({"v": run.v.astype(np.float32)}, "'v' is float32"),
        ({"v": run.v[:, :1].copy()}, r"'v' is of shape \(3, 1, 3\), must be \(3, 3, 3\)"),
        ({"omega_bar": run.omega_bar[:-1].copy()}, "'omega_bar' is of shape"),
        ({"angles": np.zeros(3)}, "'angles' is of shape"),
        ({"bodies": ["ground", "one"]}, "2 bodies"),
        ({"bodies": 3}, "TypeError"),
        ({"rows": ["a"]}, "'lam_of_method' is of shape"),
        ({"settings": {"integrator": 3}}, "in place of a string"),
        ({"counters": {"steps": 1, "leaps": 2}}, "leaps"),
        ({"events": [{"name": "half", "t": 0.01, "y": [0.0]}]}, "event 'half'"),
        ({"format": "haugmbd result 9"}, "its format is 'haugmbd result 9'"),
    ):
        with pytest.raises(mbd.UsageError, match=words) as caught:
            mbd.load(changed(run, path, **new))
        assert str(path) in str(caught.value)
    assert equal(mbd.load(changed(run, path)), run)


def test_files_that_are_no_results_are_refused_with_their_path(tmp_path):
    for name in ("a.npz", "a.nc"):
        need(name.rpartition(".")[2])
        path = tmp_path / name
        for data in (b"", b"text", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n" + bytes(2000)):
            path.write_bytes(data)
            with pytest.raises(mbd.UsageError, match=name):
                mbd.load(path)
        with pytest.raises(mbd.UsageError, match=f"none.{name}"):
            mbd.load(tmp_path / f"none.{name}")
        (tmp_path / f"folder{path.suffix}").mkdir()
        with pytest.raises(mbd.UsageError, match="folder"):
            mbd.load(tmp_path / f"folder{path.suffix}")
    np.savez(tmp_path / "a.npz", meta=np.array("{"), t=np.zeros(2))
    with pytest.raises(mbd.UsageError, match="JSONDecodeError"):
        mbd.load(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:  # an array that no memory holds
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
        file.writestr("t.npy", buffer.getvalue())
        file.writestr("meta.npy", buffer.getvalue())
    with pytest.raises(mbd.UsageError, match=r"a\.npz"):
        mbd.load(tmp_path / "a.npz")


def test_files_of_the_older_format_are_read_with_a_word(run, tmp_path):
    contents = schema.contents_of(run)
    meta = {key: value for key, value in json.loads(contents.meta).items() if key not in ("digests", "model_numbers", "passed")}
    path = tmp_path / "old.npz"
    np.savez(path, meta=np.array(json.dumps(meta | {"format": "haugmbd result 1"})), **contents.arrays)
    with pytest.warns(UserWarning, match=r"old\.npz is a 'haugmbd result 1', which has no checksums"):
        assert equal(mbd.load(path), run)


@pytest.mark.slow
def test_a_model_of_the_same_names_but_other_numbers_is_refused(run, file):
    bare = mbd.load(file).save(file.with_name(f"bare{file.suffix}"))  # what recognizes the model is passed on
    for path in (file, bare):
        for other, words in (
            ({"gravity": 1.62}, r"gravity differ, line 0: -9\.81 in the file, -1\.62 in the model"),
            ({"mass": 3.0}, r"inertias differ, mass of body 'bob 2': 2\.0 in the file, 3\.0 in the model"),
            ({"length": 1.5}, "markers differ"),
            ({"k": 7.0}, "constants of the loads differ"),
        ):
            with pytest.raises(mbd.UsageError, match=words) as caught:
                mbd.load(path, model=double_pendulum(**other).compile())
            assert str(path) in str(caught.value)
        assert equal(mbd.load(path, model=double_pendulum().compile()), run)


def test_a_result_that_could_not_be_read_back_is_not_saved(run, tmp_path):
    path = run.save(tmp_path / "run.npz")
    y = run.y.copy()
    y[1, 14] = np.nan
    for t, states, words in ((run.t[::-1], run.y, "do not increase"), (run.t, y, "'r' is not finite")):
        with pytest.raises(mbd.UsageError, match=words):
            mbd.Result(run.model, t, states).save(path)
    assert equal(mbd.load(path), run)


FULL_DISK = """
import resource, signal, sys, haugmbd as mbd
result = mbd.load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
for path in sys.argv[2:]:
    try:
        result.to_csv(path) if path.endswith("csv") else result.save(path)
    except OSError as error:
        print(path, error.strerror)
"""


@pytest.fixture(scope="module")
def full_disk(run, tmp_path_factory):
    """The folder of files that one process could not write, and what it printed of each.

    A limit of the size of files stands for a full disk: HDF5 would end the process with a segmentation fault there.
    """
    resource = pytest.importorskip("resource")
    assert resource.RLIM_INFINITY
    folder = tmp_path_factory.mktemp("full")
    endings = ["npz", "csv"] + ["nc"] * (importlib.util.find_spec("h5netcdf") is not None)
    paths = [folder / ending / f"run.{ending}" for ending in endings]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(b"old")
    source = run.save(folder / "source.npz")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(source), *map(str, paths)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "nc", "csv"])
def test_a_full_disk_leaves_the_old_file(full_disk, ending):
    need(ending)
    folder, said = full_disk
    path = folder / ending / f"run.{ending}"
    assert f"{path} File too large" in said
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def write_half(path, error):
    with replace_file(path) as file:
        file.write(b"half")
        file.flush()
        assert path.read_bytes() == b"old"
        raise error


def test_a_file_is_replaced_at_once_and_keeps_its_rights(tmp_path):
    path = tmp_path / "a.bin"
    with pytest.raises(mbd.UsageError, match=r"cannot write '.*nowhere.a\.bin'"), replace_file(tmp_path / "nowhere" / "a.bin"):
        pass
    path.write_bytes(b"old")
    path.chmod(0o640)
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            write_half(path, error)
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]
    link = tmp_path / "link.bin"
    link.symlink_to(path)
    with replace_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert os.name == "nt" or path.stat().st_mode & 0o777 == 0o640


def test_a_reader_at_the_same_time_finds_a_whole_file(run, tmp_path):
    path = run.save(tmp_path / "run.npz")
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            check_seal(path.read_bytes())
            seen.append(path.read_bytes()[-LENGTH:] != b"")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        while len(seen) < 20:
            run.save(path)
    finally:
        stop.set()
        reader.join()
    assert equal(mbd.load(path), run)


def test_a_seal_sees_every_flipped_bit():
    data = seal(b"some bytes")
    check_seal(data)
    check_seal(b"a file of another program")
    unseen = 0
    for place in range(8 * len(data)):
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        try:
            check_seal(bytes(broken))
        except mbd.UsageError:
            continue
        unseen += 1
    assert unseen == 8 * len(b"haugmbd sha256 ")  # a mark that is none: the digests of the variables are left


def test_what_is_written_is_what_is_read(run):
    contents = schema.contents_of(run)
    again = _read_npz(_write_npz(contents))
    assert (again.meta, again.checksum, set(again.arrays)) == (contents.meta, contents.checksum, set(contents.arrays))


@pytest.mark.slow
def test_files_with_arrays_far_longer_than_the_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "SMALL", 2**25)
    np.savez_compressed(tmp_path / "bomb.npz", t=np.zeros(2**23))
    assert (tmp_path / "bomb.npz").stat().st_size < 2**20
    with pytest.raises(mbd.UsageError, match="bomb.npz: its arrays are of 0.0625 GiB in a file of"):
        mbd.load(tmp_path / "bomb.npz")
    h5netcdf = pytest.importorskip("h5netcdf")
    with h5netcdf.File(tmp_path / "bomb.nc", "w") as file:
        file.dimensions = {"time": 10**12}
        file.create_variable("time", ("time",), dtype="f8", chunks=(2**16,))
    with pytest.raises(mbd.UsageError, match=r"its arrays are of 7.45e\+03 GiB"):
        mbd.load(tmp_path / "bomb.nc")


def test_long_arrays_are_written_without_compression(run, tmp_path, monkeypatch):
    """A file of long arrays takes their bytes, is read like a short one, and a damaged one is refused."""
    monkeypatch.setattr(results, "LONG", 100)
    path = run.save(tmp_path / "long.npz")
    with zipfile.ZipFile(path) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
    assert equal(mbd.load(path), run)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(mbd.UsageError, match="damaged"):
        mbd.load(path)
