"""The kernels of one evaluation that tangents are made of, from the rooms below: rows and forces, the factor, the steps of a projection."""

from __future__ import annotations

from haugmbd.compiled.array_views import borrow as borrow
from haugmbd.compiled.jit import DirectCall as DirectCall
from haugmbd.compiled.jit import entry as entry
from haugmbd.compiled.jit import kernel as kernel
from haugmbd.compiled.jit import released as released
from haugmbd.compiled.status_codes import OK as OK
from haugmbd.formulations.newton_euler import begin as begin
from haugmbd.formulations.newton_euler import factorize as factorize
from haugmbd.formulations.newton_euler import finish as finish
from haugmbd.formulations.newton_euler import put_rates as put_rates
from haugmbd.formulations.newton_euler import put_right_hand_side as put_right_hand_side
from haugmbd.integrators.explicit.tableau import Tableau as Tableau
from haugmbd.integrators.explicit.tableau import combine as combine
from haugmbd.integrators.stabilization.projection import put_position_residual as put_position_residual
from haugmbd.integrators.stabilization.projection import put_velocity_residual as put_velocity_residual
from haugmbd.kkt.pivot_trials import copy as copy
from haugmbd.math.body_columns import VELOCITY as VELOCITY
from haugmbd.math.body_columns import WIDTH as WIDTH
from haugmbd.math.euler_kernels import normalize as normalize
from haugmbd.math.euler_kernels import rotate_by as rotate_by
from haugmbd.model.evaluate import evaluate_rows as evaluate_rows
from haugmbd.model.evaluate import prepare as prepare
from haugmbd.model.generalized_forces import clear as clear
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import ACCELERATIONS as ACCELERATIONS
from haugmbd.workspace.layout import PACK_TYPE as PACK_TYPE
from haugmbd.workspace.layout import POSITIONS as POSITIONS
from haugmbd.workspace.layout import VELOCITIES as VELOCITIES
from haugmbd.workspace.layout import Pack as Pack
from haugmbd.workspace.layout import workspace_array as workspace_array

__all__ = ["ws"]
