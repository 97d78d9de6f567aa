r"""Linear systems with inputs and outputs, from derivatives of the states, rates and outputs along the motions that the constraints leave.

    S = (c, c', z)      independent coordinates, their rates, and states of blocks        R = S' = (c', c'', z')        O: the outputs

    along (dq, du, dz), tangent to  Phi_q dq = -dPhi/df f,  Phi_q du = d(nu - Phi_q u):    S, R and O by central differences of sixth order

    dS = L s + l0 f + l1 f'       dR = R_s s + R0 f + R1 f' + R2 f''       A = R_s L^-1     B0 = R0 - A l0,  B1 = R1 - A l1,  B2 = R2
                                  dO = O_s s + O0 f + O1 f' + O2 f''       C = O_s L^-1     D0 = O0 - C l0,  D1 = O1 - C l1,  D2 = O2

Positions need to be closed to first order only, as accelerations, multipliers and outputs are smooth functions of any q and u. About an
equilibrium or a steady motion A is that of the Linearization, which has been checked for kinks; about a state of a motion it is dR.
Source: Haug (2021), tangent space of the constraint manifold; Masarati et al. (2011), linearized constrained dynamics along a motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.analysis.assembly.regularized_least_squares import dense
from haugmbd.analysis.equilibrium.residual import (
    ResidualEvaluator,
    bodies_in,
    evaluate_residual,
    make_residual_evaluator,
    moved,
    put_angles,
)
from haugmbd.analysis.equilibrium.small_motions.input_signals import Input, Offsets, Opened, opened, read_inputs
from haugmbd.analysis.equilibrium.small_motions.linearization import Linearization
from haugmbd.analysis.equilibrium.small_motions.state_space import StateSpace
from haugmbd.analysis.equilibrium.steady_check import LATER
from haugmbd.analysis.equilibrium.steady_motion import Steady, later, velocities
from haugmbd.analysis.equilibrium.tangent_space import RANK_TOL, WEIGHTS, H, differentiated, independent_coordinates, tangent
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SingularKKTError, UsageError
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import product
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.named_outputs import Output, Reader, meant_outputs, need_quantity_of_one_state
from haugmbd.simulation.results.result import Result

SIZES = (1.0, 0.1)
"""Two sizes of step, in units of H, whose derivatives must agree."""

AGREE = 1e-5
"""Difference between the two, relative to the derivative, up to which they agree; a kink or a limit nearby is far above."""

NOISE, ROUNDED = 1e-12, 1e-14
"""Rounding of a quantity, relative to its size: up to which two steps need not agree (it is more than that of accelerations and multipliers
of models with a hundred rows), and what counts as zero."""

POINTS: Array = np.array([k for size in SIZES for j in range(1, len(WEIGHTS) + 1) for k in (size * j, -size * j)])

EFFORT = 0.1
"""Offset of a force, relative to the forces at work: the derivative by it is exact, and a large step keeps its digits."""

NO_PART = 1e-9
"""Part of an output, or of the rates, that follows f' or f'' at once, in units of the rate of the motion, which is rounding."""

INDEPENDENT = 1e-6
"""Smallest singular value of the gradients of coordinates, relative to the largest, at which they determine the motion."""

ACCELERATION = 2
"""Order of an input that is the acceleration of a motion."""


class Direction(NamedTuple):
    """A direction: displacement (6 nb,) in L and rad, velocities (nb + 1, 6) in SI units, states of blocks (ns,); and its step."""

    x: Array
    u: Array
    z: Array
    step: float


class Read(NamedTuple):
    """Quantities of n states: S and R in the coordinates, and O (n, no)."""

    S: Array
    R: Array
    O: Array


