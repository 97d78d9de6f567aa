r"""All rows of a model at a state: constraint equations and Jacobian.

Phi = 0        Phi_q u = nu        Phi_q u_dot = gamma        Phi_q = (Phi_r, PiBar) by bodies, u = (v, omega_bar)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.status_codes import OK
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.registry import KINDS
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import UsageError
from haugmbd.model.drivers_alone import without_forces
from haugmbd.model.evaluate import evaluate_rows
from haugmbd.model.explanation import RowExplanation
from haugmbd.model.inspection.given import model_given, state_of_model
from haugmbd.model.labels import RowLabel
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import Pack, workspace_array

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@public_class
@dataclass(frozen=True, eq=False)
class Rows:
    """The constraint equations at one state.

    Attributes
    ----------
    Phi, nu, gamma : ndarray, (nc,)
        Constraints, and right-hand sides of the velocity and acceleration equations.
    Phi_r : ndarray, (nc, 2, 3)
        Derivative by the positions r of bodies i and j.
    PiBar : ndarray, (nc, 2, 3)
        Derivative by small rotations of bodies i and j, body frames.
    bodies : ndarray of int, (nc, 2)
        Numbers of body i and body j; 0 is the ground. If a coupling connects joints of more than two bodies, the second axis of these
        three arrays is longer, and other rows have the ground and zeros there.
    labels : sequence of RowLabel
        Joint, kind, words and unit of each row.
    nb : int
        Number of bodies, without the ground.
    model, state : Model, State
        The model, and the state of the evaluation.

    Notes
    -----
    Phi_q u = nu and Phi_q u_dot = gamma, with u = (v, omega_bar) by bodies. Units: see `labels`.
    Source: Haug (2021), spatial kinematics: velocity and acceleration equations.
    """

    Phi: Array
    nu: Array
    gamma: Array
    Phi_r: Array
    PiBar: Array
    labels: Sequence[RowLabel]
    nb: int
    model: Model
    state: State

    def __repr__(self) -> str:
        """Return model and time; `model.explain(state=...)` returns the table."""
        return f"Rows({self.model.name!r}: {len(self.Phi)} rows at t = {self.state.t:g} s)"

    def explain(self, k: int) -> RowExplanation:
        """Return the equation of row `k` in words, in symbols and in numbers.

        Parameters
        ----------
        k : int
            Number of the row.

        Returns
        -------
        RowExplanation
            The equation; `print` shows it as a text of several lines.

        Raises
        ------
        UsageError
            If there is no such row; the message names the range.
        """
        if isinstance(k, bool) or not isinstance(k, Integral):
            raise UsageError(f"rows.explain got {k!r}: give the number of a row, 0 to {len(self.Phi) - 1}.")
        explained = self.model.explain(int(k), state=self.state)
        assert isinstance(explained, RowExplanation)  # a number gives one row
        return explained

    @property
    def bodies(self) -> Ints:
        """Return the numbers of body i, body j and further bodies, (nc, 2 or more), read-only."""
        return self.model.bodies_of_rows()

    @property
    def arms(self) -> Array:
        """Return |PiBar| / |Phi_r| [m] of all rows and their moving bodies where Phi_r is not zero, (n,).

        That of the ground would be the distance of the row from the origin, which is a matter of the frame.
        """
        return self._arms[1]

    @property
    def longest_arms(self) -> Array:
        """Return the largest of the arms of each body [m], (nb + 1,); 0 where it has none."""
        bodies, arms = self._arms
        longest = np.zeros(self.nb + 1)
        np.maximum.at(longest, bodies, arms)
        return longest

    @cached_property
    def _arms(self) -> tuple[Ints, Array]:
        """The bodies (n,) of the arms, and the arms."""
        force, moment = (np.sqrt(np.einsum("rsa,rsa->rs", x, x)) for x in (self.Phi_r, self.PiBar))
        pulls = (force > 0.0) & (self.bodies > 0)
        return self.bodies[pulls], moment[pulls] / force[pulls]

    @cached_property
    def Phi_q(self) -> csr_array:
        """Return the Jacobian as a SciPy CSR array (nc, 6 nb): six columns (v, omega_bar) for each body, none for the ground."""
        from scipy.sparse import csr_array  # noqa: PLC0415  imported only where the matrix is used

        row, side = np.nonzero(self.bodies)
        columns = 6 * (self.bodies[row, side] - 1)[:, None] + np.arange(6)
        values = np.concatenate([self.Phi_r, self.PiBar], axis=2)[row, side]
        rows = np.repeat(row, 6)
        return csr_array((values.ravel(), (rows, columns.ravel())), shape=(len(self.Phi), 6 * self.nb))


@check_keywords
def evaluate(model: Model, state: State | None = None) -> Rows:
    """Return every constraint equation of a model at a state.

    Parameters
    ----------
    model : Model or System
        The model; a System is compiled.
    state : State, optional
        The state; by default the modelled one.

    Returns
    -------
    Rows
        Phi, nu, gamma and the Jacobian.

    Raises
    ------
    UsageError
        If model is not a Model or System, or the state is not of this model.
    ModelError
        If the System has faults.
    """
    model = model_given(model, "evaluate")
    state = state_of_model(model, state, "evaluate")
    pack = model.borrow()
    alone = without_forces(model, pack)
    if evaluate_rows(alone, state.t, state.flat) != OK:
        model.raise_user_error(alone)
    rows = rows_in(model, alone, state)
    model.give_back(pack)
    return rows


def lines_of(model: Model, kind: type[Primitive]) -> Ints:
    """Return the lines of one kind of rows in the table ROW_INTS, in the order of the kind."""
    k = KINDS.index(kind)
    first, last = model.tables["ROW_KIND_STARTS"][0][k : k + 2].astype(int)
    lines: Ints = model.tables["ROW_INTS"][first:last]
    return lines


def rows_in(model: Model, pack: Pack, state: State) -> Rows:
    """Return the rows that were evaluated last in the workspace of `pack`; `state` is stored as the state of the evaluation."""
    slots = model.slot_of_row
    J = workspace_array(pack, "J").reshape(-1, model.sides, 6)[slots[:, None], model.sides_of_rows]
    level = workspace_array(pack, "LEVEL")[slots]
    columns = (level[:, 0], level[:, 1], level[:, 2], J[:, :, :3], J[:, :, 3:])
    return Rows(*columns, model.labels, model.nb, model, state)
