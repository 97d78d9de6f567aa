"""The engine: the package's own kernels as libraries that need neither Python, Numba nor a compiler.

workload    the runs that reach every entry, and the entries that are left out
collect     every entry as LLVM code, with a door that takes its arguments as words
doors       what a program without Python asks of a state: reactions and coordinates of joints
emit        objects and libraries of all targets
build       python -m haugmbd.engine.build: the libraries and their manifest
blob        a model as a blob: arrays, words and names of one run
host        a blob in the engine, from Python
abi.c, haugmbd.h, support.c    the functions for C programs, over the doors
engine.mjs  the same for JavaScript
library     the libraries, which git does not have

`compiled.engine_library` decides whether an engine fits, `compiled.engine_layer` runs haugmbd on it.
"""
