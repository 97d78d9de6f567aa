"""Runs with friction at rigid contacts as files, copies, parts and continuations: modes, forces and impacts are those of the run."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ

METHODS = {
    "steps": {"h": 4e-3},
    "adaptive": {"rtol": 1e-8, "atol": 1e-10},
    "times": {"rtol": 1e-8, "atol": 1e-10, "t_eval": np.linspace(0.0, 0.18, 7)},
    "stepped": {"h": 3e-3, "integrator": mbd.MoreauJean()},
    "stepped times": {"h": 3e-3, "integrator": mbd.MoreauJean(), "t_eval": np.linspace(0.0, 0.18, 7)},
}
pytestmark = pytest.mark.slow


@cache
def scene():
    """A ball that bounces and slides, a box that falls flat and slides, and a hinged rod that strikes the floor."""
    system = mbd.System("scene", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.004,) * 3, r=(0, 0, 0.12), v=(1.0, 0, 0)))
    box = system.add(mbd.Body("box", 2.0, (0.02,) * 3, r=(0, 1, 0.055), v=(0.5, 0, 0), shape=mbd.Box((0.2, 0.2, 0.1))))
    rod = system.add(mbd.Body("rod", 1.0, (1e-3, 0.02, 0.02), r=(0.25, 2, 0.2)))
    system.add(RJ("pin", system.ground, rod, point=(0, 2, 0.2), axis=(0, 1, 0)))
    floor = mbd.Plane()
    system.add(
        mbd.Contact(
            "a", system.ground, ball, shape_i=floor, shape_j=mbd.Sphere(0.1), mu=0.3, restitution=0.6, law=mbd.PoissonImpact()
        )
    )
    system.add(mbd.Contact("b", system.ground, box, shape_i=floor, mu=0.2))
    tip = mbd.Sphere(0.02, center=(0.25, 0, 0))
    system.add(mbd.Contact("c", system.ground, rod, shape_i=floor, shape_j=tip, mu=0.5, restitution=0.3))
    return system


@cache
def run(name):
    system, options = scene(), METHODS[name]
    if name.startswith("stepped"):
        system = system_without_laws()
    return mbd.simulate(system, 0.18, **options)


@cache
def system_without_laws():
    """The same with Newton's law, for time stepping."""
    model = scene().compile()
    a, b, c = model.contacts
    ends = {"shape_i": a.shape_i, "shape_j": a.shape_j}
    return model.changed(contacts=(mbd.Contact("a", a.i, a.j, mu=a.mu, restitution=a.restitution, **ends), b, c))


def same(one, other):
    """Assert that two results are the same, by what is asked of contacts, joints and impacts."""
    assert np.array_equal(one.t, other.t)
    assert np.array_equal(one.y, other.y)
    assert [(e.name, e.t) for e in one.events] == [(e.name, e.t) for e in other.events]
    assert len(one.impacts) == len(other.impacts)
    for a, b in zip(one.impacts, other.impacts, strict=True):
        assert a.normal == b.normal
        assert all(np.array_equal(f, b.tangential[name]) for name, f in a.tangential.items())
        assert a.energy_lost == b.energy_lost
    for name in "abc":
        x, y = one.contact(name), other.contact(name)
        for field in ("gap", "normal_force", "friction_force", "point", "normal", "slip", "state"):
            assert np.array_equal(getattr(x, field), getattr(y, field)), (name, field)
    assert np.array_equal(one.reaction("pin").force, other.reaction("pin").force)
    assert one.check_contacts().worst == other.check_contacts().worst


def lawful(result):
    """Return whether the laws hold at all states, and nothing overlaps."""
    return result.check_contacts().worst <= 1e-10


@pytest.mark.parametrize(("name", "ending"), [*((name, ".npz") for name in METHODS), ("times", ".nc"), ("stepped times", ".nc")])
def test_a_file_has_the_whole_run(name, ending, tmp_path):
    result = run(name)
    path = result.save(tmp_path / f"run{ending}")
    same(result, mbd.load(path))
    again = mbd.load(path, model=result.model)
    same(result, again)
    assert np.array_equal(again.energy().total, result.energy().total)
    same(result, pickle.loads(pickle.dumps(result)))


@pytest.mark.parametrize("name", METHODS)
def test_parts_and_other_times_keep_their_contacts(name):
    result = run(name)
    part = result[0.07:0.13]
    keep = np.isin(result.t, part.t)
    for contact in "abc":
        assert np.array_equal(
            part.contact(contact).normal_force.sum(axis=1), result.contact(contact).normal_force.sum(axis=1)[keep]
        )
    assert lawful(part)
    times = np.array([0.07, 0.09, 0.12])
    other = result.resample(times)
    assert np.array_equal(other.t, times)
    assert other.contact("b").normal_force.shape[0] == 3
    assert abs(other.contact("b").normal_force[1].sum() - 2.0 * 9.81) <= 1e-6
    assert np.abs(result.at(0.09).r[1:] - other.r[1, 1:]).max() <= 1e-12


@pytest.mark.parametrize("name", ["steps", "adaptive", "stepped"])
@pytest.mark.parametrize("middle", [0.06, 0.12])
def test_a_run_that_is_continued_is_the_whole_run(name, middle, tmp_path):
    """From a file of the first part, continued and joined: the states at the end are those of one run."""
    whole, system = run(name), system_without_laws() if name == "stepped" else scene()
    first = mbd.simulate(system, middle, **METHODS[name])
    first = mbd.load(first.save(tmp_path / "first.npz"), model=first.model)
    second = mbd.simulate(first.model, 0.18, state=first.state(), **METHODS[name])
    joined = first.join(second)
    bar = {"steps": 1e-7, "adaptive": 1e-7, "stepped": 1e-5}[name]
    assert np.abs(joined.y[-1] - whole.y[-1]).max() <= bar
    assert len(joined.t) == len(first.t) + len(second.t) - 1
    names = {event.name for event in whole.events}
    assert names <= {event.name for event in joined.events}
    assert len(joined.impacts) == len(whole.impacts)
    force = joined.contact("b").normal_force.sum(axis=1)
    assert abs(force[-1] - 2.0 * 9.81) <= 1e-6
    assert lawful(joined)
    same(joined, mbd.load(joined.save(tmp_path / "joined.npz")))


def test_runs_with_other_contacts_are_not_joined():
    system = scene()
    first = mbd.simulate(system, 0.01, h=1e-3)
    model = system.compile()
    a, b, c = model.contacts
    other = model.changed(contacts=(a, mbd.Contact("b", b.i, b.j, shape_i=b.shape_i, mu=0.9), c))
    second = mbd.simulate(other, 0.02, h=1e-3, state=first.state())
    with pytest.raises(mbd.UsageError, match=r"other contacts.*mu 0.2.*mu 0.9"):
        first.join(second)
