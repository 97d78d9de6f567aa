"""What cannot be asked: named, all at once where it is about values."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Distance


@pytest.fixture
def bar():
    """A bar on a hinge about y, along x."""
    system = mbd.System("pendulum")
    link = system.add(mbd.Body("link", 2.0, (0.1, 1, 1), r=(1, 0, 0), v=(0, 0, -1), omega_bar=(0, 1, 0)))
    system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    return system, link, system.compile()


def test_all_faults_in_one_error(bar):
    system, link, model = bar
    stranger = mbd.Body("stranger", 1.0, (1, 1, 1))
    at = {"point": (2, 0, 0), "normal": (0, 0, 1)}
    with pytest.raises(mbd.ModelError) as error:
        mbd.impulse(
            model,
            model.state().replace(v=np.full((2, 3), np.nan)),
            applied=[
                mbd.PointImpulse("blow", link, impulse=(0, 1)),
                mbd.PointImpulse("hit", link, point="tip", impulse=(0, 0, 1), frame="joint"),
                mbd.AngularImpulse("twist", stranger, impulse=(0, 0, 1)),
                mbd.AngularImpulse("earth", system.ground, impulse=(0, 0, 1)),
            ],
            contacts=[
                mbd.Contact("floor", system.ground, link, restitution=2, **at),
                mbd.Contact("wall", stranger, link, **at),
                mbd.Contact("wall", system.ground, link, **at),
                mbd.Contact("", system.ground, link, **at),
            ],
        )
    text = str(error.value)
    for sentence in (
        "v of body 'ground' is [nan, nan, nan], not finite",
        "PointImpulse 'blow': impulse has shape (2,), expected (3,)",
        "PointImpulse 'hit': point is 'tip', not an array of numbers",
        "PointImpulse 'hit': frame is 'joint'",
        "AngularImpulse 'twist': body 'stranger' is not in model 'pendulum'",
        "AngularImpulse 'earth': it acts on the ground",
        "contact 'floor': restitution is 2, must be between 0 and 1",
        "contact 'wall': body 'stranger' is not in model",
        "contact 'wall': the name is used 2 times",
        "contact '': the name is empty or not a string",
    ):
        assert sentence in text


def test_wrong_kinds(bar):
    system, link, model = bar
    blow = mbd.PointImpulse("blow", link, impulse=(0, 0, 1))
    floor = mbd.Contact("floor", system.ground, link, point=(2, 0, 0), normal=(0, 0, 1))
    with pytest.raises(mbd.UsageError, match="impulse needs a compiled Model or a System, got Contact"):
        mbd.impulse(floor)
    with pytest.raises(mbd.UsageError, match="impulse needs a State"):
        mbd.impulse(model, blow)
    with pytest.raises(mbd.UsageError, match="applied takes PointImpulse or AngularImpulse objects, got Contact"):
        mbd.impulse(model, applied=[floor])
    with pytest.raises(mbd.UsageError, match="applied is 3.0: give a tuple or list"):
        mbd.impulse(model, applied=3.0)
    with pytest.raises(mbd.UsageError, match="contacts takes Contact objects, got PointImpulse"):
        mbd.impulse(model, contacts=[blow])
    with pytest.raises(mbd.UsageError, match="contacts is 'floor'"):
        mbd.impulse(model, contacts="floor")
    with pytest.raises(mbd.UsageError, match="a frame needs a Body, got 'link'"):
        mbd.AngularImpulse("twist", "link", impulse=(0, 0, 1))
    np.testing.assert_array_equal(mbd.impulse(model, applied=blow).v, mbd.impulse(model, applied=[blow]).v)


def test_a_contact_that_does_not_touch(bar):
    system, link, model = bar
    floor = mbd.Contact("floor", system.ground, link, point=(2, 0, 0), normal=(0, 0, 1), plane_point=(0, 0, -0.1))
    with pytest.raises(
        mbd.ModelError, match=r"contact 'floor': its gap is 0.1 m at t = 0 s \(allowed 1e-05 m\): the bodies are apart"
    ):
        mbd.impulse(model, contacts=floor)
    sunk = mbd.Contact("floor", system.ground, link, point=(2, 0, 0), normal=(0, 0, 1), radius=0.1, plane_point=(0, 0, 0))
    with pytest.raises(mbd.ModelError, match="its gap is -0.1 m .* one inside the other"):
        mbd.impulse(model, contacts=sunk)
    taken = mbd.impulse(model, contacts=floor, touching=False)
    assert taken.normal["floor"] == pytest.approx(1.5, rel=1e-13)  # J_pin omega / arm = 3 / 2


def test_a_body_at_the_origin_touches_there():
    """Nothing here has a size that a gap could be measured by."""
    system = mbd.System("point")
    ball = system.add(mbd.Body("ball", 1.0, (1, 1, 1), v=(0, 0, -1)))
    floor = mbd.Contact("floor", system.ground, ball, point=(0, 0, 0), normal=(0, 0, 1), restitution=0.5)
    found = mbd.impulse(system.compile(), system.compile().state().replace(r=((0, 0, 0), (0, 0, 1e-9))), contacts=floor)
    np.testing.assert_allclose(found.v[1], (0, 0, 0.5), atol=1e-15)


def test_an_immovable_contact(bar):
    """Along the bar, towards the pin, nothing gives way."""
    system, link, model = bar
    wall = mbd.Contact("wall", system.ground, link, point=(2, 0, 0), normal=(-1, 0, 0), restitution=0.5)
    with pytest.raises(mbd.UsageError, match=r"contact 'wall' is immovable at t = 0 s: .*n\^T A\^-1 n = 0"):
        mbd.impulse(model, contacts=wall)
    floor = mbd.Contact("floor", system.ground, link, point=(2, 0, 0), normal=(0, 0, 1), restitution=0.5)
    with pytest.raises(mbd.UsageError, match="contact 'wall' is immovable"):
        mbd.impulse(model, contacts=[floor, wall])


def test_separating_contacts_are_said(bar):
    system, link, model = bar
    state = model.state().replace(v=np.array([[0, 0, 0], [0, 0, 1.0]]), omega_bar=np.array([[0, 0, 0], [0, -1.0, 0]]))
    floor = mbd.Contact("floor", system.ground, link, point=(2, 0, 0), normal=(0, 0, 1))
    found = mbd.impulse(model, state, contacts=[floor])
    assert found.normal == {"floor": 0.0}
    assert found.messages == ("contact 'floor' separates at 2 m/s: no impulse", "no contact gives an impulse")
    np.testing.assert_allclose(found.v, state.v, atol=1e-15)
    still = mbd.impulse(model, model.state().replace(v=np.zeros((2, 3)), omega_bar=np.zeros((2, 3))), contacts=[floor])
    assert still.messages[0] == "contact 'floor' touches without pressing: no impulse"


def test_bounds_that_no_velocity_meets():
    """A bead between two walls that move as one: what the lower one throws up, the upper one holds down."""
    system = mbd.System("bead")
    bead = system.add(mbd.Body("bead", 1.0, (1, 1, 1), v=(0, 0, -1)))
    system.add(TJ("rail", system.ground, bead, point=(0, 0, 0), axis=(0, 0, 1)))
    walls = [mbd.Contact(f"{n}", system.ground, bead, point=(0, 0, 0), normal=(0, 0, n), restitution=0.5) for n in (1, -1)]
    with pytest.raises(mbd.UsageError, match="contacts '1', '-1' cannot all rebound with their restitution"):
        mbd.impulse(system.compile(), contacts=walls)
    soft = [mbd.Contact(f"{n}", system.ground, bead, point=(0, 0, 0), normal=(0, 0, n)) for n in (1, -1)]
    found = mbd.impulse(system.compile(), contacts=soft)
    np.testing.assert_allclose(found.v, 0.0, atol=1e-15)
    assert found.normal["1"] - found.normal["-1"] == pytest.approx(1.0, rel=1e-13)


def test_a_singular_position():
    """Two rods in one line hold the same direction twice."""
    system = mbd.System("dead centre")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1), r=(1, 1, 0)))
    system.add(Distance("left", system.ground, body, point_i=(0, 0, 0), point_j=(1, 1, 0)))
    system.add(Distance("right", system.ground, body, point_i=(3, 0, 0), point_j=(1, 1, 0)))
    model = system.compile()
    mbd.impulse(model)
    with pytest.raises(mbd.SingularKKTError, match="the rows of 'left', 'right' between 'ground' and 'body' depend on others"):
        mbd.impulse(model, model.state().replace(r=np.array([[0, 0, 0], [1, 0, 0]])))


def test_joints_that_do_not_exist(bar):
    system, link, model = bar
    found = mbd.impulse(model, applied=mbd.PointImpulse("blow", link, impulse=(0, 0, 1)))
    with pytest.raises(mbd.UsageError, match="no joint is called 'hinge'; the joints are 'pin'"):
        found.joint("hinge")
    with pytest.raises(mbd.UsageError, match="on is 'k'"):
        found.joint("pin", on="k")
    with pytest.raises(mbd.UsageError, match="frame is 'world'"):
        found.joint("pin", frame="world")
    assert repr(found).startswith("Impulse on 'pendulum' at t = 0 s: kinetic energy")


def test_what_a_users_function_raises_comes_out():
    system = mbd.System("pushed")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))

    def force(t, r, p, v, omega_bar):
        if t > 0.5:
            raise RuntimeError("no more")
        return np.zeros(3)

    system.add(mbd.PointForce("push", body, force=force))
    model = system.compile()
    with pytest.raises(RuntimeError, match="no more"):
        mbd.impulse(model, model.state().replace(t=1.0))
