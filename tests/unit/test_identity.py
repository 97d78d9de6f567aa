"""Parts are known by identity, not by their names: every public place that takes a body or a joint refuses those of another system."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, SJ, RotationDriver
from tests.support.with_contacts import simulate_with

ZERO = (0.0, 0.0, 0.0)


def swing(driven: bool = True) -> mbd.System:
    """A driven crank and a bar on it."""
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(1.5, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, crank, point=ZERO, axis=(0, 1, 0)))
    knee = system.add(RJ("knee", crank, bar, point=(1.0, 0.0, 0.0), axis=(0, 1, 0)))
    if driven:
        system.add(RotationDriver("drive", pin, lambda t: 0.3 * t))
        system.add(RotationDriver("turn", knee, lambda t: 0.1 * t))
    return system


def blow(other):
    return mbd.PointImpulse("blow", other["bar"], impulse=(0, 0, 1.0))


def floor(ground, body):
    return mbd.Contact("floor", ground, body, point=(1.5, 0, 0), normal=(0, 0, 1))


PLACES = {
    "assemble hold body": lambda s, o: mbd.assemble(s, hold=o["bar"]),
    "assemble hold coordinate": lambda s, o: mbd.assemble(s, hold=mbd.FixedCoordinates(o["bar"], "x")),
    "assemble hold joint": lambda s, o: mbd.assemble(s, hold=o["pin"]),
    "assemble hold joint at a value": lambda s, o: mbd.assemble(s, hold=mbd.FixedCoordinates(o["pin"], value=0.0)),
    "assemble weights": lambda s, o: mbd.assemble(s, weights={o["bar"]: 2.0}),
    "branches hold": lambda s, o: mbd.assembly_modes(s, hold=o["pin"]),
    "equilibrium rotor": lambda s, o: mbd.equilibrium(s, steady=mbd.RotorSpin(o["bar"], (0, 1, 0))),
    "inverse dynamics": lambda s, o: mbd.inverse_dynamics(s, [0.0, 0.1], drivers=[o["drive"]]),
    "inverse dynamics, the answer": lambda s, o: mbd.inverse_dynamics(s, [0.0, 0.1])[o["drive"]],
    "point impulse": lambda s, o: mbd.impulse(s.compile(), applied=blow(o)),
    "angular impulse": lambda s, o: mbd.impulse(s.compile(), applied=mbd.AngularImpulse("twist", o["bar"], impulse=ZERO)),
    "contact body": lambda s, o: mbd.impulse(s.compile(), contacts=floor(s.ground, o["bar"])),
    "contact ground": lambda s, o: mbd.impulse(s.compile(), contacts=floor(o.ground, s["bar"])),
    "gap": lambda s, o: floor(s.ground, o["bar"]).gap(s.compile()),
    "gap rate": lambda s, o: floor(o.ground, s["bar"]).gap_rate(s.compile()),
    "simulate impacts": lambda s, o: simulate_with(s, 0.1, h=1e-2, contacts=[floor(s.ground, o["bar"])]),
    "close": lambda s, o: mbd.impulse(s.compile(), close=SJ("latch", s.ground, o["bar"], point=(1.5, 0, 0))),
    "close on the ground": lambda s, o: mbd.impulse(s.compile(), close=SJ("latch", o.ground, s["bar"], point=(1.5, 0, 0))),
    "close a driver": lambda s, o: mbd.impulse(s.compile(), close=RotationDriver("motor", o["pin"], 0.0)),
    "joint": lambda s, o: added(s, SJ("ball", o["crank"], s["bar"], point=ZERO)),
    "joint on the ground": lambda s, o: added(s, SJ("ball", o.ground, s["bar"], point=ZERO)),
    "primitive": lambda s, o: added(s, mbd.CD((1, 0, 0), o["crank"], ZERO, s["bar"], ZERO)),
    "driver": lambda s, o: added(s, RotationDriver("drive 2", o["pin"], 0.0)),
    "spring": lambda s, o: added(s, mbd.TSDA("spring", s.ground, o["bar"], point_i=(0, 0, 2), point_j=ZERO, k=1.0, l0=1.0)),
    "rotational spring": lambda s, o: added(s, mbd.RSDA("spring", o["knee"], k=1.0, theta0=0.0)),
    "point force": lambda s, o: added(s, mbd.PointForce("push", o["bar"], force=(0, 0, 1.0))),
    "torque": lambda s, o: added(s, mbd.Torque("turner", o["bar"], torque=(0, 0, 1.0))),
    "state force": lambda s, o: added(
        s, mbd.StateForce("law", [s["bar"], o["crank"]], force=lambda t, r, p, v, w: np.zeros((2, 6)))
    ),
}


def added(system, part):
    system.add(part)
    return system.compile()


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_part_of_another_system_is_refused_though_its_name_fits(place):
    """The sentence says that it is another system's; the part of the same name in the right system is accepted."""
    system, other = swing(), swing()
    with pytest.raises((mbd.UsageError, mbd.ModelError), match=r"another system|is not in system 'swing'"):
        place(system, other)


def test_parts_of_the_system_itself_are_accepted_by_models_made_of_it():
    """By a second compilation, and by the model of an assembly; a copy of a model brings copies of its parts along."""
    system = swing(driven=False)
    again = mbd.assemble(system.compile(), hold=[system["pin"], mbd.FixedCoordinates(system["bar"], "y")]).model
    assert mbd.impulse(again, applied=blow(system)).energy_after > 0.0
    assert floor(system.ground, system["bar"]).gap(again) == 0.0
    twin = copy.deepcopy(again)
    bar, ground = twin.bodies[2], twin.bodies[0]
    assert mbd.impulse(twin, applied=mbd.PointImpulse("blow", bar, impulse=(0, 0, 1.0))).energy_after > 0.0
    assert floor(ground, bar).gap(twin) == 0.0
    assert mbd.assemble(twin, hold=[twin.joints["pin"].part, bar]).held == ("'pin'", "'bar'")
    with pytest.raises(mbd.ModelError, match=r"one of another system. Use what .* or model.bodies\[2\]"):
        mbd.impulse(twin, applied=blow(system))


@pytest.mark.parametrize(
    ("bodies", "error", "text"),
    [
        (lambda b: [b, b], mbd.ModelError, "StateForce 'law': body 'bar' occurs 2 times"),
        (lambda b: [], mbd.ModelError, "StateForce 'law': it acts on no body"),
        (lambda b: ["bar"], mbd.UsageError, "StateForce 'law' needs bodies, got 'bar'"),
        (lambda b: "bar", mbd.UsageError, "StateForce 'law' needs bodies, got 'bar'"),
        (lambda b: b, mbd.UsageError, "StateForce 'law' needs a list of bodies"),
        (lambda b: None, mbd.UsageError, "StateForce 'law' needs a list of bodies"),
    ],
)
def test_the_bodies_of_a_state_force(bodies, error, text):
    system = swing()
    with pytest.raises(error, match=text):
        added(system, mbd.StateForce("law", bodies(system["bar"]), force=lambda t, r, p, v, w: np.zeros((len(r), 6))))
