r"""Outputs by the names of quantities, read from a result.

body.crank.r[0]    body.bob.omega[2]    point.coupler(0.1, 0.2, 0.0).v[0]    joint.B.angle    driver.drive.torque
reaction.A.force[1]    load.spring.force    block.pid.x[0]    energy.kinetic    eigenvalue[0].imag
event.down[0].t    impact[1].t
pin.angle    pin.force[2]    bob.acceleration[0]    pid.out        the names of signals, whose part says what they are: see `meant_outputs`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import did_you_mean
from haugmbd.diagnostics.work import does_work
from haugmbd.errors import UsageError, naming
from haugmbd.model.model import Model

NAME = re.compile(r"(?P<kind>body|reaction|joint|driver|load|block|energy)\.((?P<owner>.+)\.)?(?P<what>\w+)(?P<index>(\[\d+\])*)")
POINT = re.compile(r"point\.(?P<owner>.+?)\((?P<at>[^()]*)\)\.(?P<what>\w+)(?P<index>(\[\d+\])*)")
EIGENVALUE = re.compile(r"eigenvalue\[(?P<k>\d+)\]\.(?P<what>real|imag)")
TIME = re.compile(r"(event\.(?P<event>.+)|impact)\[(?P<k>\d+)\]\.t")

FORMS = (
    "'body.NAME.r[0]', 'point.BODY(x, y, z).v[1]', 'joint.NAME.angle', 'reaction.NAME.force[0]', 'driver.NAME.torque', "
    "'load.NAME.force', 'block.NAME.x[0]', 'energy.total', 'eigenvalue[0].imag', 'event.NAME[0].t', 'impact[0].t'"
)
COMPONENTS = {"force": 0, "torque": 3}
"""Of a reaction: the first of its components in `Reaction.unique`."""


class Output(NamedTuple):
    """A parsed name.

    kind: body, point, joint, reaction, driver, load, block, energy, eigenvalue, event or impact;  owner: the name of its part
    what: the quantity;  component: its numbers;  at: of a point, its coordinates in the body's frame [m];  text: as it was written
    """

    kind: str
    owner: str
    what: str
    component: tuple[int, ...]
    at: tuple[float, ...]
    text: str


def parse_output(text: Any) -> Output:
    """Return the output of a name. Raise UsageError if it is none."""
    if not isinstance(text, str):
        raise UsageError(f"output {text!r:.60} must be a name, such as {FORMS}.")
    if m := POINT.fullmatch(text):
        try:
            at = tuple(float(x) for x in m["at"].split(","))
        except ValueError:
            at = ()
        if len(at) != 3:  # noqa: PLR2004
            raise UsageError(
                f"output {text!r}: a point has three coordinates in the frame of its body [m], point.BODY(x, y, z).r[0]."
            )
        return Output("point", m["owner"], m["what"], _index(m["index"]), at, text)
    if m := EIGENVALUE.fullmatch(text):
        return Output("eigenvalue", "", m["what"], (int(m["k"]),), (), text)
    if m := TIME.fullmatch(text):
        return Output("event" if m["event"] else "impact", m["event"] or "", "t", (int(m["k"]),), (), text)
    m = NAME.fullmatch(text)
    if m is None or (m["owner"] is None) != (m["kind"] == "energy"):
        raise UsageError(f"output {text!r} is no name of a quantity: write {FORMS}.")
    return Output(m["kind"], m["owner"] or "", m["what"], _index(m["index"]), (), text)


def _index(text: str) -> tuple[int, ...]:
    return tuple(int(k) for k in re.findall(r"\d+", text))


SINCE_FIRST = {"energy": ("applied_work", "dissipated_work", "work_error", "drift"), "driver": ("work",), "load": ("work",)}
"""By kind: quantities that count from the first state of a run."""


def need_quantity_of_one_state(model: Model, kind: str, what: str, text: str) -> None:
    """Raise UsageError for work, which one state does not have: it is an integral over the run."""
    total = kind == "energy" and what == "total" and does_work(model)
    if total or what in SINCE_FIRST.get(kind, ()):
        instead = "its rate is '.power'" if kind != "energy" else "ask for 'energy.kinetic' and 'energy.potential'"
        counts = "counts the work of forces since the first state" if total else "counts from the first state of a run"
        raise UsageError(f"output {text!r} {counts}, and is no quantity of one state: {instead}, or read it from a Result.")


Names = Callable[[Mapping[str, float]], tuple[Output, ...]]


def names_of(outputs: Any) -> Names:
    """Return the function that gives the parsed outputs at values of the parameters: `outputs` is a name, names, or a function of these."""
    if callable(outputs):
        return lambda values: _parsed(_called(outputs, values))
    fixed = _parsed(outputs)
    return lambda values: fixed


def _called(outputs: Callable[..., Any], values: Mapping[str, float]) -> Any:
    """Return what a function of the parameters gives. Raise UsageError if it does not take them."""
    try:
        signature(outputs).bind(**values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"outputs = {outputs!r:.60} cannot be called with the parameters {', '.join(values)}: {error}.") from None
    with naming("outputs(...)"):
        return outputs(**values)


def _parsed(outputs: Any) -> tuple[Output, ...]:
    if isinstance(outputs, str):
        outputs = [outputs]
    if not isinstance(outputs, Sequence) or not len(outputs):
        raise UsageError(
            f"outputs = {outputs!r:.60} must be names of quantities, or a function of the parameters that returns them."
        )
    return tuple(map(_parsed_one, outputs))


def _parsed_one(text: Any) -> Output:
    """Return the output of a name; of one that does not say what its part is, an output that is resolved by a model, see `resolved`."""
    known = not isinstance(text, str) or any(form.fullmatch(text) for form in (NAME, POINT, EIGENVALUE, TIME))
    return parse_output(text) if known else Output(SHORT, "", "", (), (), text)


SHORT = "short"
"""Kind of an output whose name does not say what its part is, until a model tells."""


def resolved(model: Any, output: Output) -> Output:
    """Return an output with the kind of its part, such as that of "pin.angle" or of a sensor. Raise UsageError for one that is none."""
    return _meant(model, output.text) if output.kind == SHORT else output


def quantity_of(history: Any, what: str) -> Any:
    """Return numbers of a history, one or more at each of its states. Raise UsageError for an attribute that is something else."""
    values = getattr(history, what)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fi" or values.ndim == 0:
        raise UsageError(f"{what} is no quantity that has a number at each state.")
    return values


class Reader:
    """Reads outputs from one result; what several of them need is computed once."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self._read: dict[Any, Any] = {}

    def values(self, output: Output) -> Array:
        """Return an output over time, (nt,). Raise UsageError if the result does not have it."""
        output = resolved(self.result.model, output)
        values = np.asarray(self._quantity(output), dtype=np.float64)
        for k in output.component:
            if values.ndim < 2 or k >= values.shape[1]:  # noqa: PLR2004
                raise UsageError(f"output {output.text!r}: {output.what} has {_shape(values)}.")
            values = values[:, k]
        if values.ndim != 1:
            raise UsageError(
                f"output {output.text!r} is no single number: {output.what} has {_shape(values)}; say which, such as [0]."
            )
        return values

    def unique(self, output: Output) -> bool:
        """Return whether the output is unique: not, if it depends on how redundant rows share their load."""
        output = resolved(self.result.model, output)
        if output.kind == "reaction":
            k = COMPONENTS.get(output.what)
            return k is None or not output.component or bool(self._history(output).unique[k + output.component[0]])
        if output.kind == "driver":
            return bool(np.all(self._history(output).unique))
        return True

    def _quantity(self, output: Output) -> Any:
        if output.kind == "energy":
            return self._attribute(self._energy, output)
        return self._attribute(self._history(output), output)

    @cached_property
    def _energy(self) -> Any:
        return self.result.energy()

    def shape(self, output: Output) -> tuple[int, ...]:
        """Return the shape of a quantity at one time, without its components that are given."""
        whole: tuple[int, ...] = np.shape(self._quantity(output))
        return whole[1 + len(output.component) :]

    def _history(self, output: Output) -> Any:
        """Return the history that has the quantity; the result raises UsageError for an unknown part."""
        key = (output.kind, output.owner, output.at)
        if key not in self._read:
            result, owner = self.result, output.owner
            if output.kind == "body":
                history = result[owner]
            elif output.kind == "point":
                history = result[owner].point(output.at)
            elif output.kind == "sensor":
                sensor = result.model.network.scope.sensors[owner]
                history = _Sensed(np.array([sensor.value(result.state(k)) for k in range(len(result.t))]))
            else:
                history = getattr(result, output.kind)(owner)
            self._read[key] = history
        return self._read[key]

    def _attribute(self, history: Any, output: Output) -> Any:
        if output.kind == "block" and output.what in history.outputs:
            return history[output.what]
        try:
            return quantity_of(history, output.what)
        except AttributeError as error:
            raise UsageError(f"output {output.text!r}: {output.kind} {output.owner!r} has no {output.what!r}. {error}") from None
        except UsageError as error:
            raise UsageError(f"output {output.text!r}: {error}") from None


