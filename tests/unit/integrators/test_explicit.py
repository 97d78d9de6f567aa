"""Every explicit method, found by walking the subclasses: its tableau, and its order where truncation errors of higher order (too few
steps) and rounding (too many) leave it to be seen, in positions, velocities, and the multipliers of the states; rotations as a group;
the error control of embedded methods.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import haugmbd as mbd
from haugmbd.compiled.jit import entry
from haugmbd.gallery import double_pendulum, four_bar, heavy_top, slider_crank
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta
from haugmbd.integrators.explicit.lie import LieRungeKutta, dexpinv
from haugmbd.integrators.explicit.runge_kutta import Explicit, RungeKutta
from haugmbd.integrators.explicit.tableau import PART, combine
from tests.support.explicit_cases import METHODS, SEEN, found
from tests.support.models import model_of
from tests.support.plain import explicit_runs

PLAIN = 1e-12
"""What fused multiply-adds change in a few steps of states of size 1 to 100."""
ROUNDING = 1e-15
"""Relative: a sum of six products, in one order or with one rounding less each."""

ORDER_TOL = 0.15

NARROW = {("double pendulum", 8): (0.15, 0.15, 0.5), ("slider-crank", 8): (0.25, 0.25, 0.25)}
"""Where rounding meets the next term beside that of order eight: the pendulum's multipliers are rounded by 1e-12 N, their error is
5e-12 N."""

MECHANISMS = {"double pendulum": double_pendulum, "heavy top": heavy_top, "four-bar": four_bar, "slider-crank": slider_crank}

PROJECTION = mbd.Projection(tol=1e-16)
"""Down to rounding: errors of order eight are below the usual tolerance, which would leave them alone in some of the steps."""


@pytest.mark.parametrize("n", [1, PART - 1, PART, PART + 1, 2 * PART + 7])
def test_stages_are_combined_part_by_part(n):
    rng = np.random.default_rng(n)
    weights, y, k, stage = rng.uniform(0.1, 1.0, 5), rng.uniform(1.0, 2.0, n), rng.uniform(0.1, 1.0, (5, n)), np.full(n, np.nan)
    weights[3] = 0.0

    @entry
    def combined(weights, h, y, k1, k, stage):
        combine(weights, h, y, k1, k, stage)

    combined(weights, 0.1, y, k[0], k[1:], stage)
    np.testing.assert_allclose(stage, y + 0.1 * (weights @ k), rtol=ROUNDING)


def fixed(kind: type, h: float) -> Integrator:
    """A method held to a fixed step: an adaptive one by h_first = h_max and a tolerance that refuses nothing."""
    return kind(h=h) if issubclass(kind, Explicit) else kind(rtol=1e12, atol=1e12, h_first=h, h_max=h)


def test_the_methods_are_found():
    expected = {"SemiImplicitEuler", "Heun", "RK3", "RK4", "RKMK4", "CrouchGrossman3", "DormandPrince", "DOP853"}
    assert expected <= set(METHODS)
    assert all(getattr(mbd, name) is kind for name, kind in METHODS.items())


def order_conditions(tableau, q):
    """Return the errors of two conditions of order q: the bushy tree b . c^(q - 1) = 1 / q, and the tall one b A^(q - 2) c = 1 / q!."""
    c, A, b = tableau
    tall = b @ np.linalg.matrix_power(A, max(q - 2, 0)) @ (c if q > 1 else np.ones_like(c))
    return abs(b @ c ** (q - 1) - 1.0 / q), abs(tall - 1.0 / np.prod(np.arange(1.0, q + 1)))


@pytest.mark.parametrize("kind", [k for k in METHODS.values() if hasattr(k, "tableau")])
def test_tableau(kind):
    """Rows sum to c; conditions hold up to the order, and one of the next order does not (Ralston's method misses the tall one only)."""
    np.testing.assert_allclose(kind.tableau[1].sum(axis=1), kind.tableau[0], rtol=0.0, atol=2e-14)
    assert (np.triu(kind.tableau[1]) == 0.0).all()
    assert max(max(order_conditions(kind.tableau, q)) for q in range(1, kind.order + 1)) <= 1e-14
    assert max(order_conditions(kind.tableau, kind.order + 1)) > 1e-6 or issubclass(kind, LieRungeKutta)


@pytest.mark.parametrize("kind", list(found(EmbeddedRungeKutta)))
def test_errors_of_embedded_methods(kind):
    """e = b - b_hat over the stages and the next k_1, of a method of lower order: sum e_i c_i^(q - 1) = 0."""
    c = np.append(kind.tableau.c, 1.0)
    orders = [min(q for q in range(1, 10) if abs(e @ c ** (q - 1)) > 1e-8) - 1 if e.any() else 0 for e in kind.errors]
    assert orders == {"DormandPrince": [4, 0], "DOP853": [5, 3]}[kind.__name__]


@pytest.fixture(scope="module")
def exact():
    """Make `exact(mechanism, t_end)`: the run with its end to rounding."""
    made: dict[tuple[str, float], mbd.Result] = {}

    def at(name: str, t_end: float) -> mbd.Result:
        if (name, t_end) not in made:
            fine = mbd.DOP853(rtol=1e-14, atol=1e-15, h_max=t_end / 40)
            made[name, t_end] = mbd.simulate(model_of(MECHANISMS[name]), t_end, integrator=fine, stabilization=PROJECTION)
        return made[name, t_end]

    return at


@pytest.mark.slow
@pytest.mark.parametrize("stabilization", [PROJECTION, None], ids=["projection", "none"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_order(kind, mechanism, stabilization, exact):
    t_end, steps = SEEN[mechanism][kind.order]
    model, end = model_of(MECHANISMS[mechanism]), exact(mechanism, t_end)
    errors = []
    for n in steps:
        result = mbd.simulate(model, t_end, integrator=fixed(kind, t_end / n), stabilization=stabilization, store_every=n)
        assert (result.counters.steps, result.counters.rejected) == (n, 0)
        gap = (result.y[-1] - end.y[-1]).reshape(-1, 13)
        errors.append([np.linalg.norm(gap[:, :7]), np.linalg.norm(gap[:, 7:]), np.linalg.norm(result.lam[-1] - end.lam[-1])])
    seen = np.log(np.array(errors[0]) / np.array(errors[1])) / np.log(steps[1] / steps[0])
    assert (abs(seen - kind.order) < NARROW.get((mechanism, kind.order), 3 * (ORDER_TOL,))).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_a_serial_chain_moves_as_its_maximal_twin(kind):
    """Joint coordinates, a ball among them: the same method converges to the same motion, at its own order."""
    chain = mbd.random_chain(4, seed=3)
    rates = [0.3] * chain.nv
    start = mbd.ChainState(chain.q_zero(), np.array(rates))
    exact = mbd.simulate(chain, 0.2, state=start, rtol=1e-13, atol=1e-14)
    twin = mbd.simulate(chain.to_system(q=start.q, qd=start.qd), 0.2, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(chain.coordinates(twin.state(-1))[1], exact.qd[-1], rtol=0.0, atol=1e-8)
    errors = [
        np.abs(mbd.simulate(chain, 0.2, state=start, integrator=fixed(kind, 0.2 / n)).qd[-1] - exact.qd[-1]).max() for n in (8, 16)
    ]
    assert errors[1] < max(errors[0] / 2.0 ** (kind.order - 0.5), 1e-12)


@pytest.mark.parametrize("kind", list(found(LieRungeKutta)))
def test_rotations_stay_rotations(kind):
    """|p| = 1 to rounding a step, with nothing left to normalise; RK4's drift is ten thousand times that."""
    group = mbd.simulate(model_of(heavy_top), 1.0, integrator=kind(h=1e-3)).counters
    plain = mbd.simulate(model_of(heavy_top), 1.0, integrator=mbd.RK4(h=1e-3)).counters
    assert group.max_euler_drift <= 1e-15
    assert plain.max_euler_drift > 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.0999, 0.1001, 1.0, 3.0, 6.0])
def test_dexpinv(angle):
    """d/dt exp(Theta) = exp(Theta) w~ for Theta' = dexpinv(Theta) w, by the derivative of SciPy's matrix exponential."""
    rng = np.random.default_rng(5)
    axis, w = rng.standard_normal(3), rng.standard_normal(3)
    theta = angle * axis / np.linalg.norm(axis)
    rate = np.array(dexpinv(tuple(theta), tuple(w)))

    def tilde(a):
        return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])

    # the derivative of expm along rate~ is the upper right block of expm([[X, X'], [0, X]])
    both = expm(np.block([[tilde(theta), tilde(rate)], [np.zeros((3, 3)), tilde(theta)]]))
    np.testing.assert_allclose(both[:3, :3].T @ both[:3, 3:], tilde(w), rtol=0.0, atol=5e-14)


