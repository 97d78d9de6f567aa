r"""The content of Python values as a digest: what a function, an object or an array is, and not where it is or what it is called.

    digest(number)      type and all digits                     digest(array)       dtype, shape, bytes
    digest(function)    code, defaults, enclosed values, and the values of the global names that the code reads
    digest(object)      class, and what a copy of it would be made of (`__reduce_ex__`); of a class of the user that says itself what a copy
                        is made of, all attributes, too: those that it leaves out are what its methods read

The digest is the same in every process, and another one for another value at any depth. Functions and classes of libraries (the standard
library, installed packages, haugmbd) are their names; those of the user are their content. Code is what runs, and not the text of its
file, which may have changed since it was read. Cycles are references to what has been begun.

A value that has no content, such as an open file or a generator, is refused with its place: `NoContent`; so is code that reads what no
name shows: `eval`, `exec`, `globals()`, modules that are imported by texts. Of the environment the variables are read whose names the code
has. Of files the content counts, where `files` is asked for, if a text in the code or in a value names the file, alone or in a folder that
another one names, and the function writes none. Files whose names are put together, and what a library keeps elsewhere than in its objects,
are not seen.
"""

from __future__ import annotations

import collections
import copyreg
import dis
import functools
import hashlib
import importlib
import os
import sys
import sysconfig
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

import numpy as np

DIGITS = 32
"""Hexadecimal digits of a digest that are kept: 128 bits."""
MANTISSA = 2.0**30
"""A rounded number has thirty binary digits: what is computed again on another machine differs in the last of 53."""
LARGE = 10**100
"""Beyond, a whole number is written by hexadecimal digits: Python refuses to write very many decimal ones."""
PYTHON = ".".join(map(str, sys.version_info[:2]))
"""The version of Python whose code is digested: another one compiles the same text to other code."""

