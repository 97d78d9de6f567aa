r"""to_mcap, to_rerun: a motion as a recording, for Foxglove and other programs of MCAP (.mcap), and for Rerun (.rrd).

    MCAP     /tf       foxglove.FrameTransforms:  the pose of each body against the frame "world", at every instant
             /scene    foxglove.SceneUpdate, at the first instant:  the triangles of each body, in its frame
             /motion   position, velocity and angular velocity of each body, global, at every instant
    Rerun    world/NAME           Transform3D in time, and Mesh3D
             velocity/NAME, angular_velocity/NAME     three numbers in time, global

Times are those of the motion: nanoseconds in MCAP, the timeline "time" in Rerun.
Source: the MCAP format specification; Foxglove's schemas (JSON); Rerun's logging of columns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.viewer.animate import maximal, mechanism_of
from haugmbd.viewer.frames import Seen, frames_of
from haugmbd.viewer.gltf import COLORS, STEEL
from haugmbd.viewer.scene import size_of
from haugmbd.viewer.shapes import shapes_of, triangles_of

NANO = 10**9
WORLD = "world"
"""The frame of the ground."""
NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
"""A schema of named numbers, such as x, y, z."""
SCHEMAS = {
    "foxglove.FrameTransforms": {
        "type": "object",
        "properties": {
            "transforms": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "timestamp": NUMBERS,
                        "parent_frame_id": {"type": "string"},
                        "child_frame_id": {"type": "string"},
                        "translation": NUMBERS,
                        "rotation": NUMBERS,
                    },
                },
            }
        },
    },
    "foxglove.SceneUpdate": {
        "type": "object",
        "properties": {
            "deletions": {"type": "array", "items": {"type": "object"}},
            "entities": {"type": "array", "items": {"type": "object"}},
        },
    },
    "haugmbd.Motion": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": NUMBERS}},
}


class Shown:
    """A motion as recordings show it: names of bodies, times (nt,), poses and global velocities (nt, nb, .), meshes and colours."""

    def __init__(self, result: Seen, frames: int | None) -> None:
        seen = maximal(result)[0]
        mechanism, drawn = mechanism_of(seen), frames_of(seen, frames)
        self.names = [str(name) for name in mechanism.bodies]
        self.t, self.r, self.p = drawn.t, drawn.r, drawn.p
        omega = np.einsum("tkij,tkj->tki", rotation_matrix(seen.p), seen.omega_bar)
        self.v, self.omega = (_between(seen.t, x, drawn.t) for x in (seen.v, omega))
        shapes = shapes_of(mechanism, size_of(mechanism, drawn.r[0], drawn.p[0]))
        self.meshes = [
            [(triangles_of(shape).reshape(-1, 3), _color(shape.color, k)) for shape in own] for k, own in enumerate(shapes)
        ]
        g = np.asarray(mechanism.gravity)
        axis = int(np.argmax(np.abs(g))) if g.any() else 2
        self.up = f"{'XYZ'[axis]}_{'UP' if g[axis] <= 0.0 else 'DOWN'}"


def to_mcap(result: Seen, path: str | Path, *, frames: int | None = None) -> Path:
    """Write the motion as an MCAP recording, for Foxglove.

    Parameters
    ----------
    result : Result
        The motion, with its model.
    path : str or Path
        The file, .mcap.
    frames : int, optional
        Number of instants, at equal steps of time; by default as in `animate`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If `result` is not a result, or begins before t = 0, frames is not valid, the ending is not .mcap, the file cannot be written, or
        the package mcap is not installed (the extra `mcap`).
    """
    where = _checked(path, ".mcap")
    try:
        from mcap.writer import Writer  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError(
            "MCAP is written by the package mcap, which is not installed: pip install mcap, or haugmbd[mcap]."
        ) from None
    shown = Shown(result, frames)
    if shown.t[0] < 0.0:
        raise UsageError(f"the motion begins at t = {shown.t[0]:g} s, and an MCAP recording has no times before 0.")
    try:
        with replace_file(where) as file:
            writer = Writer(file)
            writer.start(profile="", library="haugmbd")
            channels = {}
            for topic, name in (
                ("/tf", "foxglove.FrameTransforms"),
                ("/scene", "foxglove.SceneUpdate"),
                ("/motion", "haugmbd.Motion"),
            ):
                schema = writer.register_schema(name=name, encoding="jsonschema", data=json.dumps(SCHEMAS[name]).encode())
                channels[topic] = writer.register_channel(topic=topic, message_encoding="json", schema_id=schema)
            for n, t in enumerate(shown.t):
                time = round(float(t) * NANO)
                messages = {"/tf": _transforms(shown, n, time), "/motion": _motion(shown, n)}
                messages |= {"/scene": _scene(shown, time)} if n == 0 else {}
                for topic, message in messages.items():
                    data = json.dumps(message).encode()
                    writer.add_message(channel_id=channels[topic], log_time=time, publish_time=time, sequence=n, data=data)
            writer.finish()  # type: ignore[no-untyped-call, unused-ignore]
    except OSError as error:
        raise unwritable(where, error) from None
    return where


def to_rerun(result: Seen, path: str | Path, *, frames: int | None = None) -> Path:
    """Write the motion as a recording of Rerun.

    Parameters
    ----------
    result : Result
        The motion, with its model.
    path : str or Path
        The file, .rrd.
    frames : int, optional
        Number of instants, at equal steps of time; by default as in `animate`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If `result` is not a result, frames is not valid, the ending is not .rrd, the file cannot be written, or the package rerun-sdk is
        not installed (the extra `rerun`).
    """
    where = _checked(path, ".rrd")
    try:
        import rerun as rr  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError(
            "Recordings of Rerun need rerun-sdk, which is not installed: pip install rerun-sdk, or haugmbd[rerun]."
        ) from None
    shown = Shown(result, frames)
    try:
        with replace_file(where) as file:
            recording = rr.RecordingStream("haugmbd")
            stream = recording.binary_stream()  # type: ignore[misc, unused-ignore]
            _log(rr, recording, shown)
            data = stream.read()
            file.write(data or b"")
    except OSError as error:
        raise unwritable(where, error) from None
    return where


def _checked(path: str | Path, ending: str) -> Path:
    """Return the path. Raise UsageError unless it has the ending."""
    where = path_of(path)
    if where.suffix.lower() != ending:
        raise UsageError(f"{str(where)!r} ends with {where.suffix!r}: give a name that ends with {ending}.")
    return where


def _between(t: Array, x: Array, at: Array) -> Array:
    """Return vectors of bodies (nt, nb, 3) between states, linear in time."""
    flat = x.reshape(len(x), -1)
    return np.stack([np.interp(at, t, flat[:, k]) for k in range(flat.shape[1])], axis=1).reshape(len(at), *x.shape[1:])


def _color(text: str, body: int) -> tuple[int, int, int]:
    """Return the colour of a shape, or that of its body; the ground is grey."""
    if text:
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
    return COLORS[(body - 1) % len(COLORS)] if body else STEEL


# ------------------------------------------------------------------------------------------------------------------- MCAP


def _xyz(x: Any) -> dict[str, float]:
    return dict(zip("xyz", map(float, x), strict=True))


def _stamp(time: int) -> dict[str, int]:
    return {"sec": time // NANO, "nsec": time % NANO}


def _frame(shown: Shown, k: int) -> str:
    return shown.names[k] if k else WORLD


def _turn(p: Any) -> dict[str, float]:
    """Return Euler parameters as x, y, z, w."""
    return dict(zip("wxyz", map(float, p), strict=True))


def _transforms(shown: Shown, n: int, time: int) -> dict[str, Any]:
    """Return the poses of the bodies at an instant."""
    return {
        "transforms": [
            {
                "timestamp": _stamp(time),
                "parent_frame_id": WORLD,
                "child_frame_id": _frame(shown, k),
                "translation": _xyz(shown.r[n, k]),
                "rotation": _turn(shown.p[n, k]),
            }
            for k in range(1, len(shown.names))
        ]
    }


def _motion(shown: Shown, n: int) -> dict[str, Any]:
    """Return position, velocity and angular velocity of each body, global."""
    return {
        name: {"r": _xyz(shown.r[n, k]), "v": _xyz(shown.v[n, k]), "omega": _xyz(shown.omega[n, k])}
        for k, name in enumerate(shown.names)
        if k
    }


def _scene(shown: Shown, time: int) -> dict[str, Any]:
    """Return the triangles of all bodies, each in its frame."""
    empty: dict[str, list[Any]] = {
        kind: [] for kind in ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models", "metadata")
    }
    entities = []
    for k, own in enumerate(shown.meshes):
        triangles = [
            {
                "pose": {"position": _xyz((0, 0, 0)), "orientation": _turn((1, 0, 0, 0))},
                "points": [_xyz(x) for x in corners],
                "color": {**dict(zip("rgb", (c / 255.0 for c in color), strict=True)), "a": 1.0},
                "colors": [],
                "indices": [],
            }
            for corners, color in own
        ]
        head = {"timestamp": _stamp(time), "frame_id": _frame(shown, k), "id": shown.names[k], "frame_locked": True}
        entities.append({**head, "lifetime": {"sec": 0, "nsec": 0}, **empty, "triangles": triangles})
    return {"deletions": [], "entities": entities}


# ------------------------------------------------------------------------------------------------------------------- Rerun


def _log(rr: Any, recording: Any, shown: Shown) -> None:
    """Log meshes once, poses and velocities as columns over time."""
    recording.log(WORLD, getattr(rr.ViewCoordinates, f"RIGHT_HAND_{shown.up}"), static=True)
    times = [rr.TimeColumn("time", duration=np.asarray(shown.t, dtype=np.float64))]
    for k, name in enumerate(shown.names):
        path = rr.escape_entity_path_part(name)
        for n, (corners, color) in enumerate(shown.meshes[k]):
            mesh = rr.Mesh3D(vertex_positions=corners, albedo_factor=[*color, 255])
            recording.log(f"{WORLD}/{path}/{n}", mesh, static=True)
        if k:
            poses = rr.Transform3D.columns(translation=shown.r[:, k], quaternion=shown.p[:, k][:, [1, 2, 3, 0]])
            rr.send_columns(f"{WORLD}/{path}", times, poses, recording=recording)
            for kind, x in (("velocity", shown.v), ("angular_velocity", shown.omega)):
                numbers = rr.Scalars.columns(scalars=x[:, k].ravel()).partition(np.full(len(shown.t), 3))
                rr.send_columns(f"{kind}/{path}", times, numbers, recording=recording)
