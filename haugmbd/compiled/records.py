"""Records: named numbers that compiled code reads and writes by name, in place of numbered registers.

A class lists the fields; its NumPy dtype is what Numba compiles, and what Python fills:

    class Step:
        h: float

    STEP = record_dtype(Step)       step = new_record(STEP, h=1e-3)        step.h in Python and in kernels alike

In Python the fields are properties: NumPy's own records search for a field at each access, which takes ten times as long.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

from haugmbd.compiled.numba_names import COMPILES, Nothing, ir, numba, types

if COMPILES:
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import infer_getattr, lower_getattr_generic, lower_setattr_generic, models, register_model
else:
    AttributeTemplate = infer_getattr = lower_getattr_generic = lower_setattr_generic = models = register_model = Nothing()


def record_dtype(fields: type) -> np.dtype[Any]:
    """Return the dtype of the annotated fields of a class, every one a float."""
    properties = {name: field_property(name) for name in fields.__annotations__}
    scalar = type(fields.__name__, (np.void,), {"__slots__": (), **properties})
    return np.dtype((scalar, np.dtype([(name, np.float64) for name in fields.__annotations__], align=True)))


def field_property(name: str) -> property:
    """Return the property that reads and writes a field of a record."""

    def put(record: Any, value: float) -> None:
        record[name] = value

    return property(itemgetter(name), put)


def record_type(dtype: np.dtype[Any]) -> Any:
    """Return the Numba type of a record."""
    return numba.from_dtype(dtype)


def new_record(dtype: np.dtype[Any], **values: float) -> Any:
    """Return a record with these values, all others zero."""
    record = np.zeros(1, dtype=dtype)[0]
    for name, value in values.items():
        record[name] = value
    return record


def copy_record(record: Any) -> Any:
    """Return a copy of a record; its own method takes three times as long."""
    copy = np.empty(1, dtype=record.dtype)
    copy[0] = record
    return copy[0]


# ------------------------------------------------------------------------------------------------------------ of other numbers
class RecordOf(types.Type):  # type: ignore[misc]  # Numba has no types
    """The type of a record of other numbers than doubles: the address of the first; they follow one another.

    number: their type;  names: of the fields
    """

    def __init__(self, number: Any, names: tuple[str, ...]) -> None:
        self.number, self.names = number, names
        super().__init__(f"record of {number}: {', '.join(names)}")

    def __reduce__(self) -> Any:
        """Return the pickled form: the index of the disk cache contains types."""
        return record_of, (self.number, self.names)


@cache
def record_of(number: Any, names: tuple[str, ...]) -> RecordOf:
    """Return the type of records of these numbers."""
    return RecordOf(number, names)


register_model(RecordOf)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """The types of the fields, for Numba."""

    key = RecordOf

    def generic_resolve(self, kind: Any, name: str) -> Any:
        """Return the type of a field; None if there is none of this name."""
        return kind.number if name in kind.names else None


def _place(context: Any, builder: Any, kind: Any, record: Any, name: str) -> Any:
    """Return the address of a field."""
    numbers = builder.bitcast(record, context.get_data_type(kind.number).as_pointer())
    return builder.gep(numbers, [ir.Constant(ir.IntType(64), kind.names.index(name))])


@lower_getattr_generic(RecordOf)  # type: ignore[untyped-decorator]
def _load(context: Any, builder: Any, kind: Any, record: Any, name: str) -> Any:
    """Return the LLVM value of a field."""
    return context.unpack_value(builder, kind.number, _place(context, builder, kind, record, name), align=1)


@lower_setattr_generic(RecordOf)  # type: ignore[untyped-decorator]
def _store(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    """Write a field."""
    kind, given = signature.args
    value = context.cast(builder, arguments[1], given, kind.number)
    context.pack_value(builder, kind.number, value, _place(context, builder, kind, arguments[0], name), align=1)
