"""The content of values: another digest for another value of any kind at any depth, the same in another process, or a refusal."""

from __future__ import annotations

import abc
import copy
import dataclasses
import functools
import os
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from haugmbd.content_digest import NoContent, digest_of, values_read
from tests.support.enclosed_values import HIDDEN, LEAVES, UNSEEN, WRAPPERS, Plain, Record, drawn_value
from tests.support.sweep_cells import module_path

SCALE = 3.0


@pytest.mark.parametrize("kind", LEAVES)
def test_a_value_is_told_from_another_one_and_not_from_one_that_is_made_anew(kind):
    make = LEAVES[kind]
    assert digest_of(make(2)) == digest_of(make(2))
    assert digest_of(make(2)) != digest_of(make(3))


@pytest.mark.parametrize("kind", HIDDEN)
def test_a_value_that_hides_is_told_from_another_one(kind):
    """A copy may be made without it, and bytes mean another number in another format."""
    make = HIDDEN[kind]
    assert digest_of(make(2)) == digest_of(make(2))
    assert digest_of(make(2)) != digest_of(make(3))


@pytest.mark.parametrize("kind", UNSEEN)
def test_what_nobody_can_see_is_refused(kind):
    with pytest.raises(NoContent):
        digest_of(UNSEEN[kind]())
    assert digest_of(UNSEEN[kind](), vouched=True)


def test_what_is_computed_once_and_kept_is_no_difference():
    class Law:
        def __init__(self):
            self.gain = 3.0

        @functools.cached_property
        def table(self):
            return np.arange(3.0) * self.gain

    fresh, used = Law(), Law()
    assert used.table[2] == 6.0
    assert digest_of(fresh) == digest_of(used)


def test_what_python_keeps_on_a_class_whose_objects_are_copied_is_no_difference():
    class Law:
        def __init__(self):
            self.gain = 3.0

    class Base(abc.ABC):
        @abc.abstractmethod
        def force(self): ...

    @dataclasses.dataclass
    class Data:
        gain: float = 3.0

    kinds = (Law, Base, Data)
    before = [digest_of(kind) for kind in kinds]
    for each in (Law(), Data()):
        copy.copy(each)
        copy.deepcopy(each)
        assert not isinstance(each, Base)
    assert [digest_of(kind) for kind in kinds] == before


def test_a_cache_of_a_library_is_no_difference():
    @functools.singledispatch
    def law(x):
        return x

    before = digest_of(law)
    law(2)
    assert digest_of(law) == before


def test_a_mapped_array_is_its_numbers(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", dtype=np.float64, mode="w+", shape=(3,))
    before = digest_of(mapped)
    assert before == digest_of(mapped.copy())
    mapped[1] = 3.0
    assert digest_of(mapped) != before


@pytest.mark.parametrize("kind", WRAPPERS)
def test_a_value_in_any_object_is_told_from_another_one(kind):
    wrap = WRAPPERS[kind]
    assert digest_of(wrap(2.0)) == digest_of(wrap(2.0))
    assert digest_of(wrap(2.0)) != digest_of(wrap(3.0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_one_leaf_at_any_depth_decides(seed):
    for k in range(100):
        (two, layers), (again, _), (three, _) = (drawn_value(np.random.default_rng([seed, k]), x) for x in (2, 2, 3))
        assert digest_of(two) == digest_of(again), layers
        assert digest_of(two) != digest_of(three), layers


PROGRAM = """
import numpy as np
from haugmbd.content_digest import digest_of
from tests.support.enclosed_values import drawn_value
print(digest_of([drawn_value(np.random.default_rng([7, k]), 2)[0] for k in range(60)]))
"""


@pytest.mark.slow
def test_another_process_finds_the_same_digest():
    """Texts and sets have another order there."""
    said = set()
    for seed in ("1", "2"):
        environment = os.environ | module_path() | {"PYTHONHASHSEED": seed}
        ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True)
        said.add(ended.stdout)
    assert len(said) == 1


def _scaled(x):
    return SCALE * x


def test_a_function_is_what_it_runs_with_all_that_it_reads(monkeypatch):
    def law(x):
        """Scale."""
        return _scaled(x)

    before = digest_of(law)
    assert list(values_read(_scaled)) == ["SCALE"]
    monkeypatch.setitem(globals(), "SCALE", 4.0)  # the global of a function that it calls
    assert digest_of(law) != before
    monkeypatch.undo()
    assert digest_of(law) == before
    law.__code__ = (lambda x: _scaled(x) + 1).__code__
    assert digest_of(law) != before


def test_compiled_functions_are_their_python_functions():
    def make(k):
        return numba.njit(lambda x: k * x)

    assert digest_of(make(2.0)) == digest_of(make(2.0))
    assert digest_of(make(2.0)) != digest_of(make(3.0))


def test_a_collection_that_is_only_added_to_is_not_read():
    def make(calls, rows, names, read):
        def run(x):
            calls.append((x, len(str(x))))
            rows[x] = 2 * x
            names.add(x)
            return x + len(read)

        return run

    first = digest_of(make([], {}, set(), []))
    assert digest_of(make([1], {1: 2}, {3}, [])) == first
    assert digest_of(make([], {}, set(), [1])) != first

    def make_reading(calls):
        def run(x):
            calls.append(x)
            return calls[0]

        return run

    assert digest_of(make_reading([1])) != digest_of(make_reading([2]))


def test_rounded_numbers_are_those_of_another_machine():
    x = np.linspace(0.1, 7.3, 1001)
    near, far = x * (1.0 + 4.0 * np.finfo(float).eps), x * (1.0 + 1e-7)
    assert digest_of(x, rounded=True) == digest_of(near, rounded=True)
    assert digest_of(x, rounded=True) != digest_of(far, rounded=True)
    assert digest_of(x) != digest_of(near)
    assert digest_of([0.1 + 0.2], rounded=True) == digest_of([0.3], rounded=True)


def test_what_has_no_content_is_refused_with_its_place_or_vouched_for():
    with open(os.devnull) as file:
        for value, said in (
            (file, "^a _io.TextIOWrapper$"),
            ((x for x in "ab"), "^a generator$"),
            (np.frompyfunc(abs, 1, 1), "^a numpy.ufunc$"),
            ([{"log": Record(file)}], r"^\[0\]\['log'\]\.value: a _io.TextIOWrapper$"),
            (lambda x: (x, file), "^file: a _io.TextIOWrapper$"),
        ):
            with pytest.raises(NoContent, match=said):
                digest_of(value)
            assert digest_of(value, vouched=True) == digest_of(value, vouched=True)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(NoContent, match="nested too deeply"):
        digest_of(deep)
    while deep:
        deep = deep.pop()


def test_locks_and_cycles_have_content():
    first, second = Plain(2.0), Plain(2.0)
    first.lock, second.lock = threading.Lock(), threading.Lock()
    assert digest_of(first) == digest_of(second)
    ring: list = [1.0]
    ring.append(ring)
    other: list = [2.0]
    other.append(other)
    assert digest_of(ring) != digest_of(other)
