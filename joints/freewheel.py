r"""Freewheel (one-way clutch, ratchet, backstop): a sum of joint coordinates may grow, and not fall.

    s = sum_k c_k q_k'        s >= 0,   T >= 0,   s T = 0        T: the force along s, c_k T that on q_k

    locked     the row of a coupling at the pose of the moment, s = 0:  slips where T falls through zero
    slipping   nothing:  locks where s falls through zero, or by an impulse where a jump makes it negative

Both instants are located by `simulate`, and are events, "NAME: locks" and "NAME: slips". Neither loses energy, except for an impulse.
Source: Haug (2021), kinematic couplings; Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts (1996), on complementarity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haugmbd.constraints import Coordinate, Joint
from haugmbd.drivers import as_driver
from haugmbd.errors import Fault

from .coupling import Coupling


class Freewheel(Coupling):
    """Freewheel: a coordinate of a joint, or a sum of several, turns in one sense alone. Removes 1 degree of freedom while it is locked.

    Parameters
    ----------
    name : str
        Name of the freewheel in messages and results.
    terms : Joint, Coordinate, or dict of Joint or Coordinate to float
        The coordinate that may grow and not fall, such as the angle of the bearing between two shafts: body j overruns body i in the
        positive sense, and is carried by it. Several coordinates with their coefficients c_k: sum c_k q_k may grow, as {wheel: 1, hub: -1}.

    Raises
    ------
    UsageError
        If terms is neither a joint, nor a coordinate, nor a dict of them. Other bad values are collected in `faults()`.

    Notes
    -----
    `simulate` lets it lock and slip. `result.switches` and `result.events` have the instants; `result.reaction(name)` the moment while it
    is locked, zero while it slips. A start at which the sum falls is caught by an impulse; at rest it holds what presses. Loads of its
    bearing, such as a drag or a JointFriction, act in both states.
    It acts in `simulate` alone: accelerations and other questions of a state see the mechanism as it slips, and studies that do not
    simulate by events refuse it by name.
    Source: Pfeiffer and Glocker (1996).
    """

    active = False
    one_way = True

    def __init__(self, name: str, terms: Joint | Coordinate | Mapping[Joint | Coordinate, float]) -> None:
        coefficients: Any = {terms: 1.0} if isinstance(terms, Joint | Coordinate) else terms
        super().__init__(name, coefficients)
        self.given = {"terms": dict(coefficients)}
        self.f = as_driver(sum(c * q.q0 for q, c in self.terms))

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of the terms, and of a state that is prescribed."""
        if self.__dict__.get("active"):
            what = "active=True: whether it is locked follows from the motion"
            return (Fault(f"joint {self.name!r}", what, "Leave active out; a coupling that is locked both ways is a Coupling."),)
        return super().faults()
