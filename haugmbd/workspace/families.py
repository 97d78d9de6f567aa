r"""Twins of routines: the same text, compiled for other numbers in place of doubles.

    Pack of doubles -> Pack of duals, of numbers on a tape, of numbers of several members side by side

Every routine of a `Pack` has a twin whose signature has these numbers in the arrays; integers and times are as they were.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from haugmbd.compiled.function_pointers import FunctionPointer, Routine, function_type, types
from haugmbd.compiled.native_tuples import tuple_pointer
from haugmbd.compiled.numba_names import COMPILES, Nothing
from haugmbd.compiled.records import record_of
from haugmbd.workspace.layout import PACK_TYPE


class Family(NamedTuple):
    """Numbers in place of doubles.

    number: their type;  pack: the type of a Pack of them;  variant: of the names of routines
    records: whether records, such as those of a step and its options, have these numbers, too
    """

    number: Any
    pack: Any
    variant: str
    records: bool = False


def new_family(name: str, number: Any, variant: str, *, records: bool = False) -> Family:
    """Return a family of numbers; the fields of its Packs are those of a Pack of doubles, twins of them."""
    family = Family(number, tuple_pointer(name), variant, records)
    if COMPILES:
        family.pack.fields = {field: type_in(family, kind) for field, kind in PACK_TYPE.fields.items()}
    return family


@cache
def type_in(family: Family, kind: Any) -> Any:
    """Return a type with other numbers in place of doubles in its arrays, and of a Pack that of these numbers.

    Without a compiler there are no types, and nothing that stands for one changes.
    """
    if not COMPILES:
        return kind
    if kind is PACK_TYPE:
        return family.pack
    if isinstance(kind, types.Array) and kind.dtype == types.float64:
        return types.Array(family.number, kind.ndim, kind.layout)
    if isinstance(kind, types.Record) and family.records:
        return record_of(family.number, tuple(kind.fields))
    if isinstance(kind, types.CPointer):
        return types.CPointer(family.number)
    if isinstance(kind, FunctionPointer):
        return function_type(signature_in(family, kind.sig))
    if isinstance(kind, types.NamedUniTuple):
        return types.NamedUniTuple(type_in(family, kind.dtype), kind.count, kind.instance_class)
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple(tuple(type_in(family, each) for each in kind.types), kind.instance_class)
    return kind


def signature_in(family: Family, signature: Any) -> Any:
    """Return a signature with other numbers in place of doubles in arrays."""
    return signature.return_type(*(type_in(family, each) for each in signature.args)) if COMPILES else Nothing()


_twins: dict[tuple[int, str], tuple[Routine, Routine]] = {}


def twin(routine: Any, family: Family) -> Any:
    """Return the routine with other numbers in place of doubles; a tuple of routines member by member, and callbacks as they are."""
    if isinstance(routine, tuple):
        return type(routine)(*(twin(each, family) for each in routine))
    if not isinstance(routine, Routine):
        return routine
    key = id(routine), family.variant
    if key not in _twins:
        _twins[key] = routine, Routine(routine._function, signature_in(family, routine.signature), family.variant)
    return _twins[key][1]
