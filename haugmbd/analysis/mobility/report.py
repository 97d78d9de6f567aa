r"""The mobility report as text of at most 120 columns. Long lists are cut and counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from textwrap import wrap

import numpy as np

from haugmbd.analysis.mobility.dependent_rows import DependentRow, DependentSet
from haugmbd.analysis.mobility.instantaneous_motions import Motion, Remaining, full_twists
from haugmbd.analysis.mobility.likely_mistakes import LockedLoop
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.joint_reactions import JointReaction
from haugmbd.errors import Fault
from haugmbd.graph import Blocks
from haugmbd.kkt.solver import BLOCK
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.dependent_rows import Redundancy
from haugmbd.model.labels import no_such
from haugmbd.model.state import State
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.text_table import first_few


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Mobility(StudyData):
    """The mobility report of a mechanism at one pose.

    Attributes
    ----------
    name : str
        Name of the system.
    pose : str
        "as modelled", "as given", or "assembled" (the nearest pose that closes open joints).
    state : State
        State of the report.
    bodies : int
        Number of bodies without the ground.
    rows : int
        Number of rows of Phi.
    rank : int
        Rank of Phi_q.
    tolerance : float
        Relative pivot below which a row depends on others.
    dependent : tuple of DependentSet
        Sets of dependent rows.
    motions : sequence of Motion
        A basis of the remaining motions.
    unlisted_motions : int
        Number of motions that are counted but not listed.
    reactions : tuple of JointReaction
        By joint, the components that are unique.
    locked : tuple of LockedLoop
        Loops that the direction or position of one axis locks.
    faults : tuple of Fault
        Faults of the system or the state, as in `System.faults()`.
    warnings : tuple of Fault
        Properties that are allowed, but are probably mistakes.
    skipped_parts : tuple of str
        Parts that have too many faults to be examined.
    redundancy : Redundancy
        The dependencies of the rows.
    solver : str
        How the equations of motion are solved, and why.
    position_rank : int
        Rank of the rows that have a position equation; `rank` counts velocity rows (rolling), too.
    """

    name: str
    pose: str
    state: State
    bodies: int
    rows: int
    rank: int
    tolerance: float
    dependent: tuple[DependentSet, ...]
    motions: Sequence[Motion]
    unlisted_motions: int
    reactions: tuple[JointReaction, ...]
    locked: tuple[LockedLoop, ...]
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    skipped_parts: tuple[str, ...]
    redundancy: Redundancy
    _found: tuple[Blocks, Remaining]
    position_rank: int
    solver: str = ""

    def _columns(self) -> Columns:
        """Return the report as a table: counts; dependent rows, which miss by a gap; twists of motions; reactions, 1 unique, 0 not."""
        lines: list[tuple[str, str, str, float]] = [
            ("count", self.name, name, float(getattr(self, name.replace(" ", "_"))))
            for name in ("bodies", "rows", "rank", "gruebler", "degrees of freedom", "degrees of freedom nearby")
        ]
        lines += [("fault", fault.where, fault.what, np.nan) for fault in self.faults]
        lines += [("doubtful", str(each), "", np.nan) for each in (*self.locked, *self.warnings)]
        lines += [("dependent row", str(row), "gap", row.gap) for rows in self.dependent for row in rows.rows]
        for k, motion in enumerate(self.motions, start=1):
            for twist in motion.twists:
                numbers = zip(TWIST, (*twist.v, *twist.omega), strict=True)
                lines += [(f"motion {k}", twist.body, name, float(x)) for name, x in numbers]
        for each in self.reactions:
            marks = zip(REACTION, each.marks, strict=True)
            lines += [("reaction", each.joint, name, MARK_NUMBERS[mark]) for name, mark in marks]
        kinds, parts, names_, values = zip(*lines, strict=True)
        return {"kind": column(kinds), "part": column(parts), "quantity": column(names_), "value": np.array(values)}

    @property
    def gruebler(self) -> int:
        """Return the Gruebler count 6 bodies - rows."""
        return 6 * self.bodies - self.rows

    @property
    def degrees_of_freedom(self) -> int:
        """Return 6 bodies - rank: the number of independent motions (velocities) at this pose."""
        return 6 * self.bodies - self.rank

    @property
    def position_degrees_of_freedom(self) -> int:
        """Return the number of independent coordinates of position: more than of velocity where bodies roll without slip."""
        return 6 * self.bodies - self.position_rank

    @property
    def degrees_of_freedom_nearby(self) -> int:
        """Return the degrees of freedom at poses around this one: fewer, if rows are dependent only at this pose."""
        return self.degrees_of_freedom - len(self.redundancy.only_here)

    @property
    def consistent(self) -> bool:
        """Return whether no row contradicts the others."""
        return all(rows.consistent for rows in self.dependent)

    @property
    def ok(self) -> bool:
        """Return whether there is no fault and no contradiction."""
        return self.consistent and not self.faults

    def reaction(self, joint: str) -> JointReaction:
        """Return the uniqueness of the components of a joint's reaction. Raise UsageError for an unknown joint."""
        reaction = next((each for each in self.reactions if each.joint == joint), None)
        if reaction is None:
            raise no_such("joint", joint, [each.joint for each in self.reactions])
        return reaction

    @cached_property
    def basis(self) -> Array:
        """Return all motions, (motions, nb + 1, 6): v of centres of mass, global, and omega_bar, body frames; the ground in row 0."""
        blocks, motions = self._found
        twists = full_twists(motions, blocks, self.state.r)
        twists[:, :, 3:] = np.einsum("bji,mbj->mbi", rotation_matrix(self.state.p), twists[:, :, 3:])
        return twists

    def __str__(self) -> str:
        """Return the report as text."""
        return mobility_text(self)

    __repr__ = __str__


