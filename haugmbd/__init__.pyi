"""The public names, by topic: each is imported when it is first used, see `haugmbd.public_names`, which reads this file."""

# a mechanism
from haugmbd.system.assemblies import Subassembly as Subassembly
from haugmbd.system.system import System as System
from haugmbd.bodies.body import Body as Body
from haugmbd.joints import PoseDriver as PoseDriver
from haugmbd.bodies.frame import Frame as Frame
from haugmbd.bodies.shapes.base import Shape as Shape
from haugmbd.bodies.shapes.mesh import Mesh as Mesh
from haugmbd.bodies.shapes.plane import Plane as Plane
from haugmbd.bodies.shapes.solids import Box as Box
from haugmbd.bodies.shapes.solids import Capsule as Capsule
from haugmbd.bodies.shapes.solids import Cone as Cone
from haugmbd.bodies.shapes.solids import Cylinder as Cylinder
from haugmbd.bodies.shapes.solids import Ellipsoid as Ellipsoid
from haugmbd.bodies.shapes.solids import Sphere as Sphere
from haugmbd.constraints.base import Primitive as Primitive
from haugmbd.constraints.equations.cd import CD as CD
from haugmbd.constraints.equations.d import D as D
from haugmbd.constraints.equations.dp1 import DP1 as DP1
from haugmbd.constraints.equations.dp2 import DP2 as DP2
from haugmbd.constraints.joint import Joint as Joint
from haugmbd.constraints.equations.rotation import Rotation as Rotation
from haugmbd.control.block import Block as Block
from haugmbd.control.delay_line import DelayLine as DelayLine
from haugmbd.control.low_pass import LowPass as LowPass
from haugmbd.control.pid import PID as PID
from haugmbd.control.sampled import Sampled as Sampled
from haugmbd.control.transfer_function import TransferFunction as TransferFunction
from haugmbd.drivers.driver import Driver as Driver
from haugmbd.drivers.expression import Expression as Expression
from haugmbd.drivers.spline import QuinticSpline as QuinticSpline
from haugmbd.forces.base import ForceElement as ForceElement
from haugmbd.forces.buoyancy import Buoyancy as Buoyancy
from haugmbd.forces.bushing import Bushing as Bushing
from haugmbd.forces.compliant.contact_force import ContactForce as ContactForce
from haugmbd.forces.compliant.damping import Flores as Flores
from haugmbd.forces.compliant.damping import HuntCrossley as HuntCrossley
from haugmbd.forces.compliant.damping import LankaraniNikravesh as LankaraniNikravesh
from haugmbd.forces.drag import Drag as Drag
from haugmbd.forces.friction_laws import BrownMcPhee as BrownMcPhee
from haugmbd.forces.friction_laws import Coulomb as Coulomb
from haugmbd.forces.friction_laws import LuGre as LuGre
from haugmbd.forces.friction_laws import Viscous as Viscous
from haugmbd.forces.joint_friction import JointFriction as JointFriction
from haugmbd.forces.joint_loads.joint_force import JointForce as JointForce
from haugmbd.forces.cone_limit import ConeLimit as ConeLimit
from haugmbd.forces.joint_loads.joint_limit import JointLimit as JointLimit
from haugmbd.forces.joint_loads.joint_spring import JointSpring as JointSpring
from haugmbd.forces.linear_actuator import LinearActuator as LinearActuator
from haugmbd.forces.joint_loads.motor import Motor as Motor
from haugmbd.forces.point_force import PointForce as PointForce
from haugmbd.forces.rsda import RSDA as RSDA
from haugmbd.forces.state_force import StateForce as StateForce
from haugmbd.forces.torque import Torque as Torque
from haugmbd.forces.tsda import TSDA as TSDA
from haugmbd.modelfile.files import load_model as load_model
from haugmbd.modelfile.urdf.read import read_urdf as read_urdf
from haugmbd.modelfile.urdf.write import write_urdf as write_urdf
from haugmbd.modelfile.mjcf.read import read_mjcf as read_mjcf
from haugmbd.modelfile.mjcf.write import write_mjcf as write_mjcf
from haugmbd.modelfile.asmt.read import read_asmt as read_asmt
from haugmbd.modelfile.fcstd import read_fcstd as read_fcstd
from haugmbd.modelfile.sdf import read_sdf as read_sdf
from haugmbd.modelfile.sdf_write import write_sdf as write_sdf
from haugmbd.modelfile.asmt.write import write_asmt as write_asmt
from haugmbd.modelfile.simengine3d import read_simengine3d as read_simengine3d
from haugmbd.modelfile.imports import ImportReport as ImportReport
from haugmbd.modelfile.exports import Export as Export

