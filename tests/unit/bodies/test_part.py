"""Joints, force elements and blocks are frozen: a value that is set later would be neither checked nor used."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import DP1, Joint
from joints import RJ, Gear, RollingDisc


def wheels():
    """A system, two wheels on pins, and their gear."""
    system = mbd.System("train", gravity=(0.0, 0.0, 0.0))
    pins = []
    for k in range(2):
        wheel = system.add(mbd.Body(f"wheel {k}", 1.0, (0.1, 0.1, 0.2), r=(k, 0, 0)))
        pins.append(system.add(RJ(f"pin {k}", system.ground, wheel, point=(k, 0, 0), axis=(0, 0, 1))))
    return system, pins, system.add(Gear("gear", *pins, ratio=-2.0))


def test_the_error_names_the_part_and_says_what_to_do():
    _, pins, gear = wheels()
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"ratio of Gear 'gear' cannot be set. Make a new one"):
        gear.ratio = 3.0
    with pytest.raises(dataclasses.FrozenInstanceError, match="q0 of RJ 'pin 0'"):
        pins[0].q0 = 0.3
    with pytest.raises(dataclasses.FrozenInstanceError, match="name of RJ"):
        del pins[0].name
    assert gear.ratio == -2.0


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda pin: mbd.RSDA("spring", pin, k=2.0), "joint", None),
        (lambda pin: mbd.JointLimit("stop", pin, lower=-1.0, upper=1.0, k=1e3), "law", None),
        (lambda pin: mbd.JointFriction("friction", pin, mbd.Coulomb(0.2, 0.1), radius=0.1), "joint", None),
        (lambda pin: mbd.Motor("motor", pin, torque=1.0), "ratio", 2.0),
        (lambda pin: mbd.LowPass("filter", "pin 0.rate", tau=0.1), "name", "other"),
        (lambda pin: mbd.Sampled("clock", 0.1, lambda t, x, signals: {"out": 1.0}), "period", 1e-9),
        (lambda pin: RollingDisc("disc", pin.j, center=(0, 0, 0), axis=(0, 1, 0), radius=0.5), "radius", 1.0),
    ],
)
def test_every_kind_of_part_is_frozen(make, name, value):
    part = make(wheels()[1][0])
    before = getattr(part, name)
    with pytest.raises(dataclasses.FrozenInstanceError, match=name):
        setattr(part, name, value)
    assert getattr(part, name) is before


@pytest.mark.slow
def test_numbers_of_force_elements_that_vary_can_be_set_and_are_checked():
    def swung(k):
        system, pins, _ = wheels()
        spring = system.add(mbd.RSDA("spring", pins[0], k=2.0, theta0=0.5))
        stop = system.add(mbd.JointLimit("stop", pins[0], lower=-1.0, upper=0.2, k=1e3))
        if k is not None:
            spring.k, stop.upper = k, 0.1
        return system, spring, stop

    system, spring, stop = swung(5.0)
    other, pins, _ = wheels()
    other.add(mbd.RSDA("spring", pins[0], k=5.0, theta0=0.5))
    other.add(mbd.JointLimit("stop", pins[0], lower=-1.0, upper=0.1, k=1e3))
    ends = [mbd.simulate(made, 0.5, h=1e-3).r[-1] for made in (system, other, swung(None)[0])]
    np.testing.assert_array_equal(ends[0], ends[1])
    assert mbd.accelerations(system).lam.shape == mbd.accelerations(other).lam.shape
    for value in ("abc", np.nan, (1.0, 2.0)):
        with pytest.raises(mbd.UsageError, match="k of RSDA 'spring' is set to"):
            spring.k = value
    assert spring.k == 5.0
    with pytest.raises(
        mbd.UsageError, match="upper of JointLimit 'stop' cannot be -2.0: lower is -1 and upper is -2. Give lower < upper"
    ):
        stop.upper = -2.0
    assert stop.upper == 0.1
    assert system.compile().nb == 2


def test_a_bushing_whose_stiffness_was_set_is_frozen_as_before():
    system, pins, _ = wheels()
    K = np.diag([1e4, 1e4, 1e4, 10.0, 10.0, 10.0])
    bushing = mbd.Bushing("mount", system.ground, pins[0].j, point=(0, 0, 0), K=K)
    with pytest.raises(mbd.UsageError, match="K of Bushing 'mount' cannot be"):
        bushing.K = -K
    bushing.K = 2.0 * K
    np.testing.assert_array_equal(bushing.K, 2.0 * K)
    assert bushing.faults() == ()
    with pytest.raises(dataclasses.FrozenInstanceError, match="frame_i of Bushing"):
        bushing.frame_i = None


def test_a_part_made_without_its_constructor_is_frozen_when_it_is_added():
    system = mbd.System("one")
    body = system.add(mbd.Body("link", 1.0, (1.0, 1.0, 1.0)))
    pin = RJ.from_vectors("pin", system.ground, (0, 0, 0), (1, 0, 0), (0, 1, 0), body, (0, 0, 0), (0, 0, 1))
    system.add(pin)
    with pytest.raises(dataclasses.FrozenInstanceError):
        pin.vectors = ()


def test_copies_are_frozen_as_well():
    _, _, gear = wheels()
    for other in (copy.copy(gear), copy.deepcopy(gear), pickle.loads(pickle.dumps(gear))):
        assert other.ratio == gear.ratio
        with pytest.raises(dataclasses.FrozenInstanceError):
            other.ratio = 1.0


def test_a_class_of_the_user_sets_attributes_until_its_own_constructor_ends():
    class Slot(Joint):
        def __init__(self, name, i, j, direction):
            super().__init__(name, mbd.Frame(i, (0, 0, 0)), mbd.Frame(j, (0, 0, 0)))
            self.direction = np.array(direction, dtype=float)
            self._calls = 0

        def primitives(self):
            self._calls += 1
            return (DP1(self.i, self.direction, self.j, (0, 1, 0)),)

    class NamedSlot(Slot):
        def __init__(self, i, j):
            super().__init__("slot", i, j, (1, 0, 0))
            self.comment = "mine"

    system = mbd.System("one")
    slot = system.add(NamedSlot(system.ground, system.add(mbd.Body("link", 1.0, (1.0, 1.0, 1.0)))))
    assert system.compile().nc == 1
    assert slot._calls > 0
    with pytest.raises(dataclasses.FrozenInstanceError, match="comment of NamedSlot 'slot'"):
        slot.comment = "other"
