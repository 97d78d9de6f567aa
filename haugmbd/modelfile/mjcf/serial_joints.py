r"""Bodies between the joints of one body, which act one after the other where no joint of the catalogue stands for all of them.

    parent --joint 1-- link 1 --joint 2-- link 2 ... --joint n-- body        link k: small, without weight worth the name, at anchor k
    w_k = w_(k-1) + a_k q_k'             v_k = v_(k-1) + a_k q_k' x (x_k - anchor_k)    of a hinge,    v_(k-1) + a_k q_k'    of a slide

MuJoCo's joints of one body are such a chain with links that have no inertia at all. Joints that are dependent, S q' = 0 with
S = (a_k, 0) of a slide, (-a_k x anchor_k, a_k) of a hinge, would move the links alone; an armature of one of them holds them.
Source: MuJoCo's documentation, Computation: kinematics.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.mjcf.engine import HINGE, Engine

DEPENDENT = 1e-6
"""Singular value of S, with lengths relative to the distance of the joints, below which joints are dependent: the motion of a link
would be that of its own small inertia."""
PART, RADIUS = 1e-9, 0.01
"""Mass of a link, of that of all bodies, and its radius of gyration [m]. It changes accelerations by as much times the condition of the
mass matrix, up to 1e-7 in robots; a smaller one would show in rounding."""


def dependent(engine: Engine, numbers: list[int]) -> bool:
    """Return whether joints of one body can move while it stands at the pose of the engine, against no armature."""
    m, d = engine.m, engine.d
    axes, anchors = np.array(d.xaxis[numbers]), np.array(d.xanchor[numbers])
    hinges = m.jnt_type[numbers] == HINGE
    arms = (anchors - anchors[hinges][0]) if hinges.any() else np.zeros_like(anchors)
    size = float(np.abs(arms[hinges]).max(initial=0.0)) or 1.0
    linear = np.where(hinges[:, None], cross(arms / size, axes), axes)
    angular = np.where(hinges[:, None], axes, 0.0)
    held = np.diag(m.dof_armature[m.jnt_dofadr[numbers]] > 0.0).astype(float)
    return float(np.linalg.svd(np.vstack([linear.T, angular.T, held]), compute_uv=False)[-1]) < DEPENDENT


def links_between(engine: Engine, parent: int, numbers: list[int], taken: Collection[str]) -> list[Body]:
    """Return the links between the joints of a body, one less than there are joints, with the velocities of the file.

    parent: the body of the file before the first one;  taken: names that are in use
    """
    m, d = engine.m, engine.d
    twist = np.zeros(6)
    engine.mujoco.mj_objectVelocity(m, d, engine.mujoco.mjtObj.mjOBJ_XBODY, parent, twist, 0)
    omega, v, at, links = twist[:3], twist[3:], np.array(d.xpos[parent]), list[Body]()
    mass = PART * float(m.body_mass.sum())
    for n in numbers[:-1]:
        rate, anchor = float(d.qvel[m.jnt_dofadr[n]]) * d.xaxis[n], np.array(d.xanchor[n])
        if m.jnt_type[n] == HINGE:
            omega = omega + rate
            v = v + cross(rate, at - anchor)
        else:
            v = v + rate
        name = f"{engine.name('joint', n)} link"
        while name in taken:
            name += "_"
        moments = np.full(3, mass * RADIUS**2)
        links.append(Body(name, mass, moments, r=anchor, v=v + cross(omega, anchor - at), omega_bar=omega, shape=()))
    return links
