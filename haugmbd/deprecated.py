"""Names that have changed: the old ones work for one version and raise a DeprecationWarning. Suggestions for wrong names."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from haugmbd.names_on_demand import load_package_of

NAMES = {
    "Branch": "AssemblyMode",
    "HalfExplicit": "HEM4",
    "Hold": "FixedCoordinates",
    "ImpactResult": "Result",
    "KeptRows": "DropDependentRows",
    "Load": "ForceElement",
    "PlainProjection": "UnweightedProjection",
    "QuasiNewton": "ModifiedNewton",
    "ReducedResult": "Result",
    "SingularKKT": "SingularKKTError",
    "Spin": "UniformRotation",
    "branches": "assembly_modes",
}
"""Old public names to new ones, since version 0.2."""

CONSTRUCTORS: dict[str, tuple[str, str, tuple[str, ...], dict[str, Any]]] = {
    "AdaptiveGeneralizedAlpha": ("GeneralizedAlpha", "rtol=...", ("rho", "constraint_form", "tol", "newton"), {}),
    "FixedBDF": ("BDF", "h=...", ("h", "order", "constraint_form", "tol", "newton"), {"order": 2}),
    "FixedRadauIIA": ("RadauIIA", "h=...", ("h", "constraint_form", "tol", "newton"), {}),
}
"""Old classes that are one with another now: the new one, what makes it the old one, the order of the old arguments, their defaults."""

KEYWORDS = {"e": "restitution", "level": "constraint_form", "repair_velocity": "project_velocity"}
"""Old keywords to new ones; they are translated if the new one is a parameter."""

ATTRIBUTES = {
    "Contact": {"e": "restitution"},
    "Counters": {
        "choices": "repartitions",
        "corrected": "projections",
        "euler_worst": "max_euler_drift",
        "questions": "solves",
    },
    "Implicit": {"level": "constraint_form"},
    "Mobility": {"doubts": "warnings", "left_out": "skipped_parts", "untold": "unlisted_motions"},
    "Result": {"passed": "singular_crossings"},
}
"""Old attributes to new ones, by class."""

NAMES_MEANT = {
    "Damper": "TSDA",
    "Force": "PointForce",
    "Mechanism": "System",
    "RigidBody": "Body",
    "RK45": "DormandPrince",
    "Spring": "TSDA",
    "SpringDamper": "TSDA",
    "TorsionSpring": "RSDA",
    "World": "System",
    "solve_ivp": "simulate",
}
"""Public names of other programs to those of haugmbd."""

MEANT = {
    "dt": ("h",),
    "step": ("h",),
    "J": ("J_bar",),
    "I": ("J_bar",),
    "inertia": ("J_bar",),
    "method": ("integrator",),
    "solver": ("integrator",),
    "tend": ("t_end",),
    "stiffness": ("k", "K"),
    "damping": ("c", "C"),
    "friction": ("mu",),
    "rest_length": ("l0",),
    "position": ("r", "point"),
    "velocity": ("v",),
    "min": ("lower",),
    "max": ("upper",),
}
"""Keywords of other programs to those of haugmbd, or to several; the first of them that is a parameter is suggested."""

OF_ONE_RUN = {
    "events": "events, and switches among them, belong to one run: simulate(..., events=[...]). Run each variant or method so, in a loop "
    "or in the run= of a sweep, and compare what the results say at the same times"
}
"""Keywords of `simulate` that functions of many runs do not have, and what to do."""

ATTRIBUTES_MEANT = {
    "force": ("load(name)",),
    "forces": ("load(name)", "force"),
    "torques": ("load(name)", "torque"),
    "moment": ("torque",),
    "reactions": ("reaction(name)",),
    "multipliers": ("lam",),
    "position": ("r", "value"),
    "positions": ("r",),
    "velocity": ("v", "rate"),
    "velocities": ("v",),
    "speed": ("rate", "v"),
    "acceleration": ("a",),
    "accelerations": ("a",),
    "rotation": ("A",),
    "orientation": ("A", "p"),
    "angular_velocity": ("omega", "rate"),
    "angular_acceleration": ("omega_dot", "acceleration"),
    "theta": ("angle",),
    "kinetic_energy": ("kinetic",),
    "potential_energy": ("potential",),
    "E": ("total",),
    "time": ("t",),
    "times": ("t",),
    "states": ("y",),
    "to_netcdf": ("save",),
    "export": ("save",),
    "to_dataframe": ("to_pandas",),
}
"""Attributes of other programs' results to those of haugmbd, or to several; the first of them that exists is suggested."""

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


