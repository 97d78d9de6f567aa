"""Sweeps: build and run a system for many values of its parameters, and lose nothing.

variants    cells of one topology: the members of a batch
identity    what a study is, the key of a cell, what parameters and results may be
cells       grid, list, random cells, ask and tell
evaluate    one cell: build, run, and the row that comes out
progress    a progress bar with the expected time
journal     rows on disk as they come: an append-only file that survives kill -9
store       a folder, or a NetCDF file with a journal beside it
executors   cells in this process, or in an executor of concurrent.futures
worker_pool worker processes: failures, time-outs and killed workers are rows
table       Sweep: the rows
study_rows  what is known, what runs, and who waits for it
sweep       sweep
"""
