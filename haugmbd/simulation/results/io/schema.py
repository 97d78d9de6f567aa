r"""The schema of saved results: variables, metadata, and their checks before a file is written and after it is read.

variable         shape             unit     what must hold
t                (nt,)             s        increasing
r                (nt, nb + 1, 3)   m
p                (nt, nb + 1, 4)   1        |p| = 1
v                (nt, nb + 1, 3)   m/s
omega_bar        (nt, nb + 1, 3)   rad/s
angles           (nt, na)          rad
lam_of_method    (nt, nc)                   of methods that have multipliers of their own; NaN where a state is none of their steps
accelerations_of_method  (nt, nb + 1, 6)    of runs that recorded them; likewise
turns            (nt, m)           rad      joint angles that the run has counted, if it did not store every step
sensor_0 ...     (nt, ...)                  values of sensors

All are float64, and finite but for the last four.  The metadata are one JSON object: format, names, counters, settings, interrupted,
events, passed, `all_steps` and `replays` (whether the states are all steps of the run, and how it is made again),
`model_numbers` (inertias, gravity, markers and constants of rows, loads and drivers, by which a model is recognized),
`model_laws` (digests of its drivers, of the user's functions and of blocks, see `laws`), `carried_model` (the model as the document of a
model file, see `carried_model`), and
`digests`: for each variable the SHA-256 of its shape and its bytes.  `checksum` is the SHA-256 of the text of the metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import ATTRIBUTES
from haugmbd.diagnostics.contact_impacts import ContactImpact
from haugmbd.diagnostics.run_warnings import Outcome
from haugmbd.errors import UsageError, warn_user
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import SingularCrossing
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.replay import Replay, replays_of
from haugmbd.simulation.results.io.laws import difference_of_laws, law_digests, written_laws
from haugmbd.simulation.results.records import Counters, Names
from haugmbd.simulation.sensor import SensorHistory
from haugmbd.workspace.layout import WIDTH

FORMAT = "haugmbd result 2"
OLDER_FORMAT = "haugmbd result 1"
"""Without checksums: such a file is read with a warning."""

PLAIN, IMPACTS = "Result", "ImpactResult"
"""Kinds of results; see `chain_file` for the third."""

OWN, OWN_U_DOT = "lam_of_method", "accelerations_of_method"
TURNS = "turns"
CHAIN = ("q", "qd", "tau")
IMPACT = ("impact_before", "impact_after", "impact_multipliers")
"""Variables of a ReducedResult, and of an ImpactResult."""
STEPPED = tuple(f"contact_{name}" for name in ("step", "y", "u", "wrench", "forces", "points", "count"))
"""Variables of rigid contacts in a time-stepping run, see `results.contact_file`."""

SENSOR = "sensor_"
BODY_VARIABLES = ("r", "p", "v", "omega_bar")
COMPONENTS = {"r": ("x", "y", "z"), "p": ("e0", "e1", "e2", "e3"), "v": ("x", "y", "z"), "omega_bar": ("x", "y", "z")}
AXES = {"r": "xyz", "p": "e", "v": "xyz", "omega_bar": "xyz"}
UNITS = {"t": "s", "r": "m", "p": "1", "v": "m/s", "omega_bar": "rad/s", "angles": "rad"}
FRAMES = {"r": "global", "p": "scalar first, body to global", "v": "global", "omega_bar": "body frame"}

UNIT_LENGTH = 1e-6
"""How far |p| may be from 1: every method normalizes it to rounding; seven digits of another program are taken."""

MODEL_TABLES = {
    "inertias": "INERTIA",
    "gravity": "GRAVITY",
    "markers": "X_BAR",
    "constants of the rows": "ROW_REALS",
    "constants of the loads": "FORCE_REALS",
    "constants of the drivers": "DRIVER_NUMBERS",
}
"""The numbers by which a model is recognized, and the table that holds them."""
SAME_NUMBER = 1e-9
"""Relative to the largest of a table: compiling the same system on another machine changes the last digits only."""


R = TypeVar("R")
OLD_COUNTERS = ATTRIBUTES["Counters"]


class Saved(Protocol):
    """The parts of a result that are written."""

    @property
    def _carried(self) -> Mapping[str, Any] | None: ...
    @property
    def _contact_impacts(self) -> tuple[ContactImpact, ...] | None: ...
    @property
    def _model(self) -> Model | None: ...
    @property
    def _model_numbers(self) -> Mapping[str, Array] | None: ...
    @property
    def _replays(self) -> tuple[Replay, ...]: ...
    @property
    def _all_steps(self) -> bool: ...
    @property
    def _model_laws(self) -> Mapping[str, str] | None: ...
    @property
    def _sensors(self) -> Mapping[str, SensorHistory]: ...
    @property
    def _turns(self) -> Array | None: ...
    @property
    def angles(self) -> Array: ...
    @property
    def counters(self) -> Counters: ...
    @property
    def events(self) -> tuple[EventRecord, ...]: ...
    @property
    def accelerations_of_method(self) -> Array: ...
    @property
    def has_accelerations_of_method(self) -> bool: ...
    @property
    def has_lam_of_method(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def lam_of_method(self) -> Array: ...
    @property
    def names(self) -> Names: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def settings(self) -> dict[str, str]: ...
    @property
    def singular_crossings(self) -> tuple[SingularCrossing, ...]: ...
    @property
    def t(self) -> Array: ...


class Contents(NamedTuple):
    """The contents of a file.

    meta: the text of the metadata;  checksum: its SHA-256, None in files of the older format;  arrays: by name, over time but for those
    whose first axis is in `axes`;  bodies: to label axes
    """

    meta: str | None
    checksum: str | None
    arrays: dict[str, Any]
    bodies: tuple[str, ...] = ()
    axes: Mapping[str, str] = MappingProxyType({})


class More(NamedTuple):
    """The contents of a motion in several segments besides its states: metadata, arrays, the name of the first axis of each.

    segments: numbers of states; the time may stand still from one segment to the next
    """

    meta: Mapping[str, Any] = MappingProxyType({})
    arrays: Mapping[str, Array] = MappingProxyType({})
    axes: Mapping[str, str] = MappingProxyType({})
    segments: tuple[int, ...] = ()


NO_MORE = More()


def contents_of(
    result: Saved, carry: Callable[[Model], Mapping[str, Any]] = lambda model: {}, kind: str = PLAIN, more: More = NO_MORE
) -> Contents:
    """Return the contents to be written; `carry` returns what is written of the model.

    Raise UsageError if the file could not be read back: times that decrease, values that are NaN.
    """
    arrays: dict[str, Any] = {"t": result.t, **{name: getattr(result, name) for name in BODY_VARIABLES}, "angles": result.angles}
    if result.has_lam_of_method and result.names.rows:
        arrays[OWN] = result.lam_of_method
    if result.has_accelerations_of_method:
        arrays[OWN_U_DOT] = result.accelerations_of_method
    if result._turns is not None and result._turns.shape[1]:
        arrays[TURNS] = result._turns
    sensors = [one for one in result._sensors.values() if one.value.size]
    arrays |= {f"{SENSOR}{k}": one.value for k, one in enumerate(sensors)}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    names = result.names
    check_arrays(arrays, names, more.segments)
    numbers = numbers_of(result._model) if result._model is not None else result._model_numbers
    laws = law_digests(result._model) if result._model is not None else result._model_laws
    carried = dict(carry(result._model)) if result._model is not None else dict(result._carried or {})
    carried.pop("allow_code", None)
    meta = run_data(result, kind, sensors) | {
        "model": names.model,
        "bodies": names.bodies,
        "joints": names.joints,
        "rows": names.rows,
        "model_numbers": None if numbers is None else {name: array.tolist() for name, array in numbers.items()},
        "model_laws": None if laws is None else written_laws(laws),
        "carried_model": carried or None,
        "events": [event_data(event) for event in result.events],
        "passed": [place._asdict() for place in result.singular_crossings],
        "contact_impacts": impact_data(result._contact_impacts),
        "units": UNITS,
        "all_steps": result._all_steps,
        "replays": replays_data(result._replays),
    }
    return sealed(meta | dict(more.meta), {**arrays, **more.arrays}, names.bodies, more.axes)


class Finished(Protocol):
    """The parts of every result that are written."""

    @property
    def counters(self) -> Counters: ...
    @property
    def settings(self) -> dict[str, str]: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def outcome(self) -> Outcome: ...


def run_data(result: Finished, kind: str, sensors: Sequence[SensorHistory]) -> dict[str, Any]:
    """Return the metadata that all kinds of results have."""
    return {
        "format": FORMAT,
        "kind": kind,
        "counters": asdict(result.counters),
        "settings": result.settings,
        "interrupted": result.interrupted,
        "outcome": result.outcome.as_data(),
        "sensors": [[one.name, one.unit] for one in sensors],
    }


def event_data(event: EventRecord) -> dict[str, Any]:
    """Return an event record as numbers and texts."""
    data = {"name": event.name, "t": event.t, "y": event.state.y.tolist()}
    return data | ({"jump": event.jump} if event.jump else {})


def sealed(
    meta: Mapping[str, Any], arrays: Mapping[str, Any], bodies: tuple[str, ...] = (), axes: Mapping[str, str] = MappingProxyType({})
) -> Contents:
    """Return the contents of a file, with digests."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({**meta, "digests": {name: digest_of(array) for name, array in arrays.items()}})
    return Contents(text, _sha256(text.encode()), arrays, bodies, axes)


