r"""Friction that rests on a choice among reactions that are not unique: the stiffness of bearings, or redundancy=MinimumNorm().

    lam = lam_0 + S x         lam_0 of the rows that are kept, with zeros in those that were dropped;  S: self-stresses, Phi_q^T S = 0
    |lam| is least            S^T lam = 0

Friction is solved with lam_0. It is that of least norm exactly where the rows that share carry nothing: those out of the plane of a planar
mechanism of revolute joints, whose loads lie in the plane. This is looked at, at the start and at the end of a run: where another load
shares differently by the two, the run is refused.
Compliant bearings decide any load (`friction.shared_loads`); but methods that step with their own multipliers read lam_0, so that with them
rows that share must carry nothing, too.
Source: Haug (2021), redundant constraints; Wojtyra, Joint reactions in rigid body mechanisms with dependent constraints, Mech. Mach. Theory
44 (2009).
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.errors import Fault, ModelError, SimulationError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.formulations.accelerations import accelerations
from haugmbd.model.dependent_rows import DropDependentRows, MinimumNorm
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.friction_uniqueness import shared_load_faults, two_choices

SAME = 1e-7
"""Relative to the largest multiplier: difference of two choices that is rounding of a solution with ill-conditioned dependent rows."""


def by_bearings(model: Model) -> tuple[str, ...]:
    """Return the names of the frictions whose bearings have a stiffness, in a model with dependent rows; () for most models."""
    frictions = model.loads_of(JointFriction) if model.redundancy.dropped else ()
    return tuple(friction.name for friction in frictions if friction.bearing_stiffness is not None)


def shared_frictions(model: Model, start: State) -> tuple[Fault, ...]:
    """Return a fault for each friction by reactions that neither the joints nor their bearings decide; () for most models."""
    if not model.redundancy.dropped or not any(entry.load.reads_reaction for entry in model.loads):
        return ()
    loads = model.force_elements
    return tuple(shared_load_faults(model, evaluate(model, start), model.redundancy, loads, model.length))


def notes_on_shared(model: Model, start: State) -> list[RunNote]:
    """Return the notes on what the friction of a run rests on. Raise ModelError where no rule was chosen, or where it does not decide."""
    faults, bearings = shared_frictions(model, start), by_bearings(model)
    by_rule = isinstance(model.redundancy.rule, MinimumNorm)
    if bearings and by_rule:
        raise ModelError(two_choices(model.force_elements))
    if bearings and not faults:
        named = ", ".join(map(repr, bearings))
        text = f"redundant rows share the load: what the joints carry, and their friction, rest on bearing_stiffness= of {named}"
        return [RunNote("friction by compliant bearings", text)]
    if not faults:
        return []
    if not by_rule:
        raise ModelError(faults)
    need_the_least(model, start)
    names = ", ".join(fault.where for fault in faults)
    rests = "the friction rests on the choice redundancy=MinimumNorm(): rows that share carry nothing"
    text = f"{names}: the reactions are not unique, and {rests}"
    return [RunNote("friction by a choice", text)]


def need_the_least(model: Model, state: State) -> None:
    """Raise SimulationError if the multipliers with which friction is solved are not those of the choice at a state."""
    if by_bearings(model):
        need_no_shares(model, state)
        return
    kept, least = (accelerations(model, state, redundancy=rule).lam for rule in (DropDependentRows(), MinimumNorm()))
    size = float(np.abs(least).max(initial=0.0))
    if not np.abs(kept - least).max(initial=0.0) > SAME * size:
        return
    row = int(np.argmax(np.abs(kept - least)))
    what = f"{kept[row]:.6g} by the rows that are kept, and {least[row]:.6g} by the least norm"
    raise SimulationError(
        f"friction by redundancy=MinimumNorm() at t = {state.t:.6g} s: the redundant rows share a load, {model.labels[row].joint!r} "
        f"carries {what}, so that the choice does not decide the friction. Let the load lie in the plane of the mechanism, or give joints "
        "more freedom (SJ, CJ, PointOnLine) until no row is redundant."
    )


def need_no_shares(model: Model, state: State) -> None:
    """Raise SimulationError if rows that share carry something: lam_0 of an implicit step is then not the load of the bearings."""
    lam = accelerations(model, state).lam
    rows = list(model.redundancy.dropped)
    size = float(np.abs(lam).max(initial=0.0))
    if not np.abs(lam[rows]).max(initial=0.0) > SAME * size:
        return
    row = rows[int(np.argmax(np.abs(lam[rows])))]
    raise SimulationError(
        f"friction by bearing_stiffness= at t = {state.t:.6g} s: {model.labels[row].joint!r} carries {lam[row]:.6g} in a redundant row, "
        "and an integrator that steps with its own multipliers does not know how such rows share. Take RK4, DormandPrince or another "
        "explicit integrator."
    )


def need_the_least_at(model: Model, t: Array, y: Array) -> None:
    """Raise SimulationError as `need_the_least`, at the middle and the end of a run with the states y (nt, ny) at t (nt,)."""
    for k in {len(t) // 2, len(t) - 1} if len(t) else ():
        if np.isfinite(y[k]).all():
            need_the_least(model, State.from_y(float(t[k]), y[k], model.nb + 1))
