r"""The steps of a run, made again: what a result that stores only some of its states needs to integrate work along the run.

    run      t_0 --h--> t_1 --h--> t_2 ... t_n        each step is a function of the one before: the same methods make the same steps
    result   s_0                s_1                   stored: every so many steps, or states at given times
    replay   t_0 ... t_n      once, when work is asked for; before that nothing is computed, and nothing is kept

Methods whose steps are longer than dense output follows (DOP853, Radau) are asked for the states at the points of the quadrature, by
steps that end there, as for `t_eval`.  The states of the replay are compared with the stored ones: where a function of the user, or
another machine, gives another motion, AnotherMotion is raised, and the work is integrated between stored states with a measured error.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol

import numpy as np

from haugmbd import formulations, integrators
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.work import QuadratureRule, Work, joined_work, times_between
from haugmbd.errors import HaugmbdError
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.implicit import constraint_form, newton
from haugmbd.model import dependent_rows
from haugmbd.model.model import Model
from haugmbd.model.state import State

SAME_MOTION = 1e-6
"""Relative to the largest number of a column: steps that are made again are the same to the last digit, and those of another motion leave
them by far more."""
BETWEEN = 1e-3
"""The same of states at given times: dense output of a run and of its states differ by their error, and it is projected."""
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


PLACES = (integrators, formulations, dependent_rows, constraint_form, newton)
"""Where the classes of methods are."""
METHODS = ("integrator", "formulation", "stabilization", "redundancy")
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
    given = {
        one.name: getattr(method, one.name) for one in fields(method) if one.init and getattr(method, one.name) is not one.default
    }
    data = {key: _method_data(value) for key, value in given.items() if not isinstance(value, DefaultNumber)}
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
    options = importlib.import_module("haugmbd.simulation.run_options")  # it stands above the results
    found = []
    try:
        for one in data or ():
            y0 = np.array(one["y0"], dtype=np.float64)
            if y0.shape != (ny,):
                return ()
            methods = options.RunMethods(**{name: _method_of(one["methods"][name]) for name in METHODS})
            if methods.stabilization == options.PROJECTION:  # the default itself, which methods that need none leave out
                methods = replace(methods, stabilization=options.PROJECTION)
            found.append(
                Replay(
                    float(one["t0"]), y0, float(one["t_end"]), float(one["last"]), methods, bool(one["exact"]), float(one["most"])
                )
            )
    except (KeyError, TypeError, ValueError, HaugmbdError):  # methods of another version
        return ()
    return tuple(found)


class Replayed(Protocol):
    """A result whose run can be made again: times and flat states, and how work is integrated along its steps."""

    @property
    def t(self) -> Array: ...
    @property
    def _flat(self) -> Array: ...
    @property
    def _rule(self) -> QuadratureRule: ...
    def _run_again(self, one: Replay, t_eval: Array | None, until: float) -> Any:
        """Return the run made again to the time `until` [s]: all steps, or the states at the times `t_eval`."""

    def _work_at(self, nodes: Array) -> Work:
        """Return the work since the first state at times `nodes` (k,), of a result that has all steps."""

    def _work_of_points(self, nodes: Array, times: Array) -> Work:
        """Return the work at nodes (k,), of a result at the points of the quadrature between them."""


def work_or_why(replays: Sequence[Replay], result: Replayed) -> tuple[Work | None, str]:
    """Return the work along the runs that made a result; else None, and why they are not made again, as part of a sentence."""
    if not replays:
        return None, "nothing says by which steps they were made"
    try:
        return work_along(replays, result), ""
    except HaugmbdError as error:
        return None, f"{error}".rstrip(".")


def work_along(replays: Sequence[Replay], result: Replayed) -> Work:
    """Return the work from the first state of a result, along the runs that `replays` describe, which follow on one another.

    Raises AnotherMotion where a replay is not the motion of the result, and the errors of a run that does not begin.
    """
    t, y = result.t, result._flat
    used = [one for one in replays if one.last > t[0] and one.t0 < t[-1]]
    if not used:
        return result._work_at(t)
    parts, places, end, offset = [], [], -np.inf, 0
    for one in used:
        last = one is used[-1]
        here = (t > end) & (last | (t <= one.last))
        end = one.last
        asked = np.unique(np.concatenate([[one.t0], t[here], [] if last else [one.last]]))
        parts.append(_work_of(result, one, asked, (t[here], y[here])))
        places.append(offset + np.searchsorted(asked, t[here]))
        offset += len(asked)
    return joined_work(parts).at(np.concatenate(places)).since_first()


def _work_of(result: Replayed, one: Replay, asked: Array, stored: tuple[Array, Array]) -> Work:
    """Return the work of one run since its start, at the times asked (k,), the first of which is its start."""
    if len(asked) < 2:  # noqa: PLR2004
        return result._work_at(asked)
    until = float(asked[-1])
    steps = _again(result, one, None, until)
    if not len(steps.t) or steps.t[-1] < until:
        raise AnotherMotion(f"made again, the run does not reach t = {until:.9g} s")
    nodes = np.unique(np.concatenate([steps.t[steps.t < until], asked]))
    need_same(steps.t, steps._flat, *stored, SAME_MOTION if one.exact else BETWEEN)
    if one.dense or one.most:
        if hasattr(steps, "resample") and not _is_near(steps, stored):
            given = stored[0][stored[0] > one.t0]  # what dense output of the steps does not show, those of the run itself do
            states = _again(result, one, given, until)
            need_same(states.t, states._flat, *stored, SAME_MOTION)
        found: Work = steps._work_at(nodes)
        return found.at(np.searchsorted(nodes, asked))
    times = times_between(nodes, result._rule)
    wanted = np.unique(np.concatenate([times, stored[0][stored[0] > one.t0]]))
    states = _again(result, one, wanted, until)
    if len(states.t) != len(wanted):
        raise AnotherMotion("made again, the run does not reach the points of the quadrature")
    need_same(states.t, states._flat, *stored, SAME_MOTION)
    work: Work = states._work_of_points(nodes, times)
    return work.at(np.searchsorted(nodes, asked))


def _again(result: Replayed, one: Replay, t_eval: Array | None, until: float) -> Any:
    """Return the run made again to the time `until` [s], without its warnings; of a run that fails, the states before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return result._run_again(one, t_eval, until)
        except Exception as error:
            found = getattr(error, "result", None)
            if found is None:
                raise
            return found


