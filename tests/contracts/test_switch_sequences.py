"""Random sequences of switches in one run against a chain of runs of mechanisms that are built anew at each of them.

    one      simulate(system, events=[...then(release= | lock= | grip= | kick=), ...])
    chain    simulate(A), state handed on, simulate(B), ... : B has the parts that are on, and the impulse closes what has gripped

The chain knows nothing of switches: a joint that grips is made of the relative pose of its moment, from basic constraints.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.redundancy.redundancy import redundant_at
from joints import RJ, SJ, UJ, Distance, Fixed
from tests.support.seeds import seeds

SAME = 1e-10
"""Relative to 1 and to the largest speed, at tolerances of 1e-12."""
TIMES, END = (0.08, 0.17, 0.23), 0.3
METHOD = {"integrator": mbd.DOP853(rtol=1e-12, atol=1e-13)}
AXES = np.eye(3)


class Held(mbd.Joint):
    """Rows on the frames of the moment."""

    def __init__(self, name, i, j, rows):
        super().__init__(name, mbd.Frame(i, (0, 0, 0)), mbd.Frame(j, (0, 0, 0)))
        self._held = tuple(rows)

    def primitives(self):
        return self._held


class Plan:
    """Two or three bodies in a chain on the ground, a spring, a Fixed and a Distance that are off, and what happens to them."""

    def __init__(self, rng):
        n, self.parts, at = int(rng.integers(2, 4)), {}, np.zeros(3)
        self.bodies = []
        for k in range(n):
            along = _unit(rng) * rng.uniform(0.4, 1.0)
            p = rng.normal(size=4)
            moments = rng.uniform(0.03, 0.05, 3)
            self.bodies.append((f"b{k}", rng.uniform(0.5, 2.0), moments, at + 0.5 * along, p / np.linalg.norm(p)))
            h, across = _unit(rng), _unit(rng)
            across = np.cross(h, across) / np.linalg.norm(np.cross(h, across))
            self.parts[f"j{k}"] = (rng.choice([RJ, SJ, UJ]), k - 1, k, at.copy(), h, across)
            at += along
        i, j = rng.choice(np.arange(-1, n), 2, replace=False)
        self.parts["grip"] = (Fixed, int(i), int(j), None, None, None)
        i, j = rng.choice(np.arange(-1, n), 2, replace=False)
        self.parts["rod"] = (Distance, int(i), int(j), 0.3 * rng.normal(size=3), 0.3 * rng.normal(size=3), None)
        self.spring = (int(rng.integers(0, n)), at + rng.normal(size=3), rng.uniform(5.0, 40.0))
        self.on = {f"j{k}" for k in range(n)} | {"spring"}
        self.actions = self._actions(rng, n)

    def _actions(self, rng, n):
        """Return (t, what, name, impulse) of each switch: parts that are on go off, and the other way round."""
        on, found = set(self.on), []
        for t in TIMES:
            name = str(rng.choice(["grip", "rod", "spring", "kick", f"j{rng.integers(0, n)}"]))
            what = "kick" if name == "kick" else "release" if name in on else "lock" if name == "spring" else "grip"
            if name.startswith("j") and what == "grip":
                name, what = "kick", "kick"  # its points are apart by now
            found.append((t, what, f"b{rng.integers(0, n)}" if what == "kick" else name, 0.5 * rng.normal(size=3)))
            on.symmetric_difference_update({name} - {"kick"})
        return found

    def system(self, on, held=(), **options):
        """Return the system with these parts; `held` gives those that have gripped."""
        system = mbd.System("chain", gravity=(0.0, 0.0, -9.81))
        bodies = [system.add(mbd.Body(name, m, J, r=r, p=p)) for name, m, J, r, p in self.bodies] + [system.ground]
        for name in self.parts:
            if name in held:
                system.add(held[name](bodies))
            elif name in on or options.get("every"):
                system.add(self._joint(name, bodies), active=name in on)
        if "spring" in on or options.get("every"):
            k, end, stiffness = self.spring
            system.add(mbd.TSDA("spring", system.ground, bodies[k], point_i=end, point_j=bodies[k].r, k=stiffness, c=0.3, l0=0.8))
        return system

    def _joint(self, name, bodies):
        kind, i, j, point, h, across = self.parts[name]
        if kind is Fixed:
            return Fixed(name, bodies[i], bodies[j])
        if kind is Distance:
            return Distance(name, bodies[i], bodies[j], point_i=bodies[i].r + point, point_j=bodies[j].r + h)
        axes = {RJ: {"axis": h}, SJ: {}, UJ: {"axis_i": h, "axis_j": across}}[kind]
        return kind(name, bodies[i], bodies[j], point=point, **axes)

    def held(self, name, state):
        """Return what makes the joint that grips at a state, of bodies."""
        kind, i, j, s_i, s_j, _ = self.parts[name]
        r, A = {-1: np.zeros(3)}, {-1: np.eye(3)}
        for k in range(len(self.bodies)):
            r[k], A[k] = state.r[k + 1], rotation_matrix(state.p[k + 1])
        A_0 = {k: rotation_matrix(body[4]) for k, body in enumerate(self.bodies)} | {-1: np.eye(3)}
        if kind is Distance:
            a, b = A_0[i].T @ s_i, A_0[j].T @ s_j
            length = np.linalg.norm(r[j] + A[j] @ b - r[i] - A[i] @ a)
            return lambda bodies: Held(name, bodies[i], bodies[j], [mbd.D(bodies[i], a, bodies[j], b, length)])
        point = A[i].T @ (r[j] - r[i])
        pairs = [(0, 2), (1, 2), (0, 1)]

        def make(bodies):
            rows = [mbd.CD(axis, bodies[i], point, bodies[j], (0, 0, 0), 0.0) for axis in AXES]
            rows += [mbd.DP1(bodies[i], A[i].T[:, a], bodies[j], A[j].T[:, b], 0.0) for a, b in pairs]
            return Held(name, bodies[i], bodies[j], rows)

        return make


def _unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def in_one_run(plan):
    """Return the last state of one run with switches."""
    system, events = plan.system(plan.on, every=True), []
    for k, (t, what, name, impulse) in enumerate(plan.actions):
        body = (
            {what: name} if what != "kick" else {"kick": mbd.PointImpulse("k", system[name], impulse=impulse, point=system[name].r)}
        )
        events.append(mbd.Event(f"{k}", lambda now, _, t=t: now - t).then(**body))
    return mbd.simulate(system, END, events=events, **METHOD).state()


def in_a_chain(plan):
    """Return the last state of a chain of runs."""
    on, held, system = set(plan.on), {}, plan.system(plan.on)
    model, state = system.compile(), None
    for t, what, name, impulse in (*plan.actions, (END, "", "", None)):
        state = mbd.simulate(model, t, state=state, project_velocity=True, **METHOD).state()
        if what == "kick":
            blow = mbd.PointImpulse("k", system[name], impulse=impulse, point=system[name].r)
            state = mbd.impulse(model, applied=blow, state=state).state
        elif what:
            on.symmetric_difference_update({name})
            if what == "grip":
                held[name] = plan.held(name, state)
            held = {key: make for key, make in held.items() if key in on}
            system = plan.system(on, held)
            model, before = system.compile(check_pose=False), state
            model = redundant_at(model, before) if model.nc else model
            state = model.state().replace(t=before.t, r=before.r, p=before.p, v=before.v, omega_bar=before.omega_bar)
    return state


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6))
def test_a_sequence_of_switches_is_a_chain_of_runs(seed):
    plan = Plan(np.random.default_rng(seed))
    one, chain = in_one_run(plan), in_a_chain(plan)
    fastest = max(1.0, np.abs(chain.v).max(), np.abs(chain.omega_bar).max())
    assert np.abs(one.r - chain.r).max() <= SAME
    assert max(np.abs(one.v - chain.v).max(), np.abs(one.omega_bar - chain.omega_bar).max()) <= SAME * fastest