@pytest.mark.slow
def test_semi_implicit_euler_is_symplectic():
    """A mass on a spring, 300 periods: the energy error of the semi-implicit method stays where it was after one period."""
    system = mbd.System("oscillator")
    mass = system.add(mbd.Body("mass", 1.0, (1.0, 1.0, 1.0), r=(2.0, 0.0, 0.0)))
    system.add(mbd.TSDA("spring", system.ground, mass, point_i=(0, 0, 0), point_j=(2, 0, 0), k=4.0 * np.pi**2, l0=1.5))
    energy = mbd.simulate(system, 300.0, integrator=mbd.SemiImplicitEuler(h=0.01)).energy().drift
    first, last = np.abs(energy[:101]).max(), np.abs(energy[-101:]).max()
    assert last == pytest.approx(first, rel=0.02)
    assert first > 0.01 * 0.5 * 4.0 * np.pi**2 * 0.5**2


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(found(EmbeddedRungeKutta)))
@pytest.mark.parametrize("beta", [0.0, 0.04])
def test_error_follows_the_tolerance(kind, beta):
    """A hundred times the tolerance, about a hundred times the error."""
    tolerances = np.array([1e-5, 1e-7, 1e-9])
    exact = mbd.simulate(model_of(heavy_top), 0.3, integrator=mbd.DOP853(rtol=1e-13, atol=1e-13)).y[-1]
    runs = [mbd.simulate(model_of(heavy_top), 0.3, integrator=kind(rtol=tol, atol=tol, beta=beta)) for tol in tolerances]
    errors = [np.abs(run.y[-1] - exact).max() for run in runs]
    assert np.polyfit(np.log(tolerances), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.3)
    for run in runs:
        stages = kind.tableau.c.size
        # each attempt evaluates its stages but the first, and its end; the first state and the ends that the run settles come on top
        assert run.counters.evaluations == stages * (run.counters.steps + run.counters.rejected) + 1