class _Sensed(NamedTuple):
    """The values (nt, ...) of a sensor of the system."""

    value: Array


SIGNAL = re.compile(r"(?P<owner>.+)\.(?P<what>\w+)(?P<index>(\[\d+\])*)")
WORDS = {"position": "r", "velocity": "v", "acceleration": "a"}
"""Words of the motion of a body, and its attributes."""
OF_REACTIONS = ("force", "torque")
OF_DRIVERS = ("value", "rate", "acceleration", "force", "torque", "power", "work")


def meant_outputs(reader: Reader, model: Any, given: Any) -> tuple[Output, ...]:
    """Return the outputs of names: those of `FORMS`, those of signals such as "pin.angle", or of a sensor; a vector by its numbers.

    drivers have the quantities of a driver, other joints coordinates and reactions. Raise UsageError for a name that means nothing.
    """
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, Sequence) or not len(given):
        raise UsageError(f"outputs = {given!r:.60} must be names of quantities: {FORMS}, or short ones such as 'pin.angle'.")
    outputs = list[Output]()
    for text in given:
        output = _meant(model, text)
        if output.kind in ("event", "impact", "eigenvalue"):
            raise UsageError(f"output {text!r} is no quantity of one state: give one such as {FORMS.split(', ')[0]}.")
        places = list(np.ndindex(reader.shape(output)))
        outputs += [output._replace(component=(*output.component, *k), text=text + "".join(f"[{i}]" for i in k)) for k in places]
    return tuple(outputs)


