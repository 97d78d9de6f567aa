r"""What every formulation is: a frozen object that answers the saddle question for any right-hand side.

    [ M      Phi_q^T ] [ u   ]   [ b_u ]        (Q, gamma)            accelerations and multipliers
    [ Phi_q  0       ] [ lam ] = [ b_c ]        (0, -Phi)             the displacement back to the constraints
                                                (0, nu - Phi_q u)     the change of velocity back to them

A new one is a subclass in a file of its own, and a line in `formulations.FORMULATIONS`: the contract tests find it there.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import Fault, ModelError, SlowFormulationWarning, UsageError
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import ACCELERATIONS, POSITIONS, VELOCITIES, Pack

NONE: Array = np.zeros(0)


MOST_BODIES = 60
"""Where dense algebra costs 3 to 50 ms a question, 150 to 2000 times the block LDL^T (20 us)."""


class SolveFor(Enum):
    """What the right-hand side asks for."""

    ACCELERATIONS = ACCELERATIONS
    POSITIONS = POSITIONS
    VELOCITIES = VELOCITIES


class Multipliers(Enum):
    """Which multipliers a formulation gives where rows depend on others; where none do, all are the same."""

    KEPT = "of the kept rows"
    LEAST = "of least norm"
    APPROXIMATE = "approximate"


@dataclass(frozen=True, eq=False)
class KKTSystem:
    """One question.  Columns of Phi_q, b_u and the answer: (v, omega_bar) by bodies, the ground left out.

    state: where it is asked;  asks: for what;  rows: (k,) numbers of the rows that take part;  rank: how many of them are independent
    M: (nb, 6, 6) diag(m, J_bar) of each body;  Phi_q: (k, 6 nb);  b_u: (6 nb,);  b_c: (k,);  Phi, Phi_dot: (k,) gaps of both levels
    """

    model: Model
    state: State
    solve_for: SolveFor
    rows: Ints
    rank: int
    M: Array
    Phi_q: Array
    b_u: Array
    b_c: Array
    Phi: Array
    Phi_dot: Array


class KKTSolution(NamedTuple):
    """u: (6 nb,);  lam: (k,) of the rows that took part.

    lam_p: (nb,) multipliers of |p| = 1, where they are unknowns;  iterations, choices: that it took
    """

    u: Array
    lam: Array
    lam_p: Array = NONE
    iterations: int = 0
    repartitions: int = 0


class Solver:
    """Who answers the questions of one run: by default with what the formulation alone knows; others remember from one to the next."""

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation

    def answer(self, question: KKTSystem) -> KKTSolution:
        """The solution."""
        return self.formulation.solve(question)


class Formulation(ABC):
    """A formulation.

    reference: its source;  multipliers: which it gives;  all_rows: whether it takes rows that depend on others, or as many independent ones
    massless: whether it takes bodies without inertia about an axis that the joints hold;  instead: who does, where it does not
    chains_only: whether the system must be a serial chain;  block_factor: whether it lends its block LDL^T to other questions
    exponent: the work grows like (number of bodies) ** exponent;  ms: CPU time [ms] of a question about a chain of 60 links; NaN: not said
    most_bodies: beyond these it warns
    """

    reference: ClassVar[str]
    multipliers: ClassVar[Multipliers] = Multipliers.KEPT
    all_rows: ClassVar[bool] = False
    massless: ClassVar[bool] = True
    instead: ClassVar[str] = "NewtonEuler(), EulerParameters() or NullSpace()"
    chains_only: ClassVar[bool] = False
    block_factor: ClassVar[bool] = False
    exponent: ClassVar[int] = 3
    ms: ClassVar[float] = np.nan
    most_bodies: ClassVar[float] = MOST_BODIES

    @abstractmethod
    def solve(self, question: KKTSystem) -> KKTSolution:
        """Answer one question.  Raises SingularKKTError where it has no unique answer."""

    @abstractmethod
    def pack(self, model: Model) -> Pack:
        """Room to compute in, with the routines by which integrators ask this formulation.

        Raises UsageError for wrong parameters, ModelError for a model that it cannot treat.
        """

    def begin(self, model: Model) -> Solver:
        """Who answers the questions of one run of `model`."""
        return Solver(self)

    def wrong(self) -> list[str]:
        """What is wrong with the parameters; nothing by default."""
        return []

    def check(self) -> None:
        """Refuse parameters that are none.  Raises UsageError with all that is wrong."""
        wrong = self.wrong()
        if wrong:
            raise UsageError(f"{self!r}: {'; '.join(wrong)}.")

    def check_model(self, model: Model) -> None:
        """Refuse a model that the formulation cannot treat, with all faults at once; warn of one that is too large for it."""
        bodies, name = np.arange(1, model.nb + 1), type(self).__name__
        massless = (model.tables["INERTIA"] != model.tables["SHIFTED"]).any(axis=1)[1:]
        if not self.massless and massless.any():
            what = f"{name} divides by the inertia, and J_bar is zero about an axis"
            remedy = f"Give it a moment of inertia about that axis, or use {self.instead}."
            raise ModelError([Fault(f"body {model.body_names[k]!r}", what, remedy) for k in bodies[massless]])
        if model.nb > self.most_bodies:
            warnings.warn(self.too_large(model.nb), SlowFormulationWarning, stacklevel=4)

    def too_large(self, bodies: int) -> str:
        """What a model of so many bodies will cost, and what to take instead."""
        grows = "in proportion to them" if self.exponent == 1 else f"with their number to the power of {self.exponent}"
        text = (
            f"{type(self).__name__} on {bodies} bodies, and it is meant for {self.most_bodies:g} or fewer: its work grows {grows}"
        )
        if np.isfinite(self.ms):
            now = self.ms * (bodies / MOST_BODIES) ** self.exponent
            text += f", from {self.ms:g} ms a question with {MOST_BODIES} bodies to some {now:.2g} ms here. "
            text += f"A step of RK4 asks four or more, so that 1000 steps take {4.0 * now:.2g} s or more"
        return f"{text}. NewtonEuler() gives the same accelerations in some {4e-4 * bodies:.2g} ms."


def not_positive(**numbers: float) -> list[str]:
    """What is wrong with parameters that should be finite and positive."""
    return [f"{name} = {x!r} must be finite and positive" for name, x in numbers.items() if not (is_number(x) and x > 0)]


def negative(**numbers: float) -> list[str]:
    """What is wrong with parameters that should be finite and not negative."""
    return [f"{name} = {x!r} must be finite and not negative" for name, x in numbers.items() if not (is_number(x) and x >= 0)]


def is_number(x: object) -> bool:
    """Whether x is a finite number."""
    return isinstance(x, Real) and bool(np.isfinite(float(x)))
