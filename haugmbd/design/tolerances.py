r"""`tolerances`: the scatter of outputs by the scatter of parameters.

    sd_i^2 = sum_j (dz_i/dp_j sd_j)^2           contributions: the parts of this sum;  parameters scatter independently

Beside it, on request, Monte Carlo: runs with random parameters, whose mean and standard deviation say whether the first order is enough.
Source: Evans (1975), statistical tolerancing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.sensitivity.parameters import Parameters, as_parameters, builder_of
from haugmbd.sensitivity.sensitivity import Sensitivity, sensitivity, values_at_end
from haugmbd.simulation.results.named_outputs import names_of


@public_class
@dataclass(frozen=True, eq=False)
class Tolerances:
    """The scatter of outputs.

    Attributes
    ----------
    outputs, parameters : tuple of str
        Names.
    values : ndarray, (outputs,)
        Nominal outputs.
    standard_deviations : ndarray, (outputs,)
        Of first order; NaN where an output is not unique.
    samples : ndarray, (number, outputs)
        Outputs of random parameters; (0, outputs) if none were asked for.
    """

    outputs: tuple[str, ...]
    p: Parameters
    values: Array
    standard_deviations: Array
    samples: Array
    _shares: Array

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return self.p.names

    def contributions(self) -> dict[str, dict[str, float]]:
        """Return, of each output, the parts of its variance by each parameter, the largest first; they sum to 1."""
        found = {}
        for name, line in zip(self.outputs, self._shares, strict=True):
            order = np.argsort(-np.nan_to_num(line), kind="stable")
            found[name] = {self.parameters[k]: float(line[k]) for k in order}
        return found

    @property
    def sampled_standard_deviations(self) -> Array:
        """Return the standard deviations of the samples, (outputs,)."""
        if len(self.samples) < 2:  # noqa: PLR2004
            raise UsageError("there are no samples: give tolerances(..., samples=200).")
        found: Array = self.samples.std(axis=0, ddof=1)
        return found

    def __str__(self) -> str:
        lines = []
        for name, value, sd in zip(self.outputs, self.values, self.standard_deviations, strict=True):
            parts = ", ".join(f"{p} {100 * share:.0f} %" for p, share in self.contributions()[name].items() if share >= 0.005)
            lines.append(f"{name} = {value:.6g} +- {sd:.2g}: {parts}")
        return "\n".join(lines)

    __repr__ = __str__


def tolerances(
    build: Any, outputs: Any, p: Any, *, run: str = "simulate", samples: int = 0, seed: int = 0, **arguments: Any
) -> Tolerances:
    """Return the scatter of outputs by the scatter of parameters, to first order, and by random samples.

    Parameters
    ----------
    build, outputs, run, **arguments
        As of `sensitivity`.
    p : Parameters
        Parameters with standard deviations, Parameter(0.4, sd=1e-4).
    samples : int
        Number of runs with random parameters, normally distributed within the bounds; 0 for none.
    seed : int
        Of the random numbers.

    Returns
    -------
    Tolerances
        Standard deviations and contributions.

    Raises
    ------
    UsageError
        As of `sensitivity`; if a parameter has no standard deviation.
    """
    parameters = as_parameters(p)
    missing = [name for name in parameters if parameters.part(name).sd is None]
    if missing:
        raise UsageError(
            f"tolerances: {', '.join(map(repr, missing))} have no standard deviation: give mbd.Parameter(value, sd=...)."
        )
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
        raise UsageError(f"samples = {samples!r} must be a whole number, 0 for none.")
    found: Sensitivity = sensitivity(build, parameters, outputs, run=run, **arguments)
    sd = np.array([float(parameters.part(name).sd or 0.0) for name in parameters])
    parts = (found.jacobian * sd) ** 2
    variance = parts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(variance[:, None] > 0.0, parts / variance[:, None], np.where(np.isnan(variance)[:, None], np.nan, 0.0))
    drawn = _sampled(build, parameters, outputs, run, samples, seed, sd, arguments)
    return Tolerances(found.outputs, parameters, found.values, np.sqrt(variance), drawn, shares)


def _sampled(
    build: Any, p: Parameters, outputs: Any, run: str, samples: int, seed: int, sd: Array, arguments: dict[str, Any]
) -> Array:
    """Return outputs (samples, m) of runs with random parameters."""
    rng, (lower, upper) = np.random.default_rng(seed), p.bounds
    builder, names = builder_of(build, p), names_of(outputs)
    drawn = []
    for _ in range(samples):
        x = np.clip(p.values_array + sd * rng.normal(size=len(p)), lower, upper)
        drawn.append(values_at_end(builder, dict(p.at(x)), names, run, arguments))
    return np.array(drawn).reshape(samples, len(names(dict(p))))