WIDTH = 120
"""Characters in a line."""

SHOWN = 12
"""Entries of a list before the rest is counted."""

SHOWN_NAMES = 8
"""Joints that a line names before it counts the rest."""

TIE = "\u00a0"

TOGETHER = re.compile(r"(?:[-+] )?(?:[-\d.][-\d.e+]* )?'[^']{1,60}'(?: [A-Z]\w*(?: [xyz]\b| \(\d+\))?)?|\([^()]{1,40}\)")
"""What a line does not break: a name with its coefficient and its row, and a vector."""

TWIST = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")
REACTION = ("force x", "force y", "force z", "torque x", "torque y", "torque z")
MARK_NUMBERS = {"unique": 1.0, "not": 0.0, "-": float("nan")}
"""Of a table: whether a component of a reaction is unique; NaN where the joint does not carry it."""

MARKS = {"unique": "unique", "not": "NOT", "-": "-"}

COLUMNS = (("force x", 9), ("y", 9), ("z", 9), ("torque x", 11), ("y", 9), ("z", 9))

LABEL = 36
"""Characters for the joints in the table of reactions."""


def mobility_text(m: Mobility) -> str:
    """Return the whole report."""
    parts = [
        _counts(m),
        _listed("faults", m.faults),
        _listed("allowed, but doubtful", (*m.locked, *m.warnings)),
        _dependent(m),
        _motions(m),
        _reactions(m),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _counts(m: Mobility) -> list[str]:
    """Return bodies, rows, rank and degrees of freedom."""
    lines = [*_entry(f"mobility of {m.name!r}, {m.pose}, t = {m.state.t:g} s", "")]
    if m.skipped_parts:
        lines += _entry("  ", f"left out of what follows: {', '.join(m.skipped_parts)}")
    n = m.rows - m.rank
    says = "no row depends on the others" if n == 0 else f"{n} {'row depends' if n == 1 else 'rows depend'} on the others"
    lines += _entry("  ", f"Gruebler count      6 x {m.bodies} bodies - {m.rows} rows = {m.gruebler}")
    lines += _entry(
        "  ", f"rank                {m.rank} of {m.rows} rows: {says} (pivots below {m.tolerance:.0e} of their scale are zero)"
    )
    lines += _entry("  ", f"degrees of freedom  6 x {m.bodies} - {m.rank} = {m.degrees_of_freedom}")
    if m.position_rank != m.rank:
        n = m.position_degrees_of_freedom
        lines += _entry(
            "  ",
            f"of positions        6 x {m.bodies} - {m.position_rank} = {n}: some rows are of velocities only",
        )
    here = len(m.redundancy.only_here)
    if here:
        of = "row depends" if here == 1 else "rows depend"
        lines += _entry("  ", f"SINGULAR POSE       {here} {of} on the others only here; around it: {m.degrees_of_freedom_nearby}")
    if not m.solver.startswith(BLOCK):
        lines += _entry("  ", f"solver              {m.solver}")
    return lines


def _listed(title: str, entries: Sequence[object]) -> list[str]:
    """Return numbered faults or warnings."""
    if not entries:
        return []
    lines = [f"{title}: {len(entries)}"]
    for k, entry in enumerate(entries[:SHOWN], start=1):
        lines += _entry(f"  {k}. ", str(entry))
    return lines + _more(entries)


def _dependent(m: Mobility) -> list[str]:
    """Return the sets of dependent rows."""
    if not m.dependent:
        return []
    lines = ["dependent rows, by joint"]
    for k, rows in enumerate(m.dependent[:SHOWN], start=1):
        lines += _entry(f"  {k}. ", f"{names(rows.joints)}: {_verdict(rows)}")
        for row in rows.rows:
            lines += _entry("       ", f"{row}{_remark(row, rows)}", indent="           ")
    return lines + _more(m.dependent)


def _verdict(rows: DependentSet) -> str:
    """Return "structural" or not, "consistent" or not, as text."""
    if not any(row.terms for row in rows.rows):
        return "says nothing at this pose (its gradient is zero)"
    n = sum(bool(row.terms) for row in rows.rows)
    when = (
        "along the motion (structural)"
        if rows.structural
        else "only at this pose"
        if all(not row.structural for row in rows.rows)
        else "some of them only at this pose"
    )
    agree = "consistent" if rows.consistent else f"CONFLICTING by {rows.amount}"
    return f"{n} {'row depends' if n == 1 else 'rows depend'} on the others {when}, {agree}"


def _remark(row: DependentRow, rows: DependentSet) -> str:
    """Return a remark on a row of a set that is mixed."""
    remarks = ["only at this pose"] * (not row.structural and any(other.structural for other in rows.rows))
    if row.gap > 0.0:
        remarks.append(f"left open by {row.gap:.6g} {row.unit}")
    if row.rate > 0.0:
        remarks.append(f"rates differ by {row.rate:.6g} {row.rate_unit}")
    return f"   ({', '.join(remarks)})" if remarks else ""


def _motions(m: Mobility) -> list[str]:
    """Return the remaining motions."""
    if not m.motions:
        return [
            "motions that remain: none"
            if not m.unlisted_motions
            else f"motions that remain: {m.unlisted_motions}, too many to tell apart"
        ]
    lines = ["motions that remain, each by itself"]
    for k, motion in enumerate(m.motions[:SHOWN], start=1):
        drive = f"by {motion.joint!r}: " if motion.joint else ""
        lines += _entry(f"  {k}. ", f"{drive}{motion}")
    more = max(0, len(m.motions) - SHOWN) + m.unlisted_motions
    return lines + ([f"  and {more} more"] if more else [])


def _reactions(m: Mobility) -> list[str]:
    """Return the unique components: one line for similar joints."""
    if not m.reactions:
        return []
    if all(reaction.all_unique for reaction in m.reactions):
        return ["reactions: all are unique"]
    lines = ["reactions in the joint's frame on body j: unique, NOT unique (others would give the same motion), - not carried"]
    lines.append(" " * LABEL + "".join(f"{name:>{width}}" for name, width in COLUMNS))
    shared = [reaction for reaction in m.reactions if not reaction.all_unique]
    groups = [list(group) for _, group in groupby(sorted(shared, key=_marks), key=_marks)]
    groups.sort(key=lambda group: m.reactions.index(group[0]))
    for group in groups[:SHOWN]:
        cells = "".join(f"{MARKS[mark]:>{width}}" for mark, (_, width) in zip(group[0].marks, COLUMNS, strict=True))
        *above, label = _entry("  ", names([reaction.joint for reaction in group]))
        if above or len(label) > LABEL:
            lines += [*above, label]
            label = ""
        lines.append(f"{label:<{LABEL}}{cells}")
    lines += _more(groups)
    unique = len(m.reactions) - len(shared)
    return lines + ([f"  all components of the other {unique} are unique"] if unique else [])


def _marks(reaction: JointReaction) -> tuple[str, ...]:
    return reaction.marks


def names(joints: Sequence[str]) -> str:
    """Return names in quotes: the first few, and the number of the others."""
    return first_few([repr(joint) for joint in joints], SHOWN_NAMES)


def _more(entries: Sequence[object]) -> list[str]:
    """Return the number of entries that are not shown."""
    return [f"  and {len(entries) - SHOWN} more"] if len(entries) > SHOWN else []


def _entry(first: str, text: str, indent: str | None = None) -> list[str]:
    """Return a paragraph that starts with `first`; later lines are indented, and names, terms and vectors are not broken."""
    later = " " * len(first) if indent is None else indent
    tied = TOGETHER.sub(lambda match: match[0].replace(" ", TIE), text)
    lines = wrap(tied, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False) if text else [first]
    return [line.replace(TIE, " ") for line in lines]
