r"""The topology of a serial chain: a depth-first search through bodies and joints, from the ground or from a free end.

    one joint between neighbours, every body one predecessor and at most one successor, nothing left over

A joint to a body that was already visited closes a loop with the path to it. A second successor of a body is a branch. Each fault is
reported once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from haugmbd.errors import Fault
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model

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
    way = [(start, iter(graph[start]))]
    while way:
        body, others = way[-1]
        other = next(others, None)
        if other is None:
            way.pop()
        elif other not in search.before:
            search.before[other] = body
            search.after[body].append(other)
            search.after[other] = []
            way.append((other, iter(graph[other])))
        elif other != search.before[body] and other in (on_way := [b for b, _ in way]):
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
