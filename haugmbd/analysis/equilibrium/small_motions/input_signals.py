r"""Inputs of a linear system: places of a model where a number can be added while it is evaluated.

    motor.torque   strut.force   push.force[0]   pull[1]      the prescribed value of a load; a number is added to what prescribes it
    drive   drive.rate   drive.acceleration                    the motion f(t) of a driver, with f' and f''
    drive.torque                                               the driver is released: its coordinate is free, and driven by the torque
                                                               that the motion took
    pid.setpoint   command.u                                   the setpoint of a PID; an output of a block

The model is built once more with functions that add the offsets, in the same bodies and rows, so that its states are those of the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.bodies.part import Part, changed
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT
from haugmbd.control.block import Block
from haugmbd.control.output import BlockOutput
from haugmbd.control.pid import PID
from haugmbd.deprecated import did_you_mean
from haugmbd.diagnostics.histories import driver_names
from haugmbd.drivers import Driver
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.joint_loads.joint_force import JointForce
from haugmbd.forces.user_function import TIME, ReturnedValue, UserFunction, Value, plain_function
from haugmbd.math.body_columns import WIDTH
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.result import Result
from haugmbd.system.rebuilt import rebuilt_model, system_of
from haugmbd.system.system import System

NAME = re.compile(r"(?P<path>.+?)(?P<index>\[(\d+)\])?")
EFFORTS = ("force", "torque", "forces", "actuator", "f", "value")
MOTIONS = {"": 0, "value": 0, "angle": 0, "displacement": 0, "distance": 0, "rate": 1, "velocity": 1, "acceleration": 2}
"""Of a driver: which derivative of f the input is."""
FORMS = "'motor.torque', 'push.force[0]', 'drive' (its motion), 'drive.rate', 'drive.acceleration', 'drive.torque', 'pid.setpoint'"
SETPOINT = "setpoint"


class Input(NamedTuple):
    """One input.

    name: as results tell it;  kind: "load", "driver", "released", "setpoint" or "output";  part: the name of its part
    number: of a vector, or -1;  order: of a motion, 0 f, 1 f', 2 f'';  what: the output of a block, or the quantity
    """

    name: str
    kind: str
    part: str
    number: int = -1
    order: int = 0
    what: str = ""


class Offsets:
    """The numbers that are added, f, f', f'' of each input, and the model with them."""

    def __init__(self, n: int) -> None:
        self.jets = np.zeros((n, 3))

    def adder(self, k: int) -> Callable[[], float]:
        """Return the function that gives the number to add at input k."""
        jets = self.jets
        return lambda: float(jets[k, 0])


class OffsetDriver(Driver):
    """The motion of a driver at one time, with added numbers: f(t0) + a, f'(t0) + b, f''(t0) + c, whatever t."""

    def __init__(self, jet: Array, own: Array) -> None:
        self.jet, self.own = jet, own

    def values(self, t: ArrayLike) -> Array:
        return np.broadcast_to(self.jet + self.own, (*np.shape(t), 3)).copy()

    def faults(self) -> tuple[Fault, ...]:
        return ()


def read_inputs(model: Model, named: Any) -> tuple[Input, ...]:
    """Return the inputs of names or parts; a vector by its numbers. Raise UsageError for what is no input."""
    named = (named,) if isinstance(named, str | Part) else named
    if not isinstance(named, Sequence):
        raise UsageError(f"inputs = {named!r:.60} must be names of inputs, such as {FORMS}, or parts.")
    inputs = [signal for each in named for signal in _read(model, each)]
    names = [signal.name for signal in inputs]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise UsageError(f"inputs: {', '.join(map(repr, twice))} is given twice.")
    return tuple(inputs)


def _read(model: Model, named: Any) -> list[Input]:
    text = named.name if isinstance(named, Part) else named
    m = NAME.fullmatch(text) if isinstance(text, str) else None
    if m is None:
        raise UsageError(f"input {named!r:.60} must be a name, such as {FORMS}, or a part: a load, a driver.")
    path, number = m["path"], int(m["index"][1:-1]) if m["index"] else -1
    for kind in ("load", "driver", "block", "joint"):
        path = path.removeprefix(f"{kind}.")
    loads = {load.name: load for load in model.force_elements}
    blocks = {} if model.network is None else {block.name: block for block in model.network.blocks}
    drivers = driver_names(model)
    part, what = (path, "") if path in loads or path in drivers else path.rpartition(".")[::2]
    if part in loads:
        return _of_load(loads[part], what, number)
    if part in drivers:
        return [_of_driver(model, part, what)]
    if part in blocks:
        return [_of_block(blocks[part], what, number)]
    raise UsageError(_unknown(model, path, part, [*loads, *drivers], blocks))


