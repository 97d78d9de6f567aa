r"""A driver that follows a block: f, f' and f'' of an output g along the motion, exactly, where no acceleration enters them.

    x' = h(t, x, s)                                     s: the signals of joints, loads and other blocks
    x'' = h_t + h_x x' + h_s s'                         a jet of h with (t, 1, 0), (x, x', .), (s, s', .)
    f, f', f''  of  g(t, x, s)                          a jet of g with (t, 1, 0), (x, x', x''), (s, s', .)

    angle, displacement     (q, q', .)        rate          (q', ., .)        held, delayed, measured       (m, ., .)

A dot is NaN: q'' would follow from the equations that f'' enters, and the derivative of a value that is held or measured is none. A jet is
NaN where it depends on one of these, so that f'' is a number where the driven value follows positions through at least one state, and
rates, held values and forces through at least two; otherwise the driver is refused, by the name of the signal.
Source: Griewank and Walther, Evaluating Derivatives, ch. 13 (jets); Hairer and Wanner, Solving ODE II, sec. VII.1 (index reduction).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.control.block import Block
from haugmbd.control.delay_line import DelayLine
from haugmbd.control.diagram.evaluation import Instant, UnknownSignal
from haugmbd.control.output import BlockOutput
from haugmbd.control.signals import MEASURED, JointSignal, LoadSignal, OutputSignal
from haugmbd.drivers.autodiff.jet import Jet, lift
from haugmbd.drivers.autodiff.operators import NotAFloat
from haugmbd.errors import SimulationError
from haugmbd.forces.user_function import plain_function

UNKNOWN = np.nan
"""A derivative that the state does not give."""
REMEDY = (
    "Let the driven value be a state whose rate reads positions (x' = k signals['pin.angle']), put a LowPass before one that reads rates, "
    "forces or held values, or take a Coupling for a relation of joint coordinates."
)


def motion_jet(instant: Instant, output: BlockOutput) -> Array:
    """Return f, f', f'' (3,) of an output that drives a joint.

    Raise SimulationError, with the signals, if one of them needs accelerations, or if the functions cannot be differentiated.
    """
    instant.number(output)  # a vector, or an algebraic loop, is refused here
    value = _jet_of(MotionJets(instant), output)
    if np.isfinite(value).all():
        return value
    names = _culprits(instant, output)
    what = f"the driver that follows {output.label!r} needs the derivative of {' and '.join(map(repr, names))}"
    if not names:
        return _refused(output, f"(f, f', f'') of {output.label!r} is {value.tolist()}")
    return _refused(output, f"{what}, which the state does not give")


def rate_jet(instant: Instant, output: BlockOutput) -> Array:
    """Return f, f', 0 (3,) of an output. Raise SimulationError as `motion_jet`, where f' is not known."""
    instant.number(output)
    value = _jet_of(MotionJets(instant), output)
    value[2] = 0.0
    if not np.isfinite(value).all():
        what = f"the rate of {output.label!r} is {value[1]:.6g}: it follows a rate, force, held or delayed value at once"
        return _refused(output, what)
    return value


def _refused(output: BlockOutput, what: str) -> Array:
    raise SimulationError(f"{output.block.where}: {what}. {REMEDY}")


def _jet_of(jets: MotionJets, output: BlockOutput) -> Array:
    """Return the jet of an output, or of one number of it."""
    given = jets.second[output.label]
    if output.component is not None:
        given = given[output.component]
    return np.array(lift(given).stacked(), dtype=np.float64)


def _culprits(instant: Instant, output: BlockOutput) -> list[str]:
    """Return the signals whose unknown derivatives make the jet of an output unknown."""
    whole = MotionJets(instant)
    _jet_of(whole, output)
    return [name for name in whole.unknown if not np.isfinite(_jet_of(MotionJets(instant, only=name), output)).all()]


class MotionJets:
    """Jets of the signals of one instant: `first` with rates of the states, `second` with their second derivatives, too.

    only: the one signal whose unknown derivatives are kept; those of all others are zero;  unknown: the signals that have some
    """

    def __init__(self, instant: Instant, only: str | None = None) -> None:
        self.instant, self.only = instant, only
        self.unknown: dict[str, None] = {}
        self.t = Jet.variable(np.float64(instant.t))
        self.first, self.second = Signals(self, of_second=False), Signals(self, of_second=True)
        self._rates: dict[Block, list[float]] = {}
        self._second_rates: dict[Block, list[Any]] = {}

    def given(self, name: str, *known: float) -> Jet:
        """Return the jet of a signal with these derivatives, and unknown ones beyond."""
        self.unknown[name] = None
        rest = UNKNOWN if self.only in (None, name) else 0.0
        return Jet(*known, *([rest] * (3 - len(known))))

    def states(self, block: Block, *, of_second: bool) -> Any:
        """Return the jets of the states of a block, an array of objects (n,)."""
        x = self.instant.x(block).tolist()
        jets = np.empty(len(x), dtype=object)
        if block.derivative is None:  # held, or delayed
            jets[:] = [self.given(f"{block.name}.out", value) for value in x]
            return jets
        further = self._second_rates_of(block) if of_second else [0.0] * len(x)
        jets[:] = [Jet(*parts) for parts in zip(x, self._rates_of(block), further, strict=True)]
        return jets

    def _rates_of(self, block: Block) -> list[float]:
        """Return x' of the states of a block."""
        if block not in self._rates:
            self._rates[block] = self.instant.rates_of(block).tolist()
        return self._rates[block]

    def _second_rates_of(self, block: Block) -> list[Any]:
        """Return x'' of the states of a block."""
        if block not in self._second_rates:
            returned = self.called(block, "derivative", block.derivative, of_second=False)
            parts = [returned] if isinstance(returned, Jet) else np.ravel(np.array(returned, dtype=object)).tolist()
            self._second_rates[block] = [lift(part).f_dot for part in parts]
        return self._second_rates[block]

    def called(self, block: Block, label: str, function: Any, *, of_second: bool) -> Any:
        """Return what a function of a block returns for jets. Raise SimulationError if it takes none."""
        signals = self.second if of_second else self.first
        try:
            with np.errstate(all="ignore"):
                return plain_function(function)(self.t, self.states(block, of_second=of_second), signals)
        except UnknownSignal as error:
            raise SimulationError(f"{block.where}: {label}: {error.message}") from None
        except SimulationError:
            raise
        except (NotAFloat, TypeError, AttributeError) as error:
            what = f"{label} cannot be differentiated, which a driver that follows it needs: {error}"
            raise SimulationError(
                f"{block.where}: {what}. Write it with NumPy functions of numbers, np.sin in place of math.sin."
            ) from error


