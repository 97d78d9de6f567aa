"""Exudyn, as one of the tools: rigid bodies in redundant coordinates (Euler parameters), revolute joints, EigenSparse.

Its explicit methods (RK44, midpoint) take no joints, so that its implicit ones are measured: generalized-alpha (index 3) and the
trapezoidal rule of index 2, with its own modified Newton and default tolerances.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

sys.exudynFast = True  # type: ignore[attr-defined]  # its build without range checks
import exudyn as exu  # noqa: E402
import exudyn.utilities as tools  # noqa: E402

from tests.benchmarks import chain, squeezer  # noqa: E402
from tests.benchmarks.worker import serve  # noqa: E402

METHODS = {
    "generalized-alpha": exu.DynamicSolverType.GeneralizedAlpha,
    "trapezoidal index 2": exu.DynamicSolverType.TrapezoidalIndex2,
}


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
    system.Assemble()
    return system, bodies[1:]


def measure(system: Any, bodies: list[Any], links: chain.Links) -> tuple[float, float, Any]:
    """Energy [J], joint gap [m] and the centres of mass (n, 3) [m], now."""
    names = ("Position", "Velocity", "AngularVelocityLocal", "RotationMatrix")
    kinds = [getattr(exu.OutputVariableType, name) for name in names]
    r, v, w, A = (np.array([system.GetObjectOutputBody(b, kind, localPosition=[0, 0, 0]) for b in bodies]) for kind in kinds)
    return chain.energy(r, v, w), chain.gap(links, r, A.reshape(-1, 3, 3)), r


def step(n: int, steps: int, h: float, method: str) -> dict[str, Any]:
    """One sample [us] of a step; energy error relative to n m g L and joint gap [m] at the end; the centres of mass there."""
    links = chain.chain(n, moving=False)
    system, bodies = build(links)
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * h
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0 if method.startswith("trap") else 0.8
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    before = measure(system, bodies, links)[0]
    start = time.process_time()
    system.SolveDynamic(settings, solverType=METHODS[method])
    us = (time.process_time() - start) / steps * 1e6
    energy, gap, r = measure(system, bodies, links)
    scale = n * chain.MASS * chain.GRAVITY * chain.LENGTH
    return {"us": us, "energy": abs(energy - before) / scale, "gap": gap, "r": r.tolist()}


def squeeze(steps: int) -> dict[str, Any]:
    """CPU time [s] and error of the crank angle [rad] of generalized-alpha with so many steps on Andrews' mechanism."""
    system = exu.SystemContainer().AddSystem()
    bodies = {"": system.CreateGround()}
    for name, (_, _, centre, mass, moment) in squeezer.BODIES.items():
        inertia = tools.RigidBodyInertia(mass=mass, inertiaTensor=moment * np.diag([0.5, 0.5, 1.0]))
        place = {"referencePosition": centre.tolist(), "nodeType": exu.NodeType.RotationEulerParameters}
        bodies[name] = system.CreateRigidBody(inertia=inertia, **place)
    for name, (parent, hinge, _, _, _) in squeezer.BODIES.items():
        joint = {"position": hinge.tolist(), "axis": [0, 0, 1], "useGlobalFrame": True}
        system.CreateRevoluteJoint(itemNumbers=[bodies[parent], bodies[name]], **joint)
    for name in squeezer.CLOSED:
        joint = {"position": squeezer.E.tolist(), "constrainedAxes": [1, 1, 0, 0, 0, 0], "useGlobalFrame": True}
        system.CreateGenericJoint(itemNumbers=[bodies["BDE"], bodies[name]], **joint)
    ends = [squeezer.C.tolist(), (squeezer.D - squeezer.BODIES["BDE"][2]).tolist()]
    spring = {"stiffness": squeezer.STIFFNESS, "damping": 0.0, "referenceLength": squeezer.FREE_LENGTH}
    system.CreateSpringDamper(bodyNumbers=[bodies[""], bodies["BDE"]], localPosition0=ends[0], localPosition1=ends[1], **spring)
    system.CreateTorque(bodyNumber=bodies["OF"], loadVector=[0, 0, squeezer.TORQUE])
    sensor = system.AddSensor(
        tools.SensorBody(bodyNumber=bodies["OF"], storeInternal=True, outputVariableType=exu.OutputVariableType.RotationMatrix)
    )
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = squeezer.T_END
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    settings.solutionSettings.sensorsWritePeriod = squeezer.T_END / 300.0
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    start = time.process_time()
    system.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    seconds = time.process_time() - start
    A = system.GetSensorStoredData(sensor)[:, 1:]
    angle = np.unwrap(np.arctan2(A[:, 3], A[:, 0]))[-1]
    return {"seconds": seconds, "error": abs(float(angle) + squeezer.START - squeezer.END)}


if __name__ == "__main__":
    serve(step=step, squeeze=squeeze)
