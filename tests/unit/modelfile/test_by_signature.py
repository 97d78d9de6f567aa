"""Force elements that are saved by the signatures of their constructors: what a copy of one of the library has for nothing."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.modelfile.parts.by_signature import made_by_signature, text_by_signature


@pytest.fixture
def strut():
    """An element between two points, which keeps frames in place of bodies and points."""
    system = mbd.System("two")
    ends = [system.add(mbd.Body(name, 1.0, (0.1, 0.2, 0.3), r=r)) for name, r in (("a", (0, 1, 0)), ("b", (2, 0, 0)))]
    return system, mbd.TSDA("strut", *ends, point_i=(0, 1, 0.5), point_j=(2.5, 0, 0), k=10.0, l0=1.5)


def test_an_element_between_two_points_is_made_again(strut):
    system, load = strut
    text = text_by_signature(load, {})
    assert (text["i"], text["j"]) == ("a", "b")
    again = made_by_signature(mbd.TSDA, {"name": "strut", **text}, system.__getitem__, system.__getitem__)
    assert again.bodies() == load.bodies()
    for one, other in zip(again.markers(), load.markers(), strict=True):
        np.testing.assert_allclose(one[1], other[1], rtol=0.0, atol=1e-15)
    assert again.numbers() == load.numbers()


@pytest.mark.parametrize("kept", ["frame_j", "c"])
def test_an_argument_that_is_not_kept_is_named_with_the_remedy(strut, kept):
    _, load = strut
    object.__delattr__(load, kept)
    with pytest.raises(mbd.UsageError, match=rf"'{kept[-1]}' is not kept: write self.{kept[-1]} = {kept[-1]} in __init__"):
        text_by_signature(load, {})
