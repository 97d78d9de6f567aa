r"""Sensors: functions of time and state that are recorded with a run, at its stored states.

A sensor is called once for each state when the state is stored, so that a function that fails stops the run there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.diagnostics.joint_coordinates import CountedCoordinate, counting_turns
from haugmbd.diagnostics.reaction_signals import SignalFunction
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.drivers.driver import shown
from haugmbd.errors import SimulationError, UsageError, error_text
from haugmbd.model.model import Model


@public_class
@dataclass(frozen=True)
class Sensor:
    """A function of time and state whose values are recorded with a run: `simulate(..., sensors=[...])`.

    Parameters
    ----------
    name : str
        Name of the sensor in the result: `result.sensor(name)`.
    function : callable or str
        f(t, state) of the time [s] and a `State` (for a chain: `ChainState`), which gives a number or an array of one shape. Or the name of
        what a joint carries or how a body accelerates, such as "pin.force", "pin.torque.z" or "arm.acceleration".
    unit : str
        Unit of the values, for tables and plots.
    """

    name: str
    function: Callable[[float, Any], Any] | str
    unit: str = ""

    def value(self, state: Any) -> Array:
        """Return the value at a state. Raise SimulationError, with name and time, if the function fails or gives no numbers."""
        try:
            function: Any = self.function  # a name has been replaced when a run begins
            given = function(state.t, state)
        except Exception as error:  # a user's function may raise anything
            what = f"sensor {self.name!r} raises {error_text(error)}"
            raise SimulationError(f"{what} (at t = {state.t:.9g} s).") from error
        array = numbers(given)
        if array is None:
            raise SimulationError(
                f"sensor {self.name!r} gives {shown(given)} at t = {state.t:.9g} s, must be a number or an array."
            )
        return np.array(array, dtype=np.float64)


@public_class
@dataclass(frozen=True, eq=False)
class SensorHistory(NamesMeant):
    """The values of one sensor over time.

    Attributes
    ----------
    name, unit : str
        Name and unit of the sensor.
    t : ndarray, (nt,)
        Times [s].
    value : ndarray, (nt,) or (nt, ...)
        Values.
    """

    name: str
    unit: str
    t: Array
    value: Array


def read_sensors(sensors: Any) -> tuple[Sensor, ...]:
    """Return the sensors as a tuple. Raise UsageError, by name, if one of them is invalid."""
    example = "sensors=[Sensor('tip height', lambda t, state: state.r[1, 2])]"
    if isinstance(sensors, Sensor | np.ndarray | str) or not isinstance(sensors, Iterable):
        raise UsageError(f"sensors = {sensors!r} must be a list of Sensor objects: {example}.")
    given = tuple(sensors)
    if not given:
        return ()
    for sensor in given:
        if not isinstance(sensor, Sensor):
            raise UsageError(f"sensors has {sensor!r}, which is not a Sensor: {example}.")
        if not (isinstance(sensor.name, str) and sensor.name.strip()):
            raise UsageError(f"a sensor is called {sensor.name!r}: give it a name, such as 'tip height'.")
        if not (callable(sensor.function) or isinstance(sensor.function, str)):
            raise UsageError(f"sensor {sensor.name!r}: function is {sensor.function!r}, must be a function of (t, state).")
    twice = [name for name, n in Counter(sensor.name for sensor in given).items() if n > 1]
    if twice:
        raise UsageError(f"{', '.join(map(repr, twice))} names more than one sensor: give each a name of its own.")
    return given


def all_sensors(model: Model, given: Any) -> tuple[Sensor, ...]:
    """Return the sensors that were added to the system, and those that are given to a run. Raise UsageError as `read_sensors`."""
    of_network = () if model.network is None else tuple(model.network.scope.sensors.values())
    sensors = read_sensors((*of_network, *read_sensors(given))) if of_network else read_sensors(given)
    return tuple(
        replace(sensor, function=SignalFunction(model, sensor.function, f"sensor {sensor.name!r}"))
        if isinstance(sensor.function, str)
        else sensor
        for sensor in sensors
    )


def sensor_notes(histories: Mapping[str, SensorHistory]) -> list[RunNote]:
    """Return a note on each sensor that has given numbers that are not finite, with the first time."""
    notes = []
    for name, history in histories.items():
        wrong = ~np.isfinite(history.value).all(axis=tuple(range(1, history.value.ndim)))
        if len(history.t) > 1 and wrong.any():  # a run that was stopped at its start has not called it
            k = int(wrong.argmax())
            first = history.value[k].ravel()
            text = (
                f"sensor {name!r} gives {float(first[~np.isfinite(first)][0])!r} at t = {history.t[k]:.9g} s, and no finite "
                f"number at {wrong.sum()} of {len(history.t)} stored states: its function divides by zero there, or leaves its range."
            )
            notes.append(RunNote(f"sensor {name}", text, float(wrong.sum()), doubtful=True))
    return notes


class SensorRecorder:
    """The values of the sensors of a run so far."""

    def __init__(self, sensors: tuple[Sensor, ...], state: Callable[[float, Array], Any]) -> None:
        self.sensors, self.state = tuple(map(counting_turns, sensors)), state
        self.values: list[list[Array]] = [[] for _ in sensors]
        self._counting = [sensor for sensor in self.sensors if isinstance(sensor.function, CountedCoordinate)]

    def watch(self, t: Array, y: Array) -> None:
        """Let sensors that count turns see states y (n, ny) that are not stored."""
        for time, row in zip(t.tolist(), y, strict=True) if self._counting else ():
            state = self.state(time, row)
            for sensor in self._counting:
                sensor.value(state)

    def record(self, t: Array, y: Array) -> None:
        """Call the sensors at the states y (n, ny). Raise SimulationError for a value of another shape than the first."""
        for time, row in zip(t.tolist(), y, strict=True) if self.sensors else ():
            for values, value in zip(self.values, self._called(time, row), strict=True):
                values.append(value)

    def put_last(self, t: float, y: Array) -> None:
        """Replace the values at the last state by those at the one behind a jump, y (ny,)."""
        for values, value in zip(self.values, self._called(t, y), strict=True) if self.sensors else ():
            values[-1] = value

    def _called(self, t: float, y: Array) -> Iterator[Array]:
        """Call the sensors one by one. Raise SimulationError for a value of another shape than the first."""
        state = self.state(t, y)
        for sensor, values in zip(self.sensors, self.values, strict=True):
            value = sensor.value(state)
            if values and value.shape != values[0].shape:
                what = f"gives shape {value.shape} at t = {t:.9g} s, and {values[0].shape} before"
                raise SimulationError(f"sensor {sensor.name!r} {what}. The shape must not change.")
            yield value

    def histories(self, t: Array) -> dict[str, SensorHistory]:
        """Return the histories at the stored times t (nt,) that all sensors have; NaN at the one time of a run that ended before."""
        called = (self.states or 0) >= len(t)
        return {
            sensor.name: SensorHistory(
                sensor.name,
                sensor.unit,
                t,
                np.array(values[: len(t)]).reshape(len(t), *np.shape(values[:1])[1:]) if called else np.full(len(t), np.nan),
            )
            for sensor, values in zip(self.sensors, self.values, strict=True)
        }

    @property
    def states(self) -> int | None:
        """Return the number of states at which all sensors were called; None without sensors."""
        return min(map(len, self.values)) if self.sensors else None
