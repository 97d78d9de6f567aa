"""The rattleback of Kane and Levinson (1982): it turns back, and moves as its own equations say.

While it rolls, with s from the centre of mass to the point of contact: v = -omega x s, m v' = f + m g, J omega' + omega x J omega = s x f.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.math.euler_parameters import rotation_matrix


def rolling(t, x, m, J_bar, semi_axes, raised, g):
    """Return the rates of Euler parameters and of the angular velocity in the body frame."""
    p, w = x[:4], x[4:]
    A = rotation_matrix(p / np.linalg.norm(p))
    n = A.T @ (0.0, 0.0, 1.0)
    n_dot = np.cross(n, w)
    D = np.square(semi_axes)
    q = np.sqrt(n @ (D * n))
    s = np.array([0.0, 0.0, raised]) - D * n / q
    s_dot = -D * n_dot / q + D * n * (n @ (D * n_dot)) / q**3  # in the body frame
    v = -np.cross(w, s)
    S = np.array([[0, -s[2], s[1]], [s[2], 0, -s[0]], [-s[1], s[0], 0]])
    # v' = s x w' - w x s' + w x v in body components; f = m (v' + g n);  J w' + w x J w = s x f
    known = m * (-np.cross(w, s_dot) + np.cross(w, v) + g * n)
    w_dot = np.linalg.solve(J_bar - m * S @ S, np.cross(s, known) - np.cross(w, J_bar @ w))
    e0, e = p[0], p[1:]
    return np.concatenate([[-0.5 * e @ w], 0.5 * (e0 * w + np.cross(e, w)), w_dot])


@pytest.mark.slow
@pytest.mark.published
def test_it_moves_as_its_equations_say():
    """Against the equations of rolling; energy is kept, and the stone neither leaves the plane nor slips."""
    system = gallery.rattleback()
    stone = system.bodies[1]
    result = mbd.simulate(system, 0.3, rtol=1e-9, atol=1e-11)
    start = np.concatenate([stone.p, stone.omega_bar])
    numbers = (stone.mass, np.array(stone.J_bar), stone.shape[0].semi_axes, stone.shape[0].center[2], 9.81)
    exact = solve_ivp(rolling, (0.0, 0.3), start, args=numbers, rtol=1e-11, atol=1e-13, method="DOP853").y[:, -1]
    np.testing.assert_allclose(result["stone"].omega_bar[-1], exact[4:], rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(result["stone"].p[-1], exact[:4], rtol=0.0, atol=1e-8)
    assert np.abs(result.energy().drift).max() < 1e-9
    contact = result.contact("floor")
    assert set(contact.state.ravel()) == {"stick"}
    assert np.abs(contact.gap).max() < 1e-13
    assert np.abs(contact.slip).max() < 1e-12


@pytest.mark.slow
@pytest.mark.published
def test_it_turns_back():
    """Its spin falls, and changes its sign after about 3 s."""
    result = mbd.simulate(gallery.rattleback(), 3.4, rtol=1e-5)
    spin = result["stone"].omega[:, 2]
    assert spin[0] == pytest.approx(-5.0, abs=1e-3)
    assert spin[-1] > 1.0


@pytest.mark.slow
def test_it_does_not_turn_back_from_the_other_spin():
    """In the other direction it spins on."""
    result = mbd.simulate(gallery.rattleback(spin=5.0), 0.5, rtol=1e-6)
    assert result["stone"].omega[:, 2].min() > 4.0
