"""The serial chain of a System: its bodies and joints are put in a row, and each joint becomes a link's.

A depth-first search through bodies and joints, from the ground or from a free end.

    one joint between neighbours, every body one predecessor and at most one successor, nothing left over

A joint to a body that was already visited closes a loop with the path to it. A second successor of a body is a branch. Each fault is
reported once.

    link k     frame: the body's;   handle: the joint's point on it;   c = -s_bar of that point
    L          from there to the point of the next joint on the same body
    R0         A_bar(before) rot(h, z) A_bar(link)^T: the joint's frames coincide where its coordinates are zero, but for one freedom,
               where its coordinate is q0 at the modelled pose, so that it is zero at z = alpha_0 - q0; a slide moves L by z h
    free base  the first body has no joint: handle at its centre of mass, q = (r, p)

Either body of a joint may be i or j: seen from body j, its freedoms come in reverse order, with the same axes, and q has the other sign.
`topology` checks that bodies and joints are a chain. All faults are raised at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from haugmbd.bodies.inertia import solid_inertia
from haugmbd.compiled.array_types import Array
from haugmbd.constraints import Rotation
from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT
from haugmbd.constraints.freedoms import Freedom, Kind, Side
from haugmbd.drivers import Constant
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.math.euler_parameters import exponential, from_rotation_matrix, product
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.coordinates import coordinates
from haugmbd.serial_chain.link import Link
from haugmbd.system.system import System

OPEN = "A serial chain is open, one body after the other. Simulate the System itself, or take a part of it."

Graph = dict[int, dict[int, list[JointEntry]]]
"""Joints by the bodies at their two ends."""


class Step(NamedTuple):
    """The next body of a chain, and the joint that carries it; None for a free base."""

    joint: JointEntry | None
    body: int


class SearchResult(NamedTuple):
    """The result of the search: the predecessor of each body, its successors, and loops as lists of bodies."""

    before: dict[int, int]
    after: dict[int, list[int]]
    loops: list[list[int]]


def order_of_chain(model: Model, joints: Sequence[JointEntry]) -> tuple[list[Step], list[Fault]]:
    """Return the bodies of `model` in the order of a serial chain, which is valid if there are no faults, and all faults."""
    names = model.body_names
    graph: Graph = {body: {} for body in range(model.nb + 1)}
    for e in joints:
        graph[e.i].setdefault(e.j, []).append(e)
        graph[e.j].setdefault(e.i, []).append(e)
    start = 0 if graph[0] else _free_end(graph)
    search = _explore(graph, start)
    faults = [
        *_doubles(graph, names),
        *_loops(graph, search, names),
        *_branches(search, names),
        *_foreign_bodies(graph, search, names),
    ]
    first = [] if start == 0 else [Step(None, start)]
    chain = [step for step in search.before if step != start]
    return first + [Step(graph[search.before[body]][body][0], body) for body in chain], faults


def _free_end(graph: Graph) -> int:
    """Return the first body with at most one neighbour; the first body if all have more."""
    return next((body for body in graph if body > 0 and len(graph[body]) <= 1), 1)


def _explore(graph: Graph, start: int) -> SearchResult:
    """Return the result of a depth-first search from `start`."""
    search = SearchResult({start: start}, {start: []}, [])
    path = [(start, iter(graph[start]))]
    while path:
        body, others = path[-1]
        other = next(others, None)
        if other is None:
            path.pop()
        elif other not in search.before:
            search.before[other] = body
            search.after[body].append(other)
            search.after[other] = []
            path.append((other, iter(graph[other])))
        elif other != search.before[body] and other in (on_way := [b for b, _ in path]):
            search.loops.append(on_way[on_way.index(other) :])
    return search


def _doubles(graph: Graph, names: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for more than one joint between two bodies."""
    for i, others in graph.items():
        for j, joints in others.items():
            if i < j and len(joints) > 1:
                what = f"{len(joints)} joints stand between them: {_list([e.name for e in joints])}"
                yield Fault(f"bodies {names[i]!r} and {names[j]!r}", what, "Make them one joint of the catalogue. " + OPEN)


