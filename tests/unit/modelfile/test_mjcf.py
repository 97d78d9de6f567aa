"""MJCF: accelerations of trees against MuJoCo's own; loops against the exact KKT of its M, J and forces; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.math import euler_parameters
from tests.support import mjcf
from tests.support.seeds import seeds

mujoco = pytest.importorskip("mujoco")

SAME = 1e-12
"""Relative to the largest acceleration: two recursions of well-conditioned trees; seen 2e-14."""
EXACT = 1e-10
"""Relative: the KKT system of MuJoCo's M, J and forces by dense LU; seen 1e-13."""
BIAS = 1e-6
"""Relative: of J' q' by central differences of J with steps of 1e-6."""
CLOSED = 1e-12
"""[m] What equalities are closed to."""


def read(tmp_path, text, **how):
    path = tmp_path / "model.xml"
    path.write_text(text)
    return mbd.read_mjcf(path, **how)


def engine(text, qvel=None, control=None, key=None):
    """MuJoCo's own model and data at its pose, with smooth accelerations."""
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    if key is not None:
        mujoco.mj_resetDataKeyframe(m, d, key)
    if qvel is not None:
        d.qvel[:] = qvel
    for name, u in (control or {}).items():
        d.ctrl[mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_ACTUATOR, name)] = u
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_forward(m, d)
    return m, d


def compared(system, m, d, qacc, tol):
    """Compare accelerations of all bodies of a system with those of MuJoCo at given joint accelerations."""
    d.qacc[:] = qacc
    mujoco.mj_rnePostConstraint(m, d)
    start = system.compile().state()
    v, w = start.v.copy(), start.omega_bar.copy()
    model = system.compile()
    found = mbd.accelerations(model, start.replace(v=v, omega_bar=w))
    scale = max(9.81, np.abs(found.v_dot).max(), np.abs(found.omega_bar_dot).max())
    for k, body in enumerate(system.bodies[1:], start=1):
        number = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, body.name)
        if number < 0:
            assert body.name.endswith((" rotor", " link", " armature"))
            continue
        a = np.zeros(6)
        mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_XBODY, number, a, 0)
        arm, omega = body.r - d.xpos[number], body.A @ body.omega_bar
        exact = a[3:] + m.opt.gravity + np.cross(a[:3], arm) + np.cross(omega, np.cross(omega, arm))
        np.testing.assert_allclose(body.A @ found.omega_bar_dot[k], a[:3], rtol=0, atol=tol * scale)
        np.testing.assert_allclose(found.v_dot[k], exact, rtol=0, atol=tol * scale)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8))
def test_trees_accelerate_as_mujoco_says(seed, tmp_path):
    """Random trees of all joints, moving, with springs, dampers, armature, and actuators at a control."""
    text, control = mjcf.random_tree(seed)
    m, d = engine(text, control=control, key=0)
    system = read(tmp_path, text, key="pose", control=control)
    compared(system, m, d, d.qacc, SAME)
    rotors = [body for body in system.bodies if body.name.endswith((" rotor", " armature"))]
    assert len(system.bodies) - len(rotors) == len({int(k) for k in m.body_weldid})
    inner = {int(m.dof_jntid[k]) for k in np.flatnonzero(m.dof_armature)}
    at_world = {k for k in inner if m.body_weldid[m.body_parentid[m.jnt_bodyid[k]]] == 0 and m.jnt_type[k] in (1, 3)}
    assert len(rotors) == len(inner - at_world)


def test_a_pendulum_by_its_closed_form(tmp_path):
    """(J + m l^2 + a) q'' = m g l cos q - k q - c q' + 2 u, from the horizontal."""
    text = mjcf.model(
        '<body name="bar"><joint name="pin" axis="0 1 0" damping="0.3" stiffness="4" armature="0.05"/>'
        '<inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.2 0.3"/></body>',
        actuator='<motor name="drive" joint="pin" gear="2"/>',
        keyframe='<key name="k" qpos="0.4" qvel="1.5"/>',
    )
    system = read(tmp_path, text, key="k", control={"drive": 0.7})
    found = mbd.accelerations(system.compile())
    exact = (2 * 9.81 * 0.5 * np.cos(0.4) - 4 * 0.4 - 0.3 * 1.5 + 2 * 0.7) / (0.2 + 0.5 + 0.05)
    assert found.omega_bar_dot[1][1] == pytest.approx(exact, rel=1e-12)
    assert system.import_report.q == {"pin": 0.4}


