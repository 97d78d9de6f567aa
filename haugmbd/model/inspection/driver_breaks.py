"""Jumps and kinks of a joint's driver between two times: no motion follows f there, and a jump of f' would be an impulse.

    r_0 = f_1 - f_0 - h (f'_0 + f'_1) / 2 + h^2 (f''_1 - f''_0) / 12      O(h^5) where f is smooth,  J where it jumps by J
    r_1 = f'_1 - f'_0 - h (f''_0 + f''_1) / 2                              O(h^3) where f is smooth,  K where f' jumps by K

An interval is smooth if r_0 is small relative to h^2 f'', and r_1 relative to h f''. Any other interval is halved: smooth halves pass
soon; a jump or a kink remains in one of the halves, down to rounding. Only a break that was bisected to rounding is reported, so that
a fast driver in long steps is not reported. A jump that is smaller than the error of the step is not searched.
A jump of f'' is a force that sets in; it is allowed. A length that reaches zero is a break as well (`driven_lengths`). Drivers are
evaluated between the given times only.

Driven lengths that reach zero: the rows of D have no gradient there, and beyond it they would hold the length |f| in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.callbacks import DriverCall, driver_values
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.equations.d import D
from haugmbd.constraints.equations.rope import RopeRow
from haugmbd.drivers import Constant, Driver, PythonDriver
from haugmbd.errors import Fault, warn_user
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model

Flags = npt.NDArray[np.bool_]

SMALL_0, SMALL_1 = 1e-5, 1e-3
"""Parts of h^2 |f''| and h |f''|: if r_0 and r_1 are below them, the function is smooth, or its jump is below the error of the step."""
ROUNDING = 128.0 * float(np.finfo(np.float64).eps)
"""Rounding of differences, relative to f, f', t f' and t f''."""
NARROW = 32.0 * float(np.finfo(np.float64).eps)
"""Length, relative to |t| + h, of an interval that is not halved any more."""
SHARP = 1e3
"""Least ratio of a jump to the change in the narrow intervals beside it."""
EVALUATIONS = 4, 400
"""Largest number of evaluations of a search: for each interval, and in addition. The search then ends without a report."""


class Break(NamedTuple):
    """A jump of f or f' from `before` to `after` at t [s];  order: 0 for f, 1 for f'."""

    t: float
    order: int
    before: float
    after: float


class Strict(NamedTuple):
    """A driver that only Python can evaluate, whose errors are raised."""

    call: DriverCall

    def values(self, t: Array) -> Array:
        """Return f, f', f'' at times t (n,), (n, 3)."""
        return np.array([driver_values(self.call, float(s)) for s in t]).reshape(-1, 3)


class JointBreak(NamedTuple):
    """A break of the driver of a joint."""

    joint: str
    found: Break

    @property
    def t(self) -> float:
        """Return the time [s]."""
        return self.found.t

    @property
    def fault(self) -> Fault:
        """Return the break as a fault, with its remedy."""
        name, jump = ("f'", "an impulse") if self.found.order else ("f", "a leap")
        what = f"{name} of its driver jumps from {self.found.before:.6g} to {self.found.after:.6g} there, and no motion does"
        remedy = "Give a driver with two continuous derivatives, such as QuinticSpline(t, f)"
        more = f"; or end the run there, and begin another with what {jump} leaves" if self.found.order else ""
        return Fault(f"joint {self.joint!r}", what, f"{remedy}{more}.")


def first_break(model: Model, t: Array, *, strict: bool = False) -> JointBreak | ZeroLength | None:
    """Return the first break of a driver of a joint between the increasing times t (nt,) [s]; None if there is none.

    strict: raise the first error of a user's function; otherwise times at which it fails are ignored
    """
    found: JointBreak | ZeroLength | None = None
    calls = {call.slot: call for call in model.force_callbacks.driver_calls} if strict else {}
    lengths = driven_lengths(model)
    for k, joint in driven_joints(model).items():
        driver = Strict(calls[k]) if k in calls else model.drivers[k]
        own = break_between(driver, t if found is None else t[: int(np.searchsorted(t, found.t)) + 1])
        if own is not None and (found is None or own.t < found.t):
            found = JointBreak(joint, own)
        if k in lengths and len(t) > 1:
            zero = zero_between(driver.values, t)
            if zero is not None and (found is None or zero < found.t):
                found = ZeroLength(joint, zero)
    return found


