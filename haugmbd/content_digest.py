r"""The content of Python values as a digest: what a function, an object or an array is, and not where it is or what it is called.

    digest(number)      type and all digits                     digest(array)       dtype, shape, bytes
    digest(function)    code, defaults, enclosed values, and the values of the global names that the code reads
    digest(object)      class, and what a copy of it would be made of (`__reduce_ex__`)

The digest is the same in every process, and another one for another value at any depth. Functions and classes of libraries (the standard
library, installed packages, haugmbd) are their names; those of the user are their content. Code is what runs, and not the text of its
file, which may have changed since it was read. Cycles are references to what has been begun.

A value that has no content, such as an open file or a generator, is refused with its place: `NoContent`. What code reads by other ways than
names (files, `globals()["k"]`, attributes that it computes) is not seen.
"""

from __future__ import annotations

import collections
import copyreg
import dis
import functools
import hashlib
import importlib
import sys
import sysconfig
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

DIGITS = 32
"""Hexadecimal digits of a digest that are kept: 128 bits."""
MANTISSA = 2.0**30
"""A rounded number has thirty binary digits: what is computed again on another machine differs in the last of 53."""
PYTHON = ".".join(map(str, sys.version_info[:2]))
"""The version of Python whose code is digested: another one compiles the same text to other code."""

