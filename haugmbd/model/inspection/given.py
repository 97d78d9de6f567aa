"""The model of a call: the model itself, or a System, which is compiled."""

from __future__ import annotations

from typing import Any

from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.views import Pictured


class Compilable(Pictured):
    """Base class of what is compiled to a Model where a call takes one: a System."""

    def compile(self, *, tolerance: float | None = None) -> Model:
        """Return the compiled model."""
        raise NotImplementedError


def no_model(given: Any, who: str) -> UsageError:
    """Return the error of the function `who` for what is neither a System nor a Model; of a chain, with the System that it is."""
    other = ": give chain.to_system()" if callable(getattr(given, "to_system", None)) and not isinstance(given, type) else ""
    return UsageError(f"{who} got {given!r}, and needs a System or a compiled Model{other}.")


def model_given(given: Any, who: str, tolerance: float | None = None) -> Model:
    """Return the model given to the function `who`; a System is compiled, with the tolerance if one is given.

    Raise ModelError with the faults of a System, and UsageError for anything else.
    """
    if isinstance(given, Model):
        no_tolerance(tolerance)
        return given
    model = given.compile(tolerance=tolerance) if isinstance(given, Compilable) else None
    if not isinstance(model, Model):
        if callable(getattr(given, "to_system", None)):
            raise no_model(given, who)
        raise UsageError(f"{who} needs a compiled Model or a System, got {given!r:.80}. Give system.compile().")
    return model


def no_tolerance(tolerance: float | None) -> None:
    """Raise UsageError for a tolerance that is given with a Model, whose redundant rows have been decided."""
    if tolerance is not None:
        raise UsageError(
            "tolerance= is for a System, and a Model was given, whose redundant rows are decided: system.compile(tolerance=...)."
        )


def need_state(state: Any) -> State:
    """Return the argument `state` of a call. Raise UsageError for anything but a State."""
    if not isinstance(state, State):
        raise UsageError(f"state = {state!r} must be a State: start from model.state() and change it with state.replace(...).")
    return state


def state_given(model: Model, given: Any, who: str) -> State:
    """Return the state that `who` is given, by default the modelled one; UsageError for anything but a State."""
    if given is None:
        return model.state()
    if not isinstance(given, State):
        raise UsageError(f"{who} needs a State, got {given!r:.80}. Start from model.state() and change it with state.replace(...).")
    return given


def state_of_model(model: Model, given: Any, who: str) -> State:
    """Return the state that `who` is given, by default the modelled one; UsageError also for a state of another model."""
    state = state_given(model, given, who)
    if state.flat.shape != model.y0.shape or len(state.r) != model.nb + 1:
        raise UsageError(
            f"{who} got a state of {len(state.r) - 1} bodies, and model {model.name!r} has {model.nb}: start from model.state()."
        )
    return state


def state_of_structure(model: Model, given: Any, who: str) -> State:
    """Return the state that `who` is given, by default the modelled one; UsageError also for one of another model, or structure of it."""
    state = state_of_model(model, given, who)
    if state.structure is not None and (parts := other_parts(model, state)):
        raise UsageError(
            f"{who} got a state of another structure of the mechanism: {parts} on or off, or held at another pose. Take the model of its "
            "segment, result.segments[k].model."
        )
    return state


def other_parts(model: Model, state: State) -> str:
    """Return in which parts the structure of a state differs from that of a model; "" if it is the same."""
    own = None if model.parts is None else model.parts.structure
    off, held = (frozenset[str](), ()) if own is None else own
    given = state.structure
    differ = sorted(off ^ given.off) or sorted(name for name, _ in set(held) ^ set(given.held))
    return ", ".join(map(repr, differ))
