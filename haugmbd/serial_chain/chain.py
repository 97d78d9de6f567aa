r"""SerialChain: a serial chain of links in joint coordinates.

    q (nq,)    angles [rad], displacements [m]; Euler parameters of a spherical joint    in the order of the links, base first
    qd (nv,)   their rates; those of a spherical joint are the relative angular velocity, link frame [rad/s]
    tau (nv,)  generalized forces: q_dot . tau is their power [N, N m]

Source: Featherstone 2008, ch. 4 to 7.
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
    """A serial chain of links from a fixed or free base.

    Parameters
    ----------
    links : iterable of Link
        The links, base first.
    gravity : array_like, (3,)
        Gravity, global [m/s2].
    base : array_like, (3,)
        Handle of the first link, global [m].
    name : str
        Name of the chain.
    order : sequence of int, optional
        Row of each link in the states of a System with the same bodies; by default 1, 2, ... n.

    Attributes
    ----------
    n, nq, nv : int
        Numbers of links, coordinates and freedoms.

    Raises
    ------
    ModelError
        If the links have faults; it lists all of them.
    UsageError
        If `links` or `order` is not a list.

    Notes
    -----
    A chain cannot be changed. Source: Featherstone 2008, ch. 4 to 7.
    """

    @classmethod
    def from_system(cls, system: System | Model, *, without_loads: bool = False) -> Self:
        """Return the chain of a System that is a serial chain, on the ground or free.

        Parameters
        ----------
        system : System or Model
            The system. Gravity is taken from it, and links have the names of bodies.
        without_loads : bool
            If True, leave springs, forces and torques out. If False, raise ModelError for them.

        Returns
        -------
        SerialChain
            The chain; `chain.coordinates(model.state())` are q and qd of the modelled pose. Of a joint with one freedom, q is the joint's
            coordinate, which is its `q0` there, but with the other sign where the link is body i.

        Raises
        ------
        ModelError
            If the system is not a serial chain; it lists all reasons.
        UsageError
            If `system` is of another type.
        """
        return conversion_from_system.from_system(cls, system, without_loads)

    def to_system(
        self,
        tau: npt.ArrayLike | None = None,
        wrenches: Any = None,
        q: npt.ArrayLike | None = None,
        qd: npt.ArrayLike | None = None,
    ) -> System:
        """Return the same chain in maximal coordinates: for each link a body of the same name, and a joint named "joint of <link>".

        Parameters
        ----------
        tau : array_like, (nv,), optional
            Constant generalized forces.
        wrenches : array_like, (n, 6), optional
            Constant force [N] and moment [N m] on each link at its centre of mass, global.
        q : array_like, (nq,), optional
            Coordinates of the modelled pose; by default `q_zero()`.
        qd : array_like, (nv,), optional
            Rates of the modelled pose; by default zero.

        Returns
        -------
        System
            The system.

        Raises
        ------
        UsageError
            If an argument has the wrong length.
        ModelError
            If a link has no mass, or a joint that the catalogue does not have. The message names all such links.
        """
        return conversion_to_system.to_system(self, tau, wrenches, q, qd)

    def state(self, model: Model, q: npt.ArrayLike, qd: npt.ArrayLike | None = None, t: float = 0.0) -> State:
        """Return the state of a model at given joint coordinates.

        Parameters
        ----------
        model : Model
            Compiled from `to_system()`, or the model that the chain was made from.
        q : array_like, (nq,)
            Joint coordinates.
        qd : array_like, (nv,), optional
            Joint rates; by default zero.
        t : float
            Time [s].

        Returns
        -------
        State
            The state of the bodies.

        Raises
        ------
        UsageError
            If an argument has the wrong length, or the bodies of the model are not the links.
        """
        return conversion_coordinates.state(self, model, q, qd, t)

    def coordinates(self, state: State) -> tuple[Array, Array]:
        """Return the joint coordinates and rates of a state.

        Parameters
        ----------
        state : State
            A state of the model from `to_system()`, or of the model that the chain was made from.

        Returns
        -------
        q : ndarray, (nq,)
            Joint coordinates; angles in (-pi, pi], Euler parameters with e0 >= 0. A state does not store the number of turns.
        qd : ndarray, (nv,)
            Joint rates.

        Raises
        ------
        ModelError
            If the state violates the joints; it gives the gap of each.
        UsageError
            If the number of bodies is wrong.
        """
        return conversion_coordinates.coordinates(self, state)
