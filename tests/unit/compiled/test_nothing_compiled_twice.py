"""What one process has compiled, the next one loads: no part of the package is compiled again in every process."""

from __future__ import annotations

import subprocess
import sys

import numba
import pytest

PROGRAM = """
import numpy as np
from numba.core import event


class Listener(event.Listener):
    def on_start(self, started):
        print(started.data["dispatcher"].py_func.__qualname__)

    def on_end(self, ended):
        pass


event.register("numba:compile", Listener())
import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar, governor, slider_crank
from joints import RJ, RotationDriver

mbd.simulate(four_bar(), 0.01, h=1e-3).energy()
result = mbd.simulate(double_pendulum(), 0.01, t_eval=[0.0, 0.005, 0.01])
result.reaction(next(iter(result.model.joints))), result.violation("position")
mbd.simulate(governor(), 1e-3, integrator=mbd.BDF())
mbd.kinematics(slider_crank(driven=True), [0.0, 0.01])
system = mbd.System("crank")
crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.2, 0.2), r=(0.1, 0, 0)))
pin = system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
system.add(RotationDriver("drive", pin, lambda t: np.sin(t) ** 2))
mbd.simulate(system, 0.01, h=1e-3)
chain = mbd.random_chain(3, seed=1)
mbd.simulate(chain, 0.01, h=1e-3)
mbd.crba(chain, chain.q_zero()), mbd.rnea(chain, chain.q_zero(), [0.0] * chain.nv)
mbd.impulse(double_pendulum().compile())
mbd.equilibrium(double_pendulum())
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler nothing is compiled")
def test_a_second_process_compiles_nothing():
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr
        if run.stdout == "":  # at once, where an earlier process has run the same
            return
    assert run.stdout == ""
