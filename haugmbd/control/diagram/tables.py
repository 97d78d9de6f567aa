r"""Networks of the library's own blocks as tables, which one compiled function evaluates for all models.

    row      kind, first state, number of states, own output, first and second signal, first number
    numbers  LowPass: tau      TransferFunction: D, a_n ... a_1, C_1 ... C_n      PID: kp, ki, kd, tau, lower, upper, constant setpoint

A network with a block of another class, a function of the user, a sensor or a delay has no tables; see `compiled` and `evaluation`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.function_pointers import F1, F2, I1, I2
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.native_tuples import tuple_pointer
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.compiled.status_codes import OK, USER_STOPPED
from haugmbd.control.block import Block
from haugmbd.control.diagram.compiled import eliminate_plain, output_order
from haugmbd.control.diagram.implicit import DIFFERENCE, ITERATIONS, ROUNDING, SOLVED, STALLED
from haugmbd.control.diagram.network import Network
from haugmbd.control.diagram.switched_rate import switched_rate
from haugmbd.control.joint_signal import measure_with
from haugmbd.control.low_pass import LowPass
from haugmbd.control.pid import PID
from haugmbd.control.sampled import OUT, HeldNumber, Sampled
from haugmbd.control.signals import MEASURED, JointSignal, LoadSignal, OutputSignal
from haugmbd.control.transfer_function import TransferFunction
from haugmbd.drivers.driver import real_or_nan
from haugmbd.workspace.layout import Address

HELD, LAG, CANONICAL, CONTROLLER = range(4)
KIND, FIRST, STATES, OWN, SIGNAL, SECOND, NUMBER = range(7)
"""Columns of a row."""
KP, KI, KD, TAU, LOWER, UPPER, SETPOINT = range(7)
"""Numbers of a PID."""
NONE = -1


class NetworkFields(NamedTuple):
    """A network as arrays.

    joints: (nj, 7) of each joint signal or counted turn: whether it is an angle, three bodies, state that counts its turns, whether its
    rate is meant, signal (NONE for the rate of a turn);  x_bar: (nj, 9);  offset: (nj,)
    loads: (nl, 3) signal, place and quantity of what kernels measure;  rows: (nb, 7) of the blocks, in the order of their outputs
    numbers: their coefficients;  outputs: (no, 2) place in the driver table, signal;  moving: states with a rate
    shape: places and sizes (first place in the driver table, states, signals; numbers of y, lines of what is measured, of the driver table)
    S, rates, gap, other, moved, matrix, X, before: room for signals, rates, residuals, a state, vectors of a joint, and states
    """

    joints: Ints
    x_bar: Array
    offset: Array
    loads: Ints
    rows: Ints
    numbers: Array
    outputs: Ints
    moving: Ints
    shape: Ints
    S: Array
    rates: Array
    gap: Array
    other: Array
    moved: Array
    matrix: Array
    X: Array
    before: Array


class NetworkTables(NetworkFields):
    """NetworkFields that are written to memory for compiled code once."""

    address = Address()

    def with_room(self) -> NetworkTables:
        """Return the same network with room of its own, for another workspace."""
        return self._replace(**{name: np.zeros_like(getattr(self, name)) for name in ROOM})


ROOM = ("S", "rates", "gap", "other", "moved", "matrix", "X", "before")
"""What an evaluation writes."""
NETWORK_TYPE = tuple_pointer("Network")
NETWORK_TYPE.fields |= {
    **dict.fromkeys(("joints", "loads", "rows", "outputs"), I2),
    **dict.fromkeys(("moving", "shape"), I1),
    **dict.fromkeys(("x_bar", "matrix"), F2),
    **dict.fromkeys(("offset", "numbers", "S", "rates", "gap", "other", "moved", "X", "before"), F1),
}
NETWORK_TYPE.fields = {name: NETWORK_TYPE.fields[name] for name in NetworkFields._fields}


@typeof_impl.register(NetworkTables)  # type: ignore[untyped-decorator]
def network_type(tables: NetworkTables, context: Any) -> Any:
    """Return the one type of all networks."""
    return NETWORK_TYPE


def tables_of(network: Network, ny: int, sizes: tuple[int, int] = (0, 0)) -> NetworkTables | None:
    """Return the tables of a network in states of ny numbers; None if only functions can evaluate it.

    sizes: lines of what kernels measure, and of the driver table
    """
    order = output_order(network)
    if (
        order is None
        or network.motions
        or network.masses
        or network.delays
        or network.vectors
        or not all(map(_is_own, network.blocks))
    ):
        return None
    read = {name for names in network.read_by.values() for name in names}
    signals = {name: one for name, one in network.signals.items() if name in read or isinstance(one, OutputSignal)}
    at = {name: k for k, name in enumerate(signals)}
    joints = [(at[name], one) for name, one in signals.items() if isinstance(one, JointSignal)]
    loads = [(at[name], one) for name, one in signals.items() if isinstance(one, LoadSignal)]
    known = (JointSignal, LoadSignal, OutputSignal)
    if not all(isinstance(one, known) for one in signals.values()) or not all(_is_measured(one) for _, one in loads):
        return None
    counted = [*joints, *((NONE, one) for one in network.turning)]
    placed = [network.coordinates[one.coordinate.key] for _, one in counted]
    lines = [[*places.bodies, turn, one.is_rate, k] for (places, turn), (k, one) in zip(placed, counted, strict=True)]
    blocks = {f"{block.name}.{OUT}": block for block in network.blocks}
    rows, numbers = list[list[int]](), list[float]()
    for name in order:
        kind, reads, values = _row_of(blocks[name])
        pair = [*(at[signal] for signal in reads), NONE, NONE][:2]
        rows.append([kind, network.at[blocks[name]], blocks[name].states, at[name], *pair, len(numbers)])
        numbers += values
    moving = np.nonzero(network.integrated)[0].astype(np.int64)
    return NetworkTables(
        _table(lines, 7),
        np.array([places.x_bar for places, _ in placed], dtype=np.float64).reshape(-1, 9),
        np.array([places.offset for places, _ in placed], dtype=np.float64),
        _table([[k, network.entries[one.load.name].signal, MEASURED[one.load.kind].index(one.quantity)] for k, one in loads], 3),
        _table(rows, 7),
        np.array(numbers, dtype=np.float64),
        _table([[place, at[output.label]] for place, output in network.outputs], 2),
        moving,
        np.array([network.place, network.size, len(at), ny, *sizes], dtype=np.int64),
        S=np.zeros(len(at) + 1),
        rates=np.zeros(network.size),
        gap=np.zeros(moving.size),
        other=np.zeros(moving.size),
        moved=np.zeros(ny),
        matrix=np.zeros((moving.size, moving.size)),
        X=np.zeros(18),
        before=np.zeros(network.size),
    )


def _table(rows: list[list[Any]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _is_measured(signal: Any) -> bool:
    """Return whether the kernel of the force element measures the quantity."""
    return signal.quantity in MEASURED.get(signal.load.kind, ())


def _is_own(block: Block) -> bool:
    """Return whether a block is one of the library whose law is here, and not of a class that derives from it."""
    if set(block.outputs) != {OUT}:
        return False
    if type(block) is Sampled:
        return isinstance(block.outputs[OUT], HeldNumber)
    if type(block) is PID:
        return not block.moves
    return type(block) in (LowPass, TransferFunction)


def _row_of(block: Block) -> tuple[int, tuple[str, ...], list[float]]:
    """Return kind, signals and numbers of a block."""
    if isinstance(block, LowPass):
        return LAG, (block.signal,), [block.tau]
    if isinstance(block, TransferFunction):
        return CANONICAL, (block.signal,), [block.through, *block.feedback.tolist(), *block.readout.tolist()]
    if isinstance(block, PID):
        follows = isinstance(block.setpoint, str)
        gains = [block.kp, block.ki, block.kd, block.tau or 1.0, block.lower, block.upper]
        setpoint = 0.0 if follows else real_or_nan(block.setpoint)
        return CONTROLLER, (block.measurement, *((str(block.setpoint),) if follows else ())), [*gains, setpoint]
    return HELD, (), []


measure: Any = kernel(measure_with)
at_switch: Any = kernel(switched_rate)


@kernel
def control_law(row: Ints, numbers: Array, x: Array, S: Array) -> tuple[float, float]:
    """Return error and output of a PID before the limits."""
    at, m = row[NUMBER], S[row[SIGNAL]]
    e = (numbers[at + SETPOINT] if row[SECOND] == NONE else S[row[SECOND]]) - m
    u = numbers[at + KP] * e + numbers[at + KI] * x[0] - numbers[at + KD] * (m - x[1]) / numbers[at + TAU]
    return e, u


@kernel
def output_of(row: Ints, numbers: Array, x: Array, S: Array) -> float:
    """Return the output of a block with the states x."""
    kind, at, n = row[KIND], row[NUMBER], row[STATES]
    if kind == CONTROLLER:
        _, u = control_law(row, numbers, x, S)
        clamped: float = min(max(u, numbers[at + LOWER]), numbers[at + UPPER])
        return clamped
    if kind == CANONICAL:
        out: float = numbers[at] * S[row[SIGNAL]]
        for k in range(n):
            out += numbers[at + 1 + n + k] * x[k]
        return out
    held: float = x[0]
    return held


@kernel
def put_rates(row: Ints, numbers: Array, x: Array, S: Array, lines: Array, rates: Array) -> None:
    """Write the rates of the states of a block; lines: past and c of an implicit step in the last columns, c = 0 if there is none."""
    kind, at, n = row[KIND], row[NUMBER], row[STATES]
    if kind == LAG:
        rates[0] = (S[row[SIGNAL]] - x[0]) / numbers[at]
    elif kind == CANONICAL and n > 0:
        last = S[row[SIGNAL]]
        for k in range(n):
            last -= numbers[at + 1 + k] * x[k]
        for k in range(n - 1):
            rates[k] = x[k + 1]
        rates[n - 1] = last
    elif kind == CONTROLLER:
        e, u = control_law(row, numbers, x, S)
        ki = numbers[at + KI]
        limit = numbers[at + UPPER] if ki * e > 0.0 else numbers[at + LOWER]
        full = (u >= limit and ki * e > 0.0) or (u <= limit and ki * e < 0.0)
        rates[0] = 0.0 if full else e
        if lines[0, 2] > 0.0 and ki != 0.0:
            rates[0] = at_switch(e, x[0] + (limit - u) / ki, lines[0, 1], lines[0, 2])
        rates[1] = (S[row[SIGNAL]] - x[1]) / numbers[at + TAU]


@kernel
def evaluate(N: NetworkTables, y: Array, measured: Array, F: Array) -> None:
    """Write all signals to N.S, and the rates of all states to N.rates."""
    S, rates = N.S, N.rates
    first = y.size - N.shape[1]
    for k in range(N.joints.shape[0]):
        turn = N.joints[k, 4]
        near = y[first + turn] if turn >= 0 else 0.0
        value, rate = measure(N.X, y, N.joints[k], N.x_bar[k], N.offset[k], near)
        if N.joints[k, 6] == NONE:
            rates[turn] = rate
        else:
            S[N.joints[k, 6]] = rate if N.joints[k, 5] == 1 else value
    for k in range(N.loads.shape[0]):
        S[N.loads[k, 0]] = measured[N.loads[k, 1], N.loads[k, 2]]
    for k in range(N.rows.shape[0]):
        row = N.rows[k]
        S[row[OWN]] = output_of(row, N.numbers, y[first + row[FIRST] :], S)
    for k in range(N.rows.shape[0]):
        row = N.rows[k]
        put_rates(row, N.numbers, y[first + row[FIRST] :], S, F[N.shape[0] + row[FIRST] :], rates[row[FIRST] :])


@kernel
def put_gaps(N: NetworkTables, y: Array, measured: Array, F: Array, gap: Array) -> None:
    """Write past + c x' - x of the moving states."""
    evaluate(N, y, measured, F)
    for k in range(N.moving.size):
        line, column = N.shape[0] + N.moving[k], y.size - N.shape[1] + N.moving[k]
        gap[k] = F[line, 1] + F[line, 2] * N.rates[N.moving[k]] - y[column]


