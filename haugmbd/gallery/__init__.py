"""Ready-made mechanisms, with their sources and published values.

    published         a published value
    pendulum          a bar on a pin
    double_pendulum   two bars
    heavy_top         a fast disc on a spherical joint
    four_bar          a planar four-bar
    slider_crank      the spatial slider-crank
    chain             a spatial chain of n links
    andrews           Andrews' squeezing mechanism
    governor          a flyball governor

A new mechanism is one file and one line in `GALLERY`; the tests compile each of them and count its degrees of freedom.
"""

from collections.abc import Callable

from haugmbd.gallery.andrews import andrews
from haugmbd.gallery.chain import chain
from haugmbd.gallery.double_pendulum import double_pendulum
from haugmbd.gallery.four_bar import four_bar
from haugmbd.gallery.governor import governor
from haugmbd.gallery.heavy_top import heavy_top
from haugmbd.gallery.pendulum import pendulum
from haugmbd.gallery.published import Published
from haugmbd.gallery.slider_crank import slider_crank
from haugmbd.system.system import System

GALLERY: tuple[Callable[[], System], ...] = (pendulum, double_pendulum, heavy_top, four_bar, slider_crank, chain, andrews, governor)

__all__ = [
    "GALLERY",
    "Published",
    "andrews",
    "chain",
    "double_pendulum",
    "four_bar",
    "governor",
    "heavy_top",
    "pendulum",
    "slider_crank",
]
