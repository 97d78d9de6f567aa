"""Numbers of markers: in the order of first use, one for the same bits, however many there are."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.model.compiling import numbering
from haugmbd.model.compiling.numbering import Numbering, first_of_equals


def one_by_one(words):
    known: dict[bytes, int] = {}
    number = [known.setdefault(row.tobytes(), len(known)) for row in words]
    return [number.index(k) for k in range(len(known))], number


def some_words(n, seed=0):
    words = np.random.default_rng(seed).integers(0, 3, (n, 4)).astype(np.float64)
    words[::7] *= -1.0  # zeros of both signs are different bits
    return words.view(np.uint64)


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_rows_have_the_numbers_of_a_search_one_by_one(n):
    words = some_words(n)
    first, number = first_of_equals(words)
    assert (first.tolist(), number.tolist()) == one_by_one(words)


def test_rows_with_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(numbering, "MIXERS", np.zeros(4, dtype=np.uint64))
    words = some_words(300)
    first, number = first_of_equals(words)
    assert (first.tolist(), number.tolist()) == one_by_one(words)


def test_markers_that_follow_many_are_found_among_them(monkeypatch):
    bodies = [mbd.Body.ground(), *(mbd.Body(f"b{k}", 1.0, (1, 1, 1)) for k in range(3))]
    x_bar = np.random.default_rng(1).integers(0, 3, (200, 3)).astype(np.float64)
    of = np.random.default_rng(2).integers(0, 4, 200)
    found = []
    for many in (1, 1000):
        monkeypatch.setattr(numbering, "MANY", many)
        number = Numbering(bodies)
        numbers = number.markers(of, x_bar)
        assert number.marker(bodies[of[5]], x_bar[5]) == numbers[5]
        new = number.marker(bodies[1], np.array([9.0, 9.0, 9.0]))
        assert new == numbers.max() + 1
        again = number.markers(of[:20], x_bar[:20])
        body_of, table = number.marker_table()
        assert np.array_equal(again, numbers[:20])
        assert np.array_equal(body_of[numbers], of)
        assert np.array_equal(table[numbers], x_bar)
        found.append((numbers.tolist(), body_of.tolist(), table.tolist()))
    assert found[0] == found[1]