class Opening(NamedTuple):
    """What is evaluated: a model with offsets at one state.

    y: the flat state;  u: (nb + 1, 6) velocities, relative to the steady motion of the evaluator
    frame: reads coordinates;  outputs: what is read;  floors: (no,) sizes of outputs whose digits are rounding: forces at work, ...
    """

    model: Model
    evaluator: ResidualEvaluator
    offsets: Offsets
    y: Array
    u: Array
    t: float
    frame: Frame
    outputs: tuple[Output, ...]
    floors: Array

    @property
    def state(self) -> State:
        """The state."""
        return State.from_y(self.t, self.y, self.model.nb + 1)

    @property
    def rate(self) -> float:
        """The size of velocities [1/s]: that of the motion, at least 1."""
        u = bodies_in(self.model, self.y)[1:, VELOCITY:WIDTH].ravel()
        return max(1.0, float(np.abs(u / self.evaluator.scale).max(initial=0.0)))

    @property
    def still(self) -> Direction:
        """No direction."""
        return Direction(np.zeros(6 * self.model.nb), np.zeros_like(self.u), np.zeros(len(self.evaluator.states.columns)), 1.0)

    def result(self, Y: Array, t: float | None = None) -> Result:
        """Return the quantities of states (n, ny) by name."""
        return Result(self.model, np.full(len(Y), self.t if t is None else t), Y)


Frame = Callable[[Opening, Array, Result], tuple[Array, Array]]
"""frame(opening, Y, result) -> (c, c') and (c', c'') of n states, each (n, 2 nd)."""


def state_space(
    model: Model, state: State, motions: Linearization | None, inputs: Any, outputs: Any, coordinates: Any
) -> StateSpace:
    """Return the linear system about a state; motions: of an equilibrium or a steady motion, None for a state of a motion."""
    read = read_inputs(model, () if inputs is None else inputs)
    _refuse(model, motions, read, coordinates)
    free = opened(model, state, read)
    opening = _opening(model, free, motions, outputs)
    evaluator = opening.evaluator
    # coordinates along the motions that the constraints leave, and derivatives along these
    basis, chosen, names = _basis(opening, motions)
    frame, names = _frame(opening, chosen, names, coordinates)
    opening = opening._replace(frame=frame, floors=_floors(opening))
    states = _state_directions(opening, basis, motions)
    of_states, outputs0 = _along(opening, states)
    A, L = _state_matrix(of_states, motions, coordinates, basis.shape[1])
    C = _solved(of_states.O, L)
    if motions is not None and motions.steady.moves:
        _check_constant(opening, states, of_states.O)
    # what each input adds
    columns = [_column(opening, k, signal, basis, (A, C), motions) for k, signal in enumerate(read)]
    of_state = (*names, *_names_of_rates(names, motions), *evaluator.states.names)
    if outputs is None:
        C, outputs0 = np.eye(len(A)), np.zeros(len(A))
        none = (np.zeros(len(A)), np.zeros(len(A)), np.zeros(len(A)))
        columns = [Column(column.B, none) for column in columns]
    system = _assembled(A, C, read, columns, opening.rate)
    return StateSpace(
        system.A,
        system.B,
        system.C,
        system.D,
        tuple(signal.name for signal in read),
        of_state if outputs is None else tuple(quantity.text for quantity in opening.outputs),
        (*of_state, *system.added),
        free.values,
        outputs0,
        model,
        state,
        motions,
        system.D_rate,
        system.D_acceleration,
    )


def _read_outputs(model: Model, free: Opened, outputs: Any) -> tuple[Output, ...]:
    """Return the outputs of names. Raise UsageError for those that need more than one state."""
    result = Result(free.model, np.array([free.state.t]), free.state.y.copy()[None])
    quantities = () if outputs is None else meant_outputs(Reader(result), free.model, outputs)
    for quantity in quantities:
        need_quantity_of_one_state(model, quantity.kind, quantity.what, quantity.text)
    return quantities


def _opening(model: Model, free: Opened, motions: Linearization | None, outputs: Any) -> Opening:
    """Return what is evaluated at the state; its frame and floors are not known yet."""
    steady = _at_rest(free.model) if motions is None else motions.steady
    evaluator, y = make_residual_evaluator(free.model, steady, free.state), free.state.y.copy()
    u = np.zeros((model.nb + 1, 6)) if motions is not None else bodies_in(free.model, y)[:, VELOCITY:WIDTH].copy()
    quantities = _read_outputs(model, free, outputs)
    frame = _frame_of_bodies(np.zeros(0, int))
    return Opening(free.model, evaluator, free.offsets, y, u, free.state.t, frame, quantities, np.zeros(0))


