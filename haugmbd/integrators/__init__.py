"""How the state moves: integrators, and the stabilizations that end their steps."""

from haugmbd.integrators.baumgarte import Baumgarte
from haugmbd.integrators.dormand_prince import DormandPrince
from haugmbd.integrators.free import Unstabilized
from haugmbd.integrators.projection import Projection
from haugmbd.integrators.rk4 import RK4

__all__ = ["RK4", "Baumgarte", "DormandPrince", "Projection", "Unstabilized"]
