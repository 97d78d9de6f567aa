"""A record of a run of `make bench`, read again: each tool answers from it, so that tables and diagrams are made from data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.benchmarks import closed_loops, work_precision
from tests.benchmarks.precision import Curve, Task, measure
from tests.benchmarks.worker import REPOSITORY, Worker

RECORD = REPOSITORY / "docs" / "benchmarks.json"
"""The record that the page and the README show."""


class NotMeasured(Exception):
    """Error if the run did not measure something."""


class RecordedWorker(Worker):
    """A tool that answers with the minima of the record."""

    def __init__(self, tool: str, answers: dict[str, dict[str, Any]], *, missing: bool) -> None:
        self._tool, self._answers, self.missing = tool, answers, missing

    def ask(self, task: str, **arguments: Any) -> dict[str, Any]:
        """Return what was measured. Raise NotMeasured if it was not."""
        key = _key(self._tool, task, arguments)
        if key not in self._answers:
            raise NotMeasured(key)
        return self._answers[key]


class Recorded:
    """The record: `about` with date, machine and versions; `worker(tool)`, and the curves of the studies."""

    def __init__(self, path: Path = RECORD) -> None:
        self.about: dict[str, Any] = json.loads(path.read_text())
        self._answers = {
            _key(one["tool"], one["task"], one["arguments"]): {**one["minimum"], **one.get("said", {})}
            for one in self.about["measured"]
        }

    def worker(self, tool: str) -> RecordedWorker:
        """Return a tool by the name of its module."""
        return RecordedWorker(tool, self._answers, missing=not any(one["tool"] == tool for one in self.about["measured"]))

    def value(self, tool: str, task: str, quantity: str = "us", /, **arguments: Any) -> float | None:
        """Return one minimum, None if it was not measured."""
        try:
            answer = self.worker(tool).ask(task, **arguments)
        except NotMeasured:
            return None
        return float(answer[quantity]) if quantity in answer else None

    def tasks(self) -> dict[str, Task]:
        """Return the studies of work against precision by the names of their diagrams."""
        ours, runs, pinocchio, exudyn, mujoco = (
            self.worker(tool) for tool in ("ours", "ours_precision", "peer_pinocchio", "peer_exudyn", "peer_mujoco")
        )
        made = [
            work_precision.chains(ours, exudyn, mujoco),
            work_precision.andrews(runs, pinocchio, exudyn),
            *work_precision.four_bars(runs, exudyn, mujoco),
            work_precision.tops(runs, exudyn, mujoco),
            *closed_loops.precision(runs, exudyn, mujoco),
            work_precision.cloths(runs, exudyn),
        ]
        return {task.study.file: task for task in made}

    def curves(self, task: Task) -> list[Curve]:
        """Return what was measured of a study."""
        return measure([kept for method in task.methods if (kept := self._measured(method)).settings], repeats=1)

    def _measured(self, method: Any) -> Any:
        """Return a method with the settings that were measured."""
        return replace(method, settings=tuple(setting for setting in method.settings if _answers(method, setting)))


def _answers(method: Any, setting: float) -> bool:
    """Return whether a method was measured at a setting."""
    try:
        method.ask(setting)
    except NotMeasured:
        return False
    return True


def _key(tool: str, task: str, arguments: dict[str, Any]) -> str:
    """Return the key of a measurement."""
    return json.dumps({"tool": tool, "task": task, "arguments": arguments}, sort_keys=True)


def least(curves: Sequence[Curve], tool: str, enough: float, name: str | None = None) -> tuple[str, float] | None:
    """Return the method of a tool that needs the least CPU time [s] to an error, and this time; None if none reaches it."""
    found = [
        (seconds, curve.method.name)
        for curve in curves
        if curve.method.tool == tool and name in (None, curve.method.name) and (seconds := curve.least(enough)) is not None
    ]
    return (min(found)[1], min(found)[0]) if found else None
