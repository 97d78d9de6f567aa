"""The types in signatures of cached functions: the next process has to recognise them, or compiles everything again."""

from __future__ import annotations

import pickle

import pytest
from numba.core import serialize

from haugmbd.compiled.function_pointers import function_type
from haugmbd.integrators.implicit.step_control import METHOD_TYPE
from haugmbd.integrators.step_context import DYNAMICS_TYPE, OPTIONS_TYPE
from haugmbd.workspace.layout import PACK_TYPE, SOLVE_SIGNATURE

TYPES = {
    "Pack": PACK_TYPE,
    "function": function_type(SOLVE_SIGNATURE),
    "Dynamics": DYNAMICS_TYPE,
    "Options": OPTIONS_TYPE,
    "method": METHOD_TYPE,
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_survives_the_way_to_disk(name):
    """A class that cannot be found by its name is saved by value, and comes back as another class."""
    assert pickle.loads(serialize.dumps(TYPES[name])) == TYPES[name]
