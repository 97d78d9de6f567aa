r"""A system in Pinocchio, through `write_urdf`: crba, nonLinearEffects, frame Jacobians and classical accelerations."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.engines.base import Reduced
from haugmbd.modelfile.exports import spanning_tree
from haugmbd.modelfile.urdf.write import CLOSING, TREE, write_urdf
from haugmbd.system.system import System


def _package() -> Any:
    """Return the package pinocchio. Raise UsageError if it is not installed."""
    try:
        import pinocchio  # noqa: PLC0415  an optional package
    except ImportError:
        raise UsageError("Pinocchio is not installed: pip install pin.") from None
    return pinocchio


def version() -> str:
    """Return name and version of the engine. Raise UsageError if it is not installed."""
    return f"Pinocchio {_package().__version__}"


def reduced(system: System) -> Reduced:
    """Return a system in Pinocchio's coordinates.

    Raise ModelFileError for parts that a URDF cannot hold, UsageError if no joint moves: Pinocchio ends the interpreter at its Jacobians.
    """
    pin = _package()
    with TemporaryDirectory() as folder:
        path = write_urdf(system, Path(folder) / "robot.urdf").files[0]
        model = pin.buildModelFromXML(path.read_text())
    if model.nv == 0:
        raise UsageError(f"system {system.name!r} has no joint that moves: there is no acceleration to compare with Pinocchio.")
    model.gravity.linear[:] = np.asarray(system.gravity, dtype=np.float64)
    d, q = model.createData(), pin.neutral(model)
    damping = np.array(model.damping)
    M = np.array(pin.crba(model, d, q)).reshape(model.nv, model.nv)  # of one joint Pinocchio returns vectors
    M = np.triu(M) + np.triu(M, 1).T

    def forces(rates: Array) -> Array:
        found: Array = -np.array(pin.nonLinearEffects(model, d, q, rates)) - damping * rates
        return found

    def motion(rates: Array, body: str, point: Array) -> tuple[Array, Array]:
        frame = model.getFrameId(body, pin.FrameType.BODY)  # a joint may have the name of a body
        pin.computeJointJacobians(model, d, q)
        pin.forwardKinematics(model, d, q, rates, np.zeros(model.nv))
        pin.updateFramePlacements(model, d)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = np.array(pin.getFrameJacobian(model, d, frame, world)).reshape(6, model.nv)
        v, a = (get(model, d, frame, world) for get in (pin.getFrameVelocity, pin.getFrameClassicalAcceleration))
        arm = point - d.oMf[frame].translation
        J[:3] -= cross(arm[None, :], J[3:].T).T
        linear = a.linear + cross(a.angular, arm) + cross(v.angular, cross(v.angular, arm))
        return J, np.concatenate([linear, a.angular])

    _, cut = spanning_tree(system, tuple(TREE), CLOSING)
    notes = ("the loops are not in the model of Pinocchio's loader; they are added here",) if cut else ()
    return Reduced(int(model.nv), M, forces, motion, tuple(cut), notes)
