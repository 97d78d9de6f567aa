"""Pictures and animations: methods of results, systems and models, which load the viewer when they are called (`formats.VIEWS`)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from haugmbd.choices import is_one_of
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.formats import view


class Plots:
    """The plots of one result: each function of `mbd.plot` with the result as its first argument."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def __getattr__(self, name: str) -> Any:
        """Return a function of `haugmbd.plotting` for this result. Raise AttributeError, with the nearest name, if there is none."""
        plotting = view("plots")
        if name.startswith("_") or name not in dir(self):
            raise AttributeError(f"there is no plot {name!r}{did_you_mean(name, plotting.__all__)}: {', '.join(plotting.__all__)}")
        return partial(getattr(plotting, name), self._result)

    def __dir__(self) -> list[str]:
        """Return the names of the plots."""
        return [name for name in view("plots").__all__ if name != "theme"]

    def __call__(self, what: str = "energy", *arguments: Any, **options: Any) -> Any:
        """Draw one plot by its name, by default the energy, and return the Axes."""
        if not is_one_of(what, dir(self)):
            hint = did_you_mean(what, dir(self)) if isinstance(what, str) else ""
            raise UsageError(f"what is {what!r:.60}{hint}: give the name of a plot, one of {', '.join(dir(self))}.")
        return getattr(self, what)(*arguments, **options)


class Animated:
    """Base class of motions over time, which can be drawn."""

    def animate(
        self, path: str | Path, *, frames: int | None = None, other: Any = None, live: Any = None, h: float | None = None
    ) -> Path:
        """Write the motion as one HTML file that plays in every browser, without a network; with live=[...] one that simulates.

        Parameters
        ----------
        path : str or Path
            The file.
        frames : int, optional
            Number of drawn instants, at equal steps; by default the stored states, or as many of them as a page should hold.
        other : Result, optional
            A second run of the same bodies, drawn as a ghost.
        live : sequence of str, or dict, optional
            What gets a slider in a page that computes the motion itself, from the modelled state: see `System.live`.
        h : float, optional
            Step of such a page [s], 1 ms by default.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If frames is not an integer >= 1, if the second run has no body in common, or if the path cannot be written.

        Notes
        -----
        States that are not finite are left out, with a warning.
        """
        if live is not None or h is not None:
            if frames is not None or other is not None:
                raise UsageError("a page that simulates has no stored frames: give live= without frames= and other=.")
            simulating: Path = view("live")(self, path, () if live is None else live, **({} if h is None else {"h": h}))
            return simulating
        where: Path = view("animate")(self, path, frames=frames, other=other)
        return where

    def to_gltf(self, path: str | Path, *, frames: int | None = None) -> Path:
        """Write the motion as one .glb file (glTF 2.0), for Blender and every viewer of glTF.

        Parameters
        ----------
        path : str or Path
            The file.
        frames : int, optional
            Number of instants of the animation, at equal steps of time; by default as in `animate`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If frames is not an integer >= 1, if the ending is not .glb, or if the path cannot be written.
        """
        where: Path = view("to_gltf")(self, path, frames=frames)
        return where

    def to_vtk(self, path: str | Path, *, frames: int | None = None) -> Path:
        """Write the motion as a series for ParaView: a .pvd file, and one .vtp file an instant in a folder of its name.

        Parameters
        ----------
        path : str or Path
            The file, .pvd.
        frames : int, optional
            Number of instants, at equal steps of time; by default as in `animate`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If frames is not an integer >= 1, if the ending is not .pvd, or if a path cannot be written.
        """
        where: Path = view("to_vtk")(self, path, frames=frames)
        return where

    def to_mcap(self, path: str | Path, *, frames: int | None = None) -> Path:
        """Write the motion as an MCAP recording, for Foxglove (extra `mcap`): poses and velocities of the bodies, and their shapes.

        Parameters
        ----------
        path : str or Path
            The file, .mcap.
        frames : int, optional
            Number of instants, at equal steps of time; by default as in `animate`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If frames is not an integer >= 1, if the ending is not .mcap, if the package is not installed, or if the path cannot be written.
        """
        where: Path = view("to_mcap")(self, path, frames=frames)
        return where

    def to_rerun(self, path: str | Path, *, frames: int | None = None) -> Path:
        """Write the motion as a recording of Rerun (extra `rerun`): poses and velocities of the bodies, and their shapes.

        Parameters
        ----------
        path : str or Path
            The file, .rrd.
        frames : int, optional
            Number of instants, at equal steps of time; by default as in `animate`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If frames is not an integer >= 1, if the ending is not .rrd, if the package is not installed, or if the path cannot be written.
        """
        where: Path = view("to_rerun")(self, path, frames=frames)
        return where

    def snapshot(self, t: float, path: str | Path, *, through: str = "matplotlib") -> Path:
        """Write a picture of the motion at one time, .png, .jpg, .pdf or .svg.

        Parameters
        ----------
        t : float
            Time [s].
        path : str or Path
            The file.
        through : {"matplotlib", "chromium"}
            The program that draws; "chromium" draws the page as .png and needs an installed Chromium.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If the time is outside the motion, if the ending is unknown, if the path cannot be written, or if the program is not installed.
        """
        where: Path = view("snapshot")(self, t, path, through=through)
        return where

    def film(
        self, path: str | Path, *, frames: int = 150, fps: int = 25, through: str = "matplotlib", progress: bool = False
    ) -> Path:
        """Write the motion as a film: .gif, or .mp4 and .webm, which need ffmpeg.

        Parameters
        ----------
        path : str or Path
            The file.
        frames : int
            Number of pictures, at equal steps of time.
        fps : int
            Pictures per second; at most 50 of a .gif.
        through : {"matplotlib", "chromium"}
            The program that draws.
        progress : bool
            If True, show a progress bar.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If frames or fps is below 1, if the ending is unknown, if the path cannot be written, or if a program is not installed.
        KeyboardInterrupt
            After Ctrl-C; the pictures so far are in the file, which is the attribute `result`, None without any.
        """
        where: Path = view("film")(self, path, frames=frames, fps=fps, through=through, progress=progress)
        return where

    def _repr_html_(self) -> str:
        page: str = view("notebook")(self)
        return page


