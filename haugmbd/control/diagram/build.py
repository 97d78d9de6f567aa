r"""Build the network of a system: names are resolved, states are numbered, and every function is called once at the modelled pose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint
from haugmbd.control.block import Block
from haugmbd.control.diagram.evaluation import AlgebraicLoop, Instant
from haugmbd.control.diagram.motion_jets import REMEDY as MOTION_REMEDY
from haugmbd.control.diagram.motion_jets import motion_jet
from haugmbd.control.diagram.network import Network
from haugmbd.control.joint_signal import places_of
from haugmbd.control.names import texts_of
from haugmbd.control.output import BlockOutput
from haugmbd.control.sampled import Sampled
from haugmbd.control.signals import JointSignal, OutputSignal, Scope
from haugmbd.errors import Fault, SimulationError, error_text
from haugmbd.forces.base import ForceElement


class PlacedLoad(NamedTuple):
    """A force element with the numbers of its bodies, signal, angle and first internal state."""

    load: ForceElement
    bodies: tuple[int, ...]
    signal: int
    angle: int
    state: int

    def own_angles(self, angles: Array) -> Array:
        """Return the integrated angles at the modelled pose."""
        return self.load.modelled_angles()


def build_network(
    blocks: Sequence[Block],
    sensors: Sequence[Any],
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    loads: Sequence[ForceElement],
    make_state: Callable[[float, Array, int], Any],
    contacts: Sequence[Any] = (),
    driven: Sequence[tuple[str, BlockOutput]] = (),
) -> tuple[Network | None, tuple[Fault, ...]]:
    """Return the network of the blocks, without places in tables, and its faults; None without blocks.

    make_state: the State of a flat vector, for sensors;  driven: the outputs that drive joints, with the joints
    """
    used = [*((load.where, driver) for load in loads for driver in load.drivers()), *driven]
    if not blocks and not sensors:
        return None, foreign_outputs(blocks, used)
    scope = Scope(*map(_by_name, (joints, loads, blocks, sensors, bodies, contacts)))
    network = Network(tuple(blocks), scope, {body: k for k, body in enumerate(bodies)}, make_state=make_state)
    faults = [
        *_name_faults(blocks, sensors, joints),
        *(fault for block in blocks for fault in block.faults()),
        *foreign_outputs(blocks, used),
    ]
    if faults:
        return network, tuple(faults)
    faults += _read_names(network)
    _number_states(network)
    if network.delays and network.reads_dynamics:
        what = "a block reads what joints carry or how bodies accelerate, and a DelayLine makes these depend on the motion so far"
        faults.append(Fault(network.delays[0].where, what, "Take a LowPass in place of the DelayLine."))
    return network, tuple(faults)


def _by_name(parts: Sequence[Any]) -> dict[str, Any]:
    return {part.name: part for part in parts if isinstance(part.name, str)}


def _name_faults(blocks: Sequence[Block], sensors: Sequence[Any], joints: Sequence[Joint]) -> list[Fault]:
    """Return faults for names that are used twice, also by a joint, or are not text, and for blocks that were added twice."""
    faults = []
    for kind, parts in (("block", blocks), ("sensor", sensors)):
        remedy = f'Give each {kind} a name, such as "controller".'
        wrong = [part.name for part in parts if not (isinstance(part.name, str) and part.name.strip())]
        faults += [Fault(f"{kind} {name!r}", "the name is empty or not a string", remedy) for name in wrong]
        for name, n in Counter(part.name for part in parts if isinstance(part.name, str)).items():
            if n > 1 and name.strip():
                remedy = f"Give each {kind} a name of its own, and add it once; signals are read by it."
                faults.append(Fault(f"{kind} {name!r}", f"the name is used {n} times", remedy))
    of_joints = {joint.name for joint in joints if isinstance(joint.name, str)}
    for name in sorted({block.name for block in blocks if isinstance(block.name, str)} & of_joints):
        what = "the name is used 2 times, by a block and a joint"
        faults.append(Fault(f"block {name!r}", what, "Give the block a name of its own; signals are read by it."))
    return faults


def foreign_outputs(blocks: Sequence[Block], used: Sequence[tuple[str, Any]]) -> tuple[Fault, ...]:
    """Return a fault of each part that uses the output of a block that is not in the system;  used: parts and their drivers."""
    known = set(map(id, blocks))
    found = {
        (where, driver.label): Fault(
            where, f"it uses {driver.label!r}, and {driver.block.where} is not in the system", "Add it with system.add(block)."
        )
        for where, driver in used
        if isinstance(driver, BlockOutput) and id(driver.block) not in known
    }
    return tuple(found.values())


def driven_by_blocks(joints: Sequence[Joint], equations: Iterable[Sequence[Primitive]]) -> list[tuple[str, BlockOutput]]:
    """Return the outputs of blocks that drive joints, each once, with the joint."""
    found = {
        id(f): (f"joint {joint.name!r}", f)
        for joint, own in zip(joints, equations, strict=True)
        for p in own
        for f in p.prescribed()
        if isinstance(f, BlockOutput)
    }
    return list(found.values())


def _read_names(network: Network) -> list[Fault]:
    """Resolve the names that the blocks read; return the faults of those that mean nothing."""
    scope, faults = network.scope, list[Fault]()
    for block in network.blocks:
        for output in block.outputs:
            network.signals[f"{block.name}.{output}"] = OutputSignal(block, output)
    for name in (*network.signals, *scope.sensors):
        signal = scope.resolve(name)
        if isinstance(signal, str):  # of a sensor and of something else, say
            faults.append(Fault(f"signal {name!r}", signal.removeprefix(f"signal {name!r} "), "Signals are read by name."))
        else:
            network.signals[name] = signal
    for block in network.blocks:
        wrong: dict[str, str] = {}
        for label, function in _labelled(block):
            texts = texts_of(function)
            if block.inputs is not None:
                texts = texts & set(block.inputs) or set(block.inputs)
            names = sorted(text for text in texts if block.inputs is not None or scope.is_meant(text))
            for name in names:
                found = network.signals.get(name) or scope.resolve(name)
                if isinstance(found, str):
                    wrong[name] = found
                else:
                    network.signals[name] = found
            network.read_by[block, label] = tuple(name for name in names if name not in wrong)
        faults += [
            Fault(block.where, what, "Signals are joint.angle, load.length, block.output, ... by name.") for what in wrong.values()
        ]
    return faults


def _labelled(block: Block) -> list[tuple[str, Any]]:
    """Return the functions of a block by the label that `Instant` calls them by."""
    found = [(label, f) for label, f in (("derivative", block.derivative), ("switch", block.switch)) if f is not None]
    found += [(f"output {name!r}", function) for name, function in block.outputs.items()]
    return [*found, ("update", block.update)] if isinstance(block, Sampled) else found


def _number_states(network: Network) -> None:
    """Number the states of the blocks, and those that count turns."""
    x0: list[float] = []
    for block in network.blocks:
        network.at[block] = len(x0)
        x0 += block.x0.tolist()
    turning = []
    for signal in network.signals.values():
        if not isinstance(signal, JointSignal):
            continue
        key, coordinate = signal.coordinate.key, signal.coordinate
        counted = coordinate.turns and not signal.is_rate
        if key in network.coordinates and (not counted or network.coordinates[key][1] >= 0):
            continue
        network.coordinates[key] = (places_of(coordinate, network.bodies), len(x0) if counted else -1)
        if counted:
            turning.append(JointSignal(coordinate, is_rate=True))
            x0.append(coordinate.q0)
    network.turning = tuple(turning)
    network.x0 = np.array(x0, dtype=np.float64)


def try_network(
    network: Network, loads: Sequence[ForceElement], driven: Sequence[tuple[str, BlockOutput]] = ()
) -> tuple[Fault, ...]:
    """Return the faults of the functions, called once at the modelled pose; write the initial states that depend on signals there."""
    y = _modelled(network, loads)
    faults: list[Fault] = []
    for block in network.blocks:
        instant = Instant(network, 0.0, y)
        x0 = _tried(faults, block.where, lambda block=block, instant=instant: block.initial(instant))
        if x0 is not None and block.states:
            y[network.columns(block, y)] = x0
    network.x0 = y[network.first(y) :].copy()
    if faults:
        return tuple(faults)
    instant = Instant(network, 0.0, y)
    for_forces = Instant(network, 0.0, y, for_forces=True) if network.reads_dynamics else instant
    loops: set[frozenset[str]] = set()
    for name, signal in list(network.signals.items()):
        where = signal.block.where if isinstance(signal, OutputSignal) else f"signal {name!r}"
        _tried(faults, where, lambda name=name: Instant(network, 0.0, y)[name], loops)
    if not faults:
        outputs = [name for name, one in network.signals.items() if isinstance(one, OutputSignal)]
        network.shapes = {name: np.shape(instant[name]) for name in outputs}
        network.vectors = tuple(name for name, shape in network.shapes.items() if shape)
        _tried(faults, "blocks", instant.rates)
    for load in loads if not faults else ():
        for driver in load.drivers():
            if isinstance(driver, BlockOutput):
                _tried(faults, load.where, lambda driver=driver: for_forces.number(driver))
    for where, driver in driven if not faults else ():
        try:
            motion_jet(Instant(network, 0.0, y, for_forces=True), driver)
        except SimulationError as error:
            what, _, remedy = error.message.rpartition(". ")
            faults.append(Fault(where, what or remedy, remedy if what else MOTION_REMEDY))
        except Exception as error:  # noqa: BLE001  a user's function may raise anything
            faults.append(Fault(where, error_text(error), MOTION_REMEDY))
    return tuple(faults)


def _tried(faults: list[Fault], where: str, call: Any, loops: set[frozenset[str]] | None = None) -> Any:
    """Return what a call returns; None, and a fault, if it raises."""
    try:
        return call()
    except AlgebraicLoop as error:
        if loops is None or error.cycle not in loops:
            what, remedy = error.message.split(". ", 1)
            faults.append(Fault(where, what, remedy))
        if loops is not None:
            loops.add(error.cycle)
    except SimulationError as error:
        what = error.message.removeprefix(f"{where}: ")
        faults.append(Fault(where, what, "Each block is called once at the modelled pose when the system is compiled."))
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        faults.append(Fault(where, error_text(error), "Try the function by itself with these arguments."))
    return None


def _modelled(network: Network, loads: Sequence[ForceElement]) -> Any:
    """Return the flat state of the modelled pose, with the initial states of the blocks; place the force elements for it."""
    entries: dict[str, PlacedLoad] = {}
    signals = angles = states = 0
    for load in loads:
        numbers = tuple(network.bodies[body] for body in load.bodies())
        entries[load.name] = PlacedLoad(load, numbers, signals, angles, states)
        signals, angles, states = signals + load.signals, angles + load.angles, states + len(load.states())
    network.entries, network.n_states = entries, states + network.size
    bodies = [np.concatenate([body.r, body.p, body.v, body.omega_bar]) for body in network.bodies]
    own = [x for load in loads for x in load.angles0()], [x for load in loads for x in load.states()]
    return np.concatenate([*bodies, *own, network.x0])
