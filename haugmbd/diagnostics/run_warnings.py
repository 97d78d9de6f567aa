r"""The status of a run, and the notes on results that are doubtful.

    turn         angle of a body in a step                 max(|omega_n|, |omega_(n+1)|) (t_(n+1) - t_n)
    violation    gap of a joint                            |Phi| / |Phi_r| over the size of the model; without Phi_r |Phi| / |PiBar| [rad]
    energy       drift of a conservative run               max |E - E_0| / max(max T, max V - min V)
                 with EnergyProjection also                |sum of what it has restored| in place of |E - E_0|
    near         nearly singular configurations that a step has leapt over
    singular     singular configurations that were crossed
    delay        delays whose signal before the start is not known
    jump         jumps of delays that are no longer followed
    impact       impacts that last for too few fixed steps
    chain        contacts that are struck through others that are closed
    overlap      bodies that a time-stepping run could not keep apart
    shares       points that share a load in many ways, and move as no forces within the laws of friction move them
    model        what `model.warnings` says: locked loops, ...
    sensor       sensors that have given numbers that are not finite
    unchecked    a check behind the run that has failed, such as by an error of a function of the user

All notes are in `result.warnings`. Notes on a doubtful result are also issued once, at the end of the call, as a RunWarning.
Angles are those of the accepted steps, gaps those of the last evaluated rows. Checks that call functions of the user again may fail: the
run is as it was computed, and keeps its result; the error is told in a note, never lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry
from haugmbd.deprecated import NamesMeant
from haugmbd.diagnostics.energy import kinetic_and_potential
from haugmbd.diagnostics.work import Work, is_driven
from haugmbd.errors import RunWarning, error_text, warn_user
from haugmbd.integrators.state_space import NearSingular, SingularCrossing
from haugmbd.math.body_columns import WIDTH
from haugmbd.model.model import Model
from haugmbd.model.state import State

LARGEST_TURN = 1.0
"""[rad] rotation of a body in a step. Beyond it sine and cosine are not approximated well by polynomials of the orders in use. Beyond pi
stored orientations do not determine the direction of the rotation.
"""
ADVISED_TURN = 0.5
"""[rad] rotation in the step that is advised: half the largest one."""
LARGEST_GAP = 1e-3
"""Relative to the size of the model, or rad: a gap that is visible in a plot."""
NOTED_DRIFT, DOUBTFUL_DRIFT = 1e-2, 0.1
"""Relative to the energy that is exchanged: drift that is noted, and drift that makes the result doubtful."""
ENERGY_AT_REST = 1e-6
"""Relative to the largest |V|: if less energy is exchanged, the mechanism is at rest."""
SAMPLES = 65
"""Number of states at which energies are computed."""
FEWEST_STEPS = 20
"""Number of steps below which energy is not judged: from rest, the energy exchanged is as small as the error of a step."""
NAMED = 3
"""Number of bodies, joints or times that a sentence names before it counts the others."""


class RunStatus(IntEnum):
    """Status of a run; the numbers follow `scipy.integrate.solve_ivp`.

    Attributes
    ----------
    COMPLETED : int
        0: the run reached t_end.
    TERMINAL_EVENT : int
        1: a terminal event ended the run.
    FAILED : int
        -1: an error ended the run.
    INTERRUPTED : int
        -2: Ctrl-C ended the run.
    BUDGET_EXHAUSTED : int
        -3: the run took longer than its budget, and was stopped.
    """

    COMPLETED = 0
    TERMINAL_EVENT = 1
    FAILED = -1
    INTERRUPTED = -2
    BUDGET_EXHAUSTED = -3


def status_at_end(*, exhausted: bool, interrupted: bool, ended: bool) -> RunStatus:
    """Return the status of a run that no error has ended: by its budget, by Ctrl-C, by a terminal event, or at t_end."""
    if exhausted:
        return RunStatus.BUDGET_EXHAUSTED
    if interrupted:
        return RunStatus.INTERRUPTED
    return RunStatus.TERMINAL_EVENT if ended else RunStatus.COMPLETED


def end_of_run(status: RunStatus, at: str, t_end: float, *, budget: float | None = None, ended_by: str = "") -> str:
    """Return the message of a run that no error has ended;  at: "at t = ... s", where it stands;  ended_by: the terminal event."""
    if status is RunStatus.BUDGET_EXHAUSTED:
        return f"stopped {at}, before t_end = {t_end:.9g} s: its budget of {budget:g} s was used up"
    if status is RunStatus.INTERRUPTED:
        return f"interrupted by Ctrl-C {at}, before t_end = {t_end:.9g} s"
    if status is RunStatus.TERMINAL_EVENT:
        return f"ended by the terminal event {ended_by!r} {at}"
    return f"reached t_end = {t_end:.9g} s"


class RunNote(NamedTuple):
    """One note on a run.  kind: one of those above;  size: of one kind the largest is kept."""

    kind: str
    text: str
    size: float = 0.0
    doubtful: bool = False


class Outcome(NamedTuple):
    """The end of a run: status, message and notes."""

    status: RunStatus = RunStatus.COMPLETED
    message: str = ""
    notes: tuple[RunNote, ...] = ()

    @property
    def success(self) -> bool:
        """Return whether the run reached its end, or a terminal event."""
        return self.status >= 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the texts of the notes."""
        return tuple(note.text for note in self.notes)

    def as_data(self) -> dict[str, Any]:
        """Return numbers, text and lists for a file; `from_data` reads them."""
        return {"status": int(self.status), "message": self.message, "notes": [list(note) for note in self.notes]}

    @classmethod
    def from_data(cls, data: Any, *, interrupted: bool = False) -> Outcome:
        """Return the Outcome that `as_data` wrote; if data is None, the status follows from `interrupted`."""
        if data is None:
            return cls(RunStatus.INTERRUPTED if interrupted else RunStatus.COMPLETED)
        return cls(RunStatus(data["status"]), data["message"], tuple(RunNote(*note) for note in data["notes"]))

    def with_notes(self, notes: Iterable[RunNote]) -> Outcome:
        """Return the same Outcome with more notes."""
        notes = tuple(notes)
        if not notes:
            return self
        return self._replace(notes=(*self.notes, *notes))


