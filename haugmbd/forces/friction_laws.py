"""Friction laws: the coefficient of friction over the sliding speed s >= 0.

    Viscous(c)                   no coefficient: the friction is c times the rate, whatever the joint carries
    Coulomb(mu_s, mu)            mu while it slides; at rest the friction needed, up to mu_s
    Coulomb(mu, velocity=v)      mu tanh(s / v): smooth, creeps at rest
    BrownMcPhee(mu_s, mu_d, v_t) mu_d tanh(4 x) + (mu_s - mu_d) x / (x^2 / 4 + 3 / 4)^2,   x = s / v_t: smooth, largest near v_t
    LuGre(mu_s, mu_c, v_s, ...)  sigma0 z + sigma1 z' + sigma2 s,   z' = s - sigma0 |s| z / g(s)
                                 g = mu_c + (mu_s - mu_c) exp(-(s / v_s)^2)

z is a state of the element, the deflection of bristles; s and z are vectors where the joint slides in several directions.
Sources: Canudas de Wit, Olsson, Astrom, Lischinsky, A new model for control of systems with friction, IEEE Trans. Automat. Contr. 40
(1995); Brown, McPhee, A continuous velocity-based friction model for dynamics and control with physically meaningful parameters,
J. Comput. Nonlinear Dyn. 11 (2016).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import cosh, exp, tanh
from typing import Any, ClassVar

from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault

VISCOUS, COULOMB, SMOOTH_COULOMB, BROWN_MCPHEE, LUGRE = 0, 1, 2, 3, 4
LAW, P1, P2, P3, P4, P5, P6 = 0, 1, 2, 3, 4, 5, 6
"""Columns of a law: its number, and its parameters."""
NO_CANCELLATION = 0.5
"""Where 1 - 2 / (exp(2 x) + 1) is tanh x within two roundings."""
STEEP = 350.0
"""Largest argument of tanh and cosh; beyond it tanh is one, and its slope zero."""


class FrictionLaw(ABC):
    """Base class of friction laws: frozen data."""

    needs_reaction: ClassVar[bool] = True
    """Whether the friction is proportional to what the joint carries."""
    has_state: ClassVar[bool] = False
    """Whether the law has a state for each rate of the joint."""

    @abstractmethod
    def faults(self, where: str) -> list[Fault]:
        """Return all faults of the parameters."""

    @abstractmethod
    def numbers(self) -> tuple[float, ...]:
        """Return the number of the law and its parameters, as kernels read them."""

    @property
    def is_exact(self) -> bool:
        """Return whether the friction jumps where the sliding stops, so that the joint can stick."""
        return False


def _checked(where: str, law: FrictionLaw, names: tuple[str, ...], positive: tuple[str, ...] = ()) -> list[Fault]:
    """Return a fault for each parameter that is not a number, is negative, or is zero where it must be positive."""
    faults: list[Fault] = []
    place = f"{where}, {type(law).__name__}"
    for name in names:
        before = len(faults)
        x = read_number(faults, place, name, getattr(law, name))
        if len(faults) == before and (x < 0.0 or (x == 0.0 and name in positive)):
            wanted = "positive" if name in positive else "zero or positive"
            faults.append(Fault(place, f"{name} = {x:g}", f"Give {name} {wanted}."))
    return faults


def _ordered(where: str, law: Any, high: str, low: str, faults: list[Fault]) -> list[Fault]:
    """Return the faults, and one more if friction at rest is smaller than sliding friction."""
    one, other = getattr(law, high), getattr(law, low)
    if not faults and one < other:
        what = f"{high} = {one:g} is smaller than {low} = {other:g}"
        faults.append(
            Fault(f"{where}, {type(law).__name__}", what, "Friction at rest is not smaller than sliding friction: swap them?")
        )
    return faults


@public_class
@dataclass(frozen=True)
class Viscous(FrictionLaw):
    """Viscous friction: c times the rate, whatever the joint carries.

    Parameters
    ----------
    c : float
        Damping: force by sliding speed [N s/m], or torque by angular rate [N m s/rad].

    Notes
    -----
    Source: Haug (2021), generalized forces: friction.
    """

    c: float
    needs_reaction: ClassVar[bool] = False

    def faults(self, where: str) -> list[Fault]:
        """Return all faults of the parameters."""
        return _checked(where, self, ("c",))

    def numbers(self) -> tuple[float, ...]:
        """Return the number of the law and its parameters, as kernels read them."""
        return float(VISCOUS), float(self.c), 0.0, 0.0


@public_class
@dataclass(frozen=True)
class Coulomb(FrictionLaw):
    """Coulomb friction: exact, with stick, or smooth with a stated speed.

    Parameters
    ----------
    mu_s : float
        Coefficient of friction at rest.
    mu : float, optional
        Coefficient of sliding friction; by default `mu_s`.
    velocity : float, optional
        If given, the law is smooth: mu tanh(s / velocity) at the sliding speed s [m/s]. A joint under load then creeps at rest.

    Notes
    -----
    The smooth law has no larger friction at rest: use `BrownMcPhee` for one.
    Source: Haug (2021), generalized forces: friction.
    """

    mu_s: float
    mu: float | None = None
    velocity: float | None = None

    @property
    def sliding(self) -> float:
        """Return the coefficient of sliding friction."""
        return self.mu_s if self.mu is None else self.mu

    @property
    def is_exact(self) -> bool:
        return self.velocity is None

    def faults(self, where: str) -> list[Fault]:
        """Return all faults of the parameters."""
        names = ("mu_s", *(("mu",) if self.mu is not None else ()), *(("velocity",) if self.velocity is not None else ()))
        found = _checked(where, self, names, positive=("velocity",))
        if self.mu is None:
            return found
        found = _ordered(where, self, "mu_s", "mu", found)
        if not found and self.velocity is not None and self.mu_s != self.mu:
            what = f"a smooth law has one coefficient, and mu_s = {self.mu_s:g} is not mu = {self.mu:g}"
            found.append(Fault(f"{where}, Coulomb", what, "Leave out mu, or give BrownMcPhee(mu_s, mu_d, v_t)."))
        return found

    def numbers(self) -> tuple[float, ...]:
        """Return the number of the law and its parameters, as kernels read them."""
        if self.velocity is None:
            return float(COULOMB), float(self.mu_s), float(self.sliding), 0.0
        return float(SMOOTH_COULOMB), float(self.sliding), float(self.velocity), 0.0


@public_class
@dataclass(frozen=True)
class BrownMcPhee(FrictionLaw):
    """The smooth friction law of Brown and McPhee, with larger friction at small speeds.

    Parameters
    ----------
    mu_s : float
        Largest coefficient, reached about the speed v_t.
    mu_d : float
        Coefficient at large speeds.
    v_t : float
        Transition speed [m/s].

    Notes
    -----
    mu_d tanh(4 x) + (mu_s - mu_d) x / (x^2 / 4 + 3 / 4)^2 with x = s / v_t. A joint under load creeps at rest.
    Source: Brown and McPhee 2016, J. Comput. Nonlinear Dyn. 11.
    """

    mu_s: float
    mu_d: float
    v_t: float

    def faults(self, where: str) -> list[Fault]:
        """Return all faults of the parameters."""
        return _ordered(where, self, "mu_s", "mu_d", _checked(where, self, ("mu_s", "mu_d", "v_t"), positive=("v_t",)))

    def numbers(self) -> tuple[float, ...]:
        """Return the number of the law and its parameters, as kernels read them."""
        return float(BROWN_MCPHEE), float(self.mu_s), float(self.mu_d), float(self.v_t)


@public_class
@dataclass(frozen=True)
class LuGre(FrictionLaw):
    """The friction law of Canudas de Wit and others: bristles that bend, with a state of their own.

    Parameters
    ----------
    mu_s, mu_c : float
        Coefficient at rest, and of fast sliding.
    v_s : float
        Stribeck speed [m/s].
    sigma0 : float
        Stiffness of the bristles, per newton of normal force [1/m].
    sigma1 : float
        Their damping, per newton of normal force [s/m].
    sigma2 : float
        Viscous friction, per newton of normal force [s/m].

    Notes
    -----
    The coefficient is sigma0 z + sigma1 z' + sigma2 s at the sliding speed s, with z' = s - sigma0 |s| z / g(s) and
    g(s) = mu_c + (mu_s - mu_c) exp(-(s / v_s)^2). z [m] is 0 at first, and is integrated with the motion.
    It turns with body i of the joint.
    Source: Canudas de Wit, Olsson, Astrom and Lischinsky 1995, IEEE Trans. Automat. Contr. 40.
    """

    mu_s: float
    mu_c: float
    v_s: float
    sigma0: float
    sigma1: float = 0.0
    sigma2: float = 0.0
    has_state: ClassVar[bool] = True

    def faults(self, where: str) -> list[Fault]:
        """Return all faults of the parameters."""
        names = ("mu_s", "mu_c", "v_s", "sigma0", "sigma1", "sigma2")
        return _ordered(where, self, "mu_s", "mu_c", _checked(where, self, names, positive=("mu_c", "v_s", "sigma0")))

    def numbers(self) -> tuple[float, ...]:
        """Return the number of the law and its parameters, as kernels read them."""
        own = (self.mu_s, self.mu_c, self.v_s, self.sigma0, self.sigma1, self.sigma2)
        return (float(LUGRE), *map(float, own))


@kernel
def bristle_rate(law: Array, k: int, at: int, s: float) -> float:
    """Return sigma0 s / g(s) of the LuGre law at the speed s >= 0 [1/s]."""
    x = s / law[k, at + P3]
    return law[k, at + P4] * s / (law[k, at + P2] + (law[k, at + P1] - law[k, at + P2]) * exp(-x * x))  # type: ignore[no-any-return]


@kernel
def tanh_of(x: float) -> float:
    """Return tanh x of x >= 0 within rounding, in half the time of the library's."""
    return 1.0 - 2.0 / (exp(2.0 * min(STEEP, x)) + 1.0) if x > NO_CANCELLATION else tanh(x)


