"""Documents of FreeCAD: small ones, made here, with joints of the Assembly workbench, in millimetres."""

from __future__ import annotations

import zipfile
from math import pi

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math import euler_parameters
from joints import RJ, SJ, TJ, Coupling, Distance, Fixed, RotationDriver

pytestmark = pytest.mark.slow
TYPES = "Fixed Revolute Cylindrical Slider Ball Distance Parallel Perpendicular Angle RackPinion Screw Gears Belt".split()


def placement(name, r=(0, 0, 0), p=(1, 0, 0, 0)):
    w, x, y, z = p
    inside = f'<PropertyPlacement Px="{r[0]}" Py="{r[1]}" Pz="{r[2]}" Q0="{x}" Q1="{y}" Q2="{z}" Q3="{w}"/>'
    return f'<Property name="{name}" type="App::PropertyPlacement">{inside}</Property>'


def number(name, x):
    return f'<Property name="{name}" type="App::PropertyFloat"><Float value="{x}"/></Property>'


def flag(name, x):
    return f'<Property name="{name}" type="App::PropertyBool"><Bool value="{str(x).lower()}"/></Property>'


def label(text):
    return f'<Property name="Label" type="App::PropertyString"><String value="{text}"/></Property>'


def group(*names):
    links = "".join(f'<Link value="{name}"/>' for name in names)
    return f'<Property name="Group" type="App::PropertyLinkList"><LinkList count="{len(names)}">{links}</LinkList></Property>'


def reference(side, path, root="Assembly"):
    subs = "".join(f'<Sub value="{one}"/>' for one in (path, path))
    link = f'<XLink file="" stamp="" name="{root}" count="2">{subs}</XLink>'
    return f'<Property name="Reference{side}" type="App::PropertyXLinkSubHidden">{link}</Property>'


def joint(name, kind, one, two, *more, at=((0, 0, 0), (0, 0, 0)), turn=((1, 0, 0, 0), (1, 0, 0, 0))):
    enums = "".join(f'<Enum value="{each}"/>' for each in TYPES)
    listed = f'<CustomEnumList count="{len(TYPES)}">{enums}</CustomEnumList>'
    chosen = f'<Integer value="{TYPES.index(kind)}" CustomEnum="true"/>{listed}'
    given = f'<Property name="JointType" type="App::PropertyEnumeration">{chosen}</Property>'
    sides = "".join(reference(k, path) + placement(f"Placement{k}", at[k - 1], turn[k - 1]) for k, path in ((1, one), (2, two)))
    return name, "App::FeaturePython", given + sides + "".join(more)


def grounded(name, part):
    return name, "App::FeaturePython", f'<Property name="ObjectToGround" type="App::PropertyLink"><Link value="{part}"/></Property>'


def document(tmp_path, *objects, name="x.FCStd"):
    heads = "".join(f'<Object type="{kind}" name="{one}" id="{k}"/>' for k, (one, kind, _) in enumerate(objects))
    data = "".join(f'<Object name="{one}"><Properties Count="1">{inside}</Properties></Object>' for one, _, inside in objects)
    text = f'<Document SchemaVersion="4"><Objects Count="1">{heads}</Objects><ObjectData Count="1">{data}</ObjectData></Document>'
    with zipfile.ZipFile(tmp_path / name, "w") as file:
        file.writestr("Document.xml", text)
    return tmp_path / name


ASSEMBLY = (
    "Assembly",
    "Assembly::AssemblyObject",
    label("Machine") + placement("Placement", (5, 5, 5)) + group("Base", "Arm", "Joints"),
)
BASE = ("Base", "App::Part", label("base") + placement("Placement", (100, 0, 0)) + group("Box"))
BOX = (
    "Box",
    "Part::Box",
    number("Length", 400) + number("Width", 20) + number("Height", 10) + placement("Placement", (0, -10, -5)),
)
ARM = (
    "Arm",
    "App::Link",
    label("arm")
    + placement("Placement", (200, 0, 0), (0.8, 0, 0, 0.6))
    + '<Property name="LinkedObject" type="App::PropertyXLink"><XLink file="" name="Rod"/></Property>',
)
ROD = ("Rod", "App::Part", placement("Placement", (7, 7, 7)) + group("Box"))
QUARTER = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
"""z to -y."""


