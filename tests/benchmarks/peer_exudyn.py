"""Exudyn, as one of the tools: rigid bodies in redundant coordinates (Euler parameters), revolute joints, EigenSparse.

Its explicit methods (RK44, midpoint) take no joints, so that its implicit ones are measured: generalized-alpha (index 3) and the
trapezoidal rule of index 2, with its own modified Newton and default tolerances.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

sys.exudynFast = True  # type: ignore[attr-defined]  # its build without range checks
import exudyn as exu  # noqa: E402
import exudyn.utilities as tools  # noqa: E402

from tests.benchmarks import chain  # noqa: E402
from tests.benchmarks import exudyn_precision as runs  # noqa: E402
from tests.benchmarks.worker import serve  # noqa: E402


def build(links: chain.Links) -> tuple[Any, list[Any]]:
    """The system and its bodies."""
    system = exu.SystemContainer().AddSystem()
    inertia = tools.RigidBodyInertia(mass=chain.MASS, inertiaTensor=np.diag(chain.INERTIA))
    bodies = [system.CreateGround()]
    for k, i in enumerate(links.parent):
        place = {"referencePosition": links.r[k].tolist(), "gravity": [0, 0, -chain.GRAVITY]}
        bodies.append(system.CreateRigidBody(inertia=inertia, nodeType=exu.NodeType.RotationEulerParameters, **place))
        joint = {"position": links.point[k].tolist(), "axis": links.axis[k].tolist(), "useGlobalFrame": True}
        system.CreateRevoluteJoint(itemNumbers=[bodies[i], bodies[-1]], **joint)
    return system, bodies[1:]


def step(n: int, steps: int, h: float, method: str) -> dict[str, Any]:
    """One sample [us] of a step; energy error relative to n m g L and joint gap [m], the worst of 11 states; centres of mass at the end."""
    links = chain.chain(n, moving=False)
    system, bodies = build(links)
    sensed = runs.sensors(system, bodies, runs.IN_SPACE)
    system.Assemble()
    given = runs.settings(steps * h, steps, rho=1.0 if method.startswith("trap") else 0.8, period=steps * h / 10)
    us = runs.solve(system, given, method) / steps * 1e6
    r, v, w, A = runs.stored(system, sensed)
    energy = np.array([chain.energy(*state) for state in zip(r, v, w, strict=True)])
    gap = max(chain.gap(links, place, turn.reshape(-1, 3, 3)) for place, turn in zip(r, A, strict=True))
    scale = n * chain.MASS * chain.GRAVITY * chain.LENGTH
    return {"us": us, "energy": float(np.abs(energy - energy[0]).max()) / scale, "gap": gap, "r": r[-1].tolist()}


if __name__ == "__main__":
    serve(step=step, squeeze=runs.squeeze, frame=runs.frame, spin=runs.spin, close=runs.close, sway=runs.sway)
