"""haugmbd: define a mechanism in Python, simulate it fast, and see that it is right.

A primitive is one scalar equation between two bodies; a joint is a tuple of primitives; a model is the primitives in tables; a
kernel fills Phi_r and PiBar per row; a formulation is an algebra on those rows; an integrator moves the state; a result
remembers states; diagnostics recompute everything else from them.
Importing this package compiles nothing, prints nothing, and does not load matplotlib, pydantic, h5py or quaternion.
"""

import importlib
from typing import TYPE_CHECKING, Any

from haugmbd.algebra.spatial import apparent_inverse_inertia, split_wrench
from haugmbd.body import Body
from haugmbd.cite import cite
from haugmbd.crosscheck import CrossCheck, crosscheck  # at once: later, the module would hide the function of the same name
from haugmbd.diagnostics.energy import Energy, Momentum
from haugmbd.diagnostics.reaction import Reaction, reaction
from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.drivers import Driver, QuinticSpline
from haugmbd.errors import (
    AssemblyError,
    EnergyWarning,
    Fault,
    HaugmbdError,
    LockedModelWarning,
    ModelError,
    RunWarning,
    SimulationError,
    SingularKKT,
    SlowFormulationWarning,
    UsageError,
)
from haugmbd.forces import RSDA, TSDA, Load, PointForce, StateForce, Torque
from haugmbd.formulations import (
    QR,
    SVD,
    Accelerations,
    AugmentedLagrangian,
    CoordinatePartitioning,
    EulerParameters,
    Formulation,
    NewtonEuler,
    NullSpace,
    Penalty,
    RangeSpace,
    ReducedChain,
    UdwadiaKalaba,
    UdwadiaPhohomsiri,
    accelerations,
)
from haugmbd.impact import AngularImpulse, Contact, Impulse, JointImpulse, PointImpulse, impulse
from haugmbd.integrators import (
    BDF,
    DOP853,
    GGL,
    HHT,
    RATTLE,
    RK3,
    RK4,
    RKMK4,
    Baumgarte,
    CrouchGrossman3,
    DormandPrince,
    EnergyProjection,
    Event,
    EventRecord,
    FullNewton,
    GeneralizedAlpha,
    GeneralizedAlphaR7,
    HalfExplicit,
    Heun,
    HillerAnantharaman,
    Index2,
    Index3,
    Newmark,
    PlainProjection,
    Projection,
    QuasiNewton,
    RadauIIA,
    SciPySolver,
    SemiImplicitEuler,
    Trapezoidal,
    ode_function,
)
from haugmbd.io.results import load
from haugmbd.marker import Frame
from haugmbd.model.model import Model
from haugmbd.model.redundancy import KeptRows, MinimumNorm, Redundancy
from haugmbd.model.rows import Rows, evaluate
from haugmbd.model.state import State
from haugmbd.model.subspaces import constraint_wrenches, motion_subspace
from haugmbd.model.system import System
from haugmbd.primitives import CD, DP1, DP2, D, Joint, Primitive, Rotation
from haugmbd.recursive import (
    ArticulatedImpulse,
    ChainState,
    Link,
    SerialChain,
    aba,
    articulated_impulse,
    chain_impulse,
    crba,
    jacobians,
    joint_wrenches,
    link_motion,
    projected_newton_euler,
    random_chain,
    rnea,
)
from haugmbd.reduced_result import ReducedResult
from haugmbd.result import Result
from haugmbd.simulate import simulate

if TYPE_CHECKING:
    from haugmbd import plotting as plot
    from haugmbd.analysis import (
        Assembly,
        Branch,
        Equilibrium,
        Hold,
        InverseDynamics,
        Linearization,
        Mobility,
        Mode,
        RotorSpin,
        Spin,
        Stability,
        assemble,
        branches,
        equilibrium,
        inverse_dynamics,
        kinematics,
        linearize,
        mobility,
    )
    from haugmbd.hybrid import ContactHistory, Impact, ImpactResult, simulate_impacts
    from haugmbd.viewer import Picture, picture

__version__ = "0.2.0"

