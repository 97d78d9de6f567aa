"""Bad parts: each gives exactly one clear fault, with names, numbers and a remedy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from haugmbd import CD, TSDA, Body, D, Fault, Joint, ModelError, PointForce, System, UsageError
from haugmbd.constraints import coincident
from joints import RJ, SJ, Distance

J = (0.1, 0.2, 0.25)


def pendulum() -> tuple[System, Body]:
    """A system without a fault, for one to be added to."""
    system = System("crane", gravity=(0, 0, -9.81))
    link = system.add(Body("link", 2.0, J, r=(1, 0, 0)))
    system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    return system, link


def rod(system: System, name: str, **changes: object) -> Body:
    """A body beside the pendulum."""
    values = {"mass": 1.0, "J_bar": J, "r": (0, 3, 0), **changes}
    return system.add(Body(name, **values))  # type: ignore[arg-type]


def the_fault(system: System) -> Fault:
    """The only fault, the same with and without raising."""
    faults = system.faults()
    assert len(faults) == 1, [str(fault) for fault in faults]
    with pytest.raises(ModelError) as error:
        system.compile()
    assert str(error.value) == f"the model has 1 fault: {faults[0]}"
    assert faults[0].remedy
    return faults[0]


def assert_says(fault: Fault, where: str, *words: str) -> None:
    assert fault.where == where
    for word in words:
        assert word in str(fault), str(fault)


def test_a_sound_system_has_no_fault() -> None:
    system, _ = pendulum()
    assert system.faults() == ()
    system.validate()
    assert system.compile().body_names == ("ground", "link")


BODIES: dict[str, tuple[dict[str, object], tuple[str, ...]]] = {
    "negative mass": ({"mass": -1.0}, ("mass is -1.0 kg", "positive")),
    "mass is NaN": ({"mass": np.nan}, ("mass is nan",)),
    "inertia of the wrong shape": ({"J_bar": (1, 2)}, ("J_bar has shape (2,)", "(3, 3) or (3,)")),
    "triangle inequality": ({"J_bar": (1, 1, 3)}, ("triangle inequality", "3 > 1 + 1")),
    "negative moment": ({"J_bar": (-1, 1, 1)}, ("negative principal moment",)),
    "unsymmetric inertia": ({"J_bar": [[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]}, ("not symmetric", "0.1", "0.2")),
    "p far from unit": ({"p": (1, 1, 0, 0)}, ("far from unit", "1.41421")),
    "p of the wrong shape": ({"p": (1, 0, 0)}, ("p has shape (3,)", "(4,)")),
    "r of the wrong shape": ({"r": (0, 0)}, ("r has shape (2,)",)),
    "v is NaN": ({"v": (0, np.nan, 0)}, ("v = [0.0, nan, 0.0] is not finite",)),
    "omega_bar is infinite": ({"omega_bar": (np.inf, 0, 0)}, ("omega_bar", "not finite")),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BODIES)
def test_bad_body(case: str) -> None:
    changes, words = BODIES[case]
    system, _ = pendulum()
    assert rod(system, "rod", **changes) is system["rod"]
    assert_says(the_fault(system), "body 'rod'", *words)


@pytest.mark.slow
@pytest.mark.parametrize("case", BODIES)
def test_a_bad_body_is_not_told_again_by_its_joint_and_load(case: str) -> None:
    changes, words = BODIES[case]
    system, _ = pendulum()
    body = rod(system, "rod", **changes)
    system.add(RJ("hinge", system.ground, body, point=(0, 2, 0), axis=(0, 0, 1)))
    system.add(TSDA("spring", system.ground, body, point_i=(5, 5, 5), point_j=(0, 3, 0), k=1.0, l0=1.0))
    assert_says(the_fault(system), "body 'rod'", *words)


@pytest.mark.parametrize("J_bar", [(1, 1, 3), (1, 2), (-1, 1, 1), (1, np.nan, 1)])
def test_a_bad_inertia_on_a_pin_at_its_centre_is_told(J_bar: object) -> None:
    """The only length of such a model is the radius of gyration, which is not known."""
    system = System("wheel")
    wheel = system.add(Body("wheel", 1.0, J_bar))
    system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    assert_says(the_fault(system), "body 'wheel'", "J_bar")


def test_empty_names() -> None:
    system, link = pendulum()
    system.add(Body(" ", 1.0, J))
    assert_says(the_fault(system), "body ' '", "name is empty")
    system, link = pendulum()
    other = rod(system, "rod")
    system.add(SJ("", link, other, point=(0, 0, 1)))
    assert_says(the_fault(system), "joint ''", "name is empty", "pin")
    system, link = pendulum()
    system.add(PointForce("", link, point=(1, 0, 0), force=(1, 0, 0)))
    assert_says(the_fault(system), "load ''", "name is empty")


def test_names_used_twice() -> None:
    system, link = pendulum()
    rod(system, "link")
    assert_says(the_fault(system), "body 'link'", "used 2 times", "name of its own")
    system, link = pendulum()
    rod(system, "ground")
    assert_says(the_fault(system), "body 'ground'", "used 2 times", "ground of the system")
    system, link = pendulum()
    other = rod(system, "rod")
    system.add(SJ("pin", link, other, point=(0, 0, 1)))
    assert_says(the_fault(system), "joint 'pin'", "used 2 times")
    system, link = pendulum()
    for _ in range(3):
        system.add(PointForce("push", link, point=(1, 0, 0), force=(1, 0, 0)))
    assert_says(the_fault(system), "load 'push'", "used 3 times")


def test_one_name_may_stand_for_a_body_and_a_joint() -> None:
    system, link = pendulum()
    other = rod(system, "pin")
    assert system.faults() == ()
    with pytest.raises(UsageError, match="2 parts named 'pin'"):
        _ = system["pin"]
    assert other in system.bodies


def test_a_part_added_twice() -> None:
    system, link = pendulum()
    system.add(link)
    assert_says(the_fault(system), "body 'link'", "added 2 times")
    system, link = pendulum()
    system.add(system["pin"])
    assert_says(the_fault(system), "joint 'pin'", "added 2 times")


def test_zero_axis_and_bad_points_of_joints() -> None:
    bad: dict[str, Callable[[Body, Body], Joint]] = {
        "axis is (0, 0, 0)": lambda i, j: RJ("joint", i, j, point=(0, 0, 0), axis=(0, 0, 0)),
        "axis = [0.0, nan, 0.0] is not finite": lambda i, j: RJ("joint", i, j, point=(0, 0, 0), axis=(0, np.nan, 0)),
        "point has shape (2,)": lambda i, j: SJ("joint", i, j, point=(0, 0)),
    }
    for words, make in bad.items():
        system, link = pendulum()
        system.add(make(link, rod(system, "rod")))
        assert_says(the_fault(system), "joint 'joint'", words)


def test_coincident_points_for_a_distance() -> None:
    system, link = pendulum()
    other = rod(system, "rod")
    system.add(Distance("strut", link, other, point_i=(1, 2, 3), point_j=(1, 2, 3)))
    fault = the_fault(system)
    assert fault.where.startswith("joint 'strut'")
    assert "SJ" in str(fault)
    system, link = pendulum()
    system.add(D(link, (0, 0, 0), rod(system, "rod"), (0, 0, 0), 0.0))
    fault = the_fault(system)
    assert fault.where.startswith("joint 'D 1'")
    assert "the distance is 0 m" in str(fault)
    assert "SJ" in str(fault)


def test_a_joint_between_a_body_and_itself() -> None:
    system, link = pendulum()
    system.add(SJ("ball", link, link, point=(1, 0, 0)))
    assert_says(the_fault(system), "joint 'ball'", "joins body 'link' to itself", "system.ground")
    system, link = pendulum()
    system.add(CD((1, 0, 0), link, (0, 0, 0), link, (0, 0, 0)))
    assert_says(the_fault(system), "joint 'CD 1'", "'link' to itself")


def test_a_body_of_another_system_is_told_once_with_all_that_use_it() -> None:
    other = System("bridge")
    beam = other.add(Body("beam", 1.0, J))
    system, link = pendulum()
    system.add(SJ("ball", link, beam, point=(0, 0, 0)))
    system.add(PointForce("push", beam, point=(0, 0, 0), force=(1, 0, 0)))
    assert_says(the_fault(system), "body 'beam'", "joint 'ball' and load 'push' are attached", "belongs to system 'bridge'")


def test_a_body_that_was_never_added_and_a_near_name() -> None:
    system, link = pendulum()
    system.add(SJ("ball", link, Body("lnk", 1.0, J), point=(0, 0, 0)))
    assert_says(
        the_fault(system), "body 'lnk'", "joint 'ball' is attached", "never added", "system.add(body)", "did you mean 'link'"
    )
    system, link = pendulum()
    system.add(SJ("ball", system.ground, Body("link", 1.0, J), point=(0, 0, 0)))
    assert_says(the_fault(system), "body 'link'", "another body 'link'")


def test_the_ground_of_another_system() -> None:
    other = System("bridge")
    system, link = pendulum()
    system.add(SJ("ball", other.ground, rod(system, "rod"), point=(0, 0, 0)))
    assert_says(the_fault(system), "body 'ground'", "belongs to system 'bridge'", "Use system.ground")


def test_two_systems_of_one_name_are_told_apart() -> None:
    other, _ = pendulum()
    system, link = pendulum()
    system.add(SJ("ball", other.ground, rod(system, "rod"), point=(0, 0, 0)))
    assert_says(the_fault(system), "body 'ground'", "not in system 'crane'", "belongs to another system 'crane'")


@pytest.mark.parametrize(
    ("gravity", "words"),
    [
        ((0, 0), "gravity has shape (2,), expected (3,)"),
        ((0, 0, np.nan), "not finite"),
        ("down", "not an array"),
        (9.81, "shape ()"),
    ],
)
def test_bad_gravity(gravity: object, words: str) -> None:
    system, _ = pendulum()
    system.gravity = gravity
    assert_says(the_fault(system), "system 'crane'", words, "m/s2")


def test_an_empty_system() -> None:
    assert_says(the_fault(System("void")), "system 'void'", "no body", "system.add")


@pytest.mark.parametrize(
    ("f", "words"),
    [(lambda t: np.nan * t, "nan"), (lambda t: [t, t], "list of length 2"), ("fast", "not a function of time"), (np.nan, "nan")],
)
def test_a_bad_driver_is_told_once(f: object, words: str) -> None:
    system, link = pendulum()
    system.add(CD((1, 0, 0), link, (0, 0, 0), rod(system, "rod"), (0, 0, 0), f))
    fault = the_fault(system)
    assert fault.where.startswith("joint 'CD 1'")
    assert words in str(fault)


class Pair:
    """A student's joint: a name and primitives()."""

    def __init__(self, name: str, i: Body, j: Body, s_bar_i: object, s_bar_j: object) -> None:
        self.name, self.i, self.j, self.s_bar_i, self.s_bar_j = name, i, j, s_bar_i, s_bar_j

    def primitives(self) -> object:
        return coincident(self.i, self.s_bar_i, self.j, self.s_bar_j)  # type: ignore[arg-type]


