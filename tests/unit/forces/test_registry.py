"""One entry makes a force element known to everything that runs through all of them."""

from __future__ import annotations

import ast
import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import haugmbd.forces as package
from haugmbd import ForceElement
from haugmbd.compiled.jit import entry, kernel
from haugmbd.forces import KINDS, MODULES, SHARED, joint_friction, registry
from haugmbd.forces.registry import each_kind, sum_of_kinds, table_of

VERBS = {"add_forces", "measure", "put_angle_rates", "potential", "add_tangent", "add_declared_tangent"}


def test_every_public_force_element_has_one_entry():
    public = {x for x in vars(package).values() if inspect.isclass(x) and issubclass(x, ForceElement) and x is not ForceElement}
    assert set(KINDS) == public
    assert len(KINDS) == len(public)
    assert all(kind.__module__ == module.__name__ for kind, module in MODULES)
    assert all(issubclass(kind, MODULES[table_of(kind)][0]) for kind in KINDS)
    assert not {kind for kind, _ in MODULES} & set(SHARED)


@pytest.mark.parametrize("module", [module for _, module in MODULES], ids=lambda module: module.__name__)
def test_kernels_have_the_names_that_the_registry_looks_for(module):
    """A kernel whose name is misspelt would not be called: public functions over  first ... last - 1  are the verbs, and no others."""
    tree = ast.parse(inspect.getsource(module))
    over_elements = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and {"first", "last"} <= {a.arg for a in node.args.args}
    }
    assert over_elements <= VERBS
    assert over_elements & {"add_forces", "add_declared_tangent"} or module is joint_friction  # a routine of its own


def test_names_in_the_registry_are_the_verbs():
    source = inspect.getsource(registry)
    assert {name for name in VERBS if f'("{name}", _MODULES)' in source} == VERBS


@kernel
def _write(ints, floats, first, last, m, out):
    for k in range(first, last):
        out[k] = floats[k, 0] + m


@kernel
def _write_negative(ints, floats, first, last, m, out):
    for k in range(first, last):
        out[k] = -floats[k, 0] - m


@kernel
def _sum(ints, floats, first, last, m):
    total = 0.0
    for k in range(first, last):
        total += floats[k, 0]
    return total


@pytest.mark.slow
@pytest.mark.parametrize("entries", [(0,), (3,), (0, 3), (0, 2, 3)])
def test_each_kind_gets_its_own_rows(entries):
    """Of four kinds those in `entries` have the kernel; the last is a new one, and has another."""
    given = [
        SimpleNamespace(**({"act": _write_negative if k == 3 else _write, "value": _sum} if k in entries else {})) for k in range(4)
    ]
    run, total = each_kind("act", given), sum_of_kinds("value", given)

    @entry
    def both(ints, floats, at, m, out):
        run(ints, floats, at, m, out)
        return total(ints, floats, at, m)

    at, floats = np.array([0, 2, 3, 3, 6]), np.arange(1.0, 7.0)[:, None]
    out, expected = np.zeros(6), np.zeros(6)
    for k in entries:
        sign = -1.0 if k == 3 else 1.0
        expected[at[k] : at[k + 1]] = sign * (floats[at[k] : at[k + 1], 0] + 10.0)
    value = both(np.zeros((6, 1), dtype=np.int64), floats, at, 10.0, out)
    np.testing.assert_array_equal(out, expected)
    assert value == sum(floats[at[k] : at[k + 1], 0].sum() for k in entries)
