"""All force elements there are: `KINDS` in the order of the load tables, and the kernels that run through them.

A new element adds its class to `KINDS`, its `fill` to `add_loads`, and, where it has them, `measure` and `angle_rate`, at the same place.
"""

from __future__ import annotations

from haugmbd.algebra.jit import inlined, kernel
from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.forces import tsda
from haugmbd.forces.base import Load
from haugmbd.primitives.base import Motion

KINDS: tuple[type[Load], ...] = (tsda.TSDA,)


@inlined
def measure_loads(ints: Ints, reals: Array, at: Ints, m: Motion, signals: Array) -> None:
    """Write length or angle, and its rate, of every element that measures; kind k stands in rows at[k] ... at[k + 1] - 1."""
    tsda.measure(ints[at[0] : at[1]], reals[at[0] : at[1]], m, signals)


@inlined
def add_loads(ints: Ints, reals: Array, at: Ints, m: Motion, signals: Array, Q: Array) -> None:
    """Add the generalized forces of every element."""
    tsda.fill(ints[at[0] : at[1]], reals[at[0] : at[1]], m, signals, Q)


@inlined
def put_angle_rates(ints: Ints, reals: Array, at: Ints, m: Motion, rates: Array) -> None:
    """Write the rate of every integrated angle."""
    rates[:] = 0.0