class Odd:
    """A joint whose primitives() gives what it is told."""

    def __init__(self, name: str, given: object) -> None:
        self.name, self.given = name, given

    def primitives(self) -> object:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


def test_one_bad_point_of_three_rows_is_told_once() -> None:
    system, link = pendulum()
    system.add(Pair("mine", link, rod(system, "rod"), (np.nan, 0, 0), (0, 0, 0)))
    fault = the_fault(system)
    assert fault.where.startswith("joint 'mine'")
    assert "nan" in str(fault)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "gives no primitive"),
        ((1, 2), "gives 1, which is not a primitive"),
        (KeyError("a"), "raises KeyError"),
        (None, "raises TypeError"),
    ],
)
def test_a_joint_of_ones_own_that_gives_nothing_usable(given: object, words: str) -> None:
    system, _ = pendulum()
    system.add(Odd("odd", given))
    assert_says(the_fault(system), "joint 'odd'", words, "tuple of primitives")


def test_ten_faults_at_once() -> None:
    system, link = pendulum()
    system.gravity = (0, 0)
    rod(system, "link")
    rod(system, "heavy", mass=-1.0)
    rod(system, "flat", J_bar=(1, 1, 3))
    turned = rod(system, "turned", p=(2, 0, 0, 0))
    good = rod(system, "good")
    rail = rod(system, "rail")
    system.add(SJ("on turned", link, turned, point=(0, 0, 0)))
    system.add(RJ("no axis", link, good, point=(0, 0, 0), axis=(0, 0, 0)))
    system.add(SJ("alone", good, good, point=(0, 0, 0)))
    system.add(SJ("lost", good, Body("stranger", 1.0, J), point=(0, 0, 0)))
    system.add(CD((1, 0, 0), link, (0, 0, 0), rail, (0, 0, 0), lambda t: np.nan * t))
    system.add(CD((1, 0, 0), system.ground, (0, 0, 0), rail, (0.25, 0, 0)))
    for k in (1, 2):
        system.add(SJ(f"twin {k}", system.ground, good, point=(0, 2, 0)))  # no fault: the same thing twice
    found = {fault.where.split(",")[0]: str(fault) for fault in system.faults()}
    assert found.keys() == {
        "system 'crane'", "body 'link'", "body 'heavy'", "body 'flat'", "body 'turned'", "body 'stranger'",
        "joint 'no axis'", "joint 'alone'", "joint 'CD 1'", "joint 'CD 2'",
    }  # fmt: skip
    assert len(system.faults()) == len(found) == 10
    assert "0.25 m" in found["joint 'CD 2'"]
    with pytest.raises(ModelError) as error:
        system.compile()
    assert error.value.faults == system.faults()
    text = str(error.value)
    assert "the model has 10 faults:" in text
    for number, fault in enumerate(error.value.faults, start=1):
        assert f"  {number}. {fault}" in text
