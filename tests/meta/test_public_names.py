"""The public face: one table, old names that warn, and "did you mean" for wrong ones."""

from __future__ import annotations

import ast
import copy
import pickle
import runpy
import sys

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd import deprecated
from haugmbd.gallery import pendulum, slider_crank
from haugmbd.public_names import PUBLIC, STUB


def test_the_stub_is_what_type_checkers_see_and_what_dir_shows():
    """Read by Python's own parser, and by the package."""
    tree = ast.parse(STUB.read_text())
    seen = [(node.module, name.name, name.asname) for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names]
    assert seen == [(one.module, one.name, one.public) for one in PUBLIC.values()]
    assert all(one.topic and one.public == one.name for one in PUBLIC.values() if one.public != "plot")
    assert mbd.plot.__name__ == "haugmbd.plotting"
    assert dir(mbd) == sorted({"__version__", *(public for *_, public in seen)})


@pytest.mark.parametrize("old", deprecated.NAMES)
def test_an_old_name_is_the_new_one_and_warns(old):
    with pytest.warns(DeprecationWarning, match=f"haugmbd.{old} is called haugmbd.{deprecated.NAMES[old]}"):
        found = getattr(mbd, old)
    assert found is getattr(mbd, deprecated.NAMES[old])


def test_an_old_class_makes_what_it_made_and_warns():
    """Of fixed step BDF, two by default, and Radau IIA; generalized-alpha with error control, whoever gives the tolerance."""
    h, form = 1e-3, mbd.Index2()
    for old, make, new in (
        ("FixedBDF", lambda old: old(h), mbd.BDF(h, order=2)),
        ("FixedBDF", lambda old: old(h, 3, tol=1e-9), mbd.BDF(h, order=3, tol=1e-9)),
        ("FixedRadauIIA", lambda old: old(h, form), mbd.RadauIIA(h, constraint_form=form)),
        ("AdaptiveGeneralizedAlpha", lambda old: old(0.5, rtol=1e-4), mbd.GeneralizedAlpha(rho=0.5, rtol=1e-4)),
    ):
        with pytest.warns(
            DeprecationWarning, match=rf"haugmbd\.{old}\(\.\.\.\) is called haugmbd\.{type(new).__name__}\("
        ) as issued:
            found = make(getattr(mbd, old))
        assert found == new
        assert [one.filename for one in issued] == [__file__]
    with pytest.warns(DeprecationWarning, match="is called"):
        bare, fixed = mbd.AdaptiveGeneralizedAlpha(), mbd.FixedBDF()
    assert bare.adaptive
    assert bare.with_arguments(None, 1e-5, None).rtol == 1e-5
    for given in (
        {"rtol": 1e-5},
        {"atol": 1e-6},
        {"rtol": 1e-5, "atol": 1e-6},
    ):  # a default that nobody has given conflicts with none
        found = mbd.simulate(pendulum(), 0.01, integrator=bare, **given)
        np.testing.assert_array_equal(found.y, mbd.simulate(pendulum(), 0.01, integrator=mbd.GeneralizedAlpha(**given)).y)
    with pytest.raises(mbd.UsageError, match="not both"):
        mbd.simulate(pendulum(), 0.01, integrator=bare, h=1e-3)
    assert not fixed.with_arguments(h, None, None).adaptive
    with pytest.warns(DeprecationWarning, match=r"called haugmbd.RadauIIA\(h="):
        assert mbd.FixedRadauIIA(h, level=form).constraint_form == form
    with pytest.raises(TypeError, match="at most 4 positional"):
        mbd.FixedRadauIIA(1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("Systen", "System"), ("simualte", "simulate"), ("rk4", "RK4"), ("NewtonEuller", "NewtonEuler")],
)
def test_a_wrong_name_says_which_one_was_meant(wrong, meant):
    with pytest.raises(AttributeError, match=rf"no attribute '{wrong}' \(did you mean '{meant}'"):
        getattr(mbd, wrong)


