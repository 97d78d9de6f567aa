"""`verify` passes what is right, and names the block that is wrong."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd import Driver
from haugmbd.constraints import KINDS
from haugmbd.constraints.freedoms import H_I, slide, turn
from haugmbd.formulations import FORMULATIONS
from haugmbd.formulations.base import Multipliers
from haugmbd.gallery import chain, governor
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.verification import rows as rows_module
from haugmbd.verification.rows import RowEvaluator, independent_bodies
from tests.support.samples import driven, geometry, make_joint, make_primitive, primitive_values, random_body
from tests.support.seeds import seeds

i, j = mbd.Body("i", 1.0, (1.0, 1.2, 1.4)), mbd.Body("j", 2.0, (1.0, 1.2, 1.4), r=(1.0, 0.5, 0.0), p=(0.8, 0.0, 0.6, 0.0))
verify_module = importlib.import_module("haugmbd.verification.verify")
PIN = joints.RJ("pin", i, j, point=(0.5, 0.0, 0.0), axis=(0.0, 1.0, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_constraint_is_right(kind, rng):
    found = mbd.verify(make_primitive(kind, random_body("i", rng), random_body("j", rng), driven, primitive_values(rng)), states=2)
    assert found.ok, found
    assert [check.name for check in found] == ["Phi", "Phi_r", "PiBar", "nu", "gamma"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", joints.CATALOGUE, ids=lambda kind: kind.__name__)
def test_every_joint_is_right(kind, rng):
    joint, _ = make_joint(kind, "joint", random_body("i", rng), random_body("j", rng), geometry(rng))
    found = mbd.verify(joint, states=1)
    assert found.ok, found


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMULATIONS, ids=lambda kind: kind.__name__)
def test_every_formulation_is_right(kind):
    found = mbd.verify(kind(), states=2)
    assert found.ok, found
    assert found["constraints"].error < 1e-5  # of Penalty, 1 / alpha; 1e-13 of the others


LOADS = {
    "TSDA": lambda: mbd.TSDA("s", i, j, point_i=(0, 0, 1), point_j=(1, 0, 1), k=3.0, c=2.0, l0=0.4, actuator=lambda t: np.sin(2 * t)),
    "actuator": lambda: mbd.TSDA(
        "a", i, j, point_i=(0, 0, 1), point_j=(1, 0, 1), actuator=lambda t, l, dl: 3 * l * dl, jacobian=lambda t, l, dl: (3 * dl, 3 * l)
    ),
    "RSDA": lambda: mbd.RSDA("r", PIN, k=2.0, c=1.0, theta0=0.2),
    "RSDA on the ground": lambda: mbd.RSDA("g", joints.RJ("p", j, mbd.Body.ground(), point=(0, 0, 0), axis=(0, 1, 0)), k=2.0),
    "PointForce": lambda: mbd.PointForce("p", i, point=(1, 2, 3), force=(1, 2, lambda t: t)),
    "Torque": lambda: mbd.Torque("q", i, torque=(1, 2, 3)),
    "StateForce": lambda: mbd.StateForce("f", [i, j], force=lambda t, r, p, v, w: np.hstack([-v, 0.1 * w])),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADS)
def test_every_force_is_right(name):
    found = mbd.verify(LOADS[name](), states=3)
    assert found.ok, found
    assert [check.name for check in found] == ["energy"] + ["jacobian"] * (name == "actuator")


@pytest.mark.slow
def test_drivers_and_whole_models_are_right():
    t = np.linspace(0.0, 2.0, 9)
    assert mbd.verify(mbd.QuinticSpline(t, np.sin(t))).ok
    found = mbd.verify(governor(), states=2)
    assert found.ok, found
    assert {"gamma", "inertial forces", "energy of 'coupling 1'"} <= {check.name for check in found}


class Wave(Driver):
    """sin t, with a factor of its own on f' and f''."""

    def __init__(self, first=1.0, second=1.0):
        self.first, self.second = first, second

    def values(self, t):
        t = np.asarray(t, dtype=float)
        return np.stack([np.sin(t), self.first * np.cos(t), -self.second * np.sin(t)], axis=-1)

    def faults(self):
        return ()


