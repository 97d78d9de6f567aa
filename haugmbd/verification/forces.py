"""Force elements: the power of their generalized forces against their energy, declared jacobians against differences, and laws of the user.

    Q . u = applied - dissipated - dV/dt            along a motion; Q from the kernel, the rest from the energy ledger in Python
    Q     = (m g, -omega_bar x J_bar omega_bar)     of a model without them

An element at a joint is verified where the axes of the joint coincide: A_j = A_i Abar_i R_z(theta) Abar_j^T.
Friction in a joint that is torn far open may have no solution (Painleve): it is verified nearer and nearer to the modelled pose.

Classes of the user are functions of t, r, p, v, omega_bar and of what the constructor was given, and of nothing else.
repeated     f(x_1), f(x_2), ..., then again in the opposite order: the same bits         a law that remembers its calls differs
rebuilt      the element of the same arguments, as a model file holds them: the same bits
Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.work import load_ledger
from haugmbd.errors import Fault, HaugmbdError, SimulationError
from haugmbd.forces.base import EnergyLedger, ForceElement
from haugmbd.forces.friction_laws import LuGre
from haugmbd.forces.jacobian import disagreement
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.formulations.accelerations import solve_states
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.modelfile.parts.functions import Unwritable
from haugmbd.modelfile.parts.own_classes import OWN_CLASS, make_own, own_text
from haugmbd.modelfile.reading import BAD, Reading
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.verification.comparisons import ALLOWED, AcceleratedMotion, Check, DerivativeGap, Random, gap_of, random_state
from haugmbd.verification.rows import RowEvaluator, common_times
from haugmbd.workspace.layout import WIDTH

Call = tuple[float, Sequence[Array]]


def check_law(model: Model, states: int, rng: Random) -> tuple[Check, Check]:
    """Return the checks of the one element of a model, whose class defines its own law."""
    entry = model.loads[0]
    calls: list[Call] = []
    for _ in range(states):
        state = random_state(model, rng, float(rng.uniform(*common_times(model))))
        bodies = state.y[: WIDTH * (model.nb + 1)].reshape(-1, 1, WIDTH)[list(entry.bodies)]
        calls.append((state.t, [x[0] for x in entry.load.arguments(bodies, np.zeros(1))]))
    first = values_of(entry.load, calls)
    again = values_of(entry.load, calls[::-1])[::-1]
    return _same("repeated", first, again, "the same calls in the opposite order"), _rebuilt(entry.load, first, calls)


def values_of(load: ForceElement, calls: Sequence[Call]) -> Array:
    """Return what the law gives for arguments, (n, bodies, 6)."""
    law = load.user_function()
    assert law is not None
    return np.array([law.call(t, *map(np.array, arguments)) for t, arguments in calls], dtype=np.float64)


def _same(name: str, first: Array, second: Array, against: str) -> Check:
    """Return the check that two sets of values have the same bits."""
    gap = np.abs(first - second)
    k = np.unravel_index(int(np.argmax(gap)), gap.shape) if gap.size else ()
    where = f"{first[k]:.9g} and {second[k]:.9g}" if gap.size and gap.any() else ""
    return Check(name, float(gap.max(initial=0.0)), 0.0, against, where)


def _rebuilt(load: ForceElement, first: Array, calls: Sequence[Call]) -> Check:
    """Return the check of the element that a file would give, or else of a copy."""
    bodies = {part.name: part for part in _parts(load) if isinstance(part, Body)}
    joints = {part.name: part for part in _parts(load) if not isinstance(part, Body)}
    try:
        text = own_text(load, {})
    except Unwritable as error:
        return _same("rebuilt", first, values_of(deepcopy(load), calls), f"a copy (no file: {error})")
    reading = Reading(allow_code=True, names={"body": dict.fromkeys(bodies, 0), "joint": dict.fromkeys(joints, 0)})
    values = OWN_CLASS.read(text, (), reading)
    if values is BAD:
        return Check("rebuilt", np.nan, 0.0, "the element of a model file", reading.problems[0].what)
    made = _made(lambda: make_own(values, bodies.__getitem__, joints.__getitem__))
    if isinstance(made, str):
        return Check("rebuilt", np.nan, 0.0, "the element of a model file", made)
    return _same("rebuilt", first, values_of(made, calls), "the element of a model file")


def _made(make: Callable[[], ForceElement]) -> ForceElement | str:
    """Return the element, or why its constructor refuses its own arguments."""
    try:
        return make()
    except HaugmbdError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  a constructor of the user may raise anything
        return f"its constructor raises {type(error).__name__}: {error}"


def _parts(load: ForceElement) -> list[Any]:
    """Return the bodies and joints that an element knows."""
    joints = list(load.needs())
    return [*load.bodies(), *joints, *(body for joint in joints for body in (joint.i, joint.j))]


NEARER = tuple(0.5**k for k in range(8))
"""Parts of the way from the modelled pose to random states, one after the other, until the friction has a solution."""
INERTIAL_TOL = 1e-11
"""Largest relative difference of weights and gyroscopic torques: rounding of the forces of all elements, which are subtracted."""


class LoadedMotion:
    """A motion of a model with one force element; where it acts at a joint, the second body turns about the joint's axis.

    part: of the way from the modelled pose to a random state
    """

    def __init__(self, model: Model, rng: Random, part: float = 1.0) -> None:
        load = model.loads[0].load
        first, last = common_times(model)
        self._model, self._load = model, load
        self._free = AcceleratedMotion(model, random_state(model, rng, float(rng.uniform(first, last)), part), rng)
        self._joint = next((joint for joint in load.needs() if joint.rotates_about_h), None)
        self._theta, self._rate = rng.uniform(-np.pi, np.pi), part * rng.normal()
        self._z = bristle_scale(load) * part * self._theta / np.pi

    def at(self, s: float) -> State:
        """Return the state at the time s."""
        state = self._free.at(s)
        if self._load.is_friction:
            state = state.replace(angles=np.full(state.angles.shape, self._z))
        if self._joint is None:
            return state
        frames, theta, rate = (self._joint.frame_i, self._joint.frame_j), self._theta + self._rate * s, self._rate
        i, j = (self._model.bodies.index(frame.body) for frame in frames)
        if j == 0:
            frames, (i, j), theta, rate = frames[::-1], (j, i), -theta, -rate
        state = turned_about_axis(state, (i, j), frames, theta, rate)
        if self._load.is_friction:
            return state
        return state.replace(angles=np.full(state.angles.shape, self._theta + self._rate * s))


def bristle_scale(load: ForceElement) -> float:
    """Return the largest deflection of the bristles of a friction [m]; 0 for other elements."""
    law = load.law if isinstance(load, JointFriction) else None
    return law.mu_s / law.sigma0 if isinstance(law, LuGre) else 0.0


def turned_about_axis(state: State, bodies: tuple[int, int], frames: tuple[Frame, Frame], theta: float, rate: float) -> State:
    """Return the state with the second body turned by theta from the first one about h, with this rate [rad/s]."""
    i, j = bodies
    c, s = np.cos(theta), np.sin(theta)
    A_i = euler_parameters.rotation_matrix(state.p[i])
    A_j = A_i @ frames[0].A_bar @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ frames[1].A_bar.T
    p, omega_bar = state.p.copy(), state.omega_bar.copy()
    p[j] = euler_parameters.from_rotation_matrix(A_j)
    omega_bar[j] = A_j.T @ (A_i @ (omega_bar[i] + rate * frames[0].h))
    return state.replace(p=p, omega_bar=omega_bar)


def check_force(model: Model, bare: Model, states: int, rng: Random, bar: Progress) -> tuple[Check, ...]:
    """Return the checks of the one force element of a model; bare: the same model without it."""
    load = model.loads[0].load
    loaded, empty = RowEvaluator(model), RowEvaluator(bare)
    error, size, where = 0.0, 0.0, ""
    faults: list[Fault] = []
    n_checked, note = 0, ""
    for _ in range(states):
        bar.done()
        solved = _loaded_motion(model, loaded, empty, rng)
        if isinstance(solved, str):
            note = solved
            continue
        motion, Q, scale = solved
        state = motion.at(0.0)
        n_checked += 1
        # Q . u = applied - dissipated - dV/dt
        power, now = float(np.sum(Q * np.hstack([state.v, state.omega_bar]))), _ledger(model, state)
        supplied = now.applied[0] - now.dissipated[0]
        declared = np.array([supplied - power])
        if load.is_friction:  # it stores nothing
            gap = DerivativeGap(np.abs(declared - now.potential), now.potential)
        else:
            gap = gap_of(declared, lambda s, m=motion: _ledger(model, m.at(s)).potential)  # type: ignore[misc]
        size = max(size, scale, float(np.abs(Q * np.hstack([state.v, state.omega_bar])).sum()), abs(float(supplied)))
        if np.isnan(gap.error[0]) or gap.error[0] > error:
            error = float(gap.error[0])
            where = f"its power is {power:.9g} W, and its energy gives {supplied - gap.nearest[0]:.9g} W at t = {state.t:.4g} s"
        faults += _jacobian_faults(model, state)
    against = "applied - dissipated - dV/dt, from the ledger"
    if note:
        against += f", at {n_checked} of {states} states: the friction has no solution near the others"
        where = where or note
    energy = Check("energy", error / (size or 1.0) if n_checked else np.nan, ALLOWED, against, where)
    if load.jacobian is None:
        return (energy,)
    note = str(faults[0]) if faults else ""
    return energy, Check("jacobian", float(bool(faults)), 0.5, f"differences of {load.jacobian.user_function.label}", note)


def _loaded_motion(model: Model, loaded: RowEvaluator, empty: RowEvaluator, rng: Random) -> tuple[LoadedMotion, Array, float] | str:
    """Return a random motion, the generalized forces of the load at its start, and their scale; or why its friction has no solution."""
    if model.loads[0].load.is_friction:
        return _with_solution(model, loaded, rng)
    motion = LoadedMotion(model, rng)
    state = motion.at(0.0)
    return motion, loaded.forces(state) - empty.forces(state.replace(angles=np.zeros(0))), 0.0


def _jacobian_faults(model: Model, state: State) -> list[Fault]:
    """Return where a jacobian that the load declares disagrees with differences."""
    load = model.loads[0].load
    if load.jacobian is None:
        return []
    bodies = state.y[: WIDTH * (model.nb + 1)].reshape(-1, 1, WIDTH)[list(model.loads[0].bodies)]
    angle = state.angles if len(state.angles) else np.zeros(1)
    return list(disagreement(load.jacobian, state.t, [x[0] for x in load.arguments(bodies, angle)]))


def check_inertial_forces(model: Model, whole: Model, bare: Model, states: int, rng: Random, bar: Progress) -> Check:
    """Return the check of weights and gyroscopic torques.

    whole, bare: models of the same parts with and without force elements, whose difference are the forces of the elements
    """
    at, with_loads, without = RowEvaluator(model), RowEvaluator(whole), RowEvaluator(bare)
    error, where, first = 0.0, "", common_times(model)[0]
    for _ in range(states):
        state = random_state(model, rng, first)
        plain = state.replace(angles=np.zeros(0))
        forces = at.forces(state) - (with_loads.forces(state) - without.forces(plain))
        w = state.omega_bar
        wanted = np.hstack([model.mass[:, None] * model.gravity, -cross(w, np.einsum("nij,nj->ni", model.J_bar, w))])
        turning = np.abs(model.J_bar).max() * np.abs(w).max() ** 2  # of a sphere, whose gyroscopic torque is rounding
        size = np.abs(wanted).max() + np.abs(with_loads.forces(state)).max() + turning
        off = np.abs(forces - wanted)[1:] / (size or 1.0)
        k, axis = np.unravel_index(int(np.argmax(off)), off.shape)
        if np.isnan(off).any() or off[k, axis] > error:
            error = float(off[k, axis])
            where = f"body {model.body_names[k + 1]!r}: {forces[k + 1, axis]:.9g}, must be {wanted[k + 1, axis]:.9g}"
        bar.done()
    return Check("inertial forces", error, INERTIAL_TOL, "(m g, -omega_bar x J_bar omega_bar)", where)


def _with_solution(model: Model, loaded: RowEvaluator, rng: Random) -> tuple[LoadedMotion, Array, float] | str:
    """Return a motion at whose start the friction has a solution, and what `_left_over` returns there; else the error of the last state."""
    note = ""
    for part in NEARER:
        motion = LoadedMotion(model, rng, part)
        try:
            return motion, *_left_over(model, loaded, motion.at(0.0))
        except SimulationError as error:
            note = str(error)
    return note


def _left_over(model: Model, loaded: RowEvaluator, state: State) -> tuple[Array, float]:
    """Return M u_dot + Phi_q^T lam less the inertial forces, the friction in the accelerations; and the power of the largest term."""
    x, n = solve_states(model, np.array([state.t]), state.y[None])[0], model.nb + 1
    rows = loaded.rows(state)
    own = np.hstack([model.mass[:, None] * x[:n, :3], np.einsum("kij,kj->ki", model.J_bar, x[:n, 3:])])
    carried = (rows.Phi_q.T @ model.lam_of(x)).reshape(-1, 6)
    own[1:] += carried
    w = state.omega_bar
    inertial = np.hstack([model.mass[:, None] * model.gravity, -cross(w, np.einsum("kij,kj->ki", model.J_bar, w))])
    largest = max(np.abs(inertial).max(), np.abs(carried).max(initial=0.0))  # both cancel: rounding of either is no friction
    return own - inertial, float(largest * np.abs(np.hstack([state.v, w])).max())


def _ledger(model: Model, state: State) -> EnergyLedger:
    """Return the ledger of the element at a state."""
    return next(iter(load_ledger(model, [state.t], state.y[None]).values()))