JOINTS = {
    "hinge+slide": ('<joint name="a" axis="0 0 1" pos="0.1 0 0"/><joint name="b" type="slide" axis="0 0 1"/>', "CJ", 2),
    "slide+hinge": ('<joint name="b" type="slide" axis="0 0 1"/><joint name="a" axis="0 0 -1" pos="0.1 0 0"/>', "CJ", 2),
    "planar": ('<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint axis="0 0 1"/>', "Planar", 3),
    "universal": ('<joint axis="1 0 0" pos="0.1 0.1 0"/><joint axis="0 1 0" pos="0.1 0.1 0"/>', "UJ", 2),
    "skew universal": ('<joint axis="1 0 0" pos="0.1 0.1 0"/><joint axis="1 1 0" pos="0.1 0.1 0"/>', "Equations", 2),
    "three hinges": ('<joint axis="1 0 0"/><joint axis="0 1 0"/><joint axis="0 0 1"/>', "SJ", 3),
    "two slides": ('<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0.3 1 0"/>', "Equations", 2),
    "three slides": (
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>',
        "Equations",
        3,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", JOINTS)
def test_several_joints_of_one_body_are_one_joint(case, tmp_path):
    inside, kind, freedom = JOINTS[case]
    rng = np.random.default_rng(4)
    numbers = mjcf.numbers(rng.uniform(-0.5, 0.5, freedom + 1))
    text = mjcf.model(
        '<body name="p"><joint axis="0 1 0.2"/><inertial pos="0.2 0 0.1" mass="1" diaginertia="0.1 0.2 0.2"/>'
        f'<body name="b" pos="0.3 0.1 0" euler="10 20 30">{inside}<inertial pos="0 0.2 0.3" mass="2" diaginertia="0.3 0.2 0.4"/>'
        "</body></body>",
        keyframe=f'<key name="k" qpos="{numbers}" qvel="{numbers}"/>',
    )
    m, d = engine(text, key=0)
    system = read(tmp_path, text, key="k")
    assert type(system.joints[1]).__name__ == kind
    assert system.import_report.degrees_of_freedom == freedom + 1
    compared(system, m, d, d.qacc, SAME)


@pytest.mark.parametrize(
    "option", ['<flag constraint="disable"/>', '<flag equality="disable" limit="disable"/>', '<flag actuation="disable"/>', ""]
)
def test_what_is_disabled_is_not_read(option, tmp_path):
    """All constraints together, and actuators of a group, were read as if they were not."""
    solid = '<inertial pos="0.5 0.1 0" mass="2" diaginertia="0.1 0.2 0.3"/>'
    bars = [
        f'<body name="{x}" pos="0 {k} 0"><joint name="{x}" axis="0 1 0" range="-0.1 9"/>{solid}</body>' for k, x in enumerate("ab")
    ]
    groups = "" if option else ' actuatorgroupdisable="3"'
    text = (
        f'<mujoco><compiler angle="radian"/><option{groups}>{option}</option><worldbody>{"".join(bars)}</worldbody>'
        '<actuator><motor name="m" joint="a" gear="3" group="3"/></actuator>'
        '<equality><joint joint1="a" joint2="b" polycoef="0 2 0 0 0"/></equality></mujoco>'
    )
    control = {"m": 0.7}
    system = read(tmp_path, text, control=control, stop_stiffness=10.0)
    kept = not ("constraint" in option or "equality" in option)
    assert any(type(joint).__name__ == "Coupling" for joint in system.joints) is kept
    assert any(isinstance(load, mbd.JointLimit) for load in system.loads) is kept
    if not kept:
        m, d = engine(text, control=control)
        compared(system, m, d, d.qacc, SAME)
    pushes = [load for load in system.loads if isinstance(load, mbd.RSDA)]
    assert bool(pushes) is (bool(option) and "actuation" not in option)


def test_a_slide_moves_as_far_as_it_likes(tmp_path):
    """m x'' = -k (x - 0.5) - c x' + f: the element along it was a spring of 10 m between two points, wrong beyond -10 m."""
    text = mjcf.model(
        '<body name="car"><joint name="rail" type="slide" axis="-1 0 0" damping="0.3" stiffness="4" springref="0.5"/>'
        '<inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.2 0.3"/></body>',
        actuator='<motor name="drive" joint="rail" gear="2"/>',
    )
    system = read(tmp_path, text, control={"drive": 0.7})
    model = system.compile()
    state = model.state()
    for x in (25.0, 10.0, -10.0, -25.0):
        moved = state.replace(r=state.r + [[0, 0, 0], [-x, 0, 0]], v=np.array([[0, 0, 0], [-1.5, 0, 0]]))
        exact = (-4 * (x - 0.5) - 0.3 * 1.5 + 2 * 0.7) / 2
        np.testing.assert_allclose(mbd.accelerations(model, moved).v_dot[1], (-exact, 0, 0), rtol=EXACT, atol=EXACT)


def test_springs_and_actuators_of_one_of_several_joints(tmp_path):
    """Of a universal joint, and of the angle of a planar one, with armature."""
    spring = 'stiffness="{}" damping="{}" springref="20" armature="0.05"'
    solid = '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.2 0.4"/>'
    text = mjcf.model(
        f'<body name="a"><joint name="u" axis="1 0 0" {spring.format(3, 0.5)}/><joint name="v" axis="0 1 0" {spring.format(2, 0)}/>{solid}'
        '<body name="b" pos="0.5 0 0"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>'
        f'<joint name="w" axis="0 0 -1" {spring.format(1, 0.3)}/>{solid}</body></body>',
        actuator='<motor name="m" joint="v" gear="3"/><position name="s" joint="w" kp="4" kv="0.2"/>',
        keyframe='<key name="k" qpos="0.3 -0.4 0.1 0.2 0.5" qvel="1 -2 0.5 0.3 0.7"/>',
    )
    control = {"m": 0.7, "s": 0.2}
    m, d = engine(text, control=control, key=0)
    system = read(tmp_path, text, key="k", control=control)
    assert {type(load).__name__ for load in system.loads} == {"JointSpring", "JointForce", "RSDA"}
    compared(system, m, d, d.qacc, SAME)


def loop_text(equality, gap=0.0, key=""):
    """A four-bar of two branches, or of three parts; the equality closes it."""
    bar = '<inertial pos="{} 0 0" mass="1" diaginertia="0.01 0.05 0.05"/>'
    left = f'<body name="crank" euler="0 0 60"><joint axis="0 0 1"/>{bar.format(0.1)}'
    left += f'<body name="coupler" pos="0.2 0 0" euler="0 0 -60"><joint axis="0 0 1"/>{bar.format(0.25)}'
    left += '<site name="tip" pos="0.5 0 0"/></body></body>'
    right = f'<body name="rocker" pos="{0.5 + gap} 0 0" euler="0 0 60"><joint axis="0 0 1"/>{bar.format(0.1)}'
    right += '<site name="end" pos="0.2 0 0"/></body>'
    return mjcf.model(left + right, equality=equality, keyframe=key, gravity="0 -9.81 0.5")


CONNECT = '<connect name="pin" body1="coupler" body2="rocker" anchor="0.5 0 0"/>'
SITES = '<connect name="pin" site1="tip" site2="end"/>'
WELD = '<weld name="pin" body1="coupler" body2="rocker" anchor="0.05 0.1 0"/>'


FOLLOWERS = {
    "hinges": '<joint name="e" joint1="b" joint2="a" polycoef="0.2 -1.5"/>',
    "hinge and slide": '<joint name="e" joint1="c" joint2="a" polycoef="0 0.3"/>',
    "a chain, backwards": '<joint name="e" joint1="c" joint2="b" polycoef="0 0.3"/><joint joint1="b" joint2="a" polycoef="0.1 2"/>',
    "held": '<joint name="e" joint1="b" polycoef="0.4"/>',
    "of a cylindrical joint": '<joint name="e" joint1="d" joint2="a" polycoef="0 0.7"/>',
}


def exact_accelerations(text, key=0):
    """M, J and forces of MuJoCo; J is constant for equalities of joints."""
    m, d = engine(text, key=key)
    m.opt.disableflags = 0
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    mujoco.mj_forward(m, d)
    J = np.array(d.efc_J).reshape(-1, m.nv)[: d.ne]
    M = np.zeros((m.nv, m.nv))
    try:
        mujoco.mj_fullM(m, d, M)
    except TypeError:
        mujoco.mj_fullM(m, M, d.qM)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    return m, d, J, np.linalg.solve(K, np.concatenate([d.qfrc_smooth, np.zeros(len(J))]))[: m.nv]


@pytest.mark.slow
@pytest.mark.parametrize("case", FOLLOWERS)
def test_equalities_of_joints_are_the_exact_kkt_system(case, tmp_path):
    """Hinges and slides that follow others, with armature on the followers; the pose of the file is put right, and said."""
    solid = '<inertial pos="0.1 0.2 0.1" mass="{}" diaginertia="0.1 0.2 0.2"/>'
    tree = (
        f'<body name="p"><joint name="a" axis="0 1 0.2" ref="10"/>{solid.format(1)}'
        f'<body name="q" pos="0.4 0 0"><joint name="b" axis="0 0 1" armature="0.07" damping="0.2"/>{solid.format(2)}'
        f'<body name="r" pos="0 0.3 0"><joint name="c" type="slide" axis="1 0 1" armature="0.3"/>{solid.format(1)}</body></body></body>'
        '<body name="s" pos="0 0 1"><joint name="d" axis="0 0 1"/><joint name="f" type="slide" axis="0 0 -1" armature="0.2" damping="1"'
        f' stiffness="3" springref="0.2"/>{solid.format(1)}</body>'
    )
    pose = mjcf.numbers((0.3, 0.4, 0.0, 0.1, 0.2))

    def text(rates):
        return mjcf.model(tree, equality=FOLLOWERS[case], keyframe=f'<key name="k" qpos="{pose}" qvel="{mjcf.numbers(rates)}"/>')

    system = read(tmp_path, text(np.zeros(5)), key="k")
    q = system.import_report.q
    pose = mjcf.numbers([q[name] for name in "abcdf"])
    _, _, J, _ = exact_accelerations(text(np.zeros(5)))
    *_, right = np.linalg.svd(J)
    rates = np.array((0.7, -1.1, 0.4, 0.9, -0.3)) @ right[len(J) :].T @ right[len(J) :]
    m, d, J, qacc = exact_accelerations(text(rates))
    system = read(tmp_path, text(rates), key="k")
    assert system.import_report.substituted[0].startswith("joint ")
    assert not any("moved" in told for told in system.import_report.substituted)
    assert system.import_report.degrees_of_freedom == 5 - len(J)
    compared(system, m, d, qacc, EXACT)
    assert {joint.name for joint in system.joints} >= {"e", "b rotor gear", "c rotor gear", "f rotor gear"}


@pytest.mark.slow
@pytest.mark.parametrize("slide", [False, True])
def test_polynomials_of_joints_are_functions(slide, tmp_path):
    """y - y_0 = P(x - x_0):  J = (1, -P'),  J q'' = P'' x'^2, with MuJoCo's own M and forces; from poses where P is far from linear."""
    solid = '<inertial pos="0.1 0.2 0.1" mass="{}" diaginertia="0.1 0.2 0.2"/>'
    kind = 'type="slide"' if slide else ""
    tree = (
        f'<body name="p"><joint name="x" axis="0 1 0.2" ref="0"/>{solid.format(1)}<body name="q" pos="0.4 0 0">'
        f'<joint name="y" axis="0 0 1" {kind} armature="0.07" damping="0.2"/>{solid.format(2)}</body></body>'
    )
    P = np.polynomial.Polynomial((0.1, -0.4, 0.3, 0.5, -0.2))
    equality = f'<joint name="e" joint1="y" joint2="x" polycoef="{mjcf.numbers(P.coef)}"/>'
    x, rate = 0.6, 1.3
    state = {"qpos": (x, P(x)), "qvel": (rate, P.deriv()(x) * rate)}
    key = " ".join(f'{name}="{mjcf.numbers(values)}"' for name, values in state.items())
    text = mjcf.model(tree, equality=equality, keyframe=f'<key name="k" {key}/>')
    m, d = engine(text, key=0)
    M = np.zeros((2, 2))
    try:
        mujoco.mj_fullM(m, d, M)
    except TypeError:
        mujoco.mj_fullM(m, M, d.qM)
    J = np.array([[-P.deriv()(x), 1.0]])
    K = np.block([[M, J.T], [J, np.zeros((1, 1))]])
    qacc = np.linalg.solve(K, [*d.qfrc_smooth, P.deriv(2)(x) * rate**2])[:2]
    system = read(tmp_path, text, key="k")
    assert type(next(joint for joint in system.joints if joint.name == "e")).__name__ == "CoordinateFunction"
    assert system.import_report.degrees_of_freedom == 1
    compared(system, m, d, qacc, EXACT)
    moved = read(tmp_path, text, q={"x": -0.7}).import_report
    assert moved.q["y"] == pytest.approx(P(-0.7), abs=1e-12)


def test_followers_are_put_where_their_equalities_hold(tmp_path):
    """y - y_0 = a0 + a1 (x - x_0), with x_0 and y_0 of the file; chains that contradict are refused."""
    solid = '<inertial pos="0.1 0.2 0.1" mass="1" diaginertia="0.1 0.2 0.2"/>'
    tree = "".join(f'<body name="{x}b" pos="{k} 0 0"><joint name="{x}"/>{solid}</body>' for k, x in enumerate("xyz"))

    def system(equality, **how):
        return read(tmp_path, mjcf.model(tree, equality=equality), **how)

    one = system('<joint joint1="y" joint2="x" polycoef="0.2 -2"/><joint joint1="z" joint2="y" polycoef="0 3"/>', q={"x": 0.5})
    assert one.import_report.q == pytest.approx({"x": 0.5, "y": -0.8, "z": -2.4})
    assert one.import_report.substituted[0] == "joint 'y' was moved by -0.8 rad, where its equality holds"
    assert one.import_report.degrees_of_freedom == 1
    circle = '<joint joint1="y" joint2="x" polycoef="0 2"/><joint joint1="x" joint2="y" polycoef="{} 0.5"/>'
    assert system(circle.format(0)).import_report.degrees_of_freedom == 2
    with pytest.raises(mbd.ModelFileError, match="it does not hold at this pose.*contradict it"):
        system(circle.format(0.3))
    universal = (
        '<body name="u"><joint name="p" type="ball"/>' + solid + '<body name="v"><joint name="q" axis="1 0 0"/>'
        '<joint name="w" type="ball"/>' + solid + "</body></body>"
    )
    with pytest.raises(mbd.ModelFileError, match="are dependent at this pose(.|\n)*joint 'q' is one of several of its body"):
        read(tmp_path, mjcf.model(tree + universal, equality='<joint joint1="q" joint2="x"/>'))


@pytest.mark.slow
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("equality", [CONNECT, SITES, WELD])
def test_loops_are_the_exact_kkt_system_of_mujocos_own_matrices(equality, moving, tmp_path):
    """[M J^T; J 0] (q'', lam) = (forces, -J' q') with MuJoCo's M, J and forces; its own answer is soft."""
    text = loop_text(equality)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND) if hasattr(mujoco.mjtDisableBit, "mjDSBL_ISLAND") else 0

    def jacobian(qpos):
        d.qpos[:] = qpos
        mujoco.mj_forward(m, d)
        return np.array(d.efc_J).reshape(-1, m.nv)[: d.ne]

    q, J = d.qpos.copy(), jacobian(d.qpos.copy())
    rate = np.zeros(m.nv)
    if moving and equality != WELD:
        *_, rows = np.linalg.svd(J)
        rate = 2.0 * rows[-1]
    h = 1e-6
    bias = (jacobian(q + h * rate) - jacobian(q - h * rate)) @ rate / (2.0 * h)
    d.qvel[:] = rate
    jacobian(q)
    M = np.zeros((m.nv, m.nv))
    try:
        mujoco.mj_fullM(m, d, M)
    except TypeError:
        mujoco.mj_fullM(m, M, d.qM)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    qacc = np.linalg.lstsq(K, np.concatenate([d.qfrc_smooth, -bias]), rcond=None)[0][: m.nv]
    key = f'<key name="k" qvel="{" ".join(map(repr, rate.tolist()))}"/>'
    system = read(tmp_path, loop_text(equality, key=key), key="k")
    assert system.import_report.degrees_of_freedom == (0 if equality == WELD else 1)
    compared(system, m, d, qacc, BIAS if moving else EXACT)


def test_open_loops_are_closed(tmp_path):
    system = read(tmp_path, loop_text(SITES, gap=0.03))
    (loop,) = system.import_report.loops
    assert loop.distance == pytest.approx(0.03, rel=1e-6)
    assert system.import_report.closed
    assert np.abs(mbd.evaluate(system.compile()).Phi).max() <= CLOSED
    left = read(tmp_path, loop_text(SITES, gap=0.03), close=False)
    assert not left.import_report.closed


def test_names_frames_and_shapes(tmp_path):
    text = mjcf.model(
        '<geom type="box" size="1 1 0.1" rgba="1 0 0 1"/>'
        '<body name="a" pos="0 0 1"><freejoint/><geom type="cylinder" size="0.1 0.3" euler="90 0 0" mass="1"/>'
        '<body name="hat" pos="0.2 0 0" euler="0 0 90"><geom type="sphere" size="0.05" pos="0.1 0 0" mass="0.5"/>'
        '<geom size=".1 .2" pos="0 0 3" type="capsule"/></body></body>'
    )
    system = read(tmp_path, text)
    report = system.import_report
    assert report.body_of == {"a": "a", "hat": "a"}
    np.testing.assert_allclose(report.frames["hat"].point, (0.2, 0, 1), rtol=0, atol=1e-15)
    tube, ball, capsule = system["a"].shape
    assert (type(capsule), capsule.radius, capsule.length) == (mbd.Capsule, 0.1, 0.4)
    along = 0.5 * capsule.length * euler_parameters.rotation_matrix(capsule.p)[:, 2]
    ends = [system["a"].r + capsule.center + side * along for side in (-1.0, 1.0)]
    np.testing.assert_allclose(ends, [(0.2, 0, 3.8), (0.2, 0, 4.2)], rtol=0, atol=1e-14)
    np.testing.assert_allclose(system["a"].r + ball.center, (0.2, 0.1, 1), rtol=0, atol=1e-14)
    assert abs(euler_parameters.rotation_matrix(tube.p)[1, 2]) == pytest.approx(1.0)
    assert system.ground.shape[0].color == "#ff0000"
    assert "contacts of geoms (4)" in report.ignored
    assert report.degrees_of_freedom == 6


def test_mocap_bodies_stand_still(tmp_path):
    """No force moves them, nor what is welded to them: they are read as the ground, at their place, and the report says so."""
    bar = '<geom type="box" size=".5 .1 .1" pos=".5 0 0" mass="3"/>'
    hinge = f'<body name="bar" pos="0 0 1"><joint axis="0 1 0" armature="0.7"/>{bar}</body>'
    world = f'<body name="hand" mocap="true" pos="1 2 3">{bar}<body name="palm">{bar}{hinge}</body></body>'
    text = f"<mujoco><worldbody>{world}</worldbody></mujoco>"
    system = read(tmp_path, text)
    assert [body.name for body in system.bodies] == ["ground", "bar"]
    assert "motions of mocap bodies, which stand still (1)" in system.import_report.ignored
    assert system.import_report.frames["palm"].body is system.ground
    np.testing.assert_allclose([shape.center for shape in system.ground.shape], [(1.5, 2.0, 3.0)] * 2, rtol=EXACT)
    np.testing.assert_allclose(system["bar"].r, (1.5, 2.0, 4.0), rtol=EXACT)
    m, d = engine(text)
    compared(system, m, d, d.qacc, SAME)


def test_what_cannot_be_read_is_refused_by_name(tmp_path):
    body = '<inertial pos="0.2 0 0.1" mass="1" diaginertia="0.1 0.2 0.2"/>'
    text = mjcf.model(
        f'<body name="a" gravcomp="1"><joint name="j" axis="0 1 0" actuatorgravcomp="true"/>{body}<site name="s"/>'
        f'<body name="b"><joint name="k" axis="0 0 1"/>{body}<site name="t" pos="1 0 0"/></body>'
        f'<body name="c"><joint type="slide" name="l"/><joint type="ball" name="m"/>{body}</body>'
        f'<body name="d"><joint type="ball" name="n" damping="1" armature="0.1"/>{body}</body></body>',
        tendon='<spatial name="rope" stiffness="1" armature="1"><site site="s"/><site site="t"/></spatial>',
        equality='<weld name="off" body1="a" active="false"/>',
        actuator='<general name="m" joint="j" dyntype="integrator"/><position name="p" joint="k" kp="1" forcerange="-1 1"/>',
    )
    with pytest.raises(mbd.ModelFileError) as error:
        read(tmp_path, text)
    for what in ("tendon 'rope': a tendon with an armature", "joint 'j': gravity is compensated by its actuators"):
        assert what in str(error.value)
    text = text.replace(' gravcomp="1"', "").replace(' armature="1"', "")
    with pytest.raises(mbd.ModelFileError) as error:
        read(tmp_path, text, control={})
    for what in (
        "joint 'n': its armature 0.1 is that of a ball",
        "actuator 'm': it has an activation state",
        "actuator 'p': its force depends on the motion and is limited",
    ):
        assert what in str(error.value)


SOLID = '<inertial pos="0.1 0.2 -0.3" mass="1" diaginertia="0.1 0.2 0.2"/>'
PAIR = (
    f'<site name="s0" pos="0.3 0 0.1"/><site name="s1" pos="0.3 0.2 0.1"/><body name="a" euler="0 30 0"><joint name="q1" axis="0 1 0"/>'
    f'{SOLID}<site name="s2" pos="0.05 0 -0.3"/><body name="b" pos="0 0 -0.5"><joint name="q2" axis="0 1 0" pos="0.1 0 0"/>'
    f'<joint name="q3" type="slide" axis="1 0 0"/>{SOLID}<site name="s3" pos="0.1 0.1 0"/></body></body>'
)
FIXED = '<joint joint="q1" coef="0.5"/><joint joint="q2" coef="-0.3"/><joint joint="q3" coef="2"/>'
TENDONS = {
    "fixed": f'<fixed name="t" stiffness="20" damping="0.3" springlength="0.2">{FIXED}</fixed>',
    "fixed, at rest as modelled": f'<fixed name="t" stiffness="20">{FIXED}</fixed>',
    "fixed, slack": f'<fixed name="t" stiffness="20" damping="0.3" springlength="-9 9">{FIXED}</fixed>',
    "fixed, beyond its range": f'<fixed name="t" stiffness="20" springlength="-0.01 0.01">{FIXED}</fixed>',
    "fixed, a damper": f'<fixed name="t" damping="2">{FIXED}</fixed>',
    "spatial": '<spatial name="t" stiffness="40" damping="3" springlength="0.2"><site site="s1"/><site site="s2"/></spatial>',
    "spatial, of two bodies": '<spatial name="t" stiffness="40"><site site="s2"/><site site="s3"/></spatial>',
    "spatial, with parts that stand": (
        '<spatial name="t" stiffness="40" springlength="0.5"><site site="s0"/><site site="s1"/><site site="s2"/></spatial>'
    ),
    "spatial, of one body": '<spatial name="t" stiffness="40" springlength="0.5"><site site="s0"/><site site="s1"/></spatial>',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TENDONS)
def test_springs_and_dampers_of_tendons(name, tmp_path):
    text = mjcf.model(PAIR, tendon=TENDONS[name], keyframe='<key name="k" qpos="0.3 -0.2 0.1" qvel="1 -2 0.5"/>')
    m, d = engine(text, key=0)
    compared(read(tmp_path, text, key="k"), m, d, d.qacc, LINKS)


@pytest.mark.slow
def test_springs_and_dampers_of_balls_and_free_joints_are_saved(tmp_path):
    text = mjcf.model(
        f'<body name="f"><joint name="root" type="free" stiffness="3" damping="2" armature="0.2"/>{SOLID}'
        f'<body name="c" gravcomp="0.5"><joint name="ball" type="ball" stiffness="2" damping="1" pos="0 0 0.1"/>{SOLID}</body></body>',
        keyframe='<key name="k" qpos="0.1 0.2 0.3 1 0.2 0.3 0.1 1 0.4 0 0.2" qvel="1 2 3 4 5 6 7 8 9"/>',
    )
    m, d = engine(text, key=0)
    system = read(tmp_path, text, key="k")
    compared(system, m, d, d.qacc, SAME)
    system.save(tmp_path / "s.json")
    compared(mbd.load_model(tmp_path / "s.json"), m, d, d.qacc, SAME)


def test_equalities_between_bodies_that_stand_are_told(tmp_path):
    text = mjcf.model(
        f'<body name="a"/><body name="b" pos="1 0 0"/><body name="c"><joint/>{SOLID}</body>',
        equality='<weld name="w" body1="a" body2="b"/><connect name="p" body1="a" body2="b" anchor="0 0 0"/>',
    )
    system = read(tmp_path, text)
    assert len(system.joints) == 1
    told = [line for line in system.import_report.ignored if "both its sides are on 'ground'" in line]
    assert len(told) == 2


LINKS = 1e-11
"""Relative: links between the joints of a body have no mass, and change nothing; seen 1e-14."""


@pytest.mark.parametrize("seed", range(3))
def test_joints_of_one_body_with_springs_act_one_after_the_other(seed, tmp_path):
    """A thigh with three hinges, a foot with a hinge and a slide across it, and a tendon that only measures, as humanoids have."""
    rng = np.random.default_rng(seed)
    solid = '<inertial pos="0.1 0.2 -0.3" mass="1" diaginertia="0.1 0.2 0.2"/>'
    text = mjcf.model(
        f'<body name="pelvis" pos="0 0 1"><freejoint name="root"/>{solid}'
        '<body name="thigh" pos="0.2 0 0"><joint name="x" axis="1 0 0" damping="2" stiffness="7" armature="0.02" springref="20"/>'
        f'<joint name="z" axis="0 0 1" damping="1"/><joint name="y" axis="0 1 0" pos="0 0 0.02" stiffness="3"/>{solid}'
        '<body name="foot" pos="0 0 -0.5"><joint name="a" axis="0 1 0" range="-170 170"/>'
        f'<joint name="b" type="slide" axis="1 0 1"/>{solid}</body></body></body>',
        tendon='<fixed name="measured"><joint joint="y" coef="1"/><joint joint="a" coef="-1"/></fixed>',
        keyframe=f'<key name="k" qpos="0 0 1 1 0 0 0 {mjcf.numbers(rng.uniform(-0.7, 0.7, 5))}" '
        f'qvel="{mjcf.numbers(rng.normal(size=11))}"/>',
    )
    m, d = engine(text, key=0)
    system = read(tmp_path, text, key="k")
    compared(system, m, d, d.qacc, LINKS)
    report = system.import_report
    assert [body.name for body in system.bodies if body.name.endswith(" link")] == ["x link", "z link", "a link"]
    assert "body 'thigh': between its joints 'x' and 'z' and 'y' are 2 links without mass" in "\n".join(report.substituted)
    assert "tendons, which have no spring and no damper (1)" in report.ignored
    assert report.degrees_of_freedom == 11
    stops = read(tmp_path, text, key="k", stop_stiffness=100.0)
    assert any(isinstance(load, mbd.JointLimit) for load in stops.loads)


@pytest.mark.parametrize(
    "joints",
    [
        '<joint name="p" axis="0 1 0"/><joint name="q" axis="0 1 0" stiffness="2"/>',
        '<joint name="p" type="slide" axis="1 0 0"/><joint name="r" axis="1 0 0"/><joint name="q" type="slide" axis="1 0 0"/>',
        '<joint name="p" axis="1 0 0" damping="1"/><joint name="r" axis="0 1 0" ref="-90"/><joint name="q" axis="0 0 1"/>',
    ],
    ids=["one axis", "slides", "gimbal lock"],
)
def test_joints_of_one_body_that_move_links_alone_are_refused(joints, tmp_path):
    """MuJoCo's mass matrix is singular there, unless the joints have an armature."""
    solid = '<inertial pos="0.3 0.1 0" mass="1" diaginertia="0.1 0.2 0.2"/>'
    text = mjcf.model(
        f'<body name="a">{joints}{solid}</body>', keyframe='<key name="k" qpos="0 0 0"/>' if joints.count("<joint") == 3 else ""
    )
    how = {"key": "k"} if "keyframe" in text else {}
    for given in (text, text.replace("</body>", '<body><joint name="o" armature="0.1"/>' + solid + "</body></body>")):
        with pytest.raises(
            mbd.ModelFileError, match="read: body 'a': its joints 'p' and .*'q' are dependent at this pose.*armature"
        ):
            read(tmp_path, given.replace('qpos="0 0 0"', 'qpos="0 0 0 0"') if given != text else given, **how)
    text = text.replace('name="p"', 'name="p" armature="0.1"')
    m, d = engine(text, key=0 if how else None)
    system = read(tmp_path, text, **how)
    compared(system, m, d, d.qacc, LINKS)
    assert not system.import_report.warnings  # one body, and links: nothing is heavier than it should be


def test_an_equality_of_fixed_tendons_is_a_coupling_of_their_joints(tmp_path):
    """2 q1 + q2 - L10 = a0 + a1 (3 q3 - L20), against the KKT system of MuJoCo's M and forces; its own answer is soft."""
    solid = '<inertial pos="0.3 0.1 0" mass="1" diaginertia="0.1 0.2 0.2"/>'
    tree = (
        f'<body name="a"><joint name="p" axis="0 1 0"/>{solid}<body name="b" pos="0.5 0 0"><joint name="q" axis="0 1 1"/>{solid}'
        "</body></body>"
        f'<body name="c" pos="0 1 0"><joint name="r" type="slide" axis="1 0 1" damping="0.3"/>{solid}</body>'
    )
    tendons = (
        '<fixed name="s"><joint joint="p" coef="2"/><joint joint="q" coef="1"/></fixed>'
        '<fixed name="t"><joint joint="r" coef="3"/></fixed>'
    )
    equality = '<tendon name="e" tendon1="s" tendon2="t" polycoef="0.4 0.5"/>'
    key = '<key name="k" qpos="0.3 0.1 0.2" qvel="0.2 0.5 0.6"/>'  # 2 x 0.3 + 0.1 = 0.4 + 0.5 x 3 x 0.2, and its rate
    text = mjcf.model(tree, tendon=tendons, equality=equality, keyframe=key)
    m, d = engine(text, key=0)
    M, J = np.zeros((3, 3)), np.array([[2.0, 1.0, -1.5]])
    mujoco.mj_fullM(m, d, M)
    qacc = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((1, 1))]]), [*d.qfrc_smooth, 0.0])[:3]
    system = read(tmp_path, text, key="k")
    assert system.import_report.degrees_of_freedom == 2
    compared(system, m, d, qacc, EXACT)
    with pytest.raises(mbd.ModelFileError, match=r"equality 'e': its tendons are -0\.4 away .* Give q="):
        read(tmp_path, text)
    with pytest.raises(mbd.ModelFileError, match="its polynomial is .* must be linear"):
        read(tmp_path, text.replace("0.4 0.5", "0.4 0.5 1"), key="k")


