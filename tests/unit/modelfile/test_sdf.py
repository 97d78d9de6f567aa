"""SDF: frames and their poses, loops, axes, nested and included models, springs and limits, and what is refused or listed."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd

G = 9.8


def read(tmp_path, inside, *, version="1.9", world=False, name="model.sdf", **how):
    body = f"<world name='w'>{inside}</world>" if world else f"<model name='m'>{inside}</model>"
    path = tmp_path / name
    path.write_text(f"<?xml version='1.0'?><sdf version='{version}'>{body}</sdf>")
    return mbd.read_sdf(path, **how)


def link(name, pose="0 0 0 0 0 0", com="0 0 0 0 0 0", mass=1.0, more="", to=""):
    inertia = "<inertia><ixx>0.01</ixx><iyy>0.02</iyy><izz>0.02</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia>"
    to = f" relative_to='{to}'" if to else ""
    return f"<link name='{name}'><pose{to}>{pose}</pose><inertial><pose>{com}</pose><mass>{mass}</mass>{inertia}</inertial>{more}</link>"


def joint(name, kind, parent, child, axis="0 0 1", pose="", inside="", more=""):
    pose = f"<pose>{pose}</pose>" if pose else ""
    axis = f"<axis><xyz>{axis}</xyz>{inside}</axis>" if axis else ""
    return f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>{pose}{axis}{more}</joint>"


def test_a_pendulum_by_its_closed_form(tmp_path):
    """The link turned about x, its mass off its frame; the axis is in the frame of the joint, which is that of the child."""
    text = link("bar", "0 0 1 1.5707963267948966 0 0", "0.4 0 0 0 0 0.3", 2.0)
    system = read(tmp_path, text + joint("pin", "revolute", "world", "bar", "0 0 1"))
    found = mbd.accelerations(system.compile())
    J = 0.02 + 2.0 * 0.4**2
    assert np.abs(found.omega_bar_dot[1]).max() == pytest.approx(2.0 * G * 0.4 / J, rel=1e-12)
    np.testing.assert_allclose(system["bar"].r, (0.4, 0, 1.0), atol=1e-15)
    assert system.import_report.degrees_of_freedom == 1


A, B, C, D = (np.array(x) for x in ((0.0, 0.0), (0.05, 0.2), (0.45, 0.35), (0.6, 0.0)))


def four_bar():
    def pose(p, q):
        return f"{p[0]!r} {p[1]!r} 0 0 0 {np.arctan2(*(q - p)[::-1])!r}".replace("np.float64(", "").replace(")", "")

    links = [link("crank", pose(A, B)), link("coupler", pose(B, C)), link("rocker", pose(D, C))]
    length = float(np.linalg.norm(C - D))
    joints = [
        joint("a", "revolute", "world", "crank"),
        joint("b", "revolute", "crank", "coupler"),
        joint("c", "revolute", "coupler", "rocker", pose=f"{length!r} 0 0 0 0 0"),
        joint("d", "revolute", "world", "rocker"),
    ]
    return "".join((*links, *joints))


def test_a_closed_loop_is_closed_as_it_is_written(tmp_path):
    system = read(tmp_path, four_bar(), gravity=(0, 0, 0))
    model = system.compile()
    assert np.abs(mbd.evaluate(model).Phi).max() < 1e-14
    assert system.import_report.degrees_of_freedom == 1
    start = model.state()
    speeds = mbd.simulate(mbd.load_model(system.save(tmp_path / "x.json")), 0.01, h=1e-3)
    assert speeds.success
    assert start.r.shape == (4, 3)


def test_poses_in_other_frames_degrees_and_quaternions(tmp_path):
    frame = "<frame name='f' attached_to='a'><pose degrees='true'>0 1 0 0 0 90</pose></frame>"
    quat = "<link name='c'><pose relative_to='f' rotation_format='quat_xyzw'>1 0 0 0 0 0.6 0.8</pose></link>"
    text = link("a", "1 0 0 0 0 0") + frame + link("b", "2 0 0 0 0 0", to="f") + quat
    system = read(tmp_path, text + joint("j", "revolute", "a", "b", "1 0 0", inside="<dynamics><damping>0.3</damping></dynamics>"))
    np.testing.assert_allclose(system["b"].r, (1, 3, 0), atol=1e-15)
    np.testing.assert_allclose(system["b"].A, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(system["c"].r, (1, 2, 0), atol=1e-15)
    assert system["c"].mass == 1.0
    np.testing.assert_allclose(system["j"].frame_i.A @ (0, 0, 1), (0, 1, 0), atol=1e-15)
    assert "j damping" in system


PARENT = "<use_parent_model_frame>1</use_parent_model_frame>"


@pytest.mark.parametrize(
    ("version", "inside", "axis"),
    [("1.9", "", (0, 1, 0)), ("1.4", "", (1, 0, 0)), ("1.6", PARENT, (1, 0, 0))],
)
def test_the_axis_is_in_the_frame_of_its_version(version, inside, axis, tmp_path):
    text = link("a") + link("b", "0 0 1 0 0 1.5707963267948966") + joint("j", "prismatic", "a", "b", "1 0 0", inside=inside)
    system = read(tmp_path, text, version=version)
    np.testing.assert_allclose(system["j"].frame_i.A @ (0, 0, 1), axis, atol=1e-15)
    own = "</child><axis><xyz expressed_in='a'>0 1 0</xyz></axis>"
    other = link("a") + link("b", "0 0 1 0 0 1") + joint("j", "prismatic", "a", "b", "").replace("</child>", own)
    np.testing.assert_allclose(read(tmp_path, other)["j"].frame_i.A @ (0, 0, 1), (0, 1, 0), atol=1e-15)


def test_fixed_joints_static_models_worlds_and_included_models(tmp_path):
    (tmp_path / "leg").mkdir()
    (tmp_path / "leg" / "model.sdf").write_text(
        f"<sdf version='1.7'><model name='leg'>{link('foot', '0 0 -1 0 0 0')}</model></sdf>"
    )
    table = f"<model name='table'><static>true</static>{link('top')}</model>"
    robot = link("hip") + link("plate", "1 0 0 0 0 0", mass=3.0) + joint("weld", "fixed", "hip", "plate", "")
    robot += "<include><uri>model://leg</uri><name>left</name><pose>0 2 0 0 0 0</pose></include>"
    robot += joint("knee", "revolute", "hip", "left::foot", "0 1 0")
    text = f"<gravity>0 0 -1.6</gravity>{table}<model name='robot'>{robot}</model>"
    system = read(tmp_path, text, world=True)
    assert [body.name for body in system.bodies[1:]] == ["robot::hip", "robot::left::foot"]
    np.testing.assert_allclose(system["robot::hip"].r, (0.75, 0, 0))
    np.testing.assert_allclose(system["robot::left::foot"].r, (0, 2, -1))
    assert system.gravity[2] == -1.6
    assert system.import_report.body_of["table::top"] == "ground"
    unmerged = read(tmp_path, text, world=True, merge_fixed=False)
    assert len(unmerged.bodies) == 4
    escape = "<include><uri>../../../etc/passwd</uri></include>"
    with pytest.raises(mbd.ModelFileError, match="<include>"):
        read(tmp_path, link("a") + escape)


def test_springs_limits_mimics_and_kinds_of_joints(tmp_path):
    spring = "<limit><lower>-0.5</lower><upper>0.7</upper><effort>20</effort></limit>"
    spring += "<dynamics><spring_stiffness>4</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>"
    text = "".join(link(name, f"0 {k} 0 0 0 0") for k, name in enumerate("abcdef"))
    text += joint("turn", "revolute", "world", "a", inside=spring)
    text += joint("follow", "continuous", "world", "b", inside="<mimic joint='turn'><multiplier>2</multiplier></mimic>")
    text += joint("ball", "ball", "world", "c", "")
    text += joint("cross", "universal", "world", "d", "1 0 0", more="<axis2><xyz>0 1 0</xyz></axis2>")
    text += joint("screw", "screw", "world", "e", more="<screw_thread_pitch>0.01</screw_thread_pitch>")
    weightless = link("f", "0 9 0 0 0 0").replace("</link>", "<gravity>0</gravity></link>").replace("'f'", "'g'")
    system = read(tmp_path, text + weightless + joint("slide", "prismatic", "world", "f"))
    kinds = {joint.name: type(joint).__name__ for joint in system.joints}
    assert kinds["ball"] == "Spherical" or kinds["ball"] == "SJ"
    assert {"cross", "screw", "screw thread", "follow mimic", "slide"} <= kinds.keys()
    assert system["turn spring"].k == 4.0
    assert "turn limit" in system
    found = mbd.accelerations(system.compile())
    names = [body.name for body in system.bodies]
    assert np.abs(found.v_dot[names.index("g")]).max() < 1e-12
    assert found.omega_bar_dot[names.index("b"), 2] == pytest.approx(2 * found.omega_bar_dot[names.index("a"), 2])
    e = names.index("e")
    assert found.v_dot[e, 2] == pytest.approx(0.01 / (2 * np.pi) * found.omega_bar_dot[e, 2])


def test_plugins_and_sensors_are_listed(tmp_path):
    plugin = "<plugin name='drive' filename='libdrive.so'><speed>3</speed></plugin><sensor name='s' type='imu'/>"
    report = str(read(tmp_path, link("a", more="<collision name='c'/>" + plugin) + plugin).import_report)
    assert "ignored: the plugin 'drive' (2)" in report
    assert "<sensor> of a link" in report


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (joint("j", "revolute", "world", "b") + link("a"), "no frame 'b'"),
        (link("a") + link("a"), "there twice"),
        (link("a", to="ghost"), "no frame 'ghost'"),
        (link("a", to="b") + link("b", to="a"), "stands on itself"),
        (link("a") + joint("j", "gearbox", "world", "a"), "its type is 'gearbox'"),
        (link("a") + joint("j", "revolute", "world", "a", "0 0 0"), "its axis is"),
        (link("a") + joint("j", "revolute", "world", "a", ""), "no <axis>"),
        (link("a", "1 2 3"), "not 6 finite numbers"),
        (link("a", mass=-1.0), "its mass is -1"),
        (link("a") + joint("j", "universal", "world", "a"), "<axis2>"),
        (link("a") + joint("j", "revolute", "a", "a"), "links of one body"),
        ("", "no link"),
    ],
)
def test_what_is_wrong_is_told(text, what, tmp_path):
    with pytest.raises(mbd.ModelFileError, match=what):
        read(tmp_path, text)
