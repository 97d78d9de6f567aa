r"""The steps of a run, made again: what a result that stores only some of its states needs to integrate work along the run.

    run      t_0 --h--> t_1 --h--> t_2 ... t_n        each step is a function of the one before: the same methods make the same steps
    result   s_0                s_1                   stored: every so many steps, or states at given times
    replay   t_0 ... t_n      once, when work is asked for; before that nothing is computed, and nothing is kept

Methods whose steps are longer than dense output follows (DOP853, Radau) are asked for the states at the points of the quadrature, by
steps that end there, as for `t_eval`.  The states of the replay are compared with the stored ones: where a function of the user, or
another machine, gives another motion, AnotherMotion is raised, and the work is integrated between stored states with a measured error.
The states of a replay are taken in parts, as it goes: a run of any number of steps needs the memory of some thousand.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from haugmbd import formulations, integrators
from haugmbd.compiled.array_types import Array
from haugmbd.contact import impact_laws
from haugmbd.diagnostics.work import QuadratureRule, Work, joined_work, times_between
from haugmbd.errors import HaugmbdError, error_text
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.model import dependent_rows
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.run_options import PROJECTION, RunMethods

SAME_MOTION = 1e-6
"""Relative to the largest number of a column: steps that are made again are the same to the last digit, and those of another motion leave
them by far more."""
BETWEEN = 1e-3
"""The same of states at given times: dense output of a run and of its states differ by their error, and it is projected."""
GUARD = 4
"""Steps at the end of a part that are left to the next one: dense output at a jump looks at the state behind."""
NOTHING = 1e-9
"""Relative to the largest number of the states: a column of such numbers is one of rounding."""


class AnotherMotion(HaugmbdError):
    """The replay of a run is another motion than the one that was stored."""


@dataclass(frozen=True, eq=False)
class Replay:
    """How one run was made: its initial state, methods and end.

    t0, y0: the state after projection, from which the run began;  t_end: to which it was asked to go;  last: time of the last state that
    it reached;  methods: RunMethods;  exact: whether its stored states are steps;  most: impacts per second, of a run with impacts
    """

    t0: float
    y0: Array
    t_end: float
    last: float
    methods: Any
    exact: bool = False
    most: float = 0.0

    @property
    def dense(self) -> bool:
        """Whether dense output is as accurate as the steps of the method."""
        dense: bool = self.methods.integrator.dense
        return dense

    def start(self, model: Model) -> State:
        """Return the initial state."""
        return State.from_y(self.t0, self.y0, model.nb + 1)

    def as_data(self) -> dict[str, Any] | None:
        """Return numbers and texts for a file; None for methods that are not of this package."""
        methods = {name: _method_data(getattr(self.methods, name)) for name in METHODS}
        if any(one == UNKNOWN for one in methods.values()):
            return None
        numbers = {name: float(getattr(self, name)) for name in ("t0", "t_end", "last", "most")}
        return numbers | {"exact": self.exact, "y0": self.y0.tolist(), "methods": methods}


PLACES = (integrators, formulations, dependent_rows, impact_laws)
"""Where the classes of methods are."""
METHODS = ("integrator", "formulation", "stabilization", "redundancy", "impact")
UNKNOWN = "unknown"


def _method_data(method: Any) -> Any:
    """Return class and numbers of a part of a method, without those that are defaults; UNKNOWN for a class of the user."""
    if method is None or isinstance(method, bool | int | str):
        return method
    if isinstance(method, float | np.floating):
        return float(method)
    name = type(method).__name__
    if not is_dataclass(method) or _class_of(name) is not type(method):
        return UNKNOWN
    arguments = {
        field.name: getattr(method, field.name)
        for field in fields(method)
        if field.init and getattr(method, field.name) is not field.default
    }
    data = {key: _method_data(value) for key, value in arguments.items() if not isinstance(value, DefaultNumber)}
    return UNKNOWN if UNKNOWN in data.values() else {"class": name, "given": data}


def _class_of(name: str) -> Any:
    """Return the formulation, integrator, stabilization or rule of that name; None if there is none."""
    return next((getattr(place, name) for place in PLACES if isinstance(getattr(place, name, None), type)), None)


def _method_of(data: Any) -> Any:
    """Return what `_method_data` wrote."""
    if not isinstance(data, Mapping):
        return data
    return _class_of(str(data["class"]))(**{str(key): _method_of(value) for key, value in data["given"].items()})


def replays_of(data: Any, ny: int) -> tuple[Replay, ...]:
    """Return the replays in the metadata of a file; none where they cannot be read."""
    replays = []
    try:
        for entry in data or ():
            y0 = np.array(entry["y0"], dtype=np.float64)
            if y0.shape != (ny,):
                return ()
            methods = RunMethods(**{name: _method_of(entry["methods"].get(name)) for name in METHODS})
            if methods.stabilization == PROJECTION:  # the default itself, which methods that need none leave out
                methods = replace(methods, stabilization=PROJECTION)
            replays.append(
                Replay(
                    float(entry["t0"]),
                    y0,
                    float(entry["t_end"]),
                    float(entry["last"]),
                    methods,
                    bool(entry["exact"]),
                    float(entry["most"]),
                )
            )
    except (KeyError, TypeError, ValueError, HaugmbdError):  # methods of another version
        return ()
    return tuple(replays)


class Replayed(Protocol):
    """A result whose run can be made again: times and flat states, and how work is integrated along its steps."""

    @property
    def t(self) -> Array: ...
    @property
    def _flat(self) -> Array: ...
    @property
    def _rule(self) -> QuadratureRule: ...
    def _run_again(self, one: Replay, t_eval: Array | None, until: float, take: Callable[[Any], None]) -> Any:
        """Make the run again to the time `until` [s], and return its last states: all steps, or the states at the times `t_eval`.

        take: takes results of its parts before, which overlap, where there are any
        """

    def _work_at(self, nodes: Array) -> Work:
        """Return the work since the first state at times `nodes` (k,), of a result that has all steps."""

    def _work_of_points(self, nodes: Array, times: Array) -> Work:
        """Return the work at nodes (k,), of a result at the points of the quadrature between them."""


class AlongSteps(NamedTuple):
    """The work along the runs that made a result; or None, and why they are not made again, as part of a sentence.

    failed: whether an error, such as that of a function of the user, has ended them
    """

    work: Work | None
    why: str = ""
    failed: bool = False


def work_or_why(replays: Sequence[Replay], result: Replayed) -> AlongSteps:
    """Return the work along the runs that made a result, or why there is none."""
    if not replays:
        return AlongSteps(None, "nothing says by which steps they were made")
    try:
        return AlongSteps(work_along(replays, result))
    except HaugmbdError as error:
        return AlongSteps(None, f"{error}".rstrip("."), error.__cause__ is not None)


def work_along(replays: Sequence[Replay], result: Replayed) -> Work:
    """Return the work from the first state of a result, along the runs that `replays` describe, which follow on one another.

    Raises AnotherMotion where a replay is not the motion of the result, and the errors of a run that does not begin.
    """
    t, y = result.t, result._flat
    used = [replay for replay in replays if replay.last > t[0] and replay.t0 < t[-1]]
    if not used:
        return result._work_at(t)
    parts, places, end, offset = [], [], -np.inf, 0
    for replay in used:
        last = replay is used[-1]
        here = (t > end) & (last | (t <= replay.last))
        end = replay.last
        asked = np.unique(np.concatenate([[replay.t0], t[here], [] if last else [replay.last]]))
        parts.append(_work_of(result, replay, asked, (t[here], y[here])))
        places.append(offset + np.searchsorted(asked, t[here]))
        offset += len(asked)
    return joined_work(parts).at(np.concatenate(places)).since_first()


def _work_of(result: Replayed, replay: Replay, asked: Array, stored: tuple[Array, Array]) -> Work:
    """Return the work of one run since its start, at the times asked (k,), the first of which is its start."""
    if len(asked) < 2:  # noqa: PLR2004
        return result._work_at(asked)
    until, most = float(asked[-1]), SAME_MOTION if replay.exact else BETWEEN
    if replay.dense or replay.most:
        along = _WorkAlongSteps(asked, stored)
        seen: _Seen = _again(result, replay, None, until, along)
        seen.need_end(until)
        seen.need_same(most)
        if not along.is_near():
            # what dense output of the steps does not show, those of the run itself do
            times_stored = stored[0][stored[0] > replay.t0]
            _again(result, replay, times_stored, until, _Seen(stored)).need_same(SAME_MOTION)
        return along.work()
    steps = _again(result, replay, None, until, _Seen(stored))
    steps.need_end(until)
    steps.need_same(most)
    t = steps.times()
    nodes = np.unique(np.concatenate([t[t < until], asked]))
    times = times_between(nodes, result._rule)
    wanted = np.unique(np.concatenate([times, stored[0][stored[0] > replay.t0]]))
    points = _WorkOfPoints(nodes, times, stored)
    seen = _again(result, replay, wanted, until, points)
    seen.need_end(float(wanted[-1]))
    if len(seen.times()) != len(wanted):
        raise AnotherMotion("made again, the run does not reach the points of the quadrature")
    seen.need_same(SAME_MOTION)
    return points.work().at(np.searchsorted(nodes, asked))


class _Seen:
    """What is kept of a replay, whose states come in parts that overlap: its times, its states at stored times (t, y), and their sizes.

    error: of a part, raised at the end, not in the midst of the run;  stopped: that of the run itself
    """

    def __init__(self, stored: tuple[Array, Array]) -> None:
        self.stored, self.last = stored, -np.inf
        self.parts: list[Array] = []
        self.common: list[tuple[Array, Array]] = []
        self.size = np.zeros(stored[1].shape[1])
        self.error: Exception | None = None
        self.stopped: Exception | None = None

    def take(self, part: Any, *, is_last: bool = False) -> None:
        """Take the next part of the replay, which is a result, and begins with the last states of the one before."""
        if self.error is not None:
            return
        try:
            self.see(part, is_last=is_last)
        except Exception as error:  # noqa: BLE001  raised at the end of the run
            self.error = error

    def see(self, part: Any, *, is_last: bool) -> None:
        """Keep what is needed of a part."""
        t, y = part.t, part._flat
        new = slice(int(np.searchsorted(t, self.last, side="right")), None)
        same = np.isin(t[new], self.stored[0])
        self.parts.append(t[new].copy())
        self.common.append((t[new][same], y[new][same]))
        self.size = np.maximum(self.size, np.abs(y[new]).max(axis=0, initial=0.0))
        self.last = float(t[-1]) if len(t) else self.last

    def times(self) -> Array:
        """Return the times of all states."""
        return np.concatenate(self.parts)

    def need_end(self, until: float) -> None:
        """Raise AnotherMotion unless the replay has come to a time, with the error that has stopped it."""
        if self.last < until:
            by = "" if self.stopped is None else f": {error_text(self.stopped)}"
            raise AnotherMotion(f"made again, the run does not reach t = {until:.9g} s{by}") from self.stopped

    def need_same(self, most: float) -> None:
        """Raise AnotherMotion unless the stored states are those of the replay, where they have a time in common."""
        t, y = np.concatenate([t for t, _ in self.common]), np.concatenate([y for _, y in self.common])
        need_same(t, y, *self.stored, most, self.size)


class _WorkAlongSteps(_Seen):
    """The work at the times asked (k,), along the steps of a replay, from part to part."""

    def __init__(self, asked: Array, stored: tuple[Array, Array]) -> None:
        super().__init__(stored)
        self.asked, self.done = asked, float(asked[0])
        self.works: list[Work] = []
        self.shown: list[tuple[Array, Array]] = []

    def see(self, part: Any, *, is_last: bool) -> None:
        """Integrate over a part, but for its last steps, which the next one has with those that follow."""
        super().see(part, is_last=is_last)
        if len(part.t) < 2:  # noqa: PLR2004
            return
        end = min(float(part.t[-1 if is_last else -1 - GUARD]), float(self.asked[-1]))
        if end <= self.done:
            return
        self._show(part, self._next(self.stored[0], end))
        asked = self._next(self.asked, end)
        nodes = np.unique(np.concatenate([[self.done], self._next(part.t, end), asked, [end]]))
        work = part._work_at(nodes).since_first()
        rows = np.searchsorted(nodes, asked)
        self.works.append(work.at(np.concatenate([[0], rows, [len(nodes) - 1]])))
        self.done = end

    def _next(self, times: Array, end: float) -> Array:
        """Return the times of this part, to its end."""
        within: Array = times[(times > self.done) & (times <= end)]
        return within

    def _show(self, part: Any, times: Array) -> None:
        """Keep the states of dense output at stored times between steps."""
        between = times[~np.isin(times, part.t)]
        if len(between) and hasattr(part, "resample"):
            self.shown.append((between, part.resample(between)._flat))

    def is_near(self) -> bool:
        """Return whether stored states between steps are near to those of dense output."""
        if not self.shown:
            return True
        t, y = np.concatenate([t for t, _ in self.shown]), np.concatenate([y for _, y in self.shown])
        return bool(_gaps(self.size, self.stored[1][np.searchsorted(self.stored[0], t)], y).max() <= BETWEEN)

    def work(self) -> Work:
        """Return the work at the times asked."""
        inner = [np.arange(1, len(work.applied) - 1) for work in self.works]
        ends = np.cumsum([0, *(len(work.applied) for work in self.works)])
        rows = np.concatenate([[0], *(start + part for start, part in zip(ends, inner, strict=False))]).astype(int)
        return joined_work(self.works).at(rows)


class _WorkOfPoints(_Seen):
    """The work at nodes (k,), of the states at the points of the quadrature between them, which are `times` (m (k - 1),)."""

    def __init__(self, nodes: Array, times: Array, stored: tuple[Array, Array]) -> None:
        super().__init__(stored)
        self.nodes, self.points, self.next = nodes, times, 0
        self.works: list[Work] = []

    def see(self, part: Any, *, is_last: bool) -> None:
        """Integrate over the intervals all of whose points are in a part."""
        super().see(part, is_last=is_last)
        m = len(self.points) // (len(self.nodes) - 1)
        end = int(np.searchsorted(self.points, part.t[-1], side="right")) // m if len(part.t) else 0
        if end > self.next:
            some = slice(m * self.next, m * end)
            self.works.append(part._work_of_points(self.nodes[self.next : end + 1], self.points[some]))
            self.next = end

    def work(self) -> Work:
        """Return the work at the nodes."""
        ends = np.cumsum([0, *(len(work.applied) for work in self.works)])
        inner = np.concatenate([np.arange(start + 1, end) for start, end in zip(ends[:-1], ends[1:], strict=True)])
        return joined_work(self.works).at(np.append(0, inner))


S = TypeVar("S", bound=_Seen)


def _again(result: Replayed, replay: Replay, t_eval: Array | None, until: float, seen: S) -> S:
    """Return what is seen of the run made again to the time `until` [s], without its warnings; of a run that fails, the states before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            last = result._run_again(replay, t_eval, until, seen.take)
        except Exception as error:
            last, seen.stopped = getattr(error, "result", None), error
            if last is None:
                raise
    seen.take(last, is_last=True)
    if seen.error is not None:
        raise seen.error
    return seen


