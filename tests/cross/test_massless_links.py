"""Links without mass, whose motion the joints give: exact against the joint that they stand for; refused where they move on their own."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Body, System
from haugmbd.formulations import FORMULATIONS
from joints import CJ, RJ, SJ, TJ, UJ, Distance

GRAVITY = (1.0, 2.0, -9.81)
EXACT = 1e-12
"""Relative difference of accelerations: rounding."""
APPROXIMATE = {"Penalty": 1e-4}
"""Formulations with an error of their own."""
WITHOUT = ("RangeSpace", "UdwadiaKalaba")
"""Formulations that divide by the inertia."""


def ball(massless, *, axes=((0, 0, 1), (0.1, 1, 0.2), (1, 0.2, 0.1))):
    """A chain that hangs at a ball joint, or at three hinges with two links without mass between them."""
    system = System("ball", gravity=GRAVITY)
    b = system.add(Body("b", 2.0, (0.06, 0.05, 0.02), r=(0.1, 0.05, -0.3)))
    c = system.add(Body("c", 1.0, (0.03, 0.02, 0.01), r=(0.1, 0.05, -0.7)))
    system.add(UJ("u", b, c, point=(0.1, 0.05, -0.5), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    if not massless:
        system.add(SJ("s", system.ground, b, point=(0, 0, 0)))
        return system
    chain = [system.ground, *(system.add(Body(name, 0.0, (0, 0, 0))) for name in ("v0", "v1")), b]
    for name, i, j, axis in zip("zyx", chain, chain[1:], axes, strict=False):
        system.add(RJ(name, i, j, point=(0, 0, 0), axis=axis))
    return system


def moving(model, like):
    """The velocity of b and c as in `like`, and that of the links between that the rows allow."""
    rng = np.random.default_rng(5)
    rows = mbd.evaluate(like, like.state())
    J = rows.Phi_q.toarray()
    u = rng.normal(size=12)
    u -= np.linalg.lstsq(J, J @ u, rcond=None)[0]
    known = np.concatenate([u, np.zeros(6 * (model.nb - 2))])
    J = mbd.evaluate(model, model.state()).Phi_q.toarray()
    known[12:] = np.linalg.lstsq(J[:, 12:], -J[:, :12] @ u, rcond=None)[0]

    def state(of, u):
        u = np.vstack([np.zeros((1, 6)), u.reshape(-1, 6)])
        return of.state().replace(v=u[:, :3], omega_bar=u[:, 3:])

    return state(model, known), state(like, u)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMULATIONS, ids=lambda kind: kind.__name__)
def test_every_formulation_is_exact_or_refuses_by_name(kind):
    model, like = ball(True).compile(), ball(False).compile()
    state, other = moving(model, like)
    if kind.__name__ in WITHOUT:
        with pytest.raises(mbd.ModelError, match="'v0'.*the mass is zero"):
            mbd.accelerations(model, state, formulation=kind())
        return
    if kind.__name__ == "ReducedChain":
        return  # of chains at rest in their own coordinates
    found, wanted = mbd.accelerations(model, state, formulation=kind()), mbd.accelerations(like, other)
    size = np.abs(wanted.omega_bar_dot).max()
    assert np.abs(found.omega_bar_dot[1:3] - wanted.omega_bar_dot[1:3]).max() < APPROXIMATE.get(kind.__name__, EXACT) * size
    assert np.abs(found.v_dot[1:3] - wanted.v_dot[1:3]).max() < APPROXIMATE.get(kind.__name__, EXACT) * size


@pytest.mark.slow
def test_a_motion_with_massless_links_is_that_of_the_ball_joint():
    t = np.linspace(0.0, 1.0, 6)
    found, wanted = (mbd.simulate(ball(m), 1.0, t_eval=t, rtol=1e-10, atol=1e-11) for m in (True, False))
    assert np.abs(found["c"].r - wanted["c"].r).max() < 1e-9
    assert np.abs(found.energy().drift).max() < 1e-7
    force = found.reaction("z", on="v0").force
    assert np.abs(force - wanted.reaction("s", on="b").force).max() < 1e-7 * np.abs(force).max()


def test_a_slider_without_mass_between_a_slide_and_a_pin():
    """A pendulum on a massless slide moves as one on a point that slides: its centre keeps its place along the slide."""
    system = System("slide", gravity=(0, 0, -9.81))
    bob = system.add(Body("bob", 2.0, (0.05, 0.05, 0.05), r=(0.3, 0, -0.4)))
    slide = system.add(Body("slide", 0.0, (0, 0, 0)))
    system.add(TJ("rail", system.ground, slide, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("pin", slide, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    result = mbd.simulate(system, 1.0, rtol=1e-10, atol=1e-12)
    assert result["bob"].r[:, 0] == pytest.approx(0.3, abs=1e-10)
    assert np.abs(result.energy().drift).max() < 1e-7


@pytest.mark.parametrize(
    "join",
    [
        lambda s, q: None,
        lambda s, q: s.add(RJ("pin", s.ground, q, point=(0, 0, 0), axis=(0, 0, 1))),
        lambda s, q: s.add(CJ("rod", s.ground, q, point=(0, 0, 0), axis=(0, 0, 1))),
        lambda s, q: s.add(Distance("rod", s.ground, q, point_i=(1, 0, 0), point_j=(0, 0, 0))),
    ],
    ids=["free", "RJ", "CJ", "Distance"],
)
def test_a_link_with_a_motion_of_its_own_is_refused_by_name(join):
    system = System("loose", gravity=GRAVITY)
    system.add(Body("heavy", 1.0, (1, 1, 1)))
    join(system, system.add(Body("light", 0.0, (0, 0, 0))))
    with pytest.raises(mbd.ModelError, match="'light'.*no inertia"):
        system.compile()


def test_hinges_whose_axes_lie_in_one_plane_are_refused_there():
    with pytest.raises(mbd.ModelError, match="no inertia in"):
        ball(True, axes=((0, 0, 1), (0, 1, 0), (0, 1, 1))).compile()


@pytest.mark.parametrize("mass", [-1.0, np.nan])
def test_a_mass_that_is_none_is_refused(mass):
    assert Body("b", mass, (1, 1, 1)).faults()
