"""Kernels of the crossing of singular configurations against NumPy and against evaluations of the model from Python."""

import numpy as np
import pytest
from numpy.polynomial import legendre

import haugmbd as mbd
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.gallery import windows
from haugmbd.integrators.dense_output import interpolate
from haugmbd.integrators.singularities.branch_selection import BranchSelection, root_of_samples
from haugmbd.integrators.singularities.collocation import gauss
from haugmbd.integrators.singularities.run_motion import Way, parabola, speeds_of
from haugmbd.integrators.singularities.singularity_search import FINE, SingularSearch
from haugmbd.integrators.singularities.smooth_branch import Curve, CurvePiece
from haugmbd.integrators.step_context import Steps
from haugmbd.math.euler_parameters import p_dot_from
from haugmbd.system.checks.constraint_residuals import FAR_BELOW, all_rows_hold
from haugmbd.system.checks.contradictions import dropped_faults

ROUNDING = 1e-13
"""A few operations on numbers of the order of one."""
LOCATED = 1e-6
"""[s] of a singular configuration that is enclosed by halves, FINE times."""


@pytest.fixture(scope="module")
def model() -> mbd.Model:
    return windows(2).compile()


def steps_of_run(model: mbd.Model, t_end: float, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (k,), states and rates (k, ny) of a run."""
    result = mbd.simulate(model, t_end, h=h)
    y_dot = []
    for t, y in zip(result.t, result.y, strict=True):
        state = mbd.State.from_y(float(t), y, model.nb + 1)
        found = mbd.accelerations(model, state)
        p_dot = p_dot_from(state.p, state.omega_bar)
        y_dot.append(np.hstack([state.v, p_dot, found.v_dot, found.omega_bar_dot]).ravel())
    return result.t, result.y, np.array(y_dot)


def random_piece(rng: np.random.Generator, ny: int) -> CurvePiece:
    F = rng.standard_normal((6, ny))
    return CurvePiece(0.2, 0.7, rng.standard_normal(ny), np.zeros_like(F), F, 0.5 * gauss(6)[1] @ F)


def test_a_piece_is_its_legendre_series(rng):
    piece = random_piece(rng, 39)
    t = np.linspace(0.1, 0.8, 9)
    exact = piece.y0 + legendre.legval(2.0 * (t - 0.2) / 0.5 - 1.0, piece.c).T
    np.testing.assert_allclose(piece.states(t), exact, rtol=0.0, atol=10.0 * ROUNDING)
    states = Curve((piece,), 3).states(t)
    np.testing.assert_allclose(np.linalg.norm(states.reshape(9, 3, 13)[:, 1:, 3:7], axis=2), 1.0, atol=ROUNDING)


def test_a_curve_takes_each_time_from_its_own_piece(rng):
    first = random_piece(rng, 39)
    second = random_piece(rng, 39)._replace(t0=0.7, t1=1.2)
    t = np.array([0.9, 0.3, 0.7, 0.69, 1.1])
    found = Curve((first, second), 1).states(t)
    exact = [(second if when >= 0.7 else first).states(np.array([when]))[0] for when in t]
    np.testing.assert_array_equal(found, exact)


def test_the_motion_is_dense_output_between_steps_and_a_parabola_ahead(model):
    t, y, y_dot = steps_of_run(model, 0.2, 0.02)
    way, n = Way(t, t, Steps(t, y, y_dot), model.nb + 1), model.nb + 1
    between = np.array([0.0, 0.013, 0.02, 0.11, 0.2])
    np.testing.assert_allclose(way.states(between), interpolate(between, t, y, y_dot, n), rtol=0.0, atol=ROUNDING)
    np.testing.assert_array_equal(way.states(np.array([-0.1]))[0], y[0])

    def ahead(tau):
        """q + tau q' + tau^2 q'' / 2 in NumPy."""
        body, rate = (x[-1].reshape(n, 13)[1:] for x in (y, y_dot))
        p, w = body[:, 3:7], body[:, 10:13]
        out = body + tau * rate
        out[:, :3] += 0.5 * tau**2 * rate[:, 7:10]
        out[:, 3:7] += 0.5 * tau**2 * (p_dot_from(p, rate[:, 10:]) - 0.25 * (w**2).sum(1)[:, None] * p)
        out[:, 3:7] /= np.linalg.norm(out[:, 3:7], axis=1)[:, None]
        return out

    for found in (way.states(np.array([0.23]))[0], parabola(y[-1], y_dot[-1], 0.03, n)):
        np.testing.assert_allclose(found.reshape(n, 13)[1:], ahead(0.03), rtol=0.0, atol=ROUNDING)


def test_speeds_are_those_of_the_fastest_body(model):
    _, y, _ = steps_of_run(model, 0.1, 0.02)
    bodies = y.reshape(len(y), model.nb + 1, 13)[:, 1:]
    v = bodies[..., 7:10] - bodies[..., 7:10].mean(axis=1, keepdims=True)
    exact = np.maximum(np.linalg.norm(v, axis=2) / model.length, np.linalg.norm(bodies[..., 10:], axis=2)).max(axis=1)
    np.testing.assert_allclose(speeds_of(y, model.nb + 1, model.length), exact, rtol=ROUNDING)


def test_the_least_determinant_is_that_of_its_samples(model):
    """The windows lie flat after 0.71 s; the determinant sampled there in NumPy has its minimum at the same time."""
    t, y, y_dot = steps_of_run(model, 0.65, 0.01)
    search = SingularSearch(model, NO_CALLBACK)
    way = search.way(t, y, y_dot, 1.0)
    found = search.enclosed(way, 0.6, 0.8, np.inf, FINE)
    assert found is not None
    times = found[0] + LOCATED * np.linspace(-10.0, 10.0, 21)
    g = search.values(times, way.states(times))
    assert abs(times[g.argmin()] - found[0]) <= LOCATED
    assert search.enclosed(way, 0.1, 0.3, np.inf, FINE) is None


def test_the_contradiction_is_that_of_the_dependent_rows(model, rng):
    y = model.state().y
    y[13:] += 1e-9 * rng.standard_normal(y.size - 13)
    selection = BranchSelection(model, model.pack(), model.length)

    class Still:
        """A motion at one state."""

        def states(self, t):
            return np.repeat(y[None], len(t), axis=0)

    selection.start()
    gap = selection._gap(Still(), 0.0, 0.0, 1e-6)
    state = mbd.State.from_y(0.0, y, model.nb + 1)
    rows, b = mbd.evaluate(model, state), selection.dependent_rows()[model.slot_of_row]
    scale = np.linalg.norm(rows.Phi_r, axis=(1, 2)) * model.length + np.linalg.norm(rows.PiBar, axis=(1, 2))
    assert gap == pytest.approx(abs(b @ rows.Phi) / np.linalg.norm(b) / max(1.0, scale.max()), rel=1e-9)
    y[13] += 1e-3
    assert selection._gap(Still(), 0.0, 0.0, 1e-6) is None


def test_the_root_of_a_cubic_that_is_inverted(rng):
    f = np.array([-2.0, -0.7, 0.4, 1.9])
    x = np.polyval([0.3, -0.2, 1.5, 0.25], f)
    assert root_of_samples(x.tolist(), f.tolist()) == pytest.approx(0.25, abs=ROUNDING)
    assert np.isnan(root_of_samples([0.0, 1.0], [2.0, 2.0]))


def test_rows_that_are_said_to_hold_have_no_faults(model, rng):
    """Perturbed states of growing gaps: compiled code says that all rows hold only where none is near its tolerance."""
    y0, held = model.state().y, []
    assert all_rows_hold(model, 0.0, y0)
    for size in 10.0 ** np.linspace(-12.0, -2.0, 41):
        y = y0.copy()
        y[13:] += size * rng.standard_normal(y.size - 13)
        bodies = y.reshape(-1, 13)
        bodies[:, 3:7] /= np.linalg.norm(bodies[:, 3:7], axis=1)[:, None]
        held.append(all_rows_hold(model, 0.0, y))
        assert not (held[-1] and dropped_faults(model, mbd.State.from_y(0.0, y, model.nb + 1)))
        assert not (held[-1] and size > 1e3 * FAR_BELOW * 1e-5)
    assert True in held
    assert False in held


def test_rows_that_hold_are_not_asked_for_without_a_word_of_ctrl_c():
    """It was taken for a state that compiled code cannot tell about, and the run continued to its end."""
    pressed = []

    def force(t, r, p, v, omega_bar):
        if pressed:
            raise KeyboardInterrupt
        return 0.0, 0.0, 0.0

    system = windows(1)
    system.add(mbd.PointForce("push", system.bodies[1], force=force))
    pushed = system.compile()
    assert all_rows_hold(pushed, 0.0, pushed.state().y)
    pressed.append(True)
    with pytest.raises(KeyboardInterrupt):
        all_rows_hold(pushed, 0.0, pushed.state().y)
