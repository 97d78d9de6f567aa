"""The loop over batches of steps, and what it stores.

progress       a progress bar
switch_events  events behind which a run restarts, and compiled code that looks for them
touch_events   touch and release of contact forces
stop_events    touch and release of stops and one-sided springs
state_memory   the memory that the states take
switching      the contacts and stops that a run switches, and from where it restarts
broken_motions where a motion ends that no method can follow further
growing        arrays that grow while a run continues
wanted_times   states at given times between steps
drift          integrated angles that drift from the orientations
clock          stops of a run for sampled blocks and delays
stored_states  what a run stores of its steps
run            the loop over batches of steps
"""
