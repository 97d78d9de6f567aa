"""The catalogue of joints: each joint is a tuple of constraint equations, in one short file.

A new joint is one file and one line in `CATALOGUE`. The contract tests run for every joint of the catalogue.
"""

from difflib import get_close_matches
from typing import NoReturn

from haugmbd.constraints.joint import Joint

from .base import Composed
from .base import Place as Place
from .base import Vectors as Vectors
from .belt import Belt
from .constant_velocity import ConstantVelocity
from .coordinate_function import Cam, CoordinateFunction
from .coupling import Coupling
from .cylindrical import CJ
from .distance import Distance
from .fixed import Fixed
from .freewheel import Freewheel
from .gear import Gear
from .locked import Locked as Locked
from .parallel import Parallel
from .perpendicular import Perpendicular
from .planar import Planar
from .point_in_plane import PointInPlane
from .point_on_curve import PointOnCurve
from .point_on_line import PointOnLine
from .pose_driver import PoseDriver
from .rack_pinion import RackPinion
from .revolute import RJ
from .revolute_spherical import RevoluteSpherical
from .rolling import KnifeEdge, RollingDisc, RollingOnCurve, RollingOnCylinder, RollingOnSphere, RollingSphere
from .rope import Pulley, Rope
from .rotation_driver import RotationDriver
from .screw import Screw
from .spaced import Spaced as Spaced
from .spherical import SJ
from .translation_driver import TranslationDriver
from .translational import TJ
from .universal import UJ
from .universal_spherical import UniversalSpherical

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

FREEWHEELS: tuple[type[Joint], ...] = (Freewheel,)
"""Couplings that lock and slip by themselves in a run."""

ROLLING: tuple[type[Joint], ...] = (RollingDisc, RollingSphere, RollingOnCylinder, RollingOnSphere, RollingOnCurve, KnifeEdge)
"""Joints with rows of velocities only."""

GUIDES: tuple[type[Joint], ...] = (PointOnCurve,)
"""Joints whose geometry is a curve."""

ROPES: tuple[type[Joint], ...] = (Rope,)
"""Joints whose row touches all bodies of a path."""

MOTIONS: tuple[type[Joint], ...] = (PoseDriver,)
"""Drivers of a whole body."""

__all__ = [
    "CATALOGUE",
    "CJ",
    "COUPLINGS",
    "FREEWHEELS",
    "GUIDES",
    "MOTIONS",
    "ROLLING",
    "ROPES",
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
    "Freewheel",
    "Gear",
    "KnifeEdge",
    "Parallel",
    "Perpendicular",
    "Planar",
    "PointInPlane",
    "PointOnCurve",
    "PointOnLine",
    "PoseDriver",
    "Pulley",
    "Revolute",
    "RackPinion",
    "RevoluteSpherical",
    "RollingDisc",
    "RollingOnCurve",
    "RollingOnCylinder",
    "RollingOnSphere",
    "RollingSphere",
    "Rope",
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
