"""The types in signatures of cached functions: the next process has to recognise them, or compiles everything again."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from numba.core import serialize

from haugmbd.compiled import scalars, taped, wide
from haugmbd.compiled.cache_stamp import source_stamp
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


@pytest.mark.parametrize(
    ("kind", "module"), [(scalars.Dual, scalars), (taped.Taped, taped), (wide.Wide, wide)], ids=["dual", "taped", "wide"]
)
def test_a_type_of_numbers_is_named_by_its_rules(kind, module):
    """Kernels of files that do not import these rules are compiled for them: only the type in a signature tells of a change."""
    assert kind.name.endswith(source_stamp(Path(module.__file__))[:8])
