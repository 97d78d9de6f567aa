r"""Files and views: what stands above a class, and is a method of it.  Two tables, of which each entry is imported when it is asked for.

    VIEWS     methods of systems, models and results: pictures, plots, evaluators
    MODELS    everything that reads or writes a system by the ending of a file

    system.save, load_model, `haugmbd convert`, and MODEL of every command            ask this table, and hold none of their own

An entry names a function as "module:function", which is imported when a file of that kind is met: this module stands below all others,
and the command line knows the endings at once.  A new format is a module with its reader or its writer, and one entry here:

    reader(path, *, tolerance=None, **options) -> System            options: those of the command line that the entry lists
    writer(system, path, *, leave_out=False)   -> Path, or Export       leave_out= is passed only if the entry says that it can lose parts
    recognizes(path) -> bool                                        for a format that shares its ending with another one
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NamedTuple


class Format(NamedTuple):
    """A format of files that hold a system.

    Attributes
    ----------
    suffixes : tuple of str
        Its endings; it is written with the first one.
    says : str
        Its files in messages, in the plural.
    reader, writer, recognizes : str
        Functions as "module:function"; "" for none.
    public : str
        Name of the reader for users: mbd.read_urdf.
    options : tuple of str
        Options of the command line that the reader takes: loops, length, allow_code, parameters (--set).
    partial : bool
        Whether the writer has leave_out=, because the format cannot hold every system.
    left_out : tuple of str
        What the format never holds.
    """

    suffixes: tuple[str, ...]
    says: str
    reader: str = ""
    writer: str = ""
    recognizes: str = ""
    public: str = ""
    options: tuple[str, ...] = ()
    partial: bool = False
    left_out: tuple[str, ...] = ()


JSON, TOML, PYTHON = ".json", ".toml", ".py"
"""Endings of model files, and of the only files that are executed."""
MODELS = (
    Format(
        (JSON,),
        "model files",
        "haugmbd.modelfile:load_model",
        "haugmbd.modelfile:save_model",
        public="mbd.load_model",
        options=("allow_code", "parameters"),
    ),
    Format(
        (TOML,),
        "model files, written by hand",
        "haugmbd.modelfile:load_model",
        public="mbd.load_model",
        options=("allow_code", "parameters"),
    ),
    Format(
        (".urdf", ".xacro"),
        "robot files",
        "haugmbd.modelfile.urdf:read_urdf",
        "haugmbd.modelfile.urdf:write_urdf",
        public="mbd.read_urdf",
        options=("loops", "allow_code"),
        partial=True,
    ),
    Format(
        (".xml", ".mjcf"),
        "models of MuJoCo",
        "haugmbd.modelfile.mjcf:read_mjcf",
        "haugmbd.modelfile.mjcf:write_mjcf",
        public="mbd.read_mjcf",
        partial=True,
    ),
    Format(
        (".sdf", ".world"),
        "models and worlds of SDFormat",
        "haugmbd.modelfile.sdf:read_sdf",
        "haugmbd.modelfile.sdf_write:write_sdf",
        public="mbd.read_sdf",
        partial=True,
    ),
    Format(
        (".asmt",),
        "assemblies",
        "haugmbd.modelfile.asmt:read_asmt",
        "haugmbd.modelfile.asmt:write_asmt",
        public="mbd.read_asmt",
        options=("length",),
        partial=True,
    ),
    Format(
        (".FCStd", ".fcstd"),
        "documents of FreeCAD",
        "haugmbd.modelfile.fcstd:read_fcstd",
        public="mbd.read_fcstd",
    ),
    Format(
        (".usda", ".usd", ".usdc", ".usdz"),
        "stages of Universal Scene Description",
        "haugmbd.modelfile.usd:read_usd",
        public="mbd.read_usd",
    ),
    Format(
        (".mdl", JSON),
        "models of simEngine3D",
        "haugmbd.modelfile.simengine3d:read_simengine3d",
        recognizes="haugmbd.modelfile.simengine3d:is_simengine3d",
        public="mbd.read_simengine3d",
    ),
    Format(
        (".fmu",),
        "units for co-simulation",
        writer="haugmbd.fmu:to_fmu",
        left_out=(
            "shapes and colours: an .fmu is the motion, for other tools; system.to_fmu(...) chooses inputs, outputs and step",
        ),
    ),
    Format(
        (".glb",),
        "scenes",
        writer="haugmbd.viewer:to_gltf",
        left_out=("masses, joints, forces and velocities: a .glb is a picture of the modelled pose",),
    ),
)
"""Every format of a system."""
VIEWS = {
    "plots": "haugmbd.plotting",
    "animate": "haugmbd.viewer:animate",
    "film": "haugmbd.viewer:film",
    "live": "haugmbd.interactive:live",
    "notebook": "haugmbd.viewer:notebook",
    "picture": "haugmbd.viewer:picture",
    "snapshot": "haugmbd.viewer:snapshot",
    "to_fmu": "haugmbd.fmu:to_fmu",
    "to_gltf": "haugmbd.viewer:to_gltf",
    "to_vtk": "haugmbd.viewer.vtk:to_vtk",
    "to_mcap": "haugmbd.viewer.recordings:to_mcap",
    "to_rerun": "haugmbd.viewer.recordings:to_rerun",
    "evaluator": "haugmbd.formulations.evaluator:Evaluator",
    "document of a model": "haugmbd.modelfile:model_document",
    "system of a document": "haugmbd.modelfile:system_of_document",
    "copies of a system": "haugmbd.modelfile.assembled:copy_into",
    "text of a shape": "haugmbd.modelfile.parts.shapes:shape_text",
    "shapes of a text": "haugmbd.modelfile.parts.shapes:shapes_of",
    "contradictions when closed": "haugmbd.analysis.assembly.assemble:contradictions_when_closed",
}
"""What systems, models, results and their files call of the packages above them, by the name that they call it by."""
SUFFIXES = (JSON, TOML)
"""Of model files."""
PAGES = (".html", ".htm")
"""Of pages for a browser."""
RESULTS = (".npz", ".nc", ".csv")
"""Of results; a table of numbers, .csv, is not read again."""
PICTURES = (".png", ".jpg", ".jpeg", ".pdf", ".svg")
"""Of pictures of a mechanism."""
FILMS = (".gif", ".mp4", ".webm")
"""Of films of a motion."""
PLOTS = (".png", ".pdf", ".svg", ".eps", ".ps", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
"""Of plots."""


def read_suffixes() -> tuple[str, ...]:
    """Return the endings of files that hold a system, each once."""
    return tuple(dict.fromkeys(suffix for each in MODELS if each.reader for suffix in each.suffixes))


def written_suffixes() -> tuple[str, ...]:
    """Return the endings of files that a system is written to."""
    return tuple(each.suffixes[0] for each in MODELS if each.writer)


def reader_of(path: Path) -> Format | None:
    """Return the format that reads a file; None if there is none. Of several with its ending one that recognizes the file is first."""
    readers = [each for each in MODELS if each.reader and path.suffix in each.suffixes]
    if len(readers) == 1:
        return readers[0]
    recognized = (each for each in readers if each.recognizes and named(each.recognizes)(path))
    return next(recognized, next((each for each in readers if not each.recognizes), None))


def writer_of(suffix: str) -> Format | None:
    """Return the format that is written to files of an ending; None if there is none."""
    return next((each for each in MODELS if each.writer and each.suffixes[0] == suffix), None)


def named(function: str) -> Any:
    """Return the function "module:function", or the module "module"."""
    module, _, name = function.partition(":")
    imported = importlib.import_module(module)
    return getattr(imported, name) if name else imported


def view(name: str) -> Any:
    """Return the function, class or module that is `name` in `VIEWS`."""
    return named(VIEWS[name])


def read(entry: Format, path: Path, tolerance: float | None, **options: Any) -> Any:
    """Return the system of a file;  options: those that the reader takes, None for its default."""
    given = {name: value for name, value in options.items() if name in entry.options and value is not None}
    return named(entry.reader)(path, tolerance=tolerance, **given)


def write(entry: Format, system: Any, path: Path, *, leave_out: bool = False) -> Any:
    """Write a system to a file; return what the writer returns, the path or an Export."""
    return named(entry.writer)(system, path, **({"leave_out": leave_out} if entry.partial else {}))
