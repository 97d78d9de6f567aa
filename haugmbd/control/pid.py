r"""PID: a controller with the derivative on the measurement, filtered, and anti-windup by clamping.

    e = r - m               m: measurement, r: setpoint
    I' = e                  0 while the output is at a limit and e would drive it further
    tau f' = m - f          the filtered measurement;  its rate is (m - f) / tau
    u = kp e + ki I - kd (m - f) / tau,   out = u within the limits

The derivative of the setpoint does not enter: a step of r gives no impulse. Without kd there is no filter.
Source: Astrom, Hagglund, Advanced PID Control, ch. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import counted
from haugmbd.compiled.numba_names import is_jitted
from haugmbd.control.block import Block
from haugmbd.control.sampled import OUT
from haugmbd.deprecated import public_class
from haugmbd.drivers.autodiff.jet import Jet
from haugmbd.drivers.driver import Driver, real_or_nan, shown
from haugmbd.drivers.expression import Expression
from haugmbd.drivers.spline import QuinticSpline
from haugmbd.errors import Fault
from haugmbd.forces.user_function import arguments_needed


@public_class
class PID(Block):
    """A PID controller; its output is "out".

    Parameters
    ----------
    name : str
        Name of the block in signals, messages and results.
    measurement : str
        Name of the measured signal, such as "pin.angle".
    setpoint : float, str, callable, Expression or QuinticSpline
        What the measurement shall be: a number, the name of a signal, or a function of t.
    kp, ki, kd : float
        Gains of the error, of its integral, and of the rate of the measurement.
    tau : float, optional
        Time constant of the filter of the measurement, whose rate is used [s]; needed where kd is not zero.
    lower, upper : float
        Limits of the output.
    integral0 : float
        Integral of the error at the start.

    Notes
    -----
    out = kp e + ki I - kd (m - f) / tau within the limits, with tau f' = m - f and I' = e. While the output is at a limit and the error
    would drive it further, I does not change (anti-windup by clamping). Where this and I' = e drive the output back and forth, implicit
    steps keep it at the limit; explicit steps change between the two, with an error of order one. The filter starts at the measurement of
    the modelled pose, so that the controller does not start with a jerk.
    Source: Astrom and Hagglund, Advanced PID Control, ch. 3.
    """

    kind = "PID"

    def __init__(
        self,
        name: str,
        measurement: str,
        setpoint: float | str | Callable[[float], float] | Expression | QuinticSpline = 0.0,
        *,
        kp: float = 0.0,
        ki: float = 0.0,
        kd: float = 0.0,
        tau: float | None = None,
        lower: float = -np.inf,
        upper: float = np.inf,
        integral0: float = 0.0,
    ) -> None:
        where, faults = f"{self.kind} {name!r}", list[Fault]()
        self.measurement = measurement
        self.setpoint = (
            setpoint if isinstance(setpoint, str | Expression | QuinticSpline) or callable(setpoint) else real_or_nan(setpoint)
        )
        self.kp, self.ki, self.kd = (
            read_number(faults, where, label, gain) for label, gain in (("kp", kp), ("ki", ki), ("kd", kd))
        )
        self.tau = None if tau is None else read_number(faults, where, "tau", tau, unit="s")
        self.lower, self.upper = _limit(faults, where, "lower", lower), _limit(faults, where, "upper", upper)
        self.integral0 = read_number(faults, where, "integral0", integral0)
        faults += _limit_faults(where, self.lower, self.upper)
        if self.kd != 0.0 and self.tau is None:
            remedy = "Give tau [s], a tenth of the time in which the measurement changes or less."
            faults.append(Fault(where, f"kd is {self.kd:g}, and the filter of the measurement has no time constant", remedy))
        if self.tau is not None and not self.tau > 0.0:
            faults.append(Fault(where, f"tau is {self.tau:g} s, must be positive", "Give the time constant of the filter [s]."))
        if not isinstance(measurement, str):
            faults.append(Fault(where, f"measurement is {shown(measurement)}", 'Give the name of a signal, such as "pin.angle".'))
        faults += _setpoint_faults(where, setpoint)
        derivative, out, self.switch = self._functions(lambda function: function)
        names = tuple(signal for signal in (measurement, setpoint) if isinstance(signal, str))
        super().__init__(
            name,
            (self.integral0, 0.0),
            derivative=derivative,
            outputs={OUT: out},
            inputs=names,
        )
        self._faults = (*self._faults, *faults)

    @property
    def moves(self) -> bool:
        """Return whether the setpoint is a function of time of the user."""
        return isinstance(self.setpoint, Expression | QuinticSpline) or callable(self.setpoint)

    def drivers(self) -> tuple[Driver, ...]:
        """Return the setpoint if it is an expression or a spline."""
        return (self.setpoint,) if isinstance(self.setpoint, Expression | QuinticSpline) else ()

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this block, and of its setpoint."""
        return (*self._faults, *(Fault(self.where, f.what, f.remedy) for driver in self.drivers() for f in driver.faults()))

    @property
    def unused_states(self) -> tuple[int, ...]:
        """Return the integral without ki, and the filter without kd."""
        return tuple(state for state, gain in enumerate((self.ki, self.kd)) if gain == 0.0)

    def _functions(self, jit: Any) -> tuple[Any, Any, Any]:
        """Return x', the output and the switch of I', of functions that `jit` compiles or leaves as they are."""
        name, function = setpoint_of(self.setpoint, jit)
        error = jit(error_of(self.measurement, name, function))
        law = jit(control_law(error, self.measurement, self.kp, self.ki, self.kd, self.tau or 1.0))
        rates = controller_rates(error, law, self.measurement, self.ki, self.tau or 1.0, self.lower, self.upper)
        switch = integral_switch(error, law, self.ki, self.lower, self.upper)
        return jit(rates), jit(clamped(law, self.lower, self.upper)), jit(switch)

    def compiled(self) -> dict[str, Any]:
        if self.moves and not is_jitted(self.setpoint):
            return {"derivative": None, f"output {OUT!r}": None, "switch": None}
        derivative, out, switch = self._functions(counted)
        return {"derivative": derivative, f"output {OUT!r}": out, "switch": switch}

    def initial(self, signals: Mapping[str, Any]) -> Array:
        """Return the integral, and the measurement at the modelled pose."""
        return np.array([self.integral0, float(signals[self.measurement])])

    def __reduce__(self) -> Any:
        """Return the recipe for pickle: its functions are made again."""
        settings = {name: getattr(self, name) for name in ("kp", "ki", "kd", "tau", "lower", "upper", "integral0")}
        return _remade, (self.name, self.measurement, self.setpoint, settings)


