r"""The base class of all formulations: a frozen object that solves the augmented KKT system for any right-hand side.

    [ M      Phi_q^T ] [ u   ]   [ b_u ]        (Q, gamma)            accelerations and multipliers
    [ Phi_q  0       ] [ lam ] = [ b_c ]        (0, -Phi)             displacement back to the constraints
                                                (0, nu - Phi_q u)     change of velocity back to them

A new formulation is a subclass in a file of its own and a line in `formulations.FORMULATIONS`.  The contract tests run for every
class in that list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import Fault, ModelError, SlowFormulationWarning, UsageError, warn_user
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import ACCELERATIONS, POSITIONS, VELOCITIES, Pack

NONE: Array = np.zeros(0)


MOST_BODIES = 60
"""Above this number of bodies dense algebra takes milliseconds per solution; the block LDL^T takes microseconds."""


class SolveFor(Enum):
    """The unknown u that a right-hand side belongs to: accelerations, displacements or changes of velocity."""

    ACCELERATIONS = ACCELERATIONS
    POSITIONS = POSITIONS
    VELOCITIES = VELOCITIES


class Multipliers(Enum):
    """The kind of multipliers that a formulation returns where rows depend on others.  With independent rows all kinds agree."""

    KEPT = "of the kept rows"
    LEAST = "of least norm"
    APPROXIMATE = "approximate"


@dataclass(frozen=True, eq=False)
class KKTSystem:
    """One augmented KKT system.  Columns of Phi_q, and the entries of b_u and u, are (v, omega_bar) body by body without the ground.

    Attributes
    ----------
    model : Model
        The compiled model.
    state : State
        The state at which the matrices were evaluated.
    solve_for : SolveFor
        The kind of right-hand side.
    rows : integer array, shape (k,)
        Numbers of the constraint rows that take part.
    rank : int
        Number of independent rows among them.
    M : array, shape (nb, 6, 6)
        Inertia diag(m 1, J_bar) of each body.
    Phi_q : array, shape (k, 6 nb)
        Constraint Jacobian.
    b_u : array, shape (6 nb,)
        Right-hand side of the equations of motion.
    b_c : array, shape (k,)
        Right-hand side of the constraints.
    Phi, Phi_dot : array, shape (k,)
        Violation of the constraints and of their rates.
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
    """The solution of a KKTSystem.

    Attributes
    ----------
    u : array, shape (6 nb,)
        Accelerations, displacements or changes of velocity.
    lam : array, shape (k,)
        Multipliers of the rows that took part.
    lam_p : array, shape (nb,)
        Multipliers of |p| = 1, where they are unknowns; otherwise empty.
    iterations, repartitions : int
        Work of this solution: iterations, and new choices of dependent coordinates.
    """

    u: Array
    lam: Array
    lam_p: Array = NONE
    iterations: int = 0
    repartitions: int = 0


class Solver:
    """The solver of one run.  A subclass may keep data from one solution to the next."""

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        """Return the solution of the system."""
        return self.formulation.solve(kkt)


