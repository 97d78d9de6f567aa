"""Reading user values: an array always comes back, and one fault says what was wrong."""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd.bodies.validation import frozen, numbers, read_array, read_number


@pytest.mark.parametrize(
    "value", [(1, 2, 3), [1.0, 2.0, 3.0], np.array([1, 2, 3], dtype=np.int8), np.array([1, 2, 3], dtype=object)]
)
def test_numbers_in_many_forms(value):
    faults = []
    assert read_array(faults, "x", "r", value, (3,)).tolist() == [1.0, 2.0, 3.0]
    assert faults == []


@pytest.mark.parametrize("value", ["1", None, ["1", "2"], 1j, {}, object(), [[1], [1, 2]], 10**400])
def test_what_is_not_numbers(value):
    assert numbers(value) is None


def test_a_second_shape_is_accepted_and_a_bad_value_has_the_first():
    faults = []
    assert read_array(faults, "x", "J", np.eye(3), (3,), (3, 3)).shape == (3, 3)
    assert read_array(faults, "x", "J", np.eye(2), (3,), (3, 3), unit="kg m2").shape == (3,)
    assert [str(fault) for fault in faults] == [
        "x: J has shape (2, 2), expected (3,) or (3, 3). Give J as finite numbers [kg m2] of shape (3,) or (3, 3)."
    ]


def test_one_number():
    faults = []
    assert read_number(faults, "x", "k", np.float32(2)) == 2.0
    assert np.isnan(read_number(faults, "x", "k", np.nan, unit="N/m"))
    assert np.isnan(read_number(faults, "x", "k", "a" * 100))
    assert str(faults[0]) == "x: k is nan, not finite. Give k as one finite number [N/m]."
    assert len(faults[1].what) < 90


def test_frozen_is_a_read_only_copy():
    source = np.zeros(2)
    copy = frozen(source)
    source[0] = 1.0
    assert copy[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 1.0