@kernel
def coefficient(law: Array, k: int, at: int, s: float) -> float:
    """Return the coefficient of sliding friction at the speed s >= 0 [m/s], of the law in row k from column `at`."""
    kind = int(law[k, at + LAW])
    if kind == COULOMB:
        return law[k, at + P2]  # type: ignore[no-any-return]
    if kind == SMOOTH_COULOMB:
        return law[k, at + P1] * tanh_of(s / law[k, at + P2])  # type: ignore[no-any-return]
    if kind == BROWN_MCPHEE:
        x, more = s / law[k, at + P3], law[k, at + P1] - law[k, at + P2]
        y = 0.25 * x * x + 0.75
        return law[k, at + P2] * tanh_of(4.0 * x) + more * x / (y * y)  # type: ignore[no-any-return]
    return 0.0


@kernel
def coefficient_slope(law: Array, k: int, at: int, s: float) -> float:
    """Return the derivative of `coefficient` by the speed [s/m]."""
    kind = int(law[k, at + LAW])
    if kind == SMOOTH_COULOMB:
        return law[k, at + P1] / law[k, at + P2] / cosh(min(STEEP, s / law[k, at + P2])) ** 2  # type: ignore[no-any-return]
    if kind == BROWN_MCPHEE:
        x, more = s / law[k, at + P3], law[k, at + P1] - law[k, at + P2]
        y = 0.25 * x * x + 0.75
        steep = 4.0 * law[k, at + P2] / cosh(min(STEEP, 4.0 * x)) ** 2
        return (steep + more * (1.0 / (y * y) - x * x / (y * y * y))) / law[k, at + P3]  # type: ignore[no-any-return]
    return 0.0


BENT = 1.05
"""Times the largest value of the law: what a step that follows the bristles may exceed it by.

sigma0 |z| <= mu_s is never left by z' = s - sigma0 |s| z / g(s), g <= mu_s, from z = 0 on, but by steps that are too long.
"""


def relaxation_text(law: LuGre) -> str:
    """Return within which slip bristles relax, and what to do, as the end of a sentence about them."""
    return f"relax within a slip of mu_c / sigma0 = {law.mu_c / law.sigma0:.3g} m. Take shorter steps, rtol=, or BDF."
