"""What implicit methods are as objects: a fixed step or error control, a form of the constraints, and routines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.records import new_record
from haugmbd.compiled.status_codes import OK, USER_STOPPED
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.integrators.base import FixedOrAdaptive, FixedStep, Integrator
from haugmbd.integrators.implicit.constraint_form import ConstraintForm
from haugmbd.integrators.implicit.force_coupling import tables_with_coupling
from haugmbd.integrators.implicit.force_jacobians import DIFFERENCED, FORMULAS, NO_TANGENTS, TANGENTS
from haugmbd.integrators.implicit.newton import SOLVE_STAGE, ModifiedNewton
from haugmbd.integrators.implicit.records import CONTROL, NEWTON, STEP, Control
from haugmbd.integrators.implicit.step_control import Memory, MethodRoutines, Steps, run
from haugmbd.integrators.state_space import model_of
from haugmbd.integrators.step_batch import StepBatch, batch_lengths
from haugmbd.integrators.step_context import Problem, copy_options
from haugmbd.model.model import CALLBACK_ARRAYS, Model
from haugmbd.workspace.layout import Pack, Tables, workspace_array

ITERATIONS = 20
"""Of Newton in a step, at most: ten would be enough where it converges at all."""
FIRST = 1e-6
"""First step of an adaptive method, in parts of the interval: it grows twofold or more from step to step."""
EVIDENCE = ("STATUS", "D_INV", "J", *CALLBACK_ARRAYS)
"""What an error is explained from."""


STEP_MEMORY = (
    "DISPLACEMENT", "BASE_POSE", "U_DOT", "ALGORITHMIC", "U_DOT_BEFORE", "U_DOT_EARLIER", "PREDICTED_R7", "ANGLE_RATE", "LAMBDA",
)  # fmt: skip
"""What a failed step gives back; these matrices stand side by side, see `step_control.save`."""


class Rule(NamedTuple):
    """A method for one run: its routines, its own numbers in `Step`, and its room, with what the first step finds there.

    solve: by what iteration a step is solved
    """

    predict: Routine
    place: Routine
    close: Routine
    own: Mapping[str, float] = MappingProxyType({})
    room: Array = np.zeros((1, 1))
    solve: Routine = SOLVE_STAGE


@lru_cache(maxsize=4)
def implicit_tables(model: Model, curved: bool) -> Tables:
    """The tied tables of a model: made once for runs and events that follow one another."""
    return tables_with_coupling(model, curved)


def implicit_pack(problem: Problem, name: str, newton: ModifiedNewton) -> Pack:
    """New room with the tied tables; u', what is remembered of it, and lam are those of the state at hand."""
    model = model_of(problem.subject, name)
    derive = NO_CALLBACK if newton.curved else model.jacobian_callbacks.callback()
    pack = model.pack(implicit_tables(model, newton.curved))._replace(callback=problem.pack.callback, derive=derive)
    if problem.rates(problem.pack, copy_options(problem.options), problem.t, problem.y, np.zeros_like(problem.y)) == OK:
        x = workspace_array(problem.pack, "SOLUTION")
        for name in ("U_DOT", "ALGORITHMIC", "U_DOT_BEFORE", "U_DOT_EARLIER"):
            workspace_array(pack, name)[:] = x[: model.nb + 1]
        workspace_array(pack, "LAMBDA")[:, 0] = x[model.nb + 1 :].ravel()
    return pack


def tangents_of(model: Model, pack: Pack) -> Routine:
    """The least that fills the tangents of a model's forces."""
    if workspace_array(pack, "DERIVED").size:
        return TANGENTS
    if workspace_array(pack, "PROBE").size:
        return DIFFERENCED
    return FORMULAS if model.loads else NO_TANGENTS


