r"""ToothContact: where the teeth of a pair of gears touch, and in which directions they push; given to the reactions of the pair.

    F = F_t ( t + a l ) + |F_t| b s           the force on wheel a at the contact point, from the torque F_t r of the row on it
    a = -tan(helix)     b = tan(pressure) / cos(helix)

t, s, l are unit vectors fixed on the carrier: along the pitch circle of wheel a, towards its material, and along the line where the
pitch surfaces touch. Wheel b gets the opposite force, the carrier none.
Source: Norton (2014), Design of Machinery; Shigley and Mischke (1989), forces on spur, helical and bevel gears.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array


class ToothContact(NamedTuple):
    """The contact of two wheels, or of a pinion (wheel a) and a rack.

    carrier: the body that both are guided on;  wheels: their bodies;  bearings: the joints that guide them on the carrier
    point: (3,) of the contact [m], and axis, t, s, l: (3,) unit vectors, carrier's body frame;  axis that of wheel a
    radius: of the pitch circle of wheel a [m];  along, apart: a and b above
    """

    carrier: Body
    wheels: tuple[Body, Body]
    bearings: tuple[Any, Any]
    point: Array
    axis: Array
    t: Array
    s: Array
    l: Array  # noqa: E741  the symbol of the formula
    radius: float
    along: float
    apart: float
