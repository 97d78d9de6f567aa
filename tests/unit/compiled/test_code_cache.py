"""The disk cache of compiled functions bears damage, full disks and missing folders, and says what takes so long, once."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import pytest
from numba.core import codegen

import haugmbd
from haugmbd.compiled import cache_stamp, code_cache, notices
from haugmbd.compiled.jit import entry
from tests.support.seeds import seeds

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler there is no cache")

TWICE = "from haugmbd.compiled.jit import entry\n\ndef twice(x):\n    return 2.0 * x\n"


@pytest.fixture
def twice(tmp_path, monkeypatch):
    """A function in a file of its own, whose machine code is kept beside it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    file = tmp_path / "small.py"
    file.write_text(TWICE)
    spec = importlib.util.spec_from_file_location("small", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(
        sys.modules, "small", module
    )  # Numba imports the module by name where it has forgotten the function's constants
    spec.loader.exec_module(module)
    return module.twice


@pytest.fixture
def nothing_said(monkeypatch):
    """A process that has said nothing yet."""
    monkeypatch.setattr(notices, "_said", set())
    monkeypatch.delenv("HAUGMBD_QUIET", raising=False)


def hits(function):
    """Whether a newly made entry takes its machine code from disk; it gives the right number in any case."""
    compiled = entry(function)
    assert compiled(3.0) == 6.0
    return sum(compiled.stats.cache_hits.values()) == 1


def is_whole(file):
    data = file.read_bytes()
    return hashlib.sha256(data[code_cache.DIGEST :]).digest() == data[: code_cache.DIGEST]


@pytest.mark.slow
def test_no_damage_of_a_cache_file_is_fatal(twice, tmp_path, rng):
    assert not hits(twice)
    assert hits(twice)
    files = sorted((tmp_path / "__pycache__").glob("small*.nb[ic]"))
    assert [f.suffix for f in files] == [".nbc", ".nbi"]
    for file in files:
        whole = file.read_bytes()
        damaged = [b"", b"\x80", whole[:20], whole[:-1], whole[: len(whole) // 2], whole + b"\0", bytes(len(whole))]
        for place in rng.integers(0, 8 * len(whole), len(seeds(4))).tolist():
            flipped = bytearray(whole)
            flipped[place // 8] ^= 1 << place % 8
            damaged.append(bytes(flipped))
        for data in damaged:
            file.write_bytes(data)
            assert not hits(twice)
            assert is_whole(file)  # written again
    assert hits(twice)


@pytest.mark.slow
def test_code_of_other_sources_or_another_compiler_is_not_taken(twice, monkeypatch):
    hits(twice)
    with monkeypatch.context() as changed:  # undo() would also take away what the fixture has set
        changed.setattr(code_cache, "source_stamp", lambda file: "another")
        assert not hits(twice)
    assert not hits(twice)
    assert hits(twice)


@pytest.mark.slow
def test_code_for_another_signature_is_not_taken(twice, tmp_path):
    """Two processes that compile two signatures at the same time may give their files the same name: the later file stays."""
    compiled = entry(twice)
    assert compiled(3.0) == 6.0
    assert compiled(3) == 6.0
    files = sorted((tmp_path / "__pycache__").glob("small*.nbc"))
    assert len(files) == 2
    files[0].write_bytes(files[1].read_bytes())
    again = entry(twice)
    assert again(2.5) == 5.0
    assert again(3) == 6.0
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_disk_that_is_full_costs_time_only(twice, nothing_said, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(code_cache.CodeCacheFile, "_save_data", full)
    with pytest.warns(RuntimeWarning, match=r"No space left on device\): every new process .* NUMBA_CACHE_DIR"):
        assert not hits(twice)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not hits(twice)  # the warning is given once


@pytest.mark.slow
def test_what_takes_so_long_is_said_once(twice, nothing_said, tmp_path, caplog):
    assert not hits(twice)
    assert len(caplog.records) == 1
    assert caplog.records[0].name == "haugmbd"
    assert "compiling what has not run on this machine before" in caplog.text
    assert str(tmp_path) in caplog.text
    caplog.clear()
    for file in (tmp_path / "__pycache__").glob("*.nb*"):
        file.unlink()
    assert not hits(twice)
    assert hits(twice)
    assert caplog.text == ""


@pytest.mark.slow
@pytest.mark.parametrize("silence", ["environment", "level"])
def test_it_can_be_silenced(twice, nothing_said, caplog, monkeypatch, silence):
    if silence == "environment":
        monkeypatch.setenv("HAUGMBD_QUIET", "1")
    else:
        caplog.set_level(logging.ERROR, logger="haugmbd")
    assert not hits(twice)
    assert caplog.text == ""


def nowhere_to_write(folder: Path) -> dict[str, str]:
    """Put a file where the folder of machine code would be, and the user's cache where none can be: root may write everywhere else."""
    for place in (folder, *(f for f in folder.rglob("*") if f.is_dir())):
        (place / "__pycache__").write_text("")
    blocked = {"XDG_CACHE_HOME": "/dev/null", "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"}
    return {key: value for key, value in os.environ.items() if key != "HAUGMBD_QUIET"} | blocked


@pytest.mark.slow
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the user's cache is at another place")
def test_without_a_place_to_write_code_is_compiled_for_this_process(tmp_path):
    """Numba would raise "no locator available" at `import haugmbd`."""
    shutil.copytree(Path(haugmbd.__file__).parent, tmp_path / "haugmbd", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "small.py").write_text(TWICE)
    environment = nowhere_to_write(tmp_path) | {"PYTHONPATH": str(tmp_path)}

    def run(program):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    assert run("import haugmbd; print(haugmbd.__file__)") == (f"{tmp_path}/haugmbd/__init__.py\n", "")
    twice_over = "import small; print([small.entry(small.twice)(3.0), small.entry(small.twice)(4.0)])"
    out, told = run(twice_over)
    assert out == "[6.0, 8.0]\n"
    assert told.count("RuntimeWarning") == 1
    assert "there is no folder to keep compiled code in" in told
    assert "Set NUMBA_CACHE_DIR to a folder" in told


def test_the_stamp_of_a_file_covers_what_it_imports_in_other_packages():
    """A change of the places of arrays makes the machine code of every solver stale, wherever the stamp's own file lies."""
    package = Path(haugmbd.__file__).resolve().parent
    assert package == cache_stamp.PACKAGE
    seen, waiting = set(), [str(package / "kkt" / "tree_solver.py")]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += cache_stamp._read(one, package)[1]
    names = {str(Path(one).relative_to(package)) for one in seen}
    assert {"workspace/layout.py", "compiled/jit.py", "compiled/status_codes.py", "math/vec3.py"} <= names


def test_an_edit_of_a_file_that_is_imported_changes_the_stamp(tmp_path):
    package = tmp_path / "small"
    (package / "deep" / "deeper").mkdir(parents=True)
    constant, user = package / "constant.py", package / "deep" / "deeper" / "user.py"
    constant.write_text("VALUE = 1\n")
    user.write_text("from small.constant import VALUE\n")
    before = cache_stamp.source_stamp(user, package)
    for remembered in (cache_stamp._read, cache_stamp.source_stamp, cache_stamp._files):
        remembered.cache_clear()
    constant.write_text("VALUE = 2\n")
    assert cache_stamp.source_stamp(user, package) != before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_while_llvm_runs_is_raised(twice, monkeypatch):
    """It is raised in the callback that takes the machine code, which ignores it; then Numba's cache missed the code."""

    def struck(library, value):
        if value:
            raise KeyboardInterrupt

    compiled = entry(twice)
    with monkeypatch.context() as m:
        m.setattr(codegen.CPUCodeLibrary, "_compiled", property(lambda library: False, struck), raising=False)
        with pytest.raises(KeyboardInterrupt):
            compiled(2.0)
    assert compiled(2.0) == 4.0
    assert entry(twice)(3.0) == 6.0
