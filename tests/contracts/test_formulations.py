"""What every formulation must keep to; they are found in `haugmbd.formulations.FORMULATIONS`.

The reference is NewtonEuler's block LDL^T, which has its own proofs against LAPACK in tests/unit/kkt.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.linalg

import haugmbd as mbd
from haugmbd import Formulation
from haugmbd.bodies.inertia import rod
from haugmbd.formulations import FORMULATIONS
from haugmbd.formulations.base import Multipliers, SolveFor
from haugmbd.formulations.dense_matrices import times_mass
from haugmbd.formulations.euler_parameters import euler_form
from haugmbd.formulations.python_formulation import kkt_system_of
from joints import CJ, RJ, SJ
from tests.support.formulation_variants import EXACT, VARIANTS
from tests.support.loops import MAKERS, REDUNDANT, moving, name_of
from tests.support.redundant_loops import planar_points
from tests.support.samples import random_state

AGREE = 1e-10  # asked for; what is reached is 1e-12 or better

LEAST_TOL = 1e-9  # the sweeps of MinimumNorm() leave 1e-11 of what they compare with

MADE = {name_of(make): make for make in MAKERS}

NAMES = list(MADE)

MASSLESS = ("four_bar", "point_masses")

CHAINS = ("pendulum", "double_pendulum", "heavy_top", "chain", "serial", "point_masses")


def takes(formulation, name):
    """What the class attributes of a formulation promise."""
    return (formulation.massless or name not in MASSLESS) and (name in CHAINS or not formulation.chains_only)


def pairs(formulations, names=NAMES):
    """Parametrize by formulations and the mechanisms that they take."""
    cases = [pytest.param(f, name, id=f"{f!r}-{name}") for f in formulations for name in names if takes(f, name)]
    return pytest.mark.parametrize(("formulation", "name"), cases)


@cache
def moved(name):
    """(model, state, NewtonEuler's accelerations) of a mechanism."""
    model = MADE[name]().compile()
    state = moving(model)
    return model, state, mbd.accelerations(model, state)


def u_dot(found):
    return np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel()


def asked(formulation, name):
    """(model, state, reference, found)."""
    model, state, reference = moved(name)
    return model, state, reference, mbd.accelerations(model, state, formulation=formulation)


REFUSED = [pytest.param(f, name, id=f"{f!r}-{name}") for f in VARIANTS for name in NAMES if not takes(f, name)]


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "name"), REFUSED)
def test_what_a_formulation_does_not_take_it_refuses_with_reasons(formulation, name):
    model, state, _ = moved(name)
    with pytest.raises(mbd.ModelError) as refused:
        mbd.accelerations(model, state, formulation=formulation)
    assert all(fault.remedy for fault in refused.value.faults)
    if not formulation.chains_only:
        assert [fault.where for fault in refused.value.faults] == [
            f"body {body!r}" for body in model.body_names[1:] if len(MADE[name]()[body].massless_axes())
        ]


def thin_four_revolutes():
    """Three slender rods on four parallel hinges: three rows depend on others, and no rod has inertia about itself."""
    points, axis = np.array(planar_points()), (0.0, 0.0, 1.0)
    system = mbd.System("thin four-bar", gravity=(0, -9.81, 0))
    ends = [*zip(points[:-1], points[1:], strict=True)]
    rods = [
        mbd.Body(f"rod {k}", *rod(float(np.linalg.norm(b - a)), density=1.0, axis=b - a), r=(a + b) / 2)
        for k, (a, b) in enumerate(ends)
    ]
    bodies = [system.ground, *map(system.add, rods), system.ground]
    for k, point in enumerate(points):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[k + 1], point=point, axis=axis))
    return system