def test_a_pendulum_in_millimetres(tmp_path):
    """A hinge along -y at (200, 0, 0): its frame is on an object inside of the part."""
    pin = joint(
        "Joint",
        "Revolute",
        "Base.Box.Edge1",
        "Arm.Face1",
        label("pin"),
        at=((100, 10, 5), (0, 0, 0)),
        turn=(QUARTER, turned((0.8, 0, 0, -0.6))),
    )
    path = document(tmp_path, ASSEMBLY, BASE, BOX, ARM, ROD, pin, grounded("Ground", "Base"))
    system = mbd.read_fcstd(path, density=7850.0, gravity=(0, 0, -9.81))
    arm = system["arm"]
    mass = 7850 * 0.4 * 0.02 * 0.01
    assert arm.mass == pytest.approx(mass)
    A = euler_parameters.rotation_matrix(np.array((0.8, 0, 0, 0.6)))
    np.testing.assert_allclose(arm.r, np.array((0.2, 0, 0)) + A @ (0.2, 0, 0), atol=1e-12)
    (joint_,) = system.joints
    assert (joint_.name, type(joint_)) == ("pin", RJ)
    np.testing.assert_allclose(joint_.frame_i.point, (0.2, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(np.abs(joint_.frame_i.A[:, 2]), (0, 1, 0), atol=1e-12)
    assert system.import_report.degrees_of_freedom == 1
    assert mbd.load_model(path).bodies[1].mass == 1.0
    told = str(mbd.read_fcstd(path).import_report)
    assert "every part has mass 1" in told
    assert "'arm': 1 kg, as FreeCAD's solver has it" in told


def turned(q):
    """The quaternion of the hinge's axes in a part that is turned by q^-1."""
    (w, x, y, z), (s, u, v, t) = q, QUARTER
    return (
        w * s - x * u - y * v - z * t,
        w * u + x * s + y * t - z * v,
        w * v - x * t + y * s + z * u,
        w * t + x * v - y * u + z * s,
    )


def two(tmp_path, kind, *more, paths=("A.Face1", "B.Face1"), at=((0, 0, 0), (0, 0, 0)), **options):
    parts = [
        (name, "Part::Feature", label(name.lower()) + placement("Placement", r))
        for name, r in (("A", (0, 0, 0)), ("B", (30, 0, 0)))
    ]
    head = ("Assembly", "Assembly::AssemblyObject", label("Two") + group("A", "B"))
    link = joint("Joint", kind, *paths, label("link"), *more, at=at)
    return mbd.read_fcstd(document(tmp_path, head, *parts, link, grounded("Ground", "A")), **options)


@pytest.mark.parametrize(
    ("kind", "cls", "dof"),
    [
        ("Revolute", RJ, 1),
        ("Slider", TJ, 1),
        ("Ball", SJ, 3),
        ("Cylindrical", None, 2),
        ("Parallel", None, 4),
        ("Perpendicular", None, None),
    ],
)
def test_joints_become_those_of_the_solver(kind, cls, dof, tmp_path):
    at = ((30, 0, 0), (0, 0, 0))
    if kind == "Perpendicular":
        with pytest.raises(mbd.HaugmbdError):  # the axes are parallel there, and no motion of least length turns them
            two(tmp_path, kind, at=at, close=False).compile()
        return
    system = two(tmp_path, kind, at=at)
    assert system.import_report.degrees_of_freedom == dof
    assert cls is None or type(system.joints[0]) is cls
    assert system["b"].r == pytest.approx((0.03, 0, 0))


def test_distances_of_points_and_angles(tmp_path):
    rod = two(tmp_path, "Distance", number("Distance", 30), paths=("A.Vertex1", "B.Vertex2"))
    assert type(rod.joints[0]) is Distance
    assert rod.joints[0].f.value == pytest.approx(0.03)
    assert (
        type(
            two(tmp_path, "Distance", number("Distance", 0), paths=("A.Vertex1", "B.Vertex2"), at=((30, 0, 0), (0, 0, 0))).joints[0]
        )
        is SJ
    )
    with pytest.raises(mbd.ModelFileError, match="'link': it is a distance of Face1 and Face1, which depends on their shapes"):
        two(tmp_path, "Distance", number("Distance", 1))
    assert two(tmp_path, "Angle", number("Distance", 0.0)).import_report.degrees_of_freedom == 4
    assert two(tmp_path, "Fixed", at=((30, 0, 0), (0, 0, 0))).import_report.body_of == {"a": "ground", "b": "ground"}
    kept = two(tmp_path, "Fixed", at=((30, 0, 0), (0, 0, 0)), merge_fixed=False)
    assert [type(each) for each in kept.joints] == [Fixed, Fixed]


def test_limits_and_motions(tmp_path):
    bounds = [flag("EnableAngleMin", True), flag("EnableAngleMax", True), number("AngleMin", 90), number("AngleMax", -90)]
    system = two(tmp_path, "Revolute", *bounds, at=((30, 0, 0), (0, 0, 0)), stop_stiffness=100.0)
    (stop,) = system.loads
    assert (stop.lower, stop.upper) == pytest.approx((-pi / 2, pi / 2))
    listed = two(tmp_path, "Revolute", *bounds, at=((30, 0, 0), (0, 0, 0)))
    assert sum("limit" in text for text in listed.import_report.ignored) == 2
    link = '<Property name="Joint" type="App::PropertyXLinkSubHidden"><XLink name="Joint"/></Property>'
    listed = '<CustomEnumList><Enum value="Angular"/></CustomEnumList>'
    kinds = f'<Property name="MotionType" type="App::PropertyEnumeration"><Integer value="0" CustomEnum="true"/>{listed}</Property>'
    formula = '<Property name="Formula" type="App::PropertyString"><String value="0.5*sin(time)"/></Property>'
    parts = [(name, "Part::Feature", placement("Placement")) for name in "AB"]
    hinge = joint("Joint", "Revolute", "A.Face1", "B.Face1")
    head = ("Assembly", "Assembly::AssemblyObject", "")
    motion = ("Motion", "App::FeaturePython", kinds + link + formula)
    moved = mbd.read_fcstd(document(tmp_path, head, *parts, hinge, grounded("G", "A"), motion))
    (driver,) = (each for each in moved.joints if isinstance(each, RotationDriver))
    assert driver.f.values(1.0)[0] == pytest.approx(0.5 * np.sin(1.0))


def test_gears_are_couplings(tmp_path):
    parts = [
        (name, "Part::Feature", placement("Placement", r)) for name, r in (("A", (0, 0, 0)), ("B", (0, 0, 0)), ("C", (30, 0, 0)))
    ]
    pins = [joint(f"J{k}", "Revolute", "A.E", f"{k}.E", at=(at, (0, 0, 0))) for k, at in (("B", (0, 0, 0)), ("C", (30, 0, 0)))]
    mesh = joint("Mesh", "Gears", "B.E", "C.E", number("Distance", 10), number("Distance2", 20))
    head = ("Assembly", "Assembly::AssemblyObject", "")
    system = mbd.read_fcstd(document(tmp_path, head, *parts, *pins, mesh, grounded("G", "A")))
    (coupling,) = (each for each in system.joints if isinstance(each, Coupling))
    factors = [c for _, c in coupling.terms]
    assert abs(factors[0] / factors[1]) == pytest.approx(0.5) or abs(factors[1] / factors[0]) == pytest.approx(0.5)
    assert system.import_report.degrees_of_freedom == 1


def test_masses_are_given_stored_or_computed(tmp_path):
    head = ("Assembly", "Assembly::AssemblyObject", "")
    ball = ("A", "Part::Sphere", number("Radius", 50))
    cone = ("B", "Part::Cone", number("Radius1", 30) + number("Radius2", 10) + number("Height", 60))
    kept = (
        "C",
        "Part::Feature",
        number("Mass", 2.5) + "".join(number(key, x) for key, x in (("Ixx", 3e4), ("Iyy", 4e4), ("Izz", 5e4))),
    )
    arms = [joint(f"J{k}", "Ball", f"{k}.Vertex1", f"{j}.Vertex1") for k, j in (("A", "B"), ("B", "C"))]
    path = document(tmp_path, head, ball, cone, kept, *arms)
    system = mbd.read_fcstd(path, density=1000.0, close=False)
    exact = mbd.inertia.sphere(0.05, density=1000.0)
    assert system["A"].mass == pytest.approx(exact.mass)
    np.testing.assert_allclose(system["A"].J_bar, exact.J_bar, rtol=1e-12)
    assert system["B"].mass == pytest.approx(1000 * pi * 0.06 * (0.03**2 + 0.03 * 0.01 + 0.01**2) / 3)
    assert system["C"].mass == 2.5
    np.testing.assert_allclose(np.diag(system["C"].J_bar), (0.03, 0.04, 0.05), rtol=1e-12)
    given = mbd.read_fcstd(path, masses={"A": 3.0, "B": mbd.inertia.box((0.1, 0.1, 0.1), mass=1.5)}, close=False)
    assert (given["A"].mass, given["B"].mass) == (3.0, 1.5)
    with pytest.raises(mbd.UsageError, match=r"masses: no joint connects a part 'AA'.*'A'"):
        mbd.read_fcstd(path, masses={"AA": 1.0})


def test_documents_that_cannot_be_read_say_why(tmp_path):
    for data, what in ((b"no zip", "no FreeCAD document"), (b"", "no FreeCAD document")):
        (tmp_path / "x.FCStd").write_bytes(data)
        with pytest.raises(mbd.ModelFileError, match=what):
            mbd.read_fcstd(tmp_path / "x.FCStd")
    with zipfile.ZipFile(tmp_path / "x.FCStd", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("Document.xml", b"<a>" + b" " * (70 * 2**20))
    with pytest.raises(mbd.ModelFileError, match="more than"):
        mbd.read_fcstd(tmp_path / "x.FCStd")
    with pytest.raises(mbd.ModelFileError, match="no assembly"):
        mbd.read_fcstd(document(tmp_path, BOX))
    pair = [(name, "Assembly::AssemblyObject", label(name)) for name in ("one", "two")]
    with pytest.raises(mbd.ModelFileError, match="2 assemblies.*assembly="):
        mbd.read_fcstd(document(tmp_path, *pair))
    with pytest.raises(mbd.UsageError, match="no 'three'"):
        mbd.read_fcstd(document(tmp_path, *pair), assembly="three")
    with pytest.raises(mbd.ModelFileError, match=r"joint 'J': Reference1 leads to 'Nowhere'"):
        mbd.read_fcstd(document(tmp_path, ASSEMBLY, BASE, BOX, joint("J", "Ball", "Nowhere.Vertex1", "Base.Vertex1")))
    inactive = joint("J", "Ball", "Base.Vertex1", "Arm.Vertex1", flag("Activated", False))
    with pytest.raises(mbd.ModelFileError, match="it has no joints"):
        mbd.read_fcstd(document(tmp_path, ASSEMBLY, BASE, BOX, ARM, ROD, inactive))
    with pytest.raises(mbd.UsageError, match="density is -1"):
        mbd.read_fcstd(tmp_path / "x.FCStd", density=-1)


def linked(name, file, to, r=(0, 0, 0)):
    shown = f'<Property name="LinkedObject" type="App::PropertyXLink"><XLink file="{file}" name="{to}"/></Property>'
    return name, "App::Link", label(name.lower()) + placement("Placement", r) + shown


PIECE = ("Body", "PartDesign::Body", placement("Placement", (1, 1, 1)))
PAD = ("Pad", "PartDesign::Pad", placement("Placement", (50, 0, 0)))
PART = ("Part", "App::Part", placement("Placement", (9, 9, 9)) + group("Body"))


@pytest.mark.parametrize(("to", "path", "offset"), [("Body", "L.Pad.Face1", (0, 0, 0)), ("Part", "L.Body.Pad.Face1", (1, 1, 1))])
def test_a_link_into_a_document_beside_it_is_followed(to, path, offset, tmp_path):
    """Features of a body are in its frame, which the link replaces; what is in a part has its own placement there."""
    document(tmp_path, PIECE, PAD, PART, name="piece of it.FCStd")
    head = ("Assembly", "Assembly::AssemblyObject", label("Two") + group("A", "L"))
    base = ("A", "Part::Feature", label("a") + placement("Placement", (0, 0, 0)))
    link = linked("L", "piece of it.FCStd", to, (30, 0, 0))
    at = np.array((10.0, 0.0, 0.0))
    pin = joint("Joint", "Ball", "A.Face1", path, label("pin"), at=(tuple(at + (30, 0, 0) + offset), tuple(at)))
    system = mbd.read_fcstd(document(tmp_path, head, base, link, pin, grounded("Ground", "A")))
    (ball,) = system.joints
    np.testing.assert_allclose(ball.frame_j.point, 1e-3 * (at + (30, 0, 0) + offset), atol=1e-12)
    assert not system.import_report.loops  # it is closed as it is read


@pytest.mark.parametrize("file", ["gone.FCStd", "../x.FCStd", "note.txt", "/etc/passwd"])
def test_a_link_into_a_document_that_is_not_beside_it_is_refused_by_its_name(file, tmp_path):
    (tmp_path / "note.txt").write_text("no document")
    head = ("Assembly", "Assembly::AssemblyObject", label("Two") + group("A", "L"))
    base = ("A", "Part::Feature", label("a") + placement("Placement", (0, 0, 0)))
    pin = joint("Joint", "Ball", "A.Face1", "L.Pad.Face1", label("pin"))
    path = document(tmp_path, head, base, linked("L", file, "Body"), pin, grounded("Ground", "A"))
    with pytest.raises(mbd.ModelFileError, match="joint 'pin'.*leads into 'l', a link to 'Body' of"):
        mbd.read_fcstd(path)


def test_axes_that_contradict_all_else_are_left_out_with_a_warning(tmp_path):
    """Two hinges hold a part, and a third joint wants its axes half a degree away: as of an .asmt."""
    tilt = (np.cos(np.radians(0.25)), np.sin(np.radians(0.25)), 0.0, 0.0)
    head = ("Assembly", "Assembly::AssemblyObject", label("Two") + group("A", "B"))
    parts = [(name, "Part::Feature", label(name.lower()) + placement("Placement", (0, 0, 0))) for name in "AB"]
    pin = joint("J1", "Revolute", "A.Face1", "B.Face1", label("pin"))
    other = joint("J2", "Parallel", "A.Face1", "B.Face1", label("other"), turn=((1, 0, 0, 0), tilt))
    path = document(tmp_path, head, *parts, pin, other, grounded("Ground", "A"))
    with pytest.warns(UserWarning, match="'other': its axes are 0.5.* degrees apart"):
        system = mbd.read_fcstd(path)
    assert system.import_report.degrees_of_freedom == 1
