r"""read_usd: the rigid bodies and joints of a stage of Universal Scene Description (UsdPhysics) as a System, closed loops included.

    units       metersPerUnit L, kilogramsPerUnit K:   lengths L,   masses K,   moments of inertia K L^2,   angles in degrees
    body        a prim with PhysicsRigidBodyAPI; its frame is the rotation of its transform, nearest to it; scales move points only
    world       what is on no body, and bodies that are kinematic or not enabled
    mass        of the body;  or the sum over its colliders:  mass, or volume times density of collider, body, material, or 1000 kg/m3
    inertia     diagonalInertia in principalAxes;  or that of the colliders, their mass scaled to that of the body
    joint       frames (localPos0, localRot0) on body0 and (localPos1, localRot1) on body1;  axis X, Y or Z of both
    D6          axes whose limit has low > high are locked, others are free
    drive       force  k (target - q) + c (rate - q'),  k and c of an angle per degree

A collider is a solid whose points are moved by a matrix F:   volume |det F| V,   second moments  C = |det F| F C F^T,   J = tr(C) I - C.
Source: the schema UsdPhysics of OpenUSD; for precedence of masses its documentation of PhysicsMassAPI.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies import inertia as solids
from haugmbd.bodies.inertia import MassProperties, combine
from haugmbd.bodies.shapes import Box, Capsule, Cone, Cylinder, Mesh, Shape, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.forces import JointForce, JointSpring
from haugmbd.math import euler_parameters
from haugmbd.modelfile.asmt.assembly import AsmtJoint, AsmtLimit, Assembly, Marker, Part
from haugmbd.modelfile.asmt.mechanism import mechanism
from haugmbd.modelfile.asmt.read import closed, reported
from haugmbd.modelfile.imports import IDENTITY, Transform, nearest_rotation, read_stiffness
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

EARTH = 9.81
"""[m/s2] Gravity of a scene that gives none, and of a stage without a scene."""
DENSITY = 1000.0
"""[kg/m3] Of colliders without any other."""
LUMP = 0.1
"""[m] Radius of the sphere whose inertia a body has that gives a mass, and neither moments nor colliders: that of the standard's own
implementation."""
MAX_PRIMS, MAX_LAYERS, MAX_BYTES, MAX_CORNERS = 200_000, 200, 256 * 2**20, 5_000_000
"""Prims and layers that are read, bytes of a layer, and corners of a mesh."""
DAMAGED = "Is the file whole?"
LARGEST = 1e30
"""Numbers are below it."""
NO_LIMIT = 1e15
"""A limit of this size, with which programs write that there is none."""
SHEAR = 1e-4
"""Departure of a body's axes from right angles, relative, that is rounding of single precision."""
TURN = {"X": np.eye(3)[:, [1, 2, 0]], "Y": np.eye(3)[:, [2, 0, 1]], "Z": np.eye(3)}
"""Axes of a frame whose z is the axis of a joint, as columns."""
ONE_AXIS = {"PhysicsRevoluteJoint": "RevoluteJoint", "PhysicsPrismaticJoint": "TranslationalJoint"}
JOINTS = (*ONE_AXIS, "PhysicsFixedJoint", "PhysicsSphericalJoint", "PhysicsDistanceJoint", "PhysicsJoint")
READ = (
    "PhysicsRigidBodyAPI",
    "PhysicsMassAPI",
    "PhysicsCollisionAPI",
    "PhysicsMeshCollisionAPI",
    "PhysicsMaterialAPI",
    "PhysicsArticulationRootAPI",
    "PhysicsDriveAPI",
    "PhysicsLimitAPI",
    "PhysicsFilteredPairsAPI",
    "MaterialBindingAPI",
)
"""Schemas on prims that are read, or that change no motion of joints."""
NOT_LISTED = (
    *("Xform", "Scope", "PhysicsScene", "Material", "Shader", "NodeGraph", "GeomSubset", "Camera", "Plane", ""),
    "PhysicsCollisionGroup",
)
"""Types of prims that move nothing."""
SOLIDS = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone", "Mesh")


class Solid(NamedTuple):
    """A collider: its volume [m3], centre [m] and second moments about it [m5], in the axes of the body, and what it says of its mass.

    mass, density, material: [kg], [kg/m3] of the collider, and density of its material; 0 where it gives none
    """

    volume: float
    center: Array
    C: Array
    mass: float
    density: float
    material: float

    def inertia(self, mass: float) -> MassProperties:
        """Return the inertia of the solid with a mass."""
        C = self.C * (mass / self.volume)
        return MassProperties(mass, np.trace(C) * np.eye(3) - C, self.center)


class Drive(NamedTuple):
    """A drive of a joint: stiffness, damping, target and its rate, in SI units."""

    joint: str
    turns: bool
    k: float
    c: float
    target: float
    rate: float


@dataclass
class Stage:
    """A stage that is read: units, the assembly that is made of it, and the drives of its joints.

    usd: the modules Gf, Sdf, Usd, UsdGeom, UsdPhysics;  L, K: metres and kilograms of a unit
    names: names of bodies by their paths;  body_of: body of each prim by its path;  at: rigid pose of each body [m]
    """

    usd: ModuleType
    stage: Any
    made: Assembly
    L: float
    K: float
    names: dict[str, str] = field(default_factory=dict)
    at: dict[str, Transform] = field(default_factory=dict)
    drives: list[Drive] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fault(self, where: str, what: str, remedy: str) -> None:
        """Record a fault."""
        self.made.fault(0, where, what, remedy)


