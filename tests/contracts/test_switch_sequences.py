"""Random sequences of switches in one run against a chain of runs of mechanisms that are built anew at each of them.

    one      simulate(system, events=[...then(release=, lock=, grip=, kick=), ...])
    chain    simulate(A), state handed on, simulate(B), ... : B has the parts that are on, and an impulse closes what has gripped

The chain knows nothing of switches: a joint that grips is made of the relative pose of its moment, from basic constraints, and a coupling
or driver of the values of its coordinates. `Arms` are trees in space that grip, break and are kicked; `Drives` are shafts with clutches,
brakes, motors and springs, and a hoist with ropes and a ballast that drops.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.redundancy.redundancy import redundant_at
from joints import CJ, RJ, SJ, TJ, UJ, Coupling, Distance, Fixed, Freewheel, Rope, RotationDriver
from tests.support.seeds import seeds

SAME = 1e-10
"""Of places [m], velocities [m/s] and angular velocities [rad/s], at tolerances of 1e-12; relative to speeds above 1."""
TIGHT = {"integrator": mbd.DOP853(rtol=1e-12, atol=1e-13)}
FAMILIES = {
    "adaptive": {"rtol": 1e-12, "atol": 1e-13},
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
X, Y, Z = AXES = np.eye(3)


class Held(mbd.Joint):
    """Rows on the frames of the moment."""

    def __init__(self, name, i, j, rows):
        super().__init__(name, mbd.Frame(i, (0, 0, 0)), mbd.Frame(j, (0, 0, 0)))
        self._held = tuple(rows)

    def primitives(self):
        return self._held


class Part(NamedTuple):
    """A part of a mechanism.  make(bodies, made): the part as modelled;  held(bodies, made, model, state): at the pose of a moment

    needs: names of the parts on which it acts;  back: whether it can be locked again
    """

    name: str
    make: Callable[..., Any]
    needs: tuple[str, ...] = ()
    on: bool = True
    held: Callable[..., Any] | None = None
    back: bool = False


class Action(NamedTuple):
    """What a switch does at a time, by names."""

    t: float
    release: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    grip: tuple[str, ...] = ()
    kick: tuple[str, Any, Any] | None = None


def unit(v):
    return v / np.linalg.norm(v)


def pose(state, k):
    return state.r[k], rotation_matrix(state.p[k])


def fixed_at(name, i, j, state):
    """A Fixed of bodies number i and j at the pose of a state: three CD, three DP1."""
    (r_i, A_i), (r_j, A_j) = pose(state, i), pose(state, j)
    point = A_i.T @ (r_j - r_i)

    def make(bodies):
        a, b = bodies[i], bodies[j]
        rows = [mbd.CD(axis, a, point, b, (0, 0, 0), 0.0) for axis in AXES]
        rows += [mbd.DP1(a, A_i.T[:, m], b, A_j.T[:, n], 0.0) for m, n in ((0, 2), (1, 2), (0, 1))]
        return Held(name, a, b, rows)

    return make


class Mechanism:
    """The recipe of a random mechanism: `bodies` of (name, mass, J, r, p, omega), parts, and what happens."""

    gravity = (0.0, 0.0, -9.81)

    def __init__(self, rng):
        self.bodies: list[tuple[Any, ...]] = []
        self.parts: list[Part] = []
        self._recipe(rng)
        self.first = frozenset(part.name for part in self.parts if part.on)
        self.actions = self._actions(rng)

    def _recipe(self, rng):
        raise NotImplementedError

    def _kick(self, rng):
        raise NotImplementedError

    def _actions(self, rng):
        on, found = set(self.first), []
        by_name = {part.name: part for part in self.parts}
        for t in np.sort(rng.uniform(0.05, 0.3, 3)).tolist():
            some = sorted(name for name in on if set(by_name[name].needs) <= on)
            release = (some[int(rng.integers(len(some)))],) if some and rng.random() < 0.5 else ()
            off = [part for part in self.parts if part.name not in on and (part.held or part.back) and set(part.needs) <= on]
            chosen = off[int(rng.integers(len(off)))] if off and rng.random() < 0.7 else None
            chosen = None if chosen is not None and set(chosen.needs) & set(release) else chosen
            grip = (chosen.name,) if chosen is not None and chosen.held else ()
            lock = (chosen.name,) if chosen is not None and not chosen.held else ()
            kick = self._kick(rng) if rng.random() < 0.4 or not (release or grip or lock) else None
            on = (on - set(release)) | {*grip, *lock}
            found.append(Action(t, release, lock, grip, kick))
        return found

    def acting(self, on):
        """The names of parts that act: what they act on is on, too."""
        found: set[str] = set()
        for part in self.parts:
            if part.name in on and set(part.needs) <= found:
                found.add(part.name)
        return found

    def system(self, on=None, held=None):
        """The whole where `on` is None, else these parts;  held: what makes those that have gripped"""
        system = mbd.System("mechanism", gravity=self.gravity)
        bodies = [system.ground]
        for name, m, J, r, p, omega in self.bodies:
            bodies.append(system.add(mbd.Body(name, m, J, r=r, p=p, omega_bar=omega)))
        made: dict[str, Any] = {}
        acting = self.acting(on) if on is not None else {part.name for part in self.parts}
        for part in self.parts:
            if part.name in acting:
                make = (held or {}).get(part.name, part.make)
                one = make(bodies, made) if make is part.make else make(bodies, made)
                made[part.name] = system.add(one, active=on is not None or part.on)
        return system

    def blow(self, system, kick):
        name, impulse, turns = kick
        body = system[name]
        if turns:
            return mbd.AngularImpulse("kick", body, impulse=impulse)
        return mbd.PointImpulse("kick", body, impulse=impulse)


class Arms(Mechanism):
    """Two to four bodies in a tree on the ground, two Fixed and a Distance that are off, and springs."""

    def _recipe(self, rng):
        n = int(rng.integers(2, 5))
        r = np.cumsum(rng.uniform(0.3, 1.0, (n, 3)), axis=0)
        for k in range(n):
            p = unit(rng.normal(size=4))
            self.bodies.append((f"b{k}", rng.uniform(0.5, 3.0), rng.uniform(0.2, 0.35, 3), r[k], p, np.zeros(3)))
        places = [np.zeros(3), *r]
        for k in range(n):
            i, j = int(rng.integers(0, k + 1)), k + 1
            kind = (RJ, SJ, UJ, TJ, CJ)[int(rng.integers(5))]
            point, h, across = r[k] + 0.3 * rng.normal(size=3), unit(rng.normal(size=3)), rng.normal(size=3)
            axes = {"axis_i": h, "axis_j": unit(np.cross(h, across))} if kind is UJ else {} if kind is SJ else {"axis": h}
            name = f"j{k}"
            self.parts.append(
                Part(name, lambda b, made, a=(kind, name, i, j, point, axes): a[0](a[1], b[a[2]], b[a[3]], point=a[4], **a[5]))
            )
            if kind is RJ:
                torsion = f"t{name}", float(rng.uniform(1, 5))
                self.parts.append(
                    Part(torsion[0], lambda b, made, a=(*torsion, name): mbd.RSDA(a[0], made[a[2]], k=a[1], c=0.1), needs=(name,))
                )
        a, b = (rng.choice(n, 2, replace=False) + 1).tolist()
        for name, i, j in (("grip", a, b), ("hold", 0, int(rng.integers(1, n + 1)))):
            self.parts.append(
                Part(
                    name,
                    lambda bodies, made, a=(name, i, j): Fixed(a[0], bodies[a[1]], bodies[a[2]]),
                    on=False,
                    held=lambda state, a=(name, i, j): lambda bodies, made: fixed_at(*a, state)(bodies),
                )
            )
        self.parts.append(self._rod(rng, places))
        for k in range(2):
            i, j = int(rng.integers(0, k + 1)), k + 1
            ends_k = places[i] + 0.2 * rng.normal(size=3), places[j] + 0.2 * rng.normal(size=3)
            law = {"k": float(rng.uniform(1, 20)), "c": 0.3, "l0": 0.5}
            self.parts.append(
                Part(
                    f"s{k}",
                    lambda b, made, a=(f"s{k}", i, j, ends_k, law): mbd.TSDA(
                        a[0], b[a[1]], b[a[2]], point_i=a[3][0], point_j=a[3][1], **a[4]
                    ),
                    on=k == 0,
                    back=True,
                )
            )

    def _rod(self, rng, places):
        i, j = rng.choice(len(places), 2, replace=False).tolist()
        ends = places[i] + 0.3 * rng.normal(size=3), places[j] + 0.3 * rng.normal(size=3)
        first = [(1, 0, 0, 0), *(body[4] for body in self.bodies)]
        s_i, s_j = (rotation_matrix(np.array(first[k], float)).T @ (end - places[k]) for k, end in zip((i, j), ends, strict=True))

        def held(state):
            (r_i, A_i), (r_j, A_j) = pose(state, i), pose(state, j)
            length = np.linalg.norm(r_j + A_j @ s_j - r_i - A_i @ s_i)
            return lambda bodies, made: Held("rod", bodies[i], bodies[j], [mbd.D(bodies[i], s_i, bodies[j], s_j, length)])

        return Part("rod", lambda b, made: Distance("rod", b[i], b[j], point_i=ends[0], point_j=ends[1]), on=False, held=held)

    def _kick(self, rng):
        return f"b{rng.integers(len(self.bodies))}", 2.0 * rng.normal(size=3), False


class Drives(Mechanism):
    """Three shafts with a clutch, brakes, a motor and a spring; a hoist on the first one, with a ballast and a bungee."""

    def _recipe(self, rng):
        R, ratio = rng.uniform(0.1, 0.3), float(rng.uniform(0.4, 2.0) * rng.choice([-1, 1]))
        add, n = self.parts.append, 3
        for k in range(n):
            J = rng.uniform(0.2, 1.0)
            self.bodies.append((f"shaft{k}", 1.0, (J, J, J), (2.0 * k, 0, 0), (1, 0, 0, 0), (0, rng.uniform(-8, 8) * (k > 0), 0)))
            add(Part(f"a{k}", lambda b, made, k=k: RJ(f"a{k}", b[0], b[k + 1], point=b[k + 1].r, axis=Y)))
        w, low = rng.uniform(0.5, 2.0), -rng.uniform(1.0, 2.0)
        self.bodies.append(("load", w, 3 * (0.1,), (R, 0, low), (1, 0, 0, 0), (0, 0, 0)))
        self.bodies.append(("ballast", rng.uniform(0.3, 1.0), 3 * (0.05,), (R, 0, low - 0.3), (1, 0, 0, 0), (0, 0, 0)))
        add(Part("guide", lambda b, made: TJ("guide", b[0], b[4], point=b[4].r, axis=Z)))
        add(Part("hook", lambda b, made: Fixed("hook", b[4], b[5])))
        add(Part("rope", lambda b, made: Rope("rope", [(made["a0"], R, (1, 0, 0)), (b[4], b[4].r)]), needs=("a0",)))
        EA, slack = float(rng.uniform(100, 400)), float(rng.uniform(-0.05, 0.1))
        bungee = {"length": -low + slack, "EA": EA, "c": 0.5}
        add(Part("bungee", lambda b, made: Rope("bungee", [(b[0], (R, 0, 0)), (b[4], b[4].r)], **bungee), on=False, back=True))
        add(
            Part(
                "clutch",
                lambda b, made: Coupling("clutch", {made["a0"]: 1.0, made["a1"]: -ratio}),
                needs=("a0", "a1"),
                on=False,
                held=lambda state: lambda b, made: self._row("clutch", made, {"a0": 1.0, "a1": -ratio}, state),
            )
        )
        add(
            Part(
                "stop",
                lambda b, made: RotationDriver("stop", made["a2"], 0.0),
                needs=("a2",),
                on=False,
                held=lambda state: lambda b, made: self._row("stop", made, {"a2": 1.0}, state),
            )
        )
        k, press = int(rng.integers(n)), float(rng.uniform(20, 200))
        brake = {"radius": 0.1, "preload": press}
        law = mbd.Coulomb(float(rng.uniform(0.2, 0.5)))
        add(
            Part(
                "brake",
                lambda b, made: mbd.JointFriction("brake", made[f"a{k}"], law, **brake),
                needs=(f"a{k}",),
                on=False,
                back=True,
            )
        )
        drive = mbd.Expression(f"{rng.uniform(2, 8):.6f} * sin({rng.uniform(3, 9):.6f} * t)")
        add(Part("motor", lambda b, made: mbd.Motor("motor", made["a1"], torque=drive), needs=("a1",), back=True))
        spring = {"k": float(rng.uniform(1, 6)), "c": 0.2}
        add(Part("spring", lambda b, made: mbd.RSDA("spring", made["a2"], **spring), needs=("a2",), back=True))
        self.wheel = bool(rng.random() < 0.3)
        if self.wheel:
            add(Part("pawl", lambda b, made: Freewheel("pawl", {made["a2"]: 1.0, made["a1"]: -0.7}), needs=("a1", "a2")))

    def _actions(self, rng):
        """As all; shafts stay, and impulses are left out beside a freewheel, which `mbd.impulse` of the chain does not take."""
        stays = {"a0", "a1", "a2", "guide", "pawl"}
        found = []
        on = set(self.first)
        for t in np.cumsum(rng.uniform(0.03, 0.13, 4)).tolist():
            some = sorted(on - stays)
            off = sorted(part.name for part in self.parts if part.name not in on and (part.back or (part.held and not self.wheel)))
            release = (some[int(rng.integers(len(some)))],) if some and rng.random() < 0.5 else ()
            chosen = off[int(rng.integers(len(off)))] if off and rng.random() < 0.8 else ""
            grips = chosen in ("clutch", "stop")
            kick = self._kick(rng) if not self.wheel and (rng.random() < 0.3 or not (release or chosen)) else None
            if not (release or chosen or kick):
                continue
            on = (on - set(release)) | ({chosen} if chosen else set())
            found.append(Action(t, release, (chosen,) if chosen and not grips else (), (chosen,) if grips else (), kick))
        return found

    def _kick(self, rng):
        k = int(rng.integers(4))
        return ("load", (0, 0, rng.uniform(-2, 2)), False) if k == 3 else (f"shaft{k}", (0, rng.uniform(-2, 2), 0), True)  # noqa: PLR2004

    @staticmethod
    def _angle(state, k):
        A = rotation_matrix(state.p[k])
        return float(np.arctan2(A[0, 2], A[0, 0]))

    def _row(self, name, made, terms, state):
        """A row that holds a sum of angles at its value of the moment."""
        value = sum(c * self._angle(state, int(joint[1]) + 1) for joint, c in terms.items())
        row = CouplingRow(tuple((made[joint].coordinate("angle"), c) for joint, c in terms.items()), value)
        return Held(name, made["a0"].i, made[next(iter(terms))].j, [row])


def started(model, state, near):
    """The state of a single system with the bodies of another one; angles have the turns nearest to `near`, by load, or to zero."""
    own = model.state().replace(t=state.t, r=state.r, p=state.p, v=state.v, omega_bar=state.omega_bar)
    angles = np.array(own.angles)
    bodies = dict(zip(model.bodies, np.hstack([state.r, state.p, state.v, state.omega_bar]), strict=True))
    for q, column in model.angles:
        angles[column] = q.angle_near(bodies, near.get(q.joint.name, 0.0))
    for entry in model.loads:
        if entry.load.turn_markers():
            name = entry.load.joint.name
            angle = mbd.JointCoordinate(model, name)(state.t, own)
            angles[entry.angle] = angle + 2 * np.pi * round((near.get(entry.load.name, 0.0) - angle) / (2 * np.pi))
    return own.replace(angles=angles)


def chain(mechanism, end, method):
    """The last state of single runs, one for each structure."""
    on, held, near, state = set(mechanism.first), {}, {}, mechanism.system().compile().state()
    closes, kick = False, None
    for action in [*mechanism.actions, Action(end)]:
        system = mechanism.system(on, held)
        model = system.compile(check_pose=False)
        state = started(model, state, near)
        model = redundant_at(model, state) if model.nc else model
        if closes or kick is not None:
            state = mbd.impulse(model, state, applied=[] if kick is None else [mechanism.blow(system, kick)]).state
        result = mbd.simulate(model, action.t, state=state, project_velocity=True, **method)
        state = result.state()
        near |= {entry.load.name: result.load(entry.load.name).angle[-1] for entry in model.loads if entry.load.turn_markers()}
        drums = {"a0"} & set(model.joints)
        near |= {name: result.joint(name).angle[-1] for name in drums if "rope" in model.joints}
        on = (on - set(action.release)) | {*action.grip, *action.lock}
        grips = {part.name: part.held for part in mechanism.parts if part.name in action.grip}
        held = {name: make for name, make in held.items() if name in on}
        held |= {name: hold(state) for name, hold in grips.items()}
        closes, kick = bool(action.grip), action.kick
    return state


def switched(mechanism, end, **method):
    """The result of one run."""
    whole, events = mechanism.system(), []
    for k, one in enumerate(mechanism.actions):
        blow = () if one.kick is None else mechanism.blow(whole, one.kick)
        event = mbd.Event(f"e{k}", lambda time, state, t=one.t: time - t)
        events.append(event.then(release=one.release, lock=one.lock, grip=one.grip, kick=blow))
    return mbd.simulate(whole, end, events=events, **method)


def difference(a, b):
    """The largest difference of two states, of velocities relative to speeds above 1."""
    speed = max(1.0, np.abs(b.v).max(), np.abs(b.omega_bar).max())
    places = np.abs(a.r - b.r).max()
    return max(places, *(np.abs(getattr(a, name) - getattr(b, name)).max() / speed for name in ("v", "omega_bar")))


def both(kind, seed):
    """The largest difference of both ways of a random mechanism."""
    mechanism = kind(np.random.default_rng(seed))
    end, method = (0.4, TIGHT) if kind is Arms else (0.6, {"h": 5e-3})  # steps of both begin at the switches
    return difference(switched(mechanism, end, **method).state(), chain(mechanism, end, method))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("kind", [Arms, Drives])
def test_a_sequence_of_switches_is_a_chain_of_runs(kind, seed):
    assert both(kind, seed) <= SAME


def on_shafts():
    """A mechanism with a part of every kind that a switch takes, and a sequence that uses each of them."""
    mechanism = Drives(np.random.default_rng(0))
    mechanism.parts = [part for part in mechanism.parts if part.name != "pawl"]
    mechanism.first = frozenset(part.name for part in mechanism.parts if part.on)
    mechanism.actions = [
        Action(0.011, ("hook",), ("bungee",), ("clutch",)),
        Action(0.032, ("motor", "rope"), (), ("stop",), ("shaft1", (0, 1.0, 0), True)),
        Action(0.053, ("clutch", "spring"), ("brake",), (), ("load", (0, 0, 1.0), False)),
        Action(0.071, ("stop", "bungee"), ("motor",)),
    ]
    return mechanism


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", [Arms, Drives])
def test_every_family_of_methods_switches_saves_and_goes_on_in_each_structure(kind, family, tmp_path):
    method = FAMILIES[family]
    mechanism = Arms(np.random.default_rng(3)) if kind is Arms else on_shafts()
    if kind is Arms:
        mechanism.actions = [
            Action(0.021, ("j0",), (), ("grip",)),
            Action(0.052, ("grip",), ("s1",), (), ("b0", np.ones(3), False)),
        ]
    smooth = any(word in family for word in ("BDF", "Radau", "HHT", "alpha", "trapezoidal", "RATTLE", "HEM4"))
    if kind is Drives and smooth:  # exact dry friction takes an explicit method of one step
        mechanism.actions = [one._replace(lock=tuple(name for name in one.lock if name != "brake")) for one in mechanism.actions]
        mechanism.parts = [part for part in mechanism.parts if part.name != "brake"]
    result = switched(mechanism, 0.08, **method)
    assert len(result.switches) == len(mechanism.actions)
    assert result.status is mbd.RunStatus.COMPLETED
    assert [one.t for one in result.switches] == pytest.approx([one.t for one in mechanism.actions], abs=1e-9)
    loaded = mbd.load(result.save(tmp_path / "run.npz"))
    assert np.array_equal(loaded.y, result.y)
    for part in ("grip",) if kind is Arms else ("hook", "rope", "clutch", "stop"):
        assert np.array_equal(loaded.reaction(part).force, result.reaction(part).force)
    model = mechanism.system().compile()
    for t in (*(0.5 * (a.t + b.t) for a, b in pairwise(mechanism.actions)), None):
        state = loaded.state() if t is None else loaded.at(t)
        more = mbd.simulate(model, 0.01 + state.t, state=state, project_velocity=True, **method)
        assert more.state().structure == state.structure
    whole = loaded.join(more) if family not in ("semi-implicit",) else more
    assert whole.t[-1] == pytest.approx(0.09)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Arms, Drives])
def test_members_of_a_batch_are_runs_in_each_structure(kind):
    mechanism = Arms(np.random.default_rng(3)) if kind is Arms else on_shafts()
    if kind is Drives:  # exact dry friction is not taken by a batch
        mechanism.actions = [one._replace(lock=tuple(name for name in one.lock if name != "brake")) for one in mechanism.actions]
        mechanism.parts = [part for part in mechanism.parts if part.name != "brake"]
    result = switched(mechanism, 0.4, h=5e-3)
    structures = set()
    for segment in result.segments:
        state = segment.at(float(segment.t[0])).replace(structure=None)
        many = mbd.batch(segment.model, states=segment.y[[0, 0]], t=state.t).simulate(state.t + 0.02, h=5e-3)
        alone = mbd.simulate(segment.model, state.t + 0.02, h=5e-3, state=state)
        assert np.array_equal(many[1].y, alone.y)
        structures.add(segment.state().structure)
    assert len(structures) > 1
