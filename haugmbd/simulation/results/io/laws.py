r"""The laws of a model by which it is recognized, beside the numbers of its tables: drivers, and the functions and blocks of the user.

    law of a driver       its program (operations and numbers), or the functions that Python calls
    law of a load         its drivers, the user's function and its declared jacobian
    law of a block        all that a copy of it would be made of

A result keeps the digest of each law by the name of its part. Numbers are rounded: those that another machine computes differ in the last
digits. A law without content, such as one that reads a file, is not known, and a law is known to the version of Python that compiled it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from haugmbd.bodies.part import CALL
from haugmbd.content_digest import PYTHON, NoContent, digest_of, register_content, sorted_state
from haugmbd.control.block import Block
from haugmbd.control.output import BlockOutput
from haugmbd.drivers import Driver
from haugmbd.drivers.program import CONSTANT
from haugmbd.drivers.program import PYTHON as CALLED
from haugmbd.errors import warn_user
from haugmbd.forces.user_function import ReturnedValue
from haugmbd.model.inspection.driver_breaks import driven_joints
from haugmbd.model.model import Model
from haugmbd.model.pickling import functions_of, functions_of_profiles

UNKNOWN = "unknown"
"""The digest of a law without content; in one process it is followed by the place of the law in memory."""
LANGUAGE = "compiled by Python"
"""The key of the version whose code is digested."""
MADE_ANEW = ("_given", "_faults", CALL)
"""Attributes of a block that follow from the others."""


def laws_of(model: Model) -> dict[str, Any]:
    """Return the laws by the names of their parts; parts with numbers alone have none."""
    found: dict[str, list[Any]] = {}

    def put(where: str, laws: Iterable[Any]) -> None:
        known = [law for law in laws if law is not None]
        if known:
            found.setdefault(where, []).extend(known)

    for k, joint in driven_joints(model).items():
        put(f"joint {joint!r}", [_law_of_driver(model.drivers[k])])
    for name, entry in model.joints.items():
        put(f"joint {name!r}", functions_of_profiles(entry.part))
    for load in model.force_elements:
        if load.is_open():
            put(load.where, load.law_content())
            continue
        user_function, jacobian = load.user_function(), load.jacobian
        called = [each.function for each in (user_function, jacobian) if each is not None]
        put(load.where, [*map(_law_of_driver, load.drivers()), *called])
    if model.network is not None:
        for block in model.network.blocks:
            put(block.where, [block])
        for sensor in model.network.scope.sensors.values():
            put(f"sensor {sensor.name!r}", [sensor.function])
    return {where: laws[0] if len(laws) == 1 else tuple(laws) for where, laws in found.items()}


def _law_of_driver(driver: Driver) -> Any:
    """Return what decides the values of a driver; None for no value at all times."""
    if isinstance(driver, BlockOutput):
        return driver.label, driver.component
    if isinstance(driver, ReturnedValue):
        return None
    program = driver.program()
    if program.kind == CALLED:
        return tuple(functions_of([driver])) or driver
    if program.kind == CONSTANT:
        return None if program.value == 0.0 else program.value
    return program.kind, program.ops, program.numbers, program.outputs


def _content_of_block(block: Block) -> Any:
    if type(block).__reduce__ is not object.__reduce__:
        return block.__reduce__()[1:]
    return sorted_state(block, MADE_ANEW)


register_content(Block, _content_of_block)


def law_digests(model: Model) -> dict[str, str]:
    """Return the digest of each law, by the name of its part."""
    laws = laws_of(model)
    digests = {LANGUAGE: PYTHON} if laws else {}
    for where, law in laws.items():
        try:
            digests[where] = digest_of(law, rounded=True)
        except NoContent as error:
            digests[where] = f"{UNKNOWN} (it reads {error}), at {_places(law)}"
    return digests


def _places(law: Any) -> str:
    """Return where the functions of a law are in memory."""
    return " ".join(map(_places, law)) if isinstance(law, tuple) else str(id(law))


def written_laws(laws: Mapping[str, str]) -> dict[str, str]:
    """Return digests for a file: places in memory mean nothing there."""
    return {where: law.partition(", at ")[0] for where, law in laws.items()}


def difference_of_laws(first: Mapping[str, str] | None, second: Mapping[str, str] | None) -> str:
    """Return which law of two models differs, "" if none does, or if it is not known; then warn."""
    if first is None or second is None:
        if first or second:
            warn_user(f"{_of_what(first or second or {})} cannot be compared: the file is of a version that did not keep them.")
        return ""
    unknown = []
    same_language = first.get(LANGUAGE, PYTHON) == second.get(LANGUAGE, PYTHON)
    for where in sorted((first.keys() | second.keys()) - {LANGUAGE}):
        this, other = first.get(where), second.get(where)
        if this == other and not str(this).startswith(UNKNOWN):
            continue
        if this is None or other is None:
            return f"{where} has a law in one of them alone"
        if this == other and ", at " in this:  # the same object
            continue
        if same_language and not this.startswith(UNKNOWN) and not other.startswith(UNKNOWN):
            return f"the law of {where} is another one: its function, or a value that it reads, differs"
        unknown.append(f"{where}{this.removeprefix(UNKNOWN).partition(', at ')[0] if this.startswith(UNKNOWN) else ''}")
    if unknown:
        why = "" if same_language else f" (one was compiled by Python {first[LANGUAGE]}, the other by {second[LANGUAGE]})"
        warn_user(f"the laws of {'; '.join(unknown)} cannot be compared{why}: make sure that they are those of the run.")
    return ""


def _of_what(laws: Mapping[str, str]) -> str:
    return "the laws of " + ", ".join(sorted(laws.keys() - {LANGUAGE}))
