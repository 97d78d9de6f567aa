r"""Outputs as a function of the parameters, x -> z(x), with z'(x): what optimizers, fits and studies of tolerances evaluate.

Values at a point are a run; derivatives there use its states again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.sensitivity.parameters import Parameters, as_parameters, builder_of
from haugmbd.sensitivity.sensitivity import OverTime, Sensitivity, differentiated, run_of
from haugmbd.sensitivity.variations import Design
from haugmbd.simulation.results.named_outputs import names_of


class Problem:
    """Outputs of runs of a design at any values of its parameters.

    Attributes
    ----------
    p : Parameters
        The start.
    evaluations, derivatives : int
        Numbers of points at which values and derivatives were computed.
    """

    def __init__(self, build: Any, p: Any, outputs: Any, run: str, arguments: Mapping[str, Any]) -> None:
        self.p: Parameters = as_parameters(p)
        self._build, self.names = builder_of(build, self.p), names_of(outputs)
        self.run, self.arguments = run_of(run), dict(arguments)
        self.evaluations = self.derivatives = 0
        self._of_one_run = np.inf
        self._spent = 0.0
        self._last: tuple[bytes, Sensitivity | None, OverTime | None] = (b"", None, None)

    @property
    def runs(self) -> float:
        """Return the CPU time of all that was evaluated, in runs: the building, compiling and running of one."""
        return self._spent / self._of_one_run if np.isfinite(self._of_one_run) else float(self.evaluations)

    def over_time(self, x: Array) -> OverTime:
        """Return outputs and their derivatives at all times of the run at x (n,)."""
        key = np.asarray(x, dtype=np.float64).tobytes()
        if self._last[0] != key:
            began = time.process_time()
            design = Design(self._build, self.p.at(x), self.names)
            found = differentiated(design, self.run, self.arguments)
            self._last = (key, found, found.over_time)
            self._spent += time.process_time() - began
            self._of_one_run = min(self._of_one_run, design.seconds)
            self.evaluations += 1
            self.derivatives += 1
        over = self._last[2]
        assert over is not None
        return over

    def sensitivity(self, x: Array) -> Sensitivity:
        """Return the sensitivities at x."""
        self.over_time(x)
        assert self._last[1] is not None
        return self._last[1]


def need_times(arguments: Mapping[str, Any], run: str, t: Any) -> dict[str, Any]:
    """Return the arguments of a run at the times t."""
    times = np.atleast_1d(np.asarray(t, dtype=np.float64))
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        raise UsageError("t must be times [s], one-dimensional, finite and strictly increasing.")
    given = dict(arguments)
    if run == "simulate":
        given.setdefault("t_end", float(times[-1]))
        return given | {"t_eval": times}
    if run in ("kinematics", "inverse_dynamics"):
        return given | {"t": times}
    raise UsageError(f"run = {run!r} has no times: leave out t.")