@check_keywords
def read_usd(
    path: str | FilePath,
    *,
    gravity: Any = None,
    merge_fixed: bool = True,
    close: bool = True,
    tolerance: float | None = None,
    stop_stiffness: float | None = None,
    folder: str | FilePath | None = None,
) -> System:
    """Return the System of the rigid bodies and joints of a USD stage.

    Parameters
    ----------
    path : str or Path
        The file, .usd, .usda, .usdc or .usdz.
    gravity : array_like, (3,), optional
        Gravity, global frame [m/s2]; by default that of the scene, 9.81 m/s2 against the up axis without one.
    merge_fixed : bool
        Whether bodies that fixed joints connect become one; otherwise each is a body, with a Fixed joint.
    close : bool
        Whether open joints are closed by `assemble`: places are stored in single precision.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size]: see `System`.
    stop_stiffness : float, optional
        Stiffness [N m/rad or N/m] of the stops that limits of joints become; without it limits are listed in the report.
    folder : str or Path, optional
        The folder that other layers are read from, it and those below it; by default that of the file.

    Returns
    -------
    System
        The mechanism in SI units, with `system.import_report`: what was read, substituted and ignored.

    Raises
    ------
    ModelFileError
        With all faults of the stage: prim, defect and remedy of each.
    AssemblyError
        If the joints cannot be closed; close=False returns them open.
    UsageError
        If there is no such file, or OpenUSD is not installed (the extra `usd`).

    Notes
    -----
    Revolute joints become RJ, prismatic TJ, spherical SJ, fixed ones are merged; of general joints (D6) with locked axes those that are a
    Fixed, RJ, TJ, CJ, SJ, UJ, Planar, PointOnLine, PointInPlane, Parallel or none turning. Drives become JointSpring. Loops are read as
    they are. Attributes have their values at the default time. Nothing of a file is executed, and no layer outside of `folder` is opened.
    Source: the schema UsdPhysics of OpenUSD.
    """
    check_tolerance(tolerance)
    stiffness = read_stiffness(stop_stiffness)
    where = path_of(path)
    read = _opened(where, where.parent if folder is None else path_of(folder, "folder"))
    made = read.made
    try:
        _read(read)
        made.gravity = _gravity(read) if gravity is None else np.asarray(gravity, dtype=np.float64)
        built = mechanism(made, merge_fixed) if not made.faults else None
    except ModelFileError as error:
        raise ModelFileError(str(where), error.faults) from None
    except read.usd.Tf.ErrorException as error:
        raise ModelFileError(str(where), [Fault("the whole file", f"OpenUSD cannot read it: {_said(error)}", DAMAGED)]) from None
    if built is None or made.faults:
        raise ModelFileError(str(where), made.faults)
    system = built.system
    system.tolerance = tolerance
    _add_drives(read, system)
    if made.faults:
        raise ModelFileError(str(where), made.faults)
    built.warnings.extend(read.warnings)
    done = closed(built, close)
    nothing_moves = "None of its bodies moves: each needs PhysicsRigidBodyAPI, enabled and not kinematic."
    return reported(made, built, done, (str(where), "USD", nothing_moves), stiffness)


# ------------------------------------------------------------------------------------------------------------------- the stage


def _modules() -> ModuleType:
    """Return the package pxr with the modules that are used. Raise UsageError if it is not installed."""
    try:
        import pxr  # noqa: PLC0415  an extra
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade  # noqa: F401, PLC0415
    except ImportError:
        raise UsageError("USD is read by OpenUSD, which is not installed: pip install usd-core, or haugmbd[usd].") from None
    return sys.modules[pxr.__name__]


