"""What every joint must keep to; the joints are found in `joints.CATALOGUE`, and samples made by argument names."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from haugmbd import Body, Joint, evaluate
from haugmbd.math import euler_parameters
from tests.support.samples import (
    RANK_TOL,
    ROUNDING,
    SIDES,
    by_class,
    by_plain_class,
    geometry,
    jacobian,
    make_joint,
    model_of,
    random_state,
    vectors_of,
)

DIFFERENCE_TOL = 1e-9  # eighth-order differences with h = 0.005: some 1e-12


def row_space(J):
    """The projector on the rows of a matrix: what reactions and motions know of a constraint, however its rows are mixed."""
    _, size, V = np.linalg.svd(J.reshape(len(J), -1), full_matrices=False)
    V = V[size > RANK_TOL]
    return V.T @ V


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["Phi_q", "nu", "gamma"])
@pytest.mark.parametrize("side", SIDES)
@by_class
def test_derivatives_are_those_of_Phi(report, cls, side, quantity):
    rows = report.rows[f"{cls.__name__} {side}"]
    assert len(rows) > 0
    assert report.errors[quantity][rows].max() < DIFFERENCE_TOL


@pytest.mark.slow
@by_class
@pytest.mark.parametrize("side", SIDES)
def test_rows_hold_at_the_modelled_pose_and_remove_the_documented_degrees_of_freedom(report, cls, side):
    rows = report.rows[f"{cls.__name__} {side}"]
    (documented,) = re.findall(r"Removes (\d) degrees? of freedom", cls.__doc__)
    at_pose = evaluate(report.model)
    assert np.abs(at_pose.Phi[rows]).max() < ROUNDING
    size = np.linalg.svd(jacobian(at_pose)[rows].reshape(len(rows), -1), compute_uv=False)
    assert (size > RANK_TOL).sum() == len(rows) == int(documented)


@pytest.mark.slow
@by_class
def test_a_driver_is_independent_of_the_joint_that_it_drives(cls, crank, rod, rng):
    joint, carrier = make_joint(cls, "sample", crank, rod, geometry(rng))
    parts = [part for part in (carrier, joint) if part is not None]
    J = jacobian(evaluate(model_of(*parts)))
    assert np.linalg.matrix_rank(J.reshape(len(J), -1), RANK_TOL) == sum(part.rows for part in parts)


@by_class
def test_a_joint_remembers_its_frames(cls, crank, rod, rng):
    values = geometry(rng)
    joint, _ = make_joint(cls, "sample", crank, rod, values)
    assert isinstance(joint, Joint)
    assert joint.faults() == ()
    assert (joint.name, joint.i, joint.j) == ("sample", crank, rod)
    assert joint.rows == len(joint.primitives())
    assert np.abs(joint.frame_i.A - joint.frame_j.A).max() < ROUNDING
    if "point" in inspect.signature(cls).parameters:
        assert np.abs(joint.frame_i.point - values["point"]).max() < ROUNDING
    if "point_i" not in inspect.signature(cls).parameters:
        assert np.abs(joint.frame_i.point - joint.frame_j.point).max() < ROUNDING
    if "axis" in inspect.signature(cls).parameters:
        assert np.abs(np.cross(joint.frame_i.A[:, 2], values["axis"])).max() < ROUNDING


@pytest.mark.slow
@by_plain_class
@pytest.mark.parametrize("side", SIDES)
def test_both_constructors_give_the_same_rows(cls, side, crank, rod, rng):
    i = Body.ground() if side == "ground i" else crank
    j = Body.ground() if side == "ground j" else rod
    joint, _ = make_joint(cls, "sample", i, j, geometry(rng))
    asked = inspect.signature(cls.from_vectors).parameters
    known = vectors_of(joint)
    assert set(asked) <= set(known), f"{cls.__name__}.from_vectors asks for something new: say in samples.vectors_of what it is"
    again = cls.from_vectors(*(known[name] for name in asked))
    assert again.faults() == ()
    for frame, other in ((joint.frame_i, again.frame_i), (joint.frame_j, again.frame_j)):
        assert np.abs(frame.s_bar - other.s_bar).max() < ROUNDING
        assert np.abs(frame.h - other.h).max() < ROUNDING
    for p, q in zip(joint.primitives(), again.primitives(), strict=True):
        assert (p.kind, p.i, p.j) == (q.kind, q.i, q.j)
        assert np.abs(p.f.values(0.3) - q.f.values(0.3)).max() < ROUNDING
        for (_, x), (_, y) in zip(p.markers(), q.markers(), strict=True):
            assert np.abs(x - y).max() < ROUNDING


@pytest.mark.slow
@by_plain_class
def test_optional_arguments_of_from_vectors_are_the_modelled_geometry(cls, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    known, asked = vectors_of(joint), inspect.signature(cls.from_vectors).parameters
    short = cls.from_vectors(*(known[name] for name, p in asked.items() if p.default is p.empty))
    assert short.faults() == ()
    assert np.abs(evaluate(model_of(short)).Phi).max() < ROUNDING


@by_plain_class
def test_rows_use_the_vectors_as_given(cls, crank, rod, rng):
    """Directions twice as long make rows twice as large, and the same frames; a distance and points stay."""
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    known, asked = vectors_of(joint), inspect.signature(cls.from_vectors).parameters
    doubled = {name: 2.0 * known[name] if name[:2] in ("a_", "b_", "c_") else known[name] for name in asked}
    long = cls.from_vectors(*doubled.values())
    assert long.faults() == ()
    assert np.abs(long.frame_j.A_bar - cls.from_vectors(*(known[name] for name in asked)).frame_j.A_bar).max() < ROUNDING
    for p, q in zip(joint.primitives(), long.primitives(), strict=True):
        for (_, x), (_, y) in zip(p.markers(), q.markers(), strict=True):
            scale = [k for k in (1.0, 2.0, 4.0) if np.abs(k * x - y).max() < ROUNDING]
            assert scale


@pytest.mark.slow
@by_class
def test_a_rigid_motion_of_everything_keeps_the_residuals_and_turns_the_row_space(cls, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    model = model_of(joint)
    state = random_state(model, rng, t=0.4)
    q, shift = euler_parameters.normalized(rng.normal(size=4)), rng.normal(size=3)
    R = euler_parameters.rotation_matrix(q)
    a = evaluate(model, state)
    b = evaluate(model, state.replace(r=state.r @ R.T + shift, p=euler_parameters.product(q, state.p), v=state.v @ R.T))
    for name in ("Phi", "nu", "gamma"):
        assert abs(np.linalg.norm(getattr(a, name)) - np.linalg.norm(getattr(b, name))) < ROUNDING
    J = jacobian(b).copy()
    J[:, :, :3] = J[:, :, :3] @ R
    assert np.abs(row_space(jacobian(a)) - row_space(J)).max() < 1e2 * ROUNDING  # an SVD of rows that need not be well conditioned


@pytest.mark.slow
@by_class
def test_swapping_the_bodies_gives_an_equivalent_joint(cls, crank, rod, rng):
    """Where the points of both bodies coincide, all rows but those of Phi = 0 are symmetric in i and j."""
    values = geometry(rng)
    joint, _ = make_joint(cls, "sample", crank, rod, values)
    if "point_i" in inspect.signature(cls).parameters and joint.rows > 1:
        pytest.skip("an arm about an axis of body i is not one about an axis of body j")
    swapped, _ = make_joint(cls, "sample", rod, crank, values)
    J, K = jacobian(evaluate(model_of(joint))), jacobian(evaluate(model_of(swapped)))
    # both models number their body i first: turn the second one round
    assert np.abs(row_space(J) - row_space(K[:, ::-1])).max() < 1e2 * ROUNDING


def relative_freedom(joint):
    """Motions of body j that the joint allows at the modelled pose while body i rests: (v of its point, omega), both global."""
    rows = evaluate(model_of(joint))
    J = jacobian(rows)[:, 1]
    _, size, V = np.linalg.svd(J)
    free = V[len(size[size > RANK_TOL]) :]
    arm = joint.j.A @ joint.frame_j.s_bar
    omega = free[:, 3:] @ joint.j.A.T
    return free[:, :3] + np.cross(omega, arm), omega


def is_one_line_along(vectors, h):
    """Whether the vectors span exactly the line of h."""
    return np.linalg.matrix_rank(vectors, RANK_TOL) == 1 and np.abs(np.cross(vectors, h)).max() < 1e2 * ROUNDING


@pytest.mark.slow
@by_plain_class
def test_a_joint_says_truly_whether_it_turns_about_or_slides_along_h(cls, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    v, omega = relative_freedom(joint)
    h = joint.frame_i.A[:, 2]
    assert joint.rotates_about_h == is_one_line_along(omega, h)
    assert joint.slides_along_h == is_one_line_along(v, h)


@pytest.mark.slow
@by_plain_class
def test_finite_motions_along_h_keep_the_rows(cls, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    model, h, P = model_of(joint), joint.frame_i.A[:, 2], joint.frame_i.point
    state = model.state()
    angle = 2.3 if joint.rotates_about_h else 0.0
    q = euler_parameters.from_axis_angle(h, np.float64(angle))
    r, p = state.r.copy(), state.p.copy()
    r[2] = P + euler_parameters.rotation_matrix(q) @ (r[2] - P) + (1.7 * h if joint.slides_along_h else 0.0)
    p[2] = euler_parameters.product(q, p[2])
    assert np.abs(evaluate(model, state.replace(r=r, p=p)).Phi).max() < ROUNDING
