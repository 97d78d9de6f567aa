"""The bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007): its parameters, its linear equations, and a model of it."""

from __future__ import annotations

import numpy as np

from haugmbd import Body, RotorSpin, System, UniformTranslation
from joints import RJ, RollingDisc

G = 9.81
BASE, TRAIL, TILT = 1.02, 0.08, np.pi / 10.0
R_R, M_R, I_RXX, I_RYY = 0.3, 2.0, 0.0603, 0.12
R_F, M_F, I_FXX, I_FYY = 0.35, 3.0, 0.1405, 0.28
X_B, Z_B, M_B, I_B = 0.3, -0.9, 85.0, np.array([[9.2, 0.0, 2.4], [0.0, 11.0, 0.0], [2.4, 0.0, 2.8]])
X_H, Z_H, M_H, I_H = 0.9, -0.7, 4.0, np.array([[0.05892, 0.0, -0.00756], [0.0, 0.06, 0.0], [-0.00756, 0.0, 0.00708]])
"""Table 1 of the paper: x forward, z down."""

PUBLISHED = {
    "M": np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]),
    "C1": np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]),
    "K0": np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]),
    "K2": np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]]),
}
"""M q'' + v C1 q' + (g K0 + v^2 K2) q = 0 of lean and steer, as printed there."""


def linear_equations():
    """M, C1, K0, K2 by the formulas of the paper's appendix A."""
    s, c = np.sin(TILT), np.cos(TILT)
    m = M_R + M_B + M_H + M_F
    x, z = (X_B * M_B + X_H * M_H + BASE * M_F) / m, (-R_R * M_R + Z_B * M_B + Z_H * M_H - R_F * M_F) / m
    I_xx = I_RXX + I_B[0, 0] + I_H[0, 0] + I_FXX + M_R * R_R**2 + M_B * Z_B**2 + M_H * Z_H**2 + M_F * R_F**2
    I_xz = I_B[0, 2] + I_H[0, 2] - M_B * X_B * Z_B - M_H * X_H * Z_H + M_F * BASE * R_F
    I_zz = I_RXX + I_B[2, 2] + I_H[2, 2] + I_FXX + M_B * X_B**2 + M_H * X_H**2 + M_F * BASE**2
    m_a = M_H + M_F
    x_a, z_a = (X_H * M_H + BASE * M_F) / m_a, (Z_H * M_H - R_F * M_F) / m_a
    A_xx = I_H[0, 0] + I_FXX + M_H * (Z_H - z_a) ** 2 + M_F * (R_F + z_a) ** 2
    A_xz = I_H[0, 2] - M_H * (X_H - x_a) * (Z_H - z_a) + M_F * (BASE - x_a) * (R_F + z_a)
    A_zz = I_H[2, 2] + I_FXX + M_H * (X_H - x_a) ** 2 + M_F * (BASE - x_a) ** 2
    u = (x_a - BASE - TRAIL) * c - z_a * s
    A_ll = m_a * u**2 + A_xx * s**2 + 2.0 * A_xz * s * c + A_zz * c**2
    A_lx = -m_a * u * z_a + A_xx * s + A_xz * c
    A_lz = m_a * u * x_a + A_xz * s + A_zz * c
    mu = TRAIL / BASE * c
    S_f = I_FYY / R_F
    S_t, S_a = I_RYY / R_R + S_f, m_a * u + mu * m * x
    M_ld = A_lx + mu * I_xz
    M = np.array([[I_xx, M_ld], [M_ld, A_ll + 2.0 * mu * A_lz + mu**2 * I_zz]])
    K0 = np.array([[m * z, -S_a], [-S_a, -S_a * s]])
    K2 = np.array([[0.0, (S_t - m * z) / BASE * c], [0.0, (S_a + S_f * s) / BASE * c]])
    C1 = np.array(
        [
            [0.0, mu * S_t + S_f * c + I_xz / BASE * c - mu * m * z],
            [-(mu * S_t + S_f * c), A_lz / BASE * c + mu * (S_a + I_zz / BASE * c)],
        ]
    )
    return {"M": M, "C1": C1, "K0": K0, "K2": K2}


def state_matrix(v):
    """A of (lean, steer, their rates) at the speed v."""
    M, C1, K0, K2 = PUBLISHED.values()
    lower = -np.linalg.solve(M, np.hstack([G * K0 + v**2 * K2, v * C1]))
    return np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), lower])


def bicycle(v=0.0, *, lean_rate=0.0):
    """The bicycle, upright at the origin, riding along x with the speed v; z up: the paper's axes, turned about x by a half turn."""
    flip = np.diag([1.0, -1.0, -1.0])
    system = System("bicycle", gravity=(0, 0, -G))
    roll = np.array([lean_rate, 0.0, 0.0])

    def add(name, mass, J, r, spin=0.0):
        return system.add(Body(name, mass, flip @ J @ flip, r=r, v=(v, 0, 0) + np.cross(roll, r), omega_bar=roll + (0, spin, 0)))

    rear = add("rear wheel", M_R, np.diag([I_RXX, I_RYY, I_RXX]), (0, 0, R_R), v / R_R)
    frame = add("frame", M_B, I_B, (X_B, 0, -Z_B))
    fork = add("fork", M_H, I_H, (X_H, 0, -Z_H))
    front = add("front wheel", M_F, np.diag([I_FXX, I_FYY, I_FXX]), (BASE, 0, R_F), v / R_F)
    system.add(RJ("rear axle", frame, rear, point=(0, 0, R_R), axis=(0, 1, 0)))
    system.add(RJ("steering", frame, fork, point=(BASE + TRAIL, 0, 0), axis=(np.sin(TILT), 0, -np.cos(TILT))))
    system.add(RJ("front axle", fork, front, point=(BASE, 0, R_F), axis=(0, 1, 0)))
    system.add(RollingDisc("rear contact", rear, center=(0, 0, R_R), axis=(0, 1, 0), radius=R_R))
    system.add(RollingDisc("front contact", front, center=(BASE, 0, R_F), axis=(0, 1, 0), radius=R_F))
    return system


def straight_ahead(v):
    """The steady motion of the bicycle with the speed v."""
    return [
        UniformTranslation(velocity=(v, 0, 0)),
        RotorSpin("rear wheel", omega_bar=(0, v / R_R, 0)),
        RotorSpin("front wheel", omega_bar=(0, v / R_F, 0)),
    ]
