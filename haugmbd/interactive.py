r"""A page that simulates: the mechanism with sliders, computed in the page itself by the engine, in WebAssembly.

    numbers(p)     every number of the compiled model, and the modelled state, as functions of the sliders p
                   = sum over k of c_k T_k1(x_1) T_k2(x_2) ...      x in [-1, 1] over each slider's range,  T: Chebyshev polynomials
    a run          the engine's loop with these numbers: the kernels of the library, one blob for each stabilization
    a picture      points of joints and loads, and shapes of bodies, as such functions, too, where a slider moves points

The degree of each slider is the least that gives the numbers to rounding at places between the nodes; what no polynomial gives is refused.
A start is assembled in the page by the projection of a step that is nearly zero; where that leads far away, the sliders go to their values
in small parts, and the start follows them.  A body is dragged by a spring from the pointer: the model has a force and a torque on each
body, which are zero otherwise.  No request leaves the page.
Source: Trefethen, Approximation Theory and Approximation Practice, ch. 3 (Chebyshev interpolants).
"""

from __future__ import annotations

import base64
import copy
import itertools
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from haugmbd.batches.parameters import unknown, variables_of
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.engine.blob import Made, check, first_call, made, parts_of, shifts, with_inputs
from haugmbd.engine.host import library_for, names_of_library
from haugmbd.engine.stops import need_same_places
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.forces import PointForce, Torque
from haugmbd.integrators.explicit.rk4 import RK4
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.stabilization.baumgarte import Baumgarte
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.model.compiling.numbering import numbered_by_origin
from haugmbd.model.model import Model
from haugmbd.sensitivity.parameters import (
    Builder,
    Built,
    Parameters,
    builder_of,
    by_paths,
    component,
    driver_constants,
    present,
    varied_model,
)
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System
from haugmbd.viewer.animate import animation
from haugmbd.viewer.animate import written as page_written
from haugmbd.viewer.mechanism import of_model
from haugmbd.viewer.packing import MeshTable, Packer
from haugmbd.viewer.scene import describe_bodies, size_of
from haugmbd.viewer.shapes import shapes_of
from haugmbd.workspace.layout import WIDTH, place_in

RANGE = (0.25, 2.0)
"""Of a slider without a range: parts of the value."""
NONE_AT_ZERO = 1.0
"""Half the range of a slider whose value is zero, without a range."""
DEGREES = (1, 2, 3, 4, 6, 8, 12, 16)
"""Degrees that are tried, in this order."""
SEEN = 1e-3
"""Error of a shape that is drawn, relative to the size of the mechanism: less than the width of its line."""
DRAWN = 1e-6
"""Error of a point that is drawn, relative to the size of the mechanism, or of an Euler parameter."""
SHAPES = 8
"""Largest degree for shapes: of what needs more, sticks are drawn."""
FRAMES = 240
"""Drawn instants of the first run: sixty in a second."""
BLOCKS = "block LDL^T"
"""The solver of pages: with it the small engine has all that most mechanisms need."""
ENGINES = ("wasm32_small", "wasm32_rows", "wasm32_blocks", "wasm32")
"""Libraries for pages, the small one first."""
FITS = 1e-11
"""Largest error of the polynomial, relative to the largest number of the model: rounding of a sum of so many terms."""
MOST_NODES = 1500
"""Models that are built for a page: with more sliders at a time their products are too many."""
WATCHED = 6
"""Places between the nodes where polynomials of all sliders together are compared with the model."""
SHOWN = 4.0
"""[s] The first run, which the page draws as a ghost."""
STAY = 1e-9
"""Distance by which points of bodies may move for rounding, of the size of the mechanism: it is not seen in a picture."""
AHEAD, WORTH = 64, 8
"""Words of a blob that are looked at where it differs from another one, and how many more must be equal in another place of it."""
WAITS = 1e-3
"""[s] Step of a page that names none."""
MARK_85 = "~"
"""Begins what is in base 85, for `unpack` of data.js; base64 has no such letter."""
IN_PAGES = str.maketrans("<>&", ",:.")
"""Letters of base 85 in a page: none that HTML or JSON reads in another way."""
DRAG = ("drag force on ", "drag torque on ")
"""Names of the loads by which the pointer drags a body."""