def test_a_name_of_another_program_says_what_it_is_called_here():
    with pytest.raises(AttributeError, match=r"no attribute 'RK45' \(did you mean 'DormandPrince'\?"):
        mbd.RK45  # noqa: B018
    assert all(hasattr(mbd, name) for name in deprecated.NAMES_MEANT.values())
    assert not any(hasattr(mbd, name) for name in deprecated.NAMES_MEANT)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("RJ", "RJ"), ("rj", "RJ"), ("Gear", "Gear"), ("Geer", "Gear"), ("RevoluteSpherical", "RevoluteSpherical")],
)
def test_a_joint_is_not_in_the_package_and_the_error_says_where_it_is(wrong, meant):
    with pytest.raises(AttributeError, match=rf"no attribute '{wrong}' \(did you mean: from joints import {meant}\?\)"):
        getattr(mbd, wrong)
    assert not hasattr(mbd, "zzz")


def test_a_wrong_joint_or_keyword_of_one_says_which_one_was_meant():
    with pytest.raises(AttributeError, match=r"module 'joints' has no attribute 'Geer' \(did you mean 'Gear'\?"):
        joints.Geer  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'joints' has no attribute 'Rj' \(did you mean 'RJ'\?"):
        joints.Rj  # noqa: B018
    assert not hasattr(joints, "__wrapped__")
    ground = mbd.Body.ground()
    body = mbd.Body("b", 1.0, (1, 1, 1))
    with pytest.raises(TypeError, match=r"^RJ\(\) has no argument 'axes' \(did you mean 'axis'\?"):
        joints.RJ("j", ground, body, point=(0, 0, 0), axes=(0, 0, 1))
    with pytest.raises(TypeError, match=r"^RJ\(\) has no argument 'where'; it takes name, i, j, point, axis"):
        joints.RJ("j", ground, body, where=(0, 0, 0), axis=(0, 0, 1))
    pin = joints.RJ("j", ground, body, point=(0, 0, 0), axis=(0, 0, 1))
    with pytest.raises(TypeError, match=r"^Gear\(\) has no argument 'ratoi' \(did you mean 'ratio'\?"):
        joints.Gear("g", pin, pin, ratoi=2.0)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'axis'"):
        joints.RJ("j", ground, body, point=(0, 0, 0))
    for kind in (*joints.CATALOGUE, *joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES, *joints.ROPES, *joints.MOTIONS):
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) has no argument 'nonsens'"):
            kind(nonsens=1)


def test_arguments_by_position_that_are_too_many_are_asked_for_by_name():
    ground, body = mbd.Body.ground(), mbd.Body("b", 1.0, (1, 1, 1))
    with pytest.raises(TypeError, match=r"^simulate\(\) takes 2 arguments by position \(system, t_end\), not 3: .*, such as h=, "):
        mbd.simulate(pendulum(), 0.02, 1e-2)
    with pytest.raises(TypeError, match=r"^RJ\(\) takes 3 arguments by position \(name, i, j\), not 5: .*, such as point=, axis="):
        joints.RJ("j", ground, body, (0, 0, 0), (0, 0, 1))
    with pytest.raises(
        TypeError, match=r"^Body\(\) takes 3 arguments by position \(name, mass, J_bar\), not 4: .*, such as r=, p=, "
    ):
        mbd.Body("b", 1.0, (1, 1, 1), (0, 0, 0))


def test_a_wrong_attribute_of_a_result_says_which_one_was_meant():
    result = mbd.simulate(pendulum(), 0.02, h=1e-2)
    for wrong, meant in (("forces", r"load\(name\)"), ("reactoin", "reaction"), ("reactions", r"reaction\(name\)"), ("time", "t")):
        with pytest.raises(AttributeError, match=rf"'Result' object has no attribute '{wrong}' \(did you mean '{meant}'\?"):
            getattr(result, wrong)
    assert not hasattr(result, "__wrapped__")
    assert copy.copy(result).t.tolist() == result.t.tolist()
    assert pickle.loads(pickle.dumps(result)).t.tolist() == result.t.tolist()


def test_a_wrong_attribute_of_a_history_says_which_one_was_meant_or_which_there_are():
    result = mbd.simulate(slider_crank(driven=True), 0.02, h=1e-2)
    rod, energy = result["rod"], result.energy()
    histories = (
        rod,
        rod.point((0, 0, 0)),
        result.joint("R"),
        result.driver("drive"),
        result.reaction("R"),
        energy,
        result.momentum(),
    )
    for history in histories:
        name = type(history).__name__
        with pytest.raises(AttributeError, match=f"'{name}' object has no attribute 'nonsens'; it has .*\\bt\\b"):
            _ = history.nonsens
        assert copy.copy(history).t.tolist() == result.t.tolist()
    for history, wrong, meant in (
        (rod, "position", "r"),
        (rod, "velocity", "v"),
        (rod, "acceleration", "a"),
        (rod, "rotation", "A"),
        (rod, "angular_velocity", "omega"),
        (result.joint("R"), "velocity", "rate"),
        (result.joint("R"), "theta", "angle"),
        (result.driver("drive"), "moment", "torque"),
        (result.reaction("R"), "moment", "torque"),
        (energy, "kinetic_energy", "kinetic"),
        (energy, "E", "total"),
        (result, "to_netcdf", "save"),
    ):
        with pytest.raises(AttributeError, match=rf"has no attribute '{wrong}' \(did you mean '{meant}'\?"):
            getattr(history, wrong)


