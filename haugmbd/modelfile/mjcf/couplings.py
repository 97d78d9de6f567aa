r"""Equalities of joints as couplings, and the armature of joints as rotors.

    equality    y - y_0 = a0 + a1 (x - x_0)       ->  Coupling {y: 1, x: -a1};  y is first put where the equation holds
                y - y_0 = P(x - x_0)              ->  CoordinateFunction
                of fixed tendons, L = sum c_k q_k:  L_1 - L_10 = a0 + a1 (L_2 - L_20)     ->  Coupling of all their joints
    armature    T = a q'^2 / 2 in M alone         ->  a rotor on the ground with the inertia a, which turns by q: theta = q

The rotor is exact: its bearing stands on the ground, so that it has no other part in the motion than its moment a q'' on the joint; it has
its centre of mass on its axis, so that gravity does no work on it. On a hinge at the world the inertia a I of the body is the same, for
omega = h q' and h is fixed there; on a ball at the world, too, for a I is the same about all axes. The armature of a free joint is a body
without weight, fixed to the other one at the origin of its frame.
Source: MuJoCo's documentation, XML reference: equality/joint, joint/armature; Featherstone (2008), sec. 9.6: gears.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT, Coordinate, coordinates_of
from haugmbd.constraints.freedoms import Side
from haugmbd.constraints.joint import Joint
from haugmbd.drivers.expression import Expression
from haugmbd.errors import Fault
from haugmbd.forces import PointForce
from haugmbd.joints import RJ, CoordinateFunction, Coupling, Fixed, Gear, RackPinion
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.imports import OPEN, Limit
from haugmbd.modelfile.mjcf.engine import BALL, FREE, HINGE, JOINT, LARGEST, ON_JOINTS, SLIDE, Engine
from haugmbd.modelfile.mjcf.joints import ALIGNED

ROTOR_RADIUS = 0.1
"""[m] Radius of gyration of the rotor that stands for an armature; its mass follows from it, and does not move."""


class Follower(NamedTuple):
    """An equality of joints: its number, the joint that follows, its leader (-1: none), and a0 ... a4."""

    number: int
    joint: int
    leader: int
    a: Array


class Placed(NamedTuple):
    """A hinge or slide as the coordinate of a joint; sense: of its axis, 1 or -1."""

    coordinate: Coordinate
    sense: float


def coordinate_of(joint: Joint, kind: int, axis: Array) -> Placed | None:
    """Return the coordinate of a joint about or along a global axis; None if it has none there."""
    what = ANGLE if kind == HINGE else DISPLACEMENT
    for number in range(1, len(coordinates_of(joint)[what]) + 1):
        found = joint.coordinate(what, number)
        frame = joint.frame_i if found.freedom.side is Side.I else joint.frame_j
        own = frame.A[:, found.freedom.axis]
        if float(np.linalg.norm(cross(own, axis))) <= ALIGNED:
            return Placed(found, float(np.sign(own @ axis)))
    return None


def followers(engine: Engine) -> list[Follower]:
    """Return the active equalities of joints."""
    m = engine.m
    if engine.off("EQUALITY"):
        return []
    numbers = [k for k in range(m.neq) if m.eq_type[k] == JOINT and m.eq_active0[k]]
    return [Follower(k, int(m.eq_obj1id[k]), int(m.eq_obj2id[k]), np.array(m.eq_data[k][:5])) for k in numbers]


def gap_of(engine: Engine, rule: Follower) -> float:
    """Return how far a joint is from where its equality wants it [rad] or [m]."""
    m, d = engine.m, engine.d
    offsets = [float(d.qpos[m.jnt_qposadr[n]] - m.qpos0[m.jnt_qposadr[n]]) if n >= 0 else 0.0 for n in (rule.joint, rule.leader)]
    return offsets[0] - float(np.polynomial.polynomial.polyval(offsets[1], rule.a))


def is_valid(rule: Follower) -> bool:
    """Return whether the numbers of a polynomial are such that positions and rows are finite."""
    return bool(np.all(np.abs(rule.a) < LARGEST))


def put_followers(engine: Engine) -> tuple[str, ...]:
    """Put the positions of joints that follow others, each after its leader, and return what was moved as texts."""
    m, d = engine.m, engine.d
    rules = {rule.joint: rule for rule in reversed(followers(engine)) if is_valid(rule)}
    done: set[int] = set()
    note = []
    for start in rules:
        chain: list[int] = []
        here = start
        while here in rules and here not in done:
            chain.append(here)
            done.add(here)
            here = rules[here].leader
        for n in reversed(chain):
            gap = gap_of(engine, rules[n])
            d.qpos[m.jnt_qposadr[n]] -= gap
            if abs(gap) > OPEN:
                unit = "rad" if m.jnt_type[n] == HINGE else "m"
                note.append(f"joint {engine.name('joint', n)!r} was moved by {-gap:.4g} {unit}, where its equality holds")
    return tuple(note)


def follow(engine: Engine, placed: dict[int, Placed], rule: Follower, name: str) -> Joint | Fault:
    """Return the coupling of an equality of joints, or why there is none."""
    where = f"equality {name!r}"
    if not is_valid(rule):
        return Fault(where, f"its polynomial has the numbers {rule.a.tolist()}", f"Give numbers below {LARGEST:g}.")
    used = [rule.joint, *([rule.leader] if rule.leader >= 0 and rule.a[1:].any() else [])]
    for n in used:
        if n not in placed:
            what = f"joint {engine.name('joint', n)!r} is one of several of its body, and cannot be coupled here"
            return Fault(where, what, "Give one joint a body, with bodies between them.")
    gap = gap_of(engine, rule)
    if not abs(gap) <= OPEN * (1.0 + float(np.abs(rule.a).max())):
        what = f"it does not hold at this pose: {engine.name('joint', rule.joint)!r} is {gap:.4g} away (rad or m)"
        return Fault(where, what, "Other equalities of the same joints contradict it: remove one of them.")
    if rule.a[2:].any() and len(used) == 2:
        return _function(engine, placed, rule, name)
    factors = (1.0, -float(rule.a[1]))
    return Coupling(name, {placed[n].coordinate: placed[n].sense * c for n, c in zip(used, factors, strict=False)})


def _function(engine: Engine, placed: dict[int, Placed], rule: Follower, name: str) -> Joint:
    """Return a polynomial as a function of the leader's coordinate x - x_m, where x_m is the pose that is read, at which it holds."""
    m, d = engine.m, engine.d
    (follower, sense), (leader, way) = placed[rule.joint], placed[rule.leader]
    start = float(d.qpos[m.jnt_qposadr[rule.leader]] - m.qpos0[m.jnt_qposadr[rule.leader]])
    moved = np.polynomial.Polynomial(rule.a)(np.polynomial.Polynomial((start, way)))
    terms = [f"({sense * c!r}) * t**{k}" for k, c in enumerate(map(float, moved.coef)) if k and c]
    return CoordinateFunction(name, leader, follower, Expression(" + ".join(terms)))


