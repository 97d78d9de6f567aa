"""The loop over batches of steps, and what it stores.

progress       a progress bar
switches       contacts and stops that touch and are released
state_memory   the memory that the states take
broken_motions where a motion ends that no method can follow further
growing        arrays that grow while a run continues
wanted_times   states at given times between steps
drift          integrated angles that drift from the orientations
clock          stops of a run for sampled blocks and delays
stored_states  what a run stores of its steps
unresolved_chains the same of serial chains, and their function tau
unresolved_steps  fixed steps that are too large for a load, by its name
run            the loop over batches of steps
"""
