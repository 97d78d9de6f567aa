r"""The compiled model: frozen names and tables, from which everything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.body import Body
from haugmbd.drivers import Driver, compile_drivers
from haugmbd.errors import SimulationError, UsageError
from haugmbd.model.compile import LoadEntry
from haugmbd.model.derivatives import Derivatives
from haugmbd.model.immutable import immutable
from haugmbd.model.loads import APPLY, NO_APPLY
from haugmbd.model.motion import DRIVE, NO_DRIVE
from haugmbd.model.passes import PREPARE
from haugmbd.model.questions import Questions
from haugmbd.model.state import State
from haugmbd.model.status import USER_STOPPED
from haugmbd.model.tables import Pack, Tables, room
from haugmbd.model.user import NOBODY, Asked
from haugmbd.model.views import Pictured
from haugmbd.primitives.base import Primitive
from haugmbd.primitives.catalogue import FILLS, NO_FILL, Fills
from haugmbd.primitives.freedom import Freedom
from haugmbd.primitives.joint import Joint
from haugmbd.saddle.routines import BEGIN, FACTORIZE, FACTORIZE_CHOSEN, FINISH, NO_REFINE, REFINE

if TYPE_CHECKING:
    from haugmbd.model.explaining import Explanation, RowExplanation
    from haugmbd.model.redundancy import Redundancy, Rule

ASKED_ROOMS = ("Y_STOPPED", "SIGNALS", "F", "Q_USER")
"""What the user's callables are asked with, beside t."""


class RowLabel(NamedTuple):
    """What a row is: the joint's name, the primitive's kind, what it says in words, and the unit of Phi; the primitive itself."""

    joint: str
    kind: str
    words: str
    unit: str
    primitive: Primitive

    def __str__(self) -> str:
        return f"{self.joint!r} {self.kind}: {self.words}"


class JointEntry(NamedTuple):
    """A joint of a compiled model: its rows, its bodies' numbers, its frames (s_bar, A_bar) on them, and what it leaves free.

    freedoms: as the joint declares them, from body i to body j; None if it does not say;  part: the joint itself
    """

    name: str
    kind: str
    rows: Ints
    i: int
    j: int
    s_bar_i: Array
    A_bar_i: Array
    s_bar_j: Array
    A_bar_j: Array
    freedoms: tuple[Freedom, ...] | None
    part: Joint


def joint_named(joints: Mapping[str, JointEntry], name: str) -> JointEntry:
    """The joint of that name; a UsageError that names the joints where there is none."""
    if name not in joints:
        raise UsageError(f"no joint is called {name!r}; the joints are {', '.join(map(repr, joints)) or 'none'}.")
    return joints[name]


