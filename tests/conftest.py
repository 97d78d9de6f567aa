"""One thread, no display, the same random numbers in every run; and what a run of ten thousand tests costs by itself is kept low."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from zlib import crc32

# Before NumPy is imported: small matrices are slower on several threads, and the order of sums would depend on the machine.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("HAUGMBD_QUIET", "1")  # what is said where the cache is cold would be in the way of what tests read

# Tests with rewritten assertions and the package itself are compiled to bytecode once, not by every worker and every process of a run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.entropy import deterministic_PRNG

from haugmbd.compiled.jit import LAYER
from tests.support.seeds import MORE, seeds

# Derandomized: a failure repeats.  No deadline: the first example of a test may compile a kernel.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=len(seeds(20)),
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

# Before its first example Hypothesis collects garbage, among all objects that there are: now there are few.
with deterministic_PRNG():
    pass

FEWER_COLLECTIONS = (20_000, 20, 50)
"""Thresholds of the garbage collector in place of (700, 10, 10), at which it takes 4 % of the time of all tests."""

if LAYER.name == "fast":  # the plain layer keeps what Python calls, and compiles kernels for each process
    from haugmbd.compiled.code_cache import keep_on_disk
    from haugmbd.compiled.fast_numba import KernelDispatcher

    compiled_for_python = KernelDispatcher._compile_for_args

    def kept_for_python(self: KernelDispatcher, *arguments: object, **_: object) -> object:
        """A kernel as Python calls it, which tests do and the package does not, is kept on disk, too."""
        first = self._from_python is None
        found = compiled_for_python(self, *arguments)
        return keep_on_disk(found) if first else found

    KernelDispatcher._compile_for_args = kept_for_python


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator, fresh for each test."""
    return np.random.default_rng(20260501)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """What `tests.support.plain` computes in a process of its own without the compiler, by name."""
    file = tmp_path_factory.mktemp("plain") / "plain.npz"
    command = [sys.executable, "-m", "tests.support.plain", str(file)]
    run = subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    with np.load(file) as found:
        return dict(found)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, and exempt from it what was made: half a million objects, which last as long as the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(*FEWER_COLLECTIONS)


WHOLE, MANY, OF = 5_000, 4, 5
"""A run of so many tests is one of all; a slow test with so many cases has one of so many of them in it."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave four fifths of the cases of slow tests with many out of a run of all tests, unless HAUGMBD_CASES=all or HAUGMBD_SEEDS asks.

    A run finds what has changed, as with seeds: a fault of one joint, method or mechanism is seen by several tests.  Which cases stay is
    a matter of the test's name, so that no case of a family is left out by all tests.
    """
    if len(items) < WHOLE or MORE > 1 or os.environ.get("HAUGMBD_CASES") == "all":
        return
    cases: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        if hasattr(item, "callspec") and item.get_closest_marker("slow"):
            cases.setdefault((str(item.path), getattr(item, "originalname", item.name)), []).append(item)
    left = set[pytest.Item]()
    for (path, name), family in cases.items():
        if len(family) >= MANY:
            first = crc32(f"{Path(path).name}::{name}".encode()) % min(OF, len(family))
            left |= {item for k, item in enumerate(family) if k % OF != first}
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Exempt what is left from the garbage collector: pytest collects five times at the end, through all that a run has made."""
    gc.freeze()
