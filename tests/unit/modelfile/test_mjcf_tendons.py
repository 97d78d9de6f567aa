"""Tendons of MJCF: accelerations of moving trees against MuJoCo's, over sites, pulleys, spheres and cylinders; lengths that are held."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.modelfile.mjcf.tendons import Tendon
from tests.support.seeds import seeds

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.slow

SAME = 1e-9
"""Relative to the largest acceleration, where arcs are short and tangents long; seen 1e-13."""


def tree(rng, tendon, more=""):
    """A free body with a chain of two on it, a geom on the first, and sites on all of them and on the world."""
    vector = lambda size=0.3: " ".join(map(str, rng.uniform(-size, size, 3)))  # noqa: E731
    inertial = '<inertial pos="0.03 0.02 -0.2" quat="0.9 0.1 0.3 -0.2" mass="1.3" diaginertia="0.03 0.028 0.01"/>'
    site = lambda name: f'<site name="{name}" pos="{vector()}"/>'  # noqa: E731
    geoms = '<geom name="ball" type="sphere" size="0.12" pos="0.05 0 0.1"/>' + (
        '<geom name="drum" type="cylinder" size="0.1 0.3" pos="-0.1 0.05 0" euler="30 50 10"/>'
    )
    inner = f'<body name="c" pos="0 0 -0.4"><joint name="q2" axis="1 0.3 0"/>{inertial}{site("s5")}</body>'
    inner = f'<body name="b" pos="0.1 0 -0.3"><joint name="q1" type="ball"/>{inertial}{site("s3")}{site("s4")}{geoms}{inner}</body>'
    body = f'<body name="a" pos="0 0 0.6"><freejoint/>{inertial}{site("s1")}{site("s2")}{inner}</body>'
    qpos = np.concatenate([rng.normal(size=3) * 0.2, rng.normal(size=4), rng.normal(size=4), rng.normal(size=1)])
    key = f'<keyframe><key name="k" qpos="{" ".join(map(str, qpos))}" qvel="{" ".join(map(str, rng.normal(size=10)))}"/></keyframe>'
    world = f'<worldbody><site name="s0" pos="0.3 0 0.9"/>{body}</worldbody>'
    return f'<mujoco><compiler inertiafromgeom="false"/>{world}<tendon>{tendon}</tendon>{more}{key}</mujoco>'


def agrees(text, tmp_path, **how):
    """Compare accelerations of the bodies of a file at its keyframe with MuJoCo's, without its soft constraints; return the system."""
    (tmp_path / "x.xml").write_text(text)
    system = mbd.read_mjcf(tmp_path / "x.xml", key="k", **how)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_forward(m, d)
    mujoco.mj_rnePostConstraint(m, d)
    found = mbd.accelerations(system.compile())
    want, got = [], []
    for k, body in enumerate(system.bodies[1:], start=1):
        six = np.zeros(6)
        mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_BODY, m.body(body.name).id, six, 0)
        want.append(six[:3])
        got.append(body.A @ found.omega_bar_dot[k])
    np.testing.assert_allclose(got, want, rtol=0, atol=SAME * max(9.81, np.abs(want).max()))
    return system


SITES = [f'<site site="s{k}"/>' for k in range(6)]
PATHS = {
    "sites": "".join(SITES),
    "pulley": f'{SITES[0]}{SITES[1]}<pulley divisor="2"/>{SITES[2]}{SITES[3]}{SITES[5]}<pulley divisor="3"/>{SITES[4]}{SITES[0]}',
    "sphere": f'{SITES[0]}<geom geom="ball"/>{SITES[5]}',
    "cylinder": f'{SITES[1]}<geom geom="drum"/>{SITES[5]}',
    "both": f'{SITES[0]}<geom geom="ball"/>{SITES[1]}<geom geom="drum"/>{SITES[5]}',
}


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("path", PATHS)
def test_springs_and_dampers_along_paths_are_those_of_mujoco(path, seed, tmp_path):
    rng = np.random.default_rng(seed)
    rest = "0.2" if seed % 2 else "0.1 0.8"
    spring = f'<spatial name="t" stiffness="40" damping="0.7" springlength="{rest}">{PATHS[path]}</spatial>'
    system = agrees(tree(rng, spring), tmp_path)
    (load,) = system.loads
    assert isinstance(load, Tendon)
    assert mbd.verify(load).ok
    again = mbd.load_model(system.save(tmp_path / "x.json"))
    np.testing.assert_array_equal(mbd.accelerations(again).v_dot, mbd.accelerations(system).v_dot)


def test_a_fixed_tendon_is_slack_in_its_range(tmp_path):
    fixed = '<fixed name="t" stiffness="20" damping="0.3" springlength="-0.1 0.2"><joint joint="q2" coef="0.5"/></fixed>'
    for seed in seeds(3):
        agrees(tree(np.random.default_rng(seed), fixed), tmp_path)


def test_limits_of_tendons_become_stops_where_a_stiffness_is_given(tmp_path):
    limited = f'<spatial name="t" limited="true" range="0.1 0.5">{PATHS["sites"]}</spatial>'
    spring = f'<spatial name="t" stiffness="300" springlength="0.1 0.5">{PATHS["sites"]}</spatial>'
    systems = []
    for tendon, how in ((limited, {"stop_stiffness": 300.0}), (spring, {})):
        (tmp_path / "x.xml").write_text(tree(np.random.default_rng(1), tendon))
        systems.append(mbd.read_mjcf(tmp_path / "x.xml", key="k", **how))
    one, two = (mbd.accelerations(system).v_dot for system in systems)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12 * np.abs(two).max())
    (tmp_path / "x.xml").write_text(tree(np.random.default_rng(1), limited))
    assert any("limits of tendons (1)" in text for text in mbd.read_mjcf(tmp_path / "x.xml").import_report.ignored)