# its model
from haugmbd.model.inspection.constraint_rows import Rows as Rows
from haugmbd.model.inspection.constraint_rows import evaluate as evaluate
from haugmbd.model.dependent_rows import DropDependentRows as DropDependentRows
from haugmbd.model.dependent_rows import MinimumNorm as MinimumNorm
from haugmbd.model.dependent_rows import Redundancy as Redundancy
from haugmbd.model.inspection.joint_subspaces import constraint_wrenches as constraint_wrenches
from haugmbd.model.inspection.joint_subspaces import motion_subspace as motion_subspace
from haugmbd.model.model import Model as Model
from haugmbd.model.state import State as State

# accelerations
from haugmbd.formulations.accelerations import Accelerations as Accelerations
from haugmbd.formulations.accelerations import accelerations as accelerations
from haugmbd.diagnostics.joint_reactions import reactions as reactions
from haugmbd.formulations.augmented_lagrangian import AugmentedLagrangian as AugmentedLagrangian
from haugmbd.formulations.base import Formulation as Formulation
from haugmbd.formulations.coordinate_partitioning import CoordinatePartitioning as CoordinatePartitioning
from haugmbd.formulations.euler_parameters import EulerParameters as EulerParameters
from haugmbd.formulations.newton_euler import NewtonEuler as NewtonEuler
from haugmbd.formulations.null_space import NullSpace as NullSpace
from haugmbd.formulations.null_space import QR as QR
from haugmbd.formulations.null_space import SVD as SVD
from haugmbd.formulations.penalty import Penalty as Penalty
from haugmbd.formulations.range_space import RangeSpace as RangeSpace
from haugmbd.formulations.reduced_chain import ReducedChain as ReducedChain
from haugmbd.formulations.udwadia_kalaba import UdwadiaKalaba as UdwadiaKalaba
from haugmbd.formulations.udwadia_phohomsiri import UdwadiaPhohomsiri as UdwadiaPhohomsiri

# motion
from haugmbd.simulation.load import load as load
from haugmbd.simulation.results.result import Result as Result
from haugmbd.simulation.results.sensor import Sensor as Sensor
from haugmbd.simulation.results.sensor import SensorHistory as SensorHistory
from haugmbd.simulation.simulate import simulate as simulate
from haugmbd.simulation.stepper import Stepper as Stepper
from haugmbd.simulation.gym_env import gym_env as gym_env
from haugmbd.integrators.base import Integrator as Integrator
from haugmbd.integrators.step_by_step import StepByStep as StepByStep
from haugmbd.integrators.stabilization.base import Stabilization as Stabilization
from haugmbd.integrators.events import Event as Event
from haugmbd.integrators.events import EventRecord as EventRecord
from haugmbd.integrators.events import Switch as Switch
from haugmbd.integrators.explicit.dop853 import DOP853 as DOP853
from haugmbd.integrators.explicit.dormand_prince import DormandPrince as DormandPrince
from haugmbd.integrators.explicit.heun import Heun as Heun
from haugmbd.integrators.explicit.lie import CrouchGrossman3 as CrouchGrossman3
from haugmbd.integrators.explicit.lie import RKMK4 as RKMK4
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
from haugmbd.integrators.implicit.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from haugmbd.integrators.implicit.generalized_alpha import HHT as HHT
from haugmbd.integrators.implicit.generalized_alpha import Newmark as Newmark
from haugmbd.integrators.implicit.generalized_alpha_r7 import GeneralizedAlphaR7 as GeneralizedAlphaR7
from haugmbd.integrators.implicit.newton import FullNewton as FullNewton
from haugmbd.integrators.implicit.newton import ModifiedNewton as ModifiedNewton
from haugmbd.integrators.implicit.radau import RadauIIA as RadauIIA
from haugmbd.integrators.implicit.trapezoidal import Trapezoidal as Trapezoidal
from haugmbd.integrators.stabilization.baumgarte import Baumgarte as Baumgarte
from haugmbd.integrators.stabilization.energy_projection import EnergyProjection as EnergyProjection
from haugmbd.integrators.stabilization.projection import Projection as Projection
from haugmbd.integrators.stabilization.unweighted_projection import UnweightedProjection as UnweightedProjection
from haugmbd.integrators.hem4 import HEM4 as HEM4
from haugmbd.integrators.moreau_jean import MoreauJean as MoreauJean
from haugmbd.integrators.rattle import RATTLE as RATTLE

# many variants at once
from haugmbd.batches.batch import Batch as Batch
from haugmbd.batches.batch import batch as batch
from haugmbd.batches.accelerations import BatchAccelerations as BatchAccelerations
from haugmbd.batches.trajectories import Trajectories as Trajectories

