"""model.explain() and rows.explain(k): what the equations say, in words, in symbols, and in numbers that can be recomputed."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.constraints import KINDS
from haugmbd.gallery import four_bar
from haugmbd.math import euler_parameters
from joints import RJ, RotationDriver
from tests.support.samples import driven, make_primitive, model_of, primitive_values, random_body, random_state

SEED = 20261121
DIFFERENCE_TOL = 1e-8  # central differences with h = 1e-5: h^2 and rounding / h
LONGEST = 120


@pytest.fixture
def driven_pendulum():
    system = mbd.System("driven", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (1, 1, 1), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RotationDriver("motor", pin, lambda t: 0.3 * np.sin(2.0 * t)))
    return system.compile()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_kind_says_its_sentence_its_symbols_and_what_they_stand_for(kind):
    rng = np.random.default_rng(SEED)
    values = primitive_values(rng)
    primitive = make_primitive(kind, random_body("crank", rng), random_body("rod", rng), driven, values)
    assert kind.symbols.startswith("Phi = ")
    assert "f(t)" in kind.symbols
    given = primitive.given()
    assert len(given) >= 2
    for name, x in given.items():
        assert np.array_equal(x, values[name])
        assert name in kind.symbols, f"{kind.kind}: the symbols do not say what {name} is"
    model = model_of(primitive)
    text = str(model.explain(0, state=random_state(model, rng, t=0.4)))
    for part in (kind.kind, kind.symbols, primitive.words(), "i = 'crank', j = 'rod'", *given):
        assert " ".join(part.split()) in " ".join(text.split()), part


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_phi_dot_is_the_rate_of_phi_along_the_motion(kind):
    """Against differences of Phi along r + v dt, p exp(omega_bar dt), t + dt."""
    rng = np.random.default_rng(SEED)
    model = model_of(make_primitive(kind, random_body("i", rng), random_body("j", rng), driven, primitive_values(rng)))
    state, h = random_state(model, rng, t=0.4), 1e-5

    def at(dt):
        p = euler_parameters.product(state.p, euler_parameters.exponential(dt * state.omega_bar))
        return model.explain(0, state=state.replace(t=state.t + dt, r=state.r + dt * state.v, p=p))

    row = at(0.0)
    assert abs(row.Phi_dot - (at(h).Phi - at(-h).Phi) / (2.0 * h)) < DIFFERENCE_TOL * max(1.0, abs(row.Phi_dot))
    np.testing.assert_allclose(row.f, [driven(0.4), (driven(0.4 + h) - driven(0.4 - h)) / (2 * h), row.f[2]], atol=DIFFERENCE_TOL)
    rows = mbd.evaluate(model, state)
    assert (row.Phi, row.gamma) == (rows.Phi[0], rows.gamma[0])
    assert str(rows.explain(0)) == str(row)


def test_the_table_has_a_line_for_each_row_and_fits():
    model = four_bar().compile()
    explained = model.explain()
    text = str(explained)
    assert len(explained) == model.nc
    assert repr(explained) == text
    lines = text.splitlines()
    assert lines[0] == "'four-bar': 17 equations at t = 0 s"
    head = lines[2]
    for k in range(model.nc):
        cells = lines[4 + k].split()
        assert cells[:5] == [str(k), model.labels[k].joint, model.labels[k].kind, explained[k].body_i, explained[k].body_j]
        assert lines[4 + k].index(explained[k].body_i) == head.index("body i")
    for kind in ("CD", "DP1", "DP2"):
        assert sum(line.split()[:1] == [kind] for line in lines) == 1
    assert max(map(len, lines)) <= LONGEST


def test_long_names_are_cut_and_numbers_are_not():
    system = mbd.System("long", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("a body with a very long name that goes on and on", 1.0, (1, 1, 1), r=(1, 0, 0), v=(1 / 3, 0, 0)))
    system.add(RJ("a joint with a very long name that goes on and on", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    text = str(system.compile().explain())
    assert max(map(len, text.splitlines())) <= LONGEST
    assert "0.33333" in text
    assert ".." in text
    for paragraph in str(system.compile().explain(0)).splitlines():
        assert len(paragraph) <= LONGEST


def test_a_joint_is_a_paragraph_for_each_row(driven_pendulum):
    pin, motor = driven_pendulum.explain("pin"), driven_pendulum.explain("motor")
    assert len(pin) == 5
    assert str(pin).count("row ") == 5
    assert "bar has turned by the angle f(t) from ground" in str(motor)
    assert "f = 0 rad, f' = 0.6 rad/s, f'' = 0 rad/s2" in str(motor)
    assert "Phi_dot = -0.6 rad/s" in str(motor)
    assert "Phi = 0, Phi_dot = 0 1/s" in str(driven_pendulum.explain(3))


@pytest.mark.parametrize("number", [-1, 6, 60])
def test_a_wrong_row_is_refused_with_the_range(driven_pendulum, number):
    for ask in (driven_pendulum.explain, mbd.evaluate(driven_pendulum).explain):
        with pytest.raises(mbd.UsageError, match=rf"no row {number}: its rows are 0 to 5"):
            ask(number)


def test_a_wrong_name_or_kind_is_refused(driven_pendulum):
    with pytest.raises(mbd.UsageError, match="no joint is called 'pim'; the joints are 'pin', 'motor'"):
        driven_pendulum.explain("pim")
    for wrong in (1.5, True, ("pin",)):
        with pytest.raises(mbd.UsageError, match="name of a joint, the number of a row"):
            driven_pendulum.explain(wrong)
    free = mbd.System("free")
    free.add(mbd.Body("ball", 1.0, (1, 1, 1)))
    with pytest.raises(mbd.UsageError, match="it has no rows"):
        free.compile().explain(0)
    assert str(free.compile().explain()).startswith("'free': 0 equations")
