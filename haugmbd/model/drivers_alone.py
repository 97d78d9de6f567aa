r"""Rows without forces: they depend on the functions of drivers alone, and a force may have no value where joints are open.

prepare:    markers, drivers, [ loads ], rows            [ ] drivers that only Python can evaluate, in place of the loads
"""

from __future__ import annotations

from dataclasses import replace

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import Callback, call_callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import routine
from haugmbd.compiled.status_codes import OK, USER_STOPPED, report
from haugmbd.forces.registry import BUSHINGS
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import APPLY_SIGNATURE, Pack, with_callback


@routine
def apply_nothing(stage: int, t: float, P: Pack, callback: Callback, y: Array, rates: Array) -> int:
    """Evaluate no force element."""
    return OK


@routine
def apply_drivers(stage: int, t: float, P: Pack, callback: Callback, y: Array, rates: Array) -> int:
    """Call the functions of drivers, which leave their values in F, and evaluate no force element."""
    m = update_kinematics(P, t, y)
    if not call_callback(callback, t, y, ws.signals(P), m.F, ws.user_forces(P), ws.succeeded(P)):
        copy_line(y, ws.stopped_state(P))
        return report(ws.status(P), USER_STOPPED, 0, t)
    return OK


APPLY_NOTHING, APPLY_DRIVERS = Routine(apply_nothing, APPLY_SIGNATURE), Routine(apply_drivers, APPLY_SIGNATURE)


@once_per_model
def may_lack_values(model: Model) -> bool:
    """Return whether forces may have no value at a pose: those of functions of the user, and of bushings beyond half a turn."""
    starts = model.tables["FORCE_KIND_STARTS"][0]
    return model.force_callbacks.any or bool(starts[BUSHINGS + 1] > starts[BUSHINGS])


def without_forces(model: Model, pack: Pack) -> Pack:
    """Return the workspace `pack` of a model with the routines that evaluate its rows, and no force that may have no value."""
    if not may_lack_values(model):
        return pack
    callbacks = model.force_callbacks
    moving = None if model.network is None or not model.network.motions else replace(model.network, alone=True)
    if callbacks.driver_calls or moving is not None:
        drivers = replace(callbacks, force_calls=(), network=moving)
        return with_callback(pack._replace(apply=APPLY_DRIVERS), drivers.callback())
    return pack._replace(apply=APPLY_NOTHING)
