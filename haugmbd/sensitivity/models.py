r"""Models of varied parameters, and the runs that are differentiated: everything that sensitivities take from the rooms below but kernels.

A nominal model is compiled and checked as any other.  A varied one has the same parts with other numbers: it is built without checks, in
tables of the same structure, with the dependent rows and the measures of length of the nominal one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.analysis.assembly.assemble import assemble as assemble
from haugmbd.analysis.equilibrium.equilibrium import equilibrium as equilibrium
from haugmbd.analysis.equilibrium.small_motions.linearize import linearize as linearize
from haugmbd.analysis.kinematics.kinematics import kinematics as kinematics
from haugmbd.batches.parameters import Parameter as PathParameter
from haugmbd.batches.parameters import read_parameters as read_paths
from haugmbd.batches.parameters import unknown as unknown
from haugmbd.batches.parameters import variables_of as variables_of
from haugmbd.batches.variant import variant_system as variant_system
from haugmbd.bodies.frame import TriadChoices as TriadChoices
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import resolve as resolve
from haugmbd.diagnostics.run_warnings import RunStatus as RunStatus
from haugmbd.drivers import Expression as Expression
from haugmbd.drivers import compile_drivers
from haugmbd.drivers.functions import PythonDriver as UserFunctionDriver
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import accelerations as accelerations
from haugmbd.formulations.error_messages import explain
from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta as EmbeddedRungeKutta
from haugmbd.integrators.explicit.runge_kutta import RungeKutta as RungeKutta
from haugmbd.integrators.stabilization.projection import Projection as Projection
from haugmbd.kkt.solver import BLOCK
from haugmbd.model.compiling.numbering import numbered_by_origin
from haugmbd.model.inspection.driver_breaks import break_between as break_between
from haugmbd.model.model import Model as Model
from haugmbd.model.state import State as State
from haugmbd.simulation.arguments import choose_integrator as choose_integrator
from haugmbd.simulation.results.result import Result as Result
from haugmbd.simulation.simulate import simulate as simulate
from haugmbd.system.rebuilt import FROZEN as FROZEN
from haugmbd.system.rebuilt import rebuilt_model
from haugmbd.system.system import System as System
from haugmbd.workspace.layout import Pack

__all__ = ["PathParameter", "UserFunctionDriver", "read_paths"]


def nominal_model(system: System) -> Model:
    """Return the checked model of a system, with tables that keep their structure when a parameter changes."""
    with numbered_by_origin():
        return system.compile(solver=BLOCK)


def varied_model(system: System, nominal: Model) -> Model:
    """Return the model of the same parts with other numbers; raise UsageError if its tables have another structure."""
    with numbered_by_origin():
        model = rebuilt_model(system, nominal, solver=BLOCK)
    if not np.array_equal(model.tables.ints, nominal.tables.ints):
        raise UsageError("the structure of the model changes: other bodies, joints, rows or loads")
    return model


def driver_constants(model: Model) -> Array:
    """Return f, f', f'' (nd, 3) of the constant drivers."""
    F0: Array = compile_drivers(model.drivers).F0
    return F0


def failure(model: Model, pack: Pack, code: int, t: float) -> Exception:
    """Return the error for a status code of a kernel."""
    model.raise_user_error(pack)
    return explain(model, pack, code, t)


def calls_python(model: Model) -> Any:
    """Return whether functions of the user, or blocks, are called in every evaluation."""
    return model.force_callbacks.any
