"""A method: a formulation, an integrator and a stabilization, with a label; or a function of one's own that makes a whole run.

Method      one legal combination
OwnRun      a function of one's own in the place of an integrator
methods     all combinations of some formulations, integrators and stabilizations: the legal ones, and the refused ones with their reason
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from inspect import signature
from itertools import product
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, object_meant, public_class
from haugmbd.errors import UsageError
from haugmbd.formulations import FORMULATIONS, Formulation
from haugmbd.formulations.accelerations import check_formulation
from haugmbd.integrators import DormandPrince, Unstabilized
from haugmbd.integrators.base import ATOL, RTOL, Integrator
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.model import Model
from haugmbd.simulation.arguments import check_parameters
from haugmbd.simulation.compatibility import incompatibility, integrators, refusal, stabilizations
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System
from haugmbd.text_table import table_lines

NO_STABILIZATION = "no stabilization"
"""In labels: the name of stabilization=None."""

WIDEST = 160
"""Length of the lines in which methods are printed; `.refused` has the whole reasons."""

T = TypeVar("T")
OF_RUNS = ("h", "rtol", "atol", "state", "budget", "alpha", "beta")
"""Keywords that a function of one's own may take."""
STATES, WITH_FORCES = 2, 4
"""Numbers of what it may return: (t, y), and (t, y, u_dot, lam)."""