def terms_of_tendons(engine: Engine, k: int) -> dict[int, float] | str:
    """Return the factors of joints in L_1 - a1 L_2 of an equality of tendons, or why there are none."""
    m, factors = engine.m, dict[int, float]()
    for tendon, a in ((int(m.eq_obj1id[k]), 1.0), (int(m.eq_obj2id[k]), -float(m.eq_data[k][1]))):
        if tendon < 0:
            continue
        parts = range(m.tendon_adr[tendon], m.tendon_adr[tendon] + m.tendon_num[tendon])
        if any(m.wrap_type[part] != ON_JOINTS for part in parts):
            return f"tendon {engine.name('tendon', tendon)!r} runs through space"
        for part in parts:
            n = int(m.wrap_objid[part])
            factors[n] = factors.get(n, 0.0) + a * float(m.wrap_prm[part])
    return {n: c for n, c in factors.items() if c}


def couple_tendons(engine: Engine, placed: dict[int, Placed], k: int, name: str) -> Joint | Fault:
    """Return the coupling of an equality of fixed tendons, or why there is none."""
    m, d, where, off = engine.m, engine.d, f"equality {name!r}", 'Remove it, or set active="false".'
    a, factors = np.array(m.eq_data[k][:5]), terms_of_tendons(engine, k)
    if isinstance(factors, str) or not np.all(np.abs(a) < LARGEST) or (a[2:].any() and m.eq_obj2id[k] >= 0):
        what = factors if isinstance(factors, str) else f"its polynomial is {a.tolist()}, must be linear"
        return Fault(where, f"a tendon equality cannot be read here: {what}", off)
    missing = [n for n in factors if n not in placed]
    if missing or not factors:
        return Fault(where, f"a tendon equality of {len(factors)} joints, {len(missing)} of them without a coordinate", off)
    gap = sum(c * float(d.qpos[m.jnt_qposadr[n]] - m.qpos0[m.jnt_qposadr[n]]) for n, c in factors.items()) - float(a[0])
    if not abs(gap) <= OPEN:
        what = f"its tendons are {gap:.4g} away from where it holds at this pose (rad or m)"
        return Fault(where, what, "Give q= with coordinates at which it holds.")
    return Coupling(name, {placed[n].coordinate: placed[n].sense * c for n, c in factors.items()})


