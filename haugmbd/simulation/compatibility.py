"""Legal combinations of formulation, integrator and stabilization. Each method declares its requirements; they are checked once a run.

integrator       solves_constraints    it solves the constraints itself: no stabilization, and the block factor of NewtonEuler
                 correctable           its state may be changed between steps
                 step                  it has a fixed step
stabilization    corrects              it changes states between steps
                 needs_step            its parameters depend on the step
                 needs_block_factor    it uses the block factor itself
formulation      block_factor          it has that factor
"""

from __future__ import annotations

from functools import cache
from typing import Any

from haugmbd import formulations
from haugmbd.errors import UsageError
from haugmbd.formulations import Formulation
from haugmbd.integrators import Projection, Unstabilized
from haugmbd.integrators.base import Integrator, methods_below
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.names_on_demand import load_package_of


def _order(example: tuple[str, Stabilization]) -> tuple[bool, bool, bool, str]:
    """Return what sorts the stabilizations in tables: what they change, what they need, their name."""
    name, rule = example
    return rule.corrects, rule.feeds_back, rule.needs_block_factor, name


@cache
def stabilizations() -> dict[str, Stabilization]:
    """Return one example of each stabilization of this package, by name."""
    load_package_of(Stabilization)
    kinds, examples = [Stabilization], list[tuple[str, Stabilization]]()
    for kind in kinds:
        kinds += [below for below in kind.__subclasses__() if below.__module__.startswith("haugmbd.")]
        examples += kind.examples().items() if kind is not Stabilization else ()
    return dict(sorted(examples, key=_order))


def __getattr__(name: str) -> Any:
    """Return STABILIZATIONS, one example of each, which a run does not need."""
    if name == "STABILIZATIONS":
        return stabilizations()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def integrators() -> dict[str, Integrator]:
    """Return one example of each integrator of this package, by name."""
    return {name: example for kind in methods_below() for name, example in kind.examples().items()}


def incompatibility(formulation: Formulation, method: Integrator, rule: Stabilization) -> str:
    """Return the reason why these three cannot be combined; "" if they can."""
    name = type(method).__name__
    if (method.solves_constraints or method.keeps_factor) and not formulation.block_factor:
        return f"{name} uses the block LDL^T of NewtonEuler() for its own equations: leave out formulation={formulation!r}"
    if method.solves_constraints and not isinstance(rule, Unstabilized):
        return f"{name} fulfils the constraints in its own step: leave out stabilization={rule!r}"
    if method.keeps_factor and rule.feeds_back:
        return f"{name} fulfils the velocity constraints in its own stages, so that {rule!r} would have no effect"
    if rule.corrects and not method.correctable:
        return (
            f"{name} keeps data of earlier steps, and its state cannot be corrected between steps, "
            f"as {type(rule).__name__} does: give stabilization=None"
        )
    if rule.needs_step and not method.takes_step:
        return f"{rule!r} depends on the step, and the step of {name} is not fixed"
    if rule.needs_block_factor and not formulation.block_factor:
        return f"{rule!r} needs the block LDL^T of NewtonEuler(), which {formulation!r} does not have"
    return ""


def resolve_stabilization(
    formulation: Formulation, method: Integrator, stabilization: Stabilization | None, usual: Stabilization
) -> Stabilization:
    """Return the stabilization of a run, with its step. Raise UsageError, with legal alternatives, if the methods cannot be combined.

    usual: the default argument: methods that solve the constraints themselves replace it by none
    """
    rule = Unstabilized() if stabilization is None or (method.solves_constraints and stabilization is usual) else stabilization
    wrong = refusal(formulation, method, rule)
    if wrong:
        raise UsageError(wrong)
    if method.keeps_positions or method.keeps_velocities:
        return Projection(positions=method.keeps_positions)  # of states between its steps, and of the start
    return rule.with_step(method.step)


def refusal(formulation: Formulation, method: Integrator, rule: Stabilization) -> str:
    """Return the reason why these three cannot be combined, with legal alternatives; "" if they can."""
    wrong = incompatibility(formulation, method, rule)
    return f"{wrong}. {_remedy(formulation, method, rule)}" if wrong else ""


def _remedy(formulation: Formulation, method: Integrator, rule: Stabilization) -> str:
    """Return the legal alternatives for the integrator, the stabilization and the formulation."""
    with_method = [name for name, other in stabilizations().items() if not incompatibility(formulation, method, other)]
    with_rule = [name for name, other in integrators().items() if not incompatibility(formulation, other, rule)]
    texts = []
    if with_method:
        texts.append(f"{type(method).__name__} goes with stabilization {', '.join(with_method)}")
    if with_rule and not isinstance(rule, Unstabilized):
        texts.append(f"{type(rule).__name__} goes with {', '.join(with_rule)}")
    what = f" (with {type(formulation).__name__})" if not formulation.block_factor else ""
    if not with_method:
        free = [name for name, other in integrators().items() if not incompatibility(formulation, other, stabilizations()["None"])]
        texts.append(f"{type(formulation).__name__} goes with {', '.join(free)}")
    return f"{'; '.join(texts)}{what if with_method else ''}."


def table() -> list[str]:
    """Return the legal combinations as lines of Markdown: for each integrator and stabilization the formulations."""
    head = ["integrator", "step", *(f"`{name}`" for name in stabilizations()), "`SerialChain`"]
    lines = [_line(head), _line(["---"] * len(head))]
    rank = {name: (method.solves_constraints, not method.takes_step, name) for name, method in integrators().items()}
    for name, method in sorted(integrators().items(), key=lambda item: rank[item[0]]):
        step = " or ".join(["fixed"] * method.takes_step + ["adaptive"] * method.takes_tolerances)
        cells = [_formulations(method, rule) for rule in stabilizations().values()]
        chain = "no" if method.solves_constraints or method.keeps_factor else "yes"
        label, _, variant = name.partition(" ")
        lines.append(_line([f"`{label}` {variant}".rstrip(), step, *cells, chain]))
    return lines


def _line(cells: list[str]) -> str:
    return "|" + "|".join("---" if cell == "---" else f" {cell} " for cell in cells) + "|"


def _formulations(method: Integrator, rule: Stabilization) -> str:
    """Return the formulations that can be combined with the two: all, none, or their names."""
    legal = [kind.__name__ for kind in formulations.FORMULATIONS if not incompatibility(kind(), method, rule)]
    return "all" if len(legal) == len(formulations.FORMULATIONS) else ", ".join(legal) or "-"
