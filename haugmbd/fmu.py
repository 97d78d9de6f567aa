r"""FMUs: a mechanism as a co-simulation unit for other tools, and a controller of another tool as a sampled block.

    to_fmu      x.fmu = zip of   modelDescription.xml    names, units, start values           FMI 2.0 or 3.0
                                 binaries/PLATFORM/      the engine, the same for all models   `engine/fmu.c`, built by `make engine`
                                 resources/model.haug    the blob of the model                 `engine.blob`
                                 resources/model.json    the model file
    read_fmu    at t_k: a step of the unit from t_(k-1) with the inputs of t_(k-1), then the inputs of t_k; its outputs are held

A parameter p is a path, as of a batch.  The numbers of the model that follow from it must be linear in all parameters together,

    number_k = a_k + sum over j of b_kj p_j

which is found from models of other values, and checked at places between; any other is refused by name.
Source: Modelica Association, Functional Mock-up Interface 2.0.5 and 3.0.2.
"""

from __future__ import annotations

import io
import os
import re
import struct
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from haugmbd.batches.parameters import unknown, variables_of
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.control.sampled import Sampled
from haugmbd.engine.blob import INPUT, OUTPUT, PARAMETER, blob_of_model, shifts, with_inputs
from haugmbd.engine.host import library_for
from haugmbd.engine.stops import need_same_places
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.forces.friction_laws import Viscous
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.integrators.explicit.rk4 import RK4
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.model.inspection.driver_breaks import driven_joints, first_break
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.modelfile import save_model
from haugmbd.sensitivity.parameters import (
    Built,
    Parameters,
    builder_of,
    by_paths,
    component,
    driver_constants,
    nominal_model,
    present,
    varied_model,
)
from haugmbd.simulation.held_inputs import model_with_inputs
from haugmbd.simulation.quantity_reader import COORDINATE, COORDINATE_RATE, QuantityReader
from haugmbd.simulation.results.result import Result
from haugmbd.system.checks.function_ranges import has_ranges
from haugmbd.system.system import System
from haugmbd.workspace.layout import place_in

WHO = "to_fmu"
VERSIONS = ("2.0", "3.0")
PLATFORMS = {
    "linux_x86_64": ("linux64", "x86_64-linux", "so"),
    "windows_x86_64": ("win64", "x86_64-windows", "dll"),
    "macos_x86_64": ("darwin64", "x86_64-darwin", "dylib"),
    "linux_aarch64": ("aarch64-linux", "aarch64-linux", "so"),
    "macos_arm64": ("aarch64-darwin", "aarch64-darwin", "dylib"),
}
"""Targets of the engine: folders of an FMU of version 2.0 and 3.0, and ending of the library."""
TIME, NUMBER, READ, MOVED = range(4)
"""Kinds of variables, as in `fmu.c`."""
SECTION = "FMU"
HEAD_WORDS = 9
LINEAR = 1e-11
"""Largest distance of a number of the model from its linear function, of its size: rounding of a sum of products."""
BETWEEN = 6
"""Places between where all parameters together are compared with the model."""
OUTWARD = (0.5, 0.1, 1e-2, 1e-3, 0.0, -1.0, -1e3), (2.0, 10.0, 100.0, 1e3)
"""Parts of a parameter's value at which the model is built, downwards and upwards: where it cannot be, the last one is a bound."""
EXAMINED = 100_000
"""Times at which drivers of joints are examined, at most."""
STOP = 10.0
"""[s] The end of a run that a tool proposes, and to which the drivers of joints are examined."""
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
STRUCTURED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\[\d+\])?", re.ASCII)
UNITS = {
    "m": {"m": 1}, "s": {"s": 1}, "rad": {"rad": 1}, "kg": {"kg": 1}, "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2}, "m/s": {"m": 1, "s": -1}, "m/s2": {"m": 1, "s": -2}, "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2}, "kg.m2": {"kg": 1, "m": 2},
}  # fmt: skip
"""Units, by their exponents of base units."""
OF_BODIES = {
    "r": "m", "p": "", "v": "m/s", "omega_bar": "rad/s", "v_dot": "m/s2", "a": "m/s2", "acceleration": "m/s2", "omega_bar_dot": "rad/s2",
    "omega_dot": "rad/s2",
}  # fmt: skip
OF_PATHS = {"mass": "kg", "J_bar": "kg.m2", "gravity": "m/s2"}
TOLD = "It has the name, the start value and, where the model has one, the range of each variable."


class Variable(NamedTuple):
    """A variable of an FMU.

    causality: independent, input, output or parameter;  kind, item: how the binary reaches it
    start: None for what is calculated;  low, high: bounds of a parameter;  fixed: whether it belongs to the start
    """

    name: str
    causality: str
    kind: int
    item: int = 0
    unit: str = ""
    start: float | None = None
    low: float = -np.inf
    high: float = np.inf
    fixed: bool = False


class Linear(NamedTuple):
    """Numbers of a model as linear functions of parameters.

    names, values: of the parameters;  low, high: their bounds
    places: (kind, place): 0 in reals, 1 in the constants of drivers, 2 in the start;  base: (n,);  slopes: (n, parameters)
    """

    names: tuple[str, ...]
    values: Array
    low: Array
    high: Array
    places: list[tuple[int, int]]
    base: Array
    slopes: Array