def _meant(model: Any, text: Any) -> Output:
    """Return the output of one name, whose part says what it is where the name does not."""
    if not isinstance(text, str):
        raise UsageError(f"output {text!r:.60} must be a name, such as {FORMS}.")
    network = model.network
    if network is not None and text in network.scope.sensors:
        return Output("sensor", text, "value", (), (), text)
    parts: dict[str, Any] = {
        "joint": tuple(model.joints),
        "load": tuple(entry.load.name for entry in model.loads),
        "block": () if network is None else tuple(block.name for block in network.blocks),
        "body": model.body_names,
    }
    m = SIGNAL.fullmatch(text)
    kinds = [kind for kind, names in parts.items() if m and m["owner"] in names]
    if m is None or not kinds:
        if any(
            text.startswith(f"{kind}.") for kind in (*parts, "reaction", "driver", "point", "energy", "event")
        ) or TIME.fullmatch(text):
            return parse_output(text)
        names = [f"{name}.{m['what']}" if m else name for known in parts.values() for name in known]
        near = did_you_mean(text, names)
        raise UsageError(f"there is no output {text!r}{near}: write {FORMS}, or a short name such as 'pin.angle'.")
    owner, what, index = m["owner"], m["what"], _index(m["index"])
    if len(kinds) > 1:
        ways = " or ".join(f"'{kind}.{text}'" for kind in kinds)
        raise UsageError(f"output {text!r} is of {len(kinds)} parts called {owner!r}: write {ways}.")
    if kinds == ["joint"]:
        drives = bool(model.joints[owner].part.needs()) and what in OF_DRIVERS
        kind = "driver" if drives else "reaction" if what in OF_REACTIONS else "joint"
        return Output(kind, owner, what, index, (), text)
    return Output(kinds[0], owner, WORDS.get(what, what) if kinds == ["body"] else what, index, (), text)


def _shape(x: Array) -> str:
    return " x ".join(map(str, x.shape[1:])) + " components" if x.ndim > 1 else "one component"
