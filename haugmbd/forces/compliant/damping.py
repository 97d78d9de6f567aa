r"""Damping of compliant contact: N = K d^n (1 + c d' / v_0), v_0 the speed at touch.

    model                 c(e)                1 - e' near e = 1
    HuntCrossley          3 (1 - e) / 2       1 - e
    LankaraniNikravesh    3 (1 - e^2) / 4     1 - e
    Flores                8 (1 - e) / (5 e)   16 (1 - e) / 15; usable for small e, too

e is the nominal restitution. What is reached, where no other force acts meanwhile, follows from m d'' = -N with w = d' / v_0:

    w dw / (1 + c w) = -(K / (m v_0^2)) d^n dd      over the whole contact:      c (1 + e') = ln[(1 + c) / (1 - c e')]

It depends neither on the mass nor on K, n and v_0. e' > 0 for every c.
Sources: Hunt, Crossley (1975); Lankarani, Nikravesh (1990); Flores, Machado, Silva, Martins (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log1p

from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import real_or_nan, shown
from haugmbd.errors import UsageError

WEAK = 1e-4
"""Damping c below which e' = 1 - 2 c / 3 + 4 c^2 / 9 is exact to rounding; the equation loses digits there like c^-2."""
LEAST_NOMINAL = 1e-3
"""A smaller nominal restitution is none: Flores' c grows like its inverse."""
BISECTIONS = 200
"""More than halvings of any interval of numbers."""


@dataclass(frozen=True)
class DampingModel:
    """Base class of the damping models of a ContactForce.

    Parameters
    ----------
    exponent : float
        Exponent n of the indentation, at least 1: 1.5 is Hertz's contact of round bodies, 1 a linear spring.
    """

    exponent: float = 1.5

    def __post_init__(self) -> None:
        n = real_or_nan(self.exponent)
        if not 1.0 <= n < inf:
            what = f"exponent = {shown(self.exponent)} must be a number of at least 1: 1.5 of round bodies (Hertz)"
            raise UsageError(f"{type(self).__name__}: {what}.")
        object.__setattr__(self, "exponent", n)

    def damping(self, restitution: float) -> float:
        """Return the damping c for a nominal restitution.

        Parameters
        ----------
        restitution : float
            Nominal coefficient of restitution, 0 to 1.

        Returns
        -------
        float
            c of N = K d^n (1 + c d' / v_0); infinite if the model cannot have this restitution.
        """
        raise NotImplementedError

    def reached(self, restitution: float) -> float:
        """Return the restitution that is reached, where no other force acts during the contact.

        Parameters
        ----------
        restitution : float
            Nominal coefficient of restitution, 0 to 1.

        Returns
        -------
        float
            Speed at release over speed at touch.
        """
        return restitution_of(self.damping(restitution))


@public_class
@dataclass(frozen=True)
class HuntCrossley(DampingModel):
    """Damping c = 3 (1 - e) / 2.

    Parameters
    ----------
    exponent : float
        Exponent n of the indentation, at least 1.

    Raises
    ------
    UsageError
        If the exponent is not a number of at least 1.

    Notes
    -----
    Of first order in 1 - e: for a nominal 0.8 it reaches 0.833, and for 0 still 0.488.
    Source: Hunt, Crossley, Coefficient of restitution interpreted as damping in vibroimpact, J. Appl. Mech. 42 (1975).
    """

    def damping(self, restitution: float) -> float:
        return 1.5 * (1.0 - restitution)


@public_class
@dataclass(frozen=True)
class LankaraniNikravesh(DampingModel):
    """Damping c = 3 (1 - e^2) / 4.

    Parameters
    ----------
    exponent : float
        Exponent n of the indentation, at least 1.

    Raises
    ------
    UsageError
        If the exponent is not a number of at least 1.

    Notes
    -----
    Source: Lankarani, Nikravesh, A contact force model with hysteresis damping for impact analysis of multibody systems,
    J. Mech. Design 112 (1990).
    """

    def damping(self, restitution: float) -> float:
        return 0.75 * (1.0 - restitution**2)


@public_class
@dataclass(frozen=True)
class Flores(DampingModel):
    """Damping c = 8 (1 - e) / (5 e), for small restitutions, too; e must be positive.

    Parameters
    ----------
    exponent : float
        Exponent n of the indentation, at least 1.

    Raises
    ------
    UsageError
        If the exponent is not a number of at least 1.

    Notes
    -----
    Source: Flores, Machado, Silva, Martins, On the continuous contact force models for soft materials in multibody dynamics,
    Multibody Syst. Dyn. 25 (2011).
    """

    def damping(self, restitution: float) -> float:
        return 1.6 * (1.0 - restitution) / restitution if restitution > 0.0 else inf


def nominal_for(model: DampingModel, asked: float) -> float | None:
    """Return the nominal restitution with which a model reaches the one asked for, by bisection; None if there is none."""
    low, high = LEAST_NOMINAL, 1.0
    if not model.reached(low) <= asked <= 1.0:
        return None
    for _ in range(BISECTIONS):
        e = 0.5 * (low + high)
        if e in (low, high):
            break
        low, high = (e, high) if model.reached(e) < asked else (low, e)
    return high


def restitution_of(c: float) -> float:
    """Return e' of c (1 + e') = ln(1 + c) - ln(1 - c e'), by bisection: the left side grows slower than the right one."""
    if c < WEAK:
        return 1.0 - 2.0 * c / 3.0 + 4.0 * c * c / 9.0
    if c == inf:
        return 0.0
    low, high = 0.0, min(1.0, 1.0 / c)
    for _ in range(BISECTIONS):
        e = 0.5 * (low + high)
        if e in (low, high):
            break
        if log1p(c) - log1p(-c * e) < c * (1.0 + e):
            low = e
        else:
            high = e
    return low