def checked_meta(contents: Contents, where: str) -> dict[str, Any]:
    """Return the metadata of a file; `where` is what a warning calls it. Raise UsageError if it is not a result, or damaged."""
    if contents.meta is None:
        raise UsageError(f"is not a {FORMAT!r}. Give a file that result.save wrote")
    meta = json.loads(contents.meta)
    form = meta.get("format") if isinstance(meta, dict) else None
    if form == FORMAT:
        if contents.checksum != _sha256(contents.meta.encode()):
            raise UsageError("its metadata are damaged: their checksum is another one")
        for name in contents.arrays.keys() | meta["digests"].keys():
            if name not in contents.arrays or digest_of(contents.arrays[name]) != meta["digests"].get(name):
                raise UsageError(f"its variable {name!r} is damaged or was changed: its checksum is another one")
    elif form == OLDER_FORMAT:
        what = f"{where} is a {OLDER_FORMAT!r}, which has no checksums: damage shows only where numbers become impossible"
        warn_user(f"{what}. Load it with its model and save it again.")
    else:
        raise UsageError(f"is not a {FORMAT!r}: its format is {form!r}. Give a file that result.save wrote")
    found: dict[str, Any] = meta
    return found


def result_of(
    contents: Contents,
    meta: Mapping[str, Any],
    model: Model | None,
    where: str,
    make: Callable[..., R],
    *,
    allow_code: bool = False,
    segments: tuple[int, ...] = (),
) -> R:
    """Return the result in the contents of a file with the metadata `meta`; `make` is the class of the result, `where` names the file.

    segments: numbers of states of the segments of a motion with impacts

    Raises UsageError, and for metadata of another form what they make Python raise: KeyError, TypeError, ValueError.
    """
    names = Names(_text(meta["model"]), *(tuple(map(_text, meta[key])) for key in ("bodies", "joints", "rows")))
    arrays = contents.arrays
    check_arrays({name: array for name, array in arrays.items() if name not in (*IMPACT, *STEPPED)}, names, segments)
    bodies = np.concatenate([arrays[name] for name in BODY_VARIABLES], axis=-1)
    y = np.concatenate([bodies.reshape(len(bodies), -1), arrays["angles"]], axis=1)
    given = meta.get("model_numbers")
    numbers = None if given is None else {name: np.array(given[name], dtype=np.float64) for name in MODEL_TABLES}
    laws = meta.get("model_laws")
    if model is not None:
        check_model(model, names, numbers, y.shape[1], laws)
    carried = meta.get("carried_model")
    return make(
        model,
        arrays["t"],
        y,
        counters=counters_of(meta),
        settings={_text(key): _text(value) for key, value in meta["settings"].items()},
        interrupted=bool(meta["interrupted"]),
        _names=names,
        events=events_of(meta, len(names.bodies), y.shape[1]),
        singular_crossings=crossings_of(meta),
        _own=arrays.get(OWN),
        _own_u_dot=arrays.get(OWN_U_DOT),
        _turns=arrays.get(TURNS),
        _sensors=sensors_of(arrays, meta),
        _contact_impacts=contact_impacts_of(meta),
        _model_numbers=numbers,
        _model_laws=laws,
        _carried={**carried, "where": where, "allow_code": allow_code} if isinstance(carried, dict) else None,
        _replays=replays_of(meta.get("replays"), y.shape[1]),
        _all_steps=bool(meta.get("all_steps", False)),
        outcome=Outcome.from_data(meta.get("outcome"), interrupted=bool(meta["interrupted"])),
    )


