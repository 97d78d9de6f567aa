"""How tools are measured beside each other: in turns, by the minimum of CPU times, against a bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Answers = dict[str, list[dict[str, Any]]]


def in_turn(asks: dict[str, Callable[[], dict[str, Any]]], repeats: int) -> Answers:
    """A B A B ...; the first round, in which caches fill, does not count."""
    for ask in asks.values():
        ask()
    answers: Answers = {name: [] for name in asks}
    for _ in range(repeats):
        for name, ask in asks.items():
            answers[name].append(ask())
    return answers


def best(answers: list[dict[str, Any]], what: str = "us") -> float:
    """The minimum."""
    return min(a[what] for a in answers)


def median(answers: list[dict[str, Any]], what: str = "us") -> float:
    """The median."""
    return float(np.median([a[what] for a in answers]))


def verdict(value: float, bar: float) -> str:
    """The bar, and whether it is met."""
    return f"bar {bar:g} {'met' if value <= bar else 'MISSED'}"
