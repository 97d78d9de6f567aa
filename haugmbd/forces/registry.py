"""All force elements: `KINDS` in the order of the load tables, and the kernels that run through them.

A new element adds its class to `KINDS`, its `add_forces` to `add_loads`, and, if it has them, `measure` and `put_angle_rates` at the
same place; `add_tangent` if it is stiff or damped; `potential` if it is conservative.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.constraints.base import Motion
from haugmbd.forces import point_force, rsda, state_force, torque, tsda
from haugmbd.forces.base import ForceElement

KINDS: tuple[type[ForceElement], ...] = (tsda.TSDA, rsda.RSDA, point_force.PointForce, torque.Torque, state_force.StateForce)


@inlined
def measure_loads(ints: Ints, at: Ints, m: Motion, signals: Array) -> None:
    """Write length or angle, and its rate, of every element that measures; the rows of kind k are at[k] ... at[k + 1] - 1."""
    tsda.measure(ints, at[0], at[1], m, signals)
    rsda.measure(ints, at[1], at[2], m, signals)


@inlined
def add_loads(ints: Ints, reals: Array, at: Ints, m: Motion, Q: Array) -> None:
    """Add the generalized forces of every element (those of a StateForce are added by its callback)."""
    tsda.add_forces(ints, reals, at[0], at[1], m, Q)
    rsda.add_forces(ints, reals, at[1], at[2], m, Q)
    point_force.add_forces(ints, reals, at[2], at[3], m, Q)
    torque.add_forces(ints, reals, at[3], at[4], m, Q)


@kernel
def potential_of_loads(ints: Ints, reals: Array, at: Ints, m: Motion) -> float:
    """Return the potential energy of the elements that have one."""
    return tsda.potential(ints, reals, at[0], at[1], m) + rsda.potential(ints, reals, at[1], at[2], m)


@inlined
def add_tangents(
    ints: Ints,
    reals: Array,
    at: Ints,
    m: Motion,
    c_K: float,
    c_C: float,
    D: Array,
    load_tie: Ints,
    ties: Ints,
    own: Array,
    tied: Array,
) -> None:
    """Add c_K K + c_C C of every spring, damper and actuator to the tangents of bodies and of coupled pairs of bodies."""
    tsda.add_tangent(ints, reals, at[0], at[1], m, c_K, c_C, D, load_tie, ties, own, tied)
    rsda.add_tangent(ints, reals, at[1], at[2], m, c_K, c_C, D, load_tie, ties, own, tied)


@inlined
def add_declared_tangents(
    ints: Ints, reals: Array, at: Ints, m: Motion, c_K: float, c_C: float, D: Array, load_tie: Ints, coupled: Ints, ties: Ints,
    own: Array, tied: Array,
) -> None:  # fmt: skip
    """Add c_K K + c_C C of forces and torques with a declared jacobian to the tangents of bodies and of coupled pairs of bodies."""
    point_force.add_tangent(ints, reals, at[2], at[3], m, c_K, c_C, D, load_tie, own)
    torque.add_tangent(ints, reals, at[3], at[4], m, c_K, c_C, D, load_tie, own)
    state_force.add_tangent(coupled, c_K, c_C, D, ties, own, tied)


@inlined
def put_angle_rates(ints: Ints, at: Ints, m: Motion, rates: Array) -> None:
    """Write the rate of every integrated angle."""
    rsda.put_angle_rates(ints, at[1], at[2], m, rates)
