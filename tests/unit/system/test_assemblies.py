"""Systems within systems: each copy moves as the system alone does, a mirror image as the image of it; parts are taken out by name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd import Body, System, gallery
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from joints import CJ, RJ, TJ, UJ, Coupling, RotationDriver, Screw, TranslationDriver
from tests.support.coupling_samples import sample
from tests.support.samples import geometry, make_joint

G = np.array([0.0, 0.0, -9.81])
PLACE = np.array([1.0, -2.0, 3.0])
TURN = from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.7)
R = rotation_matrix(TURN)
IMAGES = {None: np.ones(3), "xz": np.array([1.0, -1.0, 1.0]), "yz": np.array([-1.0, 1.0, 1.0])}
MIRRORS = {"left/": None, "right/": "xz", "back/": "yz"}
SAME = 1e-9
"""Relative difference of accelerations: rounding, by the condition of the mechanism."""
MOVED = 1e-12
"""Difference of positions [m] after a second at a tolerance of 1e-11 a step, relative to the distance."""


def whole_of(part):
    """The system with a copy, a copy in a mirror, and one in another mirror, at another place; what was told of them."""
    whole = System("whole", gravity=G)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        copies = [whole.add(part, prefix=prefix, at=(PLACE, TURN), mirror=mirror) for prefix, mirror in MIRRORS.items()]
    return whole, copies, [str(each.message) for each in told]


def assert_copies_accelerate_as_the_part(part):
    part.gravity = G
    whole, _, _ = whole_of(part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone, model = part.compile(), whole.compile()
    rng = np.random.default_rng(7)
    rows = mbd.evaluate(alone, alone.state())
    u, J = rng.normal(size=6 * alone.nb), rows.Phi_q.toarray()
    u -= np.linalg.lstsq(J, J @ u - rows.nu, rcond=None)[0]
    u = np.vstack([np.zeros((1, 6)), u.reshape(-1, 6)])
    state, big = alone.state().replace(v=u[:, :3], omega_bar=u[:, 3:]), model.state()
    v, omega_bar = big.v.copy(), big.omega_bar.copy()
    number = {name: k for k, name in enumerate(model.body_names)}
    for prefix, mirror in MIRRORS.items():
        M = IMAGES[mirror]
        for k, name in enumerate(alone.body_names[1:], 1):
            v[number[prefix + name]] = R @ (M * u[k, :3])
            omega_bar[number[prefix + name]] = M.prod() * M * u[k, 3:]
    one, all_of_it = mbd.accelerations(alone, state), mbd.accelerations(model, big.replace(v=v, omega_bar=omega_bar))
    size = max(np.abs(one.v_dot).max(), np.abs(one.omega_bar_dot).max())
    for prefix, mirror in MIRRORS.items():
        M = IMAGES[mirror]
        for k, name in enumerate(alone.body_names[1:], 1):
            own = number[prefix + name]
            assert np.abs(all_of_it.v_dot[own] - R @ (M * one.v_dot[k])).max() < SAME * size, (prefix, name)
            assert np.abs(all_of_it.omega_bar_dot[own] - M.prod() * M * one.omega_bar_dot[k]).max() < SAME * size, (prefix, name)


COUPLED = (*joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES, *joints.ROPES)


@pytest.mark.slow
@pytest.mark.parametrize("cls", [cls for cls in COUPLED if cls.__name__ != "CoordinateFunction"], ids=lambda cls: cls.__name__)
def test_copies_with_every_coupling_rolling_joint_guide_and_rope(cls):
    assert_copies_accelerate_as_the_part(sample(cls))


@pytest.mark.slow
@pytest.mark.parametrize("cls", [cls for cls in joints.CATALOGUE if cls is not TranslationDriver], ids=lambda cls: cls.__name__)
def test_copies_with_every_joint_of_the_catalogue(cls):
    rng = np.random.default_rng(3)
    J = np.array([[0.1, 0.01, -0.02], [0.01, 0.2, 0.015], [-0.02, 0.015, 0.25]])
    part = System("part")
    i, j = (
        part.add(Body(name, 1.0 + k, J, r=rng.normal(size=3), p=from_axis_angle(rng.normal(size=3), 0.8)))
        for k, name in enumerate("ij")
    )
    joint, _ = make_joint(cls, "sample", i, j, geometry(rng))
    for each in (*joint.needs(), joint):
        part.add(each)
    assert_copies_accelerate_as_the_part(part)


def suspended():
    """Bodies with products of inertia, a screw, springs, loads of time, and a motor with its rotor."""
    part = System("part", gravity=G)
    J = np.array([[0.1, 0.01, -0.02], [0.01, 0.2, 0.015], [-0.02, 0.015, 0.25]])
    a = part.add(Body("a", 2.0, J, r=(0.3, 0.1, -0.2), p=from_axis_angle(np.array([0.6, 0.0, 0.8]), 0.4)))
    b = part.add(Body("b", 1.0, J / 2, r=(0.7, 0.2, -0.3)))
    w = part.add(Body("w", 0.5, (0.02, 0.02, 0.03), r=(0.9, 0.3, -0.3)))
    pin = part.add(RJ("pin", part.ground, a, point=(0, 0, 0), axis=(0.1, 1, 0.2)))
    part.add(UJ("uj", a, b, point=(0.5, 0.15, -0.25), axis_i=(0, 1, 0), axis_j=(0.1, 0, 1)))
    cj = part.add(CJ("cj", b, w, point=(0.9, 0.3, -0.3), axis=(1, 0.2, 0.1)))
    part.add(Screw("screw", cj, pitch=0.3))
    part.add(mbd.TSDA("spring", part.ground, b, point_i=(0.5, 0.5, 0.5), point_j=(0.7, 0.25, -0.3), k=50.0, c=1.0, l0=0.4))
    part.add(mbd.PointForce("f", a, point=(0.3, 0.2, -0.2), force=(1, 2, 3)))
    part.add(mbd.Torque("t", b, torque=lambda t: (np.sin(t), 0.2, 0.1 * t)))
    part.add(mbd.JointSpring("js", pin, k=3.0, free=0.3))
    part.add(mbd.Motor("m", pin, torque=lambda t: 0.5 * np.cos(t), ratio=2.0, rotor_inertia=0.01))
    return part


@pytest.mark.slow
def test_every_copy_moves_as_the_part_alone():
    t = np.linspace(0.0, 1.0, 6)
    how = {"t_eval": t, "rtol": 1e-11, "atol": 1e-12}
    alone = mbd.simulate(suspended(), 1.0, **how)
    whole, copies, told = whole_of(suspended())
    result = mbd.simulate(whole, 1.0, **how)
    for prefix, mirror in MIRRORS.items():
        for name in "abw":
            wanted = PLACE + alone[name].r @ (R * IMAGES[mirror]).T
            assert np.abs(result[prefix + name].r - wanted).max() < MOVED * np.abs(wanted).max()
        assert np.abs(result.joint(f"{prefix}pin").angle - alone.joint("pin").angle).max() < MOVED
    assert [copy["screw"].pitch for copy in copies] == [0.3, -0.3, -0.3]
    assert all("hand" in text for text in told)
    assert len(told) == 2
    assert copies[1].notes


def test_copies_of_copies_have_both_prefixes_and_are_independent():
    leg = System("leg")
    body = leg.add(Body("shin", 1.0, (0.1, 0.1, 0.1), r=(0, 0, -0.5)))
    leg.add(RJ("knee", leg.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    pair = System("pair")
    for side, y in (("left/", 0.2), ("right/", -0.2)):
        pair.add(leg, prefix=side, at=(0, y, 0))
    robot = System("robot", gravity=(0, 0, -9.81))
    front, rear = (robot.add(pair, prefix=name, at=((x, 0, 0), (1, 0, 0, 0))) for name, x in (("front/", 1.0), ("rear/", -1.0)))
    assert [body.name for body in robot.bodies[1:]] == ["front/left/shin", "front/right/shin", "rear/left/shin", "rear/right/shin"]
    assert front["left/shin"].r.tolist() == [1.0, 0.2, -0.5]
    assert rear["right/knee"].i is robot.ground
    assert mbd.mobility(robot).degrees_of_freedom == 4


def test_a_part_is_joined_to_the_whole_by_its_new_parts():
    whole = System("whole", gravity=(0, 0, -9.81))
    leg = System("leg")
    leg.add(Body("shin", 1.0, (0.1, 0.1, 0.1), r=(0, 0, -0.5)))
    trunk = whole.add(Body("trunk", 5.0, (1, 1, 1)))
    whole.add(RJ("hold", whole.ground, trunk, point=(0, 0, 0), axis=(0, 1, 0)))
    left = whole.add(leg, prefix="left/", at=(0, 0.3, -0.1))
    whole.add(RJ("hip", trunk, left["shin"], point=(0, 0.3, -0.1), axis=(0, 1, 0)))
    assert mbd.simulate(whole, 0.1, h=1e-2).success


def test_parts_are_removed_unless_others_need_them():
    part = suspended()
    with pytest.raises(mbd.UsageError, match="'pin' needs 'a'"):
        part.remove(part["a"])
    with pytest.raises(mbd.UsageError, match="'m' needs 'pin'"):
        part.remove(part["pin"])
    part.remove(part["m"])
    assert [body.name for body in part.bodies] == ["ground", "a", "b", "w"]  # the rotor went with its motor
    part.remove([part["screw"], part["cj"], part["w"]])
    assert "w" not in part
    part.compile()
    with pytest.raises(mbd.UsageError, match="is not in system"):
        part.remove(Body("other", 1.0, (1, 1, 1)))
    whole, copies, _ = whole_of(suspended())
    before = len(whole.bodies)
    whole.remove(copies[0])
    assert len(whole.bodies) == before - 4
    assert not any(joint.name.startswith("left/") for joint in whole.joints)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "another prefix="),
        ({"prefix": 3}, "give a text"),
        ({"prefix": "b/", "mirror": "x"}, "give a plane"),
        ({"prefix": "b/", "at": (1, 2)}, "give .r, p."),
        ({"prefix": "b/", "at": ((0, 0, 0), (1, 1, 1, 1))}, "give .r, p."),
        ({"prefix": "b/", "at": ((0, 0, np.nan), (1, 0, 0, 0))}, "give .r, p."),
    ],
)
def test_arguments_that_are_none_are_refused(how, words):
    whole = System("whole")
    part = System("part")
    part.add(Body("a", 1.0, (1, 1, 1)))
    whole.add(Body("a", 1.0, (1, 1, 1)))
    with pytest.raises(mbd.UsageError, match=words):
        whole.add(part, **how)
    assert len(whole.bodies) == 2


def test_what_has_no_copy_or_no_image_is_refused_by_name():
    whole = System("whole", gravity=G)
    for at, mirror, load, words in (
        ((0, 0, 1), None, lambda a: mbd.StateForce("law", [a], force=lambda t, r, p, v, w: np.zeros((1, 6))), "'law'"),
        (None, "xz", lambda a: mbd.PointForce("push", a, force=lambda t, r, p, v, w: np.zeros(3)), "'push'"),
    ):
        part = System("part", gravity=G)
        part.add(load(part.add(Body("a", 1.0, (1, 1, 1)))))
        with pytest.raises(mbd.HaugmbdError, match=words):
            whole.add(part, prefix="p/", at=at, mirror=mirror)
    part = System("part", gravity=(0, 0, 1.0))
    with pytest.raises(mbd.UsageError, match="gravity"):
        whole.add(part, prefix="p/")
    with pytest.raises(mbd.UsageError, match="itself"):
        whole.add(whole, prefix="p/")
    with pytest.raises(mbd.UsageError, match="prefix, at and mirror are of systems"):
        whole.add(Body("b", 1.0, (1, 1, 1)), prefix="p/")
    for make in (
        lambda cj: TranslationDriver("drive", cj, 0.0),
        lambda cj: mbd.JointSpring("spring", cj.coordinate("displacement"), k=1.0, free=0.1),
    ):
        part = System("part", gravity=G)
        cj = part.add(CJ("cj", part.ground, part.add(Body("a", 1.0, (1, 1, 1))), point=(0, 0, 0), axis=(0, 0, 1)))
        part.add(make(cj))
        with pytest.raises(mbd.HaugmbdError, match="displacement"):
            whole.add(part, prefix="p/", mirror="xz")
    assert len(whole.bodies) == 1


@pytest.mark.slow
@pytest.mark.parametrize("mirror", [None, "xz"])
def test_the_mechanisms_of_the_gallery_are_copied_or_refused_by_name(mirror):
    """All of them: what is refused says a name of a part; what is copied has the image of its accelerations at the start."""
    copied, refused = 0, []
    for build in gallery.GALLERY[::3]:
        name, part = build.__name__, build()
        part.gravity = G
        whole = System("whole", gravity=G)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                whole.add(part, prefix="p/", at=(PLACE, TURN), mirror=mirror)
            except mbd.HaugmbdError as error:
                refused.append((str(error), [repr(each) for each, _ in part._parts()]))
                continue
            one, other = mbd.accelerations(part.compile()), mbd.accelerations(whole.compile())
        M = IMAGES[mirror]
        size = max(1.0, np.abs(one.v_dot).max())
        assert np.abs(other.v_dot[1:] - one.v_dot[1:] @ (R * M).T).max() < 1e-7 * size, name
        copied += 1
    assert copied > 5
    assert all(any(name in text for name in names) for text, names in refused)


def test_drivers_and_couplings_keep_their_senses():
    part = System("part", gravity=G)
    a, b = (part.add(Body(name, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for name, x in (("a", 0.0), ("b", 1.0)))
    turn = part.add(RJ("turn", part.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    slide = part.add(TJ("slide", part.ground, b, point=(1, 0, 0), axis=(0.3, 1, 0)))
    part.add(RotationDriver("drive", turn, mbd.Expression("0.3 * t")))
    part.add(Coupling("rack", {turn: -0.1, slide: 1.0}))
    whole, _, _ = whole_of(part)
    result = mbd.simulate(whole, 1.0, h=1e-2, project_velocity=True)
    for prefix, mirror in MIRRORS.items():
        assert result.joint(f"{prefix}turn").angle[-1] == pytest.approx(0.3, abs=1e-10)
        assert result.joint(f"{prefix}slide").displacement[-1] == pytest.approx(0.03, abs=1e-10)
        wanted = PLACE + R @ (IMAGES[mirror] * (np.array([1.0, 0, 0]) + 0.03 * np.array([0.3, 1, 0]) / np.hypot(0.3, 1)))
        assert result[f"{prefix}b"].r[-1] == pytest.approx(wanted, abs=1e-10)


def test_parts_that_are_off_at_the_start_are_off_in_the_copies():
    part = System("part", gravity=G)
    body = part.add(Body("a", 1.0, (0.1, 0.1, 0.1)))
    part.add(TJ("rail", part.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    part.add(RJ("lock", part.ground, body, point=(0, 0, 0), axis=(0, 0, 1)), active=False)
    part.add(mbd.PointForce("push", body, force=(0, 0, 100.0)), active=False)
    whole = System("whole", gravity=G)
    whole.add(part, prefix="p/")
    assert mbd.simulate(whole, 0.1, h=1e-2)["p/a"].v[-1, 2] == pytest.approx(-0.981, rel=1e-9)
