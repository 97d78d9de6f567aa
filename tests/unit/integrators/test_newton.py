"""Newton's matrix of implicit steps: stiff forces of the user by differences, and the curvature of the constraints."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.compiled.jit import entry
from haugmbd.gallery import heavy_top, slider_crank
from haugmbd.integrators.implicit.base import implicit_pack
from haugmbd.integrators.implicit.finite_differences import difference_forces
from haugmbd.integrators.implicit.force_coupling import color_bodies
from haugmbd.integrators.stabilization.none import Unstabilized
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import place_in, workspace_array
from joints import RJ, TJ
from tests.support.sliders import PULLED, SLIDER_ENDS, C, K, slider


def law(x, v):
    return -K * (x - 1.0) - C * v


SPRINGS = {
    "TSDA": lambda i, j: mbd.TSDA("s", i, j, k=K, c=C, l0=1.0, **SLIDER_ENDS),
    "actuator": lambda i, j: mbd.TSDA("s", i, j, actuator=lambda t, length, rate: -law(length, rate), **SLIDER_ENDS),
    "PointForce": lambda i, j: mbd.PointForce("s", j, force=lambda t, r, p, v, w: (law(r[0], v[0]), 0.0, 0.0)),
    "StateForce": lambda i, j: mbd.StateForce(
        "s", [i, j], force=lambda t, r, p, v, w: np.array([[0.0] * 6, [law(r[1, 0], v[1, 0]), 0, 0, 0, 0, 0]])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SPRINGS)
@pytest.mark.parametrize(
    "method",
    [mbd.GeneralizedAlpha(1e-3, rho=0.2), mbd.GeneralizedAlphaR7(1e-3, rho=0.2), mbd.BDF(1e-3)],
    ids=lambda m: type(m).__name__,
)
def test_a_stiff_force_of_the_user_needs_no_more_iterations_than_a_spring(kind, method):
    """omega h = 63: without its tangent no iteration would converge."""
    result = mbd.simulate(slider(SPRINGS[kind]), 0.1, integrator=method)
    assert result.counters.projections < 3 * result.counters.steps
    assert result.counters.rejected == 0
    assert result["box"].r[-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_a_stiff_mutual_force_of_the_user_ties_its_bodies():
    """Two masses on a rail that push and pull each other only: their centre keeps still, and steps do not see the frequency."""
    system = mbd.System("pair", gravity=(0, 0, 0))
    boxes = [system.add(mbd.Body(n, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for n, x in (("a", 0.0), ("b", 1.0 + PULLED))]
    for box in boxes:
        system.add(TJ(f"rail {box.name}", system.ground, box, point=box.r, axis=(1, 0, 0)))

    def force(t, r, p, v, w):
        f = law(r[1, 0] - r[0, 0], v[1, 0] - v[0, 0])
        return np.array([[-f, 0, 0, 0, 0, 0], [f, 0, 0, 0, 0, 0]])

    system.add(mbd.StateForce("spring", boxes, force=force))
    result = mbd.simulate(system, 0.1, integrator=mbd.GeneralizedAlpha(1e-3, rho=0.2))
    assert result.counters.projections < 3 * result.counters.steps
    assert result["b"].r[-1, 0] - result["a"].r[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert result["a"].r[-1, 0] + result["b"].r[-1, 0] == pytest.approx(1.0 + PULLED, abs=1e-12)


def hanging(n: int = 5) -> mbd.System:
    """A chain of links of a gram that carries 100 kg: its reactions turn the links a thousand times as hard as their inertia holds them."""
    system = mbd.System("hanging", gravity=(0, 0, -9.81))
    bodies = [system.ground]
    for k in range(n):
        m = 100.0 if k == n - 1 else 1e-3
        bodies.append(system.add(mbd.Body(f"link {k}", m, (0.1 * m, 0.1 * m, 0.02 * m), r=(0.02 * (k % 2), 0, -0.5 - k))))
        system.add(RJ(f"pin {k}", bodies[-2], bodies[-1], point=(0, 0, -k), axis=(0, 1, 0)))
    system.add(mbd.Torque("push", bodies[-1], torque=lambda t: (0, 30 * np.sin(3 * t), 0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("level", [mbd.Index3(), mbd.GGL()], ids=repr)
def test_the_curvature_of_the_constraints_makes_newton_fast_where_reactions_are_large(level):
    quasi, full = (
        mbd.simulate(hanging(), 0.1, integrator=mbd.GeneralizedAlpha(1e-3, rho=0.3, constraint_form=level, newton=newton))
        for newton in (mbd.ModifiedNewton(), mbd.FullNewton())
    )
    assert full.counters.projections <= 5 * full.counters.steps
    assert full.counters.rejected == 0
    assert quasi.counters.projections > 4 * full.counters.projections
    assert abs(quasi.r[-1] - full.r[-1]).max() < 1e-7


@entry
def difference_entry(P, c_q, c_u, curved, t, y):
    """Write the tangents by differences to the pack."""
    return difference_forces(P, c_q, c_u, curved, t, y)


@pytest.mark.slow
@pytest.mark.parametrize("make", [heavy_top, slider_crank], ids=lambda make: make.__name__)
def test_the_curvature_is_the_derivative_of_the_constraint_forces(make):
    """Against central differences of Phi_q^T lam from `evaluate`, at rest, where nothing else depends on the pose; symmetric part."""
    model = make().compile()
    start = model.state()
    state = start.replace(v=np.zeros_like(start.v), omega_bar=np.zeros_like(start.omega_bar))
    rule = Unstabilized()
    problem = Problem(MaximalStateSpace(model), model.pack(), rule.rates, rule.post_step, rule.options(), 0.0, state.y)
    pack = implicit_pack(problem, "this test", mbd.FullNewton())
    assert rows_entry(pack, 0.0, state.y) == 0
    assert difference_entry(pack, 1.0, 1e-12, True, 0.0, state.y) == 0
    lam = workspace_array(pack, "LAMBDA").ravel()[model.slot_of_row]

    def force(k: int, a: int, eps: float) -> np.ndarray:
        r, p = state.r.copy(), state.p.copy()
        if a < 3:
            r[k, a] += eps
        else:
            half = np.insert(np.zeros(3), a - 3, 0.5 * eps)[:3]
            e0, e = p[k, 0], p[k, 1:].copy()
            p[k] = [e0 - e @ half, *(e + e0 * half + np.cross(e, half))]
            p[k] /= np.linalg.norm(p[k])
        return mbd.evaluate(model, state.replace(r=r, p=p)).Phi_q.T @ lam

    n = 6 * model.nb
    exact = np.array([(force(k, a, 1e-5) - force(k, a, -1e-5)) / 2e-5 for k in range(1, model.nb + 1) for a in range(6)]).T
    exact = 0.5 * (exact + exact.T)[-n:, -n:]
    found = np.zeros((n, n))
    for k in range(model.nb):
        found[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = workspace_array(pack, "TANGENT")[k + 1].reshape(6, 6)
    pairs = pack.ints[slice(*_place(pack, "COUPLED_PAIRS"))].reshape(-1, 4)
    for (i, j, *_), block in zip(pairs, workspace_array(pack, "COUPLED_TANGENTS"), strict=True):
        found[6 * i - 6 : 6 * i, 6 * j - 6 : 6 * j] = block.reshape(6, 6)
        found[6 * j - 6 : 6 * j, 6 * i - 6 : 6 * i] = block.reshape(6, 6).T
    assert found == pytest.approx(exact, abs=1e-5 * (1.0 + abs(exact).max()))
    assert abs(exact).max() > 0.1


def _place(pack, name: str) -> tuple[int, int]:
    """Where a table of integers stands."""
    start, rows, columns = place_in(pack.ints, name)
    return start, start + rows * columns


def test_an_error_in_a_differenced_force_is_the_users_own():
    def force(t, r, p, v, w):
        if r[0] != 1.0 + PULLED and t > 0.05:
            raise ValueError("out of range")
        return (-10.0 * r[0], 0.0, 0.0)

    system = slider(lambda i, j: mbd.PointForce("s", j, force=force))
    with pytest.raises(ValueError, match="out of range") as caught:
        mbd.simulate(system, 0.1, integrator=mbd.GeneralizedAlpha(1e-3))
    assert caught.value.result.t[-1] == pytest.approx(0.05, abs=2e-3)


SHAPES = {
    "chain": [(k, k + 1) for k in range(12)],
    "star": [(1, k) for k in range(2, 9)],
    "ring": [(k, k % 10 + 1) for k in range(1, 11)],
    "ground's star": [(0, k) for k in range(1, 9)],
    "triples": [(k, k + 1, k + 2) for k in range(1, 10)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_bodies_of_one_colour_have_no_neighbour_in_common(shape):
    groups = SHAPES[shape]
    n = 1 + max(max(group) for group in groups)
    found = color_bodies(n, range(1, n), groups)
    assert found[0] == 0
    assert found[1:].min() == 1
    reach = {k: {k}.union(*(set(g) - {0} for g in groups if k in g)) for k in range(1, n)}
    for a, b in combinations(range(1, n), 2):
        assert found[a] != found[b] or not reach[a] & reach[b]
    assert found.max() <= {"chain": 3, "star": 8, "ring": 4, "ground's star": 1, "triples": 5}[shape]


def random_tree(n: int, rng: np.random.Generator) -> mbd.System:
    """Bodies on revolute joints of random axes, springs and forces of the user across, everything in motion."""
    system = mbd.System("tree", gravity=(0, 0, -9.81))
    bodies = [system.ground]
    for k in range(n):
        parent = bodies[rng.integers(len(bodies))]
        bodies.append(system.add(mbd.Body(f"b{k}", 1.0 + k, (0.4, 0.5, 0.6), r=rng.normal(size=3))))
        system.add(RJ(f"pin {k}", parent, bodies[-1], point=rng.normal(size=3), axis=rng.normal(size=3)))

    def mutual(t, r, p, v, w):
        Q = np.zeros((3, 6))
        Q[:, :3] = 100.0 * (np.roll(r, 1, axis=0) - r) - v
        return Q

    system.add(mbd.StateForce("mutual", [bodies[k] for k in (1, n // 2, n)], force=mutual))
    system.add(mbd.TSDA("spring", bodies[2], bodies[n], point_i=(0, 0, 0), point_j=(1, 1, 2), k=50.0, c=3.0, l0=0.5))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("newton", [mbd.FullNewton(), mbd.ModifiedNewton()], ids=repr)
def test_bodies_displaced_together_give_what_each_gives_alone(newton, rng):
    model = random_tree(9, rng).compile()
    state = model.state()
    rule = Unstabilized()
    problem = Problem(MaximalStateSpace(model), model.pack(), rule.rates, rule.post_step, rule.options(), 0.0, state.y)
    together = implicit_pack(problem, "this test", newton)
    ints = together.ints.copy()
    start, stop = _place(together, "DIFFERENCE_COLORS")
    colors = ints[start:stop]
    bodies = np.flatnonzero(colors[1:]) + 1
    assert 1 < colors[0] < len(bodies) or not newton.curved
    colors[bodies] = np.arange(1, len(bodies) + 1)
    colors[0] = len(bodies)
    alone = together._replace(ints=ints, work=together.work.copy())
    for pack in (together, alone):
        assert rows_entry(pack, 0.0, state.y) == 0
        assert difference_entry(pack, 1.0, 0.5, newton.curved, 0.0, state.y) == 0
    for name in ("TANGENT", "COUPLED_TANGENTS"):
        assert abs(workspace_array(alone, name)).max() > 1.0
        np.testing.assert_array_equal(workspace_array(together, name), workspace_array(alone, name))
