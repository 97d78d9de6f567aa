"""Impacts that friction wedges: a bounce that Coulomb's law does not allow is refused by name, and no force grows without end."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.contact.cone import scales_of, solve_cone_problem
from joints import RJ

MU_LIMIT = np.sqrt(1.0 - 0.9**2) / 0.9
"""A rod of 1 m on a hinge 0.9 m above the floor: its tip comes down by sqrt(0.19) of its rate, and along by 0.9."""


def leaning_rod(mu, e):
    """A rod on a hinge whose tip falls onto the floor."""
    a = -np.arcsin(0.88)
    system = mbd.System("strut", gravity=(0, 0, -9.81))
    r = 0.5 * np.array([np.cos(a), 0, np.sin(a)]) + (0, 0, 0.9)
    rod = mbd.Body("rod", 1.0, (1e-3, 1 / 12, 1 / 12), r=r, p=(np.cos(a / 2), 0, -np.sin(a / 2), 0))
    system.add(rod)
    system.add(RJ("hinge", system.ground, rod, point=(0, 0, 0.9), axis=(0, 1, 0)))
    tip = mbd.Sphere(0.0, center=(0.5, 0, 0))
    system.add(mbd.Contact("tip", system.ground, rod, shape_i=mbd.Plane(), shape_j=tip, mu=mu, restitution=e))
    return system


METHODS = [{"rtol": 1e-9}, {"h": 1e-3, "integrator": mbd.MoreauJean()}]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=["events", "steps"])
def test_a_bounce_that_friction_forbids_is_an_error_that_says_so(method):
    with pytest.raises(mbd.SimulationError, match=r"tip.*Newton's law of restitution.*wedges"):
        mbd.simulate(leaning_rod(1.2 * MU_LIMIT, 0.5), 0.3, **method)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=["events", "steps"])
@pytest.mark.parametrize(("mu", "e"), [(1.2 * MU_LIMIT, 0.0), (0.8 * MU_LIMIT, 0.5)], ids=["holds", "bounces"])
def test_the_same_strut_holds_without_restitution_and_bounces_with_less_friction(method, mu, e):
    result = mbd.simulate(leaning_rod(mu, e), 0.3, **method)
    assert result.check_contacts().worst <= 1e-9
    assert (np.abs(result.v[-1]).max() <= 1e-12) == (e == 0.0)


def test_mechanisms_of_one_or_two_freedoms_are_stopped_by_forces_of_a_sensible_size():
    """Up to three contacts whose rows depend on one another: the laws hold beside the velocities, not beside forces without end."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        m, freedoms = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        A, mu = rng.normal(size=(3 * m, freedoms)), rng.uniform(0.1, 2, m)
        A[2::3] *= rng.choice([0.0, 1.0])
        b = A @ rng.normal(size=freedoms)
        solution = solve_cone_problem(A @ A.T, b, mu)
        s = scales_of(A @ A.T, mu)[:, None]
        assert np.abs(solution.f / s).max() <= 1e6 * np.abs(s * b.reshape(-1, 3)).max()