def _at_rest(model: Model) -> Steady:
    """Return the steady motion in which nothing moves."""
    return Steady(np.zeros(3), np.zeros(3), np.zeros((model.nb + 1, 3)), np.zeros(3))


def _refuse(model: Model, motions: Linearization | None, inputs: Sequence[Input], coordinates: Any) -> None:
    """Raise UsageError for what has no linear system yet, by name."""
    drives = [signal.name for signal in inputs if signal.kind == "driver"]
    if len(model.velocity_rows) and (motions is None or drives or coordinates is not None):
        what = (
            f"the motion {drives[0]!r} as an input" if drives else "coordinates=" if motions is not None else "a state of a motion"
        )
        raise UsageError(f"{what} is not there for mechanisms that roll: linearize about a balance, with loads as inputs.")
    if drives and motions is not None and motions.steady.turns:
        raise UsageError(
            f"input {drives[0]!r} is a motion, and the steady motion turns: linearize the state as one of a motion, moving=True."
        )
    released = [signal.name for signal in inputs if signal.kind == "released"]
    if released and motions is not None:
        raise UsageError(
            f"input {released[0]!r} is the force of a driver, which is released about a state of a motion only: give moving=True or a "
            f"Result; {released[0].rpartition('.')[0]!r} is its motion."
        )


def _floors(opening: Opening) -> Array:
    """Return the sizes of outputs whose digits are rounding: of forces those at work, of accelerations the largest, else 1."""
    model, result = opening.model, opening.result(opening.y[None])
    force = float(np.abs(evaluate_residual(opening.evaluator, opening.y, opening.u).force).max(initial=0.0))
    a = max(
        float(np.linalg.norm(model.gravity)),
        float(np.abs(result.v_dot).max(initial=0.0)),
        float(np.abs(result.omega_bar_dot).max()),
    )
    force = max(force, float(model.mass.max(initial=0.0)) * a * max(1.0, opening.evaluator.length))
    sizes = {"reaction": force, "load": force, "driver": force, "energy": force}
    return np.array(
        [a if quantity.what in ("a", "acceleration", "v_dot") else sizes.get(quantity.kind, 1.0) for quantity in opening.outputs]
    )


# ----------------------------------------------------------------------------------------------------------------- coordinates


def _basis(opening: Opening, motions: Linearization | None) -> tuple[Array, Ints, tuple[str, ...]]:
    """Return the tangent basis (6 nb, np) in L and rad, in coordinates that are its rows `chosen`, and their names."""
    evaluator = opening.evaluator
    if motions is not None:
        X = motions.basis[:, 1:].reshape(len(motions.basis), -1).T / evaluator.scale[:, None]
        return X, np.array(motions._chosen, dtype=np.int64), motions.coordinates
    at = tangent(evaluate_residual(evaluator, opening.y, opening.u))
    if at.weakest < RANK_TOL:
        raise SingularKKTError(
            f"the pose at t = {opening.t:g} s is singular: the constraints have no tangent space.", opening.state
        )
    T, names, chosen = independent_coordinates(evaluator, at.N)
    return at.N @ T, chosen, names


def _frame(opening: Opening, chosen: Ints, names: tuple[str, ...], coordinates: Any) -> tuple[Frame, tuple[str, ...]]:
    """Return how coordinates are read: components of bodies, or coordinates of joints by name."""
    if coordinates is None:
        return _frame_of_bodies(chosen), names
    nd, triples = len(names), list[tuple[Output, Output, Output]]()
    read = meant_outputs(Reader(opening.result(opening.y[None])), opening.model, coordinates) if nd or coordinates else ()
    if len(read) != nd:
        raise UsageError(
            f"coordinates has {len(read)} names, and the mechanism has {nd} degrees of freedom here: give that many, which determine it."
        )
    for coordinate in read:
        if coordinate.kind == "joint" and coordinate.what in ("angle", "displacement"):
            triples.append((coordinate, coordinate._replace(what="rate"), coordinate._replace(what="acceleration")))
        elif coordinate.kind in ("body", "point") and coordinate.what == "r":
            triples.append((coordinate, coordinate._replace(what="v"), coordinate._replace(what="a")))
        else:
            raise UsageError(
                f"coordinate {coordinate.text!r} must be of a joint, 'pin.angle' or 'rail.displacement', or of a body, 'bob.r[0]'."
            )
    rows = [item for kind in zip(*triples, strict=True) for item in kind]

    def frame(opening: Opening, Y: Array, result: Result) -> tuple[Array, Array]:
        reader = Reader(result)
        values = np.array([reader.values(coordinate) for coordinate in rows]).reshape(3 * nd, len(Y)).T
        return values[:, : 2 * nd], values[:, nd:]

    return frame, tuple(coordinate.text for coordinate in read)


