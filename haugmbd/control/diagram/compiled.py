r"""The blocks of a model without Python: one function composed of their @njit functions, in the order of their signals.

    run(t, y, measured, F)          signals S,  outputs in order,  x' to F;  in an implicit step Newton's iteration for x first

A function reads `signals["pin.angle"]` from a record whose fields are the names that it uses. A network with a Python function, a
sensor, a delay, an output that is a vector, or a quantity of a force element that no kernel measures is evaluated in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import counted
from haugmbd.compiled.numba_names import COMPILES, is_jitted, numba, types
from haugmbd.control.block import Block
from haugmbd.control.diagram.implicit import DIFFERENCE, ITERATIONS, ROUNDING, SOLVED, STALLED
from haugmbd.control.diagram.network import Network
from haugmbd.control.diagram.switched_rate import switched_rate
from haugmbd.control.joint_signal import measure_with
from haugmbd.control.signals import MEASURED, DynamicSignal, JointSignal, LoadSignal, OutputSignal

Part = Callable[..., None]


def compilable(network: Network) -> bool:
    """Return whether all blocks can be evaluated without Python, and the user has compiled a function of one.

    Where an engine takes the place of the compiler, Python calls the functions that the user has compiled.
    A process compiles them anew for each model, in some seconds, which a run of blocks of the library alone rarely takes.
    """
    if not COMPILES or not any(map(is_jitted, (function for block in network.blocks for function in block.functions()))):
        return False
    if (
        network.motions
        or network.masses
        or network.delays
        or network.scope.sensors
        or network.vectors
        or output_order(network) is None
    ):
        return False
    for signal in network.signals.values():
        if isinstance(signal, DynamicSignal):
            return False
        if isinstance(signal, LoadSignal) and signal.quantity not in MEASURED.get(signal.load.kind, ()):
            return False
    return all(function is not None for block in network.blocks for function in block.compiled().values())


def output_order(network: Network) -> list[str] | None:
    """Return the outputs in an order in which each needs those before it only; None if the names alone show a loop."""
    needs: dict[str, set[str]] = {}
    for block in network.blocks:
        for output in block.outputs:
            names = network.read_by[block, f"output {output!r}"]
            needs[f"{block.name}.{output}"] = {name for name in names if isinstance(network.signals[name], OutputSignal)}
    order: list[str] = []
    while needs:
        ready = [name for name, others in needs.items() if others.isdisjoint(needs)]
        if not ready:
            return None
        order += ready
        for name in ready:
            del needs[name]
    return order


def compile_network(network: Network) -> Any:
    """Return the compiled function  run(t, y, measured, F)."""
    at = {name: k for k, name in enumerate(network.signals)}
    functions = {block: block.compiled() for block in network.blocks}
    parts: list[Part] = []
    joints = [(name, signal) for name, signal in network.signals.items() if isinstance(signal, JointSignal)]
    turning = [("", signal) for signal in network.turning]
    if joints or turning:
        parts.append(_joint_part(network, at, joints, turning))
    loads = [(at[name], signal) for name, signal in network.signals.items() if isinstance(signal, LoadSignal)]
    if loads:
        parts.append(_load_part(network, loads))
    for name in output_order(network) or ():
        signal = network.signals[name]
        assert isinstance(signal, OutputSignal)
        label = f"output {signal.output!r}"
        parts.append(_output_part(functions[signal.block][label], *_reading(network, at, signal.block, label), at[name]))
    for block in network.blocks:
        if block.derivative is not None:
            parts.append(_rate_part(functions[block]["derivative"], *_reading(network, at, block, "derivative")))
        if block.switch is not None:
            parts.append(_switch_part(functions[block]["switch"], *_reading(network, at, block, "switch"), network.place))
    evaluate = _in_order(parts)
    outputs = np.array([(place, at[output.label]) for place, output in network.outputs], dtype=np.int64).reshape(-1, 2)
    moving = np.nonzero(network.integrated)[0]
    return _runner(evaluate, len(at), network.size, network.place, outputs, moving)


def _nothing(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> None:
    """Evaluate nothing."""


def _in_order(parts: list[Part]) -> Part:
    """Return the compiled function that runs the parts one after another."""
    run: Part = counted(_nothing)
    for part in parts:
        run = _both(run, counted(part))
    return run


def _both(first: Part, second: Part) -> Any:
    """Return a function that runs one part after the other."""

    def both(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> None:
        first(t, y, measured, F, S, rates)
        second(t, y, measured, F, S, rates)

    return counted(both)


def _reading(network: Network, at: dict[str, int], block: Block, label: str) -> tuple[Ints, Any, Ints]:
    """Return the signals that a function reads, the record of their names, and where the block's states are in the network."""
    names = network.read_by[block, label]
    record = np.dtype([(name, np.float64) for name in names]) if names else None
    where = np.array([network.at[block], block.states, network.size], dtype=np.int64)
    return np.array([at[name] for name in names], dtype=np.int64), record, where


