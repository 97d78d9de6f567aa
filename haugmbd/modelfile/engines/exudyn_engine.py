r"""A system in Exudyn: rigid bodies in Euler parameters, its own mass matrix, forces and constraint Jacobians.

    rates    q' = (r', p') of each body:   omega = 2 E p',   omega' = 2 E p''       (E' p' = 0)
    bias     J' q' by central differences of sixth order along q'; the joints are polynomials in q, nearly or quite of a lower degree
    joints   RJ, TJ, SJ, CJ, Planar, Fixed, Distance        loads   TSDA with constant numbers, RSDA, JointSpring of hinges without actuator

Nothing is written to a file. Source: Exudyn's documentation, Items: objects, markers, loads; Haug (2021), Euler parameters.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Constant
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.forces import TSDA
from haugmbd.forces.base import ForceElement, LinearSpring
from haugmbd.joints import CJ, RJ, SJ, TJ, Distance, Fixed, Planar
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.engines.base import Reduced
from haugmbd.modelfile.exports import plain_spring
from haugmbd.system.system import System

FREE_AXES: dict[type[Joint], tuple[int, ...]] = {
    CJ: (1, 1, 0, 1, 1, 0),
    TJ: (1, 1, 0, 1, 1, 1),
    Planar: (0, 0, 1, 1, 1, 0),
    Fixed: (1, 1, 1, 1, 1, 1),
}
"""1 for the translations and rotations that a GenericJoint locks, in the axes of its markers."""
STEP = 1e-2
"""Largest change of a coordinate between two points of the differences: the error is its sixth power."""
WEIGHTS = {1: 45.0, 2: -9.0, 3: 1.0}
"""Of the differences J(k h) - J(-k h), over 60 h."""


def _package() -> Any:
    """Return the package exudyn. Raise UsageError if it is not installed."""
    try:
        import exudyn  # noqa: PLC0415  an optional package
    except ImportError:
        raise UsageError("Exudyn is not installed: pip install exudyn.") from None
    return exudyn


def version() -> str:
    """Return name and version of the engine. Raise UsageError if it is not installed."""
    return f"Exudyn {_package().__version__}"


def reduced(system: System) -> Reduced:
    """Return a system in Exudyn's coordinates. Raise ModelFileError for parts that it is not given."""
    _package()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that its newer versions give up
        return _Built(system).reduced()


