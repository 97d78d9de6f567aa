"""Random switches on random mechanisms: one run is a chain of single runs of systems that are built anew for each structure."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.redundancy.redundancy import redundant_at
from joints import CJ, RJ, SJ, TJ, Fixed

X, Y, Z = np.eye(3)
TIGHT = {"rtol": 1e-12, "atol": 1e-13}
FAMILIES = {
    "adaptive": TIGHT,
    "RK4": {"h": 5e-3},
    "semi-implicit": {"integrator": mbd.SemiImplicitEuler(h=5e-3)},
    "DOP853": {"integrator": mbd.DOP853(rtol=1e-10)},
    "Lie": {"integrator": mbd.RKMK4(h=5e-3)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-6)},
    "Radau": {"integrator": mbd.RadauIIA(rtol=1e-6)},
    "HHT": {"integrator": mbd.HHT(h=5e-3)},
    "generalized-alpha": {"integrator": mbd.GeneralizedAlpha(h=5e-3)},
    "trapezoidal": {"integrator": mbd.Trapezoidal(h=5e-3)},
    "RATTLE": {"integrator": mbd.RATTLE(h=5e-3)},
    "HEM4": {"integrator": mbd.HEM4(h=5e-3)},
    "SciPy": {"integrator": mbd.SciPySolver(rtol=1e-9, atol=1e-10)},
    "Baumgarte": {"h": 5e-3, "stabilization": mbd.Baumgarte(5.0, 5.0)},
    "null space": {"h": 5e-3, "formulation": mbd.NullSpace()},
}


def rotation(p):
    """The rotation matrix of Euler parameters (4,)."""
    e0, e = p[0], p[1:]
    tilde = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return (e0 * e0 - e @ e) * np.eye(3) + 2 * np.outer(e, e) + 2 * e0 * tilde


class Mechanism:
    """The recipe of a random mechanism: the whole with what is off, or the system of one structure alone."""

    def __init__(self, rng):
        n = self.n = int(rng.integers(2, 5))
        self.mass, self.J = rng.uniform(0.5, 3, n), rng.uniform(0.2, 0.35, (n, 3))
        self.r = np.cumsum(rng.uniform(0.3, 1, (n, 3)), axis=0)
        kinds = [(RJ, SJ, TJ, CJ)[int(rng.integers(4))] for _ in range(n)]
        axes = rng.normal(size=(n, 3))
        points = self.r + 0.3 * rng.normal(size=(n, 3))
        self.joints = [
            (f"j{k}", kinds[k], int(rng.integers(-1, k)), k, points[k], axes[k] / np.linalg.norm(axes[k])) for k in range(n)
        ]
        a, b = rng.choice(n, 2, replace=False).tolist()
        self.grips = [("grip", a, b), ("hold", -1, int(rng.integers(n)))]
        self.springs = [
            (f"s{k}", int(rng.integers(-1, k)), k, 0.2 * rng.normal(size=(2, 3)), float(rng.uniform(1, 20))) for k in range(2)
        ]
        self.torsions = [(f"t{name}", name, float(rng.uniform(1, 5))) for name, kind, *_ in self.joints if kind is RJ]
        self.names = [one[0] for one in (*self.joints, *self.grips, *self.springs, *self.torsions)]
        self.off = {"grip", "hold", "s1"}

    def system(self, on=None, held=None):
        """The whole where `on` is None, else the parts of these names;  held: the states at which grips have closed"""
        system = mbd.System("mechanism", gravity=(0, 0, -9.81))
        add = [system.add(mbd.Body(f"b{k}", self.mass[k], self.J[k], r=self.r[k])) for k in range(self.n)]
        bodies, made = dict(enumerate(add)) | {-1: system.ground}, {}
        wanted = lambda name: on is None or name in on  # noqa: E731
        for name, kind, i, j, point, axis in self.joints:
            if wanted(name):
                made[name] = system.add(kind(name, bodies[i], bodies[j], point=point, **({} if kind is SJ else {"axis": axis})))
        for name, i, j in self.grips:
            if on is None:
                system.add(Fixed(name, bodies[i], bodies[j], active=False))
            elif name in on:
                state = held[name]
                r_i, A_i = state.r[i + 1], rotation(state.p[i + 1])
                r_j, A_j = state.r[j + 1], rotation(state.p[j + 1])
                vectors = (A_i.T @ (r_j - r_i), A_i.T @ X, A_i.T @ Y), (np.zeros(3), A_j.T @ Z, A_j.T @ Y, 0.0)
                system.add(Fixed.from_vectors(name, bodies[i], *vectors[0], bodies[j], *vectors[1]))
        for name, i, j, ends, k in self.springs:
            if wanted(name):
                first = ends[0] + (self.r[i] if i >= 0 else 0.0)
                spring = mbd.TSDA(name, bodies[i], bodies[j], point_i=first, point_j=self.r[j] + ends[1], k=k, c=0.3, l0=0.5)
                system.add(spring, active=on is not None or name not in self.off)
        for name, joint, k in self.torsions:
            if wanted(name) and joint in made:
                system.add(mbd.RSDA(name, made[joint], k=k, c=0.1))
        return system

    def plan(self, rng):
        """Times, parts that go off, on, and grip, and whether a body is kicked."""
        found, off = [], set(self.off)
        for t in np.sort(rng.uniform(0.05, 0.35, 3)).tolist():
            on = [name for name in self.names if name not in off]
            release = [on[int(rng.integers(len(on)))]] if rng.random() < 0.5 and on else []
            chosen = sorted(off)[int(rng.integers(len(off)))] if off and rng.random() < 0.7 else ""
            grip = [chosen] if chosen in ("grip", "hold") else []
            lock = [chosen] if chosen and chosen[0] in "st" else []
            kick = 3.0 * rng.normal(size=3) if rng.random() < 0.4 or not (release or grip or lock) else None
            off = (off | set(release)) - {*grip, *lock}
            found.append((t, release, lock, grip, kick))
        return found


def started(model, state, near):
    """The state of a single system with the bodies of another state; torsion springs have the turns nearest to `near`, by joint."""
    own = model.state().replace(t=state.t, r=state.r, p=state.p, v=state.v, omega_bar=state.omega_bar)
    angles = np.array(own.angles)
    for entry in model.loads:
        if entry.load.turn_markers():
            name = entry.load.joint.name
            angle = mbd.JointCoordinate(model, name)(state.t, own)
            angles[entry.angle] = angle + 2 * np.pi * round((near.get(name, 0.0) - angle) / (2 * np.pi))
    return own.replace(angles=angles)


def chain(mechanism, plan, end, method):
    """The last state of single runs, one for each structure."""
    off, held, near, state = set(mechanism.off), {}, {}, mechanism.system().compile().state()
    closes, kick = False, None
    for t, release, lock, grip, next_kick in [*plan, (end, [], [], [], None)]:
        model = mechanism.system(set(mechanism.names) - off, held).compile(check_pose=False)
        state = started(model, state, near)
        model = redundant_at(model, state) if model.nc else model
        if closes or kick is not None:
            blow = [] if kick is None else [mbd.PointImpulse("kick", model.bodies[1], impulse=kick)]
            state = mbd.impulse(model, state, applied=blow).state
        result = mbd.simulate(model, t, state=state, project_velocity=True, **method)
        state = result.state()
        near |= {name: result.joint(name).angle[-1] for name, entry in model.joints.items() if entry.kind == "RJ"}
        off = (off | set(release)) - {*grip, *lock}
        held |= dict.fromkeys(grip, state)
        closes, kick = bool(lock or grip), next_kick
    return state


def switched(mechanism, plan, end, **method):
    whole = mechanism.system()
    events = []
    for k, (t, release, lock, grip, kick) in enumerate(plan):
        blow = () if kick is None else mbd.PointImpulse("kick", whole.bodies[1], impulse=kick)
        event = mbd.Event(f"e{k}", lambda time, state, t=t: time - t)
        events.append(event.then(release=release, lock=lock, grip=grip, kick=blow))
    return mbd.simulate(whole, end, events=events, **method)


def difference(a, b):
    return max(np.abs(getattr(a, name)[-1] - getattr(b, name)).max() for name in ("r", "v", "omega_bar"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_one_run_is_the_chain_of_single_runs(seed):
    rng = np.random.default_rng(seed)
    mechanism = Mechanism(rng)
    plan = mechanism.plan(rng)
    result = switched(mechanism, plan, 0.4, **TIGHT)
    assert difference(result, chain(mechanism, plan, 0.4, TIGHT)) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_methods_switches_saves_and_goes_on(family, tmp_path):
    rng = np.random.default_rng(3)
    mechanism, method = Mechanism(rng), FAMILIES[family]
    plan = [(0.021, ["j0"], [], ["grip"], None), (0.052, ["grip"], ["s1"], [], np.ones(3))]
    result = switched(mechanism, plan, 0.08, **method)
    assert len(result.switches) == 2
    assert result.status is mbd.RunStatus.COMPLETED
    assert result.switches[0].t == pytest.approx(0.021, abs=1e-9)
    loaded = mbd.load(result.save(tmp_path / "run.npz"))
    assert np.array_equal(loaded.y, result.y)
    assert np.array_equal(loaded.reaction("grip").force, result.reaction("grip").force)
    more = mbd.simulate(mechanism.system(), 0.09, state=loaded.state(), project_velocity=True, **method)
    assert more.state().structure == result.state().structure
    whole = loaded.join(more) if family not in ("semi-implicit",) else more
    assert whole.t[-1] == pytest.approx(0.09)
