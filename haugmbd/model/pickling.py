"""Pickling of systems and models. The user's functions are pickled by their names; the error names the elements where that fails.

cloudpickle, which Dask, joblib and Ray use, pickles functions by their content: it is left to it what it can pickle.

Compiled code of a process is not pickled; the other process compiles it when it is needed.
"""

from __future__ import annotations

import copyreg
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

from haugmbd.callbacks import ForceCallbacks, JacobianCallbacks
from haugmbd.content_digest import register_content, sorted_state
from haugmbd.control.block import Block
from haugmbd.drivers import Driver
from haugmbd.drivers.functions import Functions, TimeFunction
from haugmbd.forces.base import ForceElement
from haugmbd.forces.user_function import Component
from haugmbd.model.inspection.driver_breaks import driven_joints
from haugmbd.model.model import Model

OF_THIS_PROCESS = ("_entry", "_idle", "_new_work", "_own_routines", "_modelled", "_computed_once")
"""Attributes that are made anew where they are needed: the compiled callback, workspaces, and what follows from the model."""

REMEDY = (
    "Functions are pickled by their names: write each with def at the top of a module that the other process can import, "
    "or let that process build the system."
)


def functions_of(drivers: Iterable[Driver]) -> Iterator[Callable[..., Any]]:
    """Yield the functions of the user in drivers."""
    for driver in drivers:
        given = (driver.f, driver.f_dot, driver.f_ddot) if isinstance(driver, Functions) else ()
        for function in (driver.fn,) if isinstance(driver, TimeFunction) else given:
            yield function.f if isinstance(function, Component) else function


def functions_of_load(load: ForceElement) -> Iterator[Callable[..., Any]]:
    """Yield the functions of the user in a force element."""
    user_function, jacobian = load.user_function(), load.jacobian
    yield from functions_of(load.drivers())
    if load.is_open():
        yield type(load)
    if user_function is not None:
        yield user_function.function
    if jacobian is not None:
        yield jacobian.function


def functions_of_block(block: Block) -> Iterator[Callable[..., Any]]:
    """Yield the functions of the user in a block. A block with a recipe of its own makes its functions again, but for a setpoint."""
    if type(block).__reduce__ is not object.__reduce__:
        setpoint = getattr(block, "setpoint", None)
        yield from (setpoint,) if callable(setpoint) else ()
    else:
        yield from (function for function in (getattr(block, "update", None), *block.functions()) if function is not None)


def functions_of_profiles(joint: Any) -> Iterator[Callable[..., Any]]:
    """Yield the functions of the user in the profiles of a cam or a coordinate function."""
    profile = getattr(joint, "profile", None)
    yield from functions_of([profile] if isinstance(profile, Driver) else [])


def refused(elements: Iterable[tuple[str, Iterable[Callable[..., Any]]]]) -> str:
    """Return a sentence with the elements whose functions cannot be pickled, and the remedy; "" if there is none."""
    found = {where: function for where, functions in elements for function in functions if not _can_be_pickled(function)}
    if not found:
        return ""
    names = ", ".join(f"{where} ({getattr(function, '__qualname__', repr(function))})" for where, function in found.items())
    return f"cannot be pickled, for the functions of {names}. {REMEDY}"


def _can_be_pickled(function: Callable[..., Any]) -> bool:
    """Return whether a function can be pickled."""
    try:
        pickle.dumps(function)
    except Exception:  # noqa: BLE001  a user's callable may raise anything
        return False
    return True


def _sensor_functions(sensors: Iterable[Any]) -> list[tuple[str, Iterable[Callable[..., Any]]]]:
    """Return the sensors with their functions."""
    return [(f"sensor {sensor.name!r}", [sensor.function]) for sensor in sensors]


def refusal(model: Model) -> str:
    """Return why a model cannot be pickled; "" if it can."""
    joints = [(f"joint {joint!r}", functions_of([model.drivers[k]])) for k, joint in driven_joints(model).items()]
    loads = [(entry.load.where, functions_of_load(entry.load)) for entry in model.loads]
    blocks = [] if model.network is None else [(block.where, functions_of_block(block)) for block in model.network.blocks]
    sensors = [] if model.network is None else _sensor_functions(model.network.scope.sensors.values())
    cams = [(f"joint {name!r}", functions_of_profiles(entry.part)) for name, entry in model.joints.items()]
    return refused([*joints, *cams, *loads, *blocks, *sensors])


def reduce_system(system: Any) -> Any:
    """Return the pickled form of a System. Raise PicklingError, with the elements, if a function cannot be pickled."""
    return _reduced(system, refused(functions_by_part(system)))


def functions_by_part(system: Any) -> list[tuple[str, Iterable[Callable[..., Any]]]]:
    """Return the parts of a System with the functions of the user in them."""
    joints = [(f"joint {j.name!r}", (*functions_of(p.f for p in j.primitives()), *functions_of_profiles(j))) for j in system.joints]
    loads = [(load.where, functions_of_load(load)) for load in system.loads]
    blocks = [(block.where, functions_of_block(block)) for block in system.blocks]
    return [*joints, *loads, *blocks, *_sensor_functions(system.sensors)]


def reduce_model(model: Model) -> Any:
    """Return the pickled form of a Model. Raise PicklingError, with the elements, if a function cannot be pickled."""
    return _reduced(model, refusal(model))


def reduce_callbacks(callbacks: ForceCallbacks | JacobianCallbacks) -> Any:
    """Return the pickled form of callbacks: all but the compiled entry."""
    return _reduced(callbacks, "")


def _reduced(given: Any, why: str) -> Any:
    """Return the recipe of a new object of the same class with the same attributes."""
    if why and not _pickles_by_content():
        raise pickle.PicklingError(f"{type(given).__name__} {getattr(given, 'name', '')!r} {why}")
    state = {name: value for name, value in vars(given).items() if name not in OF_THIS_PROCESS}
    return copyreg.__newobj__, (type(given),), state  # type: ignore[attr-defined]


def _content_of_model(model: Model) -> dict[str, Any]:
    """Return what a model is, without what is made when it is asked for: labels of rows, and reports."""
    names = [field.name for field in fields(model) if field.name not in ("labels", "explainer", "redundancy")]
    return {name: getattr(model, name) for name in names} | {"redundancy": (model.redundancy.rule, model.redundancy.dropped)}


register_content(Model, _content_of_model)
for _kind in (ForceCallbacks, JacobianCallbacks):
    register_content(_kind, lambda callbacks: sorted_state(callbacks, OF_THIS_PROCESS))


def _pickles_by_content() -> bool:
    """Return whether the pickler that asks is cloudpickle, or a copy of it in another package: it is the nearest caller outside of here."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "haugmbd":
        frame = frame.f_back
    return frame is not None and "cloudpickle" in frame.f_globals.get("__name__", "")


copyreg.pickle(Model, reduce_model)
copyreg.pickle(ForceCallbacks, reduce_callbacks)
copyreg.pickle(JacobianCallbacks, reduce_callbacks)
