"""A small part of the attack in `tests.support.attack`, and what the whole of it has found: right, or told, and never raw."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from functools import cache

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar
from joints import RJ
from tests.support.attack.cases import cases
from tests.support.attack.families import FAMILIES
from tests.support.attack.windows import time_to_lie, window_system
from tests.support.seeds import seeds

PLANE = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_no_method_is_wrong_in_silence(family):
    """A few random cases of each family."""
    for number, mechanism, method, verdict in cases(7, seeds(3), family):
        assert verdict.kind != "finding", f"case {number}: {mechanism.name}: {method}: {verdict.why}"


@cache
def window(off):
    """A window whose bar is `off` too long, and the centres and velocities of its bodies at a time behind the singular pose."""
    system, reference = window_system(1, 1.0, 3.0, off, PLANE)
    t_end = time_to_lie(1.0, 3.0, 1) + 0.1
    return system.compile(), t_end, reference(np.array([0.0, t_end]))[-1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("after", [-1e-6, 0.0, 1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize("timed", [False, True])
def test_a_run_may_end_beside_a_singular_pose(after, timed):
    """The last step ends in the pose itself or just behind it: its velocities were off by metres a second, and nothing was said.

    With a function of time, which must not be evaluated beyond the end, the run says so; without one it is as accurate as elsewhere.
    """
    system, reference = window_system(1, 1.0, 3.0, 0.0, PLANE)
    if timed:
        system.add(mbd.PointForce("breath", system.bodies[1], force=lambda t: (1e-12 * t, 0.0, 0.0)))
    model, t_end = system.compile(), time_to_lie(1.0, 3.0, 1) + after
    wanted = reference(np.array([0.0, t_end]))[-1]
    for formulation, integrator in ((mbd.NullSpace(), mbd.DormandPrince()), (mbd.NewtonEuler(), mbd.DOP853())):
        result = None
        with nullcontext() if not timed else suppress(mbd.SimulationError):
            result = mbd.simulate(model, t_end, formulation=formulation, integrator=integrator, rtol=1e-8, atol=1e-10)
        if result is None:
            continue
        error = max(np.abs(result.r[-1, 1:] - wanted[:, :3]).max(), np.abs(result.v[-1, 1:] - wanted[:, 3:]).max())
        kinds = {note.kind for note in result.outcome.notes}
        assert error < 1e-6 or (timed and "near" in kinds)
        assert timed or kinds == ({"singular"} if after > 0.0 else set()) or (after == 0.0 and kinds == {"singular"})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
def test_a_run_with_a_function_of_time_that_ends_well_behind_a_singular_pose_is_not_doubtful():
    system, reference = window_system(1, 1.0, 3.0, 0.0, PLANE)
    system.add(mbd.PointForce("breath", system.bodies[1], force=lambda t: (1e-12 * t, 0.0, 0.0)))
    t_end = time_to_lie(1.0, 3.0, 1) + 0.06
    result = mbd.simulate(system, t_end, rtol=1e-8, atol=1e-10)
    assert {note.kind for note in result.outcome.notes} == {"singular"}
    assert np.abs(result.r[-1, 1:] - reference(np.array([0.0, t_end]))[-1, :, :3]).max() < 1e-6


@pytest.mark.slow
def test_numbers_that_overflow_in_a_chain_are_told_with_the_time():
    """The recursions know no time; the run does."""
    system = mbd.System("stiff", gravity=(0.0, 0.0, -9.81))
    link = system.add(mbd.Body("link", 0.01, (1e-3, 1e-3, 1e-3), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.TSDA("spring", system.ground, link, point_i=(1, 0.5, 1), point_j=(1, 0, 0), k=1e6, c=1e3, l0=0.5))
    with pytest.raises(mbd.SimulationError, match="t = "):
        mbd.simulate(
            system, 0.5, h=1e-2, integrator=mbd.Heun(), formulation=mbd.ReducedChain(), stabilization=mbd.Baumgarte(5.0, 5.0)
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
def test_a_constant_energy_is_no_proof():
    """An energy projection restores what steps lose that are too long for the bend beside a singular pose; it says how much."""
    system, reference = window_system(1, 1.0, 3.0, -1e-2, PLANE)
    t_end = time_to_lie(1.0, 3.0, 1) + 0.1
    kinds = {}
    for rule in (mbd.EnergyProjection(), mbd.Projection()):
        result = mbd.simulate(system, t_end, h=1e-2, integrator=mbd.SemiImplicitEuler(), stabilization=rule)
        kinds[type(rule)] = {note.kind for note in result.outcome.notes}
        error = np.abs(result.r[-1, 1:] - reference(np.array([0.0, t_end]))[-1, :, :3]).max()
        assert error > 1e-2
        assert "energy" in kinds[type(rule)]
    fine = mbd.simulate(system, 0.5 * t_end, h=1e-3, stabilization=mbd.EnergyProjection())
    assert fine.warnings == ()
    assert any(
        "has restored" in text
        for text in mbd.simulate(
            system, t_end, h=1e-2, integrator=mbd.SemiImplicitEuler(), stabilization=mbd.EnergyProjection()
        ).warnings
    )


METHODS = {
    "RK4": {"h": 1e-3}, "DOP853": {"rtol": 1e-8, "integrator": mbd.DOP853()}, "HHT": {"h": 1e-2, "integrator": mbd.HHT()},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-9, 1e-8, 1e-7, 1e-6])
def test_a_bar_that_is_nearly_as_long_as_the_ground_is_followed_or_told(off, method):
    """The exact motion turns aside beside the singular pose; a method that takes the pose for singular has followed another one."""
    model, t_end, wanted = window(off)
    result = mbd.simulate(model, t_end, **METHODS[method])
    error = np.abs(result.r[-1, 1:] - wanted[:, :3]).max()
    kinds = {note.kind for note in result.outcome.notes}
    assert error < 1e-2 or kinds & {"near", "energy"}
    assert off or kinds == {"singular"}
    if "near" in kinds:
        assert any("nearly singular" in text and "'foot 0'" in text for text in result.warnings)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
def test_a_run_may_start_beside_a_singular_pose_with_a_step_as_long_as_the_crossing():
    """No state of a fixed step lies within the crossing: an array without rows could not be reshaped."""
    for before in (1e-3, 3e-3, 1e-2):
        system, reference = window_system(2, np.pi / 2 - before, 2.0, 0.0, PLANE)
        result = mbd.simulate(system, 0.02, h=2e-3, integrator=mbd.RK3(), stabilization=mbd.EnergyProjection())
        assert result.success
        assert np.abs(result.r[-1, 1:] - reference(np.array([0.0, 0.02]))[-1, :, :3]).max() < 1e-6 or result.warnings


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("options", [{"h": 5e-3, "integrator": mbd.RKMK4()}, {"h": 1e-2, "integrator": mbd.Heun()}])
@pytest.mark.parametrize("formulation", [mbd.NullSpace(mbd.SVD()), mbd.CoordinatePartitioning(), mbd.EulerParameters()])
def test_a_motion_that_grows_without_bound_ends_in_an_error_of_this_package(formulation, options):
    """Rows overflow before any state does: neither LAPACK nor NumPy is who says so."""
    model, _, _ = window(-1e-4)
    for rule in (None, mbd.Baumgarte.scaled(0.1, 0.1)):
        told = ""
        try:
            told = " ".join(mbd.simulate(model, 0.35, formulation=formulation, stabilization=rule, **options).warnings)
        except mbd.SimulationError as error:
            told = str(error)
        assert "t = " in told


def test_a_state_takes_any_real_time_and_nothing_else():
    model = four_bar().compile()
    state = model.state()
    assert mbd.simulate(model, 1.01, h=1e-2, state=state.replace(t=1)).t[0] == 1.0
    for name in ("t", "r", "p", "v", "omega_bar"):
        for wrong in ("x", None, 1j, [[1, 2], [3]], 10**400, b"a", object()):
            with pytest.raises(mbd.UsageError, match=f"{name} of a state"):
                state.replace(**{name: wrong})


@pytest.mark.parametrize("ask", [mbd.evaluate, mbd.accelerations])
def test_what_is_asked_at_a_state_refuses_all_but_states_of_this_model(ask):
    model = four_bar().compile()
    for wrong in (0.0, "x", [], np.zeros(3), object(), int):
        with pytest.raises(mbd.UsageError, match=f"{ask.__name__} needs a State"):
            ask(model, wrong)
    with pytest.raises((mbd.UsageError, mbd.ModelError), match="2 bodies|shape"):
        ask(model, double_pendulum().compile().state())


def test_numbers_that_no_float_holds_are_refused():
    model = four_bar().compile()
    for options in (
        {"stabilization": mbd.Baumgarte(10**400, 1.0)},
        {"stabilization": mbd.Projection(tol=10**400)},
        {"stabilization": mbd.EnergyProjection(energy_tol=10**400)},
    ):
        with pytest.raises(mbd.UsageError):
            mbd.simulate(model, 0.1, h=1e-2, **options)
    with pytest.raises(mbd.UsageError, match="tolerance"):
        mbd.simulate(four_bar(), 0.1, h=1e-2, tolerance=10**400)


def test_a_frame_that_is_no_text_is_a_fault():
    system = four_bar()
    system.add(mbd.PointForce("push", system.bodies[-1], force=(1, 0, 0), frame=np.zeros((2, 2))))
    with pytest.raises(mbd.ModelError, match="frame is"):
        system.compile()


def test_a_modelled_pose_that_is_singular_is_refused():
    for before in (0.0, 1e-12, 1e-9):
        system, _ = window_system(2, np.pi / 2 - before, 2.0, 0.0, PLANE)
        with pytest.raises(mbd.ModelError, match="The pose is singular"):
            mbd.simulate(system, 0.02, h=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("off", [1e-3, -1e-4, 1e-6])
def test_a_tight_tolerance_is_met_beside_a_nearly_singular_pose(off):
    """Errors grow there by the reciprocal of the smallest singular value, some 1e3 at most; 1e-12 leaves less than 1e-8."""
    model, t_end, wanted = window(off)
    result = mbd.simulate(model, t_end, integrator=mbd.DOP853(), rtol=1e-12, atol=1e-14)
    assert np.abs(result.r[-1, 1:] - wanted[:, :3]).max() < 1e-8
    assert np.abs(result.v[-1, 1:] - wanted[:, 3:]).max() < 1e-7
    assert result.warnings == ()


@pytest.mark.slow
def test_what_a_penalty_is_off_by_falls_like_its_reciprocal():
    """With the same steps and Baumgarte it differs from the exact rows by what its elements give way, which no smaller step removes."""
    model, options = double_pendulum().compile(), {"h": 5e-3, "integrator": mbd.RK3(), "stabilization": mbd.Baumgarte(5.0, 5.0)}
    exact = mbd.simulate(model, 0.5, **options).r[-1]
    soft = [np.abs(mbd.simulate(model, 0.5, formulation=mbd.Penalty(alpha=a), **options).r[-1] - exact).max() for a in (1e5, 1e6)]
    assert 5.0 < soft[0] / soft[1] < 20.0
