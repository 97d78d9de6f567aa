r"""Passive forces of ball joints, free joints, bodies and tendons; those of hinges and slides are in `loads`.

    ball       torque -k theta - c w         theta: rotation vector from the rest pose,  w: rate of the child against the parent
    free       the same against the ground, and the force -k (x - x_0) - c x' at the origin of the body frame
    gravcomp   force -a m g at the centre of mass of a body of the file
    fixed tendon     L = sum b_i q_i       tau_i = -b_i (k (L - L_0) + c L'),     L_0: the nearest length of a range
    spatial tendon   see `tendons`

The damper of a free joint is four dampers c / 4 at the corners r_n of a regular tetrahedron around the origin, |r_n|^2 = 3/2:
    sum r_n = 0,    sum (|r_n|^2 I - r_n r_n^T) = 4 I    ->    force -c x',  torque -c w,  at any pose
Source: MuJoCo's documentation, Computation: passive forces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import changed
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.forces import Bushing, JointForce, JointFriction, PointForce, Viscous
from haugmbd.forces.base import ForceElement
from haugmbd.math import euler_parameters
from haugmbd.modelfile.mjcf.couplings import Placed
from haugmbd.modelfile.mjcf.engine import FREE, Engine, is_fixed, sprung_tendons
from haugmbd.modelfile.mjcf.tendons import spatial_tendon

CORNERS = np.sqrt(0.5) * np.array(((1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)))
"""Of a regular tetrahedron with |r|^2 = 3/2."""


def ball_loads(engine: Engine, n: int, i: Body, joint: Joint) -> list[ForceElement]:
    """Return the spring and the damper of a ball joint n on body i."""
    k, c = numbers_of(engine, n)
    name = engine.name("joint", n)
    found: list[ForceElement] = [JointFriction(f"{name} damping", joint, Viscous(c))] if c else []
    return [*found, _rotation_spring(engine, n, (i, joint.j), (0.0, 0.0, 0.0, k, k, k))] if k else found


def free_loads(engine: Engine, n: int, ground: Body, body: Body) -> list[ForceElement]:
    """Return the spring and the dampers of a free joint n, whose velocities are those of the origin of the body frame."""
    k, c = numbers_of(engine, n)
    name, number = engine.name("joint", n), int(engine.m.jnt_bodyid[n])
    at, A = np.array(engine.d.xpos[number]), np.array(engine.d.xmat[number]).reshape(3, 3)
    part = (*(0.25 * c,) * 3, 0.0, 0.0, 0.0)
    found: list[ForceElement] = [
        Bushing(f"{name} damping {corner}", ground, body, point=at + A @ r, K=(0.0,) * 6, C=part)
        for corner, r in enumerate(CORNERS, 1)
        if c
    ]
    return [*found, _rotation_spring(engine, n, (ground, body), (k,) * 6)] if k else found


def numbers_of(engine: Engine, n: int) -> tuple[float, float]:
    """Return the stiffness and the damping of a joint."""
    m = engine.m
    k = 0.0 if engine.off("SPRING") else float(m.jnt_stiffness[n])
    return k, 0.0 if engine.off("DAMPER") else float(m.dof_damping[m.jnt_dofadr[n]])


def _rotation_spring(engine: Engine, n: int, ends: tuple[Body, Body], K: tuple[float, ...]) -> Bushing:
    """Return a bushing between two bodies whose rest pose is that of the springs of the file."""
    m, d = engine.m, engine.d
    i, j = ends
    number, at = int(m.jnt_bodyid[n]), int(m.jnt_qposadr[n])
    free = m.jnt_type[n] == FREE
    place, A = np.array(d.xpos[number]) if free else np.array(d.xanchor[n]), np.array(d.xmat[number]).reshape(3, 3)
    start = at + 3 if free else at
    now, rest = (euler_parameters.rotation_matrix(_unit(q[start : start + 4])) for q in (d.qpos, m.qpos_spring))
    A_rest, place_rest = A @ now.T @ rest, np.array(m.qpos_spring[at : at + 3]) if free else place
    bushing = Bushing(f"{engine.name('joint', n)} spring", i, j, point=place, K=K, axes=A)
    frame = Frame(i, i.A.T @ (place_rest - i.r), i.A.T @ A_rest)
    return changed(bushing, frame_i=frame)


def _unit(q: Any) -> Array:
    q = np.array(q, dtype=np.float64)
    return np.asarray(q / np.linalg.norm(q))


def held_up(engine: Engine, bodies: list[Body]) -> list[ForceElement]:
    """Return the forces that compensate gravity."""
    m = engine.m
    if engine.off("GRAVITY"):
        return []
    found: list[ForceElement] = []
    for k in np.flatnonzero(m.body_gravcomp).tolist():
        force = -float(m.body_gravcomp[k]) * float(m.body_mass[k]) * np.array(m.opt.gravity)
        if not bodies[k].is_ground and force.any():
            found.append(
                PointForce(f"{engine.name('body', k)} gravcomp", bodies[k], point=np.array(engine.d.xipos[k]), force=force)
            )
    return found


class TendonLaw:
    """The forces of a fixed tendon with a spring and a damper along the coordinates of its joints."""

    def __init__(self, b: Array, start: float, rest: tuple[float, float], k: float, c: float) -> None:
        self.b, self.start, self.rest, self.k, self.c = b, start, rest, k, c

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Return the force along each coordinate; q is zero where the length is `start`."""
        length = self.start + float(self.b @ q)
        stretch = length - min(max(length, self.rest[0]), self.rest[1])
        return np.asarray(-(self.k * stretch + self.c * float(self.b @ qd)) * self.b)


