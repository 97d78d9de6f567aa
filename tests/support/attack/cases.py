"""The cases of a seed: mechanism, method, verdict."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

import numpy as np

from tests.support.attack.families import mechanism_of
from tests.support.attack.mechanism import Mechanism
from tests.support.attack.methods import Method, method_of
from tests.support.attack.verdicts import Verdict, judge

PER_MECHANISM = 6
"""Cases that share a mechanism and its reference."""


def cases(seed: int, numbers: Iterable[int], family: str = "") -> Iterator[tuple[int, Mechanism, Method, Verdict]]:
    """Yield each case with its verdict."""
    for k in numbers:
        m = mechanism_of(seed, k // PER_MECHANISM, family)
        method = method_of(np.random.default_rng((seed, 1, k)), m.t_end)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                verdict = judge(m, method)
            except Exception as error:  # noqa: BLE001
                verdict = Verdict("finding", f"the attack itself: {type(error).__name__}: {error}")
        yield k, m, method, verdict
