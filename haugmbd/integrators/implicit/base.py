"""The base classes of implicit methods: a fixed step or error control, a form of the constraints, and compiled routines."""

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
from haugmbd.compiled.function_pointers import Routine, resolve
from haugmbd.compiled.records import new_record
from haugmbd.compiled.status_codes import OK, USER_STOPPED
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.friction.columns import LOADED
from haugmbd.integrators.base import FixedOrAdaptive, FixedStep, Integrator
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.implicit.constraint_form import ConstraintForm
from haugmbd.integrators.implicit.force_coupling import tables_with_coupling
from haugmbd.integrators.implicit.force_jacobians import (
    DIFFERENCED,
    FORMULAS,
    NO_TANGENTS,
    TANGENTS,
    WITH_CONTACTS,
    WITH_FRICTION,
)
from haugmbd.integrators.implicit.newton import SOLVE_STAGE, ModifiedNewton
from haugmbd.integrators.implicit.records import CONTROL, NEWTON, STEP, Control, Newton, Step
from haugmbd.integrators.implicit.step_control import ImplicitSteps, MethodMemory, MethodRoutines, run
from haugmbd.integrators.state_space import model_of
from haugmbd.integrators.step_batch import StepBatch, batch_lengths
from haugmbd.integrators.step_context import Problem, copy_options
from haugmbd.model.inspection.length import rate_of
from haugmbd.model.model import CALLBACK_ARRAYS, Model
from haugmbd.workspace.layout import Pack, Tables, with_callback, workspace_array

PART = 1e-2
"""Of what error control lets a step be wrong by: what Newton may leave of it."""
ITERATIONS, LAGGING_ITERATIONS = 20, 60
"""Maximum number of Newton's iterations in a step; about half of them suffice where it converges. LAGGING: where forces read lam. These
leave an error in slow components, too, which error control takes for that of the step: their tolerance is `tol`."""
FIRST = 1e-6
"""First step of an adaptive method, relative to the interval; later steps grow twofold or more."""
NEWTON_TOL = DefaultNumber(1e-10)
"""Default error that Newton's iteration may leave, of lengths relative to the characteristic length of the model."""
LEAST_TOL = 1e-13
"""Smallest tolerance of Newton's iteration, relative to the length of the model; its corrections come down to some 1e-15."""
ROWS = ("J", "LEVEL")
"""Arrays from which gaps of joints are measured."""
EVIDENCE = ("STATUS", "D_INV", *CALLBACK_ARRAYS)
"""Arrays from which an error is explained, besides."""


STEP_MEMORY = (
    "DISPLACEMENT", "BASE_POSE", "U_DOT", "ALGORITHMIC", "U_DOT_BEFORE", "U_DOT_EARLIER", "PREDICTED_R7", "ANGLE_RATE",
    "STATE_RATES_BEFORE", "LAMBDA",
)  # fmt: skip
"""Arrays that a failed step restores; they are stored side by side, see `step_control.save`."""


class Rule(NamedTuple):
    """A method for one run: its routines, its own numbers in `Step`, and its memory at the first step.

    solve: the iteration that solves a step
    """

    predict: Routine
    place: Routine
    close: Routine
    own: Mapping[str, float] = MappingProxyType({})
    history: Array = np.zeros((1, 1))
    solve: Routine = SOLVE_STAGE


class ImplicitRun(NamedTuple):
    """All that implicit steps work with: routines, workspace, numbers of a step, of Newton's iteration and of the run, memory."""

    method: MethodRoutines
    pack: Pack
    step: Step
    newton: Newton
    control: Control
    memory: MethodMemory


@lru_cache(maxsize=4)
def implicit_tables(model: Model, curved: bool) -> Tables:
    """Return the tables of a model with coupled bodies; they are made once for runs and events that follow one another."""
    return tables_with_coupling(model, curved)