def crossings_of(meta: Mapping[str, Any]) -> tuple[SingularCrossing, ...]:
    """Return the singular configurations that were crossed, in metadata."""
    places = meta.get("passed", ())
    return tuple(SingularCrossing(float(at["t"]), tuple(map(_text, at["joints"])), float(at["pivot"])) for at in places)


def replays_data(replays: Sequence[Replay]) -> list[dict[str, Any]] | None:
    """Return how the runs of a result are made again, as numbers and texts; None if one of them cannot be written."""
    data = [one.as_data() for one in replays]
    known = [one for one in data if one is not None]
    return known if len(known) == len(data) else None


def impact_data(impacts: Sequence[ContactImpact] | None) -> list[list[Any]] | None:
    """Return the impacts of compliant contacts as names and numbers, None for NaN."""
    if impacts is None:
        return None
    return [[None if value != value else value for value in astuple(impact)] for impact in impacts]  # noqa: PLR0124  NaN alone


def contact_impacts_of(meta: Mapping[str, Any]) -> tuple[ContactImpact, ...] | None:
    """Return the impacts of compliant contacts in metadata."""
    if meta.get("contact_impacts") is None:
        return None
    numbers = [[float("nan") if value is None else float(value) for value in row[2:]] for row in meta["contact_impacts"]]
    return tuple(
        ContactImpact(_text(row[0]), int(row[1]), *values) for row, values in zip(meta["contact_impacts"], numbers, strict=True)
    )