def test_udwadias_equations_take_dependent_rows_and_a_singular_mass_matrix_between_them():
    """UdwadiaKalaba the rows; UdwadiaPhohomsiri both at once, in the r-p form, whose mass matrix is singular for any body."""
    model = thin_four_revolutes().compile()
    state = moving(model)
    f = euler_form(kkt_system_of(mbd.UdwadiaPhohomsiri(), model, state))
    assert np.linalg.matrix_rank(f.M_p) == 7 * model.nb - 2 * model.nb  # p of each body, and its own axis
    assert np.linalg.matrix_rank(f.Phi_p, tol=1e-9) == len(f.Phi_p) - 3
    reference = mbd.accelerations(model, state, redundancy=mbd.MinimumNorm())
    found = mbd.accelerations(model, state, formulation=mbd.UdwadiaPhohomsiri())
    np.testing.assert_allclose(u_dot(found), u_dot(reference), rtol=0.0, atol=AGREE * np.abs(u_dot(reference)).max())
    np.testing.assert_allclose(found.lam, reference.lam, rtol=0.0, atol=LEAST_TOL * np.abs(reference.lam).max())
    with pytest.raises(mbd.ModelError, match=r"'rod 0'.*use UdwadiaPhohomsiri\(\), the fundamental equation for a singular mass"):
        mbd.accelerations(model, state, formulation=mbd.UdwadiaKalaba())


def test_all_formulations_are_found():
    public = [getattr(mbd, name) for name in mbd.__all__]
    kinds = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, Formulation) and kind is not Formulation}
    assert kinds == set(FORMULATIONS)
    for kind in FORMULATIONS:
        assert kind.reference
        assert kind.__doc__


@pytest.mark.slow
@pairs(EXACT)
def test_accelerations_are_those_of_newton_euler(formulation, name):
    _, _, reference, found = asked(formulation, name)
    scale = np.abs(u_dot(reference)).max()
    np.testing.assert_allclose(u_dot(found), u_dot(reference), rtol=0.0, atol=AGREE * scale)
    assert not found.v_dot[0].any()
    assert not found.omega_bar_dot[0].any()


@pytest.mark.slow
@pairs(EXACT)
def test_multipliers_are_those_that_the_formulation_says(formulation, name):
    model, state, reference, found = asked(formulation, name)
    scale, tolerance = np.abs(reference.lam).max(initial=0.0), AGREE
    if name in REDUNDANT and formulation.multipliers is Multipliers.LEAST:
        reference = mbd.accelerations(model, state, redundancy=mbd.MinimumNorm())
        tolerance = LEAST_TOL
    np.testing.assert_allclose(found.lam, reference.lam, rtol=0.0, atol=tolerance * scale)


@pytest.mark.slow
@pairs(VARIANTS)
def test_constraint_forces_do_no_work_on_motions_that_the_rows_allow(formulation, name):
    """Z^T (M u_dot - Q) = 0 with Z from SciPy, and the force is -Phi_q^T lam."""
    model, state, _, found = asked(formulation, name)
    q = kkt_system_of(mbd.NullSpace(), model, state)
    force = times_mass(q, u_dot(found)) - q.b_u
    Z = scipy.linalg.null_space(q.Phi_q, rcond=1e-8) if model.nc else np.eye(6 * model.nb)
    exact = formulation.multipliers is not Multipliers.APPROXIMATE
    scale = np.abs(force).max() + np.abs(q.b_u).max()
    assert np.abs(Z.T @ force).max(initial=0.0) <= (1e-9 if exact else 1e-7) * scale
    Phi_q = mbd.evaluate(model, state).Phi_q
    np.testing.assert_allclose(force, -Phi_q.T @ found.lam, rtol=0.0, atol=(1e-9 if exact else 1e-6) * scale)


