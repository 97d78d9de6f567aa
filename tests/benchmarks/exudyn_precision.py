"""Exudyn, as one of the tools whose work is compared with its precision: whole runs, implicit (its explicit methods take no joints).

Windows are planar bodies with planar revolutes: in space their rows depend on each other, which it refuses.  Closed loops in space have
no planar form: EigenDense with `ignoreSingularJacobian` is what takes them; of its other solvers none did.
"""

from __future__ import annotations

import time
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import exudyn.utilities as tools
import numpy as np

from tests.benchmarks import cloth, loops, squeezer, top, windows

SOLVERS = exu.LinearSolverType
KINDS = (exu.OutputVariableType.Position, exu.OutputVariableType.Velocity, exu.OutputVariableType.AngularVelocity)
IN_SPACE = (*KINDS[:2], exu.OutputVariableType.AngularVelocityLocal, exu.OutputVariableType.RotationMatrix)
EULER = exu.NodeType.RotationEulerParameters
METHODS = {
    "generalized-alpha": exu.DynamicSolverType.GeneralizedAlpha,
    "trapezoidal index 2": exu.DynamicSolverType.TrapezoidalIndex2,
}


def settings(t_end: float, steps: int, *, rho: float = 0.8, period: float | None = None, linear: Any = SOLVERS.EigenSparse) -> Any:
    """Of a run to `t_end` [s]: modified Newton, default tolerances, one thread, no files; period: of sensors [s].  rho: damping."""
    found = exu.SimulationSettings()
    found.timeIntegration.numberOfSteps = steps
    found.timeIntegration.endTime = t_end
    found.timeIntegration.verboseMode = 0
    found.timeIntegration.newton.useModifiedNewton = True
    found.timeIntegration.generalizedAlpha.spectralRadius = rho
    found.solution.file.write = False
    found.solution.sensors.writePeriod = period or t_end
    found.linearSolver.solverType = linear
    found.parallel.numberOfThreads = 1
    return found


def sensors(system: Any, bodies: list[Any], kinds: Any) -> list[list[Any]]:
    """By kinds, of each body."""
    return [
        [system.AddSensor(tools.SensorBody(bodyNumber=b, storeInternal=True, outputVariableType=k)) for b in bodies] for k in kinds
    ]


def stored(system: Any, sensed: list[list[Any]]) -> list[Any]:
    """By kinds, (nt, nb, .)."""
    return [np.array([system.GetSensorStoredData(s)[:, 1:] for s in row]).swapaxes(0, 1) for row in sensed]


def solve(system: Any, given: Any, method: str = "generalized-alpha") -> float:
    """CPU time [s] of a run."""
    start = time.process_time()
    system.SolveDynamic(given, solverType=METHODS[method])
    return time.process_time() - start


def squeeze(setting: float) -> dict[str, Any]:
    """CPU time [s] and error of the crank angle [rad] of generalized-alpha with so many steps on Andrews' mechanism."""
    system = exu.SystemContainer().AddSystem()
    bodies = {"": system.CreateGround()}
    for name, (_, _, centre, mass, moment) in squeezer.BODIES.items():
        inertia = tools.RigidBodyInertia(mass=mass, inertiaTensor=moment * np.diag([0.5, 0.5, 1.0]))
        place = {"referencePosition": centre.tolist(), "nodeType": EULER}
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
    sensed = sensors(system, [bodies["OF"]], IN_SPACE[3:])
    system.Assemble()
    seconds = solve(system, settings(squeezer.T_END, int(setting), period=squeezer.T_END / 300.0))
    A = stored(system, sensed)[0][:, 0]
    angle = np.unwrap(np.arctan2(A[:, 3], A[:, 0]))[-1]
    return {"seconds": seconds, "error": abs(float(angle) + squeezer.START - squeezer.END)}


def framed(n: int) -> tuple[Any, list[list[Any]]]:
    """The system; sensors of positions, velocities and angular velocities, body by body."""
    rods, system = windows.windows(n), exu.SystemContainer().AddSystem()
    bodies, origins = [system.AddObject(items.ObjectGround())], [np.zeros(2)]
    for r, v, angle, rate in zip(rods.r, rods.v, rods.angle, rods.rate, strict=True):
        node = system.AddNode(items.Rigid2D(referenceCoordinates=[*r, angle], initialVelocities=[*v, rate]))
        bodies.append(system.AddObject(items.RigidBody2D(mass=windows.MASS, inertia=windows.MOMENT, nodeNumber=node)))
        origins.append(r)
        weight = system.AddMarker(items.MarkerBodyMass(bodyNumber=bodies[-1]))
        system.AddLoad(items.LoadMassProportional(markerNumber=weight, loadVector=[0, -windows.GRAVITY, 0]))
    for i, j, point in rods.joints:
        ends = [(bodies[k], _local(np.array(point) - origins[k], rods.angle[k - 1] if k else 0.0)) for k in (i, j)]
        markers = [system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=place)) for body, place in ends]
        system.AddObject(items.RevoluteJoint2D(markerNumbers=markers))
    sensed = sensors(system, bodies[1:], KINDS)
    system.Assemble()
    return system, sensed


