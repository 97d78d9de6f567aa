"""Errors of the recursions: a wrong type, numbers that are not finite, or a freedom without inertia."""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError, UsageError
from haugmbd.model.model import Model
from haugmbd.serial_chain.base import BaseChain
from haugmbd.system.system import System


def need_chain(chain: Any, who: str) -> None:
    """Raise UsageError, with a remedy, if `chain` is not a chain. `who` names the caller."""
    if isinstance(chain, BaseChain):
        return
    if isinstance(chain, System | Model):
        remedy = "It is in maximal coordinates: SerialChain.from_system(...) gives its chain, if it is one."
    else:
        remedy = "Make one by SerialChain([Link.revolute(...), ...])."
    raise UsageError(f"{who} needs a SerialChain, got {chain!r:.60} ({type(chain).__name__}). {remedy}")


def need_finite(chain: BaseChain, q: Array, *given: Array) -> None:
    """Raise UsageError if coordinates or other numbers are not finite, or Euler parameters are zero."""
    if not all(np.isfinite(array).all() for array in (q, *given)):
        raise UsageError(f"chain {chain.name!r}: q, qd, qdd, tau and wrenches must be finite, got a NaN or an infinity.")
    for (_, n, at), link in zip(chain.tables["LINKS"], chain.links, strict=True):
        first = at + n - 3
        if link.nq > link.nv and not q[first : first + 4].any():
            raise UsageError(
                f"chain {chain.name!r}: the Euler parameters of link {link.name!r}, q[{first}:{first + 4}], are all zero, which is no "
                "rotation. Give (1, 0, 0, 0) for none; chain.q_zero() has every joint at zero."
            )


def not_finite_error(chain: BaseChain, freedom: int, q: Array, *given: Array) -> SimulationError:
    """Return the error for a result that is not finite.

    If `freedom` < 0, inertia is not the cause. Raises UsageError for wrong numbers.
    """
    need_finite(chain, q, *given)
    if freedom >= 0:
        return chain.no_inertia(freedom)
    largest = max(float(np.abs(array).max(initial=0.0)) for array in (q, *given))
    return SimulationError(f"chain {chain.name!r}: the numbers overflow; the largest that was given is {largest:.3g}.")