def _unknown(model: Model, path: str, part: str, inputs: Sequence[str], blocks: Any) -> str:
    """Return what is wrong with a name that is no input."""
    for name in (path, part):
        if name in model.joints:
            return f"input {path!r}: {name!r} is a joint without a driver: add a Motor or JointForce on it, and name that."
        if name in model.body_names:
            return f"input {path!r}: {name!r} is a body: add a PointForce or Torque on it, and name that."
        if name in blocks:
            return f"input {path!r}: say which output of block {name!r}, or 'setpoint' of a PID, is meant."
    return f"there is no input {path!r}{did_you_mean(part or path, inputs)}: write {FORMS}."


def _of_load(load: Any, what: str, number: int) -> list[Input]:
    value = load.value()
    if load.is_open() or not value.drivers or not _attribute(load) or not hasattr(load, _attribute(load)):
        raise UsageError(
            f"input {load.name!r}: a {type(load).__name__} has no prescribed force or torque: give a Motor, JointForce, PointForce, "
            "Torque, LinearActuator, or the actuator of a TSDA or RSDA."
        )
    if what and what not in EFFORTS:
        raise UsageError(f"input '{load.name}.{what}'{did_you_mean(what, EFFORTS)}: a load has one input, its force or torque.")
    n = value.user_function.shape[0] if value.user_function and value.user_function.shape else len(value.drivers)
    scalar = value.user_function.shape == () if value.user_function else n == 1
    name = f"{load.name}.{what}" if what else load.name
    if scalar:
        return [Input(name, "load", load.name, -1)]
    if number >= n:
        raise UsageError(f"input '{name}[{number}]': {load.where} has {n} numbers.")
    return [Input(f"{name}[{k}]", "load", load.name, k) for k in (range(n) if number < 0 else (number,))]


def _of_driver(model: Model, part: str, what: str) -> Input:
    name = f"{part}.{what}" if what else part
    if what in ("torque", "force"):
        if not model.joints[part].part.needs():
            raise UsageError(f"input {name!r}: only a driver of a joint can be released; {part!r} is a joint with a driven row.")
        return Input(name, "released", part, what=what)
    if what not in MOTIONS:
        quantities = (*filter(None, MOTIONS), "torque", "force")
        raise UsageError(f"input {name!r}{did_you_mean(what, quantities)}: a driver has {', '.join(quantities)}.")
    return Input(name, "driver", part, order=MOTIONS[what])


def _of_block(block: Block, what: str, number: int) -> Input:
    if isinstance(block, PID) and what == SETPOINT:
        if isinstance(block.setpoint, str):
            raise UsageError(f"input '{block.name}.setpoint' is the signal {block.setpoint!r}: give that as the input.")
        return Input(f"{block.name}.{what}", "setpoint", block.name)
    signals = (*block.outputs, *([SETPOINT] if isinstance(block, PID) else []))
    if what not in block.outputs or isinstance(block, PID) or type(block) is not Block:
        wrong = "" if what in signals else did_you_mean(what, signals)
        raise UsageError(
            f"input '{block.name}.{what}'{wrong}: inputs of blocks are the setpoint of a PID, and outputs of a Block of one's own."
        )
    return Input(f"{block.name}.{what}" + (f"[{number}]" if number >= 0 else ""), "output", block.name, number, what=what)


def _attribute(load: Any) -> str:
    """Return the name of the attribute that holds the prescribed value."""
    value = load.value()
    return next((name for name, attribute in vars(load).items() if attribute is value and not name.startswith("_")), "")


class Opened(NamedTuple):
    """A model with offsets, and the same state in it;  values: (n,) of the inputs there."""

    model: Model
    state: State
    offsets: Offsets
    values: Array


