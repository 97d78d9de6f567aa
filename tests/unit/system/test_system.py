"""What a system takes, gives back and shows; and what nobody may do to a compiled model."""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd import CD, DP1, Body, Joint, Model, PointForce, System, UsageError, evaluate
from haugmbd.constraints import coincident
from joints import RJ, SJ

J = (0.1, 0.2, 0.25)


class Ball:
    """A student's joint, as it is written in a notebook."""

    def __init__(self, name: str, i: Body, j: Body, s_bar_i: tuple[float, ...], s_bar_j: tuple[float, ...]) -> None:
        self.name = name
        self.parts = (i, s_bar_i, j, s_bar_j)

    def primitives(self) -> object:
        return coincident(*self.parts)  # type: ignore[arg-type]


def pendulum() -> System:
    system = System("crane", gravity=(0, 0, -9.81))
    link = system.add(Body("link", 2.0, J, r=(1, 0, 0)))
    system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def test_add_returns_what_it_got_and_the_name_finds_it() -> None:
    system = System("crane")
    link = system.add(Body("link", 2.0, J, r=(1, 0, 0)))
    ball = Ball("ball", system.ground, link, (0, 0, 0), (-1, 0, 0))
    row = DP1(system.ground, (0, 0, 1), link, (1, 0, 0))
    push = PointForce("push", link, point=(1, 0, 0), force=(0, 0, 1))
    for part in (ball, row, push):
        assert system.add(part) is part
    assert system["link"] is link
    assert system["ball"] is ball
    assert system["push"] is push
    assert system["DP1 1"] is row
    assert system["ground"] is system.ground
    assert "ball" in system
    assert "bell" not in system


def test_a_joint_of_ones_own_is_an_equal_citizen() -> None:
    own, catalogue = System("own"), System("catalogue")
    for system, make in ((own, "own"), (catalogue, "SJ")):
        link = system.add(Body("link", 2.0, J, r=(1, 0, 0)))
        if make == "own":
            system.add(Ball("ball", system.ground, link, (0, 0, 0), (-1, 0, 0)))
        else:
            system.add(SJ("ball", system.ground, link, point=(0, 0, 0)))
    a, b = own.compile(), catalogue.compile()
    np.testing.assert_array_equal(evaluate(a).Phi_q.toarray(), evaluate(b).Phi_q.toarray())
    np.testing.assert_array_equal(a.joints["ball"].s_bar_j, b.joints["ball"].s_bar_j)
    np.testing.assert_array_equal(a.joints["ball"].s_bar_i, b.joints["ball"].s_bar_i)


def test_primitives_by_themselves_get_names_that_are_free() -> None:
    system = pendulum()
    rod = system.add(Body("rod", 1.0, J, r=(0, 3, 0)))
    system.add(SJ("CD 1", system["link"], rod, point=(0, 0, 1)))
    system.add(CD((1, 0, 0), system.ground, (0, 0, 0), rod, (0, 0, 0)))
    system.add(CD((0, 1, 0), system.ground, (0, 3, 0), rod, (0, 0, 0)))
    assert [joint.name for joint in system.joints] == ["pin", "CD 1", "CD 2", "CD 3"]
    assert system.faults() == ()


@pytest.mark.parametrize("part", [None, 3, "link", (1, 2), object(), RJ, np.zeros(3)])
def test_anything_else_is_refused_with_what_is_accepted(part: object) -> None:
    with pytest.raises(UsageError, match=r"system.add got .*Give a Body, a joint .* or a load"):
        System().add(part)


def test_an_unknown_name_says_the_nearest() -> None:
    system = pendulum()
    with pytest.raises(UsageError, match="nothing named 'lnik'. Did you mean 'link'"):
        _ = system["lnik"]
    with pytest.raises(UsageError, match="It has 'ground', 'link', 'pin'"):
        _ = system["zzz"]


def test_repr_and_table() -> None:
    system = pendulum()
    system.add(PointForce("push", system["link"], point=(1, 0, 0), force=(0, 0, 1)))
    assert repr(system) == "System('crane': 1 bodies, 1 joints, 1 loads)"
    lines = system.table().splitlines()
    assert lines[0] == "system 'crane'"
    assert ["link", "2", "(1,", "0,", "0)"] in [line.split() for line in lines]
    assert ["pin", "RJ", "ground", "link", "5"] in [line.split() for line in lines]
    assert any(line.startswith("push") for line in lines)
    assert lines[-1] == "degrees of freedom (Gruebler): 6 x 1 - 5 rows: 6 - 5 = 1"


def test_the_table_shows_a_faulty_system_too() -> None:
    system = System("odd")
    system.add(Body("a", -1.0, (1, 2), r=(0, 0)))
    assert "a " in system.table()


def test_compiled_arrays_cannot_be_written() -> None:
    model = pendulum().compile()
    for array in (model.mass, model.J_bar, model.y0, model.tables["SCALE"], model.state().r):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_compiled_attributes_cannot_be_set() -> None:
    model = pendulum().compile()
    with pytest.raises(AttributeError, match=r"a Model is frozen: y0 cannot be set. Change the System and compile it again"):
        model.y0 = np.zeros(3)  # type: ignore[misc]
    with pytest.raises(AttributeError, match="a Model is frozen: extra"):
        model.extra = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="a Model is frozen: y0"):
        del model.y0
    with pytest.raises(AttributeError, match=r"a State is frozen: v cannot be set. Make another one: state.replace"):
        model.state().v = np.zeros((2, 3))  # type: ignore[misc]
    with pytest.raises(AttributeError, match=r"Body is frozen.*Make a new Body"):
        pendulum()["link"].mass = 3.0


def test_a_system_that_changes_later_leaves_its_model_alone() -> None:
    system = pendulum()
    model = system.compile()
    before = evaluate(model).Phi.copy()
    system.add(Body("late", 1.0, J, r=(0, 3, 0)))
    system.gravity = (1, 2, 3)
    assert isinstance(model, Model)
    assert model.nb == 1
    np.testing.assert_array_equal(evaluate(model).Phi, before)


def test_check_pose_false_still_refuses_bad_parts() -> None:
    system = System("open")
    link = system.add(Body("link", 2.0, J, r=(1, 0, 0)))
    system.add(CD((1, 0, 0), system.ground, (0, 0, 0), link, (0, 0, 0)))
    assert evaluate(system.compile(check_pose=False)).Phi == pytest.approx([1.0])
    system.add(Body("bad", -1.0, J))
    with pytest.raises(ValueError, match=r"1 fault: body 'bad': mass is -1.0 kg"):
        system.compile(check_pose=False)


def test_a_joint_whose_constructor_forgets_its_base_class_is_refused():
    class Forgotten(Joint):
        def __init__(self, name, i, j):
            self.bodies = (i, j)

        def primitives(self):
            return ()

    system = System("forgotten")
    with pytest.raises(UsageError, match=r"got a Forgotten without its name or frames: let Forgotten.__init__ call super\(\)"):
        system.add(Forgotten("pin", system.ground, system.add(Body("b", 1.0, (1, 1, 1)))))
