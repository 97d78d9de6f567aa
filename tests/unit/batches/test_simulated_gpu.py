"""The kernel of one member as a kernel of numba.cuda, a thread for each member, in Numba's simulator: no device, no claim of speed."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery

PROGRAM = """
import numpy as np
from numba import cuda
import haugmbd as mbd
from haugmbd import gallery
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.workspace import accessors as ws

model = gallery.four_bar().compile()
run = mbd.simulate(model, 0.02, h=5e-3)
pack, y = model.pack(), np.array([run.state(k).y for k in range(5)])

@cuda.jit
def members(y, work, out, codes):
    k = cuda.grid(1)
    if k < y.shape[0]:
        P = pack._replace(work=work[k])
        codes[k] = accelerate(P, 0.0, y[k])
        x = ws.solution(P)
        for body in range(out.shape[1]):
            for a in range(6):
                out[k, body, a] = x[body, a]

work, out, codes = np.tile(pack.work, (5, 1)), np.zeros((5, model.nb + 1, 6)), np.ones(5, dtype=np.int64)
members[2, 4](y, work, out, codes)
np.savez(PATH, y=y, out=out, codes=codes)
"""


@pytest.mark.slow
def test_a_thread_for_each_member_gives_the_accelerations_of_single_calls(tmp_path):
    path = tmp_path / "out.npz"
    switched = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "HAUGMBD_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("PATH", repr(str(path)))], env=switched, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answer, model = np.load(path), gallery.four_bar().compile()
    assert (answer["codes"] == 0).all()
    for k, y in enumerate(answer["y"]):
        alone = mbd.accelerations(model, mbd.State.from_y(5e-3 * k, y, model.nb + 1))
        scale = max(np.abs(alone.v_dot).max(), np.abs(alone.omega_bar_dot).max())
        np.testing.assert_allclose(answer["out"][k, :, :3], alone.v_dot, rtol=0.0, atol=1e-12 * scale)  # no fused operations there
        np.testing.assert_allclose(answer["out"][k, :, 3:], alone.omega_bar_dot, rtol=0.0, atol=1e-12 * scale)
