"""Sweeps on a Dask cluster and through MPI, where these are installed: the same table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings

import pytest

import haugmbd as mbd
from tests.support.sweep_cells import build, build_pendulum, run, run_pendulum

SMALL = {"x": [1, 2, 3], "y": [0.1, 0.2]}
PENDULUMS = {"mass": [1.0, 2.5], "length": [0.5]}


@pytest.mark.slow
def test_a_dask_cluster_gives_the_table_of_one_process(tmp_path):
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the cluster: ports, temporary folders
        with (
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=1, dashboard_address=None, local_directory=tmp_path
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            executor = client.get_executor()
            small = mbd.sweep(build, SMALL, run, executor, store=tmp_path / "study")
            real = mbd.sweep(build_pendulum, PENDULUMS, run_pendulum, executor)
            by_client = mbd.sweep(build, SMALL, run, client)
    assert small.rows == by_client.rows == mbd.sweep(build, SMALL, run, "serial").rows
    assert real.rows == mbd.sweep(build_pendulum, PENDULUMS, run_pendulum, "serial").rows
    assert mbd.sweep(build, SMALL, run, "serial", store=tmp_path / "study").rows == small.rows


MPI_PROGRAM = """
from mpi4py.futures import MPIPoolExecutor
import haugmbd as mbd
from tests.support.sweep_cells import build, run
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        mbd.sweep(build, {"x": [1, 2, 3], "y": [0.1, 0.2]}, run, executor, store="study")
"""


def test_mpi_gives_the_table_of_one_process(tmp_path):
    pytest.importorskip("mpi4py")
    if shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec")
    (tmp_path / "study.py").write_text(MPI_PROGRAM)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([os.getcwd(), *filter(None, sys.path)]),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
    }
    command = ["mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures", "study.py"]
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    before = (tmp_path / "study" / "cells.jsonl").read_bytes()
    stored = mbd.sweep(build, SMALL, run, "serial", store=tmp_path / "study")
    assert (tmp_path / "study" / "cells.jsonl").read_bytes() == before  # nothing ran again
    assert stored.rows == mbd.sweep(build, SMALL, run, "serial").rows
