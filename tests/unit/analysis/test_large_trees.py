"""Equilibria of trees by elimination from leaves to root, against those by orthonormal bases, and against an own balance of moments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import haugmbd as mbd
from haugmbd.analysis.equilibrium import residual
from haugmbd.bodies import inertia
from joints import CJ, RJ, SJ, TJ

g = 9.81


def random_tree(seed, bodies=7):
    """Bodies on joints of four kinds, each held by springs along its joint, some of them to the ground; gravity, and a force at a tip."""
    rng = np.random.default_rng(seed)
    system = mbd.System("tree", gravity=(0.0, 0.0, -g))
    known = [system.ground]
    for k in range(bodies):
        before = known[int(rng.integers(len(known)))]
        r = tuple(np.asarray(before.r) + rng.normal(size=3) * 0.4)
        body = system.add(mbd.Body(f"body {k}", *inertia.rod(0.3, mass=rng.uniform(0.5, 2.0)), r=r))
        kind, at = int(rng.integers(4)), tuple(0.5 * (np.asarray(before.r) + r))
        axis = tuple(rng.normal(size=3))
        if kind == 0:
            joint = system.add(RJ(f"joint {k}", before, body, point=at, axis=axis))
            system.add(mbd.RSDA(f"spring {k}", joint, k=rng.uniform(20.0, 60.0)))
        elif kind == 1:
            system.add(TJ(f"joint {k}", before, body, point=at, axis=axis))
        elif kind == 2:
            joint = system.add(CJ(f"joint {k}", before, body, point=at, axis=axis))
            system.add(mbd.RSDA(f"spring {k}", joint, k=rng.uniform(20.0, 60.0)))
        else:
            system.add(SJ(f"joint {k}", before, body, point=at))
        for n in range(3):  # a spring to the ground or the body before, off all axes
            end = tuple(np.asarray(r) + rng.normal(size=3) * 0.3)
            other = before if n else system.ground
            system.add(
                mbd.TSDA(
                    f"string {k} {n}", other, body, point_i=tuple(np.asarray(r) + rng.normal(size=3)), point_j=end, k=200.0, l0=0.3
                )
            )
        known.append(body)
    system.add(mbd.PointForce("pull", known[-1], point=known[-1].r, force=tuple(rng.normal(size=3) * 5.0)))
    return system


@pytest.mark.parametrize("seed", range(6))
def test_the_balance_of_a_tree_is_that_by_orthonormal_bases(monkeypatch, seed):
    model, found = random_tree(seed).compile(), []
    for least in (0, 10**9):
        monkeypatch.setattr(residual, "LARGE_TREE", least)
        found.append(mbd.equilibrium(model))
    tree, dense = found
    assert tree.kinds == dense.kinds
    np.testing.assert_allclose(tree.state.y, dense.state.y, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(tree.lam, dense.lam, rtol=0.0, atol=1e-10 * np.abs(dense.lam).max())
    np.testing.assert_allclose(tree.stiffness, dense.stiffness, rtol=1e-7)  # of differences
    assert tree.stability is dense.stability


def test_a_saddle_is_left_downhill_and_found_where_it_is_asked_for(monkeypatch):
    """A column of hinges with springs stands upright under its weight: unstable beyond the critical load."""
    monkeypatch.setattr(residual, "LARGE_TREE", 0)
    system, before, n = mbd.System("column", gravity=(0.0, 0.0, -g)), None, 12
    before = system.ground
    for k in range(n):
        lean = 1e-3 * (k + 0.5) / n
        link = system.add(mbd.Body(f"link {k}", *inertia.rod(1.0 / n, mass=1.0 / n), r=(lean, 0.0, (k + 0.5) / n)))
        pin = system.add(RJ(f"pin {k}", before, link, point=(1e-3 * k / n, 0.0, k / n), axis=(0.0, 1.0, 0.0)))
        system.add(mbd.RSDA(f"spring {k}", pin, k=0.5 * n))
        before = link
    bent, upright = mbd.equilibrium(system), mbd.equilibrium(system, downhill=False)
    assert bent.stable
    assert upright.stability is mbd.Stability.UNSTABLE
    assert bent.state.r[-1, 2] < upright.state.r[-1, 2] - 0.1


def test_modes_are_kept_by_a_copy(monkeypatch):
    import pickle  # noqa: PLC0415

    monkeypatch.setattr(residual, "LARGE_TREE", 0)
    found = mbd.equilibrium(random_tree(1))
    again = pickle.loads(pickle.dumps(found.modes))
    np.testing.assert_array_equal(again.stiffness, found.stiffness)
    np.testing.assert_array_equal(again.motions, found.motions)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "force", "weight"), [(3.0, (0.0, -4.0), 1.0), (1.0, (-2.0, -3.0), 0.3), (5.0, (0.0, 12.0), 0.1)])
def test_a_beam_of_many_links_bends_far(k, force, weight):
    """V = sum of n k (a_i - a_(i-1))^2 / 2 + weight + force at the tip; a: turns of the links."""
    n = 120
    system, length = mbd.System("beam", gravity=(0.0, 0.0, -g)), 1.0 / n
    before = system.ground
    for i in range(n):
        link = system.add(mbd.Body(f"link {i}", *inertia.rod(length, mass=weight / n), r=((i + 0.5) * length, 0.0, 0.0)))
        pin = system.add(RJ(f"pin {i}", before, link, point=(i * length, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        system.add(mbd.RSDA(f"spring {i}", pin, k=k * n))
        before = link
    system.add(mbd.PointForce("load", before, point=(1.0, 0.0, 0.0), force=(force[0], 0.0, force[1])))
    found = mbd.equilibrium(system)
    assert found.newton <= 15
    assert found.stable

    def slope(a):
        beyond = np.arange(n)[::-1] + 0.5
        turned = -length * np.cos(a) * (weight / n * g * beyond - force[1]) + length * np.sin(a) * force[0]
        moment = k * n * np.diff(a, prepend=0.0)
        return moment - np.append(moment[1:], 0.0) + turned

    a = root(slope, np.linspace(0.1, 1.0, n) * (-1.0 if force[1] > 0.0 else 1.0), method="hybr", options={"xtol": 1e-14}).x
    assert np.abs(slope(a)).max() < 1e-9
    x, z = np.cumsum(length * np.cos(a)) - 0.5 * length * np.cos(a), -np.cumsum(length * np.sin(a)) + 0.5 * length * np.sin(a)
    np.testing.assert_allclose(found.state.r[1:, [0, 2]], np.column_stack([x, z]), atol=1e-10)
