r"""Part: the base class of joints, force elements and blocks, which are frozen when their constructor has ended.

Constructors check values, and compute others from them: a value set later would be neither checked nor used.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import wraps
from typing import Any, NamedTuple, TypeVar

P = TypeVar("P", bound="Part")

REMEDY = "Make a new one, or vary values from run to run with a parameter of the system, or with `mbd.batch`."


class Call(NamedTuple):
    """The arguments of a constructor, by position and by name."""

    positional: tuple[Any, ...]
    named: dict[str, Any]


CALL = "_call"
"""The attribute with the call that has made a part: the same part with another number is the same call with another number. It belongs to
this object alone: copies and pickled forms have none."""


def call_of(part: Any) -> Call | None:
    """Return the call that has made a part; None of a copy, or of one that was made otherwise."""
    found: Call | None = vars(part).get(CALL)
    return found


class Part(ABC):
    """Base class of joints, force elements and blocks: public attributes cannot be set again when the constructor has ended.

    Attributes with an underscore may be set at any time: they keep computed values. `System.add` freezes an object that no
    constructor has frozen.
    """

    name: str
    _is_made = False

    def __init_subclass__(cls) -> None:
        """Let the constructor of the class freeze the object at its end."""
        super().__init_subclass__()
        if "__init__" in vars(cls):
            setattr(cls, "__init__", _freezing_constructor(cls, vars(cls)["__init__"]))  # noqa: B010  mypy refuses the assignment to a method

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for copies and for pickle."""
        return {name: value for name, value in self.__dict__.items() if name != CALL}

    def __setattr__(self, name: str, value: object) -> None:
        if self._is_made and not name.startswith("_"):
            self._set_again(name, value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if self._is_made and not name.startswith("_"):
            self._refuse(name)
        object.__delattr__(self, name)

    def _set_again(self, name: str, value: object) -> None:
        """Set an attribute after the constructor. Raise FrozenInstanceError unless a class of parts allows it."""
        self._refuse(name)

    def _complete(self) -> None:  # noqa: B027  a subclass may have nothing to compute
        """Compute what follows from all attributes, before the object is frozen; nothing by default."""

    def _refuse(self, name: str) -> None:
        """Raise FrozenInstanceError for setting this attribute."""
        kind = type(self).__name__
        raise FrozenInstanceError(f"a {kind} is frozen: {name} of {kind} {self.name!r} cannot be set. {REMEDY}")


def _freezing_constructor(cls: type[Part], constructor: Callable[..., None]) -> Callable[..., None]:
    """Return the constructor of a class, which freezes an object unless a subclass has more to construct."""

    @wraps(constructor)
    def construct(self: Part, *args: Any, **given: Any) -> None:
        constructor(self, *args, **given)
        if type(self).__init__ is vars(cls)["__init__"]:
            self.__dict__[CALL] = Call(args, given)
            frozen_part(self)

    return construct


def frozen_part(part: P) -> P:
    """Return the part, whose public attributes cannot be set any more."""
    if not part._is_made:
        part._complete()
    part.__dict__["_is_made"] = True
    return part


def changed(part: P, **values: Any) -> P:
    """Return a shallow copy with other attributes, which are not checked."""
    made = object.__new__(type(part))
    made.__dict__.update({**part.__dict__, **values})
    return made
