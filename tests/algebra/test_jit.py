"""The disk cache of entries must see an edit of any file with kernels, not only of the entry's own."""

import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import haugmbd
from haugmbd.algebra import jit
from haugmbd.formulations.face import accelerate_entry


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler there is no cache")
def test_entries_carry_the_stamp_of_all_kernel_files() -> None:
    assert accelerate_entry._cache._cache_file._source_stamp == jit.STAMP


def test_the_stamp_changes_with_any_file_that_holds_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "haugmbd"
    shutil.copytree(Path(haugmbd.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(package / "algebra" / "jit.py"))
    before = jit._package_stamp()
    assert before == jit.STAMP
    (package / "result.py").write_text((package / "result.py").read_text() + "# a comment where no kernel is\n")
    assert jit._package_stamp() == before
    kernel_file = package / "primitives" / "dp1.py"
    kernel_file.write_text(kernel_file.read_text() + "# changed\n")
    assert jit._package_stamp() != before


def test_importing_compiles_nothing_and_loads_nothing_heavy() -> None:
    program = (
        "import sys, haugmbd, haugmbd.formulations.face as f;"
        "heavy = {'scipy.integrate', 'scipy.interpolate'} & set(sys.modules);"
        "heavy |= {'matplotlib', 'quaternion', 'pydantic', 'h5py', 'h5netcdf', 'xarray', 'tqdm'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "assert not getattr(f.accelerate_entry, 'overloads', {}), 'something was compiled'"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
