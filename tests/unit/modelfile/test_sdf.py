"""SDF: frames and their poses, loops, axes, nested and included models, springs and limits, and what is refused or listed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

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


def included(tmp_path, inside, *, name="arm", version="1.9", attributes=""):
    """Write a model that others include."""
    (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / name / "model.sdf").write_text(f"<sdf version='{version}'><model name='{name}' {attributes}>{inside}</model></sdf>")


def pose_of(system, link):
    """The global pose of a link, as point and rotation matrix."""
    frame = system.import_report.frames[link]
    return frame.point, frame.A


GRIP = "<frame name='grip' attached_to='hand'><pose>0 0.3 0 0 0 0.7</pose></frame>"
ARM = link("upper", "0.1 0.2 0.3 0.4 0.5 0.6") + link("hand", "1 0 0 0.2 0 0", to="upper") + GRIP
ARM += joint("elbow", "revolute", "upper", "hand", "0 1 0")


@pytest.mark.parametrize("how", ["attribute", "include", "merge"])
def test_a_model_is_placed_by_one_of_its_frames(how, tmp_path):
    """The pose is that of the placement frame, whoever names it."""
    place = "<pose>1 2 3 0.3 -0.2 0.9</pose>"
    if how == "attribute":
        path = tmp_path / "model.sdf"
        path.write_text(f"<sdf version='1.9'><model name='m' placement_frame='grip'>{place}{ARM}</model></sdf>")
        system, prefix = mbd.read_sdf(path), ""
    else:
        included(tmp_path, ARM)
        merge = " merge='true'" if how == "merge" else ""
        include = f"<include{merge}><uri>model://arm</uri>{place}<placement_frame>grip</placement_frame></include>"
        system, prefix = read(tmp_path, link("base") + include), "" if merge else "arm::"
    r, A = pose_of(system, f"{prefix}hand")
    np.testing.assert_allclose(r + A @ (0.0, 0.3, 0.0), (1, 2, 3), atol=1e-14)
    about_z = Rotation.from_euler("xyz", (0, 0, 0.7)).as_matrix()
    np.testing.assert_allclose(A @ about_z, Rotation.from_euler("xyz", (0.3, -0.2, 0.9)).as_matrix(), atol=1e-14)


def test_a_merged_model_is_part_of_the_one_that_includes_it(tmp_path):
    """Its links have their plain names, its poses stand where its own model frame would, and its axes are its own."""
    slide = "<xyz>0 0 1</xyz><use_parent_model_frame>1</use_parent_model_frame>"
    inside = ARM.replace("<xyz>0 1 0</xyz>", slide) + "<frame name='here'><pose relative_to='__model__'>0 0 1 0 0 0</pose></frame>"
    included(tmp_path, inside + link("plain") + joint("weld", "fixed", "__model__", "plain", ""), version="1.6")
    place = "<uri>model://arm</uri><pose>1 2 3 0.3 -0.2 0.9</pose>"
    joints = joint("shoulder", "ball", "base", "upper", "") + joint("wrist", "ball", "here", "tool", "")
    parts = link("base") + link("tool", to="here")
    nested = joints.replace(">upper", ">arm::upper").replace(">here", ">arm::here")
    apart = read(tmp_path, parts.replace("'here'", "'arm::here'") + f"<include>{place}</include>" + nested, name="apart.sdf")
    merged = read(tmp_path, parts + f"<include merge='true'>{place}</include>" + joints, name="merged.sdf")
    for link_ in ("upper", "hand", "plain"):
        for one, two in zip(pose_of(merged, link_), pose_of(apart, f"arm::{link_}"), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-15)
    np.testing.assert_allclose(pose_of(merged, "tool")[0], pose_of(apart, "tool")[0], atol=1e-15)
    found = [mbd.accelerations(system.compile()).v_dot for system in (merged, apart)]
    assert merged.import_report.body_of["plain"] == "upper"
    order = [[body.name.removeprefix("arm::") for body in system.bodies] for system in (merged, apart)]
    np.testing.assert_allclose(found[0], found[1][[order[1].index(name) for name in order[0]]], atol=1e-12)


def test_frames_of_joints_and_models_are_attached_to_the_child_and_to_the_canonical_link(tmp_path):
    """Where a pose stands relative to is not what it moves with."""
    moved = "<joint name='j' type='revolute'><parent>a</parent><child>b</child>"
    moved += "<pose relative_to='a'>1 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint>"
    at_joint = "<frame name='f' attached_to='j'><pose relative_to='a'>0 1 0 0 0 0</pose></frame>"
    text = link("a") + link("b", "1 0 0 0 0 0") + link("c", "0 1 0 0 0 0") + moved + at_joint + joint("k", "ball", "f", "c", "")
    system = read(tmp_path, text)
    ends = {joint_.name: (joint_.i.name, joint_.j.name) for joint_ in system.joints}
    assert ends["k"] == ("b", "c")
    inner = "<model name='m' canonical_link='b'>" + link("a") + link("b") + joint("j", "revolute", "a", "b") + "</model>"
    system = read(
        tmp_path, inner + joint("k", "ball", "world", "m", "") + joint("l", "ball", "world", "m::__model__", "", "1 0 0 0 0 0")
    )
    ends = {joint_.name: joint_.j.name for joint_ in system.joints}
    assert ends["k"] == ends["l"] == "m::b"
    with pytest.raises(mbd.ModelFileError, match="canonical_link is 'ghost'"):
        read(tmp_path, inner.replace("canonical_link='b'", "canonical_link='ghost'"))


def test_an_include_stands_in_a_frame_and_keeps_its_own_version(tmp_path):
    """Axes before version 1.5 are in the frame of their model, whatever the version of the file that includes it."""
    included(
        tmp_path, link("base") + link("bar", "1 0 0 0.9 0 0") + joint("pin", "revolute", "base", "bar", "0 0 1"), version="1.4"
    )
    frame = "<frame name='table'><pose>5 6 7 0 0 1.5707963267948966</pose></frame>"
    include = "<include><uri>model://arm</uri><pose relative_to='table'>1 0 0 0 0 0</pose></include>"
    system = read(tmp_path, frame + link("root") + include)
    np.testing.assert_allclose(pose_of(system, "arm::base")[0], (5, 7, 7), atol=1e-14)
    pin = next(joint_ for joint_ in system.joints if joint_.name == "arm::pin")
    model = system.compile()
    turned = mbd.impulse(model, applied=[mbd.AngularImpulse("turn", pin.j, impulse=(0, 0, 1.0))])
    relative = system[pin.j.name].A @ turned.omega_bar[3] - system[pin.i.name].A @ turned.omega_bar[2]
    np.testing.assert_allclose(relative[:2], 0.0, atol=1e-12)
    assert abs(relative[2]) > 1.0


def test_a_world_with_frames_and_one_model(tmp_path):
    """The model's parts keep their scope beside the frames of the world, and a joint of the world finds them."""
    frames = "<frame name='f'><pose>0 0 1 0 0 0</pose></frame>"
    model = "<model name='m'><pose relative_to='f'>0 1 0 0 0 0</pose>" + link("f") + "</model>"
    system = read(tmp_path, frames + model + joint("pin", "revolute", "f", "m::f", "1 0 0", "0 -1 0 0 0 0"), world=True)
    np.testing.assert_allclose(pose_of(system, "m::f")[0], (0, 1, 1), atol=1e-15)
    assert system.import_report.degrees_of_freedom == 1


