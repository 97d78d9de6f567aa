"""The kernels of one evaluation that tangents are made of, from the rooms below: rows and forces, the factor, the steps of a projection."""

from __future__ import annotations

from haugmbd.compiled.array_views import borrow as borrow
from haugmbd.compiled.jit import DirectCall as DirectCall
from haugmbd.compiled.jit import kernel as kernel
from haugmbd.compiled.jit import released as released
from haugmbd.compiled.scalars import LANES as LANES
from haugmbd.compiled.scalars import as_duals as as_duals
from haugmbd.compiled.scalars import tangent_of as tangent_of
from haugmbd.compiled.status_codes import OK as OK
from haugmbd.formulations.newton_euler import factorize as factorize
from haugmbd.formulations.newton_euler import finish as finish
from haugmbd.formulations.newton_euler import rates_at_hand as rates_at_hand
from haugmbd.formulations.newton_euler import rates_of_stage as rates_of_stage
from haugmbd.formulations.newton_euler import solve_system as solve_system
from haugmbd.integrators.explicit.tableau import Tableau as Tableau
from haugmbd.integrators.explicit.tableau import combine as combine
from haugmbd.integrators.stabilization.corrections import add_displacement as add_displacement
from haugmbd.integrators.stabilization.corrections import add_velocity as add_velocity
from haugmbd.integrators.stabilization.projection import put_position_residual as put_position_residual
from haugmbd.integrators.stabilization.projection import put_velocity_residual as put_velocity_residual
from haugmbd.math.body_columns import VELOCITY as VELOCITY
from haugmbd.math.body_columns import WIDTH as WIDTH
from haugmbd.math.euler_kernels import normalize as normalize
from haugmbd.model.evaluate import evaluate_rows as evaluate_rows
from haugmbd.model.evaluate import prepare as prepare
from haugmbd.model.generalized_forces import copy_line as copy_line
from haugmbd.sensitivity.dual_pack import DualPack as DualPack
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack as Pack
from haugmbd.workspace.layout import place_in as place_in
from haugmbd.workspace.layout import workspace_array as workspace_array

__all__ = ["ws"]
