r"""Every compiled function of the package as LLVM code before optimisation, and a door into each for those who have no Numba.

    entry        fn(P, t, y, ...) in Numba's convention, linked with all its kernels; kept before `EntryLibrary.finalize` optimises it
    routine      the entry by its C address, which other compiled code calls
    word door    door(words, results): the same with all arguments as 64-bit words in memory, for callers outside compiled code

    number: one word    array: address, then its dimensions    record, tuple with an address, function: address    tuple: its fields

The disk cache of Numba keeps machine code, so that everything is compiled anew here, in a process and a cache of its own.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from llvmlite import binding as llvm  # type: ignore[import-untyped]

from haugmbd.compiled import fast_numba, quick_contexts
from haugmbd.compiled.array_views import lower_view
from haugmbd.compiled.engine_layer import makes_arrays
from haugmbd.compiled.function_pointers import FunctionPointer, Routine
from haugmbd.compiled.native_tuples import TuplePointer
from haugmbd.compiled.numba_names import cgutils, ir, types

WORD = ir.IntType(64)
DOOR = "door."
"""Begins the symbol of a word door, before the name of its function."""

Shape = str | list[Any]
"""How an argument travels in words: a letter, array letters with a number of dimensions, or a list of those of a tuple's fields."""


class Entry(NamedTuple):
    """An entry for one signature: its name, the symbols of its C address and of its word door, and the shapes of arguments and result."""

    name: str
    address: str
    door: str
    arguments: list[Shape]
    result: Shape

    @property
    def key(self) -> str:
        """The name of the entry with its arguments, by which a blob calls it."""
        return f"{self.name}({text_of(self.arguments)})"


class Collection(NamedTuple):
    """All compiled functions: LLVM texts, entries, and names and symbols of those that are called by address."""

    texts: list[str]
    entries: list[Entry]
    routine_names: list[str]
    routines: list[str]

    def digest(self) -> str:
        """Return the digest of the names, and of how arguments travel."""
        return hashlib.sha256("\n".join([*(each.key for each in self.entries), *self.routine_names]).encode()).hexdigest()[:16]


def text_of(shapes: list[Shape]) -> str:
    """Return shapes as text."""
    return ",".join(f"[{text_of(each)}]" if isinstance(each, list) else each for each in shapes)


def shape_of(kind: Any) -> Shape:
    """Return how an argument of a Numba type travels.  Raise TypeError for one that has no words."""
    if isinstance(kind, types.Boolean):
        return "b"
    if isinstance(kind, types.Integer):
        return "i"
    if isinstance(kind, types.Float):
        return "f"
    if isinstance(kind, types.Array) and kind.layout == "C":
        return f"{'i' if isinstance(kind.dtype, types.Integer) else 'f' if isinstance(kind.dtype, types.Float) else 'b'}{kind.ndim}"
    if isinstance(kind, types.Record):
        return "r"
    if isinstance(kind, TuplePointer | FunctionPointer | types.CPointer):
        return "p"
    if isinstance(kind, types.BaseTuple):
        return [shape_of(each) for each in kind.types]
    if isinstance(kind, types.NoneType):
        return "n"
    raise TypeError(f"{kind} has no words")


def words_in(shape: Shape) -> int:
    """Return the number of words of a shape."""
    if isinstance(shape, list):
        return sum(map(words_in, shape))
    return 0 if shape == "n" else 1 + int(shape[1:] or 0)


