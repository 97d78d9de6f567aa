r"""Errors of a result against a reference, in groups, each over its own scale.

    positions       max_k |r_k - r_k*| / L                                    L: characteristic length of the model
    orientations    max_k angle of A_k*^T A_k                  [rad]
    velocities      max_k ( |v_k - v_k*| / V,  L |omega_bar_k - omega_bar_k*| / V )            V  = max ( |v*|, L |omega_bar*| )
    multipliers     max_row L^n |lam - lam*| / W               of J, as Phi is in m^n          W  = max L^n |lam*|
    reactions       max_joint ( |F - F*|,  |T - T*| / L ) / F0  components that are unique     F0 = max ( |F*|, |T*| / L )
    energy          |(T + V) - (T + V)*| / E0                                                  E0 = max T*  or  max V* - min V*
    an output f     max |f - f*| / max |f*|

The scales are those of the reference over the whole run, so that errors at different times and of different methods can be compared.  A
scale that is zero, or rounding, counts as one.  Where no component of a reaction is unique, reactions have no errors.

Multipliers and reactions are those that the method itself computed where the result has them (`record_method=True`).  Where rows depend on
others, multipliers are converted to those of the kept rows by the rule of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.deprecated import did_you_mean
from haugmbd.diagnostics.energy import kinetic_and_potential
from haugmbd.diagnostics.joint_reactions import reactions_over_time
from haugmbd.diagnostics.violation import JointWrenches
from haugmbd.errors import HaugmbdError, UsageError, error_text
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.inspection.length import POWERS
from haugmbd.model.model import Model
from haugmbd.simulation.results.result import Result

GROUPS = ("positions", "orientations", "velocities", "multipliers", "reactions", "energy")
"""The groups of errors, besides the outputs."""

NOTHING = 1e-13
"""Scale that is rounding: of speeds relative to L over the time of the run, of energies to the potential one, of reactions to all."""

Outputs = Mapping[str, Callable[[Result], Any]]
"""By name: functions of a result that return one value, (nt,) or (nt, ...), at each of its states."""


@dataclass(frozen=True, eq=False)
class GroupErrors:
    """Errors over time by group, and the scales that they are divided by.

    Attributes
    ----------
    t : ndarray, (k,)
        Times [s].
    errors : dict of str to ndarray, (k,)
        Errors by group, relative; of orientations in rad.
    scales : dict of str to float
        What differences were divided by: m, rad, m/s, J, N, J, or the unit of the output.
    notes : dict of str to str
        Groups that could not be computed, and why; their errors are NaN.
    """

    t: Array
    errors: dict[str, Array]
    scales: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def end(self, group: str) -> float:
        """Return the error at the last time."""
        return float(self._of(group)[-1])

    def max(self, group: str) -> float:
        """Return the largest error over time; NaN if one of them is."""
        return float(self._of(group).max())

    def _of(self, group: str) -> Array:
        if group not in self.errors:
            raise UsageError(f"no group {group!r}: {', '.join(self.errors)}{did_you_mean(group, self.errors)}.")
        return self.errors[group]


def group_errors(
    result: Result,
    reference: Result,
    *,
    groups: Iterable[str] = GROUPS,
    outputs: Outputs | None = None,
    at: Ints | None = None,
    scales: Mapping[str, float] | None = None,
) -> GroupErrors:
    """Return the errors of `result` against `reference` at states of `result`.

    Parameters
    ----------
    result : Result
        The result. Its states are not interpolated.
    reference : Result
        The reference, with the same bodies and rows. It is interpolated (`Result.resample`) at times that it does not hold.
    groups : iterable of str
        Groups of errors, of `GROUPS`.
    outputs : dict of str to callable, optional
        By name: functions of a result that return an array (nt,) or (nt, ...).
    at : integer array, (k,), optional
        Numbers of the states of `result` that are compared; by default all.
    scales : dict of str to float, optional
        Scales by group; by default those of the reference, see `scales_of`.

    Returns
    -------
    GroupErrors
        Errors over time by group and by output.

    Raises
    ------
    UsageError
        If a group is unknown, an output has the name of a group or does not return one value for each state, the two results are not
        of the same model, or the reference does not cover the times.
    """
    wanted = check_groups(groups, outputs)
    check_same(result, reference)
    at = np.arange(len(result)) if at is None else np.asarray(at, dtype=np.int64)
    exact = at_times(reference, result.t[at])
    errors = GroupErrors(result.t[at], {}, dict(scales_of(reference, wanted, outputs) if scales is None else scales))
    for group in wanted:
        _put(errors, group, lambda group=group: DIFFERENCES[group](result, exact, at))  # type: ignore[misc]
    for name, output in (outputs or {}).items():
        _put(errors, name, lambda name=name, output=output: _output_errors(name, output, result, exact, at))  # type: ignore[misc]
    return errors


def scales_of(reference: Result, groups: Iterable[str] = GROUPS, outputs: Outputs | None = None) -> dict[str, float]:
    """Return the divisors of the differences of each group and output; 1 where the reference is zero throughout."""
    scales = {}
    for group in groups:
        try:
            scales[group] = _not_zero(SCALES[group](reference))
        except HaugmbdError:  # no reactions at a singular configuration
            scales[group] = np.nan
    for name, output in (outputs or {}).items():
        scales[name] = _not_zero(float(np.abs(values_of(name, output, reference)).max(initial=0.0)))
    return scales


def check_groups(groups: Iterable[str], outputs: Outputs | None = None) -> tuple[str, ...]:
    """Return the groups. Raise UsageError for unknown ones, and for outputs that are not named functions."""
    if isinstance(groups, bytes | np.ndarray) or not isinstance(groups, Iterable):
        raise UsageError(f"groups = {groups!r:.60} must be names among {', '.join(map(repr, GROUPS))}.")
    wanted = (groups,) if isinstance(groups, str) else tuple(groups)
    wrong = [f"unknown group {each!r}{did_you_mean(str(each), GROUPS)}" for each in wanted if not is_one_of(each, GROUPS)]
    if outputs is not None and not isinstance(outputs, Mapping):
        wrong.append(f"outputs = {outputs!r} must be a dict of names and functions of a result")
        outputs = None
    for name, output in (outputs or {}).items():
        if not (isinstance(name, str) and name) or not callable(output):
            wrong.append(
                f"output {name!r} must be a name and a function of a result, such as lambda result: result['crank'].r[:, 0]"
            )
        elif name in (*GROUPS, "outputs"):
            wrong.append(f"output {name!r} has the name of a group: give it another one")
    if wrong:
        raise UsageError(f"{'; '.join(wrong)}. Groups are {', '.join(GROUPS)}.")
    return wanted


def check_same(result: Result, reference: Result) -> None:
    """Raise UsageError if the results are not of the same bodies, joints and rows."""
    if result.names != reference.names:
        raise UsageError(
            f"the reference is a result of another model: {reference.names.model!r} with {len(reference.names.bodies) - 1} bodies and "
            f"{len(reference.names.rows)} rows, not {result.names.model!r} with {len(result.names.bodies) - 1} and "
            f"{len(result.names.rows)}."
        )


def at_times(reference: Result, t: Array) -> Result:
    """Return the reference at the times t (k,): its stored states where it has them, and dense output between them."""
    stored = np.isin(t, reference.t)
    if not stored.all() and (len(reference) < 2 or t.min() < reference.t[0] or t.max() > reference.t[-1]):
        span = f"{reference.t[0]:g} .. {reference.t[-1]:g} s" if len(reference) else "no time"
        raise UsageError(f"the reference covers {span}, and errors are wanted from {t.min():g} to {t.max():g} s.")
    if len(t) == len(reference) and stored.all():
        return reference
    return _states(reference, np.searchsorted(reference.t, t)) if stored.all() else reference.resample(t)


def _states(result: Result, at: Ints) -> Result:
    """Return some states of a result, without those of the method; with those of its contacts, whose forces enter multipliers."""
    if result.model.contacts:
        return result.resample(result.t[at])
    return Result(result.model, result.t[at], result.y[at], counters=result.counters, settings=result.settings)


def _put(found: GroupErrors, group: str, difference: Callable[[], Array]) -> None:
    """Put the errors of a group, or NaN with a note if they cannot be computed."""
    try:
        found.errors[group] = difference() / found.scales[group]
    except UsageError:
        raise
    except HaugmbdError as error:
        found.errors[group] = np.full(len(found.t), np.nan)
        found.notes[group] = str(error) if type(error) is HaugmbdError else error_text(error)


def _not_zero(scale: float) -> float:
    return scale if scale > 0.0 and np.isfinite(scale) else 1.0


def _largest(values: Array) -> Array:
    """Return the largest entry of each state, (nt,); 0 without entries."""
    largest: Array = values.reshape(len(values), -1).max(axis=1, initial=0.0)
    return largest


def _norm(values: Array) -> Array:
    return np.asarray(np.linalg.norm(values, axis=-1))


def _positions(result: Result, exact: Result, at: Ints) -> Array:
    return _largest(_norm(result.r[at] - exact.r))


def _orientations(result: Result, exact: Result, at: Ints) -> Array:
    """Return the largest angle of A*^T A; by its sine and cosine, which are exact for small angles."""
    R = np.swapaxes(rotation_matrix(exact.p), -1, -2) @ rotation_matrix(_unit(result.p[at]))
    sine = 0.5 * np.sqrt(
        (R[..., 2, 1] - R[..., 1, 2]) ** 2 + (R[..., 0, 2] - R[..., 2, 0]) ** 2 + (R[..., 1, 0] - R[..., 0, 1]) ** 2
    )
    return _largest(np.arctan2(sine, 0.5 * (np.trace(R, axis1=-2, axis2=-1) - 1.0)))


def _unit(p: Array) -> Array:
    return np.asarray(p / np.linalg.norm(p, axis=-1, keepdims=True))


def _velocities(result: Result, exact: Result, at: Ints) -> Array:
    L = result.model.length
    return np.maximum(_largest(_norm(result.v[at] - exact.v)), L * _largest(_norm(result.omega_bar[at] - exact.omega_bar)))


def _multipliers(result: Result, exact: Result, at: Ints) -> Array:
    return _largest(np.abs(multipliers_of(result)[at] - exact.lam) * _units(result.model))


def _reactions(result: Result, exact: Result, at: Ints) -> Array:
    """Return the largest difference of a component that is unique, torques over L."""
    own = _wrenches(result.model, result.t[at], result.y[at], multipliers_of(result)[at])
    return _largest(np.abs(own - _wrenches(exact.model, exact.t, exact.y, exact.lam)))


def _energy(result: Result, exact: Result, at: Ints) -> Array:
    own = _mechanical(result.model, result.t[at], result.y[at])
    return np.asarray(np.abs(own - _mechanical(exact.model, exact.t, exact.y)))


def _mechanical(model: Model, t: Array, y: Array) -> Array:
    """Return kinetic and potential energy, (nt,) [J]."""
    kinetic, potential = kinetic_and_potential(model, t, y)
    return kinetic + potential


DIFFERENCES: dict[str, Callable[[Result, Result, Ints], Array]] = {
    "positions": _positions,
    "orientations": _orientations,
    "velocities": _velocities,
    "multipliers": _multipliers,
    "reactions": _reactions,
    "energy": _energy,
}
"""By group: the largest difference of some states of a result from those of a reference at the same times, (k,)."""


def _speed(exact: Result) -> float:
    """Return the largest speed [m/s], with rotations about the characteristic length; 0 where it is rounding."""
    L, span = exact.model.length, float(np.ptp(exact.t))
    return _over(float(max(_norm(exact.v).max(), L * _norm(exact.omega_bar).max())), L / span if span > 0.0 else 0.0)


def _load(exact: Result) -> float:
    """Return the largest multiplier, times the unit of its row [J]."""
    return float((np.abs(exact.lam) * _units(exact.model)).max(initial=0.0))


def _force(exact: Result) -> float:
    """Return the largest component of a reaction that is unique [N], torques over L; 0 where it is rounding of the others."""
    every = np.abs(_all_wrenches(exact.model, exact.t, exact.y, exact.lam))
    return _over(float((every * _unique(exact.model)).max(initial=0.0)), float(every.max(initial=0.0)))


def _exchanged(exact: Result) -> float:
    """Return the energy that is exchanged [J]; 0 where it is rounding."""
    kinetic, potential = kinetic_and_potential(exact.model, exact.t, exact.y)
    return _over(float(max(kinetic.max(), np.ptp(potential))), float(np.abs(potential).max()))


def _over(scale: float, whole: float) -> float:
    """Return the scale, or 0 if it is rounding of a whole."""
    return scale if scale > NOTHING * whole else 0.0


SCALES: dict[str, Callable[[Result], float]] = {
    "positions": lambda exact: exact.model.length,
    "orientations": lambda exact: 1.0,
    "velocities": _speed,
    "multipliers": _load,
    "reactions": _force,
    "energy": _exchanged,
}
"""By group: the scale of a reference."""


def multipliers_of(result: Result) -> Array:
    """Return the multipliers of the method itself, or where it has none those of the accelerations, (nt, nc)."""
    return result.lam_of_method if result.has_lam_of_method else result.lam


def _units(model: Model) -> Array:
    """Return L^n of each row in m^n, (nc,): lam L^n is an energy."""
    return np.array([model.length ** POWERS.get(label.unit, 0) for label in model.labels])


def _wrenches(model: Model, t: Array, y: Array, lam: Array) -> Array:
    """Return `_all_wrenches` with zeros for components that are not unique, or that no joint carries."""
    return np.where(_unique(model), _all_wrenches(model, t, y, lam), 0.0)


def _all_wrenches(model: Model, t: Array, y: Array, lam: Array) -> Array:
    """Return the reactions of all joints for multipliers lam (nt, nc), in their frames on body j, (nt, joints, 6); torques over L."""
    x = np.zeros((len(t), 6 * (model.nb + 1 + len(model.tables["EDGES"]))))
    x[:, 6 * (model.nb + 1) :][:, model.slot_of_row] = lam
    nodes = x.reshape(len(t), x.shape[1] // 6, 6)
    wrenches_of_joints = np.zeros((len(t), len(model.joints), 6))
    wrenches = JointWrenches(model, t, y, lambda: nodes)
    for k, name in enumerate(model.joints):
        wrench = reactions_over_time(wrenches, name, frame="joint")
        wrenches_of_joints[:, k, :3], wrenches_of_joints[:, k, 3:] = wrench.force, wrench.torque / model.length
    return wrenches_of_joints


def _unique(model: Model) -> Any:
    """Return whether each component of each joint's reaction is unique and carried, (joints, 6). HaugmbdError if none is."""
    flags = _unique_flags(model)
    if flags.size and not flags.any():
        raise HaugmbdError(f"no component of a reaction that a joint of {model.name!r} carries is unique")
    return flags


@lru_cache(maxsize=4)
def _unique_flags(model: Model) -> Any:
    """Return `_unique`, all False if there is none."""
    if not model.redundancy.dropped:
        return np.ones((len(model.joints), 6), dtype=bool)
    report = mobility(model)
    found = [(report.reaction(name), entry.part.tooth_contact()) for name, entry in model.joints.items()]
    return np.array([np.array(one.unique) & (np.array(one.carried) | (teeth is not None)) for one, teeth in found], dtype=bool)


def values_of(name: str, output: Callable[[Result], Any], result: Result) -> Array:
    """Return an output at all states, (nt, n). Raise UsageError unless it returns numbers, one or more for each state."""
    try:
        values = np.asarray(output(result), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"output {name!r} must return numbers, one for each state: {error}.") from error
    if values.ndim == 0 or len(values) != len(result):
        raise UsageError(
            f"output {name!r} must return one value for each of the {len(result)} states; its shape is {values.shape}."
        )
    return values.reshape(len(result), -1)


def _output_errors(name: str, output: Callable[[Result], Any], result: Result, exact: Result, at: Ints) -> Array:
    return _largest(np.abs(values_of(name, output, result)[at] - values_of(name, output, exact)))