class _Built:
    """The mechanism in Exudyn, and its solver."""

    def __init__(self, system: System) -> None:
        self.exu = _package()
        import exudyn.itemInterface as items  # noqa: PLC0415  an optional package
        import exudyn.utilities as tools  # noqa: PLC0415

        self.items, self.tools, self.system = items, tools, system
        self.placed = "localHT" in inspect.signature(items.MarkerBodyRigid.__init__).parameters
        container = self.exu.SystemContainer()
        self.container, self.mbs = container, container.AddSystem()
        self.numbers: dict[int, int] = {id(system.ground): self.mbs.CreateGround()}
        self.nodes: dict[str, int] = {}
        faults: list[Fault] = []
        for body in system.bodies[1:]:
            self._add_body(body)
        for joint in system.joints:
            self._add_joint(joint, faults)
        for load in system.loads:
            self._add_load(load, faults)
        if faults:
            raise ModelFileError(f"system {system.name!r}", faults, "cannot be given to Exudyn")
        self.mbs.Assemble()
        self.solver = self.exu.MainSolverImplicitSecondOrder()
        settings = self.exu.SimulationSettings()
        settings.timeIntegration.verboseMode = 0
        if hasattr(settings, "solution"):
            settings.solution.file.write = False
        else:
            settings.solutionSettings.writeSolutionToFile = False
        if not self.solver.InitializeSolver(self.mbs, settings):
            raise UsageError(f"Exudyn cannot start from system {system.name!r}: {self.solver.GetErrorString()}")
        self.reference = np.array(self.mbs.systemData.GetODE2Coordinates(self.exu.ConfigurationType.Reference))
        self.start = np.array(self.mbs.systemData.GetODE2Coordinates())
        self.nv, self.rows = int(self.solver.GetODE2size()), int(self.solver.GetAEsize())

    def _add_body(self, body: Body) -> None:
        inertia = self.tools.RigidBodyInertia(mass=body.mass, inertiaTensor=body.J_bar)
        number = self.mbs.CreateRigidBody(
            inertia=inertia,
            nodeType=self.exu.NodeType.RotationEulerParameters,
            referencePosition=body.r.tolist(),
            referenceRotationMatrix=body.A,
            gravity=np.asarray(self.system.gravity, dtype=np.float64).tolist(),
        )
        self.numbers[id(body)] = number
        self.nodes[body.name] = int(self.mbs.GetObject(number)["nodeNumber"])

    def _marker(self, frame: Frame, A_bar: Array) -> tuple[int, Array]:
        """Return a marker, and the rotation that the joint must still be given (the identity where the marker has it)."""
        number = self.numbers[id(frame.body)]
        if self.placed:
            place = self.exu.HT(rotation=A_bar, translation=frame.s_bar)
            return self.mbs.AddMarker(self.items.MarkerBodyRigid(bodyNumber=number, localHT=place)), np.eye(3)
        return self.mbs.AddMarker(self.items.MarkerBodyRigid(bodyNumber=number, localPosition=frame.s_bar.tolist())), A_bar

    def _ends(self, joint: Joint) -> dict[str, Any]:
        """Return markers of a joint whose axes are those of frame i at the modelled pose."""
        i, j = joint.frame_i, joint.frame_j
        (one, R_0), (two, R_1) = self._marker(i, i.A_bar), self._marker(j, j.body.A.T @ i.A)
        turns = {} if self.placed else {"rotationMarker0": R_0, "rotationMarker1": R_1}
        return {"markerNumbers": [one, two], **turns}

    def _add_joint(self, joint: Joint, faults: list[Fault]) -> None:
        kind = type(joint)
        given: Any = joint
        if kind is RJ:
            item: Any = self.items.ObjectJointRevoluteZ(**self._ends(joint))
        elif kind is SJ:
            markers = [self._marker(frame, np.eye(3))[0] for frame in (joint.frame_i, joint.frame_j)]
            item = self.items.ObjectJointSpherical(markerNumbers=markers)
        elif kind in FREE_AXES:
            item = self.items.ObjectJointGeneric(constrainedAxes=list(FREE_AXES[kind]), **self._ends(joint))
        elif kind is Distance and isinstance(given.f, Constant):
            markers = [self._marker(frame, np.eye(3))[0] for frame in (joint.frame_i, joint.frame_j)]
            item = self.items.ObjectConnectorDistance(markerNumbers=markers, distance=given.f.value)
        else:
            kinds: tuple[type[Joint], ...] = (RJ, SJ, Distance, *FREE_AXES)
            known = ", ".join(sorted(each.__name__ for each in kinds))
            faults.append(
                Fault(f"joint {joint.name!r}", f"Exudyn is given no {kind.__name__}; it is given {known}", "Leave it out.")
            )
            return
        self.mbs.AddObject(item)

    def _add_load(self, load: ForceElement, faults: list[Fault]) -> None:
        spring = plain_spring(load)
        if spring is not None and type(spring.joint) is not TJ:
            self._add_spring(spring)
        elif isinstance(load, TSDA) and load.actuator.user_function is None and isinstance(load.actuator.drivers[0], Constant):
            markers = [self._marker(frame, np.eye(3))[0] for frame in (load.frame_i, load.frame_j)]
            numbers = {"stiffness": load.k, "damping": load.c, "force": load.actuator.drivers[0].value}
            self.mbs.AddObject(self.items.ObjectConnectorSpringDamper(markerNumbers=markers, referenceLength=load.l0, **numbers))
        elif load.joint_range() is None:  # which does not act at the states that are compared
            what = f"Exudyn is given no {type(load).__name__} but TSDA with constant numbers and plain springs of hinges"
            faults.append(Fault(load.where, what, "Leave it out."))

    def _add_spring(self, spring: LinearSpring) -> None:
        """Add the torque  -k (q - rest) - c q'  of a hinge; q = 0 where the axes of both markers coincide, which is here."""
        node = self.mbs.AddNode(self.items.NodeGenericData(numberOfDataCoordinates=1, initialCoordinates=[0.0]))
        self.mbs.AddObject(
            self.items.ObjectConnectorTorsionalSpringDamper(
                nodeNumber=node, stiffness=spring.k, damping=spring.c, offset=spring.rest, **self._ends(spring.joint)
            )
        )

    def reduced(self) -> Reduced:
        """Return what `crosscheck_engine` compares."""
        self.solver.ComputeMassMatrix(self.mbs, 1.0)
        M = np.array(self.solver.GetSystemMassMatrix())
        notes = ("Exudyn's own joints and Euler parameters: the change of its constraint Jacobians is by differences",)
        return Reduced(self.nv, M, self.forces, self.motion, (), notes, self.constraints)

    def forces(self, rates: Array) -> Array:
        """Return the right-hand side of M q'' + J^T lam = f."""
        self.mbs.systemData.SetODE2Coordinates(self.start)
        self.mbs.systemData.SetODE2Coordinates_t(rates)
        self.solver.ComputeODE2RHS(self.mbs)
        return np.array(self.solver.GetSystemResidual())[: self.nv]

    def jacobian(self, q: Array) -> Array:
        """Return the constraint Jacobian at coordinates q, (rows, nv)."""
        self.mbs.systemData.SetODE2Coordinates(q)
        size = self.nv + self.rows
        self.solver.SetSystemJacobian(np.zeros((size, size)))
        self.solver.ComputeJacobianAE(self.mbs, 1.0, 1.0, 1.0, False)
        return np.array(self.solver.GetSystemJacobian())[self.nv :, : self.nv]

    def constraints(self, rates: Array) -> tuple[Array, Array]:
        """Return J and J' q'."""
        self.mbs.systemData.SetODE2Coordinates_t(rates)
        h = STEP / max(float(np.abs(rates).max(initial=0.0)), STEP)
        change = np.zeros((self.rows, self.nv))
        for k, weight in WEIGHTS.items():
            forward, back = (self.jacobian(self.start + sign * k * h * rates) for sign in (1.0, -1.0))
            change += weight * (forward - back) / (60.0 * h)
        return self.jacobian(self.start), change @ rates

    def motion(self, rates: Array, body: str, point: Array) -> tuple[Array, Array]:
        """Return J (6, nv) and bias (6,) of a point of a body."""
        at = int(self.mbs.GetNodeODE2Index(self.nodes[body]))
        r, (e0, *e) = self.reference[at : at + 3], self.reference[at + 3 : at + 7]
        x, y, z = e
        E = np.array([[-x, e0, -z, y], [-y, z, e0, -x], [-z, -y, x, e0]])
        J = np.zeros((6, self.nv))
        J[:3, at : at + 3] = np.eye(3)
        J[3:, at + 3 : at + 7] = 2.0 * E
        arm, w = point - r, J[3:] @ rates
        J[:3] -= cross(arm[None, :], J[3:].T).T
        return J, np.concatenate([cross(w, cross(w, arm)), np.zeros(3)])