class Reader:
    """The words of a call, read one after another as LLVM values."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self.context, self.builder, self.words, self.read = context, builder, words, 0

    def word(self, kind: Any) -> Any:
        """Return the next word as a value of an LLVM type."""
        place = self.builder.gep(self.words, [WORD(self.read)])
        self.read += 1
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()))

    def value(self, kind: Any) -> Any:
        """Return the next argument of a Numba type."""
        context, builder = self.context, self.builder
        if isinstance(kind, types.Boolean):
            return builder.icmp_signed("!=", self.word(WORD), WORD(0))
        if isinstance(kind, types.Array):
            data = self.word(context.get_data_type(kind.dtype).as_pointer())
            return lower_view(context, builder, kind, data, [self.word(WORD) for _ in range(kind.ndim)])
        if isinstance(kind, types.BaseTuple) and not isinstance(kind, TuplePointer):
            return context.make_tuple(builder, kind, [self.value(each) for each in kind.types])
        if isinstance(kind, types.NoneType):
            return context.get_dummy_value()
        return self.word(context.get_value_type(kind))


def put_result(context: Any, builder: Any, kind: Any, value: Any, results: Any, k: int) -> int:
    """Write a result to the words from k on; return the next k."""
    if isinstance(kind, types.NoneType):
        return k
    if isinstance(kind, types.BaseTuple):
        for each, part in zip(kind.types, cgutils.unpack_tuple(builder, value, len(kind.types)), strict=True):
            k = put_result(context, builder, each, part, results, k)
        return k
    place = builder.gep(results, [WORD(k)])
    if isinstance(kind, types.Boolean | types.Integer):
        value = builder.zext(value, WORD) if value.type.width < WORD.width else value
    builder.store(value, builder.bitcast(place, value.type.as_pointer()))
    return k + 1


def add_door(context: Any, library: Any, fndesc: Any) -> None:
    """Add to the code of an entry its word door: 0, or the code of an exception."""
    module = context.create_module("door")
    function = ir.Function(module, context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes), fndesc.llvm_func_name)
    door = ir.Function(module, ir.FunctionType(WORD, [WORD.as_pointer(), WORD.as_pointer()]), DOOR + fndesc.llvm_func_name)
    builder = ir.IRBuilder(door.append_basic_block("entry"))
    read = Reader(context, builder, door.args[0])
    arguments = [read.value(kind) for kind in fndesc.argtypes]
    status, result = context.call_conv.call_function(
        builder, function, fndesc.restype, fndesc.argtypes, arguments, attrs=("noinline",)
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(WORD(1))
    put_result(context, builder, fndesc.restype, result, door.args[1], 0)
    builder.ret(WORD(0))
    library.add_ir_module(module)


def optimise_quickly(library: Any) -> None:
    """Optimise the code that runs here, which only shows the types of arguments: a third less time than Numba's level."""
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(library._codegen._tm, options)
    builder.getModulePassManager().run(library._final_module, builder)


def keep_modules() -> list[str]:
    """Let the compiler of this process keep each entry's module before optimisation, with a word door; return where they are kept."""
    texts: list[str] = []

    def finalize(library: Any) -> None:
        library._raise_if_finalized()
        fast_numba.link(library._final_module, library)
        texts.append(str(library._final_module))
        optimise_quickly(library)
        library._final_module.verify()
        library._finalize_final_module()

    usual = quick_contexts.QuickContext.create_cfunc_wrapper

    def with_door(context: Any, library: Any, fndesc: Any, env: Any, call_helper: Any) -> None:
        usual(context, library, fndesc, env, call_helper)
        if isinstance(library, fast_numba.EntryLibrary) and _has_words(fndesc):
            add_door(context, library, fndesc)

    entries: Any = fast_numba.EntryLibrary
    entries.finalize = finalize
    fast_numba.CountedLibrary = entries  # type: ignore[misc]  # of entries that make room for themselves, too
    quick_contexts.QuickContext.create_cfunc_wrapper = with_door
    return texts


def _has_words(fndesc: Any) -> bool:
    """Return whether all arguments of a function travel in words, and what it returns: no array that it makes."""
    try:
        return bool([shape_of(kind) for kind in fndesc.argtypes]) and not makes_arrays(shape_of(fndesc.restype))
    except TypeError:
        return False


