"""A method: a formulation, an integrator and a stabilization, with a label.

Method      one legal combination
methods     all combinations of some formulations, integrators and stabilizations: the legal ones, and the refused ones with their reason
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from itertools import product
from typing import Any, Literal, Self, TypeVar

from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import UsageError
from haugmbd.formulations import FORMULATIONS, Formulation
from haugmbd.formulations.accelerations import check_formulation
from haugmbd.integrators import DormandPrince, Unstabilized
from haugmbd.integrators.base import ATOL, RTOL, Integrator
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.model import Model
from haugmbd.simulation.arguments import check_parameters
from haugmbd.simulation.compatibility import STABILIZATIONS, incompatibility, integrators, refusal
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_methods import NEWTON_EULER, PROJECTION
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System
from haugmbd.text_table import table_lines

NO_STABILIZATION = "no stabilization"
"""In labels: the name of stabilization=None."""

WIDEST = 160
"""Length of the lines in which methods are printed; `.refused` has the whole reasons."""

T = TypeVar("T")


@public_class
@dataclass(frozen=True, kw_only=True)
class Method:
    """A formulation, an integrator and a stabilization that can be combined, with a label.

    Parameters
    ----------
    formulation : Formulation
        Algorithm for the accelerations; by default `NewtonEuler()`.
    integrator : Integrator
        Integrator, with its step or tolerances: `RK4(h=1e-3)`, `DormandPrince(rtol=1e-8)`. By default `DormandPrince()`.
    stabilization : Stabilization or None
        Constraint stabilization; None for none. By default `Projection()`, and none for integrators that it cannot be combined with:
        those that solve the constraints, and those of several steps.
    label : str
        Name of the method in tables and legends. By default it is made of the three parts, with the parameters that differ from
        their defaults, such as "RK4(h=0.001), Projection"; `NewtonEuler()` is left out.

    Raises
    ------
    UsageError
        If an argument is not an object of its kind, or if the three cannot be combined; the message names legal alternatives.
    """

    formulation: Formulation = NEWTON_EULER
    integrator: Integrator = field(default_factory=DormandPrince)
    stabilization: Stabilization | None = PROJECTION
    label: str = ""

    def __post_init__(self) -> None:
        check_parts(self.formulation, self.integrator, self.stabilization)
        if not isinstance(self.label, str):
            raise UsageError(f"label = {self.label!r} must be a string.")
        object.__setattr__(self, "stabilization", usual_rule(self.integrator, self.stabilization))
        wrong = refusal(self.formulation, self.integrator, self.stabilization or Unstabilized())
        if wrong:
            raise UsageError(wrong)
        if not self.label:
            object.__setattr__(self, "label", label_of(self.formulation, self.integrator, self.stabilization))

    def run(self, system: System | Model, t_end: float, **more: Any) -> Result:
        """Return `simulate(system, t_end, ...)` with this method; `more` are other arguments of `simulate`, such as `record_method`."""
        return simulate(
            system, t_end, formulation=self.formulation, integrator=self.integrator, stabilization=self.stabilization, **more
        )

    def with_step(self, h: float) -> Self:
        """Return the same method with the fixed step `h` [s]; raise UsageError if its integrator has none."""
        if not self.integrator.takes_step:
            raise UsageError(f"{self.label!r} chooses its own steps, and cannot be given h = {h:g} s: use with_tolerances.")
        changes: dict[str, Any] = {"h": h}
        if self.integrator.takes_tolerances:
            changes |= {"rtol": RTOL, "atol": ATOL}
        return self._with(replace(self.integrator, **changes))  # type: ignore[type-var]

    def with_tolerances(self, rtol: float, atol: float | None = None) -> Self:
        """Return the same method with error control by rtol, and by atol if it is given; raise UsageError if it has none."""
        if not self.integrator.takes_tolerances:
            raise UsageError(f"{self.label!r} has no error control, and cannot be given rtol = {rtol:g}: use with_step.")
        changes: dict[str, Any] = {"rtol": rtol} | ({} if atol is None else {"atol": atol})
        if self.integrator.takes_step:
            changes["h"] = None
        return self._with(replace(self.integrator, **changes))  # type: ignore[type-var]

    def completed(self, h: float | None = None, rtol: float | None = None, atol: float | None = None) -> Self:
        """Return the same method; an integrator without a step or tolerances of its own gets these, as far as it takes them."""
        own: Any = self.integrator
        if getattr(own, "h", None) is not None:
            return self
        said = [name for name in ("rtol", "atol") if not isinstance(getattr(own, name, DefaultNumber(0.0)), DefaultNumber)]
        asked = rtol is not None or atol is not None
        if own.takes_step and h is not None and not said and not (own.takes_tolerances and asked and own.adaptive_by_default):
            return self._with(own.with_arguments(h, None, None))
        if own.takes_tolerances:
            return self._with(own.with_arguments(None, None if "rtol" in said else rtol, None if "atol" in said else atol))
        return self

    def _with(self, integrator: Integrator) -> Self:
        """Return the same method with another integrator, and with a new label if it was not given one."""
        made = self.label == label_of(self.formulation, self.integrator, self.stabilization)
        return replace(self, integrator=integrator, label="" if made else self.label)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class RefusedMethod:
    """Three parts that cannot be combined.

    label: the name that the method would have;  reason: why they cannot be combined, and legal alternatives
    """

    formulation: Formulation
    integrator: Integrator
    stabilization: Stabilization | None
    label: str
    reason: str


@dataclass(frozen=True, eq=False)
class MethodSet(Sequence[Method]):
    """MethodSet that can be run, and combinations that cannot; a sequence of the former. `a + b` joins two of them, each method once.

    Attributes
    ----------
    legal : tuple of Method
        The methods.
    refused : tuple of RefusedMethod
        The other combinations: `.formulation`, `.integrator`, `.stabilization`, `.label` and `.reason`.
    """

    legal: tuple[Method, ...]
    refused: tuple[RefusedMethod, ...] = ()

    def __len__(self) -> int:
        return len(self.legal)

    def __getitem__(self, k: Any) -> Any:
        return self.legal[k]

    def __iter__(self) -> Iterator[Method]:
        return iter(self.legal)

    def __add__(self, other: MethodSet) -> MethodSet:
        if not isinstance(other, MethodSet):
            return NotImplemented
        return MethodSet(_once((*self.legal, *other.legal)), _once((*self.refused, *other.refused)))

    def __repr__(self) -> str:
        lines = [(method.label, "") for method in self.legal] + [(one.label, f"refused: {one.reason}") for one in self.refused]
        return "\n".join(table_lines(("method", ""), lines, width=WIDEST, may_be_cut=(0, 1)))


@check_keywords
def methods(
    *,
    formulations: Iterable[Formulation] | Literal["all"] = (NEWTON_EULER,),
    integrators: Iterable[Integrator] | Literal["all"] | None = None,
    stabilizations: Iterable[Stabilization | None] | Literal["all"] | None = None,
) -> MethodSet:
    """Return all combinations of some formulations, integrators and stabilizations: the legal ones, and the others with the reason.

    Parameters
    ----------
    formulations : iterable of Formulation, or "all"
        Formulations, as objects; "all": one of each kind in the package. By default `NewtonEuler()`.
    integrators : iterable of Integrator, or "all", optional
        Integrators, as objects; "all": one of each kind in the package. By default `DormandPrince()`.
    stabilizations : iterable of Stabilization or None, or "all", optional
        Stabilizations, as objects, None for none; "all": one of each kind in the package. By default that of `Method`.

    Returns
    -------
    MethodSet
        A sequence of the legal methods; `.legal` holds them, and `.refused` the combinations that cannot be run, with their reason.

    Raises
    ------
    UsageError
        If an argument is not a collection of such objects.
    """
    three = (
        _chosen("formulations", formulations, Formulation, tuple(kind() for kind in FORMULATIONS)),
        _chosen("integrators", (DormandPrince(),) if integrators is None else integrators, Integrator, _all_integrators()),
        _chosen("stabilizations", (PROJECTION,) if stabilizations is None else stabilizations, Stabilization, _all_rules()),
    )
    legal, refused = [], []
    for formulation, integrator, rule in product(*three):
        given = usual_rule(integrator, rule)
        wrong = refusal(formulation, integrator, given or Unstabilized())
        if wrong:
            refused.append(RefusedMethod(formulation, integrator, given, label_of(formulation, integrator, given), wrong))
        else:
            legal.append(Method(formulation=formulation, integrator=integrator, stabilization=given))
    return MethodSet(_once(legal), _once(refused))


def usual_rule(integrator: Integrator, rule: Stabilization | None) -> Stabilization | None:
    """Return the stabilization; None for Unstabilized(), and for the default one where it cannot be combined with the integrator."""
    usual = rule is PROJECTION and incompatibility(NEWTON_EULER, integrator, PROJECTION)
    return None if usual or isinstance(rule, Unstabilized) else rule


def check_parts(formulation: Any, integrator: Any, stabilization: Any) -> None:
    """Raise UsageError for a part that is not an object of its kind, or has parameters of another type."""
    check_formulation(formulation)
    if not isinstance(integrator, Integrator):
        raise UsageError(f"integrator = {integrator!r} must be an object: RK4(h=1e-3), DormandPrince(rtol=1e-8), ...")
    check_parameters(integrator)
    if stabilization is None:
        return
    if isinstance(stabilization, type) or not isinstance(stabilization, Stabilization):
        raise UsageError(f"stabilization = {stabilization!r} must be an object, Projection() or Baumgarte(alpha, beta), or None.")
    check_parameters(stabilization)
    stabilization.check()


def label_of(formulation: Formulation, integrator: Integrator, stabilization: Stabilization | None) -> str:
    """Return the parts in one line, with the parameters that differ from their defaults."""
    parts = [] if formulation == NEWTON_EULER else [short(formulation)]
    parts.append(short(integrator))
    if not integrator.solves_constraints or stabilization is not None:
        parts.append(NO_STABILIZATION if stabilization is None else short(stabilization))
    return ", ".join(parts)


def short(part: Any) -> str:
    """Return the name of an object and its parameters that differ from their defaults: RK4(h=0.001), NullSpace."""
    name = type(part).__name__
    if not (is_dataclass(part) and repr(part).startswith(f"{name}(")):
        return repr(part) if not isinstance(part, float) else f"{part:g}"
    said = []
    for each in fields(part):
        value = getattr(part, each.name)
        usual = each.default if each.default_factory is MISSING else each.default_factory()
        if each.init and each.repr and not value == usual and not isinstance(value, DefaultNumber):
            said.append(f"{each.name}={short(value)}")
    return f"{name}({', '.join(said)})" if said else name


def _chosen(name: str, given: Any, kind: type[Any], every: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the objects that an argument selects."""
    if isinstance(given, str) and given == "all":
        return every
    if isinstance(given, str | kind | type) or not isinstance(given, Iterable):
        raise UsageError(f'{name} = {given!r} must be a list of objects, or "all".')
    chosen = tuple(given)
    if not chosen:
        raise UsageError(f"{name} is empty: give at least one, or leave it out.")
    for one in chosen:
        parts = {"formulations": NEWTON_EULER, "integrators": DormandPrince(), "stabilizations": None} | {name: one}
        check_parts(*parts.values())
    return chosen


def _all_integrators() -> tuple[Integrator, ...]:
    """Return one integrator of each kind in the package."""
    return tuple(integrators().values())


def _all_rules() -> tuple[Stabilization, ...]:
    """Return one stabilization of each kind in the package."""
    return tuple(STABILIZATIONS.values())


def _once(items: Iterable[T]) -> tuple[T, ...]:
    """Return the items in their order, each label once."""
    found: dict[str, T] = {}
    for item in items:
        found.setdefault(item.label, item)  # type: ignore[attr-defined]
    return tuple(found.values())