def test_files_of_strangers_name_no_files_elsewhere_and_no_large_counts(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "secret.xml").write_text("<mujocoinclude/>")
    (tmp_path / "in" / "deep" / "part.xml").write_text('<mujoco><compiler meshdir="/etc"/></mujoco>')
    (tmp_path / "in" / "ring.xml").write_text('<mujoco><include file="model.xml"/></mujoco>')
    inside = tmp_path / "in"
    for text, what in (
        ('<include file="../secret.xml"/>', "'../secret.xml', outside of the folder"),
        ('<include file="/etc/passwd"/>', "'/etc/passwd', outside of the folder"),
        ('<include file="deep/part.xml"/><asset><mesh file="passwd.obj"/></asset>', "'/etc', outside of the folder"),
        ('<include file="ring.xml"/>', "model.xml is included twice, or includes itself"),
        ('<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>', "makes 1e+10 cells"),
        ('<asset><texture type="2d" builtin="flat" width="1000000" height="1000000"/></asset>', "makes 1e+12 cells"),
        ('<size memory="400G"/>', "asks for '400G' of memory"),
        ('<worldbody><replicate count="1000"><replicate count="1000"><body/></replicate></replicate></worldbody>', "makes 1e+06"),
        ('<worldbody><replicate count="-1e99"><body/></replicate></worldbody>', "makes -1e+99 repetitions"),
        ('<worldbody><composite type="grid" count="1000 1000 1"/></worldbody>', "makes 1e+06 repetitions"),
        ("<worldbody>" + "<body>" * 2000 + "</body>" * 2000 + "</worldbody>", "nested deeper than 1000"),
        ('<!DOCTYPE r [<!ENTITY a "b">]>', "it has a document type or entities"),
    ):
        model = text if text.startswith("<!") else ""
        model += f"<mujoco>{'' if model else text}</mujoco>"
        with pytest.raises(mbd.ModelFileError) as error:
            read(inside, model)
        assert what in str(error.value)
    solid = '<inertial pos="0.2 0 0.1" mass="1" diaginertia="0.1 0.2 0.2"/>'
    body = f'<body name="b"><joint name="j"/>{solid}</body>'
    (tmp_path / "common.xml").write_text(f"<mujocoinclude>{body}</mujocoinclude>")
    text = '<mujoco><worldbody><include file="../common.xml"/></worldbody></mujoco>'
    assert len(read(inside, text, folder=tmp_path).bodies) == 2
    (inside / "link.xml").symlink_to(tmp_path / "common.xml")
    with pytest.raises(mbd.ModelFileError, match=r"'link\.xml', outside of the folder"):
        read(inside, text.replace("../common", "link"))


