"""Laws of impact: Newton and Poisson for all points at once, and one pair of bodies after the other."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.contact.impact_laws import StruckPoints, impulses
from joints import RJ, TJ

R = 0.05
LAWS = (mbd.NewtonImpact(), mbd.PoissonImpact(), mbd.SequentialImpact())


def row(masses, speeds, e, *, mu=0.0, shapes=False, laws=None):
    """Balls on a rail that touch; e, laws: of the contacts."""
    system = mbd.System("row")
    n = len(masses)
    e, laws = (np.broadcast_to(e, n - 1).tolist(), laws or [None] * (n - 1))
    balls = [system.add(mbd.Body(f"ball {k}", masses[k], (1e-3,) * 3, r=(2 * R * k, 0, 0), v=(speeds[k], 0, 0))) for k in range(n)]
    if not shapes:
        for k, ball in enumerate(balls):
            system.add(TJ(f"rail {k}", system.ground, ball, point=ball.r, axis=(1, 0, 0)))
    for k, (i, j) in enumerate(itertools.pairwise(balls)):
        ends = {"shape_i": mbd.Sphere(R), "shape_j": mbd.Sphere(R), "mu": mu}
        plane = {"point": j.r, "normal": (1, 0, 0), "plane_point": np.array(i.r) + (R, 0, 0), "radius": R}
        system.add(mbd.Contact(f"c{k}", i, j, restitution=e[k], law=laws[k], **(ends if shapes else plane)))
    return system


def after(system, law=None, h=1e-3):
    """Return the speeds behind the impact at the start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mbd.simulate(system, 1e-3, h=h, impact=law).v[-1, 1:, 0]


AT_ONCE = [-1.2, 0.8, 0.8, 0.8, 0.8]
ONE_OUT = [0.0, 0.0, 0.0, 0.0, 2.0]
FIVE = [1.0] * 5, [2.0, 0, 0, 0, 0]


@pytest.mark.parametrize("shapes", [False, True])
@pytest.mark.parametrize(("law", "speeds"), [(None, ONE_OUT), (LAWS[0], AT_ONCE), (LAWS[1], AT_ONCE), (LAWS[2], ONE_OUT)], ids=repr)
def test_newtons_cradle(law, speeds, shapes):
    """Of five equal balls one comes in: by the sequence one goes out, as of hard balls; all at once the first comes back."""
    system = row(*FIVE, 1.0, shapes=shapes)
    assert np.abs(after(system, law) - speeds).max() <= 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blow = mbd.impulse(system.compile(), contacts=system.contacts, impact=law)
    assert np.abs(blow.v[1:, 0] - speeds).max() <= 1e-12
    assert abs(blow.energy_change) <= 1e-12


@pytest.mark.parametrize("shapes", [False, True])
def test_a_contact_has_a_law_of_its_own(shapes, tmp_path):
    system = row(*FIVE, 1.0, shapes=shapes, laws=[mbd.NewtonImpact()] + [None] * 3)
    assert np.abs(after(system) - AT_ONCE).max() <= 1e-12
    system.save(tmp_path / "row.json")
    read = mbd.load_model(tmp_path / "row.json")
    assert [contact.law for contact in read.contacts] == [mbd.NewtonImpact(), None, None, None]
    assert np.abs(after(read) - AT_ONCE).max() <= 1e-12
    with pytest.raises(mbd.HaugmbdError, match=r"'c1'.*SequentialImpact|SequentialImpact.*'c1'"):
        after(row(*FIVE, 1.0, shapes=shapes, laws=[mbd.NewtonImpact(), mbd.SequentialImpact(), None, None]))