def tendon_loads(
    engine: Engine, bodies: list[Body], placed: dict[int, Placed], faults: list[Fault], stop_stiffness: float | None
) -> list[ForceElement]:
    """Return the springs and dampers of tendons, and stops at their limits; faults for those that cannot be read."""
    found: list[ForceElement] = []
    for n in np.flatnonzero(engine.m.tendon_limited).tolist() if stop_stiffness and not engine.off("LIMIT") else ():
        rest = (float(engine.m.tendon_range[n, 0]), float(engine.m.tendon_range[n, 1]))
        stop = _tendon(engine, n, bodies, placed, (float(stop_stiffness or 0.0), 0.0), rest, "limit")
        if isinstance(stop, str):
            what = f"its limits cannot be read: {stop}"
            faults.append(Fault(f"tendon {engine.name('tendon', n)!r}", what, "Remove them, or leave stop_stiffness= out."))
        else:
            found += stop
    for n, (k, c) in sprung_tendons(engine).items():
        made = _tendon(engine, n, bodies, placed, (k, c), _rest(engine, n), "spring")
        if isinstance(made, str):
            where = f"tendon {engine.name('tendon', n)!r}"
            faults.append(
                Fault(
                    where, f"its spring and damper cannot be read: {made}", "Remove it, or replace it by a spring between bodies."
                )
            )
        else:
            found += made
    return found


def joints_of_tendon(engine: Engine, n: int) -> dict[int, float]:
    """Return the coefficient of each joint of a fixed tendon."""
    m = engine.m
    parts = range(m.tendon_adr[n], m.tendon_adr[n] + m.tendon_num[n])
    factors: dict[int, float] = {}
    for part in parts:
        joint = int(m.wrap_objid[part])
        factors[joint] = factors.get(joint, 0.0) + float(m.wrap_prm[part])
    return {joint: b for joint, b in factors.items() if b}


def _tendon(
    engine: Engine,
    n: int,
    bodies: list[Body],
    placed: dict[int, Placed],
    law: tuple[float, float],
    rest: tuple[float, float],
    word: str,
) -> list[ForceElement] | str:
    """Return the forces of a tendon with stiffness and damping `law`, slack between the lengths `rest`; or why there are none."""
    m, d, (k, c) = engine.m, engine.d, law
    name = f"{engine.name('tendon', n)} {word}"
    if not is_fixed(engine, n):
        return spatial_tendon(engine, n, bodies, name, k, c, rest)
    factors = joints_of_tendon(engine, n)
    missing = [engine.name("joint", joint) for joint in factors if joint not in placed]
    if missing:
        return f"joint {missing[0]!r} has no coordinate of its own here"
    if not factors:
        return []
    b = np.array([placed[joint].sense * x for joint, x in factors.items()])
    start = sum(x * float(d.qpos[m.jnt_qposadr[joint]]) for joint, x in factors.items())
    return [JointForce(name, [placed[joint].coordinate for joint in factors], TendonLaw(b, start, rest, k, c))]


def _rest(engine: Engine, n: int) -> tuple[float, float]:
    """Return the range of lengths in which the spring of a tendon is slack."""
    lower, upper = np.ravel(engine.m.tendon_lengthspring[n])
    return float(lower), float(upper)
