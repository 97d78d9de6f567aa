"""SerialChain: a serial chain of links in joint coordinates; random chains for tests and cross-checks.

    q (nq,)    angles [rad], displacements [m]; Euler parameters of a spherical joint    in the order of the links, base first
    qd (nv,)   their rates; those of a spherical joint are the relative angular velocity, link frame [rad/s]
    tau (nv,)  generalized forces: q_dot . tau is their power [N, N m]
Source: Featherstone 2008, ch. 4 to 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, normalized
from haugmbd.model.immutable import immutable
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.serial_chain import coordinates as conversion_coordinates
from haugmbd.serial_chain import from_system as conversion_from_system
from haugmbd.serial_chain import to_system as conversion_to_system
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.link import Link
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


KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "fixed")


@check_keywords
def random_chain(
    n: int, seed: int, *, kinds: Sequence[str] = KINDS, free_base: bool = False, gravity: Any = (0.0, 0.0, -9.81)
) -> SerialChain:
    """Return a random serial chain; the same seed gives the same chain.

    Parameters
    ----------
    n : int
        Number of links.
    seed : int
        Seed of the random numbers.
    kinds : sequence of str
        Kinds of joints: "revolute", "prismatic", "cylindrical", "universal", "spherical", "fixed".
    free_base : bool
        If True, the first link is free.
    gravity : array_like, (3,)
        Gravity, global [m/s2].

    Returns
    -------
    SerialChain
        The chain: lengths of about 0.5 m, masses of 0.5 to 2 kg, full inertia tensors. If all joints are fixed, nothing moves.

    Raises
    ------
    UsageError
        If an argument is not valid.
    """
    if isinstance(n, bool) or not (isinstance(n, int | np.integer) and n >= 1):
        raise UsageError(f"a random chain needs a whole number of links, 1 or more, got {n!r}.")
    if isinstance(seed, bool) or not (isinstance(seed, int | np.integer) and seed >= 0):
        raise UsageError(f"a random chain needs a seed, a whole number, 0 or more, got {seed!r}.")
    if isinstance(kinds, str) or not isinstance(kinds, Iterable):
        raise UsageError(f"kinds={kinds!r} is not a list of joints. Give a list or tuple of some of {', '.join(KINDS)}.")
    kinds = tuple(kinds)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise UsageError(f"kinds of joints {unknown or 'none'}: choose from {', '.join(KINDS)}.")
    rng = np.random.default_rng(seed)
    chosen = [str(kind) for kind in rng.choice(list(kinds), size=n)]
    if free_base:
        chosen[0] = "free"
    return SerialChain(
        [_link(rng, f"link {k}", kind) for k, kind in enumerate(chosen, start=1)], gravity=gravity, name=f"random {seed}"
    )


def _link(rng: np.random.Generator, name: str, kind: str) -> Link:
    """Return one random link."""
    mass = rng.uniform(0.5, 2.0)
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    spread = rng.uniform(0.05, 0.3, size=3) ** 2  # second moments of mass along three axes: any give a physical inertia
    J_bar = mass * R @ np.diag(spread.sum() - spread) @ R.T
    axis, other = rng.normal(size=(2, 3))
    placement = {"c": 0.3 * rng.normal(size=3), "L": 0.5 * rng.normal(size=3), "p": normalized(rng.normal(size=4))}
    axes: dict[str, Array] = {}
    if kind == "universal":
        axes = {"axis_1": axis, "axis_2": cross(axis, other)}
    elif kind in ("revolute", "prismatic", "cylindrical"):
        axes = {"axis": axis}
    link: Link = getattr(Link, kind)(name, mass, 0.5 * (J_bar + J_bar.T), **placement, **axes)
    return link


def random_motion(chain: SerialChain, seed: int) -> tuple[Array, Array, Array]:
    """Return random q (nq,), qd and tau (nv,) for a chain, of order one."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=chain.nq)
    for (_, n, at), link in zip(chain.tables["LINKS"], chain.links, strict=True):
        if link.nq > link.nv:
            q[at + n - 3 : at + n + 1] = normalized(q[at + n - 3 : at + n + 1])
    return q, rng.normal(size=chain.nv), rng.normal(size=chain.nv)
