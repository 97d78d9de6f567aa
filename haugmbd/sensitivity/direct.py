"""Direct differentiation: a tangent of states by each parameter.

simulate        the tape of accepted steps of one smooth piece of a motion, each with its tangents (`tangents`); see `simulated`
kinematics      dPhi = 0, d(nu - Phi_q u) = 0 at each time: every state by itself
accelerations   the modelled state
assemble        the least mass-weighted change that closes the mechanism
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.scalars import LANES
from haugmbd.compiled.status_codes import OK
from haugmbd.errors import UsageError
from haugmbd.integrators.explicit.rk4 import RK4
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import make_options
from haugmbd.sensitivity.dual_pack import DualPack, doubles_of
from haugmbd.sensitivity.implicit_tangents import history_of, implicit_method, run_implicit, step_and_newton
from haugmbd.sensitivity.laws import NO_LAW, Law
from haugmbd.sensitivity.parameters import failure
from haugmbd.sensitivity.rattle_tangents import new_halves, run_rattle
from haugmbd.sensitivity.tangents import RUNGE_KUTTA, Method, new_memory, place_lanes, run_lanes
from haugmbd.sensitivity.variations import Design
from haugmbd.workspace.layout import Pack

FAR = 1e-6
"""Distance of a step that is made again from the run's own [m, rad], at which the lanes would belong to another motion."""
JUMPED = "Events or jumps change its law; sensitivities through them are not there yet."
DIVIDED = "A step was divided, or events change its law: give a smaller step, or an explicit method."
"""Why steps that are made again may end in other states."""
LOCKED = 1e-6
"""Part of the size of the mechanism by which a dropped row opens for a change of a parameter by its size: it locks the mechanism."""

RunInDuals: TypeAlias = "Callable[..., tuple[int, int, float]]"
"""run(memory, T, Y, lanes): make the steps again, and write their tangents to lanes; return code, number of steps, and distance from Y."""


class Tangents(NamedTuple):
    """A motion and its tangents.

    t: (nt,)  y: (nt, ny)  dY: (nt, n, ny);  dt: (nt, n) of the times, where a terminal event ends the run
    times: those of events by the text of their outputs: t, and dt/dp (n,)
    pieces: where the structure of the mechanism changes, the designs of all structures, each with its states
    steps: all states of the motion, which integrals over it need; None of a single state
    kept: (nt, k, 1 + n) values and tangents of what outputs read of the solution there, see `solved_outputs`; None if it is not known
    """

    t: Array
    y: Array
    dY: Array
    dt: Array
    times: Mapping[str, tuple[float, Array]] = MappingProxyType({})
    pieces: tuple[tuple[Any, slice], ...] = ()
    steps: Any = None
    kept: Array | None = None

    def last(self) -> Tangents:
        """Return the last state alone."""
        pieces = tuple((design, slice(0, 1)) for design, _ in self.pieces[-1:])
        kept = None if self.kept is None else self.kept[-1:]
        return Tangents(self.t[-1:], self.y[-1:], self.dY[-1:], self.dt[-1:], self.times, pieces, self.steps, kept)


def at_fixed_times(t: Array, y: Array, dY: Array) -> Tangents:
    """Return a motion whose times do not move."""
    return Tangents(t, y, dY, np.zeros(dY.shape[:2]))


def refuse_locks(design: Design, opening: Array) -> None:
    """Raise UsageError if a parameter opens a row that depends on others: off its value the mechanism is locked, or less mobile.

    opening: (n, 6 ne) largest derivative of Phi of each slot by each parameter
    """
    model = design.model
    dropped = np.array(model.redundancy.dropped, dtype=np.int64)
    if not len(dropped):
        return
    slack = opening[:, model.slot_of_row[dropped]] * design.p.sizes[:, None]
    for name, line in zip(design.p, slack, strict=True):
        if line.max() > LOCKED * max(1.0, model.length):
            joints = sorted(
                {model.labels[row].joint for row, x in zip(dropped, line, strict=True) if x > LOCKED * max(1.0, model.length)}
            )
            raise UsageError(
                f"parameter {name!r} locks the mechanism: redundant rows of {', '.join(map(repr, joints))} hold at this value only, and a "
                "change opens them. There is no derivative. Let the parameter move the special lengths together, or take the redundant "
                "rows away: a CJ or SJ in place of an RJ."
            )