@once_per_model
def driven_joints(model: Model) -> dict[int, str]:
    """Return the joint of each driver of a row that is not a constant, by the number of the driver."""
    joints = dict[int, str]()
    if not has_functions_of_time(model):
        return joints
    for row, k in enumerate(model.drivers_of_rows().tolist()):
        if not isinstance(model.drivers[k], Constant):
            joints.setdefault(k, model.labels[row].joint)
    return joints


@once_per_model
def has_functions_of_time(model: Model) -> bool:
    """Return whether a driver is no constant."""
    return not all(isinstance(driver, Constant) for driver in model.drivers)


def interval_faults(model: Model, t_start: float, t_end: float) -> tuple[Fault, ...]:
    """Return the faults of the drivers for a run from t_start to t_end [s]: tables that end before, wrong derivatives."""
    if not has_functions_of_time(model):
        return ()
    joints = driven_joints(model)
    where = {slot: entry.load.where for entry in model.loads for slot in entry.drivers}
    where |= {k: f"joint {joint!r}" for k, joint in joints.items()}
    faults, outdated = [], dict[str, tuple[str, ...]]()
    for k, driver in enumerate(model.drivers):
        changed = driver.changed() if isinstance(driver, PythonDriver) else ()
        if changed:
            outdated[where.get(k, "a driver")] = changed
        for fault in driver.faults_between(t_start, t_end):
            faults.append(Fault(where.get(k, fault.where), f"its driver {fault.what}", fault.remedy))
    for part, changed in outdated.items():
        warn_user(
            f"{part}: {', '.join(changed)} changed after its function of time was recorded, and the run has the values of that moment. "
            "Make the part again after a change."
        )
    return tuple(faults)


def break_between(driver: Driver | Strict, t: Array) -> Break | None:
    """Return the first break of a driver between the increasing times t (nt,) [s]; None if there is none."""
    if len(t) < 2:
        return None
    F = np.asarray(driver.values(t), dtype=np.float64)
    spans = Spans(t[:-1], t[1:], F[:-1], F[1:])
    left, h = EVALUATIONS[0] * len(t) + EVALUATIONS[1], float(np.diff(t).min())
    while True:
        spans = spans.take(spans.suspicious())
        narrow = spans.narrow(h)
        while len(narrow) and narrow[0]:  # all before it are smooth
            found = _confirmed(driver, spans, float(t[0]), float(t[-1]))
            if found is not None:
                return found
            spans, narrow = spans.take(slice(1, None)), narrow[1:]
        left -= int(len(spans.a))
        if not len(spans.a) or left < 0:
            return None
        spans = spans.halved(driver)


class Spans(NamedTuple):
    """Time intervals in order: from a to b (n,) [s], with f, f', f'' (n, 3) at their ends."""

    a: Array
    b: Array
    F_a: Array
    F_b: Array

    def take(self, which: Any) -> Spans:
        """Return some of the intervals."""
        return Spans(*(x[which] for x in self))

    def suspicious(self) -> Flags:
        """Return which intervals are not smooth, (n,) of bool; False if the driver has no finite value."""
        h = self.b - self.a
        (f_a, g_a, s_a), (f_b, g_b, s_b) = self.F_a.T, self.F_b.T
        with np.errstate(all="ignore"):
            r_0 = np.abs(f_b - f_a - 0.5 * h * (g_a + g_b) + h * h * (s_b - s_a) / 12.0)
            r_1 = np.abs(g_b - g_a - 0.5 * h * (s_a + s_b))
            second, time = np.abs(s_a) + np.abs(s_b), np.maximum(np.abs(self.a), np.abs(self.b))
            first = np.abs(g_a) + np.abs(g_b)
            floor_0 = ROUNDING * (np.abs(f_a) + np.abs(f_b) + time * first)
            floor_1 = ROUNDING * (first + time * second)
            found = (r_0 > SMALL_0 * h * h * second + floor_0) | (r_1 > SMALL_1 * h * second + floor_1)
        return np.asarray(found & np.isfinite(self.F_a).all(axis=1) & np.isfinite(self.F_b).all(axis=1))

    def narrow(self, h: float) -> Flags:
        """Return which intervals are not halved any more, (n,) of bool;  h: the shortest interval at the start [s]."""
        return np.asarray(self.b - self.a <= NARROW * (np.maximum(np.abs(self.a), np.abs(self.b)) + h))

    def halved(self, driver: Driver | Strict) -> Spans:
        """Return the halves of the intervals that are wide enough, and the others."""
        middle = 0.5 * (self.a + self.b)
        F = np.asarray(driver.values(middle), dtype=np.float64)
        a, b = np.stack([self.a, middle], axis=1).ravel(), np.stack([middle, self.b], axis=1).ravel()
        F_a, F_b = np.stack([self.F_a, F], axis=1).reshape(-1, 3), np.stack([F, self.F_b], axis=1).reshape(-1, 3)
        return Spans(a, b, F_a, F_b)