def _opened(path: FilePath, folder: FilePath) -> Stage:
    """Return the stage of a file. Raise ModelFileError if it is none, or needs layers outside of the folder."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}.")
    usd = _modules()
    try:
        _check_layers(usd, path.resolve(), folder.resolve())
        stage = usd.Usd.Stage.Open(str(path.resolve()))
        L, K = usd.UsdGeom.GetStageMetersPerUnit(stage), usd.UsdPhysics.GetStageKilogramsPerUnit(stage)
    except usd.Tf.ErrorException as error:
        raise ModelFileError(str(path), [Fault("the whole file", f"OpenUSD cannot open it: {_said(error)}", DAMAGED)]) from None
    if not (0.0 < L < LARGEST and 0.0 < K < LARGEST):
        what = f"its units are {L:g} m and {K:g} kg"
        raise ModelFileError(str(path), [Fault("the whole file", what, "Give positive metersPerUnit and kilogramsPerUnit.")])
    return Stage(usd, stage, Assembly(path.stem, 1.0), L, K)


def _said(error: Exception) -> str:
    """Return what OpenUSD says, without its own places."""
    text = " ".join(str(error).split())
    return text.rpartition(".cpp : ")[2].strip("' .")[:160] or text[:160]


def _check_layers(usd: ModuleType, path: FilePath, folder: FilePath) -> None:
    """Raise ModelFileError if a layer, or one that it refers to, is outside of the folder, missing, or too large."""
    waiting, seen = [path], {path}
    for where in waiting:
        if where.stat().st_size > MAX_BYTES or len(seen) > MAX_LAYERS:
            what = f"layer {where.name!r} has more than {MAX_BYTES} bytes, or there are more than {MAX_LAYERS} layers"
            raise ModelFileError(str(path), [Fault("the whole file", what, "Flatten the stage, without what is only drawn.")])
        layer = usd.Sdf.Layer.FindOrOpen(str(where))
        if layer is None:
            raise ModelFileError(str(path), [Fault("the whole file", f"{where.name!r} is no layer of USD", DAMAGED)])
        layer.Reload()
        for asset in layer.GetCompositionAssetDependencies():
            try:
                found = FilePath(layer.ComputeAbsolutePath(asset)).resolve()
                inside = found.is_relative_to(folder) and found.is_file()
            except (OSError, ValueError, RuntimeError):
                inside = False
            if not inside:
                what = f"layer {where.name!r} refers to {asset!r:.120}, which is not a file in {str(folder)!r}"
                raise ModelFileError(str(path), [Fault("the whole file", what, "Put it there, or give folder=.")])
            if found not in seen:
                seen.add(found)
                waiting.append(found)


def _prims(read: Stage) -> Iterator[Any]:
    """Iterate over the prims, those of instances included. Stop with a fault where there are too many."""
    usd = read.usd.Usd
    for n, prim in enumerate(read.stage.Traverse(usd.TraverseInstanceProxies())):
        if n == MAX_PRIMS:
            read.fault("the whole file", f"it has more than {MAX_PRIMS} prims", "Remove what is only drawn.")
            return
        yield prim


def _read(read: Stage) -> None:
    """Read bodies, then joints."""
    prims = list(_prims(read))
    bodies = [prim for prim in prims if _moves(prim)]
    plain = Counter(prim.GetName() for prim in bodies)
    for prim in bodies:
        path = str(prim.GetPath())
        name = prim.GetName() if plain[prim.GetName()] == 1 else path.removeprefix("/")
        read.names[path], read.at[path] = name, _rigid(read, prim, f"body {name!r}")
        read.made.parts[name] = Part(name, 0, read.at[path])
    colliders: dict[str, list[Any]] = {path: [] for path in read.names}
    for prim in prims:
        _list_unread(read, prim)
        path = _body_of(read, prim)
        if prim.HasAPI(read.usd.UsdPhysics.CollisionAPI) and path:
            colliders[path].append(prim)
        if prim.GetTypeName() in SOLIDS and _is_drawn(read, prim):
            _draw(read, prim, path)
    for prim in bodies:
        part = read.made.parts[read.names[str(prim.GetPath())]]
        part.inertia = _inertia(read, prim, colliders[str(prim.GetPath())])
        _read_velocity(read, prim, part)
    names: set[str] = set()
    for prim in prims:
        if prim.GetTypeName() in JOINTS:
            name = prim.GetName() if prim.GetName() not in names else str(prim.GetPath()).removeprefix("/")
            names.add(name)
            _read_joint(read, prim, name)


def _moves(prim: Any) -> bool:
    """Return whether a prim is a body that moves by forces."""
    if "PhysicsRigidBodyAPI" not in prim.GetAppliedSchemas():
        return False
    return bool(_get(prim, "physics:rigidBodyEnabled", True)) and not _get(prim, "physics:kinematicEnabled", False)


def _body_of(read: Stage, prim: Any) -> str:
    """Return the path of the body that a prim is on; "" for the world."""
    while prim and not prim.IsPseudoRoot():
        if str(prim.GetPath()) in read.names:
            return str(prim.GetPath())
        if "PhysicsRigidBodyAPI" in prim.GetAppliedSchemas():
            return ""
        prim = prim.GetParent()
    return ""


def _list_unread(read: Stage, prim: Any) -> None:
    """Count schemas and kinds of prims that are not read."""
    for schema in prim.GetAppliedSchemas():
        name, _, _ = str(schema).partition(":")
        if name not in READ:
            read.made.ignored[f"{name:.60} of prims"] += 1
    kind = str(prim.GetTypeName())
    if kind not in (*NOT_LISTED, *SOLIDS, *JOINTS) and "Light" not in kind:
        read.made.ignored[f"prims of type {kind:.60}"] += 1


def _get(prim: Any, name: str, default: Any) -> Any:
    """Return the value of an attribute at the default time."""
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute else None
    return default if value is None else value


def _number(read: Stage, prim: Any, name: str, default: float, *, endless: bool = False) -> float:
    """Return a number; a fault, and the default, if it is none, or too large. endless: infinities stay."""
    value = _get(prim, name, default)
    try:
        x = float(value)
    except (TypeError, ValueError):
        x = np.nan
    if abs(x) < LARGEST or (endless and not np.isnan(x) and abs(x) > NO_LIMIT):
        return x
    read.fault(f"prim {prim.GetPath()}", f"its attribute {name} is {value!r:.60}, not a finite number", "Give a number.")
    return default


def _vector(read: Stage, prim: Any, name: str, default: Any) -> Array:
    """Return three numbers; a fault, and zeros, if they are not finite."""
    value = _get(prim, name, default)
    try:
        x = np.array([float(v) for v in value])
    except (TypeError, ValueError):
        x = np.full(3, np.nan)
    if x.shape == (3,) and np.all(np.abs(x) < LARGEST):
        return x
    read.fault(f"prim {prim.GetPath()}", f"its attribute {name} is {value!r:.60}, not three finite numbers", "Give them.")
    return np.zeros(3)


def _letter(read: Stage, prim: Any, name: str, default: str) -> str:
    """Return an axis, X, Y or Z; a fault, and the default, for another word."""
    value = _get(prim, name, default)
    if str(value) in TURN:
        return str(value)
    read.fault(f"prim {prim.GetPath()}", f"its attribute {name} is {value!r:.40}", "Give X, Y or Z.")
    return default


def _turned(read: Stage, prim: Any, name: str) -> Array:
    """Return the rotation matrix of a quaternion; one of zero length is that of no rotation."""
    value = _get(prim, name, None)
    if value is None:
        return np.eye(3)
    try:
        q = np.array([float(value.GetReal()), *(float(x) for x in value.GetImaginary())])
    except (AttributeError, TypeError):
        q = np.full(4, np.nan)
    size = float(np.linalg.norm(q)) if np.all(np.abs(q) < LARGEST) else np.nan
    if size == 0.0:
        return np.eye(3)
    if not size > 1e-6:  # noqa: PLR2004  a direction in four dimensions; false for NaN
        read.fault(f"prim {prim.GetPath()}", f"its attribute {name} is {value!r:.80}, no rotation", "Give a quaternion.")
        return np.eye(3)
    return euler_parameters.rotation_matrix(q / size)


def _matrix(read: Stage, prim: Any) -> tuple[Array, Array]:
    """Return the transform of a prim to the world:  x = F s + r,  s in units of the stage, x in metres."""
    M = np.array(read.usd.UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(read.usd.Usd.TimeCode.Default())).T
    return read.L * M[:3, :3], read.L * M[:3, 3]


def _world(read: Stage, prim: Any) -> tuple[Array, Array]:
    """Return the transform of the nearest prim above, or this one, that has one."""
    while prim and not prim.IsPseudoRoot() and not prim.IsA(read.usd.UsdGeom.Xformable):
        prim = prim.GetParent()
    if not prim or prim.IsPseudoRoot():
        return read.L * np.eye(3), np.zeros(3)
    F, r = _matrix(read, prim)
    if not (np.all(np.abs(F) < LARGEST) and np.all(np.abs(r) < LARGEST)):
        read.fault(f"prim {prim.GetPath()}", "its transform is not finite", "Give finite numbers.")
        return read.L * np.eye(3), np.zeros(3)
    return F, r


def _rigid(read: Stage, prim: Any, where: str) -> Transform:
    """Return the pose of a prim without its scale. A fault for one whose axes are not at right angles."""
    F, r = _world(read, prim)
    sizes = np.linalg.norm(F, axis=0)
    if not sizes.min() > 0.0:
        read.fault(where, "its transform has a scale of zero", "Give a scale that is positive.")
        return IDENTITY
    A = F / sizes
    if float(np.abs(A.T @ A - np.eye(3)).max()) > SHEAR:
        read.fault(where, "its axes are not at right angles: a shear is no pose", "Remove the scale above a rotation.")
        return IDENTITY
    rotation, _ = nearest_rotation(A)
    if rotation is None:
        read.fault(where, "its transform is a mirror", "Give a scale that is positive.")
        return IDENTITY
    return Transform(rotation, r)


def _gravity(read: Stage) -> Array:
    """Return the gravity of the scene [m/s2]; against the up axis where its direction is zero, 9.81 where its size is -inf."""
    scenes = [prim for prim in _prims(read) if prim.GetTypeName() == "PhysicsScene"]
    word = str(read.usd.UsdGeom.GetStageUpAxis(read.stage)).upper()
    up: Array = np.eye(3)["XYZ".index(word) if word in TURN else 1]
    if not scenes:
        return -EARTH * up
    if len(scenes) > 1:
        read.warnings.append(f"the stage has {len(scenes)} scenes; gravity is that of {scenes[0].GetPath()}")
    d = _vector(read, scenes[0], "physics:gravityDirection", (0.0, 0.0, 0.0))
    size = _number(read, scenes[0], "physics:gravityMagnitude", -np.inf, endless=True)
    n = float(np.linalg.norm(d))
    return (EARTH if size < 0.0 else read.L * size) * (d / n if n > 0.0 else -up)


# ------------------------------------------------------------------------------------------------------------------- masses


def _inertia(read: Stage, prim: Any, colliders: list[Any]) -> MassProperties | None:
    """Return the inertia of a body in its rigid axes; None if neither it nor a collider gives a mass."""
    where, K, L = f"body {read.names[str(prim.GetPath())]!r}", read.K, read.L
    mass, density = (max(_number(read, prim, f"physics:{key}", 0.0), 0.0) for key in ("mass", "density"))
    moments = K * L**2 * _vector(read, prim, "physics:diagonalInertia", (0.0, 0.0, 0.0))
    given = _is_finite(_get(prim, "physics:centerOfMass", None))
    F, r = _world(read, prim)
    at = read.at[str(prim.GetPath())]
    point = at.A.T @ (F @ _vector(read, prim, "physics:centerOfMass", (0.0, 0.0, 0.0)) + r - at.r) if given else np.zeros(3)
    whole = None
    if not (mass and moments.any() and given):
        parts = [solid for one in colliders if (solid := _solid(read, one, at, where)) is not None]
        whole = _of_colliders(parts, density * K / L**3)
    m = K * mass or (0.0 if whole is None else whole.mass)
    if not m:
        return None
    if whole is None:
        whole = MassProperties(m, np.full(3, 0.4 * m * LUMP**2))
        if not moments.any():
            read.made.substituted.append(
                f"{where} has a mass, and neither moments of inertia nor colliders: those of a ball of 0.1 m"
            )
    J = whole.J_bar * (m / whole.mass)
    if moments.any():
        A = _turned(read, prim, "physics:principalAxes")
        J = A @ np.diag(moments) @ A.T
    return MassProperties(m, J, point if given else whole.center)


def _is_finite(value: Any) -> bool:
    """Return whether a vector is given: -inf stands for none."""
    try:
        return value is not None and bool(np.all(np.isfinite([float(x) for x in value])))
    except (TypeError, ValueError):
        return True  # and no vector, which is told where it is read


def _of_colliders(parts: list[Solid], density: float) -> MassProperties | None:
    """Return the inertia of colliders;  density: of the body [kg/m3], 0 for none."""
    made = []
    for solid in parts:
        rho = solid.density or density or solid.material or DENSITY
        made.append(solid.inertia(solid.mass or rho * solid.volume))
    return combine(made) if made else None


def _solid(read: Stage, prim: Any, at: Transform, where: str) -> Solid | None:
    """Return a collider in the axes of its body; None for one without a volume, a fault for one that is not known."""
    kind, K, L = str(prim.GetTypeName()), read.K, read.L
    if kind == "Plane":
        return None
    unit = _unit_solid(read, prim, kind) if kind in SOLIDS else None
    if unit is None:
        what = f"its mass is to be found from the collider {prim.GetPath()}, {kind or 'a prim without a type'}, which has no known volume"
        read.fault(where, what, "Give it mass, centerOfMass and diagonalInertia (PhysicsMassAPI).")
        return None
    volume, c, C = unit
    F, r = _world(read, prim)
    F, r = at.A.T @ F, at.A.T @ (r - at.r)
    change = abs(float(np.linalg.det(F)))
    if not change > 0.0:
        return None
    mass, density = (max(_number(read, prim, f"physics:{key}", 0.0), 0.0) for key in ("mass", "density"))
    return Solid(change * volume, F @ c + r, change * F @ C @ F.T, K * mass, density * K / L**3, _material(read, prim) * K / L**3)


def _material(read: Stage, prim: Any) -> float:
    """Return the density of the physics material of a prim, or the one that is bound for all purposes; 0 without one."""
    api = read.usd.UsdShade.MaterialBindingAPI(prim)
    for purpose in ("physics", ""):
        material, _ = api.ComputeBoundMaterial(purpose)
        if material and material.GetPrim().HasAPI(read.usd.UsdPhysics.MaterialAPI):
            return max(_number(read, material.GetPrim(), "physics:density", 0.0), 0.0)
    return 0.0


def _unit_solid(read: Stage, prim: Any, kind: str) -> tuple[float, Array, Array] | None:
    """Return volume, centre and second moments about it of a solid in its own axes, in units of the stage; None if it has no volume."""
    axis = np.eye(3)["XYZ".index(_letter(read, prim, "axis", "Z"))] if kind in ("Cylinder", "Capsule", "Cone") else np.eye(3)[2]
    size, radius = _number(read, prim, "size", 2.0), _number(read, prim, "radius", 0.5 if kind == "Capsule" else 1.0)
    height = _number(read, prim, "height", 1.0 if kind == "Capsule" else 2.0)
    try:
        if kind == "Cube":
            made = solids.box((size, size, size), density=1.0)
        elif kind == "Sphere":
            made = solids.sphere(radius, density=1.0)
        elif kind == "Cylinder":
            made = solids.cylinder(radius, height, density=1.0, axis=axis)
        elif kind == "Capsule":
            made = solids.capsule(radius, height, density=1.0, axis=axis)
        elif kind == "Cone":
            made = solids.cone(radius, height, density=1.0, axis=axis).placed(-0.25 * height * axis)
        else:
            shape = _mesh(read, prim, np.eye(3), np.zeros(3), hull=str(_get(prim, "physics:approximation", "none")))
            if shape is None:
                return None
            made = solids.mesh(shape, density=1.0)
    except UsageError:
        return None
    J = np.asarray(made.J_bar)
    return made.mass, np.asarray(made.center), 0.5 * np.trace(J) * np.eye(3) - J


def _mesh(read: Stage, prim: Any, F: Array, r: Array, hull: str = "none") -> Mesh | None:
    """Return a mesh, its points moved by F s + r; None for one that is none.

    hull: the approximation of a collider: none and those that follow the mesh, or convexHull; None for others
    """
    if hull not in ("none", "convexHull", "meshSimplification", "sdf"):
        return None
    points, counts, corners = (_get(prim, key, ()) for key in ("points", "faceVertexCounts", "faceVertexIndices"))
    try:
        x, n, k = np.array(points, dtype=np.float64).reshape(-1, 3), np.array(counts, dtype=int), np.array(corners, dtype=int)
    except (TypeError, ValueError, OverflowError):
        return None
    if not len(x) or not len(n) or len(k) > MAX_CORNERS or n.min() < 3 or n.sum() != len(k):  # noqa: PLR2004  corners of a face
        return None
    if k.min() < 0 or k.max() >= len(x) or not np.all(np.abs(x) < LARGEST):
        return None
    x = x @ F.T + r
    if hull == "convexHull":
        return _hull(x)
    first = np.repeat(np.cumsum(n) - n, n - 2)
    step = np.arange(len(first)) - np.repeat(np.cumsum(n - 2) - (n - 2), n - 2)
    triangles = np.stack([k[first], k[first + step + 1], k[first + step + 2]], axis=1)
    if (str(_get(prim, "orientation", "rightHanded")) == "leftHanded") != (np.linalg.det(F) < 0.0):
        triangles = triangles[:, ::-1]
    try:
        return Mesh.from_arrays(x, triangles, color=_color(prim))
    except UsageError:
        return None


def _hull(x: Array) -> Mesh | None:
    """Return the convex hull of points; None if they are in one plane."""
    from scipy.spatial import ConvexHull, QhullError  # noqa: PLC0415  slow to import

    try:
        hull = ConvexHull(x)
    except (QhullError, ValueError):
        return None
    triangles = hull.simplices.copy()
    a, b, c = (x[triangles[:, m]] for m in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return Mesh.from_arrays(x, triangles)


def _read_velocity(read: Stage, prim: Any, part: Part) -> None:
    """Read the velocities of a body where its own axes are those of the world, so that it does not matter in which of them they are."""
    v = read.L * _vector(read, prim, "physics:velocity", (0.0, 0.0, 0.0))
    omega = np.radians(_vector(read, prim, "physics:angularVelocity", (0.0, 0.0, 0.0)))
    if not (v.any() or omega.any()):
        return
    F, _ = _world(read, prim)
    if float(np.abs(F / read.L - np.eye(3)).max()) > SHEAR:
        read.made.ignored[
            f"velocities of body {part.name!r}, which is turned or scaled: programs differ in the axes that they are in"
        ] += 1
        return
    part.velocity, part.omega = v, omega


# ------------------------------------------------------------------------------------------------------------------- what is drawn


def _is_drawn(read: Stage, prim: Any) -> bool:
    """Return whether a prim is visible, and no guide or proxy."""
    image = read.usd.UsdGeom.Imageable(prim)
    return image.ComputeVisibility() != "invisible" and image.ComputePurpose() in ("default", "render")


def _color(prim: Any) -> str | None:
    """Return the display colour of a prim as "#rrggbb"."""
    color = _get(prim, "primvars:displayColor", None)
    try:
        rgb = np.clip(np.array(color, dtype=np.float64).reshape(-1, 3)[0], 0.0, 1.0)
    except (TypeError, ValueError, IndexError):
        return None
    return "#" + "".join(f"{int(255 * x + 0.5):02x}" for x in rgb) if np.all(np.isfinite(rgb)) else None


def _draw(read: Stage, prim: Any, path: str) -> None:
    """Add a visible solid to its body, or to the ground; what cannot be drawn is listed."""
    at = read.at[path] if path else IDENTITY
    F, r = _world(read, prim)
    shape = _shape(read, prim, at.A.T @ F, at.A.T @ (r - at.r))
    if shape is None:
        read.made.ignored[f"drawings of type {prim.GetTypeName()} that are scaled, or not solid"] += 1
    elif path:
        part = read.made.parts[read.names[path]]
        part.shapes = (*part.shapes, shape)
    else:
        read.made.ground_shapes.append(shape)


def _shape(read: Stage, prim: Any, F: Array, r: Array) -> Shape | None:
    """Return a solid whose points are F s + r; None if no shape is that."""
    kind, color = str(prim.GetTypeName()), _color(prim)
    sizes = np.linalg.norm(F, axis=0)
    A = nearest_rotation(F / sizes)[0] if sizes.min() > 0.0 else None
    size, radius = _number(read, prim, "size", 2.0), _number(read, prim, "radius", 0.5 if kind == "Capsule" else 1.0)
    height = _number(read, prim, "height", 1.0 if kind == "Capsule" else 2.0)
    try:
        if kind == "Mesh":
            return _mesh(read, prim, F, r)
        if A is None:
            return None
        if kind == "Cube":
            return Box(size * sizes, center=r, p=euler_parameters.from_rotation_matrix(A), color=color)
        if float(np.ptp(sizes)) > SHEAR * float(sizes.max()):
            return None
        s = float(sizes.mean())
        if kind == "Sphere":
            return Sphere(s * radius, center=r, color=color)
        axis = A[:, "XYZ".index(_letter(read, prim, "axis", "Z"))]
        if kind == "Cylinder":
            return Cylinder(s * radius, s * height, center=r, axis=axis, color=color)
        solid = Capsule if kind == "Capsule" else Cone
        return solid(s * radius, s * height, center=r, axis=axis, color=color)
    except UsageError:
        return None


# ------------------------------------------------------------------------------------------------------------------- joints


def _read_joint(read: Stage, prim: Any, name: str) -> None:
    """Read a joint: its frames, its kind, its limits and its drives."""
    where, made = f"joint {name!r}", read.made
    if not _get(prim, "physics:jointEnabled", True):
        made.ignored[f"{where}, which is not enabled"] += 1
        return
    ends = [_end(read, prim, side, where) for side in (0, 1)]
    if any(end is None for end in ends):
        return
    for key in ("breakForce", "breakTorque"):
        if _number(read, prim, f"physics:{key}", np.inf, endless=True) < NO_LIMIT:
            made.ignored[f"{key} of joints"] += 1
    kind = str(prim.GetTypeName())
    locked, limits = _freedoms(read, prim, kind)
    held = [f"{key} at {low:g}" for key, (low, high) in limits.items() if low == high and key != "cone"]
    if held:
        read.fault(where, f"its limits hold {', '.join(held)}", "Lock it with frames that agree, or make it a fixed joint.")
        return
    pieces = _distance(read, prim, where) if kind == "PhysicsDistanceJoint" else _pieces(read, kind, prim, locked, where)
    if pieces is None:
        return
    for n, (asmt, axes, values) in enumerate(pieces):
        own = name if n == 0 else f"{name} {n + 1}"
        paths = (f"{own} of body0", f"{own} of body1")
        for path, end, axis in zip(paths, ends, axes, strict=True):
            assert end is not None
            made.markers[path] = Marker(end[0], Transform(end[1].A @ TURN[axis], end[1].r))
        made.joints[own] = AsmtJoint(own, 0, asmt, paths, values)
    if not pieces:
        made.ignored[f"{where}, which locks nothing"] += 1
        return
    _read_limits(read, name, pieces, limits)
    _read_drives(read, prim, name, pieces, where)


def _end(read: Stage, prim: Any, side: int, where: str) -> tuple[str, Transform] | None:
    """Return the part of an end of a joint, "" for the world, and the frame of the joint on it; None, with a fault, if it has none."""
    relation = prim.GetRelationship(f"physics:body{side}")
    targets = relation.GetTargets() if relation else []
    target = read.stage.GetPrimAtPath(targets[0]) if targets else None
    if len(targets) > 1 or (targets and not target):
        paths = [str(p) for p in read.names]
        text = ", ".join(str(t) for t in targets)
        read.fault(where, f"its body{side} is {text:.80}{did_you_mean(text, paths)}", "Give one prim of the stage.")
        return None
    F, r = (read.L * np.eye(3), np.zeros(3)) if target is None else _world(read, target)
    sizes = np.linalg.norm(F, axis=0)
    A = nearest_rotation(F / sizes)[0] if sizes.min() > 0.0 else None
    if A is None:
        read.fault(where, f"its body{side} is mirrored, or scaled and turned", "Give a prim whose axes are at right angles.")
        return None
    s = _vector(read, prim, f"physics:localPos{side}", (0.0, 0.0, 0.0))
    frame = Transform(A @ _turned(read, prim, f"physics:localRot{side}"), F @ s + r)
    path = "" if target is None else _body_of(read, target)
    return (read.names[path], read.at[path].inverse() @ frame) if path else ("", frame)


def _freedoms(read: Stage, prim: Any, kind: str) -> tuple[set[str], dict[str, tuple[float, float]]]:
    """Return the locked axes of a general joint, and limits by axis, in degrees and units of the stage."""
    locked, limits = set(), {}
    for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance"):
        if f"PhysicsLimitAPI:{axis}" in prim.GetAppliedSchemas():
            low = _number(read, prim, f"limit:{axis}:physics:low", -np.inf, endless=True)
            high = _number(read, prim, f"limit:{axis}:physics:high", np.inf, endless=True)
            if low > high or (low == high == 0.0):
                locked.add(axis)
            else:
                limits[axis] = (low, high)
    if kind in ONE_AXIS:
        low = _number(read, prim, "physics:lowerLimit", -np.inf, endless=True)
        high = _number(read, prim, "physics:upperLimit", np.inf, endless=True)
        limits["angle" if "Revolute" in kind else "displacement"] = (low, high)
    if kind == "PhysicsSphericalJoint":
        cones = [_number(read, prim, f"physics:coneAngle{k}Limit", -1.0, endless=True) for k in (0, 1)]
        limits["cone"] = (-np.inf, max(cones) if max(cones) >= 0.0 else np.inf)
    return locked, limits


Pieces = list[tuple[str, tuple[str, str], dict[str, float]]]


def _distance(read: Stage, prim: Any, where: str) -> Pieces | None:
    """Return a rod for a distance joint whose ends are one; a fault for a rope or a strut, which keep a distance on one side."""
    low, high = (_number(read, prim, f"physics:{key}Distance", -1.0, endless=True) for key in ("min", "max"))
    if low == high and low >= 0.0:
        return [("SphSphJoint", ("Z", "Z"), {"distanceIJ": read.L * low})]
    if low < 0.0 and high < 0.0:
        return []
    what = f"its distance is between {low:g} and {high:g}, which is a rope or a stop between points"
    read.fault(where, what, "Give minDistance = maxDistance, or disable it and add a Rope to the system.")
    return None


def _pieces(read: Stage, kind: str, prim: Any, locked: set[str], where: str) -> Pieces | None:
    """Return joints of `modelfile.asmt.joints` that lock what a joint locks, with the axes of body0 and body1 that their z is."""
    axis = _letter(read, prim, "physics:axis", "X")
    if kind in ONE_AXIS:
        return [(ONE_AXIS[kind], (axis, axis), {})]
    if kind == "PhysicsFixedJoint":
        return [("FixedJoint", ("Z", "Z"), {})]
    if kind == "PhysicsSphericalJoint":
        return [("SphericalJoint", (axis, axis), {})]
    if "distance" in locked:
        return [("SphericalJoint", ("Z", "Z"), {})]
    slides = [a for a in "XYZ" if f"trans{a}" not in locked]
    turns = [a for a in "XYZ" if f"rot{a}" not in locked]
    rest = [a for a in "XYZ" if a not in slides]
    if len(turns) == 2:  # noqa: PLR2004  two rotations, one after the other
        if slides or "X" not in turns:
            what = f"rotations about {' and '.join(turns)} are free, and displacements along {' and '.join(slides) or 'none'}"
            read.fault(where, f"{what}: programs differ in what that is", "Use two joints with a body between them.")
            return None
        other = next(a for a in turns if a != "X")
        return [("UniversalJoint", (other, "X"), {})]
    named = {
        (0, 0): "FixedJoint",
        (0, 1): "RevoluteJoint",
        (0, 3): "SphericalJoint",
        (1, 0): "TranslationalJoint",
        (1, 1): "CylindricalJoint" if slides == turns else "",
        (2, 1): "PlanarJoint" if turns == rest else "",
    }.get((len(slides), len(turns)), "")
    if named:
        z = (turns if len(turns) == 1 else slides if len(slides) == 1 else ["Z"])[0]
        return [(named, (z, z), {})]
    return [*_place(slides, rest), *_direction(turns)]


def _place(slides: list[str], rest: list[str]) -> Pieces:
    """Return the joint that keeps the origin of body1 on a line or in a plane of body0, if one does."""
    if len(slides) == 1:
        return [("PointInLineJoint", (slides[0], slides[0]), {})]
    return [("PointInPlaneJoint", (rest[0], rest[0]), {})] if len(rest) == 1 else []


def _direction(turns: list[str]) -> Pieces:
    """Return the joint that keeps all directions, or one, if one does."""
    if not turns:
        return [("NoRotationJoint", ("Z", "Z"), {})]
    return [("ParallelAxesJoint", (turns[0], turns[0]), {})] if len(turns) == 1 else []


def _read_limits(read: Stage, name: str, pieces: Pieces, limits: dict[str, tuple[float, float]]) -> None:
    """Read limits of the angle and of the displacement of one joint; others are listed."""
    asmt, (axis, _), _ = pieces[0]
    kinds = {"RevoluteJoint": ("angle",), "TranslationalJoint": ("displacement",), "CylindricalJoint": ("angle", "displacement")}
    own = {"angle": "angle", "displacement": "displacement", f"rot{axis}": "angle", f"trans{axis}": "displacement"}
    for key, ends in limits.items():
        what = own.get(key, "")
        for side, x in zip(("=>", "=<"), ends, strict=True):
            if not abs(x) < NO_LIMIT:
                continue
            if what not in kinds.get(asmt, ()):
                read.made.ignored[f"limits of {asmt.removesuffix('Joint').lower()} joints"] += 1
                continue
            turning = what == "angle"
            kind = "RotationLimit" if turning else "TranslationLimit"
            value = float(np.radians(x)) if turning else read.L * x
            read.made.limits.append(AsmtLimit(f"{name} {side}", kind, name, side, f"{value:.17g}"))


def _read_drives(read: Stage, prim: Any, name: str, pieces: Pieces, where: str) -> None:
    """Read the drives of a joint; a fault for one that has no place, or that is counted per inertia."""
    asmt, (axis, _), _ = pieces[0]
    turning = ("angular", f"rot{axis}") if asmt in ("RevoluteJoint", "CylindricalJoint") else ()
    sliding = ("linear", f"trans{axis}") if asmt in ("TranslationalJoint", "CylindricalJoint") else ()
    for schema in prim.GetAppliedSchemas():
        head, _, key = str(schema).partition(":")
        if head != "PhysicsDriveAPI":
            continue
        values = {each: _number(read, prim, f"drive:{key}:physics:{each}", 0.0) for each in DRIVE}
        if not (values["stiffness"] or values["damping"]):
            continue
        if key not in (*turning, *sliding):
            what = f"its drive {key!r:.40} is along none of the coordinates of the {asmt} that it is"
            read.fault(where, what, "Remove it, and add a force element to the system.")
            continue
        if str(_get(prim, f"drive:{key}:physics:type", "force")) != "force":
            read.fault(
                where, f"its drive {key!r} is an acceleration, times an inertia that the file does not say", "Give type force."
            )
            continue
        if _number(read, prim, f"drive:{key}:physics:maxForce", np.inf, endless=True) < NO_LIMIT:
            read.warnings.append(f"the force of the drive of joint {name!r} is not bounded here by its maxForce")
        turns = key in turning
        unit = read.K * read.L**2 * float(np.degrees(1.0)) if turns else read.K
        angle = float(np.radians(1.0)) if turns else read.L
        k, c = unit * values["stiffness"], unit * values["damping"]
        read.drives.append(Drive(name, turns, k, c, angle * values["targetPosition"], angle * values["targetVelocity"]))


DRIVE = ("stiffness", "damping", "targetPosition", "targetVelocity")


def _add_drives(read: Stage, system: System) -> None:
    """Add the drives as springs: k and c of a JointSpring, its free value moved by c rate / k."""
    joints = {joint.name: joint for joint in system.joints}
    for drive in read.drives:
        joint, where = joints.get(drive.joint), f"joint {drive.joint!r}"
        if joint is None:
            read.made.ignored[f"the drive of {where}, which is between parts of one body"] += 1
            continue
        q = joint.coordinate("angle" if drive.turns else "displacement")
        kind = "turning" if drive.turns else "sliding"
        loads: list[JointSpring | JointForce] = []
        loads.append(JointSpring(f"{drive.joint} {kind} drive", q, k=drive.k, c=drive.c, free=drive.target - q.modelled() + q.q0))
        if drive.c * drive.rate:
            loads.append(JointForce(f"{drive.joint} {kind} rate", q, drive.c * drive.rate))
        for load in loads:
            read.made.faults += [Fault(fault.where, fault.what, fault.remedy) for fault in load.faults()]
            system.add(load)