@pytest.mark.parametrize("none", ["-1.79769e+308 1.79769e+308", "-1e+16 1e16", "-inf inf", "-1e999 1e999"])
def test_limits_that_are_none(none, tmp_path):
    lower, upper = none.split()
    limit = f"<limit><lower>{lower}</lower><upper>{upper}</upper></limit>"
    system = read(tmp_path, link("a") + joint("j", "revolute", "world", "a", inside=limit))
    assert not [load for load in system.loads if isinstance(load, mbd.JointLimit)]


def test_comments_with_two_hyphens_are_comments(tmp_path):
    """XML forbids them, and many worlds have them: command lines with options."""
    note = "<!-- gz sim --levels world.sdf ---><!---->"
    assert read(tmp_path, f"{note}{link('a')}{note}").bodies[1].name == "a"
    with pytest.raises(mbd.ModelFileError, match="not XML"):
        read(tmp_path, f"<!-- -- {link('a')}")


@pytest.mark.parametrize("what", ["light", "actor"])
def test_an_included_light_is_no_model(tmp_path, what):
    """Beside a model it is left out with a line of the report; a file without any of these is a fault."""
    (tmp_path / "sun").mkdir()
    shown = tmp_path / "sun" / "model.sdf"
    shown.write_text(f"<sdf version='1.6'><{what} name='sun'/></sdf>")
    include = "<include><uri>model://sun</uri></include>"
    system = read(tmp_path, link("a") + include)
    assert [body.name for body in system.bodies] == ["ground", "a"]
    assert f"model://sun', which has no model: {what}" in str(system.import_report)
    shown.write_text("<sdf version='1.6'/>")
    with pytest.raises(mbd.ModelFileError, match="has 0 models"):
        read(tmp_path, link("a") + include)


