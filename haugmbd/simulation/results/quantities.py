r"""Quantities of a motion by their names, in the same way for every run: smooth, with impacts, or in joint coordinates.

A motion consists of smooth pieces in maximal coordinates, each a Result: one of a simulation, one for each segment of a motion with
impacts. A quantity is computed piece by piece and joined; turns and work continue from piece to piece.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.contact_impacts import CompliantContact, ContactImpact, joined_impacts
from haugmbd.diagnostics.energy import Energy
from haugmbd.diagnostics.histories import (
    BlockHistory,
    BodyHistory,
    DriverHistory,
    PointHistory,
    block_history,
    driven_row,
    driver_history,
)
from haugmbd.diagnostics.joint_coordinates import JointHistory, joint_history
from haugmbd.diagnostics.joint_reactions import Axes, Reaction, SelfStresses, Side
from haugmbd.diagnostics.load_history import LoadHistory, load_history
from haugmbd.diagnostics.reaction_signals import bind
from haugmbd.diagnostics.work import Work
from haugmbd.math.euler_parameters import cross
from haugmbd.model.inspection.points import locate
from haugmbd.model.labels import joint_named, named, no_such
from haugmbd.model.model import Model
from haugmbd.model.views import Plots
from haugmbd.simulation.results.joining import (
    join_blocks,
    join_drivers,
    join_joints,
    join_loads,
    join_points,
    joined,
    over_structures,
)
from haugmbd.simulation.sensor import SensorHistory

if TYPE_CHECKING:
    import pandas
    import xarray

    from haugmbd.simulation.results.load_table import LoadTable


class Piece(Protocol):
    """A smooth piece of a motion, a Result: times, states, the model, solutions (u_dot, lam) by nodes, and self-stresses."""

    @property
    def t(self) -> Array: ...
    @property
    def y(self) -> Array: ...
    @property
    def model(self) -> Model: ...
    @property
    def _self_stresses(self) -> SelfStresses: ...
    @property
    def _sensors(self) -> Mapping[str, SensorHistory]: ...
    @property
    def _turns(self) -> Array | None: ...
    @property
    def _work(self) -> Work: ...
    def _solve(self) -> Array: ...
    def _impacts_of(self, name: str) -> tuple[ContactImpact, ...]: ...
    def __getitem__(self, body: str, /) -> BodyHistory: ...


def _has_load(piece: Piece, name: str) -> bool:
    """Return whether a piece has a force element of this name."""
    return any(entry.load.name == name for entry in piece.model.loads)


class HasQuantities(ABC):
    """Base class of results: joints, loads and drivers over time, by name."""

    @abstractmethod
    def _pieces(self) -> Sequence[Piece]:
        """Return the smooth pieces of the motion, in maximal coordinates."""

    def joint(self, name: str) -> JointHistory:
        """Return the coordinates of a joint over time.

        Parameters
        ----------
        name : str
            Name of the joint.

        Returns
        -------
        JointHistory
            `.angle`, `.displacement` or `.rotation`, `.rate` and `.acceleration`; signs and zeros as the joint's class describes them.

        Raises
        ------
        UsageError
            If there is no joint of that name, if it has no coordinates, or if the stored states are too far apart to count its turns.
        """

        def of(p: Piece) -> JointHistory:
            entry = joint_named(p.model.joints, name)
            return joint_history(p.model, entry, p.t, p.y, p._solve()[:, : p.model.nb + 1], p._turns)

        return over_structures(self._pieces(), name, lambda p: name in p.model.joints, of, join_joints)

    def load(self, name: str) -> LoadHistory:
        """Return the quantities of a force element over time.

        Parameters
        ----------
        name : str
            Name of the element.

        Returns
        -------
        LoadHistory
            `.power` (given to the bodies), `.energy` and `.work` of every element; `.length`, `.rate`, `.force` (positive pulls) and
            `.stroke` of a TSDA, `.angle`, `.rate` and `.torque` of an RSDA, `.force` or `.torque` of others.

        Raises
        ------
        UsageError
            If there is no element of that name.
        """

        def of(p: Piece) -> LoadHistory:
            return load_history(p.model, p.t, p.y, name, partial(getattr, p, "_work"))

        return over_structures(self._pieces(), name, lambda p: _has_load(p, name), of, join_loads)

    def contact(self, name: str) -> Any:
        """Return a compliant contact over time, and its impacts.

        Parameters
        ----------
        name : str
            Name of a ContactForce.

        Returns
        -------
        CompliantContact
            Indentation, forces and slip of each point, and `.impacts`: of each impact times and speeds of touch and release, the
            restitution that was reached, the largest indentation, and the lost energy.

        Raises
        ------
        UsageError
            If there is no contact of that name.
        """
        contacts = [entry.load.name for piece in self._pieces() for entry in piece.model.loads if entry.load.is_contact]
        contacts = list(dict.fromkeys(contacts))
        if name not in contacts:
            raise no_such("contact", name, contacts)
        found = self.load(name)
        values = (found.indentation, found.rate, found.normal_force, found.friction_force, found.slip)
        return CompliantContact(name, found.t, *values, self._impacts_of(name))

    def _impacts_of(self, name: str) -> tuple[ContactImpact, ...]:
        """Return the impacts of a compliant contact."""
        return joined_impacts(piece._impacts_of(name) for piece in self._pieces())

    def block(self, name: str) -> BlockHistory:
        """Return the states and outputs of a block over time.

        Parameters
        ----------
        name : str
            Name of the block.

        Returns
        -------
        BlockHistory
            `.x` (nt, n), and `.outputs` by name.

        Raises
        ------
        UsageError
            If there is no block of that name.
        """
        pieces = self._pieces()
        for piece in pieces:
            bind(piece.model)
        return join_blocks([block_history(p.model, p.t, p.y, name) for p in pieces])

    def driver(self, name: str) -> DriverHistory:
        """Return a driver over time: what it prescribes, and what it takes.

        Parameters
        ----------
        name : str
            Name of a driver, or of a joint with a driven row, such as a Distance with a function of time.

        Returns
        -------
        DriverHistory
            `.value`, `.rate`, `.torque` or `.force` (positive along the coordinate), `.power` and `.work`.

        Raises
        ------
        UsageError
            If there is no driver of that name, or if it has several driven rows.
        """

        def of(p: Piece) -> DriverHistory:
            unique = not len(p._self_stresses.of(np.array([driven_row(p.model, name)]))[0])
            return driver_history(p.model, p.t, p.y, p._solve, partial(getattr, p, "_work"), name, unique=unique)

        return over_structures(self._pieces(), name, lambda p: name in p.model.joints, of, join_drivers)

    def point(self, where: str | tuple[str, npt.ArrayLike]) -> PointHistory:
        """Return a point of a body over time.

        Parameters
        ----------
        where : str or (str, array_like (3,))
            Name of a body (its centre of mass), of a joint (its point on body j; "pin.i" and "pin.j" for either side), the end of a force
            element ("strut.i", "strut.j"), or a pair (body, s_bar) with s_bar from the centre of mass, body frame [m].

        Returns
        -------
        PointHistory
            Position `.r`, velocity `.v` and acceleration `.a`, global.

        Raises
        ------
        UsageError
            If there is no such point, or if the name means several.
        """
        pieces = self._pieces()
        location = locate(pieces[0].model, where)
        return join_points([piece[location.body].point(location.s_bar, location.name) for piece in pieces])

    def distance(self, a: str | tuple[str, npt.ArrayLike], b: str | tuple[str, npt.ArrayLike]) -> Array:
        """Return the distance of two points over time.

        Parameters
        ----------
        a, b : str or (str, array_like (3,))
            The points, see `point`.

        Returns
        -------
        ndarray, (nt,)
            Distance [m].

        Raises
        ------
        UsageError
            If there is no such point, or if a name means several.
        """
        gap: Array = np.linalg.norm(self.point(b).r - self.point(a).r, axis=1)
        return gap

    def angle(
        self, a: str | tuple[str, npt.ArrayLike], corner: str | tuple[str, npt.ArrayLike], b: str | tuple[str, npt.ArrayLike]
    ) -> Array:
        """Return the angle at a corner between the lines to two points over time.

        Parameters
        ----------
        a, corner, b : str or (str, array_like (3,))
            The points, see `point`.

        Returns
        -------
        ndarray, (nt,)
            Angle [rad], from 0 to pi; NaN where a point is on the corner.

        Raises
        ------
        UsageError
            If there is no such point, or if a name means several.
        """
        origin = self.point(corner).r
        u, v = self.point(a).r - origin, self.point(b).r - origin
        sine, cosine = np.linalg.norm(cross(u, v), axis=1), np.sum(u * v, axis=1)
        met = (np.sum(u * u, axis=1) == 0.0) | (np.sum(v * v, axis=1) == 0.0)
        angle: Array = np.where(met, np.nan, np.arctan2(sine, cosine))
        return angle

    def to_xarray(self) -> xarray.Dataset:
        """Return all quantities as an xarray Dataset (needs the extra `xarray`).

        Returns
        -------
        Dataset
            States, accelerations, coordinates of joints, loads, drivers, sensors, multipliers, reactions (on body j, global), violations
            and energies over time, with units. No dimension is empty.

        Raises
        ------
        UsageError
            If xarray is not installed.

        Warns
        -----
        UserWarning
            If a quantity cannot be computed; it is left out, and the attributes say why.
        """
        from haugmbd.simulation.results.io.results import need_module  # noqa: PLC0415  imported only where a table is made
        from haugmbd.simulation.results.tables import to_xarray  # noqa: PLC0415  imported only where a table is made

        dataset: xarray.Dataset = to_xarray(self, need_module("xarray"), self._attributes())
        return dataset

    def to_pandas(self) -> pandas.DataFrame:
        """Return all quantities as a pandas DataFrame: one line a state, one column a component, such as `r.crank.x` (needs pandas).

        Returns
        -------
        DataFrame
            The quantities of `to_xarray`, indexed by time [s]; `.attrs["units"]` has the unit of each column.

        Raises
        ------
        UsageError
            If pandas is not installed.

        Warns
        -----
        UserWarning
            If a quantity cannot be computed; it is left out, and the attributes say why.
        """
        from haugmbd.simulation.results.io.results import need_module  # noqa: PLC0415  imported only where a table is made
        from haugmbd.simulation.results.tables import to_pandas  # noqa: PLC0415  imported only where a table is made

        frame: pandas.DataFrame = to_pandas(self, need_module("pandas"), self._attributes())
        return frame

    @abstractmethod
    def _attributes(self) -> dict[str, str]:
        """Return name of the model and settings of the run, for tables."""

    @abstractmethod
    def energy(self) -> Energy:
        """Return kinetic and potential energy, applied and dissipated work, and their total, (nt,) [J]."""

    @abstractmethod
    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
        """Return the force and torque that a joint exerts on a body, see `Result.reaction`."""

    def load_table(self, body: str) -> LoadTable:
        """Return what a body carries over time, for a finite element program: forces and torques of joints, and inertia.

        Parameters
        ----------
        body : str
            Name of the body.

        Returns
        -------
        LoadTable
            Points, forces and torques of its joints, force elements together, gravity and accelerations for inertia relief, in the frame of
            the body; `.to_csv(path)`, `.to_pandas()`, `.to_parquet(path)`, `.save(path)`.

        Raises
        ------
        UsageError
            If there is no such body.
        """
        from haugmbd.simulation.results.load_table import load_table  # noqa: PLC0415  imported only where a table is made

        return load_table(self, body)

    def to_parquet(self, path: str | Path) -> Path:
        """Write all quantities of `to_pandas` as a Parquet file (needs pandas and pyarrow), and return the path."""
        from haugmbd.simulation.results.study_data import write_parquet  # noqa: PLC0415  imported only where a table is made

        return write_parquet(self.to_pandas().reset_index(), path)

    @property
    def plot(self) -> Plots:
        """The plots of this result: `result.plot.energy()`, `result.plot.joint(name)`, ... as `mbd.plot.energy(result)`."""
        return Plots(self)

    @property
    def sensors(self) -> tuple[str, ...]:
        """Return the names of the recorded sensors."""
        return tuple(self._recorded())

    def sensor(self, name: str) -> SensorHistory:
        """Return the values of a sensor at the stored states.

        Parameters
        ----------
        name : str
            Name of the sensor.

        Returns
        -------
        SensorHistory
            `.t` and `.value`.

        Raises
        ------
        UsageError
            If no sensor of that name was recorded. A resampled result has none.
        """
        return named("sensor", name, self._recorded())

    def _recorded(self) -> Mapping[str, SensorHistory]:
        """Return the sensors by name."""
        pieces = self._pieces()
        return {name: joined([piece._sensors[name] for piece in pieces]) for name in pieces[0]._sensors}