def test_numbers_that_are_too_large(tmp_path):
    solid = '<inertial pos="{} 0 0" mass="{}" diaginertia="0.1 0.2 0.2"/>'
    for pos, mass, what in (("1e200", 1, "has the number 1e\\+200"), ("0.1", "1e90", "has the number 1e\\+90")):
        text = mjcf.model(f'<body name="b"><joint name="j"/>{solid.format(pos, mass)}</body>')
        with pytest.raises(mbd.ModelFileError, match=f"body 'b': its position, mass or inertia {what}"):
            read(tmp_path, text)


def test_bad_numbers_of_equalities_and_armature(tmp_path):
    solid = '<inertial pos="0.2 0 0.1" mass="1" diaginertia="0.1 0.2 0.2"/>'
    tree = f'<body name="b"><joint name="x"/>{solid}<body name="c"><joint name="y" armature="{{}}"/>{solid}</body></body>'
    for a, coefficients, what in (
        ("0", "1e300 1e300", "equality 'e': its polynomial has the numbers"),
        ("-1", "0 1", "joint 'y': its armature is -1"),
        ("1e80", "0 1", "joint 'y': its armature is 1e\\+80"),
    ):
        text = mjcf.model(tree.format(a), equality=f'<joint name="e" joint1="x" joint2="y" polycoef="{coefficients}"/>')
        with pytest.raises(mbd.ModelFileError, match=what):
            read(tmp_path, text)


