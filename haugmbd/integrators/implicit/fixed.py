"""Fixed steps of an implicit method to the end: its pack, and chunks of steps with a shortened last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.formulations.face import accelerate_entry
from haugmbd.integrators.chunk import Chunk, chunk_lengths
from haugmbd.integrators.implicit.stage import MEMORY, UDOT
from haugmbd.integrators.stepping import Problem
from haugmbd.integrators.subject import Maximal
from haugmbd.model.status import OK
from haugmbd.model.tables import Pack, room
from haugmbd.model.ties import tied_tables

Steps = Callable[[float, float, Array, Array], tuple[int, int]]
"""steps(h, t, ys, ks): fill ys and ks with as many steps of h from t as they have rows; return the code and the steps done."""


def implicit_pack(problem: Problem) -> Pack:
    """Room with the tied tables, for the rest of the run; u', a and lam are those of the state at hand."""
    assert isinstance(problem.subject, Maximal)
    model = problem.subject.model
    pack = problem.pack = model.pack(tied_tables(model))
    if accelerate_entry(pack, problem.t, problem.y) == OK:
        x, stage = room(pack, "SOLUTION"), room(pack, "STAGE")
        stage[:, UDOT : UDOT + 6] = stage[:, MEMORY : MEMORY + 6] = x[: model.nb + 1]
        room(pack, "LAMBDA")[:, 0] = x[model.nb + 1 :].ravel()
    return pack


def advance(problem: Problem, k1: Array, t_end: float, h: float, steps: Steps) -> Iterator[Chunk]:
    """Chunks of steps of `h` to `t_end`; the last step is shortened to end there."""
    t_start, done = problem.t, 0
    full = int(np.floor((t_end - t_start) / h * (1.0 + 1e-12)))
    rest = t_end - t_start - full * h
    lengths = chunk_lengths(problem.y.size, problem.first_chunk)
    while done < full:
        chunk = _chunk(problem, k1, t_start + done * h, h, min(next(lengths), full - done), steps)
        chunk.t[:] = t_start + h * np.arange(done + 1, done + 1 + len(chunk.t))
        done += len(chunk.t)
        problem.t = t_start + done * h
        yield chunk
        if chunk.code != OK:
            return
    if rest > 1e-9 * h:
        chunk = _chunk(problem, k1, t_start + full * h, rest, 1, steps)
        problem.t = t_end
        yield chunk


def _chunk(problem: Problem, k1: Array, t: float, h: float, n: int, steps: Steps) -> Chunk:
    """`n` steps of `h` from `t`."""
    ys, ks = np.zeros((n, problem.y.size)), np.zeros((n, problem.y.size))
    code, done = steps(h, t, ys, ks)
    if done:
        k1[:] = ks[done - 1]
    times: Array = t + h * np.arange(1, done + 1, dtype=np.float64)
    return Chunk(times, ys[:done], ks[:done], code, t + (done + 1) * h, done, 0)
