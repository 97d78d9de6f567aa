"""What a kernel chooses without a branch: the words of compiled code for numbers that decide differently side by side, see `wide`.

A branch runs one of two texts, for all that the numbers at hand stand for; `select` takes one of two numbers, for each of them.
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.numba_names import PLAIN, intrinsic, types


def _plain_select(condition: Any, x: Any, y: Any) -> Any:
    """Return x or y if the compiler is switched off."""
    return x if condition else y


def _typed_select(typing: Any, condition: Any, x: Any, y: Any) -> Any:
    """Return x where a condition holds, y elsewhere.

    Whole numbers, which tell where something was found, are those of the first member: they are for words, not for decisions.
    """
    if not isinstance(condition, types.Boolean):
        return condition.typed_select(x, y)
    kind = typing.unify_types(*(types.unliteral(each) for each in (x, y)))

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (context.cast(builder, value, was, kind) for value, was in zip(arguments[1:], signature.args[1:], strict=True))
        return builder.select(arguments[0], a, b)

    return kind(condition, x, y), lower


def _plain_somewhere(condition: Any) -> bool:
    """Return the condition if the compiler is switched off."""
    return bool(condition)


def _typed_somewhere(typing: Any, condition: Any) -> Any:
    """Return whether a condition holds, for some member of numbers of several."""
    if not isinstance(condition, types.Boolean):
        return types.boolean(condition), condition.lower_somewhere
    return types.boolean(condition), lambda context, builder, signature, arguments: arguments[0]


select: Any = _plain_select if PLAIN else intrinsic(_typed_select)
somewhere: Any = _plain_somewhere if PLAIN else intrinsic(_typed_somewhere)
