r"""Blocks in a model file: their forms, their texts, and the blocks that are made of them.

    {"type": "LowPass", "name": "filter", "signal": "pin.rate", "tau": 0.01}
    {"type": "RSDA", "name": "drive", ..., "actuator": {"output": "filter.out"}}

Functions of the user are held by their names, and are imported only with allow_code=True.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from haugmbd.control.block import Block
from haugmbd.control.delay_line import DelayLine
from haugmbd.control.low_pass import LowPass
from haugmbd.control.pid import PID
from haugmbd.control.sampled import OUT, HeldNumber, HeldVector, Sampled
from haugmbd.control.transfer_function import TransferFunction
from haugmbd.drivers import Driver
from haugmbd.modelfile.parts.functions import CODE_RECORD, SPLINE_RECORD, Code, TimeValue, Unwritable, code_name, driver_text
from haugmbd.modelfile.reading import BAD, Path, Reading, shown
from haugmbd.modelfile.values import Field, Kind, ListOf, Number, Record, Text
from haugmbd.text_table import first_line

SIGNAL_RECORD = Record((Field("signal", Text()),), "a signal by name")


@dataclass(frozen=True)
class CodeTable(Kind):
    """Python functions by name, each as {"function": "module:function"}."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not isinstance(given, dict):
            return reading.fault(path, f"it is {shown(given)}, not a table", "Give functions by the names of the outputs.")
        found = {name: Code().read(value, (*path, name), reading) for name, value in given.items()}
        return BAD if any(value is BAD for value in found.values()) else found

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": CODE_RECORD.schema()}


@dataclass(frozen=True)
class Setpoint(Kind):
    """A number, an expression as text, a spline, a Python function of t, or a signal as {"signal": name}."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if isinstance(given, dict) and "signal" in given:
            found = SIGNAL_RECORD.read(given, path, reading)
            return BAD if found is BAD else found["signal"]
        if isinstance(given, dict) and "spline" not in given:
            return Code().read(given, path, reading)
        return TimeValue().read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        simple = [{"$ref": "#/$defs/number"}, {"type": "string", "description": "an expression in t and the parameters"}]
        return {"anyOf": [*simple, SPLINE_RECORD.schema(), SIGNAL_RECORD.schema(), CODE_RECORD.schema()]}


@dataclass(frozen=True)
class Numbers(Kind):
    """A number, or a list of numbers."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        return ListOf(Number()).read(given, path, reading) if isinstance(given, list) else Number().read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"$ref": "#/$defs/number"}, {"type": "array", "items": {"$ref": "#/$defs/number"}}]}


_SIGNAL = Field("signal", Text(), says="name of the signal, such as pin.angle")
_INPUTS = Field("inputs", ListOf(Text()), False, "names of the signals that the functions read")
_POLYNOMIAL = ListOf(Number(), 1)


def _typed(kind: type[Block], *fields: Field) -> Record:
    """Return the record of a block."""
    says = first_line(kind)
    return Record((Field("type", Text((kind.__name__,))), Field("name", Text()), *fields), says)


BLOCKS: dict[str, Record] = {
    "Block": _typed(
        Block,
        Field("x0", Numbers(), False, "initial states"),
        Field("derivative", Code(), False),
        Field("outputs", CodeTable(), False),
        _INPUTS,
    ),
    "Sampled": _typed(
        Sampled,
        Field("period", Number("s")),
        Field("update", Code()),
        Field("x0", Numbers(), False, "values before the first call"),
        Field("outputs", CodeTable(), False),
        _INPUTS,
    ),
    "PID": _typed(
        PID,
        Field("measurement", Text()),
        Field("setpoint", Setpoint(), False),
        *(Field(name, Number(), False) for name in ("kp", "ki", "kd")),
        Field("tau", Number("s"), False, "time constant of the filter of the measurement"),
        *(Field(name, Number(), False) for name in ("lower", "upper", "integral0")),
    ),
    "LowPass": _typed(LowPass, _SIGNAL, Field("tau", Number("s")), Field("x0", Number(), False)),
    "TransferFunction": _typed(
        TransferFunction, _SIGNAL, Field("numerator", _POLYNOMIAL), Field("denominator", _POLYNOMIAL, says="highest power first")
    ),
    "DelayLine": _typed(DelayLine, _SIGNAL, Field("delay", Number("s")), Field("before", Number(), False)),
}
CLASSES: dict[str, type[Block]] = {kind.__name__: kind for kind in (Block, Sampled, PID, LowPass, TransferFunction, DelayLine)}


def block_of(values: dict[str, Any]) -> Block:
    """Return the block of an entry of a file."""
    arguments = {key: value for key, value in values.items() if key != "type"}
    return CLASSES[values["type"]](**arguments)


def block_text(block: Block, parameters: Any) -> dict[str, Any]:
    """Return a block as an entry of a file. Raise Unwritable if a file cannot hold it."""
    texts: dict[type[Block], Callable[[Any], dict[str, Any]]] = {
        Block: _block,
        Sampled: _sampled,
        PID: lambda one: _pid(one, parameters),
        LowPass: lambda one: {"signal": one.signal, "tau": one.tau, "x0": float(one.x0[0])},
        TransferFunction: lambda one: {
            "signal": one.signal,
            "numerator": one.numerator.tolist(),
            "denominator": one.denominator.tolist(),
        },
        DelayLine: _delay_line,
    }
    if type(block) not in texts:
        raise Unwritable(f"it is a {type(block).__name__}, which a file cannot hold")
    return {"type": type(block).__name__, "name": block.name, **texts[type(block)](block)}


def _block(block: Block) -> dict[str, Any]:
    text: dict[str, Any] = {"x0": block.x0.tolist()}
    if block.derivative is not None:
        text["derivative"] = code_name(block.derivative)
    return text | _outputs(block)


def _outputs(block: Block) -> dict[str, Any]:
    """Return the functions of the outputs, and the declared signals."""
    text: dict[str, Any] = {"outputs": {name: code_name(function) for name, function in block.outputs.items()}}
    return text | ({} if block.inputs is None else {"inputs": list(block.inputs)})


def _sampled(block: Sampled) -> dict[str, Any]:
    own = block.outputs.get(OUT)
    single = isinstance(own, HeldNumber)
    text = {"period": block.period, "update": code_name(block.update), "x0": float(block.x0[0]) if single else block.x0.tolist()}
    if single or isinstance(own, HeldVector):
        return text | ({} if block.inputs is None else {"inputs": list(block.inputs)})
    return text | _outputs(block)


def _pid(block: PID, parameters: Any) -> dict[str, Any]:
    text: dict[str, Any] = {"measurement": block.measurement}
    if isinstance(block.setpoint, str):
        text["setpoint"] = {"signal": block.setpoint}
    elif isinstance(block.setpoint, Driver):
        text["setpoint"] = driver_text(block.setpoint, parameters)
    else:
        text["setpoint"] = code_name(block.setpoint) if callable(block.setpoint) else block.setpoint
    text |= {"kp": block.kp, "ki": block.ki, "kd": block.kd}
    text |= {} if block.tau is None else {"tau": block.tau}
    text |= {name: value for name, value in (("lower", block.lower), ("upper", block.upper)) if math.isfinite(value)}
    return text | {"integral0": block.integral0}


def _delay_line(block: DelayLine) -> dict[str, Any]:
    return {"signal": block.signal, "delay": block.delay} | ({} if block.before is None else {"before": block.before})
