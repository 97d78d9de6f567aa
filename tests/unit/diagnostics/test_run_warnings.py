"""How a run ended, and what stays with it: status, success, message, warnings."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.diagnostics import run_warnings
from haugmbd.gallery import pendulum as published_pendulum
from joints import RJ
from tests.support.with_contacts import simulate_with


def pendulum(**body):
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.add(mbd.Body("bob", mass=1.0, J_bar=(0.01, 0.1, 0.1), r=(1, 0, 0), **body))
    system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def test_a_run_that_reached_its_end():
    result = mbd.simulate(pendulum(), 0.2, h=1e-3)
    assert (result.status, result.success, result.warnings) == (mbd.RunStatus.COMPLETED, True, ())
    assert result.status == 0
    assert result.message == "reached t_end = 0.2 s"


def test_a_terminal_event():
    low = mbd.Event("low", lambda t, state: state.r[1, 2] + 0.1, terminal=True)
    result = mbd.simulate(pendulum(), 1.0, h=1e-3, events=[low])
    assert (result.status, result.success) == (mbd.RunStatus.TERMINAL_EVENT, True)
    assert "'low'" in result.message


def fail_at(when, error):
    """A pendulum whose force raises after `when` [s]."""

    def force(t, r, p, v, omega_bar):
        if t > when:
            raise error
        return np.zeros((1, 6))

    system = pendulum()
    system.add(mbd.StateForce("push", [system.bodies[1]], force=force))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", [mbd.RK4(h=1e-3), mbd.DOP853(), mbd.BDF(), mbd.GeneralizedAlpha(h=1e-3), mbd.RATTLE(h=1e-3)], ids=repr
)
def test_interrupted_and_failed_runs(integrator):
    result = mbd.simulate(fail_at(0.1, KeyboardInterrupt()), 0.5, integrator=integrator)
    assert result.interrupted
    assert (result.status, result.success) == (mbd.RunStatus.INTERRUPTED, False)
    assert "Ctrl-C" in result.message
    with pytest.raises(ZeroDivisionError) as caught:
        mbd.simulate(fail_at(0.1, ZeroDivisionError("no such force")), 0.5, integrator=integrator)
    result = caught.value.result
    assert (result.status, result.success) == (mbd.RunStatus.FAILED, False)
    assert "no such force" in result.message


def test_a_run_that_fails_in_itself_carries_status_and_warnings():
    """A pendulum that winds up until RATTLE refuses: the partial result says so, and no warning is issued beside the error."""
    system = pendulum()
    system.add(mbd.Torque("wind", system.bodies[1], torque=(0, -30.0, 0)))
    with pytest.raises(mbd.SimulationError, match="'bob'") as caught:
        mbd.simulate(system, 20.0, integrator=mbd.RATTLE(h=0.05))
    result = caught.value.result
    assert len(result) > 5
    assert result.status == -1
    assert str(caught.value) in result.message


@pytest.mark.slow
def test_energy_that_drifts_is_told_once_and_stays_in_the_file(tmp_path):
    with pytest.warns(mbd.RunWarning, match="energy should stay") as issued:
        result = mbd.simulate(pendulum(), 20.0, integrator=mbd.Heun(h=0.12))
    assert len(issued) == 1
    assert issued[0].filename == __file__
    assert [str(issued[0].message)] == [text for text in result.warnings if "energy" in text]
    for name in ("run.npz", *(["run.nc"] if find_spec("h5netcdf") else [])):
        back = mbd.load(result.save(tmp_path / name))
        assert (back.status, back.success, back.message, back.warnings) == (0, True, result.message, result.warnings)
    assert result.resample(result.t[[4, 9]]).warnings == result.warnings


def test_a_joint_that_opens_is_noted():
    with pytest.warns(mbd.RunWarning, match="energy"):
        result = mbd.simulate(pendulum(), 30.0, h=1e-2, integrator=mbd.Heun(), stabilization=None)
    assert any("joint 'pin' is violated" in text for text in result.warnings)


def test_a_joint_that_opens_in_implicit_steps_is_noted():
    """Of index 2, where positions drift: the gap is that of the last rows of an iteration."""
    result = mbd.simulate(published_pendulum(), 30.0, integrator=mbd.GeneralizedAlpha(h=0.05, constraint_form=mbd.Index2()))
    note = next(text for text in result.warnings if "is violated by " in text)
    gap = abs(result.violation("position")[-1]).max() / result.model.length
    assert float(note.split("violated by ")[1].split()[0]) == pytest.approx(gap, rel=0.1)


def test_singular_positions_and_the_models_own_warnings():
    model = pendulum().compile()
    object.__setattr__(model, "warnings", ("the loop 'A' is locked",))
    result = mbd.simulate(model, 0.1, h=1e-2)
    assert result.warnings == ("the loop 'A' is locked",)
    from haugmbd.integrators.state_space import SingularCrossing

    (note,) = run_warnings.singular_notes([SingularCrossing(0.5 + k, ("A", "B"), 1e-9) for k in range(5)])
    assert "t = 0.5 s ('A', 'B')" in note.text
    assert "and 2 more" in note.text


def test_a_chain_has_them_too():
    chain = mbd.random_chain(3, 1, kinds=("revolute",))
    result = mbd.simulate(chain, 0.2, h=1e-3)
    assert (result.status, result.success, result.warnings) == (0, True, ())
    with pytest.warns(mbd.RunWarning, match="energy"):
        result = mbd.simulate(chain, 20.0, integrator=mbd.Heun(h=0.1))
    assert result.maximal().warnings == result.warnings


def test_impacts_join_the_notes_of_their_pieces():
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", mass=1.0, J_bar=(0.1, 0.1, 0.1), r=(0, 0, 1.0), omega_bar=(0, 0, 15.0)))
    floor = mbd.Contact("floor", system.ground, ball, point=(0, 0, -0.1), normal=(0, 0, 1), restitution=0.5)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = simulate_with(system, 1.0, contacts=[floor], h=0.1)
    assert (result.status, result.success) == (0, True)
    assert len([text for text in result.warnings if "'ball'" in text]) == 1
    assert len([w for w in issued if w.category is mbd.RunWarning]) == 1


def test_at_rest_nothing_drifts():
    """A mechanism in balance, far from the origin: rounding is no drift."""
    system = mbd.System("rest", gravity=(0, 0, -9.81))
    bob = system.add(mbd.Body("bob", mass=1.0, J_bar=(0.01, 0.1, 0.1), r=(1e4, 0, -1)))
    system.add(RJ("pin", system.ground, bob, point=(1e4, 0, 0), axis=(0, 1, 0)))
    assert mbd.simulate(system, 1.0, h=1e-2).warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize(("restitution", "mu", "told"), [(1.0, 0.0, True), (0.8, 0.0, False), (1.0, 0.3, False)])
def test_a_ball_that_loses_energy_in_elastic_contacts_is_told(restitution: float, mu: float, told: bool):
    """Steps of a fifth of a contact's duration take a seventh of the energy; with damping or friction it may fall."""
    system = mbd.System("drop", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.004, 0.004, 0.004), r=(0, 0, 0.6)))
    shapes = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane()}
    system.add(mbd.ContactForce("floor", ball, system.ground, **shapes, K=1e5, restitution=restitution, mu=mu))
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = mbd.simulate(system, 5.0, integrator=mbd.GeneralizedAlpha(h=5e-3))
    assert len(issued) == told
    assert [note.startswith("energy should stay") for note in result.warnings] == [True] * told
    if told:
        energy = result.energy()
        lost = energy.kinetic[0] + energy.potential[0] - energy.kinetic - energy.potential
        assert np.abs(lost).max() > 0.1 * np.ptp(energy.potential)
        np.testing.assert_array_equal(energy.dissipated_work, 0.0)
