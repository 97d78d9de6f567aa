"""What can be looked at: methods of results, systems and models that load the viewer when they are called.

The viewer stands above all of them; it is imported by name, at the call, so that nothing here depends on it.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any


def viewer() -> Any:
    """The package that draws."""
    return importlib.import_module("haugmbd.viewer")


class Animated:
    """A motion over time: it can be written as a page that plays."""

    def animate(self, path: str | Path, *, frames: int | None = None, other: Any = None) -> Path:
        """Write the motion as one HTML file that plays in every browser, without a network; return its path.

        frames: instants that are drawn, at equal steps; by default the stored states, or as many of them as a page should hold
        other: a second run of the same bodies, shown as a ghost
        Raises UsageError for frames that are no whole number >= 1, for a second run without a body in common, and for a path that cannot
        be written; warns of states that are not finite, which are left out.
        """
        where: Path = viewer().animate(self, path, frames=frames, other=other)
        return where

    def to_gltf(self, path: str | Path, *, frames: int | None = None) -> Path:
        """Write the motion as one .glb file (glTF 2.0), for Blender and every viewer of glTF; return its path.

        frames: of the animation, at equal steps of time; by default as in `animate`
        Raises UsageError for frames that are no whole number >= 1, another ending than .glb, and a path that cannot be written.
        """
        where: Path = viewer().to_gltf(self, path, frames=frames)
        return where

    def snapshot(self, t: float, path: str | Path, *, through: str = "matplotlib") -> Path:
        """Write a picture of the motion at time t [s], .png, .jpg, .pdf or .svg; return its path.

        through: "matplotlib", or "chromium" for a picture of the page (.png), where a Chromium is installed
        Raises UsageError for a time outside of the motion, an unknown ending, a path that cannot be written, and what is missing.
        """
        where: Path = viewer().snapshot(self, t, path, through=through)
        return where

    def film(self, path: str | Path, *, frames: int = 150, fps: int = 25, through: str = "matplotlib") -> Path:
        """Write the motion as a film: .gif, or .mp4 and .webm, which need ffmpeg; return its path.

        frames: how many pictures, at equal steps of time;  fps: pictures a second;  through: "matplotlib", or "chromium"
        Raises UsageError for frames or fps below 1, an unknown ending, a path that cannot be written, and what is missing: it names it.
        """
        where: Path = viewer().film(self, path, frames=frames, fps=fps, through=through)
        return where

    def _repr_html_(self) -> str:
        page: str = viewer().notebook(self)
        return page


class Pictured:
    """A mechanism at its modelled pose: it can be shown before it runs."""

    def show(self) -> Any:
        """Return a still picture with the faults and gaps that `mobility` finds; it has `.save(path)` and `.open()`; notebooks show it."""
        return viewer().picture(self)

    def _repr_html_(self) -> str:
        page: str = viewer().notebook(self)
        return page
