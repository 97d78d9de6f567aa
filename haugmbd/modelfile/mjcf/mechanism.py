r"""From a compiled model of MuJoCo to a System: one body for each group of bodies that are welded to each other.

body frame    the axes of the first body of the group, its origin in the centre of mass c
armature      inertia of a body at the world, or a rotor: see couplings
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.inertia import MassProperties, combine
from haugmbd.bodies.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.joints import SJ, Fixed, Place, Vectors
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.imports import IDENTITY, Transform, heavy
from haugmbd.modelfile.mjcf.couplings import (
    Follower,
    Placed,
    armature,
    coordinate_of,
    couple_tendons,
    follow,
    followers,
    rotor,
    terms_of_tendons,
)
from haugmbd.modelfile.mjcf.engine import BALL, CONNECT, FREE, HINGE, SLIDE, TENDON, WELD, Engine, is_fixed, sprung_tendons
from haugmbd.modelfile.mjcf.joints import dependent, joint_of, links_between
from haugmbd.modelfile.mjcf.loads import controls, forces_at_sites, hinge_load, laws, loads_along
from haugmbd.modelfile.mjcf.medium import in_medium
from haugmbd.modelfile.mjcf.passive import ball_loads, free_loads, held_up, joints_of_tendon, numbers_of, tendon_loads
from haugmbd.modelfile.mjcf.tendons import held_tendon, is_held
from haugmbd.system.system import System

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = 2, 3, 4, 5, 6
"""Types of geoms that have shapes here, mjtGeom."""


class Built(NamedTuple):
    """The system as read, and what the report says of it.

    where: body and pose of each body of the file;  closures: joints of equalities, with their types;  placed: hinges and slides as
    coordinates;  rotors: joints with an armature that is no inertia of their body;  taken: names that further parts cannot have
    """

    system: System
    where: dict[str, tuple[str, Transform]]
    closures: dict[str, str]
    placed: dict[int, Placed]
    rotors: dict[int, float]
    substituted: list[str]
    ignored: list[str]
    warnings: list[str]
    faults: list[Fault]
    taken: set[str]


def mechanism(engine: Engine, name: str, control: Mapping[str, float] | None, *, stop_stiffness: float | None = None) -> Built:
    """Return the system at the pose of the engine; its equalities may be open.  stop_stiffness: of limits, if they are wanted"""
    m = engine.m
    gravity = np.zeros(3) if engine.off("GRAVITY") else np.array(m.opt.gravity)
    still = np.flatnonzero(engine.leaders() == 0).tolist()
    shapes = tuple(shape for k in still for shape in _placed(engine, k, IDENTITY, np.zeros(3)))
    built = Built(System(name, gravity=gravity, ground_shape=shapes), {}, {}, {}, {}, [], [], [], [], _names(engine))
    bodies = _bodies(engine, built)
    u = controls(engine, control)
    law = laws(engine, u, built.faults)
    _add_loads(built, forces_at_sites(engine, u, bodies))
    for k in np.flatnonzero(m.jnt_type == FREE).tolist():
        _add_loads(built, free_loads(engine, k, built.system.ground, bodies[int(m.jnt_bodyid[k])]))
    needed = _needed(engine, built, law, stops=stop_stiffness is not None)
    for k in range(1, m.nbody):
        if m.body_jntnum[k] > 0:
            _add_joint(engine, built, bodies, k, law, needed)
    tendons = tendon_loads(engine, bodies, built.placed, built.faults, stop_stiffness)
    _add_loads(built, [*held_up(engine, bodies), *in_medium(engine, bodies), *tendons])
    if control is None and m.nu:
        built.ignored.append(f"actuators ({m.nu})")
    built.warnings.extend(heavy("body", dict.fromkeys(bodies)))
    refused = {fault.where for fault in built.faults}
    for n, a in built.rotors.items():
        if f"body {engine.name('body', int(m.jnt_bodyid[n]))!r}" not in refused:
            _add_rotor(engine, built, bodies, n, a)
    if not engine.off("EQUALITY"):
        rules = {rule.number: rule for rule in followers(engine)}
        for k in range(m.neq):
            _add_equality(engine, built, bodies, k, rules.get(k))
    return built


def _names(engine: Engine) -> set[str]:
    """Return the names of bodies and joints of the file, and those of joints that stand for several."""
    m = engine.m
    joints = [engine.name("joint", n) for n in range(m.njnt)]
    rows = [joints[int(at) : int(at) + int(number)] for at, number in zip(m.body_jntadr, m.body_jntnum, strict=True) if number > 1]
    return {*(engine.name("body", k) for k in range(m.nbody)), *joints, *map("+".join, rows)}


def _add_loads(built: Built, loads: Iterable[ForceElement]) -> None:
    """Add force elements."""
    for load in loads:
        built.faults.extend(load.faults())
        built.system.add(load)


def _pose(engine: Engine, k: int) -> Transform:
    """Return the pose of a body of the file."""
    return Transform(np.array(engine.d.xmat[k]).reshape(3, 3), np.array(engine.d.xpos[k]))


def _bodies(engine: Engine, built: Built) -> list[Body]:
    """Add one body for each group, and return the body of each body of the file."""
    m = engine.m
    bodies: list[Body] = [built.system.ground] * m.nbody
    leaders = engine.leaders()
    for leader in sorted({int(k) for k in leaders}):
        members = [k for k in range(m.nbody) if leaders[k] == leader]
        frame, center = _pose(engine, leader), np.zeros(3)
        if leader > 0:
            body, center = _body(engine, built, leader, members)
            for k in members:
                bodies[k] = body
        for k in members:
            on = frame.inverse() @ _pose(engine, k)
            name = engine.name("body", k) if k else "world"
            built.where[name] = (bodies[k].name, Transform(on.A, on.r - center))
    return bodies


def _body(engine: Engine, built: Built, leader: int, members: list[int]) -> tuple[Body, Array]:
    """Return the body of a group, added to the system, and its centre of mass in the axes of the leader."""
    m, frame = engine.m, _pose(engine, leader)
    solids = []
    for k in members:
        on = frame.inverse() @ _pose(engine, k)
        A = on.A @ euler_parameters.rotation_matrix(m.body_iquat[k])
        own = MassProperties(float(m.body_mass[k]), np.array(m.body_inertia[k]))
        solids.append(own.placed(on.r + on.A @ m.body_ipos[k], A))
    solids = [solid for solid in solids if solid.mass > 0.0] or solids[:1]
    solid = solids[0] if len(solids) == 1 else combine(solids)
    speed = np.zeros(6)
    engine.mujoco.mj_objectVelocity(m, engine.d, engine.mujoco.mjtObj.mjOBJ_XBODY, leader, speed, 0)
    arm = frame.A @ solid.center
    name = engine.name("body", leader)
    added, others = armature(engine, leader)
    built.rotors.update(others)
    drawn = tuple(shape for k in members for shape in _placed(engine, k, frame, solid.center))
    body = Body(
        name,
        solid.mass,
        solid.J_bar + added,
        r=frame.r + arm,
        p=euler_parameters.from_rotation_matrix(frame.A),
        v=speed[3:] + cross(speed[:3], arm),
        omega_bar=frame.A.T @ speed[:3],
        shape=drawn or ...,
    )
    built.faults.extend(body.faults())
    built.system.add(body)
    return body, solid.center


def _shapes(engine: Engine, body: int, center: Array) -> tuple[Shape, ...]:
    """Return boxes, balls, ellipsoids, cylinders and capsules of a body, in its own axes from a point."""
    m = engine.m
    found: list[Shape] = []
    for k in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        size, p = np.array(m.geom_size[k]), m.geom_quat[k] / np.linalg.norm(m.geom_quat[k])
        at = np.array(m.geom_pos[k]) - center
        color = "#" + "".join(f"{round(255 * min(max(float(x), 0.0), 1.0)):02x}" for x in m.geom_rgba[k, :3])
        if m.geom_type[k] == BOX:
            found.append(Box(2.0 * size, center=at, p=p, color=color))
        elif m.geom_type[k] == SPHERE:
            found.append(Sphere(float(size[0]), center=at, color=color))
        elif m.geom_type[k] == ELLIPSOID:
            found.append(Ellipsoid(size, center=at, p=p, color=color))
        elif m.geom_type[k] in (CYLINDER, CAPSULE):
            z = euler_parameters.rotation_matrix(p)[:, 2]
            kind = Cylinder if m.geom_type[k] == CYLINDER else Capsule
            found.append(kind(float(size[0]), 2.0 * float(size[1]), center=at, axis=z, color=color))
    return tuple(found)


def _placed(engine: Engine, k: int, frame: Transform, center: Array) -> list[Shape]:
    """Return the shapes of a body of the file in the frame of its group."""
    on = frame.inverse() @ _pose(engine, k)
    return [shape.placed(on.r - center, on.A) for shape in _shapes(engine, k, np.zeros(3))]


def _needed(engine: Engine, built: Built, law: Array, *, stops: bool) -> set[int]:
    """Return the joints whose coordinates are needed: forces, rotors, equalities, or stops act along them."""
    needed = {*np.flatnonzero(law.any(axis=1)).tolist(), *built.rotors}
    limited = np.flatnonzero(engine.m.tendon_limited).tolist() if stops and not engine.off("LIMIT") else []
    for n in filter(lambda n: is_fixed(engine, n), (*sprung_tendons(engine), *limited)):
        needed |= set(joints_of_tendon(engine, n))
    for rule in followers(engine):
        needed |= {rule.joint, rule.leader} - {-1}
    for k in np.flatnonzero((engine.m.eq_type == TENDON) & (engine.m.eq_active0 != 0)).tolist():
        needed |= set(terms) if isinstance(terms := terms_of_tendons(engine, k), dict) else set()
    if stops and not engine.off("LIMIT"):
        needed |= set(np.flatnonzero(engine.m.jnt_limited).tolist())
    return needed


def _add_joint(engine: Engine, built: Built, bodies: list[Body], k: int, law: Array, needed: set[int]) -> None:
    """Add the joint of a body of the file against its parent, and the elements on it.

    Several hinges and slides are added one by one, with links between them, where they are no joint of the catalogue, or where this has no
    coordinate along one that is needed.
    """
    m, d = engine.m, engine.d
    numbers = list(range(m.body_jntadr[k], m.body_jntadr[k] + m.body_jntnum[k]))
    kinds = [int(m.jnt_type[n]) for n in numbers]
    name = engine.name("joint", numbers[0]) if len(numbers) == 1 else "+".join(engine.name("joint", n) for n in numbers)
    i, j = bodies[m.body_parentid[k]], bodies[k]
    serial = len(numbers) > 1 and set(kinds[:-1]) <= {HINGE, SLIDE} and kinds[-1] != FREE
    damped = [n for n in numbers if len(numbers) > 1 and m.jnt_type[n] == BALL and any(numbers_of(engine, n))]
    try:
        joint = joint_of(name, i, j, kinds, np.array(d.xanchor[numbers]), np.array(d.xaxis[numbers]))
    except UsageError as error:
        if not serial:
            where = f"body {engine.name('body', k)!r}"
            built.faults.append(Fault(where, str(error).rstrip("."), "Give one joint a body, with bodies between them."))
            return
        joint = None
    else:
        if kinds == [FREE] or (joint is None and not (needed & set(numbers) or damped)):
            return
    placed = {} if joint is None or joint.j is not j else _coordinates(engine, joint, numbers)
    if kinds == [BALL] and joint is not None:
        _put_joint(engine, built, joint, placed, law)
        _add_loads(built, ball_loads(engine, numbers[0], i, joint))
    elif joint is not None and not (len(numbers) > 1 and (damped or (needed & set(numbers)) - set(placed))):
        _put_joint(engine, built, joint, placed, law)
    elif not serial:
        what = "a ball before slides, with springs, dampers, rotors or equalities along them, cannot be read"
        built.faults.append(Fault(f"body {engine.name('body', k)!r}", what, "Put the ball last, or a body between them."))
    else:
        _put_serial_joints(engine, built, (i, j), k, law)


def _coordinates(engine: Engine, joint: Joint, numbers: list[int]) -> dict[int, Placed]:
    """Return the hinges and slides of the file that are coordinates of a joint."""
    kinds = {n: int(engine.m.jnt_type[n]) for n in numbers}
    found = {n: coordinate_of(joint, kind, np.array(engine.d.xaxis[n])) for n, kind in kinds.items() if kind in (HINGE, SLIDE)}
    return {n: coordinate for n, coordinate in found.items() if coordinate is not None}


def _put_joint(engine: Engine, built: Built, joint: Joint, placed: dict[int, Placed], law: Array) -> None:
    """Add a joint, and springs, dampers and actuators along its coordinates."""
    built.faults.extend(joint.faults())
    built.system.add(joint)
    built.placed.update(placed)
    for n, (coordinate, sense) in placed.items():
        if not law[n].any():
            continue
        name, start = engine.name("joint", n), float(engine.d.qpos[engine.m.jnt_qposadr[n]])
        if engine.m.jnt_type[n] == HINGE and joint.rotates_about_h:
            loads = [hinge_load(f"{name} force", joint, law[n], start, sense)]
        else:
            loads = loads_along(name, coordinate, sense, law[n], start)
        _add_loads(built, loads)


def _put_serial_joints(engine: Engine, built: Built, ends: tuple[Body, Body], k: int, law: Array) -> None:
    """Add the joints of a body one by one, with links between them."""
    m, d, system = engine.m, engine.d, built.system
    numbers = list(range(m.body_jntadr[k], m.body_jntadr[k] + m.body_jntnum[k]))
    names = " and ".join(repr(engine.name("joint", n)) for n in numbers)
    if dependent(engine, numbers):
        what = f"its joints {names} are dependent at this pose: they can move while the body stands"
        remedy = "Remove one of them, give it an armature, or give q= or key= of another pose."
        built.faults.append(Fault(f"body {engine.name('body', k)!r}", what, remedy))
        return
    links = links_between(engine, m.body_parentid[k], numbers, built.taken)
    for link in links:
        built.taken.add(link.name)
        system.add(link)
    chain = [ends[0], *links, ends[1]]
    what = f"between its joints {names} are {len(links)} links without mass, whose motion the joints give"
    built.substituted.append(f"body {engine.name('body', k)!r}: {what}")
    for i, j, n in zip(chain, chain[1:], numbers, strict=False):
        joint = joint_of(engine.name("joint", n), i, j, [int(m.jnt_type[n])], np.array(d.xanchor[[n]]), np.array(d.xaxis[[n]]))
        assert joint is not None
        _put_joint(engine, built, joint, _coordinates(engine, joint, [n]), law)
        if m.jnt_type[n] == BALL:
            _add_loads(built, ball_loads(engine, n, i, joint))


def _add_rotor(engine: Engine, built: Built, bodies: list[Body], n: int, a: float) -> None:
    """Add the rotor that stands for the armature of a joint."""
    parts, fault = rotor(engine, built.system.ground, n, a, built.placed, bodies, built.taken)
    if fault is not None:
        built.faults.append(fault)
        return
    name, free = engine.name("joint", n), engine.m.jnt_type[n] == FREE
    kind = "a body without weight at its frame" if free else "a rotor on the ground that it turns"
    built.substituted.append(f"joint {name!r}: its armature {a:g} became {parts[0].name!r}, {kind}")
    for part in parts:
        built.taken.add(part.name)
        built.faults.extend(part.faults())
        built.system.add(part)


def _add_equality(engine: Engine, built: Built, bodies: list[Body], k: int, rule: Follower | None) -> None:
    """Add the joint of a connect, of a weld, or of an equality of joints (rule); a fault for other equalities."""
    m = engine.m
    kind, given = int(m.eq_type[k]), engine.mujoco.mj_id2name(m, engine.mujoco.mjtObj.mjOBJ_EQUALITY, k)
    name = given or f"{'connect' if kind == CONNECT else 'weld' if kind == WELD else 'equality'} {k}"
    if not m.eq_active0[k]:
        built.ignored.append(f"equality {name!r}, which is not active")
        return
    if rule is not None:
        _close(built, follow(engine, built.placed, rule, _free(built, name)), "joint")
        return
    if kind == TENDON and (n := is_held(engine, k)) >= 0:
        _close(built, held_tendon(engine, k, n, bodies, _free(built, name)), "tendon")
        return
    if kind == TENDON:
        _close(built, couple_tendons(engine, built.placed, k, _free(built, name)), "tendon")
        return
    if kind not in (CONNECT, WELD):
        words = engine.mujoco.mjtEq(kind).name.removeprefix("mjEQ_").lower()
        built.faults.append(Fault(f"equality {name!r}", f"a {words} equality cannot be read", 'Remove it, or set active="false".'))
        return
    ends = _ends(engine, bodies, k, kind)
    if ends[0].body is ends[1].body:
        gap = float(np.linalg.norm(ends[0].point - ends[1].point))
        built.ignored.append(
            f"equality {name!r}: both its sides are on {ends[0].body.name!r}, where it moves nothing (its points are {gap:.2g} m apart)"
        )
        return
    name, (i, j) = _free(built, name), ends
    if kind == CONNECT:
        _close(built, SJ.from_vectors(name, i.body, i.s_bar, j.body, j.s_bar), "connect")
    else:
        _close(built, Fixed._locked(name, Place(i, j, Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h), ()), 0.0), "weld")


def _free(built: Built, name: str) -> str:
    """Return a name for an equality that no joint has."""
    return f"equality {name}" if name in {joint.name for joint in built.system.joints} else name


def _close(built: Built, joint: Joint | Fault, word: str) -> None:
    """Add the joint of an equality, or record why there is none."""
    if isinstance(joint, Fault):
        built.faults.append(joint)
        return
    built.faults.extend(joint.faults())
    built.system.add(joint)
    built.closures[joint.name] = word


def _ends(engine: Engine, bodies: list[Body], k: int, kind: int) -> tuple[Frame, Frame]:
    """Return the frames that an equality holds together, on its two bodies."""
    m, d, data = engine.m, engine.d, np.array(engine.m.eq_data[k])
    frames = []
    on_sites = m.eq_objtype[k] == int(engine.mujoco.mjtObj.mjOBJ_SITE)
    for side, number in enumerate((int(m.eq_obj1id[k]), int(m.eq_obj2id[k]))):
        if on_sites:
            body, at = (
                int(m.site_bodyid[number]),
                Transform(np.array(d.site_xmat[number]).reshape(3, 3), np.array(d.site_xpos[number])),
            )
        else:
            body, local = number, Transform(np.eye(3), np.zeros(3))
            if kind == CONNECT:
                local = Transform(np.eye(3), data[3 * side : 3 * side + 3])
            elif side == 0:
                local = Transform(euler_parameters.rotation_matrix(data[6:10] / np.linalg.norm(data[6:10])), data[3:6])
            else:
                local = Transform(np.eye(3), data[0:3])
            at = _pose(engine, body) @ local
        owner = bodies[body]
        frames.append(Frame(owner, owner.A.T @ (at.r - owner.r), owner.A.T @ at.A))
    return frames[0], frames[1]