@immutable("Change the System and compile it again; velocities and poses of a run live in State.")
@dataclass(frozen=True, eq=False)
class Model(Pictured):
    """A compiled mechanism; nothing in it can be changed.

    name;  bodies: the objects that were compiled, the ground first;  body_names: theirs;  joints: by name;  labels: one for each row
    tables: what kernels read;  slot_of_row, side_of_i: (nc,) where row k stands;  drivers: in the order of the tables
    loads: with their numbers;  questions: what the user's callables are asked at every evaluation;  derivatives: declared jacobians
    y0: the modelled state as a flat vector;  redundancy: the rows that depend on others, and are dropped
    warnings: what keeps it from moving, where that is remarkable
    """

    name: str
    bodies: tuple[Body, ...]
    body_names: tuple[str, ...]
    joints: dict[str, JointEntry]
    loads: tuple[LoadEntry, ...]
    labels: tuple[RowLabel, ...]
    tables: Tables
    slot_of_row: Ints
    side_of_i: Ints
    drivers: tuple[Driver, ...]
    questions: Questions
    derivatives: Derivatives
    y0: Array
    redundancy: Redundancy
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Model({self.name!r}: {self.nb} bodies, {len(self.joints)} joints, {self.nc} rows, {len(self.loads)} loads)"

    @property
    def nb(self) -> int:
        """Number of bodies, without the ground."""
        return len(self.body_names) - 1

    @property
    def nc(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def mass(self) -> Array:
        """Masses [kg], (nb + 1,), the ground's is 0."""
        return self.tables["INERTIA"][:, 0]

    @property
    def J_bar(self) -> Array:
        """Inertia about the centres of mass, body frames [kg m2], (nb + 1, 3, 3)."""
        return self.tables["INERTIA"][:, 1:].reshape(-1, 3, 3)

    @property
    def gravity(self) -> Array:
        """Gravity, global [m/s2], (3,)."""
        gravity: Array = self.tables["GRAVITY"][0]
        return gravity

    def state(self) -> State:
        """The modelled initial state, at t = 0."""
        return State.from_y(0.0, self.y0, self.nb + 1)

    def pack(self, tables: Tables | None = None) -> Pack:
        """The tables (by default the model's own; others have tangents) with new room to compute in."""
        tables = self.tables if tables is None else tables
        drive = DRIVE if len(self.tables["DRIVER_TABLE"]) else NO_DRIVE
        apply = APPLY if self.loads or self.questions.any else NO_APPLY
        starts = self.tables["ROW_KIND_AT"][0]
        return tables.pack(
            compile_drivers(self.drivers).F0,
            drive=drive,
            apply=apply,
            asked=self.asked(),
            fills=Fills(*(fill if n else NO_FILL for fill, n in zip(FILLS, np.diff(starts), strict=True))),
            prepare=PREPARE,
            factorize=FACTORIZE_CHOSEN if self.redundancy.dropped else FACTORIZE,
            finish=FINISH,
            begin=BEGIN,
            refine=REFINE if self.tables["FLAGS"][0, 0] else NO_REFINE,
        )

    def asked(self) -> Asked:
        """The door to this model's callables, for one run."""
        return self.questions.asked()

    def raise_user_error(self, pack: Pack) -> None:
        """Raise what a callable of the user raised in the run of `pack`, or say what it returned, if that stopped the run."""
        for door in (pack.asked, pack.teacher):
            error = door.take_error()
            if error is not None:
                raise error
        code, _, t = room(pack, "STATUS")[0, :3]
        if code != USER_STOPPED:
            return
        if not self.questions.compiled or pack.teacher is not NOBODY:
            raise KeyboardInterrupt  # lost between compiled code and Python, see `user`
        self.questions.call(t, *(room(pack, n).copy().reshape(s) for n, s in zip(ASKED_ROOMS, self.questions.shapes, strict=True)))
        what = f"a function of {self.questions.names()} gave no finite number at t = {t:.9g} s, but does when it is asked again"
        raise SimulationError(f"{what}. A force must depend on nothing but its arguments.")

    def bodies_of_rows(self) -> Ints:
        """The numbers of body i and body j of each row, (nc, 2)."""
        pairs = self.tables["EDGES"][self.slot_of_row // 6]
        return np.where(self.side_of_i[:, None] == 1, pairs[:, ::-1], pairs)

    def drivers_of_rows(self) -> Ints:
        """Return the number of the driver of each row, (nc,)."""
        ints = np.asarray(self.tables["ROW_INTS"], dtype=np.int64)
        of_slot = np.zeros(6 * len(self.tables["EDGES"]), dtype=np.int64)
        of_slot[ints[:, 0]] = ints[:, 2]
        numbers: Ints = of_slot[self.slot_of_row]
        return numbers

    def with_redundancy(self, rule: Rule, tolerance: float | None = None) -> Model:
        """The same model with other multipliers for its dependent rows: `KeptRows()` or `MinimumNorm()`."""
        return replace(self, redundancy=self.redundancy.with_rule(rule, tolerance))

    def body(self, name: str) -> int:
        """The number of a body: its row in all arrays."""
        return self.body_names.index(name)

    def explain(self, which: str | int | None = None, *, state: State | None = None) -> Explanation | RowExplanation:
        """What the equations say, at `state` (by default the modelled one): print it.

        which: None for a table of all rows, the name of a joint, or the number of a row;  UsageError for what does not exist
        """
        from haugmbd.model.explaining import explain_model  # noqa: PLC0415  it evaluates this model

        return explain_model(self, which, state)

    def lam_of(self, x: Array) -> Array:
        """The multipliers by rows (nc,) of a solution by nodes (nn, 6)."""
        return x[self.nb + 1 :].ravel()[self.slot_of_row]


def frozen_y0(bodies: list[Array], angles: list[float]) -> Array:
    """The flat state of the modelled bodies and integrated angles, read-only."""
    y0 = np.concatenate([*bodies, angles])
    y0.flags.writeable = False
    return y0