def test_what_is_included_from_elsewhere(tmp_path):
    """A light and a plane have no moving part; what is on a server is not fetched; parameters that change a model are refused."""
    usual = "".join(f"<include><uri>{uri}</uri></include>" for uri in ("model://sun", "https://x.org/a/models/Ground Plane"))
    system = read(tmp_path, usual + f"<model name='m'>{link('a')}</model>", world=True)
    assert "model://sun" in str(system.import_report)
    with pytest.raises(mbd.ModelFileError, match="nothing is downloaded"):
        read(tmp_path, link("a") + "<include><uri>https://x.org/a/models/Robot</uri></include>")
    included(tmp_path, ARM)
    params = "<include><uri>model://arm</uri><experimental:params/></include>"
    with pytest.raises(mbd.ModelFileError, match="experimental:params"):
        read(tmp_path, link("a") + params)
    (tmp_path / "models" / "leg").mkdir(parents=True)
    (tmp_path / "models" / "leg" / "leg_2.sdf").write_text(f"<sdf version='1.9'><model name='leg'>{link('foot')}</model></sdf>")
    (tmp_path / "models" / "leg" / "model.config").write_text(
        "<model><name>leg</name><sdf version='1.5'>old.sdf</sdf><sdf version='1.10'>leg_2.sdf</sdf></model>"
    )
    system = read(tmp_path, link("a") + "<include><uri>model://leg</uri></include>")
    assert "leg::foot" in [body.name for body in system.bodies]


def test_an_inertia_of_collision_shapes(tmp_path):
    """A box of water and a ball of iron; with a mass, in proportion to it; of a mesh it is refused."""
    shapes = "<collision name='b'><geometry><box><size>0.2 0.3 0.4</size></box></geometry></collision>"
    shapes += "<collision name='s'><pose>0 0 1 0 0 0</pose><density>7800</density><geometry><sphere><radius>0.1</radius></sphere>"
    shapes += "</geometry></collision>"
    own, iron = 24.0, 7800 * 4 / 3 * np.pi * 1e-3
    body = read(tmp_path, f"<link name='a'><inertial auto='true'/>{shapes}</link>").bodies[1]
    assert body.mass == pytest.approx(own + iron, rel=1e-14)
    h = iron / (own + iron)
    Jxx = own * (0.25 / 12 + h**2) + iron * (0.4 * 0.01 + (1 - h) ** 2)
    assert body.J_bar[0, 0] == pytest.approx(Jxx, rel=1e-13)
    np.testing.assert_allclose(body.r, (0, 0, h))
    scaled = read(tmp_path, f"<link name='a'><inertial auto='true'><mass>2</mass></inertial>{shapes}</link>").bodies[1]
    assert scaled.J_bar[0, 0] == pytest.approx(2 * Jxx / (own + iron), rel=1e-13)
    mesh = "<collision name='m'><geometry><mesh><uri>m.stl</uri></mesh></geometry></collision>"
    with pytest.raises(mbd.ModelFileError, match="no known volume"):
        read(tmp_path, f"<link name='a'><inertial auto='true'/>{mesh}</link>")


def test_joints_of_a_model_that_is_static_are_told(tmp_path):
    """What is fixed to the ground has no joint."""
    inside = link("a") + link("b") + joint("j", "revolute", "a", "b")
    table = f"<model name='table'><static>1</static>{inside}</model>"
    system = read(tmp_path, table + f"<model name='m'>{link('c')}</model>", world=True)
    assert not system.joints
    assert "joints between links that are fixed to the ground" in str(system.import_report)
