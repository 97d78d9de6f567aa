"""Analyses without simulation.

initial_model   the model and the initial state of an analysis
regular_pose    rows that are independent at a pose; singular poses; the null space of large sparse matrices
assembly        assemble, assembly_modes
kinematics      kinematics, inverse_dynamics
equilibrium     equilibrium, linearize
mobility        mobility: degrees of freedom, dependent rows, reactions
"""

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.analysis.assembly.assembly_modes import AssemblyMode, assembly_modes
from haugmbd.analysis.assembly.fixed_coordinates import FixedCoordinates
from haugmbd.analysis.assembly.result import Assembly, Correction, Flip, JointGap
from haugmbd.analysis.equilibrium.result import Equilibrium, Stability
from haugmbd.analysis.equilibrium.small_motions.linearization import Linearization, Mode
from haugmbd.analysis.equilibrium.small_motions.linearize import linearize
from haugmbd.analysis.equilibrium.steady_motion import RotorSpin, UniformRotation, UniformTranslation
from haugmbd.analysis.kinematics.inverse_dynamics import InverseDynamics, inverse_dynamics
from haugmbd.analysis.mobility.report import Mobility

__all__ = [
    "Assembly",
    "AssemblyMode",
    "Correction",
    "Equilibrium",
    "Flip",
    "FixedCoordinates",
    "InverseDynamics",
    "JointGap",
    "Linearization",
    "Mobility",
    "Mode",
    "RotorSpin",
    "UniformRotation",
    "UniformTranslation",
    "Stability",
    "assemble",
    "assembly_modes",
    "inverse_dynamics",
    "linearize",
]
