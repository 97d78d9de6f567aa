"""Calls of the user's functions from compiled code.

calls                         one call: a function, and the places of its arguments and its value
compiled_force_callbacks      compiled functions, composed to one
force_callbacks               forces and drivers of one model
compiled_jacobian_callbacks   compiled jacobians, composed to one
jacobian_callbacks            declared jacobians of one model
"""
