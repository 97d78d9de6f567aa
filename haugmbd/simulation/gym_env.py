r"""A gymnasium environment of a Stepper: actions are inputs of a mechanism, observations are quantities by name.

    action a in [low, high]  ->  inputs, held for `repeat` steps of h  ->  observation o = outputs,  reward(o, a),  terminated(o)

Source: Towers et al. (2024), Gymnasium: a standard interface for reinforcement learning environments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.deprecated import check_keywords
from haugmbd.errors import SimulationError, UsageError
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepper import Stepper
from haugmbd.system.system import System


@check_keywords
def gym_env(
    system: System | Model,
    *,
    h: float,
    inputs: Sequence[str],
    outputs: Sequence[str],
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    reward: Callable[[Any, Any], float],
    terminated: Callable[[Any], bool] | None = None,
    reset: Callable[[np.random.Generator], State | None] | None = None,
    repeat: int = 1,
    t_end: float = np.inf,
    failure: float = 0.0,
    **stepper: Any,
) -> Any:
    """Return a gymnasium environment of a mechanism (needs gymnasium).

    Parameters
    ----------
    system : System or Model
        The mechanism.
    h : float
        Step [s].
    inputs, outputs : sequence of str
        Names of inputs and of observed quantities, as of `Stepper`.
    low, high : float or array_like, (n,)
        Least and largest action: values of the inputs.
    reward : callable
        reward(observation, action) -> number, after each action.
    terminated : callable, optional
        terminated(observation) -> whether the episode has ended, such as a pole that has fallen; by default never.
    reset : callable, optional
        reset(rng) -> the initial `State` of an episode, drawn with a `numpy.random.Generator`; None for the modelled one.
    repeat : int
        Number of steps that an action is held.
    t_end : float
        Time [s] after which an episode is truncated; by default never.
    failure : float
        Reward of an action after which the motion cannot continue; the episode ends then, and `info["error"]` says why.
    **stepper
        Further arguments of `Stepper`: integrator, formulation, stabilization.

    Returns
    -------
    gymnasium.Env
        The environment. `.stepper` is its Stepper, `.observation_names` and `.action_names` are the names of the numbers.

    Raises
    ------
    UsageError
        If gymnasium is not installed, a name means nothing, or bounds do not fit the inputs.

    Notes
    -----
    Actions beyond the bounds are clipped to them. Source: Towers et al. (2024), Gymnasium.
    """
    try:
        import gymnasium  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415  optional
    except ImportError:
        raise UsageError("gym_env needs gymnasium, which is not installed: pip install gymnasium.") from None
    episodes = _Episodes(reward, terminated, reset, repeat, t_end, failure)
    episodes.check()
    if not inputs:
        raise UsageError("gym_env: inputs is empty: an environment needs an action.")
    made = Stepper(system, h=h, inputs=inputs, outputs=outputs, **stepper)
    return _environment(gymnasium, made, _bounds(low, high, made.input_names), episodes)


@dataclass(frozen=True)
class _Episodes:
    """What an episode is, in the terms of `gym_env`."""

    reward: Callable[[Any, Any], float]
    terminated: Callable[[Any], bool] | None
    reset: Callable[[np.random.Generator], State | None] | None
    repeat: int
    t_end: float
    failure: float

    def check(self) -> None:
        """Raise UsageError unless functions are functions, and the number of steps is one."""
        for name, function in (("reward", self.reward), ("terminated", self.terminated), ("reset", self.reset)):
            if not callable(function) and (name == "reward" or function is not None):
                raise UsageError(f"gym_env: {name} = {function!r:.60} must be a function.")
        if not isinstance(self.repeat, int) or isinstance(self.repeat, bool) or self.repeat < 1:
            raise UsageError(f"gym_env: repeat = {self.repeat!r} must be a whole number of 1 or more.")


def _bounds(low: npt.ArrayLike, high: npt.ArrayLike, names: Sequence[str]) -> tuple[Any, Any]:
    """Return least and largest action, (n,) each.  Raise UsageError unless the first is below the second."""
    shape = (len(names),)
    try:
        least, largest = (np.broadcast_to(np.asarray(x, dtype=np.float32), shape).copy() for x in (low, high))
    except (TypeError, ValueError):
        raise UsageError(f"gym_env: low and high must be numbers, or {shape[0]} for {', '.join(names)}.") from None
    if not (least < largest).all() or np.isnan([least, largest]).any():
        raise UsageError(f"gym_env: low = {low!r:.60} must be below high = {high!r:.60}.")
    return least, largest


def _environment(gymnasium: Any, stepper: Stepper, bounds: tuple[Any, Any], episodes: _Episodes) -> Any:
    """Return the environment of a Stepper, whose actions are within the bounds."""

    class MechanismEnv(gymnasium.Env):  # type: ignore[misc, unused-ignore]
        """A mechanism that actions move."""

        metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  as gymnasium declares it

        def __init__(self) -> None:
            self.stepper, self.action_names, self.observation_names = stepper, stepper.input_names, stepper.output_names
            self.action_space = gymnasium.spaces.Box(*bounds, bounds[0].shape, np.float32)
            free = np.full(len(stepper.output_names), np.inf)
            self.observation_space = gymnasium.spaces.Box(-free, free, free.shape, np.float64)
            self._start = stepper.t

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
            """Begin an episode."""
            super().reset(seed=seed, options=options)
            self.stepper.reset(None if episodes.reset is None else episodes.reset(self.np_random))
            self._start = self.stepper.t
            return self._observed(), {"t": self.stepper.t}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            """Hold an action for some steps."""
            held = np.clip(np.asarray(action, dtype=np.float64).reshape(bounds[0].shape), *bounds)
            try:
                self.stepper.step(held, n=episodes.repeat)
            except SimulationError as error:
                return self._observed(), float(episodes.failure), True, False, {"t": self.stepper.t, "error": str(error)}
            seen = self._observed()
            ended = bool(episodes.terminated(seen)) if episodes.terminated is not None else False
            late = self.stepper.t - self._start >= episodes.t_end * (1.0 - 1e-12)
            return seen, float(episodes.reward(seen, held)), ended, bool(late), {"t": self.stepper.t}

        def _observed(self) -> Any:
            return np.array(self.stepper.outputs, dtype=np.float64)

    return MechanismEnv()
