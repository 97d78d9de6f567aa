"""The sparse projection on a null space, against dense orthogonal factors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array, random_array

from haugmbd.analysis.equilibrium import solver, tangent_space
from haugmbd.analysis.equilibrium.residual import evaluate_residual, make_residual_evaluator
from haugmbd.analysis.equilibrium.steady_motion import read_steady
from haugmbd.analysis.regular_pose import sparse_projection
from haugmbd.gallery import chain, net, scissor_lift

ROUNDING = 1e-12  # of some hundred operations, over the distance of the weakest row


def wide(seed, rows=40, columns=70, free=8):
    """A sparse matrix of full rank, whose last columns no row has."""
    rng = np.random.default_rng(seed)
    J = np.hstack([np.eye(rows, columns - free), np.zeros((rows, free))])
    J[:, : columns - free] += random_array((rows, columns - free), density=0.1, rng=rng).toarray()
    return J, rng


@pytest.mark.parametrize("seed", range(3))
def test_projection_basis_and_multipliers_are_those_of_dense_algebra(seed):
    J, rng = wide(seed)
    force = rng.normal(size=J.shape[1])
    found = sparse_projection(csc_array(J), force)
    N = found.basis()
    assert N.shape == (70, 30)
    np.testing.assert_allclose(N.T @ N, np.eye(30), atol=ROUNDING)
    np.testing.assert_allclose(J @ N, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(found.along(force), N @ (N.T @ force), atol=ROUNDING)
    np.testing.assert_allclose(found.lam, np.linalg.lstsq(J.T, force, rcond=None)[0], atol=1e-10)
    unit = J / np.linalg.norm(J, axis=1)[:, None]
    distances = 1.0 / np.sqrt(np.diagonal(np.linalg.inv(unit @ unit.T)))
    assert distances.min() * (1 - 1e-9) <= found.weakest <= 2.0 * distances.min()


@pytest.mark.parametrize("part", [0.0, 1e-9])
def test_nearly_dependent_rows_are_left_to_orthogonal_factors(part):
    J, rng = wide(0)
    J[7] = 0.3 * J[3] - 0.7 * J[5] + part * rng.normal(size=70)
    found = sparse_projection(csc_array(J), np.ones(70))
    assert found is None or found.weakest < tangent_space.CLEAR * tangent_space.RANK_TOL


@pytest.mark.parametrize("make", [lambda: chain(40), lambda: net(6)], ids=["chain", "net"])
def test_the_sparse_tangent_space_is_the_dense_one(monkeypatch, make):
    model = make().compile()
    evaluator = make_residual_evaluator(model, read_steady(model, None), model.state())
    residual = evaluate_residual(evaluator, model.y0)
    monkeypatch.setattr(tangent_space, "SPARSE", 10**9)
    whole = tangent_space.tangent(residual)
    monkeypatch.setattr(tangent_space, "SPARSE", 0)
    sparse = tangent_space.tangent(residual)
    np.testing.assert_allclose(sparse.N @ sparse.N.T, whole.N @ whole.N.T, atol=1e-10)  # rounding over the weakest row
    np.testing.assert_allclose(sparse.along(residual.force), whole.along(residual.force), atol=1e-10)
    np.testing.assert_allclose(sparse.lam, whole.lam, rtol=0.0, atol=1e-9 * np.abs(whole.lam).max())


def test_a_step_without_hope_is_given_up(monkeypatch):
    """A turn of half a radian of every joint of a loop: it is torn apart, and thirty corrections did not close it."""
    model = scissor_lift(10).compile()
    evaluator = make_residual_evaluator(model, read_steady(model, None), model.state())
    place, corrections = solver.trial_pose_at(evaluator, model.y0), []
    monkeypatch.setattr(tangent_space, "exact_motion", lambda *given, **more: corrections.append(1) or np.ones(6 * model.nb))
    for patient, most in ((True, tangent_space.MAX_CORRECTIONS), (False, tangent_space.HOPE + 1)):
        corrections.clear()
        with pytest.raises(tangent_space.SimulationError, match="cannot be closed"):
            solver.displaced(place, 0.5 * place.at.N[:, 0], patient=patient)
        assert len(corrections) <= most