def to_fmu(
    system: System | Model | Result,
    path: str | Path,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] = (),
    h: float = 1e-3,
    version: str = "3.0",
    integrator: RungeKutta | None = None,
    stop_time: float = STOP,
    platforms: Sequence[str] | Mapping[str, str | Path] | None = None,
    **how: Any,
) -> Path:
    """Write an FMU for co-simulation: the mechanism for another tool, which needs neither Python nor haugmbd.

    Parameters
    ----------
    system : System, Model or Result
        The mechanism, at its modelled state.
    path : str or Path
        The file, .fmu.
    inputs : sequence of str
        As of `Stepper`: names of loads whose numbers are set, and of drivers of joints whose acceleration is set.
    outputs : sequence of str, optional
        Names of quantities as of `Stepper`: "crank.r", "crank.v[0]", "R.angle", "R.rate", "R.force". By default the coordinates of all
        joints with their rates, and the positions of all bodies.
    parameters : sequence of str
        Paths as of `batch`, such as "crank.mass", "spring.k", "gravity[2]", of which the equations are linear.
    h : float
        Step of the integrator [s]. A communication step that is no multiple is divided into equal steps, the fewest that are within h.
    version : {"3.0", "2.0"}
        Of the standard.
    integrator : RungeKutta, optional
        RK4() by default; Heun(), RK3().
    stop_time : float
        The end of the run that the file proposes to a tool [s]; its start is the time of the state. The drivers of joints are examined
        up to it, and a mechanism that has some goes no further.
    platforms : sequence of str, optional
        Such as "linux64", "win64", "darwin64", "aarch64-linux", "aarch64-darwin", or the names of version 3.0; by default all that the
        engine was built for. A dict gives a library for each.
    **how
        `state` and `stabilization`, as of `simulate`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        For what the engine cannot run, by name (functions of Python, contacts, stops, joints that may stick, sampled blocks); for names
        that do not exist; for parameters of which the equations are not linear; if no engine is built.

    Notes
    -----
    States, coordinates and reactions are those of `Stepper` with the same h, to about 1e-12 of their size: the same kernels, compiled for
    every processor of its kind. Inputs are held during a communication step. The states of an FMU can be kept and serialized.
    """
    where = Path(path)
    _check(where, version, h, stop_time)
    system = system.model if isinstance(system, Result) else system
    binaries = _binaries(platforms, version)
    method, names = RK4() if integrator is None else integrator, tuple(_names(inputs, "inputs"))
    if not isinstance(method, RungeKutta):
        raise UsageError(f"{WHO}: {type(method).__name__} is not in the engine: give RK4(), Heun() or RK3().")
    model, linear = _model_and_parameters(system, names, tuple(_names(parameters, "parameters")))
    if has_ranges(model):
        raise UsageError(f"{WHO}: model {model.name!r} has tables or curves with ends, which only Python watches.")
    _check_moved_start(linear, how)
    asked = list(_default_outputs(model)) if outputs is None else list(_names(outputs, "outputs"))
    made = blob_of_model(
        model,
        h=float(h),
        integrator=method,
        inputs=names,
        outputs=asked,
        numbers=lambda pack: _places(pack, linear),
        **how,
    )
    begun = how["state"].t if isinstance(how.get("state"), State) else model.state().t
    if not begun < stop_time:
        raise UsageError(f"{WHO}: stop_time = {stop_time!r} s must be after the start, t = {begun:g} s.")
    last, ends = _end(model, begun, float(stop_time), h)
    variables = _variables(model, made.items, linear)
    token = f"{{{uuid.UUID(sha256(made.bytes() + version.encode() + repr(variables).encode()).hexdigest()[:32])}}}"
    section = _section(made.items, variables, linear, last, (_closes(how), model.length), (token, ends))
    data = made.bytes(**{SECTION: section})
    stem = where.stem if IDENTIFIER.fullmatch(where.stem) else "m_" + re.sub(r"[^A-Za-z0-9_]", "_", where.stem)
    span, affine = (begun, stop_time), _is_affine(model)
    files = {"modelDescription.xml": _description(version, model.name, stem, token, variables, h, span, affine)}
    files |= {f"binaries/{folder}/{stem}.{library.suffix[1:]}": library.read_bytes() for folder, library in binaries.items()}
    files["resources/model.haug"] = data
    source = _source(system)
    if source is not None:
        files["resources/model.json"] = source
    files["documentation/index.html"] = _page(model.name, variables, h, list(binaries), source is not None)
    _write(where, files)
    return where


def _check_moved_start(linear: Linear, how: Mapping[str, Any]) -> None:
    """Raise UsageError if parameters move the start, and nothing closes it, or another state is the start."""
    moves_start = any(kind == 2 for kind, _ in linear.places)  # noqa: PLR2004  of the start
    if moves_start and not _closes(how):
        raise UsageError(f"{WHO}: parameters of the start need stabilization = Projection(), which closes it.")
    if moves_start and how.get("state") is not None:
        raise UsageError(f"{WHO}: parameters move the modelled start, and state = ... gives another: leave out one of them.")