def _frame_of_bodies(chosen: Ints) -> Frame:
    r"""Return how displacements [m] and rotations [rad] of bodies from the state are read.

    A = A0 exp(xi):   xi' = d omega_bar + xi x omega_bar_0     to first order
    """

    def frame(opening: Opening, Y: Array, result: Result) -> tuple[Array, Array]:
        n = opening.model.nb + 1
        start, bodies = bodies_in(opening.model, opening.y), Y[:, : WIDTH * n].reshape(len(Y), n, WIDTH)
        back, p = start[:, EULER:VELOCITY] * [1.0, -1.0, -1.0, -1.0], bodies[:, :, EULER:VELOCITY]
        turn = product(np.broadcast_to(back, p.shape), p)
        rotation = 2.0 * turn[..., 1:] * np.sign(turn[..., :1])
        displacement = np.concatenate([bodies[:, :, :EULER] - start[:, :EULER], rotation], axis=2)
        u = bodies[:, :, VELOCITY:WIDTH] - start[:, VELOCITY:WIDTH]
        carried = np.cross(rotation, np.broadcast_to(start[:, OMEGA_BAR:WIDTH], rotation.shape))
        rate = u + np.concatenate([np.zeros_like(carried), carried], axis=2)
        u_dot = np.concatenate([result.v_dot, result.omega_bar_dot], axis=2)
        c, c_u, c_rate, c_dot = (part[:, 1:].reshape(len(Y), -1)[:, chosen] for part in (displacement, u, rate, u_dot))
        return np.hstack([c, c_u]), np.hstack([c_rate, c_dot])

    return frame


def _names_of_rates(names: tuple[str, ...], motions: Linearization | None) -> tuple[str, ...]:
    """Return the names of y: the rates of the coordinates, or of some of them with velocity rows."""
    if motions is not None and motions.N is not None:
        unit = np.eye(motions.N.shape[1])
        names = tuple(names[int(np.argmin(np.abs(motions.N - row).sum(axis=1)))] for row in unit)
    return tuple(f"rate of {name}" for name in names)


# ----------------------------------------------------------------------------------------------------------------- derivatives


def _states(opening: Opening, direction: Direction, sizes: Array, y: Array | None = None) -> Array:
    """Return the flat states (n, ny) at these steps along a direction, from y (by default that of the opening)."""
    evaluator, states = opening.evaluator, []
    y = opening.y if y is None else y
    for size in sizes:
        there = moved(evaluator, y, size * direction.x) if direction.x.any() else y.copy()
        bodies = bodies_in(opening.model, there)
        bodies[:, VELOCITY:WIDTH] = velocities(evaluator.steady, bodies, opening.u + size * direction.u)
        there[evaluator.states.columns] += size * direction.z
        states.append(there)
    return np.array(states)


def _read(opening: Opening, Y: Array, t: float | None = None) -> Read:
    """Return the quantities at the states Y (n, ny)."""
    result = opening.result(Y, t)
    c, c_dot = opening.frame(opening, Y, result)
    columns = opening.evaluator.states.columns
    rates = np.zeros((len(Y), 0))
    if len(columns):
        rest = opening.evaluator._replace(steady=_at_rest(opening.model))
        u = [bodies_in(opening.model, y)[:, VELOCITY:WIDTH].copy() for y in Y]
        rates = np.array([evaluate_residual(rest, y, v, t).rates for y, v in zip(Y, u, strict=True)])
    reader = Reader(result)
    values = np.array([reader.values(quantity) for quantity in opening.outputs]).reshape(len(opening.outputs), len(Y))
    return Read(np.hstack([c, Y[:, columns]]), np.hstack([c_dot, rates]), values.T)


