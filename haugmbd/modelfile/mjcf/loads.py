r"""Springs, dampers and actuators of hinges and slides: all are linear in the coordinate at a given control.

    passive     tau = -k (q - q_spring) - c q'
    actuator    tau = g (gain u + bias),   gain = G0 + G1 l + G2 l',   bias = B0 + B1 l + B2 l',   l = g q
    together    tau = a0 + a1 q + a2 q'    ->    RSDA with the stiffness -a1, the damping -a2, the actuator -a0

Along a slide, and along one of several coordinates of a joint, act a JointSpring and a JointForce.
The coordinate of a joint here is 0 at the modelled pose, where q = q_0.
Source: MuJoCo's documentation, Computation: actuation model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import Fault, UsageError
from haugmbd.forces import RSDA, JointForce, JointSpring, PointForce, Torque
from haugmbd.forces.base import ForceElement
from haugmbd.modelfile.mjcf.engine import HINGE, SLIDE, Engine
from haugmbd.modelfile.values import finite

FIXED_GAIN, AFFINE_GAIN, NO_BIAS, AFFINE_BIAS, NO_DYNAMICS, ON_JOINT, AT_SITE = 0, 1, 0, 1, 0, 0, 4
"""Of mjtGain, mjtBias, mjtDyn and mjtTrn."""


def controls(engine: Engine, given: Mapping[str, float] | None) -> Array | None:
    """Return the control of each actuator within its range, (nu,); None if none is given. Raise UsageError for an unknown name."""
    if given is None:
        return None
    m = engine.m
    names = [engine.name("actuator", k) for k in range(m.nu)]
    u = np.zeros(m.nu)
    for name, value in given.items():
        number = finite(value.item() if isinstance(value, np.generic) else value)
        if name not in names:
            raise UsageError(
                f"control: there is no actuator {name!r}{did_you_mean(str(name), names)}; there are {', '.join(names) or 'none'}."
            )
        if number is None:
            raise UsageError(f"control: {name!r} is {value!r}, must be a finite number.")
        u[names.index(name)] = number
    if not engine.off("CLAMPCTRL"):
        limited = np.asarray(m.actuator_ctrllimited, dtype=bool)
        u = np.where(limited, np.clip(u, m.actuator_ctrlrange[:, 0], m.actuator_ctrlrange[:, 1]), u)
    return u


def laws(engine: Engine, u: Array | None, faults: list[Fault]) -> Array:
    """Return a0, a1, a2 of each joint, (njnt, 3); faults for actuators that cannot be read."""
    m = engine.m
    found = np.zeros((m.njnt, 3))
    for k in range(m.njnt):
        if m.jnt_type[k] in (HINGE, SLIDE):
            stiffness = 0.0 if engine.off("SPRING") else float(m.jnt_stiffness[k])
            spring = stiffness * float(m.qpos_spring[m.jnt_qposadr[k]])
            damping = 0.0 if engine.off("DAMPER") else float(m.dof_damping[m.jnt_dofadr[k]])
            found[k] += (spring, -stiffness, -damping)
    if u is not None and not engine.off("ACTUATION"):
        for k in filter(engine.acts, range(m.nu)):
            fault = _add_actuator(engine, k, float(u[k]), found)
            if fault:
                remedy = "Remove it, or leave control= out."
                faults.append(Fault(f"actuator {engine.name('actuator', k)!r}", fault, remedy))
    return found


def _add_actuator(engine: Engine, k: int, u: float, found: Array) -> str:
    """Add the law of an actuator; return what cannot be read of it, "" if it can."""
    m = engine.m
    joint = int(m.actuator_trnid[k, 0])
    if m.actuator_trntype[k] == AT_SITE:
        force = _force_at_site(engine, k, u)
        return force if isinstance(force, str) else ""
    if m.actuator_trntype[k] != ON_JOINT or m.jnt_type[joint] not in (HINGE, SLIDE):
        return "it does not act on a hinge, a slide or a site"
    law = _law(engine, k, u)
    if isinstance(law, str):
        return law
    if m.jnt_actfrclimited[joint]:
        return "the force of actuators on its joint is limited"
    g = float(m.actuator_gear[k, 0])
    found[joint] += g * law * (1.0, g, g)
    return ""


def _law(engine: Engine, k: int, u: float) -> Array | str:
    """Return the force b0 + b1 l + b2 l' of an actuator at its control, (3,), or what cannot be read of it."""
    m = engine.m
    if m.actuator_dyntype[k] != NO_DYNAMICS:
        return "it has an activation state"
    if m.actuator_gaintype[k] not in (FIXED_GAIN, AFFINE_GAIN) or m.actuator_biastype[k] not in (NO_BIAS, AFFINE_BIAS):
        return "its gain or bias is not affine"
    gain = np.array(m.actuator_gainprm[k, :3]) * ((1.0, 0.0, 0.0) if m.actuator_gaintype[k] == FIXED_GAIN else 1.0)
    bias = np.array(m.actuator_biasprm[k, :3]) * (0.0 if m.actuator_biastype[k] == NO_BIAS else 1.0)
    law: Array = gain * u + bias
    if m.actuator_forcelimited[k]:
        if np.any(law[1:]):
            return "its force depends on the motion and is limited"
        law[0] = np.clip(law[0], *m.actuator_forcerange[k])
    return law