class Slider(NamedTuple):
    """A number that a reader of the page moves."""

    name: str
    value: float
    low: float
    high: float


def live(
    system: System | Any,
    path: str | Path,
    live: Sequence[str] | Mapping[str, Any] = (),
    *,
    h: float = WAITS,
    integrator: RungeKutta | None = None,
) -> Path:
    """Write a page that simulates: one HTML file with sliders, which computes the motion itself, without a network.

    Parameters
    ----------
    system : System, Model, Result or callable
        The mechanism, from its modelled state, or a function of the values that returns it, such as of an angle at the start.
    path : str or Path
        The file, .html.
    live : sequence of str, or dict
        What gets a slider: paths as of `batch` ("spring.k", "crank.mass", "gravity[2]"), or arguments of build. A dict gives each its range
        (low, high), or (value, low, high); arguments of build need a value. "h" and the stabilization always can be chosen in the page.
    h : float
        Step [s].
    integrator : RungeKutta, optional
        RK4() by default; Heun(), RK3().

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If a name does not exist, a range cannot be assembled, the engine cannot run the model (functions of Python, contacts, stops: by
        name), or no engine for pages is built: `make engine`.

    Notes
    -----
    The page has the library's own kernels: its motion is that of `simulate` with the same step, to about 1e-10.
    """
    return page_written(live_page(system, live, h=h, integrator=integrator), path)


def live_page(
    system: System | Any, live: Sequence[str] | Mapping[str, Any] = (), *, h: float = WAITS, integrator: RungeKutta | None = None
) -> str:
    """Return the page of `live` as text."""
    system = system.model if isinstance(system, Result) else system
    wasm = engines()
    sliders = _sliders(system, live)
    p: Mapping[str, float] = Parameters({slider.name: slider.value for slider in sliders}) if sliders else {}
    build = _with_handles(_builder(system, p))
    nominal = page_model(build(dict(p)).system)
    method = _stepping(integrator, h)
    models = _Models(build, nominal, sliders)
    numbers, table = _fitted(models, sliders)
    picture = _picture(models, sliders) if _moves_points(models, sliders) else None
    rules = {"projection": Projection(), "Baumgarte": Baumgarte.critical(20.0 * h), "none": None}
    wholes = dict[str, Made]()
    slots = nominal.slot_of_row[np.setdiff1d(np.arange(nominal.nc), np.array(nominal.redundancy.dropped, dtype=np.int64))]
    for name, rule in rules.items():
        call = first_call(nominal, method, {"stabilization": rule})
        check(nominal, call.problem, method, blocks=False)
        names = [f"{kind}{body}" for body in nominal.body_names[1:] for kind in DRAG]
        wholes[name] = made(nominal, call, method, names, _named_numbers(call.problem.pack.ints, nominal.nb, numbers, slots))
    needs, room = frozenset[str]().union(*(whole.needs for whole in wholes.values())), max(whole.room for whole in wholes.values())
    blobs = {name: whole.bytes(room) for name, whole in wholes.items()}
    first = _first_run(nominal, method)
    data = {
        "sliders": [slider._asdict() for slider in sliders],
        "degrees": [int(n) - 1 for n in table.shape[:-1]],
        "numbers": numbers,
        "rows": len(slots),
        "h": h,
        "coefficients": _text(table.astype("<f8").tobytes()),
        "blobs": _alike(blobs),
        "names": list(nominal.body_names),
        "drag": list(DRAG),
        "picture": picture,
    }
    engine = next((library for library, has in wasm if needs <= has), wasm[-1][0])
    return animation(first, frames=FRAMES, simulates=(data, _dense(engine.read_bytes())))


def _named_numbers(ints: Any, nb: int, numbers: Sequence[tuple[int, int]], slots: Ints) -> list[tuple[str, str, int]]:
    """Return the numbers that the page reads and sets, as name, array and index: those that sliders move, Phi of each row, and inertias."""
    (level, _, wide), (inertia, _, inertia_wide), (F, _, _) = (place_in(ints, array) for array in ("LEVEL", "INERTIA", "F"))
    moved = [
        (f"#{k}", "reals" if kind == 0 else "work", at if kind == 0 else F + at) for k, (kind, at) in enumerate(numbers) if kind < 2
    ]
    errors = [(f"#Phi {k}", "work", level + wide * int(slot)) for k, slot in enumerate(slots)]
    inertias = [
        (f"#inertia {b} {a}", "reals", inertia + inertia_wide * b + a) for b in range(1, nb + 1) for a in range(inertia_wide)
    ]
    return [*moved, *errors, *inertias]


