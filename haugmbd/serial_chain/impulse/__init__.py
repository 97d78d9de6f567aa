"""What a chain does when it is struck.

impulse_response      two passes, compiled
chain_impulse         applied impulses
articulated_impulse   a link that hits a fixed object
constrained_inertia   inverse inertia of links as 6 x 6 matrices
"""