@pytest.mark.slow
def test_the_wrong_derivative_of_a_driver_is_named():
    assert mbd.verify(Wave()).ok
    assert mbd.verify(Wave(second=1.01)).wrong == ("f_ddot",)
    assert mbd.verify(Wave(first=0.5)).wrong == ("f_dot", "f_ddot")  # f'' is not the derivative of that f'
    found = mbd.verify(joints.RotationDriver("drive", PIN, Wave(second=2.0)), states=2)
    assert found.wrong == ("gamma",)
    assert found.worst.name == "gamma"
    assert "row 5, j has turned by the angle" in found["gamma"].where
    assert mbd.verify(mbd.DP1(i, (1, 0, 0), j, (0, 1, 0), Wave(first=0.5)), states=2).wrong == ("nu", "gamma")


@pytest.mark.slow
@pytest.mark.parametrize("omega", [1.0, 1e5, 1e7])
def test_fast_drivers_are_right_and_their_wrong_derivatives_are_named(omega):
    """Differences over 1e-5 s were compared with the derivatives of a sine of 1e5 rad/s, which was called wrong."""

    def sine(wrong=1.0):
        return Harmonic(omega, wrong)

    assert mbd.verify(sine()).ok
    assert mbd.verify(sine(wrong=1.01)).wrong == ("f_ddot",)
    assert mbd.verify(joints.RotationDriver("drive", PIN, sine()), states=2).ok
    assert mbd.verify(joints.RotationDriver("drive", PIN, sine(wrong=1.5)), states=2).wrong == ("gamma",)


class Harmonic(Driver):
    """sin omega t, with a factor on f''."""

    def __init__(self, omega, wrong):
        self.omega, self.wrong = omega, wrong

    def values(self, t):
        x, w = self.omega * np.asarray(t, dtype=float), self.omega
        return np.stack([np.sin(x), w * np.cos(x), -self.wrong * w * w * np.sin(x)], axis=-1)

    def faults(self):
        return ()


class Slot(mbd.Joint):
    """A point of j on a line of i; what it declares and how it is made is up to the test."""

    freedoms: ClassVar = None
    twice: ClassVar[bool] = False

    def __init__(self, point_j=(0.5, 0.0, 0.0)):
        super().__init__("slot", mbd.Frame.from_global(i, (0.5, 0.0, 0.0), (0, 0, 1)), mbd.Frame.from_global(j, point_j, (0, 0, 1)))

    def primitives(self):
        s_i, s_j = self.frame_i.s_bar, self.frame_j.s_bar
        rows = [mbd.DP2(i, a, s_i, j, s_j) for a in (self.frame_i.f, self.frame_i.g)]
        return (*rows, rows[0]) if self.twice else tuple(rows)


@pytest.mark.slow
def test_what_a_joint_says_besides_its_rows_is_verified():
    class Wrong(Slot):
        freedoms = (turn(H_I), slide(H_I))

    class Twice(Slot):
        twice = True

    assert mbd.verify(Slot(), states=1).ok
    assert mbd.verify(Slot((0.5, 0.1, 0.0)), states=1).wrong == ("modelled pose",)
    assert "Phi = " in mbd.verify(Slot((0.5, 0.1, 0.0)), states=1)["modelled pose"].where
    found = mbd.verify(Wrong(), states=1)
    assert found.wrong == ("freedoms",)
    assert found["freedoms"].where == "2 declared, 4 left"
    assert mbd.verify(Twice(), states=1).wrong == ("rank",)


def test_any_object_with_a_name_and_primitives_is_a_joint():
    class Rope:
        name = "rope"

        def primitives(self):
            return (mbd.D(i, (0, 0, 0), j, (0, 0, 0), float(np.linalg.norm(j.r))),)

    assert mbd.verify(Rope(), states=1).ok


@pytest.mark.slow
def test_the_wrong_energy_of_a_force_is_named(monkeypatch):
    right = mbd.TSDA.ledger

    def leaking(self, t, bodies, angle):
        return right(self, t, bodies, angle)._replace(dissipated=np.zeros(len(t)))

    monkeypatch.setattr(mbd.TSDA, "ledger", leaking)
    found = mbd.verify(mbd.TSDA("leak", i, j, point_i=(0, 0, 1), point_j=(1, 0, 1), k=3.0, c=2.0, l0=0.4))
    assert found.wrong == ("energy",)
    assert "its power is" in str(found)


@dataclass(frozen=True)
class Wrong(mbd.NullSpace):
    """NullSpace with one thing wrong."""

    what: str = ""

    def solve(self, question):
        right = super().solve(question)
        if self.what == "lam":
            return right._replace(lam=-right.lam)
        if self.what == "gamma":
            return super().solve(replace(question, b_c=-question.b_c))
        return right._replace(u=1.001 * right.u) if self.what == "u" and question.solve_for.name != "ACCELERATIONS" else right


