r"""The medium of an MJCF file: drag of bodies as boxes of their inertia.

    box       b_k = sqrt(6 (J_l + J_m - J_k) / mass)                                  in the principal axes of a body of the file
    density   F_k = -rho / 2  b_l b_m |v_k| v_k      n_k = -rho / 64  b_k (b_l^4 + b_m^4) |w_k| w_k
    viscous   F_k = -3 pi beta d v_k                 n_k = -pi beta d^3 w_k            d = (b_1 + b_2 + b_3) / 3

v: velocity of the centre of mass against the wind, w: angular velocity, both in the principal axes.
Source: MuJoCo's documentation, Computation: fluid forces, inertia model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.forces.base import ForceElement
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.modelfile.mjcf.engine import Engine


class BoxInMedium(ForceElement):
    """The drag of a box on a body.

    box: (3,) its sides [m];  center: (3,) from the centre of mass, body frame [m];  axes: (3, 3) of the box in the body's frame
    density, viscosity: of the medium [kg/m3], [Pa s];  wind: (3,) its velocity, global [m/s]
    """

    reads_pose = False

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        box: Any,
        center: Any,
        axes: Any,
        density: float,
        viscosity: float,
        wind: Any = (0.0, 0.0, 0.0),
    ) -> None:
        super().__init__(name)
        self.body = body
        self.box, self.center, self.axes, self.wind = (np.array(x, dtype=np.float64) for x in (box, center, axes, wind))
        self.density, self.viscosity = float(density), float(viscosity)

    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def forces(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> list[list[float]]:
        """Return force and torque about the centre of mass of the body."""
        A = rotation_matrix(p[0])
        b, (b1, b2, b3) = self.box, self.box
        at = v[0] + A @ np.cross(omega_bar[0], self.center) - self.wind
        speed, spin = self.axes.T @ (A.T @ at), self.axes.T @ omega_bar[0]
        d, faces = b.mean(), np.array([b2 * b3, b1 * b3, b1 * b2])
        fourth = b**4
        edges = b * (fourth.sum() - fourth)
        F = -0.5 * self.density * faces * np.abs(speed) * speed - 3.0 * np.pi * self.viscosity * d * speed
        n = -self.density / 64.0 * edges * np.abs(spin) * spin - np.pi * self.viscosity * d**3 * spin
        own, torque = self.axes @ F, self.axes @ n
        return [[*(A @ own).tolist(), *(torque + np.cross(self.center, own)).tolist()]]

    def dissipated(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> float:
        """Return the power that the medium takes [W]."""
        F = np.array(self.forces(t, r, p, v, omega_bar)[0])
        return -float(F[:3] @ v[0] + F[3:] @ omega_bar[0])


def in_medium(engine: Engine, bodies: list[Body]) -> list[ForceElement]:
    """Return the drag of all bodies of a file."""
    m, d = engine.m, engine.d
    density, viscosity = float(m.opt.density), float(m.opt.viscosity)
    if density <= 0.0 and viscosity <= 0.0:
        return []
    found: list[ForceElement] = []
    for k, body in enumerate(bodies):
        mass, J = float(m.body_mass[k]), np.array(m.body_inertia[k])
        if body.is_ground or mass <= 0.0:
            continue
        box = np.sqrt(np.maximum(6.0 * (J.sum() - 2.0 * J) / mass, 0.0))
        center = body.A.T @ (np.array(d.xipos[k]) - body.r)
        axes = body.A.T @ np.array(d.ximat[k]).reshape(3, 3)
        name, wind = f"{engine.name('body', k)} in the medium", np.array(m.opt.wind)
        found.append(BoxInMedium(name, body, box=box, center=center, axes=axes, density=density, viscosity=viscosity, wind=wind))
    return found