@dataclass(frozen=True)
class OwnRun(Integrator):
    """A function of one's own that makes a whole run, in the place of an integrator; it is called, and never asked for steps.

    function: run(model, t_end, **keywords);  keywords: those of `OF_RUNS` that it takes;  needed: those of them without a default
    h, rtol, atol: None where it has its own
    """

    makes_steps: ClassVar[bool] = False
    function: Callable[..., Any]
    keywords: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    h: float | None = None
    rtol: float | None = None
    atol: float | None = None

    def __repr__(self) -> str:
        settings = [f"{name}={value:g}" for name in ("h", "rtol", "atol") if (value := getattr(self, name)) is not None]
        return f"{getattr(self.function, '__name__', type(self.function).__name__)}({', '.join(settings)})"

    @classmethod
    def of(cls, function: Any) -> OwnRun:
        """Return the run of a function. Raise UsageError if it cannot be called with a model and a time."""
        if not callable(function) or isinstance(function, type):
            raise UsageError(f"run = {function!r:.80} must be a function run(model, t_end, ...) that returns a Result, or (t, y).")
        try:
            parameters = signature(function).parameters.values()
        except (TypeError, ValueError):
            return cls(function)
        free = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) or p.kind == p.VAR_POSITIONAL]
        needed = [p.name for p in parameters if p.default is p.empty and p.kind == p.KEYWORD_ONLY and p.name not in OF_RUNS]
        if (len(free) < len(("model", "t_end")) and not any(p.kind == p.VAR_POSITIONAL for p in free)) or needed:
            raise UsageError(
                f"run = {function!r:.80} must be a function run(model, t_end, ...), with keywords among {', '.join(OF_RUNS)}"
                + (f"; it needs {', '.join(needed)}." if needed else ".")
            )
        every = any(p.kind == p.VAR_KEYWORD for p in parameters)
        named = {p.name: p.default is p.empty for p in parameters}
        return cls(
            function,
            tuple(name for name in OF_RUNS if every or name in named),
            tuple(name for name in ("h", "rtol", "atol") if named.get(name)),
        )

    def result(self, model: Model, t_end: float, label: str, **more: Any) -> Result:
        """Call the function, and return what it returns as a Result with its CPU time. Raise UsageError if it is none."""
        keywords = {name: value for name, value in more.items() if name in self.keywords and value is not None}
        keywords |= {
            name: value for name in ("h", "rtol", "atol") if (value := getattr(self, name)) is not None and name in self.keywords
        }
        began = time.process_time()
        returned = self.function(model, t_end, **keywords)
        cpu = time.process_time() - began
        if not isinstance(returned, Result):
            returned = _result_of(model, returned, label)
        cost = returned.counters if returned.counters.steps else replace(returned.counters, steps=max(len(returned.t) - 1, 0))
        made = replace(returned, counters=replace(cost, cpu=cpu), settings={**returned.settings, "integrator": label})
        return made if more.get("t_eval") is None else made.resample(np.atleast_1d(more["t_eval"]))

    def batches(self, problem: Any, k1: Array, t_end: float) -> Iterator[Any]:
        raise UsageError(
            "a Method(run=...) makes whole runs: use it in compare, convergence, work_precision and gain_map, or call its run."
        )

    def starting_with(self, h: float) -> Self:
        return self

    def limited(self, h_max: float) -> Self:
        return self

    def with_arguments(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        arguments: dict[str, Any] = {"h": h, "rtol": rtol, "atol": atol}
        return replace(self, **{name: x for name, x in arguments.items() if x is not None and name in self.keywords})

    def check(self, span: float) -> None:
        """Raise UsageError if a keyword without a default has no value."""
        missing = [name for name in self.needed if getattr(self, name) is None]
        if missing:
            raise UsageError(
                f"{getattr(self.function, '__name__', 'run')}(model, t_end, ...) needs {missing[0]}, and nothing gives it: write "
                f"simulate({missing[0]}=...), or give it a default."
            )

    @property
    def takes_step(self) -> bool:  # type: ignore[override]
        """Whether the function takes h."""
        return "h" in self.keywords

    @property
    def takes_tolerances(self) -> bool:  # type: ignore[override]
        """Whether the function takes rtol."""
        return "rtol" in self.keywords

    @property
    def adaptive_by_default(self) -> bool:
        """Whether the function takes tolerances, and no step."""
        return not self.takes_step

    @property
    def step(self) -> float | None:
        return self.h

    @property
    def tolerances(self) -> tuple[float, float]:
        return RTOL if self.rtol is None else self.rtol, ATOL if self.atol is None else self.atol


def _result_of(model: Model, returned: Any, label: str) -> Result:
    """Return (t, y), or (t, y, u_dot, lam), as a Result. Raise UsageError if it is neither."""
    if not isinstance(returned, tuple) or len(returned) not in (STATES, WITH_FORCES):
        raise UsageError(f"{label!r} returned {type(returned).__name__}: return a Result, (t, y), or (t, y, u_dot, lam).")
    t, y, *forces = (np.asarray(part, dtype=np.float64) for part in returned)
    if not forces:
        return Result(model, t, y)
    shapes = (len(t), model.nb + 1, 6), (len(t), model.nc)
    for name, part, shape in zip(("u_dot", "lam"), forces, shapes, strict=True):
        if part.shape != shape:
            raise UsageError(f"{label!r} returned {name} of the shape {part.shape}, and {shape} is needed.")
    return Result(model, t, y, _own_u_dot=forces[0], _own=forces[1])


@public_class
@dataclass(frozen=True, init=False)
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
    run : callable, optional
        In place of the three: a function of your own, run(model, t_end, ...), that makes the whole run: your DAE loop, a method of several
        steps, or another program. It takes those of the keywords h, rtol, atol, state, budget, alpha and beta that its signature names, and
        returns a Result; or (t, y) with the flat states (nt, ny), as `State.y`; or (t, y, u_dot, lam) with what the method itself computed,
        (nt, nb + 1, 6) and (nt, nc).

    Raises
    ------
    UsageError
        If an argument is not an object of its kind, or if the three cannot be combined; the message names legal alternatives.
    """

    formulation: Formulation
    integrator: Integrator
    stabilization: Stabilization | None
    label: str

    def __init__(
        self,
        *,
        formulation: Formulation = NEWTON_EULER,
        integrator: Integrator | None = None,
        stabilization: Stabilization | None = PROJECTION,
        label: str = "",
        run: Callable[..., Any] | None = None,
    ) -> None:
        if run is not None:
            if integrator is not None or formulation is not NEWTON_EULER or stabilization is not PROJECTION:
                raise UsageError("Method(run=...) makes the whole run: leave out formulation, integrator and stabilization.")
            integrator, stabilization = OwnRun.of(run), None
            label = label or str(getattr(run, "__name__", type(run).__name__))
        given = {"formulation": formulation, "integrator": DormandPrince() if integrator is None else integrator}
        for name, value in (given | {"stabilization": stabilization, "label": label}).items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        check_parts(self.formulation, self.integrator, self.stabilization)
        if not isinstance(self.label, str):
            raise UsageError(f"label = {self.label!r} must be a string.")
        object.__setattr__(self, "stabilization", usual_rule(self.integrator, self.stabilization))
        own = isinstance(self.integrator, OwnRun)
        wrong = "" if own else refusal(self.formulation, self.integrator, self.stabilization or Unstabilized())
        if wrong:
            raise UsageError(wrong)
        if not self.label:
            object.__setattr__(self, "label", label_of(self.formulation, self.integrator, self.stabilization))

    def run(self, system: System | Model, t_end: float, **more: Any) -> Result:
        """Return `simulate(system, t_end, ...)` with this method; `more` are other arguments of `simulate`, such as `record_method`."""
        if isinstance(self.integrator, OwnRun):
            model = system.compile() if isinstance(system, System) else system
            return self.integrator.result(model, t_end, self.label, **more)
        return simulate(
            system, t_end, formulation=self.formulation, integrator=self.integrator, stabilization=self.stabilization, **more
        )

    def with_step(self, h: float) -> Self:
        """Return the same method with the fixed step `h` [s]; raise UsageError if its integrator has none."""
        if not self.integrator.takes_step:
            raise UsageError(f"{self.label!r} chooses its own steps, and cannot be given h = {h:g} s: use with_tolerances.")
        changes: dict[str, Any] = {"h": h}
        if self.integrator.takes_tolerances and not isinstance(self.integrator, OwnRun):
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
        method: Any = self.integrator
        if isinstance(method, OwnRun):
            numbers = {"h": h, "rtol": rtol, "atol": atol}
            return self._with(
                method.with_arguments(**{name: x if getattr(method, name) is None else None for name, x in numbers.items()})
            )
        if getattr(method, "h", None) is not None:
            return self
        said = [name for name in ("rtol", "atol") if not isinstance(getattr(method, name, DefaultNumber(0.0)), DefaultNumber)]
        asked = rtol is not None or atol is not None
        if (
            method.takes_step
            and h is not None
            and not said
            and not (method.takes_tolerances and asked and method.adaptive_by_default)
        ):
            return self._with(method.with_arguments(h, None, None))
        if method.takes_tolerances:
            return self._with(method.with_arguments(None, None if "rtol" in said else rtol, None if "atol" in said else atol))
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


def no_method(part: Any) -> str:
    """Return the words for what is given in place of a Method; of an integrator, or its class or name, they tell what is meant."""
    text = repr(part) if isinstance(part, Integrator) else "..."
    return f"{part!r:.80} is not a Method: give mbd.Method(integrator={text}){object_meant(part, Integrator)}"


def check_parts(formulation: Any, integrator: Any, stabilization: Any) -> None:
    """Raise UsageError for a part that is not an object of its kind, or has parameters of another type."""
    check_formulation(formulation)
    if not isinstance(integrator, Integrator):
        meant = object_meant(integrator, Integrator)
        raise UsageError(f"integrator = {integrator!r} must be an object: RK4(h=1e-3), DormandPrince(rtol=1e-8), ...{meant}")
    if not isinstance(integrator, OwnRun):
        check_parameters(integrator)
    if stabilization is None:
        return
    if isinstance(stabilization, type) or not isinstance(stabilization, Stabilization):
        meant = object_meant(stabilization, Stabilization)
        raise UsageError(
            f"stabilization = {stabilization!r} must be an object, Projection() or Baumgarte(alpha, beta), or None{meant}."
        )
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


def _chosen(name: str, choice: Any, kind: type[Any], every: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the objects that an argument selects."""
    if isinstance(choice, str) and choice == "all":
        return every
    if isinstance(choice, str | kind | type) or not isinstance(choice, Iterable):
        raise UsageError(f'{name} = {choice!r} must be a list of objects, or "all".')
    chosen = tuple(choice)
    if not chosen:
        raise UsageError(f"{name} is empty: give at least one, or leave it out.")
    for part in chosen:
        parts = {"formulations": NEWTON_EULER, "integrators": DormandPrince(), "stabilizations": None} | {name: part}
        check_parts(*parts.values())
    return chosen


def _all_integrators() -> tuple[Integrator, ...]:
    """Return one integrator of each kind in the package."""
    return tuple(integrators().values())


def _all_rules() -> tuple[Stabilization, ...]:
    """Return one stabilization of each kind in the package."""
    return tuple(stabilizations().values())


def _once(items: Iterable[T]) -> tuple[T, ...]:
    """Return the items in their order, each label once."""
    by_label: dict[str, T] = {}
    for item in items:
        by_label.setdefault(item.label, item)  # type: ignore[attr-defined]
    return tuple(by_label.values())
