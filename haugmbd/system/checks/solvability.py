r"""Solvability of the augmented system at the modelled pose: dependent rows, and axes that nothing determines.

    [ M  Phi_q^T; Phi_q  0 ] is regular   <=>   Phi_q has full row rank, and  M u = 0, Phi_q u = 0  only for u = 0

Rows that are dependent along the whole motion are dropped (`redundancy`), and are no fault. Faults are rows with a zero gradient,
dependent rows that conflict, and rows that are dependent only at this pose: the motion is not determined there.
M u = 0 only for rotations about massless axes, and for all motions of bodies without mass: u = N z, so the second condition is that
Phi_q N has full column rank.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.errors import Fault
from haugmbd.model.compiling.inertia import SUSPECT
from haugmbd.model.dependent_rows import Dependency, RankReport, Redundancy
from haugmbd.model.inspection.constraint_rows import Rows
from haugmbd.model.inspection.length import characteristic_length
from haugmbd.model.model import Model
from haugmbd.text_table import first_few

FREE_TOL = 1e-6
"""Relative singular value of Phi_q on massless axes below which an axis is free; above the rounding of its square root."""

SHOWN = 6
"""Number of rows or bodies that a text lists; the rest is counted."""

SINGULAR = (
    "The pose is singular (a dead centre, a flat parallelogram, bars in line): more than one motion is possible, or none. "
    "Model the mechanism at another pose; a run may pass this one."
)
CONFLICT = "Take one of the drivers away, or let them prescribe the same motion."
FLAT = (
    "The gradient of a dot product is zero if its vectors are parallel: "
    "prescribe an angle with Rotation (RotationDriver), a point with SJ."
)


def dependence_faults(model: Model, redundancy: Redundancy, pose: str = "the modelled pose") -> tuple[Fault, ...]:
    """Return one fault for each group of joints whose rows have zero gradients, conflict, or are dependent at this pose only."""
    if not (redundancy.flat or redundancy.only_here or not redundancy.consistent):
        return ()
    report, found = redundancy.report, []
    for _, group in groups_of_joints(report):
        flat = [d for d in group if not d.terms]
        tied = [d for d in group if d.terms]
        conflict = max((float(redundancy.gaps[d.row]) for d in tied), default=0.0)
        here = [d for d in tied if d.row in redundancy.only_here]
        joints = list(dict.fromkeys(name for d in group for name in report.joints_of(d)))
        where = f"joint {joints[0]!r}" if len(joints) == 1 else f"joints {first_few([repr(name) for name in joints], SHOWN)}"
        labels = first_few([str(model.labels[d.row]) for d in (tied if conflict else here) or flat], SHOWN)
        if not tied:
            found.append(Fault(where, f"the gradient of {labels} is zero at {pose}: the row has no effect there", FLAT))
            continue
        n = sum(len(model.joints[name].rows) for name in joints)
        counts = f"at {pose} ({n} rows, rank {n - len(group)})"
        if conflict:
            of = "1 row depends" if len(group) == 1 else f"{len(group)} rows depend"
            what = f"{of} on the others {counts}, and they CONFLICT (prescribed rates differ by {conflict:.6g}): {labels}"
            found.append(Fault(where, what, CONFLICT))
        elif here:
            of = "1 row depends" if len(here) == 1 else f"{len(here)} rows depend"
            found.append(Fault(where, f"{of} on the others {counts}, and only there: {labels}", SINGULAR))
    return tuple(found)


def groups_of_joints(report: RankReport) -> list[tuple[tuple[str, ...], list[Dependency]]]:
    """Return the dependencies in groups that share a joint, each with its joints in the order of the rows."""
    groups: list[tuple[set[str], list[Dependency]]] = []
    for dependency in report.dependencies:
        joints, members = set(report.joints_of(dependency)), [dependency]
        apart = []
        for others, their in groups:
            if joints & others:
                joints |= others
                members = [*their, *members]
            else:
                apart.append((others, their))
        groups = [*apart, (joints, members)]
    found = []
    for _, members in groups:
        rows = sorted({row for d in members for row in (d.row, *(k for k, _ in d.terms))})
        found.append((tuple(dict.fromkeys(report.labels[row].joint for row in rows)), sorted(members)))
    return found


def free_axis_faults(bodies: Sequence[Body], model: Model, rows: Rows, unsure: Collection[int] = ()) -> tuple[Fault, ...]:
    """Return one fault for each set of bodies with massless axes that can turn without inertia.

    bodies: the ground first;  unsure: ids of bodies with faulty joints, which might determine the axes: no fault is reported for them
    """
    J_bar = np.array([body.J_bar for body in bodies])
    finite = np.nonzero(np.isfinite(J_bar).all(axis=(1, 2)))[0]
    moments = np.linalg.eigvalsh(J_bar[finite])
    suspects = finite[moments[:, 0] <= SUSPECT * moments[:, 2]].tolist()
    suspects += [k for k, body in enumerate(bodies) if body.mass == 0.0 and not body.is_ground and k not in suspects]
    axes = {k: directions_without_inertia(bodies[k]) for k in suspects}
    axes = {k: N for k, N in axes.items() if len(N)}
    if not axes:
        return ()
    gradient = np.concatenate([characteristic_length(model, rows) * rows.Phi_r, rows.PiBar], axis=2)
    size = np.sqrt(np.sum(gradient**2, axis=(1, 2)))
    scaled = gradient / np.where(size > 0.0, size, 1.0)[:, None, None]
    turns: dict[int, dict[int, Array]] = {}
    has_axes = np.zeros(len(bodies), dtype=bool)
    has_axes[list(axes)] = True
    at_row, at_side = np.nonzero(has_axes[rows.bodies])
    acts_on = rows.bodies[at_row, at_side]
    for k, N in axes.items():
        here = np.nonzero(acts_on == k)[0]
        parts = scaled[at_row[here], at_side[here]] @ N.T
        seen = np.nonzero(np.abs(parts).max(axis=1, initial=0.0) > FREE_TOL)[0]
        turns[k] = dict(zip(at_row[here[seen]].tolist(), parts[seen], strict=True))
    found = []
    for members in _components(turns):
        if any(id(bodies[k]) in unsure for k in members):
            continue
        its_rows = {row: n for n, row in enumerate(sorted({row for k in members for row in turns[k]}))}
        T, first = np.zeros((len(its_rows), sum(len(axes[k]) for k in members))), 0
        for k in members:
            for row, part in turns[k].items():
                T[its_rows[row], first : first + len(part)] = part
            first += len(axes[k])
        found += _free(T, [bodies[k] for k in members], [axes[k] for k in members])
    return tuple(found)


def directions_without_inertia(body: Body) -> Array:
    """Return the motions (k, 6) of a body that take no energy: translations, global, of one without mass; rotations about massless axes."""
    axes = body.massless_axes()
    turns = np.hstack([np.zeros((len(axes), 3)), axes])
    return turns if body.mass > 0.0 or body.is_ground else np.vstack([np.eye(3, 6), turns])


def _components(turns: dict[int, dict[int, Array]]) -> list[list[int]]:
    """Return groups of bodies whose massless axes occur in a common row; `turns`: by body, the rows in which its axes occur."""
    group = {k: [k] for k in turns}
    first_at: dict[int, int] = {}
    for k, its_rows in turns.items():
        for row in its_rows:
            other = first_at.setdefault(row, k)
            if group[other] is not group[k]:
                group[other] += group[k]
                for member in group[k]:
                    group[member] = group[other]
    return [sorted(members) for members in {id(members): members for members in group.values()}.values()]


def _free(T: Array, bodies: list[Body], axes: list[Array]) -> list[Fault]:
    """Return the faults of one component: the null space of T, by bodies."""
    squares, vectors = np.linalg.eigh(T.T @ T)
    null = vectors[:, squares <= FREE_TOL**2 * max(1.0, float(squares[-1]))]
    if null.shape[1] == 0:
        return []
    texts, first, names = [], 0, []
    for body, N in zip(bodies, axes, strict=True):
        directions, sizes, _ = np.linalg.svd(null[first : first + len(N)], full_matrices=False)
        first += len(N)
        free = directions[:, sizes > FREE_TOL].T @ N
        if len(free):
            names.append(repr(body.name))
            slides = bool(np.abs(free[:, :3]).max() > FREE_TOL)
            shown = " and ".join(f"{_vector(axis)} in its frame, {_vector(body.A @ axis)} global" for axis in free[:, 3:])
            of_body = "without mass in a direction of its own" if slides else f"about {shown}"
            texts.append(of_body if len(bodies) == 1 else f"{body.name!r} {of_body}")
    where = f"body {names[0]}" if len(names) == 1 else f"bodies {first_few(names, SHOWN)}"
    what = f"it has no inertia about an axis that no joint holds: free to turn {first_few(texts, SHOWN)}"
    if len(names) > 1:
        what = f"they have no inertia about axes that no joint holds: free to turn together, {first_few(texts, SHOWN)}"
    if any(body.mass == 0.0 for body in bodies):
        what = what.replace("no inertia about an axis that no joint holds", "no inertia in a direction that no joint holds")
        what = what.replace("no inertia about axes that no joint holds", "no inertia in directions that no joint holds")
        what = what.replace("free to turn", "free to move")
        remedy = "Give it a mass and J_bar, or joints that give its motion from that of bodies with mass; at another pose they may."
        return [Fault(where, what, remedy)]
    remedy = "Give J_bar a positive moment about this axis (haugmbd.bodies.inertia), or use a joint that holds it (UJ in place of one SJ)."
    return [Fault(where, what, remedy)]


def _vector(x: Array) -> str:
    """Return a vector with four digits, and no negative zeros."""
    return "(" + ", ".join(f"{round(float(value), 4) + 0.0:g}" for value in x) + ")"