@public_class
class Implicit(Integrator):
    """A method that solves dynamics and constraints together.  It has `level`, `tol` and `newton`, and is asked for its `rule`."""

    solves_constraints = True
    one_step = False
    own_multipliers = True
    constraint_form: ConstraintForm | None
    tol: float
    newton: ModifiedNewton

    @property
    def form(self) -> ConstraintForm:
        """The form of the constraints that is solved."""
        assert self.constraint_form is not None
        return self.constraint_form

    @abstractmethod
    def rule(self, problem: Problem, pack: Pack, h: float) -> Rule:
        """The method for a run of `problem` with first step `h`; it may set what the first step remembers in `pack`."""

    @abstractmethod
    def control(self, problem: Problem, t_end: float) -> Control:
        """Steps and tolerances, see `step_control`."""

    def check_tol(self) -> None:
        """Refuse a tolerance that is none."""
        if not (np.isfinite(self.tol) and self.tol > 0.0):
            raise UsageError(f"tol = {self.tol}, what Newton may leave of a step, must be positive; 1e-10 m is a good start.")

    @property
    def keeps_positions(self) -> bool:
        return "position" in self.form.keeps

    @property
    def keeps_velocities(self) -> bool:
        return "velocity" in self.form.keeps

    @property
    def newton_tol(self) -> float:
        """What Newton may leave."""
        return self.tol * self.form.share

    def chunks(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance to `t_end`, a chunk of steps at a time."""
        pack, model = implicit_pack(problem, type(self).__name__, self.newton), model_of(problem.subject, "")
        control, ny = self.control(problem, t_end), problem.y.size
        workspace_array(pack, "ANGLE_RATE")[:] = k1[ny - workspace_array(pack, "ANGLE_RATE").size :]
        rule = self.rule(problem, pack, float(control.h_next))
        step = new_record(STEP, **rule.own)
        newton = new_record(
            NEWTON,
            constraint_form=self.form.number,
            tolerance=self.newton_tol,
            max_iterations=ITERATIONS,
            curved=self.newton.curved,
        )
        saved = np.zeros(ny + sum(workspace_array(pack, name).size for name in STEP_MEMORY))
        lengths = batch_lengths(problem)
        method = MethodRoutines(rule.solve, tangents_of(model, pack), rule.place, rule.predict, rule.close)
        while control.t < t_end:
            n = next(lengths)
            steps = Steps(np.empty(n), np.empty((n, ny)), np.zeros((n, ny)), np.empty((n, workspace_array(pack, "LAMBDA").size)))
            control.n_rejected = 0.0
            code, done = run(method, pack, step, newton, control, problem.options, Memory(rule.room, saved), problem.y, steps)
            if code != OK:
                for name in EVIDENCE:
                    workspace_array(problem.pack, name).ravel()[:] = workspace_array(pack, name).ravel()
                if code == USER_STOPPED and problem.pack.callback.error is None:
                    problem.pack.callback.error = model.jacobian_callbacks.error_of(pack)
            if done:
                k1[:] = steps.y_dot[done - 1]
            t_stop = float(control.t + (control.h_next if code != OK else 0.0))
            lam = steps.lam[:done, model.slot_of_row]
            yield StepBatch(steps.t[:done], steps.y[:done], steps.y_dot[:done], code, t_stop, done, int(control.n_rejected), lam)
            if code != OK:
                return


def fixed_control(problem: Problem, t_end: float, h: float, newton_tol: float) -> Control:
    """Return the control of a run with fixed step h."""
    t = problem.t
    control: Control = new_record(CONTROL, t=t, t_end=t_end, h_next=h, h_max=np.inf, h_fixed=h, t_first=t, newton_tol=newton_tol)
    return control


@dataclass(frozen=True)
class ImplicitFixed(Implicit, FixedStep):
    """A fixed step `h` [s]; where Newton fails, that step is taken in smaller parts.

    level: form of the constraints, Index3(), Index2(), GGL(), HillerAnantharaman()
    tol: what Newton may leave of a step [m, rad]; a hundredth of it, relative to 1 + |u|, where velocities are kept
    """

    def check(self, span: float) -> None:
        super().check(span)
        self.check_tol()

    def control(self, problem: Problem, t_end: float) -> Control:
        assert self.h is not None
        return fixed_control(problem, t_end, self.h, self.newton_tol)


@dataclass(frozen=True)
class ImplicitFixedOrAdaptive(Implicit, FixedOrAdaptive):
    """A fixed step `h` [s], as `ImplicitFixed`; or error control by rtol and atol, of positions and velocities.

    Error control needs velocities that are kept: those of index 3 jump by Phi / h when the step h changes.
    """

    def check(self, span: float) -> None:
        super().check(span)
        self.check_tol()
        if self.adaptive and "velocity" not in self.form.keeps:
            name = type(self).__name__
            raise UsageError(
                f"{name} controls the error of velocities, and constraint_form={self.constraint_form!r} does not keep them when "
                f"the step changes: leave level "
                "out for GGL(), or take Index2(), or a fixed step."
            )

    @property
    def newton_tol(self) -> float:
        """Of a fixed step `tol`; with error control at most a hundredth of what a step may be wrong by."""
        tol = self.tol * self.form.share
        return min(tol, 1e-2 * (self.rtol + self.atol)) if self.adaptive else tol

    def control(self, problem: Problem, t_end: float) -> Control:
        if not self.adaptive:
            assert self.h is not None
            return fixed_control(problem, t_end, self.h, self.newton_tol)
        h, span = self.h_first or FIRST * min(self.h_max, t_end - problem.t), t_end - problem.t
        control: Control = new_record(
            CONTROL,
            t=problem.t,
            t_end=t_end,
            h_next=min(h, span),
            rtol=self.rtol,
            atol=self.atol,
            h_max=self.h_max,
            newton_tol=self.newton_tol,
        )
        return control