def _slopes(opening: Opening, read: Read, step: float, what: str) -> Read:
    """Return dS, dR, dO of the states at POINTS, whose two sizes of step must agree; what is rounding is zero."""
    found = []
    for name, values in zip(Read._fields, read, strict=True):
        by_size = values.reshape(len(SIZES), len(WEIGHTS), 2, -1)
        slopes = np.einsum("k,skn->sn", WEIGHTS, by_size[:, :, 0] - by_size[:, :, 1]) / (H * step * np.array(SIZES)[:, None])
        size = np.abs(values).max(axis=0, initial=0.0)
        size = (
            np.maximum(size.max(initial=0.0), opening.rate**2)
            if name == "R"
            else np.maximum(size, opening.floors)
            if name == "O"
            else size
        )
        change, rounding = np.abs(slopes[0] - slopes[1]), NOISE * size / (H * step)
        bad = np.flatnonzero(change > AGREE * np.abs(slopes).max(axis=0) + rounding / SIZES[1])
        if len(bad) and name != "S":
            of = f"output {opening.outputs[int(bad[0])].text!r}" if name == "O" else "the acceleration"
            raise UsageError(
                f"{of} is not smooth in {what}: differences with two steps give {slopes[0][bad[0]]:.6g} and {slopes[1][bad[0]]:.6g}. There "
                "is no linearization: start from another state, or simulate."
            )
        found.append(np.where(np.abs(slopes[0]) > ROUNDED * size / (H * step), slopes[0], 0.0))
    return Read(*found)


def _along(opening: Opening, directions: Sequence[Direction]) -> tuple[Read, Array]:
    """Return dS, dR, dO along directions as columns, and the outputs at the state itself."""
    n = len(POINTS)
    Y = [opening.y[None], *(_states(opening, d, H * d.step * POINTS) for d in directions)]
    read = _read(opening, np.concatenate(Y))
    columns = [
        _slopes(opening, Read(*(part[1 + k * n : 1 + (k + 1) * n] for part in read)), d.step, "the motion of the mechanism")
        for k, d in enumerate(directions)
    ]
    if not columns:
        return Read(*(np.zeros((part.shape[1], 0)) for part in read)), read.O[0]
    return Read(*(np.array(part).T for part in zip(*columns, strict=True))), read.O[0]


def _state_directions(opening: Opening, basis: Array, motions: Linearization | None) -> list[Direction]:
    """Return the directions of x, of y and of z."""
    evaluator, none = opening.evaluator, opening.still
    N = np.eye(basis.shape[1]) if motions is None or motions.N is None else motions.N
    G = np.zeros((len(N), len(N))) if motions is None or motions.G is None else motions.G
    directions = list[Direction]()
    for k, x in enumerate(basis.T):
        u = _velocity(evaluator, basis @ G[:, k]) if motions is not None else _turning_velocity(opening, x)
        directions.append(none._replace(x=x, u=u, step=1.0 / np.abs(x).max()))
    for column in N.T:
        w: Array = basis @ column
        directions.append(none._replace(u=_velocity(evaluator, w), step=opening.rate / np.abs(w).max()))
    for k, typical in enumerate(evaluator.states.typical):
        directions.append(none._replace(z=np.eye(len(none.z))[k], step=float(typical)))
    return directions


def _velocity(evaluator: ResidualEvaluator, w: Array) -> Array:
    """Return (6 nb,) in L/s and rad/s as velocities (nb + 1, 6) in SI units."""
    return np.vstack([np.zeros(6), (w * evaluator.scale).reshape(-1, 6)])


