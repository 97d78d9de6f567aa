r"""Operators: the common base of a Jet and of the tape's Tracer, so that the same plain function of t runs with either.

An operator is its ufunc (x + y is np.add), np.where is one method, and np.polyval, np.clip and np.select are composed of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class NotAFloat(TypeError):
    """A Jet or a tracer was converted to a plain float, as math.cos does: the derivatives would be lost."""


def _polyval(p: Sequence[Any], x: Any) -> Any:
    """Return the polynomial by Horner's rule, highest power first, as np.polyval."""
    y = 0.0 * x
    for coefficient in p:
        y = y * x + coefficient
    return y


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """Return np.clip; a limit of None does not limit."""
    below = a if a_min is None else np.maximum(a, a_min)
    return below if a_max is None else np.minimum(below, a_max)


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Return np.select: the first condition that holds decides."""
    y = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        y = np.where(condition, choice, y)
    return y


COMPOSED: dict[Callable[..., Any], Callable[..., Any]] = {np.polyval: _polyval, np.clip: _clip, np.select: _select}


class Operators(NDArrayOperatorsMixin):
    """Base class of Jet and Tracer: an operator is its ufunc; np.polyval, clip, select are composed of ufuncs and where."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Any:  # x += y is x = x + y: values are never changed in place
        return self + other

    def __isub__(self, other: Any) -> Any:
        return self - other

    def __imul__(self, other: Any) -> Any:
        return self * other

    def __itruediv__(self, other: Any) -> Any:
        return self / other

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """Return x if the condition holds, else y; any of the three may be of this class."""
        raise TypeError(f"{type(self).__name__} has no rule for np.where")

    def __array_function__(self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply np.where and the composed functions. Raise TypeError for all others."""
        if func is np.where:
            return self.where(*args, **kwargs)
        if func in COMPOSED:
            return COMPOSED[func](*args, **kwargs)
        raise TypeError(f"np.{func.__name__} has no derivative rule")

    def __float__(self) -> float:
        """Raise NotAFloat: a float has no derivatives."""
        raise NotAFloat("t is not a plain float: use np.cos instead of math.cos, and no float(t)")