@pytest.mark.slow
@pytest.mark.parametrize("asks", list(SolveFor), ids=lambda asks: asks.name)
@pairs(EXACT, ("stout_four_bar", "four_revolutes", "serial", "all_joints"))
def test_any_right_hand_side_is_answered(formulation, name, asks, rng):
    """K x = b for b_u and a b_c that the rows can take; a displacement of CoordinatePartitioning fulfils the rows, no more."""
    model, state, _ = moved(name)
    q = kkt_system_of(formulation, model, state)
    only_rows = isinstance(formulation, mbd.CoordinatePartitioning) and asks is not SolveFor.ACCELERATIONS
    b_u = np.zeros(6 * model.nb) if only_rows else rng.normal(size=6 * model.nb)
    q = replace(q, solve_for=asks, b_u=b_u, b_c=q.Phi_q @ rng.normal(size=6 * model.nb))
    answer = formulation.solve(q)
    scale = np.abs(answer.u).max()
    np.testing.assert_allclose(q.Phi_q @ answer.u, q.b_c, rtol=0.0, atol=AGREE * scale * np.abs(q.Phi_q).max())
    left = b_u - times_mass(q, answer.u) - q.Phi_q.T @ answer.lam
    if not only_rows:
        assert np.abs(left).max() <= AGREE * (scale + np.abs(b_u).max() + np.abs(answer.lam).max())
    else:
        assert np.count_nonzero(answer.u) <= len(q.b_c)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", [f for f in EXACT if not f.chains_only], ids=repr)
@pytest.mark.parametrize("name", ["all_joints", "stout_four_bar", "chain"])
def test_off_the_constraints_the_same_equations_are_solved(formulation, name, rng):
    """Poses and velocities that fulfil nothing, at another time."""
    model = moved(name)[0]
    state = random_state(model, rng, t=0.3)
    reference = mbd.accelerations(model, state)
    found = mbd.accelerations(model, state, formulation=formulation)
    np.testing.assert_allclose(u_dot(found), u_dot(reference), rtol=0.0, atol=1e-9 * np.abs(u_dot(reference)).max())
    np.testing.assert_allclose(found.lam, reference.lam, rtol=0.0, atol=1e-9 * np.abs(reference.lam).max())


def test_newton_euler_answers_the_same_questions(rng):
    model, state, reference = moved("all_joints")
    q = kkt_system_of(mbd.NewtonEuler(), model, state)
    answer = mbd.NewtonEuler().solve(q)
    np.testing.assert_allclose(answer.u, u_dot(reference), rtol=1e-12, atol=1e-12)
    other = replace(q, b_u=rng.normal(size=len(q.b_u)), b_c=rng.normal(size=len(q.b_c)))
    a, b = mbd.NewtonEuler().solve(other), mbd.EulerParameters().solve(replace(other, solve_for=SolveFor.VELOCITIES))
    np.testing.assert_allclose(a.u, b.u, rtol=0.0, atol=AGREE * np.abs(a.u).max())
    np.testing.assert_allclose(a.lam, b.lam, rtol=0.0, atol=AGREE * np.abs(a.lam).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "stout_four_bar", "serial", "four_revolutes"])
def test_the_error_of_penalty_falls_like_one_over_alpha(name):
    model, state, reference = moved(name)
    errors, forces = [], []
    for alpha in (1e4, 1e5, 1e6):
        found = mbd.accelerations(model, state, formulation=mbd.Penalty(alpha=alpha))
        errors.append(np.abs(u_dot(found) - u_dot(reference)).max())
        forces.append(np.abs(times_mass(kkt_system_of(mbd.Penalty(), model, state), u_dot(found) - u_dot(reference))).max())
    for values in (errors, forces):
        np.testing.assert_allclose(np.divide(values[:-1], values[1:]), 10.0, rtol=0.05)


