"""Link: every joint, every value that is wrong, by name; nothing in it can be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import ModelError

J = (0.1, 0.2, 0.25)
KINDS = {
    "revolute": (1, 1, ["turn about (0, 0, 1)"]),
    "prismatic": (1, 1, ["slide along (0, 0, 1)"]),
    "cylindrical": (2, 2, ["slide along (0, 0, 1)", "turn about (0, 0, 1)"]),
    "universal": (2, 2, ["turn about (1, 0, 0)", "turn about (0, 1, 0)"]),
    "spherical": (3, 4, [f"turn about its own ({z})" for z in ("1, 0, 0", "0, 1, 0", "0, 0, 1")]),
    "fixed": (0, 0, []),
    "free": (
        6,
        7,
        [f"{way} ({z})" for way in ("slide along", "turn about its own") for z in ("1, 0, 0", "0, 1, 0", "0, 0, 1")],
    ),
}


def said(link):
    """The faults of a link, as text."""
    return [str(fault) for fault in link.faults()]


@pytest.mark.parametrize("kind", KINDS)
def test_freedoms_coordinates_and_labels(kind):
    nv, nq, words = KINDS[kind]
    link = getattr(mbd.Link, kind)("arm", 1.5, J)
    assert (link.nv, link.nq, link.kind) == (nv, nq, kind)
    assert link.labels() == tuple(f"'arm' {text}" for text in words)
    assert repr(link) == f"Link.{kind}('arm', mass=1.5)"
    assert link.faults() == ()


def test_a_length_stands_along_x_and_three_numbers_anywhere():
    for number in (0.25, np.float64(0.25)):
        assert mbd.Link.fixed("a", 1.0, J, c=number, L=2).c.tolist() == [0.25, 0, 0]
    assert mbd.Link.fixed("a", 1.0, J, L=2).L.tolist() == [2, 0, 0]
    assert mbd.Link.fixed("a", 1.0, J, L=np.int64(2)).L.tolist() == [2, 0, 0]
    link = mbd.Link.fixed("a", 1.0, J, c=(1, 2, 3), L=[4, 5, 6])
    assert [link.c.tolist(), link.L.tolist()] == [[1, 2, 3], [4, 5, 6]]


def test_axes_become_unit_vectors_and_inertia_a_matrix():
    link = mbd.Link.revolute("a", 1.0, J, axis=(0, 3, 4))
    np.testing.assert_allclose(link.ways[0][1], (0, 0.6, 0.8), rtol=1e-15)
    assert link.J_bar.tolist() == np.diag(J).tolist()
    assert link.p.tolist() == [1, 0, 0, 0]


WRONG = [
    ({"mass": -1.0}, "link 'arm': mass is -1.0 kg. Give the mass in kilograms, 0 for a massless link."),
    ({"mass": "much"}, "link 'arm': mass is 'much', not a number. Give mass as one finite number [kg]."),
    ({"mass": np.inf}, "link 'arm': mass is inf, not finite."),
    ({"J_bar": (1, 1)}, "link 'arm': J_bar has shape (2,), expected (3, 3) or (3,)"),
    ({"J_bar": (-1, 1, 1)}, "link 'arm': J_bar"),
    ({"J_bar": (1, 1, 5)}, "link 'arm': J_bar"),
    ({"J_bar": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "link 'arm': J_bar"),
    ({"c": (1, 2)}, "link 'arm': c has shape (2,), expected (3,). Give c as finite numbers [m]"),
    ({"L": "long"}, "link 'arm': L is 'long', not an array of numbers"),
    ({"L": np.nan}, "link 'arm': L = [nan, 0.0, 0.0] is not finite"),
    ({"p": (0, 0, 0, 0)}, "link 'arm': p"),
    ({"p": (1, 0, 0)}, "link 'arm': p has shape (3,)"),
    ({"axis": (0, 0, 0)}, "link 'arm': the joint's axis is (0, 0, 0). Give a direction: three numbers, not all zero"),
    ({"axis": (0, 1)}, "link 'arm': axis has shape (2,), expected (3,). Give a direction"),
    ({"axis": None}, "link 'arm': axis is None, not an array of numbers. Give a direction"),
]


@pytest.mark.parametrize(("wrong", "text"), WRONG, ids=lambda x: "" if isinstance(x, str) else "-".join(x))
def test_a_wrong_value_is_a_fault_and_a_chain_refuses_it(wrong, text):
    link = mbd.Link.revolute("arm", **{"mass": 1.0, "J_bar": J, **wrong})
    assert len(said(link)) == 1
    assert said(link)[0].startswith(text)
    with pytest.raises(ModelError) as caught:
        mbd.SerialChain([link])
    assert caught.value.faults == link.faults()


def test_all_faults_of_a_link_come_at_once():
    link = mbd.Link.revolute("arm", -1.0, "J", c="c", L="L", axis=(0, 0, 0), p="p")
    assert {fault.where for fault in link.faults()} == {"link 'arm'"}
    words = ("mass is -1.0", "J_bar is 'J'", "c is 'c'", "L is 'L'", "axis is (0, 0, 0)", "p is 'p'")
    assert all(any(word in text for text in said(link)) for word in words)
    assert len(said(link)) == len(words)


def test_the_arms_of_a_universal_joint_are_at_right_angles():
    link = mbd.Link.universal("cross", 1.0, J, axis_1=(1, 0, 0), axis_2=(1, 1, 0))
    assert said(link) == [
        "link 'cross': the axes of its universal joint are 45 degrees apart. The arms of a cross are at right angles."
    ]
    assert mbd.Link.universal("cross", 1.0, J, axis_1=(1, 0, 0), axis_2=(1e-7, 1, 0)).faults() == ()


@pytest.mark.parametrize("name", ["mass", "c", "name", "nv", "colour"])
def test_a_link_is_frozen(name):
    link = mbd.Link.revolute("arm", 1.0, J)
    with pytest.raises(FrozenInstanceError, match=f"a Link is frozen: {name} cannot be set. Make another Link."):
        setattr(link, name, 2.0)
    with pytest.raises(FrozenInstanceError):
        delattr(link, name)


def test_its_arrays_are_read_only_and_its_own():
    c = np.array([0.1, 0.2, 0.3])
    link = mbd.Link.revolute("arm", 1.0, J, c=c)
    c[0] = 9.0
    assert link.c.tolist() == [0.1, 0.2, 0.3]
    for array in (link.J_bar, link.c, link.L, link.p, link.ways[0][1]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize("length", [1e-300, 1e-200, 1e200])
def test_the_length_of_an_axis_does_not_matter(length):
    link = mbd.Link.revolute("arm", 1.0, J, axis=(0, length, 0))
    assert link.faults() == ()
    assert link.ways[0][1].tolist() == [0.0, 1.0, 0.0]


def test_a_truth_value_is_no_length():
    assert len(said(mbd.Link.revolute("arm", 1.0, J, c=True))) == 1