def counters_of(meta: Mapping[str, Any]) -> Counters:
    """Return the counters in metadata."""
    return Counters(**{OLD_COUNTERS.get(name, name): count for name, count in meta["counters"].items()})


def events_of(meta: Mapping[str, Any], n_bodies: int, ny: int) -> tuple[EventRecord, ...]:
    """Return the events in metadata."""
    return tuple(_event(e, n_bodies, ny) for e in meta.get("events", ()))


def sensors_of(arrays: Mapping[str, Array], meta: Mapping[str, Any]) -> dict[str, SensorHistory]:
    """Return the sensors of a file."""
    return {
        _text(name): SensorHistory(_text(name), _text(unit), arrays["t"], arrays[f"{SENSOR}{k}"])
        for k, (name, unit) in enumerate(meta.get("sensors", ()))
    }


def check_arrays(arrays: Mapping[str, Any], names: Names, segments: tuple[int, ...] = ()) -> None:
    """Raise UsageError, with the variable and where it is wrong, unless the arrays are states of such a model.

    segments: numbers of states, between which the time may stand still
    """
    missing = [name for name in ("t", *BODY_VARIABLES, "angles") if name not in arrays]
    if missing:
        raise UsageError(f"it has no variable {missing[0]!r}")
    for name, array in arrays.items():
        if not (isinstance(array, np.ndarray) and array.dtype == np.float64):
            raise UsageError(f"its variable {name!r} is {getattr(array, 'dtype', type(array).__name__)}, must be float64")
    nt, nb = arrays["t"].size, len(names.bodies)
    wanted: dict[str, tuple[int, ...]] = {"t": (nt,), **{name: (nt, nb, len(COMPONENTS[name])) for name in BODY_VARIABLES}}
    wanted |= {"angles": (nt, *(arrays["angles"].shape[1:2] or (0,))), OWN: (nt, len(names.rows)), OWN_U_DOT: (nt, nb, 6)}
    wanted |= {name: (nt, *array.shape[1:]) for name, array in arrays.items() if name == TURNS or name.startswith(SENSOR)}
    for name, array in arrays.items():
        if array.shape != wanted.get(name):
            raise UsageError(
                f"its variable {name!r} is of shape {array.shape}, must be {wanted.get(name)} ({nb} bodies, {nt} times)"
            )
        if name in (*BODY_VARIABLES, "t", "angles") and not np.isfinite(array).all():
            raise UsageError(f"its variable {name!r} is not finite at {_place(~np.isfinite(array), arrays['t'])}")
    change = np.diff(arrays["t"])
    falls = change <= 0.0
    borders = np.array([end - 1 for end in np.cumsum(segments)[:-1] if 0 < end < nt], dtype=np.int64)
    falls[borders] = change[borders] < 0.0
    if falls.any():
        raise UsageError(f"its times do not increase: at {_place(falls, arrays['t'])}")
    far = np.abs(np.linalg.norm(arrays["p"], axis=-1) - 1.0)
    if (far > UNIT_LENGTH).any():
        k, body = np.argwhere(far > UNIT_LENGTH)[0]
        raise UsageError(
            f"body {names.bodies[body]!r} has Euler parameters {arrays['p'][k, body].tolist()} at t = {arrays['t'][k]:g} s: "
            f"their length must be 1, and differs by {far[k, body]:.2g} (divide p by its length)"
        )