@pytest.mark.parametrize("shapes", [False, True])
@pytest.mark.parametrize(
    ("law", "e", "speeds"),
    [
        (mbd.PoissonImpact(), (0.0, 1.0), (1 / 6, 1 / 6, 2 / 3)),  # the second contact gives back what it has stored
        (mbd.NewtonImpact(), (0.0, 1.0), (1 / 3, 1 / 3, 1 / 3)),  # it did not approach: its restitution does not matter
        (mbd.SequentialImpact(), (0.0, 1.0), (1 / 4, 1 / 4, 1 / 2)),
        (mbd.PoissonImpact(), (0.5, 0.0), (0.0, 1 / 2, 1 / 2)),
    ],
    ids=repr,
)
def test_laws_of_three_balls(law, e, speeds, shapes):
    """Closed forms by hand of three equal balls, of which the first comes in with 1 m/s."""
    assert np.abs(after(row([1.0] * 3, [1.0, 0, 0], e, shapes=shapes), law) - speeds).max() <= 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_the_sequence_is_the_limit_of_small_gaps(seed):
    rng = np.random.default_rng(seed)
    n = 4
    masses, e = rng.uniform(0.3, 3.0, n).tolist(), rng.uniform(0.3, 1.0, n - 1)
    touching = row(masses, [1.0, 0, 0, 0], e)
    wanted = after(touching, mbd.SequentialImpact())
    apart = mbd.System("row")
    balls = [
        apart.add(mbd.Body(f"ball {k}", masses[k], (1e-3,) * 3, r=((2 * R + 1e-8) * k, 0, 0), v=(1.0 if k == 0 else 0.0, 0, 0)))
        for k in range(n)
    ]
    for k, (i, j) in enumerate(itertools.pairwise(balls)):
        apart.add(mbd.Contact(f"c{k}", i, j, shape_i=mbd.Sphere(R), shape_j=mbd.Sphere(R), restitution=e[k]))
    assert np.abs(after(apart) - wanted).max() <= 1e-9


def test_a_small_ball_on_a_large_one_flies_high():
    """Both fall; the large one bounces, and meets the small one that still falls: (3 M - m) / (M + m) of the speed, by Huygens."""
    M, m, v = 5.0, 1.0, 2.0
    system = mbd.System("superball", gravity=(0, 0, -9.81))
    large = system.add(mbd.Body("large", M, (0.01,) * 3, r=(0, 0, 0.1), v=(0, 0, -v)))
    small = system.add(mbd.Body("small", m, (0.001,) * 3, r=(0, 0, 0.25), v=(0, 0, -v)))
    system.add(mbd.Contact("floor", system.ground, large, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.1), mu=0.3, restitution=1.0))
    system.add(mbd.Contact("pair", large, small, shape_i=mbd.Sphere(0.1), shape_j=mbd.Sphere(0.05), mu=0.3, restitution=1.0))
    blow = mbd.simulate(system, 1e-3, rtol=1e-9).impacts[0].impulse
    assert np.abs(blow.v[1:, 2] - ((M - 3 * m) / (M + m) * v, (3 * M - m) / (M + m) * v)).max() <= 1e-12


def rod(angle, e, mu, v, spin):
    """A rod that strikes a floor with its lower end."""
    system = mbd.System("rod")
    tip = 0.5 * np.array([np.cos(angle), 0.0, np.sin(angle)])
    p = (np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0)
    body = system.add(mbd.Body("rod", 1.0, (1e-3, 1 / 12, 1 / 12), r=tip, p=p, v=(v, 0, -1.0), omega_bar=(0, spin, 0)))
    shape = mbd.Sphere(0.0, center=(-0.5, 0, 0))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=shape, mu=mu, restitution=e))
    return system