class Signals(Mapping[str, Any]):
    """The jets of signals by name."""

    def __init__(self, jets: MotionJets, *, of_second: bool) -> None:
        self._jets, self._of_second = jets, of_second
        self._values: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._jets.instant.network.signals)

    def __len__(self) -> int:
        return len(self._jets.instant.network.signals)

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._jet(name)
        return self._values[name]

    def _jet(self, name: str) -> Any:
        """Return the jet of a signal; algebraic loops are found by the values, which are evaluated first."""
        jets = self._jets
        value = jets.instant[name]
        signal = jets.instant.network.signals[name]
        if isinstance(signal, OutputSignal) and not isinstance(signal.block, DelayLine):
            function = signal.block.outputs[signal.output]
            return jets.called(signal.block, f"output {signal.output!r}", function, of_second=self._of_second)
        if isinstance(signal, JointSignal) and not signal.is_rate:
            return jets.given(name, value, jets.instant._coordinate(signal._replace(is_rate=True)))
        if isinstance(signal, LoadSignal) and signal.quantity == MEASURED.get(signal.load.kind, ("",))[0]:
            return jets.given(name, value, jets.instant._quantity(signal._replace(quantity="rate")))
        if np.ndim(value) == 0:
            return jets.given(name, value)
        parts = np.empty(len(value), dtype=object)
        parts[:] = [jets.given(name, each) for each in np.asarray(value).tolist()]
        return parts