def _local(d: Any, angle: float) -> list[float]:
    """D in the axes of a body that stands at `angle`."""
    c, s = np.cos(angle), np.sin(angle)
    return [c * d[0] + s * d[1], c * d[1] - s * d[0], 0.0]


def frame(n: int, setting: float) -> dict[str, Any]:
    """N windows over 10 s, generalized-alpha with so many steps each 0.1 s: of several settings the best (see `work_precision`)."""
    system, sensed = framed(n)
    linear = SOLVERS.EigenDense if n < 10 else SOLVERS.EigenSparse
    given = settings(windows.T_END, round(windows.T_END / windows.SAMPLE * setting), rho=0.95, period=windows.SAMPLE, linear=linear)
    given.timeIntegration.newton.relativeTolerance = 1e-6
    seconds = solve(system, given)
    r, v, w = stored(system, sensed)
    return windows.judged(n, seconds, windows.energies(r[:, :, :2], v[:, :, :2], w[:, :, 2]), 2.0 * r[-1, 0, :2])


def spin(setting: float) -> dict[str, Any]:
    """The heavy top with so many steps; error of its place at the end [m]."""
    system = exu.SystemContainer().AddSystem()
    inertia = tools.RigidBodyInertia(mass=top.MASS, inertiaTensor=np.diag(top.MOMENTS))
    motion = {"initialVelocity": top.VELOCITY.tolist(), "initialAngularVelocity": top.OMEGA.tolist()}
    place = {"referencePosition": top.CENTRE.tolist(), "gravity": [0, 0, -top.GRAVITY], "nodeType": EULER}
    bodies = [system.CreateGround(), system.CreateRigidBody(inertia=inertia, **place, **motion)]
    system.CreateSphericalJoint(itemNumbers=bodies, position=[0, 0, 0], useGlobalFrame=True)
    sensed = sensors(system, bodies[1:], IN_SPACE[:1])
    system.Assemble()
    seconds = solve(system, settings(top.T_END, int(setting), linear=SOLVERS.EigenDense))
    return {"seconds": seconds, "error": float(np.linalg.norm(stored(system, sensed)[0][-1, 0] - top.END))}


def close(name: str, setting: float, method: str = "generalized-alpha") -> dict[str, Any]:
    """A closed loop over 10 s, with so many steps each 0.1 s."""
    loop, system = loops.LOOPS[name](), exu.SystemContainer().AddSystem()
    bodies = [system.CreateGround()]
    for r, J in zip(loop.r, loop.J, strict=True):
        inertia = tools.RigidBodyInertia(mass=loops.MASS, inertiaTensor=J)
        place = {"referencePosition": r.tolist(), "gravity": list(loop.gravity), "nodeType": EULER}
        bodies.append(system.CreateRigidBody(inertia=inertia, **place))
    for k, (point, axis) in enumerate(zip(loop.points, loop.axes, strict=True)):
        joint = {"position": point.tolist(), "axis": axis.tolist(), "useGlobalFrame": True}
        system.CreateRevoluteJoint(itemNumbers=[bodies[k], bodies[(k + 1) % len(bodies)]], **joint)
    sensed = sensors(system, bodies[1:], IN_SPACE)
    system.Assemble()
    steps = round(loops.T_END / loops.SAMPLE * setting)
    given = settings(
        loops.T_END, steps, period=loops.SAMPLE, linear=SOLVERS.EigenDense, rho=1.0 if method.startswith("trap") else 0.8
    )
    given.linearSolver.ignoreSingularJacobian = True
    try:
        seconds = solve(system, given, method)
    except exu.SolverError:
        return {"failed": "its solver terminates"}
    r, v, w, A = stored(system, sensed)
    return loops.judged(name, seconds, r, v, w, A.reshape(*A.shape[:2], 3, 3))


def sway(setting: float, method: str) -> dict[str, Any]:
    """The cloth with so many steps: points of mass, distances, the sparse solver; the balls that are held are points of the ground."""
    system, place = exu.SystemContainer().AddSystem(), cloth.places()
    ground, last = system.CreateGround(), len(place) - 1
    made = {"physicsMass": cloth.MASS, "gravity": [0, 0, -cloth.GRAVITY]}
    bodies = [system.CreateMassPoint(referencePosition=x, **made) for x in place[1:last].tolist()]
    number = [ground, *bodies, ground]
    for i, j in cloth.rods():
        ends = [place[k].tolist() if number[k] == ground else [0, 0, 0] for k in (i, j)]
        given = {"bodyNumbers": [number[i], number[j]], "localPosition0": ends[0], "localPosition1": ends[1]}
        system.CreateDistanceConstraint(distance=cloth.MESH, **given)
    sensed = sensors(system, bodies, KINDS[:2])
    system.Assemble()
    period = cloth.T_END / cloth.SAMPLES
    seconds = solve(
        system, settings(cloth.T_END, int(setting), rho=1.0 if method.startswith("trap") else 0.8, period=period), method
    )
    r, v = stored(system, sensed)
    held = np.broadcast_to(place[[0, last]], (len(r), 2, 3))
    return cloth.judged(seconds, r, v, cloth.longest_gap(np.concatenate([held[:, :1], r, held[:, 1:]], axis=1)))
