"""A system that is saved and read has the same tables, states and function values, bit by bit; the same system gives the same bytes."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.bodies.inertia import rod
from haugmbd.gallery import GALLERY
from haugmbd.modelfile import json_schema
from haugmbd.modelfile.schema import JOINTS
from haugmbd.modelfile.write import canonical
from tests.support.contacts import PAIRS, ball_on_floor, deep_pair
from tests.support.model_files import rich_system, valid
from tests.support.samples import from_zero

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json_schema()
TIMES = np.linspace(0.0, 1.9, 11)


def same(one, two):
    """Whether two models have the same bits."""
    assert one.tables.ints.tobytes() == two.tables.ints.tobytes()
    assert one.tables.reals.tobytes() == two.tables.reals.tobytes()
    assert one.y0.tobytes() == two.y0.tobytes()
    assert one.body_names == two.body_names
    texts = [[(label.joint, label.kind, label.words, label.unit) for label in model.labels] for model in (one, two)]
    assert texts[0] == texts[1]
    for a, b in zip(one.drivers, two.drivers, strict=True):
        assert a.values(TIMES).tobytes() == b.values(TIMES).tobytes()
    for name, a in one.joints.items():
        b = two.joints[name]
        assert all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in zip(a[2:9], b[2:9], strict=True))
        assert a.freedoms == b.freedoms


def through(system, tmp_path, **how):
    """The system of the saved file; its second file has the same bytes, and obeys the schema."""
    path = system.save(tmp_path / "model.json")
    data = path.read_bytes()
    assert system.save(path).read_bytes() == data
    again = mbd.load_model(path, **how)
    assert again.save(tmp_path / "again.json").read_bytes() == data
    assert valid(json.loads(data), SCHEMA, SCHEMA)
    return again


@pytest.mark.slow
@pytest.mark.parametrize("make", GALLERY[::4], ids=lambda make: make.__name__)
def test_the_gallery(make, tmp_path):
    system = make()
    again = through(system, tmp_path, allow_code=True)  # one of them has a function of its module
    one, two = system.compile(), again.compile()
    same(one, two)
    assert one.redundancy.dropped == two.redundancy.dropped
    assert mbd.accelerations(one).lam.tobytes() == mbd.accelerations(two).lam.tobytes()


@pytest.mark.slow
def test_everything_that_a_system_holds(tmp_path):
    system = rich_system()
    again = through(system, tmp_path, allow_code=True)
    one, two = system.compile(check_pose=False), again.compile(check_pose=False)
    same(one, two)
    assert [entry.load.conservative for entry in one.loads] == [entry.load.conservative for entry in two.loads]
    a, b = mbd.evaluate(one), mbd.evaluate(two)
    assert all(x.tobytes() == y.tobytes() for x, y in ((a.Phi, b.Phi), (a.nu, b.nu), (a.gamma, b.gamma), (a.PiBar, b.PiBar)))
    state = np.random.default_rng(3).normal(size=(1, 13))
    for x, y in zip(system.loads, again.loads, strict=True):
        states = np.stack([state] * len(x.bodies()))
        for p, q in zip(x.arguments(states, np.zeros(1)), y.arguments(states, np.zeros(1)), strict=True):
            assert p.tobytes() == q.tobytes()


@pytest.mark.parametrize("kind", joints.CATALOGUE, ids=lambda kind: kind.__name__)
def test_every_joint_of_the_catalogue_has_a_place_in_the_schema(kind):
    assert kind.__name__ in JOINTS.forms, "add the arguments of its constructor to schema.ARGUMENTS, or write its forms"


@pytest.mark.slow
def test_every_joint_from_global_geometry_and_from_vectors(tmp_path):
    rng = np.random.default_rng(5)
    system = mbd.System("all joints")
    made = []
    for kind in joints.CATALOGUE:
        if not issubclass(kind, joints.Composed):
            continue
        for way in ("global", "vectors"):
            ends = [system.add(body(f"{kind.__name__} {way} {side}", rng)) for side in "ij"]
            made.append(system.add(joint_of(kind, way, *ends, rng)))
    turning = next(joint for joint in made if joint.rotates_about_h)
    system.add(joints.RotationDriver("drive", turning, mbd.Expression("0.4 * sin(1.7 * t) + 0.3 * t")))
    again = through(system, tmp_path)
    same(system.compile(check_pose=False), again.compile(check_pose=False))
    assert [type(joint) for joint in again.joints] == [type(joint) for joint in system.joints]
    np.testing.assert_allclose(again.joints[-1].f.values(0.9)[0], from_zero(0.9), rtol=1e-14)


def body(name, rng):
    p = rng.normal(size=4)
    return mbd.Body(name, 1.0, (1.0, 1.2, 1.4), r=rng.normal(size=3), p=p / np.linalg.norm(p))


def joint_of(kind, way, i, j, rng):
    """A joint by its constructor, or by `from_vectors`."""
    point, axis, other = rng.normal(size=(3, 3))
    across = np.cross(axis, other)
    known = dict(point=point, axis=axis, normal=axis, axis_i=axis, axis_j=across, point_i=point, point_j=point + across)
    a, b = np.cross(axis, other), axis
    known |= dict(s_bar_i=point, s_bar_j=other, a_bar_i=a, b_bar_i=b, c_bar_j=across, a_bar_j=np.cross(across, other))
    make = kind if way == "global" else kind.from_vectors
    asked = inspect.signature(make).parameters
    return make(**{name: x for name, x in dict(name=f"{kind.__name__} {way}", i=i, j=j, **known).items() if name in asked})


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_contact_forces(name, tmp_path):
    """Bit by bit, with shapes and damping model; the file that people write may leave out what has a default."""
    contact = deep_pair(name, np.random.default_rng(4))
    system = mbd.System("pair", gravity=(0, 0, -9.81))
    for body in contact.bodies():
        system.add(body)
    system.add(contact)
    again = through(system, tmp_path)
    same(system.compile(), again.compile())
    document = json.loads((tmp_path / "again.json").read_text())
    for key in ("model", "restitution", "mu", "creep", "floor_speed"):
        del document["loads"][0][key]
    (tmp_path / "short.json").write_text(json.dumps(document))
    short = mbd.load_model(tmp_path / "short.json").compile().loads[0].load
    assert (short.restitution, short.mu, short.creep, short.floor_speed) == (1.0, 0.0, 1e-3, 1e-3)
    assert short.model == mbd.HuntCrossley(exponent=1.5)


def test_numbers_of_numpy_are_written_as_those_of_python(tmp_path):
    """Friction laws keep what they are given; so does the setpoint of a controller."""
    one, two = mbd.System("s"), mbd.System("s")
    laws = {
        "a": lambda x: mbd.Viscous(x(2)),
        "b": lambda x: mbd.Coulomb(x(1), x(0)),
        "c": lambda x: mbd.BrownMcPhee(x(1), x(1), x(2)),
        "d": lambda x: mbd.LuGre(x(1), x(1), x(2), x(1000), x(3), x(4)),
    }
    for system, x in ((one, np.int64), (two, float)):
        body = system.add(mbd.Body("b", x(1), (x(1), x(1), x(1))))
        pin = system.add(joints.RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
        for name, law in laws.items():
            system.add(mbd.JointFriction(name, pin, law(x), radius=x(1)))
        pid = system.add(mbd.PID("pid", "pin.angle", x(3), kp=x(1)))
        system.add(mbd.Motor("motor", pin, torque=pid["out"]))
    again = through(one, tmp_path)
    assert again.blocks[0].setpoint == 3.0
    assert two.save(tmp_path / "two.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_a_contact_force_with_faults_is_refused_with_its_place(tmp_path):
    system, _ = ball_on_floor(e=0.8)
    document = json.loads(system.save(tmp_path / "ball.json").read_text())
    document["loads"][0] |= {"mu": -1.0, "K": 0.0}
    document["loads"].append(document["loads"][0] | {"name": "other", "shape_i": {"type": "Cone"}, "model": {"type": "Hertz"}})
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    with pytest.raises(mbd.ModelFileError) as caught:
        mbd.load_model(tmp_path / "wrong.json")
    for text in ("loads[0].mu", "loads[0].K", "loads[1].shape_i", "loads[1].model.type"):
        assert text in str(caught.value)


def test_the_published_schema_is_that_of_the_code():
    published = (ROOT / "haugmbd" / "modelfile" / "model.schema.json").read_text()
    assert published == canonical(SCHEMA), "write it anew: canonical(json_schema())"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "haugmbd model 0"),
        (("bodies", 0, "mass"), True),
        (("bodies", 0, "mass"), None),
        (("bodies", 0, "r"), [0.0, 0.0]),
        (("bodies", 0, "colour"), "red"),
        (("joints", 0, "type"), "RK"),
        (("joints", 0, "frame_i"), 3),
        (("gravity",), "down"),
        (("loads",), {}),
    ],
)
def test_the_schema_and_the_reader_refuse_the_same(path, value, tmp_path):
    document = json.loads(GALLERY[0]().save(tmp_path / "model.json").read_text())
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not valid(document, SCHEMA, SCHEMA)
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with pytest.raises(mbd.ModelFileError):
        mbd.load_model(tmp_path / "bad.json")


def test_shapes_are_kept_bit_by_bit(tmp_path):
    turn = np.array((0.5, 0.5, -0.5, 0.5))
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
    shapes = (
        ...,
        mbd.Box((0.1, 0.2, 0.3), center=(1, 2, 3), p=turn, color="#d55e00"),
        mbd.Sphere(0.5),
        mbd.Cylinder(0.2, 1.0, inner_radius=0.1, axis=(1, 2, 3)),
        mbd.Cone(0.1, 0.3, axis=(0, 1, 1)),
        mbd.Capsule(0.1, 0.3, axis=(0, 1, 1)),
        mbd.Ellipsoid((0.1, 0.2, 0.3), p=turn),
        mbd.Mesh.from_arrays(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], scale=0.1),
    )
    system = mbd.System("drawn", ground_shape=mbd.Box((1, 1, 0.1)))
    system.add(mbd.Body("b", *rod(2.0, mass=3.0), shape=shapes))
    again = through(system, tmp_path)
    assert len(again.bodies[1].solid) == len(system.bodies[1].solid) > 0
    assert len(again.ground.shape) == 1
    for one, two in (
        *zip(system.bodies[1].shape, again.bodies[1].shape, strict=True),
        *zip(system.bodies[1].solid, again.bodies[1].solid, strict=True),
    ):
        assert type(one) is type(two)
        if one is not ...:
            assert (one.center.tobytes(), one.p.tobytes(), one.color) == (two.center.tobytes(), two.p.tobytes(), two.color)
            assert one.size.tobytes() == two.size.tobytes()
    (tmp_path / "bad.json").write_text((tmp_path / "model.json").read_text().replace('"Sphere"', '"Ball"'))
    with pytest.raises(mbd.ModelFileError, match=r"bodies\[0\].shape\[2\].*not a shape"):
        mbd.load_model(tmp_path / "bad.json")


def test_names_and_signs_of_zero_are_kept(tmp_path):
    system = mbd.System('a "quoted" \N{GREEK SMALL LETTER ALPHA}\n')
    system.add(mbd.Body("b\\\u2028", 1e-300, (1e-310, 1e-310, 1e-310), r=(-0.0, 0.1, 1e300), v=(-0.0, 0.0, 0.0)))
    again = through(system, tmp_path)
    assert again.name == system.name
    assert again.bodies[1].name == system.bodies[1].name
    for name in ("J_bar", "r", "p", "v", "omega_bar"):
        assert getattr(again.bodies[1], name).tobytes() == getattr(system.bodies[1], name).tobytes()
