r"""crosscheck_engine: accelerations of a mechanism at random states, by this package and by another engine.

    state     a random displacement of the bodies, assembled;  velocities: a random motion that the joints allow
    export    the system at that state: all coordinates of the file are zero there
    rates     q' from  J q' = (v, omega)  of all bodies, by least squares
    q''       [M J_c^T; J_c 0] (q'', lam) = (f, -bias_c) with the engine's M, f, J;   J_c: rows of the cut joints

The rows of a cut joint are written from its kind: a point (SJ), a pose (Fixed), a hinge (RJ), a coupling, in the engine's own Jacobians.
Source: Featherstone (2008), ch. 8: closed-loop systems.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.choices import check_flags, is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import AssemblyError, ModelError, UsageError
from haugmbd.formulations.accelerations import accelerations
from haugmbd.joints import CJ, RJ, SJ, TJ, Coupling, Fixed
from haugmbd.math.euler_parameters import cross, exponential, product
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.modelfile.engines import exudyn_engine, mujoco_engine, pinocchio_engine
from haugmbd.modelfile.engines.base import Reduced
from haugmbd.modelfile.engines.report import EngineCheck
from haugmbd.modelfile.files import at_state
from haugmbd.modelfile.parts.joint_loads import value_at
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.system import System

ENGINES: dict[str, ModuleType] = {"mujoco": mujoco_engine, "pinocchio": pinocchio_engine, "exudyn": exudyn_engine}
TOL = 1e-9
"""Largest relative difference allowed: above the rounding of large trees, below the effect of a wrong term."""
MOVED = 0.2
"""Random displacement of bodies: this part of the size of the model, and as many radians; smaller ones where it cannot be assembled."""
TRIES = 8
NULL = 1e-9
"""Singular values of the rows below this part of the largest one are zero."""


@check_keywords
def crosscheck_engine(
    system: System, engine: str, *, states: int = 5, seed: int = 0, tol: float = TOL, progress: bool = False
) -> EngineCheck:
    """Compute accelerations of a mechanism at random states by another engine, too, and compare them body by body.

    Parameters
    ----------
    system : System
        The mechanism, closed at its modelled pose, of parts that the engine's file format can hold (see `write_mjcf`, `write_urdf`);
        Exudyn has no file, and is given RJ, TJ, SJ, CJ, Planar, Fixed, Distance, TSDA and RSDA.
    engine : str
        "mujoco", "pinocchio" or "exudyn"; the package must be installed.
    states : int
        Number of states; the first one is the modelled pose, the others are random.
    seed : int
        Seed of the random states.
    tol : float
        Largest relative difference allowed.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    EngineCheck
        The relative differences by body, and known differences between the engines; print it to read them. After Ctrl-C they are those of
        the states so far, and `interrupted` is set.

    Raises
    ------
    UsageError
        If an argument is not valid, if the engine is not installed, or if no joint moves in Pinocchio.
    ModelFileError
        With all parts of the system that the engine's format cannot hold.
    ModelError
        If the system has faults.

    Notes
    -----
    Loops are closed exactly with the engine's own mass matrix, forces and Jacobians: MuJoCo's constraints are soft, and Pinocchio's loader
    reads none. Exudyn has its own joints in Euler parameters, whose Jacobians are used.
    Source: Featherstone (2008), ch. 8: closed-loop systems.
    """
    if not is_one_of(engine, ENGINES):
        raise UsageError(f"engine is {engine!r}{did_you_mean(str(engine), ENGINES)}; there are {', '.join(map(repr, ENGINES))}.")
    if not isinstance(system, System):
        raise UsageError(f"system is {system!r:.60}, must be a System.")
    if isinstance(states, bool) or not isinstance(states, int) or not 1 <= states <= 1000:
        raise UsageError(f"states is {states!r}, must be a whole number from 1 to 1000.")
    if not (isinstance(tol, float) and 0.0 < tol < np.inf):
        raise UsageError(f"tol is {tol!r}, must be a positive number, such as {TOL:g}.")
    check_flags(progress=progress)
    name = ENGINES[engine].version()
    model, rng = system.compile(), np.random.default_rng(seed)
    worst = {body.name: 0.0 for body in system.bodies[1:]}
    notes: tuple[str, ...] = ()
    done = 0
    with Progress(progress, 0, states, "states") as bar:
        try:
            for number in range(states):
                state = _random_state(model, rng, model.state(), MOVED if number else 0.0, partial(_within_limits, system))
                here = at_state(system, state)
                reduced: Reduced = ENGINES[engine].reduced(here)
                notes = reduced.notes
                worst = {body: max(worst[body], x) for body, x in _differences(here, reduced).items()}
                done += 1
                bar.done()
        except KeyboardInterrupt:
            if not done:
                raise
    return EngineCheck(system.name, name, done, worst, tol, notes, interrupted=done < states)


def _within_limits(system: System, state: State) -> bool:
    """Return whether no JointLimit acts at a state: another engine has its own law of stops."""
    states = {
        body: np.concatenate([x[k] for x in (state.r, state.p, state.v, state.omega_bar)]) for k, body in enumerate(system.bodies)
    }
    ranges = [limited for load in system.loads if (limited := load.joint_range()) is not None]
    return all(each.lower <= value_at(each.coordinate, states) <= each.upper for each in ranges)


def _random_state(
    model: Model, rng: np.random.Generator, start: State, part: float, allowed: Callable[[State], bool] = lambda _: True
) -> State:
    """Return a state that the joints allow: a displaced one, assembled, with a random motion."""
    state = start
    for _ in range(TRIES if part else 0):
        r, p = start.r.copy(), start.p.copy()
        for k in range(1, len(r)):
            r[k] += part * model.length * rng.uniform(-1.0, 1.0, 3)
            p[k] = product(p[k], exponential(part * rng.uniform(-1.0, 1.0, 3)))
        try:
            found = assemble(model, start.replace(r=r, p=p)).state
        except (AssemblyError, ModelError):
            part *= 0.5
            continue
        if allowed(found):
            state = found
            break
        part *= 0.5
    rows = evaluate(model, state).Phi_q.toarray()
    size = 6 * model.nb
    _, values, right = np.linalg.svd(rows.reshape(-1, size), full_matrices=True)
    rank = int(np.count_nonzero(values > NULL * values.max(initial=0.0)))
    free = right[rank:]
    u = (rng.normal(size=len(free)) @ free).reshape(-1, 6) if len(free) else np.zeros((model.nb, 6))
    still = np.zeros((1, 3))
    return state.replace(v=np.vstack([still, u[:, :3]]), omega_bar=np.vstack([still, u[:, 3:]]))


def _differences(system: System, reduced: Reduced) -> dict[str, float]:
    """Return the relative difference of the acceleration of each body."""
    bodies = system.bodies[1:]
    still = np.zeros(reduced.nv)
    J = np.vstack([reduced.motion(still, body.name, body.r)[0] for body in bodies])
    speed = np.concatenate([np.concatenate([body.v, body.A @ body.omega_bar]) for body in bodies])
    rates = np.linalg.lstsq(J, speed, rcond=None)[0]
    rows, bias = _cut_rows(reduced, rates)
    if reduced.constraints is not None:
        more = reduced.constraints(rates)
        rows, bias = np.vstack([rows, more[0]]), np.concatenate([bias, more[1]])
    K = np.block([[reduced.M, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    qdd = np.linalg.lstsq(K, np.concatenate([reduced.forces(rates), -bias]), rcond=None)[0][: reduced.nv]
    found = accelerations(system.compile())
    pairs = {}
    for k, body in enumerate(bodies, start=1):
        own, moving = reduced.motion(rates, body.name, body.r)
        ours = np.concatenate([found.v_dot[k], body.A @ found.omega_bar_dot[k]])
        pairs[body.name] = (own @ qdd + moving, ours)
    scale = max([_natural_size(system), *(float(np.abs(x).max()) for pair in pairs.values() for x in pair)])
    return {name: float(np.abs(a - b).max()) / scale if scale else 0.0 for name, (a, b) in pairs.items()}


def _natural_size(system: System) -> float:
    """Return the size of accelerations by gravity and by the speeds: those of motions without forces may be nothing but rounding."""
    bodies, length = system.bodies[1:], system.compile().length
    rate = max([float(np.linalg.norm(x)) for body in bodies for x in (body.omega_bar, body.v / length)], default=0.0)
    return max(float(np.linalg.norm(system.gravity)), rate**2 * length, rate**2)


def _cut_rows(reduced: Reduced, rates: Array) -> tuple[Array, Array]:
    """Return J_c and bias_c of the joints outside of the tree."""
    rows, bias = [np.zeros((0, reduced.nv))], [np.zeros(0)]
    for joint in reduced.cut:
        if isinstance(joint, Coupling):
            row, rest = _coupling_row(reduced, rates, joint)
            rows.append(row)
            bias.append(rest)
            continue
        P = joint.frame_i.point
        ends = [_end(reduced, rates, body, P) for body in (joint.i, joint.j)]
        J, b = ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]
        w_i, w_rel = ends[0][0][3:] @ rates, J[3:] @ rates
        b[3:] -= cross(w_i, w_rel)  # the change of the relative angular velocity as seen from body i
        kept = _kept(joint)
        rows.append(kept @ J)
        bias.append(kept @ b)
    return np.vstack(rows), np.concatenate(bias)


def _coupling_row(reduced: Reduced, rates: Array, coupling: Coupling) -> tuple[Array, Array]:
    """Return the row and bias of sum c_k q_k: of a hinge h . omega_rel, of a slide h . v_rel at one point of both bodies.

    Both have no further term: the rate of h is normal to h, along which the relative motion is.
    """
    row, bias = np.zeros((1, reduced.nv)), np.zeros(1)
    for coordinate, c in coupling.terms:
        joint = coordinate.joint
        if type(joint) not in (RJ, TJ, CJ):
            raise UsageError(f"joint {coupling.name!r} couples {coordinate.label}; coordinates of RJ, TJ and CJ can be compared.")
        P, h = joint.frame_i.point, joint.frame_i.A[:, 2]
        (J_i, b_i), (J_j, b_j) = (_end(reduced, rates, body, P) for body in (joint.i, joint.j))
        part = slice(3, 6) if coordinate.turns else slice(0, 3)
        row[0] += c * h @ (J_j - J_i)[part]
        bias[0] += c * float(h @ (b_j - b_i)[part])
    return row, bias


def _end(reduced: Reduced, rates: Array, body: object, P: Array) -> tuple[Array, Array]:
    """Return J and bias of a point of a body; zeros for the ground."""
    if getattr(body, "is_ground", False):
        return np.zeros((6, reduced.nv)), np.zeros(6)
    return reduced.motion(rates, str(getattr(body, "name", "")), P)


def _kept(joint: Joint) -> Array:
    """Return the directions that a joint keeps, (n, 6): of its point, and of the rotation. Raise UsageError for other kinds."""
    whole = np.eye(6)
    if type(joint) is SJ:
        return whole[:3]
    if type(joint) is Fixed:
        return whole
    if type(joint) is RJ:
        f, g, _ = joint.frame_i.A.T
        return np.vstack([whole[:3], np.concatenate([np.zeros(3), f]), np.concatenate([np.zeros(3), g])])
    raise UsageError(f"joint {joint.name!r} is a {type(joint).__name__} that closes a loop; SJ, RJ and Fixed can be compared.")
