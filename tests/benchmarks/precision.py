r"""Work against precision: methods of several tools on one mechanism, each at several settings; a table, the least work, a diagram.

least work      the least CPU time of the settings whose error is at most the wanted one
at equal error  our time, between our settings along the straight line of the logarithms, over the other's, at each of its settings
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tests.benchmarks import diagram
from tests.benchmarks.turns import best, in_turn, median, verdict

OURS = "haugmbd"


@dataclass(frozen=True)
class Method:
    """ask: of a setting, the answer of a tool: `seconds` and `error`, or `failed` with its words; others are printed, too."""

    tool: str
    name: str
    settings: Sequence[float]
    ask: Callable[[float], dict[str, Any]]

    @property
    def label(self) -> str:
        """Tool and method."""
        return f"{self.tool}, {self.name}"


@dataclass(frozen=True)
class Curve:
    """What a method was measured at: settings, CPU times [s] (minimum and median), errors; answers of the first run; what failed."""

    method: Method
    settings: list[float]
    seconds: list[float]
    medians: list[float]
    errors: list[float]
    answers: list[dict[str, Any]]
    failed: dict[float, str]

    def least(self, enough: float) -> float | None:
        """CPU time [s] to an error of at most `enough`; None where no setting reaches it."""
        return min((s for s, error in zip(self.seconds, self.errors, strict=True) if error <= enough), default=None)

    def at(self, error: float) -> float | None:
        """CPU time [s] at this very error, between two settings; None beyond them."""
        points = sorted(zip(np.log(self.errors), np.log(self.seconds), strict=True))
        for (low, slow), (high, fast) in pairwise(points):
            if low <= np.log(error) <= high:
                return float(np.exp(np.interp(np.log(error), [low, high], [slow, fast])))
        return None


@dataclass(frozen=True)
class Study:
    """One question: its words, where the diagram goes, what the error is, which is enough, and bars: of our best time / that of a tool."""

    title: str
    file: str
    error: str
    enough: float
    bars: dict[str, float]
    notes: tuple[str, ...] = ()


class Task(NamedTuple):
    """A question, the methods that answer it, and how often each is measured."""

    study: Study
    methods: Sequence[Method]
    repeats: int


def measure(methods: Sequence[Method], repeats: int) -> list[Curve]:
    """All settings of all methods, in turns."""
    asks = {
        f"{method.label}|{setting!r}": (lambda m=method, s=setting: m.ask(s)) for method in methods for setting in method.settings
    }
    answers = in_turn(asks, repeats)
    return [_curve(method, {s: answers[f"{method.label}|{s!r}"] for s in method.settings}) for method in methods]


def _curve(method: Method, found: dict[float, list[dict[str, Any]]]) -> Curve:
    """Those that failed apart from the others."""
    failed = {s: given[0]["failed"] for s, given in found.items() if "failed" in given[0]}
    kept = {s: given for s, given in found.items() if s not in failed}
    times = [[one(given, "seconds") for given in kept.values()] for one in (best, median)]
    errors = [float(given[0]["error"]) for given in kept.values()]
    return Curve(method, list(kept), *times, errors, [given[0] for given in kept.values()], failed)


def section(task: Task) -> list[Curve]:
    """Measure, print, draw."""
    study, methods, repeats = task
    curves = measure(methods, repeats)
    print(f"\n{study.title}: CPU time [ms] (median) and {study.error}, at several settings")
    for curve in curves:
        print(_line(study, curve))
        for setting, words in curve.failed.items():
            print(f"{'':<34}  at {setting:g}: {words}")
    _against(study, curves)
    for note in study.notes:
        print(note)
    place = diagram.draw(study.title, study.file, study.error, study.enough, curves)
    print(f"diagram: {place}" if place else "diagram: matplotlib is not installed")
    return curves


def _line(study: Study, curve: Curve) -> str:
    """One method."""
    text = f"{curve.method.label:<34}"
    for setting, ms, mid, error, answer in zip(
        curve.settings, curve.seconds, curve.medians, curve.errors, curve.answers, strict=True
    ):
        away = f" {answer['away']:.0e} m" if "away" in answer else ""
        text += f"  {setting:g}: {1e3 * ms:.1f} ({1e3 * mid:.1f}) {error:.1e}{away};"
    least = curve.least(study.enough)
    return text + ("  not reached" if least is None else f"  least: {1e3 * least:.1f} ms")


def _against(study: Study, curves: Sequence[Curve]) -> None:
    """Our best beside each other method, and the bar."""
    mine = {c.method.name: s for c in curves if c.method.tool == OURS and (s := c.least(study.enough)) is not None}
    if not mine:
        print(f"{OURS} does not reach {study.enough:g}")
        return
    name = min(mine, key=mine.__getitem__)
    print(f"least CPU time to {study.enough:g}: {OURS}, {name}, {1e3 * mine[name]:.1f} ms; over that of")
    for curve in curves:
        tool, least = curve.method.tool, curve.least(study.enough)
        if tool != OURS and curve.seconds:
            ratio = mine[name] / (max(curve.seconds) if least is None else least)
            words = f"  {verdict(ratio, study.bars[tool])}" if tool in study.bars else ""
            note = f" and less: {1e3 * max(curve.seconds):.0f} ms are not enough" if least is None else ""
            print(f"{curve.method.label:>34}: {ratio:.3f}{note}{words}")


def equal_error(ours: Curve, other: Curve, bar: float) -> None:
    """Print our time over another's at each error that it has and we span."""
    found = {error: mine / s for error, s in zip(other.errors, other.seconds, strict=True) if (mine := ours.at(error)) is not None}
    text = ", ".join(f"{ratio:.3f} at {error:.0e}" for error, ratio in found.items())
    words = verdict(max(found.values()), bar) if found else "no error in common"
    print(f"{ours.method.label} / {other.method.label} at equal error: {text}  {words}")
