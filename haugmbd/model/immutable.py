"""Frozen classes whose error message names the way to change a value, and values that are computed once for each frozen model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import wraps
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)
Value = TypeVar("Value")


def immutable(instead: str) -> Callable[[Class], Class]:
    """Decorate a frozen dataclass: assignment raises an error that ends with the sentence `instead`."""

    def explain(cls: Class) -> Class:
        def refuse(self: object, name: str, *value: object) -> None:
            raise FrozenInstanceError(f"a {cls.__name__} is frozen: {name} cannot be set. {instead}")

        frozen: Any = cls
        frozen.__setattr__ = frozen.__delattr__ = refuse
        return cls

    return explain


def once_per_model(function: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Decorate a function of a model: its value is computed once, kept with the model, and must not be changed."""
    key = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def computed_once(model: Any) -> Value:
        known = vars(model).setdefault("_computed_once", {})
        try:
            value: Value = known[key]
        except KeyError:
            value = known[key] = function(model)
        return value

    return computed_once