class Formulation(ABC):
    """A formulation of the equations of motion; the base class of all.

    Attributes
    ----------
    reference : str
        The source, for `mbd.cite`.
    multipliers : Multipliers
        The kind of multipliers where rows depend on others.
    all_rows : bool
        True if the formulation accepts dependent rows; otherwise it receives as many independent rows as there are.
    massless : bool
        True if bodies may have no inertia about an axis that the joints hold.
    instead : str
        What the error recommends where `massless` is False.
    chains_only : bool
        True if the system must be a serial chain.
    block_factor : bool
        True if the block LDL^T of the formulation can be used for other right-hand sides.
    exponent : int
        The work grows like (number of bodies) ** exponent.
    ms : float
        CPU time of one solution for a chain of 60 links [ms]; NaN if unknown.
    most_bodies : float
        Larger models cause a SlowFormulationWarning.

    Notes
    -----
    A subclass implements `solve` and `pack`; one written in Python derives from `PythonFormulation` and implements `solve` only.
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
    def solve(self, kkt: KKTSystem) -> KKTSolution:
        """Solve one augmented KKT system.

        Parameters
        ----------
        kkt : KKTSystem
            Matrices and right-hand sides.

        Returns
        -------
        KKTSolution
            The unknowns and the multipliers.

        Raises
        ------
        SingularKKTError
            If the solution is not unique.
        """

    @abstractmethod
    def pack(self, model: Model) -> Pack:
        """Return the workspace of a run, with the routines that integrators call.

        Parameters
        ----------
        model : Model
            The compiled model.

        Returns
        -------
        Pack
            New workspace.

        Raises
        ------
        UsageError
            If a parameter of the formulation is invalid.
        ModelError
            If the formulation cannot treat the model.
        """

    def begin(self, model: Model) -> Solver:
        """Return the solver of one run of `model`."""
        return Solver(self)

    def wrong(self) -> list[str]:
        """Return sentences that describe invalid parameters; none by default."""
        return []

    def check(self) -> None:
        """Raise UsageError if parameters are invalid.  The error lists all of them."""
        wrong = self.wrong()
        if wrong:
            raise UsageError(f"{self!r}: {'; '.join(wrong)}.")

    def check_model(self, model: Model) -> None:
        """Raise ModelError, with all faults, if the formulation cannot treat the model.  Warn if the model is large for it."""
        bodies, name = np.arange(1, model.nb + 1), type(self).__name__
        massless = (model.tables["INERTIA"] != model.tables["SHIFTED"]).any(axis=1)[1:]
        if not self.massless and massless.any():
            faults = []
            for k in bodies[massless]:
                without = model.mass[k] == 0.0
                what = f"{name} divides by the inertia, and {'the mass is zero' if without else 'J_bar is zero about an axis'}"
                remedy = f"Give it {'a mass' if without else 'a moment of inertia about that axis'}, or use {self.instead}."
                faults.append(Fault(f"body {model.body_names[k]!r}", what, remedy))
            raise ModelError(faults)
        loads = [load for load in model.force_elements if load.reads_reaction]
        if loads and (self.multipliers is Multipliers.APPROXIMATE or self.chains_only):
            how = "works in joint coordinates" if self.chains_only else "has approximate multipliers"
            what = f"its friction depends on what the joint carries, and {name} {how}"
            raise ModelError([Fault(load.where, what, "Take NewtonEuler() or another formulation.") for load in loads])
        if model.nb > self.most_bodies:
            warn_user(self.too_large(model.nb), SlowFormulationWarning)

    def too_large(self, bodies: int) -> str:
        """Return the warning for a model with too many bodies: the expected cost, and the alternative."""
        grows = "in proportion to them" if self.exponent == 1 else f"with their number to the power of {self.exponent}"
        text = f"{type(self).__name__} is meant for at most {self.most_bodies:g} bodies, and the model has {bodies}: its work grows {grows}"
        if np.isfinite(self.ms):
            now = self.ms * (bodies / MOST_BODIES) ** self.exponent
            text += f", from {self.ms:g} ms a solution with {MOST_BODIES} bodies to some {now:.2g} ms here. "
            text += f"A step of RK4 needs four or more, so that 1000 steps take {4.0 * now:.2g} s or more"
        return f"{text}. NewtonEuler() gives the same accelerations in some {1e-4 * bodies:.2g} ms."


def not_positive(**numbers: float) -> list[str]:
    """Return a sentence for each parameter that is not finite and positive."""
    return [f"{name} = {x!r} must be finite and positive" for name, x in numbers.items() if not (is_number(x) and x > 0)]


def negative(**numbers: float) -> list[str]:
    """Return a sentence for each parameter that is not finite, or is negative."""
    return [f"{name} = {x!r} must be finite and not negative" for name, x in numbers.items() if not (is_number(x) and x >= 0)]


def is_number(x: object) -> bool:
    """Return whether x is a finite number."""
    return isinstance(x, Real) and bool(np.isfinite(float(x)))