OURS = frozenset(["haugmbd", "joints"])
OUR_FOLDERS = tuple(str(Path(__file__).parent.parent / name) for name in sorted(OURS))
OF_PROCESS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Event)
"""Types whose objects do not decide what a function returns: locks are their type."""
MANY_TEXTS = 1000
"""Members of a collection beyond which they are no names of files."""
WEAK = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
"""Weak collections: those of libraries are caches, and are their type."""
UNSEEN = frozenset(["eval", "exec", "globals", "__import__"])
"""Built-in functions that read what no name in the code shows."""
TEXTS = frozenset(["__annotations__", "__doc__", "__name__", "__qualname__"])
"""Attributes of functions and classes that decide nothing, unless code asks for them."""
BASES = (int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset)
"""Types whose values a class derived from them has besides its attributes."""
PLAIN = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, np.ndarray)
"""Types of attributes of libraries that a program may have set: settings and constants."""
NO_PART_OF_A_CLASS = frozenset(
    [
        "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__", "__dataclass_fields__",
        "__dict__", "__doc__", "__firstlineno__", "__module__", "__orig_bases__", "__parameters__", "__qualname__", "__static_attributes__",
        "__type_params__", "__weakref__", "_abc_impl", "__match_args__", "__slotnames__",
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


def digest_of(x: Any, *, rounded: bool = False, vouched: bool = False, files: bool = False) -> str:
    """Return the digest of a value.

    rounded: numbers that differ in the last digits are the same;  vouched: what has no content is its type, in place of an error
    files: whether the content of files counts that the code reads

    Raises
    ------
    NoContent
        If the value, or a part of it, has no content.
    """
    hasher = _Hasher(rounded, vouched, files=files)
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


def text_of_value(x: Any, *, vouched: bool = False, files: bool = False) -> str:
    """Return a value as a short text that is another one for another value: a number as it is, anything else by its type and digest."""
    if x is None or type(x) in (bool, int, float, str, np.float64):
        shown = repr(x)
        if len(shown) <= DIGITS and not (files and names_file(x)):
            return shown
    return f"{type(x).__name__} {digest_of(x, vouched=vouched, files=files)}"


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
        found |= _environment_read(function, found)
    for text in sorted(_all_names(code) & TEXTS):
        found |= {f"{name}.{text}": getattr(x, text, None) for name, x in list(found.items()) if callable(x)}
    return found


class FileContent:
    """The content of a file that code reads, by its name."""

    def __init__(self, path: str) -> None:
        self.path = path

    def digest(self) -> str:
        """Return the digest of the bytes of the file; that of its name alone if nobody may read it."""
        try:
            with open(self.path, "rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            return "unreadable"


WRITES = frozenset(
    ["write", "dump", "tofile", "unlink", "remove", "open_memmap", "mkdir", "touch", "exists", "is_file", "isfile", "stat", "Popen"]
)
"""Names of functions that write files, beside those that begin with save, write or to_, or ask whether there is one: it is a mark."""
WRITING_MODES = frozenset(f"{mode}{kind}{plus}" for mode in "wax" for kind in ("", "b", "t") for plus in ("", "+")) | {
    "r+",
    "r+b",
    "rb+",
}
"""Modes of `open` that write."""


def files_read(function: Any) -> dict[str, FileContent]:
    """Return the files that a Python function reads, by name: texts in its code and its values that name one, alone or in a folder.

    None of a function that writes files: which of them are written, nobody sees.
    """
    if not isinstance(function, types.FunctionType) or of_library(function.__globals__.get("__name__")):
        return {}
    code = function.__code__
    if writes_files(function):
        return {}
    texts = {x for part in _codes(code) for x in _texts_in(part.co_consts)}
    script = function.__globals__.get("__file__") if "__file__" in _all_names(code) else None
    texts |= {x for name, value in values_read(function).items() if name != "__file__" for x in _texts_in((value,))}
    folders = [x for x in sorted(texts) if os.path.isdir(x)] + ([os.path.dirname(script)] if isinstance(script, str) else [])
    paths = {os.path.normpath(os.path.join(folder, x.lstrip("/"))) for folder in folders for x in texts if x}
    paths |= {os.path.normpath(x) for x in texts if x}
    return {f"file {path!r}": FileContent(path) for path in sorted(paths) if os.path.isfile(path) and path != script}


def writes_files(x: Any) -> bool:
    """Return whether a function, or one behind a callable object, writes files, by the names and texts in its code."""
    if isinstance(x, functools.partial):
        return writes_files(x.func)
    inner = getattr(x, "__func__", x)
    if not isinstance(inner, types.FunctionType):
        methods = [part for base in type(x).__mro__ if not of_library(base.__module__) for part in vars(base).values()]
        return any(isinstance(part, types.FunctionType) and writes_files(part) for part in methods)
    names, texts = _all_names(inner.__code__), {x for part in _codes(inner.__code__) for x in _texts_in(part.co_consts)}
    return bool(texts & WRITING_MODES or names & WRITES) or any(name.startswith(("save", "write", "to_")) for name in names)


def names_file(x: Any) -> bool:
    """Return whether a value is a text or path that names a file."""
    return isinstance(x, str | PurePath) and os.path.isfile(x)


def _texts_in(values: Any) -> Iterator[str]:
    """Yield the texts and paths among some values, and in collections of them."""
    for x in values:
        if isinstance(x, str | PurePath):
            yield str(x)
        elif isinstance(x, tuple | list | set | frozenset) and len(x) <= MANY_TEXTS:
            yield from (str(y) for y in x if isinstance(y, str | PurePath))
        elif isinstance(x, dict) and len(x) <= MANY_TEXTS:
            yield from (str(y) for y in x.values() if isinstance(y, str | PurePath))


class Unseen:
    """What code reads by a way that shows no names: a call of eval."""

    def __init__(self, way: str) -> None:
        self.way = way


def _environment_read(function: types.FunctionType, read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of the environment whose names the code has, if it reads the environment at all."""
    if not _all_names(function.__code__) & {"environ", "getenv"}:
        return {}
    texts = {x for part in _codes(function.__code__) for x in part.co_consts if isinstance(x, str)}
    texts |= {x for x in read.values() if isinstance(x, str)}
    return {f"os.environ[{name!r}]": os.environ.get(name) for name in sorted(texts) if name and "\0" not in name}


def _globals_read(function: types.FunctionType) -> dict[str, Any]:
    """Return the values of the global names that the code reads; those of Python itself are left out."""
    found: dict[str, Any] = {}
    names = _all_names(function.__code__)
    for name in _global_names(function.__code__):
        if name in UNSEEN and name not in function.__globals__ or name == "importlib" and "import_module" in names:
            found[f"{name}()"] = Unseen(name)
        elif name == "sys" and "modules" in names:
            found["sys.modules"] = Unseen("sys.modules")
        elif name != "__name__" and name in function.__globals__:
            value = function.__globals__[name]
            found |= _paths(name, value, function.__code__) if not _only_added_to(function.__code__, name, value) else {}
    for name in _imported_names(function.__code__):
        if not of_library(name):
            found |= _attributes_of(_imported(name), name, _all_names(function.__code__))
    return found


def _paths(name: str, value: Any, code: types.CodeType) -> dict[str, Any]:
    """Return a value by its name; of a module the attributes that the code reads, config.mass.

    A module that is handed on, as in getattr(config, "mass"), is read as a whole. Of a module of a library only what a program can have
    set is a value: numbers, texts, arrays and collections.
    """
    if not isinstance(value, types.ModuleType):
        return {name: value}
    found = _attributes_of(value, name, _all_names(code))
    whole = of_library(value.__name__) or not _each_load(code, name, _loads_attribute)
    return ({name: value} if whole else {}) | found


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
        library = of_library(owner.__name__)
        for each in sorted(names & vars(owner).keys()):
            value = vars(owner)[each]
            if isinstance(value, types.ModuleType):
                begun += [(f"{path}.{each}", value)] if library or not of_library(value.__name__) else []
            elif not library or type(value) in PLAIN and not each.startswith("__"):
                found[f"{path}.{each}"] = value
    return found


def _loads_attribute(rest: list[dis.Instruction]) -> bool:
    return bool(rest) and rest[0].opname in ("LOAD_ATTR", "LOAD_METHOD")


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
    found = sys.modules.get(str(module)) or sys.modules.get(root)
    standard = root in sys.stdlib_module_names
    if root in ("__main__", "__mp_main__"):
        return False
    if found is None:
        return standard or root in OURS
    file = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", ())), None)
    if file is None:
        return standard or getattr(found, "__spec__", None) is not None  # built into Python
    own = OUR_FOLDERS if root in OURS else _standard() if standard else ()  # a user's wave.py is no part of Python
    return any(Path(file).is_relative_to(folder) for folder in (*own, *_installed()))


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    """Return the folders of installed packages."""
    import site  # noqa: PLC0415  it is not there without one

    own = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    return tuple(dict.fromkeys([*own, *site.getsitepackages(), site.getusersitepackages()]))


@lru_cache(maxsize=1)
def _standard() -> tuple[str, ...]:
    """Return the folders of the standard library."""
    return tuple(dict.fromkeys([sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(os.__file__).parent)]))


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

    def __init__(
        self, rounded: bool, vouched: bool, begun: dict[int, tuple[int, Any]] | None = None, *, files: bool = False
    ) -> None:
        self._sha = hashlib.sha256()
        self._rounded, self._vouched, self._files = rounded, vouched, files
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
        """Add a value; of a text that names a file, and is no part of code, the content of the file, too."""
        kind = type(x)
        if self._files and names_file(x):
            self._write("file", FileContent(str(x)).digest())
        if x is None or x is Ellipsis or x is NotImplemented or kind in (bool, int, str):
            self._write(kind.__name__, (hex(x) if kind is int and abs(x) >= LARGE else repr(x)) if kind is not str else x)
        elif kind is float or kind is complex:
            self._array(kind.__name__, np.array(x))
        elif kind in (bytes, bytearray):
            self._write(kind.__name__, bytes(x))
        elif kind is memoryview:
            self._write(kind.__name__, x.format, str(x.shape), x.tobytes())
        elif isinstance(x, np.generic) and kind is not np.void:
            self._array(f"numpy {x.dtype.str}", np.asarray(x)) if x.dtype.kind != "O" else self._object(x)
        elif isinstance(x, types.ModuleType) and of_library(x.__name__):
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
        elif isinstance(x, types.ModuleType):
            self._module(x)
        elif not self._callable(x):
            self._object(x)

    def _module(self, x: types.ModuleType) -> None:
        """Add all that a module of the user has."""
        self._write("module", x.__name__)
        for name in sorted(name for name in vars(x) if not name.startswith("__")):
            self._write("attribute", name)
            self._inside(name, vars(x)[name])

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
        other = _Hasher(self._rounded, self._vouched, dict(self._begun), files=self._files)
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
        files, self._files = self._files, False  # `files_read` knows which of its texts are names of files
        for constant in code.co_consts:
            self.put(constant)
        self._files = files

    def _callable(self, x: Any) -> bool:
        """Add a function of any kind; return False for other objects."""
        name = _named(x) if callable(x) and not isinstance(x, functools.partial) else None
        if name is not None and (isinstance(x, types.FunctionType | types.BuiltinFunctionType) or _is_function_like(x)):
            self._write("name", *name)
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, types.MethodType) and isinstance(x.__self__, WEAK) and x.__name__ == "clear":
            self._write("clear")  # functools.singledispatch has one of its cache, and it reads nothing
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
        files, self._files = self._files, self._files and not writes_files(x)
        read = values_read(x) | (files_read(x) if self._files else {})
        library = of_library(x.__module__)
        for name in sorted(read):
            self._write("reads", name)
            if library and isinstance(read[name], WEAK):  # such as the cache of functools.singledispatch
                self._write("of the process", type(read[name]).__qualname__)
            else:
                self._inside(name, read[name])
        attributes = {name: value for name, value in vars(x).items() if name != "__wrapped__"}
        if attributes:
            self._inside("attributes", attributes)
        self._files = files

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
        if type(x) is not type:
            self._inside("metaclass", type(x))
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
        elif isinstance(x, WEAK):
            self._write(kind.__qualname__)
            self.put(set(x) if isinstance(x, weakref.WeakSet) else dict(x.items()))
        elif isinstance(x, Unseen):
            self._nothing(x, f"a call of {x.way}")
        elif isinstance(x, FileContent):
            self._write("file", x.path, x.digest())
        elif kind.__module__.startswith("multiprocessing."):
            self._of_processes(x)
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
        if not _recipe_is_whole(kind, special):
            self._attributes(x)
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

    def _attributes(self, x: Any) -> None:
        """Add all that an object of a class of the user has: the value of the type that it is derived from, and its attributes."""
        kind = type(x)
        for built_in in BASES:
            if isinstance(x, built_in):
                self._inside(kind.__name__, _as(built_in, x))
        if isinstance(x, np.ndarray):
            self._inside(kind.__name__, np.array(x, dtype=x.dtype, subok=False))
        own = dict(getattr(x, "__dict__", {}))
        for base in kind.__mro__:
            names = vars(base).get("__slots__", ())
            for name in (names,) if isinstance(names, str) else tuple(names):
                place = f"_{base.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
                if name not in ("__dict__", "__weakref__") and hasattr(x, place):
                    own[place] = getattr(x, place)
        self._state(x, own)

    def _of_processes(self, x: Any) -> None:
        """Add memory that processes share by its content, which its recipe does not have; nothing else of that package has one."""
        shared = getattr(x, "buf", None)
        if type(x).__name__ == "SharedMemory" and shared is not None:
            self._write("shared memory", shared.tobytes())
        elif type(x).__name__ == "ShareableList":
            self._inside("ShareableList", list(x))
        else:
            self._nothing(x)

    def _state(self, x: Any, state: Any) -> None:
        """Add the attributes of an object, without those that it computes once and keeps."""
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        for part in parts:
            if not isinstance(part, dict):
                self._inside(f"{type(x).__name__}'s state", part)
                continue
            for name in sorted(part, key=str):
                once = getattr(type(x), str(name), None)
                if isinstance(once, functools.cached_property) and not self._given(x, once, part, name):
                    continue
                self._write("attribute", str(name))
                self._inside(str(name), part[name])

    def _given(self, x: Any, once: functools.cached_property[Any], state: dict[str, Any], name: str) -> bool:
        """Return whether the value of a property that is computed once is another one than it computes: somebody has assigned it."""
        if of_library(type(x).__module__):
            return False
        try:
            bare = object.__new__(type(x))
            for each, value in state.items():
                if not isinstance(getattr(type(x), str(each), None), functools.cached_property):
                    object.__setattr__(bare, each, value)
            return self._apart(once.func(bare)) != self._apart(state[name])
        except Exception:  # noqa: BLE001  the property is the user's, and may raise anything for such an object
            return True

    def _nothing(self, x: Any, what: str = "") -> None:
        """Add an object without content. Raise NoContent, unless somebody vouches for it."""
        name = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
        if not self._vouched:
            raise NoContent(what or f"a {name}")
        self._write("without content", name)


HIDING = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs__", "__getnewargs_ex__")
"""Methods by which a class says what a copy is made of."""


def _recipe_is_whole(kind: type, special: Any) -> bool:
    """Return whether the recipe of a copy has all that an object has: Python's own recipe, or that of a library for its own class."""
    if special is not None:
        return of_library(getattr(special, "__module__", None))
    if of_library(kind.__module__):
        return True
    owners = [next((base for base in kind.__mro__ if name in vars(base)), object) for name in HIDING]
    return all(owner is object or owner in BASES for owner in owners)


def _as(base: Any, x: Any) -> Any:
    """Return the value that an object has as one of a type that it is derived from."""
    if base is dict:
        return dict(dict.items(x))
    if base in (tuple, list, set, frozenset):
        return base(base.__iter__(x))
    if base is str:
        return str.__str__(x)
    exact: dict[Any, Any] = {int: int.__int__, float: float.__float__, bytes: bytes.__bytes__}
    return exact.get(base, base)(x)


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
