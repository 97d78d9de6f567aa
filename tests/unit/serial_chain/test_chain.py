"""SerialChain: what it refuses, by name; its tables, labels and coordinates; nothing in it can be changed; threads share it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import ModelError, UsageError
from haugmbd.serial_chain import random_motion

J = (0.1, 0.2, 0.25)


def rods(*kinds, **options):
    """Links of these kinds, called after their places."""
    return mbd.SerialChain([getattr(mbd.Link, kind)(f"rod {k}", 1.0, J, c=0.5) for k, kind in enumerate(kinds, start=1)], **options)


def refused(error, make):
    """The text of the error that `make` raises."""
    with pytest.raises(error) as caught:
        make()
    return str(caught.value)


# --- what it refuses ---------------------------------------------------------------------------------------------------------

ARM = mbd.Link.revolute("arm", 1.0, J)
WRONG = [
    ([], {}, "chain 'chain': it has no links. Give a list of Link.revolute(...), Link.prismatic(...), ..."),
    ([ARM, "rod"], {}, "chain 'chain': 'rod' is not a Link. Give a list of Link.revolute(...)"),
    ([mbd.Body("b", 1.0, J)], {}, "is not a Link."),
    ([ARM, ARM], {"name": "pair"}, "chain 'pair': two links are called 'arm'. Give each its own name."),
    (
        [ARM, mbd.Link.free("ship", 1.0, J)],
        {},
        "link 'ship': it is free, and is link number 2 of the chain. Only the first link can be free.",
    ),
    ([ARM], {"gravity": 9.81}, "chain 'chain': gravity has shape (), expected (3,). Give gravity as finite numbers [m/s2]"),
    ([ARM], {"gravity": (0, 0, np.nan)}, "chain 'chain': gravity = [0.0, 0.0, nan] is not finite"),
    ([ARM], {"base": "here"}, "chain 'chain': base is 'here', not an array of numbers. Give base as finite numbers [m]"),
    (
        [mbd.Link.revolute("arm", 0.0, (0, 0, 0))],
        {},
        "link 'arm': the last link has no inertia along its freedom ('arm' turn about",
    ),
    ([mbd.Link.prismatic("rod", 0.0, J)], {}, "link 'rod': the last link has no inertia along its freedom ('rod' slide along"),
    (
        [mbd.Link.revolute("wire", 1.0, (0, 1, 1), axis=(1, 0, 0))],
        {},
        "link 'wire': the last link has no inertia along its freedom",
    ),
    (
        [mbd.Link.spherical("bead", 1.0, (0, 0, 0), c=0.5)],
        {},
        "('bead' turn about its own (1, 0, 0)): s^T I s = 0. Its acceleration",
    ),
]


@pytest.mark.parametrize(("links", "options", "text"), WRONG)
def test_wrong_links_are_refused(links, options, text):
    assert text in refused(ModelError, lambda: mbd.SerialChain(links, **options))


def test_all_faults_of_a_chain_come_at_once():
    bad = [mbd.Link.revolute("a", -1.0, J), mbd.Link.revolute("b", 1.0, J, axis=(0, 0, 0)), mbd.Link.free("b", 1.0, J)]
    text = refused(ModelError, lambda: mbd.SerialChain(bad, gravity="down"))
    assert text.startswith("the model has 5 faults:")
    assert all(
        word in text for word in ("mass is -1.0", "axis is (0, 0, 0)", "two links are called 'b'", "it is free", "gravity is")
    )


def test_something_that_is_no_list_is_refused():
    assert "links=3 is not a list of links" in refused(UsageError, lambda: mbd.SerialChain(3))


def test_an_order_that_is_no_list_is_refused():
    assert "order=5 is not a list of rows" in refused(UsageError, lambda: mbd.SerialChain([ARM], order=5))
    assert "order is ('a',)" in refused(ModelError, lambda: mbd.SerialChain([ARM], order="a"))


@pytest.mark.parametrize("name", [None, 5, " "])
def test_a_chain_has_a_name(name):
    assert f"chain {name!r}: the name is empty or not a string" in refused(ModelError, lambda: mbd.SerialChain([ARM], name=name))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_small_and_large_links_have_inertia_too(size):
    tip = mbd.Link.revolute("tip", 1e-24, np.array(J) * 1e-24 * size**2, c=0.5 * size)
    assert mbd.SerialChain([tip]).nv == 1
    slider = mbd.Link.prismatic("slider", 1e-24, (0, 0, 0), c=1e9 * size)
    assert mbd.SerialChain([slider]).nv == 1


def test_a_massless_link_is_allowed_where_what_follows_has_inertia():
    ring = mbd.Link.revolute("ring", 0.0, (0, 0, 0))
    assert mbd.SerialChain([ring, ARM]).n == 2
    assert mbd.SerialChain([ring, mbd.Link.fixed("tool", 1.0, J)]).nv == 1
    assert mbd.SerialChain([mbd.Link.fixed("foot", 0.0, (0, 0, 0))]).nv == 0


# --- the seed's tables -------------------------------------------------------------------------------------------------------

TABLES = {"m": [1.0, 2.0], "c": [0.5, 0.25], "L": [1.0, 2.0], "I": [J, J], "z": [(0, 0, 1), (0, 1, 0)]}


def test_from_tables_makes_the_links_by_hand():
    chain = mbd.SerialChain.from_tables(**TABLES, gravity=(0, 0, -9.81), base=(1, 2, 3), name="seed")
    by_hand = [
        mbd.Link.revolute("link 1", 1.0, J, axis=(0, 0, 1), c=0.5, L=1.0),
        mbd.Link.revolute("link 2", 2.0, J, axis=(0, 1, 0), c=0.25, L=2.0),
    ]
    assert [link.name for link in chain.links] == ["link 1", "link 2"]
    other = mbd.SerialChain(by_hand, gravity=(0, 0, -9.81), base=(1, 2, 3))
    np.testing.assert_array_equal(chain.tables.reals, other.tables.reals)
    np.testing.assert_array_equal(chain.tables.ints, other.tables.ints)
    assert repr(chain) == "SerialChain('seed', 2 links, 2 freedoms)"


def test_from_tables_takes_vectors_and_matrices_too():
    wide = {**TABLES, "c": [(0.5, 0, 0), (0.25, 0, 0)], "L": [(1, 0, 0), (2, 0, 0)], "I": [np.diag(J)] * 2}
    np.testing.assert_array_equal(
        mbd.SerialChain.from_tables(**wide).tables.reals, mbd.SerialChain.from_tables(**TABLES).tables.reals
    )


WRONG_TABLES = [
    ({"m": [1.0]}, "the tables differ in length (m: 1, c: 2, L: 2, I: 2, z: 2): give one row for each link."),
    ({"c": 0.5}, "the table c has shape (), expected (n,) or (n, 3)"),
    ({"m": "heavy"}, "the table m is 'heavy', not an array of numbers"),
    ({"z": [(0, 0, 1), (0, 1)]}, "the table z is [(0, 0, 1), (0, 1)], not an array of numbers"),
    ({"m": [[1.0], [2.0]]}, "the table m has shape (2, 1), expected (n,)"),
    ({"L": [(1, 2), (3, 4)]}, "the table L has shape (2, 2), expected (n,) or (n, 3)"),
    ({"I": [1.0, 2.0]}, "the table I has shape (2,), expected (n, 3) or (n, 3, 3)"),
    ({"z": [0, 1]}, "the table z has shape (2,), expected (n, 3)"),
]


@pytest.mark.parametrize(("wrong", "text"), WRONG_TABLES)
def test_wrong_tables_are_refused(wrong, text):
    assert text in refused(UsageError, lambda: mbd.SerialChain.from_tables(**{**TABLES, **wrong}))


def test_bad_values_in_tables_are_faults_of_their_links():
    text = refused(ModelError, lambda: mbd.SerialChain.from_tables(**{**TABLES, "m": [1.0, -2.0], "z": [(0, 0, 0), (0, 1, 0)]}))
    assert "link 'link 1': the joint's axis is (0, 0, 0)" in text
    assert "link 'link 2': mass is -2.0 kg" in text


# --- names, labels, coordinates ----------------------------------------------------------------------------------------------


def test_links_by_name_and_number():
    chain = rods("revolute", "prismatic", "fixed")
    assert [chain.link(x) for x in ("rod 1", "rod 3", 0, -1, np.int64(1))] == [0, 2, 0, 2, 1]
    assert (
        refused(UsageError, lambda: chain.link("rod"))
        == "no link is called 'rod'; the links are 'rod 1', 'rod 2', 'rod 3' (did you mean 'rod 3'?)."
    )
    for number in (3, -4):
        text = f"link {number} does not exist: the chain has 3 links, 0 ... 2."
        assert refused(UsageError, lambda number=number: chain.link(number)) == text
    for thing in (1.0, None, True, chain.links[0]):
        text = f"link {thing!r} is not a link: give its name, or its number, 0 ... 2."
        assert refused(UsageError, lambda thing=thing: chain.link(thing)) == text


def test_labels_and_numbers_follow_the_links():
    chain = rods("free", "fixed", "cylindrical", "spherical")
    assert (chain.n, chain.nv, chain.nq) == (4, 11, 13)
    assert len(chain.labels) == chain.nv
    assert chain.labels[6:8] == ("'rod 3' slide along (0, 0, 1)", "'rod 3' turn about (0, 0, 1)")
    assert chain.tables["LINKS"].tolist() == [[0, 6, 0], [6, 0, 7], [6, 2, 7], [8, 3, 9]]
    assert chain.tables["FREEDOMS"][:, 1].tolist() == [0] * 6 + [2] * 2 + [3] * 3


def test_q_zero_puts_every_ball_upright():
    chain = rods("free", "revolute", "spherical")
    assert chain.q_zero().tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    np.testing.assert_array_equal(mbd.link_motion(chain, chain.q_zero()).A, [np.eye(3)] * 3)
    chain.q_zero()[:] = 5.0
    assert chain.q_zero().max() == 1.0


READ = [
    (
        "q",
        [0.0],
        "chain 'chain': q (coordinates) has shape (1,), expected (2,). The chain of 2 links has 2 coordinates and 2 freedoms",
    ),
    ("qd", [0.0, np.nan], "chain 'chain': qd (rates) = [0.0, nan] is not finite."),
    ("tau", "none", "chain 'chain': tau (generalized forces) is 'none', not an array of numbers."),
    ("qdd", [[0.0, 1.0]], "chain 'chain': qdd (accelerations) has shape (1, 2), expected (2,)."),
]


@pytest.mark.parametrize(("label", "value", "text"), READ)
def test_wrong_vectors_are_refused(label, value, text):
    chain = rods("revolute", "prismatic")
    said = refused(UsageError, lambda: chain.read(label, value, 2))
    assert said.startswith(text)
    assert "'rod 1' turn about (0, 0, 1); 'rod 2' slide along (0, 0, 1)" in said


def test_vectors_are_read_and_none_is_zero():
    chain = rods("revolute", "prismatic")
    assert chain.read("tau", None, 2).tolist() == [0, 0]
    assert chain.read("tau", (1, 2), 2).tolist() == [1.0, 2.0]
    assert chain.read("tau", np.arange(4.0)[::2], 2).flags.c_contiguous
    assert chain.read_wrenches(None).shape == (0, 6)
    assert "wrenches (numbers) has shape (6,), expected (2, 6)" in refused(UsageError, lambda: chain.read_wrenches(np.zeros(6)))


# --- frozen, and shared by threads -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["links", "gravity", "nv", "colour"])
def test_a_chain_is_frozen(name):
    chain = rods("revolute")
    with pytest.raises(FrozenInstanceError, match=f"a SerialChain is frozen: {name} cannot be set. Make another SerialChain."):
        setattr(chain, name, 1)


def test_its_arrays_are_read_only_and_its_own():
    gravity = np.array([0.0, 0.0, -9.81])
    chain = rods("revolute", gravity=gravity)
    gravity[2] = 0.0
    assert chain.gravity[2] == -9.81
    for array in (chain.gravity, chain.base, chain.tables["LINK_REALS"], chain.tables["LINKS"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_rooms_are_lent_to_one_at_a_time():
    chain = rods("revolute", "prismatic")
    first, second = chain.workspace(), chain.workspace()
    assert first is not second
    chain.give_back(first)
    assert chain.workspace() is first


def test_threads_get_what_one_gets():
    chain = mbd.random_chain(20, 5, free_base=True)
    cases = [random_motion(chain, seed) for seed in range(40)]
    alone = [mbd.aba(chain, *case) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda case: mbd.aba(chain, *case), cases * 5))
    for got, expected in zip(together, alone * 5, strict=True):
        np.testing.assert_array_equal(got, expected)


# --- random chains -----------------------------------------------------------------------------------------------------------


def test_a_seed_and_a_number_of_numpy_are_fine():
    assert mbd.random_chain(np.int64(3), np.int64(1)).links[2].mass == mbd.random_chain(3, 1).links[2].mass


def test_the_same_seed_gives_the_same_chain():
    a, b, c = mbd.random_chain(6, 1), mbd.random_chain(6, 1), mbd.random_chain(6, 2)
    np.testing.assert_array_equal(a.tables.reals, b.tables.reals)
    assert [link.kind for link in a.links] != [link.kind for link in c.links]
    assert mbd.random_chain(3, 1, free_base=True).links[0].kind == "free"
    assert {link.kind for link in mbd.random_chain(20, 1, kinds=("prismatic", "fixed")).links} == {"prismatic", "fixed"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"n": 0}, "a random chain needs a whole number of links, 1 or more, got 0."),
        ({"n": 2.5}, "got 2.5."),
        ({"kinds": ("hinge",)}, "kinds of joints ['hinge']: choose from revolute, prismatic"),
        ({"kinds": ()}, "kinds of joints none: choose from"),
        ({"kinds": "revolute"}, "kinds='revolute' is not a list of joints"),
        ({"kinds": None}, "kinds=None is not a list of joints"),
        ({"n": True}, "1 or more, got True."),
        ({"seed": None}, "needs a seed, a whole number, 0 or more, got None."),
        ({"seed": -1}, "0 or more, got -1."),
        ({"seed": "a"}, "0 or more, got 'a'."),
    ],
)
def test_wrong_wishes_for_a_random_chain_are_refused(arguments, text):
    assert text in refused(UsageError, lambda: mbd.random_chain(**{"n": 3, "seed": 0, **arguments}))