def import_everything(package: Any) -> None:
    """Import all modules of the package, but those that need what is not installed."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue


def compile_routines() -> list[Any]:
    """Compile all functions that are called by address; return them."""
    from haugmbd.kkt.front_kernels import link_blas  # noqa: PLC0415  the symbol must be known before code with it is compiled

    link_blas()
    routines = [x for x in gc.get_objects() if type(x) is Routine and x._function is not None]
    for routine in routines:
        _ = routine.address
    return routines


def dispatchers(compiled: bool = True) -> list[Any]:
    """Return all entries that have been compiled for some signature; or those of the package, compiled or not."""
    from numba.core.registry import CPUDispatcher  # noqa: PLC0415

    from haugmbd.compiled.fast_numba import KernelDispatcher  # noqa: PLC0415

    found = [x for x in gc.get_objects() if issubclass(type(x), CPUDispatcher) and not issubclass(type(x), KernelDispatcher)]
    ours = [
        x for x in found if (getattr(x.py_func, "__module__", "") or "").startswith("haugmbd.") and (x.overloads or not compiled)
    ]
    return [x for x in ours if type(x._cache).__name__ == "DeferredCache"]


def canonical(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """Return the signature with writable arrays in C order, plain integers and floats: what an engine is called with."""
    return tuple(_canonical(each) for each in arguments)


def _canonical(kind: Any) -> Any:
    if isinstance(kind, types.Array):
        return types.Array(kind.dtype, kind.ndim, "C")
    if isinstance(kind, types.Integer) and not isinstance(kind, types.Boolean):
        return types.int64
    if isinstance(kind, types.Omitted):
        return _canonical(types.unliteral(kind.value)) if isinstance(kind.value, types.Type) else kind
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple(canonical(kind.types), kind.instance_class)
    if isinstance(kind, types.Tuple | types.UniTuple):
        return types.Tuple(canonical(kind.types))
    return kind


def entries_of(dispatcher: Any, note: Callable[[str], None]) -> Iterator[Entry]:
    """Compile an entry for the plain forms of all signatures that it was called with, and yield them."""
    name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"
    for signature in dict.fromkeys(canonical(each) for each in list(dispatcher.overloads)):
        if signature not in dispatcher.overloads:
            note(f"{name}: compiled again for {signature}")
            dispatcher.compile(signature)
        fndesc = dispatcher.overloads[signature].fndesc
        if not _has_words(fndesc):
            note(f"{name}: not in the engine, {signature} -> {fndesc.restype} has no words")
            continue
        arguments = [shape_of(kind) for kind in fndesc.argtypes]
        yield Entry(name, fndesc.llvm_cfunc_wrapper_name, DOOR + fndesc.llvm_func_name, arguments, shape_of(fndesc.restype))


def symbols_defined(text: str) -> set[str]:
    """Return the C symbols that a module defines."""
    return set(re.findall(r'^define [^@\n]*@"?((?:cfunc|door)\.[^"( ]+)"?\(', text, re.MULTILINE))


def name_of_routine(routine: Any) -> str:
    """Return the name of a routine."""
    return name_of(routine._function) + str(routine.variant)


def name_of(function: Any) -> str:
    """Return the name of a compiled function."""
    return f"{function.py_func.__module__}.{function.py_func.__qualname__}"


def collection(texts: list[str], left_out: Mapping[str, str], note: Callable[[str], None]) -> Collection:
    """Compile what is called by address, and return everything.  Raise RuntimeError for an entry that nothing has reached."""
    routines = compile_routines()
    named = {name_of_routine(x): x for x in routines}
    entries = [entry for x in dispatchers() for entry in entries_of(x, note)]
    known = set().union(*map(symbols_defined, texts))
    for entry in [entry for entry in entries if entry.door not in known]:
        note(f"{entry.name}: not in the engine, it makes arrays")
    entries = [entry for entry in entries if entry.door in known]
    entries = sorted({entry.key: entry for entry in entries}.values(), key=lambda entry: entry.key)
    missing = sorted(set(map(name_of, dispatchers(compiled=False))) - {entry.name for entry in entries} - set(left_out))
    for name in missing:
        note(f"{name}: not in the engine, no run reaches it")
    symbols = [x._function.overloads[x.signature.args].fndesc.llvm_cfunc_wrapper_name for x in named.values()]
    wanted = {*symbols, *(entry.door for entry in entries)}
    kept = [text for text in texts if symbols_defined(text) & wanted]
    lost = wanted - set().union(*map(symbols_defined, kept))
    if lost:
        raise RuntimeError(f"no LLVM code of {', '.join(sorted(lost))}")
    return Collection(kept, entries, list(named), symbols)
