r"""Couplings of joint coordinates for formats in which one joint follows another:  sum c_k (q_k - q_k0) = 0, constant in time."""

from __future__ import annotations

from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Constant
from haugmbd.joints import CoordinateFunction, Coupling

Terms = tuple[tuple[Coordinate, float], ...]


def constant_terms(joint: Joint) -> Terms:
    """Return the coordinates and coefficients of a coupling that is constant in time; () for any other joint."""
    linear = isinstance(joint, Coupling) and not isinstance(joint, CoordinateFunction)
    return joint.terms if isinstance(joint, Coupling) and linear and isinstance(joint.f, Constant) else ()
