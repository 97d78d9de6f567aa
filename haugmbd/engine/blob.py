r"""A model as a blob: the arrays, words and names of one run, which the engine runs without Python (`haugmbd.h`, `abi.c`).

    blob = sections of 8-byte words, little-endian      ARRAYS WORDS LISTS NAMES TEXTS CALLS ITEMS PLACES FIXED START STAMP WHERE LINKS LAWS

The run is that of `simulate`: its first call of the compiled loop is kept, with all arguments, and the engine makes the same call again.
An argument is a word: a number, the place of an array, a routine by its name, or a list of further words (a model's record).
What only Python can do is refused by name, and nothing is left out in silence: functions of the user, rigid contacts that strike, joints
that stick, blocks that are called at times of their own.  Stops and contacts of springs and dampers switch in compiled code, see
`engine.stops`.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.part import changed
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.cache_stamp import files_of_entries
from haugmbd.compiled.engine_library import stamp_of
from haugmbd.compiled.ffi import TABLES, WORDS
from haugmbd.compiled.function_pointers import Routine
from haugmbd.constraints.freedoms import Axis, Kind, Side
from haugmbd.contact.joint_stop import rigid_contacts
from haugmbd.control.diagram.in_kernels import EVALUATE_NETWORK, NetworkCallback
from haugmbd.deprecated import did_you_mean
from haugmbd.diagnostics.joint_motion import angle_in_turn, angles_of, is_arm, joint_motion, slide
from haugmbd.diagnostics.reaction_signals import bind
from haugmbd.engine.doors import SLIDE_I, SLIDE_J, TURN
from haugmbd.engine.implicit import METHODS, implicit_run, start_of_method
from haugmbd.engine.stops import Method, held_by
from haugmbd.errors import UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.forces.user_function import Value
from haugmbd.formulations.error_messages import joints_at
from haugmbd.integrators.explicit.rk4 import RK4
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.implicit.base import Implicit
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.step_context import Point, Problem, Steps
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.integrators.watches.stiffness_watch import new_watch
from haugmbd.model.inspection.given import model_given
from haugmbd.model.inspection.run_memory import freewheels_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import check_numbers
from haugmbd.simulation.held_inputs import (
    PROBES,
    HeldAcceleration,
    HeldNumber,
    Inputs,
    chosen_inputs,
    input_of,
    model_with_inputs,
    read_names,
)
from haugmbd.simulation.quantity_reader import WRENCH, QuantityReader
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System
from haugmbd.workspace.layout import WIDTH, Pack, place_in

VERSION = 3
NUMBER, ARRAY, ROUTINE, LIST, SLOT = range(5)
"""Kinds of words."""
T, H, N, TIMES, STATES, RATES = range(6)
"""Slots: words that the engine fills in before each call."""
BODY, REACTION, COORDINATE, INPUT, PARAMETER, OUTPUT, LAW = range(1, 8)
"""Kinds of items, as in `haugmbd.h`."""
MOTION = len(PROBES)
"""Numbers of a driven joint that is an input: t_0, f_0, f'_0, f'' / 2."""
CHUNK = 64
"""Steps of one call of the compiled loop."""
STEP_ENTRY = "haugmbd.integrators.explicit.runge_kutta.run_entry"
STOPS = "haugmbd.engine.stops"
IMPLICIT = "haugmbd.engine.implicit"
DOORS = "haugmbd.engine.doors"
READ_ENTRY = "haugmbd.simulation.quantity_reader.read_entry"
HOW = ("state", "stabilization", "formulation")
"""Arguments of `simulate` that a blob takes."""
OF_WRENCHES = ("joint", "reaction")
"""What may stand in front of the name of a joint whose force or torque is an output."""
OF_RULES = ".stabilization."
"""In the names of routines and entries of a stabilization."""
WHO = "mbd.engine.blob"
MOST_LAWS = 62
"""Sampled blocks of a blob: one bit of a word each."""
OF_SLOT, OF_NODE, OF_BODY, OF_FRICTION = range(4)
"""What the place of a status belongs to, as in `abi.c`."""


class Slot(NamedTuple):
    """A word that the engine fills in."""

    number: int


class Captured(BaseException):
    """The first call of the compiled loop, in place of its result."""

    def __init__(self, problem: Problem, t: float, h: float, k1: Array) -> None:
        self.problem, self.t, self.h, self.k1 = problem, t, h, k1


