"""What can be asked of a mechanism without simulating it: assembly, branches, equilibrium, small motions."""

from haugmbd.analysis.assembly import assemble
from haugmbd.analysis.branches import Branch, branches
from haugmbd.analysis.equilibrium import equilibrium
from haugmbd.analysis.found import Assembly, Correction, Flip, JointGap
from haugmbd.analysis.hold import Hold
from haugmbd.analysis.inverse import InverseDynamics, inverse_dynamics
from haugmbd.analysis.kinematics import kinematics
from haugmbd.analysis.linearize import linearize
from haugmbd.analysis.mobility import Mobility, mobility
from haugmbd.analysis.poised import Equilibrium, Stability
from haugmbd.analysis.small_motion import Linearization, Mode
from haugmbd.analysis.steady import RotorSpin, Spin

__all__ = [
    "Assembly",
    "Branch",
    "Correction",
    "Equilibrium",
    "Flip",
    "Hold",
    "InverseDynamics",
    "JointGap",
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
]
