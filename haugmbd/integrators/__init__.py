"""Integrators, and the stabilizations of explicit methods.

step_context          the interface of explicit integrators: routines, options, counters
step_batch            accepted states, returned in batches
dense_output          states between steps
state_space           the state of bodies as a vector that integrators advance
singularities         singular configurations: how a run finds them, and crosses them
watches               what compiled code looks at in every step: dependent rows, events
base                  base classes of integrators
default_number        default numbers, as distinct from given ones
events                events and their records
event_location        finding and locating events
leaps                 gaps that a step leaps over
stick_slip            events at which joints with friction stick and slip
initial_state         initial states: checked or projected
chain_state_space     serial chains as vectors that integrators advance, and their rates
stabilization         Baumgarte, projections
explicit              explicit methods
moreau_jean           Moreau-Jean: time stepping for contacts with friction, order 2 without
rattle                RATTLE: symplectic, order 2, positions and velocities on the constraints
hem4                  HEM4: half-explicit Runge-Kutta, order 4, velocities on the constraints
implicit              generalized-alpha, BDF, Radau IIA
"""

from haugmbd.integrators.events import Event, EventRecord
from haugmbd.integrators.explicit.dop853 import DOP853
from haugmbd.integrators.explicit.dormand_prince import DormandPrince
from haugmbd.integrators.explicit.heun import Heun
from haugmbd.integrators.explicit.lie import RKMK4, CrouchGrossman3
from haugmbd.integrators.explicit.rk3 import RK3
from haugmbd.integrators.explicit.rk4 import RK4
from haugmbd.integrators.explicit.scipy_solver import SciPySolver, ode_function
from haugmbd.integrators.explicit.semi_implicit_euler import SemiImplicitEuler
from haugmbd.integrators.hem4 import HEM4
from haugmbd.integrators.implicit.bdf import BDF
from haugmbd.integrators.implicit.constraint_form import GGL, HillerAnantharaman, Index2, Index3
from haugmbd.integrators.implicit.generalized_alpha import HHT, GeneralizedAlpha, Newmark
from haugmbd.integrators.implicit.generalized_alpha_r7 import GeneralizedAlphaR7
from haugmbd.integrators.implicit.newton import FullNewton, ModifiedNewton
from haugmbd.integrators.implicit.radau import RadauIIA
from haugmbd.integrators.implicit.trapezoidal import Trapezoidal
from haugmbd.integrators.moreau_jean import MoreauJean
from haugmbd.integrators.rattle import RATTLE
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.stabilization.baumgarte import Baumgarte
from haugmbd.integrators.stabilization.energy_projection import EnergyProjection
from haugmbd.integrators.stabilization.none import Unstabilized
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.stabilization.unweighted_projection import UnweightedProjection

__all__ = [
    "FullNewton",
    "ModifiedNewton",
    "MoreauJean",
    "RATTLE",
    "RadauIIA",
    "HEM4",
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
    "UnweightedProjection",
    "Projection",
    "SciPySolver",
    "SemiImplicitEuler",
    "Stabilization",
    "Unstabilized",
    "ode_function",
]
