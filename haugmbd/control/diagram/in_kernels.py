r"""Networks of the library's own blocks in a run: compiled code evaluates them, and Python only what it cannot.

    callback(t, y, signals, F, Q_user, words)      words = (succeeded, address of the tables, address of the entry of Python)

The code is one function for all models, which finds the network of a workspace by an address that stands there.  Where the tables give no
finite number, or the iteration of an implicit step does not converge, the states of the blocks are put back, and the entry of Python is
called: it finds another solution, or says what is wrong.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from haugmbd.compiled.ffi import ENTRY, SIGNATURE, TABLES, YES, Callback, UserCall
from haugmbd.compiled.function_pointers import Routine, function_type
from haugmbd.compiled.jit import routine
from haugmbd.compiled.native_tuples import thing_at, view_at
from haugmbd.compiled.numba_names import COMPILES, OFF
from haugmbd.compiled.status_codes import OK
from haugmbd.control.diagram.tables import NETWORK_TYPE, NetworkTables, evaluate_all
from haugmbd.workspace.layout import Pack, workspace_array

NETWORK_STATES, NUMBERS, MEASURED, DRIVERS = 1, 3, 4, 5
"""Of the shape of a network: its states;  numbers of y;  lines of what is measured, and of the driver table."""

network_at, entry_at = thing_at(NETWORK_TYPE), thing_at(function_type(SIGNATURE))
"""The network, and the entry of Python, at an address."""
line_at, matrix_at = view_at(1), view_at(2)
"""The array at a pointer."""


@routine
def evaluate_network(t: float, y: Any, signals: Any, F: Any, Q_user: Any, words: Any) -> None:
    """Evaluate the network of a workspace."""
    if words[TABLES] == 0.0:  # a workspace without a network: the call has not succeeded
        return
    N = network_at(np.int64(words[TABLES]))
    ny, states = N.shape[NUMBERS], N.shape[NETWORK_STATES]
    first = ny - states
    state = line_at(y, ny)
    # the states of blocks as they are, which an implicit step solves for
    for k in range(states):
        N.before[k] = state[first + k]
    measured, drivers = matrix_at(signals, N.shape[MEASURED], 2), matrix_at(F, N.shape[DRIVERS], 3)
    if evaluate_all(N, state, measured, drivers) == OK:
        words[0] = YES
        return
    for k in range(states):
        state[first + k] = N.before[k]
    if words[ENTRY] == 0.0:  # a run without Python: it ends here
        return
    entry_at(np.int64(words[ENTRY]))(t, y, signals, F, Q_user, words)


EVALUATE_NETWORK = Routine(evaluate_network, SIGNATURE)


class NetworkCallback(Callback):
    """A callback whose blocks compiled code evaluates;  tables: of the network."""

    def __init__(self, call: UserCall, shapes: tuple[tuple[int, ...], ...], tables: NetworkTables) -> None:
        super().__init__(call, shapes)
        self.tables, self.address = tables, EVALUATE_NETWORK.address

    def link(self, pack: Pack) -> None:
        """Let a workspace have the network, with room of its own, and the entry of Python; both live as long as it."""
        tables, words = self.tables.with_room(), workspace_array(pack, "SUCCEEDED")[0]
        words[TABLES], words[ENTRY] = tables.address, self.entry_address
        weakref.finalize(pack.work, _let_go, tables, self).atexit = False


def _let_go(*kept: Any) -> None:
    """Do nothing: a workspace has gone, and with it what it needed."""


CAN_ENTER = COMPILES and not OFF
"""Whether compiled code can evaluate networks in this process: there is no library without the compiler that has the function."""
