"""Named tuples that compiled code receives as one address.

Numba passes a tuple field by field: each array and each function is taken apart at every call from Python (40 us for a Pack, whatever
the size of the model), and every function that is passed one has some fifty arguments, which take time to compile. A tuple of a
`TuplePointer` type is written to memory once, as a few words; compiled code reads the fields that it needs from there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.compiled.array_views import lower_view
from haugmbd.compiled.function_pointers import read_pointer
from haugmbd.compiled.numba_names import COMPILES, PLAIN, Nothing, cgutils, intrinsic, ir, make_array, types

if COMPILES:
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import infer_getattr, lower_getattr_generic, models, register_model, unbox
else:
    AttributeTemplate = infer_getattr = lower_getattr_generic = models = register_model = unbox = Nothing()

WORD = ir.IntType(64)


class TuplePointer(types.Type):  # type: ignore[misc]  # Numba has no types
    """The Numba type of a named tuple whose attribute `address` is the address of its words.

    fields: the types of its fields by name: arrays (the address, and a word for each dimension), functions, records and other such tuples
    (one word), and tuples of functions
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.fields: dict[str, Any] = {}

    def __reduce__(self) -> Any:
        """Return the pickled form: the index of the disk cache contains types."""
        return tuple_pointer, (self.name,)

    def place(self, name: str) -> int:
        """Return the number of the first word of a field."""
        names = list(self.fields)
        return sum(_words(self.fields[other]) for other in names[: names.index(name)])


def _words(kind: Any) -> int:
    """Return the number of words of a field."""
    return 1 + kind.ndim if isinstance(kind, types.Array) else kind.count if isinstance(kind, types.BaseTuple) else 1


@cache
def tuple_pointer(name: str) -> TuplePointer:
    """Return the type of this name; its fields are set where the tuple is defined."""
    return TuplePointer(name)


register_model(TuplePointer)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """The types of the fields, for Numba."""

    key = TuplePointer

    def generic_resolve(self, kind: Any, name: str) -> Any:
        """Return the type of a field; None if there is none of this name."""
        return kind.fields.get(name)


def load_word(builder: Any, pointer: Any, number: int, kind: Any = WORD) -> Any:
    """Return a word of the tuple at `pointer` as an LLVM value of this type."""
    place = builder.gep(builder.bitcast(pointer, WORD.as_pointer()), [WORD(number)])
    return builder.load(builder.bitcast(place, kind.as_pointer()))


@lower_getattr_generic(TuplePointer)  # type: ignore[untyped-decorator]
def load_field(context: Any, builder: Any, kind: Any, pointer: Any, name: str) -> Any:
    """Return the LLVM value of a field."""
    field, number = kind.fields[name], kind.place(name)
    if isinstance(field, types.Array):
        data = load_word(builder, pointer, number, context.get_data_type(field.dtype).as_pointer())
        return lower_view(context, builder, field, data, [load_word(builder, pointer, number + 1 + k) for k in range(field.ndim)])
    if isinstance(field, types.BaseTuple):
        one = context.get_value_type(field.dtype)
        return cgutils.pack_array(builder, [load_word(builder, pointer, number + k, one) for k in range(field.count)])
    return load_word(builder, pointer, number, context.get_value_type(field))


@unbox(TuplePointer)  # type: ignore[untyped-decorator]
def read(kind: Any, given: Any, c: Any) -> Any:
    """Read the address of a tuple."""
    return read_pointer(given, c.context.get_value_type(kind), c)


def _typed_with_ints(typing: Any, P: Any, ints: Any) -> Any:
    """Return the signature of `with_ints`, and its code: the words are copied to the stack of the calling function."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, array = signature.args
        given, size = make_array(array)(context, builder, arguments[1]), sum(map(_words, kind.fields.values()))
        words = cgutils.alloca_once(builder, WORD, size)
        cgutils.raw_memcpy(builder, words, builder.bitcast(arguments[0], WORD.as_pointer()), WORD(size), 8)
        first = kind.place("ints")
        builder.store(builder.ptrtoint(given.data, WORD), builder.gep(words, [WORD(first)]))
        builder.store(builder.extract_value(given.shape, 0), builder.gep(words, [WORD(first + 1)]))
        return builder.bitcast(words, context.get_value_type(kind))

    return P(P, ints), lower


def _plain_with_ints(P: Any, ints: Ints) -> Any:
    """Return the tuple with these integers if the compiler is switched off."""
    return P._replace(ints=ints)


with_ints: Any = _plain_with_ints if PLAIN else intrinsic(_typed_with_ints)
"""with_ints(P, ints): the tuple P with another array `ints`, valid until the function that calls it returns."""


def thing_at(kind: Any) -> Any:
    """Return a function of compiled code: the tuple, or the function, of this type at an address, which is an integer."""

    def typed(typing: Any, address: Any) -> Any:
        return kind(types.int64), lower

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return intrinsic(typed)


def view_at(dimensions: int) -> Any:
    """Return a function of compiled code, view(pointer, n) or view(pointer, rows, columns): the array of numbers at a pointer."""
    kind = types.Array(types.float64, dimensions, "C")

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return lower_view(context, builder, kind, arguments[0], list(arguments[1:]))

    def typed_line(typing: Any, pointer: Any, n: Any) -> Any:
        return kind(pointer, types.int64), lower

    def typed_matrix(typing: Any, pointer: Any, rows: Any, columns: Any) -> Any:
        return kind(pointer, types.int64, types.int64), lower

    return intrinsic(typed_line if dimensions == 1 else typed_matrix)


def words_of(values: Any) -> Ints:
    """Return the words of a named tuple; they are valid while its arrays and functions live."""
    words: list[int] = []
    for value in values:
        if isinstance(value, np.ndarray):
            words += (value.__array_interface__["data"][0], *value.shape)
        elif isinstance(value, np.void):
            memory: Any = value.base
            words.append(memory.__array_interface__["data"][0])
        elif isinstance(value, tuple) and not hasattr(value, "address"):
            words += [one.address for one in value]
        else:
            words.append(value.address)
    return np.array(words, dtype=np.int64)
