r"""snapshot and film: a motion as a still picture or as a film, by matplotlib, or by a Chromium without a window.

.mp4 and .webm need ffmpeg; .gif does not.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from errno import ENOENT
from os import strerror
from pathlib import Path
from typing import Any, Literal

import numpy as np

from haugmbd.choices import check_flags, is_one_of
from haugmbd.errors import UsageError
from haugmbd.formats import FILMS, PICTURES
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.viewer.animate import animate, maximal, mechanism_of
from haugmbd.viewer.chromium import Chromium, find_chromium
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames, Seen, check_frames, frames_of

Through = Literal["matplotlib", "chromium"]

DPI = 120
FRAMES, FPS = 150, 25
"""Default number of pictures, and pictures per second, of a film."""
MOST_OF_GIF = 50
"""Pictures per second of a .gif: browsers slow down those that stay for less than 0.02 s."""


def snapshot(result: Seen, t: float, path: str | Path, *, through: Through = "matplotlib") -> Path:
    """Write a picture of the motion at one time.

    Parameters
    ----------
    result : Result
        The motion, with its model.
    t : float
        Time [s].
    path : str or Path
        The file: .png, .jpg, .pdf or .svg; through "chromium" .png.
    through : {"matplotlib", "chromium"}
        Program that draws.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If the time is outside the motion, the ending is unknown, the file cannot be written, or a program is missing.
    """
    where = _ending(path, PICTURES if through == "matplotlib" else (".png",))
    seen = maximal(result)[0]
    if not (isinstance(t, int | float | np.number) and seen.t[0] <= t <= seen.t[-1]):
        raise UsageError(f"t is {t!r}: give a time within {seen.t[0]:g} .. {seen.t[-1]:g} s.")
    if _engine(through) == "chromium":
        return _written(where, next(_screens(result, np.array([float(t)]), None)))
    drawing = Drawing(mechanism_of(seen), _at(frames_of(seen), float(t)))
    try:
        drawing.place(0)
        drawing.figure.savefig(where, dpi=DPI)
    except OSError as error:
        raise unwritable(where, error) from None
    finally:
        drawing.close()
    return where


def film(
    result: Seen,
    path: str | Path,
    *,
    frames: int = FRAMES,
    fps: int = FPS,
    through: Through = "matplotlib",
    progress: bool = False,
) -> Path:
    """Write the motion as a film.

    Parameters
    ----------
    result : Result
        The motion, with its model.
    path : str or Path
        The file: .gif, or .mp4 and .webm, which need ffmpeg.
    frames : int
        Number of pictures, at equal steps of time.
    fps : int
        Pictures per second; at most 50 of a .gif.
    through : {"matplotlib", "chromium"}
        Program that draws; "chromium" takes pictures of the page, and needs a Chromium.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If frames or fps is not valid, the ending is unknown, the file cannot be written, or a program is missing.
    KeyboardInterrupt
        After Ctrl-C; the pictures so far are in the file, which is the attribute `result`, None without any.
    """
    check_flags(progress=progress)
    where = _ending(path, FILMS)
    seen = maximal(result)[0]
    check_frames(frames, seen.r.shape[1] - 1)
    if isinstance(fps, bool) or not (isinstance(fps, int) and 0 < fps <= 240):
        raise UsageError(f"fps is {fps!r}: give a whole number of pictures a second, from 1 to 240.")
    if where.suffix.lower() == ".gif" and fps > MOST_OF_GIF:
        raise UsageError(
            f"fps is {fps}, and a .gif has at most {MOST_OF_GIF} pictures a second: give fps={MOST_OF_GIF}, or write a .mp4."
        )
    if where.suffix.lower() != ".gif" and shutil.which("ffmpeg") is None:
        raise UsageError(
            f"{where.suffix} needs ffmpeg, which is not installed: install it (apt-get install ffmpeg), or write a .gif."
        )
    if not where.parent.is_dir():
        raise unwritable(where, FileNotFoundError(ENOENT, strerror(ENOENT)))
    drawn = frames_of(seen, frames)
    engine = _engine(through)
    with Progress(progress, 0, len(drawn.t), "pictures") as bar:
        try:
            if engine == "chromium":
                made = _photographed(_screens(result, drawn.t, frames), where, fps, bar)
            else:
                made = _drawn(Drawing(mechanism_of(seen), drawn), len(drawn.t), where, fps, bar)
        except KeyboardInterrupt:  # as the file was written
            where.unlink(missing_ok=True)
            made = 0
    if made < len(drawn.t):
        raise _interrupted(where, made, len(drawn.t))
    return where


def _interrupted(where: Path, made: int, n: int) -> KeyboardInterrupt:
    """Return Ctrl-C with the film of the pictures so far."""
    there = f"{str(where)!r}, the attribute `result` of this error, is the film of them" if made else "there is no film"
    when = f"after {made} of {n} pictures" if made else "before it was written"
    told = KeyboardInterrupt(f"film was interrupted by Ctrl-C {when}: {there}.")
    told.result = where if made else None  # type: ignore[attr-defined]
    return told


def _photographed(screens: Iterator[bytes], where: Path, fps: int, bar: Progress) -> int:
    """Write pictures of the page as a film, after Ctrl-C those so far; return their number."""
    try:
        from PIL import Image  # noqa: PLC0415  comes with matplotlib
    except ImportError:
        raise UsageError("films need Pillow, which is not installed: pip install pillow; it comes with matplotlib, too.") from None
    pictures: list[Any] = []
    try:
        for png in screens:
            pictures.append(_opened(Image, png))
            bar.done()
    except KeyboardInterrupt:
        if not pictures:
            return 0
    _joined(pictures, where, fps)
    return len(pictures)


def _drawn(drawing: Drawing, n: int, where: Path, fps: int, bar: Progress) -> int:
    """Write a film by matplotlib's own writers, after Ctrl-C of the pictures so far; return their number."""
    from matplotlib.animation import FFMpegWriter, PillowWriter  # noqa: PLC0415  loaded only where a film is made

    class GifWriter(PillowWriter):
        """Writes pictures that stay for hundredths of a second, as those of a .gif do."""

        def finish(self) -> None:
            if made:
                _save_gif(self._frames[:made], where, fps)  # type: ignore[attr-defined]

    writer: Any = GifWriter(fps=fps) if where.suffix.lower() == ".gif" else FFMpegWriter(fps=fps)
    made = 0
    try:
        with writer.saving(drawing.figure, str(where), DPI):
            try:
                for k in range(n):
                    drawing.place(k)
                    writer.grab_frame()
                    made += 1
                    bar.done()
            except KeyboardInterrupt:
                pass  # the writer ends the file
    except OSError as error:
        raise unwritable(where, error) from None
    except subprocess.CalledProcessError:
        if made == n:
            raise  # Ctrl-C reaches ffmpeg, too, which ends its file and returns an error
    finally:
        drawing.close()
    return made