@pytest.mark.slow
def test_the_wrong_block_of_a_formulation_is_named():
    assert Wrong().multipliers is not Multipliers.APPROXIMATE
    assert mbd.verify(Wrong(), states=1).ok
    assert mbd.verify(Wrong(what="lam"), states=1).wrong == ("multipliers", "equations of motion")
    assert mbd.verify(Wrong(what="u"), states=1).wrong == ("right-hand sides",)
    wrong = mbd.verify(Wrong(what="gamma"), states=1)
    assert wrong.wrong == ("accelerations", "multipliers", "constraints", "right-hand sides")
    assert "in the mechanism" in wrong.worst.where


def test_the_report_is_a_table_and_the_worst_comes_first():
    found = mbd.verify(Wave(second=1.01))
    assert not found.ok
    assert found.worst is found["f_ddot"]
    lines = str(found).splitlines()
    assert lines[0].endswith("WRONG: f_ddot")
    assert [line[0] for line in lines[3:6]] == [" ", " ", "!"]
    assert lines[-1].strip().startswith("f_ddot: f_ddot = ")
    with pytest.raises(mbd.UsageError, match=r"'f_dott' \(did you mean 'f_dot'"):
        found["f_dott"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report():
    assert mbd.verify(PIN, states=1, seed=3) == mbd.verify(PIN, states=1, seed=3)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((joints.RJ,), mbd.UsageError, r"got the class RJ; pass an object of it: RJ\(\.\.\.\)"),
        (("pin",), mbd.UsageError, "got a str, 'pin'; give a constraint"),
        ((mbd.DP1(i, (0, 0, 0), j, (1, 0, 0)),), mbd.ModelError, "Give a direction"),
        ((mbd.TSDA("s", i, j, point_i=(0, 0, 0), point_j=(1, 0, 0), k=1.0),), mbd.ModelError, "no free length"),
        ((mbd.Penalty(alpha=-1.0),), mbd.UsageError, "alpha"),
    ],
)
def test_what_cannot_be_verified_is_refused(arguments, error, said):
    with pytest.raises(error, match=said):
        mbd.verify(*arguments)


def test_a_kind_without_a_kernel_is_refused():
    class Dot(mbd.DP1):
        pass

    with pytest.raises(mbd.UsageError, match="Dot has no kernel: .*haugmbd/constraints/registry.py"):
        mbd.verify(Dot(i, (1, 0, 0), j, (0, 1, 0)))


def test_options_are_checked():
    with pytest.raises(mbd.UsageError, match="states = 0 must be an integer, 1 or more"):
        mbd.verify(PIN, states=0)
    with pytest.raises(TypeError, match=r"no argument 'state' \(did you mean 'states'"):
        mbd.verify(PIN, state=1)


@pytest.mark.slow
@pytest.mark.parametrize("law", [mbd.Coulomb(0.3), mbd.BrownMcPhee(0.3, 0.2, 0.01), mbd.LuGre(0.3, 0.2, 0.01, 1e3, 10.0)])
def test_friction_of_a_joint_that_carries_no_force_is_right(law):
    system = mbd.System("slider")
    ball = system.add(mbd.Body("ball", 2.0, (0.1, 0.1, 0.1)))
    rail = system.add(joints.TJ("rail", system.ground, ball, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, law))
    found = mbd.verify(system)
    assert found.ok, found


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    "law", [mbd.Coulomb(0.3, 0.2), mbd.BrownMcPhee(0.3, 0.2, 0.01), mbd.LuGre(0.3, 0.2, 0.01, 500.0, 1.0, 0.1)], ids=repr
)
def test_friction_that_jams_at_random_states_is_verified_near_its_pose(law, swapped):
    """Levers of random states are far longer than a guide of 0.1 m, and a random deflection of bristles far larger than they have."""
    system = mbd.System("two joints", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.5, (0.1, 0.12, 0.15), r=(0.3, 0, 0)))
    slide = system.add(mbd.Body("slide", 1.2, (0.1, 0.11, 0.13), r=(2, 0, 0)))
    pin = joints.RJ("pin", *((arm, system.ground) if swapped else (system.ground, arm)), point=(0, 0, 0), axis=(0, 1, 0))
    rail = joints.TJ("rail", *((slide, system.ground) if swapped else (system.ground, slide)), point=(2, 0, 0), axis=(1, 0, 0.3))
    for joint in (pin, rail):
        system.add(joint)
    turning = system.add(mbd.JointFriction("turning", pin, law, radius=0.05, length=0.1))
    sliding = system.add(mbd.JointFriction("sliding", rail, law, length=0.1))
    for seed in seeds(2):
        for part in (system, turning, sliding):
            found = mbd.verify(part, seed=seed)
            assert found.ok, found
            assert "no solution" not in str(found)


