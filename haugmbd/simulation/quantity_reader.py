r"""Quantities of a mechanism by name, at one state after the other, written to an array that stays the same.

    crank.r  crank.r[2]  crank.v  crank.p  crank.omega_bar  crank.v_dot  crank.omega_bar_dot     of a body: its state, and rates
    pin.angle  pin.rate  rail.displacement                                                        coordinates of joints, and their rates
    pin.force  pin.torque[1]  motor.torque  spring.length  drive.torque  pid.out  energy.kinetic    all else that a Result has
    joint.pin.angle  reaction.pin.force[0]  load.spring.length                                    the same, with the kind of the part

Those of the first two lines are read by compiled code. The others cost as much as the same question to a Result of one state.
An angle goes through any number of turns: by the angle that the state integrates, if it does, else from step to step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.control.joint_signal import measure_with, places_of
from haugmbd.control.signals import JointSignal, Scope
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.model.model import Model
from haugmbd.simulation.held_inputs import read_names
from haugmbd.simulation.results.named_outputs import SINCE_FIRST, need_quantity_of_one_state, quantity_of
from haugmbd.simulation.results.result import Result
from haugmbd.workspace.layout import WIDTH

ASKED, STATE, RATE, COORDINATE, COORDINATE_RATE = range(5)
"""How a number is read: from a Result, of the state, of its rates, as a coordinate of a joint, or as its rate."""
KIND, FIRST, TURN = 0, 1, 5
"""Columns of a number: how it is read, its place in the state or the four numbers of a coordinate, and the angle that the state integrates,
-1 for none."""
OF_BODIES: dict[str, tuple[int, range]] = {
    "r": (STATE, range(3)),
    "p": (STATE, range(EULER, VELOCITY)),
    "v": (STATE, range(VELOCITY, OMEGA_BAR)),
    "omega_bar": (STATE, range(OMEGA_BAR, WIDTH)),
    "v_dot": (RATE, range(VELOCITY, OMEGA_BAR)),
    "a": (RATE, range(VELOCITY, OMEGA_BAR)),
    "acceleration": (RATE, range(VELOCITY, OMEGA_BAR)),
    "omega_bar_dot": (RATE, range(OMEGA_BAR, WIDTH)),
}
"""Quantities of a body by name: where they stand among its numbers."""
OF_HISTORIES = ("omega", "omega_dot", "A")
"""Quantities of a body that are asked of a Result."""
WRENCH = ("force", "torque")
KINDS = ("body", "joint", "driver", "load", "block", "reaction")
"""What a part is, in front of its name: where a name alone is not enough, or for those who like it."""
ENERGIES = ("kinetic", "potential", "total", *SINCE_FIRST["energy"])
INDEX = re.compile(r"(?P<name>.+?)(\[(?P<k>\d+)\])?")

_measure = kernel(measure_with)


@entry
def read_entry(Y: Array, y_dot: Array, ints: Ints, x_bar: Array, offsets: Array, X: Array, out: Array) -> None:
    """Write the numbers at the last of the states Y (n, ny), with its rates, to out; angles that nothing counts follow from state to state.

    X: (18,) room for the vectors of a coordinate
    """
    last = Y.shape[0] - 1
    for k in range(ints.shape[0]):
        kind = ints[k, KIND]
        if kind == STATE:
            out[k] = Y[last, ints[k, FIRST]]
        elif kind == RATE:
            out[k] = y_dot[ints[k, FIRST]]
        elif kind == COORDINATE or kind == COORDINATE_RATE:
            counted = ints[k, TURN] >= 0 or kind == COORDINATE_RATE or ints[k, FIRST] == 0
            for row in range(last if counted else 0, last + 1):
                near = Y[row, ints[k, TURN]] if ints[k, TURN] >= 0 else out[k]
                value, rate = _measure(X, Y[row], ints[k, FIRST:TURN], x_bar[k], offsets[k], near)
                out[k] = value if kind == COORDINATE else rate


_read = DirectCall(read_entry)


class Quantity(NamedTuple):
    """A quantity by its name.

    kind: how it is read;  places: of its numbers in the state or the rates;  coordinate: of a joint;  ask: of a Result of one state
    """

    kind: int
    places: tuple[int, ...] = ()
    coordinate: Coordinate | None = None
    ask: Callable[[Result], Any] | None = None


class QuantityReader:
    """Reads quantities of a model.  names: (m,) of the numbers;  values: (m,), written in place;  asks: whether some need a Result"""

    def __init__(self, model: Model, given: Any, who: str) -> None:
        self.model, self.who = model, who
        loads, joints = ({load.name: load for load in model.force_elements}, {name: e.part for name, e in model.joints.items()})
        blocks = {} if model.network is None else {block.name: block for block in model.network.blocks}
        self._scope = Scope(joints, loads, blocks, {})
        self._number = {body: k for k, body in enumerate(model.bodies)}
        self._turns = {q.key: WIDTH * (model.nb + 1) + k for q, k in model.angles}
        self.names: tuple[str, ...] = ()
        lines: list[tuple[list[int], Array, float]] = []
        self._asked: list[tuple[slice, Callable[[Result], Any]]] = []
        for text in read_names(given, who, "outputs"):
            own = self._lines(text, len(lines))
            self.names += (text,) if len(own) == 1 else tuple(f"{text}[{k}]" for k in range(len(own)))
            lines += own
        self._ints = np.array([line for line, _, _ in lines], dtype=np.int64).reshape(-1, TURN + 1)
        self._x_bar = np.array([x for _, x, _ in lines]).reshape(-1, 9)
        self._offsets = np.array([offset for _, _, offset in lines])
        self._X = np.zeros(18)
        self.values = np.zeros(len(lines))
        self.asks = bool(self._asked)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Return what `read_entry` takes behind the states and rates."""
        return self._ints, self._x_bar, self._offsets, self._X, self.values

    def begin(self) -> None:
        """Forget the turns of angles that nothing counts."""
        self.values[:] = 0.0

    def ask(self, t: float, y: Array) -> None:
        """Write the numbers that need a Result of the state y (ny,) at t [s]."""
        if self._asked:
            result = self._result(t, y)
            for place, ask in self._asked:
                self.values[place] = np.ravel(ask(result))

    def follow(self, Y: Array, y_dot: Array) -> None:
        """Write what compiled code reads, at the last of the states Y (n, ny) since the last call, with the rates y_dot (ny,)."""
        if len(self._ints):
            _read(Y, y_dot, self._ints, self._x_bar, self._offsets, self._X, self.values)

    def _result(self, t: float, y: Array) -> Result:
        """Return the Result of one state."""
        return Result(self.model, np.array([t]), y[None].copy())

    def _lines(self, text: str, first: int) -> list[tuple[list[int], Array, float]]:
        """Return the lines of the numbers of a quantity.  first: the number of its first one"""
        m = INDEX.fullmatch(text)
        if m is None:
            raise UsageError(f"{self.who}: outputs has {text!r}, which is no name of a quantity, such as 'pin.angle'.")
        found = self._quantity(m["name"])
        if isinstance(found, str):
            raise UsageError(f"{self.who}: {found}.")
        lines = self._numbers_of(found, text)
        if m["k"] is not None:
            if not int(m["k"]) < len(lines):
                raise UsageError(f"{self.who}: output {text!r}: {m['name']!r} has {len(lines)} numbers, counted from 0.")
            lines = [lines[int(m["k"])]]
        if found.ask is not None:
            which = None if m["k"] is None else int(m["k"])
            ask = found.ask if which is None else (lambda result: np.ravel(found.ask(result))[which])
            self._asked.append((slice(first, first + len(lines)), ask))
        return lines

    def _numbers_of(self, found: Quantity, text: str) -> list[tuple[list[int], Array, float]]:
        """Return a line for each number of a quantity."""
        nothing = np.zeros(9)
        if found.ask is not None:
            value = np.ravel(self._modelled(found.ask, text))
            return [([ASKED, 0, 0, 0, 0, -1], nothing, 0.0) for _ in value]
        if found.coordinate is not None:
            places = places_of(found.coordinate, self._number)
            turn = self._turns.get(found.coordinate.key, -1)
            return [([found.kind, *places.bodies.tolist(), turn], places.x_bar, float(places.offset))]
        return [([found.kind, place, 0, 0, 0, -1], nothing, 0.0) for place in found.places]

    def _modelled(self, ask: Callable[[Result], Any], text: str) -> Any:
        """Return the value of a quantity at the modelled state. Raise UsageError for one that a Result does not have."""
        try:
            value = np.asarray(ask(self._result(0.0, self.model.y0)), dtype=np.float64)
        except (AttributeError, UsageError) as error:
            raise UsageError(f"{self.who}: output {text!r}: {error}") from None
        return value

    def _quantity(self, name: str) -> Quantity | str:
        """Return the quantity of a name, or a text on what is wrong with it."""
        wrong = ""
        for at in (k for k, letter in enumerate(name) if letter == "."):
            part, what = name[:at], name[at + 1 :]
            found = self._of_part(part, what)
            if isinstance(found, Quantity):
                return found
            wrong = wrong or found
        kind, _, rest = name.partition(".")
        if kind in KINDS and rest:  # as in the names of outputs: joint.pin.angle
            return self._reaction(rest) if kind == "reaction" else self._quantity(rest)
        return (
            wrong
            or f"there is no output {name!r}{did_you_mean(name, self._known())}: write PART.QUANTITY, such as {self._examples()}"
        )

    def _of_part(self, part: str, what: str) -> Quantity | str:
        """Return a quantity of a part, or a text on what is wrong; "" if there is no such part."""
        if part in self.model.body_names[1:]:
            return self._of_body(part, what)
        if part in self._scope.joints:
            return self._of_joint(part, what)
        if part in self._scope.loads and what.isidentifier():
            need_quantity_of_one_state(self.model, "load", what, f"{part}.{what}")
            return Quantity(ASKED, ask=lambda result: quantity_of(result.load(part), what))
        if part in self._scope.blocks and what.isidentifier():
            return self._of_block(part, what)
        if part == "energy" and what in ENERGIES:
            need_quantity_of_one_state(self.model, "energy", what, f"{part}.{what}")
            return Quantity(ASKED, ask=lambda result: getattr(result.energy(), what))
        return ""

    def _reaction(self, name: str) -> Quantity | str:
        """Return a component of the reaction of a joint, or a text on what is wrong."""
        part, _, what = name.rpartition(".")
        if part in self._scope.joints and what in WRENCH:
            return Quantity(ASKED, ask=lambda result: getattr(result.reaction(part), what))
        return f"there is no reaction {name!r}: write reaction.JOINT.force or .torque of {', '.join(map(repr, self._scope.joints))}"

    def _of_body(self, part: str, what: str) -> Quantity | str:
        """Return a quantity of a body, or a text on what is wrong."""
        if what in OF_BODIES:
            kind, columns = OF_BODIES[what]
            first = WIDTH * self.model.body(part)
            return Quantity(kind, tuple(first + k for k in columns))
        if what in OF_HISTORIES:
            return Quantity(ASKED, ask=lambda result: getattr(result[part], what))
        have = ", ".join((*OF_BODIES, *OF_HISTORIES))
        return f"body {part!r} has no output {what!r}{did_you_mean(what, (*OF_BODIES, *OF_HISTORIES))}: it has {have}"

    def _of_joint(self, part: str, what: str) -> Quantity | str:
        """Return a quantity of a joint or a driver, or a text on what is wrong."""
        driven = bool(self._scope.joints[part].needs())
        if driven:
            need_quantity_of_one_state(self.model, "driver", what, f"{part}.{what}")
        if driven and what in (*WRENCH, "value", "rate", "power"):
            return Quantity(ASKED, ask=lambda result: getattr(result.driver(part), what))
        if what in WRENCH:
            return Quantity(ASKED, ask=lambda result: getattr(result.reaction(part), what))
        found = self._scope.resolve(f"{part}.{what}")
        if isinstance(found, JointSignal):
            return Quantity(COORDINATE_RATE if found.is_rate else COORDINATE, coordinate=found.coordinate)
        return f"{found}; its reaction is {part}.force and {part}.torque" if isinstance(found, str) else found_twice(part, what)

    def _of_block(self, part: str, what: str) -> Quantity | str:
        """Return an output or the states of a block, or a text on what is wrong."""
        outputs = self._scope.blocks[part].outputs
        if what in outputs:
            return Quantity(ASKED, ask=lambda result: result.block(part)[what])
        if what == "x":
            return Quantity(ASKED, ask=lambda result: result.block(part).x)
        return f"block {part!r} has no output {what!r}{did_you_mean(what, outputs)}: it has {', '.join((*outputs, 'x'))}"

    def _known(self) -> list[str]:
        """Return names of outputs, for a suggestion."""
        known = [f"{body}.{what}" for body in self.model.body_names[1:] for what in OF_BODIES]
        known += [f"{joint}.{what}" for joint in self._scope.joints for what in ("angle", "displacement", "rate", *WRENCH)]
        return known + [f"{load}.{what}" for load in self._scope.loads for what in ("force", "torque", "length", "power")]

    def _examples(self) -> str:
        """Return a few names of outputs that the model has."""
        bodies, joints = self.model.body_names[1:2], list(self._scope.joints)[:1]
        return ", ".join([*(f"{body}.r" for body in bodies), *(f"{joint}.force" for joint in joints), "energy.kinetic"])


def found_twice(part: str, what: str) -> str:
    """Return the text on a name that a joint shares with another part."""
    return f"{part}.{what} is the name of several things: give the parts names of their own"
