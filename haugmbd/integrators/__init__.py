"""How the state moves: integrators, and the stabilizations that end their steps."""

from haugmbd.integrators.baumgarte import Baumgarte
from haugmbd.integrators.crouch_grossman import CrouchGrossman3
from haugmbd.integrators.dop853 import DOP853
from haugmbd.integrators.dormand_prince import DormandPrince
from haugmbd.integrators.energy_projection import EnergyProjection
from haugmbd.integrators.events import Event, EventRecord
from haugmbd.integrators.free import Unstabilized
from haugmbd.integrators.half_explicit import HalfExplicit
from haugmbd.integrators.heun import Heun
from haugmbd.integrators.implicit.bdf import BDF
from haugmbd.integrators.implicit.generalized_alpha import GeneralizedAlpha
from haugmbd.integrators.implicit.generalized_alpha_r7 import GeneralizedAlphaR7
from haugmbd.integrators.implicit.hht import HHT
from haugmbd.integrators.implicit.level import GGL, HillerAnantharaman, Index2, Index3
from haugmbd.integrators.implicit.newmark import Newmark
from haugmbd.integrators.implicit.newton import FullNewton, QuasiNewton
from haugmbd.integrators.implicit.radau import RadauIIA
from haugmbd.integrators.implicit.trapezoidal import Trapezoidal
from haugmbd.integrators.munthe_kaas import RKMK4
from haugmbd.integrators.plain_projection import PlainProjection
from haugmbd.integrators.projection import Projection
from haugmbd.integrators.rattle import RATTLE
from haugmbd.integrators.rk3 import RK3
from haugmbd.integrators.rk4 import RK4
from haugmbd.integrators.scipy_solver import SciPySolver, ode_function
from haugmbd.integrators.semi_implicit_euler import SemiImplicitEuler
from haugmbd.integrators.stabilization import Stabilization

__all__ = [
    "FullNewton",
    "QuasiNewton",
    "RATTLE",
    "RadauIIA",
    "HalfExplicit",
    "DOP853",
    "CrouchGrossman3",
    "RK3",
    "BDF",
    "GGL",
    "HHT",
    "HillerAnantharaman",
    "Index2",
    "Index3",
    "Newmark",
    "Trapezoidal",
    "RK4",
    "RKMK4",
    "Baumgarte",
    "DormandPrince",
    "EnergyProjection",
    "Event",
    "EventRecord",
    "GeneralizedAlpha",
    "GeneralizedAlphaR7",
    "Heun",
    "PlainProjection",
    "Projection",
    "SciPySolver",
    "SemiImplicitEuler",
    "Stabilization",
    "Unstabilized",
    "ode_function",
]
