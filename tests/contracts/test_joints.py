"""What every joint must keep to; the joints are found in `joints.CATALOGUE`, and samples made by argument names."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import joints
from haugmbd import Body, Fault, ModelError, UsageError
from haugmbd.constraints import Joint
from haugmbd.math import euler_parameters
from haugmbd.model.constraint_rows import evaluate
from haugmbd.system.system import System
from tests.support.samples import (
    SIDES,
    carrier_classes,
    drives,
    geometry,
    jacobian,
    make_joint,
    model_of,
    random_body,
    random_state,
    vectors_of,
)

DIFFERENCE_TOL = 1e-9  # eighth-order differences with h = 0.005: some 1e-12
ROUNDING = 1e-12  # some dozen products of numbers of size 1 to 10
RANK_TOL = 1e-8  # singular values of samples are above 1e-3, rounding is 1e-15

PLAIN = [cls for cls in joints.CATALOGUE if not drives(cls)]
by_class = pytest.mark.parametrize("cls", joints.CATALOGUE, ids=lambda cls: cls.__name__)
by_plain_class = pytest.mark.parametrize("cls", PLAIN, ids=lambda cls: cls.__name__)


@pytest.fixture
def crank(rng):
    return random_body("crank", rng)


@pytest.fixture
def rod(rng):
    return random_body("rod", rng)


def row_space(J):
    """The projector on the rows of a matrix: what reactions and motions know of a constraint, however its rows are mixed."""
    _, size, V = np.linalg.svd(J.reshape(len(J), -1), full_matrices=False)
    V = V[size > RANK_TOL]
    return V.T @ V


@pytest.mark.parametrize("quantity", ["Phi_q", "nu", "gamma"])
@pytest.mark.parametrize("side", SIDES)
@by_class
def test_derivatives_are_those_of_Phi(report, cls, side, quantity):
    rows = report.rows[f"{cls.__name__} {side}"]
    assert len(rows) > 0
    assert report.errors[quantity][rows].max() < DIFFERENCE_TOL


@by_class
@pytest.mark.parametrize("side", SIDES)
def test_rows_hold_at_the_modelled_pose_and_remove_the_documented_degrees_of_freedom(report, cls, side):
    rows = report.rows[f"{cls.__name__} {side}"]
    (documented,) = re.findall(r"Removes (\d) degrees? of freedom", cls.__doc__)
    at_pose = evaluate(report.model)
    assert np.abs(at_pose.Phi[rows]).max() < ROUNDING
    size = np.linalg.svd(jacobian(at_pose)[rows].reshape(len(rows), -1), compute_uv=False)
    assert (size > RANK_TOL).sum() == len(rows) == int(documented)


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


@by_plain_class
def test_a_joint_says_truly_whether_it_turns_about_or_slides_along_h(cls, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    v, omega = relative_freedom(joint)
    h = joint.frame_i.A[:, 2]
    assert joint.rotates_about_h == is_one_line_along(omega, h)
    assert joint.slides_along_h == is_one_line_along(v, h)


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


# --- drivers -----------------------------------------------------------------------------------------------------------------


def turned(model, joint, angle):
    """The modelled state with body j (number 2) turned about h of the joint."""
    q = euler_parameters.from_axis_angle(joint.frame_i.A[:, 2], np.float64(angle))
    state, P = model.state(), joint.frame_i.point
    r, p = state.r.copy(), state.p.copy()
    r[2] = P + euler_parameters.rotation_matrix(q) @ (r[2] - P)
    p[2] = euler_parameters.product(q, p[2])
    return state.replace(r=r, p=p)


@pytest.mark.parametrize("carrier", carrier_classes()[joints.RotationDriver], ids=lambda cls: cls.__name__)
def test_a_rotation_driver_is_exact_through_ten_turns(carrier, crank, rod, rng):
    joint, _ = make_joint(carrier, "pin", crank, rod, geometry(rng))
    motor = joints.RotationDriver("motor", joint, (lambda t: 20.0 * np.pi * t, lambda t: 20.0 * np.pi, lambda t: 0.0))
    model = model_of(joint, motor)
    (row,) = model.joints["motor"].rows
    for t in np.linspace(0.0, 1.0, 101):
        rows = evaluate(model, turned(model, joint, 20.0 * np.pi * t).replace(t=t))
        assert np.abs(rows.Phi).max() < 20 * ROUNDING  # sin and cos of up to 63 rad
        assert abs(rows.nu[row]) == pytest.approx(20.0 * np.pi, rel=ROUNDING)
        assert np.linalg.norm(rows.PiBar[row, 1]) == pytest.approx(1.0, rel=ROUNDING)


def test_the_angle_counts_body_j_about_h(crank, rod, rng):
    pin = joints.RJ("pin", crank, rod, point=(1, 2, 3), axis=(0, 0, 1))
    motor = joints.RotationDriver("motor", pin, lambda t: t)
    model = model_of(motor)
    assert np.abs(evaluate(model, turned(model, pin, 0.5).replace(t=0.5)).Phi).max() < ROUNDING
    assert np.abs(evaluate(model, turned(model, pin, -0.5).replace(t=0.5)).Phi).max() > 0.8  # sin(1) = 0.84


@pytest.mark.parametrize("cls", [c for c in joints.CATALOGUE if drives(c)], ids=lambda cls: cls.__name__)
def test_a_driver_refuses_what_it_cannot_drive_and_says_what_it_can(cls, crank, rod, rng):
    refused = [other for other in PLAIN if other not in carrier_classes()[cls]]
    assert refused
    for other in refused:
        joint, _ = make_joint(other, "knee", crank, rod, geometry(rng))
        (fault,) = cls("motor", joint, 0.0).faults()
        assert fault.where == "joint 'motor'"
        assert f"{other.__name__}('knee'" in fault.what
        assert all(able.__name__ in fault.remedy for able in carrier_classes()[cls])


@pytest.mark.parametrize("f0", [np.pi, 3.0, -2.0])
def test_a_rotation_driver_that_begins_half_a_turn_off_is_refused(f0, crank, rod):
    pin = joints.RJ("pin", crank, rod, point=(1, 2, 3), axis=(0, 0, 1))

    def compiled(f):
        system = System("motor")
        for part in (crank, rod, pin, joints.RotationDriver("motor", pin, f)):
            system.add(part)
        return system.compile()

    with pytest.raises(ModelError, match=rf"'motor': the driver of Rotation gives {f0:.9g} rad at t = 0 s") as refused:
        compiled(lambda t: f0 + t)
    assert len(refused.value.faults) == 1
    whole_turn = compiled(lambda t: 2.0 * np.pi + t)
    assert np.abs(evaluate(whole_turn, whole_turn.state()).Phi).max() < ROUNDING


def test_a_translation_driver_moves_body_j_along_h(crank, rod):
    slider = joints.TJ("slider", crank, rod, point=(1, 2, 3), axis=(0, 0, 5))
    model = model_of(slider, joints.TranslationDriver("motor", slider, lambda t: 0.3 * t))
    state = model.state()
    r = state.r.copy()
    r[2] += (0, 0, 0.6)
    assert np.abs(evaluate(model, state.replace(t=2.0, r=r)).Phi).max() < ROUNDING


def test_a_driver_needs_a_joint():
    with pytest.raises(UsageError, match="drives a joint, got 'pin'"):
        joints.RotationDriver("motor", "pin", 0.0)


# --- bad input ---------------------------------------------------------------------------------------------------------------

BAD_VECTORS = {"text": "up", "None": None, "short": (1.0, 2.0), "NaN": (0.0, np.nan, 1.0), "infinite": (np.inf, 0.0, 0.0)}
BAD_NUMBERS = {"text": "far", "list": [1.0, 2.0], "NaN": np.nan}


def bad_values(name, parameter):
    """What cannot be meant by an argument of this name."""
    if name in ("name", "i", "j", "joint"):
        return {}
    if name in ("f", "distance"):
        return BAD_NUMBERS
    zero = {} if name.startswith(("point", "s_")) else {"zero": (0.0, 0.0, 0.0)}
    bad = BAD_VECTORS | zero
    return {label: value for label, value in bad.items() if not (value is None and parameter.default is None)}


def bad_cases(make_of):
    return [
        pytest.param(cls, name, bad, id=f"{cls.__name__}-{name}-{label}")
        for cls in joints.CATALOGUE
        if make_of(cls) is not None
        for name, parameter in inspect.signature(make_of(cls)).parameters.items()
        for label, bad in bad_values(name, parameter).items()
    ]


def check_faults(faults):
    assert faults
    for fault in faults:
        assert isinstance(fault, Fault)
        assert "'sample'" in fault.where
        assert fault.what
        assert fault.remedy.endswith(".")
    assert len(faults) == 1, "one mistake is one fault"


@pytest.mark.parametrize(("cls", "name", "bad"), bad_cases(lambda cls: cls))
def test_bad_global_geometry_is_a_fault_and_never_raises(cls, name, bad, crank, rod, rng):
    known = dict(name="sample", i=crank, j=rod, f=0.0) | geometry(rng)
    if drives(cls):
        known["joint"], _ = make_joint(carrier_classes()[cls][0], "carrier", crank, rod, geometry(rng))
    known[name] = bad
    asked = [n for n, p in inspect.signature(cls).parameters.items() if n in known and (n == name or p.default is p.empty)]
    check_faults(cls(**{n: known[n] for n in asked}).faults())


@pytest.mark.parametrize(("cls", "name", "bad"), bad_cases(lambda cls: None if drives(cls) else cls.from_vectors))
def test_bad_vectors_are_a_fault_and_never_raise(cls, name, bad, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    known = vectors_of(joint) | {name: bad}
    asked = inspect.signature(cls.from_vectors).parameters
    check_faults(cls.from_vectors(**{n: known[n] for n, p in asked.items() if n == name or p.default is p.empty}).faults())


@by_class
def test_all_mistakes_are_reported_at_once(cls, crank, rod, rng):
    values = {name: (np.nan, 0.0, 0.0) for name in geometry(rng)}
    vectors = [n for n, p in inspect.signature(cls).parameters.items() if n in values and p.default is p.empty]
    if drives(cls) or not vectors:
        pytest.skip("needs no vectors")
    faults = make_joint(cls, "sample", crank, rod, {name: values[name] for name in vectors})[0].faults()
    assert [name for fault in faults for name in vectors if fault.what.startswith(f"{name} = ")] == vectors


@by_plain_class
def test_a_faulty_body_is_not_blamed_on_the_joint(cls, rod, rng):
    crank = Body("crank", 1.0, (1, 1, 1), p=(0, 0, 0, 0), r="here")
    assert crank.faults()
    values = geometry(rng)
    joint, _ = make_joint(cls, "sample", crank, rod, values)
    assert joint.faults() == ()
    joint, _ = make_joint(cls, "sample", rod, crank, values)
    assert joint.faults() == ()


@by_plain_class
def test_a_name_is_not_a_body(cls, rod, rng):
    with pytest.raises(UsageError, match=r"needs two bodies, got 'crank'. Give the object that system.add"):
        make_joint(cls, "sample", "crank", rod, geometry(rng))


@by_class
def test_a_joint_between_a_body_and_itself_does_not_crash(cls, rod, rng):
    joint, _ = make_joint(cls, "sample", rod, rod, geometry(rng))
    assert joint.i is joint.j
    assert isinstance(joint.faults(), tuple)


def test_a_universal_joint_needs_crossed_axes(crank, rod):
    (fault,) = joints.UJ("hooke", crank, rod, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(0, 0, -2)).faults()
    assert str(fault).startswith("joint 'hooke': axis_i (on 'crank') and axis_j (on 'rod') are parallel")


def test_an_oblique_universal_joint_keeps_its_axes_so_that_the_gap_can_be_seen(crank, rod):
    joint = joints.UJ("hooke", crank, rod, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(0, 0.8, 0.6))
    assert joint.faults() == ()
    assert evaluate(model_of(joint)).Phi[3] == pytest.approx(0.6, abs=ROUNDING)


@pytest.mark.parametrize(
    "cls", [joints.Distance, joints.RevoluteSpherical, joints.UniversalSpherical], ids=lambda cls: cls.__name__
)
def test_a_distance_needs_two_points(cls, crank, rod, rng):
    values = geometry(rng)
    (fault,) = make_joint(cls, "rod", crank, rod, values | dict(point_j=values["point_i"]))[0].faults()
    assert "its two points coincide at (" in fault.what
    assert "SJ" in fault.remedy


@pytest.mark.parametrize("cls", [joints.RevoluteSpherical, joints.UniversalSpherical], ids=lambda cls: cls.__name__)
def test_an_arm_along_its_axis_is_refused(cls, crank, rod, rng):
    values = geometry(rng)
    (fault,) = make_joint(cls, "arm", crank, rod, values | dict(point_j=values["point_i"] + 2.0 * values["axis"]))[0].faults()
    assert "parallel to the axis on body 'crank'" in fault.what


@pytest.mark.parametrize("cls", [joints.TJ, joints.Fixed], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("angle", [0.0, np.pi, 0.4])
def test_the_lock_of_an_angle_needs_directions_that_are_not_parallel(cls, angle, crank, rod, rng):
    joint, _ = make_joint(cls, "sample", crank, rod, geometry(rng))
    known = vectors_of(joint)
    along = joint.i.A @ (np.cos(angle) * joint.frame_i.f + np.sin(angle) * joint.frame_i.g)
    known |= dict(a_bar_j=joint.j.A.T @ along)
    asked = [n for n in inspect.signature(cls.from_vectors).parameters if n != "f"]
    given = cls.from_vectors(*(known[n] for n in asked))
    if angle == 0.4:
        assert given.faults() == ()
        assert given.f.values(0.0)[0] == pytest.approx(np.cos(angle), rel=ROUNDING)
        assert np.abs(evaluate(model_of(given)).Phi).max() < ROUNDING
        return
    (fault,) = given.faults()
    assert "parallel as seen along the axis" in fault.what


# --- the catalogue -----------------------------------------------------------------------------------------------------------


def test_the_catalogue_holds_every_joint_that_the_package_exports():
    exported = {getattr(joints, name) for name in joints.__all__}
    classes = {x for x in exported if inspect.isclass(x) and issubclass(x, Joint) and not inspect.isabstract(x)}
    assert classes == set(joints.CATALOGUE)
    assert len(set(joints.CATALOGUE)) == len(joints.CATALOGUE)


@pytest.mark.parametrize(
    ("short", "kinds"),
    [
        ("SJ", ["CD"] * 3),
        ("UJ", ["CD"] * 3 + ["DP1"]),
        ("CJ", ["DP1"] * 2 + ["DP2"] * 2),
        ("RJ", ["CD"] * 3 + ["DP1"] * 2),
        ("TJ", ["DP1"] * 2 + ["DP2"] * 2 + ["DP1"]),
    ],
)
def test_the_five_joints_of_the_book_are_composed_as_its_table_says(short, kinds, crank, rod, rng):
    joint, _ = make_joint(getattr(joints, short), "sample", crank, rod, geometry(rng))
    assert [p.kind for p in joint.primitives()] == kinds


def test_a_fixed_joint_without_a_point_sits_at_the_centre_of_mass(crank, rod):
    assert np.abs(joints.Fixed("weld", crank, rod).frame_i.point - rod.r).max() < ROUNDING
    assert np.abs(joints.Fixed("weld", crank, Body.ground()).frame_j.point - crank.r).max() < ROUNDING


def test_long_names_are_the_same_classes():
    long = dict(Spherical="SJ", Universal="UJ", Cylindrical="CJ", Revolute="RJ", Translational="TJ")
    long |= dict(Distance="SS", RevoluteSpherical="RS", UniversalSpherical="US")
    for name, short in long.items():
        assert getattr(joints, name) is getattr(joints, short)


def test_a_joint_in_a_system_is_found_by_its_name(crank, rod):
    system = System("sample")
    for part in (crank, rod, joints.RJ("pin", crank, rod, point=(0, 0, 0), axis=(0, 1, 0))):
        system.add(part)
    entry = system.compile().joints["pin"]
    assert (entry.kind, entry.rows.tolist(), entry.i, entry.j) == ("RJ", [0, 1, 2, 3, 4], 1, 2)


def test_an_axis_given_backwards_keeps_its_rows_and_turns_the_frame(crank, rod):
    pin = joints.RJ("pin", crank, rod, point=(1, 2, 3), axis=(0, 0, 1))
    v = pin.vectors
    back = joints.RJ.from_vectors("pin", crank, v.s_bar_i, v.a_bar_i, v.b_bar_i, rod, v.s_bar_j, -v.c_bar_j)
    assert np.array_equal(back.primitives()[-1].a_bar_j, -v.c_bar_j)
    assert np.abs(back.frame_j.A - pin.frame_j.A).max() < ROUNDING