def _force_at_site(engine: Engine, k: int, u: float) -> Array | str:
    """Return force and torque of an actuator at a site, along the axes of the site, or of one of the world, (6,); or why there are none."""
    m, law = engine.m, _law(engine, k, u)
    if isinstance(law, str):
        return law
    reference = int(m.actuator_trnid[k, 1])
    if np.any(law[1:]):
        return "it acts at a site, and its force depends on the motion"
    if reference >= 0 and engine.leaders()[m.site_bodyid[reference]] != 0:
        return "it acts between two sites that move"
    return np.asarray(law[0] * np.array(m.actuator_gear[k]))


def forces_at_sites(engine: Engine, u: Array | None, bodies: list[Body]) -> list[ForceElement]:
    """Return the constant forces and torques of actuators at sites."""
    m, d = engine.m, engine.d
    found: list[ForceElement] = []
    if u is None or engine.off("ACTUATION"):
        return found
    for k in filter(engine.acts, range(m.nu)):
        six = _force_at_site(engine, k, float(u[k])) if m.actuator_trntype[k] == AT_SITE else ""
        if isinstance(six, str):
            continue
        site, reference = (int(n) for n in m.actuator_trnid[k])
        body, name = bodies[int(m.site_bodyid[site])], engine.name("actuator", k)
        if body.is_ground:
            continue
        axes = np.array(d.site_xmat[site if reference < 0 else reference]).reshape(3, 3)
        frame, A = ("body", body.A.T @ axes) if reference < 0 else ("global", axes)
        if six[:3].any():
            found.append(PointForce(name, body, point=np.array(d.site_xpos[site]), force=A @ six[:3], frame=frame))
        if six[3:].any():
            found.append(Torque(f"{name} torque" if six[:3].any() else name, body, torque=A @ six[3:], frame=frame))
    return found


def hinge_load(name: str, joint: Joint, law: Any, q_0: float, sense: float) -> ForceElement:
    """Return the element with the law a0, a1, a2 of the hinge about h of a joint, whose value is q_0.

    sense: of the axis of the file along h, 1 or -1
    """
    a0, a1, a2 = (float(a) for a in law)
    return RSDA(name, joint, k=-a1, c=-a2, theta0=0.0, actuator=-sense * (a0 + a1 * q_0))


def loads_along(name: str, coordinate: Coordinate, sense: float, law: Any, q_0: float) -> list[ForceElement]:
    """Return the elements with the law a0, a1, a2 along a coordinate of a joint, whose value is q_0."""
    a0, a1, a2 = (float(a) for a in law)
    constant = sense * (a0 + a1 * q_0)
    found: list[ForceElement] = [JointSpring(f"{name} spring", coordinate, k=-a1, c=-a2)] if a1 or a2 else []
    return [*found, JointForce(f"{name} force", coordinate, constant)] if constant else found