__all__ = [
    "FullNewton",
    "QuasiNewton",
    "RATTLE",
    "RadauIIA",
    "HalfExplicit",
    "QR",
    "SVD",
    "AugmentedLagrangian",
    "CoordinatePartitioning",
    "EulerParameters",
    "Formulation",
    "NullSpace",
    "Penalty",
    "Picture",
    "RangeSpace",
    "ReducedChain",
    "SlowFormulationWarning",
    "UdwadiaKalaba",
    "UdwadiaPhohomsiri",
    "cite",
    "BDF",
    "GGL",
    "HHT",
    "HillerAnantharaman",
    "Index2",
    "Index3",
    "Newmark",
    "Trapezoidal",
    "GeneralizedAlpha",
    "GeneralizedAlphaR7",
    "ChainState",
    "ReducedResult",
    "CD",
    "DP1",
    "DOP853",
    "DP2",
    "RK3",
    "RK4",
    "RKMK4",
    "RSDA",
    "TSDA",
    "Accelerations",
    "AngularImpulse",
    "Assembly",
    "AssemblyError",
    "Baumgarte",
    "Body",
    "Branch",
    "Contact",
    "ContactHistory",
    "CrossCheck",
    "CrouchGrossman3",
    "D",
    "DormandPrince",
    "Driver",
    "Energy",
    "EnergyProjection",
    "Equilibrium",
    "EnergyWarning",
    "LockedModelWarning",
    "RunStatus",
    "RunWarning",
    "Event",
    "EventRecord",
    "Fault",
    "Frame",
    "HaugmbdError",
    "Heun",
    "Hold",
    "Impact",
    "ImpactResult",
    "Impulse",
    "InverseDynamics",
    "Joint",
    "JointImpulse",
    "KeptRows",
    "Linearization",
    "Load",
    "MinimumNorm",
    "Mode",
    "Mobility",
    "Model",
    "ModelError",
    "Momentum",
    "NewtonEuler",
    "PlainProjection",
    "PointForce",
    "PointImpulse",
    "Primitive",
    "Projection",
    "QuinticSpline",
    "Reaction",
    "Redundancy",
    "Result",
    "Rotation",
    "RotorSpin",
    "Spin",
    "Stability",
    "Rows",
    "SciPySolver",
    "SemiImplicitEuler",
    "SimulationError",
    "SingularKKT",
    "State",
    "StateForce",
    "System",
    "Torque",
    "UsageError",
    "__version__",
    "accelerations",
    "apparent_inverse_inertia",
    "assemble",
    "branches",
    "constraint_wrenches",
    "equilibrium",
    "evaluate",
    "impulse",
    "inverse_dynamics",
    "kinematics",
    "linearize",
    "load",
    "mobility",
    "motion_subspace",
    "ode_function",
    "picture",
    "plot",
    "reaction",
    "simulate",
    "simulate_impacts",
    "split_wrench",
    "ArticulatedImpulse",
    "Link",
    "SerialChain",
    "aba",
    "articulated_impulse",
    "chain_impulse",
    "crba",
    "crosscheck",
    "jacobians",
    "joint_wrenches",
    "link_motion",
    "projected_newton_euler",
    "random_chain",
    "rnea",
]


LATER = {
    "haugmbd.analysis": (
        "Assembly",
        "Branch",
        "Equilibrium",
        "Hold",
        "InverseDynamics",
        "Linearization",
        "Mobility",
        "Mode",
        "RotorSpin",
        "Spin",
        "Stability",
        "assemble",
        "branches",
        "equilibrium",
        "inverse_dynamics",
        "kinematics",
        "linearize",
        "mobility",
    ),
    "haugmbd.hybrid": (
        "ContactHistory",
        "Impact",
        "ImpactResult",
        "simulate_impacts",
    ),
    "haugmbd.viewer": (
        "Picture",
        "picture",
    ),
}
"""What is imported when it is first asked for: a simulation does not need it, and it would double the time of `import haugmbd`.

A name that is a module's, too (`crosscheck`), cannot wait: whoever imports the module first would find it in the place of the function.
"""


def __getattr__(name: str) -> Any:
    """`mbd.plot`, and the names of `LATER`, are imported when they are first asked for."""
    if name == "plot":
        return importlib.import_module("haugmbd.plotting")
    for module, names in LATER.items():
        if name in names:
            globals().update({each: getattr(importlib.import_module(module), each) for each in names})
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Everything public, loaded or not."""
    return sorted({*globals(), *__all__})
