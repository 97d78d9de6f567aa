"""Runs and their results.

progress         a progress bar
records          counters and names
io               results on disk
result           Result
chain_result     ReducedResult of a serial chain
arguments        check and read the arguments of `simulate`
compatibility    legal combinations of formulation, integrator and stabilization
run              the loop over batches of steps
simulate_chain   simulate for a serial chain
simulate         simulate
"""