def test_bad_files_and_names(tmp_path):
    with pytest.raises(mbd.ModelFileError, match="MuJoCo: "):
        read(tmp_path, "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(mbd.UsageError, match="there is no file"):
        mbd.read_mjcf(tmp_path / "none.xml")
    text = mjcf.random_tree(0)[0]
    for how, what in (
        ({"q": {"joint00": 1.0}}, "q: no joint 'joint00' turns or slides"),
        ({"q": {"j0": "x"}}, "must be a finite number"),
        ({"key": "pos"}, "did you mean 'pose'"),
        ({"control": {"x": 1.0}}, "there is no actuator 'x'"),
    ):
        with pytest.raises(mbd.UsageError, match=what):
            read(tmp_path, text, **how)


def test_the_command_line_knows_the_format(tmp_path, capsys):
    path = tmp_path / "loop.xml"
    path.write_text(loop_text(CONNECT))
    assert main.main(["convert", str(path), str(tmp_path / "out.json")]) == 0
    assert "3 bodies and 4 joints" in capsys.readouterr().out
    assert len(mbd.load_model(tmp_path / "out.json").joints) == 4


def test_a_scene_that_stands_says_what_to_do(tmp_path):
    system = read(tmp_path, mjcf.model('<body name="a"><geom size="1"/></body><geom type="plane" size="1 1 1"/>'))
    assert "freejoint" in str(system.import_report)
    with pytest.raises(mbd.ModelError, match="it has no body.*freejoint"):
        mbd.accelerations(system)
