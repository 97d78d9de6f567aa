r"""The model of a result in its file: written as the document of a model file, and compiled again when it is needed.

The package of model files is imported by name at the call, because it stands above this one.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.errors import HaugmbdError, LockedModelWarning, ModelError, ModelFileError, UsageError
from haugmbd.formats import view
from haugmbd.model.dependent_rows import DropDependentRows, MinimumNorm
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.redundancy import redundant_at
from haugmbd.simulation.results.io.laws import law_digests
from haugmbd.simulation.results.io.schema import check_model
from haugmbd.simulation.results.records import Names
from haugmbd.tolerances import DEPENDENT

DRIVERS = "constants of the drivers"
"""Not compared: a driver that two parts share is one driver in the model that was saved, and two in the one that is read."""
RULES = {rule.__name__: rule for rule in (DropDependentRows, MinimumNorm)}


def carry(model: Model) -> dict[str, Any]:
    """Return the contents of a model for a file: its document, and how it was compiled; or why there is none."""
    try:
        document = view("document of a model")(model)
    except ModelFileError as error:
        return {"why": f"it could not be written: {'; '.join(f'{fault.where}: {fault.what}' for fault in error.faults)}"}
    return {"document": document, "rule": type(model.redundancy.rule).__name__, "tolerance": model.redundancy.given}


def restore(
    carried: Mapping[str, Any],
    where: str,
    names: Names,
    numbers: Mapping[str, Array] | None,
    laws: Mapping[str, str] | None,
    ny: int,
    first: State | None,
) -> Model:
    """Return the compiled model of a file. Raise UsageError, with the reason, if it cannot be had.

    ny: length of a flat state;  first: the first state of the result, if it has one
    """
    if "document" not in carried:
        raise UsageError(str(carried.get("why", "the file has none")))
    try:
        read = view("system of a document")
        system = read(carried["document"], where, allow_code=bool(carried.get("allow_code")))
        rule, tolerance = RULES[carried["rule"]](), _tolerance(carried["tolerance"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LockedModelWarning)  # the run has warned
            try:
                model: Model = system.compile(redundancy=rule, tolerance=tolerance)
            except ModelError:  # kinematics closes the modelled pose first; other faults are found again
                model = system.compile(check_pose=False, redundancy=rule, tolerance=tolerance)
                model = redundant_at(model, first) if model.nc and first is not None else model
        known = law_digests(model) if laws is None else laws  # an older file: the document has the laws
        check_model(model, names, {what: table for what, table in (numbers or {}).items() if what != DRIVERS}, ny, known)
    except HaugmbdError as error:
        raise UsageError(str(error)) from None
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{where} has a model that cannot be read: {type(error).__name__}: {error}.") from None
    return model


def _tolerance(written: Any) -> float | None:
    """Return the tolerance with which the model was compiled, None for the default, which earlier files have as a number."""
    return None if written is None or float(written) == DEPENDENT else float(written)
