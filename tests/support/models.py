"""Models of mechanisms that many tests share: each is compiled once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import haugmbd as mbd


@cache
def model_of(make: Callable[..., mbd.System], *given: Any, **more: Any) -> mbd.Model:
    """The model of the mechanism that `make` builds from these arguments; a model is frozen."""
    return make(*given, **more).compile()
