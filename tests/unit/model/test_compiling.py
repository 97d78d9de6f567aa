"""From objects to tables: the rows of many joints of a class, written at once, are those that are read one by one."""

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.kkt.registry import without_tree
from haugmbd.kkt.tree_solver import has_tree
from haugmbd.model.compiling import row_pattern
from haugmbd.model.labels import units_of_labels
from haugmbd.workspace.layout import INTS, REALS
from joints import CJ, RJ, SJ, UJ
from tests.support.random_trees import random_tree

ONE_BY_ONE = 10**9


def at_once_and_one_by_one(monkeypatch, compiled):
    """What a function returns where all joints of a class with a pattern are written at once, and where none are."""
    found = []
    for least in (1, ONE_BY_ONE):
        monkeypatch.setattr(row_pattern, "LEAST", least)
        found.append(compiled())
    return found


def unit_names(model):
    units, number = units_of_labels(model.labels)
    return [units[k] for k in number]


def assert_same(a, b):
    assert (a.solver, a.solver_reason, a.nc) == (b.solver, b.solver_reason, b.nc)
    for name in (*INTS, *REALS):
        assert a.tables[name].shape == b.tables[name].shape
        assert a.tables[name].tobytes() == b.tables[name].tobytes(), name
    assert np.array_equal(a.slot_of_row, b.slot_of_row)
    assert np.array_equal(a.side_of_i, b.side_of_i)
    assert list(map(str, a.labels)) == list(map(str, b.labels))
    assert [label.unit for label in a.labels] == [label.unit for label in b.labels]
    assert unit_names(a) == unit_names(b) == [label.unit for label in b.labels]
    assert a.has_rows_of(mbd.CD) == b.has_rows_of(mbd.CD)
    assert list(a.joints) == list(b.joints)
    for one, other in zip(a.joints.values(), b.joints.values(), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert (one.name, one.kind, one.i, one.j, one.part) == (other.name, other.kind, other.i, other.j, other.part)
    assert (a.redundancy.dropped, a.redundancy.rank) == (b.redundancy.dropped, b.redundancy.rank)


@pytest.mark.slow
@pytest.mark.parametrize("make", [f for f in gallery.GALLERY if f is not gallery.chain], ids=lambda f: f.__name__)
def test_every_mechanism_of_the_gallery_has_the_same_tables(make, monkeypatch):
    system = make()
    assert_same(*at_once_and_one_by_one(monkeypatch, system.compile))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_trees_have_the_same_tables(seed, monkeypatch):
    system = random_tree(np.random.default_rng(seed), 3 + 8 * seed, free=seed % 3 == 0)
    assert_same(*at_once_and_one_by_one(monkeypatch, lambda: system.compile(check_pose=seed % 2 == 0)))


def test_a_long_chain_makes_no_object_for_an_equation_until_somebody_asks():
    model = gallery.chain(2 * row_pattern.LEAST).compile()
    assert not isinstance(model.labels, tuple)
    assert model.labels[-1].joint == list(model.joints)[-1]
    assert [label.kind for label in model.labels[5:10]] == ["CD", "CD", "CD", "DP1", "DP1"]
    with pytest.raises(IndexError):
        model.labels[model.nc]
    with pytest.raises(KeyError):
        model.joints["no such joint"]


@pytest.mark.parametrize("kind", [RJ, SJ, CJ, UJ])
def test_a_class_that_declares_uniform_rows_has_a_pattern_and_its_subclasses_have_none(kind):
    class Mine(kind):
        pass

    assert row_pattern.pattern_of(kind) is not None
    assert row_pattern.pattern_of(Mine) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.add(RJ("twice", s.bodies[1], s.bodies[2], point=(0, 0, np.nan), axis=(0, 0, 1))),
        lambda s: s.add(RJ("b1", s.bodies[1], s.bodies[2], point=(0, 0, 0), axis=(0, 0, 0))),
        lambda s: s.add(RJ("alone", s.bodies[1], s.bodies[1], point=(0, 0, 0), axis=(0, 0, 1))),
        lambda s: s.add(RJ("foreign", s.bodies[1], mbd.Body("other", 1.0, (1, 1, 1)), point=(0, 0, 0), axis=(0, 0, 1))),
        lambda s: s.add(s.joints[3]),
        lambda s: s.joints.append(s.joints[3]),
        lambda s: s.add(mbd.Body("broken", -1.0, (1, 1, np.nan))),
        lambda s: s.add(RJ("", s.bodies[1], s.bodies[2], point=(0, 0, 0), axis=(0, 0, 1))),
        lambda s: s.bodies.pop(3),
    ],
    ids=["nan", "zero axis", "same body", "foreign", "added twice", "listed twice", "broken body", "no name", "body missing"],
)
def test_faults_are_the_same_texts(change, monkeypatch):
    system = gallery.chain(5)
    change(system)
    many, few = at_once_and_one_by_one(monkeypatch, system.faults)
    assert many
    assert list(map(str, many)) == list(map(str, few))


def test_rows_that_depend_on_others_are_not_left_out_by_the_recursion():
    system = gallery.chain(4)
    model = system.compile()
    assert has_tree(model.tables)
    assert not has_tree(model.block_tables)
    assert without_tree(model.block_tables) is model.block_tables
