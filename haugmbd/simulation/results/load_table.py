r"""What a body carries over time, for a finite element program: joints, other loads, and the inertia that balances them.

    sum of joints (F_k, n_k + s_k x F_k)  +  elements (F, n)  +  m A^T g  =  (m a,  J alpha + omega x J omega)       axes of the body
    inertia relief:  a solid that is held at six freedoms carries these loads and the field  rho (g - a - alpha x x - omega x (omega x x))

Force and torque of each joint act at its point on the body. `elements` is what all force elements and contacts give together, about the
centre of mass: from the balance, so that the loads and the inertia of a line are in equilibrium to rounding.
Source: Haug (2021), Newton-Euler equations and constraint reactions; Schwertassek, Wallrapp (1999), Dynamik flexibler Mehrkoerpersysteme.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import did_you_mean, public_class
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.simulation.results.study_data import Columns, StudyData

XYZ = "xyz"


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class LoadTable(StudyData):
    """The loads on a body over time, in its frame: from its centre of mass, along its axes.

    Attributes
    ----------
    body : str
        Name of the body.
    t : ndarray, (nt,)
        Times [s].
    points : dict of str to ndarray, (nt, 3)
        The point of each joint on the body [m].
    forces, torques : dict of str to ndarray, (nt, 3)
        Force [N] of each joint at its point, and torque about it [N m].
    elements_force, elements_torque : ndarray, (nt, 3)
        What force elements and contacts give together, at and about the centre of mass [N], [N m].
    gravity, acceleration : ndarray, (nt, 3)
        Gravity, and the acceleration of the centre of mass [m/s2].
    omega, alpha : ndarray, (nt, 3)
        Angular velocity [rad/s] and acceleration [rad/s2].
    mass : float
        Mass [kg].
    J_bar : ndarray, (3, 3)
        Inertia about the centre of mass [kg m2].
    unique : dict of str to bool
        Whether the force and torque of each joint are unique; others depend on how redundant rows share their load.
    """

    body: str
    t: Array
    points: dict[str, Array]
    forces: dict[str, Array]
    torques: dict[str, Array]
    elements_force: Array
    elements_torque: Array
    gravity: Array
    acceleration: Array
    omega: Array
    alpha: Array
    mass: float
    J_bar: Array
    unique: dict[str, bool]

    @property
    def inertia_force(self) -> Array:
        """Return -m a, (nt, 3) [N]."""
        return np.asarray(-self.mass * self.acceleration)

    @property
    def inertia_torque(self) -> Array:
        """Return -(J alpha + omega x J omega), (nt, 3) [N m]."""
        return np.asarray(-(self.alpha @ self.J_bar + cross(self.omega, self.omega @ self.J_bar)))

    def _columns(self) -> Columns:
        columns: Columns = {"t": self.t}
        vectors: dict[str, Array] = {}
        for joint in self.forces:
            vectors[f"{joint}.point"] = self.points[joint]
            vectors[f"{joint}.force"] = self.forces[joint]
            vectors[f"{joint}.torque"] = self.torques[joint]
        vectors |= {"elements.force": self.elements_force, "elements.torque": self.elements_torque}
        vectors |= {"weight.force": self.mass * self.gravity, "inertia.force": self.inertia_force}
        vectors |= {"inertia.torque": self.inertia_torque, "gravity": self.gravity, "acceleration": self.acceleration}
        vectors |= {"omega": self.omega, "alpha": self.alpha}
        for name, values in vectors.items():
            columns |= {f"{name}.{x}": values[:, k] for k, x in enumerate(XYZ)}
        return columns

    def __str__(self) -> str:
        lines = [f"loads on {self.body!r}, {len(self.t)} states, t = {self.t[0]:g} to {self.t[-1]:g} s; axes of the body"]
        parts = [(f"joint {name!r}", self.forces[name], self.torques[name]) for name in self.forces]
        parts.append(("force elements and contacts", self.elements_force, self.elements_torque))
        for name, force, torque in parts:
            largest = [float(np.linalg.norm(x, axis=1).max(initial=0.0)) for x in (force, torque)]
            lines.append(f"{name}: force up to {largest[0]:.6g} N, torque up to {largest[1]:.6g} N m")
        shared = [name for name, one in self.unique.items() if not one]
        lines += [f"not unique, one choice of many: {', '.join(map(repr, shared))}"] if shared else []
        return "\n".join(lines)

    __repr__ = __str__


def load_table(result: Any, body: str) -> LoadTable:
    """Return the loads on a body along a result."""
    names = result.names.bodies
    if not is_one_of(body, names[1:]):
        raise UsageError(f"load_table: there is no body {body!r:.80}{did_you_mean(str(body), names[1:])}.")
    k, model = names.index(body), result.model
    A = rotation_matrix(result.p[:, k])

    def own(x: Array) -> Array:
        """Return components in the axes of the body."""
        return np.asarray(np.einsum("tji,tj->ti", A, x))

    points, forces, torques, unique = {}, {}, {}, {}
    for name, e in model.joints.items():
        if k not in ([place[0] for place in e.places] or [e.i, e.j]):
            continue
        reaction = result.reaction(name, on=body if e.places else "i" if e.i == k else "j", frame="body")
        points[name] = own(reaction.point - result.r[:, k])
        forces[name], torques[name], unique[name] = reaction.force, reaction.torque, all(reaction.unique)
    mass, J = float(model.mass[k]), np.array(model.J_bar[k])
    gravity = own(np.broadcast_to(np.asarray(model.gravity), (len(result.t), 3)))
    a, omega, alpha = own(result.v_dot[:, k]), np.array(result.omega_bar[:, k]), np.array(result.omega_bar_dot[:, k])
    still = np.zeros_like(a)
    force = mass * (a - gravity) - sum(forces.values(), still)
    torque = alpha @ J + cross(omega, omega @ J) - sum((torques[n] + cross(points[n], forces[n]) for n in forces), still)
    return LoadTable(body, np.array(result.t), points, forces, torques, force, torque, gravity, a, omega, alpha, mass, J, unique)
