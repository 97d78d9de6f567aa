r"""All rows of a model at a state, as the user sees them.

Phi = 0        Phi_q u = nu        Phi_q u_dot = gamma        Phi_q = (Phi_r, PiBar) by bodies, u = (v, omega_bar)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.model.given import model_given
from haugmbd.model.model import Model, RowLabel
from haugmbd.model.passes import rows_entry
from haugmbd.model.state import State
from haugmbd.model.tables import Pack, room

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from haugmbd.model.explaining import RowExplanation


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows at one state.

    Phi, nu, gamma: (nc,);  Phi_r: (nc, 2, 3) along dr of bodies i and j;  PiBar: (nc, 2, 3) along dpi_bar, body frames
    bodies: (nc, 2) numbers of body i and body j (0 is the ground);  labels: what each row is
    model, state: what was evaluated
    """

    Phi: Array
    nu: Array
    gamma: Array
    Phi_r: Array
    PiBar: Array
    bodies: Ints
    labels: tuple[RowLabel, ...]
    nb: int
    model: Model
    state: State

    def __repr__(self) -> str:
        """Of what and when; `model.explain(state=...)` is the table."""
        return f"Rows({self.model.name!r}: {len(self.Phi)} rows at t = {self.state.t:g} s)"

    def explain(self, k: int) -> RowExplanation:
        """What row `k` says, in words, in symbols and in numbers; UsageError with the range where there is no such row."""
        from haugmbd.model.explaining import explain_row  # noqa: PLC0415  it evaluates rows itself

        return explain_row(self.model, self, self.state, k)

    @cached_property
    def Phi_q(self) -> csr_array:
        """The Jacobian as a SciPy CSR array (nc, 6 nb): six columns (v, omega_bar) a body, the ground has none."""
        from scipy.sparse import csr_array  # noqa: PLC0415  imported only where the matrix is asked for

        row, side = np.nonzero(self.bodies)
        columns = 6 * (self.bodies[row, side] - 1)[:, None] + np.arange(6)
        values = np.concatenate([self.Phi_r, self.PiBar], axis=2)[row, side]
        rows = np.repeat(row, 6)
        return csr_array((values.ravel(), (rows, columns.ravel())), shape=(len(self.Phi), 6 * self.nb))


def evaluate(model: Model, state: State | None = None) -> Rows:
    """Evaluate every row of `model` (or of a System, which is compiled) at `state` (by default the modelled one)."""
    model = model_given(model, "evaluate")
    state = model.state() if state is None else state
    pack = model.pack()
    rows_entry(pack, state.t, state.y)
    model.raise_user_error(pack)
    return rows_in(model, pack, state)


def rows_in(model: Model, pack: Pack, state: State) -> Rows:
    """The rows that were evaluated last in the work room of `pack`; `state` is what they remember of where that was."""
    J = room(pack, "J").reshape(-1, 2, 6)[model.slot_of_row]
    J = np.take_along_axis(J, np.stack([model.side_of_i, 1 - model.side_of_i], axis=1)[:, :, None], axis=1)
    level = room(pack, "LEVEL")[model.slot_of_row]
    columns = (level[:, 0], level[:, 1], level[:, 2], J[:, :, :3], J[:, :, 3:])
    return Rows(*columns, model.bodies_of_rows(), model.labels, model.nb, model, state)
