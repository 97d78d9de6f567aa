"""Errors say where, what and what to do, and carry their data through a process pool."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from haugmbd import (
    ChainState,
    Fault,
    HaugmbdError,
    Heun,
    ModelError,
    RunWarning,
    SimulationError,
    SingularKKTError,
    UsageError,
    errors,
    random_chain,
    simulate,
)
from haugmbd.errors import warn_user
from haugmbd.study.sweeps.executors import BrokenSweepError
from haugmbd.viewer.chromium import BrowserError

FAULT = Fault("body 'crank'", "mass is -1.0 kg, must be positive", "Give the mass in kilograms.")
OTHER = Fault("joint 'pin'", "axis is (0, 0, 0)", "Give a direction.")


def test_a_fault_is_one_sentence():
    assert str(FAULT) == "body 'crank': mass is -1.0 kg, must be positive. Give the mass in kilograms."


def test_a_model_error_lists_all_faults():
    error = ModelError([FAULT, OTHER])
    assert error.faults == (FAULT, OTHER)
    assert str(error) == f"the model has 2 faults:\n  1. {FAULT}\n  2. {OTHER}"
    assert str(ModelError([FAULT])) == f"the model has 1 fault: {FAULT}"


def test_a_simulation_error_keeps_the_result_so_far():
    error = SingularKKTError("SingularKKTError at t = 0.3 s", result=[1, 2])
    assert (str(error), error.result) == ("SingularKKTError at t = 0.3 s", [1, 2])
    assert SimulationError("stopped").result is None


@pytest.mark.parametrize("error", [ModelError([FAULT]), SingularKKTError("singular", result=3), UsageError("h is -1 s")])
def test_errors_survive_pickling_and_have_one_base(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (type(error), str(error))
    assert vars(copy) == vars(error)
    assert isinstance(error, HaugmbdError)


@pytest.mark.parametrize(
    ("kind", "builtin"), [(ModelError, ValueError), (UsageError, ValueError), (SingularKKTError, RuntimeError)]
)
def test_errors_are_also_the_builtin_kind(kind, builtin):
    assert issubclass(kind, builtin)


def test_warnings_name_the_line_of_the_user():
    """However many functions of the package lie between; and the package has no other way to warn of what its user did."""
    inside = {"__name__": "haugmbd.somewhere", "warn_user": warn_user}
    exec("def deep(n):\n    return deep(n - 1) if n else warn_user('look')", inside)  # noqa: S102  a module of the package
    for depth in (0, 1, 5):
        with pytest.warns(UserWarning, match="look") as issued:
            inside["deep"](depth)
        assert [one.filename for one in issued] == [__file__]
    package = Path(errors.__file__).parent
    others = {str(file.relative_to(package)) for file in package.rglob("*.py") if "warnings.warn(" in file.read_text()}
    assert others == {
        "errors.py",
        "deprecated.py",
        str(Path("compiled", "choice.py")),
        str(Path("compiled", "notices.py")),
    }


def test_warnings_of_runs_and_impulses_name_it_too():
    chain = random_chain(3, 1, kinds=("revolute",))
    with pytest.warns(RunWarning, match="energy") as issued:
        simulate(chain, 5.0, integrator=Heun(h=0.1))
    assert {one.filename for one in issued} == {__file__}
    with pytest.warns(DeprecationWarning, match="give t first") as issued:
        ChainState(np.zeros(3), np.zeros(3), 0.0)
    assert {one.filename for one in issued} == {__file__}


def test_every_class_has_its_place_in_the_catalogue():
    """The page says of each class what it means and what to do, and the class leads there."""
    text = (Path(__file__).resolve().parents[2] / HaugmbdError.page).read_text()
    kinds = [
        kind
        for kind in (*vars(errors).values(), BrokenSweepError, BrowserError)
        if isinstance(kind, type) and issubclass(kind, Exception) and kind is not HaugmbdError
    ]
    assert len(kinds) == 12
    for kind in kinds:
        assert kind.page == f"docs/errors.md#{kind.__name__.lower()}"
        assert f"\n## {kind.__name__}\n" in text
