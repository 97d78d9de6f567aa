"""Cells of one topology: variants of a model, as the members of a batch are, in place of a function that builds a system for each cell.

The model is compiled once. Where the parameters of the cells are numbers in its tables, a variant is these tables with other numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haugmbd.batches.direct_tables import direct_tables, member_model
from haugmbd.batches.parameters import read_parameters
from haugmbd.model.model import Model
from haugmbd.simulation.results.io.laws import laws_of


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

    def values(self) -> dict[str, Any]:
        """Return what decides the rows of the cells besides their values, by name: names and numbers of the model, laws of the user."""
        model = self.model
        names = (model.name, model.body_names, tuple(model.joints), tuple(entry.load.where for entry in model.loads))
        numbers = {"names": names, "numbers of the model": (model.tables.ints, model.tables.reals, model.y0)}
        return numbers | {f"law of {where}": law for where, law in laws_of(model).items()}


def _columns(cells: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each path, one for each cell."""
    return {path: [cell[path] for cell in cells] for path in cells[0]}
