"""Functions of a script or notebook go to other processes by their content (cloudpickle: Dask, joblib, Ray), with the package."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum
from tests.support.sweep_cells import module_path

STUDY = """
import sys
import warnings

import numpy as np

import haugmbd
import haugmbd as mbd
import joints
from haugmbd import gallery
from joints import RJ

GAIN = 0.1
MODEL = gallery.double_pendulum().compile()


def build(mass, length):
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.add(mbd.Body("bob", mass, (0.1, 0.1, 0.1), r=(length, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("brake", pin, actuator=lambda t, theta, theta_dot: -GAIN * theta_dot))
    return system


def run(system):
    assert isinstance(system["pin"], joints.RJ)
    assert haugmbd.__version__ and MODEL.nb == 2
    result = mbd.simulate(system, 0.02, h=1e-2)
    return {"z": result.r[-1, 1, 2], "drift": abs(result.energy().drift).max()}


CELLS = {"mass": [1.0, 2.0], "length": [0.5, 1.0]}
"""


def output_of(folder, program):
    """Return what a script prints."""
    path = folder / "study.py"
    path.write_text(STUDY + program)
    environment = os.environ | module_path()
    ended = subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment, cwd=folder, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_the_package_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(mbd)) is mbd
    cloudpickle = pytest.importorskip("cloudpickle")
    for given in (mbd, mbd.sweep, mbd.System):
        assert pickle.loads(cloudpickle.dumps(given)) is given


def test_functions_that_use_the_package_by_any_of_its_names():
    cloudpickle = pytest.importorskip("cloudpickle")
    scope = {"__name__": "__main__"}
    exec(STUDY, scope)
    system = scope["build"](1.0, 0.5)
    for given in (scope["build"], scope["run"], system, system.compile(), lambda: system, double_pendulum()):
        again = pickle.loads(cloudpickle.dumps(given))
        assert type(again) is type(given)
    assert pickle.loads(cloudpickle.dumps(scope["run"]))(system) == scope["run"](system)
    with pytest.raises(pickle.PicklingError, match=r"RSDA 'brake' \(build.<locals>.<lambda>\)"):  # by names it stays refused
        pickle.dumps(system)


@pytest.mark.slow
def test_joblib_runs_functions_of_a_script(tmp_path):
    pytest.importorskip("joblib")
    said = output_of(
        tmp_path,
        """
if __name__ == "__main__":
    from joblib import Parallel, delayed

    rows = Parallel(n_jobs=2)(delayed(lambda m: run(build(m, 1.0)))(m) for m in (1.0, 2.0))
    print(rows == [run(build(m, 1.0)) for m in (1.0, 2.0)])
""",
    )
    assert said == ["True"]


@pytest.mark.slow
def test_a_dask_cluster_runs_functions_of_a_script(tmp_path):
    pytest.importorskip("distributed")
    said = output_of(
        tmp_path,
        """
if __name__ == "__main__":
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        table = mbd.sweep(build, CELLS, run, client.get_executor(), store="study")
        again = mbd.sweep(build, CELLS, run, "serial", store="study")
    print(table.rows == again.rows == mbd.sweep(build, CELLS, run, "serial").rows, table.status.count("ok"))
""",
    )
    assert said == ["True", "4"]
