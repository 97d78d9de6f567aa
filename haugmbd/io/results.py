r"""Results on disk: states, names, counters and settings, exactly; the model itself is not saved.

.npz    NumPy alone                     t, r, p, v, omega_bar, angles;  meta: JSON
.nc     NetCDF-4 through h5netcdf       time, body;  the same variables, with units;  meta: JSON
.csv    one line a state                t, crank.r.x, ..., crank.p.e0, ..., crank.v.x, ..., crank.omega_bar.x, ..., angle.0
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.errors import UsageError
from haugmbd.integrators.events import EventRecord
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.result import Counters, Names, Result

if TYPE_CHECKING:
    import xarray

FORMAT = "haugmbd result 1"
OWN = "lam_of_method"
"""The multipliers of the method, in files of results that have them."""

COLUMNS = {"r": ("x", "y", "z"), "p": ("e0", "e1", "e2", "e3"), "v": ("x", "y", "z"), "omega_bar": ("x", "y", "z")}
AXES = {"r": "xyz", "p": "e", "v": "xyz", "omega_bar": "xyz"}
UNITS = {"t": "s", "r": "m", "p": "1", "v": "m/s", "omega_bar": "rad/s", "angles": "rad"}
FRAMES = {"r": "global", "p": "scalar first, body to global", "v": "global", "omega_bar": "body frame"}


def save(result: Result, path: str | Path) -> Path:
    """Write `result` to `path`, .npz or .nc; return the path.  UsageError for another ending or where the extra is missing."""
    path = Path(path)
    _writer(path)(result, path)
    return path


def load(path: str | Path, *, model: Model | None = None) -> Result:
    """Read a result that `save` wrote.

    model: the compiled model it came from: with it reactions, violation and energies can be asked for; names and sizes are checked.
    Raises UsageError where the file is no such result, or `model` is another one.
    """
    path = Path(path)
    meta, arrays = _reader(path)(path)
    if meta.get("format") != FORMAT:
        raise UsageError(f"{path} is not a {FORMAT!r}: it says {meta.get('format')!r}. Give a file that result.save wrote.")
    names = Names(meta["model"], *(tuple(meta[key]) for key in ("bodies", "joints", "rows")))
    bodies = np.concatenate([arrays[name] for name in COLUMNS], axis=-1)
    y = np.concatenate([bodies.reshape(len(bodies), -1), arrays["angles"]], axis=1)
    if model is not None:
        _check_model(path, model, names, y)
    events = tuple(
        EventRecord(e["name"], e["t"], State.from_y(e["t"], np.array(e["y"]), len(names.bodies))) for e in meta.get("events", ())
    )
    rest = (Counters(**meta["counters"]), meta["settings"], meta["interrupted"], names, events)
    return Result(model, arrays["t"], y, *rest, _own=arrays.get(OWN))


def to_csv(result: Result, path: str | Path) -> Path:
    """Write one line a state, with 17 digits: what is read back is what was written."""
    path = Path(path)
    header, columns = ["t"], [result.t[:, None]]
    for k, body in enumerate(result.names.bodies[1:], start=1):
        for name, parts in COLUMNS.items():
            header += [f"{body}.{name}.{part}" for part in parts]
            columns.append(_array(result, name)[:, k])
    header += [f"angle.{k}" for k in range(result.angles.shape[1])]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerow(header)
        np.savetxt(file, np.concatenate([*columns, result.angles], axis=1), fmt="%.17g", delimiter=",")
    return path


def to_xarray(result: Result) -> xarray.Dataset:
    """A Dataset over time, body (the ground first) and component, with units."""
    xr = _need("xarray", "xarray")
    variables: dict[str, Any] = {name: (("time", "body", AXES[name]), _array(result, name), _attributes(name)) for name in COLUMNS}
    variables["angles"] = (("time", "angle"), result.angles, _attributes("angles"))
    coordinates = {
        "time": ("time", result.t, {"units": "s"}),
        "body": list(result.names.bodies),
        "xyz": list(COLUMNS["r"]),
        "e": list(COLUMNS["p"]),
    }
    dataset: xarray.Dataset = xr.Dataset(variables, coordinates, {"model": result.names.model, **result.settings})
    return dataset


def _array(result: Result, name: str) -> Array:
    """One of r, p, v, omega_bar, by name."""
    return {"r": result.r, "p": result.p, "v": result.v, "omega_bar": result.omega_bar}[name]


def _attributes(name: str) -> dict[str, str]:
    """Unit, and frame where there is one."""
    return {"units": UNITS[name]} | ({"frame": FRAMES[name]} if name in FRAMES else {})


def _meta(result: Result) -> str:
    """Everything but the numbers."""
    names = result.names
    return json.dumps(
        {
            "format": FORMAT,
            "model": names.model,
            "bodies": names.bodies,
            "joints": names.joints,
            "rows": names.rows,
            "counters": asdict(result.counters),
            "settings": result.settings,
            "interrupted": result.interrupted,
            "events": [{"name": e.name, "t": e.t, "y": e.state.y.tolist()} for e in result.events],
            "units": UNITS,
        }
    )


def _save_npz(result: Result, path: Path) -> None:
    arrays: dict[str, Any] = {name: _array(result, name) for name in COLUMNS}
    if result.has_lam_of_method:
        arrays[OWN] = result.lam_of_method
    with path.open("wb") as file:
        np.savez_compressed(file, t=result.t, angles=result.angles, meta=np.array(_meta(result)), **arrays)


def _load_npz(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    with np.load(path, allow_pickle=False) as file:
        if "meta" not in file:
            return {}, {}
        return json.loads(str(file["meta"])), {name: file[name] for name in ("t", *COLUMNS, "angles", OWN) if name in file}


def _save_netcdf(result: Result, path: Path) -> None:
    h5netcdf, h5py = _need("h5netcdf", "io"), _need("h5py", "io")
    text = h5py.string_dtype()
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"time": len(result.t), "body": len(result.names.bodies), "xyz": 3, "e": 4}
        file.create_variable("time", ("time",), data=result.t).attrs["units"] = "s"
        file.create_variable("body", ("body",), dtype=text)[:] = np.array(result.names.bodies, dtype=object)
        file.create_variable("meta", (), dtype=text)[...] = _meta(result)
        for name in COLUMNS:
            variable = file.create_variable(name, ("time", "body", AXES[name]), data=_array(result, name))
            variable.attrs.update(_attributes(name))
        if result.angles.shape[1]:
            file.dimensions["angle"] = result.angles.shape[1]
            file.create_variable("angles", ("time", "angle"), data=result.angles).attrs["units"] = "rad"
        if result.has_lam_of_method and len(result.names.rows):
            file.dimensions["row"] = len(result.names.rows)
            file.create_variable(OWN, ("time", "row"), data=result.lam_of_method)


def _load_netcdf(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    h5netcdf = _need("h5netcdf", "io")
    with h5netcdf.File(path, "r") as file:
        if "meta" not in file.variables:
            return {}, {}
        text = np.asarray(file["meta"][...]).item()  # bytes or str, by the version of h5netcdf
        arrays = {name: np.asarray(file[name][...]) for name in COLUMNS}
        arrays["t"] = np.asarray(file["time"][...])
        arrays["angles"] = np.asarray(file["angles"][...]) if "angles" in file.variables else np.zeros((len(arrays["t"]), 0))
        if OWN in file.variables:
            arrays[OWN] = np.asarray(file[OWN][...])
        return json.loads(text.decode() if isinstance(text, bytes) else str(text)), arrays


def _need(module: str, extra: str) -> Any:
    """Import a module of an extra; UsageError that names the extra where it is missing."""
    try:
        return __import__(module)
    except ImportError as error:
        raise UsageError(
            f"this needs {module}, which is not installed: pip install 'haugmbd[{extra}]', or save as .npz."
        ) from error


def _writer(path: Path) -> Callable[[Result, Path], None]:
    """What writes files of this ending."""
    return {".npz": _save_npz, ".nc": _save_netcdf}[_ending(path)]


def _reader(path: Path) -> Callable[[Path], tuple[dict[str, Any], dict[str, Array]]]:
    """What reads files of this ending."""
    return {".npz": _load_npz, ".nc": _load_netcdf}[_ending(path)]


def _ending(path: Path) -> str:
    if path.suffix not in (".npz", ".nc"):
        raise UsageError(f"path is {str(path)!r}: a result is a .npz or a .nc (NetCDF-4) file; to_csv writes tables.")
    return path.suffix


def _check_model(path: Path, model: Model, names: Names, y: Array) -> None:
    """Raise UsageError unless names and sizes of the model are those of the file."""
    given = Names.of(model)
    for what, of_file, of_model in (
        ("bodies", names.bodies, given.bodies),
        ("joints", names.joints, given.joints),
        ("rows", names.rows, given.rows),
    ):
        if of_file != of_model:
            odd = ", ".join(map(repr, sorted(set(of_file) ^ set(of_model))[:5])) or "their order"
            raise UsageError(f"{path} is of another model: its {what} differ, in {odd}. Pass the model it came from.")
    if y.shape[1] != model.y0.size:
        raise UsageError(f"{path} has states of {y.shape[1]} numbers, the model of {model.y0.size}. Pass the model it came from.")
