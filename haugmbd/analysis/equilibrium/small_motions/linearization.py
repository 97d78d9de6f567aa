r"""The result of `linearize`: matrices, state matrix, and modes with a description of their motion.

M x'' + C x' + K x = 0,   (x, x')' = A (x, x');    mode: x(t) = Re( shape e^(s t) ),   omega = |s|,  zeta = -Re s / |s|
With velocity rows (rolling wheels):   x' = G x + N y,   M y' + C y + K x = 0,   (x, y)' = A (x, y)
With blocks that have states z:        M y' + C y + K x = E z,   z' = Z (x, y, z),   (x, y, z)' = A (x, y, z)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.analysis.equilibrium.small_motions.eigenmodes import NO_GROWTH, rolling_state_matrix, state_matrix, with_block_states
from haugmbd.analysis.equilibrium.steady_motion import Steady
from haugmbd.analysis.mobility.free_motions import Complex
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.study_data import Columns, StudyData, column

ROUNDED_ZETA = 1e-10
"""Damping ratio that is shown as 0, relative to the largest eigenvalue."""


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Mode:
    """One mode: x(t) = Re( shape e^(eigenvalue t) ).

    Attributes
    ----------
    number : int
        Number of the mode, from 1.
    eigenvalue : complex
        Eigenvalue [1/s]; of a pair the one with positive imaginary part.
    shape : ndarray, (nb + 1, 6), complex
        v [m] global, and omega_bar [rad] body frames; scaled to a largest rotation (or displacement) of 1 at t = 0.
    text : str
        Description of the motion.
    states : ndarray, (ns,), complex
        The states of blocks, in the same scale; where no body moves, the largest of them is 1.
    """

    number: int
    eigenvalue: complex
    shape: Complex
    text: str
    states: Complex = field(default_factory=lambda: np.zeros(0, dtype=complex))

    @property
    def omega(self) -> float:
        """Return the natural frequency |eigenvalue| [rad/s]."""
        return abs(self.eigenvalue)

    @property
    def frequency(self) -> float:
        """Return the natural frequency [Hz]."""
        return self.omega / (2.0 * np.pi)

    @property
    def zeta(self) -> float:
        """Return the damping ratio -Re / |eigenvalue|: 0 undamped, 1 without oscillation, negative if the mode grows.

        0 for a free motion.
        """
        return -self.eigenvalue.real / self.omega + 0.0 if self.omega else 0.0

    @property
    def oscillates(self) -> bool:
        """Return whether the eigenvalue is one of a complex pair."""
        return self.eigenvalue.imag != 0.0

    def __str__(self) -> str:
        """Return the mode in one line."""
        rate = self.eigenvalue.real
        if self.oscillates:
            how = (
                f"{self.frequency:.4g} Hz ({self.omega:.4g} rad/s), zeta {self.zeta if abs(self.zeta) > ROUNDED_ZETA else 0.0:.3g}"
            )
        else:
            how = f"{'decays' if rate < 0.0 else 'grows'} at {abs(rate):.4g} 1/s" if rate else "moves freely"
        return f"mode {self.number}: {how}: {self.text}"

    __repr__ = __str__


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Linearization(StudyData):
    """Small motions about one state, M x'' + C x' + K x = 0.

    Attributes
    ----------
    model : Model
        The compiled model.
    state : State
        State of the linearization.
    steady : Steady
        The steady motion.
    M, C, K : ndarray, (nd, nd)
        Mass, damping and stiffness in the coordinates x, SI units. With velocity rows K is (nd, np): there are np coordinates x.
    coordinates : tuple of str, (nd,) or (np,)
        Description of each coordinate x.
    basis : ndarray, (nd or np, nb + 1, 6)
        Motion of all bodies per unit of each x: v global, omega_bar body frames.
    modes : tuple of Mode
        The modes, the smallest |eigenvalue| first; with `modes=` the slowest of them, and all that grow.
    N, G : ndarray, (np, nd) and (np, np), or None
        With velocity rows, which rolling wheels have: x' = G x + N y and M y' + C y + K x = 0, y the rates of nd of the coordinates.
    states : tuple of str, (ns,)
        The states z of blocks.
    E, Z : ndarray, (nd, ns) and (ns, np + nd + ns), or None
        With such states: M y' + C y + K x = E z and z' = Z (x, y, z), y = x' without velocity rows.
    """

    model: Model
    state: State
    steady: Steady
    M: Array
    C: Array
    K: Array
    coordinates: tuple[str, ...]
    basis: Array
    modes: tuple[Mode, ...]
    N: Array | None = None
    G: Array | None = None
    states: tuple[str, ...] = ()
    E: Array | None = None
    Z: Array | None = None
    _chosen: tuple[int, ...] = ()
    """The components of the motion (6 nb,) that the coordinates are."""

    def _columns(self) -> Columns:
        values = {
            "real": [mode.eigenvalue.real for mode in self.modes],
            "imaginary": [mode.eigenvalue.imag for mode in self.modes],
            "frequency": [mode.frequency for mode in self.modes],
            "zeta": [mode.zeta for mode in self.modes],
        }
        numbers = {name: np.array(x, dtype=np.float64) for name, x in values.items()}
        return numbers | {"motion": column([mode.text for mode in self.modes])}

    @property
    def dof(self) -> int:
        """Return the degrees of freedom, of velocity."""
        return len(self.M)

    @cached_property
    def A(self) -> Array:
        """Return the state matrix (2 nd, 2 nd): (x, x')' = A (x, x').

        With velocity rows it is (np + nd, np + nd), of (x, y); with states of blocks these follow: (x, y, z).
        """
        if self.N is None or self.G is None:
            A = state_matrix(self.M, self.C, self.K)
        else:
            A = rolling_state_matrix(self.M, self.C, self.K, self.N, self.G)
        return A if self.E is None or self.Z is None else with_block_states(A, self.M, self.E, self.Z)

    @property
    def eigenvalues(self) -> Complex:
        """Return the eigenvalues of the modes, (nm,) [1/s], without the conjugate ones."""
        return np.array([mode.eigenvalue for mode in self.modes], dtype=complex)

    @property
    def omega(self) -> Array:
        """Return the natural frequencies (nm,) [rad/s]."""
        return np.abs(self.eigenvalues)

    @property
    def frequencies(self) -> Array:
        """Return the natural frequencies (nm,) [Hz]."""
        return self.omega / (2.0 * np.pi)

    @property
    def zeta(self) -> Array:
        """Return the damping ratios (nm,)."""
        return np.array([mode.zeta for mode in self.modes])

    @property
    def stable(self) -> bool:
        """Return whether no mode grows: no eigenvalue has a positive real part beyond rounding."""
        eigenvalues = self.eigenvalues
        return bool((eigenvalues.real <= NO_GROWTH * np.abs(eigenvalues).max(initial=0.0)).all())

    def __str__(self) -> str:
        """Return one line for each mode."""
        about = "a steady motion" if self.steady.moves else "an equilibrium"
        head = f"{self.model.name!r} about {about} at t = {self.state.t:g} s, degrees of freedom: {self.dof}"
        return "\n".join([head, *map(str, self.modes)])

    __repr__ = __str__


def in_coordinates(linearization: Linearization, T: Array, *, rolls: bool) -> Linearization:
    """Return the matrices of x' = G x + N y, ... in the coordinates of x = T x_new;  rolls: y are the rates of some of them, or all."""
    M, C, K, N, G, E, Z = (
        linearization.M,
        linearization.C,
        linearization.K,
        linearization.N,
        linearization.G,
        linearization.E,
        linearization.Z,
    )
    assert N is not None
    assert G is not None
    assert E is not None
    assert Z is not None
    N, G, S = np.asarray(np.linalg.solve(T, N)), np.asarray(np.linalg.solve(T, G @ T)), T
    if rolls:
        chosen = np.sort(scipy.linalg.qr(N.T, pivoting=True, mode="economic")[2][: N.shape[1]])
        S = np.linalg.inv(N[chosen])
    changed = replace(linearization, M=S.T @ M @ S, C=S.T @ C @ S, K=S.T @ K @ T, N=N @ S, G=G)
    if not rolls:
        changed = replace(changed, N=None, G=None)
    if not len(Z):
        return replace(changed, E=None, Z=None)
    return replace(changed, E=S.T @ E, Z=Z @ scipy.linalg.block_diag(T, S, np.eye(len(Z))))