def _check(where: Path, version: str, h: float, stop_time: float) -> None:
    """Raise UsageError for arguments that are not valid."""
    if where.suffix != ".fmu":
        raise UsageError(f"{WHO}: {str(where)!r} does not end with .fmu.")
    if not is_one_of(version, VERSIONS):
        raise UsageError(f"{WHO}: version = {version!r} must be one of {', '.join(map(repr, VERSIONS))}.")
    for name, value in (("h", h), ("stop_time", stop_time)):
        if not isinstance(value, int | float) or not (np.isfinite(value) and value > 0.0):
            raise UsageError(f"{WHO}: {name} = {value!r} must be a positive number [s].")


def _names(given: Any, what: str) -> list[str]:
    """Return names that were given as one text or as several."""
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise UsageError(f"{WHO}: {what} = {given!r:.80} must be names, each once.")
    return names


def _closes(how: Mapping[str, Any]) -> bool:
    """Return whether the stabilization closes a start."""
    return isinstance(how.get("stabilization", Projection()), Projection)


# ---------------------------------------------------------------------------------------------------------------- binaries
def _binaries(platforms: Any, version: str) -> dict[str, Path]:
    """Return the libraries by the folders of the FMU.  Raise UsageError if there are none, or a platform is not known or not built."""
    folder = {names[VERSIONS.index(version)]: target for target, names in PLATFORMS.items()}
    targets = {name: target for target, names in PLATFORMS.items() for name in names[:2]}
    if isinstance(platforms, Mapping):
        chosen = {name: Path(library) for name, library in platforms.items()}
        if lost := [library for library in chosen.values() if not library.is_file()]:
            raise UsageError(f"{WHO}: platforms: there is no file {str(lost[0])!r}.")
    elif platforms is None:
        chosen = {name: library for name, target in folder.items() if (library := _library(target)) is not None}
    else:
        chosen = {}
        for name in _names(platforms, "platforms"):
            library = _library(targets[name]) if name in targets else None
            if name in targets and library is None:
                raise UsageError(f"{WHO}: the engine was not built for {name!r}: make engine ENGINE=fmu_{targets[name]}.")
            chosen |= {name: library} if library is not None else {name: Path()}
    if wrong := [name for name in chosen if name not in targets]:
        raise UsageError(f"{WHO}: platforms has {wrong[0]!r}: there are {', '.join(targets)}.")
    if not chosen:
        raise UsageError(
            f"{WHO}: no engine is built of these sources that an FMU could contain. Install a wheel that has it, or build it: "
            "make engine ENGINE=fmu_linux_x86_64, or ENGINE=fmu for all platforms."
        )
    names = {target: name for name, target in folder.items()}
    return {names[targets[name]]: library for name, library in chosen.items()}


def _library(target: str) -> Path | None:
    """Return the library of a target that an FMU contains, the small one first; None if none is built of these sources."""
    for name in (f"fmu_{target}", target):
        try:
            return library_for(name)
        except UsageError:
            continue
    return None


# ---------------------------------------------------------------------------------------------------------------- parameters
def _model_and_parameters(system: Any, inputs: tuple[str, ...], names: tuple[str, ...]) -> tuple[Model, Linear]:
    """Return the model with its inputs, and its numbers as linear functions of the parameters."""
    model = system if isinstance(system, Model) else system.compile() if isinstance(system, System) else None
    if model is None:
        raise UsageError(f"{WHO}: {system!r:.60} must be a System, a Model or a Result.")
    if not names:
        none = np.zeros(0)
        return model_with_inputs(model, inputs, WHO)[0], Linear((), none, none, none, [], none, np.zeros((0, 0)))
    values = np.array([_value(model, name) for name in names])
    if clash := [name for name in names if name.partition(".")[0] in inputs]:
        raise UsageError(f"{WHO}: {clash[0]!r} is a parameter of an input: it is one or the other.")
    of_values = (
        by_paths(model) if isinstance(system, Model) else builder_of(system, Parameters(dict(zip(names, values, strict=True))))
    )

    def build(p: Array) -> System:
        return with_inputs(Built(of_values(dict(zip(names, p.tolist(), strict=True))).system).system, inputs, WHO)

    nominal = nominal_model(build(values))
    return nominal, _linear(
        lambda p: need_same_places(nominal, varied_model(build(p), nominal), WHO), names, values, shifts(nominal)
    )


def _value(model: Model, name: str) -> float:
    """Return the value of a path.  Raise UsageError if it is none of a single number."""
    variables = variables_of(model)
    path, index = (name, ()) if name in variables else component(name)
    if path not in variables:
        raise UsageError(f"{WHO}: {unknown(model, path, variables)}.")
    value = present(model, variables[path])
    if value.ndim != len(index) or any(not 0 <= k < n for k, n in zip(index, value.shape, strict=False)):
        wanted = f"{path}[{','.join('0' * value.ndim)}]" if value.ndim else path
        raise UsageError(f"{WHO}: {name!r} has the shape {value.shape}: name one number of it, such as {wanted!r}.")
    return float(value[index])