def _remade(name: str, measurement: str, setpoint: Any, settings: dict[str, Any]) -> PID:
    return PID(name, measurement, setpoint, **settings)


def _limit(faults: list[Fault], where: str, label: str, limit: Any) -> float:
    """Return a limit of the output, which may be infinite."""
    return real_or_nan(limit) if np.isinf(real_or_nan(limit)) else read_number(faults, where, label, limit)


def _limit_faults(where: str, lower: float, upper: float) -> list[Fault]:
    """Return a fault of limits that leave nothing between them."""
    if lower < upper or np.isnan(lower) or np.isnan(upper):
        return []
    return [Fault(where, f"its limits are {lower:g} and {upper:g}", "Give lower < upper; leave out a limit that does not exist.")]


def _setpoint_faults(where: str, setpoint: Any) -> list[Fault]:
    """Return a fault of an invalid setpoint."""
    fits = isinstance(setpoint, str | Expression | QuinticSpline) or np.isfinite(real_or_nan(setpoint))
    if fits or (callable(setpoint) and arguments_needed(setpoint) == 1):
        return []
    return [Fault(where, f"setpoint is {shown(setpoint)}", "Give a number, the name of a signal, or a function of t (Expression).")]


def setpoint_of(setpoint: Any, jit: Any) -> tuple[str, Any]:
    """Return the name of the signal, "" for none, and the function of t."""
    if isinstance(setpoint, str):
        return setpoint, None
    if isinstance(setpoint, Expression | QuinticSpline):
        return "", lambda t: Jet(*setpoint.values(t.f)) if isinstance(t, Jet) else float(setpoint.values(t)[..., 0])
    if callable(setpoint):
        return "", setpoint
    value = float(setpoint)

    def constant(t: float) -> float:
        return value

    return "", jit(constant)


def error_of(measurement: str, name: str, function: Any) -> Any:
    """Return e(t, signals) = r - m."""

    def followed(t: float, signals: Any) -> Any:
        return signals[name] - signals[measurement]

    def prescribed(t: float, signals: Any) -> Any:
        return function(t) - signals[measurement]

    return followed if name else prescribed


def control_law(error: Any, measurement: str, kp: float, ki: float, kd: float, tau: float) -> Any:
    """Return u(t, x, signals) before the limits."""

    def law(t: float, x: Any, signals: Any) -> Any:
        return kp * error(t, signals) + ki * x[0] - kd * (signals[measurement] - x[1]) / tau

    return law


def controller_rates(error: Any, law: Any, measurement: str, ki: float, tau: float, lower: float, upper: float) -> Any:
    """Return x' = (I', f')."""

    def derivative(t: float, x: Any, signals: Any) -> Any:
        e, u = error(t, signals), law(t, x, signals)
        rates = np.empty_like(x)
        rates[0] = 0.0 if (u >= upper and ki * e > 0.0) or (u <= lower and ki * e < 0.0) else e
        rates[1] = (signals[measurement] - x[1]) / tau
        return rates

    return derivative


def integral_switch(error: Any, law: Any, ki: float, lower: float, upper: float) -> Any:
    """Return (e, the integral at which the output is at the limit towards which e drives it)."""

    def switch(t: float, x: Any, signals: Any) -> Any:
        e = error(t, signals)
        if ki == 0.0:
            return e, np.inf * e
        limit = upper if ki * e > 0.0 else lower
        return e, x[0] + (limit - law(t, x, signals)) / ki

    return switch


def clamped(law: Any, lower: float, upper: float) -> Any:
    """Return the output within the limits."""

    def out(t: float, x: Any, signals: Any) -> Any:
        return min(max(law(t, x, signals), lower), upper)

    return out
