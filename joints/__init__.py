"""The catalogue of joints: each joint is a tuple of constraint equations, in one short file.

A new joint is one file and one line in `CATALOGUE`. The contract tests run for every joint of the catalogue.
"""

from difflib import get_close_matches
from typing import NoReturn

from haugmbd.constraints.joint import Joint
from joints.base import Composed
from joints.belt import Belt
from joints.constant_velocity import ConstantVelocity
from joints.coordinate_function import Cam, CoordinateFunction
from joints.coupling import Coupling
from joints.cylindrical import CJ
from joints.distance import Distance
from joints.fixed import Fixed
from joints.gear import Gear
from joints.parallel import Parallel
from joints.perpendicular import Perpendicular
from joints.planar import Planar
from joints.point_in_plane import PointInPlane
from joints.point_on_curve import PointOnCurve
from joints.point_on_line import PointOnLine
from joints.rack_pinion import RackPinion
from joints.revolute import RJ
from joints.revolute_spherical import RevoluteSpherical
from joints.rolling import KnifeEdge, RollingDisc, RollingSphere
from joints.rotation_driver import RotationDriver
from joints.screw import Screw
from joints.spherical import SJ
from joints.translation_driver import TranslationDriver
from joints.translational import TJ
from joints.universal import UJ
from joints.universal_spherical import UniversalSpherical

Spherical, Universal, Cylindrical, Revolute, Translational = SJ, UJ, CJ, RJ, TJ
SS, RS, US = Distance, RevoluteSpherical, UniversalSpherical

CATALOGUE: tuple[type[Joint], ...] = (
    SJ,
    UJ,
    ConstantVelocity,
    CJ,
    RJ,
    TJ,
    Fixed,
    Planar,
    Distance,
    PointOnLine,
    PointInPlane,
    Parallel,
    Perpendicular,
    RevoluteSpherical,
    UniversalSpherical,
    RotationDriver,
    TranslationDriver,
)

COUPLINGS: tuple[type[Joint], ...] = (Coupling, Gear, RackPinion, Screw, Belt, CoordinateFunction, Cam)
"""Couplings of joint coordinates: their rows touch the bodies of several joints."""

ROLLING: tuple[type[Joint], ...] = (RollingDisc, RollingSphere, KnifeEdge)
"""Joints with rows of velocities only."""

GUIDES: tuple[type[Joint], ...] = (PointOnCurve,)
"""Joints whose geometry is a curve."""

__all__ = [
    "CATALOGUE",
    "CJ",
    "COUPLINGS",
    "GUIDES",
    "ROLLING",
    "RJ",
    "RS",
    "SJ",
    "SS",
    "TJ",
    "UJ",
    "US",
    "Belt",
    "Cam",
    "Composed",
    "ConstantVelocity",
    "CoordinateFunction",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Gear",
    "KnifeEdge",
    "Parallel",
    "Perpendicular",
    "Planar",
    "PointInPlane",
    "PointOnCurve",
    "PointOnLine",
    "Revolute",
    "RackPinion",
    "RevoluteSpherical",
    "RollingDisc",
    "RollingSphere",
    "RotationDriver",
    "Screw",
    "Spherical",
    "TranslationDriver",
    "Translational",
    "Universal",
    "UniversalSpherical",
]


def __getattr__(name: str) -> NoReturn:
    """Raise AttributeError, with the nearest name."""
    public = {each.lower(): each for each in __all__}
    near = () if name.startswith("_") else [public[each] for each in get_close_matches(name.lower(), public, n=1)]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{''.join(f' (did you mean {each!r}?)' for each in near)}")
