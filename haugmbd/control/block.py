r"""Block: continuous states of its own, integrated with the system, and outputs.

    x' = f(t, x, signals)        u_k = g_k(t, x, signals)        signals: joints, force elements, other blocks and sensors, by name

Every integrator advances x with the bodies, at its order (`workspace.internal_states`). Explicit methods evaluate f with the forces.
Implicit methods solve for x in each evaluation, for the q and u at which the forces are wanted, so that Newton's iteration contains the
feedback.
Source: Cellier, Kofman, Continuous System Simulation, ch. 2 (state equations with inputs and outputs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from haugmbd.bodies.part import Part
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.numba_names import is_jitted
from haugmbd.control.names import texts_of
from haugmbd.control.output import BlockOutput
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import Driver, shown
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.user_function import arguments_needed, arguments_text

FORM = "t, x, signals"
"""Arguments of the functions of a block."""


@public_class
class Block(Part):
    """States of their own, integrated with the system, and outputs: a filter, a controller, a hydraulic or electric circuit.

    Parameters
    ----------
    name : str
        Name of the block in signals, messages and results.
    x0 : float or array_like, (n,)
        Initial states; () for a block without states.
    derivative : callable, optional
        f(t, x, signals) -> x' (n,), or a number if there is one state. A Python function or an @njit function.
    outputs : mapping of str to callable
        g(t, x, signals) -> a number, or a vector, by name. `block["name"]` goes wherever a force element takes a function.
    inputs : sequence of str, optional
        Names of the signals that the functions read. By default they are found in the functions; give names that a function puts together
        itself.

    Notes
    -----
    x is an array (n,), and `signals` gives values by name, `signals["pin.angle"]`:

    * "joint.angle", "joint.displacement", "joint.rate" of a joint, as `result.joint(name)` has them: [rad], [m], and per second;
      "joint.angle_rate" where it has both kinds, "joint.angle_2", "joint.angle_2_rate" where it has several of one;
    * "load.length", "load.rate", "load.force", "load.torque", ... of a force element, as `result.load(name)` has them;
    * "block.output" of another block, or of this one;
    * the name of a sensor that was added to the system.

    An algebraic loop, outputs that depend on each other at the same instant, is refused: give one of them a state.
    Source: Cellier and Kofman, Continuous System Simulation, ch. 2.
    """

    kind = "Block"
    switch: Callable[..., Any] | None = None
    """f(t, x, signals) -> (e, s): the rate of the first state is e before that state reaches s, and 0 beyond; None if it does not jump."""

    def __init__(
        self,
        name: str,
        x0: Any = (),
        *,
        derivative: Callable[..., Any] | None = None,
        outputs: Mapping[str, Callable[..., Any]] | None = None,
        inputs: Sequence[str] | None = None,
    ) -> None:
        self.name = name
        self.derivative = derivative
        self.outputs: dict[str, Callable[..., Any]] = dict(outputs) if isinstance(outputs, Mapping) else {}
        self.inputs = None if inputs is None else tuple(inputs) if _are_names(inputs) else ()
        self._given: dict[tuple[str, int | None], BlockOutput] = {}
        faults: list[Fault] = []
        self.x0 = _states(faults, self.where, x0)
        if inputs is not None and not _are_names(inputs):
            remedy = 'Give the names of the signals that it reads: inputs=("pin.angle",).'
            faults.append(Fault(self.where, f"inputs is {shown(inputs)}", remedy))
        self._faults = (*faults, *self._function_faults(outputs))

    def _function_faults(self, outputs: Any) -> tuple[Fault, ...]:
        """Return the faults of the functions."""
        if outputs is not None and not isinstance(outputs, Mapping):
            return (Fault(self.where, f"outputs is {shown(outputs)}", f"Give functions by name: outputs={{'u': g({FORM})}}."),)
        found = []
        if len(self.x0) and self.derivative is None and type(self) is Block:
            found.append(Fault(self.where, f"it has {len(self.x0)} states and no derivative", f"Give derivative({FORM})."))
        if self.derivative is not None and not len(self.x0):
            found.append(Fault(self.where, "it has a derivative and no states", "Give x0, the initial states."))
        given = {"derivative": self.derivative} if self.derivative is not None else {}
        for label, function in (given | {f"output {name!r}": g for name, g in self.outputs.items()}).items():
            if not callable(function):
                found.append(Fault(self.where, f"{label} is {shown(function)}", f"Give a function of ({FORM})."))
            elif arguments_needed(function) != len(FORM.split(",")):
                what = f"{label} {arguments_text(arguments_needed(function))}"
                found.append(Fault(self.where, what, f"Give a function of ({FORM}); arguments with a default are not counted."))
        return tuple(found)

    @property
    def where(self) -> str:
        """Return the name in faults and errors: Block 'motor'."""
        return f"{self.kind} {self.name!r}"

    @property
    def states(self) -> int:
        """Return the number of states."""
        return len(self.x0)

    @property
    def unused_states(self) -> tuple[int, ...]:
        """Return the numbers of states that neither outputs nor other states depend on: equilibria and small motions leave them out."""
        return ()

    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the functions of the block, of which the names of signals are read."""
        own = (function for function in (self.derivative, self.switch) if function is not None)
        return (*own, *self.outputs.values())

    def texts(self) -> set[str]:
        """Return the texts that may be names of signals: those that were declared, or all in the functions."""
        if self.inputs is not None:
            return set(self.inputs)
        return {text for function in self.functions() for text in texts_of(function)}

    def drivers(self) -> tuple[Driver, ...]:
        """Return the functions of time that the block reads, whose parameters are those of the system."""
        return ()

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this block alone."""
        return self._faults

    def compiled(self) -> dict[str, Any]:
        """Return the functions that compiled code calls, by their labels; None in place of one that only Python can call."""
        given = {} if self.derivative is None else {"derivative": self.derivative}
        given |= {f"output {name!r}": function for name, function in self.outputs.items()}
        given |= {} if self.switch is None else {"switch": self.switch}
        return {label: function if is_jitted(function) else None for label, function in given.items()}

    def initial(self, signals: Mapping[str, Any]) -> Array:
        """Return the initial states, with the signals of the modelled pose."""
        return self.x0

    def __getitem__(self, output: str | tuple[str, int]) -> BlockOutput:
        """Return an output, or one number of a vector, `block["force", 0]`. Raise UsageError if there is no such output."""
        name, component = output if isinstance(output, tuple) and len(output) == len(("name", "number")) else (output, None)
        if not isinstance(name, str) or name not in self.outputs:
            near = get_close_matches(str(name), self.outputs, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            has = ", ".join(map(repr, self.outputs)) or "none"
            raise UsageError(f"{self.where} has no output {name!r}; its outputs are {has}.{hint}")
        if component is not None and (isinstance(component, bool) or not isinstance(component, int | np.integer) or component < 0):
            what = f"number {component!r} of output {name!r} is asked for"
            raise UsageError(f"{self.where}: {what}. Give 0, 1, 2, ...: block[{name!r}, 0] is the first one.")
        return self._given.setdefault((name, component), BlockOutput(self, name, None if component is None else int(component)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def _are_names(inputs: Any) -> bool:
    """Return whether these are names of signals; a single string is not, because its letters would be taken for names."""
    return isinstance(inputs, Iterable) and not isinstance(inputs, str) and all(isinstance(name, str) for name in inputs)


def _states(faults: list[Fault], where: str, x0: Any) -> Array:
    """Return the initial states (n,); none, and a fault, if they are not finite numbers."""
    array = numbers(x0) if np.size(x0) else np.zeros(0)
    if array is None or array.ndim > 1 or not np.isfinite(array).all():
        faults.append(Fault(where, f"x0 is {shown(x0)}", "Give a finite number, or a list of them."))
        return np.zeros(0)
    return np.atleast_1d(np.array(array, dtype=np.float64))
