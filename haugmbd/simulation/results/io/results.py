r"""Results on disk: states, names, counters and settings without rounding, and the model, as the document of a model file.

.npz    NumPy alone                     t, r, p, v, omega_bar, angles;  meta: JSON
.nc     NetCDF-4 through h5netcdf       time, body;  the same variables, with units;  meta: JSON
.csv    one line a state                t, crank.r.x, ..., crank.p.e0, ..., crank.v.x, ..., crank.omega_bar.x, ..., angle.0

`schema` describes the variables and the metadata.  Files are whole or not there (`atomic`), and a damaged one is refused
(`checksums`).
"""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.checksums import seal, seal_zip
from haugmbd.simulation.results.io.paths import path_of, path_with_ending
from haugmbd.simulation.results.io.schema import (
    AXES,
    BODY_VARIABLES,
    CHAIN,
    COMPONENTS,
    FRAMES,
    IMPACT,
    OWN,
    OWN_U_DOT,
    SENSOR,
    STEPPED,
    TURNS,
    UNITS,
    Contents,
    Saved,
)

SMALL = 2**31
"""Bytes of arrays that are always read."""
MOST_COMPRESSED = 100
"""Largest ratio of the bytes of longer arrays to those of the file; moving states are compressed to a half."""

FASTEST = 1
"""Level of zlib: moving states are compressed to .59 of their bytes at 14 ns a byte; level 6 reaches .58 at 20 ns."""
LONG = 2**26
"""Bytes of arrays that are written as they are: compression would take a second and more, thirty times as long as writing."""


def write_contents(path: str | Path, make: Callable[[], Contents]) -> Path:
    """Write the contents that `make` returns to `path`, .npz or .nc; return the path.

    An old file of that name is replaced when the new one is complete, and is unchanged after an error.
    Raises UsageError for another ending, a missing extra, states that are not valid (times that do not increase, NaN), or a file that
    cannot be written.
    """
    path = path_of(path)
    write = _writer(path)
    try:
        contents = make()
    except UsageError as error:
        raise UsageError(f"this result cannot be saved to {path}: {error}.") from None
    data = write(contents)
    with replace_file(path) as file:
        file.write(data)
    return path


def to_csv(result: Saved, path: str | Path) -> Path:
    """Write one line for each state, with 17 digits, so that no digit is lost. After an error an old file is unchanged."""
    path = path_with_ending(path, ".csv", "Other tables: result.to_pandas().to_excel(...), .to_parquet(...).")
    header, columns = ["t"], [result.t[:, None]]
    for k, body in enumerate(result.names.bodies[1:], start=1):
        for name, parts in COMPONENTS.items():
            header += [f"{body}.{name}.{part}" for part in parts]
            columns.append(getattr(result, name)[:, k])
    header += [f"angle.{k}" for k in range(result.angles.shape[1])]
    head = io.StringIO(newline="")
    csv.writer(head, lineterminator="\n").writerow(header)
    with replace_file(path) as file:
        file.write(head.getvalue().encode())
        np.savetxt(file, np.concatenate([*columns, result.angles], axis=1), fmt="%.17g", delimiter=",")
    return path


def _attributes(name: str) -> dict[str, str]:
    """Return unit and frame."""
    return {"units": UNITS[name]} | ({"frame": FRAMES[name]} if name in FRAMES else {})


def _write_npz(contents: Contents) -> bytes:
    file = io.BytesIO()
    texts: dict[str, Any] = {"meta": np.array(contents.meta), "checksum": np.array(contents.checksum)}
    arrays = texts | contents.arrays
    long = sum(array.nbytes for array in arrays.values()) > LONG
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED if long else zipfile.ZIP_DEFLATED, compresslevel=FASTEST) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
    return seal_zip(file.getvalue())


def _read_npz(data: bytes) -> Contents:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_length(sum(entry.file_size for entry in archive.infolist()), data)
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        meta, checksum = (str(file[name]) if name in file else None for name in ("meta", "checksum"))
        arrays: dict[str, Any] = {name: file[name] for name in file if name not in ("meta", "checksum")}
        return Contents(meta, checksum, arrays)


