"""The many optional fields of a result are given by name: their order is no promise."""

from __future__ import annotations

import inspect

import pytest

import haugmbd as mbd

POSITIONAL = {
    mbd.Result: ["_model", "t", "y"],
}


@pytest.mark.parametrize("kind", POSITIONAL, ids=lambda kind: kind.__name__)
def test_what_is_not_the_motion_itself_is_given_by_name(kind):
    parameters = inspect.signature(kind).parameters.values()
    assert [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY] == POSITIONAL[kind]
    names = ", ".join(name.lstrip("_") for name in POSITIONAL[kind])
    with pytest.raises(TypeError, match=rf"by position \({names}\), not"):
        kind(*range(len(POSITIONAL[kind]) + 1))
