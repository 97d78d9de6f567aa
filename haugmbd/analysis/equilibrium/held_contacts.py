r"""Rigid contacts in an equilibrium: those that touch are rows, and at the balance their forces have to be in the cones of friction.

    sticks        x_j - x_i = 0  of a point;  of two points a hinge along their line;  of three or more, not on one line, no motion at all
    mu = 0        n . (x_j - x_i) = rho of each point over a face, n fixed on the body of the face; it slides
    balance       N^T (Q + C^T f) = 0,   f_n > 0,   |f_T| < mu f_n            N: motions that the joints leave, without contacts

f is a solution of the cone problem of the pseudo-accelerations G f + b, with G = C N N^T C^T and b = C N N^T Q: the forces hold the
bodies if it is zero. Strictly inside: it is zero with a slightly smaller mu, too, and each point can carry a part of the load; otherwise it
could move to one side, and has no stiffness.

A round point that sticks rolls as the bodies turn. It is a fixed point only where no motion that remains turns one body against the other.
Source: Rimon, Burdick, The Mechanics of Robot Grasping (2019), ch. 12 (forces that hold).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.regularized_least_squares import dense
from haugmbd.analysis.equilibrium.residual import evaluate_residual, make_residual_evaluator, state_of
from haugmbd.analysis.equilibrium.solver import TrialPose, trial_pose_at
from haugmbd.analysis.equilibrium.steady_motion import read_steady
from haugmbd.analysis.initial_model import beginning_at, counted_from, examined
from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints import DP1, DP2, Joint, Primitive, coincident, perpendicular_1
from haugmbd.contact.cone import solve_cone_problem
from haugmbd.contact.contact import Contact
from haugmbd.contact.points import Kinematics
from haugmbd.contact.uniqueness import ForceSet, force_ranges
from haugmbd.errors import SimulationError, UsageError
from haugmbd.geometry.features import INDEX_MASK, SIDE_MASK
from haugmbd.geometry.tables import FACE, INDEX_BITS, SIDE_BITS, VERTEX
from haugmbd.impacts.contact_problem import ContactProblem, Key
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import put_length
from haugmbd.model.inspection.run_memory import EDGE_TOL, STOP_TOL
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import put_row_scale
from haugmbd.redundancy.redundancy import put_mask
from haugmbd.system.build import build_model

ON_A_LINE = 1e-6
"""Relative to the largest distance of points: nearer to a line, or to one another, they hold no turn."""
HOLDS = 1e-8
"""Pseudo-acceleration that is rounding, relative to that of the largest forces."""
MARGIN = 1e-6
"""Relative part of mu that the balance does not need: a contact nearer to its limit could slip to one side."""
NO_LOAD = 1e-9
"""Relative to the largest contact force: a point that can carry no more carries nothing, and could open."""
TURNS = 1e-7
"""Relative: a smaller rotation of a unit motion is rounding."""
FLAT = 3
"""Points, not on one line, that hold a body in all directions."""


class HeldContact(Joint):
    """The rows of a contact that holds, under the name of the contact."""

    def __init__(self, name: str, frame_i: Frame, frame_j: Frame, rows: tuple[Primitive, ...]) -> None:
        super().__init__(name, frame_i, frame_j)
        self._rows = rows

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows."""
        return self._rows


class HeldContacts(NamedTuple):
    """The model whose contacts that touch are rows, beside the free one without them; their points, and those that are round."""

    model: Model
    free: Model
    problem: ContactProblem
    keys: list[Key]
    round: tuple[int, ...]


