"""One simulate, one Result: smooth motions, contacts, stops and chains have the same attributes, with the same meaning."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, slider_crank
from joints import RJ

OF_CHAINS = ("chain", "q", "qd", "qdd", "tau")
"""Names that any other run refuses."""


def arm(*parts):
    """An arm on a hinge, with a stop or above a floor."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("arm", 1.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0.2)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0.2), axis=(0, 1, 0)))
    if "floor" in parts:
        system.add(
            mbd.Contact("floor", system.ground, body, point=(1, 0, 0.2), normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.3)
        )
    if "stop" in parts:
        system.add(mbd.JointLimit("stop", pin, upper=0.2, restitution=0.3))
    return system


@pytest.fixture(scope="module")
def runs():
    chain = mbd.random_chain(2, 1)
    made = {
        name: mbd.simulate(arm(*parts), 0.4, h=1e-2) for name, parts in (("smooth", ()), ("floor", ["floor"]), ("stop", ["stop"]))
    }
    return made | {"chain": mbd.simulate(chain, 0.1, h=1e-2)}


def public(result):
    return {name for name in dir(type(result)) if not name.startswith("_")}


def test_every_road_gives_a_result_with_the_same_names(runs):
    wanted = public(runs["smooth"])
    for result in runs.values():
        assert isinstance(result, mbd.Result)
        assert wanted <= public(result)


def test_every_attribute_is_of_the_same_kind_on_every_road(runs):
    names = sorted(name for name in public(runs["smooth"]) if not callable(getattr(mbd.Result, name)))
    names = [name for name in (*names, "t", "y", "counters", "settings", "outcome") if name not in ("plot", "passed")]
    for name in names:
        for road, result in runs.items():
            if name in OF_CHAINS:
                assert hasattr(result, name) is (road == "chain")
                continue
            try:
                value = getattr(result, name)
            except mbd.UsageError:
                assert name in ("lam_of_method", "accelerations_of_method")
                continue
            assert isinstance(value, type(getattr(runs["smooth"], name))), (road, name)
            if isinstance(value, np.ndarray):
                assert len(value) == len(result.t), (road, name)


def test_quantities_mean_the_same_on_every_road(runs):
    for result in runs.values():
        nt, model = len(result.t), result.model
        assert result.violation().shape == (nt, model.nc)
        assert set(result.violation(by="joint")) == set(model.joints)
        assert result.energy().total.shape == result.kinetic_energy().shape == (nt,)
        joint = next(name for name, entry in model.joints.items() if entry.freedoms)
        assert len(result.joint(joint).t) == len(result.reaction(joint).force) == nt
        some = result.resample(np.linspace(result.t[0], result.t[-1], 7))
        assert len(some.t) == len(some.lam) == 7
        assert isinstance(some, mbd.Result)
        with pytest.raises(mbd.UsageError, match="no contact is called 'wall'"):
            result.contact("wall")


def test_accelerations_and_multipliers_of_a_run_with_contacts_are_those_of_its_states(runs):
    result = runs["floor"]
    assert len(result.impacts) >= 1
    apart = ~result.contact("floor").closed
    free = mbd.Result(result.model, result.t, result.y)
    np.testing.assert_allclose(result.lam[apart], free.lam[apart], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(result.v_dot[apart], free.v_dot[apart], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", [four_bar, slider_crank])
@pytest.mark.parametrize("options", [{"h": 1e-2}, {"rtol": 1e-7, "atol": 1e-9}], ids=["fixed", "adaptive"])
def test_a_contact_that_is_never_touched_changes_no_bit(make, options):
    plain, guarded = make(), make()
    body = guarded.bodies[-1]
    guarded.add(mbd.Contact("far", guarded.ground, body, point=body.r, normal=(0, 0, 1), plane_point=(0, 0, -1e3)))
    one, other = mbd.simulate(plain, 0.1, **options), mbd.simulate(guarded, 0.1, **options)
    np.testing.assert_array_equal(other.t, one.t)
    np.testing.assert_array_equal(other.y, one.y)
    np.testing.assert_array_equal(other.lam, one.lam)
    assert other.impacts == ()
    assert other.contact("far").gap.min() > 900.0


def test_a_contact_is_a_part_of_model_files_pickles_and_batches(tmp_path):
    system = arm("floor")
    wanted = mbd.simulate(system, 0.4, h=1e-2)
    path = system.save(tmp_path / "arm.json")
    again = mbd.load_model(path)
    assert again.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    batch = mbd.batch(system.compile(), parameters={"arm.mass": [1.0, 2.0]}).simulate(0.4, h=1e-2)
    assert batch.failures == {}
    for result in (mbd.simulate(again, 0.4, h=1e-2), mbd.simulate(pickle.loads(pickle.dumps(system)), 0.4, h=1e-2), batch[0]):
        np.testing.assert_array_equal(result.y, wanted.y)
    loaded = mbd.load(wanted.save(tmp_path / "run.npz"))
    np.testing.assert_array_equal(loaded.contact("floor").force, wanted.contact("floor").force)


def test_names_and_bodies_of_contacts_are_checked_with_those_of_other_parts():
    system, other = arm("floor"), mbd.Body("other", 1.0, (1, 1, 1))
    system.add(mbd.Contact("pin", system.ground, system["arm"], point=(1, 0, 0.2), normal=(0, 0, 1)))
    system.add(mbd.Contact("lost", system.ground, other, point=(0, 0, 0), normal=(0, 0, 1), restitution=2.0))
    text = " ".join(f"{fault.where}: {fault.what}" for fault in system.faults())
    for part in ("contact 'pin': a joint has this name", "contact 'lost' is attached to it", "contact 'lost': restitution is 2"):
        assert part in text


def test_a_budget_ends_a_run_with_contacts():
    result = mbd.simulate(arm("floor"), 1e3, h=1e-4, budget=0.05)
    assert result.status is mbd.RunStatus.BUDGET_EXHAUSTED
    assert 0.0 < result.t[-1] < 1e3


def test_an_equilibrium_below_a_rigid_floor_is_refused():
    with pytest.raises(mbd.HaugmbdError, match="contact 'floor'"):
        mbd.equilibrium(arm("floor"))


@pytest.mark.parametrize("write", [mbd.write_mjcf, mbd.write_urdf, mbd.write_asmt, mbd.write_sdf])
def test_formats_without_contacts_name_the_contact_that_they_cannot_hold(write, tmp_path):
    system = mbd.System("ball on a rod", gravity=(0.0, 0.0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.01), r=(0.5, 0.0, 1.0)))
    system.add(RJ("pin", system.ground, rod, point=(0.0, 0.0, 1.0), axis=(0.0, 1.0, 0.0)))
    system.add(mbd.Contact("floor", system.ground, rod, point=(1.0, 0.0, 1.0), normal=(0.0, 0.0, 1.0), plane_point=(0.0, 0.0, 0.0)))
    ending = {"write_mjcf": ".xml", "write_urdf": ".urdf", "write_asmt": ".asmt", "write_sdf": ".sdf"}[write.__name__]
    with pytest.raises(mbd.ModelError, match="contact 'floor'"):
        write(system, tmp_path / f"out{ending}")
    with pytest.raises(mbd.ModelError, match="contact 'floor'"):
        mbd.SerialChain.from_system(system)
