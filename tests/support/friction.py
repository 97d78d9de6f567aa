"""Mechanisms with friction in their joints, and the same equations as one dense fixed point in NumPy."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd import Body, JointFriction, System
from haugmbd.math.euler_parameters import rotation_matrix
from joints import CJ, RJ, SJ, TJ, Planar, PointOnLine

G = 9.81
SIZES = (
    {"length": 0.4, "radius": 0.2, "preload": 1.0},
    {"radius": 0.05, "length": 0.3, "thrust_radius": 0.04, "preload": 2.0},
    {"radius": 0.1},
    {"radius": 0.1, "length": 0.5},
    {"length": 0.2},
    {"preload": 0.5},
)
"""Of the bearings of `every_joint`."""
FOR_VISCOUS = ({}, {}, {}, {"radius": 0.1}, {}, {})


def block(law, v=0.0, slope=0.0, **keywords):
    """A block of 2 kg on a rail along x, through its centre of mass; gravity leans by `slope` towards +x."""
    system = System("rail", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    body = system.add(Body("block", 2.0, (0.1, 0.1, 0.1), v=(v, 0, 0)))
    rail = system.add(TJ("rail", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(JointFriction("rub", rail, law, **keywords))
    return system


def every_joint(law, sizes=SIZES):
    """An open chain of six bodies with a joint of each kind, all with one law."""
    system = System("every joint", gravity=(0.3, -9.81, 1.0))
    r = ((0, 0, 0), (1, 0.2, 0.1), (2, 0, 0.3), (2.5, 0.5, 0.3), (3.5, 0.5, 0.3), (4.2, 0.3, 0.1))
    bodies = [system.add(Body(f"body {k}", 1.0 + 0.3 * k, (0.15, 0.12, 0.2), r=x)) for k, x in enumerate(r)]
    a, b, c, d, e, f = bodies
    joints = (
        TJ("slider", system.ground, a, point=(-0.2, 0.1, 0), axis=(1, 0, 0.3)),
        RJ("pin", a, b, point=(0.5, 0, 0.1), axis=(0, 0.2, 1)),
        SJ("ball", b, c, point=(1.5, 0.1, 0.2)),
        CJ("sleeve", c, d, point=(2.2, 0.3, 0.2), axis=(1, 1, 0)),
        Planar("plane", d, e, point=(3, 0.5, 0.2), normal=(0.1, 1, 0.2)),
        PointOnLine("bush", e, f, point=(4, 0.4, 0.2), axis=(1, 0.2, 0.3)),
    )
    for joint, size in zip(joints, sizes, strict=True):
        system.add(JointFriction(f"rub {joint.name}", system.add(joint), law, **size))
    return system


def moving(model, seed):
    """The modelled pose with random velocities that the joints allow."""
    state = model.state()
    J = mbd.evaluate(model, state).Phi_q.toarray()
    u = np.random.default_rng(seed).normal(size=6 * model.nb)
    u = np.vstack([np.zeros(6), (u - np.linalg.pinv(J) @ (J @ u)).reshape(-1, 6)])
    return state.replace(v=u[:, :3], omega_bar=u[:, 3:])


def coefficient(law, s):
    """The coefficient of sliding friction at the speed s."""
    if isinstance(law, mbd.Coulomb):
        mu = law.mu_s if law.mu is None else law.mu
        return mu if law.velocity is None else mu * np.tanh(s / law.velocity)
    x = s / law.v_t
    return law.mu_d * np.tanh(4 * x) + (law.mu_s - law.mu_d) * x / (x**2 / 4 + 3 / 4) ** 2


def friction_wrench(load, state, F, M):
    """Force and torque of friction on body j, global, for the reaction (F, M) on it at P_j; and P_j."""
    joint = load.joint
    i, j = state.bodies(joint)
    A_i, A_j = rotation_matrix(state.p[i]), rotation_matrix(state.p[j])
    s, h = A_j @ joint.frame_j.s_bar, A_i @ joint.frame_i.h
    P = state.r[j] + s
    omega_i, omega_j = A_i @ state.omega_bar[i], A_j @ state.omega_bar[j]
    v = state.v[j] + np.cross(omega_j, s) - state.v[i] - np.cross(omega_i, P - state.r[i])
    w = omega_j - omega_i
    if isinstance(load.law, mbd.Viscous):
        along, about = (v @ h) * h, (w @ h) * h
        kind = type(joint)
        if kind is CJ:
            return -load.law.c * along, -load.law.c * load.radius**2 * about
        return {
            RJ: (0 * h, -load.law.c * about),
            TJ: (-load.law.c * along, 0 * h),
            PointOnLine: (-load.law.c * along, 0 * h),
            SJ: (0 * h, -load.law.c * w),
            Planar: (-load.law.c * (v - along), 0 * h),
        }[kind]
    mu = lambda speed: coefficient(load.law, speed)  # noqa: E731
    F_p, r, preload = F - (F @ h) * h, load.radius, load.preload
    couple = np.cross(M, h) / load.length if load.length else 0 * h
    bearings = np.linalg.norm(F_p / 2 + couple) + np.linalg.norm(F_p / 2 - couple) + preload
    if isinstance(joint, TJ):
        return -np.sign(v @ h) * mu(abs(v @ h)) * (bearings + (abs(M @ h) / r if r else 0.0)) * h, 0 * h
    if isinstance(joint, RJ):
        speed, r_t = abs(w @ h), load.thrust_radius
        return 0 * h, -np.sign(w @ h) * (mu(r * speed) * bearings * r + mu(r_t * speed) * r_t * abs(F @ h)) * h
    if isinstance(joint, SJ):
        speed = np.linalg.norm(w)
        return 0 * h, -w / speed * r * mu(r * speed) * (np.linalg.norm(F) + preload)
    if isinstance(joint, CJ):
        speed = np.hypot(v @ h, r * (w @ h))
        return -mu(speed) * bearings * (v @ h) / speed * h, -mu(speed) * bearings * r**2 * (w @ h) / speed * h
    if isinstance(joint, Planar):
        slip = v - (v @ h) * h
        press = max(abs(F @ h), 2 * np.linalg.norm(M - (M @ h) * h) / load.length) + preload
        return -mu(np.linalg.norm(slip)) * press * slip / np.linalg.norm(slip), 0 * h
    return -np.sign(v @ h) * mu(abs(v @ h)) * (np.linalg.norm(F_p) + preload) * h, 0 * h


class Poses:
    """A state with the numbers of a joint's bodies."""

    def __init__(self, model, state):
        self.model, self.r, self.p, self.v, self.omega_bar = model, state.r, state.p, state.v, state.omega_bar

    def bodies(self, joint):
        entry = self.model.joints[joint.name]
        return entry.i, entry.j