def armature(engine: Engine, leader: int) -> tuple[Array, list[tuple[int, float]]]:
    """Return the inertia (3, 3) that the armature of a joint at the world adds to its body; and other joints with theirs."""
    m = engine.m
    added, others = np.zeros((3, 3)), dict[int, float]()
    for k in np.flatnonzero(m.dof_armature):
        joint = int(m.dof_jntid[k])
        if m.jnt_bodyid[joint] == leader:
            others[joint] = float(m.dof_armature[k])
    at_world = m.body_jntnum[leader] == 1 and engine.leaders()[m.body_parentid[leader]] == 0
    for joint, a in list(others.items()):
        if at_world and m.jnt_type[joint] in (HINGE, BALL):
            added += a * np.eye(3)
            del others[joint]
    return added, list(others.items())


def rotor(
    engine: Engine, ground: Body, n: int, a: float, placed: dict[int, Placed], bodies: list[Body], taken: Collection[str]
) -> tuple[list[Any], Fault | None]:
    """Return the body, the bearing and the coupling of a rotor for the armature of a joint; or why there is none.

    bodies: of the bodies of the file;  taken: names that are in use
    """
    m, d = engine.m, engine.d
    name = engine.name("joint", n)
    if m.jnt_type[n] == FREE and 0.0 < a < LARGEST:
        return _carried(engine, n, a, bodies[int(m.jnt_bodyid[n])], taken), None
    if n not in placed or m.jnt_type[n] not in (HINGE, SLIDE):
        what = f"its armature {a:g} is that of a ball, of a free joint or of one of several joints of a body, which cannot be read here"
        return [], Fault(f"joint {name!r}", what, "Remove it, or give one joint a body, with bodies between them.")
    if not 0.0 < a < LARGEST:
        return [], Fault(f"joint {name!r}", f"its armature is {a:g}", f"Give a positive number below {LARGEST:g}, or leave it out.")
    base = f"{name} rotor"
    while base in taken or f"{base} bearing" in taken or f"{base} gear" in taken:
        base += "_"
    coordinate, sense = placed[n]
    speed = sense * float(d.qvel[m.jnt_dofadr[n]])
    at = np.array(d.xanchor[n])
    body = Body(base, a / ROTOR_RADIUS**2, (a, a, a), r=at, omega_bar=(0.0, 0.0, speed), shape=())
    bearing = RJ(f"{base} bearing", ground, body, point=at, axis=(0.0, 0.0, 1.0))
    gear: Joint = (
        Gear(f"{base} gear", coordinate, bearing, ratio=1.0)
        if coordinate.turns
        else RackPinion(f"{base} gear", bearing, coordinate, radius=1.0)
    )
    return [body, bearing, gear], None


def _carried(engine: Engine, n: int, a: float, body: Body, taken: Collection[str]) -> list[Any]:
    """Return a body for the armature of a free joint, fixed to its body at the origin of the body frame, and a force against its weight.

    T = a |x'|^2 / 2 + a |w|^2 / 2 is that of a mass a with the moments a about every axis.
    """
    number = int(engine.m.jnt_bodyid[n])
    at, name = np.array(engine.d.xpos[number]), f"{engine.name('joint', n)} armature"
    while name in taken:
        name += "_"
    v = body.v + cross(body.A @ body.omega_bar, at - body.r)
    mass = Body(name, a, (a, a, a), r=at, p=body.p, v=v, omega_bar=body.omega_bar, shape=())
    parts: list[Any] = [mass, Fixed(f"{name} fixed", body, mass, point=at)]
    weight = a * np.array(engine.m.opt.gravity)
    return parts if engine.off("GRAVITY") or not weight.any() else [*parts, PointForce(f"{name} weight", mass, force=-weight)]


def limits_of(engine: Engine, placed: dict[int, Placed]) -> list[Limit]:
    """Return the limits of hinges and slides."""
    m, d = engine.m, engine.d
    if engine.off("LIMIT"):
        return []
    found = []
    for n, (coordinate, sense) in placed.items():
        if m.jnt_limited[n]:
            lower, upper = map(float, m.jnt_range[n])
            found.append(Limit(engine.name("joint", n), coordinate, sense, lower, upper, float(d.qpos[m.jnt_qposadr[n]]), 0.0))
    return found


def other_limits(engine: Engine, placed: dict[int, Placed]) -> list[str]:
    """Return how many limits of other joints are not read, as a text."""
    n = 0 if engine.off("LIMIT") else sum(bool(limited) for k, limited in enumerate(engine.m.jnt_limited) if k not in placed)
    return [f"limits of balls, or of one of several joints of a body ({n})"] if n else []