def implicit_pack(problem: Problem, name: str, newton: ModifiedNewton) -> Pack:
    """Return a new workspace with the coupled tables; u', its history, and lam are those of the current state."""
    model = model_of(problem.state_space, name)
    derive = NO_CALLBACK if newton.curved else model.jacobian_callbacks.callback()
    own = model.pack(implicit_tables(model, newton.curved))._replace(derive=derive)
    pack = with_callback(own, problem.pack.callback)
    code = problem.rates(problem.pack, copy_options(problem.options), problem.t, problem.y, np.zeros_like(problem.y))
    problem.pack.callback.keep_interruption(code)
    if code == OK:
        x = workspace_array(problem.pack, "SOLUTION")
        for name in ("U_DOT", "ALGORITHMIC", "U_DOT_BEFORE", "U_DOT_EARLIER"):
            workspace_array(pack, name)[:] = x[: model.nb + 1]
        workspace_array(pack, "LAMBDA")[:, 0] = x[model.nb + 1 :].ravel()
    workspace_array(pack, "F")[:] = workspace_array(problem.pack, "F")  # what stops hold
    return pack


def tangents_of(model: Model, pack: Pack) -> Routine:
    """Return the smallest routine that evaluates the tangents of a model's forces."""
    if len(model.tables["FRICTION_INTS"]):
        return WITH_FRICTION
    if model.has_contacts:
        return WITH_CONTACTS
    if workspace_array(pack, "USER_JACOBIANS").size:
        return TANGENTS
    if workspace_array(pack, "DIFFERENCES").size:
        return DIFFERENCED
    return FORMULAS if model.loads else NO_TANGENTS