def dense_equations(model, state):
    """K, and b(lam) with gravity and friction for multipliers lam: K (u_dot, lam) = b(lam)."""
    rows = mbd.evaluate(model, state)
    J, n, poses = rows.Phi_q.toarray(), 6 * model.nb, Poses(model, state)
    K, Q = np.zeros((n + len(J), n + len(J))), np.zeros(n)
    K[:n, n:], K[n:, :n] = J.T, J
    for k in range(1, model.nb + 1):
        at, omega = 6 * k - 6, state.omega_bar[k]
        K[at : at + 3, at : at + 3], K[at + 3 : at + 6, at + 3 : at + 6] = model.mass[k] * np.eye(3), model.J_bar[k]
        Q[at : at + 3], Q[at + 3 : at + 6] = model.mass[k] * model.gravity, -np.cross(omega, model.J_bar[k] @ omega)

    def right_side(lam):
        added = np.zeros((model.nb + 1, 6))
        for entry in model.loads:
            joint = entry.load.joint
            i, j = poses.bodies(joint)
            own = model.joints[joint.name].rows
            reaction = -J[own][:, 6 * j - 6 : 6 * j].T @ lam[own]
            A_j = rotation_matrix(state.p[j])
            s = A_j @ joint.frame_j.s_bar
            F = reaction[:3]
            M = A_j @ reaction[3:] - np.cross(s, F)
            force, torque = friction_wrench(entry.load, poses, F, M)
            for body, sign in ((j, 1.0), (i, -1.0)):
                arm = state.r[j] + s - state.r[body]
                added[body, :3] += sign * force
                added[body, 3:] += sign * rotation_matrix(state.p[body]).T @ (torque + np.cross(arm, force))
        return np.concatenate([Q + added[1:].ravel(), rows.gamma])

    return K, right_side


def dense_solution(model, state):
    """Accelerations (nb, 6) and multipliers by a fixed point on the dense matrix; gravity and friction are all the forces."""
    K, right_side = dense_equations(model, state)
    n = 6 * model.nb
    lam = np.zeros(len(K) - n)
    for _ in range(200):
        x = np.linalg.solve(K, right_side(lam))
        change, lam = np.abs(x[n:] - lam).max(), x[n:]
        if change <= 1e-13 * np.abs(lam).max():
            return x[:n].reshape(-1, 6), lam
    raise AssertionError("the fixed point did not converge")


