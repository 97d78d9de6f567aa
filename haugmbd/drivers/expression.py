r"""Expression: a driver given as text, such as "0.2 * sin(3 * t)"; it is parsed, never executed as Python, and differentiated exactly."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.deprecated import did_you_mean, public_class
from haugmbd.drivers.autodiff.tape import Tape, trace
from haugmbd.drivers.autodiff.tape_machine import Floats
from haugmbd.drivers.derivative_check import agreed
from haugmbd.drivers.driver import is_real_scalar, shown
from haugmbd.drivers.expression_grammar import NAME, RESERVED, TIME, Program, evaluate, parse, variables
from haugmbd.drivers.functions import LONGEST, PythonDriver
from haugmbd.drivers.user_function import FunctionFault, first_fault, jet_at
from haugmbd.errors import Fault, UsageError


@public_class
class Expression(PythonDriver):
    """Driver by a formula in t, as text.

    Parameters
    ----------
    text : str
        The formula, such as "0.2 * sin(3 * t)": numbers, t, pi, e, parameters, + - * / % **, and functions with NumPy's names;
        where(t < 1, a, b) selects.
    parameters : mapping of str to float, optional
        Values of the other names; by default those of the system that uses the expression.

    Attributes
    ----------
    names : tuple of str
        The parameters that the text reads. Forces along joints, springs and torsion springs give it their coordinate and its rate, too:
        "-3*q", "k*(l - 1) + l_dot", "theta**3 + theta_dot".

    Raises
    ------
    UsageError
        If the text is not an expression (with the column), or if parameters are not numbers by name.

    Notes
    -----
    The text is parsed by a grammar of its own and is never executed as Python. f' and f'' are exact.
    A value that is not finite at t = 0 is collected in `faults()`, and so is a parameter that nothing gives.
    Source: Griewank and Walther, Evaluating Derivatives, ch. 13.
    """

    text: str
    names: tuple[str, ...]

    def __init__(self, text: str, *, parameters: Mapping[str, float] | None = None) -> None:
        self._program: Program = parse(text)
        self.text = text.strip()
        self.names = tuple(name for name in variables(self._program) if name != TIME)
        self.tape: Tape | None = None
        self._faults: tuple[Fault, ...] = ()
        self._values: dict[str, float] | None = None
        self.known: dict[str, float] = {}
        if parameters is not None or not self.names:
            self.known = dict(read_parameters(parameters or {}))
            self.bind(self.known, "parameters=")

    @property
    def parameters(self) -> Mapping[str, float]:
        """Return the values of the parameters that the text reads; empty before they are known."""
        return MappingProxyType(self._values or {})

    def bind(self, parameters: Mapping[str, float], owner: str) -> None:
        """Take the values of the parameters from those of `owner`, a text.

        Raise UsageError if the expression has other values already. A missing parameter becomes a fault.
        """
        missing = [name for name in self.names if name not in parameters]
        if self._values is not None:
            changed = [name for name in self.names if name in parameters and parameters[name] != self._values[name]]
            if changed:
                what = f"{changed[0]!r} = {self._values[changed[0]]!r}, and {owner} has {parameters[changed[0]]!r}"
                raise UsageError(f"the expression {self.text!r} was given {what}. Make a new Expression for each system.")
            return
        if missing:
            known, hint = ", ".join(map(repr, parameters)) or "none", did_you_mean(missing[0], parameters)
            what = f"the expression {self.text!r} reads {missing[0]!r}, which is not a parameter"
            self._faults = (Fault("driver", what, f"Give System(parameters={{{missing[0]!r}: ...}}); there are {known}{hint}."),)
            return
        self._values = {name: float(parameters[name]) for name in self.names}
        self._faults = first_fault(self.row, np.zeros(1))
        if not self._faults:
            self.tape = agreed(trace([self.at]), self.row, (0.0, LONGEST))

    def at(self, t: Any) -> Any:
        """Return f(t) for a number, or for any object that NumPy's functions know."""
        assert self._values is not None
        return evaluate(self._program, {TIME: t, **{name: np.float64(x) for name, x in self._values.items()}})

    def row(self, t: float) -> Floats:
        """Return f, f', f'' at one t, shape (3,). Raise FunctionFault if they are not finite."""
        if self._values is None:
            raise FunctionFault(self.faults()[0])
        return jet_at(self.at, t)

    def faults(self) -> tuple[Fault, ...]:
        """Return a fault if a parameter is missing, or if the value at t = 0 is not finite."""
        if self._values is None and not self._faults:
            what = f"the expression {self.text!r} reads {', '.join(map(repr, self.names))}, and no parameters are given"
            return (Fault("driver", what, "Give them: System(parameters={...}), or Expression(..., parameters={...})."),)
        return self._faults

    def law(self, arguments: tuple[str, ...]) -> ExpressionLaw | None:
        """Return the function of these arguments, in their order, that the text is; None if it reads none of them but t."""
        if self._values is not None or not set(self.names) & set(arguments):
            return None
        law = ExpressionLaw(self, arguments)
        law.bind(self.known)
        return law

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


def read_parameters(given: Any) -> dict[str, float]:
    """Return parameters as numbers by name. Raise UsageError, with all that are wrong, for anything else."""
    if not isinstance(given, Mapping):
        raise UsageError(f"parameters is {shown(given)}, must be numbers by name, such as {{'length': 2.0}}.")
    wrong = [found for name, value in given.items() if (found := parameter_fault(name, value))]
    if wrong:
        raise UsageError(f"parameters: {'; '.join(wrong)}.")
    return {name: float(value) for name, value in given.items()}


def parameter_fault(name: Any, value: Any) -> str:
    """Return what is wrong with the name or the value of a parameter; "" if nothing is."""
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        return f"the name {name!r:.40} must be letters, digits and _, and begin with no digit"
    if name in RESERVED:
        return f"{name!r} has a meaning in expressions already: choose another name"
    try:
        finite = is_real_scalar(value) and bool(np.isfinite(float(value)))
    except OverflowError:
        finite = False
    return "" if finite else f"{name!r} is {shown(value)}, must be a finite number"


class ExpressionLaw:
    """A function of several numbers, such as t, q and qd, by a formula: what the text reads besides them are parameters."""

    def __init__(self, expression: Expression, arguments: tuple[str, ...]) -> None:
        self.text, self.arguments = expression.text, arguments
        self.names = tuple(name for name in expression.names if name not in arguments)
        self.parameters: dict[str, float] = {}
        self._program: Program = parse(self.text)

    def bind(self, parameters: Mapping[str, float]) -> None:
        """Take the values of the parameters that are there."""
        self.parameters |= {name: float(parameters[name]) for name in self.names if name in parameters}

    def __call__(self, *given: Any) -> float:
        """Return the value. Raise UsageError for a parameter that nothing gives."""
        missing = [name for name in self.names if name not in self.parameters]
        if missing:
            known = ", ".join(self.arguments)
            what = f"the expression {self.text!r} reads {missing[0]!r}, which is neither a parameter nor one of {known}"
            raise UsageError(f"{what}. Give it to the system, System(parameters=).")
        values = {name: np.float64(x) for name, x in zip(self.arguments, given, strict=True)}
        with np.errstate(all="ignore"):
            return float(evaluate(self._program, values | {name: np.float64(x) for name, x in self.parameters.items()}))

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"
