r"""From what the loop of a run has recorded to a Result: counters, what the method solved for, and the notes on the motion.

A smooth motion is one of them; of a motion with impacts each segment is, with the model of its closed contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.contact_warnings import bristle_notes, lift_off_notes, short_impact_notes
from haugmbd.diagnostics.method_solutions import solutions_of_rates, steps_only
from haugmbd.diagnostics.run_warnings import RunNote, checked, unchecked_note, with_model_notes
from haugmbd.formulations import Formulation
from haugmbd.formulations.python_formulation import PythonFormulation, statistics_of
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.kkt.solver import DENSE, MULTIFRONTAL
from haugmbd.model.model import Model
from haugmbd.simulation.results.records import Recorded
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_options import RunMethods
from haugmbd.simulation.stepping.crossed_jumps import CROSSED_JUMPS, jump_notes
from haugmbd.simulation.stepping.unresolved_steps import OPEN_LEDGER, UNRESOLVED_STEPS, ledger_notes, stiff_notes

MANY_BODIES = 15
"""Their matrices have rows enough that BLAS divides operations between threads."""


@dataclass(frozen=True, eq=False)
class ResultMaker:
    """Makes the Result of a smooth motion of a model.

    rule: the stabilization of the methods, or what takes its place;  times: at which states are stored, None for every so many steps
    record_method: whether what the method solved for is kept;  until: time [s] from which on the steps are not needed
    """

    model: Model
    methods: RunMethods
    rule: Stabilization
    settings: dict[str, str]
    times: Array | None
    every: int
    record_method: bool
    until: float

    def make(
        self, found: Recorded, pack: Any, events: tuple[EventRecord, ...], notes: list[RunNote], later: list[RunNote], **other: Any
    ) -> Result:
        """Return the result of what was recorded.

        events: those of the result;  notes, later: on the motion, before and after those that are made here;  other: fields of the result
        """
        model, method, work = self.model, self.methods.integrator, statistics_of(pack)
        counters = found.counters
        if work.solves:
            counters = replace(counters, solves=work.solves, iterations=work.iterations, repartitions=work.repartitions)
        lam, u_dot, failed = self._of_method(found)
        notes = [*notes, unchecked_note("all that the method solves for", failed, "recorded")] if failed else notes
        outcome = with_model_notes(found.outcome, model, found.t, found.y, counters.steps, found.energy_restored)
        impacts = checked("impacts", lambda: short_impact_notes(model, found.events, method, found.t, found.y))
        bristles = checked("bristles", lambda: bristle_notes(model, found.t, found.y))
        lifts = checked("the forces of teeth", lambda: lift_off_notes(model, found.t, found.y, events))
        outcome = outcome.with_notes([*notes, *bristles, *impacts]).with_notes([*lifts, *later])
        result = Result(
            model,
            found.t,
            found.y,
            counters=counters,
            settings=self.settings,
            interrupted=found.interrupted,
            events=events,
            singular_crossings=found.singular_crossings,
            _own=lam,
            _own_u_dot=u_dot,
            _sensors=found.sensors,
            _turns=found.turns,
            _contact_impacts=found.contact_impacts,
            _all_steps=self.times is None and self.every == 1 and method.dense,
            outcome=outcome,
            **other,
        )
        if self.until < np.inf:
            return result
        jumps = checked(CROSSED_JUMPS, lambda: jump_notes(model, found.t, found.y, method, all_steps=result._all_steps))
        result = replace(result, outcome=outcome.with_notes(jumps)) if jumps else result
        of_steps = checked(UNRESOLVED_STEPS, lambda: stiff_notes(result, found.stiffness, method))
        result = replace(result, outcome=result.outcome.with_notes(of_steps)) if of_steps else result
        of_energy = checked(OPEN_LEDGER, lambda: ledger_notes(result, found.stiffness, method))
        return replace(result, outcome=result.outcome.with_notes(of_energy)) if of_energy else result

    def _of_method(self, recorded: Recorded) -> tuple[Array | None, Array | None, Exception | None]:
        """Return multipliers and accelerations that the method itself solved for, None where they are not kept; and an error there."""
        method, lam_of_steps = self.methods.integrator, recorded.lam
        if (method.own_multipliers or self.record_method) and method.lam_at_steps and self.times is None and lam_of_steps is None:
            lam_of_steps = np.full((len(recorded.t), self.model.nc), np.nan)  # it did not make a step
        if self.record_method and method.lam_at_steps:
            return lam_of_steps, steps_only(lam_of_steps, recorded.u_dot), None
        if self.record_method:
            fresh = self.rule.fitted(self.model, self.methods.formulation.pack(self.model))
            u_dot, lam, failed = solutions_of_rates(self.model, fresh, self.rule.rates, self.rule.options(), recorded.t, recorded.y)
            return lam, u_dot, failed
        return (lam_of_steps if method.own_multipliers else None), None, None


def settings_of(methods: RunMethods) -> dict[str, str]:
    """Return the methods as text; without a stabilization where the integrator solves for the constraints."""
    return replace(methods, stabilization=None).texts if methods.integrator.solves_constraints else methods.texts


def has_large_matrices(model: Model, formulation: Formulation) -> bool:
    """Return whether an evaluation may have matrices that BLAS divides between threads."""
    dense = isinstance(formulation, PythonFormulation) or model.solver in (DENSE, MULTIFRONTAL)
    return dense and model.nb >= MANY_BODIES