def held_contacts(model: Model, start: State, what: str, *, steady: bool) -> HeldContacts | None:
    """Return the model with the contacts that touch at the start as rows; None if none touches.

    Raise UsageError, by name, for contacts that are no rows.
    """
    touching = [c for c in model.contacts if _touches(model, start, c)]
    if not touching:
        return None
    names = ", ".join(f"{c.where} (mu = {c.mu:g})" for c in touching)
    if steady:
        raise UsageError(
            f"{what} of a steady motion does not take rigid contacts that touch: {names}. Simulate it, or hold the bodies by joints."
        )
    if model.planar is not None:
        raise UsageError(
            f"{what} of a planar model does not take rigid contacts that touch: {names}. Leave planar= out of the System."
        )
    problem = ContactProblem(model, touching)
    keys = sorted(problem.near(start.y, EDGE_TOL * model.length)[0])
    kin = problem.at(start.y, keys)
    joints = [_joint(problem, c, start, keys, kin) for c in range(len(touching))]
    held = _with_rows(model, start, joints, tuple(c for c in model.contacts if c not in touching))
    sticks = [k for k, key in enumerate(keys) if problem.mu[key[0]] > 0.0]
    rounded = tuple(k for k in sticks if not _is_sharp(problem, keys[k]) and not _is_flat(kin, keys, keys[k][0]))
    return HeldContacts(held, model, problem, keys, rounded)


def need_no_contact(model: Model, state: State, what: str) -> None:
    """Raise UsageError, by name, for rigid contacts that touch;  what: that knows none."""
    names = ", ".join(f"{c.where} (mu = {c.mu:g})" for c in model.contacts if _touches(model, state, c))
    if names:
        raise UsageError(
            f"{what} does not take rigid contacts that touch, here at t = {state.t:g} s: {names}. Linearize a balance in which they hold, "
            "or a motion in which they are open."
        )


def _touches(model: Model, state: State, contact: Contact) -> bool:
    """Return whether a contact touches at a state."""
    gap = float(contact.gaps(model, state.y[None])[0])
    return -STOP_TOL * model.length <= gap <= EDGE_TOL * model.length


def _with_rows(model: Model, start: State, joints: Sequence[Joint], open_: tuple[Contact, ...]) -> Model:
    """Return the model with more joints and fewer contacts; rows that depend on others at the start are dropped."""
    every = [*(entry.part for entry in model.joints.values()), *joints]
    loads, gravity = model.force_elements, np.array(model.gravity)
    extended = build_model(
        model.name, model.bodies, every, loads, gravity, network=model.network, contacts=open_, layout=model.layout
    )
    rows = evaluate(extended, start)
    put_row_scale(extended, rows)
    put_mask(extended)
    put_length(extended, rows)
    extended = extended.with_redundancy(model.redundancy.rule, model.redundancy.given)
    extended = counted_from(examined(beginning_at(extended, start)), model)
    return replace(extended, parts=model.parts)


def _joint(problem: ContactProblem, c: int, state: State, keys: list[Key], kin: Kinematics) -> HeldContact:
    """Return the joint of contact c."""
    contact, of_contact = problem.contacts[c], [k for k, key in enumerate(keys) if key[0] == c]
    i, j = contact.i, contact.j
    pair = _Pair(i, j, *(_pose(problem, c, side, state) for side in (0, 1)))
    x = kin.x[of_contact]
    middle = x.mean(axis=0)
    frames = Frame(i, pair.point(0, middle), pair.A_i.T), Frame(j, pair.point(1, middle), pair.A_j.T)
    if contact.mu == 0.0:
        slides = tuple(_sliding_row(problem, keys[k], pair, kin, k, flat=_is_flat(kin, keys, c)) for k in of_contact)
        return HeldContact(contact.name, *frames, slides)
    first = middle if _is_flat(kin, keys, c) else x[0]
    rows: tuple[Primitive, ...] = coincident(i, pair.point(0, first), j, pair.point(1, first))
    line = x[np.argmax(np.linalg.norm(x - x[0], axis=1))] - x[0]
    length = float(np.linalg.norm(line))
    if _is_flat(kin, keys, c):
        e = np.eye(3)
        rows += perpendicular_1(i, pair.A_i.T @ e[0], pair.A_i.T @ e[1], j, pair.A_j.T @ e[2])
        rows += (DP1(i, pair.A_i.T @ e[0], j, pair.A_j.T @ e[1]),)
    elif length > ON_A_LINE * problem.length:
        h = line / length
        f = np.linalg.svd(h[None])[2][1:]
        rows += perpendicular_1(i, pair.A_i.T @ f[0], pair.A_i.T @ f[1], j, pair.A_j.T @ h)
    return HeldContact(contact.name, *frames, rows)