def check_model(model: Model, names: Names, numbers: Mapping[str, Array] | None, ny: int, laws: Mapping[str, str] | None) -> None:
    """Raise UsageError unless names, sizes, numbers and laws of the model are those of the file."""
    given = Names.of(model), numbers_of(model), model.y0.size
    difference = difference_of_models((names, numbers, ny), given, ("in the file", "in the model"))
    difference = difference or difference_of_laws(laws, law_digests(model))
    if difference:
        raise UsageError(f"is of another model: {difference}. Pass the model it came from")


Recognized: TypeAlias = tuple[Names, Mapping[str, Array] | None, int]
"""By what a model is recognized: its names, its numbers where they are known, and the length of its states."""


def difference_of_models(first: Recognized, second: Recognized, words: tuple[str, str]) -> str:
    """Return in what two models differ, "" if they are the same;  words: where each of them is."""
    for what, of_first, of_second in (
        ("bodies", first[0].bodies, second[0].bodies),
        ("joints", first[0].joints, second[0].joints),
        ("rows", first[0].rows, second[0].rows),
    ):
        if of_first != of_second:
            odd = ", ".join(map(repr, sorted(set(of_first) ^ set(of_second))[:5])) or "their order"
            return f"its {what} differ, in {odd}"
    if first[2] != second[2]:
        return f"states are of {first[2]} numbers {words[0]}, and of {second[2]} {words[1]}"
    for what, table in (second[1] or {}).items():
        stored = (first[1] or {}).get(what)
        if stored is None or table.size == stored.size == 0:
            continue
        if stored.shape != table.shape:
            return f"its {what} are {stored.shape} {words[0]}, not {table.shape}"
        differ = ~(np.abs(stored - table) <= SAME_NUMBER * np.abs(table).max())
        if differ.any():
            row, column = np.argwhere(differ)[0].tolist()
            of = f"{'J_bar' if column else 'mass'} of body {first[0].bodies[row]!r}" if what == "inertias" else f"line {row}"
            return f"its {what} differ, {of}: {stored[row, column]!s} {words[0]}, {table[row, column]!s} {words[1]}"
    return ""


def numbers_of(model: Model) -> dict[str, Array]:
    """Return the numbers by which a model is recognized; see `laws` for the user's functions."""
    return {what: np.asarray(model.tables[table], dtype=np.float64) for what, table in MODEL_TABLES.items()}


def digest_of(array: Any) -> str:
    """Return the SHA-256 of type, shape and bytes of an array."""
    array = np.asarray(array)
    return _sha256(f"{array.dtype.str} {array.shape} ".encode(), np.ascontiguousarray(array).tobytes())


def _sha256(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _event(stored: Any, n_bodies: int, ny: int) -> EventRecord:
    """Return an event record.  Raises UsageError for an invalid state."""
    y = np.array(stored["y"], dtype=np.float64)
    if y.shape != (ny,) or not np.isfinite(y).all() or not np.isfinite(stored["t"]):
        raise UsageError(f"the state of its event {stored['name']!r} is of {y.shape}, must be ({ny},), finite")
    if np.any(
        np.abs(np.linalg.norm(y[: WIDTH * n_bodies].reshape(n_bodies, WIDTH)[:, EULER:VELOCITY], axis=1) - 1.0) > UNIT_LENGTH
    ):
        raise UsageError(f"the state of its event {stored['name']!r} has Euler parameters that are not of length 1")
    t = float(stored["t"])
    return EventRecord(_text(stored["name"]), t, State.from_y(t, y, n_bodies), float(stored.get("jump", 0.0)))


def _text(given: Any) -> str:
    """Return a text as it is.  Raises UsageError for anything else."""
    if not isinstance(given, str):
        raise UsageError(f"its metadata have {given!r:.60} in place of a string")
    return given


def _place(wrong: Any, t: Array) -> str:
    """Return where an array is wrong first, with the time."""
    where = np.argwhere(wrong)[0].tolist()
    return f"{where} (t = {t[where[0]]} s)"