class HasOutcome(NamesMeant):
    """Base class of results that have an `outcome`.

    status: a RunStatus;  success: whether the run reached t_end or a terminal event;  message: the end of the run, in a sentence
    warnings: bodies that turn far in a step, energy that drifts, joints that open, singular configurations that were crossed, and the
    warnings of the model
    """

    outcome: Outcome

    @property
    def status(self) -> RunStatus:
        """Return the status: COMPLETED 0, TERMINAL_EVENT 1, FAILED -1, INTERRUPTED -2, BUDGET_EXHAUSTED -3."""
        return self.outcome.status

    @property
    def success(self) -> bool:
        """Return whether the run reached t_end, or a terminal event."""
        return self.outcome.success

    @property
    def message(self) -> str:
        """Return the end of the run in one sentence."""
        return self.outcome.message

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the run, one sentence each."""
        return self.outcome.warnings


@entry
def turns_entry(t: Array, y: Array, columns: Ints, t_before: float, largest: Array) -> float:
    """Update the largest angles of steps with those to the states y (n, ny) at t (n,), the first from t_before; return the last time.

    largest: see `TurnMonitor`;  t_before: not a number where no step leads to the first state
    """
    for row in range(t.size):
        h = t[row] - t_before
        for k in range(columns.shape[0]):
            wx, wy, wz = y[row, columns[k, 0]], y[row, columns[k, 1]], y[row, columns[k, 2]]
            speed = sqrt(wx * wx + wy * wy + wz * wz)
            angle = max(speed, largest[k, 3]) * h
            if angle > largest[k, 0]:
                largest[k, 0], largest[k, 1], largest[k, 2] = angle, h, t_before
            largest[k, 3] = speed
        t_before = t[row]
    return t_before


_largest_turns = DirectCall(turns_entry)


class TurnMonitor:
    """The largest rotation of each body in a step.  names: (k,);  columns: those (k, 3) of omega_bar in the flat state.

    largest: (k, 4) the angle in a step [rad], the length of this step and the time at its start [s]; and the last |omega_bar| [rad/s]
    """

    def __init__(self, names: tuple[str, ...], columns: Ints) -> None:
        self.names, self.columns = names, columns
        self.largest = np.zeros((len(names), 4))
        self.largest[:, 1] = 1.0
        self._t = 0.0

    @property
    def angle(self) -> Array:
        """The largest angle of each body in a step [rad], (k,)."""
        return self.largest[:, 0]

    def start(self, t: Array, y: Array) -> None:
        """Take the state y (1, ny) at t (1,) for the one before the next step."""
        self._t = _largest_turns(t, y, self.columns, np.nan, self.largest)

    def observe(self, t: Array, y: Array) -> None:
        """Update the rotations with the steps to the states y (n, ny) at t (n,)."""
        if len(t) and self.names:
            self._t = _largest_turns(t, for_kernels(y), self.columns, self._t, self.largest)

    def notes(self, *, fixed: bool) -> list[RunNote]:
        """Return a note if a body rotates too far in a step.

        fixed: whether the step is the user's h, without error control
        """
        if not (self.angle > LARGEST_TURN).any():
            return []
        far = np.argsort(-self.angle, kind="stable")[: int(np.sum(self.angle > LARGEST_TURN))]
        lines = [(self.names[k], *self.largest[k, :3].tolist()) for k in far.tolist()]
        parts = [f"{name!r} by {angle:.3g} rad (h = {h:.3g} s, from t = {t:.6g} s)" for name, angle, h, t in lines]
        h = lines[0][2] * ADVISED_TURN / lines[0][1]
        advice = f"give h = {h:.2g} s or less" if fixed else f"the error control allows it; for closer steps give h_max={h:.2g}"
        what = f"in a step a body turns by more than {LARGEST_TURN:g} rad: {_listed(parts)}; {advice}."
        return [RunNote("turn", what, float(self.angle[far[0]]), fixed)]


def violation_notes(gap: float, joint: str, t: float) -> list[RunNote]:
    """Return a note on the largest gap of a run, if it is too large."""
    if not gap > LARGEST_GAP:
        return []
    what = f"joint {joint!r} is violated by {gap:.2g} of the size of the model (or rad) at t = {t:.6g} s"
    return [RunNote("violation", f"{what}: give a smaller h, or stabilization=Projection().", gap)]


def energy_notes(model: Model, t: Array, y: Array, steps: int, restored: float = 0.0) -> list[RunNote]:
    """Return a note if the energy of a conservative run of `steps` steps drifts;  restored: by an energy projection [J]."""
    if len(t) < 2 or steps < FEWEST_STEPS or is_driven(model) or not all(entry.load.keeps_energy for entry in model.loads):
        return []
    k = np.unique(np.linspace(0, len(t) - 1, min(len(t), SAMPLES)).astype(int))
    with np.errstate(all="ignore"):
        energies = kinetic_and_potential(model, t[k], y[k])
    notes = drift_notes(t[k], *energies, 0.0, restored)
    return drift_notes(t[k], *energies, _energy_at_rest(model, float(t[-1] - t[0])), restored) if notes else []


def _energy_at_rest(model: Model, span: float) -> float:
    """Return the energy [J] of a mechanism at rest.

    This is its weight lifted, or its mass moved in the whole run, by ENERGY_AT_REST of its size.
    """
    size, mass = model.length, float(np.sum(model.mass[1:]))
    weight = mass * float(np.linalg.norm(model.tables["GRAVITY"][0]))
    return ENERGY_AT_REST * size * weight + 0.5 * mass * (ENERGY_AT_REST * size / span) ** 2


def drift_notes(t: Array, kinetic: Array, potential: Array, at_rest: float = 0.0, restored: float = 0.0) -> list[RunNote]:
    """Return a note if the energies (n,) at times t (n,) drift.

    at_rest: energy [J] of a mechanism at rest;  restored: what an energy projection has restored [J]
    """
    with np.errstate(all="ignore"):
        drift = (kinetic + potential) - (kinetic[0] + potential[0])
        worst = int(np.abs(drift).argmax())
        exchanged = max(float(kinetic.max()), float(np.ptp(potential)), at_rest)
        amount = max(abs(float(drift[worst])), restored)
        share = amount / max(exchanged, ENERGY_AT_REST * float(np.abs(potential).max()), 1e-300)
    if not share > NOTED_DRIFT:
        return []
    part = f"{100.0 * share:.2g} % of what is exchanged"
    if amount == restored:
        what = (
            f"the energy projection has restored {restored:.3g} J, {part}, which the steps have lost: the motion is as inaccurate"
        )
    else:
        what = f"energy should stay, and drifts by {drift[worst]:.3g} J by t = {t[worst]:.6g} s, {part}"
    return [RunNote("energy", f"{what}: give a smaller h or rtol.", share, share > DOUBTFUL_DRIFT)]


def singular_notes(crossed: Iterable[SingularCrossing], near: Iterable[NearSingular] = ()) -> list[RunNote]:
    """Return a note on the singular configurations that were crossed, and one on the nearly singular ones that a step has leapt over."""
    near = tuple(near)
    notes, parts, places = [], [_place(pose) for pose in crossed], [_place(pose) for pose in near if not pose.ends]
    ends = [_place(pose) for pose in near if pose.ends]
    if ends:
        what = f"the run ends beside a singular configuration, at {_listed(ends)}"
        why = "velocities are inaccurate there, and the branch behind it is not determined"
        notes.append(RunNote("near", f"{what}: {why}. Let the run end farther from it.", 1.0, True))
    if parts:
        notes.append(RunNote("singular", f"singular configurations were crossed: {_listed(parts)}.", float(len(parts))))
    if places:
        what = f"the motion passes a configuration that is nearly singular in one step, at {_listed(places)}"
        why = "of branches that lie so near to each other the run has followed the smooth one, and the exact motion may turn into the other"
        remedy = "Give a smaller h or rtol, or dimensions that are exact."
        notes.append(RunNote("near", f"{what}: {why}. {remedy}", float(len(places)), True))
    return notes


def _place(pose: SingularCrossing | NearSingular) -> str:
    """Return the time of a configuration and its joints; of a nearly singular one also the gap, if it is known."""
    joints = ", ".join(map(repr, pose.joints[:NAMED]))
    if isinstance(pose, NearSingular) and np.isfinite(pose.gap):
        joints += f", where rows contradict each other by {pose.gap:.2g} of the size"
    return f"t = {pose.t:.6g} s ({joints})"


def with_model_notes(outcome: Outcome, model: Model, t: Array, y: Array, steps: int, restored: float = 0.0) -> Outcome:
    """Return the outcome with the notes that need the model.

    These are the energy drift over the states y (nt, ny) at t (nt,), and the warnings of the model.
    restored: by an energy projection [J]
    """
    energy = checked("the energy", lambda: energy_notes(model, t, y, steps, restored))
    return outcome.with_notes([*energy, *model_notes(getattr(model, "warnings", ()))])


def model_notes(texts: Iterable[Any]) -> list[RunNote]:
    """Return the warnings of the model as notes."""
    return [RunNote("model", str(text)) for text in texts]


def delay_notes(model: Model, start: State) -> list[RunNote]:
    """Return a note on the delays of a run that continues from a later state: the motion before it is not known.

    The modelled state at a later time is a beginning, too.
    """
    network, first = model.network, model.state()
    bodies = slice(WIDTH * (model.nb + 1))
    if network is None or not network.delays or start.t <= first.t or np.array_equal(start.flat[bodies], first.flat[bodies]):
        return []
    names, longest = _listed([repr(block.name) for block in network.delays]), max(block.delay for block in network.delays)
    text = (
        f"the run continues from a state at t = {start.t:.6g} s, and its delays {names} do not know the motion before: up to "
        f"t = {start.t + longest:.6g} s they hold the output that the state has. Simulate from the beginning."
    )
    return [RunNote("delay", text, doubtful=True)]


def joined(parts: Iterable[Outcome], status: RunStatus, message: str) -> Outcome:
    """Return the outcome of a run in several parts.

    Of each kind the note of the largest size is kept, and each warning of the model once.
    """
    worst: dict[str, RunNote] = {}
    for note in (note for part in parts for note in part.notes):
        key = note.text if note.kind == "model" else note.kind
        if key not in worst or note.size > worst[key].size:
            worst[key] = note
    return Outcome(status, message, tuple(worst.values()))


def unchecked_note(what: str, error: BaseException, done: str = "checked") -> RunNote:
    """Return the note on a check that has failed;  what: was to be `done`;  error: of a function of the user, as a rule"""
    text = f"the run is as it was computed, and behind it {what} could not be {done}: {error_text(error).rstrip('.')}."
    return RunNote(f"unchecked {what}", text, doubtful=True)


def checked(what: str, notes: Callable[[], Iterable[RunNote]]) -> list[RunNote]:
    """Return the notes of a check behind a run; of one that fails the note that says so.  what: is checked"""
    try:
        return list(notes())
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        return [unchecked_note(what, error)]


def issue(outcome: Outcome) -> None:
    """Issue the notes on doubtful results as Python warnings, once."""
    for note in outcome.notes:
        if note.doubtful:
            warn_user(note.text, RunWarning)


STORED_WORK = 1e-3
"""Relative to the energy that is exchanged: error of a work that is integrated between stored states, above which it is told."""


def warn_of_stored_work(name: str, energies: tuple[Array, Array], work: Work, why: str, failed: bool) -> None:
    """Issue a RunWarning if the work between stored states is not accurate.

    name: of the model;  energies: kinetic and potential, (nt,);  why: it is not integrated along the steps of the run
    failed: whether because of an error, which is told however accurate the work is
    """
    if work.error is None or not len(work.error):
        return
    sizes = [*map(np.ptp, energies), np.abs(work.all_applied).max(), np.abs(work.all_dissipated).max()]
    exchanged, error = float(max(sizes)), float(work.error[-1])
    if failed or error > STORED_WORK * exchanged:
        warn_user(
            f"the work of {name!r} is integrated between {len(work.error)} stored states alone: {why}. Its error is about "
            f"{error:.2g} J, of {exchanged:.3g} J that are exchanged (measured with every second state), and so is that of the total and "
            "its drift. Store more states, or ask the result of the run itself.",
            RunWarning,
        )


def _listed(parts: list[str]) -> str:
    """Return the first few parts, and the number of the others."""
    more = len(parts) - NAMED
    return "; ".join(parts[:NAMED]) + (f"; and {more} more" if more > 0 else "")
