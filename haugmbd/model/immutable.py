"""Frozen classes whose error message names the way to change a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


def immutable(instead: str) -> Callable[[Class], Class]:
    """Decorate a frozen dataclass: assignment raises an error that ends with the sentence `instead`."""

    def explain(cls: Class) -> Class:
        def refuse(self: object, name: str, *value: object) -> None:
            raise FrozenInstanceError(f"a {cls.__name__} is frozen: {name} cannot be set. {instead}")

        frozen: Any = cls
        frozen.__setattr__ = frozen.__delattr__ = refuse
        return cls

    return explain