class Tape(NamedTuple):
    """Tangents along the steps of a run that end at T (m,).

    Y, dY: there;  t, y, dy: at times between;  y_dot: at the last one;  kept, beside_kept: (., k, 1 + n) of the solution, see `Tangents`
    """

    T: Array
    Y: Array
    dY: Array
    t: Array
    y: Array
    dy: Array
    y_dot: Array
    kept: Array
    beside_kept: Array

    def at(self, times: Array) -> tuple[Array, Array]:
        """Return states and tangents at times that are among T and t."""
        order = self._order(times)
        return np.concatenate([self.Y, self.y])[order], np.concatenate([self.dY, self.dy])[order]

    def kept_at(self, times: Array) -> Array:
        """Return what is kept of the solutions at times that are among T and t."""
        return np.asarray(np.concatenate([self.kept, self.beside_kept])[self._order(times)])

    def _order(self, times: Array) -> list[int]:
        """Return the numbers of times among T and t."""
        t = np.concatenate([self.T, self.t])
        return [int(np.flatnonzero(t == x)[0]) for x in times]


def along_tape(
    design: Design, method: Any, T: Array, Y: Array, inside: Array, start: Array | None = None, law: Law = NO_LAW
) -> Tape:
    """Return the tangents along the steps of a run that end at T in the states Y, and at times `inside` of it.

    start: (n, ny) tangents at T[0]; by default those of the modelled state;  law: that holds in these steps
    """
    model, n, ny = design.model, len(design.p), Y.shape[1]
    T, Y, dY = np.array(T), np.array(Y), np.zeros((len(T), n, ny))
    inside = np.unique(inside[~np.isin(inside, T)])
    beside = np.searchsorted(T, inside, side="right") - 1
    beside_y, beside_dY = np.zeros((len(inside), ny)), np.zeros((len(inside), n, ny))
    slots = 6 * len(model.tables["EDGES"])
    opening, y_dot, keep = np.zeros((n, slots)), np.zeros(ny), design.solved.keep
    anchors = not len(model.tables["FRICTION_INTS"])  # steps are divided where sliding turns
    kept, beside_kept = np.zeros((len(T), len(keep), 1 + n)), np.zeros((len(inside), len(keep), 1 + n))
    # the steps are made again in dual numbers, with as many parameters at a time as there are lanes
    for which, P in design.dual_packs(law):
        memory, lanes, beside_lanes = new_memory(ny, slots, len(method.tableau.c)), _lanes(len(T), ny), _lanes(len(inside), ny)
        lanes[0, : which.stop - which.start] = (design.start if start is None else start)[which]
        room = [np.zeros((len(x), len(keep), 1 + LANES)) for x in (T, inside)]
        numbers = keep, doubles_of(P.work), *room
        made = run_lanes(P, memory, method, T, Y, lanes, beside, inside, beside_y, beside_lanes, *numbers, anchors)
        _need_same_steps(design, P, made, T, JUMPED)
        dY[:, which], beside_dY[:, which] = (x[:, : which.stop - which.start] for x in (lanes, beside_lanes))
        for whole, lanes_kept in zip((kept, beside_kept), room, strict=True):
            _put_kept(whole, lanes_kept, which)
        opening[which], y_dot[:] = memory.slack.T[: which.stop - which.start], memory.y_dot[:, 0]
    refuse_locks(design, opening)
    return Tape(T, Y, dY, inside, beside_y, beside_dY, y_dot, kept, beside_kept)


def along_implicit_tape(design: Design, given: Any, T: Array, Y: Array, start: Array | None = None) -> Tape:
    """Return the tangents along the steps of a run of an implicit method, as `along_tape` of an explicit one."""
    model, slots = design.model, 6 * len(design.model.tables["EDGES"])

    def run_of(P: DualPack, pack: Pack) -> RunInDuals:
        history, rows = history_of(given, Y.shape[1], slots)
        step, newton = step_and_newton(given, model)
        method = implicit_method(given, model, pack)
        return lambda memory, *states: run_implicit(P, memory, method, step, newton, make_options(), history, rows, *states)

    runs = ((which, P, run_of(P, pack)) for which, P, pack in design.implicit_packs())
    return _along_ends(design, T, Y, start, runs, DIVIDED)


def along_rattle_tape(design: Design, T: Array, Y: Array, start: Array | None = None) -> Tape:
    """Return the tangents along the steps of a run of RATTLE, as `along_tape` of an explicit one."""

    def run_of(P: DualPack) -> RunInDuals:
        return lambda memory, *states: run_rattle(P, memory, *new_halves(design.model.nb + 1), *states)

    return _along_ends(design, T, Y, start, ((which, P, run_of(P)) for which, P in design.dual_packs()), JUMPED)