def test_lam_p_fulfils_the_rows_of_the_r_p_form():
    """M_p p_ddot + Phi_p^T lam + p lam_p = b_p, projected on p: lam_p = p . (2 G^T n_bar + 8 Gdot^T J Gdot p) = 2 omega_bar . J omega_bar.

    By hand: p^T G^T = 0, and Gdot p = -G p_dot = -omega_bar / 2, Gdot^T of it against p the same once more.
    """
    for name in ("double_pendulum", "all_joints", "point_masses"):
        model, state, _ = moved(name)
        spin = 2.0 * np.einsum("ka,kab,kb->k", state.omega_bar, model.J_bar, state.omega_bar)
        for formulation in (mbd.EulerParameters(), mbd.UdwadiaPhohomsiri()):
            found = mbd.accelerations(model, state, formulation=formulation)
            np.testing.assert_allclose(found.lam_p, spin, rtol=0.0, atol=1e-9 * spin.max())
        assert mbd.accelerations(model, state).lam_p.shape == (0,)


def test_minimum_norm_is_given_where_it_is_asked_for():
    model, state, _ = moved("four_revolutes")
    least = mbd.accelerations(model, state, redundancy=mbd.MinimumNorm()).lam
    for formulation in EXACT:
        if not formulation.chains_only:
            found = mbd.accelerations(model, state, formulation=formulation, redundancy=mbd.MinimumNorm())
            np.testing.assert_allclose(found.lam, least, rtol=0.0, atol=LEAST_TOL * np.abs(least).max())


def flat_parallelogram():
    """(model, its state with all bars in line): rank 16 of 17 rows."""
    axis, J_bar, a = (0, 0, 1), (0.1, 0.2, 0.25), np.array([np.cos(1.0), np.sin(1.0), 0.0])
    points = [np.zeros(3), a, a + (2, 0, 0), np.array((2.0, 0.0, 0.0))]
    system = mbd.System("parallelogram", gravity=(0, -9.81, 0))
    bars = [system.add(mbd.Body(f"bar {k}", 1.0, J_bar, r=(points[k] + points[k + 1]) / 2)) for k in range(3)]
    system.add(RJ("A", system.ground, bars[0], point=points[0], axis=axis))
    system.add(RJ("B", bars[0], bars[1], point=points[1], axis=axis))
    system.add(SJ("C", bars[1], bars[2], point=points[2]))
    system.add(CJ("D", bars[2], system.ground, point=points[3], axis=axis))
    model = system.compile()
    p = model.state().p.copy()
    p[[1, 3]] = np.cos(0.5), 0.0, 0.0, -np.sin(0.5)
    return model, model.state().replace(r=[(0, 0, 0), (0.5, 0, 0), (2.0, 0, 0), (2.5, 0, 0)], p=p)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", [f for f in VARIANTS if not f.chains_only], ids=repr)
def test_a_singular_position_is_said_to_be_one_or_passed(formulation):
    """Penalties have an answer there, the limit of those nearby: the bars fall together."""
    model, state = flat_parallelogram()
    assert np.abs(mbd.evaluate(model, state).Phi).max() < 1e-14
    if isinstance(formulation, mbd.Penalty | mbd.AugmentedLagrangian):
        found = mbd.accelerations(model, state, formulation=formulation)
        np.testing.assert_allclose(found.v_dot[1:, 1], (-9.81 / 2.0, -9.81, -9.81 / 2.0), atol=1e-5)
        return
    with pytest.raises(mbd.SingularKKTError, match="at t = 0 s"):
        mbd.accelerations(model, state, formulation=formulation)


def test_iterations_are_told_and_a_smaller_penalty_needs_more():
    model, state, reference = moved("stout_four_bar")
    soft, hard = (mbd.accelerations(model, state, formulation=mbd.AugmentedLagrangian(alpha=alpha)) for alpha in (1e2, 1e6))
    assert 2 <= hard.iterations < soft.iterations <= 20
    np.testing.assert_allclose(u_dot(soft), u_dot(reference), rtol=0.0, atol=AGREE * np.abs(u_dot(reference)).max())
    with pytest.raises(mbd.SimulationError, match="3 iterations with alpha = 0.01 leave a change of .*raise alpha"):
        mbd.accelerations(model, state, formulation=mbd.AugmentedLagrangian(alpha=1e-2, most_iterations=3))