def _linear(model_at: Callable[[Array], Model], names: tuple[str, ...], values: Array, loose: Array | None = None) -> Linear:
    """Return the numbers that parameters move.  Raise UsageError if they are no linear functions.

    loose: which numbers, of the first ones, need not follow: they stay as they are where they are not linear
    """

    def at(p: Array) -> Array:
        model = model_at(p)
        constants = np.nan_to_num(driver_constants(model), nan=0.0).ravel()  # NaN: of drivers that are evaluated at each time
        return np.concatenate([model.tables.reals, constants, model.y0])

    def along(j: int, part: float) -> Array:
        p = values.copy()
        p[j] = part * values[j] if values[j] else part - 1.0
        return p

    here = at(values)
    low, high = np.array([_bounds(at, along, j) for j in range(len(names))]).T
    slopes, same = _slopes(at, along, names, here, values)
    free = np.zeros(here.size, dtype=bool)
    free[: 0 if loose is None else loose.size] = [] if loose is None else loose
    slopes[free] = 0.0
    base = here - slopes @ values
    base[same] = 0.0
    moves = np.flatnonzero(slopes.any(axis=1))
    # numbers = base + slopes p: checked at each parameter alone, and at points between, with all of them varied
    rng = np.random.default_rng(0)
    points = [*(along(j, part) for j in range(len(names)) for part in (1.375, 0.8125))]
    points += [np.array([along(j, x)[j] for j, x in enumerate(row)]) for row in rng.uniform(0.6, 1.6, (BETWEEN, len(names)))]
    for p in points:
        off = np.abs(_built(at, p, names) - base - slopes @ p)[moves]
        if not (off <= LINEAR * (np.abs(here[moves]) + np.abs(slopes[moves]) @ np.abs(p))).all():
            raise UsageError(
                f"{WHO}: the equations are no linear function of {', '.join(map(repr, names))} together (lengths, points and axes are "
                "none): write an FMU for each value, or leave one out."
            )
    starts = np.cumsum([0, len(model_at(values).tables.reals), driver_constants(model_at(values)).size])
    kinds = np.searchsorted(starts, moves, side="right") - 1
    places = [(int(kind), int(number - starts[kind])) for kind, number in zip(kinds, moves, strict=True)]
    return Linear(names, values, low, high, places, base[moves], slopes[moves])


def _slopes(
    at: Callable[[Array], Array], along: Callable[[int, float], Array], names: tuple[str, ...], here: Array, values: Array
) -> tuple[Array, Array]:
    """Return the slopes of the numbers by each parameter, between two values of it, and which numbers are parameters or do not move.

    Raise UsageError for a parameter that moves none.
    """
    slopes = np.zeros((here.size, len(names)))
    same = np.ones(here.size, dtype=bool)
    for j, name in enumerate(names):
        p = np.array([along(j, part) for part in (1.375, 0.8125)])
        n = np.array([_built(at, varied, names) for varied in p])
        slopes[:, j] = (n[0] - n[1]) / (p[0][j] - p[1][j])
        # a number that is the parameter itself has the slope 1, without rounding
        is_p = (here == values[j]) & (n[0] == p[0][j]) & (n[1] == p[1][j])
        slopes[is_p, j] = 1.0
        same &= is_p | (slopes[:, j] == 0.0)
        if not (slopes[:, j] != 0.0).any():
            raise UsageError(f"{WHO}: parameter {name!r} moves no number of the model.")
    return slopes, same


def _bounds(at: Callable[[Array], Array], along: Callable[[int, float], Array], j: int) -> tuple[float, float]:
    """Return the bounds of a parameter: where the model cannot be built, the last value before."""
    ends = []
    for side, parts in enumerate(OUTWARD):
        bound = (-np.inf, np.inf)[side]
        before = along(j, 1.0)[j]
        for part in parts:
            p = along(j, part)
            try:
                at(p)
            except HaugmbdError:
                bound = before
                break
            before = p[j]
        ends.append(bound)
    low, high = sorted(ends) if not np.isinf(ends).any() else (min(ends), max(ends))
    if along(j, 1.0)[j] < 0.0:  # downwards in size is upwards in value
        low, high = -np.inf if np.isposinf(ends[1]) else ends[1], np.inf if np.isneginf(ends[0]) else ends[0]
    return float(low), float(high)


def _built(at: Callable[[Array], Array], p: Array, names: tuple[str, ...]) -> Array:
    """Return the numbers of the model at p.  Raise UsageError, with the values, if it cannot be built."""
    try:
        return at(p)
    except HaugmbdError as error:
        told = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, p, strict=True))
        raise UsageError(f"{WHO}: the mechanism cannot be built at {told}: {error}") from error


def _places(pack: Any, linear: Linear) -> list[tuple[str, str, int]]:
    """Return the numbers that parameters move, for the blob: a name, the array and the place in it."""
    F = place_in(pack.ints, "F")[0]
    return [
        (f"#{k}", "reals" if kind == 0 else "work", place if kind == 0 else F + place)
        for k, (kind, place) in enumerate(linear.places)
        if kind < 2  # noqa: PLR2004  2: of the start
    ]


