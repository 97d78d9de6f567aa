"""Runs and their results.

progress         a progress bar
records          counters and names
sensor           functions of time and state that are recorded with a run
spans            times and spans of time of a result
joining          histories of consecutive pieces as one
quantities       joints, loads, drivers, points and sensors of a result by name
io               results on disk
tables           all quantities with units, for xarray and pandas
piecewise        results that consist of several pieces
solutions        accelerations, multipliers, reactions, violations and energy of the states of a run
result           Result
chain_result     ReducedResult of a serial chain
load             load
arguments        check and read the arguments of `simulate`
compatibility    legal combinations of formulation, integrator and stabilization
touch_events     touch and release of contact forces
growing          arrays that grow while a run goes on
wanted_times     states at given times between steps
clock            stops of a run for sampled blocks and delays
stored_states    what a run stores of its steps
run              the loop over batches of steps
simulate_chain   simulate for a serial chain
simulate         simulate
"""
