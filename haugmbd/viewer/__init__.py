"""The viewer: a motion as one HTML page, a still picture, a film, or a glTF scene.

frames        the drawn instants, and the poses there              mechanism   bodies, joints and springs as plain data
shapes        shapes of bodies that are found                      given_shapes    those that the model gives
mesh_table    meshes, each once in a page                          packing     numbers over time as few bytes
scene         the description that the page shows                  quantities  the curves beside the motion
plot_table    curves of joints, drivers, loads and sensors
still         a still picture of a mechanism, and the display in notebooks
meshes        triangles of the shapes                              drawing     pictures by matplotlib
film          snapshot and film                                    chromium    a browser without a window, for pictures and tests
gltf          to_gltf                                              live        the server of `haugmbd view`
page          the HTML file                                        animate     from a result to the file
static/       the player in the browser                            bundle/     three.js, and how it is made
"""

from haugmbd.viewer.animate import animate, animation
from haugmbd.viewer.film import film, snapshot
from haugmbd.viewer.gltf import to_gltf
from haugmbd.viewer.still import Picture, notebook, picture

__all__ = ["Picture", "animate", "animation", "film", "notebook", "picture", "snapshot", "to_gltf"]