# ---------------------------------------------------------------------------------------------------------------- variables
def _default_outputs(model: Model) -> Iterator[str]:
    """Yield the coordinates of joints with their rates, and the positions of bodies."""
    for joint in model.joints:
        for what in ("angle", "displacement", "rate"):
            try:
                reader = QuantityReader(model, [f"{joint}.{what}"], WHO)
            except UsageError:
                continue
            if not reader.asks:
                yield f"{joint}.{what}"
    yield from (f"{body}.r" for body in model.body_names[1:])


def _variables(model: Model, items: Sequence[Any], linear: Linear) -> list[Variable]:
    """Return the variables in the order of their value references."""
    variables = [Variable("time", "independent", TIME, unit="s")]
    loads = {load.name: load for load in model.force_elements}
    counts = dict[str, int]()
    several = [item.name.rpartition(".")[0] for item in items if item.kind == INPUT]
    for k, item in enumerate(items):
        if item.kind == INPUT:
            load, _, axis = item.name.rpartition(".")
            many = load in loads and several.count(load) > 1 and item.name not in loads
            name = f"{load}[{counts.setdefault(load, 0)}]" if many else item.name
            if many:
                counts[load] += 1
            load_of_input = loads.get(load if many else item.name)
            variables.append(Variable(name, "input", NUMBER, k, _unit_of_input(model, load_of_input), item.start))
    for k, item in enumerate(items):
        if item.kind == OUTPUT:
            variables.append(Variable(item.name, "output", READ, k, _unit_of_output(model, item.name)))
    start = {
        j
        for j in range(len(linear.names))
        for (kind, _), row in zip(linear.places, linear.slopes, strict=True)
        if kind == 2 and row[j]
    }  # noqa: PLR2004
    for j, name in enumerate(linear.names):
        unit = OF_PATHS.get(name.rpartition(".")[2].partition("[")[0], "")
        variables.append(
            Variable(
                name, "parameter", MOVED, j, unit, float(linear.values[j]), float(linear.low[j]), float(linear.high[j]), j in start
            )
        )
    names = [variable.name for variable in variables]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"{WHO}: {twice[0]!r} would be the name of several variables: give the parts names of their own.")
    return variables


def _unit_of_input(model: Model, load: Any) -> str:
    """Return the unit of an input; "" if it is not known."""
    if load is None:
        return ""
    if load.kind in ("Torque",):
        return "N.m"
    if load.kind in ("PointForce", "LinearActuator"):
        return "N"
    try:
        coordinates = load.coordinates()
    except (AttributeError, TypeError):
        return ""
    return "" if len(coordinates) != 1 else "N.m" if coordinates[0].turns else "N"


def _unit_of_output(model: Model, name: str) -> str:
    """Return the unit of an output."""
    part, _, what = name.partition("[")[0].rpartition(".")
    if part in model.body_names and part not in model.joints:
        return OF_BODIES.get(what, "")
    if what in ("force", "torque"):
        return "N" if what == "force" else "N.m"
    reader = QuantityReader(model, (), WHO)
    quantity = reader._quantity(name.partition("[")[0])
    turns = isinstance(quantity, str) or quantity.coordinate is None or quantity.coordinate.turns
    if not isinstance(quantity, str) and quantity.kind in (COORDINATE, COORDINATE_RATE):
        return ("rad" if turns else "m") + ("/s" if quantity.kind == COORDINATE_RATE else "")
    return OF_BODIES.get(what, "")


def _end(model: Model, start: float, stop_time: float, h: float) -> tuple[float, str]:
    """Return the last time to which the mechanism may go, and why.  Raise UsageError if a driver breaks within the first step."""
    ends = [(float(driver.t_range[1]), f"the table of a driver ends ({driver})") for driver in model.drivers]
    if driven_joints(model):
        n = int(min(np.ceil((stop_time - start) / h), EXAMINED))
        times = start + (stop_time - start) / n * np.arange(n + 1)
        broken = first_break(model, np.unique(times), strict=True)
        if broken is not None:
            ends.append((float(broken.t) - h, str(broken.fault)))
        ends.append((stop_time, "the drivers of its joints were examined up to there: give to_fmu a later stop_time"))
    last = min(ends, default=(np.inf, ""), key=lambda end: end[0])
    if last[0] <= start:
        raise UsageError(f"{WHO}: the mechanism cannot move beyond t = {last[0]:.6g} s: {last[1]}")
    return last


def _is_affine(model: Model) -> bool:
    """Return whether accelerations and reactions at a state are affine in forces, torques and driven accelerations: without dry friction.

    A derivative with respect to inputs is then a difference, without an error but that of rounding.
    """
    return all(isinstance(load.law, Viscous) for load in model.loads_of(JointFriction))


