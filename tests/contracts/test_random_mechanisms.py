"""Random mechanisms of all kinds of joints, with loops, doubled joints, couplings, springs and forces, through the public functions.

accelerations    those of a dense solution of [ M J^T; J 0 ] with the rows of `evaluate`, and forces by own formulas
assemble         from a far start all joints close;   run    keeps them closed, and its energy ledger
continued, saved and loaded    the same numbers to the bit
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import haugmbd as mbd
from joints import (
    CJ,
    RJ,
    SJ,
    TJ,
    UJ,
    ConstantVelocity,
    Coupling,
    Distance,
    Fixed,
    Gear,
    Parallel,
    Perpendicular,
    Planar,
    PointInPlane,
    PointOnLine,
    RevoluteSpherical,
    UniversalSpherical,
)
from tests.support.random_systems import unit
from tests.support.seeds import seeds

DENSE_RTOL = 1e-8
"""Condition 1e6 of the rows of such a mechanism, times rounding, twice."""


def across(rng, axis):
    """A random direction across an axis."""
    x = np.cross(axis, unit(rng))
    return x / np.linalg.norm(x)


def between(kind, name, i, j, rng, p=None, axis=None):
    """A joint of a kind at a random place, or at a given one; its axes fit the modelled pose."""
    p, axis = (rng.normal(size=3), unit(rng)) if p is None else (p, axis)
    q, other = p + rng.uniform(0.3, 1.0) * unit(rng), across(rng, axis)
    if kind is RevoluteSpherical:
        axis = across(rng, q - p)
    if kind is SJ:
        return kind(name, i, j, point=p)
    if kind in (Planar, PointInPlane):
        return kind(name, i, j, point=p, normal=axis)
    if kind is UJ:
        return kind(name, i, j, point=p, axis_i=axis, axis_j=other)
    if kind is ConstantVelocity:
        bent = axis + 0.3 * other
        return kind(name, i, j, point=p, axis_i=axis, axis_j=bent / np.linalg.norm(bent))
    if kind is Distance:
        return kind(name, i, j, point_i=p, point_j=q)
    if kind in (RevoluteSpherical, UniversalSpherical):
        return kind(name, i, j, point_i=p, point_j=q, axis=axis)
    if kind is Perpendicular:
        return kind(name, i, j, axis_i=axis, axis_j=other)
    if kind is Parallel:
        return kind(name, i, j, axis=axis)
    return kind(name, i, j) if kind is Fixed else kind(name, i, j, point=p, axis=axis)


KINDS = (
    RJ, RJ, RJ, TJ, CJ, SJ, UJ, Planar, PointInPlane, PointOnLine, ConstantVelocity, Distance, RevoluteSpherical, UniversalSpherical,
    Perpendicular, Parallel, Fixed,
)  # fmt: skip
CLOSING = (SJ, UJ, CJ, Distance, Distance, PointOnLine, PointInPlane, RevoluteSpherical, UniversalSpherical, ConstantVelocity)


class Mechanism:
    """A system, and what its own forces are made of.

    springs: (body, ends at the modelled pose, numbers);  forces: (body, point at the modelled pose, amplitude)
    """

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        system = self.system = mbd.System(f"random {seed}", gravity=(0, 0, -9.81))
        bodies, hinges, self.springs, self.forces = [system.ground], [], [], []
        for k in range(int(rng.integers(2, 6))):
            mass = float(10.0 ** rng.uniform(-1, 1))
            p = np.roll(Rotation.random(random_state=rng).as_quat(), 1)
            bodies.append(system.add(mbd.Body(f"body {k}", mass, mass * np.array([0.03, 0.04, 0.05]), r=rng.normal(size=3), p=p)))
            parent = bodies[int(rng.integers(k + 1))]
            kind, place = KINDS[int(rng.integers(len(KINDS)))], (rng.normal(size=3), unit(rng))
            joint = system.add(between(kind, f"joint {k}", parent, bodies[-1], rng, *place))
            hinges += [(joint, parent, bodies[-1], *place)] if kind is RJ else []
        if len(hinges) > 1 and rng.random() < 0.5:
            turning = [one[0] for one in hinges]
            system.add(
                Gear("gear", *turning[:2], ratio=1.7) if rng.random() < 0.5 else Coupling("sum", dict.fromkeys(turning[:3], 0.8))
            )
        for k in range(int(rng.integers(0, 3))):
            self._add_if_it_moves(between(CLOSING[int(rng.integers(len(CLOSING)))], f"loop {k}", *self._two(bodies), rng))
        if rng.random() < 0.3 and hinges:
            _, i, j, *place = hinges[0]
            self._add_if_it_moves(between(RJ if rng.random() < 0.5 else CJ, "again", i, j, rng, *place))
        self._load(bodies, rng)

    def _two(self, bodies):
        i, j = sorted(self.rng.choice(len(bodies), 2, replace=False).tolist())
        return bodies[i], bodies[j]

    def _add_if_it_moves(self, joint):
        self.system.add(joint)
        model = self.system.compile(check_pose=False)
        J = mbd.evaluate(model).Phi_q.toarray()
        if np.linalg.matrix_rank(J, tol=1e-7) >= J.shape[1]:
            self.system.remove(joint)

    def _load(self, bodies, rng):
        for k, body in enumerate(bodies[1:3]):
            ends = rng.normal(size=3), np.asarray(body.r) + 0.2 * unit(rng)
            spring = {"k": 20.0, "c": 1.5, "l0": 0.4}
            self.system.add(mbd.TSDA(f"spring {k}", self.system.ground, body, point_i=ends[0], point_j=ends[1], **spring))
            self.springs.append((1 + k, ends, spring))
        f = 3.0 * unit(rng)
        at = np.asarray(bodies[-1].r) + 0.1
        self.system.add(mbd.PointForce("push", bodies[-1], point=at, force=lambda t: tuple(f * np.cos(2.0 * t))))
        self.forces.append((len(bodies) - 1, at, f))

    def dense_accelerations(self, model, state):
        """(nb, 6) by M u' + J^T lam = Q, J u' = gamma, in the metric of M by singular values."""
        rows, n = mbd.evaluate(model, state), model.nb
        A = Rotation.from_quat(np.roll(state.p, -1, axis=1)).as_matrix()
        modelled = [np.eye(3), *(Rotation.from_quat(np.roll(b.p, -1)).as_matrix() for b in self.system.bodies if not b.is_ground)]
        r0 = [np.zeros(3), *(np.asarray(b.r) for b in self.system.bodies if not b.is_ground)]
        Q, W = np.zeros((n + 1, 6)), np.zeros((6 * n, 6 * n))

        def push(k, x, f):
            Q[k, :3] += f
            Q[k, 3:] += A[k].T @ np.cross(x - state.r[k], f)

        for k in range(1, n + 1):
            w, J = state.omega_bar[k], model.J_bar[k]
            Q[k] += np.concatenate([model.mass[k] * np.array([0, 0, -9.81]), -np.cross(w, J @ w)])
            at = slice(6 * k - 6, 6 * k)
            values, axes = np.linalg.eigh(J)
            zero = np.zeros((3, 3))
            W[at, at] = np.block([[np.eye(3) / np.sqrt(model.mass[k]), zero], [zero, axes / np.sqrt(values) @ axes.T]])
        for k, (x_i, x_j), spring in self.springs:
            s = modelled[k].T @ (x_j - r0[k])
            x = state.r[k] + A[k] @ s
            length = np.linalg.norm(x - x_i)
            along = (x - x_i) / length
            rate = (state.v[k] + A[k] @ np.cross(state.omega_bar[k], s)) @ along
            push(k, x, -(spring["k"] * (length - spring["l0"]) + spring["c"] * rate) * along)
        for k, at, f in self.forces:
            push(k, state.r[k] + A[k] @ (modelled[k].T @ (at - r0[k])), f * np.cos(2.0 * state.t))
        J = rows.Phi_q.toarray() @ W
        size = np.linalg.norm(J, axis=1)
        free = W @ W @ Q[1:].ravel()
        z = np.linalg.lstsq(J / size[:, None], (rows.gamma - rows.Phi_q.toarray() @ free) / size, rcond=1e-9)[0]
        return (free + W @ z).reshape(n, 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6))
def test_a_random_mechanism_is_right_through_all_doors(seed, tmp_path):
    mechanism = Mechanism(seed)
    system, rng = mechanism.system, mechanism.rng
    start = mbd.assemble(system).state
    size = 0.3
    far = start.replace(r=start.r + size * rng.normal(size=start.r.shape) * (np.arange(len(start.r)) > 0)[:, None])
    again = mbd.assemble(system, state=far)
    assert np.abs(mbd.evaluate(again.model, again.state).Phi).max(initial=0.0) < 1e-9

    moving = np.arange(len(start.r)) > 0
    start = start.replace(
        v=rng.normal(size=start.v.shape) * moving[:, None], omega_bar=rng.normal(size=start.v.shape) * moving[:, None]
    )
    result = mbd.simulate(system, 0.1, rtol=1e-9, atol=1e-11, state=start, project_velocity=True)
    assert result.success
    for k in (0, len(result.t) // 2, -1):
        state = result.state(k)
        found = mbd.accelerations(result.model, state)
        wanted = mechanism.dense_accelerations(result.model, state)
        assert np.abs(np.hstack([found.v_dot, found.omega_bar_dot])[1:] - wanted).max() < DENSE_RTOL * (1.0 + np.abs(wanted).max())
    energy = result.energy()
    assert np.abs(energy.drift).max() < 1e-6 * (energy.kinetic.max() + np.ptp(energy.potential))

    half = mbd.simulate(system, 0.1 + 0.01, h=2e-3, state=result.state())
    rest = mbd.simulate(system, 0.1 + 0.02, h=2e-3, state=half.state())
    whole = mbd.simulate(system, 0.1 + 0.02, h=2e-3, state=result.state())
    assert np.abs(half.join(rest).y - whole.y).max() < 1e-9 * (1.0 + np.abs(whole.y).max())
    whole.save(tmp_path / "run.npz")
    assert np.array_equal(mbd.load(tmp_path / "run.npz", model=whole.model).y, whole.y)
