"""Eight members side by side: the bits of single members, whatever they decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.batches import accelerations as one_by_one
from haugmbd.batches import runs_side_by_side, side_by_side
from haugmbd.compiled.numba_names import COMPILES, OFF
from haugmbd.compiled.wide import NumbaError
from haugmbd.gallery import andrews, bennett, chain, four_bar, net, planetary_gear, rolling_disc, slider_crank
from haugmbd.math.euler_parameters import rotation_matrix
from tests.support.variants import states_of, swinging

pytestmark = pytest.mark.skipif(not COMPILES or OFF, reason="groups are compiled")

N = 21
"""Two groups of eight, and five members that fill none."""
MECHANISMS = (
    lambda: chain(5),
    four_bar,
    slider_crank,
    andrews,
    bennett,
    planetary_gear,
    rolling_disc,
    lambda: net(3),
    swinging,
)
NAMES = ("chain", "four_bar", "slider_crank", "andrews", "bennett", "planetary_gear", "rolling_disc", "net", "swinging")


def found(model, states, parameters=None, threads=1):
    return mbd.batch(model, states, parameters, threads=threads).accelerations()


def equal(a, b):
    return all(np.array_equal(getattr(a, x), getattr(b, x), equal_nan=True) for x in ("v_dot", "omega_bar_dot", "lam", "success"))


@pytest.fixture
def groups(monkeypatch):
    """Return a function that computes with groups from one member on, and alone, and how many members were left to the latter."""

    def both(model, states, parameters=None, threads=1):
        alone, left, asked = found(model, states, parameters), [], []
        monkeypatch.setattr(side_by_side, "LEAST", 1)
        solve = side_by_side.Groups.solve

        def watched(self, t, y, members, out):
            pays = solve(self, t, y, members, out)
            left.append(np.count_nonzero(out.codes == side_by_side.APART))
            asked.append(len(t))
            return pays

        monkeypatch.setattr(one_by_one.Groups, "solve", watched)
        together = found(model, states, parameters, threads)
        return alone, together, sum(left) if sum(asked) else len(states)  # all are left where the kernel could not be compiled

    return both


@pytest.mark.slow
@pytest.mark.parametrize("build", MECHANISMS, ids=NAMES)
def test_groups_have_the_bits_of_single_members(build, groups):
    model = build().compile()
    y = mbd.simulate(model, 0.02, h=2e-4).y
    alone, together, left = groups(model, np.ascontiguousarray(y[np.linspace(0, len(y) - 1, N).astype(int)]))
    assert alone.success.all()
    assert equal(alone, together)
    assert left < N


def test_groups_take_masses_and_springs_of_their_members(groups, rng):
    model = swinging().compile()
    given = {"link 2.mass": rng.uniform(0.5, 2.0, N), "spring.k": rng.uniform(0.0, 50.0, N), "gravity": rng.normal(size=(N, 3))}
    alone, together, left = groups(model, states_of(model, N), given, threads=2)
    assert equal(alone, together)
    assert left == N % side_by_side.MEMBERS


def test_a_member_that_fails_leaves_the_others_as_they_were(groups):
    model = swinging().compile()
    states = states_of(model, N)
    states[3, 20] = np.nan
    alone, together, _ = groups(model, states)
    assert list(together.failures) == [3]
    assert equal(alone, together)
    assert alone.failures == together.failures


def test_members_that_decide_differently_are_computed_alone(groups):
    """Half of the balls touch the floor."""
    system = mbd.System("balls", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", mass=1.0, J_bar=(0.1, 0.1, 0.1), r=(0.0, 0.0, 0.1)))
    shapes = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane()}
    system.add(mbd.ContactForce("floor", ball, system.ground, **shapes, K=1e5, restitution=0.5))
    model = system.compile()
    states = np.tile(model.y0, (N, 1))
    states[:, 15] = np.linspace(0.09, 0.11, N)
    alone, together, left = groups(model, states)
    assert equal(alone, together)
    assert left >= side_by_side.MEMBERS
    assert alone.v_dot[0, 1, 2] > 0.0 > alone.v_dot[-1, 1, 2]


def test_times_of_members_may_differ(groups):
    model = swinging().compile()
    states = states_of(model, N)
    alone = mbd.batch(model, states, t=np.linspace(0.0, 1.0, N)).accelerations()
    groups(model, states)
    assert equal(alone, mbd.batch(model, states, t=np.linspace(0.0, 1.0, N)).accelerations())


def test_a_kernel_that_takes_doubles_alone_is_called_for_each_member(groups, monkeypatch):
    model = swinging().compile()

    def refused(*_):
        raise NumbaError("no rule for these numbers")

    monkeypatch.setattr(side_by_side, "accelerate_groups", refused)
    alone, together, left = groups(model, states_of(model, N))
    assert equal(alone, together)
    assert left == N


@pytest.fixture
def run_groups(monkeypatch):
    """Return a function that runs a batch in groups, and alone, and how many members were made in groups."""

    def both(model, states, parameters=None, threads=1, **how):
        batch = mbd.batch(model, states, parameters, threads=threads)
        monkeypatch.setattr(runs_side_by_side, "LEAST_STEPS", 10**9)
        alone = batch.simulate(**how)
        monkeypatch.setattr(runs_side_by_side, "LEAST_STEPS", 1)
        made, steps_of = [], runs_side_by_side.RunGroups.steps_of

        def watched(self, k):
            found = steps_of(self, k)
            made.append(found is not None)
            return found

        monkeypatch.setattr(runs_side_by_side.RunGroups, "steps_of", watched)
        return alone, batch.simulate(**how), sum(made)

    return both


def equal_runs(a, b):
    """Whether two batches have the same runs: states, counters, warnings, and failures."""
    assert a.failures == b.failures
    assert a.warnings == b.warnings
    for k in range(len(a)):
        if a._kept[k] is None:
            continue
        one, other = a[k], b[k]
        assert np.array_equal(one.t, other.t)
        assert np.array_equal(one.y, other.y)
        assert one.status == other.status
        assert replace(one.counters, cpu=0.0) == replace(other.counters, cpu=0.0)
        assert np.array_equal(one.lam, other.lam)
    return True


@pytest.mark.parametrize("method", [mbd.RK4(1e-3), mbd.Heun(1e-3)], ids=repr)
@pytest.mark.parametrize("threads", [1, 2])
def test_runs_in_groups_have_the_bits_of_single_runs(run_groups, method, threads):
    model = chain(3).compile()
    y = mbd.simulate(model, 0.5, h=1e-3).y
    alone, together, made = run_groups(model, y[:: len(y) // N][:N], threads=threads, t_end=0.02, integrator=method)
    assert equal_runs(alone, together)
    assert made == N // side_by_side.MEMBERS * side_by_side.MEMBERS


def test_runs_in_groups_take_gravity_of_their_members(run_groups, rng):
    gravity = rng.normal(size=(N, 3))
    alone, together, made = run_groups(chain(3).compile(), None, {"gravity": gravity}, t_end=0.05, h=1e-3)
    assert equal_runs(alone, together)
    assert made == N // side_by_side.MEMBERS * side_by_side.MEMBERS


def test_a_start_that_is_open_belongs_to_its_member(run_groups):
    model = chain(3).compile()
    states = np.tile(model.y0, (N, 1))
    states[2, 14] += 0.1
    alone, together, made = run_groups(model, states, t_end=0.01, h=1e-3)
    assert list(together.failures) == [2]
    assert equal_runs(alone, together)
    assert made == side_by_side.MEMBERS


def whirling(model, rate):
    """The flat state in which a chain turns as one body, at a rate [rad/s]."""
    state = model.state()
    omega_bar, v = np.zeros_like(state.omega_bar), np.zeros_like(state.v)
    axis = np.array([0.0, 1.0, 0.0])
    for k in range(1, model.nb + 1):
        A = rotation_matrix(state.p[k])
        omega_bar[k], v[k] = A.T @ (rate * axis), np.cross(rate * axis, state.r[k])
    return state.replace(omega_bar=omega_bar, v=v).y


def test_a_run_that_fails_leaves_the_others_of_its_group_as_they_were(run_groups):
    """A member that spins so fast that its projection fails."""
    model = chain(3).compile()
    states = np.tile(model.y0, (N, 1))
    states[3] = whirling(model, 4e3)
    alone, together, _ = run_groups(model, states, t_end=0.05, h=1e-2)
    assert equal_runs(alone, together)


def test_large_turns_are_told_of_runs_in_groups(run_groups):
    model = chain(1).compile()
    states = np.tile(model.y0, (8, 1))
    states[5] = whirling(model, 200.0)
    alone, together, _ = run_groups(model, states, t_end=0.05, h=1e-2)
    assert equal_runs(alone, together)
    assert list(together.warnings) == [5]