@kernel
def solve_states(N: NetworkTables, y: Array, measured: Array, F: Array) -> bool:
    """Write the states of an implicit step to y, by Newton's method (`implicit`); return whether it converges."""
    n, first = N.moving.size, y.size - N.shape[1]
    gap, other, matrix, moved, before = N.gap, N.other, N.matrix, N.moved, np.inf
    for _ in range(ITERATIONS):
        put_gaps(N, y, measured, F, gap)
        for k in range(y.size):
            moved[k] = y[k]
        for k in range(n):
            column = first + N.moving[k]
            step = DIFFERENCE * (1.0 + abs(y[column]))
            moved[column] += step
            put_gaps(N, moved, measured, F, other)
            moved[column] = y[column]
            for row in range(n):
                matrix[row, k] = (gap[row] - other[row]) / step
        eliminate(matrix, gap)
        largest = 0.0
        for k in range(n):
            column = first + N.moving[k]
            y[column] += gap[k]
            change = abs(gap[k]) / (1.0 + abs(y[column]))
            if not change <= largest and largest == largest:
                largest = change
        if largest <= SOLVED or (largest <= ROUNDING and largest > STALLED * before):
            return True
        if not np.isfinite(largest):
            return False
        before = largest
    return False


eliminate: Any = kernel(eliminate_plain)


