"""What stops a run: Ctrl-C gives the result so far; a state that is not finite and a singular configuration say when and where."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import PointForce
from haugmbd.gallery import double_pendulum, governor
from joints import CJ, RJ, TJ, Distance, TranslationDriver

METHODS = {"fixed": {"h": 1e-3}, "adaptive": {"rtol": 1e-9, "atol": 1e-9}}


def falling(force) -> mbd.System:
    """A free mass under a force f(t)."""
    system = mbd.System("falling", gravity=(0.0, 0.0, -9.81))
    body = system.add(mbd.Body("mass", 1.0, (1.0, 1.0, 1.0)))
    system.add(PointForce("push", body, point=(0, 0, 0), force=force))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("asked", [None, np.linspace(0.0, 5.0, 501)], ids=["steps", "t_eval"])
def test_ctrl_c_in_a_force_leaves_the_result_so_far(options, asked):
    """Interrupted inside compiled code, in the user's own function."""

    def force(t):
        if t > 2.5:
            raise KeyboardInterrupt
        return (1.0, 0.0, np.sin(300.0 * t))

    result = mbd.simulate(falling(force), 5.0, t_eval=asked, **options)
    assert result.interrupted
    assert result.t[0] == 0.0
    assert 2.4 < result.t[-1] <= 2.5
    assert len(result.t) == len(result.y) > 100
    np.testing.assert_allclose(result["mass"].r[:, 0], 0.5 * result.t**2, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_ctrl_c_between_batches(options, monkeypatch):
    """Interrupted outside compiled code, when some batches have been stored."""
    method = mbd.RK4 if "h" in options else mbd.DormandPrince
    whole = method.batches
    stored = []

    def batches(self, problem, k1, t_end):
        for batch in whole(self, problem, k1, t_end):
            if len(stored) == 2:
                raise KeyboardInterrupt
            stored.append(batch.t[-1])
            yield batch

    monkeypatch.setattr(method, "batches", batches)
    many = options if "h" in options else {"integrator": mbd.DormandPrince(h_max=1e-3)}
    result = mbd.simulate(double_pendulum(), 5.0, **many)
    assert result.interrupted
    assert result.t[-1] == stored[-1] < 5.0
    assert np.isfinite(result.y).all()


def test_a_finished_run_is_not_interrupted():
    assert not mbd.simulate(double_pendulum(), 0.01, h=1e-3).interrupted


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_an_error_in_a_force_comes_out_as_it_is(options):
    def force(t):
        if t > 0.5:
            raise ZeroDivisionError("my own mistake")
        return (0.0, 0.0, 0.0)

    with pytest.raises(ZeroDivisionError, match="my own mistake"):
        mbd.simulate(falling(force), 1.0, **options)


def test_a_state_that_is_not_finite_says_when_and_keeps_the_rest():
    """A step far too large for a stiff spring: the numbers grow until they overflow."""
    from haugmbd import TSDA

    system = mbd.System("stiff")
    body = system.add(mbd.Body("mass", 1.0, (1.0, 1.0, 1.0), r=(1.5, 0.0, 0.0)))
    system.add(TSDA("spring", system.ground, body, point_i=(0, 0, 0), point_j=(1.5, 0, 0), k=1e6, l0=1.0))
    with pytest.raises(mbd.SimulationError, match=r"not finite at t = .*mass.*reduce h") as caught:
        mbd.simulate(system, 20.0, h=0.1)
    result = caught.value.result
    assert result is not None
    assert 2 < len(result) < 200
    assert np.isfinite(result.y).all()
    np.testing.assert_allclose(np.diff(result.t), 0.1, rtol=1e-9)


@pytest.mark.parametrize("options", [{"h": 0.01}, {"rtol": 1e-9, "atol": 1e-9}], ids=METHODS)
@pytest.mark.parametrize("stabilization", [mbd.Projection(), None], ids=["projection", "none"])
def test_a_singular_configuration_names_time_and_joint(options, stabilization):
    """A distance that is driven to zero at t = 1 s: its row vanishes there."""
    system = mbd.System("shrinking")
    body = system.add(mbd.Body("mass", 1.0, (1.0, 1.0, 1.0), r=(1.0, 0.0, 0.0), v=(-1.0, 0.0, 0.0)))
    system.add(Distance("rope", system.ground, body, point_i=(0, 0, 0), point_j=(1, 0, 0), distance=lambda t: 1.0 - t))
    with pytest.raises(mbd.SimulationError, match="rope") as caught:
        mbd.simulate(system, 1.0, stabilization=stabilization, **options)
    assert "t = 1" in str(caught.value) or "t = 0.99" in str(caught.value)
    result = caught.value.result
    assert result is not None
    assert 0.9 < result.t[-1] <= 1.0 + 1e-9
    np.testing.assert_allclose(result["mass"].r[:, 0], 1.0 - result.t, rtol=0.0, atol=1e-9)


def test_a_pole_in_a_force_stops_the_error_control():
    """A force that grows without bound towards t = 1: the steps go to nothing, and the error says so, with what there is."""

    def force(t):
        return (1.0 / (1.0 - t) ** 2 if t < 1.0 else 1e300, 0.0, 0.0)

    with pytest.raises(mbd.SimulationError, match=r"at t = 1|at t = 0\.99") as caught:
        mbd.simulate(falling(force), 2.0, rtol=1e-9, atol=1e-9)
    result = caught.value.result
    assert result is not None
    assert 0.9 < result.t[-1] <= 1.0
    early = result.t < 0.9
    np.testing.assert_allclose(result["mass"].v[early, 0], 1.0 / (1.0 - result.t[early]) - 1.0, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("stabilization", [None, mbd.Baumgarte(5.0, 5.0)], ids=["none", "baumgarte"])
def test_numbers_that_overflow_are_not_called_an_over_constrained_mechanism(stabilization):
    """With joints, it is the factorization that meets the first NaN; the error still speaks of the state and the step."""
    from haugmbd import TSDA
    from joints import RJ

    system = mbd.System("stiff")
    body = system.add(mbd.Body("mass", 1.0, (1.0, 1.0, 1.0), r=(1.0, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(TSDA("spring", system.ground, body, point_i=(0, 3, 0), point_j=(1, 0, 0), k=1e6, l0=1.0))
    with pytest.raises(mbd.SimulationError, match=r"not finite at t = .*reduce h") as caught:
        mbd.simulate(system, 30.0, h=0.1, stabilization=stabilization)
    assert not isinstance(caught.value, mbd.SingularKKTError)
    assert caught.value.result is not None
    assert np.isfinite(caught.value.result.y).all()


@pytest.mark.parametrize("h", [2e-3, 1e-3, 5e-4])
def test_a_stiff_damper_that_tears_the_joints_apart_is_not_called_a_singular_position(h):
    """An eigenvalue of -8117 1/s: explicit steps overshoot until the rows are anything; the error says so, and what to use."""
    with pytest.raises(mbd.SimulationError, match=r"apart|cannot reach the constraints") as caught:
        mbd.simulate(governor(), 0.05, h=h)
    assert not isinstance(caught.value, mbd.SingularKKTError)
    assert "GeneralizedAlpha" in str(caught.value)


DENSE = (mbd.RangeSpace(), mbd.UdwadiaKalaba(), mbd.UdwadiaPhohomsiri(), mbd.NullSpace(), mbd.EulerParameters(), mbd.Penalty())


@pytest.mark.slow
@pytest.mark.parametrize("formulation", DENSE, ids=repr)
@pytest.mark.parametrize("stabilization", [None, mbd.Baumgarte.scaled(0.1, 0.1)], ids=["none", "baumgarte"])
def test_nor_by_a_formulation_of_dense_matrices(formulation, stabilization):
    with pytest.raises(mbd.SimulationError, match=r"grows without bound|not finite") as caught:
        mbd.simulate(governor(), 0.05, h=1e-3, formulation=formulation, stabilization=stabilization)
    assert not isinstance(caught.value, mbd.SingularKKTError)
    assert "GeneralizedAlpha" in str(caught.value)


def test_what_numpy_cannot_decompose_is_told_with_the_time(monkeypatch):
    def fails(self, kkt):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(mbd.NullSpace, "solve", fails)
    with pytest.raises(mbd.SingularKKTError, match=r"at t = 0 s: its factorization did not converge \(SVD did not converge\)"):
        mbd.simulate(governor(), 0.05, h=1e-3, formulation=mbd.NullSpace())


@pytest.mark.slow
@pytest.mark.parametrize("h", [1e-3, 5e-4])
def test_rattle_says_where_a_damper_is_stiff(h):
    """h c / (2 m) = 4, 2: the forces at the end of a step do not settle, and the motion would be anything."""
    with pytest.raises(mbd.SimulationError, match=r"did not converge.*where a damper is stiff, BDF") as caught:
        mbd.simulate(governor(), 0.05, integrator=mbd.RATTLE(h))
    assert caught.value.result is not None
    exact = mbd.simulate(governor(), 0.02, integrator=mbd.DOP853(rtol=1e-11, atol=1e-11))
    found = mbd.simulate(governor(), 0.02, integrator=mbd.RATTLE(2e-5))
    assert np.abs(found.r[-1] - exact.r[-1]).max() < 1e-6


RUNS = {
    "error control": {"rtol": 1e-8},
    "fixed steps": {"h": 1e-3},
    "generalized-alpha": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-7)},
}


def pushed_to_its_dead_centre(push):
    """A slider-crank whose slider is driven by push(t): beyond 0.2835 m crank and rod are in line, and would have to be longer."""
    start, pin, end = np.array([(0.0, 0.0, 0.0), (0.3, 0.4, 0.0), (0.3 + np.sqrt(0.84), 0.0, 0.0)])
    system = mbd.System("slider-crank", gravity=(0, -9.81, 0))
    crank = system.add(mbd.Body("crank", *mbd.inertia.cylinder(0.03, 0.5, mass=1.0, axis=pin - start), r=pin / 2))
    rod = system.add(mbd.Body("rod", *mbd.inertia.cylinder(0.03, 1.0, mass=2.0, axis=end - pin), r=(pin + end) / 2))
    slider = system.add(mbd.Body("slider", 1.0, (0.01, 0.01, 0.01), r=end))
    system.add(RJ("A", system.ground, crank, point=start, axis=(0, 0, 1)))
    system.add(RJ("B", crank, rod, point=pin, axis=(0, 0, 1)))
    system.add(CJ("C", rod, slider, point=end, axis=(0, 0, 1)))
    rail = system.add(TJ("rail", system.ground, slider, point=end, axis=(1, 0, 0)))
    system.add(TranslationDriver("drive", rail, f=push))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("how", RUNS.values(), ids=list(RUNS))
def test_a_run_names_the_dead_centre_that_kinematics_names(how):
    """One cause in both: the singular position and its joints, and neither a jump in a force nor a stiff spring."""
    ends = np.sqrt(2.0 * (1.5 - 0.3 - np.sqrt(0.84)))
    with pytest.raises(mbd.SimulationError, match="at a singular position: the rows of 'C', 'B', 'drive', 'A'"):
        mbd.kinematics(pushed_to_its_dead_centre(lambda t: 0.5 * t * t), np.linspace(0.0, 1.2, 13))
    with pytest.raises(mbd.SimulationError, match=r"a singular position \(a dead centre.*'drive'.*become dependent") as caught:
        mbd.simulate(pushed_to_its_dead_centre(lambda t: 0.5 * t * t), 1.2, **how)
    assert caught.value.result.t[-1] == pytest.approx(ends, abs=2e-3)
    assert "not smooth" not in str(caught.value)
    assert "stiff" not in str(caught.value)


@pytest.mark.slow
def test_a_force_that_has_a_pole_is_no_singular_position():
    """The words of a run that finds no step at a regular pose stay those of a force."""
    system = mbd.System("pushed", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(PointForce("pole", rod, point=rod.r, force=lambda t: (0.0, 0.0, 1.0 / (0.3 - t) ** 2)))
    with pytest.raises(mbd.SimulationError) as caught:
        mbd.simulate(system, 1.0, rtol=1e-8)
    assert "singular position" not in str(caught.value)