def _along_ends(
    design: Design, T: Array, Y: Array, start: Array | None, runs: Iterable[tuple[slice, DualPack, RunInDuals]], cause: str
) -> Tape:
    """Return the tangents at the ends of steps alone, which are made again in dual numbers, LANES parameters at a time.

    runs: which parameters, their workspace, and the steps with them;  cause: why steps may end in other states
    """
    n, ny, no_time = len(design.p), Y.shape[1], np.zeros(0)
    T, Y, dY, slots = np.array(T), np.array(Y), np.zeros((len(T), n, ny)), 6 * len(design.model.tables["EDGES"])
    opening, y_dot = np.zeros((n, slots)), np.zeros(ny)
    for which, P, run in runs:
        memory, lanes, used = new_memory(ny, slots, 1), _lanes(len(T), ny), which.stop - which.start
        lanes[0, :used] = (design.start if start is None else start)[which]
        _need_same_steps(design, P, run(memory, T, Y, lanes), T, cause)
        dY[:, which], opening[which], y_dot[:] = lanes[:, :used], memory.slack.T[:used], memory.y_dot[:, 0]
    refuse_locks(design, opening)
    nothing = np.zeros((0, 0, 1 + n))
    return Tape(T, Y, dY, no_time, np.zeros((0, ny)), np.zeros((0, n, ny)), y_dot, nothing, nothing)


def _need_same_steps(design: Design, P: DualPack, made: tuple[int, int, float], T: Array, cause: str) -> None:
    """Raise the error of steps that were made again.  made: code, number of steps, and distance of their ends from the run"""
    code, done, far = made
    if code != OK:
        raise failure(design.model, P, code, float(T[min(done, len(T) - 1)]))
    if not far <= FAR:
        raise UsageError(f"the steps of the run cannot be made again: a state differs by {far:.1e}. {cause}")


def _put_kept(whole: Array, lanes: Array, which: slice) -> None:
    """Write values and tangents of numbers of the solutions, (nt, k, 1 + LANES), to those of all parameters, (nt, k, 1 + n)."""
    whole[..., 0], whole[..., 1 + which.start : 1 + which.stop] = lanes[..., 0], lanes[..., 1 : 1 + which.stop - which.start]


def _lanes(points: int, ny: int) -> Array:
    """Return room for LANES tangents of some states."""
    return np.zeros((points, LANES, ny))


def at_one_state(design: Design) -> Tangents:
    """Return the modelled state as it is, and the solution there if outputs follow from it."""
    tangents = at_fixed_times(np.zeros(1), np.array(design.model.y0)[None], design.start[None].copy())
    if not len(design.solved.keep):
        return tangents
    slides, spins = MaximalStateSpace(design.model).places()
    tape = along_tape(
        design, Method(RK4.tableau, RUNGE_KUTTA, False, spins, slides, False, 0.0, 0.0), tangents.t, tangents.y, tangents.t
    )
    return tangents._replace(kept=tape.kept)


def placed(design: Design, t: Array, y: Array, dY: Array) -> Tangents:
    """Return states with the tangents dY brought to dPhi = 0 and d(Phi_q u - nu) = 0, each by itself."""
    model = design.model
    if model.n_states:
        raise UsageError(
            "sensitivity of this kind of run, with internal states of forces or blocks, is not there yet: use run='simulate', or forces "
            "without them."
        )
    T, Y, found, slots = np.array(t), np.array(y), np.array(dY), 6 * len(model.tables["EDGES"])
    opening, keep = np.zeros((len(design.p), slots)), design.solved.keep
    kept = np.zeros((len(T), len(keep), 1 + len(design.p)))
    for which, P in design.dual_packs():
        room = np.zeros((len(T), len(keep), 1 + LANES))
        memory, lanes, Y, n = new_memory(Y.shape[1], slots, 1), _lanes(len(T), Y.shape[1]), np.array(y), which.stop - which.start
        lanes[:, :n] = dY[:, which]
        code, done = place_lanes(P, memory, T, Y, lanes, keep, doubles_of(P.work), room)
        if code != OK:
            raise failure(model, P, code, float(t[min(done, len(t) - 1)]))
        found[:, which], opening[which] = lanes[:, :n], memory.slack.T[:n]
        _put_kept(kept, room, which)
    refuse_locks(design, opening)
    return at_fixed_times(t, Y, found)._replace(kept=kept)