def warn_deprecated(text: str, stacklevel: int) -> None:
    """Issue a DeprecationWarning about a name that the next version drops; `stacklevel` calls above is the line of the user."""
    warnings.warn(f"{text}; the old name will go with 0.3.", DeprecationWarning, stacklevel=stacklevel + 1)


def _warn(old: str, new: str, stacklevel: int) -> None:
    warn_deprecated(f"{old} is called {new} since haugmbd 0.2", stacklevel + 1)


def warn_renamed(name: str) -> str | None:
    """Return the new name of an old public one, with a DeprecationWarning; None for a name that was never public."""
    if name not in NAMES:
        return None
    _warn(f"haugmbd.{name}", f"haugmbd.{NAMES[name]}", stacklevel=4)
    return NAMES[name]


def old_constructor(name: str, find: Callable[[str], Any]) -> Callable[..., Any] | None:
    """Return a function that warns and makes what an old class made, None for another name;  find: gives public things by name."""
    if name not in CONSTRUCTORS:
        return None
    new, words, order, defaults = CONSTRUCTORS[name]

    def make(*args: Any, **given: Any) -> Any:
        if len(args) > len(order):
            raise TypeError(f"{name}() takes at most {len(order)} positional arguments, got {len(args)}")
        _warn(f"haugmbd.{name}(...)", f"haugmbd.{new}({words})", stacklevel=3)
        given = {KEYWORDS.get(word, word): value for word, value in given.items()}  # its warning is enough
        arguments = {**defaults, **dict(zip(order, args, strict=False)), **given}
        made = find(new)(**arguments)
        return made.under_error_control() if words == "rtol=..." else made

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Return {new}(...): {name} is called {new}({words}) since haugmbd 0.2, and will go with 0.3."
    return make


MOST_NAMES, LONGEST_NAME = 1000, 200
"""Names among which one is looked for, and characters of it: the search takes a time of their product with the square of the length."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the nearest name, or "" if none is near."""
    name, names = str(name), list(islice(names, MOST_NAMES + 1))
    if len(names) > MOST_NAMES or len(name) > LONGEST_NAME:
        return ""
    lower = {each.lower(): each for each in names}
    near = get_close_matches(name, names, n=1, cutoff=0.6) or [
        lower[x] for x in get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    ]
    return f" (did you mean {near[0]!r}?)" if near else ""


def object_meant(given: Any, kind: type) -> str:
    """Return a suggestion for a text or a class that is given in place of an object of a kind, such as 'rk-4' or RK4 for RK4(); or ""."""
    load_package_of(kind)
    classes = {each.__name__: each for each in _classes_of(kind) if not (inspect.isabstract(each) or each.__name__.startswith("_"))}
    if isinstance(given, type):
        return f" (write {given.__name__}(), an object of the class)" if given.__name__ in classes else ""
    if not isinstance(given, str):
        return ""
    letters = {_letters(name): name for name in classes}
    near = get_close_matches(_letters(given), letters, n=1, cutoff=0.6)
    return f" (did you mean {letters[near[0]]}()?)" if near else ""


def _classes_of(kind: type) -> list[type]:
    """Return a class and all that are derived from it."""
    derived: list[type] = kind.__subclasses__()
    return [kind, *(each for one in derived for each in _classes_of(one))]


def _letters(name: str) -> str:
    """Return the letters and digits of a name, in small ones."""
    return "".join(filter(str.isalnum, name[:LONGEST_NAME])).lower()


