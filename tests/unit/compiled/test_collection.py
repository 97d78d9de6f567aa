"""The pause of the garbage collector: afterwards objects are old ones, which a full collection frees."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from haugmbd.compiled import collection
from haugmbd.compiled.collection import collection_paused


class Loop:
    """An object that only the collector can free."""

    freed = 0

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        Loop.freed += 1


@pytest.fixture(autouse=True)
def nothing_set_aside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin without objects that are set aside for good; the tests as a whole may have some."""
    monkeypatch.setattr(collection, "_left_alone", [False])
    enabled, frozen = gc.isenabled(), gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.enable()
    yield
    gc.unfreeze()
    if frozen:
        gc.freeze()
    if not enabled:
        gc.disable()


PROGRAM = """
import gc
from haugmbd.compiled.collection import BY_PYTHON, collection_paused

class Loop:
    freed = 0
    def __init__(self):
        self.own = self
    def __del__(self):
        Loop.freed += 1

with collection_paused():
    assert not gc.isenabled()
    Loop()
assert gc.isenabled()
gc.collect(1)
assert Loop.freed == 0
gc.collect()
assert Loop.freed == 1
assert gc.get_freeze_count() < BY_PYTHON

gc.freeze()  # by the user
with collection_paused():
    pass
gc.collect()
assert gc.get_freeze_count() > BY_PYTHON
print("well")
"""


@pytest.mark.slow
def test_what_was_made_in_a_pause_is_freed_by_a_full_collection_and_what_the_user_has_frozen_stays_so() -> None:
    """In a process of its own: a full collection of that of the tests takes half a second."""
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600)
    assert run.stdout == "well\n", run.stderr


def test_no_code_of_ours_runs_in_collections() -> None:
    """A Ctrl-C that came while the collector called back was printed as an ignored exception, and the run went on to its end."""
    before = list(gc.callbacks)
    with collection_paused():
        Loop()
    assert gc.callbacks == before
    assert not any(getattr(call, "__module__", "").startswith("haugmbd") for call in gc.callbacks)


def test_what_the_user_has_frozen_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count walks through all of them: a tenth of a second in a large process, in which models are compiled in a millisecond."""
    counts = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counts.append(1) or 2 * collection.BY_PYTHON)
    for _ in range(5):
        with collection_paused():
            pass
    assert len(counts) == 1