@dataclass(frozen=True)
class Item:
    """Something with a name: its kind, and three numbers that depend on it.  start: of an input"""

    kind: int
    name: str
    a: int = 0
    b: int = 0
    c: int = 0
    start: float = 0.0


class Writer:
    """The sections of a blob while they are made."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.words: list[tuple[int, int]] = []
        self.lists: list[tuple[int, int]] = []
        self.texts: list[str] = []
        self.calls: list[tuple[int, int]] = []
        self.items: list[Item] = []
        self.places: list[tuple[int, int]] = []
        self.where: list[tuple[int, int, int]] = []
        self.links: dict[tuple[int, int], int] = {}
        self.laws: list[tuple[int, int, int]] = []
        self.outputs = (-1, 0)
        self.kept: list[Any] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._packs: dict[int, int] = {}

    def text(self, name: str) -> int:
        """Return the number of a text."""
        if name not in self.texts:
            self.texts.append(name)
        return self.texts.index(name)

    def array(self, x: Any) -> int:
        """Return the number of an array or record; one that was met before, at the same place and of the same size, is the same."""
        x = np.asarray(x)
        if x.size and not x.flags.c_contiguous:
            raise UsageError("an array of the model is not contiguous: the engine takes it by its address.")
        key = (x.__array_interface__["data"][0], x.nbytes)
        if not x.nbytes or key not in self._numbers:
            self._numbers[key] = len(self.arrays)
            self.arrays.append(x)
        return self._numbers[key]

    def of(self, x: Any) -> list[tuple[int, int]]:
        """Return the words of an argument."""
        if isinstance(x, Slot):
            return [(SLOT, x.number)]
        if isinstance(x, Pack):
            return [(LIST, self.pack(x))]
        if isinstance(x, np.ndarray):
            return [(ARRAY, self.array(x)), *((NUMBER, n) for n in x.shape)]
        if isinstance(x, np.void):
            return [(ARRAY, self.array(x))]
        if isinstance(x, tuple):
            return [word for each in x for word in self.of(each)]
        if isinstance(x, Routine):
            return [(NUMBER, 1) if x._function is None else (ROUTINE, self.text(routine_name(x)))]
        if isinstance(x, NetworkCallback):
            return [(ROUTINE, self.text(routine_name(EVALUATE_NETWORK)))]
        if hasattr(x, "address"):  # the callback of the user's functions, which models without them never enter
            return [(NUMBER, 1)]
        if isinstance(x, float | np.floating):
            return [(NUMBER, struct.unpack("<q", struct.pack("<d", x))[0])]
        return [(NUMBER, int(x))]

    def list(self, words: Sequence[tuple[int, int]]) -> int:
        """Return the number of a list of words."""
        self.lists.append((len(self.words), len(words)))
        self.words += words
        return len(self.lists) - 1

    def pack(self, pack: Pack) -> int:
        """Return the number of the list of a model's record: address and size of each array, and routines."""
        if id(pack) not in self._packs:
            self._packs[id(pack)] = self.list([word for field in pack for word in self.of(field)])
            if isinstance(pack.callback, NetworkCallback):
                self.link(pack, pack.callback)
        return self._packs[id(pack)]

    def link(self, pack: Pack, callback: NetworkCallback) -> None:
        """Let the word of a workspace that says where its blocks are be filled in where the blob is loaded; their room is their own."""
        place = (self.array(pack.work), place_in(pack.ints, "SUCCEEDED")[0] + TABLES)
        if place not in self.links:
            tables = callback.tables.with_room()
            self.kept.append(tables)  # arrays are told apart by their places
            self.links[place] = self.list([word for field in tables for word in self.of(field)])

    def content(self, number: int) -> bytes:
        """Return the bytes of an array, without the addresses of this process."""
        x = self.arrays[number]
        linked = [place for array, place in self.links if array == number]
        if linked:
            x = x.copy()
            for place in linked:
                x[place : place + WORDS - TABLES] = 0.0
        own: bytes = x.tobytes()
        return own + b"\0" * (-len(own) % 8)

    def call(self, entry: str, *arguments: Any) -> int:
        """Return the number of a call of an entry."""
        self.calls.append((self.text(f"{entry}({shapes(arguments)})"), self.list([w for x in arguments for w in self.of(x)])))
        return len(self.calls) - 1

    def names(self) -> tuple[bytes, Sequence[int]]:
        """Return all texts, one after the other, and the place of each; those of stabilizations last: blobs with another one are alike."""
        names, places = bytearray(), [0] * len(self.texts)
        for k in sorted(range(len(self.texts)), key=lambda k: OF_RULES in self.texts[k]):
            places[k] = len(names)
            names += self.texts[k].encode() + b"\0"
        return bytes(names), places

    def bytes(self, fixed: Sequence[int], start: Sequence[float], more: Mapping[str, bytes], room: int = 0) -> bytes:
        """Return the blob.  more: sections of others;  room: bytes of the names at least"""
        names, places_of_texts = self.names()
        names += b"\0" * (max(room - len(names), 0) + -max(room, len(names)) % 8)
        items = [(x.kind, self.texts.index(x.name), x.a, x.b, x.c) for x in self.items]
        sections: dict[str, bytes] = {
            "WORDS": _words(self.words), "LISTS": _words(self.lists), "NAMES": names, "TEXTS": _words(places_of_texts),
            "CALLS": _words(self.calls), "ITEMS": _words(items), "PLACES": _words(self.places), "FIXED": _words(fixed),
            "START": np.array(start, dtype="<f8").tobytes(),
            "STAMP": stamp_of(files_of_entries()).encode(), "WHERE": _words(self.where),
            "LINKS": _words([(*place, number) for place, number in self.links.items()]), "LAWS": _words(self.laws), **more,
        }  # fmt: skip
        size = 32 + 24 * (len(sections) + 1)
        head, content = [], b""
        for tag, data in sections.items():
            head.append((tag, size + len(content), len(data) // 8))
            content += data
        begin = size + len(content) + 16 * len(self.arrays)
        rows, numbers_of_arrays = [], bytearray()
        for number in range(len(self.arrays)):
            own = self.content(number)
            zero = not any(own)
            rows.append((-1 if zero else begin + len(numbers_of_arrays), len(own) // 8))
            numbers_of_arrays += b"" if zero else own
        head.append(("ARRAYS", size + len(content), 2 * len(rows)))
        whole = begin + len(numbers_of_arrays)
        top = b"HAUGBLOB" + struct.pack("<3q", VERSION, whole, len(head))
        top += b"".join(tag.ljust(8).encode() + struct.pack("<2q", offset, count) for tag, offset, count in head)
        return top + content + _words(rows) + bytes(numbers_of_arrays)


def parts_of(blob: bytes) -> tuple[dict[str, int], Ints]:
    """Return where the sections of a blob begin, and the rows of its arrays: place or -1, size in words."""
    (n,) = struct.unpack_from("<q", blob, 24)
    heads = [struct.unpack_from("<8s2q", blob, 32 + 24 * k) for k in range(n)]
    places = {tag.decode().strip(): int(place) for tag, place, _ in heads}
    count = next(count for tag, _, count in heads if tag.startswith(b"ARRAYS"))
    return places, np.frombuffer(blob, dtype="<i8", count=count, offset=places["ARRAYS"]).reshape(-1, 2)


def _words(rows: Any) -> bytes:
    """Return integers as little-endian words."""
    return np.array(rows, dtype="<i8").tobytes() if len(rows) else b""


def shapes(arguments: Sequence[Any]) -> str:
    """Return how arguments travel, as the name of an entry has it."""
    return ",".join(map(_shape, arguments))


def _shape(x: Any) -> str:
    if isinstance(x, Slot):
        return "i" if x.number == N else "f"
    if isinstance(x, np.void):
        return "r"
    if isinstance(x, np.ndarray):
        return f"{'f' if x.dtype.kind == 'f' else 'b' if x.dtype.kind == 'b' else 'i'}{x.ndim}"
    if hasattr(x, "address"):
        return "p"
    if isinstance(x, tuple):
        return f"[{shapes(x)}]"
    return "f" if isinstance(x, float | np.floating) else "b" if isinstance(x, bool | np.bool_) else "i"


def routine_name(routine: Routine) -> str:
    """Return the name of a routine, by which an engine knows it."""
    function: Any = routine._function
    plain = getattr(function, "py_func", function)
    return f"{plain.__module__}.{plain.__qualname__}"


Stepping = RungeKutta | Implicit
"""Methods that a blob steps by."""


def numbers_of(method: Any) -> dict[str, Any]:
    """Return the numbers of a method by name, as its class takes them."""
    return {field.name: getattr(method, field.name) for field in fields(method)}


def first_call(model: Model, method: Stepping, how: Mapping[str, Any]) -> Captured:
    """Return the first call of the compiled loop that `simulate` makes."""

    def steps(self: Any, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> Any:
        raise Captured(problem, t, h, k1)

    def batches(self: Any, problem: Problem, k1: Array, t_end: float) -> Any:
        raise Captured(problem, problem.t, self.h, k1)

    caught: dict[str, Any] = {"steps": steps} if isinstance(method, RungeKutta) else {"batches": batches}
    catching: Any = type(type(method).__name__, (type(method),), caught)
    own = numbers_of(method)
    given = how.get("state")
    t = given.t if isinstance(given, State) else model.state().t
    h: Any = own["h"]
    try:
        simulate(model, t + 10.0 * float(h or 1.0), integrator=catching(**own), **how)
    except Captured as call:
        return call
    check(model, None, method)
    raise UsageError(f"model {model.name!r} does not move by the loop of {type(method).__name__}.")


def with_inputs(system: System, inputs: Sequence[str], who: str) -> System:
    """Return a system with held numbers in the places of inputs, as `model_with_inputs` has them in a model."""
    if not inputs:
        return system
    own: dict[int, Any] = {}
    parts = {part.name: part for part in (*system.loads, *system.joints)}
    found = [input_of(parts[name]) if name in parts else None for name in inputs]
    if any(one is None for one in found):
        chosen_inputs(system.compile(), inputs, who)  # says what there is
    for one in filter(None, found):
        part: Any = one.part
        held: Any = Value(tuple(map(HeldNumber, one.start)))
        more = {one.attribute: held, "jacobian": None}
        own[id(part)] = changed(part, **(more if isinstance(part, ForceElement) else {one.attribute: HeldAcceleration(part.f)}))
    new = copy.copy(system)
    new.loads = [own.get(id(load), load) for load in system.loads]
    new.joints = [own.get(id(joint), joint) for joint in system.joints]
    return new


def check(model: Model, problem: Problem | None, method: Stepping, laws: bool = False, blocks: bool = True) -> None:
    """Raise UsageError with all that the engine cannot do of this run, by name.

    problem: None for a run that another loop makes;  laws: whether the host of the blob calls its sampled blocks;  blocks: whether the
    library that will run it evaluates blocks
    """
    faults = []
    own_blocks = blocks and problem is not None and isinstance(problem.pack.callback, NetworkCallback)
    if model.force_callbacks.any and not own_blocks:
        faults.append("it calls functions of Python or Numba")
    wheels = freewheels_of(model)
    if wheels:
        faults.append(f"freewheels {', '.join(repr(x.name) for x in wheels)} lock and slip")
    contacts = rigid_contacts(model)
    if contacts:
        faults.append(f"contacts {', '.join(repr(x.name) for x in contacts)} strike")
    sticking = [load.where for load in model.loads_of(JointFriction)]
    if may_stick(model):
        faults.append(f"{', '.join(sticking)} may stick, which Python decides")
    network = model.force_callbacks.network
    if network is not None and network.delays:
        faults.append(f"{', '.join(x.where for x in network.delays)} needs the motion so far")
    if network is not None and network.sampled and not laws:
        faults.append(f"{', '.join(x.where for x in network.sampled)} is called at times of its own")
    if network is not None and len(network.sampled) > MOST_LAWS:
        faults.append(f"it has {len(network.sampled)} sampled blocks, and a blob at most {MOST_LAWS}")
    faults += [f"{entry.load.where} has a mass or inertia in time" for entry in model.masses_in_time]
    if isinstance(method, Implicit) and (model.has_stops or model.has_contacts):
        faults.append(f"its stops and contacts switch between explicit steps, not in those of {type(method).__name__}")
    if faults:
        raise UsageError(f"model {model.name!r} does not run in the engine: {'; '.join(faults)}. Simulate it in Python.")


def blob(
    system: System | Model,
    *,
    h: float = 1e-3,
    integrator: Stepping | None = None,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    **how: Any,
) -> bytes:
    """Return a mechanism as a blob that the engine loads: in C, in WebAssembly, on a microcontroller.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    h : float
        Fixed step [s].
    integrator : RungeKutta or Implicit, optional
        RK4(), Heun() or RK3(), or another explicit Runge-Kutta method of fixed step; RK4 by default. Or Trapezoidal(), Newmark(), HHT(),
        GeneralizedAlpha() or BDF(), with fixed steps: they begin anew where an input, a parameter or the state is set.
    inputs : sequence of str
        Names of loads whose numbers become inputs, as of `Stepper`: a Motor or JointForce, a Torque or PointForce. What is no constant
        number begins with 0. Or of drivers of joints, whose acceleration is set: angle and rate go on from it.
    outputs : sequence of str
        Names of quantities as of `Stepper`: "crank.r", "crank.v[0]", "R.angle", "R.rate", "R.force", with the same bits.
    **how
        `state`, `stabilization` and `formulation`, as of `simulate`.

    Returns
    -------
    bytes
        The blob; `haugmbd.h` describes how to run it.

    Raises
    ------
    UsageError
        For what the engine cannot do, by name, and for inputs that are no loads.
    """
    method = RK4() if integrator is None else integrator
    if not isinstance(method, (RungeKutta, *METHODS)):
        raise UsageError(
            f"{type(method).__name__} is not in the engine: give RK4(), Heun() or RK3(), or Trapezoidal(), Newmark(), HHT(), "
            "GeneralizedAlpha() or BDF(), by steps of h."
        )
    check_numbers(None, h=h)
    if h is None or not 0.0 < h < np.inf:
        raise UsageError(f"{WHO}: h = {h!r} must be a positive step [s].")
    if wrong := [name for name in how if name not in HOW]:
        raise UsageError(
            f"{WHO} has no argument {wrong[0]!r}{did_you_mean(wrong[0], HOW)}: it takes {', '.join(HOW)} of `simulate`."
        )
    model = model_given(system, WHO)
    inputs = read_names(inputs, WHO, "inputs")
    if inputs:  # each has a number of its own: constants of one value are one number in a model, zeros of equations among them
        model, _ = model_with_inputs(model, tuple(inputs), WHO)
    read = tuple(dict.fromkeys([*read_names(outputs, WHO, "outputs"), *read_by_laws(model)]))
    return blob_of_model(model, h=h, integrator=method, inputs=inputs, outputs=read, laws=True, **how).bytes()


def read_by_laws(model: Model) -> list[str]:
    """Return the names of the signals that sampled blocks read: whoever calls these finds them among the outputs."""
    network = model.force_callbacks.network
    return [name for block in network.sampled for name in network.read_by.get((block, "update"), ())] if network is not None else []


def without_calls(model: Model) -> Model:
    """Return the same model, whose runs call no sampled block: their functions may keep data of their own, and belong to the host."""
    network = model.force_callbacks.network
    if network is None or not network.sampled:
        return model
    copies: list[Any] = [object.__new__(type(x)) for x in (model, model.force_callbacks, network)]
    for new, old in zip(copies, (model, model.force_callbacks, network), strict=True):
        vars(new).update(vars(old))
    silent: Model = copies[0]
    vars(silent)["force_callbacks"], vars(copies[1])["network"], vars(copies[2])["sampled"] = copies[1], copies[2], ()
    return silent


def shifts(model: Model) -> Array:
    """Return which numbers of the tables stand in for an inertia that is zero, (n,) bool: refinement takes their size out again."""
    found = np.zeros(len(model.tables.reals), dtype=bool)
    (shifted, rows, columns), (inertia, _, _) = model.tables.place("SHIFTED"), model.tables.place("INERTIA")
    n = rows * columns
    found[shifted : shifted + n] = model.tables.reals[shifted : shifted + n] != model.tables.reals[inertia : inertia + n]
    return found


class Made(NamedTuple):
    """A blob in parts: its items, names of routines and entries that it needs, and what makes its bytes, with sections of others.

    room: bytes of its names
    """

    items: Sequence[Item]
    needs: frozenset[str]
    room: int
    bytes: Callable[..., bytes]


def blob_of_model(
    model: Model,
    *,
    h: float,
    integrator: Stepping,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    numbers: Callable[[Pack], Sequence[tuple[str, str, int]]] = lambda pack: (),
    laws: bool = False,
    **how: Any,
) -> Made:
    """Return the blob of a model that has its inputs already.  numbers: see `made`;  laws: see `check`"""
    method = integrator
    method = type(method)(**numbers_of(method) | {"h": float(h)})
    usual = Projection() if isinstance(method, RungeKutta) else None
    call = first_call(without_calls(model), method, {"stabilization": usual, **how})
    check(model, call.problem, method, laws)
    return made(model, call, method, inputs, numbers(call.problem.pack), outputs)


def explicit_calls(w: Writer, model: Model, problem: Problem, method: RungeKutta, point: Point, steps: Steps) -> int:
    """Add the calls of an explicit run, steps and rates; return the number of the first."""
    ny = point.y.size
    watch, room = new_watch(np.zeros(0, dtype=np.int64), ny), np.zeros((method.tableau.b.size - 1, ny))
    first, last = (problem.dynamics, problem.options), (Slot(T), Slot(H), point)
    if len(problem.events.places):
        held = held_by(model, ny)
        step = w.call(f"{STOPS}.run_entry", *first, Method(method.tableau, watch, room), held, *last, steps)
        w.call(f"{STOPS}.begin_entry", *first, held, Slot(T), point)
    else:
        step = w.call(STEP_ENTRY, *first, method.tableau, watch, *last, room, steps)
        w.call(routine_name(problem.rates), problem.pack, problem.options, Slot(T), point.y, point.y_dot)
    return step


def made(
    model: Model,
    call: Captured,
    method: Stepping,
    inputs: Sequence[str],
    numbers: Sequence[tuple[str, str, int]] = (),
    outputs: Sequence[str] = (),
) -> Made:
    """Return the blob of a run.

    numbers: parameters besides gravity and masses: name, "reals" or "work", and the place in this array of the model
    """
    problem, w = call.problem, Writer()
    ny = problem.y.size
    times, states, rates = np.zeros(CHUNK), np.zeros((CHUNK, ny)), np.zeros((CHUNK, ny))
    y, y_dot = problem.y, call.k1
    steps, point, reports = Steps(times, states, rates), Point(y, y_dot), problem.pack
    if isinstance(method, Implicit):
        run = implicit_run(problem, method, y_dot)
        start = start_of_method(run, ny, CHUNK)
        reports, begun = run.pack, (problem.dynamics, problem.options, run, start, Slot(T), Slot(H), point)
        step = w.call(f"{IMPLICIT}.run_entry", *begun, steps)
        w.call(f"{IMPLICIT}.begin_entry", *begun)
    else:
        step = explicit_calls(w, model, problem, method, point, steps)
    _let_engine_fill(w, w.lists[w.calls[step][1]], steps)
    fixed = [*map(w.array, (y, y_dot, times, states, rates)), CHUNK, ny]
    add_bodies(w, model)
    add_joints(w, model, problem, y)
    add_inputs(w, model, problem, inputs)
    add_parameters(w, model, problem)
    for name, array, place in numbers:
        w.places.append((w.array(getattr(problem.pack, array)), place))
        add_item(w, PARAMETER, name, len(w.places) - 1, 1)
    add_outputs(w, model, problem, (y, y_dot, states), outputs)
    add_laws(w, model, ny)
    add_words(w, model)
    status = place_in(reports.ints, "STATUS")[0]
    ends = [*fixed, w.array(reports.work), status, *w.outputs]
    needs = {w.texts[value] for kind, value in w.words if kind == ROUTINE} | {w.texts[text] for text, _ in w.calls}
    return Made(w.items, frozenset(needs), len(w.names()[0]), lambda room=0, **more: w.bytes(ends, (call.t, call.h), more, room))


def _let_engine_fill(w: Writer, place: tuple[int, int], steps: Steps) -> None:
    """Let the arrays of steps of a call be slots: the last words, address and size of times, address and sizes of states and rates."""
    end = sum(place)
    t, n_t, y, n_y, _, y_dot, n_dot, _ = range(end - 8, end)
    assert w.words[t] == (ARRAY, w.array(steps.t)), "the last argument of a step are its steps"
    for k, slot in ((t, TIMES), (n_t, N), (y, STATES), (n_y, N), (y_dot, RATES), (n_dot, N)):
        w.words[k] = (SLOT, slot)


def add_item(w: Writer, kind: int, name: str, a: int = 0, b: int = 0, c: int = 0, start: float = 0.0) -> None:
    """Add an item."""
    w.text(name)
    w.items.append(Item(kind, name, a, b, c, start))


def add_bodies(w: Writer, model: Model) -> None:
    """Add the bodies: where their 13 numbers are in the state."""
    for k, name in enumerate(model.body_names):
        add_item(w, BODY, name, WIDTH * k)


def add_joints(w: Writer, model: Model, problem: Problem, y: Array) -> None:
    """Add reactions and coordinates of the joints between two bodies."""
    unique = not model.redundancy.dropped  # or how dependent rows share their load is a choice
    for name, joint in model.joints.items():
        if len(joint.rows) and unique and model.are_between_two(joint):
            slots = np.array(model.slot_of_row[joint.rows], dtype=np.int64)
            edge = model.tables["EDGES"][slots[0] // 6]
            for side, body, s_bar in (("i", joint.i, joint.s_bar_i), ("j", joint.j, joint.s_bar_j)):
                if body not in edge[:2]:
                    continue
                out, where = np.zeros(6), int(np.nonzero(edge == body)[0][0])
                room, point = np.zeros((1, 3, 3)), np.array(s_bar, dtype=np.float64).reshape(1, 3)
                k = w.call(f"{DOORS}.reaction", problem.pack, Slot(T), y, slots, where, point, room, out)
                add_item(w, REACTION, f"{name}.{side}", k, w.array(out))
        add_coordinates(w, model, name, joint, y)


def add_coordinates(w: Writer, model: Model, name: str, joint: Any, y: Array) -> None:
    """Add the angles about h and the displacements of a joint."""
    freedoms = joint.freedoms or ()
    start = joint_motion(joint, model.y0[None], np.zeros((1, model.nb + 1, 6)))
    angles = () if is_arm(freedoms) else tuple(x for x in angles_of(freedoms) if x.axis is Axis.H)
    slides = tuple(x for x in freedoms if x.kind is Kind.SLIDE)
    for what, ways in (("angle", angles), ("displacement", slides)):
        for number, freedom in enumerate(ways):
            turns = what == "angle"
            zero = float((angle_in_turn(freedom, start, arm=False) if turns else slide(freedom, start))[0]) - joint.part.q0
            kind = TURN if turns else SLIDE_I if freedom.side is Side.I else SLIDE_J
            ints = np.array([kind, int(freedom.axis), joint.i, joint.j], dtype=np.int64)
            points = np.array([joint.s_bar_i, joint.s_bar_j])
            axes = np.ascontiguousarray(np.concatenate([joint.A_bar_i.T, joint.A_bar_j.T]))
            out, room = np.array([joint.part.q0 if turns else 0.0, 0.0]), np.zeros((2, 3, 3))
            k = w.call(f"{DOORS}.coordinate", y, ints, points, axes, zero, room, out)
            add_item(w, COORDINATE, f"{name}.{what}{number + 1 if len(ways) > 1 else ''}", k, w.array(out))


def add_inputs(w: Writer, model: Model, problem: Problem, inputs: Sequence[str]) -> None:
    """Add the inputs: the numbers of loads, each with a place of its own, and accelerations of driven joints."""
    loads = {entry.load.name: entry for entry in model.loads}
    start, _, columns = place_in(problem.pack.ints, "F")
    work, reals = w.array(problem.pack.work), w.array(problem.pack.reals)
    for name in inputs:
        if name not in loads:
            driver = next(
                k for k, each in enumerate(model.drivers) if isinstance(each, HeldAcceleration) and _drives(model, name, k)
            )
            w.places += [(reals, int(place)) for place in Inputs._places_of(model, driver)]
            add_item(w, INPUT, name, len(w.places) - MOTION, MOTION, 1)
            continue
        numbers = [k for k in loads[name].drivers if isinstance(model.drivers[k], HeldNumber)]
        for axis, k in enumerate(numbers):
            w.places.append((work, start + columns * k))
            letter = "xyz"[axis] if len(numbers) == len("xyz") else str(axis + 1)
            add_item(
                w,
                INPUT,
                name if len(numbers) == 1 else f"{name}.{letter}",
                len(w.places) - 1,
                1,
                start=float(model.drivers[k].values(0.0)[0]),
            )


def _drives(model: Model, joint: str, driver: int) -> bool:
    """Return whether a driver moves the rows of a joint."""
    numbers = model.drivers_of_rows().tolist()
    return any(label.joint == joint and k == driver for label, k in zip(model.labels, numbers, strict=True))


def add_outputs(w: Writer, model: Model, problem: Problem, arrays: tuple[Array, Array, Array], outputs: Sequence[str]) -> None:
    """Add the outputs: numbers that one call reads of the states behind steps, and components of reactions.

    Raise UsageError for a quantity that only a Result has.
    """
    if not outputs:
        return
    y, y_dot, states = arrays
    bind(model)
    wrenches = {name: w.items[k] for k, name in enumerate(x.name for x in w.items) if w.items[k].kind == REACTION}
    read, columns = list[str](), list[tuple[str, Item | None, int]]()
    for text in read_names(outputs, WHO, "outputs"):
        one = QuantityReader(model, [text], WHO)
        if not one.asks:
            columns += [(name, None, len(read) + k) for k, name in enumerate(one.names)]
            read += one.names
            continue
        part, _, what = text.partition("[")[0].rpartition(".")
        kind, _, own = part.partition(".")  # "reaction.R.force" is "R.force"
        joint = own if part not in model.joints and kind in OF_WRENCHES else part
        if joint not in model.joints or what not in WRENCH or model.joints[joint].part.needs():
            raise UsageError(
                f"{WHO}: output {text!r} is computed in Python from a Result, and is not in the engine. It reads r, p, v, omega_bar, v_dot "
                "and omega_bar_dot of bodies, coordinates of joints with their rates, and force and torque of joints."
            )
        if f"{joint}.j" not in wrenches:
            raise UsageError(f"{WHO}: output {text!r} is not in the engine: {_why_no_reaction(model, joint)}.")
        first = 3 * WRENCH.index(what)
        which = [int(text[text.index("[") + 1 : -1])] if "[" in text else range(3)
        columns += [(f"{part}.{what}[{k}]", wrenches[f"{joint}.j"], first + k) for k in which]
    if read:
        reader = QuantityReader(model, read, WHO)
        words = [states, y_dot, *reader.arrays]
        k = w.call(READ_ENTRY, *words)
        first_word, _ = w.lists[w.calls[k][1]]
        w.words[first_word], w.words[first_word + 1] = (SLOT, STATES), (SLOT, N)
        w.outputs = (k, w.array(reader.values))
    for name, item, column in columns:
        if item is None:
            add_item(w, OUTPUT, name, 0, 0, column)
        else:
            add_item(w, OUTPUT, name, item.a, item.b, column)


def add_laws(w: Writer, model: Model, ny: int) -> None:
    """Add the sampled blocks, whose values the host sets at the multiples of their periods."""
    network = model.force_callbacks.network
    if network is None:
        return
    for block in network.sampled:
        add_item(w, LAW, block.name, ny - network.size + network.at[block], 1)
        w.laws.append((len(w.items) - 1, struct.unpack("<q", struct.pack("<d", block.period))[0], 0))


def _why_no_reaction(model: Model, joint: str) -> str:
    """Return why the reaction of a joint is none of the engine's."""
    if model.redundancy.dropped:
        return "the model has redundant rows, so that how joints share a load is a choice, which Python makes"
    if not len(model.joints[joint].rows):
        return f"joint {joint!r} has no rows of its own"
    return f"joint {joint!r} holds more than two bodies"


def add_words(w: Writer, model: Model) -> None:
    """Add what the places of a status belong to, in words."""
    for label, slot in zip(model.labels, model.slot_of_row.tolist(), strict=True):
        w.where.append((OF_SLOT, slot, w.text(str(label))))
    for k, name in enumerate(model.body_names):
        w.where += [(kind, k, w.text(f"body {name!r}")) for kind in (OF_NODE, OF_BODY)]
    for node in range(model.nb + 1, model.nb + 1 + len(model.tables["EDGES"])):
        if joints := joints_at(model, node):
            w.where.append((OF_NODE, node, w.text(f"the rows of {', '.join(map(repr, joints))}")))
    rubbing = model.loads_of(JointFriction)
    w.where += [(OF_FRICTION, k, w.text(f"friction {x.name!r} in joint {x.joint.name!r}")) for k, x in enumerate(rubbing)]


def add_parameters(w: Writer, model: Model, problem: Problem) -> None:
    """Add gravity, and the masses of bodies where nothing is derived from them."""
    reals = w.array(problem.pack.reals)
    first, _, _ = place_in(problem.pack.ints, "GRAVITY")
    for axis, letter in enumerate("xyz"):
        w.places.append((reals, first + axis))
        add_item(w, PARAMETER, f"gravity.{letter}", len(w.places) - 1, 1)
    if model.tables["FLAGS"][0, 0]:  # light bodies: the solver has derived numbers from the masses
        return
    inertia, shifted = (place_in(problem.pack.ints, name) for name in ("INERTIA", "SHIFTED"))
    for k, name in enumerate(model.body_names):
        if k:
            w.places += [(reals, inertia[0] + inertia[2] * k), (reals, shifted[0] + shifted[2] * k)]
            add_item(w, PARAMETER, f"{name}.mass", len(w.places) - 2, 2)


def write(path: str | Path, system: System | Model, **how: Any) -> Path:
    """Write the blob of a mechanism to a file, see `blob`; return its path."""
    data = blob(system, **how)
    try:
        file = Path(path)
        file.write_bytes(data)
    except TypeError:
        raise UsageError(f"mbd.engine.write: path = {path!r:.80} must be the path of a file.") from None
    except OSError as error:
        raise UsageError(f"mbd.engine.write: {str(path)!r} cannot be written: {error.strerror}.") from None
    return file
