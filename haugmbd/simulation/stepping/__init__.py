"""The loop over batches of steps, and what it stores.

progress       a progress bar
touch_events   touch and release of contact forces
state_memory   the memory that the states take
growing        arrays that grow while a run goes on
wanted_times   states at given times between steps
clock          stops of a run for sampled blocks and delays
stored_states  what a run stores of its steps
run            the loop over batches of steps
"""
