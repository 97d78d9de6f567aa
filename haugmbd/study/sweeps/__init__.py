"""Sweeps: build and run a system for many values of its parameters, and lose nothing.

values      what a parameter and a result may be, and their exact text
variants    cells of one topology: the members of a batch
identity    what a study is, and the key of a cell
cells       grid, list, random cells, ask and tell
evaluate    one cell: build, run, and the row that comes out
progress    a progress bar with the expected time
journal     rows on disk as they come: an append-only file that survives kill -9
store       a folder, or a NetCDF file with a journal beside it
workers     where cells run: this process, executors, worker processes
table       Sweep: the rows
study_rows  what is known, what runs, and who waits for it
sweep       sweep
"""
