"""A model with a fault: what integrators and formulations evaluate is wrong, in this model alone, while the block of its context lasts.

`evaluate`, with which initial states are checked, stays right: otherwise runs with some faults would not begin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from haugmbd.constraints.registry import assemblers
from haugmbd.errors import UsageError
from haugmbd.faults.broken_prepare import BROKEN_PREPARE, WORLD_INERTIA
from haugmbd.model.model import Model
from haugmbd.workspace.layout import Pack, Tables


@dataclass
class Switch:
    """Whether a fault lasts; copies of a broken model share it."""

    on: bool = True


@dataclass(frozen=True, eq=False)
class BrokenModel(Model):
    """A compiled mechanism with one fault.

    Attributes
    ----------
    fault : str
        Name of the fault.
    number : int
        Its number in `broken_prepare`.
    parameter : float
        Its parameter.
    switch : Switch
        Whether it lasts: afterwards the model is right.
    """

    fault: str = ""
    number: int = -1
    parameter: float = 0.0
    switch: Switch = field(default_factory=Switch)

    def __repr__(self) -> str:
        state = f"broken by {self.fault}" if self.switch.on else f"right again after {self.fault}"
        return f"BrokenModel({self.name!r}: {state})"

    def pack(self, tables: Tables | None = None) -> Pack:
        """Return the tables with a new workspace; while the fault lasts, with the broken evaluation and constants of its own."""
        right = super().pack(tables)
        if not self.switch.on:
            return right
        kind = CompiledOnly if self.number == WORLD_INERTIA else Pack
        wrong = kind(*right)
        reals = np.concatenate([right.reals, [float(self.number), self.parameter]])
        return wrong._replace(
            reals=reals,
            prepare=BROKEN_PREPARE,
            prepare_stage=BROKEN_PREPARE,
            fills=assemblers(np.diff(self.tables["ROW_KIND_STARTS"][0])),
        )

    def borrow(self) -> Pack:
        """Return a workspace for `evaluate`, which is right: with it the states are measured at which a run begins."""
        return super().pack()

    def give_back(self, pack: Pack) -> None:
        """Keep no workspace."""

    def evaluator(self) -> Any:
        """Return an evaluator of the right model. Raise UsageError while the fault lasts, because an evaluator would keep it."""
        if self.switch.on:
            raise UsageError(
                f"an evaluator of a model broken by {self.fault} would stay broken after the block: use accelerations."
            )
        return super().evaluator()


class CompiledOnly(Pack):
    """A Pack whose mass matrix changes with the state, which formulations written in Python do not see."""

    def _replace(self, **changes: object) -> Pack:  # type: ignore[override]
        """Return the pack with changes. Raise UsageError for a formulation written in Python."""
        if "python_solver" in changes:
            raise UsageError(
                "world_inertia changes M with the state, and formulations that are written in Python read M once. Use NewtonEuler()."
            )
        return super()._replace(**changes)  # type: ignore[arg-type]


def break_model(model: Model, fault: str, number: int, parameter: float) -> BrokenModel:
    """Return a copy of a model with a fault; tables are shared, and not changed."""
    given = {each.name: getattr(model, each.name) for each in fields(Model)}
    return BrokenModel(**given, fault=fault, number=number, parameter=parameter)