def _turning_velocity(opening: Opening, x: Array, offset: tuple[int, float] | None = None) -> Array:
    """Return du (nb + 1, 6) of a displacement x (6 nb,):  Phi_q du = d(nu - Phi_q u);  offset: number of a motion, and its part of x."""
    evaluator, U = opening.evaluator, opening.u[1:].ravel() / opening.evaluator.scale
    if not U.any():
        return np.zeros_like(opening.u)
    jets = opening.offsets.jets

    def slip(h: float) -> Array:
        if offset is not None:
            jets[offset[0], 0] = h * offset[1]
        there = evaluate_residual(evaluator, moved(evaluator, opening.y, h * x), opening.u)
        if offset is not None:
            jets[offset[0], 0] = 0.0
        return np.asarray(there.J @ U - there.nu)

    J = dense(evaluate_residual(evaluator, opening.y, opening.u).J)
    found: Array = np.asarray(np.linalg.lstsq(J, -differentiated(slip), rcond=None)[0], dtype=np.float64)
    return _velocity(evaluator, found)


def _state_matrix(of_states: Read, motions: Linearization | None, coordinates: Any, nd: int) -> tuple[Array, Array]:
    """Return A, and L = dS/ds. Raise UsageError if the coordinates do not determine the motion."""
    if motions is not None and coordinates is None:
        return motions.A, np.eye(len(motions.A))
    L = of_states.S
    s = np.linalg.svd(L[:nd, :nd], compute_uv=False)
    if len(s) and s[-1] < INDEPENDENT * s[0]:
        raise UsageError(
            f"the coordinates {coordinates!r} do not determine the motion at this pose (smallest singular value of their gradients "
            f"{s[-1]:.1e} of {s[0]:.1e}): take others."
        )
    return _solved(of_states.R, L), L


def _solved(X: Array, L: Array) -> Array:
    """Return X L^-1."""
    return np.asarray(np.linalg.solve(L.T, X.T).T) if len(L) else X


# ----------------------------------------------------------------------------------------------------------------- inputs


class Column(NamedTuple):
    """What an input adds: to the rates B0 f + B1 f' + B2 f'', to the outputs D0 f + D1 f' + D2 f''; a force is an f without rates."""

    B: tuple[Array, Array, Array]
    D: tuple[Array, Array, Array]


class Matrices(NamedTuple):
    """A linear system with inputs;  added: names of states that are motions and their rates."""

    A: Array
    B: Array
    C: Array
    D: Array
    D_rate: Array
    D_acceleration: Array
    added: tuple[str, ...]


def _assembled(A: Array, C: Array, inputs: Sequence[Input], columns: Sequence[Column], rate: float) -> Matrices:
    """Return the system. A motion that enters by its rate or acceleration is a state; states are shifted, see `state_space`.

    rate: of motions, in whose unit a part of a column is rounding
    """
    added, n, no = list[str](), len(A), len(C)
    for signal, column in zip(inputs, columns, strict=True):
        motion = signal.name.rpartition(".")[0]
        for order in range(signal.order):  # f, and f' of an acceleration
            A = np.block([[A, np.zeros((len(A), 1))], [np.zeros((1, len(A) + 1))]])
            C = np.hstack([C, column.D[order][:, None]])
            A[:n, -1] = column.B[order]
            added.append(motion if order == 0 else f"rate of {motion}")
        if signal.order == ACCELERATION:  # the state f has the state f' as its rate
            A[-2, -1] = 1.0
    B, D, row = np.zeros((len(A), len(inputs))), np.zeros((3, no, len(inputs))), n
    for k, (signal, column) in enumerate(zip(inputs, columns, strict=True)):
        entering, direct = np.zeros((3, len(A))), np.zeros((3, no))
        for j in range(signal.order, 3):
            entering[j - signal.order, :n], direct[j - signal.order] = column.B[j], column.D[j]
        if signal.order:
            row += signal.order
            entering[0, row - 1] = 1.0
        B[:, k], D[:, :, k] = _shifted(A, C, entering, direct, rate)
    return Matrices(A, B, C, D[0], D[1], D[2], tuple(added))