# design: derivatives, fits, optima
from haugmbd.sensitivity.parameters import Parameter as Parameter
from haugmbd.sensitivity.parameters import Parameters as Parameters
from haugmbd.sensitivity.sensitivity import Sensitivity as Sensitivity
from haugmbd.sensitivity.sensitivity import sensitivity as sensitivity
from haugmbd.estimation import Fit as Fit
from haugmbd.estimation import fit as fit
from haugmbd.estimation import Identifiability as Identifiability
from haugmbd.estimation import identifiability as identifiability
from haugmbd.design import Tolerances as Tolerances
from haugmbd.design import tolerances as tolerances
from haugmbd.design import Gradient as Gradient
from haugmbd.design import gradient as gradient
from haugmbd.design import Optimum as Optimum
from haugmbd.design import optimize as optimize

# contact and impulses
from haugmbd.impacts.applied_impulse import AngularImpulse as AngularImpulse
from haugmbd.impacts.applied_impulse import PointImpulse as PointImpulse
from haugmbd.contact.contact import Compliant as Compliant
from haugmbd.contact.contact import Contact as Contact
from haugmbd.contact.contacts import Contacts as Contacts
from haugmbd.impacts.impulse import impulse as impulse
from haugmbd.impacts.impulse_result import Impulse as Impulse
from haugmbd.impacts.impulse_result import JointImpulse as JointImpulse
from haugmbd.impacts.impact import ContactHistory as ContactHistory
from haugmbd.impacts.impact import Impact as Impact
from haugmbd.simulation.simulate_impacts import simulate_impacts as simulate_impacts

# analysis without simulation
from haugmbd.analysis.assembly.assemble import assemble as assemble
from haugmbd.analysis.assembly.assembly_modes import AssemblyMode as AssemblyMode
from haugmbd.analysis.assembly.assembly_modes import assembly_modes as assembly_modes
from haugmbd.analysis.assembly.fixed_coordinates import FixedCoordinates as FixedCoordinates
from haugmbd.analysis.assembly.result import Assembly as Assembly
from haugmbd.analysis.equilibrium.equilibrium import equilibrium as equilibrium
from haugmbd.analysis.equilibrium.small_motions.linearization import Linearization as Linearization
from haugmbd.analysis.equilibrium.small_motions.linearization import Mode as Mode
from haugmbd.analysis.equilibrium.small_motions.linearize import linearize as linearize
from haugmbd.analysis.equilibrium.small_motions.state_space import StateSpace as StateSpace
from haugmbd.analysis.equilibrium.small_motions.state_space import StateSpaceMotion as StateSpaceMotion
from haugmbd.analysis.equilibrium.result import Equilibrium as Equilibrium
from haugmbd.analysis.equilibrium.result import Stability as Stability
from haugmbd.analysis.equilibrium.steady_motion import RotorSpin as RotorSpin
from haugmbd.analysis.equilibrium.steady_motion import UniformRotation as UniformRotation
from haugmbd.analysis.equilibrium.steady_motion import UniformTranslation as UniformTranslation
from haugmbd.analysis.kinematics.inverse_dynamics import InverseDynamics as InverseDynamics
from haugmbd.analysis.kinematics.inverse_dynamics import inverse_dynamics as inverse_dynamics
from haugmbd.analysis.kinematics.kinematics import kinematics as kinematics
from haugmbd.analysis.mobility.mobility import mobility as mobility
from haugmbd.analysis.mobility.report import Mobility as Mobility

# diagnostics
from haugmbd.diagnostics.histories import BlockHistory as BlockHistory
from haugmbd.diagnostics.histories import BodyHistory as BodyHistory
from haugmbd.diagnostics.histories import PointHistory as PointHistory
from haugmbd.diagnostics.contact_impacts import CompliantContact as CompliantContact
from haugmbd.impacts.contact_history import RigidContactHistory as RigidContactHistory
from haugmbd.impacts.contact_laws import ContactCheck as ContactCheck
from haugmbd.diagnostics.contact_impacts import ContactImpact as ContactImpact
from haugmbd.diagnostics.histories import DriverHistory as DriverHistory
from haugmbd.diagnostics.energy import Energy as Energy
from haugmbd.diagnostics.energy import Momentum as Momentum
from haugmbd.diagnostics.joint_coordinates import JointCoordinate as JointCoordinate
from haugmbd.diagnostics.joint_coordinates import JointHistory as JointHistory
from haugmbd.diagnostics.load_history import LoadHistory as LoadHistory
from haugmbd.diagnostics.joint_reactions import Reaction as Reaction
from haugmbd.diagnostics.joint_reactions import reaction as reaction
from haugmbd.diagnostics.run_warnings import RunStatus as RunStatus