@public_class
class Implicit(Integrator):
    """A method that solves dynamics and constraints together, with `constraint_form`, `tol` and `newton`; a subclass has a `rule`."""

    solves_constraints = True
    one_step = False
    own_multipliers = True
    lam_at_steps = True
    watches_rank = True
    has_own_matrix = True
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
        """Return the method for a run of `problem` with first step `h`; it may initialize the memory in `pack`."""

    @abstractmethod
    def control(self, problem: Problem, t_end: float) -> Control:
        """Return steps and tolerances, see `step_control`."""

    def check_tol(self) -> None:
        """Raise UsageError if tol is not positive."""
        if not (np.isfinite(self.tol) and self.tol > 0.0):
            raise UsageError(f"tol = {self.tol}, the tolerance of Newton's iteration, must be positive; 1e-10 m is a good start.")

    @property
    def keeps_positions(self) -> bool:
        return "position" in self.form.keeps

    @property
    def keeps_velocities(self) -> bool:
        return "velocity" in self.form.keeps

    @property
    def newton_tol(self) -> float:
        """The error that Newton's iteration may leave of a rotation [rad]."""
        return self.newton_tol_of(1.0)

    def newton_tol_of(self, length: float) -> float:
        """Return the error that Newton's iteration may leave in a mechanism of this length [m]; a `tol` that is given is in metres."""
        return self.tol * self.form.share * (length if isinstance(self.tol, DefaultNumber) else 1.0)

    def newton_length(self, model: Model) -> float:
        """Return the length [m] that Newton's iteration divides lengths by, for `newton_tol` to be its tolerance."""
        tol = self.newton_tol
        return max(self.newton_tol_of(model.length), min(tol, LEAST_TOL) * model.length) / tol

    def begin(self, problem: Problem, k1: Array, t_end: float) -> ImplicitRun:
        """Return what the steps of a run to `t_end` work with; k1: (ny,) the rates at its start."""
        pack, model = implicit_pack(problem, type(self).__name__, self.newton), model_of(problem.state_space, "")
        control, ny = self.control(problem, t_end), problem.y.size
        workspace_array(pack, "ANGLE_RATE")[:] = k1[ny - workspace_array(pack, "ANGLE_RATE").size :]
        rule = self.rule(problem, pack, float(control.h_next))
        step = new_record(STEP, **rule.own)
        friction = model.tables["FRICTION_INTS"]
        lags = bool(len(friction) and friction[:, LOADED].any())
        newton = new_record(
            NEWTON,
            constraint_form=self.form.number,
            tolerance=min(self.newton_tol, self.tol * self.form.share) if lags else self.newton_tol,
            length=self.newton_length(model),
            rate=rate_of(model),
            max_iterations=LAGGING_ITERATIONS if lags else ITERATIONS,
            lags=lags,
            curved=self.newton.curved,
        )
        saved = np.zeros(ny + sum(workspace_array(pack, name).size for name in STEP_MEMORY))
        method = MethodRoutines(rule.solve, tangents_of(model, pack), rule.place, rule.predict, rule.close)
        resolve(*method, pack, problem.watch.pack, problem.events.look, problem.events.pack)
        memory = MethodMemory(rule.history, saved, problem.watch, problem.events)
        return ImplicitRun(method, pack, step, newton, control, memory)

    def batches(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance to `t_end`; yield a batch of steps at a time."""
        model, ny = model_of(problem.state_space, ""), problem.y.size
        method, pack, step, newton, control, memory = self.begin(problem, k1, t_end)
        lengths = batch_lengths(problem)
        while control.t < t_end:
            n = next(lengths)
            steps = ImplicitSteps(
                np.empty(n), np.empty((n, ny)), np.zeros((n, ny)), np.empty((n, workspace_array(pack, "LAMBDA").size))
            )
            control.n_rejected = 0.0
            memory = memory._replace(watch=problem.watch, events=problem.events)
            code, done = run(method, pack, step, newton, control, problem.options, memory, problem.y, steps)
            for name in ROWS if code == OK else (*ROWS, *EVIDENCE):
                workspace_array(problem.pack, name).ravel()[:] = workspace_array(pack, name).ravel()
            if code != OK:
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
    """A fixed step `h` [s]; if Newton's iteration fails, the step is divided.

    constraint_form: form of the constraints, Index3(), Index2(), GGL(), HillerAnantharaman()
    tol: error that Newton's iteration may leave [m, rad]; a hundredth of it, relative to 1 + |u|, for velocities
        The default, 1e-10, is measured by the characteristic length of the model.
    """

    def check(self, span: float) -> None:
        super().check(span)
        self.check_tol()

    def control(self, problem: Problem, t_end: float) -> Control:
        assert self.h is not None
        return fixed_control(problem, t_end, self.h, self.newton_tol)


@dataclass(frozen=True)
class ImplicitFixedOrAdaptive(Implicit, FixedOrAdaptive):
    """A fixed step `h` [s], as `ImplicitFixed`; or error control of positions and velocities by rtol and atol.

    Error control needs velocities that fulfil their constraints: those of index 3 jump by Phi / h when the step h changes.
    """

    def check(self, span: float) -> None:
        super().check(span)
        self.check_tol()
        if self.adaptive and "velocity" not in self.form.keeps:
            name = type(self).__name__
            raise UsageError(
                f"{name} controls the error of velocities, and constraint_form={self.constraint_form!r} does not keep them when "
                f"the step changes: leave it "
                "out for GGL(), or take Index2(), or a fixed step."
            )

    def newton_tol_of(self, length: float) -> float:
        """Return `tol`, or with error control at most a hundredth of the allowed error."""
        tol = super().newton_tol_of(length)
        return min(tol, PART * self.step_error(length)) if self.adaptive else tol

    def step_error(self, length: float) -> float:
        """Return the error that a step may have, at a distance of one length of the mechanism [m]; of rotations for length 1."""
        return self.rtol * length + self.atol * (length if isinstance(self.atol, DefaultNumber) else 1.0)

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
            atol_length=self.atol * self.units(problem)[0],
            h_max=self.h_max,
            newton_tol=self.newton_tol,
        )
        return control