class _Pair(NamedTuple):
    """Two bodies at the start: their poses (r, A)."""

    i: Body
    j: Body
    pose_i: tuple[Array, Array]
    pose_j: tuple[Array, Array]

    @property
    def A_i(self) -> Array:
        return self.pose_i[1]

    @property
    def A_j(self) -> Array:
        return self.pose_j[1]

    def point(self, side: int, x: Array) -> Array:
        """Return a global point in the frame of body i (0) or j (1)."""
        r, A = (self.pose_i, self.pose_j)[side]
        return np.asarray(A.T @ (x - r))


def _pose(problem: ContactProblem, c: int, side: int, state: State) -> tuple[Array, Array]:
    number = int(problem.pairs[c, side])
    return state.r[number], rotation_matrix(state.p[number])


def _sliding_row(problem: ContactProblem, key: Key, pair: _Pair, kin: Kinematics, k: int, *, flat: bool) -> DP2:
    """Return the row of a point without friction that stays on a face. Raise UsageError for another pair of features."""
    (kind_i, v_i), (kind_j, v_j) = _features(key)
    n, x = kin.D[k, 0], kin.x[k]
    if flat or (kind_i == FACE and kind_j == VERTEX):
        rho = 0.0 if flat else _radius(problem, key[0], 1, v_j)
        s_i, s_j = pair.point(0, x), pair.point(1, x + rho * n)
        return DP2(pair.i, pair.A_i.T @ n, s_i, pair.j, s_j, rho)
    if kind_j == FACE and kind_i == VERTEX:
        rho = _radius(problem, key[0], 0, v_i)
        return DP2(pair.j, -(pair.A_j.T @ n), pair.point(1, x), pair.i, pair.point(0, x - rho * n), rho)
    raise UsageError(
        f"the contact {problem.label(key)!r} without friction is neither a point on a face nor a face on a face: its balance is not taken. "
        "Give it friction where it holds, hold the bodies by a joint, or simulate."
    )


