"""A body keeps what it is given, and says everything that is wrong with it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import quaternion
from scipy.spatial.transform import Rotation

from haugmbd import Body
from haugmbd.bodies.inertia import box, point_mass, rod

GOOD = {"mass": 2.0, "J_bar": (1.0, 2.0, 2.5)}


def body(**changes):
    return Body("crank", **(GOOD | changes))


def test_a_good_body_has_no_faults_and_read_only_arrays():
    link = Body("link", mass=78.0, J_bar=(0.0325, 104.01625, 104.01625), r=(2, 0, 0))
    assert link.faults() == ()
    assert not link.is_ground
    assert (link.mass, link.r.tolist(), link.p.tolist()) == (78.0, [2, 0, 0], [1, 0, 0, 0])
    assert np.array_equal(link.J_bar, np.diag([0.0325, 104.01625, 104.01625]))
    for array in (link.J_bar, link.r, link.p, link.v, link.omega_bar, link.A):
        assert array.dtype == np.float64
        assert not array.flags.writeable


def test_a_body_does_not_share_its_arrays_with_the_caller():
    r = np.zeros(3)
    link = body(r=r)
    r[0] = 5.0
    assert link.r[0] == 0.0


def test_a_full_inertia_matrix_is_kept():
    J = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    assert np.array_equal(body(J_bar=J).J_bar, J)
    assert body(J_bar=J).faults() == ()


def test_bodies_are_equal_only_to_themselves():
    one, other = body(), body()
    assert one == one
    assert one != other
    assert len({one, other}) == 2


@pytest.mark.parametrize("name", ["mass", "r", "nonsense"])
def test_assignment_says_what_to_do(name):
    with pytest.raises(AttributeError, match=f"{name} of body 'crank' cannot be set. Make a new Body"):
        setattr(body(), name, 1.0)
    with pytest.raises(AttributeError, match="frozen"):
        delattr(body(), name)


def test_p_may_be_four_numbers_or_a_numpy_quaternion():
    q = quaternion.from_rotation_vector([0.3, -0.2, 0.5])
    numbers = quaternion.as_float_array(q)
    for p in (q, np.array(q), np.array([q]), tuple(numbers)):
        link = body(p=p)
        assert link.faults() == ()
        assert np.abs(link.p - numbers).max() < 1e-15
    # 1e-15: a dozen products of numbers below 1
    assert np.abs(link.A - Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()).max() < 1e-15


def test_rounding_of_p_is_normalised_away():
    link = body(p=(0.7071, 0, 0.7071, 0))
    assert link.faults() == ()
    assert np.linalg.norm(link.p) == pytest.approx(1.0, abs=1e-15)


FAULTY = {
    "negative mass": ({"mass": -1.0}, "mass is -1.0 kg, must be positive"),
    "nan mass": ({"mass": np.nan}, "mass is nan, not finite"),
    "infinite mass": ({"mass": np.inf}, "mass is inf, not finite"),
    "text as mass": ({"mass": "2"}, "mass is '2', not a number"),
    "vector as mass": ({"mass": [1.0, 2.0]}, "not a number"),
    "r of two numbers": ({"r": (1, 2)}, r"r has shape (2,), expected (3,)"),
    "r with nan": ({"r": (1, np.nan, 0)}, "r = [1.0, nan, 0.0] is not finite"),
    "r of text": ({"r": "abc"}, "r is 'abc', not an array of numbers"),
    "r missing": ({"r": None}, "r is None"),
    "ragged r": ({"r": [[1], [2, 3], 4]}, "not an array of numbers"),
    "complex v": ({"v": (1j, 0, 0)}, "v is (1j, 0, 0)"),
    "omega as column": ({"omega_bar": np.zeros((3, 1))}, "omega_bar has shape (3, 1)"),
    "J of two numbers": ({"J_bar": (1, 2)}, "J_bar has shape (2,), expected (3, 3) or (3,)"),
    "J with nan": ({"J_bar": (1, np.nan, 1)}, "J_bar = [1.0, nan, 1.0] is not finite"),
    "asymmetric J": ({"J_bar": [[2, 0.1, 0], [0.2, 2, 0], [0, 0, 2]]}, "J_bar[0, 1] = 0.1 but J_bar[1, 0] = 0.2"),
    "negative J": ({"J_bar": (-1, 2, 2)}, "negative principal moment (principal moments -1, 2, 2"),
    "all negative J": ({"J_bar": (-1, -2, -3)}, "negative principal moment"),
    "indefinite J": ({"J_bar": [[1, 3, 0], [3, 1, 0], [0, 0, 1]]}, "negative principal moment"),
    "triangle": ({"J_bar": (1, 1, 3)}, "triangle inequality: principal moments 1, 1, 3 kg m2, and 3 > 1 + 1"),
    "needle of one axis": ({"J_bar": (0, 0, 1)}, "triangle inequality"),
    "p far from unit": ({"p": (1, 0, 0, 1)}, "far from unit: |p| = 1.41421"),
    "zero p": ({"p": (0, 0, 0, 0)}, "far from unit: |p| = 0"),
    "p of three numbers": ({"p": (1, 0, 0)}, "p has shape (3,), expected (4,)"),
    "p from scipy": ({"p": Rotation.identity()}, "p is "),
    "p with nan": ({"p": (np.nan, 0, 0, 0)}, "is not finite"),
}


@pytest.mark.parametrize(("change", "text"), FAULTY.values(), ids=FAULTY.keys())
def test_each_bad_value_is_one_fault_with_its_number_and_a_remedy(change, text):
    (fault,) = body(**change).faults()
    assert fault.where == "body 'crank'"
    assert text in fault.what
    assert fault.remedy.endswith(".")
    assert str(fault) == f"{fault.where}: {fault.what}. {fault.remedy}"


def test_all_faults_are_found_at_once():
    faults = Body("", mass=-1, J_bar=(1, 1, 9), r="x", p=(2, 0, 0, 0), v=(0,), omega_bar=np.inf).faults()
    assert len(faults) == 7


def test_an_unphysical_inertia_within_rounding_is_accepted():
    assert body(J_bar=(0.0833, 0.3333, 0.4167)).faults() == ()  # a lamina of 1 m x 2 m and 1 kg, typed with four digits
    assert body(J_bar=(1.0, 1.0, 2.01)).faults() != ()


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_massless_axis_of_a_rod_is_its_own(angle):
    A = Rotation.from_rotvec([0, angle, angle / 2]).as_matrix()
    axis = A @ [1.0, 0.0, 0.0]
    for J in (A @ np.diag([0.0, 1.0, 1.0]) @ A.T, rod(2.0, mass=3.0, axis=axis).J_bar):
        slender = body(J_bar=J)
        assert slender.faults() == ()
        assert slender.massless_axes().shape == (1, 3)
        assert np.abs(np.cross(slender.massless_axes()[0], axis)).max() < 1e-12  # as MASSLESS_RTOL


def test_massless_axes_of_other_bodies():
    assert np.array_equal(np.abs(Body("particle", *point_mass(1.0)).massless_axes()), np.eye(3))
    assert Body("brick", *box((1, 2, 3), mass=1.0)).massless_axes().shape == (0, 3)
    assert body(J_bar=(1e-10, 1.0, 1.0)).massless_axes().shape == (0, 3)  # a thin wire is not a massless one
    assert body(J_bar=(1, 1, 9)).massless_axes().shape == (0, 3)  # faulty


def test_ground():
    ground = Body.ground()
    assert ground.is_ground
    assert ground.faults() == ()
    assert ground.massless_axes().shape == (0, 3)
    assert np.array_equal(ground.A, np.eye(3))
    with pytest.raises(AttributeError, match="frozen"):
        ground.mass = 1.0


def test_a_body_survives_pickling():
    link = pickle.loads(pickle.dumps(body(p=(0.6, 0, 0.8, 0), r=(1, 2, 3))))
    assert np.array_equal(link.A, body(p=(0.6, 0, 0.8, 0)).A)
    assert not link.r.flags.writeable
    assert link.faults() == ()


def test_repr_names_the_body():
    assert repr(body()).startswith("Body('crank', mass=2.0, J_bar=[[1.0, 0.0, 0.0]")
    assert repr(Body.ground()) == "Body.ground('ground')"
    wrong = repr(body(J_bar=(1.0, 1e308, 1.0)))
    assert "'crank'" in wrong
    assert "1e+308" in wrong
    assert "nan" not in wrong


def test_equal_numbers_are_shared_and_cannot_be_written_to():
    one, other = (Body(name, 1.0, (0.1, 0.2, 0.2), r=(k, 0.0, 0.0)) for k, name in enumerate(("one", "other")))
    assert one.J_bar is other.J_bar
    assert one.A is other.A
    assert not one.J_bar.flags.writeable
    assert np.array_equal(one.v, np.zeros(3))
    turned = Body("turned", 1.0, (0.2, 0.1, 0.2), p=(0.6, 0.8, 0.0, 0.0))
    assert not np.array_equal(turned.J_bar, one.J_bar)
    np.testing.assert_allclose(turned.A, [[1.0, 0.0, 0.0], [0.0, -0.28, -0.96], [0.0, 0.96, -0.28]], atol=1e-15)
