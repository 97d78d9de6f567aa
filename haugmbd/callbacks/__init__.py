"""The user's functions, called from compiled code.

calls                         one call: a function and where its arguments and its answer stand
compiled_force_callbacks      functions that are compiled themselves, composed to one
force_callbacks               forces and drivers of one model
compiled_jacobian_callbacks   compiled jacobians, composed to one
jacobian_callbacks            declared jacobians of one model
"""
