"""The disk cache of entries must see an edit of any file with kernels, not only of the entry's own."""

import shutil
from pathlib import Path

import numba
import pytest

import haugmbd
from haugmbd.compiled.cache_stamp import _read, source_stamp
from haugmbd.formulations import accelerations
from haugmbd.formulations.accelerations import accelerate_entry


def forget() -> None:
    """Read the files again."""
    source_stamp.cache_clear()
    _read.cache_clear()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package's text."""
    copy = tmp_path / "haugmbd"
    shutil.copytree(Path(haugmbd.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler there is no cache")
def test_entries_carry_the_stamp_of_their_file() -> None:
    assert accelerate_entry._cache._cache_file._source_stamp == source_stamp(Path(accelerations.__file__))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "seen"),
    [
        ("formulations/accelerations.py", True),
        ("math/vec3.py", True),  # imported on the way
        ("analysis/mobility/mobility.py", False),  # no kernel of this entry can come from there
        ("plotting/style.py", False),
    ],
)
def test_the_stamp_sees_every_imported_file_and_no_other(package: Path, changed: str, seen: bool) -> None:
    entry_file = package / "formulations" / "accelerations.py"
    before = source_stamp(entry_file, package)
    forget()
    file = package / changed
    file.write_text(file.read_text() + "# changed\n")
    assert (source_stamp(entry_file, package) != before) == seen


@pytest.mark.slow
def test_the_stamp_sees_a_constant_of_a_file_without_kernels(package: Path) -> None:
    entry_file = package / "math" / "some_entry.py"
    entry_file.write_text("from haugmbd.math import some_numbers as numbers\n")
    (package / "math" / "some_numbers.py").write_text("SMALL = 1e-3\n")
    before = source_stamp(entry_file, package)
    forget()
    (package / "math" / "some_numbers.py").write_text("SMALL = 1e-4\n")
    assert source_stamp(entry_file, package) != before
