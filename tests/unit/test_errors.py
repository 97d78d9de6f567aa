"""Errors say where, what and what to do, and carry their data through a process pool."""

from __future__ import annotations

import pickle

import pytest

from haugmbd import Fault, HaugmbdError, ModelError, SimulationError, SingularKKTError, UsageError

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
