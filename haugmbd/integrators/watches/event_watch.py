r"""Whether a step ends a batch because of an event that compiled code watches, such as contacts and stops that touch or are released.

    look(P, places, ends, h, y, y_dot)      CLEAR, or POSSIBLE if the step of h that ends at y may have an event at one of the places,
                                            or ACROSS if it has none, and one of the places is beyond its event at y: the step began there

What the places are is known to `look` alone, a routine that is called by its address. The steps of a batch before its last one then have
none, and `event_location` searches the last one, or the run switches what is across. A method that does not watch has all its steps
searched.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import F1, F2, Routine, function_type, types
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.compiled.records import new_record, record_dtype, record_type
from haugmbd.integrators.watches.rank_watch import NO_PACK
from haugmbd.workspace.layout import PACK_TYPE, Pack

CLEAR, POSSIBLE, ACROSS = 0, 1, 2
"""Results of a check of the places."""
LOOK_SIGNATURE = types.int64(PACK_TYPE, F2, F2, types.float64, F1, F1)


class StepsSeen:
    """The steps of a run so far, as far as the watch needs them."""

    t: float  # the end of the last one [s]
    looked: float  # their number
    found: float  # CLEAR, POSSIBLE or ACROSS in the last one


STEPS_SEEN = record_dtype(StepsSeen)


class EventWatch(NamedTuple):
    """The places that are watched, (n, .), with what is known of them at the end of the last step; none if no events are watched.

    pack: a workspace of its own;  ends: (3, ny) state and rates at the end of the last step, and room for a state in between
    """

    look: Routine
    pack: Pack
    places: Array
    ends: Array
    state: StepsSeen

    def begin(self, t: float, y: Array, y_dot: Array) -> None:
        """Begin at a state and its rates, before the next step."""
        if len(self.places):
            self.look(self.pack, self.places, self.ends, 0.0, y, y_dot)
            self.state.t = t


def new_event_watch(look: Routine, pack: Pack, places: Array, ny: int) -> EventWatch:
    """Return a watch of places, for states of ny numbers."""
    return EventWatch(look, pack, places, np.zeros((3, ny)), new_record(STEPS_SEEN))


NO_EVENTS = new_event_watch(Routine(None, LOOK_SIGNATURE), NO_PACK, np.zeros((0, 0)), 0)
EVENT_WATCH_TYPE = types.NamedTuple((function_type(LOOK_SIGNATURE), PACK_TYPE, F2, F2, record_type(STEPS_SEEN)), EventWatch)


@typeof_impl.register(EventWatch)  # type: ignore[untyped-decorator]
def event_watch_type(watch: EventWatch, context: Any) -> Any:
    """Return the one type of every EventWatch."""
    return EVENT_WATCH_TYPE


@kernel
def watch_events(watch: EventWatch, t: float, y: Array, y_dot: Array) -> bool:
    """Look at the places at the end (t, y) of a step; return whether the steps end here, to be searched or switched."""
    if watch.places.shape[0] == 0:
        return False
    w = watch.state
    w.found = watch.look(watch.pack, watch.places, watch.ends, t - w.t, y, y_dot)
    w.t, w.looked = t, w.looked + 1.0
    return w.found != CLEAR
