"""A model of the same bodies and rows with other numbers or functions, built without checks.

The dependent rows are those of the nominal model, and so is what measures lengths and weighs rows, where the tables have the same shape.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from haugmbd.constraints.coordinate import Coordinate
from haugmbd.contact.joint_stop import stops_of
from haugmbd.control.diagram.build import build_network
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.redundancy import put_mask
from haugmbd.system.build import build_model
from haugmbd.system.joint_equations import JointEquations
from haugmbd.system.parameters import bind_expressions
from haugmbd.system.system import System

FROZEN = ("ROW_WEIGHT", "LENGTH", "SCALE", "KEPT", "PAD")
"""Numbers of tables that measure or mask, and do not enter the motion."""


def rebuilt_model(system: System, nominal: Model, solver: str | None = None) -> Model:
    """Return the model of the parts of a system, with the dependent rows and the measures of `nominal`;  solver: as in `System.compile`"""
    equations = JointEquations(system.joints)
    bind_expressions(system.name, dict(system.parameters), equations.that_were_read(), (*system.loads, *system.blocks))
    struck = (*system.contacts, *stops_of(system.loads))
    network, _ = build_network(system.blocks, system.sensors, system.bodies, *system.signal_parts, State.from_y, struck)
    model = build_model(
        system.name,
        system.bodies,
        system.joints,
        system.loads,
        np.array(system.gravity, dtype=np.float64),
        redundancy=nominal.redundancy,
        solver=solver,
        equations=equations,
        network=network,
        contacts=tuple(system.contacts),
        layout=system.layout,
    )
    return put_frozen(model, nominal)


def rebuilt_in_part(system: System, nominal: Model, solver: str | None = None) -> Model:
    """Return the model as `rebuilt_model` does, of the parts that are on at the start; it knows the others, as a compiled one does."""
    if not system.inactive:
        return rebuilt_model(system, nominal, solver)
    acting, parts = system.acting(_angles_of_couplings(system))
    return replace(rebuilt_model(acting, nominal, solver), parts=parts)


def _angles_of_couplings(system: System) -> tuple[Coordinate, ...]:
    """Return the joint angles that couplings of a system read, also those that are off."""
    whole = build_model(system.name, system.bodies, system.joints, (), np.zeros(3), equations=JointEquations(system.joints))
    return tuple(q for q, _ in whole.angles)


def put_frozen(model: Model, nominal: Model) -> Model:
    """Mask the dependent rows of a model, give it the measures of another one where the tables have the same shape, and return it."""
    put_mask(model)
    for name in FROZEN:
        start, rows, columns = model.tables.place(name)
        other, *shape = nominal.tables.place(name)
        if [rows, columns] == shape:
            model.tables.reals[start : start + rows * columns] = nominal.tables.reals[other : other + rows * columns]
    return model


def system_of(model: Model) -> System:
    """Return a system of the parts of a model, which are shared, so that one of them can be exchanged before it is built again."""
    system = System(model.name, gravity=tuple(model.gravity.tolist()))
    system.ground = system.bodies[0] = model.bodies[0]
    system.bodies += model.bodies[1:]  # as they are: force elements have added parts of their own already
    system.joints += [entry.part for entry in model.joints.values()]
    system.loads += model.force_elements
    system.contacts += model.contacts
    if model.network is not None:
        system.blocks += model.network.blocks
        system.sensors += model.network.scope.sensors.values()
    return system
