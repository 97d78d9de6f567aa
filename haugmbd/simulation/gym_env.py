r"""A gymnasium environment of a Stepper: actions are inputs of a mechanism, observations are quantities by name.

    action a in [low, high]  ->  inputs, held for `repeat` steps of h  ->  observation o = outputs,  reward(o, a),  terminated(o)

Source: Towers et al. (2024), Gymnasium: a standard interface for reinforcement learning environments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    for name, function in (("reward", reward), ("terminated", terminated), ("reset", reset)):
        if not callable(function) and (name == "reward" or function is not None):
            raise UsageError(f"gym_env: {name} = {function!r:.60} must be a function.")
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1:
        raise UsageError(f"gym_env: repeat = {repeat!r} must be a whole number of 1 or more.")
    if not inputs:
        raise UsageError("gym_env: inputs is empty: an environment needs an action.")
    made = Stepper(system, h=h, inputs=inputs, outputs=outputs, **stepper)
    shape = (len(made.input_names),)
    try:
        bounds = [np.broadcast_to(np.asarray(x, dtype=np.float32), shape).copy() for x in (low, high)]
    except (TypeError, ValueError):
        raise UsageError(f"gym_env: low and high must be numbers, or {shape[0]} for {', '.join(made.input_names)}.") from None
    if not (bounds[0] < bounds[1]).all() or np.isnan(bounds).any():
        raise UsageError(f"gym_env: low = {low!r:.60} must be below high = {high!r:.60}.")

    class MechanismEnv(gymnasium.Env):  # type: ignore[misc, unused-ignore]
        """A mechanism that actions move."""

        metadata: Any = {"render_modes": []}  # noqa: RUF012  as gymnasium declares it

        def __init__(self) -> None:
            self.stepper, self.action_names, self.observation_names = made, made.input_names, made.output_names
            self.action_space = gymnasium.spaces.Box(bounds[0], bounds[1], shape, np.float32)
            free = np.full(len(made.output_names), np.inf)
            self.observation_space = gymnasium.spaces.Box(-free, free, free.shape, np.float64)
            self._start = made.t

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
            """Begin an episode."""
            super().reset(seed=seed, options=options)
            self.stepper.reset(None if reset is None else reset(self.np_random))
            self._start = self.stepper.t
            return self._observed(), {"t": self.stepper.t}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            """Hold an action for some steps."""
            held = np.clip(np.asarray(action, dtype=np.float64).reshape(shape), bounds[0], bounds[1])
            try:
                self.stepper.step(held, n=repeat)
            except SimulationError as error:
                return self._observed(), float(failure), True, False, {"t": self.stepper.t, "error": str(error)}
            seen = self._observed()
            ended = bool(terminated(seen)) if terminated is not None else False
            late = self.stepper.t - self._start >= t_end * (1.0 - 1e-12)
            return seen, float(reward(seen, held)), ended, bool(late), {"t": self.stepper.t}

        def _observed(self) -> Any:
            return np.array(self.stepper.outputs, dtype=np.float64)

    return MechanismEnv()
