"""Whether an engine is taken: only one that is whole, of these sources, and for this machine; any other is refused with its reason."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import struct
import sys

import numpy as np
import pytest

from haugmbd.compiled import engine_library
from haugmbd.compiled.engine_layer import Door, Engine, Mismatch
from haugmbd.compiled.engine_library import FORMAT, MANIFEST, Library, choose, names_here, stamp_of
from haugmbd.compiled.records import new_record, record_dtype

pytestmark = pytest.mark.skipif(not names_here(), reason="no engine is built for machines of this kind")


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A package of one source, and a folder with a library of it for this machine, which is not loaded."""
    monkeypatch.delenv(engine_library.WISH, raising=False)
    package, folder = tmp_path / "package", tmp_path / "library"
    package.mkdir()
    folder.mkdir()
    (package / "kernel.py").write_text("x = 1")
    name, data = names_here()[-1], b"a library " * 100
    (folder / name).write_bytes(data)
    line = {
        "format": FORMAT,
        "stamp": stamp_of(["kernel.py"], package),
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    manifest = {"libraries": {name: line}, "sources": ["kernel.py"], "entries": [], "routines": []}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return package, folder, name, manifest


def rewrite(folder, manifest):
    (folder / MANIFEST).write_text(json.dumps(manifest))


def test_one_that_fits_is_taken(built):
    package, folder, name, _ = built
    library, reason = choose(folder, package)
    assert library.path == folder / name
    assert reason == ""


def old(*files):
    """Let files be from a while ago."""
    for file in files:
        os.utime(file, ns=(0, file.stat().st_mtime_ns - 10 * engine_library.SETTLED))


def test_what_was_read_is_not_read_again(built, monkeypatch):
    """While no file has another size or time; any change is seen, and what was changed a moment ago is read."""
    package, folder, name, _ = built
    files = (package / "kernel.py", folder / name, folder / MANIFEST)
    assert choose(folder, package).library
    assert not (folder / engine_library.SEEN).exists()
    old(*files)
    assert choose(folder, package).library
    assert (folder / engine_library.SEEN).exists()
    with monkeypatch.context() as patched:
        patched.setattr(engine_library, "stamp_of", None)
        assert choose(folder, package).library.path == folder / name
    (package / "kernel.py").write_text("x = 2")  # of the same size
    assert "other sources" in choose(folder, package).reason
    (package / "kernel.py").write_text("x = 1")
    old(*files)
    assert choose(folder, package).library
    data = bytearray((folder / name).read_bytes())
    (folder / name).write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert "damaged" in choose(folder, package).reason
    (folder / name).write_bytes(data[:-1])
    old(*files)
    assert "damaged" in choose(folder, package).reason
    (folder / name).unlink()
    assert choose(folder, package).library is None


def test_a_note_that_is_nonsense_is_no_note(built):
    package, folder, name, _ = built
    for note in (b"", b"\xff\xfe", b"exact.so"):
        (folder / engine_library.SEEN).write_bytes(note)
        assert choose(folder, package).library.path == folder / name
    (folder / engine_library.SEEN).unlink()
    (folder / engine_library.SEEN).mkdir()  # as where nothing can be written
    old(package / "kernel.py", folder / name, folder / MANIFEST)
    assert choose(folder, package).library.path == folder / name


def test_none_is_no_fault(tmp_path):
    assert choose(tmp_path) == (None, "")


def test_another_source_refuses_it(built):
    package, folder, name, _ = built
    (package / "kernel.py").write_text("x = 2")
    library, reason = choose(folder, package)
    assert library is None
    assert name in reason
    assert "other sources" in reason
    (package / "kernel.py").unlink()
    assert choose(folder, package)[0] is None


@pytest.mark.parametrize("length", [0, 1, 500, 999])
def test_a_truncated_one_is_refused(built, length):
    package, folder, name, _ = built
    (folder / name).write_bytes((folder / name).read_bytes()[:length])
    library, reason = choose(folder, package)
    assert library is None
    assert "damaged" in reason


def test_one_changed_byte_refuses_it(built):
    package, folder, name, _ = built
    data = bytearray((folder / name).read_bytes())
    data[500] ^= 1
    (folder / name).write_bytes(data)
    assert "damaged" in choose(folder, package).reason


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"libraries": {}}', '{"libraries": 3, "sources": []}'])
def test_a_damaged_manifest_is_refused(built, text):
    package, folder, _, _ = built
    (folder / MANIFEST).write_text(text)
    library, reason = choose(folder, package)
    assert library is None
    assert "manifest" in reason


@pytest.mark.parametrize(
    "change", [{"format": FORMAT + 1}, {"needs": ["an instruction that no processor has"]}, {"stamp": "other"}]
)
def test_a_foreign_one_is_refused(built, change):
    package, folder, name, manifest = built
    manifest["libraries"][name].update(change)
    rewrite(folder, manifest)
    library, reason = choose(folder, package)
    assert library is None
    assert name in reason