def _shifted(A: Array, C: Array, B: Array, D: Array, rate: float) -> tuple[Array, Array]:
    """Return B (n,) and D (3, no) of the states  s - B2 f' - (B1 + A B2) f,  without what is rounding."""
    inner = B[1] + A @ B[2]
    D = np.array([D[0] + C @ inner, D[1] + C @ B[2], D[2]])
    size = np.abs(D) * np.array([1.0, rate, rate * rate])[:, None]
    D[1:][size[1:] <= NO_PART * size.max(axis=0)] = 0.0
    return B[0] + A @ inner, D


def _column(
    opening: Opening, k: int, signal: Input, basis: Array, system: tuple[Array, Array], motions: Linearization | None
) -> Column:
    """Return what an input adds, in the system A, C."""
    if signal.kind == "driver":
        return _of_motion(opening, k, signal, basis, system)
    step, read = _effort_step(opening, signal), []
    for size in POINTS:
        opening.offsets.jets[k, 0] = size * H * step
        now = _read(opening, opening.y[None])
        read.append(now if motions is None or motions.N is None else now._replace(R=_rates_of_rolling(opening, motions)))
    opening.offsets.jets[k, 0] = 0.0
    _, R, O = _slopes(opening, _joined(read), step, f"input {signal.name!r}")
    return Column((R, np.zeros_like(R), np.zeros_like(R)), (O, np.zeros_like(O), np.zeros_like(O)))


def _joined(read: Sequence[Read]) -> Read:
    """Return quantities one after the other."""
    return Read(*map(np.concatenate, zip(*read, strict=True)))


def _rates_of_rolling(opening: Opening, motions: Linearization) -> Array:
    """Return (x', y', z') (1, n) of a mechanism with velocity rows at the state: y' from u_dot = basis (N y' + ...)."""
    result = opening.result(opening.y[None])
    u_dot = np.concatenate([result.v_dot[0, 1:], result.omega_bar_dot[0, 1:]], axis=1).ravel() / opening.evaluator.scale
    X = motions.basis[:, 1:].reshape(len(motions.basis), -1).T / opening.evaluator.scale[:, None]
    assert motions.N is not None
    y_dot = np.linalg.lstsq(X @ motions.N, u_dot, rcond=None)[0]
    rates = evaluate_residual(opening.evaluator, opening.y, opening.u).rates
    return np.concatenate([np.zeros(len(motions.N)), y_dot, rates])[None]


def _effort_step(opening: Opening, signal: Input) -> float:
    """Return the step of an offset: of forces in units of those at work, as the derivative by them is exact; of setpoints 1."""
    if signal.kind in ("setpoint", "output"):
        return 1.0
    model, force = opening.model, evaluate_residual(opening.evaluator, opening.y, opening.u).force
    weight = float(model.mass.max(initial=0.0) * np.linalg.norm(model.gravity)) * opening.evaluator.length
    return EFFORT / H * max(1.0, weight, float(np.abs(force).max(initial=0.0)))


def _of_motion(opening: Opening, k: int, signal: Input, basis: Array, system: tuple[Array, Array]) -> Column:
    """Return what a prescribed motion f adds, with its rates.

    The state follows it: along P, Phi_q P = -dPhi/df, with the coordinates as they are.
    """
    A, C = system
    P = _particular(opening, k, signal, basis)
    rate, none, step = opening.rate, opening.still, 1.0 / max(1.0, float(np.abs(P).max(initial=0.0)))
    directions = (
        none._replace(x=P, u=_turning_velocity(opening, P, (k, 1.0)), step=step),
        none._replace(u=_velocity(opening.evaluator, P), step=step * rate),
        none._replace(step=step * rate * rate),
    )
    slopes = [_moved_along(opening, k, order, d) for order, d in enumerate(directions)]
    B, D = [slope.R - A @ slope.S for slope in slopes], [slope.O - C @ slope.S for slope in slopes]
    return Column((B[0], B[1], B[2]), (D[0], D[1], D[2]))