def test_newtons_law_with_friction_can_create_energy_and_says_so():
    """Kane's paradox: a rod that strikes with slip gains energy by Newton's law, with a warning, and loses some by Poisson's."""
    system = rod(0.7, 0.9, 0.8, -0.6, 3.0)
    model = system.compile()
    gains, losses = [], []
    rng = np.random.default_rng(0)
    for _ in range(60):
        state = model.state()
        v, w = state.v.copy(), state.omega_bar.copy()
        v[1, 0], w[1, 1] = rng.uniform(-4.0, 4.0), rng.uniform(-6.0, 6.0)
        state = state.replace(v=v, omega_bar=w)
        if system.contacts[0].gap_rate(model, state) >= 0.0:
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            newton = mbd.impulse(model, state, contacts=system.contacts, impact=mbd.NewtonImpact())
        assert (newton.energy_change > 1e-9) == any(one.category is mbd.EnergyWarning for one in said)
        gains.append(newton.energy_change)
        losses.append(mbd.impulse(model, state, contacts=system.contacts, impact=mbd.PoissonImpact()).energy_change)
    assert max(gains) > 0.01
    assert max(losses) <= 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_poissons_law_by_its_own_words(seed):
    """Random points with friction: no point approaches, each has at least e times its compression, and friction obeys Coulomb's law."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 5))
    C = rng.normal(size=(3 * m, 3 * m + 3))
    G, left = C @ C.T, rng.normal(size=(m, 3))
    left[0, 0] = -1.0
    mu, e = rng.uniform(0.0, 1.0, m), rng.uniform(0.0, 1.0, m)
    pairs = np.column_stack([np.zeros(m, dtype=int), np.ones(m, dtype=int)])
    q = StruckPoints(G, left, left, e, mu, pairs, "points")
    compressed = impulses(mbd.PoissonImpact(), q._replace(e=np.zeros(m)))
    f = impulses(mbd.PoissonImpact(), q) - compressed
    v = left + (G @ (compressed + f).ravel()).reshape(m, 3)
    size = np.abs(f).max()
    more = f[:, 0] - e * compressed[:, 0]
    assert v[:, 0].min() >= -1e-9
    assert more.min() >= -1e-9 * size
    assert np.abs(more * v[:, 0]).max() <= 1e-9 * size
    limit, speed = mu * f[:, 0], np.hypot(v[:, 1], v[:, 2])
    assert (np.hypot(f[:, 1], f[:, 2]) <= limit + 1e-9 * size).all()
    slides = speed > 1e-7
    assert np.abs(f[slides, 1:] + (limit / np.maximum(speed, 1e-300))[slides, None] * v[slides, 1:]).max(initial=0.0) <= 1e-8 * size


def test_time_stepping_has_newtons_law_alone():
    system = row(*FIVE, 1.0, shapes=True)
    for law in (mbd.PoissonImpact(), mbd.SequentialImpact()):
        with pytest.raises(mbd.UsageError, match=type(law).__name__):
            mbd.simulate(system, 1e-3, h=1e-3, integrator=mbd.MoreauJean(), impact=law)
    with pytest.warns(mbd.RunWarning, match="a row of touching bodies"):
        stepped = mbd.simulate(system, 2e-3, h=1e-3, integrator=mbd.MoreauJean())
    assert np.abs(stepped.v[-1, 1:, 0] - AT_ONCE).max() <= 1e-9
    with pytest.raises(mbd.UsageError, match="no law of impact"):
        mbd.simulate(system, 1e-3, h=1e-3, impact="newton")
    with pytest.raises(mbd.UsageError, match="law of impact|NewtonImpact"):
        mbd.Contact("c", system.ground, system.bodies[1], shape_i=mbd.Plane(), shape_j=mbd.Sphere(R), law="newton")


def test_poissons_law_is_refused_where_it_says_nothing():
    """A rod on a hinge strikes with its tip: hinge and sticking friction share the impulse, and each share has another expansion."""
    system = mbd.System("rod", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("rod", 1.0, (1e-3, 0.02, 0.02), r=(0.25, 0, 0.2), p=(np.cos(0.1), 0, np.sin(0.1), 0)))
    hinge = np.array(body.r) + (-0.25 * np.cos(0.2), 0, 0.25 * np.sin(0.2))
    system.add(RJ("pin", system.ground, body, point=hinge, axis=(0, 1, 0)))
    tip = mbd.Sphere(0.0, center=(0.25, 0, 0))
    for mu, holds in ((0.0, True), (0.9, False)):
        contact = mbd.Contact("c", system.ground, body, shape_i=mbd.Plane(), shape_j=tip, mu=mu, restitution=0.5)
        model = system.compile()
        state = model.state()
        w = state.omega_bar.copy()
        w[1, 1] = 2.0
        state = mbd.impulse(
            model, state.replace(omega_bar=w, v=np.array([[0, 0, 0], np.cross((0, 2.0, 0), np.array(body.r) - hinge)]))
        ).state
        strike = lambda: mbd.impulse(model, state, contacts=contact, impact=mbd.PoissonImpact(), touching=False)  # noqa: E731, B023
        if holds:
            assert abs(strike().omega_bar[1, 1] + 1.0) <= 1e-12
        else:
            with pytest.raises(mbd.SimulationError, match="not unique"):
                strike()
