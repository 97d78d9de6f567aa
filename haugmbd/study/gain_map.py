r"""gain_map: where Baumgarte stabilization is stable, and how large the violation is.

    Phi'' + 2 alpha Phi' + beta^2 Phi = 0         stable where |R(z)| <= 1,   z = h ( -alpha +- sqrt(alpha^2 - beta^2) )

The equation describes the violation for frozen constraints; in a motion its coefficients vary by O(h) in a step.  Simple roots move as
little.  The double root of alpha = beta splits by the square root of that, alpha (1 +- sqrt(delta)), and the faster root leaves the stable
region before alpha h reaches the theoretical limit.
Source: Baumgarte 1972, CMAME 1, 1-16; Hairer and Wanner, Solving ODE II, sec. IV.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.batches.threads import in_blocks, processors
from haugmbd.choices import check_flags, is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.violation import COLUMN, Level
from haugmbd.errors import UsageError
from haugmbd.formulations import Formulation
from haugmbd.integrators import RK4, Baumgarte
from haugmbd.integrators.base import Integrator
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.simulation.arguments import need_no_stops
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.simulation.run_options import NEWTON_EULER
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.study.gain_drawing import MapOfStep, draw_map
from haugmbd.study.gain_runs import NOT_RUN, GainCell, GainRuns
from haugmbd.study.method import Method, OwnRun
from haugmbd.study.signal import signal_name
from haugmbd.study.stability_function import spectral_radius, stability_limit
from haugmbd.system.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RK4_METHOD = RK4()
"""Default integrator."""
SPLIT = (
    "Where alpha = beta the root is double: the motion splits it, and the real limit lies below the theoretical one, by a part that falls "
    "with the square root of h."
)
"""The remark on maps that contain alpha = beta."""
STILL = (
    "The motion violates the constraints by no more than rounding, so that instability may not show: start from a state that moves."
)
"""The remark on a mechanism at rest."""


class BestGains(NamedTuple):
    """The stable gains with the least violation: alpha, beta [1/s], h [s], and the violation."""

    alpha: float
    beta: float
    h: float
    violation: float


@dataclass(frozen=True)
class GainMap(StudyData):
    """Stability and violation of Baumgarte stabilization over its gains.

    Attributes
    ----------
    alpha, beta : ndarray, (na,) and (nb,)
        Gains [1/s].
    h : float or ndarray, (nh,)
        Step, or steps [s].
    stable : ndarray of bool, (na, nb), or (nh, na, nb) for several steps
        Whether the violation stays bounded.
    violation : ndarray, the same shape
        Largest violation of the run; inf where the run failed, NaN where there was none after Ctrl-C.
    spectral_radius : ndarray, the same shape
        Theoretical factor of the violation in a step; NaN for methods whose stability function is not known.
    unstabilized : float or ndarray, (nh,)
        Largest violation without stabilization.
    reasons : dict of tuple of int to str
        Why cells are unstable, or were not run, by index.
    best : BestGains or None
        The stable gains with the least violation; None if no cell is stable.
    notes : tuple of str
        What is to be known of the map.
    integrator : Integrator
        The method.
    model_name, quantity : str
        Name of the model; what the violation is, with its unit.
    t_end : float
        Length of the runs [s].
    interrupted : bool
        Whether Ctrl-C ended the map before all cells were run.
    """

    alpha: Array
    beta: Array
    h: float | Array
    stable: npt.NDArray[np.bool_]
    violation: Array
    spectral_radius: Array
    unstabilized: float | Array
    reasons: dict[tuple[int, ...], str]
    best: BestGains | None
    notes: tuple[str, ...]
    integrator: Integrator = field(repr=False)
    model_name: str
    quantity: str
    t_end: float
    interrupted: bool = False

    _grid = ("h", "alpha", "beta")

    def _columns(self) -> Columns:
        h, a, b = np.meshgrid(np.atleast_1d(self.h), self.alpha, self.beta, indexing="ij")
        names = ("stable", "violation", "spectral_radius")
        indices = list(np.ndindex(self.stable.shape))
        columns = {name: column(np.ravel(x)) for name, x in (("h", h), ("alpha", a), ("beta", b))}
        columns |= {name: column(np.ravel(getattr(self, name))) for name in names}
        return columns | {"reason": column([self.reasons.get(index, "") for index in indices])}

    def __str__(self) -> str:
        """Return the number of stable cells, the best gains and the notes."""
        size, ran = self.stable.size, int((~np.isnan(self.violation)).sum())
        cells = (
            f"interrupted by Ctrl-C: {ran} of {size} cells were run, and {{}} of them"
            if self.interrupted
            else f"{{}} of {size} cells"
        )
        lines = [
            f"{self.model_name}: Baumgarte stabilization with {type(self.integrator).__name__}, "
            f"{cells.format(int(self.stable.sum()))} are stable in {self.t_end:g} s"
        ]
        if self.best is not None:
            a, b, h, least = self.best
            lines.append(f"best: alpha = {a:g} 1/s, beta = {b:g} 1/s, h = {h:g} s: largest {self.quantity} {least:.2e}")
        lines.append(f"without stabilization: {', '.join(f'{x:.2e}' for x in np.atleast_1d(self.unstabilized))}")
        return "\n".join([*lines, *self.notes])

    def theoretical_limit(self, ratio: float) -> float:
        """Return the theoretical alpha h at which gains with beta = ratio * alpha become unstable; NaN if it is not known.

        Parameters
        ----------
        ratio : float
            beta / alpha.

        Returns
        -------
        float
            alpha h of the limit.
        """
        return stability_limit(self.integrator, ratio)

    def plot(self, *, h: float | None = None, ax: Axes | None = None) -> Axes:
        """Draw the map: violation as color, unstable cells hatched, the theoretical limit, and the best gains.

        Parameters
        ----------
        h : float, optional
            Of several steps the one that is drawn [s].
        ax : Axes, optional
            Axes of the plot; by default new ones.

        Returns
        -------
        Axes
            The Axes. With a single alpha or beta, a curve over the other gain.

        Raises
        ------
        UsageError
            If there are several steps, and `h` is none of them.
        """
        steps = np.atleast_1d(self.h)
        if h is None and len(steps) > 1:
            raise UsageError(f"the map has several steps: give h, one of {', '.join(f'{x:g}' for x in steps)}.")
        k = 0 if h is None else int(np.abs(steps - h).argmin())
        if h is not None and not np.isclose(steps[k], h, rtol=1e-9):
            raise UsageError(f"the map has no step h = {h:g} s: give one of {', '.join(f'{x:g}' for x in steps)}.")
        of_step = MapOfStep(
            self.alpha,
            self.beta,
            float(steps[k]),
            self.stable.reshape(-1, len(self.alpha), len(self.beta))[k],
            self.violation.reshape(-1, len(self.alpha), len(self.beta))[k],
            self.integrator,
        )
        title = f"{self.model_name}: Baumgarte with {type(self.integrator).__name__}, h = {steps[k]:g} s, {self.t_end:g} s"
        return draw_map(of_step, title=title, quantity=self.quantity, ax=ax)


def _own_run(method: Method) -> OwnRun:
    """Return the function of a method as an integrator. Raise UsageError unless it takes the step and the gains."""
    run = method.integrator
    if not isinstance(run, OwnRun) or not {"h", "alpha", "beta"} <= set(run.keywords):
        raise UsageError(f"gain_map: {method.label!r} must be Method(run=f) with a function f(model, t_end, h, alpha, beta).")
    return run


@check_keywords
def gain_map(
    system: System | Model,
    *,
    alpha: npt.ArrayLike,
    beta: npt.ArrayLike,
    h: npt.ArrayLike,
    t_end: float,
    level: Level = "position",
    integrator: Integrator | Method = RK4_METHOD,
    formulation: Formulation = NEWTON_EULER,
    progress: bool = False,
) -> GainMap:
    """Return where Baumgarte stabilization is stable, and how large the violation is, for all pairs of gains.

    Parameters
    ----------
    system : System or Model
        The system.
    alpha, beta : array_like, (na,) and (nb,)
        Gains [1/s]; each alpha is combined with each beta.
    h : float or array_like, (nh,)
        Step, or steps [s].
    t_end : float
        Length of each run [s]; at least 80 steps, better 400.
    level : {"position", "velocity", "acceleration"}
        Level of the constraints at which the violation is measured.
    integrator : Integrator
        A method of fixed step, without its step: RK4(), Heun(), RK3(), SemiImplicitEuler(), RKMK4(). Or `Method(run=...)`: a function of
        your own, run(model, t_end, h, alpha, beta).
    formulation : Formulation
        Algorithm for the accelerations.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    GainMap
        `.stable`, `.violation`, `.best`, the theoretical `.spectral_radius`, and `.plot()`.

    Raises
    ------
    UsageError
        If gains or steps are not valid, if the runs have too few steps, or if the methods cannot be combined.
    ModelError
        If the system or its initial state has faults.
    KeyboardInterrupt
        After Ctrl-C before the first cell; later the map is returned, with `interrupted` and without the other cells.

    Notes
    -----
    An unstable cell is data: the run failed, the violation exceeds a tenth of the size of the model, or it grows ten times more between
    the second and the last quarter of the run than with small gains; `.reasons` says which. Sources: Baumgarte 1972, CMAME 1, 1-16;
    Hairer and Wanner, Solving ODE II, sec. IV.2 (stability function).
    """
    numbers: dict[str, tuple[npt.ArrayLike, str, bool]] = {
        "alpha": (alpha, "1/s", False), "beta": (beta, "1/s", False), "h": (h, "s", True),
    }  # fmt: skip
    check_flags(progress=progress)
    a, b, steps = check_gain_arguments(numbers, t_end, level, "gain_map").values()
    model = model_given(system, "gain_map")
    need_no_stops(model, "gain_map")
    name = signal_name(model, level)
    integrator = _stepping(integrator, formulation)
    runs = [GainRuns.of(model, formulation, integrator, float(x), float(t_end), level) for x in steps]
    indices = list(np.ndindex(len(steps), len(a), len(b)))
    measured = _run_cells(runs, [(k, float(a[i]), float(b[j])) for k, i, j in indices], progress)
    missing = len(indices) - len(measured)
    cells = dict(zip(indices, [*measured, *[GainCell(False, np.nan, NOT_RUN)] * missing], strict=True))
    shape = (len(steps), len(a), len(b))
    stable = np.array([cell.stable for cell in cells.values()]).reshape(shape)
    violation = np.array([cell.violation for cell in cells.values()]).reshape(shape)
    radius = spectral_radius(integrator, a[None, :, None] * steps[:, None, None], b[None, None, :] * steps[:, None, None])
    several = np.ndim(h) > 0
    first = slice(None) if several else 0
    return GainMap(
        a,
        b,
        steps if several else float(steps[0]),
        stable[first],
        violation[first],
        radius[first],
        np.array([run.unstabilized.violation for run in runs]) if several else runs[0].unstabilized.violation,
        {at if several else at[1:]: cell.reason for at, cell in cells.items() if cell.reason},
        _best(a, b, steps, stable, violation),
        _notes(a, b, runs),
        integrator,
        model.name,
        name,
        float(t_end),
        interrupted=missing > 0,
    )


def _stepping(integrator: Integrator | Method, formulation: Formulation) -> Integrator:
    """Return the method of fixed step. Raise UsageError for others, and unless it goes with the formulation and the stabilization."""
    integrator = _own_run(integrator) if isinstance(integrator, Method) else integrator
    if not isinstance(integrator, OwnRun):
        Method(formulation=formulation, integrator=integrator, stabilization=Baumgarte(1.0, 1.0))
    if not integrator.takes_step:
        raise UsageError(f"gain_map needs a method of fixed step, such as RK4(): {type(integrator).__name__} chooses its steps.")
    return integrator


def _run_cells(runs: list[GainRuns], gains: list[tuple[int, float, float]], progress: bool) -> list[GainCell]:
    """Return the cells of all gains, (step, alpha, beta); after Ctrl-C those so far, or the interrupt if there is none."""

    def block(first: int, last: int) -> list[GainCell]:
        return [runs[k].cell(alpha, beta) for k, alpha, beta in gains[first:last]]

    cells: list[GainCell] = []
    with Progress(progress, 0, len(gains), "runs") as bar:
        try:
            for ended in in_blocks(len(gains), 1, processors(), block):
                cells += ended
                bar.done()
        except KeyboardInterrupt:
            if not cells:
                raise
    return cells


def _best(alpha: Array, beta: Array, steps: Array, stable: npt.NDArray[np.bool_], violation: Array) -> BestGains | None:
    """Return the stable gains with the least violation, without zero gains."""
    feeds = (alpha > 0.0)[None, :, None] & (beta > 0.0)[None, None, :]
    able = np.where(stable & feeds, violation, np.inf)
    if not np.isfinite(able).any():
        return None
    k, i, j = np.unravel_index(int(able.argmin()), able.shape)
    return BestGains(float(alpha[i]), float(beta[j]), float(steps[k]), float(able[k, i, j]))


def _notes(alpha: Array, beta: Array, runs: list[GainRuns]) -> tuple[str, ...]:
    """Return the remarks on the map."""
    double = len(np.intersect1d(alpha[alpha > 0.0], beta)) > 0 or _crosses(alpha, beta)
    still = not all(run.moves for run in runs)
    return (*((SPLIT,) if double else ()), *((STILL,) if still else ()))


def _crosses(alpha: Array, beta: Array) -> bool:
    """Return whether alpha = beta lies in a map of several alphas and betas."""
    return len(alpha) > 1 and len(beta) > 1 and max(alpha.min(), beta.min()) < min(alpha.max(), beta.max())


def check_gain_arguments(given: dict[str, tuple[npt.ArrayLike, str, bool]], t_end: float, level: str, who: str) -> dict[str, Array]:
    """Return numbers as arrays, by name.  Raise UsageError with all that is wrong.

    given: by name the numbers, their unit, and whether zero is refused
    """
    faults, arguments = [], {}
    for name, (numbers, unit, positive) in given.items():
        try:
            values = np.atleast_1d(np.asarray(numbers, dtype=np.float64))
        except (TypeError, ValueError):
            values = np.zeros(0)
        right = values.ndim == 1 and values.size > 0 and bool(np.isfinite(values).all()) and bool((values >= 0.0).all())
        if not right or (positive and not (values > 0.0).all()):
            faults.append(f"{name} = {numbers!r} must be finite and {'positive' if positive else 'not negative'} [{unit}]")
        if len(np.unique(values)) < values.size:
            faults.append(f"{name} = {numbers!r} holds a number twice")
        arguments[name] = values
    if isinstance(t_end, bool) or not isinstance(t_end, int | float | np.number) or not 0.0 < float(t_end) < np.inf:
        faults.append(f"t_end = {t_end!r} must be a positive number of seconds")
    if not is_one_of(level, COLUMN):
        faults.append(f"level is {level!r}: give one of {', '.join(map(repr, COLUMN))}")
    if faults:
        raise UsageError(f"{who}: {'; '.join(faults)}.")
    return arguments
