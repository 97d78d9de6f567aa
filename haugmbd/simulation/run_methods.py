"""The methods of a run, which its result keeps: by them the run can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from haugmbd.contact.impact_laws import ImpactLaw
from haugmbd.formulations import Formulation, NewtonEuler
from haugmbd.integrators import Projection
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.dependent_rows import Rule

NEWTON_EULER, PROJECTION = NewtonEuler(), Projection()
"""Default formulation and default stabilization of a system."""


@dataclass(frozen=True)
class RunMethods:
    """The methods of a run.

    redundancy: the rule for multipliers of dependent rows, None for that of the model;  impact: the law of impacts, None for the default
    """

    integrator: Integrator
    formulation: Formulation = NEWTON_EULER
    stabilization: Stabilization | None = PROJECTION
    redundancy: Rule | None = None
    impact: ImpactLaw | None = None

    @property
    def texts(self) -> dict[str, str]:
        """The methods as text, for the settings of a result."""
        impact = {} if self.impact is None else {"impact": repr(self.impact)}
        return {
            "formulation": _text(self.formulation),
            "integrator": repr(self.integrator),
            "stabilization": _text(self.stabilization),
            **impact,
        }


@cache
def _texts_of_defaults() -> dict[int, str]:
    """Return the defaults as text, by their ids."""
    return {id(one): repr(one) for one in (NEWTON_EULER, PROJECTION)}


def _text(method: object) -> str:
    """Return a method as text."""
    known = _texts_of_defaults().get(id(method))
    return repr(method) if known is None else known