def opened(model: Model, state: State, inputs: Sequence[Input]) -> Opened:
    """Return the model whose inputs can be moved; the model itself without inputs."""
    offsets = Offsets(len(inputs))
    if not inputs:
        return Opened(model, state, offsets, np.zeros(0))
    system, t = system_of(model), np.array([state.t])
    result = Result(model, t, state.y[None])
    values = np.zeros(len(inputs))
    exchanged = dict[str, Block]()
    for k, signal in enumerate(inputs):
        if signal.kind in ("setpoint", "output"):
            values[k] = _open_block(system, signal, exchanged, state.t, offsets.adder(k), result)
    for k, signal in enumerate(inputs):
        if signal.kind == "load":
            values[k] = _open_load(system, signal, t, offsets.adder(k), result)
        elif signal.kind == "driver":
            values[k] = _open_driver(system, model, signal, state.t, offsets.jets[k])
        elif signal.kind == "released":
            values[k] = _release(system, signal, offsets.adder(k), result)
    if any(signal.kind == "released" for signal in inputs):
        free = system.compile_quietly(
            check_pose=True, redundancy=model.redundancy.rule, tolerance=model.redundancy.given, solver=None
        )
    else:
        free = rebuilt_model(system, model)
    return Opened(free, _state_in(free, model, state), offsets, values)


def _state_in(free: Model, model: Model, state: State) -> State:
    """Return the state in a model with the same bodies and internal states, which may count other angles."""
    if free.y0.size == model.y0.size:
        return state
    n = WIDTH * (model.nb + 1)
    y, y_state = free.y0.copy(), state.y
    y[:n] = y_state[:n]
    if free.n_states:
        y[-free.n_states :] = y_state[-free.n_states :]
    return State.from_y(state.t, y, free.nb + 1)


def _open_load(system: System, signal: Input, t: Array, add: Callable[[], float], result: Result) -> float:
    """Let the value of a load have an offset, and return it."""
    index = next(k for k, load in enumerate(system.loads) if load.name == signal.part)
    load, number = system.loads[index], signal.number
    name = _attribute(load)
    value: Value = getattr(load, name)
    if any(isinstance(driver, BlockOutput) for driver in value.drivers):
        system.loads[index], now = _summed(system, load, name, value, number, add, result)
        return now
    function = value.user_function
    if function is not None:
        f, shape, form = plain_function(function.function), function.shape, function.form
        now = float(np.ravel(_prescribed(result, signal.part))[max(number, 0)])
        opened_value = function._replace(function=_Added(f, number, add, shape))
    else:
        values = np.array([driver.values(float(t[0]))[0] for driver in value.drivers])
        shape, form = (() if number < 0 else (len(values),)), TIME
        now = float(values[max(number, 0)])
        opened_value = UserFunction(load.where, name, _Added(_Held(values, shape), number, add, shape), form, shape)
    drivers = tuple(ReturnedValue() for _ in range(max(1, *shape, 1)))
    system.loads[index] = changed(load, **{name: Value(drivers, opened_value), "jacobian": None})
    return now


def _prescribed(result: Result, name: str) -> Array:
    """Return the value that prescribes a load, at the state of a result of one."""
    entry = next(entry for entry in result.model.loads if entry.load.name == name)
    n = WIDTH * (result.model.nb + 1)
    bodies = result.y[:, :n].reshape(1, -1, WIDTH).swapaxes(0, 1)[list(entry.bodies)]
    values = entry.load.value().sampled(result.t, *entry.load.arguments(bodies, entry.own_angles(result.y[:, n:])))
    return np.asarray(values[0])


class _Held:
    """A value that does not move."""

    def __init__(self, given: Array, shape: tuple[int, ...]) -> None:
        self.given, self.shape = given, shape

    def __call__(self, t: float) -> Any:
        return self.given.copy() if self.shape else float(self.given[0])


class _Added:
    """A function with a number added to its value, or to one of its numbers."""

    def __init__(self, f: Callable[..., Any], number: int, add: Callable[[], float], shape: tuple[int, ...]) -> None:
        self.f, self.number, self.add, self.shape = f, number, add, shape

    def __call__(self, *arguments: Any) -> Any:
        value = self.f(*arguments)
        if not self.shape:
            return float(np.asarray(value).reshape(())) + self.add()
        value = np.array(value, dtype=np.float64).reshape(self.shape)
        value[max(self.number, 0)] += self.add()
        return value


def _summed(
    system: System, load: Any, name: str, value: Value, number: int, add: Callable[[], float], result: Result
) -> tuple[Any, float]:
    """Return the load, driven by the sum of an output of a block and the offset, and its value."""
    k = max(number, 0)
    driver = value.drivers[k]
    if not isinstance(driver, BlockOutput):
        raise UsageError(f"input {load.name!r}: its numbers are partly outputs of blocks: give the block's output as the input.")
    signal, component = driver.label, driver.component

    def total(t: float, x: Any, signals: Any) -> float:
        reading = signals[signal]
        return float(reading if component is None else reading[component]) + add()

    block = Block(f"{load.name} with its input {k}", (), outputs={"sum": total}, inputs=(signal,))
    system.blocks.append(block)
    drivers = tuple(block["sum"] if j == k else other for j, other in enumerate(value.drivers))
    output = result.block(driver.block.name)[driver.name][0]
    return changed(load, **{name: Value(drivers)}), float(output if component is None else output[component])