def _at(frames: Frames, t: float) -> Frames:
    """Return the pose at time t, between the two nearest frames."""
    k = int(np.clip(np.searchsorted(frames.t, t, side="right") - 1, 0, len(frames.t) - 1))
    after = min(k + 1, len(frames.t) - 1)
    h = frames.t[after] - frames.t[k]
    s = (t - frames.t[k]) / h if h > 0.0 else 0.0
    p_0, p_1 = frames.p[k], frames.p[after]
    p = (1.0 - s) * p_0 + s * np.where(np.sum(p_0 * p_1, axis=-1, keepdims=True) < 0.0, -p_1, p_1)
    r = frames.r[k] + s * (frames.r[after] - frames.r[k])
    return Frames(np.array([t]), r[None], (p / np.linalg.norm(p, axis=-1, keepdims=True))[None], frames.finite, frames.notes)


def _screens(result: Seen, times: Any, frames: int | None) -> Iterator[bytes]:
    """Yield pictures of the page at these times, as PNG."""
    executable = find_chromium()
    if executable is None:
        raise UsageError(
            "no Chromium is installed: install it (apt-get install chromium), set HAUGMBD_CHROMIUM, or leave through= out."
        )
    with tempfile.TemporaryDirectory(prefix="haugmbd-") as folder, Chromium(executable) as browser:
        page = animate(result, Path(folder) / "motion.html", frames=frames)
        browser.open(f"{page.as_uri()}#t={float(times[0])!r}")
        for selector in ("#bar", "#switches"):
            browser.evaluate(f"document.querySelector({selector!r}).hidden = true")
        for t in times:
            browser.evaluate(f"mechanism.seek({float(t)!r})")
            yield browser.screenshot()


def _opened(image: Any, png: bytes) -> Any:
    """Return a picture of Pillow."""
    import io  # noqa: PLC0415

    return image.open(io.BytesIO(png)).convert("RGB")


def _save_gif(pictures: list[Any], where: Path, fps: int) -> Path:
    """Write a .gif: each picture stays for whole hundredths of a second, which add up to the time of all."""
    ends = np.rint(100.0 * np.arange(len(pictures) + 1) / fps)
    pictures[0].save(where, save_all=True, append_images=pictures[1:], duration=(10.0 * np.diff(ends)).tolist(), loop=0)
    return where


def _joined(pictures: list[Any], where: Path, fps: int) -> Path:
    """Write pictures as a film."""
    if where.suffix.lower() == ".gif":
        return _save_gif(pictures, where, fps)
    with tempfile.TemporaryDirectory(prefix="haugmbd-") as folder:
        for k, picture in enumerate(pictures):
            picture.save(Path(folder) / f"{k:05d}.png")
        pictures_there = ["-framerate", str(fps), "-i", f"{folder}/%05d.png"]
        command = ["ffmpeg", "-y", "-loglevel", "error", *pictures_there, "-pix_fmt", "yuv420p", str(where)]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise UsageError(f"ffmpeg could not write {str(where)!r}: {made.stderr.strip()[:300]}")
    return where


def _ending(path: str | Path, known: tuple[str, ...]) -> Path:
    """Return the path. Raise UsageError for an unknown ending."""
    where = path_of(path)
    if where.suffix.lower() not in known:
        raise UsageError(f"{str(where)!r} ends with {where.suffix!r}: give one of {', '.join(known)}.")
    return where


def _engine(through: str) -> str:
    """Return the program that draws. Raise UsageError for an unknown one."""
    if not is_one_of(through, ("matplotlib", "chromium")):
        raise UsageError(f"through is {through!r}: give 'matplotlib' or 'chromium'.")
    return through


def _written(where: Path, data: bytes) -> Path:
    """Write bytes and return the path. Raise UsageError if this fails."""
    try:
        where.write_bytes(data)
    except OSError as error:
        raise unwritable(where, error) from None
    return where