def _confirmed(driver: Driver | Strict, spans: Spans, t_first: float, t_last: float) -> Break | None:
    """Return the break in the first of the spans, which is narrow, if f or f' changes much more across it than beside it; else None."""
    a, b = float(spans.a[0]), float(spans.b[0])
    w = b - a
    left = [t for t in (a, a - w, a - 2.0 * w) if t >= t_first]
    right = [t for t in (b, b + w, b + 2.0 * w) if t <= t_last]
    L, R = (np.asarray(driver.values(np.array(side[-2:])), dtype=np.float64) for side in (left, right))
    if not (np.isfinite(L).all() and np.isfinite(R).all()):
        return None
    before, after = L[0], R[0]  # the nearest intervals that are not the break itself, if there are others
    for order in (0, 1):
        usual = max(abs(float(side[-1, order] - side[0, order])) for side in (L, R))
        size = max(abs(float(before[order])), abs(float(after[order])))
        rate = max(abs(float(before[order + 1])), abs(float(after[order + 1])))
        rounding = float(np.spacing(size)) + rate * 4.0 * w
        if abs(float(after[order] - before[order])) > SHARP * max(usual, rounding):
            return Break(b, order, float(before[order]), float(after[order]))
    return None


HALVINGS = 60
"""Of an interval in which a length reaches zero: down to rounding."""
VANISHED = 1e-3
"""Of a length at the start: where a run stops with less of it, this is named as the cause."""
REMEDY = "Keep the driver f(t) above zero, or end the run before; points that meet are held by a spherical joint (SJ)."


class ZeroLength(NamedTuple):
    """A driven length f that reaches zero at t [s]."""

    joint: str
    t: float

    @property
    def fault(self) -> Fault:
        """Return it as a fault, with its remedy."""
        what = "its length f(t) reaches zero there, where a distance has no direction and cannot be held"
        return Fault(f"joint {self.joint!r}", what, REMEDY)


@once_per_model
def driven_lengths(model: Model) -> dict[int, str]:
    """Return the joint of each driver of a distance or a rope that is not a constant, by the number of the driver."""
    if all(isinstance(driver, Constant) for driver in model.drivers):
        return {}
    found = dict[int, str]()
    for row, k in enumerate(model.drivers_of_rows().tolist()):
        if not isinstance(model.drivers[k], Constant) and isinstance(model.labels[row].primitive, D | RopeRow):
            found.setdefault(k, model.labels[row].joint)
    return found


def zero_between(values: Callable[[Array], Array], t: Array) -> float | None:
    """Return the first time between the increasing times t (nt,) at which a length is not positive, to rounding; None if there is none.

    values: returns f, f', f'' at times (n,), (n, 3);  a length may be zero and grow again within an interval
    """
    F = np.asarray(values(t), dtype=np.float64)
    for k in range(len(t) - 1):
        a, b = float(t[k]), float(t[k + 1])
        if F[k, 1] < 0.0 < F[k + 1, 1]:  # the shortest length is between them
            b = _bisected(lambda s: float(values(np.array([s]))[0, 1]) > 0.0, a, b)
        if F[k, 0] <= 0.0:
            return a
        if float(values(np.array([b]))[0, 0]) <= 0.0 or F[k + 1, 0] <= 0.0:
            return _bisected(lambda s: float(values(np.array([s]))[0, 0]) <= 0.0, a, b)
    return None


def _bisected(holds: Callable[[float], bool], a: float, b: float) -> float:
    """Return the time from which on a statement holds that is false at a and true at b."""
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        a, b = (a, middle) if holds(middle) else (middle, b)
    return b


def vanished_lengths(model: Model, t: float) -> str:
    """Return which driven lengths are near zero at time `t`, by joint; "" if none is."""
    texts = []
    for k, joint in driven_lengths(model).items():
        now, first = (float(model.drivers[k].values(when)[0]) for when in (t, model.state().t))
        if abs(now) <= VANISHED * abs(first):
            texts.append(f"joint {joint!r}: its length f(t) is {now:.3g} m there, of {first:.3g} m at first, and reaches zero")
    return "; ".join(texts) + f". {REMEDY}" if texts else ""