def need_same(t: Array, y: Array, t_stored: Array, y_stored: Array, most: float, size: Array) -> None:
    """Raise AnotherMotion unless the stored states are among those of the replay (t, y), where they have a time in common.

    At an impact the time occurs twice: the stored state is one of both.  size: of the columns of states
    """
    if not len(t):
        return
    first = np.searchsorted(t, t_stored).clip(max=len(t) - 1)
    last = (np.searchsorted(t, t_stored, side="right") - 1).clip(min=0)
    both = t[first] == t_stored
    gaps = np.stack([_gaps(size, y_stored[both], y[some[both]]) for some in (first, last)])
    _need(gaps.min(axis=0), t_stored[both], most)


def _gaps(size: Array, state: Array, other: Array) -> Array:
    """Return the largest difference of two states (k, ny), relative to the size of their columns, (k,)."""
    scale = size + NOTHING * size.max(initial=0.0) + 1e-300
    gaps: Array = (np.abs(state - other) / scale).max(axis=1, initial=0.0)
    return gaps


def _need(gaps: Array, t: Array, most: float) -> None:
    """Raise AnotherMotion, with the time, if a gap (k,) is larger than `most`."""
    if len(gaps) and not gaps.max() <= most:
        raise AnotherMotion(f"made again, the run has another state at t = {t[int(np.argmax(~(gaps <= most)))]:.9g} s")
