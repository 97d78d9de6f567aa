r"""All quantities of a motion as variables with dimensions and units, for xarray and pandas.

    r p v omega_bar v_dot omega_bar_dot    (time, body, xyz | e)      lam                    (time, row)
    joint.NAME.angle ...                   (time,)                    reaction_force ...     (time, joint, xyz), on body j, global
    load.NAME.force ...                    (time,) or (time, ., xyz)  violation_position ... (time, joint)
    driver.NAME.torque ...                 (time,)                    energy.kinetic ...     (time,)
    sensor.NAME                            (time, ...)

A quantity that cannot be computed is left out; `missing` says which, and why. No dimension is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.energy import Energy
from haugmbd.diagnostics.histories import FORCES, BlockHistory, DriverHistory, block_names, driver_names
from haugmbd.diagnostics.joint_coordinates import JointHistory
from haugmbd.diagnostics.joint_reactions import Reaction
from haugmbd.diagnostics.load_history import LoadHistory
from haugmbd.errors import HaugmbdError, warn_user
from haugmbd.model.model import Model
from haugmbd.simulation.results.io.schema import AXES, BODY_VARIABLES, COMPONENTS, FRAMES, UNITS
from haugmbd.simulation.results.segments import changes_structure, in_rows_of
from haugmbd.simulation.sensor import SensorHistory

RATES = {"v_dot": "m/s2", "omega_bar_dot": "rad/s2"}
ENERGIES = ("kinetic", "potential", "applied_work", "dissipated_work", "total")
LEVELS = ("position", "velocity", "acceleration")
OF_POINTS = ("indentation", "rate", "normal_force", "friction_force", "slip")
"""Quantities that a contact of several points has for each of them."""
OF = {"angle": "rad", "displacement": "m", "rotation": "rad"}


class Variable(NamedTuple):
    """One quantity: its name, dimensions (the first is time), values, and unit, frame and other words."""

    name: str
    dims: tuple[str, ...]
    values: Any
    attributes: dict[str, Any]


class Table(NamedTuple):
    """All quantities: variables, the labels of the dimensions, and what is missing, by quantity."""

    t: Array
    variables: tuple[Variable, ...]
    labels: dict[str, list[str]]
    missing: dict[str, str]


class Whole(Protocol):
    """A result of any kind."""

    def _pieces(self) -> Sequence[Any]: ...
    def _recorded(self) -> Mapping[str, SensorHistory]: ...
    def joint(self, name: str) -> JointHistory: ...
    def load(self, name: str) -> LoadHistory: ...
    def block(self, name: str) -> BlockHistory: ...
    def driver(self, name: str) -> DriverHistory: ...
    def reaction(self, joint: str) -> Reaction: ...
    def energy(self) -> Energy: ...


def table_of(result: Whole) -> Table:
    """Return all quantities of a result."""
    pieces = result._pieces()
    first = pieces[0]
    variables: list[Variable] = list(_states(pieces))
    missing: dict[str, str] = {}
    if first.has_model:
        for name, make in _wanted(result, pieces).items():
            try:
                variables += make()
            except HaugmbdError as error:
                missing[name] = str(error).splitlines()[0]
    else:
        missing["all but the states"] = "the result was loaded without its model"
    variables += [
        Variable(
            f"sensor.{one.name}", ("time", *(f"{one.name} {k}" for k in range(one.value.ndim - 1))), one.value, _unit(one.unit)
        )
        for one in result._recorded().values()
    ]
    if missing:
        warn_user("left out of the table: " + "; ".join(f"{name}: {why}" for name, why in missing.items()))
    labels = {"body": list(first.names.bodies), "xyz": list("xyz"), "e": list(COMPONENTS["p"])}
    if first.has_model:
        labels |= {"row": [f"{k} {label}" for k, label in enumerate(first.model.labels)], "joint": list(first.model.joints)}
        labels["component"] = ["force x", "force y", "force z", "torque x", "torque y", "torque z"]
        labels |= {f"{e.load.name} coordinate": [q.label for q in e.load.coordinates()] for e in first.model.loads}
        labels |= {f"{e.load.name} body": [body.name for body in e.load.bodies()] for e in first.model.loads}
    kept = [one for one in variables if 0 not in np.shape(one.values)[1:]]
    used = {dim for one in kept for dim in one.dims}
    t = np.concatenate([piece.t for piece in pieces])
    return Table(t, tuple(kept), {dim: names for dim, names in labels.items() if dim in used}, missing)


def _wanted(result: Whole, pieces: Sequence[Any]) -> dict[str, Callable[[], list[Variable]]]:
    """Return how each group of quantities is computed, by the name that is reported if that fails."""
    model: Model = pieces[0].model
    wanted: dict[str, Callable[[], list[Variable]]] = {"accelerations": lambda: list(_accelerations(pieces))}
    for name, joint in model.joints.items():
        if joint.freedoms and not joint.part.needs():
            wanted[f"joint {name!r}"] = lambda name=name: list(_joint(result.joint(name)))  # type: ignore[misc]
    for entry in model.loads:
        wanted[f"load {entry.load.name!r}"] = lambda name=entry.load.name: list(_load(result.load(name)))  # type: ignore[misc]
    for name in block_names(model):
        wanted[f"block {name!r}"] = lambda name=name: list(_block(result.block(name)))  # type: ignore[misc]
    for name in driver_names(model):
        wanted[f"driver {name!r}"] = lambda name=name: list(_driver(result.driver(name)))  # type: ignore[misc]
    if model.joints:
        wanted["multipliers"] = lambda: list(_multipliers(pieces))
        wanted["reactions"] = lambda: list(_reactions([result.reaction(name) for name in model.joints]))
        wanted["violations"] = lambda: list(_violations(pieces))
    wanted["energies"] = lambda: list(_energies(result.energy()))
    return wanted


def _unit(unit: str, **more: Any) -> dict[str, Any]:
    """Return unit and other words."""
    return ({"units": unit} if unit else {}) | more


def _states(pieces: Sequence[Any]) -> Iterator[Variable]:
    """Yield the states."""
    for name in BODY_VARIABLES:
        values = np.concatenate([getattr(piece, name) for piece in pieces])
        yield Variable(name, ("time", "body", AXES[name]), values, _unit(UNITS[name], frame=FRAMES[name]))
    states = pieces[0].model.n_states if pieces[0].has_model else 0
    angles = [piece.angles[:, : piece.angles.shape[1] - states] for piece in pieces]
    yield Variable("angles", ("time", "angle"), np.concatenate(angles), _unit(UNITS["angles"]))


def _accelerations(pieces: Sequence[Any]) -> Iterator[Variable]:
    for name, unit in RATES.items():
        values = np.concatenate([getattr(piece, name) for piece in pieces])
        yield Variable(name, ("time", "body", "xyz"), values, _unit(unit, frame="global" if name == "v_dot" else "body frame"))


def _joint(one: JointHistory) -> Iterator[Variable]:
    """Yield the coordinates of a joint, with rates and accelerations; of several coordinates of one kind with numbers."""
    columns = {"rate": one.rate.reshape(len(one.t), -1), "acceleration": one.acceleration.reshape(len(one.t), -1)}
    at, seen = 0, dict.fromkeys(one.coordinates, 0)
    for kind in one.coordinates:
        several, width = one.coordinates.count(kind) > 1, 3 if kind == "rotation" else 1
        value = getattr(one, kind)[:, seen[kind]] if several else getattr(one, kind)
        seen[kind] += 1
        name = f"joint.{one.joint}.{kind}{f'_{seen[kind]}' if several else ''}"
        dims = ("time", "xyz") if kind == "rotation" else ("time",)
        yield Variable(name, dims, value, _unit(OF[kind]))
        for order, (word, table) in enumerate(columns.items(), start=1):
            part = table[:, at : at + width] if width > 1 else table[:, at]
            yield Variable(f"{name}_{word}", dims, part, _unit(f"{OF[kind]}/s{'2' if order == 2 else ''}"))
        at += width


def _load(one: LoadHistory) -> Iterator[Variable]:
    for name in one.quantities:
        values = getattr(one, name)
        dims = {1: ("time",), 2: ("time", "xyz"), 3: ("time", f"{one.load} body", "xyz")}[values.ndim]
        if name in ("coordinates", "rates", "forces"):
            dims = ("time", f"{one.load} coordinate")
        if name in OF_POINTS and values.ndim > 1:
            dims = ("time", f"{one.load} point")
        yield Variable(f"load.{one.load}.{name}", dims, values, _unit(one.unit(name)))


def _block(one: BlockHistory) -> Iterator[Variable]:
    """Yield the states and outputs of a block, whose units only its author knows."""
    yield Variable(f"block.{one.block}.x", ("time", f"{one.block} state"), one.x, {})
    for name, values in one.outputs.items():
        dims = ("time",) if values.ndim == 1 else ("time", f"{one.block} {name}")
        yield Variable(f"block.{one.block}.{name}", dims, values, {})


def _driver(one: DriverHistory) -> Iterator[Variable]:
    force = FORCES[one._kind][2]
    rate = "1/s" if one.unit == "1" else f"{one.unit}/s"
    for name, unit in (("value", one.unit), ("rate", rate), (one.quantity, force), ("power", "W"), ("work", "J")):
        more = {"unique": int(one.unique)} if name == one.quantity else {}
        yield Variable(f"driver.{one.driver}.{name}", ("time",), getattr(one, name), _unit(unit, **more))


def _multipliers(pieces: Sequence[Any]) -> Iterator[Variable]:
    """Yield the multipliers of the rows of the first model; closed contacts of later pieces are left to their own quantities."""
    if changes_structure(pieces):
        values = np.concatenate([in_rows_of(pieces[0].model, piece, piece.lam) for piece in pieces])
        units = ", ".join(dict.fromkeys(label.unit for label in pieces[0].model.labels))
        yield Variable("lam", ("time", "row"), values, {"units": f"J per unit of the row ({units})"})
        return
    joints = pieces[0].model.joints
    rows = [np.concatenate([np.zeros(0, dtype=np.int64), *(p.model.joints[name].rows for name in joints)]) for p in pieces]
    order = np.argsort(rows[0])
    values = np.concatenate([piece.lam[:, own[order]] for piece, own in zip(pieces, rows, strict=True)])
    units = ", ".join(dict.fromkeys(label.unit for label in pieces[0].model.labels))
    yield Variable("lam", ("time", "row"), values, {"units": f"J per unit of the row ({units})"})


def _reactions(found: Sequence[Reaction]) -> Iterator[Variable]:
    at = {"on": "body j", "frame": "global", "point": "the joint's point on body j"}
    yield Variable("reaction_force", ("time", "joint", "xyz"), np.stack([one.force for one in found], axis=1), _unit("N", **at))
    yield Variable("reaction_torque", ("time", "joint", "xyz"), np.stack([one.torque for one in found], axis=1), _unit("N m", **at))
    yield Variable("reaction_unique", ("joint", "component"), np.array([one.unique for one in found]), {})


def _violations(pieces: Sequence[Any]) -> Iterator[Variable]:
    joints = tuple(pieces[0].model.joints)
    for k, level in enumerate(LEVELS):
        by_joint = [piece.violation(level, by="joint") for piece in pieces]
        parts = zip(by_joint, pieces, strict=True)
        values = np.concatenate(
            [np.stack([part.get(name, np.zeros(len(piece.t))) for name in joints], axis=1) for part, piece in parts]
        )
        per = ("", " per s", " per s2")[k]
        yield Variable(f"violation_{level}", ("time", "joint"), values, _unit(f"units of the rows{per}", norm="Euclidean"))
    values = np.concatenate([piece.euler_violation() for piece in pieces])
    yield Variable("violation_euler", ("time", "body"), values, _unit("1"))


def _energies(energy: Energy) -> Iterator[Variable]:
    for name in ENERGIES:
        yield Variable(f"energy.{name}", ("time",), getattr(energy, name), _unit("J"))


def to_xarray(result: Whole, xr: Any, attributes: dict[str, str]) -> Any:
    """Return a table as a Dataset of the module `xr`."""
    table = table_of(result)
    variables = {one.name: (one.dims, one.values, one.attributes) for one in table.variables}
    coordinates = {"time": ("time", table.t, {"units": "s"}), **table.labels}
    return xr.Dataset(variables, coordinates, attributes | {f"missing {name}": why for name, why in table.missing.items()})


def to_pandas(result: Whole, pd: Any, attributes: dict[str, str]) -> Any:
    """Return a table as a DataFrame of the module `pd`: one line a state, one column a component, such as `r.crank.x`."""
    table = table_of(result)
    columns: dict[str, Array] = {}
    units: dict[str, str] = {}
    for variable in table.variables:
        if variable.dims[0] != "time":
            continue
        names = [
            table.labels.get(dim, [str(k) for k in range(n)])
            for dim, n in zip(variable.dims[1:], variable.values.shape[1:], strict=True)
        ]
        for at in np.ndindex(*variable.values.shape[1:]):
            name = ".".join([variable.name, *(words[k] for words, k in zip(names, at, strict=True))])
            columns[name], units[name] = variable.values[(slice(None), *at)], str(variable.attributes.get("units", ""))
    frame = pd.DataFrame(columns, index=pd.Index(table.t, name="t [s]"))
    frame.attrs = {**attributes, "units": units, "missing": dict(table.missing)}
    return frame