@pytest.mark.parametrize("path", [SITES[0] + SITES[1], SITES[0] + SITES[1] + SITES[5]])
def test_a_length_that_an_equality_holds_is_a_rod_or_a_rope(path, tmp_path):
    """Against the KKT system of MuJoCo's M, J of the tendon and forces at rest: one row, the length."""
    held = '<equality><tendon tendon1="t"/></equality>'
    text = tree(np.random.default_rng(3), f'<spatial name="t">{path}</spatial>', held).split("<keyframe>")[0] + "</mujoco>"
    (tmp_path / "x.xml").write_text(text)
    system = mbd.read_mjcf(tmp_path / "x.xml")
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, M, d.qM) if hasattr(d, "qM") else mujoco.mj_fullM(m, d, M)
    J = np.zeros((1, m.nv))
    for row in range(1):
        columns = np.asarray(d.ten_J).reshape(m.ntendon, -1)[row]
        J[row, : len(columns)] = columns
    qacc = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((1, 1))]]), np.concatenate([d.qfrc_smooth, [0.0]]))[: m.nv]
    d.qacc[:] = qacc
    mujoco.mj_rnePostConstraint(m, d)
    found = mbd.accelerations(system.compile())
    for k, body in enumerate(system.bodies[1:], start=1):
        six = np.zeros(6)
        mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_BODY, m.body(body.name).id, six, 0)
        np.testing.assert_allclose(body.A @ found.omega_bar_dot[k], six[:3], rtol=0, atol=1e-9 * 40)


def test_a_side_site_is_refused_by_name(tmp_path):
    inner = f'<spatial name="t" stiffness="1">{SITES[1]}<geom geom="ball" sidesite="s9"/>{SITES[5]}</spatial>'
    text = tree(np.random.default_rng(1), inner).replace('<geom name="ball"', '<site name="s9" pos="0.05 0 0.1"/><geom name="ball"')
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(mbd.ModelFileError, match=r"tendon 't'.*'s9' chooses the way"):
        mbd.read_mjcf(tmp_path / "x.xml")


def test_a_medium_and_a_tendon_move_with_bodies_that_are_closed(tmp_path):
    """Their constructors read no pose: equalities that are open do not stop them."""
    spring = f'<spatial name="t" stiffness="4">{PATHS["sphere"]}</spatial>'
    text = tree(np.random.default_rng(2), spring, '<equality><connect body1="a" anchor="0.5 0 0"/></equality>')
    text = text.replace("<compiler", '<option density="1.2"/><compiler')
    (tmp_path / "x.xml").write_text(text)
    system = mbd.read_mjcf(tmp_path / "x.xml", key="k")
    assert system.import_report.closed
    assert len(system.loads) == 4


INERTIAL = '<inertial pos="0.03 0.02 -0.2" mass="1.3" diaginertia="0.03 0.028 0.01"/>'
SLIDES = [
    '<joint name="x" type="slide" axis="1 0.2 0"/>',
    '<joint name="y" type="slide" axis="0 1 0.3"/>',
    '<joint type="slide" axis="0 0 1"/>',
]
BALL = '<joint name="ball" type="ball" pos="0.1 0 0.05"/>'


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["ball last", "ball first", "damped ball", "spring on a slide"])
def test_slides_and_a_ball_on_one_body(kind, n, tmp_path):
    ball = BALL.replace("/>", ' damping="0.3" stiffness="2"/>') if kind == "damped ball" else BALL
    slides = [SLIDES[0].replace("/>", ' stiffness="5" damping="0.2"/>'), *SLIDES[1:]] if "slide" in kind else SLIDES
    joints = [*slides[:n], ball]
    joints = joints[::-1] if kind == "ball first" else joints
    rng = np.random.default_rng(n)
    q = np.concatenate(
        [rng.normal(size=4), rng.normal(size=n)] if kind == "ball first" else [rng.normal(size=n), rng.normal(size=4)]
    )
    key = f'<keyframe><key name="k" qpos="{" ".join(map(str, [0.4, *q]))}" qvel="{" ".join(map(str, rng.normal(size=n + 4)))}"/></keyframe>'
    inner = f'<body name="b" pos="0.2 0 -0.5">{"".join(joints)}{INERTIAL}</body>'
    text = f'<mujoco><worldbody><body name="a"><joint axis="0 1 0.2"/>{INERTIAL}{inner}</body></worldbody>{key}</mujoco>'
    (tmp_path / "x.xml").write_text(text)
    system = mbd.read_mjcf(tmp_path / "x.xml", key="k")
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    mujoco.mj_rnePostConstraint(m, d)
    found = mbd.accelerations(system.compile())
    for number, body in enumerate(system.bodies):
        if body.name in "ab":
            six = np.zeros(6)
            mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_BODY, m.body(body.name).id, six, 0)
            np.testing.assert_allclose(body.A @ found.omega_bar_dot[number], six[:3], rtol=0, atol=1e-8)


def test_a_spring_on_a_slide_behind_a_ball_is_refused(tmp_path):
    joints = BALL + SLIDES[0].replace("/>", ' stiffness="5"/>')
    (tmp_path / "x.xml").write_text(f'<mujoco><worldbody><body name="b">{joints}{INERTIAL}</body></worldbody></mujoco>')
    with pytest.raises(mbd.ModelFileError, match="a ball before slides"):
        mbd.read_mjcf(tmp_path / "x.xml")
