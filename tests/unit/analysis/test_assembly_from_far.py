"""Assembly from anywhere: every joint from random poses, in the sense that its vectors mean; loops; and no farther than least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

import haugmbd as mbd
from haugmbd.math.euler_parameters import conjugate, exponential, logarithm, normalized, product, rotation_matrix
from joints import (
    CJ,
    RJ,
    RS,
    SJ,
    TJ,
    UJ,
    US,
    ConstantVelocity,
    Distance,
    Fixed,
    Parallel,
    Perpendicular,
    Planar,
    PointInPlane,
    PointOnLine,
    RotationDriver,
    TranslationDriver,
)
from tests.support.mechanisms import loop as closed_loop
from tests.support.seeds import seeds

CLOSED = 1e-10  # relative to the arms: Newton's method ends at rounding


def turned_at_random(rng):
    """Return a random right-handed frame, its axes as columns."""
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.array([np.linalg.det(Q), 1.0, 1.0])


def made(kind, i, j, rng, size):
    """Return joints of one kind from random vectors, the frames on both bodies, and what of the frames shall agree."""
    F, H = turned_at_random(rng), turned_at_random(rng)
    (f, g, h), (f_j, g_j, h_j) = F.T, H.T
    s_i, s_j = size * rng.normal(size=(2, 3))
    long, short = 10.0 ** rng.uniform(-1.0, 1.0, 2)
    angle = rng.uniform(0.2, 2.9)
    revolute = RJ.from_vectors("joint", i, s_i, f, g, j, s_j, h_j)
    slide = TJ.from_vectors("joint", i, s_i, f, g, j, s_j, h_j, g_j, 0.0)
    found = {
        SJ: ([SJ.from_vectors("joint", i, s_i, j, s_j)], None),
        RJ: ([RJ.from_vectors("joint", i, s_i, long * f, short * g, j, s_j, long * h_j)], "axis"),
        CJ: ([CJ.from_vectors("joint", i, s_i, long * f, g, j, s_j, short * h_j)], "axis"),
        UJ: ([UJ.from_vectors("joint", i, s_i, f, j, s_j, long * g_j)], None),
        ConstantVelocity: ([ConstantVelocity.from_vectors("joint", i, s_i, f, g, j, s_j, f_j, g_j)], "twist"),
        TJ: ([slide], "frame"),
        "TJ of an axis": ([TJ.from_vectors("joint", i, s_i, f, g, j, s_j, h_j)], "axis"),
        Fixed: ([Fixed.from_vectors("joint", i, s_i, f, g, j, s_j, h_j, g_j, 0.0)], "frame"),
        "Fixed at an angle": (
            [Fixed.from_vectors("joint", i, s_i, f, g, j, s_j, h_j, np.cos(angle) * f_j + np.sin(angle) * g_j, np.cos(angle))],
            "frame",
        ),
        Planar: ([Planar.from_vectors("joint", i, s_i, f, g, j, s_j, h_j)], "axis"),
        Parallel: ([Parallel.from_vectors("joint", i, f, g, j, h_j)], "axis"),
        Perpendicular: ([Perpendicular.from_vectors("joint", i, f, j, g_j)], None),
        Distance: ([Distance.from_vectors("joint", i, s_i, j, s_j, size * rng.uniform(0.02, 1.0))], None),
        PointOnLine: ([PointOnLine.from_vectors("joint", i, s_i, f, g, j, s_j)], None),
        PointInPlane: ([PointInPlane.from_vectors("joint", i, s_i, h, j, s_j)], None),
        RS: ([RS.from_vectors("joint", i, s_i, h, j, s_j, size * rng.uniform(0.1, 1.0))], None),
        US: ([US.from_vectors("joint", i, s_i, h, j, s_j, size * rng.uniform(0.1, 1.0))], None),
        RotationDriver: ([revolute, RotationDriver("drive", revolute, rng.uniform(-3.0, 3.0))], "axis"),
        TranslationDriver: ([slide, TranslationDriver("drive", slide, size * rng.uniform(-1.0, 1.0))], "frame"),
    }
    return *found[kind], F, H


KINDS = [
    *(SJ, RJ, CJ, UJ, ConstantVelocity, TJ, "TJ of an axis", Fixed, "Fixed at an angle", Planar, Parallel, Perpendicular),
    *(Distance, PointOnLine, PointInPlane, RS, US, RotationDriver, TranslationDriver),
]


def random_body(system, name, rng, size):
    m = 10.0 ** rng.uniform(-1.0, 1.0)
    J = 0.1 * m * size**2 * np.array([0.5, 0.6, 0.8])
    return system.add(mbd.Body(name, m, J, r=2.0 * size * rng.normal(size=3), p=normalized(rng.normal(size=4))))


def relative(rows, size):
    """Return Phi in units of the size."""
    return rows.Phi * np.array([{"m": 1.0 / size, "m2": 1.0 / size**2}.get(label.unit, 0.1) for label in rows.labels])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind if isinstance(kind, str) else kind.__name__)
def test_every_joint_closes_from_a_random_pose_in_the_sense_of_its_vectors(kind):
    """From millimetres to kilometres: closed, and no axis against the one that the vectors give."""
    for seed in seeds(5):
        rng = np.random.default_rng([11, seed])
        size = 10.0 ** rng.uniform(-3.0, 3.0)
        system = mbd.System("far")
        i = system.ground if seed % 2 else random_body(system, "i", rng, size)
        j = random_body(system, "j", rng, size)
        parts, agree, F, H = made(kind, i, j, rng, size)
        for part in parts:
            system.add(part)
        found = mbd.assemble(system)
        assert found.flipped == ()
        assert np.abs(relative(mbd.evaluate(found.model, found.state), size)).max() < CLOSED
        A = rotation_matrix(found.state.p)
        one, other = A[0 if i is system.ground else 1] @ F, A[-1] @ H
        if agree == "axis":
            np.testing.assert_allclose(one[:, 2], other[:, 2], rtol=0.0, atol=1e-7)
        if agree == "frame":
            np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-7)
        if agree == "twist":
            assert np.trace(one[:, :2].T @ other[:, :2]) > 0.0


def bodies_of(system, rng, *places):
    return [
        system.add(mbd.Body(f"body {k}", rng.uniform(0.5, 2.0), (0.05, 0.08, 0.1), r=r, p=normalized(rng.normal(size=4))))
        for k, r in enumerate(places)
    ]


def ring(rng, points, axes):
    """Return a loop of revolute joints (RJ) where there is an axis, else spherical ones."""
    system = mbd.System("ring")
    points = np.asarray(points, dtype=float)
    bodies = bodies_of(system, rng, *(0.5 * (points[1:] + points[:-1])))
    chain = [system.ground, *bodies, system.ground]
    for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
        one, other = chain[k : k + 2]
        joint = SJ(f"joint {k}", one, other, point=point) if axis is None else RJ(f"joint {k}", one, other, point=point, axis=axis)
        system.add(joint)
    return system


def stewart(rng):
    system = mbd.System("stewart")
    (plate,) = bodies_of(system, rng, (0, 0, 1))
    for k, a in enumerate(np.arange(6) * np.pi / 3.0):
        foot, head = (np.cos(a), np.sin(a), 0.0), (0.5 * np.cos(a + 0.4 * (-1) ** k), 0.5 * np.sin(a + 0.4 * (-1) ** k), 1.0)
        system.add(Distance(f"leg {k}", system.ground, plate, point_i=foot, point_j=head))
    return system


def delta(rng):
    system = mbd.System("delta")
    (plate,) = bodies_of(system, rng, (0, 0, -1))
    for k, a in enumerate(np.arange(3) * 2.0 * np.pi / 3.0):
        e, f = np.array([np.cos(a), np.sin(a), 0.0]), np.array([-np.sin(a), np.cos(a), 0.0])
        arm = system.add(mbd.Body(f"arm {k}", 0.5, (0.01, 0.01, 0.01), r=0.7 * e, p=normalized(rng.normal(size=4))))
        system.add(RJ(f"motor {k}", system.ground, arm, point=0.5 * e, axis=f))
        for side in (-0.1, 0.1):
            ends = {"point_i": 0.9 * e + side * f, "point_j": 0.2 * e + side * f + np.array([0, 0, -1.0])}
            system.add(Distance(f"rod {k} {side}", arm, plate, **ends))
    return system


def tetrahedron(rng):
    system = mbd.System("tetrahedron")
    corners = np.array([(0, 0, 0), (1, 0, 0), (0.5, 0.9, 0), (0.5, 0.3, 0.8)])
    bodies = bodies_of(system, rng, *corners)
    for k in range(4):
        for other in range(k):
            ends = {"point_i": corners[k], "point_j": corners[other]}
            system.add(Distance(f"rod {k}{other}", bodies[k], bodies[other], **ends))
    return system


Z = (0.0, 0.0, 1.0)
LOOPS = {
    "four-bar": lambda rng: ring(rng, [(0, 0, 0), (0, 1, 0), (2, 1.3, 0), (2, 0, 0)], [Z] * 4),
    "five-bar": lambda rng: ring(rng, [(0, 0, 0), (-0.5, 0.9, 0), (0.4, 1.7, 0), (1.4, 0.8, 0), (1, 0, 0)], [Z] * 5),
    "RSSR": lambda rng: ring(rng, [(0, 0, 0), (0, 1, 0), (2, 1.1, 0.6), (2, 0, 0.5)], [Z, None, None, (1, 0.3, 0)]),
    "Stewart": stewart,
    "delta": delta,
    "tetrahedron": tetrahedron,
}


def moved(state, x):
    d = x.reshape(-1, 6)
    r, p = state.r.copy(), state.p.copy()
    r[1:] += d[:, :3]
    p[1:] = normalized(product(p[1:], exponential(d[:, 3:])))
    return state.replace(r=r, p=p)


def mass_distance(model, one, other):
    d, turn = other.r - one.r, logarithm(product(conjugate(one.p), other.p))
    return float(np.sqrt(model.mass @ np.sum(d * d, axis=1) + np.einsum("ka,kab,kb->", turn, model.J_bar, turn)))


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_from_far_closes_no_farther_away_than_least_squares(name):
    """SciPy's solver on positions and rotation vectors, of the rows as they are; where it turns an axis round it is no measure."""
    rng = np.random.default_rng(5)
    model = LOOPS[name](rng).compile()
    compared = 0
    for _ in range(3):
        start = moved(model.state(), rng.normal(size=6 * model.nb) * np.tile([0.4, 0.4, 0.4, 0.7, 0.7, 0.7], model.nb))
        found = mbd.assemble(model, start)
        assert np.abs(mbd.evaluate(model, found.state).Phi).max() < CLOSED
        assert found.flipped == ()
        Phi = lambda x, start=start: mbd.evaluate(model, moved(start, x)).Phi  # noqa: E731
        other = least_squares(Phi, np.zeros(6 * model.nb), xtol=1e-14, max_nfev=60)
        state = moved(start, other.x)
        if np.abs(other.fun).max() < 1e-8 and not mbd.assemble(model, state, repair=False).flipped:
            compared += 1
            assert mass_distance(model, start, found.state) <= 1.01 * mass_distance(model, start, state)
    assert compared