def _particular(opening: Opening, k: int, signal: Input, basis: Array) -> Array:
    """Return the displacement (6 nb,) by a unit of a motion. Raise UsageError if nothing moves."""
    evaluator, jets = opening.evaluator, opening.offsets.jets

    def open_by(h: float) -> Array:
        jets[k, 0] = h
        Phi = evaluate_residual(evaluator, opening.y, opening.u).Phi
        jets[k, 0] = 0.0
        return np.asarray(Phi)

    slope = differentiated(open_by)
    if not slope.any():
        raise UsageError(f"input {signal.name!r} moves nothing: its row depends on other rows, which hold it.")
    J = dense(evaluate_residual(evaluator, opening.y, opening.u).J)
    P: Array = np.asarray(np.linalg.lstsq(J, -slope, rcond=None)[0], dtype=np.float64)
    if not basis.shape[1]:
        return P
    gradients: Array = np.array([_coordinates_along(opening, x, basis.shape[1]) for x in basis.T]).T
    return np.asarray(P - basis @ np.linalg.solve(gradients, _coordinates_along(opening, P, basis.shape[1])))


def _coordinates_along(opening: Opening, x: Array, nd: int) -> Array:
    """Return dc (nd,) along a displacement x (6 nb,)."""
    d = opening.still._replace(x=x, step=1.0 / max(float(np.abs(x).max()), np.finfo(float).tiny))
    Y = _states(opening, d, H * d.step * POINTS)
    by_size = opening.frame(opening, Y, opening.result(Y))[0][:, :nd].reshape(len(SIZES), len(WEIGHTS), 2, -1)
    return np.asarray(np.einsum("k,kn->n", WEIGHTS, by_size[0, :, 0] - by_size[0, :, 1]) / (H * d.step))


def _moved_along(opening: Opening, k: int, order: int, direction: Direction) -> Read:
    """Return dS, dR, dO by f, f' or f'' of a motion, whose states follow it."""
    read, jets, sizes = [], opening.offsets.jets, H * direction.step * POINTS
    for size, y in zip(sizes, _states(opening, direction, sizes), strict=True):
        jets[k, order] = size
        read.append(_read(opening, y[None]))
    jets[k] = 0.0
    return _slopes(opening, _joined(read), direction.step, "a prescribed motion")


# ----------------------------------------------------------------------------------------------------------------- steady motions


def _check_constant(opening: Opening, states: Sequence[Direction], C: Array) -> None:
    """Raise UsageError if an output depends on how far the steady motion has gone: it has no constant matrix then."""
    if not opening.outputs:
        return
    steady, y = opening.evaluator.steady, opening.y.copy()
    speed = max(float(np.linalg.norm(steady.Omega)), float(np.linalg.norm(steady.own, axis=1).max()))
    tau = LATER[0] / (speed or float(np.linalg.norm(steady.V)) / opening.evaluator.length)
    bodies = bodies_in(opening.model, y)
    bodies[:] = later(steady, bodies, tau)
    put_angles(opening.evaluator, y)
    turned, n = [_carried(d, steady, tau) for d in states], len(POINTS)
    read = _read(opening, np.concatenate([_states(opening, d, H * d.step * POINTS, y) for d in turned]), opening.t + tau)
    for k, d in enumerate(turned):
        O = _slopes(opening, Read(*(part[k * n : (k + 1) * n] for part in read)), d.step, "the motion of the mechanism").O
        allowed = AGREE * np.maximum(np.abs(C).max(axis=1), np.abs(O)) + NOISE * opening.floors / (H * d.step)
        bad = np.flatnonzero(np.abs(O - C[:, k]) > allowed)
        if len(bad):
            raise UsageError(
                f"output {opening.outputs[int(bad[0])].text!r} turns with the steady motion, so that its matrix is not constant: give "
                "outputs that do not, such as coordinates of joints and loads, or linearize states of the motion, moving=True."
            )


def _carried(direction: Direction, steady: Steady, tau: float) -> Direction:
    """Return a direction after a time of the steady motion: global vectors turn with it, those of rotors against their spin."""
    turn = scipy.spatial.transform.Rotation.from_rotvec
    R, spins = turn(tau * steady.Omega), turn(-tau * steady.own[1:])

    def turned(rows: Array) -> Array:
        return np.hstack([R.apply(rows[:, :3]), spins.apply(rows[:, 3:])])

    x = turned(direction.x.reshape(-1, 6)).ravel()
    return direction._replace(x=x, u=np.vstack([np.zeros(6), turned(direction.u[1:])]))
