r"""Friction in joints whose reactions are not unique, or hold more than the rows of the joint say.

    Phi_q^T n = 0        self-stress: lam and lam + n give the same motion, so that a normal force that n changes is not determined

Only what presses the bearing counts: forces out of the plane of a planar mechanism of revolute joints cause no friction at a `radius`.
The bearings of gears whose geometry is given carry tooth forces, which depend on |lam| of the gear: friction reads the rows of its own
joint only. Other couplings of several coordinates act along these coordinates alone: their force presses no bearing, whatever that of the
thread, belt, teeth or follower is that they stand for. The force of a mesh goes from one wheel to the other, and back through the joints
between them: where these are not all on one body, the joints on the way carry it, too.
Bearings with a stiffness decide how a self-stress is shared, unless it acts in rigid joints alone:  C^1/2 W n = 0, W: wrenches of the
bearings with the compliance C. Of what they leave open, the part that presses a joint with friction is looked for.
Source: as `diagnostics.reaction_uniqueness`; `friction.shared_loads`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.forces.base import ForceElement
from haugmbd.forces.joint_friction import MESH_SLIDE, MESH_TURN, PLANAR, REVOLUTE, SPHERICAL, THREAD, TRANSLATIONAL, JointFriction
from haugmbd.graph import find_blocks
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.dependent_rows import MinimumNorm, Redundancy
from haugmbd.model.inspection.constraint_rows import Rows
from haugmbd.model.labels import parts_of
from haugmbd.model.model import Model

UNIQUE_TOL = 1e-5
"""Part of a self-stress, relative to its largest force (torques over a length), that presses nothing."""


def friction_faults(model: Model, rows: Rows, redundancy: Redundancy, loads: Sequence[ForceElement], length: float) -> list[Fault]:
    """Return a fault for each friction whose normal force is not unique or not known, or whose share at rest is not unique.

    length: of the mechanism [m]
    """
    frictions = [load for load in loads if isinstance(load, JointFriction) and load.reads_reaction and load.shape is not None]
    frictions = [load for load in frictions if all(joint.name in model.joints for joint in (load.bearing, *load.pressing_joints))]
    faults = [*_shared_at_rest(frictions), *_tooth_forces(model, frictions), *_forces_of_couplings(model, frictions)]
    faults += _bearings_given_twice(frictions)
    by_rule = isinstance(redundancy.rule, MinimumNorm)
    if by_rule:
        faults += two_choices(frictions)
    return faults if by_rule else [*faults, *shared_load_faults(model, rows, redundancy, loads, length)]


def shared_load_faults(
    model: Model, rows: Rows, redundancy: Redundancy, loads: Sequence[ForceElement], length: float
) -> list[Fault]:
    """Return a fault for each friction whose normal force is not unique, because redundant rows share it;  length: of the mechanism [m]"""
    frictions = [load for load in loads if isinstance(load, JointFriction) and load.reads_reaction and load.shape is not None]
    frictions = [load for load in frictions if all(joint.name in model.joints for joint in (load.bearing, *load.pressing_joints))]
    faults: list[Fault] = []
    if not frictions or not redundancy.dropped:
        return faults
    open_ones = left_open(model, rows, redundancy, frictions)
    for load in frictions:
        tied: dict[str, None] = {}
        for n in open_ones:
            if _pressing(load, _wrench(model, rows, load, n)) > UNIQUE_TOL * np.abs(n).max() * max(1.0, length):
                tied |= dict.fromkeys(model.labels[row].joint for row in np.nonzero(np.abs(n) > UNIQUE_TOL)[0].tolist())
        if tied:
            what = (
                f"what joint {load.joint.name!r} carries is not unique: the redundant rows of {', '.join(map(repr, tied))} "
                "share the load in any proportion"
            )
            remedy = (
                "Give these joints more freedom (SJ, CJ, PointOnLine) until no row is redundant, or Viscous friction; or say how they "
                "share: by bearing_stiffness= of the frictions of these joints, or by redundancy=MinimumNorm() of `simulate` or "
                "`system.compile`, which serves where the rows that share carry nothing, as those out of the plane of a planar mechanism."
            )
            faults.append(Fault(load.where, what, remedy))
    return faults


def self_stresses(model: Model, redundancy: Redundancy) -> Array:
    """Return a basis of the multipliers that move nothing, (d, nc), one for each row that depends on the others."""
    found = np.zeros((len(redundancy.dependencies), model.nc))
    for n, dependency in zip(found, redundancy.dependencies, strict=True):
        n[dependency.row] = 1.0
        for row, coefficient in dependency.terms:
            n[row] = -coefficient
    return found


def left_open(model: Model, rows: Rows, redundancy: Redundancy, found: Sequence[JointFriction]) -> Array:
    """Return a basis of the self-stresses that the stiffness of bearings does not decide, (., nc); all, where none is given."""
    basis = self_stresses(model, redundancy)
    bearings = [load for load in found if load.bearing_stiffness is not None]
    if not bearings or not len(basis):
        return basis
    strains = []
    for n in basis:
        parts = []
        for load in bearings:
            F, M = _wrench(model, rows, load, n)
            parts += [np.sqrt(load.compliance[0]) * F, np.sqrt(load.compliance[1]) * M]
        strains.append(np.concatenate(parts))
    _, sizes, V = np.linalg.svd(np.array(strains).T, full_matrices=True)
    sizes = np.append(sizes, np.zeros(len(basis) - len(sizes)))
    undecided: Array = V[sizes <= UNIQUE_TOL * sizes.max(initial=0.0)] @ basis
    return undecided


def two_choices(frictions: Sequence[ForceElement]) -> list[Fault]:
    """Return a fault if the load of redundant rows is to be that of compliant bearings, and that of the least norm, too."""
    with_stiffness = [load for load in frictions if isinstance(load, JointFriction) and load.bearing_stiffness is not None]
    what = "bearing_stiffness= decides what redundant rows carry, and redundancy=MinimumNorm() does so, too"
    return [Fault(with_stiffness[0].where, what, "Leave out one of them.")] if with_stiffness else []


def _bearings_given_twice(found: Sequence[JointFriction]) -> list[Fault]:
    """Return a fault for each joint whose bearing has two stiffnesses."""
    faults, first = [], dict[str, str]()
    for load in found:
        if load.bearing_stiffness is not None and first.setdefault(load.joint.name, load.name) != load.name:
            what = f"the bearing of joint {load.joint.name!r} has the stiffness of {first[load.joint.name]!r}, too"
            faults.append(Fault(load.where, what, "Give bearing_stiffness= to one friction of a joint."))
    return faults


def _shared_at_rest(found: Sequence[JointFriction]) -> list[Fault]:
    """Return a fault for each friction beside an exact one of the same joint: at rest they share what is needed in any proportion."""

    def rubs(load: JointFriction) -> str:
        """Return the name of the joint that rubs: of a thread the screw, which friction of its cylindrical joint means, too."""
        return (load.thread or load.joint).name

    exact = {rubs(load): load for load in found if load.is_exact}
    faults = []
    for load in found:
        other = exact.get(rubs(load))
        if other is not None and other is not load:
            what = f"joint {rubs(load)!r} has the exact Coulomb friction {other.name!r}, too"
            faults.append(Fault(load.where, what, "Give a joint one friction that sticks; only Viscous can be combined with it."))
    return faults


def _tooth_forces(model: Model, found: Sequence[JointFriction]) -> list[Fault]:
    """Return a fault for each friction in a bearing of a gear with tooth forces, which the friction would leave out."""
    if not found:
        return []
    contacts = {joint.name: contact for joint in parts_of(model.joints) if (contact := joint.tooth_contact()) is not None}
    faults = []
    for load in found:
        gears = [name for name, contact in contacts.items() if any(joint is load.joint for joint in contact.bearings)]
        if gears:
            named = ", ".join(map(repr, gears))
            what = f"joint {load.joint.name!r} carries the tooth force of {named}, and friction by reactions does not know tooth forces"
            remedy = (
                f"Leave out pitch_radius= or pressure_angle= of {named}: friction is then by what the rows of the joint carry, without the "
                "tooth force, for which preload= can stand [N]; or give Viscous friction."
            )
            faults.append(Fault(load.where, what, remedy))
    return faults


def _forces_of_couplings(model: Model, found: Sequence[JointFriction]) -> list[Fault]:
    """Return a fault for each friction in a joint that a coupling moves, where nothing stands for what this presses on the bearing."""
    without = [load for load in found if load.preload == 0.0]
    if not without:
        return []
    couplings = {
        joint.name: (joint, [q.joint for row in joint.primitives() if isinstance(row, CouplingRow) for q, _ in row.terms])
        for joint in parts_of(model.joints)
        if joint.tooth_contact() is None
    }
    carrying = {
        name: tuple(sorted((entry.i, entry.j))) for name, entry in model.joints.items() if not couplings.get(name, ((), ()))[1]
    }
    between = {name: _joints_between(model, carrying, coupled) for name, (_, coupled) in couplings.items()}
    remedy = "Give preload= [N], a normal force that stands for it, or Viscous friction, or a JointForce of the loss that you know."
    unknown = "what it presses on the bearing is not known, and the friction would leave it out"
    faults = []
    for load in without:
        others = {
            f"{type(joint).__name__} {name!r}": (len(coupled) > 1 and load.joint in coupled, load.joint.name in between[name])
            for name, (joint, coupled) in couplings.items()
            if load.thread is None or load.thread.name != name
        }
        moving, passing = (", ".join(name for name, ways in others.items() if ways[k]) for k in (0, 1))
        if moving:
            what = (
                f"joint {load.joint.name!r} is moved by {moving}, which acts along the coordinates of its joints alone: {unknown}"
            )
            faults.append(Fault(load.where, what, remedy))
        elif passing:
            what = f"joint {load.joint.name!r} lies between the joints of {passing}, which have no common body: {unknown}"
            faults.append(Fault(load.where, what, remedy))
    return faults


def _joints_between(model: Model, carrying: Mapping[str, tuple[int, ...]], coupled: Sequence[Joint]) -> set[str]:
    """Return the names of the joints through which forces between the bodies of coupled joints go that have no common body.

    carrying: the bodies of the joints that are no couplings, the smaller number first
    They are those in one block of the graph with an edge between two of these bodies.
    """
    names: set[str] = set()
    entries = [model.joints[joint.name] for joint in coupled]
    for a, b in combinations(entries, 2):
        if {a.i, a.j} & {b.i, b.j}:
            continue
        added = tuple(sorted((a.i, b.i)))
        pairs = np.array(sorted({*carrying.values(), added}))
        numbers = find_blocks(model.nb + 1, pairs).of_pairs(*pairs.T)
        block = dict(zip(map(tuple, pairs.tolist()), numbers.tolist(), strict=True))
        names |= {name for name, pair in carrying.items() if block[pair] == block[added]}
    return names


def _wrench(model: Model, rows: Rows, load: JointFriction, n: Array) -> tuple[Array, Array]:
    """Return force and moment at P_j that the rows which press a joint exert on its body j by the multipliers n (nc,)."""
    joint, entry, own = load.bearing, model.joints[load.bearing.name], np.zeros(model.nc)
    for pressing in load.pressing_joints:
        rows_of_joint = model.joints[pressing.name].rows
        own[rows_of_joint] = n[rows_of_joint]
    body = entry.j if load.bearing.j.is_ground is False else entry.i
    sign = 1.0 if body == entry.j else -1.0
    # force, and torque_bar about the centre of mass
    wrench = sign * (rows.Phi_q.tocsr()[:, 6 * body - 6 : 6 * body].T @ own)
    member = model.bodies[body]
    P = joint.j.r + rotation_matrix(joint.j.p) @ joint.frame_j.s_bar
    F = wrench[:3]
    M: Array = rotation_matrix(member.p) @ wrench[3:] - cross(P - member.r, F)
    return F, M


def _pressing(load: JointFriction, wrench: tuple[Array, Array]) -> float:
    """Return the size of what presses the joint, of force and moment at its point."""
    (F, M), h = wrench, rotation_matrix(load.bearing.i.p) @ load.bearing.frame_i.h
    parts = [] if load.shape == SPHERICAL else [M - (M @ h) * h] if load.length else []
    parts = [part / (load.length or 1.0) for part in parts]
    if load.shape == SPHERICAL:
        parts.append(F)
    elif load.shape == PLANAR:
        parts.append((F @ h) * h)
    elif load.shape in (MESH_TURN, MESH_SLIDE):
        parts = [(M @ h) * h / (load.radius or 1.0) if load.shape == MESH_TURN else (F @ h) * h]
    else:
        parts.append(F if load.shape == THREAD else F - (F @ h) * h)
    if load.shape == REVOLUTE and load.thrust_radius:
        parts.append((F @ h) * h)
    if load.shape == TRANSLATIONAL and load.radius:
        parts.append((M @ h) * h / load.radius)
    return float(max(np.abs(part).max() for part in parts))