class Pictured:
    """Base class of mechanisms at their modelled pose, which can be drawn before a run."""

    def show(self) -> Any:
        """Return a still picture of the modelled pose, with the faults and gaps that `mobility` finds.

        Returns
        -------
        Picture
            It has `.save(path)` and `.open()`; notebooks show it.
        """
        return view("picture")(self)

    def live(self, path: str | Path, live: Any = (), *, h: float = 1e-3, integrator: Any = None) -> Path:
        """Write a page that simulates: one HTML file with sliders, which computes the motion itself, without a network.

        Parameters
        ----------
        path : str or Path
            The file, .html.
        live : sequence of str, or dict
            What gets a slider: paths as of `batch`, such as "spring.k", "crank.mass", "gravity[2]". A dict gives each its range
            (low, high). Stabilization and step can always be chosen in the page.
        h : float
            Step [s].
        integrator : RungeKutta, optional
            RK4() by default.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If a name or range is not valid, the engine cannot run the model (by name), or no engine for pages is built: `make engine`.

        Notes
        -----
        `mbd.live(build, path, {"length": (value, low, high)})` takes a function that builds the mechanism, such as of a length or an angle.
        """
        where: Path = view("live")(self, path, live, h=h, integrator=integrator)
        return where

    def to_fmu(self, path: str | Path, **how: Any) -> Path:
        """Write an FMU for co-simulation: the mechanism for another tool, without Python.

        Parameters
        ----------
        path : str or Path
            The file, .fmu.
        **how
            inputs, outputs, parameters, h, version, ..., as of `mbd.to_fmu`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            For what the engine cannot run, by name; for names that do not exist; if no engine is built.
        """
        where: Path = view("to_fmu")(self, path, **how)
        return where

    def _repr_html_(self) -> str:
        page: str = view("notebook")(self)
        return page
