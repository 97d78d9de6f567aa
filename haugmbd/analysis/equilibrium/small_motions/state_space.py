r"""A linear system between inputs and outputs: deviations from one state, or from the states of a motion.

    s' = A s + B w                       s = (x, y, z): independent coordinates, their rates, and the states of blocks
    o  = C s + D w                       w, o: deviations of the inputs and the outputs from their values at the state

An input may prescribe a motion f, of which accelerations and reactions follow f'' at once. Then the response has a polynomial part:

    s' = A s + B0 f + B1 f' + B2 f''     sigma = s - B2 f' - (B1 + A B2) f:    sigma' = A sigma + (B0 + A B1 + A^2 B2) f
    o  = C s + D0 f + D1 f' + D2 f''                                          o = C sigma + (D0 + C B1 + C A B2) f + (D1 + C B2) f' + D2 f''

    H(i w) = C (i w - A)^-1 B + D + i w D_rate - w^2 D_acceleration

Source: Kailath, Linear Systems (1980), sec. 2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.analysis.equilibrium.small_motions.linearization import Linearization
from haugmbd.analysis.mobility.free_motions import Complex
from haugmbd.bodies.validation import numbers
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, did_you_mean, public_class
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.plotting.style import side_legend, stacked_axes
from haugmbd.simulation.results.study_data import Columns, StudyData, column

SLOW = 20.0
"""Slowest time constants that a step response shows by default."""
STEPS = 400
"""Times of a step response by default."""
DECADES, POINTS = 1.5, 400
"""Decades beside the slowest and the fastest eigenvalue that a Bode diagram shows, and its frequencies."""
NO_RATE = 1e-9
"""Part of the largest |eigenvalue| below which one is rounding of zero."""


def _real(name: str, argument: Any, what: str) -> Array:
    """Return finite numbers of any shape. Raise UsageError for anything else."""
    values = numbers(argument)
    if values is None or not np.isfinite(values).all():
        raise UsageError(f"{name} = {argument!r:.60} must be {what}.")
    return values


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class StateSpace(NamesMeant, StudyData):
    """A linear system of deviations about one state: s' = A s + B w, o = C s + D w.

    Attributes
    ----------
    A, B, C, D : ndarray, (n, n), (n, nw), (no, n), (no, nw)
        State, input, output and feedthrough matrix, SI units.
    inputs, outputs : tuple of str
        Names of the inputs and outputs.
    states : tuple of str, (n,)
        Names of the states: independent coordinates, their rates, and the states of blocks.
    inputs0, outputs0 : ndarray, (nw,) and (no,)
        Values at the state, of which w and o are the deviations.
    model : Model
        The compiled model.
    state : State
        The state.
    motions : Linearization or None
        Matrices M, C, K, modes and frequencies, about an equilibrium or a steady motion; None about a state of a motion.
    D_rate, D_acceleration : ndarray, (no, nw)
        What of an output follows the rate and the acceleration of a prescribed motion at once; zero for all other inputs. With them the
        system is improper: it has frequency responses, and neither step responses nor a form for other programs.

    Notes
    -----
    Where an input prescribes a motion f that has accelerations of its own, the states are s - B2 f' - (B1 + A B2) f: the response from
    inputs to outputs is what it is, and a single state is shifted by the input.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: tuple[str, ...]
    inputs0: Array
    outputs0: Array
    model: Model = field(repr=False)
    state: State = field(repr=False)
    motions: Linearization | None = None
    D_rate: Array = field(default_factory=lambda: np.zeros((0, 0)))
    D_acceleration: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def _columns(self) -> Columns:
        """Return the entries of A, B, C and D, with the names of their rows and columns, and those of D_rate and D_acceleration."""
        rates = tuple(f"rate of {name}" for name in self.states)
        lines: list[tuple[str, str, str, float]] = []
        for name, rows, columns in (
            ("A", rates, self.states),
            ("B", rates, self.inputs),
            ("C", self.outputs, self.states),
            ("D", self.outputs, self.inputs),
            *((each, self.outputs, self.inputs) for each in ("D_rate", "D_acceleration") if getattr(self, each).any()),
        ):
            matrix = np.asarray(getattr(self, name)).reshape(len(rows), len(columns))
            lines += [(name, rows[k], columns[n], float(matrix[k, n])) for k in range(len(rows)) for n in range(len(columns))]
        parts = list(zip(*lines, strict=True)) or [()] * 4
        texts = dict(zip(("matrix", "row", "column"), map(column, parts[:3]), strict=True))
        return texts | {"value": np.array(parts[3], dtype=np.float64)}

    @cached_property
    def eigenvalues(self) -> Complex:
        """Return all eigenvalues of A, (n,) [1/s], the smallest first."""
        found = np.linalg.eigvals(self.A).astype(complex) if len(self.A) else np.zeros(0, dtype=complex)
        order = np.lexsort((found.imag, np.abs(found).round(12)))
        return np.asarray(found[order])

    @property
    def proper(self) -> bool:
        """Return whether no output follows the rate or the acceleration of an input at once."""
        return not (self.D_rate.any() or self.D_acceleration.any())

    def frequency_response(self, w: Any, *, input: str | None = None, output: str | None = None) -> Complex:
        """Return H(i w), the response to sinusoidal inputs.

        Parameters
        ----------
        w : float or array_like, (nf,)
            Angular frequencies [rad/s].
        input, output : str, optional
            One input and one output by name; by default all.

        Returns
        -------
        ndarray, (nf, no, nw), complex
            The response; (no, nw) for one frequency. With `input` and `output` these dimensions are left out: (nf,).

        Raises
        ------
        UsageError
            If a name means nothing, or w is an eigenvalue: an undamped motion in resonance has no response.
        """
        w = _real("w", w, "frequencies [rad/s], a number or (nf,)")
        if w.ndim > 1:
            raise UsageError(f"w must be frequencies [rad/s], a number or (nf,), and has the shape {w.shape}.")
        s = 1j * np.atleast_1d(w)[:, None, None]
        n = len(self.A)
        try:
            inner = np.linalg.solve(s * np.eye(n) - self.A, np.broadcast_to(self.B.astype(complex), (s.size, *self.B.shape)))
        except np.linalg.LinAlgError:
            raise UsageError("one of the frequencies w is that of an undamped motion: there is no response in resonance.") from None
        H = self.C @ inner + self.D + s * self.D_rate + s * s * self.D_acceleration
        i = slice(None) if input is None else self._index("input", input, self.inputs)
        o = slice(None) if output is None else self._index("output", output, self.outputs)
        chosen = H[:, o, :][..., i]
        return np.asarray(chosen if w.ndim else chosen[0])

    def bode(self, w: Any = None, *, input: str | None = None, output: str | None = None) -> Any:
        """Draw magnitude and phase over the frequency (needs matplotlib).

        Parameters
        ----------
        w : array_like, (nf,), optional
            Angular frequencies [rad/s]; by default from below the slowest to above the fastest eigenvalue.
        input, output : str, optional
            One input and one output; by default all.

        Returns
        -------
        Figure
            The figure: magnitude in dB above, phase in degrees below.

        Raises
        ------
        UsageError
            If matplotlib is not installed, or a name means nothing.
        """
        w = self._frequencies() if w is None else np.atleast_1d(_real("w", w, "frequencies [rad/s], (nf,)"))
        figure, (upper, lower) = stacked_axes(2)
        for name_i in self.inputs if input is None else (input,):
            for name_o in self.outputs if output is None else (output,):
                H = self.frequency_response(w, input=name_i, output=name_o)
                with np.errstate(divide="ignore"):
                    upper.semilogx(w, 20.0 * np.log10(np.abs(H)), label=f"{name_o} by {name_i}")
                lower.semilogx(w, np.degrees(np.unwrap(np.angle(H))))
        upper.set_ylabel("magnitude [dB]")
        lower.set_ylabel("phase [deg]")
        lower.set_xlabel("frequency [rad/s]")
        side_legend(upper)
        return figure

    def step_response(self, t: Any = None, *, input: str | None = None, output: str | None = None) -> tuple[Array, Array]:
        """Return the response to a unit step of each input, from rest.

        Parameters
        ----------
        t : array_like, (nt,), optional
            Equidistant times from 0 [s]; by default of the slowest motion that decays.
        input, output : str, optional
            One input and one output; by default all.

        Returns
        -------
        t : ndarray, (nt,)
            Times [s].
        o : ndarray, (nt, no, nw)
            Deviations of the outputs; with `input` and `output` these dimensions are left out.

        Raises
        ------
        UsageError
            If the system is improper, times are not equidistant, or a name means nothing.
        """
        self._need_proper("step_response")
        t = self._times() if t is None else np.atleast_1d(_real("t", t, "equidistant times from 0, such as np.linspace(0, 5, 500)"))
        step = np.diff(t)
        if t.ndim != 1 or len(t) < 2 or t[0] != 0.0 or not np.allclose(step, step[0], rtol=1e-6) or not step[0] > 0.0:  # noqa: PLR2004
            raise UsageError("t must be equidistant times from 0, such as np.linspace(0, 5, 500).")
        n, m = self.B.shape
        whole = scipy.linalg.expm(np.block([[self.A, self.B], [np.zeros((m, n + m))]]) * step[0])
        F, G = whole[:n, :n], whole[:n, n:]
        found, s = np.empty((len(t), len(self.C), m)), np.zeros((n, m))
        for k in range(len(t)):
            found[k] = self.C @ s + self.D
            s = F @ s + G
        i = slice(None) if input is None else self._index("input", input, self.inputs)
        o = slice(None) if output is None else self._index("output", output, self.outputs)
        return t, found[:, o, :][..., i]

    def to_scipy(self) -> Any:
        """Return the system as `scipy.signal.StateSpace`. Raise UsageError if it is improper."""
        import scipy.signal  # noqa: PLC0415  imported only where it is used

        self._need_proper("to_scipy")
        return scipy.signal.StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """Return the system as `control.StateSpace` (needs python-control). Raise UsageError if it is improper.

        Names have "_" in place of the dots, which python-control does not take in names: "pin.angle" is "pin_angle".
        """
        self._need_proper("to_control")
        try:
            import control  # noqa: PLC0415  optional
        except ImportError:
            raise UsageError("to_control needs python-control: pip install control; to_scipy() needs SciPy only.") from None
        names = {"inputs": _undotted(self.inputs), "outputs": _undotted(self.outputs), "states": _undotted(self.states)}
        return control.StateSpace(self.A, self.B, self.C, self.D, **names)

    def _need_proper(self, who: str) -> None:
        if self.proper:
            return
        at = np.argwhere((self.D_rate != 0.0) | (self.D_acceleration != 0.0))
        o, i = self.outputs[at[0, 0]], self.inputs[at[0, 1]]
        raise UsageError(
            f"{who}: output {o!r} follows the rate or the acceleration of the motion {i!r} at once, so that the system is improper. Give "
            f"'{i}.acceleration' as the input (the motion and its rate are states then), or use frequency_response."
        )

    def _index(self, kind: str, name: str, names: tuple[str, ...]) -> int:
        if not is_one_of(name, names):
            raise UsageError(f"there is no {kind} {name!r}{did_you_mean(str(name), names)}: there are {', '.join(names)}.")
        return names.index(name)

    def _rates(self) -> Array:
        size = np.abs(self.eigenvalues)
        size = size[size > NO_RATE * size.max(initial=0.0)]
        return size if len(size) else np.ones(1)

    def _frequencies(self) -> Array:
        rates = self._rates()
        return np.logspace(np.log10(rates.min()) - DECADES, np.log10(rates.max()) + DECADES, POINTS)

    def _times(self) -> Array:
        return np.linspace(0.0, SLOW / self._rates().min(), STEPS + 1)

    def __str__(self) -> str:
        """Return one line for the system, and lines for its inputs, outputs and states."""
        n, m = self.B.shape
        lines = [f"{self.model.name!r} at t = {self.state.t:g} s: {n} states, {m} inputs, {len(self.C)} outputs"]
        for what, names in (("inputs", self.inputs), ("outputs", self.outputs), ("states", self.states)):
            lines.append(f"  {what}: {', '.join(names) or 'none'}")
        return "\n".join(lines)

    __repr__ = __str__


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class StateSpaceMotion(NamesMeant):
    """Linear systems of deviations from the states of a motion: s' = A(t) s + B(t) w, o = C(t) s + D(t) w.

    Attributes
    ----------
    t : ndarray, (nt,)
        Times [s].
    systems : tuple of StateSpace
        The system at each time; `motion[k]` is one of them. All have the same coordinates.
    """

    t: Array
    systems: tuple[StateSpace, ...]

    A = property(lambda self: self._stacked("A"), doc="State matrices, (nt, n, n).")
    B = property(lambda self: self._stacked("B"), doc="Input matrices, (nt, n, nw).")
    C = property(lambda self: self._stacked("C"), doc="Output matrices, (nt, no, n).")
    D = property(lambda self: self._stacked("D"), doc="Feedthrough matrices, (nt, no, nw).")
    inputs0 = property(lambda self: self._stacked("inputs0"), doc="Inputs of the motion, (nt, nw).")
    outputs0 = property(lambda self: self._stacked("outputs0"), doc="Outputs of the motion, (nt, no).")
    inputs = property(lambda self: self.systems[0].inputs, doc="Names of the inputs.")
    outputs = property(lambda self: self.systems[0].outputs, doc="Names of the outputs.")
    states = property(lambda self: self.systems[0].states, doc="Names of the states.")

    def _stacked(self, name: str) -> Array:
        return np.array([getattr(system, name) for system in self.systems])

    def __getitem__(self, k: int) -> StateSpace:
        return self.systems[k]

    def __len__(self) -> int:
        return len(self.systems)

    def __iter__(self) -> Iterator[StateSpace]:
        return iter(self.systems)

    def __repr__(self) -> str:
        return f"StateSpaceMotion of {len(self)} times, t = {self.t[0]:g} .. {self.t[-1]:g} s\n{self.systems[0]}"


def _undotted(names: Iterable[str]) -> list[str]:
    """Return names without dots, each of one signal only."""
    found: list[str] = []
    for name in names:
        plain = name.replace(".", "_")
        while plain in found:
            plain += "_"
        found.append(plain)
    return found
