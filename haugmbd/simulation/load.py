"""load: a result from its file, of the kind that was saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.simulation.results.chain_result import ReducedResult, reduced_result_of
from haugmbd.simulation.results.io.chain_file import REDUCED
from haugmbd.simulation.results.io.checksums import check_seal
from haugmbd.simulation.results.io.results import reader_of
from haugmbd.simulation.results.io.schema import IMPACTS, PLAIN, Contents, checked_meta, result_of
from haugmbd.simulation.results.reading import result_of_segments
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import load_study
from haugmbd.simulation.simulate import run_again
from haugmbd.simulation.simulate_chain import run_chain_again


@check_keywords
def load(path: str | Path, *, model: Model | None = None, allow_code: bool = False) -> Any:
    """Return the result that `result.save` wrote, or the study that its `save` wrote.

    Parameters
    ----------
    path : str or Path
        The file, .npz or .nc of a result, .json of a study.
    model : Model, optional
        The compiled model of the result, which is compared with the file; by default the file's own. It is compiled when it is needed, of a
        motion with impacts at once. The result of a chain needs none.
    allow_code : bool
        Whether functions that the file's model names as "module:function" are imported. Importing executes code: allow it only for
        files that you trust.

    Returns
    -------
    Result or StudyTable
        The stored result; the table of a study.

    Raises
    ------
    UsageError
        If the file does not exist, is damaged or is not a result, if `model` is a different model, or if a motion with impacts has a
        model that the file cannot hold, and `model` is left out. The message names the path.
    """
    if not isinstance(path, str | PathLike):
        raise UsageError(f"load: path is {path!r:.80}, must be the path of a file as str or Path.")
    if model is not None and not isinstance(model, Model):
        raise UsageError(f"load: model is {model!r:.80}, must be the compiled Model of the run: model=system.compile().")
    path = Path(path)
    if path.suffix == ".json":
        return load_study(path)
    read = reader_of(path)
    try:
        data = path.read_bytes()
        check_seal(data)
        contents = read(data)
        result = _result_of_kind(contents, checked_meta(contents, str(path)), model, str(path), allow_code)
        return result.changed(_again=run_chain_again) if isinstance(result, ReducedResult) else replace(result, _again=run_again)
    except UsageError as error:
        raise UsageError(f"{path}: {str(error).rstrip('.')}.") from error.__cause__
    except Exception as error:  # noqa: BLE001  a broken file lets NumPy, zipfile, zlib, HDF5 and json raise anything
        raise UsageError(f"{path} cannot be read as a result: {type(error).__name__}: {error}.") from error


def _result_of_kind(contents: Contents, meta: Mapping[str, Any], model: Model | None, where: str, allow_code: bool) -> Any:
    """Return the result of the kind that the metadata name."""
    kind = meta.get("kind", PLAIN)
    if kind == PLAIN:
        return result_of(contents, meta, model, where, Result, allow_code=allow_code)
    if kind == REDUCED:
        if model is not None:
            raise UsageError(
                "is a motion in joint coordinates, which needs no model. Leave model= out; result.maximal(model) is the same motion in "
                "maximal coordinates"
            )
        return reduced_result_of(contents, meta)
    if kind == IMPACTS:
        return result_of_segments(contents, meta, model, where, allow_code=allow_code)
    raise UsageError(f"holds a {kind!r}, which this version does not know. Update haugmbd")