def four_bar(kinds, law, **keywords):
    """The four-bar of the README with friction in every joint; kinds: of the joints A to D."""
    A, B, C, D = np.array([(0, 0, 0), (0, 0, 1), (3, 0, 2), (4, 0, 0)], dtype=float)
    system = System("four-bar", gravity=(0, 0, -G))
    crank, coupler, rocker = (
        system.add(Body(name, 1.0, (0.1, 0.1, 0.1), r=(a + b) / 2))
        for name, a, b in (("crank", A, B), ("coupler", B, C), ("rocker", C, D))
    )
    pairs = ((system.ground, crank, A), (crank, coupler, B), (coupler, rocker, C), (system.ground, rocker, D))
    for name, kind, (i, j, point) in zip("ABCD", kinds, pairs, strict=True):
        joint = system.add(kind(name, i, j, point=point, **({} if kind is SJ else {"axis": (0, 1, 0)})))
        system.add(JointFriction(f"rub {name}", joint, law, radius=0.05, **keywords))
    return system


def rod_on_a_line(mu, angle, omega=0.0):
    """A rod of 1 m and 1 kg that stands on a horizontal line at an angle, its tip sliding with 1 m/s."""
    system = System("rod", gravity=(0, -G, 0))
    c = 0.5 * np.array([np.cos(angle), np.sin(angle), 0.0])
    v = (1.0 - omega * c[1], omega * c[0], 0.0)
    rod = system.add(Body("rod", 1.0, (1 / 12, 1 / 12, 1 / 12), r=c, v=v, omega_bar=(0, 0, omega)))
    tip = system.add(PointOnLine("tip", system.ground, rod, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(JointFriction("rub", tip, mbd.Coulomb(mu)))
    return system


def normal_forces_of_rod(mu, angle, omega=0.0):
    """All normal forces N on the tip that agree with the friction -mu |N|: one for each sign of N, if it has that sign."""
    r, found = -0.5 * np.array([np.cos(angle), np.sin(angle)]), []
    for sign in (1.0, -1.0):
        f = np.array([-mu, sign])
        rises = f[1] + 12.0 * (r[0] * f[1] - r[1] * f[0]) * r[0]
        size = (G + omega**2 * r[1]) / rises
        if size >= 0.0:
            found.append(sign * size)
    return found


def random_chain(n, law, seed, branches=0.0):
    """A chain of n bodies with random joints of all kinds, all with one law; the part `branches` of the bodies hangs on earlier ones."""
    rng = np.random.default_rng(seed)
    system, bodies, ends = System("random chain", gravity=(0.3, -9.81, 1.0)), [], []
    for k in range(n):
        parent = rng.integers(k) if k and rng.random() < branches else k - 1
        start = ends[parent] if k else np.zeros(3)
        step = rng.normal(size=3)
        ends.append(start + step / np.linalg.norm(step))
        body = Body(f"body {k}", rng.uniform(0.5, 2.0), rng.uniform(0.15, 0.25, 3), r=(start + ends[-1]) / 2)
        bodies.append(system.add(body))
        i, which = bodies[parent] if k else system.ground, rng.integers(6)
        axis, name = rng.normal(size=3), f"joint {k}"
        joint = (
            TJ(name, i, body, point=start, axis=axis),
            RJ(name, i, body, point=start, axis=axis),
            SJ(name, i, body, point=start),
            CJ(name, i, body, point=start, axis=axis),
            Planar(name, i, body, point=start, normal=axis),
            PointOnLine(name, i, body, point=start, axis=axis),
        )[which]
        if k and rng.random() < 0.5 and not isinstance(joint, SJ):  # body j may be the one nearer to the ground
            joint = type(joint)(name, body, i, point=start, **({"normal": axis} if which == 4 else {"axis": axis}))
        system.add(JointFriction(f"rub {k}", system.add(joint), law, **SIZES[which]))
    return system


def rods_on_lines(mu, angles):
    """Rods as `rod_on_a_line`, each on a line of its own, tips sliding with 1 m/s."""
    system = System("rods", gravity=(0, -G, 0))
    for k, angle in enumerate(angles):
        c = 0.5 * np.array([np.cos(angle), np.sin(angle), 0.0])
        rod = system.add(Body(f"rod {k}", 1.0, (1 / 12, 1 / 12, 1 / 12), r=c, v=(1, 0, 0)))
        tip = system.add(PointOnLine(f"tip {k}", system.ground, rod, point=(0, 0, 0), axis=(1, 0, 0)))
        system.add(JointFriction(f"rub {k}", tip, mbd.Coulomb(mu)))
    return system
