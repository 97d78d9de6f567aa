"""Studies: one mechanism through many methods, measured in the same way, and one method through many mechanisms.

method          a formulation, an integrator and a stabilization, with a label
method_text     methods as text, for the command line
error_groups    errors of a result against a reference: positions, orientations, velocities, multipliers, reactions, energy, outputs
comparison      one mechanism with many methods: compare
drift_law, violation_by_joint, violation_condition     the violation of one run: its law, its joints, the condition
gain_limit, gain_map, stability_function                           Baumgarte's gains: stability and violation
convergence, work_precision, tolerance_map, projection_interval    methods at several settings
sweeps          many cells of parameters: grid, list, random or ask and tell; on disk as they come
"""