def _write_netcdf(contents: Contents) -> bytes:
    """Return a NetCDF-4 file.  HDF5 builds it in memory: on a full disk it would not only fail, but end the process."""
    h5netcdf, h5py = need_module("h5netcdf"), need_module("h5py")
    text, arrays, data = h5py.string_dtype(), contents.arrays, io.BytesIO()
    nt, bodies = len(arrays["t"]), contents.bodies
    with h5netcdf.File(data, "w") as file:
        file.dimensions = {"time": nt} | ({"body": len(bodies), "xyz": 3, "e": 4} if bodies else {})
        file.create_variable("time", ("time",), data=arrays["t"]).attrs["units"] = UNITS["t"]
        file.create_variable("meta", (), dtype=text)[...] = contents.meta
        file.create_variable("checksum", (), dtype=text)[...] = contents.checksum
        if bodies:
            file.create_variable("body", ("body",), dtype=text)[:] = np.array(bodies, dtype=object)
        for name in BODY_VARIABLES if bodies else ():
            variable = file.create_variable(name, ("time", "body", AXES[name]), data=arrays[name])
            variable.attrs.update(_attributes(name))
        if "angles" in arrays and arrays["angles"].shape[1]:
            file.dimensions["angle"] = arrays["angles"].shape[1]
            file.create_variable("angles", ("time", "angle"), data=arrays["angles"]).attrs["units"] = UNITS["angles"]
        if OWN in arrays and arrays[OWN].shape[1]:
            file.dimensions["row"] = arrays[OWN].shape[1]
            file.create_variable(OWN, ("time", "row"), data=arrays[OWN])
        if OWN_U_DOT in arrays:
            file.dimensions["rate"] = 6
            file.create_variable(OWN_U_DOT, ("time", "body", "rate"), data=arrays[OWN_U_DOT])
        for name in filter(_is_other, arrays):
            extent = {f"{name}_{k}": n for k, n in enumerate(arrays[name].shape[1:])}
            first = contents.axes.get(name, "time")
            for dimension, n in ({first: len(arrays[name])} | extent).items():
                if dimension not in file.dimensions:
                    file.dimensions[dimension] = n
            file.create_variable(name, (first, *extent), data=arrays[name])
    return seal(data.getvalue())


def _read_netcdf(data: bytes) -> Contents:
    h5netcdf = need_module("h5netcdf")
    with h5netcdf.File(io.BytesIO(data), "r") as file:
        sizes = [math.prod(variable.shape) for variable in file.variables.values()]
        _check_length(8 * sum(sizes), data)
        meta, checksum = (_text(file, name) for name in ("meta", "checksum"))
        own = [name for name in file.variables if _is_other(name) and name not in file.dimensions]
        places = {"t": "time", **{name: name for name in (*BODY_VARIABLES, "angles", OWN, OWN_U_DOT, *own)}}
        arrays: dict[str, Any] = {name: np.asarray(file[at][...]) for name, at in places.items() if at in file.variables}
        if "r" in arrays:
            arrays.setdefault("angles", np.zeros((len(arrays.get("t", ())), 0)))
        return Contents(meta, checksum, arrays)


def _is_other(name: str) -> bool:
    """Return whether a variable has dimensions of its own: turns, sensors, and those of chains, impacts and contacts."""
    return name in (TURNS, *CHAIN, *IMPACT, *STEPPED) or name.startswith(SENSOR)


def _check_length(length: int, data: bytes) -> None:
    """Raise UsageError if the contents of a file are far longer than the file: they would fill the memory."""
    if length > max(SMALL, MOST_COMPRESSED * len(data)):
        raise UsageError(
            f"its arrays are of {length / 2**30:.3g} GiB in a file of {len(data) / 2**20:.3g} MiB: such a file is not read"
        )


def _text(file: Any, name: str) -> str | None:
    """Return a text of a NetCDF file, None if there is none."""
    if name not in file.variables:
        return None
    text = np.asarray(file[name][...]).item()  # bytes or str, by the version of h5netcdf
    return text.decode() if isinstance(text, bytes) else str(text)


def need_module(module: str) -> Any:
    """Import a module. Raise UsageError, which says how to install it, if it is missing."""
    try:
        return __import__(module)
    except ImportError as error:
        raise UsageError(f"this needs {module}, which is not installed: pip install {module}, or save as .npz.") from error


def _writer(path: Path) -> Callable[[Contents], bytes]:
    """Return the writer of files with this ending."""
    return {".npz": _write_npz, ".nc": _write_netcdf}[ending_of(path)]


def reader_of(path: Path) -> Callable[[bytes], Contents]:
    """Return the reader of files with this ending."""
    return {".npz": _read_npz, ".nc": _read_netcdf}[ending_of(path)]


def ending_of(path: Path) -> str:
    """Return .npz or .nc. Raise UsageError for another ending."""
    if path.suffix not in (".npz", ".nc"):
        raise UsageError(f"path is {str(path)!r}: a result is a .npz or a .nc (NetCDF-4) file; to_csv writes tables.")
    return path.suffix
