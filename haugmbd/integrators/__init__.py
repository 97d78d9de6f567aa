"""How the state moves: integrators, and the stabilizations that end their steps."""

from haugmbd.integrators.baumgarte import Baumgarte
from haugmbd.integrators.dormand_prince import DormandPrince
from haugmbd.integrators.events import Event, EventRecord
from haugmbd.integrators.free import Unstabilized
from haugmbd.integrators.implicit.generalized_alpha import GeneralizedAlpha
from haugmbd.integrators.projection import Projection
from haugmbd.integrators.rk4 import RK4
from haugmbd.integrators.scipy_solver import SciPySolver, ode_function

__all__ = [
    "RK4",
    "Baumgarte",
    "DormandPrince",
    "Event",
    "EventRecord",
    "GeneralizedAlpha",
    "Projection",
    "SciPySolver",
    "Unstabilized",
    "ode_function",
]
