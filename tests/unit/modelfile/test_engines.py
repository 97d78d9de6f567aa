"""Other engines read what is exported, and accelerate alike; a number that is wrong is seen."""

from __future__ import annotations

import pytest

import haugmbd as mbd
from haugmbd.modelfile.engines import check as engines_check
from haugmbd.simulation.stepping.progress import Progress
from joints import RJ, TJ, Distance, Fixed
from tests.support import mechanisms

KINDS = {
    "mujoco": mechanisms.ALL,
    "pinocchio": tuple(kind for kind in mechanisms.TREE if kind != "Planar"),
    "exudyn": tuple(kind for kind in mechanisms.ALL if kind != "UJ"),
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", KINDS)
@pytest.mark.parametrize("case", ["tree 1", "tree 4", "SJ", "RJ", "Fixed", "geared", "springs"])
def test_the_other_engine_accelerates_alike(engine, case):
    pytest.importorskip(engine)
    if case.startswith("tree"):
        system = mechanisms.random_tree(int(case[-1]), KINDS[engine], springs="damping" if engine == "pinocchio" else True)
    elif case == "geared":
        if engine == "exudyn":
            with pytest.raises(mbd.ModelFileError, match="'gear': Exudyn is given no Gear"):
                mbd.crosscheck_engine(mechanisms.geared(), engine)
            return
        system = mechanisms.geared(screw=engine == "mujoco")
    elif case == "springs":
        system = mechanisms.random_tree(2, ("RJ", "TJ"))
        near, far = system.bodies[2], system.bodies[4]
        system.add(mbd.TSDA("spring", near, far, point_i=near.r + 0.3, point_j=far.r - 0.2, k=20.0, c=3.0, l0=0.4, actuator=-2.0))
        if engine == "pinocchio":
            with pytest.raises(mbd.ModelFileError, match="'spring'"):
                mbd.crosscheck_engine(system, engine)
            return
        if engine == "mujoco":
            assert mbd.crosscheck_engine(system, engine, states=3).ok  # as a tendon
            return
        link = system.add(mbd.Body("tip", 1.0, (0.1, 0.1, 0.1), r=(1, 1, 1)))
        system.add(Distance("rod", far, link, point_i=far.r, point_j=(1.1, 1, 1)))
    else:
        system = mechanisms.loop(case)
    check = mbd.crosscheck_engine(system, engine, states=3)
    assert check.ok, str(check)
    assert check.states == 3
    assert check.relative.keys() == {body.name for body in system.bodies[1:]}
    assert bool(check.notes) is (engine == "exudyn" or not case.startswith("tree"))
    assert "all within 1e-09" in str(check)


def test_a_joint_may_have_the_name_of_a_body():
    """Pinocchio looks a frame up by its name alone, unless its type is given."""
    pytest.importorskip("pinocchio")
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    system.add(RJ("arm", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    assert mbd.crosscheck_engine(system, "pinocchio", states=1).ok


def test_after_ctrl_c_the_differences_are_those_of_the_states_so_far(monkeypatch):
    pytest.importorskip("mujoco")
    differences, calls, shown, reach = engines_check._differences, [], [], Progress.reach

    def struck(*given):
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return differences(*given)

    system = mechanisms.random_tree(1, ("RJ",))
    two = mbd.crosscheck_engine(system, "mujoco", states=2)
    monkeypatch.setattr(engines_check, "_differences", struck)
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._unit)) or reach(self, now))
    check = mbd.crosscheck_engine(system, "mujoco", states=4, progress=True)
    assert check.interrupted
    assert not check.ok
    assert (check.states, check.relative) == (two.states, two.relative)
    assert "at 2 states (interrupted by Ctrl-C): " in str(check)
    assert "all within 1e-09" in str(check)
    assert [now for now, unit in shown if unit == "states"] == [1, 2]
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        mbd.crosscheck_engine(system, "mujoco", progress=1)
    calls[:] = [0, 0]
    with pytest.raises(KeyboardInterrupt):
        mbd.crosscheck_engine(system, "mujoco", states=4)


def test_motions_without_acceleration_are_no_difference():
    """Two sliders without gravity move straight on: their accelerations are rounding in both engines, of 1e-16."""
    pytest.importorskip("mujoco")
    system = mbd.System("sliders")
    for k, axis in enumerate([(1, 2, 3), (3, -1, 1)]):
        slider = system.add(mbd.Body(f"slider {k}", 1.0 + k, (0.1, 0.2, 0.25), r=(0.3, k, 0.7)))
        system.add(TJ(f"guide {k}", system.ground, slider, point=(0, k, 1), axis=axis))
    check = mbd.crosscheck_engine(system, "mujoco", states=3)
    assert check.ok, str(check)


@pytest.mark.parametrize("engine", KINDS)
def test_a_mechanism_of_one_freedom_has_matrices_too(engine):
    """Pinocchio's Python module returns them as vectors."""
    pytest.importorskip(engine)
    system = mbd.System("pendulum", gravity=(0.0, 1.0, -9.81))
    bar = system.add(mbd.Body("bar", 1.5, (0.1, 0.2, 0.25), r=(0.5, 0.2, 0.0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0.1, 1, 0.3)))
    check = mbd.crosscheck_engine(system, engine, states=3)
    assert check.ok, str(check)


def test_pinocchio_is_not_asked_for_the_jacobians_of_what_cannot_move():
    """It would end the interpreter."""
    pytest.importorskip("pinocchio")
    system = mbd.System("welded")
    system.add(Fixed("weld", system.ground, system.add(mbd.Body("block", 1.0, (0.1, 0.2, 0.25)))))
    with pytest.raises(mbd.UsageError, match="no joint that moves"):
        mbd.crosscheck_engine(system, "pinocchio")


@pytest.mark.slow
def test_a_wrong_number_is_seen_by_the_other_engine(monkeypatch):
    pytest.importorskip("mujoco")
    from haugmbd.modelfile.engines import mujoco_engine

    right = mujoco_engine.reduced

    def wrong(system):
        made = right(system)
        return made._replace(M=made.M * (1.0 + 1e-6))

    monkeypatch.setattr(mujoco_engine, "reduced", wrong)
    check = mbd.crosscheck_engine(mechanisms.random_tree(1), "mujoco", states=2)
    assert not check.ok
    assert "BEYOND" in str(check)


def test_bad_arguments_of_the_check():
    system = mechanisms.random_tree(1)
    for how, what in (
        ({"engine": "mujuco"}, "did you mean 'mujoco'"),
        ({"engine": "mujoco", "states": 0}, "states is 0"),
        ({"engine": "mujoco", "tol": -1.0}, "tol is -1"),
    ):
        with pytest.raises(mbd.UsageError, match=what):
            mbd.crosscheck_engine(system, **how)
    with pytest.raises(mbd.UsageError, match="must be a System"):
        mbd.crosscheck_engine(None, "mujoco")


@pytest.mark.slow
def test_springs_without_free_length_and_with_q0_are_given_as_they_are():
    """A free length of 0 was given to Exudyn as 1 m, and the q0 of a hinge was left out."""
    pytest.importorskip("exudyn")
    system = mbd.System("sprung", gravity=(0, -9.81, 0))
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.12, 0.13), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1), q0=0.7))
    system.add(mbd.RSDA("twist", pin, k=2.0, c=0.1, theta0=0.4))
    system.add(mbd.TSDA("pull", system.ground, body, point_i=(0, 1, 0), point_j=(0.6, 0, 0.2), k=2.0, c=0.1, l0=0.0))
    check = mbd.crosscheck_engine(system, "exudyn", states=3)
    assert check.ok, str(check)