def engines() -> list[tuple[Path, frozenset[str]]]:
    """Return the libraries for pages, the small one first, and the names that each has.  Raise UsageError if there is none."""
    libraries = []
    for name in ENGINES:
        try:
            libraries.append((library_for(name), names_of_library(name)))
        except UsageError:
            if name == ENGINES[-1] and not libraries:
                raise
    return libraries


def page_model(system: System) -> Model:
    """Return the checked model of a system, with tables that keep their structure when a slider moves."""
    with numbered_by_origin():
        return system.compile(solver=BLOCKS)


def _builder(system: Any, p: Mapping[str, float]) -> Builder:
    """Return the function that builds the system of given values."""
    if isinstance(system, Model):
        return by_paths(system)
    if isinstance(system, System) and not p:
        return lambda _: Built(system)
    if not isinstance(p, Parameters):
        return lambda _: Built(system() if callable(system) else system)
    return builder_of(system, p)


def _text(data: bytes) -> str:
    """Return bytes, deflated, in base64."""
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def _dense(data: bytes) -> str:
    """Return bytes, deflated, in base 85, whose mark is its first letter: five letters for four bytes, where base64 has four for three."""
    packer = zlib.compressobj(9, memLevel=9)
    packed = packer.compress(data) + packer.flush()
    return MARK_85 + base64.b85encode(packed).decode("ascii").translate(IN_PAGES)


def _alike(blobs: Mapping[str, bytes]) -> dict[str, tuple[str, list[list[int]], str]]:
    """Return blobs by name, each as its difference from one before it, whichever is smallest: its name, pieces, and the difference."""
    packed = dict[str, tuple[str, list[list[int]], str]]()
    for name, blob in blobs.items():
        differences = [(other, *apart(blob, blobs[other])) for other in packed] or [("", list[list[int]](), blob)]
        packed[name] = min(
            ((other, pieces, _dense(data)) for other, pieces, data in differences), key=lambda packing: len(packing[2])
        )
    return packed


def apart(blob: bytes, before: bytes) -> tuple[list[list[int]], bytes]:
    """Return a blob as the difference of its 32-bit words from those of another one, word k from word k + shift: nearly everywhere zero.

    The first value: pairs (first word, shift).  A shift changes where the other blob has, or lacks, an array.
    """
    blob_words, words = (np.frombuffer(data, dtype="<u4") for data in (blob, before))
    shifts = _shifts(blob, before)
    there = np.arange(blob_words.size)[None, :] + shifts[:, None]
    inside = (there >= 0) & (there < words.size)
    other = np.where(inside, words[np.clip(there, 0, words.size - 1)], 0)
    same = np.concatenate([np.zeros((len(shifts), 1), dtype=np.int64), np.cumsum(other == blob_words, axis=1)], axis=1)
    pieces, at, now = list[list[int]](), 0, -1
    while at < blob_words.size:
        ahead = same[:, min(at + AHEAD, blob_words.size)] - same[:, at]
        best = int(np.argmax(ahead))
        if now < 0 or ahead[best] > ahead[now] + WORTH:
            now = best
            pieces.append([at, int(shifts[now])])
        differs = np.flatnonzero(other[now, at + 1 :] != blob_words[at + 1 :])
        at = blob_words.size if not differs.size else at + 1 + int(differs[0])
    ends = [*(start for start, _ in pieces[1:]), blob_words.size]
    difference = blob_words.copy()
    for (start, shift), end in zip(pieces, ends, strict=True):
        difference[start:end] -= other[shifts.tolist().index(shift), start:end]
    return pieces, difference.tobytes()


