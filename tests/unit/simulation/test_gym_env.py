"""An environment for learning: it passes gymnasium's own checks, repeats with a seed, and steps as the Stepper does."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ
from tests.support.needed import need

pytestmark = pytest.mark.slow
NAMES = ["rail.displacement", "pin.angle", "rail.rate", "pin.rate"]


def cart_pole():
    s = mbd.System("cart-pole", gravity=(0, 0, -9.81))
    cart = s.add(mbd.Body("cart", 2.0, (1, 1, 1)))
    pole = s.add(mbd.Body("pole", 0.5, (0.02, 0.02, 0.02), r=(0, 0, 0.7)))
    rail = s.add(TJ("rail", s.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    s.add(RJ("pin", cart, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    s.add(mbd.Motor("motor", rail, force=0.0))
    return s


def env(**more):
    model = cart_pole().compile()

    def start(rng):
        state = model.state()
        v = state.v.copy()
        v[1:, 0] = rng.uniform(-0.1, 0.1)
        return state.replace(v=v)

    given = {
        "low": -20.0,
        "high": 20.0,
        "reward": lambda o, a: 1.0,
        "terminated": lambda o: abs(o[1]) > 0.5,
        "reset": start,
        "t_end": 0.4,
    }
    return mbd.gym_env(model, h=0.005, inputs=["motor"], outputs=NAMES, repeat=4, **given | more)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_passes_the_checks_of_gymnasium_and_repeats():
    checker = need("gymnasium.utils.env_checker")
    made = env()
    checker.check_env(made, skip_render_check=True)
    runs = []
    for _ in range(2):
        seen = [made.reset(seed=3)[0]]
        while True:
            o, reward, ended, late, info = made.step([1.5])
            assert reward == 1.0
            seen.append(o)
            if ended or late:
                break
        runs.append(np.array(seen))
    np.testing.assert_array_equal(runs[0], runs[1])
    assert late
    assert info["t"] == pytest.approx(0.4)


def test_a_linear_controller_balances_it_and_the_plant_is_its_linearization():
    need("gymnasium")
    from scipy.linalg import solve_continuous_are  # noqa: PLC0415

    plant = mbd.linearize(cart_pole(), inputs=["motor"], outputs=NAMES[:2], coordinates=NAMES[:2])
    P = solve_continuous_are(plant.A, plant.B, np.eye(4), np.eye(1))
    K = plant.B.T @ P
    made = env(t_end=4.0)
    o, _ = made.reset(seed=5)
    for _ in range(200):
        o, _, ended, _, _ = made.step(-K @ o)
        assert not ended
    assert np.abs(o[1:]).max() < 2e-2


@pytest.mark.parametrize(
    ("more", "what"),
    [({"low": 1.0, "high": -1.0}, "must be below"), ({"low": [1.0, 2.0, 3.0]}, "motor"), ({"reward": 3}, "must be a function")],
)
def test_wrong_arguments(more, what):
    need("gymnasium")
    with pytest.raises(mbd.UsageError, match=what):
        env(**more)


def test_without_gymnasium_the_extra_is_named():
    try:
        import gymnasium  # noqa: F401, PLC0415
    except ImportError:
        with pytest.raises(mbd.UsageError, match="pip install gymnasium"):
            env()
