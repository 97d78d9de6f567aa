"""Studies of methods: one mechanism through many methods, measured in the same way.

method          a formulation, an integrator and a stabilization, with a label
method_text     methods as text, for the command line
error_groups    errors of a result against a reference: positions, orientations, velocities, multipliers, reactions, energy, outputs
comparison      one mechanism with many methods: compare
violation       the violation of one run: its law over time, its joints, the condition of the constraints
gains           Baumgarte's gains: stability and violation
precision       methods at several settings: orders, work and precision, tolerances, intervals of projection
"""
