"""Results: stored states, and the quantities that are recomputed from them.

records       what the loop of a run has recorded; counters and names
spans         times and spans of time of a result
joining       histories of consecutive pieces as one
continuation  runs that follow on one another as one
io            results on disk
tables        all quantities with units, for xarray and pandas
quantities    joints, loads, drivers, points and sensors of a result by name
piecewise     results that consist of several pieces
solutions     accelerations, multipliers, reactions, violations and energy of the states of a run
result        Result
chain_result  ReducedResult of a serial chain
load          load
"""