def _caller(f: Any, reads: Ints, record: Any, where: Ints) -> Any:
    """Return call(t, y, S) -> f(t, x, signals)."""
    first, n, size = (int(k) for k in where)

    def without(t: float, y: Array, S: Array) -> Any:
        start = y.size - size + first
        return f(t, y[start : start + n].copy(), S)

    if record is None:
        return counted(without)
    width = len(reads)

    def call(t: float, y: Array, S: Array) -> Any:
        values = np.empty(width)
        for k in range(width):
            values[k] = S[reads[k]]
        start = y.size - size + first
        return f(t, y[start : start + n].copy(), values.view(record)[0])

    return counted(call)


def _output_part(f: Any, reads: Ints, record: Any, where: Ints, out: int) -> Part:
    """Return the part that evaluates an output."""
    call = _caller(f, reads, record, where)

    def part(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> None:
        S[out] = call(t, y, S)

    return part


def _rate_part(f: Any, reads: Ints, record: Any, where: Ints) -> Part:
    """Return the part that evaluates a derivative."""
    call = _caller(f, reads, record, where)
    first, n = int(where[0]), int(where[1])

    def part(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> None:
        put_rates(call(t, y, S), rates, first, n)

    return part


def _switch_part(f: Any, reads: Ints, record: Any, where: Ints, place: int) -> Part:
    """Return the part that replaces a rate that jumps by its value in the implicit step, if there is one."""
    call, first = _caller(f, reads, record, where), int(where[0])
    line = place + first

    def part(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> None:
        if F[line, 2] > 0.0:
            e, switch = call(t, y, S)
            rates[first] = at_switch(e, switch, F[line, 1], F[line, 2])

    return part


def put_rates(given: Any, rates: Any, first: Any, n: Any) -> Any:
    """Write a number, or n numbers, to rates[first:]; NaN if there are not n.  For compiled code only."""


@numba.extending.overload(put_rates)  # type: ignore[untyped-decorator]
def _put_rates(given: Any, rates: Any, first: Any, n: Any) -> Any:
    """Return the implementation for a number, or for a sequence."""
    return _put_number if isinstance(given, types.Number | types.Boolean) else _put_sequence


def _put_number(given: Any, rates: Any, first: Any, n: Any) -> Any:
    rates[first] = given if n == 1 else np.nan


def _put_sequence(given: Any, rates: Any, first: Any, n: Any) -> Any:
    right = len(given) == n
    for k in range(n):
        rates[first + k] = given[k] if right else np.nan


def _joint_part(network: Network, at: dict[str, int], joints: list[tuple[str, JointSignal]], turning: list[Any]) -> Part:
    """Return the part that measures coordinates of joints, and writes the rates of the turns that are counted."""
    rows = [*joints, *turning]
    placed = [network.coordinates[signal.coordinate.key] for _, signal in rows]
    bodies = np.array([places.bodies for places, _ in placed], dtype=np.int64)
    x_bar = np.array([places.x_bar for places, _ in placed])
    offsets = np.array([places.offset for places, _ in placed])
    turns = np.array([turn for _, turn in placed], dtype=np.int64)
    which = np.array([int(signal.is_rate) for _, signal in rows], dtype=np.int64)
    out = np.array([at.get(name, -1) for name, _ in rows], dtype=np.int64)
    size, measure = network.size, counted(measure_with)

    def part(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> None:
        X = np.empty(18)
        for k in range(bodies.shape[0]):
            near = y[y.size - size + turns[k]] if turns[k] >= 0 else 0.0
            value, rate = measure(X, y, bodies[k], x_bar[k], offsets[k], near)
            if out[k] >= 0:
                S[out[k]] = rate if which[k] == 1 else value
            else:
                rates[turns[k]] = rate

    return part


def _load_part(network: Network, loads: list[tuple[int, LoadSignal]]) -> Part:
    """Return the part that reads what kernels of force elements have measured."""
    places = np.array(
        [(k, network.entries[signal.load.name].signal, MEASURED[signal.load.kind].index(signal.quantity)) for k, signal in loads],
        dtype=np.int64,
    )

    def part(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> None:
        for k in range(places.shape[0]):
            S[places[k, 0]] = measured[places[k, 1], places[k, 2]]

    return part


def _runner(evaluate: Any, n_signals: int, size: int, place: int, outputs: Ints, moving: Ints) -> Any:
    """Return run(t, y, measured, F)."""
    n = len(moving)

    @counted
    def gaps(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array, gap: Array) -> None:
        evaluate(t, y, measured, F, S, rates)
        for k in range(n):
            line = place + moving[k]
            gap[k] = F[line, 1] + F[line, 2] * rates[moving[k]] - y[y.size - size + moving[k]]

    @counted
    def solve(t: float, y: Array, measured: Array, F: Array, S: Array, rates: Array) -> bool:
        gap, other, before = np.empty(n), np.empty(n), np.inf
        matrix = np.empty((n, n))
        moved = y.copy()
        for _ in range(ITERATIONS):
            gaps(t, y, measured, F, S, rates, gap)
            for k in range(y.size):
                moved[k] = y[k]
            for k in range(n):
                column = y.size - size + moving[k]
                step = DIFFERENCE * (1.0 + abs(y[column]))
                moved[column] += step
                gaps(t, moved, measured, F, S, rates, other)
                moved[column] = y[column]
                for row in range(n):
                    matrix[row, k] = (gap[row] - other[row]) / step
            eliminate(matrix, gap)
            largest = 0.0
            for k in range(n):
                column = y.size - size + moving[k]
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

    @counted
    def run(t: float, y: Array, measured: Array, F: Array) -> None:
        S, rates = np.zeros(n_signals + 1), np.zeros(size)
        good = True
        if n > 0 and F[place, 2] > 0.0:
            good = solve(t, y, measured, F, S, rates)
        evaluate(t, y, measured, F, S, rates)
        for k in range(size):
            F[place + k, 0] = rates[k] if good else np.nan
        for k in range(outputs.shape[0]):
            F[outputs[k, 0], 0] = S[outputs[k, 1]]
        for k in range(n_signals):
            if not np.isfinite(S[k]) and size > 0:
                F[place, 0] = np.nan

    return run


def eliminate_plain(matrix: Array, b: Array) -> None:
    """Solve matrix x = b by elimination with partial pivoting; x replaces b."""
    n = b.size
    for k in range(n):
        p = k
        for row in range(k + 1, n):
            if abs(matrix[row, k]) > abs(matrix[p, k]):
                p = row
        for column in range(n):
            matrix[k, column], matrix[p, column] = matrix[p, column], matrix[k, column]
        b[k], b[p] = b[p], b[k]
        for row in range(k + 1, n):
            factor = matrix[row, k] / matrix[k, k]
            for column in range(k, n):
                matrix[row, column] -= factor * matrix[k, column]
            b[row] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        for column in range(k + 1, n):
            b[k] -= matrix[k, column] * b[column]
        b[k] /= matrix[k, k]


eliminate: Any = counted(eliminate_plain)
at_switch: Any = counted(switched_rate)