def test_states_at_wanted_times_are_as_good_as_the_steps():
    """DOP853's steps are too long for dense output of order six; steps that end at the wanted times are not, and do not count."""
    method, wanted = mbd.DOP853(rtol=1e-11, atol=1e-11), np.linspace(0.0, 0.3, 14)
    free, asked = (mbd.simulate(model_of(heavy_top), 0.3, integrator=method, t_eval=times) for times in (None, wanted))
    assert asked.counters.evaluations == free.counters.evaluations
    exact = mbd.simulate(model_of(heavy_top), 0.3, rtol=1e-13, atol=1e-13, t_eval=wanted)
    ends = np.abs(free.y[-1] - exact.y[-1]).max()
    assert np.abs(asked.y - exact.y).max() < 3.0 * ends < 1e-7


def test_bad_numbers_are_refused():
    with pytest.raises(mbd.UsageError, match="beta = 0.5"):
        mbd.simulate(model_of(heavy_top), 0.1, integrator=mbd.DOP853(beta=0.5))
    with pytest.raises(mbd.UsageError, match="Heun needs"):
        mbd.simulate(model_of(heavy_top), 0.1, integrator=mbd.Heun())


@pytest.mark.slow
def test_every_method_runs_without_the_compiler(plain):
    """NUMBA_DISABLE_JIT=1: a few steps of each, with each stabilization that goes with it, in plain Python; their states are the same."""
    ends = explicit_runs()
    assert len(ends) > 20
    np.testing.assert_allclose(plain["explicit"], ends, rtol=0.0, atol=PLAIN)


def test_methods_share_one_compiled_stepper():
    assert all(kind.steps is RungeKutta.steps for kind in found(RungeKutta))
