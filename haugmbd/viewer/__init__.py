"""The viewer: a motion as one HTML page, a still picture, a film, or a glTF scene.

scene     a mechanism and its motion as plain data, from mechanism, shapes, frames, quantities; packing makes it small
drawing   pictures by matplotlib
animate   from a result to the HTML file
still     a still picture of a mechanism, and the display in notebooks
film      snapshot and film
gltf      to_gltf
vtk       to_vtk
recordings    to_mcap, to_rerun
chromium  a browser without a window, for pictures and tests
drag      freedoms as sliders, through assembly
live      the server of `haugmbd view`
static/   the player in the browser
bundle/   three.js, and how it is made
"""

from haugmbd.viewer.animate import animate, animation
from haugmbd.viewer.film import film, snapshot
from haugmbd.viewer.gltf import to_gltf
from haugmbd.viewer.still import Picture, notebook, picture

__all__ = ["Picture", "animate", "animation", "film", "notebook", "picture", "snapshot", "to_gltf"]