def _shifts(blob: bytes, before: bytes) -> Ints:
    """Return by how many 32-bit words parts of a blob may stand elsewhere in another one: sections, and arrays of one place and size."""
    (sections, blob_rows), (other, other_rows) = parts_of(blob), parts_of(before)
    shifts = {(other[tag] - sections[tag]) // 4 for tag in sections if tag in other}
    matcher = SequenceMatcher(None, blob_rows[:, 1].tolist(), other_rows[:, 1].tolist(), autojunk=False)
    for _, i, j, j_end in ((tag, i, j, j2) for tag, i, _, j, j2 in matcher.get_opcodes() if tag != "delete"):
        for k in range(i, min(i + j_end - j, len(blob_rows))):
            mine, its = blob_rows[k, 0], other_rows[j + k - i, 0]
            if mine >= 0 and its >= 0:
                shifts.add(int(its - mine) // 4)
    return np.array(sorted(shifts, key=abs), dtype=np.int64)


def _stepping(integrator: RungeKutta | None, h: float) -> RungeKutta:
    """Return the method of the page. Raise UsageError for one that is not in the engine."""
    method = RK4() if integrator is None else integrator
    if not isinstance(method, RungeKutta):
        raise UsageError(f"{type(method).__name__} is not in the engine of pages: give RK4(), Heun() or RK3().")
    if not (np.isfinite(h) and h > 0.0):
        raise UsageError(f"h = {h!r} must be a positive step [s].")
    options = {field.name: getattr(method, field.name) for field in fields(method)} | {"h": float(h)}
    return type(method)(**options)


def _first_run(model: Model, method: RungeKutta) -> Result:
    """Return the run that is drawn first, and stays as a ghost."""
    try:
        return simulate(model, model.state().t + SHOWN, integrator=method)
    except HaugmbdError as error:
        partial_run = getattr(error, "result", None)
        if isinstance(partial_run, Result) and len(partial_run):
            return partial_run
        raise


# ---------------------------------------------------------------------------------------------------------------- sliders
def _sliders(system: Any, live: Sequence[str] | Mapping[str, Any]) -> list[Slider]:
    """Return what is live. Raise UsageError for what does not exist, and for a range that is none."""
    ranges = dict(live) if isinstance(live, Mapping) else dict.fromkeys([live] if isinstance(live, str) else live)
    model = system if isinstance(system, Model) else system.compile() if isinstance(system, System) else None
    return [_slider(model, str(name), ranged) for name, ranged in ranges.items()]


def _slider(model: Model | None, name: str, ranged: Any) -> Slider:
    """Return one slider: its value is that of the model, or given first."""
    numbers = [] if ranged is None else np.ravel(np.asarray(ranged, dtype=np.float64)).tolist()
    if len(numbers) not in {0, 2, 3}:
        raise UsageError(f"live: {name!r} has the range {ranged!r}: give (low, high), or (value, low, high).")
    if model is None and len(numbers) < 3:  # noqa: PLR2004  value, low, high
        raise UsageError(f"live: {name!r} is an argument of a function and needs its value, too: {{{name!r}: (value, low, high)}}.")
    value = numbers[0] if len(numbers) == 3 or model is None else _value(model, name)  # noqa: PLR2004
    low, high = numbers[-2:] if numbers else sorted(RANGE[k] * value for k in (0, 1)) if value else (-NONE_AT_ZERO, NONE_AT_ZERO)
    if not (np.isfinite([value, low, high]).all() and low <= value <= high and low < high):
        raise UsageError(
            f"live: {name!r} has the value {value:g} and the range {low:g} to {high:g}: give (low, high) around the value."
        )
    return Slider(name, value, low, high)


def _value(model: Model, name: str) -> float:
    """Return the value of a path in the model."""
    variables = variables_of(model)
    path, index = (name, ()) if name in variables else component(name)
    if path not in variables:
        raise UsageError(f"live: {unknown(model, path, variables)}.")
    value = present(model, variables[path])
    if value.ndim != len(index):
        wanted = f"{path}[{','.join('0' * value.ndim)}]" if value.ndim else path
        raise UsageError(f"live: {name!r} has the shape {value.shape}: name one number of it, such as {wanted!r}.")
    return float(value[index])


def _with_handles(build: Any) -> Builder:
    """Return the builder of the same system with a force and a torque on each body, by which the pointer drags it."""

    def built(values: Mapping[str, float]) -> Any:
        modelled = build(values)
        system = copy.deepcopy(modelled.system)
        for body in [body for body in system.bodies if not body.is_ground]:
            system.add(PointForce(f"{DRAG[0]}{body.name}", body, force=(0.0, 0.0, 0.0)))
            system.add(Torque(f"{DRAG[1]}{body.name}", body, torque=(0.0, 0.0, 0.0)))
        handles = [f"{kind}{body.name}" for body in system.bodies if not body.is_ground for kind in DRAG]
        return Built(with_inputs(system, handles, "live"))

    return built


# ---------------------------------------------------------------------------------------------------------------- numbers by sliders
def _model_at(build: Builder, nominal: Model, values: Mapping[str, float]) -> Model:
    """Return the model of given values, of the structure of the nominal one. Raise UsageError, with the values, if it cannot be built."""
    try:
        model = varied_model(build(values).system, nominal)
    except HaugmbdError as error:
        told = ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
        raise UsageError(f"live: the mechanism cannot be built at {told}: {error} Give a smaller range.") from error
    return need_same_places(nominal, model, "live")


class _Models:
    """The models of sliders at x in [-1, 1], each built once."""

    def __init__(self, build: Builder, nominal: Model, sliders: Sequence[Slider]) -> None:
        self.nominal, self._build, self._sliders = nominal, build, sliders
        self._found: dict[tuple[float, ...], Model] = {}

    def __call__(self, x: Sequence[float] | Array) -> Model:
        """Return the model at x.  Raise UsageError, with the values, if it cannot be built."""
        key = tuple(float(u) for u in x)
        if key not in self._found:
            ends = zip(self._sliders, key, strict=True)
            values = {s.name: 0.5 * (s.low + s.high) + 0.5 * (s.high - s.low) * u for s, u in ends}
            self._found[key] = _model_at(self._build, self.nominal, values)
        return self._found[key]


def _moves_points(models: _Models, sliders: Sequence[Slider]) -> bool:
    """Return whether a slider moves points of joints or loads on their bodies."""
    start, rows, columns = models.nominal.tables.place("X_BAR")
    points = slice(start, start + rows * columns)
    for k in range(len(sliders)):
        ends = np.zeros((2, len(sliders)))
        ends[:, k] = -1.0, 1.0
        low, high = (models(x).tables.reals[points] for x in ends)
        if np.abs(high - low).max(initial=0.0) > STAY * models.nominal.length:
            return True
    return False


def _fitted(models: _Models, sliders: Sequence[Slider]) -> tuple[list[tuple[int, int]], Array]:
    """Return the numbers that sliders move, and their Chebyshev coefficients (n_1, ..., n_m, numbers).

    numbers: (0, place in reals), (1, place in F) or (2, place in the modelled state)
    """
    nominal = models.nominal

    def at(x: Sequence[float]) -> Array:
        model = models(x)
        return np.concatenate([model.tables.reals, driver_constants(model).ravel(), model.y0])

    if not sliders:
        return [], np.zeros(0)
    here = [0.0] * len(sliders)
    sizes = np.maximum(1.0, np.abs(at(here)))
    sizes[: len(nominal.tables.reals)][shifts(nominal)] = np.inf
    degrees = [_degree(at, here, k, sliders[k].name, sizes) for k in range(len(sliders))]
    table = _table(at, degrees, sliders)
    moves = np.flatnonzero(np.abs(table.reshape(-1, table.shape[-1])[1:]).max(axis=0, initial=0.0) > 0.0)
    table = table[..., moves]
    rng = np.random.default_rng(0)
    for x in rng.uniform(-1.0, 1.0, (WATCHED, len(sliders))):
        off = np.abs(value_at(table, x) - at(x)[moves]) / sizes[moves]
        if off.max(initial=0.0) > 10.0 * FITS:
            raise UsageError("live: the numbers of the model are no polynomials of all sliders together: give fewer sliders.")
    n_reals, n_drivers = len(nominal.tables.reals), driver_constants(nominal).size
    starts = np.array([0, n_reals, n_reals + n_drivers])
    kinds = np.searchsorted(starts, moves, side="right") - 1
    return [(int(kind), int(place - starts[kind])) for kind, place in zip(kinds, moves, strict=True)], table


def _table(at: Callable[[Sequence[float]], Array], degrees: Sequence[int], sliders: Sequence[Slider]) -> Array:
    """Return the coefficients (n_1, ..., n_m, numbers) of the interpolant; exactly zero, but the first one, of what does not move."""
    if np.prod([n + 1 for n in degrees]) > MOST_NODES:
        raise UsageError(
            f"live: {', '.join(repr(s.name) for s in sliders)} together need polynomials of degrees {list(degrees)}, too many: give fewer "
            "sliders, or smaller ranges."
        )
    nodes = [_nodes(n) for n in degrees]
    values = np.array([at(x) for x in itertools.product(*nodes)])
    rest = np.ptp(values, axis=0) == 0.0
    table = values.reshape(*(n + 1 for n in degrees), values.shape[1])
    for k, n in enumerate(degrees):
        T = np.cos(np.outer(np.arange(n + 1), np.arccos(nodes[k])))
        weights = np.where(np.arange(n + 1) == 0, 1.0, 2.0)[:, None] * T / (n + 1)
        table = np.moveaxis(np.tensordot(weights, table, axes=(1, k)), 0, k)
    table[..., rest] = 0.0
    table[(0,) * len(degrees)][rest] = values[0, rest]
    return table


def _nodes(n: int) -> Array:
    """Return the zeros of T_(n + 1)."""
    zeros: Array = np.cos(np.pi * (np.arange(n + 1) + 0.5) / (n + 1))
    return zeros


# ---------------------------------------------------------------------------------------------------------------- pictures by sliders
def _picture(models: _Models, sliders: Sequence[Slider]) -> dict[str, Any]:
    """Return what is drawn as functions of the sliders: parts as the page reads them, with None for each number of the tables.

    parts: joints and loads, then the shapes of each body, or None for a body that is drawn by sticks between its points
    """
    nominal = models.nominal
    poses = nominal.y0[: WIDTH * (nominal.nb + 1)].reshape(-1, WIDTH)
    size = size_of(of_model(nominal), poses[:, :3], poses[:, 3:7])
    meshes = MeshTable(Packer())
    first = _drawn(nominal, size, meshes)
    parts_at: dict[tuple[float, ...], list[tuple[Any, list[float]]]] = {}

    def parts(x: Sequence[float]) -> list[tuple[Any, list[float]]]:
        key = tuple(map(float, x))
        if key not in parts_at:
            parts_at[key] = [
                _leaves(_same_sign(drawn, other)) for drawn, other in zip(_drawn(models(key), size, meshes), first, strict=True)
            ]
        return parts_at[key]

    form = [skeleton for skeleton, _ in map(_leaves, first)]
    held = [True] * len(form)
    degrees = [_degree_of_picture(parts, form, held, k, sliders, size) for k in range(len(sliders))]
    for x in itertools.product(*map(_nodes, degrees)):
        held = [follows and skeleton == wanted for follows, (skeleton, _), wanted in zip(held, parts(x), form, strict=True)]
    if not held[0]:
        raise UsageError("live: joints or loads are drawn in another way at the ends of a slider: give a smaller range.")

    def at(x: Sequence[float]) -> Array:
        return np.array([number for (_, numbers), follows in zip(parts(x), held, strict=True) if follows for number in numbers])

    table = _table(at, degrees, sliders)
    return {
        "parts": [skeleton if follows else None for skeleton, follows in zip(form, held, strict=True)],
        "degrees": degrees,
        "coefficients": _text(table.astype("<f4").tobytes()),
        "size": size,
    }


def _degree_of_picture(
    parts: Callable[[Sequence[float]], list[tuple[Any, list[float]]]],
    form: Sequence[Any],
    held: list[bool],
    k: int,
    sliders: Sequence[Slider],
    size: float,
) -> int:
    """Return the degree by which what is drawn follows slider k.  held: whether each part does; changed here"""

    def along(u: float) -> list[tuple[Any, list[float]]]:
        x = [0.0] * len(sliders)
        x[k] = u
        return parts(x)

    between = np.array([-0.93, -0.41, 0.17, 0.77])
    right = [along(u) for u in between]
    chosen = 0
    for part in range(len(form)):
        bar, most = (DRAWN, DEGREES[-1]) if part == 0 else (SEEN, SHAPES)
        fits = False
        for n in (degree for degree in DEGREES if held[part] and degree <= most):
            samples = [along(u)[part] for u in _nodes(n)]
            if any(skeleton != form[part] for skeleton, _ in (*samples, *(each[part] for each in right))):
                break
            values = np.array([numbers for _, numbers in samples])
            fit = np.polynomial.chebyshev.chebfit(_nodes(n), values, n) if values.size else values
            there = np.array([each[part][1] for each in right])
            off = np.abs(np.polynomial.chebyshev.chebval(between, fit).T - there) if values.size else there
            if off.max(initial=0.0) <= bar * max(size, 1.0 if part == 0 else 0.0):
                chosen, fits = max(chosen, n), True
                break
        held[part] &= fits
        if part == 0 and not fits:
            raise UsageError(
                f"live: the points of the model are no smooth function of {sliders[k].name!r} over its range: give a smaller range."
            )
    return chosen


def _drawn(model: Model, size: float, meshes: MeshTable) -> list[Any]:
    """Return joints and loads, then the shapes of each body, as the page reads them."""
    mechanism = of_model(model)
    lines = {"joints": [part.data() for part in mechanism.joints], "loads": [part.data() for part in mechanism.loads]}
    bodies = describe_bodies(mechanism, shapes_of(mechanism, size), meshes)
    return [lines, *(body["shapes"] for body in bodies)]


def _leaves(tree: Any) -> tuple[Any, list[float]]:
    """Return a tree with None in place of its floats, and these."""
    numbers: list[float] = []

    def walk(node: Any) -> Any:
        if isinstance(node, float):
            numbers.append(node)
            return None
        if isinstance(node, Mapping):
            return {key: walk(value) for key, value in node.items()}
        if isinstance(node, list | tuple):
            return [walk(value) for value in node]
        return node

    return walk(tree), numbers


def _same_sign(tree: Any, other: Any) -> Any:
    """Return a tree whose Euler parameters have the signs of those of another one: p and -p are one rotation."""
    if isinstance(tree, Mapping) and isinstance(other, Mapping):
        return {key: _same_sign(value, other.get(key)) if key != "size" else value for key, value in tree.items()}
    if _is_rotation(tree) and _is_rotation(other):
        return _rotation(tree, other)
    if isinstance(tree, list) and isinstance(other, list) and len(tree) == len(other):
        return [_same_sign(own, each) for own, each in zip(tree, other, strict=True)]
    return tree


def _is_rotation(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and all(isinstance(x, float) for x in value)  # noqa: PLR2004  Euler parameters


def _rotation(p: list[float], other: list[float]) -> list[float]:
    return [-x for x in p] if sum(a * b for a, b in zip(p, other, strict=True)) < 0.0 else p


def value_at(table: Array, x: Sequence[float] | Array) -> Array:
    """Return the sum of Chebyshev polynomials with coefficients (n_1, ..., n_m, numbers) at x (m,)."""
    for u in x:
        table = np.tensordot(np.cos(np.arange(table.shape[0]) * np.arccos(np.clip(u, -1.0, 1.0))), table, axes=(0, 0))
    return table


def _degree(at: Callable[[Sequence[float]], Array], here: Sequence[float], k: int, name: str, sizes: Array) -> int:
    """Return the least degree by which the numbers follow from slider k. Raise UsageError if there is none."""

    def along(u: float) -> Array:
        x = list(here)
        x[k] = u
        return at(x)

    between = np.array([-0.93, -0.41, 0.17, 0.77])
    right = np.array([along(u) for u in between])
    for n in DEGREES:
        nodes = _nodes(n)
        fit = np.polynomial.chebyshev.chebfit(nodes, np.array([along(u) for u in nodes]), n)
        if (np.abs(np.polynomial.chebyshev.chebval(between, fit).T - right) / sizes).max() <= FITS:
            return n
    raise UsageError(
        f"live: the numbers of the model are no smooth function of {name!r} over its range: give a smaller range, away from kinks."
    )
