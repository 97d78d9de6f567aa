r"""A system in MuJoCo, through `write_mjcf`: mj_fullM, qfrc_smooth, mj_jac and mj_jacDot."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.modelfile.engines.base import Reduced
from haugmbd.modelfile.exports import spanning_tree
from haugmbd.modelfile.mjcf.engine import load_engine
from haugmbd.modelfile.mjcf.write import CLOSING, TREE, write_mjcf
from haugmbd.system.system import System


def version() -> str:
    """Return name and version of the engine. Raise UsageError if it is not installed."""
    return f"MuJoCo {load_engine().__version__}"


def reduced(system: System) -> Reduced:
    """Return a system in MuJoCo's coordinates. Raise ModelFileError for parts that MJCF cannot hold."""
    mujoco: Any = load_engine()
    with TemporaryDirectory() as folder:
        path = write_mjcf(system, Path(folder) / "model.xml").files[0]
        m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    d = mujoco.MjData(m)
    names = {mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, k): k for k in range(1, m.nbody)}

    def put(rates: Array) -> None:
        d.qvel[:] = rates
        mujoco.mj_forward(m, d)

    def forces(rates: Array) -> Array:
        put(rates)
        return np.array(d.qfrc_smooth)

    def motion(rates: Array, body: str, point: Array) -> tuple[Array, Array]:
        put(rates)
        J, dot = np.zeros((6, m.nv)), np.zeros((6, m.nv))
        where = np.array(point, dtype=np.float64)
        mujoco.mj_jac(m, d, J[:3], J[3:], where, names[body])
        mujoco.mj_jacDot(m, d, dot[:3], dot[3:], where, names[body])
        return J, dot @ rates

    put(np.zeros(m.nv))
    M = np.zeros((m.nv, m.nv))
    try:
        mujoco.mj_fullM(m, d, M)
    except TypeError:  # before MuJoCo 3.4
        mujoco.mj_fullM(m, M, d.qM)
    _, cut = spanning_tree(system, TREE, CLOSING)
    notes = ("the loops are solved exactly here; MuJoCo's own equality constraints are soft",) if cut else ()
    return Reduced(m.nv, M, forces, motion, tuple(cut), notes)
