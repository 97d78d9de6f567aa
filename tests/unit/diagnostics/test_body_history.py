"""Bodies and their points over time: derivatives by differences, SciPy's angles, named points, distances and angles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import haugmbd as mbd
from haugmbd.gallery import four_bar
from joints import RJ, SJ

EXACT = 1e-12
DIFFERENCES = 1e-4  # of h^2 / 6 times a third derivative of about 100


@pytest.fixture(scope="module")
def spatial():
    """A double pendulum that tumbles in space, with a strut."""
    system = mbd.System("tumbling", gravity=(0.3, -0.2, -9.81))
    upper = system.add(mbd.Body("upper", 2.0, (0.02, 0.03, 0.04), r=(0.3, 0, 0), omega_bar=(1, 2, 1), v=(0, 0.3, -0.6)))
    lower = system.add(mbd.Body("lower", 1.0, (0.01, 0.02, 0.02), r=(0.9, 0.1, 0), p=(0.8, 0.6, 0, 0)))
    system.add(SJ("hip", system.ground, upper, point=(0, 0, 0)))
    system.add(RJ("knee", upper, lower, point=(0.6, 0, 0), axis=(0, 1, 1)))
    system.add(mbd.TSDA("strut", system.ground, lower, point_i=(0, 0, 1), point_j=(1, 0.2, 0), k=20.0, l0=1.0))
    return mbd.simulate(system, 0.5, h=1e-3, project_velocity=True)


def slope(values, t):
    return np.gradient(values, t, axis=0)[1:-1]


def test_orientation_and_angular_velocity(spatial):
    body = spatial["lower"]
    np.testing.assert_allclose(body.A @ np.swapaxes(body.A, 1, 2), np.broadcast_to(np.eye(3), body.A.shape), atol=EXACT)
    A_dot = slope(body.A, body.t)
    skew = A_dot @ np.swapaxes(body.A, 1, 2)[1:-1]
    omega = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    np.testing.assert_allclose(omega, body.omega[1:-1], rtol=0.0, atol=DIFFERENCES * 10)
    np.testing.assert_allclose(slope(body.omega, body.t), body.omega_dot[1:-1], rtol=0.0, atol=DIFFERENCES * 1e2)
    np.testing.assert_allclose(body.a, spatial.v_dot[:, 2], rtol=0.0, atol=0.0)


def test_a_point_has_velocity_and_acceleration(spatial):
    point = spatial["lower"].point((0.3, -0.1, 0.2), "tip")
    A = Rotation.from_quat(np.roll(spatial["lower"].p, -1, axis=1)).as_matrix()
    np.testing.assert_allclose(point.r, spatial["lower"].r + A @ [0.3, -0.1, 0.2], rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(slope(point.r, point.t), point.v[1:-1], rtol=0.0, atol=DIFFERENCES)
    np.testing.assert_allclose(slope(point.v, point.t), point.a[1:-1], rtol=0.0, atol=DIFFERENCES * 1e2)
    assert "tip" in repr(point)
    with pytest.raises(mbd.UsageError, match=r"s_bar = \(1, 2\) must be three finite numbers"):
        spatial["lower"].point((1, 2))


@pytest.mark.parametrize("sequence", ["ZXZ", "ZYX", "xyz"])
def test_angles_are_scipys(spatial, sequence):
    body = spatial["lower"]
    angles = body.angles(sequence)
    rebuilt = Rotation.from_euler(sequence, angles).as_matrix()
    np.testing.assert_allclose(rebuilt, body.A, rtol=0.0, atol=EXACT * 10)


def test_angles_where_the_axes_coincide():
    system = mbd.System("top")
    system.add(mbd.Body("top", 1.0, (1, 1, 1), omega_bar=(0, 0, 1.0)))
    body = mbd.simulate(system, 0.1, h=1e-2)["top"]
    with pytest.warns(UserWarning, match="angles ZXZ of body 'top' are not unique .* first at t = 0 s"):
        angles = body.angles("ZXZ")
    np.testing.assert_allclose(angles[:, 0] + angles[:, 2], body.t, rtol=0.0, atol=1e-9)
    for wrong in ("ZZX", "ZXx", "AB", "abc", 3):
        with pytest.raises(mbd.UsageError, match=r"give three of X, Y, Z"):
            body.angles(wrong)


def test_named_points(spatial):
    for name, point in (("hip", (0, 0, 0)), ("upper", (0.3, 0, 0)), ("strut.i", (0, 0, 1)), ("strut.j", (1, 0.2, 0))):
        np.testing.assert_allclose(spatial.point(name).r[0], point, rtol=0.0, atol=1e-9)
    for name in ("hip", "knee"):  # both sides stay together
        np.testing.assert_allclose(spatial.point(f"{name}.i").r, spatial.point(f"{name}.j").r, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(spatial.point(("lower", (0, 0, 0))).r, spatial["lower"].r)
    np.testing.assert_allclose(spatial.distance("strut.i", "strut.j"), spatial.load("strut").length, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(spatial.distance("hip", "knee"), 0.6, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(spatial.angle("hip", "upper", "knee"), np.pi, rtol=0.0, atol=1e-9)
    assert np.isnan(spatial.angle("hip", "hip", "knee")).all()


def test_the_angle_between_links_is_that_of_the_joint():
    result = mbd.simulate(four_bar(), 0.4, h=1e-3)
    at_b = result.angle("A", "B", "C")
    change = result.joint("B").angle  # coupler against crank, about an axis normal to the plane
    np.testing.assert_allclose(np.abs(at_b - at_b[0]), np.abs(change), rtol=0.0, atol=1e-9)


def test_points_that_do_not_exist_or_are_several(spatial):
    with pytest.raises(mbd.UsageError, match=r"no point is called 'knie'.*did you mean 'knee"):
        spatial.point("knie")
    with pytest.raises(mbd.UsageError, match="no body is called 'x'"):
        spatial.distance("hip", ("x", (0, 0, 0)))
    with pytest.raises(mbd.UsageError, match="3 names no point"):
        spatial.point(3)
    system = mbd.System("same")
    rod = system.add(mbd.Body("rod", 1.0, (1, 1, 1), r=(1, 0, 0)))
    system.add(RJ("rod", system.ground, rod, point=(0, 0, 0), axis=(0, 0, 1)))
    result = mbd.simulate(system, 0.01, h=1e-2)
    with pytest.raises(mbd.UsageError, match=r"'rod' names more than one point: give one of \('rod', "):
        result.point("rod")
    assert result.point("rod.i").r[0].tolist() == [0, 0, 0]


@pytest.mark.slow
def test_links_of_a_chain_have_the_same():
    chain = mbd.random_chain(3, 2)
    result = mbd.simulate(chain, 0.1, h=1e-3, tau=lambda t, q, qd: -0.1 * qd)
    twin = result.maximal()
    for k, link in enumerate(chain.links):
        own, other = result[link.name], twin[link.name]
        for name in ("r", "p", "v", "omega_bar", "A", "omega", "a", "omega_dot"):
            size = max(1.0, abs(getattr(other, name)).max())
            np.testing.assert_allclose(getattr(own, name), getattr(other, name), rtol=0.0, atol=1e-9 * size, err_msg=name)
        np.testing.assert_array_equal(result[k].r, own.r)


def test_poses_that_are_not_finite(spatial):
    y = spatial.y.copy()
    y[5, 13:] = np.nan
    body = replace(spatial, y=y)["lower"]
    for values in (body.A, body.omega, body.a, body.angles("ZXZ"), body.point((1, 0, 0)).a):
        assert np.isnan(values[5]).all()
        assert np.isfinite(np.delete(values, 5, axis=0)).all()
