"""Cells of one topology: variants of a model, as the members of a batch are, in place of a function that builds a system for each cell.

The model is compiled once. Where the parameters of the cells are numbers in its tables, a variant is these tables with other numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from haugmbd.batches.direct_tables import direct_tables, member_model
from haugmbd.batches.parameters import read_parameters
from haugmbd.batches.variant import user_functions
from haugmbd.model.model import Model


class Variants:
    """The `build` of a sweep over a model: variants(**cell) is the model with the values of the cell, by their paths."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"variants of model {self.model.name!r}"

    def __call__(self, **cell: Any) -> Model:
        parameters = read_parameters(self.model, _columns([cell]), None, "sweep")
        tables = direct_tables(self.model, parameters) if parameters else None
        return member_model(self.model, parameters, tables, 0)

    def check(self, cells: Sequence[Mapping[str, Any]]) -> None:
        """Raise UsageError, with all faults, for paths that the model does not have, and for values of another shape."""
        if cells:
            read_parameters(self.model, _columns(cells), None, "sweep")

    def parts(self) -> tuple[str, list[Any]]:
        """Return the digest of what is compiled, and the functions of the user: both decide the rows of the cells."""
        model, hashed = self.model, hashlib.sha256(self.model.name.encode())
        for array in (model.tables.ints, model.tables.reals, model.y0):
            hashed.update(array.tobytes())
        return hashed.hexdigest(), list(user_functions(model))


def _columns(cells: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each path, one for each cell."""
    return {path: [cell[path] for cell in cells] for path in cells[0]}
