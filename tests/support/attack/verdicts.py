"""What a run deserves to be called, beside a converged reference.

agrees      it lies at the reference
converges   it lies there when the step or the tolerance is made smaller
coarse      it converges, too, but is far off with the step that was asked for, and nothing could tell: a fixed step
told        `result.warnings` says that it is in doubt, or an error says what the mechanism's own fault is
refused     it ends in an error of this package that names a part or a time
finding     anything else
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import haugmbd as mbd
from tests.support.attack.mechanism import ALLOWED, Broken, Mechanism
from tests.support.attack.methods import Method

GROSS = 0.3
"""[m, rad] A larger error than this is coarse."""
CLOSE = 1e-6
"""A fixed step that is as near as this to the reference is not looked at twice."""
PENALTY = 1e-2
"""Penalty is an approximation whose error, 1 / (alpha sigma^2), grows beside singular poses; it says so of itself."""
HALVED, TIGHTENED = 9, 4
"""Refinements of steps and of tolerances, less one.  A stiff spring without a damper vibrates until steps resolve it."""
EXCUSES = ("turn", "violation", "energy", "near")
"""Kinds of notes that put a run in doubt; that a singular configuration was crossed does not."""


@dataclass
class Verdict:
    """One of the six words above, and why."""

    kind: str
    why: str = ""


def judge(m: Mechanism, method: Method) -> Verdict:
    """Run one case, and finer ones where it is off."""
    if m.must and m.reached is None:
        return has_to_refuse(m, method)
    times = np.linspace(0.0, m.t_end, 6)
    try:
        m.at(times)
    except ALLOWED as error:
        return reference_refused(m, method, error)
    error, result, raised = attempt(m, method, times)
    reached = m.reached is not None and m.reached()
    if raised is not None:
        return refused(m, raised, m.must if reached else ())
    if reached:
        return Verdict("finding", "the function has failed, and the run has gone on")
    small = CLOSE if method.h else min(1e-2, 1e3 * method.rtol)  # type: ignore[operator]
    if error <= small or excused(result):
        return Verdict("agrees" if error <= small else "told", f"{error:.1e}")
    return converging(m, method, times, error, small)


def has_to_refuse(m: Mechanism, method: Method) -> Verdict:
    """Judge a case whose mechanism has a fault that every method has to name."""
    m.reset()
    try:
        mbd.simulate(m.model, m.t_end, state=m.state, **method.options)
    except Exception as error:  # noqa: BLE001
        return refused(m, error, m.must)
    return Verdict("finding", f"no error that says {m.must}")


def reference_refused(m: Mechanism, method: Method, failure: Exception) -> Verdict:
    """Judge a case whose reference ends in an error."""
    m.reset()
    try:
        result = mbd.simulate(m.model, m.t_end, state=m.state, **method.options)
    except Exception as error:  # noqa: BLE001
        return refused(m, error, ())
    if excused(result):
        return Verdict("told", "; ".join(result.warnings))
    return Verdict("finding", f"the reference says {failure}, and this says nothing")


def attempt(m: Mechanism, method: Method, times: np.ndarray) -> tuple[float, Any, Exception | None]:
    """(error, result, what was raised)."""
    m.reset()
    options = method.options | ({"t_eval": times} if method.dense else {})
    try:
        result = mbd.simulate(m.model, float(times[-1]), state=m.state, **options)
    except Exception as error:  # noqa: BLE001
        return np.nan, getattr(error, "result", None), error
    failed = m.reached() if m.reached else None
    if failed:
        return np.nan, result, None
    wanted = m.at(times) if method.dense else m.at(times)[-1:]
    return error_of(result.y if method.dense else result.y[-1:], wanted), result, None


def converging(m: Mechanism, method: Method, times: np.ndarray, first: float, small: float) -> Verdict:
    """Judge by smaller steps or tolerances whether the method leads to the reference."""
    errors = [first]
    for k in range(1, HALVED if method.h else TIGHTENED):
        m.may_fail(False)  # that the function is called more often is not its fault
        error, _, raised = attempt(m, method.finer(k), times)
        m.may_fail(True)
        if raised is not None:
            return Verdict("finding", f"{in_a_row(errors)}, and the next finer run ends in {type(raised).__name__}: {raised}")
        errors.append(error)
        if error <= small or (method.h and steadily_smaller(errors)):
            return Verdict("converges" if first < GROSS else "coarse", in_a_row(errors))
        if isinstance(method.formulation, mbd.Penalty) and error < PENALTY:
            return Verdict("agrees", "as near as penalties come")
    return Verdict("finding", f"does not come to the reference: {in_a_row(errors)}")


def steadily_smaller(errors: list[float]) -> bool:
    """Return whether the last two steps of refinement have each taken at least a third off the error."""
    return len(errors) > 2 and errors[-1] < 0.65 * errors[-2] and errors[-2] < 0.65 * errors[-3]


def in_a_row(errors: list[float]) -> str:
    """Write errors in a row."""
    return " ".join(f"{e:.1e}" for e in errors)


def error_of(found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest error of positions [m, rad] and of velocities, in parts of 1 + the largest velocity; (n, bodies, 6) has no rotations."""
    n = len(wanted)
    if wanted.ndim == 3:
        y = found[:, : 13 * (1 + wanted.shape[1])].reshape(n, -1, 13)[:, 1:]
        size = 1.0 + np.abs(wanted[..., 3:]).max()
        return float(max(np.abs(y[..., :3] - wanted[..., :3]).max(), np.abs(y[..., 7:10] - wanted[..., 3:]).max() / size))
    width = wanted.shape[1] // 13 * 13
    a, b = (x[:, :width].reshape(n, -1, 13) for x in (found, wanted))
    turn = 2 * np.minimum(np.abs(a[..., 3:7] - b[..., 3:7]).max(axis=-1), np.abs(a[..., 3:7] + b[..., 3:7]).max(axis=-1))
    size = 1.0 + np.abs(b[..., 7:]).max()
    return float(max(np.abs(a[..., :3] - b[..., :3]).max(), turn.max(), np.abs(a[..., 7:] - b[..., 7:]).max() / size))


def excused(result: Any) -> bool:
    """Whether the run says itself that it is in doubt."""
    return any(note.kind in EXCUSES and (note.doubtful or note.kind != "turn") for note in result.outcome.notes)


def refused(m: Mechanism, error: Exception, must: tuple[str, ...]) -> Verdict:
    """Whether an error is one of this package, or the user's own, and says where."""
    text = "\n".join([str(error), *getattr(error, "__notes__", [])])
    cause = isinstance(error, Broken) or isinstance(error.__cause__, Broken)
    if not isinstance(error, ALLOWED) and not cause:
        return Verdict("finding", f"raw {type(error).__name__}: {text}")
    missing = [word for word in must if word not in text]
    if isinstance(error, mbd.UsageError | mbd.ModelError) and not cause:
        missing = []  # what does not go together is said before the run
    if missing:
        return Verdict("finding", f"an error without {missing}: {text}")
    if not names_something(m.model, text) and not isinstance(error, mbd.UsageError):
        return Verdict("finding", f"an error without names: {text}")
    return Verdict("refused" if not must else "told", f"{type(error).__name__}: {text}")


def names_something(model: mbd.Model, text: str) -> bool:
    """Whether a message says where or when, or what to do about the arguments."""
    names = [*model.body_names[1:], *(label.joint for label in model.labels), *(entry.load.name for entry in model.loads)]
    return any(name in text for name in names) or "t = " in text
