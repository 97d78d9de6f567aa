"""Friction in joints that couplings move: refused by name where nothing stands for what the coupling presses on the bearing.

In a joint that a screw moves the thread rubs, see `tests/unit/forces/test_coupling_friction.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, COUPLINGS, RJ, TJ, Belt, Cam, CoordinateFunction, Coupling, Gear, RackPinion, Screw

EXACT = mbd.Coulomb(0.3)
LAWS = (EXACT, mbd.Coulomb(0.3, velocity=1e-2), mbd.BrownMcPhee(0.3, 0.2, 0.01), mbd.LuGre(0.3, 0.2, 0.01, 5.0))
SIZES = {RJ: {"radius": 0.05}, TJ: {}, CJ: {"radius": 0.05}}


def system_with(*kinds):
    """A system of bodies on joints of these kinds with the ground, 1 m from one another along x."""
    system = mbd.System("coupled", gravity=(0.0, 0.0, -9.81))
    made = []
    for k, (kind, axis) in enumerate(kinds):
        body = system.add(mbd.Body(f"body {k}", 1.0, (0.1, 0.1, 0.1), r=(float(k), 0.0, 0.0)))
        made.append(system.add(kind(f"joint {k}", system.ground, body, point=body.r, axis=axis)))
    return system, made


def profile(x):
    return 0.05 * np.sin(x)


COUPLED = {
    "Coupling of angles": (((RJ, "y"), (RJ, "y")), lambda a, b: Coupling("link", {a: 1.0, b: -2.0})),
    "Coupling of an angle and a displacement": (((RJ, "y"), (TJ, "x")), lambda a, b: Coupling("link", {a: 0.1, b: -1.0})),
    "Gear": (((RJ, "y"), (RJ, "y")), lambda a, b: Gear("link", a, b, ratio=-0.5)),
    "Belt": (((RJ, "y"), (RJ, "y")), lambda a, b: Belt("link", a, b, radii=(0.1, 0.2))),
    "RackPinion": (((RJ, "y"), (TJ, "x")), lambda a, b: RackPinion("link", a, b, radius=0.1)),
    "CoordinateFunction": (((RJ, "y"), (TJ, "x")), lambda a, b: CoordinateFunction("link", a, b, profile)),
    "Cam": (((RJ, "y"), (TJ, "z")), lambda a, b: Cam("link", a, b, profile)),
    "Screw": (((CJ, "z"),), lambda a: Screw("link", a, pitch=0.01)),
}
AXES = dict(zip("xyz", np.eye(3), strict=True))


def coupled(case):
    kinds, make = COUPLED[case]
    system, made = system_with(*((kind, AXES[axis]) for kind, axis in kinds))
    system.add(make(*made))
    return system, made


def test_every_coupling_is_tried():
    assert {type(coupled(case)[0].joints[-1]) for case in COUPLED} == set(COUPLINGS)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("case", [case for case in COUPLED if case != "Screw"])  # whose thread rubs
def test_friction_that_would_leave_out_the_coupling_is_refused(case, law):
    for k in range(len(COUPLED[case][0])):
        system, made = coupled(case)
        system.add(mbd.JointFriction("rub", made[k], law, **SIZES[type(made[k])]))
        with pytest.raises(mbd.ModelError) as refused:
            system.compile()
        text = str(refused.value)
        for part in ("'rub'", repr(made[k].name), "'link'", case.split()[0], "preload=", "Viscous"):
            assert part in text


@pytest.mark.parametrize("case", COUPLED)
def test_what_stands_for_the_coupling_is_taken(case):
    """Viscous friction needs no normal force, and a preload is one."""
    for law, more in ((mbd.Viscous(0.1), {}), (EXACT, {"preload": 20.0})):
        system, made = coupled(case)
        size = SIZES[type(made[0])] if law is EXACT or type(made[0]) is CJ else {}
        system.add(mbd.JointFriction("rub", made[0], law, **size, **more))
        assert system.compile().nc > 0


def epicyclic(*, on_arm, rub):
    """A wheel on the ground, or on the arm, and one on an arm that turns about the same axis on a link; and a body aside."""
    system = mbd.System("epicyclic", gravity=(0.0, 0.0, -9.81))
    names = ("link", "arm", "sun", "planet", "aside")
    link, arm, sun, planet, aside = (
        system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(0.2 * k, 0, 0))) for k, name in enumerate(names)
    )
    pins = {}
    for name, i, j, x in (
        ("foot", system.ground, link, -1.0),
        ("hub", link, arm, 0.0),
        ("pin of sun", arm if on_arm else system.ground, sun, 0.0),
        ("pin of planet", arm, planet, 1.0),
        ("pin aside", arm, aside, 2.0),
    ):
        pins[name] = system.add(RJ(name, i, j, point=(x, 0, 0), axis=AXES["y"]))
    system.add(Gear("mesh", pins["pin of sun"], pins["pin of planet"], ratio=-1.0))
    system.add(mbd.JointFriction("rub", pins[rub], EXACT, radius=0.05))
    return system


@pytest.mark.parametrize("rub", ["foot", "hub"])
def test_what_a_mesh_presses_goes_through_the_joints_between_wheels_without_a_common_body(rub):
    """On one carrier it stays within it; through joints on the way from one wheel to the other it goes, and friction there is refused."""
    with pytest.raises(mbd.ModelError, match=f"joint '{rub}' lies between the joints of Gear 'mesh'"):
        epicyclic(on_arm=False, rub=rub).compile()
    for on_arm, joint in ((True, rub), (False, "pin aside"), (True, "pin aside")):
        assert epicyclic(on_arm=on_arm, rub=joint).compile().nb > 0


def test_two_exact_frictions_of_one_thread_are_refused():
    """Of the cylindrical joint and of its screw: at rest they share the load in any proportion."""
    system, (slide,) = system_with((CJ, AXES["z"]))
    thread = system.add(Screw("thread", slide, pitch=0.01))
    for name, joint in (("rub", slide), ("other", thread)):
        system.add(mbd.JointFriction(name, joint, EXACT, radius=0.05))
    with pytest.raises(mbd.ModelError, match="joint 'thread' has the exact Coulomb friction"):
        system.compile()


def test_a_joint_that_is_driven_alone_keeps_its_friction():
    """A coupling of one coordinate is a motor: a torque between the bodies presses nothing."""
    system, (pin, _) = system_with((RJ, AXES["y"]), (RJ, AXES["y"]))
    system.add(Coupling("motor", {pin: 1.0}, f=lambda t: 0.5 * t * t))
    system.add(mbd.JointFriction("rub", pin, EXACT, radius=0.05))
    result = mbd.simulate(system, 0.01, h=5e-3)
    assert result.load("rub").normal_force[-1] == pytest.approx(9.81)


@pytest.mark.parametrize("law", LAWS[:3], ids=["exact", "smooth", "BrownMcPhee"])
@pytest.mark.parametrize("kind", [RJ, TJ, CJ])
def test_the_normal_force_contains_the_preload(kind, law):
    """Friction of sliding is the coefficient times the normal force of the load."""
    system = mbd.System("loaded", gravity=(0.0, 0.0, -9.81))
    motion = {"v": (1.0, 0, 0)} if kind is TJ else {"omega_bar": (20.0, 0, 0)}
    body = system.add(mbd.Body("body", 2.0, (0.1, 0.1, 0.1), **motion))
    joint = system.add(kind("joint", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", joint, law, preload=30.0, **SIZES[kind]))
    load = mbd.simulate(system, 0.01, h=5e-3).load("rub")
    np.testing.assert_allclose(load.normal_force, 30.0 + 2.0 * 9.81, rtol=1e-12)
    friction, arm = (load.force, 1.0) if kind is TJ else (load.torque, 0.05)
    coefficient = 0.2 if isinstance(law, mbd.BrownMcPhee) else 0.3
    np.testing.assert_allclose(np.abs(friction), coefficient * arm * load.normal_force, rtol=1e-3)