def _loops(graph: Graph, search: SearchResult, names: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each joint that closes a loop."""
    for loop in search.loops:
        closing = graph[loop[-1]][loop[0]][0]
        yield Fault(f"loop through {_list([names[body] for body in loop])}", f"joint {closing.name!r} closes it", OPEN)


def _branches(search: SearchResult, names: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each body with more than one successor."""
    for body, after in search.after.items():
        if len(after) > 1:
            yield Fault(f"body {names[body]!r}", f"the system branches there, to {_list([names[k] for k in after])}", OPEN)


def _foreign_bodies(graph: Graph, search: SearchResult, names: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each connected group of bodies that the search did not reach."""
    left = [body for body in graph if body > 0 and body not in search.before]
    while left:
        group = list(_explore(graph, left[0]).before)
        left = [body for body in left if body not in group]
        if len(group) == 1:
            yield Fault(f"body {names[group[0]]!r}", "it is connected to nothing", OPEN)
        else:
            what = f"they are connected to one another, but not to {names[next(iter(search.before))]!r}"
            yield Fault(f"bodies {_list([names[k] for k in group])}", what, OPEN)


def _list(names: Sequence[str]) -> str:
    """Return 'a', 'b' and 'c'."""
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


SPREAD = "Simulate the System itself, or make the chain without it."
PLACES = "A chain has revolute, translational, cylindrical, universal, spherical and fixed joints. " + SPREAD
NOT_REDUCED = " Where ReducedChain was chosen, take NewtonEuler or another formulation."
LOADS = "Give what it does as tau or wrenches, or pass without_loads=True to leave all loads out."

Maker = Callable[..., Link]
Chain = TypeVar("Chain", bound=BaseChain)


def from_system(make: type[Chain], system: System | Model, without_loads: bool) -> Chain:
    """Return the chain of a system or model, see `SerialChain.from_system`."""
    if not isinstance(system, System | Model):
        raise UsageError(f"from_system got {system!r} ({type(system).__name__}). Give a System, or the Model that it compiles to.")
    model = system if isinstance(system, Model) else system.compile(check_pose=False)
    driven = _driven(model, system)
    steps, faults = order_of_chain(model, [e for e in model.joints.values() if e.name not in driven])
    faults += [fault for e in model.joints.values() for fault in _out_of_place(model, e, e.name in driven)]
    if not without_loads:
        faults += [Fault(entry.load.where, "a chain does not carry it over", LOADS) for entry in model.loads]
    of_time = [
        Fault(entry.load.where, "its mass or inertia changes in time", "Simulate the system itself.")
        for entry in model.masses_in_time
    ]
    faults += of_time if without_loads else []
    remedy = "Simulate the system itself, or leave the contact out."
    faults += [Fault(contact.where, "a chain in joint coordinates has no contacts", remedy) for contact in model.contacts]
    if faults:
        raise ModelError(faults)
    base = np.zeros(3) if steps[0].joint is None else _place(steps[0].joint, steps[0].body)
    following = [step.joint for step in steps[1:]]
    links = [_link(model, step, after) for step, after in zip(steps, [*following, None], strict=True)]
    gravity, order = model.tables["GRAVITY"][0], [step.body for step in steps]
    chain = make(links, gravity=gravity, base=base, name=model.name, order=order)
    coordinates(chain, model.state())  # raises if the modelled pose violates the joints
    return chain


def _driven(model: Model, system: System | Model) -> set[str]:
    """Return the names of joints that prescribe a motion."""
    of_row, labels = model.drivers_of_rows(), model.labels
    moving = [not isinstance(driver, Constant) for driver in model.drivers]
    driven = {label.joint for label, k in zip(labels, of_row, strict=True) if moving[k] or label.kind == Rotation.kind}
    if isinstance(system, System):
        driven |= {joint.name for joint in system.joints if joint.needs()}
    return driven


def _out_of_place(model: Model, e: JointEntry, driven: bool) -> Iterator[Fault]:
    """Yield the faults of a joint that cannot be in a chain."""
    where = f"joint {e.name!r} ({e.kind})"
    if driven:
        yield Fault(where, "it prescribes a motion, and a chain is moved by tau", SPREAD)
    elif not model.are_between_two(e):
        yield Fault(where, "its rows are between more than two bodies", SPREAD + NOT_REDUCED)
    elif any(primitive.velocity_only for primitive in e.part.primitives()):
        yield Fault(where, "it constrains velocities, and a chain has joint coordinates alone", SPREAD + NOT_REDUCED)
    elif e.freedoms is None and type(e.part).__module__.startswith("joints."):
        yield Fault(where, "a joint of this kind has no place in a chain", PLACES + NOT_REDUCED)
    elif e.freedoms is None:
        remedy = "Declare `freedoms` in its class, such as (turn(H_I),); or use a joint of the catalogue."
        yield Fault(where, "it does not say what it leaves free", remedy)
    elif _maker(e, e.j) is None or _maker(e, e.i) is None:
        yield Fault(where, "a joint of this kind has no place in a chain", PLACES + NOT_REDUCED)


def _sides(e: JointEntry, body: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return the joint's frames (s_bar, A_bar) on the body before and on `body`."""
    i, j = (e.s_bar_i, e.A_bar_i), (e.s_bar_j, e.A_bar_j)
    return (i, j) if body == e.j else (j, i)


def _zero(e: JointEntry, kind: Kind, body: int) -> Array:
    """Return where a joint of one freedom is zero, from where its frames coincide: a displacement or rotation vector (3,) of `body`.

    In the axes of the joint; zero for joints of another kind.
    """
    if e.freedoms is None or [freedom.kind for freedom in e.freedoms] != [kind]:
        return np.zeros(3)
    q = e.part.coordinate(ANGLE if kind is Kind.TURN else DISPLACEMENT)
    z = (q.modelled() - q.q0) * (1.0 if body == e.j else -1.0)
    return np.asarray(z * np.eye(3)[e.freedoms[0].axis])


def _place(e: JointEntry, body: int) -> Array:
    """Return the place of the handle of `body` on the body before it, where the joint's coordinates are zero, (3,)."""
    (s_bar, A_bar), _ = _sides(e, body)
    return np.asarray(s_bar + A_bar @ _zero(e, Kind.SLIDE, body))


def _maker(e: JointEntry, body: int) -> Maker | None:
    """Return the constructor of the link that the joint carries, from its axes in the frame of `body`; None if no link can have it."""
    forward, A = body == e.j, _sides(e, body)[1][1]
    freedoms = tuple(e.freedoms or ())[:: 1 if forward else -1]
    axes = [A[:, freedom.axis] for freedom in freedoms]
    match sorted(freedom.kind.value for freedom in freedoms):
        case []:
            return Link.fixed
        case [Kind.TURN.value]:
            return _with(Link.revolute, axis=axes[0])
        case [Kind.SLIDE.value]:
            return _with(Link.prismatic, axis=axes[0])
        case [Kind.SLIDE.value, Kind.TURN.value] if freedoms[0].axis == freedoms[1].axis:
            return _with(Link.cylindrical, axis=axes[0])
        case [Kind.TURN.value, Kind.TURN.value] if _is_cross(freedoms, forward):
            return _with(Link.universal, axis_1=axes[0], axis_2=axes[1])
        case [Kind.BALL.value, Kind.BALL.value, Kind.BALL.value]:
            return Link.spherical
        case _:
            return None


def _is_cross(freedoms: tuple[Freedom, ...], forward: bool) -> bool:
    """Return whether two turns are those of a universal joint: one axis fixed on the body before, the other on the link."""
    first, second = freedoms
    ends = (Side.I, Side.J) if forward else (Side.J, Side.I)
    return (first.side, second.side) == ends and first.axis != second.axis


def _with(make: Maker, **axes: Any) -> Maker:
    """Return the constructor of a link with these axes."""
    return lambda *values, **placement: make(*values, **axes, **placement)


def _link(model: Model, step: Step, after: JointEntry | None) -> Link:
    """Return the link of a body, with the handle of the next one."""
    body, mass = model.bodies[step.body], model.mass[step.body]
    J_bar = solid_inertia(model.J_bar[step.body], body.solid)
    make: Maker | None = Link.free
    handle, p = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if step.joint is not None:
        (_, A_before), (handle, A_bar) = _sides(step.joint, step.body)
        p, make = from_rotation_matrix(A_before @ A_bar.T), _maker(step.joint, step.body)
        p = product(p, exponential(A_bar @ _zero(step.joint, Kind.TURN, step.body)))
    assert make is not None  # checked by `_out_of_place`
    here = np.zeros(3) if after is None else _place(after, after.i + after.j - step.body) - handle
    return make(body.name, mass, J_bar, c=-handle, L=here, p=p, shape=body.shape)
