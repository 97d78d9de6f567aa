"""Batches: accelerations and multipliers of many members, bit by bit as single calls, and failures as flags."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.batches.direct_tables import direct_tables
from haugmbd.gallery import bennett, windows
from joints import RJ, SJ, Distance
from tests.support.variants import driven, states_of, swinging

N = 6
ROUNDING = 1e-9
"""Two algorithms on a chain whose matrices have a condition of 1e4: 1e-12 is seen."""


@pytest.fixture(scope="module")
def model():
    return swinging().compile()


def values(name, rng):
    """Values of a parameter, by the name that the builder takes."""
    return {
        "mass": rng.uniform(0.5, 2.0, N),
        "J_bar": rng.uniform(0.06, 0.09, (N, 3)),
        "gravity": rng.normal(size=(N, 3)),
        "k": rng.uniform(0.0, 5.0, N),
        "stiffness": rng.uniform(0.0, 50.0, N),
        "point": np.array([1.0, 0.0, 0.0]) + 0.1 * rng.normal(size=(N, 3)),
        "axis": rng.normal(size=(N, 3)),
    }[name]


PATHS = {
    "mass": "link 2.mass",
    "J_bar": "link 3.J_bar",
    "gravity": "gravity",
    "k": "coil.k",
    "stiffness": "spring.k",
    "point": "second.point",
    "axis": "second.axis",
}
NUMBERS = ("mass", "J_bar", "gravity", "k", "stiffness")
"""What is exchanged in the tables; the others are compiled."""


def same(found, k, single):
    """Whether member k has the bits of a single call."""
    pairs = ((found.v_dot[k], single.v_dot), (found.omega_bar_dot[k], single.omega_bar_dot), (found.lam[k], single.lam))
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("threads", [1, 2])
def test_states_give_the_bits_of_single_calls(model, threads):
    states = states_of(model, N)
    found = mbd.batch(model, states, threads=threads).accelerations()
    assert found.success.all()
    for k, y in enumerate(states):
        assert same(found, k, mbd.accelerations(model, mbd.State.from_y(0.0, y, model.nb + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("names", [("mass",), ("J_bar",), ("gravity",), ("k", "stiffness"), NUMBERS, ("point",), ("axis", "mass")])
def test_parameters_give_the_bits_of_systems_built_with_them(model, rng, names):
    given = {name: values(name, rng) for name in names}
    states = None if "axis" in names or "point" in names else states_of(model, N)
    batch = mbd.batch(model, states, {PATHS[name]: x for name, x in given.items()})
    found = batch.accelerations()
    tables = direct_tables(model, batch._parameters)
    assert (tables is not None) == (set(names) <= set(NUMBERS))
    for k in range(N):
        own = swinging(**{name: x[k] for name, x in given.items()}).compile()
        state = own.state() if states is None else mbd.State.from_y(0.0, states[k], model.nb + 1)
        assert same(found, k, mbd.accelerations(own, state)), k
        if tables is not None:
            reals = model.tables.reals.copy()
            reals[tables.places] = tables.values(k, k + 1)[0]
            np.testing.assert_array_equal(reals, own.tables.reals)


def test_another_formulation_finds_the_same_accelerations(model, rng):
    given = {name: values(name, rng) for name in NUMBERS}
    states = states_of(model, N)
    found = mbd.batch(model, states, {PATHS[name]: x for name, x in given.items()}).accelerations()
    for k in (0, N - 1):
        own = swinging(**{name: x[k] for name, x in given.items()}).compile()
        other = mbd.accelerations(own, mbd.State.from_y(0.0, states[k], model.nb + 1), formulation=mbd.UdwadiaKalaba())
        scale = np.abs(other.v_dot).max()
        np.testing.assert_allclose(found.v_dot[k], other.v_dot, atol=ROUNDING * scale, rtol=0.0)
        np.testing.assert_allclose(found.lam[k], other.lam, atol=ROUNDING * np.abs(other.lam).max(), rtol=0.0)


def test_matrices_of_inertia_and_a_full_J_bar_are_taken(model, rng):
    J = np.array([np.diag(x) for x in rng.uniform(0.06, 0.09, (N, 3))])
    J[:, 0, 1] = J[:, 1, 0] = 1e-3
    found = mbd.batch(model, parameters={"link 3.J_bar": J}).accelerations()
    for k in range(N):
        assert same(found, k, mbd.accelerations(swinging(J_bar=J[k]).compile()))


def test_members_with_dependent_rows_do_not_depend_on_each_other():
    model = bennett().compile()
    assert model.redundancy.dropped
    states = np.concatenate([mbd.simulate(model, 1.0, h=1e-2).y[::17], mbd.simulate(bennett(2.0), 0.5, h=1e-2).y[::17]])
    found, turned = (mbd.batch(model, y).accelerations() for y in (states, states[::-1]))
    np.testing.assert_array_equal(found.lam, turned.lam[::-1])
    for k, y in enumerate(states):
        assert same(found, k, mbd.accelerations(model, mbd.State.from_y(0.0, y, model.nb + 1)))


def test_members_with_friction_do_not_depend_on_each_other():
    system = swinging()
    system.add(mbd.JointFriction("friction", system["first"], mbd.Coulomb(0.2), radius=0.05))
    model = system.compile()
    states = mbd.simulate(model, 0.3, h=1e-2).y[::6]
    found, turned = (mbd.batch(model, y, {"link 2.mass": np.ones(len(y))}).accelerations() for y in (states, states[::-1]))
    np.testing.assert_array_equal(found.lam, turned.lam[::-1])
    for k, y in enumerate(states):
        assert same(found, k, mbd.accelerations(model, mbd.State.from_y(0.0, y, model.nb + 1)))


def test_multipliers_of_least_norm_are_those_of_single_calls():
    model = windows(1).compile(redundancy=mbd.MinimumNorm())
    states = mbd.simulate(model, 0.5, h=1e-2).y[::17]
    found = mbd.batch(model, states).accelerations()
    for k, y in enumerate(states):
        assert same(found, k, mbd.accelerations(model, mbd.State.from_y(0.0, y, model.nb + 1)))


@pytest.mark.slow
def test_named_parameters_of_expressions_vary(rng):
    model = driven().compile()
    length, speed, t = rng.uniform(0.5, 2.0, N), rng.uniform(1.0, 3.0, N), np.linspace(0.0, 0.5, N)
    found = mbd.batch(model, parameters={"length": length, "speed": speed, "spring.k": speed}, t=t)
    a = found.accelerations()
    for k in range(N):
        system = driven(length[k], speed[k])
        system["spring"].k = speed[k]
        own = system.compile()
        assert same(a, k, mbd.accelerations(own, own.state().replace(t=t[k])))
    assert len({*a.lam[:, -1].tolist()}) > 1


def test_a_force_in_python_is_called_for_each_member_and_its_exception_is_a_flag():
    def pull(t, r, p, v, omega_bar):
        if r[0] < 0.0:
            raise ZeroDivisionError("left of the wall")
        return (0.0, 0.0, 1.0 + r[0])

    system = mbd.System("pulled")
    body = system.add(mbd.Body("body", 2.0, (1.0, 1.0, 1.0)))
    system.add(mbd.PointForce("pull", body, force=pull))
    model = system.compile()
    states = np.tile(model.y0, (4, 1))
    states[:, 13] = (0.5, 1.0, -1.0, 3.0)
    found = mbd.batch(model, states, {"body.mass": [1.0, 2.0, 3.0, 4.0]}).accelerations()
    np.testing.assert_array_equal(found.v_dot[[0, 1, 3], 1, 2], [1.5, 1.0, 1.0])
    assert found.success.tolist() == [True, True, False, True]
    assert list(found.failures) == [2]
    assert found.failures[2].startswith(
        "ZeroDivisionError: left of the wall (raised by force(t, r, p, v, omega_bar) of PointForce 'pull'"
    )


def test_bad_states_and_values_are_flags_with_their_reasons(model):
    states = np.tile(model.y0, (6, 1))
    states[0, 14] = np.nan
    states[1, 16:20] *= 1.01
    states[2, 0] = 1.0
    mass = np.array([1.0, 1.0, 1.0, -1.0, 1.0, 2.0])
    J = np.tile([0.06, 0.07, 0.08], (6, 1))
    J[4] = (1.0, 0.1, 0.1)
    found = mbd.batch(model, states, {"link 2.mass": mass, "link 3.J_bar": J}).accelerations()
    assert found.success.tolist() == [False] * 5 + [True]
    assert np.isnan(found.v_dot[:5]).all()
    assert np.isnan(found.lam[:5]).all()
    for k, words in enumerate(
        ("not finite", r"|p| of body 'link 1' is 1.01", "row 0 is the ground", "mass is -1.0 kg", "triangle")
    ):
        assert words in found.failures[k], k
    assert same(found, 5, mbd.accelerations(swinging(mass=2.0, J_bar=J[5]).compile()))


def test_a_member_without_inertia_about_a_free_axis_is_a_flag(model):
    J = np.array([[0.06, 0.07, 0.08], [0.0, 0.08, 0.08], [0.06, 0.07, 0.08]])
    found = mbd.batch(model, parameters={"link 3.J_bar": J, "link 2.mass": [1.0, 1.0, 0.0]}).accelerations()
    assert found.success.tolist() == [True, False, False]
    assert "no inertia about an axis that no joint holds" in found.failures[1]
    assert same(found, 0, mbd.accelerations(swinging(J_bar=J[0]).compile()))


def test_a_singular_member_is_a_flag_and_leaves_the_next_one_as_it_is():
    """A bob on two rods that are in line."""
    system = mbd.System("two rods", gravity=(0.0, 0.0, -9.81))
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, -1.0)))
    for name, x in (("left", -1.0), ("right", 1.0)):
        system.add(Distance(name, system.ground, bob, point_i=(x, 0.0, 0.0), point_j=(0.0, 0.0, -1.0)))
    model = system.compile()
    states = np.tile(model.y0, (3, 1))
    states[1, 15] = 0.0
    found = mbd.batch(model, states, threads=1).accelerations()
    assert found.success.tolist() == [True, False, True]
    with pytest.raises(mbd.SimulationError) as raised:
        mbd.accelerations(model, mbd.State.from_y(0.0, states[1], 2))
    assert found.failures == {1: f"{type(raised.value).__name__}: {raised.value}"}
    assert all(same(found, k, mbd.accelerations(model)) for k in (0, 2))


@pytest.mark.slow
@pytest.mark.parametrize("modelled", [1.0, 1e-9], ids=["heavy model", "light model"])
def test_light_members_are_refined_and_heavy_ones_are_not(modelled):
    """A coupler much lighter than its neighbours: solutions of single systems are refined, see `LIGHT`."""

    def loop(scale):
        system = mbd.System("four-bar", gravity=(0.0, 0.3, -9.81))
        points, last = ((0, 0, 0), (0, 0, 1), (2, 0, 1.5), (2.5, 0, 0)), system.ground
        for k in range(3):
            centre, part = 0.5 * (np.array(points[k]) + points[k + 1]), scale if k == 1 else 1.0
            bar = system.add(mbd.Body(f"bar {k}", part, part * np.array([0.2, 0.2, 0.1]), r=centre))
            system.add(RJ(f"pin {k}", last, bar, point=points[k], axis=(0, 1, 0)))
            last = bar
        system.add(SJ("pin 3", last, system.ground, point=points[3]))
        return system

    scales = np.array([1.0, 1e-9, 1e-6, 1e-8])
    varied = {"bar 1.mass": scales, "bar 1.J_bar": scales[:, None] * np.array([0.2, 0.2, 0.1])}
    batch = mbd.batch(loop(modelled).compile(), parameters=varied)
    found, ends = batch.accelerations(), batch.simulate(0.02, h=1e-2)
    assert found.success.all()
    for k, scale in enumerate(scales):
        single = loop(scale).compile()
        assert same(found, k, mbd.accelerations(single))
        np.testing.assert_array_equal(ends.y_end[k], mbd.simulate(single, 0.02, h=1e-2).y[-1])


def test_the_topology_of_a_member_must_be_that_of_the_model():
    """An axis that is off by 0.1 rad locks the loop: fewer rows depend on the others."""
    model = windows(1).compile()
    axes = np.array([[0.0, 1.0, 0.0], [0.1, 1.0, 0.0]])
    assert np.abs(model.joints["left 0"].A_bar_i[:, 2]).argmax() == 1
    found = mbd.batch(model, parameters={"left 0.axis": axes}).accelerations()
    assert found.success.tolist() == [True, False]
    assert "the topology of the member is another: " in found.failures[1]
