"""Dense linear algebra on one thread.

OpenBLAS divides operations on matrices from about 100 rows on between as many threads as the machine has cores.  For the matrices of
mechanisms this gains little, and on cores that other processes use, too, the threads wait for one another: a pivoted QR decomposition of
600 x 500 numbers took 1.9 s in place of 0.06 s.  The number of threads belongs to the process, and is given back at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_first = Lock()
"""Held by the block that limits the libraries; blocks inside it, and those of other threads beside it, leave them as they are."""


@contextmanager
def one_blas_thread(limited: bool = True) -> Iterator[None]:
    """Limit BLAS and LAPACK to one thread in a block, or in a function that this decorates, if `limited`.

    Where blocks of two threads overlap, the rest of the second one has all threads again: what set the limit has to take it away.
    """
    libraries = _libraries() if limited else None
    if libraries is None or not _first.acquire(blocking=False):
        yield
        return
    try:
        with libraries.limit(limits=1):
            yield
    finally:
        _first.release()


@cache
def _libraries() -> Any:
    """Return the libraries that NumPy and SciPy have loaded, None without threadpoolctl: nothing but time depends on it."""
    import scipy.linalg  # noqa: F401, PLC0415  its library must be there when they are looked for

    try:
        from threadpoolctl import ThreadpoolController  # noqa: PLC0415  imported only where dense matrices are large
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")
