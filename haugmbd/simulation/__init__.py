"""Runs and their results.

replay          the steps of a run, made again, and work along them
stepping        the loop over batches of steps, and what it stores
results         results: stored states, and the quantities that are recomputed from them
run_options     how a run is computed, and what is recorded of it
arguments       check and read the arguments of `simulate`
compatibility   legal combinations of formulation, integrator and stabilization
simulate_chain  simulate for a serial chain
simulate        simulate
held_inputs     numbers of force elements and drivers that are held until they are set again
quantity_reader quantities by name, at one state after the other
held_steps      steps in one call with two numbers
stepper         Stepper: a run that is advanced from outside
"""
