r"""The engine from Python: a library that runs blobs, through the functions of `haugmbd.h` alone.

    engine = mbd.engine.EngineModel("four_bar.haug");   engine.run(1000);   engine.state;   engine.reaction("R.i")

No model, no kernel and no compiler is in between: it is what a C program does, and shows what such a program gets.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.engine_library import FOLDER, MANIFEST, choose, stamp_of
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import SimulationError, UsageError

BODY, REACTION, COORDINATE, INPUT, PARAMETER, OUTPUT, LAW = range(1, 8)
"""Kinds of items, as in `haugmbd.h`."""
WHY = {
    -101: "it is not a whole blob",
    -102: "it was written for another version of the engine",
    -103: "the engine was built of other sources, and does not have all its routines",
    -104: "there is not enough memory",
    -105: "there is no such item",
    -106: "a number is not finite, or a step is not positive",
}
WORD, REAL, POINTER, TEXT = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_char_p
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "version": (WORD, []),
    "stamp": (TEXT, []),
    "load": (POINTER, [TEXT, WORD, POINTER]),
    "close": (None, [POINTER]),
    "reset": (WORD, [POINTER]),
    "size": (WORD, [POINTER]),
    "state": (POINTER, [POINTER]),
    "rates": (POINTER, [POINTER]),
    "time": (REAL, [POINTER]),
    "step": (REAL, [POINTER]),
    "set_step": (WORD, [POINTER, REAL]),
    "set_time": (WORD, [POINTER, REAL]),
    "changed": (None, [POINTER]),
    "run": (WORD, [POINTER, WORD, POINTER]),
    "due": (WORD, [POINTER]),
    "hold": (WORD, [POINTER, WORD, REAL]),
    "evaluate": (WORD, [POINTER]),
    "reaction": (WORD, [POINTER, WORD, POINTER]),
    "coordinate": (WORD, [POINTER, WORD, POINTER]),
    "set": (WORD, [POINTER, WORD, REAL]),
    "get": (REAL, [POINTER, WORD]),
    "output": (WORD, [POINTER, WORD, POINTER]),
    "why": (TEXT, [POINTER, WORD]),
    "items": (WORD, [POINTER]),
    "find": (WORD, [POINTER, WORD, TEXT]),
    "kind": (WORD, [POINTER, WORD]),
    "name": (TEXT, [POINTER, WORD]),
    "place": (WORD, [POINTER, WORD]),
    "saved_size": (WORD, [POINTER]),
    "save": (None, [POINTER, POINTER]),
    "restore": (WORD, [POINTER, POINTER]),
}
"""The functions of `haugmbd.h` that are used here: results and arguments."""


def need_whole(library: Path) -> None:
    """Raise UsageError if a library is not what the manifest beside it says: what is cut may end the process when it is loaded."""
    try:
        line = json.loads(library.with_name(MANIFEST).read_text(encoding="utf-8"))["libraries"][library.name]
    except (OSError, ValueError, KeyError):
        return
    if library.stat().st_size != line["size"] or hashlib.sha256(library.read_bytes()).hexdigest() != line["sha256"]:
        raise UsageError(f"the engine {library.name} is damaged. Build it again: make engine, or install the wheel again.")


def functions(library: Path) -> Any:
    """Return the functions of a library by name, without `haug_`.  Raise UsageError if it is damaged, or no library."""
    try:
        need_whole(library)
        loaded = ctypes.CDLL(str(library))
    except OSError as error:
        raise UsageError(f"the engine {library} cannot be loaded: {error}") from error
    found: dict[str, Any] = {}
    for name, (result, arguments) in FUNCTIONS.items():
        function = found[name] = loaded[f"haug_{name}"]
        function.restype, function.argtypes = result, arguments
    return type("Functions", (), {name: staticmethod(function) for name, function in found.items()})


def library_here() -> Path:
    """Return the engine of this package.  Raise UsageError if there is none for this machine and these sources."""
    library, reason = choose()
    if library is None:
        raise UsageError(
            f"there is no engine here{': ' if reason else ''}{reason}. Build one: make engine, or install a wheel that has it."
        )
    return library.path


def library_for(target: str, folder: Path = FOLDER) -> Path:
    """Return the library of any target, to put into a page or another program: "wasm32", "linux_x86_64", "windows_x86_64", ...

    Raise UsageError if it was not built, or does not belong to these sources.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        manifest = {"libraries": {}, "sources": []}
    names: dict[str, str] = {Path(name).stem: name for name in manifest["libraries"]}
    if target not in names:
        raise UsageError(
            f"the engine has no library for {target!r}: {', '.join(names) or 'none was built'}. Build it: make engine."
        )
    if manifest["libraries"][names[target]]["stamp"] != stamp_of(manifest["sources"]):
        raise UsageError(f"the engine's {names[target]} was built of other sources. Build it again: make engine.")
    return folder / names[target]


