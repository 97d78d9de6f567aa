"""The choice among the layers of the compiler.

    engine   an engine that was built beforehand, where one fits these sources and this machine: nothing is compiled
    fast     on the parts of Numba's compiler: kernels are compiled once, within their entries
    plain    on Numba's public interface: compiles with any Numba, and takes longer for it

The parts of Numba's compiler change between its versions without notice.  The fast layer therefore runs with the versions that it was
tested with, and only if all the parts that it is made of are there.  The results of both are the same.
"""

from __future__ import annotations

import os
import warnings

from haugmbd.compiled.engine_layer import engine_layer
from haugmbd.compiled.layer import Layer
from haugmbd.compiled.numba_names import ENGINE, numba

TESTED = ("0.63", "0.64", "0.65", "0.66", "0.67", "0.68")
"""The versions of Numba that the whole of the tests has passed with, on the fast layer."""

WISH = "HAUGMBD_PLAIN_NUMBA"
"""The variable of the environment that chooses the plain layer, if it is neither empty nor 0."""


def chosen_layer() -> Layer:
    """Return the layer; give one warning if Numba is needed, and the fast one cannot be taken."""
    if ENGINE is not None:
        return engine_layer(ENGINE)
    from haugmbd.compiled.plain_numba import PLAIN  # noqa: PLC0415  an engine needs no Numba

    if os.environ.get(WISH, "") not in ("", "0"):
        return PLAIN
    if ".".join(numba.__version__.split(".")[:2]) not in TESTED:
        _warn(f"haugmbd was tested with Numba {TESTED[0]} to {TESTED[-1]}, and this is Numba {numba.__version__}")
        return PLAIN
    try:
        from haugmbd.compiled.fast_numba import FAST  # noqa: PLC0415  only with the versions that have all its parts
    except Exception as error:  # noqa: BLE001  whatever part of Numba is not as expected, the other layer serves
        _warn(f"haugmbd's compiler does not work with this build of Numba {numba.__version__} ({type(error).__name__}: {error})")
        return PLAIN
    return FAST


def _warn(why: str) -> None:
    """Say why the plain layer is taken, what this costs, and what to do."""
    warnings.warn(
        f"{why}: code is compiled through Numba's public interface. Results and speed of a run are the same; the first simulation takes "
        f"about half a minute in place of 10 s, and later starts about half a second more. Install numba {TESTED[-1]}, or a newer haugmbd; "
        f"or set {WISH}=1, which chooses this without a warning.",
        RuntimeWarning,
        stacklevel=3,
    )