# serial chains in joint coordinates
from haugmbd.serial_chain.chain import SerialChain as SerialChain
from haugmbd.serial_chain.impulses import ArticulatedImpulse as ArticulatedImpulse
from haugmbd.serial_chain.impulses import articulated_impulse as articulated_impulse
from haugmbd.serial_chain.impulses import chain_impulse as chain_impulse
from haugmbd.serial_chain.link import Link as Link
from haugmbd.serial_chain.chain import random_chain as random_chain
from haugmbd.serial_chain.recursions.aba import aba as aba
from haugmbd.serial_chain.recursions.crba import crba as crba
from haugmbd.serial_chain.recursions.link_motion import jacobians as jacobians
from haugmbd.serial_chain.recursions.link_motion import link_motion as link_motion
from haugmbd.serial_chain.recursions.link_motion import projected_newton_euler as projected_newton_euler
from haugmbd.serial_chain.recursions.rnea import joint_wrenches as joint_wrenches
from haugmbd.serial_chain.recursions.rnea import rnea as rnea
from haugmbd.serial_chain.base import ChainState as ChainState
from haugmbd.math.spatial import apparent_inverse_inertia as apparent_inverse_inertia
from haugmbd.math.spatial import split_wrench as split_wrench
from haugmbd.crosscheck import crosscheck as crosscheck
from haugmbd.crosscheck import CrossCheck as CrossCheck
from haugmbd.modelfile.engines.check import crosscheck_engine as crosscheck_engine
from haugmbd.modelfile.engines.report import EngineCheck as EngineCheck

# studies
from haugmbd.study.comparison.compare import compare as compare
from haugmbd.study.comparison.comparison import Comparison as Comparison
from haugmbd.simulation.results.load_table import LoadTable as LoadTable
from haugmbd.simulation.results.study_data import StudyTable as StudyTable
from haugmbd.simulation.results.study_data import load_study as load_study
from haugmbd.study.method import Method as Method
from haugmbd.study.method import MethodSet as MethodSet
from haugmbd.study.method import methods as methods
from haugmbd.study.drift_law import DriftLaw as DriftLaw
from haugmbd.study.drift_law import drift_law as drift_law
from haugmbd.study.violation_by_joint import JointViolation as JointViolation
from haugmbd.study.violation_by_joint import violation_by_joint as violation_by_joint
from haugmbd.study.violation_condition import ViolationCondition as ViolationCondition
from haugmbd.study.violation_condition import violation_condition as violation_condition
from haugmbd.study.gain_map import GainMap as GainMap
from haugmbd.study.gain_map import gain_map as gain_map
from haugmbd.study.gain_limit import GainLimit as GainLimit
from haugmbd.study.gain_limit import gain_limit as gain_limit
from haugmbd.study.convergence import Convergence as Convergence
from haugmbd.study.convergence import convergence as convergence
from haugmbd.study.order_fit import FittedOrder as FittedOrder
from haugmbd.study.work_precision import WorkPrecision as WorkPrecision
from haugmbd.study.work_precision import work_precision as work_precision
from haugmbd.study.projection_interval import ProjectionInterval as ProjectionInterval
from haugmbd.study.projection_interval import projection_interval as projection_interval
from haugmbd.study.tolerance_map import ToleranceMap as ToleranceMap
from haugmbd.study.tolerance_map import tolerance_map as tolerance_map
from haugmbd.study.sweeps.sweep import sweep as sweep
from haugmbd.study.sweeps.cells import AskTell as AskTell
from haugmbd.study.sweeps.cells import RandomCells as RandomCells
from haugmbd.study.sweeps.cells import Distribution as Distribution
from haugmbd.study.sweeps.cells import normal as normal
from haugmbd.study.sweeps.cells import uniform as uniform
from haugmbd.study.sweeps.executors import Row as Row
from haugmbd.study.sweeps.table import Sweep as Sweep
from haugmbd.study.sweeps.table import SweepFailure as SweepFailure
from haugmbd.interactive import live as live
from haugmbd.viewer.still import Picture as Picture
from haugmbd.viewer.still import picture as picture

# equations as formulas
from haugmbd.equations.equations import Equations as Equations
from haugmbd.equations.equations import equations as equations

# checks of what users write
from haugmbd.verification.verify import verify as verify
from haugmbd.verification.comparisons import Verification as Verification

# errors, citations
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
from haugmbd.citations import cite as cite

# modules
from haugmbd import engine as engine
from haugmbd import faults as faults
from haugmbd import gallery as gallery
from haugmbd import joints as joints
from haugmbd.bodies import inertia as inertia
from haugmbd import labs as labs
from haugmbd import notation as notation
from haugmbd import plotting as plot

__version__: str
