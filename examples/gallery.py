"""Mechanisms of the gallery in motion: one picture of sixteen, the figure of the README.

python examples/gallery.py [FOLDER]             gallery.png goes to FOLDER, by default here
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from matplotlib import image, pyplot

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.gallery.shown import SHOWN, shown_system

NAMES = (
    "slider_crank", "andrews", "gyroscope", "bricard_cube", "jansen_leg", "hoberman_ring", "planetary_gear", "differential",
    "piston_engine", "double_wishbone", "stewart_platform", "delta_robot", "excavator", "rolling_disc", "trebuchet", "net",
)  # fmt: skip


def main(folder: Path) -> dict[str, mbd.Result]:
    figure, axes = pyplot.subplots(2, 8, figsize=(12.8, 3.0), layout="constrained")
    results = {}
    with tempfile.TemporaryDirectory() as place:
        for name, panel in zip(NAMES, axes.flat, strict=True):
            t_end = 0.5 * SHOWN[name]
            result = results[name] = mbd.simulate(shown_system(getattr(gallery, name)), t_end, rtol=1e-6)
            picture = image.imread(result.snapshot(t_end, Path(place) / f"{name}.png"))
            panel.imshow(picture[int(0.08 * len(picture)) :])  # without the title
            panel.set_title(name, fontsize=9)
            panel.axis("off")
    figure.savefig(folder / "gallery.png", dpi=76)
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
