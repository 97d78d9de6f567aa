r"""SerialChain: links in a row, in reduced coordinates.

    q (nq,)    angles [rad], ways [m]; Euler parameters for a ball            in the order of the links, base first
    qd (nv,)   their rates; a ball's are the relative angular velocity, link frame [rad/s]
    tau (nv,)  generalized forces: q_dot . tau is their power [N, N m]

Source: seeds 000, 002, 003.
"""

from __future__ import annotations

from typing import Any, Self

import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.model.immutable import immutable
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.conversion import coordinates as conversion_coordinates
from haugmbd.serial_chain.conversion import from_system as conversion_from_system
from haugmbd.serial_chain.conversion import to_system as conversion_to_system
from haugmbd.system.system import System


@immutable("Make another SerialChain.")
class SerialChain(BaseChain):
    """Links in a row from a fixed or free base; nothing in it can be changed.

    links: base first;  gravity: (3,) global [m/s2];  base: the first handle, global [m], (3,);  name
    order: the row of each link in the states of a System with the same bodies; by default 1, 2, ... n
    Raises ModelError with everything that is wrong with the links at once; UsageError where they are no list.
    """

    @classmethod
    def from_system(cls, system: System | Model, *, without_loads: bool = False) -> Self:
        """From a System, or the Model of one, that is a serial chain: on the ground, or free; gravity is taken over.

        Links are called as the bodies; `chain.coordinates(model.state())` are q and qd of the modelled pose.
        without_loads: leave springs, forces and torques out instead of refusing them
        Raises ModelError that says why and where it is no chain, all reasons at once; UsageError for something else than a System.
        """
        return conversion_from_system.from_system(cls, system, without_loads)

    def to_system(
        self,
        tau: npt.ArrayLike | None = None,
        wrenches: Any = None,
        q: npt.ArrayLike | None = None,
        qd: npt.ArrayLike | None = None,
    ) -> System:
        """The same chain in maximal coordinates: one body a link (same name), "joint of <link>", modelled at q, qd.

        tau: (nv,) constant generalized forces;  wrenches: (n, 6) constant force [N] and moment [N m] on each link at its centre of
        mass, global;  q: (nq,) and qd: (nv,), by default `q_zero()` and zeros
        Raises UsageError for wrong lengths, ModelError for what cannot be a body or a joint of the catalogue, such as a massless link.
        """
        return conversion_to_system.to_system(self, tau, wrenches, q, qd)

    def state(self, model: Model, q: npt.ArrayLike, qd: npt.ArrayLike | None = None, t: float = 0.0) -> State:
        """The state of `model` (of the twin, or what the chain was made from) at q (nq,), qd (nv,) and t [s].

        Raises UsageError for wrong lengths, and for a model whose bodies are not the links.
        """
        return conversion_coordinates.state(self, model, q, qd, t)

    def coordinates(self, state: State) -> tuple[Array, Array]:
        """q (nq,) and qd (nv,) of a state of the twin, or of the model that the chain was made from.

        Angles in (-pi, pi]: a state does not remember turns; Euler parameters with e0 >= 0.
        Raises ModelError where the state violates the joints, with the gap of each, UsageError for another number of bodies.
        """
        return conversion_coordinates.coordinates(self, state)
