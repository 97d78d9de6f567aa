"""A system as text of a USD stage, in any units, for the reader: bodies, and RJ, TJ, SJ, UJ, CJ, Planar and Fixed joints."""

from __future__ import annotations

import numpy as np

from haugmbd.math import euler_parameters
from joints import CJ, RJ, SJ, TJ, UJ, Fixed, Planar

FREE = {
    RJ: ("PhysicsRevoluteJoint", None),
    TJ: ("PhysicsPrismaticJoint", None),
    SJ: ("PhysicsSphericalJoint", None),
    Fixed: ("PhysicsFixedJoint", None),
    CJ: ("PhysicsJoint", {"transZ", "rotZ"}),
    UJ: ("PhysicsJoint", {"rotX", "rotZ"}),
    Planar: ("PhysicsJoint", {"transX", "transY", "rotZ"}),
}


def stage(*prims, L=1.0, K=1.0, up="Z", head=""):
    meta = f'metersPerUnit = {L!r}\n    kilogramsPerUnit = {K!r}\n    upAxis = "{up}"{head}'
    return f"#usda 1.0\n(\n    {meta}\n)\n" + "\n".join(prims)


def prim(kind, name, *lines, schemas=()):
    listed = ", ".join(f'"{schema}"' for schema in schemas)
    head = f"( prepend apiSchemas = [{listed}] )" if schemas else ""
    return f'def {kind} "{name}" {head}\n{{\n' + "\n".join(lines) + "\n}"


def three(x):
    return "(" + ", ".join(repr(float(v)) for v in x) + ")"


def quaternion(A):
    return "(" + ", ".join(repr(float(v)) for v in euler_parameters.from_rotation_matrix(A)) + ")"


def body(name, *lines, r=(0, 0, 0), A=None, more=()):
    M = np.eye(4)
    M[:3, :3], M[3, :3] = (np.eye(3) if A is None else np.asarray(A)).T, r
    rows = ", ".join("(" + ", ".join(repr(float(v)) for v in row) + ")" for row in M)
    place = f'matrix4d xformOp:transform = ( {rows} )\nuniform token[] xformOpOrder = ["xformOp:transform"]'
    return prim("Xform", name, place, *lines, schemas=("PhysicsRigidBodyAPI", "PhysicsMassAPI", *more))


def mass(m, J, center=(0, 0, 0)):
    moments, axes = np.linalg.eigh(np.asarray(J))
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return (
        f"float physics:mass = {m!r}\nfloat3 physics:diagonalInertia = {three(moments)}\n"
        f"quatf physics:principalAxes = {quaternion(axes)}\npoint3f physics:centerOfMass = {three(center)}"
    )


def joint(kind, name, ends, frames, *lines, free=None, schemas=()):
    texts = [*lines]
    for k, (end, (r, A)) in enumerate(zip(ends, frames, strict=True)):
        texts += [f"rel physics:body{k} = <{end}>"] if end else []
        texts += [f"point3f physics:localPos{k} = {three(r)}", f"quatf physics:localRot{k} = {quaternion(A)}"]
    if kind not in ("PhysicsJoint", "PhysicsFixedJoint"):
        texts.append('uniform token physics:axis = "Z"')
    locked = [] if free is None else [f"{what}{a}" for what in ("trans", "rot") for a in "XYZ" if f"{what}{a}" not in free]
    texts += [f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1" for axis in locked]
    return prim(kind, name, *texts, schemas=(*schemas, *(f"PhysicsLimitAPI:{axis}" for axis in locked)))


def stage_of(system, L=1.0, K=1.0, up="Z"):
    """Return the stage of a system whose bodies are at rest; names of bodies and joints are numbers."""
    prims = []
    path = {id(each): "" if each.is_ground else f"/b{k}" for k, each in enumerate(system.bodies)}
    for k, each in enumerate(system.bodies):
        if k:
            prims.append(body(f"b{k}", mass(each.mass / K, each.J_bar / (K * L**2)), r=each.r / L, A=each.A))
    for k, each in enumerate(system.joints):
        kind, free = FREE[type(each)]
        ends = [each.frame_i, each.frame_j]
        axes = [np.asarray(end.A_bar) for end in ends]
        if type(each) is UJ:  # X of body 1 is its axis there, Z of body 0 the other one
            i, j = each.frame_i.A[:, 2], each.frame_j.A[:, 2]
            axes = [end.body.A.T @ np.column_stack((j, np.cross(i, j), i)) for end in ends]
        frames = [(end.s_bar / L, A) for end, A in zip(ends, axes, strict=True)]
        prims.append(joint(kind, f"j{k}", [path[id(end.body)] for end in ends], frames, free=free))
    g = np.asarray(system.gravity, dtype=float)
    size = float(np.linalg.norm(g))
    down = f"vector3f physics:gravityDirection = {three(g / size if size else (0, 0, -1))}"
    prims.append(prim("PhysicsScene", "scene", down, f"float physics:gravityMagnitude = {size / L!r}"))
    return stage(*prims, L=L, K=K, up=up)