def need_same(t: Array, y: Array, t_stored: Array, y_stored: Array, most: float) -> None:
    """Raise AnotherMotion unless the stored states are among those of the replay (t, y), where they have a time in common.

    At an impact the time occurs twice: the stored state is one of both.
    """
    first = np.searchsorted(t, t_stored).clip(max=len(t) - 1)
    last = (np.searchsorted(t, t_stored, side="right") - 1).clip(min=0)
    both = t[first] == t_stored
    gaps = np.stack([_gaps(y, y_stored[both], y[some[both]]) for some in (first, last)])
    _need(gaps.min(axis=0), t_stored[both], most)


def _is_near(steps: Any, stored: tuple[Array, Array]) -> bool:
    """Return whether stored states between steps are near to those of dense output."""
    between = ~np.isin(stored[0], steps.t)
    if not between.any():
        return True
    gaps = _gaps(steps._flat, stored[1][between], steps.resample(stored[0][between])._flat)
    return bool(gaps.max() <= BETWEEN)


def _gaps(y: Array, one: Array, other: Array) -> Array:
    """Return the largest difference of two states (k, ny), relative to the size of their columns in y (n, ny), (k,)."""
    size = np.abs(y).max(axis=0, initial=0.0)
    scale = size + NOTHING * size.max(initial=0.0) + 1e-300
    gaps: Array = (np.abs(one - other) / scale).max(axis=1, initial=0.0)
    return gaps


def _need(gaps: Array, t: Array, most: float) -> None:
    """Raise AnotherMotion, with the time, if a gap (k,) is larger than `most`."""
    if len(gaps) and not gaps.max() <= most:
        raise AnotherMotion(f"made again, the run has another state at t = {t[int(np.argmax(~(gaps <= most)))]:.9g} s")
