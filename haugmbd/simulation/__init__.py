"""Runs and their results.

progress         a progress bar
records          counters and names
io               results on disk
result           Result
chain_result     ReducedResult of a serial chain
arguments        arguments of `simulate`, read and refused
compatibility    which methods go together
run              a run on its way
simulate_chain   simulate for a serial chain
simulate         simulate
"""