def _section(
    items: Sequence[Any],
    variables: Sequence[Variable],
    linear: Linear,
    last: float,
    start: tuple[bool, float],
    texts: tuple[str, str],
) -> bytes:
    """Return the section of the blob that the binary reads, see `fmu.c`."""
    numbers = {item.name: k for k, item in enumerate(items) if item.kind == PARAMETER}

    def real(x: float) -> int:
        word: int = struct.unpack("<q", struct.pack("<d", x))[0]
        return word

    rows: list[int] = []
    for variable in variables:
        rows += [variable.kind, variable.item, real(variable.low), real(variable.high)]
    rows += map(real, linear.values.tolist())
    for k, ((kind, place), a, b) in enumerate(zip(linear.places, linear.base, linear.slopes, strict=True)):
        of_start = kind == 2  # noqa: PLR2004
        rows += [int(of_start), place if of_start else numbers[f"#{k}"], real(float(a)), *map(real, b.tolist())]
    offsets, words = [], b""
    for text in texts:
        offsets.append(8 * (HEAD_WORDS + len(rows)) + len(words))
        words += text.encode() + b"\0"
    words += b"\0" * (8 - len(words) % 8)
    closes, length = start
    head = [1, len(variables), len(linear.names), len(linear.places), real(last), int(closes), real(float(length)), *offsets]
    return np.array(head + rows, dtype="<i8").tobytes() + words


# ---------------------------------------------------------------------------------------------------------------- files
def _number(x: float) -> str:
    return repr(float(x))


def _bounds_text(variable: Variable) -> str:
    low = f' min="{_number(variable.low)}"' if np.isfinite(variable.low) else ""
    return low + (f' max="{_number(variable.high)}"' if np.isfinite(variable.high) else "")


def _description(
    version: str,
    title: str,
    name: str,
    token: str,
    variables: Sequence[Variable],
    h: float,
    span: tuple[float, float],
    affine: bool,
) -> bytes:
    """Return modelDescription.xml.  span: start and end of a run that it proposes [s];  affine: whether it has directional derivatives"""
    second = version == VERSIONS[0]
    structured = "structured" if all(STRUCTURED.fullmatch(variable.name) for variable in variables) else "flat"
    units = "".join(
        f'<Unit name="{unit}"><BaseUnit {" ".join(f"{base}={chr(34)}{n}{chr(34)}" for base, n in UNITS[unit].items())}/></Unit>'
        for unit in dict.fromkeys(variable.unit for variable in variables)
        if unit
    )
    rows = "\n".join((_row2 if second else _row3)(k, variable) for k, variable in enumerate(variables))
    outputs = [k for k, variable in enumerate(variables) if variable.causality == "output"]
    head = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="{version}" modelName={quoteattr(title)} '
        f'{"guid" if second else "instantiationToken"}="{token}" generationTool="haugmbd" variableNamingConvention="{structured}">\n'
    )
    kept = "canGetAndSetFMUstate" if second else "canGetAndSetFMUState"
    serial = "canSerializeFMUstate" if second else "canSerializeFMUState"
    internal = "" if second else f' fixedInternalStepSize="{_number(h)}"'
    can = f'canHandleVariableCommunicationStepSize="true" {kept}="true" {serial}="true"{internal}'
    if affine and {"input", "output"} <= {variable.causality for variable in variables}:
        can += f' providesDirectionalDerivative{"" if second else "s"}="true"'
    unit = f'<CoSimulation modelIdentifier="{name}" {can}/>\n'
    logs = '<LogCategories><Category name="logStatusWarning"/><Category name="logStatusError"/></LogCategories>\n'
    run = f'<DefaultExperiment startTime="{_number(span[0])}" stopTime="{_number(span[1])}" stepSize="{_number(10.0 * h)}"/>\n'
    if second:
        unknowns = "".join(f'<Unknown index="{k + 1}"/>' for k in outputs)
        structure = f"<Outputs>{unknowns}</Outputs><InitialUnknowns>{unknowns}</InitialUnknowns>" if outputs else ""
    else:
        structure = "".join(f'<{what} valueReference="{k}"/>' for what in ("Output", "InitialUnknown") for k in outputs)
    text = (
        f"{head}{unit}<UnitDefinitions>{units}</UnitDefinitions>\n{logs}{run}<ModelVariables>\n{rows}\n</ModelVariables>\n"
        f"<ModelStructure>{structure}</ModelStructure>\n</fmiModelDescription>\n"
    )
    return text.encode()


def _words_of(variable: Variable) -> str:
    """Return causality, variability and initial of a variable."""
    more = {
        "independent": 'variability="continuous"',
        "input": 'variability="continuous"',
        "output": 'variability="continuous" initial="calculated"',
        "parameter": f'variability="{"fixed" if variable.fixed else "tunable"}" initial="exact"',
    }[variable.causality]
    return f'causality="{variable.causality}" {more}'


def _row2(k: int, variable: Variable) -> str:
    unit = f' unit="{variable.unit}"' if variable.unit else ""
    start = "" if variable.start is None else f' start="{_number(variable.start)}"'
    real = f"<Real{unit}{_bounds_text(variable)}{start}/>"
    return f'<ScalarVariable name={quoteattr(variable.name)} valueReference="{k}" {_words_of(variable)}>{real}</ScalarVariable>'


