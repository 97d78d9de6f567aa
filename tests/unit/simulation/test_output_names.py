"""Names of outputs: one name is one number through every door, and what is no number of one state is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from haugmbd.simulation.results.named_outputs import Reader, meant_outputs


@pytest.fixture(scope="module")
def model() -> mbd.Model:
    system = slider_crank(driven=True)
    rod = next(body for body in system.bodies if body.name == "rod")
    system.add(mbd.TSDA("spring", system.ground, rod, point_i=(0, 0, 1), point_j=(0, 0, 0.3), k=10, c=1, l0=0.2))
    return system.compile()


@pytest.fixture(scope="module")
def histories(model: mbd.Model) -> dict[str, Any]:
    state = model.state()
    result = mbd.Result(model, np.array([0.0]), state.y[None])
    joint = next(iter(model.joints))
    return {
        "body.rod": result["rod"],
        f"reaction.{joint}": result.reaction(joint),
        "driver.drive": result.driver("drive"),
        "load.spring": result.load("spring"),
        "energy": result.energy(),
    }


def names(history: Any) -> list[str]:
    return [name for name in dir(history) if not name.startswith("_")]


def _read(reader: Reader, model: mbd.Model, text: str) -> bool:
    """Return whether a name is read; it is refused else: any other exception is a failure."""
    try:
        meant_outputs(reader, model, text)
    except mbd.UsageError:
        return False
    return True


@pytest.mark.slow
def test_a_name_is_the_same_number_in_a_linear_system_and_in_a_stepper(model: mbd.Model, histories: dict[str, Any]) -> None:
    """Every attribute of the histories of bodies, loads, drivers and energies: numbers, or refused."""
    reader = Reader(mbd.Result(model, np.array([0.0]), model.state().y[None]))
    known = [f"{part}.{what}" for part, history in histories.items() for what in names(history)]
    read = [text for text in known if _read(reader, model, text)]
    assert 35 < len(read) < len(known) - 30
    both = [
        text for text in read if not text.endswith((".t", ".point", "driver.drive.acceleration", "work", "total", "drift", "error"))
    ]
    linear = mbd.linearize(model, moving=True, outputs=both)
    stepper = mbd.Stepper(model, h=1e-3, outputs=[text if text.startswith("energy") else text.partition(".")[2] for text in both])
    np.testing.assert_allclose(linear.outputs0, stepper.outputs, rtol=1e-9, atol=1e-9)
    assert np.isfinite(linear.C).all()


@pytest.mark.parametrize(
    "name", ["energy.total", "energy.applied_work", "energy.dissipated_work", "energy.drift", "spring.work", "drive.work"]
)
def test_work_is_no_quantity_of_one_state(model: mbd.Model, name: str) -> None:
    """It counts from the start of a run: a state alone would say 0."""
    with pytest.raises(mbd.UsageError, match="since the first state|from the first state"):
        mbd.Stepper(model, h=1e-3, outputs=[name])
    with pytest.raises(mbd.UsageError, match="since the first state|from the first state"):
        mbd.linearize(model, moving=True, outputs=[name])


def test_accelerations_have_the_names_of_the_state() -> None:
    result = mbd.simulate(slider_crank(), t_end=0.01, h=1e-3)
    rod = result["rod"]
    np.testing.assert_array_equal(rod.v_dot, rod.a)
    np.testing.assert_allclose(np.einsum("tab,tb->ta", rod.A, rod.omega_bar_dot), rod.omega_dot, atol=1e-13)


def test_energy_of_one_instant_has_no_work(model: mbd.Model) -> None:
    y = np.repeat(model.state().y[None], 3, axis=0)
    energy = mbd.Result(model, np.zeros(3), y).energy()
    np.testing.assert_array_equal(energy.applied_work, np.zeros(3))
    np.testing.assert_array_equal(energy.total, energy.kinetic + energy.potential)
