"""Runs and their results.

simulate        simulate, and the run of each kind: smooth, with contacts, with a structure that changes
simulate_chain  simulate for a serial chain
arguments       check and read the arguments of `simulate`
compatibility   legal combinations of formulation, integrator and stabilization
run_options     what a run is asked for: its methods, what is recorded of it, and how far it goes
sensor          functions of time and state that are recorded with a run
run_task        a run that is to be made: what `simulate` hands on to the run of each kind
smooth_run      short runs in compiled code
stepping        the loop over batches of steps, and what it stores
hybrid          runs with rigid contacts
switching       runs in which parts go on and off;  freewheels  parts that do so by themselves
results         results: stored states, and the quantities that are recomputed from them
recorded_result the result of what a run has recorded;  replay  the steps of a run, made again, and work along them
held_inputs     numbers of force elements and drivers that are held until they are set again
quantity_reader quantities by name, at one state after the other
held_steps      steps in one call with two numbers
stepper         Stepper: a run that is advanced from outside;  gym_env  an environment made of one
"""
