"""All formulations with their options, and those of them whose multipliers are exact."""

from __future__ import annotations

import haugmbd as mbd
from haugmbd import Formulation
from haugmbd.formulations import FORMULATIONS
from haugmbd.formulations.base import Multipliers

VARIANTS: tuple[Formulation, ...] = (*(kind() for kind in FORMULATIONS), mbd.NullSpace(mbd.SVD()))

EXACT = tuple(f for f in VARIANTS if f.multipliers is not Multipliers.APPROXIMATE and not isinstance(f, mbd.NewtonEuler))
