r"""Evaluation of a model at nearby poses: rows, and the balance of forces in the steady motion.

x = (dr / L, dpi_bar)            L a length of the model: turns and displacements are measured alike
q (+) x:   r <- r + L dr,   p <- p exp(dpi_bar)
force = L-scaled  Q(q, u, z) - M bias(q, u)       u the velocities of the steady motion, and any relative to it;  z: states of blocks
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.assembly.constraint_system import matrix, unit_rows
from haugmbd.analysis.assembly.regularized_least_squares import Matrix
from haugmbd.analysis.equilibrium.block_states import BlockStates, block_states, count_turns, rates_of
from haugmbd.analysis.equilibrium.steady_motion import Steady, bias, velocities
from haugmbd.analysis.equilibrium.tree_equations import Tree, tree_of
from haugmbd.analysis.initial_model import follow_angles, start_of
from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.graph import bridges, spanning_tree
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_kernels import normalize, rotate_by
from haugmbd.math.euler_parameters import exponential, normalized, product, rotation_matrix
from haugmbd.model.evaluate import evaluate_rows, prepare, rows_entry
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.given import no_model, no_tolerance
from haugmbd.model.inspection.run_memory import need_constant_masses, need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.system import System
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

SPRINGS = 5.0
"""Largest ratio of L and the shortest spring, so that differences in L are accurate."""

LARGE_TREE = 10_000
"""Entries of Phi_q from which on those of a tree are eliminated from the leaves to the root."""

SMALL_TURN = 1e-4
"""[rad] Below it the square of an angle is lost beside 1 in the series of a screw: the error is below rounding of a step."""


class ResidualEvaluator(NamedTuple):
    """Evaluator of a model at nearby poses.

    length: L [m];  scale: (6 nb,) L and 1;  kept: (nk,) numbers of the kept rows;  pairs: (nc, 2) bodies of each row
    states: z, those of the blocks
    """

    model: Model
    pack: Pack
    steady: Steady
    t: float
    length: float
    scale: Array
    kept: Ints
    pairs: Ints
    states: BlockStates

    @property
    def tree(self) -> Tree | None:
        """The tree of a large model whose joints close no loop, see `tree_equations`; None for others."""
        return tree_of(self.model) if 6 * self.model.nb * self.model.nc > LARGE_TREE and not len(self.states.columns) else None


class Residual(NamedTuple):
    """Rows and forces at one pose, of the kept rows.

    Phi, nu: (nk,);  J: (nk, 6 nb) Phi_q, columns times `scale`, sparse if it is large;  by_bodies: (nk, sides, 6) the same
    force: (6 nb,) (Q - M bias) times `scale` [J];  rates: (ns,) z'
    """

    Phi: Array
    nu: Array
    J: Matrix
    force: Array
    rates: Array
    by_bodies: Array


def read_model(system: System | Model, state: State | None, who: str, tolerance: float | None = None) -> tuple[Model, State]:
    """Return the model and the initial state. Raise UsageError or ModelError, which names the function `who`, if they are not valid."""
    if not isinstance(system, System | Model):
        raise no_model(system, who)
    if isinstance(system, Model):
        no_tolerance(tolerance)
        return system, start_of(system, state)
    model = system.compile(tolerance=tolerance)
    return model, start_of(model, state)


def make_residual_evaluator(model: Model, steady: Steady, start: State) -> ResidualEvaluator:
    """Return the evaluator of a model in a steady motion, at the time of a state. Raise UsageError for states that it cannot solve for."""
    pack = model.pack()
    rows_entry(pack, 0.0, model.y0.copy())
    model.raise_user_error(pack)
    length = _length(model, _by_rows(model, pack))
    scale = np.tile([length] * 3 + [1.0] * 3, model.nb)
    kept = np.setdiff1d(np.arange(model.nc), np.array(model.redundancy.dropped, dtype=np.int64))
    need_constant_masses(model, "an equilibrium")
    need_no_freewheels(model, "an equilibrium")
    states = block_states(model, start.y)
    return ResidualEvaluator(model, pack, steady, start.t, length, scale, kept, model.bodies_of_rows(), states)


def _length(model: Model, J: Array) -> float:
    """Return L [m]: the typical distance of joints from centres of mass, or between bodies, limited by the shortest spring."""
    force, moment = np.linalg.norm(J[:, :, :3], axis=2), np.linalg.norm(J[:, :, 3:], axis=2)
    pulls = (force > 0.0) & (moment > 0.0)
    spread = float(np.linalg.norm(np.ptp(model.state().r, axis=0)))
    length = float(np.sqrt(np.mean(np.square(moment[pulls] / force[pulls])))) if pulls.any() else spread or 1.0
    springs = [entry.load.modelled_length for entry in model.loads]
    return min(length, SPRINGS * min((x for x in springs if x > 0.0), default=np.inf))


def evaluate_residual(evaluator: ResidualEvaluator, y: Array, u: Array | None = None, t: float | None = None) -> Residual:
    """Return rows and balance at the poses of y, with relative velocities u (nb + 1, 6) (by default zero)."""
    model, kept = evaluator.model, evaluator.kept
    force = _force(evaluator, y, u, t)
    J = _by_rows(model, evaluator.pack)[kept] * ([evaluator.length] * 3 + [1.0] * 3)
    level = workspace_array(evaluator.pack, "LEVEL")[model.slot_of_row]
    rates = rates_of(evaluator.states, evaluator.pack)
    rows = matrix(J, evaluator.pairs[kept], model.nb)
    return Residual(level[kept, 0], level[kept, 1], rows, force[1:].ravel() * evaluator.scale, rates, J)


def kept_rows(evaluator: ResidualEvaluator, y: Array) -> tuple[Array, Matrix]:
    """Return Phi (nk,) and Phi_q (nk, 6 nb) of the kept rows at the poses of y, each divided by the length of its gradient."""
    model, kept = evaluator.model, evaluator.kept
    _force(evaluator, y, None, None)
    J = _by_rows(model, evaluator.pack)[kept] * ([evaluator.length] * 3 + [1.0] * 3)
    rows, length = unit_rows(matrix(J, evaluator.pairs[kept], model.nb))
    return workspace_array(evaluator.pack, "LEVEL")[model.slot_of_row[kept], 0] / length, rows


def gaps_in_tree(evaluator: ResidualEvaluator, y: Array) -> tuple[Array, Array]:
    """Return the same with the rows by bodies, (nc, 2, 6)."""
    model = evaluator.model
    _force(evaluator, y, None, None)
    rows, length = unit_rows_of(_by_rows(model, evaluator.pack) * ([evaluator.length] * 3 + [1.0] * 3))
    return workspace_array(evaluator.pack, "LEVEL")[model.slot_of_row, 0] / length, rows


def unit_rows_of(J: Array) -> tuple[Array, Array]:
    """Return rows by bodies (nc, sides, 6) of length 1, and their lengths (nc,), 1 for a row of zeros."""
    length = np.sqrt(np.einsum("rsa,rsa->r", J, J))
    length[length == 0.0] = 1.0
    return J / length[:, None, None], length


def force_at(evaluator: ResidualEvaluator, y: Array, u: Array) -> Array:
    """Return the force of a `Residual` (6 nb,) with relative velocities u (nb + 1, 6), without its rows."""
    return np.asarray(_force(evaluator, y, u, None)[1:].ravel() * evaluator.scale)


def left_over(evaluator: ResidualEvaluator, y: Array, lam: Array) -> Array:
    """Return force - J^T lam, (6 nb,), with lam (nk,) of the kept rows. The product uses the nonzero entries of each row."""
    left = _force(evaluator, y, None, None)
    carried = _by_rows(evaluator.model, evaluator.pack)[evaluator.kept] * lam[:, None, None]
    places = 6 * evaluator.pairs[evaluator.kept][:, :, None] + np.arange(6)
    left -= np.bincount(places.ravel(), carried.ravel(), left.size).reshape(left.shape)
    return np.asarray(left[1:].ravel() * evaluator.scale)


@kernel
def left_of(P: Pack, t: float, here: Array, scale: Array, lam: Array, out: Array) -> None:
    """Write force - J^T lam at the state `here` to out (nb, 6), for bodies that do not turn;  lam: (6 ne,) by slots, those of rows"""
    J, edges, Q, n = ws.jacobian(P), ws.edges(P), ws.generalized_forces(P), ws.n_bodies(P)
    prepare(P, t, here)
    # Q - J^T lam
    for body in range(1, n):
        for a in range(6):
            out[body - 1, a] = Q[body, a]
    for slot in range(lam.size):
        if lam[slot] != 0.0:
            for side in range(edges.shape[1]):
                body = edges[slot // 6, side]
                if body > 0:
                    for a in range(6):
                        out[body - 1, a] -= J[slot, side, a] * lam[slot]
    for body in range(1, n):
        for a in range(6):
            out[body - 1, a] *= scale[6 * body - 6 + a]


@kernel
def left_kernel(P: Pack, t: float, y: Array, x: Array, scale: Array, lam: Array, here: Array, out: Array) -> None:
    """Write force - J^T lam at y (+) x to out (nb, 6), for bodies that do not turn.

    lam: (6 ne,) by slots, those of rows;  here: (ny,) room for y (+) x
    """
    n = ws.n_bodies(P)
    # r <- r + L dr,   p <- p exp(dpi_bar)
    copy_line(y, here)
    for body in range(1, n):
        k = WIDTH * body
        for a in range(3):
            here[k + a] += x[6 * body - 6 + a] * scale[6 * body - 6 + a]
        rotate_by(here[k + EULER : k + VELOCITY], x[6 * body - 3 : 6 * body])
        normalize(here[k + EULER : k + VELOCITY])
    left_of(P, t, here, scale, lam, out)


@entry
def left_entry(P: Pack, t: float, y: Array, x: Array, scale: Array, lam: Array, here: Array, out: Array) -> None:
    """Evaluate as `left_kernel` does; called from Python."""
    left_kernel(P, t, y, x, scale, lam, here, out)


class Nearby(NamedTuple):
    """The scale (6 nb,) of motions, lam by slots, and room for a motion (6 nb,) and a state."""

    scale: Array
    lam: Array
    x: Array
    here: Array


@entry
def samples_entry(P: Pack, t: float, y: Array, near: Nearby, colors: Ints, steps: Array, rate: float, out: Array) -> None:
    """Write force - J^T lam to out (n_colors, 6, n_steps, nb, 6), with all bodies of a color moved by each step along each coordinate.

    rate: 0, or that of the motions [1/s], of which the steps are then velocities
    """
    x, scale, lam, here = near.x, near.scale, near.lam, near.here
    for color in range(out.shape[0]):
        for k in range(6):
            for n in range(steps.size):
                for body in range(colors.size):
                    for a in range(6):
                        x[6 * body + a] = steps[n] if a == k and colors[body] == color else 0.0
                if rate == 0.0:
                    left_kernel(P, t, y, x, scale, lam, here, out[color, k, n])
                    continue
                copy_line(y, here)
                for body in range(1, colors.size + 1):
                    for a in range(6):
                        here[WIDTH * body + VELOCITY + a] += rate * x[6 * body - 6 + a] * scale[6 * body - 6 + a]
                for i in range(x.size):
                    x[i] = 0.0
                left_of(P, t, here, scale, lam, out[color, k, n])


left_at, samples_at = DirectCall(left_entry), DirectCall(samples_entry)


def left_nearby(evaluator: ResidualEvaluator, y: Array, lam: Array) -> Callable[[Array], Array]:
    """Return the function `left_over` of poses near y: of x (6 nb,), at y (+) x; in compiled code where no body turns."""
    model, pack = evaluator.model, evaluator.pack
    if evaluator.steady.turns:
        return lambda x: left_over(evaluator, nearby(evaluator, y, x), lam)
    start, of_slots, here = _at_rest(evaluator, y, lam)

    def left(x: Array) -> Array:
        out = np.zeros((model.nb, 6))
        left_at(pack, evaluator.t, start, for_kernels(x), evaluator.scale, of_slots, here, out)
        model.raise_user_error(pack)
        return out.ravel()

    return left


def _at_rest(evaluator: ResidualEvaluator, y: Array, lam: Array) -> tuple[Array, Array, Array]:
    """Return y with the velocities of the steady motion, lam (nk,) by slots, and room for a pose nearby."""
    model, start, of_slots = evaluator.model, y.copy(), np.zeros(6 * len(evaluator.model.tables["EDGES"]))
    bodies = bodies_in(model, start)
    bodies[:, VELOCITY:WIDTH] = velocities(evaluator.steady, bodies, np.zeros((model.nb + 1, 6)))
    of_slots[model.slot_of_row[evaluator.kept]] = lam
    return start, of_slots, np.zeros_like(y)


def sampled(
    evaluator: ResidualEvaluator, tree: Tree, y: Array, steps: Array, *, lam: Array | None = None, rate: float = 0.0
) -> Array:
    """Return forces (n_colors, 6, n_steps, nb, 6) of `left_over` with all bodies of a color moved along each coordinate, at rest.

    lam: (nk,), by default 0;  rate: if it is not 0, the steps are velocities in units of it [1/s]
    """
    model = evaluator.model
    start, of_slots, here = _at_rest(evaluator, y, np.zeros(len(evaluator.kept)) if lam is None else lam)
    out = np.zeros((int(tree.colors.max()) + 1, 6, len(steps), model.nb, 6))
    near = Nearby(evaluator.scale, of_slots, np.zeros(6 * model.nb), here)
    samples_at(evaluator.pack, evaluator.t, start, near, tree.colors, steps, rate, out)
    model.raise_user_error(evaluator.pack)
    return out


def _force(evaluator: ResidualEvaluator, y: Array, u: Array | None, t: float | None) -> Array:
    """Return Q - M bias, (nb + 1, 6), unscaled; the rows at y are then in the workspace."""
    model, pack = evaluator.model, evaluator.pack
    y = y.copy()
    bodies = bodies_in(model, y)
    u = np.zeros((model.nb + 1, 6)) if u is None else u
    bodies[:, VELOCITY:WIDTH] = velocities(evaluator.steady, bodies, u)
    evaluate_rows(pack, float(evaluator.t if t is None else t), y)
    model.raise_user_error(pack)
    if not evaluator.steady.turns:  # no bias
        return workspace_array(pack, "Q").copy()
    return np.asarray(workspace_array(pack, "Q") - inertia_times(model, bias(evaluator.steady, bodies, u)))


def moved(evaluator: ResidualEvaluator, y: Array, x: Array) -> Array:
    """Return y (+) x, with x (6 nb,); integrated angles follow."""
    y = nearby(evaluator, y, x)
    put_angles(evaluator, y)
    return y


def nearby(evaluator: ResidualEvaluator, y: Array, x: Array) -> Array:
    """Return y (+) x for a small x (6 nb,); integrated angles, of which forces and rows read whole turns only, are those of y."""
    y = y.copy()
    bodies, step = bodies_in(evaluator.model, y), (x * evaluator.scale).reshape(-1, 6)
    bodies[1:, :3] += step[:, :3]
    bodies[1:, EULER:VELOCITY] = normalized(product(bodies[1:, EULER:VELOCITY], exponential(step[:, 3:])))
    return y


def moved_along_joints(evaluator: ResidualEvaluator, y: Array, x: Array) -> Array:
    r"""Return y (+) x of a finite motion x (6 nb,): each body goes on with its twist relative to the one it hangs on.

        T_c  <-  G_c T_c,       G_c = G_p exp(xi_c - xi_p)        xi: twists at the global origin, from x

    Lower pairs of a tree, whose relative twist is a screw, stay closed for steps of any size.  Integrated angles follow.
    Source: Murray, Li and Sastry (1994), sec. 3.2, product of exponentials.
    """
    y = y.copy()
    bodies, step = bodies_in(evaluator.model, y), np.vstack([np.zeros(6), (x * evaluator.scale).reshape(-1, 6)])
    parent, free = hung_on(evaluator.model)
    r, p = bodies[:, :3], bodies[:, EULER:VELOCITY]
    turn = np.einsum("kab,kb->ka", rotation_matrix(p), step[:, 3:])
    shift = step[:, :3] - np.cross(turn, r)
    turn, shift = turn - turn[parent], shift - shift[parent]
    q, d = exponential(turn), _shift_of_screw(turn, shift)
    A = rotation_matrix(q)
    straight = r + step[:, :3] - np.einsum("kab,kb->ka", A, r)  # the centre of mass of a body without a joint goes straight on
    d[free] = straight[free]
    while parent.any():  # of each body the product up to its ancestor, in steps that double
        d = d[parent] + np.einsum("kab,kb->ka", rotation_matrix(q[parent]), d)
        q, parent = product(q[parent], q), parent[parent]
    bodies[:, :3] = d + np.einsum("kab,kb->ka", rotation_matrix(q), r)
    bodies[:, EULER:VELOCITY] = normalized(product(q, p))
    put_angles(evaluator, y)
    return y


def _shift_of_screw(turn: Array, shift: Array) -> Array:
    """Return the displacements (n, 3) of the origin by the twists (turn, shift), (n, 3) each, over a unit of time."""
    angle = np.linalg.norm(turn, axis=1)[:, None]
    small = angle < SMALL_TURN
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 0.5, (1.0 - np.cos(safe)) / safe**2)
    second = np.where(small, 1.0 / 6.0, (safe - np.sin(safe)) / safe**3)
    once = np.cross(turn, shift)
    return np.asarray(shift + first * once + second * np.cross(turn, once))


@once_per_model
def hung_on(model: Model) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the body that each one hangs on (nb + 1,), 0 for the ground, by joints that close no loop; and which hang on none.

    Bodies of loops go straight on: a gap that is shared by all joints of a loop is closed to the nearest pose, one that stands at a single
    joint may be closed on another branch.
    """
    pairs = [(joint.i, joint.j) for joint in model.joints.values()]
    edges = [pairs[e] for e in bridges(model.nb + 1, pairs)]
    parent, free = np.zeros(model.nb + 1, dtype=np.int64), np.zeros(model.nb + 1, dtype=np.bool_)
    seen = set[int]()
    for root in range(model.nb + 1):
        if root not in seen:
            tree = spanning_tree(root, edges)
            for body, (_, before, _) in tree.items():
                parent[body] = before if body != root else 0
            free[root] = root > 0
            seen |= tree.keys()
    return parent, free


