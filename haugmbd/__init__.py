"""haugmbd: define a mechanism in Python, simulate it fast, and see that it is right.

A constraint is one scalar equation between two bodies; a joint is a tuple of constraints; a model is the constraints in tables; a
kernel computes Phi_r and PiBar of each row; a formulation solves the equations of motion on those rows; an integrator advances the state;
a result stores states; reactions, energies and violations are recomputed from them in the same way for every method.
Importing this package compiles nothing, prints nothing, and loads nothing but this table: a name is imported when it is first used.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from haugmbd.deprecated import did_you_mean, old_constructor, warn_renamed

if TYPE_CHECKING:
    from haugmbd import faults as faults
    from haugmbd import labs as labs
    from haugmbd import plotting as plot
    from haugmbd.analysis.assembly.assemble import assemble as assemble
    from haugmbd.analysis.assembly.assembly_modes import AssemblyMode as AssemblyMode
    from haugmbd.analysis.assembly.assembly_modes import assembly_modes as assembly_modes
    from haugmbd.analysis.assembly.fixed_coordinates import FixedCoordinates as FixedCoordinates
    from haugmbd.analysis.assembly.result import Assembly as Assembly
    from haugmbd.analysis.equilibrium.equilibrium import equilibrium as equilibrium
    from haugmbd.analysis.equilibrium.result import Equilibrium as Equilibrium
    from haugmbd.analysis.equilibrium.result import Stability as Stability
    from haugmbd.analysis.equilibrium.small_motions.linearization import Linearization as Linearization
    from haugmbd.analysis.equilibrium.small_motions.linearization import Mode as Mode
    from haugmbd.analysis.equilibrium.small_motions.linearize import linearize as linearize
    from haugmbd.analysis.equilibrium.steady_motion import RotorSpin as RotorSpin
    from haugmbd.analysis.equilibrium.steady_motion import UniformRotation as UniformRotation
    from haugmbd.analysis.equilibrium.steady_motion import UniformTranslation as UniformTranslation
    from haugmbd.analysis.kinematics.inverse_dynamics import InverseDynamics as InverseDynamics
    from haugmbd.analysis.kinematics.inverse_dynamics import inverse_dynamics as inverse_dynamics
    from haugmbd.analysis.kinematics.kinematics import kinematics as kinematics
    from haugmbd.analysis.mobility.mobility import mobility as mobility
    from haugmbd.analysis.mobility.report import Mobility as Mobility
    from haugmbd.batches.accelerations import BatchAccelerations as BatchAccelerations
    from haugmbd.batches.batch import Batch as Batch
    from haugmbd.batches.batch import batch as batch
    from haugmbd.batches.trajectories import Trajectories as Trajectories
    from haugmbd.bodies.body import Body as Body
    from haugmbd.bodies.frame import Frame as Frame
    from haugmbd.bodies.shapes.base import Shape as Shape
    from haugmbd.bodies.shapes.mesh import Mesh as Mesh
    from haugmbd.bodies.shapes.plane import Plane as Plane
    from haugmbd.bodies.shapes.solids import Box as Box
    from haugmbd.bodies.shapes.solids import Cone as Cone
    from haugmbd.bodies.shapes.solids import Cylinder as Cylinder
    from haugmbd.bodies.shapes.solids import Sphere as Sphere
    from haugmbd.citations import cite as cite
    from haugmbd.constraints.base import Primitive as Primitive
    from haugmbd.constraints.equations.cd import CD as CD
    from haugmbd.constraints.equations.d import D as D
    from haugmbd.constraints.equations.dp1 import DP1 as DP1
    from haugmbd.constraints.equations.dp2 import DP2 as DP2
    from haugmbd.constraints.equations.rotation import Rotation as Rotation
    from haugmbd.constraints.joint import Joint as Joint
    from haugmbd.contact.contact import Contact as Contact
    from haugmbd.contact.impulses.applied_impulse import AngularImpulse as AngularImpulse
    from haugmbd.contact.impulses.applied_impulse import PointImpulse as PointImpulse
    from haugmbd.contact.impulses.impulse import impulse as impulse
    from haugmbd.contact.impulses.impulse_result import Impulse as Impulse
    from haugmbd.contact.impulses.impulse_result import JointImpulse as JointImpulse
    from haugmbd.contact.motion.impact_result import ContactHistory as ContactHistory
    from haugmbd.contact.motion.impact_result import Impact as Impact
    from haugmbd.contact.motion.impact_result import ImpactResult as ImpactResult
    from haugmbd.contact.motion.simulate_impacts import simulate_impacts as simulate_impacts
    from haugmbd.control.block import Block as Block
    from haugmbd.control.blocks.delay_line import DelayLine as DelayLine
    from haugmbd.control.blocks.low_pass import LowPass as LowPass
    from haugmbd.control.blocks.pid import PID as PID
    from haugmbd.control.blocks.transfer_function import TransferFunction as TransferFunction
    from haugmbd.control.sampled import Sampled as Sampled
    from haugmbd.crosscheck.check import crosscheck as crosscheck
    from haugmbd.crosscheck.report import CrossCheck as CrossCheck
    from haugmbd.diagnostics.energy import Energy as Energy
    from haugmbd.diagnostics.energy import Momentum as Momentum
    from haugmbd.diagnostics.histories.block_history import BlockHistory as BlockHistory
    from haugmbd.diagnostics.histories.body_history import BodyHistory as BodyHistory
    from haugmbd.diagnostics.histories.body_history import PointHistory as PointHistory
    from haugmbd.diagnostics.histories.contact_impacts import CompliantContact as CompliantContact
    from haugmbd.diagnostics.histories.contact_impacts import ContactImpact as ContactImpact
    from haugmbd.diagnostics.histories.driver_history import DriverHistory as DriverHistory
    from haugmbd.diagnostics.histories.load_history import LoadHistory as LoadHistory
    from haugmbd.diagnostics.joint_motions.joint_coordinate import JointCoordinate as JointCoordinate
    from haugmbd.diagnostics.joint_motions.joint_history import JointHistory as JointHistory
    from haugmbd.diagnostics.joint_reactions.reactions import Reaction as Reaction
    from haugmbd.diagnostics.joint_reactions.reactions import reaction as reaction
    from haugmbd.diagnostics.run_warnings import RunStatus as RunStatus
    from haugmbd.drivers.driver import Driver as Driver
    from haugmbd.drivers.expression import Expression as Expression
    from haugmbd.drivers.spline import QuinticSpline as QuinticSpline
    from haugmbd.errors import AssemblyError as AssemblyError
    from haugmbd.errors import EnergyWarning as EnergyWarning
    from haugmbd.errors import Fault as Fault
    from haugmbd.errors import HaugmbdError as HaugmbdError
    from haugmbd.errors import LockedModelWarning as LockedModelWarning
    from haugmbd.errors import ModelError as ModelError
    from haugmbd.errors import ModelFileError as ModelFileError
    from haugmbd.errors import RunWarning as RunWarning
    from haugmbd.errors import SimulationError as SimulationError
    from haugmbd.errors import SingularKKTError as SingularKKTError
    from haugmbd.errors import SlowFormulationWarning as SlowFormulationWarning
    from haugmbd.errors import UsageError as UsageError
    from haugmbd.forces.base import ForceElement as ForceElement
    from haugmbd.forces.bushing import Bushing as Bushing
    from haugmbd.forces.compliant.contact_force import ContactForce as ContactForce
    from haugmbd.forces.compliant.damping import Flores as Flores
    from haugmbd.forces.compliant.damping import HuntCrossley as HuntCrossley
    from haugmbd.forces.compliant.damping import LankaraniNikravesh as LankaraniNikravesh
    from haugmbd.forces.fluid.buoyancy import Buoyancy as Buoyancy
    from haugmbd.forces.fluid.drag import Drag as Drag
    from haugmbd.forces.friction.friction_laws import BrownMcPhee as BrownMcPhee
    from haugmbd.forces.friction.friction_laws import Coulomb as Coulomb
    from haugmbd.forces.friction.friction_laws import LuGre as LuGre
    from haugmbd.forces.friction.friction_laws import Viscous as Viscous
    from haugmbd.forces.friction.joint_friction import JointFriction as JointFriction
    from haugmbd.forces.joint_loads.joint_force import JointForce as JointForce
    from haugmbd.forces.joint_loads.joint_limit import JointLimit as JointLimit
    from haugmbd.forces.joint_loads.joint_spring import JointSpring as JointSpring
    from haugmbd.forces.joint_loads.motor import Motor as Motor
    from haugmbd.forces.linear_actuator import LinearActuator as LinearActuator
    from haugmbd.forces.point_force import PointForce as PointForce
    from haugmbd.forces.rsda import RSDA as RSDA
    from haugmbd.forces.state_force import StateForce as StateForce
    from haugmbd.forces.torque import Torque as Torque
    from haugmbd.forces.tsda import TSDA as TSDA
    from haugmbd.formulations.accelerations import Accelerations as Accelerations
    from haugmbd.formulations.accelerations import accelerations as accelerations
    from haugmbd.formulations.base import Formulation as Formulation
    from haugmbd.formulations.dense.augmented_lagrangian import AugmentedLagrangian as AugmentedLagrangian
    from haugmbd.formulations.dense.coordinate_partitioning import CoordinatePartitioning as CoordinatePartitioning
    from haugmbd.formulations.dense.euler_parameters import EulerParameters as EulerParameters
    from haugmbd.formulations.dense.null_space import QR as QR
    from haugmbd.formulations.dense.null_space import SVD as SVD
    from haugmbd.formulations.dense.null_space import NullSpace as NullSpace
    from haugmbd.formulations.dense.penalty import Penalty as Penalty
    from haugmbd.formulations.dense.range_space import RangeSpace as RangeSpace
    from haugmbd.formulations.dense.reduced_chain import ReducedChain as ReducedChain
    from haugmbd.formulations.dense.udwadia_kalaba import UdwadiaKalaba as UdwadiaKalaba
    from haugmbd.formulations.dense.udwadia_phohomsiri import UdwadiaPhohomsiri as UdwadiaPhohomsiri
    from haugmbd.formulations.newton_euler import NewtonEuler as NewtonEuler
    from haugmbd.integrators.events import Event as Event
    from haugmbd.integrators.events import EventRecord as EventRecord
    from haugmbd.integrators.explicit.dop853 import DOP853 as DOP853
    from haugmbd.integrators.explicit.dormand_prince import DormandPrince as DormandPrince
    from haugmbd.integrators.explicit.heun import Heun as Heun
    from haugmbd.integrators.explicit.lie import RKMK4 as RKMK4
    from haugmbd.integrators.explicit.lie import CrouchGrossman3 as CrouchGrossman3
    from haugmbd.integrators.explicit.rk3 import RK3 as RK3
    from haugmbd.integrators.explicit.rk4 import RK4 as RK4
    from haugmbd.integrators.explicit.scipy_solver import SciPySolver as SciPySolver
    from haugmbd.integrators.explicit.scipy_solver import ode_function as ode_function
    from haugmbd.integrators.explicit.semi_implicit_euler import SemiImplicitEuler as SemiImplicitEuler
    from haugmbd.integrators.implicit.bdf import BDF as BDF
    from haugmbd.integrators.implicit.constraint_form import GGL as GGL
    from haugmbd.integrators.implicit.constraint_form import HillerAnantharaman as HillerAnantharaman
    from haugmbd.integrators.implicit.constraint_form import Index2 as Index2
    from haugmbd.integrators.implicit.constraint_form import Index3 as Index3
    from haugmbd.integrators.implicit.generalized_alpha import HHT as HHT
    from haugmbd.integrators.implicit.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
    from haugmbd.integrators.implicit.generalized_alpha import Newmark as Newmark
    from haugmbd.integrators.implicit.generalized_alpha_r7 import GeneralizedAlphaR7 as GeneralizedAlphaR7
    from haugmbd.integrators.implicit.newton import FullNewton as FullNewton
    from haugmbd.integrators.implicit.newton import ModifiedNewton as ModifiedNewton
    from haugmbd.integrators.implicit.radau_iia.radau import RadauIIA as RadauIIA
    from haugmbd.integrators.implicit.trapezoidal import Trapezoidal as Trapezoidal
    from haugmbd.integrators.stabilization.baumgarte import Baumgarte as Baumgarte
    from haugmbd.integrators.stabilization.energy_projection import EnergyProjection as EnergyProjection
    from haugmbd.integrators.stabilization.projection import Projection as Projection
    from haugmbd.integrators.stabilization.unweighted_projection import UnweightedProjection as UnweightedProjection
    from haugmbd.integrators.structure_preserving.hem4 import HEM4 as HEM4
    from haugmbd.integrators.structure_preserving.rattle import RATTLE as RATTLE
    from haugmbd.math.spatial_subspaces import apparent_inverse_inertia as apparent_inverse_inertia
    from haugmbd.math.spatial_subspaces import split_wrench as split_wrench
    from haugmbd.model.dependent_rows import DropDependentRows as DropDependentRows
    from haugmbd.model.dependent_rows import MinimumNorm as MinimumNorm
    from haugmbd.model.dependent_rows import Redundancy as Redundancy
    from haugmbd.model.inspection.constraint_rows import Rows as Rows
    from haugmbd.model.inspection.constraint_rows import evaluate as evaluate
    from haugmbd.model.inspection.joint_subspaces import constraint_wrenches as constraint_wrenches
    from haugmbd.model.inspection.joint_subspaces import motion_subspace as motion_subspace
    from haugmbd.model.model import Model as Model
    from haugmbd.model.state import State as State
    from haugmbd.modelfile.asmt.read import read_asmt as read_asmt
    from haugmbd.modelfile.asmt.write import write_asmt as write_asmt
    from haugmbd.modelfile.engines.check import crosscheck_engine as crosscheck_engine
    from haugmbd.modelfile.engines.report import EngineCheck as EngineCheck
    from haugmbd.modelfile.exports.export import Export as Export
    from haugmbd.modelfile.files import load_model as load_model
    from haugmbd.modelfile.imports.report import ImportReport as ImportReport
    from haugmbd.modelfile.imports.simengine3d import read_simengine3d as read_simengine3d
    from haugmbd.modelfile.mjcf.read import read_mjcf as read_mjcf
    from haugmbd.modelfile.mjcf.write import write_mjcf as write_mjcf
    from haugmbd.modelfile.urdf.read import read_urdf as read_urdf
    from haugmbd.modelfile.urdf.write import write_urdf as write_urdf
    from haugmbd.serial_chain.chain import SerialChain as SerialChain
    from haugmbd.serial_chain.impulse.articulated_impulse import ArticulatedImpulse as ArticulatedImpulse
    from haugmbd.serial_chain.impulse.articulated_impulse import articulated_impulse as articulated_impulse
    from haugmbd.serial_chain.impulse.chain_impulse import chain_impulse as chain_impulse
    from haugmbd.serial_chain.link import Link as Link
    from haugmbd.serial_chain.random_chain import random_chain as random_chain
    from haugmbd.serial_chain.recursions.aba import aba as aba
    from haugmbd.serial_chain.recursions.crba import crba as crba
    from haugmbd.serial_chain.recursions.link_motion import jacobians as jacobians
    from haugmbd.serial_chain.recursions.link_motion import link_motion as link_motion
    from haugmbd.serial_chain.recursions.projected_newton_euler import projected_newton_euler as projected_newton_euler
    from haugmbd.serial_chain.recursions.rnea import joint_wrenches as joint_wrenches
    from haugmbd.serial_chain.recursions.rnea import rnea as rnea
    from haugmbd.serial_chain.state import ChainState as ChainState
    from haugmbd.simulation.results.chain_result import ReducedResult as ReducedResult
    from haugmbd.simulation.results.load import load as load
    from haugmbd.simulation.results.result import Result as Result
    from haugmbd.simulation.results.sensor import Sensor as Sensor
    from haugmbd.simulation.results.sensor import SensorHistory as SensorHistory
    from haugmbd.simulation.simulate import simulate as simulate
    from haugmbd.study.comparison.compare import compare as compare
    from haugmbd.study.comparison.comparison import Comparison as Comparison
    from haugmbd.study.gains.gain_limit import GainLimit as GainLimit
    from haugmbd.study.gains.gain_limit import gain_limit as gain_limit
    from haugmbd.study.gains.gain_map import GainMap as GainMap
    from haugmbd.study.gains.gain_map import gain_map as gain_map
    from haugmbd.study.method import Method as Method
    from haugmbd.study.method import MethodSet as MethodSet
    from haugmbd.study.method import methods as methods
    from haugmbd.study.precision.convergence import Convergence as Convergence
    from haugmbd.study.precision.convergence import convergence as convergence
    from haugmbd.study.precision.order_fit import FittedOrder as FittedOrder
    from haugmbd.study.precision.projection_interval import ProjectionInterval as ProjectionInterval
    from haugmbd.study.precision.projection_interval import projection_interval as projection_interval
    from haugmbd.study.precision.tolerance_map import ToleranceMap as ToleranceMap
    from haugmbd.study.precision.tolerance_map import tolerance_map as tolerance_map
    from haugmbd.study.precision.work_precision import WorkPrecision as WorkPrecision
    from haugmbd.study.precision.work_precision import work_precision as work_precision
    from haugmbd.study.sweeps.cells import AskTell as AskTell
    from haugmbd.study.sweeps.cells import RandomCells as RandomCells
    from haugmbd.study.sweeps.evaluate import Row as Row
    from haugmbd.study.sweeps.sweep import sweep as sweep
    from haugmbd.study.sweeps.table import Sweep as Sweep
    from haugmbd.study.sweeps.table import SweepFailure as SweepFailure
    from haugmbd.study.violation.drift_law import DriftLaw as DriftLaw
    from haugmbd.study.violation.drift_law import drift_law as drift_law
    from haugmbd.study.violation.violation_by_joint import JointViolation as JointViolation
    from haugmbd.study.violation.violation_by_joint import violation_by_joint as violation_by_joint
    from haugmbd.study.violation.violation_condition import ViolationCondition as ViolationCondition
    from haugmbd.study.violation.violation_condition import violation_condition as violation_condition
    from haugmbd.system.system import System as System
    from haugmbd.verification.report import Verification as Verification
    from haugmbd.verification.verify import verify as verify
    from haugmbd.viewer.still import Picture as Picture
    from haugmbd.viewer.still import picture as picture

__version__ = "0.2.0"

PUBLIC: dict[str, tuple[str, ...]] = {
    # a mechanism
    "haugmbd.system.system": ("System",),
    "haugmbd.bodies.body": ("Body",),
    "haugmbd.bodies.frame": ("Frame",),
    "haugmbd.bodies.shapes.base": ("Shape",),
    "haugmbd.bodies.shapes.mesh": ("Mesh",),
    "haugmbd.bodies.shapes.plane": ("Plane",),
    "haugmbd.bodies.shapes.solids": ("Box", "Cone", "Cylinder", "Sphere"),
    "haugmbd.constraints.base": ("Primitive",),
    "haugmbd.constraints.equations.cd": ("CD",),
    "haugmbd.constraints.equations.d": ("D",),
    "haugmbd.constraints.equations.dp1": ("DP1",),
    "haugmbd.constraints.equations.dp2": ("DP2",),
    "haugmbd.constraints.joint": ("Joint",),
    "haugmbd.constraints.equations.rotation": ("Rotation",),
    "haugmbd.control.block": ("Block",),
    "haugmbd.control.blocks.delay_line": ("DelayLine",),
    "haugmbd.control.blocks.low_pass": ("LowPass",),
    "haugmbd.control.blocks.pid": ("PID",),
    "haugmbd.control.sampled": ("Sampled",),
    "haugmbd.control.blocks.transfer_function": ("TransferFunction",),
    "haugmbd.drivers.driver": ("Driver",),
    "haugmbd.drivers.expression": ("Expression",),
    "haugmbd.drivers.spline": ("QuinticSpline",),
    "haugmbd.forces.base": ("ForceElement",),
    "haugmbd.forces.fluid.buoyancy": ("Buoyancy",),
    "haugmbd.forces.bushing": ("Bushing",),
    "haugmbd.forces.compliant.contact_force": ("ContactForce",),
    "haugmbd.forces.compliant.damping": ("Flores", "HuntCrossley", "LankaraniNikravesh"),
    "haugmbd.forces.fluid.drag": ("Drag",),
    "haugmbd.forces.friction.friction_laws": ("BrownMcPhee", "Coulomb", "LuGre", "Viscous"),
    "haugmbd.forces.friction.joint_friction": ("JointFriction",),
    "haugmbd.forces.joint_loads.joint_force": ("JointForce",),
    "haugmbd.forces.joint_loads.joint_limit": ("JointLimit",),
    "haugmbd.forces.joint_loads.joint_spring": ("JointSpring",),
    "haugmbd.forces.linear_actuator": ("LinearActuator",),
    "haugmbd.forces.joint_loads.motor": ("Motor",),
    "haugmbd.forces.point_force": ("PointForce",),
    "haugmbd.forces.rsda": ("RSDA",),
    "haugmbd.forces.state_force": ("StateForce",),
    "haugmbd.forces.torque": ("Torque",),
    "haugmbd.forces.tsda": ("TSDA",),
    "haugmbd.modelfile.files": ("load_model",),
    "haugmbd.modelfile.urdf.read": ("read_urdf",),
    "haugmbd.modelfile.urdf.write": ("write_urdf",),
    "haugmbd.modelfile.mjcf.read": ("read_mjcf",),
    "haugmbd.modelfile.mjcf.write": ("write_mjcf",),
    "haugmbd.modelfile.asmt.read": ("read_asmt",),
    "haugmbd.modelfile.asmt.write": ("write_asmt",),
    "haugmbd.modelfile.imports.simengine3d": ("read_simengine3d",),
    "haugmbd.modelfile.imports.report": ("ImportReport",),
    "haugmbd.modelfile.exports.export": ("Export",),
    # its model
    "haugmbd.model.inspection.constraint_rows": ("Rows", "evaluate"),
    "haugmbd.model.dependent_rows": ("DropDependentRows", "MinimumNorm", "Redundancy"),
    "haugmbd.model.inspection.joint_subspaces": ("constraint_wrenches", "motion_subspace"),
    "haugmbd.model.model": ("Model",),
    "haugmbd.model.state": ("State",),
    # accelerations
    "haugmbd.formulations.accelerations": ("Accelerations", "accelerations"),
    "haugmbd.formulations.dense.augmented_lagrangian": ("AugmentedLagrangian",),
    "haugmbd.formulations.base": ("Formulation",),
    "haugmbd.formulations.dense.coordinate_partitioning": ("CoordinatePartitioning",),
    "haugmbd.formulations.dense.euler_parameters": ("EulerParameters",),
    "haugmbd.formulations.newton_euler": ("NewtonEuler",),
    "haugmbd.formulations.dense.null_space": ("NullSpace", "QR", "SVD"),
    "haugmbd.formulations.dense.penalty": ("Penalty",),
    "haugmbd.formulations.dense.range_space": ("RangeSpace",),
    "haugmbd.formulations.dense.reduced_chain": ("ReducedChain",),
    "haugmbd.formulations.dense.udwadia_kalaba": ("UdwadiaKalaba",),
    "haugmbd.formulations.dense.udwadia_phohomsiri": ("UdwadiaPhohomsiri",),
    # motion
    "haugmbd.simulation.results.chain_result": ("ReducedResult",),
    "haugmbd.simulation.results.load": ("load",),
    "haugmbd.simulation.results.result": ("Result",),
    "haugmbd.simulation.results.sensor": ("Sensor", "SensorHistory"),
    "haugmbd.simulation.simulate": ("simulate",),
    "haugmbd.integrators.events": ("Event", "EventRecord"),
    "haugmbd.integrators.explicit.dop853": ("DOP853",),
    "haugmbd.integrators.explicit.dormand_prince": ("DormandPrince",),
    "haugmbd.integrators.explicit.heun": ("Heun",),
    "haugmbd.integrators.explicit.lie": ("CrouchGrossman3", "RKMK4"),
    "haugmbd.integrators.explicit.rk3": ("RK3",),
    "haugmbd.integrators.explicit.rk4": ("RK4",),
    "haugmbd.integrators.explicit.scipy_solver": ("SciPySolver", "ode_function"),
    "haugmbd.integrators.explicit.semi_implicit_euler": ("SemiImplicitEuler",),
    "haugmbd.integrators.implicit.bdf": ("BDF",),
    "haugmbd.integrators.implicit.constraint_form": ("GGL", "HillerAnantharaman", "Index2", "Index3"),
    "haugmbd.integrators.implicit.generalized_alpha": ("GeneralizedAlpha", "HHT", "Newmark"),
    "haugmbd.integrators.implicit.generalized_alpha_r7": ("GeneralizedAlphaR7",),
    "haugmbd.integrators.implicit.newton": ("FullNewton", "ModifiedNewton"),
    "haugmbd.integrators.implicit.radau_iia.radau": ("RadauIIA",),
    "haugmbd.integrators.implicit.trapezoidal": ("Trapezoidal",),
    "haugmbd.integrators.stabilization.baumgarte": ("Baumgarte",),
    "haugmbd.integrators.stabilization.energy_projection": ("EnergyProjection",),
    "haugmbd.integrators.stabilization.projection": ("Projection",),
    "haugmbd.integrators.stabilization.unweighted_projection": ("UnweightedProjection",),
    "haugmbd.integrators.structure_preserving.hem4": ("HEM4",),
    "haugmbd.integrators.structure_preserving.rattle": ("RATTLE",),
    # many variants at once
    "haugmbd.batches.batch": ("Batch", "batch"),
    "haugmbd.batches.accelerations": ("BatchAccelerations",),
    "haugmbd.batches.trajectories": ("Trajectories",),
    # contact and impulses
    "haugmbd.contact.impulses.applied_impulse": ("AngularImpulse", "PointImpulse"),
    "haugmbd.contact.contact": ("Contact",),
    "haugmbd.contact.impulses.impulse": ("impulse",),
    "haugmbd.contact.impulses.impulse_result": ("Impulse", "JointImpulse"),
    "haugmbd.contact.motion.impact_result": ("ContactHistory", "Impact", "ImpactResult"),
    "haugmbd.contact.motion.simulate_impacts": ("simulate_impacts",),
    # analysis without simulation
    "haugmbd.analysis.assembly.assemble": ("assemble",),
    "haugmbd.analysis.assembly.assembly_modes": ("AssemblyMode", "assembly_modes"),
    "haugmbd.analysis.assembly.fixed_coordinates": ("FixedCoordinates",),
    "haugmbd.analysis.assembly.result": ("Assembly",),
    "haugmbd.analysis.equilibrium.equilibrium": ("equilibrium",),
    "haugmbd.analysis.equilibrium.small_motions.linearization": ("Linearization", "Mode"),
    "haugmbd.analysis.equilibrium.small_motions.linearize": ("linearize",),
    "haugmbd.analysis.equilibrium.result": ("Equilibrium", "Stability"),
    "haugmbd.analysis.equilibrium.steady_motion": ("RotorSpin", "UniformRotation", "UniformTranslation"),
    "haugmbd.analysis.kinematics.inverse_dynamics": ("InverseDynamics", "inverse_dynamics"),
    "haugmbd.analysis.kinematics.kinematics": ("kinematics",),
    "haugmbd.analysis.mobility.mobility": ("mobility",),
    "haugmbd.analysis.mobility.report": ("Mobility",),
    # diagnostics
    "haugmbd.diagnostics.histories.block_history": ("BlockHistory",),
    "haugmbd.diagnostics.histories.body_history": ("BodyHistory", "PointHistory"),
    "haugmbd.diagnostics.histories.contact_impacts": ("CompliantContact", "ContactImpact"),
    "haugmbd.diagnostics.histories.driver_history": ("DriverHistory",),
    "haugmbd.diagnostics.energy": ("Energy", "Momentum"),
    "haugmbd.diagnostics.joint_motions.joint_coordinate": ("JointCoordinate",),
    "haugmbd.diagnostics.joint_motions.joint_history": ("JointHistory",),
    "haugmbd.diagnostics.histories.load_history": ("LoadHistory",),
    "haugmbd.diagnostics.joint_reactions.reactions": ("Reaction", "reaction"),
    "haugmbd.diagnostics.run_warnings": ("RunStatus",),
    # serial chains in joint coordinates
    "haugmbd.serial_chain.chain": ("SerialChain",),
    "haugmbd.serial_chain.impulse.articulated_impulse": ("ArticulatedImpulse", "articulated_impulse"),
    "haugmbd.serial_chain.impulse.chain_impulse": ("chain_impulse",),
    "haugmbd.serial_chain.link": ("Link",),
    "haugmbd.serial_chain.random_chain": ("random_chain",),
    "haugmbd.serial_chain.recursions.aba": ("aba",),
    "haugmbd.serial_chain.recursions.crba": ("crba",),
    "haugmbd.serial_chain.recursions.link_motion": ("jacobians", "link_motion"),
    "haugmbd.serial_chain.recursions.projected_newton_euler": ("projected_newton_euler",),
    "haugmbd.serial_chain.recursions.rnea": ("joint_wrenches", "rnea"),
    "haugmbd.serial_chain.state": ("ChainState",),
    "haugmbd.math.spatial_subspaces": ("apparent_inverse_inertia", "split_wrench"),
    "haugmbd.crosscheck.check": ("crosscheck",),
    "haugmbd.crosscheck.report": ("CrossCheck",),
    "haugmbd.modelfile.engines.check": ("crosscheck_engine",),
    "haugmbd.modelfile.engines.report": ("EngineCheck",),
    # studies
    "haugmbd.study.comparison.compare": ("compare",),
    "haugmbd.study.comparison.comparison": ("Comparison",),
    "haugmbd.study.method": ("Method", "MethodSet", "methods"),
    "haugmbd.study.violation.drift_law": ("DriftLaw", "drift_law"),
    "haugmbd.study.violation.violation_by_joint": ("JointViolation", "violation_by_joint"),
    "haugmbd.study.violation.violation_condition": ("ViolationCondition", "violation_condition"),
    "haugmbd.study.gains.gain_map": ("GainMap", "gain_map"),
    "haugmbd.study.gains.gain_limit": ("GainLimit", "gain_limit"),
    "haugmbd.study.precision.convergence": ("Convergence", "convergence"),
    "haugmbd.study.precision.order_fit": ("FittedOrder",),
    "haugmbd.study.precision.work_precision": ("WorkPrecision", "work_precision"),
    "haugmbd.study.precision.projection_interval": ("ProjectionInterval", "projection_interval"),
    "haugmbd.study.precision.tolerance_map": ("ToleranceMap", "tolerance_map"),
    "haugmbd.study.sweeps.sweep": ("sweep",),
    "haugmbd.study.sweeps.cells": ("AskTell", "RandomCells"),
    "haugmbd.study.sweeps.evaluate": ("Row",),
    "haugmbd.study.sweeps.table": ("Sweep", "SweepFailure"),
    "haugmbd.viewer.still": ("Picture", "picture"),
    # checks of what users write
    "haugmbd.verification.verify": ("verify",),
    "haugmbd.verification.report": ("Verification",),
    # errors, citations
    "haugmbd.errors": (
        "AssemblyError",
        "EnergyWarning",
        "Fault",
        "HaugmbdError",
        "LockedModelWarning",
        "ModelError",
        "ModelFileError",
        "RunWarning",
        "SimulationError",
        "SingularKKTError",
        "SlowFormulationWarning",
        "UsageError",
    ),
    "haugmbd.citations": ("cite",),
}
"""Every public name, by the module that defines it, in the order of the documentation."""

MODULES = {"plot": "haugmbd.plotting", "faults": "haugmbd.faults", "labs": "haugmbd.labs"}
"""Public names that are modules: mbd.plot.energy(result), mbd.faults.wrong_gamma_sign(model), mbd.labs.check("lab1", answers)."""

_MODULE_OF = {name: module for module, names in PUBLIC.items() for name in names}

__all__ = ["__version__", "faults", "labs", "plot", *_MODULE_OF]  # noqa: PLE0604  names are strings


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; warn of an old one; say which one was meant by a wrong one."""
    if name in MODULES:
        return importlib.import_module(MODULES[name])
    if name in _MODULE_OF:
        found = getattr(importlib.import_module(_MODULE_OF[name]), name)
        globals()[name] = found
        return found
    old = old_constructor(name, __getattr__)
    if old is not None:
        return old
    renamed = warn_renamed(name)
    if renamed is not None:
        return __getattr__(renamed)
    hint = "" if name.startswith("_") else did_you_mean(name, __all__)  # programs ask for private names, and often: __wrapped__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted(__all__)


class _Package(ModuleType):
    """The package: a public function keeps its name where a folder is called the same (`crosscheck`)."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, but no submodule in the place of a public name."""
        if not (name in _MODULE_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