@pytest.mark.slow
def test_one_rod_moves_its_body_no_farther_than_a_translation_would():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        size = 10.0 ** rng.uniform(-1.0, 2.0)
        r, off, length = 2.0 * size * rng.normal(size=3), 0.5 * size * rng.normal(size=3), size * rng.uniform(0.02, 0.3)
        J = size**2 * 10.0 ** rng.uniform(-3.0, 0.0) * np.ones(3)
        system = mbd.System("rod")
        body = system.add(mbd.Body("body", 1.0, J, r=r))
        system.add(Distance("rod", system.ground, body, point_i=(0, 0, 0), point_j=r + off, distance=length))
        found = mbd.assemble(system)
        point = found.state.r[1] + rotation_matrix(found.state.p[1]) @ off
        np.testing.assert_allclose(np.linalg.norm(point), length, rtol=1e-9)
        shift = abs(np.linalg.norm(r + off) - length)
        start = found.state.replace(r=[np.zeros(3), r], p=[(1, 0, 0, 0)] * 2)
        assert mass_distance(found.model, start, found.state) <= shift


def test_a_lock_whose_vectors_are_parallel_at_the_start_is_assembled():
    """The row is flat at this pose, not where the joint is closed."""
    system = mbd.System("loop")
    part = system.add(mbd.Body("part", 1.0, (1, 1, 1), r=(1, 2, 3)))
    joint = Fixed.from_vectors("weld", system.ground, (0, 0, 0), (1, 0, 0), (0, 1, 0), part, (0, 0, 0), (0, 0, 1), (1, 0, 0), 0.0)
    assert joint.faults() == ()
    system.add(joint)
    A = rotation_matrix(mbd.assemble(system).state.p[1])
    np.testing.assert_allclose(A[:, 0], (0, 1, 0), rtol=0.0, atol=1e-12)
    with pytest.raises(mbd.ModelError, match="weld"):
        system.compile()


