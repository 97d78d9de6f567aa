"""Sweeps: build and run a system for many values of its parameters, and lose nothing.

cells       grid, list, random cells, ask and tell; what a study is, and the key of a cell
store       rows on disk as they come: a journal that survives kill -9, in a folder or beside a NetCDF file
executors   one cell is built and run; cells in this process, or in an executor of concurrent.futures
worker_pool worker processes: failures, time-outs and killed workers are rows
table       Sweep: the rows
sweep       sweep: what is known, what runs, who waits for it, and the expected time
"""
