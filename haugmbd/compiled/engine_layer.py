r"""The layer without a compiler: entries come from the engine, kernels and all else are plain Python.

    entry(P, t, y)    -> door(words, results)     one 64-bit word a number, address and dimensions of an array, address of a record,
                                                 a tuple field after field, see `engine_build.collect`

Compiled code calls routines by their addresses, which the engine has by name.  An entry that Python calls with other types than the
engine has, or that the engine lacks, runs as the plain Python that it is written in: slower, and the same.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

import numpy as np

from haugmbd.compiled.engine_library import Library
from haugmbd.compiled.layer import Layer
from haugmbd.compiled.notices import note_plain

Shape = str | list[Any]
KINDS = {"f": "<f8", "i": "<i8", "b": "|b1"}
"""Numbers of arrays, by the letter of their shape."""


ONLY_COMPILED = "haugmbd.sensitivity."
"""Begins the names of entries that are compiled for dual numbers, and have no meaning as plain Python."""


class Mismatch(TypeError):
    """An argument is not of the type that an entry of the engine takes."""


def makes_arrays(result: Shape) -> bool:
    """Return whether an entry returns arrays that it makes: Numba owns their memory, and no word holds them."""
    return any(map(makes_arrays, result)) if isinstance(result, list) else bool(result[1:])


class Engine:
    """A library that has been loaded: addresses of routines and of word doors, by name."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._routines = {name: k for k, name in enumerate(library.manifest["routines"])}
        self._entries: dict[str, list[tuple[int, list[Shape], Shape]]] = {}
        for k, (name, arguments, result) in enumerate(library.manifest["entries"]):
            if not makes_arrays(result):
                self._entries.setdefault(name, []).append((k, arguments, result))

    @cached_property
    def _loaded(self) -> Any:
        """The library.  Raise OSError if the system refuses it."""
        loaded = ctypes.CDLL(str(self.library.path))
        for function in (loaded.haug_routine, loaded.haug_entry):
            function.restype, function.argtypes = ctypes.c_int64, [ctypes.c_int64]
        return loaded

    def routine(self, name: str) -> int | None:
        """Return the address of a routine; None if the engine lacks it."""
        return int(self._loaded.haug_routine(self._routines[name])) if name in self._routines else None

    def doors(self, name: str, released: bool) -> list[Door]:
        """Return the doors into an entry, one for each set of types that it was compiled for."""
        return [Door(int(self._loaded.haug_entry(k)), a, r, released) for k, a, r in self._entries.get(name, ())]

    def use_blas(self) -> int:
        """Let the engine multiply matrices by SciPy's BLAS."""
        import scipy.linalg.cython_blas as blas  # noqa: PLC0415  large nets only; it takes time to load

        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        name = ctypes.pythonapi.PyCapsule_GetName
        name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
        capsule = blas.__pyx_capi__["dgemm"]
        self._loaded.haug_use_dgemm.argtypes = [ctypes.c_void_p]
        address = int(get(capsule, name(capsule)))
        self._loaded.haug_use_dgemm(address)
        return address


class Door:
    """A word door: calls an entry with its arguments in words.

    released: whether Python's global lock is given back meanwhile
    """

    def __init__(self, address: int, arguments: list[Shape], result: Shape, released: bool) -> None:
        kind: Any = ctypes.CFUNCTYPE if released else ctypes.PYFUNCTYPE
        self._enter = kind(ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p)(address)
        self._arguments, self._result = arguments, result
        self._pack = struct.Struct("<" + "".join(map(_letters, arguments))).pack
        letters = _letters(result)
        self._results = struct.Struct("<" + letters) if letters else None

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        """Call the entry.  Raise Mismatch if the arguments have other types."""
        words: list[Any] = []
        kept: list[tuple[Any, Any]] = []
        if len(arguments) != len(self._arguments):
            raise Mismatch
        for shape, x in zip(self._arguments, arguments, strict=True):
            _put(shape, x, words, kept)
        results = (ctypes.c_int64 * 8)()
        failed = self._enter(self._pack(*words), results)
        for copy, x in kept:
            if x.flags.writeable:
                x[...] = copy
        if failed:
            raise RuntimeError("the engine met an exception in compiled code: this is a fault of haugmbd.")
        if self._results is None:
            return None
        found = self._results.unpack_from(results)
        return found if isinstance(self._result, list) else bool(found[0]) if self._result == "b" else found[0]


