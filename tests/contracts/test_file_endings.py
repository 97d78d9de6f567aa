"""Whatever writes a file refuses an ending that is not of its kind, before it writes anything; and Python without docstrings (-OO) runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import haugmbd as mbd
from joints import RJ


def swing() -> mbd.System:
    system = mbd.System("swing", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


@pytest.fixture(scope="module")
def made():
    """One of everything that writes files, by name."""
    system = swing()
    chain = mbd.SerialChain.from_system(system)
    return {
        "system": system,
        "result": mbd.simulate(system, 0.02, h=0.01),
        "chain": mbd.simulate(chain, 0.02, h=0.01),
        "comparison": mbd.compare(system, [mbd.Method(integrator=mbd.RK4(h=0.01))], 0.02, reference=False),
        "table": mbd.sweep(lambda length: swing(), {"length": [1.0]}, lambda system: {"x": 1.0}, executor="serial"),
    }


WRITERS = {
    "csv of a result": lambda made, path: made["result"].to_csv(path),
    "csv of a chain": lambda made, path: made["chain"].to_csv(path),
    "csv of a comparison": lambda made, path: made["comparison"].to_csv(path),
    "csv of a sweep": lambda made, path: made["table"].to_csv(path),
    "report": lambda made, path: made["comparison"].report(path),
    "result": lambda made, path: made["result"].save(path),
    "page": lambda made, path: made["result"].animate(path),
    "glTF": lambda made, path: made["result"].to_gltf(path),
    "film": lambda made, path: made["result"].film(path),
    "snapshot": lambda made, path: made["result"].snapshot(0.0, path),
    "picture": lambda made, path: mbd.picture(made["system"]).save(path),
    "system": lambda made, path: made["system"].save(path),
    "urdf": lambda made, path: mbd.write_urdf(made["system"], path),
    "mjcf": lambda made, path: mbd.write_mjcf(made["system"], path),
    "asmt": lambda made, path: mbd.write_asmt(made["system"], path),
    "sdf": lambda made, path: mbd.write_sdf(made["system"], path),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("name", ["out.xlsx", "out"])
def test_a_file_of_another_ending_is_refused(made, write, name, tmp_path):
    with pytest.raises(mbd.HaugmbdError, match="out"):
        write(made, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


WITHOUT_DOCSTRINGS = """
import haugmbd as mbd
from haugmbd import gallery
system = gallery.pendulum()
system.save("pendulum.json")
run = mbd.simulate(mbd.load_model("pendulum.json"), 0.02, h=0.01)
from haugmbd.cli.main import main
codes = [main(argv) for argv in (["info", "pendulum"], ["gallery", "--json"], ["info", "--schema"])]
print(codes, run.r[-1].tolist() == mbd.simulate(system, 0.02, h=0.01).r[-1].tolist())
"""


@pytest.mark.slow
def test_python_without_docstrings_saves_loads_and_lists(tmp_path):
    """Without the compiler, which knows no kernel on disk without its docstring: `test_layers` compiles every kind of kernel so."""
    command = [sys.executable, "-OO", "-c", WITHOUT_DOCSTRINGS]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "[0, 0, 0] True"
