"""The response of a chain to impulses.

impulse_response      two passes, compiled
chain_impulse         applied impulses
articulated_impulse   impact of a link on a fixed object
constrained_inertia   inverse inertia of links as 6 x 6 matrices
"""
