r"""Subscripts that count from the start: `table[unsigned(row), column]` in compiled code.

A negative subscript counts from the end, and Numba compares every computed one with zero, for which it also keeps the length of the
dimension at hand. An unsigned one is taken as it stands. Where it may not be negative, an accessor of a table says so in this way; with
NUMBA_BOUNDSCHECK=1, one that is negative all the same is an IndexError, no row from the end.

It is a subscript only, made of the finished number: Numba's sum of an unsigned and a signed integer is a float.
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.numba_names import PLAIN, intrinsic, types


def _plain(k: int) -> int:
    """Return k unchanged if the compiler is switched off."""
    return k


def _lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the code of `unsigned`, which changes the type and no bit."""
    return context.cast(builder, arguments[0], signature.args[0], signature.return_type)


if PLAIN:
    unsigned: Any = _plain
else:

    @intrinsic  # type: ignore[untyped-decorator]
    def unsigned(typing: Any, k: Any) -> Any:
        """Return k, which is not negative, as a subscript."""
        return types.uintp(types.unliteral(k)), _lower