def _row3(k: int, variable: Variable) -> str:
    unit = f' unit="{variable.unit}"' if variable.unit else ""
    start = "" if variable.start is None else f' start="{_number(variable.start)}"'
    words = _words_of(variable).replace(' initial="exact"', "") if variable.causality == "input" else _words_of(variable)
    return f'<Float64 name={quoteattr(variable.name)} valueReference="{k}" {words}{unit}{_bounds_text(variable)}{start}/>'


def _source(system: Any) -> bytes | None:
    """Return the model file of the system; None for a system that no file can hold."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return Path(save_model(system, Path(folder) / "model.json")).read_bytes()
        except (HaugmbdError, AttributeError, TypeError):
            return None


def _page(title: str, variables: Sequence[Variable], h: float, platforms: Sequence[str], source: bool) -> bytes:
    """Return the documentation: a table of the variables."""
    rows = "".join(
        f"<tr><td>{escape(variable.name)}<td>{variable.causality}<td>{variable.unit}"
        f"<td>{'' if variable.start is None else _number(variable.start)}</tr>"
        for variable in variables
    )
    file = "resources/model.json is the model file." if source else "The model has parts that no model file can hold."
    text = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head><body><h1>{escape(title)}</h1>'
        f"<p>A mechanism, computed by the engine of haugmbd (BSD-3-Clause) with steps of {_number(h)} s; binaries for "
        f"{', '.join(platforms)}. Inputs are held during a communication step. {file}</p>"
        f"<table border><tr><th>name<th>causality<th>unit<th>start</tr>{rows}</table></body></html>\n"
    )
    return text.encode()


def _write(where: Path, files: Mapping[str, bytes]) -> None:
    """Write the zip; the same system gives the same bytes.  Raise UsageError if the file cannot be written."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
        for name, data in files.items():
            line = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            line.compress_type, line.external_attr = zipfile.ZIP_DEFLATED, (0o755 if name.startswith("binaries/") else 0o644) << 16
            zipped.writestr(line, data)
    new = where.with_name(f".{where.name}.{os.getpid()}")
    try:
        new.write_bytes(memory.getvalue())
        os.replace(new, where)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise UsageError(f"{WHO}: {str(where)!r} cannot be written: {error.strerror}.") from None


# ---------------------------------------------------------------------------------------------------------------- FMUs of others
READER = "read_fmu"