def _features(key: Key) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return kind and number of the features on body i and on body j."""
    i, j = key[1] >> SIDE_BITS, key[1] & SIDE_MASK
    return (i >> INDEX_BITS, i & INDEX_MASK), (j >> INDEX_BITS, j & INDEX_MASK)


def _radius(problem: ContactProblem, c: int, side: int, number: int) -> float:
    """Return the radius of a vertex of a shape."""
    shapes, shape = problem.points.shapes, problem.points.pairs[c, side]
    return float(shapes.vertices[shapes.first[shape, 0] + number, 3])


def _is_sharp(problem: ContactProblem, key: Key) -> bool:
    """Return whether a point of contact is a corner on a face, or another point fixed on a body."""
    features = _features(key)
    if {kind for kind, _ in features} != {VERTEX, FACE}:
        return False
    return all(kind == FACE or _radius(problem, key[0], side, v) == 0.0 for side, (kind, v) in enumerate(features))


def _is_flat(kin: Kinematics, keys: list[Key], c: int) -> bool:
    """Return whether a contact has three points that are not on one line."""
    x = kin.x[[k for k, key in enumerate(keys) if key[0] == c]]
    if len(x) < FLAT:
        return False
    s = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    return bool(s[1] > ON_A_LINE * s[0])


# ------------------------------------------------------------------------------------------------------------ at the balance
def check_held(held: HeldContacts, pose: TrialPose, lam: Array) -> Array:
    """Return the multipliers, those of contacts within their cones. Raise SimulationError if a contact would slip, open, roll, or leave.

    pose: in balance, of the model whose contacts are rows;  lam: (nc,) its multipliers
    """
    problem, keys, y = held.problem, held.keys, pose.y
    state = state_of(pose.evaluator, y)
    _check_round(held, pose, state)
    _check_faces(held, state)
    length, scale = pose.evaluator.length, pose.evaluator.scale
    evaluator = make_residual_evaluator(held.free, read_steady(held.free, None), state)
    free = trial_pose_at(evaluator._replace(length=length, scale=scale), y)
    kin, mu = problem.at(y, keys), problem.friction_of(keys)
    C = _scaled_rows(problem, keys, kin, length)
    R = C @ free.at.N
    G, b = R @ R.T, R @ free.g
    names = ", ".join(dict.fromkeys(problem.names[c] for c, _ in keys))
    T = _unknowns(mu)[0]
    wanted = (T @ np.linalg.lstsq(R.T @ T, -free.g, rcond=NO_LOAD)[0]).reshape(-1, 3)
    f = np.zeros_like(wanted)
    for part in (1.0, 1.0 - MARGIN):
        solved = solve_cone_problem(G, b, part * mu, wanted, what=f"{names} in balance")
        f, a = solved.f, solved.v
        size = float(np.abs(b).max(initial=0.0)) + float((np.abs(G) @ np.abs(f).ravel()).max(initial=0.0))
        if float(np.abs(a).max(initial=0.0)) > HOLDS * max(size, np.finfo(float).tiny):
            raise SimulationError(_told(held, kin, wanted, f, a, mu, at_limit=part < 1.0), state)
    _check_loaded(held, G, b, f, mu, state)
    return _shared(held, pose, lam, C, f) if len(pose.evaluator.kept) < held.model.nc else lam


def _unknowns(mu: Array) -> tuple[Array, Ints]:
    """Return forces by unknowns (3 k, c), those without friction along normals only, and the unknowns (k,) that are normal forces."""
    m, columns, first = len(mu), list[Array](), list[int]()
    for k in range(m):
        first.append(len(columns))
        columns += [np.eye(3 * m)[3 * k + a] for a in range(3 if mu[k] > 0.0 else 1)]
    return np.array(columns).T, np.array(first)


def _scaled_rows(problem: ContactProblem, keys: list[Key], kin: Kinematics, length: float) -> Array:
    """Return the rows C of the points (3 k, 6 nb), their columns scaled as those of a residual."""
    C = np.zeros((3 * len(keys), problem.n, 6))
    for k, (c, _) in enumerate(keys):
        for side in (0, 1):
            C[3 * k : 3 * k + 3, problem.pairs[c, side]] += kin.C[k, :, side] * ([length] * 3 + [1.0] * 3)
    return np.asarray(C[:, 1:].reshape(3 * len(keys), -1))


def _label(held: HeldContacts, key: Key) -> str:
    """Return the name of a point."""
    return held.problem.label(key, sum(other[0] == key[0] for other in held.keys))


def _check_round(held: HeldContacts, pose: TrialPose, state: State) -> None:
    """Raise SimulationError if a round point would roll in a motion that remains."""
    N = pose.at.N.reshape(held.model.nb, 6, -1)
    turn = np.zeros((held.model.nb + 1, 3, N.shape[2]))
    turn[1:] = np.einsum("kab,kbm->kam", rotation_matrix(state.p[1:]), N[:, 3:])
    rolls = []
    for k in held.round:
        i, j = held.problem.pairs[held.keys[k][0]]
        if N.shape[2] and float(np.abs(turn[j] - turn[i]).max()) > TURNS:
            rolls.append(_label(held, held.keys[k]))
    if rolls:
        raise SimulationError(
            f"the forces are in balance at the pose in the attribute `result`, but {', '.join(map(repr, rolls))} with friction would "
            "roll in a small motion: round contacts are not taken there. Give mu = 0 where it may slide, a joint of rolling, or simulate.",
            state,
        )


def _check_faces(held: HeldContacts, state: State) -> None:
    """Raise SimulationError if points without friction have left the features on which they slide."""
    problem = held.problem
    now = set(problem.near(state.y, STOP_TOL * held.model.length)[0])
    left = [_label(held, key) for key in held.keys if problem.mu[key[0]] == 0.0 and key not in now]
    if left:
        raise SimulationError(
            f"the forces are in balance at the pose in the attribute `result` only if {', '.join(map(repr, left))}, which slides without "
            "friction, went on beyond its face. Give a start nearer to the balance, or simulate.",
            state,
        )


def _told(held: HeldContacts, kin: Kinematics, wanted: Array, f: Array, a: Array, mu: Array, *, at_limit: bool) -> str:
    """Return the message for contacts that do not hold."""
    texts = []
    size = HOLDS * float(np.abs(a).max())
    for c, contact in enumerate(held.problem.contacts):
        points = [k for k, key in enumerate(held.keys) if key[0] == c]
        moves = [k for k in points if np.abs(a[k]).max() > size]
        if not moves:
            continue
        force = np.einsum("ka,kab->b", wanted[points], kin.D[points])
        n = kin.D[points, 0].mean(axis=0)
        n /= np.linalg.norm(n)
        normal = float(force @ n)
        across = float(np.linalg.norm(force - normal * n))
        opens = [_label(held, held.keys[k]) for k in moves if a[k, 0] > size]
        does = f"would open at {', '.join(map(repr, opens))}" if opens else "would slip"
        texts.append(
            f"{contact.where} {does} (held, it carries {normal:.6g} N along its normal and {across:.6g} N across; mu = {contact.mu:g} "
            f"allows {contact.mu * max(normal, 0.0):.6g} N)"
        )
    edge = ", being at the limit of friction," if at_limit else ""
    return (
        f"the forces are in balance at the pose in the attribute `result`{edge} only if rigid contacts hold more than they can: "
        f"{'; '.join(texts)}. Give more friction or load, or simulate the motion."
    )


def _check_loaded(held: HeldContacts, G: Array, b: Array, f: Array, mu: Array, state: State) -> None:
    """Raise SimulationError if a point can carry no part of the load: it could open."""
    T, first = _unknowns(mu)
    z, most = T.T @ f.ravel(), NO_LOAD * float(np.abs(f).max(initial=0.0))
    bare = np.flatnonzero(~(f[:, 0] > most))
    idle = [_label(held, held.keys[k]) for k in bare]
    if len(bare) and most > 0.0:  # the others carry something in this share of the load already
        _, high = force_ranges(ForceSet(T, G @ T, -b, z, first, np.asarray(mu > 0.0, dtype=np.float64), mu), T[3 * bare])
        idle = [name for name, top in zip(idle, high, strict=True) if not top > most]
    if idle:
        raise SimulationError(
            f"the forces are in balance at the pose in the attribute `result`, but {', '.join(map(repr, idle))} touches without a load "
            "(0 N): it could open without resistance, and has no stiffness. Press it on, move it away, or simulate.",
            state,
        )


def _shared(held: HeldContacts, pose: TrialPose, lam: Array, C: Array, f: Array) -> Array:
    """Return the multipliers with those of contacts by forces within their cones: contacts that share a load share it in many ways."""
    model = held.model
    every = evaluate_residual(pose.evaluator._replace(kept=np.arange(model.nc)), pose.y)
    J, lam = dense(every.J), np.zeros_like(lam)
    left = every.force.copy()
    rows_of_contacts: list[Ints] = []
    for c, name in enumerate(held.problem.names):
        own = [3 * k + a for k, key in enumerate(held.keys) if key[0] == c for a in range(3)]
        push = C[own].T @ f.ravel()[own]
        rows = np.asarray(model.joints[name].rows)
        lam[rows] = np.linalg.lstsq(J[rows].T, -push, rcond=NO_LOAD)[0]
        left += push
        rows_of_contacts.append(rows)
    others = np.setdiff1d(pose.evaluator.kept, np.concatenate(rows_of_contacts))
    lam[others] = np.linalg.lstsq(J[others].T, left, rcond=NO_LOAD)[0]
    return lam