def put_angles(evaluator: ResidualEvaluator, y: Array) -> None:
    """Write the angles of the poses of y, each in the turn nearest to its last value."""
    model = evaluator.model
    count_turns(evaluator.states, y)
    follow_angles(model, bodies_in(model, y), y[WIDTH * (model.nb + 1) :])


def bodies_in(model: Model, y: Array) -> Array:
    """Return the poses and velocities (nb + 1, 13) in y, as a view."""
    return y[: WIDTH * (model.nb + 1)].reshape(model.nb + 1, WIDTH)


def inertia_times(model: Model, a: Array) -> Array:
    """Return (m v_dot, J_bar omega_bar_dot), (nb + 1, 6)."""
    return np.hstack([model.mass[:, None] * a[:, :3], np.einsum("kab,kb->ka", model.J_bar, a[:, 3:])])


def state_of(evaluator: ResidualEvaluator, y: Array) -> State:
    """Return the state of the poses of y in the steady motion."""
    y = y.copy()
    bodies = bodies_in(evaluator.model, y)
    bodies[:, VELOCITY:WIDTH] = velocities(evaluator.steady, bodies, np.zeros((evaluator.model.nb + 1, 6)))
    return State.from_y(evaluator.t, y, evaluator.model.nb + 1)


def motions_of(evaluator: ResidualEvaluator, X: Array) -> Array:
    """Return the columns of X (6 nb, n) as motions (n, nb + 1, 6): displacements in m, rotations in rad."""
    motions = np.zeros((X.shape[1], evaluator.model.nb + 1, 6))
    motions[:, 1:] = (X * evaluator.scale[:, None]).T.reshape(X.shape[1], evaluator.model.nb, 6)
    return motions


def _by_rows(model: Model, pack: Pack) -> Array:
    """Return Phi_r and PiBar of the bodies of each row, (nc, sides, 6), zero for the ground."""
    J = workspace_array(pack, "J").reshape(-1, model.sides, 6)[model.slot_of_row[:, None], model.sides_of_rows]
    J[model.bodies_of_rows() == 0] = 0.0
    return J
