"""Whole trajectories of the members of a batch, in memory or in files of one folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from haugmbd.batches.threads import in_blocks
from haugmbd.batches.trajectory_store import TrajectoryStore
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.run_warnings import Outcome, RunStatus
from haugmbd.errors import UsageError, error_text
from haugmbd.model.model import Model
from haugmbd.simulation.load import load
from haugmbd.simulation.results.named_outputs import Reader, meant_outputs
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.stepping.progress import Progress

PENDING = "not run: the batch was interrupted"


@public_class
@dataclass(frozen=True, eq=False)
class Trajectories:
    """The runs of all members of a batch: `trajectories[k]` is the Result of member k.

    Attributes
    ----------
    success : ndarray of bool, (N,)
        Whether the run of a member reached its end.
    failures : dict of int to str
        The reason of each member whose run did not.
    warnings : dict of int to tuple
        The warnings of the runs that have some, as `Result.warnings`.
    t_end : ndarray, (N,)
        The time that each member has reached [s]; NaN without any state.
    y_end : ndarray, (N, ny)
        The flat state there.
    store : str
        The folder of the files; "" if the results are in memory.
    interrupted : bool
        Whether Ctrl-C ended the batch before all members had run.
    """

    success: npt.NDArray[np.bool_]
    failures: dict[int, str]
    t_end: Array
    y_end: Array = field(repr=False)
    store: str = ""
    interrupted: bool = False
    _kept: tuple[Any, ...] = field(default=(), repr=False)
    _model_of: Callable[[int], Model] | None = field(default=None, repr=False)
    _warnings: tuple[tuple[Any, ...] | None, ...] = field(default=(), repr=False)
    """The warnings of each run; None where its Result is made when somebody asks for it."""

    def __len__(self) -> int:
        return len(self.success)

    def __repr__(self) -> str:
        where = f", in {self.store!r}" if self.store else ""
        return f"Trajectories({len(self)} members, {len(self.failures)} failed{where})"

    @overload
    def __getitem__(self, k: int) -> Result: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Result, ...]: ...
    def __getitem__(self, k: int | slice) -> Result | tuple[Result, ...]:
        if isinstance(k, slice):
            return tuple(self[j] for j in range(*k.indices(len(self))))
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not -len(self) <= k < len(self):
            raise UsageError(f"member {k!r}: give a number from 0 to {len(self) - 1}.")
        result = self._kept[int(k)]
        if isinstance(result, Deferred):
            return result.result
        if result is None:
            raise UsageError(f"member {int(k) % len(self)} has no states: {self.failures[int(k) % len(self)]}")
        if isinstance(result, Path):
            stored: Result = load(result, model=None if self._model_of is None else self._model_of(int(k) % len(self)))
            return stored
        return result  # type: ignore[no-any-return]

    def history(self, name: str) -> Array:
        """Return a quantity of all members over time: one row a member.

        Parameters
        ----------
        name : str
            A quantity that is one number, such as "joint.pin.angle", "reaction.pin.force[2]", "energy.total" or "pin.angle".

        Returns
        -------
        ndarray, (N, nt)
            Its values; NaN in the rows of members without states, and behind the end of runs that did not reach theirs.

        Raises
        ------
        UsageError
            If the name means nothing or a vector, with the nearest one; or if the members have their states at different times.
        """
        rows, longest = dict[int, Array](), np.zeros(0)
        for k, kept in enumerate(self._kept):
            if kept is None:
                continue
            result = self[k]
            reader = Reader(result)
            outputs = meant_outputs(reader, result.model, name)
            if len(outputs) != 1:
                what = f"history: {name!r} is a vector of {len(outputs)} numbers"
                raise UsageError(f"{what}: say which, such as {outputs[0].text!r}.")
            t = np.asarray(result.t)
            n = min(len(t), len(longest))
            if not np.array_equal(t[:n], longest[:n]):
                raise UsageError(
                    f"history: member {k} has its states at other times than those before: run the batch with t_eval=."
                )
            longest = t if len(t) > len(longest) else longest
            rows[k] = np.asarray(reader.values(outputs[0]), dtype=np.float64)
        table = np.full((len(self), len(longest)), np.nan)
        for k, row in rows.items():
            table[k, : len(row)] = row
        return table

    @cached_property
    def warnings(self) -> dict[int, Any]:
        """The warnings of the runs that have some, as `Result.warnings`."""
        every = (tuple(self[k].warnings) if warnings is None else warnings for k, warnings in enumerate(self._warnings))
        return {k: warnings for k, warnings in enumerate(every) if warnings}

    def __iter__(self) -> Iterator[Result]:
        """Iterate over the results of the members that have one."""
        return (self[k] for k, kept in enumerate(self._kept) if kept is not None)


@dataclass
class Deferred:
    """A run whose Result is made when somebody asks for it.

    t, y: times (nt,) and states (nt, ny);  outcome: status and message, without the notes on the states;  make: makes the Result
    """

    t: Array
    y: Array
    outcome: Outcome
    make: Callable[[], Result]

    @cached_property
    def result(self) -> Result:
        """Return the Result."""
        return self.make()

    def __reduce__(self) -> Any:
        """Return the pickled form: that of the Result."""
        return _itself, (self.result,)


def _itself(result: Result) -> Result:
    """Return a Result."""
    return result


@dataclass
class Ended:
    """The end of the run of one member.

    result: the Result, or its file; None if it has no state;  reason: why it did not reach its end, "" if it did
    """

    result: Any = None
    reason: str = ""
    warnings: tuple[Any, ...] | None = ()
    t: float = np.nan
    y: Array | None = None


class Members(NamedTuple):
    """The members of a batch: their number;  length of a flat state;  the run of one;  its model, for results that are read from files.

    together: the runs of members first ... last - 1 in one call, None for one that is made alone
    size: members of one such call, or of those, one after the other, that one thread makes
    """

    n: int
    ny: int
    run: Callable[[int], Result | Deferred]
    model_of: Callable[[int], Model]
    together: Callable[[int, int], list[Deferred | None]] | None = None
    size: int = 1


def run_all(members: Members, threads: int, store: TrajectoryStore | None, bar: Progress) -> Trajectories:
    """Run all members, and return their trajectories; after Ctrl-C those that have ended."""
    n, ny, run, model_of, together, size = members
    stopped = threading.Event()

    def member(first: int, last: int) -> list[Ended]:
        made = together(first, last) if together is not None else [None] * (last - first)
        return [
            _ended(k, run, store, model_of) if result is None else Ended(result, "", None, float(result.t[-1]), result.y[-1])
            for k, result in zip(range(first, last), made, strict=True)
            if not stopped.is_set()
        ]

    ended: list[Ended] = []
    interrupted = False
    blocks = in_blocks(n, size, threads, member)
    try:
        for block in blocks:
            ended += block
            bar.reach(len(ended))
    except KeyboardInterrupt:
        interrupted = True
        stopped.set()
        blocks.close()  # it waits for what runs
    ended += [Ended(reason=PENDING)] * (n - len(ended))
    y_end = np.full((n, ny), np.nan)
    for k, end in enumerate(ended):
        if end.y is not None:
            y_end[k] = end.y
    return Trajectories(
        np.array([not end.reason for end in ended], dtype=bool),
        {k: end.reason for k, end in enumerate(ended) if end.reason},
        np.array([end.t for end in ended], dtype=np.float64),
        y_end,
        "" if store is None else str(store.folder),
        interrupted,
        tuple(end.result for end in ended),
        model_of,
        tuple(end.warnings for end in ended),
    )


def _ended(
    k: int, run: Callable[[int], Result | Deferred], store: TrajectoryStore | None, model_of: Callable[[int], Model]
) -> Ended:
    """Return the end of the run of member k, from its file if it has one already."""
    if store is not None:
        stored = store.known(k)
        if stored is not None:
            path, reason = stored
            loaded: Any = None if path is None else load(path, model=model_of(k))  # a file may not hold functions
            if not reason and not loaded.success:  # the end of the process came before that of writing
                reason = loaded.message
            return _ended_with(loaded, path, reason)
    result, reason = _attempt(k, run)
    if store is None:
        return _ended_with(result, result, reason)
    return _ended_with(result, store.keep(k, result, reason), reason)


def _attempt(k: int, run: Callable[[int], Result | Deferred]) -> tuple[Any, str]:
    """Return the result of member k, the part before an error if there is one, and the reason why it did not reach its end.

    Raise KeyboardInterrupt if Ctrl-C has ended the run: it is meant for the batch.
    """
    try:
        result = run(k)
    except Exception as error:  # noqa: BLE001  whatever a user's function raises belongs to its member
        return getattr(error, "result", None), error_text(error)
    outcome = result.outcome
    if outcome.status is RunStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return result, "" if outcome.success else outcome.message


def _ended_with(result: Any, kept: Any, reason: str) -> Ended:
    """Return a member with its last state."""
    if result is None or not len(result.t):
        return Ended(None, reason)
    warnings = None if isinstance(result, Deferred) else tuple(result.warnings)
    return Ended(kept, reason, warnings, float(result.t[-1]), result.y[-1].copy())