def test_an_axis_that_is_modelled_against_its_vectors_stays_and_is_told():
    system = mbd.System("hinge")
    bar = system.add(mbd.Body("bar", 1.0, (1, 1, 1), r=(1, 0, 0)))
    system.add(RJ.from_vectors("pin", system.ground, (0, 0, 0), (1, 0, 0), (0, 1, 0), bar, (-1, 0, 0), (0, 0, -1)))
    found = mbd.assemble(system)
    np.testing.assert_allclose(found.state.p[1], (1, 0, 0, 0), rtol=0.0, atol=1e-12)
    assert found.flipped == ("pin",)


def test_what_cannot_be_closed_is_refused_with_the_starts_that_were_tried():
    system = mbd.System("too short")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1), r=(0.3, 0.2, 0.1)))
    for name, x in (("left", 0.0), ("right", 3.0)):
        system.add(Distance(name, system.ground, body, point_i=(x, 0, 0), point_j=(0.3, 0.2, 0.1), distance=1.0))
    with pytest.raises(mbd.AssemblyError, match=r"other starts[^'\"]*'left'.* 0.5 m too long") as caught:
        mbd.assemble(system)
    assert caught.value.assembly.starts > 1
    np.testing.assert_allclose(caught.value.assembly.state.r[1], (1.5, 0, 0), rtol=0.0, atol=1e-3)