class UnitUpdate:
    """The update of a sampled block by an FMU: at t_k a step from t_(k-1), then the inputs of t_k.

    It keeps the running unit; a call at a time that is not later begins anew.  A copy, and a pickle, begin with a unit of their own.
    """

    def __init__(self, path: Path, inputs: Mapping[str, str], outputs: Sequence[str], parameters: Mapping[str, float]) -> None:
        self.path, self.inputs, self.outputs, self.parameters = path, dict(inputs), list(outputs), dict(parameters)
        self._unit: Any = None
        self._t = np.inf

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the running unit."""
        return vars(self) | {"_unit": None}

    def __call__(self, t: float, signals: Any) -> Array:
        """Return the outputs at t [s]."""
        if self._unit is None:
            self._unit, self._t = Unit(self.path), np.inf
        if t <= self._t:
            self._unit.begin(t, self.parameters)
        else:
            self._unit.step(self._t, t - self._t)
        self._t = t
        self._unit.set({name: float(signals[signal]) for name, signal in self.inputs.items()})
        if self._unit.initializing:
            self._unit.end_initialization()
        outputs: Array = self._unit.get(self.outputs)
        return outputs


class Unit:
    """A running FMU, by fmpy."""

    def __init__(self, path: Path) -> None:
        fmpy = _fmpy()
        self.path = path
        self.description = _described(path)
        self.numbers = {variable.name: variable.valueReference for variable in self.description.modelVariables}
        self._folder = tempfile.TemporaryDirectory(prefix="haugmbd_fmu_")
        fmpy.extract(str(path), unzipdir=self._folder.name)
        self.second = self.description.fmiVersion.startswith("2")
        if self.second:
            from fmpy.fmi2 import FMU2Slave as Slave  # noqa: PLC0415  an extra
        else:
            from fmpy.fmi3 import FMU3Slave as Slave  # noqa: PLC0415  an extra
        self._slave: Any = Slave(
            guid=self.description.guid, unzipDirectory=self._folder.name, instanceName="haugmbd",
            modelIdentifier=self.description.coSimulation.modelIdentifier,
        )  # fmt: skip
        self._begun = self.initializing = False

    def _do(self, what: str, run: Callable[[], Any]) -> Any:
        """Return what a call of the unit returns.  Raise UsageError if it fails."""
        try:
            return run()
        except Exception as error:  # noqa: BLE001  fmpy raises errors of its own for a status of the unit
            raise UsageError(f"{READER}: {self.path.name} failed at {what}: {error}") from error

    def begin(self, t: float, parameters: Mapping[str, float]) -> None:
        """Begin, or begin anew, at t [s]."""
        slave = self._slave
        if self._begun:
            self._do("reset", slave.reset)
        else:
            self._do("instantiate", slave.instantiate)
        self._begun = self.initializing = True
        if self.second:
            self._do("setup", lambda: slave.setupExperiment(startTime=t))
        self.set(parameters)
        self._do(
            "initialization", slave.enterInitializationMode if self.second else lambda: slave.enterInitializationMode(startTime=t)
        )

    def end_initialization(self) -> None:
        """End the initialization."""
        self._do("the end of the initialization", self._slave.exitInitializationMode)
        self.initializing = False

    def set(self, values: Mapping[str, float]) -> None:
        """Set variables by name."""
        if values:
            put = self._slave.setReal if self.second else self._slave.setFloat64
            self._do("setting its inputs", lambda: put([self.numbers[name] for name in values], list(values.values())))

    def step(self, t: float, span: float) -> None:
        """Make a communication step."""
        told = self._do(f"the step from t = {t:.6g} s", lambda: self._slave.doStep(t, span))
        if told is not None and any(told[1:3]):  # FMI 3.0: event, end of the simulation, early return, time
            raise UsageError(f"{READER}: {self.path.name} ended its run in the step from t = {t:.6g} s to {t + span:.6g} s.")

    def get(self, names: Sequence[str]) -> Array:
        """Return variables by name."""
        take = self._slave.getReal if self.second else self._slave.getFloat64
        return np.array(self._do("reading its outputs", lambda: take([self.numbers[name] for name in names])), dtype=np.float64)

    def __del__(self) -> None:
        if getattr(self, "_begun", False):
            try:
                self._slave.freeInstance()
            except Exception:  # noqa: BLE001  nothing is left to be done
                return


def _fmpy() -> Any:
    """Return fmpy.  Raise UsageError if it is not there."""
    try:
        import fmpy  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError(f"{READER} needs fmpy, which runs FMUs: pip install 'haugmbd[fmu]'.") from None
    return fmpy


def _described(path: Path) -> Any:
    """Return the description of an FMU.  Raise UsageError for a file that is none for co-simulation."""
    fmpy = _fmpy()
    if not path.is_file():
        raise UsageError(f"{READER}: there is no file {str(path)!r}.")
    try:
        description = fmpy.read_model_description(str(path), validate=False)
    except Exception as error:  # noqa: BLE001  whatever is wrong with the file of another tool
        raise UsageError(f"{READER}: {path.name} is no FMU that fmpy can read: {error}") from error
    if description.coSimulation is None:
        raise UsageError(f"{READER}: {path.name} is an FMU for model exchange only: export it for co-simulation.")
    if not description.fmiVersion.startswith(("2.", "3.")):
        raise UsageError(f"{READER}: {path.name} is of FMI {description.fmiVersion}: 2.0 and 3.0 are read.")
    return description


def read_fmu(
    path: str | Path,
    name: str,
    period: float,
    *,
    inputs: Mapping[str, str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Sampled:
    """Return an FMU for co-simulation, such as a controller of another tool, as a sampled block.

    Parameters
    ----------
    path : str or Path
        The file, .fmu, of FMI 2.0 or 3.0. Its binary is run: take files of people whom you trust.
    name : str
        Name of the block.
    period : float
        Communication step [s].
    inputs : dict of str to str
        The signal that each input of the FMU gets, such as {"measured": "pin.angle"}; others keep their start values.
    outputs : sequence of str, optional
        Outputs that become outputs of the block, under their names; by default all real ones.
    parameters : dict of str to float, optional
        Start values of parameters.

    Returns
    -------
    Sampled
        The block; system.add(...) it, and use block["output"] as a torque or force.

    Raises
    ------
    UsageError
        If fmpy is not installed (the extra `fmu`), the file is no such FMU, or a name is none of its real variables.

    Notes
    -----
    At t_k = k period the FMU makes the step from t_(k-1) with the inputs of t_(k-1), and gets those of t_k; its outputs hold until
    t_(k+1). A run that begins anew resets the FMU.
    """
    where = Path(path)
    description = _described(where)
    real = [
        variable
        for variable in description.modelVariables
        if variable.type in ("Real", "Float64") and not getattr(variable, "dimensions", None)
    ]
    numbers_of = {kind: [variable.name for variable in real if variable.causality in kinds] for kind, kinds in _KINDS.items()}
    chosen = numbers_of["outputs"] if outputs is None else _names(outputs, "outputs")
    for what, names in (("inputs", inputs or {}), ("outputs", chosen), ("parameters", parameters or {})):
        for each in names:
            if each not in numbers_of[what]:
                have = ", ".join(map(repr, numbers_of[what][:20])) or "none"
                raise UsageError(f"{READER}: {where.name} has no {each!r} among its real {what}: {have}.")
    if not chosen:
        raise UsageError(f"{READER}: {where.name} has no real outputs.")
    update = UnitUpdate(where, inputs or {}, chosen, parameters or {})
    components = {text: _Component(k) for k, text in enumerate(chosen)}
    return Sampled(
        name, period, update, x0=np.zeros(len(chosen)), outputs=components, inputs=list(dict.fromkeys((inputs or {}).values()))
    )


_KINDS = {"inputs": ("input",), "outputs": ("output",), "parameters": ("parameter", "structuralParameter")}


class _Component:
    """An output of a block: one of its values."""

    def __init__(self, k: int) -> None:
        self.k = k

    def __call__(self, t: float, x: Any, signals: Any) -> Any:
        return x[self.k]
