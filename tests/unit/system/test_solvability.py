"""Rows that depend on one another, and axes that nothing holds: against the dense SVD, and in words."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from haugmbd import CD, DP1, Body, Joint, Model, ModelError, Rotation, System, evaluate
from haugmbd.model.dependent_rows import RankReport
from haugmbd.redundancy.rank import rank_report, row_scale
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, RotationDriver
from tests.support.work import assert_linear, work_of

J = (0.1, 0.2, 0.25)
X, Y, Z = np.eye(3)
REPORT_TOL = 1e-9  # coefficients against dense rows: rounding of the elimination and of the condition of the rows


def loop(points: list[np.ndarray], axes: list[np.ndarray], last: Callable[..., Joint] = RJ) -> System:
    """A closed loop of revolute joints: ground, then bodies between consecutive points."""
    system = System("loop", gravity=(0, 0, -9.81))
    bodies = [system.ground]
    for k in range(len(points) - 1):
        bodies.append(system.add(Body(f"b{k}", 1.0, J, r=(points[k] + points[k + 1]) / 2)))
    for k, (point, axis) in enumerate(zip(points[:-1], axes[:-1], strict=True)):
        system.add(RJ(f"r{k}", bodies[k], bodies[k + 1], point=point, axis=axis))
    arguments = {"point": points[-1]} if last is SJ else {"point": points[-1], "axis": axes[-1]}
    system.add(last("last", bodies[-1], system.ground, **arguments))
    return system


def four_bar(last: Callable[..., Joint] = RJ) -> System:
    points = [np.array(p, dtype=float) for p in ((0, 0, 0), (0, 1, 0), (3, 2, 0), (4, 0, 0))]
    return loop(points, [Z] * 4, last)


def parallelogram() -> System:
    points = [np.array(p, dtype=float) for p in ((0, 0, 0), (0.3, 1, 0), (2.3, 1, 0), (2, 0, 0))]
    return loop(points, [Z] * 4)


def bennett(a: float = 1.0, alpha: float = 0.7, theta: float = 1.1) -> System:
    """Bennett's linkage of equal sides a, twists alpha and pi - alpha: spatial, 4 RJ, mobile though Gruebler counts -2."""
    b, beta = a * sin(pi - alpha) / sin(alpha), pi - alpha
    other = 2 * np.arctan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / np.tan(theta / 2))
    frame, points, axes = np.eye(4), [], []
    for angle, length, twist in ((theta, a, alpha), (other, b, beta), (-theta, a, alpha), (-other, b, beta)):
        points.append(frame[:3, 3].copy())
        axes.append(frame[:3, 2].copy())
        c, s, ca, sa = cos(angle), sin(angle), cos(twist), sin(twist)
        frame = frame @ np.array([[c, -s * ca, s * sa, length * c], [s, c * ca, -c * sa, length * s], [0, sa, ca, 0], [0, 0, 0, 1]])
    assert np.allclose(frame, np.eye(4), atol=1e-12), frame
    return loop(points, axes)


def examined(system: System) -> tuple[Model, RankReport]:
    model = system.compile(check_pose=False)
    return model, rank_report(model, evaluate(model))


def dense_rank(model: Model) -> int:
    J = evaluate(model).Phi_q.toarray()
    lengths = np.linalg.norm(J, axis=1)
    s = np.linalg.svd(J / np.where(lengths > 0, lengths, 1.0)[:, None], compute_uv=False)
    return int(np.sum(s > 1e-9 * s[0]))


def assert_true(model: Model, report: RankReport) -> None:
    """The rank is that of the SVD, and every dependency holds for the rows themselves."""
    J = evaluate(model).Phi_q.toarray()
    assert report.rows == model.nc == len(J)
    assert report.rank == dense_rank(model)
    assert len(report.dropped) == report.rows - report.rank
    dropped = set(report.dropped)
    for row, terms in report.dependencies:
        assert not dropped & {k for k, _ in terms}
        total = sum((c * J[k] for k, c in terms), np.zeros(J.shape[1]))
        np.testing.assert_allclose(total, J[row], atol=REPORT_TOL * max(1.0, np.abs(J[row]).max()))