def test_one_for_another_system_is_none_for_this(built):
    package, folder, name, manifest = built
    manifest["libraries"] = {"amiga_m68k.so": manifest["libraries"][name]}
    rewrite(folder, manifest)
    library, reason = choose(folder, package)
    assert library is None
    assert sys.platform in reason


def test_the_variable_refuses_every_one(built, monkeypatch):
    package, folder, _, _ = built
    monkeypatch.setenv(engine_library.WISH, "0")
    assert choose(folder, package) == (None, "")


def test_a_damaged_first_choice_leaves_the_next(built):
    package, folder, name, manifest = built
    first = names_here()[0]
    if first == name:
        pytest.skip("there is one library for this machine")
    manifest["libraries"][first] = manifest["libraries"][name] | {"size": 3}
    (folder / first).write_bytes(b"abcd")
    rewrite(folder, manifest)
    assert choose(folder, package).library.path == folder / name


@pytest.mark.parametrize(
    ("result", "taken"), [("i", True), ("n", True), (["f", ["b", "i"]], True), ("i1", False), (["i", ["f2"]], False)]
)
def test_entries_that_make_arrays_run_as_plain_python(built, result, taken):
    """No word holds an array that compiled code has made: such a call would end the process."""
    _, folder, name, manifest = built
    entries = [["make", ["f1"], result], ["other", ["f1"], "i"]]
    engine = Engine(Library(folder / name, manifest["libraries"][name], manifest | {"entries": entries}))
    assert ("make" in engine._entries) is taken
    assert engine._entries["other"][0][0] == 1


WORDS = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def doors_of(arguments, result, run):
    """Doors into a function of Python in place of compiled code: run(words) returns the words of the result."""
    n = sum(struct.calcsize("<" + letters) for letters in map(letters_of, arguments)) // 8

    def enter(words, results):
        taken = ctypes.string_at(words, 8 * n)
        ctypes.memmove(results, found := run(taken), len(found))
        return 0

    kept = WORDS(enter)
    address = ctypes.cast(kept, ctypes.c_void_p).value
    return [Door(address, arguments, result, released) for released in (False, True)], kept


def letters_of(shape):
    from haugmbd.compiled.engine_layer import _letters  # noqa: PLC0415

    return _letters(shape)


def test_numbers_and_tuples_travel_in_words():
    (held, released), _kept = doors_of(["i", "f", ["i", "f"], "b"], ["f", "i"], lambda words: words[8:16] + words[:8])
    for door in (held, released):
        assert door((3, 2.5, (4, 1), True)) == (2.5, 3)
        assert door((np.int64(-1), np.float64(0.1), (4, 1.0), np.bool_(False))) == (0.1, -1)


def test_arrays_travel_by_their_address_and_come_back():
    def double(words):
        address, rows, columns = struct.unpack("<3q", words)
        x = np.frombuffer((ctypes.c_double * (rows * columns)).from_address(address))
        x *= 2.0
        return b""

    (door, _), _kept = doors_of(["f2"], "n", double)
    x = np.arange(12.0).reshape(3, 4)
    assert door((x,)) is None
    assert np.array_equal(x, 2.0 * np.arange(12.0).reshape(3, 4))
    part = x[:, 1:3]  # not contiguous
    door((part,))
    assert np.array_equal(x[:, 0], [0.0, 8.0, 16.0])
    assert np.array_equal(x[:, 1], [4.0, 20.0, 36.0])
    turned = np.arange(6.0).reshape(2, 3).T
    door((turned,))
    assert np.array_equal(turned, 2.0 * np.arange(6.0).reshape(2, 3).T)
    frozen = np.arange(4.0).reshape(2, 2)[:, :1]
    frozen.flags.writeable = False
    door((frozen,))
    assert np.array_equal(frozen, [[0.0], [2.0]])


def test_records_travel_by_their_address():
    class Step:
        h: float
        t: float

    def put(words):
        numbers = (ctypes.c_double * 2).from_address(struct.unpack("<q", words)[0])
        numbers[1] = 3.0 * numbers[0]
        return b""

    (door, _), _kept = doors_of(["r"], "n", put)
    step = new_record(record_dtype(Step), h=0.5)
    door((step,))
    assert step.t == 1.5


@pytest.mark.parametrize(
    "arguments",
    [
        (1,),
        (np.zeros(3), 1.0, 2),
        (np.zeros(3, dtype=int), 1.0),
        (np.zeros((3, 1)), 1.0),
        ([0.0, 1.0], 1.0),
        (np.zeros(3), "1.0"),
        (np.zeros(3, dtype=np.float32), 1.0),
    ],
)
def test_other_types_are_not_taken(arguments):
    (door, _), _kept = doors_of(["f1", "f"], "n", lambda words: b"")
    with pytest.raises(Mismatch):
        door(arguments)


def test_a_failed_call_is_an_error():
    def enter(words, results):
        return 1

    kept = WORDS(enter)
    door = Door(ctypes.cast(kept, ctypes.c_void_p).value, ["i"], "i", False)
    with pytest.raises(RuntimeError, match="engine"):
        door((1,))
