"""Random methods: a formulation, an integrator, a stabilization that go together, and a step or a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.simulation.compatibility import STABILIZATIONS, incompatibility, integrators

INTEGRATORS = {name: method for name, method in integrators().items() if not name.startswith("SciPySolver")} | {
    f"SciPySolver {name}": mbd.SciPySolver(name) for name in ("RK45", "LSODA")
}
SLOW = ("SciPySolver RK45", "SciPySolver LSODA")
"""Drawn less often."""


@dataclass
class Method:
    """A formulation, an integrator, a stabilization, and a step or a tolerance."""

    formulation: Any
    integrator: Any
    stabilization: Any
    h: float | None
    rtol: float | None
    dense: bool

    def finer(self, times: int) -> Method:
        """A step half as long, or tolerances a hundredth, so many times."""
        h = None if self.h is None else self.h / 2.0**times
        return Method(
            self.formulation,
            self.integrator,
            self.stabilization,
            h,
            None if self.rtol is None else self.rtol / 100.0**times,
            self.dense,
        )

    @property
    def options(self) -> dict[str, Any]:
        tolerances = {"h": self.h} if self.h else {"rtol": self.rtol, "atol": 1e-2 * self.rtol}  # type: ignore[operator]
        return {
            "formulation": self.formulation, "integrator": self.integrator, "stabilization": self.stabilization, **tolerances,
        }  # fmt: skip

    def __str__(self) -> str:
        step = f"h={self.h:g}" if self.h else f"rtol={self.rtol:g}"
        name = f"{type(self.integrator).__name__}{getattr(self.integrator, 'method', '')}"
        return f"{self.formulation!r} {name} {step} {self.stabilization!r}{' t_eval' * self.dense}"


def method_of(rng: np.random.Generator, t_end: float) -> Method:
    """A random method."""
    while True:
        kind = mbd.NewtonEuler if rng.random() < 0.45 else rng.choice(FORMULATIONS)
        formulation = mbd.NullSpace(mbd.SVD()) if kind is mbd.NullSpace and rng.random() < 0.5 else kind()
        name = str(rng.choice(list(INTEGRATORS)))
        if name in SLOW and rng.random() < 0.7:
            continue
        integrator = INTEGRATORS[name]
        rule_name = str(rng.choice(list(STABILIZATIONS)))
        rule = None if rule_name == "None" else STABILIZATIONS[rule_name]
        if incompatibility(formulation, integrator, STABILIZATIONS[rule_name]):
            continue
        if hasattr(integrator, "constraint_form") and rng.random() < 0.5:
            forms = [mbd.Index2(), mbd.GGL()] if integrator.takes_tolerances else [mbd.Index2(), mbd.Index3(), mbd.GGL()]
            if type(integrator).__name__ not in ("Trapezoidal", "GeneralizedAlphaR7"):
                integrator = type(integrator)(constraint_form=forms[int(rng.integers(len(forms)))])
        fixed = integrator.takes_step and not (integrator.takes_tolerances and rng.random() < 0.6)
        slow = kind is not mbd.NewtonEuler
        steps = [1e-2, 5e-3] if slow else [1e-2, 5e-3, 2e-3, 1e-3]
        h = min(float(rng.choice(steps)), t_end / 2) if fixed else None
        lowest = {"GeneralizedAlpha": 6, "BDF": 8}.get(type(integrator).__name__, 10)
        rtol = None if fixed else 10.0 ** -int(rng.integers(4, lowest + 1))
        return Method(formulation, integrator, rule, h, rtol, bool(rng.random() < 0.3))