def test_a_type_error_of_a_function_that_runs_is_its_own():
    """Whether its keywords are right or not, nothing is called twice."""
    calls = []

    @deprecated.check_keywords
    def add(a, *, b=0):
        calls.append(1)
        return a + b

    assert add(1, b=2) == 3
    with pytest.raises(TypeError, match="unsupported operand"):
        add(1, b="2")
    assert len(calls) == 2
    with pytest.raises(TypeError, match=r"add\(\) has no argument 'c'"):
        add(1, c=2)
    assert len(calls) == 2


def test_a_wrong_keyword_says_which_one_was_meant():
    with pytest.raises(TypeError, match=r"simulate\(\) has no argument 'dt' \(did you mean 'h'\?"):
        mbd.simulate(pendulum(), 1.0, dt=0.1)
    with pytest.raises(TypeError, match=r"simulate\(\) has no argument 'method' \(did you mean 'integrator'\?"):
        mbd.simulate(pendulum(), 1.0, method=mbd.RK4())
    with pytest.raises(TypeError, match=r"Body\(\) has no argument 'J' \(did you mean 'J_bar'\?"):
        mbd.Body("b", 1.0, J=(1, 1, 1))
    with pytest.raises(TypeError, match=r"Baumgarte\(\) has no argument 'alfa' \(did you mean 'alpha'\?"):
        mbd.Baumgarte(alfa=1.0)
    with pytest.raises(TypeError, match=r"Bushing\(\) has no argument 'stiffness' \(did you mean 'K'\?"):
        mbd.Bushing("mount", None, None, point=(0, 0, 0), stiffness=1e3)
    with pytest.raises(TypeError, match=r"TSDA\(\) has no argument 'stiffness' \(did you mean 'k'\?"):
        mbd.TSDA("spring", None, None, point_i=(0, 0, 0), point_j=(1, 0, 0), stiffness=1.0)


def test_an_old_keyword_is_the_new_one_and_warns():
    with pytest.warns(DeprecationWarning, match=r"HHT\(level=\) is called constraint_form="):
        method = mbd.HHT(level=mbd.GGL())
    assert method.constraint_form == mbd.GGL()
    with pytest.warns(DeprecationWarning, match="HHT.level|Implicit.level"):
        assert method.level is method.constraint_form
    with pytest.raises(TypeError, match="twice"), pytest.warns(DeprecationWarning, match="constraint_form"):
        mbd.HHT(level=mbd.GGL(), constraint_form=mbd.GGL())


def test_old_attributes_are_the_new_ones_and_warn():
    system = pendulum()
    result = mbd.simulate(system, 0.01, h=1e-3)
    floor = mbd.Contact("floor", system.ground, system.bodies[1], point=(0, 0, -1), normal=(0, 0, 1), restitution=0.5)
    things = {
        "Result": result,
        "Counters": result.counters,
        "Mobility": mbd.mobility(system),
        "Contact": floor,
        "Implicit": mbd.BDF(),
    }
    assert things.keys() == deprecated.ATTRIBUTES.keys()
    for names, thing in things.items():
        for old, new in deprecated.ATTRIBUTES[names].items():
            with pytest.warns(DeprecationWarning, match=f"{names}.{old} is called {new}"):
                assert getattr(thing, old) == getattr(thing, new)


def test_the_command_says_its_version(monkeypatch, capsys):
    """As `python -m haugmbd --version`, without another process."""
    monkeypatch.setattr(sys, "argv", ["haugmbd", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("haugmbd", run_name="__main__")
    said = capsys.readouterr()
    assert (ended.value.code, said.out.strip(), said.err) == (0, f"haugmbd {mbd.__version__}", "")
