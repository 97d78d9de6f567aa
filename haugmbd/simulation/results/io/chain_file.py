r"""A motion in joint coordinates on disk: coordinates, rates, forces, and the chain, link by link.

variable         shape             what
t                (nt,)             times [s]
q, qd            (nt, nq), (nt, nv)
tau              (nt, nv)          if tau was a function: its values at the states

The metadata hold the links, and tau and wrenches that were constant. Numbers of links are not rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.validation import frozen
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.run_warnings import Outcome
from haugmbd.errors import UsageError
from haugmbd.formats import view
from haugmbd.integrators.events import EventRecord
from haugmbd.serial_chain.base import ChainState
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.link import Link
from haugmbd.simulation.replay import Replay, replays_of
from haugmbd.simulation.results.io.schema import SENSOR, Contents, counters_of, replays_data, run_data, sealed, sensors_of
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.sensor import SensorHistory

REDUCED = "ReducedResult"
NUMBERS = ("mass", "J_bar", "c", "L", "p")
"""Numbers of a link."""


class ChainRun(NamedTuple):
    """The contents of a motion in joint coordinates;  tau: (nv,), or (nt, nv) at the states if it was a function."""

    chain: SerialChain
    t: Array
    q: Array
    qd: Array
    tau: Array
    wrenches: Array
    counters: Counters
    settings: dict[str, str]
    interrupted: bool
    events: tuple[EventRecord, ...]
    sensors: Mapping[str, SensorHistory]
    outcome: Outcome
    replays: tuple[Replay, ...] = ()
    all_steps: bool = False


def contents_of_chain(run: ChainRun) -> Contents:
    """Return the contents to be written. Raise UsageError if the file could not be read back."""
    arrays = {"t": run.t, "q": run.q, "qd": run.qd}
    constant = run.tau.ndim == 1
    if not constant:
        arrays["tau"] = run.tau
    sensors = [one for one in run.sensors.values() if one.value.size]
    arrays |= {f"{SENSOR}{k}": one.value for k, one in enumerate(sensors)}
    meta = run_data(run, REDUCED, sensors) | {
        "model": run.chain.name,
        "chain": chain_data(run.chain),
        "tau": run.tau.tolist() if constant else None,
        "wrenches": run.wrenches.tolist(),
        "all_steps": run.all_steps,
        "replays": replays_data(run.replays) if constant else None,
        "events": [{"name": e.name, "t": e.t, "q": e.state.q.tolist(), "qd": e.state.qd.tolist()} for e in run.events],
    }
    _check(arrays, run.chain)
    return sealed(meta, arrays)


def chain_run_of(contents: Contents, meta: Mapping[str, Any]) -> ChainRun:
    """Return what is in the contents of a file, checked."""
    arrays, chain = contents.arrays, chain_of(meta["chain"])
    _check(arrays, chain)
    tau = arrays["tau"] if meta["tau"] is None else np.array(meta["tau"], dtype=np.float64)
    wrenches = np.array(meta["wrenches"], dtype=np.float64).reshape(-1, 6)
    events = tuple(EventRecord(str(e["name"]), float(e["t"]), ChainState(float(e["t"]), e["q"], e["qd"])) for e in meta["events"])
    if tau.shape[-1:] != (chain.nv,) or wrenches.shape not in ((0, 6), (chain.n, 6)):
        raise UsageError(f"its forces are of {tau.shape} and {wrenches.shape}, which do not fit the chain of {chain.n} links")
    return ChainRun(
        chain,
        arrays["t"],
        arrays["q"],
        arrays["qd"],
        tau,
        wrenches,
        counters_of(meta),
        dict(meta["settings"]),
        bool(meta["interrupted"]),
        events,
        sensors_of(arrays, meta),
        Outcome.from_data(meta.get("outcome"), interrupted=bool(meta["interrupted"])),
        replays_of(meta.get("replays"), arrays["q"].shape[1] + arrays["qd"].shape[1]),
        bool(meta.get("all_steps", False)),
    )


def _check(arrays: Mapping[str, Array], chain: SerialChain) -> None:
    """Raise UsageError unless the arrays are a motion of the chain."""
    missing = [name for name in ("t", "q", "qd") if name not in arrays]
    if missing:
        raise UsageError(f"it has no variable {missing[0]!r}")
    nt = arrays["t"].size
    wanted: dict[str, tuple[int, ...]] = {"t": (nt,), "q": (nt, chain.nq), "qd": (nt, chain.nv), "tau": (nt, chain.nv)}
    for name, array in arrays.items():
        shape = wanted.get(name, (nt, *array.shape[1:]))
        if array.dtype != np.float64 or array.shape != shape:
            raise UsageError(f"its variable {name!r} is {array.dtype} of shape {array.shape}, must be float64 of {shape}")
        if name in wanted and not np.isfinite(array).all():
            raise UsageError(f"its variable {name!r} is not finite")
    if (np.diff(arrays["t"]) <= 0.0).any():
        raise UsageError("its times do not increase")


def chain_data(chain: SerialChain) -> dict[str, Any]:
    """Return a chain as numbers, texts and lists."""
    text_of = view("text of a shape")
    links = [
        {
            "name": link.name,
            "kind": link.kind,
            "ways": [[int(kind), axis.tolist()] for kind, axis in link.ways],
            **{name: np.asarray(getattr(link, name)).tolist() for name in NUMBERS},
            "shape": [text_of(shape) for shape in link.shape],
            "solid": [text_of(shape) for shape in link.solid],
        }
        for link in chain.links
    ]
    places = {name: getattr(chain, name).tolist() for name in ("gravity", "base")}
    return {"name": chain.name, **places, "order": list(chain.order), "links": links}


def chain_of(data: Mapping[str, Any]) -> SerialChain:
    """Return the chain that `chain_data` wrote. Raise UsageError, or ModelError with its faults, if it is not a chain."""
    read: Callable[[Any], tuple[Any, ...]] = view("shapes of a text")
    links = [_link(link, read) for link in data["links"]]
    return SerialChain(links, gravity=data["gravity"], base=data["base"], name=data["name"], order=data["order"])


def _link(data: Mapping[str, Any], read: Callable[[Any], tuple[Any, ...]]) -> Link:
    """Return a link; unit vectors and Euler parameters are kept bit by bit."""
    ways = tuple((int(kind), axis) for kind, axis in data["ways"])
    link = Link(data["name"], data["kind"], ways, *(data[name] for name in NUMBERS[:2]), **{n: data[n] for n in NUMBERS[2:]})
    if not link.faults():
        exact = {"ways": tuple((kind, frozen(axis)) for kind, axis in ways), "p": frozen(data["p"]), "J_bar": frozen(data["J_bar"])}
        for name, value in (exact | {"shape": read(data["shape"]), "solid": read(data["solid"])}).items():
            object.__setattr__(link, name, value)
    return link
