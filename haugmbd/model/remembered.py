"""What follows from a model alone is worked out once for each model, which is frozen."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Value = TypeVar("Value")


def once_per_model(function: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Decorate a function of a model: its value is kept with the model, and must not be changed."""
    key = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def remembered(model: Any) -> Value:
        known = vars(model).setdefault("_remembered", {})
        try:
            value: Value = known[key]
        except KeyError:
            value = known[key] = function(model)
        return value

    return remembered
