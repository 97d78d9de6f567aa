"""Meshes, height fields, textures and skins whose files are not there: a motion does not need them where they give no mass.

MuJoCo opens every file that a model names. Bodies with an <inertial> have mass and inertia from it, and geoms of meshes are not drawn here:
such a mesh becomes a tetrahedron that nothing asks for. A mesh that gives a body its mass, or a geom its size, is refused by name.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from haugmbd.errors import Fault

POINTS, FACES = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
"""Of a tetrahedron."""
PIXELS, SIDES = 8, 6
"""Of a texture of one colour: its width, and the squares above each other of a cube."""
SHOWN = 3
"""Names of files in a message; the others are counted."""
FROM_ALL_GEOMS = 1
"""mjtInertiaFromGeom: masses of all bodies are those of their geoms, whatever their <inertial> says."""


class WithoutFiles(NamedTuple):
    """A model without the files that are not there, None where there is none or where it needs one; notes, and faults by name."""

    model: Any
    note: str
    faults: list[Fault]


def compile_without(mujoco: ModuleType, path: Path) -> WithoutFiles:
    """Return the compiled model of a file without the files that it names and that are not there. MuJoCo's errors pass."""
    spec = mujoco.MjSpec.from_file(str(path))
    absent = [
        asset for kind in ("meshes", "hfields", "textures", "skins") for asset in getattr(spec, kind) if _is_absent(asset, spec)
    ]
    if not absent:
        return WithoutFiles(None, "", [])
    meshes = {str(asset.name): str(asset.file) for asset in absent if asset in list(spec.meshes)}
    faults = [fault for body in spec.bodies for fault in _needs(mujoco, spec, body, meshes)]
    if faults:
        return WithoutFiles(None, "", faults)
    files = [str(asset.file) for asset in absent]
    for asset in absent:
        _replace(mujoco, spec, asset)
    more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    note = f"files that are not there, of which no mass depends ({len(files)}): {', '.join(files[:SHOWN])}{more}"
    return WithoutFiles(spec.compile(), note, [])


def _is_absent(asset: Any, spec: Any) -> bool:
    """Return whether an asset names a file that is in none of the folders of the model."""
    name = str(getattr(asset, "file", "") or "").replace("\\", "/")
    if not name:
        return False
    own = getattr(asset, "compiler", None)
    dirs = {str(getattr(part, key, "") or "") for part, key in product((spec, own), ("meshdir", "texturedir"))} | {""}
    folders = [Path(str(spec.modelfiledir)) / text for text in dirs]
    return not any((folder / text).is_file() for folder in folders for text in (name, Path(name).name))


def _needs(mujoco: ModuleType, spec: Any, body: Any, meshes: dict[str, str]) -> list[Fault]:
    """Return a fault for each geom of a body whose mass or size depends on a mesh that is not there."""
    from_geoms = int(spec.compiler.inertiafromgeom) == FROM_ALL_GEOMS or not body.explicitinertial
    low, high = (int(x) for x in spec.compiler.inertiagrouprange)
    faults = []
    for geom in body.geoms:
        name = str(geom.meshname or "")
        if name not in meshes:
            continue
        weighs = from_geoms and body.name != "world" and low <= int(geom.group) <= high and _has_mass(geom)
        fitted = geom.type != mujoco.mjtGeom.mjGEOM_MESH
        if weighs or fitted:
            gives = f"body {str(body.name)!r} has its mass from it" if weighs else "a geom has its size from it"
            remedy = (
                "Put the file there, or give the body an <inertial>."
                if weighs
                else "Put the file there, or give the geom its size."
            )
            faults.append(Fault(f"mesh {name!r}", f"its file {meshes[name]!r} is not there, and {gives}", remedy))
    return faults


def _has_mass(geom: Any) -> bool:
    """Return whether a geom has a mass; NaN stands for that of its density."""
    return bool(geom.density != 0.0 if np.isnan(geom.mass) else geom.mass != 0.0)


def _replace(mujoco: ModuleType, spec: Any, asset: Any) -> None:
    """Give an asset data of its own in the place of its file; a skin goes."""
    if asset in list(spec.meshes):
        asset.file, asset.uservert, asset.userface = "", POINTS, FACES
    elif asset in list(spec.hfields):
        asset.file, asset.nrow, asset.ncol, asset.userdata = "", 2, 2, [0.0, 0.0, 0.0, 0.0]
    elif asset in list(spec.textures):
        flat = asset.type == mujoco.mjtTexture.mjTEXTURE_2D
        asset.file, asset.builtin = "", mujoco.mjtBuiltin.mjBUILTIN_FLAT
        asset.width, asset.height = PIXELS, PIXELS if flat else SIDES * PIXELS
    else:
        spec.delete(asset)
