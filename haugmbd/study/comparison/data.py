"""A comparison as an xarray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.errors import UsageError
from haugmbd.study.comparison.measures import LEVELS, TEXTS
from haugmbd.study.comparison.rows import ComparisonRows

if TYPE_CHECKING:
    import xarray


def dataset_of(comparison: ComparisonRows) -> xarray.Dataset:
    """Return the columns over `label`, and the largest violation of each joint over `label` and `joint`.

    Attributes of a column of errors are its uncertainty and its scale.
    """
    try:
        import xarray as xr  # noqa: PLC0415  only where it is used
    except ImportError as error:
        raise UsageError("to_xarray needs xarray, which is not installed: pip install xarray.") from error
    scales = {} if comparison.reference is None else comparison.reference.scales
    variables: dict[str, Any] = {}
    for name in comparison.columns:
        values = comparison.column(name)
        known = {"uncertainty": comparison.uncertainty(name), "scale": scales.get(name[6:-4], np.nan)}
        attributes = known if name.startswith("error_") else {}
        variables[name] = (("label",), np.array(values, dtype=str if name in TEXTS else np.float64), attributes)
    joints = list(comparison.model.joints)
    for level in LEVELS:
        by_joint = [[one.by_joint.get(level, {}).get(joint, np.nan) for joint in joints] for one in comparison.measures.values()]
        variables[f"violation_{level}_by_joint"] = (("label", "joint"), np.array(by_joint).reshape(len(by_joint), len(joints)))
    reference = "none" if comparison.reference is None else comparison.reference.name
    facts: dict[str, Any] = {
        "model": comparison.model.name,
        "t_start": comparison.t_start,
        "t_end": comparison.t_end,
        "reference": reference,
    }
    made: xarray.Dataset = xr.Dataset(variables, {"label": list(comparison.labels), "joint": joints}, facts)
    return made
