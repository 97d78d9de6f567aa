"""Building the engine, for developers: `make engine`, or python -m haugmbd.engine_build.build.

workload    the runs that reach every entry, and the entries that are left out
collect     every entry as LLVM code, with a door that takes its arguments as words
emit        objects and libraries of all targets
build       the libraries and their manifest
"""