def names_of_library(target: str, folder: Path = FOLDER) -> frozenset[str]:
    """Return the names of routines and entries that the library of a target has: those of the part that it was built of."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    line = next(line for name, line in manifest["libraries"].items() if Path(name).stem == target)
    return frozenset(line.get("has", ()))


def content(blob: Any) -> bytes:
    """Return the bytes of a blob, or of its file.  Raise UsageError if it is neither, or cannot be read."""
    if isinstance(blob, bytes | bytearray | memoryview):
        return bytes(blob)
    try:
        return Path(blob).read_bytes()
    except TypeError:
        raise UsageError(f"a blob is bytes, or the path of a file, not {blob!r:.80}.") from None
    except OSError as error:
        raise UsageError(f"the blob {str(blob)!r} cannot be read: {error.strerror}.") from None


def number(name: str, value: Any) -> float:
    """Return a value as a float.  Raise UsageError if it is no number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise UsageError(f"{name} = {value!r:.80} must be a number.")
    return float(value)


class EngineModel:
    """A blob in the engine: a mechanism that runs without haugmbd.

    Parameters
    ----------
    blob : bytes or path
        A blob, or its file.
    library : path, optional
        The engine; by default the one that this package was installed with.

    Raises
    ------
    UsageError
        If the blob is damaged, or made for another engine; if there is no such file, or no engine.
    """

    def __init__(self, blob: bytes | str | Path, *, library: str | Path | None = None) -> None:
        data = content(blob)
        self._laws: dict[str, Callable[..., Any]] = {}
        self._do = functions(Path(library) if library is not None else library_here())
        code = ctypes.c_int64()
        self._model: Any = self._do.load(data, len(data), ctypes.byref(code))
        if not self._model:
            raise UsageError(f"the engine refuses the blob: {WHY.get(code.value, code.value)}.")
        n = self._do.size(self._model)
        memory: Any = (ctypes.c_double * n).from_address(self._do.state(self._model))
        self._y: Array = np.frombuffer(memory)
        self.items: Mapping[tuple[int, str], int] = {
            (self._do.kind(self._model, k), self._do.name(self._model, k).decode()): k for k in range(self._do.items(self._model))
        }

    def close(self) -> None:
        """Give back its memory."""
        if self._model:
            self._y = self._y.copy()
            self._do.close(self._model)
            self._model = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            self._do.close(self._model)

    @property
    def t(self) -> float:
        """The time [s]."""
        return float(self._do.time(self._open))

    @property
    def h(self) -> float:
        """The step [s]."""
        return float(self._do.step(self._open))

    @h.setter
    def h(self, value: float) -> None:
        self._need(self._do.set_step(self._open, number("h", value)))

    @property
    def state(self) -> Array:
        """The current state (ny,), a copy: 13 numbers of each body, r, p, v, omega_bar, then integrated angles and internal states."""
        return self._y.copy()

    @state.setter
    def state(self, y: Array) -> None:
        try:
            given = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        if given.shape != self._y.shape:
            raise UsageError(f"state = {y!r:.80} must be {self._y.size} numbers, as `state` gives them.")
        self._y[:] = given
        self._do.changed(self._open)

    @property
    def _open(self) -> Any:
        """The model.  Raise UsageError if it has been closed."""
        if not self._model:
            raise UsageError("the engine's model is closed: load its blob again.")
        return self._model

    def _need(self, code: int) -> int:
        """Return a code that is not negative.  Raise SimulationError with what it means."""
        if code < 0:
            raise SimulationError(f"the engine stops: {self._do.why(self._open, code).decode()}.")
        return code

    def _item(self, kind: int, name: str) -> int:
        """Return the number of an item.  Raise UsageError if there is none of this name."""
        if (kind, name) not in self.items:
            names = [text for of, text in self.items if of == kind]
            raise UsageError(
                f"there is no {name!r}{did_you_mean(name, names)}: the blob has {', '.join(map(repr, names)) or 'none'}."
            )
        return self.items[kind, name]

    def run(self, n: int) -> Array:
        """Make n steps; return the states behind them, (n, ny), fewer where constraints are about to become dependent.

        Sampled blocks are called at their times by the functions that `law` has given.
        """
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 0:
            raise UsageError(f"run: n = {n!r} must be a number of steps, 0 or more.")
        states, made = np.zeros((int(n), self._y.size)), 0
        while made < n:
            called = self._call_laws()
            if made and called:
                states[made - 1] = self._y  # at the time of a call a run has the new values
            done = self._need(self._do.run(self._open, int(n) - made, states[made:].ctypes.data))
            made += done
            if not done or self._do.due(self._open) < 0:
                break
        return states[:made]

    def law(self, name: str, function: Callable[[float, Mapping[str, float]], float]) -> None:
        """Let a function be a sampled block: function(t, signals) -> its value from t on; signals: the outputs of the blob by name."""
        self._item(LAW, name)
        if not callable(function):
            raise UsageError(f"law {name!r}: {function!r:.80} is no function(t, signals).")
        self._laws[name] = function

    def _call_laws(self) -> bool:
        """Call the sampled blocks that are due now; return whether there are some.  Raise UsageError for one without a function."""
        names, called = {k: name for (kind, name), k in self.items.items() if kind == LAW}, False
        while (k := self._do.due(self._open)) >= 0:
            if names[k] not in self._laws:
                raise UsageError(
                    f"the sampled block {names[k]!r} is due at t = {self.t:g} s: give its function, law({names[k]!r}, function)."
                )
            signals = {name: self.get(name) for kind, name in self.items if kind == OUTPUT}
            self._need(self._do.hold(self._open, k, number(f"law {names[k]!r}", self._laws[names[k]](self.t, signals))))
            called = True
        return called

    def set(self, name: str, value: float) -> None:
        """Set an input or a parameter."""
        kind = INPUT if (INPUT, name) in self.items else PARAMETER
        self._need(self._do.set(self._open, self._item(kind, name), number(name, value)))

    def get(self, name: str) -> float:
        """Return an input, a parameter, or an output at the state of now."""
        if (OUTPUT, name) in self.items:
            out = ctypes.c_double()
            self._need(self._do.output(self._open, self._item(OUTPUT, name), ctypes.byref(out)))
            return out.value
        kind = INPUT if (INPUT, name) in self.items else PARAMETER
        return float(self._do.get(self._open, self._item(kind, name)))

    def reaction(self, name: str) -> Array:
        """Return force and torque (6,) of a joint on one of its bodies, such as "R.i", global, about the joint's point there."""
        out = np.zeros(6)
        self._need(self._do.reaction(self._open, self._item(REACTION, name), out.ctypes.data))
        return out

    def coordinate(self, name: str) -> Array:
        """Return a coordinate of a joint and its rate (2,), such as "R.angle"."""
        out = np.zeros(2)
        self._need(self._do.coordinate(self._open, self._item(COORDINATE, name), out.ctypes.data))
        return out

    def save(self) -> bytes:
        """Return everything that changes in a run."""
        memory = ctypes.create_string_buffer(self._do.saved_size(self._open))
        self._do.save(self._open, memory)
        return memory.raw

    def restore(self, saved: bytes) -> None:
        """Go back to what was saved, of this model or of another one of the same blob."""
        if not isinstance(saved, bytes) or len(saved) != self._do.saved_size(self._open):
            raise UsageError("this was saved by a model of another blob.")
        self._do.restore(self._open, saved)

    def reset(self) -> None:
        """Go back to the start."""
        self._do.reset(self._open)
