r"""No stabilization: the acceleration-level constraints are integrated as they are, and Phi drifts like t^2.

Phi_q u_dot = gamma
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.newton_euler import rates_of_stage, right_hand_side
from haugmbd.integrators.stabilization.base import Stabilization, fitting_all_rows
from haugmbd.integrators.stabilization.corrections import stop_sticking_joints
from haugmbd.integrators.step_context import SIGNATURE, Options, make_options, normalize_euler
from haugmbd.model.model import Model
from haugmbd.workspace.layout import Pack


@entry
def rates(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Write y_dot = f(t, y)."""
    options.n_rates += 1
    options.n_factorizations += 1
    return rates_of_stage(P, t, y, y_dot)


@entry
def post_step(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Normalize the Euler parameters; write y_dot = f(t, y)."""
    normalize_euler(P, options, y)
    options.n_rates += 1
    options.n_factorizations += 1
    code = stop_sticking_joints(P, t, y)
    return right_hand_side(P, t, y, y_dot) if code == OK else code


RATES, POST_STEP = Routine(rates, SIGNATURE), Routine(post_step, SIGNATURE)


@dataclass(frozen=True)
class Unstabilized(Stabilization):
    """No stabilization; `stabilization=None` selects it."""

    rates: ClassVar[Routine] = RATES
    post_step: ClassVar[Routine] = POST_STEP
    reference: ClassVar[str] = "Haug 2021, sec. 11.3 (index 1: constraints on the acceleration level only)"

    @classmethod
    def examples(cls) -> dict[str, Stabilization]:
        return {"None": cls()}

    def options(self) -> Options:
        """Return options without parameters."""
        return make_options()

    def fitted(self, model: Model, pack: Pack) -> Pack:
        return fitting_all_rows(model, pack)
