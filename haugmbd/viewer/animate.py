r"""animate: a motion as one HTML file that plays anywhere, without a network."""

from __future__ import annotations

from pathlib import Path

from haugmbd.viewer.engine import ImpactResult, ReducedResult, Result, UsageError
from haugmbd.viewer.frames import Seen, frames_of
from haugmbd.viewer.mechanism import of_model
from haugmbd.viewer.packing import Packer
from haugmbd.viewer.page import html_page
from haugmbd.viewer.scene import describe


def animate(result: Seen, path: str | Path, *, frames: int | None = None, other: Seen | None = None) -> Path:
    """Write the motion as one HTML file that plays in every browser, without a network; return its path.

    result: a Result, ReducedResult or ImpactResult, with its model
    frames: instants that are drawn, at equal steps; by default the stored states, or as many of them as a page should hold
    other: a second run of the same bodies, shown as a ghost
    Raises UsageError for what is no result, for frames that are no whole number >= 1, for a second run without a body in common, and for
    a path that cannot be written; warns of states that are not finite, which are left out.
    """
    text = animation(result, frames=frames, other=other)
    return written(text, path)


def animation(result: Seen, *, frames: int | None = None, other: Seen | None = None) -> str:
    """The page of `animate` as text."""
    result = maximal(result)
    packer = Packer()
    drawn = frames_of(result, frames)
    mechanism = of_model(result.model)
    scene = describe(mechanism, drawn, packer)
    scene["notes"] = list(drawn.notes)
    return html_page(scene, packer.text())


def maximal(result: Seen) -> Result | ImpactResult:
    """The result with its bodies and joints; UsageError for what is none."""
    if isinstance(result, ReducedResult):
        return result.maximal()
    if not isinstance(result, Result | ImpactResult):
        raise UsageError(f"{type(result).__name__} is no result to draw: give what mbd.simulate(...) returned.")
    return result


def written(text: str, path: str | Path) -> Path:
    """Write text to a file; UsageError where that is not possible."""
    where = Path(path)
    try:
        where.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write {str(where)!r}: {error.strerror}. Give a file in a folder that exists and can be written to."
        ) from None
    return where