def _open_driver(system: System, model: Model, signal: Input, t: float, jet: Array) -> float:
    """Let the motion of a driver have an offset, and return it."""
    index = next(k for k, joint in enumerate(system.joints) if joint.name == signal.part)
    joint = system.joints[index]
    motion = getattr(joint, "f", None)
    if not isinstance(motion, Driver):
        raise UsageError(
            f"input {signal.name!r}: joint {joint.name!r} ({type(joint).__name__}) has no motion f(t) that could be moved."
        )
    held = motion.own if isinstance(motion, OffsetDriver) else motion.values(t)
    system.joints[index] = changed(joint, f=OffsetDriver(jet, held))
    return float(held[signal.order])


def _release(system: System, signal: Input, add: Callable[[], float], result: Result) -> float:
    """Take a driver away, and let its force act in its place; return the force."""
    index = next(k for k, joint in enumerate(system.joints) if joint.name == signal.part)
    driver: Any = system.joints.pop(index)
    history = result.driver(signal.part)
    now = float(getattr(history, history.quantity)[0])
    kind = ANGLE if history.quantity == "torque" else DISPLACEMENT
    coordinate = driver.joint.coordinate(kind)
    system.loads.append(JointForce(f"{signal.part} released", coordinate, lambda t, q, qd: now + add()))
    return now


def _open_block(
    system: System, signal: Input, exchanged: dict[str, Block], t: float, add: Callable[[], float], result: Result
) -> float:
    """Let the setpoint, or an output, of a block have an offset, and return it."""
    index = next(k for k, block in enumerate(system.blocks) if block.name == signal.part)
    old = system.blocks[index]
    if isinstance(old, PID):
        setpoint: Any = old.setpoint
        now = (
            float(setpoint.values(t)[..., 0])
            if hasattr(setpoint, "values")
            else float(setpoint(t) if callable(setpoint) else setpoint)
        )
        gains = {name: getattr(old, name) for name in ("kp", "ki", "kd", "tau", "lower", "upper", "integral0")}
        new: Block = PID(old.name, old.measurement, lambda t: now + add(), **gains)
    else:
        function = plain_function(old.outputs[signal.what])
        output = np.asarray(result.block(old.name)[signal.what][0])
        if output.ndim and signal.number < 0:
            raise UsageError(f"input {signal.name!r} is a vector of {len(output)} numbers: say which, '{signal.name}[0]'.")
        now = float(output[signal.number] if output.ndim else output)
        outputs = {**old.outputs, signal.what: _added_output(function, signal.number, add)}
        derivative = None if old.derivative is None else plain_function(old.derivative)
        new = Block(old.name, old.x0, derivative=derivative, outputs=outputs, inputs=tuple(old.texts() & _signals(system, old)))
    system.blocks[index] = new
    for k, load in enumerate(system.loads):
        value = load.value()
        if any(isinstance(driver, BlockOutput) and driver.block is old for driver in value.drivers):
            drivers = tuple(
                _output_of(new, driver) if getattr(driver, "block", None) is old else driver for driver in value.drivers
            )
            system.loads[k] = changed(load, **{_attribute(load): Value(drivers)})
    return now


def _output_of(block: Block, driver: Any) -> Driver:
    """Return the output of a block that has the place of another one."""
    return block[driver.name] if driver.component is None else block[driver.name, driver.component]


def _signals(system: System, block: Block) -> set[str]:
    """Return the texts of a block that are names of signals."""
    names = {sensor.name for sensor in system.sensors}
    parts = [part.name for part in (*system.joints, *system.loads, *system.blocks)]
    return {text for text in block.texts() if text in names or any(text.startswith(f"{part}.") for part in parts)}


def _added_output(function: Callable[..., Any], number: int, add: Callable[[], float]) -> Callable[..., Any]:
    """Return the output of a block with a number added to it."""

    def output(t: float, x: Any, signals: Any) -> Any:
        value = function(t, x, signals)
        if number < 0:
            return float(value) + add()
        value = np.array(value, dtype=np.float64)
        value[number] += add()
        return value

    return output