OURS = frozenset(["haugmbd", "joints"])
LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Event)
OF_PROCESS = (*LOCKS, weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
"""Types whose objects do not decide what a function returns: locks and weak caches are their type."""
NO_PART_OF_A_CLASS = frozenset(
    [
        "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__", "__dataclass_fields__",
        "__dict__", "__doc__", "__firstlineno__", "__module__", "__orig_bases__", "__parameters__", "__qualname__", "__static_attributes__",
        "__type_params__", "__weakref__", "_abc_impl", "__match_args__",
    ]
)  # fmt: skip
"""Attributes of a class that follow from others, or do not decide what its methods do."""
APPENDING: dict[type, tuple[str, ...]] = {
    list: ("append", "extend"),
    set: ("add", "update"),
    collections.deque: ("append", "appendleft", "extend"),
}
"""Methods that put something into a collection and return nothing."""

_contents: dict[type, Callable[[Any], Any]] = {}


class NoContent(TypeError):  # noqa: N818  a refusal
    """A value cannot be digested; the text says where it is and what it is."""

    def inside(self, where: str) -> NoContent:
        """Return the error with a longer place: config.table[2]: a generator."""
        text = str(self)
        between = ": " if text.startswith("a ") else "" if text.startswith("[") else "."
        return NoContent(f"{where}{between}{text}")


def register_content(kind: type, content: Callable[[Any], Any]) -> None:
    """Let the objects of a class, and of those that are derived from it, be what `content(x)` returns."""
    _contents[kind] = content


def digest_of(x: Any, *, rounded: bool = False, vouched: bool = False) -> str:
    """Return the digest of a value.

    rounded: numbers that differ in the last digits are the same;  vouched: what has no content is its type, in place of an error

    Raises
    ------
    NoContent
        If the value, or a part of it, has no content.
    """
    hasher = _Hasher(rounded, vouched)
    try:
        hasher.put(x)
    except RecursionError:
        raise NoContent(f"a {type(x).__name__} that is nested too deeply") from None
    return hasher.result()


def code_digest(function: Callable[..., Any]) -> str:
    """Return the digest of the code of a function alone; of anything else that of its type."""
    hasher = _Hasher(rounded=False, vouched=False)
    code = getattr(function, "__code__", None)
    hasher.put(code if isinstance(code, types.CodeType) else type(function).__qualname__)
    return hasher.result()


def text_of_value(x: Any, *, vouched: bool = False) -> str:
    """Return a value as a short text that is another one for another value: a number as it is, anything else by its type and digest."""
    if x is None or type(x) in (bool, int, float, str, np.float64):
        shown = repr(x)
        if len(shown) <= DIGITS:
            return shown
    return f"{type(x).__name__} {digest_of(x, vouched=vouched)}"


def values_read(function: Any) -> dict[str, Any]:
    """Return what a Python function reads besides its arguments, by name: defaults, enclosed values, globals, attributes of modules.

    A collection that the function only adds to, such as a list of what was computed, is not read. Functions of C read nothing.
    """
    if not isinstance(function, types.FunctionType):
        return {}
    code = function.__code__
    found: dict[str, Any] = {}
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    found |= {f"{name}=": x for name, x in zip(positional[len(positional) - len(defaults) :], defaults, strict=True)}
    found |= {f"{name}=": x for name, x in (function.__kwdefaults__ or {}).items()}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # it is bound later, and the function runs only then
            continue
        found |= _paths(name, value, code) if not _only_added_to(code, name, value) else {}
    if not of_library(function.__globals__.get("__name__")):
        found |= _globals_read(function)
    return found


def _globals_read(function: types.FunctionType) -> dict[str, Any]:
    """Return the values of the global names that the code reads; those of Python itself are left out."""
    found: dict[str, Any] = {}
    for name in _global_names(function.__code__):
        if name != "__name__" and name in function.__globals__:
            value = function.__globals__[name]
            found |= _paths(name, value, function.__code__) if not _only_added_to(function.__code__, name, value) else {}
    for name in _imported_names(function.__code__):
        if not of_library(name):
            found |= _attributes_of(_imported(name), name, _all_names(function.__code__))
    return found


def _paths(name: str, value: Any, code: types.CodeType) -> dict[str, Any]:
    """Return a value by its name; of a module of the user the attributes that the code reads, config.mass."""
    if isinstance(value, types.ModuleType) and not of_library(value.__name__):
        return {name: value} | _attributes_of(value, name, _all_names(code))
    return {name: value}


def _attributes_of(module: Any, name: str, names: frozenset[str]) -> dict[str, Any]:
    """Return the attributes of a module whose names occur in the code, and those of its submodules."""
    found: dict[str, Any] = {}
    begun: list[tuple[str, Any]] = [(name, module)]
    seen = set()
    while begun:
        path, owner = begun.pop()
        if id(owner) in seen or owner is None:
            continue
        seen.add(id(owner))
        for each in sorted(names & vars(owner).keys()):
            value = vars(owner)[each]
            if isinstance(value, types.ModuleType):
                begun += [(f"{path}.{each}", value)] if not of_library(value.__name__) else []
            else:
                found[f"{path}.{each}"] = value
    return found


def _imported(name: str) -> Any:
    """Return a module that a function imports itself; None if that fails, as it will in the function."""
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001  importing the user's module may raise anything
        return None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code, and that of functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@lru_cache(maxsize=1024)
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """Return the global names that the code reads, in their order."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
    return tuple(sorted({str(at.argval) for part in _codes(code) for at in dis.get_instructions(part) if at.opname in loads}))


@lru_cache(maxsize=1024)
def _imported_names(code: types.CodeType) -> tuple[str, ...]:
    """Return the modules that the code imports when it runs."""
    return tuple(
        sorted({str(at.argval) for part in _codes(code) for at in dis.get_instructions(part) if at.opname == "IMPORT_NAME"})
    )


@lru_cache(maxsize=1024)
def _all_names(code: types.CodeType) -> frozenset[str]:
    """Return all names in the code: of globals, attributes and methods."""
    return frozenset(name for part in _codes(code) for name in part.co_names)


def _only_added_to(code: types.CodeType, name: str, value: Any) -> bool:
    """Return whether the code does nothing with a collection but add to it: it has no influence on what the function returns."""
    if type(value) is dict:
        return _each_load(code, name, _stores_item)
    methods = APPENDING.get(type(value))
    return methods is not None and _each_load(code, name, lambda rest: _calls(rest, methods))


def _each_load(code: types.CodeType, name: str, good: Callable[[list[dis.Instruction]], bool]) -> bool:
    """Return whether a name is loaded, and what follows each load is `good`."""
    loads = 0
    for part in _codes(code):
        instructions = [at for at in dis.get_instructions(part) if at.opname not in ("CACHE", "EXTENDED_ARG", "NOP")]
        for k, at in enumerate(instructions):
            if at.argval == name and at.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
                loads += 1
                if not good(instructions[k + 1 :]):
                    return False
            elif (
                at.argval == name
                and at.opname.startswith(("STORE_", "DELETE_"))
                and at.opname.endswith(("GLOBAL", "DEREF", "NAME"))
            ):
                return False
    return loads > 0


def _calls(rest: list[dis.Instruction], methods: tuple[str, ...]) -> bool:
    """Return whether the object on the stack is asked for one of the methods, which is called, and its value is dropped."""
    if not rest or rest[0].opname not in ("LOAD_METHOD", "LOAD_ATTR") or rest[0].argval not in methods:
        return False
    depth = 2  # the method and its object
    for at, after in zip(rest[1:], rest[2:], strict=False):
        if _jumps(at):
            return False
        depth += dis.stack_effect(at.opcode, at.arg)
        if depth == 1:
            return at.opname.startswith("CALL") and after.opname == "POP_TOP"
        if depth < 1:
            return False
    return False


def _stores_item(rest: list[dis.Instruction]) -> bool:
    """Return whether the object on the stack gets an item, x[key] = value, and is not used otherwise."""
    depth = 1
    for at in rest:
        if _jumps(at) or at.opname in ("COPY", "SWAP", "DUP_TOP_TWO"):
            return False
        depth += dis.stack_effect(at.opcode, at.arg)
        if depth < 1:
            return at.opname == "STORE_SUBSCR" and depth == -1
    return False


def _jumps(at: dis.Instruction) -> bool:
    return at.opcode in dis.hasjrel or at.opcode in dis.hasjabs or at.opname.startswith(("RETURN", "YIELD", "RAISE"))


@lru_cache(maxsize=4096)
def of_library(module: str | None) -> bool:
    """Return whether a module belongs to a library, whose functions are known by their names."""
    root = str(module).partition(".")[0]
    if root in OURS or root in sys.stdlib_module_names and root != "__main__":
        return True
    found = sys.modules.get(str(module)) or sys.modules.get(root)
    if root in ("__main__", "__mp_main__") or found is None:
        return False
    file = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", ())), None)
    if file is None:
        return getattr(found, "__spec__", None) is not None  # built into Python
    return any(Path(file).is_relative_to(folder) for folder in _installed())


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    """Return the folders of installed packages."""
    import site  # noqa: PLC0415  it is not there without one

    own = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    return tuple(dict.fromkeys([*own, *site.getsitepackages(), site.getusersitepackages()]))


def _named(x: Any) -> tuple[str, str] | None:
    """Return module and name of what a library defines at its top, None for anything else."""
    module, name = getattr(x, "__module__", None), getattr(x, "__qualname__", None) or getattr(x, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not of_library(module):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None) if part != "<locals>" else None
    return (module, name) if found is x else None


class _Hasher:
    """A SHA-256 that is fed with values. Each begins with a tag, and has its length: two values never run into each other."""

    def __init__(self, rounded: bool, vouched: bool, begun: dict[int, tuple[int, Any]] | None = None) -> None:
        self._sha = hashlib.sha256()
        self._rounded, self._vouched = rounded, vouched
        self._begun = {} if begun is None else begun
        """Number of each object that has been begun, and the object, so that it lives and no other one takes its place in memory."""

    def result(self) -> str:
        """Return the digest."""
        return self._sha.hexdigest()[:DIGITS]

    def _write(self, tag: str, *parts: str | bytes) -> None:
        for part in (tag, *parts):
            data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            self._sha.update(f"{len(data)}:".encode())
            self._sha.update(data)

    def put(self, x: Any) -> None:
        """Add a value."""
        kind = type(x)
        if x is None or x is Ellipsis or x is NotImplemented or kind in (bool, int, str):
            self._write(kind.__name__, repr(x) if kind is not str else x)
        elif kind is float or kind is complex:
            self._array(kind.__name__, np.array(x))
        elif kind in (bytes, bytearray, memoryview):
            self._write(kind.__name__, bytes(x))
        elif isinstance(x, np.generic) and kind is not np.void:
            self._array(f"numpy {x.dtype.str}", np.asarray(x)) if x.dtype.kind != "O" else self._object(x)
        elif isinstance(x, types.ModuleType):
            self._write("module", x.__name__)
        elif isinstance(x, np.dtype):
            self._write("dtype", str(x.descr) if x.names else x.str)
        elif kind is types.CodeType:
            self._code(x)
        else:
            self._once(x)

    def _once(self, x: Any) -> None:
        """Add an object, or a reference to it if it has been begun before; a cycle always goes through one that can change."""
        if type(x) in (tuple, frozenset):  # constants are shared or not as the compiler likes
            self._compound(x)
            return
        if id(x) in self._begun:
            self._write("again", str(self._begun[id(x)][0]))
            return
        self._begun[id(x)] = len(self._begun), x
        self._compound(x)

    def _compound(self, x: Any) -> None:
        """Add an object with parts."""
        kind = type(x)
        if kind in (tuple, list):
            self._write(kind.__name__, str(len(x)))
            self._each((f"[{k}]", part) for k, part in enumerate(x))
        elif kind in (dict, types.MappingProxyType):
            self._write("dict", str(len(x)))
            for key, value in x.items():
                self.put(key)
                self._inside(f"[{key!r:.40}]", value)
        elif kind in (set, frozenset):
            self._write(kind.__name__, *sorted(self._apart(part) for part in x))
        elif kind is np.ndarray:
            self._ndarray(x)
        elif isinstance(x, type):
            self._class(x)
        elif not self._callable(x):
            self._object(x)

    def _each(self, parts: Any) -> None:
        for where, part in parts:
            self._inside(where, part)

    def _inside(self, where: str, part: Any) -> None:
        """Add a part; an error says where it is."""
        try:
            self.put(part)
        except NoContent as error:
            raise error.inside(where) from None

    def _apart(self, part: Any) -> str:
        """Return the digest of a member of a set, whose order is none."""
        other = _Hasher(self._rounded, self._vouched, dict(self._begun))
        other.put(part)
        return other.result()

    def _array(self, name: str, x: Any) -> None:
        """Add numbers: all digits, or the first ones."""
        if self._rounded and x.dtype.kind in "fc" and x.dtype.itemsize in (8, 16) and x.dtype.char in "dD":
            parts = np.ascontiguousarray(x).reshape(-1).view(np.float64)
            mantissa, exponent = np.frexp(parts)
            digits = np.rint(mantissa * MANTISSA)
            full = np.abs(digits) == MANTISSA
            digits, exponent = np.where(full, 0.5 * digits, digits), exponent.astype(np.int64) + full
            self._write(name, str(x.shape), (digits + 0.0).tobytes(), exponent.tobytes())
            return
        self._write(name, str(x.shape), np.ascontiguousarray(x).tobytes())

    def _ndarray(self, x: Any) -> None:
        if x.dtype.hasobject:
            self._write("array of objects", str(x.shape), str(x.dtype))
            self._each((f"[{k}]", part) for k, part in enumerate(x.ravel().tolist()))
        else:
            self._array(f"array {x.dtype.descr if x.dtype.names else x.dtype.str}", x)

    def _code(self, code: types.CodeType) -> None:
        """Add what runs: instructions, names and constants, and no lines of text or places in files."""
        self._write(
            "code",
            PYTHON,
            code.co_code,
            getattr(code, "co_exceptiontable", b""),
            str((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)),
            str((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, len(code.co_consts))),
        )
        for constant in code.co_consts:
            self.put(constant)

    def _callable(self, x: Any) -> bool:
        """Add a function of any kind; return False for other objects."""
        name = _named(x) if callable(x) and not isinstance(x, functools.partial) else None
        if name is not None and (isinstance(x, types.FunctionType | types.BuiltinFunctionType) or _is_function_like(x)):
            self._write("name", *name)
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, types.MethodType):
            self._write("method")
            self._inside("self", x.__self__)
            self.put(x.__func__)
        elif isinstance(x, functools.partial):
            self._write("partial")
            self._each([("partial", x.func), ("partial", x.args), ("partial", x.keywords), ("partial", vars(x))])
        elif isinstance(x, np.ufunc):
            self._ufunc(x)
        elif isinstance(x, types.BuiltinFunctionType | types.MethodWrapperType):
            self._write("built-in", x.__name__)
            self._inside("self", x.__self__)
        elif isinstance(x, types.MethodDescriptorType | types.WrapperDescriptorType | types.ClassMethodDescriptorType):
            self._write("descriptor", x.__objclass__.__qualname__, x.__name__)
        elif isinstance(x, types.MemberDescriptorType | types.GetSetDescriptorType):
            self._write("descriptor", x.__name__)
        elif isinstance(x, staticmethod | classmethod):
            self._write(type(x).__name__)
            self.put(x.__func__)
        elif isinstance(x, property):
            self._write("property")
            self._each([("get", x.fget), ("set", x.fset), ("delete", x.fdel)])
        elif isinstance(x, functools.cached_property):
            self._write("cached_property")
            self.put(x.func)
        elif isinstance(x, functools._lru_cache_wrapper):
            self._write("lru_cache")
            self.put(x.__wrapped__)
        elif type(x).__module__.startswith("numba.") and (inner := _function_of_numba(x)) is not None:
            self._write("numba", type(x).__name__)
            self._each([("njit", inner), ("options", getattr(x, "targetoptions", None))])
        else:
            return False
        return True

    def _function(self, x: types.FunctionType) -> None:
        """Add the code of a function and all that it reads."""
        self._write("function")
        self._code(x.__code__)
        read = values_read(x)
        for name in sorted(read):
            self._write("reads", name)
            self._inside(name, read[name])
        attributes = {name: value for name, value in vars(x).items() if name != "__wrapped__"}
        if attributes:
            self._inside("attributes", attributes)

    def _ufunc(self, x: np.ufunc) -> None:
        """Add a function of NumPy or SciPy by its name; one that calls Python does not show what it calls."""
        places = [np, sys.modules.get("scipy.special")]
        if not any(getattr(place, x.__name__, None) is x for place in places):
            self._nothing(x)
            return
        self._write("ufunc", x.__name__)

    def _class(self, x: type) -> None:
        """Add a class: its name in a library, its bases and attributes otherwise."""
        name = _named(x)
        if name is not None:
            self._write("name", *name)
            return
        self._write("class", x.__name__)
        self._each(("base", base) for base in x.__bases__)
        for name_of_part in sorted(vars(x).keys() - NO_PART_OF_A_CLASS):
            self._write("attribute", name_of_part)
            self._inside(f"{x.__name__}.{name_of_part}", vars(x)[name_of_part])

    def _object(self, x: Any) -> None:
        """Add any other object: what a copy of it would be made of."""
        kind = type(x)
        content = next((_contents[base] for base in kind.__mro__ if base in _contents), None)
        if isinstance(x, OF_PROCESS):
            self._write("of the process", kind.__qualname__)
        elif isinstance(x, weakref.ref):
            self._inside("weak reference", x())
        elif isinstance(x, types.CellType):
            self._inside("cell", x.cell_contents)
        elif content is not None:
            self._write("object")
            self._class(kind) if _named(kind) else self._inside("class", kind)
            self._inside(kind.__name__, content(x))
        else:
            self._reduced(x)

    def _reduced(self, x: Any) -> None:
        """Add the recipe of a copy."""
        kind = type(x)
        try:
            special = copyreg.dispatch_table.get(kind)
            recipe = special(x) if special is not None else x.__reduce_ex__(4)
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001  `__reduce_ex__` may be the user's, and the refusal of C is a TypeError
            self._nothing(x)
            return
        self._write("object")
        self._inside("class", kind)
        if isinstance(recipe, str):  # the name of one that there is only once
            self._write("name", recipe)
            self._inside(kind.__name__, dict(sorted(getattr(x, "__dict__", {}).items())))
            return
        make, arguments, state, items, pairs = (*recipe, None, None, None, None)[:5]
        self._inside("made by", make)
        arguments = arguments[1:] if arguments and arguments[0] is kind else arguments
        self._inside(kind.__name__, arguments)
        self._state(x, state)
        if isinstance(x, np.ndarray) and not isinstance(x, np.ma.MaskedArray | np.memmap) and getattr(x, "__dict__", None):
            self._state(x, vars(x))  # which the recipe of an array leaves out
        self._each((f"[{k}]", part) for k, part in enumerate(items or ()))
        for key, value in pairs or ():
            self.put(key)
            self._inside(f"[{key!r:.40}]", value)

    def _state(self, x: Any, state: Any) -> None:
        """Add the attributes of an object, without those that it computes once and keeps."""
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        for part in parts:
            if not isinstance(part, dict):
                self._inside(f"{type(x).__name__}'s state", part)
                continue
            for name in sorted(part, key=str):
                if isinstance(getattr(type(x), str(name), None), functools.cached_property):
                    continue
                self._write("attribute", str(name))
                self._inside(str(name), part[name])

    def _nothing(self, x: Any) -> None:
        """Add an object without content. Raise NoContent, unless somebody vouches for it."""
        name = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
        if not self._vouched:
            raise NoContent(f"a {name}")
        self._write("without content", name)


def _is_function_like(x: Any) -> bool:
    """Return whether an object of a library stands for a function at the top of a module: a ufunc, an njit function, a cache."""
    return isinstance(x, np.ufunc | functools._lru_cache_wrapper) or type(x).__module__.startswith("numba.")


def _function_of_numba(x: Any) -> Any:
    """Return the Python function behind one that Numba has compiled."""
    found = getattr(x, "py_func", None) or getattr(x, "_pyfunc", None)
    inner = getattr(x, "_dispatcher", None)
    return found if found is not None or inner is None else getattr(inner, "py_func", None)


def sorted_state(x: Any, without: Mapping[str, Any] | tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the attributes of an object in the order of their names, without some of them, and without what it computes once."""
    kept = {name: value for name, value in vars(x).items() if name not in without}
    return {name: kept[name] for name in sorted(kept) if not isinstance(getattr(type(x), name, None), functools.cached_property)}
