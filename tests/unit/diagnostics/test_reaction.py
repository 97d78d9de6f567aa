"""Reactions against balances that are written down here, in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.diagnostics import violation as rows_module
from haugmbd.gallery import governor
from joints import RJ, Fixed

K, C, L0 = 40.0, 1.5, 0.8
TORQUE = np.array([0.3, -0.2, 0.5])
GRAVITY = np.array([1.0, -2.0, -9.0])


def rotation(p):
    e0, e = p[0], p[1:]
    tilde = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return np.eye(3) + 2.0 * e0 * tilde + 2.0 * tilde @ tilde


def spring(result, k):
    """Force on b4 and where it acts, force on b5 and where it acts."""
    model = result.model
    a, b = model.body("b4"), model.body("b5")
    y0 = model.state()
    points, rates = [], []
    for body, offset in ((a, 0.1), (b, -0.2)):
        s_bar = rotation(y0.p[body]).T @ np.full(3, offset)
        A = rotation(result.p[k, body])
        points.append(result.r[k, body] + A @ s_bar)
        rates.append(result.v[k, body] + A @ np.cross(result.omega_bar[k, body], s_bar))
    d, d_dot = points[1] - points[0], rates[1] - rates[0]
    length = np.linalg.norm(d)
    f = (K * (length - L0) + C * d @ d_dot / length) * d / length
    return (a, f, points[0]), (b, -f, points[1])


def test_every_body_is_in_balance(chain):
    model, n = chain.model, chain.model.nb + 1
    reactions = [(e, on, chain.reaction(e.name, on=on)) for e in model.joints.values() for on in "ij"]
    for k in (0, 17, len(chain) - 1):
        force, moment = np.zeros((n, 3)), np.zeros((n, 3))
        force += model.mass[:, None] * GRAVITY
        moment[model.body("b2")] += TORQUE
        applied = [(e.i if on == "i" else e.j, q.force[k], q.point[k]) for e, on, q in reactions]
        for body, F, point in (*applied, *spring(chain, k)):
            force[body] += F
            moment[body] += np.cross(point - chain.r[k, body], F)
        for e, on, q in reactions:
            moment[e.i if on == "i" else e.j] += q.torque[k]
        scale = max(np.abs(force).max(), *(np.abs(q.force[k]).max() for _, _, q in reactions))
        for body in range(1, n):
            A, w, J = rotation(chain.p[k, body]), chain.omega_bar[k, body], model.J_bar[body]
            inertia = A @ (J @ chain.omega_bar_dot[k, body] + np.cross(w, J @ w))
            np.testing.assert_allclose(force[body], model.mass[body] * chain.v_dot[k, body], atol=1e-10 * scale)
            np.testing.assert_allclose(moment[body], inertia, atol=1e-10 * scale)


def test_a_hanging_body_pulls_with_its_weight():
    system = mbd.System("hanging", gravity=(0.0, 0.0, -9.81))
    body = system.add(mbd.Body("bob", mass=7.0, J_bar=(1.0, 2.0, 2.5), r=(0.0, 0.0, -2.0)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    on_bob = mbd.reaction(system.compile(), None, "pin")
    np.testing.assert_allclose(on_bob.force, [0.0, 0.0, 7.0 * 9.81], rtol=1e-12, atol=1e-12 * 7.0 * 9.81)
    np.testing.assert_allclose(on_bob.torque, 0.0, atol=1e-12 * 7.0 * 9.81)
    np.testing.assert_array_equal(on_bob.point, 0.0)


def test_a_cantilever_carries_its_moment_at_the_wall():
    system = mbd.System("cantilever", gravity=(0.0, 0.0, -9.81))
    beam = system.add(mbd.Body("beam", mass=3.0, J_bar=(0.1, 1.0, 1.0), r=(2.0, 0.0, 0.0)))
    system.add(Fixed("wall", beam, system.ground, point=(0.0, 0.0, 0.0)))
    model = system.compile()
    on_wall = mbd.reaction(model, model.state(), "wall", on="j")
    np.testing.assert_allclose(on_wall.force, [0.0, 0.0, -3.0 * 9.81], atol=1e-11)
    np.testing.assert_allclose(on_wall.torque, [0.0, 2.0 * 3.0 * 9.81, 0.0], atol=1e-11)
    assert on_wall.body == "ground"


def test_the_reaction_on_i_is_opposite(chain):
    for name in ("rj", "sj", "uj"):  # their points coincide; along a sliding axis the points part
        on_i, on_j = chain.reaction(name, on="i"), chain.reaction(name, on="j")
        scale = np.abs(on_j.force).max()
        np.testing.assert_allclose(on_i.point, on_j.point, atol=1e-11)
        np.testing.assert_allclose(on_i.force, -on_j.force, atol=1e-12 * scale)
        np.testing.assert_allclose(on_i.torque, -on_j.torque, atol=1e-10 * scale)


def test_along_a_sliding_axis_force_and_torque_are_opposite_about_one_point(chain):
    for name in ("cj", "tj"):
        on_i, on_j = chain.reaction(name, on="i"), chain.reaction(name, on="j")
        scale = np.abs(on_j.force).max()
        moved = on_j.torque + np.cross(on_j.point - on_i.point, on_j.force)
        np.testing.assert_allclose(on_i.force, -on_j.force, atol=1e-12 * scale)
        np.testing.assert_allclose(on_i.torque, -moved, atol=1e-10 * scale)


@pytest.mark.parametrize("on", ["i", "j"])
def test_frames_turn_the_same_vector(chain, on):
    model = chain.model
    ground, body, joint = (chain.reaction("uj", on=on, frame=frame) for frame in ("ground", "body", "joint"))
    e = model.joints["uj"]
    number, A_bar = (e.i, e.A_bar_i) if on == "i" else (e.j, e.A_bar_j)
    for k in (3, 40):
        A = rotation(chain.p[k, number])
        np.testing.assert_allclose(A @ body.force[k], ground.force[k], atol=1e-12)
        np.testing.assert_allclose(A @ A_bar @ joint.torque[k], ground.torque[k], atol=1e-12)


def test_joint_frame_shows_what_a_joint_cannot_carry(chain):
    """No torque about the axis of a revolute joint, none in a spherical one, no force along the axis of a cylindrical one."""
    scale = np.abs(chain.reaction("rj").force).max()
    np.testing.assert_allclose(chain.reaction("rj", frame="joint").torque[:, 2], 0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(chain.reaction("sj").torque, 0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(chain.reaction("cj", on="i", frame="joint").force[:, 2], 0.0, atol=1e-11 * scale)


def test_one_state_and_all_states_agree(chain):
    one, many = mbd.reaction(chain.model, chain.state(9), "tj", on="i"), chain.reaction("tj", on="i")
    np.testing.assert_array_equal(one.force, many.force[9])
    np.testing.assert_array_equal(one.torque, many.torque[9])
    np.testing.assert_array_equal(one.point, many.point[9])
    assert one.t == chain.t[9]


def test_published_torque_of_the_drive(driven):
    """The drive of the spatial slider-crank needs -0.2959 N m after a quarter turn (Haug 1989, sec. 12.2)."""
    torque = driven.reaction("drive", frame="joint").torque[:, 2]
    np.testing.assert_allclose(torque[[0, 250]], [0.137048347649, -0.295922922802], atol=1e-9)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (("pin", {}), "'rj'"),
        (("rj", {"on": "k"}), "'b1'"),
        (("rj", {"frame": "world"}), "'ground', 'body' or 'joint'"),
    ],
)
def test_bad_arguments_are_told(chain, ask, words):
    with pytest.raises(mbd.UsageError, match=words):
        chain.reaction(ask[0], **ask[1])
    with pytest.raises(mbd.UsageError, match=words):
        mbd.reaction(chain.model, None, ask[0], **ask[1])


def test_reactions_of_all_joints_are_computed_in_blocks_and_are_those_of_each(monkeypatch):
    """All rows were evaluated for each joint: a table of a chain of 1600 links took 24 s, most of it for them."""
    result = mbd.simulate(governor(), 0.002, h=1e-3, integrator=mbd.RK4())
    evaluated, whole = [], rows_module.rows_over_time
    monkeypatch.setattr(rows_module, "rows_over_time", lambda *given, **more: evaluated.append(0) or whole(*given, **more))
    names = list(result.model.joints)
    found = {name: result.reaction(name) for name in names}
    assert len(names) > 2
    assert len(evaluated) == 2
    assert result.reaction(names[1]).force.tobytes() == found[names[1]].force.tobytes()
    assert len(evaluated) == 2
    monkeypatch.setattr(rows_module, "BLOCK", 0)
    again = mbd.simulate(governor(), 0.002, h=1e-3, integrator=mbd.RK4())
    for name in names:
        for part in ("force", "torque"):
            np.testing.assert_array_equal(getattr(again.reaction(name), part), getattr(found[name], part))
    assert len(evaluated) == 2 + len(names)