O, X, Y = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda i, j: UJ.from_vectors("joint", i, O, X, j, O, X),
        lambda i, j: Perpendicular.from_vectors("joint", i, X, j, X),
        lambda i, j: Distance.from_vectors("joint", i, O, j, O, 1.0),
        lambda i, j: Distance("joint", i, j, point_i=O, point_j=O, distance=1.0),
        lambda i, j: RS.from_vectors("joint", i, O, Z, j, Z, 1.0),
        lambda i, j: US.from_vectors("joint", i, O, Z, j, O, 1.0),
        lambda i, j: RJ.from_vectors("joint", i, X, X, Y, j, O, (0, 0, -1)),
        lambda i, j: TJ.from_vectors("joint", i, O, X, Y, j, O, Z, X, 0.0),
    ],
)
def test_no_joint_is_refused_for_a_pose_that_does_not_fit(make):
    """Vectors that are parallel, opposite, and points that coincide where they must not: only at the start."""
    system = mbd.System("rough")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))
    system.add(make(system.ground, body))
    found = mbd.assemble(system)
    assert found.flipped == ()
    assert np.abs(mbd.evaluate(found.model, found.state).Phi).max() < CLOSED


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0.0, 0.5, 1.0, 1.5])
def test_a_loop_of_a_robot_file_closes_from_the_zero_pose(turn):
    """A stretched tree of revolute joints whose last frame shall coincide with one of the ground: elsewhere, and turned by quarters."""
    system = mbd.System("leg")
    before, end, x = system.ground, (0, 0, 0), 0.0
    for k, length in enumerate((1.0, 1.2, 0.9, 0.4)):
        link = system.add(mbd.Body(f"link {k}", 10.0 ** -(k % 3), (0.01, 0.02, 0.02), r=(x + 0.5 * length, 0, 0)))
        system.add(RJ(f"hinge {k}", before, link, point=(x, 0, 0), axis=(0, 0, 1)))
        before, end, x = link, (0.5 * length, 0, 0), x + length
    c, s = np.cos(turn * np.pi), np.sin(turn * np.pi)
    system.add(Fixed.from_vectors("loop", system.ground, (1.0, 0.5, 0), (c, s, 0), (-s, c, 0), before, end, Z, Y, 0.0))
    found = mbd.assemble(system)
    assert found.starts == 1
    A = rotation_matrix(found.state.p[4])
    np.testing.assert_allclose(A[:, 0], (c, s, 0), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(found.state.r[4] + A @ end, (1.0, 0.5, 0), rtol=0.0, atol=1e-9)


def loop_of_light_bodies(rng, light):
    """A loop of a link on a ball and a rod, and one that slides and turns on it, on a ball: the second is so many times lighter."""
    system = mbd.System("light", gravity=(0.0, 0.0, 0.0))
    P = rng.uniform(-0.5, 0.5, (6, 3))
    one = system.add(mbd.Body("one", 1.0, (0.02, 0.03, 0.04), r=P[0]))
    two = system.add(mbd.Body("two", light, light * np.array([0.02, 0.03, 0.04]), r=P[1]))
    system.add(US("rod", system.ground, one, point_i=P[2], point_j=P[3], axis=np.cross(P[3] - P[2], rng.normal(size=3))))
    system.add(CJ("slide", one, two, point=P[4], axis=rng.normal(size=3)))
    system.add(Distance("link", one, two, point_i=P[0] + 0.2, point_j=P[1] - 0.2))
    system.add(SJ("ball", two, system.ground, point=P[5]))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("light", [1e-6, 1e-8])
def test_what_is_assembled_is_closed_however_light_a_body_is(light):
    """The nearest pose is searched along closed poses: none of them may be open by what redundant rows may contradict each other."""
    for seed in (6, 16):
        rng = np.random.default_rng(seed)
        model = loop_of_light_bodies(rng, light).compile()
        start = model.state()
        r, p = start.r.copy(), start.p.copy()
        r[1:] += 0.3 * rng.uniform(-1.0, 1.0, (model.nb, 3))
        p[1:] = product(p[1:], exponential(rng.uniform(-0.17, 0.17, (model.nb, 3))))
        assembly = mbd.assemble(model, start.replace(r=r, p=p))
        assert not assembly.contradictions
        assert np.abs(mbd.evaluate(model, assembly.state).Phi).max() < CLOSED


def arms_on_a_slide():
    """Three planar arms between hinges and a slide, of one motion, and an arm that hangs free."""
    system = mbd.System("arms", gravity=(0.0, 0.0, 0.0))
    bodies = [system.ground]
    for k, (m, x, z) in enumerate([(5.3, -0.56, -0.75), (3.1, 0.45, 0.24), (0.2, -0.12, 0.85), (2.2, -0.12, -0.71)]):
        bodies.append(system.add(mbd.Body(f"b{k}", m, (0.08 * m, 0.09 * m, 0.1 * m), r=(x, 0.0, z))))
    hinges = [(0, 1, -0.34, -0.14), (1, 2, -0.03, -0.31), (1, 4, -0.07, -0.78), (1, 3, -0.5, 0.16), (3, 4, -0.39, 0.03)]
    [system.add(RJ(f"pin {i}{j}", bodies[i], bodies[j], point=(x, 0.0, z), axis=(0.0, 1.0, 0.0))) for i, j, x, z in hinges]
    system.add(TJ("slide", system.ground, bodies[3], point=(-0.6, 0.0, 1.01), axis=(1.0, 0.0, 1.0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4, 23, 27])
def test_a_dead_centre_beside_a_far_start_is_no_contradiction(seed):
    """Scattered in space, searches end where a loop all but closes: rows depend on each other at this pose only, and close elsewhere."""
    rng = np.random.default_rng(seed)
    model = arms_on_a_slide().compile()
    start = model.state()
    r, p = start.r.copy(), start.p.copy()
    r[1:] += 3.0 * rng.uniform(-1.0, 1.0, (model.nb, 3))
    p[1:] = normalized(rng.normal(size=(model.nb, 4)))
    assembly = mbd.assemble(model, start.replace(r=r, p=p))
    assert not assembly.contradictions
    assert np.abs(mbd.evaluate(model, assembly.state).Phi).max() < CLOSED


def weighed(model, start, state):
    """How far all bodies have moved from a start, weighed by their inertia."""
    turn = np.linalg.norm(logarithm(product(conjugate(normalized(start.p[1:])), state.p[1:])), axis=1)
    shift = np.linalg.norm(start.r[1:] - state.r[1:], axis=1)
    return float(np.sum(model.mass[1:] * shift**2 + np.trace(model.J_bar[1:], axis1=1, axis2=2) / 3 * turn**2))


@pytest.mark.slow
@pytest.mark.parametrize(("closing", "seed"), [("CJ", 2), ("CJ", 10), ("CJ", 29), ("UJ", 7), ("UJ", 39), ("SJ", 3)])
def test_a_model_that_is_closed_as_modelled_ends_no_farther_than_that_pose(closing, seed):
    """One body is thrown away, so that the modelled pose is near: assembly was drawn into another branch, ten times as far."""
    rng = np.random.default_rng(seed)
    model = closed_loop(closing).compile()
    y = model.state()
    thrown, r, p = 1 + seed % model.nb, y.r.copy(), y.p.copy()
    r[thrown] += model.length * rng.normal(size=3)
    p[thrown] = normalized(rng.normal(size=4))
    start = y.replace(r=r, p=p)
    assembly = mbd.assemble(model, start)
    assert np.abs(mbd.evaluate(model, assembly.state).Phi).max() < CLOSED
    assert weighed(model, start, assembly.state) < 1.1 * weighed(model, start, y)


@pytest.mark.parametrize("light", [1e-6, 1e-9, 1e-12, 1e-15])
def test_velocities_of_drivers_fit_beside_light_bodies(light):
    """A slide of hardly any mass carries an arm, and both are driven: the rows between them hardly see the arm in the metric of inertia."""
    system = mbd.System("slide and arm", gravity=(0, 0, -9.81))
    slide = system.add(mbd.Body("slide", light, (0.05 * light, 0.06 * light, 0.07 * light), r=(0.5, 0, 0.6)))
    arm = system.add(mbd.Body("arm", 1.1, (0.046, 0.051, 0.061), r=(-0.8, 0, -0.2)))
    rail = system.add(TJ("rail", system.ground, slide, point=(0.4, 0, 0.5), axis=(0.6, 0, 0.8)))
    pin = system.add(RJ("pin", slide, arm, point=(0.1, 0, 0.3), axis=(0, 1, 0)))
    system.add(TranslationDriver("out", rail, lambda t: 0.26 * t))
    system.add(RotationDriver("turn", pin, lambda t: 0.14 * t))
    state = mbd.assemble(system).state
    assert np.allclose(state.v[1], [0.6 * 0.26, 0, 0.8 * 0.26], rtol=1e-9, atol=1e-9)
    assert np.allclose(state.omega_bar[2], [0, 0.14, 0], rtol=1e-9, atol=1e-9)
    lever = np.array([-0.8, 0, -0.2]) - np.array([0.1, 0, 0.3])
    assert np.allclose(state.v[2], state.v[1] + np.cross([0, 0.14, 0], lever), rtol=1e-9, atol=1e-9)
