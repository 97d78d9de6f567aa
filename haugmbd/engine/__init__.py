"""The engine: the package's own kernels as libraries that need neither Python, Numba nor a compiler.

blob        a model as a blob: arrays, words and names of one run
host        a blob in the engine, from Python
doors       what a program without Python asks of a state: reactions and coordinates of joints
abi.c, haugmbd.h, support.c    the functions for C programs, over the entries
engine.mjs  the same for JavaScript
library     the libraries, which git does not have: `engine_build` makes them

`compiled.engine_library` decides whether an engine fits, `compiled.engine_layer` runs haugmbd on it.
"""

from haugmbd.engine.blob import blob, write
from haugmbd.engine.host import EngineModel, library_for

__all__ = ["EngineModel", "blob", "library_for", "write"]
