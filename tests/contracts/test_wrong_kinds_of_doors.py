"""Arguments of a wrong kind at linear systems, distributions and pages of equations: one error of the package each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import haugmbd as mbd
from tests.contracts.test_wrong_kinds import WRONG, pendulum


def doors() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Calls that are right, by name: function and arguments."""
    pytest.importorskip("sympy")
    system = pendulum()
    mbd.write_urdf(system, "a.urdf", leave_out=True)
    mbd.write_sdf(system, "a.sdf")
    linear = mbd.linearize(system, moving=True, outputs=["pin.rate"], coordinates=["pin.angle"])
    return {
        "frequency_response": (linear.frequency_response, {"w": [1.0]}),
        "step_response": (linear.step_response, {"t": [0.0, 0.1]}),
        "normal": (mbd.normal, {"mean": 1.0, "sd": 0.1}),
        "uniform": (mbd.uniform, {"low": 1.0, "high": 2.0}),
        "report": (mbd.equations(system, level="position").report, {"path": "x.html"}),
        "read_urdf": (mbd.read_urdf, {"path": "a.urdf"}),
        "read_sdf": (mbd.read_sdf, {"path": "a.sdf"}),
        "mystery": (lambda letter: mbd.labs.mystery(letter).__enter__(), {"letter": "none"}),
    }


@pytest.mark.slow
def test_a_wrong_kind_is_one_error_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, (function, right) in doors().items():
        function(**right)
        for argument in inspect.signature(function).parameters:
            for given in WRONG:
                try:
                    function(**{**right, argument: given})
                except mbd.HaugmbdError:
                    pass
                except Exception as error:  # noqa: BLE001
                    pytest.fail(f"{name}({argument} = {given!r:.40}): {type(error).__name__}: {error}")