def _letters(shape: Shape) -> str:
    """Return the letters of `struct` for the words of a shape."""
    if isinstance(shape, list):
        return "".join(map(_letters, shape))
    if shape == "n":
        return ""
    return "q" * (1 + int(shape[1:])) if shape[1:] else "d" if shape == "f" else "q"


def _put(shape: Shape, x: Any, words: list[Any], kept: list[tuple[Any, Any]]) -> None:
    """Append the words of an argument.  kept: copies of arrays that are not contiguous, with the arrays.  Raise Mismatch."""
    if isinstance(shape, list):
        if not isinstance(x, tuple) or len(x) != len(shape):
            raise Mismatch
        for each, part in zip(shape, x, strict=True):
            _put(each, part, words, kept)
    elif shape[1:]:
        if not isinstance(x, np.ndarray):
            raise Mismatch
        i = x.__array_interface__
        if i["typestr"] != KINDS[shape[0]] or len(i["shape"]) != int(shape[1:]):
            raise Mismatch
        if i["strides"] is not None:
            copy = np.ascontiguousarray(x)
            kept.append((copy, x))
            i = copy.__array_interface__
        words.append(i["data"][0])
        words.extend(i["shape"])
    elif shape == "p":
        words.append(x.address)
    elif shape == "r":
        words.append(np.asarray(x).__array_interface__["data"][0])
    elif shape == "f":
        if not isinstance(x, float | int | np.floating | np.integer):
            raise Mismatch
        words.append(float(x))
    elif shape != "n":
        if not isinstance(x, int | np.integer | np.bool_):
            raise Mismatch
        words.append(int(x))


class EngineEntry:
    """An entry in the engine; plain Python where the engine does not have it for the types of its arguments."""

    def __init__(self, engine: Engine, function: Callable[..., Any], released: bool) -> None:
        update_wrapper(self, function)
        self.py_func, self._engine, self._released = function, engine, released
        self.name = f"{function.__module__}.{function.__qualname__}"

    @cached_property
    def _doors(self) -> list[Door]:
        """Its doors."""
        return self._engine.doors(self.name, self._released)

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        for door in self._doors:
            try:
                return door(arguments)
            except Mismatch:
                continue
        if self.name.startswith(ONLY_COMPILED):
            raise ImportError(
                "derivatives of motions (sensitivity, gradient, fit, optimize) need Numba, which compiles the kernels for dual numbers: "
                "pip install numba. Where it is installed, leave the engine: HAUGMBD_ENGINE=0."
            )
        note_plain(self.name)
        return self.py_func(*arguments)


_loaded: list[Engine] = []
"""The engine of this process."""


def use_blas() -> int:
    """Let the engine of this process multiply matrices by SciPy's BLAS; return the address of its product."""
    return _loaded[0].use_blas()


def engine_layer(library: Library) -> Layer:
    """Return the layer of an engine."""
    engine = Engine(library)
    _loaded.append(engine)

    def kernel(function: Callable[..., Any], options: dict[str, Any]) -> Any:
        """Return a kernel as it is."""
        return plain(function)

    def entry(function: Callable[..., Any], options: dict[str, Any]) -> Any:
        """Return an entry of the engine."""
        return EngineEntry(engine, function, bool(options.get("nogil")))

    def machine_code(compiled: Any, signature: Any, variant: str) -> tuple[int, None]:
        """Return the address of a routine.  Raise NotImplementedError with its name if the engine lacks it."""
        name = compiled.name + variant
        address = engine.routine(name)
        if address is None:
            raise NotImplementedError(f"{name} is not in the engine: it needs Numba (pip install numba).")
        return address, None

    def direct_call(compiled: Any) -> None:
        """Return None: there is no way into an entry but by its words."""

    return Layer("engine", kernel, kernel, entry, machine_code, direct_call)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel as tests and tools know it: the plain function, which is its own `py_func`."""
    function.py_func = function  # type: ignore[attr-defined]
    return function