@kernel
def evaluate_all(N: NetworkTables, y: Array, measured: Array, F: Array) -> int:
    """Evaluate a network at y: write rates and outputs to F; in an implicit step solve for its states first."""
    place, size, n_signals = N.shape[0], N.shape[1], N.shape[2]
    S, rates = N.S, N.rates
    if N.moving.size > 0 and F[place, 2] > 0.0 and not solve_states(N, y, measured, F):
        return USER_STOPPED
    evaluate(N, y, measured, F)
    for k in range(size):
        if not np.isfinite(rates[k]):
            return USER_STOPPED
        F[place + k, 0] = rates[k]
    for k in range(n_signals):
        if not np.isfinite(S[k]):
            return USER_STOPPED
    for k in range(N.outputs.shape[0]):
        F[N.outputs[k, 0], 0] = S[N.outputs[k, 1]]
    return OK


@entry
def evaluate_entry(N: NetworkTables, y: Array, measured: Array, F: Array) -> int:
    """Do what `evaluate_all` does, called from Python."""
    return evaluate_all(N, y, measured, F)


evaluate_direct = DirectCall(evaluate_entry)


def evaluated(tables: NetworkTables, y: Array, measured: Array, F: Array) -> bool:
    """Return whether a network was evaluated; if not, F and y are as before, and the functions say why."""
    before = y[y.size - tables.shape[1] :].copy()
    if evaluate_direct(tables, y, measured, F) == OK:
        return True
    y[y.size - tables.shape[1] :] = before
    return False