def check_keywords(function: F) -> F:
    """Decorate a public function or method: translate old keywords, and raise TypeError with a suggestion for a wrong one."""
    if inspect.unwrap(function).__code__.co_flags & inspect.CO_VARKEYWORDS:
        return function

    @functools.wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        try:
            return function(*args, **given)
        except TypeError:
            named, places = _names_of(function)  # looked at where something is wrong: it takes time, and most calls are right
            too_many = bool(places) and len(args) > len(places)
            if given.keys() <= named.keys() and not too_many:
                raise
        who = type(args[0]).__name__ if function.__name__ == "__init__" and args else function.__name__
        if too_many:
            raise TypeError(_too_many(who, places, len(args), list(named)))
        return function(*args, **_translated(who, given, named))  # nothing has run: an unknown keyword is no call

    return checked  # type: ignore[return-value]


def _names_of(function: Any) -> tuple[dict[str, inspect.Parameter], list[str]]:
    """Return the parameters that may be given by name, and the names of those by position; of the latter none where any number is taken."""
    parameters = inspect.signature(function).parameters
    named = {name: each for name, each in parameters.items() if each.kind is not each.POSITIONAL_ONLY and name != "self"}
    return named, [] if any(each.kind is each.VAR_POSITIONAL for each in parameters.values()) else _by_position(parameters)


def _by_position(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    """Return the names of the parameters that may be given by position."""
    return [name for name, each in parameters.items() if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def _too_many(who: str, places: list[str], n: int, named: list[str]) -> str:
    """Return what to write where n arguments are given by position, more than there are places."""
    own = [name.lstrip("_") for name in places if name != "self"]
    others = ", ".join(f"{name}=" for name in [name for name in named if name not in own][:3])
    by_name = f": give the others by name, such as {others}" if others else ""
    return f"{who}() takes {len(own)} arguments by position ({', '.join(own)}), not {n - len(places) + len(own)}{by_name}"


def _translated(who: str, given: dict[str, Any], named: Iterable[str]) -> dict[str, Any]:
    """Return keywords under their new names. Raise TypeError for one that does not exist."""
    known: dict[str, Any] = {}
    for old, value in given.items():
        new = old
        if old not in named:
            new = KEYWORDS.get(old, "")
            if new not in named:
                meant = [name for name in MEANT.get(old, ()) if name in named]
                hint = f" (did you mean {meant[0]!r}?)" if meant else did_you_mean(old, sorted(named))
                hint = f": {OF_ONE_RUN[old]}" if old in OF_ONE_RUN else hint
                raise TypeError(f"{who}() has no argument {old!r}{hint or '; it takes ' + ', '.join(named)}")
            _warn(f"{who}({old}=)", f"{new}=", stacklevel=4)
        if new in known:
            raise TypeError(f"{who}() got {new!r} twice, under its old name and its new one")
        known[new] = value
    return known


def public_class(cls: C) -> C:
    """Decorate a public class: apply `check_keywords` to its constructor, and add its old attributes, which warn."""
    if "__init__" in vars(cls):
        constructor: Any = vars(cls)["__init__"]
        setattr(cls, "__init__", check_keywords(constructor))  # noqa: B010  mypy refuses the assignment to a method
    for old, new in ATTRIBUTES.get(cls.__name__, {}).items():
        setattr(cls, old, property(functools.partial(_renamed, cls.__name__, old, new)))
    return cls


FEW = 18
"""Number of attributes up to which all are listed where none is near to a name that does not exist."""


class NamesMeant:
    """Base class of results and histories: an attribute that does not exist is an AttributeError with the name that was meant."""

    if not TYPE_CHECKING:  # a type checker knows the attributes that there are

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError with the nearest name, or with all of them where there are few."""
            kind = type(self)
            if hasattr(kind, name):  # a property that raised AttributeError: its own is raised again
                return object.__getattribute__(self, name)
            names = () if name.startswith("_") else (*dir(kind), *getattr(kind, "__dataclass_fields__", ()))
            known = sorted({each for each in names if not each.startswith("_")}, key=str.lower)
            meant = ATTRIBUTES_MEANT.get(name, ("",))
            hint = next((f" (did you mean {text!r}?)" for text in meant if text.partition("(")[0] in known), "")
            hint = hint or did_you_mean(name, known) or (f"; it has {', '.join(known)}" if 0 < len(known) <= FEW else "")
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{hint}")


def _renamed(owner: str, old: str, new: str, self: Any) -> Any:
    """Return the attribute under its new name."""
    _warn(f"{owner}.{old}", new, stacklevel=3)
    return getattr(self, new)