def test_friction_without_any_solution_is_reported(monkeypatch):
    """A friction that no state solves is not called right, and verify does not raise."""
    system = mbd.System("one joint")
    arm = system.add(mbd.Body("arm", 1.5, (0.1, 0.12, 0.15), r=(0.3, 0, 0)))
    pin = system.add(joints.RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    rub = system.add(mbd.JointFriction("rub", pin, mbd.LuGre(0.3, 0.2, 0.01, 500.0), radius=10.0))
    monkeypatch.setattr("haugmbd.verification.forces.bristle_scale", lambda load: 1e6)
    found = mbd.verify(rub)
    assert not found.ok
    assert "at 0 of 5 states: the friction has no solution near the others" in str(found)
    assert "friction 'rub' in joint 'pin'" in found["energy"].where


def pulled_chain(n):
    """A chain with a spring at its end."""
    system = chain(n)
    end = system.bodies[-1]
    system.add(mbd.TSDA("spring", system.ground, end, point_i=(0, 0, 3), point_j=end.r, k=3.0, l0=1.0))
    return system


def count_evaluations(monkeypatch, system):
    """How often rows are evaluated to verify a system."""
    seen, rows = [], RowEvaluator.rows
    monkeypatch.setattr(RowEvaluator, "rows", lambda self, state: seen.append(0) or rows(self, state))
    assert mbd.verify(system, states=1).ok
    return len(seen)


def test_a_longer_chain_needs_no_more_evaluations(monkeypatch):
    """Bodies without a common row are displaced together: each was by itself, and a chain of 400 took 20 s."""
    assert count_evaluations(monkeypatch, chain(12)) < 1.5 * count_evaluations(monkeypatch, chain(3))  # it was 4 times as many


def test_bodies_that_are_displaced_together_share_no_row():
    for system in (chain(6), governor()):
        model = system.compile()
        sets = independent_bodies(model)
        assert sorted(np.concatenate(sets).tolist()) == list(range(1, model.nb + 1))
        for bodies in sets:
            assert (np.isin(model.bodies_of_rows(), bodies).sum(axis=1) <= 1).all()


def test_after_ctrl_c_the_checks_so_far_are_returned(monkeypatch):
    def struck(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify_module, "check_force", struck)
    found = mbd.verify(pulled_chain(2), states=1)
    assert [check.name for check in found] == ["Phi", "Phi_r", "PiBar", "nu", "gamma", "inertial forces"]
    assert found.interrupted
    assert not found.ok
    assert not found.wrong
    assert str(found).startswith("Model 'chain of 2': interrupted by Ctrl-C; 6 blocks were compared: all blocks are right")


@pytest.mark.parametrize(("at", "names"), [(1, []), (2, ["Phi", "Phi_r", "PiBar", "nu", "gamma"])])
def test_rows_are_reported_at_the_states_before_ctrl_c(monkeypatch, at, names):
    calls, check_state = [], rows_module._check_state

    def struck(*given):
        calls.append(0)
        if len(calls) == at:
            raise KeyboardInterrupt
        check_state(*given)

    monkeypatch.setattr(rows_module, "_check_state", struck)
    found = mbd.verify(PIN, states=3)
    assert [check.name for check in found] == names
    assert found.interrupted


@pytest.mark.parametrize(
    "x", [PIN, pulled_chain(2), mbd.NewtonEuler(), mbd.QuinticSpline(np.arange(7.0), np.arange(7.0) ** 2)], ids=repr
)
def test_progress_is_shown_to_the_end(monkeypatch, x):
    seen, reach = [], Progress.reach
    monkeypatch.setattr(Progress, "reach", lambda self, now: seen.append((now, self._stop)) or reach(self, now))
    mbd.verify(x, states=2)
    reached = [now for now, _ in seen]
    assert reached == sorted(set(reached))
    assert len(seen) >= (1 if isinstance(x, Driver) else 2)
    assert reached[-1] == seen[-1][1]
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        mbd.verify(x, progress=1)