MECHANISMS = {
    "four-bar": (four_bar, 20, 17),
    "parallelogram": (parallelogram, 20, 17),
    "Bennett": (bennett, 20, 17),
    "four-bar with SJ": (lambda: four_bar(SJ), 18, 17),
    "four-bar with CJ": (lambda: four_bar(CJ), 19, 17),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_rank_of_known_mechanisms(name: str) -> None:
    make, rows, rank = MECHANISMS[name]
    model, report = examined(make())
    assert (report.rows, report.rank) == (rows, rank)
    assert_true(model, report)
    assert make().faults() == ()
    found = make().compile().redundancy
    assert (found.n_rows, found.rank, found.dropped) == (rows, rank, report.dropped)
    assert found.dependencies == report.dependencies
    assert found.consistent
    assert found.only_here == ()
    assert f"{rows} rows, rank {rank}" in str(found)
    assert all(str(model.labels[row]) in str(found) for row in report.dropped)


def test_a_four_bar_that_follows_the_advice() -> None:
    system = System("good four-bar")
    points = [np.array(p, dtype=float) for p in ((0, 0, 0), (0, 1, 0), (3, 2, 0), (4, 0, 0))]
    a, b, c = (system.add(Body(name, 1.0, J, r=(points[k] + points[k + 1]) / 2)) for k, name in enumerate("abc"))
    system.add(RJ("r0", system.ground, a, point=points[0], axis=Z))
    system.add(SJ("s1", a, b, point=points[1]))
    system.add(UJ("u2", b, c, point=points[2], axis_i=Z, axis_j=Y))
    system.add(RJ("r3", c, system.ground, point=points[3], axis=Z))
    model, report = examined(system)
    assert_true(model, report)
    assert report.rank == report.rows
    assert system.faults() == ()
    assert "no row depends" in str(system.compile().redundancy)


def random_mechanism(seed: int) -> System:
    """A tree of random joints, closed by a few more; some closures double what is already there."""
    rng = np.random.default_rng(seed)
    system = System("random")
    bodies = [system.ground]
    for k in range(12):
        at = rng.normal(size=3) * 2
        parent = bodies[rng.integers(len(bodies))]
        body = system.add(Body(f"b{k}", 1.0, J, r=at))
        bodies.append(body)
        between, axis = at + rng.normal(size=3), rng.normal(size=3)
        other = np.cross(axis, rng.normal(size=3))
        make = [
            lambda name, i, j, p=between, a=axis: RJ(name, i, j, point=p, axis=a),
            lambda name, i, j, p=between: SJ(name, i, j, point=p),
            lambda name, i, j, p=between, a=axis: TJ(name, i, j, point=p, axis=a),
            lambda name, i, j, p=between, a=axis, b=other: UJ(name, i, j, point=p, axis_i=a, axis_j=b),
            lambda name, i, j, p=between, a=axis: CJ(name, i, j, point=p, axis=a),
        ][rng.integers(5)]
        system.add(make(f"j{k}", parent, body))
        if rng.random() < 0.05:
            system.add(make(f"double {k}", body, parent) if rng.random() < 0.5 else make(f"double {k}", parent, body))
    for k in range(3):
        i, j = rng.choice(len(bodies), size=2, replace=False)
        point = rng.normal(size=3)
        if rng.random() < 0.5:
            system.add(SJ(f"closure {k}", bodies[i], bodies[j], point=point))
        else:
            system.add(RJ(f"closure {k}", bodies[i], bodies[j], point=point, axis=rng.normal(size=3)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_rank_of_random_mechanisms(seed: int) -> None:
    model, report = examined(random_mechanism(seed))
    assert_true(model, report)


@pytest.mark.slow
def test_some_of_the_random_mechanisms_are_dependent() -> None:
    ranks = [examined(random_mechanism(seed))[1] for seed in range(25)]
    assert sum(r.rank < r.rows for r in ranks) >= 5
    assert sum(r.rank == r.rows for r in ranks) >= 1


def test_groups_that_share_no_joint_are_faults_of_their_own() -> None:
    system = System("pairs")
    for k in range(2):
        body = system.add(Body(f"b{k}", 1.0, J, r=(3 * k, 0, 0)))
        hub = system.add(RJ(f"hub {k}", system.ground, body, point=(3 * k, 1, 0), axis=Z))
        for name, rate in (("l", 1.0), ("r", 2.0)):
            system.add(RotationDriver(f"{name}{k}", hub, lambda t, rate=rate: rate * t))
    wheres = [fault.where for fault in system.faults()]
    assert len(wheres) == 2
    for k, where in enumerate(wheres):
        assert f"'l{k}'" in where
        assert f"'r{k}'" in where
        assert str(1 - k) not in where


def test_more_than_six_rows_on_a_body() -> None:
    system = System("welded")
    body = system.add(Body("b", 1.0, J, r=(1, 0, 0)))
    system.add(Fixed("weld", system.ground, body, point=(0, 0, 0)))
    system.add(Distance("strut", system.ground, body, point_i=(0, 3, 0), point_j=(1, 0, 1)))
    model, report = examined(system)
    assert_true(model, report)
    assert report.rank == 6
    assert "7 rows, rank 6" in str(system.compile().redundancy)


def motors(rate: float) -> System:
    system = System("motors")
    wheel = system.add(Body("wheel", 1.0, J))
    hub = system.add(RJ("hub", system.ground, wheel, point=(0, 0, 0), axis=Z))
    system.add(RotationDriver("left", hub, lambda t: t))
    system.add(RotationDriver("right", hub, lambda t: rate * t))
    return system


def test_drivers_that_conflict() -> None:
    (fault,) = motors(3.0).faults()
    assert "'left'" in fault.where
    assert "'right'" in fault.where
    assert "CONFLICT (prescribed rates differ by 2)" in fault.what
    with pytest.raises(ModelError, match="CONFLICT"):
        motors(3.0).compile()


def test_drivers_that_agree_are_one_row_too_many() -> None:
    found = motors(1.0).compile().redundancy
    assert found.joints == ("right",)
    assert found.consistent


def test_a_row_without_gradient() -> None:
    system = System("flat")
    body = system.add(Body("b", 1.0, J))
    system.add(RJ("hub", system.ground, body, point=(0, 0, 0), axis=Z))
    system.add(DP1(system.ground, X, body, X, np.cos))
    (fault,) = system.faults()
    assert fault.where == "joint 'DP1 1'"
    assert "gradient" in fault.what
    assert "Rotation" in fault.remedy
    assert_true(*examined(system))
    better = System("driven")
    body = better.add(Body("b", 1.0, J))
    better.add(RJ("hub", better.ground, body, point=(0, 0, 0), axis=Z))
    better.add(Rotation(better.ground, X, Y, body, X, lambda t: t))
    assert better.faults() == ()


def test_the_report_reads_as_text() -> None:
    _, report = examined(four_bar())
    lines = str(report).splitlines()
    assert lines[0] == "20 rows, rank 17"
    assert len(lines) == 4
    assert all(" = " in line for line in lines[1:])
    assert report.joints_of(report.dependencies[0])


def chain(n: int, joint: Callable[..., Joint] = RJ) -> System:
    rng = np.random.default_rng(n)
    system, x = System("chain"), np.zeros(3)
    previous = system.ground
    for k in range(n):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        body = system.add(Body(f"b{k}", 1.0, J, r=x + d / 2))
        arguments = {"axis": rng.normal(size=3)} if joint is RJ else {}
        system.add(joint(f"j{k}", previous, body, point=x, **arguments))
        x, previous = x + d, body
    return system


@pytest.mark.slow
def test_a_long_chain_is_independent_and_its_check_is_linear() -> None:
    work = []
    for n in (60, 120):
        system = chain(n)
        assert system.faults() == ()
        work.append(work_of(system.faults))
    assert_linear(*work)  # a dense SVD would take four times the memory


@pytest.mark.slow
def test_a_long_welded_beam_is_not_taken_for_dependent() -> None:
    system, previous = System("beam"), None
    for k in range(300):
        body = system.add(Body(f"b{k}", 1.0, J, r=(k + 0.5, 0, 0)))
        system.add(Fixed(f"w{k}", previous or system.ground, body, point=(k, 0, 0)))
        previous = body
    assert system.faults() == ()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_rank_does_not_depend_on_units(scale: float) -> None:
    points = [scale * np.array(p, dtype=float) for p in ((0, 0, 0), (0, 1, 0), (3, 2, 0), (4, 0, 0))]
    _, report = examined(loop(points, [Z] * 4))
    assert (report.rows, report.rank) == (20, 17)


def test_row_scale_is_the_diagonal_of_the_compliance() -> None:
    model = random_mechanism(3).compile(check_pose=False)
    rows = evaluate(model)
    M = np.zeros((6 * model.nb, 6 * model.nb))
    for k in range(model.nb):
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = model.mass[k + 1] * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = model.J_bar[k + 1]
    J = rows.Phi_q.toarray()
    expected = np.diag(J @ np.linalg.solve(M, J.T))
    np.testing.assert_allclose(row_scale(model, rows), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.tables["SCALE"][model.nb + 1 :].ravel()[model.slot_of_row], row_scale(model, rows))


def rod_on(joint: Callable[[System, Body, Body], object]) -> System:
    """A slender rod along (1, 1, 0), hung on an arm."""
    system = System("rod")
    arm = system.add(Body("arm", 1.0, J, r=(0, 0, 1)))
    half = pi / 8
    rod = system.add(Body("rod", 1.0, (0, 0.5, 0.5), r=(1, 1, 0), p=(cos(half), 0, 0, sin(half))))
    joint(system, arm, rod)
    return system


def test_a_rod_on_a_ball_is_free_to_turn_about_itself() -> None:
    system = rod_on(lambda s, arm, rod: s.add(SJ("ball", arm, rod, point=(0, 0, 0))))
    (fault,) = system.faults()
    assert fault.where == "body 'rod'"
    assert "(1, 0, 0) in its frame" in fault.what
    assert "(0.7071, 0.7071, 0) global" in fault.what
    assert "UJ" in fault.remedy


def test_a_rod_on_a_ball_that_is_off_its_axis_is_determined() -> None:
    assert rod_on(lambda s, arm, rod: s.add(SJ("ball", arm, rod, point=(0, 0, 0.5)))).faults() == ()


def test_a_rod_on_a_universal_joint_is_determined() -> None:
    u = UJ
    assert rod_on(lambda s, arm, rod: s.add(u("cross", arm, rod, point=(0, 0, 0), axis_i=Z, axis_j=(1, -1, 0)))).faults() == ()
    assert rod_on(lambda s, arm, rod: s.add(RJ("hinge", arm, rod, point=(0, 0, 0), axis=Z))).faults() == ()


def test_a_rod_on_a_hinge_along_itself_is_free() -> None:
    (fault,) = rod_on(lambda s, arm, rod: s.add(RJ("hinge", s.ground, rod, point=(0, 0, 0), axis=(1, 1, 0)))).faults()
    assert fault.where == "body 'rod'"


def test_two_rods_that_turn_together_are_one_fault() -> None:
    system = System("shaft")
    rods = [system.add(Body(name, 1.0, (0, 0.5, 0.5), r=(k, 0, 0))) for k, name in enumerate(("left", "right"))]
    system.add(Fixed("weld", *rods, point=(0.5, 0, 0)))
    (fault,) = system.faults()
    assert fault.where == "bodies 'left', 'right'"
    assert "together" in fault.what


def test_a_rod_welded_to_a_body_with_inertia_is_determined() -> None:
    assert rod_on(lambda s, arm, rod: s.add(Fixed("weld", arm, rod, point=(0, 0, 0)))).faults() == ()


def test_point_masses() -> None:
    system = System("points")
    ball = system.add(Body("ball", 1.0, (0, 0, 0), r=(1, 0, 0)))
    system.add(Distance("string", system.ground, ball, point_i=(0, 0, 0), point_j=(1, 0, 0)))
    (fault,) = system.faults()
    assert fault.where == "body 'ball'"
    assert fault.what.count("in its frame") == 3
    system.add(CD(Z, system.ground, (0, 0, 0), ball, (0, sqrt(2), 0)))
    (fault,) = system.faults()
    assert "body 'ball'" in fault.where or "joint" in fault.where


def test_a_point_mass_on_a_locked_orientation_is_determined() -> None:
    system = System("points")
    ball = system.add(Body("ball", 1.0, (0, 0, 0), r=(1, 0, 0)))
    system.add(TJ("slide", system.ground, ball, point=(1, 0, 0), axis=X))
    assert system.faults() == ()


def test_a_faulty_joint_that_might_hold_the_rod_leaves_it_unsaid() -> None:
    system = rod_on(lambda s, arm, rod: s.add(RJ("hinge", arm, rod, point=(0, 0, 0), axis=(0, 0, 0))))
    (fault,) = system.faults()
    assert fault.where == "joint 'hinge'"


def test_a_long_chain_of_rods() -> None:
    system, previous = System("rods"), None
    for k in range(60):
        body = system.add(Body(f"b{k}", 1.0, (0, 0.5, 0.5), r=(k + 0.5, 0, 0)))
        system.add(SJ(f"j{k}", previous or system.ground, body, point=(k, 0, 0)))
        previous = body
    assert {fault.where for fault in system.faults()} == {f"body 'b{k}'" for k in range(60)}
