"""The stages of a linearization, as a progress bar shows them, and as a message after Ctrl-C tells them."""

from __future__ import annotations

from collections.abc import Callable

from haugmbd.simulation.stepping.progress import Progress

STAGES = ("the pose", "the stiffness", "the damping", "the blocks", "the eigenvalues", "the words of the modes")
POSE, STIFFNESS, DAMPING, BLOCKS, EIGENVALUES, WORDS = range(len(STAGES))


class Stages:
    """The stage that a linearization has reached;  name: of it."""

    def __init__(self, bar: Progress) -> None:
        self._bar, self.name = bar, STAGES[POSE]

    def begin(self, stage: int, parts: int = 1) -> Callable[[], None]:
        """Begin a stage of so many parts, and return the function to call after each of them."""
        self.name, done = STAGES[stage], 0
        self._bar.reach(stage)
        self._bar.note(self.name)

        def tell() -> None:
            nonlocal done
            done = min(done + 1, parts)
            self._bar.reach(stage + done / parts)

        return tell
